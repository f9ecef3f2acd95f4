//! `skilldb list`.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use super::output::{Output, Style, fit, one_line, plural};
use super::{Context, sync};
use crate::error::{Error, Result};
use crate::library::client::{self, Client, ClientRoot};
use crate::manage::archived_at;
use crate::store::{Copy, MissingRow, SkillRow, Store};
use crate::time::Timestamp;

/// List skills
///
/// Off a terminal: one skill a line, tab-separated: name, state, folder, description, and the guard's verdict where
/// it is not safe.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  skilldb list                                  the live skills
  skilldb list --duplicates                     names that stand in more than one place, and who loads which
  skilldb list --client codex                   what Codex would load in this folder
  skilldb list --archived
  skilldb list --missing                        skills whose folders vanished")]
pub(super) struct Args {
    /// Names that stand in more than one place, and which copy each client loads
    #[arg(long, conflicts_with_all = ["client", "archived", "missing"])]
    duplicates: bool,
    /// The copies this client would load
    #[arg(long, value_name = "CLIENT", conflicts_with_all = ["archived", "missing"])]
    client: Option<String>,
    /// With --client or --duplicates: seen from this folder instead of the current one
    #[arg(long = "in", value_name = "DIR")]
    within: Option<PathBuf>,
    /// Archived skills instead of live ones
    #[arg(long, conflicts_with = "missing")]
    archived: bool,
    /// Skills whose folders vanished
    #[arg(long)]
    missing: bool,
}

pub(super) fn run(context: &mut Context, args: &Args) -> Result<()> {
    let store = context.read()?;
    if args.duplicates {
        return duplicates(context, &store, args);
    }
    if args.missing {
        return missing(context, &store.list_missing()?);
    }
    if let Some(name) = &args.client {
        let client = sync::find_client(name)?;
        let skills = loaded_by(context, &store, client, args, store.list_skills(false)?)?;
        return if context.out.json {
            objects(context, &store, &skills)
        } else {
            table(&mut context.out, &skills)
        };
    }
    if context.out.json {
        let skills = store.list_skills(args.archived)?;
        return objects(context, &store, &skills);
    }
    if context.out.width.is_some() {
        let skills = store.list_skills(args.archived)?;
        table(&mut context.out, &skills)?;
        return say_refused(context, &store);
    }
    stream(&mut context.out, &store, args.archived)?;
    say_refused(context, &store)
}

/// One skill a line, straight from the statement: nothing is held.
fn stream(out: &mut Output, store: &Store, archived: bool) -> Result<()> {
    let mut line = String::new();
    let flagged: HashMap<String, String> = store
        .flagged()?
        .into_iter()
        .map(|flag| (flag.path, flag.verdict))
        .collect();
    store.each_short(archived, |skill| {
        line.clear();
        for (separator, part) in [
            ("", skill.name),
            ("\t", skill.state),
            ("\t", skill.root),
            (
                "/",
                if skill.rel_path == "." {
                    ""
                } else {
                    skill.rel_path
                },
            ),
            ("\t", skill.description),
        ] {
            line.push_str(if part.is_empty() && separator == "/" {
                ""
            } else {
                separator
            });
            // A tab or line break in a value would make another column or record of it.
            if has_controls(part) {
                line.push_str(&one_line(part));
            } else {
                line.push_str(part);
            }
        }
        if !flagged.is_empty() {
            let path = match skill.rel_path {
                "." => skill.root.to_owned(),
                rel_path => format!("{}/{rel_path}", skill.root),
            };
            if let Some(verdict) = flagged.get(&path) {
                line.push('\t');
                line.push_str(verdict);
            }
        }
        out.line(&line)
    })
}

fn has_controls(text: &str) -> bool {
    if text.is_ascii() {
        text.bytes().any(|byte| byte.is_ascii_control())
    } else {
        text.chars().any(char::is_control)
    }
}

