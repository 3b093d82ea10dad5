#!/usr/bin/env bash
# Compares the timing model with the Rocket RTL: builds the RTL, runs the calibration programs in it and on the model.
# usage: compare.sh [micro|ours|all]     ours (the default): the micro-tests, and our signature, verification and X25519, as assembly of ours and by gcc -O2, two minutes;
#                                        micro: the micro-tests, a minute; all: three signatures by TweetNaCl too, 15 to 40 minutes
# Needs what build.sh needs, cargo, and riscv64-unknown-elf-gcc. Exit status 1 when a program is off by more than 0.5 %.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
out=$root/build/rtl
what=${1:-ours}
case $what in
micro) patterns=('micro-*.flash') ;;
ours) patterns=('micro-*.flash' 'ours-*.flash' 'gcc-*.flash') ;;
all) patterns=('*.flash') ;;
*) echo "usage: compare.sh [micro|ours|all]" >&2; exit 2 ;;
esac

"$here/build.sh" "$out" >&2
bench=(cargo run --quiet --release --manifest-path "$root/Cargo.toml" -p santoku-lab --example rtl_bench --)
for program in nacl/sign scalarmult/curve25519; do
    cargo run --quiet --release --manifest-path "$root/Cargo.toml" -p santoku-cli -- build "$root/lib/$program.stk" --target e31 --inline 70 --emit asm -o "$out/ours" >/dev/null
    cargo run --quiet --release --manifest-path "$root/Cargo.toml" -p santoku-cli -- build "$root/lib/$program.stk" --target rv32 -o "$out/gcc" >/dev/null
done
"${bench[@]}" write "$out/programs" "$out" >/dev/null
rm -f "$out"/programs/*.out
for pattern in "${patterns[@]}"; do for flash in "$out"/programs/$pattern; do
    echo "RTL: $(basename "$flash" .flash)" >&2
    "$out/e31" "$flash" >"$flash.part"
    mv "$flash.part" "${flash%.flash}.out"
done; done
outcome=$("${bench[@]}" compare "$out/programs") && status=0 || status=$?
printf '%s\n' "$outcome"
"$root/tools/record.sh" rtl-e31 <<<"$outcome"
exit "$status"
