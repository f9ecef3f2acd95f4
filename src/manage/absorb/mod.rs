//! Skills become part of another one: their texts and files move into it, their folders into the archive, and
//! whatever named them names it.

mod package;
mod text;
mod umbrella;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::automations::{automations, target_of};
use super::draft::{Draft, Side, content_of, read_entry, real_folder};
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
use umbrella::Umbrella;

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
    let gone: Vec<i64> = asked.parts.iter().map(|part| part.id).collect();
    let mut pointers = Vec::new();
    for part in asked.parts {
        let places = umbrella.take(&mut draft.notes, part, asked)?;
        let found = pointers_to(asked.store, part, (into, &place), (&gone, places))?;
        if found.first().is_some_and(|pointer| pointer.paths_only) {
            draft.notes.push(format!(
                "another skill is called `{}` as well: only paths were rewritten, names were left alone",
                part.name
            ));
        }
        pointers.extend(found);
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
        let after = match String::from_utf8(after.1) {
            Ok(text) => {
                let text = search
                    .own(&mut draft.notes, into, &text, &path)
                    .into_bytes();
                (content_of(&text, Some(&after.0), None), text)
            }
            Err(error) => (after.0, error.into_bytes()),
        };
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
    let mut but = gone;
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

/// What is looked for on behalf of a skill that goes, and of those that it had absorbed before.
fn pointers_to<'a>(
    store: &Store,
    part: &SkillFacts,
    (into, folder): (&'a SkillFacts, &'a Path),
    (gone, places): (&[i64], BTreeMap<String, String>),
) -> Result<Vec<Pointer<'a>>> {
    let to = || Moved {
        name: &into.name,
        folder,
        rel_path: &into.rel_path,
    };
    let is_shared = |facts: &SkillFacts| -> Result<bool> {
        let namesakes = store.live_with_name(&facts.name)?;
        Ok(namesakes.iter().any(|id| !gone.contains(id)))
    };
    let mut pointers = vec![Pointer {
        target: target_of(part),
        to: to(),
        inner: Inner::Places(places),
        paths_only: is_shared(part)?,
    }];
    for id in store.absorbed_by(part.id)? {
        let earlier = store.skill_facts(id)?;
        if !is_shared(&earlier)? {
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
            if !found.dangling.is_empty() {
                let lines: Vec<String> = found
                    .dangling
                    .iter()
                    .map(|hit| hit.line.to_string())
                    .collect();
                notes.push(format!(
                    "{path} of `{}` points at a file that is in no skill any more: line {}",
                    into.name,
                    lines.join(", ")
                ));
            }
            text = found.text;
            if has_values {
                let name = pointer.to.name;
                text = references::dedupe(&text, kind, name, Keep::None, &found.values);
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
