//! Reads the session database of Hermes Agent. It is never written to, and nothing is left beside it.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use rusqlite::types::ValueRef;
use rusqlite::{Connection, OptionalExtension, Row};
use tempfile::TempDir;

use super::connect::{self, Mode};
use super::{WAL, beside};
use crate::error::{Error, Result};
use crate::time::Timestamp;

/// A message that may tell of a skill.
#[derive(Debug, Clone, PartialEq)]
pub struct ForeignMessage {
    /// Its number.
    pub id: i64,
    /// Its session.
    pub session_id: String,
    /// user, assistant or tool.
    pub role: String,
    /// Its text.
    pub content: Option<String>,
    /// The calls an assistant makes, as JSON.
    pub tool_calls: Option<String>,
    /// The call a tool answers.
    pub tool_call_id: Option<String>,
    /// Seconds since 1970.
    pub timestamp: f64,
    /// How the session was started.
    pub channel: Option<String>,
    /// The folder the session worked in.
    pub project: Option<String>,
}

/// An open session database.
#[derive(Debug)]
pub struct ForeignHistory {
    path: PathBuf,
    connection: Connection,
    /// Holds the copy when the database was in use.
    _copy: Option<TempDir>,
    columns: HashSet<String>,
    session_columns: HashSet<String>,
}

/// What SQLite appends to the name for its rollback journal.
const JOURNAL: &str = "-journal";
/// How often a copy is tried again while its program goes on writing.
const TRIES: u32 = 5;

impl ForeignHistory {
    /// Opens the database at `path` as it is at this moment.
    ///
    /// # Errors
    /// [`Error::Foreign`].
    pub fn open(path: &Path) -> Result<Self> {
        Self::open_it(path).map_err(|error| match error {
            Error::Foreign { .. } => error,
            other => foreign(path, &with_cause(&other)),
        })
    }

    fn open_it(path: &Path) -> Result<Self> {
        let is_in_use = [WAL, JOURNAL]
            .iter()
            .any(|suffix| size_of(&beside(path, suffix)) > 0);
        let (file, copy) = if is_in_use {
            // Reading a database that is in use would write into its readers' marks.
            let (file, copy) = copy(path)?;
            (file, Some(copy))
        } else {
            (path.to_path_buf(), None)
        };
        let connection = if copy.is_some() {
            connect::open(&file, Mode::ReadWrite)?
        } else {
            connect::open_immutable(&file, Mode::Read)?
        };
        let columns = column_names(&connection, "messages")?;
        let session_columns = column_names(&connection, "sessions")?;
        Ok(Self {
            path: path.to_path_buf(),
            connection,
            _copy: copy,
            columns,
            session_columns,
        })
    }

    /// Says whether it is a session database: a table of messages with what this reader needs.
    #[must_use]
    pub fn is_readable(&self) -> bool {
        [
            "id",
            "session_id",
            "role",
            "content",
            "tool_calls",
            "tool_call_id",
            "timestamp",
        ]
        .into_iter()
        .all(|column| self.columns.contains(column))
    }

    /// Returns the number of the newest message, 0 for none.
    ///
    /// # Errors
    /// [`Error::Foreign`].
    pub fn newest(&self) -> Result<i64> {
        self.connection
            .query_row("SELECT coalesce(max(id), 0) FROM messages", [], |row| {
                row.get(0)
            })
            .map_err(|error| foreign(&self.path, &error.to_string()))
    }

    /// Returns what tells this database from another one: session and time of the newest message up to a
    /// number. Empty when there is none.
    ///
    /// # Errors
    /// [`Error::Foreign`].
    pub fn mark(&self, up_to: i64) -> Result<String> {
        const SELECT: &str = "SELECT id || ' ' || session_id || ' ' || timestamp FROM messages WHERE id <= ?1 ORDER BY id DESC LIMIT 1";
        let read = |row: &Row<'_>| row.get::<_, Option<String>>(0);
        let mark = self.connection.query_row(SELECT, [up_to], read).optional();
        mark.map(|mark| mark.flatten().unwrap_or_default())
            .map_err(|error| foreign(&self.path, &error.to_string()))
    }

