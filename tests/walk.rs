//! Which folders the walk enters, which files it takes for skills, and what it has to say about the rest.

#![expect(
    clippy::unwrap_used,
    reason = "what cannot be arranged is a failed test"
)]

mod common;

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Output;
use std::thread;
use std::time::Duration;

use common::{Library, code, copy_folder};
use serde_json::Value;

/// The skills that can be loaded, by their places.
fn skills(library: &Library) -> String {
    library.sql("SELECT rel_path FROM v_skill ORDER BY rel_path")
}

/// What the walk had to say: code and path.
fn findings(library: &Library) -> String {
    let query =
        "SELECT code, path FROM v_diagnostic WHERE strict_severity IS NULL ORDER BY code, path";
    library.normal(&library.sql(query))
}

fn link(library: &Library, rel: &str, target: &str) {
    symlink(target, library.path(rel)).unwrap();
}

fn outside(library: &Library, rel: &str) {
    let name = rel.rsplit('/').next().unwrap();
    let text = format!("---\nname: {name}\ndescription: outside\n---\n\nText\n");
    library.write(&format!("{rel}/SKILL.md"), text.as_bytes());
}

/// Syncs and tells what the mirror and the walk say, then does both once more: nothing may differ.
fn settled(library: &Library) -> (String, String) {
    library.sync();
    let first = (skills(library), findings(library));
    library.sync();
    assert_eq!(
        (skills(library), findings(library)),
        first,
        "a second sync says something else"
    );
    library.json(&["sync", "--rebuild"]);
    assert_eq!(
        (skills(library), findings(library)),
        first,
        "a rebuild says something else"
    );
    first
}

/// Syncs when the stamps of all files are old enough to be trusted by the next sync.
fn first_sync(library: &Library) {
    // Nothing can set the time of the last change (ctime), so it has to grow old by itself.
    thread::sleep(Duration::from_millis(25));
    library.sync();
}

fn told(report: &Value, key: &str) -> Vec<String> {
    common::strings(&report[key], "name")
}

// ------------------------------------------------------------------ links

#[test]
fn a_linked_folder_outside_is_followed_and_reported() {
    let library = Library::new();
    outside(&library, "outside/x");
    link(&library, "skills/l", "../outside/x");
    let (skills, findings) = settled(&library);
    assert_eq!(skills, "l");
    assert_eq!(findings, "link-leaves-root\t[DIR]/skills/l");
}

#[test]
fn of_two_links_to_one_folder_the_first_by_name_is_followed() {
    let library = Library::new();
    outside(&library, "outside/x");
    link(&library, "skills/b", "../outside/x");
    link(&library, "skills/a", "../outside/x");
    let (skills, findings) = settled(&library);
    assert_eq!(skills, "a");
    assert_eq!(
        findings,
        "link-leaves-root\t[DIR]/skills/a\nlink-repeated\t[DIR]/skills/b"
    );
}

#[test]
fn a_link_into_a_folder_that_another_link_leads_to_is_not_followed_twice() {
    let library = Library::new();
    outside(&library, "outside/x");
    link(&library, "skills/all", "../outside");
    link(&library, "skills/one", "../outside/x");
    let (skills, _) = settled(&library);
    assert_eq!(skills, "all/x");
}

#[test]
fn the_second_link_takes_over_when_the_first_is_removed() {
    let library = Library::new();
    outside(&library, "outside/x");
    link(&library, "skills/a", "../outside/x");
    link(&library, "skills/b", "../outside/x");
    first_sync(&library);
    fs::remove_file(library.path("skills/a")).unwrap();
    let report = library.sync();
    assert_eq!(report["moved"].as_array().unwrap().len(), 1);
    assert_eq!(skills(&library), "b");
    assert_eq!(findings(&library), "link-leaves-root\t[DIR]/skills/b");
}

#[test]
fn links_to_an_ancestor_end_the_walk() {
    let library = Library::new();
    library.skill("cat/a", "first");
    link(&library, "skills/cat/up", "..");
    link(&library, "skills/cat/self", ".");
    link(&library, "skills/far", "../..");
    let (skills, findings) = settled(&library);
    assert_eq!(skills, "cat/a");
    assert_eq!(
        findings,
        "link-loop\t[DIR]/skills/cat/self\nlink-loop\t[DIR]/skills/cat/up\nlink-loop\t[DIR]/skills/far"
    );
}

