//! What a sync makes of each way in which a folder of skills changes between two syncs. Every story runs
//! twice: with stamps that can be trusted, and with stamps so new that only reading tells. Afterwards the
//! mirror has to be what a first sync of the same files makes of them.

#![expect(
    clippy::unwrap_used,
    reason = "what cannot be arranged is a failed test"
)]

mod common;

use std::fs::{self, File, FileTimes};
use std::io::Write;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::thread;
use std::time::{Duration, SystemTime};

use common::{Library, code};
use serde_json::Value;
use skilldb::library::{Entry, EntryKind, Stat, Unit};

/// What can be known from stamps at the second sync.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stamps {
    /// Older than the tick of the clock: equal stamps prove that nothing changed.
    Settled,
    /// In the future, so that equal stamps prove nothing.
    Racy,
}

/// Tells a story with settled stamps and with racy ones.
fn both_ways(story: impl Fn(Stamps)) {
    story(Stamps::Settled);
    story(Stamps::Racy);
}

/// The library's first sync, with the stamps the story wants.
fn first_sync(library: &Library, stamps: Stamps) {
    match stamps {
        // Nothing can set the time of the last change (ctime), so it has to grow old by itself.
        Stamps::Settled => thread::sleep(Duration::from_millis(25)),
        Stamps::Racy => postdate(&library.path("skills")),
    }
    library.sync();
}

/// Gives everything in a folder a time of the last write far in the future.
fn postdate(path: &Path) {
    let future = SystemTime::UNIX_EPOCH + Duration::from_secs(4_102_444_800);
    if path.is_dir() {
        for entry in fs::read_dir(path).unwrap() {
            postdate(&entry.unwrap().path());
        }
    }
    if path.exists() {
        set_times(path, future);
    }
}

fn set_times(path: &Path, time: SystemTime) {
    let times = FileTimes::new().set_modified(time).set_accessed(time);
    File::open(path).unwrap().set_times(times).unwrap();
}

/// The skills a report names, each after a sign for what happened to it.
fn told(report: &Value) -> String {
    let kinds = [
        ("+", "added"),
        ("~", "changed"),
        (">", "moved"),
        ("-", "missing"),
        ("<", "back"),
    ];
    let mut words: Vec<String> = Vec::new();
    for (sign, key) in kinds {
        for skill in report[key].as_array().unwrap() {
            words.push(format!("{sign}{}", skill["name"].as_str().unwrap()));
        }
    }
    words.sort();
    words.join(" ")
}

/// Where each skill is, and its id.
fn places(library: &Library) -> String {
    library.sql("SELECT rel_path, id FROM v_skill ORDER BY rel_path")
}

fn id(library: &Library, rel_path: &str) -> String {
    library.sql(&format!(
        "SELECT id FROM skill WHERE rel_path = '{rel_path}'"
    ))
}

/// The history of one skill: the title of each revision and how many files it touched.
fn history(library: &Library, id: &str) -> String {
    library.sql(&format!(
        "SELECT title, count(path) FROM v_patch_history WHERE skill_id = {id} GROUP BY revision_id ORDER BY revision_id"
    ))
}

/// All the mirror says, without the numbers of rows.
const MIRROR: &str = "
    SELECT 'skill' AS kind, rel_path, name || ' ' || coalesce(declared_name, '-') || ' ' || folder || ' ' || category AS a,
           coalesce(description, '-') || ' ' || file_name || ' ' || state || ' ' || parse_status AS b,
           content_hash || ' ' || text_hash || ' ' || size AS c, frontmatter AS d
    FROM v_skill
    UNION ALL
    SELECT 'file', s.rel_path, f.rel_path, f.kind || ' ' || f.size || ' ' || f.mode, f.modified_at, coalesce(f.link_target, '-')
    FROM v_file f JOIN skill s ON s.id = f.skill_id WHERE s.missing_since IS NULL
    UNION ALL
    SELECT 'finding', path, code || ' ' || coalesce(line, 0), coalesce(severity, '-'), message, coalesce(suggestion, '-')
    FROM v_diagnostic
    UNION ALL
    SELECT 'layout', s.rel_path, m.tree_hash, m.body_offset || ' ' || m.mtime_ns || ' ' || m.ctime_ns, m.inode, ''
    FROM manifest m JOIN skill s ON s.id = m.skill_id WHERE s.missing_since IS NULL
    UNION ALL
    SELECT 'tag', s.rel_path, t.tag, '', '', '' FROM skill_tag t JOIN skill s ON s.id = t.skill_id WHERE s.missing_since IS NULL
    ORDER BY 1, 2, 3, 4, 5, 6";

/// Compares the mirror with what a library that never saw these files before makes of them.
fn assert_as_a_first_sync(library: &Library, context: &str) {
    let fresh = library.path("fresh");
    if fresh.exists() {
        fs::remove_dir_all(&fresh).unwrap();
    }
    let fresh = fresh.to_str().unwrap().to_owned();
    let synced = library
        .skilldb(&["--home", &fresh, "sync", "skills"])
        .output();
    assert_eq!(code(&synced.unwrap()), 0);
    let wanted = library.skilldb(&["--home", &fresh, "sql", MIRROR]).output();
    let wanted = String::from_utf8(wanted.unwrap().stdout).unwrap();
    let found = library.sql(MIRROR);
    let only_in = |these: &str, those: &str| -> Vec<String> {
        let differs = |line: &&str| !those.lines().any(|other| other == *line);
        these.lines().filter(differs).map(str::to_owned).collect()
    };
    let [more, less] =
        [only_in(&found, &wanted), only_in(&wanted, &found)].map(|lines| lines.join("\n"));
    let counts = [found.lines().count(), wanted.lines().count()];
    assert!(
        more.is_empty() && less.is_empty() && counts[0] == counts[1],
        "{context}\nonly in the mirror:\n{more}\nonly after a first sync:\n{less}\nlines: {counts:?}"
    );
    let doctor = library.skilldb(&["doctor"]).output().unwrap();
    assert_eq!(code(&doctor), 0, "{context}\n{}", library.told(&doctor));
}

