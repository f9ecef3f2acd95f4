//! Cases of a peer beside a table of departures: ours come out the same, or stand in the table with the reason and
//! what comes out instead.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("fixtures/vectors")
        .join(name)
}

pub(crate) fn read(name: &str) -> Value {
    serde_json::from_slice(&fs::read(path(name)).unwrap()).unwrap()
}

/// Compares what comes out, by case, and prints both counts. With `SKILLDB_BLESS` set, what comes out is written
/// into the table where it is not right there; a reason is still missing then, which fails the next run.
#[expect(clippy::print_stdout, reason = "both counts are told")]
pub(crate) fn compare(table: &str, outcomes: &[(String, Value, Value)]) {
    let mut departures: BTreeMap<String, Value> =
        serde_json::from_slice(&fs::read(path(table)).unwrap_or_else(|_| b"{}".to_vec())).unwrap();
    let bless = std::env::var_os("SKILLDB_BLESS").is_some();
    let mut wrong = Vec::new();
    let (mut same, mut departed) = (0, 0);
    for (name, ours, theirs) in outcomes {
        match departures.get_mut(name) {
            None if ours == theirs => same += 1,
            Some(row)
                if row["ours"] == *ours
                    && ours != theirs
                    && row["why"].as_str().is_some_and(|why| !why.is_empty()) =>
            {
                departed += 1;
            }
            Some(row) if bless && ours != theirs => row["ours"] = ours.clone(),
            Some(_) if bless => drop(departures.remove(name)),
            None if bless => {
                drop(departures.insert(name.clone(), json!({"why": "", "ours": ours})));
            }
            Some(_) | None => wrong.push(format!("{name}\n  ours   {ours}\n  theirs {theirs}")),
        }
    }
    if bless {
        let text = serde_json::to_string_pretty(&departures).unwrap();
        fs::write(path(table), format!("{text}\n")).unwrap();
    }
    println!(
        "{table}: {same} as the peer, {departed} departures, {} wrong",
        wrong.len()
    );
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    for name in departures.keys() {
        assert!(
            outcomes.iter().any(|(case, ..)| case == name),
            "{name} is no case"
        );
    }
}
