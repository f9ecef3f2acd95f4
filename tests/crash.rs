//! A sync that is killed at any moment: the next one finds a whole database and finishes what was begun.

#![expect(
    clippy::unwrap_used,
    reason = "what cannot be arranged is a failed test"
)]

mod common;
#[path = "common/dice.rs"]
mod dice;

use std::collections::BTreeMap;
use std::fs;
use std::time::{Duration, Instant};

use common::{Library, code};
use dice::Dice;
use sha2::{Digest, Sha256};

const SKILLS: usize = 200;

/// What the files say and which versions of them there were.
struct Files {
    library: Library,
    /// Relative path -> the versions of its SKILL.md that a finished sync may have seen.
    versions: BTreeMap<String, Vec<String>>,
}

impl Files {
    fn new() -> Self {
        let mut files = Self {
            library: Library::new(),
            versions: BTreeMap::new(),
        };
        for number in 0..SKILLS {
            files.write(number, "first");
        }
        files
    }

    fn write(&mut self, number: usize, words: &str) {
        let rel_path = format!("c{}/s{number:03}", number % 9);
        let text = format!(
            "---\nname: s{number:03}\ndescription: {words}\n---\n\n{}\n",
            words.repeat(20)
        );
        self.library
            .write(&format!("skills/{rel_path}/SKILL.md"), text.as_bytes());
        self.library
            .write(&format!("skills/{rel_path}/notes.md"), b"notes");
        self.versions
            .entry(rel_path)
            .or_default()
            .push(hash(text.as_bytes()));
    }

    /// Runs a sync and kills it at a moment drawn from `span` microseconds; `span` follows how long a
    /// sync takes on this machine now. Says when it was killed, and whether that was in time.
    fn kill_sync(&self, args: &[&str], dice: &mut Dice, span: &mut u64) -> (Duration, bool) {
        let micros = dice.roll(*span);
        let after = Duration::from_micros(micros);
        let mut child = self.library.process(args).spawn().unwrap();
        let started = Instant::now();
        // Spinning, because a sleep is only good to some 60 microseconds and phases are shorter.
        while started.elapsed() < after {
            std::hint::spin_loop();
        }
        let was_running = child.try_wait().unwrap().is_none();
        let _ = child.kill();
        child.wait().unwrap();
        *span = if was_running {
            *span + *span / 20
        } else {
            micros.max(1_000)
        };
        (after, was_running)
    }

    /// Checks that one more sync leaves a library in which nothing is lost, doubled or left behind.
    fn assert_healed(&self, context: &str) {
        let library = &self.library;
        let output = library.skilldb(&["sync", "skills"]).output().unwrap();
        assert_eq!(code(&output), 0, "{context}\n{}", library.told(&output));
        assert_eq!(leftovers(library), Vec::<String>::new(), "{context}");
        // One question, because each costs a process.
        let told = library.sql(
            "SELECT * FROM (SELECT 'mirror', rel_path, content_hash, name FROM v_skill ORDER BY rel_path)
             UNION ALL SELECT * FROM (SELECT 'history', s.rel_path, f.after_hash, '' FROM revision_file f
               JOIN revision v ON v.id = f.revision_id JOIN skill s ON s.id = v.skill_id
               WHERE f.path = 'SKILL.md' ORDER BY s.rel_path, v.id)
             UNION ALL SELECT 'queue', count(*), '', '' FROM capture_queue",
        );
        let mirror = self.versions.iter().map(|(path, versions)| {
            let name = path.rsplit('/').next().unwrap();
            format!("mirror\t{path}\t{}\t{name}", versions.last().unwrap())
        });
        let history = self.versions.iter().flat_map(|(path, versions)| {
            versions
                .iter()
                .map(move |hash| format!("history\t{path}\t{hash}\t"))
        });
        let mut wanted: Vec<String> = mirror.chain(history).collect();
        wanted.push("queue\t0\t\t".to_owned());
        let told: Vec<&str> = told.split('\n').collect();
        let differing = told
            .iter()
            .zip(&wanted)
            .find(|(told, wanted)| told.trim_end() != wanted.trim_end());
        assert_eq!(
            differing, None,
            "{context}: mirror, then each version once in order"
        );
        assert_eq!(told.len(), wanted.len(), "{context}");
        let doctor = library.skilldb(&["doctor"]).output().unwrap();
        assert_eq!(code(&doctor), 0, "{context}\n{}", library.told(&doctor));
    }
}

