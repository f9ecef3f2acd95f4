//! Which skill an imported use is linked to when its skill appears, leaves, moves or is synced meanwhile.

#![expect(
    clippy::unwrap_used,
    reason = "what cannot be arranged is a failed test"
)]

mod claude;
mod codex;
mod common;

use std::thread;
use std::time::Duration;

use claude::copies::{PROJECT, USER, full, write_skill};
use claude::{SESSION, Transcript, answer, assert_healthy, body, call, events, failure, import};
use codex::Rollout;
use common::{Library, code};
use serde_json::{Value, json};

/// A call of each skill, each answered.
fn calls(names: &[&str]) -> Vec<Value> {
    let lines = (1..).zip(names).flat_map(|(number, name)| {
        let id = format!("t{number}");
        [call(number, &id, name), answer(number, &id)]
    });
    lines.collect()
}

/// Root and uses of each skill that was used.
fn used(library: &Library) -> String {
    let used =
        "SELECT root || '/' || rel_path, use_count FROM v_skill WHERE use_count > 0 ORDER BY 1";
    library.normal(&library.sql(used))
}

#[test]
fn of_thousands_of_names_just_the_one_that_appears_is_linked() {
    let library = Library::new();
    library.skill("tea", "Makes tea");
    library.sync();
    let names: Vec<String> = (0..3_000)
        .map(|number| format!("made-up-{number}"))
        .collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    Transcript::new(&library, SESSION).add(&calls(&names));
    let report = import(&library, &[]);
    assert_eq!(
        (events(&report), &report["linked"]),
        ((3_000, 0), &json!([]))
    );
    library.skill("made-up-1234", "Is there after all");
    let linked = json!([{"name": "made-up-1234", "events": 1}]);
    assert_eq!(library.sync()["linked"], linked);
    assert_eq!(used(&library), "[DIR]/skills/made-up-1234\t1");
    assert_eq!(library.sql("SELECT count(*) FROM v_not_installed"), "2999");
    assert_healthy(&library);
    assert_eq!(library.sync()["linked"], json!([]));
    let report = import(&library, &[]);
    assert_eq!((events(&report), &report["linked"]), ((0, 0), &json!([])));
}

#[test]
fn an_unclear_call_is_linked_to_the_copy_that_stays() {
    for (gone, stays) in [("one", "two"), ("two", "one")] {
        let library = Library::new();
        for root in ["one", "two"] {
            write_skill(&library, &format!("{root}/deploy"));
        }
        library.json(&["sync", "one", "two"]);
        let transcript = Transcript::new(&library, SESSION);
        transcript.add(&[call(1, "t1", "deploy"), answer(2, "t1")]);
        transcript.add(&[call(3, "t2", "deploy"), failure(4, "t2")]);
        let report = import(&library, &[]);
        assert_eq!(report["unclear"], json!([{"name": "deploy", "events": 2}]));
        assert_eq!(used(&library), "");
        library.json(&["roots", "remove", gone]);
        library.json(&["sync"]);
        assert_eq!(used(&library), format!("[DIR]/{stays}/deploy\t2"));
        assert_eq!(library.sql("SELECT failure_count FROM v_skill"), "1");
        assert_healthy(&library);
    }
}

#[test]
fn a_space_that_only_looks_like_a_plugin_is_not_the_users_skill() {
    let library = Library::new();
    write_skill(&library, "skills/deploy");
    write_skill(&library, &format!("{USER}/ship"));
    library.json(&["sync", "skills", USER]);
    let above = library.dir().file_name().unwrap().to_str().unwrap();
    let of_root = format!("{above}:deploy");
    let names = [
        "deploy:deploy",
        "skills:deploy",
        of_root.as_str(),
        "ship:ship",
        "skills:ship",
        ".claude:ship",
    ];
    Transcript::new(&library, SESSION).add(&calls(&names));
    let report = import(&library, &[]);
    assert_eq!(used(&library), "");
    let mut told = common::strings(&report["not_installed"], "name");
    let mut wanted = names.map(str::to_owned);
    told.sort();
    wanted.sort();
    assert_eq!(told, wanted);
    assert_eq!(library.sync()["linked"], json!([]));
    assert_healthy(&library);
}

