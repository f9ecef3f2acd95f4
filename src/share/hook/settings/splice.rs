//! Owns insertion and removal of members by text position, so that removal undoes insertion.

use jsonc_parser::ast::{Array, Object};
use jsonc_parser::common::{Range, Ranged};
use jsonc_parser::tokens::{Token, TokenAndRange};

use super::document::{Document, Place, is_comment, slice};
use super::write::{Json, Layout};

/// Stands before our member in a container that was there, empty, before the install.
///
/// The file is the only place to remember that, and formatters never leave a blank there. Without
/// it uninstall would take the container away, too.
const MARK: &str = " ";

/// An array or object to which a member is appended.
pub(super) struct Slot {
    range: Range,
    last: Option<Range>,
}

impl Slot {
    pub(super) fn of_object(object: &Object<'_>) -> Self {
        let last = object.properties.last().map(Ranged::range);
        let range = object.range;
        Self { range, last }
    }

    pub(super) fn of_array(array: &Array<'_>) -> Self {
        let last = array.elements.last().map(Ranged::range);
        let range = array.range;
        Self { range, last }
    }
}

impl Document<'_> {
    /// The text with a new last member, behind all comments of the container.
    pub(super) fn insert(&self, slot: &Slot, key: Option<&str>, value: &Json<'_>) -> String {
        let Some(last) = slot.last else {
            return self.insert_first(slot.range, key, value);
        };
        let tail = self.before(slot.range.end.saturating_sub(1));
        let at = tail.map_or(last.end, Ranged::end);
        let gap_start = self.value_before(last.start).map_or(0, Ranged::end);
        let broken = self.has_newline(Range::new(gap_start, last.start));
        // Behind a line comment nothing may follow on the same line.
        let forced = tail.is_some_and(is_line_comment);
        let pretty = broken || forced || self.has_newline(last);
        let layout = self.layout(last.start, forced && !broken, pretty);
        let mut added = if broken || forced {
            layout.line(0)
        } else {
            layout.space().to_owned()
        };
        added.push_str(&layout.render(key, value));
        let mut edits = Vec::new();
        if self.comma_after(last.end).is_some() {
            added.push(',');
        } else {
            edits.push((Range::new(last.end, last.end), ",".to_owned()));
        }
        edits.push((Range::new(at, at), added));
        apply(self.text, edits)
    }

    /// Leaves what is inside the empty container before the member, so that removal restores it.
    fn insert_first(&self, container: Range, key: Option<&str>, value: &Json<'_>) -> String {
        let close = container.end.saturating_sub(1);
        let is_root = container == self.root.range;
        let tail = self.before(close).filter(|token| is_comment(token));
        if let Some(comment) = tail {
            let pretty = self.has_newline(Range::new(comment.range.end, close));
            let layout = self.layout(container.start, true, pretty);
            let lead = if pretty { layout.line(0) } else { " ".into() };
            let added = lead + &layout.render(key, value);
            let at = Range::new(comment.range.end, comment.range.end);
            return apply(self.text, vec![(at, added)]);
        }
        let pretty = is_root || self.has_newline(self.root.range);
        let layout = self.layout(container.start, true, pretty);
        let mut added = if is_root { "" } else { MARK }.to_owned();
        if pretty {
            added.push_str(&layout.line(0));
        }
        added.push_str(&layout.render(key, value));
        if pretty {
            added.push_str(&self.layout(container.start, false, true).line(0));
        }
        apply(self.text, vec![(Range::new(close, close), added)])
    }

    /// The text without the member and one comma; comments around it stay.
    pub(super) fn remove(&self, place: &Place) -> String {
        let Place { container, member } = *place;
        let close = container.end.saturating_sub(1);
        let before = self.before(member.start);
        let start = before.map_or(member.start, Ranged::end);
        let behind = self.after(member.end);
        let comma = behind.filter(|token| token.token == Token::Comma);
        let end = comma.map_or(member.end, Ranged::end);
        let next = self.after(end).map_or(end, Ranged::start);
        let newline_follows = self.has_newline(Range::new(member.end, next));
        let cut = if start == container.start + 1 && next == close {
            Range::new(start + self.blanks_kept(place).len(), close)
        } else if next < close && !newline_follows {
            // What follows on the line takes the member's place.
            Range::new(member.start, next)
        } else if before.is_some_and(is_line_comment) && !newline_follows {
            // The closing bracket must not end up in the comment.
            member
        } else {
            Range::new(start, member.end)
        };
        let comma = self.comma_after(member.end);
        let comma = comma.or_else(|| self.comma_before(member.start));
        let cuts = [Some(cut), comma].into_iter().flatten();
        apply(self.text, cuts.map(|cut| (cut, String::new())).collect())
    }

    /// Whether an install found the container empty.
    pub(super) fn is_marked(&self, place: &Place) -> bool {
        let Place { container, member } = *place;
        let before = slice(self.text, Range::new(container.start + 1, member.start));
        let behind = Range::new(member.end, container.end.saturating_sub(1));
        let marked = match first_lines(before) {
            Some(lines) => lines.ends_with(MARK),
            None => before.ends_with(MARK) && slice(self.text, behind).is_empty(),
        };
        marked && container != self.root.range
    }

    /// Which of the blanks before an only member were there before it came.
    fn blanks_kept(&self, place: &Place) -> &str {
        let before = Range::new(place.container.start + 1, place.member.start);
        let blanks = slice(self.text, before);
        let lines = first_lines(blanks);
        if self.is_marked(place) {
            let lines = lines.unwrap_or(blanks);
            return lines.strip_suffix(MARK).unwrap_or(lines);
        }
        lines.unwrap_or_default()
    }

    /// How new text is laid out, indented like the line of `anchor` or one step deeper.
    fn layout(&self, anchor: usize, deeper: bool, pretty: bool) -> Layout<'_> {
        let unit = self.indent_unit();
        let above = slice(self.text, Range::new(0, anchor));
        let base = indent_at(self.text, above.rfind('\n').map_or(0, |at| at + 1));
        let mut colons = self
            .tokens
            .iter()
            .filter(|token| token.token == Token::Colon);
        let tight = colons.next().is_some_and(|colon| {
            let next = self.after(colon.range.end);
            next.is_some_and(|next| next.range.start == colon.range.end)
        });
        let first_line = self.text.split_once('\n').map(|(line, _)| line);
        let crlf = first_line.is_some_and(|line| line.ends_with('\r'));
        Layout {
            newline: if crlf { "\r\n" } else { "\n" },
            unit,
            base: base.to_owned() + if deeper { unit } else { "" },
            pretty,
            spaced: pretty || !tight,
        }
    }

    /// The indentation of the first indented token, which is one step; else two spaces.
    fn indent_unit(&self) -> &str {
        let values = self.tokens.iter().filter(|token| !is_comment(token));
        let mut indents = values.filter_map(|token| {
            let above = slice(self.text, Range::new(0, token.range.start));
            let (_, indent) = above.rsplit_once('\n')?;
            let blank = indent.chars().all(|c| c == ' ' || c == '\t');
            (blank && !indent.is_empty()).then_some(indent)
        });
        indents.next().unwrap_or("  ")
    }
}

fn is_line_comment(token: &TokenAndRange<'_>) -> bool {
    matches!(token.token, Token::CommentLine(_))
}

/// `blanks` without the last line break and what follows, or `None` if they are on one line.
fn first_lines(blanks: &str) -> Option<&str> {
    let (lines, _) = blanks.rsplit_once('\n')?;
    Some(lines.strip_suffix('\r').unwrap_or(lines))
}

/// The blanks at the position where a line starts.
fn indent_at(text: &str, line_start: usize) -> &str {
    let line = slice(text, Range::new(line_start, text.len()));
    let end = line.find(|c| c != ' ' && c != '\t').unwrap_or(line.len());
    slice(line, Range::new(0, end))
}

/// The text with each range replaced; where ranges overlap, the later one only adds its excess.
pub(super) fn apply(text: &str, mut edits: Vec<(Range, String)>) -> String {
    edits.sort_by_key(|(range, _)| range.start);
    let mut result = String::with_capacity(text.len());
    let mut done = 0;
    for (range, replacement) in edits {
        result.push_str(slice(text, Range::new(done, range.start)));
        result.push_str(&replacement);
        done = done.max(range.end);
    }
    result.push_str(slice(text, Range::new(done, text.len())));
    result
}
