//! SKILL.md as bytes in, facts out. Never fails: a file that cannot be read says so in its status
//! and findings. Knows no file system, no clock, no database.

mod code;
mod document;
mod fields;
mod findings;
mod header;
mod json5;
mod keys;
pub mod lifecycle;
mod name;
mod node;
mod quote;
mod repair;
mod requirements;
mod strict;
#[cfg(test)]
mod tests;
mod typed;
mod yaml;

use std::borrow::Cow;
use std::ops::Range;

use serde_json::{Map, Value as Json};

pub use self::code::{Code, Severity};
pub use self::fields::Fields;
pub use self::findings::Finding;
pub use self::requirements::{Condition, ConditionKind, ConfigKey, Requirement, RequirementKind};

use self::document::{Document, Frame, Layout, lone_carriage_return};
use self::findings::{Findings, position_after};
use self::node::{Node, find};

/// What a SKILL.md file says.
#[derive(Clone, Debug, PartialEq)]
pub struct SkillText {
    /// How well the file could be read.
    pub status: ParseStatus,
    /// `name` as text; `None` when it is missing, blank or not a text.
    pub declared_name: Option<String>,
    /// `description` as YAML says, without blanks at its ends; `None` when missing or blank.
    pub description: Option<String>,
    /// The whole header: key order kept, every scalar a string or null.
    pub header: Map<String, Json>,
    /// Bytes between the fence lines; `0..0` when there is no header.
    pub header_span: Range<usize>,
    /// Where the body starts.
    pub body_offset: usize,
    /// What the clients read out of the header.
    pub fields: Fields,
    /// What is worth saying, sorted by place.
    pub findings: Vec<Finding>,
}

/// How well a file could be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ParseStatus {
    /// As it stands.
    Ok,
    /// After repairs, or without some of its parts.
    Repaired,
    /// Not at all.
    Unreadable,
}

impl ParseStatus {
    /// Returns the stored word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Repaired => "repaired",
            Self::Unreadable => "unreadable",
        }
    }
}

/// Reads a SKILL.md file. `folder` is the name of the folder that holds it.
#[must_use]
pub fn read(bytes: &[u8], folder: &str) -> SkillText {
    let document = Document::split(bytes);
    match document.layout {
        Layout::Framed(frame) => read_framed(bytes, document.start, frame, folder),
        Layout::Utf16 => refused(
            Code::EncodingUtf16,
            1,
            "the file is UTF-16 or UTF-32, not UTF-8",
        ),
        Layout::Unclosed { line } => {
            let message = "the header starts here and no later line is `---`";
            let mut skill = refused(Code::FrontmatterUnclosed, line, message);
            skill.body_offset = document.start;
            skill
        }
        Layout::Missing => {
            let mut findings = Findings::new("", 1);
            let message = "the file has no header between `---` lines";
            findings.add_in_file(Code::FrontmatterMissing, (1, 1), message);
            check_encoding(bytes, document.start, &mut findings);
            strict::check_body(
                bytes.get(document.start..).unwrap_or_default(),
                || 1,
                &mut findings,
            );
            let mut skill = empty(ParseStatus::Repaired, findings);
            skill.body_offset = document.start;
            skill
        }
    }
}

fn read_framed(bytes: &[u8], start: usize, frame: Frame, folder: &str) -> SkillText {
    let raw = bytes.get(frame.header.clone()).unwrap_or_default();
    let header = match str::from_utf8(raw) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => String::from_utf8_lossy(raw),
    };
    let mut findings = Findings::new(&header, frame.fence_line.saturating_add(1));
    let whole = check_encoding(bytes, start, &mut findings);
    if frame.fence_line > 1 {
        let message = "something stands before the opening `---`";
        findings.add_in_file(Code::FrontmatterNotFirst, (frame.fence_line, 1), message);
    }
    if let Some(at) = lone_carriage_return(&header) {
        findings.add(Code::BareCr, at, "this line ends in a lone carriage return");
    }
    let Ok((entries, whole_yaml)) = header::entries(&header, &mut findings) else {
        let mut skill = empty(ParseStatus::Unreadable, findings);
        (skill.header_span, skill.body_offset) = (frame.header, frame.body);
        return skill;
    };
    let fields = Fields::read(&entries, &mut findings);
    strict::check_header(&entries, folder, &mut findings);
    let body = bytes.get(frame.body..).unwrap_or_default();
    strict::check_body(body, || line_of_body(bytes, frame.body), &mut findings);
    let text = |key: &str| {
        find(&entries, key)
            .and_then(Node::trimmed)
            .map(str::to_owned)
    };
    SkillText {
        status: if whole && whole_yaml {
            ParseStatus::Ok
        } else {
            ParseStatus::Repaired
        },
        declared_name: text("name"),
        description: text("description"),
        header: node::into_json(entries),
        header_span: frame.header,
        body_offset: frame.body,
        fields,
        findings: findings.finish(),
    }
}

/// Tells of a byte order mark and of bytes that are no UTF-8; returns whether all bytes are.
fn check_encoding(bytes: &[u8], start: usize, findings: &mut Findings<'_>) -> bool {
    if start > 0 {
        let message = "the file starts with a byte order mark";
        findings.add_in_file(Code::ByteOrderMark, (1, 1), message);
    }
    let Err(error) = str::from_utf8(bytes) else {
        return true;
    };
    let before = bytes.get(start..error.valid_up_to()).unwrap_or_default();
    let place = position_after(str::from_utf8(before).unwrap_or_default());
    findings.add_in_file(Code::InvalidUtf8, place, "the bytes here are not UTF-8");
    false
}

fn line_of_body(bytes: &[u8], body: usize) -> u32 {
    let before = bytes.get(..body).unwrap_or_default();
    position_after(&String::from_utf8_lossy(before)).0
}

fn refused(code: Code, line: u32, message: &str) -> SkillText {
    let mut findings = Findings::new("", 1);
    findings.add_in_file(code, (line, 1), message);
    empty(ParseStatus::Unreadable, findings)
}

fn empty(status: ParseStatus, findings: Findings<'_>) -> SkillText {
    SkillText {
        status,
        declared_name: None,
        description: None,
        header: Map::new(),
        header_span: 0..0,
        body_offset: 0,
        fields: Fields::default(),
        findings: findings.finish(),
    }
}
