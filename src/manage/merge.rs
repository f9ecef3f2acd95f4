//! Takes another library's archive into this one: skills that are not here, and what its ledgers know, each thing once.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::archive::{self, Backup};
use super::create::check_collisions;
use super::draft::Draft;
use super::ledgers::{Wanted, after_uses, facts, history, states, uses};
use super::ownership::{Reach, only_people};
use super::places::files_of;
use super::places::is_taken_by;
use super::plan::{Action, Effect, Part};
use super::request::Who;
use super::step::Step;
use super::writer::{Outcome, Writer};
use crate::error::{Error, Result};
use crate::library::{ARCHIVE, TreeEntry, is_in_archive, is_reserved_name};
use crate::store::{Ids, Ledger, RootRow};

/// What was taken over.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Merged {
    /// Skills that were not here: their names.
    pub added: Vec<String>,
    /// Skills that are here with the same text.
    pub same: u64,
    /// Skills that are here with another text, which stayed.
    pub differing: Vec<String>,
    /// Skills that could not be added, and why.
    pub refused: Vec<(String, String)>,
    /// Uses that were new, and known.
    pub uses: (u64, u64),
    /// Changes that were new, and known.
    pub changes: (u64, u64),
    /// What was damaged in the archive.
    pub damaged: Vec<String>,
    /// Snapshots and proposals, which stay in the archive.
    pub left: (u64, u64),
}

impl Writer {
    /// Takes an archive over. Doing it twice is doing it once.
    ///
    /// # Errors
    /// [`crate::Error::Denied`] for another file; [`crate::Error::Io`], [`crate::Error::Database`].
    pub fn merge_backup(&mut self, who: &Who, path: &Path) -> Result<Merged> {
        only_people(who.actor, "take an archive over")?;
        let backup = archive::read(self.store_mut(), path)?;
        let mut merged = Merged {
            damaged: backup.damaged.clone(),
            left: (
                backup.rows("snapshot").len() as u64,
                backup.rows("proposal").len() as u64,
            ),
            ..Merged::default()
        };
        let mut ids = Ids::default();
        self.skills(who, &backup, &mut ids, &mut merged)?;
        let own = self.store().library_id()?.unwrap_or_default();
        self.store_mut().write(|tx| {
            history(tx, &backup, &own, &mut ids, &mut merged)?;
            states(tx, &backup, &ids)?;
            facts(tx, &backup, &ids)?;
            tx.raise_generation()?;
            tx.mark_link_due()
        })?;
        let mut wanted = Wanted::of(&backup);
        archive::each_use(path, &mut |rows| {
            self.store_mut()
                .write(|tx| uses(tx, rows, &ids, (&mut wanted, &mut merged)))
        })?;
        self.store_mut()
            .write(|tx| after_uses(tx, &backup, &wanted))?;
        Ok(merged)
    }

    /// Finds each skill here, or makes it.
    fn skills(
        &mut self,
        who: &Who,
        backup: &Backup,
        ids: &mut Ids,
        merged: &mut Merged,
    ) -> Result<()> {
        let mut taken = BTreeSet::new();
        for skill in backup.rows("skill") {
            let Some(id) = skill.get("id").and_then(Value::as_i64) else {
                continue;
            };
            let manifest = backup
                .rows("manifest")
                .iter()
                .find(|row| row.get("skill_id").and_then(Value::as_i64) == Some(id));
            let cell = |row: Option<&Ledger>, name: &str| {
                row.and_then(|row| row.get(name))
                    .and_then(Value::as_str)
                    .map(str::to_owned)
            };
            let rel_path = cell(Some(skill), "rel_path").unwrap_or_default();
            let name = cell(manifest, "name").unwrap_or_else(|| rel_path.clone());
            let is_there = skill.get("removed_at").is_none_or(Value::is_null)
                && skill.get("missing_since").is_none_or(Value::is_null);
            let here = self.store().texts_named(&name)?;
            let here: Vec<_> = here
                .into_iter()
                .filter(|(id, _)| !taken.contains(id))
                .collect();
            let hash = cell(manifest, "content_hash");
            let same = here
                .iter()
                .find(|(_, found)| *found == hash && hash.is_some());
            // A skill of the same name is the same one only where one of them was once what the other is.
            let versions = backup.versions_of(id);
            let related = here.iter().find(|(here, found)| {
                let was_theirs = found
                    .as_ref()
                    .is_some_and(|found| versions.contains(found.as_str()));
                let was_ours = hash
                    .as_ref()
                    .is_some_and(|hash| self.store().has_version(*here, hash).unwrap_or(false));
                was_theirs || was_ours
            });
            if let Some((found, found_hash)) = same.or(related) {
                taken.insert(*found);
                ids.skills.insert(id, *found);
                if *found_hash == hash {
                    merged.same += 1;
                } else if is_there {
                    merged.differing.push(name);
                }
                continue;
            }
            if !here.is_empty() && is_there {
                // Another skill altogether: its history is kept apart.
                let row = self.ended(skill)?;
                ids.skills.insert(id, row);
                let why = "another skill here has its name; its files are in the archive";
                merged.refused.push((name, why.to_owned()));
                continue;
            }
            let root_id = skill
                .get("root_id")
                .and_then(Value::as_i64)
                .unwrap_or_default();
            let entries = backup.tree(root_id, &rel_path);
            if !is_there || entries.is_empty() || rel_path == "." {
                let row = self.ended(skill)?;
                ids.skills.insert(id, row);
                continue;
            }
            match self.add(who, backup, (skill, &name, &rel_path), entries) {
                Ok(Some(row)) => {
                    self.store_mut()
                        .append(|tx| tx.take_over_state(row, skill))?;
                    taken.insert(row);
                    ids.skills.insert(id, row);
                    merged.added.push(name);
                }
                Ok(None) => {}
                Err(error) => merged.refused.push((name, super::make::told(&error))),
            }
        }
        Ok(())
    }

