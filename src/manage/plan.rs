//! A change before it is made: its steps on disk, its parts in the history, its effects on the rows. Serialised
//! whole into the journal, so that a killed change can be finished by another process.

use std::collections::HashMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::step::Step;
use crate::library::Content;

/// What is done, as the word in the history.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// A skill is made.
    Create,
    /// A skill file is rewritten.
    Edit,
    /// A text in a file is replaced.
    Patch,
    /// A supporting file is made or rewritten.
    WriteFile,
    /// A supporting file is removed.
    RemoveFile,
    /// A skill gets another name, and its folder with it.
    Rename,
    /// A skill is put into the archive.
    Archive,
    /// A skill is brought back from the archive, or a library from a snapshot.
    Restore,
    /// A skill is removed; its bytes stay in the history.
    Delete,
    /// An earlier change is taken back.
    Undo,
    /// Skills become part of another one.
    Merge,
}

impl Action {
    /// All of them.
    pub const ALL: [Self; 11] = [
        Self::Create,
        Self::Edit,
        Self::Patch,
        Self::WriteFile,
        Self::RemoveFile,
        Self::Rename,
        Self::Archive,
        Self::Restore,
        Self::Delete,
        Self::Undo,
        Self::Merge,
    ];

    /// The word in the database.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::Edit => "edit",
            Self::Patch => "patch",
            Self::WriteFile => "write_file",
            Self::RemoveFile => "remove_file",
            Self::Rename => "rename",
            Self::Archive => "archive",
            Self::Restore => "restore",
            Self::Delete => "delete",
            Self::Undo => "undo",
            Self::Merge => "merge",
        }
    }

    /// Reads the word; a hyphen is as good as an underscore.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        let word = word.replace('-', "_");
        Self::ALL.into_iter().find(|action| action.as_str() == word)
    }
}

/// A change before it is made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Plan {
    /// What is done.
    pub action: Action,
    /// Who does it.
    pub actor: String,
    /// How the text to replace was found.
    pub strategy: Option<String>,
    /// The change it takes back.
    pub undoes: Option<i64>,
    /// The run of the curator it belongs to.
    #[serde(default)]
    pub curator_run: Option<i64>,
    /// The snapshot it brings back.
    pub snapshot: Option<i64>,
    /// The snapshot of what was there before that.
    pub from_snapshot: Option<i64>,
    /// Begins the names of what is written aside; no two changes share one.
    pub token: String,
    /// The roots it touches: while one of them is not there, nothing can be said about the change.
    pub roots: Vec<PathBuf>,
    /// What happens on disk, in this order.
    pub steps: Vec<Step>,
    /// The folders that doing it makes, outermost first: gone again when nothing came of it.
    pub made: Vec<PathBuf>,
    /// Why the change is being taken back, as a stable word and a sentence; `None` while it goes forward.
    pub given_up: Option<(String, String)>,
    /// What the history says, one for each skill.
    pub parts: Vec<Part>,
    /// What happens to the rows.
    pub effects: Vec<Effect>,
    /// The bytes of everything that is written or overwritten, by hash. Not in the journal: the database holds
    /// them before it is written.
    #[serde(skip)]
    pub bytes: HashMap<String, Vec<u8>>,
}

/// What the history says about one skill.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Part {
    /// Its row; `None` until a new one is in place.
    pub skill_id: Option<i64>,
    /// What people call it.
    pub name: String,
    /// What happened, in a few words.
    pub title: String,
    /// Where its folder was, when all of it is moved or removed.
    pub from: Option<PathBuf>,
    /// Where its folder is after, when all of it is moved or made.
    pub to: Option<PathBuf>,
    /// The files it touches.
    pub files: Vec<PartFile>,
    /// The row in the history, once there is one.
    pub revision_id: Option<i64>,
}

/// What the history says about one file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct PartFile {
    /// Path relative to the skill; absolute for a file outside of skills.
    pub path: String,
    /// What stood there.
    pub before: Option<Content>,
    /// What stands there after.
    pub after: Option<Content>,
}

/// What happens to the rows when the steps are done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Effect {
    /// The skill of a part is read again, or gets its row.
    Mirror {
        /// Which part.
        part: usize,
        /// Its root's row.
        root_id: i64,
        /// Where it lies now.
        rel_path: String,
        /// Who made it and why we think so, when it is new.
        born: Option<(String, String)>,
    },
    /// A skill's folder is somewhere else.
    Place {
        /// Its row.
        skill_id: i64,
        /// The root's row it lies in now.
        root_id: i64,
        /// Where it lies now.
        rel_path: String,
    },
    /// A skill is in another state.
    State {
        /// Its row.
        skill_id: i64,
        /// The state.
        to: String,
        /// Why.
        reason: String,
        /// The moment its idle time counted from.
        #[serde(default)]
        anchor: Option<String>,
        /// What it was absorbed into.
        #[serde(default)]
        heir: Option<i64>,
    },
    /// Where a skill lay before it was archived; `None` when it is back.
    ArchivedFrom {
        /// Its row.
        skill_id: i64,
        /// Relative to its root.
        from: Option<String>,
    },
    /// A life ends.
    End {
        /// Its row.
        skill_id: i64,
    },
    /// A life that had ended goes on.
    Revive {
        /// Its row.
        skill_id: i64,
        /// The root's row.
        root_id: i64,
        /// Where it lies.
        rel_path: String,
    },
    /// A proposal has become this change.
    Approve {
        /// Its row.
        proposal: i64,
    },
    /// A run of the curator has succeeded.
    Booked {
        /// Its number.
        run: i64,
    },
    /// A person changed it: automation leaves it alone from now on.
    Protect {
        /// Its row.
        skill_id: i64,
    },
}

impl Plan {
    /// Keeps bytes that a step needs; returns their hash.
    pub(super) fn keep(&mut self, hash: &str, bytes: Vec<u8>) {
        self.bytes.entry(hash.to_owned()).or_insert(bytes);
    }
}
