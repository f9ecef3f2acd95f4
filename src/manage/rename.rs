//! A skill gets another name: its folder, its header, and whatever points at it.

use std::path::{Path, PathBuf};

use super::automations::{automations, target_of};
use super::create::check_collisions;
use super::draft::{Draft, Side, movable_folder, read_entry};
use super::gate;
use super::ownership::Reach;
use super::places::{add_move, is_taken};
use super::plan::PartFile;
use super::pointers::{LARGEST, Pointer, Search, sides};
use super::step::Step;
use super::texts::folder_name;
use crate::error::{Error, Result};
use crate::library::Content;
use crate::references::{self, Inner, Moved, Text};
use crate::store::{SkillFacts, Store};

/// What the planner of a rename asks for.
pub(super) struct Renaming<'a> {
    pub(super) store: &'a Store,
    /// The new name, with a category before it where that changes, too.
    pub(super) to: &'a str,
    /// Files of the user that may name skills.
    pub(super) automations: &'a [PathBuf],
    /// Whether the caller may write to a skill; else why not.
    pub(super) may_write: &'a dyn Fn(&SkillFacts) -> std::result::Result<(), String>,
    /// Whether the caller may write to files of the user that are no skills.
    pub(super) may_write_outside: bool,
}

/// Plans it.
///
/// # Errors
/// [`Error::Denied`], [`Error::Io`], [`Error::Database`].
pub(super) fn rename(mut draft: Draft, facts: &SkillFacts, asked: &Renaming<'_>) -> Result<Draft> {
    let (name, rel_path) = place_of(facts, asked.to)?;
    let from = movable_folder(facts)?;
    let to = facts.root.join(&rel_path);
    if to == facts.path() && name == facts.name {
        return Err(Error::Denied {
            code: "no-change",
            message: format!("`{name}` is called that already"),
            hint: None,
        });
    }
    let category = asked.to.rsplit_once('/').map(|(category, _)| category);
    check_collisions(asked.store, (name, category), &facts.root, Some(facts))?;
    if to != facts.path() {
        is_taken(asked.store, facts, &to)?;
    }
    // With two skills of a name nobody can say which one a name means.
    let namesake = asked.store.live_named(&facts.name, facts.id)?;
    let mut target = target_of(facts);
    target.folder.clone_from(&from);
    target.rel_path.clone_from(&facts.rel_path);
    let search = Search {
        store: asked.store,
        pointers: vec![Pointer {
            target,
            to: Moved {
                name,
                folder: &to,
                rel_path: &rel_path,
            },
            inner: Inner::Same,
            paths_only: namesake.is_some(),
        }],
        automations: automations(asked.store, asked.automations)?,
        may_write: asked.may_write,
        may_write_outside: asked.may_write_outside,
    };
    if let Some(path) = &namesake {
        draft.notes.push(format!(
            "another skill is called `{}` as well ({path}): only paths were rewritten, names were left alone",
            facts.name
        ));
    }
    let title = format!("renamed from {} to {name}", facts.name);
    let part = draft.add_skill(facts, title, Reach::Write);
    let files = asked.store.small_files(LARGEST)?;
    let own = own_files(
        &search,
        facts,
        &from,
        files.get(&facts.id),
        (name, &rel_path),
        &mut draft.notes,
    )?;
    search.others(&mut draft, &[facts.id])?;
    search.outside(&mut draft);
    let mut texts = Vec::new();
    for (path, before, after) in own {
        let (before, after) = draft.keep_both(before, after);
        draft.plan.steps.push(Step::File {
            path: from.join(&path),
            before: before.clone(),
            after: after.clone(),
            keep: from.clone(),
        });
        texts.push(PartFile {
            path,
            before,
            after,
        });
    }
    if to != facts.path() {
        add_move(&mut draft, facts, part, (from, &to), &rel_path)?;
    }
    if let Some(new) = draft.plan.parts.get_mut(part) {
        new.files = texts;
    }
    draft.add_mirror(part, facts.root_id, &rel_path);
    Ok(draft)
}

/// The new name and the new place relative to the root.
fn place_of<'a>(facts: &SkillFacts, to: &'a str) -> Result<(&'a str, String)> {
    let (category, name) = match to.rsplit_once('/') {
        Some((category, name)) => (gate::category(Some(category))?.map(str::to_owned), name),
        None => {
            let parent = facts
                .rel_path
                .rsplit_once('/')
                .map(|(parent, _)| parent.to_owned());
            (parent, to)
        }
    };
    gate::name(name)?;
    let rel_path = match category {
        Some(category) => format!("{category}/{name}"),
        None => name.to_owned(),
    };
    Ok((name, rel_path))
}

type Change = (String, Side, Side);

/// The skill's own header, and what its own files say of it.
fn own_files(
    search: &Search<'_>,
    facts: &SkillFacts,
    folder: &Path,
    files: Option<&Vec<String>>,
    (name, rel_path): (&str, &str),
    notes: &mut Vec<String>,
) -> Result<Vec<Change>> {
    let mut changes = Vec::new();
    let others = files
        .into_iter()
        .flatten()
        .filter(|path| **path != facts.file_name);
    for path in std::iter::once(&facts.file_name).chain(others) {
        let Some((content @ Content::File { .. }, bytes)) = read_entry(folder, path)? else {
            continue;
        };
        let Ok(text) = std::str::from_utf8(&bytes) else {
            continue;
        };
        let swept = search.sweep(text, &folder.join(path), Text::of(Path::new(path)));
        let mut after = swept.text;
        if *path == facts.file_name {
            if let Some(declared) = references::rename_declared(&after, name) {
                after = declared;
            }
            check_header(facts, text, &after, name)?;
        }
        if leaves_folder(text)
            && facts.rel_path.rsplit_once('/').map(|(parent, _)| parent)
                != rel_path.rsplit_once('/').map(|(parent, _)| parent)
        {
            notes.push(format!(
                "{path} links out of the skill by `../`: look where that leads from the new place"
            ));
        }
        if after != text {
            let (before, after) = sides(&content, bytes.clone(), after);
            changes.push((path.clone(), before, after));
        }
    }
    Ok(changes)
}

/// Whether a Markdown link leads out of the folder.
fn leaves_folder(text: &str) -> bool {
    text.contains("](../")
}

/// A name that stands where it cannot be rewritten line by line stays as it is, and is told.
fn check_header(facts: &SkillFacts, before: &str, after: &str, name: &str) -> Result<()> {
    let declared = crate::skill::read(after.as_bytes(), name).declared_name;
    if declared.as_deref().is_some_and(|declared| declared != name) {
        return Err(Error::Denied {
            code: "name-mismatch",
            message: format!(
                "the header of `{}` declares its name in a form that cannot be rewritten",
                facts.name
            ),
            hint: Some(format!(
                "write `name: {}` on a line of its own first",
                folder_name(facts)
            )),
        });
    }
    gate::frontmatter(after, name, Some(before)).or_else(|error| match error.code() {
        // The old name was wrong already; a new one never makes that worse.
        "name-mismatch" | "name-charset" => Ok(()),
        _ => Err(error),
    })
}
