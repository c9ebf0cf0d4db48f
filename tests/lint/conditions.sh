#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Fail on #if in the program outside the files that CONTRIBUTING.md lists.
# usage: conditions.sh ROOT
set -eu
here=$(cd "$(dirname "$0")" && pwd)
cd "$1"
# shellcheck source=tests/lint/sources.sh
. "$here/sources.sh"

bad=0
for file in $(aw_c_files | grep -E '^(src|kernels|pic|quadrature|predictor|validation)/'); do
    case $file in
    src/base/port.h | src/base/comm.c | src/base/threads.c | src/api/arcwake.h) ;;
    kernels/cpu/simd/* | kernels/cpu/peak.c | pic/simd/*) ;;
    kernels/gpu/blocks/block.h | kernels/gpu/blocks/gather.h | kernels/gpu/blocks/particles.h) ;;
    *)
        # but for the guard of a header
        if grep -n -E '^[ \t]*#[ \t]*(if|ifdef|ifndef|elif)\b' "$file" |
            grep -v -E '#ifndef AW_[A-Z0-9_]+_H$|^[3-9]:#ifndef [A-Z_]+$' |
            sed "s|^|$file:|" | grep .; then
            bad=1
        fi
        ;;
    esac
done
exit $bad
