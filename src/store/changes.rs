//! Changes as they are read: for the log, for comparing, for taking back.

use std::collections::HashMap;

use rusqlite::{OptionalExtension, Row, ToSql, params, params_from_iter};

use super::Store;
use crate::error::{Error, Result};

/// A change with everything it touched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangeRow {
    /// Row id.
    pub id: i64,
    /// When.
    pub at: String,
    /// The word for what was done.
    pub action: String,
    /// pending, applied, failed, discarded.
    pub outcome: String,
    /// How the text to replace was found.
    pub strategy: Option<String>,
    /// A stable word for what went wrong.
    pub problem: Option<String>,
    /// What went wrong, in a sentence.
    pub message: Option<String>,
    /// Why the caller wanted it.
    pub reason: Option<String>,
    /// Who.
    pub actor: String,
    /// In which session.
    pub session: Option<String>,
    /// In which run of the curator.
    pub curator_run: Option<i64>,
    /// The change it took back.
    pub undoes: Option<i64>,
    /// The change that took it back and was not taken back itself.
    pub undone_by: Option<i64>,
    /// The snapshot it brought back.
    pub snapshot: Option<i64>,
    /// The snapshot of what was there before that.
    pub from_snapshot: Option<i64>,
    /// Where it was taken over from; `None` for what was made here.
    pub source: Option<String>,
    /// One for each skill, and for files outside of skills.
    pub parts: Vec<ChangePart>,
}

/// What a change did to one skill.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangePart {
    /// Row id.
    pub revision: i64,
    /// The skill's row.
    pub skill: Option<i64>,
    /// What people call it.
    pub name: String,
    /// What happened, in a few words.
    pub title: String,
    /// Where its folder was, when all of it was moved or removed.
    pub from: Option<String>,
    /// Where its folder is, when all of it was moved or made.
    pub to: Option<String>,
    /// The files.
    pub files: Vec<ChangedFile>,
}

/// What a change did to one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangedFile {
    /// Whether the path is absolute; else it is relative to the skill.
    pub is_absolute: bool,
    /// The path.
    pub path: String,
    /// Where it was before a move by hand.
    pub moved_from: Option<String>,
    /// What stood there.
    pub before: Held,
    /// What stood there after.
    pub after: Held,
}

/// What stood under a path. Nothing of it is set where nothing stood there.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Held {
    /// SHA-256 of a file.
    pub hash: Option<String>,
    /// Permission bits of a file.
    pub mode: Option<u32>,
    /// Where a link leads.
    pub link: Option<String>,
}

impl Held {
    /// Whether nothing stood there.
    #[must_use]
    pub fn is_nothing(&self) -> bool {
        self.hash.is_none() && self.link.is_none()
    }
}

/// Which changes are wanted.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Wanted<'a> {
    /// Those that touched this skill.
    pub skill: Option<i64>,
    /// Those of this actor.
    pub actor: Option<&'a str>,
    /// Those that ended so.
    pub outcome: Option<&'a str>,
    /// Those that did this.
    pub action: Option<&'a str>,
    /// Those of this session.
    pub session: Option<&'a str>,
    /// Those of this run of the curator.
    pub curator_run: Option<i64>,
    /// Those of this moment and after.
    pub since: Option<&'a str>,
    /// The one with this id.
    pub id: Option<i64>,
    /// Those that can be taken back by `undo` without a number: applied, made through skilldb, no undo, not undone.
    pub is_open: bool,
    /// At most so many, the newest.
    pub limit: Option<u32>,
}

const COLUMNS: &str = "c.id, c.at, c.action, c.outcome, c.strategy, c.problem, c.message, c.reason, c.actor, c.session_id, c.curator_run_id, c.undoes, c.snapshot_id, c.undone_by, c.from_snapshot_id, c.source";
const OPEN: &str = "c.outcome = 'applied' AND c.action NOT IN ('undo', 'external') AND c.source IS NULL AND c.undone_by IS NULL
    AND (c.from_snapshot_id IS NULL OR EXISTS (SELECT 1 FROM snapshot n WHERE n.id = c.from_snapshot_id AND n.pruned_at IS NULL))
    AND NOT EXISTS (SELECT 1 FROM revision v JOIN revision_file f ON f.revision_id = v.id JOIN purged p ON p.hash IN (f.before_hash, f.after_hash) WHERE v.change_id = c.id)";

fn change_from(row: &Row<'_>) -> rusqlite::Result<ChangeRow> {
    Ok(ChangeRow {
        id: row.get(0)?,
        at: row.get(1)?,
        action: row.get(2)?,
        outcome: row.get(3)?,
        strategy: row.get(4)?,
        problem: row.get(5)?,
        message: row.get(6)?,
        reason: row.get(7)?,
        actor: row.get(8)?,
        session: row.get(9)?,
        curator_run: row.get(10)?,
        undoes: row.get(11)?,
        snapshot: row.get(12)?,
        undone_by: row.get(13)?,
        from_snapshot: row.get(14)?,
        source: row.get(15)?,
        parts: Vec::new(),
    })
}

