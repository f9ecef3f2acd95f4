//! Snapshots of everything below the writable roots, and the way back to one.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::PathBuf;

use super::draft::{Draft, Side, read_entry};
use super::ownership::Reach;
use super::plan::{Action, Effect, Part, PartFile};
use super::request::Who;
use super::revert::{Wanted, merged};
use super::step::Step;
use super::writer::{Outcome, Writer};
use crate::error::{Error, Result};
use crate::library::Content;
use crate::library::everything::everything;
use crate::store::{
    ChangeRow, Held, Packer, RootRow, SkillFacts, SnapshotFile, SnapshotSkill, Store,
};
use crate::sync::{Progress, Unit};

/// Bytes that are packed before they are written.
const BATCH: usize = 16 * 1024 * 1024;

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
            entries: files.len(),
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
        self.store().snapshot(id)?;
        let safety = Who {
            reason: Some(format!("before snapshot {id} was restored")),
            ..who.clone()
        };
        let made = self.snapshot(&safety, progress)?;
        let token = self.next_token();
        let draft = Draft::new(Action::Restore, who.actor, token);
        let draft = between(draft, self.store(), (made.id, id), None)?;
        let outcome = self.carry_out(who, draft)?;
        Ok((made, outcome))
    }

    /// Removes all but the newest `keep` snapshots, and the bytes that only they held. Returns their numbers and
    /// the bytes.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn prune_snapshots(&mut self, keep: usize) -> Result<(Vec<i64>, u64)> {
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

type Place = (i64, String);

/// Plans the way from one snapshot to another: only what differs between them is touched. What was changed since
/// the first one in other lines stays; where the same lines were, nothing is done.
///
/// # Errors
/// [`Error::Clash`], [`Error::Denied`], [`Error::NotKept`].
pub(super) fn between(
    mut draft: Draft,
    store: &Store,
    (from, to): (i64, i64),
    undone: Option<&ChangeRow>,
) -> Result<Draft> {
    for id in [from, to] {
        store.snapshot(id)?;
    }
    draft.plan.snapshot = Some(to);
    draft.plan.from_snapshot = Some(from);
    draft.plan.undoes = undone.map(|change| change.id);
    draft.reverses = undone.map(|change| change.actor.clone());
    let roots: HashMap<i64, RootRow> = store
        .roots()?
        .into_iter()
        .map(|root| (root.id, root))
        .collect();
    let read = |id| -> Result<BTreeMap<Place, Held>> {
        let files = store.snapshot_files(id)?;
        Ok(files
            .into_iter()
            .map(|file| ((file.root_id, file.path), file.held))
            .collect())
    };
    let (old, new) = (read(from)?, read(to)?);
    let differing: BTreeSet<&Place> = old
        .keys()
        .chain(new.keys())
        .filter(|place| old.get(*place) != new.get(*place))
        .collect();
    let mut work = Work {
        store,
        undone: undone.map(|change| change.id),
        gone: Vec::new(),
        come: Vec::new(),
        folders: Vec::new(),
    };
    for place in differing {
        if let Some(root) = roots.get(&place.0) {
            work.entry(root, &place.1, (old.get(place), new.get(place)))?;
        }
    }
    let skills = Skills::read(store, (from, to))?;
    for root in roots.values() {
        draft.plan.roots.push(root.path.clone());
    }
    draft.plan.roots.retain(|root| root.is_dir());
    work.fill(&mut draft, &skills);
    skills.effects(&mut draft, &roots);
    if draft.plan.steps.is_empty() {
        return Err(Error::Denied {
            code: "no-change",
            message: "everything is as it is in that snapshot: nothing to restore".to_owned(),
            hint: None,
        });
    }
    Ok(draft)
}

/// A file that changes.
struct Changed {
    root: i64,
    root_path: PathBuf,
    path: String,
    before: Side,
    after: Side,
}

/// What is to be done, sorted into what makes room and what comes.
struct Work<'a> {
    store: &'a Store,
    undone: Option<i64>,
    gone: Vec<Changed>,
    come: Vec<Changed>,
    folders: Vec<(PathBuf, PathBuf, bool)>,
}

