//! Characters nobody sees. Where they carry a text it is read and looked at like any other; scripts and emoji that need
//! such characters are left alone.

use super::finding::{Class, Severity};
use super::text::Text;

/// What was found in one file.
#[derive(Debug, Default)]
pub(super) struct Hidden {
    pub findings: Vec<Sight>,
    /// Texts that were written in them: where, how, and what.
    pub texts: Vec<(usize, &'static str, String)>,
}

/// One finding.
#[derive(Debug)]
pub(super) struct Sight {
    pub rule: &'static str,
    pub class: Class,
    pub severity: Severity,
    pub at: usize,
    pub evidence: String,
    pub message: &'static str,
}

/// Fewest variation selectors in a row that can be no choice of a form.
const MIN_SELECTORS: usize = 3;
/// Fewest tag characters in a row that are told as a text.
const MIN_TAGS: usize = 3;

/// Looks at a text, as it stands.
pub(super) fn look(text: &Text) -> Hidden {
    let mut hidden = Hidden::default();
    if text.text.is_ascii() {
        return hidden;
    }
    let mut pass = Pass {
        hidden: &mut hidden,
        before: '\n',
        zero_widths: Vec::new(),
        line_end: 0,
    };
    let mut letters = text.text.char_indices().peekable();
    while let Some((at, letter)) = letters.next() {
        match letter {
            '\u{e0000}'..='\u{e007f}' => {
                let read = run(letter, &mut letters, |next| {
                    matches!(next, '\u{e0000}'..='\u{e007f}')
                });
                pass.tags(at, &read);
            }
            '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}' => {
                let read = run(
                    letter,
                    &mut letters,
                    |next| matches!(next, '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}'),
                );
                pass.selectors(at, &read);
            }
            '\u{202d}' | '\u{202e}' => pass.see(BIDI_OVERRIDE, at, letter),
            // A line is looked at once, however many of them it holds.
            '\u{202a}' | '\u{202b}' | '\u{2066}'..='\u{2069}' if at >= pass.line_end => {
                let line = text.line_around(at);
                pass.line_end = at + line.len();
                if is_code_line(line) {
                    pass.see(BIDI_EMBED, at, letter);
                }
            }
            '\u{200b}'
            | '\u{200c}'
            | '\u{200d}'
            | '\u{2060}'..='\u{2064}'
            | '\u{180e}'
            | '\u{ad}'
            | '\u{feff}'
            | '\u{34f}' => {
                let next = letters.peek().map_or(' ', |(_, next)| *next);
                let splits =
                    at > 0 && pass.before.is_ascii_alphabetic() && next.is_ascii_alphabetic();
                if splits || (letter == '\u{200b}' && is_zero_run(&text.text[at..])) {
                    pass.zero_widths.push(at);
                }
            }
            '\u{3164}' | '\u{115f}' | '\u{1160}' | '\u{ffa0}' if pass.before.is_ascii() => {
                pass.see(FILLER, at, letter);
            }
            _ => {}
        }
        if !super::view::fold_is_unseen(letter) {
            pass.before = letter;
        }
    }
    pass.zero_widths(text);
    mixed(text, &mut hidden);
    hidden
}

type Kind = (&'static str, Severity, &'static str);
const BIDI_OVERRIDE: Kind = (
    "invisible.bidi-override",
    Severity::Critical,
    "Turns the direction of writing: what a person reads is not what is there.",
);
const BIDI_EMBED: Kind = (
    "invisible.bidi-embedding",
    Severity::High,
    "Sets a direction of writing within code: what a person reads is not what is there.",
);
const FILLER: Kind = (
    "invisible.filler",
    Severity::Medium,
    "Holds letters that show nothing.",
);

struct Pass<'h> {
    hidden: &'h mut Hidden,
    before: char,
    zero_widths: Vec<usize>,
    /// Up to where the line was looked at.
    line_end: usize,
}

