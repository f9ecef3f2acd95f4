//! Putting hooks into settings and taking them out: what is refused, what is left alone, and what is shown.

#![expect(
    clippy::unwrap_used,
    reason = "what cannot be arranged is a failed test"
)]

mod common;

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::Output;
use std::time::Duration;

use assert_cmd::Command;
use common::{Library, NOW, code};
use serde_json::{Value, json};

const INSTALL: [&str; 3] = ["hook", "install", "claude-code"];
const UNINSTALL: [&str; 3] = ["hook", "uninstall", "claude-code"];
/// Only guards against hanging.
const PATIENCE: Duration = Duration::from_secs(60);

fn program() -> PathBuf {
    Path::new(assert_cmd::cargo::cargo_bin!("skilldb")).to_owned()
}

/// The folder in which a shell is to find `skilldb`.
fn bin() -> PathBuf {
    program().parent().unwrap().to_owned()
}

/// The command where a shell finds it by its name and the library lies in its usual place.
#[track_caller]
fn at_home(library: &Library, args: &[&str]) -> Output {
    let mut command = library.skilldb(args);
    command.env("PATH", bin()).env_remove("SKILLDB_HOME");
    let output = command.timeout(PATIENCE).output().unwrap();
    assert!(output.status.code().is_some(), "{args:?} waits");
    output
}

fn told(library: &Library, args: &[&str]) -> String {
    library.told(&at_home(library, args))
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap()
}

fn make_pipe(path: &Path) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let status = std::process::Command::new("mkfifo").arg(path).status();
    assert!(status.unwrap().success());
}

#[test]
fn a_pipe_or_a_folder_is_no_settings_file() {
    let library = Library::new();
    make_pipe(&library.path("pipe"));
    fs::create_dir(library.path("folder")).unwrap();
    for file in ["pipe", "folder"] {
        for client in ["claude-code", "codex"] {
            for words in [&["install"][..], &["install", "--dry-run"], &["uninstall"]] {
                let args = [&["hook"], words, &[client, "--file", file]].concat();
                let told = told(&library, &args);
                let start = format!("exit 1\n--- stderr\nerror: [DIR]/{file}");
                assert!(told.starts_with(&start), "{args:?}: {told}");
            }
        }
    }
    let entries = fs::read_dir(library.dir()).unwrap();
    assert_eq!(entries.count(), 5, "nothing was left beside");
    assert!(library.path("folder").is_dir() && !library.path("pipe").is_file());
}

#[test]
fn a_pipe_in_the_place_of_the_settings_holds_up_no_status() {
    let library = Library::new();
    make_pipe(&library.path("home/.claude/settings.json"));
    make_pipe(&library.path(".codex/hooks.json"));
    let told_plain = told(&library, &["hook", "status"]);
    assert!(told_plain.starts_with("exit 0\n"), "{told_plain}");
    assert!(told_plain.contains("settings.json"), "{told_plain}");
    assert!(told_plain.contains("codex: not installed"), "{told_plain}");
    let told_json = told(&library, &["hook", "status", "--json"]);
    assert!(told_json.starts_with("exit 0\n"), "{told_json}");
    let told_install = told(&library, &INSTALL);
    assert!(told_install.starts_with("exit 1\n"), "{told_install}");
}

/// Settings with this command among the hooks of a user.
fn with_command(command: &str) -> String {
    let hooks = json!({"PostToolUse": [{"matcher": "Skill", "hooks": [{"type": "command", "command": command}]}]});
    let text = serde_json::to_string_pretty(&json!({"hooks": hooks})).unwrap();
    text + "\n"
}

