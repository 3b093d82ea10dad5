#!/usr/bin/env bash
# Builds the fuzz targets of fuzz/ with clang's libFuzzer and sanitizers, and runs each; the inputs that reached something new stay in build/fuzz.
# usage: fuzz.sh [SECONDS]     for each target, 60 where nothing is said
#   RUNS=N: so many inputs instead, from a fixed seed     DIST=FOLDER: other C than that of dist/c     OUT=FOLDER: another place than build/fuzz
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=${1:-60} dist=${DIST:-dist/c} out=${OUT:-build/fuzz}
[[ $seconds =~ ^[1-9][0-9]*$ ]] || { echo "fuzz: \`$seconds\` is no number of seconds" >&2; exit 2; }
units=(aead_aesgcm aead_chacha20poly1305 aead_xchacha20poly1305 hmac_sha256 hmac_sha512 nacl p256_ecdsa_verify secp256k1_ecdsa_verify)
sources=() include=()
for unit in "${units[@]}"; do
  sources+=("$dist/$unit/$unit.c")
  include+=(-I "$dist/$unit")
done
clang=$(grep '^command = "clang' targets/compilers.toml | cut -d'"' -f2 | sed -n 1p)
tried=0
for target in fuzz/*.c; do
  name=$(basename "$target" .c)
  mkdir -p "$out/$name"
  # An input for each function and each thing that is done to it: with these, the fuzzer need not find out how long inputs are.
  for what in {0..9} {16..25}; do
    for change in 00 01; do
      { printf '%b' "\\x$(printf %02x "$what")\\x$change\\x05\\x00"; head -c $((300 + 41 * what)) /dev/zero | tr '\0' 'k'; } >"$out/$name/seed-$what-$change"
    done
  done
  echo "fuzz: building $name"
  "$clang" -g -O1 -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=undefined '-DSTK_NAME(n)=our_##n' -Drandombytes=our_randombytes -DSTK_REFUSE_SMALL_ORDER \
    "${include[@]}" "$target" "${sources[@]}" -lsodium -o "$out/$name.run"
  how=("-max_total_time=$seconds")
  [ -z "${RUNS:-}" ] || how=("-runs=$RUNS" -seed=1)
  if ! "$out/$name.run" "${how[@]}" -max_len=2000 -len_control=0 -artifact_prefix="$out/$name-" "$out/$name" >"$out/$name.log" 2>&1; then
    tail -n 40 "$out/$name.log"
    echo "failed: fuzz target $name; $out/$name.run FILE runs the input again" >&2
    exit 1
  fi
  echo "fuzz: $name: $(grep -oE 'Done [0-9]+ runs' "$out/$name.log" | tail -n 1), no finding"
  tried=$((tried + 1))
done
[ "$tried" -gt 0 ] || { echo "failed: fuzz/ has no target" >&2; exit 1; }
