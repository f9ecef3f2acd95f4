//! What a client calls: reads what it says, records, and never lets it feel any trouble.

use std::fs;
use std::io::{self, Read, Write};
use std::path::Path;

use serde_json::Value;

use crate::cli::output::clean;
use crate::cli::{Context, client_folders, record};
use crate::error::{Error, Result};
use crate::share::hook::{self, Heard};
use crate::share::import::{self, LineClient, Options};
use crate::store::Store;
use crate::sync::Silence;
use crate::usage::{self, Recording, Resolver};

/// Most of an input that is kept in memory, in bytes: a tool's answer may be a whole file.
const MOST: u64 = 64 * 1024 * 1024;

pub(super) fn heed(context: &Context, client: LineClient) -> Result<()> {
    match read_input() {
        Ok(input) => {
            if let Err(error) = handle(context, client, &input) {
                log(context, &words(&error));
            }
        }
        Err(words) => log(context, &words),
    }
    Ok(())
}

/// Reads all of standard input, so that the client can write all of it.
fn read_input() -> std::result::Result<Value, String> {
    let mut stdin = io::stdin().lock();
    let mut input = Vec::new();
    stdin
        .by_ref()
        .take(MOST)
        .read_to_end(&mut input)
        .and_then(|_| io::copy(&mut stdin, &mut io::sink()))
        .map_err(|error| format!("could not read the input: {error}"))?;
    hook::parse(&input).map_err(|error| format!("the input is no JSON: {error}"))
}

fn words(error: &Error) -> String {
    let cause =
        std::error::Error::source(error).map_or_else(String::new, |cause| format!(": {cause}"));
    format!("{error}{cause}")
}

fn handle(context: &Context, client: LineClient, input: &Value) -> Result<()> {
    // Most of what a client tells needs no database, and then none is opened.
    if !hook::is_of_interest(client, input) {
        return Ok(());
    }
    let home = &context.config.home.value;
    let mut store = match record::open_briefly(home) {
        Ok(store) => store,
        Err(error) => return keep(context, client, input, error),
    };
    let user_home = &context.config.user_home;
    match hook::hear(client, input, &store, user_home, context.now) {
        Heard::Nothing => Ok(()),
        Heard::Transcript(path) => import_file(context, client, &path),
        Heard::Uses(uses) => record_uses(context, &mut store, uses),
    }
}

fn record_uses(context: &Context, store: &mut Store, uses: Vec<Recording>) -> Result<()> {
    let home = &context.config.home.value;
    let roots = client_folders(&context.config);
    let mut resolver = Resolver::new(&roots);
    let mut trouble = None;
    for mut used in uses {
        used.machine = Some(context.config.machine.clone());
        if let Err(error) = usage::record(store, &mut resolver, used.clone(), context.now) {
            usage::keep_for_later(home, used, context.now)?;
            trouble = Some(error);
        }
    }
    match trouble {
        Some(error) => Err(error),
        None => usage::absorb(home, store, &mut resolver, context.now, usage::A_LITTLE),
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

/// Imports the session that the hook input on standard input names. Never fails; what went wrong is logged.
pub(in crate::cli) fn import_session(context: &Context, client: LineClient) {
    let imported = read_input().and_then(|input| match hook::transcript(&input) {
        Some(path) => import_file(context, client, &path).map_err(|error| words(&error)),
        None => Ok(()),
    });
    if let Err(words) = imported {
        log(context, &words);
    }
}

fn import_file(context: &Context, client: LineClient, path: &Path) -> Result<()> {
    let home = &context.config.home.value;
    let mut store = record::open_briefly(home)?;
    let roots = client_folders(&context.config);
    let library = context.config.library();
    let options = Options {
        since: None,
        now: context.now,
        machine: &context.config.machine,
        library: &library,
        shared: &[],
        user_home: &context.config.user_home,
        roots: &roots,
        progress: &Silence,
    };
    let mut resolver = Resolver::new(&roots);
    usage::absorb(
        home,
        &mut store,
        &mut resolver,
        context.now,
        usage::A_LITTLE,
    )?;
    import::import_lines(&mut store, client, path, &options)?;
    // Claude Code keeps the files of a session's subagents in a folder of the session's name.
    let folder = path.with_extension("");
    if folder.is_dir() {
        import::import_lines(&mut store, client, &folder, &options)?;
    }
    Ok(())
}

pub(super) const LOG: &str = "logs/hook.log";
/// Beyond this many bytes the log begins anew, keeping the one before.
const LOG_SIZE: u64 = 256 * 1024;

/// Notes what went wrong in a hook. Where not even that can be written there is nobody to tell.
pub(in crate::cli) fn log(context: &Context, words: &str) {
    let path = context.config.home.value.join(LOG);
    let write = || -> io::Result<()> {
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
