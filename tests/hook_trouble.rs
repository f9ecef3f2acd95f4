//! What a hook is told that is of no use, too large, damaged or too late: the client feels none of it.

#![expect(
    clippy::unwrap_used,
    reason = "what cannot be arranged is a failed test"
)]

mod claude;
mod common;

use std::fs;
use std::io::Write;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use claude::{SESSION, Transcript, answer, assert_healthy, call, events, import, said, with_tea};
use common::{Library, code};
use serde_json::{Value, json};

const CLAUDE: [&str; 2] = ["hook", "claude-code"];
const CODEX: [&str; 2] = ["hook", "codex"];
const FROM_STDIN: [&str; 3] = ["import", "claude-code", "--session-from-stdin"];
/// Only guards against hanging.
const PATIENCE: Duration = Duration::from_secs(60);

fn one_skill() -> Library {
    let library = Library::new();
    library.skill("deploy", "Ships it");
    library.sync();
    library
}

/// Calls a hook, which must exit 0 and stay silent.
#[track_caller]
fn heed(library: &Library, args: &[&str], input: impl Into<Vec<u8>>) {
    let mut command = library.skilldb(args);
    let output = command.write_stdin(input).timeout(PATIENCE).output();
    let output = output.unwrap();
    assert!(output.status.code().is_some(), "{args:?} waits");
    assert_eq!(library.told(&output), "exit 0\n", "{args:?}");
}

fn called(id: &str) -> Value {
    json!({"hook_event_name": "PostToolUse", "session_id": "s-1", "cwd": "/srv/shop", "tool_name": "Skill", "tool_use_id": id,
        "tool_input": {"skill": "deploy", "args": "to prod"}, "tool_response": {"success": true}})
}

fn troubles(library: &Library) -> u64 {
    library.json(&["hook", "status"])["troubles"]
        .as_u64()
        .unwrap()
}

/// Input that says nothing of a skill: for which command, and what.
fn irrelevant() -> Vec<(&'static [&'static str], Value)> {
    let mut bash = called("t1");
    bash["tool_name"] = json!("Bash");
    bash["tool_input"] = json!({"command": "cat skills/deploy/SKILL.md"});
    let codex = |command: &str| {
        json!({"hook_event_name": "PostToolUse", "session_id": "c-1", "turn_id": "t-1", "cwd": "/srv",
            "tool_name": "shell", "tool_input": {"command": ["bash", "-lc", command]}, "tool_response": "read SKILL.md"})
    };
    let prompt = json!({"hook_event_name": "UserPromptSubmit", "session_id": "c-1", "turn_id": "t-1", "prompt": "go on"});
    let end = json!({"hook_event_name": "Stop", "session_id": "c-1", "transcript_path": null});
    vec![
        (&CLAUDE, bash),
        (&CLAUDE, json!({})),
        (
            &CLAUDE,
            json!({"hook_event_name": "SessionStart", "session_id": "s"}),
        ),
        (&CODEX, codex("ls -la")),
        (&CODEX, json!({})),
        (&CODEX, prompt),
        (&CODEX, end),
        (&FROM_STDIN, json!({})),
        (
            &FROM_STDIN,
            json!({"hook_event_name": "SessionEnd", "transcript_path": "notes.txt"}),
        ),
    ]
}

#[test]
fn what_says_nothing_of_a_skill_makes_no_database() {
    let library = Library::new();
    for (args, input) in irrelevant() {
        heed(&library, args, input.to_string());
        let entries = fs::read_dir(library.path("data")).unwrap();
        assert_eq!(entries.count(), 0, "{args:?} {input}");
    }
}

#[test]
fn what_says_nothing_of_a_skill_opens_no_database() {
    let library = one_skill();
    let garbage = b"no database ".repeat(2_000);
    library.write("data/skilldb.db", &garbage);
    for (args, input) in irrelevant() {
        heed(&library, args, input.to_string());
        assert_eq!(troubles(&library), 0, "{args:?} {input}");
    }
    assert!(fs::read(library.path("data/skilldb.db")).unwrap() == garbage);
    heed(&library, &CLAUDE, called("t1").to_string());
    assert_eq!(troubles(&library), 1, "what does, does");
}

