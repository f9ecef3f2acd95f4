//! Asks the database whether it is whole: what `doctor` reports and mends.

use super::Store;
use crate::error::{Error, Result};

/// What a check found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckFinding {
    /// The check's stable word.
    pub check: &'static str,
    /// One sentence.
    pub message: String,
    /// How to mend it.
    pub repair: Repair,
}

/// How a finding is mended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Repair {
    /// `doctor --fix` recounts the counters from the ledger.
    Recount,
    /// `doctor --fix` refills the mirror from disk.
    Rebuild,
    /// Only a person can: nothing is done.
    ByHand,
}

/// Rows that point at nothing, per table; each a question whose answer should be 0.
const DANGLING: &[(&str, &str)] = &[
    (
        "manifest rows without a skill",
        "SELECT count(*) FROM manifest WHERE skill_id NOT IN (SELECT id FROM skill)",
    ),
    (
        "present skills without a manifest row",
        "SELECT count(*) FROM skill s JOIN skill_root r ON r.id = s.root_id WHERE s.missing_since IS NULL AND s.removed_at IS NULL AND r.removed_at IS NULL AND s.id NOT IN (SELECT skill_id FROM manifest)",
    ),
    (
        "walked folders of skills that are not there",
        "SELECT count(*) FROM walk_unit WHERE skill_id IS NOT NULL AND skill_id NOT IN (SELECT id FROM skill WHERE removed_at IS NULL AND missing_since IS NULL)",
    ),
    (
        "supporting files without a manifest row",
        "SELECT count(*) FROM skill_file WHERE skill_id NOT IN (SELECT skill_id FROM manifest)",
    ),
];

/// What `usage_day` should say.
const DAYS: &str = "SELECT substr(at, 1, 10), coalesce(skill_id, 0), kind, \"trigger\", coalesce(client, ''), actor IN ('background_review', 'curator'), count(*), sum(coalesce(ok = 0, 0))
    FROM usage_event GROUP BY 1, 2, 3, 4, 5, 6";

/// What `usage_total` should say.
const TOTALS: &str = "SELECT client, \"trigger\", background, sum(events), sum(failures) FROM usage_day GROUP BY 1, 2, 3";

impl Store {
    /// Checks the database's own integrity and the rows' ties to each other.
    ///
    /// # Errors
    /// [`Error::Database`] when a check cannot even be asked.
    pub fn check(&self) -> Result<Vec<CheckFinding>> {
        let mut findings = self.integrity()?;
        for (what, sql) in DANGLING {
            let count: i64 = self
                .connection
                .query_row(sql, [], |row| row.get(0))
                .map_err(Error::database("look for dangling rows"))?;
            if count > 0 {
                findings.push(CheckFinding {
                    check: "dangling-rows",
                    message: format!("{count} {what}"),
                    repair: Repair::Rebuild,
                });
            }
        }
        findings.extend(self.miscounted()?);
        findings.extend(self.lost_blobs()?);
        Ok(findings)
    }

    fn integrity(&self) -> Result<Vec<CheckFinding>> {
        let words: Vec<String> = self.rows(
            "PRAGMA integrity_check(20)",
            &[],
            |row| row.get(0),
            "check the integrity",
        )?;
        let broken = words.into_iter().filter(|words| words != "ok");
        let mut findings: Vec<CheckFinding> = broken
            .map(|message| CheckFinding {
                check: "integrity",
                message,
                repair: Repair::ByHand,
            })
            .collect();
        let foreign = self.rows(
            "SELECT \"table\", count(*) FROM pragma_foreign_key_check GROUP BY 1",
            &[],
            |row| Ok((row.get::<_, String>(0)?, row.get::<_, i64>(1)?)),
            "check the references",
        )?;
        findings.extend(foreign.into_iter().map(|(table, count)| CheckFinding {
            check: "references",
            message: format!("{count} rows of {table} point at rows that are not there"),
            repair: Repair::Rebuild,
        }));
        Ok(findings)
    }

