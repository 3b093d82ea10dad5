#!/usr/bin/env bash
# All tests, counted, then the output of those that failed. Fails if anything failed, or if nothing ran.
set -euo pipefail
cd "$(dirname "$0")/.."

log=$(mktemp)
trap 'rm -f "$log"' EXIT

echo "test: building and running the workspace's tests"
status=0
# The pipe ends with cargo's status: that grep finds nothing is no failure.
cargo test --locked --workspace --no-fail-fast 2>&1 | tee "$log" | { grep -E '^(test result|running [1-9]|error|test .* FAILED|warning: unused)' || true; } || status=$?

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

# Every suite's part from `failures:` on holds the output of its failed tests; errors of the compiler end with an empty line.
awk '/^failures:$/ { test = 1 } /^error/ { error = 1 } test || error; /^test result/ { test = 0 } /^$/ { error = 0 }' "$log"
count() { awk -v what="$1;" '/^test result/ { for (i = 2; i <= NF; i++) if ($i == what) n += $(i - 1) } END { print n + 0 }' "$log"; }
passed=$(count passed)
failed=$(($(count failed) + ${#broken[@]}))
echo "$passed passed, $failed failed, $(count ignored) skipped"
for command in "${broken[@]}"; do echo "failed: $command ..."; done
[ "$passed" -gt 0 ] || echo "failed: no test ran"
[ "$status" -eq 0 ] || echo "failed: cargo test, exit code $status"
[ "$status" -eq 0 ] && [ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
