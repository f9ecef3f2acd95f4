//! One record of the sidecar, read leniently: what makes no sense is told and taken as nothing.

use serde_json::Value;

use crate::share::export::OWN;
use crate::store::NamedSkill;
use crate::time::Timestamp;

/// A record as it counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Record {
    pub(super) name: String,
    /// Who made the skill.
    pub(super) maker: Maker,
    pub(super) uses: u64,
    pub(super) views: u64,
    pub(super) patches: u64,
    pub(super) used_at: Option<Timestamp>,
    pub(super) viewed_at: Option<Timestamp>,
    pub(super) patched_at: Option<Timestamp>,
    pub(super) created_at: Option<Timestamp>,
    pub(super) archived_at: Option<Timestamp>,
    pub(super) state: &'static str,
    pub(super) pinned: bool,
    /// As it was read, to see whether it changes.
    pub(super) text: String,
}

impl Record {
    /// Reads a record; what cannot be used is told in `notes`. `None` for what is no object.
    pub(super) fn read(
        name: &str,
        value: &Value,
        library: &str,
        notes: &mut Vec<String>,
    ) -> Option<Self> {
        let Some(fields) = value.as_object() else {
            notes.push(format!("the record `{name}` is no object, left out"));
            return None;
        };
        // What this library handed on is counted here already.
        let own = fields
            .get(OWN)
            .filter(|own| own.get("library").is_some_and(|by| by == library));
        let handed_on = |key: &str| {
            let own = own.and_then(|own| own.get(key)).and_then(Value::as_u64);
            own.unwrap_or_default()
        };
        let count = |key: &str, notes: &mut Vec<String>| match count(fields.get(key)) {
            Ok(count) => count.saturating_sub(handed_on(key)),
            Err(what) => {
                notes.push(format!("`{key}` of `{name}` is {what}, taken as 0"));
                0
            }
        };
        let time = |key: &str, notes: &mut Vec<String>| match time(fields.get(key)) {
            Ok(time) => time,
            Err(what) => {
                notes.push(format!("`{key}` of `{name}` is {what}, which is no time"));
                None
            }
        };
        let state = match fields.get("state") {
            None | Some(Value::Null) => "active",
            Some(state) => match ["active", "stale", "archived"]
                .into_iter()
                .find(|known| state == known)
            {
                Some(known) => known,
                None => {
                    notes.push(format!("`state` of `{name}` is {state}, taken as active"));
                    "active"
                }
            },
        };
        Some(Self {
            name: name.to_owned(),
            maker: maker(fields),
            uses: count("use_count", notes),
            views: count("view_count", notes),
            patches: count("patch_count", notes),
            used_at: time("last_used_at", notes),
            viewed_at: time("last_viewed_at", notes),
            patched_at: time("last_patched_at", notes),
            created_at: time("created_at", notes),
            archived_at: time("archived_at", notes),
            state,
            pinned: fields.get("pinned") == Some(&Value::Bool(true)),
            text: value.to_string(),
        })
    }

    pub(super) fn is_archived(&self) -> bool {
        self.state == "archived"
    }
}

/// Who made a skill, as far as its record tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Maker {
    /// Hermes' own agent, by itself.
    Agent,
    /// Nobody but the person at work: only what its agent makes by itself is marked.
    Person,
    /// The record does not say.
    Unknown,
}

fn maker(fields: &serde_json::Map<String, Value>) -> Maker {
    match fields.get("created_by") {
        Some(by) if by == "agent" => Maker::Agent,
        _ if fields.get("agent_created") == Some(&Value::Bool(true)) => Maker::Agent,
        Some(Value::Null) => Maker::Person,
        _ => Maker::Unknown,
    }
}

/// Reads a count: a number, or a text that is one. Nothing is 0.
fn count(value: Option<&Value>) -> Result<u64, String> {
    let number = match value {
        None | Some(Value::Null) => return Ok(0),
        Some(Value::Number(number)) => number.as_f64(),
        Some(Value::String(text)) => text.trim().parse().ok(),
        Some(_) => None,
    };
    match (number, value) {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "the range was checked"
        )]
        (Some(number), _) if (0.0..1e12).contains(&number) => Ok(number as u64),
        (_, Some(value)) => Err(value.to_string()),
        (_, None) => Ok(0),
    }
}

fn time(value: Option<&Value>) -> Result<Option<Timestamp>, String> {
    match value {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) if text.trim().is_empty() => Ok(None),
        Some(Value::String(text)) => Timestamp::parse_lenient(text)
            .filter(|time| time.is_writable())
            .map(Some)
            .ok_or_else(|| format!("`{text}`")),
        Some(other) => Err(other.to_string()),
    }
}

