//! The outer shape of a SKILL.md file: encoding, fences, line ends. Knows nothing of YAML and
//! copies nothing.

use std::ops::Range;

/// The largest header that is read, in bytes.
pub(super) const LARGEST_HEADER: usize = 128 * 1024;

const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// Where the parts of a file are.
pub(super) struct Document {
    /// Length of the byte order mark, which is skipped.
    pub(super) start: usize,
    /// What the fences say.
    pub(super) layout: Layout,
}

/// How header and body are laid out.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Layout {
    /// A byte order mark of UTF-16 or UTF-32: not text this crate reads.
    Utf16,
    /// No opening fence: the whole file is body.
    Missing,
    /// An opening fence in this line, and no closing one.
    Unclosed { line: u32 },
    /// Header and body, each in its place.
    Framed(Frame),
}

/// A header between two fences.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Frame {
    /// Bytes between the fence lines.
    pub(super) header: Range<usize>,
    /// Byte after the closing fence's line end.
    pub(super) body: usize,
    /// Line of the opening fence, from 1.
    pub(super) fence_line: u32,
}

impl Document {
    /// Finds the fences of a file.
    pub(super) fn split(bytes: &[u8]) -> Self {
        let utf16 = [&b"\xFF\xFE"[..], b"\xFE\xFF", b"\0\0\xFE\xFF"];
        if utf16.iter().any(|mark| bytes.starts_with(mark)) {
            return Self {
                start: 0,
                layout: Layout::Utf16,
            };
        }
        let start = if bytes.starts_with(BYTE_ORDER_MARK) {
            BYTE_ORDER_MARK.len()
        } else {
            0
        };
        let layout = match opening_fence(bytes, start) {
            None => Layout::Missing,
            Some((line, header)) => frame(bytes, line, header),
        };
        Self { start, layout }
    }
}

/// Counts the lines of a text; a last line without line end counts too.
pub(super) fn count_lines(text: &[u8]) -> usize {
    // Sums of single bytes are what the compiler turns into vector code, and bodies are long.
    let count = |wanted: u8| -> usize {
        let within = |piece: &[u8]| {
            piece
                .iter()
                .map(|&byte| u8::from(byte == wanted))
                .sum::<u8>()
        };
        text.chunks(255)
            .map(|piece| usize::from(within(piece)))
            .sum()
    };
    let feeds = count(b'\n');
    let breaks = if feeds == 0 { count(b'\r') } else { feeds };
    match text.last() {
        None | Some(b'\n') => breaks,
        Some(b'\r') if feeds == 0 => breaks,
        Some(_) => breaks + 1,
    }
}

/// Returns the offset of the first carriage return that no line feed follows.
pub(super) fn lone_carriage_return(header: &str) -> Option<usize> {
    let bytes = header.as_bytes();
    header
        .match_indices('\r')
        .map(|(at, _)| at)
        .find(|at| bytes.get(at + 1) != Some(&b'\n'))
}

/// One line of a file: where its text starts and ends, and where the next line starts.
#[derive(Clone, Copy)]
pub(super) struct Line {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) next: usize,
}

/// Returns the line that starts at `start`; `None` at the end of `bytes`.
pub(super) fn line_at(bytes: &[u8], start: usize) -> Option<Line> {
    let rest = bytes.get(start..).filter(|rest| !rest.is_empty())?;
    let length = rest
        .iter()
        .position(|byte| matches!(byte, b'\n' | b'\r'))
        .unwrap_or(rest.len());
    let line_end = match rest.get(length..) {
        Some([b'\r', b'\n', ..]) => 2,
        Some([_, ..]) => 1,
        Some([]) | None => 0,
    };
    let end = start + length;
    Some(Line {
        start,
        end,
        next: end + line_end,
    })
}

/// Finds the opening fence: its line number and the offset after its line.
fn opening_fence(bytes: &[u8], mut at: usize) -> Option<(u32, usize)> {
    let mut number = 1_u32;
    let mut after_heading = false;
    let mut gap_after_heading = false;
    while let Some(line) = line_at(bytes, at) {
        let text = bytes.get(line.start..line.end)?;
        let trimmed = text.trim_ascii();
        if is_fence(text) {
            // `# Title`, a gap and a rule is Markdown, unless what follows reads like a header.
            let heading = gap_after_heading && !starts_with_key(bytes, line.next);
            return (!heading).then_some((number, line.next));
        } else if trimmed.is_empty() {
            gap_after_heading |= after_heading;
            at = line.next;
        } else if trimmed.starts_with(b"<!--") {
            let (next, lines) = skip_comment(bytes, line.start)?;
            number = number.saturating_add(lines);
            at = next;
            continue;
        } else if text.starts_with(b"#") {
            after_heading = true;
            at = line.next;
        } else {
            return None;
        }
        number = number.saturating_add(1);
    }
    None
}

