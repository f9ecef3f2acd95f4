//! Bytes removed for good: what leaked must not stay.

use rusqlite::params;

use super::{Store, Tx};
use crate::error::{Error, Result};
use crate::time::Timestamp;

/// Where purged bytes were used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PurgedUse {
    /// The change that can no longer be taken back, or shown.
    pub change: i64,
    /// The skill's name.
    pub name: String,
    /// The file.
    pub path: String,
}

impl Store {
    /// Returns where bytes are used in the history.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn uses_of_bytes(&self, hash: &str) -> Result<Vec<PurgedUse>> {
        const SELECT: &str =
            "SELECT DISTINCT v.change_id, coalesce(m.name, v.called_name, ''), f.path
            FROM revision_file f
            JOIN revision v ON v.id = f.revision_id
            LEFT JOIN manifest m ON m.skill_id = v.skill_id
            WHERE f.before_hash = ?1 OR f.after_hash = ?1
            ORDER BY 1, 2, 3";
        let query = || {
            self.connection
                .prepare_cached(SELECT)?
                .query_map([hash], |row| {
                    Ok(PurgedUse {
                        change: row.get(0)?,
                        name: row.get(1)?,
                        path: row.get(2)?,
                    })
                })?
                .collect::<rusqlite::Result<Vec<_>>>()
        };
        query().map_err(Error::database("look up kept bytes"))
    }

    /// Returns the files that said these bytes when they were last seen: absolute paths.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn files_saying(&self, hash: &str) -> Result<Vec<String>> {
        const SELECT: &str = "SELECT CASE WHEN s.rel_path = '.' THEN r.path ELSE r.path || '/' || s.rel_path END || '/' || f.rel_path
            FROM (SELECT skill_id, rel_path, hash FROM kept_file UNION SELECT skill_id, file_name, content_hash FROM manifest) f
            JOIN skill s ON s.id = f.skill_id
            JOIN skill_root r ON r.id = s.root_id
            WHERE f.hash = ?1 AND s.removed_at IS NULL AND s.missing_since IS NULL
            ORDER BY 1";
        let query = || {
            self.connection
                .prepare_cached(SELECT)?
                .query_map([hash], |row| row.get(0))?
                .collect::<rusqlite::Result<Vec<_>>>()
        };
        query().map_err(Error::database("look up files"))
    }

    /// Overwrites what was removed from the database: its free pages, and the log.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn scrub(&self) -> Result<()> {
        self.connection
            .execute_batch("VACUUM; PRAGMA wal_checkpoint(TRUNCATE)")
            .map_err(Error::database("overwrite what was removed"))
    }
}

impl Tx<'_> {
    /// Removes bytes for good. Says whether they were there.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn purge(
        &self,
        hash: &str,
        (actor, reason): (&str, Option<&str>),
        now: Timestamp,
    ) -> Result<bool> {
        const DELETE: &str = "DELETE FROM blob WHERE hash = ?1";
        const NOTE: &str =
            "INSERT OR REPLACE INTO purged (hash, reason, actor, at) VALUES (?1, ?2, ?3, ?4)";
        let count = self
            .transaction
            .execute(DELETE, [hash])
            .map_err(Error::database("purge bytes"))?;
        self.run(
            NOTE,
            params![hash, reason, actor, now.to_string()],
            "note what was purged",
        )?;
        Ok(count > 0)
    }

    /// Closes proposals that hold a text, and takes it out of them. Returns how many there were.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn purge_proposals(&self, text: &str, now: Timestamp) -> Result<usize> {
        const UPDATE: &str = "UPDATE proposal SET request = '{}', diff = '', decided_at = coalesce(decided_at, ?2), decision = coalesce(decision, 'rejected'), note = coalesce(note, 'purged')
            WHERE instr(request, ?1) > 0 OR instr(diff, ?3) > 0";
        let quoted = serde_json::Value::from(text).to_string();
        let inner = quoted.trim_matches('"');
        self.transaction
            .execute(UPDATE, params![inner, now.to_string(), text])
            .map_err(Error::database("purge proposals"))
    }
}
