//! Writes a plan into the mirror, inside the caller's transaction.

use std::collections::HashSet;

use super::found::{Found, ReadSkill, folder_path};
use super::plan::{Cause, Fate, RootPlan};
use super::rows::{put_fields, put_files, put_manifest, put_text_findings, put_walk_finding};
use crate::error::Result;
use crate::library::{RootKind, WalkFinding, is_in_archive};
use crate::store::{KeptFile, KnownSkill, NewFile, NewRevision, Place, RootRow, Tx, UnitRow};
use crate::time::Timestamp;

/// Writes what the plan says about one root; returns the row ids of the found skills, in the order
/// of `scan.found`.
///
/// # Errors
/// [`crate::Error::Database`].
pub(super) fn apply_root(
    tx: &Tx<'_>,
    plan: &RootPlan,
    rewrite: Rewrite,
    now: Timestamp,
) -> Result<Vec<Option<i64>>> {
    if !plan.is_held_back {
        for skill in &plan.lost {
            tx.transition(
                skill.id,
                &skill.state,
                "missing",
                "the folder is not there any more",
                now,
            )?;
            tx.remove_unit(plan.root.id, &skill.rel_path)?;
            tx.clear_diagnostics(plan.root.id, &skill.rel_path)?;
        }
        for rel_path in &plan.scan.gone_folders {
            tx.remove_unit(plan.root.id, rel_path)?;
            tx.clear_diagnostics(plan.root.id, rel_path)?;
        }
    }
    plan.closed
        .iter()
        .try_for_each(|rel_path| note_closed(tx, plan.root.id, rel_path))?;
    let loose: HashSet<&str> = plan
        .scan
        .findings
        .iter()
        .map(|finding| finding.unit.as_str())
        .collect();
    let mut ids = Vec::with_capacity(plan.fates.len());
    for (found, fate) in plan.scan.found.iter().zip(&plan.fates) {
        let is_loose = loose.contains(found.unit.rel_path.as_str());
        ids.push(apply_found(
            tx,
            &plan.root,
            found,
            fate,
            if is_loose { Rewrite::All } else { rewrite },
            now,
        )?);
    }
    plan.scan
        .findings
        .iter()
        .try_for_each(|finding| put_walk_finding(tx, plan.root.id, None, finding))?;
    Ok(ids)
}

/// Takes moved skills out of their old places, in whichever root: before anything is written, because
/// the old place may be a category now.
pub(super) fn vacate(tx: &Tx<'_>, plan: &RootPlan) -> Result<()> {
    for fate in &plan.fates {
        if let Fate::Moved(known) = fate {
            tx.remove_unit(known.root_id, &known.rel_path)?;
            tx.clear_diagnostics(known.root_id, &known.rel_path)?;
        }
    }
    Ok(())
}

/// Notes a folder that cannot be looked into, without stamps: each sync tries it again.
pub(super) fn note_closed(tx: &Tx<'_>, root_id: i64, rel_path: &str) -> Result<()> {
    tx.put_unit(
        root_id,
        &UnitRow {
            rel_path,
            skill_id: None,
            archived: is_in_archive(rel_path),
            entries: &[],
        },
    )
}

/// Whether folders that are as they were are written again, too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rewrite {
    /// Only what differs.
    Differing,
    /// Everything: the mirror was emptied.
    All,
}

