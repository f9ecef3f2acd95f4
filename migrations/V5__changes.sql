-- Changes made through skilldb: the journal that survives a kill, what each change was asked to do and why it
-- failed, changes that wait for a person, and whole-library snapshots.

-- What was asked for, and what went wrong: `problem` is a stable word (not-found, ambiguous, conflict, ...),
-- `message` the sentence that was told. `reason` stays what the caller gave as the reason.
ALTER TABLE change ADD COLUMN problem TEXT;
ALTER TABLE change ADD COLUMN message TEXT;
-- The undo that is in force against it; NULL again when that undo was taken back itself.
ALTER TABLE change ADD COLUMN undone_by INTEGER REFERENCES change (id);
-- Set where the change brought back a snapshot.
ALTER TABLE change ADD COLUMN snapshot_id INTEGER;
-- What was there before that.
ALTER TABLE change ADD COLUMN from_snapshot_id INTEGER;

DROP TRIGGER change_settles_once;
CREATE TRIGGER change_settles_once
BEFORE UPDATE OF id, action, outcome, strategy, reason, actor, session_id, curator_run_id, undoes, at, source, event_id, problem, message, snapshot_id, from_snapshot_id ON change
WHEN old.outcome <> 'pending' OR new.id <> old.id OR new.action <> old.action OR new.actor <> old.actor OR new.at <> old.at
BEGIN SELECT RAISE(ABORT, 'a change is never rewritten; its outcome moves once from pending'); END;

CREATE INDEX change_by_session ON change (session_id) WHERE session_id IS NOT NULL;
CREATE INDEX change_by_curator_run ON change (curator_run_id) WHERE curator_run_id IS NOT NULL;
CREATE INDEX change_by_undone ON change (undoes) WHERE undoes IS NOT NULL;
CREATE INDEX change_by_outcome ON change (outcome) WHERE outcome <> 'applied';

-- Where the skill's folder was and is, absolute, when the change made, moved or removed it as a whole.
ALTER TABLE revision ADD COLUMN from_path TEXT;
ALTER TABLE revision ADD COLUMN to_path TEXT;

-- Whose skill a revision is may be learnt once: a created skill has no row before its folder is in place.
CREATE TRIGGER revision_is_never_rewritten BEFORE UPDATE ON revision
WHEN new.id <> old.id OR new.change_id <> old.change_id OR new.title <> old.title
  OR (old.skill_id IS NOT NULL AND new.skill_id IS NOT old.skill_id)
BEGIN SELECT RAISE(ABORT, 'a revision is never rewritten'); END;

ALTER TABLE revision_file ADD COLUMN before_mode INTEGER;
ALTER TABLE revision_file ADD COLUMN before_link TEXT;

CREATE INDEX revision_file_by_before ON revision_file (before_hash) WHERE before_hash IS NOT NULL;
CREATE INDEX revision_file_by_after ON revision_file (after_hash) WHERE after_hash IS NOT NULL;

-- One row a change that is under way: every step with what stood there before and what stands there after, so
-- that the next command finishes or discards what a kill cut short. Gone as soon as the change is settled.
CREATE TABLE journal (
  change_id INTEGER PRIMARY KEY REFERENCES change (id),
  plan      TEXT NOT NULL CHECK (json_valid(plan))
) STRICT;

-- Where a skill lay before it was archived, relative to its root: where `restore` puts it.
ALTER TABLE skill ADD COLUMN archived_from TEXT;
ALTER TABLE skill ADD COLUMN archived_at TEXT;

-- Bytes that were removed for good, and why: what can no longer be undone says so.
CREATE TABLE purged (
  hash   TEXT PRIMARY KEY CHECK (length(hash) = 64),
  reason TEXT,
  actor  TEXT NOT NULL,
  at     TEXT NOT NULL
) STRICT;