#[test]
fn two_folders_outside_that_link_to_each_other_are_walked_once() {
    let library = Library::new();
    outside(&library, "one/x");
    outside(&library, "two/y");
    link(&library, "one/next", "../two");
    link(&library, "two/next", "../one");
    link(&library, "skills/l", "../one");
    let (skills, findings) = settled(&library);
    assert_eq!(skills, "l/next/y\nl/x");
    assert!(
        findings.contains("link-repeated\t[DIR]/skills/l/next/next"),
        "{findings}"
    );
}

#[test]
fn a_link_to_a_skill_inside_the_root_is_not_followed() {
    let library = Library::new();
    library.skill("cat/a", "first");
    link(&library, "skills/l", "cat/a");
    link(&library, "skills/m", "cat");
    let (skills, findings) = settled(&library);
    assert_eq!(skills, "cat/a");
    assert_eq!(
        findings,
        "link-repeated\t[DIR]/skills/l\nlink-repeated\t[DIR]/skills/m"
    );
}

#[test]
fn a_link_that_leads_nowhere_is_an_error_until_its_target_is_there() {
    let library = Library::new();
    library.skill("a", "first");
    link(&library, "skills/l", "../outside/x");
    library.json_exit(&["sync", "skills", "--strict"], 1);
    let (listed, said) = settled(&library);
    assert_eq!(listed, "a");
    assert_eq!(said, "link-dangling\t[DIR]/skills/l");
    outside(&library, "outside/x");
    assert_eq!(told(&library.sync(), "added"), ["x"]);
    assert_eq!(findings(&library), "link-leaves-root\t[DIR]/skills/l");
}

#[test]
fn a_link_whose_target_vanishes_and_comes_back_gives_the_skill_back() {
    let library = Library::new();
    library.skill("a", "first");
    outside(&library, "outside/x");
    link(&library, "skills/l", "../outside/x");
    first_sync(&library);
    fs::rename(library.path("outside"), library.path("aside")).unwrap();
    assert_eq!(told(&library.sync(), "missing"), ["x"]);
    assert_eq!(findings(&library), "link-dangling\t[DIR]/skills/l");
    fs::rename(library.path("aside"), library.path("outside")).unwrap();
    assert_eq!(told(&library.sync(), "back"), ["x"]);
    assert_eq!(findings(&library), "link-leaves-root\t[DIR]/skills/l");
}

#[test]
fn an_edit_behind_a_link_is_seen_and_the_link_still_reported() {
    let library = Library::new();
    outside(&library, "outside/x");
    link(&library, "skills/l", "../outside/x");
    first_sync(&library);
    library.write(
        "outside/x/SKILL.md",
        b"---\nname: x\ndescription: edited\n---\n\nText\n",
    );
    assert_eq!(told(&library.sync(), "changed"), ["x"]);
    assert_eq!(findings(&library), "link-leaves-root\t[DIR]/skills/l");
}

#[test]
fn a_link_led_to_another_folder_is_seen() {
    let library = Library::new();
    outside(&library, "outside/x");
    outside(&library, "outside/y");
    link(&library, "skills/l", "../outside/x");
    first_sync(&library);
    fs::remove_file(library.path("skills/l")).unwrap();
    link(&library, "skills/l", "../outside/y");
    assert_eq!(told(&library.sync(), "changed"), ["y"]);
    assert_eq!(findings(&library), "link-leaves-root\t[DIR]/skills/l");
}

#[test]
fn a_link_led_to_a_skill_inside_the_root_is_not_followed_any_more() {
    let library = Library::new();
    library.skill("a", "first");
    outside(&library, "outside/x");
    link(&library, "skills/l", "../outside/x");
    first_sync(&library);
    fs::remove_file(library.path("skills/l")).unwrap();
    link(&library, "skills/l", "a");
    library.sync();
    assert_eq!(skills(&library), "a");
    assert_eq!(findings(&library), "link-repeated\t[DIR]/skills/l");
}

