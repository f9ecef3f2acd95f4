//! Importing Claude Code's transcripts: each use is counted once however its file grows, shrinks or is copied,
//! and whatever cannot be read is told.

#![expect(
    clippy::unwrap_used,
    reason = "what cannot be arranged is a failed test"
)]

mod claude;
mod common;

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::process::{Command, Output};

use claude::{
    RESUMED, SESSION, Transcript, answer, assert_healthy, body, call, counters, events, expanded,
    failure, import, said, time, typed, uses, with_tea,
};
use common::{Library, code};
use serde_json::{Value, json};

#[test]
fn a_call_that_is_answered_after_an_import_is_settled_by_the_next_one() {
    let (library, transcript) = with_tea();
    transcript.add(&[call(1, "t1", "tea"), call(2, "t2", "tea")]);
    assert_eq!(events(&import(&library, &[])), (2, 0));
    assert_eq!(uses(&library), "tea\tmodel\topen\ntea\tmodel\topen");
    transcript.add(&[failure(3, "t1"), answer(4, "t2")]);
    assert_eq!(events(&import(&library, &[])), (0, 0));
    assert_eq!(uses(&library), "tea\tmodel\t0\ntea\tmodel\t1");
    assert_eq!(counters(&library), "2\t1");
    let daily = "SELECT events, failures FROM v_usage_daily";
    assert_eq!(library.sql(daily), "2\t1");
    assert_healthy(&library);
}

#[test]
fn a_file_that_grows_is_read_from_where_it_was_read_to() {
    let (library, transcript) = with_tea();
    transcript.add(&[said(0, "hello"), call(1, "t1", "tea"), answer(2, "t1")]);
    assert_eq!(import(&library, &[])["lines"], 3);
    transcript.add(&[call(5, "t2", "tea"), answer(6, "t2")]);
    let report = import(&library, &[]);
    assert_eq!((&report["lines"], events(&report)), (&json!(2), (1, 0)));
    let report = import(&library, &[]);
    assert_eq!((&report["lines"], events(&report)), (&json!(0), (0, 0)));
    assert_eq!(counters(&library), "2\t0");
}

#[test]
fn a_file_that_was_truncated_is_read_anew_and_grows_on() {
    let (library, transcript) = with_tea();
    transcript.add(&[call(1, "t1", "tea"), answer(2, "t1")]);
    let head = transcript.text();
    transcript.add(&[call(3, "t2", "tea"), answer(4, "t2")]);
    assert_eq!(events(&import(&library, &[])), (2, 0));
    transcript.replace(&head);
    assert_eq!(events(&import(&library, &[])), (0, 1));
    transcript.add(&[call(5, "t3", "tea"), answer(6, "t3")]);
    let report = import(&library, &[]);
    assert_eq!((&report["lines"], events(&report)), (&json!(2), (1, 0)));
    assert_eq!(counters(&library), "3\t0");
}

#[test]
fn a_file_that_was_rewritten_in_its_size_is_read_anew() {
    let (library, transcript) = with_tea();
    transcript.add(&[call(1, "t1", "tea"), answer(2, "t1")]);
    transcript.add(&[call(3, "t2", "tea"), answer(4, "t2")]);
    transcript.written(1);
    import(&library, &[]);
    let other = transcript.text().replace("\"t1", "\"t9");
    assert_eq!(other.len(), transcript.text().len());
    transcript.replace(&other);
    transcript.written(2);
    assert_eq!(events(&import(&library, &[])), (1, 1));
    assert_eq!(counters(&library), "3\t0");
}

#[test]
fn a_file_that_was_rewritten_and_grew_is_read_anew() {
    let (library, transcript) = with_tea();
    transcript.add(&[call(1, "t1", "tea"), answer(2, "t1")]);
    import(&library, &[]);
    let other = transcript.text().replace("\"t1", "\"t9");
    transcript.replace(&other);
    transcript.add(&[call(3, "t2", "tea"), answer(4, "t2")]);
    assert_eq!(events(&import(&library, &[])), (2, 0));
    assert_eq!(counters(&library), "3\t0");
}

