//! The rules of ARCHITECTURE.md that can be read off the sources. Each violation is told with file and line.

#![expect(
    clippy::unwrap_used,
    reason = "what cannot be arranged is a failed test"
)]

use std::fs;
use std::path::{Path, PathBuf};

/// One source file. `code` holds its lines up to the tests, comments blanked.
struct Source {
    /// Relative to `src`, with `/` between parts.
    path: String,
    text: String,
    code: Vec<String>,
}

fn sources() -> Vec<Source> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut paths = Vec::new();
    collect(&root, &mut paths);
    paths.sort();
    paths
        .iter()
        .map(|path| {
            let text = fs::read_to_string(path).unwrap();
            let parts: Vec<&str> = path
                .strip_prefix(&root)
                .unwrap()
                .iter()
                .map(|part| part.to_str().unwrap())
                .collect();
            Source {
                path: parts.join("/"),
                code: code_of(&text),
                text,
            }
        })
        .collect()
}

fn collect(folder: &Path, paths: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, paths);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            paths.push(path);
        }
    }
}

fn code_of(text: &str) -> Vec<String> {
    text.lines()
        .take_while(|line| !line.starts_with("#[cfg(test)]"))
        .map(|line| {
            // Good enough: no string of the sources holds two slashes after a blank.
            let comment = line.trim_start().starts_with("//");
            let code = if comment { "" } else { line };
            code.split(" // ").next().unwrap().to_owned()
        })
        .collect()
}

impl Source {
    /// The first folder below `src`, or the file's name without extension.
    fn module(&self) -> &str {
        let first = self.path.split('/').next().unwrap();
        first.strip_suffix(".rs").unwrap_or(first)
    }

    fn is_test(&self) -> bool {
        self.path
            .split('/')
            .any(|part| part == "tests" || part == "tests.rs")
    }

    /// Lines that hold one of the words, as `src/file:line: text`.
    fn lines_with(&self, words: &[&str]) -> Vec<String> {
        self.code
            .iter()
            .enumerate()
            .filter(|(_, line)| words.iter().any(|word| has_word(line, word)))
            .map(|(index, line)| format!("src/{}:{}: {}", self.path, index + 1, line.trim()))
            .collect()
    }
}

/// Whether a line holds the word, not as part of a longer one.
fn has_word(line: &str, word: &str) -> bool {
    line.match_indices(word).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        let after = line[at + word.len()..].chars().next();
        let is_part = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
        !is_part(before) && !is_part(after)
    })
}

fn assert_none(rule: &str, violations: &[String]) {
    assert!(violations.is_empty(), "{rule}\n{}", violations.join("\n"));
}

/// Tells where the words stand outside the places allowed to use them.
fn assert_only_in(rule: &str, words: &[&str], is_allowed: impl Fn(&Source) -> bool) {
    let violations: Vec<String> = sources()
        .iter()
        .filter(|source| !source.is_test() && !is_allowed(source))
        .flat_map(|source| source.lines_with(words))
        .collect();
    assert_none(rule, &violations);
}

/// What each module may use of the crate, besides itself.
const ARROWS: [(&str, &[&str]); 22] = [
    ("skill", &[]),
    ("time", &[]),
    ("hash", &[]),
    ("stop", &[]),
    ("patch", &[]),
    ("diff", &[]),
    ("references", &[]),
    // `Candidate` alone: the forms in which an ambiguous name can be said.
    ("error", &["diff", "patch", "store"]),
    ("store", &["error", "hash", "stop", "time"]),
    ("library", &["error", "hash", "skill", "stop", "time"]),
    ("guard", &["error", "hash", "library"]),
    ("verdicts", &["error", "guard", "store", "sync", "time"]),
    (
        "config",
        &[
            "error", "guard", "library", "manage", "skill", "stop", "store", "time",
        ],
    ),
    ("validate", &["error", "library", "skill"]),
    (
        "sync",
        &["error", "hash", "library", "skill", "store", "time"],
    ),
    ("search", &["error", "store", "sync"]),
    ("usage", &["error", "library", "store", "time"]),
    (
        "manage",
        &[
            "diff",
            "error",
            "guard",
            "hash",
            "library",
            "patch",
            "references",
            "skill",
            "stop",
            "store",
            "sync",
            "time",
            "verdicts",
        ],
    ),
    (
        "curate",
        &["error", "manage", "skill", "store", "sync", "time"],
    ),
    (
        "share",
        &["error", "library", "store", "sync", "time", "usage"],
    ),
    (
        "cli",
        &[
            "config",
            "curate",
            "diff",
            "error",
            "guard",
            "hash",
            "library",
            "manage",
            "patch",
            "references",
            "search",
            "share",
            "skill",
            "store",
            "sync",
            "time",
            "usage",
            "validate",
            "verdicts",
        ],
    ),
    ("main", &["cli"]),
];

