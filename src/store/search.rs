//! The search index: what is indexed, what is out of date, and where terms stand. What the bytes mean is the business of
//! `search`.

use rusqlite::{Row, params};

use super::{Store, Tx};
use crate::error::{Error, Result};

/// What is to be indexed of a skill.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToIndex {
    /// The skill.
    pub skill: i64,
    /// Of which text, place and state this is.
    pub mark: String,
    /// What people call it.
    pub name: String,
    /// The folders between root and skill.
    pub category: String,
    /// Its description.
    pub description: String,
    /// Tags, one a line.
    pub tags: String,
    /// The frontmatter as JSON.
    pub frontmatter: String,
    /// Hash of its text.
    pub content: String,
    /// Where its body begins, in bytes.
    pub body_offset: usize,
    /// It is put away.
    pub is_archived: bool,
}

/// A document to be kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NewDocument<'a> {
    /// Its number.
    pub document: u32,
    /// The skill.
    pub skill: i64,
    /// Of which text, place and state it was made.
    pub mark: &'a str,
    /// Hashes of neighbours in name and description.
    pub head_pairs: &'a [u8],
    /// Hashes of neighbours in the body.
    pub body_pairs: &'a [u8],
}

/// What is known of the documents of a segment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SegmentRow {
    /// Its number.
    pub id: i64,
    /// How many documents there were at first.
    pub documents: usize,
    /// What is known of those that are left, packed.
    pub measures: Vec<u8>,
    /// Their names, one a line.
    pub names: String,
}

/// What a listing of hits tells of a skill.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HitRow {
    /// The skill.
    pub skill: i64,
    /// What people call it.
    pub name: String,
    /// Its description.
    pub description: Option<String>,
    /// Absolute path of its folder.
    pub path: String,
    /// active, stale, archived.
    pub state: String,
    /// The guard's word.
    pub verdict: Option<String>,
    /// Uses in all.
    pub uses: u64,
}

const LIVE: &str = "FROM skill s
    JOIN skill_root r ON r.id = s.root_id
    JOIN manifest m ON m.skill_id = s.id
    WHERE s.missing_since IS NULL AND s.removed_at IS NULL AND r.removed_at IS NULL
      AND m.parse_status <> 'unreadable' AND m.content_hash IS NOT NULL";

/// Text, place and state: another one of them is another document.
const MARK: &str = "m.content_hash || ' ' || s.state || ' ' || s.rel_path";

impl Store {
    /// Reads several things at one moment: nothing changes between them, and the database is locked once.
    ///
    /// # Errors
    /// What `work` returns, or [`Error::Database`].
    pub fn at_once<T>(&self, work: impl FnOnce() -> Result<T>) -> Result<T> {
        let run = |statement: &str| {
            self.connection
                .execute_batch(statement)
                .map_err(Error::database("read the search index"))
        };
        run("BEGIN")?;
        let result = work();
        // It wrote nothing: how it ends is the same.
        run("COMMIT")?;
        result
    }

