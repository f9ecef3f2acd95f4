//! Changes to where skills lie: archive, restore, delete.

use std::path::{Path, PathBuf};

use super::create::namesake;
use super::draft::{Draft, movable_folder, read_tree};
use super::ownership::Reach;
use super::paths::split;
use super::plan::{Effect, PartFile};
use super::step::Step;
use crate::error::{Error, Result};
use crate::library::write::{Folder, is_real_folder};
use crate::library::{ARCHIVE, TreeEntry};
use crate::store::{SkillFacts, Store};
use crate::time::Timestamp;

pub(super) fn denied(code: &'static str, message: String, hint: Option<String>) -> Error {
    Error::Denied {
        code,
        message,
        hint,
    }
}

/// Why a skill is put into the archive.
#[derive(Debug, Clone, Copy)]
pub(super) struct Reasons<'a> {
    /// In a few words.
    pub(super) why: &'a str,
    /// The moment its idle time counted from.
    pub(super) anchor: Option<&'a str>,
    /// What it was absorbed into: row and name.
    pub(super) heir: Option<(i64, &'a str)>,
}

/// Puts a skill into the archive of its root, in the folders it lies in.
pub(super) fn archive(
    draft: &mut Draft,
    facts: &SkillFacts,
    now: Timestamp,
    reasons: Reasons<'_>,
) -> Result<()> {
    if facts.state == "archived" {
        return Err(denied(
            "archived-already",
            format!("`{}` is archived already", facts.name),
            Some(format!("`skilldb restore '#{}'` brings it back", facts.id)),
        ));
    }
    let from = movable_folder(facts)?;
    let wanted = facts.root.join(ARCHIVE).join(&facts.rel_path);
    // Inside an archived skill it would be a part of that one.
    let wanted = match nearest_skill(&facts.root, &wanted) {
        Some(_) => facts
            .root
            .join(ARCHIVE)
            .join(from.file_name().unwrap_or_default()),
        None => wanted,
    };
    let is_planned = |path: &Path| {
        let mut places = draft
            .plan
            .parts
            .iter()
            .filter_map(|part| part.to.as_deref());
        places.any(|place| place == path)
    };
    let to = free_place(&wanted, now, is_planned);
    let Ok(rel_path) = to.strip_prefix(&facts.root) else {
        return Err(denied(
            "path-escapes",
            format!("{} leaves the root", to.display()),
            None,
        ));
    };
    let rel_path = rel_path.to_string_lossy().into_owned();
    let title = match (reasons.heir, reasons.anchor) {
        (Some((_, heir)), _) => format!("absorbed into {heir}, archived"),
        (None, Some(_)) => format!("archived: {}", reasons.why),
        (None, None) => "archived".to_owned(),
    };
    let part = draft.add_untouched(facts, title, Reach::Remove);
    add_move(draft, facts, part, (from, &to), &rel_path)?;
    draft.plan.effects.push(Effect::State {
        skill_id: facts.id,
        to: "archived".to_owned(),
        reason: reasons.why.to_owned(),
        anchor: reasons.anchor.map(str::to_owned),
        heir: reasons.heir.map(|(id, _)| id),
    });
    draft.plan.effects.push(Effect::ArchivedFrom {
        skill_id: facts.id,
        from: Some(facts.rel_path.clone()),
    });
    draft.add_mirror(part, facts.root_id, &rel_path);
    Ok(())
}

/// Two archives of one name both stay: the later one has the time in its name.
fn free_place(wanted: &Path, now: Timestamp, is_planned: impl Fn(&Path) -> bool) -> PathBuf {
    let is_free = |path: &Path| path.symlink_metadata().is_err() && !is_planned(path);
    if is_free(wanted) {
        return wanted.to_path_buf();
    }
    let name = wanted
        .file_name()
        .map(|name| name.to_string_lossy().into_owned())
        .unwrap_or_default();
    let stamp: String = now
        .to_string()
        .chars()
        .filter(char::is_ascii_digit)
        .take(14)
        .collect();
    let numbered =
        std::iter::once(String::new()).chain((2..).map(|number: u32| format!("-{number}")));
    numbered
        .map(|number| wanted.with_file_name(format!("{name}-{stamp}{number}")))
        .find(|path| is_free(path))
        .unwrap_or_else(|| wanted.to_path_buf())
}

