//! What can go wrong, told as situations with data. Words for people are made from these in `cli`.

mod hints;

use std::io;
use std::path::PathBuf;

use crate::diff::Clash;
use crate::patch::Miss;
use crate::store::Candidate;

/// The result of anything in this crate that can fail.
pub type Result<T> = std::result::Result<T, Error>;

/// What went wrong, told as a situation.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// No skill answers to this name.
    #[error("no skill named `{name}`")]
    SkillNotFound {
        /// The name as typed.
        name: String,
        /// Names that are spelt much alike, nearest first.
        similar: Vec<String>,
    },
    /// Several skills answer to this name.
    #[error("`{name}` names {} skills", candidates.len())]
    AmbiguousName {
        /// The name as typed.
        name: String,
        /// All of them, with the form that picks each.
        candidates: Vec<Candidate>,
    },
    /// The skill exists, the file in it does not.
    #[error("skill `{name}` has no file `{file}`")]
    FileNotFound {
        /// The skill's name.
        name: String,
        /// The file as typed, relative to the skill's folder.
        file: String,
        /// The files it has.
        files: Vec<String>,
    },
    /// The path would lead out of the skill's folder.
    #[error("`{file}` leads out of the folder of skill `{name}`")]
    Escapes {
        /// The skill's name.
        name: String,
        /// The path as typed.
        file: String,
    },
    /// A folder that was named as a root is not there or is no folder.
    #[error("no folder at {path}")]
    NoFolder {
        /// The path as given.
        path: PathBuf,
    },
    /// The root is not among the known ones.
    #[error("{path} is not a root of this library")]
    UnknownRoot {
        /// The path as given.
        path: PathBuf,
    },
    /// Two roots of which one contains the other would list the same folder twice.
    #[error("{path} lies {} the root {other}", if *inside { "inside" } else { "around" })]
    NestedRoot {
        /// The path as given.
        path: PathBuf,
        /// The root that is already known.
        other: PathBuf,
        /// Whether `path` lies inside `other` (or around it).
        inside: bool,
    },
    /// No client goes by this id.
    #[error("no client named `{name}`")]
    UnknownClient {
        /// The id as typed.
        name: String,
        /// The nearest known id.
        similar: Option<String>,
    },
    /// A command was given words that do not fit together.
    #[error("{message}")]
    Usage {
        /// What does not fit.
        message: String,
        /// What to type instead.
        hint: Option<String>,
    },
    /// A setting in a configuration file or variable cannot be used.
    #[error("{}{message}", location(path.as_ref(), *line))]
    Config {
        /// The file, when it came from one.
        path: Option<PathBuf>,
        /// The line in it, from 1.
        line: Option<u32>,
        /// What is wrong.
        message: String,
        /// What to write instead.
        hint: Option<String>,
    },
    /// There is no database yet and the command only reads.
    #[error("no library at {path} yet")]
    NoLibrary {
        /// Where the database would be.
        path: PathBuf,
    },
    /// There is no history of a client at a place.
    #[error("no history at {path}")]
    NoHistory {
        /// The path as given.
        path: PathBuf,
    },
    /// A file of another program that cannot be edited without harm.
    #[error("{}{message}", location(Some(path), *line))]
    Settings {
        /// The file.
        path: PathBuf,
        /// The line in it, from 1.
        line: Option<u32>,
        /// What is wrong.
        message: String,
    },
    /// Another process holds the library's lock.
    #[error("another skilldb is changing the library at {home}")]
    Locked {
        /// The library's home folder.
        home: PathBuf,
    },
    /// A file of another program cannot be read.
    #[error("{}: {message}", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        message: String,
    },
    /// The database was written by an older skilldb, and whoever asks has no time to bring it up to date.
    #[error("database {} has an older schema", path.display())]
    OlderSchema {
        /// The database file.
        path: PathBuf,
    },
    /// The database was written by a newer skilldb.
    #[error(
        "database {path} was written by a newer skilldb (schema {found}, this one knows {known})"
    )]
    NewerSchema {
        /// The database file.
        path: PathBuf,
        /// The schema number found.
        found: i32,
        /// The newest schema number this binary knows.
        known: i32,
    },
    /// A migration was changed after it was applied, or could not be applied.
    #[error("database {path}: {message}")]
    Migration {
        /// The database file.
        path: PathBuf,
        /// What the migration runner says.
        message: String,
    },
    /// A relink that would join two things that cannot be one life.
    #[error("cannot relink `{old}` to `{new}`: {reason}")]
    Relink {
        /// The row whose life should go on.
        old: String,
        /// The row it should go on in.
        new: String,
        /// Why not.
        reason: &'static str,
    },
    /// A file is not what a change expected it to be.
    #[error("{}: {message}", path.display())]
    Conflict {
        /// The file or folder.
        path: PathBuf,
        /// What is otherwise.
        message: String,
    },
    /// A change is refused: by a rule about names, texts and places, or by who may change what.
    #[error("{message}")]
    Denied {
        /// A stable word for the rule.
        code: &'static str,
        /// What is refused and why.
        message: String,
        /// What to do instead.
        hint: Option<String>,
    },
    /// The text a patch is about was not found, or not clearly.
    #[error("{}: {miss}", path.display())]
    Patch {
        /// The file.
        path: PathBuf,
        /// Why nothing was replaced.
        miss: Miss,
    },
    /// A change cannot be taken back, because later ones are about the same lines.
    #[error("{}: change {change} cannot be taken back: its lines were changed since{}", path.display(), by_changes(later))]
    Clash {
        /// The file.
        path: PathBuf,
        /// The change.
        change: i64,
        /// The later changes of that file.
        later: Vec<i64>,
        /// The places.
        clashes: Vec<Clash>,
    },
    /// The history does not hold bytes that are needed.
    #[error("the history does not hold the bytes {hash}")]
    NotKept {
        /// Their SHA-256.
        hash: String,
    },
    /// The plan of an interrupted change cannot be read.
    #[error("the plan of the interrupted change #{change_id} cannot be read: {message}")]
    Journal {
        /// The change.
        change_id: i64,
        /// What is wrong with it.
        message: String,
    },
    /// Kept bytes are not what was stored.
    #[error("the kept bytes {hash} are damaged")]
    DamagedBytes {
        /// SHA-256 of what was stored.
        hash: String,
    },
    /// A statement typed by a person that SQLite refuses.
    #[error("{message}")]
    Sql {
        /// What SQLite says.
        message: String,
    },
    /// The operating system refused something.
    #[error("could not {action} {path}")]
    Io {
        /// What was being done, as a verb that fits before the path.
        action: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// SQLite refused something.
    #[error("could not {context} in the database")]
    Database {
        /// What was being done, as a verb phrase.
        context: &'static str,
        /// What SQLite says.
        source: rusqlite::Error,
    },
    /// A closed pipe: the reader has seen enough. Quiet, exit code 0.
    #[error("output closed")]
    OutputClosed,
    /// Problems were found and printed already; only the exit code is left to set.
    #[error("problems found")]
    ProblemsFound,
}