/// What a resumed session copies from the one before.
fn copied() -> [Value; 5] {
    [
        call(1, "t1", "tea"),
        answer(2, "t1"),
        body(2, "t1", "/skills/tea"),
        typed(3, "u1", "tea"),
        expanded(3, "u1", "/skills/tea"),
    ]
}

#[test]
fn a_resumed_session_counts_nothing_that_it_copied() {
    let (library, original) = with_tea();
    original.add(&copied());
    let resumed = Transcript::new(&library, RESUMED);
    resumed
        .add(&copied())
        .add(&[call(9, "t2", "tea"), answer(10, "t2")]);
    assert_eq!(events(&import(&library, &[])), (3, 2));
    assert_eq!(counters(&library), "3\t0");
    let by_session = "SELECT session_id, count(*) FROM v_usage GROUP BY 1 ORDER BY 1";
    assert_eq!(
        library.sql(by_session),
        format!("{SESSION}\t2\n{RESUMED}\t1")
    );
}

#[test]
fn a_resumed_session_counts_nothing_twice_whichever_is_imported_first() {
    for order in [[SESSION, RESUMED], [RESUMED, SESSION]] {
        let library = with_tea().0;
        for session in order {
            Transcript::new(&library, session).add(&copied());
            import(&library, &[]);
        }
        assert_eq!(counters(&library), "2\t0", "{order:?}");
        assert_healthy(&library);
    }
}

#[test]
fn what_since_leaves_out_comes_with_a_later_import() {
    let (library, transcript) = with_tea();
    transcript.add(&[
        call(0, "t1", "tea"),
        answer(1, "t1"),
        call(60, "t2", "tea"),
        answer(61, "t2"),
    ]);
    let since = time(30);
    let report = import(&library, &["--since", &since]);
    assert_eq!(
        (events(&report), &report["events"]["older"]),
        ((1, 0), &json!(1))
    );
    assert_eq!(events(&import(&library, &["--since", &since])), (0, 0));
    transcript.add(&[call(120, "t3", "tea"), answer(121, "t3")]);
    assert_eq!(events(&import(&library, &["--since", &since])), (1, 0));
    assert_eq!(events(&import(&library, &[])), (1, 2));
    assert_eq!(counters(&library), "3\t0");
    // Read to its beginning once, it is not read again for less.
    let report = import(&library, &["--since", &since]);
    assert_eq!(report["files"], json!({"seen": 1, "unchanged": 1}));
}

#[test]
fn since_may_be_an_age_and_a_file_not_written_since_is_not_read() {
    let (library, transcript) = with_tea();
    transcript.add(&[call(0, "t1", "tea"), answer(1, "t1")]);
    transcript.written(0);
    let now = "2026-06-20T00:00:00.000Z";
    let import = |age: &str| {
        let args = ["import", "claude-code", "--since", age, "--json"];
        let output = library.skilldb(&args).env("SKILLDB_NOW", now).output();
        let report: Value = serde_json::from_slice(&output.unwrap().stdout).unwrap();
        (report["bytes"] == 0, events(&report))
    };
    assert_eq!(import("2w"), (true, (0, 0)));
    assert_eq!(import("9w"), (false, (1, 0)));
    let output = library
        .skilldb(&["import", "claude-code", "--since", "soon"])
        .output();
    assert_eq!(code(&output.unwrap()), 2);
}

/// The files of the library's home, byte for byte, without the empty log and its index that readers leave.
fn files(library: &Library) -> BTreeMap<String, Vec<u8>> {
    let entries = fs::read_dir(library.path("data")).unwrap();
    let file = |entry: std::io::Result<fs::DirEntry>| {
        let path = entry.unwrap().path();
        (path.to_str().unwrap().to_owned(), fs::read(&path).unwrap())
    };
    let mut files: BTreeMap<String, Vec<u8>> = entries.map(file).collect();
    let is_left = |path: &str, bytes: &[u8]| {
        path.ends_with("-shm") || (path.ends_with("-wal") && bytes.is_empty())
    };
    files.retain(|path, bytes| !is_left(path, bytes));
    files
}

