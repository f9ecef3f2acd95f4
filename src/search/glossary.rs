//! Chinese words of the trade with what English skills call them, written for this program. A question in Chinese finds
//! English skills through it.

use std::collections::HashMap;
use std::sync::OnceLock;

use super::terms::{Terms, is_unspaced};

/// One word a line, then what it is called in English, the best first.
const TEXT: &str = include_str!("glossary.txt");

/// The words, ready to be looked for.
pub struct Glossary {
    meanings: HashMap<&'static str, Vec<String>>,
    /// Letters of the longest word.
    longest: usize,
}

impl Glossary {
    /// The one there is.
    #[must_use]
    pub fn get() -> &'static Self {
        static GLOSSARY: OnceLock<Glossary> = OnceLock::new();
        GLOSSARY.get_or_init(Self::new)
    }

    fn new() -> Self {
        let mut terms = Terms::default();
        let mut meanings: HashMap<&'static str, Vec<String>> = HashMap::new();
        let mut longest = 0;
        for line in TEXT.lines() {
            let mut words = line.split_whitespace();
            let Some(word) = words.next() else { continue };
            longest = longest.max(word.chars().count());
            let known = meanings.entry(word).or_default();
            for term in words.flat_map(|word| terms.list(word)) {
                if !known.contains(&term) {
                    known.push(term);
                }
            }
        }
        Self { meanings, longest }
    }

    /// The words of a text that are known, by what they mean; the longest word that fits is taken.
    #[must_use]
    pub fn meanings(&self, text: &str) -> Vec<&[String]> {
        let mut found: Vec<&[String]> = Vec::new();
        let mut rest = text;
        while let Some(first) = rest.chars().next() {
            let hit = is_unspaced(first).then(|| self.longest_at(rest)).flatten();
            match hit {
                Some((length, meanings)) => {
                    if !found.contains(&meanings) {
                        found.push(meanings);
                    }
                    rest = &rest[length..];
                }
                None => rest = &rest[first.len_utf8()..],
            }
        }
        found
    }

    fn longest_at(&self, text: &str) -> Option<(usize, &[String])> {
        let ends: Vec<usize> = text
            .char_indices()
            .take(self.longest)
            .take_while(|(_, letter)| is_unspaced(*letter))
            .map(|(at, letter)| at + letter.len_utf8())
            .collect();
        ends.into_iter().rev().find_map(|end| {
            self.meanings
                .get(&text[..end])
                .map(|meanings| (end, meanings.as_slice()))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_word_counts() {
        let meanings = Glossary::get().meanings("帮我做代码审查，然后部署 Docker");
        assert_eq!(meanings, [&["code", "review"][..], &["deploy"][..]]);
    }

    #[test]
    fn each_word_stands_once_and_in_order() {
        let words: Vec<&str> = TEXT
            .lines()
            .filter_map(|line| line.split_whitespace().next())
            .collect();
        assert!(TEXT.lines().all(|line| line.split_whitespace().count() > 1));
        let mut sorted = words.clone();
        sorted.sort_unstable();
        sorted.dedup();
        assert_eq!(words, sorted);
    }
}
