#!/usr/bin/env bash
# Compiles the shipped C files into a static and a shared library and installs them with their headers, a file for pkg-config and one for
# CMake. Needs a C compiler and `ar`, nothing of the compiler that made the files.
# usage: PREFIX=/usr/local [DESTDIR=] [LIBDIR=] [INCLUDEDIR=] [CC=cc] [AR=ar] [CFLAGS=-O2] install.sh
set -euo pipefail
cd "$(dirname "$0")/.."
prefix=${PREFIX:-/usr/local}
libdir=${LIBDIR:-$prefix/lib}
includedir=${INCLUDEDIR:-$prefix/include}
to=${DESTDIR:-}
read -r -a cc <<<"${CC:-cc}"
read -r -a flags <<<"${CFLAGS:--O2}"
case $prefix in /*) ;; *) echo "install: PREFIX is \`$prefix\`: name a whole path, such as /usr/local" >&2; exit 2 ;; esac
version=$(sed -n 's/^#define SANTOKU_VERSION "\(.*\)"$/\1/p' dist/c/santoku.h)
# The node of the export map is the version of the interface.
interface=$(sed -n 's/^SANTOKU_\([0-9]*\) {$/\1/p' dist/c/santoku.map)
[ -n "$version" ] && [ -n "$interface" ] || { echo "install: dist/c/santoku.h or dist/c/santoku.map is not as \`make dist\` makes it" >&2; exit 2; }

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
static=() shared=()
# Units that are parts of others are not in that list: their functions are there once.
for name in $(sed -n 's/^#include "\(.*\)\.h"$/\1/p' dist/c/santoku.h); do
  source=dist/c/$name/$name.c
  "${cc[@]}" -std=c99 "${flags[@]}" -fPIC -c "$source" -o "$work/$name.o"
  # The same functions, seen by those who load the library.
  "${cc[@]}" -std=c99 "${flags[@]}" -fPIC -fvisibility=hidden "-DSTK_API=__attribute__((visibility(\"default\")))" -c "$source" -o "$work/$name.so.o"
  static+=("$work/$name.o") shared+=("$work/$name.so.o")
done
"${AR:-ar}" rcs "$work/libsantoku.a" "${static[@]}"
"${cc[@]}" -shared "-Wl,-soname,libsantoku.so.$interface" -Wl,--version-script=dist/c/santoku.map -o "$work/libsantoku.so.$version" "${shared[@]}"

install -d "$to$libdir/pkgconfig" "$to$libdir/cmake/santoku" "$to$includedir/santoku"
install -m 644 dist/c/santoku.h dist/c/*/*.h "$to$includedir/santoku"
install -m 644 "$work/libsantoku.a" "$to$libdir"
install -m 755 "$work/libsantoku.so.$version" "$to$libdir"
ln -sf "libsantoku.so.$version" "$to$libdir/libsantoku.so.$interface"
ln -sf "libsantoku.so.$interface" "$to$libdir/libsantoku.so"
cat >"$to$libdir/pkgconfig/santoku.pc" <<EOF
prefix=$prefix
libdir=$libdir
includedir=$includedir

Name: santoku
Description: Cryptography in C, proved free of overflow, bad indices and secret-dependent branches and addresses
Version: $version
Cflags: -I\${includedir}/santoku
Libs: -L\${libdir} -lsantoku
EOF
cat >"$to$libdir/cmake/santoku/santoku-config.cmake" <<EOF
# Targets santoku::santoku (shared) and santoku::static.
foreach(kind shared static)
  set(name santoku::\${kind})
  if(kind STREQUAL "shared")
    set(name santoku::santoku)
    set(file libsantoku.so.$interface)
    set(sort SHARED)
  else()
    set(file libsantoku.a)
    set(sort STATIC)
  endif()
  if(NOT TARGET \${name})
    add_library(\${name} \${sort} IMPORTED)
    set_target_properties(\${name} PROPERTIES IMPORTED_LOCATION "$libdir/\${file}" INTERFACE_INCLUDE_DIRECTORIES "$includedir/santoku")
  endif()
endforeach()
EOF
cat >"$to$libdir/cmake/santoku/santoku-config-version.cmake" <<EOF
set(PACKAGE_VERSION "$version")
if(PACKAGE_FIND_VERSION VERSION_GREATER PACKAGE_VERSION)
  set(PACKAGE_VERSION_COMPATIBLE FALSE)
else()
  set(PACKAGE_VERSION_COMPATIBLE TRUE)
  if(PACKAGE_FIND_VERSION STREQUAL PACKAGE_VERSION)
    set(PACKAGE_VERSION_EXACT TRUE)
  endif()
endif()
EOF
echo "installed santoku $version: ${#static[@]} units, $to$libdir/libsantoku.{a,so}, headers in $to$includedir/santoku"
