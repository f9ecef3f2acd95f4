//! `skilldb refs`.

use serde_json::{Value, json};

use super::Context;
use super::change::crontab;
use super::named::find;
use super::output::{Style, clean, one_line, plural};
use crate::error::{Error, Result};
use crate::manage::{Pointing, pointing_at};
use crate::store::{SkillFacts, Store};

/// List what names a skill
///
/// Looks into all other skills, the jobs of Hermes homes, the files listed under `automations` in the configuration,
/// and the user's crontab. An archived or removed skill can be asked for, too: what names it leads nowhere.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  skilldb refs release-notes
  skilldb refs release-notes --json")]
pub(super) struct Args {
    /// The skill
    name: String,
}

pub(super) fn run(context: &mut Context, args: &Args) -> Result<()> {
    let store = context.read()?;
    let facts = skill(context, &store, &args.name)?;
    let listed: Vec<_> = context
        .config
        .automations
        .iter()
        .map(|file| file.value.clone())
        .collect();
    let found = pointing_at(&store, &listed, &facts)?;
    let crontab = crontab::lines(&crontab::read(), &facts);
    let heir = match store.heir_of(facts.id)? {
        Some(heir) => Some(store.skill_facts(heir)?.name),
        None => None,
    };
    if context.out.json {
        let mut places: Vec<Value> = found.places.iter().map(object).collect();
        places.extend(crontab.iter().map(|(line, text)| {
            json!({"from": "crontab", "skill": null, "path": "crontab", "line": line, "kind": "crontab", "text": text,
                   "rewritten": false, "why": "a crontab is never written to"})
        }));
        return context.out.object(json!({
            "name": facts.name, "id": facts.id, "state": state(&facts), "absorbed_into": heir,
            "references": places, "notes": found.notes,
        }));
    }
    for place in &found.places {
        let line = told(context, place);
        context.out.line(&line)?;
    }
    for (line, text) in &crontab {
        context
            .out
            .line(&format!("crontab:{line}: {}", clean(text)))?;
    }
    context.out.flush()?;
    for note in &found.notes {
        let words = context.out.paint_err(Style::Warning, &clean(note));
        context.out.say(&words);
    }
    let count = plural((found.places.len() + crontab.len()) as u64, "place");
    let heir = heir.map_or(String::new(), |heir| {
        format!("; absorbed into `{}`", one_line(&heir))
    });
    context.out.say(&format!(
        "{count} {} `{}` ({}{heir}).",
        if found.places.len() + crontab.len() == 1 {
            "names"
        } else {
            "name"
        },
        one_line(&facts.name),
        state(&facts)
    ));
    Ok(())
}

/// The skill that is meant, also one that is gone.
fn skill(context: &Context, store: &Store, typed: &str) -> Result<SkillFacts> {
    match find(context, store, typed.trim_end_matches('/')) {
        Ok((skill, None)) => store.skill_facts(skill.id),
        Ok((_, Some(_))) => Err(Error::SkillNotFound {
            name: typed.to_owned(),
            similar: Vec::new(),
        }),
        Err(error @ Error::SkillNotFound { .. }) => match store.ended_named(typed)? {
            Some(id) => store.skill_facts(id),
            None => Err(error),
        },
        Err(error) => Err(error),
    }
}

fn state(facts: &SkillFacts) -> &str {
    match (facts.has_ended, facts.is_missing) {
        (true, _) => "removed",
        (_, true) => "missing",
        _ => &facts.state,
    }
}

fn told(context: &Context, place: &Pointing) -> String {
    let left = place
        .left
        .as_ref()
        .map(|why| format!(" (a rename or merge leaves it: {why})"))
        .unwrap_or_default();
    let at = format!("{}:{}", place.path.display(), place.line);
    format!(
        "{}: {} {}{}",
        one_line(&at),
        context.out.paint(Style::Dim, place.kind),
        one_line(&place.text),
        clean(&left)
    )
}

fn object(place: &Pointing) -> Value {
    json!({
        "from": if place.skill.is_some() { "skill" } else { "automation" },
        "skill": place.skill.as_ref().map(|(_, name)| name),
        "path": place.path, "line": place.line, "kind": place.kind, "text": place.text,
        "rewritten": place.left.is_none(), "why": place.left,
    })
}
