//! Tokens that Claude Code credits to a skill.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::super::found::{Found, FoundCost};
use super::{Call, ClaudeState, ID, text};

/// Most tokens that are believed.
const MOST_TOKENS: u64 = 1_000_000_000_000;
/// What a message cost, written down until its use is handed over.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct HeldCost {
    message_id: String,
    event_id: String,
    name: String,
    session: Option<String>,
    at: Option<String>,
    tokens_in: u64,
    tokens_out: u64,
}

impl ClaudeState {
    /// Tokens the client itself credits to a skill. The lines of one message repeat them.
    pub(super) fn cost(&mut self, value: &Value, out: &mut Vec<Found>) {
        let Some(skill) = text(value, "attributionSkill") else {
            return;
        };
        let name = match text(value, "attributionPlugin") {
            Some(plugin) if !skill.contains(':') => format!("{plugin}:{skill}"),
            _ => skill,
        };
        let usage = value.pointer("/message/usage");
        let count = |key: &str| {
            usage
                .and_then(|usage| usage.get(key))
                .and_then(Value::as_u64)
                .unwrap_or_default()
                .min(MOST_TOKENS)
        };
        let message = value.get("message");
        let Some(id) = message.and_then(|message| text(message, "id")) else {
            return;
        };
        if usage.is_none() {
            return;
        }
        let (tokens_in, tokens_out) = (
            count("input_tokens") + count("cache_creation_input_tokens"),
            count("output_tokens"),
        );
        let used = self.recent.iter().find(|(used, _)| *used == name);
        let waits = |call: &&Call| call.name == name && !call.is_told;
        let (message_id, session, at) = (
            format!("{ID}{id}"),
            text(value, "sessionId"),
            self.time(value),
        );
        if let (None, Some(call)) = (used, self.calls.iter().rev().find(waits)) {
            let event_id = format!("{ID}{}", call.tool_use_id);
            self.held.push(HeldCost {
                message_id,
                event_id,
                name,
                session,
                at,
                tokens_in,
                tokens_out,
            });
            return;
        }
        out.push(Found::Cost(FoundCost {
            message_id,
            event_id: used.map(|(_, event)| event.clone()),
            name,
            session,
            at,
            tokens_in,
            tokens_out,
        }));
    }

    /// Hands over what a call cost, which comes after the call itself.
    pub(super) fn tell_costs(&mut self, tool_use_id: &str, out: &mut Vec<Found>) {
        let event_id = format!("{ID}{tool_use_id}");
        let (now, later): (Vec<HeldCost>, Vec<HeldCost>) = std::mem::take(&mut self.held)
            .into_iter()
            .partition(|cost| cost.event_id == event_id);
        self.held = later;
        out.extend(now.into_iter().map(|cost| {
            Found::Cost(FoundCost {
                message_id: cost.message_id,
                event_id: Some(cost.event_id),
                name: cost.name,
                session: cost.session,
                at: cost.at,
                tokens_in: cost.tokens_in,
                tokens_out: cost.tokens_out,
            })
        }));
    }
}
