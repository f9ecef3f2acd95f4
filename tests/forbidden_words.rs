//! Words that may not stay in a file: marks of unfinished work, and paths of one machine.

#![expect(
    clippy::unwrap_used,
    reason = "what cannot be arranged is a failed test"
)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Written in pieces, so that this file does not hold them.
const WORDS: [&str; 7] = [
    concat!("TO", "DO"),
    concat!("FIX", "ME"),
    concat!("XX", "X"),
    concat!("dbg", "!"),
    concat!("unimple", "mented"),
    concat!("lor", "em"),
    concat!("for ", "now"),
];
const PATHS: [&str; 2] = [concat!("/wo", "rk/"), concat!("/ro", "ot/")];
const HOME: &str = concat!("/ho", "me/");
/// Users of machines that exist only in tests.
const MADE_UP: [&str; 1] = ["ada"];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Files under version control and those that could be; all files when there is no git.
fn files() -> Vec<PathBuf> {
    let listed = Command::new("git")
        .args([
            "ls-files",
            "-z",
            "--cached",
            "--others",
            "--exclude-standard",
        ])
        .current_dir(root())
        .output();
    match listed {
        Ok(output) if output.status.success() => String::from_utf8(output.stdout)
            .unwrap()
            .split('\0')
            .filter(|path| !path.is_empty())
            .map(PathBuf::from)
            .collect(),
        _ => {
            let mut found = Vec::new();
            walk(root(), &mut found);
            found
        }
    }
}

fn walk(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        if path.is_dir() && name != "target" && name != ".git" {
            walk(&path, found);
        } else if path.is_file() {
            found.push(path.strip_prefix(root()).unwrap().to_owned());
        }
    }
}

fn is_exempt(path: &Path) -> bool {
    path.starts_with("fixtures") || path.ends_with("Cargo.lock")
}

/// What is wrong with a line, if anything is.
fn offence(line: &str) -> Option<&'static str> {
    let is_word = |word: &str| {
        let is_letter = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
        line.match_indices(word).any(|(at, _)| {
            let before = line[..at].chars().next_back();
            let after = line[at + word.len()..].chars().next();
            !is_letter(before) && !is_letter(after)
        })
    };
    if let Some(word) = WORDS.into_iter().find(|word| is_word(word)) {
        return Some(word);
    }
    if let Some(path) = PATHS.into_iter().find(|path| starts_a_path(line, path)) {
        return Some(path);
    }
    let mut rest = line;
    while let Some(at) = rest.find(HOME) {
        let user: String = rest[at + HOME.len()..]
            .chars()
            .take_while(|c| c.is_alphanumeric() || "._-".contains(*c))
            .collect();
        let is_made_up = user.is_empty() || MADE_UP.contains(&user.as_str());
        if !is_made_up && starts_a_path(&rest[..at + HOME.len()], HOME) {
            return Some(HOME);
        }
        rest = &rest[at + HOME.len()..];
    }
    None
}

/// Whether the folder stands at the start of a path and is not a part of one.
fn starts_a_path(line: &str, folder: &str) -> bool {
    line.match_indices(folder).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        before.is_none_or(|c| !(c.is_alphanumeric() || "._-~*]})$".contains(c)))
    })
}

#[test]
fn no_file_holds_a_forbidden_word_or_a_path_of_one_machine() {
    let mut offences = Vec::new();
    for path in files().into_iter().filter(|path| !is_exempt(path)) {
        // Not text, or removed since it was listed.
        let Ok(text) = fs::read_to_string(root().join(&path)) else {
            continue;
        };
        for (number, line) in text.lines().enumerate() {
            if let Some(word) = offence(line) {
                offences.push(format!("{}:{}: {word}", path.display(), number + 1));
            }
        }
    }
    assert!(offences.is_empty(), "\n{}", offences.join("\n"));
}

#[test]
fn words_and_paths_are_recognised() {
    for word in WORDS {
        assert_eq!(offence(&format!("// {word}: later")), Some(word));
        assert_eq!(offence(&format!("a{word}b")), None);
    }
    assert!(offence(&format!("cd {}main", PATHS[0])).is_some());
    assert!(offence(&format!("~{}skills", PATHS[0])).is_none());
    assert!(offence(&format!("see {HOME}bob/x")).is_some());
    assert!(offence(&format!("see {HOME}<name>/x")).is_none());
    assert!(offence(&format!("see {HOME}ada/x")).is_none());
    assert!(offence(&format!("see [DIR]{HOME}bob/x")).is_none());
}
