#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Install the program, move the installation, and run a case of it from elsewhere, with a report.
# usage: install.sh CMAKE BUILD VERSION [SOURCES]
# SOURCES: no path below it may be in the program. Exit status 77: all was well, but there is no
# Python with the packages of the report.
set -u
cmake=$1
build=$2
version=$3
sources=${4-}
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
bad=0

complain() {
    echo "$*"
    bad=1
}

"$cmake" --install "$build" --prefix "$place/first" >"$place/log" 2>&1 || {
    cat "$place/log"
    exit 1
}
mv "$place/first" "$place/moved"
prefix=$place/moved
arcwake=$prefix/bin/arcwake
mkdir "$place/elsewhere"
cd "$place/elsewhere" || exit 1

for file in share/arcwake/tools/report.py share/arcwake/python/arcwake/report/page.py \
    share/arcwake/tools/requirements.txt share/arcwake/python/arcwake/convert/__main__.py \
    share/arcwake/validation/plot.py share/arcwake/inputs/drift.yaml \
    share/arcwake/inputs/drift.pals.yaml share/doc/arcwake/README.md \
    share/doc/arcwake/docs/input.md share/doc/arcwake/docs/images/lcls_bend.png \
    share/doc/arcwake/validation/README.md share/doc/arcwake/LICENSE \
    share/doc/arcwake/COPYING.exception share/doc/arcwake/CITATION.cff share/man/man1/arcwake.1 \
    share/bash-completion/completions/arcwake share/zsh/site-functions/_arcwake; do
    [ -f "$prefix/$file" ] || complain "$file was not installed"
done
unwanted=$(find "$prefix" -name __pycache__ -o -name '*.c' -o -name compare_programs.py)
[ -z "$unwanted" ] || complain "installed as well: $unwanted"

if [ -n "$sources" ] && grep -q -a -F -e "$sources/" "$arcwake"; then
    complain "the program holds paths of its sources:"
    grep -a -o -e "$sources/[A-Za-z0-9_./-]*" "$arcwake" | head -n 5
fi

[ "$("$arcwake" --version | head -n 1)" = "arcwake $version" ] ||
    complain "--version: $("$arcwake" --version)"
grep -q -x "version: $version" "$prefix/share/doc/arcwake/CITATION.cff" ||
    complain "CITATION.cff is not of version $version"

# Decks need no package of Python, but Python.
if command -v "${AW_PYTHON:-python3}" >/dev/null; then
    printf 'D: DRIF, L=1\nL: LINE=(D)\n' >deck.mad8
    "$arcwake" convert deck.mad8 deck.pals.yaml --energy 1e9 >stdout 2>stderr ||
        complain "convert: exit $?: $(cat stderr)"
    grep -q 'D: {kind: Drift, length: 1.0}' deck.pals.yaml || complain "convert: $(cat stdout)"
    unwanted=$(find "$prefix" -name __pycache__)
    [ -z "$unwanted" ] || complain "convert left behind: $unwanted"
fi

# Two steps, coarse: this is about files, not about numbers.
"$arcwake" run "$prefix/share/arcwake/inputs/drift.yaml" -o out --steps 2 --quiet \
    --set 'numerics.grid=[24,24]' --set beam.particles=20000 2>stderr ||
    complain "run: exit $?: $(cat stderr)"
[ -f out/monitor.csv ] || complain "the run wrote no monitor.csv"
"$arcwake" report out >stdout 2>>stderr
if grep -q 'no report: .*\(No module named\|cannot be started\)' stderr; then
    [ "$bad" -eq 0 ] || exit 1
    echo "no report, for want of Python's packages: $(grep "no report" stderr)"
    exit 77
fi
if grep -v -q '^arcwake: warning: .* grid cells per sigma' stderr; then
    complain "run: on stderr: $(cat stderr)"
fi
[ -s out/report.html ] || complain "the run made no report.html"

# Without its data the program still computes, and says what is missing.
mkdir "$place/alone" && cp "$arcwake" "$place/alone/program"
"$place/alone/program" report out >stdout 2>stderr
status=$?
[ "$status" -eq 4 ] || complain "report without its script: exit $status"
grep -q 'no report: tools/report.py is not among' stderr ||
    complain "report without its script: $(cat stderr)"
exit $bad
