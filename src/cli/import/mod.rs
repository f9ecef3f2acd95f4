//! `skilldb import`.

mod report;

use std::path::{Path, PathBuf};

pub(super) use self::report::linked_words;
use self::report::{object, tell};
use super::output::{clean, plural};
use super::{Context, client_folders, progress, record};
use crate::error::{Error, Result};
use crate::library::{Root, RootKind};
use crate::share::import::{self, LineClient, Options, Summary};
use crate::store::Store;
use crate::sync::{self, Progress, Selection};
use crate::time::Timestamp;
use crate::usage::{self, Linked, Resolver};
use clap::ValueEnum;

/// Take over what an agent remembers of the skills it used
///
/// Reads the histories of Claude Code and Codex, and a Hermes home with its counts, pins, states and
/// origins. Each line is read once: run it as often as you like. Nothing of the agent's is changed.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  skilldb import claude-code                    ~/.claude, or $CLAUDE_CONFIG_DIR
  skilldb import codex --since 30d              the last 30 days only
  skilldb import hermes ~/.hermes --dry-run     what would be taken over
  skilldb import claude-code session.jsonl      one file")]
pub(super) struct Args {
    /// The agent
    #[arg(value_name = "CLIENT", value_enum)]
    client: Client,
    /// Its home, a folder of histories, or one history file
    #[arg(value_name = "PATH")]
    path: Option<PathBuf>,
    /// Leave out what is older: a time, a day, or an age like 30d, 12h, 8w
    #[arg(long, value_name = "WHEN")]
    since: Option<String>,
    /// Say what would be taken over and do nothing
    #[arg(long)]
    dry_run: bool,
    /// Take the history named by the hook input on standard input, and never fail: for a hook at a session's end
    #[arg(long, conflicts_with_all = ["path", "dry_run"])]
    session_from_stdin: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Client {
    /// Transcripts of Claude Code
    ClaudeCode,
    /// Rollouts of Codex
    Codex,
    /// The home of Hermes Agent
    Hermes,
}

impl Client {
    fn id(self) -> &'static str {
        match self {
            Self::ClaudeCode => "claude-code",
            Self::Codex => "codex",
            Self::Hermes => "hermes",
        }
    }

    fn lines(self) -> Option<LineClient> {
        match self {
            Self::ClaudeCode => Some(LineClient::ClaudeCode),
            Self::Codex => Some(LineClient::Codex),
            Self::Hermes => None,
        }
    }
}

impl Args {
    /// Whether a hook calls, which must not be failed.
    pub(super) fn is_hook(&self) -> bool {
        self.session_from_stdin
    }
}

pub(super) fn run(context: &mut Context, args: &Args) -> Result<()> {
    if args.session_from_stdin {
        if let Some(client) = args.client.lines() {
            super::hook::import_session(context, client);
        }
        return Ok(());
    }
    let since = args
        .since
        .as_deref()
        .map(|text| since(text, context.now))
        .transpose()?;
    let path = match &args.path {
        Some(path) => context.config.cwd.join(path),
        None => context.config.client_home(args.client.id()),
    };
    let home = context.config.home.value.clone();
    let progress = progress::for_stderr();
    let (summary, linked) = if args.dry_run {
        let scratch = tempfile::tempdir().map_err(Error::io("create", "a temporary folder"))?;
        if let Some(store) = existing(&home, context.now)? {
            store.copy_to(scratch.path())?;
        }
        import_into(
            context,
            args.client,
            scratch.path(),
            &path,
            since,
            progress.as_ref(),
        )?
    } else {
        import_into(context, args.client, &home, &path, since, progress.as_ref())?
    };
    if context.out.json {
        context.out.object(object(args, &path, &summary, &linked))?;
    } else {
        tell(&mut context.out, args, &path, &summary, &linked)?;
    }
    Ok(())
}

