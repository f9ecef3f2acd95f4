//! Changes below a folder: written aside and flushed, put in place by one rename, seen to be what was
//! expected. Links are never followed on the way, so that nobody can lead a write elsewhere. Called only
//! by `manage`.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Component, Path, PathBuf};

use rustix::fs::{
    Access, AtFlags, CWD, Dir, FileType, Mode, OFlags, RenameFlags, accessat, fchmod, fstat,
    mkdirat, openat, readlinkat, renameat, renameat_with, statat, symlinkat, unlinkat,
};
use rustix::io::Errno;

use super::content::{Content, TreeEntry};
use crate::hash::hash_of;
use crate::stop;

/// Everything skilldb puts beside somebody's files while it writes begins like this; the walk skips it.
pub const ASIDE: &str = ".skilldb-";
/// The largest file that is moved, kept or put back, bytes: what the database can hold as one value.
pub const MAX_FILE_BYTES: u64 = 512 * 1024 * 1024;
const FOLDER: OFlags = OFlags::RDONLY
    .union(OFlags::DIRECTORY)
    .union(OFlags::NOFOLLOW)
    .union(OFlags::CLOEXEC)
    .union(OFlags::NONBLOCK);

/// An opened folder: what is done in it stays in it, wherever it is moved.
#[derive(Debug)]
pub struct Folder {
    fd: OwnedFd,
    path: PathBuf,
}

impl Folder {
    /// Opens a folder by its absolute path, in which no part may be a link.
    ///
    /// # Errors
    /// What the system says; `NotADirectory` where a link stands in the way.
    pub fn open(path: &Path) -> io::Result<Self> {
        Self::walk(path, false)
    }

    /// As [`Folder::open`], making what is missing.
    ///
    /// # Errors
    /// As [`Folder::open`].
    pub fn open_or_make(path: &Path) -> io::Result<Self> {
        Self::walk(path, true)
    }

    fn walk(path: &Path, make: bool) -> io::Result<Self> {
        let mut fd = openat(CWD, "/", FOLDER, Mode::empty())?;
        let mut walked = PathBuf::from("/");
        for part in path.components() {
            let name = match part {
                Component::RootDir | Component::CurDir => continue,
                Component::Normal(name) => name,
                Component::ParentDir | Component::Prefix(_) => {
                    return Err(io::Error::from(io::ErrorKind::InvalidInput));
                }
            };
            fd = match openat(&fd, name, FOLDER, Mode::empty()) {
                Err(Errno::NOENT) if make => {
                    match mkdirat(&fd, name, Mode::from_raw_mode(0o777)) {
                        Ok(()) => {
                            rustix::fs::fsync(&fd)?;
                            stop::folder_is_durable(&walked);
                        }
                        Err(Errno::EXIST) => {}
                        Err(error) => return Err(error.into()),
                    }
                    openat(&fd, name, FOLDER, Mode::empty())?
                }
                // What a link says differs between systems.
                Err(Errno::LOOP) => return Err(Errno::NOTDIR.into()),
                opened => opened?,
            };
            walked.push(name);
        }
        Ok(Self {
            fd,
            path: path.to_path_buf(),
        })
    }

    /// The path it was opened by.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Says what stands under a name; `None` for nothing.
    ///
    /// # Errors
    /// What the system says; `InvalidInput` for what is neither file nor link.
    pub fn look(&self, name: &str) -> io::Result<Option<Content>> {
        Ok(self.look_into(name)?.map(|(content, _)| content))
    }

    /// As [`Folder::look`], with the bytes of a file from the same reading; a link has none.
    ///
    /// # Errors
    /// As [`Folder::look`].
    pub fn look_into(&self, name: &str) -> io::Result<Option<(Content, Vec<u8>)>> {
        look(self.fd.as_fd(), name)
    }

    /// Writes something new under a name that is free, flushed to the disk.
    ///
    /// # Errors
    /// What the system says; the name is free again then.
    pub fn put(&self, name: &str, content: &Content, bytes: &[u8]) -> io::Result<()> {
        put(self.fd.as_fd(), name, content, bytes).inspect_err(|_| {
            let _ = unlinkat(&self.fd, name, AtFlags::empty());
        })
    }

