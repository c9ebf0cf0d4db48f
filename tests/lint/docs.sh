#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Fail on what documents name and the tree does not have: files, functions and macros in backticks,
# options, link targets; and on commands, options and variables that the manual page leaves out.
# usage: docs.sh ROOT
set -eu
here=$(cd "$(dirname "$0")" && pwd)
cd "$1"
# shellcheck source=tests/lint/sources.sh
. "$here/sources.sh"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

aw_all_files >"$scratch/files"
grep -E '\.md$' "$scratch/files" >"$scratch/documents" || true
aw_code_files | grep -v -x -e tests/lint/selftest.sh >"$scratch/code"
# Words of the code: identifiers, and options with their hyphens.
while read -r file; do cat "$file"; done <"$scratch/code" >"$scratch/text"
grep -o -E '[A-Za-z_][A-Za-z0-9_]*' "$scratch/text" | LC_ALL=C sort -u >"$scratch/words"
# Lines that call a program of somebody else are left out below, but for cmake's.
others='pkg-config|srun|sbatch|#SBATCH|mpirun|ncu |nvcc|--gpus-per-task'
{ cat "$scratch/text" && echo ' --preset --build --install --prefix '; } |
    grep -o -E -e '--[a-z][a-z-]*' | LC_ALL=C sort -u >"$scratch/options"
bad=0

complain() {
    echo "$*"
    bad=1
}

# A path from the root or from the document's folder, perhaps with *.
exists() {
    folder=$(dirname "$1")
    # shellcheck disable=SC2086
    for path in $2 $folder/$2; do
        if [ -e "$path" ]; then return 0; fi
    done
    return 1
}

# check DOCUMENT:LINE WORD, where the word stood in backticks.
check_word() {
    place=$1
    word=$2
    case $word in
    aw_* | AW_*)
        name=${word%%[!A-Za-z0-9_]*}
        case $word in
        *NAME* | *_FILE) ;; # placeholders
        *_\*) grep -q "^$name" "$scratch/words" || complain "$place: nothing begins with $name" ;;
        *) grep -q -x "$name" "$scratch/words" || complain "$place: there is no $name" ;;
        esac
        ;;
    src/* | kernels/* | pic/* | quadrature/* | predictor/* | validation/* | tests/* | tools/* | \
        docs/* | inputs/* | cmake/*)
        case $word in
        *[!A-Za-z0-9_./*-]*) ;; # a command, a range, a placeholder
        *) exists "${place%%:*}" "$word" || complain "$place: no file $word" ;;
        esac
        ;;
    *.c | *.h | *.sh | *.cu)
        case $word in
        .* | *[!A-Za-z0-9_./-]*) ;;
        *) grep -q -E "(^|/)$word\$" "$scratch/files" || complain "$place: no file $word" ;;
        esac
        ;;
    esac
}

while read -r document; do
    # shellcheck disable=SC2016
    grep -n -o '`[^` ]*`' "$document" | sed 's/`//g' | sort -u >"$scratch/marked" || true
    while IFS=: read -r line word; do
        check_word "$document:$line" "$word"
    done <"$scratch/marked"
    if [ "$document" != CHANGELOG.md ]; then # which also names what once was
        sed -E "/$others/s/.*//" "$document" |
            grep -n -o -E -e '(^|[^A-Za-z0-9-])--[a-z][a-z-]*' |
            sed 's/:[^:]*--/:--/' >"$scratch/marked" || true
        while IFS=: read -r line option; do
            grep -q -x -e "$option" "$scratch/options" ||
                complain "$document:$line: there is no option $option"
        done <"$scratch/marked"
    fi
    grep -n -o -E '\]\([^)# ]+\.[a-z]+' "$document" | sed 's/](//' >"$scratch/marked" || true
    while IFS=: read -r line target; do
        case $target in
        http*) ;;
        *)
            [ -e "$(dirname "$document")/$target" ] ||
                complain "$document:$line: the link's target $target does not exist"
            ;;
        esac
    done <"$scratch/marked"
done <"$scratch/documents"

# The manual page has every command and every variable that the program reads, and every option but
# those of bench, which only developers need.
manual=docs/arcwake.1
if [ -f "$manual" ]; then
    sed -n 's/^ *COMMAND(\([a-z_]*\)).*/\1/p' src/app/commands.c | tr _ - >"$scratch/marked"
    while read -r command; do
        grep -q "^\.It Cm $command\$" "$manual" || complain "$manual: lacks the command $command"
    done <"$scratch/marked"
    cat src/app/options.c src/form_factor/command.c src/tune/tune.c src/validate/validate.c \
        2>/dev/null | grep -o -E '\{"[a-z-]+", *([0-2]|[a-z]+_argument)' | cut -d '"' -f 2 |
        sort -u >"$scratch/marked"
    while read -r option; do
        grep -q -E "F(l|l o Ar dir , Fl) -$option( |\$)" "$manual" ||
            complain "$manual: lacks the option --$option"
    done <"$scratch/marked"
    grep '/.*\.[ch]$' "$scratch/code" | grep -E '^(src|kernels|pic|quadrature|predictor)/' |
        while read -r file; do grep -h -o 'getenv("[A-Z_]*")' "$file" || true; done |
        sed 's/.*"\(.*\)".*/\1/' | sort -u >"$scratch/marked"
    while read -r variable; do
        grep -q "$variable" "$manual" || complain "$manual: lacks the variable $variable"
    done <"$scratch/marked"
    if command -v man >/dev/null; then
        man --warnings -l "$manual" 2>"$scratch/warnings" >/dev/null || true
        [ ! -s "$scratch/warnings" ] || complain "$manual: $(cat "$scratch/warnings")"
    fi
fi
exit $bad
