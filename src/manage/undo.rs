//! Takes a change back. What stands there now decides: where nothing was touched since, what stood there before
//! comes back; where other lines were, both are kept; where the same lines were, nothing is done.

use std::path::{Path, PathBuf};

use super::draft::{Draft, movable_folder, read_tree, real_folder};
use super::ownership::Reach;
use super::places::{add_move, files_of, is_taken, remove_for_good};
use super::plan::{Effect, PartFile};
use super::revert::{held, is, reverted, reverted_file};
use super::step::Step;
use super::way_back;
use crate::error::{Error, Result};
use crate::library::{TreeEntry, is_in_archive};
use crate::store::{ChangePart, ChangeRow, SkillFacts, Store};

/// What a planner of an undo knows.
pub(super) struct Undoing<'a> {
    pub(super) store: &'a Store,
    pub(super) change: &'a ChangeRow,
    /// The skills it touched, as they are now.
    pub(super) facts: &'a [SkillFacts],
}

pub(super) fn denied(code: &'static str, message: String, hint: Option<String>) -> Error {
    Error::Denied {
        code,
        message,
        hint,
    }
}

/// Refuses what cannot be taken back whatever the files say.
///
/// # Errors
/// [`Error::Denied`].
pub(super) fn check(store: &Store, change: &ChangeRow) -> Result<()> {
    let id = change.id;
    if let Some(by) = change.undone_by {
        return Err(denied(
            "undone-already",
            format!("change {id} is undone already, by change {by}"),
            Some(format!("`skilldb undo {by}` brings it back")),
        ));
    }
    if change.outcome != "applied" {
        return Err(denied(
            "not-applied",
            format!("change {id} changed nothing: it is {}", change.outcome),
            None,
        ));
    }
    let is_whole = |part: &ChangePart| part.from.is_some() || part.to.is_some();
    let has_bytes = |part: &ChangePart| part.files.iter().any(|file| file.moved_from.is_none());
    let is_something = change
        .parts
        .iter()
        .any(|part| is_whole(part) || has_bytes(part));
    let has_states = || -> Result<bool> {
        Ok(change.action != "external" && !store.states_changed_by(id)?.is_empty())
    };
    if !is_something && !has_states()? {
        return Err(denied(
            "nothing-to-undo",
            format!(
                "change {id} noted what happened elsewhere; it has nothing that could be taken back"
            ),
            None,
        ));
    }
    Ok(())
}

/// Plans it.
///
/// # Errors
/// [`Error::Clash`], [`Error::Denied`], [`Error::NotKept`], [`Error::Io`].
pub(super) fn undo(mut draft: Draft, asked: &Undoing<'_>) -> Result<Draft> {
    check(asked.store, asked.change)?;
    if let (Some(to), Some(from)) = (asked.change.snapshot, asked.change.from_snapshot) {
        return way_back::between(draft, asked.store, (to, from), Some(asked.change));
    }
    draft.plan.undoes = Some(asked.change.id);
    draft.reverses = Some(asked.change.actor.clone());
    let states = asked.store.states_changed_by(asked.change.id)?;
    for part in asked.change.parts.iter().rev() {
        let facts = part
            .skill
            .and_then(|id| asked.facts.iter().find(|facts| facts.id == id));
        let is_gone = facts.is_some_and(|facts| facts.has_ended);
        let is_only_named = is_naming(asked) && part.from.is_none() && part.to.is_none();
        if let (Some(facts), true, true) = (facts, is_gone, is_only_named) {
            draft.notes.push(format!(
                "`{}` was removed since: what named the skill there is left out",
                facts.name
            ));
            continue;
        }
        if let (Some(facts), true, false) =
            (facts, is_gone, part.from.is_some() && part.to.is_none())
        {
            return Err(denied(
                "skill-gone",
                format!(
                    "`{}` was removed since change {}",
                    facts.name, asked.change.id
                ),
                Some(format!(
                    "undo its removal first: `skilldb log '#{}'` shows it",
                    facts.id
                )),
            ));
        }
        match (facts, &part.from, &part.to) {
            (Some(facts), None, Some(_)) => unmake(&mut draft, asked, part, facts)?,
            (Some(facts), Some(from), None) => {
                bring_back(&mut draft, asked, part, (facts, Path::new(from)))?;
            }
            (Some(facts), Some(from), Some(to)) => {
                move_back(
                    &mut draft,
                    asked,
                    part,
                    (facts, Path::new(from), Path::new(to)),
                )?;
            }
            (Some(facts), None, None) => files_back(&mut draft, asked, part, facts)?,
            (None, ..) => outside_back(&mut draft, asked, part)?,
        }
        let Some(facts) = facts else { continue };
        let is_moved = part.from.is_some() && part.to.is_some();
        if let Some((from, to)) = states
            .get(&facts.id)
            .filter(|_| is_moved || part.to.is_none())
        {
            state_back(&mut draft, asked, part, facts, (from, to))?;
        }
    }
    let is_state = |effect: &Effect| matches!(effect, Effect::State { .. });
    if draft.plan.steps.is_empty() && !draft.plan.effects.iter().any(is_state) {
        return Err(denied(
            "no-change",
            format!(
                "what change {} did is not there any more: nothing to take back",
                asked.change.id
            ),
            None,
        ));
    }
    Ok(draft)
}

