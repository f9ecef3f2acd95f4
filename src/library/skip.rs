//! The one list of folder and file names the walk never enters or mirrors.

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
pub(super) const ARCHIVE: &str = ".archive";

/// Returns whether a relative path lies in an archive.
#[must_use]
pub fn is_in_archive(rel_path: &str) -> bool {
    rel_path.split('/').any(|part| part == ARCHIVE)
}

/// Returns whether the walk leaves this folder out.
pub(super) fn is_skipped_folder(name: &str) -> bool {
    FOLDERS.contains(&name)
}

/// Returns whether this file is part of no skill.
pub(super) fn is_skipped_file(name: &str) -> bool {
    FILES.contains(&name)
}

/// Returns all folder names that are left out, for documentation and `doctor`.
#[must_use]
pub fn skipped_folders() -> &'static [&'static str] {
    FOLDERS
}
