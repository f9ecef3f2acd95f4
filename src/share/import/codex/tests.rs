//! Owns the tests of the rollout reader: small rollouts as Codex writes them.

use super::super::shell_rule::Kind;
use super::*;
use serde_json::json;

mod turns;

const SESSION: &str = "0197-own";

/// Every folder below a `skills` folder is a skill here.
fn known(path: &str, kind: Kind) -> Option<String> {
    let (head, tail) = path.split_once("/skills/")?;
    let (name, inner) = tail.split_once('/')?;
    let is_hit = match kind {
        Kind::SkillFile => inner == "SKILL.md",
        Kind::Script => inner.starts_with("scripts/"),
    };
    is_hit.then(|| format!("{head}/skills/{name}"))
}

fn line(second: u32, kind: &str, payload: &Value) -> String {
    let timestamp = format!("2026-03-01T12:00:{second:02}.250Z");
    json!({"timestamp": timestamp, "type": kind, "payload": payload}).to_string()
}

fn meta(id: &str) -> String {
    let payload = json!({"id": id, "timestamp": "2026-03-01T12:00:00.000Z", "cwd": "/w",
        "originator": "codex_cli_rs", "cli_version": "0.99.0", "source": "cli"});
    line(0, "session_meta", &payload)
}

fn turn(second: u32, id: &str) -> String {
    let payload = json!({"turn_id": id, "cwd": "/w", "model": "gpt-5"});
    line(second, "turn_context", &payload)
}

fn old_turn(second: u32) -> String {
    line(
        second,
        "turn_context",
        &json!({"cwd": "/w", "model": "gpt-5"}),
    )
}

fn user(second: u32, text: &str) -> String {
    let payload = json!({"type": "message", "role": "user",
        "content": [{"type": "input_text", "text": text}]});
    line(second, "response_item", &payload)
}

fn block(name: &str) -> String {
    format!(
        "<skill>\n<name>{name}</name>\n<path>/w/skills/{name}/SKILL.md</path>\n---\nbody\n</skill>"
    )
}

fn call(second: u32, call_id: &str, name: &str, arguments: &Value) -> String {
    let payload = json!({"type": "function_call", "name": name, "call_id": call_id,
        "arguments": arguments.to_string()});
    line(second, "response_item", &payload)
}

fn cat(second: u32, call_id: &str, skill: &str) -> String {
    let command = format!("cat /w/skills/{skill}/SKILL.md");
    call(second, call_id, "exec_command", &json!({"cmd": command}))
}

fn output(second: u32, call_id: &str, output: &Value) -> String {
    let payload = json!({"type": "function_call_output", "call_id": call_id, "output": output});
    line(second, "response_item", &payload)
}

fn end(second: u32, call_id: &str, exit_code: i64) -> String {
    let payload = json!({"type": "exec_command_end", "call_id": call_id, "exit_code": exit_code,
        "aggregated_output": "x"});
    line(second, "event_msg", &payload)
}

fn read(state: &mut CodexState, lines: &[String]) -> Vec<CodexUse> {
    let mut out = Vec::new();
    for line in lines {
        read_line(state, line.as_bytes(), &known, &mut out).expect(line);
    }
    out
}

fn read_all(lines: &[String]) -> Vec<CodexUse> {
    let mut state = CodexState::default();
    let mut out = read(&mut state, lines);
    flush(&mut state, &mut out);
    out
}

fn ids(uses: &[CodexUse]) -> Vec<&str> {
    uses.iter().map(|found| found.event_id.as_str()).collect()
}

#[test]
fn a_typed_use() {
    let uses = read_all(&[meta(SESSION), turn(6, "t1"), user(7, &block("pdf"))]);
    let expected = CodexUse {
        event_id: "codex:t1:pdf".to_owned(),
        name: "pdf".to_owned(),
        path: Some("/w/skills/pdf".to_owned()),
        is_typed: true,
        at: Some("2026-03-01T12:00:07.250Z".to_owned()),
        ok: Some(true),
        args: None,
    };
    assert_eq!(uses, [expected]);
}

#[test]
fn a_quoted_block_is_no_use_but_each_item_counts_by_itself() {
    let quoted = format!("What does this mean?\n{}", block("pdf"));
    let by_model = json!({"type": "message", "role": "assistant",
        "content": [{"type": "output_text", "text": block("pdf")}]});
    let items = json!({"type": "message", "role": "user", "content": [
        {"type": "input_image", "image_url": "data:"},
        {"type": "input_text", "text": "use $a and $b"},
        {"type": "input_text", "text": block("a")},
        {"type": "input_text", "text": format!("\n{}\n", block("b"))}]});
    let uses = read_all(&[
        meta(SESSION),
        turn(6, "t1"),
        user(7, &quoted),
        line(8, "response_item", &by_model),
        output(8, "c0", &json!(block("pdf"))),
        line(9, "response_item", &items),
    ]);
    assert_eq!(ids(&uses), ["codex:t1:a", "codex:t1:b"]);
}

