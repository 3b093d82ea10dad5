#!/usr/bin/env bash
# All tests but the long ones, counted, then the output of those that failed. Fails if anything failed, or if nothing ran.
set -euo pipefail
cd "$(dirname "$0")/.."
. tools/counts.sh
# Generated inputs are the same in every run, and other ones in every `make soak`. `--tests`: no suites of examples in
# documentation, for there are none.
export PROPTEST_RNG_SEED=${PROPTEST_RNG_SEED:-1}
# Of the largest matrices a part has its turn each day, and all of it in `make soak`.
export SANTOKU_TURN=${SANTOKU_TURN:-$(($(date +%s) / 86400))}
how=(--locked --workspace --tests)
jobs=$(nproc)
echo "test: PROPTEST_RNG_SEED=$PROPTEST_RNG_SEED, SANTOKU_TURN=$SANTOKU_TURN, $jobs suites at a time"

folder=$(mktemp -d)
# Checks that could not be made write a line each into this file (`crates/skips`). Set-up has installed all compilers and tools,
# so only what the machine itself lacks is a reason; anything else fails.
export SANTOKU_SKIPS=$folder/skips SANTOKU_STRICT=1
touch "$SANTOKU_SKIPS"
suites=
trap '[ -z "$suites" ] || kill "$suites" 2>/dev/null || true; rm -rf "$folder"' EXIT

# One build for the tests and for the command that is tried.
echo "test: building the workspace and its tests"
if ! cargo test "${how[@]}" --no-run --message-format=json-render-diagnostics >"$folder/built" 2>"$folder/build"; then
  cat "$folder/build"
  echo "failed: the build"
  exit 1
fi
grep '^warning: unused' "$folder/build" || true
built=$SECONDS
export SANTOKU_TRIED=$(target_folder)/debug/santoku

# Name, executable and folder of every suite, those first that take longest: one suite is one thread, and none begins late.
test_programs "$folder/built" | while read -r place executable; do
  stem=${executable##*/}
  echo "${place##*/}/${stem%-*} $executable $place"
done >"$folder/all"
echo "library library ." >>"$folder/all"
awk 'NR == FNR { if ($1 !~ /^#/) rank[$1] = NR; next } { print ($1 in rank ? rank[$1] : 1000), $0 }' tools/slow-suites "$folder/all" | sort -n -k1,1 -s | cut -d' ' -f2- >"$folder/order"
[ "$(wc -l <"$folder/order")" -gt 50 ] || { echo "failed: $(wc -l <"$folder/order") suites were found"; exit 1; }

echo "test: running $(wc -l <"$folder/order") suites, and the commands on the library"
RUST_TEST_THREADS=1 xargs -P "$jobs" -L 1 tools/suite.sh "$folder" <"$folder/order" &
suites=$!
wait "$suites" || true
suites=

broken=$(find "$folder" -name '*.failed' | wc -l)
for failed in "$folder"/*.failed; do
  [ -e "$failed" ] || continue
  echo "failed: $(basename "$failed" .failed)"
  failures "${failed%.failed}.log"
done
cat "$folder/library.log"
cat "$folder"/*.log >"$folder/everything"
sort -u "$SANTOKU_SKIPS"
skipped=$(sort -u "$SANTOKU_SKIPS" | grep -c . || true)
echo "the slowest tests, in seconds:"
grep -H '^test .* <[0-9.]*s>$' "$folder"/*.log | sed 's|.*/\([^/]*\)\.log:test \(.*\) \.\.\. .* <\([0-9.]*\)s>$|\3 \1 \2|' | sort -rn | sed -n 1,10p
passed=$(count "$folder/everything" passed)
failed=$(count "$folder/everything" failed)
results=$(grep -c '^test result: ' "$folder/everything" || true)
echo "left to make soak: $(count "$folder/everything" ignored) long tests"
echo "$passed passed, $failed failed, $skipped skipped; $results suites; built in $built s, tested in $((SECONDS - built)) s"
[ "$passed" -gt 0 ] || echo "failed: no test ran"
# Once more at the end, where a reader looks: a command on the library counts as no test.
find "$folder" -name '*.failed' -printf '%f\n' | sed 's/^\(.*\)\.failed$/failed: \1, see above/'
# Every suite says how it ended, and every command was tried.
[ "$((results + 1))" -eq "$(wc -l <"$folder/order")" ] || { echo "failed: a suite has no result"; broken=$((broken + 1)); }
[ "$broken" -eq 0 ] && [ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
