//! Importing Claude Code's transcripts: which skill a call meant, among several of one name or none yet.

#![expect(
    clippy::unwrap_used,
    reason = "what cannot be arranged is a failed test"
)]

mod claude;
mod common;

use claude::copies::{
    NONE, OF_PROJECT, OF_USER, PROJECT, USER, by_root, full, with_two_copies, write_skill,
};
use claude::{
    SESSION, Transcript, answer, assert_healthy, body, call, events, expanded, failure, import,
    time, typed,
};
use common::Library;
use serde_json::json;

#[test]
fn the_copy_whose_folder_is_named_gets_the_use() {
    for (root, counted) in [(USER, OF_USER), (PROJECT, OF_PROJECT)] {
        let (library, transcript) = with_two_copies();
        let folder = full(&library, &format!("{root}/deploy"));
        transcript.add(&[
            call(1, "t1", "deploy"),
            answer(2, "t1"),
            body(2, "t1", &folder),
        ]);
        import(&library, &[]);
        assert_eq!(by_root(&library), counted);
        assert_eq!(library.sql("SELECT called_path FROM v_usage"), folder);
        assert_healthy(&library);
    }
}

#[test]
fn the_copy_whose_folder_a_typed_command_names_gets_the_use() {
    for (root, counted) in [(USER, OF_USER), (PROJECT, OF_PROJECT)] {
        let (library, transcript) = with_two_copies();
        let folder = full(&library, &format!("{root}/deploy"));
        transcript.add(&[typed(1, "u1", "deploy"), expanded(1, "u1", &folder)]);
        import(&library, &[]);
        assert_eq!(by_root(&library), counted);
    }
}

#[test]
fn without_a_folder_the_users_copy_beats_the_projects() {
    let (library, transcript) = with_two_copies();
    transcript.add(&[call(1, "t1", "deploy"), answer(2, "t1")]);
    import(&library, &[]);
    assert_eq!(by_root(&library), OF_USER);
}

#[test]
fn a_copy_of_another_project_or_client_is_not_meant() {
    let library = Library::new();
    for root in [PROJECT, "other/.claude/skills", "home/.codex/skills"] {
        write_skill(&library, &format!("{root}/deploy"));
    }
    library.json(&[
        "sync",
        PROJECT,
        "other/.claude/skills",
        "home/.codex/skills",
    ]);
    Transcript::new(&library, SESSION).add(&[call(1, "t1", "deploy"), answer(2, "t1")]);
    import(&library, &[]);
    let used = library.sql("SELECT root FROM v_skill WHERE use_count > 0");
    assert_eq!(library.normal(&used), "[DIR]/proj/.claude/skills");
}

#[test]
fn a_folder_that_is_no_skill_of_the_library_is_told_and_counted_for_no_namesake() {
    let (library, transcript) = with_two_copies();
    write_skill(&library, "elsewhere/skills/deploy");
    let folder = full(&library, "elsewhere/skills/deploy");
    transcript.add(&[
        call(1, "t1", "deploy"),
        answer(2, "t1"),
        body(2, "t1", &folder),
    ]);
    let report = import(&library, &[]);
    assert_eq!(by_root(&library), NONE);
    assert_eq!(
        report["unknown_folders"],
        json!([full(&library, "elsewhere/skills")])
    );
    let report = library.json(&["sync", "elsewhere/skills"]);
    assert_eq!(report["linked"], json!([{"name": "deploy", "events": 1}]));
    let used = library.sql("SELECT root, use_count FROM v_skill WHERE use_count > 0");
    assert_eq!(library.normal(&used), "[DIR]/elsewhere/skills\t1");
    assert_healthy(&library);
}

#[test]
fn parallel_calls_each_take_the_folder_that_names_them() {
    let library = Library::new();
    let names = ["one", "two"];
    for root in [USER, PROJECT] {
        for name in names {
            write_skill(&library, &format!("{root}/{name}"));
        }
    }
    library.json(&["sync", USER, PROJECT]);
    let transcript = Transcript::new(&library, SESSION);
    let folders = names.map(|name| full(&library, &format!("{PROJECT}/{name}")));
    transcript.add(&names.map(|name| call(1, name, name)));
    transcript.add(&names.map(|name| answer(2, name)));
    transcript.add(&[body(3, "one", &folders[0]), body(3, "two", &folders[1])]);
    import(&library, &[]);
    let used = "SELECT name, path FROM v_skill WHERE use_count = 1 ORDER BY name";
    assert_eq!(
        library.sql(used),
        format!("one\t{}\ntwo\t{}", folders[0], folders[1])
    );
}

