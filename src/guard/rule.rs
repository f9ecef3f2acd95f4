//! What a rule is. The rules that come with the program stand in `rules/`, those of a user in the configuration.

use std::borrow::Cow;
use std::sync::OnceLock;

use regex::bytes::{Regex, RegexBuilder};

use super::finding::{Class, Severity};
use super::view::View;

/// Which texts a rule is looked for in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sort {
    /// What is said to a model or a person: looked for in running text, blanks, line ends and markup folded. Talk
    /// about it (quoted, negated, listed) is milder than saying it.
    Phrase,
    /// What a shell, an interpreter or a program obeys: looked for in the text as it stands.
    Command,
    /// Exact bytes, such as a key: letters keep their case.
    Exact,
}

/// What a match is good for when several are put together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Fact {
    /// A secret is read, or named as what is to be read.
    Secret,
    /// The text of the conversation, the workspace or what the user typed is taken.
    Private,
    /// Data is put into a request to another machine.
    Send,
    /// Something is fetched from another machine.
    Fetch,
    /// Something that was not written here is run.
    Run,
    /// Something is made to run again later.
    Persist,
    /// A person is kept in the dark.
    Conceal,
    /// It is done each time, first, or without being asked.
    Auto,
    /// Bytes are turned into something else before they leave, or into code.
    Encode,
    /// Something is decoded.
    Decode,
    /// A guard is switched off.
    Unguard,
}

/// Where the words of a rule come from.
#[derive(Debug, Clone)]
enum Near {
    Fixed(&'static [&'static str]),
    Own(Vec<String>),
}

/// One rule.
#[derive(Debug)]
pub(super) struct Rule {
    /// A stable name, `class.what`.
    pub id: Cow<'static, str>,
    /// Kind of harm.
    pub class: Class,
    /// How bad a match is, before the context is looked at.
    pub severity: Severity,
    /// One sentence: what it is.
    pub say: Cow<'static, str>,
    /// What to do about it.
    pub fix: Cow<'static, str>,
    /// Where it is looked for.
    pub sort: Sort,
    /// What a match is good for together with others.
    pub facts: &'static [Fact],
    /// How many bytes before and behind one of the words the pattern may reach.
    pub reach: (usize, usize),
    /// Whether hosts in the match decide how bad it is.
    pub weighs_host: bool,
    near: Near,
    pattern: Cow<'static, str>,
    unless: Cow<'static, str>,
    /// Texts that it must find.
    pub hits: &'static [&'static str],
    /// Texts that it must not find.
    pub passes: &'static [&'static str],
    compiled: OnceLock<Option<Regex>>,
    compiled_unless: OnceLock<Option<Regex>>,
}

/// Starts a rule.
pub(super) fn rule(id: impl Into<Cow<'static, str>>, class: Class, severity: Severity) -> Rule {
    Rule {
        id: id.into(),
        class,
        severity,
        say: Cow::Borrowed(""),
        fix: Cow::Borrowed("Take it out, or say plainly in SKILL.md what it is for."),
        sort: Sort::Command,
        facts: &[],
        reach: (240, 480),
        weighs_host: false,
        near: Near::Fixed(&[]),
        pattern: Cow::Borrowed(""),
        unless: Cow::Borrowed(""),
        hits: &[],
        passes: &[],
        compiled: OnceLock::new(),
        compiled_unless: OnceLock::new(),
    }
}

/// Builders: each takes the rule and gives it back, so that a table of rules reads as sentences.
impl Rule {
    /// What it is, in one sentence.
    pub(super) fn say(mut self, say: impl Into<Cow<'static, str>>) -> Self {
        self.say = say.into();
        self
    }

    /// What to do about it.
    pub(super) fn fix(mut self, fix: impl Into<Cow<'static, str>>) -> Self {
        self.fix = fix.into();
        self
    }

