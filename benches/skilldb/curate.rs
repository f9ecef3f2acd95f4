//! Planning over a large library beside the query alone; a run beside what is due in it, in a small and in a large
//! library.

use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use criterion::Criterion;
use rusqlite::Connection;
use skilldb::curate::{self, Asked, Periods, Ran, gates};
use skilldb::manage::{self, Policy, Request, Who, Writer};
use skilldb::store::{Actor, Store};
use skilldb::sync::Silence;
use skilldb::time::Timestamp;

use crate::corpus::{sync_new, write_library};

const NOW: &str = "2026-06-01T12:00:00.000Z";

/// A synced library of skills that agents made, each used lately; of the first few nothing is known for a year.
struct Library {
    _folder: tempfile::TempDir,
    home: PathBuf,
}

impl Library {
    fn new(skills: usize, events: usize) -> Self {
        let place = Path::new(env!("CARGO_TARGET_TMPDIR"));
        let folder = tempfile::tempdir_in(place).expect("a folder");
        let path = folder.path().canonicalize().expect("a path");
        let (home, root) = (path.join("home"), path.join("skills"));
        write_library(&root, skills);
        sync_new(&home, &root, now());
        let database = open(&home);
        database
            .execute_batch(&format!(
                "UPDATE skill SET origin = 'agent', created_at = '2025-06-01T12:00:00.000Z';
                 WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < {events})
                 INSERT INTO usage_event (event_id, skill_id, called_name, kind, \"trigger\", actor, client, at)
                 SELECT 'e' || i, 1 + i % {skills}, 'skill', 'use', 'model', 'agent', 'claude-code',
                        strftime('%Y-%m-%dT%H:%M:%fZ', '2026-05-31', '-' || (i % 20) || ' days', '+' || (i % 80000) || ' seconds')
                 FROM n;"
            ))
            .expect("events");
        Self {
            _folder: folder,
            home,
        }
    }

    /// Makes so many skills look as if nobody had ever used them.
    fn forget(&self, due: usize) {
        let database = open(&self.home);
        database
            .execute_batch(&format!("DELETE FROM skill_usage WHERE skill_id <= {due}"))
            .expect("forgotten");
    }

    fn store(&self) -> Store {
        Store::open(&self.home, now())
            .expect("opens")
            .expect("is there")
    }

    fn manage(&self, at: Timestamp) -> manage::Settings {
        manage::Settings {
            home: self.home.clone(),
            roots: Vec::new(),
            own_root: self.home.join("skills"),
            policy: Policy::default(),
            support_budget: 1 << 26,
            automations: Vec::new(),
            gate: skilldb::manage::GateSettings::default(),
            is_rehearsal: false,
            now: at,
        }
    }

    /// Runs the curator; how long that took, without opening the library. Everything is taken back afterwards.
    fn run(&self) -> Duration {
        let mut writer = Writer::open(self.manage(now()), &Silence).expect("it opens");
        let who = Who {
            actor: Actor::User,
            session: None,
            reason: None,
        };
        let asked = Asked {
            who: who.clone(),
            is_forced: true,
            is_running: false,
        };
        let start = Instant::now();
        let ran = curate::run(&mut writer, &settings(), &asked, &Silence).expect("it runs");
        let took = start.elapsed();
        let Ran::Done { report, .. } = ran else {
            unreachable!("it is forced")
        };
        let change = report.change.expect("something was due");
        drop(writer);
        // Long ago, so that having come back makes nobody young.
        let then = Timestamp::parse("2025-06-01T12:00:00.000Z").expect("a time");
        let mut writer = Writer::open(self.manage(then), &Silence).expect("it opens");
        writer
            .run(&who, &Request::Undo { change })
            .expect("an undo");
        took
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "rows that no command would make so many of"
)]
fn open(home: &Path) -> Connection {
    Connection::open(home.join("skilldb.db")).expect("it opens")
}

fn now() -> Timestamp {
    Timestamp::parse(NOW).expect("a time")
}

fn settings() -> curate::Settings {
    curate::Settings {
        gates: gates::Settings {
            enabled: true,
            interval_hours: 168,
            min_idle_hours: 2.0,
        },
        periods: Periods::default(),
        automations: Vec::new(),
        policy: Policy::default(),
    }
}

pub(crate) fn benches(criterion: &mut Criterion) {
    planning(criterion);
    for (skills, due) in [(1_000, 20), (1_000, 200), (10_000, 20), (10_000, 200)] {
        let library = Library::new(skills, skills);
        library.forget(due);
        let mut group = criterion.benchmark_group("curate");
        group.sample_size(10);
        group.bench_function(format!("run-{due}-due-of-{skills}"), |bencher| {
            bencher.iter_custom(|times| (0..times).map(|_| library.run()).sum());
        });
        group.finish();
    }
}

/// The limit is the query that reads the rows.
fn planning(criterion: &mut Criterion) {
    let library = Library::new(10_000, 1_000_000);
    library.forget(300);
    let store = library.store();
    let manage = library.manage(now());
    let mut group = criterion.benchmark_group("curate");
    group.sample_size(20);
    group.bench_function("limit-query-alone", |bencher| {
        bencher.iter(|| black_box(store.curation_rows().expect("rows")));
    });
    group.bench_function("plan-10000-skills-1000000-events", |bencher| {
        bencher.iter(|| {
            black_box(curate::plan_now(&store, &settings(), &manage, now()).expect("a plan"))
        });
    });
    group.finish();
}
