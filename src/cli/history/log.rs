//! `skilldb log`.

use std::fmt::Write as _;

use serde_json::json;

use super::super::Context;
use super::super::named::find;
use super::super::output::{Style, fit, grouped, one_line};
use super::change_object;
use crate::error::{Error, Result};
use crate::store::{ChangeRow, Store, Wanted};
use crate::time::Timestamp;

/// Changes shown unless more are asked for.
const LIMIT: u32 = 50;

/// Show what was changed, by whom and why: failed attempts, too
///
/// The newest first. Edits made outside skilldb are there as `external`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  skilldb log
  skilldb log release-notes
  skilldb log --actor curator --since 2026-05-01
  skilldb log --outcome failed --json")]
pub(in crate::cli) struct Args {
    /// Only changes of this skill
    name: Option<String>,
    /// Only those of this actor: user, agent, background-review, curator, sync, hub, import
    #[arg(long, value_name = "WHO")]
    actor: Option<String>,
    /// Only those that ended so: applied, failed, discarded, pending
    #[arg(long, value_name = "WORD")]
    outcome: Option<String>,
    /// Only those that did this: create, edit, patch, archive, ...
    #[arg(long, value_name = "WORD")]
    action: Option<String>,
    /// Only those of this session
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// Only those of this run of the curator
    #[arg(long, value_name = "ID")]
    curator_run: Option<i64>,
    /// Only those since this day or moment
    #[arg(long, value_name = "TIME")]
    since: Option<String>,
    /// Most changes shown; 0 for all
    #[arg(short = 'n', long, value_name = "COUNT", default_value_t = LIMIT)]
    limit: u32,
}

const ACTORS: [&str; 7] = [
    "user",
    "agent",
    "background_review",
    "curator",
    "sync",
    "hub",
    "import",
];
const OUTCOMES: [&str; 4] = ["applied", "failed", "discarded", "pending"];
const ACTIONS: [&str; 14] = [
    "create",
    "edit",
    "patch",
    "write_file",
    "remove_file",
    "rename",
    "archive",
    "restore",
    "delete",
    "undo",
    "merge",
    "install",
    "update",
    "external",
];

pub(in crate::cli) fn run(context: &mut Context, args: &Args) -> Result<()> {
    let store = context.read()?;
    let skill = match &args.name {
        Some(name) => Some(known(context, &store, name)?),
        None => None,
    };
    let actor = word("actor", args.actor.as_deref(), &ACTORS)?;
    let outcome = word("outcome", args.outcome.as_deref(), &OUTCOMES)?;
    let action = word("action", args.action.as_deref(), &ACTIONS)?;
    let since = args.since.as_deref().map(moment).transpose()?;
    let wanted = Wanted {
        skill,
        actor,
        outcome,
        action,
        session: args.session.as_deref(),
        curator_run: args.curator_run,
        since: since.as_deref(),
        limit: (args.limit > 0).then_some(args.limit),
        ..Wanted::default()
    };
    let changes = store.changes(&wanted)?;
    let total = store.count_changes(&wanted)?;
    if context.out.json {
        let objects: Vec<_> = changes.iter().map(change_object).collect();
        return context
            .out
            .object(json!({"changes": objects, "total": total}));
    }
    if context.out.width.is_none() {
        for change in &changes {
            plain(context, change)?;
        }
        return Ok(());
    }
    table(context, &changes)?;
    context.out.flush()?;
    let shown = changes.len() as u64;
    if shown < total {
        context.out.say(&format!(
            "{} of {} changes; `--limit 0` shows all.",
            grouped(shown),
            grouped(total)
        ));
    } else if total == 0 {
        context.out.say("No changes.");
    }
    Ok(())
}

/// The skill that is meant: one that is there, or one that was.
pub(super) fn known(context: &Context, store: &Store, typed: &str) -> Result<i64> {
    match find(context, store, typed) {
        Ok((skill, None)) => Ok(skill.id),
        Ok((_, Some(_))) | Err(Error::SkillNotFound { .. }) => store
            .ended_named(typed)?
            .ok_or_else(|| Error::SkillNotFound {
                name: typed.to_owned(),
                similar: Vec::new(),
            }),
        Err(error) => Err(error),
    }
}

