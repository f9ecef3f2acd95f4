//! The door itself: holds the library's lock, finishes what was cut short, and carries out what is asked for,
//! asks for, or notes why not.

use std::cell::RefCell;
use std::path::{Path, PathBuf};

use super::draft::Draft;
use super::judge::{inspect, judge};
use super::make::{Attempt, Context, make, note_failure};
use super::ownership::Policy;
use super::plan::{Action, Effect, Plan};
use super::planner::Planner;
use super::recover::{Fate, Recovered, recover};
use super::request::{Request, Who};
use super::{proposals, rendered};
use crate::error::{Error, Result};
use crate::hash::hash_of;
use crate::store::{self, ChangeRow, Decision, LibraryLock, ProposalRow, RootRow, Store};
use crate::sync::{self, Progress};
use crate::time::Timestamp;

/// What the configuration says about changes.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The library's home.
    pub home: PathBuf,
    /// The roots that new skills may be made in without having been synced.
    pub roots: Vec<RootRow>,
    /// The library's own root: made when it is missing.
    pub own_root: PathBuf,
    /// The write policy.
    pub policy: Policy,
    /// Most bytes of supporting files the history holds as newest versions.
    pub support_budget: u64,
    /// Files of the user that name skills.
    pub automations: Vec<PathBuf>,
    /// Whether only the library's own root is written: a rehearsal on a copy.
    pub is_rehearsal: bool,
    /// The moment that is noted.
    pub now: Timestamp,
}

/// What became of a request.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// It is done.
    Done(Box<Done>),
    /// A person decides.
    Proposed {
        /// The proposal.
        id: i64,
        /// The skill's name.
        name: String,
        /// Why it was not simply done.
        why: String,
    },
}

/// What was done.
#[derive(Debug, Clone, PartialEq)]
pub struct Done {
    /// The change as it stands in the history.
    pub change: ChangeRow,
    /// First and last line of each place of a patch, in the old text.
    pub places: Vec<(u32, u32)>,
    /// What should be said besides.
    pub notes: Vec<String>,
}

/// What would be done.
#[derive(Debug, Clone, PartialEq)]
pub struct Preview {
    /// What happens to each skill: name and title.
    pub parts: Vec<(String, String)>,
    /// What becomes of the files, as a unified diff; moves and whole folders as lines of their own.
    pub diff: String,
    /// How the text to replace was found.
    pub strategy: Option<String>,
    /// First and last line of each place of a patch, in the old text.
    pub places: Vec<(u32, u32)>,
    /// What should be said besides.
    pub notes: Vec<String>,
    /// Why a person would have to decide; `None` when nobody would be asked.
    pub asks: Option<String>,
}

/// How far a person was asked already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Consent {
    /// Nobody was asked.
    Asked,
    /// This proposal was approved.
    Given(i64),
}

/// Changes skills.
#[derive(Debug)]
pub struct Writer {
    store: Store,
    settings: Settings,
    recovered: Vec<Recovered>,
    count: u32,
    _lock: LibraryLock,
}

impl Writer {
    /// Takes the library's lock and finishes what was cut short.
    ///
    /// # Errors
    /// [`Error::NoLibrary`], [`Error::Locked`], and what the file system or SQLite say.
    pub fn open(settings: Settings, progress: &dyn Progress) -> Result<Self> {
        let home = &settings.home;
        if !home.join(store::FILE_NAME).exists() {
            return Err(Error::NoLibrary {
                path: home.join(store::FILE_NAME),
            });
        }
        let lock = LibraryLock::take(home, || progress.waiting())?;
        let Some(mut store) = Store::open(home, settings.now)? else {
            return Err(Error::NoLibrary {
                path: home.join(store::FILE_NAME),
            });
        };
        let recovered = recover(&mut store, settings.now)?;
        Ok(Self {
            store,
            settings,
            recovered,
            count: 0,
            _lock: lock,
        })
    }

