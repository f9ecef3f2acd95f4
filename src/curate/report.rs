//! What is told of a run afterwards: as data, and as a page to read.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::plan::{Decision, Outcome, Plan};
use crate::error::{Error, Result};

/// What was decided about one skill, as it is kept and printed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Line {
    /// What people call it.
    pub name: String,
    /// Its row.
    pub id: i64,
    /// Its folder at that time.
    pub path: String,
    /// The state it was in.
    pub state: String,
    /// archive, ask, stale, reactivate, keep.
    pub outcome: String,
    /// Why.
    pub reason: String,
    /// What its idle time counted from: when.
    pub anchor_at: Option<String>,
    /// The same: what it was.
    pub anchor: String,
    /// Whole days since then.
    pub idle_days: Option<i64>,
    /// What protects it: stable words.
    pub protected_by: Vec<String>,
    /// What is odd about it.
    pub notices: Vec<String>,
}

impl From<&Decision> for Line {
    fn from(decision: &Decision) -> Self {
        Self {
            name: decision.name.clone(),
            id: decision.skill,
            path: decision.path.to_string_lossy().into_owned(),
            state: decision.state.as_str().to_owned(),
            outcome: decision.outcome.as_str().to_owned(),
            reason: decision.reason.clone(),
            anchor_at: decision.anchor.at.map(|at| at.to_string()),
            anchor: decision.anchor.kind.to_owned(),
            idle_days: decision.idle_days,
            protected_by: decision
                .shields
                .iter()
                .map(|shield| shield.code().to_owned())
                .collect(),
            notices: decision.notices.clone(),
        }
    }
}

/// A record without a folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OrphanLine {
    /// What people called it.
    pub name: String,
    /// Its row.
    pub id: i64,
    /// Where it lay.
    pub path: String,
    /// Since when that is known.
    pub missing_since: String,
}

/// What a run did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Report {
    /// Its number.
    pub run: i64,
    /// When it began.
    pub started_at: String,
    /// Who started it.
    pub started_by: String,
    /// Gates that were closed and overridden.
    pub forced: Vec<String>,
    /// All of it in one line.
    pub summary: String,
    /// The change it made; `None` where nothing was due.
    pub change: Option<i64>,
    /// The snapshot of what it touched.
    pub snapshot: Option<i64>,
    /// The proposals it made.
    pub proposals: Vec<i64>,
    /// How all of it is taken back.
    pub undo: Option<String>,
    /// What became of each skill that was due.
    pub skills: Vec<Line>,
    /// What was kept. Not in the database: there only how many, and why.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kept: Vec<Line>,
    /// How many were kept, by what protects them; the rest is in use.
    pub kept_by: BTreeMap<String, u64>,
    /// Records without a folder.
    pub orphans: Vec<OrphanLine>,
    /// What else is to be said.
    pub notices: Vec<String>,
}

/// How many are kept, by what protects them.
fn kept_by(plan: &Plan) -> BTreeMap<String, u64> {
    let mut counts = BTreeMap::new();
    for decision in plan
        .decisions
        .iter()
        .filter(|decision| decision.outcome == Outcome::Keep)
    {
        let word = decision
            .shields
            .first()
            .map_or("in use", |shield| shield.code());
        *counts.entry(word.to_owned()).or_default() += 1;
    }
    counts
}

impl Report {
    /// Makes the report of a run out of its plan.
    #[must_use]
    pub fn new(run: i64, plan: &Plan, started_by: &str, forced: &[&str]) -> Self {
        Self {
            run,
            started_at: plan.now.to_string(),
            started_by: started_by.to_owned(),
            forced: forced.iter().map(|&gate| gate.to_owned()).collect(),
            summary: plan.summary(),
            change: None,
            snapshot: None,
            proposals: Vec::new(),
            undo: None,
            skills: plan.due().map(Line::from).collect(),
            kept: Vec::new(),
            kept_by: kept_by(plan),
            orphans: orphans(plan),
            notices: plan.notices.clone(),
        }
    }

    /// The same with everything that was kept, by name.
    #[must_use]
    pub fn with_kept(mut self, plan: &Plan) -> Self {
        let kept = plan
            .decisions
            .iter()
            .filter(|decision| decision.outcome == Outcome::Keep);
        self.kept = kept.map(Line::from).collect();
        self
    }

