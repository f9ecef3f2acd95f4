//! One place after the other: what stands where something else stood before must not inherit from it,
//! and must not hide it.

mod common;

use std::fs;
use std::os::unix::fs::symlink;

use common::Library;

fn link(library: &Library, from: &str, to: &str) {
    let path = library.path(from);
    let parent = path.parent().expect("it lies in the library");
    fs::create_dir_all(parent).expect("the library can be written");
    symlink(to, path).expect("nothing is there yet");
}

fn live(library: &Library) -> String {
    library.sql("SELECT rel_path FROM v_skill ORDER BY rel_path")
}

#[test]
fn held_back_skills_are_held_back_again_and_can_be_given_up() {
    let library = Library::new();
    for name in ["s1", "s2", "s3"] {
        library.skill(name, "here");
    }
    library.sync();
    for name in ["s1", "s2", "s3"] {
        fs::remove_file(library.path(&format!("skills/{name}/SKILL.md"))).unwrap();
    }
    for _ in 0..2 {
        assert!(library.run(&["sync"]).starts_with("exit 1"));
        assert_eq!(live(&library), "s1\ns2\ns3");
    }
    let told = library.run(&["sync", "--allow-mass-delete"]);
    assert!(told.contains("3 missing"), "{told}");
    assert_eq!(live(&library), "");
}

#[test]
fn a_skill_in_the_place_of_a_dead_link_takes_no_error_with_it() {
    let library = Library::new();
    library.write(
        "skills/d/SKILL.md",
        b"---\nname: d\ndescription: x\n---\nbody\n",
    );
    link(&library, "skills/c/SKILL.md", "../../nowhere.md");
    assert_eq!(library.sync()["unreachable"], 1);
    fs::remove_file(library.path("skills/c/SKILL.md")).unwrap();
    library.skill("c", "came later");
    let report = library.sync();
    assert_eq!(
        (&report["files_found"], &report["loaded"]),
        (&2.into(), &2.into())
    );
    assert!(library.run(&["sync", "--strict"]).starts_with("exit 0"));
}

#[test]
fn when_the_link_that_counted_goes_the_other_one_counts() {
    let library = Library::new();
    library.write(
        "out/s/SKILL.md",
        b"---\nname: s\ndescription: x\n---\nbody\n",
    );
    link(&library, "skills/a/l1", "../../out");
    link(&library, "skills/b/l2", "../../out");
    library.sync();
    assert_eq!(live(&library), "a/l1/s");
    fs::remove_file(library.path("skills/a/l1")).unwrap();
    library.sync();
    assert_eq!(live(&library), "b/l2/s");
}

#[test]
fn a_file_that_outgrew_the_history_is_changed_once() {
    let library = Library::new();
    library.skill("a", "first");
    library.write("skills/a/notes.md", b"hi\n");
    library.sync();
    library.write("skills/a/notes.md", b"hi\0binary\n");
    library.sync();
    let report = library.json(&["sync", "--checksum"]);
    assert_eq!(report["changed"].as_array().unwrap().len(), 0);
    assert_eq!(library.json(&["doctor"])["healthy"], true);
}

#[test]
fn show_does_not_follow_a_link_swapped_in_after_the_sync() {
    let library = Library::new();
    library.skill("a", "first");
    library.sync();
    library.write("secret", b"do not show");
    fs::remove_file(library.path("skills/a/SKILL.md")).unwrap();
    link(&library, "skills/a/SKILL.md", "../../secret");
    let told = library.run(&["show", "a"]);
    assert!(
        told.starts_with("exit 1") && !told.contains("do not show"),
        "{told}"
    );
}

#[test]
fn a_statement_that_fails_midway_still_prints_one_object() {
    let library = Library::new();
    library.sync();
    let output = library
        .skilldb(&["sql", "--json", "SELECT 1 AS a UNION ALL SELECT json('x')"])
        .output()
        .unwrap();
    let object: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(
        object["error"]["message"]
            .as_str()
            .unwrap()
            .contains("JSON"),
        "{object}"
    );
    let twins = library.json(&["sql", "SELECT 1 AS a, 2 AS a, 3 AS \"a:1\", 4 AS a"]);
    assert_eq!(twins["rows"][0].as_object().unwrap().len(), 4);
}

#[test]
fn a_skill_that_comes_back_unedited_was_not_edited() {
    let library = Library::new();
    library.skill("a", "first");
    library.skill("b", "stays");
    library.sync();
    let away = library.path("away");
    fs::rename(library.path("skills/a"), &away).unwrap();
    library.sync();
    fs::rename(&away, library.path("skills/a")).unwrap();
    library.sync();
    let edited = "SELECT count(human_edited_at) FROM skill";
    assert_eq!(library.sql(edited), "0");
    fs::rename(library.path("skills/a"), &away).unwrap();
    library.sync();
    library.write(
        "away/SKILL.md",
        b"---\nname: a\ndescription: edited\n---\nbody\n",
    );
    fs::rename(&away, library.path("skills/a")).unwrap();
    library.sync();
    assert_eq!(library.sql(edited), "1");
}
