//! Takes another library's archive into this one: skills that are not here, and what its ledgers know, each thing once.

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::archive::{self, Backup};
use super::draft::Draft;
use super::ownership::Reach;
use super::places::files_of;
use super::places::is_taken_by;
use super::plan::{Action, Effect, Part};
use super::request::Who;
use super::step::Step;
use super::writer::{Outcome, Writer};
use crate::error::Result;
use crate::library::TreeEntry;
use crate::store::{Ids, Ledger, RootRow, Tx};

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
}

impl Writer {
    /// Takes an archive over. Doing it twice is doing it once.
    ///
    /// # Errors
    /// [`crate::Error::Denied`] for another file; [`crate::Error::Io`], [`crate::Error::Database`].
    pub fn merge_backup(&mut self, who: &Who, path: &Path) -> Result<Merged> {
        let backup = archive::read(self.store_mut(), path)?;
        let mut merged = Merged {
            damaged: backup.damaged.clone(),
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
            if let Some((found, found_hash)) = same.or_else(|| here.first()) {
                taken.insert(*found);
                ids.skills.insert(id, *found);
                if *found_hash == hash {
                    merged.same += 1;
                } else if is_there {
                    merged.differing.push(name);
                }
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

fn text<'a>(row: &'a Ledger, name: &str) -> Option<&'a str> {
    row.get(name).and_then(Value::as_str)
}

fn number(row: &Ledger, name: &str) -> Option<i64> {
    row.get(name).and_then(Value::as_i64)
}

/// Changes and revisions. Each is known by the library it was made in and its number there.
fn history(
    tx: &Tx<'_>,
    backup: &Backup,
    own: &str,
    ids: &mut Ids,
    merged: &mut Merged,
) -> Result<()> {
    let mut added = BTreeSet::new();
    let named = backup.rows("manifest").iter();
    let names: HashMap<i64, &str> = named
        .filter_map(|row| Some((number(row, "skill_id")?, text(row, "name")?)))
        .collect();
    for row in backup.rows("change") {
        let Some(id) = number(row, "id") else {
            continue;
        };
        let key = match text(row, "event_id") {
            Some(key) => key.to_owned(),
            None => format!("{}#{id}", backup.library),
        };
        // What was made here comes back as what it is.
        if let Some(here) = key
            .strip_prefix(&format!("{own}#"))
            .and_then(|id| id.parse().ok())
        {
            ids.changes.insert(id, here);
            merged.changes.1 += 1;
            continue;
        }
        if let Some(here) = tx.change_by_event(&key)? {
            ids.changes.insert(id, here);
            merged.changes.1 += 1;
            continue;
        }
        let mut row = row.clone();
        row.remove("id");
        if text(&row, "source").is_none() {
            row.insert("source".to_owned(), json!("backup"));
        }
        row.insert("event_id".to_owned(), json!(key));
        if text(&row, "outcome") == Some("pending") {
            row.insert("outcome".to_owned(), json!("discarded"));
        }
        // Snapshots stay where they were made.
        for name in ["snapshot_id", "from_snapshot_id", "curator_run_id"] {
            row.remove(name);
        }
        for name in ["undoes", "undone_by"] {
            let here = number(&row, name).and_then(|id| ids.changes.get(&id).copied());
            row.insert(name.to_owned(), json!(here));
        }
        if let Some(here) = tx.add_ledger_row("change", &row)? {
            ids.changes.insert(id, here);
            added.insert(id);
            merged.changes.0 += 1;
        }
    }
    for row in backup.rows("revision") {
        let (Some(id), Some(change)) = (number(row, "id"), number(row, "change_id")) else {
            continue;
        };
        if !added.contains(&change) {
            continue;
        }
        let mut row = row.clone();
        row.remove("id");
        // A life that ended there has no header here that says its name.
        if let Some(name) = number(&row, "skill_id").and_then(|id| names.get(&id)) {
            row.insert("called_name".to_owned(), json!(name));
        }
        ids.point(&mut row);
        if let Some(here) = tx.add_ledger_row("revision", &row)? {
            ids.revisions.insert(id, here);
        }
    }
    for row in backup.rows("revision_file") {
        let Some(here) = number(row, "revision_id").and_then(|id| ids.revisions.get(&id)) else {
            continue;
        };
        let mut row = row.clone();
        row.insert("revision_id".to_owned(), json!(here));
        tx.add_ledger_row("revision_file", &row)?;
    }
    Ok(())
}

/// Transitions and marks, as they happened there.
fn states(tx: &Tx<'_>, backup: &Backup, ids: &Ids) -> Result<()> {
    let add = |table: &str, known: &[&str]| -> Result<()> {
        for row in backup.rows(table) {
            let mut row = row.clone();
            row.remove("id");
            row.remove("curator_run_id");
            ids.point(&mut row);
            if number(&row, "skill_id").is_some() && !tx.has_ledger_row(table, &row, known)? {
                tx.add_ledger_row(table, &row)?;
            }
        }
        Ok(())
    };
    tx.without_applying_transitions(|| {
        add(
            "state_transition",
            &["skill_id", "at", "from_state", "to_state", "actor"],
        )
    })?;
    add("mark", &["skill_id", "at", "mark", "value", "actor"])
}

/// What is known of skills besides.
fn facts(tx: &Tx<'_>, backup: &Backup, ids: &Ids) -> Result<()> {
    for row in backup.rows("skill") {
        if let Some(here) = number(row, "id").and_then(|id| ids.skills.get(&id)) {
            tx.take_over_skill(*here, row)?;
        }
    }
    for (table, known) in [
        ("skill_disabled", &["skill_id", "platform"][..]),
        ("skill_install", &["noted_in", "name"]),
        ("usage_baseline", &["skill_id", "source"]),
        ("purged", &["hash"]),
    ] {
        for row in backup.rows(table) {
            let mut row = row.clone();
            if table != "purged" {
                row.remove("id");
                let had_skill = number(&row, "skill_id").is_some();
                ids.point(&mut row);
                if had_skill && number(&row, "skill_id").is_none() {
                    continue;
                }
            }
            if !tx.has_ledger_row(table, &row, known)? {
                tx.add_ledger_row(table, &row)?;
            }
        }
    }
    Ok(())
}

/// Uses, each known by its event. `wanted` are the rows that costs and aliases point at; they become rows here.
fn uses(
    tx: &Tx<'_>,
    rows: Vec<Ledger>,
    ids: &Ids,
    (wanted, merged): (&mut Wanted, &mut Merged),
) -> Result<()> {
    for mut row in rows {
        let theirs = number(&row, "id");
        let Some(event) = text(&row, "event_id").map(str::to_owned) else {
            continue;
        };
        row.remove("id");
        ids.point(&mut row);
        let here = match tx.event_row(&event)? {
            Some(here) => {
                merged.uses.1 += 1;
                Some(here)
            }
            None => {
                if theirs.is_some_and(|id| wanted.costs.contains(&id)) {
                    // They are added up from the costs again.
                    row.remove("tokens_in");
                    row.remove("tokens_out");
                }
                merged.uses.0 += 1;
                tx.add_ledger_row("usage_event", &row)?;
                tx.event_row(&event)?
            }
        };
        if let (Some(theirs), Some(here)) = (theirs, here)
            && (wanted.costs.contains(&theirs) || wanted.aliases.contains(&theirs))
        {
            wanted.rows.insert(theirs, here);
        }
    }
    Ok(())
}

/// Uses that something points at.
#[derive(Default)]
struct Wanted {
    costs: BTreeSet<i64>,
    aliases: BTreeSet<i64>,
    rows: HashMap<i64, i64>,
}

impl Wanted {
    fn of(backup: &Backup) -> Self {
        let of = |table: &str| {
            backup
                .rows(table)
                .iter()
                .filter_map(|row| number(row, "usage_event_id"))
                .collect()
        };
        Self {
            costs: of("usage_cost"),
            aliases: of("usage_alias"),
            rows: HashMap::new(),
        }
    }
}

/// What points at uses: tokens, and other names of events.
fn after_uses(tx: &Tx<'_>, backup: &Backup, wanted: &Wanted) -> Result<()> {
    for (table, key) in [("usage_cost", "message_id"), ("usage_alias", "event_id")] {
        for row in backup.rows(table) {
            let mut row = row.clone();
            let here = number(&row, "usage_event_id").and_then(|id| wanted.rows.get(&id).copied());
            if table == "usage_alias" && here.is_none() || tx.has_ledger_row(table, &row, &[key])? {
                continue;
            }
            row.insert("usage_event_id".to_owned(), json!(here));
            tx.add_ledger_row(table, &row)?;
        }
    }
    Ok(())
}
