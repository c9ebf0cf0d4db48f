#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# The commit that `arcwake --version` prints: of a clone, of a changed clone, of an archive, of
# sources without git, and of sources within another repository.  usage: version.sh CMAKE SOURCES
set -u
cmake=$1
sources=$2
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
bad=0
git=$(command -v git) || {
    echo "skipped: there is no git"
    exit 77
}
# shellcheck disable=SC2016
grep -q -F '$Format' "$sources/cmake/commit.cmake" || {
    echo "skipped: these sources are an archive, whose commit is fixed"
    exit 77
}

in_place() {
    (cd "$place/tree" && "$git" -c user.name=t -c user.email=t@t -c commit.gpgsign=false "$@")
}

# expect TEXT TREE CLAIM: the header of the sources in TREE names the commit TEXT.
expect() {
    "$cmake" "-DGIT=$git" "-DSOURCE=$2" "-DHEADER=$place/aw_commit.h" -P "$2/cmake/commit.cmake"
    if ! grep -q -x "#define AW_COMMIT \"$1\"" "$place/aw_commit.h"; then
        echo "$3: expected $1, got $(grep AW_COMMIT "$place/aw_commit.h")"
        bad=1
    fi
}

mkdir -p "$place/tree/cmake"
cp "$sources/cmake/commit.cmake" "$place/tree/cmake"
cp "$sources/.gitattributes" "$place/tree"
expect unknown "$place/tree" "sources without git"
in_place init -q
in_place add .
in_place commit -q -m first
commit=$(in_place rev-parse HEAD | cut -c 1-12)
expect "$commit" "$place/tree" "a clone"

touch -d '2000-01-01' "$place/aw_commit.h"
expect "$commit" "$place/tree" "the same again"
[ -z "$(find "$place/aw_commit.h" -newermt '2001-01-01')" ] || {
    echo "the header was written although the commit is the same"
    bad=1
}

echo >"$place/tree/new" # not under version control
expect "$commit" "$place/tree" "a clone with a new file"
mkdir "$place/tree/inner"
in_place archive HEAD | (cd "$place/tree/inner" && tar -x)
expect "$commit" "$place/tree/inner" "an archive within another repository"
cp "$sources/cmake/commit.cmake" "$place/tree/inner/cmake"
expect unknown "$place/tree/inner" "sources within another repository"
echo '# changed' >>"$place/tree/cmake/commit.cmake"
expect "$commit-modified" "$place/tree" "a changed clone"
exit $bad
