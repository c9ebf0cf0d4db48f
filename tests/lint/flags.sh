#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Fail on compiler flags that break the numbers or the portability.  usage: flags.sh ROOT
#
# Fast maths folds isfinite to true, so a NaN would pass every check; native code crashes on
# another processor than the one that built it (the SIMD variants are chosen at run time).
set -eu
here=$(cd "$(dirname "$0")" && pwd)
cd "$1"
# shellcheck source=tests/lint/sources.sh
. "$here/sources.sh"

bad=0
wrong='-Ofast|fast-math|use_fast_math|unsafe-math|finite-math|-m(arch|cpu|tune)=native'
for file in $(aw_all_files | grep -E 'CMakeLists\.txt$|\.cmake$|^CMakePresets\.json$'); do
    if sed 's/#.*//' "$file" | grep -n -E -e "$wrong" | sed "s|^|$file:|" | grep .; then bad=1; fi
done
for file in $(aw_c_files); do
    if grep -n -E -e '(pragma|attribute).*optimize' "$file" | sed "s|^|$file:|" | grep .; then
        bad=1
    fi
done
exit $bad
