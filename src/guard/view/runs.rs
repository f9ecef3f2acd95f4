//! Where code words stand in a text: runs of letters, pairs of digits, lists of numbers.

/// Fewest characters that are taken for code words.
pub(super) const MIN_RUN: usize = 16;
/// Fewest characters of lines that are all of one length and taken for code words.
const MIN_EVEN: usize = 8;

pub(super) fn is_code(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'-' | b'_')
}

pub(super) fn code_length(bytes: &[u8]) -> usize {
    let letters = bytes.iter().take_while(|byte| is_code(**byte)).count();
    letters
        + bytes[letters..]
            .iter()
            .take(6)
            .take_while(|byte| **byte == b'=')
            .count()
}

/// Where the next line ends, if both are nothing but code letters of some length.
pub(super) fn next_line(text: &[u8], start: usize, end: usize) -> Option<usize> {
    let first = text[start..end].rsplit(|byte| *byte == b'\n').next()?;
    if first.len() < MIN_EVEN || text.get(end) != Some(&b'\n') {
        return None;
    }
    let indent = text[end + 1..]
        .iter()
        .take_while(|byte| **byte == b' ')
        .count();
    let next = end + 1 + indent;
    let length = code_length(&text[next..]);
    let closes = text
        .get(next + length)
        .is_none_or(|byte| matches!(byte, b'\n' | b'"' | b'\'' | b'\r'));
    let is_even = first.len().is_multiple_of(4) && length <= first.len();
    (length >= 4 && closes && (first.len() >= MIN_RUN || is_even)).then_some(next + length)
}

/// Whether capitals, small letters and digits stand in it, or its letters end in `=`.
pub(super) fn has_kinds(letters: &[u8]) -> bool {
    letters.iter().any(u8::is_ascii_uppercase) && letters.iter().any(u8::is_ascii_lowercase)
}

/// Pictures and fonts stand in pages and sheets as data.
pub(super) fn is_data_uri(text: &[u8], at: usize) -> bool {
    let before = &text[at.saturating_sub(40)..at];
    let has = |word: &[u8]| before.windows(word.len()).any(|part| part == word);
    has(b"data:image/")
        || has(b"data:font/")
        || has(b"sha512-")
        || has(b"sha256-")
        || has(b"sha384-")
}

pub(super) fn trim_end(bytes: &[u8], mark: u8) -> &[u8] {
    let end = bytes
        .iter()
        .rposition(|byte| *byte != mark)
        .map_or(0, |last| last + 1);
    &bytes[..end]
}

pub(super) fn is_pair_start(window: &[u8]) -> bool {
    match window {
        [b'0', b'x' | b'X', a, b, b',' | b' ', _]
        | [a, b, b' ', _, _, b' ' | b'\'' | b'"' | b'\n'] => {
            a.is_ascii_hexdigit() && b.is_ascii_hexdigit()
        }
        _ => false,
    }
}

/// One pair and what parts it from the next.
pub(super) fn pair(text: &[u8]) -> Option<(u8, usize)> {
    let prefix = if text.starts_with(b"0x") || text.starts_with(b"0X") {
        2
    } else {
        0
    };
    let digits = std::str::from_utf8(text.get(prefix..prefix + 2)?).ok()?;
    let byte = u8::from_str_radix(digits, 16).ok()?;
    let parts = text[prefix + 2..]
        .iter()
        .take(3)
        .take_while(|byte| matches!(byte, b' ' | b',' | b'\n'))
        .count();
    let is_last = text
        .get(prefix + 2)
        .is_none_or(|byte| !byte.is_ascii_alphanumeric());
    is_last.then_some((byte, prefix + 2 + parts))
}

/// One decimal number of a printable character and what parts it from the next.
pub(super) fn number(text: &[u8]) -> Option<(u8, usize)> {
    let blanks = text
        .iter()
        .take(4)
        .take_while(|byte| byte.is_ascii_whitespace())
        .count();
    let digits = text[blanks..]
        .iter()
        .take(4)
        .take_while(|byte| byte.is_ascii_digit())
        .count();
    if !(1..=3).contains(&digits) {
        return None;
    }
    let number: u8 = std::str::from_utf8(&text[blanks..blanks + digits])
        .ok()?
        .parse()
        .ok()?;
    if !(number == 9 || number == 10 || (32..127).contains(&number)) {
        return None;
    }
    let end = blanks + digits;
    let comma = text[end..]
        .iter()
        .take(3)
        .take_while(|byte| matches!(byte, b',' | b' '))
        .count();
    Some((number, end + comma))
}
