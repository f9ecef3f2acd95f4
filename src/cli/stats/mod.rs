//! `skilldb stats`.

mod charts;
mod gather;
mod plain;
mod skill;

use unicode_width::UnicodeWidthStr;

use self::charts::{heat_strip, month_line, sparkline};
use self::gather::{DAYS, Numbers, SPAN, STALE_DAYS, gather};
use super::output::{Output, Style, clean, columns, fit, grouped, plural};
use super::{Context, sync};
use crate::error::Result;
use crate::store::{SkillUse, StaleRow};
use crate::time::Timestamp;

/// Show which skills are used, which never are, and by whom
///
/// With a name: one skill's life. Uses and views are those of people and agents at work; what reviewers
/// and curators read counts apart. Off a terminal: one record a line, tab-separated, the kind first.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  skilldb stats
  skilldb stats --limit 50
  skilldb stats deploy
  skilldb sql not-installed         the named queries behind it: skilldb sql --list")]
pub(super) struct Args {
    /// One skill
    #[arg(value_name = "NAME")]
    name: Option<String>,
    /// Most lines of each list
    #[arg(long, value_name = "N", default_value_t = 10)]
    limit: u32,
}

pub(super) fn run(context: &mut Context, args: &Args) -> Result<()> {
    let home = context.config.home.value.clone();
    // They are in the numbers as soon as somebody can write; reading needs no lock.
    if crate::usage::is_waiting(&home) && sync::settle_usage(context).is_err() {
        let waiting = plural(crate::usage::pending(&home), "event");
        context.out.say(&format!(
            "{waiting} kept for later are not in these numbers."
        ));
    }
    let store = context.read()?;
    if let Some(name) = &args.name {
        return skill::tell(context, &store, name);
    }
    let numbers = gather(&store, context.now, args.limit)?;
    if context.out.json {
        context
            .out
            .object(plain::object(&numbers, args.limit as usize))
    } else if context.out.width.is_some() {
        pictures(&mut context.out, &numbers, args, context.now)
    } else {
        plain::records(&mut context.out, &numbers, args.limit as usize)
    }
}

/// What a skill is called in a list; where others have the name, with the end of its path.
fn label(numbers: &Numbers, skill: &SkillUse) -> String {
    let same = |other: &&SkillUse| other.name == skill.name && other.id != skill.id;
    let mut others = numbers.most_used.iter().chain(&numbers.never_used);
    if others.find(same).is_none() {
        return clean(&skill.name).into_owned();
    }
    let mut ends = skill.path.rsplit('/').take(2);
    let (folder, above) = (ends.next(), ends.next());
    let end = [above, folder].into_iter().flatten().collect::<Vec<_>>();
    clean(&format!("{} ({})", skill.name, end.join("/"))).into_owned()
}

/// Room for a name in a table.
const NAME: usize = 36;

fn pictures(out: &mut Output, numbers: &Numbers, args: &Args, now: Timestamp) -> Result<()> {
    let totals = &numbers.totals;
    let unused = totals.skills - totals.used;
    out.line(&format!(
        "{}: {} used, {} never. {}, {}, {}; {} failed.",
        plural(totals.skills, "skill"),
        grouped(totals.used),
        grouped(unused),
        plural(totals.uses, "use"),
        plural(totals.views, "view"),
        plural(totals.files, "file read"),
        grouped(totals.failures),
    ))?;
    let verdicts = &numbers.verdicts;
    if verdicts.caution + verdicts.dangerous > 0 {
        let words = format!(
            "{} dangerous, {} to be read with caution: skilldb scan",
            grouped(verdicts.dangerous),
            grouped(verdicts.caution)
        );
        let words = out.paint(Style::Error, &words);
        out.line(&words)?;
    }
    if totals.background > 0 {
        let words = plural(totals.background, "background event");
        out.line(&format!("{words} of reviewers and curators count apart."))?;
    }
    if totals.events == 0 && totals.uses == 0 {
        out.flush()?;
        out.say("Nothing was recorded yet. `skilldb import claude-code`, `codex` or `hermes` takes over what they remember; `skilldb hook install claude-code` keeps it current.");
        return Ok(());
    }
    draw(out, numbers)?;
    used(out, numbers, now)?;
    trend(out, numbers)?;
    missing(out, numbers, now)?;
    vanished(out, numbers, now)?;
    clients(out, numbers)?;
    idle(out, numbers, args, now)?;
    costs(out, numbers)
}

