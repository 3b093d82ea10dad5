#!/usr/bin/env bash
# Joins shipped units into one C file with one header: santoku.c and santoku.h. Needs no compiler.
# usage: OUT=DIR [UNITS="nacl_sign hash_sha256"] amalgamate.sh; default: all units that are not parts of others
set -euo pipefail
cd "$(dirname "$0")/.."
out=${OUT:-build/amalgamation}
all=$(sed -n 's/^#include "\(.*\)\.h"$/\1/p' dist/c/santoku.h)
[ -n "$all" ] || { echo "amalgamate: dist/c/santoku.h is not as \`make dist\` makes it" >&2; exit 2; }
read -r -a units <<<"$(echo ${UNITS:-$all})"
known=$(cd dist/c && echo */ | tr -d /)
for unit in "${units[@]}"; do
  case " $known " in
    *" $unit "*) ;;
    *) echo "amalgamate: there is no unit \`$unit\`: UNITS takes some of: $known" >&2; exit 2 ;;
  esac
done
# A unit that is part of another has functions of that.
twice=$(for unit in "${units[@]}"; do sed -n 's/^STK_API .*STK_NAME(\([a-z0-9_]*\))(.*/\1/p' "dist/c/$unit/$unit.c" | sort -u; done | sort | uniq -d)
[ -z "$twice" ] || { echo "amalgamate: more than one of these units has" $twice": leave one out" >&2; exit 2; }
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
