//! Who may change what. One pure function, asked by every change, on what the store knows at that moment.
//!
//! | who | writes (create, edit, patch, files, rename) | archive, delete | delete for good |
//! |---|---|---|---|
//! | user | yes | yes | yes |
//! | agent | yes | its own: yes; a person's or a pinned one: a proposal | a proposal |
//! | background review, curator | only what agents made and no person changed since | the same, unless pinned | no |
//!
//! Marks (pin, unpin, enable, disable, adopt, release) are set by people; an agent may pin. Nobody writes below a root that is read-only. `write_policy` in the configuration narrows each cell to `ask`
//! (a proposal) or `deny`; it never widens one, except that `auto` for an agent makes its proposals changes.

use std::collections::HashMap;

use super::marks::{self, Mark};
use super::plan::Action;
use super::shield::{Shield, shields};
use crate::error::{Error, Result};
use crate::store::{Actor, SkillFacts};

/// What becomes of a wish to change something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// It is done.
    Allow,
    /// A person decides; why.
    Propose(String),
    /// It is not done.
    Refuse {
        /// A stable word for the rule.
        code: &'static str,
        /// Why.
        why: String,
        /// What a person could do about it.
        hint: Option<String>,
    },
}

/// What the configuration says about one actor and action.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rule {
    /// Done at once.
    Auto,
    /// A person decides.
    Ask,
    /// Not done.
    Deny,
}

impl Rule {
    /// Reads the word.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        match word {
            "auto" => Some(Self::Auto),
            "ask" => Some(Self::Ask),
            "deny" => Some(Self::Deny),
            _ => None,
        }
    }
}

/// The write policy: what the configuration says, by actor and action. Empty: the table above.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Policy {
    /// Names of skills that automation does not put away.
    pub protected: Vec<String>,
    /// Whether the curator may put away what came with a client.
    pub ages_bundled: bool,
    rules: HashMap<(&'static str, &'static str), Rule>,
}

/// Stands for every action of an actor.
const EVERY: &str = "*";

impl Policy {
    /// Sets the rule for an actor and an action; `None` for every action that has none of its own.
    pub fn set(&mut self, actor: Actor, action: Option<Action>, rule: Rule) {
        let action = action.map_or(EVERY, Action::as_str);
        self.rules.insert((actor.as_str(), action), rule);
    }

    fn rule(&self, actor: Actor, action: Action) -> Option<Rule> {
        let get = |action| self.rules.get(&(actor.as_str(), action)).copied();
        get(action.as_str()).or_else(|| get(EVERY))
    }
}

/// What a change does to a skill, as far as it matters who does it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// Its text or files change, or it is new.
    Write,
    /// It leaves its place: archive, delete, absorb.
    Remove,
    /// It leaves, and its archive with it.
    RemoveForGood,
}

/// A wish to change one skill.
#[derive(Debug, Clone, Copy)]
pub struct Wish<'a> {
    /// Who.
    pub actor: Actor,
    /// What.
    pub action: Action,
    /// What it does to the skill.
    pub reach: Reach,
    /// The skill; `None` for a new one.
    pub skill: Option<&'a SkillFacts>,
    /// Whether files below the root may be changed.
    pub is_writable: bool,
    /// Who made what is taken back, as a word; `None` when nothing is.
    pub reverses: Option<&'a str>,
    /// Whether the skill's folder really lies outside of its root, behind a link.
    pub leaves_root: bool,
}

/// Decides.
#[must_use]
pub fn decide(wish: Wish<'_>, policy: &Policy) -> Verdict {
    if !wish.is_writable {
        return Verdict::Refuse {
            code: "read-only-root",
            why: match wish.skill {
                Some(skill) => format!(
                    "`{}` lies in {}, a {} root that is read-only",
                    skill.name,
                    skill.root.display(),
                    skill.root_kind
                ),
                None => "the root is read-only".to_owned(),
            },
            hint: Some(
                "set `writable: true` for that root in the configuration if it is yours".to_owned(),
            ),
        };
    }
    let rule = policy.rule(wish.actor, wish.action);
    if rule == Some(Rule::Deny) {
        return Verdict::Refuse {
            code: "denied-by-policy",
            why: format!(
                "the write policy denies `{}` to {}",
                wish.action.as_str(),
                wish.actor.as_str()
            ),
            hint: Some("`write_policy` in the configuration decides this".to_owned()),
        };
    }
    let is_of_person = wish.reverses == Some(Actor::User.as_str());
    let verdict = match wish.actor {
        Actor::User => Verdict::Allow,
        Actor::BackgroundReview | Actor::Curator if is_of_person => Verdict::Refuse {
            code: "decided-by-a-person",
            why: "a person decided that: automation does not take it back".to_owned(),
            hint: None,
        },
        Actor::Agent if is_of_person => {
            Verdict::Propose("a person decided what is to be taken back".to_owned())
        }
        Actor::Agent | Actor::BackgroundReview | Actor::Curator if wish.leaves_root => {
            Verdict::Refuse {
                code: "link-leaves-root",
                why: format!(
                    "`{}` is reached through a link that leads out of its root",
                    wish.skill.map_or("", |skill| skill.name.as_str())
                ),
                hint: Some(
                    "a person may change it, or make the folder it leads to a root".to_owned(),
                ),
            }
        }
        Actor::Agent => of_agent(wish, policy),
        Actor::BackgroundReview | Actor::Curator => of_background(wish, policy),
    };
    match (verdict, rule) {
        (Verdict::Allow, Some(Rule::Ask)) => Verdict::Propose(format!(
            "the write policy asks before `{}` by {}",
            wish.action.as_str(),
            wish.actor.as_str()
        )),
        (Verdict::Propose(_), Some(Rule::Auto)) => Verdict::Allow,
        (verdict, _) => verdict,
    }
}

