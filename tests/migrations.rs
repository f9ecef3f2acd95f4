//! Databases of earlier and later schemas, and files that are no database at all.

#![expect(
    clippy::unwrap_used,
    reason = "what cannot be arranged is a failed test"
)]

mod common;
#[path = "common/schemas.rs"]
mod schemas;

use std::fs;
use std::path::{Path, PathBuf};

use common::{Library, code};
use refinery_core::Migration;
use rusqlite::Connection;
use schemas::{migrations, newest};

#[expect(
    clippy::disallowed_methods,
    reason = "makes databases as earlier versions made them"
)]
fn open(path: &Path) -> Connection {
    Connection::open(path).unwrap()
}

/// Makes the database an earlier skilldb would have left: schema, what the runner noted, WAL.
fn old_database(library: &Library, schema: i32) -> Connection {
    let database = open(&library.path("data/skilldb.db"));
    database
        .execute_batch(
            "PRAGMA journal_mode = WAL;
             CREATE TABLE refinery_schema_history (version INT4 PRIMARY KEY, name VARCHAR(255), applied_on VARCHAR(255), checksum VARCHAR(255));",
        )
        .unwrap();
    for (number, name, sql) in migrations()
        .into_iter()
        .filter(|(number, ..)| *number <= schema)
    {
        database.execute_batch(&sql).unwrap();
        let migration = Migration::unapplied(&name, &sql).unwrap();
        database
            .execute(
                "INSERT INTO refinery_schema_history VALUES (?1, ?2, '2026-01-01T00:00:00Z', ?3)",
                rusqlite::params![number, migration.name(), migration.checksum().to_string()],
            )
            .unwrap();
    }
    database
        .pragma_update(None, "user_version", schema)
        .unwrap();
    let root = library.path("skills");
    database
        .execute(
            "INSERT INTO skill_root (id, path, kind, writable, created_at) VALUES (7, ?1, 'local', 1, '2025-01-01T00:00:00.000Z')",
            [root.to_str().unwrap()],
        )
        .unwrap();
    database
        .execute_batch(
            "INSERT INTO skill (id, root_id, rel_path, origin, pinned, pin_reason, created_at)
             VALUES (42, 7, 'a', 'user', 1, 'mine', '2025-01-01T00:00:00.000Z');
             INSERT INTO manifest (skill_id, name, folder, category, file_name, frontmatter, body_offset, size, mtime_ns, ctime_ns, inode, parse_status)
             VALUES (42, 'a', 'a', '', 'SKILL.md', '{}', 0, 1, 1, 1, 1, 'ok');",
        )
        .unwrap();
    if schema >= 2 {
        database
            .execute_batch(
                "INSERT INTO usage_event (event_id, skill_id, called_name, kind, \"trigger\", actor, at)
                 VALUES ('e', 42, 'a', 'use', 'model', 'agent', '2025-06-01T00:00:00.000Z');
                 INSERT INTO change (action, outcome, actor, at) VALUES ('create', 'applied', 'user', '2025-01-01T00:00:00.000Z');
                 INSERT INTO revision (change_id, skill_id, title) VALUES (1, 42, 'made');",
            )
            .unwrap();
    }
    database
}

