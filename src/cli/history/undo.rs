//! `skilldb undo`.

use serde_json::json;

use super::super::Context;
use super::super::change::{self, Results, Writing, outcome_object, tell_outcome};
use crate::error::{Error, Result};
use crate::manage::Request;
use crate::store::Wanted;

/// Take changes back
///
/// Without CHANGE: the newest one that was not taken back yet. An undo is itself a change and can be undone. What
/// was changed later in other lines stays; where the same lines were changed nothing is done and the place is shown.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  skilldb undo
  skilldb undo 12
  skilldb undo --of-session SESSION     everything one session changed
  skilldb undo 12 --dry-run")]
pub(in crate::cli) struct Args {
    /// The change; `skilldb log` lists them
    #[arg(conflicts_with_all = ["of_session", "curator_run"])]
    change: Option<String>,
    /// Everything this session changed, the newest first
    #[arg(long, value_name = "ID", conflicts_with = "curator_run")]
    of_session: Option<String>,
    /// Everything this run of the curator changed
    #[arg(long, value_name = "ID")]
    curator_run: Option<i64>,
    #[command(flatten)]
    writing: Writing,
}

pub(in crate::cli) fn run(context: &mut Context, args: &Args) -> Result<()> {
    let wanted = Wanted {
        session: args.of_session.as_deref(),
        curator_run: args.curator_run,
        is_open: true,
        ..Wanted::default()
    };
    if args.of_session.is_some() || args.curator_run.is_some() {
        let ids: Vec<i64> = context
            .read()?
            .changes(&wanted)?
            .iter()
            .map(|change| change.id)
            .collect();
        return all(context, args, &ids);
    }
    let id = match &args.change {
        Some(typed) => typed
            .trim_start_matches('#')
            .parse()
            .map_err(|_| Error::Usage {
                message: format!("`{typed}` is no change"),
                hint: Some("name its number; `skilldb log` lists them".to_owned()),
            })?,
        None => {
            let newest = Wanted {
                limit: Some(1),
                ..wanted
            };
            return change::perform(context, &args.writing, |_, store| {
                let found = store.changes(&newest)?;
                let change = found.first().map(|change| change.id).ok_or_else(nothing)?;
                Ok(Request::Undo { change })
            });
        }
    };
    change::perform(context, &args.writing, |_, _| {
        Ok(Request::Undo { change: id })
    })
}

fn nothing() -> Error {
    Error::Denied {
        code: "nothing-to-undo",
        message: "there is no change to take back".to_owned(),
        hint: Some("`skilldb log` lists what was changed".to_owned()),
    }
}

/// Takes several changes back, each on its own. One that cannot be does not stop the others.
fn all(context: &mut Context, args: &Args, ids: &[i64]) -> Result<()> {
    if ids.is_empty() {
        return Err(nothing());
    }
    let mut results = Results::default();
    if args.writing.dry_run {
        for id in ids {
            let object = if context.out.json {
                Some(json!({"change": id, "outcome": "would be undone"}))
            } else {
                context
                    .out
                    .line(&format!("change {id} would be taken back"))?;
                None
            };
            results.add(context, ids.len(), Ok(object))?;
        }
        results.end(context, "change")?;
        context
            .out
            .say("Dry run: nothing was written. `undo CHANGE --dry-run` shows what one would do.");
        return Ok(());
    }
    let who = args.writing.who(context)?;
    let mut writer = change::open(context)?;
    for id in ids {
        let outcome = writer.run(&who, &Request::Undo { change: *id });
        let done = outcome.and_then(|outcome| {
            if context.out.json {
                return Ok(Some(outcome_object(&outcome)));
            }
            tell_outcome(context, &outcome).map(|()| None)
        });
        results.add(context, ids.len(), done)?;
    }
    results.end(context, "change")
}
