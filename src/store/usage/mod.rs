//! Usage events and the counters made from them. Events are facts: added, never rewritten.

mod baseline;
mod imports;
mod life;
mod link;
mod marks;
mod stats;

use rusqlite::{OptionalExtension, params};

use super::{Store, Tx};
use crate::error::{Error, Result};
use crate::time::Timestamp;

pub use baseline::{Baseline, ImportedChange, RecordRow, Taken};
pub use imports::{Cost, ImportFile};
pub use life::{LifeRow, MomentRow};
pub use link::{NamedSkill, OpenCall, Told, Typed};
pub use marks::Install;
pub use stats::{ClientUse, CostRow, DayCount, NotInstalled, SkillUse, StaleRow, Totals, TrendRow};

/// What was done with a skill.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum UseKind {
    /// Followed for a task.
    Use,
    /// Shown to a model or person.
    View,
    /// One of its supporting files was read.
    File,
}

impl UseKind {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Use, Self::View, Self::File];

    /// The word in the database.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Use => "use",
            Self::View => "view",
            Self::File => "file",
        }
    }

    /// Reads the word.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == word)
    }
}

/// Who or what reached for a skill.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Trigger {
    /// A model decided to.
    Model,
    /// A person typed its name.
    Slash,
    /// It was loaded when the session began.
    Preload,
    /// A subagent's definition loads it.
    Subagent,
    /// A scheduled job.
    Automation,
    /// A command line.
    Cli,
}

impl Trigger {
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::Model,
        Self::Slash,
        Self::Preload,
        Self::Subagent,
        Self::Automation,
        Self::Cli,
    ];

    /// The word in the database.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Model => "model",
            Self::Slash => "slash",
            Self::Preload => "preload",
            Self::Subagent => "subagent",
            Self::Automation => "automation",
            Self::Cli => "cli",
        }
    }

    /// Reads the word; what other programs say is accepted, too.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        match word {
            "user" => Some(Self::Slash),
            "cron" => Some(Self::Automation),
            _ => Self::ALL.into_iter().find(|known| known.as_str() == word),
        }
    }
}

/// Who acts: the word decides whether an event counts as foreground or background.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Actor {
    /// A person.
    User,
    /// An agent at work for a person.
    Agent,
    /// The review that runs after a session.
    BackgroundReview,
    /// The curator.
    Curator,
}

impl Actor {
    /// All that use skills.
    pub const ALL: [Self; 4] = [
        Self::User,
        Self::Agent,
        Self::BackgroundReview,
        Self::Curator,
    ];

    /// The word in the database.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Agent => "agent",
            Self::BackgroundReview => "background_review",
            Self::Curator => "curator",
        }
    }

    /// Reads the word.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|known| known.as_str() == word)
    }
}

/// One event as it is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UsageEvent {
    /// The id its source gave it: the same event is counted once.
    pub event_id: String,
    /// The skill; `None` while nobody knows which.
    pub skill_id: Option<i64>,
    /// The name as it was called.
    pub called_name: String,
    /// The skill's folder as the client told it.
    pub called_path: Option<String>,
    /// What was done.
    pub kind: UseKind,
    /// What reached for it.
    pub trigger: Trigger,
    /// Who acted.
    pub actor: Actor,
    /// The client, by its id.
    pub client: Option<String>,
    /// The client's session.
    pub session_id: Option<String>,
    /// The subagent within the session.
    pub subagent: Option<String>,
    /// How the session was started, in the client's own word.
    pub channel: Option<String>,
    /// The folder that was worked in.
    pub project: Option<String>,
    /// The machine's name.
    pub machine: Option<String>,
    /// When.
    pub at: Timestamp,
    /// How it ended, if known.
    pub ok: Option<bool>,
    /// What the skill was called with.
    pub args: Option<String>,
    /// For a file read: which.
    pub file: Option<String>,
    /// SHA-256 of the skill file that was used; looked up when `None`.
    pub content_hash: Option<String>,
    /// Tokens read.
    pub tokens_in: Option<u64>,
    /// Tokens written.
    pub tokens_out: Option<u64>,
    /// Explained by a baseline, not added on top of it.
    pub in_baseline: bool,
}

/// What became of an event that was to be added.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Added {
    /// It is new.
    New,
    /// It was known; what was not known of it yet is noted now.
    Known,
}

impl Added {
    /// Whether it is new.
    #[must_use]
    pub fn is_new(self) -> bool {
        self == Self::New
    }
}

/// The version that ran: of an event as it happens, what the mirror says; of an older one, what the
/// history held at that time.
const HASH_THEN: &str = "(SELECT f.after_hash
    FROM revision v
    JOIN change c ON c.id = v.change_id
    JOIN revision_file f ON f.revision_id = v.id
    JOIN manifest m ON m.skill_id = v.skill_id
    WHERE v.skill_id = ?2 AND c.outcome = 'applied' AND c.at <= ?11 AND f.path = m.file_name
    ORDER BY v.id DESC
    LIMIT 1)";

const HAS_EVENT: &str = "SELECT EXISTS (SELECT 1 FROM usage_event WHERE event_id = ?1) OR EXISTS (SELECT 1 FROM usage_alias WHERE event_id = ?1)";

impl Store {
    /// Says whether an event of this id, or one that goes by it, is known.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn has_event(&self, event_id: &str) -> Result<bool> {
        let query = || {
            self.connection
                .prepare_cached(HAS_EVENT)?
                .query_row([event_id], |row| row.get(0))
        };
        query().map_err(Error::database("look up an event"))
    }
}

