//! `skilldb backup` and `skilldb merge-backup`.

use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use serde_json::json;

use super::super::change::{Writing, open, settings};
use super::super::output::{one_line, plural};
use super::super::{Context, progress};
use crate::error::{Error, Result};
use crate::manage::{Merged, Writer};
use crate::store::{FILE_NAME, Store, Waiting};

/// Write the whole library into one archive
///
/// A plain tar: the files of the writable roots, every version the history holds, and what only the database knows
/// (history, uses, pins, states, origins) as lines of JSON. It can be read without skilldb.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  skilldb backup library.tar
  skilldb backup - > library.tar")]
pub(in crate::cli) struct BackupArgs {
    /// The archive; `-` for standard output
    file: PathBuf,
    /// Replace the archive if it is there
    #[arg(long)]
    force: bool,
}

/// Take an archive of another library over into this one
///
/// Skills that are not here are added, with their states, pins and origins; of those that are, this library's files
/// stay. Uses and history are added once, however often this is done. Snapshots and proposals stay in the archive.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  skilldb merge-backup library.tar")]
pub(in crate::cli) struct MergeArgs {
    /// The archive
    file: PathBuf,
    #[command(flatten)]
    writing: Writing,
}

pub(in crate::cli) fn backup(context: &mut Context, args: &BackupArgs) -> Result<()> {
    let mut writer = open(context)?;
    let progress = progress::for_stderr();
    if args.file == Path::new("-") {
        let mut bytes = context.out.writer();
        writer.backup(&mut bytes, Path::new("standard output"), progress.as_ref())?;
        return Ok(());
    }
    let path = context.config.cwd.join(&args.file);
    if path.exists() && !args.force {
        return Err(Error::Denied {
            code: "file-exists",
            message: format!("{} is there already", path.display()),
            hint: Some("name another file, or say --force".to_owned()),
        });
    }
    let folder = path.parent().unwrap_or(Path::new("/"));
    // Half an archive never has the name of a whole one.
    let mut file =
        tempfile::NamedTempFile::new_in(folder).map_err(Error::io("create a file in", folder))?;
    let done = writer.backup(BufWriter::new(file.as_file_mut()), &path, progress.as_ref())?;
    file.as_file_mut()
        .flush()
        .map_err(Error::io("write", &path))?;
    file.as_file()
        .sync_all()
        .map_err(Error::io("write", &path))?;
    file.persist(&path)
        .map_err(|error| Error::io("write", &path)(error.error))?;
    if context.out.json {
        let left_out: Vec<_> = done
            .left_out
            .iter()
            .map(|(path, why)| json!({"path": path, "why": why}))
            .collect();
        return context.out.object(json!({"file": path, "files": done.files, "versions": done.versions, "rows": done.rows, "left_out": left_out}));
    }
    for (path, why) in &done.left_out {
        context.out.warn(&format!(
            "Not in it: {}: {}.",
            one_line(path),
            one_line(why)
        ));
    }
    context.out.line(&format!(
        "{}\t{}, {}, {}",
        path.display(),
        plural(done.files, "file"),
        plural(done.versions, "version"),
        plural(done.rows, "row")
    ))
}

pub(in crate::cli) fn merge(context: &mut Context, args: &MergeArgs) -> Result<()> {
    let who = args.writing.who(context)?;
    let path = context.config.cwd.join(&args.file);
    if args.writing.dry_run {
        return rehearse(context, &who, &path);
    }
    let home = &context.config.home.value;
    if !home.join(FILE_NAME).exists() {
        Store::create_empty(home, Waiting::Yes)?;
    }
    let merged = open(context)?.merge_backup(&who, &path)?;
    tell(context, &merged, false)
}

/// Tries it out on a copy of the database and a folder that is thrown away.
fn rehearse(context: &mut Context, who: &crate::manage::Who, path: &Path) -> Result<()> {
    let scratch = tempfile::tempdir().map_err(Error::io("create", "a temporary folder"))?;
    let home = scratch
        .path()
        .canonicalize()
        .map_err(Error::io("open", scratch.path()))?;
    match context.read_only() {
        Ok(store) => store.copy_to(&home)?,
        Err(Error::NoLibrary { .. }) => Store::create_empty(&home, Waiting::Yes)?,
        Err(error) => return Err(error),
    }
    let mut settings = settings(context);
    settings.own_root = home.join("skills");
    settings.is_rehearsal = true;
    for root in &mut settings.roots {
        if root.path == super::super::change::own_root(context) {
            root.path.clone_from(&settings.own_root);
        }
    }
    settings.home = home;
    let merged =
        Writer::open(settings, progress::for_stderr().as_ref())?.merge_backup(who, path)?;
    tell(context, &merged, true)
}

fn tell(context: &mut Context, merged: &Merged, dry_run: bool) -> Result<()> {
    if context.out.json {
        let refused: Vec<_> = merged
            .refused
            .iter()
            .map(|(name, why)| json!({"name": name, "why": why}))
            .collect();
        return context.out.object(json!({
            "added": merged.added, "same": merged.same, "differing": merged.differing, "refused": refused,
            "uses": {"new": merged.uses.0, "known": merged.uses.1}, "changes": {"new": merged.changes.0, "known": merged.changes.1},
            "damaged": merged.damaged, "left": {"snapshots": merged.left.0, "proposals": merged.left.1}, "dry_run": dry_run,
        }));
    }
    for name in &merged.added {
        context.out.line(&format!("+ {}", one_line(name)))?;
    }
    for name in &merged.differing {
        context.out.line(&format!(
            "= {}  differs: this library's text stays; the other is in `skilldb log {}`",
            one_line(name),
            one_line(name)
        ))?;
    }
    for (name, why) in &merged.refused {
        context
            .out
            .line(&format!("! {}  {}", one_line(name), one_line(why)))?;
    }
    context.out.flush()?;
    if merged.left.0 + merged.left.1 > 0 {
        context.out.say(&format!(
            "Left in the archive: {}, {}.",
            plural(merged.left.0, "snapshot"),
            plural(merged.left.1, "proposal")
        ));
    }
    for damaged in &merged.damaged {
        context
            .out
            .warn(&format!("Damaged in the archive: {}.", one_line(damaged)));
    }
    let would = if dry_run {
        " (dry run: nothing was written)"
    } else {
        ""
    };
    context.out.say(&format!(
        "{} added, {} here already; {} new, {} known; {} new, {} known{would}.",
        plural(merged.added.len() as u64, "skill"),
        merged.same + merged.differing.len() as u64,
        plural(merged.uses.0, "use"),
        merged.uses.1,
        plural(merged.changes.0, "change"),
        merged.changes.1
    ));
    Ok(())
}
