//! `skilldb hook`: what a client calls, and how that call gets into the client's settings.

#![expect(
    clippy::unwrap_used,
    reason = "what cannot be arranged is a failed test"
)]

mod common;

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use assert_cmd::Command;
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

/// Input of the wrong shape, one a line.
const ODD: &str = r#"null
[]
{}
{"hook_event_name": 7}
{"hook_event_name": "PostToolUse", "tool_name": "Skill", "tool_use_id": 7, "tool_input": {"skill": "deploy"}}
{"hook_event_name": "PostToolUse", "tool_name": "Skill", "tool_use_id": "t", "tool_input": {"skill": ["deploy"]}}
{"hook_event_name": "UserPromptExpansion", "command_name": {}}
{"hook_event_name": "UserPromptSubmit", "turn_id": [], "prompt": "$deploy"}
{"hook_event_name": "SessionEnd", "transcript_path": 7}"#;

/// What Claude Code calls while a session runs and at its end.
const COMMANDS: [&str; 2] = [
    "hook claude-code",
    "import claude-code --session-from-stdin",
];

/// Calls a hook as a client does: whatever it is given, it exits 0 and prints nothing.
#[track_caller]
fn call(library: &Library, words: &str, input: impl Into<Vec<u8>>) {
    let args: Vec<&str> = words.split(' ').collect();
    let output = library.skilldb(&args).write_stdin(input).output().unwrap();
    let told = library.told(&output);
    assert!(
        code(&output) == 0 && output.stdout.is_empty() && output.stderr.is_empty(),
        "{words}\n{told}"
    );
}

#[track_caller]
fn assert_sql(library: &Library, sql: &str, wanted: &str) {
    assert_eq!(library.sql(sql), wanted, "{sql}");
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap()
}

#[track_caller]
fn claude(library: &Library, input: &Value) {
    call(library, "hook claude-code", input.to_string());
}

fn tool(event: &str, id: &str) -> Value {
    json!({
        "hook_event_name": event, "session_id": "s-1", "cwd": "/srv/shop", "transcript_path": "/nowhere.jsonl",
        "permission_mode": "default", "tool_name": "Skill", "tool_use_id": id,
        "tool_input": {"skill": "deploy", "args": "to prod"}, "tool_response": {"success": true},
    })
}

fn typed() -> Value {
    json!({
        "hook_event_name": "UserPromptExpansion", "session_id": "s-1", "cwd": "/srv/shop",
        "expansion_type": "slash_command", "command_name": "deploy", "command_args": "to prod",
        "command_source": "user", "prompt": "/deploy to prod",
    })
}

fn troubles(library: &Library) -> (u64, String) {
    let told = library.json(&["hook", "status"]);
    let last = told["last_trouble"].as_str().unwrap_or_default().to_owned();
    (told["troubles"].as_u64().unwrap(), last)
}

#[test]
fn a_skill_a_model_calls_is_recorded_with_its_outcome() {
    let library = one_skill();
    claude(&library, &tool("PostToolUse", "toolu_1"));
    claude(&library, &tool("PostToolUseFailure", "toolu_2"));
    claude(&library, &tool("PostToolUse", "toolu_1"));
    claude(&library, &tool("PreToolUse", "toolu_3"));
    let other = tool("PostToolUse", "toolu_4")
        .to_string()
        .replace("\"Skill\"", "\"Bash\"");
    call(&library, "hook claude-code", other);
    let told = "SELECT event_id, name, \"trigger\", actor, ok FROM v_usage ORDER BY 1";
    let lines = [(1, 1), (2, 0)]
        .map(|(id, ok)| format!("claude-code:toolu_{id}\tdeploy\tmodel\tagent\t{ok}"));
    assert_sql(&library, told, &lines.join("\n"));
    let told = "SELECT DISTINCT client, session_id, project, at, args FROM v_usage";
    let wanted = format!("claude-code\ts-1\t/srv/shop\t{NOW}\tto prod");
    assert_sql(&library, told, &wanted);
    assert_eq!(troubles(&library).0, 0);
}

#[test]
fn two_hooks_that_hear_one_typed_command_make_one_event() {
    let library = one_skill();
    claude(&library, &typed());
    claude(&library, &typed());
    let mut prompt = typed();
    prompt["expansion_type"] = json!("mcp_prompt");
    claude(&library, &prompt);
    let told =
        "SELECT name, \"trigger\", actor, client, session_id, project, at, ok, args FROM v_usage";
    let wanted = format!("deploy\tslash\tuser\tclaude-code\ts-1\t/srv/shop\t{NOW}\t1\tto prod");
    assert_sql(&library, told, &wanted);
}

