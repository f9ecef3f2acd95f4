//! What the curator would do and did, in words and as data.

use std::collections::HashMap;

use serde_json::{Value, json};

use super::super::output::{Style, clean, fit, one_line, plural};
use super::{Context, Mirror, gate_objects, is_run, say_closed, skills};
use crate::curate::gates::{Call, Gate};
use crate::curate::{Decision, Line, Outcome, Plan, Ran, Settings, as_json};
use crate::error::Result;
use crate::manage::Shield;

/// Tells what would be done.
pub(super) fn dry_run(
    context: &mut Context,
    plan: &Plan,
    mirror: &Mirror,
    (gates, call): (&[Gate], &Call),
) -> Result<()> {
    if context.out.json {
        let lines: Vec<Line> = plan.decisions.iter().map(Line::from).collect();
        let orphans: Vec<Value> = plan.orphans.iter().map(|orphan| {
            json!({"name": orphan.name, "id": orphan.id, "path": orphan.path, "missing_since": orphan.missing_since})
        }).collect();
        let differing: Vec<Value> = mirror
            .differing
            .iter()
            .map(|(name, what)| json!({"name": name, "what": what}))
            .collect();
        return context.out.object(json!({
            "dry_run": true, "now": plan.now.to_string(), "totals": totals(plan), "skills": lines, "orphans": orphans,
            "notices": plan.notices, "would_run": is_run(call), "gates": gate_objects(gates),
            "mirror": {"synced_at": mirror.synced_at.map(|at| at.to_string()), "changed_since": mirror.differing.len(),
                       "changed": differing, "cut_short": mirror.has_journal},
        }));
    }
    for outcome in Outcome::ALL {
        let group: Vec<&Decision> = plan
            .decisions
            .iter()
            .filter(|decision| decision.outcome == outcome)
            .collect();
        tell_group(context, outcome, &group)?;
    }
    for orphan in &plan.orphans {
        let (name, path) = (one_line(&orphan.name), one_line(&orphan.path));
        let line = if context.out.width.is_none() {
            format!(
                "orphan\t{name}\t\trecord without a folder\t{}\t\t{path}",
                orphan.missing_since
            )
        } else {
            format!("  {name}: a record without a folder; it lay in {path}")
        };
        context.out.line(&line)?;
    }
    context.out.flush()?;
    say_notices(context, plan);
    say_mirror(context, mirror);
    context
        .out
        .say(&format!("{}: {}.", skills(plan), counts(plan)));
    match call {
        Call::Run(forced) if forced.is_empty() => {
            context
                .out
                .say("`skilldb curate` would run now. Dry run: nothing was written.");
        }
        Call::Run(_) => {
            say_closed(context, gates);
            context
                .out
                .say("`skilldb curate --force` would override that. Dry run: nothing was written.");
        }
        Call::Mark | Call::Wait => {
            say_closed(context, gates);
            context.out.say("`skilldb curate` would change nothing now; with --force it would do the above. Dry run: nothing was written.");
        }
    }
    Ok(())
}

