//! Rows of another library's ledgers, each taken over once.

use std::collections::{BTreeSet, HashMap};

use serde_json::{Value, json};

use super::archive::Backup;
use super::merge::Merged;
use crate::error::Result;
use crate::store::{Ids, Ledger, Tx};

fn text<'a>(row: &'a Ledger, name: &str) -> Option<&'a str> {
    row.get(name).and_then(Value::as_str)
}

fn number(row: &Ledger, name: &str) -> Option<i64> {
    row.get(name).and_then(Value::as_i64)
}

/// Changes and revisions. Each is known by the library it was made in and its number there.
pub(super) fn history(
    tx: &Tx<'_>,
    backup: &Backup,
    own: &str,
    ids: &mut Ids,
    merged: &mut Merged,
) -> Result<()> {
    let mut added = BTreeSet::new();
    let named = backup.rows("manifest").iter();
    let names: HashMap<i64, &str> = named
        .filter_map(|row| Some((number(row, "skill_id")?, text(row, "name")?)))
        .collect();
    for row in backup.rows("change") {
        let Some(id) = number(row, "id") else {
            continue;
        };
        let key = match text(row, "event_id") {
            Some(key) => key.to_owned(),
            None => format!("{}#{id}", backup.library),
        };
        // What was made here comes back as what it is. In a copy of this home other changes may have the same number.
        let own_number = key
            .strip_prefix(&format!("{own}#"))
            .and_then(|id| id.parse::<i64>().ok());
        let mut key = key;
        if let Some(here) = own_number {
            let mut wanted = Ledger::new();
            for name in ["at", "action", "actor"] {
                wanted.insert(name.to_owned(), row.get(name).cloned().unwrap_or_default());
            }
            wanted.insert("id".to_owned(), json!(here));
            if tx.has_ledger_row("change", &wanted, &["id", "at", "action", "actor"])? {
                ids.changes.insert(id, here);
                merged.changes.1 += 1;
                continue;
            }
            key = format!("{key}@{}", text(row, "at").unwrap_or_default());
        }
        if let Some(here) = tx.change_by_event(&key)? {
            ids.changes.insert(id, here);
            merged.changes.1 += 1;
            continue;
        }
        let mut row = row.clone();
        row.remove("id");
        if text(&row, "source").is_none() {
            row.insert("source".to_owned(), json!("backup"));
        }
        row.insert("event_id".to_owned(), json!(key));
        if text(&row, "outcome") == Some("pending") {
            row.insert("outcome".to_owned(), json!("discarded"));
        }
        // Snapshots stay where they were made.
        for name in ["snapshot_id", "from_snapshot_id", "curator_run_id"] {
            row.remove(name);
        }
        for name in ["undoes", "undone_by"] {
            let here = number(&row, name).and_then(|id| ids.changes.get(&id).copied());
            row.insert(name.to_owned(), json!(here));
        }
        if let Some(here) = tx.add_ledger_row("change", &row)? {
            ids.changes.insert(id, here);
            added.insert(id);
            merged.changes.0 += 1;
        }
    }
    for row in backup.rows("change") {
        let (Some(id), Some(by)) = (number(row, "id"), number(row, "undone_by")) else {
            continue;
        };
        if let (true, Some(here), Some(by)) = (
            added.contains(&id),
            ids.changes.get(&id),
            ids.changes.get(&by),
        ) {
            tx.set_undone_by(*here, *by)?;
        }
    }
    for row in backup.rows("revision") {
        let (Some(id), Some(change)) = (number(row, "id"), number(row, "change_id")) else {
            continue;
        };
        if !added.contains(&change) {
            continue;
        }
        let mut row = row.clone();
        row.remove("id");
        // A life that ended there has no header here that says its name.
        if let Some(name) = number(&row, "skill_id").and_then(|id| names.get(&id)) {
            row.insert("called_name".to_owned(), json!(name));
        }
        ids.point(&mut row);
        if let Some(here) = tx.add_ledger_row("revision", &row)? {
            ids.revisions.insert(id, here);
        }
    }
    for row in backup.rows("revision_file") {
        let Some(here) = number(row, "revision_id").and_then(|id| ids.revisions.get(&id)) else {
            continue;
        };
        let mut row = row.clone();
        row.insert("revision_id".to_owned(), json!(here));
        tx.add_ledger_row("revision_file", &row)?;
    }
    Ok(())
}

