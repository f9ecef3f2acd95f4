//! The shared cases about changes as stories, held against each case's `expected.json`.

#![expect(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "what cannot be arranged is a failed test, and a case writes its own files"
)]

mod common;

use std::fs;

use common::{Case, Library, code, strings};
use serde_json::{Value, json};

fn with_case(number: u32) -> (Library, Case) {
    let library = Library::new();
    let case = library.case(number);
    (library, case)
}

// Case 22: out of the archive.

fn archive() -> (Library, Case, String) {
    let (library, case) = with_case(22);
    let root = case
        .dir
        .join("input/home/skills")
        .to_str()
        .unwrap()
        .to_owned();
    library.json(&["sync", &root]);
    (library, case, root)
}

#[test]
fn case_22_a_name_that_is_only_the_beginning_restores_nothing() {
    let (library, case, root) = archive();
    let exit = i32::try_from(case.expected["restore_git_exit"].as_i64().unwrap()).unwrap();
    let told = library.json_exit(&["restore", "git"], exit);
    assert_eq!(told["error"]["message"], "no archived skill `git`");
    for name in strings_of(&case.expected["still_archived_after"]) {
        assert!(
            fs::metadata(format!("{root}/.archive/{name}/SKILL.md"))
                .unwrap()
                .is_file()
        );
    }
}

