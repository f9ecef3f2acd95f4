//! The mirror tables: what the files say. Everything here can be refilled from disk.

use rusqlite::params;

use super::Tx;
use crate::error::{Error, Result};

/// What the mirror holds of one skill file.
#[derive(Debug, Clone, Copy)]
pub struct SkillRecord<'a> {
    /// The skill's row.
    pub skill_id: i64,
    /// What people call it.
    pub name: &'a str,
    /// The name in the frontmatter.
    pub declared_name: Option<&'a str>,
    /// The folder's name.
    pub folder: &'a str,
    /// The folders between root and skill, empty for none.
    pub category: &'a str,
    /// The description as YAML says.
    pub description: Option<&'a str>,
    /// The skill file's name.
    pub file_name: &'a str,
    /// SHA-256 of the bytes, hexadecimal.
    pub content_hash: Option<&'a str>,
    /// SHA-256 of the text without byte order mark and with LF line ends.
    pub text_hash: Option<&'a str>,
    /// SHA-256 over the folder's layout.
    pub tree_hash: Option<&'a str>,
    /// The frontmatter as JSON.
    pub frontmatter: &'a str,
    /// Where the body starts, bytes.
    pub body_offset: usize,
    /// Bytes of the skill file.
    pub size: u64,
    /// Last write, nanoseconds.
    pub mtime_ns: i64,
    /// Last change, nanoseconds.
    pub ctime_ns: i64,
    /// Inode number.
    pub inode: u64,
    /// ok, repaired, unreadable.
    pub parse_status: &'a str,
}

/// One supporting file.
#[derive(Debug, Clone, Copy)]
pub struct FileRecord<'a> {
    /// Path relative to the skill.
    pub rel_path: &'a str,
    /// reference, template, script, asset, other.
    pub kind: &'a str,
    /// Bytes.
    pub size: u64,
    /// Permission bits.
    pub mode: u32,
    /// Last write, nanoseconds.
    pub mtime_ns: i64,
    /// Where it leads, when it is a link.
    pub link_target: Option<&'a str>,
}

/// When a skill is visible.
#[derive(Debug, Clone, Copy)]
pub struct ConditionRecord<'a> {
    /// platform, requires_tool, ...
    pub kind: &'a str,
    /// The platform, the tool, ...
    pub value: &'a str,
}

/// What a skill needs before it can run.
#[derive(Debug, Clone, Copy)]
pub struct RequirementRecord<'a> {
    /// env, credential_file, command.
    pub kind: &'a str,
    /// The variable, file or command.
    pub name: &'a str,
    /// What it is for.
    pub description: Option<&'a str>,
    /// Whether the skill is useless without it.
    pub required: bool,
}

/// A setting a skill declares.
#[derive(Debug, Clone, Copy)]
pub struct ConfigRecord<'a> {
    /// Dotted key.
    pub key: &'a str,
    /// What it is for.
    pub description: Option<&'a str>,
    /// Value without a setting.
    pub default_value: Option<&'a str>,
    /// How to ask for it.
    pub prompt: Option<&'a str>,
}

/// One finding about a file.
#[derive(Debug, Clone, Copy)]
pub struct DiagnosticRecord<'a> {
    /// The root it was found in.
    pub root_id: i64,
    /// The walked folder that produced it.
    pub unit: &'a str,
    /// The skill it is about.
    pub skill_id: Option<i64>,
    /// Absolute path.
    pub path: &'a str,
    /// Stable word.
    pub code: &'a str,
    /// What loading makes of it.
    pub severity: Option<&'a str>,
    /// What the spec makes of it.
    pub strict_severity: Option<&'a str>,
    /// From 1.
    pub line: Option<u32>,
    /// In characters, from 1.
    pub column: Option<u32>,
    /// One sentence.
    pub message: &'a str,
    /// Text to paste.
    pub suggestion: Option<&'a str>,
}

