//! The commands about the library and the program itself: config, path, doctor, relink, completions, man.

mod common;

use std::fs;

use common::Library;
use insta::assert_snapshot;
use serde_json::json;

#[test]
fn settings_are_shown_with_their_origin() {
    let library = Library::new();
    library.write(
        "data/config.yaml",
        b"roots:\n  - path: ~/skills\n    kind: external\nclients: [codex]\nhistory:\n  supporting_mib: 8\n",
    );
    library.write(
        ".skilldb.yaml",
        b"color: always\nroots:\n  - path: skills\n",
    );
    assert_snapshot!(squeezed(&library.run(&["config", "--origin"])), @"
    exit 0
    --- stdout
    home [DIR]/data $SKILLDB_HOME
    color never $NO_COLOR
    history.supporting_mib 8 config.yaml ([DIR]/data/config.yaml)
    curator.enabled true default
    curator.interval_hours 168 default
    curator.min_idle_hours 2 default
    curator.stale_after_days 30 default
    curator.archive_after_days 90 default
    curator.bundled false default
    curator.protect plan default
    clients codex config.yaml ([DIR]/data/config.yaml)
    roots [DIR]/home/skills (external) config.yaml ([DIR]/data/config.yaml)
    roots [DIR]/skills (project) .skilldb.yaml ([DIR]/.skilldb.yaml)
    ");
}

#[test]
fn settings_without_origin_are_two_columns() {
    assert_snapshot!(squeezed(&Library::new().run(&["config"])), @"
    exit 0
    --- stdout
    home [DIR]/data
    color never
    history.supporting_mib 64
    curator.enabled true
    curator.interval_hours 168
    curator.min_idle_hours 2
    curator.stale_after_days 30
    curator.archive_after_days 90
    curator.bundled false
    curator.protect plan
    ");
}

#[test]
fn a_flag_beats_the_environment_and_a_file() {
    let library = Library::new();
    library.write("data/config.yaml", b"color: auto\n");
    let flags = ["--color=always", "--home=elsewhere"];
    let settings = library.json(&[&["config"], &flags[..]].concat())["settings"].clone();
    let home = json!({"key": "home", "value": library.path("elsewhere"), "origin": "flag"});
    let color = json!({"key": "color", "value": "always", "origin": "flag"});
    assert_eq!((&settings[0], &settings[1]), (&home, &color));
}

#[test]
fn an_unknown_key_is_told_with_file_and_line() {
    let library = Library::new();
    library.write("data/config.yaml", b"# my settings\nclientz: [codex]\n");
    let told = library.run(&["list"]);
    assert!(
        told.starts_with("exit 2\n--- stderr\nerror: [DIR]/data/config.yaml:2: "),
        "{told}"
    );
    let error = library.json_exit(&["list"], 2)["error"].clone();
    assert_eq!(error["path"], json!(library.path("data/config.yaml")));
    assert_eq!(
        (&error["code"], &error["line"]),
        (&json!("config"), &json!(2))
    );
}

#[test]
fn an_unknown_key_gets_a_suggestion_that_fits_its_place() {
    let library = Library::new();
    for (text, suggestion) in [
        (&b"clientz: [codex]\n"[..], "did you mean `clients`?"),
        (
            b"roots:\n  - path: skills\n    clientz: codex\n",
            "did you mean `client`?",
        ),
    ] {
        library.write("data/config.yaml", text);
        assert_eq!(library.json_exit(&["list"], 2)["error"]["hint"], suggestion);
    }
}

#[test]
fn an_unknown_key_of_a_project_is_told_as_well() {
    let library = Library::new();
    library.write(
        ".skilldb.yaml",
        b"roots:\n  - path: skills\n    prioritt: 3\n",
    );
    let told = library.run(&["sync"]);
    assert!(
        told.starts_with("exit 2\n--- stderr\nerror: [DIR]/.skilldb.yaml:3: "),
        "{told}"
    );
    assert!(
        told.contains("\nhint: did you mean `priority`?\n"),
        "{told}"
    );
}

#[test]
fn a_value_of_the_wrong_kind_is_told_with_its_line() {
    let library = Library::new();
    library.write("data/config.yaml", b"color: pink\n");
    let told = library.run(&["list"]);
    assert!(
        told.starts_with("exit 2\n--- stderr\nerror: [DIR]/data/config.yaml:1: "),
        "{told}"
    );
}

#[test]
fn a_configured_root_is_synced_without_being_named() {
    let library = Library::new();
    library.skill("deploy", "Ships it");
    library.write(".skilldb.yaml", b"roots:\n  - path: skills\n");
    library.json(&["sync"]);
    assert_eq!(library.listed(&[]), ["deploy"]);
}

#[test]
fn a_time_that_is_no_time_is_told() {
    let library = Library::new();
    let output = library
        .skilldb(&["list"])
        .env("SKILLDB_NOW", "yesterday")
        .output()
        .unwrap();
    assert_snapshot!(library.told(&output), @"
    exit 2
    --- stderr
    error: SKILLDB_NOW is `yesterday`, which is no time
    hint: write it like 2026-01-02T03:04:05.678Z
    ");
}

#[test]
fn paths_are_printed_alone() {
    let library = Library::new();
    library.skill("tools/deploy", "Ships it");
    library.sync();
    let path = |args: &[&str]| library.run(&[&["path"], args].concat());
    assert_eq!(path(&[]), "exit 0\n--- stdout\n[DIR]/data\n");
    assert_eq!(path(&["db"]), "exit 0\n--- stdout\n[DIR]/data/skilldb.db\n");
    assert_eq!(
        path(&["config"]),
        "exit 0\n--- stdout\n[DIR]/data/config.yaml\n"
    );
    assert_eq!(
        path(&["deploy"]),
        "exit 0\n--- stdout\n[DIR]/skills/tools/deploy\n"
    );
}

#[test]
fn a_path_of_an_unknown_skill_is_an_error() {
    let library = Library::new();
    library.skill("deploy", "Ships it");
    library.sync();
    assert_snapshot!(library.run(&["path", "deplo"]), @"
    exit 1
    --- stderr
    error: no skill named `deplo`
    hint: did you mean `deploy`?
    ");
}

#[test]
fn a_synced_library_is_healthy() {
    let library = Library::new();
    library.skill("deploy", "Ships it");
    library.sync();
    assert_snapshot!(library.run(&["doctor"]), @"
    exit 0
    --- stdout
    healthy: integrity, references, counters, kept bytes, and mirror against files
    ");
}

#[test]
fn doctor_finds_files_that_went_on_without_the_mirror() {
    let library = Library::new();
    for name in ["edited", "vanished"] {
        library.skill(name, "Is synced");
    }
    library.sync();
    library.skill("edited", "Is edited");
    library.skill("fresh", "Is new");
    library.remove("skills/vanished");
    assert_snapshot!(library.run(&["doctor"]), @"
    exit 1
    --- stdout
    problem drift: 1 skill not in the mirror yet (skilldb doctor --fix, or skilldb sync, refills it from the files)
    problem drift: 1 skill changed on disk since the last sync (skilldb doctor --fix, or skilldb sync, refills it from the files)
    problem drift: 1 skill vanished since the last sync (skilldb doctor --fix, or skilldb sync, refills it from the files)
    ");
    assert_eq!(
        library.listed(&[]),
        ["edited", "vanished"],
        "without --fix nothing is mended"
    );
}

#[test]
fn doctor_mends_the_mirror() {
    let library = Library::new();
    library.skill("deploy", "Ships it");
    library.sync();
    library.skill("deploy", "Ships it twice");
    assert_snapshot!(library.run(&["doctor", "--fix"]), @"
    exit 0
    --- stdout
    mended drift: 1 skill changed on disk since the last sync
    healthy: integrity, references, counters, kept bytes, and mirror against files
    ");
    assert_eq!(
        library.sql("SELECT description FROM v_skill"),
        "Ships it twice"
    );
    library.json(&["doctor"]);
}

#[test]
fn doctor_without_a_library_says_how_to_make_one() {
    assert_snapshot!(Library::new().run(&["doctor"]), @"
    exit 1
    --- stderr
    error: no library at [DIR]/data/skilldb.db yet
    hint: `skilldb sync FOLDER` or `skilldb sync --client claude-code` makes one
    ");
}

#[test]
fn a_file_that_is_no_database_is_a_damaged_store() {
    let library = Library::new();
    library.write(
        "data/skilldb.db",
        &b"This was never a database. ".repeat(100),
    );
    let told = library.run(&["list"]);
    assert!(told.starts_with("exit 3\n--- stderr\nerror: "), "{told}");
    assert!(
        told.contains("hint: move skilldb.db, skilldb.db-wal and skilldb.db-shm aside together and run `skilldb sync`"),
        "{told}"
    );
}

#[test]
fn a_vanished_skill_goes_on_in_its_new_folder() {
    let library = moved_and_edited();
    assert_snapshot!(library.run(&["relink", "#1", "#2", "--dry-run"]), @"
    exit 0
    --- stderr
    #1 would go on in [DIR]/skills/tools/deploy (dry run: nothing was written).
    ");
    assert_snapshot!(library.run(&["relink", "#1", "#2"]), @"
    exit 0
    --- stdout
    #1 deploy goes on in tools/deploy; #2 has ended
    ");
    assert_eq!(
        library.sql("SELECT id, rel_path FROM v_skill"),
        "1\ttools/deploy"
    );
    assert_eq!(library.sql("SELECT count(*) FROM v_missing"), "0");
}

#[test]
fn a_skill_that_is_there_cannot_be_relinked() {
    let library = moved_and_edited();
    assert_snapshot!(library.run(&["relink", "#2", "#2"]), @"
    exit 1
    --- stderr
    error: cannot relink `#2` to `#2`: the old one's folder is still there
    hint: `skilldb list --missing` shows the ids
    ");
    assert_snapshot!(library.run(&["relink", "#2", "#2", "--dry-run"]), @"
    exit 1
    --- stderr
    error: cannot relink `#2` to `#2`: the old one is not missing
    hint: `skilldb list --missing` shows the ids
    ");
    assert_snapshot!(library.run(&["relink", "deploy", "#2"]), @"
    exit 2
    --- stderr
    error: `deploy` is no id
    hint: `skilldb list --missing` shows the ids
    ");
}

#[test]
fn completions_are_there_for_five_shells() {
    let library = Library::new();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let output = library.skilldb(&["completions", shell]).output().unwrap();
        let script = String::from_utf8(output.stdout).unwrap();
        assert!(
            output.status.success() && script.contains("validate"),
            "{shell}"
        );
        assert!(output.stderr.is_empty(), "{shell}");
    }
}

#[test]
fn the_manual_page_is_a_manual_page() {
    let output = Library::new().skilldb(&["man"]).output().unwrap();
    let page = String::from_utf8(output.stdout).unwrap();
    let first = page.lines().find(|line| line.starts_with(".TH")).unwrap();
    assert!(first.starts_with(".TH skilldb 1"), "{first}");
}

#[test]
fn a_folder_gets_a_manual_page_a_command() {
    let library = Library::new();
    assert_eq!(library.run(&["man", "--dir", "man/man1"]), "exit 0\n");
    let mut pages: Vec<String> = fs::read_dir(library.path("man/man1"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    pages.sort();
    assert_snapshot!(pages.join("\n"), @"
    skilldb-adopt.1
    skilldb-archive.1
    skilldb-backup.1
    skilldb-completions.1
    skilldb-config.1
    skilldb-create.1
    skilldb-curate-pause.1
    skilldb-curate-report.1
    skilldb-curate-resume.1
    skilldb-curate-status.1
    skilldb-curate.1
    skilldb-delete.1
    skilldb-diff.1
    skilldb-disable.1
    skilldb-doctor.1
    skilldb-edit.1
    skilldb-enable.1
    skilldb-export-usage.1
    skilldb-export.1
    skilldb-hook-claude-code.1
    skilldb-hook-codex.1
    skilldb-hook-install.1
    skilldb-hook-status.1
    skilldb-hook-uninstall.1
    skilldb-hook.1
    skilldb-import.1
    skilldb-list.1
    skilldb-log.1
    skilldb-man.1
    skilldb-merge-backup.1
    skilldb-merge.1
    skilldb-patch.1
    skilldb-path.1
    skilldb-pin.1
    skilldb-proposals-approve.1
    skilldb-proposals-list.1
    skilldb-proposals-reject.1
    skilldb-proposals-show.1
    skilldb-proposals.1
    skilldb-purge.1
    skilldb-record.1
    skilldb-refs.1
    skilldb-release.1
    skilldb-relink.1
    skilldb-rename.1
    skilldb-restore.1
    skilldb-rm-file.1
    skilldb-roots-add.1
    skilldb-roots-remove.1
    skilldb-roots.1
    skilldb-scan.1
    skilldb-search.1
    skilldb-show.1
    skilldb-snapshot-create.1
    skilldb-snapshot-list.1
    skilldb-snapshot-prune.1
    skilldb-snapshot-restore.1
    skilldb-snapshot.1
    skilldb-sql.1
    skilldb-stats.1
    skilldb-sync.1
    skilldb-undo.1
    skilldb-unpin.1
    skilldb-validate.1
    skilldb-write.1
    skilldb.1
    ");
    for page in &pages {
        let text = fs::read_to_string(library.path(&format!("man/man1/{page}"))).unwrap();
        let title = format!(".TH {} 1", page.trim_end_matches(".1"));
        assert!(
            text.contains(&title),
            "{page}: {:?}",
            text.lines().find(|line| line.starts_with(".TH"))
        );
    }
}

#[test]
fn a_manual_page_refers_only_to_pages_that_are_there() {
    let library = Library::new();
    library.run(&["man", "--dir", "man"]);
    let mut references = 0;
    for page in fs::read_dir(library.path("man")).unwrap() {
        let text = fs::read_to_string(page.unwrap().path())
            .unwrap()
            .replace('\\', "");
        for name in text.lines().filter_map(|line| line.strip_suffix("(1)")) {
            assert!(library.path(&format!("man/{name}.1")).is_file(), "{name}");
            references += 1;
        }
    }
    assert!(references > 10, "only {references} references were found");
}

#[test]
fn completions_and_man_work_whatever_the_configuration_says() {
    let library = Library::new();
    library.write("data/config.yaml", b"nonsense: true\n");
    for args in [&["man"][..], &["completions", "bash"]] {
        assert!(library.run(args).starts_with("exit 0\n"), "{args:?}");
    }
}

/// Columns are as wide as the longest path, which differs from run to run.
fn squeezed(text: &str) -> String {
    let lines = text
        .lines()
        .map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "));
    lines.collect::<Vec<_>>().join("\n")
}

/// `deploy` (#1) vanished, and another `deploy` (#2) is in a new folder.
fn moved_and_edited() -> Library {
    let library = Library::new();
    library.skill("deploy", "Ships it");
    library.sync();
    library.remove("skills/deploy");
    library.skill("tools/deploy", "Ships it in other words");
    library.sync();
    library
}