#[test]
fn a_dry_run_writes_nothing_and_says_what_the_real_one_does() {
    let (library, transcript) = with_tea();
    transcript.add(&[
        call(1, "t1", "tea"),
        answer(2, "t1"),
        call(3, "t2", "coffee"),
        failure(4, "t2"),
    ]);
    transcript.add_text("{broken\n");
    let reports = |library: &Library| {
        let before = files(library);
        let mut rehearsed = import(library, &["--dry-run"]);
        assert!(files(library) == before, "the dry run wrote");
        assert_eq!(rehearsed["dry_run"], true);
        rehearsed["dry_run"] = json!(false);
        (rehearsed, import(library, &[]))
    };
    let (rehearsed, real) = reports(&library);
    assert_eq!(events(&real), (2, 0));
    assert_eq!(rehearsed, real);
    transcript.add(&[call(5, "t3", "tea"), answer(6, "t3")]);
    let (rehearsed, real) = reports(&library);
    assert_eq!(events(&real), (1, 0));
    assert_eq!(rehearsed, real);
    let output = library
        .skilldb(&["import", "claude-code", "--dry-run"])
        .output();
    let told = library.told(&output.unwrap());
    assert!(told.contains("dry run: nothing was written"), "{told}");
}

#[test]
fn a_dry_run_makes_no_library() {
    let library = Library::new();
    Transcript::new(&library, SESSION).add(&[call(1, "t1", "tea"), answer(2, "t1")]);
    assert_eq!(events(&import(&library, &["--dry-run"])), (1, 0));
    assert!(files(&library).is_empty());
}

#[test]
fn the_report_names_files_sessions_events_skills_and_names() {
    let (library, transcript) = with_tea();
    transcript.add(&[
        call(1, "t1", "tea"),
        answer(2, "t1"),
        call(3, "t2", "coffee"),
        failure(4, "t2"),
    ]);
    let path = library.path("home/.claude");
    let size = transcript.text().len();
    assert_eq!(
        import(&library, &[]),
        json!({
            "schema_version": 1, "client": "claude-code", "path": path.to_str().unwrap(), "dry_run": false,
            "files": {"seen": 1, "unchanged": 0}, "bytes": size, "lines": 4, "sessions": 1, "subagents": 0,
            "events": {"new": 2, "known": 0, "older": 0, "failed": 1},
            "skills": [{"id": 1, "name": "tea", "path": library.path("skills/tea"), "events": 1}], "not_installed": [{"name": "coffee", "events": 1}],
            "unclear": [], "unknown_folders": [], "linked": [], "taken_over": null,
            "warnings": [], "more_warnings": 0,
        })
    );
}

