//! Taking over a Hermes home: what its sidecar counted and what its session database holds are never counted
//! twice and never lost, whichever of them is damaged, late or replaced.

#![expect(
    clippy::unwrap_used,
    reason = "what cannot be arranged is a failed test"
)]

mod common;

use std::fs;

use common::{Library, strings};
use rusqlite::Connection;
use rusqlite::types::Value as Cell;
use serde_json::{Value, json};

const IMPORT: [&str; 3] = ["import", "hermes", "hermes"];
const STATE: &str = "hermes/state.db";
/// 2026-05-20T08:00:00Z
const START: f64 = 1_779_264_000.0;

/// A library, and a Hermes home in `hermes/` with these skills.
fn home(skills: &[&str]) -> Library {
    let library = Library::new();
    for skill in skills {
        write_skill(&library, skill, "there");
    }
    library
}

fn write_skill(library: &Library, rel: &str, description: &str) {
    let name = rel.rsplit('/').next().unwrap();
    let text = format!("---\nname: {name}\ndescription: {description}\n---\n\n# {description}\n");
    library.write(&format!("hermes/skills/{rel}/SKILL.md"), text.as_bytes());
}

fn write_sidecar(library: &Library, text: &str) {
    library.write("hermes/skills/.usage.json", text.as_bytes());
}

/// A session database that is being written. Its columns hold values of any type.
struct Sessions {
    database: Connection,
}

impl Sessions {
    /// Makes it anew.
    #[expect(
        clippy::disallowed_methods,
        reason = "stands for the program that writes the session database"
    )]
    fn new(library: &Library) -> Self {
        let path = library.path(STATE);
        if path.exists() {
            fs::remove_file(&path).unwrap();
        }
        let database = Connection::open(path).unwrap();
        let schema = "CREATE TABLE sessions(id TEXT PRIMARY KEY, source TEXT, cwd TEXT);
            CREATE TABLE messages(id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT NOT NULL, role TEXT NOT NULL,
              content TEXT, tool_call_id, tool_calls TEXT, tool_name TEXT, timestamp)";
        database.execute_batch(schema).unwrap();
        Self { database }
    }

    fn add(
        &self,
        session: &str,
        role: &str,
        text: Option<&str>,
        calls: Option<&str>,
        id: &Cell,
        at: &Cell,
    ) {
        let insert = "INSERT INTO messages(session_id, role, content, tool_calls, tool_call_id, tool_name, timestamp)
            VALUES(?1, ?2, ?3, ?4, ?5, iif(?2 = 'tool', 'skill_view', NULL), ?6)";
        let row = (session, role, text, calls, id, at);
        self.database.execute(insert, row).unwrap();
    }

    /// Somebody talks.
    fn said(&self, session: &str, after: f64) {
        self.add(
            session,
            "user",
            Some("hello"),
            None,
            &Cell::Null,
            &seconds(after),
        );
    }

    /// The model views a skill, and the answer says how it went.
    fn viewed(&self, session: &str, id: &str, skill: &str, ok: bool, after: f64) {
        let calls = json!([view(&json!(id), skill)]).to_string();
        self.add(
            session,
            "assistant",
            None,
            Some(&calls),
            &Cell::Null,
            &seconds(after),
        );
        let answer = json!({"success": ok, "error": "no such file"}).to_string();
        let id = Cell::Text(id.to_owned());
        self.add(
            session,
            "tool",
            Some(&answer),
            None,
            &id,
            &seconds(after + 1.0),
        );
    }

    fn close(self) {
        self.database.close().unwrap();
    }
}

fn seconds(after: f64) -> Cell {
    Cell::Real(START + after)
}

fn view(id: &Value, skill: &str) -> Value {
    let arguments = json!({"name": skill}).to_string();
    json!({"id": id, "type": "function", "function": {"name": "skill_view", "arguments": arguments}})
}

/// Uses, views and failures of the skills that have any, vanished ones too.
fn counted(library: &Library) -> String {
    library.sql(
        "SELECT s.rel_path, u.use_count, u.view_count, u.failure_count FROM skill s JOIN skill_usage u ON u.skill_id = s.id
         WHERE u.use_count + u.view_count + u.file_count + u.failure_count > 0 ORDER BY 1",
    )
}

fn assert_healthy(library: &Library) {
    let report = library.json(&["doctor"]);
    assert_eq!(report["healthy"], true, "{report}");
}

const TEA: &str =
    r#"{"tea": {"use_count": 5, "view_count": 3}, "deploy": {"use_count": 4, "view_count": 2}}"#;