/// Brings a skill back to where it lay.
pub(super) fn restore(mut draft: Draft, store: &Store, facts: &SkillFacts) -> Result<Draft> {
    if facts.state != "archived" {
        return Err(denied(
            "not-archived",
            format!("`{}` is not archived", facts.name),
            Some("`skilldb list --archived` shows what is".to_owned()),
        ));
    }
    let from = movable_folder(facts)?;
    let rel_path = home_of(facts);
    let to = facts.root.join(&rel_path);
    is_taken(store, facts, &to)?;
    let part = draft.add_untouched(facts, "restored".to_owned(), Reach::Write);
    add_move(&mut draft, facts, part, (from, &to), &rel_path)?;
    draft.plan.effects.push(Effect::State {
        skill_id: facts.id,
        to: "active".to_owned(),
        reason: "restored".to_owned(),
        anchor: None,
        heir: None,
    });
    draft.plan.effects.push(Effect::ArchivedFrom {
        skill_id: facts.id,
        from: None,
    });
    draft.add_mirror(part, facts.root_id, &rel_path);
    Ok(draft)
}

/// Refuses a place for a skill where something lies already, or where a live skill has its name.
///
/// # Errors
/// [`Error::Denied`].
pub(super) fn is_taken(store: &Store, facts: &SkillFacts, to: &Path) -> Result<()> {
    let no = |why: String, hint: &str| {
        denied(
            "name-taken",
            format!("`{}` cannot go there: {why}", facts.name),
            Some(format!("{hint}; nothing was overwritten")),
        )
    };
    let (parent, name) = split(to)?;
    let taken = namesake(parent, name).map(|found| parent.join(found));
    if let Some(found) = taken.filter(|found| *found != facts.path()) {
        return Err(no(
            format!("something lies at {}", found.display()),
            "rename or archive what lies there first",
        ));
    }
    if let Some(category) = nearest_skill(&facts.root, to) {
        return Err(no(
            format!("its category {} is a skill now", category.display()),
            "move that skill first",
        ));
    }
    let is_archive = to
        .strip_prefix(&facts.root)
        .is_ok_and(|path| path.starts_with(ARCHIVE));
    if let Some(path) = store
        .live_named(&facts.name, facts.id)?
        .filter(|_| !is_archive)
    {
        return Err(no(
            format!("a live skill has its name: {path}"),
            "rename or archive that one first",
        ));
    }
    Ok(())
}

/// Refuses a place for a skill that comes from elsewhere, where something lies already.
///
/// # Errors
/// [`Error::Denied`].
pub(super) fn is_taken_by(name: &str, to: &Path, root: &Path) -> Result<()> {
    let (parent, last) = split(to)?;
    let found = namesake(parent, last).map(|found| parent.join(found));
    match found.or_else(|| nearest_skill(root, to)) {
        None => Ok(()),
        Some(found) => Err(denied(
            "name-taken",
            format!(
                "`{name}` cannot go to {}: something lies at {}",
                to.display(),
                found.display()
            ),
            Some("nothing was overwritten".to_owned()),
        )),
    }
}

/// Where an archived skill lay: as noted, else as its place in the archive tells. An archive made by others may
/// have the time of archiving in the folder's name.
pub(super) fn home_of(facts: &SkillFacts) -> String {
    if let Some(from) = &facts.archived_from {
        return from.clone();
    }
    let parts: Vec<&str> = facts
        .rel_path
        .split('/')
        .filter(|part| *part != ARCHIVE)
        .collect();
    let Some((last, category)) = parts.split_last() else {
        return facts.name.clone();
    };
    let mut parts: Vec<&str> = category.to_vec();
    parts.push(archived_at(last).map_or(*last, |(name, _)| name));
    parts.join("/")
}

/// Splits `notes-20260305180000` into the name and the time; `None` when it has no such end.
#[must_use]
pub fn archived_at(folder: &str) -> Option<(&str, String)> {
    let (name, stamp) = folder.rsplit_once('-')?;
    let is_stamp = stamp.len() == 14 && stamp.bytes().all(|byte| byte.is_ascii_digit());
    let part = |range| stamp.get(range).unwrap_or_default();
    let time = || {
        format!(
            "{}-{}-{}T{}:{}:{}.000Z",
            part(0..4),
            part(4..6),
            part(6..8),
            part(8..10),
            part(10..12),
            part(12..14)
        )
    };
    (is_stamp && !name.is_empty()).then(|| (name, time()))
}

