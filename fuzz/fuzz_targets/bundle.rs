//! Any bytes as several files of a skill, archives among them: the first byte of each part says which file it is.

#![no_main]

use std::sync::OnceLock;

use libfuzzer_sys::fuzz_target;
use skilldb::guard::bundle::{Content, Entry};
use skilldb::guard::{Bundle, Guard};

const NAMES: [&str; 8] = ["SKILL.md", "scripts/run.sh", "scripts/run.py", "package.json", "references/a.md", "assets/a.zip", "assets/b.tar.gz", "tool.ps1"];

fuzz_target!(|bytes: &[u8]| {
    static GUARD: OnceLock<Guard> = OnceLock::new();
    let parts = bytes.split(|byte| *byte == 0xfe).take(6);
    let entry = |part: &[u8]| {
        let (first, rest) = part.split_first()?;
        let path = NAMES[usize::from(*first) % NAMES.len()];
        Some(Entry { path: path.to_owned(), content: Content::Bytes(rest.to_vec()), is_executable: *first > 127 })
    };
    let entries = parts.filter_map(entry).collect();
    let bundle = Bundle { name: "fuzzed".to_owned(), entries, is_cut: false };
    let _ = GUARD.get_or_init(Guard::default).scan(&bundle);
});
