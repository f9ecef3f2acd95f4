//! The reader as a whole, from bytes to findings.

mod properties;
mod reading;
mod repairing;

use super::{ParseStatus, SkillText, read};

fn skill(header: &str) -> SkillText {
    read(format!("---\n{header}---\n\n# Body\n").as_bytes(), "demo")
}

fn description(text: &str) -> SkillText {
    skill(&format!("name: demo\ndescription: {text}\n"))
}

fn codes(skill: &SkillText) -> Vec<&'static str> {
    skill
        .findings
        .iter()
        .map(|finding| finding.code.as_str())
        .collect()
}

/// Codes that matter when a skill is loaded, with their lines.
fn lenient(skill: &SkillText) -> Vec<(&'static str, u32)> {
    let loaded = skill
        .findings
        .iter()
        .filter(|finding| finding.code.lenient().is_some());
    loaded
        .map(|finding| (finding.code.as_str(), finding.line))
        .collect()
}
