//! Decides what each folder that was found means for the library. Changes nothing.

use std::collections::HashMap;
use std::io;

use super::found::{Found, ReadSkill, SkillFacts, folder_path};
use super::scan::{RootScan, is_below};
use crate::error::Result;
use crate::hash::hash_of;
use crate::library::{EntryKind, WalkCode, WalkFinding, files, unit};
use crate::skill::ParseStatus;
use crate::store::{KnownSkill, Place, RootCounts, RootRow, Store};

/// What is to be done below one root.
#[derive(Debug)]
pub(super) struct RootPlan {
    pub(super) root: RootRow,
    pub(super) scan: RootScan,
    /// One for each of `scan.found`, in the same order.
    pub(super) fates: Vec<Fate>,
    /// Skills that vanished and turned up nowhere else.
    pub(super) lost: Vec<KnownSkill>,
    /// Folders that cannot be looked into and were never noted.
    pub(super) closed: Vec<String>,
    /// Whether the walk has something to say that was not said before.
    pub(super) has_news: bool,
    /// So many vanished at once that none is marked.
    pub(super) is_held_back: bool,
}

/// What a found folder means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Fate {
    /// A category folder whose listing is as it was.
    SameFolder,
    /// A category folder to be noted.
    Folder,
    /// A skill that nobody knew.
    New,
    /// A skill whose folder had vanished.
    Back(KnownSkill, Cause),
    /// A skill that lay elsewhere until now.
    Moved(KnownSkill),
    /// A skill with other content, or that reads otherwise than before.
    Changed(KnownSkill, Cause),
    /// A skill with the same text and a folder in it that is closed to us: what was known of its files
    /// stays as it was.
    Closed(KnownSkill),
    /// A skill with the same content and other stamps.
    Touched(KnownSkill),
    /// A skill that is as it was.
    Same(KnownSkill),
}

/// Why a skill changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cause {
    /// Somebody changed a file of it: automation leaves it alone from then on.
    Edit,
    /// The same bytes read otherwise: the file was closed to us, or is open again.
    Reading,
}

/// A vanishing of more than half of a root looks like an unmounted disk when it is more than this
/// many skills, or all of several.
const HELD_BACK_ABOVE: usize = 5;

/// Compares what was found below one root with what is known.
///
/// # Errors
/// [`crate::Error::Database`].
pub(super) fn plan_root(store: &Store, root: RootRow, scan: RootScan) -> Result<RootPlan> {
    let mut fates = Vec::with_capacity(scan.found.len());
    for found in &scan.found {
        fates.push(fate_of(store, &root, found)?);
    }
    let mut lost = Vec::with_capacity(scan.lost.len());
    for (_, id) in &scan.lost {
        lost.extend(store.skill_by_id(*id)?);
    }
    let mut closed = Vec::new();
    for finding in &scan.unknown {
        if store.find_unit(root.id, &finding.unit)?.is_none() {
            closed.push(finding.unit.clone());
        }
    }
    let has_news = !scan.findings.is_empty() && {
        let known = store.walk_findings(root.id)?;
        let is_known = |finding: &WalkFinding| {
            let path = finding.path.to_string_lossy();
            known
                .iter()
                .any(|(known, code)| *known == path && code == finding.code.as_str())
        };
        !scan.findings.iter().all(is_known)
    };
    Ok(RootPlan {
        has_news,
        root,
        scan,
        fates,
        lost,
        closed,
        is_held_back: false,
    })
}

