//! From a request to a plan: looks up what it is about and asks the planner of its kind.

use std::path::Path;

use super::absorb::{self, Absorbing};
use super::create::{self, New};
use super::draft::Draft;
use super::judge::leaves_root;
use super::ownership::{Reach, Verdict, Wish, decide};
use super::places;
use super::plan::Action;
use super::rename::{self, Renaming};
use super::request::{Request, Who};
use super::texts::{self, Patching};
use super::undo::{self, Undoing};
use super::writer::Settings;
use crate::error::{Error, Result};
use crate::patch;
use crate::store::{Actor, RootRow, SkillFacts, Store};

/// Plans requests on what the store knows now. Writes nothing.
pub(super) struct Planner<'a> {
    store: &'a Store,
    settings: &'a Settings,
}

impl<'a> Planner<'a> {
    pub(super) fn new(store: &'a Store, settings: &'a Settings) -> Self {
        Self { store, settings }
    }

    pub(super) fn draft(&self, who: &Who, request: &Request, token: String) -> Result<Draft> {
        let draft = Draft::new(request.action(), who.actor, token);
        match request {
            Request::Create {
                name,
                category,
                text,
                root,
            } => {
                let root = self.root(root)?;
                let origin = origin_of(who);
                let new = New {
                    name,
                    category: category.as_deref(),
                    text,
                    root: &root,
                    origin: (origin.0, &origin.1),
                };
                create::create(draft, self.store, new)
            }
            Request::Edit { skill, text, base } => {
                texts::edit(draft, &self.live(*skill)?, text, base.as_deref())
            }
            Request::Patch {
                skill,
                file,
                find,
                replace,
                all,
                base,
            } => {
                let asked = Patching {
                    file: file.as_deref(),
                    find,
                    replace,
                    reach: if *all {
                        patch::Reach::All
                    } else {
                        patch::Reach::One
                    },
                    base: base.as_deref(),
                };
                texts::patch(draft, &self.live(*skill)?, asked)
            }
            Request::Write {
                skill,
                file,
                content,
                executable,
                base,
            } => {
                let facts = self.live(*skill)?;
                texts::write(draft, &facts, (file, content), *executable, base.as_deref())
            }
            Request::RemoveFile { skill, file, base } => {
                texts::remove(draft, &self.live(*skill)?, file, base.as_deref())
            }
            Request::Rename { skill, to } => {
                let may_write = |other: &SkillFacts| self.may_write(who, Action::Rename, other);
                let asked = Renaming {
                    store: self.store,
                    to,
                    automations: &self.settings.automations,
                    may_write: &may_write,
                    may_write_outside: matches!(who.actor, Actor::User | Actor::Agent),
                };
                rename::rename(draft, &self.live(*skill)?, &asked)
            }
            Request::Archive { skill, .. } => {
                let reasons = places::Reasons {
                    why: who.reason.as_deref().unwrap_or("archived by hand"),
                    anchor: None,
                    heir: None,
                };
                let mut draft = draft;
                places::archive(&mut draft, &self.live(*skill)?, self.settings.now, reasons)?;
                Ok(draft)
            }
            Request::Restore { skill } => {
                let mut draft = draft;
                draft.reverses = self.store.archived_by(*skill)?;
                places::restore(draft, self.store, &self.live(*skill)?)
            }
            Request::DeleteForever { skill } => places::delete_forever(draft, &self.live(*skill)?),
            Request::Merge { parts, into, carry } => {
                let may_write = |other: &SkillFacts| self.may_write(who, Action::Merge, other);
                let parts: Vec<SkillFacts> = parts
                    .iter()
                    .map(|id| self.live(*id))
                    .collect::<Result<_>>()?;
                let asked = Absorbing {
                    store: self.store,
                    parts: &parts,
                    carry: *carry,
                    now: self.settings.now,
                    automations: &self.settings.automations,
                    may_write: &may_write,
                    may_write_outside: matches!(who.actor, Actor::User | Actor::Agent),
                };
                absorb::merge(draft, &self.live(*into)?, &asked)
            }
            Request::Undo { change } => self.undo(draft, *change),
        }
    }

    /// Whether a name in another skill may be rewritten without asking anybody.
    fn may_write(
        &self,
        who: &Who,
        action: Action,
        other: &SkillFacts,
    ) -> std::result::Result<(), String> {
        let wish = Wish {
            actor: who.actor,
            action,
            reach: Reach::Write,
            skill: Some(other),
            is_writable: other.is_writable,
            reverses: None,
            leaves_root: leaves_root(Some(other)),
        };
        match decide(wish, &self.settings.policy) {
            Verdict::Allow => Ok(()),
            // The change as a whole is asked for then.
            Verdict::Propose(_) => Ok(()),
            Verdict::Refuse { why, .. } => Err(why),
        }
    }

    fn undo(&self, draft: Draft, change: i64) -> Result<Draft> {
        let change = self.store.change(change)?;
        let mut facts = Vec::new();
        for id in change.parts.iter().filter_map(|part| part.skill) {
            facts.push(self.store.skill_facts(id)?);
        }
        undo::undo(
            draft,
            &Undoing {
                store: self.store,
                change: &change,
                facts: &facts,
            },
        )
    }

    /// A skill whose life goes on.
    fn live(&self, id: i64) -> Result<SkillFacts> {
        let facts = self.store.skill_facts(id)?;
        if facts.has_ended {
            return Err(Error::Denied {
                code: "skill-gone",
                message: format!("`{}` was removed", facts.name),
                hint: Some(format!(
                    "`skilldb log '#{id}'` shows the change; undoing it brings it back"
                )),
            });
        }
        Ok(facts)
    }

    /// The root a new skill belongs into: one of the library, or one the configuration names.
    fn root(&self, path: &Path) -> Result<RootRow> {
        if path != self.settings.own_root && !path.is_dir() {
            return Err(Error::NoFolder {
                path: path.to_path_buf(),
            });
        }
        let known = self
            .store
            .roots()?
            .into_iter()
            .find(|root| root.path == path);
        let configured = || {
            self.settings
                .roots
                .iter()
                .find(|root| root.path == path)
                .cloned()
        };
        known.or_else(configured).ok_or_else(|| Error::UnknownRoot {
            path: path.to_path_buf(),
        })
    }
}

/// Who a new skill belongs to, and why we think so.
fn origin_of(who: &Who) -> (&'static str, String) {
    let origin = match who.actor {
        Actor::User => "user",
        Actor::Agent | Actor::BackgroundReview | Actor::Curator => "agent",
    };
    let session = who
        .session
        .as_ref()
        .map(|session| format!(" in session {session}"));
    let evidence = format!(
        "created through skilldb by {}{}",
        who.actor.as_str(),
        session.unwrap_or_default()
    );
    (origin, evidence)
}
