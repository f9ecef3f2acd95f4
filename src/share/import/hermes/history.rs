//! The calls in Hermes' session database. They explain what its sidecar counted, so they are history and
//! are not added on top of it.

use std::collections::{HashSet, VecDeque};

use serde_json::Value;

use super::super::Options;
use super::super::damaged::Note;
use super::super::files::HistoryFile;
use super::super::found::{Found, FoundUse};
use super::super::sink::Sink;
use super::super::summary::Summary;
use super::record::{Target, target};
use super::{Home, warn};
use crate::error::{Error, Result};
use crate::store::{ForeignHistory, ForeignMessage, ImportFile, ImportedChange, Trigger, UseKind};
use crate::sync::Unit;
use crate::time::Timestamp;

/// What the sidecar counted: names of its records, and their skills in order.
pub(super) struct Counted {
    pub(super) names: HashSet<String>,
    pub(super) baselines: Vec<i64>,
}

/// Calls that wait for their answer at most.
const MOST_OPEN: usize = 1_000;
const BATCH: usize = 200;
/// How a message begins that loads a skill somebody typed; older versions said SYSTEM.
const INVOKED: [&str; 2] = [
    "[IMPORTANT: The user has invoked the \"",
    "[SYSTEM: The user has invoked the \"",
];

/// A call that waits for its answer.
struct OpenCall {
    message: i64,
    session: String,
    call_id: String,
    what: Called,
}

enum Called {
    View(Box<FoundUse>),
    Change(Box<ImportedChange>),
}

/// Imports what is new in the session database; returns how many changes were taken over.
pub(super) fn import(
    sink: &mut Sink<'_>,
    home: &Home,
    counted: &Counted,
    options: &Options<'_>,
    summary: &mut Summary,
) -> Result<u64> {
    let path = home.path.join("state.db");
    let Ok(file) = HistoryFile::of(&path) else {
        return Ok(0);
    };
    summary.files += 1;
    match read(sink, home, counted, options, &file, summary) {
        Err(Error::Foreign { message, .. }) => {
            let note = Note {
                line: None,
                column: None,
                message: format!("could not be read: {message}"),
            };
            warn(summary, &path, note);
            Ok(0)
        }
        other => other,
    }
}

struct Reader<'r> {
    home: &'r Home,
    open: VecDeque<OpenCall>,
    found: Vec<Found>,
    changes: Vec<ImportedChange>,
    sessions: HashSet<String>,
    unreadable: u64,
}

fn read(
    sink: &mut Sink<'_>,
    home: &Home,
    counted: &Counted,
    options: &Options<'_>,
    file: &HistoryFile,
    summary: &mut Summary,
) -> Result<u64> {
    let history = ForeignHistory::open(&file.path)?;
    if !history.is_readable() {
        let words = "no session database of Hermes: it has no table of messages";
        tell(summary, file, words.to_owned());
        return Ok(0);
    }
    let newest = history.newest()?;
    let key = file.path.to_string_lossy().into_owned();
    let since = options.since.map(|since| since.to_string());
    let after = read_to(sink, &history, &key, since.as_deref())?;
    sink.in_baseline(&counted.names, &counted.baselines);
    options.progress.begin("reading", Unit::Messages, None);
    let mut reader = Reader::new(home);
    let mut taken = 0;
    history.each_message(after, |message| {
        summary.lines += 1;
        options.progress.advance(1);
        reader.message(message);
        if reader.found.len() + reader.changes.len() >= BATCH {
            taken += reader.save(sink, options.now, None, summary)?;
        }
        Ok(())
    })?;
    let read_to = reader.open.front().map_or(newest, |call| call.message - 1);
    reader.tell_open();
    let at = ImportFile {
        path: key,
        size: file.size,
        ctime_ns: file.ctime_ns,
        read_bytes: u64::try_from(read_to).unwrap_or(0),
        fingerprint: history.mark(read_to)?,
        since,
        ..ImportFile::default()
    };
    taken += reader.save(sink, options.now, Some(&at), summary)?;
    options.progress.end();
    summary.sessions += reader.sessions.len() as u64;
    if reader.unreadable > 0 {
        let count = reader.unreadable;
        let words = format!("calls that cannot be read and were left out: {count}");
        tell(summary, file, words);
    }
    Ok(taken)
}

