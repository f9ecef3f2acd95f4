//! A walked folder with what `stat` said about everything in it: its packed form, and the probe that
//! asks whether any of it changed.

use std::collections::HashMap;
use std::ffi::CStr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::fs::{AtFlags, Mode, OFlags, fstat, openat, statat};
use rustix::io::Errno;

use super::stat::Stat;

/// What an entry of a unit is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntryKind {
    /// A regular file.
    File,
    /// A folder below a skill.
    Folder,
    /// A link that is mirrored as a link: its own facts count, not those of its target.
    Link,
    /// A file reached through a link whose target's facts count: a linked `SKILL.md`.
    Followed,
    /// A link whose target is not there: when it appears, something changed.
    Dangling,
}

/// One file or folder in a unit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// What it is.
    pub kind: EntryKind,
    /// Path relative to the unit's folder, `/` between parts.
    pub name: String,
    /// What `stat` said; all zero for [`EntryKind::Dangling`].
    pub stat: Stat,
}

/// A walked folder: a skill with everything below it, or a category folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unit {
    /// Path relative to the root, `.` for the root itself.
    pub rel_path: String,
    /// Whether it lies below an archive folder.
    pub archived: bool,
    /// What `stat` said about the folder.
    pub stat: Stat,
    /// Everything whose facts are compared by the probe, sorted by name.
    pub entries: Vec<Entry>,
    /// Index of the entry that is the skill file; `None` for a category folder.
    pub skill_file: Option<usize>,
}

/// What a probe found out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Probe {
    /// Every stamp is as it was.
    Unchanged,
    /// The stamps are equal, but of files written in the tick they were looked at in: only reading
    /// them can tell.
    Racy,
    /// Something in it changed.
    Changed,
    /// The folder is not there any more.
    Gone,
    /// The folder cannot be looked into (no permission): nothing is known about it.
    Unknown,
}

const FORMAT: u8 = 1;
const RACY: u8 = 0x80;

impl Unit {
    /// Returns the entry that is the skill file.
    #[must_use]
    pub fn skill_entry(&self) -> Option<&Entry> {
        self.entries.get(self.skill_file?)
    }

    /// Returns the last part of the path: the folder's name.
    #[must_use]
    pub fn folder(&self) -> &str {
        self.rel_path.rsplit('/').next().unwrap_or(&self.rel_path)
    }

    /// Packs the unit for [`probe`]. `looked_at_ns` is the system clock before the walk began;
    /// stamps too close to it are marked as racy.
    #[must_use]
    pub fn pack(&self, looked_at_ns: i64) -> Vec<u8> {
        let mut out = Vec::with_capacity(32 + self.entries.len() * 48);
        out.push(FORMAT);
        pack_stat(&mut out, &self.stat, 0, looked_at_ns);
        for entry in &self.entries {
            pack_stat(&mut out, &entry.stat, kind_code(entry.kind), looked_at_ns);
            pack_number(&mut out, entry.name.len() as u64);
            out.extend_from_slice(entry.name.as_bytes());
        }
        out
    }
}

fn kind_code(kind: EntryKind) -> u8 {
    match kind {
        EntryKind::File => 1,
        EntryKind::Folder => 2,
        EntryKind::Link => 3,
        EntryKind::Followed => 4,
        EntryKind::Dangling => 5,
    }
}

fn pack_stat(out: &mut Vec<u8>, stat: &Stat, code: u8, looked_at_ns: i64) {
    // A dangling link has no stamps, so nothing that could be racy.
    let racy = code != kind_code(EntryKind::Dangling) && stat.is_racy(looked_at_ns);
    out.push(code | if racy { RACY } else { 0 });
    pack_number(out, stat.size);
    out.extend_from_slice(&stat.mtime_ns.to_le_bytes());
    out.extend_from_slice(&stat.ctime_ns.to_le_bytes());
    pack_number(out, stat.inode);
    pack_number(out, u64::from(stat.mode));
}

fn pack_number(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push((number & 0x7f) as u8 | 0x80);
        number >>= 7;
    }
    out.push((number & 0x7f) as u8);
}

/// Returns whether two packed units say the same about the files, whatever they say about racy stamps.
#[must_use]
pub fn same_listing(a: &[u8], b: &[u8]) -> bool {
    let (mut a, mut b) = (Reader(a), Reader(b));
    if a.0.first() != b.0.first() || a.byte().is_none() || b.byte().is_none() {
        return false;
    }
    let (Some((first, _)), Some((second, _))) = (a.stat(), b.stat()) else {
        return false;
    };
    if first.0 != second.0 {
        return false;
    }
    loop {
        match (a.entry(), b.entry()) {
            (None, None) => return a.0.is_empty() && b.0.is_empty(),
            (Some(x), Some(y)) if x.code == y.code && x.name == y.name && x.stat == y.stat => {}
            _ => return false,
        }
    }
}

