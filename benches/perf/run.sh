#!/bin/sh
# Measures skilldb against the contestants of contestants.json. README.md explains the variables.
#
#   run.sh [SIZES [REPS]]      run.sh 100,1000,10000 7
#
# Exit status 1 if any run was wrong.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
. "$here/setup.sh"
sizes=${1:-100,1000}
reps=${2:-7}
who=${BENCH_WHO:-skilldb}
venv=${HERMES_VENV:-$work/hermes-venv}

copy_harness
build_floor
build_limits
if [ -d "$limits" ]; then
    build "$limits" "$limits/target" --bin limits
    ln -sfn "$limits/target/release/limits" "$work/bin/limits"
fi
if [ "$who" = skilldb ]; then build_skilldb; fi

if [ -x "$venv/bin/hermes" ] && [ "$venv" != "$work/hermes-venv" ]; then
    ln -sfn "$(cd "$venv" && pwd)" "$work/hermes-venv"
fi

for n in $(echo "$sizes" | tr ',' ' '); do
    skills_tree "$n"
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
