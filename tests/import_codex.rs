//! Importing Codex' rollouts: the skill a user asks for, the skill whose file a command reads or runs, each
//! counted once a turn, in forks, growing files and archives.

#![expect(
    clippy::unwrap_used,
    reason = "what cannot be arranged is a failed test"
)]

mod codex;
mod common;

use std::fs;

use codex::{
    FORK, Rollout, SESSION, TEA, assert_healthy, begun, block, cat, counted, ended, events, full,
    import, message, meta, printed, run, time, turn, uses,
};
use serde_json::json;

#[test]
fn a_skill_the_user_asks_for_is_a_use_of_the_copy_that_is_named() {
    let (library, rollout) = begun();
    library.write(
        "other/tea/SKILL.md",
        b"---\nname: tea\ndescription: another\n---\n",
    );
    library.json(&["sync", "other"]);
    let file = full(&library, "other/tea/SKILL.md");
    rollout.add(&[
        message(2, "user", "make $tea"),
        message(2, "user", &block("tea", &file)),
    ]);
    let report = import(&library);
    assert_eq!((events(&report), &report["sessions"]), ((1, 0), &json!(1)));
    assert_eq!(uses(&library), "tea\tslash\t1");
    let used = library.sql("SELECT root FROM v_skill WHERE use_count = 1");
    assert_eq!(library.normal(&used), "[DIR]/other");
    assert_eq!(
        library.normal(
            &library.sql("SELECT session_id, client, channel, project, actor, at FROM v_usage")
        ),
        format!(
            "{SESSION}\tcodex\tcodex_cli_rs\t[DIR]/proj\tuser\t{}",
            time(2)
        )
    );
    assert_healthy(&library);
}

#[test]
fn a_block_that_is_quoted_or_printed_is_no_use() {
    let (library, rollout) = begun();
    let tea = block("tea", &full(&library, TEA));
    rollout.add(&[
        message(2, "user", &format!("what is this?\n{tea}")),
        message(3, "user", &format!("{tea}\nwhy?")),
        message(4, "user", "say $tea"),
        message(5, "assistant", &tea),
        printed(6, "c0", &tea),
    ]);
    assert_eq!(events(&import(&library)), (0, 0));
}

#[test]
fn a_command_that_reads_a_skill_file_or_runs_a_script_of_it_is_a_use() {
    let (library, rollout) = begun();
    let script = full(&library, "skills/deploy/scripts/run.py");
    rollout.add(&[
        cat(2, "c1", &full(&library, TEA)),
        ended(3, "c1", 0),
        run(
            4,
            "c2",
            &json!({"cmd": format!("python3 -u {script} --all | head")}),
        ),
        ended(5, "c2", 0),
    ]);
    assert_eq!(events(&import(&library)), (2, 0));
    assert_eq!(uses(&library), "tea\tmodel\t1\ndeploy\tmodel\t1");
    assert_eq!(counted(&library), "deploy1 tea1");
    let args = library.sql("SELECT args FROM v_usage WHERE name = 'tea'");
    assert_eq!(library.normal(&args), format!("cat '[DIR]/{TEA}'"));
    assert_healthy(&library);
}

#[test]
fn commands_that_neither_read_nor_run_a_skill_are_no_use() {
    let (library, rollout) = begun();
    let (file, script) = (
        full(&library, TEA),
        full(&library, "skills/tea/scripts/run.py"),
    );
    library.write("skills/tea/notes.md", b"notes\n");
    for (number, command) in [
        format!("ls {file}"),
        format!("grep tea {file}"),
        format!("echo x > {file}"),
        format!("cat > {file}"),
        format!("ls && cat {file}"),
        format!("cat {}", full(&library, "skills/tea/notes.md")),
        format!("cat {script}"),
        format!("python3 -c 'print(\"{script}\")'"),
        script,
    ]
    .iter()
    .enumerate()
    {
        let id = format!("c{number}");
        rollout.add(&[run(2, &id, &json!({"cmd": command})), ended(3, &id, 0)]);
    }
    import(&library);
    assert_eq!(uses(&library), "");
}

