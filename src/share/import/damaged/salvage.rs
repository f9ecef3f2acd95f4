//! Owns the reading of the entries of an object from text that is no valid JSON.
//!
//! Where lines tell the level (entries start lines of their own that are indented deeper than the
//! line of the opening brace), a value may not reach past the next line that is indented less than
//! its key, or as much and starts a key; after damage reading goes on at the next such line.
//! Elsewhere (all on one line) it goes on at the next `"key": {`, and what stands there counts
//! only when it is a complete object at least half of whose fields are known from the records
//! before the damage; without such records it counts when it follows a `}`. What cannot be told:
//! on one line, a record that lost its closing brace may hold its successors, and without a good
//! record before the damage an object nested in the broken record may pass as an entry.

use super::{Fault, no_object};
use serde_json::{Deserializer, Map, Value};
use std::collections::{BTreeMap, HashSet};

/// Reads the entries of one object of damaged text from `at` on.
#[derive(Default)]
pub(super) struct Salvage<'a> {
    text: &'a str,
    at: usize,
    /// Indentation of the entries, where lines tell it.
    level: Option<usize>,
    /// Indentation of the line with the opening brace.
    outer: usize,
    /// Whether the object is inside another one, whose keys may follow.
    nested: bool,
    /// Whether what stands at `at` is known to be of this level.
    sure: bool,
    /// Whether a value has been read that no comma has followed yet.
    wants_comma: bool,
    /// The last answer of `sibling` and the indentation it holds for.
    bound: (usize, usize),
    /// How many entries there were at the last fault or with the last one not on a deeper line.
    mark: usize,
    /// Length of the longest value read.
    longest: usize,
    /// Field names of the records before the damage.
    shape: HashSet<String>,
    pub(super) entries: Vec<(String, Value)>,
    pub(super) faults: Vec<Fault>,
}

impl<'a> Salvage<'a> {
    /// Finds the object to read.
    pub(super) fn find(text: &'a str, path: &[&str]) -> Result<Self, Fault> {
        let mut at = skip(text, 0, is_space);
        let first = byte(text, at);
        // Without its first bytes an object may still have lines that look like entries.
        let is_lost = no_object(first) == no_object(Some(b'?')) && level(text, 0, 0).is_some();
        if first != Some(b'{') && !is_lost && key_at(text, at).is_none() {
            return Err((at, no_object(first)));
        }
        for key in path {
            let quoted = Value::from(*key).to_string();
            let missing = || (at, format!("no object {quoted} was found here"));
            at = least_indented(text, at, &quoted).ok_or_else(missing)?;
        }
        let line = text
            .get(..at)
            .and_then(|before| before.rfind('\n'))
            .unwrap_or(0);
        let outer = line_indent(text, skip(text, line, is_space)).unwrap_or(0);
        let (level, nested, mark) = (level(text, at, outer), !path.is_empty(), usize::MAX);
        at += usize::from(byte(text, at) == Some(b'{'));
        Ok(Self {
            text,
            at,
            level,
            outer,
            nested,
            mark,
            sure: true,
            ..Self::default()
        })
    }

    fn fault(&mut self, at: usize, message: String) {
        self.faults.push((at, message));
        (self.sure, self.wants_comma) = (false, false);
        self.mark = self.entries.len();
    }

    /// Reads or steps over what comes next; false at the end.
    pub(super) fn step(&mut self) -> bool {
        let next = skip(self.text, self.at, |byte| byte == b',' || is_space(byte));
        self.wants_comma &= !self
            .text
            .get(self.at..next)
            .is_some_and(|gap| gap.contains(','));
        self.at = next;
        match byte(self.text, next) {
            Some(b'"') => self.entry(),
            Some(b'}') => self.brace(),
            Some(_) => self.junk(),
            None => {
                if self.sure {
                    self.fault(next, "the file ends before its object is closed".to_owned());
                }
                false
            }
        }
    }

    fn entry(&mut self) -> bool {
        let Some((key, value_at)) = key_at(self.text, self.at) else {
            return self.junk();
        };
        let own = line_indent(self.text, self.at).filter(|_| self.level.is_some());
        if self.nested && own == Some(self.outer) {
            self.fault(self.at, format!("the object is not closed before `{key}`"));
            return false;
        }
        self.sure |= own.is_some() && own == self.level;
        if own.is_some() && own < self.level && !self.sure {
            return self.junk();
        }
        // Such places are often what is left of a broken record.
        let is_odd = own > self.level || (self.wants_comma && own.is_none());
        let is_object = byte(self.text, value_at) == Some(b'{');
        if is_odd && !(is_object && (own.is_none() || self.sure && !self.wants_comma)) {
            return self.junk();
        }
        if self.wants_comma {
            self.faults
                .push((self.at, format!("a comma is missing before `{key}`")));
        }
        let bound = self.bound(value_at, own);
        match read_value(self.text, value_at, bound) {
            Ok((value, end)) => {
                self.accept(key, value, end);
                if self.level.is_some() && own <= self.level {
                    self.mark = self.entries.len();
                }
            }
            Err(broken) => self.reject(&key, value_at, bound, broken),
        }
        true
    }