#[test]
fn an_implicit_use_with_its_outcome() {
    let mut state = CodexState::default();
    let arguments = json!({"command": ["bash", "-lc", "cat skills/pdf/SKILL.md"],
        "workdir": "/v/sub/.."});
    let head = [
        meta(SESSION),
        turn(6, "t1"),
        call(7, "c1", "shell", &arguments),
    ];
    assert_eq!(read(&mut state, &head), []);
    let uses = read(&mut state, &[end(8, "other", 1), end(8, "c1", 0)]);
    let expected = CodexUse {
        event_id: "codex:t1:pdf".to_owned(),
        name: "pdf".to_owned(),
        path: Some("/v/skills/pdf".to_owned()),
        is_typed: false,
        at: Some("2026-03-01T12:00:07.250Z".to_owned()),
        ok: Some(true),
        args: Some("cat skills/pdf/SKILL.md".to_owned()),
    };
    assert_eq!(uses, [expected]);
    assert_eq!(
        read(&mut state, &[output(9, "c1", &json!("Exit code: 1"))]),
        []
    );
    assert_eq!(state.channel.as_deref(), Some("codex_cli_rs"));
}

#[track_caller]
fn is_call_of_pdf(call: String) {
    let uses = read_all(&[meta(SESSION), turn(6, "t1"), call]);
    assert_eq!(ids(&uses), ["codex:t1:pdf"]);
    assert_eq!(uses[0].path.as_deref(), Some("/w/skills/pdf"));
}

#[test]
fn every_form_of_function_call() {
    let of = |name, arguments: Value| is_call_of_pdf(call(7, "c", name, &arguments));
    let script = "python scripts/x.py --long";
    let folder = "skills/pdf";
    of(
        "shell_command",
        json!({"command": script, "workdir": folder}),
    );
    of(
        "exec_command",
        json!({"cmd": script, "working_directory": folder}),
    );
    of(
        "container.exec",
        json!({"command": ["cat", "/w/skills/pdf/SKILL.md"]}),
    );
    of(
        "unified_exec",
        json!({"cmd": format!("cd {folder} && {script}")}),
    );
}

#[test]
fn every_other_form_of_call() {
    let of = |payload: Value| is_call_of_pdf(line(7, "response_item", &payload));
    let command = ["/bin/zsh", "-c", "python scripts/x.py"];
    let action = json!({"type": "exec", "command": command,
        "working_directory": "/w/skills/pdf"});
    of(json!({"type": "local_shell_call", "call_id": "c", "action": action}));
    let input = json!({"command": command, "workdir": "skills/pdf"}).to_string();
    let custom = |name: &str, input: &str| json!({"type": "custom_tool_call", "call_id": "c", "name": name, "input": input});
    of(custom("shell", &input));
    of(custom("local_shell", "python skills/pdf/scripts/x.py"));
}

#[test]
fn a_long_command_is_cut() {
    let long = format!("cat skills/pdf/SKILL.md {}", "é".repeat(300));
    let arguments = json!({"command": long});
    let uses = read_all(&[meta(SESSION), call(7, "c", "shell", &arguments)]);
    assert_eq!(uses[0].args.as_ref().unwrap().chars().count(), 200);
}

#[track_caller]
fn ends_with(outcome: String, ok: Option<bool>) {
    let lines = [meta(SESSION), cat(7, "c", "pdf"), outcome];
    let uses = read(&mut CodexState::default(), &lines);
    assert_eq!(uses.iter().map(|u| u.ok).collect::<Vec<_>>(), [ok]);
}

#[test]
fn every_form_of_outcome() {
    ends_with(end(8, "c", 3), Some(false));
    ends_with(end(8, "c", 0), Some(true));
    let of = |value: Value, ok| ends_with(output(8, "c", &value), ok);
    let packed = json!({"output": "", "metadata": {"exit_code": 1}});
    of(json!(packed.to_string()), Some(false));
    of(packed, Some(false));
    let head = "Exit code: 1\nWall time: 0 seconds\nOutput:\n";
    of(json!(head), Some(false));
    let head = "Wall time: 0\nProcess exited with code 1\nOutput:\n";
    of(json!(head), Some(false));
    of(json!("aborted by user"), None);
    let item = |payload: Value| line(8, "response_item", &payload);
    let custom = json!({"type": "custom_tool_call_output", "call_id": "c",
        "output": "Exit code: 2"});
    ends_with(item(custom), Some(false));
    let bare = json!({"type": "function_call_output", "call_id": "c"});
    ends_with(item(bare), None);
}

