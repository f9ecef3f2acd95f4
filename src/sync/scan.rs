//! Finds out what changed below one root since the last sync: asks `stat` first, walks and reads only
//! where an answer differs.

use std::collections::HashMap;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

use super::found::{Found, folder_path};
use super::rewalk;
use crate::error::Result;
use crate::hash::hash_of;
use crate::library::files::open_folder;
use crate::library::unit::{Probe, probe};
use crate::library::walk::{End, Request, Step, walk};
use crate::library::{WalkCode, WalkFinding};
use crate::library::{files, is_not_there};
use crate::store::{Place, RootRow, Store};

/// How closely to look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Depth {
    /// Trust equal stamps.
    Stat,
    /// Read every file whatever the stamps say.
    Everything,
}

/// What one root looks like now, compared with the last sync.
#[derive(Debug, Default)]
pub(super) struct RootScan {
    /// Folders that are new or whose stamps differ, by path.
    pub(super) found: Vec<Found>,
    /// Relative paths of skills that are not there any more, with their ids.
    pub(super) lost: Vec<(String, i64)>,
    /// Relative paths of category folders that are not there any more.
    pub(super) gone_folders: Vec<String>,
    /// Findings about folders that are no unit.
    pub(super) findings: Vec<WalkFinding>,
    /// Folders that could not be looked into: what lies below them stays as it was. Not stored, but
    /// told by each sync until they can be.
    pub(super) unknown: Vec<WalkFinding>,
    /// Skills whose stamps are as they were.
    pub(super) unchanged: u64,
    /// The root folder itself is not there.
    pub(super) is_root_missing: bool,
}

/// What the probe of all units came to.
#[derive(Default)]
struct Probed {
    has_top: bool,
    skills: u64,
    dirty: Vec<Dirty>,
    lost: Vec<(String, Option<i64>)>,
    unknown: Vec<WalkFinding>,
}

/// A folder that has to be walked again.
pub(super) struct Dirty {
    pub(super) rel_path: String,
    pub(super) archived: bool,
    pub(super) skill_id: Option<i64>,
    /// Files in it whose equal stamps prove nothing.
    pub(super) racy: Vec<String>,
}

/// Scans one root.
///
/// # Errors
/// [`crate::Error::Database`]. A root that cannot be read is in the scan, not an error.
pub(super) fn scan(store: &Store, root: &RootRow, depth: Depth) -> Result<RootScan> {
    let folder = match open_folder(&root.path) {
        Ok(folder) => folder,
        Err(error) if is_not_there(&error) => return lost_root(store, root),
        Err(_) => {
            return Ok(RootScan {
                unknown: vec![unreadable_folder(&root.path, ".")],
                ..RootScan::default()
            });
        }
    };
    if depth == Depth::Everything {
        return whole(store, root);
    }
    let probed = probe_all(store, root, &folder)?;
    // Without the root's own folder nobody would see what is new in it.
    if !probed.has_top {
        return whole(store, root);
    }
    // Behind a link, and where links repeat each other, only a walk of the whole root can say which of
    // several ways counts.
    let lost = probed.lost.iter().map(|(path, _)| path);
    let touched: Vec<&String> = probed
        .dirty
        .iter()
        .map(|dirty| &dirty.rel_path)
        .chain(lost)
        .collect();
    let is_linked = |path: &&String| rewalk::leads_through_link(&root.path, path);
    if touched.iter().any(is_linked)
        || (!touched.is_empty() && store.has_repeated_links(root.id)?)
    {
        return whole(store, root);
    }
    let mut scan = RootScan {
        unknown: probed.unknown,
        ..RootScan::default()
    };
    drop_nested(&mut scan.unknown);
    for (rel_path, skill_id) in probed.lost {
        match skill_id {
            Some(id) => scan.lost.push((rel_path, id)),
            None => scan.gone_folders.push(rel_path),
        }
    }
    scan.unchanged = probed.skills;
    if probed.dirty.is_empty() {
        return Ok(scan);
    }
    match rewalk::rewalk(store, root, scan, &probed.dirty)? {
        Some(scan) => Ok(scan),
        None => whole(store, root),
    }
}