/// The modules of the crate a line names.
fn named_modules(line: &str) -> Vec<String> {
    let mut named = Vec::new();
    for prefix in ["crate::", "skilldb::"] {
        for (at, _) in line.match_indices(prefix) {
            let rest = &line[at + prefix.len()..];
            let list = match rest.strip_prefix('{') {
                Some(inner) => inner.split('}').next().unwrap(),
                None => rest,
            };
            let first_words = if rest.starts_with('{') {
                list.split(',').collect()
            } else {
                vec![list]
            };
            for words in first_words {
                let name: String = words
                    .trim()
                    .chars()
                    .take_while(|c| c.is_alphanumeric() || *c == '_')
                    .collect();
                named.push(name);
            }
        }
    }
    named
}

#[test]
fn arrows_point_down_only() {
    let mut violations = Vec::new();
    for source in sources()
        .iter()
        .filter(|source| source.path != "lib.rs" && !source.is_test())
    {
        let module = source.module();
        let Some((_, allowed)) = ARROWS.iter().find(|(name, _)| *name == module) else {
            violations.push(format!(
                "src/{}: no rule says what `{module}` may use",
                source.path
            ));
            continue;
        };
        for (index, line) in source.code.iter().enumerate() {
            for named in named_modules(line) {
                // The crate re-exports the error type under its own name.
                let is_fine = named == module
                    || allowed.contains(&named.as_str())
                    || ["Error", "Result"].contains(&named.as_str()) && allowed.contains(&"error");
                if !is_fine {
                    violations.push(format!(
                        "src/{}:{}: `{module}` uses `{named}`: {}",
                        source.path,
                        index + 1,
                        line.trim()
                    ));
                }
            }
        }
    }
    assert_none("arrows point down only", &violations);
}

#[test]
fn a_parent_module_is_not_a_way_around_the_arrows() {
    let violations: Vec<String> = sources()
        .iter()
        .filter(|source| !source.is_test())
        .flat_map(|source| {
            let depth = source.path.matches('/').count();
            let is_mod = source.path.ends_with("/mod.rs");
            // From `src/a/b.rs` the first `super` is `a` and the second the crate.
            let steps = depth + 1 - usize::from(is_mod);
            source.lines_with(&["super::".repeat(steps.max(1)).as_str()])
        })
        .filter(|line| !line.starts_with("src/lib.rs"))
        .collect();
    assert_none("what is not below is named from `crate`", &violations);
}

#[test]
fn errors_know_only_the_candidates_of_the_store() {
    let violations: Vec<String> = sources()
        .iter()
        .filter(|source| source.path == "error.rs")
        .flat_map(|source| source.lines_with(&["store"]))
        .filter(|line| line.contains("crate::") && !line.ends_with("use crate::store::Candidate;"))
        .collect();
    assert_none("errors know only the candidates of the store", &violations);
}

#[test]
fn sql_is_spoken_only_in_the_store() {
    assert_only_in(
        "rusqlite only in store/ and error.rs",
        &["rusqlite"],
        |source| ["store", "error"].contains(&source.module()),
    );
    let statements = ["SELECT", "INSERT INTO", "DELETE FROM", "UPDATE", "PRAGMA"];
    let violations: Vec<String> = sources()
        .iter()
        .filter(|source| !source.is_test() && !["store", "cli"].contains(&source.module()))
        .flat_map(|source| source.lines_with(&statements))
        .collect();
    assert_none(
        "statements only in store/ (and as examples in cli/)",
        &violations,
    );
}

#[test]
fn the_command_line_is_read_and_printed_to_only_in_cli() {
    let is_cli = |source: &Source| ["cli", "main"].contains(&source.module());
    let words = [
        "clap",
        "clap_complete",
        "clap_mangen",
        "indicatif",
        "terminal_size",
    ];
    assert_only_in("clap only in cli/", &words, is_cli);
    let words = [
        "println!",
        "print!",
        "eprintln!",
        "eprint!",
        "stdout",
        "stderr",
        "stdin",
    ];
    // A flag of the command it puts into settings has one of the words in its name.
    let is_allowed = |source: &Source| is_cli(source) || source.path == "share/hook/install.rs";
    assert_only_in("printing only in cli/", &words, is_allowed);
    let words = ["process::exit", "ExitCode"];
    assert_only_in("exit codes only in cli/ and main.rs", &words, is_cli);
}

