//! Hooks: what a client tells a command while it runs, and how that command gets into the client's
//! settings.

mod claude;
mod codex;
mod install;
mod settings;

use std::path::PathBuf;

use serde_json::Value;

use crate::share::import::LineClient;
use crate::store::Store;
use crate::time::Timestamp;
use crate::usage::Recording;

pub use install::{Edit, Setup, apply, plan_install, plan_uninstall, status};
pub use settings::FoundHook;

/// What a hook heard.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Heard {
    /// Skills were used.
    Uses(Vec<Recording>),
    /// A session, or a turn of it, is over: its transcript can be imported.
    Transcript(PathBuf),
    /// Nothing of interest.
    Nothing,
}

/// Parses the input a client gives a hook.
///
/// # Errors
/// What the parser says.
pub fn parse(input: &[u8]) -> serde_json::Result<Value> {
    crate::share::json::parse(input)
}

/// Whether an input can say anything of a skill: told without a database.
#[must_use]
pub fn is_of_interest(client: LineClient, input: &Value) -> bool {
    match client {
        LineClient::ClaudeCode => claude::hear(input, Timestamp::from_millis(0)) != Heard::Nothing,
        LineClient::Codex => codex::is_of_interest(input),
    }
}

/// Reads the input a client gives a hook.
#[must_use]
pub fn hear(
    client: LineClient,
    input: &Value,
    store: &Store,
    user_home: &std::path::Path,
    now: Timestamp,
) -> Heard {
    match client {
        LineClient::ClaudeCode => claude::hear(input, now),
        LineClient::Codex => codex::hear(input, store, user_home),
    }
}

/// As [`hear`] for Claude Code, whose input needs no database to be understood; only uses.
#[must_use]
pub fn hear_claude(input: &Value, now: Timestamp) -> Vec<Recording> {
    match claude::hear(input, now) {
        Heard::Uses(uses) => uses,
        Heard::Transcript(_) | Heard::Nothing => Vec::new(),
    }
}

/// The transcript a hook's input names.
#[must_use]
pub fn transcript(input: &Value) -> Option<PathBuf> {
    let path = PathBuf::from(text(input, "transcript_path")?);
    let is_history = path.extension().is_some_and(|ending| ending == "jsonl");
    is_history.then_some(path)
}

fn text(value: &Value, key: &str) -> Option<String> {
    let text = value.get(key)?.as_str()?;
    (!text.is_empty()).then(|| text.to_owned())
}
