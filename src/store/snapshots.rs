//! Snapshots of the whole library.

use rusqlite::{OptionalExtension, Row, params};

use super::changes::Held;
use super::{Store, Tx};
use crate::error::{Error, Result};
use crate::time::Timestamp;

/// A snapshot in a listing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SnapshotRow {
    /// Row id.
    pub id: i64,
    /// When.
    pub created_at: String,
    /// Why.
    pub reason: String,
    /// Who.
    pub actor: String,
    /// Skills in it.
    pub skills: u64,
    /// Files in it.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Whether it holds some skills only.
    pub is_partial: bool,
}

/// What a snapshot holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// Everything below the writable roots.
    Everything,
    /// Some skills: going back to it leaves all others alone.
    SomeSkills,
}

/// A file, a link or an empty folder of a snapshot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SnapshotFile {
    /// The root's row.
    pub root_id: i64,
    /// Relative to the root.
    pub path: String,
    /// What it is; nothing for an empty folder.
    pub held: Held,
}

/// What a snapshot says about one skill.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SnapshotSkill {
    /// Its row.
    pub skill_id: i64,
    /// The root's row.
    pub root_id: i64,
    /// Relative to the root.
    pub rel_path: String,
    /// active, stale, archived.
    pub state: String,
    /// Where it lay before it was archived.
    pub archived_from: Option<String>,
}

fn from_row(row: &Row<'_>) -> rusqlite::Result<SnapshotRow> {
    Ok(SnapshotRow {
        id: row.get(0)?,
        created_at: row.get(1)?,
        reason: row.get(2)?,
        actor: row.get(3)?,
        skills: row.get(4)?,
        files: row.get(5)?,
        bytes: row.get(6)?,
        is_partial: row.get(7)?,
    })
}

impl Store {
    /// Returns the snapshots that can be restored, the newest first.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn snapshots(&self) -> Result<Vec<SnapshotRow>> {
        const SELECT: &str = "SELECT id, created_at, reason, actor, skill_count, file_count, bytes, is_partial FROM v_snapshot ORDER BY id DESC";
        let query = || {
            self.connection
                .prepare_cached(SELECT)?
                .query_map([], from_row)?
                .collect::<rusqlite::Result<Vec<_>>>()
        };
        query().map_err(Error::database("read snapshots"))
    }

    /// Returns one snapshot.
    ///
    /// # Errors
    /// [`Error::Denied`] when there is none with this id, or it was pruned; [`Error::Database`].
    pub fn snapshot(&self, id: i64) -> Result<SnapshotRow> {
        const SELECT: &str = "SELECT id, created_at, reason, actor, skill_count, file_count, bytes, is_partial FROM v_snapshot WHERE id = ?1";
        let query = || {
            self.connection
                .prepare_cached(SELECT)?
                .query_row([id], from_row)
                .optional()
        };
        query()
            .map_err(Error::database("read a snapshot"))?
            .ok_or_else(|| Error::Denied {
                code: "snapshot-not-found",
                message: format!("there is no snapshot {id}"),
                hint: Some("`skilldb snapshot list` shows them".to_owned()),
            })
    }

    /// Returns everything in a snapshot, by root and path.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn snapshot_files(&self, id: i64) -> Result<Vec<SnapshotFile>> {
        const SELECT: &str = "SELECT root_id, path, hash, mode, link_target FROM snapshot_file WHERE snapshot_id = ?1 ORDER BY root_id, path";
        let from_row = |row: &Row<'_>| {
            Ok(SnapshotFile {
                root_id: row.get(0)?,
                path: row.get(1)?,
                held: Held {
                    hash: row.get(2)?,
                    mode: row.get(3)?,
                    link: row.get(4)?,
                },
            })
        };
        let query = || {
            self.connection
                .prepare_cached(SELECT)?
                .query_map([id], from_row)?
                .collect::<rusqlite::Result<Vec<_>>>()
        };
        query().map_err(Error::database("read a snapshot"))
    }

    /// Returns what a snapshot says about skills.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn snapshot_skills(&self, id: i64) -> Result<Vec<SnapshotSkill>> {
        const SELECT: &str = "SELECT skill_id, root_id, rel_path, state, archived_from FROM snapshot_skill WHERE snapshot_id = ?1 ORDER BY skill_id";
        let from_row = |row: &Row<'_>| {
            Ok(SnapshotSkill {
                skill_id: row.get(0)?,
                root_id: row.get(1)?,
                rel_path: row.get(2)?,
                state: row.get(3)?,
                archived_from: row.get(4)?,
            })
        };
        let query = || {
            self.connection
                .prepare_cached(SELECT)?
                .query_map([id], from_row)?
                .collect::<rusqlite::Result<Vec<_>>>()
        };
        query().map_err(Error::database("read a snapshot"))
    }
}