#[test]
fn a_command_that_does_more_than_ours_is_left_alone() {
    for command in [
        "skilldb hook claude-code && other",
        "skilldb hook claude-code; other",
        "skilldb hook claude-code | tee log",
        "skilldb hook claude-code &",
        "skilldb hook claude-code 2> log",
        "other && skilldb hook claude-code",
        "tee log | skilldb hook claude-code",
        "skilldb hook codex",
        "skilldb --home x hook claude-code || true",
        "skilldb import claude-code --session-from-stdin && other",
        "skilldb sync",
    ] {
        let library = Library::new();
        let text = with_command(command);
        let file = library.write("home/.claude/settings.json", text.as_bytes());
        let said = told(&library, &UNINSTALL);
        assert!(said.contains("nothing to do"), "{said}");
        assert_eq!(read(&file), text, "{command}");
        told(&library, &INSTALL);
        let settings: Value = serde_json::from_str(&read(&file)).unwrap();
        let first = settings.pointer("/hooks/PostToolUse/0/hooks");
        let wanted = json!([{"type": "command", "command": command}]);
        assert_eq!(first, Some(&wanted), "{command}");
        assert!(settings["hooks"]["SessionEnd"].is_array(), "{command}");
        let told = told(&library, &UNINSTALL);
        assert!(told.starts_with("exit 0\n"), "{told}");
        assert_eq!(read(&file), text, "{command}");
    }
}

#[test]
fn a_program_of_another_name_takes_out_what_it_put_in() {
    for settings in ["{}\n", "{\n  \"model\": \"opus\" // mine\n}\n"] {
        let library = Library::new();
        let other = library.path("tools/skilldb-0.1");
        fs::create_dir(library.path("tools")).unwrap();
        // By another process: a program that this one still had open for writing could not be run, and whatever
        // another test starts meanwhile would hold it open.
        let mut copy = Command::new("cp");
        copy.arg(program()).arg(&other).assert().success();
        let file = library.write("home/.claude/settings.json", settings.as_bytes());
        let run = |args: &[&str]| {
            let mut command = Command::new(&other);
            let envs = [("HOME", library.path("home")), ("SKILLDB_NOW", NOW.into())];
            command.env_clear().envs(envs).args(args);
            let output = command.current_dir(library.dir()).output().unwrap();
            assert_eq!(code(&output), 0, "{}", library.told(&output));
        };
        run(&INSTALL);
        let installed = read(&file);
        assert!(
            installed.contains("/tools/skilldb-0.1 hook claude-code"),
            "{installed}"
        );
        run(&INSTALL);
        assert_eq!(read(&file), installed);
        run(&UNINSTALL);
        assert_eq!(read(&file), settings);
        // Whichever of the two is asked.
        run(&INSTALL);
        told(&library, &UNINSTALL);
        assert_eq!(read(&file), settings);
    }
}

/// All that an install and an uninstall say of settings with this line beside their hooks, as text and as JSON.
fn all_that_is_said(line: &str) -> String {
    let library = Library::new();
    let text = format!("{{\n  \"model\": \"opus\",\n{line}\n}}\n");
    let file = library.write("home/.claude/settings.json", text.as_bytes());
    let mut all = String::new();
    for words in [INSTALL, UNINSTALL] {
        for flags in [&["--dry-run"][..], &["--dry-run", "--json"], &[]] {
            let args = [&words[..], flags].concat();
            let output = at_home(&library, &args);
            assert_eq!(code(&output), 0, "{line}\n{}", library.told(&output));
            all.push_str(&String::from_utf8(output.stdout).unwrap());
            all.push_str(&String::from_utf8(output.stderr).unwrap());
        }
    }
    assert_eq!(read(&file), text, "{line}");
    let library_path = library.dir().to_str().unwrap();
    all.replace(library_path, "[DIR]")
}

#[test]
fn the_values_of_secrets_are_not_shown() {
    for line in [
        r#"  "API_KEY": "hush-1""#,
        r#"  "authToken": "hush-1""#,
        r#"  "env": {"API_KEY": "hush-1", "LANG": "C", "authToken": "hush-2"}"#,
        r#"  "env": {"LANG": "C", "ANTHROPIC_AUTH_TOKEN":"hush-1"}"#,
        r#"  "apiKeyHelper": "hush-1", "client_secret": "hush-2", "password" : "hush-3""#,
        r#"  "credentials": "hush-1" // mine"#,
    ] {
        let said = all_that_is_said(line);
        let name = line.split('"').nth(1).unwrap();
        assert!(said.contains(name), "the story needs the line: {said}");
        assert!(!said.contains("hush"), "{line}\n{said}");
    }
}

