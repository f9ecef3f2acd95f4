//! Changes in a library of 1,000 skills beside their limit: the
//! same bytes written, flushed, renamed, and one commit that is flushed. The log of 100,000 revisions, and recovery.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::hint::black_box;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use criterion::{BatchSize, Criterion};
use rusqlite::Connection;
use skilldb::manage::{Outcome, Policy, Request, Settings, Who, Writer, recover};
use skilldb::store::{Actor, Ending, NewChange, NewPart, NewPartFile, Standing, Store, Wanted};
use skilldb::sync::Silence;
use skilldb::time::Timestamp;

use crate::corpus::sync_new;

const SKILLS: usize = 1_000;
const REVISIONS: usize = 100_000;

fn text(number: usize) -> String {
    let mut text =
        format!("---\nname: s{number:04}\ndescription: Does the work number {number}.\n---\n");
    for line in 0..60 {
        let _ = writeln!(
            text,
            "Step {line}: look at the {number} things and write down what they say."
        );
    }
    text
}

/// A synced library on the disk of the build, not in memory: flushing has to cost what it costs.
struct Library {
    _folder: tempfile::TempDir,
    home: PathBuf,
    root: PathBuf,
}

impl Library {
    fn new() -> Self {
        let place = Path::new(env!("CARGO_TARGET_TMPDIR"));
        let folder = tempfile::tempdir_in(place).expect("a folder");
        let path = folder.path().canonicalize().expect("a path");
        let (home, root) = (path.join("home"), path.join("skills"));
        for number in 0..SKILLS {
            let skill = root.join(format!("s{number:04}"));
            fs::create_dir_all(&skill).expect("a folder");
            let mut file = File::create(skill.join("SKILL.md")).expect("a file");
            file.write_all(text(number).as_bytes()).expect("room");
        }
        sync_new(&home, &root, Timestamp::from_millis(0));
        Self {
            _folder: folder,
            home,
            root,
        }
    }

    fn writer(&self) -> Writer {
        let settings = Settings {
            home: self.home.clone(),
            roots: Vec::new(),
            own_root: self.home.join("skills"),
            policy: Policy::default(),
            support_budget: 1 << 26,
            automations: Vec::new(),
            gate: skilldb::manage::GateSettings::default(),
            is_rehearsal: false,
            now: Timestamp::from_millis(1_000),
        };
        Writer::open(settings, &Silence).expect("the library opens")
    }

    fn run(&self, request: &Request) -> i64 {
        self.run_in(&mut self.writer(), request)
    }

    fn run_in(&self, writer: &mut Writer, request: &Request) -> i64 {
        let who = Who {
            actor: Actor::User,
            session: None,
            reason: None,
        };
        match writer.run(&who, request).expect("a change") {
            Outcome::Done(done) => done.change.id,
            Outcome::Proposed { .. } => unreachable!("a person asks nobody"),
        }
    }

    fn store(&self) -> Store {
        Store::open(&self.home, Timestamp::from_millis(0))
            .expect("opens")
            .expect("is there")
    }
}

/// The least that a safe change of one file costs.
struct Floor {
    folder: PathBuf,
    connection: Connection,
}

impl Floor {
    fn new(folder: &Path) -> Self {
        fs::create_dir_all(folder).expect("a folder");
        #[expect(
            clippy::disallowed_methods,
            reason = "the limit knows nothing of the store"
        )]
        let connection = Connection::open(folder.join("floor.db")).expect("a database");
        connection
            .execute_batch("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; CREATE TABLE t (at TEXT, bytes BLOB)")
            .expect("a table");
        Self {
            folder: folder.to_path_buf(),
            connection,
        }
    }

    fn change(&self, bytes: &[u8]) {
        let aside = self.folder.join("aside");
        let mut file = File::create(&aside).expect("a file");
        file.write_all(bytes).expect("room");
        file.sync_all().expect("flushed");
        fs::rename(aside, self.folder.join("SKILL.md")).expect("renamed");
        File::open(&self.folder)
            .and_then(|folder| folder.sync_all())
            .expect("flushed");
        self.connection
            .execute("INSERT INTO t VALUES ('now', ?1)", [bytes])
            .expect("a row");
    }
}

