//! Looks at every place where a name stands as a whole word, and says whether it means the skill.

use std::path::{Component, Path, PathBuf};

use memchr::memmem;

use super::{Hit, Kind, Target, Text};

/// Characters of names: what a name is next to decides whether it is one.
fn is_part(character: char) -> bool {
    character.is_alphanumeric() || matches!(character, '_' | '-' | '.')
}

/// Characters of paths.
fn is_path(character: char) -> bool {
    is_part(character) || matches!(character, '/' | '~' | '+' | '@' | '%')
}

pub(super) fn find(text: &str, kind: Text, path: &Path, target: &Target) -> Vec<Hit> {
    let folder = target.folder.file_name().and_then(|name| name.to_str());
    let mut names = vec![target.name.as_str()];
    names.extend(folder.filter(|folder| *folder != target.name));
    let header = match kind {
        Text::Skill => header_end(text),
        Text::Data => text.len(),
        Text::Prose => 0,
    };
    let mut hits = Vec::new();
    for name in names.iter().filter(|name| !name.is_empty()) {
        for at in memmem::find_iter(text.as_bytes(), name.as_bytes()) {
            let place = Place::new(text, at, name);
            // Which skill a header belongs to is no reference.
            let is_own = |place: &Place<'_>| {
                kind == Text::Skill && at < header && place.line.starts_with("name:")
            };
            let found = place
                .filter(|place| !is_own(place))
                .and_then(|place| place.kind(kind, at < header, path, target));
            if let Some(kind) = found {
                hits.push(Hit {
                    line: line_of(text, at),
                    kind,
                    range: at..at + name.len(),
                });
            }
        }
    }
    hits.sort_by_key(|hit| hit.range.start);
    hits.dedup_by_key(|hit| hit.range.start);
    hits
}

/// Where the header of a SKILL.md ends, bytes; 0 without one.
fn header_end(text: &str) -> usize {
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
        (!before.is_some_and(is_part) && !is_longer).then_some(place)
    }

    fn before(&self) -> &'t str {
        self.line.get(..self.start).unwrap_or_default()
    }

    fn after(&self) -> &'t str {
        self.line.get(self.end..).unwrap_or_default()
    }

    fn kind(&self, text: Text, in_values: bool, path: &Path, target: &Target) -> Option<Kind> {
        let before = self.before().chars().next_back();
        let after = self.after().chars().next();
        if (before == Some('/') || after == Some('/')) && self.leads_into(path, target) {
            return Some(Kind::Path);
        }
        if before == Some('/') {
            return self
                .is_slash()
                .then_some(match in_values && self.is_value() {
                    true => Kind::Value,
                    false => Kind::Slash,
                });
        }
        if after == Some('/') || self.name != target.name {
            return None;
        }
        if in_values {
            return self.is_value().then_some(Kind::Value);
        }
        (text != Text::Data && self.is_mention()).then_some(Kind::Mention)
    }

    /// `/name`, not as part of a path.
    fn is_slash(&self) -> bool {
        let before = self.before().strip_suffix('/').unwrap_or_default();
        let starts = before.chars().next_back().is_none_or(|c| !is_path(c));
        starts && !self.after().starts_with('/')
    }

    /// Whether the name, with a slash or the category before it, is all of a value.
    fn is_value(&self) -> bool {
        let before = self.before();
        let cut = before.trim_end_matches(is_path);
        let after = self.after();
        let quote = cut.chars().next_back().filter(|c| matches!(c, '"' | '\''));
        if let Some(quote) = quote {
            return after.starts_with(quote);
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

    /// Whether it is the part of a path that names the skill's folder.
    fn leads_into(&self, path: &Path, target: &Target) -> bool {
        let before = self.before();
        let cut = before.trim_end_matches(is_path).len();
        let Some(token) = self.line.get(cut..self.end) else {
            return false;
        };
        if token == target.rel_path && token.contains('/') {
            return true;
        }
        // A path of one part is a name.
        if !token.contains('/') && !self.after().starts_with('/') {
            return false;
        }
        if token == format!("/{}", self.name) && !self.after().starts_with('/') {
            return false;
        }
        let file = path.parent().unwrap_or(Path::new("/"));
        let bases = [
            Some(file),
            file.parent(),
            Some(target.root.as_path()),
            target.root.parent(),
        ];
        let home = target.root.ancestors();
        let token = token
            .strip_prefix("~/")
            .map_or_else(|| token.to_owned(), str::to_owned);
        bases
            .into_iter()
            .flatten()
            .chain(home)
            .any(|base| normal(&base.join(&token)) == target.folder)
    }
}

/// A path without `.` and `..`; nothing is asked of the disk.
fn normal(path: &Path) -> PathBuf {
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
