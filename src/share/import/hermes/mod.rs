//! Takes over a Hermes home: counts, pins, states and origins of its sidecar, what its hub installed, what
//! its curator remembers, and the calls its session database holds. Its files are only ever read.

mod history;
mod install;
mod record;

use std::collections::HashSet;
use std::io;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::damaged::{self, Note};
use super::summary::{Summary, TakenOver, TakenRecord, Warning};
use super::{Options, sink::Sink};
use crate::error::{Error, Result};
use crate::store::{Baseline, NamedSkill, RootRow, Store, Tx};
use record::{Maker, Record, Target};

/// What is known of the home while it is taken over.
struct Home {
    path: PathBuf,
    /// `skills` below it, as the library's root knows it.
    skills_path: PathBuf,
    root: RootRow,
    skills: Vec<NamedSkill>,
    /// Skills of the other folders it reads.
    shared: Vec<NamedSkill>,
}

/// Why a pin is there that was taken over.
const PIN: &str = "hermes: pinned in .usage.json";
/// Largest state file that is read, in bytes.
const LARGEST: u64 = 256 * 1024 * 1024;

/// Takes over the Hermes home at `path`, whose skills are in the library.
///
/// # Errors
/// [`Error::NoHistory`], [`Error::Database`]. What cannot be read is in the summary.
pub fn import_hermes(store: &mut Store, path: &Path, options: &Options<'_>) -> Result<Summary> {
    let home = open_home(store, path, options.shared)?;
    let mut summary = Summary::default();
    let mut taken = TakenOver::default();
    let records = read_records(&home, options.library, &mut summary);
    let installs = install::read(&home.path, &home.skills_path, &mut summary);
    let bundled = install::read_bundled(&home.path, &mut summary);
    let curator = read_curator(&home, &mut summary);
    let baselines = store.append(|tx| {
        let found = take_records(tx, &home, &records, options, &mut summary, &mut taken)?;
        take_origins(tx, &home, &found, &installs, &bundled, &mut taken)?;
        tx.put_meta(
            &format!("hermes.home {}", home.path.display()),
            &home.skills_path.to_string_lossy(),
        )?;
        for (key, value, words) in &curator {
            tx.put_meta(key, value)?;
            taken.curator = taken.curator.take().or_else(|| words.clone());
        }
        let mut ids: Vec<i64> = found.iter().map(|(_, id)| *id).collect();
        ids.sort_unstable();
        Ok(ids)
    })?;
    let names: HashSet<String> = records.iter().map(|record| record.name.clone()).collect();
    let counted = history::Counted { names, baselines };
    let mut sink = Sink::new(store, "hermes", options);
    taken.changes = history::import(&mut sink, &home, &counted, options, &mut summary)?;
    summary.taken = Some(taken);
    Ok(summary)
}

/// Returns the folder of skills of a Hermes home; `path` may be that folder itself.
///
/// # Errors
/// [`Error::NoHistory`] when there is none.
pub fn skills_folder(path: &Path) -> Result<(PathBuf, PathBuf)> {
    // Named as `skills`, wherever it leads: its home is the folder it is named in.
    if path.file_name().is_some_and(|name| name == "skills") && path.is_dir() {
        let above = path.parent().filter(|above| !above.as_os_str().is_empty());
        let home = above.unwrap_or(Path::new("."));
        if !path.join("skills").is_dir() {
            let home = home.canonicalize().unwrap_or_else(|_| home.to_path_buf());
            return Ok((home, path.to_path_buf()));
        }
    }
    let path = path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
    let skills = path.join("skills");
    if skills.is_dir() {
        return Ok((path, skills));
    }
    Err(Error::NoHistory { path })
}

fn open_home(store: &Store, path: &Path, others: &[PathBuf]) -> Result<Home> {
    let (path, skills) = skills_folder(path)?;
    let skills = skills.canonicalize().unwrap_or(skills);
    let root = store
        .roots()?
        .into_iter()
        .find(|root| skills.starts_with(&root.path))
        .ok_or_else(|| Error::UnknownRoot {
            path: skills.clone(),
        })?;
    let inside = |skill: &NamedSkill| Path::new(&skill.path()).starts_with(&skills);
    let found = store.skills_of_root(&root.path.to_string_lossy())?;
    let mut shared = Vec::new();
    for folder in others {
        shared.extend(store.skills_of_root(&folder.to_string_lossy())?);
    }
    Ok(Home {
        shared,
        path,
        skills: found.into_iter().filter(inside).collect(),
        skills_path: skills,
        root,
    })
}

/// Reads a file of the home; `None` when it is not there or cannot be read, which is told.
fn read_file(path: &Path, summary: &mut Summary) -> Option<String> {
    let mut bytes = Vec::new();
    match crate::library::files::read_into(path, LARGEST, &mut bytes) {
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => return None,
        Err(error) => {
            let note = Note {
                line: None,
                column: None,
                message: format!("could not be read: {error}"),
            };
            warn(summary, path, note);
            return None;
        }
    }
    summary.files += 1;
    summary.bytes += bytes.len() as u64;
    let decoded = damaged::decode(&bytes);
    for note in decoded.notes {
        warn(summary, path, note);
    }
    Some(decoded.text)
}

