//! Tells people and programs what an import found and took over.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Value, json};

use super::{Args, Client};
use crate::cli::output::{Output, Style, clean, grouped, plural, size};
use crate::error::Result;
use crate::share::import::{self, Summary, TakenOver, TakenRecord};
use crate::usage::Linked;

pub(super) fn object(args: &Args, path: &Path, summary: &Summary, linked: &[Linked]) -> Value {
    let names = |names: &BTreeMap<String, u64>| {
        let list: Vec<Value> = names
            .iter()
            .map(|(name, events)| json!({"name": name, "events": events}))
            .collect();
        Value::Array(list)
    };
    let warnings: Vec<Value> = summary
        .warnings
        .iter()
        .map(|warning| json!({"path": warning.path.to_string_lossy(), "line": warning.line, "column": warning.column, "message": warning.message}))
        .collect();
    let linked: Vec<Value> = linked
        .iter()
        .map(|linked| json!({"name": linked.name, "events": linked.events}))
        .collect();
    json!({
        "client": args.client.id(),
        "path": path.to_string_lossy(),
        "dry_run": args.dry_run,
        "files": {"seen": summary.files, "unchanged": summary.unchanged},
        "bytes": summary.bytes,
        "lines": summary.lines,
        "sessions": summary.sessions,
        "subagents": summary.subagents,
        "events": {"new": summary.new, "known": summary.known, "older": summary.older, "failed": summary.failures},
        "skills": summary.skills.iter().map(|(id, (name, path, events))| json!({"id": id, "name": name, "path": path, "events": events})).collect::<Vec<_>>(),
        "not_installed": names(&summary.not_installed),
        "unclear": names(&summary.unclear),
        "unknown_folders": summary.unknown_folders,
        "linked": linked,
        "taken_over": summary.taken.as_ref().map(taken_object),
        "warnings": warnings,
        "more_warnings": summary.more_warnings,
    })
}

fn taken_object(taken: &TakenOver) -> Value {
    let records: Vec<Value> = taken
        .records
        .iter()
        .map(|record| json!({"name": record.name, "use_count": record.uses, "view_count": record.views, "patch_count": record.patches, "changed": record.has_changed}))
        .collect();
    let pairs = |pairs: &[(String, String)], key: &str| -> Vec<Value> {
        pairs
            .iter()
            .map(|(name, value)| json!({"name": name, key: value}))
            .collect()
    };
    json!({
        "records": records,
        "without_folder": taken.without_folder,
        "pinned": taken.pinned,
        "unpinned": taken.unpinned,
        "uninstalled": taken.uninstalled,
        "states": pairs(&taken.states, "state"),
        "origins": pairs(&taken.origins, "origin"),
        "installs": taken.installs,
        "changes": taken.changes,
        "curator": taken.curator,
    })
}

/// Names of one kind that are printed before the rest is only counted.
const SHOWN: usize = 20;

pub(super) fn tell(
    out: &mut Output,
    args: &Args,
    path: &Path,
    summary: &Summary,
    linked: &[Linked],
) -> Result<()> {
    for warning in &summary.warnings {
        let word = out.paint_err(Style::Warning, "warning");
        let path = warning.path.to_string_lossy();
        let line = warning
            .line
            .map_or_else(String::new, |line| format!(":{line}"));
        let column = warning
            .column
            .map_or_else(String::new, |column| format!(":{column}"));
        out.warn(&format!(
            "{}{line}{column} {word}: {}",
            clean(&path),
            clean(&warning.message)
        ));
    }
    if summary.more_warnings > 0 {
        out.warn(&format!(
            "{} more.",
            plural(summary.more_warnings, "warning")
        ));
    }
    for linked in linked {
        out.say(&linked_words(linked));
    }
    if let Some(taken) = &summary.taken {
        tell_taken(out, taken)?;
    }
    tell_names(out, "used", &used(summary))?;
    tell_names(out, "not installed", &summary.not_installed)?;
    tell_names(out, "several skills have this name", &summary.unclear)?;
    for folder in &summary.unknown_folders {
        out.say(&format!(
            "Skills of {} were used and are not in the library: skilldb sync {}",
            clean(folder),
            clean(&shlex::try_quote(folder).unwrap_or_default())
        ));
    }
    if summary.skills.is_empty()
        && !summary.not_installed.is_empty()
        && args.client != Client::Hermes
    {
        out.say(&format!("None of these is in the library: skilldb sync --client {} brings in the folders {} reads.", args.client.id(), import::title(args.client.id())));
    }
    if summary.files == 0 {
        out.say(
            "No history was found there: name the client's home folder, or a folder of histories.",
        );
    }
    out.line(&count_line(args, path, summary))
}

