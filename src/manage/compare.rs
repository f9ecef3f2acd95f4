//! Versions of a skill side by side: after one change, after another, now.

use std::collections::BTreeSet;

use super::draft::{read_entry, real_folder};
use super::revert::held;
use crate::error::{Error, Result};
use crate::library::Content;
use crate::store::{ChangedFile, Held, SkillFacts, Store};

/// A file on both sides; `None` where it is not there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Compared {
    /// Path relative to the skill.
    pub path: String,
    /// What it said.
    pub before: Option<Vec<u8>>,
    /// What it says.
    pub after: Option<Vec<u8>>,
    /// Why one of the sides cannot be shown: its bytes are not kept.
    pub missing: Option<String>,
}

/// Compares a skill after one change with the skill after another, or with what lies on disk now.
///
/// # Errors
/// [`Error::Denied`] when the skill is gone; [`Error::Io`], [`Error::Database`].
pub fn compare(
    store: &Store,
    facts: &SkillFacts,
    from: i64,
    to: Option<i64>,
) -> Result<Vec<Compared>> {
    let paths: BTreeSet<String> = store.paths_of(facts.id)?.into_iter().collect();
    let folder = match to {
        Some(_) => None,
        // Of a skill that was removed nothing is left to compare with.
        None if facts.has_ended => None,
        None => Some(real_folder(facts)?),
    };
    let mut compared = Vec::new();
    for path in paths {
        let before = store.held_after(facts.id, &path, from)?.unwrap_or_default();
        let (before, mut missing) = shown(store, &before)?;
        let after = match (&folder, to) {
            (Some(folder), _) => {
                read_entry(folder, &path)?.map(|(content, bytes)| words(&content, bytes))
            }
            (None, Some(to)) => {
                let (after, lost) = shown(
                    store,
                    &store.held_after(facts.id, &path, to)?.unwrap_or_default(),
                )?;
                missing = missing.or(lost);
                after
            }
            (None, None) => None,
        };
        if before != after || missing.is_some() {
            compared.push(Compared {
                path,
                before,
                after,
                missing,
            });
        }
    }
    Ok(compared)
}

/// What a change did to one file.
///
/// # Errors
/// [`Error::Database`].
pub fn compared(store: &Store, file: &ChangedFile) -> Result<Compared> {
    let (before, lost) = shown(store, &file.before)?;
    let (after, gone) = shown(store, &file.after)?;
    Ok(Compared {
        path: file.path.clone(),
        before,
        after,
        missing: lost.or(gone),
    })
}

/// The bytes of one side, or the hash of those that are not kept.
fn shown(store: &Store, side: &Held) -> Result<(Option<Vec<u8>>, Option<String>)> {
    match held(store, side, None) {
        Ok(found) => Ok((found.map(|(content, bytes)| words(&content, bytes)), None)),
        Err(Error::NotKept { hash }) => Ok((None, Some(hash))),
        Err(error) => Err(error),
    }
}

/// A link is shown by where it leads.
fn words(content: &Content, bytes: Vec<u8>) -> Vec<u8> {
    match content {
        Content::File { .. } => bytes,
        Content::Link { target } => format!("link to {target}\n").into_bytes(),
    }
}
