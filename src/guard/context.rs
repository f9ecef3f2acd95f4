//! What stands around a match: whether it is done or only talked about. Context moves a finding up or down and says
//! why; it never removes one.

use std::ops::Range;

use super::context_words::{BAD_SECTIONS, NEGATIONS, ORDERS, PLANTS, SECTIONS, TALK};
use super::kinds::Role;
use super::markdown::{Kind, Outline};
use super::rule::Sort;
use super::scan_parts::on_boundaries;
use super::text::Text;

/// Steps, and why.
#[derive(Debug, Default, Clone)]
pub(super) struct Context {
    pub steps: i8,
    pub why: Vec<&'static str>,
    /// Something that is only talked about is no part of a larger harm.
    pub is_talk: bool,
}

/// What is known about a file when its matches are weighed.
pub(super) struct Setting<'s> {
    pub role: Role,
    pub text: &'s Text,
    pub outline: Option<&'s Outline>,
    /// The skill says that it is about security.
    pub is_security: bool,
    /// SKILL.md names this file, so that it is used.
    pub is_named: bool,
    /// Comments of its language start with two slashes.
    pub has_slash_comments: bool,
}

/// Weighs a match that stands at `range` of a file.
pub(super) fn weigh(
    setting: &Setting<'_>,
    sort: Sort,
    range: &Range<usize>,
    is_decoded: bool,
) -> Context {
    let mut context = Context::default();
    if is_decoded {
        context.up(1, "it was encoded");
    }
    let part = setting.outline.and_then(|outline| outline.at(range.start));
    let kind = part.map(|part| part.kind);
    if kind == Some(Kind::Hidden) {
        context.up(1, "a reader does not see it");
        return context;
    }
    if setting.role == Role::Test && !setting.is_named {
        // What is run is run there, too.
        let steps = if sort == Sort::Phrase { 2 } else { 1 };
        context.down(steps, "it stands in a test");
        context.is_talk = sort == Sort::Phrase;
    }
    if is_decoded {
        return context;
    }
    let signs = signs(setting, sort, range, kind);
    if !signs.is_empty() {
        let is_instruction = setting.role == Role::Skill;
        // One sign could be put there by whoever wrote the rest; two that agree rarely are.
        let steps = match (signs.len(), is_instruction) {
            (1, true) => 1,
            (1, false) => 2,
            _ if setting.is_security => 4,
            _ => 3,
        };
        context.down(steps, signs[0]);
        context.why.extend(signs.iter().skip(1));
        context.is_talk = true;
    }
    if setting.is_security && sort == Sort::Phrase && !context.is_talk {
        context.down(1, "the skill is about security");
    }
    context
}

impl Context {
    fn up(&mut self, by: i8, why: &'static str) {
        self.steps += by;
        self.why.push(why);
    }

    fn down(&mut self, by: i8, why: &'static str) {
        self.steps -= by;
        self.why.push(why);
    }
}

/// Independent signs that a match is talk.
fn signs(
    setting: &Setting<'_>,
    sort: Sort,
    range: &Range<usize>,
    kind: Option<Kind>,
) -> Vec<&'static str> {
    let mut signs = Vec::new();
    let text = setting.text.text.as_str();
    let part = setting.outline.and_then(|outline| outline.at(range.start));
    let is_runnable =
        kind == Some(Kind::Fence) || (setting.outline.is_none() && sort != Sort::Phrase);
    let sections = if is_runnable { BAD_SECTIONS } else { SECTIONS };
    let section = part.zip(setting.outline).map(|(part, outline)| {
        outline.path(part.section).take(2).any(|title| {
            has_whole_word(title, sections) || (!is_runnable && has_word(title, sections))
        })
    });
    if section == Some(true) && kind != Some(Kind::Header) {
        signs.push("the heading is about what to avoid or to look for");
    }
    if is_runnable {
        runnable_signs(setting, range, &mut signs);
    } else {
        let before = sentence_before(text, range.start);
        let behind = sentence_behind(text, range.end);
        // "To avoid a question, set it" forbids nothing, and "whenever" is no "never".
        let forbidden = before
            .replace("to avoid ", "to ")
            .replace("whenever ", "when ");
        if NEGATIONS.is_in(&forbidden) {
            signs.push("the sentence forbids it");
        }
        if TALK.is_in(&before)
            || has(
                &behind,
                &[
                    "attack",
                    "injection",
                    "malicious",
                    "is dangerous",
                    "runs code",
                    "untrusted",
                    "❌",
                ],
            )
        {
            signs.push("the sentence talks about it");
        }
        // A command in back-ticks behind an order is to be run, not talked about.
        let is_command =
            sort != Sort::Phrase && signs.is_empty() && is_ordered(setting, range, &before);
        // A cell of a table that holds a command and nothing else is a step as good as any.
        let is_cell = kind == Some(Kind::Table) && sort != Sort::Phrase && signs.is_empty();
        // What a header holds is written in quotes whatever it says.
        let is_value = kind == Some(Kind::Header);
        let is_meant = is_command || is_cell || is_value || has(&before, PLANTS);
        if is_quoted(text, range) && !is_meant {
            signs.push("it is quoted");
        }
        if sort != Sort::Phrase
            && setting
                .outline
                .is_some_and(|outline| outline.inline_at(range.start).is_some())
            && !signs.is_empty()
        {
            signs.push("it is named within a sentence");
        }
        if kind == Some(Kind::Table) && sort == Sort::Phrase && !signs.is_empty() {
            signs.push("it stands in a table");
        }
        if sort == Sort::Phrase && setting.role == Role::Script && is_comparison(text, range) {
            signs.push("it is a text the script looks for");
        }
    }
    signs
}