#[test]
fn a_folder_replaced_by_a_link_to_another_skill_is_not_followed() {
    let library = Library::new();
    library.skill("a", "first");
    library.skill("b", "second");
    first_sync(&library);
    fs::remove_dir_all(library.path("skills/b")).unwrap();
    link(&library, "skills/b", "a");
    library.sync();
    assert_eq!(skills(&library), "a");
    assert_eq!(findings(&library), "link-repeated\t[DIR]/skills/b");
}

#[test]
fn a_folder_moved_out_and_linked_back_is_the_same_skill() {
    let library = Library::new();
    library.skill("a", "first");
    first_sync(&library);
    fs::create_dir(library.path("outside")).unwrap();
    fs::rename(library.path("skills/a"), library.path("outside/a")).unwrap();
    link(&library, "skills/a", "../outside/a");
    let report = library.sync();
    assert_eq!(told(&report, "added"), Vec::<String>::new());
    assert_eq!(told(&report, "changed"), Vec::<String>::new());
    assert_eq!(skills(&library), "a");
    assert_eq!(findings(&library), "link-leaves-root\t[DIR]/skills/a");
}

#[test]
fn a_linked_skill_file_is_read_and_edits_of_its_target_are_seen() {
    let library = Library::new();
    library.skill("b", "stays");
    let target = library.write(
        "outside/one.md",
        b"---\nname: a\ndescription: one\n---\n\nText\n",
    );
    fs::create_dir(library.path("skills/a")).unwrap();
    symlink(&target, library.path("skills/a/SKILL.md")).unwrap();
    assert_eq!(told(&library.sync(), "added"), ["a", "b"]);
    library.write(
        "outside/one.md",
        b"---\nname: a\ndescription: two\n---\n\nText\n",
    );
    assert_eq!(told(&library.sync(), "changed"), ["a"]);
    assert_eq!(
        library.sql("SELECT description FROM v_skill WHERE name = 'a'"),
        "two"
    );
    library.write(
        "outside/other.md",
        b"---\nname: a\ndescription: six\n---\n\nText\n",
    );
    fs::remove_file(library.path("skills/a/SKILL.md")).unwrap();
    link(&library, "skills/a/SKILL.md", "../../outside/other.md");
    assert_eq!(told(&library.sync(), "changed"), ["a"]);
    assert_eq!(
        library.sql("SELECT description FROM v_skill WHERE name = 'a'"),
        "six"
    );
    fs::remove_file(library.path("outside/other.md")).unwrap();
    assert_eq!(told(&library.sync(), "missing"), ["a"]);
    assert_eq!(findings(&library), "link-dangling\t[DIR]/skills/a/SKILL.md");
}

#[test]
fn links_inside_a_skill_are_mirrored_and_not_followed() {
    let library = Library::new();
    library.skill("a", "first");
    library.write("secret/key", b"secret");
    link(&library, "skills/a/secret", "../../secret");
    link(&library, "skills/a/loop", "..");
    link(&library, "skills/a/nowhere", "nowhere");
    library.sync();
    let files = library.sql("SELECT rel_path, link_target FROM v_file ORDER BY rel_path");
    assert_eq!(files, "loop\t..\nnowhere\tnowhere\nsecret\t../../secret");
    assert_eq!(
        library.sql("SELECT count(*) FROM kept_file"),
        "1",
        "only SKILL.md is kept"
    );
}

#[test]
fn a_linked_archive_is_an_archive() {
    let library = Library::new();
    outside(&library, "outside/x");
    link(&library, "skills/.archive", "../outside");
    library.sync();
    assert_eq!(
        library.sql("SELECT rel_path, state FROM v_skill"),
        ".archive/x\tarchived"
    );
}

#[test]
fn a_root_given_through_a_link_is_the_folder_it_leads_to() {
    let library = Library::new();
    library.skill("a", "first");
    link(&library, "alias", "skills");
    library.sync();
    let report = library.json(&["sync", "alias"]);
    assert_eq!(told(&report, "added"), Vec::<String>::new());
    assert_eq!(library.sql("SELECT count(*) FROM skill_root"), "1");
}

// ------------------------------------------------------------------ names and zones

