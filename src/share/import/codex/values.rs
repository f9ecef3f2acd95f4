//! Owns the reading of single values in a Codex rollout: a skill's block, an outcome, a time.

use serde_json::Value;

/// The name and the path of a text that is a skill's block from its first sign to its last.
pub(super) fn skill_block(content: &str) -> Option<(&str, &str)> {
    let inner = content
        .trim()
        .strip_prefix("<skill>")?
        .strip_suffix("</skill>")?
        .trim_start();
    let (name, rest) = inner.strip_prefix("<name>")?.split_once("</name>")?;
    let rest = rest.trim_start().strip_prefix("<path>")?;
    let (path, _) = rest.split_once("</path>")?;
    let (name, path) = (name.trim(), path.trim());
    let is_plain = !name.is_empty() && !name.contains('\n') && !path.contains('\n');
    is_plain.then_some((name, path))
}

/// Whether the object's `exit_code` says success.
pub(super) fn code_is_zero(object: &Value) -> Option<bool> {
    Some(object.get("exit_code")?.as_i64()? == 0)
}

/// Whether a tool's output, in any of its forms, says that the command went well.
pub(super) fn succeeded(output: &Value) -> Option<bool> {
    match output {
        Value::String(text) => match serde_json::from_str(text) {
            // The text of an output may well be JSON that the command itself wrote.
            Ok(inner @ Value::Object(_)) => inner.get("metadata").and_then(code_is_zero),
            _ => succeeded_by_text(text),
        },
        Value::Object(map) => {
            let inner = ["content", "output"].iter().find_map(|key| map.get(*key));
            let code = output.get("metadata").and_then(code_is_zero);
            code.or_else(|| code_is_zero(output))
                .or_else(|| inner.and_then(succeeded))
                .or_else(|| output.get("success")?.as_bool())
        }
        Value::Array(items) => items
            .iter()
            .filter_map(|item| item.get("text")?.as_str())
            .find_map(succeeded_by_text),
        _ => None,
    }
}

/// Looks no further than the head: what follows `Output:` is the command's own words.
fn succeeded_by_text(text: &str) -> Option<bool> {
    let number = |rest: &str| rest.trim().parse::<i64>().ok();
    let text = text.trim_start();
    let first = text.lines().next().unwrap_or_default();
    let code = match first.strip_prefix("Exit code:") {
        Some(rest) => number(rest),
        None => text
            .lines()
            .map(str::trim)
            .take_while(|line| *line != "Output:")
            .find_map(|line| number(line.strip_prefix("Process exited with code ")?)),
    };
    code.map(|code| code == 0)
}

/// The milliseconds from the year 0 to an RFC 3339 time; good for comparing only.
pub(super) fn milliseconds(time: &str) -> Option<i64> {
    let time = time.trim();
    let is_marked = |at, marks: &str| {
        let mark = time.get(at..)?.chars().next()?;
        marks.contains(mark).then_some(())
    };
    is_marked(4, "-").and(is_marked(7, "-"))?;
    is_marked(10, "Tt ")
        .and(is_marked(13, ":"))
        .and(is_marked(16, ":"))?;
    let part = |from, to| digits(time.get(from..to)?);
    let days = days(part(0, 4)?, part(5, 7)?, part(8, 10)?)?;
    let minutes = (days * 24 + part(11, 13)?) * 60 + part(14, 16)?;
    let rest = time.get(19..)?;
    let zone = rest.trim_start_matches(|c: char| c == '.' || c.is_ascii_digit());
    let fraction = rest.strip_suffix(zone)?.trim_start_matches('.');
    let thousandths: String = fraction.chars().chain("000".chars()).take(3).collect();
    let seconds = (minutes - zone_minutes(zone)?) * 60 + part(17, 19)?;
    Some(seconds * 1000 + digits(&thousandths)?)
}

/// Unlike `parse`, refuses a sign.
fn digits(text: &str) -> Option<i64> {
    let is_plain = text.bytes().all(|byte| byte.is_ascii_digit());
    is_plain.then(|| text.parse().ok()).flatten()
}

