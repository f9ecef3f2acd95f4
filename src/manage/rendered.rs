//! What a plan would do, as people read it.

use std::fmt::Write as _;

use super::plan::Plan;
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
                let name = path.strip_prefix(keep).unwrap_or(path).to_string_lossy();
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
                for entry in before.iter().chain(after).flatten() {
                    text.push_str(&whole(store, plan, entry, after.is_some())?);
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

fn whole(store: &Store, plan: &Plan, entry: &TreeEntry, comes: bool) -> Result<String> {
    let sides = if comes {
        (None, entry.content.as_ref())
    } else {
        (entry.content.as_ref(), None)
    };
    between(store, plan, &entry.path, sides)
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
