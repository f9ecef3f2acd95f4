//! Bytes to text: byte order marks, UTF-16, what is no valid UTF-8; and where lines start.

/// A file as text.
pub(super) struct Text {
    /// The text; broken bytes are replaced by U+FFFD.
    pub text: String,
    /// What had to be done to read it; `None` for plain UTF-8.
    pub note: Option<Note>,
    lines: Vec<usize>,
}

/// How a text was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Note {
    /// UTF-16, by its mark or by its look.
    Utf16,
    /// Some bytes are no UTF-8.
    Broken,
}

/// Reads bytes as text; `None` for what is none.
pub(super) fn read(bytes: &[u8]) -> Option<Text> {
    if let Some(text) = utf16(bytes) {
        return Some(with_lines(text, Some(Note::Utf16)));
    }
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    match std::str::from_utf8(bytes) {
        Ok(text) if !is_binary(bytes) => Some(with_lines(text.to_owned(), None)),
        Err(_) if !is_binary(bytes) => Some(with_lines(
            String::from_utf8_lossy(bytes).into_owned(),
            Some(Note::Broken),
        )),
        _ => None,
    }
}

/// More than one byte in fifty that no text holds, or more than a third that is no UTF-8.
fn is_binary(bytes: &[u8]) -> bool {
    let head = &bytes[..bytes.len().min(64 * 1024)];
    let odd = head
        .iter()
        .filter(|byte| matches!(byte, 0..=8 | 14..=26 | 28..=31 | 127))
        .count();
    if odd * 50 > head.len() {
        return true;
    }
    let high = head.iter().filter(|byte| **byte >= 0x80).count();
    high * 3 > head.len() && {
        let broken = String::from_utf8_lossy(head).matches('\u{fffd}').count();
        broken * 6 > head.len()
    }
}

fn utf16(bytes: &[u8]) -> Option<String> {
    let (body, is_little) = match bytes {
        // A mark alone proves nothing: without a single zero byte a shell reads on as if it were not there.
        [0xff, 0xfe, rest @ ..] if rest.contains(&0) => (rest, true),
        [0xfe, 0xff, rest @ ..] if rest.contains(&0) => (rest, false),
        _ => {
            let head = &bytes[..bytes.len().min(512)];
            let zeros = |from: usize| {
                head.iter()
                    .skip(from)
                    .step_by(2)
                    .filter(|byte| **byte == 0)
                    .count()
            };
            if head.len() < 16 {
                return None;
            }
            match (zeros(1) * 5 > head.len() * 2, zeros(0) * 5 > head.len() * 2) {
                (true, false) => (bytes, true),
                (false, true) => (bytes, false),
                _ => return None,
            }
        }
    };
    let units = body.chunks_exact(2).map(|pair| {
        let pair = [pair[0], pair[1]];
        if is_little {
            u16::from_le_bytes(pair)
        } else {
            u16::from_be_bytes(pair)
        }
    });
    let text: String = char::decode_utf16(units)
        .map(|unit| unit.unwrap_or('\u{fffd}'))
        .collect();
    let odd = text
        .chars()
        .filter(|letter| *letter == '\u{fffd}' || *letter == '\0')
        .count();
    (odd * 20 <= text.len()).then_some(text)
}

fn with_lines(text: String, note: Option<Note>) -> Text {
    let lines = memchr::memchr_iter(b'\n', text.as_bytes()).collect();
    Text { text, note, lines }
}

/// The readable words in bytes that are no text: runs of at least twelve printable characters, one a line.
pub(super) fn strings(bytes: &[u8]) -> Text {
    let mut text = String::new();
    for run in bytes.split(|byte| !(byte.is_ascii_graphic() || *byte == b' ' || *byte == b'\t')) {
        if run.len() >= 12 {
            text.extend(run.iter().map(|byte| char::from(*byte)));
            text.push('\n');
        }
    }
    with_lines(text, None)
}

/// The text between tags: a word may be spread over several.
pub(super) fn without_tags(text: &Text) -> Text {
    let mut out = String::with_capacity(text.text.len());
    let mut rest = text.text.as_str();
    while let Some(open) = rest.find('<') {
        out.push_str(&rest[..open]);
        let tag = rest[open..]
            .find('>')
            .map_or(rest.len(), |close| open + close + 1);
        // Paragraphs, rows and breaks part words; runs within them do not.
        if rest[open..tag].starts_with("</w:p")
            || rest[open..tag].starts_with("</a:p")
            || rest[open..tag].starts_with("</p")
            || rest[open..tag].starts_with("</si")
        {
            out.push('\n');
        }
        rest = &rest[tag..];
    }
    out.push_str(rest);
    with_lines(out, text.note)
}

impl Text {
    /// The line a byte stands in, from 1.
    pub(super) fn line(&self, at: usize) -> u32 {
        let line = self.lines.partition_point(|end| *end < at) + 1;
        u32::try_from(line).unwrap_or(u32::MAX)
    }

    /// From the start of the line a byte stands in to its end.
    pub(super) fn line_around(&self, at: usize) -> &str {
        let next = self.lines.partition_point(|end| *end < at);
        let start = next.checked_sub(1).map_or(0, |line| self.lines[line] + 1);
        let end = self.lines.get(next).copied().unwrap_or(self.text.len());
        self.text.get(start..end).unwrap_or("")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn broken_bytes_do_not_hide_the_rest() {
        let text = read(b"a\xff b\nignore").unwrap();
        assert_eq!(
            (text.text.as_str(), text.note),
            ("a\u{fffd} b\nignore", Some(Note::Broken))
        );
        assert_eq!(text.line(text.text.find("ignore").unwrap()), 2);
    }

    #[test]
    fn both_orders_of_utf16_are_read() {
        let little: Vec<u8> = "ignore all of it"
            .encode_utf16()
            .flat_map(u16::to_le_bytes)
            .collect();
        let big: Vec<u8> = "ignore all of it"
            .encode_utf16()
            .flat_map(u16::to_be_bytes)
            .collect();
        assert_eq!(read(&little).unwrap().text, "ignore all of it");
        assert_eq!(read(&big).unwrap().text, "ignore all of it");
    }

    #[test]
    fn binaries_are_no_text() {
        assert!(read(&[0, 1, 2, 3, 0, 0, 0, 9, 8, 7]).is_none());
        assert!(read("日本語のテキスト".as_bytes()).is_some());
    }
}
