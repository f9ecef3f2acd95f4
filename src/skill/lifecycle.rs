//! The state machine of ageing: what becomes of a skill that was idle for so long. Pure, and without a clock.

/// Milliseconds of a day.
pub const DAY: i64 = 86_400_000;

/// Where a skill is in its life.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// In use.
    Active,
    /// Idle for long.
    Stale,
    /// Put away.
    Archived,
}

impl State {
    /// Reads the word in the database.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        match word {
            "active" => Some(Self::Active),
            "stale" => Some(Self::Stale),
            "archived" => Some(Self::Archived),
            _ => None,
        }
    }

    /// The word in the database.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Stale => "stale",
            Self::Archived => "archived",
        }
    }
}

/// After how many days of idleness; `None`: never.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ageing {
    /// A skill is stale.
    pub stale_after: Option<u32>,
    /// A skill is put into the archive. Never earlier than it is stale.
    pub archive_after: Option<u32>,
}

impl Default for Ageing {
    /// 30 and 90 days, as the peer has them.
    fn default() -> Self {
        Self {
            stale_after: Some(30),
            archive_after: Some(90),
        }
    }
}

impl Ageing {
    /// The longer period of each.
    #[must_use]
    pub fn patient(self, other: Self) -> Self {
        let longer = |a: Option<u32>, b: Option<u32>| Some(a?.max(b?));
        Self {
            stale_after: longer(self.stale_after, other.stale_after),
            archive_after: longer(self.archive_after, other.archive_after),
        }
    }
}

/// Returns the state a skill belongs into after `idle` milliseconds. Boundaries are inclusive: a skill that was idle
/// for exactly the period is over it. An active one is archived without having been stale; an archived one stays
/// where it is, because only people and agents bring it back.
#[must_use]
pub fn next(state: State, idle: i64, ageing: Ageing) -> State {
    let is_over = |days: Option<u32>| days.is_some_and(|days| idle >= i64::from(days) * DAY);
    match state {
        State::Archived => State::Archived,
        State::Active | State::Stale if is_over(ageing.archive_after) => State::Archived,
        State::Active | State::Stale if is_over(ageing.stale_after) => State::Stale,
        State::Active | State::Stale => State::Active,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boundaries_are_inclusive_and_active_goes_straight_to_the_archive() {
        let at = |state, idle| next(state, idle, Ageing::default());
        for (state, idle, then) in [
            (State::Active, 30 * DAY - 1, State::Active),
            (State::Active, 30 * DAY, State::Stale),
            (State::Active, 90 * DAY - 1, State::Stale),
            (State::Active, 90 * DAY, State::Archived),
            (State::Stale, 30 * DAY - 1, State::Active),
            (State::Stale, 30 * DAY, State::Stale),
            (State::Stale, 90 * DAY, State::Archived),
            (State::Archived, 0, State::Archived),
            (State::Active, -5 * DAY, State::Active),
        ] {
            assert_eq!(at(state, idle), then, "{state:?} {idle}");
        }
    }

    #[test]
    fn never_is_never() {
        let never = Ageing {
            stale_after: None,
            archive_after: None,
        };
        assert_eq!(next(State::Active, 9_000 * DAY, never), State::Active);
        let patient = Ageing::default().patient(never);
        assert_eq!(patient, never);
        let longer = Ageing {
            stale_after: Some(10),
            archive_after: Some(400),
        };
        assert_eq!(Ageing::default().patient(longer).stale_after, Some(30));
        assert_eq!(Ageing::default().patient(longer).archive_after, Some(400));
    }
}
