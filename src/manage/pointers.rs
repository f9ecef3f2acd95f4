//! What points at a skill: found in other skills and in automations, and rewritten where the caller may write.

use std::path::Path;

use super::automations::{Automation, Read};
use super::draft::{Draft, Side, content_of, read_entry};
use crate::error::Result;
use crate::library::Content;
use crate::references::{self, Hit, Inner, Keep, Kind, Moved, Rehomed, Target, Text, jobs};
use crate::store::{SkillFacts, Store};

/// Larger files of skills are not looked into, bytes.
pub(super) const LARGEST: u32 = 1_048_576;

/// Shorter names are words of every sentence, characters.
const SHORTEST: usize = 3;
/// Lines that are told of one file.
const MOST_LINES: usize = 5;

/// A skill that texts may name, and what it is from now on.
pub(super) struct Pointer<'a> {
    pub(super) target: Target,
    pub(super) to: Moved<'a>,
    /// Where its files are from now on.
    pub(super) inner: Inner,
    /// Whether its name may mean another skill: then only paths are rewritten.
    pub(super) paths_only: bool,
}

impl Pointer<'_> {
    /// The hits in a text, and the text after.
    pub(super) fn rewritten(&self, text: &str, path: &Path, kind: Text) -> Rehomed {
        let mut hits = references::find(text, kind, path, &self.target);
        if self.paths_only || self.to.name == self.target.name {
            hits.retain(|hit| hit.kind == Kind::Path);
        }
        let mut rehomed = references::rehome(text, hits, &self.target, &self.to, &self.inner);
        if rehomed.text == text {
            rehomed.hits.clear();
        }
        rehomed
    }

    /// Whether a job means this skill.
    fn is_named(&self, name: &str) -> bool {
        let name = name.trim_start_matches('/');
        let is_name = name == self.target.name && !self.paths_only;
        is_name || (name.contains('/') && name == self.target.rel_path)
    }
}

/// What is looked for, where, and by whom.
pub(super) struct Search<'a> {
    pub(super) store: &'a Store,
    pub(super) pointers: Vec<Pointer<'a>>,
    pub(super) automations: Vec<Automation>,
    /// Whether the caller may write to a skill; else why not.
    pub(super) may_write: &'a dyn Fn(&SkillFacts) -> std::result::Result<(), String>,
    /// Whether the caller may write to files of the user that are no skills.
    pub(super) may_write_outside: bool,
}

/// A text after all pointers were looked for in it.
#[derive(Default)]
pub(super) struct Swept {
    pub(super) text: String,
    /// `line (kind)` of what was rewritten.
    pub(super) places: Vec<String>,
    /// The same of what points at a file that is nowhere.
    pub(super) dangling: Vec<String>,
}

