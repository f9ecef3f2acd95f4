//! Gate seven: what a change makes of a skill is looked at as it lies on disk, before it is put in place. What stood
//! there before already is no news; what follows is the table of trust.

use std::cell::{OnceCell, RefCell};
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use super::plan::Plan;
use super::step::Step;
use crate::error::{Error, Result};
use crate::guard::{
    self, Answer, Bundle, Finding, Guard, Report, RuleSettings, Severity, Staged, Trust,
    TrustPolicy, verdict,
};
use crate::hash::hash_of;
use crate::library::files::read_into;
use crate::store::{Actor, ChangeRow, SkillFacts, Store};
use crate::time::Timestamp;
use crate::verdicts;

/// Most findings that are told one by one.
const TOLD: usize = 5;

/// Who may be asked whether something is kept that was found dangerous.
pub type Consent = fn(&str) -> bool;

/// What the configuration says about the guard.
#[derive(Debug, Clone)]
pub struct GateSettings {
    /// Which rules are in force.
    pub rules: RuleSettings,
    /// What follows from trust and verdict.
    pub policy: TrustPolicy,
    /// How far what lies below a folder is trusted, whoever made it.
    pub trust: Vec<(PathBuf, Trust)>,
    /// Asks a person; says no where there is none.
    pub consent: Consent,
}

impl Default for GateSettings {
    fn default() -> Self {
        Self {
            rules: RuleSettings::default(),
            policy: TrustPolicy::default(),
            trust: Vec::new(),
            consent: |_| false,
        }
    }
}

/// The gate of one writer: the rules are made ready when they are first needed.
#[derive(Debug, Default)]
pub(super) struct Gate {
    guard: OnceCell<Guard>,
}

/// What was looked at and let through: where it lies, and what was found.
pub(super) type Passed = Vec<(PathBuf, Report)>;

/// Who makes a change, and to what.
pub(super) struct Wish<'w> {
    pub actor: Actor,
    /// A person does it, or approves it: they are told what was found, and may be asked.
    pub is_person: bool,
    /// It is only tried out: nobody is asked, and it is told that somebody would be.
    pub is_rehearsal: bool,
    /// The skills it touches.
    pub skills: Vec<&'w SkillFacts>,
}

/// A skill as it is and as it would be.
struct Part {
    before: Bundle,
    after: Bundle,
}

impl Gate {
    pub(super) fn guard(&self, settings: &GateSettings) -> &Guard {
        self.guard
            .get_or_init(|| Guard::new(settings.rules.clone()))
    }

    /// Looks at what was written.
    ///
    /// # Errors
    /// [`Error::Denied`] with what was found; [`Error::Conflict`] where what lies there is not what was written;
    /// [`Error::Io`].
    pub(super) fn inspect(
        &self,
        settings: &GateSettings,
        wish: &Wish<'_>,
        (plan, staged): (&Plan, &[Option<PathBuf>]),
        notes: &RefCell<Vec<String>>,
    ) -> Result<Passed> {
        // A library that goes back to a snapshot is looked at by the next sync, as a whole.
        if plan.snapshot.is_some() {
            return Ok(Vec::new());
        }
        // What was there once may come back, by a person: it is their own history, and they are told.
        let comes_back = plan.undoes.is_some() && wish.is_person;
        let mut passed = Vec::new();
        for (folder, part) in parts(wish, plan, staged)? {
            let facts = wish
                .skills
                .iter()
                .find(|facts| real(&facts.path()) == folder);
            let origin = facts.map(|facts| facts.origin.as_str());
            let trust = trust(settings, wish, &folder, origin);
            let report = self.judge(settings, (wish, trust, comes_back), &part, notes)?;
            passed.push((folder, report));
        }
        // Somebody was asked meanwhile, perhaps: what is put in place is what was looked at.
        check_all(plan, staged)?;
        Ok(passed)
    }

    /// Keeps what was found in what was changed. The change stands whatever becomes of this: the next sync looks again.
    pub(super) fn keep(
        &self,
        settings: &GateSettings,
        store: &mut Store,
        change: &ChangeRow,
        (passed, now): (&Passed, Timestamp),
    ) {
        for id in change.parts.iter().filter_map(|part| part.skill) {
            let Ok(facts) = store.skill_facts(id) else {
                continue;
            };
            let folder = real(&facts.path());
            let looked = passed.iter().find(|(place, _)| *place == folder);
            let kept = looked.map(|(_, report)| {
                // Only what lies there now has this verdict.
                let is_it =
                    Bundle::read(&facts.path()).is_ok_and(|bundle| bundle.hash() == report.hash);
                is_it.then(|| verdicts::keep_one(store, self.guard(settings), id, report, now))
            });
            if kept.flatten().is_none() {
                let _ = store.append(|tx| tx.doubt_scan(id));
            }
        }
    }

