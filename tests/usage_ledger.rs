//! What the ledger refuses to be told, what it learns later, and how the database fares: its log, its older
//! schemas, and what is left of one that was moved away.

#![expect(
    clippy::unwrap_used,
    reason = "what cannot be arranged is a failed test"
)]

mod common;
#[path = "common/schemas.rs"]
mod schemas;

use std::fs;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use common::{Library, code, copy_folder};
use refinery_core::Migration;
use rusqlite::Connection;
use schemas::{migrations, newest};
use serde_json::json;

fn one_skill() -> Library {
    let library = Library::new();
    library.skill("deploy", "Ships it");
    library.sync();
    library
}

#[expect(
    clippy::disallowed_methods,
    reason = "stands for another program, and for an earlier skilldb"
)]
fn open(path: &Path) -> Connection {
    Connection::open(path).unwrap()
}

fn database(library: &Library) -> Connection {
    open(&library.path("data/skilldb.db"))
}

#[track_caller]
fn record(library: &Library, words: &str) {
    let mut args = vec!["record"];
    args.extend(words.split_whitespace());
    library.json(&args);
}

#[track_caller]
fn assert_healthy(library: &Library) {
    let report = library.json(&["doctor"]);
    assert_eq!(report["healthy"], true, "{report}");
}

const EVENTS: &str = "SELECT count(*) FROM v_usage";

#[test]
fn an_empty_event_id_is_none_and_each_use_counts() {
    let library = one_skill();
    let args = ["record", "use", "deploy", "--event-id"];
    for id in ["", "", " ", " "] {
        library.json(&[&args[..], &[id]].concat());
    }
    let lines = "{\"name\":\"deploy\",\"event_id\":\"\"}\n".repeat(3);
    let output = library
        .skilldb(&["record", "-"])
        .write_stdin(lines)
        .output();
    assert_eq!(code(&output.unwrap()), 0);
    assert_eq!(library.sql("SELECT use_count FROM v_skill"), "7");
    assert_eq!(
        library.sql("SELECT count(DISTINCT event_id) FROM v_usage"),
        "7"
    );
    assert_healthy(&library);
}

#[test]
fn absurd_counts_of_tokens_are_refused_and_the_statistics_go_on_working() {
    let library = one_skill();
    record(&library, "use deploy --tokens-in 3 --tokens-out 2");
    for count in [
        "9223372036854775807",
        "18446744073709551615",
        "9223372036854775806",
    ] {
        for flag in ["--tokens-in", "--tokens-out"] {
            let args = [
                "record",
                "use",
                "deploy",
                "--event-id",
                "absurd",
                flag,
                count,
            ];
            library.json_exit(&args, 2);
            library.json_exit(&[&args[..], &["--best-effort"]].concat(), 2);
        }
        let line = format!("{{\"name\":\"deploy\",\"tokens_in\":{count}}}\n");
        let output = library.skilldb(&["record", "-"]).write_stdin(line).output();
        assert_eq!(code(&output.unwrap()), 1, "{count}");
    }
    assert_eq!(library.sql(EVENTS), "1");
    library.json(&["stats"]);
    let told = library.json(&["stats", "deploy"]);
    assert_eq!(told["use_count"], 1, "{told}");
    assert_eq!(
        library.sql("SELECT sum(tokens_in), sum(tokens_out) FROM v_usage"),
        "3\t2"
    );
    assert_healthy(&library);
}

