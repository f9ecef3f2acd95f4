//! Changes by many processes at once, and by processes that are killed at random moments: what was reported is in
//! the file and in the history, what was refused says why.

#![expect(
    clippy::unwrap_used,
    reason = "what cannot be arranged is a failed test"
)]

mod common;
#[path = "common/dice.rs"]
mod dice;
#[path = "common/tree.rs"]
mod trees;

use std::fmt::Write as _;
use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::thread;
use std::time::{Duration, Instant};

use common::{Library, code};
use dice::Dice;
use serde_json::Value;
use trees::{Tree, tree};

const PROCESSES: usize = 8;
const PATCHES: usize = 50;

/// A skill with a line for each patch.
fn text(name: &str) -> String {
    let mut text = format!("---\nname: {name}\ndescription: Has many lines.\n---\n");
    for process in 0..PROCESSES {
        for patch in 0..PATCHES {
            writeln!(text, "line {process}-{patch}: open.").unwrap();
        }
    }
    text
}

/// Runs one patch. Says whether it was reported as done; a refusal has to say why.
fn patch(library: &Library, skill: &str, line: &str) -> bool {
    let (old, new) = (format!("{line}: open."), format!("{line}: done."));
    let args = ["patch", skill, "--old", &old, "--new", &new, "--json"];
    let output = library.process(&args).output().unwrap();
    let told: Value = serde_json::from_slice(&output.stdout).unwrap();
    match output.status.code() {
        Some(0) => {
            assert_eq!(told["outcome"], "applied");
            true
        }
        _ => {
            assert!(
                told["error"]["message"]
                    .as_str()
                    .is_some_and(|message| !message.is_empty()),
                "{told}"
            );
            false
        }
    }
}

/// All patches of all processes on the skills that `skill_of` says. Returns the lines that were reported as done.
fn race(library: &Library, skill_of: fn(usize, usize) -> String) -> Vec<(String, String)> {
    thread::scope(|scope| {
        let handles: Vec<_> = (0..PROCESSES)
            .map(|process| {
                scope.spawn(move || {
                    let mut done = Vec::new();
                    for number in 0..PATCHES {
                        let skill = skill_of(process, number);
                        let line = format!("line {process}-{number}");
                        if patch(library, &skill, &line) {
                            done.push((skill, line));
                        }
                    }
                    done
                })
            })
            .collect();
        handles
            .into_iter()
            .flat_map(|handle| handle.join().unwrap())
            .collect()
    })
}

fn check(library: &Library, done: &[(String, String)]) {
    for (skill, line) in done {
        let text = fs::read_to_string(library.path(&format!("skills/{skill}/SKILL.md"))).unwrap();
        assert!(
            text.contains(&format!("{line}: done.")),
            "{skill}: {line} was reported and is not there"
        );
    }
    let applied =
        library.sql("SELECT count(*) FROM change WHERE action = 'patch' AND outcome = 'applied'");
    assert_eq!(applied, done.len().to_string());
    let sync = library.sync();
    assert_eq!(
        sync["changed"].as_array().map(Vec::len).unwrap_or_default(),
        0,
        "{sync}"
    );
    let doctor = library.skilldb(&["doctor"]).output().unwrap();
    assert_eq!(code(&doctor), 0, "{}", library.told(&doctor));
}

#[test]
fn every_reported_patch_of_one_skill_is_in_the_file_and_in_the_history() {
    let library = Library::new();
    library.write("skills/one/SKILL.md", text("one").as_bytes());
    library.sync();
    let done = race(&library, |_, _| "one".to_owned());
    assert_eq!(done.len(), PROCESSES * PATCHES);
    check(&library, &done);
    // Each text follows from the one before.
    let broken = library.sql(
        "SELECT count(*) FROM (SELECT before_hash, lag(after_hash) OVER (ORDER BY change_id) AS was FROM v_patch_history WHERE name = 'one') WHERE was IS NOT NULL AND was <> before_hash",
    );
    assert_eq!(broken, "0");
}

#[test]
fn every_reported_patch_of_many_skills_is_in_the_file_and_in_the_history() {
    let library = Library::new();
    for number in 0..10 {
        let name = format!("s{number}");
        library.write(&format!("skills/{name}/SKILL.md"), text(&name).as_bytes());
    }
    library.sync();
    let done = race(&library, |process, number| {
        format!("s{}", (process + number) % 10)
    });
    assert_eq!(done.len(), PROCESSES * PATCHES);
    check(&library, &done);
}

