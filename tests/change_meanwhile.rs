//! Somebody else at work in the very moment of a change: between the last look at a file and the write. Nothing of
//! theirs is overwritten, nothing is written through a link that was put in the way.

#![expect(
    clippy::unwrap_used,
    reason = "what cannot be arranged is a failed test"
)]

mod common;
#[path = "common/tree.rs"]
mod trees;

use std::fs;
use std::io::Write;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use common::Library;
use skilldb::Error;
use skilldb::curate::{self, Asked, Periods, Ran, gates};
use skilldb::manage::{Bytes, Outcome, Policy, Request, Settings, Who, Writer};
use skilldb::stop::{Durable, on_durable};
use skilldb::store::Actor;
use skilldb::sync::Silence;
use skilldb::time::Timestamp;
use trees::tree;

/// What is told of flushed files is told to one test at a time.
static ONE: Mutex<()> = Mutex::new(());

fn library() -> Library {
    let library = Library::new();
    library.write(
        "skills/notes/SKILL.md",
        b"---\nname: notes\ndescription: Keeps notes.\n---\nFirst line.\n",
    );
    library.write("skills/notes/references/a.md", b"A.\n");
    library.write("outside/keep.md", b"Keep.\n");
    library.sync();
    library
}

/// The library, opened to change it.
fn writer(library: &Library) -> Writer {
    let settings = Settings {
        home: library.path("data"),
        roots: Vec::new(),
        own_root: library.path("data/skills"),
        policy: Policy::default(),
        support_budget: 1 << 26,
        automations: Vec::new(),
        gate: skilldb::manage::GateSettings::default(),
        is_rehearsal: false,
        now: Timestamp::parse(common::NOW).unwrap(),
    };
    Writer::open(settings, &Silence).unwrap()
}

/// Makes a change while somebody does something as soon as the new bytes lie aside.
fn meanwhile(
    library: &Library,
    request: &Request,
    act: impl FnOnce() + Send + 'static,
) -> Result<Outcome, Error> {
    let who = Who {
        actor: Actor::User,
        session: None,
        reason: None,
    };
    let mut writer = writer(library);
    let mut act = Some(act);
    on_durable(Some(Box::new(move |durable| {
        if matches!(durable, Durable::File(..))
            && let Some(act) = act.take()
        {
            act();
        }
    })));
    let result = writer.run(&who, request);
    on_durable(None);
    result
}

fn put(path: &Path, bytes: &[u8]) {
    fs::File::create(path).unwrap().write_all(bytes).unwrap();
}

fn patch(library: &Library) -> Request {
    Request::Patch {
        skill: library
            .sql("SELECT skill_id FROM manifest")
            .parse()
            .unwrap(),
        file: None,
        find: "First".to_owned(),
        replace: "Second".to_owned(),
        all: false,
        base: None,
    }
}

fn write(library: &Library) -> Request {
    Request::Write {
        skill: library
            .sql("SELECT skill_id FROM manifest")
            .parse()
            .unwrap(),
        file: "references/new.md".to_owned(),
        content: Bytes::Text("New.\n".to_owned()),
        executable: None,
        base: None,
    }
}

fn assert_conflict(library: &Library, result: Result<Outcome, Error>) {
    let error = result.unwrap_err();
    assert_eq!(error.code(), "conflict", "{error}");
    assert_eq!(
        library.sql("SELECT outcome, problem FROM change ORDER BY id DESC LIMIT 1"),
        "failed\tconflict"
    );
    let aside = tree(library.dir())
        .into_keys()
        .find(|path| path.starts_with("skills") && path.contains(".skilldb-"));
    assert_eq!(aside, None);
    assert_eq!(
        fs::read(library.path("outside/keep.md")).unwrap(),
        b"Keep.\n"
    );
}

#[test]
fn an_edit_in_the_very_moment_stays() {
    let _one = ONE.lock();
    let library = library();
    let file = library.path("skills/notes/SKILL.md");
    let theirs = b"---\nname: notes\ndescription: Keeps notes.\n---\nTheirs.\n";
    let place = file.clone();
    let result = meanwhile(&library, &patch(&library), move || put(&place, theirs));
    assert_conflict(&library, result);
    assert_eq!(fs::read(&file).unwrap(), theirs);
    // It is in the history with the next command that looks.
    library.sync();
    assert!(library.run(&["diff", "notes"]).contains("+Theirs."));
}

#[test]
fn an_edit_that_replaces_the_file_in_the_very_moment_stays() {
    let _one = ONE.lock();
    let library = library();
    let file = library.path("skills/notes/SKILL.md");
    let place = file.clone();
    let result = meanwhile(&library, &patch(&library), move || {
        let aside = place.with_file_name("saved");
        put(&aside, b"Saved by an editor.\n");
        fs::rename(aside, place).unwrap();
    });
    assert_conflict(&library, result);
    assert_eq!(fs::read(&file).unwrap(), b"Saved by an editor.\n");
}

