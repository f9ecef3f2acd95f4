//! Packages that are hard to merge: files in each other's way, links in every direction, names in odd places.

#![expect(
    clippy::unwrap_used,
    reason = "what cannot be arranged is a failed test"
)]

mod common;
#[path = "common/tree.rs"]
mod trees;

use std::fs;
use std::os::unix::fs::PermissionsExt;

use common::Library;
use serde_json::Value;
use trees::tree;

fn skill(library: &Library, path: &str, body: &str) {
    let name = path.rsplit('/').next().unwrap();
    let text = format!("---\nname: {name}\ndescription: Does it.\n---\n\n{body}\n");
    library.write(&format!("skills/{path}/SKILL.md"), text.as_bytes());
}

fn text(library: &Library, path: &str) -> String {
    fs::read_to_string(library.path(path)).unwrap()
}

/// Merges, takes that back, and looks whether everything is what it was; then merges again.
fn merge(library: &Library, parts: &[&str], flags: &[&str]) -> Value {
    let before = tree(library.dir());
    let words = [&["merge"], parts, &["--into", "u"], flags].concat();
    library.json(&words);
    library.json(&["undo"]);
    let skills = |files: &trees::Tree| -> trees::Tree {
        files
            .iter()
            .filter(|(path, _)| !path.starts_with("data"))
            .map(|(path, what)| (path.clone(), what.clone()))
            .collect()
    };
    assert!(
        skills(&before) == skills(&tree(library.dir())),
        "an undo left something"
    );
    library.json(&words)
}

#[test]
fn files_that_say_the_same_until_their_links_are_right_get_places_of_their_own() {
    let library = Library::new();
    for name in ["a", "b"] {
        skill(&library, name, "See [x](references/x.md).");
        library.write(
            &format!("skills/{name}/references/x.md"),
            b"[s](../scripts/run.sh)\n",
        );
        library.write(
            &format!("skills/{name}/scripts/run.sh"),
            format!("echo {name}\n").as_bytes(),
        );
    }
    skill(&library, "u", "# U");
    library.sync();
    merge(&library, &["a", "b"], &[]);
    assert_eq!(
        text(&library, "skills/u/references/x.md"),
        "[s](../scripts/run.sh)\n"
    );
    assert_eq!(
        text(&library, "skills/u/references/b-x.md"),
        "[s](../scripts/b-run.sh)\n"
    );
    let umbrella = text(&library, "skills/u/SKILL.md");
    assert!(
        umbrella.contains("(references/x.md)") && umbrella.contains("(references/b-x.md)"),
        "{umbrella}"
    );
}

#[test]
fn what_stands_in_the_way_is_gone_around() {
    let library = Library::new();
    skill(&library, "a", "Look into data, run scripts/run.sh.");
    library.write("skills/a/data", b"A file.\n");
    library.write("skills/a/references/Guide.md", b"A's.\n");
    let script = library.write("skills/a/scripts/run.sh", b"#!/bin/sh\n");
    fs::set_permissions(script, fs::Permissions::from_mode(0o755)).unwrap();
    skill(&library, "b", "See data/x.md.");
    library.write("skills/b/data/x.md", b"A folder.\n");
    library.write("skills/b/references/guide.md", b"B's.\n");
    skill(&library, "u", "# U");
    library.write("skills/u/scripts/run.sh", b"#!/bin/sh\n");
    library.sync();
    merge(&library, &["a", "b"], &[]);
    let found = tree(&library.path("skills/u"));
    let files: Vec<&String> = found
        .iter()
        .filter(|(_, what)| what.0 == 'f')
        .map(|(path, _)| path)
        .collect();
    assert_eq!(
        files,
        [
            "SKILL.md",
            "b-data-x.md",
            "data",
            "references/Guide.md",
            "references/b-guide.md",
            "scripts/a-run.sh",
            "scripts/run.sh"
        ]
    );
    assert_eq!(
        (found["scripts/a-run.sh"].1, found["scripts/run.sh"].1),
        (0o755, 0o644)
    );
    let umbrella = text(&library, "skills/u/SKILL.md");
    assert!(
        umbrella.contains("run scripts/a-run.sh") && umbrella.contains("See b-data-x.md"),
        "{umbrella}"
    );
}