/// Says that events found their skill.
pub(in crate::cli) fn linked_words(linked: &Linked) -> String {
    format!(
        "Linked {} of `{}` to the skill, which is there now.",
        plural(linked.events, "earlier event"),
        clean(&linked.name)
    )
}

/// Events by skill; where several have a name, with the folder.
fn used(summary: &Summary) -> BTreeMap<String, u64> {
    let mut names: BTreeMap<&str, u64> = BTreeMap::new();
    for (name, ..) in summary.skills.values() {
        *names.entry(name).or_default() += 1;
    }
    let told = summary.skills.values().map(|(name, path, events)| {
        if names.get(name.as_str()) == Some(&1) {
            (name.clone(), *events)
        } else {
            (format!("{name} in {path}"), *events)
        }
    });
    told.collect()
}

fn tell_names(out: &mut Output, what: &str, names: &BTreeMap<String, u64>) -> Result<()> {
    let mut sorted: Vec<(&String, &u64)> = names.iter().collect();
    sorted.sort_by(|a, b| b.1.cmp(a.1).then_with(|| a.0.cmp(b.0)));
    for (name, count) in sorted.iter().take(SHOWN) {
        out.line(&format!("{what}: {} ({})", clean(name), grouped(**count)))?;
    }
    if sorted.len() > SHOWN {
        out.line(&format!(
            "{what}: {} more (--json lists all)",
            sorted.len() - SHOWN
        ))?;
    }
    Ok(())
}

fn tell_taken(out: &mut Output, taken: &TakenOver) -> Result<()> {
    let changed: Vec<&TakenRecord> = taken
        .records
        .iter()
        .filter(|record| record.has_changed)
        .collect();
    for record in changed.iter().take(SHOWN) {
        out.line(&format!(
            "counts: {}: {}, {}, {}",
            clean(&record.name),
            plural(record.uses, "use"),
            plural(record.views, "view"),
            plural(record.patches, "edit")
        ))?;
    }
    if changed.len() > SHOWN {
        let more = changed.len() - SHOWN;
        out.line(&format!("counts: {more} more (--json lists all)"))?;
    }
    let same = (taken.records.len() - changed.len()) as u64;
    if same > 0 {
        out.line(&format!("counts: {} as before", plural(same, "record")))?;
    }
    let mut listed = |what: &str, names: Vec<String>| -> Result<()> {
        if names.is_empty() {
            return Ok(());
        }
        let more = names.len().saturating_sub(SHOWN);
        let shown: Vec<String> = names
            .into_iter()
            .take(SHOWN)
            .map(|name| clean(&name).into_owned())
            .collect();
        let more = if more > 0 {
            format!(", {more} more")
        } else {
            String::new()
        };
        out.line(&format!("{what}: {}{more}", shown.join(", ")))
    };
    let pairs = |pairs: &[(String, String)]| {
        pairs
            .iter()
            .map(|(name, value)| format!("{name} ({value})"))
            .collect()
    };
    listed("record without folder", taken.without_folder.clone())?;
    listed("pinned", taken.pinned.clone())?;
    listed("no longer pinned", taken.unpinned.clone())?;
    listed("state", pairs(&taken.states))?;
    listed("origin", pairs(&taken.origins))?;
    listed("installed by the hub", taken.installs.clone())?;
    listed("no longer installed by the hub", taken.uninstalled.clone())?;
    listed("curator", taken.curator.iter().cloned().collect())?;
    if taken.changes > 0 {
        out.line(&format!("changes by its agent: {}", taken.changes))?;
    }
    Ok(())
}

fn count_line(args: &Args, path: &Path, summary: &Summary) -> String {
    let unchanged = match summary.unchanged {
        0 => String::new(),
        count => format!(" ({} unchanged)", grouped(count)),
    };
    let subagents = match summary.subagents {
        0 => String::new(),
        count => format!(", {}", plural(count, "subagent")),
    };
    let older = match summary.older {
        0 => String::new(),
        count => format!(", {} older", grouped(count)),
    };
    let unclear = match summary.unclear.values().sum::<u64>() {
        0 => String::new(),
        count => format!(", {} of unclear names", grouped(count)),
    };
    let dry_run = if args.dry_run {
        " (dry run: nothing was written)"
    } else {
        ""
    };
    let used = summary.skills.values().map(|(.., events)| events).sum();
    format!(
        "{}: {}{unchanged}, {} read, {}{subagents}; {} new, {} known{older}; {} of {}{unclear}, {} not installed{dry_run}",
        clean(&path.to_string_lossy()),
        plural(summary.files, "file"),
        size(summary.bytes),
        plural(summary.sessions, "session"),
        plural(summary.new, "event"),
        grouped(summary.known),
        plural(used, "event"),
        plural(summary.skills.len() as u64, "skill"),
        plural(summary.not_installed.len() as u64, "name"),
    )
}