/// Reads one of a set of words; a hyphen is as good as an underscore.
fn word(what: &str, typed: Option<&str>, known: &[&'static str]) -> Result<Option<&'static str>> {
    let Some(typed) = typed else { return Ok(None) };
    let plain = typed.replace('-', "_");
    known
        .iter()
        .find(|word| **word == plain)
        .copied()
        .map(Some)
        .ok_or_else(|| Error::Usage {
            message: format!("`{typed}` is no {what}"),
            hint: Some(format!("one of {}", known.join(", "))),
        })
}

fn moment(typed: &str) -> Result<String> {
    Timestamp::parse_lenient(typed)
        .map(|moment| moment.to_string())
        .ok_or_else(|| Error::Usage {
            message: format!("`{typed}` is no time"),
            hint: Some("write it like 2026-05-01 or 2026-05-01T12:00:00Z".to_owned()),
        })
}

fn plain(context: &mut Context, change: &ChangeRow) -> Result<()> {
    let names: Vec<String> = change
        .parts
        .iter()
        .map(|part| one_line(&part.name))
        .collect();
    let cells = [
        change.id.to_string(),
        change.at.clone(),
        change.action.clone(),
        change.outcome.clone(),
        change.actor.clone(),
        names.join(", "),
        what(change),
    ];
    context.out.line(&cells.join("\t"))
}

/// What happened, in a few words.
fn what(change: &ChangeRow) -> String {
    let mut words = match (&change.message, change.parts.as_slice()) {
        (Some(message), _) => one_line(message),
        (None, [part]) => one_line(&part.title),
        (None, []) => String::new(),
        (None, [part, others @ ..]) => {
            format!("{} and {} more", one_line(&part.title), others.len())
        }
    };
    if let Some(strategy) = &change.strategy {
        let _ = write!(words, " ({strategy})");
    }
    if let Some(by) = change.undone_by {
        let _ = write!(words, ", undone by {by}");
    }
    words
}

fn table(context: &mut Context, changes: &[ChangeRow]) -> Result<()> {
    if changes.is_empty() {
        return Ok(());
    }
    let width = context.out.width.unwrap_or(80);
    let mut rows = vec![
        ["CHANGE", "WHEN", "WHO", "ACTION", "SKILL", "WHAT"]
            .map(str::to_owned)
            .to_vec(),
    ];
    for change in changes {
        let when = Timestamp::parse(&change.at)
            .map_or_else(|| change.at.clone(), |at| at.relative(context.now));
        let action = match change.outcome.as_str() {
            "applied" => change.action.replace('_', " "),
            outcome => format!("{} {outcome}", change.action.replace('_', " ")),
        };
        let name = match change.parts.as_slice() {
            [] => "-".to_owned(),
            [part] => fit(&part.name, 32),
            [part, others @ ..] => format!("{} +{}", fit(&part.name, 28), others.len()),
        };
        rows.push(vec![
            change.id.to_string(),
            when,
            change.actor.clone(),
            action,
            name,
            what(change),
        ]);
    }
    let used: usize = (0..5)
        .map(|column| {
            rows.iter()
                .filter_map(|row| row.get(column))
                .map(|cell| cell.chars().count())
                .max()
                .unwrap_or(0)
                + 2
        })
        .sum();
    for row in &mut rows {
        if let Some(last) = row.last_mut() {
            *last = fit(last, width.saturating_sub(used).max(20));
        }
    }
    let lines = super::super::output::columns(&rows);
    for (index, line) in lines.iter().enumerate() {
        let is_bad = index > 0
            && changes
                .get(index - 1)
                .is_some_and(|change| change.outcome != "applied");
        let painted = match (index, is_bad) {
            (0, _) => context.out.paint(Style::Bold, line),
            (_, true) => context.out.paint(Style::Warning, line),
            (_, false) => line.clone(),
        };
        context.out.line(&painted)?;
    }
    Ok(())
}