/// A command that would be run is talk only where the example itself says that it is a bad one.
fn runnable_signs(setting: &Setting<'_>, range: &Range<usize>, signs: &mut Vec<&'static str>) {
    const BAD: &[&str] = &[
        "bad",
        "wrong",
        "never",
        "don't",
        "do not",
        "unsafe",
        "insecure",
        "vulnerable",
        "malicious",
        "attack",
        "attacker",
        "attackers",
        "anti-pattern",
        "❌",
        "dangerous",
        "becomes",
        "avoid",
    ];
    // "Never skip this" is the opposite of a warning.
    const ORDERS: &[&str] = &["skip", "forget", "omit", "miss", "mistakes", "leave out"];
    let text = setting.text.text.as_str();
    if let Some(part) = setting.outline.and_then(|outline| outline.at(range.start)) {
        let lead = last(text, &part.lead).to_lowercase();
        if has_whole_word(&lead, BAD) && !has_word(&lead, ORDERS) {
            signs.push("the line before calls it bad");
        }
        let recent: Vec<String> = last(text, &(part.range.start..range.start))
            .lines()
            .rev()
            .take(4)
            .map(str::trim)
            .filter(|line| line.starts_with('#') || line.starts_with("//"))
            .map(str::to_lowercase)
            .collect();
        if recent
            .iter()
            .any(|line| has_whole_word(line, BAD) && !has_word(line, ORDERS))
        {
            signs.push("the comment above calls it bad");
        }
    }
    let line = last(text, &(line_start(text, range.start)..range.end));
    let start = line.trim_start();
    let is_comment = if setting.has_slash_comments {
        start.starts_with("//") || start.starts_with("* ") || start.starts_with("/*")
    } else {
        start.starts_with('#') && !start.starts_with("#!")
    };
    if is_comment && setting.role == Role::Script && setting.outline.is_none() {
        signs.push("it stands in a comment");
    }
    let before = last(text, &(line_start(text, range.start)..range.start)).to_lowercase();
    let before = before.rsplit(['|', ';', '&']).next().unwrap_or("");
    if has(
        before,
        &[
            "grep ",
            "rg ",
            "re.compile(",
            "re.search(",
            "regexp(",
            "re.match(",
            "ripgrep ",
        ],
    ) {
        signs.push("the line looks for it");
    }
}

/// Whether a command in back-ticks is ordered: by the words before the back-ticks, or before itself.
fn is_ordered(setting: &Setting<'_>, range: &Range<usize>, before: &str) -> bool {
    let inline = setting
        .outline
        .and_then(|outline| outline.inline_at(range.start));
    inline.map_or_else(
        || ends_in_order(before),
        |code| ends_in_order(&sentence_before(&setting.text.text, code.start)),
    )
}

/// Whether the words right before a command tell to do it: `run`, `then use`, `by setting`, or a colon.
fn ends_in_order(before: &str) -> bool {
    let before = before.trim_end_matches(|letter: char| {
        letter.is_whitespace() || matches!(letter, '`' | '*' | '"' | '(' | '_')
    });
    let is_label = before.ends_with(':') && before.split_whitespace().count() > 1;
    is_label || has_whole_word(last_words(before), ORDERS)
}