#[test]
fn a_relative_path_is_meant_from_the_folder_the_command_runs_in() {
    let (library, rollout) = begun();
    let folder = full(&library, "skills/tea");
    rollout.add(&[
        run(2, "c1", &json!({"cmd": "cat SKILL.md", "workdir": folder})),
        run(
            3,
            "c2",
            &json!({"cmd": "cd ../skills/deploy && python scripts/run.py"}),
        ),
        turn(&library, 4, "turn-2"),
        run(
            5,
            "c3",
            &json!({"cmd": ["bash", "-lc", "sed -n 1,5p ../skills/tea/SKILL.md"]}),
        ),
        // No such file from here.
        run(6, "c4", &json!({"cmd": "cat skills/deploy/SKILL.md"})),
    ]);
    assert_eq!(events(&import(&library)), (3, 0));
    assert_eq!(counted(&library), "deploy1 tea2");
}

#[test]
fn a_command_that_fails_is_a_failed_use() {
    let (library, rollout) = begun();
    rollout.add(&[
        cat(2, "c1", &full(&library, TEA)),
        ended(3, "c1", 1),
        run(
            4,
            "c2",
            &json!({"cmd": "python3 ../skills/deploy/scripts/run.py"}),
        ),
        printed(5, "c2", "Exit code: 2\nWall time: 0 seconds\nOutput:\nno"),
    ]);
    let report = import(&library);
    assert_eq!(
        (events(&report), &report["events"]["failed"]),
        ((2, 0), &json!(2))
    );
    assert_eq!(uses(&library), "tea\tmodel\t0\ndeploy\tmodel\t0");
    assert_eq!(library.sql("SELECT sum(failure_count) FROM v_skill"), "2");
}

#[test]
fn a_skill_counts_once_a_turn() {
    let (library, rollout) = begun();
    let file = full(&library, TEA);
    rollout.add(&[
        message(2, "user", &block("tea", &file)),
        cat(3, "c1", &file),
        ended(4, "c1", 0),
        cat(5, "c2", &full(&library, "skills/deploy/SKILL.md")),
        run(
            6,
            "c3",
            &json!({"cmd": "python3 ../skills/deploy/scripts/run.py"}),
        ),
        // A turn that goes on after a compaction says so again.
        turn(&library, 7, "turn-1"),
        cat(8, "c4", &file),
        turn(&library, 9, "turn-2"),
        cat(10, "c5", &file),
        cat(11, "c6", &file),
        ended(12, "c6", 0),
    ]);
    assert_eq!(events(&import(&library)), (3, 0));
    assert_eq!(
        uses(&library),
        "tea\tslash\t1\ndeploy\tmodel\topen\ntea\tmodel\topen"
    );
    assert_eq!(counted(&library), "deploy1 tea2");
}

#[test]
fn turns_without_ids_are_counted_by_their_prompts() {
    let library = begun().0;
    let rollout = Rollout::new(&library, FORK);
    let file = full(&library, TEA);
    rollout.add(&[
        meta(&library, 0, FORK),
        message(1, "user", "<environment_context>\n</environment_context>"),
        message(2, "user", "first"),
        cat(3, "c1", &file),
        cat(4, "c2", &file),
        message(5, "user", "second"),
        cat(6, "c3", &file),
    ]);
    assert_eq!(events(&import(&library)), (2, 0));
    fs::rename(
        &rollout.path,
        Rollout::new(&library, FORK).path.with_extension("old"),
    )
    .unwrap();
    assert_eq!(counted(&library), "tea2");
}

