//! Brings what readers found into the ledger, batch by batch.

use std::collections::HashSet;
use std::path::Path;

use super::Options;
use super::found::{Found, FoundUse};
use super::summary::{Summary, count};
use crate::error::Result;
use crate::store::{
    Actor, Added, Cost, ImportFile, ImportedChange, Store, Trigger, Tx, UsageEvent, UseKind,
};
use crate::time::Timestamp;
use crate::usage::{Call, Meant, Recording, Resolver, add_candidate, add_typed};

/// Where found things go.
pub(super) struct Sink<'s> {
    pub(super) store: &'s mut Store,
    pub(super) client: &'static str,
    resolver: Resolver<'s>,
    options: &'s Options<'s>,
    /// Names and skills whose use a baseline counts already.
    counted_names: HashSet<String>,
    counted_skills: Vec<i64>,
}

/// One thing ready to be written.
enum Ready {
    Event(Box<UsageEvent>),
    /// A use that was told before, now with the folder it was loaded from.
    Place(Box<UsageEvent>),
    /// A typed command, which a hook may have noted under another id; with the skills it may mean.
    Typed(Box<UsageEvent>, Vec<i64>),
    Outcome(String, bool),
    Candidate(Box<Recording>),
    Cost(super::found::FoundCost, Timestamp),
}

impl<'s> Sink<'s> {
    pub(super) fn new(
        store: &'s mut Store,
        client: &'static str,
        options: &'s Options<'s>,
    ) -> Self {
        Self {
            store,
            client,
            resolver: Resolver::new(options.roots),
            options,
            counted_names: HashSet::new(),
            counted_skills: Vec::new(),
        }
    }

    /// Says which names and skills (in order) have their uses counted by a baseline.
    pub(super) fn in_baseline(&mut self, names: &HashSet<String>, skills: &[i64]) {
        self.counted_names.clone_from(names);
        self.counted_skills = skills.to_vec();
    }

    /// Takes over changes another agent made; returns how many are new.
    ///
    /// # Errors
    /// [`crate::Error::Database`].
    pub(super) fn put_changes(&mut self, changes: &[ImportedChange]) -> Result<u64> {
        if changes.is_empty() {
            return Ok(0);
        }
        self.store.append(|tx| {
            let mut new = 0;
            for change in changes {
                new += u64::from(tx.add_imported_change(change)?);
            }
            Ok(new)
        })
    }

    /// Writes what was found, and how far its file was read, in one transaction. `fallback` is the time
    /// of what has none.
    ///
    /// # Errors
    /// [`crate::Error::Database`].
    pub(super) fn put(
        &mut self,
        found: Vec<Found>,
        fallback: Timestamp,
        file: Option<&ImportFile>,
        summary: &mut Summary,
    ) -> Result<()> {
        let mut ready = Vec::with_capacity(found.len());
        for found in found {
            match found {
                Found::Use(found) => {
                    if let Some(item) = self.prepare(*found, fallback, summary)? {
                        ready.push(item);
                    }
                }
                Found::Candidate(found) => {
                    let at = time(found.at.as_deref(), fallback);
                    if !self.is_older(at) {
                        ready.push(Ready::Candidate(Box::new(self.recording(*found, at))));
                    }
                }
                Found::Outcome(event_id, ok) => ready.push(Ready::Outcome(event_id, ok)),
                Found::Cost(cost) => {
                    let at = time(cost.at.as_deref(), fallback);
                    if !self.is_older(at) {
                        ready.push(Ready::Cost(cost, at));
                    }
                }
            }
        }
        if ready.is_empty() && file.is_none() {
            return Ok(());
        }
        let (client, now) = (self.client, self.options.now);
        let added = self.store.append(|tx| {
            let mut added = Vec::with_capacity(ready.len());
            for item in &ready {
                added.push(write(tx, client, item)?);
            }
            if let Some(file) = file {
                tx.put_import_file(client, file, now)?;
            }
            Ok(added)
        })?;
        for added in added.into_iter().flatten() {
            match added {
                Added::New => summary.new += 1,
                Added::Known => summary.known += 1,
            }
        }
        Ok(())
    }

    pub(super) fn is_older(&self, at: Timestamp) -> bool {
        self.options.since.is_some_and(|since| at < since)
    }