fn strings_of(list: &Value) -> Vec<String> {
    list.as_array()
        .unwrap()
        .iter()
        .map(|name| name.as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn case_22_the_archive_is_listed_by_name_and_time() {
    let (library, case, _) = archive();
    let listed = library.json(&["list", "--archived"]);
    let mut names = strings(&listed["skills"], "name");
    names.sort();
    assert_eq!(json!(names), case.expected["archived_names"]);
    let skills = listed["skills"].as_array().unwrap();
    let mut times: Vec<&str> = skills
        .iter()
        .filter(|skill| skill["name"] == "notes")
        .map(|skill| skill["archived_at"].as_str().unwrap())
        .collect();
    times.sort_unstable();
    assert_eq!(
        times,
        ["2026-01-01T09:30:00.000Z", "2026-03-05T18:00:00.000Z"]
    );
}

#[test]
fn case_22_of_two_copies_the_id_says_which() {
    let (library, _, root) = archive();
    let told = library.json_exit(&["restore", "notes"], 2);
    let candidates = told["error"]["candidates"].as_array().unwrap();
    assert_eq!(candidates.len(), 2);
    let newer = candidates
        .iter()
        .find(|one| one["path"].as_str().unwrap().ends_with("20260305180000"))
        .unwrap();
    let id = format!("#{}", newer["id"]);
    library.json(&["restore", &id]);
    assert!(fs::metadata(format!("{root}/notes/SKILL.md")).is_ok());
    assert!(fs::metadata(format!("{root}/.archive/notes-20260101093000/SKILL.md")).is_ok());
    assert!(fs::metadata(format!("{root}/.archive/notes-20260305180000")).is_err());
    // The other copy stays: a live skill has its name now.
    let told = library.json_exit(&["restore", "notes"], 1);
    assert_eq!(told["error"]["code"], "name-taken");
}

#[test]
fn case_22_a_nested_one_comes_back_into_its_category() {
    let (library, case, root) = archive();
    library.json(&["restore", "paper-scan"]);
    let place = case.expected["restored_path"]["paper-scan"]
        .as_str()
        .unwrap();
    assert!(fs::metadata(format!("{root}/{place}/SKILL.md")).is_ok());
    assert!(fs::metadata(format!("{root}/.archive/research")).is_err());
}

#[test]
fn case_22_a_second_archive_of_a_name_keeps_both_and_nothing_is_overwritten() {
    let (library, case, root) = archive();
    let before = fs::read(format!("{root}/diary/SKILL.md")).unwrap();
    let archived = library.json(&["list", "--archived"]);
    let old = archived["skills"]
        .as_array()
        .unwrap()
        .iter()
        .find(|skill| skill["name"] == "diary")
        .unwrap();
    let id = format!("#{}", old["id"]);
    let told = library.json_exit(&["restore", &id], 1);
    assert_eq!(told["error"]["code"], "name-taken");
    assert_eq!(fs::read(format!("{root}/diary/SKILL.md")).unwrap(), before);
    library.json(&["archive", "diary"]);
    let listed = library.json(&["list", "--archived"]);
    let copies = strings(&listed["skills"], "name")
        .iter()
        .filter(|name| *name == "diary")
        .count();
    assert_eq!(json!(copies), case.expected["diary_copies_after_archive"]);
    let old = fs::read(format!("{root}/.archive/diary/SKILL.md")).unwrap();
    assert_ne!(old, before);
}

// Case 29: patches whose old text is nearly right.

#[test]
fn case_29_every_patch_ends_as_it_has_to_and_is_in_the_history() {
    let (library, case) = with_case(29);
    let ops: Value =
        serde_json::from_slice(&fs::read(case.dir.join("input/ops.json")).unwrap()).unwrap();
    let file = case.skills.join("set-up-db/SKILL.md");
    let original = fs::read_to_string(&file).unwrap();
    library.json(&["sync", case.root()]);
    for op in ops.as_array().unwrap() {
        let name = op["op"].as_str().unwrap();
        fs::write(&file, &original).unwrap();
        let args = [
            "patch",
            "set-up-db",
            "--old",
            op["old"].as_str().unwrap(),
            "--new",
            op["new"].as_str().unwrap(),
            "--json",
        ];
        let output = library.skilldb(&args).output().unwrap();
        let told: Value = serde_json::from_slice(&output.stdout).unwrap();
        let text = fs::read_to_string(&file).unwrap();
        let code = told["error"]["code"].as_str();
        let expected = case.expected[name].as_str().unwrap();
        match expected {
            "applied" => {
                assert_eq!(told["outcome"], "applied", "{name}: {told}");
                assert_ne!(text, original, "{name}");
                assert!(!text.contains('\r'), "{name}");
            }
            "refused" => {
                assert_eq!(code, Some("name-charset"), "{name}: {told}");
                assert_eq!(text, original, "{name}");
            }
            word => {
                assert_eq!(code, Some(word), "{name}: {told}");
                assert_eq!(text, original, "{name}");
            }
        }
        let exit = match expected {
            "applied" => 0,
            "bad-request" => 2,
            _ => 1,
        };
        assert_eq!(common::code(&output), exit, "{name}");
        match name {
            "a" => {
                let lines: Vec<u64> = told["error"]["places"]
                    .as_array()
                    .unwrap()
                    .iter()
                    .map(|place| place["line"].as_u64().unwrap())
                    .collect();
                assert_eq!(lines, [12, 19]);
            }
            "b" => assert_eq!(told["change"]["strategy"], "exact"),
            "c" => assert_eq!(told["change"]["strategy"], "line_trimmed"),
            "g" => {
                let place = &told["error"]["places"][0];
                let shown = strings_of(&place["lines"]).join("\n");
                assert!(shown.contains("3. Make the tables."), "{told}");
            }
            _ => {}
        }
    }
    let rows = library.sql("SELECT count(*) FROM v_patch_history WHERE action = 'patch'");
    assert_eq!(rows, case.expected["history_rows"].to_string());
    let missed = library.sql("SELECT group_concat(problem, ' ') FROM (SELECT problem FROM v_patch_history WHERE action = 'patch' AND outcome = 'failed' ORDER BY change_id)");
    assert_eq!(
        missed,
        "ambiguous bad-request bad-request not-found name-charset"
    );
}

#[test]
fn case_29_a_dry_run_shows_the_diff_and_writes_nothing() {
    let (library, case) = with_case(29);
    library.json(&["sync", case.root()]);
    let before = fs::read(case.skills.join("set-up-db/SKILL.md")).unwrap();
    let args = [
        "patch",
        "set-up-db",
        "--old",
        "3. Make the tables.",
        "--new",
        "3. Make them.",
        "--dry-run",
    ];
    let output = library.skilldb(&args).output().unwrap();
    assert_eq!(code(&output), 0);
    let told = String::from_utf8(output.stdout).unwrap();
    assert!(
        told.contains("-3. Make the tables.\n+3. Make them.\n"),
        "{told}"
    );
    assert_eq!(
        fs::read(case.skills.join("set-up-db/SKILL.md")).unwrap(),
        before
    );
    assert_eq!(
        library.sql("SELECT count(*) FROM v_patch_history WHERE action = 'patch'"),
        "0"
    );
}

// The history part of case 19: an edit that leaves size and time unchanged.

#[test]
fn case_19_the_edit_is_in_the_history_with_both_texts() {
    let (library, case) = with_case(19);
    library.json(&["sync", case.root()]);
    case.set_up();
    library.json(&["sync", case.root()]);
    let diff = library.run(&["diff", "port-check"]);
    let (before, after) = (
        &case.expected["before"]["description"],
        &case.expected["after"]["description"],
    );
    assert!(
        diff.contains(&format!("-description: {}", before.as_str().unwrap())),
        "{diff}"
    );
    assert!(
        diff.contains(&format!("+description: {}", after.as_str().unwrap())),
        "{diff}"
    );
    let rows = library.sql("SELECT count(*) FROM v_patch_history");
    library.json(&["sync", case.root()]);
    assert_eq!(library.sql("SELECT count(*) FROM v_patch_history"), rows);
    let newest = library.json(&["log", "port-check"])["changes"][0]["id"].to_string();
    library.json(&["undo", &newest]);
    assert_eq!(
        library.json(&["show", "port-check"])["skill"]["description"],
        *before
    );
}
