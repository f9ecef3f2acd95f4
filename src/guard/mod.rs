//! Looks at a skill as it lies on disk and says what in it could hurt: what is read, in which forms, by which rules. What
//! follows from a verdict is policy, and decided by `manage`.
//!
//! The way of a text: bundle → text → views (folded, running text, shell, code, decoded) → rules → context → flow →
//! verdict. Everything is linear in the text and bounded; what is not looked into is a finding.

mod archive;
pub mod bundle;
mod context;
mod context_words;
mod download;
pub mod finding;
mod flow;
mod hidden;
mod host;
mod kinds;
mod known_hosts;
mod markdown;
pub mod opinion;
pub mod policy;
mod rule;
mod rules;
mod ruleset;
mod scan;
mod scan_parts;
mod settings;
mod structure;
mod text;
mod threads;
mod topic;
mod troubles;
mod verdict;
mod view;

use std::collections::HashMap;

pub use bundle::{Bundle, Staged};
pub use finding::{Class, Finding, Severity, Verdict};
pub use policy::{Answer, Trust, TrustPolicy};
pub use settings::{OwnRule, RuleSettings};
pub use verdict::verdict;

use ruleset::RuleSet;

/// Raised when the engine finds other things in the same text with the same rules.
const ENGINE: u32 = 1;

/// What a scan came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// What it comes to.
    pub verdict: Verdict,
    /// All findings, worst first.
    pub findings: Vec<Finding>,
    /// SHA-256 over all that was looked at.
    pub hash: String,
    /// Files that were looked at.
    pub files: usize,
    /// Bytes that were looked at.
    pub bytes: u64,
}

/// Rules, ready to look at skills.
pub struct Guard {
    rules: RuleSet,
    settings: RuleSettings,
    specs: HashMap<String, String>,
    version: String,
}

/// What a rule is, for a listing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleLine {
    /// Its name.
    pub id: String,
    /// Kind of harm and severity; `None` where it depends on what is found.
    pub kind: Option<(Class, Severity)>,
    /// One sentence.
    pub say: String,
    /// Why it is switched off; `None` where it is in force.
    pub off: Option<String>,
}

impl Guard {
    /// Makes the rules ready: those that come with the program, and what a user says about them.
    #[must_use]
    pub fn new(settings: RuleSettings) -> Self {
        let rules = RuleSet::new(settings.rules());
        let mut spec = format!("{ENGINE}\n{settings:?}\n");
        let mut specs = HashMap::new();
        for rule in rules.rules() {
            let own = rule.spec();
            spec.push_str(&own);
            spec.push('\n');
            specs.insert(rule.id.to_string(), own);
        }
        let mut version = crate::hash::hash_of(spec.as_bytes());
        version.truncate(12);
        Self {
            rules,
            settings,
            specs,
            version,
        }
    }

    /// Names the rules and what is said about them: a verdict holds as long as content and rules are the same.
    #[must_use]
    pub fn version(&self) -> &str {
        &self.version
    }

    /// Looks at a skill.
    #[must_use]
    pub fn scan(&self, bundle: &Bundle) -> Report {
        let mut findings = scan::scan(&self.rules, bundle);
        findings.retain(|finding| !self.settings.is_off(&finding.rule));
        for finding in &mut findings {
            let spec = self.specs.get(&*finding.rule).map_or("", String::as_str);
            // What is said of a whole file is said of these bytes.
            let bytes = match finding.line {
                None => bundle.hash_of(&finding.path),
                Some(_) => String::new(),
            };
            finding.stamp(&format!("{spec}{bytes}"));
            finding.accepted = self
                .settings
                .accepted(&finding.fingerprint)
                .map(str::to_owned);
        }
        Report {
            verdict: verdict(&findings),
            findings,
            hash: bundle.hash(),
            files: bundle.entries.len(),
            bytes: bundle.size(),
        }
    }

    /// All rules, those that are switched off too.
    #[must_use]
    pub fn lines(&self) -> Vec<RuleLine> {
        let off = |id: &str| {
            let found = self.settings.off.iter().find(|(off, _)| off == id);
            found.map(|(_, reason)| reason.clone())
        };
        let mut tables = rules::all();
        tables.retain(|rule| off(&rule.id).is_some());
        let rows = self
            .rules
            .rules()
            .iter()
            .chain(&tables)
            .map(|rule| RuleLine {
                id: rule.id.to_string(),
                kind: Some((rule.class, rule.severity)),
                say: rule.say.to_string(),
                off: off(&rule.id),
            });
        let others = settings::BUILT_IN.iter().map(|(id, say)| RuleLine {
            id: (*id).to_owned(),
            kind: None,
            say: (*say).to_owned(),
            off: off(id),
        });
        let mut lines: Vec<RuleLine> = rows.chain(others).collect();
        lines.sort_by(|one, other| one.id.cmp(&other.id));
        lines
    }
}

impl Default for Guard {
    fn default() -> Self {
        Self::new(RuleSettings::default())
    }
}

impl std::fmt::Debug for Guard {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "Guard({})", self.version)
    }
}

/// Whether a rule of this name is known.
#[must_use]
pub fn is_rule(id: &str) -> bool {
    rules::all().iter().any(|rule| rule.id == id)
        || settings::BUILT_IN.iter().any(|(known, _)| *known == id)
}

/// What is in `report` and was not in `known`, or is worse than it was there, or stands there once more: what a change
/// brings.
#[must_use]
pub fn news<'r>(report: &'r Report, known: &Report) -> Vec<&'r Finding> {
    let mut before: HashMap<&str, Vec<Severity>> = HashMap::new();
    for finding in &known.findings {
        before
            .entry(&finding.fingerprint)
            .or_default()
            .push(finding.severity);
    }
    let mut is_new = |finding: &Finding| {
        let Some(known) = before.get_mut(finding.fingerprint.as_str()) else {
            return true;
        };
        match known
            .iter()
            .position(|severity| *severity >= finding.severity)
        {
            Some(at) => {
                known.swap_remove(at);
                false
            }
            None => true,
        }
    };
    report
        .findings
        .iter()
        .filter(|finding| is_new(finding))
        .collect()
}

#[cfg(test)]
mod tests;
