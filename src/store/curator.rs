//! The runs of the curator, and whether it is paused.

use rusqlite::{OptionalExtension, Row, params};

use super::{Store, Tx};
use crate::error::{Error, Result};
use crate::time::Timestamp;

/// The key under which a pause is noted.
const PAUSE: &str = "curator_pause";

/// How a run stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunStatus {
    /// Under way, or cut short.
    Running,
    /// The first one: only the time was noted.
    Marked,
    /// Everything was done.
    Done,
    /// Nothing was done.
    Failed,
}

impl RunStatus {
    const ALL: [Self; 4] = [Self::Running, Self::Marked, Self::Done, Self::Failed];

    /// The word in the database.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Marked => "marked",
            Self::Done => "done",
            Self::Failed => "failed",
        }
    }
}

/// A run to be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NewCuratorRun<'a> {
    /// How it stands.
    pub status: RunStatus,
    /// Who started it.
    pub actor: &'a str,
    /// Gates that were closed and overridden.
    pub forced: Option<&'a str>,
    /// What was decided, as JSON.
    pub plan: &'a str,
    /// The same in one line.
    pub summary: &'a str,
}

/// A run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CuratorRun {
    /// Its number.
    pub id: i64,
    /// When it began.
    pub started_at: String,
    /// When it ended.
    pub finished_at: Option<String>,
    /// How it stands.
    pub status: RunStatus,
    /// Who started it.
    pub actor: String,
    /// Gates that were closed and overridden.
    pub forced: Option<String>,
    /// What was decided, as JSON.
    pub plan: String,
    /// The same in one line.
    pub summary: String,
    /// Where the report is, without its ending.
    pub report_path: Option<String>,
    /// The change it made.
    pub change_id: Option<i64>,
    /// The snapshot of what it was about to touch.
    pub snapshot_id: Option<i64>,
    /// What went wrong.
    pub problem: Option<String>,
}

/// A pause.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pause {
    /// Since when.
    pub since: String,
    /// Who.
    pub actor: String,
    /// Why.
    pub reason: Option<String>,
}

const COLUMNS: &str = "id, started_at, finished_at, status, actor, forced, plan, summary, report_path, change_id, snapshot_id, problem";

fn run_from(row: &Row<'_>) -> rusqlite::Result<CuratorRun> {
    let status: String = row.get(3)?;
    Ok(CuratorRun {
        id: row.get(0)?,
        started_at: row.get(1)?,
        finished_at: row.get(2)?,
        status: RunStatus::ALL
            .into_iter()
            .find(|known| known.as_str() == status)
            .unwrap_or(RunStatus::Failed),
        actor: row.get(4)?,
        forced: row.get(5)?,
        plan: row.get(6)?,
        summary: row.get(7)?,
        report_path: row.get(8)?,
        change_id: row.get(9)?,
        snapshot_id: row.get(10)?,
        problem: row.get(11)?,
    })
}

impl Store {
    /// Returns the newest runs, the newest first.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn curator_runs(&self, limit: u32) -> Result<Vec<CuratorRun>> {
        let select = format!("SELECT {COLUMNS} FROM curator_run ORDER BY id DESC LIMIT ?1");
        self.rows(&select, &[&limit], run_from, "read the curator's runs")
    }

    /// Returns one run.
    ///
    /// # Errors
    /// [`Error::Denied`] when there is none with this number; [`Error::Database`].
    pub fn curator_run(&self, id: i64) -> Result<CuratorRun> {
        let select = format!("SELECT {COLUMNS} FROM curator_run WHERE id = ?1");
        self.connection
            .query_row(&select, [id], run_from)
            .optional()
            .map_err(Error::database("read the curator's runs"))?
            .ok_or_else(|| Error::Denied {
                code: "run-not-found",
                message: format!("there is no run {id} of the curator"),
                hint: Some("`skilldb curate status` lists the last ones".to_owned()),
            })
    }

    /// Returns when the last run began that counts for the interval; `None` before the first one.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn curator_booked_at(&self) -> Result<Option<String>> {
        const SELECT: &str = "SELECT started_at FROM curator_run WHERE status IN ('done', 'marked') ORDER BY id DESC LIMIT 1";
        self.connection
            .query_row(SELECT, [], |row| row.get(0))
            .optional()
            .map_err(Error::database("read the curator's runs"))
    }

    /// Returns since when the curator is paused, and by whom.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn curator_pause(&self) -> Result<Option<Pause>> {
        let Some(text) = self.meta(PAUSE)? else {
            return Ok(None);
        };
        // Whatever else stands there: it was put there to keep the curator from running.
        let value: serde_json::Value = serde_json::from_str(&text).unwrap_or_default();
        let word = |key: &str| {
            value
                .get(key)
                .and_then(|value| value.as_str())
                .map(str::to_owned)
        };
        Ok(Some(Pause {
            since: word("since").unwrap_or_default(),
            actor: word("actor").unwrap_or_default(),
            reason: word("reason"),
        }))
    }
}

