//! Looks at what is about to become part of a skill, as it lies on disk. Says what it found and how bad it is;
//! what follows from that is decided by `manage`.

use std::io;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::library::files::{MAX_SKILL_BYTES, read_into};

/// A file that was written aside and waits to be put in place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Staged {
    /// Path relative to the skill.
    pub path: String,
    /// Where its bytes lie now.
    pub on_disk: PathBuf,
    /// The folder of the skill, for links that lead out of it.
    pub folder: PathBuf,
}

/// How bad something is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Worth a look.
    Caution,
    /// Nobody wants this in a text that a model obeys.
    Dangerous,
}

/// Something that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// Path relative to the skill.
    pub path: String,
    /// From 1; `None` where it is about the whole file.
    pub line: Option<u32>,
    /// A stable word for what it is.
    pub rule: &'static str,
    /// How bad it is.
    pub level: Level,
    /// One sentence.
    pub message: String,
}

/// Looks at the staged files.
///
/// # Errors
/// [`Error::Io`] when one of them cannot be read: what was not looked at is not let through.
pub fn inspect(staged: &[Staged]) -> Result<Vec<Finding>> {
    let mut findings = Vec::new();
    let mut buffer = Vec::new();
    for file in staged {
        let metadata = std::fs::symlink_metadata(&file.on_disk)
            .map_err(Error::io("look at", &file.on_disk))?;
        if metadata.is_symlink() {
            findings.extend(link(file)?);
            continue;
        }
        match read_into(&file.on_disk, MAX_SKILL_BYTES, &mut buffer) {
            Ok(()) => invisible(&file.path, &buffer, &mut findings),
            // No text that a model could be shown.
            Err(error) if error.kind() == io::ErrorKind::FileTooLarge => {}
            Err(error) => return Err(Error::io("look at", &file.on_disk)(error)),
        }
    }
    Ok(findings)
}

/// A link that leads out of the skill would show, or run, whatever stands there.
fn link(file: &Staged) -> Result<Option<Finding>> {
    let target = std::fs::read_link(&file.on_disk).map_err(Error::io("look at", &file.on_disk))?;
    let parent = Path::new(&file.path).parent().unwrap_or(Path::new(""));
    let mut depth = 0_usize;
    let mut leaves = target.is_absolute();
    for part in parent.join(&target).components() {
        match part {
            std::path::Component::Normal(_) => depth += 1,
            std::path::Component::ParentDir => match depth.checked_sub(1) {
                Some(less) => depth = less,
                None => leaves = true,
            },
            _ => {}
        }
    }
    Ok(leaves.then(|| Finding {
        path: file.path.clone(),
        line: None,
        rule: "link-leaves-skill",
        level: Level::Dangerous,
        message: format!("the link leads out of the skill, to {}", target.display()),
    }))
}

/// Characters that show nothing, or turn the direction of writing: text a model reads and a person does not see.
fn invisible(path: &str, bytes: &[u8], findings: &mut Vec<Finding>) {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    if text.is_ascii() {
        return;
    }
    for (index, line) in text.lines().enumerate() {
        let number = u32::try_from(index + 1).unwrap_or(u32::MAX);
        let mut is_flag = false;
        for (at, character) in line.char_indices() {
            let found = match character {
                '\u{e0000}'..='\u{e007f}' if !is_flag => Some((
                    "invisible-tag",
                    Level::Dangerous,
                    "tag characters, which no person sees",
                )),
                '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => Some((
                    "bidi-control",
                    Level::Dangerous,
                    "characters that turn the direction of writing",
                )),
                '\u{200b}' | '\u{2060}' | '\u{180e}' => {
                    Some(("zero-width", Level::Caution, "characters without width"))
                }
                '\u{feff}' if number > 1 || at > 0 => {
                    Some(("zero-width", Level::Caution, "characters without width"))
                }
                _ => None,
            };
            // Flags of regions are a black flag followed by tags.
            is_flag = character == '\u{1f3f4}'
                || (is_flag && ('\u{e0020}'..='\u{e007f}').contains(&character));
            if let Some((rule, level, what)) = found {
                findings.push(Finding {
                    path: path.to_owned(),
                    line: Some(number),
                    rule,
                    level,
                    message: format!("the line holds {what} (U+{:04X})", u32::from(character)),
                });
                break;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(text: &str) -> Vec<&'static str> {
        let mut findings = Vec::new();
        invisible("SKILL.md", text.as_bytes(), &mut findings);
        findings.iter().map(|finding| finding.rule).collect()
    }

    #[test]
    fn what_nobody_sees_is_found() {
        assert_eq!(rules("plain\nsay \u{e0041}\u{e0042}\n"), ["invisible-tag"]);
        assert_eq!(rules("a\u{202e}b"), ["bidi-control"]);
        assert_eq!(rules("a\u{200b}b"), ["zero-width"]);
    }

    #[test]
    fn flags_and_joined_emoji_are_fine() {
        assert!(rules("\u{1f3f4}\u{e0067}\u{e0062}\u{e007f} 👩\u{200d}👩").is_empty());
        assert!(rules("\u{feff}---\nname: a\n").is_empty());
    }

    #[test]
    fn only_links_that_leave_are_findings() {
        let dir = tempfile::tempdir().unwrap();
        let leaves = |path: &str, target: &str| {
            let on_disk = dir.path().join(path.replace('/', "-"));
            std::os::unix::fs::symlink(target, &on_disk).unwrap();
            link(&Staged {
                path: path.to_owned(),
                on_disk,
                folder: dir.path().to_path_buf(),
            })
            .unwrap()
            .is_some()
        };
        assert!(!leaves("references/a.md", "../b.md"));
        assert!(leaves("references/c.md", "../../b.md"));
        assert!(leaves("d.md", "/etc/passwd"));
    }
}
