//! Owns the edits of an AI client's settings text (JSON with comments): only hook entries change.

use std::fmt;

use document::{Document, Hit};
use splice::{Slot, apply};
use write::{Json, quoted};

mod document;
mod splice;
#[cfg(test)]
mod tests;
mod write;

const BOM: &str = "\u{feff}";

/// One hook to be installed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct HookEntry<'a> {
    /// The client's event, a key below `hooks`.
    pub event: &'a str,
    /// What the event must match; `None` writes no `matcher` key.
    pub matcher: Option<&'a str>,
    /// Shell command the client runs, not yet escaped for JSON.
    pub command: &'a str,
    /// How long the client waits for the command.
    pub timeout_seconds: u32,
}

/// A hook found in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundHook {
    /// The client's event, a key below `hooks`.
    pub event: String,
    /// The group's `matcher`, where it is a string.
    pub matcher: Option<String>,
    /// Shell command the client runs, with JSON escapes resolved.
    pub command: String,
}

impl FoundHook {
    fn is_for(&self, entry: &HookEntry<'_>) -> bool {
        self.event == entry.event && self.matcher.as_deref() == entry.matcher
    }

    fn is_exactly(&self, entry: &HookEntry<'_>) -> bool {
        self.is_for(entry) && self.command == entry.command
    }
}

/// Why a settings file cannot be edited.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SettingsError {
    /// Line, counted from 1.
    pub line: Option<u32>,
    /// Column in characters, counted from 1; a byte order mark does not count.
    pub column: Option<u32>,
    /// One sentence.
    pub message: String,
}

impl fmt::Display for SettingsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.line, self.column) {
            (Some(line), Some(column)) => {
                write!(f, "line {line}, column {column}: {}", self.message)
            }
            _ => f.write_str(&self.message),
        }
    }
}

impl std::error::Error for SettingsError {}

/// The text with exactly `entries` as our hooks.
///
/// Hooks whose command `is_ours` denies stay untouched. One of ours whose command alone differs
/// gets the new command and keeps the rest, its timeout for example.
pub(super) fn plan_install(
    text: &str,
    entries: &[HookEntry<'_>],
    is_ours: &dyn Fn(&str) -> bool,
) -> Result<String, SettingsError> {
    let (bom, body) = split_bom(text);
    let blank = body.trim().is_empty() && !entries.is_empty();
    let mut body = replace_outdated(if blank { "{}\n" } else { body }, entries, is_ours)?;
    for entry in entries {
        if let Some(next) = append_missing(&body, entry)? {
            body = next;
        }
    }
    // Last, so that containers we still need are not removed and created anew.
    while let Some(next) = remove_last(&body, entries, is_ours)? {
        body = next;
    }
    Ok(format!("{bom}{body}"))
}

/// The text without our hooks and without the containers that became empty by that.
///
/// Undoes [`plan_install`] byte for byte, except that an empty text stays `{}`.
pub(super) fn plan_uninstall(
    text: &str,
    is_ours: &dyn Fn(&str) -> bool,
) -> Result<String, SettingsError> {
    let (bom, body) = split_bom(text);
    let mut body = body.to_owned();
    while let Some(next) = remove_last(&body, &[], is_ours)? {
        body = next;
    }
    Ok(format!("{bom}{body}"))
}

/// All hooks of the file, in file order.
pub(super) fn find_hooks(text: &str) -> Result<Vec<FoundHook>, SettingsError> {
    let hits = Document::parse(split_bom(text).1)?.hits()?;
    Ok(hits.into_iter().map(|hit| hit.found).collect())
}

fn split_bom(text: &str) -> (&str, &str) {
    text.strip_prefix(BOM)
        .map_or(("", text), |body| (BOM, body))
}

/// Gives hooks of ours that differ from a missing entry only by their command the entry's command.
fn replace_outdated(
    body: &str,
    entries: &[HookEntry<'_>],
    is_ours: &dyn Fn(&str) -> bool,
) -> Result<String, SettingsError> {
    let hits = Document::parse(body)?.hits()?;
    let wanted = |found: &FoundHook| entries.iter().any(|entry| found.is_exactly(entry));
    let mut outdated: Vec<&Hit> = hits
        .iter()
        .filter(|hit| is_ours(&hit.found.command) && !wanted(&hit.found))
        .collect();
    let mut edits = Vec::new();
    for entry in entries {
        if hits.iter().any(|hit| hit.found.is_exactly(entry)) {
            continue;
        }
        if let Some(index) = outdated.iter().position(|hit| hit.found.is_for(entry)) {
            edits.push((outdated.remove(index).command, quoted(entry.command)));
        }
    }
    Ok(apply(body, edits))
}

/// Adds the entry as a new group at the end of its event, or `None` if it is there already.
fn append_missing(body: &str, entry: &HookEntry<'_>) -> Result<Option<String>, SettingsError> {
    let document = Document::parse(body)?;
    if document
        .hits()?
        .iter()
        .any(|hit| hit.found.is_exactly(entry))
    {
        return Ok(None);
    }
    let group = group_of(entry);
    let hooks = document.hooks()?.and_then(|prop| prop.value.as_object());
    let event = hooks.and_then(|hooks| hooks.get(entry.event));
    let (slot, key, value) = match (hooks, event.and_then(|event| event.value.as_array())) {
        (_, Some(groups)) => (Slot::of_array(groups), None, group),
        (Some(hooks), None) => (
            Slot::of_object(hooks),
            Some(entry.event),
            Json::list(vec![group]),
        ),
        (None, None) => {
            let events = Json::map(vec![(entry.event, Json::list(vec![group]))]);
            (Slot::of_object(&document.root), Some("hooks"), events)
        }
    };
    Ok(Some(document.insert(&slot, key, &value)))
}

fn group_of<'a>(entry: &HookEntry<'a>) -> Json<'a> {
    let hook = Json::map(vec![
        ("type", Json::Text("command")),
        ("command", Json::Text(entry.command)),
        ("timeout", Json::Number(entry.timeout_seconds)),
    ]);
    let mut members = Vec::new();
    if let Some(matcher) = entry.matcher {
        members.push(("matcher", Json::Text(matcher)));
    }
    members.push(("hooks", Json::list(vec![hook])));
    Json::map(members)
}

/// Removes the last hook of ours that no entry asks for, or `None` if there is no such hook.
///
/// One at a time from the end: the reverse of the order in which they were appended, so that each
/// removal finds the spacing its insertion left.
fn remove_last(
    body: &str,
    entries: &[HookEntry<'_>],
    is_ours: &dyn Fn(&str) -> bool,
) -> Result<Option<String>, SettingsError> {
    let document = Document::parse(body)?;
    let hits = document.hits()?;
    let surplus = |index: usize, hit: &Hit| {
        let wanted = entries.iter().any(|entry| hit.found.is_exactly(entry));
        let mut earlier = hits.iter().take(index);
        let repeated = earlier.any(|earlier| earlier.found == hit.found);
        is_ours(&hit.found.command) && (!wanted || repeated)
    };
    let last = hits
        .iter()
        .enumerate()
        .rev()
        .find(|(index, hit)| surplus(*index, hit));
    Ok(last.map(|(_, hit)| document.remove(&hit.place)))
}
