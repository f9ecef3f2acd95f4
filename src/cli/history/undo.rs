//! `skilldb undo`.

use serde_json::json;

use super::super::Context;
use super::super::change::{self, Writing, outcome_object, tell_outcome};
use super::super::output::{error_object, fail, plural};
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
  skilldb undo --of-session 0192f1      everything one session changed
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
            let found = context.read()?.changes(&newest)?;
            found.first().map(|change| change.id).ok_or_else(nothing)?
        }
    };
    change::perform(context, &args.writing, &Request::Undo { change: id })
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
    if let ([id], true) = (ids, true) {
        return change::perform(context, &args.writing, &Request::Undo { change: *id });
    }
    if args.writing.dry_run {
        for id in ids {
            context
                .out
                .line(&format!("change {id} would be taken back"))?;
        }
        context
            .out
            .say("Dry run: nothing was written. `undo CHANGE --dry-run` shows one of them.");
        return Ok(());
    }
    let who = args.writing.who(context)?;
    let mut writer = change::open(context)?;
    let mut objects = Vec::new();
    let mut failed = 0;
    for id in ids {
        match writer.run(&who, &Request::Undo { change: *id }) {
            Ok(outcome) if context.out.json => objects.push(outcome_object(&outcome)),
            Ok(outcome) => tell_outcome(context, &outcome)?,
            Err(error) => {
                failed += 1;
                if context.out.json {
                    objects.push(error_object(&error));
                } else {
                    context.out.flush()?;
                    fail(&error, false, context.config.color.value);
                }
            }
        }
    }
    if context.out.json {
        context
            .out
            .object(json!({"results": objects, "failed": failed}))?;
    }
    context.out.flush()?;
    if failed > 0 {
        context.out.say(&format!(
            "{failed} of {} could not be taken back.",
            plural(ids.len() as u64, "change")
        ));
        return Err(Error::ProblemsFound);
    }
    Ok(())
}