#[test]
fn a_broken_line_is_told_and_stops_nothing() {
    let (library, transcript) = with_tea();
    transcript.add(&[call(1, "t1", "tea")]);
    transcript.add_text("{\"type\":\"assistant\",\"mess\n\n\u{fffd}no JSON\n");
    transcript.add(&[answer(2, "t1"), call(3, "t2", "tea"), answer(4, "t2")]);
    let report = import(&library, &[]);
    assert_eq!(events(&report), (2, 0));
    assert_eq!(uses(&library), "tea\tmodel\t1\ntea\tmodel\t1");
    let lines: Vec<&Value> = report["warnings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|warning| &warning["line"])
        .collect();
    assert_eq!(lines, [2, 4]);
}

#[test]
fn lines_are_numbered_right_after_one_that_had_no_line_end_yet() {
    let (library, transcript) = with_tea();
    transcript.add(&[call(1, "t1", "tea"), answer(2, "t1")]);
    transcript.replace(transcript.text().trim_end());
    assert_eq!(import(&library, &[])["lines"], 2);
    transcript.add_text("\n{broken\n");
    assert_eq!(import(&library, &[])["warnings"][0]["line"], 3);
}

#[test]
fn a_file_that_may_not_be_read_is_told_and_the_others_are_read() {
    let (library, transcript) = with_tea();
    transcript.add(&[call(1, "t1", "tea"), answer(2, "t1")]);
    let closed = Transcript::new(&library, RESUMED);
    closed.add(&[call(3, "t2", "tea"), answer(4, "t2")]);
    set_mode(&closed, 0o000);
    let output = as_nobody(&library, &["import", "claude-code", "--json"]);
    assert_eq!(code(&output), 0, "{}", library.told(&output));
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(events(&report), (1, 0));
    let warning = &report["warnings"][0];
    assert_eq!(warning["path"], closed.path.to_str().unwrap());
    let words = warning["message"].as_str().unwrap();
    assert!(words.contains("could not be read"), "{words}");
    // It was not taken for read.
    set_mode(&closed, 0o644);
    let output = as_nobody(&library, &["import", "claude-code", "--json"]);
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(events(&report), (1, 0));
}

#[test]
fn a_client_without_a_history_is_told_with_what_to_do() {
    let library = Library::new();
    let error = &library.json_exit(&["import", "claude-code"], 1)["error"];
    assert_eq!(error["code"], "no-history");
    assert!(error["hint"].as_str().unwrap().contains("history file"));
    assert!(error["message"].as_str().unwrap().contains(".claude"));
    let told = library.run(&["import", "claude-code", "nowhere.jsonl"]);
    assert!(
        told.starts_with("exit 1\n") && told.contains("[DIR]/nowhere.jsonl"),
        "{told}"
    );
    assert!(told.contains("\nhint: "), "{told}");
}

#[test]
fn a_home_a_folder_of_histories_and_one_file_can_be_named() {
    let (library, transcript) = with_tea();
    transcript.add(&[call(1, "t1", "tea"), answer(2, "t1")]);
    let file = transcript.path.to_str().unwrap();
    assert_eq!(events(&import(&library, &[file])), (1, 0));
    assert_eq!(
        import(&library, &["home/.claude/projects"])["files"]["unchanged"],
        1
    );
    // `history.jsonl` in the home is no transcript.
    library.write("home/.claude/history.jsonl", b"{\"display\":\"/tea\"}\n");
    assert_eq!(
        import(&library, &["home/.claude"])["files"],
        json!({"seen": 1, "unchanged": 1})
    );
    let output = library
        .skilldb(&["import", "claude-code", "--json"])
        .env("CLAUDE_CONFIG_DIR", library.path("home/.claude"))
        .env("HOME", library.path("data"))
        .output();
    let report: Value = serde_json::from_slice(&output.unwrap().stdout).unwrap();
    assert_eq!(report["files"]["unchanged"], 1);
}

fn set_mode(transcript: &Transcript, mode: u32) {
    fs::set_permissions(&transcript.path, PermissionsExt::from_mode(mode)).unwrap();
}

/// Runs the command as a user whom a mode stops, also when the tests run as one whom none does.
fn as_nobody(library: &Library, args: &[&str]) -> Output {
    const NOBODY: u32 = 65_534;
    let model = library.process(args);
    if fs::metadata(library.dir()).unwrap().uid() != 0 {
        return library.skilldb(args).output().unwrap();
    }
    // The built binary may lie where this user cannot reach it.
    let program = library.path("skilldb");
    if !program.exists() && fs::hard_link(model.get_program(), &program).is_err() {
        fs::copy(model.get_program(), &program).unwrap();
    }
    fs::set_permissions(library.dir(), PermissionsExt::from_mode(0o755)).unwrap();
    let data = fs::read_dir(library.path("data")).unwrap();
    for path in data
        .map(|entry| entry.unwrap().path())
        .chain([library.path("data")])
    {
        chown(path, Some(NOBODY), Some(NOBODY)).unwrap();
    }
    for session in fs::read_dir(library.path("home/.claude/projects/-proj")).unwrap() {
        chown(session.unwrap().path(), Some(NOBODY), Some(NOBODY)).unwrap();
    }
    let mut command = Command::new(&program);
    command
        .args(model.get_args())
        .current_dir(library.dir())
        .env_clear();
    for (name, value) in model.get_envs() {
        command.env(name, value.unwrap());
    }
    command.gid(NOBODY).uid(NOBODY).output().unwrap()
}
