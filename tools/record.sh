#!/usr/bin/env bash
# Keeps the outcome of a long run: reads it from standard input, writes lab/runs/<date>-WHAT/summary.md, prints its place.
# usage: record.sh WHAT < OUTCOME     a record is never overwritten: a second one of a day gets a number
set -euo pipefail
cd "$(dirname "$0")/.."
what=${1:?usage: record.sh WHAT}
text=$(cat)
[ -n "$text" ] || { echo "record: nothing to keep of $what" >&2; exit 1; }

commit=$(git rev-parse --short=12 HEAD 2>/dev/null || echo unknown)
[ -z "$(git status --porcelain --untracked-files=no 2>/dev/null)" ] || commit=$commit+
date=$(date -u +%F)
mkdir -p lab/runs
folder=lab/runs/$date-$what
for ((n = 2; n < 1000; n++)); do
  mkdir "$folder" 2>/dev/null && break
  folder=lab/runs/$date-$what-$n
done
{
  echo "# $what"
  echo
  echo "$date, commit $commit, $(nproc) cores"
  echo
  echo '```'
  printf '%s\n' "$text"
  echo '```'
} >"$folder/summary.md"
echo "recorded: $folder"
