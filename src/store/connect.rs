//! Opens connections. The one function through which every connection to the database comes.

use std::path::Path;
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::hooks::{AuthAction, AuthContext, Authorization};
use rusqlite::{Connection, ErrorCode, OpenFlags};

use crate::error::{Error, Result};

/// What a connection is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    /// Read and write an existing database.
    ReadWrite,
    /// Read an existing database.
    Read,
    /// Read, and refuse every statement that would write: for statements typed by people.
    Query,
    /// Fill a file nobody else can see yet: no journal and no fsync, because a crash only loses a
    /// file that was never published.
    Build,
}

/// How long a connection waits for another writer before it gives up.
const BUSY_FOR: Duration = Duration::from_secs(5);
/// Naps of a caller that must not be held up: about a quarter of a second.
const BRIEF_TRIES: i32 = 400;
/// Statements kept ready. A change asks some forty, many of them several times.
const STATEMENTS: usize = 128;

/// Opens `path`, which must exist unless the mode is [`Mode::Build`].
///
/// # Errors
/// [`Error::Database`] when the file is no database or cannot be opened.
pub(super) fn open(path: &Path, mode: Mode) -> Result<Connection> {
    open_patiently(path, mode, nap)
}

/// As [`open`], for callers that must not be held up: gives up on a lock after a quarter of a second.
///
/// # Errors
/// As [`open`].
pub(super) fn open_briefly(path: &Path, mode: Mode) -> Result<Connection> {
    open_patiently(path, mode, |tries| tries < BRIEF_TRIES && nap(tries))
}

#[expect(
    clippy::disallowed_methods,
    reason = "the one function that opens a connection"
)]
fn open_patiently(path: &Path, mode: Mode, on_busy: fn(i32) -> bool) -> Result<Connection> {
    let access = match mode {
        Mode::ReadWrite => OpenFlags::SQLITE_OPEN_READ_WRITE,
        Mode::Build => OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE,
        Mode::Read | Mode::Query => OpenFlags::SQLITE_OPEN_READ_ONLY,
    };
    let mut connection =
        Connection::open_with_flags(path, access | OpenFlags::SQLITE_OPEN_NO_MUTEX)
            .map_err(Error::database("open the file"))?;
    configure(&mut connection, mode, on_busy).map_err(Error::database("set up a connection"))?;
    Ok(connection)
}

/// Opens a database on a read-only medium. Only right when no log with content lies beside it: SQLite
/// then takes the file as it is, and makes none of the files it would need to see other writers.
///
/// # Errors
/// As [`open`].
#[expect(
    clippy::disallowed_methods,
    reason = "the one file that opens connections"
)]
pub(super) fn open_immutable(path: &Path, mode: Mode) -> Result<Connection> {
    let mut uri = "file:".to_owned();
    for byte in path.to_string_lossy().bytes() {
        match byte {
            b'%' | b'?' | b'#' => uri.extend(['%', hex(byte >> 4), hex(byte & 15)]),
            _ if byte.is_ascii() => uri.push(char::from(byte)),
            _ => uri.extend(['%', hex(byte >> 4), hex(byte & 15)]),
        }
    }
    uri.push_str("?immutable=1");
    let access = OpenFlags::SQLITE_OPEN_READ_ONLY
        | OpenFlags::SQLITE_OPEN_URI
        | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection =
        Connection::open_with_flags(uri, access).map_err(Error::database("open the file"))?;
    configure(&mut connection, mode, nap).map_err(Error::database("set up a connection"))?;
    Ok(connection)
}

fn hex(nibble: u8) -> char {
    char::from_digit(u32::from(nibble), 16).unwrap_or('0')
}

fn configure(
    connection: &mut Connection,
    mode: Mode,
    on_busy: fn(i32) -> bool,
) -> rusqlite::Result<()> {
    // A fixed 0.5 ms nap beats SQLite's own schedule, which starves writers for seconds under load;
    // the jitter keeps eight processes that wake together from meeting again.
    connection.busy_handler(Some(on_busy))?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS);
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DQS_DDL, false)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DQS_DML, false)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    match mode {
        Mode::ReadWrite => {
            connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_FKEY, true)?;
            // The last connection to close copies the log into the database and removes it: four
            // fsyncs, and a new log for the next process. `Store` asks for it when it wrote something.
            connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
            // A checkpoint costs two fsyncs: keeping the bytes of a large library would pay for dozens.
            connection.execute_batch("PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = 8000;")
        }
        Mode::Build => connection.execute_batch(
            "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA locking_mode = EXCLUSIVE; PRAGMA foreign_keys = OFF; PRAGMA cache_size = -4096;",
        ),
        // A listing walks an index and looks each skill up: with less, the pages of 10,000 skills are
        // read four times over.
        Mode::Read => connection.execute_batch("PRAGMA cache_size = -8192;"),
        Mode::Query => {
            connection.execute_batch("PRAGMA query_only = ON;")?;
            connection.authorizer(Some(only_questions))
        }
    }
}

/// Pragmas that take an argument and only tell something.
const TELLING: [&str; 7] = [
    "table_info",
    "table_xinfo",
    "table_list",
    "index_list",
    "index_info",
    "index_xinfo",
    "foreign_key_list",
];

/// Refuses what a read-only file does not refuse by itself: settings of the connection, and other files.
fn only_questions(context: AuthContext<'_>) -> Authorization {
    match context.action {
        AuthAction::Attach { .. } | AuthAction::Detach { .. } => Authorization::Deny,
        AuthAction::Pragma {
            pragma_name,
            pragma_value: Some(_),
        } if !TELLING.contains(&pragma_name) => Authorization::Deny,
        _ => Authorization::Allow,
    }
}

/// Puts the database into WAL mode unless it is already; stays with what there is on a file system
/// that cannot (WAL needs shared memory, which network file systems lack).
pub(super) fn use_wal(connection: &Connection) -> rusqlite::Result<()> {
    // Asking first matters: setting it takes a lock, and every process would queue for it.
    let mode: String = connection.query_row("PRAGMA journal_mode", [], |row| row.get(0))?;
    if mode == "wal" {
        return Ok(());
    }
    match connection.query_row("PRAGMA journal_mode = WAL", [], |row| {
        row.get::<_, String>(0)
    }) {
        Ok(_) => Ok(()),
        Err(error) if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) => Ok(()),
        Err(error) => Err(error),
    }
}

/// Copies the log into the database as soon as it has this many pages: for connections that add a few
/// rows, while others keep the database open and so keep the log from being taken away.
pub(super) fn keep_log_short(connection: &Connection) -> rusqlite::Result<()> {
    connection.execute_batch("PRAGMA wal_autocheckpoint = 256;")
}

fn nap(tries: i32) -> bool {
    let pause = Duration::from_micros(
        400 + 200 * (u64::from(std::process::id() ^ tries.unsigned_abs()) % 3),
    );
    // Tries are counted in naps of about 0.6 ms on average, timer slack included.
    let limit = i32::try_from(BUSY_FOR.as_micros() / 600).unwrap_or(i32::MAX);
    std::thread::sleep(pause);
    tries < limit
}
