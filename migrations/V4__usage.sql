-- Who used what, also in the agents people already run. An event learns where it came from and which copy
-- ran; what is known of a client's history files is kept, so that each line is read once.

ALTER TABLE usage_event ADD COLUMN args TEXT;
-- For a file read: which file, relative to the skill.
ALTER TABLE usage_event ADD COLUMN file TEXT;
-- The folder the client says it loaded: tells which of two same-named copies ran.
ALTER TABLE usage_event ADD COLUMN called_path TEXT;
ALTER TABLE usage_event ADD COLUMN subagent TEXT;
-- How the session was started, in the client's own word: cli, cron, telegram.
ALTER TABLE usage_event ADD COLUMN channel TEXT;
-- Explained by a baseline that counts it already: history, not added on top.
ALTER TABLE usage_event ADD COLUMN in_baseline INTEGER NOT NULL DEFAULT 0 CHECK (in_baseline IN (0, 1));

CREATE INDEX usage_event_by_called_name ON usage_event (called_name, at, ok, client) WHERE skill_id IS NULL;

CREATE INDEX usage_event_with_cost ON usage_event (skill_id, called_name, tokens_in, tokens_out) WHERE tokens_in IS NOT NULL;

-- Other ids of one event: a hook that saw a typed command knows no id for it, the transcript does.
CREATE TABLE usage_alias (
  event_id       TEXT PRIMARY KEY,
  usage_event_id INTEGER NOT NULL REFERENCES usage_event (id)
) STRICT, WITHOUT ROWID;

-- Tokens a client credits to a skill, by the message that spent them: a message is told on several lines.
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

CREATE TRIGGER usage_cost_adds AFTER INSERT ON usage_cost
WHEN new.usage_event_id IS NOT NULL
BEGIN
  UPDATE usage_event
  SET tokens_in = coalesce(tokens_in, 0) + new.tokens_in, tokens_out = coalesce(tokens_out, 0) + new.tokens_out
  WHERE id = new.usage_event_id;
END;

-- A later line of the same message may know more.
CREATE TRIGGER usage_cost_grows AFTER UPDATE ON usage_cost
WHEN new.usage_event_id = old.usage_event_id
BEGIN
  UPDATE usage_event
  SET tokens_in = coalesce(tokens_in, 0) + new.tokens_in - old.tokens_in, tokens_out = coalesce(tokens_out, 0) + new.tokens_out - old.tokens_out
  WHERE id = new.usage_event_id;
END;

-- The use was found after its cost.
CREATE TRIGGER usage_cost_links AFTER UPDATE OF usage_event_id ON usage_cost
WHEN old.usage_event_id IS NULL AND new.usage_event_id IS NOT NULL
BEGIN
  UPDATE usage_event
  SET tokens_in = coalesce(tokens_in, 0) + new.tokens_in, tokens_out = coalesce(tokens_out, 0) + new.tokens_out
  WHERE id = new.usage_event_id;
END;

CREATE TRIGGER usage_cost_is_kept BEFORE DELETE ON usage_cost
BEGIN SELECT RAISE(ABORT, 'what a message cost is never deleted'); END;

CREATE TRIGGER usage_cost_stays_with_its_use BEFORE UPDATE OF usage_event_id ON usage_cost
WHEN old.usage_event_id IS NOT NULL AND new.usage_event_id IS NOT old.usage_event_id
BEGIN SELECT RAISE(ABORT, 'what a message cost stays with its use'); END;

-- Uses a client may have made of folders that are no skills of the library, as far as is known: Codex reads files
-- with a shell, and only the library tells which of them are skills'. Recorded when the folder turns out to be one.
CREATE TABLE usage_candidate (
  event_id  TEXT PRIMARY KEY,
  folder    TEXT NOT NULL,
  -- What to record, as a line of `skilldb record -`.
  recording TEXT NOT NULL CHECK (json_valid(recording))
) STRICT, WITHOUT ROWID;

CREATE INDEX usage_cost_without_use ON usage_cost (at) WHERE usage_event_id IS NULL;

-- Events a day: what the statistics of a million events are made from. skill_id 0 is called but not installed.
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

INSERT INTO usage_day
SELECT substr(at, 1, 10), coalesce(skill_id, 0), kind, "trigger", coalesce(client, ''), actor IN ('background_review', 'curator'), count(*), sum(coalesce(ok = 0, 0))
FROM usage_event
GROUP BY 1, 2, 3, 4, 5, 6;

