#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Fail on what shellcheck finds in the scripts.  usage: shell.sh ROOT
set -eu
here=$(cd "$(dirname "$0")" && pwd)
cd "$1"
# shellcheck source=tests/lint/sources.sh
. "$here/sources.sh"

if ! command -v shellcheck >/dev/null; then
    echo "skipped: shellcheck is not installed"
    exit 77
fi
for file in $(aw_code_files); do
    if sed -n 1p "$file" | grep -q -E '^#!.*[/ ](ba)?sh'; then
        set -- "$@" "$file"
    fi
done
shift
shellcheck --external-sources "$@"
