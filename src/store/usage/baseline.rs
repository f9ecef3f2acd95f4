//! What another program counted and changed before skilldb was there: baselines, changes, marks.

use rusqlite::{OptionalExtension, params};

use super::super::{Store, Tx};
use super::to_sql;
use crate::error::{Error, Result};
use crate::time::Timestamp;

/// Counts of one record of a sidecar that holds no events.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Baseline {
    /// The skill it counts for.
    pub skill_id: i64,
    /// The file, and the record in it.
    pub source: String,
    /// Uses.
    pub use_count: u64,
    /// Views.
    pub view_count: u64,
    /// Edits.
    pub patch_count: u64,
    /// Newest use.
    pub last_use_at: Option<Timestamp>,
    /// Newest view.
    pub last_view_at: Option<Timestamp>,
    /// Newest edit.
    pub last_patch_at: Option<Timestamp>,
    /// When it was archived.
    pub archived_at: Option<Timestamp>,
    /// The record as it was read.
    pub record: String,
}

/// A change that another program made and this one only knows of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportedChange {
    /// The id its source gave it.
    pub event_id: String,
    /// The program.
    pub source: &'static str,
    /// create, edit, patch, write_file, remove_file or delete.
    pub action: &'static str,
    /// Whether it was applied.
    pub is_applied: bool,
    /// Why not.
    pub reason: Option<String>,
    /// The session it was made in.
    pub session_id: Option<String>,
    /// When.
    pub at: Timestamp,
    /// The skill, if it is there.
    pub skill_id: Option<i64>,
    /// The name as it was called.
    pub called_name: String,
}

/// One skill as a sidecar record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordRow {
    /// The name another program keeps it under, else what people call it.
    pub name: String,
    /// Absolute path of its folder.
    pub path: String,
    /// Who made it.
    pub origin: String,
    /// active, stale, archived.
    pub state: String,
    /// Whether it is pinned.
    pub pinned: bool,
    /// Foreground uses.
    pub use_count: u64,
    /// Foreground views and file reads.
    pub view_count: u64,
    /// Edits.
    pub patch_count: u64,
    /// Of uses, views and edits: what no baseline counts.
    pub own_counts: [u64; 3],
    /// Newest use.
    pub last_use_at: Option<String>,
    /// Newest view or file read.
    pub last_view_at: Option<String>,
    /// Newest edit.
    pub last_patch_at: Option<String>,
    /// First seen.
    pub created_at: String,
    /// When it was archived.
    pub archived_at: Option<String>,
}

impl Store {
    /// Returns every skill of the roots in use as a sidecar record, by name; vanished ones too.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn usage_records(&self) -> Result<Vec<RecordRow>> {
        const PATCHES: &str = "FROM revision v JOIN change c ON c.id = v.change_id
              WHERE v.skill_id = s.id AND c.outcome = 'applied' AND c.source IS NULL AND c.action IN ('edit', 'patch', 'write_file', 'remove_file')";
        let sql = format!(
            "SELECT coalesce((SELECT substr(b.source, instr(b.source, '.usage.json#') + 12) FROM usage_baseline b WHERE b.skill_id = s.id AND instr(b.source, '.usage.json#') > 0 ORDER BY b.source LIMIT 1),
                m.name, s.rel_path), s.origin, s.state, s.pinned,
              coalesce(u.use_count, 0), coalesce(u.view_count, 0) + coalesce(u.file_count, 0),
              (SELECT coalesce(sum(b.patch_count), 0) FROM usage_baseline b WHERE b.skill_id = s.id) + (SELECT count(*) {PATCHES}),
              u.last_use_at, nullif(max(coalesce(u.last_view_at, ''), coalesce(u.last_file_at, '')), ''),
              nullif(max(coalesce((SELECT max(b.last_patch_at) FROM usage_baseline b WHERE b.skill_id = s.id), ''), coalesce((SELECT max(c.at) {PATCHES}), '')), ''),
              s.created_at,
              CASE WHEN s.state = 'archived' THEN coalesce(
                (SELECT max(t.at) FROM state_transition t WHERE t.skill_id = s.id AND t.to_state = 'archived'),
                (SELECT max(b.archived_at) FROM usage_baseline b WHERE b.skill_id = s.id)) END,
              (SELECT coalesce(sum(b.use_count), 0) FROM usage_baseline b WHERE b.skill_id = s.id),
              (SELECT coalesce(sum(b.view_count + b.file_count), 0) FROM usage_baseline b WHERE b.skill_id = s.id),
              (SELECT count(*) {PATCHES}), r.path || '/' || s.rel_path
            FROM skill s
            JOIN skill_root r ON r.id = s.root_id
            LEFT JOIN manifest m ON m.skill_id = s.id
            LEFT JOIN skill_usage u ON u.skill_id = s.id
            WHERE s.removed_at IS NULL AND r.removed_at IS NULL
            ORDER BY 1, s.id"
        );
        self.rows(
            &sql,
            &[],
            |row| {
                let (uses, views): (u64, u64) = (row.get(4)?, row.get(5)?);
                Ok(RecordRow {
                    own_counts: [
                        uses.saturating_sub(row.get(12)?),
                        views.saturating_sub(row.get(13)?),
                        row.get(14)?,
                    ],
                    name: row.get(0)?,
                    path: row.get(15)?,
                    origin: row.get(1)?,
                    state: row.get(2)?,
                    pinned: row.get(3)?,
                    use_count: uses,
                    view_count: views,
                    patch_count: row.get(6)?,
                    last_use_at: row.get(7)?,
                    last_view_at: row.get(8)?,
                    last_patch_at: row.get(9)?,
                    created_at: row.get(10)?,
                    archived_at: row.get(11)?,
                })
            },
            "list the usage records",
        )
    }

    /// Returns what is noted under a key.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn meta(&self, key: &str) -> Result<Option<String>> {
        const SELECT: &str = "SELECT value FROM meta WHERE key = ?1";
        self.connection
            .query_row(SELECT, [key], |row| row.get(0))
            .optional()
            .map_err(Error::database("read a note"))
    }
}