    /// What was cut short and is settled now.
    #[must_use]
    pub fn recovered(&self) -> &[Recovered] {
        &self.recovered
    }

    /// The database.
    #[must_use]
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// The database, for what else has to be written under the lock.
    pub(super) fn store_mut(&mut self) -> &mut Store {
        &mut self.store
    }

    /// The settings.
    #[must_use]
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Does what is asked for, or asks a person. Every attempt is in the history, those that failed too.
    ///
    /// # Errors
    /// Why nothing was done.
    pub fn run(&mut self, who: &Who, request: &Request) -> Result<Outcome> {
        self.perform(who, request, Consent::Asked)
    }

    /// Carries out a proposal, as the one who made it.
    ///
    /// # Errors
    /// [`Error::Denied`] when it does not wait any more or its actor may not after all; [`Error::Conflict`] when the
    /// files are not what it was based on: it goes on waiting then. Else as [`Writer::run`].
    pub fn approve(&mut self, id: i64) -> Result<Outcome> {
        let proposal = self.waiting(id)?;
        let who = proposals::who_of(&proposal)?;
        let request = proposals::request_of(&proposal)?;
        self.refresh(&request)?;
        let draft = self.draft(&who, &request)?;
        proposals::check_base(&proposal, &draft.plan)?;
        self.perform(&who, &request, Consent::Given(id))
    }

    /// Closes a proposal.
    ///
    /// # Errors
    /// [`Error::Denied`] when it does not wait any more.
    pub fn reject(&mut self, id: i64, note: Option<&str>) -> Result<ProposalRow> {
        let proposal = self.waiting(id)?;
        let now = self.settings.now;
        self.store
            .append(|tx| tx.decide_proposal(id, Decision::Rejected(note), now))?;
        Ok(proposal)
    }

    fn waiting(&mut self, id: i64) -> Result<ProposalRow> {
        let now = self.settings.now;
        self.store.append(|tx| tx.expire_proposals(now))?;
        let proposal = self.store.proposal(id)?;
        match &proposal.decision {
            None => Ok(proposal),
            Some(word) => Err(Error::Denied {
                code: "proposal-decided",
                message: format!("proposal {id} is {word} already"),
                hint: Some("`skilldb proposals` lists those that wait".to_owned()),
            }),
        }
    }

    fn perform(&mut self, who: &Who, request: &Request, consent: Consent) -> Result<Outcome> {
        self.count += 1;
        let drafted = self.refreshed_draft(who, request).and_then(|draft| {
            match judge(who, request, &draft, &self.settings.policy)? {
                Some(why) if consent == Consent::Asked => Ok((draft, Some(why))),
                Some(_) | None => Ok((draft, None)),
            }
        });
        let (mut draft, asks) = match drafted {
            Ok(drafted) => drafted,
            Err(error) => {
                self.note(who, request, &error);
                return Err(error);
            }
        };
        let now = self.settings.now;
        if let Some(why) = asks {
            let name = draft.plan.parts.first().map(|part| part.name.clone());
            let id = proposals::propose(&mut self.store, (who, request), &draft.plan, &why, now)?;
            return Ok(Outcome::Proposed {
                id,
                name: name.unwrap_or_default(),
                why,
            });
        }
        if let Consent::Given(proposal) = consent {
            draft.plan.effects.push(Effect::Approve { proposal });
        }
        self.carry_out(who, draft)
    }

    /// Carries out what is planned and allowed.
    pub(super) fn carry_out(&mut self, who: &Who, mut draft: Draft) -> Result<Outcome> {
        let context = Context {
            session: who.session.as_deref(),
            reason: who.reason.as_deref(),
            now: self.settings.now,
        };
        let notes = RefCell::new(Vec::new());
        let look = |plan: &Plan, staged: &[Option<PathBuf>]| inspect(plan, staged, &notes);
        let id = make(&mut self.store, &mut draft.plan, context, &look)?;
        draft.notes.extend(notes.into_inner());
        Ok(Outcome::Done(Box::new(Done {
            change: self.store.change(id)?,
            places: draft.places,
            notes: draft.notes,
        })))
    }

