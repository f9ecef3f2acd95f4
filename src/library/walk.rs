//! Walks a root and hands over one unit after the other. Categories nest to any depth; below a skill
//! everything is part of that skill.

mod links;
mod package;

use std::collections::{BTreeMap, HashSet, VecDeque};
use std::fs;
use std::path::{Path, PathBuf};

use self::links::{LinkedFile, linked_file};
use super::finding::{WalkCode, WalkFinding};
use super::listing::{Listing, SKILL_FILE, child_of, is_not_there, list};
use super::skip::ARCHIVE;
use super::stat::Stat;
use super::unit::{Entry, EntryKind, Unit};
use crate::error::Result;
use crate::time::file_clock_ns;

/// Deepest folder below a root that is entered. Deeper than any library seen; stops a walk that a
/// file system makes endless.
const MAX_DEPTH: usize = 48;

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
    /// A folder with what `stat` said about it, and the file clock (nanoseconds) before it said so.
    Unit(Unit, i64),
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

impl<'a> Request<'a> {
    /// Asks for all of a root.
    #[must_use]
    pub fn whole(root: &'a Path) -> Self {
        Self {
            root,
            start: ".",
            archived: false,
            reach: Reach::Deep,
            is_known: &|_| false,
        }
    }
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
        looked_at_ns: 0,
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
    /// The file clock before the current folder was looked at.
    looked_at_ns: i64,
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

    fn report_unusable(&mut self, unit: &str, listing: &Listing) -> Result<()> {
        for (path, code, message) in &listing.unusable {
            self.find(unit, path.clone(), *code, *message)?;
        }
        Ok(())
    }

    fn folder(&mut self, rel_path: &str, archived: bool, reach: Reach) -> Result<()> {
        let path = self.absolute(rel_path);
        self.looked_at_ns = file_clock_ns();
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
        self.report_unusable(rel_path, &listing)?;
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
        let mut linked = Vec::new();
        for name in listing
            .links
            .iter()
            .filter(|name| name.eq_ignore_ascii_case(SKILL_FILE))
        {
            match linked_file(&path.join(name)) {
                LinkedFile::Markdown => linked.push(name),
                LinkedFile::Other(target) => {
                    // A skill from a stranger must not be able to show, or keep, any file it likes.
                    let message = format!(
                        "the link leads to {}, which is no Markdown file; not read",
                        target.display()
                    );
                    self.find(rel_path, path.join(name), WalkCode::NotAFile, message)?;
                }
                LinkedFile::None => {}
            }
        }
        let names = listing.files.iter().map(|(name, _)| name).chain(linked);
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
                // No skill, but when its target goes, it is a dead link.
                Ok(metadata) => entries.push(Entry {
                    kind: EntryKind::Followed,
                    name: name.clone(),
                    stat: Stat::from(&metadata),
                }),
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
        (self.take)(Step::Unit(unit, self.looked_at_ns))?;
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
}
