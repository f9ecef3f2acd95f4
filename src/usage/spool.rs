//! Uses that could not be recorded at once, because the database was locked, damaged or newer: kept in a
//! file beside it, one a line, until somebody who can write comes by.

use std::fs::{self, File};
use std::io::{self, BufReader, Read, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::record::{LineSink, Recording, new_event_id, record_all};
use super::resolve::Resolver;
use crate::error::{Error, Result};
use crate::store::Store;
use crate::time::Timestamp;

const FILE_NAME: &str = "usage.spool";
/// What lines that can never be recorded are put aside as.
const REFUSED: &str = "refused";

/// What became of uses that waited.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Outcome {
    /// Recorded now, or known already.
    pub recorded: u64,
    /// Lines that cannot be read; their file is kept.
    pub refused: u64,
}

/// Keeps a recording for later. Its time and its id are those of this moment.
///
/// # Errors
/// [`Error::Io`].
pub fn keep_for_later(home: &Path, mut recording: Recording, now: Timestamp) -> Result<()> {
    let path = home.join(FILE_NAME);
    recording.event_id = recording.event_id.or_else(|| Some(new_event_id()));
    recording.at = recording.at.or_else(|| Some(now.to_string()));
    let mut line = serde_json::to_vec(&recording).unwrap_or_default();
    line.push(b'\n');
    fs::create_dir_all(home).map_err(Error::io("create the folder", home))?;
    let append = || -> io::Result<()> {
        let mut file = open_in_place(&path)?;
        file.write_all(&line)
    };
    append().map_err(Error::io("write to", &path))
}

/// Opens the file and holds its lock; opened again when somebody took it away in between.
fn open_in_place(path: &Path) -> io::Result<File> {
    loop {
        let file = File::options().append(true).create(true).open(path)?;
        file.lock()?;
        let here = file.metadata()?;
        match fs::metadata(path) {
            Ok(there) if (there.dev(), there.ino()) == (here.dev(), here.ino()) => return Ok(file),
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
    }
}

/// Records what waited. Cheap when nothing does.
///
/// # Errors
/// [`Error::Database`], [`Error::Io`]. What was not recorded goes on waiting.
pub fn absorb(
    home: &Path,
    store: &mut Store,
    resolver: &mut Resolver<'_>,
    now: Timestamp,
) -> Result<Outcome> {
    let path = home.join(FILE_NAME);
    if path.exists() {
        let taken = home.join(format!("{FILE_NAME}.{}", std::process::id()));
        // Somebody else may be quicker, and an earlier process of this number may have left its own.
        if !taken.exists() {
            let _ = fs::rename(&path, &taken);
        }
    }
    let mut outcome = Outcome::default();
    for taken in taken_files(home) {
        absorb_file(&taken, store, resolver, now, &mut outcome)?;
    }
    Ok(outcome)
}

fn absorb_file(
    path: &Path,
    store: &mut Store,
    resolver: &mut Resolver<'_>,
    now: Timestamp,
    outcome: &mut Outcome,
) -> Result<()> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(Error::io("open", path)(error)),
    };
    // Whoever opened it before it was taken may still be writing.
    file.lock().map_err(Error::io("lock", path))?;
    let mut refused = 0;
    let mut recorded = 0;
    record_all(
        store,
        resolver,
        &mut BufReader::new(file),
        now,
        &mut LineSink {
            refuse: &mut |_, _| refused += 1,
            tell: &mut |_| recorded += 1,
            keep: None,
        },
    )?;
    outcome.recorded += recorded;
    outcome.refused += refused;
    if refused > 0 {
        let aside = path.with_file_name(format!("{FILE_NAME}.{REFUSED}-{}", now.millis()));
        let _ = fs::rename(path, aside);
    } else {
        let _ = fs::remove_file(path);
    }
    Ok(())
}

/// Files that were taken from their place; a process that took one may have been killed.
fn taken_files(home: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(home) else {
        return Vec::new();
    };
    let is_taken = |name: &str| {
        name.strip_prefix(FILE_NAME)
            .and_then(|rest| rest.strip_prefix('.'))
            .is_some_and(|rest| rest.parse::<u32>().is_ok())
    };
    let mut files: Vec<PathBuf> = entries
        .flatten()
        .filter(|entry| entry.file_name().to_str().is_some_and(is_taken))
        .map(|entry| entry.path())
        .collect();
    files.sort();
    files
}

/// Whether there may be uses that wait. Asks for two names only.
#[must_use]
pub fn is_waiting(home: &Path) -> bool {
    home.join(FILE_NAME).exists() || !taken_files(home).is_empty()
}

/// Returns how many uses wait.
#[must_use]
pub fn pending(home: &Path) -> u64 {
    let files = taken_files(home).into_iter().chain([home.join(FILE_NAME)]);
    let lines = files.filter_map(|path| {
        let mut bytes = Vec::new();
        File::open(path).ok()?.read_to_end(&mut bytes).ok()?;
        Some(bytes.iter().filter(|byte| **byte == b'\n').count() as u64)
    });
    lines.sum()
}
