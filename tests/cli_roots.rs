//! `skilldb roots`.

mod common;

use std::fs;

use common::{Library, strings};
use insta::assert_snapshot;
use serde_json::json;

#[test]
fn roots_are_listed_with_what_they_hold() {
    let library = Library::new();
    library.skill("deploy", "Ships it");
    library.rename("skills", "mine");
    library.write("mine/bad/SKILL.md", b"---\nname: bad\n");
    fs::create_dir(library.path("empty")).unwrap();
    library.json(&["sync", "mine", "--root", "external=empty"]);
    assert_snapshot!(library.run(&["roots"]), @"
    exit 0
    --- stdout
    external	0	0	0	-	[DIR]/empty
    local	1	1	0	-	[DIR]/mine
    ");
}

#[test]
fn a_root_that_is_not_there_is_marked() {
    let library = Library::new();
    library.skill("deploy", "Ships it");
    library.rename("skills", "mine");
    library.json(&["sync", "mine"]);
    library.rename("mine", "away");
    assert_snapshot!(library.run(&["roots"]), @"
    exit 0
    --- stdout
    local	1	0	0	-	[DIR]/mine (not there)
    ");
}

#[test]
fn a_root_is_added_with_its_kind_and_synced() {
    let library = Library::new();
    library.skill("deploy", "Ships it");
    library.rename("skills", "mine");
    assert_snapshot!(library.run(&["roots", "add", "mine", "--kind", "external", "--priority", "-3"]), @"
    exit 0
    --- stdout
    [DIR]/mine (external): 1 skill loaded, 0 refused
    ");
    assert_snapshot!(library.run(&["roots", "--json"]), @r#"
    exit 0
    --- stdout
    {
      "schema_version": 1,
      "roots": [
        {
          "path": "[DIR]/mine",
          "kind": "external",
          "priority": -3,
          "writable": false,
          "client": null,
          "present": true,
          "skills": 1,
          "archived": 0,
          "refused": 0,
          "missing": 0
        }
      ]
    }
    "#);
    assert_eq!(library.listed(&[]), ["deploy"]);
}

#[test]
fn adding_a_root_again_changes_its_kind() {
    let library = Library::new();
    library.skill("deploy", "Ships it");
    library.rename("skills", "mine");
    library.json(&["roots", "add", "mine"]);
    let id = library.sql("SELECT id FROM v_skill");
    library.json(&["roots", "add", "mine", "--kind", "bundled"]);
    let roots = library.json(&["roots"]);
    assert_eq!(strings(&roots["roots"], "kind"), ["bundled"]);
    assert_eq!(library.sql("SELECT id FROM v_skill"), id);
}

#[test]
fn an_unknown_kind_is_wrong_usage() {
    assert_snapshot!(Library::new().run(&["roots", "add", "home", "--kind", "loca"]), @"
    exit 2
    --- stderr
    error: `loca` is no kind of root
    hint: one of local, project, external, bundled, hub, plugin
    ");
}

#[test]
fn a_folder_that_is_not_there_cannot_be_added() {
    assert_snapshot!(Library::new().run(&["roots", "add", "nowhere"]), @"
    exit 1
    --- stderr
    error: no folder at [DIR]/nowhere
    hint: if it lies on a disk that is not mounted, mount it first
    ");
}

#[test]
fn removing_a_root_leaves_its_files_and_its_rows() {
    let library = Library::new();
    library.skill("deploy", "Ships it");
    library.rename("skills", "mine");
    library.json(&["sync", "mine"]);
    let id = library.sql("SELECT id FROM v_skill");
    assert_snapshot!(library.run(&["roots", "remove", "mine"]), @"
    exit 0
    --- stdout
    [DIR]/mine is no root any more; 1 skill left the listings
    --- stderr
    Files, history and usage stay; adding the folder again brings all of it back.
    ");
    assert_eq!(library.listed(&[]).len(), 0);
    assert!(library.path("mine/deploy/SKILL.md").exists());
    library.json(&["sync", "mine"]);
    assert_eq!(library.sql("SELECT id FROM v_skill"), id);
}

#[test]
fn a_removed_root_is_not_synced_any_more() {
    let library = Library::new();
    fs::create_dir(library.path("other")).unwrap();
    library.skill("deploy", "Ships it");
    library.rename("skills", "mine");
    library.json(&["sync", "mine", "other"]);
    library.json(&["roots", "remove", "mine"]);
    let report = library.json(&["sync"]);
    assert_eq!(report["files_found"], 0);
    assert!(library.listed(&[]).is_empty());
}

#[test]
fn removing_in_a_dry_run_removes_nothing() {
    let library = Library::new();
    library.skill("deploy", "Ships it");
    library.rename("skills", "mine");
    library.json(&["sync", "mine"]);
    assert_snapshot!(library.run(&["roots", "remove", "mine", "--dry-run"]), @"
    exit 0
    --- stdout
    [DIR]/mine is no root any more; 1 skill left the listings (dry run: nothing was written)
    --- stderr
    Files, history and usage stay; adding the folder again brings all of it back.
    ");
    assert_eq!(library.listed(&[]), ["deploy"]);
}

#[test]
fn a_root_whose_folder_is_gone_can_be_removed() {
    let library = Library::new();
    library.skill("deploy", "Ships it");
    library.rename("skills", "mine");
    library.json(&["sync", "mine"]);
    library.remove("mine");
    library.json(&["roots", "remove", "mine"]);
    assert_eq!(library.json(&["roots"])["roots"], json!([]));
}

#[test]
fn only_a_root_can_be_removed() {
    let library = Library::new();
    library.skill("deploy", "Ships it");
    library.rename("skills", "mine");
    library.json(&["sync", "mine"]);
    assert_snapshot!(library.run(&["roots", "remove", "home"]), @"
    exit 1
    --- stderr
    error: home is not a root of this library
    hint: `skilldb roots` lists them
    ");
}

#[test]
fn the_folders_of_clients_are_seen_from_here() {
    let library = Library::new();
    fs::create_dir_all(library.path("home/.claude/skills")).unwrap();
    let object = library.json(&["roots", "--clients"]);
    let folders = object["clients"].as_array().unwrap();
    let there: Vec<_> = folders
        .iter()
        .filter(|folder| folder["present"] == true)
        .collect();
    assert!(!there.is_empty() && there.len() < folders.len());
    let claude = json!(library.path("home/.claude/skills"));
    assert!(
        there
            .iter()
            .any(|folder| folder["client"] == "claude-code" && folder["path"] == claude),
        "{there:?}"
    );
    let lines = library.run(&["roots", "--clients"]);
    assert!(
        lines.contains("\nclaude-code\tuser\tthere\t[DIR]/home/.claude/skills\n"),
        "{lines}"
    );
}

#[test]
fn without_a_library_there_are_no_roots() {
    assert_snapshot!(Library::new().run(&["roots"]), @"
    exit 1
    --- stderr
    error: no library at [DIR]/data/skilldb.db yet
    hint: `skilldb sync FOLDER` or `skilldb sync --client claude-code` makes one
    ");
}
