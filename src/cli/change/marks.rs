//! `skilldb pin`, `unpin`, `enable`, `disable`, `adopt` and `release`.

use serde_json::json;

use super::super::output::one_line;
use super::{Session, Writing, skill};
use crate::cli::Context;
use crate::error::{Error, Result};
use crate::manage::{Mark, is_news};

/// Keep automation from putting skills away
///
/// Neither the curator nor a background review archives, deletes or merges a pinned skill; patches stay allowed.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  skilldb pin release-notes --reason 'used once a year, when it counts'")]
pub(in crate::cli) struct PinArgs {
    /// The skills
    #[arg(required = true, value_name = "NAME")]
    names: Vec<String>,
    #[command(flatten)]
    writing: Writing,
}

/// Let automation put skills away again
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  skilldb unpin release-notes")]
pub(in crate::cli) struct UnpinArgs {
    /// The skills
    #[arg(required = true, value_name = "NAME")]
    names: Vec<String>,
    #[command(flatten)]
    writing: Writing,
}

/// Show disabled skills to agents again
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  skilldb enable release-notes
  skilldb enable release-notes --platform windows")]
pub(in crate::cli) struct EnableArgs {
    /// The skills
    #[arg(required = true, value_name = "NAME")]
    names: Vec<String>,
    /// Only on this platform
    #[arg(long)]
    platform: Option<String>,
    #[command(flatten)]
    writing: Writing,
}

/// Hide skills from agents; their files stay where they are
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  skilldb disable release-notes
  skilldb disable release-notes --platform windows")]
pub(in crate::cli) struct DisableArgs {
    /// The skills
    #[arg(required = true, value_name = "NAME")]
    names: Vec<String>,
    /// Only on this platform
    #[arg(long)]
    platform: Option<String>,
    #[command(flatten)]
    writing: Writing,
}

/// Say whose skills are, where skilldb does not know
///
/// A person's skills are never touched by automation; those of agents age and are merged.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  skilldb adopt release-notes
  skilldb adopt old-notes older-notes --as agent")]
pub(in crate::cli) struct AdoptArgs {
    /// The skills
    #[arg(required = true, value_name = "NAME")]
    names: Vec<String>,
    /// Whose they are
    #[arg(long = "as", value_name = "WHO", default_value = "user", value_parser = ["user", "agent"])]
    whose: String,
    #[command(flatten)]
    writing: Writing,
}

/// Leave skills to agents again that a person edited
///
/// Whatever a person changed in a skill that an agent made, automation leaves it alone from then on, until this.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  skilldb release release-notes")]
pub(in crate::cli) struct ReleaseArgs {
    /// The skills
    #[arg(required = true, value_name = "NAME")]
    names: Vec<String>,
    #[command(flatten)]
    writing: Writing,
}

pub(in crate::cli) fn pin(context: &mut Context, args: &PinArgs) -> Result<()> {
    mark(context, &args.names, &args.writing, &Mark::Pin)
}

pub(in crate::cli) fn unpin(context: &mut Context, args: &UnpinArgs) -> Result<()> {
    mark(context, &args.names, &args.writing, &Mark::Unpin)
}

pub(in crate::cli) fn enable(context: &mut Context, args: &EnableArgs) -> Result<()> {
    mark(
        context,
        &args.names,
        &args.writing,
        &Mark::Enable(args.platform.clone()),
    )
}

pub(in crate::cli) fn disable(context: &mut Context, args: &DisableArgs) -> Result<()> {
    mark(
        context,
        &args.names,
        &args.writing,
        &Mark::Disable(args.platform.clone()),
    )
}

pub(in crate::cli) fn adopt(context: &mut Context, args: &AdoptArgs) -> Result<()> {
    let whose = if args.whose == "agent" {
        "agent"
    } else {
        "user"
    };
    mark(context, &args.names, &args.writing, &Mark::Adopt(whose))
}

pub(in crate::cli) fn release(context: &mut Context, args: &ReleaseArgs) -> Result<()> {
    mark(context, &args.names, &args.writing, &Mark::Release)
}

/// Sets a mark on each of the skills. One that is refused does not stop the others.
fn mark(context: &mut Context, names: &[String], writing: &Writing, mark: &Mark) -> Result<()> {
    let who = writing.who(context)?;
    let mut objects = Vec::new();
    let mut failed = 0;
    let mut session = Session::open(context, writing)?;
    for name in names {
        let done = skill(context, session.store(), name).and_then(|skill| {
            let is_news = match &mut session {
                Session::Dry(store) => is_news(store, &who, skill.id, mark)?,
                Session::Wet(writer) => writer.mark(&who, skill.id, mark)?,
            };
            Ok((skill, is_news))
        });
        match done {
            Ok((skill, is_news)) => {
                let word = if is_news {
                    done_word(mark)
                } else {
                    already_word(mark)
                };
                if context.out.json {
                    objects.push(json!({"id": skill.id, "name": skill.name, "mark": mark.as_str(), "changed": is_news && !writing.dry_run}));
                } else {
                    context
                        .out
                        .line(&format!("{}\t{word}", one_line(&skill.name)))?;
                }
            }
            Err(error) if names.len() == 1 => return Err(error),
            Err(error) => {
                failed += 1;
                if context.out.json {
                    objects.push(super::super::output::error_object(&error));
                } else {
                    context.out.flush()?;
                    super::super::output::fail(&error, false, context.config.color.value);
                }
            }
        }
    }
    if context.out.json {
        context
            .out
            .object(json!({"skills": objects, "failed": failed, "dry_run": writing.dry_run}))?;
    }
    context.out.flush()?;
    if writing.dry_run {
        context.out.say("Dry run: nothing was written.");
    } else if let (Some(opposite), [name, ..]) = (opposite(mark), names) {
        context
            .out
            .say(&format!("`skilldb {opposite} {name}` takes it back."));
    }
    if failed == 0 {
        Ok(())
    } else {
        Err(Error::ProblemsFound)
    }
}

fn done_word(mark: &Mark) -> String {
    match mark {
        Mark::Pin => "pinned".to_owned(),
        Mark::Unpin => "not pinned any more".to_owned(),
        Mark::Enable(None) => "enabled".to_owned(),
        Mark::Enable(Some(platform)) => format!("enabled on {platform}"),
        Mark::Disable(None) => "disabled".to_owned(),
        Mark::Disable(Some(platform)) => format!("disabled on {platform}"),
        Mark::Adopt(whose) => format!("adopted as {whose}'s"),
        Mark::Release => "left to agents again".to_owned(),
    }
}

fn already_word(mark: &Mark) -> String {
    match mark {
        Mark::Release => "no person changed it: nothing to release".to_owned(),
        Mark::Unpin => "was not pinned".to_owned(),
        Mark::Enable(_) => "was not disabled".to_owned(),
        Mark::Pin | Mark::Disable(_) | Mark::Adopt(_) => format!("{} already", done_word(mark)),
    }
}

fn opposite(mark: &Mark) -> Option<&'static str> {
    match mark {
        Mark::Pin => Some("unpin"),
        Mark::Unpin => Some("pin"),
        Mark::Enable(_) => Some("disable"),
        Mark::Disable(_) => Some("enable"),
        Mark::Adopt(_) | Mark::Release => None,
    }
}
