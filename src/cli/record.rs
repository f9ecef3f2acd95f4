//! `skilldb record`.

use std::collections::BTreeMap;
use std::io::{BufReader, stdin};
use std::path::Path;

use clap::ValueEnum;
use serde_json::json;

use super::output::{clean, plural, tell};
use super::{Context, client_folders};
use crate::error::{Error, ErrorKind, Result};
use crate::store::{Candidate, NamedSkill, Store};
use crate::time::Timestamp;
use crate::usage::{self, Meant, Recorded, Recording, Resolver};

/// Record that a skill was used, viewed, or one of its files was read
///
/// One event, or with `-` one JSON object a line on standard input with the same fields
/// (kind, name, event_id, at, ok, trigger, actor, client, session, project, tokens_in, tokens_out, ...).
/// The same event id is counted once. A name that is not installed is kept, and linked when the skill
/// appears.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  skilldb record use deploy --client my-agent --session 42
  skilldb record view release-notes --trigger slash --event-id msg-17
  skilldb record file release-notes --file references/style.md
  echo '{\"kind\":\"use\",\"name\":\"deploy\",\"ok\":false}' | skilldb record -
  skilldb record use deploy --best-effort        for hooks: always exit 0")]
pub(super) struct Args {
    /// What was done, or `-` for lines of JSON on standard input
    #[arg(value_name = "KIND", value_enum)]
    kind: Kind,
    /// The skill
    #[arg(value_name = "NAME", required_if_eq_any = [("kind", "use"), ("kind", "view"), ("kind", "file")])]
    name: Option<String>,
    /// The agent or program that used it
    #[arg(long, value_name = "CLIENT")]
    client: Option<String>,
    /// Its session
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// An id by which the event is counted once, however often it is sent
    #[arg(long, value_name = "ID")]
    event_id: Option<String>,
    /// When; now where it is not said
    #[arg(long, value_name = "TIME")]
    at: Option<String>,
    /// It went well
    #[arg(long, conflicts_with = "failed")]
    ok: bool,
    /// It failed
    #[arg(long)]
    failed: bool,
    /// Tokens that were read
    #[arg(long, value_name = "N")]
    tokens_in: Option<u64>,
    /// Tokens that were written
    #[arg(long, value_name = "N")]
    tokens_out: Option<u64>,
    /// model, slash, preload, subagent, automation or cli
    #[arg(long, value_name = "TRIGGER")]
    trigger: Option<String>,
    /// user, agent, background_review or curator; the last two count apart
    #[arg(long, value_name = "ACTOR")]
    actor: Option<String>,
    /// The folder that was worked in
    #[arg(long, value_name = "DIR")]
    project: Option<String>,
    /// With `file`: which file of the skill
    #[arg(long, value_name = "FILE")]
    file: Option<String>,
    /// What the skill was called with
    #[arg(long, value_name = "TEXT")]
    args: Option<String>,
    /// The skill's folder, where several skills have the name
    #[arg(long, value_name = "DIR")]
    path: Option<String>,
    /// Never fail: exit 0, and one line about what went wrong; what could not be written is kept for later
    #[arg(long)]
    best_effort: bool,
    /// Say what would be recorded and do nothing
    #[arg(long)]
    dry_run: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Kind {
    /// Followed for a task
    Use,
    /// Shown to a model or person
    View,
    /// One of its files was read
    File,
    /// Lines of JSON on standard input
    #[value(name = "-")]
    Lines,
}

impl Args {
    /// Whether trouble with the library must not fail the caller.
    pub(super) fn is_best_effort(&self) -> bool {
        self.best_effort
    }