    /// Writes a whole folder under a name that is free, flushed to the disk. `bytes_of` gives the bytes of
    /// a hash.
    ///
    /// # Errors
    /// What the system or `bytes_of` says; what was written so far is left.
    pub fn put_tree(
        &self,
        name: &str,
        entries: &[TreeEntry],
        bytes_of: &dyn Fn(&str) -> io::Result<Vec<u8>>,
    ) -> io::Result<()> {
        mkdirat(&self.fd, name, Mode::from_raw_mode(0o777))?;
        for entry in entries {
            let (parent, last) = match entry.path.rsplit_once('/') {
                Some((parent, last)) => (self.path.join(name).join(parent), last),
                None => (self.path.join(name), entry.path.as_str()),
            };
            match &entry.content {
                None => drop(Self::open_or_make(&parent.join(last))?),
                Some(content) => {
                    let bytes = match content.hash() {
                        Some(hash) => bytes_of(hash)?,
                        None => Vec::new(),
                    };
                    let folder = Self::open_or_make(&parent)?;
                    folder.put(last, content, &bytes)?;
                    folder.flush()?;
                }
            }
        }
        Self::open(&self.path.join(name))?.flush()
    }

    /// Gives what stands under `from` another name, which has to be free.
    ///
    /// # Errors
    /// `AlreadyExists` when it is not; what the system says.
    pub fn rename(&self, from: &str, other: &Self, to: &str) -> io::Result<()> {
        match renameat_with(&self.fd, from, &other.fd, to, RenameFlags::NOREPLACE) {
            Err(error) if is_unknown(error) => {}
            answer => return answer.map_err(io::Error::from),
        }
        // A file system without that promise: somebody would have to take the name just now.
        match statat(&other.fd, to, AtFlags::SYMLINK_NOFOLLOW) {
            Err(Errno::NOENT) => Ok(renameat(&self.fd, from, &other.fd, to)?),
            Ok(_) => Err(io::Error::from(io::ErrorKind::AlreadyExists)),
            Err(error) => Err(error.into()),
        }
    }

