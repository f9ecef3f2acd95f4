//! Parts of a shell's language: values, references to variables, strings with escapes, globs.

use super::escapes;

/// Reads a variable: its name and, where the text gives one, what stands for it when it has no value.
pub(super) type Read<'r> = dyn Fn(&str, Option<&str>) -> Option<String> + 'r;

/// How deep values may refer to values.
const MAX_DEPTH: usize = 8;

/// A reference to a variable.
pub(super) struct Reference<'t> {
    pub name: String,
    pub default: Option<&'t str>,
    pub end: usize,
}

pub(super) struct Reader<'t> {
    text: &'t str,
}

impl<'t> Reader<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Self { text }
    }

    fn byte(&self, at: usize) -> Option<u8> {
        self.text.as_bytes().get(at).copied()
    }

    /// `$X`, `${X}`, `${X[*]}`, `${X:-y}` at `at`.
    pub(super) fn reference(&self, at: usize) -> Option<Reference<'t>> {
        let bytes = self.text.as_bytes();
        let is_braced = self.byte(at + 1)? == b'{';
        let start = at + 1 + usize::from(is_braced);
        let length = bytes[start.min(bytes.len())..]
            .iter()
            .take_while(|byte| is_name(**byte))
            .count();
        let end = start + length;
        if length == 0 {
            return None;
        }
        let name = self.text[start..end].to_owned();
        if !is_braced {
            return Some(Reference {
                name,
                default: None,
                end,
            });
        }
        let close = bytes[end..]
            .iter()
            .take(200)
            .position(|byte| *byte == b'}')?
            + end;
        let inner = &self.text[end..close];
        let default = inner.strip_prefix(":-").or_else(|| inner.strip_prefix('-'));
        let is_whole = inner.is_empty() || inner == "[*]" || inner == "[@]" || default.is_some();
        is_whole.then_some(Reference {
            name,
            default,
            end: close + 1,
        })
    }

    /// `$'…'` at `at`: the text, escapes read, and where it ends.
    pub(super) fn ansi_string(&self, at: usize) -> Option<(String, usize)> {
        let body = self.text.get(at + 2..)?;
        let end = body.bytes().take(8192).position(|byte| byte == b'\'')?;
        Some((unescaped(&body[..end]), at + 2 + end + 1))
    }

    /// The value of an assignment at `at`, and where it ends. Commands in it are not read.
    pub(super) fn value(&self, at: usize, read: &Read<'_>) -> Option<(String, usize)> {
        if self.byte(at) == Some(b'(') {
            return self.array(at, read);
        }
        let bytes = self.text.as_bytes();
        let (mut end, mut value) = (at, String::new());
        while let Some(byte) = self.byte(end) {
            match byte {
                b'\'' => {
                    let length = bytes[end + 1..]
                        .iter()
                        .take(8192)
                        .position(|byte| *byte == b'\'')?;
                    value.push_str(&self.text[end + 1..end + 1 + length]);
                    end += length + 2;
                }
                b'"' => {
                    let length = bytes[end + 1..]
                        .iter()
                        .take(8192)
                        .position(|byte| *byte == b'"')?;
                    value
                        .push_str(&Self::new(&self.text[end + 1..end + 1 + length]).expanded(read));
                    end += length + 2;
                }
                b'$' if self.byte(end + 1) == Some(b'\'') => {
                    let (text, next) = self.ansi_string(end)?;
                    value.push_str(&text);
                    end = next;
                }
                b'$' => {
                    let reference = self.reference(end)?;
                    let known = read(&reference.name, reference.default);
                    match known {
                        Some(known) => value.push_str(&known),
                        None => value.push_str(&self.text[end..reference.end]),
                    }
                    end = reference.end;
                }
                b';' | b'&' | b'|' | b')' | b'`' => break,
                byte if byte.is_ascii_whitespace() => break,
                b'\\' if self.byte(end + 1).is_some_and(|next| next.is_ascii()) => {
                    value.push(char::from(bytes[end + 1]));
                    end += 2;
                }
                _ => {
                    let letter = self.text[end..].chars().next()?;
                    value.push(letter);
                    end += letter.len_utf8();
                }
            }
            if value.len() > 8 * 1024 {
                return None;
            }
        }
        Some((value, end))
    }

    /// `(a b c)`: single letters are put together, words keep their blanks.
    fn array(&self, at: usize, read: &Read<'_>) -> Option<(String, usize)> {
        let close = self.text[at..]
            .bytes()
            .take(2048)
            .position(|byte| byte == b')')?
            + at;
        let inner = Self::new(&self.text[at + 1..close]).expanded(read);
        let words: Vec<&str> = inner
            .split_whitespace()
            .map(|word| word.trim_matches(['"', '\'']))
            .collect();
        let is_letters = words.iter().all(|word| word.len() <= 2);
        Some((words.join(if is_letters { "" } else { " " }), close + 1))
    }

    /// The text with its references read.
    pub(super) fn expanded(&self, read: &Read<'_>) -> String {
        let mut text = self.text.to_owned();
        for _ in 0..MAX_DEPTH {
            let (mut out, mut copied, mut at) = (String::new(), 0, 0);
            while let Some(found) = text[at..].find('$') {
                let start = at + found;
                let Some(reference) = Reader::new(&text).reference(start) else {
                    at = start + 1;
                    continue;
                };
                let value = read(&reference.name, reference.default);
                at = reference.end;
                if let Some(value) = value {
                    out.push_str(&text[copied..start]);
                    out.push_str(&value);
                    copied = at;
                }
            }
            out.push_str(&text[copied..]);
            if out == text || out.len() > 64 * 1024 {
                break;
            }
            text = out;
        }
        text.replace("\"\"", "")
    }
}

