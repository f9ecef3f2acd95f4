//! What is known about a skill when somebody wants to change it, and which names are taken.

use std::collections::HashMap;
use std::path::PathBuf;

use rusqlite::{OptionalExtension, Row, params};

use super::{Store, Tx};
use crate::error::{Error, Result};

/// What is known about a skill when somebody wants to change it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkillFacts {
    /// Row id.
    pub id: i64,
    /// The root's row.
    pub root_id: i64,
    /// Absolute path of the root.
    pub root: PathBuf,
    /// The word for the root's kind.
    pub root_kind: String,
    /// Whether files below the root may be changed.
    pub is_writable: bool,
    /// Path relative to the root.
    pub rel_path: String,
    /// What people call it.
    pub name: String,
    /// The skill file's name.
    pub file_name: String,
    /// user, agent, bundled, hub, external, unknown.
    pub origin: String,
    /// active, stale, archived.
    pub state: String,
    /// Whether it is pinned.
    pub is_pinned: bool,
    /// When a person last changed what an agent made.
    pub human_edited_at: Option<String>,
    /// Where it lay before it was archived.
    pub archived_from: Option<String>,
    /// Whether its life was ended through skilldb.
    pub has_ended: bool,
    /// Whether its folder vanished.
    pub is_missing: bool,
}

impl SkillFacts {
    /// Absolute path of its folder.
    #[must_use]
    pub fn path(&self) -> PathBuf {
        if self.rel_path == "." {
            self.root.clone()
        } else {
            self.root.join(&self.rel_path)
        }
    }

    /// Whether an agent made it and no person changed it since.
    #[must_use]
    pub fn is_left_to_agents(&self) -> bool {
        self.origin == "agent" && self.human_edited_at.is_none()
    }
}

/// What a name that somebody wants is taken by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NameTaken {
    /// skill, archived skill, category.
    pub by: &'static str,
    /// Absolute path.
    pub path: String,
}

/// The columns [`from_row`] reads.
pub(super) const COLUMNS: &str = "s.id, s.root_id, r.path, r.kind, r.writable, s.rel_path, coalesce(m.name, s.rel_path), coalesce(m.file_name, 'SKILL.md'),
      s.origin, s.state, s.pinned, s.human_edited_at, s.archived_from, s.removed_at IS NOT NULL, s.missing_since IS NOT NULL";
/// How many they are.
pub(super) const COLUMN_COUNT: usize = 15;
const TABLES: &str = "FROM skill s
    JOIN skill_root r ON r.id = s.root_id
    LEFT JOIN manifest m ON m.skill_id = s.id";
pub(super) const PRESENT: &str =
    "s.missing_since IS NULL AND s.removed_at IS NULL AND r.removed_at IS NULL";

pub(super) fn from_row(row: &Row<'_>) -> rusqlite::Result<SkillFacts> {
    Ok(SkillFacts {
        id: row.get(0)?,
        root_id: row.get(1)?,
        root: PathBuf::from(row.get::<_, String>(2)?),
        root_kind: row.get(3)?,
        is_writable: row.get(4)?,
        rel_path: row.get(5)?,
        name: row.get(6)?,
        file_name: row.get(7)?,
        origin: row.get(8)?,
        state: row.get(9)?,
        is_pinned: row.get(10)?,
        human_edited_at: row.get(11)?,
        archived_from: row.get(12)?,
        has_ended: row.get(13)?,
        is_missing: row.get(14)?,
    })
}

impl Store {
    /// Returns what is known about a skill, also about one that has ended.
    ///
    /// # Errors
    /// [`Error::SkillNotFound`], [`Error::Database`].
    pub fn skill_facts(&self, id: i64) -> Result<SkillFacts> {
        let select = format!("SELECT {COLUMNS} {TABLES} WHERE s.id = ?1");
        let query = || {
            self.connection
                .prepare_cached(&select)?
                .query_row([id], from_row)
                .optional()
        };
        query()
            .map_err(Error::database("look up a skill"))?
            .ok_or_else(|| Error::SkillNotFound {
                name: format!("#{id}"),
                similar: Vec::new(),
            })
    }

