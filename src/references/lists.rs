//! Lists in which a name stands twice after others were rewritten to it.

use std::ops::Range;

use super::Text;
use super::scan::header_end;

/// Which of several equal entries of a list stay.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keep {
    /// The first one.
    First,
    /// None: a skill does not name itself.
    None,
}

/// Removes entries that say `name` although another one of their list says it already. Only lists in headers and in
/// data are looked at, and of them those in which one of the places `written` lies, bytes.
#[must_use]
pub fn dedupe(text: &str, kind: Text, name: &str, keep: Keep, written: &[usize]) -> String {
    let end = match kind {
        Text::Skill => header_end(text),
        Text::Automation => text.len(),
        Text::Data | Text::Prose => 0,
    };
    let Some(part) = text.get(..end) else {
        return text.to_owned();
    };
    let mut cuts = in_brackets(part, name, keep, written);
    cuts.extend(in_lines(part, name, keep, written));
    cuts.sort_by_key(|cut| cut.start);
    let mut left = String::with_capacity(text.len());
    let mut at = 0;
    for cut in cuts {
        left.push_str(text.get(at..cut.start).unwrap_or_default());
        at = cut.end.max(at);
    }
    left.push_str(text.get(at..).unwrap_or_default());
    left
}

/// The value of an entry without quotes, comment and leading slash.
fn value(entry: &str) -> &str {
    let entry = entry.trim();
    let entry = match entry.chars().next() {
        Some(quote @ ('"' | '\'')) => entry
            .get(1..)
            .and_then(|rest| rest.split(quote).next())
            .unwrap_or_default(),
        _ => entry.split(" #").next().unwrap_or_default().trim(),
    };
    entry.strip_prefix('/').unwrap_or(entry)
}

/// `[a, b, a]`, over one line or several.
fn in_brackets(text: &str, name: &str, keep: Keep, written: &[usize]) -> Vec<Range<usize>> {
    let mut cuts = Vec::new();
    for (open, _) in text.match_indices('[') {
        let rest = text.get(open + 1..).unwrap_or_default();
        let Some(length) = rest.find([']', '[']) else {
            continue;
        };
        if !rest.get(length..).is_some_and(|rest| rest.starts_with(']')) {
            continue;
        }
        let inner = rest.get(..length).unwrap_or_default();
        let span = open + 1..open + 1 + length;
        if !written.iter().any(|at| span.contains(at)) {
            continue;
        }
        let mut at = open + 1;
        let mut entries: Vec<(Range<usize>, bool)> = Vec::new();
        for entry in inner.split(',') {
            entries.push((at..at + entry.len(), value(entry) == name));
            at += entry.len() + 1;
        }
        let goes = going(entries.iter().map(|(_, is_it)| *is_it), keep);
        let stay = goes.iter().position(|goes| !goes);
        for (index, (range, _)) in entries.iter().enumerate() {
            if !goes.get(index).copied().unwrap_or_default() {
                continue;
            }
            // With the comma before it; at the front with the one after it.
            let cut = if index > 0 && stay.is_some_and(|stay| stay < index) {
                range.start - 1..range.end
            } else {
                let next = entries.get(index + 1).map_or(range.end, |(next, _)| {
                    let blanks = text.get(next.clone()).unwrap_or_default();
                    next.start + blanks.len() - blanks.trim_start().len()
                });
                let blanks = text.get(range.clone()).unwrap_or_default();
                range.start + blanks.len() - blanks.trim_start().len()..next
            };
            cuts.push(cut);
        }
    }
    cuts
}

/// Lines `- a` below each other.
fn in_lines(text: &str, name: &str, keep: Keep, written: &[usize]) -> Vec<Range<usize>> {
    let mut cuts = Vec::new();
    let mut block: Vec<(Range<usize>, bool)> = Vec::new();
    let mut indent = None;
    let mut at = 0;
    let mut close = |block: &mut Vec<(Range<usize>, bool)>| {
        let is_ours =
            |(range, _): &(Range<usize>, bool)| written.iter().any(|at| range.contains(at));
        if !block.iter().any(is_ours) {
            block.clear();
            return;
        }
        let goes = going(block.iter().map(|(_, is_it)| *is_it), keep);
        let lines = block.drain(..).zip(goes);
        cuts.extend(lines.filter(|(_, goes)| *goes).map(|((range, _), _)| range));
    };
    for line in text.split_inclusive('\n') {
        let blanks = line.len() - line.trim_start().len();
        match line.trim_start().strip_prefix("- ") {
            Some(entry) => {
                if indent != Some(blanks) {
                    close(&mut block);
                }
                indent = Some(blanks);
                block.push((at..at + line.len(), value(entry) == name));
            }
            None => {
                close(&mut block);
                indent = None;
            }
        }
        at += line.len();
    }
    close(&mut block);
    cuts
}

/// Which entries go.
fn going(entries: impl Iterator<Item = bool>, keep: Keep) -> Vec<bool> {
    let mut kept = keep == Keep::None;
    entries
        .map(|is_it| {
            let goes = is_it && kept;
            kept |= is_it;
            goes
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_stands_once_in_a_list() {
        for (before, after) in [
            ("a: [u, x, u]\n", "a: [u, x]\n"),
            ("a: [ \"u\", 'u' , x]\n", "a: [ \"u\", x]\n"),
            (
                "a:\n  - u\n  - x # y\n  - \"u\"\nb:\n- u\n",
                "a:\n  - u\n  - x # y\nb:\n- u\n",
            ),
            ("a: [x]\nb: u\n", "a: [x]\nb: u\n"),
        ] {
            let text = format!("---\n{before}---\n[u, u]\n");
            let wanted = format!("---\n{after}---\n[u, u]\n");
            let written: Vec<usize> = text.match_indices('u').map(|(at, _)| at).collect();
            assert_eq!(
                dedupe(&text, Text::Skill, "u", Keep::First, &written),
                wanted
            );
            assert_eq!(dedupe(&text, Text::Skill, "u", Keep::First, &[]), text);
        }
    }

    #[test]
    fn a_skill_does_not_name_itself() {
        for (before, after) in [
            ("[u, x, u]", "[x]"),
            ("[x, u]", "[x]"),
            ("[u]", "[]"),
            ("[u, u, x]", "[x]"),
        ] {
            assert_eq!(
                dedupe(before, Text::Automation, "u", Keep::None, &[1, 2, 3, 4]),
                after,
                "{before}"
            );
        }
    }
}