fn lost_root(store: &Store, root: &RootRow) -> Result<RootScan> {
    let known = store.present_skills(root.id)?;
    let mut scan = RootScan {
        is_root_missing: true,
        ..RootScan::default()
    };
    scan.lost
        .extend(known.into_iter().map(|skill| (skill.rel_path, skill.id)));
    store.each_unit(root.id, |unit| {
        if unit.skill_id.is_none() {
            scan.gone_folders.push(unit.rel_path.to_owned());
        }
        Ok(())
    })?;
    Ok(scan)
}

fn probe_all(store: &Store, root: &RootRow, folder: &OwnedFd) -> Result<Probed> {
    let mut probed = Probed::default();
    let mut path = Vec::with_capacity(256);
    let mut racy = Vec::new();
    store.each_unit(root.id, |unit| {
        probed.has_top |= unit.rel_path == ".";
        racy.clear();
        let outcome = probe(
            folder.as_fd(),
            unit.rel_path,
            unit.entries,
            &mut path,
            |name| racy.push(name.to_owned()),
        );
        let is_changed = match outcome {
            Probe::Unchanged => false,
            Probe::Changed => true,
            Probe::Racy => is_racily_changed(store, root, unit.rel_path, unit.skill_id, &racy)?,
            Probe::Gone => {
                probed.lost.push((unit.rel_path.to_owned(), unit.skill_id));
                return Ok(());
            }
            Probe::Unknown => {
                probed
                    .unknown
                    .push(unreadable_folder(&root.path, unit.rel_path));
                return Ok(());
            }
        };
        if is_changed {
            probed.dirty.push(Dirty {
                rel_path: unit.rel_path.to_owned(),
                archived: unit.archived,
                skill_id: unit.skill_id,
                racy: racy.clone(),
            });
        } else if unit.skill_id.is_some() {
            probed.skills += 1;
        }
        Ok(())
    })?;
    Ok(probed)
}

/// Asks whether anything in one skill's folder changed since `packed` was noted: `None` for nothing, else the
/// files whose equal stamps prove nothing.
///
/// # Errors
/// [`crate::Error::Database`].
pub(super) fn changed_files(
    store: &Store,
    root: &RootRow,
    (rel_path, skill_id): (&str, i64),
    packed: &[u8],
) -> Result<Option<Vec<String>>> {
    let Ok(folder) = open_folder(&root.path) else {
        return Ok(Some(Vec::new()));
    };
    let mut racy = Vec::new();
    let outcome = probe(folder.as_fd(), rel_path, packed, &mut Vec::new(), |name| {
        racy.push(name.to_owned());
    });
    let is_changed = match outcome {
        Probe::Unchanged => false,
        Probe::Racy => is_racily_changed(store, root, rel_path, Some(skill_id), &racy)?,
        Probe::Changed | Probe::Gone | Probe::Unknown => true,
    };
    Ok(is_changed.then_some(racy))
}

