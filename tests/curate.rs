//! Ageing through the binary: what a dry run says and leaves alone, what a run does, how it is taken back.

#![expect(
    clippy::unwrap_used,
    reason = "what cannot be arranged is a failed test"
)]

#[path = "common/aged.rs"]
mod aged;
mod common;
#[path = "common/dice.rs"]
mod dice;
#[path = "common/tree.rs"]
mod trees;

use std::collections::BTreeMap;
use std::fs;

use aged::{after, agents, at, library, outcomes, states};
use common::{Library, code, strings};
use dice::Dice;
use serde_json::{Value, json};
use trees::tree;

/// What the rows say of every skill; when something was last touched is left out.
fn rows(library: &Library) -> String {
    [
        "SELECT id, root_id, rel_path, origin, state, pinned, human_edited_at, absorbed_into, missing_since, removed_at, archived_from, archived_at FROM skill ORDER BY id",
        "SELECT id, name, category, state, content_hash, use_count, inherited_use_count, frontmatter FROM v_skill ORDER BY id",
        "SELECT skill_id, rel_path, kind, size, mode, link_target FROM v_file ORDER BY skill_id, rel_path",
        "SELECT skill_id, name, parse_status FROM manifest ORDER BY skill_id",
    ]
    .map(|query| library.sql(query))
    .join("\n--\n")
}

#[test]
fn a_dry_run_names_every_skill_and_changes_no_byte() {
    let library = library();
    library.write(
        "skills/late/SKILL.md",
        b"---\nname: late\ndescription: Changed by hand.\n---\n\n# Steps\n",
    );
    library.skill("newest", "Was put there by hand.");
    // Everything but the marks by which SQLite's readers find their place in the log.
    let everything = || {
        let mut data = tree(&library.path("data"));
        data.remove("skilldb.db-shm");
        (data, tree(&library.path("skills")))
    };
    let before = everything();
    let planned = at(&library, 95, &["curate", "--dry-run"]);
    let found = outcomes(&planned);
    let wanted = [
        ("late", "archive"),
        ("mine", "keep"),
        ("old", "archive"),
        ("older", "archive"),
    ];
    assert_eq!(
        found,
        wanted
            .map(|(name, outcome)| (name.to_owned(), outcome.to_owned()))
            .into()
    );
    assert_eq!(
        planned["mirror"]["changed_since"], 2,
        "{}",
        planned["mirror"]
    );
    assert_eq!(planned["would_run"], false);
    let output = library
        .skilldb(&["curate", "--dry-run"])
        .env("SKILLDB_NOW", after(95))
        .output()
        .unwrap();
    let told = library.told(&output);
    assert!(
        told.contains("the files of 2 skills changed since"),
        "{told}"
    );
    assert!(told.contains("mine\t95\twas made by a person"), "{told}");
    assert!(before == everything(), "a dry run wrote something");
}

#[test]
fn a_run_does_what_the_dry_run_said_and_leaves_alone_what_a_person_changed_meanwhile() {
    let library = library();
    at(
        &library,
        80,
        &["record", "use", "late", "--event-id", "again"],
    );
    let planned = at(&library, 95, &["curate", "--dry-run"]);
    assert_eq!(outcomes(&planned)["late"], "keep");
    library.write(
        "skills/ops/older/SKILL.md",
        b"---\nname: older\ndescription: Changed by hand.\n---\n\n# Steps\n",
    );
    let ran = at(&library, 95, &["curate", "--force"]);
    assert_eq!(strings(&ran["skills"], "name"), ["old"]);
    let wanted = [
        ("late", "active"),
        ("mine", "active"),
        ("old", "archived"),
        ("older", "active"),
    ];
    assert_eq!(
        states(&library),
        wanted
            .map(|(name, state)| (name.to_owned(), state.to_owned()))
            .into()
    );
    assert!(
        library
            .path("skills/.archive/ops/old/scripts/run.sh")
            .is_file()
    );
    let edits = library.sql(
        "SELECT title FROM v_patch_history WHERE name = 'older' ORDER BY change_id DESC LIMIT 1",
    );
    assert_eq!(edits, "SKILL.md edited outside skilldb");
    // By name, with the way back, in both forms.
    let report = ran["report"].as_str().unwrap();
    let page = fs::read_to_string(report).unwrap();
    assert!(
        page.contains("| old | used 95 d ago (archived after 90 d) | 95 |"),
        "{page}"
    );
    assert!(page.contains("`skilldb undo --curator-run 1`"), "{page}");
    assert!(page.contains("| mine | was made by a person |"), "{page}");
    let data: Value =
        serde_json::from_slice(&fs::read(report.replace(".md", ".json")).unwrap()).unwrap();
    assert_eq!(data["skills"], ran["skills"]);
    let transition = library.sql("SELECT from_state, to_state, anchor_at, actor, curator_run_id FROM v_transition WHERE name = 'old'");
    assert_eq!(
        transition,
        format!("active\tarchived\t{}\tcurator\t1", common::NOW)
    );
}

