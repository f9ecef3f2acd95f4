//! Does the steps of a change, and takes them back. Every byte is written aside and flushed first, put in place by
//! one rename, and what was displaced is looked at: if it is not what the step expected, it goes back.

use std::io;
use std::path::{Path, PathBuf};

use super::paths::{changed, gone_or, identity, open_if_there, open_parent, split, taken_or};
use super::step::{Stand, Step, stand_of};
use super::trees::{clear, is_same_tree, tidy_tree, tree_stand};
use crate::error::{Error, Result};
use crate::library::write::{ASIDE, Folder};
use crate::library::{Content, TreeEntry};
use crate::stop;

/// Gives the bytes of a hash.
pub(super) type BytesOf<'a> = &'a dyn Fn(&str) -> Result<Vec<u8>>;

/// Takes the bytes of what was displaced and has no place any more: the path it had, what it is, its bytes.
pub(super) type Keep<'a> = &'a mut dyn FnMut(&Path, &Content, Vec<u8>) -> Result<()>;

/// Does steps; `token` begins the names of what is written aside.
pub(super) struct Executor<'a> {
    pub(super) token: &'a str,
    pub(super) bytes_of: BytesOf<'a>,
}

impl Executor<'_> {
    fn aside(&self, number: usize) -> String {
        format!("{ASIDE}{}-{number}", self.token)
    }

    /// Says where a step is, by what stands under its path and by what lies aside.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub(super) fn stand(&self, number: usize, step: &Step) -> Result<Stand> {
        if let Step::Move { from, to, id, .. } = step {
            return Ok(
                match (identity(from)? == Some(*id), identity(to)? == Some(*id)) {
                    (_, true) => Stand::After,
                    (true, false) => Stand::Before,
                    (false, false) => Stand::Other,
                },
            );
        }
        let path = step.path();
        let (parent, name) = split(path)?;
        let Some(folder) = open_if_there(parent)? else {
            return Ok(match step {
                Step::File { before, after, .. } => stand_of(None, before.as_ref(), after.as_ref()),
                Step::Tree { after: None, .. } => Stand::After,
                Step::Tree { .. } | Step::Move { .. } => Stand::Before,
            });
        };
        let aside = self.aside(number);
        match step {
            Step::File { before, after, .. } => {
                let left = look(&folder, &aside, path)?.map(|(content, _)| content);
                let stand = match folder.look(name) {
                    Err(error) if error.kind() == io::ErrorKind::InvalidInput => Stand::Other,
                    found => {
                        let found = found.map_err(Error::io("read", path))?;
                        stand_of(found.as_ref(), before.as_ref(), after.as_ref())
                    }
                };
                // What stood there lies aside: it was displaced, whatever stands there since.
                let is_displaced = match (&left, before) {
                    (Some(left), Some(before)) => {
                        left.says_the_same(before)
                            && !after
                                .as_ref()
                                .is_some_and(|after| after.says_the_same(before))
                    }
                    _ => false,
                };
                Ok(match stand {
                    Stand::Other if is_displaced => Stand::After,
                    stand => stand,
                })
            }
            Step::Tree { before, after, .. } => tree_stand(
                &folder,
                (name, &aside),
                (before.as_deref(), after.as_deref()),
                path,
            ),
            Step::Move { .. } => Ok(Stand::Other),
        }
    }

    /// Writes aside what a step will put in place. The name is free afterwards when this fails.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub(super) fn stage(&self, number: usize, step: &Step) -> Result<()> {
        match step {
            Step::File {
                path,
                after: Some(content),
                ..
            } => {
                let folder = open_parent(path, true)?;
                let bytes = match content.hash() {
                    Some(hash) => (self.bytes_of)(hash)?,
                    None => Vec::new(),
                };
                let aside = self.aside(number);
                folder
                    .remove(&aside)
                    .map_err(Error::io("write beside", path))?;
                folder
                    .put(&aside, content, &bytes)
                    .map_err(Error::io("write", path))?;
                stop::point();
                Ok(())
            }
            Step::Tree {
                path,
                after: Some(entries),
                ..
            } => {
                let folder = open_parent(path, true)?;
                let aside = self.aside(number);
                folder
                    .remove_tree(&aside)
                    .map_err(Error::io("write beside", path))?;
                let bytes_of = |hash: &str| {
                    (self.bytes_of)(hash).map_err(|error| io::Error::other(error.to_string()))
                };
                folder
                    .put_tree(&aside, entries, &bytes_of)
                    .map_err(Error::io("write", path))?;
                stop::point();
                Ok(())
            }
            Step::File { .. } | Step::Tree { .. } | Step::Move { .. } => Ok(()),
        }
    }

    /// Where the bytes a step will put in place lie until then.
    pub(super) fn staged(&self, number: usize, step: &Step) -> Option<PathBuf> {
        let path = step.written()?;
        Some(path.with_file_name(self.aside(number)))
    }

    /// Puts in place what was written aside.
    ///
    /// # Errors
    /// [`Error::Conflict`] when something else stands there than the step expected: it is as it was then.
    /// [`Error::Io`].
    pub(super) fn publish(&self, number: usize, step: &Step) -> Result<()> {
        match step {
            Step::File {
                path,
                before,
                after,
                keep,
            } => self.publish_file(number, path, (before.as_ref(), after.as_ref()), keep),
            Step::Tree {
                path,
                before: Some(entries),
                keep,
                ..
            } => self.remove_tree(number, path, entries, keep),
            Step::Tree { path, .. } => {
                let (_, name) = split(path)?;
                let folder = open_parent(path, false)?;
                folder
                    .rename(&self.aside(number), &folder, name)
                    .map_err(taken_or("write", path))?;
                stop::point();
                folder.flush().map_err(Error::io("write", path))
            }
            Step::Move {
                from, to, keep, id, ..
            } => {
                let ((_, name), (_, new_name)) = (split(from)?, split(to)?);
                let there = open_parent(from, false)?;
                if there.identity(name).map_err(Error::io("read", from))? != Some(*id) {
                    return Err(changed(from));
                }
                let here = open_parent(to, true)?;
                there
                    .rename(name, &here, new_name)
                    .map_err(taken_or("move", to))?;
                stop::point();
                here.flush().map_err(Error::io("move", to))?;
                there.flush().map_err(Error::io("move", from))?;
                prune(from, keep);
                Ok(())
            }
        }
    }

    fn publish_file(
        &self,
        number: usize,
        path: &Path,
        (before, after): (Option<&Content>, Option<&Content>),
        keep: &Path,
    ) -> Result<()> {
        let (_, name) = split(path)?;
        let folder = open_parent(path, false)?;
        let aside = self.aside(number);
        let io = |error| Error::io("write", path)(error);
        match (before, after) {
            (None, None) => return Ok(()),
            (None, Some(_)) => {
                folder
                    .rename(&aside, &folder, name)
                    .map_err(taken_or("write", path))?;
            }
            (Some(expected), Some(_)) => {
                if folder
                    .exchange(&aside, name)
                    .map_err(gone_or("write", path))?
                {
                    stop::point();
                    let displaced = folder.look(&aside).map_err(io)?;
                    if !displaced.is_some_and(|found| found.says_the_same(expected)) {
                        folder.exchange(&aside, name).map_err(io)?;
                        folder.remove(&aside).map_err(io)?;
                        return Err(changed(path));
                    }
                    folder.remove(&aside).map_err(io)?;
                } else {
                    // No exchange here: looked at once more, as late as can be.
                    let found = folder.look(name).map_err(io)?;
                    if !found.is_some_and(|found| found.says_the_same(expected)) {
                        folder.remove(&aside).map_err(io)?;
                        return Err(changed(path));
                    }
                    folder.replace(&aside, name).map_err(io)?;
                }
            }
            (Some(expected), None) => {
                folder
                    .rename(name, &folder, &aside)
                    .map_err(gone_or("remove", path))?;
                stop::point();
                let displaced = folder.look(&aside).map_err(io)?;
                if !displaced.is_some_and(|found| found.says_the_same(expected)) {
                    folder.rename(&aside, &folder, name).map_err(io)?;
                    return Err(changed(path));
                }
                folder.remove(&aside).map_err(io)?;
            }
        }
        stop::point();
        folder.flush().map_err(io)?;
        if after.is_none() {
            prune(path, keep);
        }
        Ok(())
    }

    fn remove_tree(
        &self,
        number: usize,
        path: &Path,
        entries: &[TreeEntry],
        keep: &Path,
    ) -> Result<()> {
        let (_, name) = split(path)?;
        let folder = open_parent(path, false)?;
        let aside = self.aside(number);
        // Half a folder is worse than none: what cannot be removed is known before anything is.
        folder
            .may_remove_tree(name)
            .map_err(gone_or("remove", path))?;
        folder
            .rename(name, &folder, &aside)
            .map_err(gone_or("remove", path))?;
        stop::point();
        let found = folder.tree(&aside).map_err(Error::io("read", path));
        if !found.is_ok_and(|found| is_same_tree(&found, entries)) {
            folder
                .rename(&aside, &folder, name)
                .map_err(Error::io("put back", path))?;
            return Err(changed(path));
        }
        folder.flush().map_err(Error::io("remove", path))?;
        folder
            .remove_tree(&aside)
            .map_err(Error::io("remove", path))?;
        stop::point();
        folder.flush().map_err(Error::io("remove", path))?;
        prune(path, keep);
        Ok(())
    }

    /// Removes what a step left aside, if it was cut short. What was displaced there and is neither old nor new goes
    /// back to its place; where something else stands now, `keep` gets its bytes first. Says whether anything under
    /// the step's path changed.
    ///
    /// # Errors
    /// [`Error::Io`], and what `keep` returns.
    pub(super) fn tidy(&self, number: usize, step: &Step, keep: Keep<'_>) -> Result<bool> {
        let aside = self.aside(number);
        let path = step.path();
        let (parent, name) = split(path)?;
        let Some(folder) = open_if_there(parent)? else {
            return Ok(false);
        };
        if folder
            .identity(&aside)
            .map_err(Error::io("tidy up beside", path))?
            .is_none()
        {
            return Ok(false);
        }
        match step {
            Step::Move { .. } => Ok(false),
            Step::File { before, after, .. } => {
                self.tidy_file(&folder, (name, &aside), (before, after), (path, keep))
            }
            Step::Tree { after: Some(_), .. } => {
                clear(&folder, &aside, path)?;
                Ok(false)
            }
            Step::Tree { before, .. } => {
                let known = before.as_deref().unwrap_or_default();
                tidy_tree(&folder, (name, &aside), known, (path, keep))
            }
        }
    }

    fn tidy_file(
        &self,
        folder: &Folder,
        (name, aside): (&str, &str),
        (before, after): (&Option<Content>, &Option<Content>),
        (path, keep): (&Path, Keep<'_>),
    ) -> Result<bool> {
        let io = |error| Error::io("tidy up beside", path)(error);
        let Some((left, bytes)) = look(folder, aside, path)? else {
            return Ok(false);
        };
        let stands = look(folder, name, path)?.map(|(content, _)| content);
        let is = |wanted: &Option<Content>, found: &Content| {
            wanted
                .as_ref()
                .is_some_and(|wanted| wanted.says_the_same(found))
        };
        let is_ours =
            is(after, &left) || is(before, &left) || self.is_half_written(&left, &bytes, after)?;
        let is_changed = if is_ours {
            false
        } else if stands.is_none() {
            folder.rename(aside, folder, name).map_err(io)?;
            folder.flush().map_err(io)?;
            return Ok(true);
        } else if stands.as_ref().is_some_and(|stands| is(after, stands))
            && folder.exchange(aside, name).map_err(io)?
        {
            true
        } else {
            keep(path, &left, bytes)?;
            false
        };
        folder.remove(aside).map_err(io)?;
        folder.flush().map_err(io)?;
        Ok(is_changed)
    }

    /// Whether what lies aside is the beginning of what was to be written.
    fn is_half_written(
        &self,
        left: &Content,
        bytes: &[u8],
        after: &Option<Content>,
    ) -> Result<bool> {
        let (Content::File { .. }, Some(hash)) = (left, after.as_ref().and_then(Content::hash))
        else {
            return Ok(false);
        };
        Ok((self.bytes_of)(hash)?.starts_with(bytes))
    }

    /// Removes the folders that a step emptied, if that was cut short.
    pub(super) fn prune(step: &Step) {
        match step {
            Step::File {
                path,
                after: None,
                keep,
                ..
            }
            | Step::Tree {
                path,
                after: None,
                keep,
                ..
            } => prune(path, keep),
            Step::Move { from, keep, .. } => prune(from, keep),
            Step::File { .. } | Step::Tree { .. } => {}
        }
    }

    /// Removes folders that staging made and nothing was put into.
    pub(super) fn forget_made(made: &[PathBuf]) {
        for path in made.iter().rev() {
            if let (Ok((_, name)), Ok(folder)) = (split(path), open_parent(path, false)) {
                let _ = folder.remove_empty(name);
            }
        }
    }
}