fn warn(summary: &mut Summary, path: &Path, note: Note) {
    summary.warn(Warning {
        path: path.to_path_buf(),
        line: note.line.map(u64::from),
        column: note.column.map(u64::from),
        message: note.message,
    });
}

/// Reads the entries of an object in a file of the home.
fn read_entries(path: &Path, key: &[&str], summary: &mut Summary) -> Vec<(String, Value)> {
    read_whole_entries(path, key, summary).0
}

/// As [`read_entries`], with whether all of it could be read.
fn read_whole_entries(
    path: &Path,
    key: &[&str],
    summary: &mut Summary,
) -> (Vec<(String, Value)>, bool) {
    let Some(text) = read_file(path, summary) else {
        return (Vec::new(), false);
    };
    let entries = damaged::entries(&text, key);
    for note in entries.notes {
        warn(summary, path, note);
    }
    (entries.entries, entries.is_whole)
}

fn sidecar(home: &Home) -> PathBuf {
    home.skills_path.join(".usage.json")
}

fn read_records(home: &Home, library: &str, summary: &mut Summary) -> Vec<Record> {
    let path = sidecar(home);
    let mut records = Vec::new();
    for (name, value) in read_entries(&path, &[], summary) {
        let mut notes = Vec::new();
        records.extend(Record::read(&name, &value, library, &mut notes));
        for message in notes {
            let note = Note {
                line: None,
                column: None,
                message,
            };
            warn(summary, &path, note);
        }
    }
    records
}

/// Takes over each record; returns those that count for a skill, with it.
fn take_records<'r>(
    tx: &Tx<'_>,
    home: &Home,
    records: &'r [Record],
    options: &Options<'_>,
    summary: &mut Summary,
    taken: &mut TakenOver,
) -> Result<Vec<(&'r Record, i64)>> {
    let mut found = Vec::with_capacity(records.len());
    for record in records {
        let Some(id) = skill_of(tx, home, record, options, summary, taken)? else {
            continue;
        };
        found.push((record, id));
        let sidecar = sidecar(home);
        let result = tx.take_baseline(&Baseline {
            skill_id: id,
            source: format!("{}#{}", sidecar.display(), record.name),
            use_count: record.uses,
            view_count: record.views,
            patch_count: record.patches,
            last_use_at: record.used_at,
            last_view_at: record.viewed_at,
            last_patch_at: record.patched_at,
            archived_at: record.archived_at,
            record: record.text.clone(),
        })?;
        taken.records.push(TakenRecord {
            name: record.name.clone(),
            uses: record.uses,
            views: record.views,
            patches: record.patches,
            has_changed: result.has_changed,
        });
        if result.went_back {
            let note = Note {
                line: None,
                column: None,
                message: format!(
                    "the counts of `{}` went back; what was counted before is kept",
                    record.name
                ),
            };
            warn(summary, &sidecar, note);
        }
        if result.has_changed {
            take_marks(tx, home, record, id, options, taken)?;
        }
    }
    Ok(found)
}

/// Finds the skill a record counts for; one without a folder gets a row of its own.
fn skill_of(
    tx: &Tx<'_>,
    home: &Home,
    record: &Record,
    options: &Options<'_>,
    summary: &mut Summary,
    taken: &mut TakenOver,
) -> Result<Option<i64>> {
    let mut tell = |message: String| {
        let note = Note {
            line: None,
            column: None,
            message,
        };
        warn(summary, &sidecar(home), note);
    };
    let own = record::target(&record.name, record.is_archived(), &home.skills);
    let found = match own {
        Target::None => record::target(&record.name, record.is_archived(), &home.shared),
        own => own,
    };
    match found {
        Target::One(skill) => {
            if skill.content_hash.is_none() && skill.is_missing {
                taken.without_folder.push(record.name.clone());
            }
            if record.is_archived() && !skill.is_archived && !skill.is_missing {
                tell(format!(
                    "`{}` is archived here and its folder {} is live: left live",
                    record.name,
                    skill.path()
                ));
            }
            Ok(Some(skill.id))
        }
        Target::First(skill, others) => {
            tell(format!(
                "`{}` names {} skills; its counts go to {}",
                record.name,
                others + 1,
                skill.path()
            ));
            Ok(Some(skill.id))
        }
        Target::None => {
            let Some(place) = record::vanished_place(&record.name, record.is_archived()) else {
                tell(format!(
                    "`{}` is no name of a folder: its record was not taken over",
                    record.name
                ));
                return Ok(None);
            };
            let below = home
                .skills_path
                .strip_prefix(&home.root.path)
                .map(|below| below.join(&place))
                .unwrap_or_else(|_| PathBuf::from(&place));
            taken.without_folder.push(record.name.clone());
            let state = if record.is_archived() {
                "archived"
            } else {
                "active"
            };
            let rel_path = below.to_string_lossy();
            tx.add_vanished_skill(home.root.id, &rel_path, state, options.now)
                .map(Some)
        }
    }
}

