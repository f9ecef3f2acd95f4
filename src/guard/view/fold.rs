//! Undoes what makes text look other than it reads: characters nobody sees, letters of other scripts that look
//! Latin, wide and styled letters, strokes over letters, and padding. Unicode TR 15 (NFKC) and TS 39 (skeletons).

use unicode_normalization::UnicodeNormalization;
use unicode_security::skeleton;

use super::{View, Weaver};

/// Longest run of blanks that is kept, in bytes.
const MAX_BLANKS: usize = 40;
/// Longest run of line ends that is kept.
const MAX_BREAKS: usize = 3;

/// The text with all of that undone; `None` where there is nothing to undo.
pub(in crate::guard) fn fold(base: &View) -> Option<View> {
    let text = base.text.as_str();
    if text.is_ascii() && !is_padded(text) {
        return None;
    }
    let mut weaver = Weaver::new(base);
    let mut run = Padding::default();
    let mut word = 0;
    for (at, letter) in text.char_indices() {
        if letter.is_alphanumeric() || is_unseen(letter) || is_mark(letter) || letter == '_' {
            continue;
        }
        flush(&mut weaver, text, word, at, &mut run);
        let end = at + letter.len_utf8();
        word = end;
        if run.keeps(letter) {
            if letter.is_ascii() {
                weaver.copy(at, end);
            } else {
                weaver.put(at, &other(letter));
            }
        }
    }
    flush(&mut weaver, text, word, text.len(), &mut run);
    (weaver.text() != text).then(|| weaver.finish(Some("unicode"), false))
}

/// Counts blanks and line ends.
#[derive(Default)]
struct Padding {
    blanks: usize,
    breaks: usize,
}

impl Padding {
    fn keeps(&mut self, letter: char) -> bool {
        match letter {
            '\n' => {
                self.blanks = 0;
                self.breaks += 1;
                self.breaks <= MAX_BREAKS
            }
            _ if letter.is_whitespace() => {
                self.blanks += 1;
                self.blanks <= MAX_BLANKS
            }
            _ => {
                *self = Self::default();
                true
            }
        }
    }
}

fn is_padded(text: &str) -> bool {
    let (mut blanks, mut breaks) = (0_usize, 0_usize);
    text.bytes().any(|byte| {
        match byte {
            b' ' | b'\t' | b'\r' | 0x0b | 0x0c => blanks += 1,
            b'\n' => {
                breaks += 1;
                blanks = 0;
            }
            _ => (blanks, breaks) = (0, 0),
        }
        blanks > MAX_BLANKS || breaks > MAX_BREAKS
    })
}

/// Writes a word in its plain form.
fn flush(weaver: &mut Weaver<'_>, text: &str, start: usize, end: usize, run: &mut Padding) {
    let word = &text[start..end];
    if word.is_empty() {
        return;
    }
    *run = Padding::default();
    if word.is_ascii() {
        weaver.copy(start, end);
        return;
    }
    // What nobody sees and the strokes over Latin letters go before the letters are compared.
    let mut seen = String::with_capacity(word.len());
    // A mark may also stand over a sign, which ended the word before.
    let mut is_latin = text[..start]
        .bytes()
        .next_back()
        .is_some_and(|byte| byte.is_ascii_graphic());
    for letter in word.chars().filter(|letter| !is_unseen(*letter)) {
        if is_mark(letter) && is_latin {
            continue;
        }
        is_latin = letter.is_ascii() || (is_mark(letter) && is_latin);
        seen.push(letter);
    }
    let plain: String = seen.nfkc().collect();
    let is_mixed =
        plain.bytes().any(|byte| byte.is_ascii_alphabetic()) && plain.chars().any(has_latin_twins);
    let plain = if is_mixed {
        bare(&plain).unwrap_or(plain)
    } else {
        plain
    };
    if plain == word {
        weaver.copy(start, end);
    } else {
        weaver.put(start, &plain);
    }
}

