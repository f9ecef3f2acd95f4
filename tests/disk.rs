//! A disk that is full, and a home that may not be written.

#![expect(
    clippy::unwrap_used,
    reason = "what cannot be arranged is a failed test"
)]

mod common;
#[path = "common/small_disk.rs"]
mod small_disk;

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Output};

use common::{Library, code};
use small_disk::SmallDisk;

fn is_root(library: &Library) -> bool {
    fs::metadata(library.dir()).unwrap().uid() == 0
}

impl SmallDisk {
    fn resize(&self, kilobytes: u32) {
        let resized = Command::new("mount")
            .args(["-o", &format!("remount,size={kilobytes}k")])
            .arg(&self.0)
            .status();
        assert!(resized.unwrap().success());
    }
}

/// Text that does not compress.
fn noise(seed: u32, length: usize) -> String {
    let mut state = seed.wrapping_mul(2_654_435_761) | 1;
    std::iter::repeat_with(|| {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        char::from(b'!' + u8::try_from(state % 90).unwrap())
    })
    .take(length)
    .collect()
}

fn write_skill(library: &Library, number: u32, seed: u32) {
    let text = format!(
        "---\nname: s{number:02}\ndescription: version {seed}\n---\n\n{}\n",
        noise(seed * 100 + number, 8_000)
    );
    library.write(&format!("skills/s{number:02}/SKILL.md"), text.as_bytes());
}

fn assert_says_full(library: &Library, output: &Output) {
    let told = library.told(output);
    assert_ne!(code(output), 0, "{told}");
    assert!(
        told.contains("disk is full") || told.contains("No space left"),
        "{told}"
    );
}

fn assert_all_there(library: &Library, versions_of_each: u32) {
    assert_eq!(library.sql("SELECT count(*) FROM v_skill"), "40");
    let kept = "SELECT count(*), (SELECT count(*) FROM capture_queue) FROM revision_file f JOIN blob b ON b.hash = f.after_hash";
    assert_eq!(library.sql(kept), format!("{}\t0", 40 * versions_of_each));
    assert_eq!(library.json(&["doctor"])["healthy"], true);
}

#[test]
fn a_first_sync_onto_a_full_disk_says_so_and_the_next_one_with_room_is_right() {
    let library = Library::new();
    (0..40).for_each(|number| write_skill(&library, number, 1));
    let Some(disk) = SmallDisk::mount(&library.path("data"), 64) else {
        return;
    };
    // Too small for the schema, for the mirror, for the bytes to be kept.
    for kilobytes in [64, 128, 200, 260, 320, 380, 440] {
        disk.resize(kilobytes);
        let output = library.skilldb(&["sync", "skills"]).output().unwrap();
        assert_says_full(&library, &output);
        let left: Vec<_> = fs::read_dir(&disk.0)
            .unwrap()
            .map(|entry| entry.unwrap().file_name())
            .collect();
        let is_known = |name: &str| name.starts_with("skilldb.db") || name == "skilldb.lock";
        assert!(
            left.iter().all(|name| is_known(name.to_str().unwrap())),
            "{left:?}"
        );
    }
    disk.resize(16_384);
    library.sync();
    assert_all_there(&library, 1);
}

#[test]
fn a_sync_of_edits_onto_a_full_disk_loses_nothing() {
    let library = Library::new();
    (0..40).for_each(|number| write_skill(&library, number, 1));
    let Some(disk) = SmallDisk::mount(&library.path("data"), 16_384) else {
        return;
    };
    library.sync();
    let used = fs::metadata(library.path("data/skilldb.db")).unwrap().len() / 1024;
    let used = u32::try_from(used).unwrap();
    (0..40).for_each(|number| write_skill(&library, number, 2));
    for more in [40, 80, 160, 240] {
        disk.resize(used + more);
        let output = library.skilldb(&["sync", "skills"]).output().unwrap();
        assert_says_full(&library, &output);
    }
    disk.resize(16_384);
    library.sync();
    assert_all_there(&library, 2);
}

#[test]
fn a_disk_too_full_for_the_shared_index_of_the_log_is_called_full() {
    let library = Library::new();
    (0..40).for_each(|number| write_skill(&library, number, 1));
    let Some(disk) = SmallDisk::mount(&library.path("data"), 16_384) else {
        return;
    };
    library.sync();
    let used = fs::metadata(library.path("data/skilldb.db")).unwrap().len() / 1024;
    write_skill(&library, 0, 2);
    disk.resize(u32::try_from(used).unwrap() + 8);
    assert_says_full(
        &library,
        &library.skilldb(&["sync", "skills"]).output().unwrap(),
    );
}