#[test]
fn a_skill_file_below_a_skill_is_reported_as_part_of_it() {
    let library = Library::new();
    library.skill("a", "first");
    library.skill("a/inner", "second");
    library.skill("a/deep/er", "third");
    let (skills, findings) = settled(&library);
    assert_eq!(skills, "a");
    assert_eq!(
        findings,
        "nested-skill\t[DIR]/skills/a/deep/er/SKILL.md\nnested-skill\t[DIR]/skills/a/inner/SKILL.md"
    );
    assert_eq!(library.sync()["nested"], 2);
}

#[test]
fn another_spelling_of_the_file_name_is_accepted_with_a_warning() {
    let library = Library::new();
    library.write(
        "skills/a/skill.md",
        b"---\nname: a\ndescription: d\n---\n\nText\n",
    );
    library.write(
        "skills/b/Skill.MD",
        b"---\nname: b\ndescription: d\n---\n\nText\n",
    );
    library.write(
        "skills/c/SKILLS.md",
        b"---\nname: c\ndescription: d\n---\n\nText\n",
    );
    let (skills, findings) = settled(&library);
    assert_eq!(skills, "a\nb");
    assert_eq!(
        findings,
        "file-name-case\t[DIR]/skills/a/skill.md\nfile-name-case\t[DIR]/skills/b/Skill.MD"
    );
}

#[test]
fn of_two_spellings_the_right_one_counts() {
    let library = Library::new();
    library.skill("a", "right");
    library.write(
        "skills/a/skill.md",
        b"---\nname: a\ndescription: wrong\n---\n",
    );
    let (_, findings) = settled(&library);
    assert_eq!(
        library.sql("SELECT description, file_name FROM v_skill"),
        "right\tSKILL.md"
    );
    assert_eq!(findings, "case-twin\t[DIR]/skills/a/skill.md");
}

#[test]
fn a_skill_file_renamed_to_the_right_spelling_is_the_same_skill() {
    let library = Library::new();
    library.write(
        "skills/a/skill.md",
        b"---\nname: a\ndescription: d\n---\n\nText\n",
    );
    library.sync();
    fs::rename(
        library.path("skills/a/skill.md"),
        library.path("skills/a/SKILL.md"),
    )
    .unwrap();
    let report = library.sync();
    assert_eq!(told(&report, "missing"), Vec::<String>::new());
    assert_eq!(
        library.sql("SELECT id, file_name FROM v_skill"),
        "1\tSKILL.md"
    );
    assert_eq!(findings(&library), "");
}

#[test]
fn folders_that_differ_only_in_case_are_both_loaded_and_reported() {
    let library = Library::new();
    library.skill("deploy", "first");
    library.skill("Deploy", "second");
    let (skills, findings) = settled(&library);
    assert_eq!(skills, "Deploy\ndeploy");
    assert_eq!(findings, "case-twin\t[DIR]/skills/deploy");
}

#[test]
fn the_archive_is_a_zone_at_any_depth() {
    let library = Library::new();
    library.skill("a", "first");
    library.skill(".archive/old", "second");
    library.skill("cat/.archive/deep/older", "third");
    library.skill(".system/b", "fourth");
    settled(&library);
    let report = library.sync();
    assert_eq!(
        (&report["loaded"], &report["archived"]),
        (&4.into(), &2.into())
    );
    assert_eq!(
        library.sql("SELECT rel_path, state FROM v_skill ORDER BY rel_path"),
        ".archive/old\tarchived\n.system/b\tactive\na\tactive\ncat/.archive/deep/older\tarchived"
    );
}

#[test]
fn skipped_folders_are_skipped_at_every_depth() {
    let library = Library::new();
    library.skill("a", "first");
    for name in skilldb::library::skipped_folders() {
        library.skill(&format!("{name}/x"), "skipped");
        library.skill(&format!("cat/deep/{name}/x"), "skipped");
        library.write(&format!("skills/a/{name}/notes.md"), b"skipped");
    }
    library.write("skills/a/.DS_Store", b"skipped");
    let (skills, findings) = settled(&library);
    assert_eq!((skills.as_str(), findings.as_str()), ("a", ""));
    assert_eq!(library.sql("SELECT count(*) FROM v_file"), "0");
}

