#!/usr/bin/env bash
# The whole of Santoku on one primitive: interpret, prove, build, measure.
set -euo pipefail
cd "$(dirname "$0")/.."
santoku=target/release/santoku

step() { printf '\n== %s\n' "$*"; }

step "1. The published test vectors of Ed25519, in the interpreter"
$santoku test lib/nacl/sign.stk
step "2. Proof: safety, secrecy and meaning of crypto_sign"
$santoku prove lib/nacl/sign.stk --target rv32
step "3. C99 out of the compiler, compared with what is committed in dist/"
$santoku dist --check
step "4. Cycles, stack and size on the 32-bit RISC-V model, beside TweetNaCl in the same run"
$santoku lab table nacl.sign --levels O2,Os
step "5. The host, beside libsodium, OpenSSL and TweetNaCl in the same run"
$santoku lab table nacl.sign --machine host
step "6. Where the cycles go"
$santoku lab profile nacl.sign -o build/nacl_sign.svg