#[test]
fn a_sidecar_that_was_cut_off_and_mended_says_the_counts_alone() {
    for cut in [" {\"use_count\": 4, \"view", " {", " {\"use_count\": 4"] {
        let library = home(&["tea", "ops/deploy"]);
        let sessions = Sessions::new(&library);
        for number in 0..3_u8 {
            let id = format!("t{number}");
            sessions.viewed("s1", &id, "deploy", true, 10.0 * f64::from(number));
        }
        sessions.close();
        let (head, _) = TEA.split_once(" {\"use_count\": 4").unwrap();
        write_sidecar(&library, &format!("{head}{cut}"));
        let report = library.json(&IMPORT);
        assert!(!report["warnings"].as_array().unwrap().is_empty());
        assert!(counted(&library).contains("tea\t5\t3\t0"), "{cut}");
        write_sidecar(&library, TEA);
        for _ in 0..2 {
            library.json(&IMPORT);
            assert_eq!(
                counted(&library),
                "ops/deploy\t4\t2\t0\ntea\t5\t3\t0",
                "{cut}"
            );
            assert_healthy(&library);
        }
        assert_eq!(library.sql("SELECT count(*) FROM v_usage"), "3");
    }
}

#[test]
fn without_a_sidecar_calls_are_uses_until_one_explains_them() {
    let library = home(&["tea", "ops/deploy"]);
    let sessions = Sessions::new(&library);
    sessions.viewed("s1", "t1", "deploy", true, 0.0);
    sessions.viewed("s1", "t2", "deploy", true, 10.0);
    sessions.close();
    library.json(&IMPORT);
    let uses = library.sql("SELECT use_count FROM v_skill WHERE name = 'deploy'");
    assert_eq!(uses, "2");
    assert_eq!(library.sql("SELECT name FROM v_never_used"), "tea");
    let never = library.json(&["stats"])["never_used"].clone();
    assert_eq!(strings(&never, "name"), ["tea"]);
    assert_healthy(&library);
    write_sidecar(&library, TEA);
    for _ in 0..2 {
        library.json(&IMPORT);
        assert_eq!(counted(&library), "ops/deploy\t4\t2\t0\ntea\t5\t3\t0");
        assert_healthy(&library);
    }
    assert_eq!(library.sql("SELECT count(*) FROM v_usage"), "2");
}

#[test]
fn a_skill_that_moves_to_another_category_and_is_edited_keeps_its_counts_once() {
    let library = home(&["tea", "ops/deploy"]);
    let sessions = Sessions::new(&library);
    sessions.viewed("s1", "t1", "deploy", true, 0.0);
    sessions.close();
    write_sidecar(&library, TEA);
    library.json(&IMPORT);
    library.rename("hermes/skills/ops/deploy", "hermes/skills/ship/deploy");
    write_skill(&library, "ship/deploy", "written anew altogether");
    let mut report = library.json(&IMPORT);
    for _ in 0..2 {
        assert_eq!(
            counted(&library),
            "ship/deploy\t4\t2\t0\ntea\t5\t3\t0",
            "{report}"
        );
        assert_healthy(&library);
        report = library.json(&IMPORT);
    }
    write_sidecar(
        &library,
        &TEA.replace("\"use_count\": 4", "\"use_count\": 7"),
    );
    library.json(&IMPORT);
    assert_eq!(counted(&library), "ship/deploy\t7\t2\t0\ntea\t5\t3\t0");
}

#[test]
fn all_calls_of_a_session_database_that_replaced_another_arrive() {
    for is_larger in [false, true] {
        let library = home(&["tea"]);
        let sessions = Sessions::new(&library);
        for number in 0..4_u8 {
            sessions.said("s1", f64::from(number));
            sessions.viewed("s1", &format!("t{number}"), "tea", true, f64::from(number));
        }
        sessions.close();
        library.json(&IMPORT);
        let uses = || library.sql("SELECT use_count FROM v_skill");
        assert_eq!(uses(), "4");
        let calls: u8 = if is_larger { 9 } else { 2 };
        let sessions = Sessions::new(&library);
        for number in 0..calls {
            sessions.viewed(
                "s2",
                &format!("t{number}"),
                "tea",
                true,
                500.0 + f64::from(number),
            );
        }
        sessions.close();
        assert_eq!(library.json(&IMPORT)["events"]["new"], calls);
        assert_eq!(uses(), (4 + calls).to_string());
        assert_eq!(library.json(&IMPORT)["events"]["new"], 0);
        assert_healthy(&library);
    }
}

