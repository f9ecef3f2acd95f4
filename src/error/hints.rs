//! What to do next, for each situation.

use std::io;

use super::Error;
use crate::patch::Miss;

impl Error {
    /// Returns the next thing to do, as one sentence without a full stop.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::SkillNotFound { similar, .. } => Some(match similar.split_first() {
                None => "`skilldb list` shows what is there; `skilldb sync` looks for new folders"
                    .to_owned(),
                Some((only, [])) => format!("did you mean `{only}`?"),
                Some(_) => format!("did you mean one of: {}", quoted(similar)),
            }),
            Self::AmbiguousName { candidates, .. } => {
                let forms: Vec<String> = candidates.iter().map(|c| c.address.clone()).collect();
                Some(format!("say which: {}", quoted(&forms)))
            }
            Self::FileNotFound { files, .. } if files.is_empty() => {
                Some("it has no supporting files".to_owned())
            }
            Self::FileNotFound { files, .. } => Some(format!("it has {}", quoted(files))),
            Self::Escapes { .. } => Some("name a file below the skill's own folder".to_owned()),
            Self::NoFolder { .. } => {
                Some("if it lies on a disk that is not mounted, mount it first".to_owned())
            }
            Self::UnknownRoot { .. } => Some("`skilldb roots` lists them".to_owned()),
            Self::NestedRoot { other, inside, .. } => Some(if *inside {
                "it is part of that root already: run `skilldb sync`".to_owned()
            } else {
                format!("run `skilldb roots remove {}` first", other.display())
            }),
            Self::UnknownClient { similar, .. } => Some(match similar {
                Some(id) => format!("did you mean `{id}`?"),
                None => "`skilldb roots --clients` lists the known ones".to_owned(),
            }),
            Self::Usage { hint, .. } | Self::Config { hint, .. } | Self::Denied { hint, .. } => {
                hint.clone()
            }
            Self::Conflict { .. } => {
                Some("nothing was changed by this; look at the file, then try again".to_owned())
            }
            Self::Patch { miss, .. } => miss_hint(miss),
            Self::Clash { later, .. } => Some(match later.last() {
                Some(last) => format!(
                    "`skilldb undo {last}` first, or edit the file by hand; nothing was changed"
                ),
                None => "edit the file by hand; nothing was changed".to_owned(),
            }),
            Self::NotKept { .. } => {
                Some("they were purged, or too large to keep when they were seen".to_owned())
            }
            Self::Journal { .. } => Some("update skilldb; nothing was changed".to_owned()),
            Self::NoLibrary { .. } => Some(
                "`skilldb sync FOLDER` or `skilldb sync --client claude-code` makes one".to_owned(),
            ),
            Self::NoHistory { .. } => Some(
                "name the client's home folder, a folder of histories, or one history file"
                    .to_owned(),
            ),
            Self::Settings { .. } => Some("mend it by hand first; nothing was changed".to_owned()),
            Self::Locked { .. } => Some("wait until it is done, then run this again".to_owned()),
            Self::Foreign { .. } => Some("nothing of it was changed".to_owned()),
            Self::OlderSchema { .. } => Some("`skilldb sync` brings it up to date".to_owned()),
            Self::NewerSchema { .. } => Some("update skilldb; nothing was changed".to_owned()),
            Self::Migration { .. } | Self::Database { .. } | Self::DamagedBytes { .. } => {
                self.database_hint()
            }
            Self::Relink { .. } => Some("`skilldb list --missing` shows the ids".to_owned()),
            Self::Sql { .. } => {
                Some("`skilldb sql --list` prints the views and the named queries".to_owned())
            }
            Self::Io { source, .. } => io_hint(source),
            Self::OutputClosed | Self::ProblemsFound => None,
        }
    }

    fn database_hint(&self) -> Option<String> {
        use rusqlite::ErrorCode;
        let Self::Database { source, .. } = self else {
            return Some("run `skilldb doctor`".to_owned());
        };
        let words = match source.sqlite_error_code() {
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
                "another skilldb is writing; run this again"
            }
            // The log's index could not grow: what a full disk looks like from there.
            Some(ErrorCode::DiskFull) => DISK_FULL,
            Some(_)
                if source
                    .sqlite_error()
                    .is_some_and(|error| error.extended_code == SHM_SIZE) =>
            {
                DISK_FULL
            }
            Some(ErrorCode::ReadOnly | ErrorCode::CannotOpen | ErrorCode::PermissionDenied) => {
                "check the permissions of the library's home folder (`skilldb path home`)"
            }
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
                "move skilldb.db, skilldb.db-wal and skilldb.db-shm aside together and run `skilldb sync` with your folders: the files are not touched by this; history and usage stay in what was moved aside (a `*.backup` may be whole: put it in the place of skilldb.db when the other two are away)"
            }
            _ => "run `skilldb doctor`",
        };
        Some(words.to_owned())
    }
}

const DISK_FULL: &str = "the disk is full: make room, then run this again";
/// `SQLITE_IOERR_SHMSIZE`.
const SHM_SIZE: i32 = 4_874;

fn io_hint(source: &io::Error) -> Option<String> {
    match source.kind() {
        io::ErrorKind::PermissionDenied => Some("check who owns it and its permissions".to_owned()),
        io::ErrorKind::StorageFull => Some(DISK_FULL.to_owned()),
        io::ErrorKind::NotFound => {
            Some("if it was moved or removed, run `skilldb sync`".to_owned())
        }
        io::ErrorKind::ReadOnlyFilesystem => Some("the file system is read-only".to_owned()),
        _ => None,
    }
}

fn quoted(names: &[String]) -> String {
    const SHOWN: usize = 8;
    let mut text = names
        .iter()
        .take(SHOWN)
        .map(|n| format!("`{n}`"))
        .collect::<Vec<_>>()
        .join(", ");
    if names.len() > SHOWN {
        text.push_str(", …");
    }
    text
}

/// What helps after a patch that found no place.
fn miss_hint(miss: &Miss) -> Option<String> {
    let words = match miss {
        Miss::NothingToFind => "name the text that is to be replaced",
        Miss::NoChangeAsked => "give a replacement that differs",
        Miss::NotFound { nearest } if nearest.is_empty() => {
            "read the file again and copy the text from it"
        }
        Miss::NotFound { .. } | Miss::CloseCall { .. } => {
            "copy the text from the file; the nearest lines are shown"
        }
        Miss::Ambiguous { .. } => {
            "give more lines around the one that is meant, or replace all of them with --all"
        }
        Miss::NothingChanged { .. } => "nothing to do",
    };
    Some(words.to_owned())
}