#[test]
fn links_to_other_skills_lead_where_they_led() {
    let library = Library::new();
    skill(
        &library,
        "web/a",
        "[w](../../weather/SKILL.md), [b](../b/SKILL.md), ../b/scripts/y.sh, ~/none, ${CLAUDE_SKILL_DIR}/scripts/x.sh",
    );
    library.write(
        "skills/web/a/scripts/x.sh",
        b". \"$(dirname \"$0\")/../lib/util.sh\"\n",
    );
    library.write("skills/web/a/lib/util.sh", b"true\n");
    skill(&library, "web/b", "B.");
    library.write("skills/web/b/scripts/y.sh", b"true\n");
    skill(&library, "weather", "W.");
    skill(&library, "u", "# U\n\nRun ../web/a/scripts/gone.sh.");
    library.sync();
    let told = merge(&library, &["a", "b"], &[]);
    let umbrella = text(&library, "skills/u/SKILL.md");
    assert!(
        umbrella.contains("[w](../weather/SKILL.md), [b](./SKILL.md), ./scripts/y.sh, ~/none, ${CLAUDE_SKILL_DIR}/scripts/x.sh"),
        "{umbrella}"
    );
    assert_eq!(
        text(&library, "skills/u/scripts/x.sh"),
        ". \"$(dirname \"$0\")/../lib/util.sh\"\n"
    );
    let notes = told["notes"].to_string();
    assert!(
        notes.contains("SKILL.md of `u` points at a file that is in no skill any more: line 8"),
        "{notes}"
    );
}

#[test]
fn a_name_that_only_the_parts_have_is_rewritten() {
    let library = Library::new();
    skill(&library, "x/a", "One.");
    skill(&library, "y/a", "Another.");
    skill(&library, "u", "# U");
    library.write("skills/other/SKILL.md", b"---\nname: other\ndescription: Does it.\nrelated_skills: [a]\ntags: [u, u]\n---\n\nUse the a skill.\n");
    library.sync();
    merge(&library, &["x/a", "y/a"], &[]);
    let other = text(&library, "skills/other/SKILL.md");
    assert!(
        other.contains("related_skills: [u]\ntags: [u, u]\n") && other.contains("Use the u skill."),
        "{other}"
    );
}

#[test]
fn no_undo_makes_a_circle() {
    let library = Library::new();
    for name in ["u", "b"] {
        skill(&library, name, "# Text");
    }
    library.sync();
    library.json(&["merge", "b", "--into", "u"]);
    library.json(&["undo", "2"]);
    library.json(&["merge", "u", "--into", "b"]);
    let refused = library.json_exit(&["undo", "3"], 1);
    assert_eq!(refused["error"]["code"], "heir-archived", "{refused}");
    assert_eq!(library.listed(&[]), ["b"]);
}

#[test]
fn jobs_that_were_written_meanwhile_stay_and_are_told() {
    let library = Library::new();
    skill(&library, "a", "A.");
    skill(&library, "u", "# U");
    library.write(
        "cron/jobs.json",
        b"{\"jobs\": [{\"id\": \"1\", \"skills\": [\"a\"], \"prompt\": \"Go.\\n/a now\"}]}",
    );
    library.sync();
    library.json(&["merge", "a", "--into", "u"]);
    let jobs = text(&library, "cron/jobs.json");
    assert!(
        jobs.contains("\"skills\": [\"u\"], \"skill\": \"u\"") && jobs.contains("Go.\\n/u now"),
        "{jobs}"
    );
    library.write(
        "cron/jobs.json",
        b"{\"jobs\": [{\"id\": \"1\", \"skills\": [\"u\"], \"last\": 7}]}",
    );
    let told = library.json(&["undo"]);
    assert!(
        told["notes"]
            .to_string()
            .contains("was changed since and is left as it is"),
        "{told}"
    );
    assert!(text(&library, "cron/jobs.json").contains("\"last\": 7"));
    assert_eq!(library.listed(&[]), ["a", "u"]);
}

#[test]
fn what_is_left_of_a_name_is_told_with_its_line() {
    let library = Library::new();
    skill(&library, "lint-js", "A.");
    skill(&library, "u", "# U");
    library.write(
        "skills/other/SKILL.md",
        b"---\nname: other\ndescription: Runs lint-js first\n---\n\nText.\n",
    );
    library.write("nightly.toml", b"[lint-js]\nskills = [\"lint-js\"]\n[u]\n");
    library.write("nightly.sh", b"agent -s lint-js\n");
    library.write(
        "data/config.yaml",
        b"automations: [../nightly.toml, ../nightly.sh]\n",
    );
    library.sync();
    let told = merge(&library, &["lint-js"], &[]);
    assert_eq!(
        text(&library, "nightly.toml"),
        "[lint-js]\nskills = [\"u\"]\n[u]\n"
    );
    let notes = told["notes"].to_string();
    for words in [
        "the header of `other` still says `lint-js`: line 3",
        "nightly.toml still says `lint-js`: line 1",
        "nightly.sh still says `lint-js`: line 1",
    ] {
        assert!(notes.contains(words), "{words}: {notes}");
    }
}
