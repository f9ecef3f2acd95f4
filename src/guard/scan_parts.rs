//! Small parts of a scan: who weighs a host, what is quoted, what is one finding, how much is taken apart.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::ops::Range;

use super::finding::{Class, Finding, Severity};
use super::hidden;
use super::host::{self, Host};
use super::kinds::Role;
use super::markdown::Outline;
use super::structure::Trouble;
use super::threads::{self, Threads};
use super::view::{View, decode};

/// Most views of one file.
const MAX_VIEWS: usize = 48;

/// The names that belong together in the fences of a text.
pub(super) fn threads(text: &str, outline: &Outline) -> Threads {
    let mut threads = Threads::default();
    for fence in outline.fences() {
        let lower = text[fence.range.clone()].to_lowercase();
        let mut at = 0;
        for line in lower.split_inclusive('\n') {
            if line.contains('$') || line.contains('/') || line.contains('=') {
                threads.tie(&threads::names(&lower, &(at..at + line.trim_end().len())));
            }
            at += line.len();
        }
    }
    threads
}

/// Who stands at the other end decides how bad a fetch is.
pub(super) fn weigh_host(
    severity: Severity,
    host: Option<Host>,
    why: &mut Vec<&'static str>,
) -> Severity {
    let (by, reason) = match host {
        Some(Host::Local) => (-4, "the host is this machine or its network"),
        Some(Host::Installer) => (-4, "it is the program's own published installer"),
        Some(Host::Registry) => (-3, "the host is a public registry"),
        Some(Host::Service) => (-2, "the host is a known service"),
        Some(Host::Code) => (-1, "the host is a known place for code"),
        Some(Host::Related) => (
            -1,
            "the host belongs, by its name, to what the skill is about",
        ),
        Some(Host::Example) => (-1, "the host is a name kept for examples"),
        None => (-1, "no host is named"),
        Some(Host::Unknown | Host::Throwaway | Host::Address) => return severity,
    };
    why.push(reason);
    severity.step(by)
}

pub(super) fn on_boundaries(text: &str, range: Range<usize>) -> Range<usize> {
    let mut start = range.start.min(text.len());
    let mut end = range.end.min(text.len()).max(start);
    while !text.is_char_boundary(start) {
        start -= 1;
    }
    while !text.is_char_boundary(end) {
        end += 1;
    }
    start..end
}

/// The words of a match, on one line, cut to 160 characters.
pub(super) fn excerpt(text: &str, range: &Range<usize>) -> String {
    cut(text.get(on_boundaries(text, range.clone())).unwrap_or(""))
}

pub(super) fn cut(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    let line = words.join(" ");
    match line.char_indices().nth(160) {
        Some((at, _)) => format!("{}…", &line[..at]),
        None => line,
    }
}

/// One finding for each rule, file and line: the plainest form of the worst.
pub(super) fn unique(findings: Vec<Finding>) -> Vec<Finding> {
    let mut best: HashMap<(String, String, Option<u32>), Finding> = HashMap::new();
    for finding in findings {
        let key = (finding.rule.to_string(), finding.path.clone(), finding.line);
        let is_better = best.get(&key).is_none_or(|known| {
            (finding.severity, std::cmp::Reverse(finding.seen.len()))
                > (known.severity, std::cmp::Reverse(known.seen.len()))
        });
        if is_better {
            best.insert(key, finding);
        }
    }
    let mut findings: Vec<Finding> = best.into_values().collect();
    findings.sort_by(|one, other| {
        other.severity.cmp(&one.severity).then_with(|| {
            (&one.path, one.line, &one.rule).cmp(&(&other.path, other.line, &other.rule))
        })
    });
    findings
}

/// Words of the program, as a finding has them.
pub(super) fn words(words: &[&'static str]) -> Vec<Cow<'static, str>> {
    words.iter().map(|word| Cow::Borrowed(*word)).collect()
}

/// How much more of a file is taken apart.
pub(super) struct Budget {
    pub(super) bytes: usize,
    pub(super) views: usize,
    pub(super) known: HashSet<String>,
    /// More is encoded than is decoded.
    pub(super) is_cut: bool,
    /// Something is encoded more often than is decoded.
    pub(super) is_deep: bool,
}

impl Budget {
    pub(super) fn new() -> Self {
        Self {
            bytes: decode::MAX_BYTES,
            views: MAX_VIEWS,
            known: HashSet::new(),
            is_cut: false,
            is_deep: false,
        }
    }
}

pub(super) fn sight(
    rule: &'static str,
    class: Class,
    severity: Severity,
    at: usize,
    evidence: String,
    message: &'static str,
) -> hidden::Sight {
    hidden::Sight {
        rule,
        class,
        severity,
        at,
        evidence,
        message,
    }
}

pub(super) fn is_markdown(path: &str, role: Role) -> bool {
    let lower = path.to_ascii_lowercase();
    role == Role::Skill
        || [".md", ".mdx", ".mdc", ".txt", ".rst"]
            .iter()
            .any(|end| lower.ends_with(end))
}

/// The worst host of the words a match is about, or of the rest of its line.
pub(super) fn worst_host(view: &View, range: &Range<usize>, topic: &[String]) -> Option<Host> {
    let worst = |found: Vec<host::Found>| found.into_iter().map(|found| found.kind).max();
    let text = view.lower.as_str();
    let inside = text.get(on_boundaries(text, range.clone())).unwrap_or("");
    if let Some(host) = worst(host::hosts(inside, topic)) {
        return Some(host);
    }
    let bytes = text.as_bytes();
    let behind = &bytes[range.end.min(bytes.len())..];
    let end = behind.iter().take(400).position(|byte| *byte == b'\n');
    let end = range.end + end.unwrap_or(behind.len().min(400));
    let before = &bytes[..range.start.min(bytes.len())];
    let start = before
        .iter()
        .rev()
        .take(400)
        .position(|byte| *byte == b'\n');
    let start = range.start - start.unwrap_or(before.len().min(400));
    let line = text.get(on_boundaries(text, start..end)).unwrap_or("");
    worst(host::hosts(line, topic)).or_else(|| worst(host::bare_hosts(line, topic)))
}

/// A finding about a file as a whole.
pub(super) fn whole(
    trouble: &'static Trouble,
    severity: Severity,
    path: String,
    evidence: String,
) -> Finding {
    Finding {
        rule: Cow::Borrowed(trouble.rule),
        class: trouble.class,
        severity,
        stated: severity,
        path,
        line: None,
        evidence,
        seen: Vec::new(),
        context: Vec::new(),
        message: Cow::Borrowed(trouble.message),
        fix: Cow::Borrowed(trouble.fix),
        is_joined: false,
        fingerprint: String::new(),
        full: String::new(),
        accepted: None,
    }
}

/// Parts of office documents that hold their text.
pub(super) fn is_packed_xml(path: &str) -> bool {
    path.contains("!/")
        && [".xml", ".xhtml", ".html", ".rels"]
            .iter()
            .any(|end| path.ends_with(end))
}

/// Languages whose comments start with two slashes.
pub(super) fn has_slash_comments(path: &str) -> bool {
    let end = path.rsplit('.').next().unwrap_or("").to_ascii_lowercase();
    matches!(
        end.as_str(),
        "js" | "mjs"
            | "cjs"
            | "jsx"
            | "ts"
            | "tsx"
            | "mts"
            | "go"
            | "rs"
            | "java"
            | "c"
            | "cc"
            | "cpp"
            | "h"
            | "cs"
            | "swift"
            | "kt"
            | "scala"
            | "dart"
            | "php"
            | "groovy"
    )
}
