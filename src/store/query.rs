//! What commands list and show.

use rusqlite::{OptionalExtension, Row, ToSql};

use super::Store;
use crate::error::{Error, Result};

/// One skill in a listing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkillRow {
    /// Row id.
    pub id: i64,
    /// What people call it.
    pub name: String,
    /// The name in the frontmatter.
    pub declared_name: Option<String>,
    /// The folder's name.
    pub folder: String,
    /// The folders between root and skill.
    pub category: String,
    /// The description.
    pub description: Option<String>,
    /// Absolute path of the folder.
    pub path: String,
    /// Path relative to the root.
    pub rel_path: String,
    /// Absolute path of the root.
    pub root: String,
    /// The skill file's name.
    pub file_name: String,
    /// active, stale, archived.
    pub state: String,
    /// Who made it.
    pub origin: String,
    /// Whether it is pinned.
    pub pinned: bool,
    /// ok or repaired.
    pub parse_status: String,
    /// The version, as text.
    pub version: Option<String>,
    /// SHA-256 of the skill file.
    pub content_hash: Option<String>,
    /// Bytes of the skill file.
    pub size: i64,
    /// What the guard says; `None` while nobody looked.
    pub verdict: Option<String>,
}

/// Everything `show --json` tells beyond the listing.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SkillDetail {
    /// SHA-256 of the text however it was saved.
    pub text_hash: Option<String>,
    /// Where the body starts, bytes.
    pub body_offset: usize,
    /// The frontmatter as JSON text.
    pub frontmatter: String,
    /// Kind and value.
    pub conditions: Vec<(String, String)>,
    /// Kind, name, description, required.
    pub requirements: Vec<(String, String, Option<String>, bool)>,
    /// Tags.
    pub tags: Vec<String>,
    /// Settings it declares.
    pub config: Vec<DeclaredConfig>,
    /// Path, kind, size, mode, link target.
    pub files: Vec<(String, String, i64, u32, Option<String>)>,
}

/// A setting a skill declares: key, description, default, prompt.
pub type DeclaredConfig = (String, Option<String>, Option<String>, Option<String>);

/// A skill file that no client could load.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RefusedRow {
    /// Absolute path of the file.
    pub path: String,
    /// The error's stable word.
    pub code: Option<String>,
    /// From 1.
    pub line: Option<u32>,
    /// From 1.
    pub column: Option<u32>,
    /// One sentence.
    pub message: Option<String>,
}

/// A skill whose folder vanished.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MissingRow {
    /// Row id.
    pub id: i64,
    /// What people call it.
    pub name: String,
    /// Absolute path of the root.
    pub root: String,
    /// Path relative to the root.
    pub rel_path: String,
    /// Since when, as stored.
    pub missing_since: String,
}

/// One finding of the last sync.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DiagnosticRow {
    /// The skill it is about.
    pub skill_id: Option<i64>,
    /// Absolute path.
    pub path: String,
    /// Stable word.
    pub code: String,
    /// What loading makes of it.
    pub severity: Option<String>,
    /// What the spec makes of it.
    pub strict_severity: Option<String>,
    /// From 1.
    pub line: Option<u32>,
    /// From 1.
    pub column: Option<u32>,
    /// One sentence.
    pub message: String,
    /// Text to paste.
    pub suggestion: Option<String>,
}

/// One copy of a name that stands in several places.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Copy {
    /// The name they share.
    pub name: String,
    /// Row id.
    pub id: i64,
    /// Absolute path of the folder.
    pub path: String,
    /// Path relative to the root.
    pub rel_path: String,
    /// Absolute path of the root.
    pub root: String,
    /// active or stale.
    pub state: String,
    /// SHA-256 of the text however it was saved: equal for copies with the same text.
    pub text_hash: Option<String>,
}

const LIST: &str = "SELECT id, name, declared_name, folder, category, description, path, rel_path, root, file_name, state,
      origin, pinned, parse_status, version, content_hash, size, verdict
    FROM v_skill";

fn skill_row(row: &Row<'_>) -> rusqlite::Result<SkillRow> {
    Ok(SkillRow {
        id: row.get(0)?,
        name: row.get(1)?,
        declared_name: row.get(2)?,
        folder: row.get(3)?,
        category: row.get(4)?,
        description: row.get(5)?,
        path: row.get(6)?,
        rel_path: row.get(7)?,
        root: row.get(8)?,
        file_name: row.get(9)?,
        state: row.get(10)?,
        origin: row.get(11)?,
        pinned: row.get(12)?,
        parse_status: row.get(13)?,
        version: row.get(14)?,
        content_hash: row.get(15)?,
        size: row.get(16)?,
        verdict: row.get(17)?,
    })
}