    /// Returns what is known about every skill that is there and not archived, by path.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn live_facts(&self) -> Result<Vec<SkillFacts>> {
        self.facts_where(&format!("s.state <> 'archived' AND {PRESENT}"))
    }

    /// As [`Store::live_facts`], archived skills too.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn present_facts(&self) -> Result<Vec<SkillFacts>> {
        self.facts_where(PRESENT)
    }

    fn facts_where(&self, condition: &str) -> Result<Vec<SkillFacts>> {
        let select =
            format!("SELECT {COLUMNS} {TABLES} WHERE {condition} ORDER BY r.path, s.rel_path");
        let query = || {
            self.connection
                .prepare_cached(&select)?
                .query_map([], from_row)?
                .collect::<rusqlite::Result<Vec<_>>>()
        };
        query().map_err(Error::database("list skills"))
    }

    /// Returns the supporting files of up to `limit` bytes, by skill.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn small_files(&self, limit: u32) -> Result<HashMap<i64, Vec<String>>> {
        const SELECT: &str = "SELECT skill_id, rel_path FROM skill_file WHERE size <= ?1 AND link_target IS NULL ORDER BY skill_id, rel_path";
        let query = || -> rusqlite::Result<HashMap<i64, Vec<String>>> {
            let mut files: HashMap<i64, Vec<String>> = HashMap::new();
            let mut statement = self.connection.prepare_cached(SELECT)?;
            let mut rows = statement.query([limit])?;
            while let Some(row) = rows.next()? {
                files.entry(row.get(0)?).or_default().push(row.get(1)?);
            }
            Ok(files)
        };
        query().map_err(Error::database("list supporting files"))
    }

    /// Says what already has a name, whatever its case, besides the skill `but`: skills, archived ones, and categories.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn name_taken(&self, name: &str, but: Option<i64>) -> Result<Option<NameTaken>> {
        const SKILL: &str = "SELECT s.state = 'archived', CASE WHEN s.rel_path = '.' THEN r.path ELSE r.path || '/' || s.rel_path END
            FROM manifest m
            JOIN skill s ON s.id = m.skill_id
            JOIN skill_root r ON r.id = s.root_id
            WHERE (lower(m.name) = ?1 OR lower(m.folder) = ?1) AND s.id IS NOT ?2
              AND s.missing_since IS NULL AND s.removed_at IS NULL AND r.removed_at IS NULL
            ORDER BY 1, 2
            LIMIT 1";
        const CATEGORY: &str = "SELECT r.path || '/' || m.category
            FROM manifest m
            JOIN skill s ON s.id = m.skill_id
            JOIN skill_root r ON r.id = s.root_id
            WHERE m.category <> '' AND s.state <> 'archived' AND instr('/' || lower(m.category) || '/', '/' || ?1 || '/') > 0
              AND s.missing_since IS NULL AND s.removed_at IS NULL AND r.removed_at IS NULL
            ORDER BY 1
            LIMIT 1";
        let lower = name.to_lowercase();
        let query = || -> rusqlite::Result<Option<NameTaken>> {
            let skill = self
                .connection
                .prepare_cached(SKILL)?
                .query_row(params![lower, but], |row| {
                    Ok(NameTaken {
                        by: if row.get(0)? {
                            "an archived skill"
                        } else {
                            "a skill"
                        },
                        path: row.get(1)?,
                    })
                })
                .optional()?;
            if skill.is_some() {
                return Ok(skill);
            }
            self.connection
                .prepare_cached(CATEGORY)?
                .query_row([&lower], |row| {
                    Ok(NameTaken {
                        by: "a category",
                        path: row.get(0)?,
                    })
                })
                .optional()
        };
        query().map_err(Error::database("look up a name"))
    }

    /// Returns where a live skill lies that has a name, besides the skill `but`.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn live_named(&self, name: &str, but: i64) -> Result<Option<String>> {
        const SELECT: &str = "SELECT r.path || '/' || s.rel_path
            FROM manifest m
            JOIN skill s ON s.id = m.skill_id
            JOIN skill_root r ON r.id = s.root_id
            WHERE m.name = ?1 AND s.id <> ?2 AND s.state <> 'archived'
              AND s.missing_since IS NULL AND s.removed_at IS NULL AND r.removed_at IS NULL
            ORDER BY 1
            LIMIT 1";
        let query = || {
            self.connection
                .prepare_cached(SELECT)?
                .query_row(params![name, but], |row| row.get(0))
                .optional()
        };
        query().map_err(Error::database("look up a name"))
    }

    /// Returns the newest skill of a name, or with the id of `#id`, whose life has ended or whose folder vanished.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn ended_named(&self, typed: &str) -> Result<Option<i64>> {
        const SELECT: &str = "SELECT s.id
            FROM skill s
            LEFT JOIN manifest m ON m.skill_id = s.id
            WHERE (s.removed_at IS NOT NULL OR s.missing_since IS NOT NULL) AND (m.name = ?1 OR m.folder = ?1 OR '#' || s.id = ?1)
            ORDER BY s.id DESC
            LIMIT 1";
        let query = || {
            self.connection
                .prepare_cached(SELECT)?
                .query_row([typed], |row| row.get(0))
                .optional()
        };
        query().map_err(Error::database("look up a skill that is gone"))
    }

    /// Returns who archived a skill: `user` also for whoever moved its folder by hand. `None` when nobody did.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn archived_by(&self, id: i64) -> Result<Option<String>> {
        const SELECT: &str = "SELECT CASE WHEN actor IN ('sync', 'import') THEN 'user' ELSE actor END
            FROM state_transition WHERE skill_id = ?1 AND to_state = 'archived' ORDER BY id DESC LIMIT 1";
        let query = || {
            self.connection
                .prepare_cached(SELECT)?
                .query_row([id], |row| row.get(0))
                .optional()
        };
        query().map_err(Error::database("look up who archived a skill"))
    }

    /// Returns when each archived skill was archived through skilldb, by id.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn archived_times(&self) -> Result<HashMap<i64, String>> {
        const SELECT: &str = "SELECT id, archived_at FROM skill WHERE state = 'archived' AND archived_at IS NOT NULL";
        let query = || {
            self.connection
                .prepare_cached(SELECT)?
                .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?
                .collect::<rusqlite::Result<HashMap<_, _>>>()
        };
        query().map_err(Error::database("look up when skills were archived"))
    }

    /// Returns the platforms a skill is disabled on; `None` among them stands for everywhere.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn disabled_on(&self, id: i64) -> Result<Vec<Option<String>>> {
        const SELECT: &str = "SELECT platform FROM skill_disabled WHERE skill_id = ?1 ORDER BY 1";
        let query = || {
            self.connection
                .prepare_cached(SELECT)?
                .query_map([id], |row| row.get(0))?
                .collect::<rusqlite::Result<Vec<_>>>()
        };
        query().map_err(Error::database("look up what is disabled"))
    }

    /// Returns the archived skills that answer to a name: ids, newest first.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn archived_named(&self, name: &str) -> Result<Vec<i64>> {
        const SELECT: &str = "SELECT s.id
            FROM manifest m
            JOIN skill s ON s.id = m.skill_id
            JOIN skill_root r ON r.id = s.root_id
            WHERE (m.name = ?1 OR m.folder = ?1) AND s.state = 'archived'
              AND s.missing_since IS NULL AND s.removed_at IS NULL AND r.removed_at IS NULL
            ORDER BY coalesce(s.archived_at, s.rel_path) DESC, s.id DESC";
        let query = || {
            self.connection
                .prepare_cached(SELECT)?
                .query_map([name], |row| row.get(0))?
                .collect::<rusqlite::Result<Vec<_>>>()
        };
        query().map_err(Error::database("look up archived skills"))
    }
}

