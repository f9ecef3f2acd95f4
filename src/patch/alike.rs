//! Places that are like what was looked for, when it is nowhere as it was given. Refuses where two places
//! are about as like, and wherever a line would be changed that is not like the one the caller named.

use std::ops::Range;

use similar::DiffOp;

use super::Strategy;
use super::build::{Edit, bare, changes};
use super::measure::{Line, Wanted};
use super::view::View;

/// What was found.
pub(super) enum Like {
    None,
    One {
        strategy: Strategy,
        lines: Range<usize>,
        likeness: f64,
    },
    Two {
        strategy: Strategy,
        places: [Range<usize>; 2],
    },
}

/// Likeness of the middle of a block whose ends are equal, when there is one such block and when there are
/// several; of a line that counts as the same in its context; of the whole of a place. The first three
/// are the peer's.
const BLOCK_ALONE: f64 = 0.5;
const BLOCK_AMONG: f64 = 0.7;
const SAME_LINE: f64 = 0.8;
const WHOLE: f64 = 0.7;
/// How like a line must be to the one named if it is changed or removed, in a block.
const CHANGED_IN_BLOCK: f64 = 0.6;
/// A runner-up this much less like is too close to choose.
const CLOSE: f64 = 0.1;
/// Comparisons of lines before giving up; a file of 100 kB of prose needs a tenth.
const MOST_COMPARISONS: u32 = 30_000;
/// Pairs of lines looked at before giving up.
const MOST_PAIRS: usize = 4_000_000;

struct Search<'s> {
    wanted: Vec<Wanted>,
    texts: Vec<String>,
    lines: Vec<Line>,
    bare: Vec<String>,
    /// For each wanted line whether the replacement changes or drops it.
    changed: Vec<bool>,
    replace: &'s str,
    left: u32,
}

/// Finds the one place that is like `find`.
pub(super) fn search(view: &View<'_>, find: &str, replace: &str) -> Like {
    let find = find.strip_suffix('\n').unwrap_or(find);
    let texts: Vec<String> = find.split('\n').map(bare).collect();
    let count = texts.len();
    if count > view.count() || count.saturating_mul(view.count()) > MOST_PAIRS {
        return Like::None;
    }
    let bare_lines: Vec<String> = (0..view.count())
        .map(|index| bare(view.line(index)))
        .collect();
    let mut search = Search {
        wanted: texts.iter().map(|text| Wanted::new(text)).collect(),
        lines: bare_lines.iter().map(|line| Line::new(line)).collect(),
        changed: changed_lines(find, replace, count),
        texts,
        bare: bare_lines,
        replace,
        left: MOST_COMPARISONS,
    };
    let places = |window: usize| view.lines(window, count);
    for (strategy, scores) in [
        (Strategy::BlockAnchor, search.blocks()),
        (Strategy::ContextAware, search.contexts()),
    ] {
        match choose(scores, count) {
            Chosen::None => {}
            Chosen::One(window, likeness) => {
                return Like::One {
                    strategy,
                    lines: places(window),
                    likeness,
                };
            }
            Chosen::Two(first, second) => {
                return Like::Two {
                    strategy,
                    places: [places(first), places(second)],
                };
            }
        }
    }
    Like::None
}

/// For each line of `find`, whether the replacement leaves it out or has another in its place.
fn changed_lines(find: &str, replace: &str, count: usize) -> Vec<bool> {
    let mut changed = vec![true; count];
    let edit = Edit {
        find,
        replace: replace.strip_suffix('\n').unwrap_or(replace),
        look_alikes: true,
    };
    for op in changes(edit) {
        if let DiffOp::Equal { old_index, len, .. } = op {
            changed
                .iter_mut()
                .skip(old_index)
                .take(len)
                .for_each(|line| *line = false);
        }
    }
    changed
}

enum Chosen {
    None,
    One(usize, f64),
    Two(usize, usize),
}

/// Takes the best window unless another, not overlapping it, is close.
fn choose(mut scores: Vec<(usize, f64)>, count: usize) -> Chosen {
    scores.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    let Some((best, likeness)) = scores.first().copied() else {
        return Chosen::None;
    };
    let rival = scores
        .iter()
        .find(|(window, _)| window.abs_diff(best) >= count);
    match rival {
        Some((window, score)) if likeness - score < CLOSE => {
            Chosen::Two(best.min(*window), best.max(*window))
        }
        _ => Chosen::One(best, likeness),
    }
}

