//! From paths to opened folders, and what the system says to what skilldb says.

use std::io;
use std::path::Path;

use crate::error::{Error, Result};
use crate::library::write::Folder;

/// Splits a path into its folder and its name.
pub(super) fn split(path: &Path) -> Result<(&Path, &str)> {
    match (
        path.parent(),
        path.file_name().and_then(|name| name.to_str()),
    ) {
        (Some(parent), Some(name)) => Ok((parent, name)),
        _ => Err(Error::Usage {
            message: format!("{} is no path of plain text", path.display()),
            hint: None,
        }),
    }
}

pub(super) fn open_parent(path: &Path, make: bool) -> Result<Folder> {
    let (parent, _) = split(path)?;
    let opened = if make {
        Folder::open_or_make(parent)
    } else {
        Folder::open(parent)
    };
    opened.map_err(|error| link_in_the_way(error, parent))
}

pub(super) fn open_if_there(folder: &Path) -> Result<Option<Folder>> {
    match Folder::open(folder) {
        Ok(folder) => Ok(Some(folder)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(link_in_the_way(error, folder)),
    }
}

pub(super) fn identity(path: &Path) -> Result<Option<(u64, u64)>> {
    let (parent, name) = split(path)?;
    match open_if_there(parent)? {
        Some(folder) => folder.identity(name).map_err(Error::io("read", path)),
        None => Ok(None),
    }
}

pub(super) fn link_in_the_way(error: io::Error, folder: &Path) -> Error {
    match error.kind() {
        io::ErrorKind::NotADirectory => Error::Conflict {
            path: folder.to_path_buf(),
            message: "a link or a file stands on the way to it now".to_owned(),
        },
        _ => Error::io("open", folder)(error),
    }
}

pub(super) fn changed(path: &Path) -> Error {
    Error::Conflict {
        path: path.to_path_buf(),
        message: "it was changed by somebody else meanwhile".to_owned(),
    }
}

pub(super) fn taken_or(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Error {
    let path = path.to_path_buf();
    move |error| match error.kind() {
        io::ErrorKind::AlreadyExists => Error::Conflict {
            path,
            message: "something stands there meanwhile".to_owned(),
        },
        io::ErrorKind::CrossesDevices => Error::Conflict {
            path,
            message: "it lies on another file system".to_owned(),
        },
        _ => Error::io(action, path)(error),
    }
}

pub(super) fn gone_or(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Error {
    let path = path.to_path_buf();
    move |error| match error.kind() {
        io::ErrorKind::NotFound => changed(&path),
        _ => Error::io(action, path)(error),
    }
}
