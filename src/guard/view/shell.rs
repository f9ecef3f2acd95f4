//! What a shell makes of a text before it runs it: joined lines, quotes and backslashes inside words, variables,
//! small functions, arrays and globs. One pass from the top, as a shell reads; nothing is run.

use std::collections::HashMap;

use super::shell_words::{Reader, is_name, known_command};
use super::{View, Weaver};

/// Most variables and functions that are kept.
const MAX_NAMES: usize = 8192;
/// Longest value that is kept, in bytes.
const MAX_VALUE: usize = 4096;
/// Longest text that comes out, as a multiple of what went in.
const MAX_GROWTH: usize = 4;

/// The text as a shell would read it; `None` where that changes nothing.
pub(in crate::guard) fn shell(base: &View) -> Option<View> {
    let text = base.text.as_str();
    if !has_trigger(text.as_bytes()) {
        return None;
    }
    let mut pass = Pass {
        text,
        weaver: Weaver::new(base),
        copied: 0,
        names: HashMap::new(),
        changed: 0,
        is_cut: false,
    };
    pass.run();
    let is_cut = pass.is_cut || pass.names.len() >= MAX_NAMES;
    (pass.changed > 0).then(|| View {
        is_cut,
        ..pass.weaver.finish(Some("shell words"), false)
    })
}

fn has_trigger(bytes: &[u8]) -> bool {
    bytes.windows(2).any(|pair| match pair {
        [b'$', next] => next.is_ascii_alphabetic() || matches!(next, b'{' | b'\'' | b'_'),
        [b'\\', next] => {
            next.is_ascii_alphabetic() || matches!(next, b'\n' | b'\r' | b'.' | b'-' | b'/')
        }
        [b'\'', b'\''] | [b'"', b'"'] => true,
        [before, b'?'] => *before == b'/' || before.is_ascii_lowercase(),
        [b')', b'{'] => true,
        [b')', b' '] => true,
        _ => false,
    })
}

/// What a name stands for.
enum Meaning {
    Value(String),
    /// The body of a function, arguments left out.
    Body(String),
}

struct Pass<'v> {
    text: &'v str,
    weaver: Weaver<'v>,
    copied: usize,
    names: HashMap<String, Meaning>,
    changed: usize,
    is_cut: bool,
}

