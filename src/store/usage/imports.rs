//! How far each history file of a client was read, and what its messages cost.

use rusqlite::params;

use super::super::{Store, Tx};
use super::to_sql;
use crate::error::Result;
use crate::time::Timestamp;

/// How far a history file was read.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ImportFile {
    /// Absolute path.
    pub path: String,
    /// Bytes it had.
    pub size: u64,
    /// Last change, nanoseconds since 1970.
    pub ctime_ns: i64,
    /// Bytes that were read.
    pub read_bytes: u64,
    /// Whole lines that were read.
    pub read_lines: u64,
    /// SHA-256 over the beginning and the end of what was read.
    pub fingerprint: String,
    /// Events before this were left out.
    pub since: Option<String>,
    /// What the reader remembers, as JSON.
    pub state: Option<String>,
}

impl Store {
    /// Returns what is known of a client's history files, in the order of their paths.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn import_files(&self, client: &str) -> Result<Vec<ImportFile>> {
        const SELECT: &str = "SELECT path, size, ctime_ns, read_bytes, read_lines, fingerprint, since FROM import_file WHERE client = ?1 ORDER BY path";
        self.rows(
            SELECT,
            &[&client],
            |row| {
                Ok(ImportFile {
                    path: row.get(0)?,
                    size: row.get(1)?,
                    ctime_ns: row.get(2)?,
                    read_bytes: row.get(3)?,
                    read_lines: row.get(4)?,
                    fingerprint: row.get(5)?,
                    since: row.get(6)?,
                    state: None,
                })
            },
            "read how far histories were read",
        )
    }

    /// Returns what the reader of a file remembered.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn import_state(&self, client: &str, path: &str) -> Result<Option<String>> {
        const SELECT: &str = "SELECT state FROM import_file WHERE client = ?1 AND path = ?2";
        let rows = self.rows(
            SELECT,
            &[&client, &path],
            |row| row.get(0),
            "read how far a history was read",
        )?;
        Ok(rows.into_iter().next().flatten())
    }
}

impl Tx<'_> {
    /// Notes how far a file was read.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn put_import_file(&self, client: &str, file: &ImportFile, now: Timestamp) -> Result<()> {
        const PUT: &str = "INSERT OR REPLACE INTO import_file (client, path, size, ctime_ns, read_bytes, read_lines, fingerprint, since, state, read_at)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)";
        let values = params![
            client,
            file.path,
            to_sql(Some(file.size)),
            file.ctime_ns,
            to_sql(Some(file.read_bytes)),
            to_sql(Some(file.read_lines)),
            file.fingerprint,
            file.since,
            file.state,
            now.to_string()
        ];
        self.run(PUT, values, "note how far a history was read")
    }

    /// Notes what a message cost that a client credits to a skill. The same message counts once; a
    /// later line of it may know more.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn add_cost(&self, cost: &Cost<'_>) -> Result<()> {
        const PUT: &str = "INSERT INTO usage_cost (message_id, usage_event_id, called_name, client, session_id, at, tokens_in, tokens_out)
            VALUES (?1, coalesce((SELECT id FROM usage_event WHERE event_id = ?2), (SELECT usage_event_id FROM usage_alias WHERE event_id = ?2)), ?3, ?4, ?5, ?6, ?7, ?8)
            ON CONFLICT (message_id) DO UPDATE SET tokens_in = max(tokens_in, excluded.tokens_in), tokens_out = max(tokens_out, excluded.tokens_out)
            WHERE excluded.tokens_in > tokens_in OR excluded.tokens_out > tokens_out";
        let values = params![
            cost.message_id,
            cost.event_id,
            cost.called_name,
            cost.client,
            cost.session_id,
            cost.at.to_string(),
            to_sql(Some(cost.tokens_in)),
            to_sql(Some(cost.tokens_out))
        ];
        self.run(PUT, values, "note what a skill cost")
    }
}

impl Store {
    /// Finds the uses of costs that were told before or apart from them: of the same skill, in the same
    /// session, not after the message.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn adopt_costs(&mut self) -> Result<()> {
        const OPEN: &str = "SELECT message_id, called_name, session_id, at FROM usage_cost WHERE usage_event_id IS NULL AND session_id IS NOT NULL";
        const LINKED: &str = "SELECT id FROM usage_event WHERE skill_id = ?1 AND at <= ?2 AND at >= ?3 AND session_id = ?4 ORDER BY at DESC LIMIT 1";
        const UNLINKED: &str = "SELECT id FROM usage_event INDEXED BY usage_event_by_called_name WHERE skill_id IS NULL AND called_name = ?1 AND at <= ?2 AND at >= ?3 AND session_id = ?4 ORDER BY at DESC LIMIT 1";
        const ADOPT: &str = "UPDATE usage_cost SET usage_event_id = ?2 WHERE message_id = ?1";
        let read =
            |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?));
        let open: Vec<(String, String, String, String)> =
            self.rows(OPEN, &[], read, "list costs without a use")?;
        let mut adopted = Vec::new();
        for (message, name, session, at) in open {
            // A session may go on for days.
            let from = Timestamp::parse(&at).map(|at| at.days_before(30).to_string());
            let from = from.unwrap_or_default();
            let last = name.rsplit(':').next().unwrap_or(&name).to_owned();
            let mut uses: Vec<i64> = self.rows(
                UNLINKED,
                &[&name, &at, &from, &session],
                |row| row.get(0),
                "look for the use of a cost",
            )?;
            for skill in self.skills_named(&last)? {
                uses.extend(self.rows(
                    LINKED,
                    &[&skill.id, &at, &from, &session],
                    |row| row.get::<_, i64>(0),
                    "look for the use of a cost",
                )?);
            }
            adopted.extend(uses.into_iter().max().map(|event| (message, event)));
        }
        if adopted.is_empty() {
            return Ok(());
        }
        self.append(|tx| {
            adopted.iter().try_for_each(|(message, event)| {
                tx.run(ADOPT, params![message, event], "link a cost to its use")
            })
        })
    }
}

/// Tokens of one message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cost<'a> {
    /// The message's id.
    pub message_id: &'a str,
    /// The use it belongs to, if one is known.
    pub event_id: Option<&'a str>,
    /// The skill as the client calls it.
    pub called_name: &'a str,
    /// The client.
    pub client: &'a str,
    /// The session.
    pub session_id: Option<&'a str>,
    /// When.
    pub at: Timestamp,
    /// Tokens read, without what came from a cache.
    pub tokens_in: u64,
    /// Tokens written.
    pub tokens_out: u64,
}