fn apply_found(
    tx: &Tx<'_>,
    root: &RootRow,
    found: &Found,
    fate: &Fate,
    rewrite: Rewrite,
    now: Timestamp,
) -> Result<Option<i64>> {
    match fate {
        // Written all the same, since something is: stamps that were racy may have settled.
        Fate::SameFolder if rewrite == Rewrite::Differing => {
            put_unit(tx, root.id, found, None).map(|()| None)
        }
        Fate::SameFolder | Fate::Folder => write_folder(tx, root, found).map(|()| None),
        Fate::New => {
            // The folder may have been a category with findings of its own.
            tx.clear_diagnostics(root.id, &found.unit.rel_path)?;
            add_skill(tx, root, found, now).map(Some)
        }
        Fate::Same(known) if rewrite == Rewrite::Differing => {
            if found.facts().is_some() {
                put_unit(tx, root.id, found, Some(known.id))?;
            }
            Ok(Some(known.id))
        }
        Fate::Same(known) | Fate::Touched(known) => {
            write_skill(tx, root, found, known.id)?;
            if rewrite == Rewrite::All {
                // What an earlier budget left out can be kept now.
                tx.queue_capture(known.id)?;
            }
            Ok(Some(known.id))
        }
        Fate::Closed(known) => {
            tx.clear_diagnostics(root.id, &found.unit.rel_path)?;
            put_unit(tx, root.id, found, Some(known.id))?;
            put_own_findings(tx, root, found, known.id)?;
            tx.queue_capture(known.id)?;
            Ok(Some(known.id))
        }
        Fate::Changed(known, cause) => {
            if *cause == Cause::Edit {
                tx.mark_edited_by_hand(known.id, now)?;
            }
            write_skill(tx, root, found, known.id)?;
            tx.queue_capture(known.id)?;
            Ok(Some(known.id))
        }
        Fate::Back(known, cause) => {
            tx.transition(
                known.id,
                "missing",
                &known.state,
                "the folder is there again",
                now,
            )?;
            if *cause == Cause::Edit {
                tx.mark_edited_by_hand(known.id, now)?;
            }
            follow_zone(tx, known, found, now)?;
            write_skill(tx, root, found, known.id)?;
            tx.queue_capture(known.id)?;
            Ok(Some(known.id))
        }
        Fate::Moved(known) => move_skill(tx, root, found, known, now).map(Some),
    }
}

/// Adds a skill nobody knew; returns its row id.
pub(super) fn add_skill(tx: &Tx<'_>, root: &RootRow, found: &Found, now: Timestamp) -> Result<i64> {
    let state = if found.unit.archived {
        "archived"
    } else {
        "active"
    };
    let origin = RootKind::parse(&root.kind)
        .unwrap_or(RootKind::Local)
        .origin();
    let place = Place {
        root_id: root.id,
        rel_path: &found.unit.rel_path,
    };
    let id = tx.add_skill(place, origin, state, now)?;
    write_fresh_skill(tx, root, found, id)?;
    tx.queue_capture(id)?;
    Ok(id)
}

/// Adds a skill that a change of our own made: its bytes are in the history already.
pub(super) fn add_own_skill(
    tx: &Tx<'_>,
    root: &RootRow,
    found: &Found,
    origin: (&str, &str),
    now: Timestamp,
) -> Result<i64> {
    let place = Place {
        root_id: root.id,
        rel_path: &found.unit.rel_path,
    };
    // The folder may have been a category with findings of its own.
    tx.clear_diagnostics(root.id, &found.unit.rel_path)?;
    let id = tx.add_skill(place, origin, "active", now)?;
    write_fresh_skill(tx, root, found, id)?;
    Ok(id)
}

fn move_skill(
    tx: &Tx<'_>,
    root: &RootRow,
    found: &Found,
    known: &KnownSkill,
    now: Timestamp,
) -> Result<i64> {
    tx.move_skill(
        known.id,
        Place {
            root_id: root.id,
            rel_path: &found.unit.rel_path,
        },
    )?;
    follow_zone(tx, known, found, now)?;
    write_skill(tx, root, found, known.id)?;
    let change = tx.add_external_change("a folder was moved outside skilldb", now)?;
    let revision = NewRevision {
        skill_id: known.id,
        title: format!("moved from {} to {}", known.rel_path, found.unit.rel_path),
        files: moved_file(found, known).into_iter().collect(),
    };
    tx.add_revision(change, &revision)?;
    tx.queue_capture(known.id)?;
    Ok(known.id)
}

fn moved_file(found: &Found, known: &KnownSkill) -> Option<NewFile> {
    let (facts, entry) = (found.facts()?, found.unit.skill_entry()?);
    Some(NewFile {
        path: entry.name.clone(),
        moved_from: Some(format!("{}/{}", known.rel_path, entry.name)),
        before: Some(facts.content_hash.clone()),
        after: Some(KeptFile {
            hash: facts.content_hash.clone(),
            size: facts.size,
            mtime_ns: entry.stat.mtime_ns,
        }),
        mode: Some(entry.stat.permissions()),
    })
}

