//! Records uses: one, or one a line as JSON.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::{BufRead, BufReader, Read};

use serde::{Deserialize, Serialize};

use super::resolve::{Call, Meant, Resolver};
use crate::error::{Error, Result};
use crate::store::{Actor, Added, NamedSkill, Store, Trigger, UsageEvent, UseKind};
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
        let at = match &self.at {
            Some(text) => time(text)?,
            None => now,
        };
        // Of a use that happens now the mirror knows the version; of an older one only the history does.
        let current = skill.filter(|_| self.at.is_none());
        Ok(UsageEvent {
            event_id: self.event_id.unwrap_or_else(new_event_id),
            skill_id: skill.map(|skill| skill.id),
            called_name: shortened(Some(self.name)).unwrap_or_default(),
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

fn time(text: &str) -> Result<Timestamp> {
    Timestamp::parse_lenient(text)
        .filter(|at| at.is_writable())
        .ok_or_else(|| Error::Usage {
            message: format!("`{text}` is no time"),
            hint: Some("write it like 2026-01-02T03:04:05Z".to_owned()),
        })
}

/// Finds what a recording means: `#id` and absolute paths as people type them, else as a call.
///
/// # Errors
/// [`Error::Database`].
pub fn find_meant(
    store: &Store,
    resolver: &mut Resolver<'_>,
    recording: &Recording,
) -> Result<Meant> {
    let name = recording.name.as_str();
    if let Some(id) = name.strip_prefix('#').and_then(|id| id.parse().ok()) {
        return Ok(match store.named_skill(id)? {
            Some(skill) => Meant::Skill(skill),
            None => Meant::Unknown,
        });
    }
    let mut call = recording.call();
    if name.starts_with('/') {
        call.path = call.path.or(Some(name));
        call.name = name
            .trim_end_matches('/')
            .rsplit('/')
            .next()
            .unwrap_or(name);
    }
    resolver.resolve(store, call)
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
    let meant = find_meant(store, resolver, &recording)?;
    let event = recording.event(now, meant.skill())?;
    let added = store.append_event(&event)?;
    Ok(Recorded {
        event_id: event.event_id,
        added,
        called_name: event.called_name,
        meant,
    })
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

/// Records each line of `lines`, a JSON object of the fields of [`Recording`]. A line that cannot be
/// used is handed to `refuse` with its number, and the others go on; each recorded one is handed to `tell`.
///
/// # Errors
/// [`Error::Database`], [`Error::Io`].
pub fn record_all<R: Read>(
    store: &mut Store,
    resolver: &mut Resolver<'_>,
    lines: &mut BufReader<R>,
    now: Timestamp,
    refuse: &mut dyn FnMut(u64, &Error),
    tell: &mut dyn FnMut(&Recorded),
) -> Result<()> {
    let mut batch = Vec::new();
    let mut line = Vec::new();
    let mut number = 0;
    loop {
        line.clear();
        let length = lines
            .read_until(b'\n', &mut line)
            .map_err(Error::io("read", "standard input"))?;
        if length == 0 {
            break;
        }
        number += 1;
        if line.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        match prepare(store, resolver, &line, now) {
            Ok(ready) => batch.push(ready),
            Err(error @ Error::Usage { .. }) => refuse(number, &error),
            Err(error) => return Err(error),
        }
        // The next line may be long in coming: whoever writes line by line can rely on each.
        if batch.len() >= BATCH || lines.buffer().is_empty() {
            commit(store, &mut batch, tell)?;
        }
    }
    commit(store, &mut batch, tell)
}

fn prepare(
    store: &Store,
    resolver: &mut Resolver<'_>,
    line: &[u8],
    now: Timestamp,
) -> Result<(UsageEvent, Meant)> {
    let recording: Recording = serde_json::from_slice(line).map_err(|error| Error::Usage {
        message: error.to_string(),
        hint: None,
    })?;
    let meant = find_meant(store, resolver, &recording)?;
    let event = recording.event(now, meant.skill())?;
    Ok((event, meant))
}

fn commit(
    store: &mut Store,
    batch: &mut Vec<(UsageEvent, Meant)>,
    tell: &mut dyn FnMut(&Recorded),
) -> Result<()> {
    if batch.is_empty() {
        return Ok(());
    }
    let added = store.append(|tx| {
        batch
            .iter()
            .map(|(event, _)| tx.add_event(event))
            .collect::<Result<Vec<_>>>()
    })?;
    for ((event, meant), added) in batch.drain(..).zip(added) {
        tell(&Recorded {
            event_id: event.event_id,
            added,
            called_name: event.called_name,
            meant,
        });
    }
    Ok(())
}
