//! Changes, revisions and the bytes they hold. Appended to, never rewritten.

use std::collections::HashMap;

use rusqlite::params;

use super::{Store, Tx};
use crate::error::{Error, Result};
use crate::time::Timestamp;

/// A skill whose bytes are still to be kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CaptureJob {
    /// The skill's row.
    pub skill_id: i64,
    /// What people call it.
    pub name: String,
    /// Absolute path of its folder.
    pub folder: String,
    /// The skill file's name.
    pub file_name: String,
    /// Whether supporting files are kept, too.
    pub writable: bool,
    /// Its supporting files: path, size, last write, permission bits; links are not among them.
    pub files: Vec<(String, u64, i64, u32)>,
    /// What the history holds already, by path.
    pub kept: Vec<(String, KeptFile)>,
}

/// The newest bytes the history holds of one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptFile {
    /// SHA-256 of the bytes.
    pub hash: String,
    /// Bytes.
    pub size: u64,
    /// Last write when it was read, nanoseconds.
    pub mtime_ns: i64,
}

/// How much of supporting files the history holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct KeptTotals {
    /// Number of files.
    pub files: u64,
    /// Their bytes before compression.
    pub bytes: u64,
}

/// One file of a revision to be written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewFile {
    /// Path relative to the skill.
    pub path: String,
    /// Where it was before a move, relative to the root it was in.
    pub moved_from: Option<String>,
    /// The bytes before, when known.
    pub before: Option<String>,
    /// The bytes after; `None` when the file is gone.
    pub after: Option<KeptFile>,
    /// Permission bits.
    pub mode: Option<u32>,
}

/// The part of a change that belongs to one skill, to be written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewRevision {
    /// The skill's row.
    pub skill_id: i64,
    /// What happened, in a few words.
    pub title: String,
    /// The files it touched.
    pub files: Vec<NewFile>,
}

impl Store {
    /// Returns how many skills wait for their bytes to be kept.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn capture_count(&self) -> Result<u64> {
        const COUNT: &str = "SELECT count(*) FROM capture_queue";
        self.connection
            .query_row(COUNT, [], |row| row.get(0))
            .map_err(Error::database("read the queue of bytes to keep"))
    }

    /// Returns the next jobs after the skill `after`, at most `limit`.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn capture_jobs(&self, after: i64, limit: u32) -> Result<Vec<CaptureJob>> {
        const SELECT: &str = "SELECT q.skill_id, m.name, CASE WHEN s.rel_path = '.' THEN r.path ELSE r.path || '/' || s.rel_path END,
              m.file_name, r.writable
            FROM capture_queue q
            JOIN skill s ON s.id = q.skill_id
            JOIN skill_root r ON r.id = s.root_id
            JOIN manifest m ON m.skill_id = q.skill_id
            WHERE q.skill_id > ?1 AND s.missing_since IS NULL
            ORDER BY q.skill_id
            LIMIT ?2";
        let read = || {
            let mut statement = self.connection.prepare_cached(SELECT)?;
            let rows = statement.query_map(params![after, limit], |row| {
                let skill_id = row.get(0)?;
                Ok(CaptureJob {
                    skill_id,
                    name: row.get(1)?,
                    folder: row.get(2)?,
                    file_name: row.get(3)?,
                    writable: row.get(4)?,
                    files: self.files_to_keep(skill_id)?,
                    kept: self.kept_files(skill_id)?,
                })
            })?;
            rows.collect::<rusqlite::Result<Vec<_>>>()
        };
        read().map_err(Error::database("read the queue of bytes to keep"))
    }

    fn files_to_keep(&self, skill_id: i64) -> rusqlite::Result<Vec<(String, u64, i64, u32)>> {
        const SELECT: &str = "SELECT rel_path, size, mtime_ns, mode FROM skill_file WHERE skill_id = ?1 AND link_target IS NULL";
        let mut statement = self.connection.prepare_cached(SELECT)?;
        let rows = statement.query_map([skill_id], |row| {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?))
        })?;
        rows.collect()
    }

    fn kept_files(&self, skill_id: i64) -> rusqlite::Result<Vec<(String, KeptFile)>> {
        const SELECT: &str =
            "SELECT rel_path, hash, size, mtime_ns FROM kept_file WHERE skill_id = ?1";
        let mut statement = self.connection.prepare_cached(SELECT)?;
        let rows = statement.query_map([skill_id], |row| {
            Ok((
                row.get(0)?,
                KeptFile {
                    hash: row.get(1)?,
                    size: row.get(2)?,
                    mtime_ns: row.get(3)?,
                },
            ))
        })?;
        rows.collect()
    }

    /// Returns the hash of the newest bytes the history holds of each of a skill's files, by path.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn kept_hashes(&self, skill_id: i64) -> Result<HashMap<String, String>> {
        let kept = self
            .kept_files(skill_id)
            .map_err(Error::database("read what the history holds"))?;
        Ok(kept
            .into_iter()
            .map(|(path, kept)| (path, kept.hash))
            .collect())
    }

    /// Returns how much of supporting files the history holds.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn kept_totals(&self) -> Result<KeptTotals> {
        // Whatever its spelling, the skill file is the only one of that name directly in the folder.
        const SUM: &str = "SELECT count(*), coalesce(sum(size), 0)
            FROM kept_file
            WHERE lower(rel_path) <> 'skill.md'";
        self.connection
            .query_row(SUM, [], |row| {
                Ok(KeptTotals {
                    files: row.get(0)?,
                    bytes: row.get(1)?,
                })
            })
            .map_err(Error::database("add up what the history holds"))
    }
}

