//! The one lock of a library: held by whoever changes the mirror or skill files, from first to last
//! step. The system drops it when the process ends, however it ends.

use std::fs::{File, TryLockError};
use std::path::Path;
use std::time::Duration;

use crate::error::{Error, Result};

const FILE_NAME: &str = "skilldb.lock";
const PAUSE: Duration = Duration::from_millis(25);
/// How often the lock is tried before giving up: about a minute, longer than any sync measured.
const TRIES: u32 = 2_400;

/// The held lock; dropping it frees it.
#[derive(Debug)]
pub struct LibraryLock {
    _file: File,
}

impl LibraryLock {
    /// Takes the lock of the library at `home`, waiting for another holder; `on_wait` is called once
    /// when there is one.
    ///
    /// # Errors
    /// [`Error::Locked`] after a minute, [`Error::Io`] when the lock file cannot be made.
    pub fn take(home: &Path, on_wait: impl FnOnce()) -> Result<Self> {
        Self::try_for(home, TRIES, on_wait)
    }

    /// Takes the lock if nobody holds it.
    ///
    /// # Errors
    /// [`Error::Locked`] when somebody does, [`Error::Io`].
    pub fn try_take(home: &Path) -> Result<Self> {
        Self::try_for(home, 1, || {})
    }

    fn try_for(home: &Path, tries: u32, on_wait: impl FnOnce()) -> Result<Self> {
        std::fs::create_dir_all(home).map_err(Error::io("create the folder", home))?;
        let path = home.join(FILE_NAME);
        let file = File::options()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(&path)
            .map_err(Error::io("open the lock", &path))?;
        let mut on_wait = Some(on_wait);
        for _ in 0..tries {
            match file.try_lock() {
                Ok(()) => return Ok(Self { _file: file }),
                Err(TryLockError::WouldBlock) => {
                    if let Some(on_wait) = on_wait.take() {
                        on_wait();
                    }
                    std::thread::sleep(PAUSE);
                }
                Err(TryLockError::Error(error)) => return Err(Error::io("lock", path)(error)),
            }
        }
        Err(Error::Locked {
            home: home.to_path_buf(),
        })
    }
}

/// The lock of a run of the curator, which may go on while the library's own lock is free.
#[derive(Debug)]
pub struct RunLock {
    _file: File,
}

const RUN_FILE_NAME: &str = "curator.lock";

impl RunLock {
    /// Takes it; `None` when another run holds it. The system frees it when the process ends, however it ends.
    ///
    /// # Errors
    /// [`Error::Io`] when the lock file cannot be made.
    pub fn try_take(home: &Path) -> Result<Option<Self>> {
        let path = home.join(RUN_FILE_NAME);
        let file = File::options()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(&path)
            .map_err(Error::io("open the lock", &path))?;
        // Whoever only looks holds it for a moment.
        for _ in 0..4 {
            match file.try_lock() {
                Ok(()) => return Ok(Some(Self { _file: file })),
                Err(TryLockError::WouldBlock) => std::thread::sleep(PAUSE),
                Err(TryLockError::Error(error)) => return Err(Error::io("lock", path)(error)),
            }
        }
        Ok(None)
    }

    /// Says whether a run holds it. Makes no file.
    #[must_use]
    pub fn is_held(home: &Path) -> bool {
        let Ok(file) = File::open(home.join(RUN_FILE_NAME)) else {
            return false;
        };
        matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock))
    }
}
