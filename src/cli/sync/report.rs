//! Tells people and programs what a sync found and did.

use std::path::Path;

use serde_json::{Value, json};

use crate::cli::findings::{self, Line};
use crate::cli::output::{Output, Style, clean, grouped, plural, size};
use crate::cli::scan;
use crate::error::Result;
use crate::library::WalkFinding;
use crate::skill::Severity;
use crate::store::RefusedRow;
use crate::sync::{HeldBack, Report, Touched};
use crate::usage::Linked;
use crate::verdicts::Round;

/// Lines of one kind that are printed before the rest is only counted.
const SHOWN: usize = 20;

pub(super) fn tell(out: &mut Output, report: &Report, dry_run: bool) -> Result<()> {
    tell_changes(out, report);
    tell_findings(out, report);
    for held in &report.held_back {
        out.warn(&held_back_words(out, held));
    }
    for (old, new, name) in &report.relink {
        let name = clean(name);
        out.say(&format!("`{name}` is new here, and a skill of that name vanished. If it is the same one: skilldb relink '#{old}' '#{new}'"));
    }
    tell_kept(out, report);
    out.line(&count_line(report, dry_run))
}

/// Tells what the guard found in what is new or changed.
pub(super) fn tell_round(out: &Output, round: &Round) {
    for worse in round.worse.iter().take(SHOWN) {
        let word = out.paint_err(scan::style(worse.verdict), worse.verdict.as_str());
        let (name, what) = (clean(&worse.name), clean(&worse.worst));
        out.warn(&format!("! {name}  {word}  {what}"));
    }
    for (path, why) in &round.unreadable {
        out.warn(&format!(
            "{} could not be scanned: {}",
            clean(path),
            clean(why)
        ));
    }
    if let Some(first) = round.worse.first() {
        let more = round.worse.len().saturating_sub(SHOWN);
        let more = if more > 0 {
            format!("{} more. ", grouped(more as u64))
        } else {
            String::new()
        };
        out.warn(&format!(
            "{more}All that was found: skilldb scan {}",
            clean(&first.name)
        ));
    }
}

/// The same for programs.
pub(super) fn round_object(round: &Round) -> Value {
    let worse: Vec<Value> = round
        .worse
        .iter()
        .map(|worse| json!({"name": worse.name, "path": worse.path, "verdict": worse.verdict.as_str(), "worst": worse.worst}))
        .collect();
    let unreadable: Vec<Value> = round
        .unreadable
        .iter()
        .map(|(path, why)| json!({"path": path, "why": why}))
        .collect();
    json!({"scanned": round.looked, "worse": worse, "unreadable": unreadable})
}

fn tell_changes(out: &Output, report: &Report) {
    tell_some(out, Style::Good, "+", &report.added, "added", |skill| {
        (skill.name.clone(), skill.path.display().to_string())
    });
    tell_some(
        out,
        Style::Warning,
        "~",
        &report.changed,
        "changed",
        |skill| (skill.name.clone(), skill.path.display().to_string()),
    );
    tell_some(out, Style::Warning, ">", &report.moved, "moved", |skill| {
        (
            skill.name.clone(),
            format!("{} -> {}", skill.from, skill.path.display()),
        )
    });
    tell_some(
        out,
        Style::Error,
        "-",
        &report.missing,
        "missing",
        |skill| {
            (
                skill.name.clone(),
                format!("{} (missing)", skill.path.display()),
            )
        },
    );
    tell_some(out, Style::Good, "<", &report.back, "back", |skill| {
        (
            skill.name.clone(),
            format!("{} (back)", skill.path.display()),
        )
    });
}

fn tell_some<T>(
    out: &Output,
    style: Style,
    sign: &str,
    skills: &[T],
    word: &str,
    parts: impl Fn(&T) -> (String, String),
) {
    for skill in skills.iter().take(SHOWN) {
        let (name, rest) = parts(skill);
        let (name, rest) = (clean(&name), clean(&rest));
        out.say(&format!(
            "{} {name}  {}",
            out.paint_err(style, sign),
            out.paint_err(Style::Dim, &rest)
        ));
    }
    if let Some(more) = skills.len().checked_sub(SHOWN).filter(|more| *more > 0) {
        out.say(&format!(
            "{sign} ... and {} more {word} (--json names all)",
            grouped(more as u64)
        ));
    }
}

fn tell_findings(out: &Output, report: &Report) {
    let mut told = 0;
    let mut left = 0;
    let mut tell = |line: &Line<'_>| {
        // Errors are always told; of the rest, as many as a person reads.
        if line.severity == Severity::Error || told < SHOWN {
            told += 1;
            findings::say(out, line);
        } else {
            left += 1;
        }
    };
    for found in &report.diagnostics {
        tell(&Line {
            path: &found.path,
            line: Some(found.finding.line),
            column: Some(found.finding.column),
            severity: found.severity,
            code: found.finding.code.as_str(),
            message: &found.finding.message,
            suggestion: None,
        });
    }
    for found in &report.walk {
        tell(&walk_line(found));
    }
    let is_told = |path: &str| {
        report
            .diagnostics
            .iter()
            .any(|found| found.path == Path::new(path))
            || report
                .walk
                .iter()
                .any(|found| found.path == Path::new(path))
    };
    for refused in report
        .refused
        .iter()
        .filter(|refused| !is_told(&refused.path))
    {
        tell(&refused_line(refused));
    }
    if left > 0 {
        out.say(&format!(
            "... and {} (`skilldb validate` prints all)",
            plural(left, "more finding")
        ));
    }
}

fn walk_line(finding: &WalkFinding) -> Line<'_> {
    Line {
        path: &finding.path,
        line: None,
        column: None,
        severity: finding.code.severity(),
        code: finding.code.as_str(),
        message: &finding.message,
        suggestion: None,
    }
}

