//! The history of skills: what each change did, how changes are taken back, snapshots, purging, archives of whole
//! libraries.

#![expect(
    clippy::unwrap_used,
    reason = "what cannot be arranged is a failed test"
)]

mod common;
#[path = "common/tree.rs"]
mod trees;

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use common::{Library, code};
use trees::tree;

fn library() -> Library {
    let library = Library::new();
    library.write(
        "skills/notes/SKILL.md",
        b"---\nname: notes\ndescription: Keeps notes.\n---\nOne.\nTwo.\nThree.\nFour.\nFive.\n",
    );
    library.write(
        "skills/ops/deploy/SKILL.md",
        b"---\nname: deploy\ndescription: Ships it.\n---\nRun it.\n",
    );
    library.write("skills/ops/deploy/scripts/run.sh", b"#!/bin/sh\n");
    fs::set_permissions(
        library.path("skills/ops/deploy/scripts/run.sh"),
        fs::Permissions::from_mode(0o755),
    )
    .unwrap();
    library.sync();
    library
}

fn text(library: &Library, name: &str) -> String {
    fs::read_to_string(library.path(&format!("skills/{name}/SKILL.md"))).unwrap()
}

fn patch(library: &Library, old: &str, new: &str) -> String {
    library.json(&["patch", "notes", "--old", old, "--new", new])["change"]["id"].to_string()
}

#[test]
fn an_undo_keeps_what_was_changed_later_in_other_lines() {
    let library = library();
    let first = patch(&library, "Two.", "Two changed.");
    patch(&library, "Five.", "Five changed.");
    library.json(&["undo", &first]);
    assert!(text(&library, "notes").ends_with("One.\nTwo.\nThree.\nFour.\nFive changed.\n"));
    // Done twice it is refused, and says how to get it back.
    let told = library.json_exit(&["undo", &first], 1);
    assert_eq!(told["error"]["code"], "undone-already");
    library.json(&["undo", "4"]);
    assert!(
        text(&library, "notes").ends_with("One.\nTwo changed.\nThree.\nFour.\nFive changed.\n")
    );
}

#[test]
fn an_undo_of_lines_that_were_changed_again_is_refused_and_shows_the_place() {
    let library = library();
    let first = patch(&library, "Two.", "Two changed.");
    let second = patch(&library, "Two changed.", "Two changed again.");
    let before = text(&library, "notes");
    let told = library.json_exit(&["undo", &first], 1);
    assert_eq!(told["error"]["code"], "undo-conflict");
    assert_eq!(told["error"]["line"], 6);
    assert_eq!(told["error"]["places"][0]["now"], "Two changed again.\n");
    assert_eq!(told["error"]["places"][0]["wanted"], "Two.\n");
    assert!(
        told["error"]["hint"]
            .as_str()
            .unwrap()
            .contains(&format!("skilldb undo {second}"))
    );
    assert_eq!(text(&library, "notes"), before);
    // In the other order both go back.
    library.json(&["undo", &second]);
    library.json(&["undo", &first]);
    assert!(text(&library, "notes").ends_with("One.\nTwo.\nThree.\nFour.\nFive.\n"));
}

#[test]
fn without_a_number_the_newest_changes_are_taken_back_one_after_the_other() {
    let library = library();
    let before = tree(&library.path("skills"));
    patch(&library, "Two.", "2.");
    library.json(&[
        "write",
        "deploy/scripts/run.sh",
        "--from",
        "skills/notes/SKILL.md",
        "--no-executable",
    ]);
    library.json(&["archive", "deploy"]);
    library.json(&["rm-file", "#2/scripts/run.sh"]);
    library.json(&["restore", "deploy"]);
    for _ in 0..5 {
        library.json(&["undo"]);
    }
    assert_eq!(tree(&library.path("skills")), before);
    assert_eq!(
        library.json_exit(&["undo"], 1)["error"]["code"],
        "nothing-to-undo"
    );
}

#[test]
fn permissions_alone_are_a_change_and_are_taken_back() {
    let library = library();
    library.write("run.sh", b"#!/bin/sh\n");
    library.json(&[
        "write",
        "deploy/scripts/run.sh",
        "--from",
        "run.sh",
        "--no-executable",
    ]);
    let mode = |library: &Library| {
        fs::metadata(library.path("skills/ops/deploy/scripts/run.sh"))
            .unwrap()
            .permissions()
            .mode()
            & 0o777
    };
    assert_eq!(mode(&library), 0o644);
    library.json(&["undo"]);
    assert_eq!(mode(&library), 0o755);
}

