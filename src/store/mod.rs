//! The only place with SQL. Gives and takes plain records; knows nothing of files or folders.

mod blob;
mod changes;
mod check;
mod connect;
mod create;
mod curation;
mod curator;
mod dump;
mod facts;
mod foreign;
mod history;
mod journal;
mod lock;
mod lookup;
mod migrate;
mod mirror;
mod named;
mod proposals;
mod purge;
mod query;
mod roots;
mod scans;
mod search;
mod skills;
mod snapshots;
mod statement;
mod units;
mod usage;

use std::path::{Path, PathBuf};

use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, Transaction, TransactionBehavior};

use crate::error::{Error, Result};
use crate::time::Timestamp;
use connect::Mode;

pub use blob::{Packed, Packer, is_intact, unpack};
pub use changes::{ChangePart, ChangeRow, ChangedFile, Held, Wanted};
pub use check::{CheckFinding, Repair};
pub use create::remove_leftovers;
pub use curation::{CurationRow, Orphan};
pub use curator::{CuratorRun, NewCuratorRun, Pause, RunStatus};
pub use dump::{Ids, LEDGERS, Ledger};
pub use facts::{NameTaken, SkillFacts};
pub use foreign::{ForeignHistory, ForeignMessage};
pub use history::{CaptureJob, KeptFile, KeptTotals, NewFile, NewRevision};
pub use journal::{Ending, NewChange, NewPart, NewPartFile, NewTransition, Standing};
pub use lock::{LibraryLock, RunLock};
pub use lookup::{Candidate, SkillAddress};
pub use mirror::{
    ConditionRecord, ConfigRecord, DiagnosticRecord, FileRecord, RequirementRecord, SkillRecord,
};
pub use named::{LIST_VIEWS, NAMED, Named};
pub use proposals::{Decision, NewMark, NewProposal, ProposalRow};
pub use purge::PurgedUse;
pub use query::{
    Copy, DeclaredConfig, DiagnosticRow, MissingRow, RefusedRow, ShortRow, SkillDetail, SkillRow,
};
pub use roots::{RootCounts, RootRow};
pub use scans::{Flag, KnownScan, KnownVerdict, NewScan, ScanFinding, ToScan, VerdictCounts};
pub use search::{HitRow, NewDocument, SegmentRow, ToIndex};
pub use skills::{KnownSkill, Place};
pub use snapshots::{Extent, SnapshotFile, SnapshotRow, SnapshotSkill};
pub use statement::{RowSink, Value};
pub use units::UnitRow;
pub use usage::{
    Actor, Added, Baseline, ClientUse, Cost, CostRow, DayCount, ImportFile, ImportedChange,
    Install, LifeRow, MomentRow, NamedSkill, NotInstalled, OpenCall, RecordRow, SkillUse, StaleRow,
    Taken, Told, Totals, TrendRow, Trigger, Typed, UsageEvent, UseKind,
};

/// The database file's name in the library's home.
pub const FILE_NAME: &str = "skilldb.db";

/// An open database.
#[derive(Debug)]
pub struct Store {
    connection: Connection,
    path: PathBuf,
    wrote: Wrote,
}

/// Whether to wait for somebody who is changing the library: a first sync may take a while.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Waiting {
    /// Until it is done.
    Yes,
    /// Not at all.
    No,
}

/// What a connection wrote, which decides what happens at its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Wrote {
    Nothing,
    FewRows,
    Much,
}

/// Beyond this many bytes of log whoever adds a row copies it into the database at the end. A process
/// that finds nobody else there reads the whole log when it opens the database, and with it forgets how
/// much of it was copied already: left alone, the log would grow, and every command with it.
const LONGEST_LOG: u64 = 1024 * 1024;

impl Drop for Store {
    fn drop(&mut self) {
        let is_due = match self.wrote {
            Wrote::Nothing => false,
            Wrote::FewRows => log_size(&self.path) > LONGEST_LOG,
            Wrote::Much => true,
        };
        if is_due {
            let setting = DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE;
            // Without it the log stays beside the database, which is as right.
            let _ = self.connection.set_db_config(setting, false);
        }
    }
}

/// One write transaction. All of it is committed or nothing.
#[derive(Debug)]
pub struct Tx<'t> {
    transaction: &'t Transaction<'t>,
}

impl Store {
    /// Opens the database of the library at `home` for reading and writing, migrating it first if
    /// this binary is newer. `None` when there is no database yet.
    ///
    /// # Errors
    /// [`Error::NewerSchema`], [`Error::Migration`], [`Error::Database`].
    pub fn open(home: &Path, now: Timestamp) -> Result<Option<Self>> {
        let path = home.join(FILE_NAME);
        if !path.exists() {
            return Ok(None);
        }
        let mut connection = connect::open(&path, Mode::ReadWrite)?;
        // Asked first: a newer database is refused before anything in it is touched.
        let is_outdated = migrate::is_outdated(&connection, &path)?;
        connect::use_wal(&connection).map_err(Error::database("set up a connection"))?;
        if is_outdated {
            migrate::migrate(&mut connection, &path, now)?;
        }
        Ok(Some(Self {
            connection,
            path,
            wrote: Wrote::Nothing,
        }))
    }

    /// As [`Store::open`] for callers that must not be held up: waits a quarter of a second for others, and
    /// leaves an older schema as it is.
    ///
    /// # Errors
    /// [`Error::OlderSchema`], [`Error::NewerSchema`], [`Error::Database`].
    pub fn open_briefly(home: &Path) -> Result<Option<Self>> {
        let path = home.join(FILE_NAME);
        if !path.exists() {
            return Ok(None);
        }
        let connection = connect::open_briefly(&path, Mode::ReadWrite)?;
        if migrate::is_outdated(&connection, &path)? {
            return Err(Error::OlderSchema { path });
        }
        connect::use_wal(&connection).map_err(Error::database("set up a connection"))?;
        Ok(Some(Self {
            connection,
            path,
            wrote: Wrote::Nothing,
        }))
    }

