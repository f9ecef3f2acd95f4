//! Uses that could not be recorded at once: none is lost on its way through the file they wait in, and none
//! counts twice.

#![expect(
    clippy::unwrap_used,
    reason = "what cannot be arranged is a failed test"
)]

mod claude;
mod common;

use std::fmt::Write as _;
use std::fs;
use std::process::Output;
use std::time::Duration;

use claude::{SESSION, assert_healthy, events, expanded, import, typed, with_tea};
use common::{Library, NOW, code};
use rusqlite::Connection;
use serde_json::{Value, json};

fn one_skill() -> Library {
    let library = Library::new();
    library.skill("deploy", "Ships it");
    library.sync();
    library
}

#[expect(
    clippy::disallowed_methods,
    reason = "stands for another program that has the database open"
)]
fn database(library: &Library) -> Connection {
    Connection::open(library.path("data/skilldb.db")).unwrap()
}

/// Runs `work` while somebody else holds the write lock.
fn locked<T>(library: &Library, work: impl FnOnce() -> T) -> T {
    let other = database(library);
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let result = work();
    other.execute_batch("ROLLBACK").unwrap();
    result
}

const SPOOL: &str = "data/usage.spool";
const REFUSED: &str = "data/usage.refused";
const IDS: &str = "SELECT event_id FROM v_usage ORDER BY 1";
const EVENTS: &str = "SELECT count(*) FROM v_usage";
/// Only guards against hanging.
const PATIENCE: Duration = Duration::from_secs(60);

/// A line that waits.
fn line(id: &str) -> String {
    format!("{{\"kind\":\"use\",\"name\":\"deploy\",\"event_id\":\"{id}\",\"at\":\"{NOW}\"}}\n")
}

fn lines(prefix: &str, count: usize) -> String {
    (0..count)
        .map(|number| line(&format!("{prefix}{number:04}")))
        .collect()
}

#[track_caller]
fn feed(library: &Library, args: &[&str], input: &str) -> Output {
    let mut command = library.skilldb(args);
    let output = command.write_stdin(input).timeout(PATIENCE).output();
    let output = output.unwrap();
    assert!(output.status.code().is_some(), "{args:?} waits");
    output
}

/// Calls a hook, which must exit 0 and stay silent.
#[track_caller]
fn heed(library: &Library, args: &[&str], input: &Value) {
    let output = feed(library, args, &input.to_string());
    assert_eq!(library.told(&output), "exit 0\n", "{args:?}");
}

fn called(id: &str) -> Value {
    json!({"hook_event_name": "PostToolUse", "session_id": "s-1", "tool_name": "Skill", "tool_use_id": id,
        "tool_input": {"skill": "deploy"}, "tool_response": {"success": true}})
}

fn refused_lines(library: &Library) -> Vec<String> {
    let bytes = fs::read(library.path(REFUSED)).unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    text.lines().map(str::to_owned).collect()
}

/// What the status says of lines that could not be read, as text and as a number.
#[track_caller]
fn assert_refused(library: &Library, count: u64) {
    let told = library.json(&["hook", "status"]);
    assert_eq!(told["refused"], count, "{told}");
    let text = library.run(&["hook", "status"]);
    let lines = if count == 1 { "line" } else { "lines" };
    let said = format!("\n{count} {lines} could not be read: [DIR]/{REFUSED}\n");
    assert_eq!(text.contains(&said), count > 0, "{text}");
}

#[test]
fn a_half_line_costs_no_event_that_is_kept_after_it() {
    let library = one_skill();
    let half = "{\"kind\":\"use\",\"name\":\"depl";
    library.write(SPOOL, format!("{}{half}", line("before")).as_bytes());
    let args = ["record", "use", "deploy", "--best-effort", "--event-id"];
    locked(&library, || {
        for id in ["kept1", "kept2"] {
            assert_eq!(code(&feed(&library, &[&args[..], &[id]].concat(), "")), 0);
        }
        heed(&library, &["hook", "claude-code"], &called("t1"));
    });
    library.sync();
    assert_eq!(library.sql(IDS), "before\nclaude-code:t1\nkept1\nkept2");
    assert_eq!(refused_lines(&library), [half]);
    assert_refused(&library, 1);
    assert_healthy(&library);
}

