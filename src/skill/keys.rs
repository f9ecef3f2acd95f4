//! The top-level keys that clients read, as data. Spelling help for the others.

/// The keys of the specification.
const SPECIFIED: [&str; 6] = [
    "name",
    "description",
    "license",
    "compatibility",
    "metadata",
    "allowed-tools",
];

/// Keys beyond the specification, with the clients that read them.
const EXTENSIONS: [(&str, &str); 27] = [
    ("agent", "Claude Code"),
    ("argument-hint", "Claude Code, Copilot"),
    ("arguments", "Claude Code"),
    ("author", "Hermes"),
    ("background", "Claude Code"),
    ("command-arg-mode", "OpenClaw"),
    ("command-dispatch", "OpenClaw"),
    ("command-tool", "OpenClaw"),
    ("context", "Claude Code"),
    ("disable-model-invocation", "Claude Code, Copilot, OpenClaw"),
    ("effort", "Claude Code"),
    ("environments", "Hermes"),
    ("homepage", "OpenClaw"),
    ("hooks", "Claude Code"),
    ("model", "Claude Code"),
    ("paths", "Claude Code"),
    ("platforms", "Hermes"),
    ("prerequisites", "Hermes"),
    ("related_skills", "Hermes"),
    ("required_credential_files", "Hermes"),
    ("required_environment_variables", "Hermes"),
    ("setup", "Hermes"),
    ("shell", "Claude Code"),
    ("tags", "Hermes"),
    ("user-invocable", "Claude Code, Copilot, OpenClaw"),
    ("version", "Hermes"),
    ("when_to_use", "Claude Code"),
];

/// Keys below `metadata` that belong to a client, which may nest what it likes.
const OWNED_METADATA: [&str; 8] = [
    "hermes", "openclaw", "clawdbot", "clawdis", "codex", "claude", "copilot", "vercel",
];

/// Says whether the specification has the key.
pub(super) fn is_specified(key: &str) -> bool {
    SPECIFIED.contains(&key)
}

/// Returns the clients that read a key beyond the specification.
pub(super) fn clients(key: &str) -> Option<&'static str> {
    EXTENSIONS
        .iter()
        .find(|(known, _)| *known == key)
        .map(|(_, clients)| *clients)
}

/// Says whether any client reads the key.
pub(super) fn is_known(key: &str) -> bool {
    is_specified(key) || clients(key).is_some()
}

/// Says whether a client owns the key below `metadata`.
pub(super) fn is_owned_metadata(key: &str) -> bool {
    OWNED_METADATA.contains(&key)
}

/// Returns the known key that is spelt most like `key`, if one is close.
pub(super) fn nearest(key: &str) -> Option<&'static str> {
    const LONGEST: usize = 40;
    if key.chars().count() > LONGEST {
        return None;
    }
    let plain = |text: &str| text.to_lowercase().replace(['_', ' '], "-");
    let wanted: Vec<char> = plain(key).chars().collect();
    let extensions = EXTENSIONS.iter().map(|(known, _)| *known);
    let distances = SPECIFIED.into_iter().chain(extensions).map(|known| {
        let letters: Vec<char> = plain(known).chars().collect();
        (distance(&wanted, &letters), known)
    });
    let (distance, known) = distances.min_by_key(|(distance, _)| *distance)?;
    (distance <= wanted.len().min(known.len()) / 3).then_some(known)
}

/// Counts the letters to add, drop or change to turn `a` into `b`.
fn distance(a: &[char], b: &[char]) -> usize {
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (index, from) in a.iter().enumerate() {
        let mut diagonal = index;
        let mut left = index + 1;
        for (cell, to) in row.iter_mut().skip(1).zip(b) {
            let change = diagonal + usize::from(from != to);
            diagonal = *cell;
            left = change.min(*cell + 1).min(left + 1);
            *cell = left;
        }
        if let Some(first) = row.first_mut() {
            *first = index + 1;
        }
    }
    row.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn misspelt_keys_find_their_neighbour() {
        let pairs = [
            ("descripton", Some("description")),
            ("Allowed_Tools", Some("allowed-tools")),
            ("licence", Some("license")),
            ("zzz", None),
        ];
        assert!(pairs.iter().all(|(key, known)| nearest(key) == *known));
    }

    #[test]
    fn every_extension_is_outside_the_specification() {
        assert!(EXTENSIONS.iter().all(|(key, _)| !is_specified(key)));
    }
}
