//! What was done, in words and as data.

use serde_json::{Value, json};

use super::super::Context;
use super::super::history::change_object;
use super::super::output::{Style, clean, one_line};
use crate::error::Result;
use crate::manage::{Action, Done, Fate, Outcome, Preview, Recovered};
use crate::store::ChangeRow;

/// Tells what became of a request.
pub(in crate::cli) fn tell_outcome(context: &mut Context, outcome: &Outcome) -> Result<()> {
    if context.out.json {
        return context.out.object(outcome_object(outcome));
    }
    match outcome {
        Outcome::Done(done) => tell_done(context, done),
        Outcome::Proposed { id, name, why } => {
            let name = one_line(name);
            if context.out.width.is_none() {
                context.out.line(&format!("proposal {id}\t{name}"))?;
            } else {
                context
                    .out
                    .line(&format!("Proposal {id} waits for a person: {name}"))?;
            }
            context.out.flush()?;
            context.out.say(&format!(
                "Nothing was changed: {why}. `skilldb proposals show {id}` shows it, `skilldb proposals approve {id}` does it.",
                why = clean(why),
            ));
            Ok(())
        }
    }
}

/// What became of a request, as data.
pub(in crate::cli) fn outcome_object(outcome: &Outcome) -> Value {
    match outcome {
        Outcome::Done(done) => json!({
            "outcome": done.change.outcome, "change": change_object(&done.change), "places": places(&done.places),
            "notes": done.notes, "undo": undo_command(&done.change), "dry_run": false,
        }),
        Outcome::Proposed { id, name, why } => json!({
            "outcome": "proposed", "proposal": id, "name": name, "why": why,
            "approve": format!("skilldb proposals approve {id}"), "dry_run": false,
        }),
    }
}

fn tell_done(context: &mut Context, done: &Done) -> Result<()> {
    let change = &done.change;
    for part in &change.parts {
        let line = part_line(context, change, &part.name, &part.title);
        context.out.line(&line)?;
    }
    context.out.flush()?;
    for note in &done.notes {
        let words = context.out.paint_err(Style::Warning, &clean(note));
        context.out.say(&words);
    }
    context.out.say(&format!(
        "Change {}; `{}` takes it back.",
        change.id,
        undo_command(change)
    ));
    Ok(())
}

fn undo_command(change: &ChangeRow) -> String {
    format!("skilldb undo {}", change.id)
}

fn part_line(context: &Context, change: &ChangeRow, name: &str, title: &str) -> String {
    let strategy = match &change.strategy {
        Some(strategy) => format!(" ({strategy})"),
        None => String::new(),
    };
    let (name, title) = (one_line(name), one_line(title));
    if context.out.width.is_none() {
        format!(
            "{}\t{}\t{name}\t{title}{strategy}",
            change.id, change.action
        )
    } else {
        format!(
            "{}: {title}{strategy}",
            context.out.paint(Style::Bold, &name)
        )
    }
}

fn places(places: &[(u32, u32)]) -> Value {
    places
        .iter()
        .map(|(first, last)| json!([first, last]))
        .collect()
}

/// Tells what a request would do.
pub(super) fn preview(context: &mut Context, action: Action, preview: &Preview) -> Result<()> {
    if context.out.json {
        return context.out.object(plan_object(action, preview));
    }
    context.out.diff(&preview.diff)?;
    context.out.flush()?;
    for note in &preview.notes {
        context.out.say(&clean(note));
    }
    for (name, title) in &preview.parts {
        let strategy = preview
            .strategy
            .as_ref()
            .map(|word| format!(" ({word})"))
            .unwrap_or_default();
        context.out.say(&format!(
            "{}: {}{strategy}",
            one_line(name),
            one_line(title)
        ));
    }
    let asks = match &preview.asks {
        Some(why) => format!("; it would become a proposal: {}", clean(why)),
        None => String::new(),
    };
    context
        .out
        .say(&format!("Dry run: nothing was written{asks}."));
    Ok(())
}

/// What a request would do, as data.
pub(in crate::cli) fn plan_object(action: Action, preview: &Preview) -> Value {
    let parts: Vec<Value> = preview
        .parts
        .iter()
        .map(|(name, title)| json!({"name": name, "title": title}))
        .collect();
    json!({
        "outcome": if preview.asks.is_some() { "would be proposed" } else { "would be applied" },
        "action": action.as_str(), "strategy": preview.strategy, "skills": parts, "places": places(&preview.places),
        "diff": preview.diff, "notes": preview.notes, "why": preview.asks, "dry_run": true,
    })
}

/// Tells what was cut short and is settled now.
pub(in crate::cli) fn tell_recovered(context: &Context, recovered: &[Recovered]) {
    for change in recovered {
        let names: Vec<String> = change
            .names
            .iter()
            .map(|name| format!("`{}`", one_line(name)))
            .collect();
        let what = format!(
            "{} of {} (change {})",
            change.action.replace('_', " "),
            names.join(", "),
            change.change_id
        );
        let trouble = change.trouble.as_deref().map(clean).unwrap_or_default();
        let words = match change.fate {
            Fate::Finished => format!("Finished what was cut short: {what}."),
            Fate::Discarded => format!("Cut short before anything was changed: {what}."),
            Fate::TakenBack => format!("Cut short and taken back: {what}: {trouble}."),
            Fate::Waits => format!("Cut short, and cannot be finished yet: {what}: {trouble}."),
        };
        let words = context.out.paint_err(Style::Warning, &words);
        context.out.warn(&words);
    }
}
