//! The peer's cases of ageing, gates, archives and references, replayed: transitions and archives through the binary
//! on the same Hermes home, gates and jobs through the pure functions that decide about them.

#![expect(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "what cannot be arranged is a failed test, and a table is written when asked for"
)]

mod common;
#[path = "common/hermes_home.rs"]
mod hermes_home;
#[path = "common/vectors.rs"]
mod vectors;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use hermes_home::{Home, is_of_skills};
use serde_json::{Value, json};
use skilldb::curate::gates::{Call, Known, Settings, call, gates};
use skilldb::references::jobs;
use skilldb::store::Pause;
use skilldb::time::Timestamp;

fn their_tree(observed: &Value) -> Value {
    let paths = observed.as_array().unwrap().iter();
    let mut paths: Vec<&str> = paths
        .filter_map(Value::as_str)
        .filter(|path| is_of_skills(path))
        .collect();
    paths.sort_unstable();
    json!(paths)
}

fn counts(observed: &Value) -> Value {
    json!({"archived": observed["archived"], "marked_stale": observed["marked_stale"], "reactivated": observed["reactivated"]})
}

/// What a run does to the skills of a case, and where they are after.
fn transition(case: &Value) -> Option<(Value, Value)> {
    let home = Home::new(case);
    let observed = &case["observed"];
    home.import();
    if observed["pass1"].is_object() {
        let ours = json!([home.pass(0), home.pass(90), home.tree()]);
        let theirs = json!([
            counts(&observed["pass1"]),
            counts(&observed["pass2"]),
            their_tree(&observed["tree"])
        ]);
        return Some((ours, theirs));
    }
    if let Some(candidates) = observed["candidates"].as_array() {
        // Whom the curator would ever touch.
        let planned = home.run(0, &["curate", "--dry-run"]);
        let mut names: Vec<&str> = planned["skills"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|skill| skill["protected_by"] == json!([]))
            .filter_map(|skill| skill["name"].as_str())
            .collect();
        names.sort_unstable();
        return Some((json!(names), json!(candidates)));
    }
    if !observed["counts"].is_object() {
        return None;
    }
    let ours = json!([home.pass(0), home.tree()]);
    Some((
        ours,
        json!([
            counts(&observed["counts"]),
            their_tree(&observed["skills_tree"])
        ]),
    ))
}

/// What the gates say: `run`, `mark` or `wait`.
fn gate(case: &Value) -> Option<(Value, Value)> {
    let setup = &case["setup"];
    let observed = &case["observed"];
    let now = setup["now"]
        .as_str()
        .and_then(Timestamp::parse_lenient)
        .unwrap();
    let state = &setup["state"];
    let config = &setup["config"]["curator"];
    let settings = Settings {
        enabled: config["enabled"] != json!(false),
        interval_hours: 168,
        min_idle_hours: 2.0,
    };
    let known = Known {
        pause: (state["paused"] == json!(true)).then(|| Pause {
            since: String::new(),
            actor: "user".to_owned(),
            reason: None,
        }),
        booked_at: state["last_run_at"]
            .as_str()
            .and_then(Timestamp::parse_lenient),
        ..Known::default()
    };
    let word = |known: &Known, now: Timestamp| match call(&gates(settings, known, now), false) {
        Call::Run(_) => "run",
        Call::Mark => "mark",
        Call::Wait => "wait",
    };
    let is_seeded = observed["state"]["last_run_at"].is_string() && known.booked_at.is_none();
    let their_word = match (&observed["result"], is_seeded) {
        (Value::Bool(true), _) => "run",
        (Value::Bool(false), true) => "mark",
        _ => "wait",
    };
    match case["name"].as_str().unwrap() {
        "gate__first_run_deferral" => {
            let later =
                |millis: i64| Timestamp::from_millis(now.millis() + 168 * 3_600_000 - millis);
            let marked = Known {
                booked_at: Some(now),
                ..Known::default()
            };
            let ours = json!([
                word(&known, now),
                word(&marked, later(1_000)),
                word(&marked, later(0))
            ]);
            Some((ours, json!(["mark", "wait", "run"])))
        }
        "gate__idle" => {
            let idle = |millis: i64| Known {
                active_at: Some(Timestamp::from_millis(now.millis() - millis)),
                ..known.clone()
            };
            let ours = json!([
                word(&idle(7_199_999), now),
                word(&idle(7_200_000), now),
                word(&known, now)
            ]);
            Some((ours, json!(["wait", "run", "run"])))
        }
        "gate__idle_fail_does_not_consume" => {
            let working = Known {
                active_at: Some(now),
                ..Known::default()
            };
            Some((json!(word(&working, now)), json!("mark")))
        }
        "gate__two_processes_both_run" => Some((json!("one"), json!("both"))),
        // A moment always has a zone here.
        "gate__naive_now_crashes" => Some((json!("run"), json!("crash"))),
        // There is no file of state that could hold other keys.
        "gate__state_unknown_keys" => None,
        _ => Some((json!(word(&known, now)), json!(their_word))),
    }
}

