//! A change on its way to a plan: the skills it is about, what their files say now, what they shall say.

use std::io;
use std::path::{Path, PathBuf};

use super::ownership::Reach;
use super::paths::split;
use super::plan::{Action, Effect, Part, PartFile, Plan};
use super::step::Step;
use crate::error::{Error, Result};
use crate::hash::hash_of;
use crate::library::write::{Folder, is_real_folder};
use crate::library::{Content, TreeEntry};
use crate::store::{Actor, SkillFacts};

/// Permission bits of new files and of those that may be run.
const PLAIN: u32 = 0o644;
const RUNNABLE: u32 = 0o755;

/// What stands under a path, with its bytes; `None` where nothing does.
pub(super) type Side = Option<(Content, Vec<u8>)>;

/// What is planned, and whom it has to be asked for.
#[derive(Debug)]
pub(super) struct Draft {
    /// The change.
    pub plan: Plan,
    /// The skills it touches, and how.
    pub wishes: Vec<(Reach, Option<SkillFacts>)>,
    /// Who made what is taken back.
    pub reverses: Option<String>,
    /// Whether files below its root may be changed, for a new skill.
    pub is_writable: bool,
    /// First and last line of each place, in the old text.
    pub places: Vec<(u32, u32)>,
    /// What should be said besides.
    pub notes: Vec<String>,
}

impl Draft {
    pub(super) fn new(action: Action, actor: Actor, token: String) -> Self {
        Self {
            plan: Plan {
                action,
                actor: actor.as_str().to_owned(),
                strategy: None,
                undoes: None,
                curator_run: None,
                snapshot: None,
                from_snapshot: None,
                token,
                roots: Vec::new(),
                steps: Vec::new(),
                made: Vec::new(),
                given_up: None,
                parts: Vec::new(),
                effects: Vec::new(),
                bytes: std::collections::HashMap::new(),
            },
            wishes: Vec::new(),
            reverses: None,
            is_writable: true,
            places: Vec::new(),
            notes: Vec::new(),
        }
    }

    /// Adds a skill that is changed; returns the number of its part.
    pub(super) fn add_skill(&mut self, facts: &SkillFacts, title: String, reach: Reach) -> usize {
        // Putting away and bringing back say nothing about the text; taking a change of an agent back does.
        let is_edit = matches!(
            self.plan.action,
            Action::Edit
                | Action::Patch
                | Action::WriteFile
                | Action::RemoveFile
                | Action::Rename
                | Action::Merge
                | Action::Undo
        );
        if self.plan.actor == Actor::User.as_str() && facts.origin == "agent" && is_edit {
            self.plan
                .effects
                .push(Effect::Protect { skill_id: facts.id });
        }
        self.add_part(facts, title, reach)
    }

    /// Adds a skill of which only a name in it changes: that is nobody's edit.
    pub(super) fn add_named(&mut self, facts: &SkillFacts, title: String) -> usize {
        self.add_part(facts, title, Reach::Write)
    }

    fn add_part(&mut self, facts: &SkillFacts, title: String, reach: Reach) -> usize {
        self.wishes.push((reach, Some(facts.clone())));
        if !self.plan.roots.contains(&facts.root) {
            self.plan.roots.push(facts.root.clone());
        }
        self.plan.parts.push(Part {
            skill_id: Some(facts.id),
            name: facts.name.clone(),
            title,
            from: None,
            to: None,
            files: Vec::new(),
            revision_id: None,
        });
        self.plan.parts.len() - 1
    }

    /// Adds a skill that becomes part of another one, or of which only the state changes: that says nothing about its
    /// text.
    pub(super) fn add_untouched(
        &mut self,
        facts: &SkillFacts,
        title: String,
        reach: Reach,
    ) -> usize {
        self.add_part(facts, title, reach)
    }

    /// Plans something, or nothing at all where it cannot be.
    ///
    /// # Errors
    /// What `plan` returns.
    pub(super) fn attempt(&mut self, plan: impl FnOnce(&mut Self) -> Result<()>) -> Result<()> {
        let wishes = self.wishes.len();
        let lengths = (
            self.plan.roots.len(),
            self.plan.steps.len(),
            self.plan.parts.len(),
            self.plan.effects.len(),
        );
        plan(self).inspect_err(|_| {
            self.wishes.truncate(wishes);
            self.plan.roots.truncate(lengths.0);
            self.plan.steps.truncate(lengths.1);
            self.plan.parts.truncate(lengths.2);
            self.plan.effects.truncate(lengths.3);
        })
    }