#[test]
fn a_full_disk_after_the_mirror_was_written_is_not_called_unchanged() {
    let library = Library::new();
    (0..40).for_each(|number| write_skill(&library, number, 1));
    let Some(disk) = SmallDisk::mount(&library.path("data"), 464) else {
        return;
    };
    let output = library.skilldb(&["sync", "skills"]).output().unwrap();
    assert_says_full(&library, &output);
    disk.resize(16_384);
    assert_eq!(
        library.sql("SELECT count(*) FROM v_skill"),
        "40",
        "464 kB are enough for the mirror"
    );
    let told = library.told(&output);
    assert!(!told.contains("nothing was changed"), "{told}");
}

// ------------------------------------------------------------------ no permission

const NOBODY: u32 = 65534;

/// Runs the command as a user who does not own the library's home when the test runs as root.
fn as_nobody(library: &Library, args: &[&str]) -> Output {
    let model = library.process(args);
    // The built binary may lie where this user cannot reach it.
    let program = library.path("skilldb");
    if !program.exists() {
        // A link where that can be: a file just written cannot be run while another test forks.
        if fs::hard_link(model.get_program(), &program).is_err() {
            fs::copy(model.get_program(), &program).unwrap();
        }
    }
    let mut command = Command::new(&program);
    command
        .args(model.get_args())
        .current_dir(library.dir())
        .env_clear();
    for (name, value) in model.get_envs() {
        command.env(name, value.unwrap());
    }
    if is_root(library) {
        set_mode(library.dir(), 0o755);
        command.gid(NOBODY).uid(NOBODY);
    }
    command.output().unwrap()
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, PermissionsExt::from_mode(mode)).unwrap();
}

#[test]
fn a_home_that_may_not_be_written_is_named_with_what_to_check() {
    let library = Library::new();
    library.skill("a", "first");
    set_mode(&library.path("data"), 0o555);
    let output = as_nobody(&library, &["sync", "skills"]);
    set_mode(&library.path("data"), 0o755);
    let told = library.told(&output);
    assert_eq!(code(&output), 1, "{told}");
    assert!(
        told.contains("[DIR]/data") && told.contains("permission"),
        "{told}"
    );
    assert!(fs::read_dir(library.path("data")).unwrap().next().is_none());
}

#[test]
fn a_database_that_may_not_be_written_is_named_with_what_to_check() {
    let library = Library::new();
    library.skill("a", "first");
    library.sync();
    library.skill("a", "edited");
    let data = library.path("data");
    for entry in fs::read_dir(&data).unwrap() {
        let path = entry.unwrap().path();
        let is_lock = path.ends_with("skilldb.lock");
        set_mode(&path, if is_lock { 0o666 } else { 0o444 });
    }
    set_mode(&data, 0o555);
    for args in [&["sync", "skills"][..], &["list"], &["doctor"]] {
        let told = library.told(&as_nobody(&library, args));
        // What only reads goes on working.
        let is_fine = (args == ["list"] && told.starts_with("exit 0"))
            || (args == ["doctor"] && told.contains("problem drift: 1 skill changed"));
        let is_clear = told.contains("permission") && told.contains("hint");
        assert!(is_fine || is_clear, "{args:?}: {told}");
        assert!(!told.contains("panicked"), "{args:?}: {told}");
    }
    set_mode(&data, 0o755);
    for entry in fs::read_dir(&data).unwrap() {
        set_mode(&entry.unwrap().path(), 0o644);
    }
    let report = library.sync();
    assert_eq!(report["changed"].as_array().unwrap().len(), 1);
}

#[test]
fn skills_that_may_only_be_read_are_synced_all_the_same() {
    let library = Library::new();
    library.skill("a", "first");
    if is_root(&library) {
        chown(library.path("data"), Some(NOBODY), Some(NOBODY)).unwrap();
    }
    set_mode(&library.path("skills/a/SKILL.md"), 0o444);
    set_mode(&library.path("skills/a"), 0o555);
    set_mode(&library.path("skills"), 0o555);
    let output = as_nobody(&library, &["sync", "skills"]);
    set_mode(&library.path("skills"), 0o755);
    set_mode(&library.path("skills/a"), 0o755);
    assert_eq!(code(&output), 0, "{}", library.told(&output));
    assert!(library.told(&output).contains("1 loaded"));
}