/// Whether a folder is a skill, however its skill file is spelt.
pub(super) fn holds_skill(folder: &Path) -> bool {
    namesake(folder, "SKILL.md").is_some()
}

/// A folder on the way from the root to `path` that is a skill itself.
fn nearest_skill(root: &Path, path: &Path) -> Option<PathBuf> {
    path.ancestors()
        .skip(1)
        .take_while(|folder| *folder != root && folder.starts_with(root))
        .find(|folder| holds_skill(folder))
        .map(Path::to_path_buf)
}

/// Adds the step that moves a whole skill.
pub(super) fn add_move(
    draft: &mut Draft,
    facts: &SkillFacts,
    part: usize,
    (from, to): (PathBuf, &Path),
    rel_path: &str,
) -> Result<()> {
    let (parent, name) = split(&from)?;
    let folder = Folder::open(parent).map_err(Error::io("open", parent))?;
    let id = folder
        .identity(name)
        .map_err(Error::io("read", &from))?
        .unwrap_or_default();
    if let Some(part) = draft.plan.parts.get_mut(part) {
        part.from = Some(from.clone());
        part.to = Some(to.to_path_buf());
    }
    draft.plan.steps.push(Step::Move {
        from,
        to: to.to_path_buf(),
        id,
        keep: facts.root.clone(),
        keep_to: facts.root.clone(),
    });
    draft.plan.effects.push(Effect::Place {
        skill_id: facts.id,
        root_id: facts.root_id,
        rel_path: rel_path.to_owned(),
    });
    Ok(())
}

/// Removes a skill, live or archived. Every byte of it is in the history before it goes.
pub(super) fn delete_forever(mut draft: Draft, facts: &SkillFacts) -> Result<Draft> {
    let path = movable_folder(facts)?;
    if !is_real_folder(&path) {
        return Err(denied(
            "skill-gone",
            format!("{} is not there any more", path.display()),
            None,
        ));
    }
    let entries = read_tree(&mut draft.plan, &path)?;
    let inner: Vec<&str> = entries
        .iter()
        .filter_map(|entry| entry.path.strip_suffix("/SKILL.md"))
        .collect();
    if !inner.is_empty() {
        draft
            .notes
            .push(format!("skills inside it go with it: {}", inner.join(", ")));
    }
    remove_for_good(&mut draft, facts, path, entries, "removed".to_owned());
    Ok(draft)
}

/// Plans that a skill's folder goes, with what is in it.
pub(super) fn remove_for_good(
    draft: &mut Draft,
    facts: &SkillFacts,
    path: PathBuf,
    entries: Vec<TreeEntry>,
    title: String,
) {
    let part = draft.add_skill(facts, title, Reach::RemoveForGood);
    if let Some(part) = draft.plan.parts.get_mut(part) {
        part.from = Some(path.clone());
        part.files = files_of(&entries, true);
    }
    draft.plan.steps.push(Step::Tree {
        path,
        before: Some(entries),
        after: None,
        keep: facts.root.clone(),
    });
    draft.plan.effects.push(Effect::End { skill_id: facts.id });
}

/// What the history says about the files of a folder that goes, or comes.
pub(super) fn files_of(entries: &[TreeEntry], goes: bool) -> Vec<PartFile> {
    entries
        .iter()
        .map(|entry| match entry.content.clone() {
            // An empty folder: its path ends with a slash, and nothing stands there.
            None => PartFile {
                path: format!("{}/", entry.path),
                before: None,
                after: None,
            },
            Some(content) => {
                let (before, after) = if goes {
                    (Some(content), None)
                } else {
                    (None, Some(content))
                };
                PartFile {
                    path: entry.path.clone(),
                    before,
                    after,
                }
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_of_archiving_is_read_off_the_folder() {
        assert_eq!(
            archived_at("notes-20260305180000"),
            Some(("notes", "2026-03-05T18:00:00.000Z".to_owned()))
        );
        assert_eq!(archived_at("notes-2026"), None);
        assert_eq!(archived_at("20260305180000"), None);
    }
}
