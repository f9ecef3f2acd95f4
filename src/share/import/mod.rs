//! Takes over what other agents remember of the skills they used. Streaming: a history of gigabytes is
//! read line by line, each line once.

mod claude;
mod codex;
mod damaged;
mod files;
mod found;
mod hermes;
mod lines;
mod places;
mod shell_rule;
mod sink;
mod summary;

use std::path::{Path, PathBuf};

use crate::error::Result;
use crate::library::client;
use crate::store::Store;
use crate::sync::Progress;
use crate::time::Timestamp;
use crate::usage::Roots;

pub(super) use claude::ID as CLAUDE_ID;
pub use hermes::{import_hermes, skills_folder};
pub(super) use places::codex_skill;
pub(super) use shell_rule::Command as ShellCommand;
pub use summary::{Summary, TakenOver, TakenRecord, Warning};

/// A client whose history is lines of JSON in files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineClient {
    /// Claude Code.
    ClaudeCode,
    /// Codex.
    Codex,
}

impl LineClient {
    /// The client's id.
    #[must_use]
    pub fn id(self) -> &'static str {
        match self {
            Self::ClaudeCode => "claude-code",
            Self::Codex => "codex",
        }
    }

    /// The folders of a client's home in which histories lie.
    fn folders(self) -> &'static [&'static str] {
        match self {
            Self::ClaudeCode => &["projects"],
            Self::Codex => &["sessions", "archived_sessions"],
        }
    }

    fn wants(self, name: &str) -> bool {
        match self {
            Self::ClaudeCode => name.ends_with(".jsonl") && name != "history.jsonl",
            Self::Codex => name.starts_with("rollout-") && name.ends_with(".jsonl"),
        }
    }
}

/// How to import.
#[derive(Clone, Copy)]
pub struct Options<'o> {
    /// Events before this are left out.
    pub since: Option<Timestamp>,
    /// What is taken as the present moment.
    pub now: Timestamp,
    /// This machine's name.
    pub machine: &'o str,
    /// What this library is called in files it wrote for others.
    pub library: &'o str,
    /// Folders of skills that the client reads besides its own.
    pub shared: &'o [PathBuf],
    /// The user's home: what `~` stands for in a command.
    pub user_home: &'o Path,
    /// Tells the folders a client looks into.
    pub roots: Roots<'o>,
    /// Shows how far it is.
    pub progress: &'o dyn Progress,
}

/// Imports the histories below `path`: a client's home, a folder of histories, or one file.
///
/// # Errors
/// [`crate::Error::NoHistory`], [`crate::Error::Database`]. A bad line or file is in the summary.
pub fn import_lines(
    store: &mut Store,
    client: LineClient,
    path: &Path,
    options: &Options<'_>,
) -> Result<Summary> {
    lines::import(store, client, path, options)
}

/// Says whether a client is known whose history can be imported.
#[must_use]
pub fn title(client: &str) -> &str {
    client::find(client).map_or(client, |client| client.title.as_str())
}
