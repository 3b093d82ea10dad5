#!/usr/bin/env bash
# All tests, counted, then the output of those that failed. Fails if anything failed, or if nothing ran.
# usage: test.sh [soak]     soak: the long tests too, optimised, with SANTOKU_SEEDS as large as they like, and the whole matrix of objects
set -euo pipefail
cd "$(dirname "$0")/.."
# `--tests`: no suites of examples in documentation, for there are none.
case "${1:-}" in
"") profile=debug how=(--locked --workspace --tests) only=(--show-output) ;;
soak) profile=release how=(--release --locked --workspace --tests) only=(--show-output --include-ignored) ;;
*) echo "test: no \`$1\`; there is: soak" >&2; exit 2 ;;
esac
# Generated inputs are the same in every run of `make test`, and other ones in every `make soak`; a seed that failed can be given again.
case "$profile" in debug) seed=1 ;; *) seed=$(date +%s) ;; esac
export PROPTEST_RNG_SEED=${PROPTEST_RNG_SEED:-$seed}
echo "test: PROPTEST_RNG_SEED=$PROPTEST_RNG_SEED"

log=$(mktemp) said=$(mktemp) broken=$(mktemp)
# Checks that could not be made write a line each into this file (`crates/skips`). Set-up has installed all compilers and tools,
# so only what the machine itself lacks is a reason; anything else fails.
export SANTOKU_SKIPS=$(mktemp) SANTOKU_STRICT=1
commands=
trap '[ -z "$commands" ] || kill "$commands" 2>/dev/null || true; rm -f "$log" "$said" "$broken" "$SANTOKU_SKIPS"' EXIT

# One build for the tests and for the command that is tried below.
echo "test: building the workspace and its tests"
if ! cargo test "${how[@]}" --no-run >"$log" 2>&1; then
  cat "$log"
  echo "failed: the build"
  exit 1
fi
grep '^warning: unused' "$log" || true
folder=$(cargo metadata --locked --no-deps --format-version 1 | sed 's/.*"target_directory":"\([^"]*\)".*/\1/')

# While tests of one thread run, the commands have the other core.
run() {
  local from=$SECONDS
  echo "+ santoku $*"
  "$folder/$profile/santoku" "$@" &
  child=$!
  wait "$child" || echo "santoku $1 $2" >>"$broken"
  echo "  $((SECONDS - from)) s"
}
all() {
  # An interrupted run leaves nothing behind.
  trap 'kill "$child" 2>/dev/null; exit 1' TERM
  run fmt --check $(find lib -name '*.stk' | sort)
  run test lib/nacl lib/hash lib/field lib/cipher
  run prove lib/cipher
  run prove lib/nacl/sign.stk --target rv32-spark
  # Proves every shipped primitive for each of its targets, too.
  run dist --check
  # Every object of the matrix; code that is not yet followed is listed, wrong code fails.
  [ "$profile" = debug ] || { run lab certify --faults-only --no-record; run dist --check --every-object; }
}
all >"$said" 2>&1 &
commands=$!

echo "test: running the workspace's tests"
status=0
# The pipe ends with cargo's status: that grep finds nothing is no failure.
# Lines that begin with `tried` are the counts of the tests that attack the tree.
cargo test "${how[@]}" --no-fail-fast -- "${only[@]}" 2>&1 | tee "$log" | { grep -E '^(test result|running [1-9]|error|tried|test .* FAILED|warning: unused)' || true; } || status=$?

echo "test: library tests, proofs and generated code"
wait "$commands" || echo "santoku commands broke off" >>"$broken"
commands=
cat "$said"

# Every suite's part from `failures:` on holds the output of its failed tests; errors of the compiler end with an empty line.
awk '/^failures:$/ { test = 1 } /^error/ { error = 1 } test || error; /^test result/ { test = 0 } /^$/ { error = 0 }' "$log"
count() { awk -v what="$1;" '/^test result/ { for (i = 2; i <= NF; i++) if ($i == what) n += $(i - 1) } END { print n + 0 }' "$log"; }
passed=$(count passed)
failed=$(($(count failed) + $(wc -l <"$broken")))
sort -u "$SANTOKU_SKIPS"
skipped=$(sort -u "$SANTOKU_SKIPS" | grep -c . || true)
echo "left to make soak: $(count ignored) long tests"
echo "$passed passed, $failed failed, $skipped skipped"
sed 's/.*/failed: & .../' "$broken"
# What was tried for hours is kept.
[ "$profile" = debug ] || {
  echo "$passed passed, $failed failed, $skipped skipped, $((SECONDS / 60)) min, PROPTEST_RNG_SEED=$PROPTEST_RNG_SEED"
  grep -E '^(test .* FAILED|tried)' "$log" || true
  sed 's/.*/failed: &/' "$broken"
  cat "$said"
} | tools/record.sh soak
[ "$passed" -gt 0 ] || echo "failed: no test ran"
[ "$status" -eq 0 ] || echo "failed: cargo test, exit code $status"
[ "$status" -eq 0 ] && [ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
