//! Finds the skill somebody means: by name, folder, the end of its path, its path, or its id.

use rusqlite::{Row, params};

use super::Store;
use crate::error::{Error, Result};

/// A skill that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkillAddress {
    /// Row id.
    pub id: i64,
    /// What people call it.
    pub name: String,
    /// Path relative to its root.
    pub rel_path: String,
    /// Absolute path of its folder.
    pub path: String,
    /// The skill file's name.
    pub file_name: String,
    /// Whether it is archived.
    pub is_archived: bool,
}

/// One of several skills that a name could mean.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate {
    /// Row id.
    pub id: i64,
    /// The shortest form that means this one and no other candidate.
    pub address: String,
    /// Absolute path of its folder.
    pub path: String,
}

const COLUMNS: &str = "s.id, m.name, s.rel_path, CASE WHEN s.rel_path = '.' THEN r.path ELSE r.path || '/' || s.rel_path END,
       m.file_name, s.state = 'archived'";
const FROM: &str =
    "FROM manifest m JOIN skill s ON s.id = m.skill_id JOIN skill_root r ON r.id = s.root_id";
const PRESENT: &str = "s.missing_since IS NULL AND s.removed_at IS NULL AND r.removed_at IS NULL";
/// How unlike a name may be to be offered instead, 0 to 1.
const LIKENESS: f64 = 0.75;
const OFFERED: usize = 3;

fn from_row(row: &Row<'_>) -> rusqlite::Result<SkillAddress> {
    Ok(SkillAddress {
        id: row.get(0)?,
        name: row.get(1)?,
        rel_path: row.get(2)?,
        path: row.get(3)?,
        file_name: row.get(4)?,
        is_archived: row.get(5)?,
    })
}

impl Store {
    /// Finds the one skill that `typed` means: `#id`, a declared name, a folder name, the end of a
    /// path below a root (`category/folder`), or an absolute path. Live skills come before archived ones.
    ///
    /// # Errors
    /// [`Error::SkillNotFound`], [`Error::AmbiguousName`], [`Error::Database`].
    pub fn find_skill(&self, typed: &str) -> Result<SkillAddress> {
        let mut found = match typed.strip_prefix('#').map(str::parse::<i64>) {
            Some(Ok(id)) => self.addresses("s.id = ?1", params![id])?,
            _ if typed.starts_with('/') => self.by_path(typed)?,
            _ if typed.contains('/') => self.by_tail(typed)?,
            _ => self.by_name(typed)?,
        };
        if found.iter().any(|skill| !skill.is_archived) {
            found.retain(|skill| !skill.is_archived);
        }
        match found.len() {
            0 => Err(Error::SkillNotFound {
                name: typed.to_owned(),
                similar: self.similar(typed)?,
            }),
            1 => Ok(found.remove(0)),
            _ => Err(Error::AmbiguousName {
                name: typed.to_owned(),
                candidates: candidates(&found),
            }),
        }
    }

    fn by_name(&self, name: &str) -> Result<Vec<SkillAddress>> {
        // Two look-ups by index; OR over two columns would not always use both.
        let mut found = self.addresses("m.name = ?1", params![name])?;
        for skill in self.addresses("m.folder = ?1", params![name])? {
            if !found.iter().any(|known| known.id == skill.id) {
                found.push(skill);
            }
        }
        found.sort_by(|a, b| {
            a.rel_path
                .cmp(&b.rel_path)
                .then_with(|| a.path.cmp(&b.path))
        });
        Ok(found)
    }

    fn by_tail(&self, tail: &str) -> Result<Vec<SkillAddress>> {
        let folder = tail.rsplit('/').next().unwrap_or(tail);
        let mut found = self.by_name(folder)?;
        found.retain(|skill| {
            skill.rel_path == tail || skill.rel_path.ends_with(&format!("/{tail}"))
        });
        Ok(found)
    }

    fn by_path(&self, path: &str) -> Result<Vec<SkillAddress>> {
        let path = path.trim_end_matches('/');
        let folder = path.rsplit('/').next().unwrap_or(path);
        let mut found = self.by_name(folder)?;
        found.retain(|skill| skill.path == path);
        Ok(found)
    }

    fn addresses(
        &self,
        condition: &str,
        values: impl rusqlite::Params,
    ) -> Result<Vec<SkillAddress>> {
        let sql = format!("SELECT {COLUMNS} {FROM} WHERE {condition} AND {PRESENT}");
        let query = || {
            self.connection
                .prepare_cached(&sql)?
                .query_map(values, from_row)?
                .collect::<rusqlite::Result<Vec<_>>>()
        };
        query().map_err(Error::database("look up a skill"))
    }

    fn similar(&self, typed: &str) -> Result<Vec<String>> {
        let query = || -> rusqlite::Result<Vec<String>> {
            let mut statement = self
                .connection
                .prepare("SELECT DISTINCT name FROM manifest")?;
            statement.query_map([], |row| row.get(0))?.collect()
        };
        let names = query().map_err(Error::database("look up names"))?;
        // Comparing all of 10,000 names costs 10 ms; those that begin and end elsewhere are no typo.
        let first = typed.bytes().next();
        let likeness = |name: &str| {
            if name.contains(typed) && typed.len() > 2 {
                0.9
            } else if name.bytes().next() == first && name.len().abs_diff(typed.len()) <= 4 {
                strsim::jaro_winkler(typed, name)
            } else {
                0.0
            }
        };
        let mut near: Vec<(f64, String)> = names
            .into_iter()
            .map(|name| (likeness(&name), name))
            .filter(|(score, _)| *score >= LIKENESS)
            .collect();
        near.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
        let mut offered = Vec::with_capacity(OFFERED);
        for (_, name) in near {
            // The name of a skill that vanished is no help.
            if offered.len() < OFFERED && !self.by_name(&name)?.is_empty() {
                offered.push(name);
            }
        }
        Ok(offered)
    }
}

fn candidates(found: &[SkillAddress]) -> Vec<Candidate> {
    let is_unique = |skill: &SkillAddress| {
        found
            .iter()
            .filter(|other| other.rel_path == skill.rel_path)
            .count()
            == 1
    };
    found
        .iter()
        .map(|skill| Candidate {
            id: skill.id,
            // A bare folder name would be ambiguous again, so it takes the whole path.
            address: if is_unique(skill) && skill.rel_path.contains('/') {
                skill.rel_path.clone()
            } else {
                skill.path.clone()
            },
            path: skill.path.clone(),
        })
        .collect()
}
