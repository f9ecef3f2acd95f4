//! Collects what a skill is made of, as it lies on disk: each file, link and what else is there. Nothing is left out;
//! what cannot be read is told.

use std::fs::Metadata;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::error::{Error, Result};
use crate::hash;
use crate::library::files::read_into;

/// Largest file that is looked into, in bytes. Whatever is larger is a finding.
pub const MAX_FILE: u64 = 4 * 1024 * 1024;
/// Most bytes of one skill that are looked into.
pub const MAX_TOTAL: u64 = 32 * 1024 * 1024;
/// Most bytes of small files, and the largest of them, that are looked into although large ones took all room.
const MAX_SMALL: u64 = 8 * 1024 * 1024;
const MAX_SMALL_FILE: u64 = 256 * 1024;
/// Most entries of one skill.
pub const MAX_ENTRIES: usize = 5_000;
/// Deepest folder.
const MAX_DEPTH: usize = 24;

/// What an entry holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Content {
    /// The bytes of a file.
    Bytes(Vec<u8>),
    /// Where a link leads.
    Link(PathBuf),
    /// A file of so many bytes, too large to be looked into.
    Large(u64),
    /// It could not be read.
    Unreadable(String),
    /// A pipe, a socket, a device.
    Special,
}

/// One entry of a skill.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Path relative to the skill.
    pub path: String,
    /// What it holds.
    pub content: Content,
    /// Whether it may be run.
    pub is_executable: bool,
}

/// All of a skill.
#[derive(Debug, Clone, Default)]
pub struct Bundle {
    /// What the skill is called: the words of its name are its topic.
    pub name: String,
    /// All entries, by path.
    pub entries: Vec<Entry>,
    /// Not all entries were read: there are too many, or they lie too deep.
    pub is_cut: bool,
}

/// A file that was written aside and waits to be put in place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Staged {
    /// Path relative to the skill.
    pub path: String,
    /// Where its bytes lie now; `None` for a file that goes.
    pub on_disk: Option<PathBuf>,
}

impl Bundle {
    /// Reads a folder, or a single file. Folders of version control and what lies in them are not part of a skill.
    ///
    /// # Errors
    /// [`Error::Io`] when the folder itself cannot be read; anything in it that cannot is told as an entry.
    pub fn read(folder: &Path) -> Result<Self> {
        let name = folder
            .file_name()
            .map_or_else(String::new, |name| name.to_string_lossy().into_owned());
        let mut bundle = Self {
            name,
            ..Self::default()
        };
        if folder.is_file() {
            let path = bundle.name.clone();
            bundle
                .entries
                .push(entry(folder, path, &mut MAX_TOTAL.clone()));
            return Ok(bundle);
        }
        let mut left = MAX_TOTAL;
        bundle
            .walk(folder, "", 0, &mut left)
            .map_err(Error::io("read", folder))?;
        bundle.read_small(folder);
        bundle
            .entries
            .sort_by(|one, other| one.path.cmp(&other.path));
        Ok(bundle)
    }

    fn walk(
        &mut self,
        folder: &Path,
        prefix: &str,
        depth: usize,
        left: &mut u64,
    ) -> io::Result<()> {
        let mut names: Vec<_> = std::fs::read_dir(folder)?.collect::<io::Result<Vec<_>>>()?;
        names.sort_by_key(std::fs::DirEntry::file_name);
        for found in names {
            if self.entries.len() >= MAX_ENTRIES {
                self.is_cut = true;
                return Ok(());
            }
            let name = found.file_name().to_string_lossy().into_owned();
            let path = if prefix.is_empty() {
                name.clone()
            } else {
                format!("{prefix}/{name}")
            };
            let kind = found.file_type()?;
            if !kind.is_dir() {
                self.entries.push(entry(&found.path(), path, left));
            } else if name == ".git" && prefix.is_empty() {
                // The store of a clone; its hooks would run, the rest would not.
                self.hooks(&found.path());
            } else if depth >= MAX_DEPTH {
                self.is_cut = true;
            } else if let Err(error) = self.walk(&found.path(), &path, depth + 1, left) {
                self.entries.push(unreadable(path, &error));
            }
        }
        Ok(())
    }

    /// Large files must not take the room of small ones: those are what is obeyed and run.
    fn read_small(&mut self, folder: &Path) {
        let mut left = MAX_SMALL;
        for known in &mut self.entries {
            if matches!(known.content, Content::Large(size) if size <= MAX_SMALL_FILE) {
                *known = entry(&folder.join(&known.path), known.path.clone(), &mut left);
            }
        }
    }

    /// Hooks of a clone, samples apart.
    fn hooks(&mut self, git: &Path) {
        let Ok(hooks) = std::fs::read_dir(git.join("hooks")) else {
            return;
        };
        for hook in hooks.flatten().take(64) {
            let name = hook.file_name().to_string_lossy().into_owned();
            if !name.ends_with(".sample") {
                self.entries.push(entry(
                    &hook.path(),
                    format!(".git/hooks/{name}"),
                    &mut MAX_FILE.clone(),
                ));
            }
        }
    }

