# SPDX-License-Identifier: GPL-3.0-or-later
# The files that lint looks at; sourced by its scripts, after a cd to the root of the repository.
# shellcheck shell=sh

# Every file, one per line, that is not a build product.
aw_all_files() {
    find . \( -name .git -o -name build -o -name 'build-*' -o -name 'cmake-build-*' -o -name out \
        -o -name venv -o -name .venv -o -name __pycache__ \) -prune -o -type f -print |
        sed 's|^\./||' | LC_ALL=C sort
}

# C and CUDA.
aw_c_files() { aw_all_files | grep -E '\.(c|h|cu|cuh)$' || true; }

# What people write as code: C, CUDA, CMake, shell, awk, Python.
aw_code_files() {
    aw_all_files | grep -E '\.(c|h|h\.in|cu|cuh|cmake|sh|awk|py)$|(^|/)CMakeLists\.txt$' || true
    for script in quickstart check .ci/run; do
        if [ -f "$script" ]; then echo "$script"; fi
    done
}
