//! Keeps a verdict for every skill: looks at those whose files or rules changed, and only at those.

use std::borrow::Cow;
use std::collections::HashMap;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::error::{Error, Result};
use crate::guard::{Bundle, Class, Finding, Guard, Report, Severity, Verdict};
use crate::store::{KnownScan, KnownVerdict, NewScan, ScanFinding, Store, ToScan};
use crate::sync::{Progress, Unit};
use crate::time::Timestamp;

/// Skills that are looked at before what was found is written.
const BATCH: usize = 256;
/// Most threads that look.
const MAX_THREADS: usize = 8;

/// A skill whose verdict is worse than before, or that is new and not safe.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Worse {
    /// What people call it.
    pub name: String,
    /// Absolute path of its folder.
    pub path: String,
    /// The verdict.
    pub verdict: Verdict,
    /// What is worst, in a sentence.
    pub worst: String,
}

/// What became of a round.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Round {
    /// Skills that were looked at.
    pub looked: usize,
    /// Those that are not safe and were not known to be.
    pub worse: Vec<Worse>,
    /// Folders that could not be read: path and why.
    pub unreadable: Vec<(String, String)>,
}

/// Which skills are looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Which {
    /// Those whose files changed, as far as the mirror knows, or that were looked at with other rules.
    Changed,
    /// All of them: files may be other than the mirror knows.
    All,
}

/// Looks at skills, and keeps what was found. What is made of the same as before, and was looked at with the same rules,
/// is only read.
///
/// # Errors
/// [`crate::Error::Database`], [`crate::Error::Locked`]. A folder that cannot be read is told and stops nothing.
pub fn refresh(
    store: &mut Store,
    guard: &Guard,
    which: Which,
    now: Timestamp,
    progress: &dyn Progress,
) -> Result<Round> {
    let due = store.to_scan(guard.version(), which == Which::All)?;
    let mut round = Round::default();
    if due.is_empty() {
        return Ok(round);
    }
    progress.begin("Scanning", Unit::Skills, Some(due.len() as u64));
    let known = store.known_scans(guard.version())?;
    for batch in due.chunks(BATCH) {
        let looked = look_at_all(guard, &known, batch);
        progress.advance(batch.len() as u64);
        keep(store, guard, (now, which), (batch, looked), &mut round)?;
    }
    store.write(|tx| {
        tx.forget_scans()?;
        Ok(())
    })?;
    progress.end();
    Ok(round)
}

/// What came of looking at a skill.
enum Looked {
    /// It is made of what was looked at before.
    Known(KnownScan),
    /// It was looked at.
    New(Box<Report>),
    /// It cannot be read.
    Unreadable(String),
}

/// Looks at some skills, on as many threads as the machine has.
fn look_at_all(guard: &Guard, known: &HashMap<String, KnownScan>, batch: &[ToScan]) -> Vec<Looked> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let threads = threads.min(MAX_THREADS).min(batch.len().div_ceil(8)).max(1);
    let next = AtomicUsize::new(0);
    let done: Mutex<Vec<(usize, Looked)>> = Mutex::new(Vec::with_capacity(batch.len()));
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some(skill) = batch.get(index) else { break };
                    let looked = look_at(guard, known, Path::new(&skill.path));
                    if let Ok(mut done) = done.lock() {
                        done.push((index, looked));
                    }
                }
            });
        }
    });
    let mut done = done.into_inner().unwrap_or_default();
    done.sort_unstable_by_key(|(index, _)| *index);
    done.into_iter().map(|(_, looked)| looked).collect()
}

fn look_at(guard: &Guard, known: &HashMap<String, KnownScan>, folder: &Path) -> Looked {
    let bundle = match Bundle::read(folder) {
        Ok(bundle) => bundle,
        Err(error) => return Looked::Unreadable(why_unread(&error)),
    };
    match known.get(&bundle.hash()) {
        Some(known) => Looked::Known(known.clone()),
        None => Looked::New(Box::new(guard.scan(&bundle))),
    }
}

fn keep(
    store: &mut Store,
    guard: &Guard,
    (now, which): (Timestamp, Which),
    (batch, looked): (&[ToScan], Vec<Looked>),
    round: &mut Round,
) -> Result<()> {
    let before: Vec<Option<Verdict>> = batch
        .iter()
        .map(|skill| {
            Ok(store
                .verdict_of(skill.id)?
                .and_then(|word| Verdict::parse(&word)))
        })
        .collect::<Result<_>>()?;
    let mut kept = Vec::with_capacity(batch.len());
    for ((skill, looked), before) in batch.iter().zip(looked).zip(before) {
        let (verdict, words) = match &looked {
            Looked::Unreadable(why) => {
                round.unreadable.push((skill.path.clone(), why.clone()));
                continue;
            }
            Looked::Known(known) => (
                Verdict::parse(&known.verdict).unwrap_or_default(),
                known.worst.clone().unwrap_or_default(),
            ),
            Looked::New(report) => {
                round.looked += 1;
                (report.verdict, worst(&report.findings))
            }
        };
        if verdict > before.unwrap_or(Verdict::Safe) {
            round.worse.push(Worse {
                name: skill.name.clone(),
                path: skill.path.clone(),
                verdict,
                worst: words,
            });
        }
        kept.push((skill, looked));
    }
    store.write(|tx| {
        kept.iter().try_for_each(|(skill, looked)| {
            let id = match looked {
                Looked::Known(known) => known.id,
                Looked::New(report) => {
                    let findings = rows(&report.findings);
                    tx.put_scan(&new_scan(report, guard, &findings, now))?
                }
                Looked::Unreadable(_) => return Ok(()),
            };
            // What lies on disk may be other than the mirror knows.
            let mark = match which {
                Which::Changed => skill.mark.as_str(),
                Which::All => "",
            };
            tx.set_scan(skill.id, id, mark)
        })
    })
}

