//! The skill that takes others in: its text, and a place for each file that comes.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::package::Package;
use super::{Absorbing, Carry, text};
use crate::error::{Error, Result};
use crate::library::Content;
use crate::manage::create::namesake;
use crate::manage::draft::{content_of, movable_folder, read_entry};
use crate::manage::places::denied;
use crate::manage::texts::folder_name;
use crate::references;
use crate::store::SkillFacts;

/// The skill that takes others in, while it does.
pub(super) struct Umbrella<'a> {
    pub(super) into: &'a SkillFacts,
    pub(super) folder: PathBuf,
    pub(super) text: String,
    pub(super) files: Files,
}

impl Umbrella<'_> {
    /// Takes a skill in; says where each of its files is from now on.
    pub(super) fn take(
        &mut self,
        notes: &mut Vec<String>,
        part: &SkillFacts,
        asked: &Absorbing<'_>,
    ) -> Result<BTreeMap<String, String>> {
        if asked.carry == Carry::Nothing {
            let places = [(part.file_name.clone(), self.into.file_name.clone())];
            return Ok(places.into());
        }
        let package = Package::read(asked.store, part, &movable_folder(part)?)?;
        let prose = text::prose(&package.text, &part.name);
        note_what_stays(notes, part, &package, &prose, &self.into.name);
        let own = match asked.carry {
            Carry::Reference => self.reference_place(part)?,
            Carry::Section | Carry::Nothing => self.into.file_name.clone(),
        };
        let (places, files) = self.settle(part, &package, &own)?;
        let moving = self.moving(part, (&part.file_name, &own), &places);
        let body = moving.rewrite(&prose.body);
        self.files.extend(files);
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

    fn moving<'m>(
        &'m self,
        part: &'m SkillFacts,
        (at, to): (&'m str, &'m str),
        places: &'m BTreeMap<String, String>,
    ) -> OwnedMoving<'m> {
        OwnedMoving {
            at,
            to,
            places,
            from_folder: part.path(),
            to_folder: self.into.path(),
        }
    }

    /// A free place for a skill's text, named as its folder is.
    fn reference_place(&self, part: &SkillFacts) -> Result<String> {
        let plain = |c: char| {
            if c.is_alphanumeric() || "-_.".contains(c) {
                c
            } else {
                '-'
            }
        };
        let slug: String = folder_name(part).chars().map(plain).collect();
        let numbered = (2..100).map(|number| format!("references/{slug}-{number}.md"));
        std::iter::once(format!("references/{slug}.md"))
            .chain(numbered)
            .find(|place| self.is_free(place))
            .ok_or_else(|| no_place(part, "its text"))
    }

    /// Finds a place for each file in which nothing stands, or the same: as it was, else with the skill's name before
    /// its own. What a file says depends on where the others are, so this goes on until nothing changes.
    fn settle(
        &self,
        part: &SkillFacts,
        package: &Package,
        own: &str,
    ) -> Result<(BTreeMap<String, String>, Files)> {
        let mut tries: BTreeMap<&String, usize> =
            package.files.keys().map(|path| (path, 0)).collect();
        for _ in 0..1_000 {
            let mut places: BTreeMap<String, String> = tries
                .iter()
                .map(|(path, tried)| ((*path).clone(), candidate(path, part, *tried)))
                .collect();
            places.insert(part.file_name.clone(), own.to_owned());
            let mut files = Files::new();
            let mut taken = None;
            for (path, (content, bytes)) in &package.files {
                let place = &places[path];
                let moving = self.moving(part, (path, place), &places);
                let after = moved(content, bytes, &moving);
                let is_doubled = place == own || stands_in(&files, place);
                match self.fit(place, &after.0) {
                    _ if is_doubled => taken = Some(path),
                    Fit::Free => drop(files.insert(place.clone(), after)),
                    Fit::Same => {}
                    Fit::Taken => taken = Some(path),
                }
                if taken.is_some() {
                    break;
                }
            }
            match taken.and_then(|path| tries.get_mut(path)) {
                None => return Ok((places, files)),
                Some(tried) if *tried > 50 => break,
                Some(tried) => *tried += 1,
            }
        }
        Err(no_place(part, "one of its files"))
    }

    /// Whether a file can have a place.
    fn fit(&self, place: &str, content: &Content) -> Fit {
        let is_same = |found: &Content| found == content;
        if let Some((known, _)) = self.files.get(place) {
            return if is_same(known) {
                Fit::Same
            } else {
                Fit::Taken
            };
        }
        if stands_in(&self.files, place) {
            return Fit::Taken;
        }
        match read_entry(&self.folder, place) {
            Ok(Some((found, _))) if is_same(&found) => Fit::Same,
            Ok(None) if !self.stands(place) => Fit::Free,
            // Something else, or something in the way that is no file.
            Ok(_) | Err(_) => Fit::Taken,
        }
    }

    fn is_free(&self, place: &str) -> bool {
        !stands_in(&self.files, place) && !self.stands(place)
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
        is_blocked || namesake(parent, name).is_some()
    }
}

