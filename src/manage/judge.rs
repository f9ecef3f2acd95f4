//! What a plan has to pass before it is made: ownership for every skill it touches, and a look at what was written.

use std::cell::RefCell;
use std::path::{Path, PathBuf};

use super::draft::Draft;
use super::ownership::{Policy, Reach, Verdict, Wish, decide};
use super::plan::{Action, Plan};
use super::request::{Request, Who};
use super::step::Step;
use crate::error::{Error, Result};
use crate::guard::{self, Level, Staged};
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

/// Gate seven: looks at what was written, as it lies on disk. What stood there before already is no news.
///
/// # Errors
/// [`Error::Denied`] with what was found; [`Error::Io`].
pub(super) fn inspect(
    plan: &Plan,
    staged: &[Option<PathBuf>],
    notes: &RefCell<Vec<String>>,
) -> Result<()> {
    // What was there once may come back: it is the caller's own history.
    if plan.undoes.is_some() || plan.snapshot.is_some() {
        return Ok(());
    }
    let (mut new, mut old) = (Vec::new(), Vec::new());
    for (step, on_disk) in plan.steps.iter().zip(staged) {
        let Some(on_disk) = on_disk else { continue };
        match step {
            Step::File {
                path, before, keep, ..
            } => {
                let Ok(inner) = path.strip_prefix(keep) else {
                    continue;
                };
                let file = |on_disk: &Path| Staged {
                    path: inner.to_string_lossy().into_owned(),
                    on_disk: on_disk.to_path_buf(),
                    folder: keep.clone(),
                };
                new.push(file(on_disk));
                // What vanished meanwhile is told when it is to be replaced.
                if before.is_some() && path.symlink_metadata().is_ok() {
                    old.push(file(path));
                }
            }
            Step::Tree {
                path,
                after: Some(entries),
                ..
            } => {
                let files = entries.iter().filter(|entry| entry.content.is_some());
                new.extend(files.map(|entry| Staged {
                    path: entry.path.clone(),
                    on_disk: on_disk.join(&entry.path),
                    folder: path.clone(),
                }));
            }
            Step::Tree { .. } | Step::Move { .. } => {}
        }
    }
    let mut known: Vec<(String, &str)> = guard::inspect(&old)?
        .into_iter()
        .map(|finding| (finding.path, finding.rule))
        .collect();
    let found = guard::inspect(&new).map_err(|error| match error {
        Error::Io { path, source, .. } if source.kind() == std::io::ErrorKind::NotFound => {
            Error::Conflict {
                path,
                message: "what was written there is gone: something was put in its way".to_owned(),
            }
        }
        error => error,
    });
    for finding in found? {
        let is_same = |known: &(String, &str)| known.0 == finding.path && known.1 == finding.rule;
        if let Some(at) = known.iter().position(is_same) {
            known.swap_remove(at);
            continue;
        }
        let place = finding.line.map_or_else(
            || finding.path.clone(),
            |line| format!("{}:{line}", finding.path),
        );
        if finding.level == Level::Dangerous {
            return Err(Error::Denied {
                code: finding.rule,
                message: format!("{place}: {}", finding.message),
                hint: Some("take it out; nothing was changed".to_owned()),
            });
        }
        notes
            .borrow_mut()
            .push(format!("{place}: {}", finding.message));
    }
    Ok(())
}
