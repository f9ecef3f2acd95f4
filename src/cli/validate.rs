//! `skilldb validate`.

use std::path::{Path, PathBuf};

use clap::ValueEnum;
use serde_json::{Value, json};

use super::Context;
use super::findings::Line;
use super::output::{clean, plural};
use crate::error::{Error, Result};
use crate::skill::{Code, Severity};
use crate::validate::{Judged, Judgement, Verdict, judge};

/// Judge skill files by the Agent Skills spec
///
/// Needs no database when a path is given; without one, all roots of the library are judged. Exits
/// with 1 when there are errors.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  skilldb validate .                      every skill below this folder
  skilldb validate skills/deploy/SKILL.md one file
  skilldb validate . --format github      annotations for a pull request
  skilldb validate . --lenient            what loading makes of them")]
pub(super) struct Args {
    /// Skill files, or folders of them
    #[arg(value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// How to print findings
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
    /// Say what loading makes of the files instead of what the spec says
    #[arg(long)]
    lenient: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// path:line:col severity code: message
    Text,
    /// One object
    Json,
    /// SARIF 2.1.0
    Sarif,
    /// Workflow commands of GitHub Actions
    Github,
}

pub(super) fn run(context: &mut Context, args: &Args) -> Result<()> {
    let verdict = if args.lenient {
        Verdict::Lenient
    } else {
        Verdict::Strict
    };
    let mut judgement = Judgement::default();
    let paths = paths(context, args)?;
    let mut failed: Vec<Error> = Vec::new();
    for path in &paths {
        // One bad path does not keep the others from being judged.
        failed.extend(judge(path, verdict, &mut judgement).err());
    }
    if paths.len() == 1
        && let Some(error) = failed.pop()
    {
        return Err(error);
    }
    for error in failed.iter().filter(|_| !context.out.json) {
        context
            .out
            .warn(&format!("error: {}", clean(&error.to_string())));
    }
    if judgement.files == 0 && failed.is_empty() {
        context
            .out
            .say("No SKILL.md file is here: nothing was judged.");
    }
    let format = if context.out.json {
        Format::Json
    } else {
        args.format
    };
    match format {
        Format::Text => text(context, &judgement)?,
        Format::Json => context.out.object(object(&judgement, &failed))?,
        Format::Sarif => {
            let log = sarif(&judgement);
            context
                .out
                .line(&serde_json::to_string_pretty(&log).unwrap_or_default())?;
        }
        Format::Github => judgement
            .findings
            .iter()
            .try_for_each(|finding| context.out.line(&github(finding)))?,
    }
    if judgement.count(Severity::Error) > 0 || !failed.is_empty() {
        Err(Error::ProblemsFound)
    } else {
        Ok(())
    }
}

fn paths(context: &Context, args: &Args) -> Result<Vec<PathBuf>> {
    if !args.paths.is_empty() {
        return Ok(args.paths.clone());
    }
    let store = context.read()?;
    Ok(store
        .roots()?
        .into_iter()
        .map(|root| root.path)
        .filter(|path| path.is_dir())
        .collect())
}

fn text(context: &mut Context, judgement: &Judgement) -> Result<()> {
    for finding in &judgement.findings {
        let words = line(finding).text(|style, words| context.out.paint(style, words));
        context.out.line(&words)?;
    }
    context.out.flush()?;
    context.out.say(&format!(
        "{}: {}, {}, {}.",
        plural(judgement.files, "file"),
        plural(judgement.count(Severity::Error), "error"),
        plural(judgement.count(Severity::Warning), "warning"),
        plural(judgement.count(Severity::Note), "note"),
    ));
    Ok(())
}

fn line(finding: &Judged) -> Line<'_> {
    Line {
        path: &finding.path,
        line: finding.line,
        column: finding.column,
        severity: finding.severity,
        code: finding.code,
        message: &finding.message,
        suggestion: finding.suggestion.as_deref(),
    }
}

fn object(judgement: &Judgement, failed: &[Error]) -> Value {
    json!({
        "valid": judgement.count(Severity::Error) == 0 && failed.is_empty(),
        "failed": failed.iter().map(|error| json!({"code": error.code(), "message": error.to_string()})).collect::<Vec<_>>(),
        "files": judgement.files,
        "findings": judgement.findings.iter().map(|finding| line(finding).object()).collect::<Vec<_>>(),
        "counts": {
            "error": judgement.count(Severity::Error),
            "warning": judgement.count(Severity::Warning),
            "note": judgement.count(Severity::Note),
        },
    })
}

/// The log format that code scanning services read: SARIF 2.1.0 (OASIS).
fn sarif(judgement: &Judgement) -> Value {
    let rules: Vec<Value> = Code::all()
        .iter()
        .map(|code| json!({"id": code.as_str(), "shortDescription": {"text": code.explain()}}))
        .collect();
    let results: Vec<Value> = judgement
        .findings
        .iter()
        .map(|finding| {
            let mut place = json!({"artifactLocation": {"uri": uri(&finding.path)}});
            if let (Some(line), Some(map)) = (finding.line, place.as_object_mut()) {
                map.insert(
                    "region".to_owned(),
                    json!({"startLine": line, "startColumn": finding.column.unwrap_or(1)}),
                );
            }
            json!({
                "ruleId": finding.code,
                "level": finding.severity.as_str(),
                "message": {"text": full_message(finding)},
                "locations": [{"physicalLocation": place}],
            })
        })
        .collect();
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {"name": "skilldb", "version": env!("CARGO_PKG_VERSION"), "rules": rules}},
            "columnKind": "unicodeCodePoints",
            "results": results,
        }],
    })
}

fn full_message(finding: &Judged) -> String {
    match &finding.suggestion {
        Some(suggestion) => format!("{}; paste: {suggestion}", finding.message),
        None => finding.message.clone(),
    }
}

/// A relative reference, or a `file:` URI for an absolute path, with what a URI cannot hold escaped.
fn uri(path: &Path) -> String {
    let mut text = if path.is_absolute() {
        "file://".to_owned()
    } else {
        String::new()
    };
    for byte in path.to_string_lossy().trim_start_matches("./").bytes() {
        if byte.is_ascii_alphanumeric() || b"/-._~".contains(&byte) {
            text.push(char::from(byte));
        } else {
            text.push('%');
            text.extend([byte >> 4, byte & 15].map(|nibble| {
                char::from_digit(u32::from(nibble), 16)
                    .unwrap_or('0')
                    .to_ascii_uppercase()
            }));
        }
    }
    text
}

fn github(finding: &Judged) -> String {
    let command = match finding.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Note => "notice",
    };
    let data = |text: &str| {
        text.replace('%', "%25")
            .replace('\r', "%0D")
            .replace('\n', "%0A")
    };
    let property = |text: &str| data(text).replace(':', "%3A").replace(',', "%2C");
    let mut place = format!("file={}", property(&finding.path.to_string_lossy()));
    if let (Some(line), Some(column)) = (finding.line, finding.column) {
        place = format!("{place},line={line},col={column}");
    }
    format!(
        "::{command} {place},title={}::{}",
        property(finding.code),
        data(&full_message(finding))
    )
}
