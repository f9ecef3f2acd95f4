//! `docs/schema.sql` is the schema of a new database.

#![expect(
    clippy::unwrap_used,
    reason = "what cannot be arranged is a failed test"
)]

mod common;

use std::fs::{self, File};
use std::io::Write;
use std::path::Path;

use common::Library;

const QUERY: &str = "SELECT sql FROM sqlite_schema
    WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%' AND name NOT LIKE 'refinery_%'
    ORDER BY CASE type WHEN 'table' THEN 1 WHEN 'index' THEN 2 WHEN 'trigger' THEN 3 ELSE 4 END, name";

fn schema() -> String {
    let library = Library::new();
    library.skill("a", "first");
    library.sync();
    let answer = library.json(&["sql", QUERY]);
    let mut text = String::from(
        "-- The schema of a new database. Generated: SKILLDB_BLESS=1 cargo test --test schema\n\
         -- The views are the public face; tables may change under them. Reasons stand in migrations/.\n",
    );
    for row in answer["rows"].as_array().unwrap() {
        text.extend(["\n", row["sql"].as_str().unwrap().trim_end(), ";\n"]);
    }
    text
}

#[test]
#[expect(
    clippy::disallowed_methods,
    reason = "a switch for the person who runs the test"
)]
fn the_documented_schema_is_that_of_a_new_database() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/schema.sql");
    let schema = schema();
    if std::env::var_os("SKILLDB_BLESS").is_some() {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let mut file = File::create(&path).unwrap();
        file.write_all(schema.as_bytes()).unwrap();
    }
    let documented = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        documented == schema,
        "docs/schema.sql is not the schema of a new database; refresh it with: SKILLDB_BLESS=1 cargo test --test schema"
    );
}