#[test]
fn times_as_text_and_numbers_for_texts_are_read() {
    let library = home(&["tea"]);
    let sessions = Sessions::new(&library);
    let at = |text: &str| Cell::Text(text.to_owned());
    for (call_id, answer_id, time) in [
        (
            json!("41"),
            Cell::Integer(41),
            at("2026-05-20T08:00:00+00:00"),
        ),
        (json!("42"), Cell::Integer(42), at("2026-05-20 09:00:00")),
        (json!("t3"), at("t3"), at("1779271200.0")),
        (json!("t4"), at("t4"), Cell::Integer(1_779_274_800)),
    ] {
        let calls = json!([view(&call_id, "tea")]).to_string();
        sessions.add("s1", "assistant", None, Some(&calls), &Cell::Null, &time);
        let answer = json!({"success": false}).to_string();
        sessions.add("s1", "tool", Some(&answer), None, &answer_id, &time);
    }
    sessions.close();
    let report = library.json(&IMPORT);
    assert_eq!(report["events"]["new"], 4, "{report}");
    let told = library.sql("SELECT at, ok FROM v_usage ORDER BY at");
    let hours = [8, 9, 10, 11].map(|hour| format!("2026-05-20T{hour:02}:00:00.000Z\t0"));
    assert_eq!(told, hours.join("\n"));
    assert_healthy(&library);
}

#[test]
fn a_calls_id_that_is_a_number_finds_its_answer() {
    for answer_id in [Cell::Integer(7), Cell::Text("7".to_owned())] {
        let library = home(&["tea"]);
        let sessions = Sessions::new(&library);
        let calls = json!([view(&json!(7), "tea")]).to_string();
        sessions.add(
            "s1",
            "assistant",
            None,
            Some(&calls),
            &Cell::Null,
            &seconds(0.0),
        );
        sessions.add(
            "s1",
            "tool",
            Some("{\"success\": false}"),
            None,
            &answer_id,
            &seconds(1.0),
        );
        sessions.close();
        library.json(&IMPORT);
        assert_eq!(library.sql("SELECT name, ok FROM v_usage"), "tea\t0");
        assert_eq!(library.json(&IMPORT)["events"]["new"], 0);
    }
}

#[test]
fn a_session_database_that_is_none_is_told_and_the_rest_is_taken_over() {
    let page = [b"SQLite format 3\0".as_slice(), &[0x5a; 5_000]].concat();
    for garbage in [
        b"this is no database at all\n".as_slice(),
        b"",
        &[0xff; 9_000],
        &page,
    ] {
        let library = home(&["tea", "ops/deploy"]);
        library.write(STATE, garbage);
        write_sidecar(&library, TEA);
        for _ in 0..2 {
            let report = library.json(&IMPORT);
            let paths = strings(&report["warnings"], "path");
            assert!(
                paths.iter().any(|path| path.ends_with("state.db")),
                "{report}"
            );
        }
        assert_eq!(counted(&library), "ops/deploy\t4\t2\t0\ntea\t5\t3\t0");
        assert_healthy(&library);
        // When it is one, it is read.
        let sessions = Sessions::new(&library);
        sessions.viewed("s1", "t1", "tea", true, 0.0);
        sessions.close();
        let report = library.json(&IMPORT);
        assert_eq!(
            (&report["events"]["new"], &report["warnings"]),
            (&json!(1), &json!([]))
        );
    }
}

#[test]
fn a_failed_view_is_a_failure_of_a_skill_whose_counts_the_sidecar_says() {
    let library = home(&["tea", "ops/deploy"]);
    let sessions = Sessions::new(&library);
    sessions.viewed("s1", "t1", "deploy", true, 0.0);
    sessions.viewed("s1", "t2", "deploy", false, 10.0);
    sessions.close();
    write_sidecar(&library, TEA);
    for _ in 0..2 {
        library.json(&IMPORT);
        assert_eq!(counted(&library), "ops/deploy\t4\t2\t1\ntea\t5\t3\t0");
        let life = library.json(&["stats", "deploy"]);
        let counts = ["use_count", "view_count", "failure_count"].map(|key| life[key].clone());
        assert_eq!(counts, [json!(4), json!(2), json!(1)]);
        assert_eq!(life["last_failure"]["session_id"], "s1");
        assert_healthy(&library);
    }
    let numbers = library.json(&["stats"]);
    assert_eq!(numbers["totals"]["failure_count"], 1);
}
