//! Puts hooks into a client's settings file, and takes them out: nothing else in it changes.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::settings::{self, FoundHook, HookEntry, SettingsError};
use crate::error::{Error, Result};
use crate::library::files;
use crate::share::import::LineClient;
use crate::time::Timestamp;

/// What is to be installed where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Setup {
    /// The client.
    pub client: LineClient,
    /// Its settings file.
    pub file: PathBuf,
    /// How to call skilldb, quoted for a shell, with its global flags.
    pub program: String,
}

/// An edit of a settings file, not yet made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edit {
    /// The file, links resolved.
    pub file: PathBuf,
    /// Its text; empty when it is not there.
    pub before: String,
    /// Its text after the edit.
    pub after: String,
}

impl Edit {
    /// Whether anything would change.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.before == self.after
    }
}

/// Event, matcher, whether the transcript is imported, seconds it may take.
type Event = (&'static str, Option<&'static str>, bool, u32);

const CLAUDE: [Event; 4] = [
    ("PostToolUse", Some("Skill"), false, 5),
    ("PostToolUseFailure", Some("Skill"), false, 5),
    ("UserPromptExpansion", None, false, 5),
    ("SessionEnd", None, true, 30),
];
const CODEX: [Event; 3] = [
    ("UserPromptSubmit", None, false, 5),
    ("PostToolUse", None, false, 5),
    ("Stop", None, false, 30),
];

impl Setup {
    fn events(&self) -> &'static [Event] {
        match self.client {
            LineClient::ClaudeCode => &CLAUDE,
            LineClient::Codex => &CODEX,
        }
    }

    /// The hooks this client gets: event, matcher, command, seconds.
    #[must_use]
    pub fn hooks(&self) -> Vec<(FoundHook, u32)> {
        let id = self.client.id();
        let hook = |(event, matcher, is_import, seconds): &Event| {
            let command = if *is_import {
                format!("{} import {id} --session-from-stdin", self.program)
            } else {
                format!("{} hook {id}", self.program)
            };
            let found = FoundHook {
                event: (*event).to_owned(),
                matcher: matcher.map(str::to_owned),
                command,
            };
            (found, *seconds)
        };
        self.events().iter().map(hook).collect()
    }
}

/// Whether a command of a settings file is one of ours, and nothing else: a program of our name, global
/// flags, and what a hook calls.
fn is_ours(client: LineClient, command: &str) -> bool {
    let words = shlex::split(command).unwrap_or_default();
    let mut words = words.iter().map(String::as_str);
    let program = words.next().map(Path::new).and_then(Path::file_name);
    let name = program.and_then(|name| name.to_str()).unwrap_or_default();
    if name != "skilldb" && !name.starts_with("skilldb-") {
        return false;
    }
    let mut rest: Vec<&str> = words.collect();
    while let [flag, value, ..] = rest.as_slice() {
        match *flag {
            "--home" => rest.drain(..2),
            flag if flag.starts_with("--home=") => rest.drain(..1),
            _ => {
                let _ = value;
                break;
            }
        };
    }
    rest == ["hook", client.id()] || rest == ["import", client.id(), "--session-from-stdin"]
}

/// Plans to put the hooks in.
///
/// # Errors
/// [`Error::Settings`] for a file that cannot be edited without harm, [`Error::Io`].
pub fn plan_install(setup: &Setup) -> Result<Edit> {
    let hooks = setup.hooks();
    let entries: Vec<HookEntry<'_>> = hooks
        .iter()
        .map(|(hook, seconds)| HookEntry {
            event: &hook.event,
            matcher: hook.matcher.as_deref(),
            command: &hook.command,
            timeout_seconds: *seconds,
        })
        .collect();
    plan(setup, |text| {
        settings::plan_install(text, &entries, &|command| is_ours(setup.client, command))
    })
}

/// Plans to take the hooks out.
///
/// # Errors
/// As [`plan_install`].
pub fn plan_uninstall(setup: &Setup) -> Result<Edit> {
    plan(setup, |text| {
        if text.trim().is_empty() {
            return Ok(text.to_owned());
        }
        settings::plan_uninstall(text, &|command| is_ours(setup.client, command))
    })
}

fn plan(
    setup: &Setup,
    edit: impl FnOnce(&str) -> std::result::Result<String, SettingsError>,
) -> Result<Edit> {
    let file = behind_links(&setup.file);
    let before = read(&file)?;
    let after = edit(&before).map_err(|error| refused(&file, error))?;
    Ok(Edit {
        file,
        before,
        after,
    })
}

