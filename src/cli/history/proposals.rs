//! `skilldb proposals`.

use clap::Subcommand;
use serde_json::{Value, json};

use super::super::Context;
use super::super::change::{Results, Writing, open, open_for, outcome_object, tell_outcome};
use super::super::output::{clean, fit, one_line, plural};
use crate::error::Result;
use crate::manage::only_people;
use crate::store::ProposalRow;
use crate::time::Timestamp;

/// Changes that wait for a person: list, show, approve, reject them
///
/// An agent's request to put away what a person made waits here, and whatever `write_policy` says has to be asked.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  skilldb proposals
  skilldb proposals show 3
  skilldb proposals approve 3
  skilldb proposals reject 3 --note 'still needed'")]
pub(in crate::cli) struct Args {
    #[command(subcommand)]
    command: Option<ProposalsCommand>,
}

#[derive(Debug, Subcommand)]
enum ProposalsCommand {
    /// List those that wait
    List(ListArgs),
    /// Show what one would do
    Show(OneArgs),
    /// Do what they ask for
    Approve(ApproveArgs),
    /// Do not do it
    Reject(RejectArgs),
}

#[derive(Debug, Default, clap::Args)]
struct ListArgs {
    /// Those that were decided, too
    #[arg(long)]
    all: bool,
}

#[derive(Debug, clap::Args)]
struct OneArgs {
    /// The proposal
    id: i64,
}

#[derive(Debug, clap::Args)]
struct ApproveArgs {
    /// The proposals
    #[arg(required = true, value_name = "ID")]
    ids: Vec<i64>,
    #[command(flatten)]
    writing: Writing,
}

#[derive(Debug, clap::Args)]
struct RejectArgs {
    /// The proposals
    #[arg(required = true, value_name = "ID")]
    ids: Vec<i64>,
    /// Why not
    #[arg(long, value_name = "TEXT")]
    note: Option<String>,
    #[command(flatten)]
    writing: Writing,
}

pub(in crate::cli) fn run(context: &mut Context, args: &Args) -> Result<()> {
    match &args.command {
        None => list(context, &ListArgs::default()),
        Some(ProposalsCommand::List(args)) => list(context, args),
        Some(ProposalsCommand::Show(args)) => show(context, args.id),
        Some(ProposalsCommand::Approve(args)) => approve(context, args),
        Some(ProposalsCommand::Reject(args)) => reject(context, args),
    }
}

fn list(context: &mut Context, args: &ListArgs) -> Result<()> {
    let proposals = context.read()?.proposals(args.all, context.now)?;
    if context.out.json {
        let objects: Vec<Value> = proposals
            .iter()
            .map(|row| object(row, context.now))
            .collect();
        return context.out.object(json!({"proposals": objects}));
    }
    if context.out.width.is_none() {
        for row in &proposals {
            let cells = [
                row.id.to_string(),
                row.action.clone(),
                one_line(&row.name),
                row.actor.clone(),
                state(row, context.now).to_owned(),
                one_line(&row.why),
            ];
            context.out.line(&cells.join("\t"))?;
        }
        return Ok(());
    }
    let mut rows = vec![
        ["ID", "WHAT", "SKILL", "WHO", "STATE", "ASKED", "WHY"]
            .map(str::to_owned)
            .to_vec(),
    ];
    for row in &proposals {
        let age = Timestamp::parse(&row.created_at)
            .map(|at| at.relative(context.now))
            .unwrap_or_default();
        let asked = if row.asked > 1 {
            format!("{age}, {} times", row.asked)
        } else {
            age
        };
        rows.push(vec![
            row.id.to_string(),
            row.action.replace('_', " "),
            fit(&row.name, 32),
            row.actor.clone(),
            state(row, context.now).to_owned(),
            asked,
            one_line(&row.why),
        ]);
    }
    if proposals.is_empty() {
        context.out.say("Nothing waits.");
        return Ok(());
    }
    context.out.table(&rows)?;
    context.out.flush()?;
    context.out.say(&format!(
        "{}; `skilldb proposals show ID` shows one.",
        plural(proposals.len() as u64, "proposal")
    ));
    Ok(())
}

fn show(context: &mut Context, id: i64) -> Result<()> {
    let row = context.read()?.proposal(id)?;
    if context.out.json {
        let object = object(&row, context.now);
        return context.out.object(json!({"proposal": object}));
    }
    context.out.diff(&row.diff)?;
    context.out.flush()?;
    let session = row
        .session
        .as_ref()
        .map(|session| format!(" in session {}", one_line(session)))
        .unwrap_or_default();
    context.out.say(&format!(
        "{} wants to {} `{}`{session}; it waits because {}.",
        row.actor,
        row.action.replace('_', " "),
        one_line(&row.name),
        clean(&row.why),
    ));
    if let Some(reason) = &row.reason {
        context
            .out
            .say(&format!("Reason given: {}", one_line(reason)));
    }
    match &row.decision {
        None => context.out.say(&format!("`skilldb proposals approve {id}` does it, `skilldb proposals reject {id}` does not; it waits until {}.", row.expires_at)),
        Some(word) => context.out.say(&format!("It is {word}.")),
    }
    Ok(())
}

fn approve(context: &mut Context, args: &ApproveArgs) -> Result<()> {
    only_people(args.writing.who(context)?.actor, "decide about proposals")?;
    let mut results = Results::default();
    for id in &args.ids {
        let done = if args.writing.dry_run {
            shown(context, *id)
        } else {
            open_for(context, &args.writing)?
                .approve(*id)
                .and_then(|outcome| {
                    if context.out.json {
                        return Ok(Some(outcome_object(&outcome)));
                    }
                    tell_outcome(context, &outcome).map(|()| None)
                })
        };
        results.add(context, args.ids.len(), done)?;
    }
    results.end(context, "proposal")
}

/// What approving would do, as data or in words.
fn shown(context: &mut Context, id: i64) -> Result<Option<Value>> {
    if context.out.json {
        let row = context.read_only()?.proposal(id)?;
        return Ok(Some(object(&row, context.now)));
    }
    show(context, id).map(|()| None)
}

fn reject(context: &mut Context, args: &RejectArgs) -> Result<()> {
    only_people(args.writing.who(context)?.actor, "decide about proposals")?;
    let mut results = Results::default();
    for id in &args.ids {
        let done = if args.writing.dry_run {
            shown(context, *id)
        } else {
            open(context)?
                .reject(*id, args.note.as_deref())
                .and_then(|row| {
                    if context.out.json {
                        return Ok(Some(json!({"id": id, "decision": "rejected"})));
                    }
                    let line = format!("proposal {id}\trejected\t{}", one_line(&row.name));
                    context.out.line(&line).map(|()| None)
                })
        };
        results.add(context, args.ids.len(), done)?;
    }
    results.end(context, "proposal")
}

fn state(row: &ProposalRow, now: Timestamp) -> &str {
    match &row.decision {
        Some(word) => word,
        None if row.expires_at <= now.to_string() => "expired",
        None => "waiting",
    }
}

fn object(row: &ProposalRow, now: Timestamp) -> Value {
    let parsed = |text: &str| serde_json::from_str::<Value>(text).unwrap_or_default();
    json!({
        "id": row.id, "action": row.action, "skill_id": row.skill, "name": row.name, "actor": row.actor, "session": row.session,
        "reason": row.reason, "why": row.why, "asked": row.asked, "created_at": row.created_at, "expires_at": row.expires_at,
        "decided_at": row.decided_at, "state": state(row, now), "note": row.note, "change": row.change,
        "request": parsed(&row.request), "base": parsed(&row.base), "diff": row.diff,
    })
}
