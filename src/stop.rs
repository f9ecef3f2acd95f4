//! Where a process can be stopped by a test, step by step, and what it promised to have flushed by then. Without the
//! feature `stop-points` nothing of it is compiled in.

#[cfg(feature = "stop-points")]
mod armed {
    use std::fs::File;
    use std::path::Path;
    use std::sync::atomic::{AtomicI64, Ordering};
    use std::sync::{Mutex, PoisonError};

    /// What survives a power failure from now on.
    #[derive(Debug)]
    pub enum Durable<'a> {
        /// The entries of a folder.
        Folder(&'a Path),
        /// The bytes of a file.
        File(&'a File, &'a [u8]),
        /// Everything that was committed to a database.
        Database(&'a Path),
    }

    /// Told of everything that was flushed.
    type Heed = Box<dyn FnMut(Durable<'_>) + Send>;

    static LEFT: AtomicI64 = AtomicI64::new(-1);
    static HEED: Mutex<Option<Heed>> = Mutex::new(None);

    /// Ends the process at the point with this number, from 1.
    pub fn arm(point: i64) {
        LEFT.store(point, Ordering::SeqCst);
    }

    /// Calls `heed` with everything that is flushed; `None` ends that.
    pub fn on_durable(heed: Option<Heed>) {
        *HEED.lock().unwrap_or_else(PoisonError::into_inner) = heed;
    }

    pub(crate) fn point() {
        if LEFT.load(Ordering::SeqCst) > 0 && LEFT.fetch_sub(1, Ordering::SeqCst) == 1 {
            let _ = rustix::process::kill_process(
                rustix::process::getpid(),
                rustix::process::Signal::KILL,
            );
        }
    }

    fn tell(durable: Durable<'_>) {
        if let Some(heed) = HEED.lock().unwrap_or_else(PoisonError::into_inner).as_mut() {
            heed(durable);
        }
        point();
    }

    pub(crate) fn database_is_durable(path: &Path) {
        tell(Durable::Database(path));
    }

    pub(crate) fn folder_is_durable(path: &Path) {
        tell(Durable::Folder(path));
    }

    pub(crate) fn file_is_durable(file: &File, bytes: &[u8]) {
        tell(Durable::File(file, bytes));
    }
}

#[cfg(feature = "stop-points")]
pub use armed::{Durable, arm, on_durable};
#[cfg(feature = "stop-points")]
pub(crate) use armed::{database_is_durable, file_is_durable, folder_is_durable, point};

#[cfg(not(feature = "stop-points"))]
pub(crate) fn point() {}

#[cfg(not(feature = "stop-points"))]
pub(crate) fn folder_is_durable(_path: &std::path::Path) {}

#[cfg(not(feature = "stop-points"))]
pub(crate) fn file_is_durable(_file: &std::fs::File, _bytes: &[u8]) {}

#[cfg(not(feature = "stop-points"))]
pub(crate) fn database_is_durable(_path: &std::path::Path) {}
