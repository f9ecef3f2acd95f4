//! The entries of one folder, sorted by what the walk does with them.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::finding::WalkCode;
use super::skip::{is_skipped_file, is_skipped_folder};
use super::stat::Stat;

/// The name the Agent Skills spec asks for.
pub(super) const SKILL_FILE: &str = "SKILL.md";

/// The entries of one folder, sorted by what the walk does with them.
#[derive(Default)]
pub(super) struct Listing {
    pub(super) folders: Vec<String>,
    pub(super) links: Vec<String>,
    pub(super) files: Vec<(String, Stat)>,
    /// Entries that cannot be what their names promise, with the reason.
    pub(super) unusable: Vec<(PathBuf, WalkCode, &'static str)>,
}

const NOT_UTF8: &str = "the name is not UTF-8, so it is left out; rename it";
const NO_FILE: &str = "this is no regular file, so it is no skill";

/// Lists a folder; skipped names are left out.
///
/// # Errors
/// What the system says.
pub(super) fn list(path: &Path) -> io::Result<Listing> {
    let mut listing = Listing::default();
    for entry in fs::read_dir(path)? {
        let entry = entry?;
        let kind = entry.file_type()?;
        let Ok(name) = entry.file_name().into_string() else {
            listing
                .unusable
                .push((entry.path(), WalkCode::NameNotUtf8, NOT_UTF8));
            continue;
        };
        let is_promise = name.eq_ignore_ascii_case(SKILL_FILE);
        if is_promise && !kind.is_file() && !kind.is_symlink() {
            listing
                .unusable
                .push((entry.path(), WalkCode::NotAFile, NO_FILE));
        } else if kind.is_dir() && !is_skipped_folder(&name) {
            listing.folders.push(name);
        } else if kind.is_symlink() && !is_skipped_folder(&name) {
            listing.links.push(name);
        } else if kind.is_file() && !is_skipped_file(&name) {
            match entry.metadata() {
                Ok(metadata) => listing.files.push((name, Stat::from(&metadata))),
                // Vanished while we looked.
                Err(error) if is_not_there(&error) => {}
                // A folder that may be listed and not entered: nothing is known of what lies in it.
                Err(error) => return Err(error),
            }
        }
    }
    listing.folders.sort_unstable();
    listing.links.sort_unstable();
    listing.files.sort_unstable_by(|a, b| a.0.cmp(&b.0));
    Ok(listing)
}

/// Says whether an error means that nothing is there.
#[must_use]
pub fn is_not_there(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
    )
}

/// Returns the folder a relative path lies in, `.` for the root.
pub(super) fn parent_of(rel_path: &str) -> &str {
    rel_path.rsplit_once('/').map_or(".", |(parent, _)| parent)
}

/// Returns the relative path of a name in a folder.
pub(super) fn child_of(rel_path: &str, name: &str) -> String {
    if rel_path == "." {
        name.to_owned()
    } else {
        format!("{rel_path}/{name}")
    }
}
