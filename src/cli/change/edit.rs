//! `skilldb edit`.

use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::Command;

use super::{Writing, perform, skill, text};
use crate::cli::Context;
use crate::error::{Error, Result};
use crate::hash::hash_of;
use crate::manage::Request;
use crate::store::SkillAddress;

/// Rewrite a skill's SKILL.md
///
/// On a terminal the editor of $VISUAL or $EDITOR opens; else the new text is read from standard input. The
/// header is checked before anything is written.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  skilldb edit release-notes
  skilldb edit release-notes --from new.md
  skilldb edit release-notes --from new.md --dry-run")]
pub(in crate::cli) struct Args {
    /// The skill
    name: String,
    /// Read the new text from a file
    #[arg(long, value_name = "FILE")]
    from: Option<PathBuf>,
    /// Refuse unless the file still is the one with this SHA-256 (its first 8 digits or more)
    #[arg(long, value_name = "HASH")]
    base: Option<String>,
    #[command(flatten)]
    writing: Writing,
}

pub(in crate::cli) fn run(context: &mut Context, args: &Args) -> Result<()> {
    if args.from.is_none() && std::io::stdin().is_terminal() {
        let skill = skill(context, &context.read()?, &args.name)?;
        return in_editor(context, args, &skill);
    }
    let text = text(args.from.as_deref())?;
    perform(context, &args.writing, |context, store| {
        Ok(Request::Edit {
            skill: skill(context, store, &args.name)?.id,
            text,
            base: args.base.clone(),
        })
    })
}

fn in_editor(context: &mut Context, args: &Args, skill: &SkillAddress) -> Result<()> {
    let path = Path::new(&skill.path).join(&skill.file_name);
    let before = std::fs::read(&path).map_err(Error::io("read", &path))?;
    let mut draft = tempfile::Builder::new()
        .prefix(&format!("{}-", skill.name.replace('/', "-")))
        .suffix(".md")
        .tempfile()
        .map_err(Error::io("create", "a temporary file"))?;
    draft
        .write_all(&before)
        .map_err(Error::io("write", draft.path()))?;
    let editor = context.config.editor();
    let mut words = shlex::split(&editor)
        .unwrap_or_else(|| vec![editor.clone()])
        .into_iter();
    let program = words.next().unwrap_or_else(|| "vi".to_owned());
    let status = Command::new(&program)
        .args(words)
        .arg(draft.path())
        .status()
        .map_err(Error::io("start the editor", &program))?;
    if !status.success() {
        return Err(Error::Denied {
            code: "editor-failed",
            message: format!("`{editor}` ended with an error: nothing was changed"),
            hint: Some("set VISUAL or EDITOR to the editor you want".to_owned()),
        });
    }
    let text = std::fs::read_to_string(draft.path()).map_err(Error::io("read", draft.path()))?;
    if text.as_bytes() == before {
        context.out.say("Nothing was changed.");
        return Ok(());
    }
    let request = Request::Edit {
        skill: skill.id,
        text,
        // What somebody else wrote meanwhile is not overwritten.
        base: Some(hash_of(&before)),
    };
    let done = perform(context, &args.writing, |_, _| Ok(request));
    if done.is_err()
        && let Ok((_, kept)) = draft.keep()
    {
        context
            .out
            .warn(&format!("Your text is kept in {}.", kept.display()));
    }
    done
}
