//! `skilldb sync`.

mod report;

use std::path::{Path, PathBuf};

use self::report::{object, round_object, tell, tell_round};
use super::import::linked_words;
use super::{Context, client_folders, progress};
use crate::config::Config;
use crate::error::{Error, Result};
use crate::guard::Guard;
use crate::library::client::{self, Client, ClientRoot, Scope};
use crate::library::{Root, RootKind};
use crate::store::{RootRow, Store};
use crate::sync::{self, Options, Report, Selection};
use crate::usage::{self, Linked, Resolver};
use crate::verdicts::{self, Round, Which};

/// Reconcile the database with the files on disk
///
/// The folders named become roots of the library for good; without any, all known roots are synced.
/// Files are only read: nothing below a root is ever changed by this.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  skilldb sync ~/skills                         add a folder of skills and mirror it
  skilldb sync --client claude-code             the folders Claude Code looks in
  skilldb sync --root project=.claude/skills    a folder with its kind
  skilldb sync                                  all known roots again")]
pub(super) struct Args {
    /// Folders of skills to add and sync
    #[arg(value_name = "ROOT")]
    roots: Vec<PathBuf>,
    /// A folder with its kind (local, project, external, bundled, hub, plugin) or client
    #[arg(long = "root", value_name = "LABEL=PATH")]
    labelled: Vec<String>,
    /// The folders this client looks in, seen from the current folder
    #[arg(long = "client", value_name = "CLIENT")]
    clients: Vec<String>,
    /// Empty the mirror tables and refill them from disk; history, usage and states stay
    #[arg(long)]
    rebuild: bool,
    /// Read every file, whatever its stamps say
    #[arg(long)]
    checksum: bool,
    /// Mark skills as missing even when most of a root vanished
    #[arg(long)]
    allow_mass_delete: bool,
    /// Exit with 1 when a file could not be loaded
    #[arg(long)]
    strict: bool,
    /// Say what would be done and do nothing
    #[arg(long)]
    dry_run: bool,
}

pub(super) fn run(context: &mut Context, args: &Args) -> Result<()> {
    let is_named = !(args.roots.is_empty() && args.labelled.is_empty() && args.clients.is_empty());
    let roots = if is_named {
        named_roots(context, args)?
    } else {
        configured_roots(context)?
    };
    let selection = if is_named {
        Selection::Named(&roots)
    } else {
        Selection::Known(&roots)
    };
    let options = Options {
        rebuild: args.rebuild,
        checksum: args.checksum,
        allow_mass_delete: args.allow_mass_delete,
        dry_run: args.dry_run,
        support_budget: context.config.support_budget.value,
    };
    let progress = progress::for_stderr();
    let home = &context.config.home.value;
    let report = sync::sync(
        home,
        selection,
        options,
        context.now,
        (progress.as_ref(), &context.mender()),
    )?;
    if report.roots == 0 {
        return nothing_to_sync(context);
    }
    let is_due = report.link_due || usage::is_waiting(home);
    let linked = if is_due && !args.dry_run {
        settle_usage(context)?
    } else {
        Vec::new()
    };
    let round = if args.dry_run {
        Round::default()
    } else {
        look(context)
    };
    if context.out.json {
        let mut object = object(&report, &linked);
        object["scan"] = round_object(&round);
        context.out.object(object)?;
    } else {
        for linked in &linked {
            context.out.say(&linked_words(linked));
        }
        tell(&mut context.out, &report, args.dry_run)?;
        context.out.flush()?;
        tell_round(&context.out, &round);
    }
    let is_bad = !report.held_back.is_empty()
        || report.has_closed_root()
        || (args.strict && report.has_errors());
    if is_bad {
        Err(Error::ProblemsFound)
    } else {
        Ok(())
    }
}