    /// Writes both forms; returns their path without the ending.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn write(&self, home: &Path) -> Result<PathBuf> {
        let folder = home.join("reports");
        std::fs::create_dir_all(&folder).map_err(Error::io("create the folder", &folder))?;
        let stamp: String = self
            .started_at
            .chars()
            .filter(char::is_ascii_digit)
            .take(14)
            .collect();
        let path = folder.join(format!("curator-{stamp}-run{}", self.run));
        let whole = |ending: &str| PathBuf::from(format!("{}.{ending}", path.display()));
        let json = serde_json::to_string_pretty(&as_json(self)).unwrap_or_default();
        for (ending, text) in [("json", format!("{json}\n")), ("md", as_markdown(self))] {
            let place = whole(ending);
            // Whoever reads it reads all of it.
            let put = || {
                let mut file = tempfile::NamedTempFile::new_in(&folder)?;
                file.write_all(text.as_bytes())?;
                file.persist(&place).map_err(|error| error.error)
            };
            put().map_err(Error::io("write", &place))?;
        }
        Ok(path)
    }
}

pub(super) fn orphans(plan: &Plan) -> Vec<OrphanLine> {
    let line = |orphan: &crate::store::Orphan| OrphanLine {
        name: orphan.name.clone(),
        id: orphan.id,
        path: orphan.path.clone(),
        missing_since: orphan.missing_since.clone(),
    };
    plan.orphans.iter().map(line).collect()
}

/// The report as data.
#[must_use]
pub fn as_json(report: &Report) -> Value {
    let mut value = serde_json::to_value(report).unwrap_or_default();
    if let Some(map) = value.as_object_mut() {
        map.shift_insert(0, "schema_version".to_owned(), Value::from(1));
    }
    value
}

/// The report as a page.
#[must_use]
pub fn as_markdown(report: &Report) -> String {
    let mut page = format!("# Curator run {}\n\n", report.run);
    let mut say = |words: String| {
        let _ = writeln!(page, "{words}");
    };
    say(format!(
        "* When: {}, started by {}",
        report.started_at, report.started_by
    ));
    say(format!("* What: {}", report.summary));
    if !report.forced.is_empty() {
        say(format!(
            "* Closed gates overridden: {}",
            report.forced.join(", ")
        ));
    }
    match (report.change, &report.undo) {
        (Some(change), Some(undo)) => say(format!("* Change {change}; `{undo}` takes it back")),
        _ => say("* No skill was changed".to_owned()),
    }
    if let Some(snapshot) = report.snapshot {
        say(format!(
            "* Snapshot {snapshot} holds every file of the skills it touched"
        ));
    }
    for proposal in &report.proposals {
        say(format!(
            "* Proposal {proposal} waits for a person: `skilldb proposals show {proposal}`"
        ));
    }
    for notice in &report.notices {
        say(format!("* Note: {notice}"));
    }
    for (outcome, title) in [
        (Outcome::Archive, "Archived"),
        (Outcome::Ask, "Asked about"),
        (Outcome::MarkStale, "Marked stale"),
        (Outcome::Reactivate, "Active again"),
    ] {
        let lines = report
            .skills
            .iter()
            .filter(|line| line.outcome == outcome.as_str());
        page.push_str(&section(title, lines));
    }
    page.push_str(&section("Kept", report.kept.iter()));
    if report.kept.is_empty() && !report.kept_by.is_empty() {
        page.push_str("\n## Kept\n\n");
        for (word, count) in &report.kept_by {
            let _ = writeln!(page, "* {word}: {count}");
        }
    }
    if !report.orphans.is_empty() {
        page.push_str("\n## Records without a folder\n\n");
        for orphan in &report.orphans {
            let _ = writeln!(
                page,
                "* `{}`: {} (since {})",
                orphan.name, orphan.path, orphan.missing_since
            );
        }
    }
    page
}

fn section<'a>(title: &str, lines: impl Iterator<Item = &'a Line>) -> String {
    let mut section = String::new();
    for line in lines {
        if section.is_empty() {
            let _ = write!(
                section,
                "\n## {title}\n\n| skill | why | idle days | since | id |\n|---|---|---|---|---|\n"
            );
        }
        let idle = line
            .idle_days
            .map_or(String::new(), |days| days.to_string());
        let since = line.anchor_at.as_deref().unwrap_or_default();
        let mut why = line.reason.clone();
        for notice in &line.notices {
            let _ = write!(why, "; {notice}");
        }
        let _ = writeln!(
            section,
            "| {} | {} | {idle} | {since} | #{} |",
            cell(&line.name),
            cell(&why),
            line.id
        );
    }
    section
}

/// A text that stays within its cell.
fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace(['\n', '\r'], " ")
}
