//! Brings the rows up to what a change did on disk.

use std::path::Path;

use super::plan::{Effect, Part, Plan};
use crate::error::Result;
use crate::library::Content;
use crate::library::write::ASIDE;
use crate::stop;
use crate::store::{Decision, Ending, NewTransition, Place, RootRow, Store, Tx};
use crate::sync::{self, Seen};
use crate::time::Timestamp;

/// Brings the rows up to what the files say now, and the change to its end.
pub(super) fn settle(store: &mut Store, plan: &Plan, change_id: i64, now: Timestamp) -> Result<()> {
    stop::point();
    let roots = store.roots()?;
    let mut seen: Vec<Option<Seen>> = Vec::with_capacity(plan.effects.len());
    for effect in &plan.effects {
        seen.push(match effect {
            Effect::Mirror {
                root_id, rel_path, ..
            } => match root_of(&roots, *root_id) {
                Some(root) => sync::look(&root.path, rel_path)?,
                None => None,
            },
            _ => None,
        });
    }
    let settled = store.append(|tx| {
        make_room(tx, plan, now)?;
        for (effect, seen) in plan.effects.iter().zip(&seen) {
            apply(tx, plan, change_id, &roots, (effect, seen.as_ref()), now)?;
        }
        tx.raise_generation()?;
        tx.mark_link_due()?;
        tx.settle_change(change_id, Ending::Applied)
    });
    match settled {
        // The files say what they shall say. Rows that will not follow are left to a walk of the whole root, so that
        // one change never stands in the way of everything else.
        Err(error) if error.is_constraint() => store.append(|tx| {
            for root in roots.iter().filter(|root| plan.roots.contains(&root.path)) {
                tx.forget_walk(root.id)?;
            }
            tx.raise_generation()?;
            tx.settle_change(change_id, Ending::Applied)
        })?,
        settled => settled?,
    }
    stop::point();
    Ok(())
}

/// Frees the places that skills come to: of those that move themselves, and of lives whose folder vanished.
fn make_room(tx: &Tx<'_>, plan: &Plan, now: Timestamp) -> Result<()> {
    for effect in &plan.effects {
        let (skill_id, root_id, rel_path) = match effect {
            Effect::Place {
                skill_id,
                root_id,
                rel_path,
            }
            | Effect::Revive {
                skill_id,
                root_id,
                rel_path,
            } => {
                let aside = format!("{ASIDE}moving-{skill_id}");
                let place = Place {
                    root_id: *root_id,
                    rel_path: &aside,
                };
                tx.move_skill(*skill_id, place)?;
                (Some(*skill_id), *root_id, rel_path)
            }
            Effect::Mirror {
                part,
                root_id,
                rel_path,
                born: Some(_),
            } => {
                let skill_id = plan.parts.get(*part).and_then(|part| part.skill_id);
                (skill_id, *root_id, rel_path)
            }
            _ => continue,
        };
        tx.yield_place(Place { root_id, rel_path }, skill_id, now)?;
    }
    Ok(())
}

fn root_of(roots: &[RootRow], id: i64) -> Option<&RootRow> {
    roots.iter().find(|root| root.id == id)
}

fn apply(
    tx: &Tx<'_>,
    plan: &Plan,
    change_id: i64,
    roots: &[RootRow],
    (effect, seen): (&Effect, Option<&Seen>),
    now: Timestamp,
) -> Result<()> {
    match effect {
        Effect::Mirror {
            part,
            root_id,
            born,
            ..
        } => {
            let (Some(part), Some(root), Some(seen)) =
                (plan.parts.get(*part), root_of(roots, *root_id), seen)
            else {
                // Gone since: the next sync tells of that.
                return Ok(());
            };
            mirror(tx, root, part, (seen, born.as_ref()), now)
        }
        Effect::Place {
            skill_id,
            root_id,
            rel_path,
        } => {
            tx.forget_place(*skill_id)?;
            tx.move_skill(
                *skill_id,
                Place {
                    root_id: *root_id,
                    rel_path,
                },
            )
        }
        Effect::State {
            skill_id,
            to,
            reason,
            anchor,
            heir,
        } => {
            let from = tx.state_of(*skill_id)?;
            if from == *to {
                return Ok(());
            }
            let transition = NewTransition {
                skill_id: *skill_id,
                from: &from,
                to,
                reason,
                anchor: anchor.as_deref(),
                heir: *heir,
            };
            tx.transition_in(change_id, &plan.actor, &transition, now)
        }
        Effect::Booked { run } => tx.book_curator_run(*run, Some(change_id), now),
        Effect::ArchivedFrom { skill_id, from } => {
            tx.note_archived(*skill_id, from.as_deref(), now)
        }
        Effect::End { skill_id } => {
            tx.forget_place(*skill_id)?;
            tx.end_skill(*skill_id, now)
        }
        Effect::Revive {
            skill_id,
            root_id,
            rel_path,
        } => {
            tx.forget_place(*skill_id)?;
            tx.revive_skill(*skill_id)?;
            tx.move_skill(
                *skill_id,
                Place {
                    root_id: *root_id,
                    rel_path,
                },
            )
        }
        Effect::Approve { proposal } => {
            tx.decide_proposal(*proposal, Decision::Approved(change_id), now)
        }
        Effect::Protect { skill_id } => tx.mark_edited_by_hand(*skill_id, now),
    }
}

fn mirror(
    tx: &Tx<'_>,
    root: &RootRow,
    part: &Part,
    (seen, born): (&Seen, Option<&(String, String)>),
    now: Timestamp,
) -> Result<()> {
    let mut is_edited = differs(part, seen);
    let skill_id = match (part.skill_id, born) {
        (Some(skill_id), _) => {
            // A skill that only moves says what it said, unless somebody wrote into it just before.
            let is_only_moved = part.to.is_some() && part.from.is_some() && part.files.is_empty();
            is_edited |= is_only_moved && tx.tree_hash_of(skill_id)?.as_deref() != seen.tree_hash();
            sync::mirror(tx, root, seen, skill_id)?;
            skill_id
        }
        (None, Some((origin, evidence))) => {
            let skill_id = sync::mirror_new(tx, root, seen, (origin, evidence), now)?;
            if let Some(revision_id) = part.revision_id {
                tx.name_part(revision_id, skill_id)?;
            }
            skill_id
        }
        (None, None) => return Ok(()),
    };
    let folder = seen.folder(root);
    for file in &part.files {
        let inner = match file.path.strip_prefix('/') {
            None => Some(file.path.as_str()),
            Some(_) => Path::new(&file.path)
                .strip_prefix(&folder)
                .ok()
                .and_then(Path::to_str),
        };
        if let Some(inner) = inner {
            let hash = file.after.as_ref().and_then(Content::hash);
            sync::note_kept(tx, seen, skill_id, inner, hash)?;
        }
    }
    // Somebody was at it in the very moment: the difference is theirs, and the next sync keeps it.
    if is_edited {
        tx.mark_edited_by_hand(skill_id, now)?;
        tx.queue_capture(skill_id)?;
    }
    Ok(())
}

/// Whether the skill file says something else than what was written.
fn differs(part: &Part, seen: &Seen) -> bool {
    let name = seen.unit().skill_entry().map(|entry| entry.name.as_str());
    let written = part
        .files
        .iter()
        .find(|file| Some(file.path.as_str()) == name);
    written.is_some_and(|file| file.after.as_ref().and_then(Content::hash) != seen.content_hash())
}
