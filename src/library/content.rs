//! What stands under one name of a folder: a file by its hash, or a link by where it leads.

use serde::{Deserialize, Serialize};

/// What stands under a name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Content {
    /// A regular file.
    File {
        /// SHA-256 of its bytes.
        hash: String,
        /// Permission bits.
        mode: u32,
    },
    /// A symbolic link.
    Link {
        /// Where it leads, as it is written.
        target: String,
    },
}

impl Content {
    /// The hash of a file.
    #[must_use]
    pub fn hash(&self) -> Option<&str> {
        match self {
            Self::File { hash, .. } => Some(hash),
            Self::Link { .. } => None,
        }
    }

    /// The permission bits of a file.
    #[must_use]
    pub fn mode(&self) -> Option<u32> {
        match self {
            Self::File { mode, .. } => Some(*mode),
            Self::Link { .. } => None,
        }
    }

    /// Where a link leads.
    #[must_use]
    pub fn link_target(&self) -> Option<&str> {
        match self {
            Self::File { .. } => None,
            Self::Link { target } => Some(target),
        }
    }

    /// Whether both have the same bytes, whatever their permissions.
    #[must_use]
    pub fn says_the_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::File { hash: a, .. }, Self::File { hash: b, .. }) => a == b,
            (Self::Link { target: a }, Self::Link { target: b }) => a == b,
            (Self::File { .. }, Self::Link { .. }) | (Self::Link { .. }, Self::File { .. }) => {
                false
            }
        }
    }
}

/// One file or link below a folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TreeEntry {
    /// Path relative to the folder, `/` between parts.
    pub path: String,
    /// What stands there; `None` for a folder without anything in it.
    pub content: Option<Content>,
}
