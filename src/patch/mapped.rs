//! A text read more plainly than it is written, with the way back from each character to what it stands for.

use std::ops::Range;

use super::fold::{cluster_length, plain};

/// What is overlooked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Overlook {
    /// Look-alikes count as the plain character.
    pub(super) look_alikes: bool,
    /// A run of blanks and tabs counts as one blank.
    pub(super) runs: bool,
    /// Blanks at both ends of a line count as nothing.
    pub(super) ends: bool,
}

/// A text read with something overlooked.
pub(super) struct Mapped {
    pub(super) text: String,
    /// Where each unit begins in `text` and what it stands for in the original; ascending.
    units: Vec<Unit>,
}

#[derive(Debug, Clone, Copy)]
struct Unit {
    at: usize,
    start: usize,
    end: usize,
}

impl Mapped {
    /// Reads a text with LF line ends.
    pub(super) fn new(original: &str, overlook: Overlook) -> Self {
        let mut mapped = Self {
            text: String::with_capacity(original.len()),
            units: Vec::with_capacity(original.len()),
        };
        let mut start = 0;
        for line in original.split('\n') {
            if start > 0 {
                mapped.push(start - 1, start, "\n");
            }
            mapped.line(line, start, overlook);
            start += line.len() + 1;
        }
        mapped
    }

    fn line(&mut self, line: &str, offset: usize, overlook: Overlook) {
        let (mut from, mut to) = (0, line.len());
        if overlook.ends {
            from = line.len() - line.trim_start().len();
            to = line.trim_end().len().max(from);
        }
        let mut at = from;
        while at < to {
            let rest = line.get(at..to).unwrap_or_default();
            let blanks = rest
                .bytes()
                .take_while(|byte| matches!(byte, b' ' | b'\t'))
                .count();
            let (length, text) = if overlook.runs && blanks > 0 {
                (blanks, " ".into())
            } else {
                let length = cluster_length_of(rest, overlook);
                let cluster = rest.get(..length).unwrap_or_default();
                (
                    length,
                    if overlook.look_alikes {
                        plain(cluster)
                    } else {
                        cluster.into()
                    },
                )
            };
            let is_second_blank =
                overlook.runs && text == " " && self.text.ends_with(' ') && at > from;
            if is_second_blank {
                self.stretch(offset + at + length);
            } else {
                self.push(offset + at, offset + at + length, &text);
            }
            at += length.max(1);
        }
    }

    fn push(&mut self, start: usize, end: usize, text: &str) {
        self.units.push(Unit {
            at: self.text.len(),
            start,
            end,
        });
        self.text.push_str(text);
    }

    /// Lets the last unit stand for more: a no-break blank beside a plain one.
    fn stretch(&mut self, end: usize) {
        if let Some(unit) = self.units.last_mut() {
            unit.end = end;
        }
    }

    /// Returns what a range of `text` stands for in the original; `None` when it cuts a unit in two, as
    /// one hyphen would a dash.
    pub(super) fn original(&self, range: &Range<usize>) -> Option<Range<usize>> {
        // Units that became nothing have the same place as the one after them: they are left out.
        let first = self
            .units
            .partition_point(|unit| unit.at <= range.start)
            .checked_sub(1)?;
        let first = self
            .units
            .get(first)
            .filter(|unit| unit.at == range.start)?;
        let after = self.units.partition_point(|unit| unit.at < range.end);
        let is_whole = self
            .units
            .get(after)
            .map_or(self.text.len(), |unit| unit.at)
            == range.end;
        let last = self.units.get(after.checked_sub(1)?)?;
        (is_whole && last.end >= first.start).then_some(first.start..last.end)
    }
}

fn cluster_length_of(rest: &str, overlook: Overlook) -> usize {
    if overlook.look_alikes {
        cluster_length(rest)
    } else {
        rest.chars().next().map_or(1, char::len_utf8)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_stand_for_all_their_blanks() {
        let mapped = Mapped::new(
            "a \t b",
            Overlook {
                runs: true,
                ..Overlook::default()
            },
        );
        assert_eq!(mapped.text, "a b");
        assert_eq!(mapped.original(&(0..2)), Some(0..4));
    }

    #[test]
    fn half_a_dash_stands_for_nothing() {
        let mapped = Mapped::new(
            "a\u{2014}b",
            Overlook {
                look_alikes: true,
                ..Overlook::default()
            },
        );
        assert_eq!(mapped.text, "a--b");
        assert_eq!(mapped.original(&(0..2)), None);
        assert_eq!(mapped.original(&(0..3)), Some(0..4));
    }

    #[test]
    fn ends_of_lines_are_left_out() {
        let mapped = Mapped::new(
            "  a  \n\t b",
            Overlook {
                ends: true,
                ..Overlook::default()
            },
        );
        assert_eq!(mapped.text, "a\nb");
    }
}
