//! What follows from a verdict: who made a skill decides how far it is trusted, and the two together whether it is let
//! through, asked about or kept out.

use super::finding::{Class, Finding, Severity, Verdict};

/// How far a skill is trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Trust {
    /// It came with a client.
    Builtin,
    /// Its source is one the configuration trusts.
    Trusted,
    /// A person wrote it here.
    Own,
    /// An agent wrote it here, or changes it.
    AgentCreated,
    /// It is from elsewhere.
    Community,
}

impl Trust {
    /// All, most trusted first.
    pub const ALL: [Self; 5] = [
        Self::Builtin,
        Self::Trusted,
        Self::Own,
        Self::AgentCreated,
        Self::Community,
    ];

    /// The word for it in output and configuration.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Builtin => "builtin",
            Self::Trusted => "trusted",
            Self::Own => "own",
            Self::AgentCreated => "agent-created",
            Self::Community => "community",
        }
    }

    /// Reads the word; `None` for any other.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|trust| trust.as_str() == word)
    }

    /// By who a skill came from, as the database has it.
    #[must_use]
    pub fn of_origin(origin: &str) -> Self {
        match origin {
            "bundled" => Self::Builtin,
            "agent" => Self::AgentCreated,
            "hub" | "external" => Self::Community,
            _ => Self::Own,
        }
    }
}

/// What is done with a skill of a verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Answer {
    /// It goes through; what was found is told.
    Allow,
    /// A person is asked; where nobody can be, the answer is no.
    Ask,
    /// It does not go through.
    Block,
}

impl Answer {
    /// All, mildest first.
    pub const ALL: [Self; 3] = [Self::Allow, Self::Ask, Self::Block];

    /// The word for it in output and configuration.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Ask => "ask",
            Self::Block => "block",
        }
    }

    /// Reads the word; `None` for any other.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|answer| answer.as_str() == word)
    }
}

/// The table. Rows are trust, columns verdicts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrustPolicy {
    answers: [[Answer; 3]; 5],
}

impl Default for TrustPolicy {
    fn default() -> Self {
        use Answer::{Allow, Ask, Block};
        Self {
            answers: [
                [Allow, Allow, Allow],
                [Allow, Allow, Block],
                [Allow, Allow, Block],
                [Allow, Allow, Ask],
                [Allow, Block, Block],
            ],
        }
    }
}

impl TrustPolicy {
    /// Changes one cell.
    pub fn set(&mut self, trust: Trust, verdict: Verdict, answer: Answer) {
        self.answers[trust as usize][verdict as usize] = answer;
    }

    /// One cell.
    #[must_use]
    pub fn answer(&self, trust: Trust, verdict: Verdict) -> Answer {
        self.answers[trust as usize][verdict as usize]
    }

    /// What is done with what was found. Trust does not lift what no maker has a reason for: text nobody sees, code
    /// nobody can read, a secret that is sent, a link that leads out. What comes with a client is then treated as
    /// anything from elsewhere.
    #[must_use]
    pub fn answer_to(&self, trust: Trust, verdict: Verdict, findings: &[&Finding]) -> Answer {
        let own = self.answer(trust, verdict);
        let has_unexcused = findings.iter().any(|finding| {
            finding.severity == Severity::Critical
                && finding.accepted.is_none()
                && (finding.class == Class::Invisible
                    || finding.rule == "flow.secret-sent"
                    || finding.rule == "traversal.link-out"
                    || finding.class == Class::Obfuscation && !finding.seen.is_empty())
        });
        if has_unexcused && trust < Trust::Own {
            own.max(self.answer(Trust::Community, verdict))
        } else {
            own
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_the_one_that_is_written_down() {
        let policy = TrustPolicy::default();
        let row = |trust| Verdict::ALL.map(|verdict| policy.answer(trust, verdict).as_str());
        assert_eq!(row(Trust::Builtin), ["allow", "allow", "allow"]);
        assert_eq!(row(Trust::Trusted), ["allow", "allow", "block"]);
        assert_eq!(row(Trust::Own), ["allow", "allow", "block"]);
        assert_eq!(row(Trust::AgentCreated), ["allow", "allow", "ask"]);
        assert_eq!(row(Trust::Community), ["allow", "block", "block"]);
    }

    #[test]
    fn words_are_read_back() {
        for trust in Trust::ALL {
            assert_eq!(Trust::parse(trust.as_str()), Some(trust));
        }
        for answer in Answer::ALL {
            assert_eq!(Answer::parse(answer.as_str()), Some(answer));
        }
    }
}
