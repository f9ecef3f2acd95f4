//! What the rules of ageing look at: every skill that is there, with the moments that count for it.

use std::collections::HashMap;
use std::path::PathBuf;

use super::facts::{COLUMN_COUNT, COLUMNS, PRESENT, SkillFacts, from_row};
use super::{Store, Tx};
use crate::error::Result;
use crate::time::Timestamp;

/// A skill that is there and not archived, with the moments that count. Each in the text form that sorts by time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CurationRow {
    /// Whose it is, where it lies, its state.
    pub facts: SkillFacts,
    /// The folder its folder lies in, relative to the root.
    pub category: String,
    /// Foreground uses.
    pub use_count: u64,
    /// First known.
    pub created_at: String,
    /// Newest foreground use.
    pub used_at: Option<String>,
    /// Newest foreground view.
    pub viewed_at: Option<String>,
    /// Newest foreground reading of a supporting file.
    pub read_at: Option<String>,
    /// Newest applied change by a person, an agent, or by hand.
    pub changed_at: Option<String>,
    /// When it last came back from the archive, or after its folder had vanished.
    pub restored_at: Option<String>,
    /// Newest activity of what it absorbed.
    pub inherited_at: Option<String>,
}

/// A skill the ledgers know and whose folder is not there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Orphan {
    /// Row id.
    pub id: i64,
    /// What people call it.
    pub name: String,
    /// Where it lay.
    pub path: String,
    /// Since when it is known to be gone.
    pub missing_since: String,
}

impl Store {
    /// Returns every skill that is there and not archived, by name and path.
    ///
    /// # Errors
    /// [`crate::Error::Database`].
    pub fn curation_rows(&self) -> Result<Vec<CurationRow>> {
        let select = format!(
            "SELECT {COLUMNS}, coalesce(m.category, ''), k.use_count, k.created_at, k.last_use_at, k.last_view_at, k.last_file_at,
               k.last_change_at, k.restored_at, k.inherited_at
             FROM skill s
             JOIN skill_root r ON r.id = s.root_id
             LEFT JOIN manifest m ON m.skill_id = s.id
             JOIN skill_clock k ON k.skill_id = s.id
             WHERE s.state <> 'archived' AND {PRESENT}
             ORDER BY 7, r.path, s.rel_path"
        );
        self.rows(
            &select,
            &[],
            |row| {
                let at = |index: usize| COLUMN_COUNT + index;
                Ok(CurationRow {
                    facts: from_row(row)?,
                    category: row.get(at(0))?,
                    use_count: row.get(at(1))?,
                    created_at: row.get(at(2))?,
                    used_at: row.get(at(3))?,
                    viewed_at: row.get(at(4))?,
                    read_at: row.get(at(5))?,
                    changed_at: row.get(at(6))?,
                    restored_at: row.get(at(7))?,
                    inherited_at: row.get(at(8))?,
                })
            },
            "look at what ages",
        )
    }

    /// Returns when a skill was last used, viewed or read from in the foreground.
    ///
    /// # Errors
    /// [`crate::Error::Database`].
    pub fn newest_activity(&self, skill: i64) -> Result<Option<String>> {
        const SELECT: &str = "SELECT nullif(max(coalesce(last_use_at, ''), coalesce(last_view_at, ''), coalesce(last_file_at, '')), '')
            FROM skill_usage WHERE skill_id = ?1";
        let read = |row: &rusqlite::Row<'_>| row.get(0);
        let rows: Vec<Option<String>> =
            self.rows(SELECT, &[&skill], read, "look when a skill was used")?;
        Ok(rows.into_iter().next().flatten())
    }

    /// Returns the tags of every skill that has some.
    ///
    /// # Errors
    /// [`crate::Error::Database`].
    pub fn tags_by_skill(&self) -> Result<HashMap<i64, Vec<String>>> {
        const SELECT: &str = "SELECT skill_id, tag FROM skill_tag ORDER BY skill_id, tag";
        let rows = self.rows(
            SELECT,
            &[],
            |row| Ok((row.get(0)?, row.get(1)?)),
            "read tags",
        )?;
        let mut tags: HashMap<i64, Vec<String>> = HashMap::new();
        for (skill, tag) in rows {
            tags.entry(skill).or_default().push(tag);
        }
        Ok(tags)
    }

    /// Returns the skills that the ledgers know and whose folder is not there, by name.
    ///
    /// # Errors
    /// [`crate::Error::Database`].
    pub fn orphans(&self) -> Result<Vec<Orphan>> {
        const SELECT: &str = "SELECT id, name, root || '/' || rel_path, missing_since FROM v_missing ORDER BY name, id";
        self.rows(
            SELECT,
            &[],
            |row| {
                Ok(Orphan {
                    id: row.get(0)?,
                    name: row.get(1)?,
                    path: row.get(2)?,
                    missing_since: row.get(3)?,
                })
            },
            "look for records without a folder",
        )
    }