/// Puts a skill back into the state it was in. A state that went on since stays.
fn state_back(
    draft: &mut Draft,
    asked: &Undoing<'_>,
    part: &ChangePart,
    facts: &SkillFacts,
    (from, to): (&str, &str),
) -> Result<()> {
    if facts.state != to || from == "missing" {
        return Ok(());
    }
    let is_only_state = part.from.is_none() && part.to.is_none() && part.files.is_empty();
    if is_only_state {
        draft.add_untouched(facts, title(asked), Reach::Write);
    }
    // Whatever had absorbed it has absorbed it again.
    let heir = match from {
        "archived" => asked.store.heir_before(facts.id, asked.change.id)?,
        _ => None,
    };
    if let Some(heir) = heir {
        check_heir(asked, facts, heir)?;
    }
    draft.plan.effects.push(Effect::State {
        skill_id: facts.id,
        to: from.to_owned(),
        reason: format!("change {} undone", asked.change.id),
        anchor: None,
        heir,
    });
    Ok(())
}

/// Whether the change only rewrote names in files outside of skills.
fn is_naming(asked: &Undoing<'_>) -> bool {
    matches!(asked.change.action.as_str(), "rename" | "merge")
}

/// Refuses to give a skill back to what is archived or removed itself: nobody would have its text.
fn check_heir(asked: &Undoing<'_>, facts: &SkillFacts, heir: i64) -> Result<()> {
    let heir = asked.store.skill_facts(heir)?;
    if heir.state != "archived" && !heir.has_ended {
        return Ok(());
    }
    Err(denied(
        "heir-archived",
        format!(
            "`{}` would be part of `{}` again, which is not live",
            facts.name, heir.name
        ),
        Some(format!(
            "`skilldb restore '#{}'` brings that back first",
            heir.id
        )),
    ))
}

fn title(asked: &Undoing<'_>) -> String {
    format!(
        "{} of change {} undone",
        asked.change.action.replace('_', " "),
        asked.change.id
    )
}

/// Removes a skill that the change made, if nobody changed it since.
fn unmake(
    draft: &mut Draft,
    asked: &Undoing<'_>,
    part: &ChangePart,
    facts: &SkillFacts,
) -> Result<()> {
    let path = movable_folder(facts)?;
    let entries = read_tree(&mut draft.plan, &path)?;
    let differs = |entry: &&TreeEntry| {
        let Some(content) = &entry.content else {
            return false;
        };
        let file = part.files.iter().find(|file| file.path == entry.path);
        !file.is_some_and(|file| is(&file.after, Some(content)))
    };
    let changed: Vec<&str> = entries
        .iter()
        .filter(differs)
        .map(|entry| entry.path.as_str())
        .collect();
    if !changed.is_empty() {
        return Err(denied(
            "changed-since",
            format!(
                "`{}` was changed since change {} made it: {}",
                facts.name,
                asked.change.id,
                changed.join(", ")
            ),
            Some(format!(
                "undo those changes first (`skilldb log {0}`), or `skilldb archive {0}`",
                facts.name
            )),
        ));
    }
    remove_for_good(draft, facts, path, entries, title(asked));
    Ok(())
}

/// Brings a skill back that the change removed.
fn bring_back(
    draft: &mut Draft,
    asked: &Undoing<'_>,
    part: &ChangePart,
    (facts, path): (&SkillFacts, &Path),
) -> Result<()> {
    if !facts.has_ended {
        return Err(denied(
            "not-removed",
            format!(
                "`{}` is there: change {} did not remove it for good",
                facts.name, asked.change.id
            ),
            None,
        ));
    }
    // A life that ended in another library comes back into this one's root.
    let here = facts.path();
    let path = match relative(facts, path) {
        Ok(_) => path,
        Err(_) => here.as_path(),
    };
    let rel_path = relative(facts, path)?;
    is_taken(asked.store, facts, path)?;
    let mut entries = Vec::new();
    for file in &part.files {
        if let Some(folder) = file.path.strip_suffix('/') {
            entries.push(TreeEntry {
                path: folder.to_owned(),
                content: None,
            });
            continue;
        }
        let Some((content, bytes)) = held(asked.store, &file.before, None)? else {
            continue;
        };
        if let Some(hash) = content.hash() {
            draft.plan.keep(hash, bytes);
        }
        entries.push(TreeEntry {
            path: file.path.clone(),
            content: Some(content),
        });
    }
    entries.sort_by(|a, b| a.path.cmp(&b.path));
    let number = draft.add_skill(facts, title(asked), Reach::Write);
    if let Some(new) = draft.plan.parts.get_mut(number) {
        new.to = Some(path.to_path_buf());
        new.files = files_of(&entries, false);
    }
    draft.plan.steps.push(Step::Tree {
        path: path.to_path_buf(),
        before: None,
        after: Some(entries),
        keep: facts.root.clone(),
    });
    draft.plan.effects.push(Effect::Revive {
        skill_id: facts.id,
        root_id: facts.root_id,
        rel_path: rel_path.clone(),
    });
    draft.add_mirror(number, facts.root_id, &rel_path);
    Ok(())
}