    fn recording(&self, context: &Context) -> Recording {
        let kind = match self.kind {
            Kind::View => "view",
            Kind::File => "file",
            Kind::Use | Kind::Lines => "use",
        };
        let outcome = self.failed.then_some(false).or(self.ok.then_some(true));
        Recording {
            kind: Some(kind.to_owned()),
            name: self.name.clone().unwrap_or_default(),
            event_id: self.event_id.clone(),
            at: self.at.clone(),
            ok: outcome,
            trigger: self.trigger.clone(),
            actor: self.actor.clone(),
            client: self.client.clone(),
            session: self.session.clone(),
            project: self.project.clone(),
            machine: Some(context.config.machine.clone()),
            path: self.path.clone(),
            file: self.file.clone(),
            args: self.args.clone(),
            tokens_in: self.tokens_in,
            tokens_out: self.tokens_out,
            ..Recording::default()
        }
    }
}

pub(super) fn run(context: &mut Context, args: &Args) -> Result<()> {
    if args.kind == Kind::Lines {
        return lines(context, args);
    }
    let recording = args.recording(context);
    // Wrong words are wrong however lenient the call: nobody would notice later.
    recording.clone().event(context.now, None)?;
    match one(context, args, recording.clone()) {
        Err(error) if args.best_effort && is_trouble(&error) => {
            keep(context, recording, &error);
            Ok(())
        }
        other => other,
    }
}

/// Whether the library, not the call, is to blame.
fn is_trouble(error: &Error) -> bool {
    error.kind() == ErrorKind::Store || matches!(error, Error::Io { .. })
}

/// Keeps what could not be recorded, and says so in one line.
fn keep(context: &Context, recording: Recording, error: &Error) {
    let home = &context.config.home.value;
    let words = clean(&error.to_string()).into_owned();
    match usage::keep_for_later(home, recording, context.now) {
        Ok(()) => tell(&format!("skilldb: {words}; the event is kept for later")),
        Err(lost) => tell(&format!(
            "skilldb: {words}; {}; the event is lost",
            clean(&lost.to_string())
        )),
    }
}

fn one(context: &mut Context, args: &Args, mut recording: Recording) -> Result<()> {
    let home = context.config.home.value.clone();
    let mut store = open(&home, context.now)?;
    if args.best_effort {
        store.be_brief()?;
    }
    let roots = client_folders(&context.config);
    let mut resolver = Resolver::new(&roots);
    let name = recording.name.clone();
    // A path as a shell completes it.
    if name.starts_with("./") || name.starts_with("../") {
        let path = context.config.cwd.join(&name);
        let path = path.canonicalize().unwrap_or(path);
        recording.name = path.to_string_lossy().into_owned();
    }
    let recorded = if args.dry_run {
        usage::rehearse(&store, &mut resolver, recording, context.now)?
    } else {
        if !args.best_effort
            && let Meant::Several(skills) = usage::find_meant(&store, &mut resolver, &recording)?
        {
            return Err(ambiguous(&name, &skills));
        }
        usage::record(&mut store, &mut resolver, recording, context.now)?
    };
    if !args.dry_run {
        usage::absorb(&home, &mut store, &mut resolver, context.now)?;
    }
    drop(resolver);
    drop(roots);
    say(context, args, &name, &recorded)
}

/// Opens the database for a few rows; makes an empty one when there is none, because what is used
/// before the first sync counts, too.
pub(super) fn open(home: &Path, now: Timestamp) -> Result<Store> {
    if let Some(store) = Store::open(home, now)? {
        return Ok(store);
    }
    Store::create_empty(home)?;
    Store::open(home, now)?.ok_or_else(|| Error::NoLibrary {
        path: home.join(crate::store::FILE_NAME),
    })
}

fn ambiguous(name: &str, skills: &[NamedSkill]) -> Error {
    let candidates = skills
        .iter()
        .map(|skill| Candidate {
            id: skill.id,
            address: if skills
                .iter()
                .filter(|other| other.rel_path == skill.rel_path)
                .count()
                == 1
                && skill.rel_path.contains('/')
            {
                skill.rel_path.clone()
            } else {
                skill.path()
            },
            path: skill.path(),
        })
        .collect();
    Error::AmbiguousName {
        name: name.to_owned(),
        candidates,
    }
}

fn say(context: &mut Context, args: &Args, name: &str, recorded: &Recorded) -> Result<()> {
    let skill = recorded.meant.skill();
    if context.out.json {
        return context.out.object(json!({
            "event_id": recorded.event_id,
            "is_new": recorded.added.is_new(),
            "skill": skill.map(|skill| json!({"id": skill.id, "name": skill.name, "path": skill.path()})),
            "called_name": name,
            "dry_run": args.dry_run,
        }));
    }
    let what = match skill {
        Some(skill) => format!("{} (#{})", clean(&skill.name), skill.id),
        None if matches!(recorded.meant, Meant::Several(_)) => {
            format!(
                "{}: several skills have that name, counted for none",
                clean(name)
            )
        }
        None => format!("{}: not installed; linked when it appears", clean(name)),
    };
    let verb = match (args.dry_run, recorded.added.is_new()) {
        (true, _) => "Would record",
        (false, true) => "Recorded",
        (false, false) => "Known already",
    };
    context.out.say(&format!("{verb}: {what}"));
    Ok(())
}

/// What a run over many lines adds up to.
#[derive(Default)]
struct Tally {
    new: u64,
    known: u64,
    refused: u64,
    not_installed: BTreeMap<String, u64>,
}

fn lines(context: &mut Context, args: &Args) -> Result<()> {
    if args.dry_run {
        return Err(Error::Usage {
            message: "--dry-run takes one event, not lines".to_owned(),
            hint: Some("lines with event ids can be sent again without harm".to_owned()),
        });
    }
    let home = context.config.home.value.clone();
    let mut tally = Tally::default();
    match record_lines(context, &home, &mut tally) {
        Err(error) if args.best_effort && is_trouble(&error) => {
            tell(&format!(
                "skilldb: {}; send the lines again",
                clean(&error.to_string())
            ));
            return Ok(());
        }
        other => other?,
    }
    if context.out.json {
        context.out.object(json!({
            "new": tally.new, "known": tally.known, "refused": tally.refused, "not_installed": tally.not_installed,
        }))?;
    } else {
        let known = match tally.known {
            0 => String::new(),
            count => format!(", {count} known already"),
        };
        let refused = match tally.refused {
            0 => String::new(),
            count => format!(", {} refused", plural(count, "line")),
        };
        let new = plural(tally.new, "event");
        context.out.say(&format!("{new} recorded{known}{refused}."));
        for (name, count) in &tally.not_installed {
            context.out.say(&format!(
                "not installed: {} ({})",
                clean(name),
                plural(*count, "event")
            ));
        }
    }
    if tally.refused > 0 && !args.best_effort {
        return Err(Error::ProblemsFound);
    }
    Ok(())
}

fn record_lines(context: &Context, home: &Path, tally: &mut Tally) -> Result<()> {
    let mut store = open(home, context.now)?;
    let roots = client_folders(&context.config);
    let mut resolver = Resolver::new(&roots);
    let mut refused = 0;
    usage::record_all(
        &mut store,
        &mut resolver,
        &mut BufReader::new(stdin().lock()),
        context.now,
        &mut |line, error| {
            refused += 1;
            tell(&format!("-:{line}: {}", clean(&error.to_string())));
        },
        &mut |recorded| {
            if recorded.added.is_new() {
                tally.new += 1;
            } else {
                tally.known += 1;
            }
            if recorded.meant.skill().is_none() {
                *tally
                    .not_installed
                    .entry(recorded.called_name.clone())
                    .or_default() += 1;
            }
        },
    )?;
    tally.refused = refused;
    usage::absorb(home, &mut store, &mut resolver, context.now)?;
    Ok(())
}
