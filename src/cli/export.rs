//! `skilldb export`.

use std::path::{Path, PathBuf};

use clap::{Subcommand, ValueEnum};

use super::Context;
use crate::error::{Error, Result};
use crate::share::export;

/// Hand counts on in the form another program reads
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  skilldb export usage --format hermes > usage.json
  skilldb export usage --format hermes --root ~/.hermes/skills")]
pub(super) struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Usage counts by skill
    Usage(Usage),
}

#[derive(Debug, clap::Args)]
struct Usage {
    /// The program that will read it
    #[arg(long, value_enum)]
    format: Format,
    /// Only skills of this root, or of a folder in one
    #[arg(long, value_name = "DIR")]
    root: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// The `.usage.json` of Hermes Agent; foreground uses only
    Hermes,
}

pub(super) fn run(context: &mut Context, args: &Args) -> Result<()> {
    let What::Usage(usage) = &args.what;
    let store = context.read()?;
    let mut rows = store.usage_records()?;
    if let Some(path) = &usage.root {
        let path = context.config.cwd.join(path);
        let path = path.canonicalize().unwrap_or(path);
        if !store
            .roots()?
            .iter()
            .any(|root| path.starts_with(&root.path))
        {
            return Err(Error::UnknownRoot { path });
        }
        rows.retain(|row| Path::new(&row.path).starts_with(&path));
    }
    let Format::Hermes = usage.format;
    context
        .out
        .line(&export::hermes_usage(&rows, &context.config.library()))
}