fn refused_line(refused: &RefusedRow) -> Line<'_> {
    Line {
        path: Path::new(&refused.path),
        line: refused.line,
        column: refused.column,
        severity: Severity::Error,
        code: refused.code.as_deref().unwrap_or("unreadable"),
        message: refused
            .message
            .as_deref()
            .unwrap_or("the file cannot be loaded"),
        suggestion: None,
    }
}

fn held_back_words(out: &Output, held: &HeldBack) -> String {
    let reason = if held.is_root_missing {
        "the folder itself is not there"
    } else {
        "more than half of it vanished at once"
    };
    let lost = plural(held.lost as u64, "skill");
    let error = out.paint_err(Style::Error, "error:");
    let hint = out.paint_err(Style::Bold, "hint:");
    format!(
        "{error} {lost} of {} in {} are not there: {reason}; none was marked as missing\n{hint} mount the disk and sync again; if they are really gone: skilldb sync --allow-mass-delete",
        grouped(held.of),
        clean(&held.root.to_string_lossy())
    )
}

fn tell_kept(out: &Output, report: &Report) {
    let kept = report.kept;
    if kept.files > 0 {
        out.say(&format!(
            "Kept {} ({}) in the history.",
            plural(kept.files, "file"),
            size(kept.bytes)
        ));
    }
    if kept.left_out_files > 0 {
        out.say(&format!(
            "Left out {} ({}): the budget for supporting files is used up. Raise history.supporting_mib in config.yaml, then: skilldb sync --rebuild",
            plural(kept.left_out_files, "supporting file"),
            size(kept.left_out_bytes)
        ));
    }
}

fn count_line(report: &Report, dry_run: bool) -> String {
    let counts = report.counts;
    let mut line = format!(
        "{}: {} loaded",
        plural(report.files_found(), "SKILL.md file"),
        grouped(report.loaded())
    );
    let parts: Vec<String> = [(counts.repaired, "repaired"), (counts.archived, "archived")]
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, word)| format!("{} {word}", grouped(count)))
        .collect();
    if !parts.is_empty() {
        line = format!("{line} ({})", parts.join(", "));
    }
    if counts.refused > 0 {
        line = format!("{line}, {} refused", grouped(counts.refused));
    }
    if counts.unreachable > 0 {
        line = format!(
            "{line}, {} dead links or no files",
            grouped(counts.unreachable)
        );
    }
    if counts.nested > 0 {
        line = format!("{line}, {} inside other skills", grouped(counts.nested));
    }
    let changes: Vec<String> = [
        (report.added.len(), "added"),
        (report.changed.len(), "changed"),
        (report.moved.len(), "moved"),
        (report.missing.len(), "missing"),
        (report.back.len(), "back"),
    ]
    .into_iter()
    .filter(|(count, _)| *count > 0)
    .map(|(count, word)| format!("{} {word}", grouped(count as u64)))
    .collect();
    let changes = if changes.is_empty() {
        "nothing changed".to_owned()
    } else {
        changes.join(", ")
    };
    let note = if dry_run {
        " (dry run: nothing was written)"
    } else {
        ""
    };
    format!("{line}; {changes}{note}")
}

pub(super) fn object(report: &Report, linked: &[Linked]) -> Value {
    let linked: Vec<Value> = linked
        .iter()
        .map(|linked| json!({"name": linked.name, "events": linked.events}))
        .collect();
    let touched = |skills: &[Touched]| -> Vec<Value> {
        skills.iter().map(|skill| json!({"id": skill.id, "name": skill.name, "path": skill.path.to_string_lossy()})).collect()
    };
    let diagnostics: Vec<Value> = report
        .diagnostics
        .iter()
        .map(|found| {
            Line {
                path: &found.path,
                line: Some(found.finding.line),
                column: Some(found.finding.column),
                severity: found.severity,
                code: found.finding.code.as_str(),
                message: &found.finding.message,
                suggestion: found.finding.suggestion.as_deref(),
            }
            .object()
        })
        .collect();
    json!({
        "files_found": report.files_found(),
        "loaded": report.loaded(),
        "repaired": report.counts.repaired,
        "refused": report.counts.refused,
        "archived": report.counts.archived,
        "nested": report.counts.nested,
        "unreachable": report.counts.unreachable,
        "missing_total": report.counts.missing,
        "unchanged": report.unchanged,
        "linked": linked,
        "added": touched(&report.added),
        "changed": touched(&report.changed),
        "moved": report.moved.iter().map(|skill| json!({"id": skill.id, "name": skill.name, "from": skill.from, "to": skill.path.to_string_lossy()})).collect::<Vec<_>>(),
        "missing": touched(&report.missing),
        "back": touched(&report.back),
        "diagnostics": diagnostics,
        "walk": report.walk.iter().map(|finding| walk_line(finding).object()).collect::<Vec<_>>(),
        "rejected": report.refused.iter().map(|refused| refused_line(refused).object()).collect::<Vec<_>>(),
        "held_back": report.held_back.iter().map(|held| json!({"root": held.root.to_string_lossy(), "lost": held.lost, "of": held.of, "root_missing": held.is_root_missing})).collect::<Vec<_>>(),
        "relink": report.relink.iter().map(|(old, new, name)| json!({"old": format!("#{old}"), "new": format!("#{new}"), "name": name})).collect::<Vec<_>>(),
        "kept": {
            "files": report.kept.files,
            "bytes": report.kept.bytes,
            "left_out_files": report.kept.left_out_files,
            "left_out_bytes": report.kept.left_out_bytes,
            "skipped_files": report.kept.skipped_files,
        },
        "wrote": report.wrote,
    })
}