/// Runs a story of one change: arrange, first sync, act, second sync, and what the second has to tell.
fn story(arrange: impl Fn(&Library), act: impl Fn(&Library), expected: &str) {
    both_ways(|stamps| {
        let library = Library::new();
        arrange(&library);
        first_sync(&library, stamps);
        act(&library);
        let report = library.sync();
        assert_eq!(told(&report), expected, "{stamps:?}");
        assert_as_a_first_sync(&library, &format!("{stamps:?}"));
        let again = library.sync();
        assert_eq!(told(&again), "", "{stamps:?}: the sync after it");
        assert_eq!(again["wrote"], false, "{stamps:?}: the sync after it");
    });
}

fn a_and_b(library: &Library) {
    library.skill("a", "first");
    library.skill("b", "second");
}

#[test]
fn an_edit_is_told_as_a_change_of_that_skill() {
    story(a_and_b, |l| drop(l.skill("a", "edited")), "~a");
}

#[test]
fn an_edit_of_the_same_size_is_told() {
    story(a_and_b, |l| drop(l.skill("a", "FIRST")), "~a");
}

#[test]
fn an_edit_that_puts_size_and_time_back_is_told() {
    let act = |library: &Library| {
        let path = library.path("skills/a/SKILL.md");
        let before = fs::metadata(&path).unwrap().modified().unwrap();
        library.skill("a", "FIRST");
        set_times(&path, before);
    };
    story(a_and_b, act, "~a");
}

#[test]
fn a_touched_file_is_no_change() {
    let act = |library: &Library| {
        set_times(&library.path("skills/a/SKILL.md"), SystemTime::UNIX_EPOCH);
    };
    story(a_and_b, act, "");
}

#[test]
fn a_file_replaced_by_an_equal_one_is_no_change() {
    let act = |library: &Library| {
        let path = library.path("skills/a/SKILL.md");
        fs::copy(&path, library.path("new")).unwrap();
        fs::rename(library.path("new"), path).unwrap();
    };
    story(a_and_b, act, "");
}

#[test]
fn a_new_folder_is_added() {
    story(a_and_b, |l| drop(l.skill("c", "third")), "+c");
}

#[test]
fn a_new_folder_in_a_new_category_is_added() {
    story(a_and_b, |l| drop(l.skill("x/y/c", "third")), "+c");
}

#[test]
fn a_removed_folder_is_missing() {
    let act = |library: &Library| fs::remove_dir_all(library.path("skills/a")).unwrap();
    story(a_and_b, act, "-a");
}

#[test]
fn a_folder_whose_skill_file_is_removed_is_missing() {
    let arrange = |library: &Library| {
        a_and_b(library);
        library.write("skills/a/notes.md", b"stays");
    };
    let act = |library: &Library| fs::remove_file(library.path("skills/a/SKILL.md")).unwrap();
    story(arrange, act, "-a");
}

#[test]
fn a_folder_replaced_by_a_file_is_missing() {
    let act = |library: &Library| {
        fs::remove_dir_all(library.path("skills/a")).unwrap();
        library.write("skills/a", b"no folder");
    };
    story(a_and_b, act, "-a");
}

#[test]
fn a_category_replaced_by_a_file_and_back_is_followed() {
    both_ways(|stamps| {
        let library = Library::new();
        library.skill("cat/a", "first");
        library.skill("b", "second");
        first_sync(&library, stamps);
        let before = places(&library);
        fs::rename(library.path("skills/cat"), library.path("aside")).unwrap();
        library.write("skills/cat", b"no folder");
        assert_eq!(told(&library.sync()), "-a", "{stamps:?}");
        fs::remove_file(library.path("skills/cat")).unwrap();
        fs::rename(library.path("aside"), library.path("skills/cat")).unwrap();
        assert_eq!(told(&library.sync()), "<a", "{stamps:?}");
        assert_eq!(places(&library), before, "{stamps:?}");
        assert_as_a_first_sync(&library, &format!("{stamps:?}"));
    });
}

#[test]
fn a_folder_that_comes_back_is_the_same_life() {
    both_ways(|stamps| {
        let library = Library::new();
        a_and_b(&library);
        first_sync(&library, stamps);
        let before = places(&library);
        fs::rename(library.path("skills/a"), library.path("aside")).unwrap();
        assert_eq!(told(&library.sync()), "-a", "{stamps:?}");
        fs::rename(library.path("aside"), library.path("skills/a")).unwrap();
        assert_eq!(told(&library.sync()), "<a", "{stamps:?}");
        assert_eq!(places(&library), before, "{stamps:?}");
        let states = library.sql("SELECT from_state, to_state FROM v_transition ORDER BY id");
        assert_eq!(states, "active\tmissing\nmissing\tactive", "{stamps:?}");
        assert_as_a_first_sync(&library, &format!("{stamps:?}"));
    });
}

#[test]
fn a_move_is_the_same_life_with_its_history() {
    both_ways(|stamps| {
        let library = Library::new();
        a_and_b(&library);
        library.write("skills/a/scripts/run.sh", b"echo\n");
        first_sync(&library, stamps);
        let a = id(&library, "a");
        fs::create_dir(library.path("skills/cat")).unwrap();
        fs::rename(library.path("skills/a"), library.path("skills/cat/z")).unwrap();
        let report = library.sync();
        assert_eq!(told(&report), ">a", "{stamps:?}");
        assert_eq!(report["moved"][0]["from"], "a");
        assert_eq!(id(&library, "cat/z"), a, "{stamps:?}");
        assert_eq!(
            history(&library, &a),
            "first seen\t2\nmoved from a to cat/z\t1",
            "{stamps:?}"
        );
        library.skill("cat/z", "edited");
        assert_eq!(told(&library.sync()), "~z", "{stamps:?}");
        let file = "SELECT before_hash = (SELECT after_hash FROM v_patch_history WHERE title = 'first seen' AND skill_id = h.skill_id AND path = h.path)
            FROM v_patch_history h WHERE title LIKE 'SKILL.md edited%'";
        assert_eq!(
            library.sql(file),
            "1",
            "{stamps:?}: the edit starts from the first bytes"
        );
        assert_as_a_first_sync(&library, &format!("{stamps:?}"));
    });
}

#[test]
fn a_folder_that_holds_other_supporting_bytes_is_no_move() {
    let arrange = |library: &Library| {
        a_and_b(library);
        library.write("skills/a/scripts/run.sh", b"echo 1\n");
    };
    let act = |library: &Library| {
        fs::rename(library.path("skills/a"), library.path("skills/c")).unwrap();
        library.write("skills/c/scripts/run.sh", b"echo 2\n");
    };
    story(arrange, act, "+a -a");
}

