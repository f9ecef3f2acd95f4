//! `docs/sql.md` says what the database has: each public view with its columns, examples that run, all named queries.

#![expect(
    clippy::unwrap_used,
    reason = "what cannot be arranged is a failed test"
)]

mod common;

use std::fs;
use std::path::Path;
use std::process::Command;

use common::{Library, code, strings};
use serde_json::Value;

/// One section of the document: what stands between two headings of the second level.
struct Section {
    heading: String,
    /// The first cells of its table.
    names: Vec<String>,
    /// The second cells.
    words: Vec<String>,
    /// The statements in its blocks.
    statements: Vec<String>,
}

fn document() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/sql.md");
    fs::read_to_string(path).unwrap()
}

fn sections(document: &str) -> Vec<Section> {
    let parts = document.split("\n## ").skip(1);
    parts.map(section).collect()
}

fn section(text: &str) -> Section {
    let (heading, body) = text.split_once('\n').unwrap();
    let rows = body.lines().filter_map(|line| {
        let cells = line.strip_prefix("| ")?.strip_suffix(" |")?;
        cells.split_once(" | ")
    });
    // The heading of the table is no row.
    let (names, words) = rows
        .skip(1)
        .map(|(name, words)| (name.to_owned(), words.to_owned()))
        .unzip();
    let blocks = body.split("```sql\n").skip(1);
    let statements = blocks.map(|block| block.split("```").next().unwrap().trim().to_owned());
    Section {
        heading: heading.trim().to_owned(),
        names,
        words,
        statements: statements.collect(),
    }
}

fn library() -> Library {
    let library = Library::new();
    library.skill("ops/deploy", "Ships it");
    library.skill("web/deploy", "Ships it, too");
    library.write("skills/ops/deploy/scripts/run.sh", b"#!/bin/sh\n");
    library.write("skills/broken/SKILL.md", b"---\nname: broken\n");
    library.sync();
    for line in [
        "use ops/deploy --failed --client codex --tokens-in 5",
        "view web/deploy",
        "use ghost",
    ] {
        let args: Vec<&str> = line.split(' ').collect();
        library.json(&[&["record"], &args[..]].concat());
    }
    library
}

fn listed(library: &Library) -> Value {
    library.json(&["sql", "--list"])
}

/// The views of the database and their columns, asked without the program's own list.
fn views(library: &Library) -> Vec<(String, Vec<String>)> {
    let sql = "SELECT v.name, c.name FROM sqlite_schema v, pragma_table_info(v.name) c WHERE v.type = 'view' AND v.name GLOB 'v_*' ORDER BY v.name, c.cid";
    let told = library.sql(sql);
    let mut views: Vec<(String, Vec<String>)> = Vec::new();
    for line in told.lines() {
        let (view, column) = line.split_once('\t').unwrap();
        match views.last_mut() {
            Some((last, columns)) if last == view => columns.push(column.to_owned()),
            _ => views.push((view.to_owned(), vec![column.to_owned()])),
        }
    }
    views
}

#[test]
fn every_view_has_a_section_with_its_columns_in_order_and_no_section_lacks_a_view() {
    let sections = sections(&document());
    let mut documented: Vec<(String, Vec<String>)> = sections
        .into_iter()
        .filter(|section| section.heading != "Named queries")
        .map(|section| (section.heading, section.names))
        .collect();
    documented.sort();
    let views = views(&library());
    assert!(views.len() > 10, "{views:?}");
    assert_eq!(documented, views);
}

#[test]
fn every_section_says_something_of_each_column_and_has_one_example_of_its_view() {
    for section in sections(&document()) {
        let heading = &section.heading;
        let is_empty = |words: &String| words.trim().is_empty();
        assert!(!section.words.iter().any(is_empty), "{heading}");
        if heading != "Named queries" {
            assert_eq!(section.statements.len(), 1, "{heading}");
            assert!(
                section.statements[0].contains(heading.as_str()),
                "{heading}"
            );
        }
    }
}

#[test]
fn every_example_runs() {
    let library = library();
    let examples: Vec<String> = sections(&document())
        .into_iter()
        .flat_map(|section| section.statements)
        .collect();
    assert!(examples.len() > 10);
    for example in examples {
        let output = library.skilldb(&["sql", &example]).output().unwrap();
        assert_eq!(code(&output), 0, "{example}\n{}", library.told(&output));
    }
}

#[test]
fn the_shell_examples_run_the_program_as_it_is() {
    let document = document();
    let library = library();
    let block = document
        .split("```sh\n")
        .nth(1)
        .unwrap()
        .split("```")
        .next()
        .unwrap();
    let commands: Vec<&str> = block
        .lines()
        .filter(|line| line.starts_with("skilldb "))
        .collect();
    assert_eq!(commands.len(), 2, "{block}");
    for command in commands {
        let words = shlex::split(command).unwrap();
        let args: Vec<&str> = words
            .iter()
            .skip(1)
            .map(String::as_str)
            .take_while(|word| !word.starts_with('#'))
            .collect();
        let output = library.skilldb(&args).output().unwrap();
        assert_eq!(code(&output), 0, "{command}\n{}", library.told(&output));
    }
}

#[test]
fn every_named_query_is_documented_with_its_question_and_runs() {
    let library = library();
    let list = listed(&library);
    let names = strings(&list["queries"], "name");
    let sections = sections(&document());
    let named = sections
        .iter()
        .find(|section| section.heading == "Named queries")
        .unwrap();
    assert_eq!(named.names, names);
    assert_eq!(named.words, strings(&list["queries"], "question"));
    for name in names {
        library.json(&["sql", &name]);
    }
}

#[test]
fn the_list_of_the_program_names_the_same_views() {
    let library = library();
    let list = listed(&library);
    let named = strings(&list["views"], "name")
        .into_iter()
        .zip(strings(&list["views"], "columns"));
    let wanted = views(&library)
        .into_iter()
        .map(|(view, columns)| (view, columns.join(", ")));
    assert_eq!(named.collect::<Vec<_>>(), wanted.collect::<Vec<_>>());
}

#[test]
fn a_plain_sqlite3_reads_the_same_views() {
    let library = library();
    let path = library.json(&["path", "db"]);
    let database = path["path"].as_str().unwrap();
    for (view, columns) in views(&library) {
        let columns = columns.join("\", \"");
        let sql = format!("SELECT \"{columns}\" FROM {view}");
        let count = format!("SELECT count(*) FROM ({sql})");
        // Not everybody has it.
        let Ok(output) = Command::new("sqlite3").args([database, &count]).output() else {
            return;
        };
        assert_eq!(code(&output), 0, "{view}\n{}", library.told(&output));
        let counted = String::from_utf8(output.stdout).unwrap();
        assert_eq!(counted.trim(), library.sql(&count), "{view}");
    }
}
