//! A tolerant reader for JSON5 values in a header: comments, single quotes, bare keys, trailing
//! commas. Scalars stay the text that was typed, as everywhere in a header.

use std::borrow::Cow;

use super::findings::Findings;
use super::node::{Entry, Layout, Node, Style, Value, fold_duplicates};
use super::yaml::{Budget, Refusal, clean};

/// Where the text that is read stands in the header.
#[derive(Clone, Copy)]
pub(super) enum Site {
    /// At this offset, so that every node has its own place.
    Source(usize),
    /// Inside a quoted value at this offset, where places cannot be told apart.
    Quoted(usize),
}

/// Reads a text that is one list or map and nothing else; `None` when it is something else.
pub(super) fn read(
    text: &str,
    site: Site,
    depth: usize,
    budget: &mut Budget,
    findings: &mut Findings<'_>,
) -> Result<Option<Node<'static>>, Refusal> {
    let mark = findings.mark();
    let mut reader = Reader {
        text,
        at: 0,
        site,
        budget,
        findings,
    };
    match reader.document(depth) {
        Ok(node) => Ok(Some(node)),
        Err(Fault::NotJson5) => {
            findings.roll_back(mark);
            Ok(None)
        }
        Err(Fault::Refused(refusal)) => Err(refusal),
    }
}

enum Fault {
    NotJson5,
    Refused(Refusal),
}

struct Reader<'s, 'b, 't> {
    text: &'s str,
    at: usize,
    site: Site,
    budget: &'b mut Budget,
    findings: &'b mut Findings<'t>,
}

impl Reader<'_, '_, '_> {
    fn document(&mut self, depth: usize) -> Result<Node<'static>, Fault> {
        self.skip_blank()?;
        if !matches!(self.peek(), Some('{' | '[')) {
            return Err(Fault::NotJson5);
        }
        let node = self.value(depth)?;
        self.skip_blank()?;
        if self.peek().is_some() {
            Err(Fault::NotJson5)
        } else {
            Ok(node)
        }
    }

    fn value(&mut self, depth: usize) -> Result<Node<'static>, Fault> {
        let start = self.place();
        self.budget.take(start).map_err(Fault::Refused)?;
        let value = match self.peek() {
            Some('{') => self.map(depth)?,
            Some('[') => self.list(depth)?,
            Some(quote @ ('"' | '\'')) => Value::Text(self.string(quote)?, Style::Delimited),
            _ => self.bare()?,
        };
        Ok(Node {
            value,
            span: start..self.place(),
        })
    }

    fn map(&mut self, depth: usize) -> Result<Value<'static>, Fault> {
        Budget::descend(depth, self.place()).map_err(Fault::Refused)?;
        self.bump();
        let mut entries = Vec::new();
        loop {
            self.skip_blank()?;
            if self.eat('}') {
                return Ok(Value::Map(
                    fold_duplicates(entries, self.findings),
                    Layout::Flow,
                ));
            }
            let key_at = self.place();
            self.budget.take(key_at).map_err(Fault::Refused)?;
            let key = match self.peek() {
                Some(quote @ ('"' | '\'')) => self.string(quote)?,
                _ => Cow::Owned(self.word()?.to_owned()),
            };
            self.skip_blank()?;
            if !self.eat(':') {
                return Err(Fault::NotJson5);
            }
            self.skip_blank()?;
            let value = self.value(depth + 1)?;
            entries.push(Entry { key, key_at, value });
            self.separator('}')?;
        }
    }

    fn list(&mut self, depth: usize) -> Result<Value<'static>, Fault> {
        Budget::descend(depth, self.place()).map_err(Fault::Refused)?;
        self.bump();
        let mut items = Vec::new();
        loop {
            self.skip_blank()?;
            if self.eat(']') {
                return Ok(Value::List(items, Layout::Flow));
            }
            items.push(self.value(depth + 1)?);
            self.separator(']')?;
        }
    }

    /// Passes the comma after an item; before `close` it may be left out.
    fn separator(&mut self, close: char) -> Result<(), Fault> {
        self.skip_blank()?;
        if self.eat(',') || self.peek() == Some(close) {
            Ok(())
        } else {
            Err(Fault::NotJson5)
        }
    }

    fn string(&mut self, quote: char) -> Result<Cow<'static, str>, Fault> {
        self.bump();
        let mut text = String::new();
        loop {
            match self.bump() {
                Some(c) if c == quote => return Ok(clean(Cow::Owned(text))),
                Some('\\') => self.escape(&mut text)?,
                None | Some('\n' | '\r') => return Err(Fault::NotJson5),
                Some(c) => text.push(c),
            }
        }
    }

    fn escape(&mut self, text: &mut String) -> Result<(), Fault> {
        match self.bump().ok_or(Fault::NotJson5)? {
            'n' => text.push('\n'),
            't' => text.push('\t'),
            'r' => text.push('\r'),
            'b' => text.push('\u{8}'),
            'f' => text.push('\u{c}'),
            'v' => text.push('\u{b}'),
            '0' => text.push('\0'),
            'x' => text.push(char::from_u32(self.hex(2)?).unwrap_or(char::REPLACEMENT_CHARACTER)),
            'u' => text.push(self.unicode()?),
            '\r' => {
                self.eat('\n');
            }
            '\n' => {}
            other => text.push(other),
        }
        Ok(())
    }

    /// Reads `XXXX` after `\u`, with a second escape when it is one half of a pair.
    fn unicode(&mut self) -> Result<char, Fault> {
        let high = self.hex(4)?;
        let rest = self.rest();
        if (0xD800..0xDC00).contains(&high) && rest.starts_with("\\u") {
            let before = self.at;
            self.at += 2;
            let low = self.hex(4)?;
            if (0xDC00..0xE000).contains(&low) {
                let scalar = 0x1_0000 + ((high - 0xD800) << 10) + (low - 0xDC00);
                return Ok(char::from_u32(scalar).unwrap_or(char::REPLACEMENT_CHARACTER));
            }
            self.at = before;
        }
        // A lone half is no character; losing one emoji must not lose the skill.
        Ok(char::from_u32(high).unwrap_or(char::REPLACEMENT_CHARACTER))
    }

    fn hex(&mut self, digits: usize) -> Result<u32, Fault> {
        let text = self.rest().get(..digits).ok_or(Fault::NotJson5)?;
        if !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(Fault::NotJson5);
        }
        self.at += digits;
        u32::from_str_radix(text_before(self.text, self.at, digits), 16)
            .map_err(|_| Fault::NotJson5)
    }

    /// Reads a number, `true`, `false` or `null`; other bare words are not JSON5.
    fn bare(&mut self) -> Result<Value<'static>, Fault> {
        let word = self.word()?;
        let number = word.trim_start_matches(['+', '-']);
        let is_number = number.starts_with(|c: char| c.is_ascii_digit() || c == '.');
        match number {
            "null" => Ok(Value::Null),
            "true" | "false" | "Infinity" | "NaN" => Ok(plain(word)),
            _ if is_number => Ok(plain(word)),
            _ => Err(Fault::NotJson5),
        }
    }

    fn word(&mut self) -> Result<&str, Fault> {
        let is_end = |c: char| !(c.is_alphanumeric() || "_$.+-".contains(c));
        let rest = self.text.get(self.at..).unwrap_or_default();
        let length = rest.find(is_end).unwrap_or(rest.len());
        self.at += length;
        rest.get(..length)
            .filter(|word| !word.is_empty())
            .ok_or(Fault::NotJson5)
    }

    fn skip_blank(&mut self) -> Result<(), Fault> {
        loop {
            let rest = self.rest();
            let trimmed = rest.trim_start();
            let length = if trimmed.starts_with("//") {
                trimmed.find(['\n', '\r']).unwrap_or(trimmed.len())
            } else if trimmed.starts_with("/*") {
                trimmed.find("*/").ok_or(Fault::NotJson5)? + 2
            } else {
                0
            };
            self.at += rest.len() - trimmed.len() + length;
            if length == 0 {
                return Ok(());
            }
        }
    }

    fn place(&self) -> usize {
        match self.site {
            Site::Source(base) => base + self.at,
            Site::Quoted(offset) => offset,
        }
    }

    fn rest(&self) -> &str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn bump(&mut self) -> Option<char> {
        let next = self.peek()?;
        self.at += next.len_utf8();
        Some(next)
    }

    fn eat(&mut self, wanted: char) -> bool {
        let found = self.peek() == Some(wanted);
        if found {
            self.at += wanted.len_utf8();
        }
        found
    }
}