fn hash(bytes: &[u8]) -> String {
    let digest = Sha256::digest(bytes);
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Files in the library's home that belong to no finished command.
fn leftovers(library: &Library) -> Vec<String> {
    fs::read_dir(library.path("data"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| !name.starts_with("skilldb.db") && name != "skilldb.lock")
        .collect()
}

/// How long such a sync takes here: what moments to kill it at are drawn from.
fn length_of(files: &Files, args: &[&str]) -> u64 {
    let started = Instant::now();
    let output = files.library.process(args).output().unwrap();
    assert_eq!(code(&output), 0);
    u64::try_from(started.elapsed().as_micros()).unwrap()
}

#[test]
fn a_killed_first_sync_is_made_good_by_the_next() {
    let mut dice = Dice(1);
    let mut files = Files::new();
    let mut span = length_of(&files, &["sync", "skills"]);
    let mut kills = 0;
    for round in 0..20 {
        for entry in fs::read_dir(files.library.path("data")).unwrap() {
            fs::remove_file(entry.unwrap().path()).unwrap();
        }
        let (after, in_time) = files.kill_sync(&["sync", "skills"], &mut dice, &mut span);
        kills += usize::from(in_time);
        if round % 5 == 0 {
            files.kill_sync(&["sync", "skills"], &mut dice, &mut span);
        }
        files.assert_healed(&format!("round {round}: killed after {after:?}"));
        // One version each is what a new database can know of.
        files
            .versions
            .values_mut()
            .for_each(|versions| drop(versions.drain(..versions.len() - 1)));
    }
    assert!(kills > 5, "only {kills} of 20 were killed in time");
}

#[test]
fn a_killed_sync_of_edits_is_made_good_by_the_next() {
    let mut dice = Dice(2);
    let mut files = Files::new();
    files.assert_healed("the first sync");
    (0..SKILLS).for_each(|number| files.write(number, "measured"));
    let mut span = length_of(&files, &["sync"]);
    let mut kills = 0;
    for round in 0..16 {
        let words = format!("round {round}");
        (0..SKILLS)
            .filter(|number| number % 4 == round % 4)
            .for_each(|number| files.write(number, &words));
        let (after, in_time) = files.kill_sync(&["sync"], &mut dice, &mut span);
        kills += usize::from(in_time);
        files.assert_healed(&format!("round {round}: killed after {after:?}"));
    }
    assert!(kills > 5, "only {kills} of 16 were killed in time");
}

#[test]
fn a_killed_rebuild_is_made_good_by_the_next_sync() {
    let mut dice = Dice(3);
    let mut files = Files::new();
    files.assert_healed("the first sync");
    let ids = "SELECT id, rel_path, created_at FROM skill ORDER BY id";
    let before = files.library.sql(ids);
    let mut span = length_of(&files, &["sync", "--rebuild"]);
    let mut kills = 0;
    for round in 0..20 {
        files.write(round, "edited before the rebuild");
        let (after, in_time) = files.kill_sync(&["sync", "--rebuild"], &mut dice, &mut span);
        kills += usize::from(in_time);
        files.assert_healed(&format!("round {round}: killed after {after:?}"));
        assert_eq!(files.library.sql(ids), before, "round {round}");
    }
    assert!(kills > 5, "only {kills} of 20 were killed in time");
}

#[expect(
    clippy::disallowed_methods,
    reason = "puts the database into a state that only a crash leaves"
)]
fn execute(library: &Library, sql: &str) {
    let database = rusqlite::Connection::open(library.path("data/skilldb.db")).unwrap();
    database.execute_batch(sql).unwrap();
}

