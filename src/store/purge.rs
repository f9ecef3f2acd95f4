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

    /// Overwrites what was removed from the database: its free pages, and the log. Says whether all of it could be:
    /// a reader keeps what it reads.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn scrub(&self) -> Result<bool> {
        let scrub = || -> rusqlite::Result<bool> {
            self.connection.execute_batch("VACUUM")?;
            let is_busy: bool =
                self.connection
                    .query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get(0))?;
            Ok(!is_busy)
        };
        scrub().map_err(Error::database("overwrite what was removed"))
    }

    /// Counts the proposals that hold a text.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn proposals_holding(&self, text: &str) -> Result<usize> {
        let select = format!("SELECT count(*) FROM proposal WHERE {HOLDS}");
        self.connection
            .query_row(&select, params![quoted(text), text], |row| row.get(0))
            .map_err(Error::database("look into proposals"))
    }
}

const HOLDS: &str =
    "instr(request, ?1) > 0 OR instr(diff, ?2) > 0 OR instr(coalesce(reason, ''), ?2) > 0";

/// A text as it stands inside a JSON string.
fn quoted(text: &str) -> String {
    let quoted = serde_json::Value::from(text).to_string();
    quoted.trim_matches('"').to_owned()
}

/// Where words of callers and of files that are gone are kept, and the rules that keep them from being rewritten.
const WORDS: [(&str, &str); 11] = [
    ("change", "reason"),
    ("change", "message"),
    ("change", "session_id"),
    ("revision", "title"),
    ("revision", "called_name"),
    ("mark", "reason"),
    ("mark", "session_id"),
    ("state_transition", "reason"),
    ("usage_event", "args"),
    ("usage_event", "called_name"),
    ("skill", "pin_reason"),
];
const RULES: [&str; 3] = [
    "change_settles_once",
    "revision_is_never_rewritten",
    "usage_event_is_never_rewritten",
];
/// What is put in the place of a purged text.
const GONE: &str = "[purged]";

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

    /// Takes a text out of everything that was said about changes, and out of what is known of skills that are gone.
    /// Returns how many rows held it.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn purge_words(&self, text: &str) -> Result<usize> {
        const SELECT: &str = "SELECT sql FROM sqlite_schema WHERE type = 'trigger' AND name = ?1";
        let fail = || Error::database("purge words");
        let mut rules: Vec<String> = Vec::new();
        for name in RULES {
            let rule = self
                .transaction
                .query_row(SELECT, [name], |row| row.get(0))
                .map_err(fail())?;
            rules.push(rule);
            self.transaction
                .execute_batch(&format!("DROP TRIGGER {name}"))
                .map_err(fail())?;
        }
        let mut count = 0;
        for (table, column) in WORDS {
            let update = format!(
                "UPDATE {table} SET {column} = replace({column}, ?1, ?2) WHERE instr({column}, ?1) > 0"
            );
            count += self
                .transaction
                .execute(&update, [text, GONE])
                .map_err(fail())?;
        }
        for column in ["description", "frontmatter"] {
            let update = format!(
                "UPDATE manifest SET {column} = replace({column}, ?1, ?2) WHERE instr({column}, ?1) > 0
                   AND skill_id IN (SELECT id FROM skill WHERE removed_at IS NOT NULL OR missing_since IS NOT NULL)"
            );
            count += self
                .transaction
                .execute(&update, [text, GONE])
                .map_err(fail())?;
        }
        rules
            .iter()
            .try_for_each(|rule| self.transaction.execute_batch(rule).map_err(fail()))?;
        Ok(count)
    }

    /// Closes proposals that hold a text, and takes it out of them. Returns how many there were.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn purge_proposals(&self, text: &str, now: Timestamp) -> Result<usize> {
        let update = format!(
            "UPDATE proposal SET request = '{{}}', diff = '', reason = NULL, decided_at = coalesce(decided_at, ?3), decision = coalesce(decision, 'rejected'), note = coalesce(note, 'purged') WHERE {HOLDS}"
        );
        self.transaction
            .execute(&update, params![quoted(text), text, now.to_string()])
            .map_err(Error::database("purge proposals"))
    }
}
