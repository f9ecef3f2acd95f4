//! Changes that wait for a person.

use rusqlite::{OptionalExtension, Row, params};

use super::{Store, Tx};
use crate::error::{Error, Result};
use crate::time::Timestamp;

/// A proposal to be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NewProposal<'a> {
    /// The word for what is asked for.
    pub action: &'a str,
    /// The skill's row; `None` for one that is not there yet.
    pub skill: Option<i64>,
    /// What people call it.
    pub name: &'a str,
    /// What was asked for, as JSON.
    pub request: &'a str,
    /// What each file said then, as JSON.
    pub base: &'a str,
    /// What would become of the files.
    pub diff: &'a str,
    /// Why it was not simply done.
    pub why: &'a str,
    /// The word for who asks.
    pub actor: &'a str,
    /// In which session.
    pub session: Option<&'a str>,
    /// Why.
    pub reason: Option<&'a str>,
    /// The same for the same request.
    pub fingerprint: &'a str,
    /// Until when it can be approved.
    pub expires_at: Timestamp,
}

/// A proposal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProposalRow {
    /// Row id.
    pub id: i64,
    /// The word for what is asked for.
    pub action: String,
    /// The skill's row.
    pub skill: Option<i64>,
    /// What people call it.
    pub name: String,
    /// What was asked for, as JSON.
    pub request: String,
    /// What each file said then, as JSON.
    pub base: String,
    /// What would become of the files.
    pub diff: String,
    /// Why it was not simply done.
    pub why: String,
    /// Who asks.
    pub actor: String,
    /// In which session.
    pub session: Option<String>,
    /// Why.
    pub reason: Option<String>,
    /// How often it was asked for.
    pub asked: u64,
    /// Since when it waits.
    pub created_at: String,
    /// Until when it can be approved.
    pub expires_at: String,
    /// When somebody decided.
    pub decided_at: Option<String>,
    /// approved, rejected, expired.
    pub decision: Option<String>,
    /// What was said about it.
    pub note: Option<String>,
    /// The change it became.
    pub change: Option<i64>,
}

/// What is decided about a proposal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decision<'a> {
    /// It became this change.
    Approved(i64),
    /// Not wanted, and why.
    Rejected(Option<&'a str>),
}

const COLUMNS: &str = "p.id, p.action, p.skill_id, coalesce(m.name, p.name), p.request, p.base, p.diff, p.why, p.actor, p.session_id, p.reason, p.asked_count,
    p.created_at, p.expires_at, p.decided_at, p.decision, p.note, p.change_id
    FROM proposal p LEFT JOIN manifest m ON m.skill_id = p.skill_id";

fn from_row(row: &Row<'_>) -> rusqlite::Result<ProposalRow> {
    Ok(ProposalRow {
        id: row.get(0)?,
        action: row.get(1)?,
        skill: row.get(2)?,
        name: row.get(3)?,
        request: row.get(4)?,
        base: row.get(5)?,
        diff: row.get(6)?,
        why: row.get(7)?,
        actor: row.get(8)?,
        session: row.get(9)?,
        reason: row.get(10)?,
        asked: row.get(11)?,
        created_at: row.get(12)?,
        expires_at: row.get(13)?,
        decided_at: row.get(14)?,
        decision: row.get(15)?,
        note: row.get(16)?,
        change: row.get(17)?,
    })
}

impl Store {
    /// Returns proposals, the oldest first: those that wait at `now`, or all.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn proposals(&self, all: bool, now: Timestamp) -> Result<Vec<ProposalRow>> {
        let select = format!(
            "SELECT {COLUMNS} WHERE ?1 OR (p.decided_at IS NULL AND p.expires_at > ?2) ORDER BY p.id"
        );
        let query = || {
            self.connection
                .prepare_cached(&select)?
                .query_map(params![all, now.to_string()], from_row)?
                .collect::<rusqlite::Result<Vec<_>>>()
        };
        query().map_err(Error::database("read proposals"))
    }

    /// Returns one proposal.
    ///
    /// # Errors
    /// [`Error::Denied`] when there is none with this id; [`Error::Database`].
    pub fn proposal(&self, id: i64) -> Result<ProposalRow> {
        let select = format!("SELECT {COLUMNS} WHERE p.id = ?1");
        let query = || {
            self.connection
                .prepare_cached(&select)?
                .query_row([id], from_row)
                .optional()
        };
        query()
            .map_err(Error::database("read a proposal"))?
            .ok_or_else(|| Error::Denied {
                code: "proposal-not-found",
                message: format!("there is no proposal {id}"),
                hint: Some("`skilldb proposals` lists them".to_owned()),
            })
    }
}

impl Tx<'_> {
    /// Adds a proposal, or counts once more the one that asks for the same; returns its id.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn propose(&self, new: &NewProposal<'_>, now: Timestamp) -> Result<i64> {
        const INSERT: &str = "INSERT INTO proposal (action, skill_id, name, request, base, diff, why, actor, session_id, reason, fingerprint, created_at, expires_at)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)
            ON CONFLICT (fingerprint) WHERE decided_at IS NULL DO UPDATE SET
              asked_count = asked_count + 1, base = excluded.base, diff = excluded.diff, expires_at = excluded.expires_at
            RETURNING id";
        self.expire_proposals(now)?;
        let values = params![
            new.action,
            new.skill,
            new.name,
            new.request,
            new.base,
            new.diff,
            new.why,
            new.actor,
            new.session,
            new.reason,
            new.fingerprint,
            now.to_string(),
            new.expires_at.to_string()
        ];
        self.transaction
            .query_row(INSERT, values, |row| row.get(0))
            .map_err(Error::database("add a proposal"))
    }

    /// Closes the proposals that waited too long.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn expire_proposals(&self, now: Timestamp) -> Result<()> {
        const UPDATE: &str = "UPDATE proposal SET decided_at = ?1, decision = 'expired' WHERE decided_at IS NULL AND expires_at <= ?1";
        self.run(UPDATE, [now.to_string()], "expire proposals")
    }

    /// Closes a proposal.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn decide_proposal(&self, id: i64, decision: Decision<'_>, now: Timestamp) -> Result<()> {
        const UPDATE: &str = "UPDATE proposal SET decided_at = ?2, decision = ?3, note = ?4, change_id = ?5 WHERE id = ?1 AND decided_at IS NULL";
        let (word, note, change) = match decision {
            Decision::Approved(change) => ("approved", None, Some(change)),
            Decision::Rejected(note) => ("rejected", note, None),
        };
        self.run(
            UPDATE,
            params![id, now.to_string(), word, note, change],
            "decide a proposal",
        )
    }

    /// Notes who set or took off a mark, and why.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn note_mark(&self, mark: &NewMark<'_>, now: Timestamp) -> Result<()> {
        const INSERT: &str = "INSERT INTO mark (skill_id, mark, value, reason, actor, session_id, at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
        let values = params![
            mark.skill,
            mark.mark,
            mark.value,
            mark.reason,
            mark.actor,
            mark.session,
            now.to_string()
        ];
        self.run(INSERT, values, "note a mark")
    }
}

/// A mark to be noted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NewMark<'a> {
    /// The skill's row.
    pub skill: i64,
    /// pin, unpin, enable, disable, adopt, release.
    pub mark: &'a str,
    /// What belongs to it.
    pub value: Option<&'a str>,
    /// Why.
    pub reason: Option<&'a str>,
    /// The word for who.
    pub actor: &'a str,
    /// In which session.
    pub session: Option<&'a str>,
}
