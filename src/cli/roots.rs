//! `skilldb roots`.

use std::path::PathBuf;

use clap::Subcommand;
use serde_json::{Value, json};

use super::output::{clean, columns, grouped, one_line, plural};
use super::{Context, progress, sync as sync_command};
use crate::config::{Origin, Setting};
use crate::error::{Error, Result};
use crate::library::client;
use crate::library::{RootKind, client::Scope};
use crate::store::{LibraryLock, RootRow, Store};
use crate::sync::{self, Options, Selection};

/// List the folders of the library, add and remove them
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  skilldb roots
  skilldb roots add ~/work/skills --kind external
  skilldb roots remove ~/work/skills
  skilldb roots --clients                where each known client looks, seen from here")]
pub(super) struct Args {
    #[command(subcommand)]
    command: Option<RootsCommand>,
    /// Where each known client looks for skills, seen from the current folder
    #[arg(long)]
    clients: bool,
}

#[derive(Debug, Subcommand)]
enum RootsCommand {
    /// Add a folder and sync it
    Add(AddArgs),
    /// Take a folder out of the library; files, history and usage stay
    Remove(RemoveArgs),
}

#[derive(Debug, clap::Args)]
struct AddArgs {
    /// The folder
    path: PathBuf,
    /// What sort of folder it is: local, project, external, bundled, hub, plugin
    #[arg(long, default_value = "local")]
    kind: String,
    /// The client whose folder it is
    #[arg(long)]
    client: Option<String>,
    /// Order among the roots; lower comes first
    #[arg(long, default_value_t = 0, allow_negative_numbers = true)]
    priority: i64,
}

#[derive(Debug, clap::Args)]
struct RemoveArgs {
    /// The folder
    path: PathBuf,
    /// Say what would be done and do nothing
    #[arg(long)]
    dry_run: bool,
}

pub(super) fn run(context: &mut Context, args: &Args) -> Result<()> {
    match &args.command {
        Some(RootsCommand::Add(args)) => add(context, args),
        Some(RootsCommand::Remove(args)) => remove(context, args),
        None if args.clients => clients(context),
        None => list(context),
    }
}

fn list(context: &mut Context) -> Result<()> {
    let store = context.read()?;
    let mut rows = vec![
        ["KIND", "SKILLS", "REFUSED", "MISSING", "CLIENT", "PATH"]
            .map(str::to_owned)
            .to_vec(),
    ];
    let mut objects: Vec<Value> = Vec::new();
    for root in store.roots()? {
        let counts = store.root_counts(root.id)?;
        let there = root.path.is_dir();
        objects.push(json!({
            "path": root.path.to_string_lossy(), "kind": root.kind, "priority": root.priority, "writable": root.writable,
            "client": root.client, "present": there, "skills": counts.present - counts.refused.min(counts.present),
            "archived": counts.archived, "refused": counts.refused, "missing": counts.missing,
        }));
        let path = if there {
            one_line(&root.path.to_string_lossy())
        } else {
            format!("{} (not there)", one_line(&root.path.to_string_lossy()))
        };
        rows.push(vec![
            root.kind,
            grouped(counts.present.saturating_sub(counts.refused)),
            grouped(counts.refused),
            grouped(counts.missing),
            root.client.unwrap_or_else(|| "-".to_owned()),
            path,
        ]);
    }
    if context.out.json {
        return context.out.object(json!({"roots": objects}));
    }
    let count = rows.len() as u64 - 1;
    if context.out.width.is_none() {
        return rows
            .iter()
            .skip(1)
            .try_for_each(|row| context.out.line(&row.join("\t")));
    }
    context.out.table(&rows)?;
    context.out.flush()?;
    context.out.say(&format!("{}.", plural(count, "root")));
    Ok(())
}