fn tell_group(context: &mut Context, outcome: Outcome, group: &[&Decision]) -> Result<()> {
    let Some(width) = context.out.width else {
        return group.iter().try_for_each(|decision| {
            let line = record(decision);
            context.out.line(&line)
        });
    };
    if group.is_empty() {
        return Ok(());
    }
    let title = match outcome {
        Outcome::Archive => "Archive",
        Outcome::Ask => "Archive, after asking",
        Outcome::MarkStale => "Mark stale",
        Outcome::Reactivate => "Active again",
        Outcome::Keep => "Keep",
    };
    let title = context
        .out
        .paint(Style::Bold, &format!("{title} ({})", group.len()));
    context.out.line(&title)?;
    // Where a name stands twice, the path says which is which.
    let mut copies: HashMap<&str, usize> = HashMap::new();
    for decision in group {
        *copies.entry(&decision.name).or_default() += 1;
    }
    let label = |decision: &Decision| match copies.get(decision.name.as_str()) {
        Some(2..) => one_line(&format!("{} ({})", decision.name, decision.rel_path)),
        _ => one_line(&decision.name),
    };
    let labels: Vec<String> = group.iter().map(|decision| label(decision)).collect();
    let longest = labels.iter().map(|label| label.chars().count()).max();
    let name_width = longest.unwrap_or(0).clamp(4, 32);
    for (decision, label) in group.iter().zip(&labels) {
        let idle = decision
            .idle_days
            .map_or(String::new(), |days| format!("{days} d"));
        let room = width.saturating_sub(name_width + 12).max(20);
        let mut why = one_line(&decision.reason);
        // What else protects it.
        for shield in decision.shields.iter().skip(1) {
            why.push_str("; ");
            why.push_str(&one_line(&shield.why()));
        }
        let line = format!(
            "  {}  {idle:>6}  {}",
            padded(label, name_width),
            fit(&why, room)
        );
        context.out.line(line.trim_end())?;
        for notice in &decision.notices {
            let words = context.out.paint(Style::Warning, &one_line(notice));
            context
                .out
                .line(&format!("  {:name_width$}          {words}", ""))?;
        }
    }
    Ok(())
}

fn padded(name: &str, width: usize) -> String {
    let name = fit(name, width);
    let gap = width.saturating_sub(name.chars().count());
    format!("{name}{}", " ".repeat(gap))
}

/// One skill as a record: outcome, name, idle days, why, since when, what protects it, where it lies.
fn record(decision: &Decision) -> String {
    let shields: Vec<&str> = decision.shields.iter().map(Shield::code).collect();
    let mut why = decision.reason.clone();
    for notice in &decision.notices {
        why.push_str("; ");
        why.push_str(notice);
    }
    [
        decision.outcome.as_str().to_owned(),
        one_line(&decision.name),
        decision
            .idle_days
            .map_or(String::new(), |days| days.to_string()),
        one_line(&why),
        decision
            .anchor
            .at
            .map_or(String::new(), |at| at.to_string()),
        shields.join(","),
        one_line(&decision.path.to_string_lossy()),
    ]
    .join("\t")
}

fn totals(plan: &Plan) -> Value {
    let count = |outcome: Outcome| (outcome.as_str().to_owned(), json!(plan.count(outcome)));
    let mut totals: serde_json::Map<String, Value> = Outcome::ALL.into_iter().map(count).collect();
    totals.insert("orphans".to_owned(), json!(plan.orphans.len()));
    totals.insert("considered".to_owned(), json!(plan.decisions.len()));
    Value::Object(totals)
}

fn counts(plan: &Plan) -> String {
    let count = |outcome| plan.count(outcome);
    let mut words = vec![format!("{} to archive", count(Outcome::Archive))];
    if count(Outcome::Ask) > 0 {
        words.push(format!("{} to ask about", count(Outcome::Ask)));
    }
    words.push(format!("{} to mark stale", count(Outcome::MarkStale)));
    words.push(format!("{} active again", count(Outcome::Reactivate)));
    words.push(format!("{} kept", count(Outcome::Keep)));
    if !plan.orphans.is_empty() {
        words.push(plural(plan.orphans.len() as u64, "record") + " without a folder");
    }
    words.join(", ")
}

fn say_notices(context: &Context, plan: &Plan) {
    for notice in &plan.notices {
        let words = context.out.paint_err(Style::Warning, &clean(notice));
        context.out.say(&words);
    }
}

