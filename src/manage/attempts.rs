//! Failed attempts, noted beside the changes that were made.

use super::make::{Attempt, Context, note_failure};
use super::plan::Action;
use super::request::{Request, Who};
use super::writer::Writer;
use crate::error::Error;

impl Writer {
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
            now: self.settings().now,
        };
        let _ = note_failure(self.store_mut(), attempt, context, error);
    }

    /// Notes what failed, and of which skill where that can be told.
    pub(super) fn note(&mut self, who: &Who, request: &Request, error: &Error) {
        let undone = match request {
            Request::Undo { change } => self.store().change(*change).ok(),
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
            let facts = self.store().skill_facts(**id).ok();
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
            .and_then(|id| self.store().skill_facts(id).ok());
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