    /// The words of which one stands in every match; lower case, rare, at least three bytes.
    pub(super) fn near(mut self, words: &'static [&'static str]) -> Self {
        self.near = Near::Fixed(words);
        self
    }

    /// The same, for rules of a user.
    pub(super) fn near_own(mut self, words: Vec<String>) -> Self {
        self.near = Near::Own(words);
        self
    }

    /// The pattern, over lower-case text.
    pub(super) fn like(mut self, pattern: impl Into<Cow<'static, str>>) -> Self {
        self.pattern = pattern.into();
        self
    }

    /// What makes a match none: looked for from 60 bytes before the match to 60 behind it.
    pub(super) fn unless(mut self, pattern: &'static str) -> Self {
        self.unless = Cow::Borrowed(pattern);
        self
    }

    /// It is something said.
    pub(super) fn phrase(mut self) -> Self {
        self.sort = Sort::Phrase;
        self.reach = (160, 240);
        self
    }

    /// It is exact bytes.
    pub(super) fn exact(mut self) -> Self {
        self.sort = Sort::Exact;
        self
    }

    /// What a match is good for together with others.
    pub(super) fn facts(mut self, facts: &'static [Fact]) -> Self {
        self.facts = facts;
        self
    }

    /// How far the pattern may reach, in bytes.
    pub(super) fn reach(mut self, before: usize, behind: usize) -> Self {
        self.reach = (before, behind);
        self
    }

    /// Hosts in the match decide how bad it is.
    pub(super) fn weighs_host(mut self) -> Self {
        self.weighs_host = true;
        self
    }

    /// Texts that it must find.
    pub(super) fn hits(mut self, hits: &'static [&'static str]) -> Self {
        self.hits = hits;
        self
    }

    /// Texts that it must not find.
    pub(super) fn passes(mut self, passes: &'static [&'static str]) -> Self {
        self.passes = passes;
        self
    }

    /// The words of which one stands in every match.
    pub(super) fn words(&self) -> Vec<&str> {
        match &self.near {
            Near::Fixed(words) => words.to_vec(),
            Near::Own(words) => words.iter().map(String::as_str).collect(),
        }
    }

    /// The compiled pattern; compiled when first needed, since most rules are not needed for most skills.
    pub(super) fn pattern(&self) -> Option<&Regex> {
        self.compiled
            .get_or_init(|| compile(&self.pattern).ok())
            .as_ref()
    }

    /// Whether what stands around a match makes it none: on its line or, where line ends are folded, in its paragraph.
    pub(super) fn is_lifted(&self, view: &View, text: &[u8], start: usize, end: usize) -> bool {
        if self.unless.is_empty() {
            return false;
        }
        let behind = view.breaks.partition_point(|at| *at <= start);
        let from = behind.checked_sub(1).map_or(0, |last| view.breaks[last]);
        let next = view.breaks.partition_point(|at| *at < end);
        let to = view.breaks.get(next).copied().unwrap_or(text.len());
        let mut from = from.max(start.saturating_sub(60)).min(start);
        let mut to = to.min(end + 60).max(end);
        // A clause ends where the next begins: what an attacker writes behind it lifts nothing.
        let ends: &[u8] = if self.sort == Sort::Phrase {
            b";!?"
        } else {
            b"\n;&|#"
        };
        let is_end = |byte: &u8| ends.contains(byte);
        from += text[from..start]
            .iter()
            .rposition(is_end)
            .map_or(0, |at| at + 1);
        to = text[end..to]
            .iter()
            .position(is_end)
            .map_or(to, |at| end + at);
        let around = &text[from..to];
        self.compiled_unless
            .get_or_init(|| compile(&self.unless).ok())
            .as_ref()
            .is_some_and(|unless| unless.is_match(around))
    }

    /// Everything that decides what the rule finds, for the version of a rule set.
    pub(super) fn spec(&self) -> String {
        format!(
            "{}|{}|{}|{:?}|{:?}|{:?}|{:?}|{}|{:?}|{}|{}",
            self.id,
            self.class.as_str(),
            self.severity.as_str(),
            self.sort,
            self.facts,
            self.reach,
            self.weighs_host,
            self.say,
            self.words(),
            self.pattern,
            self.unless
        )
    }
}

/// Compiles a pattern over bytes: no Unicode classes, so that it is small and fast; texts in other scripts stand in
/// patterns as they are. The engine is linear in the text.
///
/// # Errors
/// What is wrong with the pattern.
pub(super) fn compile(pattern: &str) -> Result<Regex, regex::Error> {
    RegexBuilder::new(pattern)
        .unicode(false)
        .size_limit(2 * 1024 * 1024)
        .dfa_size_limit(2 * 1024 * 1024)
        .build()
}