/// Tables with one or more rows a skill, emptied before a skill is written again.
const PER_SKILL: [&str; 7] = [
    "DELETE FROM skill_file WHERE skill_id = ?1",
    "DELETE FROM skill_condition WHERE skill_id = ?1",
    "DELETE FROM skill_requirement WHERE skill_id = ?1",
    "DELETE FROM skill_tag WHERE skill_id = ?1",
    "DELETE FROM skill_config WHERE skill_id = ?1",
    "DELETE FROM skill_reference WHERE from_skill_id = ?1",
    "DELETE FROM manifest WHERE skill_id = ?1",
];

/// Rows of the mirror that belong to nothing: no file could ever touch them again.
const ORPHANS: &str = "DELETE FROM skill_file WHERE skill_id NOT IN (SELECT skill_id FROM manifest);
    DELETE FROM walk_unit WHERE skill_id NOT IN (SELECT id FROM skill WHERE removed_at IS NULL AND missing_since IS NULL);
    DELETE FROM diagnostic WHERE skill_id NOT IN (SELECT id FROM skill);";

fn stored_inode(inode: u64) -> i64 {
    // The bits are kept: some file systems use the highest one.
    i64::from_ne_bytes(inode.to_ne_bytes())
}

fn stored_size(size: u64) -> i64 {
    i64::try_from(size).unwrap_or(i64::MAX)
}

