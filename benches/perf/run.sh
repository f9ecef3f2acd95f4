#!/bin/sh
# Measures skilldb against the contestants of contestants.json. README.md explains the variables.
#
#   run.sh [SIZES [REPS]]      run.sh 100,1000,10000 7
#
# Exit status 1 if any run was wrong.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
sizes=${1:-100,1000}
reps=${2:-7}
bench=${SKILLDB_BENCH:-$root/../shared/bench/perf}
work=${BENCH_WORK:-$here/work}
who=${BENCH_WHO:-skilldb}

[ -f "$bench/ab.py" ] || { echo "no ab.py in $bench: set SKILLDB_BENCH to the folder of the harness" >&2; exit 2; }
mkdir -p "$work/bin" "$work/harness"
work=$(cd "$work" && pwd)
homes=${BENCH_HOMES:-$work/homes}
venv=${HERMES_VENV:-$work/hermes-venv}
host=$(rustc -vV | sed -n 's/^host: //p')

build() { # build FOLDER TARGET [OPTION ...]
    folder=$1; target=$2; shift 2
    (cd "$folder" && nice -n 10 cargo build --release --quiet --target-dir "$target" "$@")
}
build_static() { # the same without dynamic linking, which costs a process half a millisecond
    folder=$1; target=$2; shift 2
    (cd "$folder" && RUSTFLAGS="-C target-feature=+crt-static" nice -n 10 \
        cargo build --release --quiet --target "$host" --target-dir "$target" "$@")
}

# ab.py looks for its starter below its own folder, which may be read-only: run a copy of it.
for f in ab.py proc.py gen_corpus.py hermes_ops.py sample_body.md limits; do
    if [ -e "$bench/$f" ]; then cp -Rpf "$bench/$f" "$work/harness/"; fi
done
chmod -R u+w "$work/harness"

build_static "$here/floor" "$work/floor-target"
ln -sfn "$work/floor-target/$host/release/skilldb-floor" "$work/bin/skilldb-floor"

limits=$work/harness/limits
if [ -d "$limits" ]; then
    build "$limits" "$limits/target" --bin limits
    build_static "$limits" "$limits/target-static" --bin floor --bin spawn
    ln -sfn "$limits/target/release/limits" "$work/bin/limits"
    ln -sfn "$limits/target-static/$host/release/floor" "$work/bin/floor"
fi

if [ "$who" = skilldb ]; then
    bin=${SKILLDB_BIN:-}
    if [ -z "$bin" ]; then
        target=$(cd "$root" && cargo metadata --no-deps --format-version 1 |
            python3 -c 'import json, sys; print(json.load(sys.stdin)["target_directory"])')
        build "$root" "$target" --bin skilldb
        bin=$target/release/skilldb
    fi
    ln -sfn "$(cd "$(dirname "$bin")" && pwd)/$(basename "$bin")" "$work/bin/skilldb"
fi

if [ -x "$venv/bin/hermes" ] && [ "$venv" != "$work/hermes-venv" ]; then
    ln -sfn "$(cd "$venv" && pwd)" "$work/hermes-venv"
fi

for n in $(echo "$sizes" | tr ',' ' '); do
    if [ ! -f "$homes/n$n/corpus.json" ]; then
        mkdir -p "$homes/n$n"
        nice -n 10 python3 "$work/harness/gen_corpus.py" "$homes/n$n/skills" "$n" >/dev/null
    fi
done

wrong=0
for other in ${BENCH_AGAINST:-limit-all limit hermes}; do
    case $other in
    limit) [ -d "$limits" ] || { echo "no limits crate in $bench: limit left out" >&2; continue; } ;;
    hermes) [ -x "$work/hermes-venv/bin/hermes" ] || { echo "no Hermes in $venv: left out" >&2; continue; } ;;
    esac
    python3 "$work/harness/ab.py" "$who" "$other" --file "$here/contestants.json" --sizes "$sizes" \
        --reps "$reps" --ops "${BENCH_OPS:-}" --work "$work" --corpora "$homes" \
        --out "$work/ab.jsonl" || wrong=1
    echo
done
exit $wrong