/// What becomes of the lists of jobs.
fn cronrw(case: &Value) -> Option<(Value, Value)> {
    let setup = &case["setup"];
    let observed = &case["observed"];
    let mut heirs: BTreeMap<String, String> = BTreeMap::new();
    for (name, heir) in setup["consolidated"].as_object().into_iter().flatten() {
        heirs.insert(name.clone(), heir.as_str()?.to_owned());
    }
    let last = |name: &str| {
        let mut heir = heirs.get(name.trim_start_matches('/').rsplit('/').next()?)?;
        // A chain ends where nobody took the heir over.
        while let Some(next) = heirs.get(heir) {
            heir = next;
        }
        Some(heir.clone())
    };
    let jobs = setup.get("cron_jobs")?;
    let text = json!({"jobs": jobs}).to_string();
    let after = jobs::rewrite(&text, &last)
        .unwrap()
        .map_or(text, |new| new.text);
    let after: Value = serde_json::from_str(&after).unwrap();
    let theirs = observed.get("jobs_after").or_else(|| {
        observed["cron_after"]
            .as_array()
            .map(|_| &observed["cron_after"])
    })?;
    // The peer's table tells these of each job.
    let told = |job: &Value| match job.as_object() {
        Some(_) => json!({"id": job["id"], "skills": job["skills"], "skill": job["skill"]}),
        None => job.clone(),
    };
    let all = |jobs: &Value| jobs.as_array().unwrap().iter().map(told).collect::<Value>();
    Some((all(&after["jobs"]), all(theirs)))
}

/// Archives and restores: the commands that say the same here, and what the peer saw.
fn archive(case: &Value) -> Option<(Value, Value)> {
    let home = Home::new(case);
    let observed = &case["observed"];
    home.import();
    let curator = ["--actor", "curator"];
    let archive = |name: &str| home.word(&["archive", name]);
    let as_curator = |name: &str| home.word(&[&["archive", name][..], &curator].concat());
    let restore = |name: &str| home.word(&["restore", name]);
    let refused = |word: &str| if word == "ok" { "ok" } else { "refused" }.to_owned();
    let their_word = |result: &Value| {
        if result[0] == json!(true) {
            "ok"
        } else {
            "refused"
        }
    };
    Some(match case["name"].as_str().unwrap() {
        "archive__collision_timestamp" | "archive__third_collision_same_second_nests" => (
            json!([archive("foo"), home.tree()]),
            json!([their_word(&observed["r"]), their_tree(&observed["tree"])]),
        ),
        "archive__flattens_category" => (
            json!([archive("foo"), home.tree(), restore("foo"), home.tree()]),
            json!([
                "ok",
                their_tree(&observed["tree1"]),
                "ok",
                their_tree(&observed["tree2"])
            ]),
        ),
        "archive__external_dir_refused" => (
            json!(refused(&as_curator("e1"))),
            json!(their_word(&observed["archive"])),
        ),
        "archive__list_archived_is_directory_names" => {
            let listed: Vec<String> = home.run(0, &["list", "--archived"])["skills"]
                .as_array()
                .unwrap()
                .iter()
                .map(|skill| skill["name"].as_str().unwrap().to_owned())
                .collect();
            (
                json!([listed, restore("foo"), restore("bar"), home.tree()]),
                json!([observed["list"], "ok", "ok", their_tree(&observed["tree"])]),
            )
        }
        "archive__primitive_ignores_pin" => (json!(as_curator("foo")), json!("ok")),
        "archive__refusals" => {
            let words: Vec<String> = ["bi", "hub1", "plan", "nope"]
                .iter()
                .map(|name| refused(&as_curator(name)))
                .collect();
            (
                json!([words, refused(&restore("nope"))]),
                json!([["refused", "refused", "refused", "refused"], "refused"]),
            )
        }
        "archive__user_skill_via_cli" => (json!(archive("mine")), json!("ok")),
        "archive__builtin_restore_lifts_suppression" => (
            json!([
                archive("bi"),
                archive("bj"),
                restore("bi"),
                home.library
                    .path("hermes/skills/.curator_suppressed")
                    .exists()
            ]),
            json!(["ok", "ok", "ok", true]),
        ),
        "archive__recreate_after_archive_inherits_record" => {
            let first = home.pass(0);
            home.library.write(
                "given.md",
                b"---\nname: foo\ndescription: Does a thing.\n---\n# foo\n\nSteps here.\n",
            );
            let root = home.library.path("hermes/skills").display().to_string();
            let created = home.word(&[
                "create",
                "foo",
                "--from",
                "given.md",
                "--root",
                &root,
                "--actor",
                "background-review",
            ]);
            (
                json!([first, created, home.pass(200)]),
                json!([
                    counts(&observed["pass1"]),
                    "ok",
                    counts(&observed["pass2_200d_later"])
                ]),
            )
        }
        // Killed between two steps: `tests/curator_kills.rs`.
        "archive__crash_between_move_and_record" => (json!("one change"), json!("two steps")),
        "restore__destination_exists" => (
            json!(refused(&restore("foo"))),
            json!(their_word(&observed["r"])),
        ),
        "restore__dirname_differs_from_name" => (
            json!([archive("pretty-name"), restore("pretty-name")]),
            json!(["ok", their_word(&observed["restore_by_name"])]),
        ),
        "restore__duplicate_name_other_dir" => (
            json!([refused(&restore("foo")), home.tree()]),
            json!([their_word(&observed["r"]), their_tree(&observed["tree"])]),
        ),
        "restore__exact_name_prefers_oldest" | "restore__timestamp_newest_first" => (
            json!([restore("foo"), home.body("foo/SKILL.md"), home.tree()]),
            json!([
                their_word(&observed["r"]),
                observed["body"],
                their_tree(&observed["tree"])
            ]),
        ),
        "restore__tears_subdirectory_out" => (
            json!([refused(&restore("scripts")), home.tree()]),
            json!([their_word(&observed["r"]), their_tree(&observed["tree"])]),
        ),
        "restore__no_grace_rearchived_next_pass" => {
            let first = home.pass(0);
            let word = restore("foo");
            (
                json!([first, word, home.pass(1)]),
                json!([counts(&observed["pass1"]), "ok", counts(&observed["pass2"])]),
            )
        }
        _ => return None,
    })
}