    /// The same skill without some of its entries.
    #[must_use]
    pub fn without(mut self, is_left_out: impl Fn(&str) -> bool) -> Self {
        self.entries.retain(|entry| !is_left_out(&entry.path));
        self
    }

    /// The same skill with staged files in their places.
    #[must_use]
    pub fn with(&self, staged: &[Staged]) -> Self {
        let mut entries: Vec<Entry> = self
            .entries
            .iter()
            .filter(|entry| !staged.iter().any(|file| file.path == entry.path))
            .cloned()
            .collect();
        let mut left = MAX_TOTAL;
        for file in staged {
            if let Some(on_disk) = &file.on_disk {
                entries.push(entry(on_disk, file.path.clone(), &mut left));
            }
        }
        entries.sort_by(|one, other| one.path.cmp(&other.path));
        Self {
            name: self.name.clone(),
            entries,
            is_cut: self.is_cut,
        }
    }

    /// SHA-256 over all that is looked at: paths, bytes, links, who may run what.
    #[must_use]
    pub fn hash(&self) -> String {
        let mut hash = Sha256::new();
        let mut field = |bytes: &[u8]| {
            hash.update((bytes.len() as u64).to_le_bytes());
            hash.update(bytes);
        };
        field(self.name.as_bytes());
        for entry in &self.entries {
            field(entry.path.as_bytes());
            field(&[u8::from(entry.is_executable), u8::from(self.is_cut)]);
            match &entry.content {
                Content::Bytes(bytes) => field(bytes),
                Content::Link(target) => field(format!("link\0{}", target.display()).as_bytes()),
                Content::Large(size) => field(format!("large\0{size}").as_bytes()),
                Content::Unreadable(_) => field(b"unreadable"),
                Content::Special => field(b"special"),
            }
        }
        hash::hex(&hash.finalize())
    }

    /// SHA-256 of one file, or of the archive a member lies in; empty for anything else.
    #[must_use]
    pub fn hash_of(&self, path: &str) -> String {
        let path = path.split("!/").next().unwrap_or(path);
        let found = self.entries.iter().find(|entry| entry.path == path);
        match found.map(|entry| &entry.content) {
            Some(Content::Bytes(bytes)) => hash::hash_of(bytes),
            _ => String::new(),
        }
    }

    /// The bytes that are looked into.
    #[must_use]
    pub fn size(&self) -> u64 {
        let sizes = self.entries.iter().map(|entry| match &entry.content {
            Content::Bytes(bytes) => bytes.len() as u64,
            Content::Large(size) => *size,
            _ => 0,
        });
        sizes.sum()
    }
}

fn entry(on_disk: &Path, path: String, left: &mut u64) -> Entry {
    let metadata = match std::fs::symlink_metadata(on_disk) {
        Ok(metadata) => metadata,
        Err(error) => return unreadable(path, &error),
    };
    let content = content(on_disk, &metadata, left);
    let is_executable = metadata.is_file() && metadata.permissions().mode() & 0o111 != 0;
    Entry {
        path,
        content,
        is_executable,
    }
}

fn content(on_disk: &Path, metadata: &Metadata, left: &mut u64) -> Content {
    if metadata.is_symlink() {
        return match std::fs::read_link(on_disk) {
            Ok(target) => Content::Link(target),
            Err(error) => Content::Unreadable(error.to_string()),
        };
    }
    if !metadata.is_file() {
        return Content::Special;
    }
    if metadata.len() > MAX_FILE.min(*left) {
        return Content::Large(metadata.len());
    }
    let mut bytes = Vec::new();
    match read_into(on_disk, MAX_FILE, &mut bytes) {
        Ok(()) => {
            *left = left.saturating_sub(bytes.len() as u64);
            Content::Bytes(bytes)
        }
        Err(error) if error.kind() == io::ErrorKind::FileTooLarge => Content::Large(metadata.len()),
        Err(error) => Content::Unreadable(error.to_string()),
    }
}

fn unreadable(path: String, error: &io::Error) -> Entry {
    Entry {
        path,
        content: Content::Unreadable(error.to_string()),
        is_executable: false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_is_an_entry() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("a")).unwrap();
        std::fs::File::create(dir.path().join("a/x.md")).unwrap();
        std::os::unix::fs::symlink("/etc/passwd", dir.path().join("link")).unwrap();
        let bundle = Bundle::read(dir.path()).unwrap();
        let paths: Vec<&str> = bundle
            .entries
            .iter()
            .map(|entry| entry.path.as_str())
            .collect();
        assert_eq!(paths, ["a/x.md", "link"]);
        assert_eq!(
            bundle.entries[1].content,
            Content::Link("/etc/passwd".into())
        );
    }

    #[test]
    fn the_hash_knows_paths_bytes_and_rights() {
        let of = |path: &str, bytes: &[u8], is_executable| {
            let content = Content::Bytes(bytes.to_vec());
            Bundle {
                entries: vec![Entry {
                    path: path.to_owned(),
                    content,
                    is_executable,
                }],
                ..Bundle::default()
            }
            .hash()
        };
        let one = of("a", b"b", false);
        assert_eq!(one, of("a", b"b", false));
        assert_ne!(one, of("ab", b"", false));
        assert_ne!(one, of("a", b"b", true));
    }
}