impl Pass<'_> {
    fn see(&mut self, (rule, severity, message): Kind, at: usize, letter: char) {
        if self
            .hidden
            .findings
            .iter()
            .filter(|sight| sight.rule == rule)
            .count()
            < 5
        {
            let evidence = format!("U+{:04X}", u32::from(letter));
            self.hidden.findings.push(Sight {
                rule,
                class: Class::Invisible,
                severity,
                at,
                evidence,
                message,
            });
        }
    }

    /// Tags spell ASCII. Behind a black flag they name a region.
    fn tags(&mut self, at: usize, run: &[char]) {
        if self.before == '\u{1f3f4}' {
            return;
        }
        let read: String = run
            .iter()
            .filter_map(|tag| char::from_u32(u32::from(*tag) - 0xe0000))
            .filter(|letter| !letter.is_control())
            .collect();
        let is_text = read.len() >= MIN_TAGS;
        let severity = if is_text {
            Severity::Critical
        } else {
            Severity::Medium
        };
        let message = "Holds a text in tag characters, which no person sees and every model reads.";
        self.hidden.findings.push(Sight {
            rule: "invisible.tags",
            class: Class::Invisible,
            severity,
            at,
            evidence: cut(&read),
            message,
        });
        if is_text {
            self.hidden.texts.push((at, "tag characters", read));
        }
    }

    /// Selectors count 0 to 255: a row of them is a row of bytes.
    fn selectors(&mut self, at: usize, run: &[char]) {
        // Each character may have one; a row spells a text, also when one stands behind each of several characters.
        if run.len() < MIN_SELECTORS {
            return;
        }
        let bytes: Vec<u8> = run
            .iter()
            .filter_map(|mark| {
                let code = u32::from(*mark);
                u8::try_from(if code >= 0xe0100 {
                    code - 0xe0100 + 16
                } else {
                    code - 0xfe00
                })
                .ok()
            })
            .collect();
        let read = String::from_utf8_lossy(&bytes).into_owned();
        let message = "Holds a text in variation selectors, which no person sees.";
        self.hidden.findings.push(Sight {
            rule: "invisible.selectors",
            class: Class::Invisible,
            severity: Severity::High,
            at,
            evidence: cut(&read),
            message,
        });
        self.hidden.texts.push((at, "variation selectors", read));
    }

    /// Characters without width between Latin letters have no use but to break up words.
    fn zero_widths(&mut self, text: &Text) {
        let Some(first) = self.zero_widths.first().copied() else {
            return;
        };
        let count = self.zero_widths.len();
        let severity = if count >= 4 {
            Severity::High
        } else {
            Severity::Medium
        };
        let message = "Breaks up words with characters that have no width.";
        let evidence = format!("{count} in {:?}", cut(text.line_around(first)));
        self.hidden.findings.push(Sight {
            rule: "invisible.zero-width",
            class: Class::Invisible,
            severity,
            at: first,
            evidence,
            message,
        });
        if let Some(read) = bits(&text.text) {
            self.hidden.texts.push((first, "zero-width bits", read));
        }
    }
}

fn run(
    first: char,
    letters: &mut std::iter::Peekable<std::str::CharIndices<'_>>,
    is_part: impl Fn(char) -> bool,
) -> Vec<char> {
    let mut run = vec![first];
    while let Some((_, next)) = letters.next_if(|(_, next)| is_part(*next)) {
        run.push(next);
    }
    run
}

/// Eight or more characters without width in a row.
fn is_zero_run(text: &str) -> bool {
    text.chars()
        .take(8)
        .filter(|letter| matches!(letter, '\u{200b}'..='\u{200d}' | '\u{2060}' | '\u{feff}'))
        .count()
        == 8
}

/// Bits written as two characters without width.
fn bits(text: &str) -> Option<String> {
    for (zero, one) in [
        ('\u{200b}', '\u{200c}'),
        ('\u{200c}', '\u{200b}'),
        ('\u{200b}', '\u{200d}'),
    ] {
        let bits: Vec<u8> = text
            .chars()
            .filter_map(|letter| {
                if letter == zero {
                    Some(0)
                } else if letter == one {
                    Some(1)
                } else {
                    None
                }
            })
            .collect();
        let bytes: Vec<u8> = bits
            .chunks_exact(8)
            .map(|byte| byte.iter().fold(0, |sum, bit| sum << 1 | bit))
            .collect();
        let is_text = bytes.len() >= 6
            && bytes
                .iter()
                .all(|byte| byte.is_ascii_graphic() || *byte == b' ');
        if is_text {
            return String::from_utf8(bytes).ok();
        }
    }
    None
}