/// The rows to choose from. Of one skill by its index, which nothing would make sure of otherwise: walking all changes
/// in order looks as good to the planner.
fn from(wanted: &Wanted<'_>) -> &'static str {
    if wanted.skill.is_some() {
        "(SELECT DISTINCT change_id FROM revision WHERE skill_id = ?) v CROSS JOIN change c ON c.id = v.change_id"
    } else {
        "change c"
    }
}

/// The conditions of a request, and all values in the order of their places.
fn conditions<'a>(wanted: &'a Wanted<'_>) -> (Vec<&'static str>, Vec<&'a dyn ToSql>) {
    let mut words = Vec::new();
    let mut values: Vec<&dyn ToSql> = wanted.skill.iter().map(|id| id as &dyn ToSql).collect();
    let mut add = |word, value: Option<&'a dyn ToSql>| {
        if let Some(value) = value {
            words.push(word);
            values.push(value);
        }
    };
    fn some<T: ToSql>(value: &Option<T>) -> Option<&dyn ToSql> {
        value.as_ref().map(|value| value as &dyn ToSql)
    }
    add("c.id = ?", some(&wanted.id));
    add("c.actor = ?", some(&wanted.actor));
    add("c.outcome = ?", some(&wanted.outcome));
    add("c.action = ?", some(&wanted.action));
    add("c.session_id = ?", some(&wanted.session));
    add("c.curator_run_id = ?", some(&wanted.curator_run));
    add("c.at >= ?", some(&wanted.since));
    if wanted.is_open {
        words.push(OPEN);
    }
    (words, values)
}

