-- The search index: made when somebody first searches, kept for skills whose text changed only. All of it can be made anew
-- from the texts.

-- One row a skill whose text is indexed. Another text is another document: numbers are never used twice, so that what a
-- term says of an old one is about nothing.
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

-- Documents that were indexed together.
CREATE TABLE search_segment (
  id        INTEGER PRIMARY KEY,
  -- How many there were; those that are left are in `measures`.
  documents INTEGER NOT NULL,
  -- For each document skill, lengths of fields, script: packed, in order of the documents.
  measures  BLOB NOT NULL,
  -- Their names, one a line, in the same order.
  names     TEXT NOT NULL
) STRICT;

-- Where a term stands: packed, in order of the documents. Read only for the terms of a query.
CREATE TABLE search_term (
  term     TEXT NOT NULL,
  segment  INTEGER NOT NULL,
  postings BLOB NOT NULL,
  PRIMARY KEY (term, segment)
) STRICT, WITHOUT ROWID;

-- Of which generation of the mirror the index is, in which format, and the number of the next document.
INSERT INTO meta (key, value) VALUES ('search_generation', ''), ('search_format', ''), ('search_next', '1');