impl Tx<'_> {
    /// Pins a skill, or takes the pin off.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn set_pinned(&self, id: i64, is_pinned: bool, reason: Option<&str>) -> Result<()> {
        const UPDATE: &str = "UPDATE skill SET pinned = ?2, pin_reason = ?3 WHERE id = ?1";
        self.run(UPDATE, params![id, is_pinned, reason], "pin a skill")
    }

    /// Leaves a skill to agents again, although a person changed it.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn release_skill(&self, id: i64) -> Result<()> {
        const UPDATE: &str = "UPDATE skill SET human_edited_at = NULL WHERE id = ?1";
        self.run(UPDATE, [id], "release a skill")
    }

    /// Hides a skill from the index, everywhere or on one platform.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn disable_skill(&self, id: i64, platform: Option<&str>) -> Result<()> {
        const INSERT: &str = "INSERT INTO skill_disabled (skill_id, platform)
            SELECT ?1, ?2 WHERE NOT EXISTS (SELECT 1 FROM skill_disabled WHERE skill_id = ?1 AND platform IS ?2)";
        self.run(INSERT, params![id, platform], "disable a skill")?;
        self.raise_generation()
    }

    /// Shows a skill again: everywhere when no platform is named.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn enable_skill(&self, id: i64, platform: Option<&str>) -> Result<()> {
        const DELETE: &str =
            "DELETE FROM skill_disabled WHERE skill_id = ?1 AND (?2 IS NULL OR platform = ?2)";
        self.run(DELETE, params![id, platform], "enable a skill")?;
        self.raise_generation()
    }
}
