#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# What a user meets, in runs that succeed and in every kind of failure: exit status, line on stderr,
# files left behind.  usage: command.sh ARCWAKE
set -u
# shellcheck source=tests/app/lattice.sh
. "$(dirname "$0")/lattice.sh"
arcwake=$1
here=$(cd "$(dirname "$0")" && pwd)
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
cd "$place" || exit 1
ARCWAKE_TUNING=none # the same block sizes on every machine
AW_PYTHON=/bin/false # no report, but where it is the matter
export ARCWAKE_TUNING AW_PYTHON
bad=0

complain() {
    echo "$*"
    bad=1
}

# expect STATUS TEXT ARGUMENTS...: arcwake ends with STATUS and prints TEXT on stderr.
expect() {
    want=$1
    text=$2
    shift 2
    "$arcwake" "$@" >stdout 2>stderr
    got=$?
    [ "$got" -eq "$want" ] || complain "arcwake $*: exit $got, expected $want: $(cat stderr)"
    [ -z "$text" ] || grep -q -F -e "$text" stderr ||
        complain "arcwake $*: stderr lacks '$text': $(cat stderr)"
    if [ "$want" -eq 2 ] && grep -v -q '^arcwake: error: ' stderr; then
        complain "arcwake $*: more than its error lines on stderr: $(cat stderr)"
    fi
}

# absent PATH: the file or directory does not exist.
absent() {
    [ ! -e "$1" ] || complain "$1 was written: $(ls -R "$1")"
}

write_lattice 0.1
cat >run.yaml <<'END'
title: a short bend
lattice: line.yaml
beam: {charge_C: 1.0e-9, gamma: 1.0e4, particles: 2000, sigma_s_m: 50.0e-6, sigma_x_m: 50.0e-6}
motion: self-consistent
numerics: {grid: [16, 16], step_m: 0.02, tolerance: 1.0e-3}
output: {directory: out, every: 2}
END

# Help that was asked for: status 0, on stdout alone. No command at all: the same with status 2.
help_page() {
    want=$1
    text=$2
    shift 2
    expect "$want" '' "$@"
    grep -q -F -e "$text" stdout || complain "arcwake $*: stdout lacks '$text': $(cat stdout)"
    [ ! -s stderr ] || complain "arcwake $*: on stderr: $(cat stderr)"
}
help_page 2 '  arcwake run INPUT.yaml'
help_page 0 '  arcwake run INPUT.yaml' help
cp stdout list
help_page 0 '  arcwake run INPUT.yaml' --help
help_page 0 '  arcwake run INPUT.yaml' -h
cmp -s list stdout || complain "'arcwake help' and 'arcwake -h' differ"
help_page 0 'arcwake ' --version
for command in run inspect validate bench tune devices report help; do
    grep -q "^  arcwake $command" list || complain "'arcwake help' does not list $command"
    help_page 0 "arcwake $command" help $command
    cp stdout page
    help_page 0 "arcwake $command" $command --help
    cmp -s page stdout || complain "'help $command' and '$command --help' differ"
done
help_page 0 '--solver NAME' run no-such.yaml -h # even if the rest of the line is wrong
expect 2 "no command 'nonsense' (see: arcwake help)" help nonsense
[ ! -s stdout ] || complain "help nonsense: on stdout: $(cat stdout)"

# Every validation case has a page, and a line in the list of them.
validation=$here/../../validation
expect 0 '' validate --list
while read -r name rest; do
    [ -s "$validation/$name/README.md" ] || complain "validation/$name/README.md is missing: $rest"
    grep -q -F "| [$name]($name/README.md) |" "$validation/README.md" ||
        complain "validation/README.md does not list $name"
done <stdout

# Wrong usage and input: status 2, place and remedy, nothing written.
expect 2 "'nonsense' is not a command" nonsense
[ ! -s stdout ] || complain "nonsense: on stdout: $(cat stdout)"
expect 2 'no-such.yaml: No such file' run no-such.yaml
expect 2 'unknown key' run run.yaml --set numerics.stpe_m=0.01
expect 2 'numerics.grid' run run.yaml --set 'numerics.grid=[16]'
sed -e 's/step_m: 0.02/step_m: -1, tolerence: 1/' -e 's/particles: 2000/particles: some/' \
    run.yaml >wrong.yaml
