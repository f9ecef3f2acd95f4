//! Walks again only those folders of a root that changed.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use super::scan::{Dirty, RootScan, is_below, walk_into};
use crate::error::Result;
use crate::library::walk::{End, Reach, Request};
use crate::store::{RootRow, Store};

/// Walks the changed folders. `None` when only a walk of the whole root can tell.
///
/// # Errors
/// [`crate::Error::Database`].
pub(super) fn rewalk(
    store: &Store,
    root: &RootRow,
    mut scan: RootScan,
    dirty: &[Dirty],
) -> Result<Option<RootScan>> {
    // A root that is a skill, or becomes one, shares its folder with categories: what belongs to which
    // only a walk of all of it can tell.
    if dirty
        .iter()
        .any(|folder| folder.rel_path == "." && folder.skill_id.is_some())
    {
        return Ok(None);
    }
    let has_categories = dirty.iter().any(|dirty| dirty.skill_id.is_none());
    let known = if has_categories {
        known_units(store, root.id)?
    } else {
        HashMap::new()
    };
    let is_known = |rel_path: &str| known.contains_key(rel_path);
    let mut grown = Vec::new();
    for folder in dirty {
        let reach = if folder.skill_id.is_some() {
            Reach::Deep
        } else {
            Reach::NewOnly
        };
        let request = Request {
            root: &root.path,
            start: &folder.rel_path,
            archived: folder.archived,
            reach,
            is_known: &is_known,
        };
        let first = scan.found.len();
        if walk_into(&mut scan, &request)? == End::NeedsWholeRoot {
            return Ok(None);
        }
        let walked = scan.found.get_mut(first..).unwrap_or_default();
        let itself = walked
            .iter_mut()
            .find(|found| found.unit.rel_path == folder.rel_path);
        let is_skill = itself.is_some_and(|found| {
            found.suspects.clone_from(&folder.racy);
            found.skill.is_some()
        });
        let is_unknown = scan
            .unknown
            .iter()
            .any(|unknown| unknown.unit == folder.rel_path);
        match folder.skill_id {
            _ if is_unknown => {}
            // It was a skill and is none: what it was is lost, what is left was walked.
            Some(id) if !is_skill => scan.lost.push((folder.rel_path.clone(), id)),
            None if is_skill && folder.rel_path == "." => return Ok(None),
            // It was a category and is a skill: those below it have become parts of it.
            None if is_skill => grown.push(folder.rel_path.as_str()),
            Some(_) | None => {}
        }
    }
    grown
        .iter()
        .for_each(|rel_path| swallow(&mut scan, rel_path, &known));
    drop_doubles(&mut scan);
    Ok(Some(scan))
}

fn known_units(store: &Store, root_id: i64) -> Result<HashMap<String, Option<i64>>> {
    let mut known = HashMap::new();
    store.each_unit(root_id, |unit| {
        known.insert(unit.rel_path.to_owned(), unit.skill_id);
        Ok(())
    })?;
    Ok(known)
}

/// Takes everything below a folder that became a skill out of the scan and out of the library.
fn swallow(scan: &mut RootScan, rel_path: &str, known: &HashMap<String, Option<i64>>) {
    let is_inside = |path: &str| path != rel_path && is_below(path, rel_path);
    let walked_again: HashSet<String> = scan
        .found
        .iter()
        .map(|found| found.unit.rel_path.clone())
        .collect();
    scan.found.retain(|found| !is_inside(&found.unit.rel_path));
    for (path, skill_id) in known.iter().filter(|(path, _)| is_inside(path)) {
        match skill_id {
            Some(id) => {
                scan.lost.push((path.clone(), *id));
                scan.unchanged -= u64::from(!walked_again.contains(path)).min(scan.unchanged);
            }
            None => scan.gone_folders.push(path.clone()),
        }
    }
}

/// A folder can be walked twice: on its own account and below a folder that changed.
fn drop_doubles(scan: &mut RootScan) {
    let mut seen = HashSet::new();
    scan.found
        .retain(|found| seen.insert(found.unit.rel_path.clone()));
    let skills = scan.found.iter().filter(|found| found.skill.is_some());
    let skills: HashSet<&str> = skills.map(|found| found.unit.rel_path.as_str()).collect();
    let mut once = HashSet::new();
    scan.lost
        .retain(|(path, _)| !skills.contains(path.as_str()) && once.insert(path.clone()));
    scan.gone_folders.retain(|path| !seen.contains(path));
}

/// Says whether a link stands on the way from the root to a folder, or in its place.
pub(super) fn leads_through_link(root: &Path, rel_path: &str) -> bool {
    let mut path = root.to_path_buf();
    rel_path != "."
        && rel_path.split('/').any(|part| {
            path.push(part);
            path.is_symlink()
        })
}