impl Search<'_> {
    /// Rewrites a text.
    pub(super) fn sweep(&self, text: &str, path: &Path, kind: Text) -> Swept {
        let mut swept = Swept {
            text: text.to_owned(),
            ..Swept::default()
        };
        for pointer in &self.pointers {
            let found = pointer.rewritten(&swept.text, path, kind);
            let has_values = found.hits.iter().any(|hit| hit.kind == Kind::Value);
            swept.places.extend(found.hits.iter().map(told));
            swept.dangling.extend(found.dangling.iter().map(told));
            swept.text = found.text;
            // Only where two skills have become one can a list name it twice.
            if has_values && matches!(pointer.inner, Inner::Places(_)) {
                swept.text = references::dedupe(
                    &swept.text,
                    kind,
                    pointer.to.name,
                    Keep::First,
                    &found.values,
                );
            }
        }
        swept
    }

    /// The names of all that is looked for, for what is told.
    fn names(&self) -> String {
        let names: Vec<String> = self
            .pointers
            .iter()
            .map(|pointer| format!("`{}`", pointer.target.name))
            .collect();
        names.join(", ")
    }

    /// Rewrites what other skills say; those in `but` are left out.
    ///
    /// # Errors
    /// [`crate::Error::Database`].
    pub(super) fn others(&self, draft: &mut Draft, but: &[i64]) -> Result<()> {
        let files = self.store.small_files(LARGEST)?;
        let nothing = Vec::new();
        for other in self.store.live_facts()? {
            if !but.contains(&other.id) {
                let files = files.get(&other.id).unwrap_or(&nothing);
                self.other_skill(draft, &other, files);
            }
        }
        Ok(())
    }

    /// What another skill says.
    fn other_skill(&self, draft: &mut Draft, other: &SkillFacts, files: &[String]) {
        let folder = other.path();
        let (mut changes, mut places, mut dangling) = (Vec::new(), Vec::new(), Vec::new());
        let own = std::iter::once(&other.file_name);
        for path in own.chain(files.iter().filter(|path| **path != other.file_name)) {
            let whole = folder.join(path);
            let Some(bytes) = self.mentioning(&whole) else {
                continue;
            };
            let Ok(text) = std::str::from_utf8(&bytes) else {
                continue;
            };
            let swept = self.sweep(text, &whole, Text::of(&whole));
            if *path == other.file_name {
                let header = crate::skill::read(swept.text.as_bytes(), &other.name).header_span;
                // The line before it is the fence.
                let header = swept.text.get(..header.end).unwrap_or_default();
                self.note_left(draft, &format!("the header of `{}`", other.name), header);
            }
            let named = |place: &String| format!("{path}:{place}");
            places.extend(swept.places.iter().map(named));
            dangling.extend(swept.dangling.iter().map(named));
            if swept.text == text {
                continue;
            }
            let found = folder
                .canonicalize()
                .ok()
                .map(|folder| read_entry(&folder, path))
                .transpose();
            if let Ok(Some(Some((content @ Content::File { .. }, current)))) = found
                && current == bytes
            {
                let (before, after) = sides(&content, current, swept.text);
                changes.push((path.clone(), before, after));
            }
        }
        note_dangling(draft, &format!("`{}`", other.name), &dangling);
        if places.is_empty() {
            return;
        }
        let places = places.join(", ");
        if let Err(why) = (self.may_write)(other) {
            draft.notes.push(format!(
                "`{}` still names {} and is left alone, because {why}: {places}",
                other.name,
                self.names()
            ));
            return;
        }
        let Ok(folder) = folder.canonicalize() else {
            return;
        };
        let part = draft.add_named(other, self.title(&places));
        for (path, before, after) in changes {
            draft.add_file(part, &folder, &path, before, after);
        }
        draft.add_mirror(part, other.root_id, &other.rel_path);
    }

    /// Says where a name stands that was not rewritten: a person may know what it means there.
    fn note_left(&self, draft: &mut Draft, whose: &str, text: &str) {
        let pointers = self.pointers.iter().filter(|pointer| !pointer.paths_only);
        for pointer in pointers.filter(|pointer| pointer.target.name.len() >= SHORTEST) {
            let name = &pointer.target.name;
            let lines = references::mentions(text, name);
            let told: Vec<String> = lines.iter().take(MOST_LINES).map(u32::to_string).collect();
            let more = if lines.len() > MOST_LINES {
                ", ..."
            } else {
                ""
            };
            if !told.is_empty() && *name != pointer.to.name {
                draft.notes.push(format!(
                    "{whose} still says `{name}`: line {}{more}",
                    told.join(", ")
                ));
            }
        }
    }

    fn title(&self, places: &str) -> String {
        let to = self.pointers.first().map_or("", |pointer| pointer.to.name);
        format!(
            "names {to} now instead of {}: {places}",
            self.names().replace('`', "")
        )
    }

    /// The bytes of a file, when one of the names is in them at all.
    fn mentioning(&self, path: &Path) -> Option<Vec<u8>> {
        let bytes = std::fs::read(path).ok()?;
        let holds = |word: &str| memchr::memmem::find(&bytes, word.as_bytes()).is_some();
        let is_in = |pointer: &Pointer<'_>| {
            let folder = pointer
                .target
                .folder
                .file_name()
                .and_then(|name| name.to_str());
            holds(&pointer.target.name) || folder.is_some_and(holds)
        };
        self.pointers.iter().any(is_in).then_some(bytes)
    }

    /// Rewrites what automations say.
    pub(super) fn outside(&self, draft: &mut Draft) {
        for automation in &self.automations {
            self.automation(draft, automation);
        }
    }

    fn automation(&self, draft: &mut Draft, automation: &Automation) {
        let path = automation.path.as_path();
        let shown = path.display();
        let (content, text) = match automation.read() {
            Read::Text(content, text) => (content, text),
            Read::Missing => {
                let note = format!("{shown} is listed under `automations` and is not there");
                draft.notes.push(note);
                return;
            }
            Read::Unreadable(why) => {
                draft
                    .notes
                    .push(format!("{shown} was not looked into: {why}"));
                return;
            }
        };
        let swept = if automation.is_jobs {
            self.jobs(draft, path, &text)
        } else {
            self.sweep(&text, path, Text::of_automation(path))
        };
        note_dangling(draft, &shown.to_string(), &swept.dangling);
        self.note_left(draft, &shown.to_string(), &swept.text);
        let Some(folder) = path.parent().filter(|_| swept.text != text) else {
            return;
        };
        let places: Vec<String> = swept
            .places
            .iter()
            .map(|place| format!("line {place}"))
            .collect();
        let places = places.join(", ");
        if !self.may_write_outside {
            draft.notes.push(format!(
                "{shown} still names {} and is left alone, because it is a person's: {places}",
                self.names()
            ));
            return;
        }
        let (before, after) = sides(&content, text.into_bytes(), swept.text);
        let title = self.title(&places);
        draft.add_outside(path, folder, title, before, after);
    }

    /// A list of jobs: the skills they load by its structure, commands and paths as in any text.
    fn jobs(&self, draft: &mut Draft, path: &Path, text: &str) -> Swept {
        let map = |name: &str| {
            let pointer = self
                .pointers
                .iter()
                .find(|pointer| pointer.is_named(name))?;
            Some(pointer.to.name.to_owned())
        };
        let mut swept = Swept {
            text: text.to_owned(),
            ..Swept::default()
        };
        match jobs::rewrite(text, &map) {
            Ok(None) => {}
            Ok(Some(new)) => {
                let place = |job: &jobs::JobChange| {
                    format!("{} (job `{}`: {})", job.line, job.job, job.after.join(", "))
                };
                swept.places.extend(new.jobs.iter().map(place));
                swept.text = new.text;
            }
            Err(why) => {
                let shown = path.display();
                draft
                    .notes
                    .push(format!("{shown} was not looked into: {why}"));
                return swept;
            }
        }
        for pointer in &self.pointers {
            let mut hits = references::find(&swept.text, Text::Automation, path, &pointer.target);
            hits.retain(|hit| {
                hit.kind == Kind::Path || hit.kind == Kind::Slash && !pointer.paths_only
            });
            let found = references::rehome(
                &swept.text,
                hits,
                &pointer.target,
                &pointer.to,
                &pointer.inner,
            );
            swept.places.extend(found.hits.iter().map(told));
            swept.dangling.extend(found.dangling.iter().map(told));
            swept.text = found.text;
        }
        swept
    }
}

fn told(hit: &Hit) -> String {
    format!("{} ({})", hit.line, hit.kind.as_str())
}

fn note_dangling(draft: &mut Draft, whose: &str, places: &[String]) {
    if !places.is_empty() {
        draft.notes.push(format!(
            "{whose} points at a file that is in no skill any more: {}",
            places.join(", ")
        ));
    }
}

pub(super) fn sides(content: &Content, before: Vec<u8>, after: String) -> (Side, Side) {
    let after = after.into_bytes();
    let new = content_of(&after, Some(content), None);
    (Some((content.clone(), before)), Some((new, after)))
}
