//! The numbers of `stats` for programs: one object, or one record a line.

use serde_json::{Value, json};

use super::gather::Numbers;
use crate::cli::output::{Output, one_line};
use crate::error::Result;
use crate::store::{SkillUse, TrendRow};

fn skill_object(skill: &SkillUse) -> Value {
    json!({
        "id": skill.id, "name": skill.name, "path": skill.path, "use_count": skill.uses, "view_count": skill.views,
        "file_count": skill.files, "failure_count": skill.failures, "last_activity_at": skill.last_at,
    })
}

fn trend_object(row: &TrendRow) -> Value {
    json!({"id": row.id, "name": row.name, "path": row.path, "last_28_days": row.now, "28_days_before": row.before})
}

fn list<T>(rows: &[T], limit: usize, object: impl Fn(&T) -> Value) -> Vec<Value> {
    rows.iter().take(limit).map(object).collect()
}

/// All numbers as one object; lists have at most `limit` entries.
pub(super) fn object(numbers: &Numbers, limit: usize) -> Value {
    let totals = &numbers.totals;
    let span = |spans: &[(String, u64)], key: &str| -> Vec<Value> {
        spans
            .iter()
            .map(|(day, count)| json!({key: day, "events": count}))
            .collect()
    };
    json!({
        "totals": {
            "skills": totals.skills, "used": totals.used, "never_used": totals.skills - totals.used,
            "use_count": totals.uses, "view_count": totals.views, "file_count": totals.files, "failure_count": totals.failures,
            "background_count": totals.background, "events": totals.events, "not_installed_events": totals.not_installed,
            "stale_candidates": numbers.stale.len(),
            "safe": numbers.verdicts.safe, "caution": numbers.verdicts.caution, "dangerous": numbers.verdicts.dangerous,
            "not_scanned": numbers.verdicts.unknown,
        },
        "days": span(&numbers.days, "day"),
        "weeks": span(&numbers.weeks, "from"),
        "most_used": list(&numbers.most_used, limit, skill_object),
        "never_used": list(&numbers.never_used, limit, skill_object),
        "vanished": list(&numbers.vanished, limit, skill_object),
        "rising": list(&numbers.rising, limit, trend_object),
        "falling": list(&numbers.falling, limit, trend_object),
        "not_installed": list(&numbers.not_installed, limit, |row| json!({
            "name": row.name, "calls": row.calls, "failures": row.failures, "last_at": row.last_at, "clients": row.clients, "copies": row.copies,
        })),
        "by_client": list(&numbers.by_client, usize::MAX, |row| json!({
            "client": (!row.client.is_empty()).then_some(&row.client), "trigger": row.trigger, "events": row.events, "failures": row.failures,
        })),
        "stale_candidates": list(&numbers.stale, limit, |row| json!({
            "id": row.id, "name": row.name, "path": row.path, "since": row.since, "was_used": row.was_used,
        })),
        "tokens": list(&numbers.costs, limit, |row| json!({
            "name": row.name, "tokens_in": row.tokens_in, "tokens_out": row.tokens_out, "uses": row.uses,
        })),
    })
}

/// Writes one record: cells without line breaks, separated by tabs.
fn record(out: &mut Output, cells: &[&str]) -> Result<()> {
    let cells: Vec<String> = cells.iter().map(|cell| one_line(cell)).collect();
    out.line(&cells.join("\t"))
}

/// One record a line, the kind first; lists have at most `limit` entries.
pub(super) fn records(out: &mut Output, numbers: &Numbers, limit: usize) -> Result<()> {
    totals(out, numbers)?;
    for (kind, list) in [("day", &numbers.days), ("week", &numbers.weeks)] {
        for (day, count) in list {
            record(out, &[kind, day, &count.to_string()])?;
        }
    }
    skills(out, numbers, limit)?;
    others(out, numbers, limit)
}

fn totals(out: &mut Output, numbers: &Numbers) -> Result<()> {
    let totals = &numbers.totals;
    for (what, count) in [
        ("skills", totals.skills),
        ("used", totals.used),
        ("never-used", totals.skills - totals.used),
        ("uses", totals.uses),
        ("views", totals.views),
        ("file-reads", totals.files),
        ("failures", totals.failures),
        ("background", totals.background),
        ("events", totals.events),
        ("not-installed", totals.not_installed),
        ("caution", numbers.verdicts.caution),
        ("dangerous", numbers.verdicts.dangerous),
        ("not-scanned", numbers.verdicts.unknown),
    ] {
        record(out, &["total", what, &count.to_string()])?;
    }
    Ok(())
}

fn skills(out: &mut Output, numbers: &Numbers, limit: usize) -> Result<()> {
    for (kind, list) in [
        ("most-used", &numbers.most_used),
        ("vanished", &numbers.vanished),
    ] {
        for skill in list.iter().take(limit) {
            let [uses, views, failures] =
                [skill.uses, skill.views, skill.failures].map(|count| count.to_string());
            let last = skill.last_at.as_deref().unwrap_or_default();
            let cells = [
                kind,
                &skill.name,
                &uses,
                &views,
                &failures,
                last,
                &skill.path,
            ];
            record(out, &cells)?;
        }
    }
    for skill in numbers.never_used.iter().take(limit) {
        let views = skill.views.to_string();
        record(out, &["never-used", &skill.name, &views, &skill.path])?;
    }
    for (kind, rows) in [("rising", &numbers.rising), ("falling", &numbers.falling)] {
        for row in rows.iter().take(limit) {
            let [now, before] = [row.now, row.before].map(|count| count.to_string());
            record(out, &[kind, &row.name, &now, &before, &row.path])?;
        }
    }
    for row in numbers.stale.iter().take(limit) {
        record(out, &["stale", &row.name, &row.since, &row.path])?;
    }
    Ok(())
}

fn others(out: &mut Output, numbers: &Numbers, limit: usize) -> Result<()> {
    for row in numbers.not_installed.iter().take(limit) {
        let kind = if row.copies > 1 {
            "unclear"
        } else {
            "not-installed"
        };
        let clients = row.clients.as_deref().unwrap_or_default();
        let [calls, failures] = [row.calls, row.failures].map(|count| count.to_string());
        let cells = [kind, &row.name, &calls, &failures, &row.last_at, clients];
        record(out, &cells)?;
    }
    for row in &numbers.by_client {
        let [events, failures] = [row.events, row.failures].map(|count| count.to_string());
        record(
            out,
            &["client", &row.client, &row.trigger, &events, &failures],
        )?;
    }
    for row in numbers.costs.iter().take(limit) {
        let [read, written, uses] =
            [row.tokens_in, row.tokens_out, row.uses].map(|count| count.to_string());
        record(out, &["tokens", &row.name, &read, &written, &uses])?;
    }
    Ok(())
}