    /// Adds a file that is made, rewritten or removed, with the bytes on both sides.
    pub(super) fn add_file(
        &mut self,
        part: usize,
        folder: &Path,
        path: &str,
        before: Side,
        after: Side,
    ) {
        let (before, after) = self.keep_both(before, after);
        self.plan.steps.push(Step::File {
            path: folder.join(path),
            before: before.clone(),
            after: after.clone(),
            keep: folder.to_path_buf(),
        });
        if let Some(part) = self.plan.parts.get_mut(part) {
            part.files.push(PartFile {
                path: path.to_owned(),
                before,
                after,
            });
        }
    }

    /// Keeps the bytes of both sides.
    pub(super) fn keep_both(
        &mut self,
        before: Side,
        after: Side,
    ) -> (Option<Content>, Option<Content>) {
        let mut keep = |side: Side| {
            side.map(|(content, bytes)| {
                if let Some(hash) = content.hash() {
                    self.plan.keep(hash, bytes);
                }
                content
            })
        };
        (keep(before), keep(after))
    }

    /// Adds a file outside of skills that is rewritten.
    pub(super) fn add_outside(
        &mut self,
        path: &Path,
        folder: &Path,
        title: String,
        before: Side,
        after: Side,
    ) {
        let text = path.to_string_lossy().into_owned();
        self.plan.parts.push(Part {
            skill_id: None,
            name: text.clone(),
            title,
            from: None,
            to: None,
            files: Vec::new(),
            revision_id: None,
        });
        // Joining an absolute path gives that path.
        self.add_file(self.plan.parts.len() - 1, folder, &text, before, after);
    }

    /// Says that a part's skill is to be read again after.
    pub(super) fn add_mirror(&mut self, part: usize, root_id: i64, rel_path: &str) {
        self.plan.effects.push(Effect::Mirror {
            part,
            root_id,
            rel_path: rel_path.to_owned(),
            born: None,
        });
    }
}

