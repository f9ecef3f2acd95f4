//! `skilldb diff`.

use serde_json::{Value, json};

use super::super::Context;
use super::log::known;
use crate::diff;
use crate::error::{Error, Result};
use crate::manage::{Compared, compare, compared};
use crate::store::{Store, Wanted};

/// Compare versions of a skill
///
/// Without CHANGE: what its newest change did. With one: what became of it since then. With two: what became of it
/// between them. A version is named by the change that made it; `log` lists them.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  skilldb diff release-notes
  skilldb diff release-notes 12
  skilldb diff release-notes 12..15
  skilldb diff --change 15          what one change did to all its skills")]
pub(in crate::cli) struct Args {
    /// The skill
    #[arg(required_unless_present = "change")]
    name: Option<String>,
    /// Since which change, or between which
    #[arg(value_name = "CHANGE[..CHANGE]")]
    range: Option<String>,
    /// What this change did
    #[arg(long, value_name = "CHANGE", conflicts_with_all = ["name", "range"])]
    change: Option<i64>,
}

pub(in crate::cli) fn run(context: &mut Context, args: &Args) -> Result<()> {
    let store = context.read()?;
    let files = match (args.change, &args.name, &args.range) {
        (Some(change), ..) => of_change(&store, change, None)?,
        (None, Some(name), None) => {
            let skill = known(context, &store, name)?;
            let wanted = Wanted {
                skill: Some(skill),
                outcome: Some("applied"),
                ..Wanted::default()
            };
            let newest = store.changes(&wanted)?;
            let newest = newest.iter().find(|change| {
                change
                    .parts
                    .iter()
                    .any(|part| part.skill == Some(skill) && !part.files.is_empty())
            });
            match newest {
                Some(change) => of_change(&store, change.id, Some(skill))?,
                None => Vec::new(),
            }
        }
        (None, Some(name), Some(range)) => {
            let skill = known(context, &store, name)?;
            let (from, to) = versions(range)?;
            store.change(from)?;
            if let Some(to) = to {
                store.change(to)?;
            }
            compare(&store, &store.skill_facts(skill)?, from, to)?
        }
        (None, None, _) => Vec::new(),
    };
    if context.out.json {
        let objects: Vec<Value> = files
            .iter()
            .map(|file| {
                json!({"path": file.path, "diff": text(file), "not_kept": file.missing,
                    "is_new": file.before.is_none() && file.missing.is_none(), "is_gone": file.after.is_none() && file.missing.is_none()})
            })
            .collect();
        return context.out.object(json!({"files": objects}));
    }
    for file in &files {
        context.out.diff(&text(file))?;
    }
    context.out.flush()?;
    for file in &files {
        if let Some(hash) = &file.missing {
            context.out.warn(&format!(
                "{}: the history does not hold {hash}: it was purged, or too large to keep.",
                file.path
            ));
        }
    }
    if files.is_empty() {
        context.out.say("No difference.");
    }
    Ok(())
}

fn text(file: &Compared) -> String {
    if file.missing.is_some() {
        return String::new();
    }
    diff::unified(
        file.path.trim_start_matches('/'),
        file.before.as_deref(),
        file.after.as_deref(),
    )
}

/// What a change did, to one skill or to all of them.
fn of_change(store: &Store, change: i64, skill: Option<i64>) -> Result<Vec<Compared>> {
    let change = store.change(change)?;
    let mut files = Vec::new();
    for part in change
        .parts
        .iter()
        .filter(|part| skill.is_none() || part.skill == skill)
    {
        for file in &part.files {
            let mut shown = compared(store, file)?;
            if skill.is_none() && !file.is_absolute {
                shown.path = format!("{}/{}", part.name, shown.path);
            }
            files.push(shown);
        }
    }
    Ok(files)
}

fn versions(range: &str) -> Result<(i64, Option<i64>)> {
    let id = |text: &str| {
        text.trim_start_matches('#')
            .parse::<i64>()
            .map_err(|_| Error::Usage {
                message: format!("`{text}` is no change"),
                hint: Some("write 12 or 12..15; `skilldb log` lists them".to_owned()),
            })
    };
    match range.split_once("..") {
        Some((from, "")) => Ok((id(from)?, None)),
        Some((from, to)) => Ok((id(from)?, Some(id(to)?))),
        None => Ok((id(range)?, None)),
    }
}
