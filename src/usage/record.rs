//! Records uses: one, or one a line as JSON.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::{BufRead, BufReader, Read};

use serde::{Deserialize, Serialize};

use super::resolve::{Call, Meant, Resolver};
use super::typed::{HOOK_ID, add_typed};
use crate::error::{Error, Result};
use crate::store::{Actor, Added, NamedSkill, Store, Trigger, Tx, UsageEvent, UseKind};
use crate::time::{Timestamp, file_clock_ns};

/// What is known of a use that is to be recorded. The same fields make a line of JSON.
#[derive(Debug, Clone, Default, Deserialize, Serialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub struct Recording {
    /// use, view or file.
    pub kind: Option<String>,
    /// The skill, by name, `category/name`, path or `#id`.
    pub name: String,
    /// The id by which the event is counted once.
    pub event_id: Option<String>,
    /// When; now where it is not said.
    pub at: Option<String>,
    /// How it ended.
    pub ok: Option<bool>,
    /// What reached for it: model, slash (or user), preload, subagent, automation (or cron), cli.
    pub trigger: Option<String>,
    /// Who acted: user, agent, background_review, curator.
    pub actor: Option<String>,
    /// The client's id.
    pub client: Option<String>,
    /// The client's session.
    #[serde(alias = "session_id")]
    pub session: Option<String>,
    /// The subagent.
    pub subagent: Option<String>,
    /// How the session was started.
    pub channel: Option<String>,
    /// The folder that was worked in.
    pub project: Option<String>,
    /// The machine.
    pub machine: Option<String>,
    /// The skill's folder, where several skills have the name.
    pub path: Option<String>,
    /// For a file read: which.
    pub file: Option<String>,
    /// What the skill was called with.
    pub args: Option<String>,
    /// SHA-256 of the skill file that was used.
    pub content_hash: Option<String>,
    /// Tokens read.
    pub tokens_in: Option<u64>,
    /// Tokens written.
    pub tokens_out: Option<u64>,
}

/// What became of a recording.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recorded {
    /// The event's id.
    pub event_id: String,
    /// Whether it is new.
    pub added: Added,
    /// The name as it was called.
    pub called_name: String,
    /// What the name meant.
    pub meant: Meant,
}

/// Returns an id that no other event has: time and chance.
#[must_use]
pub fn new_event_id() -> String {
    let chance = RandomState::new().build_hasher().finish();
    format!("skilldb:{:x}-{chance:016x}", file_clock_ns())
}

/// Longest text of one field, in characters: a prompt pasted as an argument must not swell the ledger.
const LONGEST: usize = 1_000;

fn shortened(text: Option<String>) -> Option<String> {
    text.map(|text| match text.char_indices().nth(LONGEST) {
        Some((at, _)) => text[..at].to_owned(),
        None => text,
    })
}

impl Recording {
    /// Makes the event of it.
    ///
    /// # Errors
    /// [`Error::Usage`] naming the word or time that cannot be read.
    pub fn event(self, now: Timestamp, skill: Option<&NamedSkill>) -> Result<UsageEvent> {
        let kind = word(self.kind.as_deref(), "kind", UseKind::parse)?.unwrap_or(UseKind::Use);
        let trigger = word(self.trigger.as_deref(), "trigger", Trigger::parse)?;
        let actor = word(self.actor.as_deref(), "actor", Actor::parse)?;
        let trigger = trigger.unwrap_or(Trigger::Cli);
        tokens(self.tokens_in)?;
        tokens(self.tokens_out)?;
        let at = match &self.at {
            Some(text) => time(text)?,
            None => now,
        };
        // Of a use that happens now the mirror knows the version; of an older one only the history does.
        let current = skill.filter(|_| self.at.is_none());
        Ok(UsageEvent {
            event_id: self
                .event_id
                .filter(|id| !id.trim().is_empty())
                .unwrap_or_else(new_event_id),
            skill_id: skill.map(|skill| skill.id),
            called_name: match skill {
                Some(skill) if self.name.starts_with('#') => skill.name.clone(),
                _ => shortened(Some(self.name)).unwrap_or_default(),
            },
            called_path: self.path,
            kind,
            trigger,
            actor: actor.unwrap_or(match trigger {
                Trigger::Slash | Trigger::Cli => Actor::User,
                _ => Actor::Agent,
            }),
            client: self.client,
            session_id: self.session,
            subagent: self.subagent,
            channel: self.channel,
            project: self.project,
            machine: self.machine,
            at,
            ok: self.ok,
            args: shortened(self.args),
            file: self.file,
            content_hash: self
                .content_hash
                .or_else(|| current.and_then(|skill| skill.content_hash.clone())),
            tokens_in: self.tokens_in.or(self.tokens_out.map(|_| 0)),
            tokens_out: self.tokens_out,
            in_baseline: false,
        })
    }

