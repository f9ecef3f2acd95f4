//! A run of the curator: gates, plan, snapshot, one change, report.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use super::gates::{self, Call, Gate, Known, call, gates};
use super::plan::{Decision, Outcome, Plan};
use super::report::Report;
use super::rules::{Periods, Rules, decide_all};
use crate::error::Result;
use crate::manage::{self, Due, Policy, Request, Who, Writer, named_by_automations, obstacle};
use crate::store::{Actor, CuratorRun, NewCuratorRun, RunStatus, SkillFacts, Store};
use crate::sync::Progress;
use crate::time::Timestamp;

/// How often a plan is made anew because skills changed while they were looked at.
const TRIES: u32 = 3;

/// What the configuration says.
#[derive(Debug, Clone)]
pub struct Settings {
    /// When it may run.
    pub gates: gates::Settings,
    /// What ages how fast.
    pub periods: Periods,
    /// Files of the user that name skills.
    pub automations: Vec<PathBuf>,
    /// Who may change what.
    pub policy: Policy,
}

/// Who asks for a run.
#[derive(Debug, Clone)]
pub struct Asked {
    /// Who, in which session, and why.
    pub who: Who,
    /// Whether closed gates are overridden.
    pub is_forced: bool,
    /// Whether another run is under way.
    pub is_running: bool,
}

/// What became of it.
#[derive(Debug, Clone, PartialEq)]
pub enum Ran {
    /// A gate is closed: nothing was done.
    Waits(Vec<Gate>),
    /// The first run: the time was noted.
    Marked(Vec<Gate>),
    /// It is done.
    Done {
        /// The run as it is noted.
        run: Box<CuratorRun>,
        /// What was decided.
        plan: Box<Plan>,
        /// What is told of it.
        report: Box<Report>,
        /// What could not be written of the report.
        trouble: Option<String>,
    },
}

/// What the library knows about when the curator may run.
///
/// # Errors
/// [`crate::Error::Database`].
pub fn known(store: &Store, is_running: bool, now: Timestamp) -> Result<Known> {
    let read = |text: Option<String>| text.and_then(|text| Timestamp::parse_lenient(&text));
    Ok(Known {
        pause: store.curator_pause()?,
        booked_at: read(store.curator_booked_at()?),
        active_at: read(store.last_foreground_at(now)?),
        noted_at: read(store.last_entry_at()?),
        is_running,
    })
}

/// Decides about every skill as the library knows it now. Writes nothing.
///
/// # Errors
/// [`crate::Error::Database`].
pub fn plan_now(
    store: &Store,
    settings: &Settings,
    manage: &manage::Settings,
    now: Timestamp,
) -> Result<Plan> {
    let rows = store.curation_rows()?;
    let facts: Vec<&SkillFacts> = rows.iter().map(|row| &row.facts).collect();
    let named = named_by_automations(store, &settings.automations, &facts)?;
    let tags = if settings.periods.tags.is_empty() {
        std::collections::HashMap::new()
    } else {
        store.tags_by_skill()?
    };
    let mut notices = named.unread.clone();
    notices.extend(named.missing.iter().map(|path| {
        format!(
            "{} is listed under `automations` and is not there",
            path.display()
        )
    }));
    let rules = Rules {
        periods: &settings.periods,
        policy: &settings.policy,
        named: &named,
        tags: &tags,
        now,
    };
    let mut decisions = decide_all(rows, rules);
    for decision in decisions
        .iter_mut()
        .filter(|decision| decision.outcome == Outcome::Archive)
    {
        if let Some(why) = obstacle(store, manage, decision.skill)? {
            decision.outcome = Outcome::Keep;
            decision.reason = format!("{}; {why}", decision.reason);
        }
    }
    decisions.sort_by_key(|decision| decision.outcome);
    Ok(Plan {
        now,
        decisions,
        orphans: store.orphans()?,
        notices,
    })
}

