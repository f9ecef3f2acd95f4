//! What the curator keeps its hands from at the last moment: folders that are not there or are another skill by now, skills
//! that are reached another way, umbrellas younger than what they absorbed.

#![expect(
    clippy::unwrap_used,
    reason = "what cannot be arranged is a failed test"
)]

#[path = "common/aged.rs"]
mod aged;
mod common;
#[path = "common/tree.rs"]
mod trees;

use std::fs;
use std::os::unix::fs::symlink;

use aged::{at, library, outcomes, states};
use trees::tree;

#[test]
fn a_folder_that_is_away_during_a_run_is_kept_and_a_snapshot_does_not_empty_it() {
    let library = library();
    library.rename("skills/late", "away/late");
    let ran = at(&library, 100, &["curate", "--force"]);
    assert!(!outcomes(&ran).contains_key("late"), "{ran}");
    assert_eq!(outcomes(&ran)["old"], "archive");
    library.rename("away/late", "skills/late");
    let before = tree(&library.path("skills/late"));
    at(&library, 101, &["snapshot", "restore", "1", "--yes"]);
    assert_eq!(tree(&library.path("skills/late")), before);
    assert_eq!(states(&library)["old"], "active");
}

#[test]
fn a_new_skill_in_the_place_of_an_old_one_is_not_put_away_with_it() {
    let library = library();
    library.rename("skills/late/SKILL.md", "skills/late/inner/SKILL.md");
    library.write(
        "skills/late/mine/SKILL.md",
        b"---\nname: today\ndescription: Written today.\n---\nBody.\n",
    );
    let before = tree(&library.path("skills/late"));
    let ran = at(&library, 100, &["curate", "--force"]);
    assert!(!outcomes(&ran).contains_key("late"), "{ran}");
    assert_eq!(tree(&library.path("skills/late")), before);
    at(&library, 101, &["undo", "--curator-run", "1"]);
    assert_eq!(states(&library)["old"], "active");
}

#[test]
fn a_skill_that_another_root_reaches_through_a_link_is_kept() {
    let library = library();
    fs::create_dir(library.path("client")).unwrap();
    symlink(library.path("skills/late"), library.path("client/late")).unwrap();
    at(&library, 1, &["sync", "client"]);
    let ran = at(&library, 100, &["curate", "--force"]);
    assert!(!outcomes(&ran).contains_key("late"), "{ran}");
    assert!(library.path("client/late/SKILL.md").exists());
}

#[test]
fn an_umbrella_is_as_young_as_itself() {
    let library = library();
    library.write(
        "given.md",
        b"---\nname: umbrella\ndescription: Holds two.\n---\nBody.\n",
    );
    at(
        &library,
        89,
        &[
            "create",
            "umbrella",
            "--from",
            "given.md",
            "--root",
            "skills",
            "--actor",
            "background-review",
        ],
    );
    at(
        &library,
        89,
        &[
            "merge",
            "old",
            "older",
            "--into",
            "umbrella",
            "--actor",
            "background-review",
        ],
    );
    let planned = at(&library, 100, &["curate", "--dry-run"]);
    assert_eq!(outcomes(&planned)["umbrella"], "keep");
}

#[test]
fn a_list_of_jobs_that_cannot_be_reached_shields_everything() {
    let library = library();
    fs::create_dir(library.path("cron")).unwrap();
    symlink("/nowhere/jobs.json", library.path("cron/jobs.json")).unwrap();
    let planned = at(&library, 100, &["curate", "--dry-run"]);
    assert!(
        outcomes(&planned).values().all(|outcome| outcome == "keep"),
        "{planned}"
    );
    assert!(
        planned.to_string().contains("the link leads to nothing"),
        "{planned}"
    );
}

#[test]
fn snapshots_of_runs_do_not_push_out_those_of_the_whole_library() {
    let library = library();
    at(&library, 1, &["snapshot", "create", "--reason", "mine"]);
    at(&library, 40, &["curate", "--force"]);
    at(&library, 100, &["curate", "--force"]);
    at(
        &library,
        101,
        &["snapshot", "prune", "--keep", "1", "--yes"],
    );
    let left = library.sql("SELECT reason FROM v_snapshot ORDER BY id");
    assert_eq!(left, "mine\nbefore run 2 of the curator");
}
