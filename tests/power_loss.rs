//! The order in which changes reach the disk: at each moment at which something was flushed the power fails, and
//! everything that was not flushed by then is gone. What is left has to be mended to before or after.

#![expect(
    clippy::unwrap_used,
    reason = "what cannot be arranged is a failed test"
)]

mod common;
#[path = "common/tree.rs"]
mod trees;

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use common::Library;
use skilldb::manage::{Bytes, Request, Settings, Who, Writer};
use skilldb::stop::{Durable, on_durable};
use skilldb::store::Actor;
use skilldb::sync::Silence;
use skilldb::time::Timestamp;
use trees::tree;

/// What a folder is known to hold after a power failure.
#[derive(Debug, Clone)]
enum Entry {
    Folder(u64),
    File(u64, u32),
    Link(PathBuf),
}

/// The disk as far as it was flushed: folders by their number, files by theirs.
#[derive(Debug, Clone, Default)]
struct Disk {
    folders: HashMap<u64, BTreeMap<String, Entry>>,
    files: HashMap<u64, Vec<u8>>,
    database: BTreeMap<String, Vec<u8>>,
}

impl Disk {
    /// Takes everything below a folder for flushed.
    fn trust(&mut self, folder: &Path) {
        self.flush_folder(folder);
        for entry in fs::read_dir(folder).unwrap() {
            let entry = entry.unwrap();
            let metadata = entry.path().symlink_metadata().unwrap();
            if metadata.is_dir() {
                self.trust(&entry.path());
            } else if metadata.is_file() {
                self.files
                    .insert(metadata.ino(), fs::read(entry.path()).unwrap());
            }
        }
    }

    fn flush_folder(&mut self, folder: &Path) {
        let Ok(number) = fs::metadata(folder).map(|metadata| metadata.ino()) else {
            return;
        };
        let mut entries = BTreeMap::new();
        for entry in fs::read_dir(folder).unwrap() {
            let entry = entry.unwrap();
            let metadata = entry.path().symlink_metadata().unwrap();
            let held = if metadata.is_dir() {
                Entry::Folder(metadata.ino())
            } else if metadata.is_symlink() {
                Entry::Link(fs::read_link(entry.path()).unwrap())
            } else {
                Entry::File(metadata.ino(), metadata.permissions().mode() & 0o7777)
            };
            entries.insert(entry.file_name().into_string().unwrap(), held);
        }
        // A folder has one place: no file system in use moves it by halves.
        let moved = |entry: &Entry| match entry {
            Entry::Folder(inner) => Some(*inner),
            Entry::File(..) | Entry::Link(_) => None,
        };
        let here: Vec<u64> = entries.values().filter_map(moved).collect();
        for others in self.folders.values_mut() {
            others.retain(|_, entry| !moved(entry).is_some_and(|inner| here.contains(&inner)));
        }
        self.folders.insert(number, entries);
    }

    fn flush_database(&mut self, path: &Path) {
        self.database.clear();
        for suffix in ["", "-wal"] {
            let name = format!("{}{suffix}", path.display());
            if let Ok(bytes) = fs::read(&name) {
                self.database.insert(name, bytes);
            }
        }
    }

    /// Writes what was flushed of a folder; a file whose bytes were not is empty. A folder keeps its number, as it
    /// would: it is fetched from where the folders of other moments are.
    fn write(&self, number: u64, (to, limbo): (&Path, &Path)) {
        let known = limbo.join(number.to_string());
        if known.exists() {
            fs::rename(known, to).unwrap();
        } else {
            fs::create_dir_all(to).unwrap();
        }
        for (name, entry) in self.folders.get(&number).into_iter().flatten() {
            let path = to.join(name);
            match entry {
                Entry::Folder(inner) => self.write(*inner, (&path, limbo)),
                Entry::Link(target) => symlink(target, &path).unwrap(),
                Entry::File(inner, mode) => {
                    let nothing = Vec::new();
                    let bytes = self.files.get(inner).unwrap_or(&nothing);
                    fs::File::create(&path).unwrap();
                    std::io::Write::write_all(&mut fs::File::create(&path).unwrap(), bytes)
                        .unwrap();
                    fs::set_permissions(&path, fs::Permissions::from_mode(*mode)).unwrap();
                }
            }
        }
    }
}

