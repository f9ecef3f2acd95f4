//! Snapshots of everything below the writable roots, and the way back to one.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::draft::{Draft, read_entry};
use super::ownership::only_people;
use super::plan::Action;
use super::request::Who;
use super::way_back::{self, between};
use super::writer::{Outcome, Writer};
use crate::error::{Error, Result};
use crate::library::Content;
use crate::library::everything::{Everything, everything, everything_of_skill};
use crate::store::{Extent, Held, Packer, RootRow, SnapshotFile, Store};
use crate::sync::{Progress, Unit};

/// Bytes that are packed before they are written.
const BATCH: usize = 16 * 1024 * 1024;

/// Stands in the place of permissions for what is there and is not in the snapshot.
pub(super) const LEFT_OUT: u32 = u32::MAX;

/// A snapshot that was made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Made {
    /// Its number.
    pub id: i64,
    /// Files, links and empty folders in it.
    pub entries: usize,
    /// What is not in it, and why.
    pub left_out: Vec<(PathBuf, String)>,
}

impl Writer {
    /// Makes a snapshot of everything below the writable roots.
    ///
    /// # Errors
    /// [`Error::Io`], [`Error::Database`].
    pub fn snapshot(&mut self, who: &Who, progress: &dyn Progress) -> Result<Made> {
        let roots = writable(self.store())?;
        let reason = who.reason.clone();
        progress.begin("keeping", Unit::Files, None);
        let mut kept = Kept::default();
        for root in &roots {
            let found = everything(&root.path).map_err(Error::io("list", &root.path))?;
            let place = Kept::place(root.id, &root.path, "");
            kept.keep(self.store_mut(), place, found, progress)?;
        }
        progress.end();
        let reason = reason.unwrap_or_else(|| "asked for".to_owned());
        let (actor, now) = (who.actor.as_str(), self.settings().now);
        let id = self.store_mut().write(|tx| {
            let id = tx.add_snapshot((&reason, actor), Extent::Everything, now)?;
            kept.files
                .iter()
                .try_for_each(|file| tx.add_snapshot_file(id, file))?;
            for root in &roots {
                tx.add_snapshot_skills(id, root.id)?;
            }
            Ok(id)
        })?;
        Ok(kept.made(id))
    }

    /// Makes a snapshot of some skills only. Going back to it leaves all others alone.
    ///
    /// # Errors
    /// [`Error::Io`], [`Error::Database`].
    pub fn snapshot_of(
        &mut self,
        who: &Who,
        skills: &[i64],
        reason: &str,
        progress: &dyn Progress,
    ) -> Result<Made> {
        progress.begin("keeping", Unit::Files, None);
        let mut kept = Kept::default();
        let mut held = Vec::with_capacity(skills.len());
        for id in skills {
            let facts = self.store().skill_facts(*id)?;
            let folder = facts.path();
            // Left out altogether: a skill that the snapshot says it holds, and of which it has no file, would be emptied
            // by going back to it.
            let found = match everything_of_skill(&folder) {
                Ok(found) => found,
                Err(error) => {
                    kept.left_out.push((folder, error.to_string()));
                    continue;
                }
            };
            held.push(*id);
            let prefix = match facts.rel_path.as_str() {
                "." => String::new(),
                path => format!("{path}/"),
            };
            let place = Kept::place(facts.root_id, &folder, &prefix);
            kept.keep(self.store_mut(), place, found, progress)?;
        }
        progress.end();
        let (actor, now) = (who.actor.as_str(), self.settings().now);
        let id = self.store_mut().append(|tx| {
            let id = tx.add_snapshot((reason, actor), Extent::SomeSkills, now)?;
            kept.files
                .iter()
                .try_for_each(|file| tx.add_snapshot_file(id, file))?;
            held.iter()
                .try_for_each(|skill| tx.add_snapshot_skill(id, *skill))?;
            Ok(id)
        })?;
        Ok(kept.made(id))
    }

