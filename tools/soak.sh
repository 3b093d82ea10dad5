#!/usr/bin/env bash
# All tests with the long ones, optimised, and the whole matrix of objects: hours. They are done in parts, and every part keeps a
# record in lab/runs when it ends. A part that passed with the same inputs is passed over: what is broken off goes on.
# usage: soak.sh [list | PART...]
#   default: every part     list: names them     FRESH=1: no part is passed over     SANTOKU_SEEDS=N: more of what is generated
set -euo pipefail
cd "$(dirname "$0")/.."
# Matrices of which a usual run takes a part are tried as a whole.
export SANTOKU_WHOLE=1
. tools/counts.sh
# Inputs are other ones in every run; a seed that failed can be given again.
export PROPTEST_RNG_SEED=${PROPTEST_RNG_SEED:-$(date +%s)} SANTOKU_STRICT=1
built_at=$(git rev-parse --short=12 HEAD 2>/dev/null || echo unknown)
work=$(mktemp -d)
children=()
leave() {
  for child in "${children[@]}"; do kill -- "-$child" 2>/dev/null || true; done
  rm -rf "$work"
}
trap leave EXIT
trap 'exit 1' TERM INT

# One build, of everything together: a package built alone would get other features of what it depends on.
echo "soak: building the workspace and its tests"
if ! cargo test --release --locked --workspace --tests --no-run --message-format=json-render-diagnostics >"$work/built" 2>"$work/build"; then
  cat "$work/build"
  echo "failed: the build"
  exit 1
fi
test_programs "$work/built" >"$work/programs"
santoku=$(target_folder)/release/santoku
mapfile -t crates < <(cut -d' ' -f1 "$work/programs" | sort -u)
mapfile -t programs < <("$santoku" lab certify --list)

# What a part's outcome depends on: the project's own packages below it, the library and what is generated of it, compilers.
# Pages are no input: the tests that read them are short, and `make test` runs them.
tools_used=$({ rustc -V; for c in $(grep -h '^command = ' targets/compilers.toml | cut -d'"' -f2) clang-14 clang-16; do "$c" --version | sed -n 1p; done; } 2>&1)
inputs() {
  local crate=cli edges=normal,build below
  [[ $1 != tests-* ]] || { crate=${1#tests-} edges=all; }
  mapfile -t below < <(cargo tree --quiet --locked --manifest-path "crates/$crate/Cargo.toml" -e "$edges" --prefix none -f '{p}' | grep -o '/crates/[a-z0-9-]*' | sort -u | sed 's,^/,,')
  [ "${#below[@]}" -gt 0 ] || return 1
  { echo "$tools_used"; find "${below[@]}" lib dist targets tuned proof peers lab/rtl Cargo.toml Cargo.lock -type f | sort | xargs sha256sum; } | sha256sum | cut -c 1-16
}
known() { grep -lx "inputs $2" lab/runs/*/summary.md 2>/dev/null | xargs -r grep -lxF "soak-$1 passed" | sed -n 1p || true; }

# All test programs of a package, each in the package's folder as cargo does it.
suites() {
  local status=0 crate suite
  while read -r crate suite; do
    [ "$crate" = "$1" ] || continue
    echo "     Running ${suite##*/}"
    (cd "$crate" && CARGO_MANIFEST_DIR=$PWD RUST_BACKTRACE=0 "$suite" --show-output --include-ignored </dev/null) || status=1
  done <"$work/programs"
  return "$status"
}
# Runs one part; its output goes to FILE. Nothing tried is a failure.
try() {
  case "$1" in
  tests-*) suites "crates/${1#tests-}" >"$2" 2>&1 && [ "$(count "$2" passed)" -gt 0 ] ;;
  objects-*) "$santoku" lab certify "${1#objects-}" --faults-only --no-record >"$2" 2>&1 ;;
  library) tools/library.sh "$santoku" every-object >"$2" 2>&1 ;;
  esac
}
# What is worth keeping of a part's output.
outcome() {
  case "$1" in
  tests-*)
    echo "$(count "$2" passed) passed, $(count "$2" failed) failed, $(sort -u "$SANTOKU_SKIPS" | grep -c . || true) skipped"
    sort -u "$SANTOKU_SKIPS"
    grep -E '^(test .* FAILED|tried)' "$2" || true
    failures "$2" | tail -n 200
    # A suite may also have been killed.
    [ "$3" = passed ] || tail -n 3 "$2"
    ;;
  *) cat "$2" ;;
  esac
}
part() {
  local name=$1 digest before status=passed from=$SECONDS log=$work/log-$1
  digest=$(inputs "$name")
  before=$([ -n "${FRESH:-}" ] || known "$name" "$digest")
  if [ -n "$before" ]; then
    echo "soak: $name passed before: $before"
    return
  fi
  echo "soak: $name begins"
  export SANTOKU_SKIPS=$work/skips-$name
  : >"$SANTOKU_SKIPS"
  try "$name" "$log" || status=failed
  {
    echo "soak-$name $status"
    echo "inputs $digest"
    echo "PROPTEST_RNG_SEED=$PROPTEST_RNG_SEED${SANTOKU_SEEDS:+ SANTOKU_SEEDS=$SANTOKU_SEEDS}, $(((SECONDS - from + 30) / 60)) min"
    echo "built at commit $built_at"
    echo "$tools_used"
    outcome "$name" "$log" "$status"
  } >"$work/outcome-$name"
  [ "$status" = passed ] || { cat "$work/outcome-$name"; echo "$name" >>"$work/failed"; }
  tools/record.sh "soak-$name" <"$work/outcome-$name"
  echo "soak: $name $status, $(((SECONDS - from + 30) / 60)) min"
}

tests=("${crates[@]/#crates\//tests-}") others=(library "${programs[@]/#/objects-}")
case "${1:-}" in
list)
  printf '%s\n' "${tests[@]}" "${others[@]}"
  exit
  ;;
?*)
  for name in "$@"; do
    printf '%s\n' "${tests[@]}" "${others[@]}" | grep -xF -- "$name" >/dev/null || { echo "soak: no part is called \`$name\`; \`tools/soak.sh list\` names them" >&2; exit 2; }
  done
  tests=("$@") others=()
  ;;
esac
# Two rows of parts at once: many tests have one thread. Each is a process group, which ends as a whole.
set -m
: >"$work/failed"
row() { for name in "$@"; do part "$name"; done; }
row "${tests[@]}" & children+=($!)
row "${others[@]}" & children+=($!)
for child in "${children[@]}"; do wait "$child" || echo "a row broke off" >>"$work/failed"; done
children=()
echo "soak: $((${#tests[@]} + ${#others[@]})) parts, $(wc -l <"$work/failed") failed, PROPTEST_RNG_SEED=$PROPTEST_RNG_SEED"
sed 's/^/failed: /' "$work/failed"
[ ! -s "$work/failed" ]