expect 2 'wrong.yaml:5' run wrong.yaml
[ "$(grep -c '^arcwake: error: wrong.yaml:[0-9]*:[0-9]*: ' stderr)" -ge 3 ] ||
    complain "not all three problems of wrong.yaml were reported at once: $(cat stderr)"
sed 's/radius_ref: 25.13/radius_reff: 25.13/' line.yaml >wrong-line.yaml
sed 's/line.yaml/wrong-line.yaml/' run.yaml >wrong-lattice.yaml
expect 2 'wrong-line.yaml:8:' run wrong-lattice.yaml
absent out

# Options of the bench.
expect 2 'lacks its value' bench --grid
many=8,8,8,8,8,8,8,8,8,8,8,8,8,8,8,8
expect 2 '--grid: more than 16 entries' bench --grid $many,8
expect 2 '--particles: more than 16 entries' bench --particles $many,8
expect 2 '--solver: more than 16 entries' bench --solver "$many,8"
expect 2 'option --girds is not known' bench --girds 64
expect 2 "'now' is not an option" bench now
expect 2 "--forecast: 'guess' is not learned, off or random" bench --forecast guess
expect 2 "--conversion: 'odd' is not even, uniform or adaptive" bench --conversion odd
expect 2 "--merge: 'least' is not most or mean" bench --merge least
expect 2 '--neighbours' bench --neighbours 65
expect 2 '--classes' bench --classes -1
expect 2 "--least: '0' is not a number above 0" bench --least 0
expect 2 "--budget: 'nan' is not a number above 0" bench --budget nan
expect 2 'at most 80' bench --skip 40 --repeat 41
expect 2 'give one of them' bench --tables --kernel
expect 2 "solver 'fast' is not known" bench --grid 8 --particles 10 --solver fast
expect 2 'give --device a list' bench --slow cpu:0=2
expect 2 "there is no device 'cpu:2'" bench --device cpu:0,cpu:1 --slow cpu:2=2

# Inspection writes nothing.
expect 0 '' inspect run.yaml
absent out

# A run writes the files that README promises, and one row of monitor.csv for each step.
expect 0 '' run run.yaml
for file in resolved.yaml run.log monitor.csv diag/arcwake_00000000.h5 diag/arcwake_00000004.h5; do
    [ -s "out/$file" ] || complain "out/$file is missing after a run"
done
[ "$(grep -c '^[0-9]' out/monitor.csv)" -eq 6 ] || complain "monitor.csv has not 6 rows"

# files DIRECTORY STEPS WITH: mesh files are of these steps, and particles are in these.
files() {
    found=$(cd "$1/diag" && for file in *.h5; do echo "$file"; done | tr -d -c '0-9\n' |
        sed 's/^0*\(.\)5$/\1/' | tr '\n' ' ')
    [ "$found" = "$2 " ] || complain "$1 has files of the steps $found, expected $2"
    found=$(cd "$1/diag" && grep -l -a speciesType -- *.h5 | tr -d -c '0-9\n' |
        sed 's/^0*\(.\)5$/\1/' | tr '\n' ' ')
    [ "$found" = "$3 " ] || complain "$1 has particles of the steps $found, expected $3"
}
files out '0 2 4 5' '0 5'
expect 0 '' run run.yaml -o places --set output.every=0 --set output.at_m='[0.04]' \
    --set output.particles_at_m='[0.05, 0.045]'
files places '2 3 5' '2 3 5'
expect 0 '' run run.yaml -o cycle --set output.every=1 --set output.particles_every=3 --steps 4
files cycle '0 1 2 3 4' '0 3 4'

# A sharp cut leaves particles further out than cutoff_sigma rms sizes, and the grid holds them.
expect 0 '' run run.yaml -o cut --set motion=rigid --set beam.cutoff_sigma=1 --steps 2
expect 2 "'0.05' is below 0.1" run run.yaml -o cut --set beam.cutoff_sigma=0.05
expect 0 '' run out/resolved.yaml -o again
expect 2 'not empty' run run.yaml
expect 0 '' run run.yaml --force

