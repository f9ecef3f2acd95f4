//! When the curator runs: its gates, a pause, the configuration, what automations name, several at once.

#![expect(
    clippy::unwrap_used,
    reason = "what cannot be arranged is a failed test"
)]

#[path = "common/aged.rs"]
mod aged;
mod common;

use aged::{after, at, at_exit, library, outcomes, states};
use common::code;
use serde_json::{Value, json};
use skilldb::time::Timestamp;

#[test]
fn taking_a_run_back_does_not_make_the_next_one_due() {
    let library = library();
    at(&library, 100, &["curate", "--force"]);
    at(&library, 101, &["undo", "--curator-run", "1"]);
    let waits = at(&library, 104, &["curate"]);
    assert_eq!(waits["ran"], false);
    let status = at(&library, 104, &["curate", "status"]);
    let closed: Vec<&Value> = status["gates"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|gate| gate["open"] == false)
        .collect();
    assert_eq!(closed.len(), 1);
    assert_eq!(
        (&closed[0]["gate"], &closed[0]["opens_at"]),
        (&json!("interval"), &json!(after(107)))
    );
}

#[test]
fn the_first_run_marks_the_time_and_the_next_waits_for_the_interval_and_for_peace() {
    let library = library();
    assert_eq!(at(&library, 100, &["curate"])["marked"], true);
    assert_eq!(states(&library)["old"], "active");
    let output = library
        .skilldb(&["curate"])
        .env("SKILLDB_NOW", after(106))
        .output()
        .unwrap();
    let told = library.told(&output);
    assert!(told.contains("interval: every 168 h: not before"), "{told}");
    assert_eq!(code(&output), 0);
    // Somebody is at work, with a skill that is not even installed.
    let working =
        Timestamp::from_millis(Timestamp::parse(&after(107)).unwrap().millis() - 3_600_000);
    library
        .skilldb(&["record", "use", "unheard-of", "--event-id", "w"])
        .env("SKILLDB_NOW", working.to_string())
        .output()
        .unwrap();
    let waits = at(&library, 107, &["curate"]);
    let closed: Vec<&Value> = waits["gates"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|gate| gate["open"] == false)
        .collect();
    assert_eq!(closed[0]["gate"], "idle");
    // A review in the background is no work.
    at(
        &library,
        108,
        &[
            "record",
            "use",
            "late",
            "--actor",
            "background_review",
            "--event-id",
            "b",
        ],
    );
    let ran = at(&library, 108, &["curate"]);
    assert_eq!(
        (&ran["ran"], &ran["totals"]["archive"]),
        (&json!(true), &json!(3))
    );
    assert_eq!(
        library.sql("SELECT status FROM v_curator_run ORDER BY id"),
        "marked\ndone"
    );
}

#[test]
fn a_pause_holds_until_a_person_takes_it_off() {
    let library = library();
    at(&library, 90, &["curate"]);
    at(
        &library,
        91,
        &["curate", "pause", "--reason", "release week"],
    );
    assert_eq!(at(&library, 100, &["curate"])["ran"], false);
    let status = at(&library, 100, &["curate", "status"]);
    assert_eq!(
        status["gates"][1]["why"],
        format!("paused by user since {}: release week", after(91))
    );
    for command in [&["curate", "resume"][..], &["curate", "--force"]] {
        let refused = at_exit(&library, 100, &[command, &["--actor", "agent"]].concat(), 1);
        assert_eq!(refused["error"]["code"], "only-a-person");
    }
    at(&library, 100, &["curate", "resume"]);
    assert_eq!(at(&library, 100, &["curate"])["ran"], true);
}

#[test]
fn force_says_which_gates_it_overrides() {
    let library = library();
    library.write("data/config.yaml", b"curator: {enabled: false}\n");
    at(&library, 99, &["curate", "pause"]);
    assert_eq!(at(&library, 100, &["curate"])["ran"], false);
    let ran = at(&library, 100, &["curate", "--force"]);
    assert_eq!(ran["forced"], json!(["enabled", "paused", "first-run"]));
    assert_eq!(
        library.sql("SELECT forced FROM v_curator_run"),
        "enabled, paused, first-run"
    );
}

