//! Which names in a text belong together: data that is put into one comes out of the other.

use std::collections::HashMap;
use std::ops::Range;

/// Variables that are set or used, and files that are written or sent, in a part of a text.
pub(super) fn names(lower: &str, range: &Range<usize>) -> Vec<String> {
    let bytes = lower.as_bytes();
    let near = range.start.saturating_sub(200);
    let start = memchr::memrchr(b'\n', &bytes[near..range.start]).map_or(near, |at| near + at + 1);
    let near = (range.end + 300).min(bytes.len());
    let end = memchr::memchr(b'\n', &bytes[range.end..near]).map_or(near, |at| range.end + at);
    let line = String::from_utf8_lossy(&bytes[start..end]);
    let mut names = Vec::new();
    let mut add = |name: &str| {
        let name = name.trim_matches(|letter: char| {
            !letter.is_alphanumeric() && letter != '/' && letter != '.' && letter != '_'
        });
        let is_common = matches!(
            name,
            "home"
                | "pwd"
                | "path"
                | "user"
                | "1"
                | "2"
                | "dev/null"
                | "/dev/null"
                | "f"
                | "i"
                | "tmpdir"
                | "hostname"
        );
        if name.len() >= 3 && !is_common && !names.iter().any(|known| known == name) {
            names.push(name.to_owned());
        }
    };
    for (at, _) in line.match_indices('$') {
        let rest = line[at + 1..].trim_start_matches('{');
        let length = rest
            .bytes()
            .take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
            .count();
        add(&rest[..length]);
    }
    if let Some((name, _)) = line.split_once('=') {
        let name = name.trim().rsplit([' ', '\t']).next().unwrap_or("");
        if name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        {
            add(name);
        }
    }
    for word in line.split(|letter: char| letter.is_whitespace() || "\"'`()<>,;=@".contains(letter))
    {
        if word.starts_with("/tmp/") || word.starts_with("/var/tmp/") || word.starts_with("./") {
            // A part that a command makes up is left out.
            add(word.split(['$', '*']).next().unwrap_or(word));
        }
    }
    names
}

/// Names of variables and files that stand on one line belong together: what is put into one comes out of the other.
#[derive(Debug, Default)]
pub(super) struct Threads {
    group: HashMap<String, usize>,
    parent: Vec<usize>,
}

impl Threads {
    /// The names of one line.
    pub(super) fn tie(&mut self, names: &[String]) {
        let mut first = None;
        for name in names {
            let next = self.parent.len();
            let own = *self.group.entry(name.clone()).or_insert(next);
            if own == next {
                self.parent.push(next);
            }
            let root = self.find(own);
            match first {
                None => first = Some(root),
                Some(first) => self.parent[root] = first,
            }
        }
    }

    fn root(&self, mut at: usize) -> usize {
        while self.parent[at] != at {
            at = self.parent[at];
        }
        at
    }

    /// As [`Threads::root`]; what comes after finds it in fewer steps.
    fn find(&mut self, mut at: usize) -> usize {
        while self.parent[at] != at {
            self.parent[at] = self.parent[self.parent[at]];
            at = self.parent[at];
        }
        at
    }

    /// The names, and all that are tied to them, as marks that can be compared.
    pub(super) fn marks(&self, names: &[String]) -> Vec<String> {
        let ties = names
            .iter()
            .filter_map(|name| self.group.get(name))
            .map(|own| format!("\0{}", self.root(*own)));
        let mut marks: Vec<String> = names.iter().cloned().chain(ties).collect();
        marks.dedup();
        marks
    }
}
