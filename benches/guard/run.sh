#!/bin/sh
# Puts the guard beside other scanners on labelled skills, one run for all. See README.md.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
bench=${SKILLDB_GUARD_BENCH:-$root/../shared/bench/security}
work=${BENCH_WORK:-$here/work}
mkdir -p "$work"
cargo build --release --locked --quiet --manifest-path "$root/Cargo.toml" --example guard_worker
set -- "skilldb=worker:$root/target/release/examples/guard_worker"
if [ -n "${HERMES_VENV:-}" ]; then set -- "$@" "hermes=worker:$HERMES_VENV/bin/python worker_hermes.py"; fi
if [ -n "${CISCO_VENV:-}" ]; then set -- "$@" "cisco=worker:$CISCO_VENV/bin/python worker_cisco.py"; fi
cd "$bench"
PYTHONDONTWRITEBYTECODE=1 ORT_DISABLE_TELEMETRY=1 python3 bench.py --out "$work" "$@"
