//! Reads the session database of Hermes Agent. It is never written to, and nothing is left beside it.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use rusqlite::{Connection, Row};
use tempfile::TempDir;

use super::connect::{self, Mode};
use super::{WAL, beside};
use crate::error::{Error, Result};

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
    connection: Connection,
    /// Holds the copy when the database was in use.
    _copy: Option<TempDir>,
    columns: HashSet<String>,
    session_columns: HashSet<String>,
}

/// How often a copy is tried again while its program goes on writing.
const TRIES: u32 = 5;

impl ForeignHistory {
    /// Opens the database at `path` as it is at this moment.
    ///
    /// # Errors
    /// [`Error::Database`] when it is damaged, [`Error::Io`].
    pub fn open(path: &Path) -> Result<Self> {
        let (file, copy) = if size_of(&beside(path, WAL)) > 0 {
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
    /// [`Error::Database`].
    pub fn newest(&self) -> Result<i64> {
        self.connection
            .query_row("SELECT coalesce(max(id), 0) FROM messages", [], |row| {
                row.get(0)
            })
            .map_err(Error::database("read a session database"))
    }

    /// Hands over the messages after number `after` that may tell of a skill, in order.
    ///
    /// # Errors
    /// What `take` returns, or [`Error::Database`].
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
        let fail = |error| Error::database("read a session database")(error);
        let mut statement = self.connection.prepare(&sql).map_err(fail)?;
        let mut rows = statement.query([after]).map_err(fail)?;
        while let Some(row) = rows.next().map_err(fail)? {
            take(message(row).map_err(fail)?)?;
        }
        Ok(())
    }
}

fn message(row: &Row<'_>) -> rusqlite::Result<ForeignMessage> {
    let text = |index: usize| -> rusqlite::Result<Option<String>> {
        let bytes = row.get_ref(index)?.as_bytes_or_null()?;
        Ok(bytes.map(|bytes| String::from_utf8_lossy(bytes).into_owned()))
    };
    Ok(ForeignMessage {
        id: row.get(0)?,
        session_id: text(1)?.unwrap_or_default(),
        role: text(2)?.unwrap_or_default(),
        content: text(3)?,
        tool_calls: text(4)?,
        tool_call_id: text(5)?,
        timestamp: row.get::<_, Option<f64>>(6)?.unwrap_or_default(),
        channel: text(7)?,
        project: text(8)?,
    })
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

/// Copies a database and its log into a folder of their own. Copied again when its program wrote
/// meanwhile: the two must be of one moment.
fn copy(path: &Path) -> Result<(PathBuf, TempDir)> {
    let folder = tempfile::tempdir().map_err(Error::io("create", "a temporary folder"))?;
    let target = folder.path().join("state.db");
    let log = beside(path, WAL);
    let stamp = |path: &Path| {
        fs::metadata(path)
            .and_then(|metadata| Ok((metadata.len(), metadata.modified()?)))
            .ok()
    };
    for _ in 0..TRIES {
        let before = (stamp(path), stamp(&log));
        fs::copy(path, &target).map_err(Error::io("copy", path))?;
        match fs::copy(&log, beside(&target, WAL)) {
            Ok(_) => {}
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => return Err(Error::io("copy", log)(error)),
        }
        if (stamp(path), stamp(&log)) == before {
            break;
        }
    }
    Ok((target, folder))
}
