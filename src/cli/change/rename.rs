//! `skilldb rename`.

use std::path::Path;
use std::process::Command;

use super::{Writing, perform, skill};
use crate::cli::Context;
use crate::cli::output::clean;
use crate::error::Result;
use crate::manage::Request;
use crate::references::{self, Target, Text};
use crate::store::{SkillAddress, Store};

/// Give a skill another name
///
/// Folder and header change together, and so does what points at it: headers, links and mentions in other skills,
/// and in the files listed under `automations` in the configuration. Only exact names and paths are rewritten; each
/// place is told. Crontabs are looked into and only reported; skills that were never synced are not looked into.
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
    let mut target = None;
    perform(context, &args.writing, |context, store| {
        let skill = skill(context, store, &args.name)?;
        target = Some(target_of(store, &skill)?);
        Ok(Request::Rename {
            skill: skill.id,
            to: args.to.clone(),
        })
    })?;
    let Some(target) = target else { return Ok(()) };
    context.out.flush()?;
    for line in in_crontab(&target) {
        context.out.warn(&format!(
            "Your crontab still names `{}`: {} (`crontab -e` changes it)",
            target.name,
            clean(&line)
        ));
    }
    Ok(())
}

fn target_of(store: &Store, skill: &SkillAddress) -> Result<Target> {
    let facts = store.skill_facts(skill.id)?;
    Ok(Target {
        name: facts.name.clone(),
        folder: facts.path(),
        rel_path: facts.rel_path,
        root: facts.root,
        is_path: Path::new("/").join(&skill.name).exists(),
    })
}

/// The lines of the user's crontab that name a skill. No crontab, or none that can be read: no lines.
fn in_crontab(target: &Target) -> Vec<String> {
    let Ok(output) = Command::new("crontab").arg("-l").output() else {
        return Vec::new();
    };
    let text = String::from_utf8_lossy(&output.stdout);
    let hits = references::find(&text, Text::Prose, Path::new("/crontab"), target);
    let mut lines: Vec<usize> = hits.iter().map(|hit| hit.line as usize).collect();
    lines.dedup();
    lines
        .into_iter()
        .filter_map(|line| Some(format!("line {line}: {}", text.lines().nth(line - 1)?)))
        .collect()
}
