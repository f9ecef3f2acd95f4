//! Recording by many at once, beside a sync and an import, and by processes that are killed: every use counts once.

#![expect(
    clippy::unwrap_used,
    reason = "what cannot be arranged is a failed test"
)]

mod common;
#[path = "common/dice.rs"]
mod dice;

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io::Write as _;
use std::process::{Child, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use common::{Library, code};
use dice::Dice;
use serde_json::json;

/// Waits, spinning: a sleep is only good to some 60 microseconds, and phases are shorter.
fn spin(micros: u64) {
    let started = Instant::now();
    while started.elapsed() < Duration::from_micros(micros) {
        std::hint::spin_loop();
    }
}

fn micros(since: Instant) -> u64 {
    u64::try_from(since.elapsed().as_micros()).unwrap()
}

fn number(library: &Library, sql: &str) -> u64 {
    library.sql(sql).parse().unwrap()
}

fn assert_healthy(library: &Library) {
    let output = library.skilldb(&["doctor"]).output().unwrap();
    assert_eq!(code(&output), 0, "{}", library.told(&output));
}

/// A made-up history of Claude Code below `rel`: so many sessions, each with so many calls of skills `s0` to `s9`
/// and `padding` bytes of talk before each. Every fifth session was resumed: it begins with a copy of the first
/// half of the one before. Returns how many different calls there are.
fn history(library: &Library, rel: &str, sessions: usize, calls: usize, padding: usize) -> u64 {
    let mut before = String::new();
    for session in 0..sessions {
        let is_resumed = session % 5 == 4;
        let mut text = String::new();
        if is_resumed {
            let half = before.len() / 2;
            let end = before[..half].rfind('\n').map_or(0, |at| at + 1);
            text.push_str(&before[..end]);
        }
        for call in 0..calls {
            let words = "so it goes ".repeat(padding / 11);
            let at = format!(
                "2025-12-{:02}T{:02}:00:{:02}.000Z",
                1 + session % 28,
                session % 24,
                call % 60
            );
            let common =
                format!(r#""sessionId":"h{session}","timestamp":"{at}","cwd":"/srv/shop""#);
            let (id, skill, ok) = (format!("toolu_{session}_{call}"), call % 10, call % 7 != 3);
            for line in [
                json!({"type": "assistant", "message": {"id": format!("m{id}"), "role": "assistant", "content": [{"type": "text", "text": words}]}}),
                json!({"type": "assistant", "message": {"id": format!("n{id}"), "role": "assistant", "content": [{"type": "tool_use", "name": "Skill", "id": id, "input": {"skill": format!("s{skill}")}}]}}),
                json!({"type": "user", "message": {"role": "user", "content": [{"type": "tool_result", "tool_use_id": id, "is_error": !ok, "content": "told"}]}, "toolUseResult": {"success": ok}}),
                json!({"type": "assistant", "attributionSkill": format!("s{skill}"), "message": {"id": format!("o{id}"), "role": "assistant", "content": [], "usage": {"input_tokens": 3, "output_tokens": 2}}}),
            ] {
                writeln!(text, "{{{common},{}", &line.to_string()[1..]).unwrap();
            }
        }
        library.write(
            &format!("{rel}/projects/-srv-shop/h{session}.jsonl"),
            text.as_bytes(),
        );
        before = text;
    }
    (sessions * calls) as u64
}

/// Runs a command that must succeed and say nothing.
fn in_silence(library: &Library, args: &[&str]) {
    let output = library.process(args).output().unwrap();
    assert!(
        code(&output) == 0 && output.stderr.is_empty(),
        "{args:?}\n{}",
        library.told(&output)
    );
}

const WORKERS: usize = 8;
const EACH: usize = 200;

#[test]
fn eight_times_two_hundred_records_beside_syncs_and_an_import_all_count() {
    let library = Library::new();
    (0..5).for_each(|number| drop(library.skill(&format!("s{number}"), "there from the start")));
    library.sync();
    let imported = history(&library, "claude", 20, 25, 16_000);
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        let library = &library;
        let workers: Vec<_> = (0..WORKERS)
            .map(|worker| {
                scope.spawn(move || {
                    for call in 0..EACH {
                        let name = format!("s{}", (worker + call) % 10);
                        let id = format!("w{worker}-{call}");
                        in_silence(library, &["record", "use", &name, "--event-id", &id, "-q"]);
                    }
                })
            })
            .collect();
        scope.spawn(|| {
            let mut number = 5;
            while !is_over.load(Ordering::Relaxed) {
                library.skill(&format!("s{number}"), "came later");
                in_silence(library, &["sync", "-q"]);
                number += 1;
            }
            assert!(
                number > 10,
                "the records were over before the skills were there"
            );
        });
        scope.spawn(|| {
            let output = library
                .process(&["import", "claude-code", "claude", "-q"])
                .output()
                .unwrap();
            assert!(
                code(&output) == 0 && output.stderr.is_empty(),
                "{}",
                library.told(&output)
            );
        });
        workers
            .into_iter()
            .for_each(|worker| worker.join().unwrap());
        is_over.store(true, Ordering::Relaxed);
    });
    let recorded = (WORKERS * EACH) as u64;
    assert_eq!(
        number(
            &library,
            "SELECT count(*) FROM v_usage WHERE event_id LIKE 'w%'"
        ),
        recorded
    );
    assert_eq!(
        number(&library, "SELECT count(*) FROM v_usage"),
        recorded + imported
    );
    assert_eq!(
        number(&library, "SELECT sum(events) FROM v_usage_daily"),
        recorded + imported
    );
    assert_healthy(&library);
    library.run(&["sync"]);
    assert_eq!(library.sql("SELECT name, calls FROM v_not_installed"), "");
    assert_eq!(
        number(&library, "SELECT sum(use_count) FROM v_skill"),
        recorded + imported
    );
    assert_healthy(&library);
}

