//! Hands counts on in the form other programs read.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::store::RecordRow;

/// Makes the text of a `.usage.json` as Hermes Agent 0.19 writes it: records by name, keys sorted,
/// indented by two. Skills that share a name share a record there, so their counts are added up.
///
/// A record notes which counts are those of this `library`: Hermes keeps the note, and an import into the
/// same library does not count them again.
#[must_use]
pub fn hermes_usage(rows: &[RecordRow], library: &str) -> String {
    let mut records: BTreeMap<&str, Vec<&RecordRow>> = BTreeMap::new();
    for row in rows {
        records.entry(row.name.as_str()).or_default().push(row);
    }
    let object: Map<String, Value> = records
        .into_iter()
        .map(|(name, rows)| (name.to_owned(), record(&rows, library)))
        .collect();
    serde_json::to_string_pretty(&Value::Object(object)).unwrap_or_default()
}

fn record(rows: &[&RecordRow], library: &str) -> Value {
    let sum = |count: fn(&RecordRow) -> u64| rows.iter().map(|row| count(row)).sum::<u64>();
    let newest = |time: fn(&RecordRow) -> Option<&String>| {
        rows.iter()
            .filter_map(|row| time(row))
            .max()
            .map(|at| offset(at))
    };
    // One live copy keeps the name live.
    let state = ["active", "stale"]
        .into_iter()
        .find(|state| rows.iter().any(|row| row.state == *state))
        .unwrap_or("archived");
    let archived_at = newest(|row| row.archived_at.as_ref()).filter(|_| state == "archived");
    let is_agents = rows.iter().any(|row| row.origin == "agent");
    let own = |index: usize| {
        let counts = rows.iter().filter_map(|row| row.own_counts.get(index));
        counts.sum::<u64>()
    };
    let mut record = json!({
        "archived_at": archived_at,
        "created_at": rows.iter().map(|row| &row.created_at).min().map(|at| offset(at)),
        "created_by": is_agents.then_some("agent"),
        "last_patched_at": newest(|row| row.last_patch_at.as_ref()),
        "last_used_at": newest(|row| row.last_use_at.as_ref()),
        "last_viewed_at": newest(|row| row.last_view_at.as_ref()),
        "patch_count": sum(|row| row.patch_count),
        "pinned": rows.iter().any(|row| row.pinned),
        "state": state,
        "use_count": sum(|row| row.use_count),
        "view_count": sum(|row| row.view_count),
    });
    let note = json!({"library": library, "patch_count": own(2), "use_count": own(0), "view_count": own(1)});
    if own(0) + own(1) + own(2) > 0
        && let Some(fields) = record.as_object_mut()
    {
        fields.insert(OWN.to_owned(), note);
        fields.sort_keys();
    }
    record
}

/// The key of the note.
pub(super) const OWN: &str = "skilldb";

/// Hermes writes the zone as an offset.
fn offset(at: &str) -> String {
    format!("{}+00:00", at.trim_end_matches('Z'))
}
