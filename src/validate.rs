//! Judges skill files without a database: what loading them makes of each, and what the spec does.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::library::files::{MAX_SKILL_BYTES, read_into};
use crate::library::walk::{Request, Step, walk};
use crate::library::{Unit, WalkCode, WalkFinding};
use crate::skill::{self, Severity};

/// Which verdict to give.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// What loading makes of a finding.
    Lenient,
    /// What the Agent Skills spec makes of it.
    Strict,
}

/// A finding with its verdict.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Judged {
    /// The file, as reachable from the path that was asked about.
    pub path: PathBuf,
    /// From 1; `None` when it is about the file as a whole.
    pub line: Option<u32>,
    /// In characters, from 1.
    pub column: Option<u32>,
    /// How bad it is by the verdict asked for.
    pub severity: Severity,
    /// Stable word.
    pub code: &'static str,
    /// One sentence.
    pub message: String,
    /// Text to paste.
    pub suggestion: Option<String>,
}

/// What a validation found.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Judgement {
    /// Skill files that were judged.
    pub files: u64,
    /// Findings, file by file.
    pub findings: Vec<Judged>,
}

impl Judgement {
    /// Returns how many findings are this bad.
    #[must_use]
    pub fn count(&self, severity: Severity) -> u64 {
        self.findings
            .iter()
            .filter(|finding| finding.severity == severity)
            .count() as u64
    }
}

/// Judges one skill file, or every skill below a folder.
///
/// # Errors
/// [`Error::NoFolder`] when nothing is at `path`, [`Error::Io`] when it cannot be read.
pub fn judge(path: &Path, verdict: Verdict, judgement: &mut Judgement) -> Result<()> {
    let metadata = fs::metadata(path).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => Error::NoFolder {
            path: path.to_path_buf(),
        },
        _ => Error::io("read", path)(error),
    })?;
    let real = path.canonicalize().map_err(Error::io("read", path))?;
    if !metadata.is_dir() {
        let folder = real.parent().unwrap_or(Path::new("/"));
        judge_file(&real, path, folder, verdict, judgement);
        return Ok(());
    }
    let shown = |below: &Path| path.join(below.strip_prefix(&real).unwrap_or(below));
    walk(&Request::whole(&real), &mut |step| {
        match step {
            Step::Unit(unit, _) => judge_unit(&real, &unit, &shown, verdict, judgement),
            Step::Finding(finding) | Step::Unknown(finding) => judgement
                .findings
                .push(judged_walk(&finding, shown(&finding.path))),
        }
        Ok(())
    })?;
    Ok(())
}

fn judge_unit(
    root: &Path,
    unit: &Unit,
    shown: &dyn Fn(&Path) -> PathBuf,
    verdict: Verdict,
    judgement: &mut Judgement,
) {
    let Some(entry) = unit.skill_entry().filter(|_| !unit.archived) else {
        return;
    };
    let folder = if unit.rel_path == "." {
        root.to_path_buf()
    } else {
        root.join(&unit.rel_path)
    };
    let file = folder.join(&entry.name);
    judge_file(&file, &shown(&file), &folder, verdict, judgement);
}

fn judge_file(
    file: &Path,
    shown: &Path,
    folder: &Path,
    verdict: Verdict,
    judgement: &mut Judgement,
) {
    judgement.files += 1;
    let mut bytes = Vec::new();
    if let Err(error) = read_into(file, MAX_SKILL_BYTES, &mut bytes) {
        let code = if error.kind() == io::ErrorKind::FileTooLarge {
            WalkCode::FileTooLarge
        } else {
            WalkCode::FileUnreadable
        };
        let message = format!("the file cannot be read: {error}");
        let finding = WalkFinding {
            unit: String::new(),
            path: file.to_path_buf(),
            code,
            message,
        };
        judgement
            .findings
            .push(judged_walk(&finding, shown.to_path_buf()));
        return;
    }
    let name = folder
        .file_name()
        .map(|name| name.to_string_lossy())
        .unwrap_or_default();
    for finding in skill::read(&bytes, &name).findings {
        let severity = match verdict {
            Verdict::Strict => Some(finding.code.strict()),
            Verdict::Lenient => finding.code.lenient(),
        };
        let Some(severity) = severity else { continue };
        judgement.findings.push(Judged {
            path: shown.to_path_buf(),
            line: Some(finding.line),
            column: Some(finding.column),
            severity,
            code: finding.code.as_str(),
            message: finding.message,
            suggestion: finding.suggestion,
        });
    }
}

fn judged_walk(finding: &WalkFinding, shown: PathBuf) -> Judged {
    Judged {
        path: shown,
        line: None,
        column: None,
        severity: finding.code.severity(),
        code: finding.code.as_str(),
        message: finding.message.clone(),
        suggestion: None,
    }
}
