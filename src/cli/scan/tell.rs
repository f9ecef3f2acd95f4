//! What was found, for people and for programs.

use serde_json::{Value, json};

use super::{Looked, Round};
use crate::cli::Context;
use crate::cli::output::{Output, Style, clean, one_line, plural};
use crate::error::Result;
use crate::guard::{Finding, Guard, Severity, Verdict};

/// How much is told.
pub(super) struct Detail {
    /// The mildest findings, too.
    pub all: bool,
    /// Only skills that are not safe.
    pub only_flagged: bool,
}

/// Findings of one skill that are told before the rest is counted.
const SHOWN: usize = 12;

pub(super) fn words(
    context: &mut Context,
    guard: &Guard,
    round: &Round,
    detail: &Detail,
) -> Result<()> {
    for skill in &round.looked {
        if !detail.only_flagged || skill.report.verdict > Verdict::Safe || detail.all {
            one(&mut context.out, skill, detail)?;
        }
    }
    context.out.flush()?;
    context.out.say(&summary(guard, round));
    let off = guard
        .lines()
        .iter()
        .filter(|line| line.off.is_some())
        .count();
    if off > 0 {
        context.out.say(&format!(
            "{} switched off: skilldb scan --rules",
            plural(off as u64, "rule")
        ));
    }
    Ok(())
}

fn summary(guard: &Guard, round: &Round) -> String {
    let count = |verdict: Verdict| {
        round
            .looked
            .iter()
            .filter(|skill| skill.report.verdict == verdict)
            .count()
    };
    let unread = match round.unreadable.len() {
        0 => String::new(),
        unread => format!(", {unread} not looked at"),
    };
    format!(
        "{}: {} safe, {} caution, {} dangerous{unread} (rules {}).",
        plural(round.looked.len() as u64, "skill"),
        count(Verdict::Safe),
        count(Verdict::Caution),
        count(Verdict::Dangerous),
        guard.version()
    )
}

/// The colour of a verdict.
pub(in crate::cli) fn style(verdict: Verdict) -> Style {
    match verdict {
        Verdict::Safe => Style::Good,
        Verdict::Caution => Style::Warning,
        Verdict::Dangerous => Style::Error,
    }
}

fn one(out: &mut Output, skill: &Looked, detail: &Detail) -> Result<()> {
    let verdict = skill.report.verdict;
    let word = out.paint(style(verdict), verdict.as_str());
    let (name, path) = (
        one_line(&skill.name),
        one_line(&skill.path.display().to_string()),
    );
    if out.width.is_some() {
        out.line(&format!("{word}  {name}  {}", out.paint(Style::Dim, &path)))?;
    } else {
        out.line(&format!("{word}\t{name}\t{path}"))?;
    }
    let least = if detail.all {
        Severity::Info
    } else {
        Severity::Medium
    };
    let told: Vec<&Finding> = skill
        .report
        .findings
        .iter()
        .filter(|found| found.severity >= least)
        .collect();
    let most = if detail.all { usize::MAX } else { SHOWN };
    for found in told.iter().take(most) {
        finding(out, skill, found)?;
    }
    if told.len() > most {
        out.flush()?;
        out.say(&format!(
            "  {} more: skilldb scan {} --all",
            told.len() - most,
            skill.name
        ));
    }
    Ok(())
}

fn finding(out: &mut Output, skill: &Looked, found: &Finding) -> Result<()> {
    let place = one_line(&found.place());
    let severity = found.severity.as_str();
    let (rule, message, evidence) = (&found.rule, &found.message, one_line(&found.evidence));
    let mut beside = Vec::new();
    if !found.seen.is_empty() {
        beside.push(format!("seen through {}", found.seen.join(", ")));
    }
    beside.extend(found.context.iter().map(std::string::ToString::to_string));
    if let Some(reason) = &found.accepted {
        beside.push(format!("accepted: {reason}"));
    }
    if out.width.is_none() {
        let beside = if beside.is_empty() {
            String::new()
        } else {
            format!(" ({})", beside.join("; "))
        };
        return out.line(&format!(
            "{}/{place} {severity} {rule}: {message} {evidence}{beside}",
            one_line(&skill.path.display().to_string())
        ));
    }
    let painted = match found.severity {
        Severity::Critical | Severity::High => out.paint(Style::Error, severity),
        Severity::Medium => out.paint(Style::Warning, severity),
        Severity::Low | Severity::Info => out.paint(Style::Dim, severity),
    };
    out.line(&format!("  {place} {painted} {}", clean(message)))?;
    if !evidence.is_empty() {
        let evidence = out.paint(Style::Bold, &evidence);
        out.line(&format!("    {evidence}"))?;
    }
    let id = format!("{rule} {}", found.fingerprint);
    let dim = if beside.is_empty() {
        id
    } else {
        format!("{id}; {}", beside.join("; "))
    };
    let dim = out.paint(Style::Dim, &format!("    {dim}"));
    out.line(&dim)?;
    out.line(&format!("    {}", clean(&found.fix)))
}

/// All of it as one object.
pub(super) fn object(guard: &Guard, round: &Round) -> Value {
    let worst = round
        .looked
        .iter()
        .map(|skill| skill.report.verdict)
        .max()
        .unwrap_or_default();
    let mut counts = serde_json::Map::new();
    for severity in Severity::ALL {
        let all = round.looked.iter().flat_map(|skill| &skill.report.findings);
        let count = all
            .filter(|found| found.severity == severity && found.accepted.is_none())
            .count();
        counts.insert(severity.as_str().to_owned(), json!(count));
    }
    let skills: Vec<Value> = round.looked.iter().map(skill_object).collect();
    let unreadable: Vec<Value> = round
        .unreadable
        .iter()
        .map(|(path, why)| json!({"path": path.display().to_string(), "why": why}))
        .collect();
    json!({
        "verdict": worst.as_str(), "ruleset": guard.version(), "sev": counts, "skills": skills, "unreadable": unreadable,
    })
}

fn skill_object(skill: &Looked) -> Value {
    let findings: Vec<Value> = skill.report.findings.iter().map(finding_object).collect();
    json!({
        "name": skill.name, "path": skill.path.display().to_string(), "verdict": skill.report.verdict.as_str(),
        "hash": skill.report.hash, "files": skill.report.files, "bytes": skill.report.bytes, "findings": findings,
    })
}

fn finding_object(found: &Finding) -> Value {
    json!({
        "finding": found.fingerprint, "rule": found.rule, "class": found.class.as_str(), "severity": found.severity.as_str(),
        "stated": found.stated.as_str(), "path": found.path, "line": found.line, "evidence": found.evidence, "seen": found.seen,
        "context": found.context, "message": found.message, "fix": found.fix, "accepted": found.accepted,
    })
}
