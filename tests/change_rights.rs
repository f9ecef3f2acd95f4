//! Who may change what: the policy, proposals, marks, and the states of skills.

#![expect(
    clippy::unwrap_used,
    reason = "what cannot be arranged is a failed test"
)]

mod common;
#[path = "common/tree.rs"]
mod trees;

use std::fs;

use common::{Library, code};
use serde_json::{Value, json};
use skilldb::store::Store;
use skilldb::time::Timestamp;
use trees::tree;

/// A skill of each origin: `mine` by a person, `theirs` by an agent, `found` by nobody knows whom.
fn library() -> Library {
    let library = Library::new();
    library.skill("found", "Was there");
    library.sync();
    for (name, actor) in [("mine", "user"), ("theirs", "agent")] {
        library.write(
            "given.md",
            format!("---\nname: {name}\ndescription: Is one.\n---\nOne line.\n").as_bytes(),
        );
        library.json(&[
            "create", name, "--from", "given.md", "--root", "skills", "--actor", actor,
        ]);
    }
    library
}

fn refused(library: &Library, args: &[&str]) -> String {
    let told = library.json_exit(args, 1);
    told["error"]["code"].as_str().unwrap().to_owned()
}

fn patch<'a>(name: &'a str, actor: &'a str) -> [&'a str; 8] {
    [
        "patch",
        name,
        "--old",
        "One line.",
        "--new",
        "Another line.",
        "--actor",
        actor,
    ]
}

#[test]
fn automation_acts_only_on_what_agents_made() {
    let library = library();
    let before = tree(&library.path("skills"));
    for actor in ["background-review", "curator"] {
        for name in ["mine", "found"] {
            for change in [
                vec!["archive", name],
                vec!["delete", name, "--forever", "--yes"],
                vec!["rename", name, "other"],
            ] {
                let args = [&change[..], &["--actor", actor]].concat();
                assert_eq!(refused(&library, &args), "not-made-by-agents", "{args:?}");
            }
        }
        assert_eq!(
            refused(&library, &patch("mine", actor)),
            "not-made-by-agents"
        );
        assert_eq!(
            refused(
                &library,
                &["delete", "theirs", "--forever", "--yes", "--actor", actor]
            ),
            "never-for-good"
        );
        assert_eq!(
            refused(&library, &["undo", "3", "--actor", actor]),
            "never-for-good"
        );
        assert_eq!(
            refused(
                &library,
                &["adopt", "found", "--as", "agent", "--actor", actor]
            ),
            "only-a-person"
        );
    }
    assert_eq!(tree(&library.path("skills")), before);
    library.json(&patch("theirs", "curator"));
    library.json(&["archive", "theirs", "--actor", "curator"]);
}

#[test]
fn a_pin_keeps_a_skill_in_its_place_and_lets_patches_through() {
    let library = library();
    library.json(&["pin", "theirs", "--reason", "counts once a year"]);
    assert_eq!(
        refused(&library, &["archive", "theirs", "--actor", "curator"]),
        "pinned"
    );
    library.json(&patch("theirs", "curator"));
    assert_eq!(
        refused(&library, &["unpin", "theirs", "--actor", "agent"]),
        "only-a-person"
    );
    library.json(&["unpin", "theirs"]);
    library.json(&["archive", "theirs", "--actor", "curator"]);
    assert_eq!(
        library.sql("SELECT group_concat(mark, ' ') FROM v_mark"),
        "pin unpin"
    );
}

#[test]
fn what_a_person_changed_is_left_alone_until_it_is_released() {
    for by_hand in [true, false] {
        let library = library();
        if by_hand {
            let path = library.path("skills/theirs/SKILL.md");
            let text = fs::read_to_string(&path).unwrap();
            library.write(
                "skills/theirs/SKILL.md",
                format!("{text}By hand.\n").as_bytes(),
            );
        } else {
            library.json(&["patch", "theirs", "--old", "Is one", "--new", "Is mine now"]);
        }
        assert_eq!(
            refused(&library, &patch("theirs", "background-review")),
            "not-made-by-agents"
        );
        assert_eq!(
            refused(&library, &["release", "mine"]),
            "not-made-by-agents"
        );
        library.json(&["release", "theirs"]);
        library.json(&patch("theirs", "background-review"));
        assert_eq!(
            library.json(&["release", "theirs"])["skills"][0]["changed"],
            false
        );
    }
}