#[test]
fn the_folder_that_holds_the_users_own_skills_is_no_package() {
    let library = Library::new();
    write_skill(&library, &format!("{USER}/ship"));
    library.json(&["sync", USER]);
    // `home` is the folder above `.claude`, as a package of a project would be.
    Transcript::new(&library, SESSION).add(&calls(&["home:ship"]));
    let report = import(&library, &[]);
    assert_eq!(used(&library), "");
    let told = json!([{"name": "home:ship", "events": 1}]);
    assert_eq!(report["not_installed"], told);
}

#[test]
fn a_package_of_a_project_is_the_folder_above_its_skills() {
    let library = Library::new();
    let package = "proj/apps/web/.claude/skills";
    for root in [USER, package] {
        write_skill(&library, &format!("{root}/ship"));
    }
    library.json(&["sync", USER, package]);
    Transcript::new(&library, SESSION).add(&calls(&["apps/web:ship"]));
    import(&library, &[]);
    assert_eq!(used(&library), format!("[DIR]/{package}/ship\t1"));
}

#[test]
fn a_plugins_name_means_the_skill_in_the_plugins_folder() {
    for plugin in [
        "home/.claude/plugins/pack/skills",
        "home/.claude/plugins/cache/market/pack/1.2.0/skills",
        "home/.claude/plugins/marketplaces/market/plugins/pack/skills",
        "tools/plugins/pack/skills",
    ] {
        let library = Library::new();
        let roots = [USER, plugin, "home/.claude/plugins/other/skills"];
        for root in roots {
            write_skill(&library, &format!("{root}/lint"));
        }
        library.json(&[&["sync"], roots.as_slice()].concat());
        Transcript::new(&library, SESSION).add(&calls(&["pack:lint", "pack:lint"]));
        let report = import(&library, &[]);
        assert_eq!(report["not_installed"], json!([]), "{plugin}");
        assert_eq!(used(&library), format!("[DIR]/{plugin}/lint\t2"));
        assert_healthy(&library);
    }
}

/// Writes a skill anew, under a name that has nothing of its folder's.
fn edit(library: &Library, rel: &str, name: &str) {
    let text = format!("---\nname: {name}\ndescription: was edited\n---\n\n# More steps\n");
    library.write(&format!("{rel}/SKILL.md"), text.as_bytes());
}

#[test]
fn a_use_that_names_the_folder_a_skill_was_moved_from_is_that_skills() {
    for moves in [
        ["ops/deploy"].as_slice(),
        &["ship"],
        &["ops/deploy", "ship"],
    ] {
        let library = Library::new();
        for root in [USER, PROJECT] {
            write_skill(&library, &format!("{root}/deploy"));
        }
        library.json(&["sync", USER, PROJECT]);
        let mut folder = format!("{PROJECT}/deploy");
        let told = full(&library, &folder);
        for to in moves {
            let to = format!("{PROJECT}/{to}");
            library.rename(&folder, &to);
            let report = library.json(&["sync"]);
            assert_eq!(report["moved"].as_array().unwrap().len(), 1, "{report}");
            folder = to;
        }
        edit(&library, &folder, "ship");
        let report = library.json(&["sync"]);
        assert_eq!(report["moved"], json!([]));
        let transcript = Transcript::new(&library, SESSION);
        transcript.add(&[
            call(1, "t1", "deploy"),
            answer(2, "t1"),
            body(2, "t1", &told),
        ]);
        let report = import(&library, &[]);
        assert_eq!(report["not_installed"], json!([]), "{moves:?}");
        assert_eq!(used(&library), format!("[DIR]/{folder}\t1"), "{moves:?}");
        assert_eq!(library.sql("SELECT count(*) FROM v_skill"), "2");
        assert_healthy(&library);
    }
}