/// Removes the files of a folder and puts the folders in it, empty, where they are found by their number.
fn empty(folder: &Path, limbo: &Path) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let metadata = path.symlink_metadata().unwrap();
        if metadata.is_dir() {
            empty(&path, limbo);
            fs::rename(&path, limbo.join(metadata.ino().to_string())).unwrap();
        } else {
            fs::remove_file(&path).unwrap();
        }
    }
}

/// A library whose power can fail.
struct Machine {
    library: Library,
}

impl Machine {
    fn new() -> Self {
        let library = Library::new();
        library.write("skills/notes/SKILL.md", b"---\nname: notes\ndescription: Keeps notes.\nrelated_skills: [deploy]\n---\nFirst line.\n");
        library.write(
            "skills/ops/deploy/SKILL.md",
            b"---\nname: deploy\ndescription: Ships it.\n---\nRun it.\n",
        );
        library.write(
            "skills/ops/deploy/scripts/run.sh",
            b"#!/bin/sh\necho shipped\n",
        );
        library.write(
            "skills/old/SKILL.md",
            b"---\nname: old\ndescription: Is old.\n---\nOld.\n",
        );
        library.sync();
        library.json(&["archive", "old"]);
        library.json(&[
            "write",
            "deploy/references/a.md",
            "--from",
            "skills/notes/SKILL.md",
        ]);
        Self { library }
    }

    fn last_change(&self) -> i64 {
        self.library
            .sql("SELECT max(id) FROM change")
            .parse()
            .unwrap()
    }

    fn root(&self) -> PathBuf {
        self.library.path("skills")
    }

    fn writer(&self) -> Writer {
        let settings = Settings {
            home: self.library.path("data"),
            roots: Vec::new(),
            own_root: self.library.path("data/skills"),
            policy: skilldb::manage::Policy::default(),
            support_budget: 1 << 26,
            automations: Vec::new(),
            gate: skilldb::manage::GateSettings::default(),
            is_rehearsal: false,
            now: Timestamp::parse(common::NOW).unwrap(),
        };
        Writer::open(settings, &Silence).unwrap()
    }

    fn id(&self, name: &str) -> i64 {
        let sql = format!("SELECT skill_id FROM manifest WHERE name = '{name}'");
        self.library.sql(&sql).parse().unwrap()
    }

    fn change(&self, request: &Request) {
        let who = Who {
            actor: Actor::User,
            session: None,
            reason: None,
        };
        self.writer().run(&who, request).unwrap();
    }

    /// Makes a change and returns the disk as it was at each moment at which something was flushed.
    fn watched(&self, request: &Request) -> Vec<Disk> {
        let mut disk = Disk::default();
        disk.trust(&self.root());
        disk.flush_database(&self.library.path("data/skilldb.db"));
        let states = Arc::new(Mutex::new((disk, Vec::new())));
        let heard = Arc::clone(&states);
        on_durable(Some(Box::new(move |durable| {
            let (disk, states) = &mut *heard.lock().unwrap();
            match durable {
                Durable::Folder(path) => disk.flush_folder(path),
                Durable::File(file, bytes) => {
                    let number = file.metadata().unwrap().ino();
                    disk.files.insert(number, bytes.to_vec());
                }
                Durable::Database(path) => disk.flush_database(path),
            }
            states.push(disk.clone());
        })));
        self.change(request);
        on_durable(None);
        let states = states.lock().unwrap();
        states.1.clone()
    }

