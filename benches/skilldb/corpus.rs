//! A library of made-up skills for the benches: the sizes of real ones, the same bytes every time.

use std::fs;
use std::path::Path;

use skilldb::library::{Root, RootKind};
use skilldb::sync::{Options, Selection, Silence, sync};
use skilldb::time::Timestamp;

/// Median size of a SKILL.md in public libraries, bytes.
const BODY: usize = 5_700;

/// Returns the text of skill number `n`.
pub(crate) fn skill_text(n: usize) -> String {
    let mut text = format!(
        "---\nname: skill-{n}\ndescription: Does the thing number {n} is for. Use it when somebody asks for thing {n}, or when a file of that kind turns up in a pull request.\nlicense: MIT\nmetadata:\n  version: 1.{n}\n  hermes:\n    tags: [thing, number-{n}, made-up]\n    platforms: [linux, macos]\n---\n\n# Skill {n}\n\n"
    );
    // A small generator: enough variety that compression behaves as on prose.
    let mut state = n as u64 * 0x9e37_79b9_7f4a_7c15 + 1;
    while text.len() < BODY {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        let word = WORDS[(state >> 33) as usize % WORDS.len()];
        text.push_str(word);
        text.push(if (state >> 20).is_multiple_of(13) {
            '\n'
        } else {
            ' '
        });
    }
    text
}

const WORDS: [&str; 24] = [
    "check",
    "the",
    "file",
    "before",
    "you",
    "write",
    "and",
    "never",
    "overwrite",
    "what",
    "somebody",
    "else",
    "changed",
    "run",
    "tests",
    "first",
    "then",
    "report",
    "which",
    "lines",
    "were",
    "touched",
    "by",
    "each",
];

/// Writes `count` skills in twenty categories, two of five with a reference beside them.
pub(crate) fn write_library(root: &Path, count: usize) {
    for n in 0..count {
        let folder = root
            .join(format!("category-{}", n % 20))
            .join(format!("skill-{n}"));
        fs::create_dir_all(folder.join("references")).expect("a temporary folder can be written");
        put(&folder.join("SKILL.md"), &skill_text(n));
        if n % 5 < 2 {
            put(&folder.join("references/notes.md"), &skill_text(n + count));
        }
    }
}

/// Writes a file.
#[expect(
    clippy::disallowed_methods,
    reason = "made-up files in a temporary folder"
)]
pub(crate) fn put(path: &Path, text: &str) {
    fs::write(path, text).expect("a temporary file can be written");
}

/// Syncs a folder of skills into a new library.
pub(crate) fn sync_new(home: &Path, root: &Path, now: Timestamp) {
    let roots = [Root {
        path: root.to_path_buf(),
        kind: RootKind::Local,
        priority: 0,
        writable: true,
        client: None,
    }];
    let options = Options {
        rebuild: false,
        checksum: false,
        allow_mass_delete: false,
        dry_run: false,
        support_budget: 1 << 26,
    };
    let selection = Selection::Named(&roots);
    sync(home, selection, options, now, (&Silence, &|_| Ok(()))).expect("the library syncs");
}
