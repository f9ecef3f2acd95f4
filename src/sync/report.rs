//! What a sync tells about itself.

use std::path::{Path, PathBuf};

use super::found::{Found, ReadSkill, folder_path};
use super::plan::{Fate, RootPlan};
use crate::library::{WalkCode, WalkFinding};
use crate::skill::{Finding, Severity};
use crate::store::{RefusedRow, RootCounts, RootRow};

/// What a sync found and did.
#[derive(Debug, Default)]
pub struct Report {
    /// How many roots were synced; 0 when the library has none.
    pub roots: usize,
    /// What the synced roots hold now.
    pub counts: RootCounts,
    /// Skills nobody knew.
    pub added: Vec<Touched>,
    /// Skills with other content.
    pub changed: Vec<Touched>,
    /// Skills that lie elsewhere now.
    pub moved: Vec<Moved>,
    /// Skills whose folders vanished.
    pub missing: Vec<Touched>,
    /// Skills whose folders came back.
    pub back: Vec<Touched>,
    /// Skills that are as they were.
    pub unchanged: u64,
    /// What reading the added and changed files found.
    pub diagnostics: Vec<FileFinding>,
    /// What walking found.
    pub walk: Vec<WalkFinding>,
    /// Files that no client could load, whether they changed or not.
    pub refused: Vec<RefusedRow>,
    /// Roots of which so much vanished that nothing was marked.
    pub held_back: Vec<HeldBack>,
    /// New skills that carry the name of a vanished one: old id, new id, name.
    pub relink: Vec<(i64, i64, String)>,
    /// What went into the history.
    pub kept: Kept,
    /// Whether anything was written.
    pub wrote: bool,
    /// Whether events may have waited for skills that are there now.
    pub link_due: bool,
}

/// A skill that a sync touched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Touched {
    /// Row id; 0 in a dry run for a skill that is not there yet.
    pub id: i64,
    /// What people call it.
    pub name: String,
    /// Absolute path of its folder.
    pub path: PathBuf,
}

/// A skill that lies elsewhere now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Moved {
    /// Row id.
    pub id: i64,
    /// What people call it.
    pub name: String,
    /// Path relative to its old root.
    pub from: String,
    /// Absolute path of its folder.
    pub path: PathBuf,
}

/// A finding about a skill file.
#[derive(Debug, Clone, PartialEq)]
pub struct FileFinding {
    /// Absolute path of the file.
    pub path: PathBuf,
    /// How bad it is for loading.
    pub severity: Severity,
    /// The finding.
    pub finding: Finding,
}

/// A root of which so much vanished that nothing was marked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeldBack {
    /// The root.
    pub root: PathBuf,
    /// How many of its skills are not there.
    pub lost: usize,
    /// How many it held.
    pub of: u64,
    /// Whether the root folder itself is not there.
    pub is_root_missing: bool,
}

/// What went into the history.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Kept {
    /// Files whose bytes were stored.
    pub files: u64,
    /// Their bytes before compression.
    pub bytes: u64,
    /// Supporting files left out because the budget is used up.
    pub left_out_files: u64,
    /// Their bytes.
    pub left_out_bytes: u64,
    /// Supporting files left out because they are no text or too large.
    pub skipped_files: u64,
}

impl Report {
    /// Returns the number of skill files found on disk.
    #[must_use]
    pub fn files_found(&self) -> u64 {
        self.counts.present + self.counts.nested + self.counts.unreachable
    }

    /// Returns the number of skills that were loaded.
    #[must_use]
    pub fn loaded(&self) -> u64 {
        self.counts.present.saturating_sub(self.counts.refused)
    }

    /// Says whether something has to be looked at: a refused file, or an error of the walk.
    #[must_use]
    pub fn has_errors(&self) -> bool {
        self.counts.errors > 0
            || !self.refused.is_empty()
            || self
                .walk
                .iter()
                .any(|finding| finding.code.severity() == Severity::Error)
            || self
                .diagnostics
                .iter()
                .any(|finding| finding.severity == Severity::Error)
    }

    /// Says whether a root could not be looked into at all.
    #[must_use]
    pub fn has_closed_root(&self) -> bool {
        self.walk
            .iter()
            .any(|finding| finding.code == WalkCode::FolderUnreadable && finding.unit == ".")
    }

    /// Adds what a plan says about one root. `ids` are the row ids of what was found, where known.
    pub(super) fn add_plan(&mut self, plan: &mut RootPlan, ids: &[Option<i64>]) {
        let root = plan.root.path.clone();
        for (index, (found, fate)) in plan.scan.found.iter_mut().zip(&plan.fates).enumerate() {
            let id = ids.get(index).copied().flatten();
            self.add_found(&plan.root, found, fate, id.unwrap_or(0));
        }
        self.unchanged += plan.scan.unchanged;
        self.walk.append(&mut plan.scan.findings);
        self.walk.append(&mut plan.scan.unknown);
        if plan.is_held_back {
            return;
        }
        self.missing.extend(plan.lost.iter().map(|skill| Touched {
            id: skill.id,
            name: skill.name.clone(),
            path: folder_path(&root, &skill.rel_path),
        }));
    }

    /// Adds one found folder.
    pub(super) fn add_found(&mut self, root: &RootRow, found: &mut Found, fate: &Fate, id: i64) {
        let path = folder_path(&root.path, &found.unit.rel_path);
        let name = found.name(&root.path).to_owned();
        let touched = |id| Touched {
            id,
            name: name.clone(),
            path: path.clone(),
        };
        match fate {
            Fate::SameFolder => return,
            Fate::Folder => {}
            Fate::Same(_) | Fate::Touched(_) => {
                self.unchanged += 1;
                return;
            }
            Fate::Closed(_) => self.unchanged += 1,
            Fate::New => self.added.push(touched(id)),
            Fate::Changed(known, _) => self.changed.push(touched(known.id)),
            Fate::Back(known, _) => self.back.push(touched(known.id)),
            Fate::Moved(known) => self.moved.push(Moved {
                id: known.id,
                name: name.clone(),
                from: known.rel_path.clone(),
                path: path.clone(),
            }),
        }
        self.walk.append(&mut found.findings);
        self.add_reading(&path, found);
    }

    /// Adds what reading the skill file found.
    fn add_reading(&mut self, folder: &Path, found: &mut Found) {
        let file = folder.join(found.file_name());
        match &mut found.skill {
            Some(ReadSkill::Read(facts)) => {
                for finding in std::mem::take(&mut facts.text.findings) {
                    if let Some(severity) = finding.code.lenient() {
                        let path = file.clone();
                        self.diagnostics.push(FileFinding {
                            path,
                            severity,
                            finding,
                        });
                    }
                }
            }
            Some(ReadSkill::Failed(code, message)) => self.walk.push(WalkFinding {
                unit: found.unit.rel_path.clone(),
                path: file,
                code: *code,
                message: message.clone(),
            }),
            None => {}
        }
    }
}
