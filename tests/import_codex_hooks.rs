//! What Codex told a hook and what its rollout says of the same turn: counted once.

#![expect(
    clippy::unwrap_used,
    reason = "what cannot be arranged is a failed test"
)]

mod codex;
mod common;

use codex::{
    Rollout, SESSION, TEA, assert_healthy, begun, block, cat, counted, ended, events, full, import,
    message, time, turn, uses,
};
use common::Library;
use serde_json::{Value, json};

/// Tells the hook what Codex tells it in a turn; it must stay silent.
fn tell(library: &Library, event: &str, second: u32, more: &Value) {
    let rollout = Rollout::new(library, SESSION).path;
    let mut input = json!({"hook_event_name": event, "session_id": SESSION, "turn_id": "turn-1", "cwd": full(library, "proj"),
        "model": "some-model", "permission_mode": "default", "transcript_path": rollout.to_str().unwrap()});
    let fields = input.as_object_mut().unwrap();
    fields.extend(more.as_object().unwrap().clone());
    let output = library
        .skilldb(&["hook", "codex"])
        .env("SKILLDB_NOW", time(second))
        .write_stdin(input.to_string())
        .output()
        .unwrap();
    assert_eq!(library.told(&output), "exit 0\n");
    assert!(!library.path("data/logs/hook.log").exists());
}

fn tell_ran(library: &Library, second: u32, command: &str) {
    let more = json!({"tool_name": "Bash", "tool_use_id": "c1", "tool_input": {"command": command}, "tool_response": "x"});
    tell(library, "PostToolUse", second, &more);
}

#[test]
fn what_hooks_heard_counts_once_and_the_end_of_a_turn_imports_the_rest() {
    let (library, rollout) = begun();
    let (tea, deploy) = (
        full(&library, TEA),
        full(&library, "skills/deploy/SKILL.md"),
    );
    tell(
        &library,
        "UserPromptSubmit",
        2,
        &json!({"prompt": "use $tea, then $HOME and $tea"}),
    );
    tell_ran(&library, 4, &format!("cat '{deploy}'"));
    tell_ran(&library, 4, &format!("ls '{deploy}'"));
    assert_eq!(uses(&library), "tea\tslash\t1\ndeploy\tmodel\topen");
    rollout.add(&[
        message(2, "user", "use $tea, then $HOME and $tea"),
        message(2, "user", &block("tea", &tea)),
        cat(3, "c1", &deploy),
        ended(4, "c1", 1),
    ]);
    tell(&library, "Stop", 5, &json!({}));
    assert_eq!(
        uses(&library),
        "tea\tslash\t1\ndeploy\tmodel\t0",
        "how it ended is known now"
    );
    assert_eq!(counted(&library), "deploy1 tea1");
    let report = import(&library);
    assert_eq!(
        (events(&report), &report["files"]["unchanged"]),
        ((0, 0), &json!(1))
    );
    assert_healthy(&library);
}

#[test]
fn what_hooks_heard_counts_once_when_only_an_import_follows() {
    let (library, rollout) = begun();
    let tea = full(&library, TEA);
    tell(&library, "UserPromptSubmit", 2, &json!({"prompt": "$tea"}));
    tell_ran(&library, 4, &format!("cat '{tea}'"));
    assert_eq!(counted(&library), "tea1", "once a turn");
    rollout.add(&[
        message(2, "user", &block("tea", &tea)),
        cat(3, "c1", &tea),
        ended(4, "c1", 0),
    ]);
    assert_eq!(events(&import(&library)), (0, 1));
    assert_eq!(counted(&library), "tea1");
    // The next turn was heard by nobody.
    rollout.add(&[turn(&library, 9, "turn-2"), cat(10, "c2", &tea)]);
    assert_eq!(events(&import(&library)), (1, 0));
    assert_eq!(counted(&library), "tea2");
}

#[test]
fn a_stop_without_a_hook_before_imports_all() {
    let (library, rollout) = begun();
    rollout.add(&[message(2, "user", &block("tea", &full(&library, TEA)))]);
    tell(&library, "Stop", 5, &json!({}));
    assert_eq!(counted(&library), "tea1");
    tell(&library, "Stop", 6, &json!({"transcript_path": null}));
    assert_eq!(counted(&library), "tea1");
}

#[test]
fn a_hook_and_the_rollout_agree_on_the_copy_that_ran() {
    let (library, rollout) = begun();
    library.write(
        "other/tea/SKILL.md",
        b"---\nname: tea\ndescription: another\n---\n",
    );
    library.json(&["sync", "other"]);
    tell(
        &library,
        "UserPromptSubmit",
        2,
        &json!({"prompt": "make $tea"}),
    );
    let file = full(&library, "other/tea/SKILL.md");
    rollout.add(&[message(2, "user", &block("tea", &file))]);
    assert_eq!(events(&import(&library)), (0, 1));
    let used = library.sql("SELECT root, use_count FROM v_skill WHERE use_count > 0");
    assert_eq!(library.normal(&used), "[DIR]/other\t1");
    assert_healthy(&library);
}

#[test]
fn a_skill_in_a_folder_of_another_name_counts_once_a_turn() {
    let (library, rollout) = begun();
    library.write(
        "skills/brewing/SKILL.md",
        b"---\nname: brew\ndescription: x\n---\n",
    );
    library.sync();
    let file = full(&library, "skills/brewing/SKILL.md");
    let lines = [
        message(2, "user", &block("brew", &file)),
        cat(3, "c1", &file),
        ended(4, "c1", 0),
    ];
    rollout.add(&lines);
    assert_eq!(events(&import(&library)), (1, 0));
    // The same as hooks hear it, in a turn that is imported later.
    tell(
        &library,
        "UserPromptSubmit",
        12,
        &json!({"turn_id": "turn-2", "prompt": "$brew"}),
    );
    tell(
        &library,
        "PostToolUse",
        14,
        &json!({"turn_id": "turn-2", "tool_name": "Bash", "tool_input": {"command": format!("cat '{file}'")}}),
    );
    assert_eq!(counted(&library), "brew2", "heard");
    rollout.add(&[turn(&library, 11, "turn-2")]);
    rollout.add(&lines);
    assert_eq!(events(&import(&library)), (0, 1));
    assert_eq!(counted(&library), "brew2");
}