#[test]
fn names_that_are_not_utf8_are_reported_and_left_out() {
    let library = Library::new();
    library.skill("a", "first");
    let folder = library.path("skills").join(OsStr::from_bytes(b"bad\xff"));
    fs::create_dir(&folder).unwrap();
    fs::copy(library.path("skills/a/SKILL.md"), folder.join("SKILL.md")).unwrap();
    let file = library
        .path("skills/a")
        .join(OsStr::from_bytes(b"note\xfe.md"));
    File::create(file).unwrap();
    let (skills, findings) = settled(&library);
    assert_eq!(skills, "a");
    assert_eq!(findings.matches("name-not-utf8").count(), 2, "{findings}");
}

#[test]
fn a_root_whose_name_is_not_utf8_is_refused_by_name() {
    let library = Library::new();
    let root = library.dir().join(OsStr::from_bytes(b"bad\xff"));
    fs::create_dir(&root).unwrap();
    let output = library.skilldb(&["sync"]).arg(&root).output().unwrap();
    let told = library.told(&output);
    assert!((1..=2).contains(&code(&output)), "{told}");
    assert!(told.contains("UTF-8"), "{told}");
}

#[test]
fn folders_deeper_than_any_library_are_reported_and_not_entered() {
    let library = Library::new();
    let levels: Vec<String> = (0..60).map(|level| format!("d{level}")).collect();
    library.skill(&levels[..40].join("/"), "reached");
    let library_of_depth = Library::new();
    library_of_depth.skill(&levels.join("/"), "too deep");
    library_of_depth.skill("a", "first");
    let (found, said) = settled(&library);
    assert_eq!((found.split('/').count(), said.as_str()), (40, ""));
    let (found, said) = settled(&library_of_depth);
    assert_eq!(found, "a");
    assert!(said.starts_with("too-deep\t[DIR]/skills/d0/"), "{said}");
    assert_eq!(said.lines().count(), 1);
}

#[test]
fn a_root_may_itself_be_a_skill_with_categories_beside_it() {
    let library = Library::new();
    library.write(
        "skills/SKILL.md",
        b"---\nname: whole\ndescription: d\n---\n\nText\n",
    );
    library.write("skills/references/notes.md", b"notes");
    library.skill("cat/a", "first");
    settled(&library);
    assert_eq!(
        library.sql("SELECT rel_path, name, folder FROM v_skill ORDER BY rel_path"),
        ".\twhole\tskills\ncat/a\ta\ta"
    );
    assert_eq!(
        library.sql("SELECT name, rel_path FROM v_file"),
        "whole\treferences/notes.md"
    );
    library.skill("cat/b", "second");
    assert_eq!(told(&library.sync(), "added"), ["b"]);
    library.write(
        "skills/SKILL.md",
        b"---\nname: whole\ndescription: e\n---\n\nText\n",
    );
    assert_eq!(told(&library.sync(), "changed"), ["whole"]);
    fs::remove_file(library.path("skills/SKILL.md")).unwrap();
    assert_eq!(told(&library.sync(), "missing"), ["whole"]);
    assert_eq!(skills(&library), "cat/a\ncat/b");
}

#[test]
fn names_may_hold_blanks_quotes_line_ends_and_signs() {
    let library = Library::new();
    let names = [
        "two words",
        " edge ",
        "it's \"quoted\"",
        "line\nend",
        "tab\there",
        "\u{1f680} rocket",
        "e\u{301}",
        "100%_; DROP TABLE skill",
        "-flag",
        "back\\slash",
        "'; --",
    ];
    for name in names {
        library.write(
            &format!("skills/{name}/SKILL.md"),
            b"---\ndescription: d\n---\n\nText\n",
        );
        library.write(&format!("skills/{name}/scripts/{name}.sh"), b"echo\n");
    }
    let report = library.sync();
    assert_eq!(report["loaded"], names.len());
    let listed = library.json(&["sql", "SELECT rel_path FROM v_skill ORDER BY id"]);
    let mut found = common::strings(&listed["rows"], "rel_path");
    let mut wanted = names.map(str::to_owned);
    found.sort();
    wanted.sort();
    assert_eq!(found, wanted);
    assert_eq!(library.sync()["wrote"], false);
    fs::rename(
        library.path("skills/line\nend"),
        library.path("skills/other\nend"),
    )
    .unwrap();
    assert_eq!(library.sync()["moved"].as_array().unwrap().len(), 1);
    assert_eq!(library.json(&["doctor"])["healthy"], true);
}

