//! Identity: one row is one life of one folder. Finding it by its place, moving it, and the
//! transitions that say when it vanished and came back.

use rusqlite::{OptionalExtension, Row, params};

use super::{Store, Tx};
use crate::error::{Error, Result};
use crate::time::Timestamp;

/// Where a skill lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place<'a> {
    /// The root's row.
    pub root_id: i64,
    /// Path relative to the root.
    pub rel_path: &'a str,
}

/// What is known about the life at a place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownSkill {
    /// Row id.
    pub id: i64,
    /// The root's row.
    pub root_id: i64,
    /// Path relative to the root.
    pub rel_path: String,
    /// active, stale or archived.
    pub state: String,
    /// Whether its folder had vanished.
    pub is_missing: bool,
    /// What people call it; its folder when it was never read.
    pub name: String,
    /// SHA-256 of the skill file when it was last read. `None` also while the mirror is being refilled.
    pub content_hash: Option<String>,
    /// SHA-256 over the whole folder's layout.
    pub tree_hash: Option<String>,
    /// ok, repaired or unreadable.
    pub parse_status: Option<String>,
}

const COLUMNS: &str = "s.id, s.root_id, s.rel_path, s.state, s.missing_since IS NOT NULL,
       coalesce(m.name, s.rel_path), m.content_hash, m.tree_hash, m.parse_status";

fn from_row(row: &Row<'_>) -> rusqlite::Result<KnownSkill> {
    Ok(KnownSkill {
        id: row.get(0)?,
        root_id: row.get(1)?,
        rel_path: row.get(2)?,
        state: row.get(3)?,
        is_missing: row.get(4)?,
        name: row.get(5)?,
        content_hash: row.get(6)?,
        tree_hash: row.get(7)?,
        parse_status: row.get(8)?,
    })
}

impl Store {
    /// Returns the life at a place, unless it was ended through skilldb.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn skill_at(&self, place: Place<'_>) -> Result<Option<KnownSkill>> {
        let sql = format!(
            "SELECT {COLUMNS} FROM skill s LEFT JOIN manifest m ON m.skill_id = s.id
             WHERE s.root_id = ?1 AND s.rel_path = ?2 AND s.removed_at IS NULL"
        );
        let query = || {
            let mut statement = self.connection.prepare_cached(&sql)?;
            statement
                .query_row(params![place.root_id, place.rel_path], from_row)
                .optional()
        };
        query().map_err(Error::database("look up a skill by its place"))
    }

    /// Returns the life with this id.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn skill_by_id(&self, id: i64) -> Result<Option<KnownSkill>> {
        let sql = format!(
            "SELECT {COLUMNS} FROM skill s LEFT JOIN manifest m ON m.skill_id = s.id
             WHERE s.id = ?1 AND s.removed_at IS NULL"
        );
        let query = || {
            self.connection
                .prepare_cached(&sql)?
                .query_row([id], from_row)
                .optional()
        };
        query().map_err(Error::database("look up a skill by its id"))
    }

    /// Returns the lives in a root whose folders had not vanished.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn present_skills(&self, root_id: i64) -> Result<Vec<KnownSkill>> {
        let sql = format!(
            "SELECT {COLUMNS} FROM skill s LEFT JOIN manifest m ON m.skill_id = s.id
             WHERE s.root_id = ?1 AND s.missing_since IS NULL AND s.removed_at IS NULL ORDER BY s.rel_path"
        );
        let query = || {
            self.connection
                .prepare_cached(&sql)?
                .query_map([root_id], from_row)?
                .collect::<rusqlite::Result<Vec<_>>>()
        };
        query().map_err(Error::database("list the skills of a root"))
    }

    /// Says whether any skill's folder vanished.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn has_missing(&self) -> Result<bool> {
        const SELECT: &str = "SELECT EXISTS (SELECT 1 FROM skill WHERE missing_since IS NOT NULL AND removed_at IS NULL)";
        self.connection
            .query_row(SELECT, [], |row| row.get(0))
            .map_err(Error::database("look up vanished skills"))
    }

    /// Returns ids of skills whose folders vanished, for the question whether a new folder is one of them.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn missing_by_name(&self, name: &str) -> Result<Vec<i64>> {
        const SELECT: &str = "SELECT s.id
            FROM manifest m
            JOIN skill s ON s.id = m.skill_id
            WHERE m.name = ?1 AND s.missing_since IS NOT NULL AND s.removed_at IS NULL
            ORDER BY s.id";
        let query = || {
            self.connection
                .prepare_cached(SELECT)?
                .query_map([name], |row| row.get(0))?
                .collect::<rusqlite::Result<Vec<_>>>()
        };
        query().map_err(Error::database("look up vanished skills"))
    }
}