#[test]
fn two_equal_folders_that_move_at_once_are_not_guessed() {
    both_ways(|stamps| {
        let library = Library::new();
        let text = b"---\nname: twin\ndescription: same\n---\n";
        library.write("skills/a/SKILL.md", text);
        library.write("skills/b/SKILL.md", text);
        library.skill("stays", "third");
        first_sync(&library, stamps);
        fs::rename(library.path("skills/a"), library.path("skills/c")).unwrap();
        fs::rename(library.path("skills/b"), library.path("skills/d")).unwrap();
        let report = library.sync();
        assert_eq!(told(&report), "+twin +twin -twin -twin", "{stamps:?}");
        assert_eq!(report["relink"].as_array().unwrap().len(), 4, "{stamps:?}");
        assert_as_a_first_sync(&library, &format!("{stamps:?}"));
    });
}

#[test]
fn a_folder_of_many_skills_moved_at_once_keeps_all_ids() {
    both_ways(|stamps| {
        let library = Library::new();
        for number in 0..12 {
            library.skill(
                &format!("cat/sub/s{number:02}"),
                &format!("number {number}"),
            );
        }
        first_sync(&library, stamps);
        let before = library.sql("SELECT name, id FROM v_skill ORDER BY name");
        fs::create_dir(library.path("skills/other")).unwrap();
        fs::rename(
            library.path("skills/cat/sub"),
            library.path("skills/other/sub"),
        )
        .unwrap();
        let report = library.sync();
        assert_eq!(report["moved"].as_array().unwrap().len(), 12, "{stamps:?}");
        assert_eq!(told(&report).matches('>').count(), 12, "{stamps:?}");
        let after = library.sql("SELECT name, id FROM v_skill ORDER BY name");
        assert_eq!(after, before, "{stamps:?}");
        assert_as_a_first_sync(&library, &format!("{stamps:?}"));
    });
}

#[test]
fn a_renamed_category_takes_its_skills_along() {
    let arrange = |library: &Library| {
        library.skill("cat/a", "first");
        library.skill("cat/b", "second");
        library.skill("cat/deep/c", "third");
    };
    let act = |library: &Library| {
        fs::rename(library.path("skills/cat"), library.path("skills/category")).unwrap();
    };
    story(arrange, act, ">a >b >c");
}

#[test]
fn two_folders_that_swap_names_are_two_changes() {
    both_ways(|stamps| {
        let library = Library::new();
        a_and_b(&library);
        first_sync(&library, stamps);
        let before = places(&library);
        let [a, b, aside] = ["skills/a", "skills/b", "aside"].map(|rel| library.path(rel));
        fs::rename(&a, &aside).unwrap();
        fs::rename(&b, &a).unwrap();
        fs::rename(&aside, &b).unwrap();
        // The place is the life: what lies at `a` is called `b` now.
        assert_eq!(told(&library.sync()), "~a ~b", "{stamps:?}");
        assert_eq!(places(&library), before, "{stamps:?}");
        assert_as_a_first_sync(&library, &format!("{stamps:?}"));
    });
}

#[test]
fn a_skill_file_in_a_category_makes_the_skills_below_it_parts_of_it() {
    let arrange = |library: &Library| {
        library.skill("cat/a", "first");
        library.skill("cat/deep/b", "second");
        library.skill("c", "third");
    };
    story(arrange, |l| drop(l.skill("cat", "whole")), "+cat -a -b");
}

#[test]
fn a_category_becomes_a_skill_and_a_category_again() {
    both_ways(|stamps| {
        let library = Library::new();
        library.skill("cat/a", "first");
        library.skill("cat/deep/b", "second");
        library.skill("c", "third");
        first_sync(&library, stamps);
        let before = places(&library);
        library.skill("cat", "whole");
        library.sync();
        fs::remove_file(library.path("skills/cat/SKILL.md")).unwrap();
        assert_eq!(told(&library.sync()), "-cat <a <b", "{stamps:?}");
        assert_eq!(places(&library), before, "{stamps:?}");
        assert_as_a_first_sync(&library, &format!("{stamps:?}"));
    });
}

#[test]
fn a_category_that_becomes_a_skill_while_a_skill_below_it_is_edited_is_one_skill() {
    let arrange = |library: &Library| {
        library.skill("cat/a", "first");
        library.skill("b", "second");
    };
    let act = |library: &Library| {
        library.skill("cat", "whole");
        library.skill("cat/a", "edited");
    };
    story(arrange, act, "+cat -a");
}

#[test]
fn a_skill_moved_into_the_archive_is_archived_and_out_of_it_active() {
    both_ways(|stamps| {
        let library = Library::new();
        a_and_b(&library);
        first_sync(&library, stamps);
        let before = library.sql("SELECT name, id FROM v_skill ORDER BY name");
        fs::create_dir(library.path("skills/.archive")).unwrap();
        fs::rename(library.path("skills/a"), library.path("skills/.archive/a")).unwrap();
        assert_eq!(told(&library.sync()), ">a", "{stamps:?}");
        assert_eq!(
            library.sql("SELECT state FROM v_skill WHERE name = 'a'"),
            "archived"
        );
        assert_as_a_first_sync(&library, &format!("{stamps:?}"));
        fs::rename(library.path("skills/.archive/a"), library.path("skills/a")).unwrap();
        assert_eq!(told(&library.sync()), ">a", "{stamps:?}");
        assert_eq!(
            library.sql("SELECT state FROM v_skill WHERE name = 'a'"),
            "active"
        );
        let after = library.sql("SELECT name, id FROM v_skill ORDER BY name");
        assert_eq!(after, before, "{stamps:?}");
        assert_as_a_first_sync(&library, &format!("{stamps:?}"));
    });
}

// ------------------------------------------------------------------ supporting files

fn a_with_a_script(library: &Library) {
    a_and_b(library);
    library.write("skills/a/scripts/run.sh", b"echo 1\n");
}

#[test]
fn a_supporting_file_edited_in_place_is_a_change() {
    let act = |library: &Library| drop(library.write("skills/a/scripts/run.sh", b"echo 22\n"));
    story(a_with_a_script, act, "~a");
}

