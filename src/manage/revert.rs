//! What one file has to say after a change is taken back.

use std::path::Path;

use super::draft::{Draft, Side, read_entry};
use super::gate;
use super::texts::folder_name;
use super::undo::{Undoing, denied};
use crate::diff;
use crate::error::{Error, Result};
use crate::hash::hash_of;
use crate::library::Content;
use crate::store::{ChangePart, ChangedFile, Held, SkillFacts, Store};

/// What each file of a part says now, and what it shall say. Files that say it already are left out.
pub(super) fn reverted(
    draft: &mut Draft,
    asked: &Undoing<'_>,
    part: &ChangePart,
    (facts, folder): (&SkillFacts, &Path),
) -> Result<Vec<(String, Side, Side)>> {
    let mut files = Vec::new();
    let is_file = |file: &&ChangedFile| file.moved_from.is_none() && !file.path.ends_with('/');
    for file in part.files.iter().filter(is_file) {
        let is_skill_file = file.path == facts.file_name;
        if is_skill_file && file.before.is_nothing() {
            return Err(denied(
                "nothing-to-undo",
                format!(
                    "change {} noted `{}` when it was first seen; what it said before is not known",
                    asked.change.id, facts.name
                ),
                Some(format!("`skilldb archive {}` puts it away", facts.name)),
            ));
        }
        match reverted_file(
            asked,
            file,
            (&folder.join(&file.path), Some((facts, folder))),
        )? {
            Some((before, after)) => {
                if is_skill_file && let (Some((_, old)), Some((_, new))) = (&before, &after) {
                    check_merged(file, facts, part, (old, new))?;
                }
                files.push((file.path.clone(), before, after));
            }
            None => draft
                .notes
                .push(format!("{} says already what it said before", file.path)),
        }
    }
    Ok(files)
}

/// A text that stood there once may come back whatever it says; what was merged has to be fit.
fn check_merged(
    file: &ChangedFile,
    facts: &SkillFacts,
    part: &ChangePart,
    (old, new): (&[u8], &[u8]),
) -> Result<()> {
    let hash = hash_of(new);
    if file.before.hash.as_deref() == Some(hash.as_str()) {
        return Ok(());
    }
    let (Ok(old), Ok(new)) = (std::str::from_utf8(old), std::str::from_utf8(new)) else {
        return Ok(());
    };
    let folder = part
        .from
        .as_deref()
        .and_then(|from| from.rsplit('/').next());
    gate::frontmatter(new, folder.unwrap_or_else(|| folder_name(facts)), Some(old))
}

/// What a file says now and what it shall say; `None` when it says that already.
///
/// # Errors
/// [`Error::Clash`], [`Error::NotKept`], [`Error::Io`].
pub(super) fn reverted_file(
    asked: &Undoing<'_>,
    file: &ChangedFile,
    (path, skill): (&Path, Option<(&SkillFacts, &Path)>),
) -> Result<Option<(Side, Side)>> {
    let current = match skill {
        Some((_, folder)) => read_entry(folder, &file.path)?,
        None => read_outside(path)?,
    };
    let later = match skill {
        Some((facts, _)) => asked
            .store
            .later_changes(facts.id, &file.path, asked.change.id)?,
        None => Vec::new(),
    };
    let wanted = Wanted {
        expected: &file.after,
        target: &file.before,
        path,
        change: asked.change.id,
        later,
    };
    merged(asked.store, &wanted, current)
}

/// What a file has to become.
pub(super) struct Wanted<'a> {
    /// What should stand there if nobody touched it.
    pub(super) expected: &'a Held,
    /// What shall stand there.
    pub(super) target: &'a Held,
    pub(super) path: &'a Path,
    /// The change that is taken back, for what is told.
    pub(super) change: i64,
    /// The changes that touched the file since.
    pub(super) later: Vec<i64>,
}

/// What a file says now and what it shall say: what was wanted where nobody touched it, both where others changed
/// other lines; `None` when it says that already.
///
/// # Errors
/// [`Error::Clash`] where both changed the same lines; [`Error::NotKept`].
pub(super) fn merged(
    store: &Store,
    wanted: &Wanted<'_>,
    current: Side,
) -> Result<Option<(Side, Side)>> {
    let found = current.as_ref().map(|(content, _)| content);
    let mode = found.and_then(Content::mode);
    let (expected, target) = (wanted.expected, wanted.target);
    if is(target, found) {
        let is_other_mode = target.mode != expected.mode && mode == expected.mode;
        let after = match (found, target.mode, &current) {
            (Some(Content::File { hash, .. }), Some(mode), Some((_, bytes))) if is_other_mode => {
                let content = Content::File {
                    hash: hash.clone(),
                    mode,
                };
                Some((content, bytes.clone()))
            }
            _ => return Ok(None),
        };
        return Ok(Some((current, after)));
    }
    if is(expected, found) {
        let after = held(store, target, mode)?;
        return Ok(Some((current, after)));
    }
    let clash = |clashes| Error::Clash {
        path: wanted.path.to_path_buf(),
        change: wanted.change,
        later: wanted.later.clone(),
        clashes,
    };
    let base = held(store, expected, mode)?;
    let theirs = held(store, target, mode)?;
    let text = |side: &Side| match side {
        Some((Content::File { .. }, bytes)) => String::from_utf8(bytes.clone()).ok(),
        Some((Content::Link { .. }, _)) | None => None,
    };
    let (Some(base), Some(ours), Some(theirs)) = (text(&base), text(&current), text(&theirs))
    else {
        return Err(clash(Vec::new()));
    };
    match diff::merge(&base, &ours, &theirs) {
        Ok(merged) if merged == ours => Ok(None),
        Ok(merged) => {
            let bytes = merged.into_bytes();
            let content = Content::File {
                hash: hash_of(&bytes),
                mode: mode.unwrap_or(0o644),
            };
            Ok(Some((current, Some((content, bytes)))))
        }
        Err(clashes) => Err(clash(clashes)),
    }
}

/// What a file outside of skills says.
pub(super) fn read_outside(path: &Path) -> Result<Side> {
    let (Some(folder), Some(name)) = (
        path.parent(),
        path.file_name().and_then(|name| name.to_str()),
    ) else {
        return Ok(None);
    };
    read_entry(folder, name)
}

/// Whether what is found is what was held.
pub(super) fn is(held: &Held, found: Option<&Content>) -> bool {
    match found {
        None => held.is_nothing(),
        Some(Content::File { hash, .. }) => held.hash.as_deref() == Some(hash),
        Some(Content::Link { target }) => {
            held.link.as_deref() == Some(target) && held.hash.is_none()
        }
    }
}

/// The permissions of a file of which nobody knows them any more.
fn usual_mode(bytes: &[u8]) -> u32 {
    if bytes.starts_with(b"#!") {
        0o755
    } else {
        0o644
    }
}

/// What was held, with its bytes. Where the history knows no permissions those of today count.
pub(super) fn held(store: &Store, held: &Held, mode: Option<u32>) -> Result<Side> {
    if let Some(hash) = &held.hash {
        let bytes = store
            .bytes(hash)?
            .ok_or_else(|| Error::NotKept { hash: hash.clone() })?;
        let content = Content::File {
            hash: hash.clone(),
            mode: held.mode.or(mode).unwrap_or_else(|| usual_mode(&bytes)),
        };
        return Ok(Some((content, bytes)));
    }
    Ok(held
        .link
        .clone()
        .map(|target| (Content::Link { target }, Vec::new())))
}
