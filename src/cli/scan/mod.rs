//! `skilldb scan`.

mod folders;
mod rules;
mod sarif;
mod tell;

pub(super) use tell::style;

use std::path::PathBuf;

use super::named::find;
use super::{Context, progress};
use crate::error::{Error, Result};
use crate::guard::{Bundle, Guard, Report, Severity, Verdict};
use crate::store::Store;
use crate::verdicts::{self, Which};

/// Look for what could hurt in skills
///
/// Reads skills as they lie on disk, decodes what is hidden, and says what it found, where, and why: safe,
/// caution or dangerous. Without a name or a path: every skill of the library, those that changed since the
/// last scan anew. Nothing is run, nothing leaves this machine.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  skilldb scan                                  the whole library
  skilldb scan pdf-tables                       one skill, all that was found
  skilldb scan ~/Downloads/some-skill           a folder that is not in the library
  skilldb scan . --fail-on caution              in a build: exit 1 for what is not safe
  skilldb scan . --sarif > scan.sarif           for code hosts and editors
  skilldb scan --rules                          all rules, and those that are switched off")]
pub(super) struct Args {
    /// Skills, or folders and files
    #[arg(value_name = "NAME|PATH")]
    targets: Vec<String>,
    /// Print SARIF 2.1.0
    #[arg(long, conflicts_with = "rules")]
    sarif: bool,
    /// Exit with 1 when something is at least this bad: caution, dangerous, or the severity of a finding
    #[arg(long, value_name = "LEVEL")]
    fail_on: Option<String>,
    /// Print every finding, the mildest too
    #[arg(long)]
    all: bool,
    /// List the rules
    #[arg(long, conflicts_with = "targets")]
    rules: bool,
}

/// A skill that was looked at.
struct Looked {
    name: String,
    path: PathBuf,
    report: Report,
}

/// All that was looked at, and what could not be.
#[derive(Default)]
struct Round {
    looked: Vec<Looked>,
    /// Path, and why it could not be read.
    unreadable: Vec<(PathBuf, String)>,
}

/// From where on something is a failure.
enum Threshold {
    Verdict(Verdict),
    Severity(Severity),
}

pub(super) fn run(context: &mut Context, args: &Args) -> Result<()> {
    let threshold = args.fail_on.as_deref().map(threshold).transpose()?;
    let guard = Guard::new(context.config.guard.rules.clone());
    if args.rules {
        return rules::list(context, &guard);
    }
    let is_library = args.targets.is_empty();
    let mut round = Round::default();
    if is_library {
        library(context, &guard, &mut round)?;
    }
    for target in &args.targets {
        one(context, &guard, target, &mut round)?;
    }
    for (path, why) in &round.unreadable {
        context
            .out
            .warn(&format!("{} could not be scanned: {why}", path.display()));
    }
    let is_failure = threshold.is_some_and(|threshold| {
        let mut reports = round.looked.iter().map(|looked| &looked.report);
        reports.any(|report| threshold.is_met(report))
    });
    if args.sarif {
        context.out.line(&sarif::text(&round))?;
    } else if context.out.json {
        context.out.object(tell::object(&guard, &round))?;
    } else {
        let detail = tell::Detail {
            all: args.all,
            only_flagged: is_library,
        };
        tell::words(context, &guard, &round, &detail)?;
    }
    // What was not looked at is not known to be safe.
    if is_failure || !round.unreadable.is_empty() {
        Err(Error::ProblemsFound)
    } else {
        Ok(())
    }
}

fn threshold(word: &str) -> Result<Threshold> {
    let verdict = Verdict::parse(word).filter(|verdict| *verdict > Verdict::Safe);
    let severity = Severity::parse(word);
    verdict
        .map(Threshold::Verdict)
        .or(severity.map(Threshold::Severity))
        .ok_or_else(|| Error::Usage {
            message: format!("`{word}` is no level"),
            hint: Some("one of caution, dangerous, info, low, medium, high, critical".to_owned()),
        })
}

impl Threshold {
    fn is_met(&self, report: &Report) -> bool {
        match self {
            Self::Verdict(verdict) => report.verdict >= *verdict,
            Self::Severity(severity) => report
                .findings
                .iter()
                .any(|found| found.accepted.is_none() && found.severity >= *severity),
        }
    }
}

/// Every skill of the library: those that changed are looked at, what was found in the others is known.
fn library(context: &Context, guard: &Guard, round: &mut Round) -> Result<()> {
    let home = &context.config.home.value;
    let Some(mut store) = Store::open(home, context.now)? else {
        return Err(Error::NoLibrary {
            path: home.join(crate::store::FILE_NAME),
        });
    };
    let refreshed = verdicts::refresh(
        &mut store,
        guard,
        Which::All,
        context.now,
        progress::for_stderr().as_ref(),
    )?;
    for (path, why) in refreshed.unreadable {
        round.unreadable.push((PathBuf::from(path), why));
    }
    for known in store.all_scans()? {
        let path = PathBuf::from(&known.path);
        // What was found when it could be read is not what is there now.
        if round.unreadable.iter().any(|(other, _)| *other == path) {
            continue;
        }
        round.looked.push(Looked {
            report: verdicts::report(&store, &known)?,
            name: known.name,
            path,
        });
    }
    Ok(())
}

/// What a name or a path means.
fn one(context: &Context, guard: &Guard, target: &str, round: &mut Round) -> Result<()> {
    let path = context.config.cwd.join(target);
    let is_path = target.contains('/') || target.starts_with('.') || target.starts_with('~');
    if !is_path || path.symlink_metadata().is_err() {
        match named(context, guard, target) {
            Err(Error::NoLibrary { .. } | Error::SkillNotFound { .. }) if path.exists() => {}
            Err(Error::NoLibrary { .. } | Error::SkillNotFound { .. }) if is_path => {
                return Err(Error::NoFolder { path });
            }
            found => {
                round.looked.push(found?);
                return Ok(());
            }
        }
    }
    let path = path.canonicalize().unwrap_or(path);
    let below = folders::skills_below(&path);
    round.unreadable.extend(below.unreadable);
    for folder in below.skills {
        match Bundle::read(&folder) {
            Ok(bundle) => round.looked.push(Looked {
                report: guard.scan(&bundle),
                name: bundle.name,
                path: folder,
            }),
            Err(error) => round
                .unreadable
                .push((folder, verdicts::why_unread(&error))),
        }
    }
    Ok(())
}

/// A skill of the library; what is found is kept.
fn named(context: &Context, guard: &Guard, name: &str) -> Result<Looked> {
    let store = context.read()?;
    let (skill, _) = find(context, &store, name)?;
    let facts = store.skill_facts(skill.id)?;
    drop(store);
    let report = guard.scan(&Bundle::read(&facts.path())?);
    if let Ok(Some(mut store)) = Store::open(&context.config.home.value, context.now) {
        // Whoever may not write may read all the same.
        let _ = verdicts::keep_seen(&mut store, guard, skill.id, &report, context.now);
    }
    Ok(Looked {
        name: facts.name.clone(),
        path: facts.path(),
        report,
    })
}