impl Search<'_> {
    /// Blocks whose first and last line are equal to those looked for.
    fn blocks(&mut self) -> Vec<(usize, f64)> {
        let count = self.wanted.len();
        let (Some(first), Some(last)) = (self.texts.first().cloned(), self.texts.last().cloned())
        else {
            return Vec::new();
        };
        if count < 3 || first.is_empty() || last.is_empty() {
            return Vec::new();
        }
        let windows = self.windows();
        let candidates: Vec<usize> = windows
            .filter(|window| {
                self.bare.get(*window) == Some(&first)
                    && self.bare.get(window + count - 1) == Some(&last)
            })
            .collect();
        let least = if candidates.len() == 1 {
            BLOCK_ALONE
        } else {
            BLOCK_AMONG
        };
        candidates
            .into_iter()
            .filter_map(|window| {
                let score = self.score(window, 1..count - 1, CHANGED_IN_BLOCK, least)?;
                (score >= least && self.is_trusted(window)).then_some((window, score))
            })
            .collect()
    }

    /// Windows in which at least half of the lines are nearly equal.
    fn contexts(&mut self) -> Vec<(usize, f64)> {
        let count = self.wanted.len();
        self.windows()
            .filter_map(|window| {
                let score = self.score(window, 0..count, SAME_LINE, WHOLE)?;
                (score >= WHOLE && self.has_enough(window) && self.is_trusted(window))
                    .then_some((window, score))
            })
            .collect()
    }

    fn windows(&self) -> std::ops::Range<usize> {
        0..(self.lines.len() + 1).saturating_sub(self.wanted.len())
    }

    /// The likeness of the lines `within` a window, by length; `None` when a line that would be changed is
    /// less like than `changed`, a blank line stands against text, or the whole cannot reach `least`.
    fn score(
        &mut self,
        window: usize,
        within: Range<usize>,
        changed: f64,
        least: f64,
    ) -> Option<f64> {
        // Those that must be alike come first: nearly every window fails there.
        let (must, may): (Vec<usize>, Vec<usize>) = within
            .clone()
            .partition(|index| self.changed.get(*index).copied().unwrap_or(true));
        let mut total = 0.0;
        let mut weight = 0.0;
        for index in &must {
            let (likeness, length) = self.pair(window, *index, changed)?;
            total += likeness * length;
            weight += length;
        }
        let whole = weight
            + may
                .iter()
                .map(|index| self.length(window, *index))
                .sum::<f64>();
        for index in may {
            let (likeness, length) = self.pair(window, index, 0.0)?;
            total += likeness * length;
            weight += length;
            if total + (whole - weight) < least * whole {
                return None;
            }
        }
        Some(if weight > 0.0 { total / weight } else { 1.0 })
    }

    #[expect(
        clippy::cast_precision_loss,
        reason = "lengths of lines are far below 2^52"
    )]
    fn length(&self, window: usize, index: usize) -> f64 {
        let there = self.lines.get(window + index).map_or(0, Line::len);
        let wanted = self.wanted.get(index).map_or(0, Wanted::len);
        (there + wanted) as f64
    }

    /// Likeness and weight of one pair of lines; `None` below `least`, or when one of them is blank.
    fn pair(&mut self, window: usize, index: usize, least: f64) -> Option<(f64, f64)> {
        let length = self.length(window, index);
        let (wanted, there) = (self.wanted.get(index)?, self.lines.get(window + index)?);
        if wanted.is_empty() && there.is_empty() {
            return Some((1.0, 0.0));
        }
        if wanted.is_empty() != there.is_empty() || wanted.bound(there) < least {
            return None;
        }
        self.left = self.left.checked_sub(1)?;
        let likeness = wanted.likeness(there);
        (likeness >= least).then_some((likeness, length))
    }

    fn has_enough(&mut self, window: usize) -> bool {
        let count = self.wanted.len();
        let filled: Vec<usize> = (0..count)
            .filter(|index| {
                self.wanted
                    .get(*index)
                    .is_some_and(|wanted| !wanted.is_empty())
            })
            .collect();
        let near = filled
            .iter()
            .filter(|index| self.pair(window, **index, SAME_LINE).is_some())
            .count();
        near * 2 >= filled.len()
    }

    /// Whether other words in a line that would be changed are a slip of the pen. Where at least two
    /// lines of the place are equal, they say where it is. Else `port_https` is not `port_http`: the
    /// file's word has to turn up in the replacement, and the caller's not.
    fn is_trusted(&self, window: usize) -> bool {
        let pairs = || self.texts.iter().zip(self.bare.iter().skip(window));
        let equal = pairs().filter(|(wanted, there)| wanted == there && !wanted.is_empty());
        if equal.count() >= 2 {
            return true;
        }
        let meant: Vec<&str> = words(self.replace).collect();
        pairs()
            .zip(&self.changed)
            .filter(|(_, changed)| **changed)
            .all(|((wanted, there), _)| {
                let named: Vec<&str> = words(wanted).collect();
                let found: Vec<&str> = words(there).collect();
                let is_healed = found
                    .iter()
                    .all(|word| named.contains(word) || meant.contains(word));
                is_healed
                    && named
                        .iter()
                        .all(|word| found.contains(word) || !meant.contains(word))
            })
    }
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|character: char| !character.is_alphanumeric() && character != '_')
        .filter(|word| !word.is_empty())
}
