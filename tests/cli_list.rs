//! `skilldb list`.

mod common;

use common::Library;
use insta::assert_snapshot;
use serde_json::json;

#[test]
fn off_a_terminal_a_skill_is_a_line_of_four_cells() {
    let library = Library::new();
    library.skill("tools/deploy", "Ships it");
    library.skill("notes", "Takes notes");
    library.sync();
    assert_snapshot!(library.run(&["list"]), @"
    exit 0
    --- stdout
    deploy	active	[DIR]/skills/tools/deploy	Ships it
    notes	active	[DIR]/skills/notes	Takes notes
    ");
}

#[test]
fn a_skill_without_description_has_four_cells_as_well() {
    let library = Library::new();
    library.write("skills/bare/SKILL.md", b"---\nname: bare\n---\n");
    library.sync();
    let output = library.skilldb(&["list"]).output().unwrap();
    let line = String::from_utf8(output.stdout).unwrap();
    assert_eq!(
        line.trim_end_matches('\n').split('\t').count(),
        4,
        "{line:?}"
    );
}

#[test]
fn a_description_of_two_lines_stays_one_record() {
    let library = Library::new();
    library.write(
        "skills/deploy/SKILL.md",
        b"---\nname: deploy\ndescription: |\n  Ships\tit.\n  Twice.\n---\n",
    );
    library.sync();
    assert_snapshot!(library.run(&["list"]), @"
    exit 0
    --- stdout
    deploy	active	[DIR]/skills/deploy	Ships it. Twice.
    ");
}

#[test]
fn refused_files_are_counted_beside_the_list() {
    let library = Library::new();
    library.skill("deploy", "Ships it");
    library.write("skills/bad/SKILL.md", b"---\nname: bad\n");
    library.sync();
    assert_snapshot!(library.run(&["list"]), @"
    exit 0
    --- stdout
    deploy	active	[DIR]/skills/deploy	Ships it
    --- stderr
    1 file could not be loaded: skilldb sql problems
    ");
}

#[test]
fn without_a_library_list_says_how_to_make_one() {
    assert_snapshot!(Library::new().run(&["list"]), @"
    exit 1
    --- stderr
    error: no library at [DIR]/data/skilldb.db yet
    hint: `skilldb sync FOLDER` or `skilldb sync --client claude-code` makes one
    ");
}

#[test]
fn the_object_of_a_skill_holds_what_scripts_read() {
    let library = Library::new();
    library.write(
        "skills/tools/Deploy/SKILL.md",
        b"---\nname: deploy\ndescription: Ships it\nmetadata:\n  version: 1.10\n---\n",
    );
    library.write("skills/bad/SKILL.md", b"---\nname: bad\n");
    library.sync();
    assert_snapshot!(library.run(&["list", "--json"]), @r#"
    exit 0
    --- stdout
    {
      "schema_version": 1,
      "skills": [
        {
          "id": 2,
          "name": "deploy",
          "declared_name": "deploy",
          "folder": "Deploy",
          "category": "tools",
          "description": "Ships it",
          "path": "[DIR]/skills/tools/Deploy",
          "rel_path": "tools/Deploy",
          "root": "[DIR]/skills",
          "state": "active",
          "origin": "unknown",
          "pinned": false,
          "parse_status": "ok",
          "version": "1.10",
          "content_hash": "9963d874abc8b1acd36e5ed58c9be6b54fd0877579a22a138575fe10ada5b060",
          "size": 69,
          "verdict": "safe",
          "diagnostics": [
            "name-mismatch"
          ]
        }
      ],
      "rejected": [
        {
          "path": "[DIR]/skills/bad/SKILL.md",
          "code": "frontmatter-unclosed",
          "line": 1,
          "column": 1,
          "message": "the header starts here and no later line is `---`"
        }
      ]
    }
    "#);
}

#[test]
fn skills_are_sorted_by_name_then_path() {
    let library = Library::new();
    for name in ["b/same", "a/same", "Zebra", "apple"] {
        library.skill(name, "Is sorted");
    }
    library.sync();
    let object = library.json(&["list"]);
    assert_eq!(
        common::strings(&object["skills"], "rel_path"),
        ["Zebra", "apple", "a/same", "b/same"]
    );
}

#[test]
fn archived_skills_are_shown_only_when_asked_for() {
    let library = Library::new();
    library.skill("deploy", "Ships it");
    library.skill(".archive/retired", "Did something once");
    library.sync();
    assert_eq!(library.listed(&[]), ["deploy"]);
    assert_snapshot!(library.run(&["list", "--archived"]), @"
    exit 0
    --- stdout
    retired	archived	[DIR]/skills/.archive/retired	Did something once
    ");
}

#[test]
fn missing_skills_are_listed_with_their_id_and_time() {
    let library = Library::new();
    library.skill("deploy", "Ships it");
    library.skill("notes", "Takes notes");
    library.sync();
    library.remove("skills/deploy");
    library.sync();
    assert_snapshot!(library.run(&["list", "--missing"]), @"
    exit 0
    --- stdout
    #1	deploy	[DIR]/skills/deploy	2026-01-02T03:04:05.000Z
    --- stderr
    1 skill missing.
    ");
}

#[test]
fn duplicates_say_who_loads_which_copy() {
    let library = two_copies();
    assert_snapshot!(library.run(&["list", "--duplicates"]), @"
    exit 0
    --- stdout
    deploy  (2 copies, texts differ)
      #1  [DIR]/home/.agents/skills/deploy  loaded by agentskills-guide, cline, codex, copilot, cursor, deepagents, gemini-cli, kimi, openclaw, opencode, pi
      #2  [DIR]/project/.agents/skills/deploy  loaded by no known client from here
    --- stderr
    1 name in more than one place.
    ");
}

#[test]
fn duplicates_depend_on_the_folder_they_are_seen_from() {
    let library = two_copies();
    let winner =
        |args: &[&str]| library.json(args)["duplicates"][0]["winners"]["agentskills-guide"].clone();
    let outside = winner(&["list", "--duplicates"]);
    let inside = winner(&["list", "--duplicates", "--in", "project"]);
    assert_eq!(outside, json!([library.path("home/.agents/skills/deploy")]));
    assert_eq!(
        inside,
        json!([library.path("project/.agents/skills/deploy")])
    );
}

#[test]
fn without_duplicates_the_list_of_them_is_empty() {
    let library = Library::new();
    library.skill("deploy", "Ships it");
    library.sync();
    assert_eq!(
        library.json(&["list", "--duplicates"])["duplicates"],
        json!([])
    );
}

#[test]
fn a_client_is_shown_what_it_would_load() {
    let library = two_copies();
    assert_snapshot!(library.run(&["list", "--client", "codex", "--in", "project"]), @"
    exit 0
    --- stdout
    deploy	active	[DIR]/home/.agents/skills/deploy	Ships everywhere
    deploy	active	[DIR]/project/.agents/skills/deploy	Ships this project
    ");
}

#[test]
fn a_folder_to_look_from_must_be_there() {
    let library = two_copies();
    assert_snapshot!(library.run(&["list", "--duplicates", "--in", "nowhere"]), @"
    exit 1
    --- stderr
    error: no folder at [DIR]/nowhere
    hint: if it lies on a disk that is not mounted, mount it first
    ");
}

#[test]
fn an_unknown_client_is_wrong_usage() {
    let library = two_copies();
    assert_snapshot!(library.run(&["list", "--client", "hermess"]), @"
    exit 2
    --- stderr
    error: no client named `hermess`
    hint: did you mean `hermes`?
    ");
}

#[test]
fn flags_that_exclude_each_other_are_wrong_usage() {
    let library = Library::new();
    for flags in [
        ["--archived", "--missing"],
        ["--duplicates", "--archived"],
        ["--duplicates", "--missing"],
    ] {
        let told = library.run(&[&["list"], &flags[..]].concat());
        assert!(told.starts_with("exit 2\n"), "{told}");
    }
}

/// `deploy` as the user's skill and as the project's, with different texts.
fn two_copies() -> Library {
    let library = Library::new();
    for (folder, words) in [("home", "everywhere"), ("project", "this project")] {
        let text = format!("---\nname: deploy\ndescription: Ships {words}\n---\n");
        library.write(
            &format!("{folder}/.agents/skills/deploy/SKILL.md"),
            text.as_bytes(),
        );
    }
    library.json(&[
        "sync",
        "home/.agents/skills",
        "--root=project=project/.agents/skills",
    ]);
    library
}