/// `1 use or view`, `12 uses and views`.
fn uses_and_views(count: u64) -> String {
    match count {
        1 => "1 use or view".to_owned(),
        _ => format!("{} uses and views", grouped(count)),
    }
}

fn heading(out: &mut Output, words: &str) -> Result<()> {
    let words = out.paint(Style::Bold, words);
    out.line("")?;
    out.line(&words)
}

fn draw(out: &mut Output, numbers: &Numbers) -> Result<()> {
    let counts: Vec<u64> = numbers.days.iter().map(|(_, count)| *count).collect();
    let most = counts.iter().max().copied().unwrap_or_default();
    let sum: u64 = counts.iter().sum();
    out.line("")?;
    out.line(&format!(
        "last {DAYS} days  {}  {}, at most {} a day",
        sparkline(&counts),
        uses_and_views(sum),
        grouped(most)
    ))?;
    let room = out.width.unwrap_or(80).saturating_sub(14) / 2;
    let skipped = numbers.weeks.len().saturating_sub(room);
    let shown: Vec<&(String, u64)> = numbers.weeks.iter().skip(skipped).collect();
    let counts: Vec<u64> = shown.iter().map(|(_, count)| *count).collect();
    let days: Vec<String> = shown.iter().map(|(day, _)| day.clone()).collect();
    out.line(&format!(
        "{:<14}{}",
        format!("last {} weeks", days.len()),
        heat_strip(&counts)
    ))?;
    let months = out.paint(Style::Dim, &month_line(&days));
    out.line(&format!("{:<14}{months}", ""))
}

/// A time as people read it.
fn ago(at: Option<&str>, now: Timestamp) -> String {
    at.and_then(Timestamp::parse)
        .map_or_else(String::new, |at| at.relative(now))
}

fn used(out: &mut Output, numbers: &Numbers, now: Timestamp) -> Result<()> {
    if numbers.most_used.is_empty() {
        return Ok(());
    }
    heading(out, "Most used")?;
    let mut rows = vec![
        ["", "uses", "views", "failed", "last"]
            .map(str::to_owned)
            .to_vec(),
    ];
    for skill in &numbers.most_used {
        rows.push(vec![
            format!("  {}", fit(&label(numbers, skill), NAME)),
            grouped(skill.uses),
            grouped(skill.views),
            grouped(skill.failures),
            ago(skill.last_at.as_deref(), now),
        ]);
    }
    columns(&rows).iter().try_for_each(|line| out.line(line))
}

fn trend(out: &mut Output, numbers: &Numbers) -> Result<()> {
    for (words, rows) in [("Rising", &numbers.rising), ("Falling", &numbers.falling)] {
        if rows.is_empty() {
            continue;
        }
        heading(
            out,
            &format!("{words} (last {SPAN} days, and the {SPAN} before)"),
        )?;
        let lines: Vec<Vec<String>> = rows
            .iter()
            .map(|row| {
                vec![
                    format!("  {}", fit(&row.name, NAME)),
                    format!("{} from {}", grouped(row.now), grouped(row.before)),
                ]
            })
            .collect();
        columns(&lines).iter().try_for_each(|line| out.line(line))?;
    }
    Ok(())
}

fn missing(out: &mut Output, numbers: &Numbers, now: Timestamp) -> Result<()> {
    for (words, is_unclear) in [
        ("Called but not installed", false),
        (
            "Called, and several skills have the name (skilldb list --duplicates)",
            true,
        ),
    ] {
        let rows: Vec<Vec<String>> = numbers
            .not_installed
            .iter()
            .filter(|row| (row.copies > 1) == is_unclear)
            .map(|row| {
                vec![
                    format!("  {}", fit(&row.name, NAME)),
                    plural(row.calls, "call"),
                    format!("{} failed", grouped(row.failures)),
                    ago(Some(&row.last_at), now),
                    clean(row.clients.as_deref().unwrap_or_default()).into_owned(),
                ]
            })
            .collect();
        if !rows.is_empty() {
            heading(out, words)?;
            columns(&rows)
                .iter()
                .try_for_each(|line| out.line(line.trim_end()))?;
        }
    }
    Ok(())
}

