#!/usr/bin/env bash
# All tests, counted, then the output of those that failed. Fails if anything failed, or if nothing ran.
# usage: test.sh [soak]     soak: the long tests too, optimised, with SANTOKU_SEEDS as large as they like, and the whole matrix of objects
set -euo pipefail
cd "$(dirname "$0")/.."
case "${1:-}" in
"") how=(--locked --workspace --no-fail-fast) only=(--show-output) ;;
soak) how=(--release --locked --workspace --no-fail-fast) only=(--show-output --include-ignored) ;;
*) echo "test: no \`$1\`; there is: soak" >&2; exit 2 ;;
esac

log=$(mktemp)
# Checks that could not be made write a line each into this file (`crates/skips`). Set-up has installed all compilers and tools,
# so only what the machine itself lacks is a reason; anything else fails.
export SANTOKU_SKIPS=$(mktemp) SANTOKU_STRICT=1
trap 'rm -f "$log" "$SANTOKU_SKIPS"' EXIT

echo "test: building and running the workspace's tests"
status=0
# The pipe ends with cargo's status: that grep finds nothing is no failure.
# Lines that begin with `tried` are the counts of the tests that attack the tree.
cargo test "${how[@]}" -- "${only[@]}" 2>&1 | tee "$log" | { grep -E '^(test result|running [1-9]|error|tried|test .* FAILED|warning: unused)' || true; } || status=$?

echo "test: library tests, proofs and generated code"
broken=()
run() {
  echo "+ santoku $*"
  cargo run --locked --quiet --release -p santoku-cli -- "$@" || broken+=("santoku $1 $2")
}
run fmt --check $(find lib -name '*.stk' | sort)
run test lib/nacl lib/hash lib/field lib/cipher
run prove lib/cipher
run prove lib/nacl/sign.stk --target rv32-spark
# Proves every shipped primitive for each of its targets, too.
run dist --check
# Every object of the matrix; code that is not yet followed is listed, wrong code fails.
[ "${1:-}" != soak ] || { run lab certify --faults-only --no-record; run dist --check --every-object; }

# Every suite's part from `failures:` on holds the output of its failed tests; errors of the compiler end with an empty line.
awk '/^failures:$/ { test = 1 } /^error/ { error = 1 } test || error; /^test result/ { test = 0 } /^$/ { error = 0 }' "$log"
count() { awk -v what="$1;" '/^test result/ { for (i = 2; i <= NF; i++) if ($i == what) n += $(i - 1) } END { print n + 0 }' "$log"; }
passed=$(count passed)
failed=$(($(count failed) + ${#broken[@]}))
sort -u "$SANTOKU_SKIPS"
skipped=$(sort -u "$SANTOKU_SKIPS" | grep -c . || true)
echo "left to make soak: $(count ignored) long tests"
echo "$passed passed, $failed failed, $skipped skipped"
for command in "${broken[@]}"; do echo "failed: $command ..."; done
[ "$passed" -gt 0 ] || echo "failed: no test ran"
[ "$status" -eq 0 ] || echo "failed: cargo test, exit code $status"
[ "$status" -eq 0 ] && [ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