#[test]
fn absurd_counts_in_a_history_do_not_break_the_statistics() {
    let library = one_skill();
    let mut text = String::new();
    for number in 0..3 {
        let common =
            json!({"sessionId": "s", "cwd": "/srv", "timestamp": "2026-01-01T00:00:00.000Z"});
        let call = json!({"type": "assistant", "message": {"id": format!("m{number}"), "role": "assistant",
            "content": [{"type": "tool_use", "name": "Skill", "id": format!("t{number}"), "input": {"skill": "deploy"}}]}});
        let cost = json!({"type": "assistant", "attributionSkill": "deploy", "message": {"id": format!("c{number}"), "role": "assistant",
            "content": [], "usage": {"input_tokens": i64::MAX, "output_tokens": i64::MAX}}});
        for line in [call, cost] {
            let mut whole = common.clone();
            let fields = line.as_object().unwrap().clone();
            whole.as_object_mut().unwrap().extend(fields);
            text.extend([whole.to_string().as_str(), "\n"]);
        }
    }
    library.write("home/.claude/projects/-srv/s.jsonl", text.as_bytes());
    library.json(&["import", "claude-code"]);
    assert_eq!(library.sql(EVENTS), "3");
    library.json(&["stats"]);
    library.json(&["stats", "deploy"]);
    assert_healthy(&library);
}

#[test]
fn tokens_that_come_later_for_a_known_event_are_learnt_once() {
    let library = one_skill();
    let told = "SELECT count(*), coalesce(sum(tokens_in), '-'), coalesce(sum(tokens_out), '-') FROM v_usage";
    let steps = [
        ("", "1\t-\t-"),
        ("--tokens-in 5 --tokens-out 2", "1\t5\t2"),
        ("--tokens-in 5 --tokens-out 2", "1\t5\t2"),
        ("--tokens-in 9 --tokens-out 9", "1\t5\t2"),
        ("", "1\t5\t2"),
    ];
    for (flags, wanted) in steps {
        record(&library, &format!("use deploy --event-id e {flags}"));
        assert_eq!(library.sql(told), wanted, "{flags}");
    }
    assert_eq!(library.sql("SELECT use_count FROM v_skill"), "1");
    assert_healthy(&library);
}

#[test]
fn the_database_itself_refuses_to_move_events_and_what_they_cost() {
    let library = one_skill();
    record(&library, "use deploy --event-id e1");
    record(&library, "use deploy --event-id e2");
    let other = database(&library);
    other
        .execute_batch(
            "INSERT INTO usage_cost VALUES ('m', 1, 'deploy', 'claude-code', 's', '2026-01-01T00:00:00.000Z', 3, 2)",
        )
        .unwrap();
    let rows = "SELECT id, coalesce(tokens_in, '-'), coalesce(tokens_out, '-'), event_id FROM usage_event ORDER BY id";
    let before = library.sql(rows);
    assert_eq!(before, "1\t3\t2\te1\n2\t-\t-\te2");
    for statement in [
        "UPDATE OR REPLACE usage_event SET id = 1 WHERE id = 2",
        "UPDATE usage_event SET id = 99 WHERE id = 2",
        "UPDATE usage_event SET id = 99",
        "DELETE FROM usage_cost",
        "UPDATE usage_cost SET usage_event_id = 2",
        "UPDATE usage_cost SET usage_event_id = NULL",
        "UPDATE OR REPLACE usage_cost SET usage_event_id = 2 WHERE message_id = 'm'",
    ] {
        let result = other.execute_batch(statement);
        assert!(result.is_err(), "{statement}");
        assert_eq!(library.sql(rows), before, "{statement}");
    }
    assert_eq!(library.sql("SELECT count(*) FROM usage_cost"), "1");
    assert_healthy(&library);
}

#[test]
fn doctor_notices_a_changed_count_of_failures() {
    for (outcome, damage) in [
        ("--failed", "UPDATE skill_usage SET failure_count = 7"),
        ("--failed", "UPDATE skill_usage SET failure_count = 0"),
        ("--ok", "UPDATE skill_usage SET failure_count = 1"),
        ("--failed", "UPDATE skill_usage SET last_failure_at = NULL"),
    ] {
        let library = one_skill();
        record(&library, &format!("use deploy {outcome}"));
        let counts = "SELECT failure_count, last_failure_at FROM skill_usage";
        let before = library.sql(counts);
        database(&library).execute_batch(damage).unwrap();
        let found = library.json_exit(&["doctor"], 1);
        assert_eq!(found["findings"][0]["check"], "usage-counters", "{damage}");
        library.json(&["doctor", "--fix"]);
        assert_eq!(library.sql(counts), before, "{damage}");
        assert_healthy(&library);
    }
    // One that was never used.
    let library = one_skill();
    let damage = "INSERT INTO skill_usage (skill_id, failure_count) VALUES (1, 3) ON CONFLICT DO UPDATE SET failure_count = 3";
    database(&library).execute_batch(damage).unwrap();
    library.json_exit(&["doctor"], 1);
}

