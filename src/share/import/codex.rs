//! Owns the reading of Codex rollout files: finds the uses of skills, one line at a time.
//!
//! Nothing here touches a file system or a clock: the lines come from the caller, and so does the
//! knowledge of which files belong to a skill. What must outlast a read is in [`CodexState`].

use memchr::memmem::{Finder, find};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::sync::LazyLock;

use super::shell_rule::{ShellCall, SkillOf, file_name, resolve};
use values::{code_is_zero, milliseconds, skill_block, succeeded};

mod values;

const MAX_ARGS: usize = 200;
/// Calls that were broken off never get an outcome; the state must not grow by them for ever.
const MAX_PENDING: usize = 64;
/// A fork writes its parent's lines anew right after its own first line.
const COPY_MILLISECONDS: i64 = 5_000;
/// User messages that Codex writes by itself: they open no turn.
const INJECTED: [&str; 6] = [
    "<environment_context>",
    "<user_instructions>",
    "<turn_aborted>",
    "<user_shell_command>",
    "<subagent_notification>",
    "# AGENTS.md instructions",
];

/// With their quotes these cannot occur within a JSON string, where a quote is escaped.
static ALWAYS: LazyLock<Vec<Finder<'static>>> = LazyLock::new(|| {
    let needles = [
        "\"session_meta\"",
        "\"turn_context\"",
        "<skill>",
        "\"exec_command\"",
        "\"shell\"",
        "\"shell_command\"",
        "\"local_shell\"",
        "\"local_shell_call\"",
        "\"container.exec\"",
        "\"unified_exec\"",
    ];
    needles.into_iter().map(Finder::new).collect()
});
static USER: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("\"user\""));
static CALL_ID: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("call_id"));

/// One use found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct CodexUse {
    /// Names the use: one per skill and turn, the same in a fork as in its parent.
    pub event_id: String,
    /// The skill's name as Codex says it; for an implicit use the name of the skill's folder.
    pub name: String,
    /// The skill's folder, when known.
    pub path: Option<String>,
    /// Whether the user asked for the skill by name.
    pub is_typed: bool,
    /// The line's `timestamp` as it stands.
    pub at: Option<String>,
    /// Whether it went well; `None` when that cannot be told (yet).
    pub ok: Option<bool>,
    /// Of an implicit use: the command, cut to 200 characters.
    pub args: Option<String>,
}

/// What to remember between two reads of a growing file.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct CodexState {
    /// The session's id. May be set beforehand from the file's name, for a file that has none.
    pub session_id: Option<String>,
    /// The working folder as of the last line that named it.
    pub cwd: Option<String>,
    /// The session's `originator`.
    pub channel: Option<String>,
    /// What kind of subagent the session is, if it is one.
    pub subagent: Option<String>,
    /// The session this one was forked from.
    pub parent_id: Option<String>,
    /// The turn's id, where the file gives ids.
    pub turn_id: Option<String>,
    /// The turn's number, from 1; 0 before the first.
    pub turn: u32,
    /// Outcomes of uses that [`flush`] had already returned: event id and ok. To be drained.
    #[serde(skip)]
    pub settled: Vec<(String, bool)>,
    has_session: bool,
    has_turn_context: bool,
    session_at: Option<i64>,
    seen: Vec<Seen>,
    pending: Vec<Pending>,
}

/// A skill used in the present turn.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Seen {
    event_id: String,
    name: String,
    path: Option<String>,
    is_typed: bool,
}

/// An implicit use whose outcome is still to come.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Pending {
    call_id: String,
    is_flushed: bool,
    found: CodexUse,
}

/// Reads one line of a rollout file and appends the uses that are complete with it.
///
/// # Errors
/// Says what is wrong with a line that is no whole JSON object; the state is then as before.
/// An empty line is such a line. A line of no interest is not looked at beyond its two ends.
pub(super) fn read_line(
    state: &mut CodexState,
    line: &[u8],
    skill_of: &SkillOf<'_>,
    out: &mut Vec<CodexUse>,
) -> Result<(), String> {
    let line = line.trim_ascii();
    if !(line.starts_with(b"{") && line.ends_with(b"}")) {
        return Err("not a whole JSON object".to_owned());
    }
    if !is_of_interest(state, line) {
        return Ok(());
    }
    let value: Value =
        crate::share::json::parse(line).map_err(|error| format!("not JSON: {error}"))?;
    let Some(payload) = value.get("payload") else {
        return Ok(());
    };
    let at = text(&value, "timestamp");
    match (text(&value, "type"), text(payload, "type")) {
        (Some("session_meta"), _) => read_session(state, payload, at),
        (Some("turn_context"), _) => read_turn(state, payload),
        (Some("response_item"), Some("message")) => read_message(state, payload, at, out),
        (Some("response_item"), Some("function_call_output" | "custom_tool_call_output")) => {
            let ok = payload.get("output").and_then(succeeded);
            settle(state, payload, ok, out);
        }
        (Some("response_item"), Some(_)) => read_call(state, payload, at, skill_of, out),
        (Some("event_msg"), Some("exec_command_end")) => {
            settle(state, payload, code_is_zero(payload), out);
        }
        _ => {}
    }
    Ok(())
}

