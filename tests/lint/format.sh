#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Fail on C that is not formatted as .clang-format says.  usage: format.sh [--fix] ROOT
#
# Only clang-format 14 will do: other versions format differently. --fix formats in place.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
fix=no
if [ "$1" = --fix ]; then
    fix=yes
    shift
fi
cd "$1"
# shellcheck source=tests/lint/sources.sh
. "$here/sources.sh"

tool=
for candidate in clang-format-14 clang-format; do
    if "$candidate" --version 2>/dev/null | grep -q 'version 14\.'; then
        tool=$candidate
        break
    fi
done
if [ -z "$tool" ]; then
    echo "skipped: clang-format 14 is not installed"
    exit 77
fi

# One process for all files, which starts once; each problem has its file and line.
bad=0
# shellcheck disable=SC2046 # no name of a source has blanks
if [ $fix = yes ]; then
    "$tool" -i $(aw_c_files)
elif ! problems=$("$tool" --dry-run -Werror $(aw_c_files) 2>&1); then
    printf '%s\n' "$problems" | grep ': error: ' || printf '%s\n' "$problems"
    bad=1
fi
[ $bad -eq 0 ] || echo "tests/lint/format.sh --fix . puts it right" >&2
exit $bad