/// The last few words of a text.
fn last_words(text: &str) -> &str {
    let from = text
        .char_indices()
        .rev()
        .filter(|(_, letter)| letter.is_whitespace())
        .nth(2);
    from.map_or(text, |(at, _)| &text[at..])
}

/// Most bytes that are looked at around a match: a line without an end must not be read anew for each of its matches.
const NEAR: usize = 1200;

/// Where the line begins in which a place is, or a place near enough.
fn line_start(text: &str, at: usize) -> usize {
    let from = on_boundaries(text, at.saturating_sub(NEAR)..at);
    text[from.clone()]
        .rfind('\n')
        .map_or(from.start, |found| from.start + found + 1)
}

/// The last part of a range of the text.
fn last<'t>(text: &'t str, range: &Range<usize>) -> &'t str {
    let start = range.start.max(range.end.saturating_sub(NEAR));
    text.get(on_boundaries(text, start..range.end))
        .unwrap_or("")
}

/// Whether one of the words stands in the text as a whole word.
fn has_whole_word(text: &str, words: &[&str]) -> bool {
    let is_letter = |letter: Option<char>| letter.is_some_and(char::is_alphanumeric);
    words.iter().any(|word| {
        text.match_indices(word).any(|(at, _)| {
            !is_letter(text[..at].chars().next_back())
                && !is_letter(text[at + word.len()..].chars().next())
        })
    })
}

fn has(text: &str, words: &[&str]) -> bool {
    words.iter().any(|word| text.contains(word))
}

/// Whether one of the words starts a word of the text.
fn has_word(text: &str, words: &[&str]) -> bool {
    words.iter().any(|word| {
        text.match_indices(word).any(|(at, _)| {
            text[..at]
                .chars()
                .next_back()
                .is_none_or(|letter| !letter.is_alphanumeric())
        })
    })
}

/// What the sentence says before a place, lower case, at most 240 bytes; a list item's lead belongs to it.
fn sentence_before(text: &str, at: usize) -> String {
    let mut start = at.saturating_sub(240);
    while !text.is_char_boundary(start) {
        start += 1;
    }
    let before = &text[start..at.min(text.len())];
    let cut = [". ", "! ", "? ", "\n\n", ".\n"]
        .iter()
        .filter_map(|end| before.rfind(end).map(|found| found + end.len()))
        .max();
    before[cut.unwrap_or(0)..].to_lowercase()
}

/// What the sentence says behind a place, at most 80 bytes, on the same line.
fn sentence_behind(text: &str, at: usize) -> String {
    let mut end = (at + 80).min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let behind = text.get(at..end).unwrap_or("");
    let cut = behind.find(['\n', '.']).unwrap_or(behind.len());
    behind[..cut].to_lowercase()
}

/// Whether quotes or back-ticks open before and close behind, on one line, with little else between.
fn is_quoted(text: &str, range: &Range<usize>) -> bool {
    let before = last(text, &(line_start(text, range.start)..range.start));
    let behind = text.get(range.end..).unwrap_or("");
    let behind = &behind[..on_boundaries(behind, 0..160).end];
    let behind = behind.split('\n').next().unwrap_or("");
    [
        ("\"", "\""),
        ("`", "`"),
        ("“", "”"),
        ("‘", "’"),
        ("«", "»"),
        ("'", "'"),
        ("「", "」"),
    ]
    .iter()
    .any(|(open, close)| {
        let is_open = before.matches(open).count()
            > if open == close {
                0
            } else {
                before.matches(close).count()
            };
        let odd = open != close || before.matches(open).count() % 2 == 1;
        let opened = before
            .rfind(open)
            .map_or(usize::MAX, |at| before.len() - at);
        is_open && odd && opened <= 80 && behind.find(close).is_some_and(|at| at <= 120)
    })
}

/// Whether a text in a script is compared with, not said.
fn is_comparison(text: &str, range: &Range<usize>) -> bool {
    let mut start = range.start.saturating_sub(200);
    while !text.is_char_boundary(start) {
        start += 1;
    }
    has(
        &text[start..range.start].to_lowercase(),
        &[
            "pattern",
            "regex",
            "re.compile",
            "phrases",
            "keywords",
            "forbidden",
            "suspicious",
            "signatures",
            "blocklist",
            "denylist",
            " in text",
            "injection",
        ],
    )
}
