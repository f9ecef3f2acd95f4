//! Findings and the places they point at. Lines and columns are worked out only when there is a
//! finding to show.

use super::code::Code;

/// Nobody reads more findings of one kind than this, and a hostile header must not fill memory.
const MOST_OF_ONE_CODE: usize = 100;

/// One thing worth saying about a file, with its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// What was found.
    pub code: Code,
    /// Line in the file, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
    /// What is the matter with this file in particular.
    pub message: String,
    /// A line to paste instead, when there is one.
    pub suggestion: Option<String>,
}

/// Collects findings while a header is read; places are byte offsets until [`Findings::finish`].
pub(super) struct Findings<'t> {
    header: &'t str,
    first_line: u32,
    raw: Vec<Raw>,
}

struct Raw {
    place: Place,
    code: Code,
    message: String,
    suggestion: Option<String>,
}

enum Place {
    Header(usize),
    File { line: u32, column: u32 },
}

impl<'t> Findings<'t> {
    /// Starts an empty collection for a header whose first line is `first_line` of the file.
    pub(super) fn new(header: &'t str, first_line: u32) -> Self {
        Self {
            header,
            first_line,
            raw: Vec::new(),
        }
    }

    /// Adds a finding at a byte offset into the header.
    pub(super) fn add(&mut self, code: Code, offset: usize, message: impl Into<String>) {
        self.push(Place::Header(offset), code, message.into(), None);
    }

    /// Adds a finding at a byte offset into the header, with a line to paste instead.
    pub(super) fn suggest(&mut self, code: Code, offset: usize, message: String, line: String) {
        self.push(Place::Header(offset), code, message, Some(line));
    }

    /// Adds a finding at a line and column of the file.
    pub(super) fn add_in_file(
        &mut self,
        code: Code,
        (line, column): (u32, u32),
        message: impl Into<String>,
    ) {
        self.push(Place::File { line, column }, code, message.into(), None);
    }

    /// Says whether more findings of this kind would be dropped, so that nobody words them in vain.
    pub(super) fn is_full(&self, code: Code) -> bool {
        self.raw.iter().filter(|raw| raw.code == code).count() >= MOST_OF_ONE_CODE
    }

    /// Returns the line of the file that holds a byte offset into the header.
    pub(super) fn line_of(&self, offset: usize) -> u32 {
        let mut cursor = Cursor::new(self.first_line);
        cursor.advance(self.header.get(..offset).unwrap_or(self.header));
        cursor.line
    }

    /// Returns a mark to roll back to when a reading turns out to be a dead end.
    pub(super) fn mark(&self) -> usize {
        self.raw.len()
    }

    /// Forgets what was added since `mark`.
    pub(super) fn roll_back(&mut self, mark: usize) {
        self.raw.truncate(mark);
    }

    /// Says whether nothing was added since `mark`.
    pub(super) fn is_quiet_since(&self, mark: usize) -> bool {
        self.raw.len() == mark
    }

    /// Works out lines and columns, and sorts by place and code.
    pub(super) fn finish(mut self) -> Vec<Finding> {
        self.raw.sort_by_key(|raw| match raw.place {
            Place::Header(offset) => offset,
            Place::File { .. } => 0,
        });
        let mut cursor = Cursor::new(self.first_line);
        let mut walked = 0;
        let mut findings: Vec<Finding> = Vec::with_capacity(self.raw.len());
        for raw in self.raw {
            let (line, column) = match raw.place {
                Place::File { line, column } => (line, column),
                Place::Header(offset) => {
                    cursor.advance(self.header.get(walked..offset).unwrap_or_default());
                    walked = walked.max(offset);
                    (cursor.line, cursor.column)
                }
            };
            let Raw {
                code,
                message,
                suggestion,
                ..
            } = raw;
            findings.push(Finding {
                code,
                line,
                column,
                message,
                suggestion,
            });
        }
        findings.sort_by_key(|finding| (finding.line, finding.column, finding.code));
        findings.dedup_by_key(|finding| (finding.line, finding.column, finding.code));
        findings
    }

    fn push(&mut self, place: Place, code: Code, message: String, suggestion: Option<String>) {
        if !self.is_full(code) {
            self.raw.push(Raw {
                place,
                code,
                message,
                suggestion,
            });
        }
    }
}

/// Returns the 1-based line and column of the end of `before`, the text in front of a place.
pub(super) fn position_after(before: &str) -> (u32, u32) {
    let mut cursor = Cursor::new(1);
    cursor.advance(before);
    (cursor.line, cursor.column)
}

struct Cursor {
    line: u32,
    column: u32,
    after_cr: bool,
}

impl Cursor {
    fn new(line: u32) -> Self {
        Self {
            line,
            column: 1,
            after_cr: false,
        }
    }

    fn advance(&mut self, text: &str) {
        for byte in text.bytes() {
            match byte {
                b'\n' if self.after_cr => {}
                b'\n' | b'\r' => {
                    self.line = self.line.saturating_add(1);
                    self.column = 1;
                }
                // The other bytes of a character do not start a new column.
                0x80..=0xBF => {}
                _ => self.column = self.column.saturating_add(1),
            }
            self.after_cr = byte == b'\r';
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_count_characters_not_bytes() {
        assert_eq!(position_after("ä\r\nöü"), (2, 3));
    }

    #[test]
    fn lone_carriage_return_ends_a_line() {
        assert_eq!(position_after("a\rb\nc"), (3, 2));
    }

    #[test]
    fn findings_come_sorted_and_each_place_once() {
        let mut findings = Findings::new("a\nb\n", 2);
        findings.add(Code::YamlTag, 2, "later");
        findings.add(Code::YamlError, 0, "first");
        findings.add(Code::YamlError, 0, "again");
        let found: Vec<_> = findings
            .finish()
            .into_iter()
            .map(|f| (f.line, f.code))
            .collect();
        assert_eq!(found, [(2, Code::YamlError), (3, Code::YamlTag)]);
    }

    #[test]
    fn floods_of_one_code_are_cut() {
        let mut findings = Findings::new("", 1);
        (0..5_000).for_each(|n| findings.add(Code::YamlError, n, ""));
        assert_eq!(findings.mark(), MOST_OF_ONE_CODE);
    }
}
