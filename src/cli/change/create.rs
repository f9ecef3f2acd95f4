//! `skilldb create`.

use std::path::PathBuf;

use super::{Writing, own_root, perform, settings, tell, text};
use crate::cli::Context;
use crate::error::{Error, Result};
use crate::manage::{self, Preview, Request};
use crate::store::{FILE_NAME, Store, Waiting};

/// Make a new skill
///
/// The text is a whole SKILL.md; with --description only what comes after its header. It is checked before
/// anything is written: the name, the header, the size, and that nothing else has the name.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  skilldb create release-notes --from draft.md
  skilldb create release-notes --description 'Write release notes from commits' --from steps.md
  skilldb create release-notes --category writing --from draft.md --dry-run")]
pub(in crate::cli) struct Args {
    /// Its name, and that of its folder
    name: String,
    /// The folder its folder lies in
    #[arg(long, value_name = "FOLDER")]
    category: Option<String>,
    /// The root it belongs into instead of the library's own
    #[arg(long, value_name = "DIR")]
    root: Option<PathBuf>,
    /// What the skill is for: makes the header
    #[arg(long, value_name = "TEXT")]
    description: Option<String>,
    /// Read the text from a file instead of standard input
    #[arg(long, value_name = "FILE")]
    from: Option<PathBuf>,
    #[command(flatten)]
    writing: Writing,
}

pub(in crate::cli) fn run(context: &mut Context, args: &Args) -> Result<()> {
    let given = text(args.from.as_deref())?;
    let text = match &args.description {
        None => given,
        Some(description) => {
            // JSON's quotes are YAML's, too.
            let quoted = serde_json::Value::from(description.as_str());
            format!(
                "---\nname: {}\ndescription: {quoted}\n---\n\n{given}",
                args.name
            )
        }
    };
    let root = match &args.root {
        Some(root) => {
            let root = context.config.cwd.join(root);
            root.canonicalize().unwrap_or(root)
        }
        None => own_root(context),
    };
    let request = Request::Create {
        name: args.name.clone(),
        category: args.category.clone(),
        text,
        root,
    };
    if !context.config.home.value.join(FILE_NAME).exists() {
        // The first skill makes the library; one that is refused, or only tried out, makes none.
        let preview = rehearse(context, args, &request)?;
        if args.writing.dry_run {
            return tell::preview(context, request.action(), &preview);
        }
        Store::create_empty(&context.config.home.value, Waiting::Yes)?;
    }
    perform(context, &args.writing, |_, _| Ok(request))
}

/// What the request would do in a library with nothing in it.
fn rehearse(context: &Context, args: &Args, request: &Request) -> Result<Preview> {
    let scratch = tempfile::tempdir().map_err(Error::io("create", "a temporary folder"))?;
    Store::create_empty(scratch.path(), Waiting::Yes)?;
    let store = Store::open_read(scratch.path(), context.now)?;
    let who = args.writing.who(context)?;
    manage::preview(&store, &settings(context), &who, request)
}