fn of_agent(wish: Wish<'_>, policy: &Policy) -> Verdict {
    let Some(skill) = wish.skill else {
        return Verdict::Allow;
    };
    match wish.reach {
        Reach::Write => Verdict::Allow,
        Reach::RemoveForGood => {
            Verdict::Propose(format!("only a person removes `{}` for good", skill.name))
        }
        Reach::Remove => match shields(skill, policy, Reach::Write)
            .iter()
            .find(|shield| **shield == Shield::Pinned || shield.is_about_origin())
        {
            Some(shield) => Verdict::Propose(format!("`{}` {}", skill.name, shield.why())),
            None => Verdict::Allow,
        },
    }
}

fn of_background(wish: Wish<'_>, policy: &Policy) -> Verdict {
    let Some(skill) = wish.skill else {
        return Verdict::Allow;
    };
    let refuse = |code, why: String, hint: Option<String>| Verdict::Refuse { code, why, hint };
    let found = shields(skill, policy, wish.reach);
    let Some(shield) = found.iter().find(|shield| shield.stops(wish.reach)) else {
        return match wish.reach {
            Reach::Write | Reach::Remove => Verdict::Allow,
            Reach::RemoveForGood => refuse(
                "never-for-good",
                format!("automation never removes `{}` for good", skill.name),
                Some("archive it instead".to_owned()),
            ),
        };
    };
    let why = format!("`{}` {}", skill.name, shield.why());
    match shield {
        Shield::Pinned => refuse(
            "pinned",
            why,
            Some(format!("`skilldb unpin {}` first", skill.name)),
        ),
        shield if shield.is_about_origin() => refuse(
            "not-made-by-agents",
            format!("{why}: automation leaves it alone"),
            (skill.origin == "agent")
                .then(|| format!("`skilldb release {}` leaves it to agents again", skill.name)),
        ),
        shield => refuse(shield.code(), why, None),
    }
}

/// Refuses what is no change to one skill and that only people decide: restoring and pruning snapshots, purging,
/// taking over archives, deciding about proposals, which folders belong to the library.
///
/// # Errors
/// [`Error::Denied`] for everybody else.
pub fn only_people(actor: Actor, what: &str) -> Result<()> {
    if actor == Actor::User {
        return Ok(());
    }
    Err(Error::Denied {
        code: "only-a-person",
        message: format!("only a person may {what}"),
        hint: None,
    })
}

