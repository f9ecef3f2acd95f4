//! Changes made through skilldb, from `pending` to settled, and the journal that lets the next command finish
//! what a kill cut short.

use rusqlite::params;

use super::{Store, Tx, write};
use crate::error::{Error, Result};
use crate::time::Timestamp;

/// A change to be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NewChange<'a> {
    /// The word for what is done.
    pub action: &'a str,
    /// How the text to replace was found.
    pub strategy: Option<&'a str>,
    /// Why the caller wants it.
    pub reason: Option<&'a str>,
    /// The word for who acts.
    pub actor: &'a str,
    /// The session it belongs to.
    pub session_id: Option<&'a str>,
    /// The run of the curator it belongs to.
    pub curator_run_id: Option<i64>,
    /// The change that it takes back.
    pub undoes: Option<i64>,
    /// The snapshot that it brings back.
    pub snapshot_id: Option<i64>,
    /// The snapshot of what was there before that.
    pub from_snapshot_id: Option<i64>,
}

/// The part of a change that belongs to one skill, to be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NewPart<'a> {
    /// The skill's row; `None` for a skill that has none yet, and for files outside of skills.
    pub skill_id: Option<i64>,
    /// What people call it.
    pub name: &'a str,
    /// What happened, in a few words.
    pub title: &'a str,
    /// Where its folder was, when all of it was moved or removed.
    pub from_path: Option<&'a str>,
    /// Where its folder is, when all of it was moved or made.
    pub to_path: Option<&'a str>,
}

/// What stands under a path before or after a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Standing<'a> {
    /// SHA-256 of a file.
    pub hash: Option<&'a str>,
    /// Permission bits of a file.
    pub mode: Option<u32>,
    /// Where a link leads.
    pub link: Option<&'a str>,
}

/// One file of a part, to be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NewPartFile<'a> {
    /// Whether the path is absolute; else it is relative to the skill.
    pub is_absolute: bool,
    /// The path.
    pub path: &'a str,
    /// Where it was before a move.
    pub moved_from: Option<&'a str>,
    /// What stood there.
    pub before: Standing<'a>,
    /// What stands there now.
    pub after: Standing<'a>,
}

/// A skill in another state, to be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NewTransition<'a> {
    /// Its row.
    pub skill_id: i64,
    /// The state it is in.
    pub from: &'a str,
    /// The state it gets into.
    pub to: &'a str,
    /// Why.
    pub reason: &'a str,
    /// The moment its idle time counted from.
    pub anchor: Option<&'a str>,
    /// What it was absorbed into.
    pub heir: Option<i64>,
}

/// How a change ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending<'a> {
    /// Everything is in place.
    Applied,
    /// Nothing was changed, because something was wrong: a stable word and a sentence.
    Failed(&'a str, &'a str),
    /// It was cut short before anything was changed.
    Discarded(&'a str),
}

impl Ending<'_> {
    fn outcome(self) -> &'static str {
        match self {
            Self::Applied => "applied",
            Self::Failed(..) => "failed",
            Self::Discarded(_) => "discarded",
        }
    }
}

impl Store {
    /// Returns the changes that are under way: their ids and plans, oldest first.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn journal(&self) -> Result<Vec<(i64, String)>> {
        const SELECT: &str = "SELECT change_id, plan FROM journal ORDER BY change_id";
        let query = || {
            self.connection
                .prepare_cached(SELECT)?
                .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?
                .collect::<rusqlite::Result<Vec<_>>>()
        };
        query().map_err(Error::database("read the journal"))
    }

    /// Says whether a change is under way, or was cut short.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn has_journal(&self) -> Result<bool> {
        const SELECT: &str = "SELECT EXISTS (SELECT 1 FROM journal)";
        let query = || {
            self.connection
                .prepare_cached(SELECT)?
                .query_row([], |row| row.get(0))
        };
        query().map_err(Error::database("read the journal"))
    }

    /// As [`Store::append`], and returns only when what was written survives a power failure: for whatever
    /// has to be known before a file is touched.
    ///
    /// # Errors
    /// What `work` returns, or [`Error::Database`].
    pub fn append_durably<T>(&mut self, work: impl FnOnce(&Tx<'_>) -> Result<T>) -> Result<T> {
        self.keep_log_at_close()?;
        let set = |store: &Self, level: &str| {
            store
                .connection
                .execute_batch(level)
                .map_err(Error::database("set up a connection"))
        };
        set(self, "PRAGMA synchronous = FULL")?;
        let result = write(&mut self.connection, work);
        set(self, "PRAGMA synchronous = NORMAL")?;
        if result.is_ok() {
            crate::stop::database_is_durable(&self.path);
        }
        result
    }
}

