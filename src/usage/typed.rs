//! Commands somebody typed in Claude Code: a hook hears them without an id, the transcript tells them with
//! one. Whichever comes second finds the other, one to one.

use crate::error::Result;
use crate::store::{Added, Told, Tx, Typed, UsageEvent};

/// What the ids begin with under which a hook notes a typed command.
pub const HOOK_ID: &str = "claude-code:typed:";
/// How far a hook's clock and the transcript's may be apart for one typed command, milliseconds.
const WINDOW_MS: i64 = 60_000;

/// Adds a typed command, unless it is known from the other side: then the known event goes by this id, too.
/// `skills` are those the name may mean.
///
/// # Errors
/// [`crate::Error::Database`].
pub fn add_typed(tx: &Tx<'_>, event: &UsageEvent, skills: &[i64]) -> Result<Added> {
    if tx.has_event(&event.event_id)? {
        return tx.add_event(event);
    }
    let is_hook = event.event_id.starts_with(HOOK_ID);
    let known = tx.unclaimed_typed(&Typed {
        hook_id: HOOK_ID,
        told_by: if is_hook {
            Told::Transcript
        } else {
            Told::Hook
        },
        skill_ids: skills,
        called_name: &event.called_name,
        session_id: event.session_id.as_deref(),
        at: event.at,
        within_ms: WINDOW_MS,
    })?;
    let Some(of) = known else {
        return tx.add_event(event);
    };
    tx.add_alias(&event.event_id, &of)?;
    // The transcript knows which copy ran.
    tx.add_event(&UsageEvent {
        event_id: of,
        ..event.clone()
    })
}
