#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# `arcwake run --restart`: a run that was killed or stopped goes on to the same bits; checkpoints
# that are damaged, foreign or of another input are refused by name.
# usage: restart.sh ARCWAKE
set -u
arcwake=$1
inputs=$(cd "$(dirname "$0")/../../inputs" && pwd) || exit 1
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
cd "$place" || exit 1
AW_PYTHON=/bin/false # no report
ARCWAKE_TUNING=none
OMP_WAIT_POLICY=passive
export AW_PYTHON ARCWAKE_TUNING OMP_WAIT_POLICY
bad=0

# The particles radiate, with random numbers that the restart must not shift, and meet a wake in all
# of the lattice.
# The bunch passes a cavity behind the bend, at step 83, when it has been restarted: the phase that
# it meets depends on the time since the start of the whole run.
cp "$inputs/lcls_bend_tracking.yaml" run.yaml
rf='{kind: RFCavity, RFP: {voltage: 2.0e8, frequency: 2.856e9, phase: 0.25}}'
sed "s/^\( *\)- after:/\1- rf: $rf\n&/" "$inputs/lcls_bend.pals.yaml" >lcls_bend.pals.yaml
grep -q 'kind: RFCavity' lcls_bend.pals.yaml || exit 1
printf '%s\n' '-0.1 0' '-1e-4 -1e14' '0 4e14' >wake.txt

complain() {
    echo "$*"
    bad=1
}

# case_of ARGUMENTS...: a small self-consistent run into out, in the place of the shell that calls
# it.
case_of() {
    exec "$arcwake" run run.yaml -o out --set 'numerics.grid=[16, 16]' \
        --set beam.particles=2000 --set numerics.tolerance=1e-4 --set output.every=25 \
        --set 'output.at_m=[]' --set output.checkpoint_every=10 --set numerics.step_m=0.06 \
        --set beam.isr=full \
        --set 'wakes=[{file: wake.txt, kind: longitudinal, unit: V/C/m, from_m: 0, to_m: 5.9}]' "$@"
}

# expect STATUS TEXT ARGUMENTS...: a run ends so, with this text on stderr.
expect() {
    want=$1
    text=$2
    shift 2
    (case_of "$@") >stdout 2>stderr
    got=$?
    [ $got -eq "$want" ] || complain "run $*: status $got, not $want: $(cat stderr)"
    grep -q -F -e "$text" stderr || complain "run $*: stderr does not say '$text': $(cat stderr)"
}

# monitor DIR: the columns without times.
monitor() {
    awk -F, 'NR == 1 { for (i = 1; i <= NF; ++i) skip[i] = $i ~ /^seconds/ }
             { row = ""; for (i = 1; i <= NF; ++i) if (!skip[i]) row = row "," $i; print row }' \
        "$1/monitor.csv"
}

(case_of --threads 1) >stdout 2>stderr || complain "the whole run: $(cat stderr)"
mv out whole

# Meshes, for which the potentials are completed where nothing feels them, change nothing but what
# is measured with them.
(case_of --threads 2 --set output.every=0) >stdout 2>stderr || complain "no meshes: $(cat stderr)"
for of in whole out; do
    awk -F, 'NR == 1 { for (i = 1; i <= NF; ++i) skip[i] = $i ~ /^(seconds|evaluations|F_._error)/ }
             { row = ""; for (i = 1; i <= NF; ++i) if (!skip[i]) row = row "," $i; print row }' \
        $of/monitor.csv >monitor.$of