#[test]
fn a_supporting_file_edited_to_the_same_size_is_a_change() {
    let act = |library: &Library| drop(library.write("skills/a/scripts/run.sh", b"echo 2\n"));
    story(a_with_a_script, act, "~a");
}

#[test]
fn a_supporting_file_whose_size_and_time_are_put_back_is_a_change() {
    let act = |library: &Library| {
        let path = library.path("skills/a/scripts/run.sh");
        let before = fs::metadata(&path).unwrap().modified().unwrap();
        library.write("skills/a/scripts/run.sh", b"echo 2\n");
        set_times(&path, before);
    };
    story(a_with_a_script, act, "~a");
}

#[test]
fn a_touched_supporting_file_is_no_change() {
    let act = |library: &Library| {
        set_times(
            &library.path("skills/a/scripts/run.sh"),
            SystemTime::UNIX_EPOCH,
        );
    };
    story(a_with_a_script, act, "");
}

#[test]
fn an_added_supporting_file_is_a_change() {
    let act = |library: &Library| drop(library.write("skills/a/scripts/more/two.sh", b"echo 2\n"));
    story(a_with_a_script, act, "~a");
}

#[test]
fn a_removed_supporting_file_is_a_change() {
    let act = |library: &Library| fs::remove_file(library.path("skills/a/scripts/run.sh")).unwrap();
    story(a_with_a_script, act, "~a");
}

#[test]
fn a_supporting_file_made_executable_is_a_change() {
    let act = |library: &Library| {
        let path = library.path("skills/a/scripts/run.sh");
        fs::set_permissions(path, PermissionsExt::from_mode(0o755)).unwrap();
    };
    story(a_with_a_script, act, "~a");
}

#[test]
fn other_permissions_of_a_supporting_file_are_mirrored_without_being_a_change() {
    let act = |library: &Library| {
        let path = library.path("skills/a/scripts/run.sh");
        fs::set_permissions(path, PermissionsExt::from_mode(0o600)).unwrap();
    };
    story(a_with_a_script, act, "");
}

#[test]
fn a_supporting_file_replaced_by_a_folder_is_a_change_and_so_is_the_way_back() {
    both_ways(|stamps| {
        let library = Library::new();
        a_with_a_script(&library);
        first_sync(&library, stamps);
        let path = library.path("skills/a/scripts/run.sh");
        fs::remove_file(&path).unwrap();
        library.write("skills/a/scripts/run.sh/inner", b"x\n");
        assert_eq!(told(&library.sync()), "~a", "{stamps:?}");
        assert_as_a_first_sync(&library, &format!("{stamps:?}: a folder now"));
        fs::remove_dir_all(&path).unwrap();
        library.write("skills/a/scripts/run.sh", b"echo 1\n");
        assert_eq!(told(&library.sync()), "~a", "{stamps:?}");
        assert_as_a_first_sync(&library, &format!("{stamps:?}: a file again"));
    });
}

#[test]
fn a_skill_file_replaced_by_a_folder_is_missing_and_back_afterwards() {
    both_ways(|stamps| {
        let library = Library::new();
        a_and_b(&library);
        first_sync(&library, stamps);
        let before = places(&library);
        let path = library.path("skills/a/SKILL.md");
        fs::remove_file(&path).unwrap();
        fs::create_dir(&path).unwrap();
        assert_eq!(told(&library.sync()), "-a", "{stamps:?}");
        assert_as_a_first_sync(&library, &format!("{stamps:?}: a folder now"));
        fs::remove_dir(&path).unwrap();
        library.skill("a", "first");
        assert_eq!(told(&library.sync()), "<a", "{stamps:?}");
        assert_eq!(places(&library), before, "{stamps:?}");
        assert_as_a_first_sync(&library, &format!("{stamps:?}: a file again"));
    });
}

#[test]
fn the_history_of_a_supporting_file_holds_every_version() {
    both_ways(|stamps| {
        let library = Library::new();
        a_with_a_script(&library);
        first_sync(&library, stamps);
        let a = id(&library, "a");
        library.write("skills/a/scripts/run.sh", b"echo 2\n");
        library.sync();
        fs::remove_file(library.path("skills/a/scripts/run.sh")).unwrap();
        library.sync();
        library.write("skills/a/scripts/run.sh", b"echo 1\n");
        library.sync();
        assert_eq!(
            history(&library, &a),
            "first seen\t2\n\
             scripts/run.sh edited outside skilldb\t1\n\
             scripts/run.sh removed outside skilldb\t1\n\
             scripts/run.sh added outside skilldb\t1",
            "{stamps:?}"
        );
    });
}

// ------------------------------------------------------------------ within one tick of the clock

/// The stamps of a folder and of what is in it, as one more look would find them.
fn look(
    folder: &Path,
    rel_path: &str,
    entries: &[(&str, EntryKind)],
    skill_file: Option<&str>,
) -> Unit {
    let stat = |path: &Path| Stat::from(&fs::symlink_metadata(path).unwrap());
    let mut entries: Vec<Entry> = entries
        .iter()
        .map(|(name, kind)| Entry {
            kind: *kind,
            name: (*name).to_owned(),
            stat: stat(&folder.join(name)),
        })
        .collect();
    entries.sort_unstable_by(|a, b| a.name.cmp(&b.name));
    Unit {
        rel_path: rel_path.to_owned(),
        archived: false,
        stat: stat(folder),
        skill_file: skill_file.map(|name| entries.iter().position(|e| e.name == name).unwrap()),
        entries,
    }
}

/// The newest stamp in a unit.
fn newest(unit: &Unit) -> i64 {
    let stamps = unit.entries.iter().map(|entry| entry.stat.ctime_ns);
    stamps.fold(unit.stat.ctime_ns, i64::max)
}

/// Makes `unit` what the last sync saw, at this moment.
#[expect(
    clippy::disallowed_methods,
    reason = "a test rewrites what no command rewrites"
)]
fn note_as_seen(library: &Library, unit: &Unit, looked_at_ns: i64) {
    let database = rusqlite::Connection::open(library.path("data/skilldb.db")).unwrap();
    let changed = database.execute(
        "UPDATE walk_unit SET entries = ?2 WHERE rel_path = ?1",
        rusqlite::params![unit.rel_path, unit.pack(looked_at_ns)],
    );
    assert_eq!(changed.unwrap(), 1);
}

