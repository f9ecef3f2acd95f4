//! The rules of ageing. Pure: rows, periods, policy and a moment in, a decision about every skill out.

use std::collections::HashMap;

use super::plan::{Anchor, Decision, Outcome};
use crate::manage::{Action, Named, Policy, Reach, Shield, Verdict, Wish, decide, shields};
use crate::skill::lifecycle::{Ageing, DAY, State, next};
use crate::store::{Actor, CurationRow};
use crate::time::Timestamp;

/// How far a clock may be ahead before it is told, milliseconds.
const SLACK: i64 = 5 * 60 * 1000;

/// After which periods skills age: their own category's or tag's, else the general ones.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Periods {
    /// The general ones.
    pub otherwise: Ageing,
    /// By category; what lies in folders below it included.
    pub categories: Vec<(String, Ageing)>,
    /// By tag.
    pub tags: Vec<(String, Ageing)>,
}

impl Periods {
    /// The periods of a skill. Of several that fit the longest count.
    #[must_use]
    pub fn of(&self, category: &str, tags: &[String]) -> Ageing {
        let is_in = |name: &str| {
            category == name
                || category
                    .strip_prefix(name)
                    .is_some_and(|rest| rest.starts_with('/'))
        };
        let by_category = self.categories.iter().filter(|(name, _)| is_in(name));
        let by_tag = self.tags.iter().filter(|(name, _)| tags.contains(name));
        by_category
            .chain(by_tag)
            .map(|(_, ageing)| *ageing)
            .reduce(Ageing::patient)
            .unwrap_or(self.otherwise)
    }
}

/// What the rules look at besides the rows.
#[derive(Debug, Clone, Copy)]
pub struct Rules<'a> {
    /// The periods.
    pub periods: &'a Periods,
    /// Who may change what.
    pub policy: &'a Policy,
    /// What automations name.
    pub named: &'a Named,
    /// The tags of each skill that has some.
    pub tags: &'a HashMap<i64, Vec<String>>,
    /// The moment.
    pub now: Timestamp,
}

/// Decides about every skill; the decisions by outcome, in the order of the rows.
#[must_use]
pub fn decide_all(rows: Vec<CurationRow>, rules: Rules<'_>) -> Vec<Decision> {
    let limit = Timestamp::from_millis(rules.now.millis().saturating_add(SLACK)).to_string();
    let mut decisions: Vec<Decision> = rows
        .into_iter()
        .map(|row| decide_one(row, rules, &limit))
        .collect();
    decisions.sort_by_key(|decision| decision.outcome);
    decisions
}

