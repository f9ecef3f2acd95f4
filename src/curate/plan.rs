//! What the curator decides about each skill.

use std::collections::HashMap;
use std::path::PathBuf;

use crate::manage::Shield;
use crate::skill::lifecycle::State;
use crate::store::Orphan;
use crate::time::Timestamp;

/// What becomes of a skill.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Outcome {
    /// It is put into the archive.
    Archive,
    /// It would be, and a person is asked first.
    Ask,
    /// It is marked stale.
    MarkStale,
    /// It is active again.
    Reactivate,
    /// It stays as it is.
    Keep,
}

impl Outcome {
    /// All of them, in the order in which they are told.
    pub const ALL: [Self; 5] = [
        Self::Archive,
        Self::Ask,
        Self::MarkStale,
        Self::Reactivate,
        Self::Keep,
    ];

    /// A stable word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Archive => "archive",
            Self::Ask => "ask",
            Self::MarkStale => "stale",
            Self::Reactivate => "reactivate",
            Self::Keep => "keep",
        }
    }

    /// The state that follows; `None` where none does by itself.
    #[must_use]
    pub fn state(self) -> Option<State> {
        match self {
            Self::Archive => Some(State::Archived),
            Self::MarkStale => Some(State::Stale),
            Self::Reactivate => Some(State::Active),
            Self::Ask | Self::Keep => None,
        }
    }
}

/// The moment a skill's idle time counts from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Anchor {
    /// When; `None` where nothing is known.
    pub at: Option<Timestamp>,
    /// What it was: used, viewed, file read, changed, restored, absorbed, created, unknown.
    pub kind: &'static str,
}

/// What was decided about one skill.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decision {
    /// Its row.
    pub skill: i64,
    /// What people call it.
    pub name: String,
    /// Its folder.
    pub path: PathBuf,
    /// The same relative to its root.
    pub rel_path: String,
    /// The state it is in.
    pub state: State,
    /// What becomes of it.
    pub outcome: Outcome,
    /// Why, in a few words.
    pub reason: String,
    /// What its idle time counts from.
    pub anchor: Anchor,
    /// Whole days since then.
    pub idle_days: Option<i64>,
    /// What keeps the curator from it.
    pub shields: Vec<Shield>,
    /// What is odd about it.
    pub notices: Vec<String>,
}

/// What was decided about all of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// The moment it was decided for.
    pub now: Timestamp,
    /// One for every skill that is there and not archived, by outcome and name.
    pub decisions: Vec<Decision>,
    /// Records without a folder.
    pub orphans: Vec<Orphan>,
    /// What else is to be said.
    pub notices: Vec<String>,
}

impl Plan {
    /// How many skills have an outcome.
    #[must_use]
    pub fn count(&self, outcome: Outcome) -> usize {
        let is_it = |decision: &&Decision| decision.outcome == outcome;
        self.decisions.iter().filter(is_it).count()
    }

    /// Keeps skills after all, each for its reason.
    pub(super) fn keep(&mut self, reasons: &HashMap<i64, String>) {
        for decision in &mut self.decisions {
            if let Some(why) = reasons.get(&decision.skill) {
                decision.outcome = Outcome::Keep;
                decision.reason.clone_from(why);
            }
        }
        self.decisions
            .sort_by(|a, b| (a.outcome, &a.name, &a.path).cmp(&(b.outcome, &b.name, &b.path)));
    }

    /// What is not simply kept.
    pub fn due(&self) -> impl Iterator<Item = &Decision> {
        self.decisions
            .iter()
            .filter(|decision| decision.outcome != Outcome::Keep)
    }

    /// All of it in one line.
    #[must_use]
    pub fn summary(&self) -> String {
        let count = |outcome| self.count(outcome);
        if self.due().next().is_none() {
            return format!("nothing was due, {} kept", count(Outcome::Keep));
        }
        let mut words = vec![
            format!("{} archived", count(Outcome::Archive)),
            format!("{} marked stale", count(Outcome::MarkStale)),
            format!("{} reactivated", count(Outcome::Reactivate)),
            format!("{} kept", count(Outcome::Keep)),
        ];
        if count(Outcome::Ask) > 0 {
            words.insert(1, format!("{} asked about", count(Outcome::Ask)));
        }
        words.join(", ")
    }
}