/// A folder moved by hand into an archive, or out of one, changes its state with it.
fn follow_zone(tx: &Tx<'_>, known: &KnownSkill, found: &Found, now: Timestamp) -> Result<()> {
    match (known.state.as_str(), found.unit.archived) {
        ("archived", false) => tx.transition(
            known.id,
            "archived",
            "active",
            "the folder was moved out of the archive",
            now,
        ),
        ("active" | "stale", true) => tx.transition(
            known.id,
            &known.state,
            "archived",
            "the folder was moved into the archive",
            now,
        ),
        _ => Ok(()),
    }
}

/// Notes a category folder.
pub(super) fn write_folder(tx: &Tx<'_>, root: &RootRow, found: &Found) -> Result<()> {
    tx.clear_diagnostics(root.id, &found.unit.rel_path)?;
    put_unit(tx, root.id, found, None)?;
    found
        .findings
        .iter()
        .try_for_each(|finding| put_walk_finding(tx, root.id, None, finding))
}

fn put_unit(tx: &Tx<'_>, root_id: i64, found: &Found, skill_id: Option<i64>) -> Result<()> {
    let unit = UnitRow {
        rel_path: &found.unit.rel_path,
        skill_id,
        archived: found.unit.archived,
        entries: &found.packed,
    };
    tx.put_unit(root_id, &unit)
}

pub(super) fn write_skill(tx: &Tx<'_>, root: &RootRow, found: &Found, id: i64) -> Result<()> {
    tx.clear_diagnostics(root.id, &found.unit.rel_path)?;
    if found.facts().is_some() {
        tx.clear_mirror_of(id)?;
    }
    write_fresh_skill(tx, root, found, id)
}

/// Writes the mirror rows of a skill that has none.
fn write_fresh_skill(tx: &Tx<'_>, root: &RootRow, found: &Found, id: i64) -> Result<()> {
    match &found.skill {
        Some(ReadSkill::Read(facts)) => {
            put_manifest(tx, root, found, Some(facts), id)?;
            put_fields(tx, id, facts)?;
            put_text_findings(tx, root, found, facts, id)?;
            put_files(tx, root, found, id)?;
            put_unit(tx, root.id, found, Some(id))?;
        }
        Some(ReadSkill::Failed(code, message)) => {
            let path = folder_path(&root.path, &found.unit.rel_path).join(found.file_name());
            let finding = WalkFinding {
                unit: found.unit.rel_path.clone(),
                path,
                code: *code,
                message: message.clone(),
            };
            put_walk_finding(tx, root.id, Some(id), &finding)?;
            put_manifest_of_unread(tx, root, found, id)?;
            // No stamps: they would look unchanged although the file was never read.
            let unit = UnitRow {
                rel_path: &found.unit.rel_path,
                skill_id: Some(id),
                archived: found.unit.archived,
                entries: &[],
            };
            tx.put_unit(root.id, &unit)?;
        }
        None => {}
    }
    put_walk_findings(tx, root, found, id)
}

fn put_walk_findings(tx: &Tx<'_>, root: &RootRow, found: &Found, id: i64) -> Result<()> {
    let mut findings = found.findings.iter();
    findings.try_for_each(|finding| put_walk_finding(tx, root.id, Some(id), finding))
}

/// Writes what reading and walking a skill found, and nothing else of it.
fn put_own_findings(tx: &Tx<'_>, root: &RootRow, found: &Found, id: i64) -> Result<()> {
    if let Some(facts) = found.facts() {
        put_text_findings(tx, root, found, facts, id)?;
    }
    put_walk_findings(tx, root, found, id)
}

/// Keeps what an earlier read said; a file that was never read gets an empty row.
fn put_manifest_of_unread(tx: &Tx<'_>, root: &RootRow, found: &Found, id: i64) -> Result<()> {
    if tx.has_manifest(id)? {
        tx.mark_unreadable(id)
    } else {
        put_manifest(tx, root, found, None, id)
    }
}