fn plain(word: &str) -> Value<'static> {
    Value::Text(Cow::Owned(word.to_owned()), Style::Delimited)
}

fn text_before(text: &str, end: usize, length: usize) -> &str {
    text.get(end.saturating_sub(length)..end)
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::node::into_json;
    use super::*;

    fn object(text: &str) -> Option<serde_json::Value> {
        let mut findings = Findings::new(text, 1);
        let node = read(text, Site::Source(0), 1, &mut Budget::new(), &mut findings).ok()??;
        let Value::Map(entries, _) = node.value else {
            return None;
        };
        Some(into_json(entries).into())
    }

    #[test]
    fn comments_single_quotes_bare_keys_and_trailing_commas_are_read() {
        let text = "{ // one\n a: 'x', /* two */ \"b-c\": [1.10, true, null,], }";
        assert_eq!(
            object(text),
            Some(json!({"a": "x", "b-c": ["1.10", "true", null]}))
        );
    }

    #[test]
    fn emoji_escapes_never_fail() {
        let text = r#"{a: "\ud83d\udc4d", b: "\ud83d", c: "\ud83dx"}"#;
        assert_eq!(
            object(text),
            Some(json!({"a": "👍", "b": "\u{FFFD}", "c": "\u{FFFD}x"}))
        );
    }

    #[test]
    fn words_and_trailing_text_are_not_json5() {
        let texts = [
            "{a: word}",
            "{a: 1} more",
            "{a: 'x",
            "{a 1}",
            "{/* }",
            "{a: 1 b: 2}",
            "1",
        ];
        assert!(texts.iter().all(|text| object(text).is_none()));
    }

    #[test]
    fn deep_nesting_is_refused() {
        let text = "[".repeat(10_000);
        let mut findings = Findings::new(&text, 1);
        let result = read(&text, Site::Source(0), 1, &mut Budget::new(), &mut findings);
        assert!(matches!(result, Err(Refusal::Forbidden { .. })));
    }
}
