//! What the guard found, kept by content and rules; and which of it holds for which skill.

use std::collections::HashMap;

use rusqlite::{OptionalExtension, Row, params};

use super::{Store, Tx};
use crate::error::{Error, Result};
use crate::time::Timestamp;

/// One thing that was found, in the words of the database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScanFinding {
    /// Id of the rule.
    pub rule: String,
    /// Kind of harm.
    pub class: String,
    /// How bad it is here.
    pub severity: String,
    /// How bad the rule says it is.
    pub stated: String,
    /// Path relative to the skill.
    pub path: String,
    /// Line, from 1.
    pub line: Option<u32>,
    /// The words it is about.
    pub evidence: String,
    /// Through which forms of the text it was seen: a JSON list.
    pub seen: String,
    /// Why the severity was moved: a JSON list.
    pub context: String,
    /// What it is.
    pub message: String,
    /// What to do about it.
    pub fix: String,
    /// What a person accepts when accepting it.
    pub fingerprint: String,
    /// Why a person did.
    pub accepted: Option<String>,
}

/// A scan to be kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NewScan<'a> {
    /// Hash of all that was looked at.
    pub tree: &'a str,
    /// The rules it was looked at with.
    pub ruleset: &'a str,
    /// The verdict's word.
    pub verdict: &'a str,
    /// Files that were looked at.
    pub files: usize,
    /// Bytes that were looked at.
    pub bytes: u64,
    /// What was found, worst first.
    pub findings: &'a [ScanFinding],
    /// When.
    pub at: Timestamp,
}

/// A scan that is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownScan {
    /// Its row.
    pub id: i64,
    /// The verdict's word.
    pub verdict: String,
    /// What is worst, with its place.
    pub worst: Option<String>,
}

/// A skill's verdict, and the scan it is from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownVerdict {
    /// What people call it.
    pub name: String,
    /// Absolute path of its folder.
    pub path: String,
    /// The verdict's word, a second opinion heard.
    pub verdict: String,
    /// The scan.
    pub scan: i64,
    /// Hash of all that was looked at.
    pub tree: String,
    /// Files that were looked at.
    pub files: usize,
    /// Bytes that were looked at.
    pub bytes: u64,
}

/// A skill without a verdict that holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToScan {
    /// Row id.
    pub id: i64,
    /// What people call it.
    pub name: String,
    /// Absolute path of its folder.
    pub path: String,
    /// In which state its files are, as far as the mirror knows.
    pub mark: String,
}

/// A skill that is not safe.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Flag {
    /// Row id.
    pub id: i64,
    /// What people call it.
    pub name: String,
    /// Absolute path of its folder.
    pub path: String,
    /// The verdict's word.
    pub verdict: String,
    /// What is worst, in a sentence.
    pub worst: Option<String>,
}

/// How many live skills have which verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct VerdictCounts {
    /// Nothing that is a reason to stop.
    pub safe: u64,
    /// Somebody should read them first.
    pub caution: u64,
    /// They hurt.
    pub dangerous: u64,
    /// Nobody looked.
    pub unknown: u64,
}

const FINDING: &str = "rule, class, severity, stated, path, line, evidence, seen, context, message, fix, fingerprint, accepted";

fn finding_from(row: &Row<'_>) -> rusqlite::Result<ScanFinding> {
    Ok(ScanFinding {
        rule: row.get(0)?,
        class: row.get(1)?,
        severity: row.get(2)?,
        stated: row.get(3)?,
        path: row.get(4)?,
        line: row.get(5)?,
        evidence: row.get(6)?,
        seen: row.get(7)?,
        context: row.get(8)?,
        message: row.get(9)?,
        fix: row.get(10)?,
        fingerprint: row.get(11)?,
        accepted: row.get(12)?,
    })
}