/// Reads what equal stamps prove nothing about. A folder is listed again, a file is hashed.
fn is_racily_changed(
    store: &Store,
    root: &RootRow,
    rel_path: &str,
    skill_id: Option<i64>,
    racy: &[String],
) -> Result<bool> {
    // A folder stamp that is racy could hide a new entry: only a walk can tell, and a walk that finds
    // the same listing changes nothing.
    let Some(skill_id) = skill_id else {
        return Ok(true);
    };
    if racy.iter().any(|name| name == ".") {
        return Ok(true);
    }
    let place = Place {
        root_id: root.id,
        rel_path,
    };
    let known = store.skill_at(place)?;
    let kept = store.kept_hashes(skill_id)?;
    let folder = folder_path(&root.path, rel_path);
    let mut buffer = Vec::new();
    for name in racy {
        let known_hash = if name.eq_ignore_ascii_case("SKILL.md") {
            known.as_ref().and_then(|skill| skill.content_hash.as_ref())
        } else {
            kept.get(name)
        };
        let Some(known_hash) = known_hash else {
            // A folder could hide a new entry; of other files nothing is known to compare with.
            if folder.join(name).is_dir() {
                return Ok(true);
            }
            continue;
        };
        if files::read_into(&folder.join(name), files::MAX_SKILL_BYTES, &mut buffer).is_err()
            || hash_of(&buffer) != *known_hash
        {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Walks and reads the whole root and compares it with every row.
fn whole(store: &Store, root: &RootRow) -> Result<RootScan> {
    let mut scan = RootScan::default();
    walk_into(&mut scan, &Request::whole(&root.path))?;
    let found: HashMap<&str, bool> = scan
        .found
        .iter()
        .map(|found| (found.unit.rel_path.as_str(), found.skill.is_some()))
        .collect();
    let is_unknown = |path: &str| {
        scan.unknown
            .iter()
            .any(|folder| is_below(path, &folder.unit))
    };
    let mut lost = Vec::new();
    for skill in store.present_skills(root.id)? {
        if found.get(skill.rel_path.as_str()) != Some(&true) && !is_unknown(&skill.rel_path) {
            lost.push((skill.rel_path, skill.id));
        }
    }
    let mut gone_folders = Vec::new();
    store.each_unit(root.id, |unit| {
        if unit.skill_id.is_none()
            && !found.contains_key(unit.rel_path)
            && !is_unknown(unit.rel_path)
        {
            gone_folders.push(unit.rel_path.to_owned());
        }
        Ok(())
    })?;
    scan.lost = lost;
    scan.gone_folders = gone_folders;
    for found in &mut scan.found {
        found.is_suspect_whole = true;
    }
    Ok(scan)
}

pub(super) fn is_below(path: &str, folder: &str) -> bool {
    folder == "."
        || path == folder
        || path
            .strip_prefix(folder)
            .is_some_and(|rest| rest.starts_with('/'))
}

pub(super) fn walk_into(scan: &mut RootScan, request: &Request<'_>) -> Result<End> {
    let mut buffer = Vec::new();
    walk_reading(request, &mut buffer, &mut |step| {
        match step {
            Read::Found(found) => scan.found.push(*found),
            Read::Finding(finding) => scan.findings.push(finding),
            Read::Unknown(finding) => scan.unknown.push(finding),
        }
        Ok(())
    })
}

/// What a walk that reads hands over.
pub(super) enum Read {
    Found(Box<Found>),
    Finding(WalkFinding),
    Unknown(WalkFinding),
}

/// Walks and reads, handing over each folder together with what the walk had to say about it.
pub(super) fn walk_reading(
    request: &Request<'_>,
    buffer: &mut Vec<u8>,
    take: &mut dyn FnMut(Read) -> Result<()>,
) -> Result<End> {
    let root: &Path = request.root;
    // Findings about a folder come before the folder itself.
    let mut waiting: Vec<WalkFinding> = Vec::new();
    let end = walk(request, &mut |step| match step {
        Step::Finding(finding) => {
            waiting.push(finding);
            Ok(())
        }
        Step::Unknown(finding) => take(Read::Unknown(finding)),
        Step::Unit(unit, looked_at_ns) => {
            let mut found = Found::read(root, unit, looked_at_ns, buffer);
            let rel_path = found.unit.rel_path.clone();
            found.findings = waiting
                .extract_if(.., |finding| finding.unit == rel_path)
                .collect();
            take(Read::Found(Box::new(found)))
        }
    })?;
    waiting
        .into_iter()
        .try_for_each(|finding| take(Read::Finding(finding)))?;
    Ok(end)
}

/// Leaves of closed folders only the topmost: what lies in them cannot be asked about anyway.
fn drop_nested(unknown: &mut Vec<WalkFinding>) {
    let units: Vec<String> = unknown.iter().map(|finding| finding.unit.clone()).collect();
    unknown.retain(|finding| {
        !units
            .iter()
            .any(|unit| *unit != finding.unit && is_below(&finding.unit, unit))
    });
}

/// Says that a folder could not be looked into.
fn unreadable_folder(root: &Path, rel_path: &str) -> WalkFinding {
    WalkFinding {
        unit: rel_path.to_owned(),
        path: folder_path(root, rel_path),
        code: WalkCode::FolderUnreadable,
        message: "the folder cannot be looked into; what was known of it stays as it was"
            .to_owned(),
    }
}
