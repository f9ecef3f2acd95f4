//! Skills that become part of another one, and what names a skill: through the binary, on real folders.

#![expect(
    clippy::unwrap_used,
    reason = "what cannot be arranged is a failed test"
)]

mod common;
#[path = "common/tree.rs"]
mod trees;

use std::fs;
use std::os::unix::fs::PermissionsExt;

use common::{Library, code, strings};
use serde_json::{Value, json};
use trees::tree;

const LINT: &str = "---\nname: lint-js\ndescription: Lints JavaScript\nallowed-tools: Bash\n---\n\n# Lint it\n\nRun `scripts/run.sh`, see [rules](references/rules.md#all).\n\n## More\n\n```sh\n# a comment\n```\n";

/// Two skills, the one they become part of, and what names them.
fn library() -> Library {
    let library = Library::new();
    library.write("skills/web/lint-js/SKILL.md", LINT.as_bytes());
    library.write(
        "skills/web/lint-js/scripts/run.sh",
        b"#!/bin/sh\necho lint\n",
    );
    fs::set_permissions(
        library.path("skills/web/lint-js/scripts/run.sh"),
        fs::Permissions::from_mode(0o755),
    )
    .unwrap();
    library.write(
        "skills/web/lint-js/references/rules.md",
        b"Back to [the skill](../SKILL.md).\n",
    );
    library.write(
        "skills/web/format-js/SKILL.md",
        b"---\nname: format-js\ndescription: Formats JavaScript\nrelated_skills: [lint-js]\n---\n\nRun `scripts/run.sh`.\n",
    );
    library.write(
        "skills/web/format-js/scripts/run.sh",
        b"#!/bin/sh\necho format\n",
    );
    library.write(
        "skills/js/SKILL.md",
        b"---\nname: js\ndescription: Keeps JavaScript fit\nrelated_skills: [lint-js, format-js, other]\n---\n\n# JS\n\nSee the `lint-js` skill, or ../web/lint-js/scripts/run.sh.\n",
    );
    library.write(
        "skills/other/SKILL.md",
        b"---\nname: other\ndescription: Says other things\nrelated_skills: [format-js, js, lint-js]\n---\n\nUse the `lint-js` skill, or /format-js.\nRead web/lint-js/references/rules.md and web/lint-js/gone.md.\nLint-js is a word.\n",
    );
    library.write("cron/jobs.json", b"{\"jobs\": [{\"id\": \"1\", \"skills\": [\"lint-js\", \"/format-js\", \"other\"], \"skill\": \"lint-js\"}]}");
    library.sync();
    library
}

fn text(library: &Library, path: &str) -> String {
    fs::read_to_string(library.path(path)).unwrap()
}

fn merge(library: &Library, flags: &[&str]) -> Value {
    library.json(&[&["merge", "lint-js", "format-js", "--into", "js"], flags].concat())
}

fn notes(told: &Value) -> String {
    told["notes"].to_string()
}

#[test]
fn whole_packages_move_and_everything_that_named_them_names_the_other() {
    let library = library();
    let before = tree(&library.dir().join("skills"));
    let jobs = text(&library, "cron/jobs.json");
    let told = merge(&library, &[]);
    assert_eq!(
        text(&library, "skills/js/SKILL.md"),
        "---\nname: js\ndescription: Keeps JavaScript fit\nrelated_skills: [other]\n---\n\n# JS\n\nSee the `lint-js` skill, or ./scripts/run.sh.\n\n## Lint it\n\nLints JavaScript\n\nRun `scripts/run.sh`, see [rules](references/rules.md#all).\n\n### More\n\n```sh\n# a comment\n```\n\n## format-js\n\nFormats JavaScript\n\nRun `scripts/format-js-run.sh`.\n"
    );
    // What had the same name has its skill's before its own; rights and links are kept.
    assert_eq!(
        text(&library, "skills/js/scripts/format-js-run.sh"),
        "#!/bin/sh\necho format\n"
    );
    let mode = fs::metadata(library.path("skills/js/scripts/run.sh"))
        .unwrap()
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o755);
    assert_eq!(
        text(&library, "skills/js/references/rules.md"),
        "Back to [the skill](../SKILL.md).\n"
    );
    assert_eq!(
        text(&library, "skills/other/SKILL.md"),
        "---\nname: other\ndescription: Says other things\nrelated_skills: [js]\n---\n\nUse the `js` skill, or /js.\nRead js/references/rules.md and web/lint-js/gone.md.\nLint-js is a word.\n"
    );
    assert_eq!(
        text(&library, "cron/jobs.json"),
        "{\"jobs\": [{\"id\": \"1\", \"skills\": [\"js\", \"other\"], \"skill\": \"js\"}]}"
    );
    let said = notes(&told);
    assert!(
        said.contains("`other` points at a file that is in no skill any more: SKILL.md:8 (path)"),
        "{said}"
    );
    assert!(
        said.contains("SKILL.md of `js` still speaks of `lint-js`: line 9"),
        "{said}"
    );
    assert!(
        said.contains("`lint-js` says in its header: allowed-tools"),
        "{said}"
    );
    let moved = library.sql("SELECT name, from_state, to_state, reason, absorbed_into_name FROM v_transition ORDER BY id");
    assert_eq!(
        moved,
        "lint-js\tactive\tarchived\tabsorbed\tjs\nformat-js\tactive\tarchived\tabsorbed\tjs"
    );
    assert!(
        library
            .path("skills/.archive/web/lint-js/scripts/run.sh")
            .is_file()
    );
    // One change, one undo, and the same again.
    let merged = tree(&library.dir().join("skills"));
    library.json(&["undo"]);
    assert!(
        before == tree(&library.dir().join("skills")) && jobs == text(&library, "cron/jobs.json")
    );
    assert_eq!(library.sql("SELECT count(absorbed_into) FROM v_skill"), "0");
    library.json(&["undo", "3"]);
    assert!(merged == tree(&library.dir().join("skills")));
    assert_eq!(library.sql("SELECT count(absorbed_into) FROM v_skill"), "2");
    assert_eq!(library.json(&["doctor"])["healthy"], true);
}

