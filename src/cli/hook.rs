//! `skilldb hook`.

use std::fs;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use clap::{Subcommand, ValueEnum};
use serde_json::{Value, json};
use similar::TextDiff;

use super::output::{clean, plural};
use super::progress::Quiet;
use super::{Context, client_folders, record};
use crate::error::{Error, Result};
use crate::share::hook::{self, Edit, FoundHook, Heard, Setup};
use crate::share::import::{self, LineClient, Options};
use crate::usage::{self, Recording, Resolver};

/// Record uses as they happen: the command for a client's hooks, and how to install it
///
/// `hook claude-code` and `hook codex` read the client's input on standard input, record, print nothing
/// and always exit 0. A later import of the same session counts nothing twice.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  skilldb hook install claude-code --dry-run     the change to ~/.claude/settings.json
  skilldb hook install claude-code
  skilldb hook status
  skilldb hook uninstall claude-code")]
pub(super) struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// What Claude Code calls
    ClaudeCode(Heed),
    /// What Codex calls
    Codex(Heed),
    /// Put the hooks into a client's settings file
    Install(Install),
    /// Take them out again
    Uninstall(Install),
    /// Say which hooks are installed, and what went wrong in them
    Status,
}

#[derive(Debug, clap::Args)]
struct Heed {
    /// Ignored: a client may hand over more than it is asked to
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, hide = true)]
    rest: Vec<String>,
}

#[derive(Debug, clap::Args)]
struct Install {
    /// The client
    #[arg(value_name = "CLIENT", value_enum)]
    client: Client,
    /// In the project's settings instead of the user's
    #[arg(long, conflicts_with = "file")]
    project: bool,
    /// In this settings file
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,
    /// Show the change and do nothing
    #[arg(long)]
    dry_run: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Client {
    /// `settings.json` in ~/.claude
    ClaudeCode,
    /// `hooks.json` in ~/.codex
    Codex,
}

impl Client {
    const ALL: [Self; 2] = [Self::ClaudeCode, Self::Codex];

