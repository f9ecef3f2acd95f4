//! `skilldb patch`.

use std::path::PathBuf;

use super::{Writing, perform, target, text};
use crate::cli::Context;
use crate::error::{Error, Result};
use crate::manage::Request;

/// Replace a text in a skill's file
///
/// The old text is looked for as it is, then ever more tolerantly (blanks, indentation, quotes, line ends); how
/// it was found is told. It has to be in one place, unless --all. Nothing is guessed: where it is unclear which
/// place is meant, the nearest ones are shown.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  skilldb patch set-up-db --old 'Make the tables.' --new 'Make the tables and indexes.'
  skilldb patch set-up-db/references/sql.md --old-from old.txt --new-from new.txt
  skilldb patch set-up-db --old port --new '`port`' --all --dry-run")]
pub(in crate::cli) struct Args {
    /// The skill, and after a slash its file [default: SKILL.md]
    #[arg(value_name = "NAME[/FILE]")]
    name: String,
    /// The text to replace
    #[arg(
        long,
        value_name = "TEXT",
        allow_hyphen_values = true,
        required_unless_present = "old_from"
    )]
    old: Option<String>,
    /// What stands there then
    #[arg(
        long,
        value_name = "TEXT",
        allow_hyphen_values = true,
        required_unless_present = "new_from"
    )]
    new: Option<String>,
    /// Read the text to replace from a file
    #[arg(long, value_name = "FILE", conflicts_with = "old")]
    old_from: Option<PathBuf>,
    /// Read what stands there then from a file
    #[arg(long, value_name = "FILE", conflicts_with = "new")]
    new_from: Option<PathBuf>,
    /// Replace it in every place it is in
    #[arg(long)]
    all: bool,
    /// Refuse unless the file still is the one with this SHA-256 (its first 8 digits or more)
    #[arg(long, value_name = "HASH")]
    base: Option<String>,
    #[command(flatten)]
    writing: Writing,
}

pub(in crate::cli) fn run(context: &mut Context, args: &Args) -> Result<()> {
    let given = |typed: &Option<String>, from: &Option<PathBuf>| match (typed, from) {
        (Some(typed), _) => Ok(typed.clone()),
        (None, Some(from)) => text(Some(from)),
        (None, None) => Err(Error::Usage {
            message: "a text is missing".to_owned(),
            hint: Some("name both --old and --new".to_owned()),
        }),
    };
    let (find, replace) = (
        given(&args.old, &args.old_from)?,
        given(&args.new, &args.new_from)?,
    );
    perform(context, &args.writing, |context, store| {
        let (skill, file) = target(context, store, &args.name)?;
        Ok(Request::Patch {
            skill: skill.id,
            file,
            find,
            replace,
            all: args.all,
            base: args.base.clone(),
        })
    })
}
