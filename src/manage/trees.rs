//! Steps that make or remove a whole folder: where they are, and what is left of one that was cut short.

use std::path::Path;

use super::execute::Keep;
use super::step::Stand;
use crate::error::{Error, Result};
use crate::library::TreeEntry;
use crate::library::write::Folder;

pub(super) fn clear(folder: &Folder, aside: &str, path: &Path) -> Result<()> {
    let io = |error| Error::io("tidy up beside", path)(error);
    folder.remove_tree(aside).map_err(io)?;
    folder.flush().map_err(io)
}

/// Where a step is that makes a whole folder, or removes one.
pub(super) fn tree_stand(
    folder: &Folder,
    (name, aside): (&str, &str),
    (before, after): (Option<&[TreeEntry]>, Option<&[TreeEntry]>),
    path: &Path,
) -> Result<Stand> {
    let io = |error| Error::io("read", path)(error);
    let is_there = folder.identity(name).map_err(io)?.is_some();
    let is_aside = folder.identity(aside).map_err(io)?.is_some();
    let tree = |name: &str| folder.tree(name).ok();
    Ok(match (after, is_there, is_aside) {
        (Some(_), false, _) => Stand::Before,
        // What waits aside was not put in place: somebody else made the folder.
        (Some(_), true, true) => Stand::Other,
        (Some(entries), true, false) => {
            let is_ours = tree(name).is_some_and(|found| is_same_tree(&found, entries));
            if is_ours { Stand::After } else { Stand::Other }
        }
        (None, false, false) => Stand::After,
        (None, _, true) => {
            let known = before.unwrap_or_default();
            let is_known =
                tree(aside).is_some_and(|left| left.iter().all(|entry| is_in(entry, known)));
            if is_known { Stand::After } else { Stand::Other }
        }
        (None, true, false) => {
            let known = before.unwrap_or_default();
            let is_whole = tree(name).is_some_and(|found| is_same_tree(&found, known));
            if is_whole {
                Stand::Before
            } else {
                Stand::Other
            }
        }
    })
}

fn is_in(entry: &TreeEntry, known: &[TreeEntry]) -> bool {
    let Some(content) = &entry.content else {
        return true;
    };
    known.iter().any(|known| {
        known.path == entry.path
            && known
                .content
                .as_ref()
                .is_some_and(|known| known.says_the_same(content))
    })
}

/// What is left of a folder that was being removed goes; with something unknown in it the folder comes back.
pub(super) fn tidy_tree(
    folder: &Folder,
    (name, aside): (&str, &str),
    known: &[TreeEntry],
    (path, keep): (&Path, Keep<'_>),
) -> Result<bool> {
    let io = |error| Error::io("tidy up beside", path)(error);
    let left = folder.tree(aside).map_err(io)?;
    let unknown: Vec<&TreeEntry> = left.iter().filter(|entry| !is_in(entry, known)).collect();
    if !unknown.is_empty() {
        if folder.identity(name).map_err(io)?.is_none() {
            folder.rename(aside, folder, name).map_err(io)?;
            folder.flush().map_err(io)?;
            return Ok(true);
        }
        let mut all = std::collections::HashMap::new();
        folder
            .tree_with(aside, &mut |hash, bytes| {
                all.insert(hash.to_owned(), bytes);
                Ok(())
            })
            .map_err(io)?;
        for entry in unknown {
            if let Some(content) = &entry.content {
                let bytes = content.hash().and_then(|hash| all.get(hash)).cloned();
                keep(&path.join(&entry.path), content, bytes.unwrap_or_default())?;
            }
        }
    }
    clear(folder, aside, path)?;
    Ok(false)
}

/// Whether a folder holds what it is expected to, permissions aside.
pub(super) fn is_same_tree(found: &[TreeEntry], expected: &[TreeEntry]) -> bool {
    found.len() == expected.len()
        && found.iter().zip(expected).all(|(found, expected)| {
            found.path == expected.path
                && match (&found.content, &expected.content) {
                    (None, None) => true,
                    (Some(found), Some(expected)) => found.says_the_same(expected),
                    (None, Some(_)) | (Some(_), None) => false,
                }
        })
}
