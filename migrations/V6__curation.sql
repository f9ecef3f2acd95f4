-- Ageing: the moment a skill's idle time counts from, the runs of the curator, and what was absorbed by what.

-- One row a run. `marked`: the first one, which only notes the time. The time of the last run that is `done` or
-- `marked` is what the next one waits for; a run that failed, or was cut short, books nothing.
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

CREATE TRIGGER curator_run_is_kept BEFORE DELETE ON curator_run
BEGIN SELECT RAISE(ABORT, 'a run of the curator is never deleted'); END;

-- A snapshot of some skills only: going back to it leaves all others alone.
ALTER TABLE snapshot ADD COLUMN is_partial INTEGER NOT NULL DEFAULT 0 CHECK (is_partial IN (0, 1));

-- Reading a supporting file is activity as well.
DROP TRIGGER usage_event_reactivates;
CREATE TRIGGER usage_event_reactivates AFTER INSERT ON usage_event
WHEN new.skill_id IS NOT NULL AND new.kind IN ('use', 'view', 'file') AND new.actor NOT IN ('background_review', 'curator')
  AND (SELECT state FROM skill WHERE id = new.skill_id) = 'stale'
  AND new.at >= coalesce((SELECT max(at) FROM state_transition WHERE skill_id = new.skill_id AND to_state = 'stale'), '')
BEGIN
  INSERT INTO state_transition (skill_id, from_state, to_state, reason, anchor_at, actor, at)
  VALUES (new.skill_id, 'stale', 'active', 'used again', new.at, new.actor, new.at);
  UPDATE meta SET value = CAST(value AS INTEGER) + 1 WHERE key = 'generation';
END;

-- What every moment that counts for a skill's idle time was. Background activity is in none of them.
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

-- Use of what was absorbed counts for the umbrella, along the whole chain.
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
       s.absorbed_into
FROM skill s
JOIN skill_root r ON r.id = s.root_id
JOIN manifest m ON m.skill_id = s.id
LEFT JOIN skill_usage u ON u.skill_id = s.id
WHERE s.missing_since IS NULL
  AND s.removed_at IS NULL
  AND r.removed_at IS NULL
  AND m.parse_status <> 'unreadable';

-- What the rules of ageing look at. The configuration adds periods, protected names and automations.
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
       t.change_id,
       t.curator_run_id
FROM state_transition t
JOIN skill s ON s.id = t.skill_id
LEFT JOIN manifest m ON m.skill_id = t.skill_id
LEFT JOIN manifest h ON h.skill_id = t.absorbed_into;

DROP VIEW v_snapshot;
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

-- A skill that gets another place takes its walked folder along: without it each move reads all of them.
CREATE INDEX walk_unit_by_skill ON walk_unit (skill_id) WHERE skill_id IS NOT NULL;