#[test]
fn codex_uses_of_a_folder_that_is_no_root_yet_count_when_it_is_one() {
    let library = Library::new();
    library.skill("tea", "Makes tea");
    library.sync();
    for name in ["brew", "pour"] {
        write_skill(&library, &format!("other/{name}"));
        library.write(&format!("other/{name}/scripts/run.py"), b"print(1)\n");
    }
    library.write("notes/SKILL.md", b"just notes\n");
    let rollout = Rollout::new(&library, codex::SESSION);
    let at = |rel: &str| codex::full(&library, rel);
    rollout.add(&[
        codex::meta(&library, 0, codex::SESSION),
        codex::turn(&library, 1, "turn-1"),
        codex::cat(2, "c1", &at("other/brew/SKILL.md")),
        codex::ended(3, "c1", 0),
        codex::cat(4, "c2", &at("notes/SKILL.md")),
        codex::ended(5, "c2", 0),
        codex::turn(&library, 6, "turn-2"),
        codex::cat(7, "c3", &at("other/brew/SKILL.md")),
        codex::ended(8, "c3", 1),
        codex::run(
            9,
            "c4",
            &json!({"cmd": format!("python3 {}", at("other/pour/scripts/run.py"))}),
        ),
        codex::ended(10, "c4", 0),
    ]);
    for _ in 0..2 {
        let report = codex::import(&library);
        assert_eq!(
            (events(&report), &report["not_installed"]),
            ((0, 0), &json!([]))
        );
        assert_eq!(library.sql("SELECT count(*) FROM v_usage"), "0");
        assert_eq!(library.sql("SELECT count(*) FROM v_not_installed"), "0");
    }
    let report = library.json(&["sync", "other"]);
    let told = [
        json!({"name": "brew", "events": 2}),
        json!({"name": "pour", "events": 1}),
    ];
    assert_eq!(report["linked"], json!(told));
    let wanted = "brew\tmodel\t1\nbrew\tmodel\t0\npour\tmodel\t1";
    assert_eq!(codex::uses(&library), wanted);
    assert_eq!(codex::counted(&library), "brew2 pour1");
    assert_healthy(&library);
    let report = codex::import(&library);
    assert_eq!((events(&report).0, &report["linked"]), (0, &json!([])));
    assert_eq!(codex::uses(&library), wanted);
    assert_eq!(library.json(&["sync"])["linked"], json!([]));
    // What comes later counts at once.
    rollout.add(&[
        codex::turn(&library, 11, "turn-3"),
        codex::cat(12, "c5", &at("other/brew/SKILL.md")),
        codex::ended(13, "c5", 0),
    ]);
    assert_eq!(events(&codex::import(&library)), (1, 0));
    assert_eq!(codex::counted(&library), "brew3 pour1");
    assert_healthy(&library);
}

#[test]
fn a_codex_use_whose_end_is_read_before_its_folder_is_a_root_has_that_end() {
    let library = Library::new();
    library.skill("tea", "Makes tea");
    library.sync();
    write_skill(&library, "other/brew");
    let rollout = Rollout::new(&library, codex::SESSION);
    rollout.add(&[
        codex::meta(&library, 0, codex::SESSION),
        codex::turn(&library, 1, "turn-1"),
        codex::cat(2, "c1", &codex::full(&library, "other/brew/SKILL.md")),
    ]);
    codex::import(&library);
    rollout.add(&[codex::ended(3, "c1", 1)]);
    codex::import(&library);
    library.json(&["sync", "other"]);
    assert_eq!(codex::uses(&library), "brew\tmodel\t0");
    assert_healthy(&library);
}

#[test]
fn a_skill_that_a_sync_adds_while_its_uses_are_imported_is_linked_in_the_end() {
    const CALLS: u64 = 2_500;
    for delay in [0, 30, 100, 250, 600] {
        let library = Library::new();
        library.skill("coffee", "Makes coffee");
        library.sync();
        let names = vec!["tea"; usize::try_from(CALLS).unwrap()];
        Transcript::new(&library, SESSION).add(&calls(&names));
        let import = library.process(&["import", "claude-code"]).spawn().unwrap();
        thread::sleep(Duration::from_millis(delay));
        library.skill("tea", "Makes tea");
        let sync = library.process(&["sync", "skills"]).spawn().unwrap();
        for process in [import, sync] {
            let output = process.wait_with_output().unwrap();
            assert_eq!(code(&output), 0, "{}", library.told(&output));
        }
        assert_eq!(
            used(&library),
            format!("[DIR]/skills/tea\t{CALLS}"),
            "{delay} ms"
        );
        assert_eq!(library.sql("SELECT count(*) FROM v_not_installed"), "0");
        assert_healthy(&library);
    }
}
