#!/bin/sh
# Measures search beside SQLite's full-text search on questions others have labelled, or fits its weights (`fit`).
# See README.md.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
bench=${SKILLDB_RETRIEVAL_BENCH:-$root/../shared/bench/retrieval}
work=${BENCH_WORK:-$here/work}
mkdir -p "$work"
cargo build --release --locked --quiet --manifest-path "$root/Cargo.toml" --bin skilldb --example retrieval
skilldb=$root/target/release/skilldb
retrieval=$root/target/release/examples/retrieval

# A store of so many skills (0: all), and a library of it.
store() {
  if [ ! -e "$work/$1/map.json" ]; then python3 "$bench/export_store.py" "$work/$1" --n "$2" >/dev/null; fi
  rm -rf "$work/home-$1"
  "$skilldb" --home "$work/home-$1" --quiet sync "$work/$1/skills" >/dev/null 2>&1 || true
}

if [ "${1:-}" = fit ]; then
  store all 0
  exec "$retrieval" fit "$work/home-all" "$work/all"
fi

# Plain full-text search: as the bench has it (Porter, weighed), and with nothing set.
sed -e "s/tokenize='porter unicode61'/tokenize='unicode61'/" -e 's/bm25(s,0,5,5,.5)/bm25(s)/' "$bench/ref_fts5.py" > "$work/plain_fts5.py"
cp "$bench/common.py" "$work/common.py"
export SKILLDATA="$bench/"
for size in all:0 small:300; do
  name=${size%:*}
  store "$name" "${size#*:}"
  echo "# $name: search, in one process"
  "$retrieval" eval "$work/home-$name" "$work/$name"
  echo; echo "# $name: whole processes, one a question"
  echo "## skilldb"
  python3 "$bench/bench_cmd.py" "$work/$name" --cmd "$skilldb --home $work/home-$name search --json --limit 10 -- {q}"
  echo "## FTS5, Porter, weighed"
  python3 "$bench/ref_fts5.py" index "$work/$name-porter.db" "$work/$name/skills"
  python3 "$bench/bench_cmd.py" "$work/$name" --cmd "python3 $bench/ref_fts5.py search $work/$name-porter.db {q}"
  echo "## FTS5, as it comes"
  python3 "$work/plain_fts5.py" index "$work/$name-plain.db" "$work/$name/skills"
  python3 "$bench/bench_cmd.py" "$work/$name" --cmd "python3 $work/plain_fts5.py search $work/$name-plain.db {q}"
  echo
done
