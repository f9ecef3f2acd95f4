//! Walks a root and hands over one unit after the other. Categories nest to any depth; below a skill
//! everything is part of that skill.

mod links;

use std::collections::{BTreeMap, HashSet, VecDeque};
use std::fs;
use std::path::{Path, PathBuf};

use super::finding::{WalkCode, WalkFinding};
use super::listing::{Listing, child_of, is_not_there, list};
use super::skip::ARCHIVE;
use super::stat::Stat;
use super::unit::{Entry, EntryKind, Unit};
use crate::error::Result;

/// Deepest folder below a root that is entered. Deeper than any library seen; stops a walk that a
/// file system makes endless.
const MAX_DEPTH: usize = 48;
/// Most files and folders that one skill is mirrored with.
const MAX_ENTRIES: usize = 20_000;
/// The name the Agent Skills spec asks for.
const SKILL_FILE: &str = "SKILL.md";
/// Folders of a skill that lies directly in a root: there, every other folder is a category.
const SUPPORT_FOLDERS: [&str; 4] = ["references", "templates", "scripts", "assets"];

/// How much to walk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// The folder and everything below it.
    Deep,
    /// The folder itself and those folders directly in it that `known` does not name.
    NewOnly,
}

/// What the walk hands over.
#[derive(Debug)]
pub enum Step {
    /// A folder with what `stat` said about it.
    Unit(Unit),
    /// Something to say about a path.
    Finding(WalkFinding),
    /// A folder nothing could be learnt about: what lies below it is neither there nor gone. The
    /// finding's `unit` is the folder.
    Unknown(WalkFinding),
}

/// How a walk ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// Everything asked for was walked.
    Complete,
    /// A new link was met while only a part was walked. Whether it repeats another one can only be
    /// judged by a walk of the whole root: forget what was handed over and walk that.
    NeedsWholeRoot,
}

/// Which part of a root to walk.
pub struct Request<'a> {
    /// The root, absolute and without links.
    pub root: &'a Path,
    /// Relative path to start from, `.` for all.
    pub start: &'a str,
    /// Whether the start lies in an archive.
    pub archived: bool,
    /// How much below the start.
    pub reach: Reach,
    /// Says whether the folder at a relative path is known already.
    pub is_known: &'a dyn Fn(&str) -> bool,
}

/// Walks a root or a part of it, handing over one step after the other.
///
/// # Errors
/// What `take` returns. A root that cannot be read is a step, not an error.
pub fn walk(request: &Request<'_>, take: &mut dyn FnMut(Step) -> Result<()>) -> Result<End> {
    let whole = request.start == "." && request.reach == Reach::Deep;
    let mut walker = Walker {
        root: request.root,
        is_known: request.is_known,
        take,
        followed: HashSet::new(),
        is_behind_link: false,
        links: VecDeque::new(),
        whole,
        end: End::Complete,
    };
    walker.folder(request.start, request.archived, request.reach)?;
    // Real folders first: a link to one of them is then known to be a repetition. In order of names,
    // so that of two links to one folder it is always the same one that counts.
    while let Some((rel_path, archived)) = walker.links.pop_front() {
        walker.link(&rel_path, archived)?;
    }
    Ok(walker.end)
}

struct Walker<'a> {
    root: &'a Path,
    is_known: &'a dyn Fn(&str) -> bool,
    take: &'a mut dyn FnMut(Step) -> Result<()>,
    /// (device, inode) of folders that links led to.
    followed: HashSet<(u64, u64)>,
    is_behind_link: bool,
    links: VecDeque<(String, bool)>,
    whole: bool,
    end: End,
}

