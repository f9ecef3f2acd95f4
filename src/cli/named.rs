//! Which skill is meant by what was typed, and which file of it.

use super::Context;
use crate::error::{Error, Result};
use crate::store::{SkillAddress, Store};

/// Finds the skill, and the file when the name goes on after it.
pub(super) fn find(
    context: &Context,
    store: &Store,
    typed: &str,
) -> Result<(SkillAddress, Option<String>)> {
    let first = match store.find_skill(&resolved(context, typed)) {
        Ok(skill) => return Ok((skill, None)),
        Err(error @ Error::SkillNotFound { .. }) => error,
        Err(error) => return Err(error),
    };
    // `skills/deploy` as a shell completes it: a path from here, when nothing is called that.
    if context.config.cwd.join(typed).exists() {
        match store.find_skill(&folder_of(context, typed)) {
            Ok(skill) => return Ok((skill, None)),
            Err(Error::SkillNotFound { .. }) => {}
            Err(error) => return Err(error),
        }
    }
    // `name/file`: the shortest name that is a skill takes the rest as its file.
    for (at, _) in typed
        .match_indices('/')
        .skip(usize::from(typed.starts_with('/')))
    {
        let (name, file) = typed.split_at(at);
        match store.find_skill(&resolved(context, name)) {
            Ok(skill) => return Ok((skill, Some(file.trim_start_matches('/').to_owned()))),
            Err(Error::SkillNotFound { .. }) => {}
            Err(error) => return Err(error),
        }
    }
    Err(first)
}

/// What looks like a path is looked up as a path; everything else as typed.
fn resolved(context: &Context, typed: &str) -> String {
    let looks_like_path = typed.starts_with('/')
        || typed.starts_with("./")
        || typed.starts_with("../")
        || typed == ".";
    if looks_like_path {
        folder_of(context, typed)
    } else {
        typed.to_owned()
    }
}

/// The folder of the skill at a path, links resolved.
fn folder_of(context: &Context, typed: &str) -> String {
    let path = context.config.cwd.join(typed);
    let path = path.canonicalize().unwrap_or(path);
    let is_skill_file = path
        .file_name()
        .is_some_and(|name| name.eq_ignore_ascii_case("SKILL.md"));
    let folder = if is_skill_file {
        path.parent().unwrap_or(&path)
    } else {
        &path
    };
    folder.to_string_lossy().into_owned()
}