#[test]
fn what_was_removed_for_good_comes_back_with_its_modes_links_and_empty_folders() {
    let library = library();
    symlink("run.sh", library.path("skills/ops/deploy/scripts/link")).unwrap();
    fs::create_dir(library.path("skills/ops/deploy/empty")).unwrap();
    library.sync();
    let before = tree(&library.path("skills"));
    let id = library.sql("SELECT id FROM v_skill WHERE name = 'deploy'");
    let told = library.json_exit(&["delete", "deploy", "--forever"], 1);
    assert_eq!(told["error"]["code"], "not-confirmed");
    library.json(&["delete", "deploy", "--forever", "--yes"]);
    assert!(!library.path("skills/ops").exists());
    library.json(&["undo"]);
    assert_eq!(tree(&library.path("skills")), before);
    // It is the same life.
    assert_eq!(
        library.sql("SELECT id FROM v_skill WHERE name = 'deploy'"),
        id
    );
    library.json(&["undo", "3"]);
    assert!(!library.path("skills/ops").exists());
}

#[test]
fn an_edit_made_by_hand_is_a_change_that_can_be_compared_and_taken_back() {
    let library = library();
    let before = text(&library, "notes");
    library.write(
        "skills/notes/SKILL.md",
        before.replace("Three.", "By hand.").as_bytes(),
    );
    // Not even synced: the change that comes next sees it first.
    patch(&library, "Five.", "5.");
    let log = library.json(&["log", "notes"]);
    let actions: Vec<&str> = log["changes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|change| change["action"].as_str().unwrap())
        .collect();
    assert_eq!(actions, ["patch", "external", "external"]);
    let hand = log["changes"][1]["id"].to_string();
    let diff = library.run(&["diff", "--change", &hand]);
    assert!(diff.contains("-Three.\n+By hand.\n"), "{diff}");
    let since = library.run(&["diff", "notes", "1"]);
    assert!(
        since.contains("+By hand.\n") && since.contains("+5.\n"),
        "{since}"
    );
    let between = library.run(&["diff", "notes", &format!("1..{hand}")]);
    assert!(
        between.contains("+By hand.\n") && !between.contains("+5.\n"),
        "{between}"
    );
    library.json(&["undo", &hand]);
    assert_eq!(text(&library, "notes"), before.replace("Five.", "5."));
}

#[test]
fn everything_a_session_did_is_taken_back_and_what_cannot_be_is_named() {
    let library = library();
    let before = tree(&library.path("skills"));
    let session = ["--session", "s1", "--actor", "agent"];
    library.json(
        &[
            &["patch", "notes", "--old", "One.", "--new", "1."][..],
            &session,
        ]
        .concat(),
    );
    library.json(
        &[
            &["patch", "deploy", "--old", "Run", "--new", "Start"][..],
            &session,
        ]
        .concat(),
    );
    library.json(
        &[
            &["patch", "notes", "--old", "Four.", "--new", "4."][..],
            &session,
        ]
        .concat(),
    );
    let told = library.json(&["undo", "--of-session", "s1"]);
    assert_eq!(told["results"].as_array().unwrap().len(), 3);
    assert_eq!(tree(&library.path("skills")), before);
    library.json(
        &[
            &["patch", "notes", "--old", "One.", "--new", "1."][..],
            &["--session", "s2"],
        ]
        .concat(),
    );
    library.json(
        &[
            &["patch", "deploy", "--old", "Run", "--new", "Start"][..],
            &["--session", "s2"],
        ]
        .concat(),
    );
    library.json(&["patch", "notes", "--old", "1.", "--new", "I."]);
    let told = library.json_exit(&["undo", "--of-session", "s2"], 1);
    assert_eq!(told["failed"], 1);
    assert!(text(&library, "ops/deploy").ends_with("Run it.\n"));
    assert!(text(&library, "notes").contains("I.\n"));
}

#[test]
fn the_log_can_be_narrowed_down() {
    let library = library();
    patch(&library, "One.", "1.");
    library.json_exit(&["patch", "notes", "--old", "Nowhere.", "--new", "x"], 1);
    library.json(&[
        "patch",
        "deploy",
        "--old",
        "Run",
        "--new",
        "Start",
        "--actor",
        "agent",
        "--session",
        "s9",
        "--reason",
        "asked to",
    ]);
    let ids = |args: &[&str]| -> Vec<i64> {
        let told = library.json(&[&["log"], args].concat());
        told["changes"]
            .as_array()
            .unwrap()
            .iter()
            .map(|change| change["id"].as_i64().unwrap())
            .collect()
    };
    assert_eq!(ids(&[]), [4, 3, 2, 1]);
    assert_eq!(ids(&["notes"]), [3, 2, 1]);
    assert_eq!(ids(&["--outcome", "failed"]), [3]);
    assert_eq!(ids(&["--actor", "agent"]), [4]);
    assert_eq!(ids(&["--session", "s9"]), [4]);
    assert_eq!(ids(&["--action", "patch", "-n", "2"]), [4, 3]);
    assert_eq!(ids(&["--since", "2027-01-01"]), [0_i64; 0]);
    let told = library.json(&["log", "deploy"]);
    assert_eq!(told["changes"][0]["reason"], "asked to");
    assert_eq!(
        library.json_exit(&["log", "--outcome", "lost"], 2)["error"]["code"],
        "usage"
    );
    assert_eq!(
        library.json_exit(&["log", "ghost"], 1)["error"]["code"],
        "skill-not-found"
    );
}

#[test]
fn a_snapshot_brings_back_every_file_of_every_kind() {
    let library = library();
    symlink("../outside", library.path("skills/ops/link")).unwrap();
    fs::create_dir(library.path("skills/empty")).unwrap();
    library.write("skills/ops/DESCRIPTION.md", b"What is for operations.\n");
    library.write("skills/ops/image.png", b"\x89PNG\0\0");
    library.sync();
    let then = tree(&library.path("skills"));
    let rows = "SELECT id, name, rel_path, state FROM v_skill ORDER BY id";
    let rows_then = library.sql(rows);
    library.json(&["snapshot", "create", "--reason", "before"]);
    patch(&library, "One.", "1.");
    library.json(&["archive", "deploy"]);
    library.json(&["rename", "notes", "memo"]);
    library.write(
        "fresh.md",
        b"---\nname: fresh\ndescription: Is new.\n---\nBody.\n",
    );
    library.json(&["create", "fresh", "--from", "fresh.md", "--root", "skills"]);
    library.write("skills/ops/image.png", b"\x89PNG\0\0\0");
    fs::remove_file(library.path("skills/ops/link")).unwrap();
    fs::remove_file(library.path("skills/ops/DESCRIPTION.md")).unwrap();
    // A folder where a file was.
    library.write("skills/ops/DESCRIPTION.md/inner", b"x");
    fs::remove_dir(library.path("skills/empty")).unwrap();
    let later = tree(&library.path("skills"));
    let differing = library.json(&["snapshot", "restore", "1", "--dry-run"]);
    assert!(differing["files"].as_array().unwrap().len() > 5);
    assert_eq!(tree(&library.path("skills")), later);
    let told = library.json(&["snapshot", "restore", "1"]);
    assert_eq!(told["safety_snapshot"], 2);
    assert_eq!(tree(&library.path("skills")), then);
    assert_eq!(library.sql(rows), rows_then);
    assert_eq!(library.json(&["doctor"])["healthy"], true);
    // Nothing that was changed by hand counts as an agent's or a person's edit now.
    let report = library.sync();
    assert_eq!(
        report["changed"]
            .as_array()
            .map(Vec::len)
            .unwrap_or_default(),
        0,
        "{report}"
    );
    library.json(&["undo"]);
    assert_eq!(tree(&library.path("skills")), later);
    library.json_exit(&["snapshot", "restore", "9"], 1);
    let pruned = library.json(&["snapshot", "prune", "--keep", "1", "--yes"]);
    assert_eq!(pruned["pruned"], serde_json::json!([1]));
    assert_eq!(
        library.json(&["snapshot", "list"])["snapshots"]
            .as_array()
            .unwrap()
            .len(),
        1
    );
}

/// The files of the library's home in which a text stands, packed or not.
fn holding(library: &Library, text: &str) -> Vec<String> {
    let files = tree(&library.path("data")).into_iter();
    files
        .filter(|(_, (_, _, bytes))| {
            bytes
                .windows(text.len())
                .any(|window| window == text.as_bytes())
        })
        .map(|(path, _)| path)
        .collect()
}

#[test]
fn purged_bytes_are_in_no_file_of_the_library() {
    let library = library();
    // Neither packed away nor in pieces: what is looked for is found as long as it is there.
    let secret = "sk-live-Zq7Xw2Rt9Kp4Vb8Nm3Lc6Hd1";
    patch(&library, "Two.", secret);
    assert!(!holding(&library, secret).is_empty());
    let told = library.json_exit(&["purge", "--containing", secret, "--yes"], 1);
    assert_eq!(told["error"]["code"], "still-there");
    // An edit that was not synced is one that says it, too.
    let file = library.path("skills/notes/SKILL.md");
    let more = format!("{}More.\n", fs::read_to_string(&file).unwrap());
    library.write("skills/notes/SKILL.md", more.as_bytes());
    let told = library.json_exit(&["purge", "--containing", secret, "--yes"], 1);
    assert_eq!(told["error"]["code"], "still-there");
    library.json(&[
        "patch",
        "notes",
        "--old",
        secret,
        "--new",
        "Two.",
        "--reason",
        &format!("takes {secret} out"),
    ]);
    library.json_exit(&["create", secret, "--from", "skills/notes/SKILL.md"], 1);
    library.write("data/config.yaml", b"write_policy:\n  agent: ask\n");
    library.json(&[
        "patch", "notes", "--old", "One.", "--new", secret, "--actor", "agent",
    ]);
    library.write(
        "skills/gone/SKILL.md",
        format!("---\nname: gone\ndescription: Says {secret}.\n---\nBody.\n").as_bytes(),
    );
    library.sync();
    library.remove("skills/gone");
    library.sync();
    let dry = library.json(&["purge", "--containing", secret, "--dry-run"]);
    assert_eq!(dry["hashes"].as_array().unwrap().len(), 3);
    assert_eq!(dry["proposals"], 1);
    assert_eq!(
        library.json_exit(&["purge", "--containing", secret], 1)["error"]["code"],
        "not-confirmed"
    );
    let told = library.json(&["purge", "--containing", secret, "--yes"]);
    assert_eq!(told["scrubbed"], true);
    assert_eq!(holding(&library, secret), [""; 0]);
    assert_eq!(
        library.json_exit(&["undo", "3"], 1)["error"]["code"],
        "not-kept"
    );
    let output = library
        .skilldb(&["diff", "--change", "2"])
        .output()
        .unwrap();
    assert_eq!(code(&output), 0);
    assert!(library.told(&output).contains("purged"));
    assert_eq!(library.json(&["doctor"])["healthy"], true);
    // What cannot be taken back any more does not stand in the way of what can.
    patch(&library, "Five.", "5.");
    library.json(&["undo"]);
    assert_eq!(
        library.json_exit(&["undo"], 1)["error"]["code"],
        "nothing-to-undo"
    );
}

#[test]
fn a_snapshot_leaves_alone_what_it_could_not_hold() {
    let library = library();
    library.write("skills/ops/deploy/.git/HEAD", b"ref: refs/heads/main\n");
    library.write("skills/.git/HEAD", b"ref: refs/heads/main\n");
    library.sync();
    let then = tree(&library.path("skills"));
    library.json(&["snapshot", "create"]);
    // A skill that is gone comes back with what belongs to it; the repository around the skills is not ours.
    library.remove("skills/ops/deploy");
    library.write("skills/.git/HEAD", b"ref: refs/heads/other\n");
    library.json(&["snapshot", "restore", "1"]);
    let mut now = tree(&library.path("skills"));
    assert_eq!(
        now.remove(".git/HEAD").unwrap().2,
        b"ref: refs/heads/other\n"
    );
    let mut then = then;
    then.remove(".git/HEAD");
    assert_eq!(now, then);
    // Bytes that are gone cost their file, not the rest.
    let hash = library
        .sql("SELECT hash FROM snapshot_file WHERE path = 'ops/deploy/scripts/run.sh' LIMIT 1");
    library.write(
        "skills/ops/deploy/scripts/run.sh",
        b"#!/bin/sh\necho other\n",
    );
    patch(&library, "One.", "1.");
    library.sync();
    library.json(&["purge", "--hash", &hash, "--yes"]);
    let told = library.json(&["snapshot", "restore", "1"]);
    assert!(
        told["notes"][0]
            .as_str()
            .unwrap()
            .contains("run.sh was not touched"),
        "{told}"
    );
    assert!(text(&library, "notes").contains("One.\n"));
    assert_eq!(
        fs::read(library.path("skills/ops/deploy/scripts/run.sh")).unwrap(),
        b"#!/bin/sh\necho other\n"
    );
    assert_eq!(
        library.json_exit(&["snapshot", "restore", "1", "--actor", "agent"], 1)["error"]["code"],
        "only-a-person"
    );
    assert_eq!(
        library.json_exit(&["snapshot", "restore", "1"], 1)["error"]["code"],
        "no-change"
    );
    assert_eq!(
        library.sql("SELECT count(*) FROM change WHERE action = 'restore' AND outcome = 'failed'"),
        "1"
    );
}

#[test]
fn an_archive_of_the_library_is_taken_over_once_however_often() {
    let library = library();
    library.json(&["record", "use", "notes", "--event-id", "e1"]);
    library.json(&["record", "use", "ghost", "--event-id", "e2"]);
    patch(&library, "Two.", "2.");
    library.json(&["archive", "deploy"]);
    library.write(
        "given.md",
        b"---\nname: old\ndescription: Is old.\n---\nBody.\n",
    );
    library.json(&[
        "create", "old", "--from", "given.md", "--root", "skills", "--actor", "agent",
    ]);
    library.json(&["archive", "old"]);
    library.json(&["pin", "notes"]);
    let undone = patch(&library, "Four.", "4.");
    library.json(&["undo", &undone]);
    library.json(&["backup", "library.tar"]);
    assert_eq!(
        library.json_exit(&["backup", "library.tar"], 1)["error"]["code"],
        "file-exists"
    );
    let other = Library::new();
    other.write(
        "skills/deploy/SKILL.md",
        b"---\nname: deploy\ndescription: Is another one.\n---\nOther.\n",
    );
    other.sync();
    other.json(&["record", "use", "deploy", "--event-id", "o1"]);
    let archive = library.path("library.tar");
    let archive = archive.to_str().unwrap();
    let dry = other.json(&["merge-backup", archive, "--dry-run"]);
    assert_eq!(dry["added"], serde_json::json!(["notes", "old"]));
    let told = other.json_exit(&["merge-backup", archive, "--actor", "curator"], 1);
    assert_eq!(told["error"]["code"], "only-a-person");
    assert!(!other.path("data/skills").exists());
    let told = other.json(&["merge-backup", archive]);
    assert_eq!(told["added"], serde_json::json!(["notes", "old"]));
    // The one that is here is another skill: nothing of the other's history is its own.
    assert_eq!(told["refused"][0]["name"], "deploy");
    assert_eq!(
        other.json(&["log", "deploy"])["changes"]
            .as_array()
            .unwrap()
            .len(),
        1
    );
    assert_eq!(told["uses"], serde_json::json!({"new": 2, "known": 0}));
    assert_eq!(
        fs::read(other.path("data/skills/notes/SKILL.md")).unwrap(),
        fs::read(library.path("skills/notes/SKILL.md")).unwrap()
    );
    assert_eq!(
        fs::read(other.path("skills/deploy/SKILL.md"))
            .unwrap()
            .last(),
        Some(&b'\n')
    );
    let counts = "SELECT (SELECT count(*) FROM change), (SELECT count(*) FROM revision), (SELECT count(*) FROM usage_event), (SELECT count(*) FROM state_transition), (SELECT count(*) FROM mark), (SELECT pinned FROM v_skill WHERE name = 'notes')";
    let states = "SELECT group_concat(name || ' ' || state || ' ' || origin, ', ') FROM (SELECT * FROM v_skill WHERE name IN ('notes', 'old') ORDER BY name)";
    assert_eq!(
        other.sql(states),
        "notes active unknown, old archived agent"
    );
    assert_eq!(other.sql(states), library.sql(states));
    assert_eq!(
        other.sql("SELECT count(*) FROM change WHERE undone_by IS NOT NULL"),
        "1"
    );
    other.json(&["restore", "old"]);
    other.json(&["undo"]);
    let first = other.sql(counts);
    let again = other.json(&["merge-backup", archive]);
    assert_eq!(again["uses"], serde_json::json!({"new": 0, "known": 2}));
    assert_eq!(again["added"], serde_json::json!([]));
    assert_eq!(other.sql(counts), first);
    assert!(first.ends_with("\t1"), "{first}");
    assert_eq!(other.json(&["doctor"])["healthy"], true);
    // The same skill with a later text keeps it.
    other.json(&["patch", "notes", "--old", "Five.", "--new", "5."]);
    let again = other.json(&["merge-backup", archive]);
    assert_eq!(again["differing"], serde_json::json!(["notes"]));
    assert!(
        fs::read_to_string(other.path("data/skills/notes/SKILL.md"))
            .unwrap()
            .ends_with("5.\n")
    );
    // Back home only what is new there comes along.
    other.json(&["backup", "other.tar"]);
    let back = library.json(&["merge-backup", other.path("other.tar").to_str().unwrap()]);
    assert_eq!(back["uses"], serde_json::json!({"new": 1, "known": 2}));
    assert_eq!(library.sql("SELECT count(*) FROM usage_event"), "3");
    library.write("no.tar", b"Not an archive.");
    assert_eq!(
        library.json_exit(&["merge-backup", "no.tar"], 1)["error"]["code"],
        "no-backup"
    );
}