    /// Of which generation of the mirror the index is, and in which format.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn search_state(&self) -> Result<(String, String)> {
        let value = |key: &str| Ok(self.meta(key)?.unwrap_or_default());
        Ok((value("search_generation")?, value("search_format")?))
    }

    /// Returns the skills whose text is not in the index.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn to_index(&self) -> Result<Vec<ToIndex>> {
        let select = format!(
            "SELECT s.id, {MARK}, m.name, m.category, coalesce(m.description, ''),
               coalesce((SELECT group_concat(tag, char(10)) FROM skill_tag t WHERE t.skill_id = s.id), ''),
               m.frontmatter, m.content_hash, m.body_offset, s.state = 'archived'
             {LIVE} AND NOT EXISTS (SELECT 1 FROM search_document d WHERE d.skill_id = s.id AND d.mark = {MARK})
             ORDER BY s.id"
        );
        let read = |row: &Row<'_>| {
            Ok(ToIndex {
                skill: row.get(0)?,
                mark: row.get(1)?,
                name: row.get(2)?,
                category: row.get(3)?,
                description: row.get(4)?,
                tags: row.get(5)?,
                frontmatter: row.get(6)?,
                content: row.get(7)?,
                body_offset: row.get(8)?,
                is_archived: row.get(9)?,
            })
        };
        self.rows(&select, &[], read, "look what is to be indexed")
    }

    /// Returns the documents of texts that are no more: number and segment.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn to_unindex(&self) -> Result<Vec<(u32, i64)>> {
        let select = format!(
            "SELECT d.document, d.segment FROM search_document d
             WHERE NOT EXISTS (SELECT 1 {LIVE} AND s.id = d.skill_id AND d.mark = {MARK})"
        );
        let read = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?));
        self.rows(&select, &[], read, "look what is to be indexed")
    }

    /// Returns the segments, the oldest first.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn search_segments(&self) -> Result<Vec<SegmentRow>> {
        let read = |row: &Row<'_>| {
            Ok(SegmentRow {
                id: row.get(0)?,
                documents: row.get(1)?,
                measures: row.get(2)?,
                names: row.get(3)?,
            })
        };
        self.rows(
            "SELECT id, documents, measures, names FROM search_segment ORDER BY id",
            &[],
            read,
            "read the search index",
        )
    }

    /// Gives where a term stands, one segment after the other.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn postings(&self, term: &str, mut take: impl FnMut(&[u8])) -> Result<()> {
        let mut query = || {
            let mut select = self.connection.prepare_cached(
                "SELECT postings FROM search_term WHERE term = ?1 ORDER BY segment",
            )?;
            let mut rows = select.query([term])?;
            while let Some(row) = rows.next()? {
                take(row.get_ref(0)?.as_blob()?);
            }
            Ok(())
        };
        query().map_err(Error::database("read the search index"))
    }

    /// Gives the neighbours of a document: in name and description, and in the body.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn neighbours<T>(
        &self,
        document: u32,
        take: impl FnOnce(&[u8], &[u8]) -> T,
    ) -> Result<Option<T>> {
        let query = || {
            let mut select = self.connection.prepare_cached(
                "SELECT head_pairs, body_pairs FROM search_document WHERE document = ?1",
            )?;
            let mut rows = select.query([document])?;
            match rows.next()? {
                None => Ok(None),
                Some(row) => Ok(Some(take(
                    row.get_ref(0)?.as_blob()?,
                    row.get_ref(1)?.as_blob()?,
                ))),
            }
        };
        query().map_err(Error::database("read the search index"))
    }

    /// Gives every term of some segments, in the order of terms and segments.
    ///
    /// # Errors
    /// What `take` returns, or [`Error::Database`].
    pub fn terms_of(
        &self,
        segments: &[i64],
        mut take: impl FnMut(&str, &[u8]) -> Result<()>,
    ) -> Result<()> {
        let context = || Error::database("read the search index");
        let list = serde_json::json!(segments).to_string();
        let mut select = self
            .connection
            .prepare_cached(
                "SELECT term, postings FROM search_term
                 WHERE segment IN (SELECT value FROM json_each(?1)) ORDER BY term, segment",
            )
            .map_err(context())?;
        let mut rows = select.query([list]).map_err(context())?;
        while let Some(row) = rows.next().map_err(context())? {
            let (term, postings) = (
                row.get_ref(0).map_err(context())?,
                row.get_ref(1).map_err(context())?,
            );
            if let (Ok(term), Ok(postings)) = (term.as_str(), postings.as_blob()) {
                take(term, postings)?;
            }
        }
        Ok(())
    }

    /// Returns how often skills were used, those only that were: skill and uses.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn uses_of(&self, skills: &[i64]) -> Result<Vec<(i64, u64)>> {
        let list = serde_json::json!(skills).to_string();
        self.rows(
            "SELECT skill_id, use_count FROM skill_usage
             WHERE use_count > 0 AND skill_id IN (SELECT value FROM json_each(?1))",
            &[&list],
            |row| Ok((row.get(0)?, row.get(1)?)),
            "read the search index",
        )
    }

    /// Returns what a listing tells of skills, in no order; those that are no more are left out.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn hits(&self, skills: &[i64]) -> Result<Vec<HitRow>> {
        const SELECT: &str = "SELECT s.id, m.name, m.description,
              CASE WHEN s.rel_path = '.' THEN r.path ELSE r.path || '/' || s.rel_path END, s.state,
              (SELECT coalesce(k.raised, c.verdict) FROM skill_scan k JOIN scan c ON c.id = k.scan_id WHERE k.skill_id = s.id),
              coalesce((SELECT use_count FROM skill_usage u WHERE u.skill_id = s.id), 0)
            FROM json_each(?1) j JOIN skill s ON s.id = j.value
            JOIN skill_root r ON r.id = s.root_id JOIN manifest m ON m.skill_id = s.id
            WHERE s.missing_since IS NULL AND s.removed_at IS NULL AND r.removed_at IS NULL";
        let read = |row: &Row<'_>| {
            Ok(HitRow {
                skill: row.get(0)?,
                name: row.get(1)?,
                description: row.get(2)?,
                path: row.get(3)?,
                state: row.get(4)?,
                verdict: row.get(5)?,
                uses: row.get(6)?,
            })
        };
        let list = serde_json::json!(skills).to_string();
        self.rows(SELECT, &[&list], read, "read the search index")
    }
}