#[test]
fn a_skill_that_appears_while_an_import_runs_gets_its_uses_at_the_next_sync() {
    let library = Library::new();
    library.skill("other", "there from the start");
    library.sync();
    let imported = history(&library, "claude", 40, 30, 10_000);
    let mut import = library
        .process(&["import", "claude-code", "claude", "-q"])
        .spawn()
        .unwrap();
    while number(&library, "SELECT count(*) FROM v_usage") == 0 {
        thread::sleep(Duration::from_millis(1));
    }
    (0..10).for_each(|number| drop(library.skill(&format!("s{number}"), "came meanwhile")));
    library.sync();
    let was_running = import.try_wait().unwrap().is_none();
    assert_eq!(code(&import.wait_with_output().unwrap()), 0);
    assert!(
        was_running,
        "the import was over before the skills were there"
    );
    library.run(&["sync"]);
    assert_eq!(library.sql("SELECT name, calls FROM v_not_installed"), "");
    assert_eq!(
        number(&library, "SELECT sum(use_count) FROM v_skill"),
        imported
    );
}

/// Kills a process, unless it is over by then. Says whether it returned 0.
fn kill(child: &mut Child) -> bool {
    // One that is over already is as good.
    let _ = child.kill();
    child.wait().unwrap().success()
}

fn sorted(told: &str) -> BTreeSet<String> {
    told.lines().map(str::to_owned).collect()
}

#[test]
fn a_record_that_returned_is_there_whoever_is_killed_and_sending_again_makes_it_complete() {
    const RECORDS: usize = 150;
    let library = Library::new();
    library.skill("deploy", "Ships it");
    library.sync();
    let send = |id: &str| {
        library
            .process(&["record", "use", "deploy", "--event-id", id, "-q"])
            .spawn()
            .unwrap()
    };
    let started = Instant::now();
    assert!(send("first").wait().unwrap().success());
    let span = 2 * micros(started);
    let ids: BTreeSet<String> = (0..2 * RECORDS)
        .map(|number| format!("r{number:03}"))
        .collect();
    let returned: BTreeSet<String> = thread::scope(|scope| {
        let workers: Vec<_> = [0, 1]
            .map(|half| {
                let ids: Vec<&String> = ids.iter().skip(half * RECORDS).take(RECORDS).collect();
                scope.spawn(move || {
                    let (mut dice, mut span) = (Dice(half as u64), span);
                    let mut returned = Vec::new();
                    for id in ids {
                        let mut child = send(id);
                        spin(dice.roll(span));
                        // Follows how long a record takes on this machine now.
                        if kill(&mut child) {
                            returned.push(id.clone());
                            span -= span / 20;
                        } else {
                            span += span / 20;
                        }
                    }
                    returned
                })
            })
            .into_iter()
            .collect();
        workers
            .into_iter()
            .flat_map(|worker| worker.join().unwrap())
            .collect()
    });
    let killed = ids.len() - returned.len();
    assert!(killed > 20 && returned.len() > 20, "{killed} were killed");
    let there = sorted(&library.sql("SELECT event_id FROM v_usage WHERE event_id <> 'first'"));
    let lost: Vec<&String> = returned.difference(&there).collect();
    assert_eq!(lost, Vec::<&String>::new(), "returned 0 and is not there");
    assert!(there.is_subset(&ids));
    assert_healthy(&library);
    let lines: String = ids
        .iter()
        .map(|id| format!("{{\"kind\":\"use\",\"name\":\"deploy\",\"event_id\":\"{id}\"}}\n"))
        .collect();
    let output = library
        .skilldb(&["record", "-"])
        .write_stdin(lines)
        .output()
        .unwrap();
    assert_eq!(code(&output), 0, "{}", library.told(&output));
    let counts = "SELECT (SELECT count(*) FROM v_usage), use_count FROM v_skill";
    let all = ids.len() + 1;
    assert_eq!(library.sql(counts), format!("{all}\t{all}"));
    assert_healthy(&library);
}

