//! The shared cases about Hermes as stories: its counts, marks and sessions taken over by the built binary, held
//! against each case's `expected.json`.

#![expect(
    clippy::unwrap_used,
    reason = "what cannot be arranged is a failed test"
)]

mod common;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use common::{Case, Library, strings};
use serde_json::{Value, json};

// Case 09: what was written on Windows.

#[test]
fn case_09_hub_records_keep_paths_that_work_here() {
    let (library, case) = with_case(9);
    library.json(&["import", "hermes", "case/input/home"]);
    for record in case.expected["hub"].as_array().unwrap() {
        let name = record["name"].as_str().unwrap();
        let stored = library.object(&format!(
            "SELECT json_object('name', name, 'install_path', install_path, 'files', json(files)) FROM v_install WHERE name = '{name}'"
        ));
        for (key, value) in record.as_object().unwrap() {
            assert_eq!(&stored[key], value, "{name}: {key}");
        }
    }
    let wanted = case.expected["hub"].as_array().unwrap().len();
    assert_eq!(
        library.sql("SELECT count(*) FROM v_install"),
        wanted.to_string()
    );
    let origins = library.sql("SELECT DISTINCT origin FROM v_skill");
    assert_eq!(origins, "hub", "no hub skill is taken for a hand-made one");
}

#[test]
fn case_09_counts_behind_a_byte_order_mark_are_taken_over() {
    let (library, case) = with_case(9);
    library.json(&["import", "hermes", "case/input/home"]);
    let counted = library.object(
        "SELECT json_group_array(json_object('name', name, 'use_count', use_count, 'view_count', view_count)) FROM v_skill WHERE use_count + view_count > 0",
    );
    assert_eq!(counted, case.expected["usage"]);
}

#[test]
fn case_09_a_byte_of_another_code_page_is_told_and_leaves_the_files_alone() {
    let (library, case) = with_case(9);
    let before = files_below(&case.dir);
    let exit = i32::try_from(case.expected["exit"].as_i64().unwrap()).unwrap();
    let report = library.json_exit(&["import", "hermes", "case/input/home"], exit);
    let warnings = report["warnings"].as_array().unwrap();
    assert!(warnings.len() as u64 >= case.expected["warnings_at_least"].as_u64().unwrap());
    let path = warnings[0]["path"].as_str().unwrap();
    assert!(path.ends_with(".hub/lock.json"), "{path}");
    assert_eq!(
        library.sql("SELECT metadata ->> 'note' FROM v_install WHERE name = 'csv-clean'"),
        "the team\u{2019}s favourite"
    );
    assert!(files_below(&case.dir) == before, "a file was written to");
}

// Case 28: a Hermes home.

const HERMES: [&str; 3] = ["import", "hermes", "case/input/home"];

#[test]
fn case_28_counts_pins_and_origins_are_taken_over() {
    let (library, case) = hermes();
    library.json(&HERMES);
    for (name, wanted) in case.expected["usage"].as_object().unwrap() {
        if wanted["live"] == false {
            continue;
        }
        let stored = library.object(&format!(
            "SELECT json_object('use', use_count, 'view', view_count, 'patch', patch_count, 'pinned', json(iif(pinned, 'true', 'false')),
               'created_by', origin, 'state', state) FROM v_skill WHERE name = '{name}'"
        ));
        for (key, value) in wanted.as_object().unwrap() {
            assert_eq!(&stored[key], value, "{name}: {key}");
        }
    }
    let times = "SELECT last_use_at, last_activity_at, name, created_at FROM v_skill WHERE origin = 'agent' ORDER BY name";
    assert_eq!(
        library.sql(times),
        "2026-05-20T12:00:00.000Z\t2026-05-21T12:00:00.000Z\tmeal-plan\t2026-01-01T00:00:00.000Z\n\
         \t\told-style\t2026-01-02T00:00:00.000Z"
    );
    assert_eq!(library.json(&["doctor"])["healthy"], true);
}

#[test]
fn case_28_a_record_without_a_folder_keeps_its_uses_and_is_not_live() {
    let (library, case) = hermes();
    let report = library.json(&HERMES);
    let gone: Vec<&String> = case.expected["usage"]
        .as_object()
        .unwrap()
        .iter()
        .filter(|(_, wanted)| wanted["live"] == false)
        .map(|(name, _)| name)
        .collect();
    assert_eq!(report["taken_over"]["without_folder"], json!(gone));
    for name in gone {
        let uses = &case.expected["usage"][name]["use"];
        assert!(!library.listed(&[]).contains(name));
        assert!(!library.listed(&["--archived"]).contains(name));
        let kept = format!(
            "SELECT s.state, u.use_count FROM skill s JOIN skill_usage u ON u.skill_id = s.id WHERE s.rel_path LIKE '%{name}'"
        );
        assert_eq!(library.sql(&kept), format!("archived\t{uses}"));
        let missing = library.json(&["list", "--missing"])["missing"].clone();
        let paths = strings(&missing, "rel_path");
        assert!(paths.iter().any(|path| path.ends_with(name)), "{paths:?}");
    }
    let output = library.skilldb(&HERMES).output().unwrap();
    let told = library.told(&output);
    assert!(told.contains("record without folder: no-folder"), "{told}");
}

