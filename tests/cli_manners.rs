//! What holds for every command: streams, colours, exit codes, `--json`, help.

#![expect(clippy::unwrap_used, reason = "what is not there is a failed test")]

mod common;

use std::fs::{self, File};

use common::{Library, code};
use insta::assert_snapshot;
use serde_json::Value;

/// Calls that succeed on the library of [`library`] and print data.
const FINE: &[&[&str]] = &[
    &["sync"],
    &["sync", "--dry-run"],
    &["sync", "--rebuild"],
    &["list"],
    &["list", "--duplicates"],
    &["list", "--archived"],
    &["list", "--missing"],
    &["list", "--client", "codex"],
    &["show", "deploy"],
    &["show", "deploy/notes.md"],
    &["validate", "skills/deploy"],
    &["roots"],
    &["roots", "--clients"],
    &["roots", "add", "skills"],
    &["roots", "remove", "skills", "--dry-run"],
    &["sql", "SELECT name FROM v_skill"],
    &["sql", "problems"],
    &["sql", "--list"],
    &["doctor"],
    &["config"],
    &["config", "--origin"],
    &["path"],
    &["path", "deploy"],
    &["relink", "#3", "#4", "--dry-run"],
    &["relink", "#3", "#4"],
];

/// Calls that fail, with their exit codes.
const WRONG: &[(&[&str], i32)] = &[
    (&["sync", "nowhere"], 1),
    (&["sync", "--client", "nobody"], 2),
    (&["sync", "--root", "skills"], 2),
    (&["list", "--client", "nobody"], 2),
    (&["list", "--duplicates", "--in", "nowhere"], 1),
    (&["show", "nothing"], 1),
    (&["show", "deploy/nothing.md"], 1),
    (&["validate", "nowhere"], 1),
    (&["roots", "add", "nowhere"], 1),
    (&["roots", "add", "skills", "--kind", "odd"], 2),
    (&["roots", "remove", "nowhere"], 1),
    (&["sql", "DELETE FROM skill"], 1),
    (&["sql", "SELECT nothing"], 1),
    (&["sql"], 2),
    (&["path", "nothing"], 1),
    (&["relink", "#1", "#2"], 1),
    (&["relink", "x", "#2"], 2),
];

/// Variables, flags, and whether they colour.
type Colouring = (
    &'static [(&'static str, &'static str)],
    &'static [&'static str],
    bool,
);

/// Words that do not parse at all.
const UNKNOWN: &[&[&str]] = &[
    &["--nonsense"],
    &["list", "--nonsense"],
    &["nonsense"],
    &["show"],
    &[],
];

#[test]
fn json_is_one_object_with_a_version_on_every_command() {
    for args in FINE {
        let object = library().json(args);
        assert_eq!(object["schema_version"], 1, "{args:?}");
    }
}

#[test]
fn json_errors_are_one_object_on_stdout_and_silence_on_stderr() {
    let library = library();
    for (args, exit) in WRONG {
        let output = library.skilldb(args).arg("--json").output().unwrap();
        assert_eq!(
            (code(&output), &*output.stderr),
            (*exit, &b""[..]),
            "{args:?}"
        );
        let object: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(object["schema_version"], 1, "{args:?}");
        let error = object["error"].as_object().unwrap();
        for key in ["code", "message", "path", "line", "hint"] {
            assert!(error.contains_key(key), "{args:?}: {key}");
        }
        assert!(
            error["code"].is_string() && error["message"].is_string(),
            "{args:?}"
        );
    }
}

#[test]
fn errors_are_words_on_stderr_with_their_exit_code() {
    let library = library();
    for (args, exit) in WRONG {
        let output = library.skilldb(args).output().unwrap();
        let told = library.told(&output);
        assert_eq!(code(&output), *exit, "{args:?}\n{told}");
        assert!(
            output.stdout.is_empty() && output.stderr.starts_with(b"error: "),
            "{args:?}\n{told}"
        );
        assert!(
            !told.to_lowercase().contains("successfully"),
            "{args:?}\n{told}"
        );
    }
}

#[test]
fn words_that_do_not_parse_exit_2() {
    let library = library();
    for args in UNKNOWN {
        let output = library.skilldb(args).output().unwrap();
        assert_eq!(code(&output), 2, "{args:?}");
        assert_eq!(output.stdout, b"", "{args:?}");
    }
}

#[test]
fn words_that_do_not_parse_are_a_json_error_too() {
    let library = library();
    for args in UNKNOWN {
        let object = library.json_exit(args, 2);
        assert_eq!(object["error"]["code"], "usage", "{args:?}");
    }
}

#[test]
fn off_a_terminal_nothing_is_coloured() {
    for args in FINE
        .iter()
        .chain(WRONG.iter().map(|(args, _)| args))
        .chain(UNKNOWN)
        .chain([&["--help"][..], &["sync", "--help"], &["--version"]].iter())
    {
        let output = library()
            .skilldb(args)
            .env_remove("NO_COLOR")
            .output()
            .unwrap();
        assert!(
            !has_escape(&output.stdout) && !has_escape(&output.stderr),
            "{args:?}"
        );
    }
}

