//! Changes on a full disk, in folders that may not be written, and where something is in the way: a clear message,
//! nothing lost, nothing left lying about.

#![expect(
    clippy::unwrap_used,
    reason = "what cannot be arranged is a failed test"
)]

mod common;
#[path = "common/small_disk.rs"]
mod small_disk;
#[path = "common/tree.rs"]
mod trees;

use std::fs;
use std::io::Write;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Output;

use common::{Library, code};
use serde_json::Value;
use small_disk::SmallDisk;
use trees::{Tree, tree};

/// Text that does not compress.
fn noise(length: usize) -> String {
    let mut state = 2_654_435_761_u32;
    std::iter::repeat_with(|| {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        char::from(b'!' + u8::try_from(state % 90).unwrap())
    })
    .take(length)
    .collect()
}

fn assert_refused(library: &Library, output: &Output, words: &[&str]) {
    let told = library.told(output);
    assert_eq!(code(output), 1, "{told}");
    assert!(words.iter().any(|word| told.contains(word)), "{told}");
}

/// Says which paths differ, not with which bytes.
fn assert_same(library: &Library, before: &Tree, place: &str) {
    let after = tree(&library.path("skills"));
    let differs = |path: &&String| before.get(*path) != after.get(*path);
    let paths: Vec<&String> = before.keys().chain(after.keys()).filter(differs).collect();
    assert!(paths.is_empty(), "{place}: {paths:?}");
}

const SKILL: &[u8] = b"---\nname: deploy\ndescription: Ships it.\n---\nRun it.\n";

#[test]
fn on_a_full_disk_every_change_says_so_and_leaves_everything_as_it_was() {
    let library = Library::new();
    let Some(_disk) = SmallDisk::mount(&library.path("skills"), 160) else {
        return;
    };
    library.write("skills/deploy/SKILL.md", SKILL);
    library.write("skills/deploy/references/a.md", noise(20_000).as_bytes());
    library.write(
        "big.md",
        format!(
            "---\nname: big\ndescription: Is big.\n---\n{}",
            noise(90_000)
        )
        .as_bytes(),
    );
    library.sync();
    library.json(&["snapshot", "create"]);
    library.write("skills/filler", noise(90_000).as_bytes());
    let before = tree(&library.path("skills"));
    for change in [
        &["create", "big", "--from", "big.md", "--root", "skills"][..],
        &["write", "deploy/references/b.md", "--from", "big.md"],
        &["write", "deploy/references/a.md", "--from", "big.md"],
    ] {
        let output = library.skilldb(change).output().unwrap();
        assert_refused(&library, &output, &["disk is full"]);
        assert_same(&library, &before, &format!("{change:?}"));
    }
    // What needs no room works.
    library.json(&["archive", "deploy"]);
    library.json(&["undo"]);
    assert_same(&library, &before, "");
    assert_eq!(
        library.sql("SELECT count(*) FROM change WHERE outcome = 'failed' AND problem = 'io'"),
        "3"
    );
}

#[test]
fn with_the_home_on_a_full_disk_no_file_is_touched() {
    let library = Library::new();
    let Some(_disk) = SmallDisk::mount(&library.path("data"), 1_500) else {
        return;
    };
    library.write("skills/deploy/SKILL.md", SKILL);
    library.write("big.md", noise(95_000).as_bytes());
    library.sync();
    let mut refused = 0;
    for number in 0..40 {
        let before = tree(&library.path("skills"));
        let file = format!("deploy/references/{number}.md");
        library.write(
            "big.md",
            format!("{number}{}", noise(95_000 - number)).as_bytes(),
        );
        let output = library
            .skilldb(&["write", &file, "--from", "big.md"])
            .output()
            .unwrap();
        if code(&output) == 0 {
            continue;
        }
        refused += 1;
        let told = library.told(&output);
        assert!(told.contains("full"), "{told}");
        assert_same(&library, &before, "");
    }
    assert!(refused > 0);
}

/// Runs a command as nobody, who owns everything in the library's folder.
fn as_nobody(library: &Library, args: &[&str]) -> Output {
    library
        .process(args)
        .uid(65_534)
        .gid(65_534)
        .output()
        .unwrap()
}

fn give_away(path: &Path) {
    chown(path, Some(65_534), Some(65_534)).unwrap();
    if path.is_dir() && !path.is_symlink() {
        for entry in fs::read_dir(path).unwrap() {
            give_away(&entry.unwrap().path());
        }
    }
}

