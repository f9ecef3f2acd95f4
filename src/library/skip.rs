//! The one list of folder and file names the walk never enters or mirrors.

use super::write::ASIDE;

/// Folders that hold no skills of the user: version control, dependency and cache folders, and the
/// private folders of clients. Every other dot folder is walked (`.system`, `.curated` are real
/// categories). [`ARCHIVE`] is not here: it is walked as a zone of its own.
const FOLDERS: &[&str] = &[
    ".git",
    ".github",
    ".hg",
    ".svn",
    ".hub",
    ".curator_backups",
    ".restore-backups",
    ".venv",
    "venv",
    "node_modules",
    "site-packages",
    "__pycache__",
    ".tox",
    ".nox",
    ".pytest_cache",
    ".mypy_cache",
    ".ruff_cache",
];

/// Files that file managers leave behind: part of no skill.
const FILES: &[&str] = &[".DS_Store", "Thumbs.db", "desktop.ini"];

/// The folder whose skills are archived: mirrored with that state, never live.
pub const ARCHIVE: &str = ".archive";

/// Returns whether a relative path lies in an archive.
#[must_use]
pub fn is_in_archive(rel_path: &str) -> bool {
    rel_path.split('/').any(|part| part == ARCHIVE)
}

/// Returns whether the walk leaves this folder out.
pub(super) fn is_skipped_folder(name: &str) -> bool {
    FOLDERS.contains(&name) || name.starts_with(ASIDE)
}

/// Returns whether this file is part of no skill.
pub(super) fn is_skipped_file(name: &str) -> bool {
    FILES.contains(&name) || name.starts_with(ASIDE)
}

/// Returns whether a folder of this name would never be looked into for skills, on any system.
#[must_use]
pub fn is_reserved_name(name: &str) -> bool {
    // On many systems one folder, whatever its case.
    let name = name.to_lowercase();
    is_skipped_folder(&name) || name == ARCHIVE || is_device(&name)
}

/// Names that stand for devices on Windows, with whatever comes after a dot.
fn is_device(name: &str) -> bool {
    let stem = name.split('.').next().unwrap_or(name);
    let numbered = |prefix: &str| {
        stem.strip_prefix(prefix).is_some_and(|rest| {
            rest.len() == 1 && rest.starts_with(|c: char| ('1'..='9').contains(&c))
        })
    };
    matches!(stem, "con" | "prn" | "aux" | "nul") || numbered("com") || numbered("lpt")
}

/// Returns all folder names that are left out, for documentation and `doctor`.
#[must_use]
pub fn skipped_folders() -> &'static [&'static str] {
    FOLDERS
}
