//! A library in which skills grow old: commands at moments of choice, and what they say of each skill.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use serde_json::Value;
use skilldb::time::Timestamp;

use crate::common::{self, Library, code};

/// A moment so many days after the usual one.
pub(crate) fn after(days: i64) -> String {
    Timestamp::parse(common::NOW)
        .unwrap()
        .days_before(-days)
        .to_string()
}

/// Runs a command so many days later; its object.
pub(crate) fn at(library: &Library, days: i64, args: &[&str]) -> Value {
    at_exit(library, days, args, 0)
}

pub(crate) fn at_exit(library: &Library, days: i64, args: &[&str], exit: i32) -> Value {
    let output = library
        .skilldb(&[args, &["--json"]].concat())
        .env("SKILLDB_NOW", after(days))
        .output()
        .unwrap();
    assert_eq!(code(&output), exit, "{args:?}\n{}", library.told(&output));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// A skill that agents made.
pub(crate) fn agents(library: &Library, name: &str) {
    library.skill(name, "Does a thing.");
}

/// Three skills of agents in a category, one of a person, used on the first day.
pub(crate) fn library() -> Library {
    let library = Library::new();
    for name in ["ops/old", "ops/older", "late", "mine"] {
        agents(&library, name);
    }
    library.write("skills/ops/old/scripts/run.sh", b"#!/bin/sh\n");
    fs::set_permissions(
        library.path("skills/ops/old/scripts/run.sh"),
        fs::Permissions::from_mode(0o755),
    )
    .unwrap();
    fs::create_dir_all(library.path("skills/ops/old/assets/empty")).unwrap();
    symlink("/nowhere/at/all", library.path("skills/ops/old/link")).unwrap();
    library.write("skills/ops/old/data.bin", &[0, 159, 146, 150]);
    library.sync();
    for name in ["old", "older", "late"] {
        library.json(&["adopt", name, "--as", "agent"]);
        library.json(&["record", "use", name, "--event-id", name]);
    }
    library.json(&["adopt", "mine", "--as", "user"]);
    library
}

pub(crate) fn outcomes(planned: &Value) -> BTreeMap<String, String> {
    let skills = planned["skills"].as_array().unwrap().iter();
    skills
        .map(|skill| {
            let word = |key: &str| skill[key].as_str().unwrap().to_owned();
            (word("name"), word("outcome"))
        })
        .collect()
}

pub(crate) fn states(library: &Library) -> BTreeMap<String, String> {
    let rows = library.sql("SELECT name, state FROM v_skill ORDER BY name");
    rows.lines()
        .map(|line| line.split_once('\t').unwrap())
        .map(|(name, state)| (name.to_owned(), state.to_owned()))
        .collect()
}