fn by_changes(later: &[i64]) -> String {
    if later.is_empty() {
        return String::new();
    }
    let list: Vec<String> = later.iter().map(i64::to_string).collect();
    format!(" (by change {})", list.join(", "))
}

fn location(path: Option<&PathBuf>, line: Option<u32>) -> String {
    match (path, line) {
        (Some(path), Some(line)) => format!("{}:{line}: ", path.display()),
        (Some(path), None) => format!("{}: ", path.display()),
        (None, _) => String::new(),
    }
}

/// Families of errors; each has one exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorKind {
    /// Something was refused or is not there: exit 1.
    Refused,
    /// Wrong words on the command line or an ambiguous name: exit 2.
    Usage,
    /// The store is locked, damaged or newer than this binary: exit 3.
    Store,
    /// Nothing went wrong: exit 0.
    Quiet,
}

impl ErrorKind {
    /// Returns the exit code of the process.
    #[must_use]
    pub fn exit_code(self) -> u8 {
        match self {
            Self::Quiet => 0,
            Self::Refused => 1,
            Self::Usage => 2,
            Self::Store => 3,
        }
    }
}

impl Error {
    /// Returns a function that adds what was being done to an `io::Error`, for `map_err`.
    pub fn io(action: &'static str, path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| match source.kind() {
            io::ErrorKind::BrokenPipe => Self::OutputClosed,
            _ => Self::Io {
                action,
                path,
                source,
            },
        }
    }

    /// Returns a function that adds what was being done to a `rusqlite::Error`, for `map_err`.
    pub fn database(context: &'static str) -> impl FnOnce(rusqlite::Error) -> Self {
        move |source| Self::Database { context, source }
    }

    /// Says whether a rule of the database refused a row: trying again would not help.
    #[must_use]
    pub fn is_constraint(&self) -> bool {
        let Self::Database { source, .. } = self else {
            return false;
        };
        source.sqlite_error_code() == Some(rusqlite::ErrorCode::ConstraintViolation)
    }

    /// Returns the family, which decides the exit code.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::SkillNotFound { .. }
            | Self::FileNotFound { .. }
            | Self::Escapes { .. }
            | Self::NoFolder { .. }
            | Self::UnknownRoot { .. }
            | Self::NestedRoot { .. }
            | Self::NoLibrary { .. }
            | Self::NoHistory { .. }
            | Self::Settings { .. }
            | Self::Foreign { .. }
            | Self::Relink { .. }
            | Self::Sql { .. }
            | Self::Io { .. }
            | Self::Conflict { .. }
            | Self::Denied { .. }
            | Self::Clash { .. }
            | Self::NotKept { .. }
            | Self::ProblemsFound => ErrorKind::Refused,
            Self::Patch { miss, .. } => match miss {
                Miss::NothingToFind | Miss::NoChangeAsked => ErrorKind::Usage,
                Miss::NotFound { .. }
                | Miss::Ambiguous { .. }
                | Miss::CloseCall { .. }
                | Miss::NothingChanged { .. } => ErrorKind::Refused,
            },
            Self::AmbiguousName { .. }
            | Self::UnknownClient { .. }
            | Self::Usage { .. }
            | Self::Config { .. } => ErrorKind::Usage,
            Self::Locked { .. }
            | Self::OlderSchema { .. }
            | Self::NewerSchema { .. }
            | Self::Migration { .. }
            | Self::DamagedBytes { .. }
            | Self::Journal { .. }
            | Self::Database { .. } => ErrorKind::Store,
            Self::OutputClosed => ErrorKind::Quiet,
        }
    }

    /// Returns the stable word that stands for the situation in `--json`.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::SkillNotFound { .. } => "skill-not-found",
            Self::AmbiguousName { .. } => "ambiguous-name",
            Self::FileNotFound { .. } => "file-not-found",
            Self::Escapes { .. } => "path-escapes",
            Self::NoFolder { .. } => "no-folder",
            Self::UnknownRoot { .. } => "unknown-root",
            Self::NestedRoot { .. } => "nested-root",
            Self::UnknownClient { .. } => "unknown-client",
            Self::Usage { .. } => "usage",
            Self::Config { .. } => "config",
            Self::NoLibrary { .. } => "no-library",
            Self::NoHistory { .. } => "no-history",
            Self::Settings { .. } => "settings",
            Self::Locked { .. } => "locked",
            Self::Foreign { .. } => "foreign-file",
            Self::OlderSchema { .. } => "older-schema",
            Self::NewerSchema { .. } => "newer-schema",
            Self::Migration { .. } => "migration",
            Self::Relink { .. } => "relink",
            Self::DamagedBytes { .. } => "damaged-bytes",
            Self::Conflict { .. } => "conflict",
            Self::Denied { code, .. } => code,
            Self::Patch { miss, .. } => miss.code(),
            Self::Clash { .. } => "undo-conflict",
            Self::NotKept { .. } => "not-kept",
            Self::Journal { .. } => "journal",
            Self::Sql { .. } => "sql",
            Self::Io { .. } => "io",
            Self::Database { .. } => "database",
            Self::OutputClosed => "output-closed",
            Self::ProblemsFound => "problems-found",
        }
    }
}
