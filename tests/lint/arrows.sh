#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Fail on any #include that docs/architecture.md does not allow.  usage: arrows.sh ROOT
set -eu
cd "$1"

set --
for folder in src kernels pic quadrature predictor validation; do
    if [ -d "$folder" ]; then set -- "$@" "$folder"; fi
done

# shellcheck disable=SC2016
find "$@" -type f \
    \( -name '*.c' -o -name '*.h' -o -name '*.h.in' -o -name '*.cu' -o -name '*.cuh' \) \
    -exec awk '
BEGIN {
    # A folder, and the folders that it may include besides itself.
    sees["src/base"] = ""
    sees["kernels"] = "src/base"
    sees["quadrature"] = "kernels src/base"
    sees["predictor"] = "quadrature kernels src/base"
    sees["pic"] = "kernels src/base"
    sees["src/solvers"] = "quadrature predictor kernels src/base"
    sees["src/input"] = "pic kernels src/base"
    sees["src/output"] = "pic kernels src/base"
    sees["validation"] = "kernels src/base"
    sees["src/app"] = "validation src/input src/output src/solvers predictor quadrature pic " \
                      "kernels src/base"
}

function folder_of(path,    word, n)
{
    sub(/^\.\//, "", path)
    n = split(path, word, "/")
    if (n < 2) return ""
    return word[1] == "src" ? word[1] "/" word[2] : word[1]
}

function complain(problem)
{
    printf "%s:%d: %s\n", FILENAME, FNR, problem
    bad = 1
}

FNR == 1 {
    here = folder_of(FILENAME)
    if (!(here in sees)) complain(here " is no folder of the architecture (tests/lint/arrows.sh)")
}

/^[ \t]*#[ \t]*include/ {
    text = $0
    sub(/^[ \t]*#[ \t]*include[ \t]*/, "", text)
    if (text !~ /^["<]/) {
        complain("an include by a macro hides where it goes")
        next
    }
    quoted = text ~ /^"/
    path = text
    sub(/^["<]/, "", path)
    sub(/[">].*/, "", path)
    if (path == "aw_version.h") next
    there = folder_of(path)
    if (!quoted && !(there in sees)) next
    if (path ~ /\.\./ || !(there in sees)) {
        complain("\"" path "\" is not a path from the root of the repository")
        next
    }
    if (here != there && index(" " sees[here] " ", " " there " ") == 0)
        complain(here " must not include " there " (" path ")")
}
END { exit bad }
' {} + || {
    echo "the allowed arrows are in docs/architecture.md" >&2
    exit 1
}
