#!/usr/bin/env bash
# All tests but the long ones, counted, then the output of those that failed. Fails if anything failed, or if nothing ran.
set -euo pipefail
cd "$(dirname "$0")/.."
. tools/counts.sh
# Generated inputs are the same in every run, and other ones in every `make soak`. `--tests`: no suites of examples in
# documentation, for there are none.
export PROPTEST_RNG_SEED=${PROPTEST_RNG_SEED:-1}
how=(--locked --workspace --tests)
echo "test: PROPTEST_RNG_SEED=$PROPTEST_RNG_SEED"

log=$(mktemp) said=$(mktemp)
# Checks that could not be made write a line each into this file (`crates/skips`). Set-up has installed all compilers and tools,
# so only what the machine itself lacks is a reason; anything else fails.
export SANTOKU_SKIPS=$(mktemp) SANTOKU_STRICT=1
commands=
trap '[ -z "$commands" ] || kill "$commands" 2>/dev/null || true; rm -f "$log" "$said" "$SANTOKU_SKIPS"' EXIT

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
tools/library.sh "$folder/debug/santoku" >"$said" 2>&1 &
commands=$!

echo "test: running the workspace's tests"
status=0
# The pipe ends with cargo's status: that grep finds nothing is no failure.
# Lines that begin with `tried` are the counts of the tests that attack the tree.
cargo test "${how[@]}" --no-fail-fast -- --show-output 2>&1 | tee "$log" | { grep -E '^(test result|running [1-9]|error|tried|test .* FAILED|warning: unused)' || true; } || status=$?

echo "test: library tests, proofs and generated code"
broken=0
wait "$commands" || broken=$(grep -c '^failed: ' "$said") || broken=1
commands=
cat "$said"

failures "$log"
passed=$(count "$log" passed)
failed=$(($(count "$log" failed) + broken))
sort -u "$SANTOKU_SKIPS"
skipped=$(sort -u "$SANTOKU_SKIPS" | grep -c . || true)
echo "left to make soak: $(count "$log" ignored) long tests"
echo "$passed passed, $failed failed, $skipped skipped"
[ "$passed" -gt 0 ] || echo "failed: no test ran"
[ "$status" -eq 0 ] || echo "failed: cargo test, exit code $status"
[ "$status" -eq 0 ] && [ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
