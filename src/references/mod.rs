//! Names of skills in texts: finds what points at a skill and rewrites it to another name. Exact names only: in
//! headers and lists, as `/name`, in links and paths, beside the word "skill". Plain words are left alone, since a
//! skill may be called `deploy`. Pure: texts and paths in, places and texts out.

mod header;
pub mod jobs;
mod lists;
mod rehome;
mod scan;

use std::ops::Range;
use std::path::{Path, PathBuf};

pub use header::rename_declared;
pub use lists::{Keep, dedupe};
pub use rehome::{Inner, Moving, Rehomed, rehome};
pub use scan::mentions;

/// Whose text it is: decides where a bare name counts. Paths count everywhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Text {
    /// A SKILL.md: a bare name counts in its header, under keys that name other skills.
    Skill,
    /// Data that the user listed as naming skills: a value that is the name and nothing else counts.
    Automation,
    /// Other data (JSON, YAML, TOML): a value may be anything.
    Data,
    /// Anything else: a name counts beside the word "skill".
    Prose,
}

impl Text {
    /// What a file of a skill with this name holds.
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

    /// What a file holds that the user listed as naming skills.
    #[must_use]
    pub fn of_automation(path: &Path) -> Self {
        match Self::of(path) {
            Self::Data => Self::Automation,
            other => other,
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
    /// Whether `/name` is a path of this machine: then it is no command.
    pub is_path: bool,
}

/// What a skill is called, and where it lies, from now on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Moved<'a> {
    /// Its name.
    pub name: &'a str,
    /// Absolute path of its folder.
    pub folder: &'a Path,
    /// The folder relative to its root.
    pub rel_path: &'a str,
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
    /// Where it is, bytes: the name itself; of a path all of it up to the skill's folder.
    pub range: Range<usize>,
    /// What a path starts from.
    pub start: Start,
}

/// What a path starts from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Start {
    /// It is no path.
    Name,
    /// The skill's root.
    Root,
    /// The top of the file system.
    Top,
    /// This folder, written `~`.
    Home(PathBuf),
    /// This folder.
    Folder(PathBuf),
}

/// Finds what points at a skill in a text that lies at `path`.
#[must_use]
pub fn find(text: &str, kind: Text, path: &Path, target: &Target) -> Vec<Hit> {
    scan::find(text, kind, path, target)
}

/// Returns the text with every hit saying what the skill is called now, and where it lies. A text inside the skill
/// moves with it.
#[must_use]
pub fn rewrite(text: &str, hits: &[Hit], from: &Target, to: &Moved<'_>) -> String {
    let mut rewritten = String::with_capacity(text.len());
    let mut at = 0;
    for hit in hits {
        rewritten.push_str(text.get(at..hit.range.start).unwrap_or_default());
        rewritten.push_str(&written(&hit.start, from, to));
        at = hit.range.end;
    }
    rewritten.push_str(text.get(at..).unwrap_or_default());
    rewritten
}

fn written(start: &Start, from: &Target, to: &Moved<'_>) -> String {
    match start {
        Start::Name => to.name.to_owned(),
        Start::Root => to.rel_path.to_owned(),
        Start::Top => to.folder.to_string_lossy().into_owned(),
        Start::Home(home) => format!("~/{}", relative(to.folder, home)),
        Start::Folder(base) => {
            let base = match base.strip_prefix(&from.folder) {
                Ok(inner) if inner.as_os_str().is_empty() => to.folder.to_path_buf(),
                Ok(inner) => to.folder.join(inner),
                Err(_) => base.clone(),
            };
            relative(to.folder, &base)
        }
    }
}

/// The way from a folder to a path.
fn relative(path: &Path, base: &Path) -> String {
    let shared = path
        .components()
        .zip(base.components())
        .take_while(|(a, b)| a == b)
        .count();
    let up = base.components().skip(shared).map(|_| "..".to_owned());
    let down = path
        .components()
        .skip(shared)
        .map(|part| part.as_os_str().to_string_lossy().into_owned());
    let way = up.chain(down).collect::<Vec<_>>().join("/");
    if way.is_empty() { ".".to_owned() } else { way }
}

#[cfg(test)]
mod tests;