fn days(year: i64, month: i64, day: i64) -> Option<i64> {
    const BEFORE: [i64; 12] = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334];
    let before = BEFORE.get(usize::try_from(month - 1).ok()?)?;
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let past = year - 1;
    let leap_days = past / 4 - past / 100 + past / 400 + i64::from(is_leap && month > 2);
    Some(year * 365 + leap_days + before + day)
}

fn zone_minutes(zone: &str) -> Option<i64> {
    if matches!(zone, "Z" | "z") {
        return Some(0);
    }
    let (hours, minutes) = zone.get(1..)?.split_once(':')?;
    let pair = |text: &str| digits(text).filter(|_| text.len() == 2);
    let minutes = pair(hours)? * 60 + pair(minutes)?;
    match zone.get(..1)? {
        "+" => Some(minutes),
        "-" => Some(-minutes),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn blocks() {
        let whole = " <skill>\n<name>a b</name>\n<path>/s/a/SKILL.md</path>\nText\n</skill>\n";
        assert_eq!(skill_block(whole), Some(("a b", "/s/a/SKILL.md")));
        let refused = [
            "see <skill>\n<name>a</name>\n<path>/a</path>\n</skill>",
            "<skill>\n<name>a</name>\n<path>/a</path>\n</skill> why?",
            "<skill>\n<name></name>\n<path>/a</path>\n</skill>",
            "<skill>\n<name>a</name>\n</skill>",
            "<skill>",
            "",
        ];
        for text in refused {
            assert_eq!(skill_block(text), None, "{text}");
        }
    }

    #[test]
    fn outcomes() {
        let good = [
            json!("{\"output\":\"x\",\"metadata\":{\"exit_code\":0}}"),
            json!({"output": "x", "metadata": {"exit_code": 0}}),
            json!({"exit_code": 0}),
            json!("Exit code: 0\nWall time: 1 seconds\nOutput:\nProcess exited with code 1"),
            json!("Wall time: 1\nProcess exited with code 0\nOutput:\n"),
            json!([{"type": "input_text", "text": "Exit code: 0"}]),
            json!({"content": "ok", "success": true}),
        ];
        for output in good {
            assert_eq!(succeeded(&output), Some(true), "{output}");
        }
        let bad = [
            json!("{\"output\":\"x\",\"metadata\":{\"exit_code\":2}}"),
            json!("Exit code: 127\nOutput:\n"),
            json!("Chunk ID: 1\nProcess exited with code -1\nOutput:\n"),
            json!({"content": "Exit code: 1", "success": true}),
        ];
        for output in bad {
            assert_eq!(succeeded(&output), Some(false), "{output}");
        }
        let untold = [
            json!("{\"exit_code\":1}"),
            json!("aborted by user"),
            json!("Output:\nProcess exited with code 1"),
            json!("Process running with session ID 7"),
            json!({"metadata": {"exit_code": "x"}, "output": 3}),
            json!(null),
        ];
        for output in untold {
            assert_eq!(succeeded(&output), None, "{output}");
        }
    }

    #[test]
    fn times() {
        let apart = |a, b| milliseconds(b).unwrap() - milliseconds(a).unwrap();
        let noon = "2026-03-01T12:00:00.000Z";
        assert_eq!(apart(noon, "2026-03-01T12:00:05.12Z"), 5_120);
        assert_eq!(apart(noon, "2026-03-01T14:00:01+02:00"), 1_000);
        assert_eq!(apart(noon, "2026-03-01T07:30:00.0-04:30"), 0);
        assert_eq!(apart("2026-02-28T23:59:59Z", "2026-03-01T00:00:00Z"), 1_000);
        assert_eq!(
            apart("2024-02-28T00:00:00Z", "2024-03-01T00:00:00Z"),
            172_800_000
        );
        assert_eq!(
            apart("2023-12-31T00:00:00Z", "2025-01-01T00:00:00Z"),
            31_708_800_000
        );
        let refused = [
            "",
            "now",
            "2026-13-01T00:00:00Z",
            "2026-00-01T00:00:00Z",
            "2026-03-01T12:00:00",
            "+026-03-01T12:00:00Z",
            "2026-03-01T12:00:0é",
            "2026-03-01T12:00:00.5+2",
            "2026-03-01T12:00:00éZ",
            "2026-03-01T12:00:00+900000000000000000:00",
        ];
        for time in refused {
            assert_eq!(milliseconds(time), None, "{time}");
        }
    }
}