/// Returns the names of files that are in both packed units with the same size and mode but other
/// times or another inode: only reading them tells whether they changed.
#[must_use]
pub fn rewritten_files<'b>(a: &'b [u8], b: &'b [u8]) -> Vec<&'b str> {
    let files = |packed| {
        let mut reader = Reader(packed);
        let is_whole = reader.byte().is_some() && reader.stat().is_some();
        std::iter::from_fn(move || if is_whole { reader.entry() } else { None })
            .filter(|entry| entry.code == kind_code(EntryKind::File))
    };
    let before: HashMap<&str, Stat> = files(a).map(|entry| (entry.name, entry.stat)).collect();
    files(b)
        .filter(|entry| {
            before
                .get(entry.name)
                .is_some_and(|stat| !stat.has_stamps_of(&entry.stat))
        })
        .map(|entry| entry.name)
        .collect()
}

/// Asks the file system whether anything in a packed unit changed. `root` is the opened root folder,
/// `rel_path` the unit's path in it; `path` is a buffer that is reused from call to call.
/// Calls `on_racy` with the name of every file whose equal stamps prove nothing; a racy folder stamp
/// is reported as `.`.
pub fn probe(
    root: BorrowedFd<'_>,
    rel_path: &str,
    packed: &[u8],
    path: &mut Vec<u8>,
    mut on_racy: impl FnMut(&str),
) -> Probe {
    let mut reader = Reader(packed);
    if reader.byte() != Some(FORMAT) {
        return Probe::Changed;
    }
    let Some(((known, _), racy_folder)) = reader.stat() else {
        return Probe::Changed;
    };
    // Opened once, so that the way to the folder is not looked up again for each file in it.
    let folder = match open_folder(root, rel_path, path) {
        Ok(folder) => folder,
        Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => return Probe::Gone,
        Err(_) => return Probe::Unknown,
    };
    match fstat(&folder).map(|stat| Stat::from(&stat)) {
        Ok(found) if !found.has_stamps_of(&known) => return Probe::Changed,
        Ok(_) => {}
        Err(_) => return Probe::Unknown,
    }
    let mut outcome = Probe::Unchanged;
    if racy_folder {
        on_racy(".");
        outcome = Probe::Racy;
    }
    while let Some(entry) = reader.entry() {
        if !entry.is_unchanged(folder.as_fd(), path) {
            return Probe::Changed;
        }
        if entry.racy {
            on_racy(entry.name);
            outcome = Probe::Racy;
        }
    }
    if reader.0.is_empty() {
        outcome
    } else {
        Probe::Changed
    }
}

/// Opens a folder only to look things up in it, where the system knows that; links are followed.
fn open_folder(
    root: BorrowedFd<'_>,
    rel_path: &str,
    path: &mut Vec<u8>,
) -> rustix::io::Result<OwnedFd> {
    #[cfg(target_os = "linux")]
    let purpose = OFlags::PATH;
    #[cfg(not(target_os = "linux"))]
    let purpose = OFlags::RDONLY;
    let flags = purpose | OFlags::DIRECTORY | OFlags::CLOEXEC;
    openat(root, c_path(rel_path, path)?, flags, Mode::empty())
}

/// Returns `name` as the system wants it, in a buffer that is reused.
fn c_path<'b>(name: &str, buffer: &'b mut Vec<u8>) -> rustix::io::Result<&'b CStr> {
    buffer.clear();
    buffer.extend_from_slice(name.as_bytes());
    buffer.push(0);
    CStr::from_bytes_with_nul(buffer).map_err(|_| Errno::INVAL)
}

struct PackedEntry<'a> {
    code: u8,
    racy: bool,
    name: &'a str,
    stat: Stat,
}

impl PackedEntry<'_> {
    fn is_unchanged(&self, folder: BorrowedFd<'_>, path: &mut Vec<u8>) -> bool {
        let dangling = self.code == kind_code(EntryKind::Dangling);
        let follows = dangling || self.code == kind_code(EntryKind::Followed);
        let flags = if follows {
            AtFlags::empty()
        } else {
            AtFlags::SYMLINK_NOFOLLOW
        };
        let stat = c_path(self.name, path).and_then(|name| statat(folder, name, flags));
        match stat.map(|stat| Stat::from(&stat)) {
            // The size of a folder says nothing that its stamps do not.
            Ok(found) if self.code == kind_code(EntryKind::Folder) => {
                found.has_stamps_of(&self.stat) && found.mode == self.stat.mode
            }
            Ok(found) => !dangling && found == self.stat,
            Err(_) => dangling,
        }
    }
}

struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*first)
    }

    fn number(&mut self) -> Option<u64> {
        let mut number = 0u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Some(number);
            }
        }
        None
    }

    fn stamp(&mut self) -> Option<i64> {
        let (stamp, rest) = self.0.split_first_chunk::<8>()?;
        self.0 = rest;
        Some(i64::from_le_bytes(*stamp))
    }

    /// Returns ((stat, code), racy).
    fn stat(&mut self) -> Option<((Stat, u8), bool)> {
        let code = self.byte()?;
        let stat = Stat {
            size: self.number()?,
            mtime_ns: self.stamp()?,
            ctime_ns: self.stamp()?,
            inode: self.number()?,
            mode: u32::try_from(self.number()?).ok()?,
        };
        Some(((stat, code & !RACY), code & RACY != 0))
    }

    fn entry(&mut self) -> Option<PackedEntry<'a>> {
        let before = self.0;
        let entry = self.whole_entry();
        if entry.is_none() {
            // A damaged tail stays in place, so that the caller sees that not all was read.
            self.0 = before;
        }
        entry
    }

    fn whole_entry(&mut self) -> Option<PackedEntry<'a>> {
        let ((stat, code), racy) = self.stat()?;
        let length = usize::try_from(self.number()?).ok()?;
        let (name, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(PackedEntry {
            code,
            racy,
            name: std::str::from_utf8(name).ok()?,
            stat,
        })
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File};

    use super::*;

    fn unit_of(folder: &std::path::Path) -> Unit {
        let stat = |path: &std::path::Path| Stat::from(&fs::symlink_metadata(path).unwrap());
        let mut entries: Vec<Entry> = fs::read_dir(folder)
            .unwrap()
            .map(|entry| {
                let entry = entry.unwrap();
                let kind = if entry.file_type().unwrap().is_dir() {
                    EntryKind::Folder
                } else {
                    EntryKind::File
                };
                Entry {
                    kind,
                    name: entry.file_name().into_string().unwrap(),
                    stat: stat(&entry.path()),
                }
            })
            .collect();
        entries.sort_by(|a, b| a.name.cmp(&b.name));
        Unit {
            rel_path: "a".to_owned(),
            archived: false,
            stat: stat(folder),
            entries,
            skill_file: None,
        }
    }

    fn probe_of(root: &std::path::Path, packed: &[u8]) -> (Probe, Vec<String>) {
        let root = File::open(root).unwrap();
        let mut racy = Vec::new();
        let outcome = probe(root.as_fd(), "a", packed, &mut Vec::new(), |name| {
            racy.push(name.to_owned());
        });
        (outcome, racy)
    }

    fn a_folder() -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir(root.path().join("a")).unwrap();
        File::create(root.path().join("a/SKILL.md")).unwrap();
        root
    }

    const LATER: i64 = i64::MAX;

    #[test]
    fn an_untouched_folder_is_unchanged() {
        let root = a_folder();
        let packed = unit_of(&root.path().join("a")).pack(LATER);
        assert_eq!(probe_of(root.path(), &packed), (Probe::Unchanged, vec![]));
    }

    #[test]
    fn a_new_file_changes_the_folder() {
        let root = a_folder();
        let packed = unit_of(&root.path().join("a")).pack(LATER);
        File::create(root.path().join("a/new")).unwrap();
        assert_eq!(probe_of(root.path(), &packed).0, Probe::Changed);
    }

    #[test]
    fn a_removed_folder_is_gone() {
        let root = a_folder();
        let packed = unit_of(&root.path().join("a")).pack(LATER);
        fs::remove_dir_all(root.path().join("a")).unwrap();
        assert_eq!(probe_of(root.path(), &packed).0, Probe::Gone);
    }

    #[test]
    fn files_written_in_the_tick_of_the_look_are_named_as_racy() {
        let root = a_folder();
        let unit = unit_of(&root.path().join("a"));
        let packed = unit.pack(unit.stat.ctime_ns);
        assert_eq!(
            probe_of(root.path(), &packed),
            (Probe::Racy, vec![".".to_owned(), "SKILL.md".to_owned()])
        );
        assert!(same_listing(&packed, &unit.pack(LATER)));
    }

    #[test]
    fn a_damaged_listing_counts_as_changed() {
        let root = a_folder();
        let packed = unit_of(&root.path().join("a")).pack(LATER);
        for length in 0..packed.len() {
            let outcome = probe_of(root.path(), packed.get(..length).unwrap()).0;
            assert!(
                outcome == Probe::Changed
                    || length == 22 + 1
                    || outcome == Probe::Unchanged && length < packed.len()
            );
        }
        assert_eq!(probe_of(root.path(), &[]).0, Probe::Changed);
    }
}