impl Pass<'_> {
    fn run(&mut self) {
        let bytes = self.text.as_bytes();
        let mut at = 0;
        while at < bytes.len() {
            if self.weaver.text().len() > bytes.len() * MAX_GROWTH + 64 * 1024 {
                self.is_cut = true;
                break;
            }
            at = match bytes[at] {
                b'\\' => self.backslash(at),
                b'\'' | b'"' => self.quote(at),
                b'$' => self.dollar(at),
                b'/' => self.glob(at),
                byte if byte.is_ascii_alphabetic() || byte == b'_' => self.word(at),
                _ => at + 1,
            };
        }
        self.weaver.copy(self.copied, bytes.len());
    }

    /// Puts something in the place of what stands from `at` to `end`.
    fn replace(&mut self, at: usize, end: usize, by: &str) -> usize {
        self.weaver.copy(self.copied, at);
        self.weaver.put(at, by);
        self.copied = end;
        self.changed += 1;
        end
    }

    fn byte(&self, at: usize) -> u8 {
        self.text.as_bytes().get(at).copied().unwrap_or(b' ')
    }

    fn before(&self, at: usize) -> u8 {
        at.checked_sub(1).map_or(b'\n', |at| self.byte(at))
    }

    fn backslash(&mut self, at: usize) -> usize {
        match (self.byte(at + 1), self.byte(at + 2)) {
            (b'\n', _) => self.replace(at, at + 2, ""),
            (b'\r', b'\n') => self.replace(at, at + 3, ""),
            // In a string these are line ends and blanks; in a bare word the backslash says nothing.
            (b'n', _) if self.is_in_string(at) => self.replace(at, at + 2, "\n"),
            (b't' | b'r', _) if self.is_in_string(at) => self.replace(at, at + 2, " "),
            (b'x' | b'u', _) => at + 2,
            (b'.' | b'-' | b'/', _) if self.before(at).is_ascii_alphanumeric() => {
                self.replace(at, at + 1, "");
                at + 2
            }
            (next, _) if next.is_ascii_alphabetic() => {
                self.replace(at, at + 1, "");
                at + 2
            }
            _ => at + 2,
        }
    }

    /// Whether quotes are open, by the line up to here.
    fn is_in_string(&self, at: usize) -> bool {
        let bytes = &self.text.as_bytes()[at.saturating_sub(400)..at];
        let line = memchr::memrchr(b'\n', bytes).map_or(bytes, |end| &bytes[end + 1..]);
        let count = |mark: u8| line.iter().filter(|byte| **byte == mark).count();
        count(b'"') % 2 == 1 || count(b'\'') % 2 == 1
    }

    /// Quotes inside a word, around nothing, or around one variable say nothing to a shell.
    fn quote(&mut self, at: usize) -> usize {
        let mark = self.byte(at);
        let rest = &self.text.as_bytes()[at + 1..];
        let inner = rest
            .iter()
            .take(80)
            .position(|byte| *byte == mark || byte.is_ascii_whitespace());
        let Some(length) = inner.filter(|length| rest[*length] == mark) else {
            return at + 1;
        };
        let end = at + length + 2;
        let touches = |byte: u8| {
            byte.is_ascii_alphanumeric()
                || matches!(
                    byte,
                    b'/' | b'.' | b'_' | b'$' | b'}' | b'~' | b'\'' | b'"' | b'@'
                )
        };
        let is_inside = touches(self.before(at)) || touches(self.byte(end));
        let is_variable = mark == b'"' && self.byte(at + 1) == b'$' && self.byte(at + 2) != b'(';
        if !(is_inside || is_variable) {
            return at + 1;
        }
        self.replace(at, at + 1, "");
        let mut inner = at + 1;
        while inner < end - 1 {
            inner = match self.byte(inner) {
                b'$' if mark == b'"' => self.dollar(inner).min(end - 1).max(inner + 1),
                _ => inner + 1,
            };
        }
        self.replace(end - 1, end, "")
    }

    fn dollar(&mut self, at: usize) -> usize {
        let reader = Reader::new(self.text);
        if self.byte(at + 1) == b'\'' {
            return match reader.ansi_string(at) {
                Some((value, end)) => self.replace(at, end, &value),
                None => at + 2,
            };
        }
        let Some(reference) = reader.reference(at) else {
            return at + 1;
        };
        match self.value(&reference.name, reference.default) {
            Some(value) => self.replace(at, reference.end, &value),
            None => reference.end,
        }
    }

    fn value(&self, name: &str, default: Option<&str>) -> Option<String> {
        match (name, self.names.get(name)) {
            ("IFS", _) => Some(" ".to_owned()),
            (_, Some(Meaning::Value(value))) => Some(value.clone()),
            ("SHELL" | "BASH", _) => Some("sh".to_owned()),
            _ => default.map(str::to_owned),
        }
    }

    /// A name: given a meaning, or used.
    fn word(&mut self, at: usize) -> usize {
        let bytes = self.text.as_bytes();
        let length = bytes[at..]
            .iter()
            .take_while(|byte| is_name(**byte))
            .count();
        let end = at + length;
        if is_name(self.before(at)) {
            return end;
        }
        let name = &self.text[at..end];
        match (self.byte(end), self.byte(end + 1)) {
            (b'=', next)
                if next != b'=' && next != b' ' && length <= 64 && self.is_assignment(at) =>
            {
                self.assign(name, end + 1)
            }
            (b'(', b')') => self.define(name, end + 2),
            _ if self.is_command(at) => {
                if let Some(Meaning::Body(body)) = self.names.get(name) {
                    let body = body.clone();
                    return self.replace(at, end, &body);
                }
                end
            }
            _ => end,
        }
    }

    /// Whether a command starts here.
    fn is_command(&self, at: usize) -> bool {
        let bytes = &self.text.as_bytes()[at.saturating_sub(64)..at];
        let last = bytes
            .iter()
            .rev()
            .find(|byte| !matches!(byte, b' ' | b'\t'));
        last.is_none_or(|byte| matches!(byte, b'\n' | b'|' | b';' | b'&' | b'(' | b'{' | b'`'))
    }

    /// Whether what starts here may be an assignment, and not an argument such as `of=`.
    fn is_assignment(&self, at: usize) -> bool {
        if !matches!(
            self.before(at),
            b' ' | b'\t' | b'\n' | b'\r' | b';' | b'&' | b'|' | b'(' | b'{'
        ) {
            return false;
        }
        let mut start = at.saturating_sub(160);
        while !self.text.is_char_boundary(start) {
            start += 1;
        }
        let before = self.text[start..at].trim_end_matches([' ', '\t']);
        self.is_command(at)
            || [
                "export", "local", "declare", "readonly", "then", "do", "else",
            ]
            .iter()
            .any(|word| before.ends_with(word))
            || before
                .rsplit(['\n', ';'])
                .next()
                .is_some_and(|line| line.trim_start().split(' ').all(|word| word.contains('=')))
    }

    fn assign(&mut self, name: &str, at: usize) -> usize {
        let reader = Reader::new(self.text);
        let read = |name: &str, default: Option<&str>| self.value(name, default);
        if let Some((value, _)) = reader.value(at, &read)
            && value.len() <= MAX_VALUE
            && self.names.len() < MAX_NAMES
        {
            self.names.insert(name.to_owned(), Meaning::Value(value));
        }
        at
    }

    fn define(&mut self, name: &str, at: usize) -> usize {
        let bytes = self.text.as_bytes();
        let blanks = bytes[at..]
            .iter()
            .take(16)
            .take_while(|byte| byte.is_ascii_whitespace())
            .count();
        let open = at + blanks;
        if bytes.get(open) != Some(&b'{') {
            return at;
        }
        let line = &bytes[open + 1..bytes.len().min(open + 1 + MAX_VALUE)];
        let line = &line[..memchr::memchr(b'\n', line).unwrap_or(line.len())];
        let body =
            memchr::memrchr(b'}', line).and_then(|close| std::str::from_utf8(&line[..close]).ok());
        if let Some(body) = body
            && self.names.len() < MAX_NAMES
        {
            let mut body = body.trim().trim_end_matches(';').to_owned();
            for argument in ["\"$@\"", "$@", "\"$1\"", "$1", "\"$*\""] {
                body = body.replace(argument, "");
            }
            let body = body
                .trim()
                .trim_start_matches("command ")
                .trim_start_matches("builtin ");
            // The body is read here, with what names mean by now.
            let read = |name: &str, default: Option<&str>| self.value(name, default);
            let body = Reader::new(body).expanded(&read).replace('"', "");
            self.names.insert(name.to_owned(), Meaning::Body(body));
        }
        open + 1
    }

    /// `/b?n/s?` is looked up among the commands that everybody has.
    fn glob(&mut self, at: usize) -> usize {
        let bytes = self.text.as_bytes();
        let length = bytes[at..]
            .iter()
            .take(40)
            .take_while(|byte| byte.is_ascii_alphanumeric() || b"/?*[]-".contains(byte))
            .count();
        let word = &self.text[at..at + length];
        match known_command(word) {
            Some(command) => self.replace(at, at + length, command),
            None => at + 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shelled(text: &str) -> String {
        shell(&View::plain(text.to_owned())).map_or_else(|| text.to_owned(), |view| view.text)
    }

    #[test]
    fn words_are_put_together() {
        assert_eq!(shelled("cu''rl x | s\\h"), "curl x | sh");
        assert_eq!(
            shelled("cu\\\nrl -s \\\n  u | \\\n  sh"),
            "curl -s   u |   sh"
        );
        assert_eq!(shelled("\"r\"\"m\" -rf"), "rm -rf");
        assert_eq!(shelled("cat${IFS}x"), "cat x");
        assert_eq!(shelled("eval $'\\x63\\x75\\x72\\x6c'"), "eval curl");
    }

    #[test]
    fn names_get_their_meaning() {
        assert!(
            shelled("d=\"$HOME/.s\"\"sh\"; f=id_; f=\"${f}rsa\"\ncat $d/$f")
                .ends_with("cat $HOME/.ssh/id_rsa")
        );
        assert!(
            shelled("a=(c u r l); IFS=; cmd=\"${a[*]}\"; unset IFS\n\"$cmd\" -s")
                .ends_with("\ncurl -s")
        );
        assert!(
            shelled(
                "get() { command curl -s \"$@\"; }\nrun() { \"${SHELL:-sh}\" -s; }\nget u | run"
            )
            .ends_with("curl -s u | sh -s")
        );
        assert!(
            shelled("R=\"r\"\"m\"; F=-rf; T=/srv/x\n$R $F \"$T\"/*").ends_with("\nrm -rf /srv/x/*")
        );
    }

    #[test]
    fn globs_are_looked_up() {
        assert_eq!(
            shelled("/u?r/b?n/c?rl x | /b?n/s?"),
            "/usr/bin/curl x | /bin/sh"
        );
    }

    #[test]
    fn prose_stays() {
        let text = "Don't say 'it' or \"this\" (a/b?). It's $5.";
        assert_eq!(shelled(text), text);
    }
}
