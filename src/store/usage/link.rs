//! Which skills a called name could mean, and events that wait for their skill to appear.

use std::collections::BTreeSet;

use rusqlite::{OptionalExtension, Row, params};

use super::super::{Store, Tx};
use crate::error::{Error, Result};
use crate::time::Timestamp;

/// A skill that answers to a name, with what it takes to choose between several.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedSkill {
    /// Row id.
    pub id: i64,
    /// What people call it.
    pub name: String,
    /// Path relative to its root.
    pub rel_path: String,
    /// Absolute path of its root.
    pub root: String,
    /// The word for the root's kind.
    pub root_kind: String,
    /// The client whose folder the root is.
    pub root_client: Option<String>,
    /// Order among roots; lower comes first.
    pub priority: i64,
    /// Whether it is archived.
    pub is_archived: bool,
    /// Whether its folder vanished.
    pub is_missing: bool,
    /// SHA-256 of the skill file as the mirror has it.
    pub content_hash: Option<String>,
}

impl NamedSkill {
    /// Absolute path of its folder.
    #[must_use]
    pub fn path(&self) -> String {
        if self.rel_path == "." {
            self.root.clone()
        } else {
            format!("{}/{}", self.root, self.rel_path)
        }
    }
}

/// An event whose skill is not known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenCall {
    /// The event's row.
    pub id: i64,
    /// The name as it was called.
    pub called_name: String,
    /// The folder as the client told it.
    pub called_path: Option<String>,
    /// The client.
    pub client: Option<String>,
    /// The folder that was worked in.
    pub project: Option<String>,
}

/// Which side tells of a typed command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Told {
    /// A hook that heard it.
    Hook,
    /// The transcript of its session.
    Transcript,
}

/// A typed command that may be known from the other side.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Typed<'a> {
    /// What ids begin with that a hook made.
    pub hook_id: &'a str,
    /// Which side is looked for.
    pub told_by: Told,
    /// The skills the name may mean.
    pub skill_ids: &'a [i64],
    /// The name as it was called.
    pub called_name: &'a str,
    /// The session of the transcript.
    pub session_id: Option<&'a str>,
    /// When it was typed.
    pub at: Timestamp,
    /// How far the hook's clock may be from the transcript's, milliseconds.
    pub within_ms: i64,
}

/// A hook and the line it belongs to are written within this time, milliseconds.
const SAME_MOMENT_MS: i64 = 5_000;

const COLUMNS: &str = "s.id, coalesce(m.name, s.rel_path), s.rel_path, r.path, r.kind, r.client, r.priority, s.state = 'archived', s.missing_since IS NOT NULL, m.content_hash";
const IN_USE: &str = "s.removed_at IS NULL AND r.removed_at IS NULL";

fn named(row: &Row<'_>) -> rusqlite::Result<NamedSkill> {
    Ok(NamedSkill {
        id: row.get(0)?,
        name: row.get(1)?,
        rel_path: row.get(2)?,
        root: row.get(3)?,
        root_kind: row.get(4)?,
        root_client: row.get(5)?,
        priority: row.get(6)?,
        is_archived: row.get(7)?,
        is_missing: row.get(8)?,
        content_hash: row.get(9)?,
    })
}