impl Work<'_> {
    fn entry(
        &mut self,
        root: &RootRow,
        path: &str,
        (old, new): (Option<&Held>, Option<&Held>),
    ) -> Result<()> {
        let is_folder = |held: &Held| held.is_nothing();
        let whole = root.path.join(path);
        if old.is_some_and(is_folder) && !new.is_some_and(is_folder) {
            let is_empty = whole
                .read_dir()
                .is_ok_and(|mut entries| entries.next().is_none());
            if is_empty {
                self.folders.push((whole.clone(), root.path.clone(), false));
            }
        }
        if new.is_some_and(is_folder) {
            if !whole.is_dir() {
                self.folders.push((whole.clone(), root.path.clone(), true));
            }
            if old.is_none_or(is_folder) {
                return Ok(());
            }
        }
        let nothing = Held::default();
        let wanted = Wanted {
            expected: old.unwrap_or(&nothing),
            target: new.unwrap_or(&nothing),
            path: &whole,
            change: self.undone.unwrap_or_default(),
            later: Vec::new(),
        };
        let current = match read_entry(&root.path, path) {
            // A folder stands where a file was, or the other way round: what is in it is told by its own entries.
            Err(Error::Denied {
                code: "path-is-folder" | "path-escapes",
                ..
            }) => None,
            found => found?,
        };
        let Some((before, after)) = merged(self.store, &wanted, current)? else {
            return Ok(());
        };
        let changed = Changed {
            root: root.id,
            root_path: root.path.clone(),
            path: path.to_owned(),
            before,
            after,
        };
        if changed.after.is_none() {
            self.gone.push(changed);
        } else {
            self.come.push(changed);
        }
        Ok(())
    }

    fn fill(self, draft: &mut Draft, skills: &Skills) {
        let tree = |(path, keep, comes): (PathBuf, PathBuf, bool)| Step::Tree {
            path,
            before: (!comes).then(Vec::new),
            after: comes.then(Vec::new),
            keep,
        };
        let (made, removed): (Vec<_>, Vec<_>) =
            self.folders.into_iter().partition(|(.., comes)| *comes);
        let mut parts: BTreeMap<Option<i64>, Vec<PartFile>> = BTreeMap::new();
        let mut steps = Vec::new();
        for changed in self.gone.into_iter().chain(self.come) {
            let path = changed.root_path.join(&changed.path);
            let owner = skills.owner(changed.root, &changed.path);
            let (before, after) = draft.keep_both(changed.before, changed.after);
            parts.entry(owner).or_default().push(PartFile {
                path: path.to_string_lossy().into_owned(),
                before: before.clone(),
                after: after.clone(),
            });
            steps.push(Step::File {
                path,
                before,
                after,
                keep: changed.root_path,
            });
        }
        // What goes makes room for what comes.
        let (gone, come): (Vec<_>, Vec<_>) = steps
            .into_iter()
            .partition(|step| matches!(step, Step::File { after: None, .. }));
        draft.plan.steps.extend(gone);
        draft.plan.steps.extend(removed.into_iter().map(tree));
        draft.plan.steps.extend(come);
        draft.plan.steps.extend(made.into_iter().map(tree));
        for (owner, files) in parts {
            let count = files.len();
            let facts = owner.and_then(|id| skills.facts.get(&id));
            if let Some(facts) = facts {
                draft.wishes.push((Reach::Remove, Some(facts.clone())));
            }
            let files_word = if count == 1 { "file" } else { "files" };
            draft.plan.parts.push(Part {
                skill_id: owner,
                name: facts.map_or_else(
                    || "files outside of skills".to_owned(),
                    |facts| facts.name.clone(),
                ),
                title: format!(
                    "{count} {files_word} as in snapshot {}",
                    draft.plan.snapshot.unwrap_or_default()
                ),
                from: None,
                to: None,
                files,
                revision_id: None,
            });
        }
    }
}

/// What both snapshots say about skills.
struct Skills {
    old: HashMap<i64, SnapshotSkill>,
    new: HashMap<i64, SnapshotSkill>,
    facts: HashMap<i64, SkillFacts>,
    /// Whose folder is where, on either side.
    places: HashMap<Place, i64>,
}

impl Skills {
    fn read(store: &Store, (from, to): (i64, i64)) -> Result<Self> {
        let read = |id| -> Result<HashMap<i64, SnapshotSkill>> {
            Ok(store
                .snapshot_skills(id)?
                .into_iter()
                .map(|skill| (skill.skill_id, skill))
                .collect())
        };
        let (old, new) = (read(from)?, read(to)?);
        let mut facts = HashMap::new();
        let mut places = HashMap::new();
        for skill in old.values().chain(new.values()) {
            facts.insert(skill.skill_id, store.skill_facts(skill.skill_id)?);
            places.insert((skill.root_id, skill.rel_path.clone()), skill.skill_id);
        }
        Ok(Self {
            old,
            new,
            facts,
            places,
        })
    }

    /// The skill whose folder a path lies in: the outermost one, as with every walk.
    fn owner(&self, root: i64, path: &str) -> Option<i64> {
        let find = |place: &str| self.places.get(&(root, place.to_owned())).copied();
        find(".").or_else(|| {
            path.match_indices('/')
                .find_map(|(at, _)| find(path.get(..at)?))
        })
    }

    /// What happens to the rows.
    fn effects(&self, draft: &mut Draft, roots: &HashMap<i64, RootRow>) {
        let parts: HashMap<i64, usize> = draft
            .plan
            .parts
            .iter()
            .enumerate()
            .filter_map(|(number, part)| Some((part.skill_id?, number)))
            .collect();
        let reason = format!(
            "snapshot {} restored",
            draft.plan.snapshot.unwrap_or_default()
        );
        let mut effects = Vec::new();
        for (id, facts) in &self.facts {
            match (self.old.get(id), self.new.get(id)) {
                (Some(_), None) if parts.contains_key(id) => {
                    effects.push(Effect::End { skill_id: *id })
                }
                (old, Some(new)) if old != Some(new) || parts.contains_key(id) => {
                    if !roots.contains_key(&new.root_id) {
                        continue;
                    }
                    let is_there = !facts.has_ended
                        && facts.root_id == new.root_id
                        && facts.rel_path == new.rel_path;
                    if !is_there {
                        effects.push(Effect::Revive {
                            skill_id: *id,
                            root_id: new.root_id,
                            rel_path: new.rel_path.clone(),
                        });
                    }
                    effects.push(Effect::State {
                        skill_id: *id,
                        to: new.state.clone(),
                        reason: reason.clone(),
                    });
                    effects.push(Effect::ArchivedFrom {
                        skill_id: *id,
                        from: new.archived_from.clone(),
                    });
                    if let Some(part) = parts.get(id) {
                        effects.push(Effect::Mirror {
                            part: *part,
                            root_id: new.root_id,
                            rel_path: new.rel_path.clone(),
                            born: None,
                        });
                    }
                }
                _ => {}
            }
        }
        // Places are freed before others take them.
        effects.sort_by_key(|effect| !matches!(effect, Effect::End { .. }));
        draft.plan.effects.extend(effects);
    }
}
