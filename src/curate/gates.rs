//! When the curator may run. Pure: what is known in, which gate is open and why out.

use crate::skill::lifecycle::DAY;
use crate::store::Pause;
use crate::time::Timestamp;

/// Milliseconds of an hour.
const HOUR: i64 = 3_600_000;
/// A library that noted nothing for so long either lay unused or the clock has jumped, milliseconds.
const SILENCE: i64 = 366 * DAY;

/// What the configuration says.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Settings {
    /// Whether it runs at all.
    pub enabled: bool,
    /// Hours between two runs.
    pub interval_hours: u32,
    /// Hours without foreground activity before a run.
    pub min_idle_hours: f64,
}

/// What the library knows.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Known {
    /// Since when it is paused, and by whom.
    pub pause: Option<Pause>,
    /// When the last run began that counts.
    pub booked_at: Option<Timestamp>,
    /// The last foreground activity.
    pub active_at: Option<Timestamp>,
    /// The newest moment the library noted at all.
    pub noted_at: Option<Timestamp>,
    /// Whether another run is under way.
    pub is_running: bool,
}

/// One gate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gate {
    /// enabled, paused, first-run, interval, idle, clock, lock.
    pub name: &'static str,
    /// Whether it is open.
    pub is_open: bool,
    /// Why.
    pub why: String,
    /// When it opens by itself.
    pub opens_at: Option<Timestamp>,
}

/// What is to be done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Call {
    /// Everything is open, or overridden: the names of those that were.
    Run(Vec<&'static str>),
    /// The time is noted, and nothing else done.
    Mark,
    /// Nothing is done.
    Wait,
}

/// Says of every gate whether it is open.
#[must_use]
pub fn gates(settings: Settings, known: &Known, now: Timestamp) -> Vec<Gate> {
    let gate = |name, is_open, why: String, opens_at| Gate {
        name,
        is_open,
        why,
        opens_at,
    };
    let enabled = if settings.enabled {
        "the configuration lets it run"
    } else {
        "`curator.enabled` is false in the configuration"
    };
    let paused = known.pause.as_ref().map(|pause| {
        let reason = pause.reason.as_ref().map(|reason| format!(": {reason}"));
        format!(
            "paused by {} since {}{}",
            pause.actor,
            pause.since,
            reason.unwrap_or_default()
        )
    });
    vec![
        gate("enabled", settings.enabled, enabled.to_owned(), None),
        gate(
            "paused",
            paused.is_none(),
            paused.unwrap_or_else(|| "not paused".to_owned()),
            None,
        ),
        gate(
            "first-run",
            known.booked_at.is_some(),
            match known.booked_at {
                Some(at) => format!("the last run that counts began {}", at.relative(now)),
                None => "the first run only notes the time".to_owned(),
            },
            None,
        ),
        interval(settings, known, now),
        idle(settings, known, now),
        clock(known, now),
        gate(
            "lock",
            !known.is_running,
            if known.is_running {
                "another run is under way"
            } else {
                "no other run is under way"
            }
            .to_owned(),
            None,
        ),
    ]
}

fn interval(settings: Settings, known: &Known, now: Timestamp) -> Gate {
    let hours = i64::from(settings.interval_hours);
    let opens_at = known
        .booked_at
        .map(|at| Timestamp::from_millis(at.millis().saturating_add(hours * HOUR)));
    let is_future = known.booked_at.is_some_and(|at| at > now);
    // A run that claims to have been in the future says nothing about how long ago it was.
    let is_open = is_future || opens_at.is_none_or(|at| at <= now);
    Gate {
        name: "interval",
        is_open,
        why: match (known.booked_at, opens_at) {
            (Some(at), _) if is_future => format!(
                "the last run claims to have been at {at}, which lies in the future: not believed"
            ),
            (_, Some(at)) if !is_open => format!("every {hours} h: not before {at}"),
            _ => format!("every {hours} h"),
        },
        opens_at: opens_at.filter(|_| !is_open),
    }
}

fn idle(settings: Settings, known: &Known, now: Timestamp) -> Gate {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "the configuration checked the range"
    )]
    let needed = (settings.min_idle_hours * HOUR as f64) as i64;
    let hours = settings.min_idle_hours;
    let opens_at = known
        .active_at
        .map(|at| Timestamp::from_millis(at.millis().saturating_add(needed)));
    let is_open = opens_at.is_none_or(|at| at <= now);
    Gate {
        name: "idle",
        is_open,
        why: match known.active_at {
            None => "nobody was at work here yet".to_owned(),
            Some(at) => format!("{hours} h without work: the last was {}", at.relative(now)),
        },
        opens_at: opens_at.filter(|_| !is_open),
    }
}

