//! README.md names every command.

mod common;

use std::fs;
use std::path::Path;

use common::Library;

#[test]
fn readme_names_every_command() {
    let library = Library::new();
    let output = library.skilldb(&["--help"]).output().unwrap();
    let help = String::from_utf8(output.stdout).unwrap();
    let (_, commands) = help.split_once("Commands:\n").unwrap();
    let readme = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md"))
        .unwrap_or_default();
    let missing: Vec<&str> = commands
        .lines()
        .take_while(|line| line.starts_with("  "))
        .filter(|line| !line.starts_with("   "))
        .filter_map(|line| line.split_whitespace().next())
        .filter(|command| !readme.contains(&format!("skilldb {command}")))
        .collect();
    assert!(
        missing.is_empty(),
        "README.md does not name: {}",
        missing.join(", ")
    );
}
