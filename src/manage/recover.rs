//! Finishes or discards what a kill cut short, with the code that does it the first time.

use std::path::Path;

use super::execute::Executor;
use super::make::{Displaced, bytes_of, take_back, told};
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
    /// Their rows.
    pub skills: Vec<i64>,
    /// How it ended.
    pub fate: Fate,
    /// Why it was not finished.
    pub trouble: Option<String>,
}

/// What became of an interrupted change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// It is done.
    Finished,
    /// Nothing of it was done, and nothing of it is left.
    Discarded,
    /// It was taken back.
    TakenBack,
    /// The system stands in the way: it goes on waiting.
    Waits,
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
        skills: plan.parts.iter().filter_map(|part| part.skill_id).collect(),
        fate: Fate::Waits,
        trouble: None,
    };
    let mut displaced = Displaced::default();
    let outcome = match plan.given_up.clone() {
        Some((code, message)) => {
            take_back(store, plan, &mut displaced).map(|()| Some((code, message)))
        }
        None => finish(
            store,
            plan,
            change_id,
            (&mut displaced, &mut recovered),
            now,
        ),
    };
    displaced.note(store, plan, now)?;
    match outcome {
        Ok(None) => {}
        Ok(Some((code, message))) => {
            let ending = Ending::Failed(&code, &message);
            store.append(|tx| tx.settle_change(change_id, ending))?;
            recovered.fate = Fate::TakenBack;
            recovered.trouble = Some(message);
        }
        Err(
            error @ (Error::Io { .. }
            | Error::NotKept { .. }
            | Error::DamagedBytes { .. }
            | Error::Conflict { .. }),
        ) => {
            recovered.trouble = Some(told(&error));
        }
        Err(error) => return Err(error),
    }
    Ok(recovered)
}

/// Goes forward where something was done, gives up where somebody stands in the way. Returns why it was taken back.
fn finish(
    store: &mut Store,
    plan: &Plan,
    change_id: i64,
    (displaced, recovered): (&mut Displaced, &mut Recovered),
    now: Timestamp,
) -> Result<Option<(String, String)>> {
    match finish_on_disk(store, plan, displaced) {
        Ok(true) => {
            settle(store, plan, change_id, now)?;
            recovered.fate = Fate::Finished;
            Ok(None)
        }
        Ok(false) => {
            let ending = Ending::Discarded("cut short before anything was changed");
            store.append(|tx| tx.settle_change(change_id, ending))?;
            recovered.fate = Fate::Discarded;
            Ok(None)
        }
        Err(error @ Error::Conflict { .. }) => {
            take_back(store, plan, displaced)?;
            Ok(Some((error.code().to_owned(), told(&error))))
        }
        Err(error) => Err(error),
    }
}

/// Brings the steps to one end: all done (`true`), or, where none was, none (`false`).
fn finish_on_disk(store: &Store, plan: &Plan, displaced: &mut Displaced) -> Result<bool> {
    let bytes_of = |hash: &str| bytes_of(store, &plan.bytes, hash);
    let executor = Executor {
        token: &plan.token,
        bytes_of: &bytes_of,
    };
    let mut stands = Vec::with_capacity(plan.steps.len());
    for (number, step) in plan.steps.iter().enumerate() {
        let mut stand = executor.stand(number, step)?;
        if executor.tidy(number, step, &mut displaced.keep())? {
            stand = executor.stand(number, step)?;
        }
        stands.push(stand);
    }
    // They are done in order, and a later one may have moved what an earlier one wrote.
    let last = stands.iter().rposition(|stand| *stand == Stand::After);
    let done = last.map_or(0, |last| last + 1);
    if done == 0 && stands.iter().all(|stand| *stand == Stand::Before) {
        Executor::forget_made(&plan.made);
        return Ok(false);
    }
    plan.steps.iter().take(done).for_each(Executor::prune);
    for (number, step) in plan.steps.iter().enumerate().skip(done) {
        if executor.stand(number, step)? == Stand::Other {
            return Err(Error::Conflict {
                path: step.path().to_path_buf(),
                message: "it was changed by somebody else meanwhile".to_owned(),
            });
        }
        executor.stage(number, step)?;
        executor.publish(number, step)?;
    }
    Ok(true)
}
