//! A skill as a package: its text and every file the mirror knows of, as they are now.

use std::collections::BTreeMap;
use std::path::Path;

use crate::error::{Error, Result};
use crate::library::Content;
use crate::library::everything::everything_of_skill;
use crate::manage::draft::read_entry;
use crate::manage::places::denied;
use crate::store::{SkillFacts, Store};

/// A skill as a package.
pub(super) struct Package {
    /// Its SKILL.md.
    pub(super) text: String,
    /// Its other files, by path.
    pub(super) files: BTreeMap<String, (Content, Vec<u8>)>,
    /// What is there and no plain file: links, and what cannot be read.
    pub(super) left: Vec<String>,
    /// What the walk for skills skips, by its first folder: installed packages, caches.
    pub(super) skipped: Vec<String>,
}

impl Package {
    /// Reads it.
    ///
    /// # Errors
    /// [`Error::Denied`] where its text cannot be read as text, [`Error::Io`], [`Error::Database`].
    pub(super) fn read(store: &Store, facts: &SkillFacts, folder: &Path) -> Result<Self> {
        let text = match read_entry(folder, &facts.file_name)? {
            Some((Content::File { .. }, bytes)) => String::from_utf8(bytes).ok(),
            _ => None,
        };
        let Some(text) = text else {
            return Err(denied(
                "not-text",
                format!(
                    "{} of `{}` cannot be read as UTF-8 text",
                    facts.file_name, facts.name
                ),
                Some("--none merges without its text".to_owned()),
            ));
        };
        let mut package = Self {
            text,
            files: BTreeMap::new(),
            left: Vec::new(),
            skipped: Vec::new(),
        };
        let paths = store.supporting_files(facts.id)?;
        let all = everything_of_skill(folder).map_err(Error::io("list", folder))?;
        let unknown = all
            .files
            .iter()
            .filter(|path| !paths.contains(path) && **path != facts.file_name);
        let first = |path: &String| path.split('/').next().unwrap_or_default().to_owned();
        package.skipped = unknown.map(first).collect();
        package.skipped.dedup();
        for path in paths.into_iter().filter(|path| *path != facts.file_name) {
            match read_entry(folder, &path) {
                Ok(Some((content @ Content::File { .. }, bytes))) => {
                    package.files.insert(path, (content, bytes));
                }
                Ok(Some((Content::Link { .. }, _)))
                | Err(Error::Denied { .. } | Error::Io { .. }) => {
                    package.left.push(path);
                }
                Ok(None) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(package)
    }
}