/// Runs the curator, if the gates let it.
///
/// # Errors
/// [`crate::Error::Conflict`] and the like when the change could not be made: then nothing was changed, and the run
/// books nothing.
pub fn run(
    writer: &mut Writer,
    settings: &Settings,
    asked: &Asked,
    progress: &dyn Progress,
) -> Result<Ran> {
    let now = writer.now();
    let known = known(writer.store(), asked.is_running, now)?;
    let gates = gates(settings.gates, &known, now);
    let forced = match call(&gates, asked.is_forced) {
        Call::Wait => return Ok(Ran::Waits(gates)),
        Call::Mark => {
            let mark = NewCuratorRun {
                status: RunStatus::Marked,
                actor: asked.who.actor.as_str(),
                forced: None,
                plan: "{}",
                summary: "first run: the time was noted, nothing else",
            };
            writer.note_run(&mark)?;
            return Ok(Ran::Marked(gates));
        }
        Call::Run(forced) => forced,
    };
    let words = forced.join(", ");
    let id = writer.note_run(&NewCuratorRun {
        status: RunStatus::Running,
        actor: asked.who.actor.as_str(),
        forced: (!forced.is_empty()).then_some(words.as_str()),
        plan: "{}",
        summary: "under way",
    })?;
    match perform(writer, settings, asked, (id, &forced), progress) {
        Ok(ran) => Ok(ran),
        Err(error) => {
            writer.fail_run(id, &error.to_string())?;
            Err(error)
        }
    }
}

