//! What `stats` tells. Made from counters and days, so that it does not depend on the number of events.

use rusqlite::Row;

use super::super::Store;
use crate::error::{Error, Result};
use crate::time::Timestamp;

/// The whole library in numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Totals {
    /// Live skills.
    pub skills: u64,
    /// Of those: used at least once.
    pub used: u64,
    /// Foreground uses, what was taken over included.
    pub uses: u64,
    /// Foreground views.
    pub views: u64,
    /// Foreground file reads.
    pub files: u64,
    /// Of all those: failed.
    pub failures: u64,
    /// Uses, views and file reads by reviewers and curators.
    pub background: u64,
    /// Events in the ledger.
    pub events: u64,
    /// Of those: calls of skills that are not installed.
    pub not_installed: u64,
}

/// One skill and how often it was used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkillUse {
    /// Row id.
    pub id: i64,
    /// What people call it.
    pub name: String,
    /// Absolute path of its folder.
    pub path: String,
    /// Uses.
    pub uses: u64,
    /// Views.
    pub views: u64,
    /// File reads.
    pub files: u64,
    /// Failures.
    pub failures: u64,
    /// Newest of all those.
    pub last_at: Option<String>,
}

/// Uses and views of one skill in two spans of equal length.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrendRow {
    /// What people call it.
    pub name: String,
    /// Row id.
    pub id: i64,
    /// In the newer span.
    pub now: u64,
    /// In the older one.
    pub before: u64,
    /// Absolute path of its folder.
    pub path: String,
}

/// A name that was called and is not installed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotInstalled {
    /// The name as called.
    pub name: String,
    /// How often.
    pub calls: u64,
    /// How often that failed.
    pub failures: u64,
    /// The last time.
    pub last_at: String,
    /// The clients that called it.
    pub clients: Option<String>,
    /// Live skills of that name, where nothing says which was meant.
    pub copies: u64,
}

/// Who reached for skills.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientUse {
    /// The client; empty when nobody said.
    pub client: String,
    /// What reached.
    pub trigger: String,
    /// Uses, views and file reads.
    pub events: u64,
    /// Of those: failed.
    pub failures: u64,
}

/// A live skill that nobody touched for long.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StaleRow {
    /// Row id.
    pub id: i64,
    /// What people call it.
    pub name: String,
    /// Since when: newest use, view, file read or edit by hand, else when it was first seen.
    pub since: String,
    /// Whether it was ever used.
    pub was_used: bool,
    /// Absolute path of its folder.
    pub path: String,
}

/// Uses and views of one day.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DayCount {
    /// `YYYY-MM-DD`, UTC.
    pub day: String,
    /// Uses and views.
    pub events: u64,
    /// Of those: failed.
    pub failures: u64,
}

/// What a skill cost.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CostRow {
    /// What people call it.
    pub name: String,
    /// Tokens read.
    pub tokens_in: u64,
    /// Tokens written.
    pub tokens_out: u64,
    /// Uses whose cost is known.
    pub uses: u64,
}

const LIVE: &str = "FROM skill s
    JOIN skill_root r ON r.id = s.root_id
    JOIN manifest m ON m.skill_id = s.id
    LEFT JOIN skill_usage u ON u.skill_id = s.id
    WHERE s.missing_since IS NULL AND s.removed_at IS NULL AND r.removed_at IS NULL AND m.parse_status <> 'unreadable' AND s.state <> 'archived'";
/// Neither it nor what it absorbed was used.
const UNUSED: &str = "coalesce(u.use_count, 0) = 0
    AND NOT EXISTS (WITH RECURSIVE part (id) AS (
        SELECT a.id FROM skill a WHERE a.absorbed_into = s.id
        UNION SELECT a.id FROM part p CROSS JOIN skill a ON a.absorbed_into = p.id)
      SELECT 1 FROM part JOIN skill_usage iu ON iu.skill_id = part.id WHERE iu.use_count > 0 AND part.id <> s.id)";
/// Newest foreground activity or edit by hand; a skill that had none is as old as its row.
const ANCHOR: &str = "coalesce(nullif(max(coalesce(u.last_use_at, ''), coalesce(u.last_view_at, ''), coalesce(u.last_file_at, ''), coalesce(s.human_edited_at, '')), ''), s.created_at)";