-- The same without days and skills: a handful of rows.
CREATE TABLE usage_total (
  client     TEXT NOT NULL,
  "trigger"  TEXT NOT NULL,
  background INTEGER NOT NULL CHECK (background IN (0, 1)),
  events     INTEGER NOT NULL,
  failures   INTEGER NOT NULL,
  PRIMARY KEY (client, "trigger", background)
) STRICT, WITHOUT ROWID;

INSERT INTO usage_total SELECT client, "trigger", background, sum(events), sum(failures) FROM usage_day GROUP BY 1, 2, 3;

ALTER TABLE skill_usage ADD COLUMN failure_count INTEGER NOT NULL DEFAULT 0;
ALTER TABLE skill_usage ADD COLUMN last_failure_at TEXT;

-- Counts taken over may go back (a sidecar that was wiped): what was counted stays, what comes is added.
ALTER TABLE usage_baseline ADD COLUMN patch_count INTEGER NOT NULL DEFAULT 0;
ALTER TABLE usage_baseline ADD COLUMN last_patch_at TEXT;
ALTER TABLE usage_baseline ADD COLUMN archived_at TEXT;
-- The record as it was read: pins and states are taken over when it changes, not at each import.
ALTER TABLE usage_baseline ADD COLUMN record TEXT;
ALTER TABLE usage_baseline ADD COLUMN seen_use_count INTEGER NOT NULL DEFAULT 0;
ALTER TABLE usage_baseline ADD COLUMN seen_view_count INTEGER NOT NULL DEFAULT 0;
ALTER TABLE usage_baseline ADD COLUMN seen_patch_count INTEGER NOT NULL DEFAULT 0;
UPDATE usage_baseline SET seen_use_count = use_count, seen_view_count = view_count;

-- What the counters should say. For `doctor`, and for the rare events that touch few skills.
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

DELETE FROM skill_usage;
INSERT INTO skill_usage SELECT * FROM usage_recount;

DROP TRIGGER usage_event_counts;
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

-- An event is a fact. What may be learnt later, once: how it ended, which skill it was, what it cost, and that a
-- baseline counts it already.
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

-- REPLACE would delete without asking the trigger above.
CREATE TRIGGER usage_event_is_added_once BEFORE INSERT ON usage_event
WHEN EXISTS (SELECT 1 FROM usage_event WHERE event_id = new.event_id OR id = new.id)
BEGIN SELECT RAISE(IGNORE); END;

CREATE TRIGGER usage_event_is_kept BEFORE DELETE ON usage_event
BEGIN SELECT RAISE(ABORT, 'a usage event is never deleted'); END;

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

-- The skill appeared, or the transcript says which copy ran. Whoever links many recounts once, after all of them.
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

-- How far each history file of a client was read.
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

-- A change that another program made, taken over from its history: there are no bytes of it here.
ALTER TABLE change ADD COLUMN source TEXT;
ALTER TABLE change ADD COLUMN event_id TEXT;
CREATE UNIQUE INDEX change_by_event ON change (event_id) WHERE event_id IS NOT NULL;
-- NULL where skill_id says it; else the name of a skill that is not there.
ALTER TABLE revision ADD COLUMN called_name TEXT;

-- A folder that was moved within sight is still found under its old place.
CREATE INDEX revision_file_by_origin ON revision_file (moved_from) WHERE moved_from IS NOT NULL;

-- Where an installed skill came from, as an installer noted it.
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

-- Without it, asking 10,000 skills for what they inherited compares each with each.
CREATE INDEX skill_by_heir ON skill (absorbed_into) WHERE absorbed_into IS NOT NULL;

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
       -- What was absorbed into this skill counts here too: the umbrella inherits the use of its parts.
       (SELECT coalesce(sum(iu.use_count), 0)
        FROM skill a
        JOIN skill_usage iu ON iu.skill_id = a.id
        WHERE a.absorbed_into = s.id) AS inherited_use_count,
       u.last_use_at,
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

DROP VIEW v_usage;
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

DROP VIEW v_usage_daily;
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

DROP VIEW v_never_used;
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

CREATE VIEW v_import AS
SELECT client, path, size, read_bytes, read_lines, since, read_at
FROM import_file;
