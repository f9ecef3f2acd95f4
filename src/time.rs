//! Points in time: UTC, milliseconds, one text form. The only place that reads the wall clock.

use std::fmt;
use std::time::Duration;

use chrono::{DateTime, NaiveDate, NaiveDateTime, Utc};

/// A moment in UTC, to the millisecond.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Timestamp {
    millis: i64,
}

impl Timestamp {
    /// Returns the moment `millis` milliseconds after 1970-01-01T00:00Z.
    #[must_use]
    pub fn from_millis(millis: i64) -> Self {
        Self { millis }
    }

    /// Returns the milliseconds since 1970-01-01T00:00Z.
    #[must_use]
    pub fn millis(self) -> i64 {
        self.millis
    }

    /// Reads the text form `YYYY-MM-DDTHH:MM:SS.mmmZ`; anything else is `None`.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let parsed = NaiveDateTime::parse_from_str(text, "%Y-%m-%dT%H:%M:%S%.3fZ").ok()?;
        Some(Self::from_millis(parsed.and_utc().timestamp_millis()))
    }

    /// Reads what other programs write: RFC 3339 with any offset, without one (then it is UTC), with a
    /// blank for the `T`, or a date alone; anything else is `None`.
    #[must_use]
    pub fn parse_lenient(text: &str) -> Option<Self> {
        let text = text.trim();
        if let Ok(moment) = DateTime::parse_from_rfc3339(text) {
            return Some(Self::from_millis(moment.timestamp_millis()));
        }
        for form in [
            "%Y-%m-%dT%H:%M:%S%.f",
            "%Y-%m-%d %H:%M:%S%.f",
            "%Y-%m-%dT%H:%M",
        ] {
            if let Ok(moment) = NaiveDateTime::parse_from_str(text.trim_end_matches('Z'), form) {
                return Some(Self::from_millis(moment.and_utc().timestamp_millis()));
            }
        }
        for form in ["%Y-%m-%dT%H:%M:%S%.f%z", "%Y-%m-%d %H:%M:%S%.f%z"] {
            if let Ok(moment) = DateTime::parse_from_str(text, form) {
                return Some(Self::from_millis(moment.timestamp_millis()));
            }
        }
        let date = NaiveDate::parse_from_str(text, "%Y-%m-%d").ok()?;
        Some(Self::from_millis(
            date.and_hms_opt(0, 0, 0)?.and_utc().timestamp_millis(),
        ))
    }

    /// Reads seconds since 1970; `None` for what is no moment between 1970 and 9999.
    #[must_use]
    pub fn from_seconds(seconds: f64) -> Option<Self> {
        let millis = seconds * 1_000.0;
        // 9999-12-31: later years have five digits, and the text form four.
        if !(0.0..253_402_300_800_000.0).contains(&millis) {
            return None;
        }
        #[expect(clippy::cast_possible_truncation, reason = "the range was checked")]
        Some(Self::from_millis(millis as i64))
    }

    /// Says whether the text form can hold it: years 0 to 9999.
    #[must_use]
    pub fn is_writable(self) -> bool {
        (-62_167_219_200_000..253_402_300_800_000).contains(&self.millis)
    }

    /// Returns the moment `days` times 24 hours before.
    #[must_use]
    pub fn days_before(self, days: i64) -> Self {
        Self::from_millis(self.millis.saturating_sub(days.saturating_mul(86_400_000)))
    }

    /// Returns the day in UTC, `YYYY-MM-DD`.
    #[must_use]
    pub fn day(self) -> String {
        let mut text = self.to_string();
        text.truncate(10);
        text
    }

    /// Returns the number of the day since 1970-01-01, in UTC.
    #[must_use]
    pub fn day_number(self) -> i64 {
        self.millis.div_euclid(86_400_000)
    }

    /// Returns how long before `now` this was; zero when it lies in the future.
    #[must_use]
    pub fn age(self, now: Self) -> Duration {
        Duration::from_millis(u64::try_from(now.millis - self.millis).unwrap_or(0))
    }

    /// Returns the age in the words people use: `just now`, `5 minutes ago`, `3 days ago`.
    #[must_use]
    pub fn relative(self, now: Self) -> String {
        let seconds = self.age(now).as_secs();
        let (count, unit) = match seconds {
            0..60 => return "just now".to_owned(),
            60..3_600 => (seconds / 60, "minute"),
            3_600..86_400 => (seconds / 3_600, "hour"),
            86_400..31_536_000 => (seconds / 86_400, "day"),
            _ => (seconds / 31_536_000, "year"),
        };
        let s = if count == 1 { "" } else { "s" };
        format!("{count} {unit}{s} ago")
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let moment = DateTime::<Utc>::from_timestamp_millis(self.millis).unwrap_or_default();
        write!(f, "{}", moment.format("%Y-%m-%dT%H:%M:%S%.3fZ"))
    }
}

