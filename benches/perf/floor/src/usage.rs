//! The floor of recording uses and of reading what clients wrote about them.

use crate::{Res, read_only};
use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags, TransactionBehavior, params};
use serde::de::DeserializeOwned;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::time::{Instant, SystemTime};

/// A write-ahead log of this many bytes is copied into the database at close. Whoever opens it next
/// reads all of it, some 0.8 ms a MB, so it must not grow forever; copying it waits for the disk.
const LONG_LOG: u64 = 1 << 20;

/// Adds one event to the ledger of skilldb; what the database's own triggers do is part of it.
pub fn record(db: &str, name: &str) -> Res<String> {
    let how = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut c = Connection::open_with_flags(db, how)?;
    let log = std::fs::metadata(format!("{db}-wal")).map_or(0, |m| m.len());
    c.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, log < LONG_LOG)?;
    c.execute_batch("PRAGMA synchronous=NORMAL")?;
    let time = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH)?.as_nanos();
    let event = format!("floor:{time:x}-{:x}", std::process::id());
    let t = c.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let find = "SELECT skill_id FROM manifest INDEXED BY manifest_by_name WHERE name=?1 LIMIT 1";
    let skill: i64 = t.query_row(find, [name], |r| r.get(0))?;
    let put = "
        INSERT INTO usage_event(event_id, skill_id, called_name, kind, \"trigger\", actor, at)
        VALUES(?1, ?2, ?3, 'use', 'cli', 'user', strftime('%Y-%m-%dT%H:%M:%fZ'))";
    t.execute(put, params![event, skill, name])?;
    t.commit()?;
    c.close().map_err(|(_, e)| e)?;
    Ok(format!("\"skill\":{skill}"))
}

/// Counts the events of that ledger, and nothing else.
pub fn count(db: &str) -> Res<String> {
    let q = "SELECT count(*) FROM usage_event";
    let events: i64 = read_only(db)?.query_row(q, [], |r| r.get(0))?;
    Ok(format!("\"events\":{events}"))
}

/// Hands every line of `files` to `good`; the lines it turns down are counted.
pub fn lines(files: &[&str], good: fn(&[u8]) -> bool) -> Res<String> {
    let start = Instant::now();
    let (mut bytes, mut lines, mut bad, mut line) = (0, 0, 0, vec![]);
    for file in files {
        let mut file = BufReader::with_capacity(1 << 16, File::open(file)?);
        while file.read_until(b'\n', &mut line)? > 0 {
            bytes += line.len();
            lines += 1;
            bad += i32::from(!good(&line));
            line.clear();
        }
    }
    let speed = bytes as f64 / 1e6 / start.elapsed().as_secs_f64();
    let files = files.len();
    Ok(format!(
        "\"files\":{files},\"bytes\":{bytes},\"lines\":{lines},\"bad\":{bad},\"mb_s\":{speed:.1}"
    ))
}

/// Whether a line is JSON, building a `T` of it.
pub fn json<T: DeserializeOwned>(line: &[u8]) -> bool {
    serde_json::from_slice::<T>(line).is_ok()
}
