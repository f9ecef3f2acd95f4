//! What a plan would do, as people read it.

use std::fmt::Write as _;
use std::path::Path;

use super::plan::{Part, Plan};
use super::step::Step;
use crate::diff;
use crate::error::{Error, Result};
use crate::library::{Content, TreeEntry};
use crate::store::Store;

/// Returns what becomes of the files as a unified diff; moves and whole folders are lines of their own.
///
/// # Errors
/// [`Error::Database`].
pub(super) fn diff(store: &Store, plan: &Plan) -> Result<String> {
    let mut text = String::new();
    for step in &plan.steps {
        match step {
            Step::File {
                path,
                before,
                after,
                keep,
            } => {
                let name = shown(path, keep, plan);
                text.push_str(&between(
                    store,
                    plan,
                    &name,
                    (before.as_ref(), after.as_ref()),
                )?);
            }
            Step::Tree {
                path,
                before,
                after,
                ..
            } => {
                let word = if after.is_some() {
                    "new folder"
                } else {
                    "removed folder"
                };
                let _ = writeln!(text, "{word} {}", path.display());
                let folder = path.file_name().unwrap_or_default().to_string_lossy();
                for entry in before.iter().chain(after).flatten() {
                    text.push_str(&whole(store, plan, (&folder, entry), after.is_some())?);
                }
            }
            Step::Move { from, to, .. } => {
                let _ = writeln!(
                    text,
                    "rename from {}\nrename to {}",
                    from.display(),
                    to.display()
                );
            }
        }
    }
    Ok(text)
}

/// What a file is called in a diff: with its skill's folder before it, or its whole path outside of skills.
fn shown(path: &Path, folder: &Path, plan: &Plan) -> String {
    let whole = path.to_string_lossy();
    let is_outside =
        |part: &Part| part.skill_id.is_none() && part.files.iter().any(|file| file.path == whole);
    if plan.parts.iter().any(is_outside) {
        return whole.trim_start_matches('/').to_owned();
    }
    let inner = path.strip_prefix(folder).unwrap_or(path);
    let name = Path::new(folder.file_name().unwrap_or_default());
    name.join(inner).to_string_lossy().into_owned()
}

fn whole(
    store: &Store,
    plan: &Plan,
    (folder, entry): (&str, &TreeEntry),
    comes: bool,
) -> Result<String> {
    let sides = if comes {
        (None, entry.content.as_ref())
    } else {
        (entry.content.as_ref(), None)
    };
    between(store, plan, &format!("{folder}/{}", entry.path), sides)
}

fn between(
    store: &Store,
    plan: &Plan,
    name: &str,
    (before, after): (Option<&Content>, Option<&Content>),
) -> Result<String> {
    let bytes = |content: Option<&Content>| -> Result<Option<Vec<u8>>> {
        match content {
            None => Ok(None),
            Some(Content::Link { target }) => Ok(Some(format!("link to {target}\n").into_bytes())),
            Some(Content::File { hash, .. }) => match plan.bytes.get(hash) {
                Some(bytes) => Ok(Some(bytes.clone())),
                None => store
                    .bytes(hash)?
                    .map(Some)
                    .ok_or_else(|| Error::NotKept { hash: hash.clone() }),
            },
        }
    };
    let mode = |content: Option<&Content>| content.and_then(Content::mode);
    let mut text = String::new();
    if let (Some(old), Some(new)) = (mode(before), mode(after))
        && old != new
    {
        let _ = writeln!(text, "mode of {name}: {old:o} to {new:o}");
    }
    text.push_str(&diff::unified(
        name,
        bytes(before)?.as_deref(),
        bytes(after)?.as_deref(),
    ));
    Ok(text)
}
