//! Which skills lie below a folder.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

/// How deep folders are looked for skills.
const MAX_DEPTH: usize = 32;
/// Most skills that are taken from one folder.
const MAX_SKILLS: usize = 100_000;

/// What was found below a folder.
#[derive(Default)]
pub(super) struct Below {
    pub skills: Vec<PathBuf>,
    /// Folders that could not be looked into: path, and why.
    pub unreadable: Vec<(PathBuf, String)>,
    /// Folders that were looked into, links resolved: a link that leads back is followed once.
    seen: HashSet<PathBuf>,
}

/// The skills below a folder; the folder itself where there are none, or where it is one.
pub(super) fn skills_below(path: &Path) -> Below {
    let mut below = Below::default();
    below.gather(path, 0);
    if below.skills.is_empty() && below.unreadable.is_empty() {
        below.skills.push(path.to_path_buf());
    }
    below
}

impl Below {
    fn gather(&mut self, folder: &Path, depth: usize) {
        let real = folder
            .canonicalize()
            .unwrap_or_else(|_| folder.to_path_buf());
        if !self.seen.insert(real) {
            return;
        }
        let is_skill = ["SKILL.md", "skill.md"]
            .iter()
            .any(|name| folder.join(name).symlink_metadata().is_ok());
        if is_skill || folder.is_file() {
            self.skills.push(folder.to_path_buf());
            return;
        }
        if depth >= MAX_DEPTH || self.skills.len() >= MAX_SKILLS {
            let why = if depth >= MAX_DEPTH {
                format!("it lies more than {MAX_DEPTH} folders deep")
            } else {
                format!("more than {MAX_SKILLS} skills lie beside it")
            };
            self.unreadable.push((folder.to_path_buf(), why));
            return;
        }
        let entries = match std::fs::read_dir(folder) {
            Ok(entries) => entries,
            Err(error) => {
                self.unreadable
                    .push((folder.to_path_buf(), error.to_string()));
                return;
            }
        };
        let mut folders: Vec<PathBuf> = entries
            .flatten()
            .map(|entry| entry.path())
            .filter(|path| path.is_dir() && path.file_name().is_none_or(|name| name != ".git"))
            .collect();
        folders.sort();
        for inner in folders {
            self.gather(&inner, depth + 1);
        }
    }
}
