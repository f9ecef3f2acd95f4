//! Uses that could not be recorded at once, because the database was locked, damaged or newer: kept in a
//! file beside it, one a line, until somebody who can write comes by.

use std::fs::{self, File};
use std::io::{self, BufReader, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;

use super::record::{LineSink, Recording, each_line, new_event_id, record_all};
use super::resolve::Resolver;
use crate::error::{Error, Result};
use crate::library::files::open_regular;
use crate::store::Store;
use crate::time::{Timestamp, file_clock_ns};

const FILE_NAME: &str = "usage.spool";
/// Lines that can never be recorded.
const REFUSED: &str = "usage.refused";
/// What a caller that must not be held up takes in, in bytes: some three hundred events.
pub const A_LITTLE: u64 = 64 * 1024;

/// Keeps a recording for later. Its time and its id are those of this moment.
///
/// # Errors
/// [`Error::Io`].
pub fn keep_for_later(home: &Path, mut recording: Recording, now: Timestamp) -> Result<()> {
    recording.event_id = recording.event_id.or_else(|| Some(new_event_id()));
    recording.at = recording.at.or_else(|| Some(now.to_string()));
    let mut line = serde_json::to_vec(&recording).unwrap_or_default();
    line.push(b'\n');
    fs::create_dir_all(home).map_err(Error::io("create the folder", home))?;
    let path = home.join(FILE_NAME);
    append(&path, &line).map_err(Error::io("write to", &path))
}

/// Adds a line. One that was broken off before it, by a kill or a full disk, is closed first.
fn append(path: &Path, line: &[u8]) -> io::Result<()> {
    let mut file = open_in_place(path)?;
    if file.metadata()?.len() > 0 {
        let mut last = [b'\n'];
        file.seek(SeekFrom::End(-1))?;
        file.read_exact(&mut last)?;
        if last != *b"\n" {
            file.write_all(b"\n")?;
        }
    }
    file.write_all(line)?;
    if line.ends_with(b"\n") {
        return Ok(());
    }
    file.write_all(b"\n")
}

/// Opens the file and holds its lock; opened again when somebody took it away in between.
fn open_in_place(path: &Path) -> io::Result<File> {
    loop {
        let file = File::options()
            .read(true)
            .append(true)
            .create(true)
            // A pipe in its place must not make anybody wait.
            .custom_flags(i32::try_from(OFlags::NONBLOCK.bits()).unwrap_or(0))
            .open(path)?;
        let here = file.metadata()?;
        if !here.is_file() {
            return Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                "not a regular file",
            ));
        }
        file.lock()?;
        match fs::metadata(path) {
            Ok(there) if (there.dev(), there.ino()) == (here.dev(), here.ino()) => return Ok(file),
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
    }
}

/// Records what waited, unless that is more than `most` bytes: then it goes on waiting for somebody who
/// has the time. Cheap when nothing waits.
///
/// # Errors
/// [`Error::Database`], [`Error::Io`]. What was not recorded goes on waiting.
pub fn absorb(
    home: &Path,
    store: &mut Store,
    resolver: &mut Resolver<'_>,
    now: Timestamp,
    most: u64,
) -> Result<()> {
    let path = home.join(FILE_NAME);
    // What a killed process took is looked for by those who have the time.
    if most <= A_LITTLE && !path.exists() {
        return Ok(());
    }
    let size = |path: &Path| fs::metadata(path).map_or(0, |metadata| metadata.len());
    let waiting: u64 = taken_files(home).iter().map(|path| size(path)).sum();
    if waiting + size(&path) > most {
        return Ok(());
    }
    if fs::metadata(&path).is_ok_and(|metadata| metadata.is_file()) {
        let taken = format!("{FILE_NAME}.{}-{}", std::process::id(), file_clock_ns());
        // Somebody else may be quicker.
        let _ = fs::rename(&path, home.join(taken));
    }
    taken_files(home)
        .iter()
        .try_for_each(|taken| absorb_file(home, taken, store, resolver, now))
}

fn absorb_file(
    home: &Path,
    path: &Path,
    store: &mut Store,
    resolver: &mut Resolver<'_>,
    now: Timestamp,
) -> Result<()> {
    let mut file = match open_regular(path) {
        Ok(file) => file,
        // Taken in by somebody else, or nothing that holds lines.
        Err(error)
            if matches!(
                error.kind(),
                io::ErrorKind::NotFound | io::ErrorKind::InvalidInput
            ) =>
        {
            return Ok(());
        }
        Err(error) => return Err(Error::io("open", path)(error)),
    };
    // Whoever opened it before it was taken may still be writing, or somebody else takes it in.
    if file.try_lock().is_err() {
        return Ok(());
    }
    let mut refused = Vec::new();
    record_all(
        store,
        resolver,
        &mut BufReader::new(&file),
        now,
        &mut LineSink {
            refuse: &mut |line, _| refused.push(line),
            tell: &mut |_| {},
            keep: None,
        },
    )?;
    if !refused.is_empty() {
        file.seek(SeekFrom::Start(0))
            .map_err(Error::io("read", path))?;
        let place = home.join(REFUSED);
        each_line(&mut BufReader::new(&file), &mut |number, line, _| {
            if refused.contains(&number) {
                append(&place, line).map_err(Error::io("write to", &place))?;
            }
            Ok(())
        })?;
    }
    let _ = fs::remove_file(path);
    Ok(())
}

/// Files that were taken from their place; a process that took one may have been killed.
fn taken_files(home: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(home) else {
        return Vec::new();
    };
    let is_taken = |name: &str| {
        name.strip_prefix(FILE_NAME)
            .is_some_and(|rest| rest.starts_with('.'))
    };
    let mut files: Vec<PathBuf> = entries
        .flatten()
        .filter(|entry| entry.file_name().to_str().is_some_and(is_taken))
        .map(|entry| entry.path())
        .collect();
    files.sort();
    files
}

/// Whether there may be uses that wait. Asks for names only.
#[must_use]
pub fn is_waiting(home: &Path) -> bool {
    home.join(FILE_NAME).exists() || !taken_files(home).is_empty()
}

/// Returns how many uses wait.
#[must_use]
pub fn pending(home: &Path) -> u64 {
    let files = taken_files(home).into_iter().chain([home.join(FILE_NAME)]);
    files.map(|path| count_lines(&path)).sum()
}

/// Returns how many lines could not be recorded, and the file they are kept in.
#[must_use]
pub fn refused(home: &Path) -> (u64, PathBuf) {
    let path = home.join(REFUSED);
    (count_lines(&path), path)
}

fn count_lines(path: &Path) -> u64 {
    let mut bytes = Vec::new();
    let read = open_regular(path).and_then(|mut file| file.read_to_end(&mut bytes));
    match read {
        Ok(_) => {
            let ends = bytes.iter().filter(|byte| **byte == b'\n').count() as u64;
            let is_open = bytes.last().is_some_and(|byte| *byte != b'\n');
            ends + u64::from(is_open)
        }
        Err(_) => 0,
    }
}
