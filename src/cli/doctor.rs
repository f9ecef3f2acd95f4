//! `skilldb doctor`.

use serde_json::{Value, json};

use super::output::{Style, plural};
use super::{Context, progress};
use crate::error::{Error, Result};
use crate::store::{CheckFinding, Repair, Store, is_intact};
use crate::sync::{self, Options, Report, Selection};

/// Check the database, and the mirror against the files
///
/// Reads every skill file and every kept byte. Exits with 1 when something is wrong and was not mended.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  skilldb doctor
  skilldb doctor --fix            recount counters, refill the mirror from disk")]
pub(super) struct Args {
    /// Mend what can be mended: counters are recounted, the mirror is refilled from disk
    #[arg(long)]
    fix: bool,
}

pub(super) fn run(context: &mut Context, args: &Args) -> Result<()> {
    let mut findings = examine(context)?;
    let mut mended = Vec::new();
    if args.fix && !findings.is_empty() {
        mend(context, &findings)?;
        let after = examine(context)?;
        mended = findings
            .into_iter()
            .filter(|finding| !after.contains(finding))
            .collect();
        findings = after;
    }
    tell(context, &findings, &mended)?;
    if findings.is_empty() {
        Ok(())
    } else {
        Err(Error::ProblemsFound)
    }
}

fn options(context: &Context, rebuild: bool) -> Options {
    let support_budget = context.config.support_budget.value;
    Options {
        rebuild,
        checksum: true,
        allow_mass_delete: false,
        dry_run: !rebuild,
        support_budget,
    }
}

fn examine(context: &Context) -> Result<Vec<CheckFinding>> {
    let home = &context.config.home.value;
    let store = context.read()?;
    let mut findings = store.check()?;
    let mut damaged = 0;
    store.each_blob(|hash, codec, size, bytes| {
        damaged += u64::from(!is_intact(hash, codec, size, bytes));
        Ok(())
    })?;
    if damaged > 0 {
        let message = format!(
            "{} do not have the hash they are stored under",
            plural(damaged, "kept file")
        );
        findings.push(CheckFinding {
            check: "kept-bytes",
            message,
            repair: Repair::ByHand,
        });
    }
    let progress = progress::for_stderr();
    let report = sync::sync(
        home,
        Selection::Known(&[]),
        options(context, false),
        context.now,
        (progress.as_ref(), &context.mender()),
    )?;
    findings.extend(drift(&report));
    Ok(findings)
}

/// Where mirror and files disagree.
fn drift(report: &Report) -> Vec<CheckFinding> {
    let kinds = [
        (report.added.len(), "not in the mirror yet"),
        (report.changed.len(), "changed on disk since the last sync"),
        (report.moved.len(), "moved since the last sync"),
        (report.missing.len(), "vanished since the last sync"),
        (report.back.len(), "back since the last sync"),
    ];
    let drifted = kinds
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, what)| CheckFinding {
            check: "drift",
            message: format!("{} {what}", plural(count as u64, "skill")),
            repair: Repair::Rebuild,
        });
    let held = report.held_back.iter().map(|held| CheckFinding {
        check: "root",
        message: format!(
            "{} of {} skills of {} are not there",
            held.lost,
            held.of,
            held.root.display()
        ),
        repair: Repair::ByHand,
    });
    drifted.chain(held).collect()
}

fn mend(context: &Context, findings: &[CheckFinding]) -> Result<()> {
    let home = &context.config.home.value;
    let needs = |repair| findings.iter().any(|finding| finding.repair == repair);
    if needs(Repair::Recount)
        && let Some(mut store) = Store::open(home, context.now)?
    {
        store.recount_usage()?;
    }
    if needs(Repair::Rebuild) {
        let progress = progress::for_stderr();
        sync::sync(
            home,
            Selection::Known(&[]),
            options(context, true),
            context.now,
            (progress.as_ref(), &context.mender()),
        )?;
    }
    Ok(())
}

fn tell(context: &mut Context, findings: &[CheckFinding], mended: &[CheckFinding]) -> Result<()> {
    let object = |finding: &CheckFinding| json!({"check": finding.check, "message": finding.message, "repair": repair_words(finding.repair)});
    if context.out.json {
        let found: Vec<Value> = findings.iter().map(object).collect();
        let mended: Vec<Value> = mended.iter().map(object).collect();
        return context
            .out
            .object(json!({"healthy": findings.is_empty(), "findings": found, "mended": mended}));
    }
    for finding in mended {
        let word = context.out.paint(Style::Good, "mended");
        context
            .out
            .line(&format!("{word} {}: {}", finding.check, finding.message))?;
    }
    for finding in findings {
        let word = context.out.paint(Style::Error, "problem");
        context.out.line(&format!(
            "{word} {}: {} ({})",
            finding.check,
            finding.message,
            repair_words(finding.repair)
        ))?;
    }
    if findings.is_empty() {
        context.out.line(
            "healthy: integrity, references, counters, kept bytes, and mirror against files",
        )?;
    }
    Ok(())
}

fn repair_words(repair: Repair) -> &'static str {
    match repair {
        Repair::Recount => "skilldb doctor --fix recounts them",
        Repair::Rebuild => "skilldb doctor --fix, or skilldb sync, refills it from the files",
        Repair::ByHand => "cannot be mended from here; the SKILL.md files are not touched by it",
    }
}
