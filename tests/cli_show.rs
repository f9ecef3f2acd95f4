//! `skilldb show`.

mod common;

use common::Library;
use insta::assert_snapshot;
use serde_json::json;

#[test]
fn the_file_is_printed_byte_for_byte() {
    let library = Library::new();
    let bytes = b"\xef\xbb\xbf---\r\nname: odd\r\ndescription: Odd\r\n---\r\nNo line end, and \xff";
    library.write("skills/odd/SKILL.md", bytes);
    library.sync();
    let output = library.skilldb(&["show", "odd"]).output().unwrap();
    assert_eq!(output.stdout, bytes);
    assert_eq!(output.stderr, b"");
}

#[test]
fn a_file_of_the_skill_follows_a_slash() {
    let library = with_files();
    let output = library
        .skilldb(&["show", "deploy/references/style.md"])
        .output()
        .unwrap();
    assert_eq!(output.stdout, b"Be brief.\n");
    let file = library.json(&["show", "tools/deploy/references/style.md"])["file"].clone();
    assert_eq!(
        (&file["text"], &file["size"]),
        (&json!("Be brief.\n"), &json!(10))
    );
}

#[test]
fn every_form_of_a_name_finds_the_skill() {
    let library = Library::new();
    library.write(
        "skills/tools/deploy-v2/SKILL.md",
        b"---\nname: deploy\ndescription: Ships\n---\n",
    );
    library.sync();
    let absolute = library.path("skills/tools/deploy-v2");
    let id = format!("#{}", library.sql("SELECT id FROM v_skill"));
    let forms = [
        "deploy",
        "deploy-v2",
        "tools/deploy-v2",
        "skills/tools/deploy-v2",
        "./skills/tools/deploy-v2",
        "./skills/tools/deploy-v2/SKILL.md",
        absolute.to_str().unwrap(),
        &id,
    ];
    for form in forms {
        assert_eq!(
            library.json(&["show", form])["skill"]["rel_path"],
            "tools/deploy-v2",
            "{form}"
        );
    }
}

