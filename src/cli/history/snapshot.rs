//! `skilldb snapshot`.

use clap::Subcommand;
use serde_json::{Value, json};

use super::super::change::{Writing, ask, open, outcome_object, tell_outcome};
use super::super::output::{grouped, one_line, plural, size};
use super::super::{Context, progress};
use crate::error::Result;
use crate::manage::{Made, only_people};
use crate::time::Timestamp;

/// Keep the whole library as it is now, and bring it back to that
///
/// Every file, link and empty folder below the writable roots, the archive included, and what is known of each
/// skill's state. What is in the history already takes no room again.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  skilldb snapshot create --reason 'before the clean-up'
  skilldb snapshot list
  skilldb snapshot restore 3 --dry-run
  skilldb snapshot prune --keep 10")]
pub(in crate::cli) struct Args {
    #[command(subcommand)]
    command: SnapshotCommand,
}

#[derive(Debug, Subcommand)]
enum SnapshotCommand {
    /// Make one
    Create(CreateArgs),
    /// List them
    List,
    /// Bring everything back to one; what is there now is kept in another first
    Restore(RestoreArgs),
    /// Remove all but the newest
    Prune(PruneArgs),
}

#[derive(Debug, clap::Args)]
struct CreateArgs {
    #[command(flatten)]
    writing: Writing,
}

#[derive(Debug, clap::Args)]
struct RestoreArgs {
    /// The snapshot
    id: i64,
    #[command(flatten)]
    writing: Writing,
}

#[derive(Debug, clap::Args)]
struct PruneArgs {
    /// How many stay
    #[arg(long, value_name = "COUNT")]
    keep: usize,
    #[command(flatten)]
    writing: Writing,
}

pub(in crate::cli) fn run(context: &mut Context, args: &Args) -> Result<()> {
    match &args.command {
        SnapshotCommand::Create(args) => create(context, args),
        SnapshotCommand::List => list(context),
        SnapshotCommand::Restore(args) => restore(context, args),
        SnapshotCommand::Prune(args) => prune(context, args),
    }
}

fn create(context: &mut Context, args: &CreateArgs) -> Result<()> {
    let who = args.writing.who(context)?;
    if args.writing.dry_run {
        context.out.say("Dry run: nothing was written.");
        return Ok(());
    }
    let made = open(context)?.snapshot(&who, progress::for_stderr().as_ref())?;
    if context.out.json {
        return context.out.object(
            json!({"snapshot": made.id, "entries": made.entries, "left_out": left_out(&made)}),
        );
    }
    context.out.line(&format!(
        "snapshot {}\t{}",
        made.id,
        plural(made.entries as u64, "file")
    ))?;
    context.out.flush()?;
    tell_left_out(context, &made);
    context.out.say(&format!(
        "`skilldb snapshot restore {}` brings it back.",
        made.id
    ));
    Ok(())
}

fn left_out(made: &Made) -> Vec<Value> {
    made.left_out
        .iter()
        .map(|(path, why)| json!({"path": path.to_string_lossy(), "why": why}))
        .collect()
}

fn tell_left_out(context: &Context, made: &Made) {
    for (path, why) in &made.left_out {
        context.out.warn(&format!(
            "Not in it: {}: {}.",
            one_line(&path.to_string_lossy()),
            one_line(why)
        ));
    }
}

fn list(context: &mut Context) -> Result<()> {
    let snapshots = context.read()?.snapshots()?;
    if context.out.json {
        let objects: Vec<Value> = snapshots
            .iter()
            .map(|row| json!({"id": row.id, "created_at": row.created_at, "reason": row.reason, "actor": row.actor, "skills": row.skills, "files": row.files, "bytes": row.bytes}))
            .collect();
        return context.out.object(json!({"snapshots": objects}));
    }
    if context.out.width.is_none() {
        for row in &snapshots {
            context.out.line(&format!(
                "{}\t{}\t{}\t{}\t{}",
                row.id,
                row.created_at,
                row.skills,
                row.files,
                one_line(&row.reason)
            ))?;
        }
        return Ok(());
    }
    if snapshots.is_empty() {
        context
            .out
            .say("No snapshots; `skilldb snapshot create` makes one.");
        return Ok(());
    }
    let mut rows = vec![
        ["ID", "WHEN", "SKILLS", "FILES", "SIZE", "REASON"]
            .map(str::to_owned)
            .to_vec(),
    ];
    for row in &snapshots {
        let when = Timestamp::parse(&row.created_at)
            .map_or_else(|| row.created_at.clone(), |at| at.relative(context.now));
        rows.push(vec![
            row.id.to_string(),
            when,
            grouped(row.skills),
            grouped(row.files),
            size(row.bytes),
            one_line(&row.reason),
        ]);
    }
    context.out.table(&rows)
}

fn restore(context: &mut Context, args: &RestoreArgs) -> Result<()> {
    let who = args.writing.who(context)?;
    only_people(who.actor, "restore a snapshot")?;
    if args.writing.dry_run {
        let store = context.read()?;
        let differing = crate::manage::differing(&store, args.id)?;
        if context.out.json {
            return context
                .out
                .object(json!({"snapshot": args.id, "files": differing, "dry_run": true}));
        }
        for path in &differing {
            context.out.line(&one_line(path))?;
        }
        context.out.flush()?;
        context.out.say(&format!(
            "{} would change. Dry run: nothing was written.",
            plural(differing.len() as u64, "file")
        ));
        return Ok(());
    }
    let (made, outcome) =
        open(context)?.restore_snapshot(&who, args.id, progress::for_stderr().as_ref())?;
    tell_left_out(context, &made);
    if context.out.json {
        let mut object = outcome_object(&outcome);
        if let Some(map) = object.as_object_mut() {
            map.insert("safety_snapshot".to_owned(), json!(made.id));
        }
        return context.out.object(object);
    }
    tell_outcome(context, &outcome)?;
    context
        .out
        .say(&format!("What was there before is snapshot {}.", made.id));
    Ok(())
}

fn prune(context: &mut Context, args: &PruneArgs) -> Result<()> {
    let who = args.writing.who(context)?;
    only_people(who.actor, "prune snapshots")?;
    let old: Vec<i64> = context
        .read()?
        .snapshots()?
        .iter()
        .skip(args.keep)
        .map(|row| row.id)
        .collect();
    let mut bytes = 0;
    if !args.writing.dry_run && !old.is_empty() {
        ask(
            &args.writing,
            &format!("Remove {}?", plural(old.len() as u64, "snapshot")),
        )?;
        bytes = open(context)?.prune_snapshots(&who, args.keep)?.1;
    }
    if context.out.json {
        return context
            .out
            .object(json!({"pruned": old, "bytes": bytes, "dry_run": args.writing.dry_run}));
    }
    for id in &old {
        context.out.line(&format!("snapshot {id}"))?;
    }
    context.out.flush()?;
    let words = match (old.is_empty(), args.writing.dry_run) {
        (true, _) => "Nothing to prune.".to_owned(),
        (false, true) => format!(
            "{} would be removed. Dry run: nothing was written.",
            plural(old.len() as u64, "snapshot")
        ),
        (false, false) => format!(
            "{} removed, {} freed.",
            plural(old.len() as u64, "snapshot"),
            size(bytes)
        ),
    };
    context.out.say(&words);
    Ok(())
}
