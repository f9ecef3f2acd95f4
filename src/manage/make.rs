//! Carries a change through: bytes and journal first, then the files, then the rows.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use super::execute::{Executor, missing_folders};
use super::plan::Plan;
use super::settle::settle;
use super::step::Stand;
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
/// and the files are as they were then; where the system stands in the way of that, the next command goes on.
pub(super) fn make(
    store: &mut Store,
    plan: &mut Plan,
    context: Context<'_>,
    inspect: Inspect<'_>,
) -> Result<i64> {
    plan.made = plan.steps.iter().flat_map(missing_folders).collect();
    let change_id = begin(store, plan, context)?;
    match on_disk(store, plan, inspect) {
        Ok(()) => match settle(store, plan, change_id, context.now) {
            Ok(()) => Ok(change_id),
            Err(error) => unsettled(store, plan, change_id, error),
        },
        Err(error) => {
            give_up(store, plan, change_id, &error, context.now)?;
            Err(error)
        }
    }
}

/// The files say it and the rows cannot (a full disk, say): they are taken back, so that what is told is true. The
/// journal stays, and whoever recovers finds nothing done.
fn unsettled(store: &Store, plan: &Plan, change_id: i64, error: Error) -> Result<i64> {
    let is_applied = store
        .change(change_id)
        .is_ok_and(|change| change.outcome == "applied");
    if is_applied {
        return Ok(change_id);
    }
    // What cannot be taken back now is finished by the next command instead.
    let _ = take_back(store, plan, &mut Displaced::default());
    Err(error)
}

/// Takes a change back that cannot be made. Until that is done the journal says so.
///
/// # Errors
/// [`Error::Database`]. Trouble with files is left to whoever recovers.
fn give_up(
    store: &mut Store,
    plan: &mut Plan,
    change_id: i64,
    error: &Error,
    now: Timestamp,
) -> Result<()> {
    plan.given_up = Some((error.code().to_owned(), told(error)));
    let text = serde_json::to_string(plan).unwrap_or_default();
    // Where not even that can be written the files come first: then whoever recovers finds nothing done.
    let _ = store.append(|tx| tx.replace_journal(change_id, &text));
    let mut displaced = Displaced::default();
    let taken_back = take_back(store, plan, &mut displaced);
    displaced.note(store, plan, now)?;
    if taken_back.is_ok() {
        let _ = fail(store, change_id, error);
    }
    Ok(())
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
                curator_run_id: plan.curator_run,
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
    stage()?;
    for (number, step) in plan.steps.iter().enumerate() {
        if late.contains(&number) {
            executor.stage(number, step)?;
        }
        executor.publish(number, step)?;
    }
    Ok(())
}

/// Takes back whatever was done, the last step first, and removes what was written aside. What somebody else changed
/// meanwhile stays as it is.
///
/// # Errors
/// [`Error::Io`] where the system stands in the way.
pub(super) fn take_back(store: &Store, plan: &Plan, displaced: &mut Displaced) -> Result<()> {
    let bytes_of = |hash: &str| bytes_of(store, &plan.bytes, hash);
    let executor = Executor {
        token: &plan.token,
        bytes_of: &bytes_of,
    };
    for (number, step) in plan.steps.iter().enumerate().rev() {
        let back = step.inverse().keeping_folders();
        let mut stand = executor.stand(number, &back)?;
        if executor.tidy(number, &back, &mut displaced.keep())? {
            stand = executor.stand(number, &back)?;
        }
        if stand == Stand::Before {
            executor.stage(number, &back)?;
            match executor.publish(number, &back) {
                Ok(()) | Err(Error::Conflict { .. }) => {}
                Err(error) => return Err(error),
            }
            executor.tidy(number, &back, &mut displaced.keep())?;
        }
    }
    Executor::forget_made(&plan.made);
    Ok(())
}

/// Texts of others that were displaced and whose place is taken: kept in the history, where they can be found.
#[derive(Debug, Default)]
pub(super) struct Displaced(Vec<(PathBuf, Content, Vec<u8>)>);

impl Displaced {
    pub(super) fn keep(&mut self) -> impl FnMut(&Path, &Content, Vec<u8>) -> Result<()> + '_ {
        |path, content, bytes| {
            self.0.push((path.to_path_buf(), content.clone(), bytes));
            Ok(())
        }
    }

    /// Writes them into the history.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub(super) fn note(self, store: &mut Store, plan: &Plan, now: Timestamp) -> Result<()> {
        if self.0.is_empty() {
            return Ok(());
        }
        let mut packer = Packer::new();
        store.append_durably(|tx| {
            let change_id =
                tx.add_external_change("a text that an interrupted change had displaced", now)?;
            for (path, content, bytes) in &self.0 {
                if let Some(hash) = content.hash() {
                    tx.put_blob(&packer.pack(hash.to_owned(), bytes))?;
                }
                let text = path.to_string_lossy();
                let part = plan.parts.iter().find(|part| {
                    let names = part
                        .files
                        .iter()
                        .any(|file| text.ends_with(file.path.as_str()));
                    names
                        || part
                            .from
                            .as_ref()
                            .is_some_and(|from| path.starts_with(from))
                });
                let revision = tx.add_part(
                    change_id,
                    &NewPart {
                        skill_id: part.and_then(|part| part.skill_id),
                        name: part.map_or("", |part| part.name.as_str()),
                        title: "displaced text kept",
                        from_path: None,
                        to_path: None,
                    },
                )?;
                let after = standing(Some(content));
                let file = NewPartFile {
                    is_absolute: true,
                    path: &text,
                    moved_from: None,
                    before: after,
                    after,
                };
                tx.add_part_file(revision, &file)?;
            }
            Ok(())
        })
    }
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
                curator_run_id: None,
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