done
cmp monitor.whole monitor.out || complain 'meshes change the run'
rm -rf out
kept=$(cd whole/checkpoints && echo arcwake_*)
[ "$kept" = 'arcwake_00000089.ckpt arcwake_00000099.ckpt' ] || complain "checkpoints kept: $kept"
# same DIR WHAT: the run in DIR has come to the end of that in `whole`. A checkpoint has all
# particles, the history and what the solver has learned.
same() {
    cmp whole/checkpoints/arcwake_00000099.ckpt "$1/checkpoints/arcwake_00000099.ckpt" ||
        complain "$2: the last checkpoints differ"
    monitor whole >monitor.whole
    monitor "$1" | cmp - monitor.whole || complain "$2: monitor.csv differs"
    (cd whole/diag && echo ./*) >files.whole
    (cd "$1/diag" && echo ./*) | cmp - files.whole || complain "$2: other mesh files"
}

# Killed again and again, it goes on from what it has, or from the start.
for moment in 0.5 0.7 0.3 0.9 0.6 0.4; do
    if [ -d out/checkpoints ]; then again=--restart; else again=--force; fi
    (case_of --threads 1 $again) >stdout 2>stderr &
    pid=$!
    sleep $moment
    kill -KILL $pid 2>/dev/null
    wait $pid 2>/dev/null
done
if ls out/checkpoints/arcwake_*.ckpt >/dev/null 2>&1; then again=--restart; else again=--force; fi
(case_of --threads 1 $again) >stdout 2>stderr || complain "the end of killed runs: $(cat stderr)"
same out 'killed'
rm -rf out

# Stopped by a signal between two checkpoints, and on with two threads.
(case_of --threads 1) >stdout 2>stderr &
pid=$!
for _ in 1 2 3 4 5 6 7 8 9 10; do
    sleep 0.3
    [ -e out/monitor.csv ] && [ "$(wc -l <out/monitor.csv)" -gt 12 ] && break
done
kill -TERM $pid
kill -TERM $pid 2>/dev/null # as timeout(1) does, to the process and to its group
wait $pid
got=$?
[ $got -eq 75 ] || complain "a signal: status $got, not 75: $(cat stderr)"
grep -q -F 'and --restart goes on' stderr || complain "a signal: $(cat stderr)"
cp -r out stopped
(case_of --threads 2 --restart) >stdout 2>stderr || complain "after a signal: $(cat stderr)"
grep -q -F 'restart: goes on with step' stdout || complain "after a signal: $(cat stdout)"
grep -q -F 'restart: goes on with step' out/run.log || complain 'run.log was not continued'
same out 'stopped by a signal'
rm -rf out

expect 75 'stopped at --stop-after after step' --stop-after 0.3
expect 75 'stopped at --stop-after after step' --restart --stop-after 0.3
(case_of --restart) >stdout 2>stderr || complain "after --stop-after: $(cat stderr)"
same out 'stopped by the clock'

# Damage: what is cut off, changed or foreign is named, and the one before it is taken.
newest=out/checkpoints/arcwake_00000099.ckpt
cp "$newest" whole.ckpt
head -c 30000 whole.ckpt >"$newest"
(case_of --restart) >stdout 2>stderr || complain "a checkpoint that is cut off: $(cat stderr)"
grep -q -F "$newest: ends too early; the one before it is taken" stderr || complain "$(cat stderr)"
grep -q -F 'goes on with step 90 ' stdout || complain "the older one was not taken: $(cat stdout)"
same out 'after damage'
printf 'x' | dd of="$newest" bs=1 seek=50000 conv=notrunc 2>/dev/null
expect 2 "$newest: is damaged" --restart="$newest"
[ "$(wc -l <stderr)" -eq 1 ] || complain "more than one line: $(cat stderr)"
echo 'no checkpoint' >out/checkpoints/arcwake_00000089.ckpt
expect 2 'out/checkpoints: there is no checkpoint to go on from' --restart
grep -q -F 'arcwake_00000089.ckpt: is not a checkpoint of arcwake' stderr ||
    complain "$(cat stderr)"
expect 2 "No such file or directory" --restart=nothing.ckpt
cp whole.ckpt "$newest"
(case_of --restart --device cpu) >stdout 2>stderr || complain "another device: $(cat stderr)"
cp whole.ckpt "$newest"

# From an older one the run goes on on its own: what was ahead is written anew.
older=out/checkpoints/arcwake_00000089.ckpt
cp whole/checkpoints/arcwake_00000089.ckpt $older
expect 75 'stopped at --stop-after after step' --restart=$older --stop-after 0.05
[ ! -e "$newest" ] || complain "an older checkpoint left the newer one: $(ls out/checkpoints)"
(case_of --restart) >stdout 2>stderr || complain "on from an older one: $(cat stderr)"
same out 'restarted from an older checkpoint'

# What is not the run's own.
expect 2 "'# --steps 40' here" --restart --steps 40
expect 2 "'tolerance: 0.0001' there, 'tolerance: 0.001' here" --restart \
    --set numerics.tolerance=1e-3
[ "$(grep -c 'error: ' stderr)" -eq 1 ] || complain "another input: $(cat stderr)"
expect 2 '--force removes them (expected one of the two)' --restart --force
rm out/monitor.csv
expect 4 'out/monitor.csv: cannot be written: No such file' --restart
cp whole/monitor.csv out
sed -i '/^99,/d' out/monitor.csv
expect 4 'out/monitor.csv: has no row of step 99' --restart
rm -rf out
expect 2 'out/checkpoints: there is no checkpoint to go on from' --restart
mkdir out
expect 2 'out: there is no run to go on with' --restart=whole.ckpt
rm -rf out

# --force removes the checkpoints of the earlier run, and leaves what is not arcwake's.
mv stopped out
touch out/checkpoints/notes.txt
expect 75 'stopped at --stop-after' --force --stop-after 0.3
[ -e out/checkpoints/notes.txt ] || complain '--force removed a file that is not of a run'
[ "$(find out/checkpoints -name 'arcwake_*' | wc -l)" -le 2 ] || complain 'old checkpoints stayed'
exit $bad
