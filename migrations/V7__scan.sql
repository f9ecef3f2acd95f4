-- What the guard found: one row for what a skill was made of and the rules it was looked at with, however many skills
-- are made of the same.
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

-- Which scan holds for a skill, and of which state of its files: when the mirror says otherwise, it is to be looked at
-- again.
CREATE TABLE skill_scan (
  skill_id INTEGER PRIMARY KEY REFERENCES skill (id),
  scan_id  INTEGER NOT NULL REFERENCES scan (id),
  mark     TEXT NOT NULL,
  -- A second opinion that is worse than the rules' verdict.
  raised   TEXT CHECK (raised IN ('caution', 'dangerous')),
  raised_by TEXT
) STRICT;

CREATE INDEX skill_scan_by_scan ON skill_scan (scan_id);
-- The few that are not safe, without reading the many that are.
CREATE INDEX scan_by_verdict ON scan (verdict) WHERE verdict <> 'safe';

-- In which state a skill's files are, as far as the mirror knows: equal marks, nothing to look at again.
CREATE VIEW skill_mark AS
SELECT s.id AS skill_id,
       coalesce(m.content_hash, '') || ' ' || coalesce(m.tree_hash, '') || ' ' || s.rel_path || ' '
         || coalesce((SELECT sum(f.mtime_ns % 1000003 + f.size) FROM skill_file f WHERE f.skill_id = s.id), 0) AS mark
FROM skill s LEFT JOIN manifest m ON m.skill_id = s.id;

-- One row a skill that is there: its verdict, or NULL while nobody looked. `is_current`: the files are those that were
-- looked at, as far as the mirror knows.
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

-- One row a finding of a skill that is there, worst first.
CREATE VIEW v_scan_finding AS
SELECT v.skill_id, v.name, v.path AS skill_path, v.verdict,
       f.severity, f.class, f.rule, f.path, f.line, f.evidence, f.message, f.fix, f.seen, f.context, f.fingerprint, f.accepted
FROM v_scan v
JOIN scan_finding f ON f.scan_id = v.scan_id
ORDER BY v.name, v.skill_id, f.position;

-- The same, with what the guard says.
DROP VIEW v_skill;
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
