//! `skilldb record`.

#![expect(
    clippy::unwrap_used,
    reason = "what cannot be arranged is a failed test"
)]

mod common;

use std::fs;
use std::process::Output;

use common::{Library, NOW, code};
use insta::assert_snapshot;
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

fn words(line: &str) -> Vec<&str> {
    line.split_whitespace().collect()
}

/// Runs `record` with these words, which must succeed.
fn record(library: &Library, line: &str) -> Value {
    library.json(&[vec!["record"], words(line)].concat())
}

#[track_caller]
fn assert_sql(library: &Library, sql: &str, wanted: &str) {
    assert_eq!(library.sql(sql), wanted, "{sql}");
}

#[track_caller]
fn assert_healthy(library: &Library) {
    assert_eq!(library.json(&["doctor"])["healthy"], true);
}

/// The one event of the library, by the view's columns.
fn event(library: &Library) -> Value {
    let mut told = library.json(&["sql", "SELECT * FROM v_usage"]);
    let rows = told["rows"].as_array_mut().unwrap();
    assert_eq!(rows.len(), 1, "{rows:?}");
    rows.remove(0)
}

const EVENTS: &str = "SELECT count(*) FROM v_usage";

fn send(library: &Library, lines: &str, flags: &[&str]) -> Output {
    let args = [&["record", "-"], flags].concat();
    library.skilldb(&args).write_stdin(lines).output().unwrap()
}

/// Runs `record` where it may not fail its caller: exit 0, nothing on stdout, one line on stderr.
fn best_effort(library: &Library, line: &str) -> String {
    let args = [vec!["record", "--best-effort"], words(line)].concat();
    let output = library.skilldb(&args).output().unwrap();
    let told = library.told(&output);
    assert_eq!(code(&output), 0, "{told}");
    assert_eq!(output.stdout, b"", "{told}");
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(said.lines().count(), 1, "{told}");
    library.normal(&said)
}

#[test]
fn each_flag_lands_in_its_column() {
    let library = one_skill();
    let folder = library.path("skills/deploy");
    let folder = folder.to_str().unwrap();
    let line = "record use deploy --client my-agent --session s-1 --event-id e-1 --failed \
        --at 2026-01-02T05:04:06+01:00 --tokens-in 12 --tokens-out 34 --trigger slash \
        --actor agent --project /srv/shop --args";
    library.json(&[words(line), vec!["to prod", "--path", folder]].concat());
    let mut event = event(&library);
    let machine = event.as_object_mut().unwrap().remove("machine").unwrap();
    assert!(!machine.as_str().unwrap().is_empty());
    let hash = library.sql("SELECT content_hash FROM v_skill");
    let wanted = json!({
        "event_id": "e-1", "skill_id": 1, "name": "deploy", "called_name": "deploy",
        "called_path": folder, "kind": "use", "trigger": "slash", "actor": "agent",
        "client": "my-agent", "session_id": "s-1", "subagent": null, "channel": null,
        "project": "/srv/shop", "at": "2026-01-02T04:04:06.000Z", "ok": 0, "args": "to prod",
        "file": null, "content_hash": hash, "tokens_in": 12, "tokens_out": 34, "in_baseline": 0,
    });
    assert_eq!(event, wanted);
}

