-- Facts that no file holds: who changed what, who used what, what moved from which state to which.
-- Ledgers are append-only: triggers refuse UPDATE and DELETE where a row may never change.

-- Content-addressed bytes, compressed. `purge` is the only thing that ever removes one.
CREATE TABLE blob (
  hash  TEXT PRIMARY KEY CHECK (length(hash) = 64),
  codec TEXT NOT NULL CHECK (codec IN ('raw', 'zstd')),
  -- Bytes before compression.
  size  INTEGER NOT NULL,
  bytes BLOB NOT NULL
) STRICT;

-- One journal entry, one undo, any number of skills and files.
CREATE TABLE change (
  id             INTEGER PRIMARY KEY,
  action         TEXT NOT NULL CHECK (action IN ('create', 'edit', 'patch', 'write_file', 'remove_file', 'rename', 'archive', 'restore', 'delete', 'undo', 'merge', 'install', 'update', 'external')),
  outcome        TEXT NOT NULL CHECK (outcome IN ('pending', 'applied', 'failed', 'discarded')),
  strategy       TEXT,
  reason         TEXT,
  actor          TEXT NOT NULL CHECK (actor IN ('user', 'agent', 'background_review', 'curator', 'sync', 'hub', 'import')),
  session_id     TEXT,
  curator_run_id INTEGER,
  undoes         INTEGER REFERENCES change (id),
  at             TEXT NOT NULL CHECK (at GLOB '[0-9][0-9][0-9][0-9]-[0-1][0-9]-[0-3][0-9]T[0-2][0-9]:[0-5][0-9]:[0-6][0-9].[0-9][0-9][0-9]Z')
) STRICT;

CREATE TRIGGER change_settles_once BEFORE UPDATE ON change
WHEN old.outcome <> 'pending' OR new.id <> old.id OR new.action <> old.action OR new.actor <> old.actor OR new.at <> old.at
BEGIN SELECT RAISE(ABORT, 'a change is never rewritten; its outcome moves once from pending'); END;

CREATE TRIGGER change_is_kept BEFORE DELETE ON change
BEGIN SELECT RAISE(ABORT, 'a change is never deleted'); END;

-- The part of a change that belongs to one skill (or, with skill_id NULL, to files outside any skill).
CREATE TABLE revision (
  id        INTEGER PRIMARY KEY,
  change_id INTEGER NOT NULL REFERENCES change (id),
  skill_id  INTEGER REFERENCES skill (id),
  title     TEXT NOT NULL
) STRICT;

CREATE INDEX revision_by_skill ON revision (skill_id, id);
CREATE INDEX revision_by_change ON revision (change_id);

CREATE TRIGGER revision_is_kept BEFORE DELETE ON revision
BEGIN SELECT RAISE(ABORT, 'a revision is never deleted'); END;

CREATE TABLE revision_file (
  revision_id INTEGER NOT NULL REFERENCES revision (id),
  -- What `path` is relative to: the skill's folder, or nothing.
  base        TEXT NOT NULL CHECK (base IN ('skill', 'absolute')),
  path        TEXT NOT NULL,
  moved_from  TEXT,
  -- NULL before: the file was not there (or never seen). NULL after: it is gone.
  before_hash TEXT CHECK (length(before_hash) = 64),
  after_hash  TEXT CHECK (length(after_hash) = 64),
  mode        INTEGER,
  link_target TEXT,
  PRIMARY KEY (revision_id, path)
) STRICT, WITHOUT ROWID;

-- The newest bytes the history holds for each file: what the next outside edit is compared with.
-- Not a mirror table: a rebuild must not forget it.
CREATE TABLE kept_file (
  skill_id INTEGER NOT NULL REFERENCES skill (id),
  rel_path TEXT NOT NULL,
  hash     TEXT NOT NULL CHECK (length(hash) = 64),
  size     INTEGER NOT NULL,
  mtime_ns INTEGER NOT NULL,
  PRIMARY KEY (skill_id, rel_path)
) STRICT, WITHOUT ROWID;

-- Skills whose bytes are still to be kept: filled in the transaction that commits the mirror, emptied
-- as the bytes are stored, so that a sync killed between the two is finished by the next one.
CREATE TABLE capture_queue (
  skill_id INTEGER PRIMARY KEY REFERENCES skill (id)
) STRICT;

CREATE TABLE state_transition (
  id             INTEGER PRIMARY KEY,
  skill_id       INTEGER NOT NULL REFERENCES skill (id),
  from_state     TEXT NOT NULL CHECK (from_state IN ('active', 'stale', 'archived', 'missing')),
  to_state       TEXT NOT NULL CHECK (to_state IN ('active', 'stale', 'archived', 'missing')),
  reason         TEXT NOT NULL,
  anchor_at      TEXT CHECK (anchor_at GLOB '[0-9][0-9][0-9][0-9]-[0-1][0-9]-[0-3][0-9]T[0-2][0-9]:[0-5][0-9]:[0-6][0-9].[0-9][0-9][0-9]Z'),
  absorbed_into  INTEGER REFERENCES skill (id),
  actor          TEXT NOT NULL CHECK (actor IN ('user', 'agent', 'background_review', 'curator', 'sync', 'hub', 'import')),
  change_id      INTEGER REFERENCES change (id),
  curator_run_id INTEGER,
  at             TEXT NOT NULL CHECK (at GLOB '[0-9][0-9][0-9][0-9]-[0-1][0-9]-[0-3][0-9]T[0-2][0-9]:[0-5][0-9]:[0-6][0-9].[0-9][0-9][0-9]Z')
) STRICT;