-- A change that waits for a person, in the form in which it was asked for.
CREATE TABLE proposal (
  id          INTEGER PRIMARY KEY,
  action      TEXT NOT NULL,
  -- NULL for a skill that does not exist yet.
  skill_id    INTEGER REFERENCES skill (id),
  name        TEXT NOT NULL,
  request     TEXT NOT NULL CHECK (json_valid(request)),
  -- What each file said when it was asked for: path and hash.
  base        TEXT NOT NULL CHECK (json_valid(base)),
  diff        TEXT NOT NULL,
  -- Why it was not simply done.
  why         TEXT NOT NULL,
  actor       TEXT NOT NULL CHECK (actor IN ('user', 'agent', 'background_review', 'curator', 'sync', 'hub', 'import')),
  session_id  TEXT,
  reason      TEXT,
  -- The same request again is the same proposal.
  fingerprint TEXT NOT NULL,
  asked_count INTEGER NOT NULL DEFAULT 1,
  created_at  TEXT NOT NULL,
  expires_at  TEXT NOT NULL,
  decided_at  TEXT,
  decision    TEXT CHECK (decision IN ('approved', 'rejected', 'expired')),
  note        TEXT,
  -- The change it became.
  change_id   INTEGER REFERENCES change (id)
) STRICT;

CREATE UNIQUE INDEX proposal_waits_once ON proposal (fingerprint) WHERE decided_at IS NULL;

-- Who pinned, disabled, adopted or released which skill, and why: what `skill` says now is the last of these.
CREATE TABLE mark (
  id         INTEGER PRIMARY KEY,
  skill_id   INTEGER NOT NULL REFERENCES skill (id),
  mark       TEXT NOT NULL CHECK (mark IN ('pin', 'unpin', 'enable', 'disable', 'adopt', 'release')),
  -- The platform of enable and disable, whose it is after adopt.
  value      TEXT,
  reason     TEXT,
  actor      TEXT NOT NULL CHECK (actor IN ('user', 'agent', 'background_review', 'curator', 'sync', 'hub', 'import')),
  session_id TEXT,
  at         TEXT NOT NULL CHECK (at GLOB '[0-9][0-9][0-9][0-9]-[0-1][0-9]-[0-3][0-9]T[0-2][0-9]:[0-5][0-9]:[0-6][0-9].[0-9][0-9][0-9]Z')
) STRICT;

CREATE INDEX mark_by_skill ON mark (skill_id, id);

CREATE TABLE snapshot (
  id         INTEGER PRIMARY KEY,
  reason     TEXT NOT NULL,
  actor      TEXT NOT NULL,
  created_at TEXT NOT NULL,
  -- Set by `snapshot prune`: the row stays so that its number is never used again.
  pruned_at  TEXT
) STRICT;

-- Every file of every kind below the writable roots, with what the rows of its skill said.
CREATE TABLE snapshot_file (
  snapshot_id INTEGER NOT NULL REFERENCES snapshot (id),
  root_id     INTEGER NOT NULL REFERENCES skill_root (id),
  path        TEXT NOT NULL,
  -- NULL for a link and for an empty folder.
  hash        TEXT CHECK (length(hash) = 64),
  mode        INTEGER,
  link_target TEXT,
  PRIMARY KEY (snapshot_id, root_id, path)
) STRICT, WITHOUT ROWID;

CREATE INDEX snapshot_file_by_hash ON snapshot_file (hash) WHERE hash IS NOT NULL;

CREATE TABLE snapshot_skill (
  snapshot_id   INTEGER NOT NULL REFERENCES snapshot (id),
  skill_id      INTEGER NOT NULL REFERENCES skill (id),
  root_id       INTEGER NOT NULL REFERENCES skill_root (id),
  rel_path      TEXT NOT NULL,
  state         TEXT NOT NULL,
  archived_from TEXT,
  PRIMARY KEY (snapshot_id, skill_id)
) STRICT, WITHOUT ROWID;