impl Store {
    /// Returns the library in numbers.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn totals(&self) -> Result<Totals> {
        let skills = format!("SELECT count(*), coalesce(sum(NOT ({UNUSED})), 0) {LIVE}");
        const COUNTS: &str = "SELECT coalesce(sum(use_count), 0), coalesce(sum(view_count), 0), coalesce(sum(file_count), 0), coalesce(sum(failure_count), 0),
              coalesce(sum(background_use_count + background_view_count + background_file_count), 0)
            FROM skill_usage";
        const EVENTS: &str = "SELECT (SELECT coalesce(sum(events), 0) FROM usage_total), (SELECT count(*) FROM usage_event WHERE skill_id IS NULL)";
        let query = || -> rusqlite::Result<Totals> {
            let mut totals = Totals::default();
            (totals.skills, totals.used) = self
                .connection
                .query_row(&skills, [], |row| Ok((row.get(0)?, row.get(1)?)))?;
            self.connection.query_row(COUNTS, [], |row| {
                totals.uses = row.get(0)?;
                totals.views = row.get(1)?;
                totals.files = row.get(2)?;
                totals.failures = row.get(3)?;
                totals.background = row.get(4)?;
                Ok(())
            })?;
            (totals.events, totals.not_installed) =
                self.connection
                    .query_row(EVENTS, [], |row| Ok((row.get(0)?, row.get(1)?)))?;
            Ok(totals)
        };
        query().map_err(Error::database("add up the usage"))
    }

    /// Returns the live skills that were used or viewed, most used first.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn most_used(&self, limit: u32) -> Result<Vec<SkillUse>> {
        let sql = format!(
            "SELECT s.id, m.name, r.path, s.rel_path, u.use_count, u.view_count, u.file_count, u.failure_count,
               nullif(max(coalesce(u.last_use_at, ''), coalesce(u.last_view_at, ''), coalesce(u.last_file_at, '')), '')
             {LIVE} AND (u.use_count > 0 OR u.view_count > 0)
             ORDER BY u.use_count DESC, u.view_count DESC, m.name, s.id LIMIT ?1"
        );
        self.rows(&sql, &[&limit], skill_use, "list the most used skills")
    }

    /// Returns the live skills that were never used, viewed ones too, by name.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn never_used(&self) -> Result<Vec<SkillUse>> {
        let sql = format!(
            "SELECT s.id, m.name, r.path, s.rel_path, 0, coalesce(u.view_count, 0), coalesce(u.file_count, 0), coalesce(u.failure_count, 0),
               nullif(max(coalesce(u.last_view_at, ''), coalesce(u.last_file_at, '')), '')
             {LIVE} AND {UNUSED}
             ORDER BY m.name, s.id"
        );
        self.rows(&sql, &[], skill_use, "list the skills that were never used")
    }

    /// Returns the skills that were used and whose folders vanished, most used first.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn used_and_vanished(&self, limit: u32) -> Result<Vec<SkillUse>> {
        const SELECT: &str = "SELECT s.id, coalesce(m.name, ''), r.path, s.rel_path, u.use_count, u.view_count, u.file_count, u.failure_count,
              nullif(max(coalesce(u.last_use_at, ''), coalesce(u.last_view_at, ''), coalesce(u.last_file_at, '')), '')
            FROM skill s
            JOIN skill_root r ON r.id = s.root_id
            JOIN skill_usage u ON u.skill_id = s.id
            LEFT JOIN manifest m ON m.skill_id = s.id
            WHERE s.missing_since IS NOT NULL AND s.removed_at IS NULL AND r.removed_at IS NULL AND u.use_count + u.view_count > 0
            ORDER BY u.use_count DESC, u.view_count DESC, 2, s.id LIMIT ?1";
        let context = "list the skills that vanished";
        let mut skills = self.rows(SELECT, &[&limit], skill_use, context)?;
        for skill in skills.iter_mut().filter(|skill| skill.name.is_empty()) {
            // Never read: its folder would have its name.
            let folder = skill.path.rsplit('/').next().unwrap_or_default().to_owned();
            skill.name = folder;
        }
        Ok(skills)
    }

    /// Returns uses and views of each skill in the `days` days up to `today` and in as many before.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn trend(&self, today: Timestamp, days: i64) -> Result<Vec<TrendRow>> {
        const SELECT: &str = "SELECT m.name, d.skill_id, coalesce(sum(d.events) FILTER (WHERE d.day > ?1), 0), coalesce(sum(d.events) FILTER (WHERE d.day <= ?1), 0), m.path
            FROM usage_day d
            JOIN v_skill m ON m.id = d.skill_id AND m.state <> 'archived'
            WHERE d.day > ?2 AND d.day <= ?3 AND d.skill_id <> 0 AND d.kind IN ('use', 'view') AND d.background = 0
            GROUP BY d.skill_id";
        let values = [
            today.days_before(days).day(),
            today.days_before(2 * days).day(),
            today.day(),
        ];
        self.rows(
            SELECT,
            &[&values[0], &values[1], &values[2]],
            |row| {
                Ok(TrendRow {
                    name: row.get(0)?,
                    id: row.get(1)?,
                    now: row.get(2)?,
                    before: row.get(3)?,
                    path: row.get(4)?,
                })
            },
            "compare the last weeks",
        )
    }

    /// Returns names that were called and are not installed, most called first.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn not_installed(&self, limit: u32) -> Result<Vec<NotInstalled>> {
        const SELECT: &str = "SELECT name, calls, failures, last_at, clients, copies FROM v_not_installed ORDER BY calls DESC, name LIMIT ?1";
        self.rows(
            SELECT,
            &[&limit],
            |row| {
                Ok(NotInstalled {
                    name: row.get(0)?,
                    calls: row.get(1)?,
                    failures: row.get(2)?,
                    last_at: row.get(3)?,
                    clients: row.get(4)?,
                    copies: row.get(5)?,
                })
            },
            "list what is not installed",
        )
    }

    /// Returns who reached for skills, most events first.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn by_client(&self) -> Result<Vec<ClientUse>> {
        const SELECT: &str = "SELECT client, \"trigger\", events, failures FROM usage_total WHERE background = 0 ORDER BY 3 DESC, 1, 2";
        self.rows(
            SELECT,
            &[],
            |row| {
                Ok(ClientUse {
                    client: row.get(0)?,
                    trigger: row.get(1)?,
                    events: row.get(2)?,
                    failures: row.get(3)?,
                })
            },
            "add up the usage by client",
        )
    }

    /// Returns active skills, not pinned, that nobody touched since `before`, longest first.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn untouched_since(&self, before: Timestamp) -> Result<Vec<StaleRow>> {
        let sql = format!(
            "SELECT s.id, m.name, {ANCHOR} AS since, coalesce(u.use_count, 0) > 0, CASE WHEN s.rel_path = '.' THEN r.path ELSE r.path || '/' || s.rel_path END {LIVE}
             AND s.state = 'active' AND s.pinned = 0 AND {ANCHOR} <= ?1 ORDER BY since, m.name"
        );
        self.rows(
            &sql,
            &[&before.to_string()],
            |row| {
                Ok(StaleRow {
                    id: row.get(0)?,
                    name: row.get(1)?,
                    since: row.get(2)?,
                    was_used: row.get(3)?,
                    path: row.get(4)?,
                })
            },
            "list the skills nobody touched",
        )
    }

    /// Returns uses and views by day from `from` on; days without any are left out.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn days(&self, from: Timestamp) -> Result<Vec<DayCount>> {
        const SELECT: &str = "SELECT day, sum(events), sum(failures) FROM usage_day WHERE day >= ?1 AND kind IN ('use', 'view') AND background = 0 GROUP BY day ORDER BY day";
        self.rows(SELECT, &[&from.day()], day_count, "add up the days")
    }

    /// Returns the skills whose cost is known, dearest first.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn costs(&self, limit: u32) -> Result<Vec<CostRow>> {
        // Added up in the order of the index first.
        const SELECT: &str = "SELECT coalesce(m.name, u.called_name), sum(u.tokens_in), sum(u.tokens_out), sum(u.uses)
            FROM (SELECT skill_id, called_name, sum(tokens_in) AS tokens_in, coalesce(sum(tokens_out), 0) AS tokens_out, count(*) AS uses
                  FROM usage_event WHERE tokens_in IS NOT NULL GROUP BY skill_id, called_name
                  UNION ALL
                  SELECT NULL, called_name, tokens_in, tokens_out, 0 FROM usage_cost WHERE usage_event_id IS NULL) u
            LEFT JOIN manifest m ON m.skill_id = u.skill_id
            GROUP BY coalesce(u.skill_id, u.called_name)
            ORDER BY sum(u.tokens_in) + sum(u.tokens_out) DESC, 1 LIMIT ?1";
        self.rows(
            SELECT,
            &[&limit],
            |row| {
                Ok(CostRow {
                    name: row.get(0)?,
                    tokens_in: row.get(1)?,
                    tokens_out: row.get(2)?,
                    uses: row.get(3)?,
                })
            },
            "add up what skills cost",
        )
    }
}

fn skill_use(row: &Row<'_>) -> rusqlite::Result<SkillUse> {
    let (root, rel_path): (String, String) = (row.get(2)?, row.get(3)?);
    Ok(SkillUse {
        id: row.get(0)?,
        name: row.get(1)?,
        path: if rel_path == "." {
            root
        } else {
            format!("{root}/{rel_path}")
        },
        uses: row.get(4)?,
        views: row.get(5)?,
        files: row.get(6)?,
        failures: row.get(7)?,
        last_at: row.get(8)?,
    })
}

pub(super) fn day_count(row: &Row<'_>) -> rusqlite::Result<DayCount> {
    Ok(DayCount {
        day: row.get(0)?,
        events: row.get(1)?,
        failures: row.get(2)?,
    })
}