    fn accept(&mut self, key: String, value: Value, end: usize) {
        self.longest = self.longest.max(end - self.at);
        self.at = end;
        let fields = value.as_object();
        let total = fields.map_or(0, Map::len);
        let names = fields.into_iter().flat_map(Map::keys);
        let unknown = names.filter(|name| !self.shape.contains(*name));
        let unknown: Vec<_> = unknown.cloned().collect();
        let is_like = if self.shape.is_empty() {
            self.level.is_none()
        } else {
            total > 0 && unknown.len() * 2 <= total
        };
        if self.sure || (value.is_object() && is_like) {
            if self.faults.is_empty() {
                self.shape.extend(unknown);
            }
            (self.sure, self.wants_comma) = (true, true);
            self.entries.push((key, value));
        }
    }

    fn reject(&mut self, key: &str, value_at: usize, bound: usize, broken: Option<Fault>) {
        let is_cut = broken.is_none() && bound == self.text.len();
        let (at, message) = match broken {
            Some((at, reason)) => (at, format!("the record `{key}` cannot be read: {reason}")),
            None if is_cut => (
                self.at,
                format!("the record `{key}` is cut off: it is open when the file ends"),
            ),
            None => (self.at, format!("the record `{key}` is not closed")),
        };
        if self.sure || !is_cut {
            self.fault(at, message);
        }
        // With no record to compare, all that follows may be inside this one.
        let is_all = is_cut && self.level.is_none() && self.shape.is_empty();
        self.at = if is_all { bound } else { self.resync(value_at) };
    }

    /// A closing brace where an entry could start: the end of the object, or one too many.
    fn brace(&mut self) -> bool {
        let (text, level, after) = (self.text, self.level, self.at + 1);
        let next = skip(text, after, is_space);
        let key = skip(text, next, is_between);
        let is_level = match level {
            Some(_) => line_indent(text, key) == level,
            None => !self.nested && byte(text, next) == Some(b','),
        };
        let goes_on = is_level && key_at(text, key).is_some();
        let indent = line_indent(text, self.at).filter(|_| level.is_some());
        let is_quote = byte(text, next) == Some(b'"');
        let is_amid = (is_quote || indent != Some(self.outer))
            && byte(text, key) == Some(b'"')
            && line_indent(text, key).is_none();
        let is_inner = match indent {
            _ if next == text.len() => false,
            Some(indent) => Some(indent) >= level || is_amid,
            None => !self.sure || (is_quote && level.is_some()),
        };
        if !goes_on && !is_inner {
            if !self.nested && next < text.len() {
                self.fault(next, "what follows the object was not read".to_owned());
            }
            return false;
        }
        if level.is_some() || (goes_on && self.shape.is_empty()) {
            // What was read since then was inside the broken record.
            self.entries.truncate(self.mark);
        }
        if self.sure {
            self.fault(self.at, "a closing brace too many stands here".to_owned());
        }
        self.at = if level.is_none() && is_inner {
            self.resync(self.at)
        } else {
            after
        };
        true
    }

    /// Steps over what is no entry: at first only to the next thing that may be one.
    fn junk(&mut self) -> bool {
        let from = self.at + 1;
        if self.sure {
            let name = string_at(self.text, self.at).map(|(name, _)| format!(" (\"{name}\")"));
            let message = format!("here stands no entry{}", name.unwrap_or_default());
            self.fault(self.at, message);
            self.at = skip(self.text, from, |byte| !matches!(byte, b'"' | b'}' | b'\n'));
        } else {
            self.at = self.resync(from);
        }
        true
    }

    /// Where the value at `at` must have ended.
    fn bound(&mut self, at: usize, own: Option<usize>) -> usize {
        let Some(indent) = own.or(self.level) else {
            // Were each of many unclosed records followed to the end, time would be quadratic;
            // the price is that a far longer record than those before it counts as not closed.
            let window = match self.faults.len() {
                0 => self.text.len(),
                1..10_000 => 16_384,
                _ => 0,
            };
            let end = at.saturating_add(window.max(self.longest.saturating_mul(4)));
            return self.text.ceil_char_boundary(end);
        };
        // Many entries may share one long line, which is not to be searched for each of them.
        if self.bound.0 != indent || self.bound.1 <= at {
            self.bound = (indent, sibling(self.text, at, indent));
        }
        self.bound.1
    }

    /// The next place that looks like the start of an entry of this level.
    fn resync(&self, mut at: usize) -> usize {
        if let Some(level) = self.level {
            return sibling(self.text, at, level);
        }
        // With records to compare, every object is worth a look.
        let stop = if self.shape.is_empty() { b'}' } else { b'"' };
        while at < self.text.len() {
            at = skip(self.text, at, |byte| byte != stop);
            let next = skip(self.text, at, is_between);
            if key_at(self.text, next).is_some_and(|(_, at)| byte(self.text, at) == Some(b'{')) {
                return next;
            }
            at += 1;
        }
        self.text.len()
    }
}

