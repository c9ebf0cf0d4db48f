#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# What a compiler does not see: the unit tests under the address and undefined-behaviour sanitizers
# (build/debug), and clang-tidy with the limits of CONTRIBUTING.md over the program (build/lint).
#
#   tools/analyse.sh [--all]    --all: every unit test, and clang-tidy over the tests too
#
# Without --all the tests that take minutes under the sanitizers are left out. Where clang-tidy
# cannot be had, that part is skipped, and a line says so.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=tools/setup.sh
source tools/setup.sh

all=${1-}
slow='cuda|backwards|solvers_(devices|forecast|refusals|tuning)'
slow+='|solvers_(clusters|projection)\.avx512|\.(baseline|avx2)$'

aw_setup_clang() {
    command -v clang >/dev/null && command -v clang-tidy >/dev/null && return 0
    command -v apt-get >/dev/null || return 1
    aw_say "installing clang and clang-tidy"
    aw_apt install -y --no-install-recommends clang clang-tidy libomp-dev
}

sanitize() {
    local without=(-E "$slow")
    [[ $all != --all ]] || without=()
    cmake --preset debug >/dev/null
    cmake --build --preset debug --parallel "$(nproc)"
    ASAN_OPTIONS=detect_leaks=1 UBSAN_OPTIONS=print_stacktrace=1 \
        ctest --test-dir build/debug --output-on-failure --no-tests=error -j "$(nproc)" -L unit \
        "${without[@]}"
}

# One file a process: the analyzer of clang 14 carries the state of one file into the next.
tidy() {
    local folders=(src kernels pic quadrature predictor validation)
    [[ $all != --all ]] || folders+=(tests)
    cmake --preset lint >/dev/null
    git ls-files "${folders[@]/%//*.c}" |
        xargs -P "$(nproc)" -n 1 clang-tidy -p build/lint --quiet --warnings-as-errors='*' \
            2>/dev/null
}

aw_setup --tests
sanitize
if aw_setup_clang; then
    tidy
    echo "clang-tidy: no findings"
else
    echo "skipped: clang-tidy could not be installed"
fi