#[test]
fn half_lines_that_nobody_closed_are_told_too() {
    let library = one_skill();
    for (count, half) in [(1, "{\"name\":\"one"), (2, "{\"name\":\"two")] {
        library.write(SPOOL, half.as_bytes());
        library.sync();
        assert_eq!(refused_lines(&library).last().unwrap(), half);
        assert_refused(&library, count);
    }
    assert_eq!(library.sql(EVENTS), "0");
}

#[test]
fn an_event_without_a_line_end_is_recorded() {
    let library = one_skill();
    library.write(SPOOL, line("e1").trim_end().as_bytes());
    library.sync();
    assert_eq!(library.sql(IDS), "e1");
    assert_refused(&library, 0);
}

#[test]
fn lines_that_cannot_be_read_are_put_aside_all_of_them_one_file_after_another() {
    let library = one_skill();
    let bad = |number: u32| format!("no JSON {number}\n");
    let files = [
        ("data/usage.spool.17-1", bad(1) + &line("e1") + &bad(2)),
        ("data/usage.spool.18-1", line("e2") + &bad(3)),
        (SPOOL, bad(4) + &bad(5) + &line("e3")),
    ];
    for (rel, text) in files {
        library.write(rel, text.as_bytes());
    }
    library.sync();
    let wanted = |count: u32| (1..=count).map(|number| bad(number).trim_end().to_owned());
    // Which file comes first depends on the number of a process.
    let mut told = refused_lines(&library);
    told.sort();
    assert!(told.iter().cloned().eq(wanted(5)), "{told:?}");
    let first = refused_lines(&library);
    assert_refused(&library, 5);
    // Words that no event has, and bytes that are no text.
    let odd = "{\"kind\":\"eat\",\"name\":\"deploy\"}\n{\"name\":\"deploy\",\"at\":\"soon\"}\n";
    let bytes = [odd.as_bytes(), b"\xff\xfe\n", line("e4").as_bytes()].concat();
    library.write(SPOOL, &bytes);
    library.json(&["record", "use", "deploy", "--event-id", "e5"]);
    let told = refused_lines(&library);
    assert!(told.starts_with(&first), "{told:?}");
    assert_eq!(told.len(), 8, "{told:?}");
    assert_refused(&library, 8);
    assert_eq!(library.sql(IDS), "e1\ne2\ne3\ne4\ne5");
    assert_eq!(library.json(&["hook", "status"])["waiting"], 0);
}

#[test]
fn much_that_waits_holds_up_no_hook_and_no_record_and_is_taken_in_by_those_who_have_time() {
    for taker in [&["sync"][..], &["import", "claude-code"]] {
        let library = one_skill();
        let transcript = claude::Transcript::new(&library, SESSION);
        transcript.add(&[claude::said(1, "hello")]);
        let waiting = lines("w", 900);
        assert!(waiting.len() > 64 * 1024);
        library.write(SPOOL, waiting.as_bytes());
        heed(&library, &["hook", "claude-code"], &called("t1"));
        let end = json!({"hook_event_name": "SessionEnd", "session_id": SESSION, "transcript_path": transcript.path});
        heed(&library, &["hook", "claude-code"], &end);
        let from_stdin = ["import", "claude-code", "--session-from-stdin"];
        heed(&library, &from_stdin, &end);
        library.json(&["record", "use", "deploy"]);
        library.json(&["record", "use", "deploy", "--best-effort"]);
        assert_eq!(code(&feed(&library, &["record", "-"], &line("piped"))), 0);
        assert_eq!(library.sql(EVENTS), "4");
        assert!(fs::read(library.path(SPOOL)).unwrap() == waiting.as_bytes());
        assert_eq!(library.json(&["hook", "status"])["waiting"], 900);
        library.json(taker);
        assert_eq!(library.sql(EVENTS), "904", "{taker:?}");
        assert_eq!(library.json(&["hook", "status"])["waiting"], 0);
        assert_eq!(library.sql("SELECT use_count FROM v_skill"), "904");
        assert_healthy(&library);
    }
}

