//! Carries a change through: bytes and journal first, then the files, then the rows.

use std::collections::HashMap;
use std::path::PathBuf;

use super::execute::{Executor, missing_folders};
use super::plan::Plan;
use super::settle::settle;
use crate::error::{Error, Result};
use crate::library::Content;
use crate::stop;
use crate::store::{Ending, NewChange, NewPart, NewPartFile, Packer, Standing, Store};
use crate::time::Timestamp;

/// What the change belongs to, besides its plan.
#[derive(Debug, Clone, Copy)]
pub(super) struct Context<'a> {
    pub(super) session: Option<&'a str>,
    pub(super) reason: Option<&'a str>,
    pub(super) now: Timestamp,
}

/// What is looked at between writing and putting in place: says why not, as a sentence.
pub(super) type Inspect<'a> = &'a dyn Fn(&Plan, &[Option<PathBuf>]) -> Result<()>;

/// Makes a change. Everything happens or nothing.
///
/// # Errors
/// What `inspect` returns, [`Error::Conflict`], [`Error::Io`], [`Error::Database`]. The change is noted as failed
/// and the files are as they were then.
pub(super) fn make(
    store: &mut Store,
    plan: &mut Plan,
    context: Context<'_>,
    inspect: Inspect<'_>,
) -> Result<i64> {
    plan.made = plan.steps.iter().flat_map(missing_folders).collect();
    let change_id = begin(store, plan, context)?;
    let outcome = on_disk(store, plan, inspect);
    match outcome {
        Ok(()) => {
            settle(store, plan, change_id, context.now)?;
            Ok(change_id)
        }
        Err(error) => {
            fail(store, change_id, &error)?;
            Err(error)
        }
    }
}

/// Writes bytes and journal, so that they survive whatever comes.
fn begin(store: &mut Store, plan: &mut Plan, context: Context<'_>) -> Result<i64> {
    let mut packer = Packer::new();
    let mut packed = Vec::new();
    for (hash, bytes) in &plan.bytes {
        if !store.has_bytes(hash)? {
            packed.push(packer.pack(hash.clone(), bytes));
        }
    }
    let change_id = store.append_durably(|tx| {
        packed.iter().try_for_each(|blob| tx.put_blob(blob))?;
        let change_id = tx.begin_change(
            &NewChange {
                action: plan.action.as_str(),
                strategy: plan.strategy.as_deref(),
                reason: context.reason,
                actor: &plan.actor,
                session_id: context.session,
                undoes: plan.undoes,
                snapshot_id: plan.snapshot,
                from_snapshot_id: plan.from_snapshot,
            },
            context.now,
        )?;
        for part in &mut plan.parts {
            let text = |path: &Option<PathBuf>| {
                path.as_ref()
                    .map(|path| path.to_string_lossy().into_owned())
            };
            let (from, to) = (text(&part.from), text(&part.to));
            let revision = tx.add_part(
                change_id,
                &NewPart {
                    skill_id: part.skill_id,
                    name: &part.name,
                    title: &part.title,
                    from_path: from.as_deref(),
                    to_path: to.as_deref(),
                },
            )?;
            for file in &part.files {
                tx.add_part_file(
                    revision,
                    &NewPartFile {
                        is_absolute: file.path.starts_with('/'),
                        path: &file.path,
                        moved_from: None,
                        before: standing(file.before.as_ref()),
                        after: standing(file.after.as_ref()),
                    },
                )?;
            }
            part.revision_id = Some(revision);
        }
        let text = serde_json::to_string(plan).unwrap_or_default();
        tx.put_journal(change_id, &text)?;
        Ok(change_id)
    })?;
    stop::point();
    Ok(change_id)
}

fn standing(content: Option<&Content>) -> Standing<'_> {
    content.map_or_else(Standing::default, |content| Standing {
        hash: content.hash(),
        mode: content.mode(),
        link: content.link_target(),
    })
}

