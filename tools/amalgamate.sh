#!/usr/bin/env bash
# Joins shipped units into one C file with one header: santoku.c and santoku.h. Needs no compiler.
# usage: OUT=DIR [UNITS="nacl_sign hash_sha256"] amalgamate.sh; default: all units
set -euo pipefail
cd "$(dirname "$0")/.."
out=${OUT:-build/amalgamation}
all=$(sed -n 's/^#include "\(.*\)\.h"$/\1/p' dist/c/santoku.h)
[ -n "$all" ] || { echo "amalgamate: dist/c/santoku.h is not as \`make dist\` makes it" >&2; exit 2; }
read -r -a units <<<"$(echo ${UNITS:-$all})"
for unit in "${units[@]}"; do
  case " $(echo $all) " in
    *" $unit "*) ;;
    *) echo "amalgamate: there is no unit \`$unit\`: UNITS takes some of:" $all >&2; exit 2 ;;
  esac
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
{
  sed '/^#include "/d; /^#endif$/d' dist/c/santoku.h
  for unit in "${units[@]}"; do echo; cat "dist/c/$unit/$unit.h"; done
  echo; echo "#endif"
} >"$work/santoku.h"
{
  echo '#include "santoku.h"'
  for unit in "${units[@]}"; do echo; sed "/^#include \"$unit\.h\"\$/d" "dist/c/$unit/$unit.c"; done
} >"$work/santoku.c"
mkdir -p "$out"
cp "$work/santoku.h" "$work/santoku.c" "$out/"
echo "amalgamate: $out/santoku.c, $out/santoku.h: ${units[*]}"
