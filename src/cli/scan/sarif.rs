//! SARIF 2.1.0 (OASIS): what code hosts and editors read.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde_json::{Value, json};

use super::{Looked, Round};
use crate::guard::{Finding, Severity};

pub(super) fn text(round: &Round) -> String {
    let mut rules: BTreeMap<&str, Value> = BTreeMap::new();
    let mut results = Vec::new();
    for skill in &round.looked {
        for found in &skill.report.findings {
            rules.entry(&found.rule).or_insert_with(|| rule(found));
            results.push(result(skill, found));
        }
    }
    let driver = json!({
        "name": "skilldb", "version": env!("CARGO_PKG_VERSION"), "rules": rules.into_values().collect::<Vec<_>>(),
    });
    let unread: Vec<Value> = round
        .unreadable
        .iter()
        .map(|(path, why)| {
            json!({
                "level": "error", "message": {"text": format!("{} could not be scanned: {why}", path.display())},
            })
        })
        .collect();
    let invocation =
        json!({"executionSuccessful": unread.is_empty(), "toolExecutionNotifications": unread});
    let log = json!({
        "$schema": "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json",
        "version": "2.1.0",
        "runs": [{"tool": {"driver": driver}, "invocations": [invocation], "results": results}],
    });
    serde_json::to_string_pretty(&log).unwrap_or_default()
}

fn rule(found: &Finding) -> Value {
    json!({
        "id": found.rule, "shortDescription": {"text": found.message}, "help": {"text": found.fix},
        "properties": {"tags": ["security", found.class.as_str()]},
    })
}

fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Critical | Severity::High => "error",
        Severity::Medium => "warning",
        Severity::Low | Severity::Info => "note",
    }
}

fn result(skill: &Looked, found: &Finding) -> Value {
    let path = skill
        .path
        .join(found.path.split("!/").next().unwrap_or(&found.path));
    let mut place = json!({"artifactLocation": {"uri": uri(&path.display().to_string())}});
    if let Some(line) = found.line {
        place["region"] = json!({"startLine": line});
    }
    let message = if found.evidence.is_empty() {
        found.message.to_string()
    } else {
        format!("{} {}", found.message, found.evidence)
    };
    let mut result = json!({
        "ruleId": found.rule, "level": level(found.severity), "message": {"text": message},
        "locations": [{"physicalLocation": place}],
        "partialFingerprints": {"skilldb/v1": found.fingerprint},
        "properties": {"severity": found.severity.as_str(), "seen": found.seen, "context": found.context},
    });
    if let Some(reason) = &found.accepted {
        result["suppressions"] = json!([{"kind": "external", "justification": reason}]);
    }
    result
}

/// A path as an address: what is no plain letter is escaped (RFC 3986).
fn uri(path: &str) -> String {
    let mut uri = String::from(if path.starts_with('/') { "file://" } else { "" });
    for byte in path.bytes() {
        if byte.is_ascii_alphanumeric() || b"/-._~".contains(&byte) {
            uri.push(char::from(byte));
        } else {
            let _ = write!(uri, "%{byte:02X}");
        }
    }
    uri
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_addresses() {
        assert_eq!(uri("/a b/ü.md"), "file:///a%20b/%C3%BC.md");
    }
}
