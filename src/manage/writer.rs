//! The door itself: holds the library's lock, finishes what was cut short, and carries out what is asked for,
//! asks for, or notes why not.

use std::cell::RefCell;
use std::path::{Path, PathBuf};

use super::draft::Draft;
use super::guarded::{Gate, GateSettings, Passed, Wish};
use super::judge::judge;
use super::make::{Context, make};
use super::ownership::Policy;
use super::plan::{Effect, Plan};
use super::planner::Planner;
use super::proposals;
use super::recover::{Fate, Recovered, recover};
use super::request::{Request, Who};
use crate::error::{Error, Result};
use crate::hash::hash_of;
use crate::store::{self, Actor, ChangeRow, Decision, LibraryLock, ProposalRow, RootRow, Store};
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
    /// What is let into a skill.
    pub gate: GateSettings,
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
    gate: Gate,
    /// A person approved what is carried out.
    is_approved: bool,
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
            gate: Gate::default(),
            is_approved: false,
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
        self.is_approved = true;
        let done = self.perform(&who, &request, Consent::Given(id));
        self.is_approved = false;
        done
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
        let passed: RefCell<Passed> = RefCell::new(Vec::new());
        let skills = draft.wishes.iter().filter_map(|(_, skill)| skill.as_ref());
        let wish = Wish {
            actor: who.actor,
            is_person: who.actor == Actor::User || self.is_approved,
            is_rehearsal: false,
            skills: skills.collect(),
        };
        let look = |plan: &Plan, staged: &[Option<PathBuf>]| {
            let looked = self
                .gate
                .inspect(&self.settings.gate, &wish, (plan, staged), &notes)?;
            passed.borrow_mut().extend(looked);
            Ok(())
        };
        let id = make(&mut self.store, &mut draft.plan, context, &look)?;
        draft.notes.extend(notes.into_inner());
        let change = self.store.change(id)?;
        let now = self.settings.now;
        self.gate.keep(
            &self.settings.gate,
            &mut self.store,
            &change,
            (&passed.into_inner(), now),
        );
        Ok(Outcome::Done(Box::new(Done {
            change,
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
