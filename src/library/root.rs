//! A root: one directory of skills, with a kind and a priority.

use std::fmt;
use std::path::PathBuf;

/// What sort of folder a root is; decides who may write below it and where its skills come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RootKind {
    /// The user's own folder.
    Local,
    /// A folder of one project.
    Project,
    /// Somebody else's folder, read-only for skilldb unless configured.
    External,
    /// Shipped with a client.
    Bundled,
    /// Installed from a hub.
    Hub,
    /// Part of a client's plugin.
    Plugin,
}

impl RootKind {
    /// Every kind, in the order of the documentation.
    pub const ALL: [Self; 6] = [
        Self::Local,
        Self::Project,
        Self::External,
        Self::Bundled,
        Self::Hub,
        Self::Plugin,
    ];

    /// Returns the word used in the database and on the command line.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Local => "local",
            Self::Project => "project",
            Self::External => "external",
            Self::Bundled => "bundled",
            Self::Hub => "hub",
            Self::Plugin => "plugin",
        }
    }

    /// Reads the word; `user` is accepted for `local`.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        if word == "user" {
            return Some(Self::Local);
        }
        Self::ALL.into_iter().find(|kind| kind.as_str() == word)
    }

    /// Returns whether files below such a root are the user's to change.
    #[must_use]
    pub fn is_writable(self) -> bool {
        match self {
            Self::Local | Self::Project => true,
            Self::External | Self::Bundled | Self::Hub | Self::Plugin => false,
        }
    }

    /// Returns where skills first seen below such a root come from, and why we think so.
    #[must_use]
    pub fn origin(self) -> (&'static str, &'static str) {
        match self {
            Self::Local => ("unknown", "found in a local root"),
            Self::Project => ("unknown", "found in a project root"),
            Self::External => ("external", "found in an external root"),
            Self::Bundled => ("bundled", "found in a bundled root"),
            Self::Hub => ("hub", "found in a hub root"),
            Self::Plugin => ("external", "found in a plugin root"),
        }
    }
}

impl fmt::Display for RootKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// One directory of skills.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Root {
    /// Absolute path without links in it.
    pub path: PathBuf,
    /// What sort of folder it is.
    pub kind: RootKind,
    /// Order among roots; lower comes first.
    pub priority: i64,
    /// Whether files below it may be changed and are kept in the history.
    pub writable: bool,
    /// The client whose folder it is.
    pub client: Option<String>,
}