/// Does the steps; takes back those that were done when one cannot be.
fn on_disk(store: &Store, plan: &Plan, inspect: Inspect<'_>) -> Result<()> {
    let bytes_of = |hash: &str| bytes_of(store, &plan.bytes, hash);
    let executor = Executor {
        token: &plan.token,
        bytes_of: &bytes_of,
    };
    let mut late = Vec::new();
    let mut stage = || {
        let mut staged = Vec::with_capacity(plan.steps.len());
        for (number, step) in plan.steps.iter().enumerate() {
            match executor.stage(number, step) {
                Ok(()) => staged.push(executor.staged(number, step)),
                // An earlier step may take out of the way what stands there: told for good when it is this one's turn.
                Err(Error::Conflict { .. }) if number > 0 && plan.snapshot.is_some() => {
                    late.push(number);
                    staged.push(None);
                }
                Err(error) => return Err(error),
            }
        }
        inspect(plan, &staged)
    };
    if let Err(error) = stage() {
        take_back(&executor, plan, 0);
        return Err(error);
    }
    for (number, step) in plan.steps.iter().enumerate() {
        let staged = if late.contains(&number) {
            executor.stage(number, step)
        } else {
            Ok(())
        };
        if let Err(error) = staged.and_then(|()| executor.publish(number, step)) {
            take_back(&executor, plan, number);
            return Err(error);
        }
    }
    Ok(())
}

/// Takes back the first `done` steps, the last one first, and removes what was written aside. What somebody else
/// changed meanwhile stays as it is.
fn take_back(executor: &Executor<'_>, plan: &Plan, done: usize) {
    for (number, step) in plan.steps.iter().enumerate().take(done).rev() {
        let back = step.inverse();
        if executor.stage(number, &back).is_ok() {
            let _ = executor.publish(number, &back);
        }
        let _ = executor.tidy(number, &back);
    }
    for (number, step) in plan.steps.iter().enumerate().skip(done) {
        let _ = executor.tidy(number, step);
    }
    Executor::forget_made(&plan.made);
}

pub(super) fn bytes_of(
    store: &Store,
    at_hand: &HashMap<String, Vec<u8>>,
    hash: &str,
) -> Result<Vec<u8>> {
    if let Some(bytes) = at_hand.get(hash) {
        return Ok(bytes.clone());
    }
    store.bytes(hash)?.ok_or_else(|| Error::NotKept {
        hash: hash.to_owned(),
    })
}

pub(super) fn fail(store: &mut Store, change_id: i64, error: &Error) -> Result<()> {
    let message = told(error);
    store.append(|tx| tx.settle_change(change_id, Ending::Failed(error.code(), &message)))
}

/// An error with its cause, in one sentence.
pub(super) fn told(error: &Error) -> String {
    let mut message = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(inner) = cause {
        message = format!("{message}: {inner}");
        cause = inner.source();
    }
    message
}

/// Notes an attempt that changed nothing.
pub(super) fn note_failure(
    store: &mut Store,
    plan: &Attempt<'_>,
    context: Context<'_>,
    error: &Error,
) -> Result<i64> {
    let message = told(error);
    store.append(|tx| {
        let change_id = tx.begin_change(
            &NewChange {
                action: plan.action,
                strategy: plan.strategy,
                reason: context.reason,
                actor: plan.actor,
                session_id: context.session,
                undoes: plan.undoes,
                snapshot_id: None,
                from_snapshot_id: None,
            },
            context.now,
        )?;
        let revision = tx.add_part(
            change_id,
            &NewPart {
                skill_id: plan.skill_id,
                name: plan.name,
                title: &message,
                from_path: None,
                to_path: None,
            },
        )?;
        if let Some(file) = plan.file {
            tx.add_part_file(
                revision,
                &NewPartFile {
                    is_absolute: false,
                    path: file,
                    moved_from: None,
                    before: standing(plan.before),
                    after: standing(plan.before),
                },
            )?;
        }
        tx.settle_change(change_id, Ending::Failed(error.code(), &message))?;
        Ok(change_id)
    })
}

/// What was tried.
#[derive(Debug, Clone, Copy)]
pub(super) struct Attempt<'a> {
    pub(super) action: &'a str,
    pub(super) actor: &'a str,
    pub(super) strategy: Option<&'a str>,
    pub(super) undoes: Option<i64>,
    pub(super) skill_id: Option<i64>,
    pub(super) name: &'a str,
    pub(super) file: Option<&'a str>,
    pub(super) before: Option<&'a Content>,
}