#[test]
fn values_of_secrets_of_any_shape_are_not_shown() {
    let shapes = [
        "  \"API_KEY\": \"a\\\"hush-1\"",
        "  \"API_KEY\": \"a\\\\\", \"authToken\": \"hush-1\"",
        "  \"API_KEY\":\n    \"hush-1\"",
        "  \"API_KEY\": [\"a\", \"hush-1\"]",
        "  \"API_KEY\": {\"value\": \"hush-1\"}",
        "  \"API_KEY\": 4711001",
        "  \"API_KEY\" /* mine */ : \"hush-1\"",
        "  \"API\\u005fKEY\": \"hush-1\"",
        "  // \"API_KEY\": \"hush-1\",\n  \"a\": 1",
    ];
    let shown: Vec<&str> = shapes
        .into_iter()
        .filter(|line| {
            let said = all_that_is_said(line);
            said.contains("hush") || said.contains("4711001")
        })
        .collect();
    assert_eq!(shown, Vec::<&str>::new(), "these are shown");
}

#[test]
fn control_characters_of_comments_do_not_reach_the_terminal() {
    let comment = "  \"a\": 1 // \u{1b}[31mred\u{1b}]0;title\u{7} \u{9b}2J \u{202e}drow";
    let said = all_that_is_said(comment);
    // Words of others are left out, what would steer a terminal as well.
    assert!(
        said.contains("\"a\": …"),
        "the story needs the line: {said}"
    );
    for raw in ['\u{1b}', '\u{7}', '\u{9b}', '\u{202e}'] {
        assert!(!said.contains(raw), "{raw:?}: {said:?}");
    }
}

#[test]
fn a_home_that_is_no_text_is_refused_and_the_settings_stay() {
    let library = Library::new();
    let text = "{\n  \"model\": \"opus\"\n}\n";
    let file = library.write("home/.claude/settings.json", text.as_bytes());
    for home in [&b"my\xffhome"[..], b"\xff"] {
        for flags in [&[][..], &["--dry-run"], &["--json"], &["--project"]] {
            let mut command = library.skilldb(&[]);
            command.arg("--home").arg(OsStr::from_bytes(home));
            let output = command.args(INSTALL).args(flags).output().unwrap();
            assert_eq!(code(&output), 2, "{output:?}");
        }
        let mut command = library.skilldb(&INSTALL);
        command.env("SKILLDB_HOME", OsStr::from_bytes(home));
        assert_eq!(code(&command.output().unwrap()), 2);
    }
    assert_eq!(read(&file), text);
    let beside = fs::read_dir(file.parent().unwrap()).unwrap();
    assert_eq!(beside.count(), 1, "not even a copy was made");
    assert!(!library.path(".claude").exists());
}

/// Installs into files of these names, and does what the hint says in a shell.
#[track_caller]
fn assert_undone(names: &[&str]) {
    for name in names {
        let library = Library::new();
        let text = "{\n  \"model\": \"opus\"\n}\n";
        let path = library.write(name, text.as_bytes());
        let file = format!("--file={name}");
        let output = at_home(&library, &[&INSTALL[..], &[&file]].concat());
        let said = String::from_utf8(output.stderr).unwrap();
        assert_ne!(read(&path), text, "{said}");
        let (_, undo) = said.split_once("Undo: ").unwrap();
        let undo = undo.lines().next().unwrap();
        Command::new("/bin/sh")
            .args(["-c", undo])
            .current_dir(library.dir())
            .env_clear()
            .envs([("HOME", library.path("home")), ("PATH", bin())])
            .assert()
            .success();
        assert_eq!(read(&path), text, "{undo}");
    }
}

#[test]
fn the_hint_how_to_undo_does_so_in_a_shell() {
    assert_undone(&["my own.json", "it's.json", "a$HOME`x`.json", "ünï.json"]);
}

#[test]
fn the_hint_how_to_undo_does_so_for_a_name_that_looks_like_a_flag() {
    assert_undone(&["-dash.json"]);
}
