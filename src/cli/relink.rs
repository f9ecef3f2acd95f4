//! `skilldb relink`.

use serde_json::json;

use super::{Context, progress};
use crate::error::{Error, Result};
use crate::sync;

/// Say that a new folder is a skill that vanished elsewhere
///
/// The old one's use, history and state go on in the new place. Sync does this by itself when the
/// bytes are the same.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  skilldb list --missing              the ids of skills whose folders vanished
  skilldb relink '#3' '#17'           #17 is what #3 has become")]
pub(super) struct Args {
    /// Id of the skill that vanished
    #[arg(value_name = "OLD")]
    old: String,
    /// Id or name of the skill it has become
    #[arg(value_name = "NEW")]
    new: String,
    /// Say what would be done and do nothing
    #[arg(long)]
    dry_run: bool,
}

pub(super) fn run(context: &mut Context, args: &Args) -> Result<()> {
    context.check_person("say that two skills are one")?;
    let home = context.config.home.value.clone();
    let old = id_of_missing(&args.old)?;
    let store = context.read()?;
    let new = store.find_skill(&args.new)?;
    if args.dry_run {
        if !store.list_missing()?.iter().any(|row| row.id == old) {
            return Err(Error::Relink {
                old: format!("#{old}"),
                new: format!("#{}", new.id),
                reason: "the old one is not missing",
            });
        }
        if context.out.json {
            return context.out.object(
                json!({"relinked": {"id": old, "name": new.name, "ended_id": new.id}, "dry_run": true}),
            );
        }
        context.out.say(&format!(
            "#{old} would go on in {} (dry run: nothing was written).",
            new.path
        ));
        return Ok(());
    }
    let progress = progress::for_stderr();
    let (old, new) = sync::relink(
        &home,
        old,
        new.id,
        context.now,
        (progress.as_ref(), &context.mender()),
    )?;
    if context.out.json {
        return context.out.object(json!({"relinked": {"id": old.id, "name": new.name, "ended_id": new.id, "rel_path": new.rel_path}, "dry_run": false}));
    }
    context.out.line(&format!(
        "#{} {} goes on in {}; #{} has ended",
        old.id, old.name, new.rel_path, new.id
    ))
}

fn id_of_missing(typed: &str) -> Result<i64> {
    typed
        .trim_start_matches('#')
        .parse()
        .map_err(|_| Error::Usage {
            message: format!("`{typed}` is no id"),
            hint: Some("`skilldb list --missing` shows the ids".to_owned()),
        })
}