#[test]
fn a_write_right_after_a_sync_is_seen_by_the_next() {
    let library = Library::new();
    for round in 0..20 {
        library.skill("a", &format!("text {round:02} one"));
        library.sync();
        library.skill("a", &format!("text {round:02} two"));
        assert_eq!(told(&library.sync()), "~a", "round {round}");
    }
}

#[test]
fn a_skill_file_written_again_under_the_same_stamps_is_seen() {
    let library = Library::new();
    a_and_b(&library);
    library.sync();
    library.skill("a", "FIRST");
    let unit = look(
        &library.path("skills/a"),
        "a",
        &[("SKILL.md", EntryKind::File)],
        Some("SKILL.md"),
    );
    note_as_seen(&library, &unit, newest(&unit));
    assert_eq!(told(&library.sync()), "~a");
    assert_as_a_first_sync(&library, "after the edit");
}

#[test]
fn a_supporting_file_written_again_under_the_same_stamps_is_seen() {
    let library = Library::new();
    a_and_b(&library);
    library.write("skills/a/notes.md", b"one");
    library.sync();
    library.write("skills/a/notes.md", b"two");
    let unit = look(
        &library.path("skills/a"),
        "a",
        &[("SKILL.md", EntryKind::File), ("notes.md", EntryKind::File)],
        Some("SKILL.md"),
    );
    note_as_seen(&library, &unit, newest(&unit));
    assert_eq!(told(&library.sync()), "~a");
    assert_as_a_first_sync(&library, "after the edit");
}

#[test]
fn a_supporting_file_added_under_the_same_stamp_of_its_folder_is_seen() {
    let library = Library::new();
    a_and_b(&library);
    library.write("skills/a/scripts/one.sh", b"1");
    // Then the stamp of the folder in question is the only one that is new.
    first_sync(&library, Stamps::Settled);
    library.write("skills/a/scripts/two.sh", b"2");
    let unit = look(
        &library.path("skills/a"),
        "a",
        &[
            ("SKILL.md", EntryKind::File),
            ("scripts", EntryKind::Folder),
            ("scripts/one.sh", EntryKind::File),
        ],
        Some("SKILL.md"),
    );
    let scripts = unit.entries.iter().find(|entry| entry.name == "scripts");
    note_as_seen(&library, &unit, scripts.unwrap().stat.ctime_ns);
    assert_eq!(told(&library.sync()), "~a");
    assert_as_a_first_sync(&library, "after the edit");
}

#[test]
fn a_skill_added_under_the_same_stamp_of_its_category_is_seen() {
    let library = Library::new();
    library.skill("cat/a", "first");
    library.sync();
    library.skill("cat/b", "second");
    let unit = look(&library.path("skills/cat"), "cat", &[], None);
    note_as_seen(&library, &unit, newest(&unit));
    assert_eq!(told(&library.sync()), "+b");
    assert_as_a_first_sync(&library, "after the edit");
}

// ------------------------------------------------------------------ what a sync leaves alone

/// All files of the library's home with their bytes, but for what an open database has beside it: the
/// index that readers share, and a log that is empty.
fn home_bytes(library: &Library) -> Vec<(String, Vec<u8>)> {
    let mut files: Vec<(String, Vec<u8>)> = fs::read_dir(library.path("data"))
        .unwrap()
        .map(|entry| entry.unwrap())
        .filter(|entry| !entry.file_name().to_str().unwrap().ends_with("-shm"))
        .map(|entry| {
            let name = entry.file_name().into_string().unwrap();
            (name, fs::read(entry.path()).unwrap())
        })
        .filter(|(name, bytes)| !(name.ends_with("-wal") && bytes.is_empty()))
        .collect();
    files.sort();
    files
}

#[test]
fn a_sync_that_finds_nothing_writes_nothing() {
    both_ways(|stamps| {
        let library = Library::new();
        a_with_a_script(&library);
        library.skill("cat/c", "third");
        library.write("skills/broken/SKILL.md", b"---\nname: x\n");
        first_sync(&library, stamps);
        let before = home_bytes(&library);
        let report = library.sync();
        assert_eq!(report["wrote"], false, "{stamps:?}");
        assert!(home_bytes(&library) == before, "{stamps:?}: bytes differ");
        let report = library.json(&["sync", "skills", "--checksum"]);
        assert_eq!(report["wrote"], false, "{stamps:?}");
        assert!(
            home_bytes(&library) == before,
            "{stamps:?}: bytes differ after --checksum"
        );
    });
}

#[test]
fn a_dry_run_tells_what_a_sync_would_do_and_writes_nothing() {
    both_ways(|stamps| {
        let library = Library::new();
        a_and_b(&library);
        library.skill("c", "third");
        library.skill("d", "fourth");
        first_sync(&library, stamps);
        library.skill("a", "edited");
        library.skill("new", "fifth");
        fs::remove_dir_all(library.path("skills/b")).unwrap();
        fs::rename(library.path("skills/c"), library.path("skills/moved")).unwrap();
        let before = home_bytes(&library);
        let dry = library.json(&["sync", "skills", "--dry-run"]);
        assert_eq!(told(&dry), "+new -b >c ~a", "{stamps:?}");
        assert!(home_bytes(&library) == before, "{stamps:?}: bytes differ");
        let wet = library.sync();
        assert_eq!(told(&wet), told(&dry), "{stamps:?}");
    });
}

#[test]
fn a_dry_run_of_a_new_library_leaves_no_database() {
    let library = Library::new();
    a_and_b(&library);
    let report = library.json(&["sync", "skills", "--dry-run"]);
    assert_eq!(told(&report), "+a +b");
    let left: Vec<String> = home_bytes(&library)
        .into_iter()
        .map(|(name, _)| name)
        .collect();
    assert!(left.iter().all(|name| name == "skilldb.lock"), "{left:?}");
}

#[test]
fn a_dry_run_tells_what_a_further_root_would_add() {
    let library = Library::new();
    a_and_b(&library);
    library.sync();
    library.write(
        "more/c/SKILL.md",
        b"---\nname: c\ndescription: third\n---\n",
    );
    let report = library.json(&["sync", "more", "--dry-run"]);
    assert_eq!(told(&report), "+c");
    assert_eq!(library.sql("SELECT count(*) FROM skill_root"), "1");
}