#[test]
fn case_28_what_makes_no_sense_is_told() {
    let (library, case) = hermes();
    let report = library.json(&HERMES);
    let warnings = strings(&report["warnings"], "message");
    assert!(warnings.len() as u64 >= case.expected["warnings_at_least"].as_u64().unwrap());
    let about = |name: &str| warnings.iter().filter(|words| words.contains(name)).count();
    assert_eq!(
        (about("`junk-row`"), about("`minus`")),
        (1, 2),
        "{warnings:?}"
    );
    assert_eq!(
        library.sql("SELECT count(*) FROM skill WHERE rel_path LIKE '%junk-row%'"),
        "0"
    );
}

#[test]
fn case_28_calls_in_the_session_database_are_history_and_added_to_no_count() {
    let (library, case) = hermes();
    library.json(&HERMES);
    let wanted = &case.expected["history_events"];
    let events = |filter: &str| {
        let query = format!("SELECT count(*) FROM v_usage WHERE in_baseline = 1 AND {filter}");
        json!(library.sql(&query).parse::<u64>().unwrap())
    };
    let views = "name = 'meal-plan' AND kind IN ('view', 'file')";
    assert_eq!(events(views), wanted["meal-plan"]["skill_view"]);
    let slash = r#"name = 'meal-plan' AND kind = 'use' AND "trigger" = 'slash'"#;
    assert_eq!(events(slash), wanted["meal-plan"]["slash"]);
    assert_eq!(library.sql("SELECT count(*) FROM v_usage"), "3");
    assert_eq!(
        library.sql("SELECT kind, file, coalesce(project, 'none'), session_id, channel FROM v_usage ORDER BY at"),
        "view\t\t/srv/home\ts1\tcli\nfile\treferences/diet.md\t/srv/home\ts1\tcli\nuse\t\tnone\ts2\tcron"
    );
    let patches = "FROM v_patch_history WHERE name = 'old-style' AND action = 'patch'";
    let count = library.sql(&format!("SELECT count(*) {patches}"));
    let called = &wanted["old-style"]["skill_manage.patch"];
    assert_eq!(json!(count.parse::<u64>().unwrap()), *called);
    assert_eq!(
        library.sql(&format!(
            "SELECT outcome, reason, session_id, actor {patches}"
        )),
        "failed\tnot found\ts1\tagent"
    );
}

#[test]
fn case_28_a_second_import_changes_nothing() {
    let (library, case) = hermes();
    let first = library.json(&HERMES);
    assert_eq!(first["taken_over"]["records"][0]["changed"], true);
    let state = || {
        let counters = library.sql("SELECT * FROM skill_usage ORDER BY skill_id");
        let skills =
            library.sql("SELECT id, state, origin, pinned, created_at FROM skill ORDER BY id");
        let changes = library.sql("SELECT count(*) FROM change");
        let events = library.sql("SELECT * FROM v_usage ORDER BY event_id");
        [events, counters, skills, changes]
    };
    let before = state();
    let report = library.json(&HERMES);
    assert_eq!(report["events"]["new"], case.expected["second_import_new"]);
    assert_eq!(report["events"]["known"], 0, "messages are read once");
    let taken = &report["taken_over"];
    let records = taken["records"].as_array().unwrap().iter();
    let changed: Vec<&Value> = records
        .filter(|record| record["changed"] != false)
        .collect();
    assert_eq!((changed, &taken["changes"]), (Vec::new(), &json!(0)));
    assert_eq!(state(), before);
}

#[test]
fn case_28_nothing_of_hermes_is_written_to() {
    let (library, case) = hermes();
    let home = case.dir.join("input/home");
    let before = files_below(&home);
    library.json(&["import", "hermes", "case/input/home", "--dry-run"]);
    assert!(names_in(&library.path("data")).is_empty(), "a dry run");
    library.json(&HERMES);
    library.json(&HERMES);
    let after = files_below(&home);
    let names = |files: &BTreeMap<PathBuf, _>| files.keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(&after), names(&before), "nothing was left beside");
    assert!(after == before, "bytes or times changed");
}

