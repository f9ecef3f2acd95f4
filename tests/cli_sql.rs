//! `skilldb sql`.

mod common;

use std::fs;

use common::{Library, code};
use insta::assert_snapshot;
use serde_json::json;

#[test]
fn off_a_terminal_a_row_is_a_line_of_cells() {
    let library = two_skills();
    assert_snapshot!(library.run(&["sql", "SELECT name, pinned, state FROM v_skill ORDER BY name"]), @"
    exit 0
    --- stdout
    deploy	0	active
    notes	0	active
    ");
}

#[test]
fn a_table_has_a_heading_and_numbers_to_the_right() {
    let library = two_skills();
    let query = "SELECT name, length(description) AS characters FROM v_skill ORDER BY name";
    assert_snapshot!(library.run(&["sql", query, "--format", "table"]), @"
    exit 0
    --- stdout
    name    characters
    deploy           8
    notes           23
    --- stderr
    2 rows.
    ");
}

#[test]
fn csv_quotes_what_needs_quotes() {
    let library = two_skills();
    let query = "SELECT 'a,b' AS \"one, two\", 'say \"hi\"' AS said, 'two' || char(10) || 'lines' AS broken, NULL AS gap";
    assert_snapshot!(library.run(&["sql", query, "--format", "csv"]), @r#"
    exit 0
    --- stdout
    "one, two",said,broken,gap
    "a,b","say ""hi""","two
    lines",
    "#);
}

#[test]
fn json_holds_columns_and_rows() {
    let library = two_skills();
    let object = library.json(&[
        "sql",
        "SELECT 1 AS whole, 1.5 AS part, 'x' AS word, NULL AS gap",
    ]);
    assert_eq!(
        object,
        json!({
            "schema_version": 1,
            "columns": ["whole", "part", "word", "gap"],
            "rows": [{"whole": 1, "part": 1.5, "word": "x", "gap": null}],
        })
    );
}

#[test]
fn a_cell_with_a_line_break_stays_in_its_row() {
    let library = two_skills();
    assert_eq!(
        library.sql("SELECT 'two' || char(10) || 'lines', 'a' || char(9) || 'b'"),
        "two lines\ta b"
    );
}

#[test]
fn a_statement_may_come_from_standard_input() {
    let library = two_skills();
    let output = library
        .skilldb(&["sql", "-"])
        .write_stdin("SELECT count(*) FROM v_skill\n")
        .output()
        .unwrap();
    assert_eq!(output.stdout, b"2\n");
}

#[test]
fn every_named_query_and_every_view_answers() {
    let library = two_skills();
    let list = library.json(&["sql", "--list"]);
    let (queries, views) = (
        list["queries"].as_array().unwrap(),
        list["views"].as_array().unwrap(),
    );
    assert!(queries.len() > 5 && views.len() > 5);
    for query in queries {
        library.json(&["sql", query["name"].as_str().unwrap()]);
    }
    for view in views {
        let (name, columns) = (
            view["name"].as_str().unwrap(),
            view["columns"].as_str().unwrap(),
        );
        let quoted = columns.replace(", ", "\", \"");
        library.json(&["sql", &format!("SELECT \"{quoted}\" FROM {name}")]);
    }
}

#[test]
fn named_queries_can_be_read_about_before_there_is_a_library() {
    let told = Library::new().run(&["sql", "--list"]);
    assert!(
        told.starts_with("exit 0\n--- stdout\nNamed queries\n"),
        "{told}"
    );
}

#[test]
fn a_misspelt_named_query_gets_a_suggestion() {
    let library = two_skills();
    assert_snapshot!(library.run(&["sql", "duplicate"]), @"
    exit 2
    --- stderr
    error: `duplicate` is no named query
    hint: did you mean `duplicates`? `skilldb sql --list` prints all
    ");
}

#[test]
fn no_statement_is_wrong_usage() {
    assert_snapshot!(Library::new().run(&["sql"]), @"
    exit 2
    --- stderr
    error: no statement
    hint: skilldb sql 'SELECT name FROM v_skill', or skilldb sql --list
    ");
}

#[test]
fn what_sqlite_does_not_understand_is_told_in_its_words() {
    let library = two_skills();
    assert_snapshot!(library.run(&["sql", "SELECT nam FROM v_skill"]), @"
    exit 1
    --- stderr
    error: no such column: nam (at character 8)
    hint: `skilldb sql --list` prints the views and the named queries
    ");
}

#[test]
fn without_a_library_there_is_nothing_to_ask() {
    assert_snapshot!(Library::new().run(&["sql", "SELECT 1 AS one"]), @"
    exit 1
    --- stderr
    error: no library at [DIR]/data/skilldb.db yet
    hint: `skilldb sync FOLDER` or `skilldb sync --client claude-code` makes one
    ");
}

#[test]
fn nothing_can_be_written() {
    let library = two_skills();
    let before = fs::read(library.path("data/skilldb.db")).unwrap();
    let other = library.path("other.db");
    let attach = format!("ATTACH '{}' AS other", other.display());
    let refused = [
        "INSERT INTO meta VALUES ('a', 'b')",
        "UPDATE skill SET pinned = 1",
        "DELETE FROM skill RETURNING id",
        "WITH doomed AS (SELECT id FROM skill) DELETE FROM skill WHERE id IN doomed",
        "DROP VIEW v_skill",
        "CREATE TABLE t (x)",
        "CREATE TEMP TABLE t (x)",
        "PRAGMA user_version = 7",
        "PRAGMA journal_mode = DELETE",
        "BEGIN IMMEDIATE",
        "SELECT 1; DELETE FROM skill",
        "SELECT 1; SELECT 2",
        "SELECT load_extension('x')",
        &attach,
        "",
        "/* only a comment */",
    ];
    for statement in refused {
        let output = library.skilldb(&["sql", statement]).output().unwrap();
        assert_eq!(code(&output), 1, "{statement}: {}", library.told(&output));
        assert_eq!(output.stdout, b"", "{statement}");
        assert!(output.stderr.starts_with(b"error: "), "{statement}");
    }
    assert!(!other.exists());
    assert!(fs::read(library.path("data/skilldb.db")).unwrap() == before);
}

#[test]
fn settings_of_the_connection_cannot_be_changed() {
    let library = two_skills();
    for statement in ["PRAGMA query_only = OFF", "PRAGMA writable_schema = ON"] {
        library.json_exit(&["sql", statement], 1);
    }
}

#[test]
fn a_refused_copy_leaves_no_file() {
    let library = two_skills();
    let copy = library.path("copy.db");
    library.json_exit(&["sql", &format!("VACUUM INTO '{}'", copy.display())], 1);
    assert!(!copy.exists());
}

#[test]
fn a_refused_statement_says_why() {
    let library = two_skills();
    assert_snapshot!(library.run(&["sql", "DELETE FROM skill"]), @"
    exit 1
    --- stderr
    error: `skilldb sql` only reads: this statement would write
    hint: `skilldb sql --list` prints the views and the named queries
    ");
    assert_snapshot!(library.run(&["sql", "SELECT 1; SELECT 2"]), @"
    exit 1
    --- stderr
    error: one statement at a time
    hint: `skilldb sql --list` prints the views and the named queries
    ");
}

#[test]
fn a_closing_semicolon_and_a_comment_are_fine() {
    let library = two_skills();
    assert_eq!(
        library.sql("SELECT count(*) FROM v_skill; -- all of them"),
        "2"
    );
    assert_eq!(
        library.sql("WITH names AS (SELECT name FROM v_skill) SELECT min(name) FROM names;"),
        "deploy"
    );
}

fn two_skills() -> Library {
    let library = Library::new();
    library.skill("deploy", "Ships it");
    library.skill("notes", "Takes notes in meetings");
    library.sync();
    library
}
