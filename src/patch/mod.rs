//! Finds the text a caller means and replaces it: exactly first, then ever more tolerantly. Pure: text in,
//! text out. Refuses to guess between two places, and to change lines the caller never saw.

mod alike;
mod build;
mod chain;
mod fold;
mod lines;
mod mapped;
mod measure;
mod nearest;
#[cfg(test)]
mod tests;
mod view;

use std::fmt;

pub use chain::apply;
pub use nearest::Nearby;

/// How much is replaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// The one place; two are refused.
    One,
    /// Every place.
    All,
}

/// How the text was found. In the order in which they are tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Strategy {
    /// Character for character; only line ends may differ.
    Exact,
    /// Whole lines, without the blanks at both ends of each.
    LineTrimmed,
    /// Runs of blanks and tabs count as one blank.
    WhitespaceNormalized,
    /// Whole lines, whatever their indentation and the blanks in them.
    IndentationFlexible,
    /// `\n`, `\t`, `\"` and the like are what they stand for, because only so they are in the file.
    EscapeNormalized,
    /// Without the blank lines around it.
    TrimmedBoundary,
    /// Look-alikes count as equal: quotes, dashes, blanks, full-width and composed characters.
    UnicodeNormalized,
    /// First and last line are equal, what lies between is like it.
    BlockAnchor,
    /// Most lines are equal, the others are like them.
    ContextAware,
}

impl Strategy {
    /// Returns the word stored in the history.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::LineTrimmed => "line_trimmed",
            Self::WhitespaceNormalized => "whitespace_normalized",
            Self::IndentationFlexible => "indentation_flexible",
            Self::EscapeNormalized => "escape_normalized",
            Self::TrimmedBoundary => "trimmed_boundary",
            Self::UnicodeNormalized => "unicode_normalized",
            Self::BlockAnchor => "block_anchor",
            Self::ContextAware => "context_aware",
        }
    }
}

impl fmt::Display for Strategy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A text in which something was replaced.
#[derive(Debug, Clone, PartialEq)]
pub struct Patched {
    /// The new text.
    pub text: String,
    /// How the places were found.
    pub strategy: Strategy,
    /// First and last line of each place in the old text, from 1.
    pub places: Vec<(u32, u32)>,
    /// How like the found text is to the wanted one, 0 to 1; 1 unless only a like one was found.
    pub likeness: f64,
}

/// Why nothing was replaced.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Miss {
    /// The text to look for is empty.
    #[error("the text to replace is empty")]
    NothingToFind,
    /// Both texts are the same.
    #[error("the text to replace and its replacement are the same")]
    NoChangeAsked,
    /// The text is nowhere.
    #[error("the text to replace is not in the file")]
    NotFound {
        /// The places most like it, nearest first.
        nearest: Vec<Nearby>,
    },
    /// The text is in several places.
    #[error("the text to replace is in {count} places ({strategy}): lines {}", numbers(places, *count))]
    Ambiguous {
        /// How they were found.
        strategy: Strategy,
        /// How many there are.
        count: usize,
        /// The first of them.
        places: Vec<Nearby>,
    },
    /// The text is nowhere, and two places are about equally like it.
    #[error("the text to replace is not in the file, and two places are about as like it: lines {}", numbers(places, places.len()))]
    CloseCall {
        /// How they were found.
        strategy: Strategy,
        /// The best two.
        places: Vec<Nearby>,
    },
    /// The text was found, and replacing it leaves the file as it is.
    #[error("line {line} says that already: the patch changes nothing ({strategy})")]
    NothingChanged {
        /// How it was found.
        strategy: Strategy,
        /// Where, from 1.
        line: u32,
    },
}

impl Miss {
    /// Returns the stable word for the situation.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::NothingToFind | Self::NoChangeAsked => "bad-request",
            Self::NotFound { .. } => "not-found",
            Self::Ambiguous { .. } | Self::CloseCall { .. } => "ambiguous",
            Self::NothingChanged { .. } => "no-change",
        }
    }

    /// Returns the places worth showing.
    #[must_use]
    pub fn places(&self) -> &[Nearby] {
        match self {
            Self::NotFound { nearest } => nearest,
            Self::Ambiguous { places, .. } | Self::CloseCall { places, .. } => places,
            Self::NothingToFind | Self::NoChangeAsked | Self::NothingChanged { .. } => &[],
        }
    }
}

fn numbers(places: &[Nearby], count: usize) -> String {
    let numbers: Vec<String> = places.iter().map(|place| place.line.to_string()).collect();
    match numbers.split_last() {
        Some(_) if count > numbers.len() => format!("{} and more", numbers.join(", ")),
        Some((last, rest)) if !rest.is_empty() => format!("{} and {last}", rest.join(", ")),
        _ => numbers.concat(),
    }
}
