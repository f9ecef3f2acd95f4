//! An archive as it is read: its ledgers, what its files are; bytes go into the store while they are read.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use serde_json::Value;
use tar::{Archive, EntryType};

use super::backup::{FORMAT, HEAD};
use crate::error::{Error, Result};
use crate::hash::hash_of;
use crate::library::{Content, TreeEntry};
use crate::store::{Ledger, Packer, Store};

/// The ledger that is read row by row, at the end: it may be long.
pub(super) const USES: &str = "usage_event";
/// Bytes that are packed before they are written.
const BATCH: usize = 16 * 1024 * 1024;

/// What an archive says.
#[derive(Debug, Default)]
pub(super) struct Backup {
    pub(super) library: String,
    pub(super) ledgers: HashMap<String, Vec<Ledger>>,
    /// Everything below each root: root id, then path; `None` for an empty folder.
    pub(super) files: BTreeMap<i64, BTreeMap<String, Option<Content>>>,
    pub(super) damaged: Vec<String>,
}

impl Backup {
    pub(super) fn rows(&self, table: &str) -> &[Ledger] {
        self.ledgers.get(table).map_or(&[], Vec::as_slice)
    }

    /// The hashes that files of a skill ever had.
    pub(super) fn versions_of(&self, skill: i64) -> HashSet<&str> {
        let number = |row: &Ledger, name: &str| row.get(name).and_then(Value::as_i64);
        let revisions: HashSet<i64> = self
            .rows("revision")
            .iter()
            .filter(|row| number(row, "skill_id") == Some(skill))
            .filter_map(|row| number(row, "id"))
            .collect();
        let is_of =
            |row: &&Ledger| number(row, "revision_id").is_some_and(|id| revisions.contains(&id));
        self.rows("revision_file")
            .iter()
            .filter(is_of)
            .flat_map(|row| {
                ["before_hash", "after_hash"].map(|name| row.get(name).and_then(Value::as_str))
            })
            .flatten()
            .collect()
    }

    /// What lies in a folder below a root.
    pub(super) fn tree(&self, root: i64, rel_path: &str) -> Vec<TreeEntry> {
        let prefix = if rel_path == "." {
            String::new()
        } else {
            format!("{rel_path}/")
        };
        let files = self.files.get(&root).into_iter().flatten();
        files
            .filter_map(|(path, content)| {
                let inner = path.strip_prefix(&prefix)?;
                Some(TreeEntry {
                    path: inner.to_owned(),
                    content: content.clone(),
                })
            })
            .collect()
    }
}

fn not_one(path: &Path, why: &str) -> Error {
    Error::Denied {
        code: "no-backup",
        message: format!("{} is no backup of skilldb: {why}", path.display()),
        hint: Some("`skilldb backup FILE` writes one".to_owned()),
    }
}

