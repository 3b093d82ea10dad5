#!/usr/bin/env bash
# Makes the packages of packages/, builds and tests them, and measures them beside other packages of their kind. Prints what failed last, and exits with 1.
# usage: packages.sh [NAME...]     default: all
set -euo pipefail
cd "$(dirname "$0")/.."
santoku=target/release/santoku
newer=build/debian13

# A folder with Debian 13, in which mirage-crypto-ec has strings for bytes. Kept for the next run.
newer_debian() {
  [ -e "$newer/complete" ] && return
  [ "$(id -u)" -eq 0 ] || { echo "  skipped: beside mirage-crypto-ec: only root can make a folder with Debian 13"; return 1; }
  echo "  making $newer, with Debian 13, OCaml 5 and mirage-crypto-ec (2 minutes, 1 GB)"
  rm -rf "$newer"
  debootstrap --variant=minbase trixie "$newer" >build/debian13.log 2>&1 &&
    chroot "$newer" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
      gcc libc6-dev ocaml-nox ocaml-dune ocaml-findlib libdigestif-ocaml-dev libmirage-crypto-ocaml-dev >>build/debian13.log 2>&1 &&
    touch "$newer/complete" && return
  echo "  skipped: beside mirage-crypto-ec: no Debian 13 was made, see build/debian13.log"
  return 1
}

ocaml() {
  local folder=build/packages/ocaml
  echo "ocaml: OCaml $(ocamlfind ocamlopt -version), dune $(dune --version)"
  (cd "$folder" && dune build 2>&1 && dune runtest --force 2>&1) || return 1
  if newer_debian; then
    rm -rf "$newer/package"
    mkdir "$newer/package"
    tar c -C "$folder" --exclude=_build . | tar x -C "$newer/package"
    echo "ocaml: OCaml $(chroot "$newer" ocamlfind ocamlopt -version), dune $(chroot "$newer" dune --version)"
    chroot "$newer" sh -c 'cd /package && dune build 2>&1 && dune runtest --force 2>&1' || return 1
    chroot "$newer" sh -c 'cd /package && ./_build/default/bench/speed.exe' >build/packages/ocaml.speed || return 1
  else
    (cd "$folder" && ./_build/default/bench/speed.exe) >build/packages/ocaml.speed || return 1
  fi
  cat build/packages/ocaml.speed
}

python() {
  local folder=build/packages/python env=build/packages/python.env
  echo "python: $(/usr/bin/python3 --version), packages of the system beside"
  /usr/bin/python3 -m venv --clear --system-site-packages "$env" || return 1
  rm -rf build/packages/wheels
  "$env/bin/pip" wheel -q --no-build-isolation --no-deps -w build/packages/wheels "$folder" || return 1
  "$env/bin/pip" install -q --no-deps --no-index --force-reinstall build/packages/wheels/*.whl || return 1
  (cd "$folder" && "../../../$env/bin/python" -m pytest -q -p no:cacheprovider) || return 1
  (cd "$folder" && "../../../$env/bin/python" -m pytest -q -p no:cacheprovider bench --benchmark-max-time=0.5 --benchmark-json=../python.json) >build/packages/python.log ||
    { cat build/packages/python.log; return 1; }
  "$env/bin/python" "$folder/bench/table.py" build/packages/python.json >build/packages/python.speed || return 1
  cat build/packages/python.speed
}

rust() {
  local folder=build/packages/rust
  echo "rust: $(rustc --version)"
  (cd "$folder" && cargo test -q && cargo test -q --manifest-path beside/Cargo.toml) || return 1
  (cd "$folder" && cargo bench -q --manifest-path beside/Cargo.toml --bench speed -- --warm-up-time 0.3 --measurement-time 1 --sample-size 20) >build/packages/rust.log 2>&1 ||
    { cat build/packages/rust.log; return 1; }
  # A line of criterion: the name, on it or on the line before, and three times of which the middle one is the estimate.
  awk '/time:/ { name = $1 == "time:" ? last : $1; for (i = 1; i <= NF; i++) if ($i ~ /^\[/) printf "%-36s %8.1f %s\n", name, $(i + 2), $(i + 3) } { last = $1 }' \
    build/packages/rust.log >build/packages/rust.speed
  [ -s build/packages/rust.speed ] || return 1
  cat build/packages/rust.speed
}

failed=()
names=("$@")
[ $# -gt 0 ] || mapfile -t names < <(find packages -mindepth 2 -maxdepth 2 -name package.toml -printf '%h\n' | sed 's|.*/||' | sort)
[ ${#names[@]} -gt 0 ] || { echo "packages: there is none" >&2; exit 1; }
for name in "${names[@]}"; do
  rm -rf "build/packages/$name"
  if ! { "$santoku" package "$name" && "$name"; }; then failed+=("$name"); fi
done
echo "${#names[@]} packages, ${#failed[@]} failed: ${failed[*]:-}"
[ ${#failed[@]} -eq 0 ]
