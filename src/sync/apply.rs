//! Writes a plan into the mirror, inside the caller's transaction.

use std::collections::HashSet;
use std::path::Path;

use super::found::{Found, ReadSkill, SkillFacts, folder_path};
use super::plan::{Cause, Fate, RootPlan};
use crate::error::Result;
use crate::library::{Entry, EntryKind, RootKind, WalkFinding};
use crate::skill::{ParseStatus, Severity};
use crate::store::{
    ConditionRecord, ConfigRecord, DiagnosticRecord, FileRecord, KeptFile, KnownSkill, NewFile,
    NewRevision, Place, RequirementRecord, RootRow, SkillRecord, Tx, UnitRow,
};
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
            archived: false,
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
        Fate::SameFolder if rewrite == Rewrite::Differing => Ok(None),
        Fate::SameFolder | Fate::Folder => write_folder(tx, root, found).map(|()| None),
        Fate::New => add_skill(tx, root, found, now).map(Some),
        Fate::Same(known) if rewrite == Rewrite::Differing => Ok(Some(known.id)),
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
        Fate::Back(known) => {
            tx.transition(
                known.id,
                "missing",
                &known.state,
                "the folder is there again",
                now,
            )?;
            let is_other = found
                .facts()
                .is_some_and(|facts| known.content_hash.as_ref() != Some(&facts.content_hash));
            if is_other {
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

fn write_skill(tx: &Tx<'_>, root: &RootRow, found: &Found, id: i64) -> Result<()> {
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

fn put_manifest(
    tx: &Tx<'_>,
    root: &RootRow,
    found: &Found,
    facts: Option<&SkillFacts>,
    id: i64,
) -> Result<()> {
    let stat = found
        .unit
        .skill_entry()
        .map(|entry| entry.stat)
        .unwrap_or_default();
    let text = facts.map(|facts| &facts.text);
    tx.put_manifest(&SkillRecord {
        skill_id: id,
        name: found.name(&root.path),
        declared_name: text.and_then(|text| text.declared_name.as_deref()),
        folder: found.folder(&root.path),
        category: found.category(),
        description: text.and_then(|text| text.description.as_deref()),
        file_name: found.file_name(),
        content_hash: facts.map(|facts| facts.content_hash.as_str()),
        text_hash: facts.map(|facts| facts.text_hash.as_str()),
        tree_hash: facts.map(|facts| facts.tree_hash.as_str()),
        frontmatter: facts.map_or("{}", |facts| &facts.frontmatter),
        body_offset: text.map_or(0, |text| text.body_offset),
        size: facts.map_or(stat.size, |facts| facts.size),
        mtime_ns: stat.mtime_ns,
        ctime_ns: stat.ctime_ns,
        inode: stat.inode,
        parse_status: text
            .map_or(ParseStatus::Unreadable, |text| text.status)
            .as_str(),
    })
}

fn put_fields(tx: &Tx<'_>, id: i64, facts: &SkillFacts) -> Result<()> {
    let fields = &facts.text.fields;
    for condition in &fields.conditions {
        tx.put_condition(
            id,
            ConditionRecord {
                kind: condition.kind.as_str(),
                value: &condition.value,
            },
        )?;
    }
    for requirement in &fields.requirements {
        let record = RequirementRecord {
            kind: requirement.kind.as_str(),
            name: &requirement.name,
            description: requirement.description.as_deref(),
            required: requirement.required,
        };
        tx.put_requirement(id, record)?;
    }
    for tag in &fields.tags {
        tx.put_tag(id, tag)?;
    }
    for config in &fields.config {
        let record = ConfigRecord {
            key: &config.key,
            description: config.description.as_deref(),
            default_value: config.default.as_deref(),
            prompt: config.prompt.as_deref(),
        };
        tx.put_config(id, record)?;
    }
    Ok(())
}

fn put_text_findings(
    tx: &Tx<'_>,
    root: &RootRow,
    found: &Found,
    facts: &SkillFacts,
    id: i64,
) -> Result<()> {
    if facts.text.findings.is_empty() {
        return Ok(());
    }
    let path = folder_path(&root.path, &found.unit.rel_path).join(found.file_name());
    let path = path.to_string_lossy();
    for finding in &facts.text.findings {
        tx.put_diagnostic(&DiagnosticRecord {
            root_id: root.id,
            unit: &found.unit.rel_path,
            skill_id: Some(id),
            path: &path,
            code: finding.code.as_str(),
            severity: finding.code.lenient().map(Severity::as_str),
            strict_severity: Some(finding.code.strict().as_str()),
            line: Some(finding.line),
            column: Some(finding.column),
            message: &finding.message,
            suggestion: finding.suggestion.as_deref(),
        })?;
    }
    Ok(())
}

pub(super) fn put_walk_finding(
    tx: &Tx<'_>,
    root_id: i64,
    skill_id: Option<i64>,
    finding: &WalkFinding,
) -> Result<()> {
    tx.put_diagnostic(&DiagnosticRecord {
        root_id,
        unit: &finding.unit,
        skill_id,
        path: &finding.path.to_string_lossy(),
        code: finding.code.as_str(),
        severity: Some(finding.code.severity().as_str()),
        strict_severity: None,
        line: None,
        column: None,
        message: &finding.message,
        suggestion: None,
    })
}

fn put_files(tx: &Tx<'_>, root: &RootRow, found: &Found, id: i64) -> Result<()> {
    for (index, entry) in found.unit.entries.iter().enumerate() {
        if Some(index) == found.unit.skill_file || entry.kind == EntryKind::Folder {
            continue;
        }
        let target = link_target(&root.path, &found.unit.rel_path, entry);
        tx.put_file(
            id,
            &FileRecord {
                rel_path: &entry.name,
                kind: file_kind(&entry.name),
                size: entry.stat.size,
                mode: entry.stat.permissions(),
                mtime_ns: entry.stat.mtime_ns,
                link_target: target.as_deref(),
            },
        )?;
    }
    Ok(())
}

fn link_target(root: &Path, rel_path: &str, entry: &Entry) -> Option<String> {
    if entry.kind != EntryKind::Link {
        return None;
    }
    let target =
        std::fs::read_link(folder_path(root, rel_path).join(&entry.name)).unwrap_or_default();
    Some(target.to_string_lossy().into_owned())
}

/// Names the kind of a supporting file after the folder the Agent Skills spec puts it in.
fn file_kind(rel_path: &str) -> &'static str {
    match rel_path.split_once('/').map(|(folder, _)| folder) {
        Some("references") => "reference",
        Some("templates") => "template",
        Some("scripts") => "script",
        Some("assets") => "asset",
        _ => "other",
    }
}
