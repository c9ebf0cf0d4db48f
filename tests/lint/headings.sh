#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Fail on a source file without its licence line or its purpose.  usage: headings.sh ROOT
#
# C and CUDA: the SPDX line first, then a comment with the purpose; a .c file may instead begin by
# including the header of its own name, which has it. Scripts: #!, SPDX, purpose. CMakeLists.txt:
# a comment with the purpose of its folder.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
cd "$1"
# shellcheck source=tests/lint/sources.sh
. "$here/sources.sh"

bad=0
complain() {
    echo "$1: $2"
    bad=1
}

check_c() {
    [ "$(sed -n 1p "$1")" = '/* SPDX-License-Identifier: GPL-3.0-or-later */' ] ||
        complain "$1:1" "the first line must be /* SPDX-License-Identifier: GPL-3.0-or-later */"
    second=$(sed -n 2p "$1")
    case $1 in
    *.c | *.cu) own="#include \"${1%.*}.h\"" ;;
    *) own= ;;
    esac
    case $second in
    '/* '?????*) ;;
    "${own:-no header}") ;;
    *) complain "$1:2" "the second line must be a comment that says what the file is for" ;;
    esac
}

check_script() {
    sed -n '/^#!/d; 1,3p' "$1" | sed -n 1p |
        grep -q -x '# SPDX-License-Identifier: GPL-3.0-or-later' ||
        complain "$1:1" "# SPDX-License-Identifier: GPL-3.0-or-later must come first (after #!)"
    sed -n '/^#!/d; 1,3p' "$1" | sed -n 2p | grep -q -E '^(# ?|"""|r""")[^ ].{5}' ||
        complain "$1:2" "a comment that says what the file is for must follow the licence line"
}

check_cmake_list() {
    grep -v SPDX-License-Identifier "$1" | sed -n 1p | grep -q -E '^# .{8}' ||
        complain "$1:1" "must begin with a comment that says what the folder is for"
}

files=$(aw_code_files)
for file in $files; do
    case $file in
    *.c | *.h | *.h.in | *.cu | *.cuh) check_c "$file" ;;
    */CMakeLists.txt | CMakeLists.txt) check_cmake_list "$file" ;;
    *) check_script "$file" ;;
    esac
done
exit $bad
