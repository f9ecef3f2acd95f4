//! Makes a new database: filled beside its place without a journal, then published under its name.
//! The first sync of a library so costs two fsyncs instead of eight, and a crash leaves no half of it.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use rusqlite::{Transaction, TransactionBehavior};

use super::connect::{self, Mode};
use super::{FILE_NAME, Store, Tx, migrate};
use crate::error::{Error, Result};

const SUFFIX: &str = ".building";

impl Store {
    /// Makes the database of the library at `home`, filled by `fill`. Returns `None`, and leaves
    /// nothing behind, when another process published one in the meantime.
    ///
    /// # Errors
    /// What `fill` returns, or what the file system or SQLite say.
    pub fn create<T>(home: &Path, fill: impl FnOnce(&Tx<'_>) -> Result<T>) -> Result<Option<T>> {
        fs::create_dir_all(home).map_err(Error::io("create the folder", home))?;
        let building = Building {
            path: home.join(format!(".skilldb-{}{SUFFIX}", std::process::id())),
        };
        building.clear();
        let result = build(&building.path, fill)?;
        let file = File::open(&building.path).map_err(Error::io("open", &building.path))?;
        file.sync_all()
            .map_err(Error::io("flush", &building.path))?;
        let place = home.join(FILE_NAME);
        remove_orphaned_logs(&place);
        // A hard link never replaces: of two processes that publish, one wins and both know.
        match fs::hard_link(&building.path, &place) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Ok(None),
            // Not every file system has hard links. The lock keeps others from publishing meanwhile.
            Err(_) if !place.exists() => {
                fs::rename(&building.path, &place).map_err(Error::io("create", &place))?;
            }
            Err(error) => return Err(Error::io("create", place)(error)),
        }
        File::open(home)
            .and_then(|folder| folder.sync_all())
            .map_err(Error::io("flush the folder", home))?;
        Ok(Some(result))
    }
}

fn build<T>(path: &Path, fill: impl FnOnce(&Tx<'_>) -> Result<T>) -> Result<T> {
    let mut connection = connect::open(path, Mode::Build)?;
    let transaction = Transaction::new(&mut connection, TransactionBehavior::Exclusive)
        .map_err(Error::database("begin a new database"))?;
    migrate::run(&transaction, None).map_err(|message| Error::Migration {
        path: path.to_path_buf(),
        message,
    })?;
    let indexes = take_indexes(&transaction).map_err(Error::database("set indexes aside"))?;
    let result = fill(&Tx {
        transaction: &transaction,
    })?;
    for index in indexes {
        transaction
            .execute_batch(&index)
            .map_err(Error::database("build the indexes"))?;
    }
    transaction
        .commit()
        .map_err(Error::database("write a new database"))?;
    // Left in the header for good, so that no later connection has to switch modes under a lock.
    connection
        .execute_batch("PRAGMA locking_mode = NORMAL; PRAGMA journal_mode = WAL;")
        .map_err(Error::database("switch the new database to WAL"))?;
    connection
        .close()
        .map_err(|(_, error)| Error::database("close the new database")(error))?;
    Ok(result)
}

/// Drops the secondary indexes and returns the statements that make them again: sorting all entries
/// once costs a fraction of putting each in its place. Unique ones stay, they guard what is filled in.
fn take_indexes(transaction: &Transaction<'_>) -> rusqlite::Result<Vec<String>> {
    const SELECT: &str =
        "SELECT name, sql FROM sqlite_schema WHERE type = 'index' AND sql LIKE 'CREATE INDEX%'";
    let mut statement = transaction.prepare(SELECT)?;
    let indexes = statement
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect::<rusqlite::Result<Vec<(String, String)>>>()?;
    drop(statement);
    for (name, _) in &indexes {
        transaction.execute_batch(&format!("DROP INDEX {name}"))?;
    }
    Ok(indexes.into_iter().map(|(_, sql)| sql).collect())
}

/// Puts the log of a database that is not there any more aside: SQLite would replay it into the new one. Only called
/// under the library's lock, by which nobody else is publishing.
fn remove_orphaned_logs(place: &Path) {
    if place.exists() {
        return;
    }
    for suffix in [super::WAL, "-journal"] {
        let log = super::beside(place, suffix);
        if fs::metadata(&log).is_ok_and(|metadata| metadata.len() > 0) {
            // It belongs to a database that was moved away, and may hold what that one does not.
            let aside = super::beside(place, &format!(".orphaned-{}{suffix}", std::process::id()));
            let _ = fs::rename(&log, aside);
        }
    }
    remove_logs(place);
}

/// Not there is the usual case, and any other failure shows when the database is opened.
fn remove_logs(database: &Path) {
    for suffix in [super::WAL, "-shm", "-journal"] {
        let _ = fs::remove_file(super::beside(database, suffix));
    }
}

/// The file while it is being filled; removed whatever happens.
struct Building {
    path: PathBuf,
}

impl Building {
    fn clear(&self) {
        let _ = fs::remove_file(&self.path);
        remove_logs(&self.path);
    }
}

impl Drop for Building {
    fn drop(&mut self) {
        self.clear();
    }
}

/// Removes what killed processes left while they built a database. Call it under the library's lock.
pub fn remove_leftovers(home: &Path) {
    let Ok(entries) = fs::read_dir(home) else {
        return;
    };
    for entry in entries.flatten() {
        let name = entry.file_name();
        if name
            .to_str()
            .is_some_and(|name| name.starts_with(".skilldb-") && name.contains(SUFFIX))
        {
            let _ = fs::remove_file(entry.path());
        }
    }
}
