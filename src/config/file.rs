//! A configuration file as it is written: its keys, and what is said of those that are wrong.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;

use super::ColorChoice;
use crate::error::{Error, Result};

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct File {
    #[serde(default)]
    pub(super) roots: Vec<FileRoot>,
    #[serde(default)]
    pub(super) clients: Vec<String>,
    pub(super) history: Option<FileHistory>,
    pub(super) color: Option<ColorChoice>,
    #[serde(default)]
    pub(super) write_policy: BTreeMap<String, FilePolicy>,
    #[serde(default)]
    pub(super) automations: Vec<String>,
    pub(super) curator: Option<FileCurator>,
    pub(super) guard: Option<FileGuard>,
}

/// Who is trusted, what follows from a verdict, which rules are in force.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FileGuard {
    #[serde(default)]
    pub(super) policy: BTreeMap<String, BTreeMap<String, String>>,
    #[serde(default)]
    pub(super) trust: Vec<FileTrust>,
    #[serde(default)]
    pub(super) rules: Vec<FileOwnRule>,
    #[serde(default)]
    pub(super) off: Vec<FileReason>,
    #[serde(default)]
    pub(super) accept: Vec<FileReason>,
}

/// How far what lies below a folder is trusted.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FileTrust {
    pub(super) root: String,
    pub(super) r#as: String,
}

/// A rule of the user.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FileOwnRule {
    pub(super) id: String,
    pub(super) class: String,
    pub(super) severity: String,
    pub(super) near: Vec<String>,
    pub(super) pattern: String,
    pub(super) phrase: Option<bool>,
    pub(super) say: String,
    pub(super) fix: Option<String>,
    pub(super) reason: String,
}

/// A rule that is off, or a finding that was accepted, and why.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FileReason {
    pub(super) rule: Option<String>,
    pub(super) finding: Option<String>,
    pub(super) reason: Option<String>,
}

/// When the curator runs, and what ages how fast.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FileCurator {
    pub(super) enabled: Option<bool>,
    pub(super) interval_hours: Option<u32>,
    pub(super) min_idle_hours: Option<f64>,
    pub(super) stale_after_days: Option<Period>,
    pub(super) archive_after_days: Option<Period>,
    pub(super) bundled: Option<bool>,
    pub(super) protect: Option<Vec<String>>,
    #[serde(default)]
    pub(super) categories: BTreeMap<String, FilePeriods>,
    #[serde(default)]
    pub(super) tags: BTreeMap<String, FilePeriods>,
}

/// The periods of a category or a tag.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FilePeriods {
    pub(super) stale_after_days: Option<Period>,
    pub(super) archive_after_days: Option<Period>,
}

/// Days, or `never`.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum Period {
    Days(i64),
    Word(String),
}

/// One rule for everything an actor does, or one for each action.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum FilePolicy {
    Every(String),
    ByAction(BTreeMap<String, String>),
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FileRoot {
    pub(super) path: String,
    pub(super) kind: Option<String>,
    pub(super) priority: Option<i64>,
    pub(super) writable: Option<bool>,
    pub(super) client: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FileHistory {
    pub(super) supporting_mib: Option<u64>,
}

/// What is read of the configuration of a Hermes home.
#[derive(Debug, Default, Deserialize)]
struct HermesFile {
    #[serde(default)]
    skills: HermesSkills,
}

#[derive(Debug, Default, Deserialize)]
struct HermesSkills {
    #[serde(default)]
    external_dirs: Vec<String>,
}

/// Reads which other folders of skills a Hermes home names.
///
/// # Errors
/// What is wrong with the text, in words.
pub(super) fn hermes_external_dirs(text: &str) -> std::result::Result<Vec<String>, String> {
    if text.trim().is_empty() {
        return Ok(Vec::new());
    }
    serde_yaml::from_str::<HermesFile>(text)
        .map(|file| file.skills.external_dirs)
        .map_err(|error| {
            error
                .to_string()
                .lines()
                .next()
                .unwrap_or_default()
                .to_owned()
        })
}

/// Reads a configuration file's text. An unknown key is refused, with the nearest known one.
///
/// # Errors
/// [`Error::Config`] naming file and line.
pub(super) fn parse(path: &Path, text: &str) -> Result<File> {
    if text
        .lines()
        .all(|line| line.trim().is_empty() || line.trim_start().starts_with('#'))
    {
        return Ok(File::default());
    }
    serde_yaml::from_str(text).map_err(|error| {
        let line = error
            .location()
            .and_then(|location| u32::try_from(location.line()).ok());
        let words = error.to_string();
        let message = words
            .lines()
            .next()
            .unwrap_or_default()
            .trim_start_matches("error: ");
        // The place stands in front already.
        let message = match message.split_once(": ") {
            Some((place, rest)) if place.starts_with("line ") => rest.to_owned(),
            _ => message.to_owned(),
        };
        let hint = unknown_key(&words).map(|(key, known)| match nearest_key(key, &known) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("known keys here: {}", known.join(", ")),
        });
        Error::Config {
            path: Some(path.to_path_buf()),
            line,
            message,
            hint,
        }
    })
}

/// Takes the unknown key, and the keys known in its place, out of what the YAML reader says.
fn unknown_key(words: &str) -> Option<(&str, Vec<&str>)> {
    let (_, rest) = words.split_once("unknown field `")?;
    let (key, rest) = rest.split_once('`')?;
    let (_, known) = rest
        .split_once("expected one of ")
        .or_else(|| rest.split_once("expected "))?;
    let names = known.lines().next().unwrap_or_default().split(", ");
    Some((key, names.map(|name| name.trim_matches('`')).collect()))
}

fn nearest_key<'k>(key: &str, known: &[&'k str]) -> Option<&'k str> {
    let distances = known
        .iter()
        .map(|known| (strsim::damerau_levenshtein(known, key), *known));
    let near = distances.min()?;
    (near.0 <= 2).then_some(near.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_keys_are_refused_with_a_suggestion() {
        let error = parse(Path::new("config.yaml"), "roots: []\nclientz: [codex]\n").unwrap_err();
        assert!(error.to_string().starts_with("config.yaml:2: "), "{error}");
        assert_eq!(error.hint().unwrap(), "did you mean `clients`?");
    }

    #[test]
    fn a_file_of_comments_sets_nothing() {
        let file = parse(Path::new("config.yaml"), "# roots:\n\n").unwrap();
        assert!(file.roots.is_empty() && file.clients.is_empty());
    }
}
