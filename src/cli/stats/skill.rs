//! `skilldb stats NAME`: one skill's life.

use serde_json::{Value, json};

use super::charts::{heat_strip, month_line};
use super::gather::{WEEKS, by_week, week_start};
use super::uses_and_views;
use crate::cli::Context;
use crate::cli::output::{Output, Style, clean, grouped, one_line, plural};
use crate::error::{Error, Result};
use crate::store::{LifeRow, MissingRow, MomentRow, SkillAddress, Store};
use crate::time::Timestamp;

/// Moments that are shown.
const MOMENTS: u32 = 20;

struct Life {
    skill: SkillAddress,
    row: LifeRow,
    weeks: Vec<(String, u64)>,
    moments: Vec<MomentRow>,
    /// Client, session and arguments of the newest failure.
    failure: Option<[Option<String>; 3]>,
}

pub(super) fn tell(context: &mut Context, store: &Store, name: &str) -> Result<()> {
    let skill = find(store, name)?;
    let row = store.life(skill.id)?;
    let days = store.days_of(skill.id, week_start(context.now, WEEKS - 1))?;
    let has_failed = row.newest[3].is_some();
    let life = Life {
        weeks: by_week(&days, context.now),
        moments: store.moments(skill.id, MOMENTS)?,
        failure: if has_failed {
            store.last_failure(skill.id)?
        } else {
            None
        },
        skill,
        row,
    };
    if context.out.json {
        context.out.object(object(&life))
    } else if context.out.width.is_some() {
        picture(&mut context.out, &life, context.now)
    } else {
        records(&mut context.out, &life)
    }
}

/// Finds a skill; one whose folder vanished still has its counts.
fn find(store: &Store, name: &str) -> Result<SkillAddress> {
    let not_found = match store.find_skill(name) {
        Err(error @ Error::SkillNotFound { .. }) => error,
        other => return other,
    };
    let id = name.strip_prefix('#').and_then(|id| id.parse().ok());
    let mut vanished: Vec<MissingRow> = store.list_missing()?;
    vanished.retain(|row| {
        let folder = row.rel_path.rsplit('/').next();
        id == Some(row.id) || row.name == name || folder == Some(name)
    });
    match (vanished.pop(), vanished.is_empty()) {
        (Some(row), true) => Ok(SkillAddress {
            id: row.id,
            path: format!("{}/{}", row.root, row.rel_path),
            name: if row.name == row.rel_path {
                // Never read: its folder would have its name.
                row.rel_path
                    .rsplit('/')
                    .next()
                    .unwrap_or_default()
                    .to_owned()
            } else {
                row.name
            },
            rel_path: row.rel_path,
            file_name: String::new(),
            is_archived: false,
        }),
        _ => Err(not_found),
    }
}

fn object(life: &Life) -> Value {
    let row = &life.row;
    let [uses, views, files, failures, background, patches, inherited] = row.counts;
    let [used, viewed, read, failed] = &row.newest;
    let failure = life.failure.as_ref().map(|[client, session, args]| json!({"at": failed, "client": client, "session_id": session, "args": args}));
    json!({
        "id": life.skill.id, "name": life.skill.name, "path": life.skill.path,
        "state": row.state, "origin": row.origin, "pinned": row.pinned, "created_at": row.created_at,
        "use_count": uses, "view_count": views, "file_count": files, "failure_count": failures,
        "background_count": background, "patch_count": patches, "inherited_use_count": inherited,
        "last_use_at": used, "last_view_at": viewed, "last_file_at": read,
        "last_failure": failure,
        "weeks": life.weeks.iter().map(|(day, count)| json!({"from": day, "events": count})).collect::<Vec<_>>(),
        "history": life.moments.iter().map(|moment| json!({"at": moment.at, "what": moment.what, "actor": moment.actor})).collect::<Vec<_>>(),
    })
}

