//! The codes themselves, and whether what comes out is a text.

use std::io::Read;

use data_encoding::{BASE64, BASE64URL_NOPAD};

/// Both alphabets, with or without padding, a last odd letter left out.
pub(super) fn base64(letters: &[u8]) -> Option<Vec<u8>> {
    let is_url = letters.iter().any(|byte| matches!(byte, b'-' | b'_'));
    let whole = if letters.len() % 4 == 1 {
        &letters[..letters.len() - 1]
    } else {
        letters
    };
    if is_url {
        let url: Vec<u8> = whole
            .iter()
            .map(|byte| match byte {
                b'+' => b'-',
                b'/' => b'_',
                other => *other,
            })
            .collect();
        return lenient(&url, true);
    }
    lenient(whole, false)
}

pub(super) fn lenient(letters: &[u8], is_url: bool) -> Option<Vec<u8>> {
    let mut padded = letters.to_vec();
    if is_url {
        return BASE64URL_NOPAD.decode(&padded).ok().or_else(|| {
            padded.truncate(padded.len() / 4 * 4);
            BASE64URL_NOPAD.decode(&padded).ok()
        });
    }
    padded.resize(letters.len().next_multiple_of(4), b'=');
    BASE64.decode(&padded).ok().or_else(|| {
        let whole = letters.len() / 4 * 4;
        BASE64.decode(&letters[..whole]).ok()
    })
}

/// Python's base85 alphabet.
pub(super) fn base85(text: &[u8]) -> Option<Vec<u8>> {
    const ALPHABET: &[u8; 85] =
        b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~";
    let mut out = Vec::with_capacity(text.len());
    for group in text.chunks(5) {
        let mut value: u64 = 0;
        for at in 0..5 {
            let digit = match group.get(at) {
                Some(byte) => ALPHABET.iter().position(|letter| letter == byte)? as u64,
                None => 84,
            };
            value = value * 85 + digit;
        }
        let bytes = u32::try_from(value).ok()?.to_be_bytes();
        out.extend_from_slice(&bytes[..group.len().saturating_sub(1)]);
    }
    Some(out)
}

pub(super) fn rot13(byte: u8) -> u8 {
    match byte {
        b'a'..=b'z' => (byte - b'a' + 13) % 26 + b'a',
        b'A'..=b'Z' => (byte - b'A' + 13) % 26 + b'A',
        other => other,
    }
}

/// The text some bytes hold, unpacked if they are packed; `None` for anything else.
pub(super) fn text_of(bytes: &[u8], most: usize) -> Option<(String, Option<&'static str>)> {
    if let Some((unpacked, form)) = unpack(bytes, most) {
        return readable(&unpacked).map(|text| (text, Some(form)));
    }
    if bytes.len() >= 12
        && bytes
            .iter()
            .skip(1)
            .step_by(2)
            .filter(|byte| **byte == 0)
            .count()
            * 10
            >= bytes.len() / 2 * 9
    {
        let units: Vec<u16> = bytes
            .chunks_exact(2)
            .map(|pair| u16::from_le_bytes([pair[0], pair[1]]))
            .collect();
        let text = String::from_utf16(&units).ok()?;
        return readable(text.as_bytes()).map(|text| (text, Some("utf-16")));
    }
    readable(bytes).map(|text| (text, None))
}

/// What was packed with gzip or zlib.
pub(super) fn unpack(bytes: &[u8], most: usize) -> Option<(Vec<u8>, &'static str)> {
    let mut out = Vec::new();
    let limit = most as u64;
    match bytes {
        [0x1f, 0x8b, ..] => {
            flate2::read::GzDecoder::new(bytes)
                .take(limit)
                .read_to_end(&mut out)
                .ok()?;
            Some((out, "gzip"))
        }
        [0x78, 0x01 | 0x5e | 0x9c | 0xda, ..] => {
            flate2::read::ZlibDecoder::new(bytes)
                .take(limit)
                .read_to_end(&mut out)
                .ok()?;
            Some((out, "zlib"))
        }
        _ => None,
    }
}

/// Text, by its characters: nearly all of them printable, and most of them letters, digits and blanks.
pub(super) fn readable(bytes: &[u8]) -> Option<String> {
    let end = match std::str::from_utf8(bytes) {
        Ok(text) => text.len(),
        // A last character cut short is no harm.
        Err(error) if error.valid_up_to() + 4 > bytes.len() => error.valid_up_to(),
        Err(_) => return None,
    };
    let text = std::str::from_utf8(&bytes[..end]).ok()?;
    if text.len() < 6 {
        return None;
    }
    let (mut total, mut odd, mut plain) = (0_usize, 0_usize, 0_usize);
    for letter in text.chars() {
        total += 1;
        odd += usize::from(letter.is_control() && !letter.is_whitespace());
        plain += usize::from(
            letter.is_alphanumeric() || letter == ' ' || "./:-_=()|\"'".contains(letter),
        );
    }
    (odd * 50 <= total && plain * 10 >= total * 7).then(|| text.to_owned())
}
