//! Reads Claude Code's transcripts: one line at a time, pure. A use is a tool call, or a typed command
//! that was expanded; text that quotes either is none.

mod command;
mod cost;

use std::collections::VecDeque;
use std::sync::LazyLock;

use memchr::memmem::Finder;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::found::{Found, FoundUse};
use crate::share::json;
use crate::store::{Trigger, UseKind};
use command::{Typed, typed_command};
use cost::HeldCost;

/// What event ids begin with.
pub(in crate::share) const ID: &str = "claude-code:";
const BASE_FOLDER: &str = "Base directory for this skill:";
/// Lines after which a call is handed over although it got no answer yet.
const PATIENCE: u32 = 500;
/// Calls that are waited for; the oldest is given up first.
const MOST_CALLS: usize = 64;
/// Uses whose cost may still come.
const MOST_RECENT: usize = 64;

/// Within a JSON string the quotes of the first would be escaped.
static TELLING: LazyLock<[Finder<'static>; 4]> = LazyLock::new(|| {
    [
        Finder::new("\"Skill\""),
        Finder::new("<command-name>"),
        Finder::new("\"attributionSkill\""),
        Finder::new("unknown_command_fallback"),
    ]
});
static ANSWERING: LazyLock<[Finder<'static>; 3]> = LazyLock::new(|| {
    [
        Finder::new("\"tool_result\""),
        Finder::new("\"isMeta\""),
        Finder::new("\"assistant\""),
    ]
});

/// What to remember between two lines, and between two reads of a growing file.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct ClaudeState {
    /// The subagent whose file it is, from the file's name.
    pub subagent: Option<String>,
    last_at: Option<String>,
    calls: Vec<Call>,
    typed: Option<Typed>,
    recent: VecDeque<(String, String)>,
    /// Costs of calls that were not handed over yet.
    held: Vec<HeldCost>,
}

/// A tool call whose answer, or whose skill's folder, is still to come.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Call {
    tool_use_id: String,
    name: String,
    args: Option<String>,
    at: Option<String>,
    session: Option<String>,
    subagent: Option<String>,
    project: Option<String>,
    ok: Option<bool>,
    path: Option<String>,
    is_told: bool,
    lines: u32,
}