#[test]
fn a_run_and_its_undo_are_nothing_at_all() {
    let library = library();
    at(
        &library,
        70,
        &["record", "use", "late", "--event-id", "again"],
    );
    at(&library, 40, &["curate", "--force"]);
    assert_eq!(states(&library)["old"], "stale");
    let (files, before) = (tree(&library.path("skills")), rows(&library));
    let ran = at(&library, 100, &["curate", "--force"]);
    assert_eq!(ran["totals"]["archive"], 2);
    assert_eq!(ran["totals"]["stale"], 1);
    assert!(files != tree(&library.path("skills")) && before != rows(&library));
    at(&library, 101, &["undo", "--curator-run", "2"]);
    assert!(
        files == tree(&library.path("skills")),
        "not every file is what it was"
    );
    assert_eq!(before, rows(&library));
    assert_eq!(library.json(&["doctor"])["healthy"], true);
    // What came back is not put away again, and the undo can be undone.
    let planned = at(&library, 102, &["curate", "--dry-run"]);
    assert_eq!(planned["totals"]["archive"], 0);
    at(&library, 103, &["undo", "4"]);
}

#[test]
fn what_is_restored_is_active_and_stays() {
    let library = library();
    at(&library, 100, &["curate", "--force"]);
    at(&library, 101, &["restore", "old"]);
    assert_eq!(states(&library)["old"], "active");
    let planned = at(&library, 102, &["curate", "--dry-run"]);
    let old = planned["skills"]
        .as_array()
        .unwrap()
        .iter()
        .find(|skill| skill["name"] == "old")
        .unwrap();
    assert_eq!(
        (&old["outcome"], &old["anchor"], &old["idle_days"]),
        (&json!("keep"), &json!("restored"), &json!(1))
    );
    assert_eq!(
        at(&library, 191, &["curate", "--dry-run"])["totals"]["archive"],
        1
    );
}

#[test]
fn a_snapshot_of_some_skills_leaves_all_others_alone() {
    let library = library();
    at(
        &library,
        70,
        &["record", "use", "late", "--event-id", "again"],
    );
    let ran = at(&library, 95, &["curate", "--force"]);
    let snapshot = ran["snapshot"].to_string();
    assert_eq!(
        library.sql("SELECT is_partial, skill_count FROM v_snapshot"),
        "1\t2"
    );
    library.skill("newer", "Came later.");
    library.json(&["sync"]);
    let late = tree(&library.path("skills/late"));
    for number in ["99", "../../etc"] {
        let exit = if number == "99" { 1 } else { 2 };
        let refused = library.json_exit(&["snapshot", "restore", number, "--yes"], exit);
        assert!(exit == 2 || refused["error"]["code"] == "snapshot-not-found");
    }
    at(&library, 96, &["snapshot", "restore", &snapshot, "--yes"]);
    assert_eq!(states(&library)["old"], "active");
    assert!(library.path("skills/ops/old/scripts/run.sh").is_file());
    assert!(library.path("skills/newer/SKILL.md").is_file());
    assert!(late == tree(&library.path("skills/late")));
    assert_eq!(library.json(&["doctor"])["healthy"], true);
}

#[test]
fn two_skills_that_want_one_place_in_the_archive_both_get_one() {
    let library = Library::new();
    library.skill("ops", "Was a skill once.");
    library.sync();
    library.json(&["archive", "ops"]);
    // Its folder is a category now, and what lies in the archive under its name is a skill.
    for (folder, name) in [("ops/a", "one"), ("ops/deep/a", "two")] {
        let text = format!("---\nname: {name}\ndescription: Does a thing.\n---\n");
        library.write(&format!("skills/{folder}/SKILL.md"), text.as_bytes());
    }
    library.sync();
    for name in ["one", "two"] {
        library.json(&["adopt", name, "--as", "agent"]);
    }
    let ran = at(&library, 100, &["curate", "--force"]);
    assert_eq!(ran["totals"]["archive"], 2);
    let places = library
        .sql("SELECT rel_path FROM v_skill WHERE name IN ('one', 'two') ORDER BY length(rel_path)");
    let places: Vec<&str> = places.lines().collect();
    assert_eq!(places[0], ".archive/a");
    assert!(places[1].starts_with(".archive/a-20"), "{places:?}");
    at(&library, 101, &["undo", "--curator-run", "1"]);
    assert!(library.path("skills/ops/deep/a/SKILL.md").is_file());
}