impl Store {
    /// Returns every skill whose declared name or folder is `name`, vanished and archived ones
    /// included, in the order of their paths.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn skills_named(&self, name: &str) -> Result<Vec<NamedSkill>> {
        let sql = format!(
            "SELECT {COLUMNS} FROM skill s JOIN skill_root r ON r.id = s.root_id JOIN manifest m ON m.skill_id = s.id
             WHERE s.id IN (SELECT skill_id FROM manifest WHERE name = ?1 UNION ALL SELECT skill_id FROM manifest WHERE folder = ?1) AND {IN_USE}"
        );
        let mut found = self.rows(&sql, &[&name], named, "look up a name")?;
        found.sort_by_cached_key(NamedSkill::path);
        Ok(found)
    }

    /// Returns the skill that once lay in a folder and was moved away from it.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn skill_moved_from(&self, folder: &str) -> Result<Option<NamedSkill>> {
        let sql = format!(
            "SELECT {COLUMNS}
             FROM skill_root o
             JOIN revision_file f ON f.moved_from = substr(?1, length(o.path) + 2) || '/SKILL.md'
             JOIN revision v ON v.id = f.revision_id
             JOIN skill s ON s.id = v.skill_id
             JOIN skill_root r ON r.id = s.root_id
             LEFT JOIN manifest m ON m.skill_id = s.id
             WHERE f.moved_from IS NOT NULL AND substr(?1, 1, length(o.path) + 1) = o.path || '/' AND f.path = 'SKILL.md' AND {IN_USE}
             ORDER BY v.id DESC LIMIT 1"
        );
        let rows = self.rows(&sql, &[&folder], named, "look up an old place")?;
        Ok(rows.into_iter().next())
    }

    /// Returns the skill with this id, in the form that names are answered in.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn named_skill(&self, id: i64) -> Result<Option<NamedSkill>> {
        let sql = format!(
            "SELECT {COLUMNS} FROM skill s JOIN skill_root r ON r.id = s.root_id LEFT JOIN manifest m ON m.skill_id = s.id
             WHERE s.id = ?1 AND {IN_USE}"
        );
        let rows = self.rows(&sql, &[&id], named, "look up a skill by its id")?;
        Ok(rows.into_iter().next())
    }

    /// Returns the live and archived skills of a root, and those that vanished from it.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn skills_of_root(&self, root: &str) -> Result<Vec<NamedSkill>> {
        let sql = format!(
            "SELECT {COLUMNS} FROM skill s JOIN skill_root r ON r.id = s.root_id LEFT JOIN manifest m ON m.skill_id = s.id
             WHERE r.path = ?1 AND {IN_USE} ORDER BY s.rel_path"
        );
        let query = || {
            self.connection
                .prepare(&sql)?
                .query_map([root], named)?
                .collect::<rusqlite::Result<Vec<_>>>()
        };
        query().map_err(Error::database("list the skills of a root"))
    }

    /// Returns the names that were called and are not installed, each once.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn open_names(&self) -> Result<BTreeSet<String>> {
        // Hops from name to name in the index: a million events of ten names are ten steps.
        const SELECT: &str = "WITH RECURSIVE hop (name) AS (
              SELECT min(called_name) FROM usage_event INDEXED BY usage_event_by_called_name WHERE skill_id IS NULL
              UNION ALL
              SELECT (SELECT min(called_name) FROM usage_event INDEXED BY usage_event_by_called_name WHERE skill_id IS NULL AND called_name > hop.name) FROM hop WHERE hop.name IS NOT NULL)
            SELECT name FROM hop WHERE name IS NOT NULL
            UNION SELECT called_name FROM revision WHERE skill_id IS NULL AND called_name IS NOT NULL";
        let query = || {
            self.connection
                .prepare(SELECT)?
                .query_map([], |row| row.get(0))?
                .collect::<rusqlite::Result<BTreeSet<String>>>()
        };
        query().map_err(Error::database("list what is not installed"))
    }

    /// Returns the events of a name whose skill is not known.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn open_calls(&self, name: &str) -> Result<Vec<OpenCall>> {
        const SELECT: &str = "SELECT id, called_name, called_path, client, project
            FROM usage_event INDEXED BY usage_event_by_called_name
            WHERE skill_id IS NULL AND called_name = ?1";
        let query = || {
            let mut statement = self.connection.prepare_cached(SELECT)?;
            let rows = statement.query_map([name], |row| {
                Ok(OpenCall {
                    id: row.get(0)?,
                    called_name: row.get(1)?,
                    called_path: row.get(2)?,
                    client: row.get(3)?,
                    project: row.get(4)?,
                })
            })?;
            rows.collect::<rusqlite::Result<Vec<_>>>()
        };
        query().map_err(Error::database("list what is not installed"))
    }

    /// Returns the folders that uses may have been made of, each once.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn candidate_folders(&self) -> Result<Vec<String>> {
        const SELECT: &str = "SELECT DISTINCT folder FROM usage_candidate ORDER BY folder";
        self.rows(SELECT, &[], |row| row.get(0), "list candidates")
    }

    /// Returns what is to be recorded of a folder.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn candidates_in(&self, folder: &str) -> Result<Vec<String>> {
        const SELECT: &str =
            "SELECT recording FROM usage_candidate WHERE folder = ?1 ORDER BY event_id";
        self.rows(SELECT, &[&folder], |row| row.get(0), "list candidates")
    }

    /// Says whether skills appeared that events may have waited for.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn is_link_due(&self) -> Result<bool> {
        const SELECT: &str = "SELECT EXISTS (SELECT 1 FROM meta WHERE key = 'link_due')
            AND (EXISTS (SELECT 1 FROM usage_event WHERE skill_id IS NULL) OR EXISTS (SELECT 1 FROM usage_candidate) OR EXISTS (SELECT 1 FROM revision WHERE called_name IS NOT NULL AND skill_id IS NULL))";
        self.connection
            .query_row(SELECT, [], |row| row.get(0))
            .map_err(Error::database("look for events to link"))
    }
}