impl Tx<'_> {
    /// Begins a new life at a place; returns its id.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn add_skill(
        &self,
        place: Place<'_>,
        origin: (&str, &str),
        state: &str,
        now: Timestamp,
    ) -> Result<i64> {
        const INSERT: &str =
            "INSERT INTO skill (root_id, rel_path, origin, origin_evidence, state, created_at)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
        let values = params![
            place.root_id,
            place.rel_path,
            origin.0,
            origin.1,
            state,
            now.to_string()
        ];
        self.run(INSERT, values, "add a skill")?;
        Ok(self.transaction.last_insert_rowid())
    }

    /// Notes that a life goes on at another place.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn move_skill(&self, id: i64, place: Place<'_>) -> Result<()> {
        const MOVE: &str = "UPDATE skill SET root_id = ?2, rel_path = ?3 WHERE id = ?1";
        self.run(
            MOVE,
            params![id, place.root_id, place.rel_path],
            "move a skill",
        )
    }

    /// Forgets what walks noted of a root: the next sync walks all of it.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn forget_walk(&self, root_id: i64) -> Result<()> {
        const FORGET: &str = "DELETE FROM walk_unit WHERE root_id = ?1";
        self.run(FORGET, [root_id], "forget a walk")
    }

    /// Ends the life that a place is noted for, where another skill's folder lies now.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn yield_place(&self, place: Place<'_>, but: Option<i64>, now: Timestamp) -> Result<()> {
        const END: &str = "UPDATE skill SET removed_at = ?4
            WHERE root_id = ?1 AND rel_path = ?2 AND id IS NOT ?3 AND removed_at IS NULL";
        const FORGET: &str = "DELETE FROM walk_unit WHERE skill_id IN
            (SELECT id FROM skill WHERE root_id = ?1 AND rel_path = ?2 AND id IS NOT ?3 AND removed_at IS NULL)";
        self.run(
            FORGET,
            params![place.root_id, place.rel_path, but],
            "forget a place",
        )?;
        let values = params![place.root_id, place.rel_path, but, now.to_string()];
        self.run(END, values, "end a life that vanished")
    }

    /// Forgets what a walk noted of the place where a skill lies, before it lies elsewhere.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn forget_place(&self, id: i64) -> Result<()> {
        const FORGET: [&str; 2] = [
            "DELETE FROM diagnostic WHERE skill_id = ?1",
            "DELETE FROM walk_unit WHERE skill_id = ?1",
        ];
        FORGET
            .iter()
            .try_for_each(|forget| self.run(forget, [id], "forget a place"))
    }

    /// Notes that somebody changed a skill outside skilldb: automation leaves it alone from now on.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn mark_edited_by_hand(&self, id: i64, now: Timestamp) -> Result<()> {
        const MARK: &str = "UPDATE skill SET human_edited_at = ?2 WHERE id = ?1";
        self.run(MARK, params![id, now.to_string()], "note an edit")
    }

    /// Logs a transition, which changes the state with it. `missing` is the state of a vanished folder.
    ///
    /// # Errors
    /// [`Error::Database`], also when the skill is not in the state `from`.
    pub fn transition(
        &self,
        id: i64,
        from: &str,
        to: &str,
        reason: &str,
        now: Timestamp,
    ) -> Result<()> {
        self.transition_by("sync", id, from, to, reason, now)
    }

    /// As [`Tx::transition`], by another actor than the sync.
    ///
    /// # Errors
    /// As [`Tx::transition`].
    pub fn transition_by(
        &self,
        actor: &str,
        id: i64,
        from: &str,
        to: &str,
        reason: &str,
        now: Timestamp,
    ) -> Result<()> {
        const INSERT: &str =
            "INSERT INTO state_transition (skill_id, from_state, to_state, reason, actor, at)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
        self.run(
            INSERT,
            params![id, from, to, reason, actor, now.to_string()],
            "log a transition",
        )
    }

    /// Returns the hash over all of a skill, as the mirror has it.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn tree_hash_of(&self, id: i64) -> Result<Option<String>> {
        const SELECT: &str = "SELECT tree_hash FROM manifest WHERE skill_id = ?1";
        self.transaction
            .query_row(SELECT, [id], |row| row.get(0))
            .optional()
            .map(Option::flatten)
            .map_err(Error::database("look up a skill"))
    }

    /// Returns the state of a skill.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn state_of(&self, id: i64) -> Result<String> {
        const SELECT: &str = "SELECT state FROM skill WHERE id = ?1";
        self.transaction
            .query_row(SELECT, [id], |row| row.get(0))
            .map_err(Error::database("look up a state"))
    }

    /// Ends the life `new` and lets the life `old` go on in its place.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn relink(&self, old: &KnownSkill, new: &KnownSkill, now: Timestamp) -> Result<()> {
        // What was counted for the newer row in the meantime counts for the older one, as inherited.
        const END: &str = "UPDATE skill SET removed_at = ?2, absorbed_into = ?3 WHERE id = ?1";
        self.run(
            END,
            params![new.id, now.to_string(), old.id],
            "end the newer life",
        )?;
        let place = Place {
            root_id: new.root_id,
            rel_path: &new.rel_path,
        };
        self.move_skill(old.id, place)?;
        self.transition(old.id, "missing", &old.state, "relinked by hand", now)?;
        if old.state != new.state {
            self.transition(old.id, &old.state, &new.state, "relinked by hand", now)?;
        }
        self.clear_mirror_of(old.id)?;
        self.hand_over_mirror(new.id, old.id)?;
        // The new folder's bytes are a revision of the old life: keep them again under its id.
        self.queue_capture(old.id)?;
        self.mark_link_due()?;
        self.raise_generation()
    }
}
