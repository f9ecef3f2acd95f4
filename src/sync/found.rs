//! Reads a walked skill: bytes, hashes, frontmatter.

use std::io;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::hash::{hash_of, hex};
use crate::library::files::{MAX_SKILL_BYTES, read_into};
use crate::library::{Entry, EntryKind, Unit, WalkCode, WalkFinding};
use crate::skill::{self, SkillText};

/// A walked folder, read.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) unit: Unit,
    /// The listing in the form the next sync compares.
    pub(super) packed: Vec<u8>,
    /// What the skill file says; `None` for a category folder.
    pub(super) skill: Option<ReadSkill>,
    /// What the walk had to say about this folder.
    pub(super) findings: Vec<WalkFinding>,
    /// Files whose stamps prove nothing: to be compared with the history's bytes.
    pub(super) suspects: Vec<String>,
    /// Whether all files that the history holds are to be compared with it.
    pub(super) is_suspect_whole: bool,
}

/// A skill file, read.
#[derive(Debug)]
pub(super) enum ReadSkill {
    /// Its bytes and what they say.
    Read(Box<SkillFacts>),
    /// It could not be read.
    Failed(WalkCode, String),
}

/// What the bytes of a skill file say.
#[derive(Debug)]
pub(super) struct SkillFacts {
    pub(super) content_hash: String,
    pub(super) text_hash: String,
    pub(super) tree_hash: String,
    pub(super) size: u64,
    pub(super) text: SkillText,
    /// The frontmatter as JSON text.
    pub(super) frontmatter: String,
}

impl Found {
    /// Reads the unit's skill file, if it has one. `buffer` is reused from call to call.
    pub(super) fn read(root: &Path, unit: Unit, looked_at_ns: i64, buffer: &mut Vec<u8>) -> Self {
        let packed = unit.pack(looked_at_ns);
        let skill = unit
            .skill_entry()
            .map(|entry| read_skill(&folder_path(root, &unit.rel_path), entry, &unit, buffer));
        Self {
            unit,
            packed,
            skill,
            findings: Vec::new(),
            suspects: Vec::new(),
            is_suspect_whole: false,
        }
    }

    /// Returns what the skill file says, when it could be read.
    pub(super) fn facts(&self) -> Option<&SkillFacts> {
        match &self.skill {
            Some(ReadSkill::Read(facts)) => Some(facts),
            Some(ReadSkill::Failed(..)) | None => None,
        }
    }

    /// Returns the folder's name; that of the root for a skill that is itself the root.
    pub(super) fn folder<'a>(&'a self, root: &'a Path) -> &'a str {
        folder_name(root, &self.unit)
    }

    /// Returns what people call the skill.
    pub(super) fn name<'a>(&'a self, root: &'a Path) -> &'a str {
        let declared = self
            .facts()
            .and_then(|facts| facts.text.declared_name.as_deref());
        declared.unwrap_or_else(|| self.folder(root))
    }

    /// Returns the folders between root and skill.
    pub(super) fn category(&self) -> &str {
        self.unit
            .rel_path
            .rsplit_once('/')
            .map_or("", |(category, _)| category)
    }

    /// Returns the name of the skill file.
    pub(super) fn file_name(&self) -> &str {
        self.unit
            .skill_entry()
            .map_or("SKILL.md", |entry| &entry.name)
    }
}

fn folder_name<'a>(root: &'a Path, unit: &'a Unit) -> &'a str {
    match unit.rel_path.as_str() {
        "." => root
            .file_name()
            .and_then(|name| name.to_str())
            .unwrap_or("."),
        _ => unit.folder(),
    }
}

/// Returns the absolute path of a unit.
pub(super) fn folder_path(root: &Path, rel_path: &str) -> PathBuf {
    if rel_path == "." {
        root.to_path_buf()
    } else {
        root.join(rel_path)
    }
}

fn read_skill(folder: &Path, entry: &Entry, unit: &Unit, buffer: &mut Vec<u8>) -> ReadSkill {
    match read_into(&folder.join(&entry.name), MAX_SKILL_BYTES, buffer) {
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::FileTooLarge => {
            let message = format!(
                "larger than {} MiB; not read",
                MAX_SKILL_BYTES / (1024 * 1024)
            );
            return ReadSkill::Failed(WalkCode::FileTooLarge, message);
        }
        Err(error) => {
            return ReadSkill::Failed(
                WalkCode::FileUnreadable,
                format!("the file cannot be read: {error}"),
            );
        }
    }
    let name = folder
        .file_name()
        .and_then(|name| name.to_str())
        .unwrap_or_default();
    let text = skill::read(buffer, name);
    let content_hash = hash_of(buffer);
    let facts = SkillFacts {
        text_hash: text_hash(buffer).unwrap_or_else(|| content_hash.clone()),
        tree_hash: tree_hash(&content_hash, unit),
        size: buffer.len() as u64,
        frontmatter: serde_json::to_string(&text.header).unwrap_or_else(|_| "{}".to_owned()),
        content_hash,
        text,
    };
    ReadSkill::Read(Box::new(facts))
}

/// Hashes the text without byte order mark and with LF line ends; `None` when that changes nothing.
fn text_hash(bytes: &[u8]) -> Option<String> {
    let text = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    if text.len() == bytes.len() && !bytes.contains(&b'\r') {
        return None;
    }
    let mut plain = Vec::with_capacity(text.len());
    let mut rest = text.iter().copied().peekable();
    while let Some(byte) = rest.next() {
        if byte == b'\r' {
            rest.next_if_eq(&b'\n');
            plain.push(b'\n');
        } else {
            plain.push(byte);
        }
    }
    Some(hash_of(&plain))
}

/// Hashes what one look at the folder can know: the skill file's bytes, and path, size and
/// executable bit of everything beside it. Supporting files are not read for it: that would cost
/// five times the bytes of a whole sync, to recognise a move.
fn tree_hash(content_hash: &str, unit: &Unit) -> String {
    let mut hasher = Sha256::new();
    hasher.update(content_hash);
    for (index, entry) in unit.entries.iter().enumerate() {
        if Some(index) == unit.skill_file || entry.kind == EntryKind::Folder {
            continue;
        }
        hasher.update(entry.name.as_bytes());
        hasher.update([
            0,
            u8::from(entry.stat.is_executable()),
            u8::from(entry.kind == EntryKind::Link),
        ]);
        hasher.update(entry.stat.size.to_le_bytes());
    }
    hex(&hasher.finalize())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_hash_ignores_how_an_editor_saved_it() {
        let plain = hash_of(b"a\nb\n");
        assert_eq!(text_hash(b"a\nb\n"), None);
        assert_eq!(text_hash(b"a\r\nb\r\n"), Some(plain.clone()));
        assert_eq!(text_hash(b"\xef\xbb\xbfa\rb\r"), Some(plain));
    }
}