fn table(out: &mut Output, skills: &[SkillRow]) -> Result<()> {
    let Some(width) = out.width else {
        return skills.iter().try_for_each(|skill| {
            let description = skill.description.as_deref().unwrap_or_default();
            out.line(
                &[
                    &skill.name,
                    &skill.state,
                    &skill.path,
                    &one_line(description),
                ]
                .map(String::as_str)
                .join("\t"),
            )
        });
    };
    // Where a name stands twice, the path says which is which.
    let mut copies: HashMap<&str, usize> = HashMap::new();
    for skill in skills {
        *copies.entry(&skill.name).or_default() += 1;
    }
    let label = |skill: &SkillRow| match copies.get(skill.name.as_str()) {
        Some(2..) => format!("{} ({})", skill.name, skill.rel_path),
        _ => skill.name.clone(),
    };
    let labels: Vec<String> = skills.iter().map(label).collect();
    let widest = labels.iter().map(|label| label.chars().count()).max();
    let name_width = widest.unwrap_or(0).clamp(4, 40);
    let heading = ["NAME", "STATE", "DESCRIPTION"].map(str::to_owned);
    let mut rows = vec![heading.to_vec()];
    for (skill, label) in skills.iter().zip(&labels) {
        let room = width.saturating_sub(name_width + 12);
        let description = skill.description.as_deref().unwrap_or("(no description)");
        rows.push(vec![
            fit(label, name_width),
            flag_of(skill).unwrap_or_else(|| skill.state.clone()),
            fit(description, room),
        ]);
    }
    out.table(&rows)?;
    out.flush()?;
    out.say(&format!("{}.", plural(skills.len() as u64, "skill")));
    let flagged = skills
        .iter()
        .filter(|skill| flag_of(skill).is_some())
        .count();
    if flagged > 0 {
        let words = plural(flagged as u64, "flagged skill");
        out.say(&format!("{words}: skilldb scan"));
    }
    Ok(())
}

/// The verdict of a skill that is not safe.
fn flag_of(skill: &SkillRow) -> Option<String> {
    let is_live = skill.state != "archived";
    let verdict = skill.verdict.clone();
    verdict.filter(|verdict| is_live && verdict != "safe")
}

fn say_refused(context: &mut Context, store: &Store) -> Result<()> {
    let refused = store.list_refused()?;
    if !refused.is_empty() {
        context.out.flush()?;
        context.out.say(&format!(
            "{} could not be loaded: skilldb sql problems",
            plural(refused.len() as u64, "file")
        ));
    }
    Ok(())
}

fn objects(context: &mut Context, store: &Store, skills: &[SkillRow]) -> Result<()> {
    let mut codes: HashMap<i64, Vec<String>> = HashMap::new();
    for row in store.diagnostics(None)? {
        if let (Some(id), Some(_)) = (row.skill_id, row.severity) {
            codes.entry(id).or_default().push(row.code);
        }
    }
    let archived = store.archived_times()?;
    let skills: Vec<Value> = skills
        .iter()
        .map(|skill| {
            let mut object = skill_object(skill);
            if skill.state == "archived" {
                // An archive made by others has the time in the folder's name.
                let named = || archived_at(&skill.folder).map(|(_, time)| time);
                let time = archived.get(&skill.id).cloned().or_else(named);
                object.insert("archived_at".to_owned(), json!(time));
            }
            let mut found = codes.remove(&skill.id).unwrap_or_default();
            found.sort_unstable();
            found.dedup();
            object.insert("diagnostics".to_owned(), json!(found));
            Value::Object(object)
        })
        .collect();
    let refused: Vec<Value> = store
        .list_refused()?
        .into_iter()
        .map(|row| json!({"path": row.path, "code": row.code, "line": row.line, "column": row.column, "message": row.message}))
        .collect();
    context
        .out
        .object(json!({"skills": skills, "rejected": refused}))
}