impl Store {
    /// Returns the skills whose files, or the rules, are not those of their last scan; or all of them.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn to_scan(&self, ruleset: &str, all: bool) -> Result<Vec<ToScan>> {
        const SELECT: &str = "SELECT s.id, coalesce(m.name, s.rel_path), CASE WHEN s.rel_path = '.' THEN r.path ELSE r.path || '/' || s.rel_path END, w.mark
            FROM skill s
            JOIN skill_root r ON r.id = s.root_id
            JOIN skill_mark w ON w.skill_id = s.id
            LEFT JOIN manifest m ON m.skill_id = s.id
            LEFT JOIN skill_scan k ON k.skill_id = s.id
            LEFT JOIN scan c ON c.id = k.scan_id
            WHERE s.missing_since IS NULL AND s.removed_at IS NULL AND r.removed_at IS NULL
              AND (?2 OR c.ruleset IS NOT ?1 OR k.mark <> w.mark)
            ORDER BY 2, 3";
        let read = |row: &Row<'_>| {
            Ok(ToScan {
                id: row.get(0)?,
                name: row.get(1)?,
                path: row.get(2)?,
                mark: row.get(3)?,
            })
        };
        self.rows(
            SELECT,
            &[&ruleset, &all],
            read,
            "look what is to be scanned",
        )
    }

    /// Returns in which state a skill's files are, as far as the mirror knows.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn skill_mark(&self, skill: i64) -> Result<Option<String>> {
        self.connection
            .prepare_cached("SELECT mark FROM skill_mark WHERE skill_id = ?1")
            .and_then(|mut select| select.query_row([skill], |row| row.get(0)).optional())
            .map_err(Error::database("look what is to be scanned"))
    }

    /// Returns all scans with these rules, by what was looked at.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn known_scans(&self, ruleset: &str) -> Result<HashMap<String, KnownScan>> {
        const SELECT: &str = "SELECT c.tree, c.id, c.verdict,
              (SELECT f.path || coalesce(':' || f.line, '') || ': ' || f.message FROM scan_finding f
               WHERE f.scan_id = c.id AND f.accepted IS NULL AND c.verdict <> 'safe' ORDER BY f.position LIMIT 1)
            FROM scan c WHERE c.ruleset = ?1";
        let read = |row: &Row<'_>| {
            let known = KnownScan {
                id: row.get(1)?,
                verdict: row.get(2)?,
                worst: row.get(3)?,
            };
            Ok((row.get(0)?, known))
        };
        let rows: Vec<(String, KnownScan)> =
            self.rows(SELECT, &[&ruleset], read, "look up scans")?;
        Ok(rows.into_iter().collect())
    }

    /// Returns what a scan found, worst first.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn scan_findings(&self, scan: i64) -> Result<Vec<ScanFinding>> {
        let select =
            format!("SELECT {FINDING} FROM scan_finding WHERE scan_id = ?1 ORDER BY position");
        self.rows(&select, &[&scan], finding_from, "read findings")
    }

    /// Returns every skill that was looked at and is there, by name and path.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn all_scans(&self) -> Result<Vec<KnownVerdict>> {
        const SELECT: &str = "SELECT name, path, verdict, scan_id, tree, files, bytes FROM v_scan WHERE scan_id IS NOT NULL ORDER BY name, path";
        let read = |row: &Row<'_>| {
            Ok(KnownVerdict {
                name: row.get(0)?,
                path: row.get(1)?,
                verdict: row.get(2)?,
                scan: row.get(3)?,
                tree: row.get(4)?,
                files: row.get(5)?,
                bytes: row.get(6)?,
            })
        };
        self.rows(SELECT, &[], read, "list verdicts")
    }

    /// Returns the live skills that are not safe, the worst first.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn flagged(&self) -> Result<Vec<Flag>> {
        const SELECT: &str = "SELECT s.id, coalesce(m.name, s.rel_path), CASE WHEN s.rel_path = '.' THEN r.path ELSE r.path || '/' || s.rel_path END,
              coalesce(k.raised, c.verdict),
              coalesce(k.raised_by, (SELECT f.message FROM scan_finding f WHERE f.scan_id = c.id AND f.accepted IS NULL ORDER BY f.position LIMIT 1))
            FROM skill_scan k
            JOIN scan c ON c.id = k.scan_id
            JOIN skill s ON s.id = k.skill_id
            JOIN skill_root r ON r.id = s.root_id
            LEFT JOIN manifest m ON m.skill_id = s.id
            WHERE (c.verdict <> 'safe' OR k.raised IS NOT NULL)
              AND s.missing_since IS NULL AND s.removed_at IS NULL AND r.removed_at IS NULL AND s.state <> 'archived'
            ORDER BY coalesce(k.raised, c.verdict) DESC, 2, 3";
        let read = |row: &Row<'_>| {
            Ok(Flag {
                id: row.get(0)?,
                name: row.get(1)?,
                path: row.get(2)?,
                verdict: row.get(3)?,
                worst: row.get(4)?,
            })
        };
        self.rows(SELECT, &[], read, "list flagged skills")
    }

    /// Counts the live skills by verdict.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn verdict_counts(&self) -> Result<VerdictCounts> {
        const SELECT: &str = "SELECT count(*) FILTER (WHERE verdict = 'safe'), count(*) FILTER (WHERE verdict = 'caution'),
              count(*) FILTER (WHERE verdict = 'dangerous'), count(*) FILTER (WHERE verdict IS NULL)
            FROM v_scan WHERE state <> 'archived'";
        self.connection
            .query_row(SELECT, [], |row| {
                Ok(VerdictCounts {
                    safe: row.get(0)?,
                    caution: row.get(1)?,
                    dangerous: row.get(2)?,
                    unknown: row.get(3)?,
                })
            })
            .map_err(Error::database("count verdicts"))
    }

    /// Returns the verdict of a skill, as the database has it.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn verdict_of(&self, skill: i64) -> Result<Option<String>> {
        self.connection
            .prepare_cached("SELECT verdict FROM v_scan WHERE skill_id = ?1")
            .and_then(|mut select| select.query_row([skill], |row| row.get(0)).optional())
            .map(Option::flatten)
            .map_err(Error::database("look up a verdict"))
    }
}

