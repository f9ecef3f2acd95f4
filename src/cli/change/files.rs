//! `skilldb write` and `skilldb rm-file`.

use std::path::PathBuf;

use super::{Writing, content, perform, target};
use crate::cli::Context;
use crate::error::{Error, Result};
use crate::manage::{Bytes, Request};
use crate::store::{SkillAddress, Store};

/// Write a supporting file of a skill
///
/// New files lie under references/, templates/, scripts/ or assets/; what is there may be rewritten wherever it
/// lies.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  skilldb write release-notes/references/style.md --from style.md
  skilldb write release-notes/scripts/collect.sh --from collect.sh --executable")]
pub(in crate::cli) struct WriteArgs {
    /// The skill, and after a slash its file
    #[arg(value_name = "NAME/FILE")]
    name: String,
    /// Read the content from a file instead of standard input
    #[arg(long, value_name = "FILE")]
    from: Option<PathBuf>,
    /// Let it be run [default: as it was; a new file when it begins with #!]
    #[arg(long, conflicts_with = "no_executable")]
    executable: bool,
    /// Do not let it be run
    #[arg(long)]
    no_executable: bool,
    /// Refuse unless the file still is the one with this SHA-256 (its first 8 digits or more)
    #[arg(long, value_name = "HASH")]
    base: Option<String>,
    #[command(flatten)]
    writing: Writing,
}

/// Remove a supporting file of a skill
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  skilldb rm-file release-notes/references/style.md")]
pub(in crate::cli) struct RemoveArgs {
    /// The skill, and after a slash its file
    #[arg(value_name = "NAME/FILE")]
    name: String,
    /// Refuse unless the file still is the one with this SHA-256 (its first 8 digits or more)
    #[arg(long, value_name = "HASH")]
    base: Option<String>,
    #[command(flatten)]
    writing: Writing,
}

pub(in crate::cli) fn write(context: &mut Context, args: &WriteArgs) -> Result<()> {
    let given = Bytes::new(content(args.from.as_deref())?);
    perform(context, &args.writing, |context, store| {
        let (skill, file) = named(context, store, &args.name)?;
        Ok(Request::Write {
            skill: skill.id,
            file,
            content: given,
            executable: match (args.executable, args.no_executable) {
                (true, _) => Some(true),
                (_, true) => Some(false),
                (false, false) => None,
            },
            base: args.base.clone(),
        })
    })
}

pub(in crate::cli) fn remove(context: &mut Context, args: &RemoveArgs) -> Result<()> {
    perform(context, &args.writing, |context, store| {
        let (skill, file) = named(context, store, &args.name)?;
        Ok(Request::RemoveFile {
            skill: skill.id,
            file,
            base: args.base.clone(),
        })
    })
}

fn named(context: &Context, store: &Store, typed: &str) -> Result<(SkillAddress, String)> {
    match target(context, store, typed)? {
        (skill, Some(file)) => Ok((skill, file)),
        (skill, None) => Err(Error::Usage {
            message: format!("no file of `{}` is named", skill.name),
            hint: Some(format!("write {}/references/FILE", skill.name)),
        }),
    }
}
