//! What keeps automation from a skill: the same list decides about a change and is told by the curator.

use super::ownership::{Policy, Reach};
use crate::store::SkillFacts;

/// Something that keeps automation from a skill.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Shield {
    /// A person pinned it.
    Pinned,
    /// A person made it.
    User,
    /// A person changed it since an agent made it.
    HumanEdited,
    /// It was installed from a hub.
    Hub,
    /// It belongs to somebody else.
    External,
    /// It came with a client.
    Bundled,
    /// Nobody knows who made it.
    UnknownOrigin,
    /// Nobody writes below its root.
    ReadOnlyRoot,
    /// The configuration protects its name.
    ProtectedName,
    /// An automation names it, in this place.
    Automation(String),
    /// A file of automations cannot be read, so nobody knows what it names.
    UnreadAutomation(String),
}

impl Shield {
    /// A stable word for it.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Pinned => "pinned",
            Self::User => "user",
            Self::HumanEdited => "human-edited",
            Self::Hub => "hub",
            Self::External => "external",
            Self::Bundled => "bundled",
            Self::UnknownOrigin => "unknown-origin",
            Self::ReadOnlyRoot => "read-only-root",
            Self::ProtectedName => "protected-name",
            Self::Automation(_) => "automation",
            Self::UnreadAutomation(_) => "unread-automation",
        }
    }

    /// Why, in words that follow the skill's name.
    #[must_use]
    pub fn why(&self) -> String {
        match self {
            Self::Pinned => "is pinned".to_owned(),
            Self::User => "was made by a person".to_owned(),
            Self::HumanEdited => "was changed by a person since an agent made it".to_owned(),
            Self::Hub => "was installed from a hub".to_owned(),
            Self::External => "belongs to somebody else".to_owned(),
            Self::Bundled => "came with a client".to_owned(),
            Self::UnknownOrigin => "is of unknown origin".to_owned(),
            Self::ReadOnlyRoot => "lies below a root that is read-only".to_owned(),
            Self::ProtectedName => "has a protected name".to_owned(),
            Self::Automation(place) => format!("is named by an automation: {place}"),
            Self::UnreadAutomation(what) => {
                format!("may be named by an automation that cannot be read: {what}")
            }
        }
    }

    /// Whether it is about who made the skill.
    #[must_use]
    pub(super) fn is_about_origin(&self) -> bool {
        matches!(
            self,
            Self::User
                | Self::HumanEdited
                | Self::Hub
                | Self::External
                | Self::Bundled
                | Self::UnknownOrigin
        )
    }

    /// Whether it stops this.
    pub(super) fn stops(&self, reach: Reach) -> bool {
        match self {
            Self::Pinned | Self::ProtectedName => reach != Reach::Write,
            _ => true,
        }
    }
}

/// What keeps automation from a skill, as far as the store and the configuration know; the one that is told first is
/// the first. What came with a client may be put away where the configuration says so, and is never written to.
#[must_use]
pub fn shields(skill: &SkillFacts, policy: &Policy, reach: Reach) -> Vec<Shield> {
    let mut shields = Vec::new();
    if skill.is_pinned {
        shields.push(Shield::Pinned);
    }
    let origin = match skill.origin.as_str() {
        "agent" => None,
        "user" => Some(Shield::User),
        "hub" => Some(Shield::Hub),
        "external" => Some(Shield::External),
        "bundled" if policy.ages_bundled && reach == Reach::Remove => None,
        "bundled" => Some(Shield::Bundled),
        _ => Some(Shield::UnknownOrigin),
    };
    if skill.human_edited_at.is_some() && matches!(skill.origin.as_str(), "agent" | "bundled") {
        shields.push(Shield::HumanEdited);
    }
    shields.extend(origin);
    if !skill.is_writable {
        shields.push(Shield::ReadOnlyRoot);
    }
    if policy.protected.contains(&skill.name) {
        shields.push(Shield::ProtectedName);
    }
    shields
}
