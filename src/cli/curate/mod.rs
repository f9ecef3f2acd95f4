//! `skilldb curate`.

mod status;
mod tell;

use clap::Subcommand;
use serde_json::json;

use super::change::{self, Writing, tell_recovered};
use super::output::{Style, clean, plural};
use super::{Context, progress};
use crate::curate::gates::{self, Call, Gate, Known};
use crate::curate::{self, Asked, Periods, Plan, Settings};
use crate::error::{Error, Result};
use crate::manage::{self, Who, Writer};
use crate::store::{RunLock, Store};
use crate::sync::{self, Selection};
use crate::time::Timestamp;

/// Mark idle skills stale, and archive what is idle for long
///
/// Only what agents made and no person changed since is touched; nothing is ever deleted. --dry-run prints what would
/// happen to every skill, and why, and writes nothing. A run is one change, which `undo --curator-run` takes back; a
/// report is written to reports/ in the library's home. Runs wait for their gates: see `skilldb curate status`.
///
/// A skill's idle time counts from its newest use, view or reading of a file by a person or an agent at work, its
/// newest change by a person, an agent or by hand, the moment it came back from the archive, and the use of what it
/// absorbed; else from when it was made. After 30 days it is stale, after 90 archived: `curator` in the configuration
/// says otherwise, also for a category or a tag.
#[derive(Debug, clap::Args)]
#[command(
    args_conflicts_with_subcommands = true,
    override_usage = "skilldb curate [OPTIONS] [COMMAND]",
    after_help = "Examples:
  skilldb curate --dry-run
  skilldb curate
  skilldb curate --force --reason 'cleaning up before the release'
  skilldb undo --curator-run 3
  skilldb curate status"
)]
pub(super) struct Args {
    #[command(subcommand)]
    command: Option<Command>,
    /// Run although a gate is closed; which one is told. Only a person may
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    writing: Writing,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Show each gate, the last runs, and what comes next
    #[command(after_help = "Examples:
  skilldb curate status")]
    Status,
    /// Keep the curator from running until `resume`
    #[command(after_help = "Examples:
  skilldb curate pause --reason 'release week'")]
    Pause(StateArgs),
    /// Let the curator run again
    #[command(after_help = "Examples:
  skilldb curate resume")]
    Resume(StateArgs),
    /// Show the report of a run
    #[command(after_help = "Examples:
  skilldb curate report
  skilldb curate report 3 --json")]
    Report {
        /// Its number [default: the last run that did something]
        run: Option<i64>,
    },
}

#[derive(Debug, clap::Args)]
struct StateArgs {
    #[command(flatten)]
    writing: Writing,
}

pub(super) fn run(context: &mut Context, args: &Args) -> Result<()> {
    match &args.command {
        None if args.writing.dry_run => dry_run(context, args),
        None => wet_run(context, args),
        Some(Command::Status) => status::run(context),
        Some(Command::Pause(state)) => pause(context, &state.writing, true),
        Some(Command::Resume(state)) => pause(context, &state.writing, false),
        Some(Command::Report { run }) => status::report(context, *run),
    }
}

/// What the configuration says.
fn settings(context: &Context) -> Settings {
    let curator = &context.config.curator;
    let values = |list: &[crate::config::Setting<(String, _)>]| {
        list.iter().map(|setting| setting.value.clone()).collect()
    };
    Settings {
        gates: gates::Settings {
            enabled: curator.enabled.value,
            interval_hours: curator.interval_hours.value,
            min_idle_hours: curator.min_idle_hours.value,
        },
        periods: Periods {
            otherwise: curator.ageing.value,
            categories: values(&curator.categories),
            tags: values(&curator.tags),
        },
        automations: change::settings(context).automations,
        policy: context.config.policy.clone(),
    }
}

/// Says what would be done to each skill. Takes no lock, recovers nothing, writes nothing.
fn dry_run(context: &mut Context, args: &Args) -> Result<()> {
    let store = context.read_only()?;
    let settings = settings(context);
    let manage = change::settings(context);
    let plan = curate::plan_now(&store, &settings, &manage, context.now)?;
    let mirror = Mirror::look(context, &store)?;
    let is_running = RunLock::is_held(&context.config.home.value);
    let known = curate::known(&store, is_running, context.now)?;
    let gates = gates::gates(settings.gates, &known, context.now);
    let who = args.writing.who(context)?;
    if args.force {
        manage::only_people(who.actor, "run the curator against its gates")?;
    }
    let call = gates::call(&gates, args.force);
    tell::dry_run(context, &plan, &mirror, (&gates, &call))
}