/// A session in which `deploy` was typed once and called once; each line gets what they all say.
const SESSION: &str = r#""uuid":"u5","type":"user","message":{"role":"user","content":"<command-message>deploy</command-message>\n<command-name>/deploy</command-name>"}}
"uuid":"u6","parentUuid":"u5","type":"user","isMeta":true,"message":{"role":"user","content":"Base directory for this skill: [DIR]/skills/deploy\n"}}
"uuid":"u7","type":"assistant","message":{"role":"assistant","id":"m","content":[{"type":"tool_use","name":"Skill","id":"toolu_1","input":{"skill":"deploy"}}]}}
"uuid":"u8","type":"user","toolUseResult":{"success":true},"message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":"Launching skill: deploy"}]}}
"#;

/// Writes the session, and returns what a hook hears at its end.
fn session(library: &Library) -> String {
    let common = r#"{"sessionId":"s-1","cwd":"/srv/shop","timestamp":"2026-01-02T03:04:06.000Z","#;
    let text = SESSION.replace("[DIR]", library.dir().to_str().unwrap());
    let text = text.replace("\"uuid\"", &format!("{common}\"uuid\""));
    let path = library.write("home/.claude/projects/-srv-shop/s-1.jsonl", text.as_bytes());
    json!({"hook_event_name": "SessionEnd", "session_id": "s-1", "transcript_path": path})
        .to_string()
}

#[test]
fn the_end_of_a_session_adds_what_no_hook_heard_and_nothing_twice() {
    for heard in [true, false] {
        for command in COMMANDS {
            let library = one_skill();
            if heard {
                claude(&library, &typed());
                claude(&library, &tool("PostToolUse", "toolu_1"));
            }
            call(&library, command, session(&library));
            call(&library, command, session(&library));
            library.run(&["import", "claude-code"]);
            let counts = "SELECT \"trigger\", count(*), sum(ok) FROM v_usage GROUP BY 1 ORDER BY 1";
            assert_sql(&library, counts, "model\t1\t1\nslash\t1\t1");
            assert_sql(&library, "SELECT use_count FROM v_skill", "2");
            assert_eq!(troubles(&library).0, 0);
        }
    }
}