    /// Begins the names of what the next change writes aside.
    pub(super) fn next_token(&mut self) -> String {
        self.count += 1;
        token(&self.settings, self.count)
    }

    /// Plans a request on what the files say now: every skill it touches is read again first, so that what a person
    /// wrote into it meanwhile is in the history, and protects it.
    fn refreshed_draft(&mut self, who: &Who, request: &Request) -> Result<Draft> {
        self.refresh(request)?;
        let draft = self.draft(who, request)?;
        let touched = draft.wishes.iter().filter_map(|(_, skill)| skill.as_ref());
        let touched: Vec<i64> = touched.map(|skill| skill.id).collect();
        self.check_waiting(&touched)?;
        let asked_about = request.skill();
        let others: Vec<i64> = touched
            .into_iter()
            .filter(|id| Some(*id) != asked_about)
            .collect();
        if others.is_empty() || matches!(request, Request::Undo { .. }) {
            return Ok(draft);
        }
        for id in others {
            self.refresh_skill(id)?;
        }
        self.draft(who, request)
    }

    /// Leaves alone what an interrupted change still has in hand.
    pub(super) fn check_waiting(&self, touched: &[i64]) -> Result<()> {
        let waits = |change: &&Recovered| {
            change.fate == Fate::Waits && change.skills.iter().any(|id| touched.contains(id))
        };
        let Some(change) = self.recovered.iter().find(waits) else {
            return Ok(());
        };
        Err(Error::Denied {
            code: "interrupted-change-waits",
            message: format!(
                "change {} was cut short and cannot be finished yet: {}",
                change.change_id,
                change.trouble.as_deref().unwrap_or_default()
            ),
            hint: Some("mend what stands in its way first; nothing was changed".to_owned()),
        })
    }

    /// Plans a request.
    pub(super) fn draft(&self, who: &Who, request: &Request) -> Result<Draft> {
        let token = token(&self.settings, self.count);
        Planner::new(&self.store, &self.settings).draft(who, request, token)
    }

    /// Reads the skills of a request once more, so that an edit made by hand meanwhile is in the history.
    fn refresh(&mut self, request: &Request) -> Result<()> {
        let mut ids: Vec<i64> = request.skill().into_iter().collect();
        if let Request::Undo { change } = request {
            let change = self.store.change(*change)?;
            ids.extend(change.parts.iter().filter_map(|part| part.skill));
        }
        if let Request::Create { root, .. } = request {
            self.ensure_root(root)?;
        }
        for id in ids {
            self.refresh_skill(id)?;
        }
        Ok(())
    }

    pub(super) fn refresh_skill(&mut self, id: i64) -> Result<()> {
        let facts = self.store.skill_facts(id)?;
        if facts.has_ended {
            return Ok(());
        }
        let roots = self.store.roots()?;
        let Some(root) = roots.iter().find(|root| root.id == facts.root_id) else {
            return Ok(());
        };
        let place = (facts.rel_path.as_str(), id);
        let (budget, now) = (self.settings.support_budget, self.settings.now);
        if sync::refresh(&mut self.store, root, place, budget, now)? {
            return Ok(());
        }
        Err(Error::Denied {
            code: "skill-gone",
            message: format!(
                "`{}` is not at {} any more",
                facts.name,
                facts.path().display()
            ),
            hint: Some("`skilldb sync` looks where it went".to_owned()),
        })
    }

