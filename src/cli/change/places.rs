//! `skilldb archive`, `restore` and `delete`.

use std::cell::RefCell;

use super::{Writing, ask, perform, perform_all, settings, skill, target};
use crate::cli::Context;
use crate::cli::output::{one_line, plural};
use crate::error::{Error, Result};
use crate::manage::{Request, pointing_at};
use crate::store::{Candidate, Store};

/// Put skills into the archive
///
/// The folder moves into .archive/ of its root with every file, mode and link; agents do not see it there.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  skilldb archive old-notes
  skilldb archive old-notes older-notes --reason 'nobody uses them'")]
pub(in crate::cli) struct ArchiveArgs {
    /// The skills
    #[arg(required = true, value_name = "NAME")]
    names: Vec<String>,
    #[command(flatten)]
    writing: Writing,
}

/// Bring a skill back from the archive
///
/// To where it lay, never over anything. Where several archived ones have the name they are listed; `#id` picks one.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  skilldb list --archived
  skilldb restore old-notes
  skilldb restore '#12'")]
pub(in crate::cli) struct RestoreArgs {
    /// The skill: its name or `#id`
    name: String,
    #[command(flatten)]
    writing: Writing,
}

/// Put a skill away: into the archive, or for good
///
/// For good, too, every byte stays in the history and `undo` brings the skill back.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  skilldb delete old-notes
  skilldb delete old-notes --forever --yes")]
pub(in crate::cli) struct DeleteArgs {
    /// The skills
    #[arg(required = true, value_name = "NAME")]
    names: Vec<String>,
    /// Remove the folder instead of archiving it
    #[arg(long)]
    forever: bool,
    #[command(flatten)]
    writing: Writing,
}

pub(in crate::cli) fn archive(context: &mut Context, args: &ArchiveArgs) -> Result<()> {
    put_away(context, &args.writing, &args.names, false)
}

/// Archives skills, and says what still names them.
fn put_away(
    context: &mut Context,
    writing: &Writing,
    names: &[String],
    as_delete: bool,
) -> Result<()> {
    let asked = RefCell::new(Vec::new());
    let done = perform_all(context, writing, names, |skill| {
        asked.borrow_mut().push(skill.id);
        Request::Archive {
            skill: skill.id,
            as_delete,
        }
    });
    if !context.out.json && !writing.dry_run {
        context.out.flush()?;
        tell_named(context, &asked.into_inner())?;
    }
    done
}

/// Says how many places name skills that are archived now.
fn tell_named(context: &Context, ids: &[i64]) -> Result<()> {
    let store = context.read_only()?;
    let listed = settings(context).automations;
    for id in ids {
        let facts = store.skill_facts(*id)?;
        let found = pointing_at(&store, &listed, &facts)?;
        let named = found
            .places
            .iter()
            .filter(|place| place.kind != "word")
            .count();
        if facts.state == "archived" && named > 0 {
            let count = plural(named as u64, "place");
            let name = one_line(&facts.name);
            context.out.warn(&format!(
                "Still named in {count}: `skilldb refs {name}` lists what names `{name}`."
            ));
        }
    }
    Ok(())
}

pub(in crate::cli) fn restore(context: &mut Context, args: &RestoreArgs) -> Result<()> {
    perform(context, &args.writing, |context, store| {
        Ok(Request::Restore {
            skill: archived(context, store, &args.name)?,
        })
    })
}

/// The archived skill that is meant: exactly this name, never one that only looks like it.
fn archived(context: &Context, store: &Store, typed: &str) -> Result<i64> {
    let found = store.archived_named(typed)?;
    match found.as_slice() {
        [] => match skill(context, store, typed) {
            Ok(skill) => Ok(skill.id),
            Err(error @ Error::AmbiguousName { .. }) => Err(error),
            Err(_) => Err(Error::Denied {
                code: "archived-not-found",
                message: format!("no archived skill `{typed}`"),
                hint: Some("`skilldb list --archived` shows what is archived".to_owned()),
            }),
        },
        [only] => Ok(*only),
        several => {
            let candidate = |id: &i64| -> Result<Candidate> {
                let facts = store.skill_facts(*id)?;
                Ok(Candidate {
                    id: *id,
                    address: format!("#{id}"),
                    path: facts.path().to_string_lossy().into_owned(),
                })
            };
            Err(Error::AmbiguousName {
                name: typed.to_owned(),
                candidates: several.iter().map(candidate).collect::<Result<_>>()?,
            })
        }
    }
}

pub(in crate::cli) fn delete(context: &mut Context, args: &DeleteArgs) -> Result<()> {
    if !args.forever {
        return put_away(context, &args.writing, &args.names, true);
    }
    if !args.writing.dry_run {
        let store = context.read()?;
        for name in &args.names {
            let (skill, _) = target(context, &store, name)?;
            ask(
                &args.writing,
                &format!("Remove {}? Its bytes stay in the history.", skill.path),
            )?;
        }
    }
    perform_all(context, &args.writing, &args.names, |skill| {
        Request::DeleteForever { skill: skill.id }
    })
}