#[test]
fn a_hook_records_in_a_working_folder_that_was_removed() {
    let library = one_skill();
    let transcript = Transcript::new(&library, SESSION);
    transcript.add(&[call(1, "t9", "deploy"), answer(2, "t9")]);
    let end = json!({"hook_event_name": "SessionEnd", "session_id": SESSION, "transcript_path": transcript.path});
    let program = assert_cmd::cargo::cargo_bin!("skilldb");
    for (args, input) in [
        (&CLAUDE[..], called("t1")),
        (&FROM_STDIN, end),
        (
            &CODEX,
            json!({"hook_event_name": "UserPromptSubmit", "session_id": "c", "turn_id": "t", "prompt": "$deploy"}),
        ),
    ] {
        fs::create_dir(library.path("gone")).unwrap();
        let script = "cd gone && rmdir ../gone && exec \"$0\" \"$@\"";
        let mut shell = assert_cmd::Command::new("/bin/sh");
        shell.args(["-c", script]).arg(program).args(args);
        shell.current_dir(library.dir()).env_clear();
        shell.envs([
            ("HOME", library.path("home")),
            ("SKILLDB_HOME", library.path("data")),
        ]);
        let output = shell
            .env("SKILLDB_NOW", common::NOW)
            .write_stdin(input.to_string())
            .output();
        assert_eq!(library.told(&output.unwrap()), "exit 0\n", "{args:?}");
        assert!(!library.path("gone").exists());
    }
    let ids = "SELECT event_id FROM v_usage ORDER BY 1";
    let wanted = "claude-code:t1\nclaude-code:t9\ncodex:t:deploy";
    assert_eq!(library.sql(ids), wanted);
    assert_healthy(&library);
}

/// Calls a hook with an input that goes through the pipe as a client writes it. Says whether all of it could be
/// written, and whether the hook exited 0 in silence.
fn write_all(mut command: Command, input: &[u8]) -> (bool, bool) {
    let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let is_written = thread::scope(|scope| {
        let writer = scope.spawn(move || stdin.write_all(input).is_ok());
        writer.join().unwrap()
    });
    let output = child.wait_with_output().unwrap();
    let is_silent = output.stdout.is_empty() && output.stderr.is_empty();
    (is_written, code(&output) == 0 && is_silent)
}

/// A call of a skill with so many megabytes of something else before and after what matters.
fn large(id: &str, megabytes: usize) -> Vec<u8> {
    let talk = "x".repeat(megabytes * 512 * 1024);
    let rest = called(id).to_string();
    let text = format!(
        "{{\"before\":\"{talk}\",{},\"after\":\"{talk}\"}}",
        &rest[1..rest.len() - 1]
    );
    text.into_bytes()
}

#[test]
fn however_much_a_client_writes_it_can_write_all_of_it() {
    let library = one_skill();
    for (megabytes, id) in [(20, "below"), (70, "beyond")] {
        let input = large(id, megabytes);
        for args in [&CLAUDE[..], &CODEX, &FROM_STDIN] {
            let told = write_all(library.process(args), &input);
            assert_eq!(told, (true, true), "{megabytes} MB to {args:?}");
        }
    }
    // Cut in two it is no JSON any more, and that is told where nobody is held up by it.
    assert_eq!(troubles(&library), 3);
    let ids = library.sql("SELECT event_id FROM v_usage");
    assert_eq!(ids, "claude-code:below");
}

type Damage = fn(&Library);

#[test]
fn much_input_can_be_written_also_when_something_else_is_wrong() {
    let input = large("t1", 2);
    let damages: [(&str, Damage); 4] = [
        ("settings", |library| {
            drop(library.write("data/config.yaml", b"roots: [\n"));
        }),
        ("database", |library| {
            drop(library.write("data/skilldb.db", &b"no database ".repeat(2_000)));
        }),
        ("spool", |library| {
            fs::create_dir(library.path("data/usage.spool")).unwrap();
        }),
        ("nothing", |_| ()),
    ];
    for (what, damage) in damages {
        let library = one_skill();
        damage(&library);
        for args in [&CLAUDE[..], &CODEX, &FROM_STDIN] {
            let told = write_all(library.process(args), &input);
            assert_eq!(told, (true, true), "{what}: {args:?}");
        }
    }
}

#[test]
fn much_input_can_be_written_also_when_the_words_cannot_be_read() {
    let library = one_skill();
    let input = large("t1", 2);
    let mut failed = Vec::new();
    for flags in [&["--color", "bogus"][..], &["--json=1"], &["--home"]] {
        for args in [CLAUDE, CODEX] {
            let args = [&args[..], flags].concat();
            let (is_written, _) = write_all(library.process(&args), &input);
            if !is_written {
                failed.push(args.join(" "));
            }
        }
    }
    assert_eq!(failed, Vec::<String>::new(), "the client got a broken pipe");
}

