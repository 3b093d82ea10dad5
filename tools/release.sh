#!/usr/bin/env bash
# Archives of a release, with checksums: the C library, the sources, the command for this machine.
# Nothing is made of a tree with changes, of a version without a section in CHANGELOG.md, or if the shipped C is not as the compiler makes it.
# usage: release.sh [FOLDER]     default: build/release
set -euo pipefail
cd "$(dirname "$0")/.."
out=${1:-build/release}
santoku=${SANTOKU:-target/release/santoku}

fail() {
  echo "release: $*" >&2
  exit 2
}

version=$(sed -n '/^\[workspace.package\]/,/^\[/s/^version = "\(.*\)"$/\1/p' Cargo.toml)
[ -n "$version" ] || fail "Cargo.toml names no version"
grep -q "^#define SANTOKU_VERSION \"$version\"$" dist/c/santoku.h || fail "dist/c/santoku.h is not of version $version: run \`make dist\`"
grep -q "^## $version " CHANGELOG.md || fail "CHANGELOG.md has no section \`## $version (date)\`"
[ -z "$(git status --porcelain)" ] || fail "the tree has changes that are not committed"
[ "$("$santoku" --version)" = "santoku $version" ] || fail "$santoku is not version $version"
"$santoku" dist --check >/dev/null || fail "dist/ is not as the compiler makes it"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# The same tree gives the same bytes: times are the commit's, names sorted, owners none.
time=$(git log -1 --format=%ct)
pack() {
  tar --sort=name --mtime="@$time" --owner=0 --group=0 --numeric-owner --format=ustar -C "$work" -cf - "$1" | gzip -n -9 >"$work/$1.tar.gz"
}

library=santoku-c-$version
mkdir -p "$work/$library/docs"
cp -r dist/c "$work/$library/c"
cp -r dist/rust "$work/$library/rust"
cp dist/certified.json LICENSE-0BSD LICENSE-APACHE LICENSE-MIT SECURITY.md "$work/$library"
cp docs/c-interface.md docs/library.md "$work/$library/docs"
pack "$library"

git archive --format=tar --prefix="santoku-$version/" HEAD | gzip -n -9 >"$work/santoku-$version.tar.gz"

machine=$(uname -m)-$(uname -s | tr '[:upper:]' '[:lower:]')
command=santoku-$version-$machine
mkdir -p "$work/$command/completions"
cp "$santoku" "$work/$command/santoku"
cp -r editors "$work/$command/editors"
cp README.md CHANGELOG.md LICENSE-APACHE LICENSE-MIT "$work/$command"
for shell in bash zsh fish; do "$santoku" completions "$shell" >"$work/$command/completions/santoku.$shell"; done
pack "$command"

mkdir -p "$out"
mv "$work"/*.tar.gz "$out"
(cd "$out" && sha256sum "$library.tar.gz" "santoku-$version.tar.gz" "$command.tar.gz" >SHA256SUMS)
echo "release: $out"
cat "$out/SHA256SUMS"
