//! Does the steps of a change, and takes them back. Every byte is written aside and flushed first, put in place by
//! one rename, and what was displaced is looked at: if it is not what the step expected, it goes back.

use std::io;
use std::path::{Path, PathBuf};

use super::paths::{changed, gone_or, identity, open_if_there, open_parent, split, taken_or};
use super::step::{Stand, Step, stand_of};
use crate::error::{Error, Result};
use crate::library::write::{ASIDE, Folder};
use crate::library::{Content, TreeEntry};
use crate::stop;

/// Gives the bytes of a hash.
pub(super) type BytesOf<'a> = &'a dyn Fn(&str) -> Result<Vec<u8>>;

/// Does steps; `token` begins the names of what is written aside.
pub(super) struct Executor<'a> {
    pub(super) token: &'a str,
    pub(super) bytes_of: BytesOf<'a>,
}

impl Executor<'_> {
    fn aside(&self, number: usize) -> String {
        format!("{ASIDE}{}-{number}", self.token)
    }

    /// Says where a step is.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub(super) fn stand(&self, step: &Step) -> Result<Stand> {
        match step {
            Step::File {
                path,
                before,
                after,
                ..
            } => {
                let (parent, name) = split(path)?;
                let found = match open_if_there(parent)? {
                    Some(folder) => match folder.look(name) {
                        Err(error) if error.kind() == io::ErrorKind::InvalidInput => {
                            return Ok(Stand::Other);
                        }
                        found => found.map_err(Error::io("read", path))?,
                    },
                    None => None,
                };
                Ok(stand_of(found.as_ref(), before.as_ref(), after.as_ref()))
            }
            Step::Tree { path, after, .. } => {
                let is_there = identity(path)?.is_some();
                Ok(if is_there == after.is_some() {
                    Stand::After
                } else {
                    Stand::Before
                })
            }
            Step::Move { from, to, id, .. } => Ok(
                match (identity(from)? == Some(*id), identity(to)? == Some(*id)) {
                    (_, true) => Stand::After,
                    (true, false) => Stand::Before,
                    (false, false) => Stand::Other,
                },
            ),
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
        match step {
            Step::File {
                path,
                after: Some(_),
                ..
            }
            | Step::Tree {
                path,
                after: Some(_),
                ..
            } => Some(path.with_file_name(self.aside(number))),
            Step::File { .. } | Step::Tree { .. } | Step::Move { .. } => None,
        }
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
                prune(from, keep)
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
            prune(path, keep)?;
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
        prune(path, keep)
    }

    /// Removes what a step left aside, if it was cut short, and puts back what was displaced and is neither old
    /// nor new. Says whether there was such a thing.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub(super) fn tidy(&self, number: usize, step: &Step) -> Result<bool> {
        let aside = self.aside(number);
        let path = step.path();
        let (parent, name) = split(path)?;
        let Some(folder) = open_if_there(parent)? else {
            return Ok(false);
        };
        let io = |error| Error::io("tidy up beside", path)(error);
        match step {
            Step::Move { .. } => Ok(false),
            Step::File { before, after, .. } => {
                let Some(left) = folder.look(&aside).map_err(io)? else {
                    return Ok(false);
                };
                let is = |wanted: &Option<Content>| {
                    wanted
                        .as_ref()
                        .is_some_and(|wanted| wanted.says_the_same(&left))
                };
                let is_free = folder.identity(name).map_err(io)?.is_none();
                if is(after)
                    || is(before)
                    || self.is_half_written(&left, after.as_ref(), &folder, name)
                {
                    folder.remove(&aside).map_err(io)?;
                    folder.flush().map_err(io)?;
                    return Ok(false);
                }
                // Somebody's bytes, displaced by us: they go back to their place.
                if is_free {
                    folder.rename(&aside, &folder, name).map_err(io)?;
                } else if folder.exchange(&aside, name).map_err(io)? {
                    folder.remove(&aside).map_err(io)?;
                }
                folder.flush().map_err(io)?;
                Ok(true)
            }
            Step::Tree { after: Some(_), .. } => {
                folder.remove_tree(&aside).map_err(io)?;
                folder.flush().map_err(io)?;
                Ok(false)
            }
            Step::Tree { before, .. } => {
                if folder.identity(&aside).map_err(io)?.is_none() {
                    return Ok(false);
                }
                let known = before.as_deref().unwrap_or_default();
                let left = folder.tree(&aside).map_err(io)?;
                let is_known = |entry: &TreeEntry| entry.content.is_none() || known.contains(entry);
                if !left.iter().all(is_known) && folder.identity(name).map_err(io)?.is_none() {
                    folder.rename(&aside, &folder, name).map_err(io)?;
                    return Ok(true);
                }
                folder.remove_tree(&aside).map_err(io)?;
                folder.flush().map_err(io)?;
                Ok(false)
            }
        }
    }

    /// What lies aside before anything was displaced is ours, however much of it was written: then what stands
    /// under the name is still what stood there before.
    fn is_half_written(
        &self,
        left: &Content,
        after: Option<&Content>,
        folder: &Folder,
        name: &str,
    ) -> bool {
        let (Some(Content::File { hash, .. }), Content::File { .. }) = (after, left) else {
            return false;
        };
        // Had it been put in place, the new bytes would stand there.
        let stands = folder.look(name).ok().flatten();
        stands.is_none_or(|stands| stands.hash() != Some(hash))
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
        Step::File {
            path,
            after: Some(_),
            ..
        }
        | Step::Tree {
            path,
            after: Some(_),
            ..
        } => path,
        Step::Move { to, .. } => to,
        Step::File { .. } | Step::Tree { .. } => return Vec::new(),
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

/// Removes folders that have nothing in them any more, from where `path` was up to `keep`, which stays.
fn prune(path: &Path, keep: &Path) -> Result<()> {
    for folder in path.ancestors().skip(1) {
        if folder == keep || !folder.starts_with(keep) {
            break;
        }
        let (_, name) = split(folder)?;
        let parent = open_parent(folder, false)?;
        if !parent
            .remove_empty(name)
            .map_err(Error::io("remove", folder))?
        {
            break;
        }
        parent.flush().map_err(Error::io("remove", folder))?;
    }
    Ok(())
}

/// Whether a folder holds what it is expected to, permissions aside.
fn is_same_tree(found: &[TreeEntry], expected: &[TreeEntry]) -> bool {
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
