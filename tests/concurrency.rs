//! Several skilldb at once, as real processes: whoever comes second waits, reads on, or finds the work done.

#![expect(
    clippy::unwrap_used,
    reason = "what cannot be arranged is a failed test"
)]

mod common;

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Output};

use common::{Library, code};
use serde_json::Value;

const PROCESSES: usize = 8;

/// Starts the command so many times, then waits for all.
fn at_once(library: &Library, args: &[&str], count: usize) -> Vec<Output> {
    let children: Vec<Child> = (0..count)
        .map(|_| library.process(args).spawn().unwrap())
        .collect();
    children
        .into_iter()
        .map(|child| child.wait_with_output().unwrap())
        .collect()
}

fn all_succeeded(library: &Library, outputs: &[Output]) {
    for output in outputs {
        assert_eq!(code(output), 0, "{}", library.told(output));
    }
}

/// How many entries of a list the reports hold together.
fn total(outputs: &[Output], key: &str) -> usize {
    let count = |output: &Output| {
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        report[key].as_array().unwrap().len()
    };
    outputs.iter().map(count).sum()
}

/// Rows of skills, of changes, of revisions, of kept files and of what waits to be kept.
const COUNTS: &str = "SELECT (SELECT count(*) FROM skill), (SELECT count(*) FROM manifest), (SELECT count(*) FROM change),
    (SELECT count(*) FROM revision), (SELECT count(*) FROM kept_file), (SELECT count(*) FROM capture_queue)";

fn fill(library: &Library, count: usize) {
    for number in 0..count {
        let category = number % 7;
        library.skill(
            &format!("c{category}/s{number:03}"),
            &format!("number {number}"),
        );
    }
}

#[test]
fn eight_first_syncs_at_once_make_one_library() {
    for _ in 0..3 {
        let library = Library::new();
        fill(&library, 60);
        let outputs = at_once(&library, &["sync", "skills", "--json"], PROCESSES);
        all_succeeded(&library, &outputs);
        assert_eq!(total(&outputs, "added"), 60);
        assert_eq!(library.sql(COUNTS), "60\t60\t1\t60\t60\t0");
        assert_eq!(library.json(&["doctor"])["healthy"], true);
    }
}

#[test]
fn eight_syncs_of_a_changed_library_record_each_change_once() {
    let library = Library::new();
    fill(&library, 60);
    library.sync();
    for round in 1..=3 {
        for number in 0..10 {
            let category = number % 7;
            library.skill(
                &format!("c{category}/s{number:03}"),
                &format!("round {round}"),
            );
        }
        let outputs = at_once(&library, &["sync", "--json"], PROCESSES);
        all_succeeded(&library, &outputs);
        assert_eq!(total(&outputs, "changed"), 10, "round {round}");
        let wanted = format!("60\t60\t{}\t{}\t60\t0", 1 + round, 60 + 10 * round);
        assert_eq!(library.sql(COUNTS), wanted, "round {round}");
    }
    assert_eq!(library.json(&["doctor"])["healthy"], true);
}

#[test]
fn eight_syncs_of_different_roots_at_once_add_all_of_them() {
    let library = Library::new();
    let roots: Vec<String> = (0..PROCESSES)
        .map(|number| format!("root{number}"))
        .collect();
    for root in &roots {
        for number in 0..5 {
            let text = format!("---\nname: s{number}\ndescription: of {root}\n---\n");
            library.write(&format!("{root}/s{number}/SKILL.md"), text.as_bytes());
        }
    }
    let children: Vec<Child> = roots
        .iter()
        .map(|root| library.process(&["sync", root]).spawn().unwrap())
        .collect();
    for child in children {
        let output = child.wait_with_output().unwrap();
        assert_eq!(code(&output), 0, "{}", library.told(&output));
    }
    assert_eq!(library.sql("SELECT count(*) FROM skill_root"), "8");
    assert_eq!(library.sql("SELECT count(*) FROM v_skill"), "40");
}

#[test]
fn rebuilds_edits_and_readers_at_once_all_succeed() {
    let library = Library::new();
    fill(&library, 40);
    library.sync();
    let commands: [&[&str]; 8] = [
        &["sync", "--rebuild"],
        &["sync"],
        &["list"],
        &["doctor"],
        &["sync", "--checksum"],
        &["sql", "SELECT count(*) FROM v_skill"],
        &["sync", "--rebuild"],
        &["show", "s001"],
    ];
    let children: Vec<(&[&str], Child)> = commands
        .into_iter()
        .map(|args| (args, library.process(args).spawn().unwrap()))
        .collect();
    for (args, child) in children {
        let output = child.wait_with_output().unwrap();
        assert_eq!(code(&output), 0, "{args:?}\n{}", library.told(&output));
        if args.first() == Some(&"sql") {
            assert_eq!(output.stdout, b"40\n");
        }
    }
    assert_eq!(library.sql(COUNTS), "40\t40\t1\t40\t40\t0");
}

