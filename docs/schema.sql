-- The schema of a new database. Generated: SKILLDB_BLESS=1 cargo test --test schema
-- The views are the public face; tables may change under them. Reasons stand in migrations/.

CREATE TABLE blob (
  hash  TEXT PRIMARY KEY CHECK (length(hash) = 64),
  codec TEXT NOT NULL CHECK (codec IN ('raw', 'zstd')),
  -- Bytes before compression.
  size  INTEGER NOT NULL,
  bytes BLOB NOT NULL
) STRICT;

CREATE TABLE capture_queue (
  skill_id INTEGER PRIMARY KEY REFERENCES skill (id)
) STRICT;

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
, source TEXT, event_id TEXT, problem TEXT, message TEXT, undone_by INTEGER REFERENCES change (id), snapshot_id INTEGER, from_snapshot_id INTEGER) STRICT;

CREATE TABLE curator_run (
  id          INTEGER PRIMARY KEY,
  started_at  TEXT NOT NULL CHECK (started_at GLOB '[0-9][0-9][0-9][0-9]-[0-1][0-9]-[0-3][0-9]T[0-2][0-9]:[0-5][0-9]:[0-6][0-9].[0-9][0-9][0-9]Z'),
  finished_at TEXT CHECK (finished_at GLOB '[0-9][0-9][0-9][0-9]-[0-1][0-9]-[0-3][0-9]T[0-2][0-9]:[0-5][0-9]:[0-6][0-9].[0-9][0-9][0-9]Z'),
  status      TEXT NOT NULL CHECK (status IN ('running', 'marked', 'done', 'failed')),
  actor       TEXT NOT NULL CHECK (actor IN ('user', 'agent', 'background_review', 'curator', 'sync', 'hub', 'import')),
  -- Gates that were closed and overridden, by name.
  forced      TEXT,
  -- What was decided about each skill: what the report is made of.
  plan        TEXT NOT NULL CHECK (json_valid(plan)),
  summary     TEXT NOT NULL,
  -- The report's place without its ending; there are a .md and a .json.
  report_path TEXT,
  change_id   INTEGER REFERENCES change (id),
  snapshot_id INTEGER REFERENCES snapshot (id),
  problem     TEXT
) STRICT;

CREATE TABLE diagnostic (
  id              INTEGER PRIMARY KEY,
  root_id         INTEGER NOT NULL REFERENCES skill_root (id),
  -- The walked folder that produced it: walking that folder again replaces its findings.
  unit            TEXT NOT NULL,
  skill_id        INTEGER REFERENCES skill (id),
  path            TEXT NOT NULL,
  code            TEXT NOT NULL,
  severity        TEXT CHECK (severity IN ('error', 'warning', 'note')),
  strict_severity TEXT CHECK (strict_severity IN ('error', 'warning', 'note')),
  line            INTEGER,
  column          INTEGER,
  message         TEXT NOT NULL,
  suggestion      TEXT
) STRICT;

CREATE TABLE import_file (
  client      TEXT NOT NULL,
  path        TEXT NOT NULL,
  size        INTEGER NOT NULL,
  -- Last change of the file or of what is known about it.
  ctime_ns    INTEGER NOT NULL,
  -- Bytes and whole lines that were read.
  read_bytes  INTEGER NOT NULL,
  read_lines  INTEGER NOT NULL,
  -- SHA-256 over the beginning and the end of what was read: a file that was rewritten is read anew.
  fingerprint TEXT NOT NULL,
  -- Events before this were left out; NULL: none were.
  since       TEXT,
  -- What the reader has to remember for the next line, as JSON.
  state       TEXT,
  read_at     TEXT NOT NULL,
  PRIMARY KEY (client, path)
) STRICT, WITHOUT ROWID;

CREATE TABLE journal (
  change_id INTEGER PRIMARY KEY REFERENCES change (id),
  plan      TEXT NOT NULL CHECK (json_valid(plan))
) STRICT;

CREATE TABLE kept_file (
  skill_id INTEGER NOT NULL REFERENCES skill (id),
  rel_path TEXT NOT NULL,
  hash     TEXT NOT NULL CHECK (length(hash) = 64),
  size     INTEGER NOT NULL,
  mtime_ns INTEGER NOT NULL,
  PRIMARY KEY (skill_id, rel_path)
) STRICT, WITHOUT ROWID;

CREATE TABLE manifest (
  skill_id      INTEGER PRIMARY KEY REFERENCES skill (id),
  -- What people call it: the declared name or, without one, the folder.
  name          TEXT NOT NULL,
  declared_name TEXT,
  folder        TEXT NOT NULL,
  category      TEXT NOT NULL,
  description   TEXT,
  -- The file name on disk: `SKILL.md`, or another spelling that was accepted with a warning.
  file_name     TEXT NOT NULL,
  -- SHA-256 of the raw bytes, lower-case hexadecimal: `sha256sum SKILL.md` prints the same. NULL when
  -- the file could never be read.
  content_hash  TEXT CHECK (length(content_hash) = 64),
  -- SHA-256 of the text without byte order mark and with LF line ends: equal for copies that differ
  -- only in how an editor saved them.
  text_hash     TEXT CHECK (length(text_hash) = 64),
  -- SHA-256 over content_hash and path, size and executable bit of every supporting file.
  tree_hash     TEXT CHECK (length(tree_hash) = 64),
  -- As written: key order kept, every scalar a string or null.
  frontmatter   TEXT NOT NULL CHECK (json_valid(frontmatter)),
  body_offset   INTEGER NOT NULL,
  size          INTEGER NOT NULL,
  mtime_ns      INTEGER NOT NULL,
  ctime_ns      INTEGER NOT NULL,
  inode         INTEGER NOT NULL,
  parse_status  TEXT NOT NULL CHECK (parse_status IN ('ok', 'repaired', 'unreadable')),
  version       TEXT GENERATED ALWAYS AS (coalesce(frontmatter ->> '$.version', frontmatter ->> '$.metadata.version')) VIRTUAL
) STRICT;

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

CREATE TABLE meta (
  key   TEXT PRIMARY KEY,
  value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

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

CREATE TABLE purged (
  hash   TEXT PRIMARY KEY CHECK (length(hash) = 64),
  reason TEXT,
  actor  TEXT NOT NULL,
  at     TEXT NOT NULL
) STRICT;

CREATE TABLE revision (
  id        INTEGER PRIMARY KEY,
  change_id INTEGER NOT NULL REFERENCES change (id),
  skill_id  INTEGER REFERENCES skill (id),
  title     TEXT NOT NULL
, called_name TEXT, from_path TEXT, to_path TEXT) STRICT;

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
  link_target TEXT, before_mode INTEGER, before_link TEXT,
  PRIMARY KEY (revision_id, path)
) STRICT, WITHOUT ROWID;