/// Looks at what changed with the eyes of the guard. The mirror stands whatever becomes of this.
fn look(context: &Context) -> Round {
    let guard = Guard::new(context.config.guard.rules.clone());
    let looked =
        Store::open(&context.config.home.value, context.now).and_then(|store| match store {
            Some(mut store) => verdicts::refresh(
                &mut store,
                &guard,
                Which::Changed,
                context.now,
                progress::for_stderr().as_ref(),
            ),
            None => Ok(Round::default()),
        });
    looked.unwrap_or_else(|error| {
        context.out.warn(&format!(
            "Not scanned: {error}. `skilldb scan` tries again."
        ));
        Round::default()
    })
}

/// Takes in uses that waited to be recorded, and links events to skills that appeared.
pub(super) fn settle_usage(context: &Context) -> Result<Vec<Linked>> {
    let home = &context.config.home.value;
    let Some(mut store) = Store::open(home, context.now)? else {
        return Ok(Vec::new());
    };
    let roots = client_folders(&context.config);
    let mut resolver = Resolver::new(&roots);
    usage::absorb(home, &mut store, &mut resolver, context.now, u64::MAX)?;
    usage::link_waiting(&mut store, &mut resolver, context.now)
}

/// The roots named on the command line. What is known about a folder already stays as it is, unless a
/// label says otherwise: many clients share a folder, and a path alone says nothing about its kind.
fn named_roots(context: &Context, args: &Args) -> Result<Vec<Root>> {
    let config = &context.config;
    let known = known_roots(context)?;
    let as_known = |root: Root| {
        known
            .iter()
            .find(|row| row.path == root.path)
            .cloned()
            .unwrap_or(root)
    };
    let paths = args
        .roots
        .iter()
        .map(|path| config.root(path, RootKind::Local));
    let mut roots: Vec<Root> = paths.map(as_known).collect();
    for labelled in &args.labelled {
        roots.push(labelled_root(config, labelled)?);
    }
    for name in &args.clients {
        let found = client_roots(config, name)?
            .into_iter()
            .map(as_known)
            .collect();
        roots.extend(outermost(context, found, &known));
    }
    if roots.is_empty() {
        let clients = args.clients.join(", ");
        return Err(Error::Usage {
            message: format!("none of the folders of {clients} is there"),
            hint: Some("`skilldb roots --clients` lists where each client looks".to_owned()),
        });
    }
    Ok(without_doubles(roots))
}

fn known_roots(context: &Context) -> Result<Vec<Root>> {
    let Some(store) = Store::open(&context.config.home.value, context.now)? else {
        return Ok(Vec::new());
    };
    let root_of = |row: RootRow| {
        let kind = RootKind::parse(&row.kind)?;
        Some(Root {
            path: row.path,
            kind,
            priority: row.priority,
            writable: row.writable,
            client: row.client,
        })
    };
    Ok(store.roots()?.into_iter().filter_map(root_of).collect())
}

/// The roots the configuration names, and the library's own folder as soon as it is there. One that is
/// not there is told; if it is known, the sync itself sees that it vanished.
fn configured_roots(context: &Context) -> Result<Vec<Root>> {
    let config = &context.config;
    let mut roots: Vec<Root> = Vec::new();
    for root in config.roots.iter().map(|setting| &setting.value) {
        if root.path.is_dir() {
            roots.push(root.clone());
        } else {
            context.out.warn(&format!(
                "The root {} of the configuration is not there.",
                root.path.display()
            ));
        }
    }
    if !config.clients.is_empty() {
        let known = known_roots(context)?;
        for name in &config.clients {
            let found = client_roots(config, &name.value)?;
            roots.extend(outermost(context, found, &known));
        }
    }
    roots.extend(config.own_root());
    Ok(without_doubles(roots))
}

/// Leaves out folders of a client that lie inside another root: they are synced as part of it.
fn outermost(context: &Context, found: Vec<Root>, known: &[Root]) -> Vec<Root> {
    let all: Vec<PathBuf> = found
        .iter()
        .chain(known)
        .map(|root| root.path.clone())
        .collect();
    let is_inside = |path: &Path| {
        all.iter()
            .find(|other| *other != path && path.starts_with(other))
    };
    let keep = |root: &Root| match is_inside(&root.path) {
        Some(outer) => {
            let words = format!(
                "{} is synced as part of {}.",
                root.path.display(),
                outer.display()
            );
            context.out.say(&words);
            false
        }
        None => true,
    };
    found.into_iter().filter(keep).collect()
}