#[test]
fn a_text_can_become_a_file_beside_the_other() {
    let library = library();
    merge(&library, &["--reference"]);
    let umbrella = text(&library, "skills/js/SKILL.md");
    assert!(
        umbrella.ends_with("\n\n## References\n\n- [Lint it](references/lint-js.md): Lints JavaScript\n- [format-js](references/format-js.md): Formats JavaScript\n"),
        "{umbrella}"
    );
    assert_eq!(
        text(&library, "skills/js/references/lint-js.md"),
        "# Lint it\n\nLints JavaScript\n\nRun `scripts/run.sh`, see [rules](rules.md#all).\n\n## More\n\n```sh\n# a comment\n```\n"
    );
    assert_eq!(
        text(&library, "skills/js/references/rules.md"),
        "Back to [the skill](lint-js.md).\n"
    );
}

#[test]
fn nothing_moves_where_the_other_says_it_already() {
    let library = library();
    let told = merge(&library, &["--none"]);
    assert!(!library.path("skills/js/scripts").exists());
    assert!(text(&library, "skills/other/SKILL.md").contains("web/lint-js/references/rules.md"));
    assert!(
        notes(&told).contains("points at a file that is in no skill any more"),
        "{told}"
    );
    assert_eq!(library.listed(&[]), ["js", "other"]);
}

#[test]
fn uses_of_what_was_absorbed_count_for_the_other_along_the_chain() {
    let library = library();
    for (name, event, now) in [
        ("lint-js", "a", "2026-03-01T00:00:00.000Z"),
        ("format-js", "b", "2026-02-01T00:00:00.000Z"),
    ] {
        let mut command = library.skilldb(&["record", "use", name, "--event-id", event]);
        command.env("SKILLDB_NOW", now).output().unwrap();
    }
    library.json(&["merge", "lint-js", "--into", "format-js"]);
    let told = library.json(&["merge", "format-js", "--into", "js"]);
    assert_eq!(
        library.sql("SELECT use_count, inherited_use_count FROM v_skill WHERE name = 'js'"),
        "0\t2"
    );
    let anchor = "SELECT anchor_at, anchor FROM v_curation WHERE name = 'js'";
    assert_eq!(library.sql(anchor), "2026-03-01T00:00:00.000Z\tabsorbed");
    assert!(
        !library
            .json(&["sql", "never-used"])
            .to_string()
            .contains("\"js\"")
    );
    // Whoever still names the first one names the last one now.
    let other = text(&library, "skills/other/SKILL.md");
    assert!(other.contains("related_skills: [js]"), "{other}\n{told}");
    // A skill that was absorbed stands for whatever has it.
    library.skill("late", "Came later.");
    library.sync();
    let output = library
        .skilldb(&["merge", "late", "--into", "lint-js"])
        .output()
        .unwrap();
    let said = library.told(&output);
    assert!(
        code(&output) == 0 && said.contains("was absorbed into `js`: merging into that"),
        "{said}"
    );
    let refused = library.json_exit(&["merge", "js", "--into", "lint-js"], 2);
    assert!(
        refused["error"]["message"]
            .as_str()
            .unwrap()
            .contains("into itself"),
        "{refused}"
    );
}

