//! Reconciles the database with the files on disk. The one reader of the file tree into the mirror.
//! Disk wins: where the two disagree, the files are believed and the difference is recorded.

mod apply;
mod capture;
mod found;
mod own;
mod plan;
mod progress;
mod report;
mod rewalk;
mod rows;
mod scan;

use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::library::Root;
use crate::library::walk::Request;
use crate::store::{self, KnownSkill, LibraryLock, RootRow, Store, Tx};
use crate::time::Timestamp;
use apply::Rewrite;
use plan::{Fate, RootPlan};
use scan::{Depth, Read};

pub use own::{Seen, look, mirror, mirror_new, note_kept, refresh};
pub use progress::{Progress, Silence, Unit};
pub use report::{FileFinding, HeldBack, Kept, Moved, Report, Touched};

/// How to sync.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// Empty the mirror tables first and refill them.
    pub rebuild: bool,
    /// Read every file whatever `stat` says.
    pub checksum: bool,
    /// Mark skills as missing even when most of a root vanished.
    pub allow_mass_delete: bool,
    /// Say what would be done and do nothing.
    pub dry_run: bool,
    /// Most bytes of supporting files the history holds as newest versions.
    pub support_budget: u64,
}

/// Which roots to sync.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Selection<'a> {
    /// These, making them roots of the library if they are not.
    Named(&'a [Root]),
    /// All known ones, and these, which the configuration names.
    Known(&'a [Root]),
}

impl<'a> Selection<'a> {
    fn roots(self) -> &'a [Root] {
        match self {
            Self::Named(roots) | Self::Known(roots) => roots,
        }
    }

    fn holds(self, path: &Path) -> bool {
        match self {
            Self::Named(roots) => roots.iter().any(|root| root.path == path),
            Self::Known(_) => true,
        }
    }
}

/// Settles what a kill cut short, called as soon as the library's lock is held: what lies half done on disk is
/// nobody's edit.
pub type Mend<'a> = &'a dyn Fn(&mut Store) -> Result<()>;