#[test]
fn things_that_are_no_files_are_never_waited_for() {
    let library = Library::new();
    library.skill("a", "first");
    let fifo = library.path("skills/a/fifo");
    let made = std::process::Command::new("mkfifo").arg(&fifo).status();
    assert!(
        made.is_ok_and(|status| status.success()),
        "mkfifo is part of every system"
    );
    fs::create_dir(library.path("skills/b")).unwrap();
    let made = std::process::Command::new("mkfifo")
        .arg(library.path("skills/b/SKILL.md"))
        .status();
    assert!(made.unwrap().success());
    let (skills, findings) = settled(&library);
    assert_eq!(skills, "a");
    assert_eq!(findings, "not-a-file\t[DIR]/skills/b/SKILL.md");
    assert_eq!(library.sync()["files_found"], 2);

    // A skill file that turned into a pipe after the sync must not hang whoever shows it.
    fs::remove_file(library.path("skills/a/SKILL.md")).unwrap();
    let made = std::process::Command::new("mkfifo")
        .arg(library.path("skills/a/SKILL.md"))
        .status();
    assert!(made.unwrap().success());
    assert!(library.run(&["show", "a"]).starts_with("exit 1"));
}

#[test]
fn a_skill_that_moved_into_its_own_folder_leaves_a_category_behind() {
    let library = Library::new();
    library.skill("a", "first");
    library.sync();
    fs::create_dir(library.path("skills/a/sub")).unwrap();
    fs::rename(
        library.path("skills/a/SKILL.md"),
        library.path("skills/a/sub/SKILL.md"),
    )
    .unwrap();
    assert_eq!(library.sync()["moved"].as_array().unwrap().len(), 1);
    library.skill("a/new", "came later");
    assert_eq!(library.sync()["added"].as_array().unwrap().len(), 1);
}

#[test]
fn a_linked_skill_file_must_lead_to_markdown() {
    let library = Library::new();
    library.write("secret", b"root:x:0:0");
    fs::create_dir_all(library.path("skills/x")).unwrap();
    link(&library, "skills/x/SKILL.md", "../../secret");
    let (skills, findings) = settled(&library);
    assert_eq!(skills, "");
    assert_eq!(findings, "not-a-file\t[DIR]/skills/x/SKILL.md");
    assert_eq!(library.sql("SELECT count(*) FROM blob"), "0");
}

#[test]
fn a_root_that_became_a_file_is_no_deletion() {
    let library = Library::new();
    library.skill("a", "first");
    library.sync();
    fs::remove_dir_all(library.path("skills")).unwrap();
    library.write("skills", b"now a file");
    let told = library.run(&["sync"]);
    assert!(told.starts_with("exit 1"), "{told}");
    assert_eq!(library.sql("SELECT count(*) FROM v_skill"), "1");
}

// ------------------------------------------------------------------ permissions

const NOBODY: u32 = 65534;

/// A library that a user without rights works in, also when the test runs as root.
struct Unprivileged(Library);

impl Unprivileged {
    fn new() -> Self {
        let library = Library::new();
        if is_root(&library) {
            set_mode(library.dir(), 0o755);
        }
        Self(library)
    }

    fn run(&self, args: &[&str]) -> Output {
        let library = &self.0;
        if is_root(library) {
            give_away(&library.path("skills"));
            give_away(&library.path("data"));
        }
        let model = library.process(args);
        // The built binary may lie where this user cannot reach it.
        let program = library.path("skilldb");
        if !program.exists() {
            // A link where that can be: a file just written cannot be run while another test forks.
            if fs::hard_link(model.get_program(), &program).is_err() {
                fs::copy(model.get_program(), &program).unwrap();
            }
        }
        let mut command = std::process::Command::new(&program);
        command
            .args(model.get_args())
            .current_dir(library.dir())
            .env_clear();
        for (name, value) in model.get_envs() {
            command.env(name, value.unwrap());
        }
        if is_root(library) {
            command.gid(NOBODY).uid(NOBODY);
        }
        command.output().unwrap()
    }

