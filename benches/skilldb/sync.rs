//! What a sync costs: filling a new database, keeping bytes, finding nothing changed, one change.
//! Each phase is timed on its own; the limit beside it is a walk that only lists and stats.

use std::cell::Cell;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use criterion::{BenchmarkId, Criterion};
use skilldb::library::walk::{Reach, Request, walk};
use skilldb::library::{Root, RootKind};
use skilldb::sync::{Options, Progress, Report, Selection, Unit, sync};
use skilldb::time::Timestamp;

use crate::corpus;

const OPTIONS: Options = Options {
    rebuild: false,
    checksum: false,
    allow_mass_delete: false,
    dry_run: false,
    support_budget: 64 * 1024 * 1024,
};

/// Times the phases a sync goes through.
#[derive(Default)]
struct Phases {
    begun: Cell<Option<Instant>>,
    reading: Cell<Duration>,
    keeping: Cell<Duration>,
    current: Cell<&'static str>,
}

impl Progress for Phases {
    fn begin(&self, phase: &'static str, _unit: Unit, _total: Option<u64>) {
        self.current.set(phase);
        self.begun.set(Some(Instant::now()));
    }

    fn advance(&self, _steps: u64) {}

    fn end(&self) {
        let spent = self
            .begun
            .take()
            .map_or(Duration::ZERO, |begun| begun.elapsed());
        let phase = if self.current.get() == "keeping" {
            &self.keeping
        } else {
            &self.reading
        };
        phase.set(phase.get() + spent);
    }

    fn waiting(&self) {}
}

struct Library {
    _folder: tempfile::TempDir,
    home: PathBuf,
    root: Root,
}

impl Library {
    fn new(count: usize) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let path = folder.path().canonicalize().expect("it is there");
        corpus::write_library(&path.join("skills"), count);
        // Stamps within one clock tick of the sync would be read again each time.
        std::thread::sleep(Duration::from_millis(50));
        let root = Root {
            path: path.join("skills"),
            kind: RootKind::Local,
            priority: 0,
            writable: true,
            client: None,
        };
        Self {
            home: path.join("home"),
            root,
            _folder: folder,
        }
    }

    fn sync(&self, progress: &dyn Progress) -> Report {
        let roots = Selection::Named(std::slice::from_ref(&self.root));
        sync(
            &self.home,
            roots,
            OPTIONS,
            Timestamp::from_millis(0),
            (progress, &|_| Ok(())),
        )
        .expect("the library syncs")
    }

    fn forget(&self) {
        let _ = std::fs::remove_dir_all(&self.home);
    }
}

fn list_only(root: &Path) -> usize {
    let request = Request {
        root,
        start: ".",
        archived: false,
        reach: Reach::Deep,
        is_known: &|_| false,
    };
    let mut steps = 0;
    walk(&request, &mut |_| {
        steps += 1;
        Ok(())
    })
    .expect("the folder can be walked");
    steps
}

pub(crate) fn benches(criterion: &mut Criterion) {
    for count in [100, 1_000, 10_000] {
        let library = Library::new(count);
        let mut group = criterion.benchmark_group("sync");
        group.sample_size(10);
        group.throughput(criterion::Throughput::Elements(count as u64));
        group.bench_with_input(
            BenchmarkId::new("limit-walk-and-stat", count),
            &library,
            |bencher, library| {
                bencher.iter(|| list_only(&library.root.path));
            },
        );
        for (name, phase) in [("cold-mirror", 0), ("cold-keep", 1)] {
            group.bench_with_input(
                BenchmarkId::new(name, count),
                &library,
                |bencher, library| {
                    bencher.iter_custom(|times| {
                        let mut spent = Duration::ZERO;
                        for _ in 0..times {
                            library.forget();
                            let phases = Phases::default();
                            library.sync(&phases);
                            spent += if phase == 0 {
                                phases.reading.get()
                            } else {
                                phases.keeping.get()
                            };
                        }
                        spent
                    });
                },
            );
        }
        library.sync(&Phases::default());
        group.bench_with_input(
            BenchmarkId::new("nothing-changed", count),
            &library,
            |bencher, library| {
                bencher.iter(|| library.sync(&Phases::default()));
            },
        );
        let mut turn = 0;
        group.bench_with_input(
            BenchmarkId::new("one-changed", count),
            &library,
            |bencher, library| {
                bencher.iter(|| {
                    turn += 1;
                    let file = library.root.path.join("category-0/skill-0/SKILL.md");
                    corpus::put(&file, &corpus::skill_text(count + turn));
                    library.sync(&Phases::default())
                });
            },
        );
        group.finish();
    }
}
