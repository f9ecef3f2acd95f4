//! The command line: one file a subcommand, holding its arguments, one call into the library, and
//! what is printed. The only place for clap, the streams, colour and progress.

mod change;
mod completions;
mod config;
mod curate;
mod doctor;
mod export;
mod findings;
mod history;
mod hook;
mod import;
mod list;
mod man;
mod named;
mod output;
mod path;
mod progress;
mod record;
mod refs;
mod relink;
mod roots;
mod scan;
mod search;
mod show;
mod sql;
mod stats;
mod sync;
mod validate;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Parser, Subcommand, ValueEnum};

use crate::config::{ColorChoice, Config, Flags, color_from_environment};
use crate::error::{Error, ErrorKind, Result};
use crate::library::client::{self, ClientRoot};
use crate::time::Timestamp;
use output::Output;

/// The heading of flags that every command takes.
const GLOBAL: &str = "Global options";

/// Keep the skills of your agents: SKILL.md files mirrored into SQLite, open to SQL
#[derive(Debug, Parser)]
#[command(
    name = "skilldb",
    version,
    max_term_width = 100,
    disable_help_subcommand = true,
    after_help = "Examples:
  skilldb sync --client claude-code     mirror the skills Claude Code sees
  skilldb sync ~/skills                 mirror a folder of skills
  skilldb list                          what is there
  skilldb show NAME                     one skill
  skilldb import claude-code            which skills its sessions used
  skilldb hook install claude-code      keep that current from now on
  skilldb stats                         most used, never used, rising and falling
  skilldb patch NAME --old A --new B    change a skill; `undo` takes it back
  skilldb log                           what was changed, by whom and why
  skilldb sql duplicates                a named query
  skilldb sql 'SELECT name, size FROM v_skill ORDER BY size DESC LIMIT 5'

Exit codes: 0 fine (also: nothing to do), 1 problems found, refused or not found, 2 wrong usage or
ambiguous name, 3 database locked, damaged or newer than this binary.
Nothing leaves this machine."
)]
struct Cli {
    /// Use this library's home folder instead of $SKILLDB_HOME or ~/.skilldb
    #[arg(long, global = true, value_name = "DIR", help_heading = GLOBAL)]
    home: Option<PathBuf>,
    /// Print data as one JSON object
    #[arg(long, global = true, help_heading = GLOBAL)]
    json: bool,
    /// When to colour
    #[arg(long, global = true, value_enum, value_name = "WHEN", help_heading = GLOBAL)]
    color: Option<When>,
    /// Say nothing but data and problems
    #[arg(short, long, global = true, help_heading = GLOBAL)]
    quiet: bool,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum When {
    Auto,
    Always,
    Never,
}

impl Command {
    /// Whether the caller must not be failed: a client's hook, or a best effort.
    fn is_lenient(&self) -> bool {
        match self {
            Self::Record(args) => args.is_best_effort(),
            Self::Hook(args) => args.is_called_by_client(),
            Self::Import(args) => args.is_hook(),
            _ => false,
        }
    }
}

#[derive(Debug, Subcommand)]
enum Command {
    Sync(sync::Args),
    List(list::Args),
    Show(show::Args),
    Search(search::Args),
    Validate(validate::Args),
    Scan(scan::Args),
    Roots(roots::Args),
    Sql(sql::Args),
    Stats(stats::Args),
    Record(Box<record::Args>),
    Import(import::Args),
    Hook(hook::Args),
    Export(export::Args),
    Doctor(doctor::Args),
    Relink(relink::Args),
    Create(change::create::Args),
    Edit(change::edit::Args),
    Patch(change::patch::Args),
    Write(change::files::WriteArgs),
    RmFile(change::files::RemoveArgs),
    Rename(change::rename::Args),
    Merge(change::merge::Args),
    Refs(refs::Args),
    Curate(curate::Args),
    Archive(change::places::ArchiveArgs),
    Restore(change::places::RestoreArgs),
    Delete(change::places::DeleteArgs),
    Pin(change::marks::PinArgs),
    Unpin(change::marks::UnpinArgs),
    Enable(change::marks::EnableArgs),
    Disable(change::marks::DisableArgs),
    Adopt(change::marks::AdoptArgs),
    Release(change::marks::ReleaseArgs),
    Log(history::log::Args),
    Diff(history::diff::Args),
    Undo(history::undo::Args),
    Proposals(history::proposals::Args),
    Snapshot(history::snapshot::Args),
    Purge(history::purge::Args),
    Backup(history::backup::BackupArgs),
    MergeBackup(history::backup::MergeArgs),
    Config(config::Args),
    Path(path::Args),
    Completions(completions::Args),
    Man(man::Args),
}

/// What every command gets.
struct Context {
    config: Config,
    now: Timestamp,
    out: Output,
}

/// Runs the command line and returns the exit code of the process.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    let cli = match Cli::try_parse_from(&arguments) {
        Ok(cli) => cli,
        Err(error) if error.use_stderr() && is_called_by_client(&arguments) => {
            // A client takes a failure for a verdict on what it does, and wants to say all it has to say.
            let _ = std::io::copy(&mut std::io::stdin().lock(), &mut std::io::sink());
            return ExitCode::SUCCESS;
        }
        Err(error) => return not_parsed(&error, &arguments),
    };
    let json = cli.json;
    let is_lenient = cli.command.is_lenient();
    let is_hook = is_lenient && !matches!(cli.command, Command::Record(_));
    let from_environment =
        color_from_environment().map_or(ColorChoice::Auto, |setting| setting.value);
    let mut color = cli.color.map_or(from_environment, choice);
    match execute(cli, &mut color) {
        Ok(()) => ExitCode::SUCCESS,
        // A client that calls a hook takes a failure for a verdict on what it does.
        Err(_) if is_hook => ExitCode::SUCCESS,
        // No reason to fail whoever only wants to be counted; wrong words are another matter.
        Err(error)
            if is_lenient
                && (matches!(error, Error::Config { .. }) || error.kind() != ErrorKind::Usage) =>
        {
            output::tell(&format!("skilldb: {}", output::clean(&error.to_string())));
            ExitCode::SUCCESS
        }
        Err(error) => {
            let is_told = matches!(error, Error::ProblemsFound) || error.kind() == ErrorKind::Quiet;
            if !is_told {
                output::fail(&error, json, color);
            }
            ExitCode::from(error.kind().exit_code())
        }
    }
}