#[test]
fn codex_is_heard_by_dollar_names_and_by_reads_of_a_skill_file() {
    let library = one_skill();
    library.skill("notes", "Takes notes");
    library.sync();
    let hear = |event: &str, more: &str| {
        let base = r#""session_id": "c-1", "turn_id": "t-1", "cwd": "[DIR]/skills""#;
        let base = base.replace("[DIR]", library.dir().to_str().unwrap());
        let input = format!(r#"{{"hook_event_name": "{event}", {base}, {more}}}"#);
        call(&library, "hook codex", input);
    };
    let prompt = r#""prompt": "run $deploy in $HOME, then $deploy again""#;
    hear("UserPromptSubmit", prompt);
    let read = r#""tool_name": "shell", "tool_input": {"command": ["cat", "notes/SKILL.md"]}"#;
    hear("PostToolUse", read);
    hear("PostToolUse", read);
    hear("Stop", r#""transcript_path": null"#);
    let told = "SELECT event_id, name, \"trigger\", client, session_id FROM v_usage ORDER BY 1";
    let deploy = "codex:t-1:deploy\tdeploy\tslash\tcodex\tc-1";
    let notes = "codex:t-1:notes\tnotes\tmodel\tcodex\tc-1";
    assert_eq!(library.sql(told), format!("{deploy}\n{notes}"));
    assert_eq!(troubles(&library).0, 0);
}

#[test]
fn odd_input_is_survived_and_what_is_no_json_is_a_trouble_in_the_status() {
    let library = one_skill();
    let mut noise = 7_u32;
    let mut garbage = vec![0; 1_000_000];
    garbage.fill_with(|| {
        noise = noise.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        noise.to_be_bytes()[0]
    });
    let broken: [&[u8]; 4] = [b"", b"no JSON", b"{\"hook_event_name\": \"Stop\"", &garbage];
    for (index, command) in COMMANDS.into_iter().chain(["hook codex"]).enumerate() {
        for input in broken {
            call(&library, command, input);
        }
        let (count, last) = troubles(&library);
        assert_eq!(count, 4 * (index as u64 + 1), "{command}");
        assert!(last.starts_with(NOW) && last.contains("no JSON"), "{last}");
        ODD.lines().for_each(|input| call(&library, command, input));
        assert_eq!(troubles(&library).0, count, "{command}");
    }
    assert_sql(&library, "SELECT count(*) FROM v_usage", "0");
    let gone = library.path("gone.jsonl");
    let end = json!({"hook_event_name": "SessionEnd", "transcript_path": gone});
    claude(&library, &end);
    let last = library.normal(&troubles(&library).1);
    assert!(last.ends_with("no history at [DIR]/gone.jsonl"), "{last}");
}

#[test]
fn words_after_the_client_do_not_stop_a_hook() {
    let library = one_skill();
    let words = "--bogus;more words;--quiet -z --a=b;--json;-V";
    for (index, words) in words.split(';').enumerate() {
        let line = format!("hook claude-code {words}");
        call(&library, &line, tool("PostToolUse", words).to_string());
        let count = library.sql("SELECT count(*) FROM v_usage");
        assert_eq!(count, (index + 1).to_string(), "{words}");
    }
    for words in ["--color bogus", "--json=1", "--home"] {
        call(&library, &format!("hook claude-code {words}"), "{}");
    }
}

#[test]
fn a_hook_before_there_is_a_library_records_all_the_same() {
    let library = Library::new();
    claude(&library, &tool("PostToolUse", "toolu_1"));
    assert_sql(&library, "SELECT name, skill_id FROM v_usage", "deploy");
    library.skill("deploy", "Ships it");
    library.sync();
    assert_sql(&library, "SELECT use_count FROM v_skill", "1");
}

#[test]
fn what_a_locked_or_damaged_database_cannot_take_is_kept_and_the_trouble_told() {
    let library = one_skill();
    let other = database(&library);
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    claude(&library, &tool("PostToolUse", "toolu_1"));
    let (_, last) = troubles(&library);
    assert!(last.contains("database is locked"), "{last}");
    other.execute_batch("ROLLBACK").unwrap();
    drop(other);
    let whole = fs::read(library.path("data/skilldb.db")).unwrap();
    let garbage = b"no database ".repeat(2_000);
    library.write("data/skilldb.db", &garbage);
    claude(&library, &tool("PostToolUseFailure", "toolu_2"));
    // Nothing of interest: no database is opened.
    call(&library, "hook codex", "{}");
    assert!(fs::read(library.path("data/skilldb.db")).unwrap() == garbage);
    let told = library.run(&["hook", "status"]);
    let start = format!("2 troubles in logs/hook.log; the last: {NOW} ");
    let end = "file is not a database\n2 events kept for later: ";
    assert!(told.contains(&start) && told.contains(end), "{told}");
    library.write("data/skilldb.db", &whole);
    claude(&library, &typed());
    let told = "SELECT \"trigger\", ok, at FROM v_usage ORDER BY event_id";
    let wanted = format!("model\t1\t{NOW}\nmodel\t0\t{NOW}\nslash\t1\t{NOW}");
    assert_sql(&library, told, &wanted);
    assert_eq!(library.json(&["hook", "status"])["waiting"], 0);
}

#[test]
fn settings_that_cannot_be_read_do_not_stop_a_client_and_are_told_in_the_status() {
    let library = one_skill();
    library.write("data/config.yaml", b"roots: [\n");
    claude(&library, &tool("PostToolUse", "toolu_1"));
    call(&library, "hook codex", "{}");
    call(&library, COMMANDS[1], "{}");
    fs::remove_file(library.path("data/config.yaml")).unwrap();
    let (count, last) = troubles(&library);
    assert!(count == 3 && last.contains("config.yaml:1: "), "{last}");
}

/// As a user has it: comments, an order, an indentation, and a hook of somebody else.
const SETTINGS: &str = r#"{
    // mine
    "model": "opus", // keep
    "hooks": {
        "PostToolUse": [
            {"matcher": "Bash", "hooks": [{"type": "command", "command": "other"}]}
        ]
    },
    "env": {}
}
"#;

/// The folder in which a shell is to find `skilldb`.
fn bin() -> PathBuf {
    let program = Path::new(assert_cmd::cargo::cargo_bin!("skilldb"));
    program.parent().unwrap().to_owned()
}

/// The command where a shell finds it by its name and the library lies in its usual place.
fn at_home(library: &Library, args: &[&str]) -> Command {
    let mut command = library.skilldb(args);
    command.env("PATH", bin()).env_remove("SKILLDB_HOME");
    command
}

fn told(library: &Library, args: &[&str]) -> String {
    library.told(&at_home(library, args).output().unwrap())
}

/// [`SETTINGS`] with the hooks in it.
fn with_hooks() -> String {
    let group = |matcher: &str, words: &str, seconds: u32| {
        let command = format!("\"command\": \"skilldb {words}\",");
        let hook = format!(
            "{{\n    \"type\": \"command\",\n    {command}\n    \"timeout\": {seconds}\n}}"
        );
        let hook = hook.replace('\n', "\n        ");
        let group = format!("{{{matcher}\n    \"hooks\": [\n        {hook}\n    ]\n}}");
        format!("            {}\n", group.replace('\n', "\n            "))
    };
    let skill = group("\n    \"matcher\": \"Skill\",", "hook claude-code", 5);
    let typed = group("", "hook claude-code", 5);
    let end = group("", "import claude-code --session-from-stdin", 30);
    let event = |name: &str, group: &str| format!(",\n        \"{name}\": [\n{group}        ]");
    let failure = event("PostToolUseFailure", &skill);
    let others = failure + &event("UserPromptExpansion", &typed) + &event("SessionEnd", &end);
    let added = format!("]}},\n{skill}        ]{others}\n");
    SETTINGS.replacen("]}\n        ]\n", &added, 1)
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap().map(Result::unwrap);
    let mut names: Vec<String> = entries
        .map(|entry| entry.file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

const INSTALL: [&str; 3] = ["hook", "install", "claude-code"];
const UNINSTALL: [&str; 3] = ["hook", "uninstall", "claude-code"];

#[test]
fn install_adds_its_hooks_and_changes_nothing_else_and_uninstall_restores_the_bytes() {
    let library = Library::new();
    let file = library.write("home/.claude/settings.json", SETTINGS.as_bytes());
    fs::set_permissions(&file, PermissionsExt::from_mode(0o600)).unwrap();
    let dry = told(&library, &[&INSTALL[..], &["--dry-run"]].concat());
    let start = "exit 0\n--- stdout\n--- [DIR]/home/.claude/settings.json\n+++ [DIR]";
    let end = "--- stderr\nDry run: nothing was written.\n";
    assert!(dry.starts_with(start) && dry.ends_with(end), "{dry}");
    assert_eq!(names(file.parent().unwrap()), ["settings.json"]);
    assert_eq!(read(&file), SETTINGS);
    told(&library, &INSTALL);
    assert_eq!(read(&file), with_hooks());
    let backup = "settings.json.20260102T030405000Z.backup";
    assert_eq!(names(file.parent().unwrap()), ["settings.json", backup]);
    let backup = file.with_file_name(backup);
    assert_eq!(read(&backup), SETTINGS);
    for path in [&file, &backup] {
        let mode = fs::metadata(path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
    assert!(told(&library, &INSTALL).contains("already in [DIR]"));
    assert_eq!(read(&file), with_hooks());
    at_home(&library, &UNINSTALL).assert().success();
    assert_eq!(read(&file), SETTINGS);
    assert!(told(&library, &UNINSTALL).contains("nothing to do"));
}

#[test]
fn codex_gets_a_hooks_file_and_the_status_says_what_is_installed() {
    let library = Library::new();
    assert_snapshot!(told(&library, &["hook", "status"]), @"
    exit 0
    --- stdout
    claude-code: not installed in [DIR]/home/.claude/settings.json (skilldb hook install claude-code)
    codex: not installed in [DIR]/home/.codex/hooks.json (skilldb hook install codex)
    ");
    let json = told(&library, &["hook", "install", "codex", "--json"]);
    let said = "\"changed\": true,\n  \"dry_run\": false,\n  \"backup\": null,";
    assert!(json.contains(said), "{json}");
    told(&library, &INSTALL);
    let file = library.path("home/.claude/settings.json");
    let text = read(&file).replace("SessionEnd", "SessionStart");
    library.write("home/.claude/settings.json", text.as_bytes());
    assert_snapshot!(told(&library, &["hook", "status"]), @"
    exit 0
    --- stdout
    claude-code: in [DIR]/home/.claude/settings.json: PostToolUse, PostToolUseFailure, UserPromptExpansion, SessionStart; not there: SessionEnd (skilldb hook install claude-code)
    codex: installed in [DIR]/home/.codex/hooks.json: UserPromptSubmit, PostToolUse, Stop
    ");
    told(&library, &["hook", "uninstall", "codex"]);
    assert_eq!(read(&library.path("home/.codex/hooks.json")), "{}\n");
}

#[test]
fn in_the_home_folder_the_status_names_each_file_once() {
    let library = Library::new();
    let mut status = at_home(&library, &["hook", "status"]);
    told(&library, &INSTALL);
    let told = library.told(&status.current_dir(library.path("home")).output().unwrap());
    assert_eq!(told.matches("settings.json").count(), 1, "{told}");
}

#[test]
fn settings_that_cannot_be_edited_without_harm_are_refused_by_line_and_left_alone() {
    let library = Library::new();
    let cases: [(&[u8], &str); 4] = [
        (b"{\n  \"hooks\": {\n    \"Stop\": [}\n", ":3: "),
        (b"{\n  \"hooks\": 5\n}", ":2: "),
        (b"[]", ":1: "),
        (b"{\"a\": \"\xff\"}", ": is not UTF-8"),
    ];
    for (text, place) in cases {
        let file = library.write("home/.claude/settings.json", text);
        for args in [INSTALL, UNINSTALL] {
            let told = told(&library, &args);
            let start =
                format!("exit 1\n--- stderr\nerror: [DIR]/home/.claude/settings.json{place}");
            assert!(told.starts_with(&start), "{told}");
        }
        assert_eq!(fs::read(&file).unwrap(), text);
        assert_eq!(names(file.parent().unwrap()), ["settings.json"]);
    }
}

#[test]
fn a_linked_settings_file_stays_a_link() {
    for text in [Some("{}\n"), None] {
        let library = Library::new();
        fs::create_dir_all(library.path("home/.claude")).unwrap();
        fs::create_dir(library.path("dotfiles")).unwrap();
        text.map(|text| library.write("dotfiles/claude.json", text.as_bytes()));
        let link = library.path("home/.claude/settings.json");
        symlink("../../dotfiles/claude.json", &link).unwrap();
        told(&library, &INSTALL);
        assert!(link.is_symlink(), "{text:?}");
        let target = read(&library.path("dotfiles/claude.json"));
        assert!(target.contains("skilldb hook claude-code"), "{target}");
    }
}

#[test]
fn a_project_or_a_file_may_be_named_and_the_hint_how_to_undo_it_does() {
    for (flags, file) in [
        (vec![], "home/.claude/settings.json"),
        (vec!["--project"], ".claude/settings.json"),
        (vec!["--file", "my own.json"], "my own.json"),
    ] {
        let library = Library::new();
        let path = library.write(file, SETTINGS.as_bytes());
        let output = at_home(&library, &[&INSTALL[..], &flags].concat()).output();
        let told = String::from_utf8(output.unwrap().stderr).unwrap();
        assert_ne!(read(&path), SETTINGS, "{told}");
        let (_, undo) = told.split_once("Undo: skilldb ").unwrap();
        let undo = shlex::split(undo.lines().next().unwrap()).unwrap();
        let undo: Vec<&str> = undo.iter().map(String::as_str).collect();
        at_home(&library, &undo).assert().success();
        assert_eq!(read(&path), SETTINGS, "{told}");
    }
}

#[test]
fn an_installed_command_records_in_the_library_it_was_installed_for() {
    for home in [None, Some("my library")] {
        let library = Library::new();
        let mut install = at_home(&library, &INSTALL);
        home.map(|home| install.env("SKILLDB_HOME", home).arg("-q"));
        install.assert().success();
        let text = read(&library.path("home/.claude/settings.json"));
        let settings: Value = serde_json::from_str(&text).unwrap();
        let command = settings.pointer("/hooks/PostToolUse/0/hooks/0/command");
        let command = command.and_then(Value::as_str).unwrap();
        assert_eq!(home.is_some(), command.contains("--home"), "{command}");
        Command::new("/bin/sh")
            .args(["-c", command])
            .env_clear()
            .envs([("HOME", library.path("home")), ("PATH", bin())])
            .write_stdin(tool("PostToolUse", "toolu_1").to_string())
            .assert()
            .success()
            .stdout("")
            .stderr("");
        let mut sql = at_home(&library, &["sql", "SELECT event_id FROM v_usage"]);
        home.map(|home| sql.env("SKILLDB_HOME", library.path(home)));
        sql.assert().stdout("claude-code:toolu_1\n");
    }
}
