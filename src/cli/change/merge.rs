//! `skilldb merge`.

use super::{Writing, crontab, perform, skill};
use crate::cli::Context;
use crate::error::{Error, Result};
use crate::manage::{Carry, Request};
use crate::store::Store;

/// Make skills part of another one
///
/// Text and files of each skill move into the other one; links between them are kept right, and a file whose place is
/// taken gets the skill's name before its own. Then the skills go into the archive, whole, and whatever named them
/// names the other one: skills, the jobs of Hermes homes, the files listed under `automations`. What cannot be
/// rewritten is told with file and line. All of it is one change, which one undo takes back.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  skilldb merge lint-js format-js --into js-quality --dry-run
  skilldb merge lint-js format-js --into js-quality
  skilldb merge old-notes --into notes --none --reason 'notes says all of it'")]
pub(in crate::cli) struct Args {
    /// The skills that go
    #[arg(required = true, value_name = "NAME")]
    names: Vec<String>,
    /// The skill that takes them in
    #[arg(long, value_name = "NAME")]
    into: String,
    /// Each text becomes a section of the other's text (the default)
    #[arg(long, group = "carry")]
    section: bool,
    /// Each text becomes a file in references/, named in the other's text
    #[arg(long, group = "carry")]
    reference: bool,
    /// No text and no file moves: the other skill says it already
    #[arg(long, group = "carry")]
    none: bool,
    #[command(flatten)]
    writing: Writing,
}

impl Args {
    fn carry(&self) -> Carry {
        match (self.reference, self.none) {
            (true, _) => Carry::Reference,
            (_, true) => Carry::Nothing,
            _ => Carry::Section,
        }
    }
}

pub(in crate::cli) fn run(context: &mut Context, args: &Args) -> Result<()> {
    let mut before = Vec::new();
    perform(context, &args.writing, |context, store| {
        let into = umbrella(context, store, &args.into)?;
        let mut parts = Vec::with_capacity(args.names.len());
        for name in &args.names {
            let part = skill(context, store, name).map_err(no_skill)?;
            if part.is_archived && store.heir_of(part.id)? == Some(into) {
                return Err(Error::Usage {
                    message: format!("`{}` is part of `{}` already", part.name, args.into),
                    hint: Some(format!(
                        "`skilldb restore '#{}'` takes it out again",
                        part.id
                    )),
                });
            }
            before.push(store.skill_facts(part.id)?);
            parts.push(part.id);
        }
        Ok(Request::Merge {
            parts,
            into,
            carry: args.carry(),
        })
    })?;
    context.out.flush()?;
    crontab::warn(context, &before);
    Ok(())
}

/// A name that is nobody's is a wrong word here.
fn no_skill(error: Error) -> Error {
    match error {
        Error::SkillNotFound { name, similar } => Error::Usage {
            message: format!("there is no skill `{name}` to merge"),
            hint: Some(match similar.as_slice() {
                [] => "`skilldb list` shows what is there".to_owned(),
                names => format!("did you mean `{}`?", names.join("`, `")),
            }),
        },
        error => error,
    }
}

/// The skill that takes others in: of one that was absorbed itself, whatever has it now.
fn umbrella(context: &Context, store: &Store, typed: &str) -> Result<i64> {
    let found = skill(context, store, typed).map_err(no_skill)?;
    let Some(heir) = store.heir_of(found.id)? else {
        return Ok(found.id);
    };
    let facts = store.skill_facts(heir)?;
    context.out.say(&format!(
        "`{}` was absorbed into `{}`: merging into that.",
        found.name, facts.name
    ));
    Ok(heir)
}