/// What a baseline says now, and what it said before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Taken {
    /// Whether anything differs from before.
    pub has_changed: bool,
    /// Whether the sidecar's counts went back: it was wiped, and what was counted before is kept.
    pub went_back: bool,
}

/// Adds what a counter gained. One that went back was wiped and began anew.
fn gained(total: u64, seen: u64, now: u64) -> u64 {
    total + if now >= seen { now - seen } else { now }
}

impl Tx<'_> {
    /// Takes over a record's counts. What was taken over before is never lost, also when the sidecar's
    /// counts went back.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn take_baseline(&self, new: &Baseline) -> Result<Taken> {
        const SELECT: &str = "SELECT use_count, view_count, patch_count, seen_use_count, seen_view_count, seen_patch_count, last_use_at, last_view_at, last_patch_at, record
            FROM usage_baseline WHERE skill_id = ?1 AND source = ?2";
        const PUT: &str = "INSERT INTO usage_baseline (skill_id, source, use_count, view_count, patch_count, last_use_at, last_view_at, last_patch_at, archived_at, seen_use_count, seen_view_count, seen_patch_count, record)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)
            ON CONFLICT DO UPDATE SET use_count = ?3, view_count = ?4, patch_count = ?5, last_use_at = ?6, last_view_at = ?7, last_patch_at = ?8, archived_at = ?9,
              seen_use_count = ?10, seen_view_count = ?11, seen_patch_count = ?12, record = ?13";
        self.move_baseline(new)?;
        type Row = ([u64; 6], [Option<String>; 3], Option<String>);
        let old: Option<Row> = self
            .transaction
            .query_row(SELECT, params![new.skill_id, new.source], |row| {
                let mut counts = [0; 6];
                for (index, count) in counts.iter_mut().enumerate() {
                    *count = row.get(index)?;
                }
                Ok((counts, [row.get(6)?, row.get(7)?, row.get(8)?], row.get(9)?))
            })
            .optional()
            .map_err(Error::database("read a baseline"))?;
        let ([uses, views, patches, seen_uses, seen_views, seen_patches], times, record) =
            old.unwrap_or_default();
        let counts = [
            gained(uses, seen_uses, new.use_count),
            gained(views, seen_views, new.view_count),
            gained(patches, seen_patches, new.patch_count),
        ];
        let text = |time: Option<Timestamp>| time.map(|time| time.to_string());
        let [used, viewed, patched] = times.clone();
        let newest = [
            text(new.last_use_at).max(used),
            text(new.last_view_at).max(viewed),
            text(new.last_patch_at).max(patched),
        ];
        let has_changed = record.as_deref() != Some(new.record.as_str());
        let values = params![
            new.skill_id,
            new.source,
            to_sql(Some(counts[0])),
            to_sql(Some(counts[1])),
            to_sql(Some(counts[2])),
            newest[0],
            newest[1],
            newest[2],
            text(new.archived_at),
            to_sql(Some(new.use_count)),
            to_sql(Some(new.view_count)),
            to_sql(Some(new.patch_count)),
            new.record,
        ];
        self.run(PUT, values, "take over counts")?;
        if has_changed {
            self.recount(Some(new.skill_id))?;
        }
        let went_back = new.use_count < seen_uses
            || new.view_count < seen_views
            || new.patch_count < seen_patches;
        Ok(Taken {
            has_changed,
            went_back,
        })
    }

    /// A record counts for one skill: where that is another one by now, its counts go along. Events that were
    /// counted before there was a record are explained by it from now on.
    fn move_baseline(&self, new: &Baseline) -> Result<()> {
        const OTHERS: &str =
            "SELECT skill_id FROM usage_baseline WHERE source = ?1 AND skill_id <> ?2";
        const MOVE: &str =
            "UPDATE usage_baseline SET skill_id = ?2 WHERE source = ?1 AND skill_id <> ?2";
        const EXPLAIN: &str = "UPDATE usage_event SET in_baseline = 1 WHERE skill_id = ?1 AND client = 'hermes' AND in_baseline = 0 AND substr(event_id, 1, 7) = 'hermes:'";
        let others = || {
            self.transaction
                .prepare_cached(OTHERS)?
                .query_map(params![new.source, new.skill_id], |row| row.get(0))?
                .collect::<rusqlite::Result<Vec<i64>>>()
        };
        let others = others().map_err(Error::database("read a baseline"))?;
        self.run(MOVE, params![new.source, new.skill_id], "move a baseline")?;
        let explained = self.count(EXPLAIN, [new.skill_id], "explain events by a baseline")?;
        for other in &others {
            self.recount(Some(*other))?;
        }
        if explained || !others.is_empty() {
            self.recount(Some(new.skill_id))?;
        }
        Ok(())
    }

    /// Adds a change another program made, unless it is known. Returns whether it is new.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn add_imported_change(&self, change: &ImportedChange) -> Result<bool> {
        const INSERT: &str =
            "INSERT INTO change (action, outcome, reason, actor, session_id, at, source, event_id)
            VALUES (?1, ?2, ?3, 'agent', ?4, ?5, ?6, ?7)
            ON CONFLICT DO NOTHING";
        const REVISION: &str = "INSERT INTO revision (change_id, skill_id, title, called_name) VALUES (?1, ?2, ?3, ?4)";
        let outcome = if change.is_applied {
            "applied"
        } else {
            "failed"
        };
        let values = params![
            change.action,
            outcome,
            change.reason,
            change.session_id,
            change.at.to_string(),
            change.source,
            change.event_id
        ];
        let count = self
            .transaction
            .execute(INSERT, values)
            .map_err(Error::database("take over a change"))?;
        if count == 0 {
            return Ok(false);
        }
        let title = format!("{} in {}", change.action.replace('_', " "), change.source);
        let values = params![
            self.transaction.last_insert_rowid(),
            change.skill_id,
            title,
            change.called_name
        ];
        self.run(REVISION, values, "take over a change")?;
        Ok(true)
    }

    /// Adds the life of a skill that another program counted and whose folder is not there; the one that
    /// is at its place already, if there is one.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn add_vanished_skill(
        &self,
        root_id: i64,
        rel_path: &str,
        state: &str,
        now: Timestamp,
    ) -> Result<i64> {
        const INSERT: &str = "INSERT INTO skill (root_id, rel_path, origin, origin_evidence, state, created_at, missing_since)
            VALUES (?1, ?2, 'unknown', 'hermes: a usage record without a folder', ?3, ?4, ?4)";
        const SELECT: &str =
            "SELECT id FROM skill WHERE root_id = ?1 AND rel_path = ?2 AND removed_at IS NULL";
        let known: Option<i64> = self
            .transaction
            .query_row(SELECT, params![root_id, rel_path], |row| row.get(0))
            .optional()
            .map_err(Error::database("look up a skill by its place"))?;
        if let Some(id) = known {
            return Ok(id);
        }
        let values = params![root_id, rel_path, state, now.to_string()];
        self.run(INSERT, values, "add a skill without a folder")?;
        Ok(self.transaction.last_insert_rowid())
    }

    /// Notes something under a key. Returns whether it is news.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn put_meta(&self, key: &str, value: &str) -> Result<bool> {
        const PUT: &str = "INSERT INTO meta (key, value) VALUES (?1, ?2)
            ON CONFLICT (key) DO UPDATE SET value = excluded.value WHERE value <> excluded.value";
        self.count(PUT, params![key, value], "take a note")
    }

    /// Runs a statement and says whether it changed a row.
    pub(super) fn count(
        &self,
        sql: &str,
        values: impl rusqlite::Params,
        context: &'static str,
    ) -> Result<bool> {
        let run = || self.transaction.prepare_cached(sql)?.execute(values);
        run()
            .map(|count| count > 0)
            .map_err(Error::database(context))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wiped_counter_goes_on_from_what_was_counted() {
        assert_eq!(gained(0, 0, 6), 6);
        assert_eq!(gained(6, 6, 8), 8);
        assert_eq!(gained(8, 8, 1), 9);
        assert_eq!(gained(9, 1, 2), 10);
    }
}