    fn lines(self) -> LineClient {
        match self {
            Self::ClaudeCode => LineClient::ClaudeCode,
            Self::Codex => LineClient::Codex,
        }
    }
}

impl Args {
    /// Whether a client calls, which must neither be failed nor be told anything.
    pub(super) fn is_called_by_client(&self) -> bool {
        matches!(self.action, Action::ClaudeCode(_) | Action::Codex(_))
    }
}

pub(super) fn run(context: &mut Context, args: &Args) -> Result<()> {
    match &args.action {
        Action::ClaudeCode(_) => heed(context, LineClient::ClaudeCode),
        Action::Codex(_) => heed(context, LineClient::Codex),
        Action::Install(install) => edit(context, install, true),
        Action::Uninstall(install) => edit(context, install, false),
        Action::Status => status(context),
    }
}

/// Most of an input that is read, in bytes: a tool's answer may be a whole file.
const MOST: u64 = 16 * 1024 * 1024;

fn heed(context: &Context, client: LineClient) -> Result<()> {
    let mut input = Vec::new();
    let read = std::io::stdin().lock().take(MOST).read_to_end(&mut input);
    if let Err(error) = read {
        log(context, &format!("could not read the input: {error}"));
        return Ok(());
    }
    match serde_json::from_slice(&input) {
        Ok(input) => {
            if let Err(error) = handle(context, client, &input) {
                log(context, &words(&error));
            }
        }
        Err(error) => log(context, &format!("the input is no JSON: {error}")),
    }
    Ok(())
}

fn words(error: &Error) -> String {
    let cause =
        std::error::Error::source(error).map_or_else(String::new, |cause| format!(": {cause}"));
    format!("{error}{cause}")
}

fn handle(context: &Context, client: LineClient, input: &Value) -> Result<()> {
    let home = &context.config.home.value;
    // Most of what Claude Code tells needs no database, and then none is opened.
    let mut store = match record::open(home, context.now, false) {
        Ok(store) => store,
        Err(error) => return keep(context, client, input, error),
    };
    store.be_brief()?;
    let heard = hook::hear(
        client,
        input,
        &store,
        &context.config.user_home,
        context.now,
    );
    let uses = match heard {
        Heard::Nothing => return Ok(()),
        Heard::Transcript(path) => return import_file(context, client, &path),
        Heard::Uses(uses) => uses,
    };
    let roots = client_folders(&context.config);
    let mut resolver = Resolver::new(&roots);
    let mut trouble = None;
    for mut used in uses {
        used.machine = Some(context.config.machine.clone());
        if let Err(error) = usage::record(&mut store, &mut resolver, used.clone(), context.now) {
            usage::keep_for_later(home, used, context.now)?;
            trouble = Some(error);
        }
    }
    match trouble {
        Some(error) => Err(error),
        None => usage::absorb(home, &mut store, &mut resolver, context.now).map(|_| ()),
    }
}

/// The database cannot be opened: what Claude Code says of a use needs none to be understood.
fn keep(context: &Context, client: LineClient, input: &Value, error: Error) -> Result<()> {
    let uses: Vec<Recording> = match client {
        LineClient::ClaudeCode => hook::hear_claude(input, context.now),
        // The session's end imports what this one would have heard.
        LineClient::Codex => Vec::new(),
    };
    for mut used in uses {
        used.machine = Some(context.config.machine.clone());
        usage::keep_for_later(&context.config.home.value, used, context.now)?;
    }
    Err(error)
}

/// Imports the session a hook's input names. Never fails; what went wrong is logged.
pub(super) fn import_session(context: &Context, client: LineClient, input: &[u8]) {
    let result = serde_json::from_slice::<Value>(input)
        .map_err(|error| Error::Usage {
            message: format!("the input is no JSON: {error}"),
            hint: None,
        })
        .map(|input| hook::transcript(&input))
        .and_then(|path| match path {
            Some(path) => import_file(context, client, &path),
            None => Ok(()),
        });
    if let Err(error) = result {
        log(context, &words(&error));
    }
}

fn import_file(context: &Context, client: LineClient, path: &Path) -> Result<()> {
    let mut store = record::open(&context.config.home.value, context.now, false)?;
    let roots = client_folders(&context.config);
    let library = context.config.library();
    let options = Options {
        since: None,
        now: context.now,
        machine: &context.config.machine,
        library: &library,
        user_home: &context.config.user_home,
        roots: &roots,
        progress: &Quiet,
    };
    import::import_lines(&mut store, client, path, &options)?;
    // Claude Code keeps the files of a session's subagents in a folder of the session's name.
    let folder = path.with_extension("");
    if folder.is_dir() {
        import::import_lines(&mut store, client, &folder, &options)?;
    }
    Ok(())
}

const LOG: &str = "logs/hook.log";
/// Beyond this many bytes the log begins anew, keeping the one before.
const LOG_SIZE: u64 = 256 * 1024;

/// Notes what went wrong in a hook. Where not even that can be written there is nobody to tell.
pub(super) fn log(context: &Context, words: &str) {
    let path = context.config.home.value.join(LOG);
    let write = || -> std::io::Result<()> {
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        if fs::metadata(&path).is_ok_and(|metadata| metadata.len() > LOG_SIZE) {
            fs::rename(&path, path.with_extension("log.1"))?;
        }
        let mut file = fs::File::options().append(true).create(true).open(&path)?;
        file.write_all(format!("{} {}\n", context.now, clean(words)).as_bytes())
    };
    let _ = write();
}

fn setup(context: &Context, install: &Install) -> Setup {
    let config = &context.config;
    let (folder, name) = match install.client {
        Client::ClaudeCode => (".claude", "settings.json"),
        Client::Codex => (".codex", "hooks.json"),
    };
    let file = match &install.file {
        Some(file) => config.cwd.join(file),
        None if install.project => config.cwd.join(folder).join(name),
        None => config.client_home(install.client.lines().id()).join(name),
    };
    Setup {
        client: install.client.lines(),
        file,
        program: config.program(),
    }
}

fn edit(context: &mut Context, install: &Install, is_install: bool) -> Result<()> {
    let setup = setup(context, install);
    let edit = if is_install {
        hook::plan_install(&setup)?
    } else {
        hook::plan_uninstall(&setup)?
    };
    let backup = if install.dry_run || edit.is_empty() {
        None
    } else {
        hook::apply(&edit, context.now)?
    };
    let diff = diff(&edit);
    if context.out.json {
        return context.out.object(json!({
            "client": setup.client.id(),
            "file": edit.file.to_string_lossy(),
            "changed": !edit.is_empty(),
            "dry_run": install.dry_run,
            "backup": backup.map(|path| path.to_string_lossy().into_owned()),
            "diff": diff,
        }));
    }
    let file = edit.file.display();
    if edit.is_empty() {
        let state = if is_install { "already" } else { "not" };
        context
            .out
            .say(&format!("The hooks are {state} in {file}: nothing to do."));
        return Ok(());
    }
    context.out.bytes(diff.as_bytes())?;
    if install.dry_run {
        context.out.say("Dry run: nothing was written.");
        return Ok(());
    }
    let id = setup.client.id();
    let done = if is_install {
        "Installed in"
    } else {
        "Taken out of"
    };
    context.out.say(&format!("{done} {file}."));
    if let Some(backup) = backup {
        context
            .out
            .say(&format!("The file as it was: {}", backup.display()));
    }
    if is_install && install.client == Client::Codex {
        context.out.say("Older versions of Codex read it only with `codex_hooks = true` below `[features]` in config.toml.");
    }
    let other = if is_install { "uninstall" } else { "install" };
    let place = match &install.file {
        Some(file) => {
            let file = file.to_string_lossy();
            format!(" --file {}", shlex::try_quote(&file).unwrap_or_default())
        }
        None if install.project => " --project".to_owned(),
        None => String::new(),
    };
    context
        .out
        .say(&format!("Undo: skilldb hook {other} {id}{place}"));
    Ok(())
}

fn diff(edit: &Edit) -> String {
    let name = edit.file.to_string_lossy();
    TextDiff::from_lines(&edit.before, &edit.after)
        .unified_diff()
        .context_radius(3)
        .header(&name, &name)
        .to_string()
}

fn status(context: &mut Context) -> Result<()> {
    let mut clients = Vec::new();
    for client in Client::ALL {
        for project in [false, true] {
            let install = Install {
                client,
                project,
                file: None,
                dry_run: true,
            };
            let setup = setup(context, &install);
            let (found, missing) = match hook::status(&setup) {
                Ok(found) => found,
                Err(error) => {
                    context.out.warn(&clean(&error.to_string()));
                    continue;
                }
            };
            let is_told = clients
                .iter()
                .any(|(other, ..): &(Setup, _, _)| other.file == setup.file);
            if !is_told && (!project || !found.is_empty()) {
                clients.push((setup, found, missing));
            }
        }
    }
    let (troubles, last) = troubles(&context.config.home.value);
    let waiting = usage::pending(&context.config.home.value);
    if context.out.json {
        let list: Vec<Value> = clients
            .iter()
            .map(|(setup, found, missing)| status_object(setup, found, missing))
            .collect();
        return context.out.object(
            json!({"hooks": list, "troubles": troubles, "last_trouble": last, "waiting": waiting}),
        );
    }
    for (setup, found, missing) in &clients {
        context.out.line(&status_line(setup, found, missing))?;
    }
    if troubles > 0 {
        context.out.line(&format!(
            "{} in {LOG}; the last: {}",
            plural(troubles, "trouble"),
            clean(&last.unwrap_or_default())
        ))?;
    }
    if waiting > 0 {
        context.out.line(&format!(
            "{} kept for later: the next record, sync or import takes them in",
            plural(waiting, "event")
        ))?;
    }
    Ok(())
}

fn status_line(setup: &Setup, found: &[FoundHook], missing: &[FoundHook]) -> String {
    let events = |hooks: &[FoundHook]| {
        let names: Vec<&str> = hooks.iter().map(|hook| hook.event.as_str()).collect();
        clean(&names.join(", ")).into_owned()
    };
    let file = setup.file.display();
    let id = setup.client.id();
    match (found, missing) {
        ([], _) => format!("{id}: not installed in {file} (skilldb hook install {id})"),
        (found, []) => format!("{id}: installed in {file}: {}", events(found)),
        (found, missing) => format!(
            "{id}: in {file}: {}; not there: {} (skilldb hook install {id})",
            events(found),
            events(missing)
        ),
    }
}

fn status_object(setup: &Setup, found: &[FoundHook], missing: &[FoundHook]) -> Value {
    let list = |hooks: &[FoundHook]| -> Vec<Value> {
        hooks
            .iter()
            .map(|hook| json!({"event": hook.event, "matcher": hook.matcher, "command": hook.command}))
            .collect()
    };
    json!({"client": setup.client.id(), "file": setup.file.to_string_lossy(), "installed": list(found), "missing": list(missing)})
}

/// How many lines the log has, and the last one.
fn troubles(home: &Path) -> (u64, Option<String>) {
    let text = fs::read_to_string(home.join(LOG)).unwrap_or_default();
    (
        text.lines().count() as u64,
        text.lines().next_back().map(str::to_owned),
    )
}