fn say_mirror(context: &Context, mirror: &Mirror) {
    let age = match mirror.synced_at {
        Some(at) if context.out.width.is_some() => at.relative(context.now),
        Some(at) => format!("at {at}"),
        None => "at a time that was not noted".to_owned(),
    };
    let count = mirror.differing.len();
    let since = match count {
        0 => "no file changed since".to_owned(),
        count => {
            let names: Vec<String> = mirror
                .differing
                .iter()
                .take(5)
                .map(|(name, what)| format!("{} ({what})", one_line(name)))
                .collect();
            let more = if count > names.len() { ", ..." } else { "" };
            format!(
                "the files of {} changed since, which a sync would tell: {}{more}",
                plural(count as u64, "skill"),
                names.join(", ")
            )
        }
    };
    context
        .out
        .say(&format!("The mirror was last written {age}; {since}."));
    if mirror.has_journal {
        let words = "A change was cut short: the next command that may write settles it first.";
        context
            .out
            .say(&context.out.paint_err(Style::Warning, words));
    }
}

/// Tells what a run did.
pub(super) fn ran(context: &mut Context, settings: &Settings, ran: &Ran) -> Result<()> {
    match ran {
        Ran::Waits(gates) => {
            if context.out.json {
                let object = json!({"dry_run": false, "ran": false, "marked": false, "gates": gate_objects(gates)});
                return context.out.object(object);
            }
            say_closed(context, gates);
            let is_locked = gates
                .iter()
                .any(|gate| gate.name == "lock" && !gate.is_open);
            context.out.say(if is_locked {
                "Nothing was changed."
            } else {
                "Nothing was changed. `skilldb curate --dry-run` shows what a run would do, --force runs all the same."
            });
            Ok(())
        }
        Ran::Marked(gates) => {
            if context.out.json {
                let object = json!({"dry_run": false, "ran": false, "marked": true, "gates": gate_objects(gates)});
                return context.out.object(object);
            }
            context.out.say(&format!(
                "First run: the time was noted and nothing changed; the next run is due in {} h. `skilldb curate --dry-run` shows what it would do, --force does it now.",
                settings.gates.interval_hours
            ));
            Ok(())
        }
        Ran::Done {
            run,
            plan,
            report,
            trouble,
        } => {
            if context.out.json {
                let mut object = as_json(report);
                if let Some(map) = object.as_object_mut() {
                    map.shift_remove("schema_version");
                    map.insert("dry_run".to_owned(), json!(false));
                    map.insert("ran".to_owned(), json!(true));
                    map.insert("totals".to_owned(), totals(plan));
                    map.insert(
                        "report".to_owned(),
                        json!(run.report_path.as_ref().map(|path| format!("{path}.md"))),
                    );
                    map.insert("trouble".to_owned(), json!(trouble));
                }
                return context.out.object(object);
            }
            for outcome in Outcome::ALL
                .into_iter()
                .filter(|outcome| *outcome != Outcome::Keep)
            {
                let group: Vec<&Decision> = plan
                    .decisions
                    .iter()
                    .filter(|decision| decision.outcome == outcome)
                    .collect();
                tell_group(context, outcome, &group)?;
            }
            context.out.flush()?;
            for notice in &report.notices {
                let words = context.out.paint_err(Style::Warning, &clean(notice));
                context.out.say(&words);
            }
            if !report.forced.is_empty() {
                let gates = report.forced.join(", ");
                context
                    .out
                    .say(&format!("Closed gates overridden: {gates}."));
            }
            for proposal in &report.proposals {
                context.out.say(&format!(
                    "Proposal {proposal} waits for a person: `skilldb proposals show {proposal}`."
                ));
            }
            let undo = match &report.undo {
                Some(undo) => format!("; `{undo}` takes it back"),
                None => String::new(),
            };
            context
                .out
                .say(&format!("Run {}: {}{undo}.", run.id, report.summary));
            match (&run.report_path, trouble) {
                (Some(path), None) => context.out.say(&format!("Report: {path}.md")),
                (_, Some(trouble)) => {
                    let words = format!(
                        "The report could not be written: {trouble}; `skilldb curate report {}` shows it.",
                        run.id
                    );
                    context.out.warn(&words);
                }
                (None, None) => {}
            }
            Ok(())
        }
    }
}