/// Reads all of an archive but its uses, and keeps the bytes in it.
///
/// # Errors
/// [`Error::Denied`] for another file; [`Error::Io`], [`Error::Database`].
pub(super) fn read(store: &mut Store, path: &Path) -> Result<Backup> {
    let file = File::open(path).map_err(Error::io("open", path))?;
    let mut archive = Archive::new(BufReader::new(file));
    let mut read = Backup::default();
    let mut keeper = Keeper::default();
    let entries = archive
        .entries()
        .map_err(|error| not_one(path, &error.to_string()))?;
    for entry in entries {
        let mut entry = entry.map_err(|error| not_one(path, &error.to_string()))?;
        let place = entry
            .path()
            .map_err(Error::io("read", path))?
            .to_string_lossy()
            .into_owned();
        if read.library.is_empty() && place != HEAD {
            return Err(not_one(path, "it does not begin like one"));
        }
        let kind = entry.header().entry_type();
        let mode = entry.header().mode().unwrap_or(0o644) & 0o7777;
        match place.split_once('/') {
            None if place == HEAD => {
                let head: Value = serde_json::from_reader(&mut entry).unwrap_or_default();
                if head["format"].as_u64() != Some(FORMAT) {
                    return Err(not_one(
                        path,
                        "it has a form that this version does not know",
                    ));
                }
                head["library"]
                    .as_str()
                    .unwrap_or_default()
                    .clone_into(&mut read.library);
            }
            Some(("ledgers", name)) if name != format!("{USES}.jsonl") => {
                let table = name.trim_end_matches(".jsonl").to_owned();
                read.ledgers.insert(table, lines(entry, path)?);
            }
            Some(("blobs", hash)) => {
                let mut bytes = Vec::new();
                entry
                    .read_to_end(&mut bytes)
                    .map_err(Error::io("read", path))?;
                if hash_of(&bytes) == hash {
                    keeper.keep(store, hash, &bytes)?;
                } else {
                    read.damaged.push(format!("version {hash}"));
                }
            }
            Some(("files", place)) => {
                let Some((root, inner)) = place.split_once('/') else {
                    continue;
                };
                let Ok(root) = root.parse::<i64>() else {
                    continue;
                };
                let inner = inner.trim_end_matches('/').to_owned();
                if !is_plain(&inner) {
                    read.damaged.push(inner);
                    continue;
                }
                let content = match kind {
                    EntryType::Directory => None,
                    EntryType::Symlink => {
                        let target = entry.link_name().map_err(Error::io("read", path))?;
                        let target = target.map(|target| target.to_string_lossy().into_owned());
                        target.map(|target| Content::Link { target })
                    }
                    _ => {
                        let mut bytes = Vec::new();
                        entry
                            .read_to_end(&mut bytes)
                            .map_err(Error::io("read", path))?;
                        let hash = hash_of(&bytes);
                        keeper.keep(store, &hash, &bytes)?;
                        Some(Content::File { hash, mode })
                    }
                };
                read.files.entry(root).or_default().insert(inner, content);
            }
            _ => {}
        }
    }
    keeper.flush(store)?;
    if read.library.is_empty() {
        return Err(not_one(path, "there is nothing in it"));
    }
    Ok(read)
}

/// Whether a path stays where it begins.
fn is_plain(path: &str) -> bool {
    !path.is_empty()
        && path
            .split('/')
            .all(|part| !part.is_empty() && part != "." && part != "..")
}

fn lines(entry: impl Read, path: &Path) -> Result<Vec<Ledger>> {
    let mut rows = Vec::new();
    for line in BufReader::new(entry).lines() {
        let line = line.map_err(Error::io("read", path))?;
        // A line that cannot be read costs that row, not the rest.
        rows.extend(serde_json::from_str::<Ledger>(&line));
    }
    Ok(rows)
}

/// Hands over the uses of an archive, a thousand at a time.
///
/// # Errors
/// [`Error::Io`], and what `take` returns.
pub(super) fn each_use(path: &Path, take: &mut dyn FnMut(Vec<Ledger>) -> Result<()>) -> Result<()> {
    let file = File::open(path).map_err(Error::io("open", path))?;
    let mut archive = Archive::new(BufReader::new(file));
    for entry in archive.entries().map_err(Error::io("read", path))? {
        let entry = entry.map_err(Error::io("read", path))?;
        let is_uses = entry
            .path()
            .is_ok_and(|place| place == Path::new(&format!("ledgers/{USES}.jsonl")));
        if !is_uses {
            continue;
        }
        let mut rows = Vec::new();
        for line in BufReader::new(entry).lines() {
            let line = line.map_err(Error::io("read", path))?;
            rows.extend(serde_json::from_str::<Ledger>(&line));
            if rows.len() >= 1_000 {
                take(std::mem::take(&mut rows))?;
            }
        }
        return take(rows);
    }
    Ok(())
}

/// Puts bytes into the store, many at a time.
#[derive(Default)]
struct Keeper {
    packer: Packer,
    packed: Vec<crate::store::Packed>,
    size: usize,
}

impl Keeper {
    fn keep(&mut self, store: &mut Store, hash: &str, bytes: &[u8]) -> Result<()> {
        // What was purged here does not come back.
        if store.has_bytes(hash)? || store.is_purged(hash)? {
            return Ok(());
        }
        let blob = self.packer.pack(hash.to_owned(), bytes);
        self.size += blob.bytes.len();
        self.packed.push(blob);
        if self.size > BATCH {
            self.flush(store)
        } else {
            Ok(())
        }
    }

    fn flush(&mut self, store: &mut Store) -> Result<()> {
        let packed = std::mem::take(&mut self.packed);
        self.size = 0;
        store.append(|tx| packed.iter().try_for_each(|blob| tx.put_blob(blob)))
    }
}
