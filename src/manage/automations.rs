//! Files outside of skills that name skills and act by themselves: those the configuration lists, and the jobs of
//! Hermes homes whose skills are in the library.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use super::revert::read_outside;
use crate::error::Result;
use crate::library::Content;
use crate::library::is_not_there;
use crate::references::{self, Kind, Target, Text, jobs};
use crate::store::{SkillFacts, Store};

/// Larger files are not looked into, bytes.
const LARGEST: usize = 16 * 1024 * 1024;

/// A file that names skills.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Automation {
    pub(super) path: PathBuf,
    /// Whether it is the list of jobs of Hermes, read by its structure.
    pub(super) is_jobs: bool,
}

/// The text of an automation.
pub(super) enum Read {
    /// There is nothing there.
    Missing,
    /// What stands there cannot be read as text; why.
    Unreadable(String),
    /// Its text, and what it is as a file.
    Text(Content, String),
}

impl Automation {
    pub(super) fn read(&self) -> Read {
        match read_outside(&self.path) {
            Ok(None) => Read::Missing,
            // Links that lead somewhere were followed already.
            Ok(Some((Content::Link { .. }, _))) => {
                Read::Unreadable("the link leads to nothing".to_owned())
            }
            Ok(Some((content, bytes))) if bytes.len() <= LARGEST => {
                match String::from_utf8(bytes) {
                    Ok(text) => Read::Text(content, text),
                    Err(_) => Read::Unreadable("it is not UTF-8 text".to_owned()),
                }
            }
            Ok(Some(_)) => Read::Unreadable(format!("it has more than {LARGEST} bytes")),
            Err(error) => Read::Unreadable(error.to_string()),
        }
    }
}

/// The files that name skills: those that the configuration lists, and the jobs of each Hermes home that is known.
///
/// # Errors
/// [`crate::Error::Database`].
pub(super) fn automations(store: &Store, listed: &[PathBuf]) -> Result<Vec<Automation>> {
    let mut homes = store.hermes_homes()?;
    for root in store.roots()? {
        let is_named = root.path.file_name().is_some_and(|name| name == "skills");
        let above = root.path.parent().filter(|_| is_named);
        homes.extend(above.map(Path::to_path_buf));
    }
    let mut all: Vec<Automation> = listed
        .iter()
        .map(|path| Automation {
            path: path.canonicalize().unwrap_or_else(|_| path.clone()),
            is_jobs: path.ends_with("cron/jobs.json"),
        })
        .collect();
    for home in homes {
        let path = home.join("cron/jobs.json");
        // Only what is really not there names nothing: a link that leads nowhere, or a folder that is closed to us, is told
        // as unread.
        let is_absent = path
            .symlink_metadata()
            .is_err_and(|error| is_not_there(&error));
        if is_absent {
            continue;
        }
        let path = path.canonicalize().unwrap_or(path);
        if all.iter().all(|known| known.path != path) {
            all.push(Automation {
                path,
                is_jobs: true,
            });
        }
    }
    Ok(all)
}

/// What automations say about skills.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Named {
    /// Where each skill is named first, by its row.
    pub places: HashMap<i64, String>,
    /// Files that cannot be read, and why: nobody knows what they name.
    pub unread: Vec<String>,
    /// Files that the configuration lists and that are not there.
    pub missing: Vec<PathBuf>,
}

/// Says which skills automations name. A name counts for every skill that has it.
///
/// # Errors
/// [`crate::Error::Database`].
pub fn named_by_automations(
    store: &Store,
    listed: &[PathBuf],
    skills: &[&SkillFacts],
) -> Result<Named> {
    let mut named = Named::default();
    for automation in automations(store, listed)? {
        let shown = automation.path.display();
        let text = match automation.read() {
            Read::Missing => {
                named.missing.push(automation.path.clone());
                continue;
            }
            Read::Unreadable(why) => {
                named.unread.push(format!("{shown}: {why}"));
                continue;
            }
            Read::Text(_, text) => text,
        };
        let found = if automation.is_jobs {
            match jobs::find(&text) {
                Ok(found) => found,
                Err(why) => {
                    named.unread.push(format!("{shown}: {why}"));
                    continue;
                }
            }
        } else {
            Vec::new()
        };
        let mut by_name: HashMap<&str, &jobs::JobSkill> = HashMap::new();
        for skill in found.iter().rev() {
            by_name.insert(skill.name.trim_start_matches('/'), skill);
        }
        for facts in skills {
            let listed = by_name
                .get(facts.name.as_str())
                .or_else(|| by_name.get(facts.rel_path.as_str()));
            let place = match listed {
                Some(skill) => Some(format!("job `{}` in {shown}:{}", skill.job, skill.line)),
                None => line_in(&text, &automation, facts).map(|line| format!("{shown}:{line}")),
            };
            if let Some(place) = place {
                named.places.entry(facts.id).or_insert(place);
            }
        }
    }
    Ok(named)
}

/// The first line that names a skill. In a list of jobs only commands and paths count besides the skills they load.
fn line_in(text: &str, automation: &Automation, facts: &SkillFacts) -> Option<u32> {
    let folder = facts.rel_path.rsplit('/').next().unwrap_or_default();
    let holds = |word: &str| memchr::memmem::find(text.as_bytes(), word.as_bytes()).is_some();
    if !holds(&facts.name) && !holds(folder) {
        return None;
    }
    let hits = references::find(
        text,
        Text::of_automation(&automation.path),
        &automation.path,
        &target_of(facts),
    );
    hits.iter()
        .find(|hit| !automation.is_jobs || matches!(hit.kind, Kind::Slash | Kind::Path))
        .map(|hit| hit.line)
}

/// A skill as texts name it: an archived one by where it lay before.
#[must_use]
pub fn target_of(facts: &SkillFacts) -> Target {
    let rel_path = facts.archived_from.as_ref().unwrap_or(&facts.rel_path);
    Target {
        name: facts.name.clone(),
        folder: match rel_path.as_str() {
            "." => facts.root.clone(),
            path => facts.root.join(path),
        },
        rel_path: rel_path.clone(),
        root: facts.root.clone(),
        is_path: Path::new("/").join(&facts.name).exists(),
    }
}