impl Tx<'_> {
    /// Keeps a scan. What is kept for this content and these rules already stays.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn put_scan(&self, scan: &NewScan<'_>) -> Result<i64> {
        self.insert_scan(scan)
            .map_err(Error::database("keep a scan"))
    }

    fn insert_scan(&self, scan: &NewScan<'_>) -> rusqlite::Result<i64> {
        let known = self
            .transaction
            .prepare_cached("SELECT id FROM scan WHERE tree = ?1 AND ruleset = ?2")?
            .query_row([scan.tree, scan.ruleset], |row| row.get(0))
            .optional()?;
        if let Some(id) = known {
            return Ok(id);
        }
        self.transaction
            .prepare_cached("INSERT INTO scan (tree, ruleset, verdict, files, bytes, scanned_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6)")?
            .execute(params![scan.tree, scan.ruleset, scan.verdict, scan.files, scan.bytes, scan.at.to_string()])?;
        let id = self.transaction.last_insert_rowid();
        let insert = format!(
            "INSERT INTO scan_finding (scan_id, position, {FINDING}) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)"
        );
        let mut insert = self.transaction.prepare_cached(&insert)?;
        for (position, found) in scan.findings.iter().enumerate() {
            insert.execute(params![
                id,
                position,
                found.rule,
                found.class,
                found.severity,
                found.stated,
                found.path,
                found.line,
                found.evidence,
                found.seen,
                found.context,
                found.message,
                found.fix,
                found.fingerprint,
                found.accepted
            ])?;
        }
        Ok(id)
    }

    /// Notes which scan holds for a skill. `mark` is empty where the mirror may not know what was looked at: then the
    /// next sync looks again, unless the scan is the one that held before. A second opinion on other content is none on
    /// this.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn set_scan(&self, skill: i64, scan: i64, mark: &str) -> Result<()> {
        const UPSERT: &str = "INSERT INTO skill_scan (skill_id, scan_id, mark) VALUES (?1, ?2, ?3)
            ON CONFLICT (skill_id) DO UPDATE SET
              raised = CASE WHEN scan_id = excluded.scan_id THEN raised END,
              raised_by = CASE WHEN scan_id = excluded.scan_id THEN raised_by END,
              mark = CASE WHEN excluded.mark = '' AND scan_id = excluded.scan_id THEN mark ELSE excluded.mark END,
              scan_id = excluded.scan_id";
        self.transaction
            .prepare_cached(UPSERT)
            .and_then(|mut upsert| upsert.execute(params![skill, scan, mark]))
            .map(|_| ())
            .map_err(Error::database("note a verdict"))
    }

    /// Notes that a skill is to be looked at again: what holds for it may not hold any more.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn doubt_scan(&self, skill: i64) -> Result<()> {
        self.transaction
            .prepare_cached("UPDATE skill_scan SET mark = '' WHERE skill_id = ?1")
            .and_then(|mut update| update.execute([skill]))
            .map(|_| ())
            .map_err(Error::database("note a verdict"))
    }

    /// Forgets everything that was found: the words of a finding may be what has to go. The next sync looks again.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn forget_all_scans(&self) -> Result<()> {
        self.transaction
            .execute_batch("DELETE FROM skill_scan; DELETE FROM scan_finding; DELETE FROM scan;")
            .map_err(Error::database("forget scans"))
    }

    /// Forgets scans that hold for no skill any more.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn forget_scans(&self) -> Result<()> {
        const OLD: &str = "SELECT c.id FROM scan c WHERE NOT EXISTS (SELECT 1 FROM skill_scan k WHERE k.scan_id = c.id)";
        let forget = || -> rusqlite::Result<()> {
            self.transaction.execute(
                &format!("DELETE FROM scan_finding WHERE scan_id IN ({OLD})"),
                [],
            )?;
            self.transaction
                .execute(&format!("DELETE FROM scan WHERE id IN ({OLD})"), [])?;
            Ok(())
        };
        forget().map_err(Error::database("forget old scans"))
    }
}
