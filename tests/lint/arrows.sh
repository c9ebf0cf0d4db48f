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
    point = "kernels/math quadrature/rules src/base"      # the mathematics of a point
    particle = "pic/particle " point                      # and of a particle
    device = "kernels/device " particle                   # what a device can do
    sees["src/base"] = ""
    sees["src/archive"] = "src/base"
    sees["quadrature/rules"] = "src/base"
    sees["kernels/math"] = "quadrature/rules src/base"
    sees["pic/particle"] = point
    sees["kernels/device"] = particle
    sees["kernels/cpu/simd"] = point
    sees["kernels/cpu"] = "kernels/cpu/simd " device
    sees["kernels/gpu/blocks"] = device
    sees["kernels/gpu"] = "kernels/gpu/blocks " device
    sees["kernels/multi"] = "kernels/cpu/simd " device
    sees["quadrature"] = device
    sees["predictor"] = "quadrature src/archive " point
    sees["pic/simd"] = "pic kernels/cpu/simd " device
    sees["pic"] = "pic/simd src/archive " device
    sees["src/solvers"] = "predictor quadrature src/archive " device
    sees["src/form_factor"] = "src/tuning src/beam src/yaml pic src/io kernels/multi src/archive " \
                              device
    sees["src/io"] = "src/archive src/base"
    sees["src/yaml"] = "src/base"
    sees["src/tuning"] = "src/yaml src/io kernels/cpu/simd " device
    sees["src/beam"] = "pic src/io " device
    sees["src/pals"] = "pic src/yaml " device
    sees["src/input"] = "src/pals src/beam pic src/io src/yaml " device
    sees["src/output"] = "src/io src/archive kernels/math src/base"
    sees["src/spectrum"] = "src/output src/io kernels/math src/base"
    sees["validation"] = "quadrature/rules src/base"
    sees["src/plan"] = "src/input src/beam src/yaml src/solvers pic kernels/cpu kernels/multi " \
                       device
    sees["src/field"] = "src/solvers src/archive pic " device
    sees["src/api"] = "src/field src/archive pic " device
    sees["src/simulation"] = "src/field src/plan src/output src/io src/archive " sees["src/plan"]
    sees["src/certify"] = "src/simulation " sees["src/simulation"]
    sees["src/session"] = "src/tuning src/simulation " sees["src/simulation"]
    sees["src/tune"] = "src/form_factor " sees["src/session"]
    sees["src/bench"] = "validation predictor quadrature kernels/cpu/simd " sees["src/tune"]
    sees["src/validate"] = "validation src/spectrum src/certify kernels/cpu/simd " \
                           sees["src/session"]
    sees["src/validate/radiation"] = "src/validate " sees["src/validate"]
    sees["src/app"] = "src/bench src/validate validation src/certify src/spectrum src/tune " \
                      "kernels/cpu/simd " sees["src/tune"]
    sees["src/app/spectrum"] = "src/app " sees["src/app"]
    sees["src/app/run"] = "src/app/spectrum src/app " sees["src/app"]
}

# The longest part of the path that is a folder of the architecture; else its first two words.
function folder_of(path,    word, n, i, name, found)
{
    sub(/^\.\//, "", path)
    n = split(path, word, "/")
    if (n < 2) return ""
    for (i = 1; i < n; ++i) {
        name = i == 1 ? word[1] : name "/" word[i]
        if (name in sees) found = name
    }
    if (found != "") return found
    return word[1] == "src" && n > 2 ? word[1] "/" word[2] : word[1]
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