/// Case 28 with its session database, built as its `setup.py` does it.
#[expect(
    clippy::disallowed_methods,
    reason = "stands for the program that writes the session database"
)]
fn hermes() -> (Library, Case) {
    const SCHEMA: &str = "
        CREATE TABLE schema_version(version INTEGER NOT NULL); INSERT INTO schema_version VALUES(22);
        CREATE TABLE sessions(id TEXT PRIMARY KEY, source TEXT NOT NULL, model TEXT, parent_session_id TEXT, started_at REAL NOT NULL, ended_at REAL,
          message_count INTEGER DEFAULT 0, tool_call_count INTEGER DEFAULT 0, input_tokens INTEGER DEFAULT 0, output_tokens INTEGER DEFAULT 0, cwd TEXT, title TEXT);
        CREATE TABLE messages(id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT NOT NULL REFERENCES sessions(id), role TEXT NOT NULL, content TEXT,
          tool_call_id TEXT, tool_calls TEXT, tool_name TEXT, timestamp REAL NOT NULL, token_count INTEGER, active INTEGER DEFAULT 1);";
    const SESSION: &str = "INSERT INTO sessions(id, source, model, started_at, cwd) VALUES(?1, ?2, 'some-model', ?3, ?4)";
    const MESSAGE: &str = "INSERT INTO messages(session_id, role, content, tool_calls, tool_call_id, tool_name, timestamp) VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7)";
    // 2026-05-20T08:00:00Z
    const START: f64 = 1_779_264_000.0;
    let (library, case) = with_case(28);
    let path = case.dir.join("input/home/state.db");
    let database = rusqlite::Connection::open(path).unwrap();
    database.execute_batch(SCHEMA).unwrap();
    let sessions = [
        ("s1", "cli", START, Some("/srv/home")),
        ("s2", "cron", START + 86_400.0, None),
    ];
    for session in sessions {
        database.execute(SESSION, session).unwrap();
    }
    let call = |id: &str, name: &str, arguments: Value| json!({"id": id, "type": "function", "function": {"name": name, "arguments": arguments.to_string()}});
    let said = |session: &str, role: &str, content: &str, after: f64| {
        let none = None::<String>;
        let row = (session, role, content, &none, &none, &none, START + after);
        database.execute(MESSAGE, row).unwrap();
    };
    let asked = |calls: Value, after: f64| {
        let none = None::<String>;
        let row = (
            "s1",
            "assistant",
            &none,
            calls.to_string(),
            &none,
            &none,
            START + after,
        );
        database.execute(MESSAGE, row).unwrap();
    };
    let answered = |id: &str, name: &str, answer: Value, after: f64| {
        let row = (
            "s1",
            "tool",
            answer.to_string(),
            None::<String>,
            id,
            name,
            START + after,
        );
        database.execute(MESSAGE, row).unwrap();
    };
    said("s1", "user", "plan my week", 1.0);
    asked(
        json!([call("t1", "skill_view", json!({"name": "meal-plan"}))]),
        2.0,
    );
    answered(
        "t1",
        "skill_view",
        json!({"success": true, "name": "meal-plan"}),
        3.0,
    );
    asked(
        json!([
            call(
                "t2",
                "skill_view",
                json!({"name": "meal-plan", "file_path": "references/diet.md"})
            ),
            call(
                "t3",
                "skill_manage",
                json!({"action": "patch", "name": "old-style", "old_string": "a", "new_string": "b"})
            ),
        ]),
        4.0,
    );
    answered("t2", "skill_view", json!({"success": true}), 5.0);
    answered(
        "t3",
        "skill_manage",
        json!({"success": false, "error": "not found"}),
        6.0,
    );
    said(
        "s2",
        "user",
        "[IMPORTANT: The user has invoked the \"meal-plan\" skill, indicating they want you to follow its instructions. The full skill content is loaded below.]\n\n# Steps\n",
        86_401.0,
    );
    said(
        "s2",
        "user",
        "somebody wrote that the user has invoked the \"meal-plan\" skill",
        86_402.0,
    );
    database.close().unwrap();
    (library, case)
}

fn with_case(number: u32) -> (Library, Case) {
    let library = Library::new();
    let case = library.case(number);
    (library, case)
}

/// What a query that makes one JSON value says.
trait Ask {
    fn object(&self, query: &str) -> Value;
}

impl Ask for Library {
    fn object(&self, query: &str) -> Value {
        serde_json::from_str(&self.sql(query)).unwrap()
    }
}

fn names_in(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect()
}

/// Every file and folder, with its bytes and the time of its last write.
fn files_below(folder: &Path) -> BTreeMap<PathBuf, (Vec<u8>, SystemTime)> {
    let mut found = BTreeMap::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        let written = fs::metadata(&folder).unwrap().modified().unwrap();
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let written = fs::metadata(&path).unwrap().modified().unwrap();
                found.insert(path.clone(), (fs::read(&path).unwrap(), written));
            }
        }
        found.insert(folder, (Vec::new(), written));
    }
    found
}