fn without_doubles(roots: Vec<Root>) -> Vec<Root> {
    let mut kept: Vec<Root> = Vec::with_capacity(roots.len());
    for root in roots {
        if !kept.iter().any(|other| other.path == root.path) {
            kept.push(root);
        }
    }
    kept
}

fn labelled_root(config: &Config, labelled: &str) -> Result<Root> {
    let usage = |message| Error::Usage {
        message,
        hint: Some("write --root KIND=PATH, for example --root project=.claude/skills".to_owned()),
    };
    let Some((label, path)) = labelled.split_once('=') else {
        return Err(usage(format!("`{labelled}` has no `=`")));
    };
    if let Some(kind) = RootKind::parse(label) {
        return Ok(config.root(Path::new(path), kind));
    }
    let Some(client) = client::find(label) else {
        return Err(usage(format!(
            "`{label}` is neither a kind of root nor a client"
        )));
    };
    let root = config.root(Path::new(path), RootKind::Local);
    Ok(Root {
        client: Some(client.id.clone()),
        ..root
    })
}

/// The folders of a client that are there.
pub(super) fn client_roots(config: &Config, name: &str) -> Result<Vec<Root>> {
    let client = find_client(name)?;
    let roots = config.with_surroundings(|around| client::roots(client, around));
    Ok(roots
        .iter()
        .filter(|root| root.path.is_dir())
        .map(|root| client_root(config, client, root))
        .collect())
}

fn client_root(config: &Config, client: &Client, root: &ClientRoot) -> Root {
    let kind = match root.scope {
        Scope::User => RootKind::Local,
        Scope::Project => RootKind::Project,
        Scope::Managed | Scope::System => RootKind::External,
        Scope::Plugin => RootKind::Plugin,
        Scope::Bundled => RootKind::Bundled,
    };
    let mut made = config.root(&root.path, kind);
    made.writable = root.writable;
    made.priority = i64::from(root.rank);
    made.client = Some(client.id.clone());
    made
}

/// Finds a client by its id or an alias.
pub(super) fn find_client(name: &str) -> Result<&'static client::Client> {
    client::find(name).ok_or_else(|| Error::UnknownClient {
        name: name.to_owned(),
        similar: client::suggest(name).map(str::to_owned),
    })
}

/// Nothing is known yet: names the folders of clients that are there, with the command that adds them.
fn nothing_to_sync(context: &mut Context) -> Result<()> {
    if context.out.json {
        context.out.object(object(&Report::default(), &[]))?;
    }
    context
        .out
        .say("Nothing to sync: this library has no roots yet.");
    let found = folders_of_clients(&context.config)?;
    let Some((first, _)) = found.first() else {
        context
            .out
            .say("Name a folder of skills: skilldb sync FOLDER");
        return Ok(());
    };
    context.out.say("Folders of skills are here:");
    for (folder, clients) in &found {
        context
            .out
            .say(&format!("  {}  ({})", folder.display(), clients.join(", ")));
    }
    context.out.say(&format!(
        "Mirror one with: skilldb sync {}, or all that a client sees with: skilldb sync --client CLIENT",
        first.display()
    ));
    Ok(())
}

/// The folders that are there, each with the clients that look in it.
fn folders_of_clients(config: &Config) -> Result<Vec<(PathBuf, Vec<String>)>> {
    let mut found: Vec<(PathBuf, Vec<String>)> = Vec::new();
    for client in client::all()
        .iter()
        .filter(|client| !client.id.starts_with("agentskills"))
    {
        for root in client_roots(config, &client.id)? {
            match found.iter_mut().find(|(path, _)| *path == root.path) {
                Some((_, clients)) => clients.push(client.id.clone()),
                None => found.push((root.path, vec![client.id.clone()])),
            }
        }
    }
    Ok(found)
}
