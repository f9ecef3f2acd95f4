//! Collects everything below a skill: all of it is part of that skill.

use std::fs;

use super::{MAX_DEPTH, Reach, Step, Walker};
use crate::error::Result;
use crate::library::finding::WalkCode;
use crate::library::listing::{Listing, SKILL_FILE, is_not_there, list};
use crate::library::stat::Stat;
use crate::library::unit::{Entry, EntryKind, Unit};

/// Most files and folders that one skill is mirrored with.
const MAX_ENTRIES: usize = 20_000;
/// Folders of a skill that lies directly in a root: there, every other folder is a category.
const SUPPORT_FOLDERS: [&str; 4] = ["references", "templates", "scripts", "assets"];

impl Walker<'_> {
    pub(super) fn skill(
        &mut self,
        rel_path: &str,
        archived: bool,
        stat: Stat,
        listing: Listing,
        name: &str,
        reach: Reach,
    ) -> Result<()> {
        let mut entries = Vec::with_capacity(listing.files.len() + listing.folders.len());
        // A skill that is itself a root shares its folder with categories.
        let (own, categories): (Vec<String>, Vec<String>) = listing
            .folders
            .into_iter()
            .partition(|folder| rel_path != "." || SUPPORT_FOLDERS.contains(&folder.as_str()));
        let listing = Listing {
            folders: own,
            ..listing
        };
        self.package(rel_path, "", listing, &mut entries)?;
        self.limit(rel_path, name, &mut entries)?;
        entries.sort_unstable_by(|a, b| a.name.cmp(&b.name));
        let skill_file = entries.iter().position(|entry| entry.name == name);
        if let Some(entry) = skill_file.and_then(|index| entries.get_mut(index)) {
            self.follow_skill_file(rel_path, entry)?;
        }
        let unit = Unit {
            rel_path: rel_path.to_owned(),
            archived,
            stat,
            entries,
            skill_file,
        };
        (self.take)(Step::Unit(unit, self.looked_at_ns))?;
        self.children(rel_path, archived, &categories, reach)
    }

    /// Leaves out what is more than a skill is mirrored with; never the skill file itself.
    fn limit(&mut self, rel_path: &str, name: &str, entries: &mut Vec<Entry>) -> Result<()> {
        if entries.len() <= MAX_ENTRIES {
            return Ok(());
        }
        if let Some(index) = entries.iter().position(|entry| entry.name == name) {
            entries.swap(0, index);
        }
        entries.truncate(MAX_ENTRIES);
        let message = format!("more than {MAX_ENTRIES} files; the rest is not mirrored");
        self.find(
            rel_path,
            self.absolute(rel_path),
            WalkCode::TooManyFiles,
            message,
        )
    }

    /// A linked skill file counts with its target's facts; one that leaves the root is told.
    fn follow_skill_file(&mut self, rel_path: &str, entry: &mut Entry) -> Result<()> {
        if entry.kind != EntryKind::Link {
            return Ok(());
        }
        let path = self.absolute(rel_path).join(&entry.name);
        if let Ok(metadata) = fs::metadata(&path) {
            entry.kind = EntryKind::Followed;
            entry.stat = Stat::from(&metadata);
        }
        match path.canonicalize() {
            Ok(target) if !target.starts_with(self.root) => {
                let message = format!(
                    "the link leaves the root for {}; some clients do not follow it",
                    target.display()
                );
                self.find(rel_path, path, WalkCode::LinkLeavesRoot, message)
            }
            Ok(_) | Err(_) => Ok(()),
        }
    }

    /// Says that a skill file lies inside another skill.
    fn report_nested(&mut self, rel_path: &str, name: &str) -> Result<()> {
        let path = self.absolute(rel_path).join(name);
        let message = format!("part of the skill in `{rel_path}`, not a skill of its own");
        self.find(rel_path, path, WalkCode::NestedSkill, message)
    }

    /// Collects everything below a skill. `prefix` is the path from the skill's folder.
    fn package(
        &mut self,
        rel_path: &str,
        prefix: &str,
        listing: Listing,
        entries: &mut Vec<Entry>,
    ) -> Result<()> {
        let path_of = |name: &str| {
            if prefix.is_empty() {
                name.to_owned()
            } else {
                format!("{prefix}/{name}")
            }
        };
        for (name, stat) in listing.files {
            if !prefix.is_empty() && name == SKILL_FILE {
                self.report_nested(rel_path, &path_of(&name))?;
            }
            if entries.len() > MAX_ENTRIES && name != SKILL_FILE {
                continue;
            }
            entries.push(Entry {
                kind: EntryKind::File,
                name: path_of(&name),
                stat,
            });
        }
        for name in listing.links {
            if !prefix.is_empty() && name == SKILL_FILE {
                self.report_nested(rel_path, &path_of(&name))?;
            }
            let name = path_of(&name);
            if let Ok(metadata) = fs::symlink_metadata(self.absolute(rel_path).join(&name)) {
                entries.push(Entry {
                    kind: EntryKind::Link,
                    name,
                    stat: Stat::from(&metadata),
                });
            }
        }
        for name in listing.folders {
            if prefix.split('/').count() > MAX_DEPTH {
                let path = self.absolute(rel_path).join(path_of(&name));
                let message = format!("more than {MAX_DEPTH} folders deep; not mirrored");
                self.find(rel_path, path, WalkCode::TooDeep, message)?;
                continue;
            }
            self.package_folder(rel_path, &path_of(&name), entries)?;
        }
        Ok(())
    }

    fn package_folder(
        &mut self,
        rel_path: &str,
        name: &str,
        entries: &mut Vec<Entry>,
    ) -> Result<()> {
        let path = self.absolute(rel_path).join(name);
        match fs::symlink_metadata(&path).and_then(|metadata| Ok((metadata, list(&path)?))) {
            Ok((metadata, listing)) => {
                entries.push(Entry {
                    kind: EntryKind::Folder,
                    name: name.to_owned(),
                    stat: Stat::from(&metadata),
                });
                self.report_unusable(rel_path, &listing)?;
                self.package(rel_path, name, listing, entries)
            }
            Err(error) if is_not_there(&error) => Ok(()),
            Err(error) => {
                // Its stamps stay, so that opening it again is seen.
                if let Ok(metadata) = fs::symlink_metadata(&path) {
                    let stat = Stat::from(&metadata);
                    entries.push(Entry {
                        kind: EntryKind::Folder,
                        name: name.to_owned(),
                        stat,
                    });
                }
                self.find(
                    rel_path,
                    path,
                    WalkCode::FolderUnreadable,
                    format!("the folder cannot be read: {error}"),
                )
            }
        }
    }
}