fn vanished(out: &mut Output, numbers: &Numbers, now: Timestamp) -> Result<()> {
    if numbers.vanished.is_empty() {
        return Ok(());
    }
    heading(
        out,
        "Used, and their folders vanished (skilldb list --missing)",
    )?;
    let rows: Vec<Vec<String>> = numbers
        .vanished
        .iter()
        .map(|skill| {
            vec![
                format!("  {}", fit(&skill.name, NAME)),
                plural(skill.uses, "use"),
                plural(skill.views, "view"),
                ago(skill.last_at.as_deref(), now),
            ]
        })
        .collect();
    columns(&rows)
        .iter()
        .try_for_each(|line| out.line(line.trim_end()))
}

fn clients(out: &mut Output, numbers: &Numbers) -> Result<()> {
    if numbers.by_client.is_empty() {
        return Ok(());
    }
    heading(out, "By client and trigger")?;
    let rows: Vec<Vec<String>> = numbers
        .by_client
        .iter()
        .map(|row| {
            let client = if row.client.is_empty() {
                "(none said)"
            } else {
                &row.client
            };
            vec![
                format!("  {}", fit(client, NAME)),
                row.trigger.clone(),
                plural(row.events, "event"),
                format!("{} failed", grouped(row.failures)),
            ]
        })
        .collect();
    columns(&rows).iter().try_for_each(|line| out.line(line))
}

fn unused(out: &mut Output, numbers: &Numbers, limit: usize) -> Result<()> {
    if numbers.never_used.is_empty() {
        return Ok(());
    }
    let count = grouped(numbers.never_used.len() as u64);
    heading(out, &format!("Never used ({count})"))?;
    let shown = numbers.never_used.iter().take(limit);
    let mut names: Vec<String> = shown.map(|skill| label(numbers, skill)).collect();
    let more = numbers.never_used.len() - names.len();
    if more > 0 {
        let more = grouped(more as u64);
        names.push(format!("and {more} more: skilldb sql never-used"));
    }
    for line in filled(&names, out.width.unwrap_or(80).saturating_sub(2)) {
        out.line(&format!("  {line}"))?;
    }
    Ok(())
}

/// Puts names into lines, separated by commas.
fn filled(names: &[String], width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for (index, name) in names.iter().enumerate() {
        let comma = if index + 1 < names.len() { "," } else { "" };
        let fits = |line: &&mut String| line.width() + 1 + name.width() < width;
        match lines.last_mut().filter(fits) {
            Some(line) => line.extend([" ", name, comma]),
            None => lines.push(format!("{name}{comma}")),
        }
    }
    lines
}

fn idle(out: &mut Output, numbers: &Numbers, args: &Args, now: Timestamp) -> Result<()> {
    let limit = args.limit as usize;
    unused(out, numbers, limit)?;
    if numbers.stale.is_empty() {
        return Ok(());
    }
    let count = grouped(numbers.stale.len() as u64);
    let words = format!("Untouched for {STALE_DAYS} days or more ({count})");
    heading(out, &words)?;
    let row = |row: &StaleRow| {
        let what = if row.was_used {
            "last touched"
        } else {
            "never used, first seen"
        };
        vec![
            format!("  {}", fit(&row.name, NAME)),
            format!("{what} {}", ago(Some(&row.since), now)),
        ]
    };
    let rows: Vec<Vec<String>> = numbers.stale.iter().take(limit).map(row).collect();
    columns(&rows).iter().try_for_each(|line| out.line(line))?;
    if numbers.stale.len() > limit {
        let more = grouped((numbers.stale.len() - limit) as u64);
        out.line(&format!("  {more} more (--limit)"))?;
    }
    Ok(())
}

fn costs(out: &mut Output, numbers: &Numbers) -> Result<()> {
    if numbers.costs.is_empty() {
        return Ok(());
    }
    heading(out, "Tokens, where the client says")?;
    let rows: Vec<Vec<String>> = numbers
        .costs
        .iter()
        .map(|row| {
            let per_use = (row.tokens_in + row.tokens_out) / row.uses.max(1);
            vec![
                format!("  {}", fit(&row.name, NAME)),
                format!("{} in", grouped(row.tokens_in)),
                format!("{} out", grouped(row.tokens_out)),
                format!("{} a use", grouped(per_use)),
            ]
        })
        .collect();
    columns(&rows).iter().try_for_each(|line| out.line(line))
}