/// The fields of a skill in a listing.
pub(super) fn skill_object(skill: &SkillRow) -> Map<String, Value> {
    let value = json!({
        "id": skill.id,
        "name": skill.name,
        "declared_name": skill.declared_name,
        "folder": skill.folder,
        "category": skill.category,
        "description": skill.description,
        "path": skill.path,
        "rel_path": skill.rel_path,
        "root": skill.root,
        "state": skill.state,
        "origin": skill.origin,
        "pinned": skill.pinned,
        "parse_status": skill.parse_status,
        "version": skill.version,
        "content_hash": skill.content_hash,
        "size": skill.size,
        "verdict": skill.verdict,
    });
    match value {
        Value::Object(map) => map,
        _ => Map::new(),
    }
}

fn missing(context: &mut Context, rows: &[MissingRow]) -> Result<()> {
    if context.out.json {
        let rows: Vec<Value> = rows
            .iter()
            .map(|row| json!({"id": row.id, "name": row.name, "root": row.root, "rel_path": row.rel_path, "missing_since": row.missing_since}))
            .collect();
        return context.out.object(json!({"missing": rows}));
    }
    for row in rows {
        let since = match (context.out.width, Timestamp::parse(&row.missing_since)) {
            (Some(_), Some(moment)) => moment.relative(context.now),
            _ => row.missing_since.clone(),
        };
        let path = format!("{}/{}", row.root, row.rel_path);
        let (name, path) = (one_line(&row.name), one_line(&path));
        context
            .out
            .line(&format!("#{}\t{name}\t{path}\t{since}", row.id))?;
    }
    context.out.flush()?;
    context
        .out
        .say(&format!("{} missing.", plural(rows.len() as u64, "skill")));
    Ok(())
}

/// The folder a client is asked about, links resolved.
fn seen_from(context: &Context, args: &Args) -> Result<PathBuf> {
    match &args.within {
        None => Ok(context
            .config
            .cwd
            .canonicalize()
            .unwrap_or_else(|_| context.config.cwd.clone())),
        Some(folder) => {
            let folder = context.config.cwd.join(folder);
            folder
                .canonicalize()
                .map_err(|_| Error::NoFolder { path: folder })
        }
    }
}

/// The folders a client looks in, links resolved: rows of the database hold resolved paths.
fn roots_of(context: &Context, client: &Client, cwd: &Path) -> Vec<ClientRoot> {
    let mut roots = context
        .config
        .with_surroundings_in(cwd, |around| client::roots(client, around));
    for root in &mut roots {
        if let Ok(real) = root.path.canonicalize() {
            root.path = real;
        }
    }
    roots
}

fn loaded_by(
    context: &Context,
    store: &Store,
    client: &Client,
    args: &Args,
    mut skills: Vec<SkillRow>,
) -> Result<Vec<SkillRow>> {
    let roots = roots_of(context, client, &seen_from(context, args)?);
    let copies: Vec<client::Copy<'_>> = skills
        .iter()
        .map(|skill| client_copy(&skill.name, &skill.path))
        .collect();
    let mut loaded = client::loaded_from(client, &roots, &copies);
    loaded.sort_unstable();
    let mut index = 0;
    skills.retain(|_| {
        index += 1;
        loaded.binary_search(&(index - 1)).is_ok()
    });
    let unseen: Vec<&ClientRoot> = roots
        .iter()
        .filter(|root| root.path.is_dir() && !is_covered(store, &root.path))
        .collect();
    for root in unseen {
        context.out.say(&format!(
            "{} looks in {}, which is not in this library yet: skilldb sync --client {}",
            client.title,
            root.path.display(),
            client.id
        ));
    }
    Ok(skills)
}

fn client_copy<'a>(name: &'a str, path: &'a str) -> client::Copy<'a> {
    let folder = Path::new(path);
    client::Copy {
        name,
        folder,
        is_linked: folder.is_symlink(),
    }
}

