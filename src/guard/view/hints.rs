//! What a text says about how parts of it are encoded.

/// What the text says about how it is to be read.
pub(super) struct Hints {
    pub(super) rot13: bool,
    pub(super) reversed: bool,
    pub(super) base85: bool,
    pub(super) xor: Vec<u8>,
}

impl Hints {
    pub(super) fn of(lower: &str) -> Self {
        let has = |words: &[&str]| words.iter().any(|word| lower.contains(word));
        let is_xor = [
            "^ k", "^ 0x", "^k", "^0x", "^ ord", "^ int", "bxor", "xor(", "^ b", "^ x",
        ]
        .iter()
        .any(|word| lower.contains(word))
            && lower.contains("for ");
        let xor = if is_xor { keys(lower) } else { Vec::new() };
        Self {
            rot13: has(&["rot13", "rot_13", "n-za-m"]),
            reversed: has(&["[::-1]", "| rev", "|rev", ".reverse", "reversed(", "strrev"]),
            base85: has(&["b85decode", "a85decode"]),
            xor,
        }
    }

    pub(super) fn is_any(&self) -> bool {
        self.rot13 || self.reversed || self.base85 || !self.xor.is_empty()
    }
}

/// Numbers of one byte that stand in the text, as possible keys; at most eight.
fn keys(lower: &str) -> Vec<u8> {
    let mut keys = Vec::new();
    let words = lower.split(|letter: char| !letter.is_ascii_alphanumeric());
    for word in words {
        let number = match word.strip_prefix("0x") {
            Some(digits) => u8::from_str_radix(digits, 16).ok(),
            None => word.parse().ok(),
        };
        if let Some(key) = number.filter(|key| *key > 1 && !keys.contains(key)) {
            keys.push(key);
            if keys.len() == 8 {
                break;
            }
        }
    }
    keys
}

/// The next string in quotes on one line: where its inside starts and ends.
pub(super) fn next_string(text: &str, from: usize) -> Option<(usize, usize)> {
    let bytes = text.as_bytes();
    let mut at = from;
    loop {
        let start = at + memchr::memchr2(b'\'', b'"', &bytes[at..])?;
        let mark = bytes[start];
        let mut end = start + 1;
        while end < bytes.len() && bytes[end] != mark && bytes[end] != b'\n' {
            end += if bytes[end] == b'\\' { 2 } else { 1 };
        }
        if end < bytes.len() && bytes[end] == mark {
            return Some((start + 1, end));
        }
        at = start + 1;
    }
}
