//! Reads JSON as agents write it: with a byte order mark, or with half of a surrogate pair where a text was
//! cut in the middle of a character.

use std::borrow::Cow;

use memchr::memmem;
use serde_json::Value;

/// Parses one value. Half a pair reads as U+FFFD.
///
/// # Errors
/// What the parser says.
pub(super) fn parse(bytes: &[u8]) -> serde_json::Result<Value> {
    let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
    serde_json::from_slice(bytes).or_else(|error| match mended(bytes) {
        Cow::Owned(mended) => serde_json::from_slice(&mended),
        Cow::Borrowed(_) => Err(error),
    })
}

/// Replaces the escapes of half pairs.
fn mended(bytes: &[u8]) -> Cow<'_, [u8]> {
    let mut text = Cow::Borrowed(bytes);
    let places: Vec<usize> = memmem::find_iter(bytes, b"\\u").collect();
    let mut index = 0;
    while let Some(&at) = places.get(index) {
        index += 1;
        let is_escaped = bytes.get(..at).is_some_and(|before| {
            before
                .iter()
                .rev()
                .take_while(|byte| **byte == b'\\')
                .count()
                % 2
                == 1
        });
        if is_escaped {
            continue;
        }
        match unit(bytes, at) {
            Some(0xD800..=0xDBFF)
                if places.get(index) == Some(&(at + 6))
                    && matches!(unit(bytes, at + 6), Some(0xDC00..=0xDFFF)) =>
            {
                index += 1;
            }
            Some(0xD800..=0xDFFF) => {
                if let Some(digits) = text.to_mut().get_mut(at + 2..at + 6) {
                    digits.copy_from_slice(b"fffd");
                }
            }
            _ => {}
        }
    }
    text
}

/// The number of the escape at a place.
fn unit(bytes: &[u8], at: usize) -> Option<u16> {
    let digits = std::str::from_utf8(bytes.get(at + 2..at + 6)?).ok()?;
    u16::from_str_radix(digits, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_a_pair_reads_as_a_replacement_and_whole_ones_as_they_are() {
        for (text, value) in [
            (r#""\ud83d""#, "\u{fffd}"),
            (r#""a\udc00b""#, "a\u{fffd}b"),
            (r#""\ud83d\ude00 \ud83d""#, "\u{1f600} \u{fffd}"),
            (r#""\\ud83d \ud83dx""#, "\\ud83d \u{fffd}x"),
            ("\u{feff}\"x\"", "x"),
        ] {
            assert_eq!(parse(text.as_bytes()).unwrap(), value, "{text}");
        }
        assert!(parse(b"{\"a\": ").is_err());
    }
}