#[test]
fn a_sync_cut_off_before_the_bytes_were_kept_is_finished_and_told_by_the_next() {
    let library = Library::new();
    library.skill("a", "first");
    library.skill("b", "second");
    library.write("skills/b/notes.md", b"notes");
    library.sync();
    // The state between the two commits of a sync: mirrored, queued, nothing kept.
    execute(
        &library,
        "DELETE FROM kept_file; DELETE FROM revision_file; DROP TRIGGER revision_is_kept; DELETE FROM revision;
         DELETE FROM blob; INSERT INTO capture_queue (skill_id) SELECT id FROM skill;",
    );
    let report = library.json(&["sync"]);
    assert_eq!(report["added"].as_array().unwrap().len(), 0);
    assert_eq!(report["kept"]["files"], 3);
    assert_eq!(report["wrote"], true);
    assert_eq!(library.sql("SELECT count(*) FROM capture_queue"), "0");
    let history =
        "SELECT name, title, path FROM v_patch_history WHERE path IS NOT NULL ORDER BY name, path";
    assert_eq!(
        library.sql(history),
        "a\tfirst seen\tSKILL.md\nb\tfirst seen\tSKILL.md\nb\tfirst seen\tnotes.md"
    );
    assert_eq!(library.json(&["doctor"])["healthy"], true);
    assert_eq!(library.json(&["sync"])["wrote"], false);
}

#[test]
fn a_queue_of_skills_whose_bytes_are_kept_already_is_emptied_without_a_revision() {
    let library = Library::new();
    library.skill("a", "first");
    library.sync();
    execute(
        &library,
        "INSERT INTO capture_queue (skill_id) SELECT id FROM skill",
    );
    library.json(&["sync"]);
    let counts = "SELECT (SELECT count(*) FROM capture_queue), (SELECT count(*) FROM revision), (SELECT count(*) FROM change)";
    assert_eq!(library.sql(counts), "0\t1\t1");
}

#[test]
fn a_queued_skill_that_vanished_waits_until_it_is_back() {
    let library = Library::new();
    library.skill("a", "first");
    library.skill("b", "second");
    library.sync();
    library.skill("a", "edited");
    execute(
        &library,
        "INSERT INTO capture_queue (skill_id) SELECT id FROM skill WHERE rel_path = 'a'",
    );
    fs::rename(library.path("skills/a"), library.path("aside")).unwrap();
    library.json(&["sync"]);
    fs::rename(library.path("aside"), library.path("skills/a")).unwrap();
    library.json(&["sync"]);
    let counts = "SELECT (SELECT count(*) FROM capture_queue), (SELECT count(*) FROM revision WHERE skill_id = (SELECT id FROM skill WHERE rel_path = 'a'))";
    assert_eq!(library.sql(counts), "0\t2");
}

#[test]
#[expect(
    clippy::disallowed_methods,
    reason = "holds the database open so that its log stays"
)]
fn the_log_of_a_deleted_database_is_not_replayed_into_a_new_one() {
    let library = Library::new();
    library.skill("a", "first");
    library.sync();
    let [database, log] = ["data/skilldb.db", "data/skilldb.db-wal"].map(|rel| library.path(rel));
    let reader = rusqlite::Connection::open(&database).unwrap();
    reader
        .execute_batch("BEGIN; SELECT count(*) FROM skill")
        .unwrap();
    for number in 0..30 {
        library.skill(&format!("s{number}"), "second");
    }
    library.sync();
    fs::copy(&log, library.path("log")).unwrap();
    drop(reader);
    // A killed command leaves its log behind; a person who wants to begin anew deletes the database.
    for entry in fs::read_dir(library.path("data")).unwrap() {
        fs::remove_file(entry.unwrap().path()).unwrap();
    }
    fs::rename(library.path("log"), &log).unwrap();
    fs::remove_dir_all(library.path("skills/a")).unwrap();
    assert!(fs::metadata(&log).unwrap().len() > 0);
    library.sync();
    assert_eq!(library.json(&["doctor"])["healthy"], true);
    assert_eq!(library.sql("SELECT count(*) FROM v_skill"), "30");
}
