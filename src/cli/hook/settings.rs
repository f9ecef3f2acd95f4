//! `skilldb hook install`, `uninstall` and `status`.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use similar::TextDiff;

use super::heed::LOG;
use super::{Client, Install};
use crate::cli::Context;
use crate::cli::output::{clean, plural};
use crate::error::Result;
use crate::share::hook::{self, Edit, FoundHook, Setup};
use crate::usage;

/// Which way settings are edited.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Edits {
    Install,
    Uninstall,
}

fn setup(context: &Context, install: &Install) -> Result<Setup> {
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
    Ok(Setup {
        client: install.client.lines(),
        file,
        program: config.program()?,
    })
}

pub(super) fn edit(context: &mut Context, install: &Install, edits: Edits) -> Result<()> {
    let setup = setup(context, install)?;
    let edit = match edits {
        Edits::Install => hook::plan_install(&setup)?,
        Edits::Uninstall => hook::plan_uninstall(&setup)?,
    };
    let backup = if install.dry_run || edit.is_empty() {
        None
    } else {
        hook::apply(&edit, context.now)?
    };
    if context.out.json {
        return context.out.object(json!({
            "client": setup.client.id(),
            "file": edit.file.to_string_lossy(),
            "changed": !edit.is_empty(),
            "dry_run": install.dry_run,
            "backup": backup.map(|path| path.to_string_lossy().into_owned()),
            "diff": diff(&edit),
        }));
    }
    if edit.is_empty() {
        let state = match edits {
            Edits::Install => "already",
            Edits::Uninstall => "not",
        };
        let file = edit.file.to_string_lossy();
        let words = format!("The hooks are {state} in {}: nothing to do.", clean(&file));
        context.out.say(&words);
        return Ok(());
    }
    context.out.bytes(diff(&edit).as_bytes())?;
    context.out.flush()?;
    if install.dry_run {
        context.out.say("Dry run: nothing was written.");
        return Ok(());
    }
    say_done(context, install, edits, &edit, backup.as_deref());
    Ok(())
}

fn say_done(
    context: &Context,
    install: &Install,
    edits: Edits,
    edit: &Edit,
    backup: Option<&Path>,
) {
    let (done, other) = match edits {
        Edits::Install => ("Installed in", "uninstall"),
        Edits::Uninstall => ("Taken out of", "install"),
    };
    let file = edit.file.to_string_lossy();
    context.out.say(&format!("{done} {}.", clean(&file)));
    if let Some(backup) = backup {
        let backup = backup.to_string_lossy();
        let words = format!("The file as it was: {}", clean(&backup));
        context.out.say(&words);
    }
    if edits == Edits::Install && install.client == Client::Codex {
        context.out.say("Older versions of Codex read it only with `codex_hooks = true` below `[features]` in config.toml.");
    }
    let place = match &install.file {
        Some(file) => {
            let file = file.to_string_lossy();
            format!(" --file={}", shlex::try_quote(&file).unwrap_or_default())
        }
        None if install.project => " --project".to_owned(),
        None => String::new(),
    };
    let id = install.client.lines().id();
    let words = format!("Undo: skilldb hook {other} {id}{place}");
    context.out.say(&clean(&words));
}

/// Words and numbers of a hook of ours; what else stands in a line is nobody's business.
const SHOWN: [&str; 4] = ["command", "Skill", "5", "30"];

/// The change, line by line. A settings file holds secrets, so values that are not ours are left out.
fn diff(edit: &Edit) -> String {
    let name = edit.file.to_string_lossy();
    let text = TextDiff::from_lines(&edit.before, &edit.after)
        .unified_diff()
        .context_radius(0)
        .header(&name, &name)
        .to_string();
    let mut shown = String::with_capacity(text.len());
    for line in text.lines() {
        let is_heading = ["---", "+++", "@@"]
            .iter()
            .any(|sign| line.starts_with(sign));
        let line = clean(line);
        if is_heading {
            shown.push_str(&line);
        } else {
            shown.push_str(&masked(&line));
        }
        shown.push('\n');
    }
    shown
}

/// Replaces the values of a line that are not ours. Names of settings stay.
fn masked(line: &str) -> String {
    let mut shown = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '"' => string_length(rest),
            c if c.is_alphanumeric() => rest
                .find(|c: char| !(c.is_alphanumeric() || ".+-_".contains(c)))
                .unwrap_or(rest.len()),
            c => c.len_utf8(),
        };
        let (token, after) = rest.split_at(length);
        let is_value = first == '"' || first.is_alphanumeric();
        let word = token.trim_matches('"');
        let is_ours = SHOWN.contains(&word) || word.contains("skilldb");
        if !is_value || is_ours || is_key(after) {
            shown.push_str(token);
        } else {
            shown.push('…');
        }
        rest = after;
    }
    shown
}

/// Bytes of the text in quotes at the beginning; all of a line on which it does not end.
fn string_length(text: &str) -> usize {
    let mut is_escaped = false;
    for (at, character) in text.char_indices().skip(1) {
        match character {
            '"' if !is_escaped => return at + 1,
            '\\' => is_escaped = !is_escaped,
            _ => is_escaped = false,
        }
    }
    text.len()
}

/// Whether what follows makes a name of what is before it.
fn is_key(after: &str) -> bool {
    let mut rest = after.trim_start();
    while let Some(comment) = rest.strip_prefix("/*") {
        rest = comment
            .split_once("*/")
            .map_or("", |(_, rest)| rest)
            .trim_start();
    }
    rest.starts_with(':')
}

pub(super) fn status(context: &mut Context) -> Result<()> {
    let mut clients = Vec::new();
    for client in Client::ALL {
        for project in [false, true] {
            let install = Install {
                client,
                project,
                file: None,
                dry_run: true,
            };
            let setup = setup(context, &install)?;
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
    let (refused, refused_in) = usage::refused(&context.config.home.value);
    if context.out.json {
        let list: Vec<Value> = clients
            .iter()
            .map(|(setup, found, missing)| status_object(setup, found, missing))
            .collect();
        return context.out.object(
            json!({"hooks": list, "troubles": troubles, "last_trouble": last, "waiting": waiting, "refused": refused}),
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
    if refused > 0 {
        let file = refused_in.to_string_lossy();
        context.out.line(&format!(
            "{} could not be read: {}",
            plural(refused, "line"),
            clean(&file)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_that_are_not_ours_are_not_shown() {
        for (line, shown) in [
            (
                r#"+  "env": {"API_KEY": "sk-1", "N": 17},"#,
                r#"+  "env": {"API_KEY": …, "N": …},"#,
            ),
            (r#"-"Auth" /* c */ : "a\"b","#, r#"-"Auth" /* … */ : …,"#),
            (r#"+  "sk-2""#, "+  …"),
            (
                r#"+ {"type": "command", "command": "skilldb hook codex", "timeout": 5}"#,
                r#"+ {"type": "command", "command": "skilldb hook codex", "timeout": 5}"#,
            ),
        ] {
            assert_eq!(masked(line), shown);
        }
    }
}
