//! A text with one kind of line end, and the way back to the text as it is.

use std::borrow::Cow;
use std::ops::Range;

/// A text whose CRLF line ends read as LF.
pub(super) struct View<'t> {
    original: &'t str,
    text: Cow<'t, str>,
    /// Where in `text` the line ends are that were CRLF, ascending.
    crlf: Vec<usize>,
    /// Where lines begin in `text`, ascending; the first is 0.
    starts: Vec<usize>,
}

impl<'t> View<'t> {
    pub(super) fn new(original: &'t str) -> Self {
        let (text, crlf) = without_crlf(original);
        let starts = std::iter::once(0)
            .chain(memchr::memchr_iter(b'\n', text.as_bytes()).map(|at| at + 1))
            .collect();
        Self {
            original,
            text,
            crlf,
            starts,
        }
    }

    /// The text with LF line ends.
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// Number of lines; what follows a last line end counts, though it is empty.
    pub(super) fn count(&self) -> usize {
        self.starts.len()
    }

    /// Where lines `first..first + count` are, without the last line end.
    pub(super) fn lines(&self, first: usize, count: usize) -> Range<usize> {
        let start = self.starts.get(first).copied().unwrap_or(self.text.len());
        let end = self
            .starts
            .get(first + count)
            .map_or(self.text.len(), |next| next - 1);
        start..end.max(start)
    }

    /// The text of one line, without its end.
    pub(super) fn line(&self, index: usize) -> &str {
        self.text.get(self.lines(index, 1)).unwrap_or_default()
    }

    /// The line that holds an offset, from 0.
    pub(super) fn line_at(&self, offset: usize) -> usize {
        self.starts
            .partition_point(|start| *start <= offset)
            .saturating_sub(1)
    }

    /// Where a line begins.
    pub(super) fn start_of(&self, line: usize) -> usize {
        self.starts.get(line).copied().unwrap_or(self.text.len())
    }

    fn original_at(&self, offset: usize) -> usize {
        offset + self.crlf.partition_point(|at| *at < offset)
    }

    /// Puts `pieces` (ranges of the view with LF texts, ascending) in place, each with the line ends of
    /// its surroundings.
    pub(super) fn splice(&self, pieces: &[(Range<usize>, String)]) -> String {
        let mut out = String::with_capacity(self.original.len() + 64);
        let mut done = 0;
        for (range, text) in pieces {
            let (start, end) = (self.original_at(range.start), self.original_at(range.end));
            out.push_str(self.original.get(done..start).unwrap_or_default());
            if self.is_crlf_near(range.start) {
                out.push_str(&text.replace('\n', "\r\n"));
            } else {
                out.push_str(text);
            }
            done = end;
        }
        out.push_str(self.original.get(done..).unwrap_or_default());
        out
    }

    /// Whether the line that holds `offset` ends in CRLF; of a last line, whether the one before does.
    fn is_crlf_near(&self, offset: usize) -> bool {
        let line = self.line_at(offset);
        let end = self
            .starts
            .get(line + 1)
            .or_else(|| self.starts.get(line))
            .copied();
        end.and_then(|next| next.checked_sub(1))
            .is_some_and(|at| self.crlf.binary_search(&at).is_ok())
    }
}

/// Returns the text with LF line ends.
pub(super) fn with_lf(text: &str) -> Cow<'_, str> {
    without_crlf(text).0
}

fn without_crlf(text: &str) -> (Cow<'_, str>, Vec<usize>) {
    let found: Vec<usize> = memchr::memmem::find_iter(text.as_bytes(), b"\r\n").collect();
    if found.is_empty() {
        return (Cow::Borrowed(text), found);
    }
    let at = found
        .iter()
        .enumerate()
        .map(|(removed, at)| at - removed)
        .collect();
    (Cow::Owned(text.replace("\r\n", "\n")), at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_take_the_line_ends_of_their_surroundings() {
        let view = View::new("a\r\nb\r\nc\nd");
        assert_eq!(view.text(), "a\nb\nc\nd");
        let pieces = [(2..3, "x\ny".to_owned()), (6..7, "z\nz".to_owned())];
        assert_eq!(view.splice(&pieces), "a\r\nx\r\ny\r\nc\nz\nz");
    }

    #[test]
    fn lines_are_counted_from_zero() {
        let view = View::new("one\ntwo\n");
        assert_eq!((view.count(), view.line(1), view.line(2)), (3, "two", ""));
        assert_eq!((view.line_at(3), view.line_at(4)), (0, 1));
    }
}
