#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Install the packages that arcwake needs (Debian, Ubuntu; Python); a second call does nothing.
#
#   tools/setup.sh [--tests]     --tests: also OpenMPI and the Python packages that only tests use
#
# quickstart and check source this file and call `aw_setup`, which leaves in the environment:
#   AW_PYTHON         the interpreter with the packages; empty if they could not be installed
#   CMAKE_GENERATOR   Ninja, if ninja is installed and the caller has set no generator
set -euo pipefail

AW_ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
AW_CMAKE_WANTED=3.25
AW_LIBRARIES=(libc6-dev libyaml-dev libhdf5-dev libgsl-dev libfftw3-dev libcmocka-dev)

aw_say() { printf '%s\n' "setup: $*"; }

aw_fail() {
    printf '%s\n' "setup: error: $*" >&2
    exit 1
}

aw_installed() { [[ $(dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null) == installed ]]; }

# True if cmake is installed and new enough.
aw_cmake_ok() {
    local have
    command -v cmake >/dev/null || return 1
    have=$(cmake --version | sed -n '1s/[^0-9]*\([0-9]*\.[0-9]*\).*/\1/p')
    [[ $(printf '%s\n' "$AW_CMAKE_WANTED" "$have" | sort -V | head -n 1) == "$AW_CMAKE_WANTED" ]]
}

aw_venv_ok() { command -v python3 >/dev/null && python3 -c 'import ensurepip, venv' 2>/dev/null; }

# Missing Debian packages, one per line. A tool counts as installed wherever it came from.
aw_missing() {
    local library
    command -v cc >/dev/null || echo gcc
    command -v cmake >/dev/null || echo cmake
    command -v ninja >/dev/null || echo ninja-build
    command -v pkg-config >/dev/null || echo pkg-config
    for library in "${AW_LIBRARIES[@]}"; do
        aw_installed "$library" || echo "$library"
    done
    aw_venv_ok || echo python3-venv
}

aw_apt() {
    local run=(env DEBIAN_FRONTEND=noninteractive apt-get -q)
    if [[ $(id -u) -ne 0 ]]; then
        command -v sudo >/dev/null || return 1
        run=(sudo "${run[@]}")
    fi
    "${run[@]}" "$@" </dev/null
}

aw_setup_system() {
    local missing needed
    if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
        aw_say "not Debian or Ubuntu, so nothing is installed; arcwake needs a C compiler with" \
            "OpenMP, cmake >= $AW_CMAKE_WANTED, ninja or make, pkg-config, python3 with venv, and" \
            "the development files of libyaml, HDF5, GSL, FFTW and cmocka"
        return 0
    fi
    mapfile -t missing < <(aw_missing)
    [[ ${#missing[@]} -gt 0 ]] || return 0
    aw_say "installing ${missing[*]}"
    aw_apt update || aw_say "the package lists could not be updated; trying to install anyway"
    if ! aw_apt install -y --no-install-recommends "${missing[@]}"; then
        mapfile -t needed < <(aw_missing | grep -v -x -e python3-venv -e ninja-build)
        [[ ${#needed[@]} -eq 0 ]] ||
            aw_fail "could not install them; as root: apt-get install ${needed[*]}"
    fi
}

# Where the distribution's cmake is too old (Ubuntu 22.04), install the one from PyPI.
aw_setup_cmake() {
    local tools=$AW_ROOT/build/venv/bin
    export PATH
    aw_cmake_ok && return 0
    if [[ -x $tools/cmake ]]; then
        PATH=$tools:$PATH
    elif aw_venv && aw_pip "cmake>=$AW_CMAKE_WANTED"; then
        PATH=$tools:$PATH
    fi
    hash -r
    aw_cmake_ok ||
        aw_fail "cmake >= $AW_CMAKE_WANTED is needed (Debian 12 and Ubuntu 24.04 have it)"
}

aw_venv() {
    local venv=$AW_ROOT/build/venv
    "$venv/bin/python" -m pip --version >/dev/null 2>&1 && return 0
    aw_venv_ok || return 1
    mkdir -p "$AW_ROOT/build"
    aw_say "making a Python environment in build/venv"
    python3 -m venv --clear "$venv"
}

aw_pip() {
    "$AW_ROOT/build/venv/bin/python" -m pip install --quiet --disable-pip-version-check \
        --retries 2 --timeout 30 "$@" </dev/null >"$AW_ROOT/build/pip.log" 2>&1
}

# Install the packages listed in a file, unless a stamp shows that this list is installed.
aw_requirements() {
    local list=$1 stamp sum
    [[ -f $list ]] || return 0
    stamp=$AW_ROOT/build/venv/$(basename "$list").sha256
    sum=$(sha256sum <"$list")
    [[ -x $AW_ROOT/build/venv/bin/python && -f $stamp && $(<"$stamp") == "$sum" ]] && return 0
    aw_venv || return 1
    aw_say "installing the Python packages of ${list#"$AW_ROOT"/}"
    aw_pip -r "$list" || return 1
    printf '%s\n' "$sum" >"$stamp"
}

aw_setup_python() {
    local list
    export AW_PYTHON=$AW_ROOT/build/venv/bin/python
    for list in "$@"; do
        if ! aw_requirements "$AW_ROOT/tools/$list"; then
            aw_say "the Python packages of tools/$list could not be installed: what needs them" \
                "(report, openPMD tests) is skipped; the program itself does not need them" \
                "(output of pip, if it ran: build/pip.log)"
            [[ $list != requirements.txt ]] || AW_PYTHON=
            return 0
        fi
    done
}

# For the tests with several ranks; the program does not need MPI.
aw_setup_mpi() {
    command -v mpicc >/dev/null && command -v mpirun >/dev/null && return 0
    command -v apt-get >/dev/null || return 0
    aw_say "installing OpenMPI"
    aw_apt install -y --no-install-recommends libopenmpi-dev openmpi-bin ||
        aw_say "OpenMPI could not be installed: arcwake is built without, and its test is skipped"
}

aw_setup() {
    local lists=(requirements.txt)
    aw_setup_system
    if [[ ${1-} == --tests ]]; then
        lists+=(requirements-test.txt)
        aw_setup_mpi
    fi
    aw_setup_cmake
    aw_setup_python "${lists[@]}"
    if [[ -z ${CMAKE_GENERATOR-} ]] && command -v ninja >/dev/null; then
        export CMAKE_GENERATOR=Ninja
    fi
}

if [[ ${BASH_SOURCE[0]} == "$0" ]]; then
    aw_setup "$@"
fi
