//! `skilldb man`.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::PathBuf;

use clap::CommandFactory;

use super::Cli;
use crate::error::{Error, Result};

/// Print the manual page, or write one page a command
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  skilldb man | man -l -
  skilldb man --dir ~/.local/share/man/man1")]
pub(super) struct Args {
    /// Write skilldb.1 and one page a subcommand into this folder
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
}

pub(super) fn run(args: &Args) -> Result<()> {
    let mut command = Cli::command();
    command.build();
    let Some(dir) = &args.dir else {
        let page = rendered(&command)?;
        return io::stdout()
            .write_all(&page)
            .map_err(Error::io("write to", "stdout"));
    };
    fs::create_dir_all(dir).map_err(Error::io("create the folder", dir))?;
    let mut pages = Vec::new();
    add_pages(&command, command.get_name().to_owned(), &mut pages);
    for page in pages {
        let path = dir.join(format!("{}.1", page.get_name()));
        let text = rendered(&page)?;
        File::create(&path)
            .and_then(|mut file| file.write_all(&text))
            .map_err(Error::io("write", &path))?;
    }
    Ok(())
}

/// A page a command, below the name that the page above refers to: `skilldb-roots-add`.
fn add_pages(command: &clap::Command, name: String, pages: &mut Vec<clap::Command>) {
    for sub in command.get_subcommands() {
        add_pages(sub, format!("{name}-{}", sub.get_name()), pages);
    }
    pages.push(command.clone().name(name));
}

fn rendered(command: &clap::Command) -> Result<Vec<u8>> {
    let mut page = Vec::new();
    clap_mangen::Man::new(command.clone())
        .render(&mut page)
        .map_err(Error::io("write", "the manual page"))?;
    Ok(page)
}
