#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# `arcwake certify`: what it runs, keeps, continues after a signal, and says of what is missing.
# usage: command.sh ARCWAKE
set -u
arcwake=$1
inputs=$(cd "$(dirname "$0")/../../inputs" && pwd)
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
cd "$place" || exit 1
AW_PYTHON=/bin/false # no report
export AW_PYTHON
bad=0

complain() {
    echo "$*"
    bad=1
}

# certify STATUS ARGUMENTS...: a small case, in out unless the arguments say otherwise.
certify() {
    want=$1
    shift
    "$arcwake" certify "$inputs/lcls_bend_tracking.yaml" -o out --steps 4 \
        --set beam.particles=3000 --set 'numerics.grid=[16, 16]' --set numerics.tolerance=1e-2 \
        "$@" >stdout 2>stderr
    got=$?
    [ $got -eq "$want" ] || complain "certify $*: status $got, not $want: $(cat stderr)"
}

# ran N: so many neighbours were run by the last call.
ran() {
    n=$(grep -c -E '^  (grid|step|noise|quadrature)[-0-9a-z]* ' stdout)
    [ "$n" -eq "$1" ] || complain "$n neighbours were run, not $1: $(cat stdout)"
}

says() {
    grep -q -F -e "$1" "$2" || complain "$2 does not say '$1': $(cat "$2")"
}

certify 0
# 16 / 2.25 is below the fewest nodes of a second level; bars of grid and steps are wide
ran 9
for run in grid-1 grid-finer step-1 step-2 step-finer noise-1 noise-2 noise-3 quadrature; do
    [ -s out/$run/monitor.csv ] || complain "no run $run"
done
says 'grid: [10, 10]' out/grid-1/resolved.yaml
says 'grid: [22, 22]' out/grid-finer/resolved.yaml
says 'step_m: 0.03' out/step-1/resolved.yaml
says 'step_m: 0.015' out/step-finer/resolved.yaml
says 'particles: 750' out/noise-1/resolved.yaml
says 'seed: 4' out/noise-3/resolved.yaml
says 'tolerance: 0.1' out/quadrature/resolved.yaml
says '"quantity": "emittance_x_m"' out/certificate.json
grep -q -E 'isr|wake' out/certificate.json && complain "a bar of what there is not"
says 'F_s_peak_eV_per_m,0,' out/certificate.csv
grep -q '"U": 0[,}]' out/certificate.json && complain "a bar of zero: $(cat out/certificate.json)"
grep -q 'emittance_x_m  *[0-9.e-]*  *[0-9.e-]*  *[0-9.e-]* ' stdout || complain "$(cat stdout)"

# What is complete is kept; the same numbers make the same certificate.
cp out/certificate.json first.json
certify 0 --jobs 2
ran 0
says 'kept' stdout
cmp -s first.json out/certificate.json || complain "another certificate of the same runs"

# A finer run is left out where --max-time leaves no time for it.
mv out/grid-finer aside
certify 0 --max-time 0.001
ran 0
says 'grid-finer, about' stdout
says 'is left out for --max-time' stdout
mv aside out/grid-finer

# A run that is not complete, and one of another input, are run again, and no other.
sed '$d' out/noise-2/monitor.csv >shorter && cp shorter out/noise-2/monitor.csv
sed 's/seed: 4/seed: 5/' out/noise-3/resolved.yaml >shorter && cp shorter out/noise-3/resolved.yaml
certify 0 --jobs 2
ran 2
cmp -s first.json out/certificate.json || complain "other numbers of the same runs"

# The difference of two cases has a bar of its own. Forces are proportional to the charge, so that
# the rms energy change of 1.01 nC is 1 % larger than that of 1 nC, and so is its bar. Runs that the
# other case does not have are asked for.
energy() { # FILE KEY: a number of the rms energy change
    sed -n 's/.*energy_change_rms_eV.*"'"$2"'": \([-0-9.e]*\),.*/\1/p' "$1" | head -n 1
}
certify 0 -o more --set beam.charge_C=1.01e-9
certify 0 -o more --set beam.charge_C=1.01e-9 --minus out
ran 0
says 'the results less those of out:' stdout
grep -q -F 'F_s_peak' more/difference.json && complain "a difference of peaks"
echo "$(energy out/certificate.json value) $(energy more/difference.json value)" \
    "$(energy out/certificate.json U) $(energy more/difference.json U)" |
    awk '{ more = $2 / $1; U = $4 / $3 } END { exit !(more > 0.0099 && more < 0.0101 &&
        U > 0.005 && U < 0.02) }' ||
    complain "not 1 % of the energy and of its bar: $(cat out/certificate.json more/*e.json)"