    fn json(&self, args: &[&str], exit: i32) -> Value {
        let output = self.run(&[args, &["--json"]].concat());
        assert_eq!(code(&output), exit, "{args:?}\n{}", self.0.told(&output));
        serde_json::from_slice(&output.stdout).unwrap()
    }

    fn sync(&self) -> Value {
        self.json(&["sync", "skills"], 0)
    }

    fn mode(&self, rel: &str, mode: u32) {
        set_mode(&self.0.path(rel), mode);
    }
}

impl Drop for Unprivileged {
    fn drop(&mut self) {
        open_all(&self.0.path("skills"));
    }
}

fn is_root(library: &Library) -> bool {
    fs::metadata(library.dir()).unwrap().uid() == 0
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, PermissionsExt::from_mode(mode)).unwrap();
}

fn give_away(path: &Path) {
    chown(path, Some(NOBODY), Some(NOBODY)).unwrap();
    if path.is_dir() {
        for entry in fs::read_dir(path).unwrap() {
            give_away(&entry.unwrap().path());
        }
    }
}

/// Closed folders cannot be cleared away by everybody.
fn open_all(path: &Path) {
    if path.is_dir() && !path.is_symlink() {
        set_mode(path, 0o755);
        for entry in fs::read_dir(path).unwrap() {
            open_all(&entry.unwrap().path());
        }
    }
}

#[test]
fn a_closed_folder_is_reported_and_what_was_known_of_it_stays() {
    let nobody = Unprivileged::new();
    let library = &nobody.0;
    library.skill("a", "first");
    library.skill("cat/b", "second");
    library.skill("c/deep/d", "third");
    nobody.sync();
    let before = library.sql("SELECT id, rel_path, state FROM v_skill ORDER BY id");
    nobody.mode("skills/cat", 0);
    nobody.mode("skills/a", 0);
    for _ in 0..2 {
        let report = nobody.sync();
        let codes = common::strings(&report["walk"], "code");
        assert!(codes.contains(&"folder-unreadable".to_owned()), "{codes:?}");
        assert_eq!(report["missing"].as_array().unwrap().len(), 0);
        assert_eq!(
            library.sql("SELECT id, rel_path, state FROM v_skill ORDER BY id"),
            before
        );
    }
    nobody.json(&["sync", "--checksum"], 0);
    assert_eq!(
        library.sql("SELECT id, rel_path, state FROM v_skill ORDER BY id"),
        before
    );
    nobody.mode("skills/cat", 0o755);
    nobody.mode("skills/a", 0o755);
    let report = nobody.sync();
    assert_eq!(report["walk"].as_array().unwrap().len(), 0);
    assert_eq!(
        library.sql("SELECT id, rel_path, state FROM v_skill ORDER BY id"),
        before
    );
}

#[test]
fn a_rebuild_keeps_what_is_known_of_a_closed_folder() {
    let nobody = Unprivileged::new();
    let library = &nobody.0;
    library.skill("a", "first");
    library.skill("cat/b", "second");
    nobody.sync();
    let before = library.sql("SELECT id, rel_path, state FROM v_skill ORDER BY id");
    nobody.mode("skills/cat", 0);
    nobody.json(&["sync", "--rebuild"], 0);
    assert_eq!(
        library.sql("SELECT id, rel_path, state FROM v_skill ORDER BY id"),
        before
    );
}

#[test]
fn a_folder_closed_from_the_start_is_found_once_it_is_open() {
    let nobody = Unprivileged::new();
    let library = &nobody.0;
    library.skill("a", "first");
    library.skill("cat/b", "second");
    // Given away first, so that the owner has nothing left to be given.
    nobody.run(&["path", "home"]);
    nobody.mode("skills/cat", 0);
    let report = nobody.sync();
    assert_eq!(
        common::strings(&report["walk"], "code"),
        ["folder-unreadable"]
    );
    assert_eq!(code(&nobody.run(&["sync", "--strict"])), 1);
    nobody.mode("skills/cat", 0o755);
    assert_eq!(told(&nobody.sync(), "added"), ["b"]);
}

