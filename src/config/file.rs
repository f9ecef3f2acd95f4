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