/// The skill a name of Hermes stands for.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Target<'s> {
    One(&'s NamedSkill),
    /// The first of several, and how many others.
    First(&'s NamedSkill, usize),
    None,
}

/// Finds the skill of a record: by declared name, folder, or `category/name`. The state says whether the
/// live or the archived one of two is meant; one that vanished comes last.
pub(super) fn target<'s>(name: &str, is_archived: bool, skills: &'s [NamedSkill]) -> Target<'s> {
    let tail = format!("/{name}");
    let is_called =
        |skill: &&NamedSkill| skill.name == name || format!("/{}", skill.rel_path).ends_with(&tail);
    let found: Vec<&NamedSkill> = skills.iter().filter(is_called).collect();
    let rank = |skill: &NamedSkill| {
        (
            skill.is_missing,
            skill.is_archived != is_archived,
            skill.name != name,
        )
    };
    let Some(best) = found.iter().map(|skill| rank(skill)).min() else {
        return Target::None;
    };
    let mut same = found.iter().filter(|skill| rank(skill) == best);
    match (same.next(), same.count()) {
        (Some(first), 0) => Target::One(first),
        (Some(first), others) => Target::First(first, others),
        (None, _) => Target::None,
    }
}

/// Where the folder of a record without one would lie, relative to the folder of skills. `None` for a
/// name that leads out of it.
pub(super) fn vanished_place(name: &str, is_archived: bool) -> Option<String> {
    let is_plain = !name.is_empty()
        && !name.starts_with(['/', '.'])
        && !name.chars().any(char::is_control)
        && name
            .split('/')
            .all(|part| !part.is_empty() && part != "." && part != "..");
    let zone = if is_archived { ".archive/" } else { "" };
    is_plain.then(|| format!("{zone}{name}"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(value: &Value) -> (Option<Record>, usize) {
        let mut notes = Vec::new();
        let record = Record::read("x", value, "here", &mut notes);
        (record, notes.len())
    }

    #[test]
    fn counts_are_read_leniently_and_nonsense_is_told() {
        for (value, count, notes) in [
            (json!({"use_count": "3"}), 3, 0),
            (json!({"use_count": 3.0}), 3, 0),
            (json!({"use_count": null}), 0, 0),
            (json!({}), 0, 0),
            (json!({"use_count": -5}), 0, 1),
            (json!({"use_count": "many"}), 0, 1),
            (json!({"use_count": [1]}), 0, 1),
        ] {
            let (record, told) = read(&value);
            assert_eq!((record.unwrap().uses, told), (count, notes), "{value}");
        }
    }

    #[test]
    fn a_time_without_a_zone_is_utc_and_an_odd_state_is_active() {
        let (record, told) = read(
            &json!({"created_at": "2026-01-02T00:00:00", "state": "sleeping", "last_used_at": 5}),
        );
        let record = record.unwrap();
        assert_eq!(
            record.created_at.unwrap().to_string(),
            "2026-01-02T00:00:00.000Z"
        );
        assert_eq!((record.state, record.used_at, told), ("active", None, 2));
    }

    #[test]
    fn the_older_mark_of_an_agent_counts() {
        let maker = |value: &Value| read(value).0.unwrap().maker;
        assert_eq!(maker(&json!({"agent_created": true})), Maker::Agent);
        assert_eq!(maker(&json!({"created_by": "agent"})), Maker::Agent);
        assert_eq!(maker(&json!({"created_by": null})), Maker::Person);
        assert_eq!(maker(&json!({})), Maker::Unknown);
        assert_eq!(read(&json!("junk")), (None, 1));
    }

    #[test]
    fn what_this_library_handed_on_is_not_counted_again() {
        let value = json!({"use_count": 7, "skilldb": {"library": "here", "use_count": 2}});
        assert_eq!(read(&value).0.unwrap().uses, 5);
        let value = json!({"use_count": 7, "skilldb": {"library": "elsewhere", "use_count": 2}});
        assert_eq!(read(&value).0.unwrap().uses, 7);
    }

    #[test]
    fn names_that_lead_out_have_no_place() {
        assert_eq!(vanished_place("a", true).as_deref(), Some(".archive/a"));
        assert_eq!(
            vanished_place("plugin:x", false).as_deref(),
            Some("plugin:x")
        );
        for name in ["", "../x", "/etc", "a//b", "a/..", ".archive/x"] {
            assert_eq!(vanished_place(name, false), None, "{name}");
        }
    }
}
