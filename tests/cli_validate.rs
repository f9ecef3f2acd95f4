//! `skilldb validate`.

mod common;

use common::{Library, strings};
use insta::assert_snapshot;
use serde_json::{Value, json};

#[test]
fn findings_are_lines_and_the_count_is_a_word_apart() {
    let library = faulty();
    assert_snapshot!(library.run(&["validate", "skills"]), @r#"
    exit 1
    --- stdout
    skills/bad/SKILL.md:1:1 error frontmatter-unclosed: the header starts here and no later line is `---`
    skills/notes/SKILL.md:3:14 error yaml-repaired: `description` is not valid YAML (mapping values are not allowed in this context); read as typed
      paste: description: "Takes notes: use in meetings"
    --- stderr
    3 files: 2 errors, 0 warnings, 0 notes.
    "#);
}

#[test]
fn a_good_file_is_valid_and_says_nothing_on_stdout() {
    let library = Library::new();
    library.skill("deploy", "Ships it when the tests are green");
    assert_snapshot!(library.run(&["validate", "skills/deploy/SKILL.md"]), @"
    exit 0
    --- stderr
    1 file: 0 errors, 0 warnings, 0 notes.
    ");
}

#[test]
fn a_folder_and_its_file_get_the_same_verdict() {
    let library = faulty();
    let codes = |path: &str| {
        strings(
            &library.json_exit(&["validate", path], 1)["findings"],
            "code",
        )
    };
    assert_eq!(codes("skills/notes"), codes("skills/notes/SKILL.md"));
}

#[test]
fn the_object_counts_its_findings() {
    let library = faulty();
    assert_snapshot!(library.run(&["validate", "skills/notes", "--json"]), @r#"
    exit 1
    --- stdout
    {
      "schema_version": 1,
      "valid": false,
      "failed": [],
      "files": 1,
      "findings": [
        {
          "path": "skills/notes/SKILL.md",
          "line": 3,
          "column": 14,
          "severity": "error",
          "code": "yaml-repaired",
          "message": "`description` is not valid YAML (mapping values are not allowed in this context); read as typed",
          "suggestion": "description: \"Takes notes: use in meetings\""
        }
      ],
      "counts": {
        "error": 1,
        "warning": 0,
        "note": 0
      }
    }
    "#);
}

#[test]
fn format_json_and_the_json_flag_print_the_same() {
    let library = faulty();
    let flag = library
        .skilldb(&["validate", "skills", "--json"])
        .output()
        .unwrap();
    let format = library
        .skilldb(&["validate", "skills", "--format", "json"])
        .output()
        .unwrap();
    assert_eq!(flag, format);
}

#[test]
fn annotations_escape_what_github_would_take_for_syntax() {
    let library = Library::new();
    library.write(
        "skills/a,b:c/SKILL.md",
        b"---\nname: 'a%b'\ndescription: Is odd\n---\n\n# Steps\n",
    );
    assert_snapshot!(library.run(&["validate", "skills", "--format", "github"]), @"
    exit 1
    --- stdout
    ::error file=skills/a%2Cb%3Ac/SKILL.md,line=2,col=7,title=name-charset::`%25` is not allowed in `name`
    ::error file=skills/a%2Cb%3Ac/SKILL.md,line=2,col=7,title=name-mismatch::`name` is `a%25b`, the folder is `a,b:c`
    ");
}

#[test]
fn sarif_names_each_rule_it_uses() {
    let library = faulty();
    let output = library
        .skilldb(&["validate", "skills", "--format", "sarif"])
        .output()
        .unwrap();
    let log: Value = serde_json::from_slice(&output.stdout).unwrap();
    let run = &log["runs"][0];
    assert_eq!(log["version"], "2.1.0");
    let rules = strings(&run["tool"]["driver"]["rules"], "id");
    let used = strings(&run["results"], "ruleId");
    assert!(
        !used.is_empty() && used.iter().all(|code| rules.contains(code)),
        "{used:?}"
    );
    let place = &run["results"][0]["locations"][0]["physicalLocation"];
    assert_eq!(place["artifactLocation"]["uri"], "skills/bad/SKILL.md");
    assert_eq!(place["region"], json!({"startLine": 1, "startColumn": 1}));
}

#[test]
fn lenient_gives_the_verdict_of_loading() {
    let library = Library::new();
    library.write(
        "skills/notes/SKILL.md",
        b"---\nname: Notes\ndescription: Takes notes\n---\n\n# Steps\n",
    );
    library.json_exit(&["validate", "skills"], 1);
    let found = library.json(&["validate", "skills", "--lenient"]);
    assert_eq!(found["valid"], true);
    assert!(found["counts"]["warning"].as_u64() > Some(0), "{found}");
}

#[test]
fn a_path_needs_no_database_and_makes_none() {
    let library = faulty();
    library.json_exit(&["validate", "skills"], 1);
    assert!(!library.path("data/skilldb.db").exists());
}

#[test]
fn without_a_path_all_roots_are_judged() {
    let library = faulty();
    library.sync();
    let object = library.json_exit(&["validate"], 1);
    assert_eq!(object["files"], 3);
}

#[test]
fn without_a_path_and_a_library_there_is_nothing_to_judge() {
    assert_snapshot!(Library::new().run(&["validate"]), @"
    exit 1
    --- stderr
    error: no library at [DIR]/data/skilldb.db yet
    hint: `skilldb sync FOLDER` or `skilldb sync --client claude-code` makes one
    ");
}

#[test]
fn a_path_that_is_not_there_is_an_error() {
    assert_snapshot!(Library::new().run(&["validate", "nowhere"]), @"
    exit 1
    --- stderr
    error: no folder at nowhere
    hint: if it lies on a disk that is not mounted, mount it first
    ");
}

/// One good skill, one whose description needs quotes, one without an end of its header.
fn faulty() -> Library {
    let library = Library::new();
    library.skill("deploy", "Ships it when the tests are green");
    library.skill("notes", "Takes notes: use in meetings");
    library.write("skills/bad/SKILL.md", b"---\nname: bad\n");
    library
}
