//! Keeps the bytes of what changed outside skilldb, so that history starts at the first sync. Runs
//! after the mirror is committed; a queue in the database makes a killed run go on in the next one.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use super::{Kept, Progress, Unit};
use crate::error::Result;
use crate::hash::hash_of;
use crate::library::files::{MAX_SKILL_BYTES, leads_to_markdown, read_into};
use crate::store::{CaptureJob, KeptFile, NewFile, NewRevision, Packed, Packer, Store};
use crate::time::Timestamp;

/// Largest supporting file that is kept, bytes.
const MAX_SUPPORT_BYTES: u64 = 256 * 1024;
/// Skills that are read before their bytes are written in one transaction.
const BATCH: u32 = 128;
/// Compressed bytes that are held before they are written.
const BATCH_BYTES: usize = 8 * 1024 * 1024;
struct Capture {
    packer: Packer,
    buffer: Vec<u8>,
    /// Made and not yet written.
    blobs: Vec<Packed>,
    /// Bytes in `blobs`.
    held: usize,
    /// Bytes of supporting files that may still be kept; asked for once it matters.
    room: Option<u64>,
    kept: Kept,
}

/// Keeps the bytes of every queued skill. `budget` is the most bytes of supporting files that the
/// history holds as newest versions.
///
/// # Errors
/// [`crate::Error::Database`]. A file that cannot be read stays queued.
pub(super) fn keep_queued(
    store: &mut Store,
    budget: u64,
    now: Timestamp,
    progress: &dyn Progress,
) -> Result<Kept> {
    let waiting = store.capture_count()?;
    if waiting == 0 {
        return Ok(Kept::default());
    }
    progress.begin("keeping", Unit::Skills, Some(waiting));
    let mut capture = Capture {
        packer: Packer::new(),
        buffer: Vec::new(),
        blobs: Vec::new(),
        held: 0,
        room: None,
        kept: Kept::default(),
    };
    let mut change = None;
    let mut after = 0;
    loop {
        let jobs = store.capture_jobs(after, BATCH)?;
        let Some(last) = jobs.last() else { break };
        after = last.skill_id;
        if capture.room.is_none() && jobs.iter().any(has_new_files) {
            capture.room = Some(budget.saturating_sub(store.kept_totals()?.bytes));
        }
        let mut done = Vec::with_capacity(jobs.len());
        for job in &jobs {
            done.push((job.skill_id, capture.take(job)));
            if capture.held > BATCH_BYTES {
                write_batch(store, &mut change, &capture.take_blobs(), &done, now)?;
                done.clear();
            }
        }
        write_batch(store, &mut change, &capture.take_blobs(), &done, now)?;
        progress.advance(jobs.len() as u64);
    }
    progress.end();
    Ok(capture.kept)
}

/// Says whether a skill has supporting files that the history does not hold yet.
fn has_new_files(job: &CaptureJob) -> bool {
    let is_kept = |path: &String| job.kept.iter().any(|(kept, _)| kept == path);
    job.writable && job.files.iter().any(|(path, ..)| !is_kept(path))
}

fn write_batch(
    store: &mut Store,
    change: &mut Option<i64>,
    blobs: &[Packed],
    done: &[(i64, Option<Outcome>)],
    now: Timestamp,
) -> Result<()> {
    if done.iter().all(|(_, outcome)| outcome.is_none()) {
        return Ok(());
    }
    store.write(|tx| {
        for blob in blobs {
            tx.put_blob(blob)?;
        }
        for (skill_id, outcome) in done {
            let Some(outcome) = outcome else { continue };
            if !outcome.revision.files.is_empty() {
                let id = match *change {
                    Some(id) => id,
                    None => *change.insert(tx.add_external_change("changed outside skilldb", now)?),
                };
                tx.add_revision(id, &outcome.revision)?;
            }
            for path in &outcome.outgrown {
                tx.note_kept(*skill_id, path, None)?;
            }
            for (path, kept) in &outcome.restamped {
                tx.note_kept(*skill_id, path, Some(kept))?;
            }
            tx.capture_done(*skill_id)?;
        }
        Ok(())
    })
}

/// What became of one job.
struct Outcome {
    /// Without files when all bytes are as they were.
    revision: NewRevision,
    /// Files whose bytes are the same under new stamps.
    restamped: Vec<(String, KeptFile)>,
    /// Files that were kept and are now too large, or no text: what the history holds is not the newest.
    outgrown: Vec<String>,
}

