#!/usr/bin/env bash
# Library tests, proofs and generated code, each command with its time. Exit code 1 if one failed, with its name.
# usage: library.sh SANTOKU [every-object]     every-object: all objects of the list are certified anew, not two of them
set -uo pipefail
cd "$(dirname "$0")/.."
santoku=${1:?usage: library.sh SANTOKU [every-object]} every=()
[ "${2:-}" != every-object ] || every=(--every-object)
status=0 child=
# An interrupted run leaves nothing behind.
trap 'kill "$child" 2>/dev/null; exit 1' TERM INT
run() {
  local from=$SECONDS
  echo "+ santoku $*"
  "$santoku" "$@" &
  child=$!
  wait "$child" || { echo "failed: santoku $1 $2 ..."; status=1; }
  echo "  $((SECONDS - from)) s"
}
# Specifications keep the layout of their standard.
run fmt --check $(find lib -name '*.stk' ! -name '*_spec.stk' | sort)
run test lib
run prove lib/cipher lib/onetimeauth lib/hash lib/scalarmult lib/aead
run prove lib/ecdsa/secp256k1.stk --target ckb
run prove lib/ec --target host64
run prove lib/nacl/sign.stk --target rv32-spark
# Proves every shipped primitive for each of its targets, too.
run dist --check "${every[@]}"
exit "$status"
