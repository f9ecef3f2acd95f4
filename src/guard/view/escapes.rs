//! Single characters written as numbers: entities, `\x41`, `\101`, `\u0041`, `%41`.

/// Reads an entity at the start: the character, and how many bytes it takes.
pub(super) fn entity(text: &str) -> Option<(char, usize)> {
    let body = text.strip_prefix('&')?;
    let end = body.bytes().take(10).position(|byte| byte == b';')?;
    let name = &body[..end];
    let letter = match name.strip_prefix('#') {
        Some(number) => {
            let code = match number.strip_prefix(['x', 'X']) {
                Some(digits) => u32::from_str_radix(digits, 16).ok()?,
                None => number.parse().ok()?,
            };
            char::from_u32(code).filter(|letter| !letter.is_control() || *letter == '\n')?
        }
        None => match name {
            "lt" => '<',
            "gt" => '>',
            "amp" => '&',
            "quot" => '"',
            "apos" => '\'',
            "nbsp" | "Tab" | "NewLine" => ' ',
            "sol" => '/',
            "period" => '.',
            "colon" => ':',
            _ => return None,
        },
    };
    Some((letter, end + 2))
}

/// Reads one escape at the start, in any of its spellings: the code, and how many bytes it takes.
fn escape(bytes: &[u8]) -> Option<(u32, usize)> {
    let digits = |from: usize, most: usize, radix: u32| {
        let run = bytes
            .get(from..)?
            .iter()
            .take(most)
            .take_while(|byte| char::from(**byte).is_digit(radix))
            .count();
        let text = std::str::from_utf8(&bytes[from..from + run]).ok()?;
        Some((u32::from_str_radix(text, radix).ok()?, run))
    };
    match (bytes.first()?, bytes.get(1)?) {
        (b'\\', b'x') => digits(2, 2, 16).map(|(code, run)| (code, run + 2)),
        (b'\\', b'u') if bytes.get(2) == Some(&b'{') => {
            let (code, run) = digits(3, 6, 16)?;
            (bytes.get(3 + run) == Some(&b'}')).then_some((code, run + 4))
        }
        (b'\\', b'u') => digits(2, 4, 16)
            .filter(|(_, run)| *run == 4)
            .map(|(code, run)| (code, run + 2)),
        (b'\\', b'0'..=b'7') => digits(1, 3, 8)
            .filter(|(_, run)| *run >= 2)
            .map(|(code, run)| (code, run + 1)),
        (b'%', _) => digits(1, 2, 16)
            .filter(|(_, run)| *run == 2)
            .map(|(code, run)| (code, run + 1)),
        _ => None,
    }
}

/// A run of escapes from `at` on, with single plain characters between them: the text, where it ends, and how many
/// escapes there were.
pub(super) fn escaped(text: &str, at: usize) -> Option<(String, usize, usize)> {
    let bytes = text.as_bytes();
    escape(&bytes[at..])?;
    let (mut read, mut end, mut count) = (Vec::new(), at, 0);
    let mut plain = 0;
    while end < bytes.len() {
        if let Some((code, length)) = escape(&bytes[end..]) {
            match u8::try_from(code) {
                Ok(byte) => read.push(byte),
                Err(_) => {
                    let letter = char::from_u32(code).unwrap_or('\u{fffd}');
                    read.extend(letter.to_string().bytes());
                }
            }
            end += length;
            count += 1;
            plain = 0;
        } else if plain < 12
            && bytes[end].is_ascii_graphic()
            && !matches!(bytes[end], b'"' | b'\'' | b'`')
        {
            read.push(bytes[end]);
            end += 1;
            plain += 1;
        } else {
            break;
        }
    }
    Some((String::from_utf8_lossy(&read).into_owned(), end, count))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_spellings_are_read() {
        for text in [
            r"\x63\x75\x72\x6c",
            r"\143\165\162\154",
            r"\u0063\u0075\u0072\u{6c}",
            "%63%75%72%6C",
            r"\x63u\x72l",
        ] {
            assert_eq!(escaped(text, 0).unwrap().0, "curl", "{text}");
        }
        assert_eq!(entity("&#x41;b"), Some(('A', 6)));
        assert_eq!(entity("&bogus;"), None);
        assert_eq!(escaped("plain", 0), None);
    }
}
