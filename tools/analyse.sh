#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# What a compiler does not see: the unit tests under the address and undefined-behaviour sanitizers
# (build/debug), clang-tidy with the limits of CONTRIBUTING.md over the program (build/lint), and
# half a minute of arbitrary bytes as input files under libFuzzer (build/fuzz).
#
#   tools/analyse.sh [--all]    --all: every unit test, clang-tidy over the tests too, and ten
#                               minutes of libFuzzer
#
# Without --all the tests that take minutes under the sanitizers are left out. Where clang-tidy or
# libFuzzer cannot be had, that part is skipped, and a line says so.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=tools/setup.sh
source tools/setup.sh

all=${1-}
slow='adapters_kick|cuda|backwards|simulation_(force_error|schedule)'
slow+='|form_factor_debye.(manycore|emulated)'
slow+='|solvers_(clusters|devices|forecast|height|refusals|tuning)'
# The scalar variant takes five times as long as the widest one, except in solvers_projection, where
# the widest one has more to do.
slow+='|solvers_projection\.(baseline|avx2|avx512)'
slow+='|(solvers_(agreement|invariance|steps)|kernels_projection|pic_lone_particle)\.scalar'

aw_setup_clang() {
    command -v clang >/dev/null && command -v clang-tidy >/dev/null && return 0
    command -v apt-get >/dev/null || return 1
    aw_say "installing clang and clang-tidy"
    aw_apt install -y --no-install-recommends clang clang-tidy libomp-dev
}

# Vector variants whose own tests the short run leaves out on this processor. With sanitizers they
# would take a quarter of the time of the build.
plain_variants() {
    if grep -qw avx512vl /proc/cpuinfo 2>/dev/null; then
        echo 'baseline;avx2'
    elif grep -qw avx2 /proc/cpuinfo 2>/dev/null; then
        echo 'baseline;avx512'
    fi
}

sanitize() {
    local without plain
    plain=$(plain_variants)
    without=(-E "$slow${plain:+|\\.(${plain/;/|})\$}")
    [[ $all != --all ]] || without=() plain=
    cmake --preset debug -DAW_PLAIN_VARIANTS="$plain" >/dev/null
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
    cmake --build --preset lint --target arcwake_commit >/dev/null # a header that is made
    git ls-files "${folders[@]/%//*.c}" |
        xargs -P "$(nproc)" -n 1 clang-tidy -p build/lint --quiet --warnings-as-errors='*' \
            2>/dev/null
}

# 0: this clang has libFuzzer
has_fuzzer() {
    command -v clang >/dev/null || return 1
    echo 'int LLVMFuzzerTestOneInput(const char *data, unsigned long size) { return 0; }' |
        clang -x c -fsanitize=fuzzer,address,undefined -o build/has_fuzzer - 2>/dev/null
}

# What it finds lies in build/fuzz/found-*; mended, it becomes a seed in tests/fuzz/seeds. Inputs
# that reached new code are kept in build/fuzz/reached for the next time. A short run draws the same
# inputs each time, so that it speaks of the last change; a long one (seed 0) draws others.
fuzz() {
    local seconds=30 seed=1
    [[ $all != --all ]] || seconds=600 seed=0
    cmake --preset fuzz >/dev/null
    cmake --build --preset fuzz --parallel "$(nproc)"
    mkdir -p build/fuzz/reached
    ASAN_OPTIONS=detect_leaks=1:quarantine_size_mb=8 build/fuzz/tests/fuzz/fuzz_input \
        -seed="$seed" -max_total_time="$seconds" -max_len=4096 -timeout=30 -rss_limit_mb=3000 \
        -dict=build/fuzz/tests/fuzz/keys.dict -artifact_prefix=build/fuzz/found- \
        -print_final_stats=1 build/fuzz/reached build/fuzz/tests/fuzz/corpus \
        >build/fuzz/log 2>&1 || {
        tail -n 60 build/fuzz/log
        return 1
    }
    grep -E '^(Done|stat::number_of_executed_units)' build/fuzz/log
}

aw_setup --tests
sanitize
if aw_setup_clang; then
    tidy
    echo "clang-tidy: no findings"
else
    echo "skipped: clang-tidy could not be installed"
fi
if has_fuzzer; then
    fuzz
    echo "libFuzzer: no findings"
else
    echo "skipped: libFuzzer, which this clang lacks (libclang-rt, compiler-rt)"
fi