fn refused_row(row: &Row<'_>) -> rusqlite::Result<RefusedRow> {
    Ok(RefusedRow {
        path: row.get(0)?,
        code: row.get(1)?,
        line: row.get(2)?,
        column: row.get(3)?,
        message: row.get(4)?,
    })
}

/// The few columns a listing for people shows, borrowed from the statement's own row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ShortRow<'a> {
    /// What people call it.
    pub name: &'a str,
    /// active, stale, archived.
    pub state: &'a str,
    /// Absolute path of the root.
    pub root: &'a str,
    /// Path relative to the root.
    pub rel_path: &'a str,
    /// The description, empty for none.
    pub description: &'a str,
}

impl Store {
    /// Hands each live (or archived) skill to `take`, by name, then place, without holding them all.
    ///
    /// # Errors
    /// What `take` returns, or [`Error::Database`].
    pub fn each_short(
        &self,
        archived: bool,
        mut take: impl FnMut(ShortRow<'_>) -> Result<()>,
    ) -> Result<()> {
        // The index holds everything of the manifest that is asked for: CROSS JOIN keeps it outermost.
        const SELECT: &str = "SELECT m.name, s.state, r.path, s.rel_path, m.description
            FROM manifest m INDEXED BY manifest_by_name
            CROSS JOIN skill s ON s.id = m.skill_id
            CROSS JOIN skill_root r ON r.id = s.root_id
            WHERE m.parse_status <> 'unreadable'
              AND (s.state = 'archived') = ?1
              AND s.missing_since IS NULL
              AND s.removed_at IS NULL
              AND r.removed_at IS NULL
            ORDER BY m.name, r.path, s.rel_path";
        let fail = |error| Error::database("list the skills")(error);
        let mut statement = self.connection.prepare(SELECT).map_err(fail)?;
        let mut rows = statement.query([archived]).map_err(fail)?;
        while let Some(row) = rows.next().map_err(fail)? {
            let text = |index| row.get_ref(index).and_then(|value| Ok(value.as_str()?));
            let short = || -> rusqlite::Result<ShortRow<'_>> {
                Ok(ShortRow {
                    name: text(0)?,
                    state: text(1)?,
                    root: text(2)?,
                    rel_path: text(3)?,
                    description: row.get_ref(4)?.as_str_or_null()?.unwrap_or_default(),
                })
            };
            take(short().map_err(fail)?)?;
        }
        Ok(())
    }