#[test]
fn of_creates_of_one_name_exactly_one_wins() {
    let library = Library::new();
    library.skill("other", "Is there");
    library.sync();
    for round in 0..5 {
        let name = format!("new{round}");
        for process in 0..4 {
            let text = format!("---\nname: {name}\ndescription: Made by {process}.\n---\nBody.\n");
            library.write(&format!("given/{round}-{process}"), text.as_bytes());
        }
        let won: usize = thread::scope(|scope| {
            let handles: Vec<_> = (0..4)
                .map(|process| {
                    let (library, name) = (&library, &name);
                    scope.spawn(move || {
                        let from = format!("given/{round}-{process}");
                        let args = [
                            "create", name, "--from", &from, "--root", "skills", "--json",
                        ];
                        let output = library.process(&args).output().unwrap();
                        if output.status.code() == Some(0) {
                            return 1;
                        }
                        let told: Value = serde_json::from_slice(&output.stdout).unwrap();
                        assert_eq!(told["error"]["code"], "name-taken");
                        0
                    })
                })
                .collect();
            handles
                .into_iter()
                .map(|handle| handle.join().unwrap())
                .sum()
        });
        assert_eq!(won, 1);
    }
}

/// How many kills: some dozens with every test run, hundreds where somebody asks for them (`make crash`).
#[expect(clippy::disallowed_methods, reason = "a test that is asked for more")]
fn kills() -> u64 {
    let asked = std::env::var("SKILLDB_KILLS")
        .ok()
        .and_then(|text| text.parse().ok());
    asked.unwrap_or(60)
}

#[test]
fn a_change_killed_at_a_random_moment_is_whole_or_not_there() {
    let library = Library::new();
    library.skill("notes", "Keeps notes");
    library.write(
        "skills/ops/deploy/SKILL.md",
        b"---\nname: deploy\ndescription: Ships it.\n---\nRun it.\n",
    );
    library.write("skills/ops/deploy/scripts/run.sh", b"#!/bin/sh\n");
    library.write(
        "fresh.md",
        b"---\nname: fresh\ndescription: Is new.\n---\nBody.\n",
    );
    library.sync();
    // Each pair leads away and back.
    let pairs: [[&[&str]; 2]; 4] = [
        [&["archive", "deploy"], &["restore", "deploy"]],
        [
            &["create", "fresh", "--from", "fresh.md", "--root", "skills"],
            &["delete", "fresh", "--forever", "--yes"],
        ],
        [&["rename", "notes", "memo"], &["rename", "memo", "notes"]],
        [
            &["write", "deploy/references/a.md", "--from", "fresh.md"],
            &["rm-file", "deploy/references/a.md"],
        ],
    ];
    // What each leads from, and to: once without being killed.
    let mut ends: Vec<[(Tree, Tree); 2]> = Vec::new();
    for pair in pairs {
        let run = |change: &[&str]| {
            let before = tree(&library.path("skills"));
            library.json(change);
            (before, tree(&library.path("skills")))
        };
        ends.push([run(pair[0]), run(pair[1])]);
    }
    let mut dice = Dice(11);
    let (mut killed, mut round) = (0, 0);
    let mut longest = 20_000;
    while killed < kills() {
        let (pair, ends) = (pairs[round % pairs.len()], &ends[round % pairs.len()]);
        round += 1;
        assert!(round < 4_000, "only {killed} kills");
        for (change, (before, after)) in pair.into_iter().zip(ends) {
            let started = Instant::now();
            let mut process = library.process(change).spawn().unwrap();
            let moment = Duration::from_micros(dice.roll(longest));
            while started.elapsed() < moment {
                std::hint::spin_loop();
            }
            let _ = process.kill();
            let output = process.wait_with_output().unwrap();
            let is_killed = output.status.signal() == Some(9);
            killed += u64::from(is_killed);
            if !is_killed {
                longest = u64::try_from(started.elapsed().as_micros())
                    .unwrap()
                    .clamp(4_000, 40_000);
            }
            // The next command mends, whatever happened.
            library.json(&["list"]);
            let found = tree(&library.path("skills"));
            assert!(
                !found.keys().any(|path| path.contains(".skilldb-")),
                "{change:?}: {:?}",
                found.keys()
            );
            assert_eq!(
                library.sql("SELECT count(*) FROM change WHERE outcome = 'pending'"),
                "0"
            );
            assert!(
                found == *before || found == *after,
                "{change:?}: {:?}",
                found.keys()
            );
            if found == *before {
                // Whatever it was, doing it again gets there.
                let again = library.skilldb(change).output().unwrap();
                assert_eq!(code(&again), 0, "{change:?}\n{}", library.told(&again));
            }
            let sync = library.sync();
            for kind in ["added", "changed", "moved", "missing", "back"] {
                assert_eq!(
                    sync[kind].as_array().map(Vec::len).unwrap_or_default(),
                    0,
                    "{change:?}: {kind}: {sync}"
                );
            }
        }
    }
    println!("{killed} kills in {round} rounds");
    let doctor = library.skilldb(&["doctor"]).output().unwrap();
    assert_eq!(code(&doctor), 0, "{}", library.told(&doctor));
}
