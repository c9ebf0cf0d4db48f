#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Plant one fault at a time in a small clean tree: each lint must find it.  usage: selftest.sh ROOT
set -eu
lint=$1/tests/lint
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
spdx='/* SPDX-License-Identifier: GPL-3.0-or-later */'
bad=0

write() {
    mkdir -p "$(dirname "$tree/$1")"
    printf '%b' "$2" >"$tree/$1"
}

clean_tree() {
    rm -rf "$tree"
    mkdir -p "$tree"
    for folder in src/base src/io src/pals src/input src/output src/solvers src/plan \
        src/simulation src/bench src/app kernels/math kernels/device kernels/cpu kernels/multi pic \
        pic/particle quadrature quadrature/rules predictor; do
        guard=$(echo "$folder" | tr 'a-z/' 'A-Z_')
        write "$folder/a.h" \
            "$spdx\n/* Part of the tree. */\n#ifndef $guard\n#define $guard\n#endif\n"
        write "$folder/a.c" "$spdx\n#include \"$folder/a.h\"\n\n#include <math.h>\n"
        write "$folder/CMakeLists.txt" "# $folder: a part of the tree.\n"
    done
    cp "$1/.clang-format" "$tree"
}

# expect LINT PLACE CLAIM: the lint fails, and its message names the place.
expect() {
    if message=$(sh "$lint/$1.sh" "$tree" 2>&1); then
        echo "$1 did not see it: $3"
        bad=1
    elif ! printf '%s' "$message" | grep -q -F -e "$2"; then
        echo "$1 failed on \"$3\" without naming $2: $message"
        bad=1
    fi
}

# arrow FROM TO: an include of TO's header in FROM must be refused.
arrow() {
    clean_tree "$root"
    write "$1/a.c" "$spdx\n#include \"$1/a.h\"\n\n#include \"$2/a.h\"\n"
    expect arrows "$1/a.c:4" "$1 includes $2"
}

root=$1
clean_tree "$root"
for name in arrows headings limits flags paths docs conditions; do
    if ! sh "$lint/$name.sh" "$tree"; then
        echo "$name fails on a clean tree"
        bad=1
    fi
done

arrow src/base kernels/math
arrow quadrature/rules kernels/math
arrow quadrature/rules quadrature
arrow kernels/math kernels/device
arrow kernels/math pic/particle
arrow kernels/device kernels/cpu
arrow kernels/device quadrature
arrow kernels/cpu kernels/multi
arrow kernels/multi kernels/cpu
arrow kernels/cpu pic
arrow kernels/device src/input
arrow pic/particle pic
arrow pic quadrature
arrow quadrature pic
arrow quadrature predictor
arrow predictor pic
arrow predictor src/solvers
arrow src/solvers pic
arrow src/io src/output
arrow src/input quadrature
arrow src/pals src/input
arrow src/output src/solvers
arrow src/output src/input
arrow src/plan src/simulation
arrow src/simulation src/bench
for folder in src/base kernels/math kernels/device pic quadrature predictor src/solvers src/input \
    src/output src/simulation src/bench; do
    arrow "$folder" src/app
done

clean_tree "$root"
write pic/a.c "$spdx\n#include \"pic/a.h\"\n\n#  include <quadrature/a.h>\n"
expect arrows pic/a.c:4 "an arrow in angle brackets"
write pic/a.c "$spdx\n#include \"pic/a.h\"\n\n#include \"a.h\"\n"
expect arrows pic/a.c:4 "a path that is not from the root"
write pic/a.c "$spdx\n#include \"pic/a.h\"\n\n#include \"pic/../quadrature/a.h\"\n"
expect arrows pic/a.c:4 "a path with .. in it"
write pic/a.c "$spdx\n#include \"pic/a.h\"\n\n#include WHATEVER\n"
expect arrows pic/a.c:4 "an include by a macro"
clean_tree "$root"
write src/extra/a.h "$spdx\n/* A folder that nobody knows. */\n"
expect arrows src/extra/a.h "a folder without arrows"

