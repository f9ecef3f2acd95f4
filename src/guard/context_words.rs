//! The words that tell talk from a deed.

use std::sync::OnceLock;

use aho_corasick::AhoCorasick;

/// Words that are looked for all at once.
pub(super) struct Words {
    words: &'static [&'static str],
    ready: OnceLock<Option<AhoCorasick>>,
}

impl Words {
    const fn new(words: &'static [&'static str]) -> Self {
        Self {
            words,
            ready: OnceLock::new(),
        }
    }

    pub(super) fn is_in(&self, text: &str) -> bool {
        let ready = self.ready.get_or_init(|| AhoCorasick::new(self.words).ok());
        ready.as_ref().map_or_else(
            || self.words.iter().any(|word| text.contains(word)),
            |words| words.is_match(text),
        )
    }
}

/// What a sentence says that forbids what comes next.
pub(super) static NEGATIONS: Words = Words::new(&[
    "never ",
    "do not ",
    "don't ",
    "dont ",
    "must not ",
    "should not ",
    "shouldn't ",
    "avoid ",
    "refuse",
    "reject",
    "block ",
    "forbid",
    "prohibit",
    "cannot ",
    "can't ",
    "instead of ",
    "rather than ",
    "warn ",
    "not allowed",
    "disallow",
    "prevent",
    "without running",
    "is dangerous",
    "unsafe",
    "insecure",
    "harmful",
    "nie ",
    "niemals",
]);

/// What a sentence says that talks about what comes next.
pub(super) static TALK: Words = Words::new(&[
    "look for",
    "looks for",
    "looking for",
    "detect",
    "flag ",
    "flags ",
    "scan for",
    "scans for",
    "search for",
    "check for",
    "checks for",
    "watch for",
    "red flag",
    "such as",
    "for example",
    "e.g.",
    "example of",
    "examples of",
    "attack",
    "malicious",
    "injection",
    "vulnerab",
    "exploit",
    "indicator",
    "suspicious",
    "pattern",
    "phrases like",
    "text like",
    "says \"",
    "something like",
    "could say",
    "might say",
    "adversar",
    "jailbreak",
    "payload",
    "threat",
    "signature",
    "untrusted",
    "says to",
    "becomes",
    "looks like",
    "anti-pattern",
    "antipattern",
    "wrong",
    "bad:",
    "bad ",
    "❌",
    "🚫",
    "⛔",
    "✗",
    "don't:",
    "risk",
]);

/// What headings say over what is not to be done.
pub(super) const SECTIONS: &[&str] = &[
    "never",
    "do not",
    "don't",
    "avoid",
    "anti-pattern",
    "antipattern",
    "bad",
    "wrong",
    "unsafe",
    "insecure",
    "attack",
    "threat",
    "vulnerab",
    "exploit",
    "injection",
    "red flag",
    "what to look",
    "detect",
    "indicator",
    "warning sign",
    "malicious",
    "danger",
    "security",
    "mistake",
    "pitfall",
    "risk",
    "forbidden",
    "prohibited",
    "blocked",
    "deny",
    "test case",
    "example of",
    "rules we",
    "audit",
    "checklist",
    "incident",
    "rationalization",
];

/// Headings under which even a command that could be run is an example of what not to do.
pub(super) const BAD_SECTIONS: &[&str] = &[
    "never",
    "do not",
    "don't",
    "avoid",
    "anti-pattern",
    "antipattern",
    "bad",
    "wrong",
    "unsafe",
    "insecure",
    "attack",
    "vulnerab",
    "exploit",
    "malicious",
    "danger",
    "forbidden",
    "mistake",
    "pitfall",
];

/// A quote behind one of these is what is to be written, not what is talked about.
pub(super) const PLANTS: &[&str] = &[
    "append", "add ", "write", "create", "insert", "put ", "print", "output", "respond", "answer",
    "reply", "with:", "save ",
];

/// Words that tell to do what comes next.
pub(super) const ORDERS: &[&str] = &[
    "run",
    "runs",
    "running",
    "execute",
    "executes",
    "executing",
    "use",
    "using",
    "set",
    "setting",
    "type",
    "enter",
    "call",
    "invoke",
    "start",
    "issue",
    "add",
    "append",
    "paste",
    "then",
    "via",
    "with",
    "do",
    "launch",
    "apply",
    "put",
    "install",
];
