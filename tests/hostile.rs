//! Files made to exhaust a parser, and folders made to exhaust a walk: one sync takes them all, says of each
//! what is wrong with it, and stays small.

#![expect(
    clippy::unwrap_used,
    reason = "what cannot be arranged is a failed test"
)]

mod common;

use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::Write as _;
use std::process::Child;

use common::{Library, code};

/// The most memory a sync of all of them may hold, kB. Release builds need less.
const MOST_MEMORY: u64 = 120 * 1024;

/// Every hostile file: folder, bytes, what becomes of it, and the finding it is named by.
fn hostile_files() -> Vec<(&'static str, Vec<u8>, &'static str, &'static str)> {
    let skill = |header: &str| format!("---\nname: x\n{header}\n---\n\nText\n").into_bytes();
    let mut bomb = String::from("a0: &a0 [lol, lol, lol, lol, lol, lol, lol, lol, lol, lol]\n");
    for level in 1..12 {
        let before = level - 1;
        let aliases = vec![format!("*a{before}"); 10].join(", ");
        let _ = writeln!(bomb, "a{level}: &a{level} [{aliases}]");
    }
    let keys = |count: usize| {
        let mut keys = String::new();
        for number in 0..count {
            let _ = writeln!(keys, "k{number}: v");
        }
        keys
    };
    let mut levels = String::new();
    for level in 0..300 {
        let _ = writeln!(levels, "{}k:", " ".repeat(level));
    }
    let text = "description: d";
    vec![
        ("alias-bomb", skill(&bomb), "unreadable", "yaml-alias"),
        (
            "merge-bomb",
            skill(&format!("{bomb}<<: *a11")),
            "unreadable",
            "yaml-alias",
        ),
        (
            "levels-of-lists",
            skill(&format!("a: {}{}", "[".repeat(10_000), "]".repeat(10_000))),
            "unreadable",
            "yaml-too-deep",
        ),
        (
            "levels-of-maps",
            skill(&format!(
                "a: {}{}",
                "{a: ".repeat(10_000),
                "}".repeat(10_000)
            )),
            "unreadable",
            "yaml-too-deep",
        ),
        (
            "levels-left-open",
            skill(&format!("a: {}", "[".repeat(100_000))),
            "unreadable",
            "yaml-too-deep",
        ),
        (
            "levels-of-lines",
            skill(&levels),
            "unreadable",
            "yaml-too-deep",
        ),
        (
            "keys-100000",
            skill(&keys(100_000)),
            "unreadable",
            "frontmatter-too-large",
        ),
        (
            "keys-5000",
            skill(&keys(5_000)),
            "unreadable",
            "yaml-too-many-nodes",
        ),
        ("keys-1000", skill(&keys(1_000)), "ok", "unknown-key"),
        (
            "scalar-in-header",
            skill(&format!("description: {}", "x".repeat(1 << 20))),
            "unreadable",
            "frontmatter-too-large",
        ),
        (
            "scalar-in-body",
            [skill(text), "x".repeat(1 << 20).into_bytes()].concat(),
            "ok",
            "name-mismatch",
        ),
        (
            "lines-in-body",
            [skill(text), "\n".repeat(1 << 20).into_bytes()].concat(),
            "ok",
            "name-mismatch",
        ),
        (
            "fences",
            [skill(text), "---\n".repeat(1 << 18).into_bytes()].concat(),
            "ok",
            "name-mismatch",
        ),
        (
            "too-large",
            vec![b'x'; 20 << 20],
            "unreadable",
            "file-too-large",
        ),
        (
            "binary",
            (0..=255).cycle().take(1 << 20).collect(),
            "repaired",
            "invalid-utf8",
        ),
        ("zeros", vec![0; 1 << 20], "repaired", "frontmatter-missing"),
        (
            "utf16",
            "\u{feff}---\nname: x\n---\n"
                .encode_utf16()
                .flat_map(u16::to_le_bytes)
                .collect(),
            "unreadable",
            "encoding-utf16",
        ),
        (
            "no-end",
            [b"---\n".as_slice(), "name: x\n".repeat(10_000).as_bytes()].concat(),
            "unreadable",
            "frontmatter-unclosed",
        ),
        ("empty", Vec::new(), "repaired", "frontmatter-missing"),
        (
            "deep-json",
            skill(&format!("metadata: '{}'", "[".repeat(50_000))),
            "ok",
            "description-missing",
        ),
        (
            "controls",
            skill("description: \"\\0\\x1b[31m\\u202e\""),
            "ok",
            "name-mismatch",
        ),
    ]
}

/// The most memory a process held until it ended, kB; `None` where the system does not tell.
fn peak_memory(child: &mut Child) -> Option<u64> {
    let status = format!("/proc/{}/status", child.id());
    let mut peak = None;
    // The high-water mark only grows, so the last look before the end is the one that counts.
    while child.try_wait().unwrap().is_none() {
        let text = fs::read_to_string(&status).unwrap_or_default();
        let mark = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        if let Some(mark) =
            mark.and_then(|mark| mark.trim().strip_suffix(" kB")?.trim().parse().ok())
        {
            peak = peak.max(Some(mark));
        }
    }
    peak
}