/// The value at `at` and where it ends, or what is wrong with it: nothing but that it never ends.
fn read_value(text: &str, at: usize, bound: usize) -> Result<(Value, usize), Option<Fault>> {
    let region = text.get(at..bound).unwrap_or_default();
    let mut stream = Deserializer::from_str(region).into_iter::<Value>();
    let value = stream.next();
    let end = at + stream.byte_offset();
    match value {
        // A number that ends with the file may have lost digits.
        Some(Ok(Value::Number(_))) if end == text.len() => Err(None),
        Some(Ok(value)) => Ok((value, end)),
        Some(Err(error)) if !error.is_eof() => {
            Err(Some((at + offset(region, &error), reason(&error))))
        }
        _ => Err(None),
    }
}

/// The string at `at` and where it ends.
fn string_at(text: &str, at: usize) -> Option<(String, usize)> {
    let mut stream = Deserializer::from_str(text.get(at..)?).into_iter();
    let string = stream.next()?.ok()?;
    Some((string, at + stream.byte_offset()))
}

/// The key at `at` and where its value begins.
fn key_at(text: &str, at: usize) -> Option<(String, usize)> {
    let (key, end) = string_at(text, at)?;
    let colon = skip(text, end, is_space);
    (byte(text, colon) == Some(b':')).then(|| (key, skip(text, colon + 1, is_space)))
}

/// Where the first object under this key on the least indented line begins.
fn least_indented(text: &str, from: usize, quoted: &str) -> Option<usize> {
    let mut start = from;
    let objects = text.get(from..)?.split_inclusive('\n').filter_map(|line| {
        let at = line.find(quoted).map(|at| start + at);
        start += line.len();
        let (_, value) = key_at(text, at?)?;
        let indent = line.len() - line.trim_start().len();
        (byte(text, value) == Some(b'{')).then_some((indent, value))
    });
    objects.min_by_key(|(indent, _)| *indent).map(|(_, at)| at)
}

/// The least indentation of lines of an object, if more than `outer`, that is no single accident.
fn level(text: &str, open: usize, outer: usize) -> Option<usize> {
    let mut counts = BTreeMap::new();
    let mut at = next_line(text, open);
    let inside = skip(text, open + 1, is_space);
    if inside < at && byte(text, inside) == Some(b'"') {
        return None;
    }
    while at < text.len() {
        let indent = line_indent(text, at).filter(|indent| *indent > outer);
        if let (Some(b'"' | b'}'), Some(indent)) = (byte(text, at), indent) {
            // The first line counts twice: there may be but one record, and it cut off.
            let start = usize::from(counts.is_empty());
            *counts.entry(indent).or_insert(start) += 1;
        }
        at = next_line(text, at);
    }
    let common = counts.iter().find(|(_, count)| **count > 1);
    common
        .or(counts.first_key_value())
        .map(|(indent, _)| *indent)
}

/// The first thing on a later line that is indented less, or as much and starts with a key.
fn sibling(text: &str, from: usize, indent: usize) -> usize {
    let mut at = next_line(text, from);
    while let Some(first) = byte(text, at) {
        let own = line_indent(text, at).unwrap_or(0);
        if own < indent || (own == indent && first == b'"') {
            break;
        }
        at = next_line(text, at);
    }
    at
}

fn next_line(text: &str, at: usize) -> usize {
    skip(text, skip(text, at, |byte| byte != b'\n'), is_space)
}

/// How far `at` is indented if it is the first thing on its line; a tab counts as eight spaces.
fn line_indent(text: &str, at: usize) -> Option<usize> {
    let before = text.get(..at)?;
    let blank = before.trim_end_matches([' ', '\t']);
    let width = |byte: &u8| if *byte == b'\t' { 8 } else { 1 };
    (blank.is_empty() || blank.ends_with('\n')).then(|| {
        text.as_bytes()
            .get(blank.len()..at)
            .unwrap_or_default()
            .iter()
            .map(width)
            .sum()
    })
}

fn byte(text: &str, at: usize) -> Option<u8> {
    text.as_bytes().get(at).copied()
}

fn skip(text: &str, at: usize, passes: impl Fn(u8) -> bool) -> usize {
    let rest = text.as_bytes().get(at..).unwrap_or_default();
    at + rest.iter().take_while(|byte| passes(**byte)).count()
}

/// What may stand between one entry and the next.
fn is_between(byte: u8) -> bool {
    matches!(byte, b',' | b'}') || is_space(byte)
}

fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | b'\n')
}

/// Where serde_json saw the error; its columns are bytes.
pub(super) fn offset(text: &str, error: &serde_json::Error) -> usize {
    let ends = text
        .bytes()
        .enumerate()
        .filter(|(_, byte)| *byte == b'\n')
        .map(|(at, _)| at + 1);
    let line = std::iter::once(0)
        .chain(ends)
        .nth(error.line().saturating_sub(1));
    (line.unwrap_or(0) + error.column().saturating_sub(1)).min(text.len())
}

pub(super) fn reason(error: &serde_json::Error) -> String {
    let text = error.to_string();
    text.rsplit_once(" at line ")
        .map_or(text.clone(), |(reason, _)| reason.to_owned())
}