fn fate_of(store: &Store, root: &RootRow, found: &Found) -> Result<Fate> {
    let rel_path = found.unit.rel_path.as_str();
    let before = store.find_unit(root.id, rel_path)?;
    let listing = before.as_ref().map(|(_, packed)| packed.as_slice());
    let is_same = listing.is_some_and(|packed| unit::same_listing(packed, &found.packed));
    let Some(read) = &found.skill else {
        let was_folder = before.as_ref().is_some_and(|(skill, _)| skill.is_none());
        return Ok(if is_same && was_folder {
            Fate::SameFolder
        } else {
            Fate::Folder
        });
    };
    let Some(known) = store.skill_at(Place {
        root_id: root.id,
        rel_path,
    })?
    else {
        return Ok(Fate::New);
    };
    if known.is_missing {
        let cause = if has_bytes_of(store, root, found, &known)? {
            Cause::Reading
        } else {
            Cause::Edit
        };
        return Ok(Fate::Back(known, cause));
    }
    let facts = match read {
        ReadSkill::Failed(..) if known.parse_status.as_deref() == Some("unreadable") => {
            return Ok(Fate::Same(known));
        }
        ReadSkill::Failed(..) => return Ok(Fate::Changed(known, Cause::Reading)),
        ReadSkill::Read(facts) => facts,
    };
    if known.content_hash.is_none() {
        return fate_without_mirror(store, found, facts, known);
    }
    let is_same_text = known.content_hash.as_deref() == Some(&facts.content_hash);
    let has_closed_folder = found
        .findings
        .iter()
        .any(|finding| finding.code == WalkCode::FolderUnreadable);
    if has_closed_folder && is_same_text {
        return Ok(if is_same {
            Fate::Same(known)
        } else {
            Fate::Closed(known)
        });
    }
    let is_same_tree = known.tree_hash.as_deref() == Some(&facts.tree_hash);
    if !is_same_text {
        return Ok(Fate::Changed(known, Cause::Edit));
    }
    if !is_same_tree {
        // Files that come to light because a folder was opened are no edit.
        let was_closed = store
            .diagnostics(Some(known.id))?
            .iter()
            .any(|row| row.code == WalkCode::FolderUnreadable.as_str());
        return Ok(Fate::Changed(
            known,
            if was_closed {
                Cause::Reading
            } else {
                Cause::Edit
            },
        ));
    }
    let is_changed = match listing {
        Some(packed) => {
            let rewritten = unit::rewritten_files(packed, &found.packed);
            differs_from_history(store, root, found, &known, &rewritten)?
        }
        None => false,
    };
    let is_same_status = known.parse_status.as_deref() == Some(facts.text.status.as_str());
    Ok(match (is_changed, is_same_status, is_same) {
        (true, _, _) => Fate::Changed(known, Cause::Edit),
        (false, false, _) => Fate::Changed(known, Cause::Reading),
        (false, true, true) => Fate::Same(known),
        (false, true, false) => Fate::Touched(known),
    })
}

/// A skill whose mirror was lost is compared with the history instead.
fn fate_without_mirror(
    store: &Store,
    found: &Found,
    facts: &SkillFacts,
    known: KnownSkill,
) -> Result<Fate> {
    let kept = store.kept_hashes(known.id)?;
    let is_kept = kept.get(found.file_name()) == Some(&facts.content_hash);
    let was_never_read = known.parse_status.is_some();
    Ok(match (is_kept, was_never_read) {
        (true, _) => Fate::Touched(known),
        (false, true) => Fate::Changed(known, Cause::Reading),
        (false, false) => Fate::Changed(known, Cause::Edit),
    })
}

/// Says whether a supporting file has other bytes than the history holds. Files that were rewritten
/// count as changed when the history does not hold them; of files that are merely suspect, nothing is
/// known then.
fn differs_from_history(
    store: &Store,
    root: &RootRow,
    found: &Found,
    known: &KnownSkill,
    rewritten: &[&str],
) -> Result<bool> {
    let is_supporting = |name: &&str| **name != *found.file_name();
    let mut rewritten = rewritten
        .iter()
        .filter(|name| is_supporting(name))
        .peekable();
    if rewritten.peek().is_none() && found.suspects.is_empty() && !found.is_suspect_whole {
        return Ok(false);
    }
    let kept = store.kept_hashes(known.id)?;
    let folder = folder_path(&root.path, &found.unit.rel_path);
    let mut buffer = Vec::new();
    let mut differs = |name: &str, hash: &str| {
        match files::read_into(&folder.join(name), files::MAX_SKILL_BYTES, &mut buffer) {
            Ok(()) => hash_of(&buffer) != hash,
            // Closed to us is not edited.
            Err(error) => error.kind() != io::ErrorKind::PermissionDenied,
        }
    };
    let is_suspect =
        |name: &str| found.is_suspect_whole || found.suspects.iter().any(|suspect| suspect == name);
    if rewritten.any(|name| kept.get(*name).is_none_or(|hash| differs(name, hash))) {
        return Ok(true);
    }
    let files = found
        .unit
        .entries
        .iter()
        .filter(|entry| entry.kind == EntryKind::File);
    let mut suspects = files
        .map(|entry| entry.name.as_str())
        .filter(|name| *name != found.file_name() && is_suspect(name));
    Ok(suspects.any(|name| kept.get(name).is_some_and(|hash| differs(name, hash))))
}