/// Takes over age, pin and state of a record that is new or changed.
fn take_marks(
    tx: &Tx<'_>,
    home: &Home,
    record: &Record,
    id: i64,
    options: &Options<'_>,
    taken: &mut TakenOver,
) -> Result<()> {
    if let Some(at) = record.created_at {
        tx.known_since(id, at)?;
    }
    if record.pinned {
        if tx.take_pin(id, PIN)? {
            taken.pinned.push(record.name.clone());
        }
    } else if tx.take_unpin(id, PIN)? {
        taken.unpinned.push(record.name.clone());
    }
    let skill = home.skills.iter().find(|skill| skill.id == id);
    let is_live = skill.is_some_and(|skill| !skill.is_archived && !skill.is_missing);
    let state = if is_live {
        tx.state_of(id)?
    } else {
        String::new()
    };
    let moves = match (record.state, state.as_str()) {
        ("stale", "active") => Some("stale in Hermes"),
        // Only what came from there goes back with it.
        ("active", "stale") if tx.is_state_imported(id)? => Some("active again in Hermes"),
        _ => None,
    };
    if let Some(reason) = moves {
        tx.transition_by("import", id, &state, record.state, reason, options.now)?;
        let state = record.state.to_owned();
        taken.states.push((record.name.clone(), state));
    }
    Ok(())
}

/// Notes who made each skill: what the hub installed, what came with Hermes, what its agent made.
fn take_origins(
    tx: &Tx<'_>,
    home: &Home,
    records: &[(&Record, i64)],
    installs: &install::Installs,
    bundled: &[String],
    taken: &mut TakenOver,
) -> Result<()> {
    let mut marked = HashSet::new();
    let mut mark =
        |name: &str, id: i64, origin: &str, evidence: &str, trust: Option<&str>| -> Result<()> {
            if marked.insert(id) && tx.take_origin(id, origin, evidence, trust)? {
                taken.origins.push((name.to_owned(), origin.to_owned()));
            }
            Ok(())
        };
    if installs.is_whole {
        let names: Vec<&str> = installs
            .entries
            .iter()
            .map(|entry| entry.name.as_str())
            .collect();
        taken.uninstalled = tx.keep_installs(&installs.noted_in, &names)?;
    }
    for entry in &installs.entries {
        let skill = entry.skill(&home.skills, &home.skills_path);
        if tx.put_install(&entry.install(skill.map(|skill| skill.id)))? {
            taken.installs.push(entry.name.clone());
        }
        if let Some(skill) = skill {
            let trust = entry.trust();
            mark(
                &skill.name,
                skill.id,
                "hub",
                &entry.evidence(),
                trust.as_deref(),
            )?;
        }
    }
    for name in bundled {
        if let Target::One(skill) | Target::First(skill, _) =
            record::target(name, false, &home.skills)
        {
            mark(
                &skill.name,
                skill.id,
                "bundled",
                "hermes: listed in .bundled_manifest",
                None,
            )?;
        }
    }
    for (record, id) in records {
        let (origin, evidence) = match record.maker {
            Maker::Agent => ("agent", "hermes: created_by agent in .usage.json"),
            Maker::Person => ("user", "hermes: created_by nobody in .usage.json"),
            Maker::Unknown => continue,
        };
        mark(&record.name, *id, origin, evidence, None)?;
    }
    Ok(())
}

/// What the curator remembers: key, value, and what is told of it.
type Remembered = (String, String, Option<String>);

fn read_curator(home: &Home, summary: &mut Summary) -> Vec<Remembered> {
    let mut notes = Vec::new();
    let key = |what: &str| format!("hermes.{what} {}", home.path.display());
    let path = home.skills_path.join(".curator_state");
    let entries = read_entries(&path, &[], summary);
    if !entries.is_empty() {
        let get = |key: &str| {
            entries
                .iter()
                .find(|(name, _)| name == key)
                .map(|(_, value)| value)
        };
        let runs = get("run_count").and_then(Value::as_u64).unwrap_or_default();
        let last = get("last_run_at")
            .and_then(Value::as_str)
            .unwrap_or("never");
        let is_paused = get("paused").and_then(Value::as_bool) == Some(true);
        let words = format!(
            "{runs} runs, last {last}{}",
            if is_paused { ", paused" } else { "" }
        );
        let value = Value::Object(entries.iter().cloned().collect()).to_string();
        notes.push((key("curator_state"), value, Some(words)));
    }
    if let Some(text) = read_file(&home.skills_path.join(".curator_suppressed"), summary) {
        let names: Vec<&str> = text
            .lines()
            .map(str::trim)
            .filter(|name| !name.is_empty())
            .collect();
        notes.push((
            key("curator_suppressed"),
            Value::from(names).to_string(),
            None,
        ));
    }
    notes
}