const LONGEST_LOG: u64 = 4 * 1024 * 1024;

fn log_size(library: &Library) -> u64 {
    fs::metadata(library.path("data/skilldb.db-wal")).map_or(0, |metadata| metadata.len())
}

/// Records in separate processes, one after another, and looks at the log after each.
fn many_records(library: &Library) {
    for number in 0..600 {
        let id = format!("e{number}");
        let args = [
            "record",
            "use",
            "deploy",
            "-q",
            "--event-id",
            &id,
            "--args",
            "to prod",
        ];
        let output = library.process(&args).output().unwrap();
        assert_eq!(library.told(&output), "exit 0\n");
        let size = log_size(library);
        assert!(size < LONGEST_LOG, "{size} bytes after {number}");
    }
    assert_eq!(library.sql("SELECT use_count FROM v_skill"), "600");
}

#[test]
fn the_log_stays_short() {
    let library = one_skill();
    many_records(&library);
    assert_healthy(&library);
}

#[test]
fn the_log_stays_short_while_somebody_has_the_database_open() {
    let library = one_skill();
    let idle = database(&library);
    let rows: i64 = idle
        .query_row("SELECT count(*) FROM usage_event", [], |row| row.get(0))
        .unwrap();
    assert_eq!(rows, 0);
    many_records(&library);
    drop(idle);
    library.sync();
    assert!(log_size(&library) < LONGEST_LOG);
    assert_healthy(&library);
}

fn names(library: &Library, is_wanted: impl Fn(&str) -> bool) -> Vec<PathBuf> {
    let entries = fs::read_dir(library.path("data")).unwrap();
    let paths = entries.map(|entry| entry.unwrap().path());
    let mut paths: Vec<PathBuf> = paths
        .filter(|path| is_wanted(path.file_name().unwrap().to_str().unwrap()))
        .collect();
    paths.sort();
    paths
}

#[test]
fn the_log_of_a_database_that_was_moved_away_alone_is_kept_beside() {
    for anew in [&["sync", "skills"][..], &["record", "use", "deploy"]] {
        let library = one_skill();
        record(&library, "use deploy --event-id only-in-the-log");
        assert!(log_size(&library) > 0, "the story needs a log");
        let log = fs::read(library.path("data/skilldb.db-wal")).unwrap();
        library.rename("data/skilldb.db", "moved/skilldb.db");
        library.json(anew);
        assert_eq!(
            library.sql("SELECT count(*) FROM v_usage WHERE event_id LIKE 'only%'"),
            "0"
        );
        let orphans = names(&library, |name| name.contains("orphaned"));
        assert_eq!(orphans.len(), 1, "{orphans:?}");
        assert!(fs::read(&orphans[0]).unwrap() == log);
        // Together they are what they were.
        fs::copy(&orphans[0], library.path("moved/skilldb.db-wal")).unwrap();
        let told = library.json(&["--home", "moved", "sql", "SELECT event_id FROM v_usage"]);
        assert_eq!(told["rows"][0]["event_id"], "only-in-the-log");
        assert_healthy(&library);
    }
}

