//! What Codex tells a hook. Its turns have ids, and a use is one skill in one turn, here as in the import.

use std::path::Path;

use serde_json::Value;

use super::{Heard, text, transcript};
use crate::share::import::{ShellCommand, codex_skill};
use crate::store::Store;
use crate::usage::Recording;

pub(super) fn hear(input: &Value, store: &Store, user_home: &Path) -> Heard {
    let event = text(input, "hook_event_name").unwrap_or_default();
    if ["Stop", "SessionEnd"].contains(&event.as_str()) {
        return transcript(input).map_or(Heard::Nothing, Heard::Transcript);
    }
    let Some(turn) = text(input, "turn_id") else {
        return Heard::Nothing;
    };
    let uses = match event.as_str() {
        "UserPromptSubmit" => mentioned(input, store, &turn),
        "PostToolUse" => ran(input, store, user_home, &turn).into_iter().collect(),
        _ => Vec::new(),
    };
    if uses.is_empty() {
        Heard::Nothing
    } else {
        Heard::Uses(uses)
    }
}

/// Whether an input can say anything of a skill.
pub(super) fn is_of_interest(input: &Value) -> bool {
    match text(input, "hook_event_name").as_deref() {
        Some("Stop" | "SessionEnd") => transcript(input).is_some(),
        Some("UserPromptSubmit") => {
            text(input, "prompt").is_some_and(|prompt| prompt.contains('$'))
        }
        Some("PostToolUse") => input.get("tool_input").is_some_and(|asked| {
            let words = asked.to_string();
            words.contains("SKILL.md") || words.contains("scripts/")
        }),
        _ => false,
    }
}

/// Skills a prompt asks for with `$name`. Whatever is no skill of the library may be a variable.
fn mentioned(input: &Value, store: &Store, turn: &str) -> Vec<Recording> {
    let prompt = text(input, "prompt").unwrap_or_default();
    let mut uses: Vec<Recording> = Vec::new();
    for name in dollar_names(&prompt) {
        let is_known = store
            .skills_named(name)
            .is_ok_and(|skills| !skills.is_empty());
        if is_known && uses.iter().all(|used| used.name != name) {
            uses.push(Recording {
                name: name.to_owned(),
                ok: Some(true),
                trigger: Some("slash".to_owned()),
                ..base(input, turn, name)
            });
        }
    }
    uses
}

fn dollar_names(prompt: &str) -> impl Iterator<Item = &str> {
    prompt.split('$').skip(1).filter_map(|rest| {
        let is_part = |c: char| c.is_alphanumeric() || "-_:".contains(c);
        let end = rest.find(|c: char| !is_part(c)).unwrap_or(rest.len());
        let name = rest.get(..end)?.trim_end_matches(':');
        (!name.is_empty()).then_some(name)
    })
}

/// The skill whose file a shell command reads or runs.
fn ran(input: &Value, store: &Store, user_home: &Path, turn: &str) -> Option<Recording> {
    let asked = input.get("tool_input")?;
    let command = ShellCommand::from_value(asked.get("command").or_else(|| asked.get("cmd"))?)?;
    let folder = text(asked, "workdir").or_else(|| text(input, "cwd"));
    let skill_of = |path: &str, kind| codex_skill(store, user_home, path, kind);
    let path = command.skill(folder.as_deref(), &skill_of)?;
    let name = path.rsplit('/').next()?.to_owned();
    // A prompt that asked for it said its own name, which need not be the folder's.
    let own = store.skills_named(&name).unwrap_or_default();
    let is_asked_for = own
        .iter()
        .filter(|skill| skill.path() == path)
        .any(|skill| {
            let id = format!("codex:{turn}:{}", skill.name);
            store.has_event(&id).unwrap_or_default()
        });
    if is_asked_for {
        return None;
    }
    Some(Recording {
        trigger: Some("model".to_owned()),
        args: Some(command.text().chars().take(200).collect()),
        path: Some(path),
        ..base(input, turn, &name)
    })
}

fn base(input: &Value, turn: &str, name: &str) -> Recording {
    Recording {
        kind: Some("use".to_owned()),
        name: name.to_owned(),
        event_id: Some(format!("codex:{turn}:{name}")),
        client: Some("codex".to_owned()),
        session: text(input, "session_id"),
        project: text(input, "cwd"),
        ..Recording::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_after_a_dollar_are_found() {
        let names: Vec<&str> =
            dollar_names("use $deploy, then $ops:check: and $$ or $ x [$a-b](p)").collect();
        assert_eq!(names, ["deploy", "ops:check", "a-b"]);
    }
}
