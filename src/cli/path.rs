//! `skilldb path`.

use std::borrow::Cow;

use serde_json::json;

use super::Context;
use super::output::clean;
use crate::config::HOME_FILE;
use crate::error::Result;
use crate::store::FILE_NAME;

/// Print where something is: the home, the database, the configuration, or a skill
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  skilldb path                     the library's home
  skilldb path db                  the database file
  cd \"$(skilldb path deploy)\"      a skill's folder")]
pub(super) struct Args {
    /// home, db, config, or the name of a skill
    #[arg(value_name = "WHAT", default_value = "home")]
    what: String,
}

pub(super) fn run(context: &mut Context, args: &Args) -> Result<()> {
    let home = &context.config.home.value;
    let path = match args.what.as_str() {
        "home" => home.display().to_string(),
        "db" => home.join(FILE_NAME).display().to_string(),
        "config" => home.join(HOME_FILE).display().to_string(),
        name => context.read()?.find_skill(name)?.path,
    };
    if context.out.json {
        return context.out.object(json!({"path": path}));
    }
    // A shell needs the path as it is, a terminal must not be steered by it.
    let shown = if context.out.width.is_some() {
        clean(&path)
    } else {
        Cow::Borrowed(path.as_str())
    };
    context.out.line(&shown)
}