#[test]
fn an_unknown_name_gets_suggestions() {
    let library = with_files();
    assert_snapshot!(library.run(&["show", "deploi"]), @"
    exit 1
    --- stderr
    error: no skill named `deploi`
    hint: did you mean `deploy`?
    ");
}

#[test]
fn a_name_like_no_other_gets_a_way_to_look() {
    let library = with_files();
    assert_snapshot!(library.run(&["show", "xylophone"]), @"
    exit 1
    --- stderr
    error: no skill named `xylophone`
    hint: `skilldb list` shows what is there; `skilldb sync` looks for new folders
    ");
}

#[test]
fn an_unknown_file_brings_the_files_there_are() {
    let library = with_files();
    assert_snapshot!(library.run(&["show", "deploy/references/styles.md"]), @"
    exit 1
    --- stderr
    error: skill `deploy` has no file `references/styles.md`
    hint: it has `references/style.md`, `scripts/run.sh`
    ");
}

#[test]
fn a_path_out_of_the_folder_is_refused() {
    let library = with_files();
    library.write("skills/tools/secret.txt", b"hidden");
    assert_snapshot!(library.run(&["show", "deploy/../secret.txt"]), @"
    exit 1
    --- stderr
    error: `../secret.txt` leads out of the folder of skill `deploy`
    hint: name a file below the skill's own folder
    ");
}

#[cfg(unix)]
#[test]
fn a_link_out_of_the_folder_is_refused() {
    let library = with_files();
    let secret = library.write("secret.txt", b"hidden");
    std::os::unix::fs::symlink(secret, library.path("skills/tools/deploy/link.txt")).unwrap();
    library.sync();
    assert_snapshot!(library.run(&["show", "deploy/link.txt"]), @"
    exit 1
    --- stderr
    error: `link.txt` leads out of the folder of skill `deploy`
    hint: name a file below the skill's own folder
    ");
}

#[test]
fn an_ambiguous_name_lists_what_it_could_mean() {
    let library = Library::new();
    library.skill("media/cleanup", "Cleans media");
    library.skill("ops/cleanup", "Cleans servers");
    library.sync();
    assert_snapshot!(library.run(&["show", "cleanup"]), @"
    exit 2
    --- stderr
    error: `cleanup` names 2 skills
      media/cleanup  (#1, [DIR]/skills/media/cleanup)
      ops/cleanup  (#2, [DIR]/skills/ops/cleanup)
    hint: say which: `media/cleanup`, `ops/cleanup`
    ");
}

#[test]
fn the_object_holds_header_files_and_body() {
    let library = with_files();
    assert_snapshot!(library.run(&["show", "deploy", "--json"]), @r#"
    exit 0
    --- stdout
    {
      "schema_version": 1,
      "skill": {
        "id": 1,
        "name": "deploy",
        "declared_name": "deploy",
        "folder": "deploy",
        "category": "tools",
        "description": "Ships it",
        "path": "[DIR]/skills/tools/deploy",
        "rel_path": "tools/deploy",
        "root": "[DIR]/skills",
        "state": "active",
        "origin": "unknown",
        "pinned": false,
        "parse_status": "ok",
        "version": null,
        "content_hash": "9ff034fc18d148ace2fa23711403079652a5faedb3135b56789fada18c5b18bd",
        "size": 219,
        "verdict": "safe",
        "license": "MIT",
        "compatibility": null,
        "argument_hint": "[env]",
        "when_to_use": null,
        "allowed_tools": [
          "Bash(git:*)",
          "Read"
        ],
        "disable_model_invocation": null,
        "user_invocable": null,
        "related": [],
        "metadata": {
          "team": "web",
          "hermes": {
            "tags": [
              "ops",
              "web"
            ],
            "requires_tools": [
              "terminal"
            ]
          }
        },
        "extra": {
          "flavour": "sweet"
        },
        "frontmatter": {
          "name": "deploy",
          "description": "Ships it",
          "license": "MIT",
          "allowed-tools": "Bash(git:*) Read",
          "argument-hint": "[env]",
          "metadata": {
            "team": "web",
            "hermes": {
              "tags": [
                "ops",
                "web"
              ],
              "requires_tools": [
                "terminal"
              ]
            }
          },
          "flavour": "sweet"
        },
        "body_offset": 210,
        "text_hash": "9ff034fc18d148ace2fa23711403079652a5faedb3135b56789fada18c5b18bd",
        "tags": [
          "ops",
          "web"
        ],
        "conditions": [
          {
            "kind": "requires_tool",
            "value": "terminal"
          }
        ],
        "requirements": [],
        "config": [],
        "files": [
          {
            "path": "references/style.md",
            "kind": "reference",
            "size": 10,
            "mode": "0644",
            "link_target": null
          },
          {
            "path": "scripts/run.sh",
            "kind": "script",
            "size": 10,
            "mode": "0644",
            "link_target": null
          }
        ],
        "diagnostics": [
          {
            "code": "extension-key",
            "severity": null,
            "strict_severity": "note",
            "line": 6,
            "column": 1,
            "message": "`argument-hint` is read by Claude Code, Copilot only",
            "suggestion": null
          },
          {
            "code": "unknown-key",
            "severity": null,
            "strict_severity": "warning",
            "line": 12,
            "column": 1,
            "message": "no known client reads `flavour`",
            "suggestion": null
          }
        ],
        "body": "\n# Steps\n"
      }
    }
    "#);
}

#[test]
fn the_file_of_the_moment_is_shown() {
    let library = with_files();
    library.skill("tools/deploy", "Ships it since a moment");
    let shown = library.json(&["show", "deploy"]);
    assert_eq!(shown["skill"]["description"], "Ships it since a moment");
}

#[test]
fn a_refused_file_can_be_shown() {
    let library = Library::new();
    library.write("skills/bad/SKILL.md", b"---\nname: bad\n");
    library.sync();
    let output = library.skilldb(&["show", "bad"]).output().unwrap();
    assert_eq!(
        output.stdout,
        b"---\nname: bad\n",
        "{}",
        library.told(&output)
    );
}

/// `tools/deploy` with two files beside it.
fn with_files() -> Library {
    let library = Library::new();
    let text = b"---\nname: deploy\ndescription: Ships it\nlicense: MIT\nallowed-tools: Bash(git:*) Read\n\
        argument-hint: '[env]'\nmetadata:\n  team: web\n  hermes:\n    tags: [ops, web]\n    requires_tools: [terminal]\n\
        flavour: sweet\n---\n\n# Steps\n";
    library.write("skills/tools/deploy/SKILL.md", text);
    library.write("skills/tools/deploy/references/style.md", b"Be brief.\n");
    library.write("skills/tools/deploy/scripts/run.sh", b"#!/bin/sh\n");
    library.sync();
    library
}
