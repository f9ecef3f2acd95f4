//! Makes what is put in the place of a found text: lines the caller left alone stay as the file has them,
//! changed ones take the indentation of the place.

use std::ops::Range;

use similar::{Algorithm, DiffOp, capture_diff_slices};

use super::mapped::{Mapped, Overlook};
use super::view::View;

/// What was looked for, and what is to stand there instead; LF line ends, lines and not bytes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Edit<'a> {
    pub(super) find: &'a str,
    pub(super) replace: &'a str,
    /// Whether the file's look-alikes stay where the caller changed nothing.
    pub(super) look_alikes: bool,
}

/// Returns the text for the place `range`.
pub(super) fn replacement(view: &View<'_>, range: &Range<usize>, edit: Edit<'_>) -> String {
    let region = view.text().get(range.clone()).unwrap_or_default();
    let there: Vec<&str> = region.split('\n').collect();
    let wanted: Vec<&str> = edit.find.split('\n').collect();
    let new: Vec<&str> = edit.replace.split('\n').collect();
    if there.len() != wanted.len() {
        return edit.replace.to_owned();
    }
    let starts_in_line = range.start != view.start_of(view.line_at(range.start));
    let indents = Indents::learn(&wanted, &there, starts_in_line);
    let mut lines: Vec<String> = Vec::with_capacity(new.len());
    let write = |number: usize, pair: Option<(&str, &str)>| {
        let line = new.get(number).copied().unwrap_or_default();
        let (indent, words) = split_indent(line);
        let words = match pair {
            Some((wanted, there)) if edit.look_alikes => blend(wanted.trim(), there.trim(), words),
            _ => words.to_owned(),
        };
        if words.is_empty() || (number == 0 && starts_in_line) {
            format!(
                "{}{words}",
                if number == 0 && starts_in_line {
                    indent
                } else {
                    line
                }
            )
        } else {
            format!("{}{words}", indents.of(indent))
        }
    };
    for op in changes(edit) {
        match op {
            DiffOp::Equal { old_index, len, .. } => {
                lines.extend(
                    there
                        .iter()
                        .skip(old_index)
                        .take(len)
                        .map(|line| (*line).to_owned()),
                );
            }
            DiffOp::Delete { .. } => {}
            DiffOp::Insert {
                new_index, new_len, ..
            } => {
                lines.extend((new_index..new_index + new_len).map(|number| write(number, None)));
            }
            DiffOp::Replace {
                old_index,
                old_len,
                new_index,
                new_len,
            } => {
                lines.extend((0..new_len).map(|step| {
                    let pair = (step < old_len)
                        .then(|| {
                            Some((
                                *wanted.get(old_index + step)?,
                                *there.get(old_index + step)?,
                            ))
                        })
                        .flatten();
                    write(new_index + step, pair)
                }));
            }
        }
    }
    lines.join("\n")
}

/// Returns how the lines of the replacement differ from those that were looked for.
pub(super) fn changes(edit: Edit<'_>) -> Vec<DiffOp> {
    let key = |line: &str| {
        if edit.look_alikes {
            Mapped::new(
                line,
                Overlook {
                    look_alikes: true,
                    ..Overlook::default()
                },
            )
            .text
        } else {
            line.to_owned()
        }
    };
    let old: Vec<String> = edit.find.split('\n').map(key).collect();
    let new: Vec<String> = edit.replace.split('\n').map(key).collect();
    capture_diff_slices(Algorithm::Myers, &old, &new)
}

fn split_indent(line: &str) -> (&str, &str) {
    line.split_at(line.len() - line.trim_start().len())
}

/// What indentation in the caller's text stands for which in the file.
struct Indents<'a> {
    pairs: Vec<(&'a str, &'a str)>,
}

impl<'a> Indents<'a> {
    fn learn(wanted: &[&'a str], there: &[&'a str], starts_in_line: bool) -> Self {
        let pairs = wanted
            .iter()
            .zip(there)
            .skip(usize::from(starts_in_line))
            .filter(|(wanted, there)| !wanted.trim().is_empty() && !there.trim().is_empty())
            .map(|(wanted, there)| (split_indent(wanted).0, split_indent(there).0))
            .collect();
        Self { pairs }
    }