    fn miscounted(&self) -> Result<Vec<CheckFinding>> {
        // A skill without events may have a row of zeros, or none.
        const COMPARE: &str = "SELECT count(DISTINCT skill_id) FROM (
              SELECT * FROM (SELECT * FROM usage_recount EXCEPT SELECT * FROM skill_usage)
              UNION ALL
              SELECT * FROM (SELECT * FROM skill_usage WHERE use_count + view_count + file_count + background_use_count + background_view_count + background_file_count + failure_count > 0
                             EXCEPT SELECT * FROM usage_recount))";
        let count: i64 = self
            .connection
            .query_row(COMPARE, [], |row| row.get(0))
            .map_err(Error::database("recount the usage"))?;
        let days: i64 = self
            .connection
            .query_row(&format!("SELECT count(*) FROM (SELECT * FROM ({DAYS} EXCEPT SELECT * FROM usage_day) UNION ALL SELECT * FROM (SELECT * FROM usage_day EXCEPT {DAYS}))"), [], |row| row.get(0))
            .map_err(Error::database("recount the days"))?;
        let totals: i64 = self
            .connection
            .query_row(&format!("SELECT count(*) FROM (SELECT * FROM ({TOTALS} EXCEPT SELECT * FROM usage_total) UNION ALL SELECT * FROM (SELECT * FROM usage_total EXCEPT {TOTALS}))"), [], |row| row.get(0))
            .map_err(Error::database("recount the totals"))?;
        let told = [
            (
                count,
                format!("the usage counters of {count} skills differ from their events"),
            ),
            (
                days,
                format!("{days} daily counts differ from their events"),
            ),
            (totals, format!("{totals} totals differ from their days")),
        ];
        let wrong = told.into_iter().filter(|(count, _)| *count > 0);
        Ok(wrong
            .map(|(_, message)| CheckFinding {
                check: "usage-counters",
                message,
                repair: Repair::Recount,
            })
            .collect())
    }

    fn lost_blobs(&self) -> Result<Vec<CheckFinding>> {
        const COUNT: &str = "SELECT count(*) FROM kept_file WHERE hash NOT IN (SELECT hash FROM blob) AND hash NOT IN (SELECT hash FROM purged)";
        let count: i64 = self
            .connection
            .query_row(COUNT, [], |row| row.get(0))
            .map_err(Error::database("look for kept bytes"))?;
        if count == 0 {
            return Ok(Vec::new());
        }
        let message = format!("the bytes of {count} files are noted as kept but are not there");
        Ok(vec![CheckFinding {
            check: "kept-bytes",
            message,
            repair: Repair::ByHand,
        }])
    }

    /// Hands the hash, codec, size and bytes of every blob to `take`.
    ///
    /// # Errors
    /// What `take` returns, or [`Error::Database`].
    pub fn each_blob(
        &self,
        mut take: impl FnMut(&str, &str, u64, &[u8]) -> Result<()>,
    ) -> Result<()> {
        let fail = |error| Error::database("read kept bytes")(error);
        let mut statement = self
            .connection
            .prepare("SELECT hash, codec, size, bytes FROM blob")
            .map_err(fail)?;
        let mut rows = statement.query([]).map_err(fail)?;
        while let Some(row) = rows.next().map_err(fail)? {
            let parts = || -> rusqlite::Result<_> {
                Ok((
                    row.get_ref(0)?.as_str()?,
                    row.get_ref(1)?.as_str()?,
                    row.get(2)?,
                    row.get_ref(3)?.as_blob()?,
                ))
            };
            let (hash, codec, size, bytes) = parts().map_err(fail)?;
            take(hash, codec, size, bytes)?;
        }
        Ok(())
    }

    /// Recounts the usage counters from events and baselines.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn recount_usage(&mut self) -> Result<()> {
        let recount = format!(
            "DELETE FROM skill_usage; INSERT INTO skill_usage SELECT * FROM usage_recount;
             DELETE FROM usage_day; INSERT INTO usage_day {DAYS};
             DELETE FROM usage_total; INSERT INTO usage_total {TOTALS};"
        );
        self.write(|tx| {
            tx.transaction
                .execute_batch(&recount)
                .map_err(Error::database("recount the usage"))
        })
    }
}
