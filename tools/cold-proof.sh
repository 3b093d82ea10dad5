#!/usr/bin/env bash
# Time of the whole library's proof with nothing kept of earlier ones, here and at another commit: both in turn, each proving its own
# library on the processor's cores. Prints medians and their ratio, and keeps a record. Wants a quiet machine (about 5 minutes).
# usage: cold-proof.sh COMMIT [TURNS]
set -euo pipefail
cd "$(dirname "$0")/.."
other=${1:?usage: cold-proof.sh COMMIT [TURNS]}
turns=${2:-9}
at=$(git rev-parse --short=12 "$other^{commit}")
tree=build/cold-proof-$at

echo "cold-proof: santoku here and at $at (release)" >&2
cargo build --release --locked --quiet -p santoku-cli
[ -e "$tree/Cargo.toml" ] || git worktree add --quiet --detach "$tree" "$at"
(cd "$tree" && CARGO_TARGET_DIR=target cargo build --release --locked --quiet -p santoku-cli)

# Seconds, and what was proved: a run that leaves something open is no measurement.
one() {
  local start end said
  start=$(date +%s%N)
  said=$(cd "$1" && target/release/santoku prove lib --target rv32 --no-cache 2>&1)
  end=$(date +%s%N)
  said=$(grep ' obligations, ' <<<"$said")
  [[ $said == *" 0 open" ]] || { echo "cold-proof: $1: $said" >&2; exit 1; }
  awk -v t=$((end - start)) 'BEGIN { printf "%.3f\n", t / 1e9 }'
}
median() { sort -n | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'; }

here=() there=()
for ((i = 0; i < turns; i++)); do
  there+=("$(one "$tree")")
  here+=("$(one .)")
  echo "cold-proof: ${here[-1]} s here, ${there[-1]} s at $at" >&2
done
a=$(printf '%s\n' "${here[@]}" | median) b=$(printf '%s\n' "${there[@]}" | median)
tools/record.sh cold-proof <<END
santoku prove lib --target rv32 --no-cache, both in turn, seconds
here: ${here[*]}
$at: ${there[*]}
medians: $a here, $b at $at
ratio: $(awk -v a="$a" -v b="$b" 'BEGIN { printf "%.2f", a / b }')
END
git worktree remove --force "$tree"
