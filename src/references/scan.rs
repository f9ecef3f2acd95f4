//! Looks at every place where a name stands as a whole word, and says whether it means the skill.

use std::path::{Component, Path, PathBuf};

use memchr::memmem;

use super::{Hit, Kind, Start, Target, Text};

/// Characters of names: what a name is next to decides whether it is one.
fn is_part(character: char) -> bool {
    character.is_alphanumeric() || matches!(character, '_' | '-' | '.')
}

/// Characters of paths.
pub(super) fn is_path(character: char) -> bool {
    is_part(character) || matches!(character, '/' | '~' | '+' | '@' | '%')
}

pub(super) fn find(text: &str, kind: Text, path: &Path, target: &Target) -> Vec<Hit> {
    let folder = target.folder.file_name().and_then(|name| name.to_str());
    let mut names = vec![target.name.as_str()];
    names.extend(folder.filter(|folder| *folder != target.name));
    let header = match kind {
        Text::Skill => header_end(text),
        Text::Automation => text.len(),
        Text::Data | Text::Prose => 0,
    };
    let mut hits = Vec::new();
    for name in names.iter().filter(|name| !name.is_empty()) {
        for at in memmem::find_iter(text.as_bytes(), name.as_bytes()) {
            let Some(place) = Place::new(text, at, name) else {
                continue;
            };
            if let Some((length, start)) = place.path(path, target) {
                let end = at + name.len();
                hits.push(hit(text, Kind::Path, end - length..end, start));
                continue;
            }
            // Which skill a header belongs to is no reference, and other keys hold other things.
            let is_ours = kind != Text::Skill || at >= header || key_names_skills(text, at);
            // A line of a table's name in TOML is a key.
            let is_table = path
                .extension()
                .is_some_and(|extension| extension == "toml")
                && place.line.trim_start().starts_with('[');
            let is_ours = is_ours && !is_table;
            let found = place.kind(kind, at < header, target).filter(|_| is_ours);
            if let Some(kind) = found {
                hits.push(hit(text, kind, at..at + name.len(), Start::Name));
            }
        }
    }
    hits.sort_by_key(|hit| hit.range.start);
    hits.dedup_by(|next, hit| next.range.start < hit.range.end);
    hits
}

fn hit(text: &str, kind: Kind, range: std::ops::Range<usize>, start: Start) -> Hit {
    Hit {
        line: line_of(text, range.start),
        kind,
        range,
        start,
    }
}

/// Keys of headers under which other skills are named, besides all that have "skill" in their name.
const KEYS: [&str; 10] = [
    "alternatives",
    "depends",
    "depends_on",
    "dependencies",
    "extends",
    "related",
    "replaces",
    "requires",
    "see_also",
    "supersedes",
];

/// Words before a path that is asked of a server.
const METHODS: [&str; 6] = ["GET", "POST", "PUT", "DELETE", "PATCH", "HEAD"];

/// What lies in the folders of skills.
const PARTS: [&str; 5] = [
    "SKILL.md",
    "scripts/",
    "references/",
    "assets/",
    "templates/",
];

/// Whether a text ends with a line end or tab written as JSON and shells do: it ends no word.
fn ends_with_escape(text: &str) -> bool {
    ["\\n", "\\t", "\\r"]
        .iter()
        .any(|escape| text.ends_with(escape))
}

/// The lines in which a name stands as a whole word, whatever it means there; each once, from 1.
#[must_use]
pub fn mentions(text: &str, name: &str) -> Vec<u32> {
    let places = memmem::find_iter(text.as_bytes(), name.as_bytes());
    let mut lines: Vec<u32> = places
        .filter(|at| Place::new(text, *at, name).is_some())
        .map(|at| line_of(text, at))
        .collect();
    lines.dedup();
    lines
}

