//! Turns what was read of a skill into rows of the mirror.

use std::path::Path;

use super::found::{Found, SkillFacts, folder_path};
use crate::error::Result;
use crate::library::{Entry, EntryKind, WalkFinding};
use crate::skill::{ParseStatus, Severity};
use crate::store::{
    ConditionRecord, ConfigRecord, DiagnosticRecord, FileRecord, RequirementRecord, RootRow,
    SkillRecord, Tx,
};

pub(super) fn put_manifest(
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

pub(super) fn put_fields(tx: &Tx<'_>, id: i64, facts: &SkillFacts) -> Result<()> {
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

pub(super) fn put_text_findings(
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

pub(super) fn put_files(tx: &Tx<'_>, root: &RootRow, found: &Found, id: i64) -> Result<()> {
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