#[test]
fn colours_can_be_forced_and_forbidden() {
    let library = library();
    let cases: &[Colouring] = &[
        (&[("CLICOLOR_FORCE", "1")], &[], true),
        (&[("CLICOLOR_FORCE", "0")], &[], false),
        (&[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")], &[], false),
        (&[("NO_COLOR", "")], &[], false),
        (&[("NO_COLOR", "1")], &["--color=always"], true),
        (&[("CLICOLOR_FORCE", "1")], &["--color=never"], false),
        (&[], &["--color=auto"], false),
    ];
    for (variables, flags, coloured) in cases {
        for args in [&["validate", "skills/bad"][..], &["show", "nothing"]] {
            let mut command = library.skilldb(&[args, flags].concat());
            let output = command
                .env_remove("NO_COLOR")
                .envs(variables.iter().copied())
                .output()
                .unwrap();
            let has = has_escape(&output.stdout) || has_escape(&output.stderr);
            assert_eq!(has, *coloured, "{args:?} {variables:?} {flags:?}");
        }
    }
}

#[test]
fn an_error_of_the_configuration_is_coloured_like_any_other() {
    let library = library();
    library.write("data/config.yaml", b"nonsense: true\n");
    let mut command = library.skilldb(&["list"]);
    let output = command
        .env_remove("NO_COLOR")
        .env("CLICOLOR_FORCE", "1")
        .output()
        .unwrap();
    assert!(has_escape(&output.stderr));
}

#[test]
fn json_is_never_coloured() {
    let library = library();
    for args in [
        &["list", "--json"][..],
        &["show", "nothing", "--json"],
        &["validate", "skills", "--json"],
    ] {
        let output = library
            .skilldb(args)
            .arg("--color=always")
            .output()
            .unwrap();
        assert!(!has_escape(&output.stdout), "{args:?}");
    }
}

#[test]
fn words_come_after_the_data_they_are_about() {
    let library = library();
    library.skill("other/deploy", "Ships it elsewhere");
    library.json(&["sync"]);
    let cases: &[(&[&str], &str)] = &[
        (
            &["list"],
            "1 file could not be loaded: skilldb sql problems",
        ),
        (&["list", "--missing"], "1 skill missing."),
        (&["list", "--duplicates"], "1 name in more than one place."),
        (
            &["validate", "skills"],
            "4 files: 1 error, 0 warnings, 0 notes.",
        ),
        (&["sql", "SELECT 1 AS one", "--format", "table"], "1 row."),
        (
            &["roots", "remove", "skills"],
            "Files, history and usage stay; adding the folder again brings all of it back.",
        ),
    ];
    for (args, words) in cases {
        // Both streams into one file, as on a terminal.
        let file = File::create(library.path("both")).unwrap();
        let mut process = library.process(args);
        process
            .stdout(file.try_clone().unwrap())
            .stderr(file)
            .status()
            .unwrap();
        let told = fs::read_to_string(library.path("both")).unwrap();
        assert_eq!(told.lines().last(), Some(*words), "{args:?}\n{told}");
        assert!(told.lines().count() > 1, "{args:?}\n{told}");
    }
}

#[test]
fn global_flags_stand_before_or_after_the_command() {
    let library = library();
    let after = library.skilldb(&["list", "--json"]).output().unwrap();
    let before = library.skilldb(&["--json", "list"]).output().unwrap();
    assert_eq!(before, after);
}

#[test]
fn help_names_the_commands_and_exit_codes() {
    assert_snapshot!(Library::new().run(&["--help"]), @"
    exit 0
    --- stdout
    Keep the skills of your agents: SKILL.md files mirrored into SQLite, open to SQL

    Usage: skilldb [OPTIONS] <COMMAND>

    Commands:
      sync          Reconcile the database with the files on disk
      list          List skills
      show          Show one skill, or one file of it
      search        Find the skill that fits
      validate      Judge skill files by the Agent Skills spec
      scan          Look for what could hurt in skills
      roots         List the folders of the library, add and remove them
      sql           Ask the database: one statement, read-only
      stats         Show which skills are used, which never are, and by whom
      record        Record that a skill was used, viewed, or one of its files was read
      import        Take over what an agent remembers of the skills it used
      hook          Record uses as they happen: the command for a client's hooks, and how to install it
      export        Hand counts on in the form another program reads
      doctor        Check the database, and the mirror against the files
      relink        Say that a new folder is a skill that vanished elsewhere
      create        Make a new skill
      edit          Rewrite a skill's SKILL.md
      patch         Replace a text in a skill's file
      write         Write a supporting file of a skill
      rm-file       Remove a supporting file of a skill
      rename        Give a skill another name
      merge         Make skills part of another one
      refs          List what names a skill
      curate        Mark idle skills stale, and archive what is idle for long
      archive       Put skills into the archive
      restore       Bring a skill back from the archive
      delete        Put a skill away: into the archive, or for good
      pin           Keep automation from putting skills away
      unpin         Let automation put skills away again
      enable        Show disabled skills to agents again
      disable       Hide skills from agents; their files stay where they are
      adopt         Say whose skills are, where skilldb does not know
      release       Leave skills to agents again that a person edited
      log           Show what was changed, by whom and why: failed attempts, too
      diff          Compare versions of a skill
      undo          Take changes back
      proposals     Changes that wait for a person: list, show, approve, reject them
      snapshot      Keep the whole library as it is now, and bring it back to that
      purge         Remove bytes from the history for good
      backup        Write the whole library into one archive
      merge-backup  Take an archive of another library over into this one
      config        Show the settings in force
      path          Print where something is: the home, the database, the configuration, or a skill
      completions   Print the completion script of a shell
      man           Print the manual page, or write one page a command

    Options:
      -h, --help     Print help
      -V, --version  Print version

    Global options:
          --home <DIR>    Use this library's home folder instead of $SKILLDB_HOME or ~/.skilldb
          --json          Print data as one JSON object
          --color <WHEN>  When to colour [possible values: auto, always, never]
      -q, --quiet         Say nothing but data and problems

    Examples:
      skilldb sync --client claude-code     mirror the skills Claude Code sees
      skilldb sync ~/skills                 mirror a folder of skills
      skilldb list                          what is there
      skilldb show NAME                     one skill
      skilldb import claude-code            which skills its sessions used
      skilldb hook install claude-code      keep that current from now on
      skilldb stats                         most used, never used, rising and falling
      skilldb patch NAME --old A --new B    change a skill; `undo` takes it back
      skilldb log                           what was changed, by whom and why
      skilldb sql duplicates                a named query
      skilldb sql 'SELECT name, size FROM v_skill ORDER BY size DESC LIMIT 5'

    Exit codes: 0 fine (also: nothing to do), 1 problems found, refused or not found, 2 wrong usage or
    ambiguous name, 3 database locked, damaged or newer than this binary.
    Nothing leaves this machine.
    ");
}

#[test]
fn every_command_has_examples_that_parse() {
    let library = library();
    let names = commands(&library);
    let mut checked = 0;
    for command in &names {
        let help = help_of(&library, &[command]);
        let examples: Vec<&str> = help
            .lines()
            .filter(|line| line.trim_start().starts_with("skilldb ") || line.contains("$(skilldb "))
            .collect();
        assert!(
            !examples.is_empty() || !help.contains("Examples:"),
            "{command}"
        );
        assert!(help.contains("Examples:"), "{command}");
        for example in examples {
            let words = words_of(example);
            assert!(names.contains(&words[0]), "{example}");
            // Everything is parsed before help is printed only up to the flag, so it comes last.
            let args: Vec<&str> = words.iter().map(String::as_str).chain(["--help"]).collect();
            let output = library.skilldb(&args).output().unwrap();
            assert_eq!(code(&output), 0, "{example}\n{}", library.told(&output));
            checked += 1;
        }
    }
    assert!(checked > 30, "only {checked} examples were found");
}

#[test]
fn the_version_is_that_of_the_package() {
    let told = Library::new().run(&["--version"]);
    assert_eq!(
        told,
        format!(
            "exit 0\n--- stdout\nskilldb {}\n",
            env!("CARGO_PKG_VERSION")
        )
    );
}

/// `deploy` with a file beside it, `bad` which is refused, a vanished `gone` (#3) and a new `gone` (#4).
fn library() -> Library {
    let library = Library::new();
    library.write("skills/bad/SKILL.md", b"---\nname: bad\n");
    library.skill("deploy", "Ships it");
    library.write("skills/deploy/notes.md", b"Be brief.\n");
    library.skill("gone", "Was here");
    library.sync();
    library.remove("skills/gone");
    library.skill("tools/gone", "Is here now");
    library.sync();
    library
}

fn has_escape(bytes: &[u8]) -> bool {
    bytes.contains(&0x1b)
}

fn help_of(library: &Library, args: &[&str]) -> String {
    let output = library.skilldb(args).arg("--help").output().unwrap();
    String::from_utf8(output.stdout).unwrap()
}

/// The commands `--help` names.
fn commands(library: &Library) -> Vec<String> {
    let help = help_of(library, &[]);
    let (_, rest) = help.split_once("Commands:\n").unwrap();
    let lines = rest.lines().take_while(|line| line.starts_with("  "));
    let names = lines
        .filter(|line| !line.starts_with("   "))
        .filter_map(|line| line.split_whitespace().next());
    names.map(str::to_owned).collect()
}

/// The words after `skilldb` in an example line, as a shell would split them, up to a pipe, a redirection or the
/// explanation that stands after two spaces.
fn words_of(example: &str) -> Vec<String> {
    let (_, line) = example.split_once("skilldb ").unwrap();
    let mut words = vec![String::new()];
    let mut quote = None;
    let mut previous = ' ';
    for character in line.chars() {
        match (quote, character) {
            (None, '\'' | '"') => quote = Some(character),
            (Some(open), _) if open == character => quote = None,
            (None, '|' | '>' | ')') => break,
            (None, ' ') if previous == ' ' => break,
            (None, ' ') => words.push(String::new()),
            _ => words.last_mut().unwrap().push(character),
        }
        previous = character;
    }
    words.retain(|word| !word.is_empty());
    words
}
