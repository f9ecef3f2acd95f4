//! Owns the tests of what belongs together: turns, sessions, forks.

use super::*;

#[test]
fn one_use_per_skill_and_turn() {
    let uses = read_all(&[
        meta(SESSION),
        turn(6, "t1"),
        user(7, &block("a")),
        cat(8, "c1", "a"),
        cat(8, "c2", "b"),
        end(9, "c2", 0),
        cat(9, "c3", "b"),
        turn(9, "t1"),
        user(10, &block("b")),
        user(10, &block("b")),
        cat(11, "c4", "c"),
        user(11, &block("c")),
        end(12, "c4", 1),
        turn(13, "t2"),
        cat(14, "c5", "a"),
    ]);
    let expected = [
        "codex:t1:a",
        "codex:t1:b",
        "codex:t1:b",
        "codex:t1:c",
        "codex:t2:a",
    ];
    assert_eq!(ids(&uses), expected);
    let typed: Vec<bool> = uses.iter().map(|found| found.is_typed).collect();
    assert_eq!(typed, [true, false, true, true, false]);
}

#[test]
fn a_name_that_differs_from_the_folder_is_the_same_event() {
    let named = block("pdf").replace("<name>pdf<", "<name>PDF tools<");
    let uses = read_all(&[
        turn(1, "t1"),
        cat(1, "c1", "pdf"),
        end(2, "c1", 1),
        user(3, &named),
    ]);
    assert_eq!(ids(&uses), ["codex:t1:pdf", "codex:t1:pdf"]);
    assert_eq!(uses[1].name, "PDF tools");
    let unplaced = "<skill>\n<name>pdf</name>\n<path></path>\n</skill>";
    let uses = read_all(&[turn(1, "t1"), user(1, unplaced), cat(2, "c1", "pdf")]);
    assert_eq!(ids(&uses), ["codex:t1:pdf"]);
    assert_eq!(uses[0].path, None);
}

#[test]
fn turns_without_ids() {
    let uses = read_all(&[
        meta(SESSION),
        user(6, &block("a")),
        old_turn(6),
        cat(7, "c1", "b"),
        old_turn(8),
        user(8, "go on"),
        cat(9, "c2", "b"),
    ]);
    let expected = [
        "codex:0197-own:turn0:a",
        "codex:0197-own:turn1:b",
        "codex:0197-own:turn2:b",
    ];
    assert_eq!(ids(&uses), expected);
}

#[test]
fn turns_without_contexts() {
    let uses = read_all(&[
        meta(SESSION),
        user(
            6,
            "<environment_context>\n<cwd>/w</cwd>\n</environment_context>",
        ),
        user(6, "use $a and $b"),
        user(6, &block("a")),
        user(6, &block("b")),
        cat(7, "c1", "a"),
        user(8, "again"),
        cat(9, "c2", "a"),
    ]);
    let expected = [
        "codex:0197-own:turn1:a",
        "codex:0197-own:turn1:b",
        "codex:0197-own:turn2:a",
    ];
    assert_eq!(ids(&uses), expected);
}

#[test]
fn the_first_message_and_the_first_context_are_one_turn() {
    let lines = [
        meta(SESSION),
        user(6, "hi"),
        user(6, &block("a")),
        old_turn(7),
        cat(7, "c1", "a"),
    ];
    assert_eq!(ids(&read_all(&lines)), ["codex:0197-own:turn1:a"]);
}

#[test]
fn a_fork_yields_the_ids_of_its_parent() {
    let copied = [
        old_turn(1),
        user(1, &block("a")),
        old_turn(5),
        cat(5, "c1", "b"),
    ];
    let parent = read_all(&[vec![meta("0196-parent")], copied.to_vec()].concat());
    assert_eq!(
        ids(&parent),
        ["codex:0196-parent:turn1:a", "codex:0196-parent:turn2:b"]
    );

    let mut state = CodexState::default();
    let other = meta("0196-parent").replace("\"/w\"", "\"/elsewhere\"");
    let oldest = meta("0195-grandparent");
    let own = vec![old_turn(6), cat(6, "c2", "a")];
    let lines = [vec![meta(SESSION), other, oldest], copied.to_vec(), own].concat();
    let mut fork = read(&mut state, &lines);
    flush(&mut state, &mut fork);
    assert_eq!(ids(&fork[..2]), ids(&parent));
    assert_eq!(ids(&fork[2..]), ["codex:0197-own:turn3:a"]);
    assert_eq!(state.session_id.as_deref(), Some(SESSION));
    assert_eq!(state.parent_id.as_deref(), Some("0196-parent"));
    assert_eq!(state.cwd.as_deref(), Some("/w"));
}

#[test]
fn a_session_taken_up_again_has_no_parent() {
    let mut state = CodexState::default();
    let uses = read(
        &mut state,
        &[
            meta(SESSION),
            meta(SESSION),
            turn(1, "t"),
            old_turn(2),
            user(3, &block("a")),
        ],
    );
    assert_eq!(ids(&uses), ["codex:0197-own:turn2:a"]);
    assert_eq!(state.parent_id, None);
}

#[test]
fn subagents_are_told() {
    let of = |source: Value| {
        let mut state = CodexState::default();
        read(
            &mut state,
            &[line(
                0,
                "session_meta",
                &json!({"id": "x", "source": source}),
            )],
        );
        state.subagent
    };
    assert_eq!(of(json!("cli")), None);
    assert_eq!(of(json!({"subagent": null})), None);
    assert_eq!(of(json!({"subagent": "review"})).as_deref(), Some("review"));
    let spawned = json!({"subagent": {"thread_spawn": {"parent_thread_id": "y", "depth": 1}}});
    assert_eq!(of(spawned).as_deref(), Some("thread_spawn"));
    assert_eq!(of(json!({"subagent": 1})).as_deref(), Some("subagent"));
}
