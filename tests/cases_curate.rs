//! The shared cases about ageing and merging as stories: Hermes homes taken over by the built binary, held against
//! each case's `expected.json`.

#![expect(
    clippy::unwrap_used,
    reason = "what cannot be arranged is a failed test"
)]

mod common;
#[path = "common/tree.rs"]
mod trees;

use std::collections::BTreeMap;
use std::fs;

use common::{Case, Library, strings};
use serde_json::{Value, json};
use skilldb::time::Timestamp;
use trees::tree;

/// Case 20 in a library: its table of ages becomes the sidecar of its home, counted from now.
fn table() -> (Library, Case) {
    let library = Library::new();
    let case = library.case(20);
    let now = Timestamp::parse(common::NOW).unwrap();
    let table = fs::read_to_string(case.dir.join("input/records.csv")).unwrap();
    let mut lines = table.lines();
    let keys: Vec<&str> = lines.next().unwrap().split(',').collect();
    let mut records = serde_json::Map::new();
    for line in lines {
        let row: BTreeMap<&str, &str> = keys.iter().copied().zip(line.split(',')).collect();
        let at = |key: &str| match (row[key], row[key].parse::<i64>()) {
            ("", _) => Value::Null,
            (_, Ok(days)) => json!(now.days_before(days).to_string()),
            (text, Err(_)) => json!(text),
        };
        let count = |key: &str| row[key].parse::<u64>().unwrap();
        let maker = if row["created_by"].is_empty() {
            Value::Null
        } else {
            json!(row["created_by"])
        };
        records.insert(
            row["name"].to_owned(),
            json!({"created_by": maker, "use_count": count("use_count"), "view_count": count("view_count"),
                   "patch_count": count("patch_count"), "last_used_at": at("used_days_ago"), "last_viewed_at": at("viewed_days_ago"),
                   "last_patched_at": at("patched_days_ago"), "created_at": at("created_days_ago"), "state": row["state"],
                   "pinned": row["pinned"] == "1", "archived_at": null}),
        );
    }
    library.write(
        "case/input/home/skills/.usage.json",
        Value::Object(records).to_string().as_bytes(),
    );
    let external = case.dir.join("input/external").display().to_string();
    let config = fs::read_to_string(case.dir.join("input/home/config.yaml")).unwrap();
    library.write(
        "case/input/home/config.yaml",
        config.replace("../external", &external).as_bytes(),
    );
    library.json(&["import", "hermes", "case/input/home"]);
    (library, case)
}

/// What happens to which skill, in the words of the case.
fn outcomes(skills: &Value) -> (Value, Vec<String>) {
    let mut transitions = BTreeMap::new();
    let mut kept = Vec::new();
    for skill in skills.as_array().unwrap() {
        let name = skill["name"].as_str().unwrap().to_owned();
        assert!(!skill["reason"].as_str().unwrap().is_empty(), "{skill}");
        match skill["outcome"].as_str().unwrap() {
            "keep" => kept.push(name),
            outcome => drop(transitions.insert(name, outcome.to_owned())),
        }
    }
    kept.sort();
    (json!(transitions), kept)
}

