//! Second reading of a header that YAML refuses: entry by entry, keeping what parses and taking
//! broken texts as they were typed. Works on the lines in place, each looked at once a level.

use std::borrow::Cow;
use std::ops::Range;

use super::code::Code;
use super::document::{Line, line_at};
use super::findings::Findings;
use super::json5::{self, Site};
use super::keys;
use super::node::{Entry, Layout, Node, Style, Value, fold_duplicates};
use super::quote;
use super::typed;
use super::yaml::{self, Budget, Refusal};

/// Reads the entries of a mapping that stands at level `depth`, one by one.
pub(super) fn recover<'a>(
    header: &'a str,
    range: Range<usize>,
    depth: usize,
    budget: &mut Budget,
    findings: &mut Findings<'_>,
) -> Result<Vec<Entry<'a>>, Refusal> {
    Budget::descend(depth, range.start)?;
    let mut repair = Repair {
        header,
        depth,
        budget,
        findings,
    };
    let mut splitter = Splitter::new(header, range);
    let mut entries = Vec::new();
    while let Some(piece) = splitter.next_piece() {
        match piece {
            Piece::Entry(typed) => repair.entry(&typed, &mut entries)?,
            Piece::Stray(offset) => {
                repair.budget.take(offset)?;
                let message = "this line is neither `key: value` nor part of the entry above";
                repair.findings.add(Code::YamlError, offset, message);
            }
        }
    }
    Ok(fold_duplicates(entries, repair.findings))
}

/// An entry as it stands in the header, unread.
struct Typed<'a> {
    indent: &'a str,
    /// The key without quotes.
    key: &'a str,
    key_at: usize,
    /// From behind the colon to the end of the last line that belongs to the entry.
    value: Range<usize>,
    /// All lines of the entry.
    lines: Range<usize>,
}

struct Repair<'a, 'b, 't> {
    header: &'a str,
    depth: usize,
    budget: &'b mut Budget,
    findings: &'b mut Findings<'t>,
}

impl<'a> Repair<'a, '_, '_> {
    fn entry(&mut self, typed: &Typed<'a>, entries: &mut Vec<Entry<'a>>) -> Result<(), Refusal> {
        let lines = typed.lines.clone();
        match yaml::mapping(self.header, lines, self.depth, self.budget, self.findings) {
            Ok(read) => entries.extend(read),
            Err(refusal @ Refusal::Forbidden { .. }) => return Err(refusal),
            Err(Refusal::NotMapping { .. }) => {
                self.broken(typed, "a blank is missing after `:`", entries)?;
            }
            Err(Refusal::Syntax { message, .. }) => self.broken(typed, &message, entries)?,
        }
        Ok(())
    }

    fn broken(
        &mut self,
        typed: &Typed<'a>,
        words: &str,
        entries: &mut Vec<Entry<'a>>,
    ) -> Result<(), Refusal> {
        self.budget.take(typed.key_at)?;
        let value = match self.shape(typed) {
            Shape::Brackets(at) => match self.json5(typed, at)? {
                Some(node) => Some(node),
                None => self.text(typed, at, words)?,
            },
            Shape::Text(at) => self.text(typed, at, words)?,
            Shape::Map(at) => self.children(typed, at, words)?,
            Shape::Other => self.drop_entry(typed, words),
        };
        if let Some(value) = value {
            entries.push(Entry {
                key: yaml::clean(Cow::Borrowed(typed.key)),
                key_at: typed.key_at,
                value,
            });
        }
        Ok(())
    }