#[test]
fn what_makes_no_sense_is_refused_and_changes_nothing() {
    let library = library();
    let before = tree(&library.dir().join("skills"));
    for (words, exit, code) in [
        (&["js", "--into", "js"][..], 2, "usage"),
        (&["js", "--into", "jss"], 2, "usage"),
        (&["lint-js", "lint-js", "--into", "js"], 2, "usage"),
        (&["nope", "--into", "js"], 2, "usage"),
    ] {
        let told = library.json_exit(&[&["merge"], words].concat(), exit);
        assert_eq!(told["error"]["code"], code, "{told}");
    }
    let hint = library.json_exit(&["merge", "other", "--into", "jss"], 2);
    assert_eq!(hint["error"]["hint"], "did you mean `js`?");
    library.json(&["archive", "lint-js"]);
    assert_eq!(
        library.json_exit(&["merge", "lint-js", "--into", "js"], 1)["error"]["code"],
        "archived-already"
    );
    library.json(&["undo"]);
    assert!(before == tree(&library.dir().join("skills")));
}

#[test]
fn an_agent_asks_before_it_merges_what_a_person_made() {
    let library = library();
    library.json(&["adopt", "lint-js", "--as", "user"]);
    library.json(&["adopt", "format-js", "--as", "agent"]);
    let asked = library.json(&["merge", "lint-js", "--into", "js", "--actor", "agent"]);
    assert_eq!(asked["outcome"], "proposed");
    let done = library.json(&["merge", "format-js", "--into", "js", "--actor", "agent"]);
    assert_eq!(done["outcome"], "applied");
    // The file it was asked for says something else now.
    let told = library.json_exit(&["proposals", "approve", "1"], 1);
    assert_eq!(
        told["results"][0]["error"]["code"]
            .as_str()
            .or(told["error"]["code"].as_str()),
        Some("conflict")
    );
    let refused = library.json_exit(
        &["merge", "lint-js", "--into", "js", "--actor", "curator"],
        1,
    );
    assert_eq!(refused["error"]["code"], "not-made-by-agents");
}

#[test]
fn what_names_a_skill_is_listed_with_file_and_line() {
    let library = library();
    let found = library.json(&["refs", "lint-js"]);
    let places = found["references"].as_array().unwrap();
    let told: Vec<String> = places
        .iter()
        .map(|place| {
            let path = place["path"]
                .as_str()
                .unwrap()
                .rsplit("skills/")
                .next()
                .unwrap();
            let path = path.rsplit("/cron/").next().unwrap();
            format!(
                "{path}:{} {}",
                place["line"],
                place["kind"].as_str().unwrap()
            )
        })
        .collect();
    assert_eq!(
        told,
        [
            "web/format-js/SKILL.md:4 value",
            "js/SKILL.md:4 value",
            "js/SKILL.md:9 mention",
            "js/SKILL.md:9 path",
            "other/SKILL.md:4 value",
            "other/SKILL.md:7 mention",
            "other/SKILL.md:8 path",
            "other/SKILL.md:8 path",
            "jobs.json:1 value",
        ]
    );
    assert!(places.iter().all(|place| place["rewritten"] == json!(true)));
    merge(&library, &[]);
    let after = library.json(&["refs", "lint-js"]);
    assert_eq!(
        (&after["state"], &after["absorbed_into"]),
        (&json!("archived"), &json!("js"))
    );
    let left = strings(&after["references"], "text");
    assert_eq!(
        left,
        [
            "See the `lint-js` skill, or ./scripts/run.sh.",
            "Read js/references/rules.md and web/lint-js/gone.md."
        ]
    );
    assert_eq!(
        library.json_exit(&["refs", "nobody"], 1)["error"]["code"],
        "skill-not-found"
    );
}

#[test]
fn a_rename_rewrites_the_jobs_of_a_home_by_their_structure() {
    let library = library();
    library.json(&["rename", "lint-js", "linting"]);
    assert_eq!(
        text(&library, "cron/jobs.json"),
        "{\"jobs\": [{\"id\": \"1\", \"skills\": [\"linting\", \"/format-js\", \"other\"], \"skill\": \"linting\"}]}"
    );
    library.write("cron/jobs.json", b"{\"jobs\": [");
    let told = library.json(&["rename", "linting", "lint-js"]);
    assert!(
        notes(&told).contains("jobs.json was not looked into: line 1"),
        "{told}"
    );
}

#[test]
fn what_still_names_a_skill_that_is_put_away_is_said() {
    let library = library();
    let told = library.run(&["archive", "lint-js"]);
    assert!(
        told.contains("Still named in 9 places: `skilldb refs lint-js` lists"),
        "{told}"
    );
    let told = library.run(&["archive", "other"]);
    assert!(told.contains("Still named in 2 places"), "{told}");
}