    /// Brings the ways to name a skill into one form: a path is a folder and its name.
    ///
    /// # Errors
    /// [`Error::Usage`] when nothing is named.
    pub fn normalised(mut self) -> Result<Self> {
        let name = self.name.trim().trim_end_matches('/').to_owned();
        if name.is_empty() {
            return Err(Error::Usage {
                message: "no skill is named".to_owned(),
                hint: Some("say its name, `category/name`, its path, or `#id`".to_owned()),
            });
        }
        self.name = name;
        if self.name.starts_with('/') {
            let last = self.name.rsplit('/').next().unwrap_or_default().to_owned();
            let path = std::mem::replace(&mut self.name, last);
            self.path = self.path.or(Some(path));
        }
        Ok(self)
    }

    fn call(&self) -> Call<'_> {
        Call {
            name: &self.name,
            path: self.path.as_deref(),
            client: self.client.as_deref(),
            project: self.project.as_deref(),
        }
    }
}

/// Reads a word of a fixed set.
fn word<T>(
    text: Option<&str>,
    field: &'static str,
    parse: impl FnOnce(&str) -> Option<T>,
) -> Result<Option<T>> {
    let known = match field {
        "kind" => "use, view, file",
        "trigger" => "model, slash, preload, subagent, automation, cli",
        _ => "user, agent, background_review, curator",
    };
    text.map(|text| {
        parse(text).ok_or_else(|| Error::Usage {
            message: format!("`{text}` is no {field}"),
            hint: Some(format!("one of {known}")),
        })
    })
    .transpose()
}

/// Most tokens one use may have cost: sums over millions of uses must stay whole numbers.
const MOST_TOKENS: u64 = 1_000_000_000_000;

fn tokens(count: Option<u64>) -> Result<()> {
    match count {
        Some(count) if count > MOST_TOKENS => Err(Error::Usage {
            message: format!("{count} tokens are more than any use costs"),
            hint: None,
        }),
        _ => Ok(()),
    }
}

fn time(text: &str) -> Result<Timestamp> {
    Timestamp::parse_lenient(text)
        .filter(|at| at.is_writable())
        .ok_or_else(|| Error::Usage {
            message: format!("`{text}` is no time"),
            hint: Some("write it like 2026-01-02T03:04:05Z".to_owned()),
        })
}

/// Finds what a recording means: `#id` as people type it, else as a call.
///
/// # Errors
/// [`Error::SkillNotFound`] for an id nobody has, [`Error::Database`].
pub fn find_meant(
    store: &Store,
    resolver: &mut Resolver<'_>,
    recording: &Recording,
) -> Result<Meant> {
    let name = recording.name.as_str();
    if let Some(id) = name.strip_prefix('#').and_then(|id| id.parse().ok()) {
        return match store.named_skill(id)? {
            Some(skill) => Ok(Meant::Skill(skill)),
            None => Err(Error::SkillNotFound {
                name: name.to_owned(),
                similar: Vec::new(),
            }),
        };
    }
    resolver.resolve(store, recording.call())
}

/// Records one use in a transaction of its own.
///
/// # Errors
/// [`Error::Usage`], [`Error::Database`].
pub fn record(
    store: &mut Store,
    resolver: &mut Resolver<'_>,
    recording: Recording,
    now: Timestamp,
) -> Result<Recorded> {
    let recording = recording.normalised()?;
    let meant = find_meant(store, resolver, &recording)?;
    let event = recording.event(now, meant.skill())?;
    let added = store.append(|tx| add(tx, &event))?;
    Ok(Recorded {
        event_id: event.event_id,
        added,
        called_name: event.called_name,
        meant,
    })
}

/// Adds an event; one that a hook heard may be known from a transcript.
fn add(tx: &Tx<'_>, event: &UsageEvent) -> Result<Added> {
    if event.event_id.starts_with(HOOK_ID) {
        let skills: Vec<i64> = event.skill_id.into_iter().collect();
        return add_typed(tx, event, &skills);
    }
    tx.add_event(event)
}

/// Says what [`record`] would do.
///
/// # Errors
/// As [`record`].
pub fn rehearse(
    store: &Store,
    resolver: &mut Resolver<'_>,
    recording: Recording,
    now: Timestamp,
) -> Result<Recorded> {
    let recording = recording.normalised()?;
    let meant = find_meant(store, resolver, &recording)?;
    let event = recording.event(now, meant.skill())?;
    let added = if store.has_event(&event.event_id)? {
        Added::Known
    } else {
        Added::New
    };
    Ok(Recorded {
        event_id: event.event_id,
        added,
        called_name: event.called_name,
        meant,
    })
}

/// Lines put into one transaction at most: a writer that waits for this one waits milliseconds.
const BATCH: usize = 200;