impl Capture {
    /// Reads what changed of one skill. `None` when its skill file cannot be read now: it stays queued.
    fn take(&mut self, job: &CaptureJob) -> Option<Outcome> {
        let before: HashMap<&str, &KeptFile> = job
            .kept
            .iter()
            .map(|(path, kept)| (path.as_str(), kept))
            .collect();
        let folder = Path::new(&job.folder);
        let path = folder.join(&job.file_name);
        // A link put in its place since the walk: the next sync judges it.
        let metadata = fs::metadata(&path)
            .ok()
            .filter(|_| leads_to_markdown(&path))?;
        read_into(&path, MAX_SKILL_BYTES, &mut self.buffer).ok()?;
        let stat = crate::library::Stat::from(&metadata);
        let known = before.get(job.file_name.as_str()).copied();
        let mode = metadata.permissions().mode() & 0o7777;
        let mut outcome = Outcome {
            revision: NewRevision {
                skill_id: job.skill_id,
                title: String::new(),
                files: Vec::new(),
            },
            restamped: Vec::new(),
            outgrown: Vec::new(),
        };
        self.compare(&job.file_name, known, stat.mtime_ns, mode, &mut outcome);
        if job.writable {
            self.take_supporting(job, folder, &before, &mut outcome);
        }
        let revision = &mut outcome.revision;
        revision.files.extend(removed_files(job));
        revision.title = title_of(job, &revision.files);
        Some(outcome)
    }

    /// Returns what is ready to be written, and holds nothing any more.
    fn take_blobs(&mut self) -> Vec<Packed> {
        self.held = 0;
        std::mem::take(&mut self.blobs)
    }

    /// Keeps what changed of the supporting files, and says which it cannot keep any more.
    fn take_supporting(
        &mut self,
        job: &CaptureJob,
        folder: &Path,
        before: &HashMap<&str, &KeptFile>,
        outcome: &mut Outcome,
    ) {
        for (path, size, mtime_ns, mode) in &job.files {
            let known = before.get(path.as_str()).copied();
            if *size > MAX_SUPPORT_BYTES {
                outcome.outgrown.extend(known.map(|_| path.clone()));
                self.kept.skipped_files += 1;
                continue;
            }
            if known.is_none() && *size > self.room.unwrap_or(0) {
                self.kept.left_out_files += 1;
                self.kept.left_out_bytes += size;
                continue;
            }
            // Vanished or closed to us meanwhile: the next sync sees that.
            if read_into(&folder.join(path), MAX_SUPPORT_BYTES, &mut self.buffer).is_err() {
                continue;
            }
            if !is_text(&self.buffer) {
                outcome.outgrown.extend(known.map(|_| path.clone()));
                self.kept.skipped_files += 1;
                continue;
            }
            if known.is_none() {
                self.room = self.room.map(|room| room.saturating_sub(*size));
            }
            self.compare(path, known, *mtime_ns, *mode, outcome);
        }
    }

    /// Compares the bytes in the buffer with what the history holds.
    fn compare(
        &mut self,
        path: &str,
        known: Option<&KeptFile>,
        mtime_ns: i64,
        mode: u32,
        outcome: &mut Outcome,
    ) {
        let hash = hash_of(&self.buffer);
        let size = self.buffer.len() as u64;
        let after = KeptFile {
            hash: hash.clone(),
            size,
            mtime_ns,
        };
        if known.is_some_and(|known| known.hash == hash) {
            outcome.restamped.push((path.to_owned(), after));
            return;
        }
        self.kept.files += 1;
        self.kept.bytes += size;
        let blob = self.packer.pack(hash, &self.buffer);
        self.held += blob.bytes.len();
        self.blobs.push(blob);
        outcome.revision.files.push(NewFile {
            path: path.to_owned(),
            moved_from: None,
            before: known.map(|known| known.hash.clone()),
            after: Some(after),
            mode: Some(mode),
        });
    }
}

/// Files the history holds that are not in the folder any more. What lies in a closed folder is not
/// removed: it can only not be seen.
fn removed_files(job: &CaptureJob) -> impl Iterator<Item = NewFile> {
    let present: HashSet<&str> = job
        .files
        .iter()
        .map(|(path, ..)| path.as_str())
        .chain([job.file_name.as_str()])
        .collect();
    let folder = Path::new(&job.folder);
    let is_gone = move |path: &str| match fs::symlink_metadata(folder.join(path)) {
        Ok(_) => true,
        Err(error) => error.kind() != io::ErrorKind::PermissionDenied,
    };
    job.kept
        .iter()
        .filter(move |(path, _)| !present.contains(path.as_str()) && is_gone(path))
        .map(|(path, kept)| NewFile {
            path: path.clone(),
            moved_from: None,
            before: Some(kept.hash.clone()),
            after: None,
            mode: None,
        })
}

fn title_of(job: &CaptureJob, files: &[NewFile]) -> String {
    match files {
        _ if job.kept.is_empty() => "first seen".to_owned(),
        [only] if only.after.is_none() => format!("{} removed outside skilldb", only.path),
        [only] if only.before.is_none() => format!("{} added outside skilldb", only.path),
        [only] => format!("{} edited outside skilldb", only.path),
        _ => format!("{} files changed outside skilldb", files.len()),
    }
}

/// Text is what decodes as UTF-8 and holds no NUL.
fn is_text(bytes: &[u8]) -> bool {
    !bytes.contains(&0) && std::str::from_utf8(bytes).is_ok()
}