#[test]
fn checksum_sees_what_the_stamps_hide() {
    let library = Library::new();
    a_and_b(&library);
    library.sync();
    library.skill("a", "FIRST");
    let unit = look(
        &library.path("skills/a"),
        "a",
        &[("SKILL.md", EntryKind::File)],
        Some("SKILL.md"),
    );
    // As if the look had come long after the write: then equal stamps count.
    note_as_seen(&library, &unit, newest(&unit) + 10_000_000_000);
    assert_eq!(told(&library.sync()), "");
    assert_eq!(told(&library.json(&["sync", "--checksum"])), "~a");
}

// ------------------------------------------------------------------ rebuild

const SKILLS: &str = "SELECT * FROM v_skill ORDER BY id";
const LEDGERS: &str = "SELECT 'change', id, action, at, '' FROM change
    UNION ALL SELECT 'revision', id, change_id, skill_id, title FROM revision
    UNION ALL SELECT 'transition', id, from_state, to_state, at FROM state_transition
    UNION ALL SELECT 'kept', skill_id, rel_path, hash, size FROM kept_file
    UNION ALL SELECT 'blob', hash, codec, size, '' FROM blob
    UNION ALL SELECT 'skill', id, rel_path, coalesce(human_edited_at, '-'), state || coalesce(missing_since, '') FROM skill
    ORDER BY 1, 2, 3";

#[test]
fn a_rebuild_refills_the_same_rows_and_keeps_what_no_file_says() {
    both_ways(|stamps| {
        let library = Library::new();
        a_with_a_script(&library);
        library.skill(".archive/old", "archived");
        library.skill("gone", "will be missing");
        library.write("skills/broken/SKILL.md", b"---\nname: x\n");
        first_sync(&library, stamps);
        library.skill("a", "edited");
        fs::remove_dir_all(library.path("skills/gone")).unwrap();
        library.sync();
        let before = [SKILLS, LEDGERS, MIRROR].map(|query| library.sql(query));
        let report = library.json(&["sync", "--rebuild"]);
        assert_eq!(told(&report), "", "{stamps:?}");
        assert_eq!(report["wrote"], true, "{stamps:?}");
        let after = [SKILLS, LEDGERS, MIRROR].map(|query| library.sql(query));
        assert_eq!(after, before, "{stamps:?}");
        assert_as_a_first_sync(&library, &format!("{stamps:?}"));
    });
}

#[test]
fn a_rebuild_finds_what_changed_meanwhile() {
    both_ways(|stamps| {
        let library = Library::new();
        a_and_b(&library);
        library.skill("c", "third");
        first_sync(&library, stamps);
        library.skill("a", "edited");
        fs::rename(library.path("skills/b"), library.path("skills/moved")).unwrap();
        fs::remove_dir_all(library.path("skills/c")).unwrap();
        let report = library.json(&["sync", "--rebuild"]);
        assert_eq!(told(&report), "-c >b ~a", "{stamps:?}");
        assert_as_a_first_sync(&library, &format!("{stamps:?}"));
    });
}

#[test]
fn a_rebuild_of_one_root_leaves_the_others_as_they_are() {
    let library = Library::new();
    a_and_b(&library);
    library.write(
        "more/c/SKILL.md",
        b"---\nname: c\ndescription: third\n---\n",
    );
    library.json(&["sync", "skills", "more"]);
    let before = library.sql(SKILLS);
    library.json(&["sync", "skills", "--rebuild"]);
    assert_eq!(library.sql(SKILLS), before);
}

#[test]
fn a_rebuild_keeps_what_is_known_of_a_root_that_is_not_there() {
    let library = Library::new();
    a_and_b(&library);
    library.sync();
    let before = library.sql(SKILLS);
    fs::rename(library.path("skills"), library.path("aside")).unwrap();
    library.json_exit(&["sync", "--rebuild"], 1);
    assert_eq!(library.sql(SKILLS), before);
}

#[test]
fn a_rebuild_keeps_the_mirror_of_a_removed_root() {
    let library = Library::new();
    a_and_b(&library);
    library.write(
        "more/c/SKILL.md",
        b"---\nname: c\ndescription: third\n---\n",
    );
    library.json(&["sync", "skills", "more"]);
    library.json(&["roots", "remove", "more"]);
    library.json(&["sync", "--rebuild"]);
    let report = library.json(&["sync", "more"]);
    assert_eq!(told(&report), "");
    assert_eq!(
        library.sql("SELECT human_edited_at IS NULL FROM skill WHERE rel_path = 'c'"),
        "1"
    );
}

#[test]
fn a_rebuild_keeps_the_files_and_tags_of_a_missing_skill() {
    let library = Library::new();
    a_with_a_script(&library);
    library.write(
        "skills/t/SKILL.md",
        b"---\nname: t\ndescription: d\ntags: [x]\n---\n",
    );
    library.write("skills/t/notes.md", b"n");
    library.sync();
    fs::remove_dir_all(library.path("skills/t")).unwrap();
    library.sync();
    let query = "SELECT name, rel_path FROM v_file ORDER BY 1, 2";
    let before = library.sql(query);
    library.json(&["sync", "--rebuild"]);
    assert_eq!(library.sql(query), before);
}

// ------------------------------------------------------------------ roots

#[test]
fn a_mass_disappearance_marks_nothing_until_it_is_allowed() {
    both_ways(|stamps| {
        let library = Library::new();
        for number in 0..10 {
            library.skill(&format!("s{number}"), &format!("number {number}"));
        }
        first_sync(&library, stamps);
        let before = places(&library);
        for number in 0..6 {
            fs::remove_dir_all(library.path(&format!("skills/s{number}"))).unwrap();
        }
        let report = library.json_exit(&["sync"], 1);
        assert_eq!(told(&report), "", "{stamps:?}");
        assert_eq!(report["held_back"][0]["lost"], 6, "{stamps:?}");
        assert_eq!(places(&library), before, "{stamps:?}");
        library.json_exit(&["sync"], 1);
        let report = library.json(&["sync", "--allow-mass-delete"]);
        assert_eq!(report["missing"].as_array().unwrap().len(), 6, "{stamps:?}");
        assert_as_a_first_sync(&library, &format!("{stamps:?}"));
    });
}

