//! What a user says about rules: own ones, those that are switched off, findings that were accepted. Each with a reason.

use super::finding::{Class, Severity};
use super::rule::{self, Rule, rule};
use super::rules;

/// A rule of a user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnRule {
    /// Its name, `kind.what`.
    pub id: String,
    /// Kind of harm.
    pub class: Class,
    /// How bad a match is.
    pub severity: Severity,
    /// Words of which one stands in every match, lower case.
    pub near: Vec<String>,
    /// The pattern, over lower-case text.
    pub pattern: String,
    /// Whether it is about what is said, and not about what is run.
    pub is_phrase: bool,
    /// One sentence: what it is.
    pub say: String,
    /// What to do about it; empty for the usual.
    pub fix: String,
    /// Why it is there.
    pub reason: String,
}

/// What a user says about rules.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RuleSettings {
    /// Rules of the user.
    pub own: Vec<OwnRule>,
    /// Ids of rules that are switched off, each with the reason.
    pub off: Vec<(String, String)>,
    /// Fingerprints of findings that were accepted, each with the reason.
    pub accepted: Vec<(String, String)>,
}

impl RuleSettings {
    /// The rules in force.
    pub(super) fn rules(&self) -> Vec<Rule> {
        let mut all: Vec<Rule> = rules::all();
        all.extend(self.own.iter().map(OwnRule::rule));
        all.retain(|rule| !self.is_off(&rule.id));
        all
    }

    /// Whether a rule, or what is found without one, is switched off.
    pub(super) fn is_off(&self, id: &str) -> bool {
        self.off.iter().any(|(off, _)| off == id)
    }

    /// Why a finding was accepted.
    pub(super) fn accepted(&self, fingerprint: &str) -> Option<&str> {
        let found = self.accepted.iter().find(|(known, _)| known == fingerprint);
        found.map(|(_, reason)| reason.as_str())
    }
}

impl OwnRule {
    /// Says what is wrong with it; `None` for nothing.
    #[must_use]
    pub fn trouble(&self) -> Option<String> {
        if self.id.split('.').count() != 2 || self.id.contains(char::is_whitespace) {
            return Some(format!("`{}` is no id: write it as kind.what", self.id));
        }
        if let Some(word) = self.near.iter().find(|word| word.len() < 3) {
            return Some(format!(
                "`{word}` is too short a word to look for: at least 3 letters"
            ));
        }
        if self.near.is_empty() {
            return Some(
                "`near` is empty: name words of which one stands in every match".to_owned(),
            );
        }
        rule::compile(&self.pattern.to_lowercase())
            .err()
            .map(|error| {
                error
                    .to_string()
                    .lines()
                    .last()
                    .unwrap_or_default()
                    .trim_start_matches("error: ")
                    .to_owned()
            })
    }

    fn rule(&self) -> Rule {
        let own = rule(self.id.clone(), self.class, self.severity)
            .say(self.say.clone())
            .near_own(self.near.iter().map(|word| word.to_lowercase()).collect())
            .like(self.pattern.clone());
        let own = if self.is_phrase { own.phrase() } else { own };
        if self.fix.is_empty() {
            own
        } else {
            own.fix(self.fix.clone())
        }
    }
}

/// Ids of what is found without a row in the tables of rules.
pub(super) const BUILT_IN: &[(&str, &str)] = &[
    (
        "structure.unreadable-text",
        "What should be text and is none.",
    ),
    ("structure.packed-program", "A program in an archive."),
    (
        "supply.lock-host",
        "A lock file that names a host that is no registry.",
    ),
    ("obfuscation.opaque", "A long code that holds no text."),
    (
        "flow.auto-sent",
        "What the user works on is sent each time.",
    ),
    ("structure.broken-text", "Bytes that are no UTF-8."),
    ("structure.utf-16", "Text in UTF-16."),
    ("structure.hidden-file", "A hidden file."),
    (
        "structure.scan-ignore",
        "A file that asks scanners to pass over others.",
    ),
    ("structure.dead-link", "A link that leads to nothing."),
    (
        "structure.large-file",
        "A file too large to be looked into.",
    ),
    ("structure.unreadable", "A file that cannot be read."),
    ("structure.special-file", "A pipe, a socket, a device."),
    (
        "structure.opaque-executable",
        "An executable nobody can read.",
    ),
    ("structure.malware-test", "The antivirus test file."),
    ("structure.program", "A program for a machine."),
    ("structure.bytecode", "Compiled code."),
    ("structure.closed-archive", "An archive that is not opened."),
    ("structure.locked-archive", "An archive with a password."),
    ("structure.bomb", "An archive that fills the disk."),
    (
        "structure.archive-cut",
        "An archive that was not looked into to its end.",
    ),
    ("structure.nested-archive", "An archive within an archive."),
    ("structure.packed-code", "Code in an archive."),
    ("structure.cut", "More files than are looked at."),
    ("structure.many-files", "Very many files."),
    ("structure.large", "A very large skill."),
    ("structure.case-twin", "Two names that differ in case only."),
    ("traversal.link-out", "A link that leads out of the skill."),
    (
        "traversal.archive-out",
        "An archive that writes outside of where it is unpacked.",
    ),
    ("invisible.tags", "A text in tag characters."),
    ("invisible.selectors", "A text in variation selectors."),
    ("invisible.bidi-override", "A turned direction of writing."),
    (
        "invisible.bidi-embedding",
        "A direction of writing set within code.",
    ),
    ("invisible.filler", "Letters that show nothing."),
    (
        "invisible.zero-width",
        "Words broken up by characters without width.",
    ),
    (
        "invisible.look-alike",
        "Latin words with letters of another script.",
    ),
    (
        "obfuscation.too-much-encoded",
        "More that is encoded than is decoded.",
    ),
    (
        "obfuscation.flood",
        "The words of a rule in more places than are looked at.",
    ),
    ("supply.download-and-run", "A file that is fetched and run."),
    (
        "flow.secret-sent",
        "A secret that is read and data that is sent.",
    ),
    (
        "flow.private-sent",
        "What is the user's is sent in silence.",
    ),
    (
        "flow.persist-fetched",
        "Something that stays and comes from elsewhere.",
    ),
    ("flow.hidden-action", "Something foreign is run in silence."),
    ("flow.hidden-secret", "A secret is read in silence."),
    ("flow.hidden-persist", "Something is planted in silence."),
    ("flow.hidden-unguard", "A guard is switched off in silence."),
    ("flow.decoded-run", "Something is decoded and run."),
    ("flow.fetched-run", "Something is fetched and run."),
    (
        "flow.plant-unguard",
        "Agents are told that they need not ask.",
    ),
    (
        "flow.plant-send",
        "Agents are told to send what they work on.",
    ),
    (
        "flow.secret-sweep",
        "The secrets of several programs are read.",
    ),
];
