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
            format!(" --file {}", shlex::try_quote(&file).unwrap_or_default())
        }
        None if install.project => " --project".to_owned(),
        None => String::new(),
    };
    let id = install.client.lines().id();
    let words = format!("Undo: skilldb hook {other} {id}{place}");
    context.out.say(&clean(&words));
}

/// Words in the name of a setting whose value is nobody's business.
const SECRET: [&str; 6] = ["KEY", "TOKEN", "SECRET", "PASS", "AUTH", "CREDENTIAL"];

/// The change, line by line. Values of settings that look like secrets are left out.
fn diff(edit: &Edit) -> String {
    let name = edit.file.to_string_lossy();
    let text = TextDiff::from_lines(&edit.before, &edit.after)
        .unified_diff()
        .context_radius(1)
        .header(&name, &name)
        .to_string();
    let mut shown = String::with_capacity(text.len());
    for line in text.lines() {
        shown.push_str(&masked(&clean(line)));
        shown.push('\n');
    }
    shown
}

/// Replaces the text behind a key that names a secret.
fn masked(line: &str) -> String {
    let mut parts: Vec<String> = line.split('"').map(str::to_owned).collect();
    for index in 1..parts.len().saturating_sub(2) {
        let is_key = index % 2 == 1 && parts[index + 1].trim_start().starts_with(':');
        let name = parts[index].to_uppercase();
        if is_key && SECRET.iter().any(|word| name.contains(word)) {
            parts[index + 2] = "…".to_owned();
        }
    }
    parts.join("\"")
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
    fn values_of_secrets_are_not_shown() {
        let line = r#"+  "env": {"API_KEY": "sk-1", "LANG": "C"},"#;
        assert_eq!(masked(line), r#"+  "env": {"API_KEY": "…", "LANG": "C"},"#);
        assert_eq!(masked(r#"-"Auth": "x""#), r#"-"Auth": "…""#);
        assert_eq!(masked("plain"), "plain");
    }
}