/// Where "now" comes from: the system, or a fixed moment for reproducible output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Clock {
    /// The clock of the machine.
    System,
    /// Always this moment (`SKILLDB_NOW`).
    Fixed(Timestamp),
}

impl Clock {
    /// Returns the current moment. Called where a command starts; everything below takes `now`.
    #[must_use]
    #[expect(
        clippy::disallowed_methods,
        reason = "the one place that reads the wall clock"
    )]
    pub fn now(self) -> Timestamp {
        match self {
            Self::System => Timestamp::from_millis(Utc::now().timestamp_millis()),
            Self::Fixed(moment) => moment,
        }
    }
}

/// Returns the system clock in nanoseconds since 1970: the clock that stamps files. Never fixed,
/// because it is compared with what the file system wrote.
#[must_use]
#[expect(
    clippy::disallowed_methods,
    reason = "the one place that reads the wall clock"
)]
pub fn file_clock_ns() -> i64 {
    Utc::now().timestamp_nanos_opt().unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_form_survives_a_round_trip() {
        let text = "2026-01-02T03:04:05.678Z";
        assert_eq!(Timestamp::parse(text).unwrap().to_string(), text);
    }

    #[test]
    fn other_text_forms_are_refused() {
        for text in [
            "2026-01-02 03:04:05.678Z",
            "2026-01-02T03:04:05.678",
            "yesterday",
            "",
        ] {
            assert_eq!(Timestamp::parse(text), None, "{text}");
        }
    }

    #[test]
    fn what_other_programs_write_is_read() {
        for (text, same) in [
            ("2026-01-02T03:04:05.678Z", "2026-01-02T03:04:05.678Z"),
            (
                "2026-01-02T03:04:05.678901+00:00",
                "2026-01-02T03:04:05.678Z",
            ),
            ("2026-01-02T05:04:05+02:00", "2026-01-02T03:04:05.000Z"),
            ("2026-01-02T05:04:05+0200", "2026-01-02T03:04:05.000Z"),
            ("2026-01-02T03:04:05", "2026-01-02T03:04:05.000Z"),
            ("2026-01-02 03:04:05", "2026-01-02T03:04:05.000Z"),
            ("2026-01-02", "2026-01-02T00:00:00.000Z"),
        ] {
            let read = Timestamp::parse_lenient(text).map(|time| time.to_string());
            assert_eq!(read.as_deref(), Some(same), "{text}");
        }
        assert_eq!(Timestamp::parse_lenient("20260102"), None);
        assert_eq!(Timestamp::parse_lenient("soon"), None);
        assert_eq!(Timestamp::from_seconds(f64::NAN), None);
        assert_eq!(
            Timestamp::from_seconds(1_779_264_000.5)
                .unwrap()
                .to_string(),
            "2026-05-20T08:00:00.500Z"
        );
    }

    #[test]
    fn relative_time_counts_in_the_largest_whole_unit() {
        let now = Timestamp::parse("2026-01-02T03:04:05.000Z").unwrap();
        let before = |seconds: i64| Timestamp::from_millis(now.millis() - seconds * 1_000);
        assert_eq!(before(59).relative(now), "just now");
        assert_eq!(before(60).relative(now), "1 minute ago");
        assert_eq!(before(3 * 86_400 + 5).relative(now), "3 days ago");
        assert_eq!(before(-10).relative(now), "just now");
    }
}