/// The number of the message up to which a database was read. Another database has other numbers; reading
/// anew counts nothing twice.
fn read_to(
    sink: &Sink<'_>,
    history: &ForeignHistory,
    path: &str,
    since: Option<&str>,
) -> Result<i64> {
    let mut known = sink.store.import_files("hermes")?.into_iter();
    let known = known.find(|known| known.path == path && known.since.as_deref() == since);
    let Some(known) = known else {
        return Ok(0);
    };
    let read_to = i64::try_from(known.read_bytes).unwrap_or(0);
    let is_same = history.mark(read_to)? == known.fingerprint;
    Ok(if is_same { read_to } else { 0 })
}

fn tell(summary: &mut Summary, file: &HistoryFile, message: String) {
    let note = Note {
        line: None,
        column: None,
        message,
    };
    warn(summary, &file.path, note);
}

impl<'r> Reader<'r> {
    fn new(home: &'r Home) -> Self {
        Self {
            home,
            open: VecDeque::new(),
            found: Vec::new(),
            changes: Vec::new(),
            sessions: HashSet::new(),
            unreadable: 0,
        }
    }

    fn save(
        &mut self,
        sink: &mut Sink<'_>,
        fallback: Timestamp,
        at: Option<&ImportFile>,
        summary: &mut Summary,
    ) -> Result<u64> {
        let mut changes = std::mem::take(&mut self.changes);
        changes.retain(|change| !sink.is_older(change.at));
        let taken = sink.put_changes(&changes)?;
        sink.put(std::mem::take(&mut self.found), fallback, at, summary)?;
        Ok(taken)
    }

    fn message(&mut self, message: ForeignMessage) {
        match message.role.as_str() {
            "assistant" => self.calls(&message),
            "tool" => self.answer(&message),
            "user" => self.typed(&message),
            _ => return,
        }
        self.sessions.insert(message.session_id);
    }

    fn calls(&mut self, message: &ForeignMessage) {
        let text = message.tool_calls.as_deref().unwrap_or_default();
        let Ok(Value::Array(calls)) = serde_json::from_str(text) else {
            self.unreadable += 1;
            return;
        };
        for (index, call) in calls.iter().enumerate() {
            self.call(message, index, call);
        }
    }

    fn call(&mut self, message: &ForeignMessage, index: usize, call: &Value) {
        let function = call.get("function").unwrap_or(call);
        let name = function
            .get("name")
            .and_then(Value::as_str)
            .unwrap_or_default();
        if name != "skill_view" && name != "skill_manage" {
            return;
        }
        let arguments = match function.get("arguments") {
            Some(Value::String(text)) => serde_json::from_str(text).unwrap_or(Value::Null),
            Some(other) => other.clone(),
            None => Value::Null,
        };
        let word = |key: &str| {
            let text = arguments.get(key)?.as_str()?.trim();
            (!text.is_empty()).then(|| text.to_owned())
        };
        let Some(skill) = word("name") else {
            self.unreadable += 1;
            return;
        };
        let call_id = match call.get("id") {
            Some(Value::String(id)) => id.clone(),
            Some(Value::Number(id)) => id.to_string(),
            _ => format!("m{}.{index}", message.id),
        };
        let event_id = format!("hermes:{}:{call_id}", message.session_id);
        let what = if name == "skill_view" {
            let file = word("file_path");
            let found = self.found_use(message, event_id, skill, Trigger::Model);
            Called::View(Box::new(FoundUse {
                kind: if file.is_some() {
                    UseKind::File
                } else {
                    UseKind::View
                },
                file,
                ..found
            }))
        } else {
            let Some(action) = word("action").and_then(|action| known_action(&action)) else {
                return;
            };
            Called::Change(Box::new(self.change(message, event_id, skill, action)))
        };
        self.open.push_back(OpenCall {
            message: message.id,
            session: message.session_id.clone(),
            call_id,
            what,
        });
        if self.open.len() > MOST_OPEN
            && let Some(oldest) = self.open.pop_front()
        {
            self.tell(oldest.what, None, None);
        }
    }

    fn skill(&self, name: &str) -> Option<(i64, String)> {
        match target(name, false, &self.home.skills) {
            Target::One(skill) | Target::First(skill, _) => Some((skill.id, skill.path())),
            Target::None => None,
        }
    }