#[test]
fn a_closed_file_is_reported_and_keeps_what_it_said() {
    let nobody = Unprivileged::new();
    let library = &nobody.0;
    library.skill("a", "first");
    library.skill("b", "second");
    nobody.sync();
    nobody.mode("skills/a/SKILL.md", 0);
    for _ in 0..2 {
        let report = nobody.sync();
        assert_eq!(report["refused"], 1);
        assert_eq!(
            common::strings(&report["rejected"], "code"),
            ["file-unreadable"]
        );
        assert_eq!(
            library.sql("SELECT description FROM manifest WHERE skill_id = 1"),
            "first"
        );
    }
    nobody.mode("skills/a/SKILL.md", 0o644);
    assert_eq!(nobody.sync()["refused"], 0);
    assert_eq!(library.sql("SELECT id FROM v_skill ORDER BY id"), "1\n2");
    assert_eq!(library.sql("SELECT count(*) FROM revision"), "2");
}

#[test]
fn a_file_that_was_closed_for_a_while_was_not_edited() {
    let nobody = Unprivileged::new();
    let library = &nobody.0;
    library.skill("a", "first");
    nobody.sync();
    nobody.mode("skills/a/SKILL.md", 0);
    nobody.sync();
    nobody.mode("skills/a/SKILL.md", 0o644);
    nobody.sync();
    assert_eq!(
        library.sql("SELECT human_edited_at IS NULL FROM skill"),
        "1"
    );
}

#[test]
fn a_closed_folder_of_a_skill_does_not_remove_its_files_from_the_history() {
    let nobody = Unprivileged::new();
    let library = &nobody.0;
    library.skill("a", "first");
    library.write("skills/a/scripts/run.sh", b"echo\n");
    nobody.sync();
    nobody.mode("skills/a/scripts", 0);
    nobody.sync();
    let titles = library.sql("SELECT title FROM revision ORDER BY id");
    assert_eq!(titles, "first seen");
    nobody.mode("skills/a/scripts", 0o755);
    nobody.sync();
    assert_eq!(library.sql("SELECT rel_path FROM v_file"), "scripts/run.sh");
}

#[test]
fn a_closed_root_does_not_keep_the_others_from_being_synced() {
    let nobody = Unprivileged::new();
    let library = &nobody.0;
    library.skill("one/a", "first");
    library.skill("two/b", "second");
    nobody.json(&["sync", "skills/one", "skills/two"], 0);
    library.skill("two/c", "third");
    nobody.run(&["path", "home"]);
    nobody.mode("skills/one", 0);
    let told = library.told(&nobody.run(&["sync"]));
    assert!(told.contains("skills/one"), "{told}");
    assert_eq!(
        library.sql("SELECT name FROM v_skill ORDER BY name"),
        "a\nb\nc"
    );
}

// ------------------------------------------------------------------ real libraries

/// The files named like a skill file, found without any of the code under test.
fn skill_files(folder: &Path) -> u64 {
    let mut count = 0;
    for entry in fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name();
        let kind = entry.file_type().unwrap();
        if kind.is_dir() {
            let is_skipped = skilldb::library::skipped_folders()
                .iter()
                .any(|skipped| name == *skipped);
            count += if is_skipped {
                0
            } else {
                skill_files(&entry.path())
            };
        } else if name.eq_ignore_ascii_case("SKILL.md") {
            count += 1;
        }
    }
    count
}

#[test]
fn every_skill_file_of_real_libraries_is_loaded_refused_or_nested() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/corpus/real");
    let Ok(entries) = fs::read_dir(&corpus) else {
        let _ = writeln!(
            std::io::stderr(),
            "skipped: {} is not there",
            corpus.display()
        );
        return;
    };
    for entry in entries {
        let folder = entry.unwrap().path();
        let library = Library::new();
        copy_folder(&folder, &library.path("skills"));
        let wanted = skill_files(&library.path("skills"));
        let report = library.sync();
        let [found, loaded, refused, nested] =
            ["files_found", "loaded", "refused", "nested"].map(|key| report[key].as_u64().unwrap());
        assert!(wanted > 0, "{}", folder.display());
        assert_eq!(found, wanted, "{}", folder.display());
        assert_eq!(loaded + refused + nested, wanted, "{}", folder.display());
        assert_eq!(library.json(&["doctor"])["healthy"], true);
    }
}