/// Moves a skill back to where it was before the change, and its files' text with it.
fn move_back(
    draft: &mut Draft,
    asked: &Undoing<'_>,
    part: &ChangePart,
    (facts, from, to): (&SkillFacts, &Path, &Path),
) -> Result<()> {
    let path = movable_folder(facts)?;
    if path != to && asked.change.source.is_some() {
        return Err(denied(
            "made-elsewhere",
            format!(
                "change {} moved `{}` in another library, to {}",
                asked.change.id,
                facts.name,
                to.display()
            ),
            Some(format!(
                "`skilldb rename {}` gives it another name here",
                facts.name
            )),
        ));
    }
    if path != to {
        return Err(denied(
            "moved-since",
            format!(
                "`{}` was moved since change {}: it lies in {}",
                facts.name,
                asked.change.id,
                path.display()
            ),
            Some(format!(
                "`skilldb log {}` shows what moved it; undo that first",
                facts.name
            )),
        ));
    }
    let rel_path = relative(facts, from)?;
    is_taken(asked.store, facts, from)?;
    let files = reverted(draft, asked, part, (facts, &path))?;
    let reach = if is_in_archive(&rel_path) {
        Reach::Remove
    } else {
        Reach::Write
    };
    let mut texts = Vec::new();
    for (file, before, after) in files {
        let (before, after) = draft.keep_both(before, after);
        draft.plan.steps.push(Step::File {
            path: path.join(&file),
            before: before.clone(),
            after: after.clone(),
            keep: path.clone(),
        });
        texts.push(PartFile {
            path: file,
            before,
            after,
        });
    }
    // Putting away and bringing back say nothing about the text.
    let number = if texts.is_empty() {
        draft.add_untouched(facts, title(asked), reach)
    } else {
        draft.add_skill(facts, title(asked), reach)
    };
    add_move(draft, facts, number, (path, from), &rel_path)?;
    if let Some(new) = draft.plan.parts.get_mut(number) {
        new.files = texts;
    }
    draft.plan.effects.push(Effect::ArchivedFrom {
        skill_id: facts.id,
        from: is_in_archive(&rel_path).then(|| facts.rel_path.clone()),
    });
    draft.add_mirror(number, facts.root_id, &rel_path);
    Ok(())
}

/// Puts back what the change did to files of a skill that stays where it is.
fn files_back(
    draft: &mut Draft,
    asked: &Undoing<'_>,
    part: &ChangePart,
    facts: &SkillFacts,
) -> Result<()> {
    let folder = real_folder(facts)?;
    let files = reverted(draft, asked, part, (facts, &folder))?;
    if files.is_empty() {
        return Ok(());
    }
    let number = draft.add_skill(facts, title(asked), Reach::Write);
    for (file, before, after) in files {
        draft.add_file(number, &folder, &file, before, after);
    }
    draft.add_mirror(number, facts.root_id, &facts.rel_path);
    Ok(())
}

/// Puts back files outside of skills.
fn outside_back(draft: &mut Draft, asked: &Undoing<'_>, part: &ChangePart) -> Result<()> {
    for file in part.files.iter().filter(|file| file.is_absolute) {
        let path = Path::new(&file.path);
        let Some(folder) = path.parent() else {
            continue;
        };
        match reverted_file(asked, file, (path, None)) {
            Ok(Some((before, after))) => {
                draft.add_outside(path, folder, title(asked), before, after);
            }
            Ok(None) => {}
            // Names in somebody's file of automations stand in the way of no skill.
            Err(error @ (Error::Clash { .. } | Error::NotKept { .. })) if is_naming(asked) => {
                draft.notes.push(format!(
                    "{} was changed since and is left as it is: {error}; look what it names",
                    path.display()
                ));
            }
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// A skill's place relative to its root.
fn relative(facts: &SkillFacts, path: &Path) -> Result<String> {
    let real: PathBuf = facts
        .root
        .canonicalize()
        .unwrap_or_else(|_| facts.root.clone());
    path.strip_prefix(&facts.root)
        .or_else(|_| path.strip_prefix(&real))
        .ok()
        .and_then(Path::to_str)
        .map(str::to_owned)
        .ok_or_else(|| {
            denied(
                "moved-since",
                format!(
                    "`{}` belongs to another root now: {}",
                    facts.name,
                    facts.root.display()
                ),
                None,
            )
        })
}