impl Tx<'_> {
    /// Queues a skill's bytes to be kept after the mirror is committed.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn queue_capture(&self, skill_id: i64) -> Result<()> {
        const INSERT: &str = "INSERT OR IGNORE INTO capture_queue (skill_id) VALUES (?1)";
        self.run(INSERT, [skill_id], "queue bytes to keep")
    }

    /// Takes a skill off the queue.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn capture_done(&self, skill_id: i64) -> Result<()> {
        const DELETE: &str = "DELETE FROM capture_queue WHERE skill_id = ?1";
        self.run(DELETE, [skill_id], "take a skill off the queue")
    }

    /// Begins the change of one sync: edits made outside skilldb. Returns its id.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn add_external_change(&self, reason: &str, now: Timestamp) -> Result<i64> {
        const INSERT: &str = "INSERT INTO change (action, outcome, reason, actor, at) VALUES ('external', 'applied', ?1, 'sync', ?2)";
        self.run(INSERT, params![reason, now.to_string()], "begin a change")?;
        Ok(self.transaction.last_insert_rowid())
    }

    /// Adds the part of a change that belongs to one skill, and notes its bytes as the newest kept.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn add_revision(&self, change_id: i64, revision: &NewRevision) -> Result<()> {
        const INSERT: &str =
            "INSERT INTO revision (change_id, skill_id, title) VALUES (?1, ?2, ?3)";
        const INSERT_FILE: &str = "INSERT INTO revision_file (revision_id, base, path, moved_from, before_hash, after_hash, mode)
            VALUES (?1, 'skill', ?2, ?3, ?4, ?5, ?6)";
        self.run(
            INSERT,
            params![change_id, revision.skill_id, revision.title],
            "add a revision",
        )?;
        let revision_id = self.transaction.last_insert_rowid();
        for file in &revision.files {
            let after = file.after.as_ref().map(|kept| &kept.hash);
            let values = params![
                revision_id,
                file.path,
                file.moved_from,
                file.before,
                after,
                file.mode
            ];
            self.run(INSERT_FILE, values, "add a file to a revision")?;
            // A move alone brings no bytes: which are the newest kept stays as it is.
            if file.moved_from.is_none() {
                self.note_kept(revision.skill_id, &file.path, file.after.as_ref())?;
            }
        }
        Ok(())
    }

    /// Notes which bytes of a file are the newest kept; `None` forgets the file (its revisions stay).
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn note_kept(&self, skill_id: i64, path: &str, kept: Option<&KeptFile>) -> Result<()> {
        const PUT: &str = "INSERT OR REPLACE INTO kept_file (skill_id, rel_path, hash, size, mtime_ns) VALUES (?1, ?2, ?3, ?4, ?5)";
        const DELETE: &str = "DELETE FROM kept_file WHERE skill_id = ?1 AND rel_path = ?2";
        match kept {
            Some(kept) => {
                let size = i64::try_from(kept.size).unwrap_or(i64::MAX);
                self.run(
                    PUT,
                    params![skill_id, path, kept.hash, size, kept.mtime_ns],
                    "note kept bytes",
                )
            }
            None => self.run(DELETE, params![skill_id, path], "forget kept bytes"),
        }
    }
}
