//! What the curator has decided, done: skills into the archive and into other states, as one change.

use super::draft::Draft;
use super::judge::leaves_root;
use super::ownership::{Reach, Verdict, Wish, decide};
use super::places::{Reasons, archive};
use super::plan::{Action, Effect};
use super::request::Who;
use super::writer::{Settings, Writer};
use crate::error::Result;
use crate::library::files::may_change;
use crate::skill::lifecycle::State;
use crate::store::{Actor, NewCuratorRun, Pause, SkillFacts, Store};
use crate::time::Timestamp;

/// A skill that is due.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Due {
    /// Its row.
    pub skill: i64,
    /// The state it gets into.
    pub to: State,
    /// Why.
    pub reason: String,
    /// The moment its idle time counted from.
    pub anchor: Option<String>,
}

/// Says why a skill cannot be put into the archive by the curator; `None` when it can. Reads the files, and writes
/// nothing.
///
/// # Errors
/// [`crate::Error::Database`].
pub fn obstacle(store: &Store, settings: &Settings, skill: i64) -> Result<Option<String>> {
    let facts = store.skill_facts(skill)?;
    let mut draft = Draft::new(Action::Archive, Actor::Curator, String::new());
    let why = why_not(&facts, settings)
        .or_else(|| closed(&facts))
        .or_else(|| {
            let reasons = Reasons {
                why: "",
                anchor: None,
                heir: None,
            };
            archive(&mut draft, &facts, settings.now, reasons)
                .err()
                .map(|error| error.to_string())
        });
    Ok(why)
}

/// A folder that may not be changed would stop the whole run.
fn closed(facts: &SkillFacts) -> Option<String> {
    let folder = facts.path();
    let folders = [
        Some(folder.as_path()),
        folder.parent(),
        Some(facts.root.as_path()),
    ];
    let closed = folders
        .into_iter()
        .flatten()
        .find(|folder| folder.is_dir() && !may_change(folder))?;
    Some(format!("no permission to change {}", closed.display()))
}

/// What the one place says that decides who may do what.
fn why_not(facts: &SkillFacts, settings: &Settings) -> Option<String> {
    let wish = Wish {
        actor: Actor::Curator,
        action: Action::Archive,
        reach: Reach::Remove,
        skill: Some(facts),
        is_writable: facts.is_writable,
        reverses: None,
        leaves_root: leaves_root(Some(facts)),
    };
    match decide(wish, &settings.policy) {
        Verdict::Allow => None,
        Verdict::Propose(why) | Verdict::Refuse { why, .. } => Some(why),
    }
}

impl Writer {
    /// Puts skills into the archive and into other states: all of it in one change, which books the run. Returns
    /// those that could not be touched after all: row, name, and why.
    ///
    /// # Errors
    /// [`crate::Error::Conflict`] and what the file system or SQLite say: then nothing was changed.
    pub fn age(&mut self, who: &Who, run: i64, due: &[Due]) -> Result<Vec<(i64, String, String)>> {
        let token = self.next_token();
        let mut draft = Draft::new(Action::Archive, who.actor, token);
        draft.plan.curator_run = Some(run);
        let mut left = Vec::new();
        for each in due {
            let facts = self.store().skill_facts(each.skill)?;
            if let Err(why) = self.add_due(&mut draft, &facts, each) {
                left.push((facts.id, facts.name, why));
            }
        }
        if draft.plan.parts.is_empty() {
            let now = self.settings().now;
            self.store_mut()
                .append(|tx| tx.book_curator_run(run, None, now))?;
            return Ok(left);
        }
        draft.plan.effects.push(Effect::Booked { run });
        self.carry_out(who, draft)?;
        Ok(left)
    }

    fn add_due(
        &self,
        draft: &mut Draft,
        facts: &SkillFacts,
        due: &Due,
    ) -> std::result::Result<(), String> {
        if facts.has_ended || facts.is_missing {
            return Err("its folder is not there any more".to_owned());
        }
        let newest = self.store().newest_activity(facts.id);
        let newest = newest.map_err(|error| error.to_string())?;
        if due.to != State::Active && newest > due.anchor {
            return Err("it was used meanwhile".to_owned());
        }
        let waits = self.check_waiting(&[facts.id]);
        waits.map_err(|error| error.to_string())?;
        if due.to == State::Archived {
            if let Some(why) = why_not(facts, self.settings()) {
                return Err(why);
            }
            let reasons = Reasons {
                why: &due.reason,
                anchor: due.anchor.as_deref(),
                heir: None,
            };
            let now = self.settings().now;
            return draft
                .attempt(|draft| archive(draft, facts, now, reasons))
                .map_err(|error| error.to_string());
        }
        let title = match due.to {
            State::Stale => format!("marked stale: {}", due.reason),
            State::Active | State::Archived => format!("active again: {}", due.reason),
        };
        draft.add_untouched(facts, title, Reach::Write);
        draft.plan.effects.push(Effect::State {
            skill_id: facts.id,
            to: due.to.as_str().to_owned(),
            reason: due.reason.clone(),
            anchor: due.anchor.clone(),
            heir: None,
        });
        Ok(())
    }

    /// The moment that is noted.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        self.settings().now
    }

    /// Reads a skill again, so that an edit made by hand meanwhile is in the history, and protects it.
    ///
    /// # Errors
    /// [`crate::Error::Denied`] when it is gone.
    pub fn look_again(&mut self, skill: i64) -> Result<()> {
        self.refresh_skill(skill)
    }

    /// Notes a run of the curator; returns its number. Runs that were cut short are closed first.
    ///
    /// # Errors
    /// [`crate::Error::Database`].
    pub fn note_run(&mut self, run: &NewCuratorRun<'_>) -> Result<i64> {
        let now = self.now();
        self.store_mut().append(|tx| {
            tx.close_cut_runs(now)?;
            tx.add_curator_run(run, now)
        })
    }

    /// Says what a run is about to do.
    ///
    /// # Errors
    /// [`crate::Error::Database`].
    pub fn plan_run(&mut self, id: i64, plan: (&str, &str), snapshot: Option<i64>) -> Result<()> {
        self.store_mut()
            .append(|tx| tx.plan_curator_run(id, plan, snapshot))
    }

    /// Closes a run that has failed.
    ///
    /// # Errors
    /// [`crate::Error::Database`].
    pub fn fail_run(&mut self, id: i64, problem: &str) -> Result<()> {
        let now = self.now();
        self.store_mut()
            .append(|tx| tx.fail_curator_run(id, problem, now))
    }

    /// Notes where a run's report is.
    ///
    /// # Errors
    /// [`crate::Error::Database`].
    pub fn note_report(&mut self, id: i64, path: &str) -> Result<()> {
        self.store_mut().append(|tx| tx.note_report(id, path))
    }

    /// Pauses the curator, or lets it go on. Says whether that was news.
    ///
    /// # Errors
    /// [`crate::Error::Denied`] when somebody but a person wants to let it go on; [`crate::Error::Database`].
    pub fn pause_curator(&mut self, who: &Who, is_paused: bool) -> Result<bool> {
        if !is_paused {
            super::only_people(who.actor, "resume the curator")?;
        }
        if self.store().curator_pause()?.is_some() == is_paused {
            return Ok(false);
        }
        let pause = is_paused.then(|| Pause {
            since: self.now().to_string(),
            actor: who.actor.as_str().to_owned(),
            reason: who.reason.clone(),
        });
        self.store_mut()
            .append(|tx| tx.set_curator_pause(pause.as_ref()))?;
        Ok(true)
    }
}
