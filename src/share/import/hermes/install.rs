//! What Hermes' hub installed and what came with Hermes itself.

use std::path::Path;

use serde_json::{Value, json};

use super::super::damaged::Note;
use super::super::summary::Summary;
use super::record::{Target, target};
use super::{read_file, read_whole_entries, warn};
use crate::store::{Install, NamedSkill};

/// One entry of the hub's lock file.
pub(super) struct Entry {
    pub(super) name: String,
    noted_in: String,
    install_path: Option<String>,
    fields: Value,
}

/// The hub's lock file.
#[derive(Default)]
pub(super) struct Installs {
    pub(super) noted_in: String,
    pub(super) entries: Vec<Entry>,
    /// Whether all of it could be read: what it does not name is not installed.
    pub(super) is_whole: bool,
}

/// Reads the hub's lock file. A path in it is reduced to one relative to the folder of skills, however
/// the system that wrote it spells paths.
pub(super) fn read(home: &Path, skills: &Path, summary: &mut Summary) -> Installs {
    let path = [skills.join(".hub/lock.json"), home.join(".hub/lock.json")]
        .into_iter()
        .find(|path| path.exists());
    let Some(path) = path else {
        return Installs::default();
    };
    let mut entries = Vec::new();
    let (found, is_whole) = read_whole_entries(&path, &["installed"], summary);
    for (name, fields) in found {
        if !fields.is_object() {
            tell(
                summary,
                &path,
                format!("the entry `{name}` is no object, left out"),
            );
            continue;
        }
        let noted = fields.get("install_path").and_then(Value::as_str);
        let install_path = noted.and_then(|noted| relative(noted, skills));
        if let (Some(noted), None) = (noted, &install_path) {
            tell(
                summary,
                &path,
                format!(
                    "path-outside-root: `{noted}` of `{name}` leads out of the folder of skills"
                ),
            );
        }
        entries.push(Entry {
            name,
            noted_in: path.to_string_lossy().into_owned(),
            install_path,
            fields,
        });
    }
    Installs {
        noted_in: path.to_string_lossy().into_owned(),
        entries,
        is_whole,
    }
}

fn tell(summary: &mut Summary, path: &Path, message: String) {
    let note = Note {
        line: None,
        column: None,
        message,
    };
    warn(summary, path, note);
}

/// Returns the names Hermes shipped: lines of `name:hash`.
pub(super) fn read_bundled(home: &Path, summary: &mut Summary) -> Vec<String> {
    let text = read_file(&home.join("skills/.bundled_manifest"), summary).unwrap_or_default();
    text.lines()
        .map(|line| line.rsplit_once(':').map_or(line, |(name, _)| name).trim())
        .filter(|name| !name.is_empty() && !name.starts_with('#'))
        .map(str::to_owned)
        .collect()
}

/// Makes a path relative to the folder of skills: with slashes, without a drive. `None` when it leads out.
fn relative(noted: &str, skills: &Path) -> Option<String> {
    let path = noted.replace('\\', "/");
    let below = |path: &str| {
        let parts: Vec<&str> = path
            .split('/')
            .filter(|part| !part.is_empty() && *part != ".")
            .collect();
        let is_inside = !parts.is_empty() && !parts.contains(&"..");
        is_inside.then(|| parts.join("/"))
    };
    let has_drive =
        path.get(1..3) == Some(":/") && path.starts_with(|c: char| c.is_ascii_alphabetic());
    if let Some(rest) = path.strip_prefix(&format!("{}/", skills.display())) {
        return below(rest);
    }
    if has_drive || path.starts_with("//") {
        // Written on another machine: what follows its own folder of skills.
        return below(path.rsplit_once("/skills/")?.1);
    }
    if path.starts_with('/') {
        return None;
    }
    below(path.strip_prefix("skills/").unwrap_or(&path))
}

impl Entry {
    fn text(&self, key: &str) -> Option<String> {
        self.fields
            .get(key)
            .and_then(Value::as_str)
            .map(str::to_owned)
    }

    /// The hub's trust in it.
    pub(super) fn trust(&self) -> Option<String> {
        self.text("trust_level")
    }

    /// Why the skill is taken to be the hub's.
    pub(super) fn evidence(&self) -> String {
        let source = self
            .text("source")
            .unwrap_or_else(|| "an unknown source".to_owned());
        let identifier = self.text("identifier").unwrap_or_default();
        format!("hermes: installed from {source} {identifier}")
            .trim_end()
            .to_owned()
    }

    /// The skill at its place, else the one of its name.
    pub(super) fn skill<'s>(
        &self,
        found: &'s [NamedSkill],
        skills: &Path,
    ) -> Option<&'s NamedSkill> {
        let at_place = self.install_path.as_ref().and_then(|path| {
            let path = skills.join(path);
            found
                .iter()
                .find(|skill| Path::new(&skill.path()) == path && !skill.is_missing)
        });
        at_place.or_else(|| match target(&self.name, false, found) {
            Target::One(skill) | Target::First(skill, _) => Some(skill),
            Target::None => None,
        })
    }

    /// What is noted of it.
    pub(super) fn install(&self, skill_id: Option<i64>) -> Install {
        let files: Vec<String> = self
            .fields
            .get("files")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .map(|file| file.replace('\\', "/"))
            .collect();
        Install {
            noted_in: self.noted_in.clone(),
            name: self.name.clone(),
            skill_id,
            source: self.text("source"),
            identifier: self.text("identifier"),
            trust_level: self.text("trust_level"),
            scan_verdict: self.text("scan_verdict"),
            content_hash: self.text("content_hash"),
            install_path: self.install_path.clone(),
            files: Value::from(files).to_string(),
            metadata: self
                .fields
                .get("metadata")
                .unwrap_or(&json!({}))
                .to_string(),
            installed_at: self.text("installed_at"),
            updated_at: self.text("updated_at"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_of_other_systems_are_reduced_and_none_leads_out() {
        let skills = Path::new("/srv/u/.hermes/skills");
        for (noted, path) in [
            ("data\\csv-clean", Some("data/csv-clean")),
            ("data/csv-clean/", Some("data/csv-clean")),
            ("skills/x", Some("x")),
            (
                "C:\\Users\\someone\\.hermes\\skills\\tz-math",
                Some("tz-math"),
            ),
            ("/srv/u/.hermes/skills/ops/x", Some("ops/x")),
            ("/etc", None),
            ("C:\\Windows", None),
            ("../x", None),
            ("a/../../x", None),
            ("", None),
        ] {
            assert_eq!(relative(noted, skills).as_deref(), path, "{noted}");
        }
    }
}
