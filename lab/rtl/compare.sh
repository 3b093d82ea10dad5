#!/usr/bin/env bash
# Compares the timing model with the Rocket RTL: builds the RTL, runs the calibration programs in it and on the model.
# usage: compare.sh [micro|all]     micro (the default): the micro-tests, a minute; all: three signatures too, 15 to 40 minutes
# Needs what build.sh needs, cargo, and riscv64-unknown-elf-gcc. Exit status 1 when a program is off by more than 0.5 %.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
out=$root/build/rtl
what=${1:-micro}
case $what in
micro) pattern='micro-*.flash' ;;
all) pattern='*.flash' ;;
*) echo "usage: compare.sh [micro|all]" >&2; exit 2 ;;
esac

"$here/build.sh" "$out" >&2
bench=(cargo run --quiet --release --manifest-path "$root/Cargo.toml" -p santoku-lab --example rtl_bench --)
"${bench[@]}" write "$out/programs" >/dev/null
rm -f "$out"/programs/*.out
for flash in "$out"/programs/$pattern; do
    echo "RTL: $(basename "$flash" .flash)" >&2
    "$out/e31" "$flash" >"$flash.part"
    mv "$flash.part" "${flash%.flash}.out"
done
outcome=$("${bench[@]}" compare "$out/programs") && status=0 || status=$?
printf '%s\n' "$outcome"
"$root/tools/record.sh" rtl-e31 <<<"$outcome"
exit "$status"
