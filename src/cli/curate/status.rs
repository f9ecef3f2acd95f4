//! `skilldb curate status` and `report`.

use serde_json::{Value, json};

use super::super::output::{Style, one_line};
use super::{Context, gate_objects, known_now, last_done, settings};
use crate::curate::gates::{Call, call, gates};
use crate::curate::{Report, as_json, as_markdown};
use crate::error::Result;
use crate::store::{CuratorRun, RunStatus};
use crate::time::Timestamp;

/// Runs that are shown.
const SHOWN: u32 = 5;

pub(super) fn run(context: &mut Context) -> Result<()> {
    let store = context.read()?;
    let settings = settings(context);
    let gates = gates(settings.gates, &known_now(context, &store)?, context.now);
    let runs = store.curator_runs(SHOWN)?;
    let next = gates
        .iter()
        .filter(|gate| !gate.is_open)
        .map(|gate| gate.opens_at)
        .try_fold(None::<Timestamp>, |latest, at| {
            at.map(|at| latest.max(Some(at)))
        })
        .flatten();
    let what = match call(&gates, false) {
        Call::Run(_) => "a run is due now".to_owned(),
        Call::Mark => "the first run only notes the time".to_owned(),
        Call::Wait => match next {
            Some(at) => format!("the next run is due at {at}"),
            None => "no run is due while a gate is closed".to_owned(),
        },
    };
    if context.out.json {
        let runs: Vec<Value> = runs.iter().map(object).collect();
        return context.out.object(json!({
            "gates": gate_objects(&gates), "due": matches!(call(&gates, false), Call::Run(_)),
            "next_at": next.map(|at| at.to_string()), "next": what, "runs": runs,
        }));
    }
    for gate in &gates {
        let (word, style) = if gate.is_open {
            ("open", Style::Good)
        } else {
            ("closed", Style::Warning)
        };
        let line = if context.out.width.is_none() {
            format!("gate\t{}\t{word}\t{}", gate.name, one_line(&gate.why))
        } else {
            let word = context.out.paint(style, &format!("{word:<6}"));
            format!("{:<10} {word}  {}", gate.name, one_line(&gate.why))
        };
        context.out.line(&line)?;
    }
    for run in &runs {
        let line = told(context, run);
        context.out.line(&line)?;
    }
    context.out.flush()?;
    let mut what = what;
    if let Some(first) = what.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    context.out.say(&format!("{what}."));
    Ok(())
}

fn told(context: &Context, run: &CuratorRun) -> String {
    let problem = run
        .problem
        .as_ref()
        .map(|problem| format!(": {}", one_line(problem)));
    let what = match run.status {
        RunStatus::Failed => format!("failed{}", problem.unwrap_or_default()),
        _ => one_line(&run.summary),
    };
    if context.out.width.is_none() {
        return format!(
            "run\t{}\t{}\t{}\t{what}",
            run.id,
            run.started_at,
            run.status.as_str()
        );
    }
    let when = Timestamp::parse(&run.started_at)
        .map_or_else(|| run.started_at.clone(), |at| at.relative(context.now));
    format!("run {:<6} {when}: {what}", run.id)
}

fn object(run: &CuratorRun) -> Value {
    json!({
        "run": run.id, "started_at": run.started_at, "finished_at": run.finished_at, "status": run.status.as_str(),
        "started_by": run.actor, "forced": run.forced, "summary": run.summary, "problem": run.problem,
        "change": run.change_id, "snapshot": run.snapshot_id,
        "report": run.report_path.as_ref().map(|path| format!("{path}.md")),
    })
}

/// Shows the report of a run: the written one where it is there, else what the database holds of it.
pub(super) fn report(context: &mut Context, run: Option<i64>) -> Result<()> {
    let store = context.read()?;
    let run = match run {
        Some(run) => run,
        None => last_done(&store)?,
    };
    let run = store.curator_run(run)?;
    let written = run
        .report_path
        .as_ref()
        .and_then(|path| std::fs::read_to_string(format!("{path}.json")).ok());
    let report = written
        .and_then(|text| serde_json::from_str::<Report>(&text).ok())
        .or_else(|| serde_json::from_str(&run.plan).ok());
    let Some(report) = report else {
        if context.out.json {
            return context.out.object(object(&run));
        }
        let line = told(context, &run);
        return context.out.line(&line);
    };
    if context.out.json {
        let mut value = as_json(&report);
        if let Some(map) = value.as_object_mut() {
            map.shift_remove("schema_version");
        }
        return context.out.object(value);
    }
    context.out.bytes(as_markdown(&report).as_bytes())
}