#[test]
fn half_of_a_root_or_five_skills_may_vanish() {
    both_ways(|stamps| {
        let library = Library::new();
        for number in 0..12 {
            library.skill(&format!("s{number:02}"), &format!("number {number}"));
        }
        first_sync(&library, stamps);
        for number in 0..6 {
            fs::remove_dir_all(library.path(&format!("skills/s{number:02}"))).unwrap();
        }
        assert_eq!(library.sync()["missing"].as_array().unwrap().len(), 6);
        for number in 6..11 {
            fs::remove_dir_all(library.path(&format!("skills/s{number:02}"))).unwrap();
        }
        assert_eq!(library.sync()["missing"].as_array().unwrap().len(), 5);
        assert_as_a_first_sync(&library, &format!("{stamps:?}"));
    });
}

#[test]
fn a_root_that_is_not_there_is_held_back_and_goes_on_when_it_is_there_again() {
    both_ways(|stamps| {
        let library = Library::new();
        library.skill("cat/a", "first");
        first_sync(&library, stamps);
        let before = places(&library);
        fs::rename(library.path("skills"), library.path("aside")).unwrap();
        let report = library.json_exit(&["sync"], 1);
        assert_eq!(report["held_back"][0]["root_missing"], true, "{stamps:?}");
        assert_eq!(places(&library), before, "{stamps:?}");
        fs::rename(library.path("aside"), library.path("skills")).unwrap();
        assert_eq!(told(&library.json(&["sync"])), "", "{stamps:?}");
        assert_eq!(places(&library), before, "{stamps:?}");
        assert_as_a_first_sync(&library, &format!("{stamps:?}"));
    });
}

#[test]
fn a_root_given_up_and_there_again_gives_its_skills_back() {
    both_ways(|stamps| {
        let library = Library::new();
        library.skill("cat/a", "first");
        library.skill("b", "second");
        first_sync(&library, stamps);
        let before = places(&library);
        fs::rename(library.path("skills"), library.path("aside")).unwrap();
        let report = library.json(&["sync", "--allow-mass-delete"]);
        assert_eq!(told(&report), "-a -b", "{stamps:?}");
        fs::rename(library.path("aside"), library.path("skills")).unwrap();
        assert_eq!(told(&library.json(&["sync"])), "<a <b", "{stamps:?}");
        assert_eq!(places(&library), before, "{stamps:?}");
        assert_as_a_first_sync(&library, &format!("{stamps:?}"));
    });
}

#[test]
fn a_root_replaced_by_a_file_is_held_back() {
    let library = Library::new();
    a_and_b(&library);
    library.sync();
    let before = places(&library);
    fs::rename(library.path("skills"), library.path("aside")).unwrap();
    library.write("skills", b"no folder");
    library.json_exit(&["sync"], 1);
    assert_eq!(places(&library), before);
}

#[test]
fn a_root_removed_and_added_again_keeps_its_ids() {
    both_ways(|stamps| {
        let library = Library::new();
        a_and_b(&library);
        first_sync(&library, stamps);
        let before = places(&library);
        library.json(&["roots", "remove", "skills"]);
        assert_eq!(places(&library), "", "{stamps:?}");
        library.skill("b", "edited meanwhile");
        assert_eq!(told(&library.sync()), "~b", "{stamps:?}");
        assert_eq!(places(&library), before, "{stamps:?}");
        assert_as_a_first_sync(&library, &format!("{stamps:?}"));
    });
}

#[test]
fn a_skill_moved_from_one_root_to_another_is_the_same_life() {
    both_ways(|stamps| {
        let library = Library::new();
        a_and_b(&library);
        fs::create_dir(library.path("more")).unwrap();
        library.json(&["sync", "skills", "more"]);
        if stamps == Stamps::Racy {
            postdate(&library.path("skills"));
            library.json(&["sync"]);
        }
        let a = id(&library, "a");
        fs::rename(library.path("skills/a"), library.path("more/z")).unwrap();
        assert_eq!(told(&library.json(&["sync"])), ">a", "{stamps:?}");
        assert_eq!(id(&library, "z"), a, "{stamps:?}");
        fs::rename(library.path("more/z"), library.path("skills/a")).unwrap();
        assert_eq!(told(&library.json(&["sync"])), ">a", "{stamps:?}");
        assert_eq!(id(&library, "a"), a, "{stamps:?}");
    });
}

#[test]
fn a_root_named_again_keeps_the_kind_it_was_added_with() {
    let library = Library::new();
    a_and_b(&library);
    library.json(&["roots", "add", "skills", "--kind", "external"]);
    library.sync();
    assert_eq!(
        library.sql("SELECT kind, writable FROM skill_root"),
        "external\t0"
    );
}

// ------------------------------------------------------------------ what a change leaves behind

#[test]
fn a_file_that_breaks_keeps_its_id_and_history_and_loads_again_when_mended() {
    both_ways(|stamps| {
        let library = Library::new();
        a_and_b(&library);
        first_sync(&library, stamps);
        let a = id(&library, "a");
        library.write("skills/a/SKILL.md", b"---\nname: a\n");
        let report = library.sync();
        assert_eq!(report["changed"][0]["id"].to_string(), a, "{stamps:?}");
        assert_eq!(report["refused"], 1, "{stamps:?}");
        library.skill("a", "first");
        let report = library.sync();
        assert_eq!(report["changed"][0]["id"].to_string(), a, "{stamps:?}");
        assert_eq!(report["refused"], 0, "{stamps:?}");
        let titles =
            "first seen\t1\nSKILL.md edited outside skilldb\t1\nSKILL.md edited outside skilldb\t1";
        assert_eq!(history(&library, &a), titles, "{stamps:?}");
        assert_as_a_first_sync(&library, &format!("{stamps:?}"));
    });
}

#[test]
fn an_edit_outside_is_noted_as_one_by_a_person_and_a_touch_is_not() {
    both_ways(|stamps| {
        let library = Library::new();
        a_and_b(&library);
        first_sync(&library, stamps);
        library.skill("a", "edited");
        set_times(&library.path("skills/b/SKILL.md"), SystemTime::UNIX_EPOCH);
        library.sync();
        let edited = "SELECT rel_path, coalesce(human_edited_at, '-') FROM skill ORDER BY rel_path";
        assert_eq!(
            library.sql(edited),
            format!("a\t{}\nb\t-", common::NOW),
            "{stamps:?}"
        );
    });
}

