//! `skilldb purge`.

use std::path::PathBuf;

use serde_json::json;

use super::super::Context;
use super::super::change::{Writing, ask, open};
use super::super::output::{one_line, plural};
use crate::error::{Error, Result};
use crate::manage::purge::{Purge, Which, find};

/// Remove bytes from the history for good
///
/// For what must not stay, such as a leaked key. Changes that need these bytes can be shown and taken back no more;
/// the log keeps their rows. With --containing the text is also taken out of proposals and of what was said about
/// changes. This cannot be undone.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  skilldb purge --containing sk-live-1234 --dry-run
  skilldb purge --containing sk-live-1234 --yes
  skilldb purge --change 12 --yes")]
pub(in crate::cli) struct Args {
    /// Every version of every file that holds this text
    #[arg(long, value_name = "TEXT", required_unless_present_any = ["change", "hash", "containing_from"])]
    containing: Option<String>,
    /// As --containing, with the text read from a file: for what should not stand in a shell's history
    #[arg(long, value_name = "FILE", conflicts_with_all = ["containing", "change", "hash"])]
    containing_from: Option<PathBuf>,
    /// The bytes that this change put in place
    #[arg(long, value_name = "CHANGE", conflicts_with_all = ["containing", "hash"])]
    change: Option<i64>,
    /// The bytes with this SHA-256
    #[arg(long, value_name = "HASH", conflicts_with = "containing")]
    hash: Option<String>,
    #[command(flatten)]
    writing: Writing,
}

pub(in crate::cli) fn run(context: &mut Context, args: &Args) -> Result<()> {
    let which = match (
        &args.containing,
        &args.containing_from,
        args.change,
        &args.hash,
    ) {
        (Some(text), ..) => Which::Containing(text.clone()),
        (_, Some(path), ..) => {
            let text = super::super::change::text(Some(path))?;
            Which::Containing(text.trim_end_matches(['\r', '\n']).to_owned())
        }
        (.., Some(change), _) => Which::Change(change),
        (.., Some(hash)) => Which::Hash(hash.clone()),
        (None, None, None, None) => {
            return Err(Error::Usage {
                message: "nothing to purge was named".to_owned(),
                hint: Some("name --containing, --change or --hash".to_owned()),
            });
        }
    };
    let found = find(&context.read()?, &which)?;
    if args.writing.dry_run {
        return tell(context, &found, true);
    }
    if !found.hashes.is_empty() {
        let question = format!(
            "Purge {} for good?",
            plural(found.hashes.len() as u64, "version")
        );
        ask(&args.writing, &question)?;
    }
    let who = args.writing.who(context)?;
    let purged = open(context)?.purge(&who, &which)?;
    tell(context, &purged, false)?;
    if purged.is_scrubbed {
        return Ok(());
    }
    context.out.flush()?;
    Err(Error::Denied {
        code: "not-scrubbed",
        message: "purged, but a process that reads the library keeps old pages of its files"
            .to_owned(),
        hint: Some("run the same again when it is done: that overwrites them".to_owned()),
    })
}

fn tell(context: &mut Context, purge: &Purge, dry_run: bool) -> Result<()> {
    if context.out.json {
        let uses: Vec<_> = purge
            .uses
            .iter()
            .map(|used| json!({"change": used.change, "name": used.name, "path": used.path}))
            .collect();
        return context.out.object(json!({
            "hashes": purge.hashes, "uses": uses, "still_there": purge.still_there, "proposals": purge.proposals,
            "rows": purge.rows, "scrubbed": purge.is_scrubbed, "dry_run": dry_run,
        }));
    }
    for used in &purge.uses {
        let line = format!(
            "change {}\t{}\t{}",
            used.change,
            one_line(&used.name),
            one_line(&used.path)
        );
        context.out.line(&line)?;
    }
    context.out.flush()?;
    for path in &purge.still_there {
        context.out.warn(&format!(
            "{} says so still: change it first.",
            path.display()
        ));
    }
    let mut what = vec![plural(purge.hashes.len() as u64, "version")];
    if purge.proposals > 0 {
        what.push(plural(purge.proposals as u64, "proposal"));
    }
    if purge.rows > 0 {
        what.push(format!(
            "{} about changes",
            plural(purge.rows as u64, "row")
        ));
    }
    let what = what.join(", ");
    let undone = if purge.uses.is_empty() {
        ""
    } else {
        "; the changes above cannot be taken back any more"
    };
    if dry_run {
        context.out.say(&format!(
            "{what} would be purged{undone}. Dry run: nothing was written."
        ));
        return Ok(());
    }
    context.out.say(&format!("{what} purged{undone}."));
    let home = &context.config.home.value;
    let is_copy = |name: &str| {
        std::path::Path::new(name)
            .extension()
            .is_some_and(|extension| extension == "backup")
    };
    let copies: Vec<String> = std::fs::read_dir(home)
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(|name| is_copy(name))
        .collect();
    if !copies.is_empty() {
        context.out.warn(&format!(
            "Older copies of the database in {} may still hold them: {}.",
            home.display(),
            copies.join(", ")
        ));
    }
    Ok(())
}
