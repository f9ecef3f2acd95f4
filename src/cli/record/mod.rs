//! `skilldb record`.

mod lines;

use std::path::Path;

use clap::ValueEnum;
use serde_json::json;

use super::output::{clean, tell};
use super::{Context, client_folders};
use crate::error::{Error, ErrorKind, Result};
use crate::store::{Added, Candidate, NamedSkill, Store, Waiting};
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

    /// The skill as typed; a path as a shell completes it is made whole.
    fn named(&self, context: &Context) -> String {
        let name = self.name.clone().unwrap_or_default();
        if name.starts_with("./") || name.starts_with("../") {
            let path = context.config.cwd.join(&name);
            let path = path.canonicalize().unwrap_or(path);
            return path.to_string_lossy().into_owned();
        }
        name
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
            name: self.named(context),
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
        return lines::run(context, args);
    }
    let recording = args.recording(context).normalised()?;
    // Wrong words are wrong however lenient the call: nobody would notice later.
    recording.clone().event(context.now, None)?;
    let result = if args.dry_run {
        rehearse(context, args, recording)
    } else {
        one(context, args, recording.clone()).or_else(|error| {
            if args.best_effort && is_trouble(&error) {
                keep(context, recording, &error);
                return Ok(());
            }
            Err(error)
        })
    };
    match result {
        Err(error @ Error::SkillNotFound { .. }) if args.best_effort => {
            tell(&format!("skilldb: {}", clean(&error.to_string())));
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

fn one(context: &mut Context, args: &Args, recording: Recording) -> Result<()> {
    let home = context.config.home.value.clone();
    let mut store = if args.best_effort {
        open_briefly(&home)?
    } else {
        open(&home, context.now)?
    };
    let roots = client_folders(&context.config);
    let mut resolver = Resolver::new(&roots);
    if !args.best_effort {
        refuse_several(&store, &mut resolver, &recording)?;
    }
    let recorded = usage::record(&mut store, &mut resolver, recording, context.now)?;
    // The event is in: what waited from earlier may go on waiting.
    if let Err(error) = usage::absorb(
        &home,
        &mut store,
        &mut resolver,
        context.now,
        usage::A_LITTLE,
    ) {
        tell(&format!(
            "skilldb: events kept for later still wait: {}",
            clean(&error.to_string())
        ));
    }
    drop(resolver);
    drop(roots);
    say(context, args, &recorded)
}

/// Says what would be recorded. A library that is not there is not made for it.
fn rehearse(context: &mut Context, args: &Args, recording: Recording) -> Result<()> {
    let recorded = {
        let roots = client_folders(&context.config);
        let mut resolver = Resolver::new(&roots);
        match Store::open_read(&context.config.home.value, context.now) {
            Ok(store) => {
                if !args.best_effort {
                    refuse_several(&store, &mut resolver, &recording)?;
                }
                usage::rehearse(&store, &mut resolver, recording, context.now)?
            }
            Err(Error::NoLibrary { .. }) => Recorded {
                event_id: recording.event_id.unwrap_or_else(usage::new_event_id),
                added: Added::New,
                called_name: recording.name,
                meant: Meant::Unknown,
            },
            Err(error) => return Err(error),
        }
    };
    say(context, args, &recorded)
}

/// A name that several skills have is refused, with the forms that tell them apart.
fn refuse_several(store: &Store, resolver: &mut Resolver<'_>, recording: &Recording) -> Result<()> {
    match usage::find_meant(store, resolver, recording)? {
        Meant::Several(skills) => Err(ambiguous(&recording.name, &skills)),
        Meant::Skill(_) | Meant::Unknown => Ok(()),
    }
}

/// Opens the database for a few rows; makes an empty one when there is none, because what is used
/// before the first sync counts, too.
pub(super) fn open(home: &Path, now: Timestamp) -> Result<Store> {
    if let Some(store) = Store::open(home, now)? {
        return Ok(store);
    }
    Store::create_empty(home, Waiting::Yes)?;
    Store::open(home, now)?.ok_or_else(|| no_library(home))
}

/// As [`open`], without being held up by others.
pub(super) fn open_briefly(home: &Path) -> Result<Store> {
    if let Some(store) = Store::open_briefly(home)? {
        return Ok(store);
    }
    Store::create_empty(home, Waiting::No)?;
    Store::open_briefly(home)?.ok_or_else(|| no_library(home))
}

fn no_library(home: &Path) -> Error {
    Error::NoLibrary {
        path: home.join(crate::store::FILE_NAME),
    }
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

fn say(context: &mut Context, args: &Args, recorded: &Recorded) -> Result<()> {
    let name = recorded.called_name.as_str();
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
    // Whoever asks for a best effort has nobody who reads, unless there is something to mend.
    let is_unclear = matches!(recorded.meant, Meant::Several(_));
    if args.best_effort && !args.dry_run && !is_unclear {
        return Ok(());
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
