//! `skilldb export`.

use std::path::PathBuf;

use clap::{Subcommand, ValueEnum};

use super::Context;
use crate::error::{Error, Result};
use crate::share::export;
use crate::store::Store;

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
    /// Only skills of this root
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
    let store = Store::open_read(&context.config.home.value, context.now)?;
    let root = match &usage.root {
        Some(path) => {
            let path = context.config.cwd.join(path);
            let path = path.canonicalize().unwrap_or(path);
            if !store.roots()?.iter().any(|root| root.path == path) {
                return Err(Error::UnknownRoot { path });
            }
            Some(path.to_string_lossy().into_owned())
        }
        None => None,
    };
    let rows = store.usage_records(root.as_deref())?;
    let Format::Hermes = usage.format;
    context
        .out
        .line(&export::hermes_usage(&rows, &context.config.library()))
}