/// Snapshots are made otherwise here, so what a case shows has a test of its own.
#[rustfmt::skip]
const SNAPSHOTS: [(&str, &str, &str); 12] = [
    ("backup__contents_and_manifest", "change_history.rs", "a_snapshot"),
    ("backup__keep_zero_is_one", "change_history.rs", "prune"),
    ("backup__retention_and_same_second", "change_history.rs", "prune"),
    ("rollback__absolute_symlink_breaks_tree", "curate.rs", "a_run_and_its_undo_are_nothing_at_all"),
    ("rollback__backup_disabled_no_safety_snapshot", "change_history.rs", "a_snapshot"),
    ("rollback__bad_ids", "curate.rs", "snapshot-not-found"),
    ("rollback__cli", "change_history.rs", "snapshot"),
    ("rollback__corrupt_member_partial", "change_history.rs", "a_snapshot"),
    ("rollback__restores_curator_clock", "curate_gates.rs", "taking_a_run_back_does_not_make_the_next_one_due"),
    ("rollback__roundtrip_and_undo", "curate.rs", "a_run_and_its_undo_are_nothing_at_all"),
    ("rollback__target_protected_from_pruning", "change_history.rs", "prune"),
    ("rollback__truncated_tarball_strands_skills", "change_history.rs", "a_snapshot"),
];

fn snapshot(case: &Value) -> Option<(Value, Value)> {
    let name = case["name"].as_str().unwrap();
    let (_, file, test) = SNAPSHOTS.iter().find(|(case, ..)| *case == name)?;
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests")
        .join(file);
    assert!(
        fs::read_to_string(path).unwrap().contains(test),
        "{file} has no {test}"
    );
    Some((
        json!(format!("tests/{file}")),
        json!("tar.gz and a manifest"),
    ))
}

#[test]
fn every_case_of_the_peers_curator_comes_out_the_same_or_is_a_departure_with_a_reason() {
    let cases = vectors::read("curator.json");
    let mut outcomes = Vec::new();
    let mut elsewhere = Vec::new();
    for case in cases.as_array().unwrap() {
        let name = case["name"].as_str().unwrap().to_owned();
        let found = match name.split("__").next().unwrap() {
            "transition" => transition(case),
            "gate" => gate(case),
            "cronrw" => cronrw(case),
            "archive" | "restore" => archive(case),
            _ => snapshot(case),
        };
        match found {
            Some((ours, theirs)) => outcomes.push((name, ours, theirs)),
            None => elsewhere.push(name),
        }
    }
    println!(
        "curator: {} cases say nothing about skills: {}",
        elsewhere.len(),
        elsewhere.join(", ")
    );
    vectors::compare("curator_departures.json", &outcomes);
}
