//! YAML text to [`Node`]s, within a budget. The only user of `granit-parser`; refuses anchors,
//! aliases and merge keys.

use std::borrow::Cow;
use std::ops::Range;

use granit_parser::{
    ErrorKind, Event, Options, Parser, ScalarStyle, ScanError, Span, StrInput, StructureStyle, Tag,
};

use super::code::Code;
use super::findings::Findings;
use super::node::{Entry, Layout, Node, Style, Value, fold_duplicates};

/// The deepest nesting of lists and maps that is read; the header itself is level 1.
pub(super) const DEEPEST: usize = 16;

/// The most keys and values that are read.
const MOST_NODES: usize = 4_096;

/// Why a text was not read.
pub(super) enum Refusal {
    /// Not YAML, or not a mapping: worth a second try line by line.
    Syntax { offset: usize, message: String },
    /// Valid YAML whose root is no mapping.
    NotMapping { offset: usize, found: &'static str },
    /// Something that is refused on sight.
    Forbidden {
        code: Code,
        offset: usize,
        message: String,
    },
}

/// What is left of the allowance of one header.
pub(super) struct Budget {
    nodes: usize,
}

impl Budget {
    /// Starts with the full allowance.
    pub(super) fn new() -> Self {
        Self { nodes: MOST_NODES }
    }

    /// Takes one node off the allowance.
    pub(super) fn take(&mut self, offset: usize) -> Result<(), Refusal> {
        let Some(left) = self.nodes.checked_sub(1) else {
            let message = format!("the header has more than {MOST_NODES} keys and values");
            return Err(Refusal::Forbidden {
                code: Code::YamlTooManyNodes,
                offset,
                message,
            });
        };
        self.nodes = left;
        Ok(())
    }

    /// Refuses a list or map at level `depth` when that is too deep.
    pub(super) fn descend(depth: usize, offset: usize) -> Result<(), Refusal> {
        if depth > DEEPEST {
            return Err(too_deep(offset));
        }
        Ok(())
    }
}

/// Reads `range` of a header as one mapping that stands at level `depth`.
pub(super) fn mapping<'a>(
    header: &'a str,
    range: Range<usize>,
    depth: usize,
    budget: &mut Budget,
    findings: &mut Findings<'_>,
) -> Result<Vec<Entry<'a>>, Refusal> {
    let base = range.start;
    let text = header.get(range).unwrap_or_default();
    // The scanner takes NUL for the end of the input and would lose what follows.
    if let Some(at) = text.find('\0') {
        let message = "a NUL character is not allowed".to_owned();
        return Err(Refusal::Syntax {
            offset: base + at,
            message,
        });
    }
    let parser = Parser::new_from_str_with_options(text, options());
    let allowance = budget.nodes;
    let mark = findings.mark();
    let result = Reader {
        parser,
        text,
        base,
        budget,
        findings,
    }
    .document(depth);
    if matches!(
        result,
        Err(Refusal::Syntax { .. } | Refusal::NotMapping { .. })
    ) {
        budget.nodes = allowance;
        findings.roll_back(mark);
    }
    result
}

fn options() -> Options {
    granit_parser::options! {
        emit_comments: false,
        disallow_directives: true,
        bom_inside_document_as_content: true,
        flow_nesting_limit: DEEPEST + 1,
        block_nesting_limit: DEEPEST + 1,
    }
}

struct Reader<'a, 'b, 't> {
    parser: Parser<'a, StrInput<'a>>,
    text: &'a str,
    base: usize,
    budget: &'b mut Budget,
    findings: &'b mut Findings<'t>,
}