clean_tree "$root"
write pic/b.c "/* No licence here. */\n"
expect headings pic/b.c:1 "no licence line"
clean_tree "$root"
write pic/b.c "$spdx\nint b;\n"
expect headings pic/b.c:2 "no purpose"
clean_tree "$root"
write pic/b.c "$spdx\n#include \"pic/a.h\"\n"
expect headings pic/b.c:2 "no purpose but the header of another file"
clean_tree "$root"
write tools/b.sh "#!/bin/sh\necho\n"
expect headings tools/b.sh:1 "a script without a licence line"
clean_tree "$root"
write pic/CMakeLists.txt "project(pic)\n"
expect headings pic/CMakeLists.txt:1 "a folder without a purpose"

clean_tree "$root"
write pic/b.h "$spdx\n/* Tabs and more. */\n\tint b;\n"
expect limits pic/b.h:3 "a tab"
write pic/b.h "$spdx\n/* Blanks. */\nint b; \n"
expect limits pic/b.h:3 "blanks at the end"
write pic/b.h "$spdx\n/* Long. */\n$(printf '/* %099d */' 0)\n"
expect limits pic/b.h:3 "a long line"
write pic/b.h "$spdx\n/* Many. */\n$(seq -s '\n' 800 | sed 's/[0-9]//g')\n"
expect limits pic/b.h: "a long file"
seven='int a, int b, int c, int d, int e, int f, int g'
four='int a, int b[2][3], int (*c)(int, int, int, int), int d'
write pic/b.h "$spdx\n/* Wide. */\nint f($seven)\n{\n}\n"
expect limits pic/b.h:3 "a function of seven parameters"
write pic/b.h "$spdx\n/* Not so wide. */\nint f($four)\n{\n}\n"
sh "$lint/limits.sh" "$tree" || {
    echo "limits refused a function of four parameters"
    bad=1
}
for module in a b c d e f g h i j k l m n o p; do
    write "pic/$module.h" "$spdx\n/* One of many. */\n"
done
expect limits pic: "a folder of too many modules"

clean_tree "$root"
write pic/CMakeLists.txt "# pic: a part of the tree.\nadd_compile_options(-ffast-""math)\n"
expect flags pic/CMakeLists.txt:2 "fast maths"
write pic/CMakeLists.txt "# pic: a part of the tree.\nadd_compile_options(-march=""native)\n"
expect flags pic/CMakeLists.txt:2 "native code"
clean_tree "$root"
write pic/a.c "$spdx\n#include \"pic/a.h\"\n\n#pragma GCC optimize(\"Ofast\")\n"
expect flags pic/a.c:4 "fast maths in a pragma"

clean_tree "$root"
write notes.md "see /ho""me/someone/run.yaml\n"
expect paths notes.md:1 "a path of somebody's machine"

clean_tree "$root"
write pic/a.c "$spdx\n#include \"pic/a.h\"\n\n#if defined WITH_A\n#endif\n"
expect conditions pic/a.c:4 "a condition of the preprocessor"

# shellcheck disable=SC2016
for fault in '`pic/b.c`' '`b.c`' '`aw_b`' '`aw_b_*`' '--b' '[b](b.md)' '[b](../pic/b.c)'; do
    clean_tree "$root"
    write docs/notes.md "# Notes\n\nSee $fault.\n"
    expect docs docs/notes.md:3 "a document that names $fault, which is not there"
done
clean_tree "$root"
write docs/arcwake.1 ".Dd today\n.Dt ARCWAKE 1\n.Os\n.Sh NAME\n.Nm arcwake\n.Nd a page\n"
write src/app/commands.c "$spdx\n/* Commands. */\n#define COMMANDS(COMMAND) \\\\\n COMMAND(run)\n"
write pic/a.c "$spdx\n#include \"pic/a.h\"\n\nchar *a(void) { return getenv(\"A_B\"); }\n"
write src/app/options.c "$spdx\n/* Options. */\nint known = {\"go\", no_argument};\n"
expect docs "lacks the option --go" "an option that the manual page leaves out"
expect docs "lacks the command run" "a command that the manual page leaves out"
expect docs "lacks the variable A_B" "a variable that the manual page leaves out"

clean_tree "$root"
write pic/a.c "$spdx\n#include \"pic/a.h\"\n\nint a(void){return 1;}\n"
if sh "$lint/format.sh" "$root" >/dev/null 2>&1 || [ $? -ne 77 ]; then
    expect format pic/a.c:4 "braces out of format"
fi
exit $bad
