#!/usr/bin/env bash
# One suite of tests, for test.sh: its output goes to a file, a line of it to the terminal.
# usage: suite.sh FOLDER NAME EXECUTABLE PLACE     FOLDER: gets NAME.log, and NAME.failed if it fails; PLACE: where it runs; both from the root of the tree.
# `library` for an executable: the commands on the library, by the binary that SANTOKU_TRIED names.
set -uo pipefail
folder=$1 name=$2 executable=$3 place=$4
log=$folder/${name//\//.}.log
from=$SECONDS
if [ "$executable" = library ]; then
  tools/library.sh "$SANTOKU_TRIED" >"$log" 2>&1 || touch "$folder/${name//\//.}.failed"
else
  # As cargo runs it; times of single tests are printed by an option that is not stable.
  cd "$place" && CARGO_MANIFEST_DIR=$PWD RUSTC_BOOTSTRAP=1 "$executable" --show-output -Z unstable-options --report-time >"$log" 2>&1 || touch "$folder/${name//\//.}.failed"
fi
# Lines that begin with `tried` are the counts of the tests that attack the tree.
{ grep -E '^(error|tried|test .* FAILED|test result: |failed: )' "$log" || [ "$executable" = library ] || echo "failed: it ended without a result"; } |
  sed "s|^test result:|$name, $((SECONDS - from)) s:|"