    /// Returns what a skill has absorbed, and what that had absorbed: rows.
    ///
    /// # Errors
    /// [`crate::Error::Database`].
    pub fn absorbed_by(&self, id: i64) -> Result<Vec<i64>> {
        const SELECT: &str = "WITH RECURSIVE part (id) AS (
              SELECT id FROM skill WHERE absorbed_into = ?1
              UNION SELECT a.id FROM part p JOIN skill a ON a.absorbed_into = p.id)
            SELECT id FROM part WHERE id <> ?1 ORDER BY id";
        self.rows(
            SELECT,
            &[&id],
            |row| row.get(0),
            "look up what was absorbed",
        )
    }

    /// Returns what a skill was absorbed into, and that, to the end of the chain; `None` for one that stands on its
    /// own, and for a chain without an end.
    ///
    /// # Errors
    /// [`crate::Error::Database`].
    pub fn heir_of(&self, id: i64) -> Result<Option<i64>> {
        const SELECT: &str = "WITH RECURSIVE heir (id) AS (
              SELECT absorbed_into FROM skill WHERE id = ?1
              UNION SELECT s.absorbed_into FROM heir h JOIN skill s ON s.id = h.id WHERE s.absorbed_into IS NOT NULL)
            SELECT h.id FROM heir h JOIN skill s ON s.id = h.id WHERE s.absorbed_into IS NULL";
        let rows = self.rows(SELECT, &[&id], |row| row.get(0), "look up an heir")?;
        Ok(rows.into_iter().next())
    }

    /// Returns the live skills that have a name: rows.
    ///
    /// # Errors
    /// [`crate::Error::Database`].
    pub fn live_with_name(&self, name: &str) -> Result<Vec<i64>> {
        let select = format!(
            "SELECT s.id FROM manifest m JOIN skill s ON s.id = m.skill_id JOIN skill_root r ON r.id = s.root_id
             WHERE m.name = ?1 AND s.state <> 'archived' AND {PRESENT} ORDER BY s.id"
        );
        self.rows(&select, &[&name], |row| row.get(0), "look up a name")
    }

    /// Returns the paths of a skill's supporting files, as the mirror knows them.
    ///
    /// # Errors
    /// [`crate::Error::Database`].
    pub fn supporting_files(&self, id: i64) -> Result<Vec<String>> {
        const SELECT: &str =
            "SELECT rel_path FROM skill_file WHERE skill_id = ?1 ORDER BY rel_path";
        self.rows(SELECT, &[&id], |row| row.get(0), "list supporting files")
    }

    /// Returns the newest activity of people and agents at work up to `now`: uses, views, files read, changes. What
    /// claims to lie in the future is passed over.
    ///
    /// # Errors
    /// [`crate::Error::Database`].
    pub fn last_foreground_at(&self, now: Timestamp) -> Result<Option<String>> {
        // Calls of what is not installed are activity, too; the index by name has no order by time, the days have.
        const SELECT: &str = "SELECT nullif(max(at), '') FROM (
              SELECT max(coalesce(iif(last_use_at <= ?1, last_use_at, ''), ''), coalesce(iif(last_view_at <= ?1, last_view_at, ''), ''),
                         coalesce(iif(last_file_at <= ?1, last_file_at, ''), '')) AS at FROM skill_usage
              UNION ALL
              SELECT at FROM usage_event WHERE skill_id IS NULL AND actor NOT IN ('background_review', 'curator') AND at <= ?1
              UNION ALL
              SELECT * FROM (SELECT at FROM change WHERE actor IN ('user', 'agent') AND outcome = 'applied' AND source IS NULL AND at <= ?1 ORDER BY id DESC LIMIT 1))";
        let rows = self.rows(
            SELECT,
            &[&now.to_string()],
            |row| row.get(0),
            "look for the last activity",
        )?;
        Ok(rows.into_iter().next().flatten())
    }

    /// Returns the newest moment that this library itself noted: a sync, a change, a run.
    ///
    /// # Errors
    /// [`crate::Error::Database`].
    pub fn last_entry_at(&self) -> Result<Option<String>> {
        const SELECT: &str = "SELECT nullif(max(at), '') FROM (
              SELECT coalesce((SELECT value FROM meta WHERE key = 'synced_at'), '') AS at
              UNION ALL SELECT * FROM (SELECT at FROM change WHERE source IS NULL ORDER BY id DESC LIMIT 1)
              UNION ALL SELECT coalesce(max(started_at), '') FROM curator_run
              UNION ALL SELECT coalesce(max(created_at), '') FROM skill
              UNION ALL SELECT coalesce(max(max(coalesce(last_use_at, ''), coalesce(last_view_at, ''), coalesce(last_file_at, ''))), '') FROM skill_usage)";
        let rows = self.rows(SELECT, &[], |row| row.get(0), "look for the newest entry")?;
        Ok(rows.into_iter().next().flatten())
    }

    /// Returns the Hermes homes that were taken over.
    ///
    /// # Errors
    /// [`crate::Error::Database`].
    pub fn hermes_homes(&self) -> Result<Vec<PathBuf>> {
        const SELECT: &str = "SELECT substr(key, length('hermes.home ') + 1) FROM meta WHERE key LIKE 'hermes.home %' ORDER BY key";
        self.rows(
            SELECT,
            &[],
            |row| row.get::<_, String>(0).map(PathBuf::from),
            "look for Hermes homes",
        )
    }

    /// Returns when a sync last wrote the mirror.
    ///
    /// # Errors
    /// [`crate::Error::Database`].
    pub fn synced_at(&self) -> Result<Option<String>> {
        self.meta("synced_at")
    }

    /// Returns a number that every change of what the mirror says raises.
    ///
    /// # Errors
    /// [`crate::Error::Database`].
    pub fn generation(&self) -> Result<Option<String>> {
        self.meta("generation")
    }
}

impl Tx<'_> {
    /// Notes that the mirror was brought up to the files.
    ///
    /// # Errors
    /// [`crate::Error::Database`].
    pub fn note_synced(&self, now: Timestamp) -> Result<()> {
        self.put_meta("synced_at", &now.to_string()).map(|_| ())
    }
}
