//! Words of a text as the index has them: lower case, stems of Latin words, pairs of letters where a script writes no
//! blanks.

use std::collections::HashMap;

use rust_stemmers::{Algorithm, Stemmer};

/// Longest word that is a term, in bytes: what is longer is a key or a hash.
const MAX_WORD: usize = 40;
/// Most words whose stems are remembered.
const MAX_STEMS: usize = 65_536;

/// Words that do not say what a text is about, in order.
const STOP: &[&str] = &[
    "a", "about", "again", "all", "also", "am", "an", "and", "any", "are", "as", "at", "be",
    "been", "being", "both", "but", "by", "can", "could", "d", "did", "do", "does", "doing", "don",
    "down", "during", "each", "few", "for", "from", "further", "get", "gets", "getting", "got",
    "had", "has", "have", "having", "he", "help", "her", "here", "hers", "him", "his", "how", "i",
    "if", "im", "in", "into", "is", "it", "its", "itself", "ive", "just", "let", "lets", "ll", "m",
    "make", "may", "me", "might", "more", "most", "must", "my", "myself", "need", "needs", "no",
    "nor", "not", "now", "of", "off", "on", "once", "only", "onto", "or", "other", "our", "ours",
    "out", "over", "own", "please", "re", "s", "same", "shall", "she", "should", "so", "some",
    "such", "t", "than", "that", "the", "their", "theirs", "them", "then", "there", "these",
    "they", "this", "those", "through", "to", "too", "under", "until", "up", "us", "use", "used",
    "using", "ve", "very", "want", "wants", "was", "we", "were", "what", "when", "where", "which",
    "while", "who", "whom", "why", "will", "with", "would", "you", "your", "yours",
];

/// Takes texts apart.
pub struct Terms {
    stemmer: Stemmer,
    /// Stems that were asked for before: the same few thousand words make most of all texts.
    stems: HashMap<String, String>,
}

impl Default for Terms {
    fn default() -> Self {
        Self {
            stemmer: Stemmer::create(Algorithm::English),
            stems: HashMap::new(),
        }
    }
}

/// Whether a letter is of a script that writes no blanks between words: Han, Kana, Hangul.
#[must_use]
pub fn is_unspaced(letter: char) -> bool {
    matches!(u32::from(letter),
        0x3040..=0x30ff | 0x3400..=0x4dbf | 0x4e00..=0x9fff | 0xac00..=0xd7a3 | 0xf900..=0xfaff | 0x2_0000..=0x2_ffff)
}

/// Whether a term is a pair of letters of such a script.
#[must_use]
pub fn is_pair(term: &str) -> bool {
    term.chars().next().is_some_and(is_unspaced)
}

impl Terms {
    /// The terms of a text in order, stop words left out.
    pub fn list(&mut self, text: &str) -> Vec<String> {
        let mut terms = Vec::new();
        let mut word = String::new();
        let mut run: Vec<char> = Vec::new();
        for letter in text.chars() {
            if is_unspaced(letter) {
                self.end(&mut word, &mut terms);
                run.push(letter);
                continue;
            }
            pairs(&mut run, &mut terms);
            if letter.is_alphanumeric() {
                word.extend(letter.to_lowercase());
            } else if matches!(letter, '+' | '#') && (1..=2).contains(&word.len()) {
                // C++, C#, F#.
                word.push(letter);
            } else {
                self.end(&mut word, &mut terms);
            }
        }
        self.end(&mut word, &mut terms);
        pairs(&mut run, &mut terms);
        terms
    }

    fn end(&mut self, word: &mut String, terms: &mut Vec<String>) {
        let is_term = !word.is_empty()
            && word.len() <= MAX_WORD
            && STOP.binary_search(&word.as_str()).is_err();
        if is_term {
            terms.push(self.stem(word));
        }
        word.clear();
    }

    fn stem(&mut self, word: &str) -> String {
        if !word.is_ascii() || word.len() <= 2 {
            return word.to_owned();
        }
        if let Some(stem) = self.stems.get(word) {
            return stem.clone();
        }
        let stem = self.stemmer.stem(word).into_owned();
        if self.stems.len() < MAX_STEMS {
            self.stems.insert(word.to_owned(), stem.clone());
        }
        stem
    }
}

fn pairs(run: &mut Vec<char>, terms: &mut Vec<String>) {
    if let [letter] = run[..] {
        terms.push(letter.to_string());
    }
    terms.extend(run.windows(2).map(|pair| pair.iter().collect::<String>()));
    run.clear();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stop_words_are_in_order() {
        assert!(STOP.is_sorted());
    }

    #[test]
    fn words_are_stems_and_scripts_without_blanks_are_pairs() {
        let mut terms = Terms::default();
        assert_eq!(
            terms.list("Deploying the C++ services, to 生产环境!"),
            ["deploy", "c++", "servic", "生产", "产环", "环境"]
        );
        assert_eq!(terms.list("图 and Größe"), ["图", "größe"]);
        assert!(terms.list(&"x".repeat(80)).is_empty());
    }
}