#[test]
fn one_sync_takes_every_hostile_file_and_names_what_is_wrong_with_it() {
    let library = Library::new();
    for (folder, bytes, ..) in hostile_files() {
        library.write(&format!("skills/{folder}/SKILL.md"), &bytes);
    }
    library.skill("many-files", "five thousand files beside it");
    for number in 0..5_000 {
        library.write(
            &format!("skills/many-files/references/{}/f{number}.md", number % 50),
            b"text\n",
        );
    }
    let report = File::create(library.path("report")).unwrap();
    let mut sync = library
        .process(&["sync", "skills", "--json"])
        .stdout(report)
        .stderr(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let peak = peak_memory(&mut sync);
    assert_eq!(code(&sync.wait_with_output().unwrap()), 0);

    let told = library.sql(
        "SELECT m.folder, m.parse_status, (SELECT group_concat(DISTINCT code) FROM diagnostic d WHERE d.skill_id = m.skill_id)
         FROM manifest m ORDER BY m.folder",
    );
    for (folder, _, status, finding) in hostile_files() {
        let line = told
            .lines()
            .find(|line| line.split('\t').next() == Some(folder))
            .unwrap_or_else(|| panic!("{folder} is not there\n{told}"));
        let cells: Vec<&str> = line.split('\t').collect();
        assert_eq!(cells[1], status, "{line}");
        assert!(
            cells[2].split(',').any(|code| code == finding),
            "{line}: no {finding}"
        );
    }
    assert_eq!(
        library.sql("SELECT count(*) FROM v_file WHERE name = 'many-files'"),
        "5000"
    );
    match peak {
        Some(peak) => assert!(peak < MOST_MEMORY, "{peak} kB"),
        None => drop(writeln!(
            std::io::stderr(),
            "skipped: this system does not tell the memory of a process"
        )),
    }
    assert_eq!(library.json(&["sync"])["wrote"], false);
    assert_eq!(library.json(&["doctor"])["healthy"], true);
}

/// Bytes that compress neither alone nor with what stands a window before them.
fn noise(seed: u8, megabytes: usize) -> Vec<u8> {
    let mut state = 2_463_534_242_u32;
    let mut bytes = vec![seed; 4];
    let block = std::iter::repeat_with(|| {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        state.to_le_bytes()
    });
    bytes.extend(block.take((1 << 18) - 1).flatten());
    bytes.repeat(megabytes)
}

#[test]
fn many_large_files_are_kept_without_holding_them_all() {
    let library = Library::new();
    for number in 0..6 {
        library.write(&format!("skills/s{number}/SKILL.md"), &noise(number, 12));
    }
    let mut sync = library
        .process(&["sync", "skills", "--quiet"])
        .spawn()
        .unwrap();
    let peak = peak_memory(&mut sync);
    assert_eq!(code(&sync.wait_with_output().unwrap()), 0);
    assert_eq!(
        library.sql("SELECT count(*), sum(size) FROM blob"),
        "6\t75497472"
    );
    if let Some(peak) = peak {
        assert!(peak < MOST_MEMORY, "{peak} kB");
    }
}

#[test]
fn hostile_files_can_be_listed_shown_and_validated() {
    let library = Library::new();
    for (folder, bytes, ..) in hostile_files() {
        library.write(&format!("skills/{folder}/SKILL.md"), &bytes);
    }
    library.sync();
    let commands: [&[&str]; 5] = [
        &["list"],
        &["validate"],
        &["validate", "skills"],
        &["show", "controls"],
        &["sql", "problems"],
    ];
    for args in commands {
        let output = library.skilldb(args).output().unwrap();
        assert!(
            code(&output) <= 1,
            "{args:?}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        let is_clean = |bytes: &[u8]| !bytes.contains(&0x1b) && !bytes.contains(&0);
        assert!(
            is_clean(&output.stdout) && is_clean(&output.stderr),
            "{args:?} prints control characters"
        );
    }
}

#[test]
fn a_folder_of_more_files_than_any_skill_has_is_cut_and_reported() {
    let library = Library::new();
    library.skill("a", "first");
    for number in 0..20_001 {
        File::create(library.path(&format!("skills/a/f{number}"))).unwrap();
    }
    library.sync();
    assert_eq!(
        library.sql("SELECT code FROM v_diagnostic WHERE code = 'too-many-files'"),
        "too-many-files"
    );
    let files: u32 = library.sql("SELECT count(*) FROM v_file").parse().unwrap();
    assert!((19_990..=20_000).contains(&files), "{files}");
    assert_eq!(library.sync()["wrote"], false);
}