/// What is known of a skill's clock.
struct Clock {
    anchor: Anchor,
    /// Whole days since the anchor.
    idle_days: Option<i64>,
    /// Milliseconds since the anchor; 0 where nothing is known.
    idle: i64,
    /// Whether nothing but its making is known.
    is_unused: bool,
    /// The first moment that claims to lie in the future: what it was, and when.
    future: Option<(&'static str, String)>,
}

fn clock_of(row: &CurationRow, now: Timestamp, limit: &str) -> Clock {
    let moments = [
        ("used", &row.used_at),
        ("viewed", &row.viewed_at),
        ("file read", &row.read_at),
        ("restored", &row.restored_at),
        ("changed", &row.changed_at),
        ("absorbed", &row.inherited_at),
    ];
    let mut newest: Option<(&str, &'static str)> = None;
    let mut future = None;
    let mut is_unused = true;
    for (kind, at) in moments {
        let Some(at) = at else { continue };
        is_unused &= kind == "absorbed";
        // The text form sorts by time.
        if at.as_str() > limit {
            future = future.or(Some((kind, at.clone())));
        } else if newest.is_none_or(|(known, _)| at.as_str() > known) {
            newest = Some((at, kind));
        }
    }
    // What a skill absorbed may be older than itself: then its own making counts.
    let is_older =
        newest.is_some_and(|(at, kind)| kind == "absorbed" && at < row.created_at.as_str());
    if is_older && row.created_at.as_str() <= limit {
        newest = Some((&row.created_at, "created"));
    }
    if newest.is_none() && row.created_at.as_str() > limit {
        future = future.or(Some(("created", row.created_at.clone())));
    } else if newest.is_none() {
        newest = Some((&row.created_at, "created"));
    }
    let at = newest.and_then(|(at, _)| Timestamp::parse(at));
    let idle = at.map(|at| now.millis().saturating_sub(at.millis()).max(0));
    Clock {
        anchor: Anchor {
            at,
            kind: newest
                .filter(|_| at.is_some())
                .map_or("unknown", |(_, kind)| kind),
        },
        idle_days: idle.map(|idle| idle / DAY),
        idle: idle.unwrap_or(0),
        is_unused,
        future,
    }
}

fn decide_one(row: CurationRow, rules: Rules<'_>, limit: &str) -> Decision {
    let clock = clock_of(&row, rules.now, limit);
    let state = State::parse(&row.facts.state).unwrap_or(State::Active);
    let nothing = Vec::new();
    let tags = rules.tags.get(&row.facts.id).unwrap_or(&nothing);
    let ageing = rules.periods.of(&row.category, tags);
    let mut notices = Vec::new();
    if let Some((kind, at)) = &clock.future {
        notices.push(format!(
            "{kind} at {at}, which lies in the future: not believed"
        ));
    }
    if row.use_count > 0 && row.used_at.is_none() {
        let times = if row.use_count == 1 {
            "once"
        } else {
            "some times"
        };
        notices.push(format!("used {times}, and no time of a use could be read"));
    }
    let shields = shields_of(&row, rules);
    let (outcome, reason) = match (shields.first(), &clock.future) {
        (Some(shield), _) => (Outcome::Keep, shield.why()),
        (None, Some((kind, _))) => (
            Outcome::Keep,
            format!("{kind} in the future: the clock was wrong, so nothing is done"),
        ),
        (None, None) => outcome_of(&row, state, &clock, ageing, rules.policy),
    };
    Decision {
        skill: row.facts.id,
        path: row.facts.path(),
        name: row.facts.name,
        rel_path: row.facts.rel_path,
        state,
        outcome,
        reason,
        anchor: clock.anchor,
        idle_days: clock.idle_days,
        shields,
        notices,
    }
}

fn shields_of(row: &CurationRow, rules: Rules<'_>) -> Vec<Shield> {
    let mut found = shields(&row.facts, rules.policy, Reach::Remove);
    if let Some(place) = rules.named.places.get(&row.facts.id) {
        found.push(Shield::Automation(place.clone()));
    }
    if let Some(what) = rules.named.unread.first() {
        found.push(Shield::UnreadAutomation(what.clone()));
    }
    found
}

fn outcome_of(
    row: &CurationRow,
    state: State,
    clock: &Clock,
    ageing: Ageing,
    policy: &Policy,
) -> (Outcome, String) {
    let age = aged(clock, row.use_count);
    let is_young = |days: u32| clock.idle < i64::from(days) * DAY;
    // Nobody had the time to use it yet.
    let is_new = clock.is_unused && row.use_count == 0 && ageing.stale_after.is_some_and(is_young);
    let then = if is_new {
        State::Active
    } else {
        next(state, clock.idle, ageing)
    };
    let days =
        |days: Option<u32>| days.map_or("never".to_owned(), |days| format!("after {days} d"));
    match (state, then) {
        (State::Archived, _) => (Outcome::Keep, "archived".to_owned()),
        (_, State::Archived) => {
            let reason = format!("{age} (archived {})", days(ageing.archive_after));
            archive(row, policy, reason)
        }
        (State::Active, State::Stale) => {
            let reason = format!("{age} (stale {})", days(ageing.stale_after));
            (Outcome::MarkStale, reason)
        }
        (State::Stale, State::Active) => (Outcome::Reactivate, format!("{age}, while stale")),
        (State::Stale, State::Stale) => (
            Outcome::Keep,
            format!("stale: {age} (archived {})", days(ageing.archive_after)),
        ),
        (State::Active, State::Active) => (Outcome::Keep, age),
    }
}

/// Asks the one place that says who may do what.
fn archive(row: &CurationRow, policy: &Policy, reason: String) -> (Outcome, String) {
    let wish = Wish {
        actor: Actor::Curator,
        action: Action::Archive,
        reach: Reach::Remove,
        skill: Some(&row.facts),
        is_writable: row.facts.is_writable,
        reverses: None,
        leaves_root: false,
    };
    match decide(wish, policy) {
        Verdict::Allow => (Outcome::Archive, reason),
        Verdict::Propose(why) => (Outcome::Ask, format!("{reason}; {why}")),
        Verdict::Refuse { why, .. } => (Outcome::Keep, format!("{reason}; {why}")),
    }
}

/// How old it is, in words.
fn aged(clock: &Clock, use_count: u64) -> String {
    let Some(days) = clock.idle_days else {
        return "nothing is known of its age".to_owned();
    };
    match clock.anchor.kind {
        "created" if use_count > 0 => format!("made {days} d ago"),
        "created" => format!("never used, {days} d old"),
        "file read" => format!("a file of it read {days} d ago"),
        "absorbed" => format!("what it absorbed was used {days} d ago"),
        kind => format!("{kind} {days} d ago"),
    }
}

#[cfg(test)]
mod tests;