CREATE INDEX state_transition_by_skill ON state_transition (skill_id, id);

-- The log and the state cannot drift apart: writing the log is what changes the state, and a
-- transition that starts from a state the skill is not in is refused.
CREATE TRIGGER state_transition_starts_where_the_skill_is BEFORE INSERT ON state_transition
WHEN new.from_state <> (SELECT CASE WHEN missing_since IS NULL THEN state ELSE 'missing' END FROM skill WHERE id = new.skill_id)
BEGIN SELECT RAISE(ABORT, 'the skill is not in the state the transition starts from'); END;

CREATE TRIGGER state_transition_applies AFTER INSERT ON state_transition
BEGIN
  UPDATE skill
  SET state = CASE WHEN new.to_state = 'missing' THEN state ELSE new.to_state END,
      missing_since = CASE WHEN new.to_state = 'missing' THEN new.at ELSE NULL END,
      absorbed_into = CASE WHEN new.to_state = 'archived' THEN coalesce(new.absorbed_into, absorbed_into) WHEN new.to_state = 'missing' THEN absorbed_into ELSE NULL END
  WHERE id = new.skill_id;
END;

CREATE TRIGGER state_transition_is_kept BEFORE DELETE ON state_transition
BEGIN SELECT RAISE(ABORT, 'a transition is never deleted'); END;

CREATE TABLE usage_event (
  id           INTEGER PRIMARY KEY,
  -- Chosen by the source (a tool-use id, say), so that a hook and a later import count once.
  event_id     TEXT NOT NULL UNIQUE,
  -- NULL: called but not installed; linked when the skill appears.
  skill_id     INTEGER REFERENCES skill (id),
  called_name  TEXT NOT NULL,
  kind         TEXT NOT NULL CHECK (kind IN ('use', 'view', 'file')),
  "trigger"    TEXT NOT NULL CHECK ("trigger" IN ('model', 'slash', 'preload', 'subagent', 'automation', 'cli')),
  actor        TEXT NOT NULL CHECK (actor IN ('user', 'agent', 'background_review', 'curator', 'sync', 'hub', 'import')),
  client       TEXT,
  session_id   TEXT,
  project      TEXT,
  machine      TEXT,
  at           TEXT NOT NULL CHECK (at GLOB '[0-9][0-9][0-9][0-9]-[0-1][0-9]-[0-3][0-9]T[0-2][0-9]:[0-5][0-9]:[0-6][0-9].[0-9][0-9][0-9]Z'),
  ok           INTEGER CHECK (ok IN (0, 1)),
  content_hash TEXT,
  tokens_in    INTEGER,
  tokens_out   INTEGER
) STRICT;

CREATE INDEX usage_event_by_skill ON usage_event (skill_id, at);

-- Counts taken over from a sidecar that holds no events.
CREATE TABLE usage_baseline (
  skill_id   INTEGER NOT NULL REFERENCES skill (id),
  source     TEXT NOT NULL,
  use_count  INTEGER NOT NULL DEFAULT 0,
  view_count INTEGER NOT NULL DEFAULT 0,
  file_count INTEGER NOT NULL DEFAULT 0,
  last_use_at  TEXT,
  last_view_at TEXT,
  last_file_at TEXT,
  PRIMARY KEY (skill_id, source)
) STRICT, WITHOUT ROWID;

-- Counters kept by triggers (recounting 100,000 events through a view takes a quarter of a second).
-- Foreground and background stand apart: a background reader must not keep a dead skill alive.
CREATE TABLE skill_usage (
  skill_id                INTEGER PRIMARY KEY REFERENCES skill (id),
  use_count               INTEGER NOT NULL DEFAULT 0,
  view_count              INTEGER NOT NULL DEFAULT 0,
  file_count              INTEGER NOT NULL DEFAULT 0,
  last_use_at             TEXT,
  last_view_at            TEXT,
  last_file_at            TEXT,
  background_use_count    INTEGER NOT NULL DEFAULT 0,
  background_view_count   INTEGER NOT NULL DEFAULT 0,
  background_file_count   INTEGER NOT NULL DEFAULT 0,
  last_background_at      TEXT
) STRICT;

CREATE TRIGGER usage_event_counts AFTER INSERT ON usage_event
WHEN new.skill_id IS NOT NULL
BEGIN
  INSERT INTO skill_usage (skill_id) VALUES (new.skill_id) ON CONFLICT DO NOTHING;
  UPDATE skill_usage
  SET use_count  = use_count  + (new.kind = 'use'),
      view_count = view_count + (new.kind = 'view'),
      file_count = file_count + (new.kind = 'file'),
      last_use_at  = CASE WHEN new.kind = 'use'  THEN max(coalesce(last_use_at, ''), new.at)  ELSE last_use_at END,
      last_view_at = CASE WHEN new.kind = 'view' THEN max(coalesce(last_view_at, ''), new.at) ELSE last_view_at END,
      last_file_at = CASE WHEN new.kind = 'file' THEN max(coalesce(last_file_at, ''), new.at) ELSE last_file_at END
  WHERE skill_id = new.skill_id AND new.actor NOT IN ('background_review', 'curator');
  UPDATE skill_usage
  SET background_use_count  = background_use_count  + (new.kind = 'use'),
      background_view_count = background_view_count + (new.kind = 'view'),
      background_file_count = background_file_count + (new.kind = 'file'),
      last_background_at    = max(coalesce(last_background_at, ''), new.at)
  WHERE skill_id = new.skill_id AND new.actor IN ('background_review', 'curator');
END;