    /// Opens the database for reading. An older schema is migrated first, which needs write access.
    ///
    /// # Errors
    /// [`Error::NoLibrary`] when there is none yet, else as [`Store::open`].
    pub fn open_read(home: &Path, now: Timestamp) -> Result<Self> {
        Self::open_with(home, now, Mode::Read)
    }

    /// Opens the database so that no statement can change it: for statements typed by people.
    ///
    /// # Errors
    /// As [`Store::open_read`].
    pub fn open_query(home: &Path, now: Timestamp) -> Result<Self> {
        Self::open_with(home, now, Mode::Query)
    }

    fn open_with(home: &Path, now: Timestamp, mode: Mode) -> Result<Self> {
        let path = home.join(FILE_NAME);
        if !path.exists() {
            return Err(Error::NoLibrary { path });
        }
        let mut connection = connect::open(&path, mode)?;
        let is_outdated = match migrate::is_outdated(&connection, &path) {
            Err(Error::Database { source, .. }) if needs_writing(&source) && !has_log(&path) => {
                connection = connect::open_immutable(&path, mode)?;
                migrate::is_outdated(&connection, &path)?
            }
            answer => answer?,
        };
        if is_outdated {
            drop(connection);
            let mut writer = connect::open(&path, Mode::ReadWrite)?;
            migrate::migrate(&mut writer, &path, now)?;
            let connection = connect::open(&path, mode)?;
            return Ok(Self {
                connection,
                path,
                wrote: Wrote::Nothing,
            });
        }
        Ok(Self {
            connection,
            path,
            wrote: Wrote::Nothing,
        })
    }

    /// Returns the path of the database file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Runs `work` in one IMMEDIATE transaction and commits when it returns `Ok`. A deferred one
    /// would fail at its first write whenever somebody else wrote since its first read.
    ///
    /// # Errors
    /// What `work` returns, or [`Error::Database`].
    pub fn write<T>(&mut self, work: impl FnOnce(&Tx<'_>) -> Result<T>) -> Result<T> {
        self.wrote = Wrote::Much;
        write(&mut self.connection, work)
    }
}

impl Store {
    /// As [`Store::write`], and leaves the log as it is at the end unless it has grown long: for a few
    /// rows that many processes add, each of which would else copy it into the database and flush that.
    ///
    /// # Errors
    /// What `work` returns, or [`Error::Database`].
    pub fn append<T>(&mut self, work: impl FnOnce(&Tx<'_>) -> Result<T>) -> Result<T> {
        self.keep_log_at_close()?;
        write(&mut self.connection, work)
    }

    fn keep_log_at_close(&mut self) -> Result<()> {
        if self.wrote == Wrote::Nothing {
            connect::keep_log_short(&self.connection)
                .map_err(Error::database("set up a connection"))?;
            self.wrote = Wrote::FewRows;
        }
        Ok(())
    }

    /// Makes an empty database at `home`, unless somebody else does meanwhile.
    ///
    /// # Errors
    /// As [`Store::create`], or [`Error::Locked`].
    pub fn create_empty(home: &Path, waiting: Waiting) -> Result<()> {
        let _lock = match waiting {
            Waiting::Yes => LibraryLock::take(home, || {})?,
            Waiting::No => LibraryLock::try_take(home)?,
        };
        if !home.join(FILE_NAME).exists() {
            Self::create(home, |_| Ok(()))?;
        }
        Ok(())
    }

    /// Copies the database into another home: what a dry run is tried out on.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn copy_to(&self, home: &Path) -> Result<()> {
        let place = home.join(FILE_NAME);
        self.connection
            .execute("VACUUM INTO ?1", [place.to_string_lossy()])
            .map_err(Error::database("copy the database"))?;
        Ok(())
    }
}

/// Reading in WAL mode needs a file for the readers' marks, which a read-only medium cannot hold.
fn needs_writing(error: &rusqlite::Error) -> bool {
    matches!(
        error.sqlite_error_code(),
        Some(ErrorCode::ReadOnly | ErrorCode::CannotOpen)
    )
}

/// What SQLite appends to the name of a database for its write-ahead log.
const WAL: &str = "-wal";

fn has_log(path: &Path) -> bool {
    log_size(path) > 0
}

fn log_size(path: &Path) -> u64 {
    std::fs::metadata(beside(path, WAL)).map_or(0, |metadata| metadata.len())
}

/// Returns the path of a file that SQLite keeps beside a database.
fn beside(database: &Path, suffix: &str) -> PathBuf {
    let mut name = database.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

fn write<T>(connection: &mut Connection, work: impl FnOnce(&Tx<'_>) -> Result<T>) -> Result<T> {
    let transaction = Transaction::new(connection, TransactionBehavior::Immediate)
        .map_err(Error::database("begin a transaction"))?;
    let result = work(&Tx {
        transaction: &transaction,
    })?;
    transaction
        .commit()
        .map_err(Error::database("commit a transaction"))?;
    Ok(result)
}

impl Tx<'_> {
    /// Raises the generation counter: caches of what the mirror says are keyed by it.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn raise_generation(&self) -> Result<()> {
        const RAISE: &str =
            "UPDATE meta SET value = CAST(value AS INTEGER) + 1 WHERE key = 'generation'";
        self.transaction
            .execute(RAISE, [])
            .map_err(Error::database("raise the generation"))?;
        Ok(())
    }
}
