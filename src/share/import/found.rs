//! What readers of histories hand over, whichever client's history it is.

use crate::store::{Trigger, UseKind};

/// A use that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FoundUse {
    /// The id by which it is counted once.
    pub event_id: String,
    /// The name as it was called.
    pub name: String,
    /// The folder it was loaded from.
    pub path: Option<String>,
    /// What was done.
    pub kind: UseKind,
    /// What reached for it.
    pub trigger: Trigger,
    /// The session.
    pub session: Option<String>,
    /// The subagent.
    pub subagent: Option<String>,
    /// How the session was started.
    pub channel: Option<String>,
    /// The folder that was worked in.
    pub project: Option<String>,
    /// When, as the client wrote it.
    pub at: Option<String>,
    /// How it ended.
    pub ok: Option<bool>,
    /// What it was called with.
    pub args: Option<String>,
    /// For a file read: which.
    pub file: Option<String>,
    /// Whether it was told before, without its folder.
    pub is_again: bool,
}

/// Tokens of one message that a client credits to a skill.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FoundCost {
    /// The message's id.
    pub message_id: String,
    /// The use it belongs to.
    pub event_id: Option<String>,
    /// The skill as the client calls it.
    pub name: String,
    /// The session.
    pub session: Option<String>,
    /// When, as the client wrote it.
    pub at: Option<String>,
    /// Tokens read, without what came from a cache.
    pub tokens_in: u64,
    /// Tokens written.
    pub tokens_out: u64,
}

/// Something found in a history.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Found {
    /// A use.
    Use(Box<FoundUse>),
    /// What is a use if its folder turns out to be a skill's.
    Candidate(Box<FoundUse>),
    /// How a use ended that was handed over before.
    Outcome(String, bool),
    /// What a message cost.
    Cost(FoundCost),
}
