#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# libarcwake as its users have it: install, move the installation, and build the project of
# tests/install/project with it, by CMake and by pkg-config, shared and static, in C and C++.
# usage: library.sh CMAKE BUILD PROJECT CC
# Exit status 77: all was well, but there is no C++ compiler, or no pkg-config.
set -u
cmake=$1
build=$2
project=$3
cc=$4
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
bad=0
skipped=

complain() {
    echo "$*"
    bad=1
}

# Run a command; its output is shown if it fails.
run() {
    "$@" >"$place/log" 2>&1 || {
        cat "$place/log"
        complain "failed: $*"
        return 1
    }
}

run "$cmake" --install "$build" --prefix "$place/first" || exit 1
mv "$place/first" "$place/moved"
prefix=$place/moved
header=$(find "$prefix" -name arcwake.h)
shared=$(find "$prefix" -name libarcwake.so)
static=$(find "$prefix" -name libarcwake.a)
library=$(dirname "$shared")
for file in "$header" "$shared" "$static" "$library/pkgconfig/arcwake.pc" \
    "$library/cmake/arcwake/arcwake-config.cmake"; do
    [ -f "$file" ] || complain "not installed: one of header, libraries and their descriptions"
done
[ "$bad" -eq 0 ] || exit 1
[ "$(find "$prefix/include" -type f | wc -l)" -eq 1 ] || complain "more than one header"

# Visible are the functions of the header and nothing else. The header is read here without its
# comments, each declaration on one line.
sed 's|/\*.*\*/||; /\/\*/,/\*\//d' "$header" | tr '\n' ' ' | tr ';' '\n' | grep 'AW_API [a-z]' |
    sed 's/.*[ *]\(aw_[a-z0-9_]*\)(.*/\1/' | LC_ALL=C sort >"$place/wanted"
[ "$(wc -l <"$place/wanted")" -ge 8 ] || complain "functions of the header: $(cat "$place/wanted")"
for tool in "nm -D:$shared" "nm -g:$static"; do
    ${tool%%:*} --defined-only "${tool#*:}" | sed -n 's/^[0-9a-f]* [A-Z] //p' |
        LC_ALL=C sort >"$place/visible"
    cmp -s "$place/wanted" "$place/visible" || {
        complain "${tool#*:}: other names than those of the header are visible:"
        diff "$place/wanted" "$place/visible"
    }
done

# What the shared library needs, and where it looks for it: no files, no ranks, no place of ours.
LC_ALL=C readelf -d "$shared" >"$place/dynamic"
if grep NEEDED "$place/dynamic" | grep -i -E 'hdf5|yaml|mpi'; then complain "needed as well"; fi
if grep -E 'RPATH|RUNPATH' "$place/dynamic"; then complain "a path is in the library"; fi
if nm -u "$static" | grep -E ' (aw_|MPI_|H5|yaml_)'; then complain "undefined in $static"; fi

# By CMake.
if run "$cmake" -S "$project" -B "$place/cmake" -DCMAKE_PREFIX_PATH="$prefix" \
    -DCMAKE_C_COMPILER="$cc" && run "$cmake" --build "$place/cmake"; then
    programs="c_shared c_static cxx_arcwake cxx_static"
    [ -f "$place/cmake/cxx_arcwake" ] || {
        programs="c_shared c_static"
        skipped="there is no C++ compiler"
    }
    for program in $programs; do
        run "$place/cmake/$program" && cp "$place/log" "$place/$program.txt"
    done
    # The same library computed, so the same twelve digits: the mean is rounded by the caller.
    for program in $programs; do
        cmp "$place/c_shared.txt" "$place/$program.txt" || complain "$program: another result"
    done
    cat "$place/c_shared.txt"
fi

# By pkg-config.
if command -v pkg-config >/dev/null; then
    export PKG_CONFIG_PATH="$library/pkgconfig"
    # shellcheck disable=SC2046
    run "$cc" "$project/mean_loss.c" -o "$place/pc_shared" \
        $(pkg-config --cflags --libs arcwake) -lm &&
        run env LD_LIBRARY_PATH="$library" "$place/pc_shared"
    rm "$library"/libarcwake.so* # so that -larcwake is the static library
    # shellcheck disable=SC2046
    run "$cc" "$project/mean_loss.c" -o "$place/pc_static" \
        $(pkg-config --cflags --libs --static arcwake) &&
        run "$place/pc_static" && if readelf -d "$place/pc_static" | grep libarcwake; then
        complain "the static program needs the shared library"
    fi
    [ "$(pkg-config --modversion arcwake)" = "$(cut -d ' ' -f 1 "$place/log")" ] ||
        complain "version of pkg-config: $(pkg-config --modversion arcwake)"
else
    skipped="${skipped:+$skipped; }there is no pkg-config"
fi
[ "$bad" -eq 0 ] || exit 1
[ -z "$skipped" ] || {
    echo "skipped in part: $skipped"
    exit 77
}
