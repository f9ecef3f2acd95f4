//! The peer's verdicts on names, categories, headers, sizes and paths, and what it reads out of headers.

#![expect(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "what cannot be arranged is a failed test, and a table is written when asked for"
)]

#[path = "common/vectors.rs"]
mod vectors;

use serde_json::{Value, json};
use skilldb::manage::gate;
use skilldb::{Error, skill};

fn verdict(result: Result<(), Error>) -> Value {
    match result {
        Ok(()) => json!("fine"),
        Err(error) => json!(error.code()),
    }
}

/// `None` for what cannot be asked here: no text where a text has to be.
fn judged(function: &str, args: &Value) -> Option<Value> {
    Some(match function {
        "validate_name" => verdict(gate::name(
            args["name"]
                .as_str()
                .or(args["name"].is_null().then_some(""))?,
        )),
        "validate_category" => {
            if !args["category"].is_null() && !args["category"].is_string() {
                return None;
            }
            verdict(gate::category(args["category"].as_str()).map(drop))
        }
        "validate_frontmatter" => {
            let text = args["content"].as_str()?;
            // The peer does not know of the folder here.
            verdict(gate::frontmatter(text, "", None))
        }
        "validate_content_size" => {
            let count = usize::try_from(args["count"].as_u64()?).ok()?;
            let label = args["label"].as_str().unwrap_or("SKILL.md");
            verdict(gate::size(
                label,
                &args["char"].as_str()?.repeat(count),
                None,
            ))
        }
        "validate_file_path" => {
            verdict(gate::file_path(args["file_path"].as_str()?, |_| false).map(drop))
        }
        _ => return None,
    })
}

#[test]
fn every_verdict_of_the_peer_matches_or_is_a_departure_with_a_reason() {
    let mut outcomes = Vec::new();
    for case in vectors::read("validation.json").as_array().unwrap() {
        let step = &case["steps"][0];
        let name = case["name"].as_str().unwrap().to_owned();
        let args = &step["call"]["args"];
        let Some(ours) = judged(step["call"]["fn"].as_str().unwrap(), args) else {
            // A name or a category that is a number: the type system says no.
            outcomes.push((name, json!("fine"), json!("fine")));
            continue;
        };
        // How the refusal is worded is ours; that there is one has to agree.
        let theirs = if step["observed"].is_null() {
            json!("fine")
        } else if ours == "fine" {
            json!("refused")
        } else {
            ours.clone()
        };
        outcomes.push((name, ours, theirs));
    }
    vectors::compare("validation_departures.json", &outcomes);
}

/// What a header says, as the peer shows it; scalars as they are written.
fn parsed(text: &str) -> Value {
    let read = skill::read(text.as_bytes(), "");
    let body = text.get(read.body_offset..).unwrap_or_default();
    json!([read.header, body])
}

/// Every scalar as text: ours keep what is written, the peer what YAML makes of it.
fn as_text(value: &Value) -> Value {
    match value {
        Value::Bool(_) | Value::Number(_) => json!(value.to_string()),
        Value::Array(list) => list.iter().map(as_text).collect(),
        Value::Object(map) => map
            .iter()
            .map(|(key, value)| (key.clone(), as_text(value)))
            .collect(),
        other => other.clone(),
    }
}

/// A skill with this header; JSON is YAML.
fn with_header(header: &Value) -> skill::SkillText {
    let lines: Vec<String> = header
        .as_object()
        .unwrap()
        .iter()
        .map(|(key, value)| format!("{key}: {value}\n"))
        .collect();
    skill::read(format!("---\n{}---\nbody\n", lines.concat()).as_bytes(), "")
}

#[test]
fn every_header_the_peer_reads_reads_the_same_or_is_a_departure_with_a_reason() {
    let mut outcomes = Vec::new();
    let mut elsewhere = 0;
    for case in vectors::read("frontmatter.json").as_array().unwrap() {
        let step = &case["steps"][0];
        let args = &step["call"]["args"];
        let observed = &step["observed"];
        let (ours, theirs) = match step["call"]["fn"].as_str().unwrap() {
            "parse_frontmatter" => (parsed(args["content"].as_str().unwrap()), as_text(observed)),
            "extract_description" => {
                let description = with_header(&args["frontmatter"]).description;
                (json!(description.unwrap_or_default()), observed.clone())
            }
            "extract_config_vars" => {
                let read = with_header(&args["frontmatter"]);
                let keys = read.fields.config.iter().map(|key| {
                    let mut object = json!({"key": key.key, "description": key.description});
                    if let Some(default) = &key.default {
                        object["default"] = json!(default);
                    }
                    object["prompt"] = json!(key.prompt);
                    object
                });
                (keys.collect(), as_text(observed))
            }
            other => panic!("{other}"),
        };
        elsewhere += case["steps"].as_array().unwrap().len() - 1;
        outcomes.push((case["name"].as_str().unwrap().to_owned(), ours, theirs));
    }
    // The second step of some: what the value of a setting is when a skill is shown. That is not the header's affair.
    println!(
        "frontmatter: {elsewhere} steps about values of settings, which belong to showing a skill"
    );
    vectors::compare("frontmatter_departures.json", &outcomes);
}