fn clients(context: &mut Context) -> Result<()> {
    let mut objects: Vec<Value> = Vec::new();
    let mut rows = Vec::new();
    for client in client::all() {
        for root in context
            .config
            .with_surroundings(|around| client::roots(client, around))
        {
            let there = root.path.is_dir();
            objects.push(json!({"client": client.id, "path": root.path.to_string_lossy(), "scope": scope_word(root.scope), "rank": root.rank, "present": there}));
            let mark = if there { "there" } else { "-" };
            rows.push(vec![
                client.id.clone(),
                scope_word(root.scope).to_owned(),
                mark.to_owned(),
                root.path.display().to_string(),
            ]);
        }
    }
    if context.out.json {
        return context.out.object(json!({"clients": objects}));
    }
    if context.out.width.is_none() {
        return rows
            .iter()
            .try_for_each(|row| context.out.line(&row.join("\t")));
    }
    columns(&rows)
        .iter()
        .try_for_each(|line| context.out.line(line))
}

fn scope_word(scope: Scope) -> &'static str {
    match scope {
        Scope::Managed => "managed",
        Scope::System => "system",
        Scope::User => "user",
        Scope::Project => "project",
        Scope::Plugin => "plugin",
        Scope::Bundled => "bundled",
    }
}

fn add(context: &mut Context, args: &AddArgs) -> Result<()> {
    let kind = RootKind::parse(&args.kind).ok_or_else(|| Error::Usage {
        message: format!("`{}` is no kind of root", args.kind),
        hint: Some(format!(
            "one of {}",
            RootKind::ALL.map(RootKind::as_str).join(", ")
        )),
    })?;
    let mut root = context.config.root(&args.path, kind);
    root.priority = args.priority;
    if let Some(name) = &args.client {
        root.client = Some(sync_command::find_client(name)?.id.clone());
    }
    let options = Options {
        rebuild: false,
        checksum: false,
        allow_mass_delete: false,
        dry_run: false,
        support_budget: context.config.support_budget.value,
    };
    let progress = progress::for_stderr();
    let report = sync::sync(
        &context.config.home.value,
        Selection::Named(std::slice::from_ref(&root)),
        options,
        context.now,
        (progress.as_ref(), &context.mender()),
    )?;
    if context.out.json {
        return context.out.object(json!({"added": root.path.to_string_lossy(), "kind": kind.as_str(), "skills": report.loaded(), "refused": report.counts.refused}));
    }
    context.out.line(&format!(
        "{} ({kind}): {} loaded, {} refused",
        root.path.display(),
        plural(report.loaded(), "skill"),
        report.counts.refused
    ))
}

fn remove(context: &mut Context, args: &RemoveArgs) -> Result<()> {
    context.check_person("take a folder out of the library")?;
    let home = context.config.home.value.clone();
    let path = context.config.root(&args.path, RootKind::Local).path;
    let progress = progress::for_stderr();
    let _lock = LibraryLock::take(&home, || progress.waiting())?;
    let mut store =
        Store::open(&home, context.now)?.ok_or_else(|| Error::NoLibrary { path: home.clone() })?;
    context.mender()(&mut store)?;
    let known: Vec<RootRow> = store.roots()?;
    // A folder that is gone cannot be resolved: then the path counts as typed.
    let root = known
        .into_iter()
        .find(|root| root.path == path || root.path == args.path)
        .ok_or_else(|| Error::UnknownRoot {
            path: args.path.clone(),
        })?;
    let configured = context
        .config
        .roots
        .iter()
        .find(|setting| setting.value.path == root.path);
    if let Some(Setting {
        origin: Origin::File(file),
        ..
    }) = configured
    {
        return Err(Error::Config {
            path: Some(file.clone()),
            line: None,
            message: format!(
                "names {} as a root, so the next sync would add it again",
                root.path.display()
            ),
            hint: Some("take it out of that file first".to_owned()),
        });
    }
    let skills = store.root_counts(root.id)?.present;
    if !args.dry_run {
        let now = context.now;
        store.write(|tx| {
            tx.remove_root(&root.path.to_string_lossy(), now)?;
            tx.raise_generation()
        })?;
    }
    if context.out.json {
        return context.out.object(json!({"removed": root.path.to_string_lossy(), "skills": skills, "dry_run": args.dry_run}));
    }
    let note = if args.dry_run {
        " (dry run: nothing was written)"
    } else {
        ""
    };
    context.out.line(&format!(
        "{} is no root any more; {} left the listings{note}",
        clean(&root.path.to_string_lossy()),
        plural(skills, "skill")
    ))?;
    context.out.flush()?;
    context
        .out
        .say("Files, history and usage stay; adding the folder again brings all of it back.");
    Ok(())
}
