//! From one snapshot to another: the plan of a restore, and of taking one back.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::PathBuf;

use super::draft::{Draft, Side, read_entry};
use super::ownership::Reach;
use super::plan::{Effect, Part, PartFile};
use super::revert::{Wanted, merged};
use super::snapshot::LEFT_OUT;
use super::step::Step;
use crate::error::{Error, Result};
use crate::store::{ChangeRow, Held, RootRow, SkillFacts, SnapshotSkill, Store};

/// A root's row, and a path below it.
pub(super) type Place = (i64, String);

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
    let mut scope: Option<BTreeSet<i64>> = None;
    for id in [from, to] {
        if store.snapshot(id)?.is_partial {
            let skills = store.snapshot_skills(id)?;
            let ids = skills.into_iter().map(|skill| skill.skill_id);
            scope.get_or_insert_default().extend(ids);
        }
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
    let mut left_out: Vec<Place> = Vec::new();
    let mut read = |id| -> Result<BTreeMap<Place, Held>> {
        let mut held = BTreeMap::new();
        for file in store.snapshot_files(id)? {
            let place = (file.root_id, file.path);
            if file.held.mode == Some(LEFT_OUT) {
                left_out.push(place);
            } else {
                held.insert(place, file.held);
            }
        }
        Ok(held)
    };
    let (mut old, mut new) = (read(from)?, read(to)?);
    let mut skills = Skills::read(store, (from, to))?;
    if let Some(scope) = &scope {
        let is_ours = |(root, path): &Place| {
            skills
                .owner(*root, path)
                .is_some_and(|id| scope.contains(&id))
        };
        old.retain(|place, _| is_ours(place));
        new.retain(|place, _| is_ours(place));
        skills.facts.retain(|id, _| scope.contains(id));
    }
    // Nothing can be said about what one of them does not hold.
    let is_left_out = |place: &Place| {
        left_out.iter().any(|(root, path)| {
            *root == place.0
                && place
                    .1
                    .strip_prefix(path.as_str())
                    .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        })
    };
    let differing: BTreeSet<&Place> = old
        .keys()
        .chain(new.keys())
        .filter(|place| old.get(*place) != new.get(*place) && !is_left_out(place))
        .collect();
    let mut work = Work {
        store,
        undone: undone.map(|change| change.id),
        gone: Vec::new(),
        come: Vec::new(),
        folders: Vec::new(),
    };
    for place in differing {
        let Some(root) = roots.get(&place.0).filter(|root| root.path.is_dir()) else {
            draft.notes.push(format!(
                "{} was not touched: its folder is not there",
                place.1
            ));
            continue;
        };
        // A folder that is empty now and will not be.
        let inner = (place.0, format!("{}/", place.1));
        let fills = new
            .range(inner.clone()..)
            .next()
            .is_some_and(|(next, _)| next.0 == inner.0 && next.1.starts_with(&inner.1));
        if fills && old.get(place).is_some_and(Held::is_nothing) && !new.contains_key(place) {
            continue;
        }
        match work.entry(root, &place.1, (old.get(place), new.get(place))) {
            Err(Error::NotKept { .. }) => draft.notes.push(format!(
                "{} was not touched: the history does not hold its bytes any more",
                root.path.join(&place.1).display()
            )),
            done => done?,
        }
    }
    for root in roots.values() {
        draft.plan.roots.push(root.path.clone());
    }
    draft.plan.roots.retain(|root| root.is_dir());
    work.fill(&mut draft, &skills);
    skills.effects(&mut draft, store, &roots)?;
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
    fn effects(
        &self,
        draft: &mut Draft,
        store: &Store,
        roots: &HashMap<i64, RootRow>,
    ) -> Result<()> {
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
                    effects.push(Effect::End { skill_id: *id });
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
                        anchor: None,
                        heir: store.heir_before(*id, i64::MAX)?,
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
        Ok(())
    }
}