/// Finds the moves: a vanished skill and a new folder with the same tree hash, one to one, over all
/// roots of this sync. Where the history holds supporting files, their bytes have to agree, too.
///
/// # Errors
/// [`crate::Error::Database`].
pub(super) fn match_moves(store: &Store, plans: &mut [RootPlan]) -> Result<()> {
    let mut lost_by_tree: HashMap<String, Vec<(usize, usize)>> = HashMap::new();
    let mut new_by_tree: HashMap<String, Vec<(usize, usize)>> = HashMap::new();
    for (p, plan) in plans.iter().enumerate() {
        for (l, skill) in plan.lost.iter().enumerate() {
            if let Some(hash) = &skill.tree_hash {
                lost_by_tree.entry(hash.clone()).or_default().push((p, l));
            }
        }
        for (f, (found, fate)) in plan.scan.found.iter().zip(&plan.fates).enumerate() {
            if let (Fate::New, Some(facts)) = (fate, found.facts()) {
                new_by_tree
                    .entry(facts.tree_hash.clone())
                    .or_default()
                    .push((p, f));
            }
        }
    }
    let mut moved: Vec<(usize, usize)> = Vec::new();
    for (hash, lost) in lost_by_tree {
        let ([(lp, l)], Some([(np, f)])) =
            (lost.as_slice(), new_by_tree.get(&hash).map(Vec::as_slice))
        else {
            continue;
        };
        let Some(skill) = plans.get(*lp).and_then(|plan| plan.lost.get(*l)).cloned() else {
            continue;
        };
        let Some(plan) = plans.get_mut(*np) else {
            continue;
        };
        let Some(found) = plan.scan.found.get(*f) else {
            continue;
        };
        if !has_bytes_of(store, &plan.root, found, &skill)? {
            continue;
        }
        if let Some(fate) = plan.fates.get_mut(*f) {
            *fate = Fate::Moved(skill);
            moved.push((*lp, *l));
        }
    }
    // From the back, so that the earlier positions stay right.
    moved.sort_unstable_by(|a, b| b.cmp(a));
    for (p, l) in moved {
        if let Some(plan) = plans.get_mut(p) {
            plan.lost.remove(l);
        }
    }
    Ok(())
}

fn has_bytes_of(store: &Store, root: &RootRow, found: &Found, skill: &KnownSkill) -> Result<bool> {
    let folder = folder_path(&root.path, &found.unit.rel_path);
    let mut buffer = Vec::new();
    Ok(store.kept_hashes(skill.id)?.iter().all(|(path, hash)| {
        files::read_into(&folder.join(path), files::MAX_SKILL_BYTES, &mut buffer).is_ok()
            && hash_of(&buffer) == *hash
    }))
}

/// Holds back roots of which so much vanished that it looks like an unmounted disk.
pub(super) fn hold_back(plan: &mut RootPlan, present: u64) {
    let lost = plan.lost.len();
    let is_most = (lost as u64).saturating_mul(2) > present;
    let is_all = lost > 1 && lost as u64 == present;
    let is_mass = is_all || (is_most && lost > HELD_BACK_ABOVE);
    plan.is_held_back = lost > 0 && (plan.scan.is_root_missing || is_mass);
    if plan.is_held_back {
        plan.leave_places_of_lost();
    }
}

impl RootPlan {
    /// Takes out of the plan what stands in the place of a lost skill, above or below it. Were it noted,
    /// the next sync would find nothing changed, and the skill would stay listed for good.
    fn leave_places_of_lost(&mut self) {
        let places: Vec<&str> = self
            .lost
            .iter()
            .map(|skill| skill.rel_path.as_str())
            .collect();
        let is_in_place = |path: &str| {
            places
                .iter()
                .any(|place| is_below(place, path) || is_below(path, place))
        };
        let stays: Vec<bool> = self
            .scan
            .found
            .iter()
            .map(|found| !is_in_place(&found.unit.rel_path))
            .collect();
        let mut stay = stays.iter().copied();
        self.scan.found.retain(|_| stay.next().unwrap_or(true));
        let mut stay = stays.into_iter();
        self.fates.retain(|_| stay.next().unwrap_or(true));
    }

    /// Counts what was found: what the root would hold.
    pub(super) fn counts(&self) -> RootCounts {
        let mut counts = RootCounts::default();
        for found in self.scan.found.iter().filter(|found| found.skill.is_some()) {
            let status = found
                .facts()
                .map_or(ParseStatus::Unreadable, |facts| facts.text.status);
            counts.present += 1;
            counts.archived += u64::from(found.unit.archived);
            counts.repaired += u64::from(status == ParseStatus::Repaired);
            counts.refused += u64::from(status == ParseStatus::Unreadable);
        }
        let findings = self.scan.found.iter().flat_map(|found| &found.findings);
        counts.nested = findings
            .filter(|finding| finding.code == WalkCode::NestedSkill)
            .count() as u64;
        counts
    }

    /// Says whether applying the plan would change anything.
    pub(super) fn is_empty(&self) -> bool {
        let nothing = |fate: &Fate| matches!(fate, Fate::SameFolder | Fate::Same(_));
        let no_loss =
            self.is_held_back || (self.lost.is_empty() && self.scan.gone_folders.is_empty());
        self.fates.iter().all(nothing) && no_loss && !self.has_news && self.closed.is_empty()
    }
}
