//! Small pictures of numbers: a line of bars, a strip of shades.

/// Bars of growing height.
const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
const SHADES: [char; 4] = ['░', '▒', '▓', '█'];
const MONTHS: [&str; 12] = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
];

/// Draws one bar a number; nothing is a dot, and the largest is a full bar.
pub(super) fn sparkline(counts: &[u64]) -> String {
    let most = counts.iter().copied().max().unwrap_or_default();
    counts
        .iter()
        .map(|count| level(*count, most, &BARS).unwrap_or('·'))
        .collect()
}

/// Draws one cell of two columns a number, the darker the more.
pub(super) fn heat_strip(counts: &[u64]) -> String {
    let most = counts.iter().copied().max().unwrap_or_default();
    counts
        .iter()
        .flat_map(|count| [level(*count, most, &SHADES).unwrap_or('·'); 2])
        .collect()
}

/// The sign for a count out of the largest one; `None` for nothing. Every count above nothing shows.
fn level(count: u64, most: u64, signs: &[char]) -> Option<char> {
    if count == 0 {
        return None;
    }
    let steps = signs.len() as u64;
    let step = (count * steps).div_ceil(most.max(1)).clamp(1, steps);
    signs.get(usize::try_from(step - 1).ok()?).copied()
}

/// Writes the names of months below a strip whose cells begin on these days (`YYYY-MM-DD`): each where
/// its first cell is, unless the one before still takes the room.
pub(super) fn month_line(days: &[String]) -> String {
    let mut line = String::new();
    let mut current = "";
    for (index, day) in days.iter().enumerate() {
        let month = day.get(5..7).unwrap_or_default();
        let name = month
            .parse::<usize>()
            .ok()
            .and_then(|number| MONTHS.get(number.checked_sub(1)?));
        if month != current && line.len() <= 2 * index {
            line.extend(std::iter::repeat_n(' ', 2 * index - line.len()));
            line.push_str(name.copied().unwrap_or_default());
            line.push(' ');
            current = month;
        }
    }
    line.trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sparkline_shows_every_count_and_fills_the_largest() {
        assert_eq!(sparkline(&[0, 1, 50, 100]), "·▁▄█");
        assert_eq!(sparkline(&[0, 0]), "··");
        assert_eq!(sparkline(&[3]), "█");
        assert_eq!(sparkline(&[]), "");
    }

    #[test]
    fn a_strip_has_two_columns_a_cell() {
        assert_eq!(heat_strip(&[0, 1, 8]), "··░░██");
    }

    #[test]
    fn months_stand_below_their_first_cell() {
        let days = ["2026-01-26", "2026-02-02", "2026-02-09", "2026-03-02"].map(str::to_owned);
        assert_eq!(month_line(&days), "Jan Feb");
        let days = [
            "2026-01-05",
            "2026-01-12",
            "2026-02-02",
            "2026-02-09",
            "2026-03-02",
        ]
        .map(str::to_owned);
        assert_eq!(month_line(&days), "Jan Feb Mar");
    }
}