/// Whether a place in a header stands under a key that names skills: the key in its line, or the nearest one above
/// that is indented less.
fn key_names_skills(text: &str, at: usize) -> bool {
    let indent = |line: &str| line.len() - line.trim_start().len();
    let key_of = |line: &str| -> Option<String> {
        let (key, _) = line.trim_start().trim_start_matches("- ").split_once(':')?;
        let key = key.trim().trim_matches(['"', '\'']).to_ascii_lowercase();
        (!key.is_empty() && !key.contains(' ')).then(|| key.replace('-', "_"))
    };
    let names = |key: &str| key.contains("skill") || KEYS.contains(&key);
    let end = text
        .get(at..)
        .and_then(|rest| rest.find('\n'))
        .map_or(text.len(), |end| at + end);
    let mut lines = text.get(..end).unwrap_or_default().lines().rev();
    let Some(line) = lines.next() else {
        return false;
    };
    let own = line.get(..line.len() - (end - at)).unwrap_or(line);
    if let Some(key) = key_of(own) {
        return names(&key);
    }
    let mut depth = indent(line) + usize::from(line.trim_start().starts_with('-'));
    for line in lines {
        if line.trim().is_empty() || indent(line) >= depth {
            continue;
        }
        match key_of(line) {
            Some(key) => return names(&key),
            None => depth = indent(line) + usize::from(line.trim_start().starts_with('-')),
        }
    }
    false
}

/// Where the header of a SKILL.md ends, bytes; 0 without one.
pub(super) fn header_end(text: &str) -> usize {
    let start = text.trim_start_matches('\u{feff}');
    if !start.starts_with("---") {
        return 0;
    }
    let skipped = text.len() - start.len();
    memmem::find(start.as_bytes(), b"\n---").map_or(0, |end| skipped + end + 1)
}

fn line_of(text: &str, at: usize) -> u32 {
    let before = text.as_bytes().get(..at).unwrap_or_default();
    u32::try_from(memchr::memchr_iter(b'\n', before).count() + 1).unwrap_or(u32::MAX)
}

/// A name that stands as a whole word, with its line.
struct Place<'t> {
    line: &'t str,
    /// Where it begins and ends in the line.
    start: usize,
    end: usize,
    name: &'t str,
}

impl<'t> Place<'t> {
    /// `None` when the name is part of a longer word.
    fn new(text: &'t str, at: usize, name: &str) -> Option<Self> {
        let first = text.get(..at)?.rfind('\n').map_or(0, |end| end + 1);
        let last = text
            .get(at..)?
            .find('\n')
            .map_or(text.len(), |end| at + end);
        let line = text.get(first..last)?.trim_end_matches('\r');
        let (start, end) = (at - first, at - first + name.len());
        let place = Self {
            line,
            start,
            end,
            name: line.get(start..end)?,
        };
        let before = place.before().chars().next_back();
        let mut after = place.after().chars();
        // A full stop ends a sentence more often than it goes on a name.
        let is_longer = match after.next() {
            Some('.') => after
                .next()
                .is_some_and(|next| is_part(next) && next != '.'),
            Some(next) => is_part(next),
            None => false,
        };
        let is_apart = !before.is_some_and(is_part) || ends_with_escape(place.before());
        (is_apart && !is_longer).then_some(place)
    }