fn lock(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

#[test]
fn in_folders_that_may_not_be_written_nothing_is_half_done() {
    let library = Library::new();
    if fs::metadata(library.dir()).unwrap().uid() != 0 {
        let _ = writeln!(std::io::stderr(), "skipped: cannot become another user");
        return;
    }
    library.write("skills/cat/deploy/SKILL.md", SKILL);
    library.write("skills/cat/deploy/references/a.md", b"A.\n");
    library.write("given.md", b"B.\n");
    library.sync();
    fs::create_dir(library.path("skills/.archive")).unwrap();
    give_away(library.dir());
    lock(library.dir(), 0o755);
    let stories: [(&str, &[&str]); 7] = [
        // The skill's own folder.
        (
            "skills/cat/deploy",
            &["patch", "deploy", "--old", "Run", "--new", "Start"],
        ),
        (
            "skills/cat/deploy",
            &["write", "deploy/scripts/a.sh", "--from", "given.md"],
        ),
        (
            "skills/cat/deploy/references",
            &["rm-file", "deploy/references/a.md"],
        ),
        (
            "skills/cat/deploy/references",
            &["delete", "deploy", "--forever", "--yes"],
        ),
        // The folders around it.
        ("skills/cat", &["archive", "deploy"]),
        ("skills/cat", &["rename", "deploy", "ship"]),
        ("skills/cat", &["delete", "deploy", "--forever", "--yes"]),
    ];
    for (folder, change) in stories {
        let before = tree(&library.path("skills"));
        lock(&library.path(folder), 0o555);
        let output = as_nobody(&library, change);
        lock(&library.path(folder), 0o755);
        assert_refused(&library, &output, &["Permission denied"]);
        assert_same(&library, &before, &format!("{change:?}"));
        assert_eq!(
            library.sql("SELECT outcome FROM change ORDER BY id DESC LIMIT 1"),
            "failed",
            "{change:?}"
        );
        assert_eq!(
            library.sql("SELECT count(*) FROM journal"),
            "0",
            "{change:?}"
        );
    }
    // A folder that cannot be emptied around it is no reason to fail.
    lock(&library.path("skills"), 0o555);
    let output = as_nobody(&library, &["archive", "deploy"]);
    lock(&library.path("skills"), 0o755);
    assert_eq!(code(&output), 0, "{}", library.told(&output));
    assert!(
        library
            .path("skills/.archive/cat/deploy/SKILL.md")
            .is_file()
    );
}

#[test]
fn nothing_is_written_through_a_link() {
    let library = Library::new();
    library.write("skills/deploy/SKILL.md", SKILL);
    library.write("outside/keep.md", b"Keep.\n");
    library.write("given.md", b"B.\n");
    symlink(
        library.path("outside"),
        library.path("skills/deploy/references"),
    )
    .unwrap();
    symlink(
        library.path("outside/keep.md"),
        library.path("skills/deploy/scripts"),
    )
    .unwrap();
    library.sync();
    let before = tree(library.dir());
    for (change, problem) in [
        (
            &["write", "deploy/references/a.md", "--from", "given.md"][..],
            "path-escapes",
        ),
        (
            &["write", "deploy/references/keep.md", "--from", "given.md"],
            "path-escapes",
        ),
        (&["rm-file", "deploy/references/keep.md"], "path-escapes"),
        (
            &["write", "deploy/../x.md", "--from", "given.md"],
            "path-escapes",
        ),
        (
            &[
                "write",
                "deploy/references/../../x.md",
                "--from",
                "given.md",
            ],
            "path-escapes",
        ),
        (
            &[
                "write",
                "deploy/references/sub/SKILL.md",
                "--from",
                "given.md",
            ],
            "nested-skill",
        ),
        (
            &[
                "write",
                "deploy/assets/node_modules/a.md",
                "--from",
                "given.md",
            ],
            "name-reserved",
        ),
        (
            &["write", "deploy/a.md", "--from", "given.md"],
            "path-elsewhere",
        ),
    ] {
        let told: Value = library.json_exit(change, 1);
        assert_eq!(told["error"]["code"], problem, "{change:?}");
        let mut after = tree(library.dir());
        after.retain(|path, _| !path.starts_with("data"));
        let mut kept = before.clone();
        kept.retain(|path, _| !path.starts_with("data"));
        assert_eq!(after, kept, "{change:?}");
    }
    // Asking for what it said after a refused path still works.
    library.json(&["diff", "deploy", "1"]);
}

#[test]
fn a_refused_create_leaves_the_tree_as_it_was_whatever_stood_there() {
    let library = Library::new();
    library.write(
        "skills/devops/alpha/SKILL.md",
        b"---\nname: alpha\ndescription: A.\n---\nA.\n",
    );
    library.write(
        "skills/lower/skill.md",
        b"---\nname: lower\ndescription: L.\n---\nL.\n",
    );
    library.sync();
    library.write("skills/plain-file", b"Not a folder.\n");
    library.write(
        "skills/unsynced/beta/SKILL.md",
        b"---\nname: beta\ndescription: B.\n---\nB.\n",
    );
    library.json(&["archive", "alpha"]);
    library.write(
        "skills/devops/gamma/SKILL.md",
        b"---\nname: gamma\ndescription: G.\n---\nG.\n",
    );
    library.sync();
    let before = tree(&library.path("skills"));
    let create = |name: &str, category: Option<&str>, header: &str| {
        library.write(
            "given.md",
            format!("---\nname: {header}\ndescription: X.\n---\nBody.\n").as_bytes(),
        );
        let mut args = vec!["create", name, "--from", "given.md", "--root", "skills"];
        if let Some(category) = category {
            args.extend(["--category", category]);
        }
        let told = library.json_exit(&args, 1);
        assert_same(&library, &before, name);
        told["error"]["code"].as_str().unwrap().to_owned()
    };
    assert_eq!(create("Bad Name", None, "Bad Name"), "name-charset");
    assert_eq!(
        create("node_modules", None, "node_modules"),
        "name-reserved"
    );
    assert_eq!(create("other", None, "another"), "name-mismatch");
    assert_eq!(create("gamma", Some("fresh"), "gamma"), "name-taken");
    assert_eq!(create("devops", None, "devops"), "name-taken");
    assert_eq!(create("alpha", None, "alpha"), "name-taken");
    assert_eq!(create("plain-file", None, "plain-file"), "name-taken");
    assert_eq!(create("beta", None, "beta"), "name-taken");
    assert_eq!(create("inner", Some("lower"), "inner"), "name-taken");
    assert_eq!(create("inner", Some("a/b"), "inner"), "category-charset");
    library.write(
        "given.md",
        "---\nname: evil\ndescription: X.\n---\nDo\u{202e} it.\n".as_bytes(),
    );
    let told = library.json_exit(
        &[
            "create",
            "evil",
            "--from",
            "given.md",
            "--root",
            "skills",
            "--category",
            "fresh",
        ],
        1,
    );
    assert_eq!(told["error"]["code"], "scan-blocked");
    assert_same(&library, &before, "");
}