fn perform(
    writer: &mut Writer,
    settings: &Settings,
    asked: &Asked,
    (id, forced): (i64, &[&'static str]),
    progress: &dyn Progress,
) -> Result<Ran> {
    let who = Who {
        actor: Actor::Curator,
        session: asked.who.session.clone(),
        reason: asked.who.reason.clone(),
    };
    let plan = settled_plan(writer, settings)?;
    let mut report = Report::new(id, &plan, asked.who.actor.as_str(), forced);
    let due: Vec<Due> = plan.due().filter_map(due_of).collect();
    if !due.is_empty() {
        let ids: Vec<i64> = due.iter().map(|due| due.skill).collect();
        let made = writer.snapshot_of(
            &who,
            &ids,
            &format!("before run {id} of the curator"),
            progress,
        )?;
        report.snapshot = Some(made.id);
        report.notices.extend(
            made.left_out
                .iter()
                .map(|(path, why)| format!("{} is not in the snapshot: {why}", path.display())),
        );
    }
    report.undo = (!due.is_empty()).then(|| format!("skilldb undo --curator-run {id}"));
    let text = serde_json::to_string(&report).unwrap_or_default();
    writer.plan_run(id, (&text, &report.summary), report.snapshot)?;
    let left = writer.age(&who, id, &due)?;
    let mut plan = plan;
    if !left.is_empty() {
        plan.keep(
            &left
                .iter()
                .map(|(skill, _, why)| (*skill, format!("was left alone: {why}")))
                .collect(),
        );
        let (snapshot, undo, notices) =
            (report.snapshot, report.undo.clone(), report.notices.clone());
        report = Report::new(id, &plan, asked.who.actor.as_str(), forced);
        (report.snapshot, report.undo, report.notices) = (snapshot, undo, notices);
    }
    for decision in plan
        .decisions
        .iter()
        .filter(|decision| decision.outcome == Outcome::Ask)
    {
        let request = Request::Archive {
            skill: decision.skill,
            as_delete: false,
        };
        match writer.run(&who, &request) {
            Ok(manage::Outcome::Proposed { id, .. }) => report.proposals.push(id),
            Ok(manage::Outcome::Done(_)) => {}
            Err(error) => report.notices.push(format!("`{}`: {error}", decision.name)),
        }
    }
    report.notices.extend(
        left.iter()
            .map(|(_, name, why)| format!("`{name}` was left alone: {why}")),
    );
    let run = writer.store().curator_run(id)?;
    report.change = run.change_id;
    let text = serde_json::to_string(&report).unwrap_or_default();
    writer.plan_run(id, (&text, &report.summary), report.snapshot)?;
    let full = report.clone().with_kept(&plan);
    let trouble = put_report(writer, &full);
    Ok(Ran::Done {
        run: Box::new(writer.store().curator_run(id)?),
        plan: Box::new(plan),
        report: Box::new(report),
        trouble,
    })
}

/// A plan of skills that are as the plan says: each one that is due is read again first, so that what a person wrote
/// into it meanwhile protects it.
fn settled_plan(writer: &mut Writer, settings: &Settings) -> Result<Plan> {
    let now = writer.now();
    let mut plan = plan_now(writer.store(), settings, writer.settings(), now)?;
    let mut gone = HashMap::new();
    for _ in 0..TRIES {
        let before = writer.store().generation()?;
        let due: Vec<i64> = plan.due().map(|decision| decision.skill).collect();
        for id in due {
            match writer.look_again(id) {
                Ok(()) => gone.remove(&id),
                // What lies there now, if anything, is not the skill that has aged.
                Err(error) => gone.insert(id, error.to_string()),
            };
        }
        if writer.store().generation()? == before {
            break;
        }
        plan = plan_now(writer.store(), settings, writer.settings(), now)?;
    }
    gone.extend(reached_elsewhere(writer, &plan)?);
    plan.keep(&gone);
    Ok(plan)
}

/// Skills to be put away whose folder is a skill of another root as well, through a link: its uses are counted there.
fn reached_elsewhere(writer: &Writer, plan: &Plan) -> Result<HashMap<i64, String>> {
    let put_away =
        |decision: &&Decision| matches!(decision.outcome, Outcome::Archive | Outcome::Ask);
    let mut reached = HashMap::new();
    if plan.due().find(put_away).is_none() {
        return Ok(reached);
    }
    let mut links: HashMap<PathBuf, PathBuf> = HashMap::new();
    for skill in writer.store().list_skills(false)? {
        let path = PathBuf::from(skill.path);
        if let Some(real) = path.canonicalize().ok().filter(|real| *real != path) {
            links.insert(real, path);
        }
    }
    for decision in plan.due().filter(put_away) {
        let real = decision.path.canonicalize();
        let link = real.ok().and_then(|real| links.get(&real).cloned());
        if let Some(link) = link.filter(|link| *link != decision.path) {
            let why = format!("is also the skill at {}: uses count there", link.display());
            reached.insert(decision.skill, why);
        }
    }
    Ok(reached)
}

fn due_of(decision: &Decision) -> Option<Due> {
    Some(Due {
        skill: decision.skill,
        to: decision.outcome.state()?,
        reason: decision.reason.clone(),
        anchor: decision.anchor.at.map(|at| at.to_string()),
    })
}

/// Writes a report; returns what went wrong. The run is done all the same.
fn put_report(writer: &mut Writer, report: &Report) -> Option<String> {
    let written = report.write(&writer.settings().home);
    let noted = written.and_then(|path| writer.note_report(report.run, &path.to_string_lossy()));
    noted.err().map(|error| error.to_string())
}

/// Writes the reports of runs that were finished after a kill: they have none yet.
///
/// # Errors
/// [`crate::Error::Database`].
pub fn rewrite_reports(writer: &mut Writer) -> Result<()> {
    for run in writer.store().curator_runs(20)? {
        let is_there = run.report_path.as_deref().is_some_and(|path| {
            Path::new(&format!("{path}.json")).exists() && Path::new(&format!("{path}.md")).exists()
        });
        if run.status != RunStatus::Done || run.report_path.is_some() || is_there {
            continue;
        }
        if let Ok(mut report) = serde_json::from_str::<Report>(&run.plan) {
            report.change = run.change_id;
            put_report(writer, &report);
        }
    }
    Ok(())
}