/// Returns the uses that still wait for their outcome, with `ok` unknown. They stay in the state:
/// an outcome that comes later is put in [`CodexState::settled`]. Called at the end of the file.
pub(super) fn flush(state: &mut CodexState, out: &mut Vec<CodexUse>) {
    for pending in state.pending.iter_mut().filter(|p| !p.is_flushed) {
        pending.is_flushed = true;
        out.push(pending.found.clone());
    }
}

/// Parsing is what costs, so most lines must be refused by their bytes alone.
fn is_of_interest(state: &CodexState, line: &[u8]) -> bool {
    let has = |finder: &Finder<'_>| finder.find(line).is_some();
    let is_awaited = |p: &Pending| find(line, p.call_id.as_bytes()).is_some();
    ALWAYS.iter().any(has)
        || (!state.has_turn_context && has(&USER))
        || (!state.pending.is_empty() && has(&CALL_ID) && state.pending.iter().any(is_awaited))
}

fn text<'a>(value: &'a Value, key: &str) -> Option<&'a str> {
    value.get(key).and_then(Value::as_str)
}

fn read_session(state: &mut CodexState, payload: &Value, at: Option<&str>) {
    let owned = |key| text(payload, key).map(str::to_owned);
    let id = owned("id").or_else(|| owned("session_id"));
    if state.has_session {
        // A session that is taken up again may repeat its own first line.
        if state.parent_id.is_none() && id != state.session_id {
            state.parent_id = id;
        }
        return;
    }
    state.has_session = true;
    state.session_id = id.or_else(|| state.session_id.take());
    state.cwd = owned("cwd").or_else(|| state.cwd.take());
    state.channel = owned("originator");
    // The line's own time first: that is what the times of copied lines are near to.
    state.session_at = at
        .or_else(|| text(payload, "timestamp"))
        .and_then(milliseconds);
    let subagent = payload
        .get("source")
        .and_then(|source| source.get("subagent"));
    state.subagent = subagent.filter(|value| !value.is_null()).map(|value| {
        let first_key = || value.as_object().and_then(|map| map.keys().next());
        let kind = value.as_str().or_else(|| first_key().map(String::as_str));
        kind.unwrap_or("subagent").to_owned()
    });
}

fn read_turn(state: &mut CodexState, payload: &Value) {
    if let Some(cwd) = text(payload, "cwd") {
        state.cwd = Some(cwd.to_owned());
    }
    let turn_id = text(payload, "turn_id").map(str::to_owned);
    // A turn that goes on after a compaction says its context again.
    if turn_id.is_some() && turn_id == state.turn_id {
        return;
    }
    state.turn_id = turn_id;
    // Old files have the first message before the first context: both are of one turn.
    if state.has_turn_context || state.turn != 1 {
        open_turn(state);
    }
    state.has_turn_context = true;
}

fn open_turn(state: &mut CodexState) {
    state.turn = state.turn.saturating_add(1);
    state.seen.clear();
}

fn read_message(
    state: &mut CodexState,
    payload: &Value,
    at: Option<&str>,
    out: &mut Vec<CodexUse>,
) {
    if text(payload, "role") != Some("user") {
        return;
    }
    let items = payload.get("content").and_then(Value::as_array);
    for item in items.into_iter().flatten() {
        let content = match text(item, "type") {
            Some("input_text") => text(item, "text").unwrap_or_default().trim(),
            _ => continue,
        };
        if let Some((name, path)) = skill_block(content) {
            use_typed(state, name, path, at, out);
        } else if !state.has_turn_context && is_prompt(content) {
            open_turn(state);
        }
    }
}

fn is_prompt(content: &str) -> bool {
    !content.is_empty() && !INJECTED.iter().any(|start| content.starts_with(start))
}

