//! Taking over a Hermes home: states, pins and origins follow it both ways, odd names stop nothing, and what is
//! exported bears the names Hermes knows.

#![expect(
    clippy::unwrap_used,
    reason = "what cannot be arranged is a failed test"
)]

mod common;

use std::fs;
use std::os::unix::fs::symlink;

use common::{Library, code, strings};
use serde_json::{Value, json};

const IMPORT: [&str; 3] = ["import", "hermes", "hermes"];
const LOCK: &str = "hermes/skills/.hub/lock.json";

/// A library, and a Hermes home in `hermes/` with these skills.
fn home(skills: &[&str]) -> Library {
    let library = Library::new();
    for skill in skills {
        write_skill(&library, &format!("hermes/skills/{skill}"), None);
    }
    library
}

/// Writes a skill that declares this name, else that of its folder.
fn write_skill(library: &Library, rel: &str, declared: Option<&str>) {
    let folder = rel.rsplit('/').next().unwrap();
    let name = declared.unwrap_or(folder);
    let text = format!("---\nname: {name}\ndescription: there\n---\n\n# Steps\n");
    library.write(&format!("{rel}/SKILL.md"), text.as_bytes());
}

fn write_sidecar(library: &Library, records: &Value) {
    let text = records.to_string();
    library.write("hermes/skills/.usage.json", text.as_bytes());
}

/// Imports the home; returns what was taken over.
fn take(library: &Library) -> Value {
    library.json(&IMPORT)["taken_over"].clone()
}

fn assert_healthy(library: &Library) {
    let report = library.json(&["doctor"]);
    assert_eq!(report["healthy"], true, "{report}");
}

#[test]
fn a_state_follows_to_stale_and_back_and_both_are_told() {
    let library = home(&["tea"]);
    let state = || library.sql("SELECT state FROM v_skill");
    write_sidecar(
        &library,
        &json!({"tea": {"use_count": 1, "state": "active"}}),
    );
    assert_eq!(take(&library)["states"], json!([]));
    for word in ["stale", "active", "stale"] {
        write_sidecar(&library, &json!({"tea": {"use_count": 1, "state": word}}));
        let told = json!([{"name": "tea", "state": word}]);
        assert_eq!(take(&library)["states"], told);
        assert_eq!(state(), word);
        assert_eq!(take(&library)["states"], json!([]));
    }
    assert_healthy(&library);
}

#[test]
fn a_pin_comes_and_goes_and_both_are_told() {
    let library = home(&["tea"]);
    let pinned = || library.sql("SELECT pinned FROM v_skill");
    for is_pinned in [true, false, true] {
        write_sidecar(
            &library,
            &json!({"tea": {"use_count": 1, "pinned": is_pinned}}),
        );
        let taken = take(&library);
        let told = [&taken["pinned"], &taken["unpinned"]];
        let (some, none) = (json!(["tea"]), json!([]));
        let wanted = if is_pinned {
            [&some, &none]
        } else {
            [&none, &some]
        };
        assert_eq!(told, wanted);
        assert_eq!(pinned(), u8::from(is_pinned).to_string());
        let taken = take(&library);
        assert_eq!([&taken["pinned"], &taken["unpinned"]], [&none, &none]);
    }
    assert_healthy(&library);
}

/// A lock file of the hub that names these.
fn write_lock(library: &Library, names: &[&str]) -> String {
    let entry = |name: &&str| {
        let fields = json!({"source": "github", "identifier": format!("some/{name}"), "trust_level": "community", "install_path": name, "files": ["SKILL.md"]});
        ((*name).to_owned(), fields)
    };
    let installed: serde_json::Map<String, Value> = names.iter().map(entry).collect();
    let text =
        serde_json::to_string_pretty(&json!({"version": 1, "installed": installed})).unwrap();
    library.write(LOCK, text.as_bytes());
    text
}

/// Names that are installed, and origins by name.
fn installed(library: &Library) -> (String, String) {
    (
        library.sql("SELECT group_concat(name, ' ') FROM (SELECT name FROM v_install ORDER BY name)"),
        library.sql("SELECT group_concat(name || '=' || origin, ' ') FROM (SELECT * FROM v_skill ORDER BY name)"),
    )
}

fn pair(names: &str, origins: &str) -> (String, String) {
    (names.to_owned(), origins.to_owned())
}

#[test]
fn a_skill_that_leaves_a_whole_lock_file_is_the_hubs_no_more() {
    let library = home(&["coffee", "tea"]);
    write_lock(&library, &["coffee", "tea"]);
    let taken = take(&library);
    assert_eq!(taken["uninstalled"], json!([]));
    assert_eq!(
        installed(&library),
        pair("coffee tea", "coffee=hub tea=hub")
    );
    write_lock(&library, &["coffee"]);
    assert_eq!(take(&library)["uninstalled"], json!(["tea"]));
    assert_eq!(
        installed(&library),
        pair("coffee", "coffee=hub tea=unknown")
    );
    assert_eq!(take(&library)["uninstalled"], json!([]));
    // It may come back.
    write_lock(&library, &["coffee", "tea"]);
    take(&library);
    assert_eq!(
        installed(&library),
        pair("coffee tea", "coffee=hub tea=hub")
    );
    write_lock(&library, &[]);
    assert_eq!(take(&library)["uninstalled"], json!(["coffee", "tea"]));
    assert_eq!(installed(&library), pair("", "coffee=unknown tea=unknown"));
    assert_healthy(&library);
}