CREATE TABLE scan (
  id         INTEGER PRIMARY KEY,
  -- SHA-256 over name, paths, bytes, links and rights of all that was looked at.
  tree       TEXT NOT NULL CHECK (length(tree) = 64),
  -- The rules, and what the configuration says about them.
  ruleset    TEXT NOT NULL,
  verdict    TEXT NOT NULL CHECK (verdict IN ('safe', 'caution', 'dangerous')),
  files      INTEGER NOT NULL,
  bytes      INTEGER NOT NULL,
  scanned_at TEXT NOT NULL CHECK (scanned_at GLOB '[0-9][0-9][0-9][0-9]-[0-1][0-9]-[0-3][0-9]T[0-2][0-9]:[0-5][0-9]:[0-6][0-9].[0-9][0-9][0-9]Z'),
  UNIQUE (tree, ruleset)
) STRICT;

CREATE TABLE scan_finding (
  scan_id     INTEGER NOT NULL REFERENCES scan (id),
  position    INTEGER NOT NULL,
  rule        TEXT NOT NULL,
  class       TEXT NOT NULL,
  severity    TEXT NOT NULL CHECK (severity IN ('info', 'low', 'medium', 'high', 'critical')),
  -- What the rule says, before the context moved it.
  stated      TEXT NOT NULL CHECK (stated IN ('info', 'low', 'medium', 'high', 'critical')),
  path        TEXT NOT NULL,
  line        INTEGER,
  evidence    TEXT NOT NULL,
  -- Through which forms of the text it was seen, and why it was moved: lists.
  seen        TEXT NOT NULL CHECK (json_valid(seen)),
  context     TEXT NOT NULL CHECK (json_valid(context)),
  message     TEXT NOT NULL,
  fix         TEXT NOT NULL,
  fingerprint TEXT NOT NULL,
  -- Why a person accepted it.
  accepted    TEXT,
  PRIMARY KEY (scan_id, position)
) STRICT, WITHOUT ROWID;

CREATE TABLE search_document (
  document   INTEGER PRIMARY KEY,
  skill_id   INTEGER NOT NULL UNIQUE REFERENCES skill (id),
  -- Of which text, place and state it was made.
  mark       TEXT NOT NULL,
  segment    INTEGER NOT NULL,
  -- Hashes of neighbouring terms in name and description, and in the body: two bytes each, in order.
  head_pairs BLOB NOT NULL,
  body_pairs BLOB NOT NULL
) STRICT;

CREATE TABLE search_segment (
  id        INTEGER PRIMARY KEY,
  -- How many there were; those that are left are in `measures`.
  documents INTEGER NOT NULL,
  -- For each document skill, lengths of fields, script: packed, in order of the documents.
  measures  BLOB NOT NULL,
  -- Their names, one a line, in the same order.
  names     TEXT NOT NULL
) STRICT;

CREATE TABLE search_term (
  term     TEXT NOT NULL,
  segment  INTEGER NOT NULL,
  postings BLOB NOT NULL,
  PRIMARY KEY (term, segment)
) STRICT, WITHOUT ROWID;

CREATE TABLE skill (
  id              INTEGER PRIMARY KEY,
  root_id         INTEGER NOT NULL REFERENCES skill_root (id),
  rel_path        TEXT NOT NULL,
  origin          TEXT NOT NULL CHECK (origin IN ('user', 'agent', 'bundled', 'hub', 'external', 'unknown')),
  origin_evidence TEXT,
  trust           TEXT,
  state           TEXT NOT NULL DEFAULT 'active' CHECK (state IN ('active', 'stale', 'archived')),
  pinned          INTEGER NOT NULL DEFAULT 0 CHECK (pinned IN (0, 1)),
  pin_reason      TEXT,
  human_edited_at TEXT CHECK (human_edited_at GLOB '[0-9][0-9][0-9][0-9]-[0-1][0-9]-[0-3][0-9]T[0-2][0-9]:[0-5][0-9]:[0-6][0-9].[0-9][0-9][0-9]Z'),
  absorbed_into   INTEGER REFERENCES skill (id),
  created_at      TEXT NOT NULL CHECK (created_at GLOB '[0-9][0-9][0-9][0-9]-[0-1][0-9]-[0-3][0-9]T[0-2][0-9]:[0-5][0-9]:[0-6][0-9].[0-9][0-9][0-9]Z'),
  -- The folder vanished behind our back. It may come back (an unmounted disk, a branch switched away):
  -- then this same life goes on. `removed_at` is an end made through skilldb, and final.
  missing_since   TEXT CHECK (missing_since GLOB '[0-9][0-9][0-9][0-9]-[0-1][0-9]-[0-3][0-9]T[0-2][0-9]:[0-5][0-9]:[0-6][0-9].[0-9][0-9][0-9]Z'),
  removed_at      TEXT CHECK (removed_at GLOB '[0-9][0-9][0-9][0-9]-[0-1][0-9]-[0-3][0-9]T[0-2][0-9]:[0-5][0-9]:[0-6][0-9].[0-9][0-9][0-9]Z')
, archived_from TEXT, archived_at TEXT) STRICT;

CREATE TABLE skill_condition (
  skill_id INTEGER NOT NULL REFERENCES skill (id),
  kind     TEXT NOT NULL CHECK (kind IN ('platform', 'environment', 'requires_tool', 'requires_toolset', 'fallback_for_tool', 'fallback_for_toolset')),
  value    TEXT NOT NULL,
  PRIMARY KEY (skill_id, kind, value)
) STRICT, WITHOUT ROWID;

CREATE TABLE skill_config (
  skill_id      INTEGER NOT NULL REFERENCES skill (id),
  key           TEXT NOT NULL,
  description   TEXT,
  default_value TEXT,
  prompt        TEXT,
  PRIMARY KEY (skill_id, key)
) STRICT, WITHOUT ROWID;

CREATE TABLE skill_disabled (
  skill_id INTEGER NOT NULL REFERENCES skill (id),
  -- NULL: disabled everywhere.
  platform TEXT,
  UNIQUE (skill_id, platform)
) STRICT;

CREATE TABLE skill_file (
  skill_id    INTEGER NOT NULL REFERENCES skill (id),
  rel_path    TEXT NOT NULL,
  kind        TEXT NOT NULL CHECK (kind IN ('reference', 'template', 'script', 'asset', 'other')),
  size        INTEGER NOT NULL,
  mode        INTEGER NOT NULL,
  mtime_ns    INTEGER NOT NULL,
  link_target TEXT,
  PRIMARY KEY (skill_id, rel_path)
) STRICT, WITHOUT ROWID;

