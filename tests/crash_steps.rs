//! Changes that are killed at each of their steps: the next command finds every skill as it was before or as it was
//! to be, nothing lies about, and the history says the same as the disk.

#![expect(
    clippy::unwrap_used,
    reason = "what cannot be arranged is a failed test"
)]

mod common;
#[path = "common/tree.rs"]
mod trees;

use std::os::unix::process::ExitStatusExt;

use common::{Library, code, copy_folder};
use trees::{Tree, tree};

/// A library, what it looks like before a change, and the change.
struct Story {
    name: &'static str,
    /// Commands before the change.
    given: &'static [&'static [&'static str]],
    change: &'static [&'static str],
    /// Whether a reader mends it; else a writer does.
    by_reader: bool,
}

/// Two skills of agents: one idle for long, one for longer.
const IDLE: &[&[&str]] = &[
    &["adopt", "deploy", "--as", "agent"],
    &["adopt", "notes", "--as", "agent"],
    &[
        "record",
        "use",
        "deploy",
        "--event-id",
        "a",
        "--at",
        "2025-06-01T00:00:00.000Z",
    ],
    &[
        "record",
        "use",
        "notes",
        "--event-id",
        "b",
        "--at",
        "2025-11-20T00:00:00.000Z",
    ],
];
/// The same after a run of the curator.
const AGED: &[&[&str]] = &[IDLE[0], IDLE[1], IDLE[2], IDLE[3], &["curate", "--force"]];

const STORIES: [Story; 14] = [
    Story {
        name: "create",
        given: &[],
        change: &[
            "create",
            "fresh",
            "--category",
            "made",
            "--from",
            "fresh.md",
            "--root",
            "skills",
        ],
        by_reader: true,
    },
    Story {
        name: "edit",
        given: &[],
        change: &["edit", "notes", "--from", "notes2.md"],
        by_reader: false,
    },
    Story {
        name: "patch",
        given: &[],
        change: &["patch", "notes", "--old", "First", "--new", "Second"],
        by_reader: true,
    },
    Story {
        name: "write",
        given: &[],
        change: &["write", "notes/references/deep/a.md", "--from", "fresh.md"],
        by_reader: true,
    },
    Story {
        name: "rewrite a script",
        given: &[],
        change: &[
            "write",
            "ops/deploy/scripts/run.sh",
            "--from",
            "fresh.md",
            "--executable",
        ],
        by_reader: false,
    },
    Story {
        name: "rm-file",
        given: &[],
        change: &["rm-file", "ops/deploy/scripts/run.sh"],
        by_reader: true,
    },
    Story {
        name: "archive",
        given: &[],
        change: &["archive", "ops/deploy"],
        by_reader: true,
    },
    Story {
        name: "restore",
        given: &[&["archive", "ops/deploy"]],
        change: &["restore", "deploy"],
        by_reader: false,
    },
    Story {
        name: "rename",
        given: &[],
        change: &["rename", "deploy", "ship"],
        by_reader: true,
    },
    Story {
        name: "delete for good",
        given: &[],
        change: &["delete", "deploy", "--forever", "--yes"],
        by_reader: true,
    },
    Story {
        name: "merge",
        given: &[],
        change: &["merge", "deploy", "--into", "notes"],
        by_reader: true,
    },
    Story {
        name: "curate",
        given: IDLE,
        change: &["curate", "--force"],
        by_reader: false,
    },
    Story {
        name: "undo of a run of the curator",
        given: AGED,
        change: &["undo", "--curator-run", "1"],
        by_reader: true,
    },
    Story {
        name: "undo of many",
        given: &[&["rename", "deploy", "ops2/ship"]],
        change: &["undo"],
        by_reader: true,
    },
];

fn library() -> Library {
    let library = Library::new();
    library.write("skills/notes/SKILL.md", b"---\nname: notes\ndescription: Keeps notes.\nrelated_skills: [deploy]\n---\nFirst line.\nUse the deploy skill.\n");
    library.write(
        "skills/ops/deploy/SKILL.md",
        b"---\nname: deploy\ndescription: Ships it.\n---\nRun scripts/run.sh.\n",
    );
    library.write(
        "skills/ops/deploy/scripts/run.sh",
        b"#!/bin/sh\necho shipped\n",
    );
    library.write(
        "fresh.md",
        b"---\nname: fresh\ndescription: Is new.\n---\nBody.\n",
    );
    library.write(
        "notes2.md",
        b"---\nname: notes\ndescription: Keeps other notes.\n---\nAll new.\n",
    );
    library.sync();
    library
}

/// Puts the library back to how it was.
fn reset(library: &Library) {
    for folder in ["data", "skills"] {
        library.remove(folder);
        copy_folder(
            &library.path(&format!("kept/{folder}")),
            &library.path(folder),
        );
    }
}

fn keep(library: &Library) {
    for folder in ["data", "skills"] {
        copy_folder(
            &library.path(folder),
            &library.path(&format!("kept/{folder}")),
        );
    }
}