#[test]
fn many_who_take_in_what_waits_count_each_event_once() {
    let library = one_skill();
    let mut total = 0;
    for round in 0..6 {
        let waiting = lines(&format!("r{round}-"), 250);
        let (taken, rest) = waiting.split_at(waiting.len() / 250 * 100);
        library.write(&format!("data/usage.spool.1-{round}"), taken.as_bytes());
        let text = format!("{rest}bad line {round}\n");
        library.write(SPOOL, text.as_bytes());
        let children: Vec<_> = (0..8)
            .map(|number| {
                let id = format!("own{round}-{number}");
                let sync: &[&str] = &["sync", "-q"];
                let record: &[&str] = &["record", "use", "deploy", "-q", "--event-id", &id];
                let args = if number % 2 == 0 { sync } else { record };
                library.process(args).spawn().unwrap()
            })
            .collect();
        for child in children {
            let output = child.wait_with_output().unwrap();
            assert_eq!(code(&output), 0, "{}", library.told(&output));
        }
        total += 250 + 4;
        library.sync();
        let counts = "SELECT use_count, (SELECT count(*) FROM v_usage) FROM v_skill";
        assert_eq!(library.sql(counts), format!("{total}\t{total}"));
        let told = refused_lines(&library);
        assert!(told.contains(&format!("bad line {round}")), "{told:?}");
    }
    assert_eq!(library.json(&["hook", "status"])["waiting"], 0);
    assert_healthy(&library);
}

#[test]
fn a_typed_command_that_was_kept_counts_once_whether_the_session_is_imported_before_or_after() {
    for is_imported_first in [true, false] {
        let (library, transcript) = with_tea();
        let heard = json!({"hook_event_name": "UserPromptExpansion", "session_id": SESSION, "cwd": library.path("proj"),
            "expansion_type": "slash_command", "command_name": "tea", "command_args": "", "prompt": "/tea"});
        locked(&library, || {
            let output = library
                .skilldb(&["hook", "claude-code"])
                .env("SKILLDB_NOW", "2026-05-20T08:00:10.350Z")
                .write_stdin(heard.to_string())
                .output();
            assert_eq!(library.told(&output.unwrap()), "exit 0\n");
        });
        let folder = library.path("skills/tea");
        let folder = folder.to_str().unwrap();
        transcript.add(&[typed(10, "u1", "tea"), expanded(10, "u1", folder)]);
        if is_imported_first {
            library.rename(SPOOL, "aside");
            assert_eq!(events(&import(&library, &[])), (1, 0));
            library.rename("aside", SPOOL);
        } else {
            library.sync();
            assert_eq!(events(&import(&library, &[])), (0, 1));
        }
        library.sync();
        import(&library, &[]);
        assert!(!library.path(SPOOL).exists());
        let counts = "SELECT use_count, (SELECT count(*) FROM v_usage) FROM v_skill";
        assert_eq!(library.sql(counts), "1\t1", "{is_imported_first}");
        assert_healthy(&library);
    }
}

