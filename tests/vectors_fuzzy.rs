//! The peer's decisions about where a text is, case by case: ours are the same, or stand in the table of
//! departures with the reason and what comes out instead.

#![expect(
    clippy::unwrap_used,
    reason = "what cannot be arranged is a failed test"
)]

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use skilldb::patch::{Reach, apply};

fn read(name: &str) -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("fixtures/vectors")
        .join(name);
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

/// What comes out, in the form of the table: the word for the outcome, and the new text if there is one.
fn ours(call: &Value) -> Value {
    let text = |key: &str| call[key].as_str().unwrap();
    let reach = if call["replace_all"] == true {
        Reach::All
    } else {
        Reach::One
    };
    match apply(text("text"), text("find"), text("replace"), reach) {
        Ok(patched) => {
            json!({"outcome": patched.strategy.as_str(), "count": patched.places.len(), "text": patched.text})
        }
        Err(miss) => json!({"outcome": miss.code()}),
    }
}

fn theirs(observed: &Value) -> Value {
    match observed["error"].as_str() {
        None => {
            json!({"outcome": observed["strategy"], "count": observed["count"], "text": observed["new_text"]})
        }
        Some(error) if error.starts_with("Found ") => json!({"outcome": "ambiguous"}),
        Some(error) if error.starts_with("Could not find") => json!({"outcome": "not-found"}),
        Some(error) if error.starts_with("Escape-drift") => json!({"outcome": "escape-drift"}),
        Some(_) => json!({"outcome": "bad-request"}),
    }
}

#[test]
fn every_case_of_the_peer_matches_or_is_a_departure_with_a_reason() {
    let vectors = read("fuzzy_match.json");
    let departures = read("fuzzy_departures.json");
    let departures = departures.as_object().unwrap();
    let mut wrong: BTreeMap<String, Value> = BTreeMap::new();
    let (mut same, mut departed) = (0, 0);
    for case in vectors.as_array().unwrap() {
        let name = case["name"].as_str().unwrap();
        let (ours, theirs) = (ours(&case["call"]), theirs(&case["observed"]));
        match departures.get(name) {
            None if ours == theirs => same += 1,
            Some(row)
                if row["ours"] == ours
                    && ours != theirs
                    && !row["why"].as_str().unwrap().is_empty() =>
            {
                departed += 1;
            }
            _ => {
                wrong.insert(
                    name.to_owned(),
                    json!({"ours": ours, "theirs": theirs, "comment": case["comment"]}),
                );
            }
        }
    }
    println!(
        "fuzzy_match: {same} as the peer, {departed} departures, {} wrong",
        wrong.len()
    );
    assert_eq!(
        same + departed,
        vectors.as_array().unwrap().len(),
        "{:#}",
        json!(wrong)
    );
    assert_eq!(departed, departures.len(), "a departure that names no case");
}