#[test]
fn what_a_person_decided_is_not_taken_back_by_automation() {
    let library = library();
    library.json(&["archive", "theirs"]);
    assert_eq!(
        refused(&library, &["restore", "theirs", "--actor", "curator"]),
        "decided-by-a-person"
    );
    assert_eq!(
        refused(&library, &["undo", "4", "--actor", "curator"]),
        "decided-by-a-person"
    );
    library.json(&["restore", "theirs"]);
    // A hand edit in a skill that is only named is seen before it is rewritten.
    library.write(
        "skills/theirs/SKILL.md",
        b"---\nname: theirs\ndescription: Is one.\n---\nUse the friend skill.\nBy hand.\n",
    );
    library.write(
        "given.md",
        b"---\nname: friend\ndescription: Is a friend.\n---\nBody.\n",
    );
    library.json(&[
        "create", "friend", "--from", "given.md", "--root", "skills", "--actor", "agent",
    ]);
    let told = library.json(&["rename", "friend", "pal", "--actor", "curator"]);
    assert!(
        told["notes"][0].as_str().unwrap().contains("is left alone"),
        "{told}"
    );
    assert!(
        fs::read_to_string(library.path("skills/theirs/SKILL.md"))
            .unwrap()
            .contains("friend")
    );
}

#[test]
fn inside_a_session_an_agent_is_at_work_and_cannot_become_a_person() {
    let library = library();
    let run = |args: &[&str], variables: &[(&str, &str)]| -> Value {
        let mut process = library.process(&[args, &["--json"]].concat());
        process.envs(variables.iter().copied());
        serde_json::from_slice(&process.output().unwrap().stdout).unwrap()
    };
    let told = run(&patch("theirs", "agent")[..6], &[("SKILLDB_SESSION", "s1")]);
    assert_eq!(told["change"]["actor"], "agent");
    assert_eq!(told["change"]["session"], "s1");
    let told = run(&["archive", "mine"], &[("SKILLDB_SESSION", "s1")]);
    assert_eq!(told["results"][0]["outcome"], "proposed");
    for args in [
        &["archive", "mine", "--actor", "user"][..],
        &["proposals", "approve", "1", "--actor", "user"],
    ] {
        assert_eq!(
            run(args, &[("SKILLDB_SESSION", "s1")])["error"]["code"],
            "actor-too-high"
        );
    }
    assert_eq!(
        run(&["proposals", "approve", "1"], &[("SKILLDB_SESSION", "s1")])["error"]["code"],
        "only-a-person"
    );
    assert_eq!(
        run(
            &["archive", "theirs", "--actor", "agent"],
            &[("SKILLDB_ACTOR", "curator")]
        )["error"]["code"],
        "actor-too-high"
    );
}

#[test]
fn a_proposal_waits_for_a_person_and_keeps_who_asked() {
    let library = library();
    let ask = [
        "archive",
        "mine",
        "--actor",
        "agent",
        "--session",
        "s1",
        "--reason",
        "unused",
    ];
    let told = library.json(&ask);
    assert_eq!(told["results"][0]["outcome"], "proposed");
    // Asked again it is the same one.
    assert_eq!(library.json(&ask)["results"][0]["proposal"], 1);
    let listed = library.json(&["proposals"]);
    assert_eq!(listed["proposals"][0]["asked"], 2);
    assert_eq!(listed["proposals"][0]["state"], "waiting");
    assert!(library.path("skills/mine/SKILL.md").exists());
    let done = library.json(&["proposals", "approve", "1"]);
    let change = &done["results"][0]["change"];
    assert_eq!(
        (&change["actor"], &change["session"], &change["reason"]),
        (&json!("agent"), &json!("s1"), &json!("unused"))
    );
    assert!(!library.path("skills/mine").exists());
    assert_eq!(
        library.sql("SELECT decision, change_id = (SELECT max(id) FROM change) FROM v_proposal"),
        "approved\t1"
    );
    assert_eq!(
        refused(&library, &["proposals", "approve", "1"]),
        "proposal-decided"
    );
    assert_eq!(
        refused(&library, &["proposals", "show", "7"]),
        "proposal-not-found"
    );
}

#[test]
fn an_approval_is_for_the_files_it_was_asked_on() {
    let library = library();
    library.json(&["archive", "mine", "--actor", "agent"]);
    let text = fs::read_to_string(library.path("skills/mine/SKILL.md")).unwrap();
    library.write("skills/mine/SKILL.md", format!("{text}More.\n").as_bytes());
    let told = library.json_exit(&["proposals", "approve", "1"], 1);
    assert_eq!(told["error"]["code"], "conflict");
    assert!(
        told["error"]["path"]
            .as_str()
            .unwrap()
            .ends_with("skills/mine")
    );
    assert!(library.path("skills/mine/SKILL.md").exists());
    assert_eq!(
        library.json(&["proposals"])["proposals"]
            .as_array()
            .unwrap()
            .len(),
        1
    );
    // Asked for anew, it is about the new text.
    library.json(&["archive", "mine", "--actor", "agent"]);
    library.json(&["proposals", "approve", "1"]);
    library.json(&["undo"]);
    library.json(&["archive", "mine", "--actor", "agent"]);
    library.json(&["proposals", "reject", "2", "--note", "needed"]);
    assert_eq!(
        library.sql("SELECT decision, note FROM v_proposal WHERE id = 2"),
        "rejected\tneeded"
    );
    assert_eq!(library.json(&["proposals"])["proposals"], json!([]));
}