#[test]
fn readers_never_fail_while_a_sync_runs() {
    let library = Library::new();
    fill(&library, 300);
    library.sync();
    for number in 0..300 {
        let category = number % 7;
        library.skill(
            &format!("c{category}/s{number:03}"),
            &format!("edited {number}"),
        );
    }
    let mut sync = library
        .process(&["sync", "--rebuild", "--quiet"])
        .spawn()
        .unwrap();
    let mut reads = 0;
    loop {
        let is_over = sync.try_wait().unwrap().is_some();
        let output = library.process(&["list"]).output().unwrap();
        assert_eq!(code(&output), 0, "{}", library.told(&output));
        let lines = output.stdout.iter().filter(|byte| **byte == b'\n').count();
        assert_eq!(
            lines, 300,
            "a reader sees the library before or after, never between"
        );
        reads += 1;
        if is_over {
            break;
        }
    }
    assert!(reads > 1, "the sync was over before anybody read");
    assert_eq!(code(&sync.wait_with_output().unwrap()), 0);
}

#[test]
fn readers_of_a_library_that_is_being_made_see_none_or_all_of_it() {
    let library = Library::new();
    fill(&library, 300);
    let mut sync = library
        .process(&["sync", "skills", "--quiet"])
        .spawn()
        .unwrap();
    loop {
        let is_over = sync.try_wait().unwrap().is_some();
        let output = library.process(&["list"]).output().unwrap();
        let told = library.told(&output);
        match code(&output) {
            0 => assert_eq!(
                output.stdout.iter().filter(|byte| **byte == b'\n').count(),
                300
            ),
            exit => assert!(exit == 1 && told.contains("no library at"), "{told}"),
        }
        if is_over {
            break;
        }
    }
    assert_eq!(code(&sync.wait_with_output().unwrap()), 0);
}

#[test]
#[expect(
    clippy::disallowed_methods,
    reason = "stands for another program that reads the database"
)]
fn a_reader_that_holds_the_database_does_not_block_a_sync() {
    let library = Library::new();
    fill(&library, 20);
    library.sync();
    let reader = rusqlite::Connection::open(library.path("data/skilldb.db")).unwrap();
    reader.execute_batch("BEGIN").unwrap();
    let count = |sql| {
        reader
            .query_row(sql, [], |row| row.get::<_, i64>(0))
            .unwrap()
    };
    let query = "SELECT count(*) FROM v_skill";
    assert_eq!(count(query), 20);
    library.skill("new", "added meanwhile");
    fs::remove_dir_all(library.path("skills/c0/s000")).unwrap();
    library.skill("c1/s001", "edited meanwhile");
    assert_eq!(library.sync()["added"].as_array().unwrap().len(), 1);
    library.json(&["sync", "--rebuild"]);
    assert_eq!(
        count("SELECT count(*) FROM v_skill WHERE name = 'new'"),
        0,
        "its own snapshot"
    );
    reader.execute_batch("COMMIT").unwrap();
    assert_eq!(count("SELECT count(*) FROM v_skill WHERE name = 'new'"), 1);
}

#[test]
fn a_sync_waits_for_the_lock_says_so_and_goes_on_when_its_holder_is_gone() {
    let library = Library::new();
    fill(&library, 3);
    library.sync();
    library.skill("new", "added");
    let lock = File::options()
        .write(true)
        .open(library.path("data/skilldb.lock"))
        .unwrap();
    lock.lock().unwrap();
    let mut waiting = library.process(&["sync", "skills"]).spawn().unwrap();
    let mut told = BufReader::new(waiting.stderr.take().unwrap());
    let mut line = String::new();
    told.read_line(&mut line).unwrap();
    assert!(line.contains("waiting"), "{line}");
    assert!(waiting.try_wait().unwrap().is_none());
    drop(lock);
    told.read_to_string(&mut line).unwrap();
    assert_eq!(code(&waiting.wait_with_output().unwrap()), 0, "{line}");
    assert_eq!(library.sql("SELECT count(*) FROM v_skill"), "4");
}
