//! Rows of `skill_root`.

use std::path::PathBuf;

use rusqlite::{OptionalExtension, Row, params};

use super::{Store, Tx};
use crate::error::{Error, Result};
use crate::time::Timestamp;

/// One root of the library.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RootRow {
    /// Row id.
    pub id: i64,
    /// Absolute path.
    pub path: PathBuf,
    /// The word for its kind.
    pub kind: String,
    /// Order among roots.
    pub priority: i64,
    /// Whether files below it may be changed.
    pub writable: bool,
    /// The client whose folder it is.
    pub client: Option<String>,
}

/// How many skills a root holds, by what became of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RootCounts {
    /// Rows that are there, archived ones included.
    pub present: u64,
    /// Of those: in an archive.
    pub archived: u64,
    /// Of those: loaded after a repair.
    pub repaired: u64,
    /// Of those: refused.
    pub refused: u64,
    /// Skill files that are part of another skill.
    pub nested: u64,
    /// Rows whose folder vanished.
    pub missing: u64,
    /// Things named like a skill file that lead to none: dead links, pipes.
    pub unreachable: u64,
    /// Findings that are errors.
    pub errors: u64,
}

impl RootCounts {
    /// Adds the counts of another root.
    pub fn add(&mut self, other: Self) {
        self.present += other.present;
        self.archived += other.archived;
        self.repaired += other.repaired;
        self.refused += other.refused;
        self.nested += other.nested;
        self.missing += other.missing;
        self.unreachable += other.unreachable;
        self.errors += other.errors;
    }
}

fn from_row(row: &Row<'_>) -> rusqlite::Result<RootRow> {
    Ok(RootRow {
        id: row.get(0)?,
        path: PathBuf::from(row.get::<_, String>(1)?),
        kind: row.get(2)?,
        priority: row.get(3)?,
        writable: row.get(4)?,
        client: row.get(5)?,
    })
}

impl Store {
    /// Returns the roots in use, best priority first.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn roots(&self) -> Result<Vec<RootRow>> {
        const SELECT: &str = "SELECT id, path, kind, priority, writable, client
            FROM skill_root
            WHERE removed_at IS NULL
            ORDER BY priority, path";
        let read = || {
            let mut statement = self.connection.prepare_cached(SELECT)?;
            statement
                .query_map([], from_row)?
                .collect::<rusqlite::Result<Vec<_>>>()
        };
        read().map_err(Error::database("list the roots"))
    }

    /// Returns what a root holds.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn root_counts(&self, root_id: i64) -> Result<RootCounts> {
        // `<> 'ok'` is said again because SQLite only then sees that the index of the few that are not
        // fine will do, and does not read 10,000 manifests.
        const COUNT: &str = "SELECT
              (SELECT count(*) FROM skill WHERE root_id = ?1 AND removed_at IS NULL),
              (SELECT count(*) FROM skill WHERE root_id = ?1 AND state = 'archived' AND missing_since IS NULL AND removed_at IS NULL),
              (SELECT count(*) FROM manifest m CROSS JOIN skill s ON s.id = m.skill_id
               WHERE m.parse_status <> 'ok' AND m.parse_status = 'repaired' AND s.root_id = ?1 AND s.missing_since IS NULL AND s.removed_at IS NULL),
              (SELECT count(*) FROM manifest m CROSS JOIN skill s ON s.id = m.skill_id
               WHERE m.parse_status <> 'ok' AND m.parse_status = 'unreadable' AND s.root_id = ?1 AND s.missing_since IS NULL AND s.removed_at IS NULL),
              (SELECT count(*) FROM diagnostic WHERE root_id = ?1 AND code = 'nested-skill'),
              (SELECT count(*) FROM skill WHERE root_id = ?1 AND missing_since IS NOT NULL AND removed_at IS NULL),
              (SELECT count(*) FROM diagnostic WHERE root_id = ?1 AND severity = 'error' AND code IN ('not-a-file', 'link-dangling') AND path LIKE '%/SKILL.md'),
              (SELECT count(*) FROM diagnostic WHERE root_id = ?1 AND severity = 'error')";
        let read = |row: &Row<'_>| {
            let (lives, missing): (u64, u64) = (row.get(0)?, row.get(5)?);
            Ok(RootCounts {
                present: lives.saturating_sub(missing),
                archived: row.get(1)?,
                repaired: row.get(2)?,
                refused: row.get(3)?,
                nested: row.get(4)?,
                missing,
                unreachable: row.get(6)?,
                errors: row.get(7)?,
            })
        };
        let query = || {
            self.connection
                .prepare_cached(COUNT)?
                .query_row([root_id], read)
        };
        query().map_err(Error::database("count the skills of a root"))
    }
}

impl Tx<'_> {
    /// Makes `root` one of the library's roots, or brings its row up to date; returns its id.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn ensure_root(&self, root: &RootRow, now: Timestamp) -> Result<i64> {
        const UPSERT: &str =
            "INSERT INTO skill_root (path, kind, priority, writable, client, created_at)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6)
            ON CONFLICT (path) DO UPDATE
            SET kind = excluded.kind, priority = excluded.priority, writable = excluded.writable,
                client = excluded.client, removed_at = NULL
            RETURNING id";
        let path = root.path.to_string_lossy();
        let values = params![
            path,
            root.kind,
            root.priority,
            root.writable,
            root.client,
            now.to_string()
        ];
        self.transaction
            .query_row(UPSERT, values, |row| row.get(0))
            .map_err(Error::database("add a root"))
    }

    /// Takes a root out of use; the rows of its skills and their history stay. Returns whether it was in use.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn remove_root(&self, path: &str, now: Timestamp) -> Result<bool> {
        const REMOVE: &str = "UPDATE skill_root SET removed_at = ?2 WHERE path = ?1 AND removed_at IS NULL RETURNING id";
        let removed: Option<i64> = self
            .transaction
            .query_row(REMOVE, params![path, now.to_string()], |row| row.get(0))
            .optional()
            .map_err(Error::database("remove a root"))?;
        // Of two skills of a name one may be left, and be the one that was meant.
        self.mark_link_due()?;
        Ok(removed.is_some())
    }
}