#[test]
fn an_old_proposal_expires_and_ownership_is_asked_again() {
    let library = library();
    library.write("data/config.yaml", b"write_policy:\n  curator: ask\n");
    library.json(&["archive", "theirs", "--actor", "curator"]);
    // A person took the skill over meanwhile.
    library.json(&["adopt", "theirs"]);
    assert_eq!(
        refused(&library, &["proposals", "approve", "1"]),
        "not-made-by-agents"
    );
    library.json(&["adopt", "theirs", "--as", "agent"]);
    let later = [("SKILLDB_NOW", "2026-03-01T00:00:00.000Z")];
    let mut process = library.process(&["proposals", "approve", "1", "--json"]);
    process.envs(later);
    let told: Value = serde_json::from_slice(&process.output().unwrap().stdout).unwrap();
    assert_eq!(told["error"]["code"], "proposal-decided");
    assert_eq!(library.sql("SELECT decision FROM v_proposal"), "expired");
}

#[test]
fn the_configuration_narrows_what_each_may_do() {
    let library = library();
    library.write(
        "data/config.yaml",
        b"write_policy:\n  agent:\n    patch: ask\n    delete: deny\n    archive: auto\n",
    );
    assert_eq!(
        library.json(&patch("theirs", "agent"))["outcome"],
        "proposed"
    );
    library.json(&["archive", "mine", "--actor", "agent"]);
    assert!(!library.path("skills/mine").exists());
    assert_eq!(
        refused(&library, &["delete", "theirs", "--actor", "agent"]),
        "denied-by-policy"
    );
    for (text, line) in [
        ("write_policy:\n  robot: ask\n", "robot"),
        ("write_policy:\n  agent: maybe\n", "maybe"),
        ("write_policy:\n  agent:\n    fly: ask\n", "fly"),
    ] {
        library.write("data/config.yaml", text.as_bytes());
        let told = library.json_exit(&["list"], 2);
        assert!(
            told["error"]["message"].as_str().unwrap().contains(line),
            "{told}"
        );
    }
}

#[test]
fn nobody_writes_below_a_root_of_somebody_else() {
    let library = Library::new();
    library.write(
        "theirs/tool/SKILL.md",
        b"---\nname: tool\ndescription: Is theirs.\n---\nBody.\n",
    );
    library.json(&["sync", "--root", "external=theirs"]);
    assert_eq!(
        refused(&library, &["patch", "tool", "--old", "Body", "--new", "x"]),
        "read-only-root"
    );
    library.write(
        "given.md",
        b"---\nname: fresh\ndescription: Is new.\n---\nBody.\n",
    );
    for change in [
        &["archive", "tool"][..],
        &["delete", "tool", "--forever", "--yes"],
        &["rename", "tool", "other"],
        &["edit", "tool", "--from", "theirs/tool/SKILL.md"],
        &["write", "tool/references/a.md", "--from", "given.md"],
        &["create", "fresh", "--from", "given.md", "--root", "theirs"],
    ] {
        let word = refused(&library, change);
        // A text that says nothing new is refused for that.
        assert!(
            ["read-only-root", "no-change"].contains(&word.as_str()),
            "{change:?}: {word}"
        );
    }
    assert_eq!(tree(&library.path("theirs")).len(), 2);
    library.json(&["pin", "tool"]);
}

#[test]
fn a_disabled_skill_is_so_everywhere_or_on_one_platform() {
    let library = library();
    library.json(&["disable", "mine", "found", "--platform", "windows"]);
    library.json(&["disable", "mine"]);
    assert_eq!(library.sql("SELECT count(*) FROM skill_disabled"), "3");
    assert_eq!(
        refused(&library, &["enable", "mine", "--platform", "linux"]),
        "disabled-everywhere"
    );
    library.json(&["enable", "mine"]);
    assert_eq!(library.sql("SELECT count(*) FROM skill_disabled"), "1");
    assert_eq!(
        library.json(&["enable", "mine"])["skills"][0]["changed"],
        false
    );
}

#[test]
fn every_move_between_states_is_in_the_ledger() {
    let library = library();
    library.json(&["archive", "mine", "--reason", "not needed"]);
    library.json(&["restore", "mine"]);
    library.json(&["archive", "mine"]);
    library.json(&["undo"]);
    let rows = library.sql("SELECT group_concat(from_state || '>' || to_state || ':' || reason, '|') FROM (SELECT * FROM v_transition ORDER BY id)");
    assert_eq!(
        rows,
        "active>archived:not needed|archived>active:restored|active>archived:archived by hand|archived>active:change 6 undone"
    );
}

