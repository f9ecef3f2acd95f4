//! What an import read, found and could not use.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

/// Something a person should know of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Warning {
    /// The file.
    pub path: PathBuf,
    /// The line, from 1.
    pub line: Option<u64>,
    /// The column, from 1.
    pub column: Option<u64>,
    /// One sentence.
    pub message: String,
}

/// A record whose counts were taken over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TakenRecord {
    /// The name it is kept under.
    pub name: String,
    /// Uses.
    pub uses: u64,
    /// Views.
    pub views: u64,
    /// Edits.
    pub patches: u64,
    /// Whether it is new, or differs from the last import.
    pub has_changed: bool,
}

/// What was taken over besides events.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TakenOver {
    /// Records whose counts were taken over.
    pub records: Vec<TakenRecord>,
    /// Records whose skill has no folder.
    pub without_folder: Vec<String>,
    /// Skills that are pinned now.
    pub pinned: Vec<String>,
    /// Skills that are not pinned any more.
    pub unpinned: Vec<String>,
    /// Skills that changed their state: name and the new state.
    pub states: Vec<(String, String)>,
    /// Skills whose origin is known now: name and origin.
    pub origins: Vec<(String, String)>,
    /// Installs noted.
    pub installs: Vec<String>,
    /// Skills the hub does not name any more.
    pub uninstalled: Vec<String>,
    /// Changes another agent made.
    pub changes: u64,
    /// What the curator remembered, in a few words.
    pub curator: Option<String>,
}

/// What an import did.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Summary {
    /// Files that were looked at.
    pub files: u64,
    /// Of those: as they were at the last import.
    pub unchanged: u64,
    /// Bytes that were read.
    pub bytes: u64,
    /// Lines that were read.
    pub lines: u64,
    /// Sessions in what was read.
    pub sessions: u64,
    /// Subagents in what was read.
    pub subagents: u64,
    /// Events that are new.
    pub new: u64,
    /// Events that were known.
    pub known: u64,
    /// Events that were left out because they are older than asked for.
    pub older: u64,
    /// Of all: failed.
    pub failures: u64,
    /// Skills that were used, by id: name, folder, events found.
    pub skills: BTreeMap<i64, (String, String, u64)>,
    /// Names that are no skill of the library: events found.
    pub not_installed: BTreeMap<String, u64>,
    /// Names several skills have, where nothing says which was meant: events found.
    pub unclear: BTreeMap<String, u64>,
    /// Folders of skills that are on this machine and not in the library.
    pub unknown_folders: BTreeSet<String>,
    /// What could not be used.
    pub warnings: Vec<Warning>,
    /// Warnings beyond those that are kept.
    pub more_warnings: u64,
    /// What was taken over besides events.
    pub taken: Option<TakenOver>,
}

/// Warnings that are kept; the rest is counted.
const MOST_WARNINGS: usize = 100;
/// Names that are kept apart; a history of made-up names must not fill the memory.
const MOST_NAMES: usize = 10_000;

impl Summary {
    /// Notes a warning.
    pub(super) fn warn(&mut self, warning: Warning) {
        if self.warnings.len() < MOST_WARNINGS {
            self.warnings.push(warning);
        } else {
            self.more_warnings += 1;
        }
    }
}

/// Counts one event of a name.
pub(super) fn count(names: &mut BTreeMap<String, u64>, name: &str) {
    if let Some(count) = names.get_mut(name) {
        *count += 1;
    } else if names.len() < MOST_NAMES {
        names.insert(name.to_owned(), 1);
    }
}