mv out/step-finer aside # what the other case may lack
certify 0 -o more --set beam.charge_C=1.01e-9 --minus out
mv aside out/step-finer
certify 0 --minus out # of itself
grep -q -E '^sigma_x_m  *0 ' stdout || complain "a case differs from itself: $(cat stdout)"
certify 2 --minus nowhere
says 'there is no nowhere/monitor.csv' stderr

# A neighbour that goes wrong: one line, a certificate without it, and its status.
rm out/grid-1/resolved.yaml
certify 2
ran 0
[ "$(grep -c error stderr)" -eq 1 ] || complain "not one error: $(cat stderr)"
says 'error: grid-1: out/grid-1/' stderr
says 'is in the way' stderr
says 'missing: grid-1' stdout
says '"U_grid": null' out/certificate.json
says '"missing": "grid-1"' out/certificate.json

# A rigid bunch: neighbours solve where the case does, those of other steps on both sides of it, so
# that each force has a bar from every source.
"$arcwake" certify "$inputs/lcls_bend.yaml" -o rigid --steps 20 --quiet --set beam.particles=2000 \
    --set 'numerics.grid=[16, 16]' --set numerics.tolerance=1e-2 --set 'output.at_m=[0.2]' \
    2>stderr || complain "rigid: $(cat stderr)"
awk -F, '$1 == "F_s_mean_eV_per_m" { n++; for (i = 4; i <= 8; ++i) bad = bad || !($i > 0) }
    END { exit bad || n != 2 }' rigid/certificate.csv ||
    complain "not a bar of each source at 0.2 and 0.4 m: $(cat rigid/certificate.csv)"
awk -F, 'NR > 1 && $11 != "" { S[$3] } END { for (s in S) { low += s < 0.2; high += s > 0.2 }
    exit !(low >= 2 && high >= 2) }' rigid/step-1/monitor.csv ||
    complain "step-1 has no solves on both sides: $(cat rigid/step-1/monitor.csv)"

# What incoherent radiation took has a bar, where it acts.
certify 0 -o radiating --steps 2 --set beam.isr=full
says '"quantity": "isr_loss_mean_eV"' radiating/certificate.json
says '"quantity": "isr_rms_eV"' radiating/certificate.json

# Another run in DIR is not replaced unless asked; options of one command are of no other.
"$arcwake" run "$inputs/drift.yaml" -o other --quiet --steps 1 --set beam.particles=1000 \
    --set 'numerics.grid=[8, 8]' --set numerics.tolerance=1e-1 2>stderr
certify 2 -o other
says 'not empty' stderr
"$arcwake" run "$inputs/drift.yaml" --jobs 2 2>stderr
says '--jobs is not known' stderr

# Stopped by a signal between or in runs: 75, and the next call does what is missing.
"$arcwake" certify "$inputs/lcls_bend_tracking.yaml" -o stopped --steps 8 --quiet \
    --set beam.particles=20000 --set 'numerics.grid=[16, 16]' --set numerics.tolerance=1e-2 \
    >stdout 2>stderr &
pid=$!
tries=0
while [ ! -s stopped/grid-1/monitor.csv ] && [ $tries -lt 600 ]; do
    sleep 0.05
    tries=$((tries + 1))
done
kill -TERM $pid
wait $pid
got=$?
[ $got -eq 75 ] || complain "stopped: status $got, not 75: $(cat stderr)"
says 'goes on with what is missing' stderr
[ ! -e stopped/certificate.json ] || complain "a certificate of what is not complete"
"$arcwake" certify "$inputs/lcls_bend_tracking.yaml" -o stopped --steps 8 \
    --set beam.particles=20000 --set 'numerics.grid=[16, 16]' --set numerics.tolerance=1e-2 \
    >stdout 2>stderr || complain "the second call: $(cat stderr)"
says 'the case itself: kept' stdout
[ -s stopped/certificate.json ] || complain "no certificate"

# Neighbours that would take longer than there is are not begun.
"$arcwake" certify "$inputs/lcls_bend_tracking.yaml" -o long --steps 30 --quiet --max-time 1 \
    --set beam.particles=50000 --set 'numerics.grid=[24, 24]' --set numerics.tolerance=1e-3 \
    >stdout 2>stderr
got=$?
[ $got -eq 75 ] || complain "--max-time: status $got, not 75: $(cat stderr)"
says '--max-time: 7 neighbours take about' stderr
[ ! -d long/grid-1 ] || complain "a neighbour was run in spite of --max-time"

exit $bad
