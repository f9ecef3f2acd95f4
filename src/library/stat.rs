//! What the file system says about a file without opening it, and when that can be trusted.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;

/// The facts that tell a changed file from an unchanged one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Stat {
    /// Bytes.
    pub size: u64,
    /// Time of the last write, nanoseconds since 1970. Anybody can set it to any value.
    pub mtime_ns: i64,
    /// Time of the last change of content or metadata, nanoseconds since 1970. Nobody can set it,
    /// which is why an edit that puts size and mtime back is still seen.
    pub ctime_ns: i64,
    /// Number of the file within its file system: another one means it was replaced.
    pub inode: u64,
    /// Type and permission bits.
    pub mode: u32,
}

/// Ticks of the clock that stamps files: 10 ms at the slowest kernel setting, doubled for safety.
const TICK_NS: i64 = 20_000_000;
/// Some file systems stamp whole seconds or pairs of them.
const COARSE_TICK_NS: i64 = 2_000_000_000;

impl Stat {
    /// Returns whether the file may have been written again within the same clock tick after it was
    /// looked at, so that an equal stamp later proves nothing (git calls such a file racily clean).
    /// `looked_at_ns` is the system clock before the file was looked at.
    #[must_use]
    pub fn is_racy(&self, looked_at_ns: i64) -> bool {
        let newest = self.ctime_ns.max(self.mtime_ns);
        let tick = if self.ctime_ns % 1_000_000_000 == 0 {
            COARSE_TICK_NS
        } else {
            TICK_NS
        };
        newest.saturating_add(tick) >= looked_at_ns
    }

    /// Returns whether inode and times are the same: all that counts of a folder.
    #[must_use]
    pub fn has_stamps_of(&self, other: &Self) -> bool {
        self.inode == other.inode
            && self.mtime_ns == other.mtime_ns
            && self.ctime_ns == other.ctime_ns
    }

    /// Returns whether any of the executable bits is set.
    #[must_use]
    pub fn is_executable(&self) -> bool {
        self.mode & 0o111 != 0
    }

    /// Returns the permission bits alone.
    #[must_use]
    pub fn permissions(&self) -> u32 {
        self.mode & 0o7777
    }
}

impl From<&Metadata> for Stat {
    fn from(metadata: &Metadata) -> Self {
        Self {
            size: metadata.size(),
            mtime_ns: nanoseconds(metadata.mtime(), metadata.mtime_nsec()),
            ctime_ns: nanoseconds(metadata.ctime(), metadata.ctime_nsec()),
            inode: metadata.ino(),
            mode: metadata.mode(),
        }
    }
}

impl From<&rustix::fs::Stat> for Stat {
    #[expect(
        clippy::unnecessary_cast,
        clippy::useless_conversion,
        reason = "the types of these fields differ between systems"
    )]
    fn from(stat: &rustix::fs::Stat) -> Self {
        Self {
            size: u64::try_from(stat.st_size).unwrap_or(0),
            mtime_ns: nanoseconds(stat.st_mtime as i64, stat.st_mtime_nsec as i64),
            ctime_ns: nanoseconds(stat.st_ctime as i64, stat.st_ctime_nsec as i64),
            inode: u64::from(stat.st_ino),
            mode: u32::from(stat.st_mode),
        }
    }
}

fn nanoseconds(seconds: i64, nanos: i64) -> i64 {
    seconds.saturating_mul(1_000_000_000).saturating_add(nanos)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: i64 = 1_700_000_000_500_000_000;

    fn changed_at(ns: i64) -> Stat {
        Stat {
            mtime_ns: 5,
            ctime_ns: ns,
            ..Stat::default()
        }
    }

    #[test]
    fn a_file_changed_in_the_tick_of_the_look_is_racy() {
        assert!(changed_at(NOW - 1_000_000).is_racy(NOW));
        assert!(!changed_at(NOW - 30_000_001).is_racy(NOW));
    }

    #[test]
    fn whole_second_stamps_stay_racy_for_two_seconds() {
        assert!(changed_at(1_700_000_000_000_000_000).is_racy(NOW));
        assert!(!changed_at(1_699_999_998_000_000_000).is_racy(NOW));
    }

    #[test]
    fn a_stamp_from_the_future_is_racy() {
        assert!(changed_at(NOW + 10_000_000_000).is_racy(NOW));
    }
}
