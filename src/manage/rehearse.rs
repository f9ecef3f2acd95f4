//! What a request would do, without doing it: the same plan, and the same gate, on what would be written.

use std::cell::RefCell;
use std::path::{Path, PathBuf};

use super::guarded::{Gate, Wish};
use super::judge::judge;
use super::make::bytes_of;
use super::plan::Plan;
use super::planner::Planner;
use super::rendered;
use super::request::{Request, Who};
use super::step::Step;
use super::writer::Settings;
use crate::error::{Error, Result};
use crate::library::write::Folder;
use crate::store::{Actor, Store};

/// What would be done.
#[derive(Debug, Clone, PartialEq)]
pub struct Preview {
    /// What happens to each skill: name and title.
    pub parts: Vec<(String, String)>,
    /// What becomes of the files, as a unified diff; moves and whole folders as lines of their own.
    pub diff: String,
    /// How the text to replace was found.
    pub strategy: Option<String>,
    /// First and last line of each place of a patch, in the old text.
    pub places: Vec<(u32, u32)>,
    /// What should be said besides.
    pub notes: Vec<String>,
    /// Why a person would have to decide; `None` when nobody would be asked.
    pub asks: Option<String>,
}

/// Says what a request would do. Takes no lock and writes nothing but a scratch folder, which is removed.
///
/// # Errors
/// Why it would not be done.
pub fn preview(
    store: &Store,
    settings: &Settings,
    who: &Who,
    request: &Request,
) -> Result<Preview> {
    let draft = Planner::new(store, settings).draft(who, request, "dry-run".to_owned())?;
    let asks = judge(who, request, &draft, &settings.policy)?;
    let notes = RefCell::new(draft.notes);
    if asks.is_none() {
        let skills = draft.wishes.iter().filter_map(|(_, skill)| skill.as_ref());
        let wish = Wish {
            actor: who.actor,
            is_person: who.actor == Actor::User,
            is_rehearsal: true,
            skills: skills.collect(),
        };
        let scratch = tempfile::tempdir().map_err(Error::io("create", "a temporary folder"))?;
        let staged = stage(store, &draft.plan, scratch.path())?;
        Gate::default().inspect(&settings.gate, &wish, (&draft.plan, &staged), &notes)?;
    }
    Ok(Preview {
        parts: draft
            .plan
            .parts
            .iter()
            .map(|part| (part.name.clone(), part.title.clone()))
            .collect(),
        diff: rendered::diff(store, &draft.plan)?,
        strategy: draft.plan.strategy,
        places: draft.places,
        notes: notes.into_inner(),
        asks,
    })
}

/// Writes into a scratch folder what the steps would write.
fn stage(store: &Store, plan: &Plan, scratch: &Path) -> Result<Vec<Option<PathBuf>>> {
    let folder = Folder::open(scratch).map_err(Error::io("open", scratch))?;
    let mut staged = Vec::with_capacity(plan.steps.len());
    for (number, step) in plan.steps.iter().enumerate() {
        let aside = number.to_string();
        let place = scratch.join(&aside);
        match step {
            Step::File {
                after: Some(content),
                ..
            } => {
                let bytes = match content.hash() {
                    Some(hash) => bytes_of(store, &plan.bytes, hash)?,
                    None => Vec::new(),
                };
                folder
                    .put(&aside, content, &bytes)
                    .map_err(Error::io("write", &place))?;
                staged.push(Some(place));
            }
            Step::Tree {
                after: Some(entries),
                ..
            } => {
                let bytes_of = |hash: &str| {
                    bytes_of(store, &plan.bytes, hash)
                        .map_err(|error| std::io::Error::other(error.to_string()))
                };
                folder
                    .put_tree(&aside, entries, &bytes_of)
                    .map_err(Error::io("write", &place))?;
                staged.push(Some(place));
            }
            Step::File { .. } | Step::Tree { .. } | Step::Move { .. } => staged.push(None),
        }
    }
    Ok(staged)
}
