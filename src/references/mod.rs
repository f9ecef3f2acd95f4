//! Names of skills in texts: finds what points at a skill and rewrites it to another name. Exact names only: in
//! headers and lists, as `/name`, in links and paths, beside the word "skill". Plain words are left alone, since a
//! skill may be called `deploy`. Pure: texts and paths in, places and texts out.

mod header;
mod scan;

use std::ops::Range;
use std::path::{Path, PathBuf};

pub use header::rename_declared;

/// Whose text it is: decides where a bare name counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Text {
    /// A SKILL.md: a bare name counts in its header.
    Skill,
    /// Data (JSON, YAML, TOML): a value that is the name and nothing else counts, words in a longer one do not.
    Data,
    /// Anything else.
    Prose,
}

impl Text {
    /// What a file of this name holds.
    #[must_use]
    pub fn of(path: &Path) -> Self {
        let extension = path.extension().and_then(|extension| extension.to_str());
        let name = path.file_name().and_then(|name| name.to_str());
        match (name, extension.map(str::to_ascii_lowercase).as_deref()) {
            (Some(name), _) if name.eq_ignore_ascii_case("SKILL.md") => Self::Skill,
            (_, Some("json" | "jsonl" | "jsonc" | "yaml" | "yml" | "toml")) => Self::Data,
            _ => Self::Prose,
        }
    }
}

/// The skill that is looked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// What people call it.
    pub name: String,
    /// Absolute path of its folder.
    pub folder: PathBuf,
    /// The folder relative to its root: what `category/name` means.
    pub rel_path: String,
    /// Absolute path of its root: paths may be relative to it, or to the folder it lies in.
    pub root: PathBuf,
}

/// How a text points at a skill.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// A value in a header or in data.
    Value,
    /// `/name`.
    Slash,
    /// A name beside the word "skill".
    Mention,
    /// A link or a path into its folder.
    Path,
}

impl Kind {
    /// The word for it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Value => "value",
            Self::Slash => "slash command",
            Self::Mention => "mention",
            Self::Path => "path",
        }
    }
}

/// A place that points at a skill.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hit {
    /// From 1.
    pub line: u32,
    /// How.
    pub kind: Kind,
    /// Where the name itself is, bytes.
    pub range: Range<usize>,
}

/// Finds what points at a skill in a text that lies at `path`.
#[must_use]
pub fn find(text: &str, kind: Text, path: &Path, target: &Target) -> Vec<Hit> {
    scan::find(text, kind, path, target)
}

/// Returns the text with every hit saying another name.
#[must_use]
pub fn rewrite(text: &str, hits: &[Hit], name: &str) -> String {
    let mut rewritten = String::with_capacity(text.len());
    let mut at = 0;
    for hit in hits {
        rewritten.push_str(text.get(at..hit.range.start).unwrap_or_default());
        rewritten.push_str(name);
        at = hit.range.end;
    }
    rewritten.push_str(text.get(at..).unwrap_or_default());
    rewritten
}

#[cfg(test)]
mod tests;