/// The block names the skill's file; some versions may name the folder.
fn skill_folder(cwd: Option<&str>, path: &str) -> Option<String> {
    let path = resolve(cwd, path)?;
    if !file_name(&path).eq_ignore_ascii_case("SKILL.md") {
        return Some(path);
    }
    path.rsplit_once('/').map(|(folder, _)| folder.to_owned())
}

fn use_typed(
    state: &mut CodexState,
    name: &str,
    path: &str,
    at: Option<&str>,
    out: &mut Vec<CodexUse>,
) {
    let path = skill_folder(state.cwd.as_deref(), path);
    let event_id = match state.seen.iter_mut().find(|s| s.is(name, path.as_deref())) {
        Some(seen) if seen.is_typed => return,
        Some(seen) => {
            seen.is_typed = true;
            seen.event_id.clone()
        }
        None => remember(state, name, path.as_deref(), true, at),
    };
    // That the user asked for it outweighs how the command ends.
    state.pending.retain(|p| p.found.event_id != event_id);
    out.push(CodexUse {
        event_id,
        name: name.to_owned(),
        path,
        is_typed: true,
        at: at.map(str::to_owned),
        ok: Some(true),
        args: None,
    });
}

fn read_call(
    state: &mut CodexState,
    payload: &Value,
    at: Option<&str>,
    skill_of: &SkillOf<'_>,
    out: &mut Vec<CodexUse>,
) {
    let Some(call) = ShellCall::from_payload(payload) else {
        return;
    };
    let cwd = state.cwd.as_deref();
    let folder = resolve(cwd, call.workdir.as_deref().unwrap_or("."));
    let Some(path) = call.command.skill(folder.as_deref(), skill_of) else {
        return;
    };
    let name = file_name(path.trim_end_matches(['/', '\\'])).to_owned();
    if state.seen.iter().any(|s| s.is(&name, Some(&path))) {
        return;
    }
    let found = CodexUse {
        event_id: remember(state, &name, Some(&path), false, at),
        name,
        path: Some(path),
        is_typed: false,
        at: at.map(str::to_owned),
        ok: None,
        args: Some(call.command.text().chars().take(MAX_ARGS).collect()),
    };
    match call.call_id {
        Some(call_id) => wait_for(state, call_id, found, out),
        None => out.push(found),
    }
}

fn wait_for(state: &mut CodexState, call_id: String, found: CodexUse, out: &mut Vec<CodexUse>) {
    if state.pending.len() >= MAX_PENDING {
        let oldest = state.pending.remove(0);
        out.extend((!oldest.is_flushed).then_some(oldest.found));
    }
    state.pending.push(Pending {
        call_id,
        is_flushed: false,
        found,
    });
}

fn settle(state: &mut CodexState, payload: &Value, ok: Option<bool>, out: &mut Vec<CodexUse>) {
    let call_id = text(payload, "call_id");
    let is_it = |p: &Pending| Some(p.call_id.as_str()) == call_id;
    let Some(at) = state.pending.iter().position(is_it) else {
        return;
    };
    let Pending {
        is_flushed,
        mut found,
        ..
    } = state.pending.remove(at);
    if !is_flushed {
        found.ok = ok;
        out.push(found);
    } else if let Some(ok) = ok {
        state.settled.push((found.event_id, ok));
    }
}

impl Seen {
    fn is(&self, name: &str, path: Option<&str>) -> bool {
        match (self.path.as_deref(), path) {
            (Some(mine), Some(other)) => mine == other,
            _ => self.name == name,
        }
    }
}

/// Notes the skill as used in this turn and gives the event its id.
fn remember(
    state: &mut CodexState,
    name: &str,
    path: Option<&str>,
    is_typed: bool,
    at: Option<&str>,
) -> String {
    let event_id = if let Some(turn_id) = &state.turn_id {
        format!("codex:{turn_id}:{name}")
    } else {
        let parent = state.parent_id.as_deref().filter(|_| is_copied(state, at));
        let session = parent.or(state.session_id.as_deref()).unwrap_or("unknown");
        format!("codex:{session}:turn{}:{name}", state.turn)
    };
    state.seen.push(Seen {
        event_id: event_id.clone(),
        name: name.to_owned(),
        path: path.map(str::to_owned),
        is_typed,
    });
    event_id
}

fn is_copied(state: &CodexState, at: Option<&str>) -> bool {
    match (state.session_at, at.and_then(milliseconds)) {
        (Some(start), Some(at)) => at <= start.saturating_add(COPY_MILLISECONDS),
        _ => false,
    }
}

#[cfg(test)]
mod tests;
