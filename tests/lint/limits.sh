#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Fail on files over 800 lines, lines over 100 characters, tabs, folders that are too large, and
# functions of the program of more than six parameters.  usage: limits.sh ROOT
#
# A folder holds at most 15 modules (a .c with its .h) and 4,000 lines of its own, tests aside.
# Functions of C over 60 lines are reported, not refused.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
cd "$1"
# shellcheck source=tests/lint/sources.sh
. "$here/sources.sh"

bad=0
files=$(aw_code_files)
for file in $files; do
    lines=$(wc -l <"$file")
    if [ "$lines" -gt 800 ]; then
        echo "$file: $lines lines (at most 800)"
        bad=1
    fi
    # Bytes that continue a UTF-8 character do not count.
    LC_ALL=C awk -v file="$file" '
        {
            text = $0
            gsub(/[\200-\277]/, "", text)
            if (length(text) > 100) {
                printf "%s:%d: %d characters (at most 100)\n", file, NR, length(text)
                bad = 1
            }
        }
        /\t/ { printf "%s:%d: a tab\n", file, NR; bad = 1 }
        /[ ]$/ { printf "%s:%d: spaces at the end of the line\n", file, NR; bad = 1 }
        END { exit bad }' "$file" || bad=1
    case $file in
    *.c | *.h | *.cu | *.cuh)
        awk -v file="$file" '
            /^\{/ { start = NR; name = before }
            /^\}/ && start {
                if (NR - start - 1 > 60)
                    printf "note: %s:%d: %d lines in %s\n", file, start, NR - start - 1, name
                start = 0
            }
            !/^[ {}]/ { before = $0 }' "$file" ;;
    esac
    case $file in
    tests/*) ;;
    *.c | *.h | *.cu | *.cuh) awk -v file="$file" -f "$here/parameters.awk" "$file" || bad=1 ;;
    esac
done

folders=$(aw_c_files | grep -v '^tests/' | sed 's|/[^/]*$||' | sort -u)
for folder in $folders; do
    own=$(aw_c_files | grep "^$folder/[^/]*$")
    # shellcheck disable=SC2086
    lines=$(cat $own | wc -l)
    modules=$(printf '%s\n' "$own" | sed 's|\.[a-z]*$||' | sort -u | wc -l)
    if [ "$lines" -gt 4000 ] || [ "$modules" -gt 15 ]; then
        echo "$folder: $lines lines in $modules modules (at most 4000 and 15: divide it)"
        bad=1
    fi
done
exit $bad