#[test]
fn a_pipe_in_the_place_of_the_file_holds_up_nobody() {
    let library = one_skill();
    let put = || {
        let made = std::process::Command::new("mkfifo")
            .arg(library.path(SPOOL))
            .status();
        assert!(made.unwrap().success());
    };
    let clear = || {
        for entry in fs::read_dir(library.path("data")).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap();
            if name.starts_with("usage.spool") {
                fs::remove_file(path).unwrap();
            }
        }
    };
    let end =
        json!({"hook_event_name": "SessionEnd", "transcript_path": library.path("gone.jsonl")});
    let all = |round: u32| {
        let id = format!("t{round}");
        heed(&library, &["hook", "claude-code"], &called(&id));
        heed(&library, &["hook", "claude-code"], &end);
        let from_stdin = ["import", "claude-code", "--session-from-stdin"];
        heed(&library, &from_stdin, &end);
        let id = format!("e{round}");
        let args = [
            "record",
            "use",
            "deploy",
            "--best-effort",
            "--event-id",
            &id,
        ];
        assert_eq!(code(&feed(&library, &args, "")), 0);
        let args = ["record", "-", "--best-effort"];
        let input = line(&format!("l{round}"));
        assert_eq!(code(&feed(&library, &args, &input)), 0);
        feed(&library, &["hook", "status"], "");
    };
    put();
    all(1);
    clear();
    put();
    locked(&library, || all(2));
    clear();
    put();
    // Also whoever does not take trouble lightly: the event is in.
    let args = ["record", "use", "deploy", "--event-id", "plain"];
    let output = feed(&library, &args, "");
    assert_eq!(code(&output), 0, "{}", library.told(&output));
    let output = feed(&library, &["record", "-"], &line("lines"));
    assert_eq!(code(&output), 0, "{}", library.told(&output));
    feed(&library, &["sync"], "");
    clear();
    library.sync();
    assert_eq!(library.sql(IDS), "claude-code:t1\ne1\nl1\nlines\nplain");
    // All is well again.
    locked(&library, || {
        heed(&library, &["hook", "claude-code"], &called("t3"));
    });
    library.sync();
    assert_eq!(library.sql(EVENTS), "6");
    assert_healthy(&library);
}

#[test]
fn a_pipe_that_was_taken_for_what_waits_does_not_keep_later_events_from_being_taken_in() {
    let library = one_skill();
    let made = std::process::Command::new("mkfifo")
        .arg(library.path(SPOOL))
        .status();
    assert!(made.unwrap().success());
    let args = ["record", "use", "deploy", "--event-id", "e1"];
    assert_eq!(code(&feed(&library, &args, "")), 0);
    if library.path(SPOOL).exists() {
        fs::remove_file(library.path(SPOOL)).unwrap();
    }
    locked(&library, || {
        heed(&library, &["hook", "claude-code"], &called("t1"));
    });
    let output = feed(&library, &["sync"], "");
    assert_eq!(code(&output), 0, "{}", library.told(&output));
    assert_eq!(library.sql(IDS), "claude-code:t1\ne1");
}

#[test]
fn lines_sent_to_a_locked_or_damaged_database_are_kept_and_recorded_later() {
    let library = one_skill();
    let mut sent = lines("a", 450);
    writeln!(
        sent,
        "{{\"kind\":\"view\",\"name\":\"deploy\",\"session_id\":\"s\"}}\nno JSON"
    )
    .unwrap();
    let args = ["record", "-", "--best-effort"];
    let output = locked(&library, || feed(&library, &args, &sent));
    let told = library.told(&output);
    assert!(
        told.starts_with("exit 0\n") && output.stdout.is_empty(),
        "{told}"
    );
    let said = "skilldb: the library cannot be written to; 451 events kept for later\n";
    assert!(told.contains(said), "{told}");
    assert_eq!(library.sql(EVENTS), "0");
    let whole = fs::read(library.path("data/skilldb.db")).unwrap();
    let garbage = b"no database ".repeat(2_000);
    library.write("data/skilldb.db", &garbage);
    let output = feed(&library, &args, &(lines("b", 3) + "no JSON\n"));
    let told = library.told(&output);
    assert!(
        told.starts_with("exit 0\n") && output.stdout.is_empty(),
        "{told}"
    );
    assert!(told.contains("; 3 events kept for later\n"), "{told}");
    assert!(fs::read(library.path("data/skilldb.db")).unwrap() == garbage);
    library.write("data/skilldb.db", &whole);
    assert_eq!(library.json(&["hook", "status"])["waiting"], 454);
    library.sync();
    assert_eq!(library.sql(EVENTS), "454");
    let told = "SELECT use_count, view_count, last_use_at FROM v_skill";
    assert_eq!(library.sql(told), format!("453\t1\t{NOW}"));
    let told = "SELECT session_id, at FROM v_usage WHERE kind = 'view'";
    assert_eq!(library.sql(told), format!("s\t{NOW}"));
    assert_refused(&library, 0);
    assert_healthy(&library);
}