#[test]
fn the_configuration_says_how_fast_what_ages() {
    let library = library();
    library.write(
        "skills/late/SKILL.md",
        b"---\nname: late\ndescription: Does a thing.\ntags: [seasonal]\n---\n",
    );
    library.sync();
    library.json(&["release", "late"]);
    library.write(
        "data/config.yaml",
        b"curator:\n  stale_after_days: 10\n  archive_after_days: 20\n  categories:\n    ops: {archive_after_days: 365}\n  tags:\n    seasonal: {stale_after_days: never, archive_after_days: never}\n",
    );
    let found = outcomes(&at(&library, 30, &["curate", "--dry-run"]));
    assert_eq!(
        (found["old"].as_str(), found["late"].as_str()),
        ("stale", "keep")
    );
    for (config, words) in [
        ("curator: {stale_after_days: 0}", "stale_after_days is 0"),
        (
            "curator: {archive_after_days: -1}",
            "config.yaml:1: curator: archive_after_days is -1",
        ),
        (
            "# x\ncurator:\n  tags:\n    a: {stale_after_days: 0}\n",
            "config.yaml:4: curator: tags.a: stale_after_days is 0",
        ),
        ("curator: {stale_after_days: soon}", "is `soon`"),
        (
            "curator: {archive_after_days: 5}",
            "smaller than stale_after_days (30)",
        ),
        ("curator: {interval_hours: 0}", "interval_hours is 0"),
        ("curator: {stale_days: 5}", "stale_days"),
    ] {
        library.write("data/config.yaml", config.as_bytes());
        let output = library.skilldb(&["curate", "--dry-run"]).output().unwrap();
        let told = library.told(&output);
        assert!(
            code(&output) == 2 && told.contains(words),
            "{config}\n{told}"
        );
    }
}

#[test]
fn what_automations_name_is_kept_and_what_cannot_be_read_keeps_everything() {
    let library = library();
    library.write("nightly.sh", b"agent run /old --quiet\n");
    library.write("data/config.yaml", b"automations: [../nightly.sh]\n");
    let planned = at(&library, 100, &["curate", "--dry-run"]);
    assert_eq!(outcomes(&planned)["old"], "keep");
    let why = planned["skills"]
        .as_array()
        .unwrap()
        .iter()
        .find(|skill| skill["name"] == "old")
        .unwrap();
    assert!(
        why["reason"].as_str().unwrap().contains("nightly.sh:1"),
        "{why}"
    );
    assert_eq!(outcomes(&planned)["older"], "archive");
    library.write("nightly.sh", &[0xff, 0xfe, 0x00]);
    let planned = at(&library, 100, &["curate", "--dry-run"]);
    assert_eq!(planned["totals"]["archive"], 0);
    assert!(
        planned["notices"][0]
            .as_str()
            .unwrap()
            .contains("not UTF-8"),
        "{planned}"
    );
}

#[test]
fn a_policy_that_asks_makes_proposals() {
    let library = library();
    library.write(
        "data/config.yaml",
        b"write_policy: {curator: {archive: ask}}\n",
    );
    let planned = at(&library, 100, &["curate", "--dry-run"]);
    assert_eq!(planned["totals"]["ask"], 3);
    let ran = at(&library, 100, &["curate", "--force"]);
    assert_eq!(ran["proposals"].as_array().unwrap().len(), 3);
    assert_eq!(states(&library)["old"], "active");
    at(&library, 100, &["proposals", "approve", "1"]);
    assert!(states(&library).values().any(|state| state == "archived"));
}

#[test]
fn several_curators_at_once_do_it_once() {
    let library = library();
    let children: Vec<_> = (0..6)
        .map(|_| {
            let mut process = library.process(&["curate", "--force", "--json"]);
            process.env("SKILLDB_NOW", after(100)).spawn().unwrap()
        })
        .collect();
    for child in children {
        let output = child.wait_with_output().unwrap();
        assert_eq!(code(&output), 0, "{}", library.told(&output));
    }
    let archived = "SELECT count(*), count(DISTINCT skill_id) FROM state_transition WHERE to_state = 'archived'";
    assert_eq!(library.sql(archived), "3\t3");
    assert_eq!(
        library.sql("SELECT count(*) FROM change WHERE curator_run_id IS NOT NULL"),
        "1"
    );
    assert_eq!(
        library.sql("SELECT count(*) FROM curator_run WHERE status = 'running'"),
        "0"
    );
}
