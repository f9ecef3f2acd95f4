//! A disk with little room, and what fills it.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A file system of its own with little room; unmounted when dropped.
pub(crate) struct SmallDisk(pub(crate) PathBuf);

impl SmallDisk {
    /// `None`, with the reason printed, where nothing can be mounted.
    pub(crate) fn mount(path: &Path, kilobytes: u32) -> Option<Self> {
        fs::create_dir_all(path).unwrap();
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o", &format!("size={kilobytes}k"), "tmpfs"])
            .arg(path)
            .output();
        match mounted {
            Ok(output) if output.status.success() => Some(Self(path.to_owned())),
            Ok(output) => skip(&String::from_utf8_lossy(&output.stderr)),
            Err(error) => skip(&error.to_string()),
        }
    }
}

fn skip(reason: &str) -> Option<SmallDisk> {
    let _ = writeln!(
        std::io::stderr(),
        "skipped: cannot mount a small disk: {}",
        reason.trim()
    );
    None
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.0).status();
    }
}
