//! Characters that look alike, each as the plain one it stands for. Knows nothing of places.

use std::borrow::Cow;

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::canonical_combining_class;

/// Returns the plain form of one character with its combining marks: quotes, dashes, blanks, full-width
/// forms, and the composed form of letters with marks. Characters that show nothing become nothing.
pub(super) fn plain(cluster: &str) -> Cow<'_, str> {
    if cluster.is_ascii() {
        return Cow::Borrowed(cluster);
    }
    let mut characters = cluster.chars();
    if let (Some(only), None) = (characters.next(), characters.next()) {
        if let Some(text) = look_alike(only) {
            return Cow::Borrowed(text);
        }
        if let Some(narrow) = narrow(only) {
            return Cow::Owned(narrow.to_string());
        }
    }
    Cow::Owned(cluster.nfc().collect())
}

/// Returns the length in bytes of the first character of `text` with the marks that follow it.
pub(super) fn cluster_length(text: &str) -> usize {
    let mut characters = text.char_indices().skip(1);
    characters
        .find(|(_, character)| character.is_ascii() || canonical_combining_class(*character) == 0)
        .map_or(text.len(), |(at, _)| at)
}

fn look_alike(character: char) -> Option<&'static str> {
    Some(match character {
        '\u{201c}' | '\u{201d}' | '\u{201e}' | '\u{201f}' | '\u{2033}' => "\"",
        '\u{2018}' | '\u{2019}' | '\u{201a}' | '\u{201b}' | '\u{2032}' => "'",
        '\u{2010}' | '\u{2011}' | '\u{2012}' | '\u{2013}' | '\u{2212}' => "-",
        '\u{2014}' | '\u{2015}' => "--",
        '\u{2026}' => "...",
        '\u{a0}' | '\u{1680}' | '\u{2000}'..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{3000}' => {
            " "
        }
        // Not the joiners: those decide how emoji and some scripts look.
        '\u{ad}' | '\u{200b}' | '\u{2060}' | '\u{feff}' => "",
        _ => return None,
    })
}

/// The ASCII character a full-width form stands for.
fn narrow(character: char) -> Option<char> {
    let code = u32::from(character);
    (0xff01..=0xff5e)
        .contains(&code)
        .then(|| char::from_u32(code - 0xfee0))
        .flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn look_alikes_become_plain() {
        let all = "\u{201c}a\u{201d}\u{2014}\u{ff11}\u{2026}\u{200b}";
        let told: String = all
            .chars()
            .map(|c| plain(&c.to_string()).into_owned())
            .collect();
        assert_eq!(told, "\"a\"--1...");
    }

    #[test]
    fn marks_belong_to_their_letter() {
        assert_eq!(cluster_length("e\u{301}x"), 3);
        assert_eq!(plain("e\u{301}"), "\u{e9}");
        assert_eq!(cluster_length("ab"), 1);
    }
}