#[test]
fn a_damaged_lock_file_removes_nothing() {
    let library = home(&["coffee", "tea"]);
    let text = write_lock(&library, &["coffee", "tea"]);
    take(&library);
    let whole = pair("coffee tea", "coffee=hub tea=hub");
    assert_eq!(installed(&library), whole);
    let cut = &text[..text.find("\"tea\"").unwrap() + 30];
    let closed = format!("{}}}}}", &text[..text.find("\"tea\"").unwrap()]);
    for damaged in [
        cut,
        closed.as_str(),
        "",
        "{",
        "[]",
        "{\"version\": 1}",
        "{\"installed\": 5}",
        "\0\0\0",
    ] {
        library.write(LOCK, damaged.as_bytes());
        assert_eq!(take(&library)["uninstalled"], json!([]), "{damaged}");
        assert_eq!(installed(&library), whole, "{damaged}");
    }
    fs::remove_file(library.path(LOCK)).unwrap();
    assert_eq!(take(&library)["uninstalled"], json!([]));
    assert_eq!(installed(&library), whole);
}

#[test]
fn records_of_odd_names_are_told_and_the_others_go_on() {
    let library = home(&["coffee", "tea"]);
    let odd = [".archive/x", "../x", "/etc", "", "a//b", "a/../../b"];
    let mut records =
        json!({"coffee": {"use_count": 2}, "plugin:x": {"use_count": 8}, "tea": {"use_count": 3}});
    for name in odd {
        records[name] = json!({"use_count": 9, "pinned": true});
    }
    write_sidecar(&library, &records);
    for _ in 0..2 {
        let report = library.json(&IMPORT);
        let words = strings(&report["warnings"], "message");
        for name in odd {
            let quoted = format!("`{name}`");
            assert!(
                words.iter().any(|words| words.contains(&quoted)),
                "{name}: {words:?}"
            );
        }
        let counts = library.sql("SELECT name, use_count FROM v_skill ORDER BY name");
        assert_eq!(counts, "coffee\t2\ntea\t3");
        let places = library.sql("SELECT rel_path FROM skill ORDER BY 1");
        assert_eq!(places, "coffee\nplugin:x\ntea");
        // Told as a record without a folder.
        let vanished = library.json(&["stats"])["vanished"].clone();
        assert_eq!(strings(&vanished, "name"), ["plugin:x"]);
        assert_healthy(&library);
    }
}