impl Tx<'_> {
    /// Begins a change; returns its id.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn begin_change(&self, change: &NewChange<'_>, now: Timestamp) -> Result<i64> {
        const INSERT: &str = "INSERT INTO change (action, outcome, strategy, reason, actor, session_id, undoes, snapshot_id, from_snapshot_id, at, curator_run_id)
            VALUES (?1, 'pending', ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)";
        let values = params![
            change.action,
            change.strategy,
            change.reason,
            change.actor,
            change.session_id,
            change.undoes,
            change.snapshot_id,
            change.from_snapshot_id,
            now.to_string(),
            change.curator_run_id
        ];
        self.run(INSERT, values, "begin a change")?;
        Ok(self.transaction.last_insert_rowid())
    }

    /// Adds the part of a change that belongs to one skill; returns its id.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn add_part(&self, change_id: i64, part: &NewPart<'_>) -> Result<i64> {
        const INSERT: &str =
            "INSERT INTO revision (change_id, skill_id, called_name, title, from_path, to_path)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
        let called = part.skill_id.is_none().then_some(part.name);
        let values = params![
            change_id,
            part.skill_id,
            called,
            part.title,
            part.from_path,
            part.to_path
        ];
        self.run(INSERT, values, "add a revision")?;
        Ok(self.transaction.last_insert_rowid())
    }

    /// Adds a file to a part.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn add_part_file(&self, revision_id: i64, file: &NewPartFile<'_>) -> Result<()> {
        const INSERT: &str = "INSERT INTO revision_file (revision_id, base, path, moved_from, before_hash, before_mode, before_link, after_hash, mode, link_target)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)";
        let base = if file.is_absolute {
            "absolute"
        } else {
            "skill"
        };
        let values = params![
            revision_id,
            base,
            file.path,
            file.moved_from,
            file.before.hash,
            file.before.mode,
            file.before.link,
            file.after.hash,
            file.after.mode,
            file.after.link
        ];
        self.run(INSERT, values, "add a file to a revision")
    }

    /// Says whose skill a part is, once its folder is in place.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn name_part(&self, revision_id: i64, skill_id: i64) -> Result<()> {
        const UPDATE: &str = "UPDATE revision SET skill_id = ?2 WHERE id = ?1 AND skill_id IS NULL";
        self.run(UPDATE, [revision_id, skill_id], "name a revision")
    }

    /// Writes the plan of a change that is under way.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn put_journal(&self, change_id: i64, plan: &str) -> Result<()> {
        const INSERT: &str = "INSERT INTO journal (change_id, plan) VALUES (?1, ?2)";
        self.run(INSERT, params![change_id, plan], "write the journal")
    }

    /// Rewrites the plan of a change that is under way.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn replace_journal(&self, change_id: i64, plan: &str) -> Result<()> {
        const UPDATE: &str = "UPDATE journal SET plan = ?2 WHERE change_id = ?1";
        self.run(UPDATE, params![change_id, plan], "write the journal")
    }

    /// Settles a change and takes it out of the journal.
    ///
    /// # Errors
    /// [`Error::Database`], also when it is settled already.
    pub fn settle_change(&self, change_id: i64, ending: Ending<'_>) -> Result<()> {
        const UPDATE: &str =
            "UPDATE change SET outcome = ?2, problem = ?3, message = ?4 WHERE id = ?1";
        const DELETE: &str = "DELETE FROM journal WHERE change_id = ?1";
        let (problem, message) = match ending {
            Ending::Applied => (None, None),
            Ending::Failed(problem, message) => (Some(problem), Some(message)),
            Ending::Discarded(message) => (Some("interrupted"), Some(message)),
        };
        let values = params![change_id, ending.outcome(), problem, message];
        self.run(UPDATE, values, "settle a change")?;
        if ending == Ending::Applied {
            self.note_undone(change_id)?;
        }
        self.run(DELETE, [change_id], "clear the journal")
    }

    /// Notes at the change that an undo takes back that it is undone; when that was an undo itself, the one before
    /// is in force again, and so on.
    fn note_undone(&self, change_id: i64) -> Result<()> {
        const SELECT: &str = "SELECT undoes FROM change WHERE id = ?1";
        const UPDATE: &str = "UPDATE change SET undone_by = ?2 WHERE id = ?1";
        let undone = |id: i64| -> Result<Option<i64>> {
            self.transaction
                .query_row(SELECT, [id], |row| row.get(0))
                .map_err(Error::database("read a change"))
        };
        let (mut undo, mut is_in_force) = (change_id, true);
        while let Some(target) = undone(undo)? {
            self.run(
                UPDATE,
                params![target, is_in_force.then_some(undo)],
                "note an undo",
            )?;
            (undo, is_in_force) = (target, !is_in_force);
        }
        Ok(())
    }

    /// As [`Tx::transition_by`], as part of a change.
    ///
    /// # Errors
    /// [`Error::Database`], also when the skill is not in the state `from`.
    pub fn transition_in(
        &self,
        change_id: i64,
        actor: &str,
        transition: &NewTransition<'_>,
        now: Timestamp,
    ) -> Result<()> {
        const INSERT: &str = "INSERT INTO state_transition (skill_id, from_state, to_state, reason, actor, change_id, at, anchor_at, absorbed_into, curator_run_id)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, (SELECT curator_run_id FROM change WHERE id = ?6))";
        let values = params![
            transition.skill_id,
            transition.from,
            transition.to,
            transition.reason,
            actor,
            change_id,
            now.to_string(),
            transition.anchor,
            transition.heir
        ];
        self.run(INSERT, values, "log a transition")
    }

    /// Notes where a skill lay before it was archived; `None` when it is back.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn note_archived(&self, skill_id: i64, from: Option<&str>, now: Timestamp) -> Result<()> {
        const UPDATE: &str = "UPDATE skill SET archived_from = ?2, archived_at = ?3 WHERE id = ?1";
        let at = from.map(|_| now.to_string());
        self.run(
            UPDATE,
            params![skill_id, from, at],
            "note an archived skill",
        )
    }

    /// Ends a life through skilldb, which is final until the change is undone.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn end_skill(&self, skill_id: i64, now: Timestamp) -> Result<()> {
        const END: &str = "UPDATE skill SET removed_at = ?2 WHERE id = ?1";
        self.run(END, params![skill_id, now.to_string()], "end a skill")
    }

    /// Lets a life that was ended through skilldb go on.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn revive_skill(&self, skill_id: i64) -> Result<()> {
        const REVIVE: &str = "UPDATE skill SET removed_at = NULL WHERE id = ?1";
        self.run(REVIVE, [skill_id], "revive a skill")
    }

    /// Says who made a skill.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn set_origin(&self, skill_id: i64, origin: &str, evidence: &str) -> Result<()> {
        const UPDATE: &str = "UPDATE skill SET origin = ?2, origin_evidence = ?3 WHERE id = ?1";
        self.run(
            UPDATE,
            params![skill_id, origin, evidence],
            "note where a skill comes from",
        )
    }
}
