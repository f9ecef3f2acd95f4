//! Owns reading JSON state files other programs wrote, damaged or not: bytes in, facts out.

mod salvage;

use salvage::{Salvage, offset, reason};
use serde_json::{Map, Value};

/// Text decoded from bytes, and what had to be guessed.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Decoded {
    /// The text without byte order mark and trailing NUL padding.
    pub text: String,
    /// What had to be guessed, in the order of the text.
    pub notes: Vec<Note>,
}

/// Something a person should know: line and column from 1 where known, one sentence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Note {
    /// The line, from 1.
    pub line: Option<u32>,
    /// The column, in characters from 1.
    pub column: Option<u32>,
    /// One sentence.
    pub message: String,
}

/// The entries of an object, in the order they were found, and what could not be read.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Entries {
    /// Keys and values; the last value of a repeated key, at the place of the first.
    pub entries: Vec<(String, Value)>,
    /// What could not be read, in the order of the text.
    pub notes: Vec<Note>,
    /// Whether the text is valid JSON and holds the object asked for.
    pub is_whole: bool,
}

/// What Windows-1252 makes of the bytes 0x80 to 0x9F, in order.
const WINDOWS_1252: &str = "€\u{FFFD}‚ƒ„…†‡ˆ‰Š‹Œ\u{FFFD}Ž\u{FFFD}\u{FFFD}‘’“”•–—˜™š›œ\u{FFFD}žŸ";

/// Where something is wrong, as an offset, and what.
type Fault = (usize, String);

/// Decodes UTF-8 (with or without byte order mark) and UTF-16 (by its byte order mark); bytes that
/// are no UTF-8 are read as Windows-1252 one by one, trailing NULs are dropped.
#[must_use]
pub(super) fn decode(bytes: &[u8]) -> Decoded {
    let mut text = String::with_capacity(bytes.len());
    let guessed = match bytes {
        [0xFF, 0xFE, rest @ ..] => push_utf16(&mut text, rest, u16::from_le_bytes),
        [0xFE, 0xFF, rest @ ..] => push_utf16(&mut text, rest, u16::from_be_bytes),
        [0xEF, 0xBB, 0xBF, rest @ ..] => push_utf8(&mut text, rest),
        _ => push_utf8(&mut text, bytes),
    };
    let mut faults = Vec::from_iter(guessed);
    let (kept, all) = (text.trim_end_matches('\0').len(), text.len());
    if kept < all {
        let message = format!("{} NULs at the end of the file were dropped", all - kept);
        faults.push((kept, message));
        text.truncate(kept);
    }
    let notes = place(&text, faults);
    Decoded { text, notes }
}

fn push_utf8(text: &mut String, bytes: &[u8]) -> Option<Fault> {
    let mut guessed = None;
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        for &byte in chunk.invalid() {
            guessed.get_or_insert((text.len(), 0)).1 += 1;
            let index = usize::from(byte).wrapping_sub(0x80);
            text.push(WINDOWS_1252.chars().nth(index).unwrap_or(char::from(byte)));
        }
    }
    let what = "no UTF-8 and were read as Windows-1252";
    let what_one = "no UTF-8 and was read as Windows-1252";
    guessed.map(|(at, n)| {
        (
            at,
            if n == 1 {
                format!("one byte is {what_one}")
            } else {
                format!("{n} bytes of the file, the first one here, are {what}")
            },
        )
    })
}

fn push_utf16(text: &mut String, bytes: &[u8], unit: fn([u8; 2]) -> u16) -> Option<Fault> {
    let mut guessed = None;
    // An odd byte at the end becomes half a surrogate pair, which is as wrong.
    let units = bytes
        .chunks(2)
        .map(|pair| pair.try_into().map_or(0xD800, unit));
    for decoded in char::decode_utf16(units) {
        if decoded.is_err() {
            guessed.get_or_insert((text.len(), 0)).1 += 1;
        }
        text.push(decoded.unwrap_or(char::REPLACEMENT_CHARACTER));
    }
    guessed.map(|(at, n)| {
        (
            at,
            format!("{n} units of the file, the first one here, are no UTF-16"),
        )
    })
}

