//! Where a process can be stopped by a test, step by step. Without the feature `stop-points` nothing of it is
//! compiled in.

#[cfg(feature = "stop-points")]
mod armed {
    use std::path::Path;
    use std::sync::atomic::{AtomicI64, Ordering};
    use std::sync::{Mutex, PoisonError};

    static LEFT: AtomicI64 = AtomicI64::new(-1);
    static DURABLE: Mutex<Option<Box<dyn FnMut(&Path) + Send>>> = Mutex::new(None);

    /// Ends the process at the point with this number, from 1.
    pub fn arm(point: i64) {
        LEFT.store(point, Ordering::SeqCst);
    }

    /// Calls `heed` with every folder whose entries were flushed.
    pub fn on_durable(heed: Box<dyn FnMut(&Path) + Send>) {
        *DURABLE.lock().unwrap_or_else(PoisonError::into_inner) = Some(heed);
    }

    pub(crate) fn point() {
        if LEFT.load(Ordering::SeqCst) > 0 && LEFT.fetch_sub(1, Ordering::SeqCst) == 1 {
            let _ = rustix::process::kill_process(
                rustix::process::getpid(),
                rustix::process::Signal::KILL,
            );
        }
    }

    pub(crate) fn database_is_durable(path: &Path) {
        folder_is_durable(path);
    }

    pub(crate) fn folder_is_durable(path: &Path) {
        if let Some(heed) = DURABLE
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .as_mut()
        {
            heed(path);
        }
        point();
    }
}

#[cfg(feature = "stop-points")]
pub use armed::{arm, on_durable};
#[cfg(feature = "stop-points")]
pub(crate) use armed::{database_is_durable, folder_is_durable, point};

#[cfg(not(feature = "stop-points"))]
pub(crate) fn point() {}

#[cfg(not(feature = "stop-points"))]
pub(crate) fn folder_is_durable(_path: &std::path::Path) {}

#[cfg(not(feature = "stop-points"))]
pub(crate) fn database_is_durable(_path: &std::path::Path) {}