#[test]
fn an_outcome_in_a_later_read() {
    let mut state = CodexState::default();
    let lines = [
        meta(SESSION),
        turn(6, "t1"),
        cat(7, "c1", "a"),
        cat(7, "c2", "b"),
        cat(7, "c3", "c"),
    ];
    assert_eq!(read(&mut state, &lines), []);
    assert_eq!(ids(&read(&mut state, &[end(8, "c3", 0)])), ["codex:t1:c"]);
    let mut out = Vec::new();
    flush(&mut state, &mut out);
    assert_eq!(ids(&out), ["codex:t1:a", "codex:t1:b"]);
    assert!(out.iter().all(|found| found.ok.is_none()));

    let kept = serde_json::to_string(&state).unwrap();
    let mut state: CodexState = serde_json::from_str(&kept).unwrap();
    let later = [
        end(9, "c1", 1),
        output(9, "c2", &json!("?")),
        cat(9, "c4", "a"),
        cat(9, "c5", "d"),
    ];
    assert_eq!(read(&mut state, &later), []);
    assert_eq!(state.settled, [("codex:t1:a".to_owned(), false)]);
    let mut out = Vec::new();
    flush(&mut state, &mut out);
    assert_eq!(ids(&out), ["codex:t1:d"]);
}

#[test]
fn spacing_and_order_of_keys_do_not_matter() {
    let lines = [
        " {\"payload\" : {\"turn_id\": \"t1\", \"cwd\": \"/w\"}, \"type\" : \"turn_context\"} \r\n"
            .to_owned(),
        "{\"type\": \"response_item\", \"payload\": {\"call_id\": \"c\", \"arguments\": \
         \"{\\\"cmd\\\": \\\"cat skills/a/SKILL.md\\\"}\", \"name\": \"exec_command\", \
         \"type\": \"function_call\"}}"
            .to_owned(),
    ];
    let uses = read_all(&lines);
    assert_eq!(ids(&uses), ["codex:t1:a"]);
    assert_eq!(uses[0].at, None);
}

#[test]
fn broken_lines_are_errors_and_skipped_lines_are_not_parsed() {
    let mut state = CodexState::default();
    let mut of = |line: &[u8]| read_line(&mut state, line, &known, &mut Vec::new());
    for line in ["", "{", "[1]", "{\"type\":\"session_meta\"", "null"] {
        assert_eq!(
            of(line.as_bytes()),
            Err("not a whole JSON object".to_owned()),
            "{line}"
        );
    }
    assert!(of(b"{\"type\":\"session_meta\",}").is_err());
    assert!(of(b"{\"session_meta\":\"\xff\"}").is_err());
    assert_eq!(of(b"{this is not looked at}"), Ok(()));
}

#[test]
fn wrong_types_are_passed_over() {
    let mut lines = vec!["{\"session_meta\":1,\"turn_context\":2}".to_owned()];
    for value in [
        json!(null),
        json!(1),
        json!("x"),
        json!({}),
        json!([1, {"text": 1}]),
    ] {
        lines.push(line(9, "session_meta", &value));
        lines.push(json!({"type": value, "shell": "shell", "payload": value}).to_string());
        lines.push(call(
            9,
            "c",
            "shell",
            &json!({"command": value, "workdir": value}),
        ));
        let turn = json!({"turn_id": value, "cwd": value});
        lines.push(line(9, "turn_context", &turn));
        let items = [
            json!({"type": "message", "role": "user", "content": value}),
            json!({"type": "message", "role": "user", "content": [value]}),
            json!({"type": "function_call", "name": "shell", "arguments": value}),
            json!({"type": "local_shell_call", "action": {"command": value}}),
            json!({"type": "custom_tool_call", "name": "shell", "input": value}),
            json!({"type": value, "name": "shell", "call_id": value}),
        ];
        lines.extend(items.iter().map(|item| line(9, "response_item", item)));
    }
    assert_eq!(read_all(&lines), []);
}

#[test]
fn calls_without_outcome_do_not_pile_up() {
    let mut state = CodexState::default();
    let lines: Vec<String> = (0..70)
        .map(|n| cat(1, &format!("c{n}"), &format!("s{n}")))
        .collect();
    let early = read(&mut state, &lines);
    assert_eq!(early.len(), 6);
    assert_eq!(early[0].name, "s0");
    assert_eq!(state.pending.len(), MAX_PENDING);
    let nameless = cat(2, "c", "z").replace("call_id", "no_id");
    assert_eq!(
        ids(&read(&mut state, &[nameless])),
        ["codex:unknown:turn0:z"]
    );
}
