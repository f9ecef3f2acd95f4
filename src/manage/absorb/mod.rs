//! Skills become part of another one: their texts and files move into it, their folders into the archive, and
//! whatever named them names it.

mod package;
mod text;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::automations::{automations, target_of};
use super::draft::{Draft, Side, content_of, movable_folder, read_entry, real_folder};
use super::gate;
use super::ownership::Reach;
use super::places::{Reasons, archive, denied};
use super::pointers::{LARGEST, Pointer, Search, sides};
use super::texts::folder_name;
use crate::error::{Error, Result};
use crate::library::Content;
use crate::references::{self, Inner, Keep, Kind, Moved, Text};
use crate::store::{SkillFacts, Store};
use crate::time::Timestamp;
use package::Package;

/// What becomes of the text of a skill that is merged into another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Carry {
    /// A section of the other's text.
    Section,
    /// A file beside it, named in its text.
    Reference,
    /// Nothing: the other one says it already. Its files stay in the archive with it.
    Nothing,
}

/// What the planner of a merge asks for.
pub(super) struct Absorbing<'a> {
    pub(super) store: &'a Store,
    /// The skills that go.
    pub(super) parts: &'a [SkillFacts],
    pub(super) carry: Carry,
    pub(super) now: Timestamp,
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
/// [`Error::Usage`] for a skill that would be merged into itself; [`Error::Denied`], [`Error::Io`].
pub(super) fn merge(mut draft: Draft, into: &SkillFacts, asked: &Absorbing<'_>) -> Result<Draft> {
    check(into, asked.parts)?;
    let folder = real_folder(into)?;
    let Some((content @ Content::File { .. }, before)) = read_entry(&folder, &into.file_name)?
    else {
        return Err(denied(
            "skill-gone",
            format!(
                "`{}` has no {} that can be written",
                into.name, into.file_name
            ),
            None,
        ));
    };
    let text = String::from_utf8(before.clone()).map_err(|_| {
        let message = format!("{} of `{}` is not UTF-8 text", into.file_name, into.name);
        denied("not-text", message, None)
    })?;
    let mut umbrella = Umbrella {
        into,
        folder: folder.clone(),
        text: text.clone(),
        files: BTreeMap::new(),
    };
    let place = into.path();
    let mut pointers = Vec::new();
    for part in asked.parts {
        let places = umbrella.take(&mut draft.notes, part, asked)?;
        pointers.extend(pointers_to(asked.store, part, (into, &place), places)?);
    }
    let search = Search {
        store: asked.store,
        pointers,
        automations: automations(asked.store, asked.automations)?,
        may_write: asked.may_write,
        may_write_outside: asked.may_write_outside,
    };
    umbrella.text = search.own(&mut draft.notes, into, &umbrella.text, &into.file_name);
    gate::frontmatter(&umbrella.text, folder_name(into), Some(&text))?;
    gate::size(&into.file_name, &umbrella.text, Some(&text)).map_err(suggest_reference)?;
    let names: Vec<String> = asked.parts.iter().map(|part| part.name.clone()).collect();
    let title = format!("absorbed {}", names.join(", "));
    let number = draft.add_skill(into, title, Reach::Write);
    if umbrella.text != text {
        let (before, after) = sides(&content, before, umbrella.text);
        draft.add_file(number, &folder, &into.file_name, before, after);
    }
    own_files(&mut draft, &search, asked.store, (into, number), &folder)?;
    for (path, after) in umbrella.files {
        gate::file_size(&path, &after.1)?;
        draft.add_file(number, &folder, &path, None, Some(after));
    }
    draft.add_mirror(number, into.root_id, &into.rel_path);
    for part in asked.parts {
        let reasons = Reasons {
            why: "absorbed",
            anchor: None,
            heir: Some((into.id, &into.name)),
        };
        archive(&mut draft, part, asked.now, reasons)?;
    }
    let mut but: Vec<i64> = asked.parts.iter().map(|part| part.id).collect();
    but.push(into.id);
    search.others(&mut draft, &but)?;
    search.outside(&mut draft);
    Ok(draft)
}

fn suggest_reference(error: Error) -> Error {
    match error {
        Error::Denied { code, message, .. } => Error::Denied {
            code,
            message,
            hint: Some("merge with --reference: then its text is a file of its own".to_owned()),
        },
        error => error,
    }
}

