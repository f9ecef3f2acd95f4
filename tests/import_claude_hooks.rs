//! What Claude Code told a hook and what its transcript says of the same session: counted once.

#![expect(
    clippy::unwrap_used,
    reason = "what cannot be arranged is a failed test"
)]

mod claude;
mod common;

use claude::copies::{
    NONE, OF_PROJECT, OF_USER, PROJECT, USER, by_root, full, with_two_copies, write_skill,
};
use claude::{
    RESUMED, SESSION, Transcript, answer, assert_healthy, body, call, events, expanded, failure,
    import, time, typed,
};
use common::{Library, code};
use serde_json::{Value, json};

/// What Claude Code tells its hooks.
fn told(library: &Library, event: &str, more: &Value) -> Value {
    let mut input = json!({"hook_event_name": event, "session_id": SESSION, "cwd": full(library, "proj"), "permission_mode": "default",
        "transcript_path": full(library, &format!("home/.claude/projects/-proj/{SESSION}.jsonl"))});
    let input_fields = input.as_object_mut().unwrap();
    input_fields.extend(more.as_object().unwrap().clone());
    input
}

/// Tells the hook, which must stay silent.
fn tell(library: &Library, args: &[&str], now: &str, input: &Value) {
    let output = library
        .skilldb(args)
        .env("SKILLDB_NOW", now)
        .write_stdin(input.to_string())
        .output()
        .unwrap();
    let told = library.told(&output);
    assert_eq!(told, "exit 0\n");
    assert!(!library.path("data/logs/hook.log").exists());
}

fn hook_call(library: &Library, event: &str, second: u32, id: &str) {
    let more = json!({"tool_name": "Skill", "tool_use_id": id, "tool_input": {"skill": "deploy"},
        "tool_response": {"success": true, "commandName": "deploy"}});
    let input = told(library, event, &more);
    tell(library, &["hook", "claude-code"], &time(second), &input);
}

fn hook_typed(library: &Library, now: &str) {
    let more = json!({"expansion_type": "slash_command", "command_name": "deploy", "command_args": "",
        "command_source": "user", "prompt": "/deploy"});
    let input = told(library, "UserPromptExpansion", &more);
    tell(library, &["hook", "claude-code"], now, &input);
}

#[test]
fn a_call_that_a_hook_heard_counts_once_and_the_transcript_says_which_copy_ran() {
    let (library, transcript) = with_two_copies();
    hook_call(&library, "PostToolUse", 2, "t1");
    // A hook is told no folder.
    assert_eq!(by_root(&library), OF_USER);
    let folder = full(&library, &format!("{PROJECT}/deploy"));
    transcript.add(&[
        call(1, "t1", "deploy"),
        answer(2, "t1"),
        body(2, "t1", &folder),
    ]);
    assert_eq!(events(&import(&library, &[])), (0, 1));
    assert_eq!(by_root(&library), OF_PROJECT);
    let daily = "SELECT s.root, d.events FROM v_usage_daily d JOIN v_skill s ON s.id = d.skill_id";
    let daily = library.normal(&library.sql(daily));
    assert_eq!(daily, "[DIR]/proj/.claude/skills\t1");
    assert_healthy(&library);
    hook_call(&library, "PostToolUse", 3, "t1");
    assert_eq!(by_root(&library), OF_PROJECT, "heard again");
}

#[test]
fn a_failure_that_a_hook_heard_counts_once() {
    let (library, transcript) = with_two_copies();
    hook_call(&library, "PostToolUseFailure", 2, "t1");
    transcript.add(&[call(1, "t1", "deploy"), failure(2, "t1")]);
    assert_eq!(events(&import(&library, &[])), (0, 1));
    let counts = "SELECT use_count, failure_count FROM v_skill WHERE use_count > 0";
    assert_eq!(library.sql(counts), "1\t1");
    assert_healthy(&library);
}

#[test]
fn a_typed_command_that_a_hook_heard_counts_once_and_takes_the_copy_of_the_transcript() {
    let (library, transcript) = with_two_copies();
    hook_typed(&library, "2026-05-20T08:00:10.350Z");
    assert_eq!(by_root(&library), OF_USER);
    let folder = full(&library, &format!("{PROJECT}/deploy"));
    transcript.add(&[typed(10, "u1", "deploy"), expanded(10, "u1", &folder)]);
    assert_eq!(events(&import(&library, &[])), (0, 1));
    assert_eq!(by_root(&library), OF_PROJECT);
    assert_healthy(&library);
    // The same line in a file that is read anew, and in a session that copies it.
    let copy = Transcript::new(&library, RESUMED);
    copy.add(&[typed(10, "u1", "deploy"), expanded(10, "u1", &folder)]);
    transcript.replace(&transcript.text().replace('\n', "\n\n"));
    assert_eq!(events(&import(&library, &[])), (0, 2));
    assert_eq!(by_root(&library), OF_PROJECT);
}