/// Finds the closing fence and says what that makes of the file.
fn frame(bytes: &[u8], fence_line: u32, header: usize) -> Layout {
    let mut at = header;
    while let Some(line) = line_at(bytes, at) {
        if bytes.get(line.start..line.end).is_some_and(is_fence) {
            let header = header..line.start;
            return Layout::Framed(Frame {
                header,
                body: line.next,
                fence_line,
            });
        }
        at = line.next;
    }
    Layout::Unclosed { line: fence_line }
}

fn is_fence(line: &[u8]) -> bool {
    line.strip_prefix(b"---")
        .is_some_and(|rest| rest.iter().all(|byte| matches!(byte, b' ' | b'\t')))
}

/// Skips an HTML comment and the rest of its last line, which must be blank.
fn skip_comment(bytes: &[u8], start: usize) -> Option<(usize, u32)> {
    let rest = bytes.get(start..)?;
    let close = rest.windows(3).position(|window| window == b"-->")? + start + 3;
    let tail = line_at(bytes, close).unwrap_or(Line {
        start: close,
        end: close,
        next: close,
    });
    let blank = bytes.get(tail.start..tail.end)?.trim_ascii().is_empty();
    let lines = count_lines(bytes.get(start..tail.next)?);
    blank.then_some((tail.next, u32::try_from(lines).unwrap_or(u32::MAX)))
}

/// Says whether the first line with text at or after `at` looks like `key: value`.
fn starts_with_key(bytes: &[u8], mut at: usize) -> bool {
    while let Some(line) = line_at(bytes, at) {
        let text = bytes.get(line.start..line.end).unwrap_or_default();
        if !text.trim_ascii().is_empty() {
            let key = text
                .iter()
                .take_while(|b| b.is_ascii_alphanumeric() || b"_-.".contains(b));
            let length = key.count();
            return length > 0 && text.get(length) == Some(&b':');
        }
        at = line.next;
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(text: &str) -> Option<(&str, &str)> {
        match Document::split(text.as_bytes()).layout {
            Layout::Framed(frame) => Some((&text[frame.header], &text[frame.body..])),
            Layout::Utf16 | Layout::Missing | Layout::Unclosed { .. } => None,
        }
    }

    #[test]
    fn fences_may_carry_trailing_blanks() {
        assert_eq!(parts("--- \t\na: b\n---  \nx"), Some(("a: b\n", "x")));
    }

    #[test]
    fn fence_at_the_end_of_the_file_closes() {
        assert_eq!(parts("---\na: b\n---"), Some(("a: b\n", "")));
    }

    #[test]
    fn header_may_be_empty() {
        assert_eq!(parts("---\n---\n"), Some(("", "")));
    }

    #[test]
    fn every_line_end_is_a_line_end() {
        assert_eq!(parts("---\ra: b\r---\rx\r"), Some(("a: b\r", "x\r")));
        assert_eq!(
            parts("---\r\na: b\r\n---\r\n\r\nx"),
            Some(("a: b\r\n", "\r\nx"))
        );
    }

    #[test]
    fn indented_fence_is_data() {
        assert_eq!(
            parts("---\na: |\n  ---\n---\nx"),
            Some(("a: |\n  ---\n", "x"))
        );
    }

    #[test]
    fn comments_and_blank_lines_may_stand_before_the_fence() {
        let text = "\n<!-- one\ntwo -->\n# three\n---\na: b\n---\nx";
        let Layout::Framed(frame) = Document::split(text.as_bytes()).layout else {
            panic!("not framed")
        };
        assert_eq!((frame.fence_line, &text[frame.header]), (5, "a: b\n"));
    }

    #[test]
    fn heading_before_a_rule_is_markdown() {
        assert_eq!(parts("# Title\n\n---\n\nText\n\n---\n"), None);
        assert_eq!(parts("# Title\ntext\n---\na: b\n---\n"), None);
    }

    #[test]
    fn comment_with_a_gap_before_a_real_header_is_skipped() {
        assert_eq!(
            parts("# SPDX: MIT\n\n---\na: b\n---\nx"),
            Some(("a: b\n", "x"))
        );
    }

    #[test]
    fn missing_second_fence_is_told_with_its_line() {
        let layout = Document::split(b"\n---\na: b\n...\n").layout;
        assert_eq!(layout, Layout::Unclosed { line: 2 });
    }

    #[test]
    fn utf16_is_recognised() {
        assert_eq!(Document::split(b"\xFF\xFE-\0-\0-\0").layout, Layout::Utf16);
    }

    #[test]
    fn lines_are_counted_for_every_line_end() {
        let counts =
            ["", "a", "a\n", "a\nb", "a\r\nb\r\n", "a\rb\r"].map(|t| count_lines(t.as_bytes()));
        assert_eq!(counts, [0, 1, 1, 2, 2, 2]);
    }
}
