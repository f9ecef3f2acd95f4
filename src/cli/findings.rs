//! Prints findings about files: `path:line:col severity code: message`.

use std::path::Path;

use serde_json::{Value, json};

use super::output::{Output, Style, clean};
use crate::skill::Severity;

/// One finding, ready to be printed in any form.
#[derive(Debug, Clone)]
pub(super) struct Line<'a> {
    pub(super) path: &'a Path,
    pub(super) line: Option<u32>,
    pub(super) column: Option<u32>,
    pub(super) severity: Severity,
    pub(super) code: &'a str,
    pub(super) message: &'a str,
    pub(super) suggestion: Option<&'a str>,
}

impl Line<'_> {
    /// Returns the lines for people; `paint` colours words for the stream they go to.
    pub(super) fn text(&self, paint: impl Fn(Style, &str) -> String) -> String {
        let path = self.path.to_string_lossy();
        let path = clean(&path);
        let place = match (self.line, self.column) {
            (Some(line), Some(column)) => format!("{path}:{line}:{column}"),
            (Some(line), None) => format!("{path}:{line}"),
            (None, _) => path.into_owned(),
        };
        let severity = paint(Style::of(self.severity), self.severity.as_str());
        let mut text = format!("{place} {severity} {}: {}", self.code, clean(self.message));
        if let Some(suggestion) = self.suggestion {
            text.push_str("\n  paste: ");
            text.push_str(&clean(suggestion));
        }
        text
    }

    /// Returns the object for `--json`.
    pub(super) fn object(&self) -> Value {
        json!({
            "path": self.path.to_string_lossy(),
            "line": self.line,
            "column": self.column,
            "severity": self.severity.as_str(),
            "code": self.code,
            "message": self.message,
            "suggestion": self.suggestion,
        })
    }
}

/// Says one finding on stderr.
pub(super) fn say(out: &Output, line: &Line<'_>) {
    let words = line.text(|style, words| out.paint_err(style, words));
    match line.severity {
        Severity::Error => out.warn(&words),
        Severity::Warning | Severity::Note => out.say(&words),
    }
}
