//! What a scan says: how bad, of what kind, where, and through which form of the text it was seen.

use std::borrow::Cow;

/// How bad something is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Seen, and no reason to stop by itself.
    Info,
    /// Worth knowing.
    Low,
    /// Worth a look; several of different kinds are a reason to stop.
    Medium,
    /// A reason to stop and read.
    High,
    /// Nobody wants this in a text that a model obeys.
    Critical,
}

impl Severity {
    /// All, mildest first.
    pub const ALL: [Self; 5] = [
        Self::Info,
        Self::Low,
        Self::Medium,
        Self::High,
        Self::Critical,
    ];

    /// The word for it in output and configuration.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Info => "info",
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
            Self::Critical => "critical",
        }
    }

    /// Reads the word; `None` for any other.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|level| level.as_str() == word)
    }

    /// So many steps worse (or milder, if negative); never beyond the ends.
    #[must_use]
    pub fn step(self, by: i8) -> Self {
        let at = (self as i8).saturating_add(by).clamp(0, 4);
        Self::ALL[usize::from(at.unsigned_abs())]
    }
}

/// What kind of harm a finding is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Class {
    /// Data leaves the machine.
    Exfiltration,
    /// Text that takes over the model.
    Injection,
    /// Files or history are destroyed.
    Destructive,
    /// Something stays: shell start files, cron, services, agent configuration, hooks.
    Persistence,
    /// Reverse shells, tunnels, raw addresses, shorteners.
    Network,
    /// Code or text is hidden from a reader.
    Obfuscation,
    /// More rights than given; guards switched off.
    Privilege,
    /// Code of strangers is fetched, installed or run.
    SupplyChain,
    /// Secrets are asked for, read or stand in the text.
    Credential,
    /// Paths and links that lead out of the skill.
    Traversal,
    /// A person or the model is talked into something, or kept in the dark.
    Social,
    /// Characters that nobody sees.
    Invisible,
    /// Machine time, memory or money is used up.
    Resource,
    /// What files a skill is made of.
    Structure,
}

impl Class {
    /// All, in the order in which they are listed.
    pub const ALL: [Self; 14] = [
        Self::Exfiltration,
        Self::Injection,
        Self::Destructive,
        Self::Persistence,
        Self::Network,
        Self::Obfuscation,
        Self::Privilege,
        Self::SupplyChain,
        Self::Credential,
        Self::Traversal,
        Self::Social,
        Self::Invisible,
        Self::Resource,
        Self::Structure,
    ];

    /// The word for it in output and configuration.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Exfiltration => "exfiltration",
            Self::Injection => "injection",
            Self::Destructive => "destructive",
            Self::Persistence => "persistence",
            Self::Network => "network",
            Self::Obfuscation => "obfuscation",
            Self::Privilege => "privilege",
            Self::SupplyChain => "supply-chain",
            Self::Credential => "credential",
            Self::Traversal => "traversal",
            Self::Social => "social-engineering",
            Self::Invisible => "invisible-text",
            Self::Resource => "resource",
            Self::Structure => "structure",
        }
    }

    /// Reads the word; `None` for any other.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|class| class.as_str() == word)
    }
}

/// What a scan comes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Verdict {
    /// Nothing that is a reason to stop.
    #[default]
    Safe,
    /// Somebody should read it first.
    Caution,
    /// It hurts whoever uses it.
    Dangerous,
}

impl Verdict {
    /// All, mildest first.
    pub const ALL: [Self; 3] = [Self::Safe, Self::Caution, Self::Dangerous];

    /// The word for it in output and in the database.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Safe => "safe",
            Self::Caution => "caution",
            Self::Dangerous => "dangerous",
        }
    }

    /// Reads the word; `None` for any other.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|verdict| verdict.as_str() == word)
    }
}

/// Something that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// Id of the rule.
    pub rule: Cow<'static, str>,
    /// Kind of harm.
    pub class: Class,
    /// How bad it is here: what the rule says, moved by the context.
    pub severity: Severity,
    /// How bad the rule says it is.
    pub stated: Severity,
    /// Path relative to the skill, with `!/` before a member of an archive.
    pub path: String,
    /// Line, from 1; `None` where it is about the whole file.
    pub line: Option<u32>,
    /// The words it is about, as they read in the form in which they were seen; at most 160 characters.
    pub evidence: String,
    /// Through which forms of the text it was seen, outermost first; empty for the text as it stands.
    pub seen: Vec<Cow<'static, str>>,
    /// Why the severity was moved.
    pub context: Vec<Cow<'static, str>>,
    /// One sentence: what it is.
    pub message: Cow<'static, str>,
    /// What to do about it.
    pub fix: Cow<'static, str>,
    /// Whether it joins several other findings to one harm.
    pub is_joined: bool,
    /// What a person accepts when accepting this one: the rule as it reads now, the file and the words, but not where
    /// in the file they stand. 16 hexadecimal digits.
    pub fingerprint: String,
    /// All of the words, where `evidence` is cut; empty else. For the fingerprint.
    pub full: String,
    /// Why a person accepted it; `None` where nobody did. An accepted finding is told, and no part of the verdict.
    pub accepted: Option<String>,
}

impl Finding {
    /// Works out the fingerprint. `spec` is everything that decides what the rule finds.
    pub(super) fn stamp(&mut self, spec: &str) {
        let all = if self.full.is_empty() {
            &self.evidence
        } else {
            &self.full
        };
        let words: Vec<&str> = all.split_whitespace().collect();
        let key = format!("{}\0{spec}\0{}\0{}", self.rule, self.path, words.join(" "));
        self.fingerprint = crate::hash::hash_of(key.as_bytes());
        self.fingerprint.truncate(16);
    }

    /// `path:line`, or the path alone.
    #[must_use]
    pub fn place(&self) -> String {
        match self.line {
            Some(line) => format!("{}:{line}", self.path),
            None => self.path.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_stop_at_the_ends() {
        assert_eq!(Severity::High.step(2), Severity::Critical);
        assert_eq!(Severity::Low.step(-5), Severity::Info);
        assert_eq!(Severity::Critical.step(-1), Severity::High);
    }

    #[test]
    fn words_are_read_back() {
        for severity in Severity::ALL {
            assert_eq!(Severity::parse(severity.as_str()), Some(severity));
        }
        for class in Class::ALL {
            assert_eq!(Class::parse(class.as_str()), Some(class));
        }
        for verdict in Verdict::ALL {
            assert_eq!(Verdict::parse(verdict.as_str()), Some(verdict));
        }
    }
}
