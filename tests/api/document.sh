#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# The programs in docs/library.md do what is written there: the one in C is compiled and run, those
# in Python are run one after another.  usage: document.sh ROOT COMPILER LIBRARY PYTHON
# With status 77 there is no Python with NumPy; the program in C has been checked then.
set -eu
root=$1
compiler=$2
library=$3
python=$4
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT

# blocks LANGUAGE: what stands between ```LANGUAGE and ```
blocks() {
    awk -v begin="\`\`\`$1" '$0 == "```" { inside = 0 }
                             inside { print }
                             $0 == begin { inside = 1 }' "$root/docs/library.md"
}

blocks c >"$place/example.c"
grep -q aw_field_force "$place/example.c" || { echo "docs/library.md has no example in C"; exit 1; }
"$compiler" -std=c11 -O2 -Wall -Wextra -Werror -o "$place/example" "$place/example.c" \
    -I"$root/src/api" "$library" -lm -Wl,-rpath,"$(dirname "$library")"
"$place/example" >"$place/out"
# The sigma of 20000 random particles is off by up to 1.5 %, three standard errors, the force by 4/3
# of that; grid, tolerance and space charge are below 1 %.
awk '{ bad = !($3 / -1.99e5 > 0.97 && $3 / -1.99e5 < 1.03); n++; print }
     END { exit bad || n != 1 }' "$place/out" || { echo "the example in C is off"; exit 1; }

blocks python >"$place/example.py"
grep -q 'sim.step()' "$place/example.py" || { echo "docs/library.md has no Python"; exit 1; }
if ! "$python" -c 'import numpy' 2>/dev/null; then
    echo "skipped: no Python with NumPy for the rest of docs/library.md"
    exit 77
fi
ln -s "$root/inputs" "$place/inputs"
cd "$place"
PYTHONPATH=$root/python "$python" -W ignore example.py >out.python
for file in here.h5 field.arcwake; do
    [ -s $file ] || { echo "the examples in Python have not written $file"; exit 1; }
done
cat out.python