#[test]
fn the_environment_is_read_only_by_the_configuration() {
    assert_only_in(
        "std::env only in config.rs and main.rs",
        &["std::env", "env::var", "env::var_os"],
        |source| ["config", "main"].contains(&source.module()) && !source.path.contains('/'),
    );
}

#[test]
fn yaml_is_parsed_only_in_two_places() {
    assert_only_in(
        "serde_yaml only in config/file.rs",
        &["serde_yaml"],
        |source| source.path == "config/file.rs",
    );
    assert_only_in(
        "granit_parser only in skill/yaml.rs",
        &["granit_parser"],
        |source| source.path == "skill/yaml.rs",
    );
}

#[test]
fn the_wall_clock_is_read_only_in_time() {
    let words = ["Utc::now", "Local::now", "SystemTime::now"];
    assert_only_in("the wall clock only in time.rs", &words, |source| {
        source.path == "time.rs"
    });
}

#[test]
fn now_is_asked_for_only_where_a_command_starts() {
    assert_only_in(
        "Timestamp::now and Clock::now only in cli/",
        &["clock.now", "Clock::System.now", "Timestamp::now"],
        |source| source.path == "cli/mod.rs",
    );
}

#[test]
fn the_domain_touches_no_file_and_no_process() {
    let violations: Vec<String> = sources()
        .iter()
        .filter(|source| source.module() == "skill" && !source.is_test())
        .flat_map(|source| {
            source.lines_with(&[
                "std::fs",
                "std::io",
                "std::process",
                "std::net",
                "std::thread",
            ])
        })
        .collect();
    assert_none("skill/ is pure", &violations);
}

// Man pages go into a folder that the person names, which is no root; the spool and the log of hooks lie in
// the library's home, and what is copied of another program's database in a temporary folder, a backup beside the
// database.
#[test]
fn files_below_a_root_are_written_only_in_the_library() {
    let words = [
        "fs::write",
        "File::create",
        "fs::rename",
        "fs::copy",
        "fs::remove_dir_all",
        "set_permissions",
        "symlink",
        "renameat",
        "unlinkat",
        "mkdirat",
        "symlinkat",
    ];
    assert_only_in(
        "writes below a root only in library/write.rs",
        &words,
        |source| {
            [
                "library/files.rs",
                "library/write.rs",
                "store/create.rs",
                "store/foreign.rs",
                "store/migrate.rs",
                "usage/spool.rs",
                "cli/hook/heed.rs",
                "cli/man.rs",
            ]
            .contains(&source.path.as_str())
        },
    );
}

#[test]
fn files_below_a_root_are_written_only_by_manage() {
    assert_only_in(
        "library::write only in manage/",
        &["library::write"],
        |source| ["manage", "library"].contains(&source.module()),
    );
}

#[test]
fn who_may_change_what_is_decided_in_one_place() {
    assert_only_in(
        "decide and decide_mark only in manage/",
        &["decide(", "decide_mark"],
        |source| source.module() == "manage",
    );
}

#[test]
fn no_file_is_longer_than_five_hundred_lines() {
    let violations: Vec<String> = sources()
        .iter()
        .map(|source| (source, source.text.lines().count()))
        .filter(|(_, count)| *count > 500)
        .map(|(source, count)| format!("src/{}:501: {count} lines", source.path))
        .collect();
    assert_none("a file of more than 500 lines is two concepts", &violations);
}

#[test]
fn every_file_starts_by_saying_what_it_owns() {
    let violations: Vec<String> = sources()
        .iter()
        .filter(|source| !source.text.starts_with("//! "))
        .map(|source| format!("src/{}:1: no `//!`", source.path))
        .collect();
    assert_none("a file starts with what it owns", &violations);
}

#[test]
fn the_rules_see_what_they_look_for() {
    assert_eq!(
        named_modules("use crate::{store, error::Error};"),
        ["store", "error"]
    );
    assert_eq!(named_modules("    crate::library::Root,"), ["library"]);
    assert!(has_word("let x = std::env::var(a);", "std::env"));
    assert!(!has_word("let environment = std::environment;", "std::env"));
    let code = code_of("//! doc\nlet a = 1; // println!\n#[cfg(test)]\nmod tests {}\n");
    assert_eq!(code, ["", "let a = 1;"]);
}
