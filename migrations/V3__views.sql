-- The public face. Column names here are documented, tested and stable; tables may change under them.

-- One row a live or archived skill that can be loaded.
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
       -- What was absorbed into this skill counts here too: the umbrella inherits the use of its parts.
       (SELECT coalesce(sum(iu.use_count), 0)
        FROM skill a
        JOIN skill_usage iu ON iu.skill_id = a.id
        WHERE a.absorbed_into = s.id) AS inherited_use_count,
       nullif(max(coalesce(u.last_use_at, ''), coalesce(u.last_view_at, ''), coalesce(u.last_file_at, '')), '') AS last_activity_at,
       CAST(julianday('now') - julianday(coalesce(nullif(max(coalesce(u.last_use_at, ''), coalesce(u.last_view_at, ''), coalesce(u.last_file_at, '')), ''), s.created_at)) AS INTEGER) AS idle_days
FROM skill s
JOIN skill_root r ON r.id = s.root_id
JOIN manifest m ON m.skill_id = s.id
LEFT JOIN skill_usage u ON u.skill_id = s.id
WHERE s.missing_since IS NULL
  AND s.removed_at IS NULL
  AND r.removed_at IS NULL
  AND m.parse_status <> 'unreadable';

-- Folders that vanished behind our back; their use and history still answer.
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

-- Files named SKILL.md that no client could load, each with its first error.
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

CREATE VIEW v_duplicate_name AS
SELECT name,
       count(*) AS copies,
       -- Ordered in a subquery: the schema must stay readable for SQLite from 3.38 on, and ORDER BY
       -- inside an aggregate came with 3.44.
       json_group_array(path) AS paths
FROM (SELECT name, path FROM v_skill WHERE state <> 'archived' ORDER BY name, path)
GROUP BY name
HAVING count(*) > 1;

CREATE VIEW v_usage AS
SELECT u.event_id,
       u.skill_id,
       coalesce(m.name, u.called_name) AS name,
       u.called_name,
       u.kind,
       u."trigger",
       u.actor,
       u.client,
       u.session_id,
       u.project,
       u.machine,
       u.at,
       u.ok,
       u.content_hash,
       u.tokens_in,
       u.tokens_out
FROM usage_event u
LEFT JOIN manifest m ON m.skill_id = u.skill_id;

CREATE VIEW v_usage_daily AS
SELECT substr(at, 1, 10) AS day,
       skill_id,
       name,
       kind,
       client,
       count(*) AS events,
       sum(ok = 0) AS failures
FROM v_usage
GROUP BY substr(at, 1, 10), skill_id, name, kind, client;

CREATE VIEW v_never_used AS
SELECT id, name, origin, state, path, created_at
FROM v_skill
WHERE state <> 'archived'
  AND use_count = 0
  AND inherited_use_count = 0;

-- One row a file a change touched, failed changes too (then without a file).
CREATE VIEW v_patch_history AS
SELECT c.id AS change_id,
       v.id AS revision_id,
       v.skill_id,
       m.name,
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
       f.after_hash
FROM change c
LEFT JOIN revision v ON v.change_id = c.id
LEFT JOIN revision_file f ON f.revision_id = v.id
LEFT JOIN manifest m ON m.skill_id = v.skill_id;

-- Did a change help? Failure rate of the uses in the 30 days before and after each applied change.
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
       am.name AS absorbed_into_name
FROM state_transition t
JOIN skill s ON s.id = t.skill_id
LEFT JOIN manifest m ON m.skill_id = t.skill_id
LEFT JOIN manifest am ON am.skill_id = t.absorbed_into;

CREATE VIEW v_reference AS
SELECT f.from_kind,
       f.from_path,
       f.line,
       f.target_name,
       f.target_skill_id,
       f.target_skill_id IS NULL AS dangling
FROM skill_reference f;