    /// Puts the disk of a moment in the place of what is there.
    fn fail(&self, disk: &Disk, number: u64) {
        let limbo = self.library.path("limbo");
        fs::create_dir_all(&limbo).unwrap();
        empty(&self.root(), &limbo);
        fs::rename(self.root(), limbo.join(number.to_string())).unwrap();
        disk.write(number, (&self.root(), &limbo));
        for suffix in ["", "-wal", "-shm"] {
            let _ = fs::remove_file(self.library.path(&format!("data/skilldb.db{suffix}")));
        }
        for (path, bytes) in &disk.database {
            std::io::Write::write_all(&mut fs::File::create(path).unwrap(), bytes).unwrap();
        }
    }
}

fn requests(machine: &Machine) -> Vec<(&'static str, Request)> {
    let (notes, deploy) = (machine.id("notes"), machine.id("deploy"));
    vec![
        (
            "patch",
            Request::Patch {
                skill: notes,
                file: None,
                find: "First".to_owned(),
                replace: "Second".to_owned(),
                all: false,
                base: None,
            },
        ),
        (
            "edit",
            Request::Edit {
                skill: notes,
                text: "---\nname: notes\ndescription: Keeps other notes.\n---\nAll new.\n"
                    .to_owned(),
                base: None,
            },
        ),
        (
            "undo",
            Request::Undo {
                change: machine.last_change(),
            },
        ),
        (
            "restore",
            Request::Restore {
                skill: machine.id("old"),
            },
        ),
        (
            "write",
            Request::Write {
                skill: notes,
                file: "references/deep/a.md".to_owned(),
                content: Bytes::Text("New.\n".to_owned()),
                executable: None,
                base: None,
            },
        ),
        (
            "create",
            Request::Create {
                name: "fresh".to_owned(),
                category: Some("made".to_owned()),
                text: "---\nname: fresh\ndescription: Is new.\n---\nBody.\n".to_owned(),
                root: machine.root(),
            },
        ),
        (
            "archive",
            Request::Archive {
                skill: deploy,
                as_delete: false,
            },
        ),
        (
            "rename",
            Request::Rename {
                skill: deploy,
                to: "moved/ship".to_owned(),
            },
        ),
        ("delete for good", Request::DeleteForever { skill: deploy }),
    ]
}

#[test]
fn after_a_power_failure_at_any_flush_a_change_is_whole_or_not_there() {
    let names: Vec<&str> = requests(&Machine::new())
        .into_iter()
        .map(|(name, _)| name)
        .collect();
    let mut failures = 0;
    for (index, name) in names.into_iter().enumerate() {
        let machine = Machine::new();
        let (_, request) = requests(&machine).swap_remove(index);
        let number = fs::metadata(machine.root()).unwrap().ino();
        let before = tree(&machine.root());
        let states = machine.watched(&request);
        let after = tree(&machine.root());
        assert_ne!(before, after);
        assert!(states.len() >= 3, "{name}: only {} flushes", states.len());
        let mut finished = 0;
        for (moment, disk) in states.iter().enumerate() {
            machine.fail(disk, number);
            drop(machine.writer());
            let found = tree(&machine.root());
            let is_after = found == after;
            assert!(
                is_after || found == before,
                "{name}, flush {moment}: {:?}",
                found.keys()
            );
            let outcome = machine
                .library
                .sql("SELECT outcome FROM change ORDER BY id DESC LIMIT 1");
            assert_ne!(outcome, "pending", "{name}, flush {moment}");
            if is_after {
                assert_eq!(outcome, "applied", "{name}, flush {moment}");
            }
            finished += usize::from(is_after);
            // What was reported as done was flushed by then.
            if moment + 1 == states.len() {
                assert!(is_after, "{name}: reported, and gone after a power failure");
            }
        }
        println!(
            "{name}: the power failed at {} flushes, finished after {finished}",
            states.len()
        );
        failures += states.len();
    }
    println!("{failures} power failures");
}