/// Decides about a mark. What protects a skill from automation is taken off by people only.
#[must_use]
pub(super) fn decide_mark(actor: Actor, mark: &Mark, skill: &SkillFacts) -> Verdict {
    if let Some((code, why, hint)) = marks::check(mark, skill) {
        return Verdict::Refuse { code, why, hint };
    }
    match (actor, mark) {
        (Actor::User, _) | (Actor::Agent, Mark::Pin) => Verdict::Allow,
        (Actor::Agent | Actor::BackgroundReview | Actor::Curator, _) => Verdict::Refuse {
            code: "only-a-person",
            why: format!("only a person may {} `{}`", mark.as_str(), skill.name),
            hint: None,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn skill(origin: &str) -> SkillFacts {
        SkillFacts {
            id: 1,
            root_id: 1,
            root: "/r".into(),
            root_kind: "local".to_owned(),
            is_writable: true,
            rel_path: "s".to_owned(),
            name: "s".to_owned(),
            file_name: "SKILL.md".to_owned(),
            origin: origin.to_owned(),
            state: "active".to_owned(),
            is_pinned: false,
            human_edited_at: None,
            archived_from: None,
            has_ended: false,
            is_missing: false,
        }
    }

    fn word(
        actor: Actor,
        reach: Reach,
        skill: Option<&SkillFacts>,
        policy: &Policy,
    ) -> &'static str {
        let action = match reach {
            Reach::Write => Action::Patch,
            Reach::Remove => Action::Archive,
            Reach::RemoveForGood => Action::Delete,
        };
        let wish = Wish {
            actor,
            action,
            reach,
            skill,
            is_writable: true,
            reverses: None,
            leaves_root: false,
        };
        match decide(wish, policy) {
            Verdict::Allow => "allow",
            Verdict::Propose(_) => "propose",
            Verdict::Refuse { code, .. } => code,
        }
    }

    #[test]
    fn the_table_of_the_default_policy() {
        let policy = Policy::default();
        let mut pinned = skill("agent");
        pinned.is_pinned = true;
        let mut edited = skill("agent");
        edited.human_edited_at = Some("2026-01-01".to_owned());
        let all = [
            skill("user"),
            skill("unknown"),
            skill("hub"),
            edited.clone(),
            skill("agent"),
            pinned.clone(),
        ];
        for each in &all {
            for reach in [Reach::Write, Reach::Remove, Reach::RemoveForGood] {
                assert_eq!(word(Actor::User, reach, Some(each), &policy), "allow");
            }
            assert_eq!(
                word(Actor::Agent, Reach::Write, Some(each), &policy),
                "allow"
            );
            assert_eq!(
                word(Actor::Agent, Reach::RemoveForGood, Some(each), &policy),
                "propose"
            );
        }
        let archive = |actor| {
            all.iter()
                .map(|each| word(actor, Reach::Remove, Some(each), &policy))
                .collect::<Vec<_>>()
        };
        assert_eq!(
            archive(Actor::Agent),
            [
                "propose", "propose", "propose", "propose", "allow", "propose"
            ]
        );
        let no = "not-made-by-agents";
        for actor in [Actor::BackgroundReview, Actor::Curator] {
            assert_eq!(archive(actor), [no, no, no, no, "allow", "pinned"]);
            let writes: Vec<_> = all
                .iter()
                .map(|each| word(actor, Reach::Write, Some(each), &policy))
                .collect();
            assert_eq!(writes, [no, no, no, no, "allow", "allow"]);
            assert_eq!(
                word(actor, Reach::RemoveForGood, Some(&skill("agent")), &policy),
                "never-for-good"
            );
            assert_eq!(word(actor, Reach::Write, None, &policy), "allow");
        }
    }

    #[test]
    fn the_configuration_narrows_and_only_widens_for_agents() {
        let mut policy = Policy::default();
        policy.set(Actor::Agent, None, Rule::Auto);
        policy.set(Actor::Agent, Some(Action::Patch), Rule::Ask);
        policy.set(Actor::Curator, None, Rule::Auto);
        policy.set(Actor::BackgroundReview, None, Rule::Deny);
        let mine = skill("user");
        assert_eq!(
            word(Actor::Agent, Reach::Remove, Some(&mine), &policy),
            "allow"
        );
        assert_eq!(
            word(Actor::Agent, Reach::Write, Some(&mine), &policy),
            "propose"
        );
        assert_eq!(
            word(Actor::Curator, Reach::Remove, Some(&mine), &policy),
            "not-made-by-agents"
        );
        assert_eq!(
            word(
                Actor::BackgroundReview,
                Reach::Write,
                Some(&skill("agent")),
                &policy
            ),
            "denied-by-policy"
        );
    }

    #[test]
    fn what_a_person_decided_is_not_taken_back_by_automation() {
        let mine = skill("agent");
        let verdict = |actor, leaves_root: bool| {
            let wish = Wish {
                actor,
                action: Action::Undo,
                reach: Reach::Write,
                skill: Some(&mine),
                is_writable: true,
                reverses: (!leaves_root).then_some("user"),
                leaves_root,
            };
            decide(wish, &Policy::default())
        };
        for actor in [Actor::BackgroundReview, Actor::Curator] {
            assert!(matches!(
                verdict(actor, false),
                Verdict::Refuse {
                    code: "decided-by-a-person",
                    ..
                }
            ));
            assert!(matches!(
                verdict(actor, true),
                Verdict::Refuse {
                    code: "link-leaves-root",
                    ..
                }
            ));
        }
        assert!(matches!(verdict(Actor::Agent, false), Verdict::Propose(_)));
        assert_eq!(verdict(Actor::User, false), Verdict::Allow);
    }

    #[test]
    fn nobody_writes_below_a_read_only_root() {
        let mine = skill("user");
        let wish = Wish {
            actor: Actor::User,
            action: Action::Patch,
            reach: Reach::Write,
            skill: Some(&mine),
            is_writable: false,
            reverses: None,
            leaves_root: false,
        };
        assert!(matches!(
            decide(wish, &Policy::default()),
            Verdict::Refuse {
                code: "read-only-root",
                ..
            }
        ));
    }
}