fn clock(known: &Known, now: Timestamp) -> Gate {
    let gap = known
        .noted_at
        .map(|at| now.millis().saturating_sub(at.millis()));
    let is_open = gap.is_none_or(|gap| gap <= SILENCE);
    Gate {
        name: "clock",
        is_open,
        why: match (known.noted_at, gap) {
            (Some(at), Some(gap)) if !is_open => format!(
                "the library noted nothing for {} days (last {at}): a clock that jumped would make all of it look old",
                gap / DAY
            ),
            (Some(at), Some(gap)) if gap < 0 => {
                format!("the newest entry lies in the future ({at}): not believed")
            }
            _ => "the clock agrees with what was noted".to_owned(),
        },
        opens_at: None,
    }
}

/// Says what is to be done. `is_forced` overrides every gate but the lock: two runs at once help nobody.
#[must_use]
pub fn call(gates: &[Gate], is_forced: bool) -> Call {
    let closed: Vec<&'static str> = gates
        .iter()
        .filter(|gate| !gate.is_open)
        .map(|gate| gate.name)
        .collect();
    let is_closed = |name: &str| closed.contains(&name);
    if is_closed("lock") {
        return Call::Wait;
    }
    if is_forced || closed.is_empty() {
        return Call::Run(closed);
    }
    if is_closed("first-run") && !is_closed("enabled") && !is_closed("paused") {
        return Call::Mark;
    }
    Call::Wait
}

#[cfg(test)]
mod tests {
    use super::*;

    const DEFAULT: Settings = Settings {
        enabled: true,
        interval_hours: 168,
        min_idle_hours: 2.0,
    };

    fn at(text: &str) -> Timestamp {
        Timestamp::parse(text).unwrap()
    }

    fn closed(settings: Settings, known: &Known, now: &str) -> Vec<&'static str> {
        let gates = gates(settings, known, at(now));
        gates
            .iter()
            .filter(|gate| !gate.is_open)
            .map(|gate| gate.name)
            .collect()
    }

    #[test]
    fn the_interval_and_the_idle_time_are_inclusive() {
        let known = Known {
            booked_at: Some(at("2026-05-25T12:00:00.000Z")),
            active_at: Some(at("2026-06-01T10:00:00.000Z")),
            ..Known::default()
        };
        assert!(closed(DEFAULT, &known, "2026-06-01T12:00:00.000Z").is_empty());
        assert_eq!(
            closed(DEFAULT, &known, "2026-06-01T11:59:59.999Z"),
            ["interval", "idle"]
        );
    }

    #[test]
    fn the_first_run_marks_even_while_somebody_works() {
        let known = Known {
            active_at: Some(at("2026-06-01T12:00:00.000Z")),
            ..Known::default()
        };
        let now = at("2026-06-01T12:00:00.000Z");
        assert_eq!(call(&gates(DEFAULT, &known, now), false), Call::Mark);
        let forced = call(&gates(DEFAULT, &known, now), true);
        assert_eq!(forced, Call::Run(vec!["first-run", "idle"]));
        let off = Settings {
            enabled: false,
            ..DEFAULT
        };
        assert_eq!(call(&gates(off, &known, now), false), Call::Wait);
    }

    #[test]
    fn clocks_that_jump_are_not_believed() {
        let known = Known {
            booked_at: Some(at("2027-06-01T12:00:00.000Z")),
            noted_at: Some(at("2026-06-01T12:00:00.000Z")),
            ..Known::default()
        };
        assert!(closed(DEFAULT, &known, "2026-06-01T12:00:00.000Z").is_empty());
        assert_eq!(
            closed(DEFAULT, &known, "2036-06-01T12:00:00.000Z"),
            ["clock"]
        );
    }

    #[test]
    fn nothing_overrides_the_lock() {
        let known = Known {
            is_running: true,
            ..Known::default()
        };
        let gates = gates(DEFAULT, &known, at("2026-06-01T12:00:00.000Z"));
        assert_eq!(call(&gates, true), Call::Wait);
    }
}