/// Whether the words are those of a client's hook, whatever else is wrong with them.
fn is_called_by_client(arguments: &[OsString]) -> bool {
    arguments
        .windows(2)
        .any(|words| words[0] == "hook" && (words[1] == "claude-code" || words[1] == "codex"))
}

/// Returns what tells the folders a client looks into when it runs in a project. Without a project only
/// those of the user and the machine are looked at.
fn client_folders(config: &Config) -> impl Fn(&str, Option<&Path>) -> Vec<ClientRoot> + '_ {
    |client, project| {
        let Some(client) = client::find(client) else {
            return Vec::new();
        };
        let cwd = project.unwrap_or(Path::new("/"));
        config.with_surroundings_in(cwd, |around| client::roots(client, around))
    }
}

/// Tells what clap says: help and version as they are, an error as an object where `--json` was typed.
fn not_parsed(error: &clap::Error, arguments: &[OsString]) -> ExitCode {
    if error.use_stderr() && arguments.iter().any(|argument| argument == "--json") {
        let words = error.render().to_string();
        let lines: Vec<&str> = words
            .lines()
            .map(str::trim)
            .filter(|line| !line.is_empty())
            .collect();
        let is_message = |line: &&&str| !line.starts_with("tip: ") && !line.starts_with("Usage: ");
        let message: Vec<&str> = lines.iter().take_while(is_message).copied().collect();
        let error = Error::Usage {
            message: message.join(" ").trim_start_matches("error: ").to_owned(),
            hint: lines
                .iter()
                .find_map(|line| line.strip_prefix("tip: "))
                .map(str::to_owned),
        };
        output::fail(&error, true, ColorChoice::Never);
        return ExitCode::from(error.kind().exit_code());
    }
    // A closed pipe has nobody left to tell.
    let _ = error.print();
    ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2))
}

fn choice(when: When) -> ColorChoice {
    match when {
        When::Auto => ColorChoice::Auto,
        When::Always => ColorChoice::Always,
        When::Never => ColorChoice::Never,
    }
}