/// Whether a byte may stand in a name.
pub(super) fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// A text with its escapes read.
pub(super) fn unescaped(text: &str) -> String {
    let (mut out, mut at) = (String::new(), 0);
    while at < text.len() {
        match text[at..].find('\\') {
            Some(found) => {
                out.push_str(&text[at..at + found]);
                at += found;
                match escapes::escaped(text, at) {
                    Some((read, end, _)) => {
                        out.push_str(&read);
                        at = end;
                    }
                    None => {
                        out.push('\\');
                        at += 1;
                    }
                }
            }
            None => {
                out.push_str(&text[at..]);
                break;
            }
        }
    }
    out
}

/// The command that everybody has and that a path with wildcards names.
pub(super) fn known_command(word: &str) -> Option<&'static str> {
    const COMMANDS: [&str; 24] = [
        "/bin/sh",
        "/bin/bash",
        "/bin/cat",
        "/bin/rm",
        "/bin/nc",
        "/bin/dd",
        "/bin/chmod",
        "/bin/zsh",
        "/usr/bin/curl",
        "/usr/bin/wget",
        "/usr/bin/python3",
        "/usr/bin/python",
        "/usr/bin/perl",
        "/usr/bin/base64",
        "/usr/bin/nc",
        "/usr/bin/env",
        "/usr/bin/sudo",
        "/usr/bin/sh",
        "/usr/bin/bash",
        "/usr/bin/openssl",
        "/usr/bin/xxd",
        "/usr/bin/ssh",
        "/usr/bin/scp",
        "/etc/passwd",
    ];
    let letters = word.bytes().filter(u8::is_ascii_alphabetic).count();
    if letters < 3 || word.len() > 40 || !word.bytes().any(|byte| b"?*[".contains(&byte)) {
        return None;
    }
    COMMANDS
        .into_iter()
        .find(|command| matches(word.as_bytes(), command.as_bytes()))
}

/// Wildcards `?`, `*` and `[…]`; a star goes back to at most one place, so that it takes the product of the lengths.
fn matches(pattern: &[u8], text: &[u8]) -> bool {
    let (mut at, mut read) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while read < text.len() {
        let step = match pattern.get(at) {
            Some(b'?') if text[read] != b'/' => Some(1),
            Some(b'[') => pattern[at..]
                .iter()
                .position(|byte| *byte == b']')
                .filter(|end| pattern[at + 1..at + end].contains(&text[read]))
                .map(|end| end + 1),
            Some(b'*') => {
                star = Some((at + 1, read));
                at += 1;
                continue;
            }
            Some(one) if *one == text[read] => Some(1),
            _ => None,
        };
        match (step, star) {
            (Some(step), _) => {
                at += step;
                read += 1;
            }
            (None, Some((behind, from))) if text[from] != b'/' => {
                star = Some((behind, from + 1));
                at = behind;
                read = from + 1;
            }
            (None, _) => return false,
        }
    }
    pattern[at..].iter().all(|byte| *byte == b'*')
}

/// The bytes a string with escapes stands for.
pub(super) fn unescaped_bytes(text: &str) -> Vec<u8> {
    let (bytes, mut out, mut at) = (text.as_bytes(), Vec::new(), 0);
    while at < bytes.len() {
        if bytes[at] != b'\\' {
            out.push(bytes[at]);
            at += 1;
            continue;
        }
        let plain = match bytes.get(at + 1) {
            Some(b'n') => Some(b'\n'),
            Some(b't') => Some(b'\t'),
            Some(b'r') => Some(b'\r'),
            Some(mark @ (b'\\' | b'\'' | b'"')) => Some(*mark),
            _ => None,
        };
        let hex = text
            .get(at + 2..at + 4)
            .filter(|_| bytes.get(at + 1) == Some(&b'x'));
        if let Some(byte) = hex.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            out.push(byte);
            at += 4;
        } else if let Some(byte) = plain {
            out.push(byte);
            at += 2;
        } else {
            out.push(b'\\');
            at += 1;
        }
    }
    out
}