/// A skill's folder as it really is.
///
/// # Errors
/// [`Error::Denied`] when it is not there; [`Error::Io`].
pub(super) fn real_folder(facts: &SkillFacts) -> Result<PathBuf> {
    let path = facts.path();
    match path.canonicalize() {
        Ok(real) if real.is_dir() => Ok(real),
        Ok(_) => Err(gone(facts)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Err(gone(facts)),
        Err(error) => Err(Error::io("open", path)(error)),
    }
}

fn gone(facts: &SkillFacts) -> Error {
    Error::Denied {
        code: "skill-gone",
        message: format!(
            "the folder of `{}` is not there any more: {}",
            facts.name,
            facts.path().display()
        ),
        hint: Some("`skilldb sync` looks where it went".to_owned()),
    }
}

/// A skill's folder, when all of it is to be moved or removed.
///
/// # Errors
/// [`Error::Denied`] when it is a link, or the root itself.
pub(super) fn movable_folder(facts: &SkillFacts) -> Result<PathBuf> {
    if facts.rel_path == "." {
        return Err(Error::Denied {
            code: "skill-is-root",
            message: format!("`{}` is a root of the library itself", facts.name),
            hint: Some(format!(
                "`skilldb roots remove {}` takes it out of the library",
                facts.root.display()
            )),
        });
    }
    let path = facts.path();
    if !is_real_folder(&path) {
        let target = std::fs::read_link(&path).unwrap_or_default();
        if target.as_os_str().is_empty() {
            return Err(gone(facts));
        }
        return Err(Error::Denied {
            code: "skill-is-link",
            message: format!("`{}` is a link to {}", facts.name, target.display()),
            hint: Some("remove the link by hand, or change the folder it leads to".to_owned()),
        });
    }
    let (parent, name) = split(&path)?;
    let real = parent.canonicalize().map_err(Error::io("open", parent))?;
    let root = facts
        .root
        .canonicalize()
        .map_err(Error::io("open", &facts.root))?;
    if !real.starts_with(&root) {
        return Err(Error::Denied {
            code: "skill-is-link",
            message: format!(
                "`{}` is reached through a link: it really lies in {}",
                facts.name,
                real.join(name).display()
            ),
            hint: Some("move it by hand, or make the folder it lies in a root".to_owned()),
        });
    }
    Ok(real.join(name))
}

/// What a file of a skill says now; `None` when it is not there.
///
/// # Errors
/// [`Error::Denied`] for a link or a folder; [`Error::Io`].
pub(super) fn read_file(folder: &Path, path: &str) -> Result<Side> {
    match read_entry(folder, path)? {
        Some((Content::Link { target }, _)) => Err(Error::Denied {
            code: "file-is-link",
            message: format!("`{path}` is a link to {target}"),
            hint: Some("change the file it leads to, or replace the link by hand".to_owned()),
        }),
        found => Ok(found),
    }
}

/// As [`read_file`], for whoever does not write through a link.
///
/// # Errors
/// As [`read_file`], links aside.
pub(super) fn read_entry(folder: &Path, path: &str) -> Result<Side> {
    let whole = folder.join(path);
    let (parent, name) = split(&whole)?;
    let opened = match Folder::open(parent) {
        Ok(opened) => opened,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) if error.kind() == io::ErrorKind::NotADirectory => {
            return Err(Error::Denied {
                code: "path-escapes",
                message: format!("a link or a file stands on the way to `{path}`"),
                hint: Some("links are never followed when something is written".to_owned()),
            });
        }
        Err(error) => return Err(Error::io("open", parent)(error)),
    };
    match opened.look_into(name) {
        Ok(found) => Ok(found),
        Err(error) if error.kind() == io::ErrorKind::InvalidInput => Err(Error::Denied {
            code: "path-is-folder",
            message: format!("`{path}` is a folder, not a file"),
            hint: None,
        }),
        Err(error) => Err(Error::io("read", &whole)(error)),
    }
}

/// Bytes as the content they will be, with the permissions of what they replace.
pub(super) fn content_of(
    bytes: &[u8],
    before: Option<&Content>,
    executable: Option<bool>,
) -> Content {
    let mode = match (executable, before.and_then(Content::mode)) {
        (Some(true), mode) => mode.unwrap_or(RUNNABLE) | 0o111,
        (Some(false), mode) => mode.unwrap_or(PLAIN) & !0o111,
        (None, Some(mode)) => mode,
        (None, None) if bytes.starts_with(b"#!") => RUNNABLE,
        (None, None) => PLAIN,
    };
    Content::File {
        hash: hash_of(bytes),
        mode,
    }
}

/// Everything in a folder, its bytes kept in the plan.
///
/// # Errors
/// [`Error::Io`].
pub(super) fn read_tree(plan: &mut Plan, folder: &Path) -> Result<Vec<TreeEntry>> {
    let (parent, name) = split(folder)?;
    let opened = Folder::open(parent).map_err(Error::io("open", parent))?;
    opened
        .tree_with(name, &mut |hash, bytes| {
            plan.keep(hash, bytes);
            Ok(())
        })
        .map_err(Error::io("read", folder))
}

/// Refuses when a file is not what the caller took it for.
///
/// # Errors
/// [`Error::Conflict`].
pub(super) fn check_base(path: &Path, base: Option<&str>, found: Option<&Content>) -> Result<()> {
    let Some(base) = base else { return Ok(()) };
    if base.len() < 8 {
        return Err(Error::Usage {
            message: format!("`{base}` is too short for the hash of what a change is based on"),
            hint: Some(
                "give its first 8 digits, or more; `skilldb show NAME --json` tells it".to_owned(),
            ),
        });
    }
    let is_same = found
        .and_then(Content::hash)
        .is_some_and(|hash| hash.starts_with(base));
    if is_same {
        return Ok(());
    }
    Err(Error::Conflict {
        path: path.to_path_buf(),
        message: format!(
            "it is not what the change was based on (wanted {}, found {})",
            short(base),
            found.and_then(Content::hash).map_or("nothing", short)
        ),
    })
}

fn short(hash: &str) -> &str {
    hash.get(..12).unwrap_or(hash)
}
