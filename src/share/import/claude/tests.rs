//! The reader of transcripts, on lines as the client writes them.

use serde_json::json;

use super::*;

fn read(lines: &[Value]) -> Vec<Found> {
    let mut state = ClaudeState::default();
    let mut out = Vec::new();
    for line in lines {
        // What is remembered must survive being written down.
        let text = serde_json::to_string(&state).unwrap();
        state = serde_json::from_str(&text).unwrap();
        read_line(&mut state, line.to_string().as_bytes(), &mut out).unwrap();
    }
    flush(&mut state, &mut out);
    out
}

fn uses(found: &[Found]) -> Vec<(&str, Option<bool>, Option<&str>)> {
    found
        .iter()
        .filter_map(|found| match found {
            Found::Use(found) => Some((found.name.as_str(), found.ok, found.path.as_deref())),
            _ => None,
        })
        .collect()
}

fn call(id: &str, skill: &str) -> Value {
    json!({"type": "assistant", "sessionId": "s", "cwd": "/p", "timestamp": "2026-01-01T00:00:00Z",
        "message": {"id": "m", "content": [{"type": "tool_use", "id": id, "name": "Skill", "input": {"skill": skill}}]}})
}

fn answer(id: &str, is_error: bool) -> Value {
    json!({"type": "user", "sessionId": "s", "message": {"content": [{"type": "tool_result", "tool_use_id": id, "is_error": is_error, "content": "x"}]}})
}

fn body(id: &str, folder: &str) -> Value {
    json!({"type": "user", "isMeta": true, "sourceToolUseID": id, "message": {"content": [{"type": "text", "text": format!("Base directory for this skill: {folder}\n\n# Steps")}]}})
}

fn typed(uuid: &str, content: &str) -> Value {
    json!({"type": "user", "uuid": uuid, "timestamp": "2026-01-01T00:00:00Z", "message": {"content": content}})
}

#[test]
fn a_call_takes_its_outcome_and_its_folder_from_later_lines() {
    let found = read(&[call("1", "a"), answer("1", false), body("1", "/skills/a")]);
    assert_eq!(uses(&found), [("a", Some(true), Some("/skills/a"))]);
}

#[test]
fn a_call_that_failed_is_told_as_failed() {
    let found = read(&[call("1", "a"), answer("1", true)]);
    assert_eq!(uses(&found), [("a", Some(false), None)]);
}

#[test]
fn two_calls_in_one_answer_are_two() {
    let mut both = call("1", "a");
    let second = call("2", "b")["message"]["content"][0].clone();
    both["message"]["content"]
        .as_array_mut()
        .unwrap()
        .push(second);
    let found = read(&[
        both,
        answer("2", false),
        body("2", "/b"),
        answer("1", false),
        body("1", "/a"),
    ]);
    assert_eq!(
        uses(&found),
        [("b", Some(true), Some("/b")), ("a", Some(true), Some("/a"))]
    );
}

#[test]
fn an_outcome_that_comes_in_a_later_read_settles_the_use() {
    let mut state = ClaudeState::default();
    let mut out = Vec::new();
    read_line(&mut state, call("1", "a").to_string().as_bytes(), &mut out).unwrap();
    flush(&mut state, &mut out);
    assert_eq!(uses(&out), [("a", None, None)]);
    out.clear();
    read_line(
        &mut state,
        answer("1", true).to_string().as_bytes(),
        &mut out,
    )
    .unwrap();
    flush(&mut state, &mut out);
    assert_eq!(out, [Found::Outcome("claude-code:1".to_owned(), false)]);
}

#[test]
fn a_call_without_an_answer_is_told_in_the_end() {
    let mut lines = vec![call("1", "a")];
    lines.extend(std::iter::repeat_n(json!({"type": "system"}), 600));
    assert_eq!(uses(&read(&lines)), [("a", None, None)]);
}

#[test]
fn a_typed_command_counts_only_when_it_was_expanded() {
    let command = "<command-name>/a</command-name>\n<command-message>a</command-message>\n<command-args>x y</command-args>";
    let meta = json!({"type": "user", "isMeta": true, "parentUuid": "u", "message": {"content": "Base directory for this skill: /skills/a\n"}});
    let found = read(&[typed("u", command), meta]);
    assert_eq!(uses(&found), [("a", Some(true), Some("/skills/a"))]);
    let output = typed("v", "<local-command-stdout></local-command-stdout>");
    assert_eq!(uses(&read(&[typed("u", command), output])), []);
    assert_eq!(uses(&read(&[typed("u", command)])), []);
}

#[test]
fn a_quoted_tag_is_no_command() {
    let meta = json!({"type": "user", "isMeta": true, "message": {"content": "body"}});
    for text in [
        "why <command-name>/a</command-name>?",
        "<command-name>/a</command-name> is what I typed",
        "<command-name>/a</command-name><other>x</other>",
        "<command-name>/a",
        "<command-message>a</command-message>",
    ] {
        assert_eq!(uses(&read(&[typed("u", text), meta.clone()])), [], "{text}");
    }
}

#[test]
fn a_command_nothing_is_installed_for_is_a_failed_call() {
    let line = json!({"type": "attachment", "uuid": "u", "attachment": {"type": "unknown_command_fallback", "commandName": "/nope"}});
    assert_eq!(uses(&read(&[line])), [("nope", Some(false), None)]);
}

#[test]
fn a_text_that_mentions_the_tool_is_no_call() {
    let line = json!({"type": "assistant", "message": {"content": [{"type": "text", "text": "use {\"name\":\"Skill\"}"}]}});
    assert_eq!(read(&[line]), []);
}

#[test]
fn tokens_are_credited_by_message_to_the_newest_use_of_that_skill() {
    let spent = |id: &str, out: u64| {
        json!({"type": "assistant", "attributionSkill": "a", "timestamp": "2026-01-01T00:00:01Z",
            "message": {"id": id, "content": [], "usage": {"input_tokens": 5, "output_tokens": out, "cache_read_input_tokens": 900}}})
    };
    let found = read(&[
        call("1", "a"),
        answer("1", false),
        body("1", "/a"),
        spent("m1", 1),
        spent("m1", 7),
    ]);
    let costs: Vec<_> = found
        .iter()
        .filter_map(|found| match found {
            Found::Cost(cost) => Some((
                cost.message_id.as_str(),
                cost.event_id.as_deref(),
                cost.tokens_in,
                cost.tokens_out,
            )),
            _ => None,
        })
        .collect();
    assert_eq!(
        costs,
        [
            ("claude-code:m1", Some("claude-code:1"), 5, 1),
            ("claude-code:m1", Some("claude-code:1"), 5, 7)
        ]
    );
}

#[test]
fn a_line_that_is_cut_off_is_told() {
    let mut state = ClaudeState::default();
    let mut out = Vec::new();
    assert!(read_line(&mut state, b"{\"type\":\"assistant\"", &mut out).is_err());
    assert!(read_line(&mut state, b"{\"name\":\"Skill\" oops}", &mut out).is_err());
    assert!(read_line(&mut state, b"{\"type\":\"summary\"}", &mut out).is_ok());
}