    /// Brings everything back to what it was in a snapshot, after making one of what is there now.
    ///
    /// # Errors
    /// [`Error::Denied`] when there is no such snapshot or nothing differs; else as [`Writer::run`].
    pub fn restore_snapshot(
        &mut self,
        who: &Who,
        id: i64,
        progress: &dyn Progress,
    ) -> Result<(Made, Outcome)> {
        only_people(who.actor, "restore a snapshot")?;
        self.store().snapshot(id)?;
        let safety = Who {
            reason: Some(format!("before snapshot {id} was restored")),
            ..who.clone()
        };
        let made = self.snapshot(&safety, progress)?;
        let token = self.next_token();
        let draft = Draft::new(Action::Restore, who.actor, token);
        match between(draft, self.store(), (made.id, id), None) {
            Ok(draft) => Ok((made, self.carry_out(who, draft)?)),
            Err(error) => {
                self.note_attempt(who, Action::Restore, &format!("snapshot {id}"), &error);
                Err(error)
            }
        }
    }

    /// Removes all but the newest `keep` snapshots, and the bytes that only they held. Returns their numbers and
    /// the bytes.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn prune_snapshots(&mut self, who: &Who, keep: usize) -> Result<(Vec<i64>, u64)> {
        only_people(who.actor, "prune snapshots")?;
        let now = self.settings().now;
        // Those of some skills, which runs of the curator make, do not push out those of the whole library.
        let (partial, whole): (Vec<_>, Vec<_>) = self
            .store()
            .snapshots()?
            .into_iter()
            .partition(|row| row.is_partial);
        let old: Vec<i64> = [partial, whole]
            .iter()
            .flat_map(|rows| rows.iter().skip(keep))
            .map(|row| row.id)
            .collect();
        let bytes = self.store_mut().write(|tx| {
            for id in &old {
                tx.prune_snapshot(*id, now)?;
            }
            if old.is_empty() {
                Ok(0)
            } else {
                tx.drop_unused_bytes()
            }
        })?;
        Ok((old, bytes))
    }
}

fn writable(store: &Store) -> Result<Vec<RootRow>> {
    let roots = store.roots()?;
    Ok(roots
        .into_iter()
        .filter(|root| root.writable && root.path.is_dir())
        .collect())
}

/// What goes into a snapshot, gathered.
#[derive(Default)]
struct Kept {
    files: Vec<SnapshotFile>,
    left_out: Vec<(PathBuf, String)>,
}

/// A folder whose files are kept.
#[derive(Clone, Copy)]
struct Place<'a> {
    root_id: i64,
    folder: &'a Path,
    /// The way from the root to it, with a slash at its end.
    prefix: &'a str,
}

impl Kept {
    fn place<'a>(root_id: i64, folder: &'a Path, prefix: &'a str) -> Place<'a> {
        Place {
            root_id,
            folder,
            prefix,
        }
    }

    /// Keeps the bytes of everything that was found in a folder.
    fn keep(
        &mut self,
        store: &mut Store,
        place: Place<'_>,
        found: Everything,
        progress: &dyn Progress,
    ) -> Result<()> {
        for (path, why) in found.left_out {
            self.leave_out(&place, &path, why);
        }
        let mut packer = Packer::new();
        let mut packed = Vec::new();
        let mut size = 0;
        for path in found.files {
            let (content, bytes) = match read_entry(place.folder, &path) {
                Ok(Some(found)) => found,
                Ok(None) => continue,
                Err(error) => {
                    self.leave_out(&place, &path, super::make::told(&error));
                    continue;
                }
            };
            progress.advance(1);
            if let Some(hash) = content.hash()
                && !store.has_bytes(hash)?
            {
                let blob = packer.pack(hash.to_owned(), &bytes);
                size += blob.bytes.len();
                packed.push(blob);
            }
            self.add(&place, &path, held_of(&content));
            if size > BATCH {
                store.append(|tx| packed.iter().try_for_each(|blob| tx.put_blob(blob)))?;
                packed.clear();
                size = 0;
            }
        }
        if !packed.is_empty() {
            store.append(|tx| packed.iter().try_for_each(|blob| tx.put_blob(blob)))?;
        }
        for path in found.empty_folders {
            self.add(&place, &path, Held::default());
        }
        Ok(())
    }