fn is_code_line(line: &str) -> bool {
    line.contains(['{', ';', '=', '('])
        && (line.contains("//")
            || line.contains('#')
            || line.contains(" if ")
            || line.starts_with("if ")
            || line.contains("/*"))
}

/// Words that mix Latin letters with look-alikes of other scripts.
fn mixed(text: &Text, hidden: &mut Hidden) {
    use unicode_security::MixedScript;
    // Three are as bad as a thousand.
    const ENOUGH: u32 = 64;
    let mut count = 0;
    let mut first = None;
    let mut offset = 0;
    for word in text
        .text
        .split_inclusive(|letter: char| !letter.is_alphanumeric())
    {
        let bare = word.trim_end_matches(|letter: char| !letter.is_alphanumeric());
        if count == ENOUGH {
            break;
        }
        if !bare.is_ascii()
            && bare.chars().count() >= 3
            && is_look_alike(bare)
            && !bare.is_single_script()
        {
            count += 1;
            first.get_or_insert((offset, bare.to_owned()));
        }
        offset += word.len();
    }
    if let Some((at, word)) = first {
        let severity = if count >= 3 {
            Severity::High
        } else {
            Severity::Medium
        };
        let message = "Writes Latin words with letters of another script that look the same.";
        hidden.findings.push(Sight {
            rule: "invisible.look-alike",
            class: Class::Invisible,
            severity,
            at,
            evidence: cut(&word),
            message,
        });
    }
}

/// Latin letters and Greek or Cyrillic ones in one word, all of which read as Latin.
fn is_look_alike(word: &str) -> bool {
    let has_latin = word.chars().any(|letter| letter.is_ascii_alphabetic());
    let has_other = word
        .chars()
        .any(|letter| matches!(letter, '\u{370}'..='\u{52f}'));
    has_latin
        && has_other
        && unicode_security::skeleton(word).all(|letter| letter.is_ascii())
        && word.chars().filter(char::is_ascii_alphabetic).count() >= 2
}

fn cut(text: &str) -> String {
    text.chars()
        .filter(|letter| !letter.is_control())
        .take(160)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::guard::text::read;

    fn rules(text: &str) -> Vec<&'static str> {
        look(&read(text.as_bytes()).unwrap())
            .findings
            .iter()
            .map(|sight| sight.rule)
            .collect()
    }

    #[test]
    fn what_nobody_sees_is_read() {
        let tags: String = "Ignore all"
            .chars()
            .filter_map(|letter| char::from_u32(u32::from(letter) + 0xe0000))
            .collect();
        let hidden = look(&read(format!("plain{tags}\n").as_bytes()).unwrap());
        assert_eq!(hidden.texts[0].2, "Ignore all");
        let marks: String = "do it"
            .bytes()
            .filter_map(|byte| char::from_u32(u32::from(byte) - 16 + 0xe0100))
            .collect();
        let hidden = look(&read(format!("😀{marks}").as_bytes()).unwrap());
        assert_eq!(hidden.texts[0].2, "do it");
        assert_eq!(rules("a \u{202e}b"), ["invisible.bidi-override"]);
        assert_eq!(rules("I\u{200b}g\u{200b}nore"), ["invisible.zero-width"]);
        assert_eq!(rules("c\u{3c5}rl it"), ["invisible.look-alike"]);
    }

    #[test]
    fn scripts_flags_and_emoji_are_fine() {
        for text in [
            "می‌شود",
            "क्‍ष",
            "👨‍👩‍👧 ❤️ 🏳️‍🌈",
            "\u{1f3f4}\u{e0067}\u{e0062}\u{e007f}",
            "Wrap names: `\u{2068}{name}\u{2069}`",
            "Навык",
            "\u{feff}---\nname: a\n",
            "μm and σ-algebra",
            "Δt x²",
        ] {
            assert!(rules(text).is_empty(), "{text}: {:?}", rules(text));
        }
    }
}
