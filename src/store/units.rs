//! Rows of `walk_unit`: what `stat` said about each folder at the last sync.

use rusqlite::{OptionalExtension, params};

use super::{Store, Tx};
use crate::error::{Error, Result};

/// One walked folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UnitRow<'a> {
    /// Path relative to the root.
    pub rel_path: &'a str,
    /// The skill it is; `None` for a category folder.
    pub skill_id: Option<i64>,
    /// Whether it lies below an archive folder.
    pub archived: bool,
    /// The packed listing.
    pub entries: &'a [u8],
}

impl Store {
    /// Hands every unit of a root to `take`, in the order of their paths, without holding them all.
    ///
    /// # Errors
    /// What `take` returns, or [`Error::Database`].
    pub fn each_unit(
        &self,
        root_id: i64,
        mut take: impl FnMut(UnitRow<'_>) -> Result<()>,
    ) -> Result<()> {
        const SELECT: &str =
            "SELECT rel_path, skill_id, archived, entries FROM walk_unit WHERE root_id = ?1";
        let fail = Error::database("read what the last sync saw");
        let mut statement = match self.connection.prepare_cached(SELECT) {
            Ok(statement) => statement,
            Err(error) => return Err(fail(error)),
        };
        let mut rows = statement.query([root_id]).map_err(fail)?;
        loop {
            let next = rows
                .next()
                .map_err(Error::database("read what the last sync saw"))?;
            let Some(row) = next else { return Ok(()) };
            let unit = (|| {
                Ok(UnitRow {
                    rel_path: row.get_ref(0)?.as_str()?,
                    skill_id: row.get(1)?,
                    archived: row.get(2)?,
                    entries: row.get_ref(3)?.as_blob()?,
                })
            })();
            take(unit.map_err(|error: rusqlite::Error| {
                Error::database("read what the last sync saw")(error)
            })?)?;
        }
    }

    /// Returns the packed listing and the skill of one unit.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn find_unit(
        &self,
        root_id: i64,
        rel_path: &str,
    ) -> Result<Option<(Option<i64>, Vec<u8>)>> {
        const SELECT: &str =
            "SELECT skill_id, entries FROM walk_unit WHERE root_id = ?1 AND rel_path = ?2";
        let query = || {
            let mut statement = self.connection.prepare_cached(SELECT)?;
            statement
                .query_row(params![root_id, rel_path], |row| {
                    Ok((row.get(0)?, row.get(1)?))
                })
                .optional()
        };
        query().map_err(Error::database("read what the last sync saw"))
    }
}

impl Tx<'_> {
    /// Writes what `stat` said about a folder.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn put_unit(&self, root_id: i64, unit: &UnitRow<'_>) -> Result<()> {
        const PUT: &str = "INSERT OR REPLACE INTO walk_unit (root_id, rel_path, skill_id, archived, entries) VALUES (?1, ?2, ?3, ?4, ?5)";
        self.run(
            PUT,
            params![
                root_id,
                unit.rel_path,
                unit.skill_id,
                unit.archived,
                unit.entries
            ],
            "note a folder",
        )
    }

    /// Forgets a folder.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn remove_unit(&self, root_id: i64, rel_path: &str) -> Result<()> {
        const REMOVE: &str = "DELETE FROM walk_unit WHERE root_id = ?1 AND rel_path = ?2";
        self.run(REMOVE, params![root_id, rel_path], "forget a folder")
    }

    /// Runs a statement that returns nothing.
    pub(super) fn run(
        &self,
        sql: &str,
        values: impl rusqlite::Params,
        context: &'static str,
    ) -> Result<()> {
        let run = || self.transaction.prepare_cached(sql)?.execute(values);
        run().map(|_| ()).map_err(Error::database(context))
    }
}
