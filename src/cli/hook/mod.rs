//! `skilldb hook`.

mod heed;
mod settings;

use std::path::PathBuf;

use clap::{Subcommand, ValueEnum};

use self::settings::Edits;
use super::Context;
use crate::error::Result;
use crate::share::import::LineClient;

pub(super) use self::heed::{import_session, log};

/// Record uses as they happen: the command for a client's hooks, and how to install it
///
/// `hook claude-code` and `hook codex` read the client's input on standard input, record, print nothing
/// and always exit 0. A later import of the same session counts nothing twice.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  skilldb hook install claude-code --dry-run     the change to ~/.claude/settings.json
  skilldb hook install claude-code
  skilldb hook status
  skilldb hook uninstall claude-code")]
pub(super) struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// What Claude Code calls
    ClaudeCode(Heed),
    /// What Codex calls
    Codex(Heed),
    /// Put the hooks into a client's settings file
    Install(Install),
    /// Take them out again
    Uninstall(Install),
    /// Say which hooks are installed, and what went wrong in them
    Status,
}

#[derive(Debug, clap::Args)]
struct Heed {
    /// Ignored: a client may hand over more than it is asked to
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, hide = true)]
    rest: Vec<String>,
}

#[derive(Debug, clap::Args)]
struct Install {
    /// The client
    #[arg(value_name = "CLIENT", value_enum)]
    client: Client,
    /// In the project's settings instead of the user's
    #[arg(long, conflicts_with = "file")]
    project: bool,
    /// In this settings file
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,
    /// Show the change and do nothing
    #[arg(long)]
    dry_run: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Client {
    /// `settings.json` in ~/.claude
    ClaudeCode,
    /// `hooks.json` in ~/.codex
    Codex,
}

impl Client {
    const ALL: [Self; 2] = [Self::ClaudeCode, Self::Codex];

    fn lines(self) -> LineClient {
        match self {
            Self::ClaudeCode => LineClient::ClaudeCode,
            Self::Codex => LineClient::Codex,
        }
    }
}

impl Args {
    /// Whether a client calls, which must neither be failed nor be told anything.
    pub(super) fn is_called_by_client(&self) -> bool {
        matches!(self.action, Action::ClaudeCode(_) | Action::Codex(_))
    }
}

pub(super) fn run(context: &mut Context, args: &Args) -> Result<()> {
    match &args.action {
        Action::ClaudeCode(_) => heed::heed(context, LineClient::ClaudeCode),
        Action::Codex(_) => heed::heed(context, LineClient::Codex),
        Action::Install(install) => settings::edit(context, install, Edits::Install),
        Action::Uninstall(install) => settings::edit(context, install, Edits::Uninstall),
        Action::Status => settings::status(context),
    }
}
