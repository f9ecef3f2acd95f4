//! Which links to folders the walk follows: each folder once, and none that contains the link.

use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::{Reach, Walker};
use crate::error::Result;
use crate::library::files::leads_to_markdown;
use crate::library::finding::WalkCode;
use crate::library::listing::parent_of;
use crate::library::skip::is_skipped_folder;

/// What a link in the place of a skill file leads to.
pub(super) enum LinkedFile {
    /// A regular file named like Markdown.
    Markdown,
    /// Another regular file.
    Other(PathBuf),
    /// Nothing, or no regular file.
    None,
}

/// Finds out what a link in the place of a skill file leads to.
pub(super) fn linked_file(link: &Path) -> LinkedFile {
    match link.canonicalize() {
        Ok(target) if !target.is_file() => LinkedFile::None,
        Ok(_) if leads_to_markdown(link) => LinkedFile::Markdown,
        Ok(target) => LinkedFile::Other(target),
        Err(_) => LinkedFile::None,
    }
}

impl Walker<'_> {
    /// Follows a link to a folder, unless it leads to a folder that contains it or to one that is
    /// listed anyway.
    pub(super) fn link(&mut self, rel_path: &str, archived: bool) -> Result<()> {
        let path = self.absolute(rel_path);
        let (Ok(target), Ok(metadata)) = (path.canonicalize(), fs::metadata(&path)) else {
            return Ok(());
        };
        let parent = path.parent().and_then(|parent| parent.canonicalize().ok());
        let is_loop = parent.unwrap_or_default().starts_with(&target);
        if is_loop || self.root.starts_with(&target) {
            let target = target.display();
            let message = format!("the link leads to {target}, which contains it; not followed");
            return self.find(parent_of(rel_path), path, WalkCode::LinkLoop, message);
        }
        let is_listed = target.strip_prefix(self.root).is_ok_and(|below| {
            let mut parts = below.components().map(|part| part.as_os_str().to_str());
            !parts.any(|part| part.is_some_and(is_skipped_folder))
        });
        if is_listed || self.followed.contains(&(metadata.dev(), metadata.ino())) {
            return self.repeated(rel_path);
        }
        if !target.starts_with(self.root) {
            let target = target.display();
            let message =
                format!("the link leaves the root for {target}; some clients do not follow it");
            self.find(rel_path, path, WalkCode::LinkLeavesRoot, message)?;
        }
        self.is_behind_link = true;
        self.folder(rel_path, archived, Reach::Deep)?;
        self.is_behind_link = false;
        Ok(())
    }

    /// Says whether a folder was walked already by way of another link. Links may lead to a folder and
    /// to one inside it, so every folder behind a link is remembered, not the links alone.
    pub(super) fn is_walked_again(&mut self, metadata: &Metadata) -> bool {
        self.is_behind_link && !self.followed.insert((metadata.dev(), metadata.ino()))
    }

    pub(super) fn repeated(&mut self, rel_path: &str) -> Result<()> {
        let path = self.absolute(rel_path);
        let target = path.canonicalize().unwrap_or_default();
        let message = format!(
            "the link leads to {}, which is listed already; not followed twice",
            target.display()
        );
        self.find(parent_of(rel_path), path, WalkCode::LinkRepeated, message)
    }
}