#[test]
fn a_plugins_skill_is_not_the_users_of_the_same_name() {
    const PLUGIN: &str = "home/.claude/plugins/cache/pack/skills";
    let library = Library::new();
    write_skill(&library, &format!("{USER}/lint"));
    library.json(&["sync", USER]);
    let transcript = Transcript::new(&library, SESSION);
    transcript.add(&[call(1, "t1", "pack:lint"), answer(2, "t1")]);
    let report = import(&library, &[]);
    assert_eq!(
        report["not_installed"],
        json!([{"name": "pack:lint", "events": 1}])
    );
    let uses = "SELECT root, use_count FROM v_skill WHERE use_count > 0 ORDER BY root";
    assert_eq!(library.sql(uses), "");
    write_skill(&library, &format!("{PLUGIN}/lint"));
    let report = library.json(&["sync", PLUGIN]);
    assert_eq!(
        report["linked"],
        json!([{"name": "pack:lint", "events": 1}])
    );
    transcript.add(&[call(3, "t2", "pack:lint"), answer(4, "t2")]);
    transcript.add(&[call(5, "t3", "lint"), answer(6, "t3")]);
    import(&library, &[]);
    assert_eq!(
        library.normal(&library.sql(uses)),
        format!("[DIR]/{PLUGIN}\t2\n[DIR]/{USER}\t1")
    );
    assert_healthy(&library);
}

#[test]
fn a_name_that_is_not_installed_is_linked_when_its_skill_appears() {
    let library = Library::new();
    let transcript = Transcript::new(&library, SESSION);
    transcript.add(&[
        call(1, "t1", "tea"),
        answer(2, "t1"),
        call(3, "t2", "tea"),
        failure(4, "t2"),
    ]);
    let report = import(&library, &[]);
    assert_eq!(
        report["not_installed"],
        json!([{"name": "tea", "events": 2}])
    );
    library.skill("coffee", "Makes coffee");
    assert_eq!(library.sync()["linked"], json!([]));
    library.skill("tea", "Makes tea");
    assert_eq!(
        library.sync()["linked"],
        json!([{"name": "tea", "events": 2}])
    );
    assert_eq!(
        library.sql(
            "SELECT name, use_count, failure_count, last_use_at FROM v_skill WHERE use_count > 0"
        ),
        format!("tea\t2\t1\t{}", time(3))
    );
    assert_eq!(library.sql("SELECT count(*) FROM v_not_installed"), "0");
    assert_eq!(
        library.sql("SELECT name, events, failures FROM v_usage_daily"),
        "tea\t2\t1"
    );
    assert_healthy(&library);
    // Known by now, and linked: nothing is counted or linked again.
    let report = import(&library, &[]);
    assert_eq!((events(&report), &report["linked"]), ((0, 0), &json!([])));
    assert_eq!(library.sync()["linked"], json!([]));
}

#[test]
fn calls_whose_texts_name_none_each_take_the_folder_of_their_name() {
    let library = Library::new();
    let names = ["one", "two"];
    for name in names {
        write_skill(&library, &format!("{USER}/{name}"));
    }
    library.json(&["sync", USER]);
    let transcript = Transcript::new(&library, SESSION);
    transcript.add(&names.map(|name| call(1, name, name)));
    transcript.add(&names.map(|name| answer(2, name)));
    // As versions wrote them that did not say which call a text belongs to.
    transcript.add(&names.map(|name| {
        let mut body = body(3, name, &full(&library, &format!("{USER}/{name}")));
        body.as_object_mut().unwrap().remove("sourceToolUseID");
        body
    }));
    import(&library, &[]);
    let named = "SELECT called_name, name FROM v_usage ORDER BY called_name";
    assert_eq!(library.sql(named), "one\tone\ntwo\ttwo");
}

#[test]
fn a_folder_that_is_named_after_an_import_still_says_which_copy_ran() {
    let folder = format!("{PROJECT}/deploy");
    for read_before in [1, 2] {
        let (library, transcript) = with_two_copies();
        let folder = full(&library, &folder);
        let lines = [
            call(1, "t1", "deploy"),
            answer(2, "t1"),
            body(2, "t1", &folder),
        ];
        transcript.add(&lines[..read_before]);
        import(&library, &[]);
        transcript.add(&lines[read_before..]);
        assert_eq!(events(&import(&library, &[])).0, 0);
        assert_eq!(by_root(&library), OF_PROJECT, "{read_before} lines before");
        assert_healthy(&library);
    }
}

#[test]
fn a_typed_command_that_is_expanded_after_an_import_counts_then() {
    let (library, transcript) = with_two_copies();
    let folder = full(&library, &format!("{PROJECT}/deploy"));
    transcript.add(&[typed(1, "u1", "deploy")]);
    assert_eq!(events(&import(&library, &[])), (0, 0));
    transcript.add(&[expanded(1, "u1", &folder)]);
    assert_eq!(events(&import(&library, &[])), (1, 0));
    assert_eq!(by_root(&library), OF_PROJECT);
}
