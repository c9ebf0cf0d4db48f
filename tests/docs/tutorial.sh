#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Execute a tutorial with the Python that the other tests use.
# usage: tutorial.sh PYTHON PAGE ARCWAKE SOURCES BUILD    (PYTHON may be empty)
here=$(dirname "$0")
for python in "${AW_PYTHON-}" "$1" "$5/venv/bin/python" "$4/build/venv/bin/python" python3; do
    if [ -n "$python" ] && command -v "$python" >/dev/null; then
        exec "$python" -B "$here/test_tutorials.py" "$2" "$3" "$4"
    fi
done
echo "skipped: there is no Python"
exit 77