/// What comes into a folder, by place.
type Files = BTreeMap<String, (Content, Vec<u8>)>;

/// Whether a file can have a place.
enum Fit {
    Free,
    /// What stands there says the same, and may be run by the same.
    Same,
    Taken,
}

/// Whether one of some files stands in a place, in any spelling, or one of the two would have to be a folder.
fn stands_in(files: &Files, place: &str) -> bool {
    let place = place.to_lowercase();
    files.keys().any(|known| {
        let known = known.to_lowercase();
        let is_inside = |inner: &str, outer: &str| {
            inner
                .strip_prefix(outer)
                .is_some_and(|rest| rest.starts_with('/'))
        };
        known == place || is_inside(&known, &place) || is_inside(&place, &known)
    })
}

/// The places a file may get, one after the other.
fn candidate(path: &str, part: &SkillFacts, tried: usize) -> String {
    let (folder, name) = match path.rsplit_once('/') {
        Some((folder, name)) => (format!("{folder}/"), name),
        None => (String::new(), path),
    };
    let prefix = folder_name(part);
    match tried {
        0 => path.to_owned(),
        1 => format!("{folder}{prefix}-{name}"),
        // Where the folder itself is in the way.
        2 => format!("{prefix}-{}", path.replace('/', "-")),
        number => format!("{folder}{prefix}-{number}-{name}"),
    }
}

fn no_place(part: &SkillFacts, what: &str) -> Error {
    let message = format!("no place is left for {what} of `{}`", part.name);
    denied("name-taken", message, None)
}

/// As [`references::Moving`], with folders of its own.
struct OwnedMoving<'m> {
    at: &'m str,
    to: &'m str,
    places: &'m BTreeMap<String, String>,
    from_folder: PathBuf,
    to_folder: PathBuf,
}

impl OwnedMoving<'_> {
    fn rewrite(&self, text: &str) -> String {
        let moving = references::Moving {
            at: self.at,
            to: self.to,
            places: self.places,
            from_folder: &self.from_folder,
            to_folder: &self.to_folder,
            is_there: &|path| path.exists(),
        };
        moving.rewrite(text)
    }
}

/// A file in its new place: links in its text lead to where the others are now.
fn moved(content: &Content, bytes: &[u8], moving: &OwnedMoving<'_>) -> (Content, Vec<u8>) {
    match std::str::from_utf8(bytes) {
        Ok(text) => {
            let text = moving.rewrite(text).into_bytes();
            (content_of(&text, Some(content), None), text)
        }
        Err(_) => (content.clone(), bytes.to_vec()),
    }
}

/// Says what of a skill does not come along.
fn note_what_stays(
    notes: &mut Vec<String>,
    part: &SkillFacts,
    package: &Package,
    prose: &text::Prose,
    into: &str,
) {
    let name = &part.name;
    notes.extend(package.left.iter().map(|path| {
        format!("`{name}`: {path} stays in the archive: it is no file that could be moved")
    }));
    if !package.skipped.is_empty() {
        notes.push(format!(
            "`{name}`: {} stay in the archive: they are no part of what a skill says",
            package.skipped.join(", ")
        ));
    }
    if !prose.keys.is_empty() {
        notes.push(format!(
            "`{name}` says in its header: {}; look whether `{into}` needs that",
            prose.keys.join(", ")
        ));
    }
}
