#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Fail on paths of one person's machine, in any text file.  usage: paths.sh ROOT
set -eu
here=$(cd "$(dirname "$0")" && pwd)
cd "$1"
# shellcheck source=tests/lint/sources.sh
. "$here/sources.sh"

bad=0
for file in $(aw_all_files | grep -v -x -e LICENSE); do
    if grep -n -I -E '(^|[^A-Za-z0-9_.~])/(home|root|Users|work|mnt)/[A-Za-z0-9_]' "$file" |
        sed "s|^|$file:|" | grep .; then
        bad=1
    fi
done
exit $bad