    fn add(&mut self, place: &Place<'_>, path: &str, held: Held) {
        self.files.push(SnapshotFile {
            root_id: place.root_id,
            path: format!("{}{path}", place.prefix),
            held,
        });
    }

    /// What could not be read is noted: a restore leaves such places alone.
    fn leave_out(&mut self, place: &Place<'_>, path: &str, why: String) {
        let held = Held {
            mode: Some(LEFT_OUT),
            ..Held::default()
        };
        self.add(place, path, held);
        self.left_out.push((place.folder.join(path), why));
    }

    fn made(self, id: i64) -> Made {
        Made {
            id,
            entries: self.files.len() - self.left_out.len().min(self.files.len()),
            left_out: self.left_out,
        }
    }
}

fn held_of(content: &Content) -> Held {
    Held {
        hash: content.hash().map(str::to_owned),
        mode: content.mode(),
        link: content.link_target().map(str::to_owned),
    }
}

/// The paths that a restore would change, as the files are now.
///
/// # Errors
/// [`Error::Denied`] when there is no such snapshot; [`Error::Io`].
pub fn differing(store: &Store, id: i64) -> Result<Vec<String>> {
    let scope = Scope::of(store, id)?;
    let mut wanted: BTreeMap<way_back::Place, Held> = BTreeMap::new();
    for file in store.snapshot_files(id)? {
        wanted.insert((file.root_id, file.path), file.held);
    }
    let mut paths = BTreeSet::new();
    for root in writable(store)? {
        let found = everything(&root.path).map_err(Error::io("list", &root.path))?;
        let mut seen = BTreeSet::new();
        wanted.retain(|_, held| held.mode != Some(LEFT_OUT));
        for path in found.files {
            if !scope.holds(root.id, &path) {
                continue;
            }
            let held = match read_entry(&root.path, &path) {
                Ok(Some((content, _))) => held_of(&content),
                Ok(None) | Err(_) => continue,
            };
            let place = (root.id, path);
            if wanted.get(&place) != Some(&held) {
                paths.insert(root.path.join(&place.1).to_string_lossy().into_owned());
            }
            seen.insert(place.1);
        }
        let gone = wanted.iter().filter(|((root_id, path), held)| {
            *root_id == root.id && !held.is_nothing() && !seen.contains(path)
        });
        paths
            .extend(gone.map(|((_, path), _)| root.path.join(path).to_string_lossy().into_owned()));
    }
    Ok(paths.into_iter().collect())
}

/// The places a snapshot is about.
struct Scope {
    /// Folders of the skills it holds, as they were and as they are; `None` where it holds everything.
    places: Option<Vec<way_back::Place>>,
}

impl Scope {
    fn of(store: &Store, id: i64) -> Result<Self> {
        if !store.snapshot(id)?.is_partial {
            return Ok(Self { places: None });
        }
        let mut places = Vec::new();
        for skill in store.snapshot_skills(id)? {
            let facts = store.skill_facts(skill.skill_id)?;
            places.push((skill.root_id, skill.rel_path));
            places.push((facts.root_id, facts.rel_path));
        }
        Ok(Self {
            places: Some(places),
        })
    }

    fn holds(&self, root: i64, path: &str) -> bool {
        let Some(places) = &self.places else {
            return true;
        };
        places.iter().any(|(id, place)| {
            let is_inside = || {
                path.strip_prefix(place.as_str())
                    .is_some_and(|rest| rest.starts_with('/'))
            };
            *id == root && (place == "." || is_inside())
        })
    }
}