/// How far the mirror is from the files.
struct Mirror {
    /// When a sync last wrote it.
    synced_at: Option<Timestamp>,
    /// Skills that are new, changed, moved, gone or back since.
    differing: Vec<(String, &'static str)>,
    /// Whether a change was cut short and waits for the next command.
    has_journal: bool,
}

impl Mirror {
    fn look(context: &Context, store: &Store) -> Result<Self> {
        let options = sync::Options {
            rebuild: false,
            checksum: false,
            allow_mass_delete: false,
            dry_run: true,
            support_budget: context.config.support_budget.value,
        };
        let nothing = |_: &mut Store| Ok(());
        let report = sync::sync(
            &context.config.home.value,
            Selection::Known(&[]),
            options,
            context.now,
            (progress::for_stderr().as_ref(), &nothing),
        )?;
        let mut differing = Vec::new();
        for (what, list) in [
            ("new", &report.added),
            ("changed", &report.changed),
            ("gone", &report.missing),
            ("back", &report.back),
        ] {
            differing.extend(list.iter().map(|touched| (touched.name.clone(), what)));
        }
        differing.extend(
            report
                .moved
                .iter()
                .map(|moved| (moved.name.clone(), "moved")),
        );
        Ok(Self {
            synced_at: store.synced_at()?.and_then(|at| Timestamp::parse(&at)),
            differing,
            has_journal: store.has_journal()?,
        })
    }
}

fn wet_run(context: &mut Context, args: &Args) -> Result<()> {
    let who = args.writing.who(context)?;
    if args.force {
        manage::only_people(who.actor, "run the curator against its gates")?;
    }
    // Taken first, and held until the end: a second run sees it and steps back.
    let lock = match context.read_only() {
        Ok(_) => RunLock::try_take(&context.config.home.value)?,
        Err(error) => return Err(error),
    };
    let mut writer = open(context)?;
    let asked = Asked {
        who,
        is_forced: args.force,
        is_running: lock.is_none(),
    };
    let settings = settings(context);
    let progress = progress::for_stderr();
    let ran = curate::run(&mut writer, &settings, &asked, progress.as_ref())?;
    tell::ran(context, &settings, &ran)
}

/// Opens the door, and writes reports that a kill left out.
fn open(context: &Context) -> Result<Writer> {
    let mut writer = Writer::open(change::settings(context), progress::for_stderr().as_ref())?;
    tell_recovered(context, writer.recovered());
    curate::rewrite_reports(&mut writer)?;
    Ok(writer)
}

fn pause(context: &mut Context, writing: &Writing, is_paused: bool) -> Result<()> {
    let who: Who = writing.who(context)?;
    let is_news = if writing.dry_run {
        context.read()?.curator_pause()?.is_some() != is_paused
    } else {
        open(context)?.pause_curator(&who, is_paused)?
    };
    if context.out.json {
        let object = json!({"paused": is_paused, "changed": is_news, "dry_run": writing.dry_run});
        return context.out.object(object);
    }
    let words = match (is_paused, is_news, writing.dry_run) {
        (true, true, false) => "The curator is paused; `skilldb curate resume` lets it run again.",
        (true, true, true) => "The curator would be paused. Dry run: nothing was written.",
        (true, false, _) => "The curator is paused already.",
        (false, true, false) => "The curator may run again.",
        (false, true, true) => "The curator would be let run again. Dry run: nothing was written.",
        (false, false, _) => "The curator is not paused.",
    };
    context.out.say(words);
    Ok(())
}

/// The gates as data.
fn gate_objects(gates: &[Gate]) -> serde_json::Value {
    gates
        .iter()
        .map(|gate| {
            json!({"gate": gate.name, "open": gate.is_open, "why": gate.why,
                   "opens_at": gate.opens_at.map(|at| at.to_string())})
        })
        .collect()
}

/// Says why nothing is done, or what was overridden.
fn say_closed(context: &Context, gates: &[Gate]) {
    for gate in gates.iter().filter(|gate| !gate.is_open) {
        let words = format!("{}: {}", gate.name, gate.why);
        let words = context.out.paint_err(Style::Warning, &clean(&words));
        context.out.say(&words);
    }
}

fn skills(plan: &Plan) -> String {
    plural(plan.decisions.len() as u64, "skill")
}

/// The newest run that did something.
fn last_done(store: &Store) -> Result<i64> {
    let runs = store.curator_runs(1_000)?;
    let done = runs
        .iter()
        .find(|run| run.status == crate::store::RunStatus::Done);
    done.map(|run| run.id).ok_or_else(|| Error::Denied {
        code: "run-not-found",
        message: "the curator has not run yet".to_owned(),
        hint: Some("`skilldb curate --dry-run` shows what it would do".to_owned()),
    })
}

fn known_now(context: &Context, store: &Store) -> Result<Known> {
    let is_running = RunLock::is_held(&context.config.home.value);
    curate::known(store, is_running, context.now)
}

/// Whether a call does something.
fn is_run(call: &Call) -> bool {
    matches!(call, Call::Run(_))
}
