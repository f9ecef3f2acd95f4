//! What names a skill, wherever skilldb looks: told with file and line, changed by nobody.

use std::path::{Path, PathBuf};

use super::automations::{Automation, Read, automations, target_of};
use super::pointers::LARGEST;
use crate::error::Result;
use crate::references::{self, Kind, Target, Text, jobs};
use crate::store::{SkillFacts, Store};

/// A place that names a skill.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pointing {
    /// The skill whose file it is; `None` for an automation.
    pub skill: Option<(i64, String)>,
    /// The file.
    pub path: PathBuf,
    /// From 1.
    pub line: u32,
    /// value, slash command, mention, path; word: as a word that may mean anything.
    pub kind: &'static str,
    /// The line.
    pub text: String,
    /// Why a rename or a merge would leave it alone; `None` when it would be rewritten.
    pub left: Option<String>,
}

/// What names a skill.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Pointings {
    /// The places: of skills by name, then of automations.
    pub places: Vec<Pointing>,
    /// What could not be looked into, and why.
    pub notes: Vec<String>,
}

/// Finds everything that names a skill: other live skills, the files listed under `automations`, the jobs of Hermes
/// homes.
///
/// # Errors
/// [`crate::Error::Database`].
pub fn pointing_at(store: &Store, listed: &[PathBuf], facts: &SkillFacts) -> Result<Pointings> {
    let target = target_of(facts);
    let shared = store
        .live_named(&facts.name, facts.id)?
        .map(|path| format!("another skill is called `{}` as well ({path})", facts.name));
    let mut found = Pointings::default();
    let files = store.small_files(LARGEST)?;
    for other in store
        .live_facts()?
        .iter()
        .filter(|other| other.id != facts.id)
    {
        let own = std::iter::once(&other.file_name);
        let files = files.get(&other.id).into_iter().flatten();
        for path in own.chain(files.filter(|path| **path != other.file_name)) {
            let whole = other.path().join(path);
            let Some(text) = mentioning(&whole, &target) else {
                continue;
            };
            let read_only =
                (!other.is_writable).then(|| format!("{} is read-only", other.root.display()));
            for hit in references::find(&text, Text::of(&whole), &whole, &target) {
                let shared = shared.clone().filter(|_| hit.kind != Kind::Path);
                found.places.push(Pointing {
                    skill: Some((other.id, other.name.clone())),
                    path: whole.clone(),
                    line: hit.line,
                    kind: hit.kind.as_str(),
                    text: line_of(&text, hit.line),
                    left: read_only.clone().or(shared),
                });
            }
            if *path == other.file_name {
                let header = crate::skill::read(text.as_bytes(), &other.name).header_span;
                let skill = Some((other.id, other.name.clone()));
                add_words(&mut found, (skill, &whole), &text, &target, header.end);
            }
        }
    }
    let name = |place: &Pointing| place.skill.as_ref().map(|(_, name)| name.clone());
    found
        .places
        .sort_by_cached_key(|place| (name(place), place.path.clone(), place.line));
    for automation in automations(store, listed)? {
        automation_places(&mut found, &automation, &target, shared.as_deref());
    }
    Ok(found)
}

fn automation_places(
    found: &mut Pointings,
    automation: &Automation,
    target: &Target,
    shared: Option<&str>,
) {
    let path = automation.path.as_path();
    let shown = path.display();
    let text = match automation.read() {
        Read::Text(_, text) => text,
        Read::Missing => {
            found.notes.push(format!(
                "{shown} is listed under `automations` and is not there"
            ));
            return;
        }
        Read::Unreadable(why) => {
            found
                .notes
                .push(format!("{shown} was not looked into: {why}"));
            return;
        }
    };
    let mut add = |line: u32, kind: Kind| {
        found.places.push(Pointing {
            skill: None,
            path: path.to_path_buf(),
            line,
            kind: kind.as_str(),
            text: line_of(&text, line),
            left: shared.filter(|_| kind != Kind::Path).map(str::to_owned),
        });
    };
    let hits = references::find(&text, Text::of_automation(path), path, target);
    if !automation.is_jobs {
        hits.iter().for_each(|hit| add(hit.line, hit.kind));
        add_words(found, (None, path), &text, target, text.len());
        return;
    }
    match jobs::find(&text) {
        Ok(skills) => {
            let is_it = |name: &str| name == target.name || name == target.rel_path;
            skills
                .iter()
                .filter(|skill| is_it(skill.name.trim_start_matches('/')))
                .for_each(|skill| add(skill.line, Kind::Value));
            let others = hits
                .iter()
                .filter(|hit| matches!(hit.kind, Kind::Slash | Kind::Path));
            others.for_each(|hit| add(hit.line, hit.kind));
            add_words(found, (None, path), &text, target, text.len());
        }
        Err(why) => found
            .notes
            .push(format!("{shown} was not looked into: {why}")),
    }
}

/// The lines up to `end`, bytes, in which the name stands as a word and is not known to mean the skill.
fn add_words(
    found: &mut Pointings,
    (skill, path): (Option<(i64, String)>, &Path),
    text: &str,
    target: &Target,
    end: usize,
) {
    let part = text.get(..end).unwrap_or_default();
    for line in references::mentions(part, &target.name) {
        let is_known = |place: &Pointing| place.path == path && place.line == line;
        if !found.places.iter().any(is_known) {
            found.places.push(Pointing {
                skill: skill.clone(),
                path: path.to_path_buf(),
                line,
                kind: "word",
                text: line_of(text, line),
                left: Some("a person may know what it means there".to_owned()),
            });
        }
    }
}

fn line_of(text: &str, line: u32) -> String {
    let number = usize::try_from(line).unwrap_or(usize::MAX);
    let line = text.lines().nth(number.saturating_sub(1));
    line.unwrap_or_default().trim().to_owned()
}

/// The text of a file, when the name is in it at all.
fn mentioning(path: &Path, target: &Target) -> Option<String> {
    let bytes = std::fs::read(path).ok()?;
    let folder = target.folder.file_name()?.to_str()?;
    let holds = |word: &str| memchr::memmem::find(&bytes, word.as_bytes()).is_some();
    if !holds(&target.name) && !holds(folder) {
        return None;
    }
    String::from_utf8(bytes).ok()
}