    /// Hands over the messages after number `after` that may tell of a skill, in order.
    ///
    /// # Errors
    /// What `take` returns, or [`Error::Foreign`].
    pub fn each_message(
        &self,
        after: i64,
        mut take: impl FnMut(ForeignMessage) -> Result<()>,
    ) -> Result<()> {
        let session = |column: &str| {
            if self.session_columns.contains(column) {
                format!("s.{column}")
            } else {
                "NULL".to_owned()
            }
        };
        let (join, source, cwd) = if self.session_columns.contains("id") {
            (
                "LEFT JOIN sessions s ON s.id = m.session_id",
                session("source"),
                session("cwd"),
            )
        } else {
            ("", "NULL".to_owned(), "NULL".to_owned())
        };
        let tool = if self.columns.contains("tool_name") {
            "m.role = 'tool' AND m.tool_name IN ('skill_view', 'skill_manage')"
        } else {
            "m.role = 'tool'"
        };
        // CAST: a text that starts with a NUL character ends there for `LIKE`.
        let sql = format!(
            "SELECT m.id, m.session_id, m.role, CASE WHEN m.role = 'tool' THEN substr(m.content, 1, 2000) ELSE m.content END, m.tool_calls, m.tool_call_id, m.timestamp, {source}, {cwd}
             FROM messages m {join}
             WHERE m.id > ?1 AND (
               (m.role = 'assistant' AND m.tool_calls IS NOT NULL AND instr(m.tool_calls, 'skill_') > 0)
               OR ({tool})
               OR (m.role = 'user' AND instr(CAST(m.content AS BLOB), CAST('The user has invoked the ' AS BLOB)) > 0))
             ORDER BY m.id"
        );
        let fail = |error: rusqlite::Error| foreign(&self.path, &error.to_string());
        let mut statement = self.connection.prepare(&sql).map_err(fail)?;
        let mut rows = statement.query([after]).map_err(fail)?;
        while let Some(row) = rows.next().map_err(fail)? {
            take(message(row).map_err(fail)?)?;
        }
        Ok(())
    }
}

/// Reads a row whose values may be of any type.
fn message(row: &Row<'_>) -> rusqlite::Result<ForeignMessage> {
    let text = |index: usize| -> rusqlite::Result<Option<String>> {
        Ok(match row.get_ref(index)? {
            ValueRef::Null => None,
            ValueRef::Integer(number) => Some(number.to_string()),
            ValueRef::Real(number) => Some(number.to_string()),
            ValueRef::Text(bytes) | ValueRef::Blob(bytes) => {
                Some(String::from_utf8_lossy(bytes).into_owned())
            }
        })
    };
    let time = text(6)?.unwrap_or_default();
    let seconds = time.trim().parse().ok().or_else(|| {
        let moment = Timestamp::parse_lenient(&time)?;
        #[expect(
            clippy::cast_precision_loss,
            reason = "milliseconds fit for 285,000 years"
        )]
        Some(moment.millis() as f64 / 1_000.0)
    });
    Ok(ForeignMessage {
        id: row.get(0)?,
        session_id: text(1)?.unwrap_or_default(),
        role: text(2)?.unwrap_or_default(),
        content: text(3)?,
        tool_calls: text(4)?,
        tool_call_id: text(5)?,
        timestamp: seconds.unwrap_or_default(),
        channel: text(7)?,
        project: text(8)?,
    })
}

fn foreign(path: &Path, message: &str) -> Error {
    Error::Foreign {
        path: path.to_path_buf(),
        message: message.to_owned(),
    }
}

fn with_cause(error: &Error) -> String {
    let cause = std::error::Error::source(error);
    cause.map_or_else(|| error.to_string(), |cause| format!("{error}: {cause}"))
}

fn column_names(connection: &Connection, table: &str) -> Result<HashSet<String>> {
    let query = || -> rusqlite::Result<HashSet<String>> {
        connection
            .prepare("SELECT name FROM pragma_table_info(?1)")?
            .query_map([table], |row| row.get(0))?
            .collect()
    };
    query().map_err(Error::database("read a session database"))
}

fn size_of(path: &Path) -> u64 {
    fs::metadata(path).map_or(0, |metadata| metadata.len())
}

/// Copies a database and its logs into a folder of their own. Copied again when its program wrote
/// meanwhile: they must be of one moment.
fn copy(path: &Path) -> Result<(PathBuf, TempDir)> {
    let folder = tempfile::tempdir().map_err(Error::io("create", "a temporary folder"))?;
    let target = folder.path().join("state.db");
    let stamp = |path: &Path| {
        fs::metadata(path)
            .and_then(|metadata| Ok((metadata.len(), metadata.modified()?)))
            .ok()
    };
    let stamps = || ["", WAL, JOURNAL].map(|suffix| stamp(&beside(path, suffix)));
    for _ in 0..TRIES {
        let before = stamps();
        for suffix in ["", WAL, JOURNAL] {
            let part = beside(path, suffix);
            match fs::copy(&part, beside(&target, suffix)) {
                Ok(_) => {}
                Err(error)
                    if error.kind() == std::io::ErrorKind::NotFound && !suffix.is_empty() =>
                {
                    let _ = fs::remove_file(beside(&target, suffix));
                }
                Err(error) => return Err(Error::io("copy", part)(error)),
            }
        }
        if stamps() == before {
            return Ok((target, folder));
        }
    }
    Err(foreign(
        path,
        "is being written to all the time; import again when it rests",
    ))
}
