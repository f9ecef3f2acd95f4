//! Ledgers as plain rows, for an archive that anybody can read, and back into another library.

use std::collections::HashMap;

use rusqlite::types::ValueRef;
use rusqlite::{OptionalExtension, params, params_from_iter};
use serde_json::{Map, Value, json};

use super::{Store, Tx};
use crate::error::{Error, Result};
use crate::hash::hash_of;

/// The tables of a backup: everything that no file can say.
pub const LEDGERS: [&str; 20] = [
    "skill_root",
    "skill",
    "manifest",
    "skill_disabled",
    "change",
    "revision",
    "revision_file",
    "state_transition",
    "mark",
    "usage_event",
    "usage_alias",
    "usage_cost",
    "usage_baseline",
    "skill_install",
    "proposal",
    "snapshot",
    "snapshot_file",
    "snapshot_skill",
    "purged",
    "kept_file",
];

/// A row by its columns' names.
pub type Ledger = Map<String, Value>;

fn value(value: ValueRef<'_>) -> Value {
    match value {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(number) => json!(number),
        ValueRef::Real(number) => json!(number),
        ValueRef::Text(text) => json!(String::from_utf8_lossy(text)),
        ValueRef::Blob(bytes) => json!(String::from_utf8_lossy(bytes)),
    }
}

fn sql_of(value: &Value) -> rusqlite::types::Value {
    use rusqlite::types::Value as Sql;
    match value {
        Value::Null => Sql::Null,
        Value::Bool(flag) => Sql::Integer(i64::from(*flag)),
        Value::Number(number) => match number.as_i64() {
            Some(number) => Sql::Integer(number),
            None => Sql::Real(number.as_f64().unwrap_or_default()),
        },
        Value::String(text) => Sql::Text(text.clone()),
        Value::Array(_) | Value::Object(_) => Sql::Text(value.to_string()),
    }
}

impl Store {
    /// Hands over every row of one of [`LEDGERS`].
    ///
    /// # Errors
    /// [`Error::Database`], or what `take` returns.
    pub fn each_ledger_row(
        &self,
        table: &str,
        take: &mut dyn FnMut(Ledger) -> Result<()>,
    ) -> Result<()> {
        let fail = || Error::database("read a ledger");
        let select = format!("SELECT * FROM {table}");
        let mut statement = self.connection.prepare(&select).map_err(fail())?;
        let names: Vec<String> = statement.column_names().map(str::to_owned).collect();
        let mut rows = statement.query([]).map_err(fail())?;
        while let Some(row) = rows.next().map_err(fail())? {
            let mut ledger = Ledger::new();
            for (index, name) in names.iter().enumerate() {
                let cell = row.get_ref(index).map_err(fail())?;
                ledger.insert(name.clone(), value(cell));
            }
            take(ledger)?;
        }
        Ok(())
    }

    /// Returns what the library calls itself in archives; `None` while it has made none.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn library_id(&self) -> Result<Option<String>> {
        const SELECT: &str = "SELECT value FROM meta WHERE key = 'library_id'";
        self.connection
            .query_row(SELECT, [], |row| row.get(0))
            .optional()
            .map_err(Error::database("read the library's id"))
    }

    /// Says whether a file of a skill ever had these bytes.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn has_version(&self, skill: i64, hash: &str) -> Result<bool> {
        const SELECT: &str =
            "SELECT EXISTS (SELECT 1 FROM revision v JOIN revision_file f ON f.revision_id = v.id
            WHERE v.skill_id = ?1 AND (f.before_hash = ?2 OR f.after_hash = ?2))";
        let query = || {
            self.connection
                .prepare_cached(SELECT)?
                .query_row(params![skill, hash], |row| row.get(0))
        };
        query().map_err(Error::database("look up a version"))
    }

    /// Returns the skills of a name that are there: id, content hash, whether archived.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn texts_named(&self, name: &str) -> Result<Vec<(i64, Option<String>)>> {
        const SELECT: &str = "SELECT s.id, m.content_hash
            FROM manifest m
            JOIN skill s ON s.id = m.skill_id
            JOIN skill_root r ON r.id = s.root_id
            WHERE m.name = ?1 AND s.missing_since IS NULL AND s.removed_at IS NULL AND r.removed_at IS NULL
            ORDER BY s.state = 'archived', s.id";
        let query = || {
            self.connection
                .prepare_cached(SELECT)?
                .query_map([name], |row| Ok((row.get(0)?, row.get(1)?)))?
                .collect::<rusqlite::Result<Vec<_>>>()
        };
        query().map_err(Error::database("look up skills by name"))
    }
}

/// Names of the ledgers' columns that point at rows, and at which.
const POINTERS: [(&str, &str); 3] = [
    ("skill_id", "skill"),
    ("absorbed_into", "skill"),
    ("change_id", "change"),
];