/// Syncs the selected roots of the library at `home`.
///
/// # Errors
/// [`Error::NoFolder`] for a new root that is not there, [`Error::NestedRoot`], [`Error::Locked`],
/// and what the file system or SQLite say. One bad file is never an error: it is in the report.
pub fn sync(
    home: &Path,
    selection: Selection<'_>,
    options: Options,
    now: Timestamp,
    (progress, mend): (&dyn Progress, Mend<'_>),
) -> Result<Report> {
    let roots = selection.roots();
    if options.dry_run {
        return rehearse(home, selection, options, now, progress);
    }
    if roots.is_empty() && !home.join(store::FILE_NAME).exists() {
        return Ok(Report::default());
    }
    let _lock = LibraryLock::take(home, || progress.waiting())?;
    store::remove_leftovers(home);
    if let Some(mut store) = Store::open(home, now)? {
        mend(&mut store)?;
        return sync_existing(&mut store, selection, options, now, progress);
    }
    check_new_roots(roots, &[])?;
    let fresh = sync_fresh(home, roots, now, progress)?;
    let Some(mut store) = Store::open(home, now)? else {
        return Err(Error::NoLibrary {
            path: home.join(store::FILE_NAME),
        });
    };
    match fresh {
        Some(report) => finish(&mut store, report, selection, options, now, progress),
        // Somebody else published a database without the lock: sync into that one.
        None => sync_existing(&mut store, selection, options, now, progress),
    }
}

/// Says what a sync would do. Takes no lock and writes nothing; a first sync is tried out in a scratch
/// library that is thrown away.
fn rehearse(
    home: &Path,
    selection: Selection<'_>,
    options: Options,
    now: Timestamp,
    progress: &dyn Progress,
) -> Result<Report> {
    match Store::open_read(home, now) {
        Ok(mut store) => return sync_existing(&mut store, selection, options, now, progress),
        Err(Error::NoLibrary { .. }) => {}
        Err(error) => return Err(error),
    }
    let roots = selection.roots();
    check_new_roots(roots, &[])?;
    if roots.is_empty() {
        return Ok(Report::default());
    }
    let scratch = tempfile::tempdir().map_err(Error::io("create", "a temporary folder"))?;
    let report = sync_fresh(scratch.path(), roots, now, progress)?.unwrap_or_default();
    let report = Report {
        wrote: false,
        ..report
    };
    match Store::open(scratch.path(), now)? {
        Some(store) => count(&store, report, Selection::Known(&[])),
        None => Ok(report),
    }
}

/// Fills a new database while walking: nothing is held, nobody waits for it.
fn sync_fresh(
    home: &Path,
    roots: &[Root],
    now: Timestamp,
    progress: &dyn Progress,
) -> Result<Option<Report>> {
    progress.begin("reading", Unit::Skills, None);
    let report = Store::create(home, |tx| {
        let mut report = Report {
            wrote: true,
            ..Report::default()
        };
        for root in roots {
            let mut row = row_of(root);
            row.id = tx.ensure_root(&row, now)?;
            fill_root(tx, &row, &mut report, now, progress)?;
        }
        tx.raise_generation()?;
        tx.note_synced(now)?;
        Ok(report)
    });
    progress.end();
    report
}

fn fill_root(
    tx: &Tx<'_>,
    root: &RootRow,
    report: &mut Report,
    now: Timestamp,
    progress: &dyn Progress,
) -> Result<()> {
    let mut buffer = Vec::new();
    scan::walk_reading(&Request::whole(&root.path), &mut buffer, &mut |step| {
        match step {
            Read::Found(mut found) if found.skill.is_some() => {
                let id = apply::add_skill(tx, root, &found, now)?;
                report.add_found(root, &mut found, &Fate::New, id);
                progress.advance(1);
            }
            Read::Found(mut found) => {
                apply::write_folder(tx, root, &found)?;
                report.add_found(root, &mut found, &Fate::Folder, 0);
            }
            Read::Finding(finding) => {
                rows::put_walk_finding(tx, root.id, None, &finding)?;
                report.walk.push(finding);
            }
            Read::Unknown(finding) => {
                apply::note_closed(tx, root.id, &finding.unit)?;
                report.walk.push(finding);
            }
        }
        Ok(())
    })?;
    Ok(())
}

fn sync_existing(
    store: &mut Store,
    selection: Selection<'_>,
    options: Options,
    now: Timestamp,
    progress: &dyn Progress,
) -> Result<Report> {
    let rows = select_roots(store, selection, options, now)?;
    let depth = if options.rebuild || options.checksum {
        Depth::Everything
    } else {
        Depth::Stat
    };
    let mut plans = Vec::with_capacity(rows.len());
    progress.begin("reading", Unit::Skills, None);
    for root in rows {
        let scan = scan::scan(store, &root, depth)?;
        progress.advance(scan.found.len() as u64);
        plans.push(plan::plan_root(store, root, scan)?);
    }
    progress.end();
    plan::match_moves(store, &mut plans)?;
    let mut report = Report::default();
    for plan in &mut plans {
        hold_back(store, plan, options, &mut report)?;
    }
    if options.dry_run {
        for plan in &mut plans {
            if plan.root.id == NOT_NOTED {
                report.roots += 1;
                report.counts.add(plan.counts());
            }
            report.add_plan(plan, &[]);
        }
        let mut report = count(store, report, selection)?;
        if report.held_back.is_empty() && plans.iter().all(|plan| plan.root.id != NOT_NOTED) {
            let come = (report.added.len() + report.back.len()) as u64;
            let gone = report.missing.len() as u64;
            report.counts.present = (report.counts.present + come).saturating_sub(gone);
        }
        return Ok(report);
    }
    if options.rebuild || plans.iter().any(|plan| !plan.is_empty()) {
        write(store, &mut plans, options, &mut report, now)?;
    } else {
        plans.iter_mut().for_each(|plan| report.add_plan(plan, &[]));
    }
    finish(store, report, selection, options, now, progress)
}

fn hold_back(
    store: &Store,
    plan: &mut RootPlan,
    options: Options,
    report: &mut Report,
) -> Result<()> {
    if options.allow_mass_delete || plan.lost.is_empty() {
        return Ok(());
    }
    let present = store.root_counts(plan.root.id)?.present;
    plan::hold_back(plan, present);
    if plan.is_held_back {
        report.held_back.push(HeldBack {
            root: plan.root.path.clone(),
            lost: plan.lost.len(),
            of: present,
            is_root_missing: plan.scan.is_root_missing,
        });
    }
    Ok(())
}

fn write(
    store: &mut Store,
    plans: &mut [RootPlan],
    options: Options,
    report: &mut Report,
    now: Timestamp,
) -> Result<()> {
    let rewrite = if options.rebuild {
        Rewrite::All
    } else {
        Rewrite::Differing
    };
    let ids = store.write(|tx| {
        if options.rebuild {
            empty_mirror(tx, plans)?;
        }
        tx.raise_generation()?;
        tx.note_synced(now)?;
        // Whatever came, came back or got another name may be what somebody called before.
        tx.mark_link_due()?;
        plans.iter().try_for_each(|plan| apply::vacate(tx, plan))?;
        plans
            .iter()
            .map(|plan| apply::apply_root(tx, plan, rewrite, now))
            .collect::<Result<Vec<_>>>()
    })?;
    report.wrote = true;
    for (plan, ids) in plans.iter_mut().zip(&ids) {
        report.add_plan(plan, ids);
    }
    Ok(())
}

/// Empties the mirror of those roots that are about to be refilled. Where a folder is closed or a disk
/// is not mounted, nothing could refill it, so it stays; the skills' own rows go as each is written.
fn empty_mirror(tx: &Tx<'_>, plans: &[RootPlan]) -> Result<()> {
    tx.remove_orphans()?;
    for plan in plans {
        if plan.scan.unknown.is_empty() && !plan.is_held_back {
            tx.clear_walk_of(plan.root.id)?;
        }
    }
    Ok(())
}

/// What comes after the mirror is committed: keeping bytes, counting, looking for namesakes.
fn finish(
    store: &mut Store,
    mut report: Report,
    selection: Selection<'_>,
    options: Options,
    now: Timestamp,
    progress: &dyn Progress,
) -> Result<Report> {
    report.kept = capture::keep_queued(store, options.support_budget, now, progress)?;
    report.wrote |= report.kept != Kept::default();
    let has_missing = store.has_missing()?;
    for added in report.added.iter().filter(|_| has_missing) {
        for old in store.missing_by_name(&added.name)? {
            report.relink.push((old, added.id, added.name.clone()));
        }
    }
    report.link_due = store.is_link_due()?;
    count(store, report, selection)
}

fn count(store: &Store, mut report: Report, selection: Selection<'_>) -> Result<Report> {
    for root in store.roots()? {
        if selection.holds(&root.path) {
            report.roots += 1;
            report.counts.add(store.root_counts(root.id)?);
        }
    }
    report.refused = store.list_refused()?;
    let is_told = |path: &str| {
        report
            .walk
            .iter()
            .any(|finding| finding.path == Path::new(path))
    };
    let standing = store.standing_errors()?.into_iter();
    report
        .refused
        .extend(standing.filter(|row| !is_told(&row.path)));
    Ok(report)
}

/// Finds the rows of the wanted roots, adding those that are new; all rows when none is named.
fn select_roots(
    store: &mut Store,
    selection: Selection<'_>,
    options: Options,
    now: Timestamp,
) -> Result<Vec<RootRow>> {
    let roots = selection.roots();
    let mut known = store.roots()?;
    check_new_roots(roots, &known)?;
    let is_noted = |root: &Root| {
        known.iter().any(|row| {
            RootRow {
                id: NOT_NOTED,
                ..row.clone()
            } == row_of(root)
        })
    };
    if !options.dry_run && !roots.iter().all(is_noted) {
        store.write(|tx| {
            roots
                .iter()
                .try_for_each(|root| tx.ensure_root(&row_of(root), now).map(|_| ()))
        })?;
        known = store.roots()?;
    }
    if options.dry_run {
        let is_new = |root: &&Root| !known.iter().any(|row| row.path == root.path);
        let new: Vec<RootRow> = roots.iter().filter(is_new).map(row_of).collect();
        known.extend(new);
    }
    known.retain(|row| selection.holds(&row.path));
    Ok(known)
}

/// The id of a root that has no row, in a dry run: nothing is known about what lies in it.
const NOT_NOTED: i64 = 0;

fn row_of(root: &Root) -> RootRow {
    RootRow {
        id: NOT_NOTED,
        path: root.path.clone(),
        kind: root.kind.as_str().to_owned(),
        priority: root.priority,
        writable: root.writable,
        client: root.client.clone(),
    }
}

/// Refuses a new root that is not there, or that contains or lies in another one: a folder listed
/// twice would have two lives.
fn check_new_roots(roots: &[Root], known: &[RootRow]) -> Result<()> {
    let known_paths: Vec<&PathBuf> = known.iter().map(|row| &row.path).collect();
    for (index, root) in roots.iter().enumerate() {
        if known_paths.contains(&&root.path) {
            continue;
        }
        if root.path.to_str().is_none() {
            return Err(Error::Usage {
                message: format!("the path {} is not UTF-8", root.path.display()),
                hint: Some("rename the folder, or link to it from a path that is".to_owned()),
            });
        }
        if !root.path.is_dir() {
            return Err(Error::NoFolder {
                path: root.path.clone(),
            });
        }
        let earlier = roots.iter().take(index).map(|root| &root.path);
        for other in known_paths
            .iter()
            .copied()
            .chain(earlier)
            .filter(|other| **other != root.path)
        {
            let inside = root.path.starts_with(other);
            if inside || other.starts_with(&root.path) {
                return Err(Error::NestedRoot {
                    path: root.path.clone(),
                    other: other.clone(),
                    inside,
                });
            }
        }
    }
    Ok(())
}

/// Lets the life of a vanished skill go on in the place of a newer row: what a person says who knows
/// that the two are the same skill although their bytes differ.
///
/// # Errors
/// [`Error::Relink`] when `old` is not missing or `new` is; [`Error::SkillNotFound`], [`Error::Locked`].
pub fn relink(
    home: &Path,
    old: i64,
    new: i64,
    now: Timestamp,
    (progress, mend): (&dyn Progress, Mend<'_>),
) -> Result<(KnownSkill, KnownSkill)> {
    let _lock = LibraryLock::take(home, || progress.waiting())?;
    let Some(mut store) = Store::open(home, now)? else {
        return Err(Error::NoLibrary {
            path: home.join(store::FILE_NAME),
        });
    };
    mend(&mut store)?;
    let find = |id: i64| {
        store.skill_by_id(id)?.ok_or_else(|| Error::SkillNotFound {
            name: format!("#{id}"),
            similar: Vec::new(),
        })
    };
    let (old, new) = (find(old)?, find(new)?);
    let refuse = |reason| Error::Relink {
        old: format!("#{}", old.id),
        new: format!("#{}", new.id),
        reason,
    };
    if !old.is_missing {
        return Err(refuse("the old one's folder is still there"));
    }
    if new.is_missing {
        return Err(refuse("the new one's folder is not there"));
    }
    store.write(|tx| tx.relink(&old, &new, now))?;
    Ok((old, new))
}
