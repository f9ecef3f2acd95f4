//! `skilldb search`.

use serde_json::{Map, Value, json};

use super::output::{Style, clean, fit, grouped, one_line, plural};
use super::{Context, progress, scan};
use crate::error::{Error, ErrorKind, Result};
use crate::guard::Verdict;
use crate::search::rank::{NAMES, Ranked};
use crate::search::{self, Answer, Hit, Query, Searcher};
use crate::store::Store;

/// Find the skill that fits
///
/// By name, exact, begun or with a slip of the finger, and by the words of name, description, tags, headings and text. A
/// question in Chinese finds skills in Chinese, and English ones through a glossary. No model, no network. The index is
/// made when it is first asked for, and kept for what changes.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  skilldb search 'turn a pdf into a table'
  skilldb search release notes --limit 3
  skilldb search pdf --archived                 those that were put away, too
  skilldb search 'deploy to kubernetes' --json --explain

Off a terminal: one skill a line, tab-separated: name, score, folder, description.")]
pub(super) struct Args {
    /// What is to be done, or a name
    #[arg(value_name = "QUERY", required = true)]
    query: Vec<String>,
    /// Most skills that are told
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u16).range(1..=1000))]
    limit: u16,
    /// Archived skills, too
    #[arg(long)]
    archived: bool,
    /// Say what speaks for each skill
    #[arg(long)]
    explain: bool,
}

pub(super) fn run(context: &mut Context, args: &Args) -> Result<()> {
    let text = args.query.join(" ");
    if text.trim().is_empty() {
        return Err(Error::Usage {
            message: "there is nothing to search for".to_owned(),
            hint: Some("skilldb search 'what is to be done'".to_owned()),
        });
    }
    let store = indexed(context)?;
    let mut searcher = Searcher::open(&store)?;
    let query = Query {
        text: &text,
        limit: usize::from(args.limit),
        with_archived: args.archived,
    };
    let answer = searcher.search(&store, &query)?;
    if context.out.json {
        return context.out.object(object(&text, &answer, args.explain));
    }
    tell(context, &answer, args.explain)
}

/// The library with an index that is up to date; or, where nobody may write now, with the one there is.
fn indexed(context: &Context) -> Result<Store> {
    let home = &context.config.home.value;
    let Some(mut store) = Store::open(home, context.now)? else {
        return Err(Error::NoLibrary {
            path: home.join(crate::store::FILE_NAME),
        });
    };
    match search::refresh(&mut store, progress::for_stderr().as_ref()) {
        Ok(_) => Ok(store),
        Err(error) if error.kind() == ErrorKind::Store && !store.search_state()?.1.is_empty() => {
            context.out.warn(&format!(
                "the search index could not be brought up to date, and is as it was: {}",
                clean(&error.to_string())
            ));
            Ok(store)
        }
        Err(error) => Err(error),
    }
}

fn tell(context: &mut Context, answer: &Answer, explain: bool) -> Result<()> {
    for hit in &answer.hits {
        one(context, hit)?;
        if explain {
            context.out.line(&format!("    {}", explained(hit)))?;
        }
    }
    context.out.flush()?;
    if answer.hits.is_empty() {
        let count = grouped(answer.skills as u64);
        context
            .out
            .say(&format!("None of {count} skills says any of that."));
    } else if !answer.is_confident {
        context
            .out
            .say("None of these clearly fits: the first is a guess.");
    }
    let more = answer.fitting.saturating_sub(answer.hits.len());
    if more > 0 && answer.hits.len() > 1 {
        context.out.say(&format!(
            "{} of {}.",
            plural(answer.hits.len() as u64, "skill"),
            grouped(answer.skills as u64)
        ));
    }
    Ok(())
}

fn one(context: &mut Context, hit: &Hit) -> Result<()> {
    let skill = &hit.skill;
    let (name, path) = (one_line(&skill.name), one_line(&skill.path));
    let description = one_line(skill.description.as_deref().unwrap_or_default());
    let Some(width) = context.out.width else {
        return context
            .out
            .line(&format!("{name}\t{:.2}\t{path}\t{description}", score(hit)));
    };
    let mut marks = Vec::new();
    if skill.state != "active" {
        marks.push(context.out.paint(Style::Dim, &skill.state));
    }
    let verdict = skill.verdict.as_deref().and_then(Verdict::parse);
    if let Some(verdict) = verdict.filter(|verdict| *verdict > Verdict::Safe) {
        marks.push(context.out.paint(scan::style(verdict), verdict.as_str()));
    }
    let name = context.out.paint(Style::Bold, &name);
    let marks = marks
        .iter()
        .fold(String::new(), |all, mark| format!("{all}  {mark}"));
    context.out.line(&format!("{name}{marks}"))?;
    context
        .out
        .line(&format!("  {}", fit(&description, width.saturating_sub(2))))
}

fn score(hit: &Hit) -> f32 {
    hit.look.map_or(0.0, |look| look.score)
}

/// What speaks for a skill, the most first.
fn explained(hit: &Hit) -> String {
    let mut parts = vec![hit.why.as_str().to_owned()];
    if let Some(look) = &hit.look {
        parts.push(format!("{:.0} % of the question", look.coverage * 100.0));
        parts.extend(
            features(look)
                .into_iter()
                .filter(|(_, share)| share.abs() >= 0.05)
                .map(|(name, share)| format!("{name} {share:+.2}")),
        );
    }
    if hit.skill.uses > 0 {
        parts.push(plural(hit.skill.uses, "use"));
    }
    parts.join(", ")
}

fn features(look: &Ranked) -> Vec<(&'static str, f32)> {
    let mut features: Vec<(&str, f32)> = NAMES.into_iter().zip(look.shares()).collect();
    features.sort_by(|one, other| other.1.abs().total_cmp(&one.1.abs()));
    features
}

fn object(text: &str, answer: &Answer, explain: bool) -> Value {
    let results: Vec<Value> = answer
        .hits
        .iter()
        .map(|hit| {
            let skill = &hit.skill;
            let mut object = json!({
                "name": skill.name, "id": format!("#{}", skill.skill), "path": skill.path, "description": skill.description,
                "state": skill.state, "verdict": skill.verdict, "uses": skill.uses, "why": hit.why.as_str(),
                "score": rounded(score(hit)), "coverage": hit.look.map(|look| rounded(look.coverage)),
            });
            if let (true, Some(look)) = (explain, &hit.look) {
                let shares: Map<String, Value> = NAMES
                    .into_iter()
                    .zip(look.shares())
                    .map(|(name, share)| (name.to_owned(), rounded(share)))
                    .collect();
                object["explain"] = Value::Object(shares);
            }
            object
        })
        .collect();
    json!({
        "query": text, "confident": answer.is_confident, "skills": answer.skills, "results": results,
    })
}

/// Three places: more of them are noise.
fn rounded(number: f32) -> Value {
    json!((f64::from(number) * 1e3).round() / 1e3)
}