    /// A life that ended there: its history needs a place, and gets one only once.
    fn ended(&mut self, skill: &Ledger) -> Result<i64> {
        let root = self.root_for(None)?;
        let ended_at = ["removed_at", "missing_since"]
            .iter()
            .find_map(|name| skill.get(*name).and_then(Value::as_str));
        let ended_at = ended_at.map_or_else(|| self.settings().now.to_string(), str::to_owned);
        self.store_mut().append(|tx| {
            let known = ["rel_path", "origin", "created_at"];
            if let Some(id) = tx.ended_row(skill, &known)? {
                return Ok(id);
            }
            tx.add_ended_skill(root.id, skill, &ended_at)
        })
    }

    /// The root of the same path where there is one, else the library's own.
    fn root_for(&mut self, path: Option<&str>) -> Result<RootRow> {
        let find =
            |roots: Vec<RootRow>, path: &Path| roots.into_iter().find(|root| root.path == path);
        if let Some(path) = path.filter(|_| !self.settings().is_rehearsal)
            && let Some(root) = find(self.store().roots()?, Path::new(path))
                .filter(|root| root.writable && root.path.is_dir())
        {
            return Ok(root);
        }
        let own = self.settings().own_root.clone();
        self.ensure_root(&own)?;
        let found = find(self.store().roots()?, &own);
        found.ok_or(crate::Error::UnknownRoot { path: own })
    }

    fn add(
        &mut self,
        who: &Who,
        backup: &Backup,
        (skill, name, rel_path): (&Ledger, &str, &str),
        entries: Vec<TreeEntry>,
    ) -> Result<Option<i64>> {
        let their_root = skill.get("root_id");
        let root = backup
            .rows("skill_root")
            .iter()
            .find(|row| row.get("id") == their_root);
        let root = root.and_then(|row| row.get("path")).and_then(Value::as_str);
        let root = self.root_for(root)?;
        let path: PathBuf = root.path.join(rel_path);
        check_place(rel_path)?;
        if !is_in_archive(rel_path) {
            let folder = rel_path.rsplit('/').next().unwrap_or(rel_path);
            check_collisions(self.store(), (folder, None), &root.path, None)?;
        }
        is_taken_by(name, &path, &root.path)?;
        let token = self.next_token();
        let mut draft = Draft::new(Action::Create, who.actor, token);
        draft.plan.roots.push(root.path.clone());
        draft.wishes.push((Reach::Write, None));
        draft.plan.parts.push(Part {
            skill_id: None,
            name: name.to_owned(),
            title: format!("taken over from library {}", backup.library),
            from: None,
            to: Some(path.clone()),
            files: files_of(&entries, false),
            revision_id: None,
        });
        draft.plan.steps.push(Step::Tree {
            path,
            before: None,
            after: Some(entries),
            keep: root.path.clone(),
        });
        let cell = |name: &str| skill.get(name).and_then(Value::as_str);
        let origin = cell("origin").unwrap_or("unknown").to_owned();
        let evidence = cell("origin_evidence")
            .unwrap_or("from a backup")
            .to_owned();
        draft.plan.effects.push(Effect::Mirror {
            part: 0,
            root_id: root.id,
            rel_path: rel_path.to_owned(),
            born: Some((origin, evidence)),
        });
        match self.carry_out(who, draft)? {
            Outcome::Done(done) => Ok(done.change.parts.first().and_then(|part| part.skill)),
            Outcome::Proposed { .. } => Ok(None),
        }
    }
}

/// Refuses places that no walk for skills would look into.
fn check_place(rel_path: &str) -> Result<()> {
    let is_odd = |part: &&str| *part != ARCHIVE && is_reserved_name(part);
    match rel_path.split('/').find(is_odd) {
        None => Ok(()),
        Some(part) => Err(Error::Denied {
            code: "name-reserved",
            message: format!("`{part}` in `{rel_path}` is never looked into for skills"),
            hint: None,
        }),
    }
}
