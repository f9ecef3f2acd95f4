# What run.sh and usage.sh share. Sourced; `here` is the folder it lies in. README.md explains the
# variables.
root=$(cd "$here/../.." && pwd)
bench=${SKILLDB_BENCH:-$root/../shared/bench/perf}
work=${BENCH_WORK:-$here/work}

[ -f "$bench/ab.py" ] || { echo "no ab.py in $bench: set SKILLDB_BENCH to the folder of the harness" >&2; exit 2; }
mkdir -p "$work/bin" "$work/harness"
work=$(cd "$work" && pwd)
homes=${BENCH_HOMES:-$work/homes}
limits=$work/harness/limits
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
copy_harness() {
    for f in ab.py proc.py gen_corpus.py hermes_ops.py sample_body.md limits; do
        if [ -e "$bench/$f" ]; then cp -Rpf "$bench/$f" "$work/harness/"; fi
    done
    chmod -R u+w "$work/harness"
}

build_floor() {
    build_static "$here/floor" "$work/floor-target"
    ln -sfn "$work/floor-target/$host/release/skilldb-floor" "$work/bin/skilldb-floor"
}

build_limits() {
    if [ ! -d "$limits" ]; then return; fi
    build_static "$limits" "$limits/target-static" --bin floor --bin spawn
    ln -sfn "$limits/target-static/$host/release/floor" "$work/bin/floor"
}

build_skilldb() {
    bin=${SKILLDB_BIN:-}
    if [ -z "$bin" ]; then
        target=$(cd "$root" && cargo metadata --no-deps --format-version 1 |
            python3 -c 'import json, sys; print(json.load(sys.stdin)["target_directory"])')
        build "$root" "$target" --bin skilldb
        bin=$target/release/skilldb
    fi
    ln -sfn "$(cd "$(dirname "$bin")" && pwd)/$(basename "$bin")" "$work/bin/skilldb"
}

skills_tree() { # skills_tree SIZE
    if [ ! -f "$homes/n$1/corpus.json" ]; then
        mkdir -p "$homes/n$1"
        nice -n 10 python3 "$work/harness/gen_corpus.py" "$homes/n$1/skills" "$1" >/dev/null
    fi
}