    /// Makes a folder that the configuration names a root of the library.
    pub(super) fn ensure_root(&mut self, path: &Path) -> Result<()> {
        let is_known = self.store.roots()?.iter().any(|root| root.path == path);
        let configured = self.settings.roots.iter().find(|root| root.path == path);
        if let (false, Some(root)) = (is_known, configured.cloned()) {
            let now = self.settings.now;
            self.store.append(|tx| tx.ensure_root(&root, now))?;
        }
        Ok(())
    }

    /// Notes an attempt at something that is about no single skill.
    pub(super) fn note_attempt(&mut self, who: &Who, action: Action, name: &str, error: &Error) {
        let attempt = Attempt {
            action: action.as_str(),
            actor: who.actor.as_str(),
            strategy: None,
            undoes: None,
            skill_id: None,
            name,
            file: None,
            before: None,
        };
        self.note_failed(who, &attempt, error);
    }

    /// Notes a failed attempt. What went wrong is told in any case, so trouble with noting it is not.
    fn note_failed(&mut self, who: &Who, attempt: &Attempt<'_>, error: &Error) {
        let context = Context {
            session: who.session.as_deref(),
            reason: who.reason.as_deref(),
            now: self.settings.now,
        };
        let _ = note_failure(&mut self.store, attempt, context, error);
    }

    /// Notes what failed, and of which skill where that can be told.
    fn note(&mut self, who: &Who, request: &Request, error: &Error) {
        let undone = match request {
            Request::Undo { change } => self.store.change(*change).ok(),
            _ => None,
        };
        let undoes = undone.as_ref().map(|change| change.id);
        // The skill the trouble is with, where that can be told; else the first one.
        let at = match error {
            Error::Clash { path, .. } | Error::Conflict { path, .. } => Some(path.clone()),
            _ => None,
        };
        let skills: Vec<i64> = undone
            .iter()
            .flat_map(|change| change.parts.iter().filter_map(|part| part.skill))
            .collect();
        let is_at = |id: &&i64| {
            let facts = self.store.skill_facts(**id).ok();
            facts.is_some_and(|facts| at.as_ref().is_some_and(|at| at.starts_with(facts.path())))
        };
        let skill = skills
            .iter()
            .find(is_at)
            .or_else(|| skills.first())
            .copied();
        let facts = request
            .skill()
            .or(skill)
            .and_then(|id| self.store.skill_facts(id).ok());
        let name = match (request, &facts) {
            (Request::Create { name, .. }, _) => name.clone(),
            (_, Some(facts)) => facts.name.clone(),
            (_, None) => String::new(),
        };
        let attempt = Attempt {
            action: request.action().as_str(),
            actor: who.actor.as_str(),
            strategy: None,
            undoes,
            skill_id: facts.as_ref().map(|facts| facts.id),
            name: &name,
            file: request
                .file()
                .or_else(|| facts.as_ref().map(|facts| facts.file_name.as_str())),
            before: None,
        };
        self.note_failed(who, &attempt, error);
    }
}

/// Says what a request would do. Takes no lock and writes nothing.
///
/// # Errors
/// Why it would not be done.
pub fn preview(
    store: &Store,
    settings: &Settings,
    who: &Who,
    request: &Request,
) -> Result<Preview> {
    let draft = Planner::new(store, settings).draft(who, request, "dry-run".to_owned())?;
    let asks = judge(who, request, &draft, &settings.policy)?;
    Ok(Preview {
        parts: draft
            .plan
            .parts
            .iter()
            .map(|part| (part.name.clone(), part.title.clone()))
            .collect(),
        diff: rendered::diff(store, &draft.plan)?,
        strategy: draft.plan.strategy,
        places: draft.places,
        notes: draft.notes,
        asks,
    })
}

/// Begins the names of what is written aside.
pub(super) fn token(settings: &Settings, count: u32) -> String {
    let seed = format!(
        "{}\0{}\0{}\0{count}",
        settings.home.display(),
        settings.now,
        std::process::id()
    );
    hash_of(seed.as_bytes())
        .get(..8)
        .unwrap_or_default()
        .to_owned()
}
