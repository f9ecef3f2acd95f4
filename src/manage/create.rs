//! A new skill, and the gate that has to look at the disk: that nothing has its name.

use std::path::{Path, PathBuf};

use super::draft::{Draft, content_of};
use super::gate;
use super::ownership::Reach;
use super::places::{denied, holds_skill};
use super::plan::{Effect, Part, PartFile};
use super::step::Step;
use crate::error::Result;
use crate::library::TreeEntry;
use crate::store::{NameTaken, RootRow, SkillFacts, Store};

/// A skill that is to be made.
#[derive(Debug, Clone, Copy)]
pub(super) struct New<'a> {
    pub(super) name: &'a str,
    pub(super) category: Option<&'a str>,
    pub(super) text: &'a str,
    pub(super) root: &'a RootRow,
    /// Who made it, and why we think so.
    pub(super) origin: (&'a str, &'a str),
}

/// Makes a skill. Gates one to six; the seventh looks at what was written.
pub(super) fn create(mut draft: Draft, store: &Store, new: New<'_>) -> Result<Draft> {
    gate::name(new.name)?;
    let category = gate::category(new.category)?;
    gate::frontmatter(new.text, new.name, None)?;
    gate::size("SKILL.md", new.text, None)?;
    let rel_path = match category {
        Some(category) => format!("{category}/{}", new.name),
        None => new.name.to_owned(),
    };
    check_collisions(store, (new.name, category), &new.root.path, None)?;
    let path = new.root.path.join(&rel_path);
    let content = content_of(new.text.as_bytes(), None, Some(false));
    if let Some(hash) = content.hash() {
        draft.plan.keep(hash, new.text.as_bytes().to_vec());
    }
    draft.is_writable = new.root.writable;
    draft.wishes.push((Reach::Write, None));
    draft.plan.roots.push(new.root.path.clone());
    draft.plan.steps.push(Step::Tree {
        path: path.clone(),
        before: None,
        after: Some(vec![TreeEntry {
            path: "SKILL.md".to_owned(),
            content: Some(content.clone()),
        }]),
        keep: new.root.path.clone(),
    });
    draft.plan.parts.push(Part {
        skill_id: None,
        name: new.name.to_owned(),
        title: "created".to_owned(),
        from: None,
        to: Some(path),
        files: vec![PartFile {
            path: "SKILL.md".to_owned(),
            before: None,
            after: Some(content),
        }],
        revision_id: None,
    });
    draft.plan.effects.push(Effect::Mirror {
        part: 0,
        root_id: new.root.id,
        rel_path,
        born: Some((new.origin.0.to_owned(), new.origin.1.to_owned())),
    });
    Ok(draft)
}

/// Gate five: nothing anywhere has that name, whatever its case: no skill, no archived one, no category.
///
/// # Errors
/// [`Error::Denied`].
pub(super) fn check_collisions(
    store: &Store,
    (name, category): (&str, Option<&str>),
    root: &Path,
    own: Option<&SkillFacts>,
) -> Result<()> {
    let taken = |by: &str, path: &Path, hint: &str| {
        denied(
            "name-taken",
            format!("`{}` is taken by {by}: {}", name, path.display()),
            Some(hint.to_owned()),
        )
    };
    let taken_by = store.name_taken(name, own.map(|own| own.id))?;
    // A folder that was removed meanwhile takes no name.
    let is_there = |found: &NameTaken| Path::new(&found.path).symlink_metadata().is_ok();
    if let Some(found) = taken_by.filter(is_there) {
        let hint = match found.by {
            "a skill" => format!(
                "change it with `skilldb edit {name}` or `skilldb patch {name}`, or choose another name"
            ),
            "an archived skill" => {
                format!("`skilldb restore {name}` brings it back; or choose another name")
            }
            _ => "choose another name".to_owned(),
        };
        return Err(taken(found.by, Path::new(&found.path), &hint));
    }
    // What was never synced is told by the disk.
    let mut places: Vec<PathBuf> = store.roots()?.into_iter().map(|root| root.path).collect();
    if !places.iter().any(|place| place == root) {
        places.push(root.to_path_buf());
    }
    if let Some(category) = category {
        let folder = root.join(category);
        let own = own.map(|own| own.id);
        if let Some(found) = store
            .name_taken(category, own)?
            .filter(|found| found.by != "a category")
        {
            return Err(denied(
                "name-taken",
                format!(
                    "the category `{category}` has the name of {}: {}",
                    found.by, found.path
                ),
                Some("choose another category".to_owned()),
            ));
        }
        if holds_skill(&folder) {
            return Err(denied(
                "name-taken",
                format!("the category `{category}` is a skill: {}", folder.display()),
                Some("choose another category".to_owned()),
            ));
        }
        if let Some(other) = namesake(root, category).filter(|other| other != category) {
            return Err(denied(
                "name-taken",
                format!("the category `{category}` differs only in case from `{other}`"),
                Some(format!(
                    "choose another category, or rename the folder `{other}`"
                )),
            ));
        }
        places.push(folder);
    }
    let below: Vec<PathBuf> = places
        .iter()
        .flat_map(|place| unsynced(place, name))
        .collect();
    for place in places.into_iter().chain(below) {
        let found = namesake(&place, name).map(|found| place.join(found));
        let is_own = |found: &PathBuf| own.is_some_and(|own| *found == own.path());
        if let Some(found) = found.filter(|found| !is_own(found)) {
            return Err(taken(
                "something that lies there already",
                &found,
                "choose another name, or `skilldb sync` first",
            ));
        }
    }
    Ok(())
}

/// Folders of a folder that hold something of this name: categories that were never synced.
fn unsynced(folder: &Path, name: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .map(|entry| entry.path())
        .filter(|path| path.join(name).symlink_metadata().is_ok() && !holds_skill(path))
        .collect()
}

/// The entry of a folder that has this name, whatever its case.
pub(super) fn namesake(folder: &Path, name: &str) -> Option<String> {
    // The one look-up that is certain, also where a folder may not be listed.
    if folder.join(name).symlink_metadata().is_ok() {
        return Some(name.to_owned());
    }
    let lower = name.to_lowercase();
    std::fs::read_dir(folder)
        .ok()?
        .flatten()
        .filter_map(|entry| entry.file_name().into_string().ok())
        .find(|entry| entry.to_lowercase() == lower)
}