/// Scripts with letters that look Latin.
fn has_latin_twins(letter: char) -> bool {
    matches!(letter, '\u{370}'..='\u{58f}' | '\u{10a0}'..='\u{10ff}' | '\u{13a0}'..='\u{13ff}' | '\u{a4d0}'..='\u{a4ff}' | '\u{ab30}'..='\u{abbf}')
}

/// The word in Latin letters, where all of it looks Latin. The common twins are looked up here, all others in the tables
/// of TS 39.
fn bare(word: &str) -> Option<String> {
    const TWINS: [(char, char); 34] = [
        ('а', 'a'),
        ('е', 'e'),
        ('о', 'o'),
        ('р', 'p'),
        ('с', 'c'),
        ('у', 'y'),
        ('х', 'x'),
        ('і', 'i'),
        ('ј', 'j'),
        ('ѕ', 's'),
        ('ԁ', 'd'),
        ('һ', 'h'),
        ('к', 'k'),
        ('т', 't'),
        ('в', 'b'),
        ('н', 'h'),
        ('А', 'A'),
        ('В', 'B'),
        ('Е', 'E'),
        ('К', 'K'),
        ('М', 'M'),
        ('Н', 'H'),
        ('О', 'O'),
        ('Р', 'P'),
        ('С', 'C'),
        ('Т', 'T'),
        ('Х', 'X'),
        ('ο', 'o'),
        ('α', 'a'),
        ('ν', 'v'),
        ('ρ', 'p'),
        ('υ', 'u'),
        ('ι', 'i'),
        ('κ', 'k'),
    ];
    let twin = |letter: char| {
        TWINS
            .iter()
            .find(|(known, _)| *known == letter)
            .map_or(letter, |(_, latin)| *latin)
    };
    let read: String = word.chars().map(twin).collect();
    if read.is_ascii() {
        return Some(read);
    }
    let read: String = skeleton(&read).collect();
    read.is_ascii().then_some(read)
}

fn other(letter: char) -> String {
    if letter.is_whitespace() {
        return " ".to_owned();
    }
    std::iter::once(letter).nfkc().collect()
}

/// Characters that show nothing: Unicode's default-ignorable ones, and some that fonts leave empty.
pub(in crate::guard) fn is_unseen(letter: char) -> bool {
    matches!(letter,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}'
        | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}')
}

/// Marks that are written over or through the letter before.
fn is_mark(letter: char) -> bool {
    matches!(letter, '\u{300}'..='\u{36f}' | '\u{1ab0}'..='\u{1aff}' | '\u{1dc0}'..='\u{1dff}' | '\u{20d0}'..='\u{20ff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folded(text: &str) -> String {
        fold(&View::plain(text.to_owned())).map_or_else(|| text.to_owned(), |view| view.text)
    }

    #[test]
    fn look_alikes_and_unseen_characters_are_undone() {
        assert_eq!(folded("c\u{3c5}rl -s"), "curl -s");
        assert_eq!(folded("I\u{200b}gno\u{ad}re"), "Ignore");
        assert_eq!(folded("ｉｇｎｏｒｅ"), "ignore");
        assert_eq!(folded("i\u{336}g\u{336}nore"), "ignore");
        assert_eq!(folded("a\u{2003}b"), "a b");
    }

    #[test]
    fn other_languages_stay_what_they_are() {
        for text in ["Навык пишет", "می‌شود", "先阅读", "Übergröße naïve", "👩‍💻 ok"]
        {
            let plain: String = text.chars().filter(|letter| !is_unseen(*letter)).collect();
            assert_eq!(folded(text), plain.nfkc().collect::<String>());
        }
    }

    #[test]
    fn padding_is_squeezed() {
        let text = format!("curl{}x\n\n\n\n\n\n|", " ".repeat(500));
        let view = fold(&View::plain(text.clone())).unwrap();
        assert!(view.text.len() < 60);
        assert_eq!(
            view.origin(view.text.find('|').unwrap()),
            text.find('|').unwrap()
        );
    }
}
