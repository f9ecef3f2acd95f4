//! Marks that another program put on skills: where they came from, who made them, whether they are pinned.

use rusqlite::params;

use super::super::Tx;
use crate::error::{Error, Result};
use crate::time::Timestamp;

/// Where an installed skill came from, as an installer noted it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Install {
    /// The file that says so.
    pub noted_in: String,
    /// The name it is noted under.
    pub name: String,
    /// The skill, if it is there.
    pub skill_id: Option<i64>,
    /// Kind of source, such as `github`.
    pub source: Option<String>,
    /// Which one there.
    pub identifier: Option<String>,
    /// The installer's trust.
    pub trust_level: Option<String>,
    /// The installer's verdict.
    pub scan_verdict: Option<String>,
    /// The installer's hash.
    pub content_hash: Option<String>,
    /// Path relative to the root; `None` when it leads out of it.
    pub install_path: Option<String>,
    /// Its files as a JSON list.
    pub files: String,
    /// Whatever else was noted, as JSON.
    pub metadata: String,
    /// When it was installed, as noted.
    pub installed_at: Option<String>,
    /// When it was updated, as noted.
    pub updated_at: Option<String>,
}

impl Tx<'_> {
    /// Notes where a skill was installed from. Returns whether anything differs from what was noted.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn put_install(&self, install: &Install) -> Result<bool> {
        const PUT: &str = "INSERT INTO skill_install (noted_in, name, skill_id, source, identifier, trust_level, scan_verdict, content_hash, install_path, files, metadata, installed_at, updated_at)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)
            ON CONFLICT (noted_in, name) DO UPDATE SET skill_id = ?3, source = ?4, identifier = ?5, trust_level = ?6, scan_verdict = ?7, content_hash = ?8, install_path = ?9, files = ?10, metadata = ?11, installed_at = ?12, updated_at = ?13
            WHERE (skill_id, source, identifier, trust_level, scan_verdict, content_hash, install_path, files, metadata, installed_at, updated_at)
              IS NOT (?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)";
        let values = params![
            install.noted_in,
            install.name,
            install.skill_id,
            install.source,
            install.identifier,
            install.trust_level,
            install.scan_verdict,
            install.content_hash,
            install.install_path,
            install.files,
            install.metadata,
            install.installed_at,
            install.updated_at
        ];
        self.transaction
            .execute(PUT, values)
            .map(|count| count > 0)
            .map_err(Error::database("note where a skill came from"))
    }

    /// Notes who made a skill, where nobody said so before. Returns whether that is news.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn take_origin(
        &self,
        id: i64,
        origin: &str,
        evidence: &str,
        trust: Option<&str>,
    ) -> Result<bool> {
        const UPDATE: &str = "UPDATE skill SET origin = ?2, origin_evidence = ?3, trust = coalesce(?4, trust)
            WHERE id = ?1 AND (origin = 'unknown' OR origin_evidence LIKE 'hermes: %') AND (origin, origin_evidence) IS NOT (?2, ?3)";
        self.count(
            UPDATE,
            params![id, origin, evidence, trust],
            "note who made a skill",
        )
    }

    /// Forgets installs that a whole lock file does not name any more; the skills are nobody's again.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn keep_installs(&self, noted_in: &str, names: &[&str]) -> Result<Vec<String>> {
        const GONE: &str = "SELECT name, skill_id FROM skill_install WHERE noted_in = ?1";
        const DELETE: &str = "DELETE FROM skill_install WHERE noted_in = ?1 AND name = ?2";
        const FREE: &str = "UPDATE skill SET origin = 'unknown', origin_evidence = 'hermes: not installed by the hub any more', trust = NULL WHERE id = ?1 AND origin = 'hub'";
        let read = || {
            self.transaction
                .prepare_cached(GONE)?
                .query_map([noted_in], |row| Ok((row.get(0)?, row.get(1)?)))?
                .collect::<rusqlite::Result<Vec<(String, Option<i64>)>>>()
        };
        let mut gone = read().map_err(Error::database("list installs"))?;
        gone.retain(|(name, _)| !names.contains(&name.as_str()));
        for (name, skill_id) in &gone {
            self.run(DELETE, params![noted_in, name], "forget an install")?;
            if let Some(id) = skill_id {
                self.run(FREE, [id], "forget an install")?;
            }
        }
        Ok(gone.into_iter().map(|(name, _)| name).collect())
    }

    /// Says whether a skill's present state was taken over from another program.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn is_state_imported(&self, id: i64) -> Result<bool> {
        const SELECT: &str = "SELECT coalesce((SELECT actor = 'import' FROM state_transition WHERE skill_id = ?1 ORDER BY id DESC LIMIT 1), 0)";
        self.transaction
            .query_row(SELECT, [id], |row| row.get(0))
            .map_err(Error::database("look up a state"))
    }

    /// Pins a skill that is not pinned. Returns whether it was not.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn take_pin(&self, id: i64, reason: &str) -> Result<bool> {
        const UPDATE: &str =
            "UPDATE skill SET pinned = 1, pin_reason = ?2 WHERE id = ?1 AND pinned = 0";
        self.count(UPDATE, params![id, reason], "pin a skill")
    }

    /// Takes a pin off that was taken over. Returns whether there was one.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn take_unpin(&self, id: i64, reason: &str) -> Result<bool> {
        const UPDATE: &str = "UPDATE skill SET pinned = 0, pin_reason = NULL WHERE id = ?1 AND pinned = 1 AND pin_reason = ?2";
        self.count(UPDATE, params![id, reason], "unpin a skill")
    }

    /// Notes that a skill was known earlier than this library knew it.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn known_since(&self, id: i64, at: Timestamp) -> Result<bool> {
        const UPDATE: &str = "UPDATE skill SET created_at = ?2 WHERE id = ?1 AND created_at > ?2";
        self.count(
            UPDATE,
            params![id, at.to_string()],
            "note how old a skill is",
        )
    }
}