#[test]
fn what_is_not_said_is_now_by_a_person_at_a_command_line() {
    let library = one_skill();
    assert_snapshot!(library.run(&words("record file deploy --file notes.md")), @"
    exit 0
    --- stderr
    Recorded: deploy (#1)
    ");
    let columns = "kind, file, at, \"trigger\", actor, ok IS NULL, client IS NULL, content_hash";
    let hash = library.sql("SELECT content_hash FROM v_skill");
    let wanted = format!("file\tnotes.md\t{NOW}\tcli\tuser\t1\t1\t{hash}");
    assert_sql(&library, &format!("SELECT {columns} FROM v_usage"), &wanted);
}

#[test]
fn uses_views_file_reads_and_failures_count_apart() {
    let library = one_skill();
    for kind in ["use --ok", "use --failed", "view --ok", "file --ok"] {
        record(&library, &format!("{kind} deploy"));
    }
    let counts = "SELECT use_count, view_count, file_count, failure_count FROM v_skill";
    assert_sql(&library, counts, "2\t1\t1\t1");
}

#[test]
fn the_same_event_id_counts_once_and_an_outcome_may_come_later() {
    let library = one_skill();
    let outcomes = ["", "--session other", "--failed", "--ok"];
    let is_new = outcomes
        .map(|more| record(&library, &format!("use deploy --event-id e {more}"))["is_new"] == true);
    assert_eq!(is_new, [true, false, false, false]);
    assert_sql(
        &library,
        "SELECT ok, session_id IS NULL FROM v_usage",
        "0\t1",
    );
    let counts = "SELECT use_count, failure_count FROM v_skill";
    assert_sql(&library, counts, "1\t1");
    assert_healthy(&library);
}

#[test]
fn a_name_that_is_not_installed_is_kept_and_linked_by_the_sync_that_brings_it() {
    let library = one_skill();
    assert_snapshot!(library.run(&["record", "use", "later"]), @"
    exit 0
    --- stderr
    Recorded: later: not installed; linked when it appears
    ");
    record(&library, "view later --client codex");
    let waiting = "SELECT name, calls, clients, copies FROM v_not_installed";
    assert_sql(&library, waiting, "later\t2\tcodex\t0");
    library.skill("later", "Comes second");
    let told = library.run(&["sync"]);
    let said = "Linked 2 earlier events of `later` to the skill, which is there now.\n";
    assert!(told.contains(said), "{told}");
    assert_sql(&library, waiting, "");
    let counts = "SELECT use_count, view_count FROM v_skill WHERE name = 'later'";
    assert_sql(&library, counts, "1\t1");
    assert_healthy(&library);
}

#[test]
fn what_is_recorded_before_there_is_a_library_is_linked_by_the_first_sync() {
    let library = Library::new();
    record(&library, "use deploy");
    assert_eq!(event(&library)["skill_id"], Value::Null);
    library.skill("deploy", "Ships it");
    library.sync();
    assert_eq!(event(&library)["skill_id"], 1);
    assert_sql(&library, "SELECT use_count FROM v_skill", "1");
}

#[test]
fn a_skill_is_meant_by_id_by_the_end_of_its_path_and_by_its_path() {
    let library = Library::new();
    library.skill("ops/check", "Checks");
    library.skill("web/check", "Checks, too");
    library.sync();
    let path = library.path("skills/web/check");
    let path = path.to_str().unwrap();
    for form in ["#2", "web/check", path, "./skills/web/check"] {
        let told = record(&library, &format!("use {form}"));
        assert_eq!(told["skill"]["path"], path, "{form}");
    }
    let counts = "SELECT category, use_count FROM v_skill ORDER BY 1";
    assert_sql(&library, counts, "ops\t0\nweb\t4");
}

#[test]
fn a_path_recorded_before_its_skill_was_synced_is_linked_by_the_sync() {
    let library = one_skill();
    library.skill("late", "Not synced yet");
    record(
        &library,
        &format!("use {}", library.path("skills/late").display()),
    );
    library.sync();
    let uses = "SELECT use_count FROM v_skill WHERE name = 'late'";
    assert_sql(&library, uses, "1");
}

#[test]
fn an_ambiguous_name_is_refused_with_its_candidates_and_nothing_is_recorded() {
    let library = Library::new();
    library.skill("ops/check", "Checks");
    library.skill("web/check", "Checks, too");
    library.sync();
    assert_snapshot!(library.run(&["record", "use", "check"]), @"
    exit 2
    --- stderr
    error: `check` names 2 skills
      ops/check  (#1, [DIR]/skills/ops/check)
      web/check  (#2, [DIR]/skills/web/check)
    hint: say which: `ops/check`, `web/check`
    ");
    assert_sql(&library, EVENTS, "0");
    let told = best_effort(&library, "use check");
    let said = "Recorded: check: several skills have that name, counted for none\n";
    assert_eq!(told, said);
    let waiting = "SELECT name, calls, copies FROM v_not_installed";
    assert_sql(&library, waiting, "check\t1\t2");
    assert_sql(&library, "SELECT sum(use_count) FROM v_skill", "0");
    library.json_exit(&["record", "use", "check", "--dry-run"], 2);
}

#[test]
fn a_client_uses_its_own_copy() {
    let library = Library::new();
    for (client, folder) in [("claude-code", ".claude"), ("codex", ".codex")] {
        let path = format!("home/{folder}/skills/deploy/SKILL.md");
        library.write(&path, b"---\nname: deploy\ndescription: Ships it\n---\n");
        library.json(&["sync", "--client", client]);
    }
    for client in ["claude-code", "codex", "codex"] {
        record(&library, &format!("use deploy --client {client}"));
    }
    let counts = "SELECT client, use_count FROM v_skill ORDER BY client";
    assert_sql(&library, counts, "claude-code\t1\ncodex\t2");
}

const LINES: &str = r#"{"kind":"use","name":"deploy","event_id":"j1","ok":false,"trigger":"user","session_id":"s"}
{"kind":"eat","name":"deploy"}

no JSON
{"name":"deploy","trgger":"model"}
{"name":"later","event_id":"j2"}
{"kind":"view","name":"deploy","event_id":"j3","at":"yesterday"}
{"kind":"view","name":"deploy","event_id":"j4","ok":true}"#;

#[test]
fn bad_lines_are_told_by_number_and_the_good_ones_are_recorded() {
    let library = one_skill();
    let output = send(&library, LINES, &[]);
    assert_eq!(code(&output), 1);
    let told = String::from_utf8(output.stderr).unwrap();
    for start in "-:2: `eat` is|-:4: |-:5: unknown field `trgger`|-:7: `yes".split('|') {
        assert!(told.lines().any(|line| line.starts_with(start)), "{told}");
    }
    let end = "3 events recorded, 4 lines refused.\nnot installed: later (1 event)\n";
    assert!(told.ends_with(end) && told.lines().count() == 6, "{told}");
    let columns = "event_id, kind, \"trigger\", session_id, ok";
    let sql = format!("SELECT {columns} FROM v_usage ORDER BY 1");
    assert_sql(
        &library,
        &sql,
        "j1\tuse\tslash\ts\t0\nj2\tuse\tcli\t\t\nj4\tview\tcli\t\t1",
    );
}

#[test]
fn lines_may_be_sent_again() {
    let library = one_skill();
    send(&library, LINES, &[]);
    let output = send(&library, LINES, &["--json"]);
    assert_eq!(code(&output), 1);
    let told: Value = serde_json::from_slice(&output.stdout).unwrap();
    let counts = json!({"schema_version": 1, "new": 0, "known": 3, "refused": 4, "kept": 0, "not_installed": {"later": 1}});
    assert_eq!(told, counts);
    assert_eq!(code(&send(&library, LINES, &["--best-effort"])), 0);
    assert_sql(
        &library,
        "SELECT use_count, view_count FROM v_skill",
        "1\t1",
    );
}

#[test]
fn wrong_words_are_refused_also_with_best_effort_and_nothing_is_recorded() {
    let library = one_skill();
    let lines = "eat deploy;use;use deploy more;use deploy --at soon;use deploy --trigger fate;\
        use deploy --actor nobody;use deploy --ok --failed;use deploy --tokens-in many;- --dry-run";
    for line in lines.split(';') {
        let args = [vec!["record"], words(line)].concat();
        library.json_exit(&args, 2);
        library.json_exit(&[args, vec!["--best-effort"]].concat(), 2);
    }
    library.json_exit(&["record", "use", ""], 2);
    assert_sql(&library, EVENTS, "0");
}

#[test]
fn reviewers_and_curators_count_apart() {
    let library = one_skill();
    for actor in ["user", "agent", "background_review", "curator"] {
        record(&library, &format!("view deploy --actor {actor}"));
    }
    record(&library, "view deploy --actor curator --at 2026-01-03");
    let activity = "SELECT view_count, last_activity_at FROM v_skill";
    assert_sql(&library, activity, &format!("2\t{NOW}"));
    let days = "SELECT background, sum(events) FROM v_usage_daily GROUP BY 1 ORDER BY 1";
    assert_sql(&library, days, "0\t2\n1\t3");
    assert_eq!(library.json(&["stats", "deploy"])["background_count"], 3);
}

#[test]
fn a_dry_run_says_what_would_be_recorded_and_records_nothing() {
    let library = one_skill();
    assert_snapshot!(library.run(&["record", "use", "deploy", "--dry-run"]), @"
    exit 0
    --- stderr
    Would record: deploy (#1)
    ");
    let told = record(&library, "use later --event-id e --dry-run");
    let wanted = json!({
        "schema_version": 1, "event_id": "e", "is_new": true, "skill": null,
        "called_name": "later", "dry_run": true,
    });
    assert_eq!(told, wanted);
    assert_sql(&library, EVENTS, "0");
}

#[test]
fn a_dry_run_makes_no_library() {
    let library = Library::new();
    record(&library, "use deploy --dry-run");
    assert_eq!(fs::read_dir(library.path("data")).unwrap().count(), 0);
}

#[test]
fn a_locked_database_keeps_the_event_for_the_next_command() {
    let library = one_skill();
    let other = database(&library);
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let told = best_effort(&library, "use deploy --event-id kept --session s");
    assert!(told.starts_with("skilldb: "), "{told}");
    assert!(told.ends_with("; the event is kept for later\n"), "{told}");
    library.json_exit(&words("record use deploy --event-id refused"), 3);
    assert_sql(&library, EVENTS, "0");
    other.execute_batch("ROLLBACK").unwrap();
    record(&library, "use deploy --event-id next");
    let told = "SELECT event_id, session_id, at FROM v_usage ORDER BY event_id";
    assert_sql(&library, told, &format!("kept\ts\t{NOW}\nnext\t\t{NOW}"));
    assert!(!library.path("data/usage.spool").exists());
    assert_sql(&library, "SELECT use_count FROM v_skill", "2");
}

#[test]
fn an_event_kept_by_a_relative_path_finds_its_skill_later() {
    let library = one_skill();
    let other = database(&library);
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    best_effort(&library, "use ./skills/deploy");
    other.execute_batch("ROLLBACK").unwrap();
    library.sync();
    assert_eq!(event(&library)["skill_id"], 1);
}

#[test]
fn a_damaged_or_newer_database_is_left_alone_and_the_event_is_kept() {
    let library = one_skill();
    let set_schema = |number| database(&library).pragma_update(None, "user_version", number);
    let schema = library.sql("PRAGMA user_version");
    set_schema(999).unwrap();
    let told = best_effort(&library, "use deploy --event-id e1");
    assert!(told.contains("newer skilldb"), "{told}");
    assert!(told.ends_with("; the event is kept for later\n"), "{told}");
    set_schema(schema.parse().unwrap()).unwrap();
    let whole = fs::read(library.path("data/skilldb.db")).unwrap();
    let garbage = b"no database ".repeat(2_000);
    library.write("data/skilldb.db", &garbage);
    let told = best_effort(&library, "view deploy --event-id e2");
    assert!(told.ends_with("; the event is kept for later\n"), "{told}");
    assert!(fs::read(library.path("data/skilldb.db")).unwrap() == garbage);
    library.json_exit(&["record", "use", "deploy"], 3);
    let spool = fs::read_to_string(library.path("data/usage.spool")).unwrap();
    assert_eq!(spool.lines().count(), 2, "{spool}");
    library.write("data/skilldb.db", &whole);
    library.sync();
    let told = "SELECT event_id, kind, skill_id FROM v_usage ORDER BY 1";
    assert_sql(&library, told, "e1\tuse\t1\ne2\tview\t1");
}

#[test]
fn an_event_that_was_recorded_is_not_kept_again_when_what_waited_cannot_be_read() {
    let library = one_skill();
    fs::create_dir(library.path("data/usage.spool")).unwrap();
    let args = words("record use deploy --best-effort");
    library.skilldb(&args).assert().success();
    for entry in fs::read_dir(library.path("data")).unwrap() {
        // Whatever it was put aside as; files stay.
        let _ = fs::remove_dir(entry.unwrap().path());
    }
    library.sync();
    assert_sql(&library, EVENTS, "1");
}

#[test]
fn settings_that_cannot_be_read_do_not_fail_a_caller() {
    let library = one_skill();
    library.write("data/config.yaml", b"roots: [\n");
    let told = best_effort(&library, "use deploy");
    assert!(told.contains("[DIR]/data/config.yaml:1: "), "{told}");
    library.json_exit(&["record", "use", "deploy"], 2);
    library.write("data/config.yaml", b"color: \xff\xfe\n");
    best_effort(&library, "use deploy");
    fs::remove_file(library.path("data/config.yaml")).unwrap();
    fs::create_dir(library.path("data/config.yaml")).unwrap();
    best_effort(&library, "use deploy");
}

#[test]
fn doctor_finds_and_mends_counters_changed_by_hand() {
    for damage in [
        "UPDATE skill_usage SET use_count = 7",
        "UPDATE skill_usage SET last_use_at = '2020-01-01T00:00:00.000Z'",
        "DELETE FROM skill_usage",
        "UPDATE usage_day SET events = 7 WHERE kind = 'use'",
        "DELETE FROM usage_day WHERE kind = 'view'",
        "UPDATE usage_day SET failures = 1",
        "UPDATE usage_total SET events = 7",
    ] {
        let library = one_skill();
        for kind in ["use", "use", "view"] {
            record(&library, &format!("{kind} deploy"));
        }
        let counts = "SELECT use_count, view_count, last_use_at FROM v_skill";
        let days = "SELECT kind, events, failures FROM v_usage_daily
            UNION ALL SELECT 'all', events, failures FROM usage_total ORDER BY kind";
        let before = (library.sql(counts), library.sql(days));
        database(&library).execute_batch(damage).unwrap();
        assert_ne!((library.sql(counts), library.sql(days)), before, "{damage}");
        let found = library.json_exit(&["doctor"], 1);
        assert_eq!(found["findings"][0]["check"], "usage-counters", "{damage}");
        let mended = library.json(&["doctor", "--fix"]);
        assert_eq!(mended["mended"][0]["check"], "usage-counters", "{damage}");
        assert_eq!((library.sql(counts), library.sql(days)), before, "{damage}");
        assert_healthy(&library);
    }
}

#[test]
fn the_ledger_is_neither_rewritten_nor_emptied_by_plain_sql() {
    let library = one_skill();
    let flags = "--event-id e --client c --session s --project /p --args a --ok --tokens-in 1";
    record(&library, &format!("use deploy {flags}"));
    let before = event(&library);
    let changes = "event_id = 'x';called_name = 'x';kind = 'view';\"trigger\" = 'model';actor = 'curator';\
        at = '2020-01-01T00:00:00.000Z';client = 'x';ok = 0;skill_id = NULL;in_baseline = 1;\
        session_id = 'x';project = 'x';machine = 'x';args = 'x';content_hash = 'x'";
    let mut statements: Vec<String> = changes
        .split(';')
        .map(|change| format!("UPDATE usage_event SET {change}"))
        .collect();
    statements.push("DELETE FROM usage_event".to_owned());
    let database = database(&library);
    statements.retain(|statement| database.execute_batch(statement).is_ok());
    assert_eq!(statements, Vec::<String>::new(), "none may succeed");
    let copy = "event_id, 'x', kind, \"trigger\", actor, at FROM usage_event";
    let columns = "event_id, called_name, kind, \"trigger\", actor, at";
    // Refused or ignored: SQLite does not ask the trigger that guards rows from being deleted.
    let replace = format!("REPLACE INTO usage_event ({columns}) SELECT {copy}");
    let _ = database.execute_batch(&replace);
    assert_eq!(event(&library), before);
}

#[test]
fn a_relinked_skill_keeps_the_counts_of_both_lives() {
    let library = one_skill();
    record(&library, "use deploy --event-id o1");
    record(&library, "use deploy --event-id o2");
    library.remove("skills/deploy");
    library.skill("ship", "Other bytes altogether");
    library.sync();
    for id in ["n1", "n2", "n3"] {
        record(&library, &format!("use ship --event-id {id}"));
    }
    library.json(&["relink", "#1", "ship"]);
    let counts = "SELECT id, name, use_count, inherited_use_count FROM v_skill";
    assert_sql(&library, counts, "1\tship\t2\t3");
    assert_sql(&library, EVENTS, "5");
    record(&library, "use ship --event-id n4");
    library.json(&["sync", "--rebuild"]);
    assert_sql(&library, counts, "1\tship\t3\t3");
    assert_healthy(&library);
}
