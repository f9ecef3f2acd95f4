//! Reads files of a skill: size limits, and paths that may not lead out of the skill's folder.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::path::{Component, Path, PathBuf};

use rustix::fs::{Mode, OFlags};

/// Largest file that is read as a skill file, in bytes. The largest seen in public libraries has
/// 84 kB; a file beyond this is no text that a model could be shown.
pub const MAX_SKILL_BYTES: u64 = 16 * 1024 * 1024;

/// Says whether a skill file may be read: a link in its place must lead to a Markdown file. Else a skill
/// from a stranger could make whoever reads it show any file it likes.
#[must_use]
pub fn leads_to_markdown(path: &Path) -> bool {
    !path.is_symlink()
        || path.canonicalize().is_ok_and(|target| {
            target
                .extension()
                .is_some_and(|extension| extension.eq_ignore_ascii_case("md"))
        })
}

/// Opens a regular file. Anything else is refused without waiting: opening a pipe would hang until
/// somebody writes into it.
///
/// # Errors
/// What the system says, or `InvalidInput` for what is no regular file.
pub fn open_regular(path: &Path) -> io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = File::from(rustix::fs::open(path, flags, Mode::empty())?);
    if file.metadata()?.is_file() {
        Ok(file)
    } else {
        Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "not a regular file",
        ))
    }
}

/// Opens a folder.
///
/// # Errors
/// What the system says; `NotADirectory` for anything else.
pub fn open_folder(path: &Path) -> io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    Ok(rustix::fs::open(path, flags, Mode::empty())?)
}

/// Reads a whole file into `buffer` (which is emptied first) unless it is larger than `limit` bytes.
///
/// # Errors
/// What the system says, or `FileTooLarge`.
pub fn read_into(path: &Path, limit: u64, buffer: &mut Vec<u8>) -> io::Result<()> {
    buffer.clear();
    let length = open_regular(path)?.take(limit + 1).read_to_end(buffer)?;
    if length as u64 > limit {
        return Err(io::Error::from(io::ErrorKind::FileTooLarge));
    }
    Ok(())
}

/// Writes a file in one step: whoever reads it sees the old bytes or the new ones, also after a crash.
/// It gets the permissions of `like`, where that is there.
///
/// # Errors
/// What the system says; the file is then as it was.
pub fn replace(path: &Path, bytes: &[u8], like: Option<&Path>) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(bytes)?;
    if let Some(metadata) = like.and_then(|like| std::fs::metadata(like).ok()) {
        file.as_file().set_permissions(metadata.permissions())?;
    }
    file.as_file().sync_all()?;
    file.persist(path).map_err(|error| error.error)?;
    File::open(folder)?.sync_all()
}

/// Where a path typed by somebody leads, seen from a skill's folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Contained {
    /// To this file below the folder, all links resolved.
    Inside(PathBuf),
    /// Out of the folder: an absolute path, `..`, or a link that leaves it.
    Outside,
    /// To nothing that exists.
    Missing,
}

/// Finds out where `file` leads from `folder`. The answer is only as good as the moment it is given:
/// open the returned path at once.
#[must_use]
pub fn contained(folder: &Path, file: &str) -> Contained {
    let path = Path::new(file);
    let is_plain = path
        .components()
        .all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
    if !is_plain || file.is_empty() {
        return Contained::Outside;
    }
    let (Ok(folder), Ok(target)) = (folder.canonicalize(), folder.join(path).canonicalize()) else {
        return Contained::Missing;
    };
    if target.starts_with(&folder) && target != folder {
        Contained::Inside(target)
    } else {
        Contained::Outside
    }
}

/// Says whether the caller may make, move and remove what is in a folder.
#[must_use]
pub fn may_change(folder: &Path) -> bool {
    use rustix::fs::{Access, access};
    access(folder, Access::WRITE_OK | Access::EXEC_OK).is_ok()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn only_files_below_the_folder_are_inside() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join("skill");
        std::fs::create_dir_all(folder.join("references")).unwrap();
        File::create(folder.join("references/a.md")).unwrap();
        File::create(home.path().join("secret")).unwrap();
        symlink(home.path().join("secret"), folder.join("link")).unwrap();

        assert!(matches!(
            contained(&folder, "references/a.md"),
            Contained::Inside(_)
        ));
        assert_eq!(
            contained(&folder, "references/../../secret"),
            Contained::Outside
        );
        assert_eq!(contained(&folder, "/etc/passwd"), Contained::Outside);
        assert_eq!(contained(&folder, "link"), Contained::Outside);
        assert_eq!(contained(&folder, "nothing"), Contained::Missing);
        assert_eq!(contained(&folder, ""), Contained::Outside);
    }

    #[test]
    fn a_file_over_the_limit_is_refused() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("big");
        std::io::Write::write_all(&mut File::create(&path).unwrap(), &[b'x'; 11]).unwrap();
        let mut buffer = Vec::new();
        assert_eq!(
            read_into(&path, 10, &mut buffer).unwrap_err().kind(),
            io::ErrorKind::FileTooLarge
        );
        assert!(read_into(&path, 11, &mut buffer).is_ok());
    }
}