    /// Lets two names change places. `false` where the file system cannot.
    ///
    /// # Errors
    /// What the system says.
    pub fn exchange(&self, one: &str, other: &str) -> io::Result<bool> {
        match renameat_with(&self.fd, one, &self.fd, other, RenameFlags::EXCHANGE) {
            Ok(()) => Ok(true),
            Err(error) if is_unknown(error) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Gives what stands under `from` the name `to`, whatever stood there.
    ///
    /// # Errors
    /// What the system says.
    pub fn replace(&self, from: &str, to: &str) -> io::Result<()> {
        Ok(renameat(&self.fd, from, &self.fd, to)?)
    }

    /// Sets the permissions of a file.
    ///
    /// # Errors
    /// What the system says.
    pub fn set_mode(&self, name: &str, mode: u32) -> io::Result<()> {
        let file = openat(
            &self.fd,
            name,
            OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK,
            Mode::empty(),
        )?;
        fchmod(&file, Mode::from_raw_mode(raw(mode)))?;
        Ok(rustix::fs::fsync(&file)?)
    }

    /// Removes a file or link; nothing when it is not there.
    ///
    /// # Errors
    /// What the system says.
    pub fn remove(&self, name: &str) -> io::Result<()> {
        ignore_missing(unlinkat(&self.fd, name, AtFlags::empty()))
    }

    /// Removes a folder that has nothing in it; says whether it did.
    ///
    /// # Errors
    /// What the system says.
    pub fn remove_empty(&self, name: &str) -> io::Result<bool> {
        match unlinkat(&self.fd, name, AtFlags::REMOVEDIR) {
            Ok(()) => Ok(true),
            Err(Errno::NOTEMPTY | Errno::EXIST | Errno::NOENT | Errno::NOTDIR) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Says whether a folder could be removed with everything in it, as far as permissions tell.
    ///
    /// # Errors
    /// `PermissionDenied` and what else the system says.
    pub fn may_remove_tree(&self, name: &str) -> io::Result<()> {
        let fd = openat(&self.fd, name, FOLDER, Mode::empty())?;
        let children = names(fd.as_fd())?;
        if !children.is_empty() {
            let wanted = Access::WRITE_OK | Access::EXEC_OK;
            accessat(&fd, ".", wanted, AtFlags::EACCESS)?;
        }
        let inner = Self {
            fd,
            path: self.path.join(name),
        };
        for (child, kind) in children {
            if kind == FileType::Directory {
                inner.may_remove_tree(child.to_str().ok_or_else(not_utf8)?)?;
            }
        }
        Ok(())
    }

    /// Removes a folder with everything in it; nothing when it is not there.
    ///
    /// # Errors
    /// What the system says.
    pub fn remove_tree(&self, name: &str) -> io::Result<()> {
        let folder = match openat(&self.fd, name, FOLDER, Mode::empty()) {
            Ok(folder) => folder,
            Err(Errno::NOENT) => return Ok(()),
            Err(Errno::NOTDIR | Errno::LOOP) => return self.remove(name),
            Err(error) => return Err(error.into()),
        };
        let inner = Self {
            fd: folder,
            path: self.path.join(name),
        };
        for (child, kind) in names(inner.fd.as_fd())? {
            let child = child.to_str().ok_or_else(not_utf8)?;
            if kind == FileType::Directory {
                inner.remove_tree(child)?;
            } else {
                inner.remove(child)?;
            }
        }
        ignore_missing(unlinkat(&self.fd, name, AtFlags::REMOVEDIR))
    }

    /// Lists everything below a folder, by path.
    ///
    /// # Errors
    /// What the system says; `InvalidInput` for what is neither file, link nor folder, and for names that are
    /// not UTF-8.
    pub fn tree(&self, name: &str) -> io::Result<Vec<TreeEntry>> {
        let fd = openat(&self.fd, name, FOLDER, Mode::empty())?;
        let mut entries = Vec::new();
        list(fd.as_fd(), "", &mut entries, &mut |_, _| Ok(()))?;
        entries.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(entries)
    }

    /// As [`Folder::tree`], handing over the bytes of every file by its hash.
    ///
    /// # Errors
    /// As [`Folder::tree`], and what `take` returns.
    pub fn tree_with(
        &self,
        name: &str,
        take: &mut dyn FnMut(&str, Vec<u8>) -> io::Result<()>,
    ) -> io::Result<Vec<TreeEntry>> {
        let fd = openat(&self.fd, name, FOLDER, Mode::empty())?;
        let mut entries = Vec::new();
        list(fd.as_fd(), "", &mut entries, take)?;
        entries.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(entries)
    }

    /// Device and number of what stands under a name: the same after it was moved.
    ///
    /// # Errors
    /// What the system says.
    pub fn identity(&self, name: &str) -> io::Result<Option<(u64, u64)>> {
        match statat(&self.fd, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => Ok(Some(identity_of(&stat))),
            Err(Errno::NOENT) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Flushes the folder's own entries to the disk.
    ///
    /// # Errors
    /// What the system says.
    pub fn flush(&self) -> io::Result<()> {
        rustix::fs::fsync(&self.fd)?;
        stop::folder_is_durable(&self.path);
        Ok(())
    }
}

#[expect(
    clippy::unnecessary_cast,
    reason = "the types of these fields differ between systems"
)]
fn identity_of(stat: &rustix::fs::Stat) -> (u64, u64) {
    (stat.st_dev as u64, stat.st_ino as u64)
}

#[cfg(target_os = "macos")]
fn raw(mode: u32) -> rustix::fs::RawMode {
    u16::try_from(mode & 0o7777).unwrap_or(0o600)
}

#[cfg(not(target_os = "macos"))]
fn raw(mode: u32) -> rustix::fs::RawMode {
    mode & 0o7777
}

/// Whether the file system, or the system, knows no rename with such a promise.
fn is_unknown(error: Errno) -> bool {
    matches!(error, Errno::INVAL | Errno::NOSYS | Errno::NOTSUP)
}

fn ignore_missing(answer: rustix::io::Result<()>) -> io::Result<()> {
    match answer {
        Ok(()) | Err(Errno::NOENT) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

fn not_utf8() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, "a name in it is not UTF-8")
}

fn look(folder: BorrowedFd<'_>, name: &str) -> io::Result<Option<(Content, Vec<u8>)>> {
    let stat = match statat(folder, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(stat) => stat,
        Err(Errno::NOENT | Errno::NOTDIR) => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => read(folder, name).map(|(bytes, content)| Some((content, bytes))),
        FileType::Symlink => Ok(Some((link(folder, name)?, Vec::new()))),
        _ => Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "neither a file nor a link",
        )),
    }
}

fn link(folder: BorrowedFd<'_>, name: &str) -> io::Result<Content> {
    let target = readlinkat(folder, name, Vec::new())?;
    let target = target.into_string().map_err(|_| not_utf8())?;
    Ok(Content::Link { target })
}

fn read(folder: BorrowedFd<'_>, name: &str) -> io::Result<(Vec<u8>, Content)> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = File::from(openat(folder, name, flags, Mode::empty())?);
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "no regular file",
        ));
    }
    let mode = super::Stat::from(&metadata).permissions();
    let mut bytes = Vec::with_capacity(usize::try_from(metadata.len()).unwrap_or(0));
    file.take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX_FILE_BYTES {
        return Err(io::Error::from(io::ErrorKind::FileTooLarge));
    }
    let hash = hash_of(&bytes);
    Ok((bytes, Content::File { hash, mode }))
}

