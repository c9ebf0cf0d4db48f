#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# The files of the wheel, put where a wheel puts them, work there: library, program, its data.
# usage: layout.sh CMAKE BUILD SOURCES SANITIZED
# Exit status 77: there is no Python with the packages, or the build has sanitizers.
set -u
cmake=$1
build=$2
sources=$3
[ "$4" = 0 ] || {
    echo "skipped: a library with sanitizers cannot be loaded into a Python without"
    exit 77
}
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
python=${AW_PYTHON-}
[ -n "$python" ] || python=$build/venv/bin/python
[ -x "$python" ] || python=python3
"$python" -c 'import h5py, numpy' 2>"$place/why" || {
    echo "skipped: $(tail -n 1 "$place/why")"
    exit 77
}
unset ARCWAKE_PROGRAM ARCWAKE_LIBRARY PYTHONPATH

"$cmake" --install "$build" --component wheel --prefix "$place/site/arcwake" >"$place/log" ||
    { cat "$place/log"; exit 1; }
(cd "$sources/python" && find arcwake -name '*.py' -print) | while read -r file; do
    mkdir -p "$place/site/$(dirname "$file")" && cp "$sources/python/$file" "$place/site/$file"
done
unwanted=$(find "$place/site" -type l -o -name '*.c' -o -name '*.h' -o -name '*.a' -o -name '*.o')
[ -z "$unwanted" ] || { echo "in the wheel as well: $unwanted"; exit 1; }

mkdir "$place/elsewhere" && cd "$place/elsewhere" || exit 1
PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$place/site "$python" - "$place" "$sources" <<'END'
import re
import sys
import textwrap
import arcwake
place = sys.argv[1] + "/site/arcwake"
assert str(arcwake.find_program()) == place + "/bin/arcwake", arcwake.find_program()
from arcwake import _library
assert _library.LIBRARY._name == place + "/libarcwake.so", _library.LIBRARY._name
with arcwake.Field([(1.0, 0.0)]) as field:
    field.observe(0.0, [-1e-5, 1e-5], [1e-5, -1e-5], [1e4, 1e4], [0.0, 0.0], 1e-12)
    assert field.grid().charge == 2e-12
example = re.search(r"    import numpy as np\n.*?(?=\n[^ \n])",
                    open(sys.argv[2] + "/docs/python.md", encoding="utf-8").read(), re.S)
names = {"arcwake": arcwake}
exec(textwrap.dedent(example.group(0)), names)
assert names["Fs"].shape == (100000,) and names["Fs"].mean() < 0.0
run = arcwake.run(place + "/share/arcwake/inputs/drift.yaml", directory="out", steps=2,
                  set={"numerics.grid": [24, 24], "beam.particles": 20000})
assert len(run.monitor["step"]) == 3, run
assert arcwake.__version__
END
code=$?
[ $code -eq 0 ] || exit 1

# The command of the package gives the program this Python, which finds the package for the report.
"$python" -c 'import matplotlib' 2>"$place/why" || {
    echo "no report: $(tail -n 1 "$place/why")"
    exit 77
}
PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$place/site AW_PYTHON='' "$python" -c '
import os, sys
del os.environ["AW_PYTHON"]
from arcwake._program import main
sys.argv = ["arcwake", "report", "out"]
sys.exit(main())' || exit 1
[ -s out/report.html ] || { echo "the command made no report"; exit 1; }