impl Tx<'_> {
    /// Notes a run; returns its number.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn add_curator_run(&self, run: &NewCuratorRun<'_>, now: Timestamp) -> Result<i64> {
        const INSERT: &str = "INSERT INTO curator_run (started_at, finished_at, status, actor, forced, plan, summary) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
        let finished = (run.status != RunStatus::Running).then(|| now.to_string());
        let values = params![
            now.to_string(),
            finished,
            run.status.as_str(),
            run.actor,
            run.forced,
            run.plan,
            run.summary
        ];
        self.run(INSERT, values, "note a run of the curator")?;
        Ok(self.transaction.last_insert_rowid())
    }

    /// Says what a run is about to do.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn plan_curator_run(
        &self,
        id: i64,
        (plan, summary): (&str, &str),
        snapshot: Option<i64>,
    ) -> Result<()> {
        const UPDATE: &str =
            "UPDATE curator_run SET plan = ?2, summary = ?3, snapshot_id = ?4 WHERE id = ?1";
        self.run(
            UPDATE,
            params![id, plan, summary, snapshot],
            "note a run of the curator",
        )
    }

    /// Books a run that has succeeded, with the change it made.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn book_curator_run(&self, id: i64, change: Option<i64>, now: Timestamp) -> Result<()> {
        const UPDATE: &str = "UPDATE curator_run SET status = 'done', finished_at = ?3, change_id = ?2 WHERE id = ?1 AND status = 'running'";
        self.run(
            UPDATE,
            params![id, change, now.to_string()],
            "book a run of the curator",
        )
    }

    /// Closes a run that has failed. It books nothing.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn fail_curator_run(&self, id: i64, problem: &str, now: Timestamp) -> Result<()> {
        const UPDATE: &str = "UPDATE curator_run SET status = 'failed', finished_at = ?3, problem = ?2 WHERE id = ?1 AND status = 'running'";
        self.run(
            UPDATE,
            params![id, problem, now.to_string()],
            "close a run of the curator",
        )
    }

    /// Closes runs that were cut short before they changed anything.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn close_cut_runs(&self, now: Timestamp) -> Result<()> {
        const UPDATE: &str = "UPDATE curator_run SET status = 'failed', finished_at = ?1, problem = 'cut short before anything was changed'
            WHERE status = 'running' AND NOT EXISTS (SELECT 1 FROM change c JOIN journal j ON j.change_id = c.id WHERE c.curator_run_id = curator_run.id)";
        self.run(UPDATE, [now.to_string()], "close runs of the curator")
    }

    /// Notes where a run's report is, without its ending.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn note_report(&self, id: i64, path: &str) -> Result<()> {
        const UPDATE: &str = "UPDATE curator_run SET report_path = ?2 WHERE id = ?1";
        self.run(UPDATE, params![id, path], "note a report")
    }

    /// Pauses the curator, or lets it go on.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn set_curator_pause(&self, pause: Option<&Pause>) -> Result<()> {
        match pause {
            None => self.run(
                "DELETE FROM meta WHERE key = ?1",
                [PAUSE],
                "resume the curator",
            ),
            Some(pause) => {
                let value = serde_json::json!({"since": pause.since, "actor": pause.actor, "reason": pause.reason});
                self.put_meta(PAUSE, &value.to_string()).map(|_| ())
            }
        }
    }
}
