//! The user's crontab: looked into, and never changed.

use std::path::Path;
use std::process::Command;

use crate::cli::Context;
use crate::cli::output::clean;
use crate::manage::target_of;
use crate::references::{self, Text};
use crate::store::SkillFacts;

/// Tells of lines in the crontab that name a skill as it was.
pub(in crate::cli) fn warn(context: &Context, skills: &[SkillFacts]) {
    let text = read();
    for skill in skills {
        for (number, line) in lines(&text, skill) {
            context.out.warn(&format!(
                "Your crontab still names `{}`: line {number}: {} (`crontab -e` changes it)",
                skill.name,
                clean(&line)
            ));
        }
    }
}

/// The user's crontab; nothing where there is none, or none that can be read.
pub(in crate::cli) fn read() -> String {
    let output = Command::new("crontab").arg("-l").output();
    output.map_or_else(
        |_| String::new(),
        |output| String::from_utf8_lossy(&output.stdout).into_owned(),
    )
}

/// The lines that name a skill, with their numbers.
pub(in crate::cli) fn lines(text: &str, skill: &SkillFacts) -> Vec<(u32, String)> {
    let target = target_of(skill);
    let hits = references::find(text, Text::Prose, Path::new("/crontab"), &target);
    let mut numbers: Vec<u32> = hits.iter().map(|hit| hit.line).collect();
    numbers.dedup();
    numbers
        .into_iter()
        .filter_map(|number| {
            let line = text
                .lines()
                .nth(usize::try_from(number).ok()?.checked_sub(1)?)?;
            Some((number, line.to_owned()))
        })
        .collect()
}