#[test]
fn what_is_archived_leaves_the_list_and_is_told_on_request() {
    let library = library();
    at(&library, 100, &["curate", "--force"]);
    assert_eq!(library.listed(&[]), ["mine"]);
    assert_eq!(library.listed(&["--archived"]).len(), 3);
    assert_eq!(
        code(&library.skilldb(&["curate", "report"]).output().unwrap()),
        0
    );
    let report = library.json(&["curate", "report", "1"]);
    assert_eq!(report["skills"].as_array().unwrap().len(), 3);
    assert_eq!(
        library.json_exit(&["curate", "report", "9"], 1)["error"]["code"],
        "run-not-found"
    );
}

/// Killed at moments chosen by dice: the next command finds the library as it was before or as it was to be.
#[test]
fn a_run_that_is_killed_at_any_moment_is_whole_or_not_there() {
    let library = library();
    let (before, mut dice) = (tree(&library.path("skills")), Dice(7));
    at(&library, 100, &["curate", "--force"]);
    let after_run = tree(&library.path("skills"));
    at(&library, 100, &["undo", "--curator-run", "1"]);
    let (mut whole, mut rounds) = (0, 0);
    while rounds < 16 {
        rounds += 1;
        // Long after what was taken back.
        let day = 200 + 100 * rounds;
        let mut process = library.process(&["curate", "--force"]);
        let mut child = process.env("SKILLDB_NOW", after(day)).spawn().unwrap();
        std::thread::sleep(std::time::Duration::from_micros(dice.roll(25_000)));
        let _ = child.kill();
        child.wait().unwrap();
        let last = at(&library, day, &["list"]);
        assert!(last["skills"].is_array());
        let found = tree(&library.path("skills"));
        assert!(
            found == before || found == after_run,
            "round {rounds}: {:?}",
            found.keys()
        );
        assert_eq!(library.sql("SELECT count(*) FROM journal"), "0");
        let state = if found == before {
            "active"
        } else {
            "archived"
        };
        assert_eq!(states(&library)["old"], state, "round {rounds}");
        at(&library, day, &["curate", "pause"]);
        at(&library, day, &["curate", "resume"]);
        if found == after_run {
            whole += 1;
            let run = library.sql("SELECT max(id) FROM v_curator_run WHERE status = 'done'");
            at(&library, day, &["undo", "--curator-run", &run]);
        }
    }
    println!("{rounds} kills, {whole} runs were whole");
    assert_eq!(library.json(&["doctor"])["healthy"], true);
}

/// Histories and clocks by dice: what a run plans it does, nothing that is protected is touched, and taken back
/// nothing has happened.
#[test]
fn random_histories_are_planned_done_and_taken_back() {
    for seed in 0..6 {
        let mut dice = Dice(seed);
        let library = Library::new();
        let names: Vec<String> = (0..12)
            .map(|number| format!("c{}/s{number}", number % 3))
            .collect();
        for name in &names {
            agents(&library, name);
        }
        library.sync();
        let mut protected = Vec::new();
        for name in &names {
            let origin = if dice.roll(4) == 0 { "user" } else { "agent" };
            at(&library, 0, &["adopt", name, "--as", origin]);
            if dice.roll(5) == 0 {
                at(&library, 0, &["pin", name]);
            }
            for event in 0..dice.roll(3) {
                let day = i64::try_from(dice.roll(150)).unwrap();
                let id = format!("{name}{event}");
                at(&library, day, &["record", "use", name, "--event-id", &id]);
            }
            let short = name.rsplit('/').next().unwrap().to_owned();
            let pinned = library.sql(&format!(
                "SELECT pinned FROM v_skill WHERE name = '{short}'"
            ));
            if origin == "user" || pinned == "1" {
                protected.push(short);
            }
        }
        let day = 40 + i64::try_from(dice.roll(120)).unwrap();
        let planned = at(&library, day, &["curate", "--dry-run"]);
        assert_eq!(
            planned,
            at(&library, day, &["curate", "--dry-run"]),
            "seed {seed}"
        );
        let found = outcomes(&planned);
        assert!(
            protected.iter().all(|name| found[name] == "keep"),
            "seed {seed}"
        );
        let (files, before) = (tree(&library.path("skills")), rows(&library));
        let ran = at(&library, day, &["curate", "--force"]);
        let done: BTreeMap<String, String> = outcomes(&ran);
        let wanted: BTreeMap<String, String> = found
            .into_iter()
            .filter(|(_, outcome)| outcome != "keep")
            .collect();
        assert_eq!(done, wanted, "seed {seed}");
        if wanted.is_empty() {
            continue;
        }
        at(&library, day + 1, &["undo", "--curator-run", "1"]);
        assert!(
            files == tree(&library.path("skills")),
            "seed {seed}: not every file is what it was"
        );
        assert_eq!(before, rows(&library), "seed {seed}");
    }
}