#[test]
fn what_is_said_of_a_damaged_database_names_all_its_files() {
    let library = one_skill();
    library.write("data/skilldb.db", &b"no database ".repeat(2_000));
    for args in [&["list"][..], &["sync"], &["record", "use", "deploy"]] {
        let told = library.run(args);
        assert!(told.starts_with("exit 3\n"), "{told}");
        let hint = told
            .lines()
            .find(|line| line.starts_with("hint: "))
            .unwrap();
        for name in ["skilldb.db,", "skilldb.db-wal", "skilldb.db-shm"] {
            assert!(hint.contains(name), "{name}: {hint}");
        }
    }
}

/// Makes the database an earlier skilldb would have left, with a skill `a` and so many uses of it.
fn old_database(library: &Library, schema: i32, uses: u32) {
    let database = database(library);
    database
        .execute_batch(
            "PRAGMA journal_mode = WAL;
             CREATE TABLE refinery_schema_history (version INT4 PRIMARY KEY, name VARCHAR(255), applied_on VARCHAR(255), checksum VARCHAR(255));",
        )
        .unwrap();
    let all = migrations().into_iter();
    for (number, name, sql) in all.filter(|(number, ..)| *number <= schema) {
        database.execute_batch(&sql).unwrap();
        let migration = Migration::unapplied(&name, &sql).unwrap();
        let sum = migration.checksum().to_string();
        let note =
            "INSERT INTO refinery_schema_history VALUES (?1, ?2, '2026-01-01T00:00:00Z', ?3)";
        let values = rusqlite::params![number, migration.name(), sum];
        database.execute(note, values).unwrap();
    }
    database
        .pragma_update(None, "user_version", schema)
        .unwrap();
    let root = library.path("skills");
    let insert = "INSERT INTO skill_root (id, path, kind, writable, created_at) VALUES (7, ?1, 'local', 1, '2025-01-01T00:00:00.000Z')";
    database.execute(insert, [root.to_str().unwrap()]).unwrap();
    database
        .execute_batch(
            "INSERT INTO skill (id, root_id, rel_path, origin, created_at) VALUES (42, 7, 'a', 'user', '2025-01-01T00:00:00.000Z');
             INSERT INTO manifest (skill_id, name, folder, category, file_name, frontmatter, body_offset, size, mtime_ns, ctime_ns, inode, parse_status)
             VALUES (42, 'a', 'a', '', 'SKILL.md', '{}', 0, 1, 1, 1, 1, 'ok');",
        )
        .unwrap();
    let insert = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?1)
        INSERT INTO usage_event (event_id, skill_id, called_name, kind, \"trigger\", actor, at)
        SELECT 'old' || i, 42, 'a', 'use', 'model', 'agent', '2025-06-01T00:00:00.000Z' FROM n";
    if uses > 0 {
        database.execute(insert, [uses]).unwrap();
    }
}

#[test]
fn an_older_database_is_brought_up_to_date_by_a_record() {
    for schema in 2..newest() {
        let library = Library::new();
        library.skill("a", "first");
        old_database(&library, schema, 3);
        record(&library, "use a --event-id new");
        let ids = library.sql("SELECT event_id, skill_id FROM v_usage ORDER BY 1");
        assert_eq!(
            ids, "new\t42\nold1\t42\nold2\t42\nold3\t42",
            "from schema {schema}"
        );
        assert_eq!(library.sql("SELECT use_count FROM v_skill"), "4");
        let version = library.sql("PRAGMA user_version");
        assert_eq!(version, newest().to_string());
        assert_eq!(names(&library, |name| name.ends_with(".backup")).len(), 1);
        // The made-up row of the mirror is none of the file.
        library.sync();
        assert_eq!(library.sql("SELECT use_count FROM v_skill"), "4");
        assert_healthy(&library);
    }
}