/// Keeps what was found in one skill whose files the mirror knows as they were looked at.
///
/// # Errors
/// [`crate::Error::Database`], [`crate::Error::Locked`].
pub fn keep_one(
    store: &mut Store,
    guard: &Guard,
    skill: i64,
    report: &Report,
    now: Timestamp,
) -> Result<()> {
    let Some(mark) = store.skill_mark(skill)? else {
        return Ok(());
    };
    let findings = rows(&report.findings);
    store.append(|tx| {
        let id = tx.put_scan(&new_scan(report, guard, &findings, now))?;
        tx.set_scan(skill, id, &mark)
    })
}

/// Keeps what was found in one skill as it lies on disk, whatever the mirror knows of it.
///
/// # Errors
/// [`crate::Error::Database`], [`crate::Error::Locked`].
pub fn keep_seen(
    store: &mut Store,
    guard: &Guard,
    skill: i64,
    report: &Report,
    now: Timestamp,
) -> Result<()> {
    let findings = rows(&report.findings);
    store.append(|tx| {
        let id = tx.put_scan(&new_scan(report, guard, &findings, now))?;
        tx.set_scan(skill, id, "")
    })
}

fn new_scan<'a>(
    report: &'a Report,
    guard: &'a Guard,
    findings: &'a [ScanFinding],
    at: Timestamp,
) -> NewScan<'a> {
    NewScan {
        tree: &report.hash,
        ruleset: guard.version(),
        verdict: report.verdict.as_str(),
        files: report.files,
        bytes: report.bytes,
        findings,
        at,
    }
}

fn rows(findings: &[Finding]) -> Vec<ScanFinding> {
    let list = |words: &[Cow<'static, str>]| serde_json::json!(words).to_string();
    let row = |finding: &Finding| ScanFinding {
        rule: finding.rule.to_string(),
        class: finding.class.as_str().to_owned(),
        severity: finding.severity.as_str().to_owned(),
        stated: finding.stated.as_str().to_owned(),
        path: finding.path.clone(),
        line: finding.line,
        evidence: finding.evidence.clone(),
        seen: list(&finding.seen),
        context: list(&finding.context),
        message: finding.message.to_string(),
        fix: finding.fix.to_string(),
        fingerprint: finding.fingerprint.clone(),
        accepted: finding.accepted.clone(),
    };
    findings.iter().map(row).collect()
}

/// What the system says about what cannot be read.
#[must_use]
pub fn why_unread(error: &Error) -> String {
    std::error::Error::source(error).map_or_else(|| error.to_string(), ToString::to_string)
}

/// What is worst, in a sentence with its place.
#[must_use]
pub fn worst(findings: &[Finding]) -> String {
    let open = findings.iter().find(|finding| finding.accepted.is_none());
    open.map_or_else(String::new, |finding| {
        format!("{}: {}", finding.place(), finding.message)
    })
}

/// What was found in a skill when it was last looked at.
///
/// # Errors
/// [`crate::Error::Database`].
pub fn report(store: &Store, known: &KnownVerdict) -> Result<Report> {
    let findings = store.scan_findings(known.scan)?;
    Ok(Report {
        verdict: Verdict::parse(&known.verdict).unwrap_or_default(),
        findings: findings.into_iter().map(finding).collect(),
        hash: known.tree.clone(),
        files: known.files,
        bytes: known.bytes,
    })
}

/// A row as what it was.
fn finding(row: ScanFinding) -> Finding {
    let list =
        |text: &str| -> Vec<Cow<'static, str>> { serde_json::from_str(text).unwrap_or_default() };
    Finding {
        rule: row.rule.into(),
        class: Class::parse(&row.class).unwrap_or(Class::Structure),
        severity: Severity::parse(&row.severity).unwrap_or(Severity::Info),
        stated: Severity::parse(&row.stated).unwrap_or(Severity::Info),
        path: row.path,
        line: row.line,
        evidence: row.evidence,
        seen: list(&row.seen),
        context: list(&row.context),
        message: row.message.into(),
        fix: row.fix.into(),
        is_joined: false,
        fingerprint: row.fingerprint,
        full: String::new(),
        accepted: row.accepted,
    }
}
