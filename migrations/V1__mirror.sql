-- Who exists (identity, never refilled from disk) and what the disk says (mirror).
-- `sync --rebuild` empties and refills exactly the tables below the line "Mirror".
-- Times are text, UTC, milliseconds, one form (`2026-01-02T03:04:05.678Z`): readable in any shell and
-- sorted by comparing text. The CHECK keeps a second form from ever getting in.

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

-- One row is one life of one folder. Names are look-ups, never keys: two skills may share a name, one
-- skill may change its name, and a new skill in the place of an ended one starts with a clean record.
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
) STRICT;

-- Same root and path means same life, as long as that life was not ended through skilldb.
CREATE UNIQUE INDEX skill_by_place ON skill (root_id, rel_path) WHERE removed_at IS NULL;

-- Few rows each, so that counting them does not read the many others.
CREATE INDEX skill_by_vanishing ON skill (root_id) WHERE missing_since IS NOT NULL;
CREATE INDEX skill_by_archive ON skill (root_id) WHERE state = 'archived';

CREATE TABLE skill_disabled (
  skill_id INTEGER NOT NULL REFERENCES skill (id),
  -- NULL: disabled everywhere.
  platform TEXT,
  UNIQUE (skill_id, platform)
) STRICT;

-- ---------------------------------------------------------------- Mirror

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

-- Holds all that a listing shows, so that listing 10,000 skills does not read 10,000 frontmatters.
CREATE INDEX manifest_by_name ON manifest (name, parse_status, description);
CREATE INDEX manifest_by_folder ON manifest (folder);
-- A no-change sync counts the few that are not fine without reading the many that are.
CREATE INDEX manifest_by_trouble ON manifest (parse_status) WHERE parse_status <> 'ok';

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

CREATE TABLE skill_condition (
  skill_id INTEGER NOT NULL REFERENCES skill (id),
  kind     TEXT NOT NULL CHECK (kind IN ('platform', 'environment', 'requires_tool', 'requires_toolset', 'fallback_for_tool', 'fallback_for_toolset')),
  value    TEXT NOT NULL,
  PRIMARY KEY (skill_id, kind, value)
) STRICT, WITHOUT ROWID;

CREATE TABLE skill_requirement (
  skill_id    INTEGER NOT NULL REFERENCES skill (id),
  kind        TEXT NOT NULL CHECK (kind IN ('env', 'credential_file', 'command')),
  name        TEXT NOT NULL,
  description TEXT,
  required    INTEGER NOT NULL CHECK (required IN (0, 1)),
  PRIMARY KEY (skill_id, kind, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE skill_tag (
  skill_id INTEGER NOT NULL REFERENCES skill (id),
  tag      TEXT NOT NULL,
  PRIMARY KEY (skill_id, tag)
) STRICT, WITHOUT ROWID;

CREATE TABLE skill_config (
  skill_id      INTEGER NOT NULL REFERENCES skill (id),
  key           TEXT NOT NULL,
  description   TEXT,
  default_value TEXT,
  prompt        TEXT,
  PRIMARY KEY (skill_id, key)
) STRICT, WITHOUT ROWID;

-- What is wrong with a file, in two verdicts: `severity` is what loading it makes of the finding (NULL:
-- nothing), `strict_severity` what the Agent Skills spec makes of it (NULL: only the walk found it).
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

CREATE INDEX diagnostic_by_skill ON diagnostic (skill_id);
CREATE INDEX diagnostic_by_unit ON diagnostic (root_id, unit);
CREATE INDEX diagnostic_by_error ON diagnostic (root_id) WHERE severity = 'error';
CREATE INDEX diagnostic_by_nesting ON diagnostic (root_id) WHERE code = 'nested-skill';

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

-- What `stat` said at the last sync, packed: one row a skill folder or category folder, so that a sync
-- that finds nothing changed reads some 10,000 short rows and not one row a file (measured: a third of
-- the time). `entries` is the listing in the form that `library::unit` reads and writes.
CREATE TABLE walk_unit (
  root_id  INTEGER NOT NULL REFERENCES skill_root (id),
  rel_path TEXT NOT NULL,
  skill_id INTEGER REFERENCES skill (id),
  archived INTEGER NOT NULL CHECK (archived IN (0, 1)),
  entries  BLOB NOT NULL,
  PRIMARY KEY (root_id, rel_path)
) STRICT, WITHOUT ROWID;

CREATE TABLE meta (
  key   TEXT PRIMARY KEY,
  value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- Raised by every commit that changes the mirror: what caches of the prompt index are keyed by.
INSERT INTO meta (key, value) VALUES ('generation', '0');
