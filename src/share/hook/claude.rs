//! What Claude Code tells a hook.

use serde_json::Value;

use super::{Heard, text, transcript};
use crate::share::import::CLAUDE_ID;
use crate::time::Timestamp;
use crate::usage::{HOOK_ID, Recording};

pub(super) fn hear(input: &Value, now: Timestamp) -> Heard {
    let event = text(input, "hook_event_name").unwrap_or_default();
    let used = match event.as_str() {
        "PostToolUse" => called(input, has_succeeded(input)),
        "PostToolUseFailure" => called(input, false),
        "UserPromptExpansion" => typed(input, now),
        "SessionEnd" | "Stop" => {
            return transcript(input).map_or(Heard::Nothing, Heard::Transcript);
        }
        _ => None,
    };
    used.map_or(Heard::Nothing, |used| Heard::Uses(vec![used]))
}

fn has_succeeded(input: &Value) -> bool {
    let response = |key: &str| input.pointer(&format!("/tool_response/{key}"));
    response("success") != Some(&Value::Bool(false))
        && response("is_error") != Some(&Value::Bool(true))
}

fn called(input: &Value, ok: bool) -> Option<Recording> {
    if text(input, "tool_name").as_deref() != Some("Skill") {
        return None;
    }
    let asked = input.get("tool_input")?;
    let name = text(asked, "skill").or_else(|| text(asked, "command"))?;
    let id = text(input, "tool_use_id")?;
    Some(Recording {
        name: plain(&name)?,
        event_id: Some(format!("{CLAUDE_ID}{id}")),
        ok: Some(ok),
        trigger: Some("model".to_owned()),
        args: text(asked, "args"),
        ..base(input)
    })
}

/// A command somebody typed. It has no id that the transcript knows, so the session, the name and the
/// second stand for it: two hooks that hear the same make one event, and the import claims it.
fn typed(input: &Value, now: Timestamp) -> Option<Recording> {
    if text(input, "expansion_type").as_deref() == Some("mcp_prompt") {
        return None;
    }
    let name = plain(&text(input, "command_name")?)?;
    let session = text(input, "session_id").unwrap_or_default();
    let mark = text(input, "prompt_id").unwrap_or_else(|| (now.millis() / 1_000).to_string());
    Some(Recording {
        event_id: Some(format!("{HOOK_ID}{session}:{name}:{mark}")),
        name,
        ok: Some(true),
        trigger: Some("slash".to_owned()),
        args: text(input, "command_args"),
        ..base(input)
    })
}

fn base(input: &Value) -> Recording {
    Recording {
        kind: Some("use".to_owned()),
        client: Some("claude-code".to_owned()),
        session: text(input, "session_id"),
        subagent: text(input, "agent_id"),
        project: text(input, "cwd"),
        ..Recording::default()
    }
}

fn plain(name: &str) -> Option<String> {
    let name = name.trim().trim_start_matches('/');
    (!name.is_empty()).then(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn heard(input: &Value) -> Option<(String, String, Option<bool>)> {
        match hear(input, Timestamp::from_millis(5_000)) {
            Heard::Uses(mut uses) => uses
                .pop()
                .map(|used| (used.name, used.event_id.unwrap_or_default(), used.ok)),
            _ => None,
        }
    }

    #[test]
    fn a_skill_call_is_heard_with_its_outcome() {
        let mut input = json!({"hook_event_name": "PostToolUse", "session_id": "s", "tool_name": "Skill",
            "tool_use_id": "toolu_1", "tool_input": {"skill": "/a"}, "tool_response": {"success": true}});
        let id = "claude-code:toolu_1".to_owned();
        assert_eq!(
            heard(&input),
            Some(("a".to_owned(), id.clone(), Some(true)))
        );
        input["tool_response"]["success"] = json!(false);
        assert_eq!(
            heard(&input),
            Some(("a".to_owned(), id.clone(), Some(false)))
        );
        input["hook_event_name"] = json!("PostToolUseFailure");
        assert_eq!(heard(&input), Some(("a".to_owned(), id, Some(false))));
        input["tool_name"] = json!("Bash");
        assert_eq!(heard(&input), None);
    }

    #[test]
    fn a_typed_command_is_heard_once_by_two_hooks() {
        let input = json!({"hook_event_name": "UserPromptExpansion", "session_id": "s", "expansion_type": "slash_command", "command_name": "a", "command_args": "x"});
        let id = "claude-code:typed:s:a:5".to_owned();
        assert_eq!(heard(&input), Some(("a".to_owned(), id, Some(true))));
        let prompt = json!({"hook_event_name": "UserPromptExpansion", "expansion_type": "mcp_prompt", "command_name": "a"});
        assert_eq!(heard(&prompt), None);
    }

    #[test]
    fn the_end_of_a_session_names_its_transcript() {
        let input = json!({"hook_event_name": "SessionEnd", "transcript_path": "/x/s.jsonl"});
        assert_eq!(
            hear(&input, Timestamp::from_millis(0)),
            Heard::Transcript("/x/s.jsonl".into())
        );
        let odd = json!({"hook_event_name": "SessionEnd", "transcript_path": "/etc/passwd"});
        assert_eq!(hear(&odd, Timestamp::from_millis(0)), Heard::Nothing);
    }

    #[test]
    fn odd_input_is_nothing() {
        for input in [
            json!(null),
            json!([]),
            json!({"hook_event_name": 5}),
            json!({"hook_event_name": "PostToolUse", "tool_name": "Skill"}),
        ] {
            assert_eq!(hear(&input, Timestamp::from_millis(0)), Heard::Nothing);
        }
    }
}