/// The folders that doing a step would make, outermost first.
pub(super) fn missing_folders(step: &Step) -> Vec<PathBuf> {
    let target = match step {
        Step::Move { to, .. } => Some(to.as_path()),
        Step::File { .. } | Step::Tree { .. } => step.written(),
    };
    let Some(target) = target else {
        return Vec::new();
    };
    let mut missing: Vec<PathBuf> = target
        .ancestors()
        .skip(1)
        .take_while(|folder| folder.symlink_metadata().is_err())
        .map(Path::to_path_buf)
        .collect();
    missing.reverse();
    missing
}

/// Removes folders that have nothing in them any more, from where `path` was up to `keep`, which stays. An empty
/// folder that cannot be removed is no reason to fail.
fn prune(path: &Path, keep: &Path) {
    for folder in path.ancestors().skip(1) {
        if folder == keep || !folder.starts_with(keep) {
            break;
        }
        // Removed before something cut it short.
        if folder.symlink_metadata().is_err() {
            continue;
        }
        let removed = split(folder).and_then(|(_, name)| {
            let parent = open_parent(folder, false)?;
            let removed = parent
                .remove_empty(name)
                .map_err(Error::io("remove", folder))?;
            parent.flush().map_err(Error::io("remove", folder))?;
            Ok(removed)
        });
        if !removed.is_ok_and(|removed| removed) {
            break;
        }
    }
}

/// What stands under a name; something that is neither file nor link is told as a link that leads nowhere.
fn look(folder: &Folder, name: &str, path: &Path) -> Result<Option<(Content, Vec<u8>)>> {
    match folder.look_into(name) {
        Err(error) if error.kind() == io::ErrorKind::InvalidInput => {
            let target = String::new();
            Ok(Some((Content::Link { target }, Vec::new())))
        }
        found => found.map_err(Error::io("read", path)),
    }
}