#[test]
fn an_older_database_is_left_alone_by_who_must_not_be_held_up_and_the_event_is_kept() {
    let call = json!({"hook_event_name": "PostToolUse", "session_id": "s", "tool_name": "Skill", "tool_use_id": "t",
        "tool_input": {"skill": "a"}, "tool_response": {"success": true}});
    let line = "{\"name\":\"a\",\"event_id\":\"claude-code:t\"}\n".to_owned();
    let callers: [(&str, String); 3] = [
        (
            "record use a --best-effort --event-id claude-code:t",
            String::new(),
        ),
        ("record - --best-effort", line),
        ("hook claude-code", call.to_string()),
    ];
    for schema in 1..newest() {
        for (words, input) in &callers {
            let library = Library::new();
            library.skill("a", "first");
            let uses = if schema >= 2 { 2 } else { 0 };
            old_database(&library, schema, uses);
            let before = fs::read(library.path("data/skilldb.db")).unwrap();
            let args: Vec<&str> = words.split(' ').collect();
            let output = library.skilldb(&args).write_stdin(input.as_str()).output();
            let output = output.unwrap();
            let told = library.told(&output);
            assert!(
                code(&output) == 0 && output.stdout.is_empty(),
                "{words}: {told}"
            );
            let after = fs::read(library.path("data/skilldb.db")).unwrap();
            assert!(after == before, "{words} from schema {schema}");
            assert_eq!(log_size(&library), 0, "{words} from schema {schema}");
            assert_eq!(names(&library, |name| name.ends_with(".backup")).len(), 0);
            assert_eq!(library.json(&["hook", "status"])["waiting"], 1, "{words}");
            library.sync();
            let found = "SELECT count(*) FROM v_usage WHERE event_id = 'claude-code:t'";
            assert_eq!(library.sql(found), "1", "{words} from schema {schema}");
            let counts = (uses + 1).to_string();
            assert_eq!(library.sql("SELECT use_count FROM v_skill"), counts);
            assert_healthy(&library);
        }
    }
}

#[test]
fn killed_migrations_leave_one_half_and_no_pile_of_backups() {
    const USES: u32 = 60_000;
    let library = Library::new();
    library.skill("a", "first");
    old_database(&library, 3, USES);
    copy_folder(&library.path("data"), &library.path("calm"));
    let started = Instant::now();
    library.json(&["--home", "calm", "list"]);
    let length = u64::try_from(started.elapsed().as_micros()).unwrap();
    // A generator with a fixed seed: the same moments in every run.
    let mut seed = 11_u64;
    let mut roll = |sides: u64| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (seed >> 33) % sides
    };
    let (mut killed, mut halves) = (0, 0);
    for day in 1..=12 {
        let mut command = library.process(&["list"]);
        command.env("SKILLDB_NOW", format!("2026-01-{day:02}T00:00:00.000Z"));
        let mut child = command.spawn().unwrap();
        let delay = if day % 2 == 0 {
            // While the copy is being made.
            let is_half = || !names(&library, |name| name.contains(".part")).is_empty();
            while child.try_wait().unwrap().is_none() && !is_half() {
                std::hint::spin_loop();
            }
            roll(1_000)
        } else {
            length / 8 + roll(length * 2 / 3)
        };
        thread::sleep(Duration::from_micros(delay));
        // One that is over already is as good.
        let _ = child.kill();
        killed += usize::from(!child.wait().unwrap().success());
        let parts = names(&library, |name| name.ends_with(".part"));
        halves += parts.len();
        assert!(parts.len() <= 1, "{parts:?}");
    }
    assert!(killed > 0 && halves > 0, "{killed} killed, {halves} halves");
    library.sync();
    let copies = names(&library, |name| name.ends_with(".backup"));
    assert!(!copies.is_empty());
    let whole = "SELECT count(*) FROM usage_event";
    for copy in &copies {
        let there: u32 = open(copy).query_row(whole, [], |row| row.get(0)).unwrap();
        assert_eq!(there, USES, "the copy is whole");
    }
    assert!(names(&library, |name| name.contains(".part")).is_empty());
    assert_eq!(
        library.sql("SELECT use_count FROM v_skill"),
        USES.to_string()
    );
    assert_healthy(&library);
    let told = format!("{copies:?} after {killed} kills, {halves} halves");
    assert_eq!(copies.len(), 1, "{told}");
}