/// What ids of another library are here.
#[derive(Debug, Default)]
pub struct Ids {
    /// Skills.
    pub skills: HashMap<i64, i64>,
    /// Changes.
    pub changes: HashMap<i64, i64>,
    /// Revisions of the changes that were added.
    pub revisions: HashMap<i64, i64>,
}

impl Ids {
    fn map(&self, what: &str, id: i64) -> Option<i64> {
        match what {
            "skill" => self.skills.get(&id).copied(),
            _ => self.changes.get(&id).copied(),
        }
    }

    /// Points a row at the rows of this library; what is not known here becomes NULL.
    pub fn point(&self, row: &mut Ledger) {
        for (column, what) in POINTERS {
            if let Some(id) = row.get(column).and_then(Value::as_i64) {
                row.insert(column.to_owned(), json!(self.map(what, id)));
            }
        }
    }
}

impl Tx<'_> {
    /// Gives the library an id of its own, unless it has one, and returns it.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn ensure_library_id(&self, seed: &str) -> Result<String> {
        const INSERT: &str = "INSERT OR IGNORE INTO meta (key, value) VALUES ('library_id', ?1)";
        const SELECT: &str = "SELECT value FROM meta WHERE key = 'library_id'";
        let id: String = hash_of(seed.as_bytes()).chars().take(16).collect();
        self.run(INSERT, [&id], "name the library")?;
        self.transaction
            .query_row(SELECT, [], |row| row.get(0))
            .map_err(Error::database("read the library's id"))
    }

    /// Adds a row of a ledger, without the columns that are not known here. Returns its id; `None` when a row that
    /// excludes it is there already.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn add_ledger_row(&self, table: &str, row: &Ledger) -> Result<Option<i64>> {
        let known = self.columns(table)?;
        let cells: Vec<(&String, &Value)> = row
            .iter()
            .filter(|(name, _)| known.contains(name))
            .collect();
        let names: Vec<String> = cells
            .iter()
            .map(|(name, _)| format!("\"{name}\""))
            .collect();
        let marks = vec!["?"; cells.len()].join(", ");
        let insert = format!(
            "INSERT OR IGNORE INTO {table} ({}) VALUES ({marks})",
            names.join(", ")
        );
        let values = cells.iter().map(|(_, value)| sql_of(value));
        let add = || -> rusqlite::Result<usize> {
            self.transaction
                .prepare_cached(&insert)?
                .execute(params_from_iter(values))
        };
        let added = add().map_err(Error::database("add a row of a ledger"))?;
        Ok((added > 0).then(|| self.transaction.last_insert_rowid()))
    }

    fn columns(&self, table: &str) -> Result<Vec<String>> {
        let query = || -> rusqlite::Result<Vec<String>> {
            self.transaction
                .prepare_cached("SELECT name FROM pragma_table_info(?1)")?
                .query_map([table], |row| row.get(0))?
                .collect()
        };
        query().map_err(Error::database("read the columns of a ledger"))
    }

    /// Says whether a row with these values is there.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn has_ledger_row(&self, table: &str, row: &Ledger, columns: &[&str]) -> Result<bool> {
        let wanted: Vec<String> = columns
            .iter()
            .map(|name| format!("\"{name}\" IS ?"))
            .collect();
        let select = format!(
            "SELECT EXISTS (SELECT 1 FROM {table} WHERE {})",
            wanted.join(" AND ")
        );
        let null = Value::Null;
        let values = columns
            .iter()
            .map(|name| sql_of(row.get(*name).unwrap_or(&null)));
        let query = || {
            self.transaction
                .prepare_cached(&select)?
                .query_row(params_from_iter(values), |row| row.get(0))
        };
        query().map_err(Error::database("look up a row of a ledger"))
    }

    /// Runs `work` while transitions are only written down: those of another library happened already.
    ///
    /// # Errors
    /// [`Error::Database`], or what `work` returns: then nothing of the transaction stays.
    pub fn without_applying_transitions(&self, work: impl FnOnce() -> Result<()>) -> Result<()> {
        const NAMES: [&str; 2] = [
            "state_transition_applies",
            "state_transition_starts_where_the_skill_is",
        ];
        const SELECT: &str = "SELECT sql FROM sqlite_schema WHERE type = 'trigger' AND name = ?1";
        let fail = || Error::database("set rules of transitions aside");
        let mut rules = Vec::new();
        for name in NAMES {
            let sql: String = self
                .transaction
                .query_row(SELECT, [name], |row| row.get(0))
                .map_err(fail())?;
            self.transaction
                .execute_batch(&format!("DROP TRIGGER {name}"))
                .map_err(fail())?;
            rules.push(sql);
        }
        work()?;
        rules
            .iter()
            .try_for_each(|rule| self.transaction.execute_batch(rule).map_err(fail()))
    }

    /// Takes over what another library knows of a skill, where that protects it more: a pin, an edit by a person, that a
    /// person made it. An archive's word makes nothing an agent's.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn take_over_skill(&self, id: i64, theirs: &Ledger) -> Result<()> {
        const UPDATE: &str = "UPDATE skill SET
              pinned = max(pinned, coalesce(?2, 0)),
              pin_reason = coalesce(pin_reason, ?3),
              origin = CASE WHEN origin = 'unknown' AND ?4 = 'user' THEN 'user' ELSE origin END,
              origin_evidence = CASE WHEN origin = 'unknown' AND ?4 = 'user' THEN ?5 ELSE origin_evidence END,
              human_edited_at = nullif(max(coalesce(human_edited_at, ''), coalesce(?6, '')), ''),
              created_at = min(created_at, coalesce(?7, created_at))
            WHERE id = ?1";
        let cell = |name: &str| sql_of(theirs.get(name).unwrap_or(&Value::Null));
        let values = params![
            id,
            cell("pinned"),
            cell("pin_reason"),
            cell("origin"),
            cell("origin_evidence"),
            cell("human_edited_at"),
            cell("created_at")
        ];
        self.run(UPDATE, values, "take over a skill")
    }

    /// Gives a skill that came from another library the state it had there; how it got into it comes with the ledger.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn take_over_state(&self, id: i64, theirs: &Ledger) -> Result<()> {
        const UPDATE: &str = "UPDATE skill SET state = coalesce(?2, state), archived_from = ?3, archived_at = ?4 WHERE id = ?1";
        let cell = |name: &str| sql_of(theirs.get(name).unwrap_or(&Value::Null));
        let values = params![
            id,
            cell("state"),
            cell("archived_from"),
            cell("archived_at")
        ];
        self.run(UPDATE, values, "take over a state")
    }

    /// Notes what took a change back.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn set_undone_by(&self, change: i64, by: i64) -> Result<()> {
        const UPDATE: &str = "UPDATE change SET undone_by = ?2 WHERE id = ?1";
        self.run(UPDATE, [change, by], "note an undo")
    }

    /// Adds a life that ended elsewhere, so that its history has a place.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn add_ended_skill(&self, root_id: i64, theirs: &Ledger, ended_at: &str) -> Result<i64> {
        const INSERT: &str = "INSERT INTO skill (root_id, rel_path, origin, origin_evidence, state, created_at, removed_at)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
        let word = |name: &str, else_: &str| {
            let found = theirs.get(name).and_then(Value::as_str);
            found.unwrap_or(else_).to_owned()
        };
        let cell = |name: &str| sql_of(theirs.get(name).unwrap_or(&Value::Null));
        let values = params![
            root_id,
            word("rel_path", "."),
            word("origin", "unknown"),
            cell("origin_evidence"),
            word("state", "active"),
            word("created_at", ended_at),
            ended_at
        ];
        self.run(INSERT, values, "add a life that ended")?;
        Ok(self.transaction.last_insert_rowid())
    }

    /// Returns the row of a life that ended, with the same values; `None` when there is none.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn ended_row(&self, theirs: &Ledger, columns: &[&str]) -> Result<Option<i64>> {
        let wanted: Vec<String> = columns
            .iter()
            .map(|name| format!("\"{name}\" IS ?"))
            .collect();
        let select = format!(
            "SELECT id FROM skill WHERE removed_at IS NOT NULL AND {} LIMIT 1",
            wanted.join(" AND ")
        );
        let null = Value::Null;
        let values = columns
            .iter()
            .map(|name| sql_of(theirs.get(*name).unwrap_or(&null)));
        let query = || {
            self.transaction
                .prepare_cached(&select)?
                .query_row(params_from_iter(values), |row| row.get(0))
                .optional()
        };
        query().map_err(Error::database("look up a life that ended"))
    }

    /// Returns the row of a use by its event id; `None` when there is none.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn event_row(&self, event_id: &str) -> Result<Option<i64>> {
        const SELECT: &str = "SELECT id FROM usage_event WHERE event_id = ?1";
        let query = || {
            self.transaction
                .prepare_cached(SELECT)?
                .query_row([event_id], |row| row.get(0))
                .optional()
        };
        query().map_err(Error::database("look up a use"))
    }

    /// Returns the row of a change that came from elsewhere, by the key it was given.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn change_by_event(&self, event_id: &str) -> Result<Option<i64>> {
        const SELECT: &str = "SELECT id FROM change WHERE event_id = ?1";
        let query = || {
            self.transaction
                .prepare_cached(SELECT)?
                .query_row([event_id], |row| row.get(0))
                .optional()
        };
        query().map_err(Error::database("look up a change"))
    }
}