/// Counts lines and columns in one pass, however many faults there are.
fn place(text: &str, mut faults: Vec<Fault>) -> Vec<Note> {
    faults.sort_by_key(|(at, _)| *at);
    let (mut line, mut column, mut done) = (1_u32, 1_u32, 0);
    let notes = faults.into_iter().map(|(at, message)| {
        for byte in text.as_bytes().get(done..at).unwrap_or_default() {
            if *byte == b'\n' {
                (line, column) = (line.saturating_add(1), 1);
            } else if byte & 0xC0 != 0x80 {
                column = column.saturating_add(1);
            }
        }
        done = at;
        let (line, column) = (Some(line), Some(column));
        Note {
            line,
            column,
            message,
        }
    });
    notes.collect()
}

/// Reads the entries of the top-level object (`path` empty) or of the object nested in it by these
/// keys. Text that is no valid JSON is salvaged as the description of the module says.
#[must_use]
pub(super) fn entries(text: &str, path: &[&str]) -> Entries {
    let text = text.trim_start_matches('\u{FEFF}');
    let mut found = Map::new();
    let faults = match serde_json::from_str::<Value>(text) {
        Ok(value) => match whole(value, path) {
            Ok(map) => {
                found = map;
                Vec::new()
            }
            Err(message) => vec![(0, message)],
        },
        Err(error) => {
            let mut faults = match Salvage::find(text, path) {
                Ok(mut salvage) => {
                    while salvage.step() {}
                    found.extend(salvage.entries);
                    salvage.faults
                }
                Err(fault) => vec![fault],
            };
            // Damage outside the object, or a mere trailing comma, is worth knowing too.
            if faults.is_empty() || (found.is_empty() && !path.is_empty()) {
                faults.push((offset(text, &error), format!("no JSON: {}", reason(&error))));
            }
            faults
        }
    };
    let (is_whole, notes) = (faults.is_empty(), place(text, faults));
    let entries = found.into_iter().collect();
    Entries {
        entries,
        notes,
        is_whole,
    }
}

fn whole(mut value: Value, path: &[&str]) -> Result<Map<String, Value>, String> {
    let mut keys = path.iter();
    loop {
        let Value::Object(mut map) = value else {
            return Err(no_object(value.to_string().bytes().next()));
        };
        let Some(key) = keys.next() else {
            return Ok(map);
        };
        value = map
            .remove(*key)
            .ok_or_else(|| format!("the file has no key `{key}`"))?;
    }
}

