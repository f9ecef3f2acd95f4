//! The tree a header is read into, with the place of every node. A scalar is text or null.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;

use serde_json::{Map, Value as Json};

use super::code::Code;
use super::findings::Findings;

/// A value of the header with its byte range in the header.
#[derive(Clone, Debug)]
pub(super) struct Node<'a> {
    pub(super) value: Value<'a>,
    pub(super) span: Range<usize>,
}

/// What a node holds.
#[derive(Clone, Debug)]
pub(super) enum Value<'a> {
    Null,
    Text(Cow<'a, str>, Style),
    List(Vec<Node<'a>>, Layout),
    Map(Vec<Entry<'a>>, Layout),
}

/// How a text was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Style {
    Plain,
    /// In quotes, as a block scalar, or recovered: ` #` cuts nothing from it.
    Delimited,
}

/// How a list or map was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Layout {
    Block,
    /// With brackets or braces.
    Flow,
}

/// One `key: value` of a map.
#[derive(Clone, Debug)]
pub(super) struct Entry<'a> {
    pub(super) key: Cow<'a, str>,
    pub(super) key_at: usize,
    pub(super) value: Node<'a>,
}

impl<'a> Node<'a> {
    /// Returns the text as read; `None` for null, lists and maps.
    pub(super) fn text(&self) -> Option<&str> {
        match &self.value {
            Value::Text(text, _) => Some(text),
            Value::Null | Value::List(..) | Value::Map(..) => None,
        }
    }

    /// Returns the text without blanks at its ends; `None` when nothing is left.
    pub(super) fn trimmed(&self) -> Option<&str> {
        self.text().map(str::trim).filter(|text| !text.is_empty())
    }

    /// Returns the entries of a map.
    pub(super) fn entries(&self) -> Option<&[Entry<'a>]> {
        match &self.value {
            Value::Map(entries, _) => Some(entries),
            Value::Null | Value::Text(..) | Value::List(..) => None,
        }
    }

    /// Returns the value of a key, if this is a map that has it.
    pub(super) fn get(&self, key: &str) -> Option<&Node<'a>> {
        find(self.entries()?, key)
    }

    /// Returns the kind of value in words that fit after "is".
    pub(super) fn kind(&self) -> &'static str {
        match self.value {
            Value::Null => "empty",
            Value::Text(..) => "text",
            Value::List(..) => "a list",
            Value::Map(..) => "a map",
        }
    }

    /// Compares what two readings of the same text make of it, places aside.
    pub(super) fn says_the_same(&self, other: &Node<'_>) -> bool {
        match (&self.value, &other.value) {
            (Value::Null, Value::Null) => true,
            (Value::Text(one, _), Value::Text(two, _)) => one == two,
            (Value::List(one, _), Value::List(two, _)) => {
                one.len() == two.len() && one.iter().zip(two).all(|(a, b)| a.says_the_same(b))
            }
            (Value::Map(one, _), Value::Map(two, _)) => {
                let same = |(a, b): (&Entry<'_>, &Entry<'_>)| {
                    a.key == b.key && a.value.says_the_same(&b.value)
                };
                one.len() == two.len() && one.iter().zip(two).all(same)
            }
            (Value::Null | Value::Text(..) | Value::List(..) | Value::Map(..), _) => false,
        }
    }

    fn into_json(self) -> Json {
        match self.value {
            Value::Null => Json::Null,
            Value::Text(text, _) => Json::String(text.into_owned()),
            Value::List(items, _) => Json::Array(items.into_iter().map(Node::into_json).collect()),
            Value::Map(entries, _) => Json::Object(into_json(entries)),
        }
    }
}

/// Returns the value of a key.
pub(super) fn find<'n, 'a>(entries: &'n [Entry<'a>], key: &str) -> Option<&'n Node<'a>> {
    entries
        .iter()
        .find(|entry| entry.key == key)
        .map(|entry| &entry.value)
}

/// Turns entries into a JSON object, keeping their order.
pub(super) fn into_json(entries: Vec<Entry<'_>>) -> Map<String, Json> {
    entries
        .into_iter()
        .map(|entry| (entry.key.into_owned(), entry.value.into_json()))
        .collect()
}

/// Folds repeated keys into the last value of each, and tells of them.
pub(super) fn fold_duplicates<'a>(
    entries: Vec<Entry<'a>>,
    findings: &mut Findings<'_>,
) -> Vec<Entry<'a>> {
    if !has_duplicates(&entries) {
        return entries;
    }
    let mut seen: HashMap<Cow<'a, str>, (usize, usize)> = HashMap::new();
    let mut kept: Vec<Entry<'a>> = Vec::with_capacity(entries.len());
    for entry in entries {
        let (index, first_at) = *seen
            .entry(entry.key.clone())
            .or_insert((kept.len(), entry.key_at));
        match kept.get_mut(index) {
            None => kept.push(entry),
            Some(earlier) => {
                if !findings.is_full(Code::YamlDuplicateKey) {
                    let line = findings.line_of(first_at);
                    let message = format!("`{}` was given before, in line {line}", entry.key);
                    findings.add(Code::YamlDuplicateKey, entry.key_at, message);
                }
                *earlier = entry;
            }
        }
    }
    kept
}

/// Small maps are compared pair by pair, which allocates nothing; nearly all maps are small.
fn has_duplicates(entries: &[Entry<'_>]) -> bool {
    const SMALL: usize = 24;
    if entries.len() > SMALL {
        let mut keys: Vec<&str> = entries.iter().map(|entry| &*entry.key).collect();
        keys.sort_unstable();
        return keys.windows(2).any(|pair| pair.first() == pair.last());
    }
    let repeats = |(index, entry): (usize, &Entry<'_>)| {
        entries
            .iter()
            .take(index)
            .any(|earlier| earlier.key == entry.key)
    };
    entries.iter().enumerate().any(repeats)
}