#[test]
fn a_byte_order_mark_and_half_a_character_lose_nothing() {
    let library = one_skill();
    let bom = |text: &str| format!("\u{feff}{text}");
    let half = |text: String| text.replace("to prod", "to \\ud83d prod \\udc00");
    heed(&library, &CLAUDE, bom(&called("t1").to_string()));
    heed(&library, &CLAUDE, half(called("t2").to_string()));
    heed(&library, &CLAUDE, bom(&half(called("t3").to_string())));
    let typed = json!({"hook_event_name": "UserPromptExpansion", "session_id": "s-2", "expansion_type": "slash_command",
        "command_name": "deploy", "command_args": "to prod", "prompt": "/deploy to prod"});
    heed(&library, &CLAUDE, bom(&half(typed.to_string())));
    let prompt = json!({"hook_event_name": "UserPromptSubmit", "session_id": "c", "turn_id": "t", "prompt": "$deploy to prod"});
    heed(&library, &CODEX, bom(&half(prompt.to_string())));
    let transcript = Transcript::new(&library, SESSION);
    transcript.add(&[call(1, "t4", "deploy"), answer(2, "t4")]);
    let end = json!({"hook_event_name": "SessionEnd", "transcript_path": transcript.path, "reason": "to prod"});
    heed(&library, &FROM_STDIN, bom(&half(end.to_string())));
    let ids =
        library.sql("SELECT event_id FROM v_usage WHERE event_id NOT LIKE '%typed%' ORDER BY 1");
    let wanted = [
        "claude-code:t1",
        "claude-code:t2",
        "claude-code:t3",
        "claude-code:t4",
        "codex:t:deploy",
    ];
    assert_eq!(ids, wanted.join("\n"));
    assert_eq!(library.sql("SELECT use_count FROM v_skill"), "6");
    let args = library.sql("SELECT args FROM v_usage WHERE event_id LIKE '%:t2' OR event_id LIKE '%:t3' OR session_id = 's-2'");
    assert_eq!(args, ["to \u{fffd} prod \u{fffd}"; 3].join("\n"));
    assert_eq!(troubles(&library), 0);
}

#[test]
fn the_end_of_a_session_imports_the_files_of_its_subagents_too() {
    for args in [&CLAUDE[..], &FROM_STDIN] {
        let (library, transcript) = with_tea();
        transcript.add(&[said(0, "look at it"), call(1, "t1", "tea"), answer(2, "t1")]);
        for (rel, id) in [("agent-a9", "t2"), ("workflows/wf_x/agent-b7", "t3")] {
            let rel = format!("{SESSION}/subagents/{rel}.jsonl");
            let agent = Transcript::at(&library, &rel, SESSION);
            agent.add(&[call(3, id, "tea"), answer(4, id)]);
        }
        let end = json!({"hook_event_name": "SessionEnd", "session_id": SESSION, "transcript_path": transcript.path});
        heed(&library, args, end.to_string());
        let told = "SELECT event_id, coalesce(subagent, '-'), session_id FROM v_usage ORDER BY 1";
        let line = |id: &str, agent: &str| format!("claude-code:{id}\t{agent}\t{SESSION}");
        let wanted = [line("t1", "-"), line("t2", "a9"), line("t3", "b7")].join("\n");
        assert_eq!(library.sql(told), wanted, "{args:?}");
        heed(&library, args, end.to_string());
        let report = import(&library, &[]);
        assert_eq!(events(&report).0, 0, "{report}");
        assert_eq!(library.sql("SELECT use_count FROM v_skill"), "3");
        assert_eq!(troubles(&library), 0);
        assert_healthy(&library);
    }
}

#[test]
fn a_session_from_stdin_is_imported_or_not_but_never_complained_about() {
    let library = one_skill();
    let pipe = library.path("pipe.jsonl");
    let made = Command::new("mkfifo").arg(&pipe).status();
    assert!(made.unwrap().success());
    fs::create_dir(library.path("folder.jsonl")).unwrap();
    let binary = library.write("binary.jsonl", &[0xff, 0, 0xfe, b'\n', b'{', 0]);
    let paths = [
        json!(pipe),
        json!(library.path("folder.jsonl")),
        json!(binary),
        json!("gone.jsonl"),
        json!("nul\u{0}.jsonl"),
        json!(""),
        json!(".jsonl"),
        json!(7),
        json!(["a.jsonl"]),
        json!("x".repeat(10_000) + ".jsonl"),
    ];
    for path in paths {
        let input = json!({"hook_event_name": "SessionEnd", "transcript_path": path});
        for args in [&FROM_STDIN[..], &CLAUDE] {
            heed(&library, args, input.to_string());
        }
        let codex = ["import", "codex", "--session-from-stdin"];
        heed(&library, &codex, input.to_string());
    }
    let deep = "[".repeat(200_000);
    let nested = format!("{{\"a\":{}1{}}}", "[".repeat(100_000), "]".repeat(100_000));
    let texts = [
        "", " ", "null", "7", "[]", "{}", "{", "\"", "\u{feff}", "{}{}", "\0", &deep, &nested,
    ];
    for text in texts {
        heed(&library, &FROM_STDIN, text);
    }
    heed(&library, &FROM_STDIN, b"\xff\xfe{\0}\0".to_vec());
    assert_eq!(library.sql("SELECT count(*) FROM v_usage"), "0");
    assert_healthy(&library);
}