impl Tx<'_> {
    /// Adds a snapshot; returns its id.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn add_snapshot(
        &self,
        (reason, actor): (&str, &str),
        extent: Extent,
        now: Timestamp,
    ) -> Result<i64> {
        const INSERT: &str =
            "INSERT INTO snapshot (reason, actor, created_at, is_partial) VALUES (?1, ?2, ?3, ?4)";
        let is_partial = extent == Extent::SomeSkills;
        self.run(
            INSERT,
            params![reason, actor, now.to_string(), is_partial],
            "add a snapshot",
        )?;
        Ok(self.transaction.last_insert_rowid())
    }

    /// Adds a file, a link or an empty folder to a snapshot.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn add_snapshot_file(&self, id: i64, file: &SnapshotFile) -> Result<()> {
        const INSERT: &str = "INSERT INTO snapshot_file (snapshot_id, root_id, path, hash, mode, link_target) VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
        let held = &file.held;
        let values = params![id, file.root_id, file.path, held.hash, held.mode, held.link];
        self.run(INSERT, values, "add a file to a snapshot")
    }

    /// Adds what is known of the skills of a root to a snapshot.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn add_snapshot_skills(&self, id: i64, root_id: i64) -> Result<()> {
        const INSERT: &str = "INSERT INTO snapshot_skill (snapshot_id, skill_id, root_id, rel_path, state, archived_from)
            SELECT ?1, id, root_id, rel_path, state, archived_from FROM skill WHERE root_id = ?2 AND removed_at IS NULL AND missing_since IS NULL";
        self.run(INSERT, [id, root_id], "add skills to a snapshot")
    }

    /// Adds what is known of one skill to a snapshot.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn add_snapshot_skill(&self, id: i64, skill: i64) -> Result<()> {
        const INSERT: &str = "INSERT INTO snapshot_skill (snapshot_id, skill_id, root_id, rel_path, state, archived_from)
            SELECT ?1, id, root_id, rel_path, state, archived_from FROM skill WHERE id = ?2";
        self.run(INSERT, [id, skill], "add a skill to a snapshot")
    }

    /// Takes what is in a snapshot out of the database; its number is never used again.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn prune_snapshot(&self, id: i64, now: Timestamp) -> Result<()> {
        const MARK: &str = "UPDATE snapshot SET pruned_at = ?2 WHERE id = ?1";
        self.run(MARK, params![id, now.to_string()], "prune a snapshot")?;
        for delete in [
            "DELETE FROM snapshot_file WHERE snapshot_id = ?1",
            "DELETE FROM snapshot_skill WHERE snapshot_id = ?1",
        ] {
            self.run(delete, [id], "prune a snapshot")?;
        }
        Ok(())
    }

    /// Removes bytes that nothing refers to any more: no revision, no snapshot, no newest version. Returns how
    /// many bytes they had before compression.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn drop_unused_bytes(&self) -> Result<u64> {
        const UNUSED: &str =
            "hash NOT IN (SELECT before_hash FROM revision_file WHERE before_hash IS NOT NULL)
            AND hash NOT IN (SELECT after_hash FROM revision_file WHERE after_hash IS NOT NULL)
            AND hash NOT IN (SELECT hash FROM snapshot_file WHERE hash IS NOT NULL)
            AND hash NOT IN (SELECT hash FROM kept_file)";
        let sum = format!("SELECT coalesce(sum(size), 0) FROM blob WHERE {UNUSED}");
        let bytes = self
            .transaction
            .query_row(&sum, [], |row| row.get(0))
            .map_err(Error::database("look for unused bytes"))?;
        self.run(
            &format!("DELETE FROM blob WHERE {UNUSED}"),
            [],
            "remove unused bytes",
        )?;
        Ok(bytes)
    }
}