#[test]
fn one_sync_is_one_change_however_many_files_it_keeps() {
    both_ways(|stamps| {
        let library = Library::new();
        for number in 0..300 {
            library.skill(&format!("s{number:03}"), &format!("number {number}"));
        }
        first_sync(&library, stamps);
        let counts = "SELECT (SELECT count(*) FROM change), (SELECT count(*) FROM revision), (SELECT count(*) FROM capture_queue)";
        assert_eq!(library.sql(counts), "1\t300\t0", "{stamps:?}");
        library.skill("s000", "edited");
        library.skill("s299", "edited");
        library.sync();
        assert_eq!(library.sql(counts), "2\t302\t0", "{stamps:?}");
    });
}

// ------------------------------------------------------------------ at random

/// A generator with a fixed seed (splitmix64): the same changes in every run.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((mixed ^ (mixed >> 31)) % sides as u64).unwrap()
    }

    fn pick<'a>(&mut self, words: &[&'a str]) -> &'a str {
        words[self.roll(words.len())]
    }
}

/// Folders of which none lies in another.
const APART: [&str; 8] = [
    "a",
    "b",
    "c",
    "cat/a",
    "cat/b",
    "cat/deep/d",
    ".archive/a",
    "x/y/z",
];
const NESTED: [&str; 8] = [
    "a",
    "cat",
    "cat/a",
    "cat/b",
    "cat/deep",
    "cat/deep/d",
    ".archive/a",
    "x/y/z",
];
const FILES: [&str; 5] = [
    "SKILL.md",
    "notes.md",
    "scripts/run.sh",
    "scripts",
    "skill.md",
];

/// What a random change may touch.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Things {
    Apart,
    Nested,
    Links,
}

/// Makes one random change and says which.
fn change_something(library: &Library, dice: &mut Dice, things: Things) -> String {
    let skills = library.path("skills");
    let folders: &[&str] = if things == Things::Nested {
        &NESTED
    } else {
        &APART
    };
    let folder = dice.pick(folders);
    let path = skills.join(folder);
    let number = dice.roll(6);
    let sides = if things == Things::Links { 14 } else { 11 };
    match dice.roll(sides) {
        0..4 => {
            let text = format!(
                "---\nname: n{number}\ndescription: d{}\n---\n",
                dice.roll(4)
            );
            put(&path.join("SKILL.md"), text.as_bytes());
            format!("write {folder}/SKILL.md as n{number}")
        }
        4..6 => {
            let file = dice.pick(&FILES);
            put(&path.join(file), &vec![b'x'; number]);
            format!("write {folder}/{file}")
        }
        6 => {
            let file = dice.pick(&FILES);
            let gone = fs::remove_file(path.join(file)).is_ok();
            format!("remove {folder}/{file}: {gone}")
        }
        7 => {
            let gone = fs::remove_dir_all(&path).is_ok();
            format!("remove {folder}: {gone}")
        }
        8 => {
            let target = dice.pick(folders);
            let moved = !skills.join(target).exists()
                && fs::create_dir_all(skills.join(target).parent().unwrap()).is_ok()
                && fs::rename(&path, skills.join(target)).is_ok();
            format!("move {folder} to {target}: {moved}")
        }
        9 => {
            let file = path.join("scripts/run.sh");
            let mode = if number < 3 { 0o755 } else { 0o644 };
            let done = fs::set_permissions(file, PermissionsExt::from_mode(mode)).is_ok();
            format!("chmod {mode:o} {folder}/scripts/run.sh: {done}")
        }
        10 => {
            let (from, to) = if number < 3 {
                ("cat", "kat")
            } else {
                ("kat", "cat")
            };
            let moved =
                !skills.join(to).exists() && fs::rename(skills.join(from), skills.join(to)).is_ok();
            format!("move {from} to {to}: {moved}")
        }
        11 => {
            let target = dice.pick(&["../outside", "../outside/deep", "a", "cat", "..", "nowhere"]);
            let link = skills.join(format!("link{}", number % 2));
            let _ = fs::remove_file(&link);
            symlink(target, &link).unwrap();
            format!("link {} to {target}", link.file_name().unwrap().display())
        }
        12 => {
            let gone = fs::remove_file(skills.join(format!("link{}", number % 2))).is_ok();
            format!("remove link{}: {gone}", number % 2)
        }
        _ => {
            let name = dice.pick(&["outside/o", "outside/deep/p"]);
            let text = format!("---\nname: o{number}\ndescription: d\n---\n");
            put(&library.path(name).join("SKILL.md"), text.as_bytes());
            format!("write {name}/SKILL.md as o{number}")
        }
    }
}

fn put(path: &Path, bytes: &[u8]) {
    let is_blocked = path.is_dir() || fs::create_dir_all(path.parent().unwrap()).is_err();
    if !is_blocked && let Ok(mut file) = File::create(path) {
        file.write_all(bytes).unwrap();
    }
}

fn live(seed: u64, things: Things) {
    let library = Library::new();
    let mut dice = Dice(seed);
    let mut log = vec![format!("seed {seed}")];
    library.skill("a", "first");
    library.sync();
    for _ in 0..20 {
        for _ in 0..=dice.roll(3) {
            log.push(change_something(&library, &mut dice, things));
        }
        match dice.roll(3) {
            0 => postdate(&library.path("skills")),
            // Settled stamps, as in `first_sync`.
            1 => thread::sleep(Duration::from_millis(22)),
            _ => {}
        }
        log.push("sync".to_owned());
        let output = library
            .skilldb(&["sync", "skills", "--allow-mass-delete"])
            .output()
            .unwrap();
        assert_eq!(
            code(&output),
            0,
            "{}\n{}",
            log.join("\n"),
            library.told(&output)
        );
        assert_as_a_first_sync(&library, &log.join("\n"));
    }
}

#[test]
fn random_changes_end_where_a_first_sync_does() {
    (0..3).for_each(|seed| live(seed, Things::Apart));
}

#[test]
fn random_changes_of_nested_skills_end_where_a_first_sync_does() {
    (100..102).for_each(|seed| live(seed, Things::Nested));
}

#[test]
fn random_changes_of_links_end_where_a_first_sync_does() {
    (200..202).for_each(|seed| live(seed, Things::Links));
}
