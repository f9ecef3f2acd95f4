#!/bin/sh
# Puts the guard beside other scanners on labelled skills, one run for all. See README.md.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
bench=${SKILLDB_GUARD_BENCH:-$root/../shared/bench/security}
work=${BENCH_WORK:-$here/work}
mkdir -p "$work/labelled" "$work/real" "$work/all"
cargo build --release --locked --quiet --manifest-path "$root/Cargo.toml" --example guard_worker
own="skilldb=worker:$root/target/release/examples/guard_worker"
set -- "$own"
if [ -n "${HERMES_VENV:-}" ]; then set -- "$@" "hermes=worker:$HERMES_VENV/bin/python worker_hermes.py"; fi
if [ -n "${CISCO_VENV:-}" ]; then set -- "$@" "cisco=worker:$CISCO_VENV/bin/python worker_cisco.py"; fi
cd "$bench"
export PYTHONDONTWRITEBYTECODE=1 ORT_DISABLE_TELEMETRY=1
python3 bench.py --out "$work/labelled" "$@"

# Real skills nobody labelled: what is flagged there is read as a rate of alarms. Peers see every tenth.
real=${SKILLDB_REAL_SKILLS:-}
if [ -z "$real" ]; then exit 0; fi
for step in 10 1; do
  folder=$work/all
  if [ "$step" -eq 10 ]; then folder=$work/real; else set -- "$own"; fi
  python3 - "$real" "$step" > "$folder/labels.jsonl" <<'LIST'
import json, os, sys
folders = sorted(f for f, _, files in os.walk(sys.argv[1]) if "SKILL.md" in files)
for folder in folders[:: int(sys.argv[2])]:
    size = sum(os.path.getsize(os.path.join(f, n)) for f, _, names in os.walk(folder) for n in names)
    print(json.dumps({"case": folder, "label": "benign", "cls": "", "subset": "real", "source_repo": "", "bytes": size}))
LIST
  echo
  echo "# Real skills, one in $step"
  python3 bench.py --corpus "$folder" --out "$folder" "$@"
done