#[test]
fn a_link_put_in_the_place_of_the_file_is_not_written_through() {
    let _one = ONE.lock();
    let library = library();
    let (file, outside) = (
        library.path("skills/notes/SKILL.md"),
        library.path("outside/keep.md"),
    );
    let (place, target) = (file.clone(), outside.clone());
    let result = meanwhile(&library, &patch(&library), move || {
        fs::remove_file(&place).unwrap();
        symlink(&target, &place).unwrap();
    });
    assert_conflict(&library, result);
    assert_eq!(fs::read_link(&file).unwrap(), outside);
}

#[test]
fn a_link_put_in_the_place_of_the_folder_is_not_written_through() {
    let _one = ONE.lock();
    let library = library();
    let folder: PathBuf = library.path("skills/notes/references");
    let outside = library.path("outside");
    let (place, target) = (folder.clone(), outside.clone());
    let result = meanwhile(&library, &write(&library), move || {
        fs::rename(&place, place.with_file_name("was")).unwrap();
        symlink(&target, &place).unwrap();
    });
    let error = result.unwrap_err();
    assert_eq!(error.code(), "conflict", "{error}");
    assert_eq!(
        fs::read_dir(&outside).unwrap().count(),
        1,
        "nothing was put behind the link"
    );
    assert_eq!(fs::read_link(&folder).unwrap(), outside);
}

#[test]
fn a_file_made_in_the_very_moment_stays() {
    let _one = ONE.lock();
    let library = library();
    let file = library.path("skills/notes/references/new.md");
    let place = file.clone();
    let result = meanwhile(&library, &write(&library), move || {
        put(&place, b"Theirs.\n");
    });
    assert_conflict(&library, result);
    assert_eq!(fs::read(&file).unwrap(), b"Theirs.\n");
}

#[test]
fn a_file_removed_in_the_very_moment_stays_removed() {
    let _one = ONE.lock();
    let library = library();
    let file = library.path("skills/notes/SKILL.md");
    let place = file.clone();
    let result = meanwhile(&library, &patch(&library), move || {
        fs::remove_file(&place).unwrap();
    });
    assert_conflict(&library, result);
    assert!(!file.exists());
}

/// A run of the curator on a library in which `notes` is due, while somebody does something as soon as the plan is in
/// the journal.
fn aged_meanwhile(library: &Library, act: impl FnOnce() + Send + 'static) -> Result<Ran, Error> {
    library.json(&["adopt", "notes", "--as", "agent"]);
    library.json(&[
        "record",
        "use",
        "notes",
        "--event-id",
        "a",
        "--at",
        "2025-01-01T00:00:00.000Z",
    ]);
    let settings = curate::Settings {
        gates: gates::Settings {
            enabled: true,
            interval_hours: 168,
            min_idle_hours: 2.0,
        },
        periods: Periods::default(),
        automations: Vec::new(),
        policy: Policy::default(),
    };
    let asked = Asked {
        who: Who {
            actor: Actor::User,
            session: None,
            reason: None,
        },
        is_forced: true,
        is_running: false,
    };
    let mut writer = writer(library);
    let mut act = Some(act);
    on_durable(Some(Box::new(move |durable| {
        if matches!(durable, Durable::Database(..))
            && let Some(act) = act.take()
        {
            act();
        }
    })));
    let result = curate::run(&mut writer, &settings, &asked, &Silence);
    on_durable(None);
    result
}

#[test]
fn an_edit_in_the_moment_of_a_run_goes_into_the_archive_and_is_a_persons() {
    let _one = ONE
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner);
    let library = library();
    let path = library.path("skills/notes/SKILL.md");
    let edited = b"---\nname: notes\ndescription: Keeps notes.\n---\nWritten in that moment.\n";
    aged_meanwhile(&library, move || put(&path, edited)).unwrap();
    let archived = library.path("skills/.archive/notes/SKILL.md");
    assert_eq!(fs::read(archived).unwrap(), edited);
    library.json(&["sync"]);
    let titles = library.sql(
        "SELECT title FROM v_patch_history WHERE name = 'notes' ORDER BY change_id DESC LIMIT 1",
    );
    assert_eq!(titles, "SKILL.md edited outside skilldb");
    assert_eq!(
        library.sql("SELECT human_edited_at IS NOT NULL FROM skill"),
        "1"
    );
}

#[test]
fn a_folder_that_is_put_in_the_place_of_a_skill_stops_a_run_and_stays() {
    let _one = ONE
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner);
    let library = library();
    let (skills, kept) = (library.path("skills"), library.path("elsewhere"));
    let error = aged_meanwhile(&library, move || {
        fs::rename(skills.join("notes"), kept).unwrap();
        fs::create_dir(skills.join("notes")).unwrap();
        put(
            &skills.join("notes/SKILL.md"),
            b"---\nname: notes\ndescription: Another.\n---\n",
        );
    })
    .unwrap_err();
    assert_eq!(error.code(), "conflict", "{error}");
    assert!(library.path("elsewhere/SKILL.md").is_file());
    let text = fs::read_to_string(library.path("skills/notes/SKILL.md")).unwrap();
    assert!(text.contains("Another"), "{text}");
    assert_eq!(library.sql("SELECT state FROM skill"), "active");
    assert_eq!(
        library.sql("SELECT status, problem IS NOT NULL FROM v_curator_run"),
        "failed\t1"
    );
}