impl Store {
    /// Returns changes, the newest first.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn changes(&self, wanted: &Wanted<'_>) -> Result<Vec<ChangeRow>> {
        let (words, mut values) = conditions(wanted);
        let limit = wanted.limit.map_or(-1, i64::from);
        values.push(&limit);
        let filter = if words.is_empty() {
            String::new()
        } else {
            format!("WHERE {}", words.join(" AND "))
        };
        let from = from(wanted);
        let select = format!("SELECT {COLUMNS} FROM {from} {filter} ORDER BY c.id DESC LIMIT ?");
        let query = || {
            self.connection
                .prepare_cached(&select)?
                .query_map(params_from_iter(values.iter()), change_from)?
                .collect::<rusqlite::Result<Vec<_>>>()
        };
        let mut changes = query().map_err(Error::database("read the log"))?;
        self.add_parts(&mut changes)?;
        Ok(changes)
    }

    /// Returns how many changes there are.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn count_changes(&self, wanted: &Wanted<'_>) -> Result<u64> {
        let (words, values) = conditions(wanted);
        let filter = if words.is_empty() {
            String::new()
        } else {
            format!("WHERE {}", words.join(" AND "))
        };
        let select = format!("SELECT count(*) FROM {} {filter}", from(wanted));
        self.connection
            .query_row(&select, params_from_iter(values.iter()), |row| row.get(0))
            .map_err(Error::database("count the log"))
    }

    /// Returns one change.
    ///
    /// # Errors
    /// [`Error::Usage`] when there is none with this id; [`Error::Database`].
    pub fn change(&self, id: i64) -> Result<ChangeRow> {
        let wanted = Wanted {
            id: Some(id),
            ..Wanted::default()
        };
        self.changes(&wanted)?.pop().ok_or_else(|| Error::Denied {
            code: "change-not-found",
            message: format!("there is no change {id}"),
            hint: Some("`skilldb log` lists them".to_owned()),
        })
    }

    fn add_parts(&self, changes: &mut [ChangeRow]) -> Result<()> {
        const PARTS: &str = "SELECT v.id, v.skill_id, coalesce(m.name, v.called_name, s.rel_path, ''), v.title, v.from_path, v.to_path
            FROM revision v
            LEFT JOIN manifest m ON m.skill_id = v.skill_id
            LEFT JOIN skill s ON s.id = v.skill_id
            WHERE v.change_id = ?1
            ORDER BY v.id";
        const FILES: &str = "SELECT base = 'absolute', path, moved_from, before_hash, before_mode, before_link, after_hash, mode, link_target
            FROM revision_file WHERE revision_id = ?1 ORDER BY path";
        let mut fill = || -> rusqlite::Result<()> {
            let mut parts = self.connection.prepare_cached(PARTS)?;
            let mut files = self.connection.prepare_cached(FILES)?;
            for change in changes.iter_mut() {
                change.parts = parts
                    .query_map([change.id], part_from)?
                    .collect::<rusqlite::Result<_>>()?;
                for part in &mut change.parts {
                    part.files = files
                        .query_map([part.revision], file_from)?
                        .collect::<rusqlite::Result<_>>()?;
                }
            }
            Ok(())
        };
        fill().map_err(Error::database("read the log"))
    }

    /// Returns the states that a change took skills out of, and into, by skill.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn states_changed_by(&self, change: i64) -> Result<HashMap<i64, (String, String)>> {
        const SELECT: &str = "SELECT skill_id, from_state, to_state FROM state_transition WHERE change_id = ?1 ORDER BY id";
        let query = || {
            self.connection
                .prepare_cached(SELECT)?
                .query_map([change], |row| {
                    Ok((row.get(0)?, (row.get(1)?, row.get(2)?)))
                })?
                .collect::<rusqlite::Result<HashMap<_, _>>>()
        };
        query().map_err(Error::database("read transitions"))
    }

    /// Returns what a skill was absorbed into when it was last archived before a change.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn heir_before(&self, skill: i64, change: i64) -> Result<Option<i64>> {
        const SELECT: &str = "SELECT absorbed_into FROM state_transition
            WHERE skill_id = ?1 AND to_state = 'archived' AND coalesce(change_id, 0) < ?2 ORDER BY id DESC LIMIT 1";
        let query = || {
            self.connection
                .prepare_cached(SELECT)?
                .query_row([skill, change], |row| row.get(0))
                .optional()
        };
        let found: Option<Option<i64>> = query().map_err(Error::database("look up an heir"))?;
        Ok(found.flatten())
    }

    /// Returns the applied changes after `change` that touched a file of a skill.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn later_changes(&self, skill: i64, path: &str, change: i64) -> Result<Vec<i64>> {
        const SELECT: &str = "SELECT DISTINCT c.id
            FROM revision v
            JOIN change c ON c.id = v.change_id
            JOIN revision_file f ON f.revision_id = v.id
            WHERE v.skill_id = ?1 AND f.path = ?2 AND c.id > ?3 AND c.outcome = 'applied'
            ORDER BY c.id";
        let query = || {
            self.connection
                .prepare_cached(SELECT)?
                .query_map(params![skill, path, change], |row| row.get(0))?
                .collect::<rusqlite::Result<Vec<_>>>()
        };
        query().map_err(Error::database("read the log"))
    }

    /// Returns what a file of a skill said right after a change: as the newest revision up to it has it.
    /// `None` when the history does not know the file by then.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn held_after(&self, skill: i64, path: &str, change: i64) -> Result<Option<Held>> {
        const SELECT: &str = "SELECT f.after_hash, f.mode, f.link_target
            FROM revision v
            JOIN change c ON c.id = v.change_id
            JOIN revision_file f ON f.revision_id = v.id
            WHERE v.skill_id = ?1 AND f.path = ?2 AND c.id <= ?3 AND c.outcome = 'applied'
            ORDER BY c.id DESC, v.id DESC
            LIMIT 1";
        let query = || {
            self.connection
                .prepare_cached(SELECT)?
                .query_row(params![skill, path, change], |row| held(row, 0))
                .optional()
        };
        query().map_err(Error::database("read the log"))
    }

    /// Returns every path that the history of a skill names.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn paths_of(&self, skill: i64) -> Result<Vec<String>> {
        const SELECT: &str = "SELECT DISTINCT f.path
            FROM revision v
            JOIN change c ON c.id = v.change_id
            JOIN revision_file f ON f.revision_id = v.id
            WHERE v.skill_id = ?1 AND f.base = 'skill' AND c.outcome = 'applied' AND f.path NOT GLOB '*/'
            ORDER BY f.path";
        let query = || {
            self.connection
                .prepare_cached(SELECT)?
                .query_map([skill], |row| row.get(0))?
                .collect::<rusqlite::Result<Vec<_>>>()
        };
        query().map_err(Error::database("read the log"))
    }
}

fn part_from(row: &Row<'_>) -> rusqlite::Result<ChangePart> {
    Ok(ChangePart {
        revision: row.get(0)?,
        skill: row.get(1)?,
        name: row.get(2)?,
        title: row.get(3)?,
        from: row.get(4)?,
        to: row.get(5)?,
        files: Vec::new(),
    })
}

fn file_from(row: &Row<'_>) -> rusqlite::Result<ChangedFile> {
    Ok(ChangedFile {
        is_absolute: row.get(0)?,
        path: row.get(1)?,
        moved_from: row.get(2)?,
        before: held(row, 3)?,
        after: held(row, 6)?,
    })
}

fn held(row: &Row<'_>, first: usize) -> rusqlite::Result<Held> {
    Ok(Held {
        hash: row.get(first)?,
        mode: row.get(first + 1)?,
        link: row.get(first + 2)?,
    })
}
