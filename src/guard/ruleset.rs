//! A set of rules made ready: one literal pass over a text finds where a rule may match, and its pattern is tried
//! there and nowhere else. So the time grows with the text and not with the number of rules.

use std::ops::Range;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};

use super::finding::Severity;
use super::rule::{Rule, Sort};
use super::view::View;

/// Most bytes that one rule's pattern is tried on in one text; so many places with a rule's words are a finding
/// themselves.
const MAX_TRIED: usize = 192 * 1024;
/// Most matches of one rule in one text.
const MAX_MATCHES: usize = 2000;

/// Rules, ready to be looked for.
pub(super) struct RuleSet {
    rules: Vec<Rule>,
    /// For phrases, and for everything else.
    phrases: Literals,
    others: Literals,
}

struct Literals {
    words: Vec<String>,
    /// Ready in a few milliseconds, for the one skill of a change.
    small: Option<AhoCorasick>,
    /// A third faster, and four times as long in the making: for a library.
    fast: OnceLock<Option<AhoCorasick>>,
    /// Texts that were looked at.
    seen: AtomicUsize,
    /// For each literal the rule it belongs to.
    owner: Vec<usize>,
}

/// Texts after which it pays to have the faster automaton: some forty skills.
const MANY: usize = 200;

/// A place where a rule matches.
#[derive(Debug, Clone)]
pub(super) struct Match {
    /// Which rule.
    pub rule: usize,
    /// Where, in the view.
    pub range: Range<usize>,
}

/// What a text was found to hold.
#[derive(Debug, Default)]
pub(super) struct Matches {
    pub found: Vec<Match>,
    /// Rules whose words stand in so many places that not all were tried.
    pub flooded: Vec<usize>,
}

impl Matches {
    /// So much of what is milder than medium is no reason to stop.
    fn flood(&mut self, index: usize, rule: &Rule) {
        if rule.severity >= Severity::Medium {
            self.flooded.push(index);
        }
    }
}

impl RuleSet {
    pub(super) fn new(rules: Vec<Rule>) -> Self {
        let phrases = Literals::new(&rules, |sort| sort == Sort::Phrase);
        let others = Literals::new(&rules, |sort| sort != Sort::Phrase);
        Self {
            rules,
            phrases,
            others,
        }
    }

    pub(super) fn rule(&self, index: usize) -> &Rule {
        &self.rules[index]
    }

    pub(super) fn rules(&self) -> &[Rule] {
        &self.rules
    }

    /// Looks for phrases in running text.
    pub(super) fn phrases(&self, view: &View) -> Matches {
        self.look(view, &self.phrases)
    }

    /// Looks for everything else in a text as it stands.
    pub(super) fn commands(&self, view: &View) -> Matches {
        self.look(view, &self.others)
    }

    fn look(&self, view: &View, literals: &Literals) -> Matches {
        let mut matches = Matches::default();
        for (rule, places) in literals.places(view.lower.as_bytes(), &self.rules) {
            self.try_rule(view, rule, &places, &mut matches);
        }
        matches
            .found
            .sort_by_key(|found| (found.range.start, found.rule));
        matches
    }

    /// Tries a rule's pattern around each place where one of its words stands.
    fn try_rule(&self, view: &View, index: usize, places: &[Range<usize>], matches: &mut Matches) {
        let rule = &self.rules[index];
        let Some(pattern) = rule.pattern() else {
            return;
        };
        let text = match rule.sort {
            Sort::Exact => view.text.as_bytes(),
            Sort::Phrase | Sort::Command => view.lower.as_bytes(),
        };
        let (mut tried, mut count) = (0, 0);
        for place in places {
            let left = MAX_TRIED - tried;
            let part = place.start..place.end.min(place.start + left);
            tried += part.len();
            for found in pattern.find_iter(&text[part.clone()]) {
                let range = part.start + found.start()..part.start + found.end();
                if range.is_empty() || rule.is_lifted(view, text, range.start, range.end) {
                    continue;
                }
                matches.found.push(Match { rule: index, range });
                count += 1;
                if count >= MAX_MATCHES {
                    matches.flood(index, rule);
                    return;
                }
            }
            if part.len() < place.len() {
                matches.flood(index, rule);
                return;
            }
        }
    }
}

impl Literals {
    fn new(rules: &[Rule], is_wanted: impl Fn(Sort) -> bool) -> Self {
        let mut words: Vec<String> = Vec::new();
        let mut owner = Vec::new();
        for (index, rule) in rules
            .iter()
            .enumerate()
            .filter(|(_, rule)| is_wanted(rule.sort))
        {
            for word in rule.words() {
                words.push(word.to_owned());
                owner.push(index);
            }
        }
        Self {
            small: automaton(&words, AhoCorasickKind::ContiguousNFA),
            fast: OnceLock::new(),
            seen: AtomicUsize::new(0),
            words,
            owner,
        }
    }

    fn automaton(&self) -> Option<&AhoCorasick> {
        if self.seen.fetch_add(1, Ordering::Relaxed) < MANY {
            return self.small.as_ref();
        }
        self.fast
            .get_or_init(|| automaton(&self.words, AhoCorasickKind::DFA))
            .as_ref()
            .or(self.small.as_ref())
    }

    /// For each rule whose words stand in the text the parts of the text to try, in order, none twice.
    fn places(&self, text: &[u8], rules: &[Rule]) -> Vec<(usize, Vec<Range<usize>>)> {
        let Some(automaton) = self.automaton() else {
            return Vec::new();
        };
        let mut by_rule: Vec<Vec<Range<usize>>> = vec![Vec::new(); rules.len()];
        for found in automaton.find_overlapping_iter(text) {
            let rule = self.owner[found.pattern().as_usize()];
            let (before, behind) = rules[rule].reach;
            let window =
                found.start().saturating_sub(before)..(found.end() + behind).min(text.len());
            match by_rule[rule].last_mut() {
                Some(last) if window.start <= last.end => last.end = last.end.max(window.end),
                _ => by_rule[rule].push(window),
            }
        }
        by_rule
            .into_iter()
            .enumerate()
            .filter(|(_, places)| !places.is_empty())
            .collect()
    }
}

fn automaton(words: &[String], kind: AhoCorasickKind) -> Option<AhoCorasick> {
    AhoCorasick::builder()
        .match_kind(MatchKind::Standard)
        .kind(Some(kind))
        .build(words)
        .ok()
}
