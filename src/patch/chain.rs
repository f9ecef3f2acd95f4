//! The strategies in their order, and the one decision: which place is meant, or why none is.

use std::borrow::Cow;
use std::ops::Range;

use memchr::memmem;

use super::alike::{self, Like};
use super::build::{Edit, replacement};
use super::lines::windows;
use super::mapped::{Mapped, Overlook};
use super::nearest::{nearest, place};
use super::view::{View, with_lf};
use super::{Miss, Patched, Reach, Strategy};

/// Most places that are shown of a text that is in too many.
const SHOWN: usize = 5;

/// Places that were found, and the two texts as they have to be read there.
struct Found<'a> {
    strategy: Strategy,
    places: Vec<Range<usize>>,
    find: Cow<'a, str>,
    replace: Cow<'a, str>,
    likeness: f64,
}

/// Replaces `find` in `text`. The first strategy that finds anything decides.
///
/// # Errors
/// [`Miss`] says why nothing is replaced; the text is then as it was.
pub fn apply(text: &str, find: &str, replace: &str, reach: Reach) -> Result<Patched, Miss> {
    if find.is_empty() {
        return Err(Miss::NothingToFind);
    }
    let view = View::new(text);
    let (find, replace) = (with_lf(find), with_lf(replace));
    if find == replace {
        return Err(Miss::NoChangeAsked);
    }
    let found = search(&view, &find, &replace, reach)?;
    settle(text, &view, &found, reach)
}

fn search<'a>(
    view: &View<'_>,
    find: &'a str,
    replace: &'a str,
    reach: Reach,
) -> Result<Found<'a>, Miss> {
    let not_found = || Miss::NotFound {
        nearest: nearest(view, find),
    };
    let exact = occurrences(view.text(), find);
    if !exact.is_empty() {
        return Ok(Found {
            strategy: Strategy::Exact,
            places: exact,
            find: find.into(),
            replace: replace.into(),
            likeness: 1.0,
        });
    }
    // Nothing but blanks would be found in every gap.
    if find.trim().is_empty() {
        return Err(not_found());
    }
    let tolerant: [&dyn Fn() -> Option<Found<'a>>; 6] = [
        &|| whole_lines(view, find, replace, Strategy::LineTrimmed),
        &|| within_lines(view, find, replace, Strategy::WhitespaceNormalized),
        &|| whole_lines(view, find, replace, Strategy::IndentationFlexible),
        &|| unescaped(view, find, replace),
        &|| trimmed(view, find, replace),
        &|| look_alike(view, find, replace),
    ];
    if let Some(found) = tolerant.iter().find_map(|strategy| strategy()) {
        return Ok(found);
    }
    // What is nowhere cannot be replaced everywhere.
    if reach == Reach::All {
        return Err(not_found());
    }
    match alike::search(view, find, replace) {
        Like::None => Err(not_found()),
        Like::One {
            strategy,
            lines,
            likeness,
        } => Ok(Found {
            strategy,
            places: vec![lines],
            find: find.strip_suffix('\n').unwrap_or(find).into(),
            replace: without_end(find, replace).into(),
            likeness,
        }),
        Like::Two { strategy, places } => Err(Miss::CloseCall {
            strategy,
            places: places.iter().map(|range| place(view, range)).collect(),
        }),
    }
}

fn settle(text: &str, view: &View<'_>, found: &Found<'_>, reach: Reach) -> Result<Patched, Miss> {
    if found.places.len() > 1 && reach == Reach::One {
        return Err(Miss::Ambiguous {
            strategy: found.strategy,
            count: found.places.len(),
            places: found
                .places
                .iter()
                .take(SHOWN)
                .map(|range| place(view, range))
                .collect(),
        });
    }
    let edit = Edit {
        find: &found.find,
        replace: &found.replace,
        look_alikes: found.strategy >= Strategy::UnicodeNormalized,
    };
    let pieces: Vec<(Range<usize>, String)> = found
        .places
        .iter()
        .map(|range| {
            let new = match found.strategy {
                Strategy::Exact | Strategy::EscapeNormalized => found.replace.to_string(),
                _ => replacement(view, range, edit),
            };
            (range.clone(), new)
        })
        .collect();
    let new = view.splice(&pieces);
    let line = |offset: usize| u32::try_from(view.line_at(offset) + 1).unwrap_or(u32::MAX);
    if new == text {
        let first = found.places.first().map_or(0, |range| range.start);
        return Err(Miss::NothingChanged {
            strategy: found.strategy,
            line: line(first),
        });
    }
    Ok(Patched {
        text: new,
        strategy: found.strategy,
        places: found
            .places
            .iter()
            .map(|range| (line(range.start), line(range.end.max(range.start + 1) - 1)))
            .collect(),
        likeness: found.likeness,
    })
}

