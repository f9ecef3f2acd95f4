//! Snapshots of everything below the writable roots, and the way back to one.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::draft::{Draft, read_entry};
use super::ownership::only_people;
use super::plan::Action;
use super::request::Who;
use super::way_back::{Place, between};
use super::writer::{Outcome, Writer};
use crate::error::{Error, Result};
use crate::library::Content;
use crate::library::everything::everything;
use crate::store::{Held, Packer, RootRow, SnapshotFile, Store};
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
        let (reason, actor) = (who.reason.clone(), who.actor.as_str());
        let now = self.settings().now;
        let mut files = Vec::new();
        let mut left_out = Vec::new();
        progress.begin("keeping", Unit::Files, None);
        for root in &roots {
            keep_root(
                self.store_mut(),
                root,
                (&mut files, &mut left_out),
                progress,
            )?;
        }
        progress.end();
        // What could not be read is noted: a restore leaves such places alone.
        for (path, _) in &left_out {
            for root in &roots {
                if let Some(path) = path.strip_prefix(&root.path).ok().and_then(Path::to_str) {
                    files.push(SnapshotFile {
                        root_id: root.id,
                        path: path.to_owned(),
                        held: Held {
                            mode: Some(LEFT_OUT),
                            ..Held::default()
                        },
                    });
                }
            }
        }
        let reason = reason.unwrap_or_else(|| "asked for".to_owned());
        let id = self.store_mut().write(|tx| {
            let id = tx.add_snapshot(&reason, actor, now)?;
            for file in &files {
                tx.add_snapshot_file(id, file)?;
            }
            for root in &roots {
                tx.add_snapshot_skills(id, root.id)?;
            }
            Ok(id)
        })?;
        Ok(Made {
            id,
            entries: files.len() - left_out.len().min(files.len()),
            left_out,
        })
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
        let old: Vec<i64> = self
            .store()
            .snapshots()?
            .iter()
            .skip(keep)
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

/// Keeps the bytes of everything below a root.
fn keep_root(
    store: &mut Store,
    root: &RootRow,
    (files, left_out): (&mut Vec<SnapshotFile>, &mut Vec<(PathBuf, String)>),
    progress: &dyn Progress,
) -> Result<()> {
    let found = everything(&root.path).map_err(Error::io("list", &root.path))?;
    left_out.extend(
        found
            .left_out
            .into_iter()
            .map(|(path, why)| (root.path.join(path), why)),
    );
    let mut packer = Packer::new();
    let mut packed = Vec::new();
    let mut size = 0;
    for path in found.files {
        let (content, bytes) = match read_entry(&root.path, &path) {
            Ok(Some(found)) => found,
            Ok(None) => continue,
            Err(error) => {
                left_out.push((root.path.join(&path), super::make::told(&error)));
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
        files.push(SnapshotFile {
            root_id: root.id,
            path,
            held: held_of(&content),
        });
        if size > BATCH {
            store.append(|tx| packed.iter().try_for_each(|blob| tx.put_blob(blob)))?;
            packed.clear();
            size = 0;
        }
    }
    store.append(|tx| packed.iter().try_for_each(|blob| tx.put_blob(blob)))?;
    files.extend(found.empty_folders.into_iter().map(|path| SnapshotFile {
        root_id: root.id,
        path,
        held: Held::default(),
    }));
    Ok(())
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
    store.snapshot(id)?;
    let mut wanted: BTreeMap<Place, Held> = BTreeMap::new();
    for file in store.snapshot_files(id)? {
        wanted.insert((file.root_id, file.path), file.held);
    }
    let mut paths = BTreeSet::new();
    for root in writable(store)? {
        let found = everything(&root.path).map_err(Error::io("list", &root.path))?;
        let mut seen = BTreeSet::new();
        wanted.retain(|_, held| held.mode != Some(LEFT_OUT));
        for path in found.files {
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
