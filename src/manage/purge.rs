//! Removes bytes from the history for good: what leaked must not stay. The one thing that cannot be undone.

use std::path::PathBuf;

use super::request::Who;
use super::writer::Writer;
use crate::error::{Error, Result};
use crate::hash::hash_of;
use crate::store::{Actor, PurgedUse, Store, unpack};

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
    purge.uses.sort_by_key(|used| used.change);
    purge.uses.dedup();
    purge.still_there.sort();
    purge.still_there.dedup();
    Ok(purge)
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
        if who.actor != Actor::User {
            return Err(Error::Denied {
                code: "only-a-person",
                message: "only a person may purge".to_owned(),
                hint: None,
            });
        }
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
        purge.proposals = self.store_mut().write(|tx| {
            for hash in &hashes {
                tx.purge(hash, note, now)?;
            }
            match which {
                Which::Containing(text) => tx.purge_proposals(text, now),
                Which::Hash(_) | Which::Change(_) => Ok(0),
            }
        })?;
        self.store().scrub()?;
        Ok(purge)
    }
}