    /// Guesses from its first characters what the value was meant to be.
    fn shape(&self, typed: &Typed<'_>) -> Shape {
        let mut at = typed.value.start;
        let mut on_key_line = true;
        while let Some(line) = line_within(self.header, at, typed.value.end) {
            let text = self.slice(line.start, line.end);
            let trimmed = text.trim();
            if !trimmed.is_empty() && !trimmed.starts_with('#') {
                let first = line.start + (text.len() - text.trim_start().len());
                return match trimmed.as_bytes() {
                    [b'{' | b'[', ..] => Shape::Brackets(first),
                    _ if on_key_line => Shape::Text(first),
                    [b'-'] | [b'-', b' ' | b'\t', ..] => Shape::Other,
                    _ if entry_key(text.trim_start()).is_some() => Shape::Map(line.start),
                    _ => Shape::Text(first),
                };
            }
            on_key_line = false;
            at = line.next;
        }
        Shape::Other
    }

    fn json5(&mut self, typed: &Typed<'_>, at: usize) -> Result<Option<Node<'a>>, Refusal> {
        let text = self.slice(at, typed.value.end);
        let depth = self.depth + 1;
        let node = json5::read(text, Site::Source(at), depth, self.budget, self.findings)?;
        if node.is_some() {
            let message = format!("`{}` is JSON5, not YAML", typed.key);
            self.findings.add(Code::Json5Value, at, message);
        }
        Ok(node)
    }

    fn text(
        &mut self,
        typed: &Typed<'_>,
        at: usize,
        words: &str,
    ) -> Result<Option<Node<'a>>, Refusal> {
        self.budget.take(at)?;
        let text = typed::text(self.slice(at, typed.value.end));
        let paste = quote::line(typed.indent, typed.key, &text);
        let message = format!("`{}` is not valid YAML ({words}); read as typed", typed.key);
        self.findings
            .suggest(Code::YamlRepaired, at, message, paste);
        let value = Value::Text(Cow::Owned(text), Style::Delimited);
        Ok(Some(Node {
            value,
            span: at..typed.value.end,
        }))
    }

    fn children(
        &mut self,
        typed: &Typed<'_>,
        at: usize,
        words: &str,
    ) -> Result<Option<Node<'a>>, Refusal> {
        if self.tab_indent(&typed.value).is_some() {
            return Ok(self.drop_entry(typed, words));
        }
        let range = at..typed.value.end;
        let children = recover(
            self.header,
            range.clone(),
            self.depth + 1,
            self.budget,
            self.findings,
        )?;
        if children.is_empty() {
            return Ok(None);
        }
        Ok(Some(Node {
            value: Value::Map(children, Layout::Block),
            span: range,
        }))
    }

    /// Says why an entry is left out. Nothing of it is kept: half a map is worse than none.
    fn drop_entry(&mut self, typed: &Typed<'_>, words: &str) -> Option<Node<'a>> {
        if let Some(at) = self.tab_indent(&typed.value) {
            let message = format!("`{}` is indented with a tab and was left out", typed.key);
            self.findings.add(Code::YamlTabIndent, at, message);
        } else {
            let message = format!("`{}` was left out: {words}", typed.key);
            self.findings.add(Code::YamlError, typed.key_at, message);
        }
        None
    }

    /// Returns the offset of the first tab in the indentation of the lines below the key.
    fn tab_indent(&self, value: &Range<usize>) -> Option<usize> {
        let mut at = line_within(self.header, value.start, value.end)?.next;
        while let Some(line) = line_within(self.header, at, value.end) {
            let text = self.slice(line.start, line.end);
            let blanks = text.len() - text.trim_start_matches([' ', '\t']).len();
            let tab = text.get(..blanks).and_then(|indent| indent.find('\t'));
            if let Some(tab) = tab.filter(|_| blanks < text.len()) {
                return Some(line.start + tab);
            }
            at = line.next;
        }
        None
    }

    fn slice(&self, start: usize, end: usize) -> &'a str {
        self.header.get(start..end).unwrap_or_default()
    }
}

enum Shape {
    Brackets(usize),
    Text(usize),
    Map(usize),
    Other,
}

enum Piece<'a> {
    Entry(Typed<'a>),
    Stray(usize),
}

/// Cuts lines into entries at one indentation.
struct Splitter<'a> {
    header: &'a str,
    at: usize,
    end: usize,
    indent: &'a str,
}

