//! What somebody asks for. Serialised whole into a proposal, so that approving it later is asking again.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::absorb::Carry;
use super::plan::Action;
use crate::store::Actor;

/// Who asks, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Who {
    /// Who.
    pub actor: Actor,
    /// In which session.
    pub session: Option<String>,
    /// Why.
    pub reason: Option<String>,
}

/// A file's content as it was given.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Bytes {
    /// UTF-8.
    Text(String),
    /// Anything else.
    Raw(Vec<u8>),
}

impl Bytes {
    /// Takes bytes as text where they are.
    #[must_use]
    pub fn new(bytes: Vec<u8>) -> Self {
        match String::from_utf8(bytes) {
            Ok(text) => Self::Text(text),
            Err(error) => Self::Raw(error.into_bytes()),
        }
    }

    /// The bytes.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        match self {
            Self::Text(text) => text.as_bytes(),
            Self::Raw(bytes) => bytes,
        }
    }
}

/// What is asked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Request {
    /// A new skill.
    Create {
        /// Its name and that of its folder.
        name: String,
        /// The folder its folder lies in.
        category: Option<String>,
        /// Its SKILL.md.
        text: String,
        /// The root it belongs into, absolute.
        root: PathBuf,
    },
    /// Another text for a skill file.
    Edit {
        /// The skill.
        skill: i64,
        /// The whole new text.
        text: String,
        /// What it was based on, SHA-256.
        base: Option<String>,
    },
    /// Another text in the place of one in a file.
    Patch {
        /// The skill.
        skill: i64,
        /// The file; the skill file where none is named.
        file: Option<String>,
        /// The text to replace.
        find: String,
        /// What stands there then.
        replace: String,
        /// In every place it is in.
        all: bool,
        /// What it was based on, SHA-256.
        base: Option<String>,
    },
    /// A supporting file.
    Write {
        /// The skill.
        skill: i64,
        /// Its path.
        file: String,
        /// What is in it.
        content: Bytes,
        /// Whether it may be run; `None`: as it was, or as its first line says.
        executable: Option<bool>,
        /// What it was based on, SHA-256.
        base: Option<String>,
    },
    /// A supporting file less.
    RemoveFile {
        /// The skill.
        skill: i64,
        /// Its path.
        file: String,
        /// What it was based on, SHA-256.
        base: Option<String>,
    },
    /// Another name.
    Rename {
        /// The skill.
        skill: i64,
        /// The new name, with a category before it where that changes, too.
        to: String,
    },
    /// Into the archive.
    Archive {
        /// The skill.
        skill: i64,
        /// Whether it was asked to be deleted: a rule about that counts as well.
        as_delete: bool,
    },
    /// Out of the archive.
    Restore {
        /// The skill.
        skill: i64,
    },
    /// Removed; the history still has its bytes.
    DeleteForever {
        /// The skill.
        skill: i64,
    },
    /// Skills that become part of another one.
    Merge {
        /// The skills.
        parts: Vec<i64>,
        /// The other one.
        into: i64,
        /// What becomes of their texts.
        carry: Carry,
    },
    /// An earlier change taken back.
    Undo {
        /// The change.
        change: i64,
    },
}

impl Request {
    /// The word for it.
    #[must_use]
    pub fn action(&self) -> Action {
        match self {
            Self::Create { .. } => Action::Create,
            Self::Edit { .. } => Action::Edit,
            Self::Patch { .. } => Action::Patch,
            Self::Write { .. } => Action::WriteFile,
            Self::RemoveFile { .. } => Action::RemoveFile,
            Self::Rename { .. } => Action::Rename,
            Self::Archive { .. } => Action::Archive,
            Self::Restore { .. } => Action::Restore,
            Self::DeleteForever { .. } => Action::Delete,
            Self::Undo { .. } => Action::Undo,
            Self::Merge { .. } => Action::Merge,
        }
    }

    /// The skill it is about, where that is there already.
    #[must_use]
    pub fn skill(&self) -> Option<i64> {
        match self {
            Self::Create { .. } | Self::Undo { .. } => None,
            Self::Edit { skill, .. }
            | Self::Patch { skill, .. }
            | Self::Write { skill, .. }
            | Self::RemoveFile { skill, .. }
            | Self::Rename { skill, .. }
            | Self::Archive { skill, .. }
            | Self::Restore { skill }
            | Self::DeleteForever { skill } => Some(*skill),
            Self::Merge { into, .. } => Some(*into),
        }
    }

    /// The file it is about, as typed; `None` for the skill file and for whole skills.
    #[must_use]
    pub fn file(&self) -> Option<&str> {
        match self {
            Self::Patch { file, .. } => file.as_deref(),
            Self::Write { file, .. } | Self::RemoveFile { file, .. } => Some(file),
            Self::Create { .. }
            | Self::Edit { .. }
            | Self::Rename { .. }
            | Self::Archive { .. }
            | Self::Restore { .. }
            | Self::DeleteForever { .. }
            | Self::Merge { .. }
            | Self::Undo { .. } => None,
        }
    }
}