impl Tx<'_> {
    /// As [`Store::has_event`].
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn has_event(&self, event_id: &str) -> Result<bool> {
        let query = || {
            self.transaction
                .prepare_cached(HAS_EVENT)?
                .query_row([event_id], |row| row.get(0))
        };
        query().map_err(Error::database("look up an event"))
    }

    /// Adds an event, or notes what this one knows more than the known one of the same id.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn add_event(&self, event: &UsageEvent) -> Result<Added> {
        // Asking the history costs as much as adding the row: an event as it happens brings its hash along.
        let hash = match event.content_hash {
            Some(_) => "?16",
            None => HASH_THEN,
        };
        let insert = format!(
            "INSERT INTO usage_event (event_id, skill_id, called_name, called_path, kind, \"trigger\", actor, client, session_id, project, at,
               machine, ok, args, file, content_hash, tokens_in, tokens_out, subagent, channel, in_baseline)
             SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, {hash}, ?17, ?18, ?19, ?20, ?21
             WHERE ?1 NOT IN (SELECT event_id FROM usage_alias) AND ?16 IS ?16
             ON CONFLICT (event_id) DO NOTHING"
        );
        let values = params![
            event.event_id,
            event.skill_id,
            event.called_name,
            event.called_path,
            event.kind.as_str(),
            event.trigger.as_str(),
            event.actor.as_str(),
            event.client,
            event.session_id,
            event.project,
            event.at.to_string(),
            event.machine,
            event.ok,
            event.args,
            event.file,
            event.content_hash,
            to_sql(event.tokens_in),
            to_sql(event.tokens_out),
            event.subagent,
            event.channel,
            event.in_baseline,
        ];
        let count = self
            .transaction
            .prepare_cached(&insert)
            .and_then(|mut statement| statement.execute(values))
            .map_err(Error::database("add a usage event"))?;
        if count == 1 {
            if event.skill_id.is_none() {
                self.mark_if_appeared(&event.called_name)?;
            }
            return Ok(Added::New);
        }
        self.learn(event)?;
        Ok(Added::Known)
    }

    /// A skill that came between the look-up and this transaction is seen by the next link.
    fn mark_if_appeared(&self, called_name: &str) -> Result<()> {
        const SELECT: &str = "SELECT EXISTS (SELECT 1 FROM manifest WHERE name = ?1) OR EXISTS (SELECT 1 FROM manifest WHERE folder = ?1)";
        let name = called_name.rsplit([':', '/']).next().unwrap_or(called_name);
        let is_there = || {
            self.transaction
                .prepare_cached(SELECT)?
                .query_row([name], |row| row.get(0))
        };
        match is_there().map_err(Error::database("look up a name"))? {
            true => self.mark_link_due(),
            false => Ok(()),
        }
    }

    /// Notes how a known event ended, and which copy of the skill ran, where that was not known.
    fn learn(&self, event: &UsageEvent) -> Result<()> {
        const SELECT: &str = "SELECT id, skill_id, ok IS NULL, called_path IS NULL FROM usage_event WHERE event_id = ?1";
        const SETTLE: &str = "UPDATE usage_event SET ok = ?2 WHERE id = ?1";
        const COST: &str = "UPDATE usage_event SET tokens_in = ?2, tokens_out = ?3 WHERE id = ?1 AND tokens_in IS NULL AND tokens_out IS NULL";
        const PLACE: &str = "UPDATE usage_event SET called_path = ?2, skill_id = ?3 WHERE id = ?1";
        let read = || {
            self.transaction
                .prepare_cached(SELECT)?
                .query_row([&event.event_id], |row| {
                    Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?))
                })
                .optional()
        };
        let known: Option<(i64, Option<i64>, bool, bool)> =
            read().map_err(Error::database("look up an event"))?;
        // One that goes by another id was learnt under its own.
        let Some((id, skill_id, is_open, is_placeless)) = known else {
            return Ok(());
        };
        if is_open && event.ok.is_some() {
            self.run(SETTLE, params![id, event.ok], "note how a use ended")?;
        }
        if event.tokens_in.is_some() {
            let values = params![id, to_sql(event.tokens_in), to_sql(event.tokens_out)];
            self.run(COST, values, "note what a use cost")?;
        }
        if is_placeless && event.called_path.is_some() {
            let values = params![id, event.called_path, event.skill_id];
            self.run(PLACE, values, "note which copy ran")?;
            if event.skill_id != skill_id {
                self.recount(skill_id)?;
                self.recount(event.skill_id)?;
            }
        }
        Ok(())
    }

    /// Notes how an event ended that was added while it went on.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn settle_event(&self, event_id: &str, ok: bool) -> Result<()> {
        const SETTLE: &str = "UPDATE usage_event SET ok = ?2 WHERE event_id = ?1 AND ok IS NULL";
        const CANDIDATE: &str = "UPDATE usage_candidate SET recording = json_set(recording, '$.ok', json(?2)) WHERE event_id = ?1";
        self.run(SETTLE, params![event_id, ok], "note how a use ended")?;
        let ok = if ok { "true" } else { "false" };
        self.run(CANDIDATE, params![event_id, ok], "note how a use ended")
    }

    /// Counts a skill's events again.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn recount(&self, skill_id: Option<i64>) -> Result<()> {
        const CLEAR: &str = "DELETE FROM skill_usage WHERE skill_id = ?1";
        const FILL: &str =
            "INSERT INTO skill_usage SELECT * FROM usage_recount WHERE skill_id = ?1";
        let Some(id) = skill_id else {
            return Ok(());
        };
        self.run(CLEAR, [id], "recount the usage")?;
        self.run(FILL, [id], "recount the usage")
    }
}

/// SQLite's integers have a sign.
fn to_sql(count: Option<u64>) -> Option<i64> {
    count.map(|count| i64::try_from(count).unwrap_or(i64::MAX))
}