/// What is exported, of this root only where one is named.
fn exported(library: &Library, root: Option<&str>) -> Value {
    let root = root.map(|root| ["--root", root]);
    let args = ["export", "usage", "--format", "hermes"];
    let args = [args.as_slice(), root.as_ref().map_or(&[], |root| root)].concat();
    let output = library.skilldb(&args).output().unwrap();
    assert_eq!(code(&output), 0, "{}", library.told(&output));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Names and uses of what is exported.
fn names(exported: &Value) -> Vec<(String, u64)> {
    let records = exported.as_object().unwrap().iter();
    records
        .map(|(name, record)| (name.clone(), record["use_count"].as_u64().unwrap()))
        .collect()
}

fn named(names: &[(&str, u64)]) -> Vec<(String, u64)> {
    names
        .iter()
        .map(|(name, uses)| ((*name).to_owned(), *uses))
        .collect()
}

#[test]
fn an_export_keeps_the_names_of_the_records() {
    let library = Library::new();
    write_skill(&library, "hermes/skills/data/csv-clean", Some("CSV Clean"));
    write_skill(&library, "hermes/skills/tea", None);
    let ghosts = json!({"csv-clean": {"use_count": 3}, "ghost": {"use_count": 2}, "old": {"use_count": 1, "state": "archived"}});
    write_sidecar(&library, &ghosts);
    take(&library);
    let wanted = named(&[("csv-clean", 3), ("ghost", 2), ("old", 1), ("tea", 0)]);
    assert_eq!(names(&exported(&library, None)), wanted);
    let exported = exported(&library, Some("hermes/skills"));
    assert_eq!(names(&exported), wanted);
    // Handed back, it changes no count.
    write_sidecar(&library, &exported);
    take(&library);
    assert_eq!(names(&self::exported(&library, None)), wanted);
    assert_healthy(&library);
}

#[test]
fn an_export_of_a_home_within_a_larger_root_keeps_the_names_too() {
    let library = Library::new();
    write_skill(&library, "agents/other/brew", None);
    write_skill(
        &library,
        "agents/hermes/skills/csv-clean",
        Some("CSV Clean"),
    );
    let records = json!({"csv-clean": {"use_count": 3}, "ghost": {"use_count": 2}, "old": {"use_count": 1, "state": "archived"}});
    library.write(
        "agents/hermes/skills/.usage.json",
        records.to_string().as_bytes(),
    );
    library.json(&["sync", "agents"]);
    let report = library.json(&["import", "hermes", "agents/hermes"]);
    assert_eq!(
        report["taken_over"]["without_folder"],
        json!(["ghost", "old"])
    );
    assert_eq!(library.sql("SELECT count(*) FROM skill_root"), "1");
    let own = [("csv-clean", 3), ("ghost", 2), ("old", 1)];
    assert_eq!(
        names(&exported(&library, Some("agents/hermes/skills"))),
        named(&own)
    );
    assert_eq!(
        names(&exported(&library, Some("agents/hermes"))),
        named(&own)
    );
    let all = [("brew", 0), ("csv-clean", 3), ("ghost", 2), ("old", 1)];
    assert_eq!(names(&exported(&library, None)), named(&all));
    assert_eq!(names(&exported(&library, Some("agents"))), named(&all));
    let life = library.json(&["stats", "ghost"]);
    assert_eq!(life["use_count"], 2);
    let output = library.run(&["export", "usage", "--format", "hermes", "--root", "home"]);
    assert!(output.starts_with("exit 1\n"), "{output}");
}

#[test]
fn a_record_without_a_folder_stands_in_the_statistics_as_vanished() {
    let library = home(&["tea"]);
    let records = json!({"ghost": {"use_count": 4}, "ops/lost": {"use_count": 3}, "old": {"use_count": 2, "state": "archived"}, "tea": {"use_count": 1}});
    write_sidecar(&library, &records);
    take(&library);
    for _ in 0..2 {
        let vanished = library.json(&["stats"])["vanished"].clone();
        assert_eq!(vanished.as_array().unwrap().len(), 3, "{vanished}");
        let (names, paths) = (strings(&vanished, "name"), strings(&vanished, "path"));
        assert_eq!([&names[0], &names[2]], ["ghost", "old"]);
        assert!(paths[1].ends_with("hermes/skills/ops/lost"), "{paths:?}");
        for (name, uses) in [("ghost", 4), ("lost", 3), ("old", 2)] {
            let life = library.json(&["stats", name]);
            assert_eq!(life["use_count"], uses, "{name}");
        }
        let told = library.run(&["stats"]);
        assert!(told.contains("vanished\tghost\t4\t"), "{told}");
        // It stays so when all is synced.
        library.json(&["sync"]);
    }
    library.json_exit(&["stats", "nobody"], 1);
    // With its folder back it is a skill like the others.
    write_skill(&library, "hermes/skills/ghost", None);
    take(&library);
    let counts = library.sql("SELECT name, use_count FROM v_skill ORDER BY name");
    assert_eq!(counts, "ghost\t4\ntea\t1");
    assert_healthy(&library);
}

#[test]
fn a_folder_of_skills_that_is_a_link_belongs_to_the_home_it_is_named_in() {
    for path in ["hermes/skills", "hermes/skills/", "hermes"] {
        let library = Library::new();
        write_skill(&library, "shared/my-collection/tea", None);
        fs::create_dir(library.path("hermes")).unwrap();
        symlink(
            library.path("shared/my-collection"),
            library.path("hermes/skills"),
        )
        .unwrap();
        write_sidecar(&library, &json!({"tea": {"use_count": 5}}));
        library.write(
            "hermes/.hub/lock.json",
            b"{\"installed\": {\"tea\": {\"source\": \"github\"}}}",
        );
        for _ in 0..2 {
            let report = library.json(&["import", "hermes", path]);
            assert_eq!(report["warnings"], json!([]), "{path}");
            let told = library.sql("SELECT name, use_count, origin FROM v_skill");
            assert_eq!(told, "tea\t5\thub", "{path}");
        }
        assert_healthy(&library);
    }
}

#[test]
fn a_dry_run_says_what_it_would_sync_and_writes_nothing() {
    let library = home(&["tea"]);
    write_sidecar(
        &library,
        &json!({"ghost": {"use_count": 4}, "tea": {"use_count": 1}}),
    );
    let rehearse = || {
        let told = library.run(&["import", "hermes", "hermes", "--dry-run"]);
        assert!(told.starts_with("exit 0\n"), "{told}");
        assert!(told.contains("Would sync [DIR]/hermes/skills"), "{told}");
        assert!(!told.contains("Synced"), "{told}");
    };
    rehearse();
    assert_eq!(fs::read_dir(library.path("data")).unwrap().count(), 0);
    library.skill("coffee", "Makes coffee");
    library.sync();
    rehearse();
    let roots = library.sql("SELECT path FROM skill_root");
    assert_eq!(library.normal(&roots), "[DIR]/skills");
    let left = "SELECT (SELECT count(*) FROM skill), (SELECT count(*) FROM usage_baseline), (SELECT count(*) FROM v_usage)";
    assert_eq!(library.sql(left), "1\t0\t0");
    let told = library.run(&IMPORT);
    assert!(
        told.contains("Synced [DIR]/hermes/skills") && !told.contains("Would"),
        "{told}"
    );
    assert_eq!(library.sql("SELECT count(*) FROM skill_root"), "2");
}