/// The file a path leads to, also where that is not there yet: a link stays a link.
fn behind_links(path: &Path) -> PathBuf {
    if let Ok(real) = path.canonicalize() {
        return real;
    }
    let mut path = path.to_path_buf();
    // As many as systems follow.
    for _ in 0..40 {
        match (fs::read_link(&path), path.parent()) {
            (Ok(target), Some(folder)) => path = folder.join(target),
            _ => break,
        }
    }
    path
}

fn refused(file: &Path, error: SettingsError) -> Error {
    Error::Settings {
        path: file.to_path_buf(),
        line: error.line,
        message: error.message,
    }
}

/// Largest settings file that is read, in bytes.
const LARGEST: u64 = 16 * 1024 * 1024;

/// Reads a settings file; nothing for one that is not there. A device or a pipe is no settings file.
fn read(file: &Path) -> Result<String> {
    let refused = |message: &str| Error::Settings {
        path: file.to_path_buf(),
        line: None,
        message: message.to_owned(),
    };
    let mut bytes = Vec::new();
    match files::read_into(file, LARGEST, &mut bytes) {
        Ok(()) => String::from_utf8(bytes).map_err(|_| refused("is not UTF-8")),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(String::new()),
        Err(error) if error.kind() == io::ErrorKind::InvalidInput => {
            Err(refused("is not a regular file"))
        }
        Err(error) => Err(Error::io("read", file)(error)),
    }
}

/// Makes an edit. Returns the copy of the file as it was, if it was there.
///
/// # Errors
/// [`Error::Settings`] when somebody changed the file meanwhile, [`Error::Io`].
pub fn apply(edit: &Edit, now: Timestamp) -> Result<Option<PathBuf>> {
    if read(&edit.file)? != edit.before {
        return Err(Error::Settings {
            path: edit.file.clone(),
            line: None,
            message: "changed meanwhile; run this again".to_owned(),
        });
    }
    let mut backup = None;
    if edit.file.exists() {
        let copy = backup_path(&edit.file, now);
        files::replace(&copy, edit.before.as_bytes(), Some(&edit.file))
            .map_err(Error::io("write", &copy))?;
        backup = Some(copy);
    } else if let Some(folder) = edit.file.parent() {
        fs::create_dir_all(folder).map_err(Error::io("create the folder", folder))?;
    }
    files::replace(&edit.file, edit.after.as_bytes(), Some(&edit.file))
        .map_err(Error::io("write", &edit.file))?;
    Ok(backup)
}

fn backup_path(file: &Path, now: Timestamp) -> PathBuf {
    let stamp: String = now
        .to_string()
        .chars()
        .filter(char::is_ascii_alphanumeric)
        .collect();
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    file.with_file_name(format!("{name}.{stamp}.backup"))
}

/// Returns the hooks of ours that are in the file, and of those that should be the ones that are not.
///
/// # Errors
/// As [`plan_install`].
pub fn status(setup: &Setup) -> Result<(Vec<FoundHook>, Vec<FoundHook>)> {
    let text = read(&setup.file)?;
    let mut found = if text.trim().is_empty() {
        Vec::new()
    } else {
        settings::find_hooks(&text).map_err(|error| refused(&setup.file, error))?
    };
    found.retain(|hook| is_ours(setup.client, &hook.command));
    let is_there = |hook: &FoundHook| {
        found
            .iter()
            .any(|other| other.event == hook.event && other.matcher == hook.matcher)
    };
    let mut wanted: Vec<FoundHook> = setup.hooks().into_iter().map(|(hook, _)| hook).collect();
    wanted.retain(|hook| !is_there(hook));
    Ok((found, wanted))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_commands_are_known_wherever_the_program_lies() {
        for (command, ours) in [
            ("skilldb hook claude-code", true),
            ("/opt/bin/skilldb --home '/a b' hook claude-code", true),
            ("skilldb import claude-code --session-from-stdin", true),
            ("skilldb import claude-code", false),
            ("skilldb-0.1 --home=/x hook claude-code", true),
            ("skilldb hook claude-code && other", false),
            ("skilldb hook claude-code; other", false),
            ("skilldb hook codex", false),
            ("echo skilldb hook claude-code", false),
            ("my-skilldb hook claude-code", false),
            ("'", false),
        ] {
            assert_eq!(is_ours(LineClient::ClaudeCode, command), ours, "{command}");
        }
    }
}