    /// Returns the file's indentation for one of the caller's.
    fn of(&self, indent: &str) -> String {
        if let Some((_, same)) = self.pairs.iter().find(|(wanted, _)| *wanted == indent) {
            return (*same).to_owned();
        }
        // Deeper than one that is known: as much deeper.
        let shallower = self
            .pairs
            .iter()
            .filter(|(wanted, _)| indent.starts_with(wanted));
        if let Some((wanted, there)) = shallower.max_by_key(|(wanted, _)| wanted.len()) {
            let more = indent.get(wanted.len()..).unwrap_or_default();
            return format!("{there}{}", self.in_style(more, there));
        }
        // Less deep than all that are known: as much less.
        let Some((wanted, there)) = self.pairs.first() else {
            return indent.to_owned();
        };
        let less = columns(wanted).saturating_sub(columns(indent));
        let keep = columns(there).saturating_sub(less);
        let mut width = 0;
        let kept = there.chars().take_while(|character| {
            width += if *character == '\t' { TAB } else { 1 };
            width <= keep
        });
        kept.collect()
    }

    /// Writes additional indentation with tabs where the file indents with tabs.
    fn in_style(&self, more: &str, there: &str) -> String {
        let uses_tabs = there.starts_with('\t')
            || (there.is_empty() && self.pairs.iter().any(|(_, there)| there.starts_with('\t')));
        if uses_tabs && more.chars().all(|character| character == ' ') {
            let step = self.step().unwrap_or(TAB);
            format!(
                "{}{}",
                "\t".repeat(more.len() / step),
                " ".repeat(more.len() % step)
            )
        } else {
            more.to_owned()
        }
    }

    /// How many of the caller's blanks one tab of the file is.
    fn step(&self) -> Option<usize> {
        self.pairs.iter().find_map(|(wanted, there)| {
            let tabs = there.chars().filter(|character| *character == '\t').count();
            (tabs > 0 && tabs == there.len() && wanted.len() % tabs == 0 && !wanted.is_empty())
                .then(|| wanted.len() / tabs)
        })
    }
}

const TAB: usize = 4;

fn columns(indent: &str) -> usize {
    indent
        .chars()
        .map(|character| if character == '\t' { TAB } else { 1 })
        .sum()
}

/// Writes `new` with the file's own characters wherever the caller left the line as it was.
fn blend(wanted: &str, there: &str, new: &str) -> String {
    let overlook = Overlook {
        look_alikes: true,
        runs: true,
        ends: false,
    };
    let (old, file, next) = (
        Mapped::new(wanted, overlook),
        Mapped::new(there, overlook),
        Mapped::new(new, overlook),
    );
    if old.text != file.text {
        return new.to_owned();
    }
    let old_units: Vec<char> = old.text.chars().collect();
    let new_units: Vec<char> = next.text.chars().collect();
    let mut out = String::with_capacity(new.len());
    for op in capture_diff_slices(Algorithm::Myers, &old_units, &new_units) {
        let (source, from, units, length) = match op {
            DiffOp::Equal { old_index, len, .. } => (there, &file, &old_units, (old_index, len)),
            DiffOp::Insert {
                new_index, new_len, ..
            }
            | DiffOp::Replace {
                new_index, new_len, ..
            } => (new, &next, &new_units, (new_index, new_len)),
            DiffOp::Delete { .. } => continue,
        };
        let before: usize = units
            .iter()
            .take(length.0)
            .map(|unit| unit.len_utf8())
            .sum();
        let within: usize = units
            .iter()
            .skip(length.0)
            .take(length.1)
            .map(|unit| unit.len_utf8())
            .sum();
        let range = before..before + within;
        let original = from.original(&range).and_then(|range| source.get(range));
        out.push_str(
            original
                .or_else(|| from.text.get(range))
                .unwrap_or_default(),
        );
    }
    out
}

/// Returns a line as it is compared: without blanks at its ends, look-alikes plain.
pub(super) fn bare(line: &str) -> String {
    let line = line.trim();
    if line.is_ascii() {
        return line.to_owned();
    }
    let overlook = Overlook {
        look_alikes: true,
        ..Overlook::default()
    };
    Mapped::new(line, overlook).text.trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn indents<'a>(pairs: &[(&'a str, &'a str)]) -> Indents<'a> {
        Indents {
            pairs: pairs.to_vec(),
        }
    }

    #[test]
    fn indentation_is_learnt_from_the_lines_that_were_found() {
        let known = indents(&[("    ", "\t"), ("        ", "\t\t")]);
        assert_eq!(known.of("        "), "\t\t");
        assert_eq!(known.of("            "), "\t\t\t");
        assert_eq!(known.of(""), "");
    }

    #[test]
    fn a_line_that_is_asked_to_stand_less_deep_does() {
        assert_eq!(indents(&[("    ", "        ")]).of(""), "    ");
        assert_eq!(indents(&[("", "      ")]).of("  "), "        ");
    }

    #[test]
    fn unchanged_characters_stay_as_the_file_has_them() {
        assert_eq!(
            blend("say \"a\" -- b", "say “a” — b", "say \"a\" -- c"),
            "say “a” — c"
        );
        assert_eq!(blend("x - y", "x – y", "x + y"), "x + y");
    }
}
