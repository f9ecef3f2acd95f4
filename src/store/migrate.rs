//! Brings a database to the newest schema. Check and apply happen inside one IMMEDIATE transaction,
//! so that eight processes that open an old database at once all succeed.

use std::path::{Path, PathBuf};

use refinery_core::traits::sync::{Migrate, Query, Transaction as RefineryTransaction};
use refinery_core::{Migration, Runner, SchemaVersion, Target};
use rusqlite::{Connection, Transaction, TransactionBehavior};

use super::connect::{self, Mode};
use crate::error::{Error, Result};
use crate::time::Timestamp;

mod embedded {
    refinery::embed_migrations!("migrations");
}

/// The newest schema number this binary knows. A constant, because asking the runner compiles a
/// regular expression: half of what opening a database would cost.
pub(super) const NEWEST: i32 = 8;

/// Returns the schema number of the database: 0 for an empty file.
pub(super) fn current(connection: &Connection) -> Result<i32> {
    connection
        .query_row("PRAGMA user_version", [], |row| row.get(0))
        .map_err(Error::database("read the schema number"))
}

/// Refuses a database that a newer skilldb wrote; says whether it is older than this binary.
pub(super) fn is_outdated(connection: &Connection, path: &Path) -> Result<bool> {
    let (found, known) = (current(connection)?, NEWEST);
    if found > known {
        return Err(Error::NewerSchema {
            path: path.to_path_buf(),
            found,
            known,
        });
    }
    Ok(found < known)
}

/// Applies what is missing. A database that holds rows is copied to `skilldb-<schema>-<time>.backup`
/// beside it first, from a second connection while this one holds the write lock.
///
/// # Errors
/// [`Error::NewerSchema`], or [`Error::Migration`] when a migration does not apply.
pub(super) fn migrate(connection: &mut Connection, path: &Path, now: Timestamp) -> Result<()> {
    let transaction = Transaction::new(connection, TransactionBehavior::Immediate)
        .map_err(Error::database("begin a migration"))?;
    // Another process may have migrated while this one waited for the lock.
    if !is_outdated(&transaction, path)? {
        return Ok(());
    }
    let schema = current(&transaction)?;
    if schema > 0 {
        back_up(path)?;
    }
    run(&transaction, None).map_err(|message| Error::Migration {
        path: path.to_path_buf(),
        message,
    })?;
    transaction
        .commit()
        .map_err(Error::database("commit a migration"))?;
    if schema > 0 {
        // Named only now: a migration that was killed leaves one half, not one backup a try.
        let copy = backup_path(path, schema, now);
        std::fs::rename(half_path(path), &copy).map_err(Error::io("create", copy))?;
    }
    Ok(())
}

/// Applies migrations up to `target` (all when `None`) inside the caller's transaction.
pub(super) fn run(
    transaction: &Transaction<'_>,
    target: Option<SchemaVersion>,
) -> std::result::Result<(), String> {
    let target = target.map_or(Target::Latest, Target::Version);
    let runner: Runner = embedded::migrations::runner().set_target(target);
    let report = runner
        .run(&mut Adapter(transaction))
        .map_err(|error| describe(&error))?;
    let Some(last) = report
        .applied_migrations()
        .iter()
        .map(Migration::version)
        .max()
    else {
        return Ok(());
    };
    transaction
        .pragma_update(None, "user_version", i64::from(last))
        .map_err(|error| error.to_string())
}

fn describe(error: &dyn std::error::Error) -> String {
    match error.source() {
        Some(source) => format!("{error}: {}", describe(source)),
        None => error.to_string(),
    }
}

/// Copies the database under a name that says it is not needed yet; an earlier try may have left its own.
fn back_up(path: &Path) -> Result<()> {
    let half = half_path(path);
    for leftover in [half.clone(), super::beside(&half, "-journal")] {
        let _ = std::fs::remove_file(leftover);
    }
    let second = connect::open(path, Mode::Read)?;
    second
        .execute("VACUUM INTO ?1", [half.to_string_lossy()])
        .map_err(Error::database("copy the database before migrating"))?;
    Ok(())
}

fn half_path(path: &Path) -> PathBuf {
    path.with_file_name("skilldb.backup.part")
}

fn backup_path(path: &Path, schema: i32, now: Timestamp) -> PathBuf {
    let stamp: String = now
        .to_string()
        .chars()
        .filter(char::is_ascii_alphanumeric)
        .collect();
    path.with_file_name(format!("skilldb-schema{schema}-{stamp}.backup"))
}

/// refinery's own driver begins transactions of its own (and stops at an older rusqlite); this one
/// works inside the transaction that already holds the lock.
struct Adapter<'t>(&'t Transaction<'t>);

impl RefineryTransaction for Adapter<'_> {
    type Error = rusqlite::Error;

    fn execute<'a, T: Iterator<Item = &'a str>>(&mut self, queries: T) -> rusqlite::Result<usize> {
        let mut count = 0;
        for query in queries {
            self.0.execute_batch(query)?;
            count += 1;
        }
        Ok(count)
    }
}

impl Query<Vec<Migration>> for Adapter<'_> {
    fn query(&mut self, query: &str) -> rusqlite::Result<Vec<Migration>> {
        let mut statement = self.0.prepare(query)?;
        let rows = statement.query_map([], |row| {
            let checksum: String = row.get(3)?;
            let unreadable = |_| rusqlite::Error::InvalidQuery;
            Ok(Migration::applied(
                row.get(0)?,
                row.get(1)?,
                applied_on(),
                checksum.parse().map_err(unreadable)?,
            ))
        })?;
        rows.collect()
    }
}

impl Migrate for Adapter<'_> {}

/// refinery wants the time a migration was applied but never acts on it.
fn applied_on() -> time::OffsetDateTime {
    time::OffsetDateTime::UNIX_EPOCH
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_schema_number_is_that_of_the_last_migration() {
        let runner = embedded::migrations::runner();
        let last = runner.get_migrations().iter().map(Migration::version).max();
        assert_eq!(last, Some(NEWEST));
    }
}