fn check(into: &SkillFacts, parts: &[SkillFacts]) -> Result<()> {
    let wrong = |message: String, hint: Option<&str>| {
        Err(Error::Usage {
            message,
            hint: hint.map(str::to_owned),
        })
    };
    for (index, part) in parts.iter().enumerate() {
        if part.id == into.id {
            return wrong(
                format!("`{}` cannot be merged into itself", into.name),
                Some("name another skill with --into"),
            );
        }
        if parts.iter().take(index).any(|other| other.id == part.id) {
            return wrong(format!("`{}` is named twice", part.name), None);
        }
        let inside =
            |inner: &SkillFacts, outer: &SkillFacts| inner.path().starts_with(outer.path());
        if inside(part, into) || inside(into, part) {
            return Err(denied(
                "nested-skill",
                format!(
                    "one of `{}` and `{}` lies inside the other",
                    part.name, into.name
                ),
                Some("move one of them out first".to_owned()),
            ));
        }
        if part.state == "archived" {
            return Err(denied(
                "archived-already",
                format!("`{}` is archived already", part.name),
                Some(format!("`skilldb restore '#{}'` brings it back", part.id)),
            ));
        }
    }
    if into.state == "archived" {
        return Err(denied(
            "archived",
            format!("`{}` is archived: nothing is merged into it", into.name),
            Some(format!("`skilldb restore '#{}'` brings it back", into.id)),
        ));
    }
    Ok(())
}

/// The skill that takes others in, while it does.
struct Umbrella<'a> {
    into: &'a SkillFacts,
    folder: PathBuf,
    text: String,
    /// What comes into its folder, by place.
    files: BTreeMap<String, (Content, Vec<u8>)>,
}

impl Umbrella<'_> {
    /// Takes a skill in; says where each of its files is from now on.
    fn take(
        &mut self,
        notes: &mut Vec<String>,
        part: &SkillFacts,
        asked: &Absorbing<'_>,
    ) -> Result<BTreeMap<String, String>> {
        let mut places = BTreeMap::new();
        if asked.carry == Carry::Nothing {
            places.insert(part.file_name.clone(), self.into.file_name.clone());
            return Ok(places);
        }
        let package = Package::read(asked.store, part, &movable_folder(part)?)?;
        let prose = text::prose(&package.text, &part.name);
        notes.extend(package.left.iter().map(|path| {
            let name = &part.name;
            format!("`{name}`: {path} stays in the archive: it is no file that could be moved")
        }));
        if !prose.keys.is_empty() {
            notes.push(format!(
                "`{}` says in its header: {}; look whether `{}` needs that",
                part.name,
                prose.keys.join(", "),
                self.into.name
            ));
        }
        let own = match asked.carry {
            Carry::Reference => {
                self.free_place(&format!("references/{}.md", part.name), part, None)?
            }
            Carry::Section | Carry::Nothing => self.into.file_name.clone(),
        };
        places.insert(part.file_name.clone(), own.clone());
        for (path, (content, _)) in &package.files {
            let place = self.free_place(path, part, Some(content))?;
            places.insert(path.clone(), place);
        }
        for (path, (content, bytes)) in package.files {
            let Some(place) = places.get(&path) else {
                continue;
            };
            let after = moved(&content, bytes, (&path, place), &places);
            if !self.is_there(place, &after.0)? {
                self.files.insert(place.clone(), after);
            }
        }
        let body = references::rehome_inside(&prose.body, (&part.file_name, &own), &places);
        let prose = text::Prose { body, ..prose };
        if asked.carry == Carry::Reference {
            let bytes = text::as_file(&prose).into_bytes();
            self.files
                .insert(own.clone(), (content_of(&bytes, None, None), bytes));
            self.text = text::with_pointer(&self.text, &prose, &own);
        } else {
            self.text = text::with_section(&self.text, &prose, &part.name);
        }
        Ok(places)
    }

    /// Whether a file stands there already, or comes there, that says the same.
    fn is_there(&self, place: &str, content: &Content) -> Result<bool> {
        if let Some((known, _)) = self.files.get(place) {
            return Ok(known.says_the_same(content));
        }
        let found = read_entry(&self.folder, place)?;
        Ok(found.is_some_and(|(found, _)| found.says_the_same(content)))
    }

    /// A place where nothing stands, or the same: as it was, else with the skill's name before it.
    fn free_place(
        &self,
        path: &str,
        part: &SkillFacts,
        content: Option<&Content>,
    ) -> Result<String> {
        let (folder, name) = match path.rsplit_once('/') {
            Some((folder, name)) => (format!("{folder}/"), name),
            None => (String::new(), path),
        };
        let named = format!("{folder}{}-{name}", part.name);
        let numbered = (2..100).map(|number| format!("{folder}{}-{number}-{name}", part.name));
        for place in [path.to_owned(), named].into_iter().chain(numbered) {
            let is_same = match content {
                Some(content) => self.is_there(&place, content)?,
                None => false,
            };
            let is_taken = self.files.contains_key(&place) || self.stands(&place);
            if is_same || !is_taken {
                return Ok(place);
            }
        }
        Err(denied(
            "name-taken",
            format!("no place is left for {path} of `{}`", part.name),
            None,
        ))
    }

    /// Whether anything stands in the way, on the way or in the place, in any spelling.
    fn stands(&self, place: &str) -> bool {
        let whole = self.folder.join(place);
        let is_blocked = whole
            .ancestors()
            .skip(1)
            .take_while(|folder| folder.starts_with(&self.folder) && **folder != *self.folder)
            .any(|folder| folder.symlink_metadata().is_ok_and(|found| !found.is_dir()));
        let (Some(parent), Some(name)) = (
            whole.parent(),
            whole.file_name().and_then(|name| name.to_str()),
        ) else {
            return true;
        };
        is_blocked || super::create::namesake(parent, name).is_some()
    }
}