    fn found_use(
        &self,
        message: &ForeignMessage,
        event_id: String,
        name: String,
        trigger: Trigger,
    ) -> FoundUse {
        FoundUse {
            event_id,
            path: self.skill(&name).map(|(_, path)| path),
            name,
            kind: UseKind::Use,
            trigger,
            session: Some(message.session_id.clone()),
            subagent: None,
            channel: message.channel.clone(),
            project: message.project.clone(),
            at: Timestamp::from_seconds(message.timestamp).map(|at| at.to_string()),
            ok: None,
            args: None,
            file: None,
            is_again: false,
        }
    }

    fn change(
        &self,
        message: &ForeignMessage,
        event_id: String,
        name: String,
        action: &'static str,
    ) -> ImportedChange {
        ImportedChange {
            event_id,
            source: "hermes",
            action,
            is_applied: false,
            reason: None,
            session_id: Some(message.session_id.clone()),
            at: Timestamp::from_seconds(message.timestamp)
                .unwrap_or_else(|| Timestamp::from_millis(0)),
            skill_id: self.skill(&name).map(|(id, _)| id),
            called_name: name,
        }
    }

    fn answer(&mut self, message: &ForeignMessage) {
        let Some(id) = message.tool_call_id.as_deref() else {
            return;
        };
        let is_asked = |call: &OpenCall| call.call_id == id && call.session == message.session_id;
        let Some(index) = self.open.iter().position(is_asked) else {
            return;
        };
        if let Some(call) = self.open.remove(index) {
            let text = message.content.as_deref().unwrap_or_default();
            self.tell(call.what, succeeded(text), error_in(text));
        }
    }

    fn tell(&mut self, what: Called, ok: Option<bool>, error: Option<String>) {
        match what {
            Called::View(found) => self
                .found
                .push(Found::Use(Box::new(FoundUse { ok, ..*found }))),
            // Whether it was applied is what a change is about: without an answer there is none.
            Called::Change(change) => {
                if let Some(is_applied) = ok {
                    let reason = error.filter(|_| !is_applied);
                    self.changes.push(ImportedChange {
                        is_applied,
                        reason,
                        ..*change
                    });
                }
            }
        }
    }

    /// Hands over what has no answer; it is read again next time, in case one comes.
    fn tell_open(&mut self) {
        for call in std::mem::take(&mut self.open) {
            self.tell(call.what, None, None);
        }
    }

    fn typed(&mut self, message: &ForeignMessage) {
        let content = message.content.as_deref().unwrap_or_default();
        let text = match content.strip_prefix("\0json:") {
            Some(json) => first_text(json).unwrap_or_default(),
            None => content.to_owned(),
        };
        let rest = INVOKED.iter().find_map(|start| text.strip_prefix(start));
        let Some((name, _)) = rest.and_then(|rest| rest.split_once('"')) else {
            return;
        };
        let event_id = format!("hermes:{}:m{}", message.session_id, message.id);
        let found = self.found_use(message, event_id, name.to_owned(), Trigger::Slash);
        self.found.push(Found::Use(Box::new(FoundUse {
            ok: Some(true),
            ..found
        })));
    }
}

/// The first text of a message whose content is a list of parts.
fn first_text(json: &str) -> Option<String> {
    match serde_json::from_str(json).ok()? {
        Value::String(text) => Some(text),
        Value::Array(parts) => parts
            .iter()
            .find_map(|part| part.get("text").and_then(Value::as_str))
            .map(str::to_owned),
        _ => None,
    }
}

fn known_action(action: &str) -> Option<&'static str> {
    [
        "create",
        "edit",
        "patch",
        "write_file",
        "remove_file",
        "delete",
    ]
    .into_iter()
    .find(|known| *known == action)
}

/// Whether an answer says that the call went well. It may be cut off.
fn succeeded(text: &str) -> Option<bool> {
    let (_, rest) = text.split_once("\"success\"")?;
    let rest = rest.trim_start().strip_prefix(':')?.trim_start();
    if rest.starts_with("true") {
        Some(true)
    } else if rest.starts_with("false") {
        Some(false)
    } else {
        None
    }
}

fn error_in(text: &str) -> Option<String> {
    let value: Value = serde_json::from_str(text).ok()?;
    let words = value.get("error")?.as_str()?;
    Some(words.chars().take(300).collect())
}
