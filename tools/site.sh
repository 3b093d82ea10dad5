#!/usr/bin/env bash
# Builds the site into build/site/book: the pages of the tree, the report of the newest records, a search. Then looks at it in a browser.
set -euo pipefail
cd "$(dirname "$0")/.."
out=build/site
mdbook=0.4.52
tool=$PWD/build/tools/bin/mdbook
if [ "$("$tool" --version 2>/dev/null || true)" != "mdbook v$mdbook" ]; then
  echo "site: installing mdbook $mdbook"
  cargo install --quiet --locked --root build/tools --version "$mdbook" mdbook
fi
rm -rf "$out"
mkdir -p "$out/src"
target/release/santoku lab report -o "$out/src/report"
python3 site/pages.py "$out"
cp site/book.toml "$out"
"$tool" build "$out"
python3 site/look.py "$out/book" "$out"
echo "site: open $out/book/index.html"
