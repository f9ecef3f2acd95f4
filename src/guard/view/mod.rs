//! The forms in which a text is looked at. A form is built only when the text holds what it undoes, and every
//! byte of it knows which byte of the file it came from.

pub(in crate::guard) use fold::is_unseen as fold_is_unseen;

pub(super) mod code;
pub(super) mod codecs;
pub(super) mod decode;
pub(super) mod escapes;
pub(super) mod flat;
pub(super) mod fold;
pub(super) mod hints;
mod runs;
pub(super) mod shell;
pub(super) mod shell_words;

/// A text in one of its forms.
#[derive(Debug, Clone)]
pub(super) struct View {
    /// The text, letters as they are.
    pub text: String,
    /// The text in lower case; the same offsets.
    pub lower: String,
    /// Through which forms it came about, outermost first.
    pub seen: Vec<&'static str>,
    /// Whether it was decoded: then nobody can read it in the file.
    pub is_decoded: bool,
    /// Whether more stood there than this form was made of.
    pub is_cut: bool,
    /// Where a paragraph ends and another begins, for forms that fold line ends.
    pub breaks: Vec<usize>,
    origin: Origin,
}

/// Where the bytes of a view come from.
#[derive(Debug, Clone)]
enum Origin {
    /// From the same place.
    Same,
    /// Piecewise.
    Pieces(Vec<Piece>),
}

/// From `at` in the view on, bytes come from `from` in the file: each from the next one, or all from there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Piece {
    at: usize,
    from: usize,
    is_verbatim: bool,
}

impl View {
    /// The text as it stands.
    pub(super) fn plain(text: String) -> Self {
        Self {
            lower: lower(&text),
            text,
            seen: Vec::new(),
            is_decoded: false,
            is_cut: false,
            breaks: Vec::new(),
            origin: Origin::Same,
        }
    }

    /// Where in the file a byte of the view comes from.
    pub(super) fn origin(&self, at: usize) -> usize {
        match &self.origin {
            Origin::Same => at,
            Origin::Pieces(pieces) => {
                let next = pieces.partition_point(|piece| piece.at <= at);
                pieces.get(next.saturating_sub(1)).map_or(0, |piece| {
                    if piece.is_verbatim {
                        piece.from + (at - piece.at.min(at))
                    } else {
                        piece.from
                    }
                })
            }
        }
    }
}

/// Lower case, byte for byte: letters whose lower case is longer or shorter stay.
fn lower(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while !rest.is_empty() {
        let plain = rest
            .bytes()
            .position(|byte| byte >= 0x80)
            .unwrap_or(rest.len());
        out.push_str(&rest[..plain]);
        rest = &rest[plain..];
        let Some(letter) = rest.chars().next() else {
            break;
        };
        let mut small = letter.to_lowercase();
        match (small.next(), small.next()) {
            (Some(one), None) if one.len_utf8() == letter.len_utf8() => out.push(one),
            _ => out.push(letter),
        }
        rest = &rest[letter.len_utf8()..];
    }
    out.make_ascii_lowercase();
    out
}

/// Writes a view of another one.
pub(super) struct Weaver<'v> {
    base: &'v View,
    text: String,
    pieces: Vec<Piece>,
    breaks: Vec<usize>,
}

impl<'v> Weaver<'v> {
    pub(super) fn new(base: &'v View) -> Self {
        Self {
            base,
            text: String::with_capacity(base.text.len()),
            pieces: Vec::new(),
            breaks: Vec::new(),
        }
    }

    /// A paragraph ends here.
    pub(super) fn mark_break(&mut self) {
        self.breaks.push(self.text.len());
    }

    /// Copies what stands from `start` to `end` in the base.
    pub(super) fn copy(&mut self, start: usize, end: usize) {
        let Some(part) = self.base.text.get(start..end) else {
            return;
        };
        if part.is_empty() {
            return;
        }
        match &self.base.origin {
            Origin::Same => self.piece(start, true),
            Origin::Pieces(pieces) => {
                let first = pieces.partition_point(|piece| piece.at <= start);
                let at = self.text.len();
                self.piece(self.base.origin(start), {
                    pieces
                        .get(first.saturating_sub(1))
                        .is_some_and(|piece| piece.is_verbatim)
                });
                let inner = pieces[first..].iter().take_while(|piece| piece.at < end);
                for piece in inner {
                    self.pieces.push(Piece {
                        at: at + piece.at - start,
                        ..*piece
                    });
                }
            }
        }
        self.text.push_str(part);
    }

    /// Puts another text in the place of what stands at `at` in the base.
    pub(super) fn put(&mut self, at: usize, text: &str) {
        if !text.is_empty() {
            self.piece(self.base.origin(at), false);
            self.text.push_str(text);
        }
    }

    /// What was written so far.
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    fn piece(&mut self, from: usize, is_verbatim: bool) {
        let at = self.text.len();
        if let Some(last) = self.pieces.last() {
            let follows = if last.is_verbatim {
                last.from + (at - last.at) == from
            } else {
                last.from == from
            };
            if last.is_verbatim == is_verbatim && follows {
                return;
            }
        }
        self.pieces.push(Piece {
            at,
            from,
            is_verbatim,
        });
    }

    /// The view, named by what was undone.
    pub(super) fn finish(self, form: Option<&'static str>, is_decoded: bool) -> View {
        let mut seen = self.base.seen.clone();
        seen.extend(form);
        View {
            lower: lower(&self.text),
            text: self.text,
            seen,
            is_decoded: is_decoded || self.base.is_decoded,
            is_cut: false,
            breaks: self.breaks,
            origin: Origin::Pieces(self.pieces),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_byte_knows_where_it_came_from() {
        let base = View::plain("curl \\\n x".to_owned());
        let mut weaver = Weaver::new(&base);
        weaver.copy(0, 5);
        weaver.copy(7, 9);
        weaver.put(8, "yz");
        let view = weaver.finish(Some("shell"), false);
        assert_eq!(view.text, "curl  xyz");
        assert_eq!(view.origin(0), 0);
        assert_eq!(view.origin(6), 8);
        assert_eq!(view.origin(8), 8);

        let mut again = Weaver::new(&view);
        again.copy(4, 9);
        let again = again.finish(None, false);
        assert_eq!(again.text, "  xyz");
        assert_eq!(again.origin(0), 4);
        assert_eq!(again.origin(2), 8);
        assert_eq!(again.origin(4), 8);
    }

    #[test]
    fn lower_case_keeps_offsets() {
        assert_eq!(lower("ÄB\u{130}C"), "äb\u{130}c");
    }
}