    /// Returns the live skills (or the archived ones), by name, then path.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn list_skills(&self, archived: bool) -> Result<Vec<SkillRow>> {
        let sql = format!("{LIST} WHERE (state = 'archived') = ?1 ORDER BY name, path");
        self.rows(&sql, &[&archived], skill_row, "list the skills")
    }

    /// Returns the listing row of one skill; `None` when it is not loadable.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn skill_row(&self, id: i64) -> Result<Option<SkillRow>> {
        let sql = format!("{LIST} WHERE id = ?1");
        let query = || {
            self.connection
                .prepare_cached(&sql)?
                .query_row([id], skill_row)
                .optional()
        };
        query().map_err(Error::database("read a skill"))
    }

    /// Returns everything else the mirror holds of one skill.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn skill_detail(&self, id: i64) -> Result<SkillDetail> {
        const MANIFEST: &str =
            "SELECT text_hash, body_offset, frontmatter FROM manifest WHERE skill_id = ?1";
        let manifest = |row: &Row<'_>| {
            Ok(SkillDetail {
                text_hash: row.get(0)?,
                body_offset: row.get(1)?,
                frontmatter: row.get(2)?,
                ..SkillDetail::default()
            })
        };
        let mut detail = self
            .connection
            .query_row(MANIFEST, [id], manifest)
            .map_err(Error::database("read a skill"))?;
        detail.conditions = self.part(id, "kind, value FROM skill_condition", |row| {
            Ok((row.get(0)?, row.get(1)?))
        })?;
        let requirements = "kind, name, description, required FROM skill_requirement";
        detail.requirements = self.part(id, requirements, |row| {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?))
        })?;
        detail.tags = self.part(id, "tag, skill_id FROM skill_tag", |row| row.get(0))?;
        let config = "key, description, default_value, prompt FROM skill_config";
        detail.config = self.part(id, config, |row| {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?))
        })?;
        let files = "rel_path, kind, size, mode, link_target FROM skill_file";
        detail.files = self.part(id, files, |row| {
            let (path, kind, size) = (row.get(0)?, row.get(1)?, row.get(2)?);
            Ok((path, kind, size, row.get(3)?, row.get(4)?))
        })?;
        Ok(detail)
    }

    /// Reads the rows of one skill from one of its tables. `what` is columns and table.
    fn part<T>(
        &self,
        id: i64,
        what: &str,
        read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>> {
        let sql = format!("SELECT {what} WHERE skill_id = ?1 ORDER BY 1, 2");
        self.rows(&sql, &[&id], read, "read a part of a skill")
    }

    /// Returns the skill files no client could load, each with its first error.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn list_refused(&self) -> Result<Vec<RefusedRow>> {
        const SELECT: &str =
            "SELECT path, code, line, column, message FROM v_refused ORDER BY path";
        self.rows(SELECT, &[], refused_row, "list the refused files")
    }

    /// Returns errors of the walk: links that lead nowhere, names no row can hold, closed folders.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn standing_errors(&self) -> Result<Vec<RefusedRow>> {
        const SELECT: &str = "SELECT d.path, d.code, d.line, d.column, d.message
            FROM diagnostic d
            JOIN skill_root r ON r.id = d.root_id
            WHERE d.severity = 'error' AND r.removed_at IS NULL
              AND (d.skill_id IS NULL OR d.code IN ('not-a-file', 'link-dangling', 'name-not-utf8', 'folder-unreadable'))
            ORDER BY d.path";
        self.rows(SELECT, &[], refused_row, "list the errors of the walk")
    }

    /// Returns path and code of what the walk of a root had to say that is about no skill.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn walk_findings(&self, root_id: i64) -> Result<Vec<(String, String)>> {
        const SELECT: &str =
            "SELECT path, code FROM diagnostic WHERE root_id = ?1 AND skill_id IS NULL";
        self.rows(
            SELECT,
            &[&root_id],
            |row| Ok((row.get(0)?, row.get(1)?)),
            "read the findings",
        )
    }

    /// Says whether links in a root lead to one folder.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn has_repeated_links(&self, root_id: i64) -> Result<bool> {
        const SELECT: &str = "SELECT EXISTS (SELECT 1 FROM diagnostic WHERE root_id = ?1 AND code = 'link-repeated')";
        let query = || {
            self.connection
                .query_row(SELECT, [root_id], |row| row.get(0))
        };
        query().map_err(Error::database("read the findings"))
    }

    /// Returns the skills whose folders vanished.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn list_missing(&self) -> Result<Vec<MissingRow>> {
        const SELECT: &str =
            "SELECT id, name, root, rel_path, missing_since FROM v_missing ORDER BY name, id";
        let read = |row: &Row<'_>| {
            Ok(MissingRow {
                id: row.get(0)?,
                name: row.get(1)?,
                root: row.get(2)?,
                rel_path: row.get(3)?,
                missing_since: row.get(4)?,
            })
        };
        self.rows(SELECT, &[], read, "list the vanished skills")
    }

    /// Returns findings of the last sync: all, or those of one skill.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn diagnostics(&self, skill_id: Option<i64>) -> Result<Vec<DiagnosticRow>> {
        const SELECT: &str = "SELECT skill_id, path, code, severity, strict_severity, line, column, message, suggestion FROM diagnostic";
        const ORDER: &str = "ORDER BY path, line, column, code";
        let read = |row: &Row<'_>| {
            Ok(DiagnosticRow {
                skill_id: row.get(0)?,
                path: row.get(1)?,
                code: row.get(2)?,
                severity: row.get(3)?,
                strict_severity: row.get(4)?,
                line: row.get(5)?,
                column: row.get(6)?,
                message: row.get(7)?,
                suggestion: row.get(8)?,
            })
        };
        match skill_id {
            Some(id) => self.rows(
                &format!("{SELECT} WHERE skill_id = ?1 {ORDER}"),
                &[&id],
                read,
                "read the findings",
            ),
            None => self.rows(&format!("{SELECT} {ORDER}"), &[], read, "read the findings"),
        }
    }

    /// Returns every copy of every name that stands in more than one place, by name, then path.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn list_copies(&self) -> Result<Vec<Copy>> {
        const SELECT: &str = "SELECT v.name, v.id, v.path, v.rel_path, v.root, v.state, v.text_hash
            FROM v_duplicate_name d
            JOIN v_skill v ON v.name = d.name AND v.state <> 'archived'
            ORDER BY v.name, v.path";
        let read = |row: &Row<'_>| {
            Ok(Copy {
                name: row.get(0)?,
                id: row.get(1)?,
                path: row.get(2)?,
                rel_path: row.get(3)?,
                root: row.get(4)?,
                state: row.get(5)?,
                text_hash: row.get(6)?,
            })
        };
        self.rows(SELECT, &[], read, "list names that stand in several places")
    }

    pub(super) fn rows<T>(
        &self,
        sql: &str,
        values: &[&dyn ToSql],
        read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
        context: &'static str,
    ) -> Result<Vec<T>> {
        let query = || {
            self.connection
                .prepare_cached(sql)?
                .query_map(values, read)?
                .collect::<rusqlite::Result<Vec<_>>>()
        };
        query().map_err(Error::database(context))
    }
}