#[test]
fn case_20_a_dry_run_names_every_row_and_changes_nothing() {
    let (library, case) = table();
    let (files, states) = (
        tree(&case.dir),
        library.sql("SELECT id, state FROM skill ORDER BY id"),
    );
    let planned = library.json(&["curate", "--dry-run"]);
    let (transitions, kept) = outcomes(&planned["skills"]);
    assert_eq!(transitions, case.expected["transitions"]);
    let mut wanted: Vec<&str> = case.expected["keep"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(Value::as_str)
        .collect();
    wanted.sort_unstable();
    assert_eq!(kept, wanted);
    assert_eq!(
        json!(strings(&planned["orphans"], "name")),
        case.expected["orphans"]
    );
    assert!(files == tree(&case.dir), "a file was changed");
    assert_eq!(
        states,
        library.sql("SELECT id, state FROM skill ORDER BY id")
    );
}

#[test]
fn case_20_every_reason_is_the_one_of_the_table() {
    let (library, _) = table();
    let planned = library.json(&["curate", "--dry-run"]);
    for (name, words) in [
        ("csv-clean", "used 10 d ago"),
        ("log-triage", "used 30 d ago"),
        ("old-deploy", "used 91 d ago"),
        ("skip-ahead", "used 120 d ago"),
        ("woke-up", "used 2 d ago, while stale"),
        ("pinned-relic", "is pinned"),
        ("hand-made", "was made by a person"),
        ("hub-linter", "was installed from a hub"),
        (
            "cron-report",
            "is named by an automation: job `monthly numbers`",
        ),
        ("fresh-unused", "never used, 12 d old"),
        ("old-unused", "never used, 45 d old"),
        ("ancient-unused", "never used, 100 d old"),
        ("viewed-only", "viewed 5 d ago"),
        ("patched-lately", "changed 1 d ago"),
        ("bad-clock", "made 20 d ago"),
        ("from-tomorrow", "used in the future"),
        ("external-tool", "belongs to somebody else"),
    ] {
        let skills = planned["skills"].as_array().unwrap();
        let skill = skills.iter().find(|skill| skill["name"] == name).unwrap();
        let reason = skill["reason"].as_str().unwrap();
        assert!(reason.starts_with(words), "{name}: {reason}");
        let is_odd = matches!(name, "bad-clock" | "from-tomorrow");
        assert_eq!(skill["notices"] != json!([]), is_odd, "{skill}");
    }
}

#[test]
fn case_20_a_run_does_the_same_moves_and_never_deletes() {
    let (library, case) = table();
    let before = tree(&case.dir);
    let planned = library.json(&["curate", "--dry-run"]);
    let ran = library.json(&["curate", "--force"]);
    assert_eq!(outcomes(&ran["skills"]).0, outcomes(&planned["skills"]).0);
    assert!(ran["snapshot"].is_number());
    let now = tree(&case.dir);
    let is_kept = |path: &String| {
        let archived = path.replace("/skills/", "/skills/.archive/");
        now.contains_key(path) || now.get(&archived) == before.get(path)
    };
    assert!(before.keys().all(is_kept), "a file is gone");
    library.json(&["undo", "--curator-run", "1"]);
    assert!(before == tree(&case.dir));
}

#[test]
fn case_23_what_points_at_two_skills_points_at_their_umbrella() {
    let library = Library::new();
    let case = library.case(23);
    library.json(&["import", "hermes", "case/input/home"]);
    let before = tree(&case.dir);
    let exit = i32::try_from(case.expected["bad_merge_exit"].as_i64().unwrap()).unwrap();
    for target in ["lint-js", "no-such-skill"] {
        library.json_exit(&["merge", "lint-js", "--into", target], exit);
    }
    assert!(before == tree(&case.dir));
    let told = library.json(&["merge", "lint-js", "format-js", "--into", "js-quality"]);
    let jobs: Value =
        serde_json::from_slice(&fs::read(case.dir.join("input/home/cron/jobs.json")).unwrap())
            .unwrap();
    let job = |id: &str| {
        jobs["jobs"]
            .as_array()
            .unwrap()
            .iter()
            .find(|job| job["id"] == id)
            .unwrap()
            .clone()
    };
    for (id, skills) in case.expected["jobs"].as_object().unwrap() {
        assert_eq!(&job(id)["skills"], skills, "{id}");
    }
    assert_eq!(job("j3")["skill"], "js-quality");
    assert_eq!(job("j5")["prompt"], "Says lint-js in its text only.");
    // The script moved with its skill, and the path in the job with it.
    let script = job("j4")["script"].as_str().unwrap().to_owned();
    assert!(
        case.dir.join("input/home").join(&script).is_file(),
        "{script}"
    );
    let weather = fs::read_to_string(case.dir.join("input/home/skills/weather/SKILL.md")).unwrap();
    assert!(
        weather.contains("related_skills: [js-quality]"),
        "{weather}\n{told}"
    );
    for (name, heir) in case.expected["absorbed"].as_object().unwrap() {
        let row = library.sql(&format!("SELECT from_state, to_state, reason, absorbed_into_name FROM v_transition WHERE name = '{name}'"));
        assert_eq!(
            row,
            format!("active\tarchived\tabsorbed\t{}", heir.as_str().unwrap())
        );
    }
    library.json(&["undo"]);
    assert!(before == tree(&case.dir), "the undo left something");
}
