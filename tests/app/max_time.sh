#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# `arcwake run --max-time`: a run that would take longer is refused before it writes anything, one
# that is late stops between two steps, and one in time gives the same bits.
# usage: max_time.sh ARCWAKE
set -u
arcwake=$1
inputs=$(cd "$(dirname "$0")/../../inputs" && pwd)
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
cd "$place" || exit 1
AW_PYTHON=/bin/false # no report
OMP_WAIT_POLICY=passive
export AW_PYTHON OMP_WAIT_POLICY
bad=0

complain() {
    echo "$*"
    bad=1
}

# case_of ARGUMENTS...: a small run, in the place of the shell that calls it.
case_of() {
    exec "$arcwake" run "$inputs/lcls_bend_tracking.yaml" --set 'numerics.grid=[16, 16]' \
        --set beam.particles=2000 --set numerics.tolerance=1e-2 --set output.every=0 \
        --set 'output.at_m=[]' "$@"
}

says() {
    grep -q -F -e "$1" "$2" || complain "$2 does not say '$1': $(cat "$2")"
}

# Three thousand solves take longer than a tenth of a second on any machine.
(case_of -o refused --set numerics.step_m=0.002 --max-time 0.1s) >stdout 2>stderr
got=$?
[ $got -eq 2 ] || complain "a run that takes too long: status $got, not 2: $(cat stderr)"
says '--max-time: the run takes about' stderr
says 'a larger accuracy or tolerance, or a coarser grid' stderr
[ "$(wc -l <stderr)" -eq 1 ] || complain "more than one line: $(cat stderr)"
[ -e refused ] && complain 'a refused run wrote files'

# A run that gets no processor for longer than its limit: stopped from outside after its first rows.
# Without that it takes less than a second, so the estimate lets it begin; beside other work it has
# taken 7 s.
(case_of -o late --steps 60 --max-time 20s) >stdout 2>stderr &
run=$!
tries=0
until [ "$(grep -c '^[0-9]' late/monitor.csv 2>/dev/null)" -ge 3 ] || [ $tries -ge 1000 ]; do
    sleep 0.02
    tries=$((tries + 1))
done 2>/dev/null
kill -STOP $run
sleep 20
kill -CONT $run
wait $run
got=$?
[ $got -eq 75 ] || complain "a late run: status $got, not 75: $(cat stderr)"
says 'stopped at --max-time after step ' stderr
says 'the files written so far are complete' stderr
rows=$(grep -c '^[0-9]' late/monitor.csv)
if [ "$rows" -lt 3 ] || [ "$rows" -ge 61 ]; then complain "$rows rows of a late run"; fi
awk -F, '!/^#/ { if (!columns) columns = NF; if (NF != columns) exit 1 }' late/monitor.csv ||
    complain 'a row is cut'

# In time, and with a unit: the estimate changes no number (all columns but the seconds).
(case_of -o with --steps 6 --max-time 0.5h) >stdout 2>stderr || complain "in time: $(cat stderr)"
says 'time         about ' stdout
(case_of -o without --steps 6) >stdout 2>stderr || complain "without: $(cat stderr)"
numbers() { awk -F, '!/^#/ { for (i = 1; i <= 22; ++i) printf "%s,", $i; print "" }' "$1"; }
numbers with/monitor.csv >with.csv
numbers without/monitor.csv >without.csv
cmp with.csv without.csv || complain '--max-time changes the numbers'

for value in 0 -1 nan 0x10 5days ''; do
    (case_of -o none --max-time "$value") >stdout 2>stderr
    [ $? -eq 2 ] || complain "--max-time '$value' is accepted"
    says 'is not a length of time (expected e.g. 90, 30min or 2h)' stderr
done
exit $bad