/// A file in its new place: links in its text lead to where the others are now.
fn moved(
    content: &Content,
    bytes: Vec<u8>,
    (path, place): (&str, &str),
    places: &BTreeMap<String, String>,
) -> (Content, Vec<u8>) {
    match String::from_utf8(bytes) {
        Ok(text) => {
            let text = references::rehome_inside(&text, (path, place), places).into_bytes();
            (content_of(&text, Some(content), None), text)
        }
        Err(error) => (content.clone(), error.into_bytes()),
    }
}

/// What is looked for on behalf of a skill that goes, and of those that it had absorbed before.
fn pointers_to<'a>(
    store: &Store,
    part: &SkillFacts,
    (into, folder): (&'a SkillFacts, &'a Path),
    places: BTreeMap<String, String>,
) -> Result<Vec<Pointer<'a>>> {
    let to = || Moved {
        name: &into.name,
        folder,
        rel_path: &into.rel_path,
    };
    let mut pointers = vec![Pointer {
        target: target_of(part),
        to: to(),
        inner: Inner::Places(places),
        paths_only: store.live_named(&part.name, part.id)?.is_some(),
    }];
    for id in store.absorbed_by(part.id)? {
        let earlier = store.skill_facts(id)?;
        if store.live_named(&earlier.name, earlier.id)?.is_none() {
            pointers.push(Pointer {
                target: target_of(&earlier),
                to: to(),
                inner: Inner::Places(BTreeMap::new()),
                paths_only: false,
            });
        }
    }
    Ok(pointers)
}

impl Search<'_> {
    /// What the umbrella's own text says of its parts: paths lead to where the files are now, and its header does not
    /// name itself. Sentences about them are a person's to rewrite, and told.
    fn own(&self, notes: &mut Vec<String>, into: &SkillFacts, text: &str, path: &str) -> String {
        let whole = into.path().join(path);
        let kind = Text::of(&whole);
        let mut text = text.to_owned();
        for pointer in &self.pointers {
            let hits = references::find(&text, kind, &whole, &pointer.target);
            let (ours, others): (Vec<_>, Vec<_>) = hits
                .into_iter()
                .filter(|hit| hit.kind == Kind::Path || !pointer.paths_only)
                .partition(|hit| matches!(hit.kind, Kind::Path | Kind::Value));
            if !others.is_empty() {
                let lines: Vec<String> = others.iter().map(|hit| hit.line.to_string()).collect();
                notes.push(format!(
                    "{path} of `{}` still speaks of `{}`: line {}",
                    into.name,
                    pointer.target.name,
                    lines.join(", ")
                ));
            }
            let has_values = ours.iter().any(|hit| hit.kind == Kind::Value);
            let found =
                references::rehome(&text, ours, &pointer.target, &pointer.to, &pointer.inner);
            text = found.text;
            if has_values {
                text = references::dedupe(&text, kind, pointer.to.name, Keep::None);
            }
        }
        text
    }
}

/// What the umbrella's other files say of its parts.
fn own_files(
    draft: &mut Draft,
    search: &Search<'_>,
    store: &Store,
    (into, number): (&SkillFacts, usize),
    folder: &Path,
) -> Result<()> {
    let files = store
        .small_files(LARGEST)?
        .remove(&into.id)
        .unwrap_or_default();
    for path in files.iter().filter(|path| **path != into.file_name) {
        let Some((content @ Content::File { .. }, bytes)) = read_entry(folder, path)? else {
            continue;
        };
        let Ok(text) = String::from_utf8(bytes.clone()) else {
            continue;
        };
        let after = search.own(&mut draft.notes, into, &text, path);
        if after != text {
            let (before, after): (Side, Side) = sides(&content, bytes, after);
            draft.add_file(number, folder, path, before, after);
        }
    }
    Ok(())
}