/// Every place of a text, from the left, none overlapping another.
fn occurrences(text: &str, find: &str) -> Vec<Range<usize>> {
    memmem::find_iter(text.as_bytes(), find)
        .map(|at| at..at + find.len())
        .collect()
}

/// What each strategy overlooks.
fn overlooked(strategy: Strategy) -> Overlook {
    let nothing = Overlook::default();
    match strategy {
        Strategy::LineTrimmed => Overlook {
            ends: true,
            ..nothing
        },
        Strategy::WhitespaceNormalized => Overlook {
            runs: true,
            ..nothing
        },
        Strategy::IndentationFlexible => Overlook {
            ends: true,
            runs: true,
            ..nothing
        },
        Strategy::UnicodeNormalized => Overlook {
            look_alikes: true,
            ..nothing
        },
        Strategy::Exact
        | Strategy::EscapeNormalized
        | Strategy::TrimmedBoundary
        | Strategy::BlockAnchor
        | Strategy::ContextAware => nothing,
    }
}

fn whole_lines<'a>(
    view: &View<'_>,
    find: &'a str,
    replace: &'a str,
    strategy: Strategy,
) -> Option<Found<'a>> {
    lines_with(view, find, replace, strategy, overlooked(strategy))
}

/// Finds whole lines. A line end at the end of `find` is not a line of its own.
fn lines_with<'a>(
    view: &View<'_>,
    find: &'a str,
    replace: &'a str,
    strategy: Strategy,
    overlook: Overlook,
) -> Option<Found<'a>> {
    let core = find.strip_suffix('\n').unwrap_or(find);
    let count = core.split('\n').count();
    let text = Mapped::new(view.text(), overlook).text;
    let wanted = Mapped::new(core, overlook).text;
    if wanted.trim().is_empty() {
        return None;
    }
    // Asked to go with its line end, a line leaves none behind.
    let takes_end = core.len() < find.len() && !replace.ends_with('\n');
    let places: Vec<Range<usize>> = windows(&text, &wanted)
        .into_iter()
        .map(|line| {
            let range = view.lines(line, count);
            let end = if takes_end {
                view.start_of(line + count)
            } else {
                range.end
            };
            range.start..end
        })
        .collect();
    (!places.is_empty()).then(|| Found {
        strategy,
        places,
        find: if takes_end { find } else { core }.into(),
        replace: without_end(find, replace).into(),
        likeness: 1.0,
    })
}

/// The replacement without the line end that both texts have.
fn without_end<'a>(find: &str, replace: &'a str) -> &'a str {
    match replace.strip_suffix('\n') {
        Some(core) if find.ends_with('\n') => core,
        _ => replace,
    }
}

fn within_lines<'a>(
    view: &View<'_>,
    find: &'a str,
    replace: &'a str,
    strategy: Strategy,
) -> Option<Found<'a>> {
    inline_with(view, find, replace, strategy, overlooked(strategy))
}

/// Finds a text that may begin and end within a line.
fn inline_with<'a>(
    view: &View<'_>,
    find: &'a str,
    replace: &'a str,
    strategy: Strategy,
    overlook: Overlook,
) -> Option<Found<'a>> {
    let text = Mapped::new(view.text(), overlook);
    let wanted = Mapped::new(find, overlook).text;
    if wanted.is_empty() {
        return None;
    }
    let places: Vec<Range<usize>> = occurrences(&text.text, &wanted)
        .into_iter()
        .filter_map(|range| text.original(&range))
        .map(|range| from_indentation(view, find, range))
        .collect();
    (!places.is_empty()).then(|| Found {
        strategy,
        places,
        find: find.into(),
        replace: replace.into(),
        likeness: 1.0,
    })
}

