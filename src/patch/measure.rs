//! How like two lines are: twice the longest common subsequence over both lengths, 0 to 1.
//!
//! The subsequence is counted with the bit-parallel method of Hyyrö (2004), 64 characters a step, so that
//! comparing all lines of a large file takes milliseconds.

use std::collections::HashMap;

/// Of longer lines only what they have in common at both ends counts.
const LONGEST: usize = 4_000;
/// Counts of characters are kept in so many buckets.
const BUCKETS: usize = 64;

/// A line made ready to be compared with many.
pub(super) struct Line {
    characters: Vec<char>,
    histogram: [u8; BUCKETS],
}

impl Line {
    pub(super) fn new(text: &str) -> Self {
        let characters: Vec<char> = text.chars().collect();
        let mut histogram = [0_u8; BUCKETS];
        for character in &characters {
            if let Some(count) = histogram.get_mut(u32::from(*character) as usize % BUCKETS) {
                *count = count.saturating_add(1);
            }
        }
        Self {
            characters,
            histogram,
        }
    }

    /// Number of characters.
    pub(super) fn len(&self) -> usize {
        self.characters.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.characters.is_empty()
    }
}

/// The line that many are compared with.
pub(super) struct Wanted {
    line: Line,
    /// For each character the places it stands at, as bits.
    places: HashMap<char, Vec<u64>>,
}

impl Wanted {
    pub(super) fn new(text: &str) -> Self {
        let line = Line::new(text);
        let mut places: HashMap<char, Vec<u64>> = HashMap::new();
        if line.len() <= LONGEST {
            let words = line.len().div_ceil(64);
            for (at, character) in line.characters.iter().enumerate() {
                let masks = places.entry(*character).or_insert_with(|| vec![0; words]);
                if let Some(mask) = masks.get_mut(at / 64) {
                    *mask |= 1 << (at % 64);
                }
            }
        }
        Self { line, places }
    }

    pub(super) fn len(&self) -> usize {
        self.line.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.line.is_empty()
    }

    /// Returns at least the likeness to another line, from counts of characters alone.
    pub(super) fn bound(&self, other: &Line) -> f64 {
        let total = self.len() + other.len();
        if self.len().max(other.len()) > usize::from(u8::MAX) {
            // Counts may have run over.
            return ratio(self.len().min(other.len()), total);
        }
        let counts = self.line.histogram.iter().zip(&other.histogram);
        let common: u32 = counts.map(|(a, b)| u32::from(*a.min(b))).sum();
        ratio(common as usize, total)
    }

    /// Returns the likeness to another line.
    pub(super) fn likeness(&self, other: &Line) -> f64 {
        let common = if self.line.characters == other.characters {
            self.len()
        } else if self.len() > LONGEST || other.len() > LONGEST {
            ends_in_common(&self.line.characters, &other.characters)
        } else {
            self.subsequence(&other.characters)
        };
        ratio(common, self.len() + other.len())
    }

    /// Returns the length of the longest common subsequence.
    fn subsequence(&self, other: &[char]) -> usize {
        let mut row = vec![u64::MAX; self.len().div_ceil(64)];
        for character in other {
            let Some(masks) = self.places.get(character) else {
                continue;
            };
            let mut carry = false;
            for (word, mask) in row.iter_mut().zip(masks) {
                let (sum, over) = word.overflowing_add(*word & mask);
                let (sum, over_again) = sum.overflowing_add(u64::from(carry));
                carry = over || over_again;
                *word = sum | (*word & !mask);
            }
        }
        // Bits beyond the end never match and stay one.
        row.iter().map(|word| word.count_zeros() as usize).sum()
    }
}

#[expect(
    clippy::cast_precision_loss,
    reason = "lengths of lines are far below 2^52"
)]
fn ratio(common: usize, total: usize) -> f64 {
    if total == 0 {
        1.0
    } else {
        2.0 * common as f64 / total as f64
    }
}

fn ends_in_common(a: &[char], b: &[char]) -> usize {
    let same = |(x, y): &(&char, &char)| x == y;
    let before = a.iter().zip(b).take_while(same).count();
    let shorter = a.len().min(b.len()) - before;
    let after = a.iter().rev().zip(b.iter().rev()).take_while(same).count();
    before + after.min(shorter)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn slow(a: &[char], b: &[char]) -> usize {
        let mut row = vec![0; b.len() + 1];
        for x in a {
            let mut before = 0;
            for (at, y) in b.iter().enumerate() {
                let above = row[at + 1];
                row[at + 1] = if x == y {
                    before + 1
                } else {
                    above.max(row[at])
                };
                before = above;
            }
        }
        row[b.len()]
    }

    proptest! {
        #[test]
        fn the_fast_count_is_the_slow_one(a in "[abc]{0,150}", b in "[abcd]{0,150}") {
            let other: Vec<char> = b.chars().collect();
            let wanted = Wanted::new(&a);
            prop_assert_eq!(wanted.subsequence(&other), slow(&wanted.line.characters, &other));
        }

        #[test]
        fn the_bound_is_never_below_the_likeness(a in ".{0,40}", b in ".{0,40}") {
            let (a, b) = (Wanted::new(&a), Line::new(&b));
            prop_assert!(a.bound(&b) >= a.likeness(&b));
        }
    }

    #[test]
    fn equal_lines_are_alike() {
        assert!((Wanted::new("abc").likeness(&Line::new("abc")) - 1.0).abs() < f64::EPSILON);
        assert!(Wanted::new("abc").likeness(&Line::new("xyz")) < f64::EPSILON);
    }
}
