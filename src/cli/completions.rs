//! `skilldb completions`.

use std::io::{self, Write};

use clap::CommandFactory;
use clap_complete::Shell;

use super::Cli;
use crate::error::{Error, Result};

/// Print the completion script of a shell
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  skilldb completions bash > ~/.local/share/bash-completion/completions/skilldb
  skilldb completions zsh > ~/.zfunc/_skilldb
  skilldb completions fish > ~/.config/fish/completions/skilldb.fish")]
pub(super) struct Args {
    /// The shell
    #[arg(value_enum)]
    shell: Shell,
}

pub(super) fn run(args: &Args) -> Result<()> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "skilldb", &mut script);
    io::stdout()
        .write_all(&script)
        .map_err(Error::io("write to", "stdout"))
}
