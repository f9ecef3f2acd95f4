//! What a plan has to pass before it is made: ownership for every skill it touches.

use super::draft::Draft;
use super::ownership::{Policy, Reach, Verdict, Wish, decide};
use super::plan::Action;
use super::request::{Request, Who};
use crate::error::{Error, Result};
use crate::store::SkillFacts;

/// Asks ownership about every skill a plan touches. Returns why a person has to decide.
///
/// # Errors
/// [`Error::Denied`] with the rule that says no.
pub(super) fn judge(
    who: &Who,
    request: &Request,
    draft: &Draft,
    policy: &Policy,
) -> Result<Option<String>> {
    let mut asks = None;
    for (reach, skill) in &draft.wishes {
        for action in actions(request, *reach) {
            let wish = Wish {
                actor: who.actor,
                action,
                reach: *reach,
                skill: skill.as_ref(),
                is_writable: skill
                    .as_ref()
                    .map_or(draft.is_writable, |skill: &SkillFacts| skill.is_writable),
                reverses: draft.reverses.as_deref(),
                leaves_root: leaves_root(skill.as_ref()),
            };
            match decide(wish, policy) {
                Verdict::Allow => {}
                Verdict::Propose(why) => asks = asks.or(Some(why)),
                Verdict::Refuse { code, why, hint } => {
                    return Err(Error::Denied {
                        code,
                        message: why,
                        hint,
                    });
                }
            }
        }
    }
    Ok(asks)
}

/// Whether a skill's folder really lies outside of its root.
pub(super) fn leaves_root(skill: Option<&SkillFacts>) -> bool {
    let Some(skill) = skill else { return false };
    match (skill.path().canonicalize(), skill.root.canonicalize()) {
        (Ok(path), Ok(root)) => !path.starts_with(root),
        // What is not there is told by whoever opens it.
        (Err(_), _) | (_, Err(_)) => false,
    }
}

/// What a request is, and what it comes to: a rule about either counts.
fn actions(request: &Request, reach: Reach) -> Vec<Action> {
    let mut actions = vec![request.action()];
    match (request, reach) {
        (
            Request::Archive {
                as_delete: true, ..
            },
            _,
        )
        | (Request::Undo { .. }, Reach::RemoveForGood) => {
            actions.push(Action::Delete);
        }
        (Request::Undo { .. } | Request::Merge { .. }, Reach::Remove) => {
            actions.push(Action::Archive);
        }
        _ => {}
    }
    actions
}