fn is_covered(store: &Store, path: &Path) -> bool {
    store
        .roots()
        .is_ok_and(|roots| roots.iter().any(|root| path.starts_with(&root.path)))
}

fn duplicates(context: &mut Context, store: &Store, args: &Args) -> Result<()> {
    let copies = store.list_copies()?;
    let cwd = seen_from(context, args)?;
    let roots: Vec<(&Client, Vec<ClientRoot>)> = client::all()
        .iter()
        .map(|client| (client, roots_of(context, client, &cwd)))
        .collect();
    let groups: Vec<&[Copy]> = copies.chunk_by(|a, b| a.name == b.name).collect();
    let winners: Vec<Vec<(&str, Vec<&str>)>> = groups
        .iter()
        .map(|group| winners_of(group, &roots))
        .collect();
    if context.out.json {
        let list: Vec<Value> = groups
            .iter()
            .zip(&winners)
            .map(|(group, winners)| group_object(group, winners))
            .collect();
        return context.out.object(json!({"duplicates": list}));
    }
    for (group, winners) in groups.iter().zip(&winners) {
        tell_group(&mut context.out, group, winners)?;
    }
    context.out.flush()?;
    context.out.say(&format!(
        "{} in more than one place.",
        plural(groups.len() as u64, "name")
    ));
    Ok(())
}

/// For each client that sees one of the copies: those it would load.
fn winners_of<'c>(
    group: &'c [Copy],
    roots: &'c [(&'static Client, Vec<ClientRoot>)],
) -> Vec<(&'c str, Vec<&'c str>)> {
    let copies: Vec<client::Copy<'_>> = group
        .iter()
        .map(|copy| client_copy(&copy.name, &copy.path))
        .collect();
    let winner = |(client, roots): &'c (&'static Client, Vec<ClientRoot>)| {
        let loaded = client::loaded_from(client, roots, &copies);
        let paths: Vec<&str> = loaded
            .iter()
            .filter_map(|index| group.get(*index))
            .map(|copy| copy.path.as_str())
            .collect();
        (!paths.is_empty()).then_some((client.id.as_str(), paths))
    };
    roots.iter().filter_map(winner).collect()
}

fn group_object(group: &[Copy], winners: &[(&str, Vec<&str>)]) -> Value {
    let name = group.first().map(|copy| copy.name.as_str());
    let copies: Vec<Value> = group
        .iter()
        .map(|copy| json!({"id": copy.id, "path": copy.path, "rel_path": copy.rel_path, "root": copy.root, "state": copy.state, "text_hash": copy.text_hash}))
        .collect();
    let winners: Map<String, Value> = winners
        .iter()
        .map(|(client, paths)| ((*client).to_owned(), json!(paths)))
        .collect();
    json!({"name": name, "copies": copies, "winners": winners})
}

fn tell_group(out: &mut Output, group: &[Copy], winners: &[(&str, Vec<&str>)]) -> Result<()> {
    let Some(first) = group.first() else {
        return Ok(());
    };
    let same = group.iter().all(|copy| copy.text_hash == first.text_hash);
    let note = if same { "same text" } else { "texts differ" };
    let heading = out.paint(Style::Bold, &one_line(&first.name));
    out.line(&format!(
        "{heading}  ({}, {note})",
        plural(group.len() as u64, "copy")
    ))?;
    for copy in group {
        let clients: Vec<&str> = winners
            .iter()
            .filter(|(_, paths)| paths.contains(&copy.path.as_str()))
            .map(|(client, _)| *client)
            .collect();
        let loaded = if clients.is_empty() {
            "loaded by no known client from here".to_owned()
        } else {
            format!("loaded by {}", clients.join(", "))
        };
        out.line(&format!(
            "  #{}  {}  {}",
            copy.id,
            one_line(&copy.path),
            out.paint(Style::Dim, &loaded)
        ))?;
    }
    Ok(())
}