#[test]
fn a_fork_adds_nothing_of_the_lines_of_its_parent() {
    for order in ["parent, fork", "both", "fork, parent"] {
        let (library, parent) = begun();
        let file = full(&library, TEA);
        let lines = [
            meta(&library, 0, SESSION),
            turn(&library, 1, "turn-1"),
            message(2, "user", &block("tea", &file)),
            turn(&library, 3, "turn-2"),
            cat(4, "c1", &file),
            ended(5, "c1", 0),
        ];
        let write_parent = || parent.add(&lines[2..]);
        // A fork begins with a line of its own, then come those of its parent, the first one included.
        let write_fork = || {
            let fork = Rollout::new(&library, FORK);
            fork.add(&[meta(&library, 60, FORK)]);
            fork.add(&lines);
            fork.add(&[
                turn(&library, 70, "turn-3"),
                cat(71, "c2", &file),
                ended(72, "c2", 0),
            ]);
        };
        match order {
            "parent, fork" => {
                write_parent();
                assert_eq!(events(&import(&library)), (2, 0));
                write_fork();
                assert_eq!(events(&import(&library)), (1, 2));
            }
            "both" => {
                write_parent();
                write_fork();
                assert_eq!(events(&import(&library)), (3, 2));
            }
            _ => {
                write_fork();
                assert_eq!(events(&import(&library)), (3, 0));
                write_parent();
                assert_eq!(events(&import(&library)), (0, 2));
            }
        }
        assert_eq!(counted(&library), "tea3", "{order}");
        let of_fork = format!("SELECT count(*) FROM v_usage WHERE session_id = '{FORK}'");
        let copied = if order == "fork, parent" { "3" } else { "1" };
        assert_eq!(library.sql(&of_fork), copied, "{order}");
    }
}

#[test]
fn a_file_that_grows_settles_what_was_open_and_adds_what_is_new() {
    let (library, rollout) = begun();
    let file = full(&library, TEA);
    rollout.add(&[cat(2, "c1", &file)]);
    assert_eq!(events(&import(&library)), (1, 0));
    assert_eq!(uses(&library), "tea\tmodel\topen");
    rollout.add(&[ended(3, "c1", 1), cat(4, "c2", &file)]);
    let report = import(&library);
    assert_eq!((&report["lines"], events(&report)), (&json!(2), (0, 0)));
    assert_eq!(uses(&library), "tea\tmodel\t0");
    rollout.add(&[turn(&library, 5, "turn-2"), cat(6, "c3", &file)]);
    assert_eq!(events(&import(&library)), (1, 0));
    assert_eq!(
        library.sql("SELECT use_count, failure_count FROM v_skill WHERE name = 'tea'"),
        "2\t1"
    );
    assert_eq!(
        import(&library)["files"],
        json!({"seen": 1, "unchanged": 1})
    );
    assert_healthy(&library);
}

#[test]
fn archived_sessions_are_read_and_one_that_moves_there_adds_nothing() {
    let (library, rollout) = begun();
    let file = full(&library, TEA);
    rollout.add(&[message(2, "user", &block("tea", &file))]);
    import(&library);
    let archive = library.path("home/.codex/archived_sessions");
    fs::create_dir_all(&archive).unwrap();
    let place = archive.join(rollout.path.file_name().unwrap());
    fs::rename(&rollout.path, &place).unwrap();
    assert_eq!(events(&import(&library)), (0, 1));
    let archived = Rollout { path: place };
    archived.add(&[turn(&library, 3, "turn-2"), cat(4, "c1", &file)]);
    assert_eq!(events(&import(&library)), (1, 0));
    assert_eq!(counted(&library), "tea2");
}

#[test]
fn only_skills_of_the_library_and_of_codex_own_places_count() {
    let (library, rollout) = begun();
    for rel in [
        "repo/drafts/tea",
        "proj/.agents/skills/brew",
        "home/.codex/skills/roast",
        "home/.claude/skills/grind",
    ] {
        library.write(
            &format!("{rel}/SKILL.md"),
            b"---\nname: x\ndescription: y\n---\n",
        );
    }
    rollout.add(&[
        cat(2, "c1", &full(&library, "repo/drafts/tea/SKILL.md")),
        cat(
            3,
            "c2",
            &full(&library, "home/.claude/skills/grind/SKILL.md"),
        ),
        run(4, "c3", &json!({"cmd": "cat .agents/skills/brew/SKILL.md"})),
        run(
            5,
            "c4",
            &json!({"cmd": "cat ~/.codex/skills/roast/SKILL.md"}),
        ),
    ]);
    let report = import(&library);
    assert_eq!(
        report["not_installed"],
        json!([{"name": "brew", "events": 1}, {"name": "roast", "events": 1}])
    );
    assert_eq!(counted(&library), "", "no skill of the library was read");
    let report = library.json(&["sync", "home/.codex/skills"]);
    assert_eq!(report["linked"], json!([{"name": "roast", "events": 1}]));
    assert_healthy(&library);
}