fn records(out: &mut Output, life: &Life) -> Result<()> {
    let row = &life.row;
    let mut line = |cells: &[&str]| {
        let cells: Vec<String> = cells.iter().map(|cell| one_line(cell)).collect();
        out.line(&cells.join("\t"))
    };
    line(&[
        "skill",
        &life.skill.name,
        &format!("#{}", life.skill.id),
        &life.skill.path,
    ])?;
    line(&["state", &row.state])?;
    line(&["origin", &row.origin])?;
    line(&["created", &row.created_at])?;
    let names = [
        "uses",
        "views",
        "file-reads",
        "failures",
        "background",
        "edits",
        "inherited-uses",
    ];
    for (name, count) in names.into_iter().zip(row.counts) {
        line(&["total", name, &count.to_string()])?;
    }
    for (name, at) in ["last-use", "last-view", "last-file-read", "last-failure"]
        .into_iter()
        .zip(&row.newest)
    {
        if let Some(at) = at {
            line(&[name, at])?;
        }
    }
    for (day, count) in &life.weeks {
        line(&["week", day, &count.to_string()])?;
    }
    for moment in &life.moments {
        line(&["history", &moment.at, &moment.actor, &moment.what])?;
    }
    Ok(())
}

fn picture(out: &mut Output, life: &Life, now: Timestamp) -> Result<()> {
    head(out, life, now)?;
    newest(out, life, now)?;
    weeks(out, life)?;
    if !life.moments.is_empty() {
        out.line("")?;
        let words = out.paint(Style::Bold, "History");
        out.line(&words)?;
    }
    for moment in &life.moments {
        let day = moment.at.get(..10).unwrap_or(&moment.at);
        let what = clean(&moment.what);
        out.line(&format!("  {day}  {what} ({})", moment.actor))?;
    }
    Ok(())
}

fn ago(at: &str, now: Timestamp) -> String {
    Timestamp::parse(at).map_or_else(String::new, |at| at.relative(now))
}

fn head(out: &mut Output, life: &Life, now: Timestamp) -> Result<()> {
    let row = &life.row;
    let name = out.paint(Style::Bold, &clean(&life.skill.name));
    let path = clean(&life.skill.path);
    out.line(&format!("{name} (#{})  {path}", life.skill.id))?;
    let pinned = if row.pinned { ", pinned" } else { "" };
    let origin = match row.origin.as_str() {
        "unknown" => String::new(),
        origin => format!(", made by {origin}"),
    };
    let since = ago(&row.created_at, now);
    out.line(&format!(
        "{}{pinned}{origin}; first seen {since}",
        row.state
    ))?;
    let [uses, views, files, failures, background, patches, inherited] = row.counts;
    out.line(&format!(
        "{}, {}, {}; {} failed; {} background; {}",
        plural(uses, "use"),
        plural(views, "view"),
        plural(files, "file read"),
        grouped(failures),
        grouped(background),
        plural(patches, "edit")
    ))?;
    if inherited > 0 {
        let words = plural(inherited, "use");
        out.line(&format!("{words} more of what it absorbed"))?;
    }
    Ok(())
}

fn newest(out: &mut Output, life: &Life, now: Timestamp) -> Result<()> {
    let [used, viewed, read, failed] = &life.row.newest;
    for (words, at) in [
        ("used", used),
        ("viewed", viewed),
        ("a file was read", read),
    ] {
        if let Some(at) = at {
            out.line(&format!("last {words} {}", ago(at, now)))?;
        }
    }
    let Some(at) = failed else {
        return Ok(());
    };
    let known = life.failure.iter().flatten().take(2).flatten();
    let known: Vec<String> = known.map(|word| clean(word).into_owned()).collect();
    let by = if known.is_empty() {
        String::new()
    } else {
        format!(" ({})", known.join(", session "))
    };
    out.line(&format!("last failed {}{by}", ago(at, now)))
}

fn weeks(out: &mut Output, life: &Life) -> Result<()> {
    let room = out.width.unwrap_or(80).saturating_sub(14) / 2;
    let skipped = life.weeks.len().saturating_sub(room);
    let (days, counts): (Vec<String>, Vec<u64>) = life.weeks.iter().skip(skipped).cloned().unzip();
    out.line("")?;
    let words = format!("last {} weeks", days.len());
    out.line(&format!("{words:<14}{}", heat_strip(&counts)))?;
    let months = out.paint(Style::Dim, &month_line(&days));
    out.line(&format!("{:<14}{months}", ""))?;
    let sum = uses_and_views(counts.iter().sum());
    let most = counts.iter().max().copied().unwrap_or_default();
    out.line(&format!("{sum} in them, at most {} a week", grouped(most)))
}
