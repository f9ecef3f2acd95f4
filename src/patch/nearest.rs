//! What to show of a file when a text was not found in it, or was found too often.

use std::ops::Range;

use super::build::bare;
use super::measure::{Line, Wanted};
use super::view::View;

/// A place worth showing.
#[derive(Debug, Clone, PartialEq)]
pub struct Nearby {
    /// The line that counts, from 1.
    pub line: u32,
    /// Number of the first of `lines`, from 1.
    pub first_line: u32,
    /// That line with a few around it.
    pub lines: Vec<String>,
    /// How like it is to what was looked for, 0 to 1.
    pub likeness: f64,
}

/// Most places offered.
const OFFERED: usize = 3;
/// Less alike than this is no help. The peer's limit for its hints.
const LEAST: f64 = 0.3;
/// Nor is what is so much less alike than the best place, as a part of its likeness.
const NEAR_THE_BEST: f64 = 0.7;
/// Lines shown before and after.
const AROUND: usize = 1;
/// Most lines shown of one place.
const TALLEST: usize = 8;
/// Longer lines are cut when they are shown, characters.
const WIDEST: usize = 200;

/// Finds the places most like the first line of `find` that says anything, nearest first.
pub(super) fn nearest(view: &View<'_>, find: &str) -> Vec<Nearby> {
    let mut lines = find.split('\n');
    let Some(anchor) = lines.find(|line| !line.trim().is_empty()) else {
        return Vec::new();
    };
    let height = 1 + lines.count();
    let wanted = Wanted::new(&bare(anchor));
    let mut best: Vec<(f64, usize)> = Vec::with_capacity(OFFERED + 1);
    for index in 0..view.count() {
        let line = Line::new(&bare(view.line(index)));
        let least = match best.get(OFFERED - 1) {
            Some((likeness, _)) => *likeness,
            None => LEAST,
        };
        if line.is_empty() || wanted.bound(&line) <= least {
            continue;
        }
        let likeness = wanted.likeness(&line);
        if likeness > least {
            let at = best.partition_point(|(other, _)| *other >= likeness);
            best.insert(at, (likeness, index));
            best.truncate(OFFERED);
        }
    }
    // Far behind the best one it is only noise.
    let least = best.first().map_or(0.0, |(best, _)| best * NEAR_THE_BEST);
    best.into_iter()
        .filter(|(likeness, _)| *likeness >= least)
        .map(|(likeness, index)| around(view, index, height, likeness))
        .collect()
}

/// Shows a place that was found.
pub(super) fn place(view: &View<'_>, range: &Range<usize>) -> Nearby {
    let first = view.line_at(range.start);
    let last = view.line_at(range.end.max(range.start + 1) - 1);
    around(view, first, last + 1 - first, 1.0)
}

fn around(view: &View<'_>, index: usize, height: usize, likeness: f64) -> Nearby {
    let first = index.saturating_sub(AROUND);
    let end = (index + height.min(TALLEST) + AROUND).min(view.count());
    let number = |index: usize| u32::try_from(index + 1).unwrap_or(u32::MAX);
    Nearby {
        line: number(index),
        first_line: number(first),
        lines: (first..end).map(|index| cut(view.line(index))).collect(),
        likeness,
    }
}

fn cut(line: &str) -> String {
    match line.char_indices().nth(WIDEST) {
        Some((at, _)) => format!("{}…", line.get(..at).unwrap_or_default()),
        None => line.to_owned(),
    }
}
