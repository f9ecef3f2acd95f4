//! `skilldb sync`.

mod common;

use std::fs;
use std::io::Read;

use common::{Library, code, strings};
use insta::assert_snapshot;
use serde_json::{Value, json};

#[test]
fn first_sync_names_every_skill_and_counts_them() {
    let library = mixed();
    assert_snapshot!(library.run(&["sync", "skills"]), @"
    exit 0
    --- stdout
    3 SKILL.md files: 2 loaded (1 repaired), 1 refused; 3 added
    --- stderr
    + bad  [DIR]/skills/bad
    + deploy  [DIR]/skills/deploy
    + notes  [DIR]/skills/notes
    [DIR]/skills/bad/SKILL.md:1:1 error frontmatter-unclosed: the header starts here and no later line is `---`
    [DIR]/skills/notes/SKILL.md:3:14 warning yaml-repaired: `description` is not valid YAML (mapping values are not allowed in this context); read as typed
    Kept 3 files (161 bytes) in the history.
    ");
}

#[test]
fn second_sync_finds_nothing_changed() {
    let library = mixed();
    library.sync();
    assert_snapshot!(library.run(&["sync"]), @"
    exit 0
    --- stdout
    3 SKILL.md files: 2 loaded (1 repaired), 1 refused; nothing changed
    --- stderr
    [DIR]/skills/bad/SKILL.md:1:1 error frontmatter-unclosed: the header starts here and no later line is `---`
    ");
}

#[test]
fn each_kind_of_change_has_its_sign() {
    let library = Library::new();
    for name in ["edited", "moved", "vanished", "kept"] {
        library.skill(name, &format!("Is {name}"));
    }
    library.sync();
    library.rename("skills/vanished", "vanished");
    library.sync();
    library.rename("vanished", "skills/vanished");
    library.skill("edited", "Is edited now");
    library.skill("fresh", "Is fresh");
    library.rename("skills/moved", "skills/tools/moved");
    library.remove("skills/kept");
    assert_snapshot!(library.run(&["sync"]), @"
    exit 0
    --- stdout
    4 SKILL.md files: 4 loaded; 1 added, 1 changed, 1 moved, 1 missing, 1 back
    --- stderr
    + fresh  [DIR]/skills/fresh
    ~ edited  [DIR]/skills/edited
    > moved  moved -> [DIR]/skills/tools/moved
    - kept  [DIR]/skills/kept (missing)
    < vanished  [DIR]/skills/vanished (back)
    Kept 2 files (108 bytes) in the history.
    ");
}

#[test]
fn a_bad_file_is_told_and_stops_nothing() {
    let library = Library::new();
    library.skill("good", "Works");
    library.write("skills/bad/SKILL.md", b"---\nname: bad\n");
    let report = library.sync();
    assert_eq!(
        (&report["loaded"], &report["refused"]),
        (&json!(1), &json!(1))
    );
    assert_eq!(library.listed(&[]), ["good"]);
}

#[test]
fn strict_makes_a_bad_file_exit_1_each_time() {
    let library = Library::new();
    library.skill("good", "Works");
    library.json(&["sync", "skills", "--strict"]);
    library.write("skills/bad/SKILL.md", b"---\nname: bad\n");
    for _ in 0..2 {
        let report = library.json_exit(&["sync", "--strict"], 1);
        assert_eq!(
            strings(&report["rejected"], "code"),
            ["frontmatter-unclosed"]
        );
    }
}

#[test]
fn every_count_adds_up() {
    let library = Library::new();
    for number in [1, 3, 11, 13] {
        let case = library.case(number);
        fs::rename(&case.skills, library.path(&format!("skills/case-{number}"))).unwrap();
        fs::remove_dir_all(&case.dir).unwrap();
    }
    let first = library.sync();
    let count = |report: &Value, key: &str| match &report[key] {
        Value::Array(list) => list.len() as u64,
        number => number.as_u64().unwrap(),
    };
    let found = count(&first, "files_found");
    assert_eq!(
        found,
        count(&first, "loaded") + count(&first, "refused") + count(&first, "nested")
    );
    assert_eq!(
        count(&first, "added"),
        count(&first, "loaded") + count(&first, "refused")
    );
    assert_eq!(count(&first, "refused"), count(&first, "rejected"));
    let live = library.listed(&[]).len() as u64;
    let archived = library.listed(&["--archived"]).len() as u64;
    assert_eq!(archived, count(&first, "archived"));
    assert_eq!(live + archived, count(&first, "loaded"));
    let second = library.json(&["sync"]);
    assert_eq!(count(&second, "files_found"), found);
    assert_eq!(count(&second, "unchanged"), count(&first, "added"));
    let in_table = library.sql("SELECT count(*) FROM v_skill WHERE parse_status = 'repaired'");
    assert_eq!(in_table, count(&second, "repaired").to_string());
    let root = &library.json(&["roots"])["roots"][0];
    let both = count(root, "skills") + count(root, "refused");
    assert!(
        both == count(&first, "added") || both + archived == count(&first, "added"),
        "{root}"
    );
}

#[test]
fn a_dry_run_makes_no_database() {
    let library = Library::new();
    library.skill("deploy", "Ships it");
    let report = library.json(&["sync", "skills", "--dry-run"]);
    assert_eq!(strings(&report["added"], "name"), ["deploy"]);
    assert!(!library.path("data/skilldb.db").exists());
}

#[test]
fn a_dry_run_says_that_it_wrote_nothing() {
    let library = Library::new();
    library.skill("deploy", "Ships it");
    let first = library.json(&["sync", "skills", "--dry-run"]);
    library.sync();
    library.skill("deploy", "Ships it twice");
    let later = library.json(&["sync", "--dry-run"]);
    assert_eq!(
        (&first["wrote"], &later["wrote"]),
        (&json!(false), &json!(false))
    );
}

#[test]
fn a_dry_run_tells_the_change_and_leaves_it_to_the_next_sync() {
    let library = Library::new();
    library.skill("deploy", "Ships it");
    library.sync();
    library.skill("deploy", "Ships it twice");
    for _ in 0..2 {
        let told = library.run(&["sync", "--dry-run"]);
        assert!(
            told.contains("~ deploy") && told.contains("(dry run: nothing was written)"),
            "{told}"
        );
    }
    assert_eq!(library.sql("SELECT description FROM v_skill"), "Ships it");
}

#[test]
fn without_roots_sync_names_the_folders_of_clients() {
    let library = Library::new();
    fs::create_dir_all(library.path("home/.claude/skills")).unwrap();
    let output = library
        .skilldb(&["sync"])
        .current_dir(library.path("home"))
        .output()
        .unwrap();
    let told = library.told(&output);
    assert!(
        told.starts_with("exit 0\n--- stderr\nNothing to sync: this library has no roots yet.\n"),
        "{told}"
    );
    assert!(
        told.contains("\n  [DIR]/home/.claude/skills  (amp, claude-code, "),
        "{told}"
    );
}

#[test]
fn without_roots_and_clients_sync_asks_for_a_folder() {
    let library = Library::new();
    let output = library
        .skilldb(&["sync"])
        .current_dir(library.path("home"))
        .output()
        .unwrap();
    assert_snapshot!(library.told(&output), @"
    exit 0
    --- stderr
    Nothing to sync: this library has no roots yet.
    Name a folder of skills: skilldb sync FOLDER
    ");
}

#[test]
fn a_client_brings_its_folders() {
    let library = Library::new();
    library.write(
        "home/.claude/skills/deploy/SKILL.md",
        b"---\nname: deploy\ndescription: Ships\n---\n",
    );
    library.json(&["sync", "--client", "claude-code"]);
    assert_eq!(
        library.normal(&library.sql("SELECT path FROM v_skill")),
        "[DIR]/home/.claude/skills/deploy"
    );
}

#[test]
fn an_unknown_client_gets_a_suggestion() {
    assert_snapshot!(Library::new().run(&["sync", "--client", "claude-cod"]), @"
    exit 2
    --- stderr
    error: no client named `claude-cod`
    hint: did you mean `claude-code`?
    ");
}

#[test]
fn an_unknown_label_is_wrong_usage() {
    assert_snapshot!(Library::new().run(&["sync", "--root", "fancy=skills"]), @"
    exit 2
    --- stderr
    error: `fancy` is neither a kind of root nor a client
    hint: write --root KIND=PATH, for example --root project=.claude/skills
    ");
}

#[test]
fn a_folder_that_is_not_there_is_refused() {
    assert_snapshot!(Library::new().run(&["sync", "nowhere"]), @"
    exit 1
    --- stderr
    error: no folder at [DIR]/nowhere
    hint: if it lies on a disk that is not mounted, mount it first
    ");
}

#[test]
fn a_root_inside_a_root_is_refused() {
    let library = Library::new();
    library.skill("tools/deploy", "Ships it");
    library.sync();
    assert_snapshot!(library.run(&["sync", "skills/tools"]), @"
    exit 1
    --- stderr
    error: [DIR]/skills/tools lies inside the root [DIR]/skills
    hint: it is part of that root already: run `skilldb sync`
    ");
}

#[test]
fn a_sync_that_would_empty_a_root_says_how_to_go_on() {
    let library = Library::new();
    for number in 1..=6 {
        library.skill(&format!("skill-{number}"), "Is here today");
    }
    library.sync();
    library.remove("skills");
    fs::create_dir(library.path("skills")).unwrap();
    assert_snapshot!(library.run(&["sync"]), @"
    exit 1
    --- stdout
    6 SKILL.md files: 6 loaded; nothing changed
    --- stderr
    error: 6 skills of 6 in [DIR]/skills are not there: more than half of it vanished at once; none was marked as missing
    hint: mount the disk and sync again; if they are really gone: skilldb sync --allow-mass-delete
    ");
}

#[test]
fn quiet_leaves_data_and_problems() {
    let library = mixed();
    assert_snapshot!(library.run(&["sync", "skills", "--quiet"]), @"
    exit 0
    --- stdout
    3 SKILL.md files: 2 loaded (1 repaired), 1 refused; 3 added
    --- stderr
    [DIR]/skills/bad/SKILL.md:1:1 error frontmatter-unclosed: the header starts here and no later line is `---`
    ");
}

#[test]
fn a_rebuild_keeps_identity_and_history() {
    let library = mixed();
    library.sync();
    let lasting =
        "SELECT (SELECT group_concat(id || rel_path) FROM skill), (SELECT count(*) FROM change)";
    let before = library.sql(lasting);
    let rows = library.json(&["list"]);
    library.json(&["sync", "--rebuild"]);
    assert_eq!(library.sql(lasting), before);
    assert_eq!(library.json(&["list"]), rows);
}

#[test]
fn sync_never_changes_a_file_below_a_root() {
    let library = mixed();
    let stamps = |library: &Library| -> Vec<_> {
        ["deploy", "notes", "bad"]
            .map(|name| library.path(&format!("skills/{name}/SKILL.md")))
            .map(|path| {
                (
                    fs::read(&path).unwrap(),
                    fs::metadata(&path).unwrap().modified().unwrap(),
                )
            })
            .into()
    };
    let before = stamps(&library);
    library.sync();
    library.json(&["sync", "--rebuild"]);
    assert_eq!(stamps(&library), before);
    assert_eq!(fs::read_dir(library.path("skills")).unwrap().count(), 3);
}

#[test]
fn a_vanished_name_that_is_new_elsewhere_brings_a_hint() {
    let library = Library::new();
    library.skill("deploy", "Ships it");
    library.skill("notes", "Takes notes");
    library.sync();
    library.remove("skills/deploy");
    library.skill("tools/deploy", "Ships it in other words");
    assert_snapshot!(library.run(&["sync"]), @"
    exit 0
    --- stdout
    2 SKILL.md files: 2 loaded; 1 added, 1 missing
    --- stderr
    + deploy  [DIR]/skills/tools/deploy
    - deploy  [DIR]/skills/deploy (missing)
    `deploy` is new here, and a skill of that name vanished. If it is the same one: skilldb relink '#1' '#3'
    Kept 1 file (67 bytes) in the history.
    ");
}

#[test]
fn a_closed_pipe_is_quiet() {
    let library = Library::new();
    for number in 0..40 {
        library.skill(
            &format!("skill-{number}"),
            &"Says a lot about little. ".repeat(40),
        );
    }
    library.sync();
    for args in [
        &["list"][..],
        &["list", "--json"],
        &["sql", "SELECT * FROM v_skill"],
        &["show", "skill-1"],
    ] {
        let mut child = library.process(args).spawn().unwrap();
        drop(child.stdout.take());
        let mut told = String::new();
        child
            .stderr
            .take()
            .unwrap()
            .read_to_string(&mut told)
            .unwrap();
        assert_eq!(
            (child.wait().unwrap().code(), &*told),
            (Some(0), ""),
            "{args:?}"
        );
    }
}

#[test]
fn a_sync_whose_words_nobody_reads_ends_its_work() {
    let library = mixed();
    let mut child = library.process(&["sync", "skills"]).spawn().unwrap();
    drop((child.stdout.take(), child.stderr.take()));
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert_eq!(library.listed(&[]), ["deploy", "notes"]);
}

#[test]
fn an_empty_folder_is_a_library_of_nothing() {
    let library = Library::new();
    let output = library.skilldb(&["sync", "skills"]).output().unwrap();
    assert_eq!(code(&output), 0);
    assert_eq!(
        output.stdout,
        b"0 SKILL.md files: 0 loaded; nothing changed\n"
    );
}

/// One good skill, one that is repaired, one that is refused.
fn mixed() -> Library {
    let library = Library::new();
    library.skill("deploy", "Ships it");
    library.skill("notes", "Takes notes: use in meetings");
    library.write(
        "skills/bad/SKILL.md",
        b"---\nname: bad\ndescription: Has no end\n",
    );
    library
}
