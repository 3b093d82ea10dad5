#!/usr/bin/env bash
# All tests, counted. Fails on the first suite that fails, and if nothing ran.
set -euo pipefail
cd "$(dirname "$0")/.."

log=$(mktemp)
trap 'rm -f "$log"' EXIT

echo "test: building and running the workspace's tests"
cargo test --locked --workspace --no-fail-fast 2>&1 | tee "$log" | grep -E '^(test result|running [1-9]|error|failures:|---- |test .* FAILED|warning: unused)' || true
status=${PIPESTATUS[0]}

echo "test: library tests, proofs and generated code"
run() { echo "+ santoku $*"; cargo run --locked --quiet --release -p santoku-cli -- "$@"; }
lib_status=0
run fmt --check $(find lib -name '*.stk' | sort) || lib_status=1
run test lib/nacl lib/hash lib/field lib/cipher || lib_status=1
run prove lib/nacl/sign.stk --target rv32 || lib_status=1
run prove lib/nacl/sign.stk --target host64 || lib_status=1
run prove lib/field/fep256_mont64.stk --target ckb || lib_status=1
run prove lib/cipher || lib_status=1
run dist --check || lib_status=1

passed=$(awk '/^test result/ { for (i = 1; i <= NF; i++) if ($i == "passed;") n += $(i - 1) } END { print n + 0 }' "$log")
failed=$(awk '/^test result/ { for (i = 1; i <= NF; i++) if ($i == "failed;") n += $(i - 1) } END { print n + 0 }' "$log")
ignored=$(awk '/^test result/ { for (i = 1; i <= NF; i++) if ($i == "ignored;") n += $(i - 1) } END { print n + 0 }' "$log")
if [ "$lib_status" -ne 0 ]; then failed=$((failed + 1)); fi
echo "$passed passed, $failed failed, $ignored skipped"
if [ "$status" -ne 0 ] || [ "$failed" -ne 0 ] || [ "$passed" -eq 0 ]; then
  grep -E '^(error|---- |test .* FAILED)' "$log" | head -40 >&2 || true
  exit 1
fi
