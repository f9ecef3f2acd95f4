//! Finishes or discards what a kill cut short, with the code that does it the first time.

use std::path::Path;

use super::execute::Executor;
use super::make::{bytes_of, fail, told};
use super::plan::Plan;
use super::settle::settle;
use super::step::Stand;
use crate::error::{Error, Result};
use crate::store::{Ending, LibraryLock, Store};
use crate::time::Timestamp;

/// How an interrupted change ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recovered {
    /// The change.
    pub change_id: i64,
    /// The word for what was done.
    pub action: String,
    /// The skills it touched.
    pub names: Vec<String>,
    /// Whether it was finished; else nothing of it is left.
    pub is_finished: bool,
    /// Why it was not, where somebody else stood in the way.
    pub trouble: Option<String>,
}

/// Settles what was cut short in the library at `home`, if anything was: what every command does before it says
/// anything about skills. A change that is under way is left to whoever makes it.
///
/// # Errors
/// As [`recover`], and [`Error::Database`].
pub fn mend(home: &Path, now: Timestamp) -> Result<Vec<Recovered>> {
    let has_journal = match Store::open_read(home, now) {
        Ok(store) => store.has_journal()?,
        Err(Error::NoLibrary { .. }) => false,
        Err(error) => return Err(error),
    };
    if !has_journal {
        return Ok(Vec::new());
    }
    let _lock = match LibraryLock::try_take(home) {
        Ok(lock) => lock,
        Err(Error::Locked { .. }) => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    match Store::open(home, now)? {
        Some(mut store) => recover(&mut store, now),
        None => Ok(Vec::new()),
    }
}

/// Finishes or discards the changes that were cut short. Called by whoever holds the library's lock, before
/// anything else.
///
/// # Errors
/// [`Error::Io`] where the system stands in the way of finishing: the change stays as it is until then.
pub fn recover(store: &mut Store, now: Timestamp) -> Result<Vec<Recovered>> {
    let mut all = Vec::new();
    for (change_id, text) in store.journal()? {
        let mut plan: Plan = serde_json::from_str(&text).map_err(|error| Error::Journal {
            change_id,
            message: error.to_string(),
        })?;
        // On a disk that is not mounted nothing can be said about anything.
        let is_away = |root: &std::path::PathBuf| !root.is_dir() && !plan.made.contains(root);
        if plan.roots.iter().any(is_away) {
            continue;
        }
        all.push(recover_one(store, &mut plan, change_id, now)?);
    }
    Ok(all)
}

fn recover_one(
    store: &mut Store,
    plan: &mut Plan,
    change_id: i64,
    now: Timestamp,
) -> Result<Recovered> {
    let mut recovered = Recovered {
        change_id,
        action: plan.action.as_str().to_owned(),
        names: plan.parts.iter().map(|part| part.name.clone()).collect(),
        is_finished: false,
        trouble: None,
    };
    match finish_on_disk(store, plan) {
        Ok(true) => {
            settle(store, plan, change_id, now)?;
            recovered.is_finished = true;
        }
        Ok(false) => {
            store.append(|tx| {
                tx.settle_change(
                    change_id,
                    Ending::Discarded("cut short before anything was changed"),
                )
            })?;
        }
        Err(error @ Error::Conflict { .. }) => {
            fail(store, change_id, &error)?;
            recovered.trouble = Some(told(&error));
        }
        Err(error) => return Err(error),
    }
    Ok(recovered)
}

/// Brings the steps to one end: all done (`true`), or, where none was, none (`false`).
fn finish_on_disk(store: &Store, plan: &Plan) -> Result<bool> {
    let bytes_of = |hash: &str| bytes_of(store, &plan.bytes, hash);
    let executor = Executor {
        token: &plan.token,
        bytes_of: &bytes_of,
    };
    let mut stands = Vec::with_capacity(plan.steps.len());
    for (number, step) in plan.steps.iter().enumerate() {
        executor.tidy(number, step)?;
        // A step of the way back may have been under way.
        executor.tidy(number, &step.inverse())?;
        stands.push(executor.stand(step)?);
    }
    // They are done in order, and a later one may have moved what an earlier one wrote.
    let done = stands
        .iter()
        .rposition(|stand| *stand == Stand::After)
        .map_or(0, |last| last + 1);
    if done == 0 && stands.iter().all(|stand| *stand == Stand::Before) {
        Executor::forget_made(&plan.made);
        return Ok(false);
    }
    match go_on(&executor, plan, done) {
        Ok(()) => Ok(true),
        Err(error @ Error::Conflict { .. }) => {
            go_back(&executor, plan)?;
            Err(error)
        }
        Err(error) => Err(error),
    }
}

fn go_on(executor: &Executor<'_>, plan: &Plan, done: usize) -> Result<()> {
    for (number, step) in plan.steps.iter().enumerate().skip(done) {
        if executor.stand(step)? == Stand::Other {
            return Err(Error::Conflict {
                path: step.path().to_path_buf(),
                message: "it was changed by somebody else meanwhile".to_owned(),
            });
        }
        executor.stage(number, step)?;
        executor.publish(number, step)?;
    }
    Ok(())
}

fn go_back(executor: &Executor<'_>, plan: &Plan) -> Result<()> {
    for (number, step) in plan.steps.iter().enumerate().rev() {
        let back = step.inverse();
        if executor.stand(&back)? == Stand::Before {
            executor.stage(number, &back)?;
            let _ = executor.publish(number, &back);
        }
        executor.tidy(number, &back)?;
    }
    Executor::forget_made(&plan.made);
    Ok(())
}
