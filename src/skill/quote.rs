//! How a text is written so that every YAML reader takes it as typed, and what plain texts lose to
//! comments.

use super::code::Code;
use super::findings::Findings;
use super::node::{Entry, Style, Value};

/// Returns the line to paste for a key and its text.
pub(super) fn line(indent: &str, key: &str, text: &str) -> String {
    format!("{indent}{key}: {}", quoted(text))
}

fn quoted(text: &str) -> String {
    if text.chars().any(|c| c.is_control() && c != '\t') {
        // JSON's escapes are YAML's too, and only double quotes can hold a line break on one line.
        serde_json::Value::from(text).to_string()
    } else if text.contains(['"', '\\']) {
        format!("'{}'", text.replace('\'', "''"))
    } else {
        format!("\"{text}\"")
    }
}

/// Tells of plain top-level texts whose end was taken for a comment.
pub(super) fn check_cut_values(header: &str, entries: &[Entry<'_>], findings: &mut Findings<'_>) {
    // The usual header has no ` #` at all, and then no entry needs a look.
    if !header.contains('#') {
        return;
    }
    for entry in entries {
        let is_text = matches!(entry.key.as_ref(), "name" | "description");
        let value = match &entry.value.value {
            Value::Text(text, Style::Plain) => text.as_ref(),
            Value::Null if is_text && entry.value.span.is_empty() => "",
            Value::Null | Value::Text(_, Style::Delimited) | Value::List(..) | Value::Map(..) => {
                continue;
            }
        };
        let rest = header.get(entry.value.span.end..).unwrap_or_default();
        let cut = rest
            .split(['\n', '\r'])
            .next()
            .unwrap_or_default()
            .trim_end();
        let comment = cut.trim_start();
        if !comment.starts_with('#') {
            continue;
        }
        let offset = entry.value.span.end + (cut.len() - comment.len());
        let message = format!("`{}` ends before ` #`; `{comment}` is a comment", entry.key);
        let whole = format!("{value}{cut}");
        let paste = line("", &entry.key, whole.trim());
        findings.suggest(Code::CommentCutValue, offset, message, paste);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn double_quotes_are_used_when_the_text_allows_it() {
        assert_eq!(line("", "a", "it's: so"), r#"a: "it's: so""#);
    }

    #[test]
    fn single_quotes_are_used_for_quotes_and_backslashes() {
        assert_eq!(
            line("  ", "a", r#"say "it's" \o"#),
            r#"  a: 'say "it''s" \o'"#
        );
    }
}