/// Runs the change until it ends or is killed at a step. Says whether it was killed.
fn run(library: &Library, change: &[&str], step: Option<u64>) -> bool {
    let mut process = library.process(change);
    if let Some(step) = step {
        process.env("SKILLDB_STOP_AT", step.to_string());
    }
    let output = process.output().unwrap();
    if output.status.signal() == Some(9) {
        return true;
    }
    assert_eq!(code(&output), 0, "{change:?}\n{}", library.told(&output));
    false
}

fn is_aside(path: &str) -> bool {
    path.split('/').any(|part| part.starts_with(".skilldb-"))
}

fn check(library: &Library, story: &Story, step: u64, before: &Tree, after: &Tree) -> bool {
    let place = format!("{} killed at step {step}", story.name);
    // The next command, whatever it is.
    if story.by_reader {
        library.json(&["list"]);
    } else {
        library.json(&["pin", "notes"]);
    }
    let found = tree(&library.path("skills"));
    assert!(
        !found.keys().any(|path| is_aside(path)),
        "{place}: left aside: {:?}",
        found.keys()
    );
    let is_after = found == *after;
    assert!(
        is_after || found == *before,
        "{place}: neither before nor after: {:?}",
        found.keys()
    );
    let outcome = library.sql("SELECT outcome FROM change ORDER BY id DESC LIMIT 1");
    let count = library.sql("SELECT count(*) FROM journal");
    assert_eq!(count, "0", "{place}");
    if is_after {
        assert_eq!(outcome, "applied", "{place}");
    } else {
        assert_ne!(outcome, "pending", "{place}");
    }
    if story.name == "curate" {
        booked(library, &place, is_after);
    }
    let sync = library.json(&["sync", "skills"]);
    for kind in ["added", "changed", "moved", "missing", "back"] {
        assert_eq!(
            sync[kind].as_array().map(Vec::len).unwrap_or_default(),
            0,
            "{place}: {kind}: {sync}"
        );
    }
    let doctor = library.skilldb(&["doctor"]).output().unwrap();
    assert_eq!(code(&doctor), 0, "{place}: {}", library.told(&doctor));
    is_after
}

/// A run of the curator counts when it was done, and only then; the next one closes what was cut short and writes the
/// report that is missing.
fn booked(library: &Library, place: &str, is_after: bool) {
    let done = library.sql("SELECT count(*) FROM v_curator_run WHERE status = 'done'");
    assert_eq!(done, if is_after { "1" } else { "0" }, "{place}");
    let states = library.sql("SELECT state FROM v_skill ORDER BY name");
    assert_eq!(
        states,
        if is_after {
            "archived\nstale"
        } else {
            "active\nactive"
        },
        "{place}"
    );
    library.json(&["curate", "pause"]);
    library.json(&["curate", "resume"]);
    for path in library
        .sql("SELECT coalesce(report_path, '-') FROM v_curator_run WHERE status = 'done'")
        .lines()
    {
        let is_there = |ending: &str| std::path::Path::new(&format!("{path}.{ending}")).is_file();
        assert!(
            is_there("md") && is_there("json"),
            "{place}: no report at {path}"
        );
    }
}

#[test]
fn a_change_that_is_killed_at_any_step_is_whole_or_not_there() {
    let mut kills = 0;
    for story in &STORIES {
        let library = library();
        for command in story.given {
            library.json(command);
        }
        keep(&library);
        let before = tree(&library.path("skills"));
        assert!(!run(&library, story.change, None));
        let after = tree(&library.path("skills"));
        assert_ne!(before, after, "{}", story.name);
        let (mut finished, mut step) = (0, 1);
        loop {
            reset(&library);
            if !run(&library, story.change, Some(step)) {
                break;
            }
            finished += u64::from(check(&library, story, step, &before, &after));
            step += 1;
        }
        println!(
            "{}: killed at {} steps, finished after {finished}",
            story.name,
            step - 1
        );
        assert!(step > 4, "{}: only {step} steps", story.name);
        kills += step - 1;
    }
    println!("{kills} kills");
}

#[test]
fn a_snapshot_that_is_brought_back_and_killed_at_any_step_is_whole_or_not_there() {
    let library = library();
    library.json(&["snapshot", "create"]);
    library.json(&["rename", "deploy", "ship"]);
    library.json(&["write", "notes/references/a.md", "--from", "fresh.md"]);
    library.json(&["create", "fresh", "--from", "fresh.md", "--root", "skills"]);
    keep(&library);
    let story = Story {
        name: "snapshot restore",
        given: &[],
        change: &["snapshot", "restore", "1"],
        by_reader: true,
    };
    let before = tree(&library.path("skills"));
    assert!(!run(&library, story.change, None));
    let after = tree(&library.path("skills"));
    let mut step = 1;
    loop {
        reset(&library);
        if !run(&library, story.change, Some(step)) {
            break;
        }
        check(&library, &story, step, &before, &after);
        step += 1;
    }
    println!("snapshot restore: killed at {} steps", step - 1);
    assert!(step > 10);
}