impl Tx<'_> {
    /// Notes of which generation of the mirror the index is from now on; returns false when another process has changed
    /// the index since `seen` was read.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn claim_index(&self, seen: &str, generation: &str, format: &str) -> Result<bool> {
        let context = Error::database("note what is indexed");
        let claim = || {
            let claimed = self.transaction.execute(
                "UPDATE meta SET value = ?2 WHERE key = 'search_generation' AND value = ?1",
                [seen, generation],
            )?;
            self.transaction.execute(
                "UPDATE meta SET value = ?1 WHERE key = 'search_format'",
                [format],
            )?;
            Ok(claimed == 1)
        };
        claim().map_err(context)
    }

    /// Forgets the whole index; the next search makes it anew.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn clear_index(&self) -> Result<()> {
        self.transaction
            .execute_batch(
                "DELETE FROM search_document; DELETE FROM search_segment; DELETE FROM search_term;
                 UPDATE meta SET value = '' WHERE key IN ('search_generation', 'search_format')",
            )
            .map_err(Error::database("clear the search index"))
    }

    /// Takes so many numbers for documents; returns the first.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn take_documents(&self, count: usize) -> Result<u32> {
        let take = || {
            let next: u32 = self.transaction.query_row(
                "SELECT CAST(value AS INTEGER) FROM meta WHERE key = 'search_next'",
                [],
                |row| row.get(0),
            )?;
            self.transaction.execute(
                "UPDATE meta SET value = CAST(value AS INTEGER) + ?1 WHERE key = 'search_next'",
                [count],
            )?;
            Ok(next)
        };
        take().map_err(Error::database("number documents"))
    }

    /// Forgets a document; what terms say of it is about nothing from now on.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn drop_document(&self, document: u32) -> Result<()> {
        self.transaction
            .prepare_cached("DELETE FROM search_document WHERE document = ?1")
            .and_then(|mut delete| delete.execute([document]))
            .map(|_| ())
            .map_err(Error::database("forget a document"))
    }

    /// Keeps a document of a segment.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn put_document(&self, segment: i64, new: &NewDocument<'_>) -> Result<()> {
        self.transaction
            .prepare_cached(
                "INSERT INTO search_document (document, skill_id, mark, segment, head_pairs, body_pairs)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
            )
            .and_then(|mut insert| {
                insert.execute(params![
                    new.document,
                    new.skill,
                    new.mark,
                    segment,
                    new.head_pairs,
                    new.body_pairs
                ])
            })
            .map(|_| ())
            .map_err(Error::database("index a skill"))
    }

    /// Makes a segment, or says what is left of one.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn put_segment(&self, row: &SegmentRow) -> Result<()> {
        self.transaction
            .prepare_cached(
                "INSERT INTO search_segment (id, documents, measures, names) VALUES (?1, ?2, ?3, ?4)
                 ON CONFLICT (id) DO UPDATE SET measures = excluded.measures, names = excluded.names",
            )
            .and_then(|mut insert| {
                insert.execute(params![row.id, row.documents, row.measures, row.names])
            })
            .map(|_| ())
            .map_err(Error::database("keep a part of the search index"))
    }

    /// The number of the next segment.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn next_segment(&self) -> Result<i64> {
        self.transaction
            .query_row(
                "SELECT coalesce(max(id), 0) + 1 FROM search_segment",
                [],
                |row| row.get(0),
            )
            .map_err(Error::database("keep a part of the search index"))
    }

    /// Keeps where a term stands in a segment.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn put_term(&self, term: &str, segment: i64, postings: &[u8]) -> Result<()> {
        self.transaction
            .prepare_cached("INSERT INTO search_term (term, segment, postings) VALUES (?1, ?2, ?3)")
            .and_then(|mut insert| insert.execute(params![term, segment, postings]))
            .map(|_| ())
            .map_err(Error::database("index a term"))
    }

    /// Forgets segments with all their terms; their documents belong to `into` from now on.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn fold_segments(&self, segments: &[i64], into: i64) -> Result<()> {
        let list = serde_json::json!(segments).to_string();
        let fold = || {
            for statement in [
                "DELETE FROM search_term WHERE segment IN (SELECT value FROM json_each(?1))",
                "DELETE FROM search_segment WHERE id IN (SELECT value FROM json_each(?1))",
            ] {
                self.transaction.execute(statement, [&list])?;
            }
            self.transaction.execute(
                "UPDATE search_document SET segment = ?2 WHERE segment IN (SELECT value FROM json_each(?1))",
                params![list, into],
            )?;
            Ok(())
        };
        fold().map_err(Error::database("put parts of the search index together"))
    }
}