impl Walker<'_> {
    fn absolute(&self, rel_path: &str) -> PathBuf {
        if rel_path == "." {
            self.root.to_path_buf()
        } else {
            self.root.join(rel_path)
        }
    }

    fn find(
        &mut self,
        unit: &str,
        path: PathBuf,
        code: WalkCode,
        message: impl Into<String>,
    ) -> Result<()> {
        (self.take)(Step::Finding(WalkFinding {
            unit: unit.to_owned(),
            path,
            code,
            message: message.into(),
        }))
    }

    fn report_nameless(&mut self, unit: &str, listing: &Listing) -> Result<()> {
        for path in &listing.nameless {
            let message = "the name is not UTF-8, so it is left out; rename it";
            self.find(unit, path.clone(), WalkCode::NameNotUtf8, message)?;
        }
        Ok(())
    }

    fn folder(&mut self, rel_path: &str, archived: bool, reach: Reach) -> Result<()> {
        let path = self.absolute(rel_path);
        let looked = fs::metadata(&path).and_then(|metadata| Ok((metadata, list(&path)?)));
        let (metadata, listing) = match looked {
            Ok(looked) => looked,
            // Vanished while we walked: the next sync sees it gone.
            Err(error) if is_not_there(&error) && rel_path != "." => return Ok(()),
            Err(error) => {
                return (self.take)(Step::Unknown(WalkFinding {
                    unit: rel_path.to_owned(),
                    path,
                    code: WalkCode::FolderUnreadable,
                    message: format!("the folder cannot be read: {error}"),
                }));
            }
        };
        if self.is_walked_again(&metadata) {
            return self.repeated(rel_path);
        }
        let stat = Stat::from(&metadata);
        self.report_nameless(rel_path, &listing)?;
        match self.skill_file(rel_path, &path, &listing)? {
            Some(name) => self.skill(rel_path, archived, stat, listing, &name, reach),
            None => self.category(rel_path, archived, stat, &listing, reach),
        }
    }

    /// Finds the file that makes the folder a skill: `SKILL.md`, else another spelling of it.
    fn skill_file(
        &mut self,
        rel_path: &str,
        path: &Path,
        listing: &Listing,
    ) -> Result<Option<String>> {
        let names = listing.files.iter().map(|(name, _)| name).chain(
            listing
                .links
                .iter()
                .filter(|name| path.join(name).is_file()),
        );
        let mut spellings: Vec<&String> = names
            .filter(|name| name.eq_ignore_ascii_case(SKILL_FILE))
            .collect();
        spellings.sort_unstable_by_key(|name| (name.as_str() != SKILL_FILE, name.as_str()));
        let Some((first, others)) = spellings.split_first() else {
            return Ok(None);
        };
        if first.as_str() != SKILL_FILE {
            self.find(
                rel_path,
                path.join(first),
                WalkCode::FileNameCase,
                format!("most clients only see a file named {SKILL_FILE}; rename `{first}`"),
            )?;
        }
        for other in others {
            self.find(
                rel_path,
                path.join(other),
                WalkCode::CaseTwin,
                format!("`{other}` and `{first}` differ only in case; `{first}` is used"),
            )?;
        }
        Ok(Some((*first).clone()))
    }

    fn category(
        &mut self,
        rel_path: &str,
        archived: bool,
        stat: Stat,
        listing: &Listing,
        reach: Reach,
    ) -> Result<()> {
        self.report_twins(rel_path, &listing.folders)?;
        let mut entries = Vec::new();
        for name in &listing.links {
            let child = child_of(rel_path, name);
            match fs::metadata(self.absolute(&child)) {
                Ok(metadata) if metadata.is_dir() => {
                    if reach == Reach::Deep || !(self.is_known)(&child) {
                        if !self.whole {
                            self.end = End::NeedsWholeRoot;
                        }
                        self.links.push_back((child, archived || name == ARCHIVE));
                    }
                }
                Ok(_) => {}
                Err(_) => {
                    let path = self.absolute(&child);
                    let target = fs::read_link(&path).unwrap_or_default();
                    self.find(
                        rel_path,
                        path,
                        WalkCode::LinkDangling,
                        format!("the link leads to {}, which is not there", target.display()),
                    )?;
                    entries.push(Entry {
                        kind: EntryKind::Dangling,
                        name: name.clone(),
                        stat: Stat::default(),
                    });
                }
            }
        }
        let unit = Unit {
            rel_path: rel_path.to_owned(),
            archived,
            stat,
            entries,
            skill_file: None,
        };
        (self.take)(Step::Unit(unit))?;
        self.children(rel_path, archived, &listing.folders, reach)
    }

    fn children(
        &mut self,
        rel_path: &str,
        archived: bool,
        folders: &[String],
        reach: Reach,
    ) -> Result<()> {
        for name in folders {
            let child = child_of(rel_path, name);
            if reach == Reach::NewOnly && (self.is_known)(&child) {
                continue;
            }
            if child.split('/').count() > MAX_DEPTH {
                let path = self.absolute(&child);
                self.find(
                    rel_path,
                    path,
                    WalkCode::TooDeep,
                    format!("more than {MAX_DEPTH} folders deep; not entered"),
                )?;
                continue;
            }
            self.folder(&child, archived || name == ARCHIVE, Reach::Deep)?;
        }
        Ok(())
    }

    fn report_twins(&mut self, rel_path: &str, folders: &[String]) -> Result<()> {
        let mut by_folded: BTreeMap<String, Vec<&String>> = BTreeMap::new();
        for name in folders {
            by_folded.entry(name.to_lowercase()).or_default().push(name);
        }
        for twins in by_folded.values() {
            let Some((first, others)) = twins.split_first() else {
                continue;
            };
            for other in others {
                let path = self.absolute(&child_of(rel_path, other));
                self.find(rel_path, path, WalkCode::CaseTwin, format!("`{other}` and `{first}` differ only in case: one folder on many file systems"))?;
            }
        }
        Ok(())
    }

    fn skill(
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
        if entries.len() > MAX_ENTRIES {
            entries.truncate(MAX_ENTRIES);
            self.find(
                rel_path,
                self.absolute(rel_path),
                WalkCode::TooManyFiles,
                format!("more than {MAX_ENTRIES} files; the rest is not mirrored"),
            )?;
        }
        entries.sort_unstable_by(|a, b| a.name.cmp(&b.name));
        let skill_file = entries.iter().position(|entry| entry.name == name);
        if let Some(entry) = skill_file.and_then(|index| entries.get_mut(index))
            && entry.kind == EntryKind::Link
            && let Ok(metadata) = fs::metadata(self.absolute(rel_path).join(name))
        {
            *entry = Entry {
                kind: EntryKind::Followed,
                name: name.to_owned(),
                stat: Stat::from(&metadata),
            };
        }
        let unit = Unit {
            rel_path: rel_path.to_owned(),
            archived,
            stat,
            entries,
            skill_file,
        };
        (self.take)(Step::Unit(unit))?;
        self.children(rel_path, archived, &categories, reach)
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
            let Some(stat) = stat else { continue };
            if !prefix.is_empty() && name == SKILL_FILE {
                let path = self.absolute(rel_path).join(path_of(&name));
                self.find(
                    rel_path,
                    path,
                    WalkCode::NestedSkill,
                    format!("part of the skill in `{rel_path}`, not a skill of its own"),
                )?;
            }
            entries.push(Entry {
                kind: EntryKind::File,
                name: path_of(&name),
                stat,
            });
        }
        for name in listing.links {
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
            if entries.len() > MAX_ENTRIES {
                return Ok(());
            }
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
                self.report_nameless(rel_path, &listing)?;
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