/// Transitions and marks, as they happened there.
pub(super) fn states(tx: &Tx<'_>, backup: &Backup, ids: &Ids) -> Result<()> {
    let add = |table: &str, known: &[&str]| -> Result<()> {
        for row in backup.rows(table) {
            let mut row = row.clone();
            row.remove("id");
            row.remove("curator_run_id");
            ids.point(&mut row);
            if number(&row, "skill_id").is_some() && !tx.has_ledger_row(table, &row, known)? {
                tx.add_ledger_row(table, &row)?;
            }
        }
        Ok(())
    };
    tx.without_applying_transitions(|| {
        add(
            "state_transition",
            &["skill_id", "at", "from_state", "to_state", "actor"],
        )
    })?;
    add("mark", &["skill_id", "at", "mark", "value", "actor"])
}

/// What is known of skills besides.
pub(super) fn facts(tx: &Tx<'_>, backup: &Backup, ids: &Ids) -> Result<()> {
    for row in backup.rows("skill") {
        if let Some(here) = number(row, "id").and_then(|id| ids.skills.get(&id)) {
            tx.take_over_skill(*here, row)?;
        }
    }
    for (table, known) in [
        ("skill_disabled", &["skill_id", "platform"][..]),
        ("skill_install", &["noted_in", "name"]),
        ("usage_baseline", &["skill_id", "source"]),
        ("purged", &["hash"]),
    ] {
        for row in backup.rows(table) {
            let mut row = row.clone();
            if table != "purged" {
                row.remove("id");
                let had_skill = number(&row, "skill_id").is_some();
                ids.point(&mut row);
                if had_skill && number(&row, "skill_id").is_none() {
                    continue;
                }
            }
            if !tx.has_ledger_row(table, &row, known)? {
                tx.add_ledger_row(table, &row)?;
            }
        }
    }
    Ok(())
}

/// Uses, each known by its event. `wanted` are the rows that costs and aliases point at; they become rows here.
pub(super) fn uses(
    tx: &Tx<'_>,
    rows: Vec<Ledger>,
    ids: &Ids,
    (wanted, merged): (&mut Wanted, &mut Merged),
) -> Result<()> {
    for mut row in rows {
        let theirs = number(&row, "id");
        let Some(event) = text(&row, "event_id").map(str::to_owned) else {
            continue;
        };
        row.remove("id");
        ids.point(&mut row);
        let here = match tx.event_row(&event)? {
            Some(here) => {
                merged.uses.1 += 1;
                Some(here)
            }
            None => {
                if theirs.is_some_and(|id| wanted.costs.contains(&id)) {
                    // They are added up from the costs again.
                    row.remove("tokens_in");
                    row.remove("tokens_out");
                }
                merged.uses.0 += 1;
                tx.add_ledger_row("usage_event", &row)?;
                tx.event_row(&event)?
            }
        };
        if let (Some(theirs), Some(here)) = (theirs, here)
            && (wanted.costs.contains(&theirs) || wanted.aliases.contains(&theirs))
        {
            wanted.rows.insert(theirs, here);
        }
    }
    Ok(())
}

/// Uses that something points at.
#[derive(Default)]
pub(super) struct Wanted {
    costs: BTreeSet<i64>,
    aliases: BTreeSet<i64>,
    rows: HashMap<i64, i64>,
}

impl Wanted {
    pub(super) fn of(backup: &Backup) -> Self {
        let of = |table: &str| {
            backup
                .rows(table)
                .iter()
                .filter_map(|row| number(row, "usage_event_id"))
                .collect()
        };
        Self {
            costs: of("usage_cost"),
            aliases: of("usage_alias"),
            rows: HashMap::new(),
        }
    }
}

/// What points at uses: tokens, and other names of events.
pub(super) fn after_uses(tx: &Tx<'_>, backup: &Backup, wanted: &Wanted) -> Result<()> {
    for (table, key) in [("usage_cost", "message_id"), ("usage_alias", "event_id")] {
        for row in backup.rows(table) {
            let mut row = row.clone();
            let here = number(&row, "usage_event_id").and_then(|id| wanted.rows.get(&id).copied());
            if table == "usage_alias" && here.is_none() || tx.has_ledger_row(table, &row, &[key])? {
                continue;
            }
            row.insert("usage_event_id".to_owned(), json!(here));
            tx.add_ledger_row(table, &row)?;
        }
    }
    Ok(())
}