#[test]
fn a_stale_skill_that_a_person_uses_is_active_again_and_a_background_use_counts_for_nothing() {
    let library = library();
    // What the curator writes when a skill ages.
    let id: i64 = library
        .sql("SELECT skill_id FROM manifest WHERE name = 'theirs'")
        .parse()
        .unwrap();
    let then = Timestamp::parse("2026-01-01T00:00:00.000Z").unwrap();
    let mut store = Store::open(&library.path("data"), then).unwrap().unwrap();
    store
        .write(|tx| tx.transition_by("curator", id, "active", "stale", "idle", then))
        .unwrap();
    drop(store);
    let state = "SELECT state FROM v_skill WHERE name = 'theirs'";
    assert_eq!(library.sql(state), "stale");
    library.json(&[
        "record",
        "use",
        "theirs",
        "--event-id",
        "b",
        "--actor",
        "background_review",
    ]);
    library.json(&[
        "record",
        "use",
        "theirs",
        "--event-id",
        "old",
        "--at",
        "2025-06-01T00:00:00Z",
    ]);
    library.json(&patch("theirs", "curator"));
    assert_eq!(library.sql(state), "stale");
    library.json(&["record", "use", "theirs", "--event-id", "f"]);
    assert_eq!(library.sql(state), "active");
    assert_eq!(
        library.sql("SELECT to_state, reason FROM v_transition ORDER BY id DESC LIMIT 1"),
        "active\tused again"
    );
}

#[test]
fn a_first_skill_makes_a_library_and_a_refused_one_makes_none() {
    let library = Library::new();
    library.write(
        "given.md",
        b"---\nname: first\ndescription: Is the first.\n---\nBody.\n",
    );
    assert_eq!(
        refused(&library, &["create", "Bad", "--from", "given.md"]),
        "name-charset"
    );
    library.json(&["create", "first", "--from", "given.md", "--dry-run"]);
    assert!(!library.path("data/skilldb.db").exists());
    library.json(&["create", "first", "--from", "given.md"]);
    assert!(library.path("data/skills/first/SKILL.md").is_file());
    // What is put beside it by hand is seen by the next sync.
    library.write(
        "data/skills/second/SKILL.md",
        b"---\nname: second\ndescription: By hand.\n---\nBody.\n",
    );
    library.json(&["sync"]);
    assert_eq!(library.listed(&[]), ["first", "second"]);
}

#[test]
fn a_rename_takes_along_what_names_the_skill_and_leaves_the_rest() {
    let library = library();
    library.write("skills/found/SKILL.md", b"---\nname: found\ndescription: Was there.\nrelated_skills: [mine]\ntags: [mine]\n---\nRun /mine, or use the `mine` skill.\nA gold mine.\nSee [it](../mine/SKILL.md).\n");
    library.write(
        "jobs.json",
        b"{\"skills\": [\"mine\", \"/mine\"], \"prompt\": \"Go to the mine.\"}\n",
    );
    library.write("data/config.yaml", b"automations: [../jobs.json]\n");
    library.write(
        "bin/crontab",
        b"#!/bin/sh\necho '0 5 * * * agent run /mine'\n",
    );
    let script = library.path("bin/crontab");
    fs::set_permissions(&script, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    library.sync();
    let mut process = library.process(&["rename", "mine", "kept/treasure"]);
    process.env(
        "PATH",
        format!("{}:/usr/bin:/bin", library.path("bin").display()),
    );
    let output = process.output().unwrap();
    let told = library.told(&output);
    assert_eq!(code(&output), 0, "{told}");
    assert!(
        told.contains("Your crontab still names `mine`: line 1"),
        "{told}"
    );
    assert!(told.contains("SKILL.md:4 (value), SKILL.md:7 (slash command), SKILL.md:7 (mention), SKILL.md:9 (path)"), "{told}");
    let text = fs::read_to_string(library.path("skills/found/SKILL.md")).unwrap();
    assert_eq!(
        text,
        "---\nname: found\ndescription: Was there.\nrelated_skills: [treasure]\ntags: [mine]\n---\nRun /treasure, or use the `treasure` skill.\nA gold mine.\nSee [it](../kept/treasure/SKILL.md).\n"
    );
    assert_eq!(
        fs::read_to_string(library.path("jobs.json")).unwrap(),
        "{\"skills\": [\"treasure\", \"/treasure\"], \"prompt\": \"Go to the mine.\"}\n"
    );
    assert!(
        fs::read_to_string(library.path("skills/kept/treasure/SKILL.md"))
            .unwrap()
            .starts_with("---\nname: treasure\n")
    );
    assert_eq!(library.json(&["doctor"])["healthy"], true);
}
