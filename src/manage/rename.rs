//! A skill gets another name: its folder, its header, and whatever points at it.

use std::path::{Path, PathBuf};

use super::create::check_collisions;
use super::draft::{Draft, Side, content_of, movable_folder, read_entry};
use super::gate;
use super::ownership::Reach;
use super::places::{add_move, is_taken};
use super::plan::PartFile;
use super::revert::read_outside;
use super::step::Step;
use super::texts::folder_name;
use crate::error::{Error, Result};
use crate::library::Content;
use crate::references::{self, Hit, Kind, Moved, Target, Text};
use crate::store::{SkillFacts, Store};

/// Larger files are not looked into, bytes.
const LARGEST: u32 = 1_048_576;

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
    let target = Target {
        name: facts.name.clone(),
        folder: from.clone(),
        rel_path: facts.rel_path.clone(),
        root: facts.root.clone(),
        is_path: Path::new("/").join(&facts.name).exists(),
    };
    // With two skills of a name nobody can say which one a name means.
    let namesake = asked.store.live_named(&facts.name, facts.id)?;
    let search = Search {
        target: &target,
        to: Moved {
            name,
            folder: &to,
            rel_path: &rel_path,
        },
        paths_only: namesake.is_some(),
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
        &mut draft.notes,
    )?;
    for other in asked.store.live_facts()? {
        if other.id != facts.id {
            let empty = Vec::new();
            let files = files.get(&other.id).unwrap_or(&empty);
            other_skill(&mut draft, &search, (&other, files), asked)?;
        }
    }
    for path in asked.automations {
        outside(&mut draft, &search, path, asked.may_write_outside)?;
    }
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

/// What is looked for, and what is put in its place.
struct Search<'a> {
    target: &'a Target,
    to: Moved<'a>,
    paths_only: bool,
}

impl Search<'_> {
    /// The hits in a text, and the text after.
    fn rewritten(&self, text: &str, path: &Path, kind: Text) -> (Vec<Hit>, String) {
        let mut hits = references::find(text, kind, path, self.target);
        if self.paths_only || self.to.name == self.target.name {
            hits.retain(|hit| hit.kind == Kind::Path);
        }
        let after = references::rewrite(text, &hits, self.target, &self.to);
        if after == text {
            hits.clear();
        }
        (hits, after)
    }
}

type Change = (String, Side, Side);

fn sides(content: &Content, before: Vec<u8>, after: String) -> (Side, Side) {
    let after = after.into_bytes();
    let new = content_of(&after, Some(content), None);
    (Some((content.clone(), before)), Some((new, after)))
}

/// The skill's own header, and what its own files say of it.
fn own_files(
    search: &Search<'_>,
    facts: &SkillFacts,
    folder: &Path,
    files: Option<&Vec<String>>,
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
        let (_, mut after) = search.rewritten(text, &folder.join(path), Text::of(Path::new(path)));
        if *path == facts.file_name {
            if let Some(declared) = references::rename_declared(&after, search.to.name) {
                after = declared;
            }
            check_header(facts, text, &after, search.to.name)?;
        }
        if leaves_folder(text)
            && facts.rel_path.rsplit_once('/').map(|(parent, _)| parent)
                != search
                    .to
                    .rel_path
                    .rsplit_once('/')
                    .map(|(parent, _)| parent)
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

/// What another skill says of it.
fn other_skill(
    draft: &mut Draft,
    search: &Search<'_>,
    (other, files): (&SkillFacts, &[String]),
    asked: &Renaming<'_>,
) -> Result<()> {
    let folder = other.path();
    let mut changes = Vec::new();
    let mut places = Vec::new();
    let own = std::iter::once(&other.file_name);
    for path in own.chain(files.iter().filter(|path| **path != other.file_name)) {
        let whole = folder.join(path);
        let Some(bytes) = mentioning(&whole, search.target) else {
            continue;
        };
        let Ok(text) = std::str::from_utf8(&bytes) else {
            continue;
        };
        let (hits, after) = search.rewritten(text, &whole, Text::of(&whole));
        if hits.is_empty() {
            continue;
        }
        places.extend(
            hits.iter()
                .map(|hit| format!("{path}:{} ({})", hit.line, hit.kind.as_str())),
        );
        let found = folder
            .canonicalize()
            .ok()
            .map(|folder| read_entry(&folder, path))
            .transpose();
        if let Ok(Some(Some((content @ Content::File { .. }, current)))) = found
            && current == bytes
        {
            let (before, after) = sides(&content, current, after);
            changes.push((path.clone(), before, after));
        }
    }
    if places.is_empty() {
        return Ok(());
    }
    let places = places.join(", ");
    if let Err(why) = (asked.may_write)(other) {
        draft.notes.push(format!(
            "`{}` still names `{}` and is left alone, because {why}: {places}",
            other.name, search.target.name
        ));
        return Ok(());
    }
    let Ok(folder) = folder.canonicalize() else {
        return Ok(());
    };
    let title = format!(
        "names {} now instead of {}: {places}",
        search.to.name, search.target.name
    );
    let part = draft.add_named(other, title);
    for (path, before, after) in changes {
        draft.add_file(part, &folder, &path, before, after);
    }
    draft.add_mirror(part, other.root_id, &other.rel_path);
    Ok(())
}

/// The bytes of a file, when the name is in them at all.
fn mentioning(path: &Path, target: &Target) -> Option<Vec<u8>> {
    let bytes = std::fs::read(path).ok()?;
    let folder = target.folder.file_name()?.to_str()?;
    let holds = |word: &str| memchr::memmem::find(&bytes, word.as_bytes()).is_some();
    (holds(&target.name) || holds(folder)).then_some(bytes)
}

/// What a file of the user says of it.
fn outside(draft: &mut Draft, search: &Search<'_>, path: &Path, may_write: bool) -> Result<()> {
    let Ok(path) = path.canonicalize() else {
        draft.notes.push(format!(
            "{} is listed under `automations` and is not there",
            path.display()
        ));
        return Ok(());
    };
    let found = match read_outside(&path) {
        Ok(found) => found,
        Err(error) => {
            draft
                .notes
                .push(format!("{} was not looked into: {error}", path.display()));
            return Ok(());
        }
    };
    let Some((content, bytes)) = found else {
        return Ok(());
    };
    let Ok(text) = std::str::from_utf8(&bytes) else {
        return Ok(());
    };
    let (hits, after) = search.rewritten(text, &path, Text::of_automation(&path));
    let Some(folder) = path.parent().filter(|_| !hits.is_empty()) else {
        return Ok(());
    };
    let places: Vec<String> = hits
        .iter()
        .map(|hit| format!("line {} ({})", hit.line, hit.kind.as_str()))
        .collect();
    let title = format!(
        "names {} now instead of {}: {}",
        search.to.name,
        search.target.name,
        places.join(", ")
    );
    if !may_write {
        draft.notes.push(format!(
            "{} still names `{}` and is left alone, because it is a person's: {}",
            path.display(),
            search.target.name,
            places.join(", ")
        ));
        return Ok(());
    }
    let (before, after) = sides(&content, bytes.clone(), after);
    draft.add_outside(&path, folder, title, before, after);
    Ok(())
}
