//! What a skill is about, and which of its files it speaks of.

use super::bundle::{Bundle, Content};
use super::text;

/// What a skill is about, by its own words.
pub(super) struct Topic {
    pub(super) words: Vec<String>,
    pub(super) is_security: bool,
    /// SKILL.md in lower case.
    main: String,
}

impl Topic {
    pub(super) fn of(bundle: &Bundle) -> Self {
        let main = bundle
            .entries
            .iter()
            .find(|entry| entry.path.eq_ignore_ascii_case("skill.md"));
        let main = match main.map(|entry| &entry.content) {
            Some(Content::Bytes(bytes)) => {
                text::read(bytes).map_or_else(String::new, |text| text.text.to_lowercase())
            }
            _ => String::new(),
        };
        let head: String = main
            .lines()
            .take_while(|line| !line.starts_with("# "))
            .take(12)
            .collect::<Vec<_>>()
            .join(" ");
        let name = main
            .lines()
            .find_map(|line| line.strip_prefix("name:"))
            .map_or(bundle.name.as_str(), str::trim)
            .to_lowercase();
        let words = name
            .split(|letter: char| !letter.is_alphanumeric())
            .filter(|word| word.len() >= 4)
            .map(str::to_owned)
            .collect();
        let is_security = [
            "security",
            "injection",
            "vulnerab",
            "pentest",
            "penetration",
            "red team",
            "red-team",
            "malware",
            "threat",
            "forensic",
            "hardening",
            "exploit",
            "phishing",
            "safe skills",
        ]
        .iter()
        .any(|word| head.contains(word))
            && [
                "review",
                "detect",
                "defen",
                "prevent",
                "analy",
                "scan",
                "find",
                "explain",
                "teach",
                "test",
                "assess",
                "protect",
                "audit",
                "respon",
                "investigat",
                "check",
            ]
            .iter()
            .any(|word| head.contains(word));
        Self {
            words,
            is_security,
            main,
        }
    }

    /// Whether SKILL.md speaks of a file.
    pub(super) fn names(&self, path: &str) -> bool {
        let path = path.to_lowercase();
        let name = path.rsplit('/').next().unwrap_or(&path);
        name.len() > 3 && self.main.contains(name)
    }
}
