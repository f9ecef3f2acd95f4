# One command a line; whatever needs more lives in the program or the tests.
.PHONY: build test lint crash demo bench bench-compare schema clean

# A fixed moment: what is printed is the same everywhere.
DEMO_NOW = SKILLDB_NOW=2026-05-30T12:00:00.000Z
DEMO_RUN = cargo run --quiet --locked -- --home target/demo
DEMO = $(DEMO_NOW) $(DEMO_RUN)

build:
	cargo build --locked

test: lint
	cargo test --locked --no-fail-fast
	cargo test --locked --features stop-points --test change_meanwhile --test crash_steps --test power_loss

lint:
	cargo fmt --check
	cargo clippy --locked --all-targets --features stop-points -- -D warnings

# Some hundreds of kills at random moments, of the release build.
crash:
	SKILLDB_KILLS=400 cargo test --release --locked --test change_races -- --nocapture killed

demo:
	cargo build --locked
	rm -rf target/demo target/demo-library
	cp -r fixtures/library target/demo-library
	$(DEMO) sync target/demo-library
	$(DEMO) list
	$(DEMO) show release-notes
	$(DEMO) search take a deploy back
	$(DEMO) import claude-code fixtures/history
	$(DEMO) stats
	$(DEMO) patch rollback --old 'Takes an' --new 'Moves an'
	$(DEMO) diff rollback
	$(DEMO) undo
	$(DEMO) log
	$(DEMO) adopt changelog --as agent
	SKILLDB_NOW=2026-08-30T12:00:00.000Z $(DEMO_RUN) curate --dry-run
	$(DEMO) merge changelog --into release-notes --reference
	$(DEMO) refs changelog
	$(DEMO) sql "SELECT name, count(*) AS copies, group_concat(rel_path, ', ') AS places FROM v_skill GROUP BY name ORDER BY copies DESC, name LIMIT 3" --format table

bench:
	cargo bench --locked

bench-compare:
	benches/perf/run.sh 100,1000,10000 7

schema:
	SKILLDB_BLESS=1 cargo test --locked --test schema

clean:
	cargo clean