-- One row a file of a revision, failed attempts too (those without files have one row with path NULL). What was
-- there keeps its place.
DROP VIEW v_patch_history;
CREATE VIEW v_patch_history AS
SELECT c.id AS change_id,
       v.id AS revision_id,
       v.skill_id,
       coalesce(m.name, v.called_name) AS name,
       c.at,
       c.actor,
       c.action,
       c.outcome,
       c.strategy,
       c.reason,
       c.session_id,
       v.title,
       f.path,
       f.moved_from,
       f.before_hash,
       f.after_hash,
       c.problem,
       c.message,
       c.curator_run_id,
       c.undoes,
       c.undone_by,
       v.from_path,
       v.to_path,
       f.mode,
       f.link_target
FROM change c
LEFT JOIN revision v ON v.change_id = c.id
LEFT JOIN revision_file f ON f.revision_id = v.id
LEFT JOIN manifest m ON m.skill_id = v.skill_id;

DROP VIEW v_transition;
CREATE VIEW v_transition AS
SELECT t.id,
       t.skill_id,
       coalesce(m.name, s.rel_path) AS name,
       t.at,
       t.from_state,
       t.to_state,
       t.reason,
       t.anchor_at,
       t.actor,
       t.absorbed_into,
       h.name AS absorbed_into_name,
       t.change_id
FROM state_transition t
JOIN skill s ON s.id = t.skill_id
LEFT JOIN manifest m ON m.skill_id = t.skill_id
LEFT JOIN manifest h ON h.skill_id = t.absorbed_into;

CREATE VIEW v_mark AS
SELECT k.id,
       k.at,
       k.skill_id,
       coalesce(m.name, s.rel_path) AS name,
       k.mark,
       k.value,
       k.reason,
       k.actor,
       k.session_id
FROM mark k
JOIN skill s ON s.id = k.skill_id
LEFT JOIN manifest m ON m.skill_id = k.skill_id;

CREATE VIEW v_proposal AS
SELECT p.id,
       p.action,
       p.skill_id,
       coalesce(m.name, p.name) AS name,
       p.actor,
       p.session_id,
       p.reason,
       p.why,
       p.diff,
       p.asked_count,
       p.created_at,
       p.expires_at,
       p.decided_at,
       coalesce(p.decision, 'waiting') AS decision,
       p.note,
       p.change_id
FROM proposal p
LEFT JOIN manifest m ON m.skill_id = p.skill_id;

CREATE VIEW v_snapshot AS
SELECT s.id,
       s.created_at,
       s.reason,
       s.actor,
       (SELECT count(*) FROM snapshot_skill k WHERE k.snapshot_id = s.id) AS skill_count,
       (SELECT count(*) FROM snapshot_file f WHERE f.snapshot_id = s.id) AS file_count,
       (SELECT coalesce(sum(b.size), 0) FROM snapshot_file f JOIN blob b ON b.hash = f.hash WHERE f.snapshot_id = s.id) AS bytes
FROM snapshot s
WHERE s.pruned_at IS NULL;

-- A stale skill that is used again in the foreground is active again, at once. What happened before it went stale
-- (an import of old histories, say) does not count.
CREATE TRIGGER usage_event_reactivates AFTER INSERT ON usage_event
WHEN new.skill_id IS NOT NULL AND new.kind IN ('use', 'view') AND new.actor NOT IN ('background_review', 'curator')
  AND (SELECT state FROM skill WHERE id = new.skill_id) = 'stale'
  AND new.at >= coalesce((SELECT max(at) FROM state_transition WHERE skill_id = new.skill_id AND to_state = 'stale'), '')
BEGIN
  INSERT INTO state_transition (skill_id, from_state, to_state, reason, anchor_at, actor, at)
  VALUES (new.skill_id, 'stale', 'active', 'used again', new.at, new.actor, new.at);
  UPDATE meta SET value = CAST(value AS INTEGER) + 1 WHERE key = 'generation';
END;