    fn judge(
        &self,
        settings: &GateSettings,
        (wish, trust, comes_back): (&Wish<'_>, Trust, bool),
        part: &Part,
        notes: &RefCell<Vec<String>>,
    ) -> Result<Report> {
        let is_person = wish.is_person;
        let guard = self.guard(settings);
        let after = guard.scan(&part.after);
        if after
            .findings
            .iter()
            .all(|finding| finding.severity < Severity::Medium)
        {
            return Ok(after);
        }
        let before = guard.scan(&part.before);
        let news = guard::news(&after, &before);
        let own = verdict(&news.iter().copied().cloned().collect::<Vec<Finding>>());
        // Two halves, one of which stood there, are as bad as both.
        let is_worse = after.verdict > before.verdict;
        let judged = if is_worse {
            own.max(after.verdict)
        } else {
            own
        };
        let told_of: Vec<&Finding> = if is_worse {
            after.findings.iter().collect()
        } else {
            news
        };
        let answer = match comes_back {
            true => Answer::Allow,
            false => settings.policy.answer_to(trust, judged, &told_of),
        };
        let open: Vec<&Finding> = told_of
            .into_iter()
            .filter(|finding| finding.severity >= Severity::Medium && finding.accepted.is_none())
            .collect();
        match answer {
            Answer::Allow if is_person => notes.borrow_mut().extend(told(&open)),
            Answer::Allow => notes.borrow_mut().extend(kinds(&open)),
            Answer::Ask if is_person && wish.is_rehearsal => {
                let mut notes = notes.borrow_mut();
                notes.extend(told(&open));
                notes.push(format!(
                    "this is {} ({}): you would be asked whether to keep it",
                    judged.as_str(),
                    trust.as_str()
                ));
            }
            // Whoever is no person does not answer for one.
            Answer::Ask if is_person && (settings.consent)(&question(trust, judged, &open)) => {}
            Answer::Ask | Answer::Block => {
                return Err(denied(is_person, trust, answer, judged, &open));
            }
        }
        Ok(after)
    }
}

/// How far a skill is trusted that somebody changes: never further than whoever changes it.
fn trust(settings: &GateSettings, wish: &Wish<'_>, folder: &Path, origin: Option<&str>) -> Trust {
    // The nearest folder says it.
    let rooted = settings
        .trust
        .iter()
        .filter(|(root, _)| folder.starts_with(root))
        .max_by_key(|(root, _)| root.components().count());
    let own = match rooted {
        Some((_, trust)) => *trust,
        None => origin.map_or(Trust::Own, Trust::of_origin),
    };
    match wish.actor {
        Actor::User => own,
        _ => own.max(Trust::AgentCreated),
    }
}

/// A folder with its links resolved; of one that is not there yet, those of the folder it will lie in.
fn real(path: &Path) -> PathBuf {
    if let Ok(real) = path.canonicalize() {
        return real;
    }
    let above = path.parent().and_then(|above| above.canonicalize().ok());
    match (above, path.file_name()) {
        (Some(above), Some(name)) => above.join(name),
        _ => path.to_path_buf(),
    }
}

/// Kinds of harm and files, and not the words: what whoever is no person is told.
fn kinds(findings: &[&Finding]) -> Vec<String> {
    let mut kinds: Vec<String> = findings
        .iter()
        .map(|finding| format!("{} ({})", finding.path, finding.class.as_str()))
        .collect();
    kinds.sort_unstable();
    kinds.dedup();
    kinds
}

fn told(findings: &[&Finding]) -> Vec<String> {
    let mut lines: Vec<String> = findings
        .iter()
        .take(TOLD)
        .map(|finding| {
            format!(
                "{}: {} ({}, {})",
                finding.place(),
                finding.message,
                finding.severity.as_str(),
                finding.rule
            )
        })
        .collect();
    if findings.len() > TOLD {
        lines.push(format!("{} more: skilldb scan", findings.len() - TOLD));
    }
    lines
}

fn question(trust: Trust, verdict: guard::Verdict, findings: &[&Finding]) -> String {
    format!(
        "{}\nThis is {} ({}). Keep it?",
        told(findings).join("\n"),
        verdict.as_str(),
        trust.as_str()
    )
}

/// Why it is not kept. An agent that wrote it gets the kind of harm and the file, and not the words that gave it away: it
/// would only change those.
fn denied(
    is_person: bool,
    trust: Trust,
    answer: Answer,
    verdict: guard::Verdict,
    findings: &[&Finding],
) -> Error {
    let message = if is_person {
        told(findings)
    } else {
        kinds(findings)
    }
    .join("; ");
    let (code, hint) = match (answer, is_person) {
        (Answer::Ask, _) => (
            "scan-asks",
            "a person may keep it: on a terminal, or with --yes; nothing was changed",
        ),
        (_, true) => (
            "scan-blocked",
            "take it out, or accept the finding in the configuration: skilldb config --help; nothing was changed",
        ),
        (_, false) => ("scan-blocked", "take it out; nothing was changed"),
    };
    Error::Denied {
        code,
        message: format!(
            "{} content is not let into {} skills: {message}",
            verdict.as_str(),
            trust.as_str()
        ),
        hint: Some(hint.to_owned()),
    }
}

/// The skills a change writes to: as they are, and with what was written aside in its place.
fn parts(
    wish: &Wish<'_>,
    plan: &Plan,
    staged: &[Option<PathBuf>],
) -> Result<BTreeMap<PathBuf, Part>> {
    let mut files: BTreeMap<PathBuf, Vec<Staged>> = BTreeMap::new();
    let mut parts = BTreeMap::new();
    // What was written aside may lie in the very folder, and is not part of it yet.
    let aside: Vec<PathBuf> = staged.iter().flatten().map(|path| real(path)).collect();
    let mut moved: BTreeMap<&Path, &Path> = BTreeMap::new();
    let skills: Vec<PathBuf> = wish
        .skills
        .iter()
        .map(|facts| real(&facts.path()))
        .collect();
    for (step, on_disk) in plan.steps.iter().zip(staged) {
        match step {
            Step::File {
                path, after, keep, ..
            } => {
                let folder = real(keep);
                let is_skill = skills.contains(&folder) || moved.contains_key(keep.as_path());
                let Some(inner) = path.strip_prefix(keep).ok().filter(|_| is_skill) else {
                    continue;
                };
                files.entry(folder).or_default().push(Staged {
                    path: inner.to_string_lossy().into_owned(),
                    on_disk: on_disk.clone().filter(|_| after.is_some()),
                });
            }
            Step::Tree {
                path,
                after: Some(_),
                ..
            } => {
                let Some(on_disk) = on_disk else { continue };
                let after = Bundle {
                    name: name_of(path),
                    ..Bundle::read(on_disk)?
                };
                parts.insert(
                    real(path),
                    Part {
                        before: read_if_there(path)?,
                        after,
                    },
                );
            }
            Step::Move { from, to, .. } => {
                moved.insert(to, from);
            }
            Step::Tree { .. } => {}
        }
    }
    for (folder, staged) in files {
        if staged.iter().all(|file| file.on_disk.is_none()) {
            continue;
        }
        let place = moved
            .get(folder.as_path())
            .filter(|_| !folder.exists())
            .copied()
            .unwrap_or(&folder);
        let before = Bundle {
            name: name_of(&folder),
            ..read_if_there(place)?
        };
        let before = before.without(|path| aside.contains(&real_file(place, path)));
        let after = before.with(&staged);
        parts.insert(folder, Part { before, after });
    }
    Ok(parts)
}

fn real_file(folder: &Path, path: &str) -> PathBuf {
    let path = folder.join(path);
    let above = path.parent().and_then(|above| above.canonicalize().ok());
    match (above, path.file_name()) {
        (Some(above), Some(name)) => above.join(name),
        _ => path,
    }
}

/// Everything that was written aside is still what the plan says.
fn check_all(plan: &Plan, staged: &[Option<PathBuf>]) -> Result<()> {
    for (step, on_disk) in plan.steps.iter().zip(staged) {
        let Some(on_disk) = on_disk else { continue };
        match step {
            Step::File {
                path,
                after: Some(after),
                ..
            } => check(on_disk, path, after.hash())?,
            Step::Tree {
                path,
                after: Some(entries),
                ..
            } => {
                for entry in entries {
                    let hash = entry.content.as_ref().and_then(|content| content.hash());
                    check(&on_disk.join(&entry.path), path, hash)?;
                }
            }
            Step::File { .. } | Step::Tree { .. } | Step::Move { .. } => {}
        }
    }
    Ok(())
}

/// What is looked at must be what was written, and what stays.
fn check(on_disk: &Path, path: &Path, hash: Option<&str>) -> Result<()> {
    let Some(hash) = hash else { return Ok(()) };
    let gone = |message: &str| Error::Conflict {
        path: path.to_path_buf(),
        message: message.to_owned(),
    };
    let mut bytes = Vec::new();
    match read_into(on_disk, u64::MAX - 1, &mut bytes) {
        Ok(()) if hash_of(&bytes) == hash => Ok(()),
        Ok(()) => Err(gone(
            "what was written there was changed: something else wrote to it",
        )),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Err(gone(
            "what was written there is gone: something was put in its way",
        )),
        Err(error) => Err(Error::io("look at", on_disk)(error)),
    }
}

fn read_if_there(folder: &Path) -> Result<Bundle> {
    if folder.symlink_metadata().is_err() {
        return Ok(Bundle {
            name: name_of(folder),
            ..Bundle::default()
        });
    }
    Bundle::read(folder)
}

fn name_of(folder: &Path) -> String {
    folder
        .file_name()
        .map_or_else(String::new, |name| name.to_string_lossy().into_owned())
}