fn no_object(first: Option<u8>) -> String {
    let what = match first {
        None => "nothing",
        Some(b'[') => "an array",
        Some(b'"') => "a string",
        Some(b'-' | b'0'..=b'9') => "a number",
        Some(b't' | b'f') => "true or false",
        Some(b'n') => "null",
        Some(_) => "something that is no JSON",
    };
    format!("instead of an object of records there is {what}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, path: &[&str]) -> (String, Vec<(u32, u32, String)>, bool) {
        let Entries {
            entries,
            notes,
            is_whole,
        } = super::entries(text, path);
        let notes = notes
            .into_iter()
            .map(|n| (n.line.unwrap(), n.column.unwrap(), n.message));
        (
            Value::Object(entries.into_iter().collect()).to_string(),
            notes.collect(),
            is_whole,
        )
    }

    #[test]
    fn decodes_every_encoding_and_says_what_it_guessed() {
        let utf16 = |unit: fn(u16) -> [u8; 2], bom| {
            let units = std::iter::once(bom).chain("{é😀}".encode_utf16());
            decode(&units.flat_map(unit).collect::<Vec<_>>())
        };
        for good in [
            decode("{é😀}".as_bytes()),
            decode("\u{FEFF}{é😀}".as_bytes()),
            utf16(u16::to_le_bytes, 0xFEFF),
            utf16(u16::to_be_bytes, 0xFEFF),
        ] {
            assert_eq!((good.text.as_str(), good.notes.len()), ("{é😀}", 0));
        }
        let guessed = decode(b"a\n\xC3\xA9b\x92\x81\xE9\x00\x00");
        assert_eq!(guessed.text, "a\néb’\u{FFFD}é");
        let places: Vec<_> = guessed.notes.iter().map(|n| (n.line, n.column)).collect();
        assert_eq!(places, [(Some(2), Some(3)), (Some(2), Some(6))]);
        assert!(guessed.notes[0].message.starts_with("3 bytes"));
        assert!(guessed.notes[1].message.starts_with("2 NULs"));
        assert_eq!(decode(b"\xFF\xFE{\x00\x00\xD8}").text, "{\u{FFFD}\u{FFFD}");
        assert_eq!(decode(&[0; 9]).text, "");
    }

    #[test]
    fn says_what_is_there_instead_of_an_object() {
        for (text, what) in [
            ("", "nothing"),
            (" \n", "nothing"),
            ("[{}]", "an array"),
            ("[{", "an array"),
            ("-1", "a number"),
            ("\"a\"", "a string"),
            ("hello", "something"),
            ("null", "null"),
        ] {
            let (found, notes, is_whole) = read(text, &[]);
            assert_eq!(
                (found.as_str(), notes.len(), is_whole),
                ("{}", 1, false),
                "{text}"
            );
            assert!(notes[0].2.contains(what), "{text}: {notes:?}");
        }
        assert_eq!(read(r#"{"installed":[]}"#, &["installed"]).1.len(), 1);
        assert!(read(r#"{"a":{"b":{"c":1}}}"#, &["a", "b"]).2);
    }

    /// In the cases ' stands for " and ; for a line break.
    #[test]
    fn reads_around_damage() {
        for case in [
            // Cut off, with nested objects that are no entries.
            "{;  'a': {;    'x': {; => {} => 2:3",
            "{'a':{'x':1},'b':{'m':{'p':1},'n':{'q':2}, => {'a':{'x':1}} => 1:14",
            "{'b':{'m':{'p':1},'n':{'q':2}, => {} => 1:2",
            "{'a':12 => {} => 1:2",
            // Commas too many and too few.
            "{'a':{},;} => {'a':{}} => 2:1",
            "{'a':{'x':1} 'b':{'y':1}} => {'a':{'x':1},'b':{'y':1}} => 1:14",
            // A lost quote, a lost colon, a lost brace, one too many, a lost beginning.
            "{'a':{'x':1},'é':{'x':'v,'m':{'p':1}},'c':{'x':3}} => {'a':{'x':1},'c':{'x':3}} => 1:27",
            "{; 'a' {'x':1},; 'b':{}} => {'b':{}} => 2:2",
            "{; 'a':{;  'x':1,; 'b':{};} => {'b':{}} => 2:2",
            "{'a':{}},'b':{}} => {'a':{},'b':{}} => 1:8",
            "?; 'a':{},; 'b':{};} => {'a':{},'b':{}} => 1:1",
        ] {
            let case = case.replace('\'', "\"").replace(';', "\n");
            let [text, expected, place] = case.split(" => ").collect::<Vec<_>>()[..] else {
                panic!("{case}");
            };
            let (found, notes, _) = read(text, &[]);
            let places: Vec<_> = notes.iter().map(|n| format!("{}:{}", n.0, n.1)).collect();
            assert_eq!(
                (found.as_str(), places.join(" ")),
                (expected, place.into()),
                "{text} {notes:?}"
            );
        }
        let text = "{\n  \"v\": oops,\n  \"installed\": {\n    \"a\": {}\n  ,\n  \"t\": {}\n}";
        assert_eq!(read(text, &["installed"]).0, r#"{"a":{}}"#);
    }

    /// Three layouts of a lock file, with the place of each record.
    fn sample(layout: usize) -> (String, Vec<(String, Value, std::ops::Range<usize>)>) {
        let (open, field, close) = [
            ("\n    ", "\n      ", "\n    "),
            ("\n    ", "", ""),
            ("", "", ""),
        ][layout];
        let mut text = String::from(
            [
                "{\n  \"version\": 1,\n  \"installed\": {",
                "{\"version\":1,\"installed\":{",
            ][layout / 2],
        );
        let mut records = Vec::new();
        for name in ["alpha", "bé\\\"ta", "gamma"] {
            let value = format!(
                r#"{{{field}"uses": 12,{field}"at": "x, y",{field}"of": {{"p": {{"uses": 1}}, "q": null}}{close}}}"#
            );
            text.push_str(if records.is_empty() { open } else { "," });
            if !records.is_empty() {
                text.push_str(open);
            }
            let start = text.len();
            text.extend(["\"", name, "\": ", &value]);
            records.push((
                name.replace('\\', ""),
                serde_json::from_str(&value).unwrap(),
                start..text.len(),
            ));
        }
        text.push_str(["\n  }\n}\n", "\n  }\n}\n", "}}"][layout]);
        (text, records)
    }

    /// Damages a good file in every place and hands on what was read of it.
    fn damage_everywhere(good: &str, mut check: impl FnMut(usize, &Entries)) {
        let marks: [&[u8]; 7] = [b"", b"\"", b"{", b"}", b",", b"\n", b"\xFF"];
        for at in (0..good.len()).step_by(3) {
            let (before, rest) = good.as_bytes().split_at(at);
            let damaged = marks.iter().flat_map(|mark| [(mark, 1), (mark, 0)]);
            let damaged = damaged.map(|(mark, lost)| [before, mark, &rest[lost..]].concat());
            for bytes in damaged.chain([before.to_vec()]) {
                let text = decode(&bytes).text;
                let _ = entries(&text, &[]);
                let found = entries(&text, &["installed"]);
                assert!(found.is_whole || !found.notes.is_empty(), "{text}");
                check(at, &found);
            }
        }
    }

    #[test]
    fn damage_harms_no_record_before_it_and_invents_none() {
        for layout in 0..3 {
            let (good, records) = sample(layout);
            assert!(entries(&good, &["installed"]).is_whole);
            damage_everywhere(&good, |at, found| {
                for (key, value) in &found.entries {
                    let is_good = records.iter().any(|r| (&r.0, &r.1) == (key, value));
                    let is_touched = records.iter().any(|r| r.2.start <= at && at <= r.2.end);
                    assert!(is_good || is_touched, "{layout} {at} {key} {found:?}");
                    // On lines of its own, nothing nested passes as a record.
                    let is_nested = ["uses", "at", "of", "p", "q"].contains(&key.as_str());
                    assert!(layout > 0 || !is_nested, "{at} {key} {found:?}");
                }
                for (key, value, _) in records.iter().filter(|r| r.2.end <= at) {
                    let is_read = found.entries.iter().any(|e| (&e.0, &e.1) == (key, value));
                    assert!(is_read, "{layout} {at} {key} {found:?}");
                }
            });
        }
    }

    #[test]
    fn reads_a_large_file_with_thousands_of_broken_records() {
        for (line, field) in [("\n  ", "\n    "), ("", "")] {
            let mut text = String::from("{");
            for number in 0..10_000 {
                let pad = "x".repeat(400);
                let end = if number % 5 == 1 { "," } else { "}," };
                let record = format!(
                    "{line}\"n{number}\": {{{field}\"a\": {{\"b\": 1}},{field}\"pad\": \"{pad}\"{end}"
                );
                text.push_str(&record);
            }
            let found = entries(&text, &[]);
            assert!(
                (7_990..=8_000).contains(&found.entries.len()),
                "{}",
                found.entries.len()
            );
            assert!(found.notes.len() > 1_990);
        }
    }
}
