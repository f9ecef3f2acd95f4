//! The schemas the database went through.

use std::fs;
use std::path::Path;

/// The migrations as files, oldest first: number, name and statements.
pub(crate) fn migrations() -> Vec<(i32, String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("migrations");
    let mut all: Vec<(i32, String, String)> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| {
            let path = entry.unwrap().path();
            let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
            let number = name[1..].split("__").next().unwrap().parse().unwrap();
            (number, name, fs::read_to_string(path).unwrap())
        })
        .collect();
    all.sort();
    all
}

/// The number of the last of them.
pub(crate) fn newest() -> i32 {
    migrations().last().unwrap().0
}