    fn before(&self) -> &'t str {
        self.line.get(..self.start).unwrap_or_default()
    }

    fn after(&self) -> &'t str {
        self.line.get(self.end..).unwrap_or_default()
    }

    fn kind(&self, text: Text, in_values: bool, target: &Target) -> Option<Kind> {
        let before = self.before().chars().next_back();
        let after = self.after().chars().next();
        if before == Some('/') {
            if in_values && self.is_slash() && self.is_value() {
                return Some(Kind::Value);
            }
            let is_command = self.is_slash() && !target.is_path && text != Text::Data;
            return is_command.then_some(Kind::Slash);
        }
        if after == Some('/') || self.name != target.name {
            return None;
        }
        if in_values {
            return self.is_value().then_some(Kind::Value);
        }
        let is_prose = matches!(text, Text::Skill | Text::Prose);
        (is_prose && (self.is_mention() || self.is_namespaced(target))).then_some(Kind::Mention)
    }

    /// `plugin:name`, where the skill lies in a folder of the plugin's name: below its root, or the one that holds it.
    fn is_namespaced(&self, target: &Target) -> bool {
        let Some(before) = self.before().strip_suffix(':') else {
            return false;
        };
        let start = before.trim_end_matches(is_part).len();
        let plugin = before.get(start..).unwrap_or_default();
        let is_named = |path: Option<&Path>| {
            path.and_then(Path::file_name)
                .is_some_and(|name| name == plugin)
        };
        let is_below = target
            .rel_path
            .split('/')
            .rev()
            .skip(1)
            .any(|folder| folder == plugin);
        let holder = match target.root.file_name().and_then(|name| name.to_str()) {
            Some("skills") => target.root.parent(),
            _ => Some(target.root.as_path()),
        };
        !plugin.is_empty() && (is_below || is_named(holder))
    }

    /// `/name`, not as part of a path.
    fn is_slash(&self) -> bool {
        let before = self.before().strip_suffix('/').unwrap_or_default();
        let before = before.strip_suffix('\\').unwrap_or(before);
        let starts = before.chars().next_back().is_none_or(|c| !is_path(c));
        // A path that is asked of a server.
        let word = before
            .trim_end()
            .rsplit(|c: char| !c.is_alphanumeric())
            .next();
        let is_request = word.is_some_and(|word| METHODS.contains(&word));
        (starts || ends_with_escape(before)) && !is_request && !self.after().starts_with('/')
    }

    /// Whether the name, with a slash or the category before it, is all of a value.
    fn is_value(&self) -> bool {
        let before = self.before();
        let cut = before.trim_end_matches(is_path);
        let after = self.after();
        let quote = cut.chars().next_back().filter(|c| matches!(c, '"' | '\''));
        if let Some(quote) = quote {
            // A key is no value.
            let rest = after.strip_prefix(quote).map(str::trim_start);
            return rest.is_some_and(|rest| !rest.starts_with(':'));
        }
        let opens = cut.trim_end();
        let is_open = opens.is_empty() || opens.ends_with([':', ',', '[', '-', '=', '(']);
        let rest = after.trim_start();
        let closes = rest.is_empty() || rest.starts_with([',', ']', '}', '#', ')']);
        is_open && closes
    }

    /// Whether the word "skill" stands beside it: directly for a bare name, in the same line for one in quotes.
    fn is_mention(&self) -> bool {
        let (before, after) = (self.before(), self.after());
        let has_word = |text: &str| text.to_ascii_lowercase().contains("skill");
        let is_quoted = [
            ("`", "`"),
            ("\"", "\""),
            ("'", "'"),
            ("**", "**"),
            ("[[", "]]"),
            ("$", ""),
        ]
        .iter()
        .any(|(open, close)| before.ends_with(open) && after.starts_with(close));
        if is_quoted {
            return has_word(before) || has_word(after) || before.ends_with("[[");
        }
        let last = before.split_whitespace().next_back().unwrap_or_default();
        let next = after.split_whitespace().next().unwrap_or_default();
        let is_word = |word: &str| {
            let word = word
                .trim_matches(|c: char| !c.is_alphanumeric())
                .to_ascii_lowercase();
            word == "skill" || word == "skills"
        };
        let touches = before.is_empty() || before.ends_with(char::is_whitespace);
        touches && (is_word(last) || is_word(next))
    }

    /// Whether it ends a path to the skill's folder: how long that path is, bytes, and what it starts from.
    fn path(&self, path: &Path, target: &Target) -> Option<(usize, Start)> {
        let cut = self.before().trim_end_matches(is_path).len();
        let token = self.line.get(cut..self.end)?;
        let length = token.len();
        if !token.contains('/') && !self.after().starts_with('/') {
            // A path of one part is a name.
            return None;
        }
        // A folder of that name may be anybody's: what follows has to be what skills have.
        let rest = self.after().strip_prefix('/').unwrap_or_default();
        if !token.contains('/') && !PARTS.iter().any(|part| rest.starts_with(part)) {
            return None;
        }
        if token == target.rel_path && token.contains('/') {
            return Some((length, Start::Root));
        }
        let leads = |base: &Path| normal(&base.join(token)) == target.folder;
        if token.starts_with('/') {
            let is_command = token.matches('/').count() == 1 && !self.after().starts_with('/');
            return (!is_command && leads(Path::new("/"))).then_some((length, Start::Top));
        }
        if let Some(inner) = token.strip_prefix("~/") {
            let mut homes = target.root.ancestors();
            let home = homes.find(|home| normal(&home.join(inner)) == target.folder)?;
            return Some((length, Start::Home(home.to_path_buf())));
        }
        let file = path.parent().unwrap_or(Path::new("/"));
        let bases = [
            Some(file),
            file.parent(),
            Some(target.root.as_path()),
            target.root.parent(),
        ];
        let base = bases.into_iter().flatten().find(|base| leads(base))?;
        Some((length, Start::Folder(base.to_path_buf())))
    }
}

/// A path without `.` and `..`; nothing is asked of the disk.
pub(super) fn normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                normal.pop();
            }
            Component::CurDir => {}
            part => normal.push(part),
        }
    }
    normal
}
