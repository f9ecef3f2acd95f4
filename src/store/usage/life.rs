//! One skill's life: what it was used for, what changed it, how it fared.

use rusqlite::Row;

use super::super::Store;
use super::stats::{DayCount, day_count};
use crate::error::{Error, Result};
use crate::time::Timestamp;

/// One skill's life.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LifeRow {
    /// active, stale, archived or missing.
    pub state: String,
    /// Who made it.
    pub origin: String,
    /// Whether it is pinned.
    pub pinned: bool,
    /// First seen.
    pub created_at: String,
    /// Uses, views, file reads, failures, background events, edits, uses of what it absorbed.
    pub counts: [u64; 7],
    /// Newest use, view, file read, failure.
    pub newest: [Option<String>; 4],
}

/// A moment in a skill's life.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MomentRow {
    /// When.
    pub at: String,
    /// What happened, in a few words.
    pub what: String,
    /// Who did it.
    pub actor: String,
}

impl Store {
    /// Returns one skill's life in numbers.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn life(&self, skill_id: i64) -> Result<LifeRow> {
        const SELECT: &str = "SELECT CASE WHEN s.missing_since IS NULL THEN s.state ELSE 'missing' END, s.origin, s.pinned, s.created_at,
              coalesce(u.use_count, 0), coalesce(u.view_count, 0), coalesce(u.file_count, 0), coalesce(u.failure_count, 0),
              coalesce(u.background_use_count + u.background_view_count + u.background_file_count, 0),
              (SELECT coalesce(sum(b.patch_count), 0) FROM usage_baseline b WHERE b.skill_id = s.id)
              + (SELECT count(*) FROM revision v JOIN change c ON c.id = v.change_id
                 WHERE v.skill_id = s.id AND c.outcome = 'applied' AND c.source IS NULL AND c.action IN ('edit', 'patch', 'write_file', 'remove_file')),
              (WITH RECURSIVE part (id) AS (
                 SELECT a.id FROM skill a WHERE a.absorbed_into = s.id
                 UNION SELECT a.id FROM part p CROSS JOIN skill a ON a.absorbed_into = p.id)
               SELECT coalesce(sum(iu.use_count), 0) FROM part JOIN skill_usage iu ON iu.skill_id = part.id WHERE part.id <> s.id),
              u.last_use_at, u.last_view_at, u.last_file_at, u.last_failure_at
            FROM skill s LEFT JOIN skill_usage u ON u.skill_id = s.id
            WHERE s.id = ?1";
        let read = |row: &Row<'_>| {
            let mut counts = [0; 7];
            for (index, count) in counts.iter_mut().enumerate() {
                *count = row.get(4 + index)?;
            }
            let mut newest = [const { None }; 4];
            for (index, time) in newest.iter_mut().enumerate() {
                *time = row.get(11 + index)?;
            }
            Ok(LifeRow {
                state: row.get(0)?,
                origin: row.get(1)?,
                pinned: row.get(2)?,
                created_at: row.get(3)?,
                counts,
                newest,
            })
        };
        self.connection
            .query_row(SELECT, [skill_id], read)
            .map_err(Error::database("read a skill's life"))
    }

    /// Returns the newest changes and transitions of a skill, newest first.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn moments(&self, skill_id: i64, limit: u32) -> Result<Vec<MomentRow>> {
        const SELECT: &str = "SELECT at, what, actor FROM (
              SELECT c.at, v.title || CASE WHEN c.outcome = 'failed' THEN ' (failed' || coalesce(': ' || c.reason, '') || ')' ELSE '' END AS what, c.actor, c.id AS k
              FROM revision v JOIN change c ON c.id = v.change_id WHERE v.skill_id = ?1
              UNION ALL
              SELECT at, from_state || ' -> ' || to_state || ': ' || reason, actor, id FROM state_transition WHERE skill_id = ?1)
            ORDER BY at DESC, k DESC LIMIT ?2";
        self.rows(
            SELECT,
            &[&skill_id, &limit],
            |row| {
                Ok(MomentRow {
                    at: row.get(0)?,
                    what: row.get(1)?,
                    actor: row.get(2)?,
                })
            },
            "read a skill's history",
        )
    }

    /// Returns client, session and arguments of a skill's newest failure.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn last_failure(&self, skill_id: i64) -> Result<Option<[Option<String>; 3]>> {
        const SELECT: &str = "SELECT client, session_id, args FROM usage_event WHERE skill_id = ?1 AND ok = 0 ORDER BY at DESC, id DESC LIMIT 1";
        let rows = self.rows(
            SELECT,
            &[&skill_id],
            |row| Ok([row.get(0)?, row.get(1)?, row.get(2)?]),
            "read a skill's last failure",
        )?;
        Ok(rows.into_iter().next())
    }

    /// Returns one skill's uses and views by day from `from` on.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn days_of(&self, skill_id: i64, from: Timestamp) -> Result<Vec<DayCount>> {
        const SELECT: &str = "SELECT substr(at, 1, 10) AS day, count(*), sum(coalesce(ok = 0, 0))
            FROM usage_event
            WHERE skill_id = ?1 AND at >= ?2 AND kind IN ('use', 'view') AND actor NOT IN ('background_review', 'curator')
            GROUP BY 1 ORDER BY 1";
        self.rows(
            SELECT,
            &[&skill_id, &from.day()],
            day_count,
            "add up the days of a skill",
        )
    }
}
