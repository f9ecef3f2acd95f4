//! The text somebody meant who typed a value that YAML refuses.

use super::document::line_at;

/// Reads the lines of a value as text: trimmed, joined by one space, without stray quotes.
pub(super) fn text(lines: &str) -> String {
    if let Some(block) = block(lines) {
        return block;
    }
    let mut joined = String::new();
    for line in content(lines) {
        if !joined.is_empty() {
            joined.push(' ');
        }
        joined.push_str(line);
    }
    unquote(&joined).replace('\0', "\u{FFFD}")
}

/// Returns the quote a value opens and does not close.
pub(super) fn opens_quote(value: &str) -> Option<char> {
    let quote = value.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    closing_quote(value, quote).is_none().then_some(quote)
}

/// Reads a block scalar (`|`, `>`) whose lines are not indented as YAML wants.
fn block(lines: &str) -> Option<String> {
    let first = lines.split(['\n', '\r']).next()?;
    let (mark, rest) = first.trim().split_at_checked(1)?;
    let joint = match mark {
        "|" => "\n",
        ">" => " ",
        _ => return None,
    };
    if !rest
        .bytes()
        .all(|byte| matches!(byte, b'-' | b'+' | b'0'..=b'9'))
    {
        return None;
    }
    let texts: Vec<&str> = content(lines.get(first.len()..)?).collect();
    Some(texts.join(joint).replace('\0', "\u{FFFD}"))
}

/// Lists the lines that hold text, trimmed.
fn content(lines: &str) -> impl Iterator<Item = &str> {
    let mut at = 0;
    let next = std::iter::from_fn(move || {
        let line = line_at(lines.as_bytes(), at)?;
        at = line.next;
        lines.get(line.start..line.end)
    });
    next.map(str::trim)
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
}

/// Takes off quotes around the whole text, or an opening quote that nothing closes.
fn unquote(text: &str) -> String {
    let Some(quote) = text.chars().next().filter(|c| matches!(c, '"' | '\'')) else {
        return text.to_owned();
    };
    match closing_quote(text, quote) {
        None => text.get(1..).unwrap_or_default().trim_start().to_owned(),
        Some(end) if end + 1 == text.len() => {
            let inner = text.get(1..end).unwrap_or_default();
            if quote == '"' {
                inner.replace("\\\"", "\"")
            } else {
                inner.replace("''", "'")
            }
        }
        Some(_) => text.to_owned(),
    }
}

/// Finds the quote that closes the one at the start. One inside a word, as in `it's`, does not.
fn closing_quote(text: &str, quote: char) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut at = 1;
    while let Some(found) = text.get(at..)?.find(quote) {
        let end = at + found;
        let next = text.get(end + 1..).and_then(|rest| rest.chars().next());
        let escaped = quote == '"' && end > 1 && bytes.get(end - 1) == Some(&b'\\');
        let doubled = quote == '\'' && next == Some('\'');
        if doubled {
            at = end + 2;
        } else if escaped || next.is_some_and(char::is_alphanumeric) {
            at = end + 1;
        } else {
            return Some(end);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_trimmed_and_joined() {
        assert_eq!(
            text("Use: this\r\n\n   for # that\n# note\n\tand more"),
            "Use: this for # that and more"
        );
    }

    #[test]
    fn unmatched_opening_quote_is_dropped() {
        assert_eq!(text("\"Use: this"), "Use: this");
        assert_eq!(text("'It's: this"), "It's: this");
    }

    #[test]
    fn quoted_part_followed_by_text_stays() {
        assert_eq!(text("\"Use\" and: \"this\""), "\"Use\" and: \"this\"");
    }

    #[test]
    fn quotes_around_the_whole_go() {
        assert_eq!(text("'It's fine'"), "It's fine");
        assert_eq!(text(r#""C:\path and \"x\"""#), r#"C:\path and "x""#);
    }

    #[test]
    fn badly_indented_block_keeps_its_lines() {
        assert_eq!(text("|\n    a\n  b"), "a\nb");
        assert_eq!(text("> a: b"), "> a: b");
    }
}