fn backups(library: &Library) -> Vec<PathBuf> {
    fs::read_dir(library.path("data"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| {
            path.extension()
                .is_some_and(|extension| extension == "backup")
        })
        .collect()
}

fn number(database: &Connection, sql: &str) -> i64 {
    database.query_row(sql, [], |row| row.get(0)).unwrap()
}

#[test]
fn every_earlier_schema_is_upgraded_with_its_rows_and_a_backup() {
    for schema in 1..newest() {
        let library = Library::new();
        drop(old_database(&library, schema));
        library.skill("a", "first");
        let report = library.sync();
        assert_eq!(report["changed"][0]["id"], 42, "from schema {schema}");
        assert_eq!(
            library.sql("SELECT id, pinned, pin_reason, created_at FROM skill"),
            "42\t1\tmine\t2025-01-01T00:00:00.000Z",
            "from schema {schema}"
        );
        if schema >= 2 {
            let used = library.sql("SELECT use_count, last_activity_at FROM v_skill");
            assert_eq!(used, "1\t2025-06-01T00:00:00.000Z");
            let titles = library.sql("SELECT title FROM revision ORDER BY id LIMIT 1");
            assert_eq!(titles, "made");
        }
        let copies = backups(&library);
        assert_eq!(copies.len(), 1, "from schema {schema}: {copies:?}");
        let copy = open(&copies[0]);
        assert_eq!(number(&copy, "PRAGMA user_version"), i64::from(schema));
        assert_eq!(number(&copy, "SELECT id FROM skill WHERE pinned"), 42);
        let database = open(&library.path("data/skilldb.db"));
        assert_eq!(
            number(&database, "PRAGMA user_version"),
            i64::from(newest())
        );
        assert_eq!(
            library.json(&["doctor"])["healthy"],
            true,
            "from schema {schema}"
        );
    }
}

#[test]
fn an_upgraded_database_has_the_schema_of_a_new_one() {
    let schema = "SELECT type, name, sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite_%' AND name NOT LIKE 'refinery_%' ORDER BY type, name";
    let fresh = Library::new();
    fresh.skill("a", "first");
    fresh.sync();
    for old in 1..newest() {
        let library = Library::new();
        drop(old_database(&library, old));
        library.sync();
        assert_eq!(library.sql(schema), fresh.sql(schema), "from schema {old}");
    }
}

#[test]
fn a_command_that_only_reads_upgrades_too() {
    let library = Library::new();
    drop(old_database(&library, 1));
    assert_eq!(library.listed(&[]), ["a"]);
    assert_eq!(backups(&library).len(), 1);
}

#[test]
fn eight_processes_that_meet_an_old_database_upgrade_it_once() {
    let library = Library::new();
    drop(old_database(&library, 1));
    library.skill("a", "first");
    let children: Vec<_> = (0..8)
        .map(|number| {
            let args: &[&str] = if number % 2 == 0 {
                &["list"]
            } else {
                &["sync"]
            };
            library.process(args).spawn().unwrap()
        })
        .collect();
    for child in children {
        let output = child.wait_with_output().unwrap();
        assert_eq!(code(&output), 0, "{}", library.told(&output));
    }
    assert_eq!(backups(&library).len(), 1);
    let versions = "SELECT version FROM refinery_schema_history ORDER BY version";
    let wanted: Vec<String> = (1..=newest()).map(|version| version.to_string()).collect();
    assert_eq!(library.sql(versions), wanted.join("\n"));
    assert_eq!(library.json(&["doctor"])["healthy"], true);
}

#[test]
fn a_migration_that_was_rewritten_after_it_was_applied_is_refused() {
    let library = Library::new();
    let database = old_database(&library, 1);
    database
        .execute("UPDATE refinery_schema_history SET checksum = '1'", [])
        .unwrap();
    drop(database);
    let told = library.run(&["list"]);
    assert!(told.starts_with("exit 3\n"), "{told}");
    assert!(told.contains("data/skilldb.db"), "{told}");
}

/// What every command that opens the database says to it, and that not a byte of it changes.
fn assert_refused_untouched(library: &Library, words: &str) {
    let path = library.path("data/skilldb.db");
    let before = fs::read(&path).unwrap();
    let commands: [&[&str]; 6] = [
        &["sync", "skills"],
        &["sync", "skills", "--rebuild"],
        &["list"],
        &["sql", "SELECT 1"],
        &["doctor"],
        &["roots"],
    ];
    for args in commands {
        let told = library.run(args);
        assert!(told.starts_with("exit 3\n"), "{args:?}: {told}");
        assert!(told.contains(words), "{args:?}: {told}");
        assert!(
            fs::read(&path).unwrap() == before,
            "{args:?} changed the file"
        );
    }
    assert_eq!(backups(library), Vec::<PathBuf>::new());
}

#[test]
fn a_database_of_a_newer_skilldb_is_refused_and_left_as_it_is() {
    let library = Library::new();
    library.skill("a", "first");
    library.sync();
    let database = open(&library.path("data/skilldb.db"));
    database.pragma_update(None, "user_version", 999).unwrap();
    drop(database);
    assert_refused_untouched(&library, "newer skilldb (schema 999");
}

#[test]
fn a_database_of_a_newer_skilldb_that_could_not_use_wal_is_left_as_it_is() {
    let library = Library::new();
    library.skill("a", "first");
    library.sync();
    let database = open(&library.path("data/skilldb.db"));
    database
        .execute_batch("PRAGMA user_version = 999; PRAGMA journal_mode = DELETE;")
        .unwrap();
    drop(database);
    assert_refused_untouched(&library, "newer skilldb (schema 999");
}

#[test]
fn a_file_that_is_no_database_is_refused_and_left_as_it_is() {
    let library = Library::new();
    library.skill("a", "first");
    library.write("data/skilldb.db", &b"this is no database\n".repeat(1000));
    assert_refused_untouched(&library, "not a database");
}

#[test]
fn an_empty_file_becomes_a_database() {
    let library = Library::new();
    library.skill("a", "first");
    library.write("data/skilldb.db", b"");
    library.sync();
    assert_eq!(library.listed(&[]), ["a"]);
    assert_eq!(backups(&library), Vec::<PathBuf>::new());
}

#[test]
fn migrations_are_numbered_without_gaps_and_say_why() {
    for (index, (number, name, sql)) in migrations().iter().enumerate() {
        assert_eq!(usize::try_from(*number).unwrap(), index + 1, "{name}");
        assert!(sql.starts_with("-- "), "{name} starts without a reason");
    }
}