pub(crate) fn benches(criterion: &mut Criterion) {
    let library = Library::new();
    let mut group = criterion.benchmark_group("change");
    group.sample_size(40);
    let floor = Floor::new(&library.home.join("floor"));
    let bytes = text(1);
    group.bench_function("limit", |bench| {
        bench.iter(|| floor.change(black_box(bytes.as_bytes())));
    });
    let id: i64 = library.store().find_skill("s0001").expect("a skill").id;
    let mut turn = 0;
    let mut patch = || {
        turn += 1;
        Request::Patch {
            skill: id,
            file: None,
            find: if turn == 1 {
                "Step 30:".to_owned()
            } else {
                format!("Step {}:", 1_000 + turn - 1)
            },
            replace: format!("Step {}:", 1_000 + turn),
            all: false,
            base: None,
        }
    };
    let mut writer = library.writer();
    group.bench_function("patch", |bench| {
        bench.iter(|| library.run_in(&mut writer, &patch()));
    });
    drop(writer);
    group.bench_function("patch, with opening the library", |bench| {
        bench.iter(|| library.run(&patch()));
    });
    let mut made = 0;
    let mut writer = library.writer();
    group.bench_function("create", |bench| {
        bench.iter(|| {
            made += 1;
            let name = format!("made{made}");
            let create = Request::Create {
                text: format!("---\nname: {name}\ndescription: Is new.\n---\nBody.\n"),
                name,
                category: None,
                root: library.root.clone(),
            };
            library.run_in(&mut writer, &create)
        });
    });
    drop(writer);
    group.bench_function("undo, with opening the library", |bench| {
        bench.iter_batched(
            || {
                library.run(&Request::Patch {
                    skill: id,
                    file: None,
                    find: "Step 40:".to_owned(),
                    replace: "Step forty:".to_owned(),
                    all: false,
                    base: None,
                })
            },
            |change| library.run(&Request::Undo { change }),
            BatchSize::PerIteration,
        );
    });
    group.bench_function("recover one patch", |bench| {
        bench.iter_batched(
            || interrupted(&library, id),
            |mut store| recover(&mut store, Timestamp::from_millis(2_000)).expect("recovers"),
            BatchSize::PerIteration,
        );
    });
    group.finish();
    log(criterion, &library, id);
}

/// A library in which a patch was cut short right after its journal was written.
fn interrupted(library: &Library, skill: i64) -> Store {
    let mut store = library.store();
    let path = library.root.join("s0001/SKILL.md");
    let before = fs::read(&path).expect("a file");
    let after = text(1).into_bytes();
    let content = |bytes: &[u8]| serde_json::json!({"file": {"hash": skilldb::hash::hash_of(bytes), "mode": 0o644}});
    let mut packer = skilldb::store::Packer::new();
    let plan = serde_json::json!({
        "action": "patch", "actor": "user", "strategy": null, "undoes": null, "snapshot": null, "from_snapshot": null,
        "token": "bench", "roots": [library.root], "made": [], "given_up": null,
        "steps": [{"file": {"path": path, "before": content(&before), "after": content(&after), "keep": library.root.join("s0001")}}],
        "parts": [], "effects": [],
    });
    store
        .append_durably(|tx| {
            tx.put_blob(&packer.pack(skilldb::hash::hash_of(&after), &after))?;
            let change = tx.begin_change(&new_change("patch"), Timestamp::from_millis(1_500))?;
            tx.put_journal(change, &plan.to_string())?;
            Ok(skill)
        })
        .expect("a journal");
    store
}

fn new_change(action: &str) -> NewChange<'_> {
    NewChange {
        action,
        strategy: None,
        reason: None,
        actor: "user",
        session_id: None,
        curator_run_id: None,
        undoes: None,
        snapshot_id: None,
        from_snapshot_id: None,
    }
}

/// The log of a library in which much was changed.
fn log(criterion: &mut Criterion, library: &Library, skill: i64) {
    let mut store = library.store();
    let hash = skilldb::hash::hash_of(b"x");
    store
        .write(|tx| {
            for number in 0..REVISIONS {
                let change =
                    tx.begin_change(&new_change("patch"), Timestamp::from_millis(3_000))?;
                let revision = tx.add_part(
                    change,
                    &NewPart {
                        skill_id: Some(skill + i64::try_from(number % 500).unwrap_or_default()),
                        name: "s",
                        title: "SKILL.md: line 7 replaced",
                        from_path: None,
                        to_path: None,
                    },
                )?;
                let standing = Standing {
                    hash: Some(&hash),
                    mode: Some(0o644),
                    link: None,
                };
                let file = NewPartFile {
                    is_absolute: false,
                    path: "SKILL.md",
                    moved_from: None,
                    before: standing,
                    after: standing,
                };
                tx.add_part_file(revision, &file)?;
                tx.settle_change(change, Ending::Applied)?;
            }
            Ok(())
        })
        .expect("a long history");
    let mut group = criterion.benchmark_group("log of 100,000 revisions");
    group.sample_size(20);
    let newest = Wanted {
        limit: Some(50),
        ..Wanted::default()
    };
    // One that only the long history touched: 200 changes.
    let of_skill = Wanted {
        skill: Some(skill + 100),
        ..Wanted::default()
    };
    group.bench_function("the newest 50", |bench| {
        bench.iter(|| store.changes(&newest));
    });
    group.bench_function("all of one skill (200)", |bench| {
        bench.iter(|| store.changes(&of_skill));
    });
    group.bench_function("all of it", |bench| {
        bench.iter(|| store.changes(&Wanted::default()));
    });
    group.bench_function("counted", |bench| {
        bench.iter(|| store.count_changes(&Wanted::default()));
    });
    group.finish();
}