/// As many commands typed within a minute, of which the first few were heard by a hook.
fn typed_in_a_minute(typed_ones: &[u32], heard: usize) -> (Library, Value) {
    let (library, transcript) = with_two_copies();
    let folder = full(&library, &format!("{USER}/deploy"));
    for (number, second) in typed_ones.iter().enumerate() {
        if number < heard {
            hook_typed(&library, &time(*second).replace(".000", ".350"));
        }
        let uuid = format!("u{number}");
        transcript.add(&[
            typed(*second, &uuid, "deploy"),
            expanded(*second, &uuid, &folder),
        ]);
    }
    let report = import(&library, &[]);
    (library, report)
}

#[test]
fn typed_commands_of_one_minute_each_claim_what_their_own_hook_heard() {
    let (library, report) = typed_in_a_minute(&[10, 25, 40], 3);
    assert_eq!(events(&report), (0, 3));
    assert_eq!(by_root(&library), OF_USER.replace("\t1", "\t3"));
    assert_healthy(&library);
}

#[test]
fn a_typed_command_that_no_hook_heard_is_not_taken_for_the_one_before() {
    for heard in [1, 2] {
        let (library, report) = typed_in_a_minute(&[10, 25, 40], heard);
        assert_eq!(
            by_root(&library),
            OF_USER.replace("\t1", "\t3"),
            "{heard} heard"
        );
        assert_eq!(events(&report), (3 - heard as u64, heard as u64));
    }
}

#[test]
fn a_typed_command_of_another_time_or_name_is_not_what_the_hook_heard() {
    let (library, transcript) = with_two_copies();
    hook_typed(&library, "2026-05-20T08:00:10.350Z");
    transcript.add(&[typed(600, "u1", "deploy"), expanded(600, "u1", "/gone")]);
    transcript.add(&[typed(11, "u2", "other"), expanded(11, "u2", "/gone")]);
    assert_eq!(events(&import(&library, &[])), (2, 0));
}

#[test]
fn a_hook_at_the_end_of_a_session_imports_it_and_an_import_adds_nothing() {
    for args in [
        &["hook", "claude-code"][..],
        &["import", "claude-code", "--session-from-stdin"],
    ] {
        let (library, transcript) = with_two_copies();
        hook_call(&library, "PostToolUse", 2, "t1");
        transcript.add(&[call(1, "t1", "deploy"), answer(2, "t1")]);
        transcript.add(&[typed(3, "u1", "deploy"), expanded(3, "u1", "/gone")]);
        let other = Transcript::new(&library, RESUMED);
        other.add(&[call(4, "t2", "deploy"), answer(5, "t2")]);
        let input = told(&library, "SessionEnd", &json!({"reason": "exit"}));
        tell(&library, args, &time(9), &input);
        assert_eq!(
            library.sql("SELECT count(*) FROM v_usage"),
            "2",
            "only this session"
        );
        let report = import(&library, &[]);
        assert_eq!(
            (events(&report), &report["files"]["unchanged"]),
            ((1, 0), &json!(1))
        );
    }
}

#[test]
fn a_hook_with_nothing_to_read_stays_silent_and_exits_well() {
    let (library, _) = with_two_copies();
    for input in ["", "{", "[]", "{\"hook_event_name\":\"PostToolUse\"}"] {
        let hook = library
            .skilldb(&["hook", "claude-code"])
            .write_stdin(input)
            .output();
        let hook = hook.unwrap();
        assert_eq!(
            (code(&hook), hook.stdout.len(), hook.stderr.len()),
            (0, 0, 0),
            "{input}"
        );
    }
    assert_eq!(by_root(&library), NONE);
}

#[test]
fn a_typed_command_that_a_hook_heard_counts_once_when_only_a_resumed_session_tells_it() {
    let (library, transcript) = with_two_copies();
    hook_typed(&library, "2026-05-20T08:00:10.350Z");
    let folder = full(&library, &format!("{USER}/deploy"));
    let lines = [typed(10, "u1", "deploy"), expanded(10, "u1", &folder)];
    Transcript::new(&library, RESUMED).add(&lines);
    import(&library, &[]);
    assert_eq!(by_root(&library), OF_USER);
    transcript.add(&lines);
    import(&library, &[]);
    assert_eq!(by_root(&library), OF_USER);
}

#[test]
fn a_call_that_a_hook_heard_leaves_the_namesake_when_another_folder_was_loaded() {
    let (library, transcript) = with_two_copies();
    write_skill(&library, "elsewhere/skills/deploy");
    let folder = full(&library, "elsewhere/skills/deploy");
    hook_call(&library, "PostToolUse", 2, "t1");
    transcript.add(&[
        call(1, "t1", "deploy"),
        answer(2, "t1"),
        body(2, "t1", &folder),
    ]);
    import(&library, &[]);
    assert_eq!(by_root(&library), NONE);
    assert_healthy(&library);
}
