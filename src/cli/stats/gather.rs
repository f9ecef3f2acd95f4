//! Asks the store for the numbers of `stats`, and fills the days on which nothing happened.

use std::collections::HashMap;

use crate::error::Result;
use crate::store::{
    ClientUse, CostRow, DayCount, NotInstalled, SkillUse, StaleRow, Store, Totals, TrendRow,
    VerdictCounts,
};
use crate::time::Timestamp;

/// Days of the line of bars.
pub(super) const DAYS: i64 = 30;
/// Weeks of the strip.
pub(super) const WEEKS: i64 = 26;
/// Days that are compared with as many before.
pub(super) const SPAN: i64 = 28;
/// Days after which a skill nobody touched is a candidate to go stale.
pub(super) const STALE_DAYS: i64 = 30;

/// All that `stats` tells.
pub(super) struct Numbers {
    pub(super) totals: Totals,
    /// Day and count, oldest first, without gaps.
    pub(super) days: Vec<(String, u64)>,
    /// First day and count of each week, oldest first, without gaps.
    pub(super) weeks: Vec<(String, u64)>,
    pub(super) most_used: Vec<SkillUse>,
    pub(super) never_used: Vec<SkillUse>,
    pub(super) vanished: Vec<SkillUse>,
    pub(super) rising: Vec<TrendRow>,
    pub(super) falling: Vec<TrendRow>,
    pub(super) not_installed: Vec<NotInstalled>,
    pub(super) by_client: Vec<ClientUse>,
    pub(super) stale: Vec<StaleRow>,
    pub(super) costs: Vec<CostRow>,
    pub(super) verdicts: VerdictCounts,
}

pub(super) fn gather(store: &Store, now: Timestamp, limit: u32) -> Result<Numbers> {
    let counts = store.days(week_start(now, WEEKS - 1))?;
    let trend = store.trend(now, SPAN)?;
    let (rising, falling) = split_trend(trend, limit as usize);
    Ok(Numbers {
        totals: store.totals()?,
        days: by_day(&counts, now),
        weeks: by_week(&counts, now),
        most_used: store.most_used(limit)?,
        never_used: store.never_used()?,
        vanished: store.used_and_vanished(limit)?,
        rising,
        falling,
        not_installed: store.not_installed(limit)?,
        by_client: store.by_client()?,
        stale: store.untouched_since(now.days_before(STALE_DAYS))?,
        costs: store.costs(limit)?,
        verdicts: store.verdict_counts()?,
    })
}

/// The skills whose use grew most, and those whose use fell most.
fn split_trend(mut rows: Vec<TrendRow>, limit: usize) -> (Vec<TrendRow>, Vec<TrendRow>) {
    let gain = |row: &TrendRow| i128::from(row.now) - i128::from(row.before);
    rows.sort_by(|a, b| gain(b).cmp(&gain(a)).then_with(|| a.name.cmp(&b.name)));
    let rising = rows
        .iter()
        .filter(|row| gain(row) > 0)
        .take(limit)
        .cloned()
        .collect();
    let falling = rows
        .iter()
        .rev()
        .filter(|row| gain(row) < 0)
        .take(limit)
        .cloned()
        .collect();
    (rising, falling)
}

fn by_day(counts: &[DayCount], now: Timestamp) -> Vec<(String, u64)> {
    let known: HashMap<&str, u64> = counts
        .iter()
        .map(|count| (count.day.as_str(), count.events))
        .collect();
    (0..DAYS)
        .rev()
        .map(|back| {
            let day = now.days_before(back).day();
            let count = known.get(day.as_str()).copied().unwrap_or_default();
            (day, count)
        })
        .collect()
}

/// The Monday that begins the week `weeks` before this one.
pub(super) fn week_start(now: Timestamp, weeks: i64) -> Timestamp {
    // 1970-01-01 was a Thursday.
    let weekday = (now.day_number() + 3).rem_euclid(7);
    now.days_before(weekday + 7 * weeks)
}

/// Adds days up to weeks that begin on Mondays; the last one is the present week.
pub(super) fn by_week(counts: &[DayCount], now: Timestamp) -> Vec<(String, u64)> {
    (0..WEEKS)
        .rev()
        .map(|back| {
            let from = week_start(now, back).day();
            let to = week_start(now, back - 1).day();
            let count = counts
                .iter()
                .filter(|count| count.day >= from && count.day < to)
                .map(|count| count.events)
                .sum();
            (from, count)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weeks_begin_on_mondays_and_days_have_no_gaps() {
        // A Friday.
        let now = Timestamp::parse("2026-01-02T03:04:05.000Z").unwrap();
        assert_eq!(week_start(now, 0).day(), "2025-12-29");
        let counts = [
            DayCount {
                day: "2025-12-28".to_owned(),
                events: 2,
                failures: 0,
            },
            DayCount {
                day: "2025-12-29".to_owned(),
                events: 3,
                failures: 0,
            },
            DayCount {
                day: "2026-01-02".to_owned(),
                events: 4,
                failures: 0,
            },
        ];
        let weeks = by_week(&counts, now);
        assert_eq!(weeks.len(), 26);
        assert_eq!(
            weeks[24..],
            [("2025-12-22".to_owned(), 2), ("2025-12-29".to_owned(), 7)]
        );
        let days = by_day(&counts, now);
        assert_eq!(days.len(), 30);
        assert_eq!(days[29], ("2026-01-02".to_owned(), 4));
        assert_eq!(days[28], ("2026-01-01".to_owned(), 0));
    }

    #[test]
    fn what_neither_rose_nor_fell_is_in_neither_list() {
        let row = |name: &str, now, before| TrendRow {
            name: name.to_owned(),
            id: 1,
            now,
            before,
            path: String::new(),
        };
        let rows = vec![
            row("same", 2, 2),
            row("up", 5, 1),
            row("down", 0, 9),
            row("more", 20, 1),
        ];
        let (rising, falling) = split_trend(rows, 10);
        let names = |rows: &[TrendRow]| rows.iter().map(|row| row.name.clone()).collect::<Vec<_>>();
        assert_eq!(names(&rising), ["more", "up"]);
        assert_eq!(names(&falling), ["down"]);
    }
}