CREATE TABLE skill_install (
  id           INTEGER PRIMARY KEY,
  -- The file that says so.
  noted_in     TEXT NOT NULL,
  name         TEXT NOT NULL,
  skill_id     INTEGER REFERENCES skill (id),
  source       TEXT,
  identifier   TEXT,
  trust_level  TEXT,
  scan_verdict TEXT,
  content_hash TEXT,
  -- Relative to the root; NULL when it leads out of it.
  install_path TEXT,
  files        TEXT NOT NULL CHECK (json_valid(files)),
  metadata     TEXT NOT NULL CHECK (json_valid(metadata)),
  installed_at TEXT,
  updated_at   TEXT,
  UNIQUE (noted_in, name)
) STRICT;

CREATE TABLE skill_reference (
  id              INTEGER PRIMARY KEY,
  from_kind       TEXT NOT NULL CHECK (from_kind IN ('skill', 'automation')),
  from_path       TEXT NOT NULL,
  from_skill_id   INTEGER REFERENCES skill (id),
  line            INTEGER NOT NULL,
  target_name     TEXT NOT NULL,
  -- NULL: it names a skill that is not there.
  target_skill_id INTEGER REFERENCES skill (id)
) STRICT;

CREATE TABLE skill_requirement (
  skill_id    INTEGER NOT NULL REFERENCES skill (id),
  kind        TEXT NOT NULL CHECK (kind IN ('env', 'credential_file', 'command')),
  name        TEXT NOT NULL,
  description TEXT,
  required    INTEGER NOT NULL CHECK (required IN (0, 1)),
  PRIMARY KEY (skill_id, kind, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE skill_root (
  id         INTEGER PRIMARY KEY,
  path       TEXT NOT NULL UNIQUE,
  kind       TEXT NOT NULL CHECK (kind IN ('local', 'project', 'external', 'bundled', 'hub', 'plugin')),
  priority   INTEGER NOT NULL DEFAULT 0,
  writable   INTEGER NOT NULL CHECK (writable IN (0, 1)),
  client     TEXT,
  created_at TEXT NOT NULL CHECK (created_at GLOB '[0-9][0-9][0-9][0-9]-[0-1][0-9]-[0-3][0-9]T[0-2][0-9]:[0-5][0-9]:[0-6][0-9].[0-9][0-9][0-9]Z'),
  -- Set by `roots remove`: the rows of its skills and their history stay.
  removed_at TEXT CHECK (removed_at GLOB '[0-9][0-9][0-9][0-9]-[0-1][0-9]-[0-3][0-9]T[0-2][0-9]:[0-5][0-9]:[0-6][0-9].[0-9][0-9][0-9]Z')
) STRICT;

CREATE TABLE skill_scan (
  skill_id INTEGER PRIMARY KEY REFERENCES skill (id),
  scan_id  INTEGER NOT NULL REFERENCES scan (id),
  mark     TEXT NOT NULL,
  -- A second opinion that is worse than the rules' verdict.
  raised   TEXT CHECK (raised IN ('caution', 'dangerous')),
  raised_by TEXT
) STRICT;

CREATE TABLE skill_tag (
  skill_id INTEGER NOT NULL REFERENCES skill (id),
  tag      TEXT NOT NULL,
  PRIMARY KEY (skill_id, tag)
) STRICT, WITHOUT ROWID;

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
, failure_count INTEGER NOT NULL DEFAULT 0, last_failure_at TEXT) STRICT;

CREATE TABLE snapshot (
  id         INTEGER PRIMARY KEY,
  reason     TEXT NOT NULL,
  actor      TEXT NOT NULL,
  created_at TEXT NOT NULL,
  -- Set by `snapshot prune`: the row stays so that its number is never used again.
  pruned_at  TEXT
, is_partial INTEGER NOT NULL DEFAULT 0 CHECK (is_partial IN (0, 1))) STRICT;

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

CREATE TABLE snapshot_skill (
  snapshot_id   INTEGER NOT NULL REFERENCES snapshot (id),
  skill_id      INTEGER NOT NULL REFERENCES skill (id),
  root_id       INTEGER NOT NULL REFERENCES skill_root (id),
  rel_path      TEXT NOT NULL,
  state         TEXT NOT NULL,
  archived_from TEXT,
  PRIMARY KEY (snapshot_id, skill_id)
) STRICT, WITHOUT ROWID;

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

CREATE TABLE usage_alias (
  event_id       TEXT PRIMARY KEY,
  usage_event_id INTEGER NOT NULL REFERENCES usage_event (id)
) STRICT, WITHOUT ROWID;

CREATE TABLE usage_baseline (
  skill_id   INTEGER NOT NULL REFERENCES skill (id),
  source     TEXT NOT NULL,
  use_count  INTEGER NOT NULL DEFAULT 0,
  view_count INTEGER NOT NULL DEFAULT 0,
  file_count INTEGER NOT NULL DEFAULT 0,
  last_use_at  TEXT,
  last_view_at TEXT,
  last_file_at TEXT, patch_count INTEGER NOT NULL DEFAULT 0, last_patch_at TEXT, archived_at TEXT, record TEXT, seen_use_count INTEGER NOT NULL DEFAULT 0, seen_view_count INTEGER NOT NULL DEFAULT 0, seen_patch_count INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (skill_id, source)
) STRICT, WITHOUT ROWID;

CREATE TABLE usage_candidate (
  event_id  TEXT PRIMARY KEY,
  folder    TEXT NOT NULL,
  -- What to record, as a line of `skilldb record -`.
  recording TEXT NOT NULL CHECK (json_valid(recording))
) STRICT, WITHOUT ROWID;

CREATE TABLE usage_cost (
  message_id     TEXT PRIMARY KEY,
  usage_event_id INTEGER REFERENCES usage_event (id),
  called_name    TEXT NOT NULL,
  client         TEXT NOT NULL,
  session_id     TEXT,
  at             TEXT NOT NULL,
  tokens_in      INTEGER NOT NULL,
  tokens_out     INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE usage_day (
  day        TEXT NOT NULL,
  skill_id   INTEGER NOT NULL,
  kind       TEXT NOT NULL,
  "trigger"  TEXT NOT NULL,
  client     TEXT NOT NULL,
  background INTEGER NOT NULL CHECK (background IN (0, 1)),
  events     INTEGER NOT NULL,
  failures   INTEGER NOT NULL,
  PRIMARY KEY (day, skill_id, kind, "trigger", client, background)
) STRICT, WITHOUT ROWID;

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
, args TEXT, file TEXT, called_path TEXT, subagent TEXT, channel TEXT, in_baseline INTEGER NOT NULL DEFAULT 0 CHECK (in_baseline IN (0, 1))) STRICT;

CREATE TABLE usage_total (
  client     TEXT NOT NULL,
  "trigger"  TEXT NOT NULL,
  background INTEGER NOT NULL CHECK (background IN (0, 1)),
  events     INTEGER NOT NULL,
  failures   INTEGER NOT NULL,
  PRIMARY KEY (client, "trigger", background)
) STRICT, WITHOUT ROWID;

CREATE TABLE walk_unit (
  root_id  INTEGER NOT NULL REFERENCES skill_root (id),
  rel_path TEXT NOT NULL,
  skill_id INTEGER REFERENCES skill (id),
  archived INTEGER NOT NULL CHECK (archived IN (0, 1)),
  entries  BLOB NOT NULL,
  PRIMARY KEY (root_id, rel_path)
) STRICT, WITHOUT ROWID;

CREATE INDEX change_by_curator_run ON change (curator_run_id) WHERE curator_run_id IS NOT NULL;

CREATE UNIQUE INDEX change_by_event ON change (event_id) WHERE event_id IS NOT NULL;

CREATE INDEX change_by_outcome ON change (outcome) WHERE outcome <> 'applied';

CREATE INDEX change_by_session ON change (session_id) WHERE session_id IS NOT NULL;

CREATE INDEX change_by_undone ON change (undoes) WHERE undoes IS NOT NULL;

CREATE INDEX diagnostic_by_error ON diagnostic (root_id) WHERE severity = 'error';

CREATE INDEX diagnostic_by_nesting ON diagnostic (root_id) WHERE code = 'nested-skill';

CREATE INDEX diagnostic_by_skill ON diagnostic (skill_id);

CREATE INDEX diagnostic_by_unit ON diagnostic (root_id, unit);

CREATE INDEX manifest_by_folder ON manifest (folder);

CREATE INDEX manifest_by_name ON manifest (name, parse_status, description);

CREATE INDEX manifest_by_trouble ON manifest (parse_status) WHERE parse_status <> 'ok';

CREATE INDEX mark_by_skill ON mark (skill_id, id);

CREATE UNIQUE INDEX proposal_waits_once ON proposal (fingerprint) WHERE decided_at IS NULL;

CREATE INDEX revision_by_change ON revision (change_id);

CREATE INDEX revision_by_skill ON revision (skill_id, id);

CREATE INDEX revision_file_by_after ON revision_file (after_hash) WHERE after_hash IS NOT NULL;

CREATE INDEX revision_file_by_before ON revision_file (before_hash) WHERE before_hash IS NOT NULL;

CREATE INDEX revision_file_by_origin ON revision_file (moved_from) WHERE moved_from IS NOT NULL;

CREATE INDEX scan_by_verdict ON scan (verdict) WHERE verdict <> 'safe';

CREATE INDEX skill_by_archive ON skill (root_id) WHERE state = 'archived';

CREATE INDEX skill_by_heir ON skill (absorbed_into) WHERE absorbed_into IS NOT NULL;

CREATE UNIQUE INDEX skill_by_place ON skill (root_id, rel_path) WHERE removed_at IS NULL;

CREATE INDEX skill_by_vanishing ON skill (root_id) WHERE missing_since IS NOT NULL;

CREATE INDEX skill_scan_by_scan ON skill_scan (scan_id);

CREATE INDEX snapshot_file_by_hash ON snapshot_file (hash) WHERE hash IS NOT NULL;

CREATE INDEX state_transition_by_skill ON state_transition (skill_id, id);

CREATE INDEX usage_cost_without_use ON usage_cost (at) WHERE usage_event_id IS NULL;

CREATE INDEX usage_event_by_called_name ON usage_event (called_name, at, ok, client) WHERE skill_id IS NULL;

CREATE INDEX usage_event_by_skill ON usage_event (skill_id, at);

CREATE INDEX usage_event_with_cost ON usage_event (skill_id, called_name, tokens_in, tokens_out) WHERE tokens_in IS NOT NULL;

CREATE INDEX walk_unit_by_skill ON walk_unit (skill_id) WHERE skill_id IS NOT NULL;

CREATE TRIGGER change_is_kept BEFORE DELETE ON change
BEGIN SELECT RAISE(ABORT, 'a change is never deleted'); END;

CREATE TRIGGER change_settles_once
BEFORE UPDATE OF id, action, outcome, strategy, reason, actor, session_id, curator_run_id, undoes, at, source, event_id, problem, message, snapshot_id, from_snapshot_id ON change
WHEN old.outcome <> 'pending' OR new.id <> old.id OR new.action <> old.action OR new.actor <> old.actor OR new.at <> old.at
BEGIN SELECT RAISE(ABORT, 'a change is never rewritten; its outcome moves once from pending'); END;

CREATE TRIGGER curator_run_is_kept BEFORE DELETE ON curator_run
BEGIN SELECT RAISE(ABORT, 'a run of the curator is never deleted'); END;

CREATE TRIGGER revision_is_kept BEFORE DELETE ON revision
BEGIN SELECT RAISE(ABORT, 'a revision is never deleted'); END;

CREATE TRIGGER revision_is_never_rewritten BEFORE UPDATE ON revision
WHEN new.id <> old.id OR new.change_id <> old.change_id OR new.title <> old.title
  OR (old.skill_id IS NOT NULL AND new.skill_id IS NOT old.skill_id)
BEGIN SELECT RAISE(ABORT, 'a revision is never rewritten'); END;

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

CREATE TRIGGER state_transition_starts_where_the_skill_is BEFORE INSERT ON state_transition
WHEN new.from_state <> (SELECT CASE WHEN missing_since IS NULL THEN state ELSE 'missing' END FROM skill WHERE id = new.skill_id)
BEGIN SELECT RAISE(ABORT, 'the skill is not in the state the transition starts from'); END;

CREATE TRIGGER usage_cost_adds AFTER INSERT ON usage_cost
WHEN new.usage_event_id IS NOT NULL
BEGIN
  UPDATE usage_event
  SET tokens_in = coalesce(tokens_in, 0) + new.tokens_in, tokens_out = coalesce(tokens_out, 0) + new.tokens_out
  WHERE id = new.usage_event_id;
END;

CREATE TRIGGER usage_cost_grows AFTER UPDATE ON usage_cost
WHEN new.usage_event_id = old.usage_event_id
BEGIN
  UPDATE usage_event
  SET tokens_in = coalesce(tokens_in, 0) + new.tokens_in - old.tokens_in, tokens_out = coalesce(tokens_out, 0) + new.tokens_out - old.tokens_out
  WHERE id = new.usage_event_id;
END;

CREATE TRIGGER usage_cost_is_kept BEFORE DELETE ON usage_cost
BEGIN SELECT RAISE(ABORT, 'what a message cost is never deleted'); END;

CREATE TRIGGER usage_cost_links AFTER UPDATE OF usage_event_id ON usage_cost
WHEN old.usage_event_id IS NULL AND new.usage_event_id IS NOT NULL
BEGIN
  UPDATE usage_event
  SET tokens_in = coalesce(tokens_in, 0) + new.tokens_in, tokens_out = coalesce(tokens_out, 0) + new.tokens_out
  WHERE id = new.usage_event_id;
END;

CREATE TRIGGER usage_cost_stays_with_its_use BEFORE UPDATE OF usage_event_id ON usage_cost
WHEN old.usage_event_id IS NOT NULL AND new.usage_event_id IS NOT old.usage_event_id
BEGIN SELECT RAISE(ABORT, 'what a message cost stays with its use'); END;

CREATE TRIGGER usage_event_counts AFTER INSERT ON usage_event
BEGIN
  INSERT INTO usage_day VALUES (substr(new.at, 1, 10), coalesce(new.skill_id, 0), new.kind, new."trigger", coalesce(new.client, ''),
    new.actor IN ('background_review', 'curator'), 1, coalesce(new.ok = 0, 0))
  ON CONFLICT DO UPDATE SET events = events + 1, failures = failures + excluded.failures;
  INSERT INTO usage_total VALUES (coalesce(new.client, ''), new."trigger", new.actor IN ('background_review', 'curator'), 1, coalesce(new.ok = 0, 0))
  ON CONFLICT DO UPDATE SET events = events + 1, failures = failures + excluded.failures;
  INSERT INTO skill_usage (skill_id) SELECT new.skill_id WHERE new.skill_id IS NOT NULL ON CONFLICT DO NOTHING;
  UPDATE skill_usage
  SET use_count  = use_count  + (new.kind = 'use'),
      view_count = view_count + (new.kind = 'view'),
      file_count = file_count + (new.kind = 'file'),
      last_use_at  = CASE WHEN new.kind = 'use'  THEN max(coalesce(last_use_at, ''), new.at)  ELSE last_use_at END,
      last_view_at = CASE WHEN new.kind = 'view' THEN max(coalesce(last_view_at, ''), new.at) ELSE last_view_at END,
      last_file_at = CASE WHEN new.kind = 'file' THEN max(coalesce(last_file_at, ''), new.at) ELSE last_file_at END
  WHERE skill_id = new.skill_id AND new.in_baseline = 0 AND new.actor NOT IN ('background_review', 'curator');
  UPDATE skill_usage
  SET background_use_count  = background_use_count  + (new.kind = 'use'),
      background_view_count = background_view_count + (new.kind = 'view'),
      background_file_count = background_file_count + (new.kind = 'file'),
      last_background_at    = max(coalesce(last_background_at, ''), new.at)
  WHERE skill_id = new.skill_id AND new.in_baseline = 0 AND new.actor IN ('background_review', 'curator');
  -- A sidecar counts no failures, so they count beside a baseline, too.
  UPDATE skill_usage
  SET failure_count = failure_count + 1, last_failure_at = max(coalesce(last_failure_at, ''), new.at)
  WHERE skill_id = new.skill_id AND new.ok = 0 AND new.actor NOT IN ('background_review', 'curator');
END;

CREATE TRIGGER usage_event_is_added_once BEFORE INSERT ON usage_event
WHEN EXISTS (SELECT 1 FROM usage_event WHERE event_id = new.event_id OR id = new.id)
BEGIN SELECT RAISE(IGNORE); END;

CREATE TRIGGER usage_event_is_kept BEFORE DELETE ON usage_event
BEGIN SELECT RAISE(ABORT, 'a usage event is never deleted'); END;

CREATE TRIGGER usage_event_is_never_rewritten BEFORE UPDATE ON usage_event
WHEN new.id <> old.id OR new.event_id <> old.event_id OR new.called_name <> old.called_name OR new.kind <> old.kind OR new."trigger" <> old."trigger"
  OR new.actor <> old.actor OR new.at <> old.at OR new.in_baseline < old.in_baseline
  OR (new.in_baseline > old.in_baseline AND old.client IS NOT 'hermes')
  OR (new.client, new.session_id, new.subagent, new.channel, new.project, new.machine, new.args, new.file, new.content_hash)
     IS NOT (old.client, old.session_id, old.subagent, old.channel, old.project, old.machine, old.args, old.file, old.content_hash)
  OR coalesce(new.tokens_in, 0) < coalesce(old.tokens_in, 0) OR coalesce(new.tokens_out, 0) < coalesce(old.tokens_out, 0)
  OR (old.ok IS NOT NULL AND new.ok IS NOT old.ok)
  OR (old.called_path IS NOT NULL AND new.called_path IS NOT old.called_path)
  OR (old.skill_id IS NOT NULL AND new.skill_id IS NOT old.skill_id AND (old.called_path IS NOT NULL OR new.called_path IS NULL))
BEGIN SELECT RAISE(ABORT, 'a usage event is never rewritten'); END;

CREATE TRIGGER usage_event_links AFTER UPDATE OF skill_id ON usage_event
WHEN new.skill_id IS NOT old.skill_id
BEGIN
  UPDATE usage_day SET events = events - 1, failures = failures - coalesce(new.ok = 0, 0)
  WHERE day = substr(new.at, 1, 10) AND skill_id = coalesce(old.skill_id, 0) AND kind = new.kind AND "trigger" = new."trigger"
    AND client = coalesce(new.client, '') AND background = (new.actor IN ('background_review', 'curator'));
  DELETE FROM usage_day
  WHERE events = 0 AND day = substr(new.at, 1, 10) AND skill_id = coalesce(old.skill_id, 0) AND kind = new.kind AND "trigger" = new."trigger"
    AND client = coalesce(new.client, '') AND background = (new.actor IN ('background_review', 'curator'));
  INSERT INTO usage_day VALUES (substr(new.at, 1, 10), coalesce(new.skill_id, 0), new.kind, new."trigger", coalesce(new.client, ''),
    new.actor IN ('background_review', 'curator'), 1, coalesce(new.ok = 0, 0))
  ON CONFLICT DO UPDATE SET events = events + 1, failures = failures + excluded.failures;
END;

CREATE TRIGGER usage_event_reactivates AFTER INSERT ON usage_event
WHEN new.skill_id IS NOT NULL AND new.kind IN ('use', 'view', 'file') AND new.actor NOT IN ('background_review', 'curator')
  AND (SELECT state FROM skill WHERE id = new.skill_id) = 'stale'
  AND new.at >= coalesce((SELECT max(at) FROM state_transition WHERE skill_id = new.skill_id AND to_state = 'stale'), '')
BEGIN
  INSERT INTO state_transition (skill_id, from_state, to_state, reason, anchor_at, actor, at)
  VALUES (new.skill_id, 'stale', 'active', 'used again', new.at, new.actor, new.at);
  UPDATE meta SET value = CAST(value AS INTEGER) + 1 WHERE key = 'generation';
END;

CREATE TRIGGER usage_event_settles AFTER UPDATE OF ok ON usage_event
WHEN old.ok IS NULL AND new.ok = 0
BEGIN
  UPDATE usage_day SET failures = failures + 1
  WHERE day = substr(new.at, 1, 10) AND skill_id = coalesce(old.skill_id, 0) AND kind = new.kind AND "trigger" = new."trigger"
    AND client = coalesce(new.client, '') AND background = (new.actor IN ('background_review', 'curator'));
  UPDATE usage_total SET failures = failures + 1
  WHERE client = coalesce(new.client, '') AND "trigger" = new."trigger" AND background = (new.actor IN ('background_review', 'curator'));
  UPDATE skill_usage
  SET failure_count = failure_count + 1, last_failure_at = max(coalesce(last_failure_at, ''), new.at)
  WHERE skill_id = old.skill_id AND new.actor NOT IN ('background_review', 'curator');
END;

CREATE VIEW skill_clock AS
SELECT s.id AS skill_id,
       s.created_at,
       coalesce(u.use_count, 0) AS use_count,
       u.last_use_at,
       u.last_view_at,
       u.last_file_at,
       -- Applied changes by people, agents and by hand. Being seen first, or moved, is no edit; a name that was
       -- rewritten in it is the edit of another skill.
       nullif(max(
         coalesce((SELECT max(b.last_patch_at) FROM usage_baseline b WHERE b.skill_id = s.id), ''),
         coalesce((SELECT max(c.at) FROM revision v CROSS JOIN change c ON c.id = v.change_id
                   WHERE v.skill_id = s.id AND c.outcome = 'applied'
                     AND (c.actor IN ('user', 'agent') AND v.title NOT LIKE 'names %'
                          OR c.actor = 'sync' AND v.title <> 'first seen'
                             AND EXISTS (SELECT 1 FROM revision_file f WHERE f.revision_id = v.id AND f.before_hash IS NOT f.after_hash AND f.moved_from IS NULL))), '')), '') AS last_change_at,
       (SELECT max(t.at) FROM state_transition t
        WHERE t.skill_id = s.id AND t.from_state IN ('archived', 'missing') AND t.to_state IN ('active', 'stale')
          AND t.actor NOT IN ('background_review', 'curator')) AS restored_at,
       -- The newest anchor of what it absorbed, and of what that had absorbed.
       (WITH RECURSIVE part (id) AS (
          SELECT a.id FROM skill a WHERE a.absorbed_into = s.id
          UNION SELECT a.id FROM part p CROSS JOIN skill a ON a.absorbed_into = p.id)
        SELECT max(coalesce(nullif(max(coalesce(pu.last_use_at, ''), coalesce(pu.last_view_at, ''), coalesce(pu.last_file_at, ''),
                 coalesce((SELECT max(b.last_patch_at) FROM usage_baseline b WHERE b.skill_id = part.id), ''),
                 coalesce((SELECT max(c.at) FROM revision v CROSS JOIN change c ON c.id = v.change_id
                           WHERE v.skill_id = part.id AND c.outcome = 'applied' AND c.actor IN ('user', 'agent') AND c.action <> 'merge' AND v.title NOT LIKE 'names %'), '')), ''), a.created_at))
        FROM part JOIN skill a ON a.id = part.id LEFT JOIN skill_usage pu ON pu.skill_id = part.id WHERE part.id <> s.id) AS inherited_at
FROM skill s
LEFT JOIN skill_usage u ON u.skill_id = s.id;

CREATE VIEW skill_mark AS
SELECT s.id AS skill_id,
       coalesce(m.content_hash, '') || ' ' || coalesce(m.tree_hash, '') || ' ' || s.rel_path || ' '
         || coalesce((SELECT sum(f.mtime_ns % 1000003 + f.size) FROM skill_file f WHERE f.skill_id = s.id), 0) AS mark
FROM skill s LEFT JOIN manifest m ON m.skill_id = s.id;

CREATE VIEW usage_recount AS
SELECT skill_id,
       sum(uses) AS use_count, sum(views) AS view_count, sum(files) AS file_count,
       max(last_use) AS last_use_at, max(last_view) AS last_view_at, max(last_file) AS last_file_at,
       sum(b_uses) AS background_use_count, sum(b_views) AS background_view_count, sum(b_files) AS background_file_count,
       max(last_b) AS last_background_at,
       sum(failed) AS failure_count, max(last_failed) AS last_failure_at
FROM (
  SELECT skill_id,
         (kind = 'use') * fg AS uses, (kind = 'view') * fg AS views, (kind = 'file') * fg AS files,
         CASE WHEN fg AND kind = 'use' THEN at END AS last_use,
         CASE WHEN fg AND kind = 'view' THEN at END AS last_view,
         CASE WHEN fg AND kind = 'file' THEN at END AS last_file,
         (kind = 'use') * bg AS b_uses, (kind = 'view') * bg AS b_views, (kind = 'file') * bg AS b_files,
         CASE WHEN bg THEN at END AS last_b,
         coalesce(is_fg AND ok = 0, 0) AS failed,
         CASE WHEN is_fg AND ok = 0 THEN at END AS last_failed
  FROM (SELECT skill_id, kind, at, ok, is_fg, is_fg AND NOT in_baseline AS fg, NOT is_fg AND NOT in_baseline AS bg
        FROM (SELECT skill_id, kind, at, ok, in_baseline, actor NOT IN ('background_review', 'curator') AS is_fg FROM usage_event WHERE skill_id IS NOT NULL))
  UNION ALL
  SELECT skill_id, use_count, view_count, file_count, last_use_at, last_view_at, last_file_at, 0, 0, 0, NULL, 0, NULL FROM usage_baseline)
GROUP BY skill_id;

CREATE VIEW v_curation AS
SELECT id, name, path, state, origin, anchor_at,
       CASE WHEN anchor_at IS NULL THEN 'unknown'
            WHEN anchor_at = last_use_at THEN 'used'
            WHEN anchor_at = last_view_at THEN 'viewed'
            WHEN anchor_at = last_file_at THEN 'file read'
            WHEN anchor_at = restored_at THEN 'restored'
            WHEN anchor_at = last_change_at THEN 'changed'
            WHEN anchor_at = inherited_at THEN 'absorbed'
            ELSE 'created' END AS anchor,
       CAST(julianday('now') - julianday(anchor_at) AS INTEGER) AS idle_days,
       CASE WHEN pinned THEN 'pinned'
            WHEN origin = 'agent' AND human_edited_at IS NOT NULL THEN 'human-edited'
            WHEN origin <> 'agent' THEN origin
            WHEN NOT writable THEN 'read-only-root' END AS protected_by
FROM (
  SELECT s.id, coalesce(m.name, s.rel_path) AS name,
         CASE WHEN s.rel_path = '.' THEN r.path ELSE r.path || '/' || s.rel_path END AS path,
         s.state, s.origin, s.pinned, s.human_edited_at, r.writable,
         k.last_use_at, k.last_view_at, k.last_file_at, k.last_change_at, k.restored_at, k.inherited_at,
         coalesce(nullif(max(coalesce(k.last_use_at, ''), coalesce(k.last_view_at, ''), coalesce(k.last_file_at, ''),
                             coalesce(k.last_change_at, ''), coalesce(k.restored_at, ''), coalesce(k.inherited_at, '')), ''), k.created_at) AS anchor_at
  FROM skill s
  JOIN skill_root r ON r.id = s.root_id
  JOIN skill_clock k ON k.skill_id = s.id
  LEFT JOIN manifest m ON m.skill_id = s.id
  WHERE s.state <> 'archived' AND s.missing_since IS NULL AND s.removed_at IS NULL AND r.removed_at IS NULL);

CREATE VIEW v_curator_run AS
SELECT id, started_at, finished_at, status, actor, forced, summary, report_path, change_id, snapshot_id, problem
FROM curator_run;

CREATE VIEW v_diagnostic AS
SELECT d.path,
       d.line,
       d.column,
       d.code,
       d.severity,
       d.strict_severity,
       d.message,
       d.suggestion,
       d.skill_id,
       m.name
FROM diagnostic d
JOIN skill_root r ON r.id = d.root_id
LEFT JOIN manifest m ON m.skill_id = d.skill_id
WHERE r.removed_at IS NULL;

CREATE VIEW v_duplicate_name AS
SELECT name,
       count(*) AS copies,
       -- Ordered in a subquery: the schema must stay readable for SQLite from 3.38 on, and ORDER BY
       -- inside an aggregate came with 3.44.
       json_group_array(path) AS paths
FROM (SELECT name, path FROM v_skill WHERE state <> 'archived' ORDER BY name, path)
GROUP BY name
HAVING count(*) > 1;

CREATE VIEW v_file AS
SELECT f.skill_id,
       m.name,
       f.rel_path,
       f.kind,
       f.size,
       f.mode,
       f.link_target,
       strftime('%Y-%m-%dT%H:%M:%fZ', f.mtime_ns / 1e9, 'unixepoch') AS modified_at,
       -- NULL until the file was read: supporting files are only read to keep them in the history.
       k.hash AS content_hash
FROM skill_file f
JOIN manifest m ON m.skill_id = f.skill_id
JOIN skill s ON s.id = f.skill_id
JOIN skill_root r ON r.id = s.root_id
LEFT JOIN kept_file k ON k.skill_id = f.skill_id AND k.rel_path = f.rel_path AND k.size = f.size AND k.mtime_ns = f.mtime_ns
WHERE s.missing_since IS NULL AND r.removed_at IS NULL;

CREATE VIEW v_import AS
SELECT client, path, size, read_bytes, read_lines, since, read_at
FROM import_file;

CREATE VIEW v_install AS
SELECT i.name,
       i.skill_id,
       i.source,
       i.identifier,
       i.trust_level,
       i.scan_verdict,
       i.content_hash,
       i.install_path,
       i.files,
       i.metadata,
       i.installed_at,
       i.updated_at,
       i.noted_in
FROM skill_install i;

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

CREATE VIEW v_missing AS
SELECT s.id,
       coalesce(m.name, s.rel_path) AS name,
       r.path AS root,
       s.rel_path,
       s.state AS state_before,
       s.missing_since,
       s.created_at
FROM skill s
JOIN skill_root r ON r.id = s.root_id
LEFT JOIN manifest m ON m.skill_id = s.id
WHERE s.missing_since IS NOT NULL
  AND s.removed_at IS NULL
  AND r.removed_at IS NULL;

CREATE VIEW v_never_used AS
SELECT id, name, origin, state, path, created_at, view_count
FROM v_skill
WHERE state <> 'archived'
  AND use_count = 0
  AND inherited_use_count = 0;

CREATE VIEW v_not_installed AS
SELECT called_name AS name,
       count(*) AS calls,
       sum(coalesce(ok = 0, 0)) AS failures,
       min(at) AS first_at,
       max(at) AS last_at,
       group_concat(DISTINCT client) AS clients,
       -- More than one: skills of that name are there, and nothing says which of them was meant.
       (SELECT count(*) FROM v_skill v WHERE v.id IN (SELECT skill_id FROM manifest WHERE name = called_name UNION ALL SELECT skill_id FROM manifest WHERE folder = called_name) AND v.state <> 'archived') AS copies
FROM usage_event
WHERE skill_id IS NULL
GROUP BY called_name;

CREATE VIEW v_patch_effect AS
SELECT c.id AS change_id,
       v.skill_id,
       m.name,
       c.actor,
       c.at,
       (SELECT round(100.0 * avg(1 - u.ok), 1) FROM usage_event u WHERE u.skill_id = v.skill_id AND u.kind = 'use' AND u.ok IS NOT NULL AND u.at < c.at AND julianday(c.at) - julianday(u.at) <= 30) AS failure_percent_before,
       (SELECT round(100.0 * avg(1 - u.ok), 1) FROM usage_event u WHERE u.skill_id = v.skill_id AND u.kind = 'use' AND u.ok IS NOT NULL AND u.at >= c.at AND julianday(u.at) - julianday(c.at) <= 30) AS failure_percent_after,
       (SELECT count(*) FROM usage_event u WHERE u.skill_id = v.skill_id AND u.kind = 'use' AND u.ok IS NOT NULL AND u.at >= c.at AND julianday(u.at) - julianday(c.at) <= 30) AS runs_after
FROM change c
JOIN revision v ON v.change_id = c.id
LEFT JOIN manifest m ON m.skill_id = v.skill_id
WHERE c.outcome = 'applied';

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

CREATE VIEW v_reference AS
SELECT f.from_kind,
       f.from_path,
       f.line,
       f.target_name,
       f.target_skill_id,
       f.target_skill_id IS NULL AS dangling
FROM skill_reference f;

CREATE VIEW v_refused AS
SELECT s.id,
       s.rel_path,
       CASE WHEN s.rel_path = '.' THEN r.path ELSE r.path || '/' || s.rel_path END || '/' || m.file_name AS path,
       d.code,
       d.line,
       d.column,
       d.message
FROM manifest m
CROSS JOIN skill s ON s.id = m.skill_id
CROSS JOIN skill_root r ON r.id = s.root_id
LEFT JOIN diagnostic d ON d.id = (SELECT id FROM diagnostic WHERE skill_id = s.id AND severity = 'error' ORDER BY id LIMIT 1)
-- Said twice, so that the partial index is seen to do.
WHERE m.parse_status <> 'ok'
  AND m.parse_status = 'unreadable'
  AND s.missing_since IS NULL
  AND s.removed_at IS NULL
  AND r.removed_at IS NULL;

CREATE VIEW v_scan AS
SELECT s.id AS skill_id,
       coalesce(m.name, s.rel_path) AS name,
       CASE WHEN s.rel_path = '.' THEN r.path ELSE r.path || '/' || s.rel_path END AS path,
       s.state, s.origin,
       coalesce(k.raised, c.verdict) AS verdict,
       c.verdict AS rules_verdict,
       c.ruleset, c.tree, c.files, c.bytes, c.scanned_at,
       c.id AS scan_id,
       k.mark = (SELECT w.mark FROM skill_mark w WHERE w.skill_id = s.id) AS is_current
FROM skill s
JOIN skill_root r ON r.id = s.root_id
LEFT JOIN manifest m ON m.skill_id = s.id
LEFT JOIN skill_scan k ON k.skill_id = s.id
LEFT JOIN scan c ON c.id = k.scan_id
WHERE s.missing_since IS NULL AND s.removed_at IS NULL AND r.removed_at IS NULL;

CREATE VIEW v_scan_finding AS
SELECT v.skill_id, v.name, v.path AS skill_path, v.verdict,
       f.severity, f.class, f.rule, f.path, f.line, f.evidence, f.message, f.fix, f.seen, f.context, f.fingerprint, f.accepted
FROM v_scan v
JOIN scan_finding f ON f.scan_id = v.scan_id
ORDER BY v.name, v.skill_id, f.position;

CREATE VIEW v_skill AS
SELECT s.id,
       m.name,
       m.declared_name,
       m.folder,
       m.category,
       m.description,
       r.path AS root,
       r.kind AS root_kind,
       r.client,
       s.rel_path,
       CASE WHEN s.rel_path = '.' THEN r.path ELSE r.path || '/' || s.rel_path END AS path,
       m.file_name,
       s.state,
       s.origin,
       s.pinned,
       m.parse_status,
       m.version,
       m.content_hash,
       m.text_hash,
       m.size,
       m.frontmatter,
       s.created_at,
       strftime('%Y-%m-%dT%H:%M:%fZ', m.mtime_ns / 1e9, 'unixepoch') AS modified_at,
       coalesce(u.use_count, 0) AS use_count,
       coalesce(u.view_count, 0) AS view_count,
       coalesce(u.file_count, 0) AS file_count,
       coalesce(u.failure_count, 0) AS failure_count,
       -- Edits made through an agent or through skilldb; an imported one is in its sidecar's count.
       (SELECT coalesce(sum(b.patch_count), 0) FROM usage_baseline b WHERE b.skill_id = s.id)
       + (SELECT count(*) FROM revision v JOIN change c ON c.id = v.change_id
          WHERE v.skill_id = s.id AND c.outcome = 'applied' AND c.source IS NULL AND c.action IN ('edit', 'patch', 'write_file', 'remove_file')) AS patch_count,
       (WITH RECURSIVE part (id) AS (
          SELECT a.id FROM skill a WHERE a.absorbed_into = s.id
          UNION SELECT a.id FROM part p CROSS JOIN skill a ON a.absorbed_into = p.id)
        SELECT coalesce(sum(pu.use_count), 0)
        FROM part JOIN skill_usage pu ON pu.skill_id = part.id WHERE part.id <> s.id) AS inherited_use_count,
       u.last_use_at,
       nullif(max(coalesce(u.last_use_at, ''), coalesce(u.last_view_at, ''), coalesce(u.last_file_at, '')), '') AS last_activity_at,
       CAST(julianday('now') - julianday(coalesce(nullif(max(coalesce(u.last_use_at, ''), coalesce(u.last_view_at, ''), coalesce(u.last_file_at, '')), ''), s.created_at)) AS INTEGER) AS idle_days,
       -- What it was merged into; NULL for all that still stand on their own.
       s.absorbed_into,
       -- What the guard says of it; NULL while nobody looked.
       (SELECT coalesce(k.raised, c.verdict) FROM skill_scan k JOIN scan c ON c.id = k.scan_id WHERE k.skill_id = s.id) AS verdict
FROM skill s
JOIN skill_root r ON r.id = s.root_id
JOIN manifest m ON m.skill_id = s.id
LEFT JOIN skill_usage u ON u.skill_id = s.id
WHERE s.missing_since IS NULL
  AND s.removed_at IS NULL
  AND r.removed_at IS NULL
  AND m.parse_status <> 'unreadable';

CREATE VIEW v_snapshot AS
SELECT s.id,
       s.created_at,
       s.reason,
       s.actor,
       (SELECT count(*) FROM snapshot_skill k WHERE k.snapshot_id = s.id) AS skill_count,
       (SELECT count(*) FROM snapshot_file f WHERE f.snapshot_id = s.id) AS file_count,
       (SELECT coalesce(sum(b.size), 0) FROM snapshot_file f JOIN blob b ON b.hash = f.hash WHERE f.snapshot_id = s.id) AS bytes,
       s.is_partial
FROM snapshot s
WHERE s.pruned_at IS NULL;

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
       t.change_id,
       t.curator_run_id
FROM state_transition t
JOIN skill s ON s.id = t.skill_id
LEFT JOIN manifest m ON m.skill_id = t.skill_id
LEFT JOIN manifest h ON h.skill_id = t.absorbed_into;

CREATE VIEW v_usage AS
SELECT u.event_id,
       u.skill_id,
       coalesce(m.name, u.called_name) AS name,
       u.called_name,
       u.called_path,
       u.kind,
       u."trigger",
       u.actor,
       u.client,
       u.session_id,
       u.subagent,
       u.channel,
       u.project,
       u.machine,
       u.at,
       u.ok,
       u.args,
       u.file,
       u.content_hash,
       u.tokens_in,
       u.tokens_out,
       u.in_baseline
FROM usage_event u
LEFT JOIN manifest m ON m.skill_id = u.skill_id;

CREATE VIEW v_usage_cost AS
SELECT c.message_id,
       u.event_id,
       u.skill_id,
       c.called_name,
       c.client,
       c.session_id,
       c.at,
       c.tokens_in,
       c.tokens_out
FROM usage_cost c
LEFT JOIN usage_event u ON u.id = c.usage_event_id;

CREATE VIEW v_usage_daily AS
SELECT d.day,
       nullif(d.skill_id, 0) AS skill_id,
       -- NULL: called but not installed; v_not_installed has the names.
       m.name,
       d.kind,
       d."trigger",
       nullif(d.client, '') AS client,
       d.background,
       d.events,
       d.failures
FROM usage_day d
LEFT JOIN manifest m ON m.skill_id = d.skill_id;