fn existing(home: &Path, now: Timestamp) -> Result<Option<Store>> {
    match Store::open_read(home, now) {
        Ok(store) => Ok(Some(store)),
        Err(Error::NoLibrary { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Imports into the library at `home`, then links what waited for its skill.
fn import_into(
    context: &Context,
    client: Client,
    home: &Path,
    path: &Path,
    since: Option<Timestamp>,
    progress: &dyn Progress,
) -> Result<(Summary, Vec<Linked>)> {
    let roots = client_folders(&context.config);
    let shared = match client {
        Client::Hermes => shared_folders(context, path)?,
        _ => Vec::new(),
    };
    let library = context.config.library();
    let options = Options {
        since,
        now: context.now,
        machine: &context.config.machine,
        library: &library,
        shared: &shared,
        user_home: &context.config.user_home,
        roots: &roots,
        progress,
    };
    if client == Client::Hermes {
        let is_dry_run = home != context.config.home.value;
        sync_skills_of(context, home, path, is_dry_run, progress)?;
        for folder in &shared {
            let root = context.config.root(folder, RootKind::External);
            sync_folder(context, home, root, is_dry_run, progress)?;
        }
    }
    let mut store = record::open(home, context.now)?;
    let mut resolver = Resolver::new(&roots);
    usage::absorb(home, &mut store, &mut resolver, context.now, u64::MAX)?;
    let mut linked = usage::link_waiting(&mut store, &mut resolver, context.now)?;
    let summary = match client.lines() {
        Some(client) => import::import_lines(&mut store, client, path, &options)?,
        None => import::import_hermes(&mut store, path, &options)?,
    };
    // What appeared while this one read.
    linked.extend(usage::link_waiting(
        &mut store,
        &mut Resolver::new(&roots),
        context.now,
    )?);
    // The one write that also copies the log into the database.
    store.write(|_| Ok(()))?;
    Ok((summary, linked))
}

/// Brings the skills of a Hermes home into the library: its records are about them.
fn sync_skills_of(
    context: &Context,
    home: &Path,
    path: &Path,
    is_dry_run: bool,
    progress: &dyn Progress,
) -> Result<()> {
    let (_, skills) = import::skills_folder(path)?;
    let mut root = context.config.root(&skills, RootKind::Local);
    root.client = Some("hermes".to_owned());
    sync_folder(context, home, root, is_dry_run, progress)
}

/// The other folders of skills that a Hermes home reads, as far as they are there and not part of the library
/// already.
fn shared_folders(context: &Context, path: &Path) -> Result<Vec<PathBuf>> {
    let (home, skills) = import::skills_folder(path)?;
    let file = home.join("config.yaml");
    let folders = match context.config.hermes_external_dirs(&file) {
        Ok(folders) => folders,
        Err(why) => {
            let words = format!("{} was not looked into: {why}", file.display());
            context.out.warn(&clean(&words));
            return Ok(Vec::new());
        }
    };
    let is_other = |folder: &PathBuf| {
        let is_inside = folder.starts_with(&skills) || skills.starts_with(folder);
        folder.is_dir() && !is_inside
    };
    Ok(folders.into_iter().filter(is_other).collect())
}

/// Brings a folder of skills into the library.
fn sync_folder(
    context: &Context,
    home: &Path,
    mut root: Root,
    is_dry_run: bool,
    progress: &dyn Progress,
) -> Result<()> {
    let known = match existing(home, context.now)? {
        Some(store) => store.roots()?,
        None => Vec::new(),
    };
    let mut rows = known.into_iter();
    // Part of a root, or one: synced as it is known.
    if let Some(row) = rows.find(|row| root.path.starts_with(&row.path)) {
        root.kind = RootKind::parse(&row.kind).unwrap_or(root.kind);
        root.path = row.path;
        root.priority = row.priority;
        root.writable = row.writable;
        root.client = row.client;
    }
    let options = sync::Options {
        rebuild: false,
        checksum: false,
        allow_mass_delete: false,
        dry_run: false,
        support_budget: context.config.support_budget.value,
    };
    let roots = [root];
    let report = sync::sync(
        home,
        Selection::Named(&roots),
        options,
        context.now,
        (progress, &context.mender()),
    )?;
    let words = plural(report.counts.present, "skill");
    let path = roots[0].path.to_string_lossy();
    let did = if is_dry_run { "Would sync" } else { "Synced" };
    let new = report.added.len();
    context
        .out
        .say(&format!("{did} {}: {words}, {new} new.", clean(&path)));
    Ok(())
}

/// Reads a time, a day, or an age.
fn since(text: &str, now: Timestamp) -> Result<Timestamp> {
    let age = || {
        let (number, unit) = text.split_at_checked(text.len().checked_sub(1)?)?;
        let hours = match unit {
            "h" => 1,
            "d" => 24,
            "w" => 7 * 24,
            _ => return None,
        };
        let count: i64 = number.parse().ok().filter(|count| *count >= 0)?;
        let millis = count.checked_mul(hours)?.checked_mul(3_600_000)?;
        Some(Timestamp::from_millis(now.millis().checked_sub(millis)?))
    };
    age()
        .or_else(|| Timestamp::parse_lenient(text))
        .filter(|at| at.is_writable())
        .ok_or_else(|| Error::Usage {
            message: format!("`{text}` is no time"),
            hint: Some(
                "write 2026-01-02, 2026-01-02T03:04:05Z, or an age like 30d, 12h, 8w".to_owned(),
            ),
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn since_is_a_time_a_day_or_an_age() {
        let now = Timestamp::parse("2026-03-10T12:00:00.000Z").unwrap();
        let read = |text: &str| since(text, now).map(|at| at.to_string()).ok();
        assert_eq!(read("2d").as_deref(), Some("2026-03-08T12:00:00.000Z"));
        assert_eq!(read("12h").as_deref(), Some("2026-03-10T00:00:00.000Z"));
        assert_eq!(read("1w").as_deref(), Some("2026-03-03T12:00:00.000Z"));
        assert_eq!(
            read("2026-01-02").as_deref(),
            Some("2026-01-02T00:00:00.000Z")
        );
        for text in ["", "d", "-1d", "soon", "9999999999999999d", "é"] {
            assert_eq!(read(text), None, "{text}");
        }
    }
}
