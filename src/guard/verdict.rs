//! From findings to a verdict.

use std::collections::HashSet;

use super::finding::{Class, Finding, Severity, Verdict};

/// Dangerous: one critical finding, or two high ones of different kinds. Caution: one high one, or three medium ones of
/// two kinds. Safe otherwise.
#[must_use]
pub fn verdict(findings: &[Finding]) -> Verdict {
    let of = |severity: Severity| {
        findings
            .iter()
            .filter(move |finding| finding.severity == severity && finding.accepted.is_none())
    };
    let kinds = |severity: Severity| {
        of(severity)
            .map(|finding| finding.class)
            .collect::<HashSet<Class>>()
            .len()
    };
    // Three times the same words are one thing said three times.
    let mediums = of(Severity::Medium)
        .map(|finding| &finding.rule)
        .collect::<HashSet<_>>()
        .len();
    if of(Severity::Critical).next().is_some() || kinds(Severity::High) >= 2 {
        Verdict::Dangerous
    } else if of(Severity::High).next().is_some() || (mediums >= 3 && kinds(Severity::Medium) >= 2)
    {
        Verdict::Caution
    } else {
        Verdict::Safe
    }
}