impl Tx<'_> {
    /// Notes that skills appeared: events may have waited for them.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn mark_link_due(&self) -> Result<()> {
        const INSERT: &str = "INSERT OR REPLACE INTO meta (key, value) VALUES ('link_due', '1')";
        self.run(INSERT, [], "note that events may be linked")
    }

    /// Notes that all events were looked at.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn links_are_done(&self) -> Result<()> {
        const DELETE: &str = "DELETE FROM meta WHERE key = 'link_due'";
        self.run(DELETE, [], "note that events were linked")
    }

    /// Keeps what is a use if its folder turns out to be a skill's.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn put_candidate(&self, event_id: &str, folder: &str, recording: &str) -> Result<()> {
        const INSERT: &str = "INSERT INTO usage_candidate (event_id, folder, recording) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING";
        let values = params![event_id, folder, recording];
        self.run(INSERT, values, "keep a candidate")?;
        self.mark_link_due()
    }

    /// Forgets the candidates of a folder, which were recorded.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn drop_candidates(&self, folder: &str) -> Result<()> {
        const DELETE: &str = "DELETE FROM usage_candidate WHERE folder = ?1";
        self.run(DELETE, [folder], "forget candidates")
    }

    /// Links an event to the skill that was meant. The counters are due to be recounted.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn link_event(&self, id: i64, skill_id: i64) -> Result<()> {
        const UPDATE: &str =
            "UPDATE usage_event SET skill_id = ?2 WHERE id = ?1 AND skill_id IS NULL";
        self.run(UPDATE, params![id, skill_id], "link an event to its skill")
    }

    /// Links the imported changes of a name to the skill that was meant.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn link_changes(&self, called_name: &str, skill_id: i64) -> Result<()> {
        const UPDATE: &str =
            "UPDATE revision SET skill_id = ?2 WHERE skill_id IS NULL AND called_name = ?1";
        self.run(
            UPDATE,
            params![called_name, skill_id],
            "link a change to its skill",
        )
    }

    /// Finds the event of a typed command that the other side noted under an id of its own, and that nobody
    /// claimed yet: of the same name, of the same session and near in time, else at almost the same time,
    /// because a resumed session tells the line of another one.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn unclaimed_typed(&self, typed: &Typed<'_>) -> Result<Option<String>> {
        const UNCLAIMED: &str = "at BETWEEN ?2 AND ?3 AND \"trigger\" = 'slash' AND client = 'claude-code' AND (substr(event_id, 1, length(?4)) = ?4) = ?5
              AND NOT EXISTS (SELECT 1 FROM usage_alias a WHERE a.usage_event_id = u.id)";
        let linked = format!(
            "SELECT event_id, session_id, at FROM usage_event u WHERE skill_id = ?1 AND {UNCLAIMED}"
        );
        let open = format!(
            "SELECT event_id, session_id, at FROM usage_event u WHERE skill_id IS NULL AND called_name = ?1 AND {UNCLAIMED}"
        );
        let from = Timestamp::from_millis(typed.at.millis() - typed.within_ms).to_string();
        let to = Timestamp::from_millis(typed.at.millis() + typed.within_ms).to_string();
        let is_hook = typed.told_by == Told::Hook;
        let query = || -> rusqlite::Result<Vec<(String, Option<String>, String)>> {
            let read = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get(2)?));
            let mut found = Vec::new();
            let mut open = self.transaction.prepare_cached(&open)?;
            for row in open.query_map(
                params![typed.called_name, from, to, typed.hook_id, is_hook],
                read,
            )? {
                found.push(row?);
            }
            let mut linked = self.transaction.prepare_cached(&linked)?;
            for id in typed.skill_ids {
                for row in linked.query_map(params![id, from, to, typed.hook_id, is_hook], read)? {
                    found.push(row?);
                }
            }
            Ok(found)
        };
        let found = query().map_err(Error::database("look for a hook's event"))?;
        let distance = |at: &str| {
            Timestamp::parse(at).map_or(i64::MAX, |at| (at.millis() - typed.at.millis()).abs())
        };
        let ranked = found.into_iter().map(|(id, session, at)| {
            let is_other = session.as_deref() != typed.session_id;
            (is_other, distance(&at), id)
        });
        let near =
            ranked.filter(|(is_other, distance, _)| !is_other || *distance <= SAME_MOMENT_MS);
        Ok(near.min().map(|(_, _, id)| id))
    }

    /// Lets a known event go by another id, too. Returns whether it was new.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn add_alias(&self, event_id: &str, of: &str) -> Result<bool> {
        const SELECT: &str = "SELECT id FROM usage_event WHERE event_id = ?1";
        const INSERT: &str = "INSERT INTO usage_alias (event_id, usage_event_id) VALUES (?1, ?2) ON CONFLICT DO NOTHING";
        let id: Option<i64> = self
            .transaction
            .query_row(SELECT, [of], |row| row.get(0))
            .optional()
            .map_err(Error::database("look up an event"))?;
        let Some(id) = id else {
            return Ok(false);
        };
        self.transaction
            .execute(INSERT, params![event_id, id])
            .map(|count| count == 1)
            .map_err(Error::database("note another id of an event"))
    }
}