    /// Finds the skill of a use, and makes the event of it. `None` for one that is older than asked for.
    fn prepare(
        &mut self,
        found: FoundUse,
        fallback: Timestamp,
        summary: &mut Summary,
    ) -> Result<Option<Ready>> {
        let at = time(found.at.as_deref(), fallback);
        if self.is_older(at) {
            summary.older += 1;
            return Ok(None);
        }
        let call = Call {
            name: &found.name,
            path: found.path.as_deref(),
            client: Some(self.client),
            project: found.project.as_deref(),
        };
        let meant = self.resolver.resolve(self.store, call)?;
        let is_again = found.is_again;
        if !is_again {
            tally(summary, &found, &meant);
        }
        let skill_id = meant.skill().map(|skill| skill.id);
        let event = self.event(found, at, skill_id);
        if is_again {
            return Ok(Some(Ready::Place(Box::new(event))));
        }
        if event.trigger == Trigger::Slash && self.client == "claude-code" {
            let name = event.called_name.rsplit(':').next().unwrap_or_default();
            let same_name = self.store.skills_named(name)?;
            let ids = same_name.iter().map(|skill| skill.id).collect();
            return Ok(Some(Ready::Typed(Box::new(event), ids)));
        }
        Ok(Some(Ready::Event(Box::new(event))))
    }

    /// What is recorded when its folder turns out to be a skill's.
    fn recording(&self, found: FoundUse, at: Timestamp) -> Recording {
        Recording {
            kind: Some(found.kind.as_str().to_owned()),
            name: found.name,
            event_id: Some(found.event_id),
            at: Some(at.to_string()),
            ok: found.ok,
            trigger: Some(found.trigger.as_str().to_owned()),
            client: Some(self.client.to_owned()),
            session: found.session,
            subagent: found.subagent,
            channel: found.channel,
            project: found.project,
            machine: Some(self.options.machine.to_owned()),
            path: found.path,
            args: found.args.map(cut),
            ..Recording::default()
        }
    }

    fn event(&self, found: FoundUse, at: Timestamp, skill_id: Option<i64>) -> UsageEvent {
        let in_baseline = self.counted_names.contains(&found.name)
            || skill_id.is_some_and(|id| self.counted_skills.binary_search(&id).is_ok());
        UsageEvent {
            event_id: found.event_id,
            skill_id,
            called_name: cut(found.name),
            called_path: found.path,
            // Hermes counts a view as a use, too; where its sidecar does not, nobody else does.
            kind: match found.kind {
                UseKind::View if self.client == "hermes" && !in_baseline => UseKind::Use,
                kind => kind,
            },
            trigger: found.trigger,
            actor: if found.trigger == Trigger::Slash {
                Actor::User
            } else {
                Actor::Agent
            },
            client: Some(self.client.to_owned()),
            session_id: found.session,
            subagent: found.subagent,
            channel: found.channel,
            project: found.project,
            machine: Some(self.options.machine.to_owned()),
            at,
            ok: found.ok,
            args: found.args.map(cut),
            file: found.file,
            content_hash: None,
            tokens_in: None,
            tokens_out: None,
            in_baseline,
        }
    }
}

/// Longest name or argument, in characters.
const LONGEST: usize = 1_000;

fn cut(text: String) -> String {
    match text.char_indices().nth(LONGEST) {
        Some((at, _)) => text[..at].to_owned(),
        None => text,
    }
}

fn time(text: Option<&str>, fallback: Timestamp) -> Timestamp {
    text.and_then(Timestamp::parse_lenient)
        .filter(|at| at.is_writable())
        .unwrap_or(fallback)
}

fn write(tx: &Tx<'_>, client: &str, item: &Ready) -> Result<Option<Added>> {
    match item {
        Ready::Event(event) => tx.add_event(event).map(Some),
        Ready::Typed(event, ids) => add_typed(tx, event, ids).map(Some),
        Ready::Place(event) => tx.add_event(event).map(|_| None),
        Ready::Candidate(recording) => add_candidate(tx, recording).map(|()| None),
        Ready::Outcome(event_id, ok) => tx.settle_event(event_id, *ok).map(|()| None),
        Ready::Cost(cost, at) => tx
            .add_cost(&Cost {
                message_id: &cost.message_id,
                event_id: cost.event_id.as_deref(),
                called_name: &cost.name,
                client,
                session_id: cost.session.as_deref(),
                at: *at,
                tokens_in: cost.tokens_in,
                tokens_out: cost.tokens_out,
            })
            .map(|()| None),
    }
}

fn tally(summary: &mut Summary, found: &FoundUse, meant: &Meant) {
    if found.ok == Some(false) {
        summary.failures += 1;
    }
    match meant {
        Meant::Skill(skill) => {
            let fresh = || (skill.name.clone(), skill.path(), 0);
            summary.skills.entry(skill.id).or_insert_with(fresh).2 += 1;
        }
        Meant::Several(_) => count(&mut summary.unclear, &found.name),
        Meant::Unknown => {
            count(&mut summary.not_installed, &found.name);
            let folder = found.path.as_deref().map(Path::new);
            if let Some(parent) = folder
                .filter(|folder| folder.join("SKILL.md").is_file())
                .and_then(Path::parent)
            {
                summary
                    .unknown_folders
                    .insert(parent.to_string_lossy().into_owned());
            }
        }
    }
}
