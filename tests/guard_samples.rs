//! Skills written for this test: what hurts in them is flagged at least as it is today, and what only looks like it is not.
//! Hosts and addresses are reserved ones, or those of services that such skills name; nothing of it is run.

#![expect(
    clippy::unwrap_used,
    reason = "what cannot be arranged is a failed test"
)]

use std::fs;
use std::path::Path;

use serde_json::Value;
use skilldb::guard::bundle::{Content, Entry};
use skilldb::guard::{Bundle, Guard, Verdict};

fn samples() -> Vec<Value> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/guard/samples.json");
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

fn bundle(sample: &Value) -> Bundle {
    let files = sample["files"].as_object().unwrap();
    let entry = |(path, text): (&String, &Value)| Entry {
        path: path.clone(),
        content: Content::Bytes(text.as_str().unwrap().as_bytes().to_vec()),
        is_executable: false,
    };
    Bundle {
        name: sample["case"].as_str().unwrap().to_owned(),
        entries: files.iter().map(entry).collect(),
        is_cut: false,
    }
}

fn judged(is_harmful: bool) -> Vec<(String, Verdict, Verdict)> {
    let guard = Guard::default();
    let own = samples()
        .into_iter()
        .filter(|sample| sample["is_harmful"] == is_harmful);
    own.map(|sample| {
        let known = Verdict::parse(sample["verdict"].as_str().unwrap()).unwrap();
        let case = sample["case"].as_str().unwrap().to_owned();
        (case, known, guard.scan(&bundle(&sample)).verdict)
    })
    .collect()
}

#[test]
fn what_hurts_is_flagged_as_badly_as_before() {
    let judged = judged(true);
    assert!(judged.len() >= 40, "{} samples", judged.len());
    for (case, known, found) in judged {
        assert!(
            found >= known && found > Verdict::Safe,
            "{case}: {}",
            found.as_str()
        );
    }
}

#[test]
fn what_only_looks_like_it_is_let_through() {
    let judged = judged(false);
    assert!(judged.len() >= 12, "{} samples", judged.len());
    for (case, _, found) in judged {
        assert_eq!(found, Verdict::Safe, "{case}");
    }
}
