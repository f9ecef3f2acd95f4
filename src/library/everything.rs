//! Everything below a folder, whatever it is: for snapshots of a whole library.

use std::fs::{self, FileType};
use std::io;
use std::path::Path;

use super::skip::{is_skipped_file, is_skipped_folder};
use super::write::ASIDE;

/// What lies below a folder.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Everything {
    /// Files and links: path relative to the folder, and the folder they lie in.
    pub files: Vec<String>,
    /// Folders with nothing in them.
    pub empty_folders: Vec<String>,
    /// What is neither, or has a name that is not UTF-8, or could not be read: path and why.
    pub left_out: Vec<(String, String)>,
}

/// Lists it, sorted by path. Links are not followed. What the walk for skills skips (version control, dependencies) is
/// left out beside skills and belongs to them inside.
///
/// # Errors
/// What the system says about the folder itself; below it, what cannot be read is told in the list.
pub fn everything(root: &Path) -> io::Result<Everything> {
    sorted(root, false)
}

/// The same of a skill's folder: everything in it belongs to it.
///
/// # Errors
/// As [`everything`].
pub fn everything_of_skill(folder: &Path) -> io::Result<Everything> {
    sorted(folder, true)
}

fn sorted(folder: &Path, in_skill: bool) -> io::Result<Everything> {
    let mut found = Everything::default();
    list(folder, "", in_skill, &mut found)?;
    found.files.sort();
    found.empty_folders.sort();
    found.left_out.sort();
    Ok(found)
}

/// Says whether anything was in the folder.
fn list(folder: &Path, prefix: &str, in_skill: bool, found: &mut Everything) -> io::Result<bool> {
    let mut has_any = false;
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let kind = entry.file_type()?;
        let Ok(name) = entry.file_name().into_string() else {
            let name = entry.file_name().to_string_lossy().into_owned();
            found.left_out.push((
                format!("{prefix}{name}"),
                "its name is not UTF-8".to_owned(),
            ));
            has_any = true;
            continue;
        };
        if name.starts_with(ASIDE) || (!in_skill && is_left_out(&name, kind)) {
            has_any = true;
            continue;
        }
        has_any = true;
        let path = format!("{prefix}{name}");
        if kind.is_dir() {
            let in_skill = in_skill || holds_skill(&entry.path());
            match list(&entry.path(), &format!("{path}/"), in_skill, found) {
                Ok(true) => {}
                Ok(false) => found.empty_folders.push(path),
                Err(error) => found.left_out.push((path, error.to_string())),
            }
        } else if kind.is_file() || kind.is_symlink() {
            found.files.push(path);
        } else {
            found
                .left_out
                .push((path, "neither a file nor a link".to_owned()));
        }
    }
    Ok(has_any)
}

/// Whether a folder is a skill, however its skill file is spelt.
fn holds_skill(folder: &Path) -> bool {
    let names = fs::read_dir(folder).into_iter().flatten().flatten();
    names
        .map(|entry| entry.file_name())
        .any(|name| name.eq_ignore_ascii_case("SKILL.md"))
}

fn is_left_out(name: &str, kind: FileType) -> bool {
    if kind.is_dir() {
        is_skipped_folder(name)
    } else {
        is_skipped_file(name)
    }
}
