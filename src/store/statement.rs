//! Statements typed by people: run read-only, rows handed over one by one.

use rusqlite::types::ValueRef;

use super::Store;
use crate::error::{Error, Result};

/// One value of a result row.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// SQL NULL.
    Null,
    /// A whole number.
    Integer(i64),
    /// A number.
    Real(f64),
    /// Text.
    Text(String),
    /// The number of bytes of a blob: bytes are of no use in a table.
    Blob(usize),
}

/// Takes the rows of a statement one by one.
pub struct RowSink<'s> {
    /// Called once, with the column names in order.
    pub columns: &'s mut dyn FnMut(&[String]) -> Result<()>,
    /// Called for each row.
    pub row: &'s mut dyn FnMut(&[Value]) -> Result<()>,
}

impl Store {
    /// Runs one statement and hands its rows over without holding them. Open the store with
    /// [`Store::open_query`]: then SQLite itself refuses every statement that would write.
    ///
    /// # Errors
    /// [`Error::Sql`] with SQLite's words when it refuses the statement, or what the sink returns.
    pub fn run_statement(&self, sql: &str, sink: &mut RowSink<'_>) -> Result<()> {
        let refused = |error: rusqlite::Error| Error::Sql {
            message: words(&error),
        };
        let mut statement = self.connection.prepare(sql).map_err(refused)?;
        if !statement.readonly() {
            return Err(Error::Sql {
                message: ONLY_READS.to_owned(),
            });
        }
        let columns: Vec<String> = statement.column_names().map(str::to_owned).collect();
        (sink.columns)(&columns)?;
        let mut values = Vec::with_capacity(columns.len());
        let mut result = statement.query([]).map_err(refused)?;
        while let Some(row) = result.next().map_err(refused)? {
            values.clear();
            for index in 0..columns.len() {
                values.push(row.get_ref(index).map(from_sql).map_err(refused)?);
            }
            (sink.row)(&values)?;
        }
        Ok(())
    }
}

fn from_sql(value: ValueRef<'_>) -> Value {
    match value {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(number) => Value::Integer(number),
        ValueRef::Real(number) => Value::Real(number),
        ValueRef::Text(bytes) => Value::Text(String::from_utf8_lossy(bytes).into_owned()),
        ValueRef::Blob(bytes) => Value::Blob(bytes.len()),
    }
}

const ONLY_READS: &str = "`skilldb sql` only reads: this statement would write";

fn words(error: &rusqlite::Error) -> String {
    match error {
        rusqlite::Error::SqliteFailure(code, _) if code.code == rusqlite::ErrorCode::ReadOnly => {
            ONLY_READS.to_owned()
        }
        rusqlite::Error::SqliteFailure(code, _)
        | rusqlite::Error::SqlInputError { error: code, .. }
            if code.code == rusqlite::ErrorCode::AuthorizationForStatementDenied =>
        {
            "`skilldb sql` only reads: it takes no settings and opens no other file".to_owned()
        }
        rusqlite::Error::SqliteFailure(_, Some(message)) => message.clone(),
        rusqlite::Error::SqlInputError {
            msg, sql, offset, ..
        } => {
            let before = usize::try_from(*offset)
                .ok()
                .and_then(|offset| sql.get(..offset))
                .unwrap_or("");
            format!("{msg} (at character {})", before.chars().count() + 1)
        }
        rusqlite::Error::MultipleStatement => "one statement at a time".to_owned(),
        other => other.to_string(),
    }
}
