#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The documentation site: install its Python packages into BUILD/venv-docs, once, and build it.
# usage: build.sh SOURCES BUILD
set -euo pipefail
sources=$1
build=$2
venv=$build/venv-docs
list=$sources/tools/requirements-docs.txt
if ! sha256sum <"$list" | cmp -s - "$venv/list.sha256"; then
    echo "installing the packages of tools/requirements-docs.txt into $venv"
    python3 -m venv --clear "$venv"
    "$venv/bin/python" -m pip install --quiet --disable-pip-version-check -r "$list"
    sha256sum <"$list" >"$venv/list.sha256"
fi
"$venv/bin/python" -B "$sources/tools/site/build.py" "$sources" "$build"
echo "$build/site/html/index.html"