/// What becomes of lines: each is told to one of these.
pub struct LineSink<'l> {
    /// A line that cannot be used, with its number; the others go on.
    pub refuse: &'l mut dyn FnMut(u64, &Error),
    /// One that was recorded.
    pub tell: &'l mut dyn FnMut(&Recorded),
    /// One that could not be recorded because of the library; `None` ends the run with the error.
    pub keep: Option<&'l mut dyn FnMut(Recording) -> Result<()>>,
}

/// A line that is ready to be recorded.
struct Ready {
    recording: Recording,
    event: UsageEvent,
    meant: Meant,
}

/// Records each line of `lines`, a JSON object of the fields of [`Recording`].
///
/// # Errors
/// [`Error::Database`], [`Error::Io`].
pub fn record_all<R: Read>(
    store: &mut Store,
    resolver: &mut Resolver<'_>,
    lines: &mut BufReader<R>,
    now: Timestamp,
    sink: &mut LineSink<'_>,
) -> Result<()> {
    let mut batch = Vec::new();
    // After the first trouble the rest is kept without trying: each try waits.
    let mut is_trouble = false;
    each_line(lines, &mut |number, line, is_idle| {
        let recording = match parse_line(line) {
            Ok(recording) => recording,
            Err(error) => {
                (sink.refuse)(number, &error);
                return commit_if(is_idle, store, &mut batch, sink, &mut is_trouble);
            }
        };
        if let (Some(keep), true) = (&mut sink.keep, is_trouble) {
            return keep(recording);
        }
        match prepare(store, resolver, recording, now) {
            Ok(ready) => batch.push(ready),
            Err(error @ (Error::Usage { .. } | Error::SkillNotFound { .. })) => {
                (sink.refuse)(number, &error);
            }
            Err(error) => return Err(error),
        }
        let is_due = is_idle || batch.len() >= BATCH;
        commit_if(is_due, store, &mut batch, sink, &mut is_trouble)
    })?;
    commit_if(true, store, &mut batch, sink, &mut is_trouble)
}

/// Takes a line with its number, and whether the next one may be long in coming.
pub(super) type TakeLine<'t> = &'t mut dyn FnMut(u64, &[u8], bool) -> Result<()>;

/// Hands over each line that is not blank, with its number, and whether the next one may be long in
/// coming: whoever writes line by line can rely on each.
///
/// # Errors
/// What `take` returns, or [`Error::Io`].
pub fn each_line<R: Read>(lines: &mut BufReader<R>, take: TakeLine<'_>) -> Result<()> {
    let mut line = Vec::new();
    let mut number = 0;
    loop {
        line.clear();
        let length = lines
            .read_until(b'\n', &mut line)
            .map_err(Error::io("read", "the lines to record"))?;
        if length == 0 {
            return Ok(());
        }
        number += 1;
        if !line.trim_ascii().is_empty() {
            take(number, &line, lines.buffer().is_empty())?;
        }
    }
}

/// Reads a line of JSON.
///
/// # Errors
/// [`Error::Usage`] saying what is wrong with it.
pub fn parse_line(line: &[u8]) -> Result<Recording> {
    let refused = |message: String| Error::Usage {
        message,
        hint: None,
    };
    if !line.trim_ascii_start().starts_with(b"{") {
        return Err(refused("not a JSON object".to_owned()));
    }
    let recording: Recording =
        serde_json::from_slice(line).map_err(|error| refused(error.to_string()))?;
    recording.normalised()
}

fn prepare(
    store: &Store,
    resolver: &mut Resolver<'_>,
    recording: Recording,
    now: Timestamp,
) -> Result<Ready> {
    let meant = find_meant(store, resolver, &recording)?;
    let event = recording.clone().event(now, meant.skill())?;
    Ok(Ready {
        recording,
        event,
        meant,
    })
}

fn commit_if(
    is_due: bool,
    store: &mut Store,
    batch: &mut Vec<Ready>,
    sink: &mut LineSink<'_>,
    is_trouble: &mut bool,
) -> Result<()> {
    if batch.is_empty() || !is_due {
        return Ok(());
    }
    let added = store.append(|tx| {
        batch
            .iter()
            .map(|ready| add(tx, &ready.event))
            .collect::<Result<Vec<_>>>()
    });
    let added = match (added, &mut sink.keep) {
        (Ok(added), _) => added,
        (Err(_), Some(keep)) => {
            *is_trouble = true;
            return batch.drain(..).try_for_each(|ready| keep(ready.recording));
        }
        (Err(error), None) => return Err(error),
    };
    for (ready, added) in batch.drain(..).zip(added) {
        (sink.tell)(&Recorded {
            event_id: ready.event.event_id,
            added,
            called_name: ready.event.called_name,
            meant: ready.meant,
        });
    }
    Ok(())
}