# Closed streams: no file of the run gets their numbers, and nothing is written into it.
"$arcwake" run run.yaml -o closed <&- >&- 2>&- || complain "closed streams: exit $?"
[ "$(grep -c -v '^[0-9]' closed/monitor.csv)" -eq 1 ] ||
    complain "closed streams: $(head -c 300 closed/monitor.csv)"
grep -q 'steps in' closed/run.log || complain "closed streams: run.log is $(cat closed/run.log)"

# A full device on stdout: an error where stdout is the result; a run has the same in run.log.
for line in 'inspect run.yaml' devices help 'help run' --version -h 'validate --list'; do
    # shellcheck disable=SC2086
    "$arcwake" $line >/dev/full 2>stderr
    got=$?
    [ $got -eq 4 ] || complain "arcwake $line >/dev/full: exit $got, expected 4"
    [ "$(grep -c '^arcwake: error: stdout: cannot be written' stderr)" -eq 1 ] ||
        complain "arcwake $line >/dev/full: stderr is $(cat stderr)"
done
"$arcwake" run run.yaml -o full >/dev/full 2>/dev/full || complain "run >/dev/full: exit $?"
grep -q 'energy change' full/run.log || complain "run >/dev/full: run.log is $(cat full/run.log)"

# The directory of another program; one through a symbolic link; one in use; files that go.
mkdir alien
echo mine >alien/run.log
expect 2 'alien/run.log: is in the way' run run.yaml -o alien --force
[ "$(ls alien)$(cat alien/run.log)" = run.logmine ] || complain "alien changed: $(ls alien)"
"$arcwake" run run.yaml -o busy --set numerics.step_m=0.0002 >stdout.busy 2>stderr.busy &
run=$!
tries=0
while ! grep -q '^[0-9]' busy/monitor.csv 2>/dev/null && [ $tries -lt 300 ]; do
    sleep 0.1
    tries=$((tries + 1))
done
expect 2 "process $run is writing its results there" run run.yaml -o busy --force
[ -s busy/resolved.yaml ] || complain "--force removed the files of a run that lives"
rm busy/monitor.csv
wait $run
got=$?
[ $got -eq 4 ] || complain "a run without its monitor.csv: exit $got, expected 4"
grep -q 'busy/monitor.csv: was removed or replaced' stderr.busy ||
    complain "a run without its monitor.csv says: $(cat stderr.busy)"
absent busy/run.lock
# The report is made at the end, but not with --quiet.
cat >python <<'END'
#!/bin/sh
echo made >"$3/report.html"
END
chmod +x python
AW_PYTHON="$place/python"
expect 0 '' run run.yaml -o loud --steps 1
[ -s loud/report.html ] || complain "no report after a run"
expect 0 '' run run.yaml -o still --steps 1 --quiet
absent still/report.html
expect 0 '' report still
[ -s still/report.html ] || complain "no report by 'arcwake report'"
AW_PYTHON=/bin/false

# Several devices: a warning where they share a thread; a list that makes no sense is status 4.
expect 0 '' run run.yaml -o pair --device cpu:0,manycore --solver heterogeneous --threads 2
expect 0 '2 devices share 1 thread' run run.yaml -o crowd --device cpu:0,cpu:1 --threads 1
expect 4 "'cpu' is given twice" run run.yaml -o twice --device cpu,cpu
expect 4 "'abacus' is not known" run run.yaml -o none --device cpu,abacus
expect 4 "device 'cuda" run run.yaml -o none --device cuda:7
expect 0 '' run run.yaml -o gpu --device emulated --steps 1 --set 'numerics.grid=[8, 8]'
why=$("$arcwake" devices | sed -n 's/^cuda: none, since //p') # nothing where it is not built in
expect 0 '' run run.yaml -o auto --device auto --steps 1
grep -q -F -e "$why" stdout || complain "auto does not say why: $(cat stdout)"

# A solve that fails: status 3, the step, its position and the remedy.
expect 3 'raise numerics.tolerance' run run.yaml -o tight --set numerics.tolerance=1e-12 \
    --set 'numerics.grid=[8, 8]'
grep -q 'step 0, S = ' stderr || complain "the step is not named: $(cat stderr)"

# Files: status 4.
expect 4 'run.yaml/below' run run.yaml -o run.yaml/below

