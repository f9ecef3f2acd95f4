//! A skill as the index has it: five fields, how often each term stands in each, and which terms stand side by side.

use std::collections::HashMap;

use super::terms::{Terms, is_unspaced};

/// Fields a term can stand in: name, description, tags, headings, body.
pub const FIELDS: usize = 5;
/// The field of the name.
pub const NAME: usize = 0;
/// The field of the description.
pub const DESCRIPTION: usize = 1;
/// The field of tags, triggers and the category.
pub const TAGS: usize = 2;
/// The field of headings.
pub const HEADINGS: usize = 3;
/// The field of the body.
pub const BODY: usize = 4;

/// Most letters of a body that are indexed: what a skill is about stands at its beginning.
pub const MAX_BODY: usize = 6_000;
/// Most bytes of headings that are indexed.
const MAX_HEADINGS: usize = 2_500;
/// Most bytes of tags that are indexed.
const MAX_TAGS: usize = 4_000;

/// What is indexed of a skill.
#[derive(Debug, Clone, Default)]
pub struct Source {
    /// What people call it.
    pub name: String,
    /// Its description.
    pub description: String,
    /// Tags, triggers, when to use it, its category.
    pub tags: String,
    /// Its text below the frontmatter.
    pub body: String,
}

/// A skill, taken apart.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Document {
    /// For each term how often it stands in each field, at most 255.
    pub terms: HashMap<String, [u8; FIELDS]>,
    /// Terms in each field.
    pub lengths: [u32; FIELDS],
    /// Distinct terms of the name.
    pub name_terms: u32,
    /// Hashes of neighbours in name and description, in order.
    pub head_pairs: Vec<u16>,
    /// Hashes of neighbours in the body, in order.
    pub body_pairs: Vec<u16>,
    /// It is written in a script without blanks.
    pub is_unspaced: bool,
}

impl Document {
    /// Takes a skill apart.
    #[must_use]
    pub fn of(source: &Source, terms: &mut Terms) -> Self {
        let body = first_letters(&source.body, MAX_BODY);
        let tags = first_bytes(&source.tags, MAX_TAGS);
        let fields = [
            terms.list(&source.name),
            terms.list(&source.description),
            terms.list(tags),
            terms.list(&headings(&source.body)),
            terms.list(body),
        ];
        let mut head = fields[NAME].clone();
        // Name and description are no neighbours.
        head.push(String::new());
        head.extend(fields[DESCRIPTION].iter().cloned());
        let mut own: Vec<&String> = fields[NAME].iter().collect();
        own.sort_unstable();
        own.dedup();
        let mut document = Self {
            name_terms: u32::try_from(own.len()).unwrap_or(u32::MAX),
            head_pairs: pairs(&head),
            body_pairs: pairs(&fields[BODY]),
            is_unspaced: share(&source.description) > 0.33 || share(body) > 0.125,
            ..Self::default()
        };
        for (field, list) in fields.into_iter().enumerate() {
            document.lengths[field] = u32::try_from(list.len()).unwrap_or(u32::MAX);
            for term in list {
                let count = &mut document.terms.entry(term).or_default()[field];
                *count = count.saturating_add(1);
            }
        }
        document
    }
}

/// How much of a text is in a script without blanks.
fn share(text: &str) -> f32 {
    let (mut unspaced, mut all) = (0u32, 0u32);
    for letter in text.chars() {
        unspaced += u32::from(is_unspaced(letter));
        all += 1;
    }
    #[expect(
        clippy::cast_precision_loss,
        reason = "a share of a few thousand letters"
    )]
    let share = unspaced as f32 / all.max(1) as f32;
    share
}

/// Two neighbours as sixteen bits: of the pairs of a query one in some seventy is taken for one of a text that is not.
#[must_use]
pub fn pair_hash(one: &str, other: &str) -> u16 {
    let mut hash: u32 = 0x811c_9dc5;
    for byte in one.bytes().chain([0]).chain(other.bytes()) {
        hash = (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193);
    }
    let [a, b, c, d] = hash.to_le_bytes();
    u16::from_le_bytes([a ^ c, b ^ d])
}

fn pairs(terms: &[String]) -> Vec<u16> {
    let mut pairs: Vec<u16> = terms
        .windows(2)
        .map(|pair| pair_hash(&pair[0], &pair[1]))
        .collect();
    pairs.sort_unstable();
    pairs.dedup();
    pairs
}

/// Headings outside of fences, of the first four levels.
fn headings(body: &str) -> String {
    let mut found = String::new();
    let mut is_fenced = false;
    for line in body.lines() {
        let line = line.trim_start();
        if line.starts_with("```") || line.starts_with("~~~") {
            is_fenced = !is_fenced;
            continue;
        }
        let title = line.trim_start_matches('#');
        let level = line.len() - title.len();
        if !is_fenced && (1..=4).contains(&level) && title.starts_with(' ') {
            found.push_str(title.trim());
            found.push('\n');
            if found.len() > MAX_HEADINGS {
                break;
            }
        }
    }
    found
}

fn first_letters(text: &str, most: usize) -> &str {
    let end = text.char_indices().nth(most);
    end.map_or(text, |(at, _)| &text[..at])
}

fn first_bytes(text: &str, most: usize) -> &str {
    let mut end = most.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_skill_is_taken_apart() {
        let source = Source {
            name: "git-release".to_owned(),
            description: "Writes release notes".to_owned(),
            tags: "git changelog".to_owned(),
            body: "# Notes\n\n```sh\n# no heading\n```\n\nCollect merged changes.".to_owned(),
        };
        let document = Document::of(&source, &mut Terms::default());
        assert_eq!(document.terms["git"], [1, 0, 1, 0, 0]);
        assert_eq!(document.terms["releas"], [1, 1, 0, 0, 0]);
        assert_eq!(document.terms["note"], [0, 1, 0, 1, 1]);
        assert_eq!(document.lengths[HEADINGS], 1);
        assert_eq!(document.name_terms, 2);
        let has = |one: &str, other: &str| {
            document
                .head_pairs
                .binary_search(&pair_hash(one, other))
                .is_ok()
        };
        assert!(has("releas", "note") && has("git", "releas") && !has("releas", "write"));
    }

    #[test]
    fn what_is_written_without_blanks_is_known() {
        let of = |text: &str| {
            let source = Source {
                description: text.to_owned(),
                ..Source::default()
            };
            Document::of(&source, &mut Terms::default()).is_unspaced
        };
        assert!(of("把会议录音整理成纪要"));
        assert!(!of("Writes notes of meetings (会议)"));
    }
}
