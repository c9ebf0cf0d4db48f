#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Shell completion offers what the program accepts: each command of its table, each option of its
# getopt tables at the commands that take it and at no other, and the values of options.
# usage: completion.sh ARCWAKE SOURCES
set -u
arcwake=$1
sources=$2
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
bad=0
# shellcheck source=tools/completion/arcwake
source "$sources/tools/completion/arcwake"

complain() {
    echo "$*"
    bad=1
}

# offered WORD...: what is offered for the last word, one a line; the first is the program.
offered() {
    COMP_WORDS=(arcwake "$@")
    COMP_CWORD=$#
    COMPREPLY=()
    _arcwake "$arcwake" "${COMP_WORDS[$#]}" "${COMP_WORDS[$# - 1]}"
    printf '%s\n' "${COMPREPLY[@]}"
}

# same CLAIM A B: two lists, in any order.
same() {
    diff <(sort -u <<<"$2") <(sort -u <<<"$3") || complain "$1 (offered: <, the program's own: >)"
}

convert_options() {
    echo --help
    grep -o -E '^ *(add|beam|deck)\("--[a-z-]+"' "$sources/python/arcwake/convert/command.py" |
        cut -d '"' -f 2
}

commands=$(sed -n 's/^ *COMMAND(\([a-z_]*\)).*/\1/p' "$sources/src/app/commands.c" | tr _ -)
[[ $(wc -l <<<"$commands") -ge 9 ]] || complain "commands of the table: $commands"
same "commands" "$(offered '')" "$commands"$'\n--version\n--help'
same "commands of help" "$(offered help '')" "$commands"

# Every option of any table, tried at every command, with a mistake behind it: so nothing runs.
tables=("$sources"/src/app/*.c "$sources"/src/bench/*.c "$sources"/src/form_factor/*.c
    "$sources"/src/tune/*.c "$sources"/src/validate/*.c)
options=$(grep -h -o -E '\{"[a-z-]+", *([0-2]|[a-z]+_argument),' "${tables[@]}" | cut -d '"' -f 2)
options+=$'\n'$(grep -h -o -E 'strcmp\([^,]*, "--[a-z-]+"\)' "$sources/src/app/report.c" |
    sed 's/.*"--\(.*\)".*/\1/')
[[ $(sort -u <<<"$options" | wc -l) -ge 40 ]] || complain "options of the tables: $options"
cd "$place" || exit 1
for command in $commands; do
    list=$(offered "$command" --)
    if [[ $command == convert ]]; then # its options are those of the package arcwake.convert
        same "options of convert" "$list" "$(convert_options)"
        continue
    fi
    accepted=--help$'\n' # at every command, and not in its table
    while read -r option; do
        # --step is accepted as an abbreviation of --steps
        ! grep -q -e "^--$option." <<<"$list" || grep -q -x -e "--$option" <<<"$list" || continue
        message=$("$arcwake" "$command" "--$option" x --not-an-option 2>&1 </dev/null)
        [[ -n $message ]] || complain "$command --$option x --not-an-option is no mistake"
        case $message in
        *"option --$option is not known"* | *"'--$option'"*) ;;
        *) accepted+=--$option$'\n' ;;
        esac
    done < <(sort -u <<<"$options")
    same "options of $command" "$list" "${accepted%$'\n'}"
done

# Values.
message=$("$arcwake" run "$sources/inputs/drift.yaml" --solver no-such-name 2>&1)
solvers=$(sed 's/.*(expected \(.*\)).*/\1/; s/ or /, /; s/, /\n/g' <<<"$message")
same "--solver" "$(offered run --solver '')" "$solvers"
same "--solver of bench" "$(offered bench --quiet --solver '')" "$solvers"
same "a beginning" "$(offered certify x.yaml --solver p)" "$(grep '^p' <<<"$solvers")"
for device in $(offered run --device '' | grep -v cuda); do
    "$arcwake" inspect "$sources/inputs/drift.yaml" --no-timing --quiet --device "$device" \
        >log 2>&1 || complain "--device $device: $(cat log)"
done
same "--sampling" "$(offered bench --sampling '')" $'quiet\nrandom'

# Words that are not options.
mkdir folder
touch a.yaml a.pals.yaml b.txt
same "input files" "$(offered run --quiet '')" $'a.yaml\nfolder'
same "directories" "$(offered report '')" folder
same "any file" "$(offered validate --json b)" b.txt
same "cases" "$(offered validate '')" "$("$arcwake" validate --list | cut -d ' ' -f 1)"
exit $bad