/// A place that begins where its line's text does is taken with the indentation, so that further lines
/// can be indented like the first.
fn from_indentation(view: &View<'_>, find: &str, range: Range<usize>) -> Range<usize> {
    let start = view.start_of(view.line_at(range.start));
    let before = view.text().get(start..range.start).unwrap_or_default();
    let is_plain = !find.starts_with(char::is_whitespace) && find.contains('\n');
    if is_plain && before.trim().is_empty() {
        start..range.end
    } else {
        range
    }
}

/// Reads escapes as what they stand for, when only so the text is in the file. Those kinds, and no
/// others, are read the same way in the replacement.
fn unescaped<'a>(view: &View<'_>, find: &'a str, replace: &'a str) -> Option<Found<'a>> {
    const BLANKS: &[u8] = b"ntr";
    const QUOTES: &[u8] = b"\"'`";
    const ALL: &[u8] = b"ntr\"'`\\";
    [BLANKS, QUOTES, ALL].into_iter().find_map(|kinds| {
        let (plain, proven) = unescape(find, kinds);
        if proven.is_empty() {
            return None;
        }
        let plain = with_lf(&plain).into_owned();
        let places = occurrences(view.text(), &plain);
        (!places.is_empty()).then(|| Found {
            strategy: Strategy::EscapeNormalized,
            places,
            find: plain.into(),
            replace: with_lf(&unescape(replace, &proven).0).into_owned().into(),
            likeness: 1.0,
        })
    })
}

/// Reads the escapes of these kinds; returns the text and the kinds that were in it.
fn unescape(text: &str, kinds: &[u8]) -> (String, Vec<u8>) {
    let mut out = String::with_capacity(text.len());
    let mut met = Vec::new();
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        let kind = characters
            .peek()
            .and_then(|next| u8::try_from(*next).ok())
            .filter(|next| kinds.contains(next));
        match (character, kind) {
            ('\\', Some(kind)) => {
                characters.next();
                out.push(match kind {
                    b'n' => '\n',
                    b't' => '\t',
                    b'r' => '\r',
                    other => char::from(other),
                });
                if !met.contains(&kind) {
                    met.push(kind);
                }
            }
            _ => out.push(character),
        }
    }
    (out, met)
}

/// Leaves out blank lines around the text, and as many around the replacement.
fn trimmed<'a>(view: &View<'_>, find: &'a str, replace: &'a str) -> Option<Found<'a>> {
    let core = find.trim();
    if core.len() + 1 >= find.len() {
        return None;
    }
    let before = find.len() - find.trim_start().len();
    let after = find.len() - find.trim_end().len();
    let mut new = replace;
    if let Some(rest) = find
        .get(..before)
        .and_then(|blanks| new.strip_prefix(blanks))
    {
        new = rest;
    }
    if let Some(rest) = find
        .get(find.len() - after..)
        .and_then(|blanks| new.strip_suffix(blanks))
    {
        new = rest;
    }
    let places = occurrences(view.text(), core);
    if !places.is_empty() {
        return Some(Found {
            strategy: Strategy::TrimmedBoundary,
            places,
            find: core.into(),
            replace: new.into(),
            likeness: 1.0,
        });
    }
    let overlook = Overlook {
        ends: true,
        runs: true,
        ..Overlook::default()
    };
    lines_with(view, core, new, Strategy::TrimmedBoundary, overlook)
}

/// Reads look-alikes as the plain characters, with ever more overlooked besides.
fn look_alike<'a>(view: &View<'_>, find: &'a str, replace: &'a str) -> Option<Found<'a>> {
    if view.text().is_ascii() && find.is_ascii() {
        return None;
    }
    let strategy = Strategy::UnicodeNormalized;
    let look_alikes = overlooked(strategy);
    inline_with(view, find, replace, strategy, look_alikes)
        .or_else(|| {
            lines_with(
                view,
                find,
                replace,
                strategy,
                Overlook {
                    ends: true,
                    ..look_alikes
                },
            )
        })
        .or_else(|| {
            inline_with(
                view,
                find,
                replace,
                strategy,
                Overlook {
                    runs: true,
                    ..look_alikes
                },
            )
        })
        .or_else(|| {
            lines_with(
                view,
                find,
                replace,
                strategy,
                Overlook {
                    ends: true,
                    runs: true,
                    ..look_alikes
                },
            )
        })
}
