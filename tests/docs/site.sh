#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Build the documentation site in a scratch directory: no link is broken, every page, function and
# class is there, nothing is loaded from elsewhere, and a broken link is an error.
# usage: site.sh SOURCES BUILD
# Exit status 77: the packages of tools/requirements-docs.txt are not there.
set -u
sources=$1
build=$2
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
bad=0

complain() {
    echo "$*"
    bad=1
}

python=
for tried in "$build/venv-docs/bin/python" "${AW_PYTHON-}" python3; do
    packages='material, mkdocstrings_handlers.python, latex2mathml'
    if [ -z "$python" ] && "$tried" -c "import $packages" >/dev/null 2>&1; then python=$tried; fi
done
[ -n "$python" ] || {
    echo "skipped: no Python with tools/requirements-docs.txt (cmake --build build --target docs)"
    exit 77
}

# A page of ours besides: that formulas become MathML.
mkdir "$place/tree"
(cd "$sources" && cp -r README.md CONTRIBUTING.md CHANGELOG.md CITATION.cff LICENSE \
    COPYING.exception docs validation python tools "$place/tree" &&
    mkdir -p "$place/tree/src/api" && cp src/api/arcwake.h "$place/tree/src/api")
# shellcheck disable=SC2016
printf '\nOf a formula, $\\sqrt{x_1}$.\n' >>"$place/tree/docs/tuning.md"
build_it() {
    "$python" -B "$place/tree/tools/site/build.py" "$place/tree" "$place" >"$place/log" 2>&1
}
build_it || {
    cat "$place/log"
    exit 1
}
html=$place/site/html
if grep -i 'warning' "$place/log"; then complain "the site builds with warnings"; fi

for page in "$place"/tree/docs/*.md; do
    [ -s "$html/docs/$(basename "$page" .md).html" ] || complain "no page of $page"
done
sed -n 's/^AW_API .*[ *]\(aw_[a-z0-9_]*\)(.*/\1/p' "$sources/src/api/arcwake.h" >"$place/functions"
while read -r name; do
    grep -q "<h2 id=\"$name\">" "$html/reference/c.html" || complain "c.html lacks $name"
done <"$place/functions"
sed -n 's/^class \([A-Z][A-Za-z]*\).*/\1/p' "$sources"/python/arcwake/[a-z]*.py >"$place/classes"
while read -r name; do
    grep -q "id=\"arcwake\.[a-z_.]*$name\"" "$html/reference/python.html" ||
        complain "python.html lacks $name"
done <"$place/classes"
page=$html/reference/arcwake.1.html
if command -v man >/dev/null && ! grep -q "EXIT STATUS" "$page"; then
    complain "the manual page is not in the site"
fi
grep -q '<msqrt>' "$html/docs/tuning.html" || complain "a formula did not become MathML"
elsewhere='(<script[^>]* src|<link[^>]* href|<img[^>]* src)="?(https?:)?//[^">]*'
if grep -r -o -h -E "$elsewhere" "$html" | grep -v 'rel="canonical"' | sort | uniq -c | grep .; then
    complain "the pages load these from elsewhere"
fi
find "$html" -name '*.html' | wc -l | sed 's/$/ pages/'

for fault in '[away](no-such-page.md)' '[away](input.md#no-such-heading)'; do
    cp "$sources/docs/tuning.md" "$place/tree/docs/tuning.md"
    printf '\n%s\n' "$fault" >>"$place/tree/docs/tuning.md"
    if build_it; then complain "a broken link was not an error: $fault"; fi
done
exit $bad
