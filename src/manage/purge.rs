//! Removes bytes from the history for good: what leaked must not stay. The one thing that cannot be undone.

use std::path::PathBuf;

use super::ownership::only_people;
use super::request::Who;
use super::writer::Writer;
use crate::error::{Error, Result};
use crate::hash::hash_of;
use crate::store::{PurgedUse, Store, unpack};

/// Which bytes are meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Which {
    /// Those with this hash.
    Hash(String),
    /// Those that a change put in place.
    Change(i64),
    /// All that hold this text.
    Containing(String),
}

/// What is purged, or would be.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Purge {
    /// The hashes.
    pub hashes: Vec<String>,
    /// Where they are used: changes that can no longer be taken back.
    pub uses: Vec<PurgedUse>,
    /// Files that say so still: they have to be changed first.
    pub still_there: Vec<PathBuf>,
    /// Proposals that hold the text.
    pub proposals: usize,
    /// Rows about changes that held the text; known afterwards.
    pub rows: usize,
    /// Whether every trace is overwritten; a process that reads the library meanwhile keeps what it reads.
    pub is_scrubbed: bool,
}

/// Finds what would be purged.
///
/// # Errors
/// [`Error::Denied`] for an unknown hash or change; [`Error::Database`].
pub fn find(store: &Store, which: &Which) -> Result<Purge> {
    let hashes = match which {
        Which::Hash(hash) => {
            if !store.has_bytes(hash)? {
                return Err(Error::NotKept { hash: hash.clone() });
            }
            vec![hash.clone()]
        }
        Which::Change(id) => {
            let change = store.change(*id)?;
            let files = change.parts.iter().flat_map(|part| &part.files);
            files.filter_map(|file| file.after.hash.clone()).collect()
        }
        Which::Containing(text) => containing(store, text)?,
    };
    let mut purge = Purge::default();
    for hash in hashes {
        if purge.hashes.contains(&hash) || !store.has_bytes(&hash)? {
            continue;
        }
        purge.uses.extend(store.uses_of_bytes(&hash)?);
        for path in store.files_saying(&hash)? {
            let says = std::fs::read(&path).is_ok_and(|bytes| hash_of(&bytes) == hash);
            if says {
                purge.still_there.push(path.into());
            }
        }
        purge.hashes.push(hash);
    }
    if let Which::Containing(text) = which {
        purge.still_there.extend(files_holding(store, text)?);
        purge.proposals = store.proposals_holding(text)?;
    }
    purge.uses.sort_by_key(|used| used.change);
    purge.uses.dedup();
    purge.still_there.sort();
    purge.still_there.dedup();
    Ok(purge)
}

/// The files of skills that hold a text now, whatever the library knows of them.
fn files_holding(store: &Store, text: &str) -> Result<Vec<PathBuf>> {
    let finder = memchr::memmem::Finder::new(text.as_bytes());
    let files = store.small_files(u32::MAX)?;
    let mut found = Vec::new();
    for skill in store.present_facts()? {
        let folder = skill.path();
        let others = files.get(&skill.id).into_iter().flatten();
        for path in std::iter::once(&skill.file_name).chain(others) {
            let path = folder.join(path);
            let holds = std::fs::read(&path).is_ok_and(|bytes| finder.find(&bytes).is_some());
            if holds {
                found.push(path);
            }
        }
    }
    Ok(found)
}

fn containing(store: &Store, text: &str) -> Result<Vec<String>> {
    if text.is_empty() {
        return Err(Error::Usage {
            message: "the text to purge is empty".to_owned(),
            hint: None,
        });
    }
    let finder = memchr::memmem::Finder::new(text.as_bytes());
    let mut hashes = Vec::new();
    store.each_blob(|hash, codec, size, packed| {
        let holds = unpack(codec, size, packed).is_some_and(|bytes| finder.find(&bytes).is_some());
        if holds {
            hashes.push(hash.to_owned());
        }
        Ok(())
    })?;
    Ok(hashes)
}

impl Writer {
    /// Purges. Only people may.
    ///
    /// # Errors
    /// [`Error::Denied`] for others, and while a file still says it: the next sync would keep it again.
    pub fn purge(&mut self, who: &Who, which: &Which) -> Result<Purge> {
        only_people(who.actor, "purge")?;
        let mut purge = find(self.store(), which)?;
        if let Some(path) = purge.still_there.first() {
            return Err(Error::Denied {
                code: "still-there",
                message: format!("{} says so still: it would be kept again", path.display()),
                hint: Some("change the file first, then purge what it said before".to_owned()),
            });
        }
        let now = self.settings().now;
        let note = (who.actor.as_str(), who.reason.as_deref());
        let hashes = purge.hashes.clone();
        (purge.proposals, purge.rows) = self.store_mut().write(|tx| {
            for hash in &hashes {
                tx.purge(hash, note, now)?;
            }
            tx.forget_all_scans()?;
            tx.clear_index()?;
            match which {
                Which::Containing(text) => {
                    Ok((tx.purge_proposals(text, now)?, tx.purge_words(text)?))
                }
                Which::Hash(_) | Which::Change(_) => Ok((0, 0)),
            }
        })?;
        purge.is_scrubbed = self.store().scrub()?;
        Ok(purge)
    }
}