fn put(folder: BorrowedFd<'_>, name: &str, content: &Content, bytes: &[u8]) -> io::Result<()> {
    match content {
        Content::Link { target } => Ok(symlinkat(target.as_str(), folder, name)?),
        Content::File { mode, .. } => {
            let flags =
                OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            let fd = openat(folder, name, flags, Mode::from_raw_mode(0o600))?;
            let mut file = File::from(fd);
            file.write_all(bytes)?;
            fchmod(&file, Mode::from_raw_mode(raw(*mode)))?;
            file.sync_all()?;
            stop::file_is_durable(&file, bytes);
            Ok(())
        }
    }
}

fn names(folder: BorrowedFd<'_>) -> io::Result<Vec<(OsString, FileType)>> {
    let mut found = Vec::new();
    for entry in Dir::read_from(folder)? {
        let entry = entry?;
        let name = entry.file_name().to_bytes();
        if name == b"." || name == b".." {
            continue;
        }
        let kind = match entry.file_type() {
            FileType::Unknown => {
                let stat = statat(folder, entry.file_name(), AtFlags::SYMLINK_NOFOLLOW)?;
                FileType::from_raw_mode(stat.st_mode)
            }
            kind => kind,
        };
        found.push((
            std::os::unix::ffi::OsStringExt::from_vec(name.to_vec()),
            kind,
        ));
    }
    Ok(found)
}

fn list(
    folder: BorrowedFd<'_>,
    prefix: &str,
    entries: &mut Vec<TreeEntry>,
    take: &mut dyn FnMut(&str, Vec<u8>) -> io::Result<()>,
) -> io::Result<()> {
    let found = names(folder)?;
    if found.is_empty() && !prefix.is_empty() {
        entries.push(TreeEntry {
            path: prefix.trim_end_matches('/').to_owned(),
            content: None,
        });
    }
    for (name, kind) in found {
        let name = name.to_str().ok_or_else(not_utf8)?;
        let path = format!("{prefix}{name}");
        let content = match kind {
            FileType::Directory => {
                let inner = openat(folder, name, FOLDER, Mode::empty())?;
                list(inner.as_fd(), &format!("{path}/"), entries, take)?;
                continue;
            }
            FileType::RegularFile => {
                let (bytes, content) = read(folder, name)?;
                take(content.hash().unwrap_or_default(), bytes)?;
                content
            }
            FileType::Symlink => link(folder, name)?,
            _ => {
                return Err(io::Error::new(
                    io::ErrorKind::InvalidInput,
                    format!("`{path}` is neither a file nor a link nor a folder"),
                ));
            }
        };
        entries.push(TreeEntry {
            path,
            content: Some(content),
        });
    }
    Ok(())
}

/// Says whether a path is a folder reached without its last part being a link.
#[must_use]
pub fn is_real_folder(path: &Path) -> bool {
    std::fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_dir())
}

/// Whether two paths are one folder.
#[must_use]
pub fn is_same_folder(one: &Path, other: &Path) -> bool {
    let open = |path: &Path| openat(CWD, path, FOLDER, Mode::empty()).and_then(|fd| fstat(&fd));
    matches!((open(one), open(other)), (Ok(a), Ok(b)) if identity_of(&a) == identity_of(&b))
}