#[test]
fn of_lines_sent_to_a_record_that_is_killed_the_first_ones_are_there_without_a_gap() {
    const LINES: usize = 3_000;
    let library = Library::new();
    library.skill("deploy", "Ships it");
    library.sync();
    let line = |number: usize| format!("{{\"name\":\"deploy\",\"event_id\":\"j{number:05}\"}}\n");
    let lines: String = (0..LINES).map(line).collect();
    let started = Instant::now();
    let calm = ["--home", "calm", "record", "-", "-q"];
    library
        .skilldb(&calm)
        .write_stdin(lines.clone())
        .assert()
        .success();
    let length = micros(started);
    let mut dice = Dice(5);
    let mut cut = 0;
    for _ in 0..6 {
        let mut record = library.process(&["record", "-", "-q"]);
        let mut child = record.stdin(Stdio::piped()).spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let half = lines[..lines.len() / 2].to_owned();
        // More may come, so it is never over by itself.
        let writer = thread::spawn(move || stdin.write_all(half.as_bytes()).map(|()| stdin));
        spin(dice.roll(length / 2));
        cut += usize::from(!kill(&mut child));
        // Nobody is left to read.
        let _ = writer.join().unwrap();
        let last = "coalesce(max(CAST(substr(event_id, 2) AS INTEGER)) + 1, 0)";
        let sql = format!("SELECT count(*) = {last} FROM v_usage");
        assert_eq!(library.sql(&sql), "1", "no gap");
    }
    assert!(cut > 0, "all were over before they were killed");
    library
        .skilldb(&["record", "-", "-q"])
        .write_stdin(lines)
        .assert()
        .success();
    assert_eq!(
        number(&library, "SELECT use_count FROM v_skill"),
        LINES as u64
    );
    assert_healthy(&library);
}

/// All that an import leaves, in one order.
fn imported(library: &Library, home: &str) -> String {
    let sql = "SELECT event_id, skill_id, name, kind, at, ok, session_id, tokens_in, tokens_out FROM v_usage ORDER BY event_id";
    let output = library
        .skilldb(&["--home", home, "sql", sql])
        .output()
        .unwrap();
    assert_eq!(code(&output), 0, "{}", library.told(&output));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn a_killed_import_is_finished_by_the_next_with_the_counts_of_an_undisturbed_one() {
    let library = Library::new();
    (0..10).for_each(|number| drop(library.skill(&format!("s{number}"), "there from the start")));
    let total = history(&library, "claude", 40, 40, 12_000);
    let import = |home: &str| {
        library
            .process(&["--home", home, "import", "claude-code", "claude", "-q"])
            .spawn()
            .unwrap()
    };
    for home in ["calm", "killed"] {
        library.json(&["--home", home, "sync", "skills"]);
    }
    let started = Instant::now();
    assert_eq!(code(&import("calm").wait_with_output().unwrap()), 0);
    let length = micros(started);
    let wanted = imported(&library, "calm");
    assert_eq!(wanted.lines().count() as u64, total);

    let mut dice = Dice(7);
    let mut halves = 0;
    for _ in 0..8 {
        let mut child = import("killed");
        spin(length / 16 + dice.roll(length / 8));
        kill(&mut child);
        let there = imported(&library, "killed").lines().count() as u64;
        halves += usize::from(0 < there && there < total);
    }
    assert!(halves > 0, "none was killed in the middle");
    assert_eq!(code(&import("killed").wait_with_output().unwrap()), 0);
    assert_eq!(imported(&library, "killed"), wanted);
    let again = library.json(&["--home", "killed", "import", "claude-code", "claude"]);
    assert_eq!(again["events"]["new"], 0);
    for home in ["calm", "killed"] {
        let doctor = library.json(&["--home", home, "doctor"]);
        assert_eq!(doctor["healthy"], true, "{home}");
    }
    let counts = "SELECT name, use_count, failure_count FROM v_skill ORDER BY name";
    let [calm, killed] =
        ["calm", "killed"].map(|home| library.json(&["--home", home, "sql", counts]));
    assert_eq!(killed, calm);
}
