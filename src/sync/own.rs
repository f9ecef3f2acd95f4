//! One skill at a time: what `manage` asks for before it touches a skill, and what the mirror is told after.

use std::path::{Path, PathBuf};

use super::apply::{self, Rewrite};
use super::capture;
use super::found::Found;
use super::plan;
use super::rewalk;
use super::scan::{self, Dirty, Read, RootScan, walk_reading};
use super::{Kept, Silence};
use crate::error::Result;
use crate::library::Unit;
use crate::library::is_in_archive;
use crate::library::walk::{Reach, Request};
use crate::store::{KeptFile, RootRow, Store, Tx};
use crate::time::Timestamp;

/// One skill as it lies on disk.
#[derive(Debug)]
pub struct Seen(Found);

impl Seen {
    /// The folder with what `stat` said about everything in it.
    #[must_use]
    pub fn unit(&self) -> &Unit {
        &self.0.unit
    }

    /// What people call it.
    #[must_use]
    pub fn name<'a>(&'a self, root: &'a Path) -> &'a str {
        self.0.name(root)
    }

    /// Absolute path of its folder.
    #[must_use]
    pub fn folder(&self, root: &RootRow) -> PathBuf {
        match self.0.unit.rel_path.as_str() {
            "." => root.path.clone(),
            path => root.path.join(path),
        }
    }

    /// SHA-256 of its skill file; `None` when that cannot be read.
    #[must_use]
    pub fn content_hash(&self) -> Option<&str> {
        self.0.facts().map(|facts| facts.content_hash.as_str())
    }

    /// Hash over all of it, as the mirror has it; `None` when its skill file cannot be read.
    #[must_use]
    pub fn tree_hash(&self) -> Option<&str> {
        self.0.facts().map(|facts| facts.tree_hash.as_str())
    }
}

/// Looks at one skill's folder. `None` when no skill lies there.
///
/// # Errors
/// None of its own: what cannot be read is part of what is seen.
pub fn look(root: &Path, rel_path: &str) -> Result<Option<Seen>> {
    let request = Request {
        root,
        start: rel_path,
        archived: is_in_archive(rel_path),
        reach: Reach::NewOnly,
        is_known: &|_| true,
    };
    let mut seen = None;
    let mut buffer = Vec::new();
    walk_reading(&request, &mut buffer, &mut |step| {
        if let Read::Found(found) = step
            && found.unit.rel_path == rel_path
            && found.skill.is_some()
        {
            seen = Some(Seen(*found));
        }
        Ok(())
    })?;
    Ok(seen)
}

/// Mirrors a skill as it was seen after a change of our own: nobody edited it by hand.
///
/// # Errors
/// [`crate::Error::Database`].
pub fn mirror(tx: &Tx<'_>, root: &RootRow, seen: &Seen, skill_id: i64) -> Result<()> {
    apply::write_skill(tx, root, &seen.0, skill_id)
}

/// Adds a skill that a change of our own made; returns its id.
///
/// # Errors
/// [`crate::Error::Database`].
pub fn mirror_new(
    tx: &Tx<'_>,
    root: &RootRow,
    seen: &Seen,
    origin: (&str, &str),
    now: Timestamp,
) -> Result<i64> {
    apply::add_own_skill(tx, root, &seen.0, origin, now)
}

/// Notes what the history holds of one of a skill's files, with the stamps it has now.
///
/// # Errors
/// [`crate::Error::Database`].
pub fn note_kept(
    tx: &Tx<'_>,
    seen: &Seen,
    skill_id: i64,
    path: &str,
    hash: Option<&str>,
) -> Result<()> {
    let entry = seen.0.unit.entries.iter().find(|entry| entry.name == path);
    let kept = match (hash, entry) {
        (Some(hash), Some(entry)) => Some(KeptFile {
            hash: hash.to_owned(),
            size: entry.stat.size,
            mtime_ns: entry.stat.mtime_ns,
        }),
        _ => None,
    };
    tx.note_kept(skill_id, path, kept.as_ref())
}

/// Brings the rows of one skill up to date before it is changed, so that an edit made by hand since the last sync
/// is in the history, and counts as such. Says whether the folder still holds that skill.
///
/// # Errors
/// [`crate::Error::Database`].
pub fn refresh(
    store: &mut Store,
    root: &RootRow,
    (rel_path, skill_id): (&str, i64),
    support_budget: u64,
    now: Timestamp,
) -> Result<bool> {
    let Some((_, packed)) = store.find_unit(root.id, rel_path)? else {
        return Ok(look(&root.path, rel_path)?.is_some());
    };
    let Some(racy) = scan::changed_files(store, root, (rel_path, skill_id), &packed)? else {
        return finish_capture(store, support_budget, now).map(|()| true);
    };
    let dirty = Dirty {
        rel_path: rel_path.to_owned(),
        archived: is_in_archive(rel_path),
        skill_id: Some(skill_id),
        racy,
    };
    let Some(scan) = rewalk::rewalk(store, root, RootScan::default(), &[dirty])? else {
        return Ok(look(&root.path, rel_path)?.is_some());
    };
    let mut plan = plan::plan_root(store, root.clone(), scan)?;
    // Skills that vanished are the affair of a sync, which knows whether they went elsewhere.
    let is_there = plan.lost.is_empty();
    plan.lost.clear();
    if is_there && !plan.is_empty() {
        store.append(|tx| {
            tx.raise_generation()?;
            tx.mark_link_due()?;
            apply::apply_root(tx, &plan, Rewrite::Differing, now)
        })?;
    }
    finish_capture(store, support_budget, now)?;
    Ok(is_there)
}

fn finish_capture(store: &mut Store, support_budget: u64, now: Timestamp) -> Result<()> {
    let _: Kept = capture::keep_queued(store, support_budget, now, &Silence)?;
    Ok(())
}