# Tuning: a place where nothing can be stored is refused before anything is measured; a damaged file
# is ignored.
expect 2 'not a whole number' tune --threads none
expect 2 "'now' is not an option" tune now
expect 2 'nowhere to store' tune
expect 4 'run.yaml' tune --file run.yaml/below
expect 4 'is not a regular file' tune --file .
echo 'cpu_unit: {sweep_group: 0}' >tuning.yaml
export ARCWAKE_TUNING="$place/tuning.yaml"
expect 0 "arcwake: warning: $place/tuning.yaml:" run run.yaml -o tuned --steps 1
grep -q 'ignored (run arcwake tune again)' stderr || complain "no remedy is named: $(cat stderr)"
export ARCWAKE_TUNING=none

# Options that stand for a key: the value is a text, whatever is in it; resolved.yaml, too. Without
# the self-force and meshes of it, which take time and have no part in it.
line=$(printf 'two\nlines')
next=$(printf 'next\302\205line')
for name in 'back\tslash' 'quote"d' "$line" "$next" 'a: b # c' '~'; do
    expect 0 '' run run.yaml --steps 1 --set motion=external --set output.every=0 \
        --set 'numerics.grid=[8, 8]' -o "names/$name"
    [ -s "names/$name/monitor.csv" ] || complain "-o '$name' made: $(ls -R names)"
    expect 0 '' run "names/$name/resolved.yaml" --steps 1 --force
done
[ "$(find names -mindepth 1 -maxdepth 1 | tr -d '\n' | tr -cd / | wc -c)" -eq 6 ] ||
    complain "other directories than those of -o: $(ls names)"

# stop_by SIGNAL: a run gets it after a few steps and ends with status 75, its files complete.
stop_by() {
    "$arcwake" run run.yaml -o stopped --force --set numerics.step_m=0.0002 >stdout 2>stderr &
    run=$!
    tries=0
    while [ ! -s stopped/diag/arcwake_00000002.h5 ] && [ $tries -lt 300 ]; do
        sleep 0.1
        tries=$((tries + 1))
    done
    kill -PIPE $run # is ignored
    kill "-$1" $run
    wait $run
    got=$?
    [ $got -eq 75 ] || complain "a run stopped by $1: exit $got, expected 75: $(cat stderr)"
    grep -q 'the files written so far are complete' stderr ||
        complain "a run stopped by $1 says: $(cat stderr)"
    rows=$(grep -c '^[0-9]' stopped/monitor.csv)
    fields=$(grep '^[0-9]' stopped/monitor.csv | awk -F, '{ print NF }' | sort -u | wc -l)
    if [ "$rows" -lt 3 ] || [ "$fields" -ne 1 ]; then
        complain "monitor.csv after $1: $rows rows, $fields different lengths"
    fi
    left=$(find stopped -name '*.tmp*' -o -name run.lock)
    [ -z "$left" ] || complain "left after $1: $left"
    rm -r stopped
}
for signal in TERM HUP USR1; do stop_by $signal; done

# Before the first step: status 75, and nothing is written. The warning of the energies is printed
# before the particles are made.
rm stderr
"$arcwake" run run.yaml -o early --set beam.particles=4000000 --set beam.energy_eV=5.3e9 \
    --set beam.gamma=null >stdout 2>stderr &
run=$!
tries=0
while [ ! -s stderr ] && [ $tries -lt 300 ]; do
    sleep 0.01
    tries=$((tries + 1))
done
kill -TERM $run
wait $run
got=$?
[ $got -eq 75 ] || complain "a run stopped at once: exit $got, expected 75: $(cat stderr)"
grep -q 'before the first step; nothing was written' stderr ||
    complain "a run stopped at once says: $(cat stderr)"
absent early

# A pipe that breaks: the run goes on. (The subshell's first command is the run, the reader ends.)
{ "$arcwake" run run.yaml -o pipe 2>&1; echo $? >pipe.status; } | true
[ "$(cat pipe.status)" -eq 0 ] || complain "a broken pipe: exit $(cat pipe.status), expected 0"
grep -q 'steps in' pipe/run.log || complain "a broken pipe: run.log is $(cat pipe/run.log)"

exit $bad