impl Tx<'_> {
    /// Forgets what walking a root found out, before all of it is written again.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn clear_walk_of(&self, root_id: i64) -> Result<()> {
        const CLEAR: [&str; 2] = [
            "DELETE FROM walk_unit WHERE root_id = ?1",
            "DELETE FROM diagnostic WHERE root_id = ?1",
        ];
        CLEAR
            .iter()
            .try_for_each(|clear| self.run(clear, [root_id], "empty the mirror of a root"))
    }

    /// Removes rows that belong to nothing.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn remove_orphans(&self) -> Result<()> {
        self.transaction
            .execute_batch(ORPHANS)
            .map_err(Error::database("remove rows that belong to nothing"))
    }

    /// Empties the mirror of one skill.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn clear_mirror_of(&self, skill_id: i64) -> Result<()> {
        PER_SKILL
            .iter()
            .try_for_each(|delete| self.run(delete, [skill_id], "empty the mirror of a skill"))
    }

    /// Gives the mirror rows of one life to another.
    pub(super) fn hand_over_mirror(&self, from: i64, to: i64) -> Result<()> {
        const HAND_OVER: [&str; 9] = [
            "UPDATE manifest SET skill_id = ?2 WHERE skill_id = ?1",
            "UPDATE skill_file SET skill_id = ?2 WHERE skill_id = ?1",
            "UPDATE skill_condition SET skill_id = ?2 WHERE skill_id = ?1",
            "UPDATE skill_requirement SET skill_id = ?2 WHERE skill_id = ?1",
            "UPDATE skill_tag SET skill_id = ?2 WHERE skill_id = ?1",
            "UPDATE skill_config SET skill_id = ?2 WHERE skill_id = ?1",
            "UPDATE skill_reference SET from_skill_id = ?2 WHERE from_skill_id = ?1",
            "UPDATE diagnostic SET skill_id = ?2 WHERE skill_id = ?1",
            "UPDATE walk_unit SET skill_id = ?2 WHERE skill_id = ?1",
        ];
        HAND_OVER
            .iter()
            .try_for_each(|update| self.run(update, [from, to], "hand over the mirror of a skill"))
    }

    /// Writes the manifest row of a skill.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn put_manifest(&self, record: &SkillRecord<'_>) -> Result<()> {
        const INSERT: &str = "INSERT OR REPLACE INTO manifest (skill_id, name, declared_name, folder, category, description,
              file_name, content_hash, text_hash, tree_hash, frontmatter, body_offset, size, mtime_ns, ctime_ns, inode, parse_status)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17)";
        let values = params![
            record.skill_id,
            record.name,
            record.declared_name,
            record.folder,
            record.category,
            record.description,
            record.file_name,
            record.content_hash,
            record.text_hash,
            record.tree_hash,
            record.frontmatter,
            stored_size(record.body_offset as u64),
            stored_size(record.size),
            record.mtime_ns,
            record.ctime_ns,
            stored_inode(record.inode),
            record.parse_status,
        ];
        self.run(INSERT, values, "mirror a skill")
    }

    /// Says whether the mirror holds anything of a skill.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn has_manifest(&self, skill_id: i64) -> Result<bool> {
        const SELECT: &str = "SELECT EXISTS (SELECT 1 FROM manifest WHERE skill_id = ?1)";
        let query = || {
            self.transaction
                .prepare_cached(SELECT)?
                .query_row([skill_id], |row| row.get(0))
        };
        query().map_err(Error::database("look up a manifest"))
    }

    /// Notes that a skill file that was read before cannot be read now, keeping what it said.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn mark_unreadable(&self, skill_id: i64) -> Result<()> {
        const MARK: &str = "UPDATE manifest SET parse_status = 'unreadable' WHERE skill_id = ?1";
        self.run(MARK, [skill_id], "mark a skill as unreadable")
    }

    /// Writes one supporting file of a skill.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn put_file(&self, skill_id: i64, file: &FileRecord<'_>) -> Result<()> {
        const INSERT: &str = "INSERT OR REPLACE INTO skill_file (skill_id, rel_path, kind, size, mode, mtime_ns, link_target)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
        let size = stored_size(file.size);
        let values = params![
            skill_id,
            file.rel_path,
            file.kind,
            size,
            file.mode,
            file.mtime_ns,
            file.link_target
        ];
        self.run(INSERT, values, "mirror a supporting file")
    }

    /// Writes one visibility condition.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn put_condition(&self, skill_id: i64, condition: ConditionRecord<'_>) -> Result<()> {
        const INSERT: &str =
            "INSERT OR IGNORE INTO skill_condition (skill_id, kind, value) VALUES (?1, ?2, ?3)";
        self.run(
            INSERT,
            params![skill_id, condition.kind, condition.value],
            "mirror a condition",
        )
    }

    /// Writes one requirement.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn put_requirement(&self, skill_id: i64, requirement: RequirementRecord<'_>) -> Result<()> {
        const INSERT: &str =
            "INSERT OR IGNORE INTO skill_requirement (skill_id, kind, name, description, required)
            VALUES (?1, ?2, ?3, ?4, ?5)";
        let values = params![
            skill_id,
            requirement.kind,
            requirement.name,
            requirement.description,
            requirement.required
        ];
        self.run(INSERT, values, "mirror a requirement")
    }

    /// Writes one tag.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn put_tag(&self, skill_id: i64, tag: &str) -> Result<()> {
        const INSERT: &str = "INSERT OR IGNORE INTO skill_tag (skill_id, tag) VALUES (?1, ?2)";
        self.run(INSERT, params![skill_id, tag], "mirror a tag")
    }

    /// Writes one declared setting.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn put_config(&self, skill_id: i64, config: ConfigRecord<'_>) -> Result<()> {
        const INSERT: &str =
            "INSERT OR IGNORE INTO skill_config (skill_id, key, description, default_value, prompt)
            VALUES (?1, ?2, ?3, ?4, ?5)";
        let values = params![
            skill_id,
            config.key,
            config.description,
            config.default_value,
            config.prompt
        ];
        self.run(INSERT, values, "mirror a setting")
    }

    /// Writes one finding.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn put_diagnostic(&self, record: &DiagnosticRecord<'_>) -> Result<()> {
        const INSERT: &str = "INSERT INTO diagnostic (root_id, unit, skill_id, path, code, severity, strict_severity,
              line, column, message, suggestion)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)";
        let values = params![
            record.root_id,
            record.unit,
            record.skill_id,
            record.path,
            record.code,
            record.severity,
            record.strict_severity,
            record.line,
            record.column,
            record.message,
            record.suggestion,
        ];
        self.run(INSERT, values, "note a finding")
    }

    /// Removes the findings of one walked folder.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn clear_diagnostics(&self, root_id: i64, unit: &str) -> Result<()> {
        const CLEAR: &str = "DELETE FROM diagnostic WHERE root_id = ?1 AND unit = ?2";
        self.run(CLEAR, params![root_id, unit], "forget old findings")
    }
}