impl<'a> Reader<'a, '_, '_> {
    fn document(&mut self, depth: usize) -> Result<Vec<Entry<'a>>, Refusal> {
        let mut root = None;
        loop {
            let (event, span) = self.next()?;
            match event {
                Event::StreamStart | Event::DocumentEnd => {}
                Event::DocumentStart(..) if root.is_none() => {}
                Event::StreamEnd => return Ok(root.unwrap_or_default()),
                Event::MappingStart(style, anchor, tag) if root.is_none() => {
                    let node = self.map(&span, style, (anchor, tag), depth)?;
                    if let Value::Map(entries, _) = node.value {
                        root = Some(entries);
                    }
                }
                event if root.is_none() => {
                    let node = self.node(event, &span, depth)?;
                    let (offset, found) = (node.span.start, node.kind());
                    // Only a text that really ends here is no mapping; else it is broken YAML.
                    while !matches!(self.next()?.0, Event::StreamEnd) {}
                    return Err(Refusal::NotMapping { offset, found });
                }
                _ => {
                    let message = "a second document starts here".to_owned();
                    return Err(Refusal::Syntax {
                        offset: self.start(&span),
                        message,
                    });
                }
            }
        }
    }

    fn node(&mut self, event: Event<'a>, span: &Span, depth: usize) -> Result<Node<'a>, Refusal> {
        match event {
            Event::Scalar(text, style, anchor, tag) => {
                self.admit(span, anchor, tag)?;
                Ok(self.scalar(text, style, span))
            }
            Event::SequenceStart(style, anchor, tag) => {
                self.list(span, style, (anchor, tag), depth)
            }
            Event::MappingStart(style, anchor, tag) => self.map(span, style, (anchor, tag), depth),
            Event::Alias(_) | Event::UnresolvedAlias(_) | Event::Anchor(..) => {
                Err(alias(self.start(span)))
            }
            _ => Err(Refusal::Syntax {
                offset: self.start(span),
                message: "a value is missing".to_owned(),
            }),
        }
    }

    fn list(
        &mut self,
        span: &Span,
        style: StructureStyle,
        (anchor, tag): (usize, Option<Cow<'a, Tag>>),
        depth: usize,
    ) -> Result<Node<'a>, Refusal> {
        self.admit(span, anchor, tag)?;
        Budget::descend(depth, self.start(span))?;
        let mut items = Vec::new();
        loop {
            let (event, at) = self.next()?;
            if event == Event::SequenceEnd {
                let value = Value::List(items, layout(style));
                return Ok(Node {
                    value,
                    span: self.start(span)..self.end(&at),
                });
            }
            items.push(self.node(event, &at, depth + 1)?);
        }
    }

    fn map(
        &mut self,
        span: &Span,
        style: StructureStyle,
        (anchor, tag): (usize, Option<Cow<'a, Tag>>),
        depth: usize,
    ) -> Result<Node<'a>, Refusal> {
        self.admit(span, anchor, tag)?;
        Budget::descend(depth, self.start(span))?;
        let mut entries = Vec::new();
        loop {
            let (event, at) = self.next()?;
            if event == Event::MappingEnd {
                let entries = fold_duplicates(entries, self.findings);
                let value = Value::Map(entries, layout(style));
                return Ok(Node {
                    value,
                    span: self.start(span)..self.end(&at),
                });
            }
            let key_at = self.start(&at);
            let key = self.key(event, &at)?;
            let (event, at) = self.next()?;
            let value = self.node(event, &at, depth + 1)?;
            entries.push(Entry { key, key_at, value });
        }
    }

    fn key(&mut self, event: Event<'a>, span: &Span) -> Result<Cow<'a, str>, Refusal> {
        let offset = self.start(span);
        match event {
            Event::Scalar(text, style, anchor, tag) => {
                self.admit(span, anchor, tag)?;
                if style == ScalarStyle::Plain && text == "<<" {
                    return Err(alias(offset));
                }
                Ok(if is_empty(span) {
                    Cow::Borrowed("")
                } else {
                    clean(text)
                })
            }
            Event::Alias(_) | Event::UnresolvedAlias(_) => Err(alias(offset)),
            _ => Err(Refusal::Syntax {
                offset,
                message: "a key must be a text".to_owned(),
            }),
        }
    }

    fn scalar(&self, text: Cow<'a, str>, style: ScalarStyle, span: &Span) -> Node<'a> {
        let plain = style == ScalarStyle::Plain;
        let null = plain && (is_empty(span) || matches!(&*text, "~" | "null" | "Null" | "NULL"));
        let style = if plain {
            Style::Plain
        } else {
            Style::Delimited
        };
        let value = if null {
            Value::Null
        } else {
            Value::Text(clean(text), style)
        };
        Node {
            value,
            span: self.start(span)..self.end(span),
        }
    }

    /// Counts a node, refuses anchors, and tells of tags that mean nothing here.
    fn admit(
        &mut self,
        span: &Span,
        anchor: usize,
        tag: Option<Cow<'a, Tag>>,
    ) -> Result<(), Refusal> {
        let offset = self.start(span);
        self.budget.take(offset)?;
        if anchor != 0 {
            return Err(alias(offset));
        }
        if let Some(tag) = tag.filter(|tag| !tag.is_yaml_core_schema()) {
            let at = span.tag_start().and_then(|at| at.byte_offset());
            let offset = at.map_or(offset, |at| self.base + at);
            self.findings.add(
                Code::YamlTag,
                offset,
                format!("the tag `{}` is ignored", tag.original()),
            );
        }
        Ok(())
    }

    fn next(&mut self) -> Result<(Event<'a>, Span), Refusal> {
        match self.parser.next_event() {
            Some(Ok(event)) => Ok(event),
            Some(Err(error)) => Err(self.refusal(&error)),
            None => Ok((Event::StreamEnd, Span::default())),
        }
    }

    fn refusal(&self, error: &ScanError) -> Refusal {
        let at = error.marker().byte_offset().unwrap_or_default();
        let offset = self.base + at;
        match error.kind() {
            ErrorKind::RecursionLimitExceeded => too_deep(offset),
            ErrorKind::UnknownAnchor if self.is_whole_alias(at) => alias(offset),
            _ => Refusal::Syntax {
                offset,
                message: error.info(),
            },
        }
    }

    /// Tells `key: *name` from text that merely starts with a star, as in `key: *Always* do this`.
    fn is_whole_alias(&self, at: usize) -> bool {
        let line = self
            .text
            .get(at..)
            .and_then(|rest| rest.lines().next())
            .unwrap_or_default();
        let is_end = |c: char| c.is_whitespace() || matches!(c, ',' | ']' | '}');
        let rest = line
            .find(is_end)
            .and_then(|end| line.get(end..))
            .unwrap_or_default();
        rest.trim_start()
            .chars()
            .next()
            .is_none_or(|c| matches!(c, '#' | ',' | ']' | '}' | ':'))
    }

    fn start(&self, span: &Span) -> usize {
        self.base + span.start.byte_offset().unwrap_or_default()
    }

    fn end(&self, span: &Span) -> usize {
        self.base + span.end.byte_offset().unwrap_or_default()
    }
}

/// Values never hold `\r` or NUL: an escaped one would garble tables and end texts early in C.
pub(super) fn clean(text: Cow<'_, str>) -> Cow<'_, str> {
    if !text.bytes().any(|byte| matches!(byte, b'\r' | b'\0')) {
        return text;
    }
    Cow::Owned(
        text.replace("\r\n", "\n")
            .replace('\r', "\n")
            .replace('\0', "\u{FFFD}"),
    )
}

fn is_empty(span: &Span) -> bool {
    span.start.index() == span.end.index()
}

fn layout(style: StructureStyle) -> Layout {
    match style {
        StructureStyle::Flow => Layout::Flow,
        StructureStyle::Block => Layout::Block,
    }
}

fn alias(offset: usize) -> Refusal {
    let message = "anchors, aliases and merge keys are refused".to_owned();
    Refusal::Forbidden {
        code: Code::YamlAlias,
        offset,
        message,
    }
}

fn too_deep(offset: usize) -> Refusal {
    let message = format!("the header nests more than {DEEPEST} levels deep");
    Refusal::Forbidden {
        code: Code::YamlTooDeep,
        offset,
        message,
    }
}