impl<'a> Splitter<'a> {
    fn new(header: &'a str, range: Range<usize>) -> Self {
        let mut splitter = Self {
            header,
            at: range.start,
            end: range.end,
            indent: "",
        };
        while let Some(line) = splitter.line(splitter.at) {
            let text = splitter.text(line);
            let content = text.trim_start_matches(' ');
            if !content.trim().is_empty() && !content.starts_with('#') {
                splitter.indent = text.get(..text.len() - content.len()).unwrap_or_default();
                break;
            }
            splitter.at = line.next;
        }
        splitter
    }

    fn next_piece(&mut self) -> Option<Piece<'a>> {
        loop {
            let line = self.line(self.at)?;
            self.at = line.next;
            let text = self.text(line);
            if is_filler(text) {
                continue;
            }
            let content = text.strip_prefix(self.indent).unwrap_or_default();
            let Some((key, length)) = entry_key(content) else {
                return Some(Piece::Stray(line.start));
            };
            let key_at = line.start + self.indent.len();
            let value_at = key_at + length;
            let end = self.rest_of_entry(line, self.text(line).get(value_at - line.start..));
            return Some(Piece::Entry(Typed {
                indent: self.indent,
                key,
                key_at,
                value: value_at..end,
                lines: line.start..end,
            }));
        }
    }

    /// Moves past the lines that belong to the entry of `first`, and returns where they end.
    fn rest_of_entry(&mut self, first: Line, value: Option<&str>) -> usize {
        let value = value.unwrap_or_default().trim();
        let mut open_quote = typed::opens_quote(value);
        let mut end = first.next;
        while let Some(line) = self.line(self.at) {
            let text = self.text(line);
            if !is_filler(text) && !self.continues(text, open_quote) {
                break;
            }
            // One closing quote ends the licence to run on at the left margin.
            if let Some(quote) = open_quote.filter(|&quote| text.contains(quote)) {
                open_quote = open_quote.filter(|_| text.matches(quote).count() % 2 == 0);
            }
            end = line.next;
            self.at = line.next;
        }
        end
    }

    fn continues(&self, text: &str, open_quote: Option<char>) -> bool {
        let Some(content) = text.strip_prefix(self.indent) else {
            return false;
        };
        match content.as_bytes() {
            [b' ' | b'\t', ..] | [b'-', b' ' | b'\t', ..] | [b'-'] | [b'}' | b']', ..] => true,
            _ => open_quote.is_some() && entry_key(content).is_none(),
        }
    }

    fn line(&self, at: usize) -> Option<Line> {
        line_within(self.header, at, self.end)
    }

    fn text(&self, line: Line) -> &'a str {
        self.header.get(line.start..line.end).unwrap_or_default()
    }
}

fn line_within(header: &str, at: usize, end: usize) -> Option<Line> {
    line_at(header.as_bytes().get(..end)?, at)
}

/// A blank line or a comment.
fn is_filler(text: &str) -> bool {
    let content = text.trim();
    content.is_empty() || content.starts_with('#')
}

/// Returns the key of a line and the length up to behind its colon.
fn entry_key(content: &str) -> Option<(&str, usize)> {
    let (key, length) = match content.chars().next()? {
        quote @ ('"' | '\'') => {
            let key = content.get(1..)?.split(quote).next()?;
            (key, key.len() + 2)
        }
        first if first.is_ascii_alphabetic() || first == '_' => {
            let is_end = |c: char| !(c.is_ascii_alphanumeric() || "_.-".contains(c));
            let length = content.find(is_end).unwrap_or(content.len());
            (content.get(..length)?, length)
        }
        _ => return None,
    };
    let rest = content.get(length..)?;
    let value = rest.trim_start_matches([' ', '\t']).strip_prefix(':')?;
    // `name:x` is a common slip; `http://x` is not an entry.
    let apart = value.is_empty() || value.starts_with([' ', '\t']);
    (apart || keys::is_known(key)).then_some((key, content.len() - value.len()))
}