/// Runs the command; `color` becomes what the settings say as soon as they are read.
fn execute(cli: Cli, color: &mut ColorChoice) -> Result<()> {
    // These two describe the program itself and must work whatever the configuration says.
    match &cli.command {
        Command::Completions(args) => return completions::run(args),
        Command::Man(args) => return man::run(args),
        _ => {}
    }
    let flags = Flags {
        home: cli.home,
        color: cli.color.map(choice),
    };
    let (config, trouble) = match Config::load(&flags) {
        Ok(config) => (config, None),
        // A use is counted although a settings file is broken: no reason to lose it.
        Err(error) if cli.command.is_lenient() => {
            (Config::load_without_files(&flags)?, Some(error))
        }
        Err(error) => return Err(error),
    };
    *color = config.color.value;
    let out = Output::new(*color, cli.json, cli.quiet);
    let now = config.clock.now();
    let mut context = Context { config, now, out };
    if let Some(error) = trouble {
        match &cli.command {
            Command::Record(_) => {
                output::tell(&format!("skilldb: {}", output::clean(&error.to_string())));
            }
            _ => hook::log(&context, &error.to_string()),
        }
    }
    let result = match cli.command {
        Command::Sync(args) => sync::run(&mut context, &args),
        Command::List(args) => list::run(&mut context, &args),
        Command::Show(args) => show::run(&mut context, &args),
        Command::Search(args) => search::run(&mut context, &args),
        Command::Validate(args) => validate::run(&mut context, &args),
        Command::Scan(args) => scan::run(&mut context, &args),
        Command::Roots(args) => roots::run(&mut context, &args),
        Command::Sql(args) => sql::run(&mut context, &args),
        Command::Stats(args) => stats::run(&mut context, &args),
        Command::Record(args) => record::run(&mut context, &args),
        Command::Import(args) => import::run(&mut context, &args),
        Command::Hook(args) => hook::run(&mut context, &args),
        Command::Export(args) => export::run(&mut context, &args),
        Command::Doctor(args) => doctor::run(&mut context, &args),
        Command::Relink(args) => relink::run(&mut context, &args),
        Command::Create(args) => change::create::run(&mut context, &args),
        Command::Edit(args) => change::edit::run(&mut context, &args),
        Command::Patch(args) => change::patch::run(&mut context, &args),
        Command::Write(args) => change::files::write(&mut context, &args),
        Command::RmFile(args) => change::files::remove(&mut context, &args),
        Command::Rename(args) => change::rename::run(&mut context, &args),
        Command::Merge(args) => change::merge::run(&mut context, &args),
        Command::Refs(args) => refs::run(&mut context, &args),
        Command::Curate(args) => curate::run(&mut context, &args),
        Command::Archive(args) => change::places::archive(&mut context, &args),
        Command::Restore(args) => change::places::restore(&mut context, &args),
        Command::Delete(args) => change::places::delete(&mut context, &args),
        Command::Pin(args) => change::marks::pin(&mut context, &args),
        Command::Unpin(args) => change::marks::unpin(&mut context, &args),
        Command::Enable(args) => change::marks::enable(&mut context, &args),
        Command::Disable(args) => change::marks::disable(&mut context, &args),
        Command::Adopt(args) => change::marks::adopt(&mut context, &args),
        Command::Release(args) => change::marks::release(&mut context, &args),
        Command::Log(args) => history::log::run(&mut context, &args),
        Command::Diff(args) => history::diff::run(&mut context, &args),
        Command::Undo(args) => history::undo::run(&mut context, &args),
        Command::Snapshot(args) => history::snapshot::run(&mut context, &args),
        Command::Backup(args) => history::backup::backup(&mut context, &args),
        Command::MergeBackup(args) => history::backup::merge(&mut context, &args),
        Command::Purge(args) => history::purge::run(&mut context, &args),
        Command::Proposals(args) => history::proposals::run(&mut context, &args),
        Command::Config(args) => config::run(&mut context, &args),
        Command::Path(args) => path::run(&mut context, &args),
        Command::Completions(_) | Command::Man(_) => Ok(()),
    };
    // Data that was printed before a failure belongs to the reader all the same.
    context.out.flush().and(result)
}
