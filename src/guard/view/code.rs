//! What a program makes of its own text before it runs it: strings put together, attributes taken by name, imports
//! under other names, paths joined. Python, JavaScript, Ruby, PowerShell, PHP and batch files as far as they agree.

use std::collections::HashMap;
use std::sync::OnceLock;

use regex::bytes::{Captures, Regex};

use super::{View, Weaver};
use crate::guard::rule::compile;

/// Most names that are followed.
const MAX_NAMES: usize = 512;

/// The text with that done; `None` where it changes nothing.
pub(in crate::guard) fn code(base: &View) -> Option<View> {
    let joined = joined(base);
    let first = joined.as_ref().unwrap_or(base);
    let named = named(first);
    let second = named.as_ref().unwrap_or(first);
    let bare = attributes(second);
    let last = bare.or(named).or(joined)?;
    Some(View {
        seen: base.seen.iter().copied().chain(["code strings"]).collect(),
        ..last
    })
}

/// Strings put together: `'a' + 'b'`, `'a' 'b'`, `'a', 'b'` in a join, `chr(99)`, `` iex`` with back-ticks, `c^url`.
fn joined(base: &View) -> Option<View> {
    static SEAM: OnceLock<Option<Regex>> = OnceLock::new();
    let bytes = base.text.as_bytes();
    if memchr::memchr3(b'+', b'\'', b'^', bytes).is_none() && memchr::memchr(b'"', bytes).is_none()
    {
        return None;
    }
    let seam = SEAM.get_or_init(|| {
        compile(
            r#"(?x)
            (?P<plus>   ['"] \s* \+ \s* [rbfu]? ['"])
          | (?P<dot>    ['"] \s+ \.\. ? \s+ ['"])
          | (?P<next>   ['"] \x20 [rbfu]? ['"])
          | (?P<path>   (['"]|\)) \s* / \s* ['"])
          | (?P<comma>  ['"] \s* , \s* ['"])
          | (?P<chr>    (chr|String\.fromCharCode) \( \s* \d{1,3} \s* \) (\s*\+\s*)? )
          | (?P<caret>  [A-Za-z] [\^`] [A-Za-z])
          "#,
        )
        .ok()
    });
    let mut weaver = Weaver::new(base);
    let (mut copied, mut changed) = (0, false);
    for found in seam.as_ref()?.captures_iter(bytes) {
        let Some(whole) = found.get(0) else { continue };
        let Some(by) = seam_of(&base.text, &found) else {
            continue;
        };
        weaver.copy(copied, whole.start());
        weaver.put(whole.start(), &by);
        copied = whole.end();
        changed = true;
    }
    if !changed {
        return None;
    }
    weaver.copy(copied, bytes.len());
    Some(weaver.finish(None, false))
}

fn seam_of(text: &str, found: &Captures<'_>) -> Option<String> {
    let whole = found.get(0)?;
    let bytes = whole.as_bytes();
    if found.name("plus").is_some() || found.name("dot").is_some() || found.name("next").is_some() {
        // The two strings must be of one kind, or a quote in a sentence is one.
        return (bytes.first() == bytes.last()).then(String::new);
    }
    if found.name("path").is_some() {
        return Some(if bytes.first() == Some(&b')') {
            ")/".to_owned()
        } else {
            "/".to_owned()
        });
    }
    if found.name("comma").is_some() {
        return joins(text, whole.start());
    }
    if found.name("chr").is_some() {
        let digits: String = bytes
            .iter()
            .filter(|byte| byte.is_ascii_digit())
            .map(|byte| char::from(*byte))
            .collect();
        let letter = digits.parse().ok().and_then(char::from_u32)?;
        return Some(letter.to_string());
    }
    let (first, last) = (*bytes.first()?, *bytes.last()?);
    Some(format!("{}{}", char::from(first), char::from(last)))
}

/// What a comma between two strings stands for in the call it is in: nothing in `''.join([…])`, a slash in
/// `joinpath(…)`.
fn joins(text: &str, at: usize) -> Option<String> {
    let mut start = at.saturating_sub(160);
    while !text.is_char_boundary(start) {
        start += 1;
    }
    let before = &text[start..at];
    let line = before.rsplit('\n').next().unwrap_or(before);
    let open = line.rfind(['(', '['])?;
    let call = line[..=open].trim_end_matches(['[', '(']).trim_end();
    if call.ends_with("joinpath") || call.ends_with("path.join") || call.ends_with("Path") {
        return Some("/".to_owned());
    }
    let is_joined = call.ends_with("''.join") || call.ends_with("\"\".join");
    is_joined.then(String::new)
}

/// Names that stand for a module, an attribute or a short string are read as what they stand for.
fn named(base: &View) -> Option<View> {
    static GIVEN: OnceLock<Option<Regex>> = OnceLock::new();
    let bytes = base.text.as_bytes();
    let given = GIVEN.get_or_init(|| {
        compile(
            r#"(?xm)
            ^[\x20\t]* (?: (?:const|let|var)\s+ )? \$? (?P<name>[A-Za-z_]\w{0,30}) \s* = \s*
              (?: (?P<module> __import__\(\s*['"](?P<m1>\w+)['"]\s*\) | importlib\.import_module\(\s*['"](?P<m2>[\w.]+)['"]\s*\) | require\(\s*['"](?P<m3>[\w:]+)['"]\s*\) )
                | (?P<attr> getattr\(\s*(?P<of>[\w.]+)\s*,\s*['"](?P<what>\w+)['"]\s*\) )
                | (?P<dotted> (?:os|sys|subprocess|socket|base64|builtins|shutil|requests|urllib|process|globalThis)(?:\.\w+)+ ) \s* (?:$|;)
                | ['"](?P<text>[^'"\n]{1,200})['"] \s* (?:$|;|\#)
              )
          | \bimport\s+(?P<im>[\w.]+)\s+as\s+(?P<as>\w{1,30})
          | \bfrom\s+(?P<from>[\w.]+)\s+import\s+(?P<item>\w+)\s+as\s+(?P<item_as>\w{1,30})
          | [,\x20](?P<im2>os|sys|socket|subprocess|base64|requests|urllib\.request)\s+as\s+(?P<as2>\w{1,30})
          "#,
        )
        .ok()
    });
    let mut names: HashMap<String, String> = HashMap::new();
    for found in given.as_ref()?.captures_iter(bytes).take(MAX_NAMES) {
        let text = |group: &str| {
            found
                .name(group)
                .and_then(|part| std::str::from_utf8(part.as_bytes()).ok())
        };
        let pair = match (text("name"), text("as").or(text("as2")), text("item_as")) {
            (_, Some(name), _) => text("im")
                .or(text("im2"))
                .map(|module| (name, module.to_owned())),
            (_, _, Some(name)) => text("from")
                .zip(text("item"))
                .map(|(from, item)| (name, format!("{from}.{item}"))),
            (Some(name), _, _) => text("m1")
                .or(text("m2"))
                .or(text("m3"))
                .map(str::to_owned)
                .or_else(|| {
                    text("of").zip(text("what")).map(|(of, what)| {
                        format!("{}.{what}", names.get(of).map_or(of, String::as_str))
                    })
                })
                .or_else(|| text("dotted").map(str::to_owned))
                .or_else(|| text("text").map(|text| format!("'{text}'")))
                .map(|meaning| (name, meaning)),
            _ => None,
        };
        if let Some((name, meaning)) = pair.filter(|(name, meaning)| name != meaning) {
            names.insert(name.to_owned(), meaning);
        }
    }
    if names.is_empty() {
        return None;
    }
    replace_names(base, &names)
}

/// Reads names as what they stand for, where they are used: not behind a dot, not where they are given.
fn replace_names(base: &View, names: &HashMap<String, String>) -> Option<View> {
    let bytes = base.text.as_bytes();
    let mut weaver = Weaver::new(base);
    let (mut at, mut copied) = (0, 0);
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    while at < bytes.len() {
        if !(bytes[at].is_ascii_alphabetic() || bytes[at] == b'_') {
            at += 1;
            continue;
        }
        let end = at
            + bytes[at..]
                .iter()
                .take_while(|byte| is_name(**byte))
                .count();
        let before = at.checked_sub(1).map_or(b'\n', |at| bytes[at]);
        let is_used = !is_name(before)
            && !matches!(before, b'.' | b'\'' | b'"' | b'-' | b'/')
            && !is_given(bytes, end);
        if let Some(meaning) = names.get(&base.text[at..end]).filter(|_| is_used) {
            weaver.copy(copied, at);
            weaver.put(at, meaning);
            copied = end;
            if weaver.text().len() > bytes.len() * 4 + 65536 {
                return None;
            }
        }
        at = end;
    }
    if copied == 0 {
        return None;
    }
    weaver.copy(copied, bytes.len());
    Some(weaver.finish(None, false))
}

/// Whether `=` follows, but no `==`.
fn is_given(bytes: &[u8], end: usize) -> bool {
    let mut rest = bytes[end..].iter().skip_while(|byte| **byte == b' ');
    rest.next() == Some(&b'=') && rest.next() != Some(&b'=')
}

/// `getattr(os, 'system')`, `os['system']`, `__import__('os')` in their plain form.
fn attributes(base: &View) -> Option<View> {
    static TAKEN: OnceLock<Option<Regex>> = OnceLock::new();
    let bytes = base.text.as_bytes();
    let taken = TAKEN.get_or_init(|| {
        compile(
            r#"(?x)
            getattr\(\s*(?P<of>[\w.]+)\s*,\s*['"](?P<what>\w+)['"]\s*\)
          | (?:__import__|importlib\.import_module|require)\(\s*['"](?:node:)?(?P<module>[\w.]+)['"]\s*\)
          | (?P<object>globalThis|window|process|module|self|os|builtins|__builtins__)\[\s*['"](?P<key>\w+)['"]\s*\]
          "#,
        )
        .ok()
    });
    let mut weaver = Weaver::new(base);
    let mut copied = 0;
    for found in taken.as_ref()?.captures_iter(bytes) {
        let text = |group: &str| {
            found
                .name(group)
                .and_then(|part| std::str::from_utf8(part.as_bytes()).ok())
        };
        let plain = text("module")
            .map(str::to_owned)
            .or_else(|| {
                text("of")
                    .zip(text("what"))
                    .map(|(of, what)| format!("{of}.{what}"))
            })
            .or_else(|| {
                text("object")
                    .zip(text("key"))
                    .map(|(of, key)| format!("{of}.{key}"))
            });
        let (Some(whole), Some(plain)) = (found.get(0), plain) else {
            continue;
        };
        weaver.copy(copied, whole.start());
        weaver.put(whole.start(), &plain);
        copied = whole.end();
    }
    if copied == 0 {
        return None;
    }
    weaver.copy(copied, bytes.len());
    Some(weaver.finish(None, false))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn coded(text: &str) -> String {
        code(&View::plain(text.to_owned())).map_or_else(|| text.to_owned(), |view| view.text)
    }

    #[test]
    fn strings_are_put_together() {
        assert_eq!(coded("f('cu' + 'rl -s')"), "f('curl -s')");
        assert_eq!(coded("''.join(['c', 'u', 'rl'])"), "''.join(['curl'])");
        assert_eq!(
            coded("home().joinpath('.ss' + 'h', 'id_rsa')"),
            "home().joinpath('.ssh/id_rsa')"
        );
        assert_eq!(
            coded("Path.home() / '.claude' / 'settings.json'"),
            "Path.home()/.claude/settings.json'"
        );
        assert_eq!(coded("p^ower^shell i`ex"), "powershell iex");
        assert_eq!(coded("chr(99)+chr(117)+chr(114)"), "cur");
    }

    #[test]
    fn names_are_followed() {
        let text = "m = __import__('o' + 's')\nf = getattr(m, 'sy' + 'stem')\nf('x')";
        assert!(coded(text).ends_with("\nos.system('x')"), "{}", coded(text));
        assert!(
            coded("import base64 as _b\nexec(_b.b64decode(k))")
                .ends_with("exec(base64.b64decode(k))")
        );
        assert!(coded("import socket as s, os\nc = s.socket()").ends_with("c = socket.socket()"));
    }

    #[test]
    fn text_without_any_of_it_stays() {
        assert!(code(&View::plain("x = y + z\n".to_owned())).is_none());
    }
}
