//! Any bytes as a skill file: read, normalised, decoded, matched. Nothing may panic, and nothing may take forever.

#![no_main]

use std::sync::OnceLock;

use libfuzzer_sys::fuzz_target;
use skilldb::guard::bundle::{Content, Entry};
use skilldb::guard::{Bundle, Guard};

fuzz_target!(|bytes: &[u8]| {
    static GUARD: OnceLock<Guard> = OnceLock::new();
    let entry = Entry { path: "SKILL.md".to_owned(), content: Content::Bytes(bytes.to_vec()), is_executable: false };
    let bundle = Bundle { name: "fuzzed".to_owned(), entries: vec![entry], is_cut: false };
    let report = GUARD.get_or_init(Guard::default).scan(&bundle);
    assert!(report.findings.iter().all(|finding| !finding.rule.is_empty() && finding.fingerprint.len() == 16));
});