/// Reads one line and appends what is found with it.
///
/// # Errors
/// Says what is wrong with a line that is no whole JSON object. A line of no interest is not looked at
/// beyond its two ends.
pub(super) fn read_line(
    state: &mut ClaudeState,
    line: &[u8],
    out: &mut Vec<Found>,
) -> Result<(), String> {
    let line = line.trim_ascii();
    if !(line.starts_with(b"{") && line.ends_with(b"}")) {
        return Err("not a whole JSON object".to_owned());
    }
    let has = |words: &[Finder<'static>]| words.iter().any(|word| word.find(line).is_some());
    let is_waiting = !state.calls.is_empty() && has(ANSWERING.as_slice());
    if !(has(TELLING.as_slice()) || state.typed.is_some() || is_waiting) {
        state.age(out);
        return Ok(());
    }
    let value = json::parse(line).map_err(|error| error.to_string())?;
    if let Some(at) = text(&value, "timestamp") {
        state.last_at = Some(at);
    }
    if let Some(typed) = &mut state.typed {
        typed.follow(&value);
    }
    match value.get("type").and_then(Value::as_str) {
        Some("assistant") => state.assistant(&value, out),
        Some("user") => state.user(&value, out),
        Some("attachment") => state.attachment(&value, out),
        _ => {}
    }
    state.age(out);
    Ok(())
}

/// Hands over what waits for its answer or its folder; what comes later is told then.
pub(super) fn flush(state: &mut ClaudeState, out: &mut Vec<Found>) {
    let mut calls = std::mem::take(&mut state.calls);
    for call in calls.iter_mut().filter(|call| !call.is_told) {
        state.tell(call, out);
    }
    state.calls = calls;
}

fn text(value: &Value, key: &str) -> Option<String> {
    let text = value.get(key)?.as_str()?;
    (!text.is_empty()).then(|| text.to_owned())
}

/// The parts of a message's content; a plain text is one part.
fn parts(value: &Value) -> Vec<&Value> {
    match value.pointer("/message/content") {
        Some(Value::Array(parts)) => parts.iter().collect(),
        Some(whole @ Value::String(_)) => vec![whole],
        _ => Vec::new(),
    }
}

fn part_text(part: &Value) -> Option<&str> {
    part.as_str()
        .or_else(|| part.get("text").and_then(Value::as_str))
}

/// The folder a loaded skill says it lies in.
fn base_folder(value: &Value) -> Option<String> {
    let parts = parts(value);
    let text = parts.into_iter().find_map(part_text)?;
    let folder = text.strip_prefix(BASE_FOLDER)?.lines().next()?.trim();
    (!folder.is_empty()).then(|| folder.to_owned())
}

/// The name without the slash it may be called with.
fn plain(name: &str) -> &str {
    name.trim().trim_start_matches('/')
}

impl ClaudeState {
    fn assistant(&mut self, value: &Value, out: &mut Vec<Found>) {
        let is_own = |typed: &mut Typed| typed.is_sidechain == is_sidechain(value);
        self.typed.take_if(is_own);
        self.tell_answered(out);
        for part in parts(value) {
            let is_skill = part.get("type").and_then(Value::as_str) == Some("tool_use")
                && part.get("name").and_then(Value::as_str) == Some("Skill");
            if is_skill {
                self.called(value, part);
            }
        }
        self.cost(value, out);
    }

    fn called(&mut self, value: &Value, part: &Value) {
        let input = part.get("input");
        let word = |key: &str| input.and_then(|input| text(input, key));
        // Early versions said `command`.
        let Some(name) = word("skill").or_else(|| word("command")) else {
            return;
        };
        let Some(id) = text(part, "id") else {
            return;
        };
        if plain(&name).is_empty() || self.calls.iter().any(|call| call.tool_use_id == id) {
            return;
        }
        self.calls.push(Call {
            tool_use_id: id,
            name: plain(&name).to_owned(),
            args: word("args"),
            at: self.time(value),
            session: text(value, "sessionId"),
            subagent: self.subagent_of(value),
            project: text(value, "cwd"),
            ok: None,
            path: None,
            is_told: false,
            lines: 0,
        });
    }

    fn user(&mut self, value: &Value, out: &mut Vec<Found>) {
        let is_meta = value.get("isMeta").and_then(Value::as_bool) == Some(true);
        if is_meta {
            return self.body(value, out);
        }
        let mut has_answer = false;
        for part in parts(value) {
            let Some(id) = part.get("tool_use_id").and_then(Value::as_str) else {
                continue;
            };
            has_answer = true;
            self.answered(id, succeeded(value, part), out);
        }
        if !has_answer {
            let typed = typed_command(value).map(|typed| Typed {
                at: self.time(value),
                is_sidechain: is_sidechain(value),
                ..typed
            });
            let is_own = |typed: &mut Typed| typed.is_sidechain == is_sidechain(value);
            if typed.is_some() || self.typed.take_if(is_own).is_some() {
                self.typed = typed;
            }
        }
    }

    /// The text of a skill, put in by the client: it says which folder was loaded, and that a typed
    /// command was one.
    fn body(&mut self, value: &Value, out: &mut Vec<Found>) {
        let folder = base_folder(value);
        let source = text(value, "sourceToolUseID");
        if let Some(index) = self.awaits_folder(source.as_deref(), folder.as_deref()) {
            let mut call = self.calls.swap_remove(index);
            call.path = folder;
            call.ok = call.ok.or(Some(true));
            return self.tell(&mut call, out);
        }
        let is_caveat = parts(value)
            .into_iter()
            .find_map(part_text)
            .is_some_and(|text| text.starts_with("Caveat:") || text.starts_with("<local-command"));
        let parent = text(value, "parentUuid");
        let is_own = |typed: &mut Typed| !is_caveat && typed.is_followed_by(parent.as_deref());
        let Some(typed) = self.typed.take_if(is_own) else {
            return;
        };
        self.tell_typed(value, typed, folder, Some(true), out);
    }

    /// The call whose body this is: the one it names, else (older versions name none) the first that went
    /// well and is called like the folder, when no typed command comes first.
    fn awaits_folder(&self, source: Option<&str>, folder: Option<&str>) -> Option<usize> {
        if let Some(source) = source {
            return self
                .calls
                .iter()
                .position(|call| call.tool_use_id == source);
        }
        let folder = folder.filter(|_| self.typed.is_none())?;
        let last = folder.trim_end_matches('/').rsplit('/').next();
        let waits = |call: &Call| call.ok == Some(true) && call.path.is_none();
        let is_named = |call: &Call| call.name.rsplit(':').next() == last;
        let named = self
            .calls
            .iter()
            .position(|call| waits(call) && is_named(call));
        named.or_else(|| self.calls.iter().position(waits))
    }

    fn tell_typed(
        &mut self,
        value: &Value,
        typed: Typed,
        path: Option<String>,
        ok: Option<bool>,
        out: &mut Vec<Found>,
    ) {
        let Some(uuid) = typed.uuid else {
            return;
        };
        let found = FoundUse {
            event_id: format!("{ID}{uuid}"),
            name: typed.name,
            path,
            kind: UseKind::Use,
            trigger: Trigger::Slash,
            session: text(value, "sessionId"),
            subagent: self.subagent_of(value),
            channel: text(value, "entrypoint"),
            project: text(value, "cwd"),
            at: typed.at,
            ok,
            args: typed.args,
            file: None,
            is_again: false,
        };
        self.remember(&found.name, &found.event_id);
        out.push(Found::Use(Box::new(found)));
    }

    /// A typed command that nothing is installed for.
    fn attachment(&mut self, value: &Value, out: &mut Vec<Found>) {
        let Some(attachment) = value.get("attachment") else {
            return;
        };
        if attachment.get("type").and_then(Value::as_str) != Some("unknown_command_fallback") {
            return;
        }
        let Some(name) = text(attachment, "commandName") else {
            return;
        };
        let typed = Typed {
            uuid: text(value, "uuid"),
            name: plain(&name).to_owned(),
            at: self.time(value),
            ..Typed::default()
        };
        self.tell_typed(value, typed, None, Some(false), out);
    }

    fn answered(&mut self, id: &str, ok: bool, out: &mut Vec<Found>) {
        let Some(index) = self.calls.iter().position(|call| call.tool_use_id == id) else {
            return;
        };
        if !ok {
            let mut call = self.calls.swap_remove(index);
            call.ok = Some(false);
            return self.tell(&mut call, out);
        }
        // Its text, which says the folder, comes next.
        if let Some(call) = self.calls.get_mut(index) {
            if call.is_told && call.ok.is_none() {
                out.push(Found::Outcome(format!("{ID}{id}"), true));
            }
            call.ok = Some(true);
        }
    }

    fn tell_answered(&mut self, out: &mut Vec<Found>) {
        let (done, open): (Vec<Call>, Vec<Call>) = std::mem::take(&mut self.calls)
            .into_iter()
            .partition(|call| call.ok.is_some());
        self.calls = open;
        for mut call in done {
            if !call.is_told {
                self.tell(&mut call, out);
            }
        }
    }

    /// Hands over a call; of one that was handed over before, what is known only now.
    fn tell(&mut self, call: &mut Call, out: &mut Vec<Found>) {
        let event_id = format!("{ID}{}", call.tool_use_id);
        if let (true, Some(ok)) = (call.is_told, call.ok) {
            out.push(Found::Outcome(event_id.clone(), ok));
        }
        if call.is_told && call.path.is_none() {
            return;
        }
        self.remember(&call.name, &event_id);
        out.push(Found::Use(Box::new(FoundUse {
            event_id,
            name: call.name.clone(),
            path: call.path.clone(),
            kind: UseKind::Use,
            trigger: Trigger::Model,
            session: call.session.clone(),
            subagent: call.subagent.clone(),
            channel: None,
            project: call.project.clone(),
            at: call.at.clone(),
            ok: call.ok,
            args: call.args.clone(),
            file: None,
            is_again: call.is_told,
        })));
        call.is_told = true;
        self.tell_costs(&call.tool_use_id, out);
    }

    /// Hands over calls that wait for long, and gives up the oldest of too many.
    fn age(&mut self, out: &mut Vec<Found>) {
        if self.calls.is_empty() {
            return;
        }
        let mut calls = std::mem::take(&mut self.calls);
        for call in &mut calls {
            call.lines = call.lines.saturating_add(1);
            if call.lines > PATIENCE && !call.is_told {
                self.tell(call, out);
            }
        }
        while calls.len() > MOST_CALLS {
            let mut oldest = calls.remove(0);
            if !oldest.is_told {
                self.tell(&mut oldest, out);
            }
        }
        self.calls = calls;
    }

    fn remember(&mut self, name: &str, event_id: &str) {
        self.recent
            .push_front((name.to_owned(), event_id.to_owned()));
        self.recent.truncate(MOST_RECENT);
    }

    fn time(&self, value: &Value) -> Option<String> {
        text(value, "timestamp").or_else(|| self.last_at.clone())
    }

    fn subagent_of(&self, value: &Value) -> Option<String> {
        let unnamed = || is_sidechain(value).then(|| "sidechain".to_owned());
        text(value, "agentId")
            .or_else(|| self.subagent.clone())
            .or_else(unnamed)
    }
}

/// Whether a line belongs to a subagent; older versions wrote those into the session's own file.
fn is_sidechain(value: &Value) -> bool {
    value.get("isSidechain") == Some(&Value::Bool(true))
}

/// Whether the answer to a call says that it went well. In a subagent's file only the first half is there.
fn succeeded(value: &Value, part: &Value) -> bool {
    let is_error = part.get("is_error").and_then(Value::as_bool) == Some(true);
    let has_failed = value
        .pointer("/toolUseResult/success")
        .and_then(Value::as_bool)
        == Some(false);
    !is_error && !has_failed
}

#[cfg(test)]
mod tests;
