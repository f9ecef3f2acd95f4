#!/bin/sh
# Measures what recording and importing uses costs, beside the floor. README.md explains the rows and
# the variables.
#
#   usage.sh [PAIRS]      usage.sh 30
#
# Exit status 1 if any run was wrong.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
. "$here/setup.sh"

copy_harness
build_floor
build_limits
build_skilldb
skills_tree 100
skills_tree 10000
exec python3 "$here/usage.py" "${1:-30}" --work "$work" --homes "$homes" \
    --spawn "$limits/target-static/$host/release/spawn"
