//! What is said about a skill without changing its files: pins, switches, whose it is. Each is in the ledger.

use super::ownership::{Verdict, decide_mark};
use super::request::Who;
use super::writer::Writer;
use crate::error::{Error, Result};
use crate::store::{NewMark, SkillFacts, Store};

/// What is said about a skill.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Mark {
    /// Automation does not put it away.
    Pin,
    /// Automation may put it away again.
    Unpin,
    /// Agents see it again; everywhere, or on one platform.
    Enable(Option<String>),
    /// Agents do not see it; everywhere, or on one platform.
    Disable(Option<String>),
    /// Whose it is, where nobody knew: `user` or `agent`.
    Adopt(&'static str),
    /// A person's edit does not protect it any more.
    Release,
}

impl Mark {
    /// The word for it.
    #[must_use]
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Pin => "pin",
            Self::Unpin => "unpin",
            Self::Enable(_) => "enable",
            Self::Disable(_) => "disable",
            Self::Adopt(_) => "adopt",
            Self::Release => "release",
        }
    }

    fn value(&self) -> Option<&str> {
        match self {
            Self::Enable(platform) | Self::Disable(platform) => platform.as_deref(),
            Self::Adopt(whose) => Some(whose),
            Self::Pin | Self::Unpin | Self::Release => None,
        }
    }
}

impl Writer {
    /// Sets a mark. Says whether that was news.
    ///
    /// # Errors
    /// [`Error::Denied`] for who may not, and where the mark makes no sense.
    pub fn mark(&mut self, who: &Who, skill: i64, mark: &Mark) -> Result<bool> {
        self.refresh_skill(skill)?;
        if !is_news(self.store(), who, skill, mark)? {
            return Ok(false);
        }
        let now = self.settings().now;
        let noted = NewMark {
            skill,
            mark: mark.as_str(),
            value: mark.value(),
            reason: who.reason.as_deref(),
            actor: who.actor.as_str(),
            session: who.session.as_deref(),
        };
        self.store_mut().append(|tx| {
            match mark {
                Mark::Pin => tx.set_pinned(skill, true, who.reason.as_deref())?,
                Mark::Unpin => tx.set_pinned(skill, false, None)?,
                Mark::Disable(platform) => tx.disable_skill(skill, platform.as_deref())?,
                Mark::Enable(platform) => tx.enable_skill(skill, platform.as_deref())?,
                Mark::Adopt(whose) => {
                    let evidence = format!("adopted by {}", who.actor.as_str());
                    tx.set_origin(skill, whose, &evidence)?;
                }
                Mark::Release => tx.release_skill(skill)?,
            }
            tx.note_mark(&noted, now)
        })?;
        Ok(true)
    }
}

/// Says whether a mark would be news. Writes nothing.
///
/// # Errors
/// [`Error::Denied`] for who may not, and where the mark makes no sense.
pub fn is_news(store: &Store, who: &Who, skill: i64, mark: &Mark) -> Result<bool> {
    let facts = store.skill_facts(skill)?;
    if let Verdict::Refuse { code, why, hint } = decide_mark(who.actor, mark, &facts) {
        return Err(Error::Denied {
            code,
            message: why,
            hint,
        });
    }
    let disabled = store.disabled_on(skill)?;
    Ok(match mark {
        Mark::Pin => !facts.is_pinned,
        Mark::Unpin => facts.is_pinned,
        Mark::Disable(platform) => !disabled.contains(platform),
        Mark::Enable(None) => !disabled.is_empty(),
        Mark::Enable(Some(_)) if disabled.contains(&None) => {
            return Err(Error::Denied {
                code: "disabled-everywhere",
                message: format!("`{}` is disabled everywhere", facts.name),
                hint: Some(format!("`skilldb enable {}` shows it again", facts.name)),
            });
        }
        Mark::Enable(platform) => disabled.contains(platform),
        Mark::Adopt(whose) => facts.origin != *whose,
        Mark::Release => facts.human_edited_at.is_some(),
    })
}

/// Refuses marks that make no sense for a skill.
pub(super) fn check(
    mark: &Mark,
    skill: &SkillFacts,
) -> Option<(&'static str, String, Option<String>)> {
    match mark {
        Mark::Release if skill.origin != "agent" => Some((
            "not-made-by-agents",
            format!(
                "no agent made `{}`: there is nothing to release",
                skill.name
            ),
            Some(format!(
                "`skilldb adopt {} --as agent` leaves it to agents",
                skill.name
            )),
        )),
        _ => None,
    }
}
