//! Finds the history files of a client, and says how far each was read before.

use std::collections::HashSet;
use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use memchr::memmem;
use sha2::{Digest, Sha256};

use crate::error::{Error, Result};
use crate::time::Timestamp;

/// Folders below each other that are looked into.
const DEEPEST: usize = 12;
/// Bytes at both ends of what was read that make its fingerprint, and those of each sample between.
const SAMPLE: u64 = 4 * 1024;
const BETWEEN: u64 = 512;
const SAMPLES: u64 = 8;
/// Bytes at the end of a file in which its last time is looked for.
const TAIL: u64 = 64 * 1024;

/// One history file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct HistoryFile {
    pub(super) path: PathBuf,
    pub(super) size: u64,
    pub(super) mtime_ns: i64,
    pub(super) ctime_ns: i64,
}

impl HistoryFile {
    /// Asks the system about a file.
    ///
    /// # Errors
    /// What the system says, or `InvalidInput` for what is no regular file.
    pub(super) fn of(path: &Path) -> io::Result<Self> {
        let metadata = fs::metadata(path)?;
        if !metadata.is_file() {
            return Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                "not a regular file",
            ));
        }
        Ok(Self {
            path: path.to_path_buf(),
            size: metadata.len(),
            mtime_ns: metadata
                .mtime()
                .saturating_mul(1_000_000_000)
                .saturating_add(metadata.mtime_nsec()),
            ctime_ns: metadata
                .ctime()
                .saturating_mul(1_000_000_000)
                .saturating_add(metadata.ctime_nsec()),
        })
    }

    /// When it was last written.
    pub(super) fn written_at(&self) -> Timestamp {
        Timestamp::from_millis(self.mtime_ns / 1_000_000)
    }
}

/// Lists the files ending in `.jsonl` below `path`, or `path` itself when it is a file. What cannot be
/// looked into is handed to `closed`.
///
/// # Errors
/// [`Error::NoHistory`] when `path` is not there.
pub(super) fn list(
    path: &Path,
    is_wanted: &dyn Fn(&str) -> bool,
    closed: &mut dyn FnMut(&Path, &io::Error),
) -> Result<Vec<HistoryFile>> {
    let metadata = fs::metadata(path).map_err(|source| match source.kind() {
        io::ErrorKind::NotFound => Error::NoHistory {
            path: path.to_path_buf(),
        },
        _ => Error::io("read", path)(source),
    })?;
    let mut files = Vec::new();
    if metadata.is_file() {
        files.push(HistoryFile::of(path).map_err(Error::io("read", path))?);
    } else {
        let mut seen = HashSet::new();
        collect(path, DEEPEST, is_wanted, &mut files, &mut seen, closed);
    }
    Ok(files)
}

fn collect(
    folder: &Path,
    depth: usize,
    is_wanted: &dyn Fn(&str) -> bool,
    files: &mut Vec<HistoryFile>,
    seen: &mut HashSet<(u64, u64)>,
    closed: &mut dyn FnMut(&Path, &io::Error),
) {
    // A link may lead back up; each folder is looked into once.
    match fs::metadata(folder) {
        Ok(metadata) if !seen.insert((metadata.dev(), metadata.ino())) => return,
        Ok(_) => {}
        Err(error) => return closed(folder, &error),
    }
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) => return closed(folder, &error),
    };
    for entry in entries.flatten() {
        let path = entry.path();
        let Ok(metadata) = fs::metadata(&path) else {
            continue;
        };
        if metadata.is_dir() {
            if depth > 0 {
                collect(&path, depth - 1, is_wanted, files, seen, closed);
            }
        } else if metadata.is_file() && is_wanted(&entry.file_name().to_string_lossy()) {
            match HistoryFile::of(&path) {
                Ok(file) => files.push(file),
                Err(error) => closed(&path, &error),
            }
        }
    }
}

/// Returns when the last line with a time was written: of two files that share lines, the one that ends
/// first wrote them and the other is its continuation.
pub(super) fn last_time(file: &HistoryFile) -> Timestamp {
    let read = || -> io::Result<Vec<u8>> {
        let mut handle = File::open(&file.path)?;
        handle.seek(SeekFrom::Start(file.size.saturating_sub(TAIL)))?;
        let mut bytes = Vec::new();
        handle.take(TAIL).read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    let bytes = read().unwrap_or_default();
    let last = memmem::rfind_iter(&bytes, "\"timestamp\"")
        .find_map(|at| quoted(bytes.get(at + "\"timestamp\"".len()..)?));
    last.and_then(Timestamp::parse_lenient)
        .unwrap_or_else(|| file.written_at())
}

/// The text in quotes after a colon.
fn quoted(bytes: &[u8]) -> Option<&str> {
    let rest = bytes.trim_ascii_start().strip_prefix(b":")?;
    let rest = rest.trim_ascii_start().strip_prefix(b"\"")?;
    let end = rest.iter().position(|byte| *byte == b'"')?;
    std::str::from_utf8(rest.get(..end)?).ok()
}

/// Makes the fingerprint of the first `length` bytes: SHA-256 of their beginning, their end, and
/// samples between.
///
/// # Errors
/// What the system says.
pub(super) fn fingerprint(file: &mut File, length: u64) -> io::Result<String> {
    let mut hash = Sha256::new();
    let mut sample = |from: u64, count: u64| -> io::Result<()> {
        file.seek(SeekFrom::Start(from))?;
        let mut bytes = Vec::new();
        file.take(count).read_to_end(&mut bytes)?;
        hash.update(&bytes);
        Ok(())
    };
    sample(0, SAMPLE.min(length))?;
    for number in 1..=SAMPLES {
        let from = length / (SAMPLES + 1) * number;
        sample(from, BETWEEN.min(length - from))?;
    }
    sample(length.saturating_sub(SAMPLE), SAMPLE.min(length))?;
    let hex = hash
        .finalize()
        .iter()
        .fold(String::new(), |mut text, byte| {
            text.push(char::from_digit(u32::from(byte >> 4), 16).unwrap_or('0'));
            text.push(char::from_digit(u32::from(byte & 15), 16).unwrap_or('0'));
            text
        });
    Ok(hex)
}

/// A line without the byte order mark of a first one, without white space, and without the NULs that a
/// crash leaves where the system had no time to write.
pub(super) fn without_padding(line: &[u8]) -> &[u8] {
    let is_padding = |byte: &u8| byte.is_ascii_whitespace() || *byte == 0;
    let start = line.iter().position(|byte| !is_padding(byte));
    let end = line.iter().rposition(|byte| !is_padding(byte));
    let text = match (start, end) {
        (Some(start), Some(end)) => line.get(start..=end).unwrap_or_default(),
        _ => &[],
    };
    text.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(text)
}

/// Whether a file that begins like this is UTF-16.
pub(super) fn is_utf16(line: &[u8]) -> bool {
    line.starts_with(b"\xFF\xFE") || line.starts_with(b"\xFE\xFF")
}
