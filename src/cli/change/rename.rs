//! `skilldb rename`.

use super::{Writing, crontab, perform, skill};
use crate::cli::Context;
use crate::error::Result;
use crate::manage::Request;

/// Give a skill another name
///
/// Folder and header change together, and so does what points at it: headers, links and mentions in other skills,
/// the jobs of Hermes homes, and the files listed under `automations` in the configuration. Only exact names and
/// paths are rewritten; each place is told. Crontabs are looked into and only reported; skills that were never synced
/// are not looked into.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  skilldb rename release-notes changelog --dry-run
  skilldb rename release-notes writing/changelog")]
pub(in crate::cli) struct Args {
    /// The skill
    name: String,
    /// The new name, with a category before it to move it there
    #[arg(value_name = "[CATEGORY/]NEW")]
    to: String,
    #[command(flatten)]
    writing: Writing,
}

pub(in crate::cli) fn run(context: &mut Context, args: &Args) -> Result<()> {
    let mut before = Vec::new();
    perform(context, &args.writing, |context, store| {
        let skill = skill(context, store, &args.name)?;
        before.push(store.skill_facts(skill.id)?);
        Ok(Request::Rename {
            skill: skill.id,
            to: args.to.clone(),
        })
    })?;
    context.out.flush()?;
    crontab::warn(context, &before);
    Ok(())
}
