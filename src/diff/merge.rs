//! Merges two changes of one text, line by line. Lines that both changed in different ways are a clash; it is never
//! guessed which side was meant.

use std::fmt::Write as _;
use std::ops::Range;

use similar::{DiffOp, DiffTag, capture_diff_slices};

/// A place that both sides changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Clash {
    /// First line of it in our text, from 1.
    pub line: usize,
    /// What both had.
    pub base: String,
    /// What we have.
    pub ours: String,
    /// What they have.
    pub theirs: String,
}

impl Clash {
    /// Returns the place as people read it: what stands there, and what was wanted instead.
    #[must_use]
    pub fn shown(&self) -> String {
        let mut text = String::new();
        for (sign, lines) in [(' ', &self.base), ('-', &self.ours), ('+', &self.theirs)] {
            if sign == ' ' {
                continue;
            }
            for line in lines.lines() {
                let _ = writeln!(text, "{sign}{line}");
            }
        }
        text
    }
}

/// A run of lines of the base that one side replaced.
struct Hunk {
    base: Range<usize>,
    new: Range<usize>,
}

/// Merges what `ours` and `theirs` made of `base`.
///
/// # Errors
/// The places that both changed.
pub fn merge(base: &str, ours: &str, theirs: &str) -> Result<String, Vec<Clash>> {
    let split = |text| -> Vec<&str> { str::split_inclusive(text, '\n').collect() };
    let (base, ours, theirs) = (split(base), split(ours), split(theirs));
    let (left, right) = (hunks(&base, &ours), hunks(&base, &theirs));
    let mut merged = String::new();
    let mut clashes = Vec::new();
    let (mut l, mut r, mut at) = (0, 0, 0);
    loop {
        let (a, b) = (left.get(l), right.get(r));
        let (hunk, lines, is_left) = match (a, b) {
            (None, None) => break,
            (Some(a), Some(b)) if overlap(a, b) => {
                let same = ours.get(a.new.clone()) == theirs.get(b.new.clone()) && a.base == b.base;
                if !same {
                    clashes.push(clash(&base, (&ours, a), (&theirs, b)));
                }
                let end = a.base.end.max(b.base.end);
                push(&mut merged, &base, at..a.base.start.min(b.base.start));
                push(&mut merged, &ours, a.new.clone());
                at = end;
                (l, r) = (l + 1, r + 1);
                continue;
            }
            (Some(a), Some(b)) if is_first(a, b) => (a, &ours, true),
            (Some(a), None) => (a, &ours, true),
            (_, Some(b)) => (b, &theirs, false),
        };
        push(&mut merged, &base, at..hunk.base.start);
        push(&mut merged, lines, hunk.new.clone());
        at = hunk.base.end;
        if is_left {
            l += 1;
        } else {
            r += 1;
        }
    }
    push(&mut merged, &base, at..base.len());
    if clashes.is_empty() {
        Ok(merged)
    } else {
        Err(clashes)
    }
}

fn hunks(base: &[&str], side: &[&str]) -> Vec<Hunk> {
    capture_diff_slices(similar::Algorithm::Myers, base, side)
        .iter()
        .filter(|op| op.tag() != DiffTag::Equal)
        .map(|op: &DiffOp| Hunk {
            base: op.old_range(),
            new: op.new_range(),
        })
        .collect()
}

/// Hunks that only touch do not clash, unless both put something into the same place.
fn overlap(a: &Hunk, b: &Hunk) -> bool {
    if a.base.is_empty() && b.base.is_empty() {
        return a.base.start == b.base.start;
    }
    a.base.start < b.base.end && b.base.start < a.base.end
}

/// Which one comes first in the text. What is put in before a line comes before what becomes of that line.
fn is_first(a: &Hunk, b: &Hunk) -> bool {
    (a.base.start, a.base.end) < (b.base.start, b.base.end)
}

fn push(text: &mut String, lines: &[&str], range: Range<usize>) {
    text.extend(lines.get(range).unwrap_or_default().iter().copied());
}

fn clash(base: &[&str], (ours, a): (&[&str], &Hunk), (theirs, b): (&[&str], &Hunk)) -> Clash {
    let start = a.base.start.min(b.base.start);
    let end = a.base.end.max(b.base.end);
    // Each side with the lines of the base that the other side's hunk reaches further.
    let side = |lines: &[&str], hunk: &Hunk| {
        let mut text = String::new();
        push(&mut text, base, start..hunk.base.start);
        push(&mut text, lines, hunk.new.clone());
        push(&mut text, base, hunk.base.end..end);
        text
    };
    let mut common = String::new();
    push(&mut common, base, start..end);
    Clash {
        line: (a.new.start + 1).saturating_sub(a.base.start - start),
        base: common,
        ours: side(ours, a),
        theirs: side(theirs, b),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_of_different_lines_are_both_kept() {
        let merged = merge("a\nb\nc\nd\n", "A\nb\nc\nd\n", "a\nb\nc\nD\n");
        assert_eq!(merged.as_deref(), Ok("A\nb\nc\nD\n"));
    }

    #[test]
    fn lines_that_only_touch_do_not_clash() {
        assert_eq!(merge("a\nb\n", "A\nb\n", "a\n").as_deref(), Ok("A\n"));
        assert_eq!(merge("a\n", "a\ny\n", "A\n").as_deref(), Ok("A\ny\n"));
        assert_eq!(merge("a\n", "y\na\n", "A\n").as_deref(), Ok("y\nA\n"));
    }

    #[test]
    fn the_same_change_on_both_sides_is_one() {
        assert_eq!(merge("a\nb\n", "x\nb\n", "x\nb\n").as_deref(), Ok("x\nb\n"));
        assert_eq!(merge("a\n", "a\ny\n", "a\ny\n").as_deref(), Ok("a\ny\n"));
    }

    #[test]
    fn the_same_lines_changed_in_two_ways_clash() {
        let clashes = merge("a\nb\nc\n", "a\nB\nc\n", "a\nx\nc\n").unwrap_err();
        assert_eq!(clashes.len(), 1);
        assert_eq!(
            (
                clashes[0].line,
                clashes[0].ours.as_str(),
                clashes[0].theirs.as_str()
            ),
            (2, "B\n", "x\n")
        );
        assert!(merge("a\n", "a\ny\n", "a\nz\n").is_err());
        assert!(merge("a\nb\nc\n", "", "a\nb\nC\n").is_err());
    }

    proptest::proptest! {
        #[test]
        fn a_side_that_changed_nothing_takes_the_other(base in "[ab\n]{0,20}", side in "[ab\n]{0,20}") {
            proptest::prop_assert_eq!(merge(&base, &side, &base), Ok(side.clone()));
            proptest::prop_assert_eq!(merge(&base, &base, &side), Ok(side.clone()));
        }

        #[test]
        fn undoing_the_only_change_gives_what_was(before in "[ab\n]{0,20}", after in "[ab\n]{0,20}") {
            proptest::prop_assert_eq!(merge(&after, &after, &before), Ok(before));
        }
    }
}
