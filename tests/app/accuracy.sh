#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# The key `accuracy`: what it chooses is said, stands in resolved.yaml and gives the same bits
# again; what is given counts; what cannot be reached is told.  usage: accuracy.sh ARCWAKE
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

# arcwake STATUS ARGUMENTS...: stdout and stderr as files.
program() {
    want=$1
    shift
    "$arcwake" "$@" >stdout 2>stderr
    got=$?
    [ "$got" -eq "$want" ] || complain "$*: exit $got, expected $want: $(cat stderr)"
}

says() {
    grep -q -F -e "$1" "$2" || complain "$2 does not say '$1': $(cat "$2")"
}

# Nothing given but the accuracy, the coarsest: 32 x 32 nodes; a few steps.
sed '/^numerics:/,/^output:/{/^output:/!d}; /particles:/d' "$inputs/lcls_bend_tracking.yaml" |
    sed "s|^lattice: .*|lattice: $inputs/lcls_bend.pals.yaml|" >case.yaml
echo 'accuracy: 0.1' >>case.yaml
program 0 run case.yaml -o one --steps 3 --set output.at_m='[]' --set output.every=0
for line in 'accuracy     0.1 of mean and rms energy change' 'grid       32 x 32: ' \
    'step_m     auto, step_scale 2.25: ' 'particles  20000: 19.5 a cell' 'tolerance  0.003: '; do
    says "$line" stdout
done
for line in 'accuracy: 0.1' 'grid: [32, 32]' 'step_m: auto' 'step_scale: 2.25' 'particles: 20000' \
    'tolerance: 0.003'; do
    says "$line" one/resolved.yaml
done
says 'grid       32 x 32: ' one/run.log

# Its resolved input has all that was chosen as given, and the same numbers result (all columns but
# the seconds).
program 0 run one/resolved.yaml -o two --steps 3
says 'grid       32 x 32, given: ' stdout
numbers() { awk -F, '!/^#/ { for (i = 1; i <= 21; ++i) printf "%s,", $i; print "" }' "$1"; }
numbers one/monitor.csv >one.csv
numbers two/monitor.csv >two.csv
[ "$(wc -l <one.csv)" -ge 4 ] || complain "no rows: $(cat one.csv)"
cmp one.csv two.csv || complain 'another run of the resolved input differs'

# Given keys count, in the file and by --set; and are judged.
program 0 inspect --no-timing case.yaml --set accuracy=0.01 \
    --set 'numerics.grid=[24, 40]' --set beam.particles=1000 --set numerics.tolerance=0.05 \
    --set numerics.step_m=0.02
for line in 'grid: [24, 40]' 'particles: 1000' 'tolerance: 0.05' 'step_m: 0.02' \
    'grid       24 x 40, given' 'step_m     0.02, given' 'particles  1000, given'; do
    says "$line" stdout
done
says 'numerics.grid: [24, 40] is too coarse for accuracy: 0.01 (expected [48, 48],' stderr
says 'beam.particles: 1000 are too few for accuracy: 0.01' stderr
says 'numerics.tolerance: 0.05 is above accuracy: 0.01 (expected 0.003)' stderr

# A bunch that becomes a line: its density is that of the grid, with the place.
program 0 inspect --no-timing "$inputs/zeuthen_chicane.yaml" --set accuracy=0.01 \
    --set beam.chirp_per_m=-40
says 'accuracy: 0.01 is not expected at S = ' stderr
says 'its density is limited by the grid' stderr

# So it is said of a given grid without an accuracy; where the bunch is resolved, nothing.
program 0 inspect --no-timing "$inputs/zeuthen_chicane.yaml" --set accuracy=null \
    --set 'numerics.grid=[48, 48]' --set beam.chirp_per_m=-40
says 'numerics.grid: at S = 15.01 m the bunch is compressed to 0.0546 um across' stderr
says 'cells per sigma its density is limited by the grid, 48 nodes (expected 1280)' stderr
program 0 inspect --no-timing "$inputs/zeuthen_chicane.yaml" --set accuracy=null \
    --set 'numerics.grid=[48, 48]'
[ -s stderr ] && complain "a grid that resolves the bunch: $(cat stderr)"

# A run says it where it happens, whatever the tilt of the grid: steps too long for it to follow.
program 0 run "$inputs/zeuthen_chicane.yaml" -o lags --set accuracy=null --set motion=external \
    --set 'numerics.grid=[48, 48]' --set beam.particles=5000 --set numerics.tolerance=1e-2 \
    --set numerics.step_scale=4 --set output.every=0 --set 'output.at_m=[]' \
    --set output.particles_every=0 --set beam.chirp_per_m=-40
says 'm: 1.7 grid cells per sigma_s, which has become 202 um' stderr

# More memory than there is: said before the start, and the accuracy is a remedy.
if [ "${AW_SANITIZED:-OFF}" != ON ]; then
    # shellcheck disable=SC3045 # ulimit -v is in every shell that there is on Linux
    (ulimit -v 500000 && program 4 run "$inputs/zeuthen_chicane.yaml" -o none --threads 2 \
        --set accuracy=0.001 && exit $bad) || bad=1
    says 'MiB (raise that, or use a larger accuracy, fewer particles,' stderr
    [ "$(wc -l <stderr)" -eq 1 ] || complain "more than one line: $(cat stderr)"
    # shellcheck disable=SC3045
    (ulimit -v 500000 && program 0 inspect "$inputs/zeuthen_chicane.yaml" --no-timing \
        --threads 2 --set accuracy=0.001 && exit $bad) || bad=1
    says 'warning: the run needs about' stderr
fi

# A line has nodes along it alone.
program 0 inspect --no-timing "$inputs/zeuthen_chicane.yaml" --set forces=line \
    --set beam.particles=200
says 'beam.particles: 200 are too few for accuracy: 0.01 on 68 nodes (expected 6800)' stderr

# Refused with the range.
program 2 run case.yaml -o none --set accuracy=1
says "accuracy: '1' is above 0.1 (expected a relative error from 1.0e-4 to 0.1" stderr
[ -e none ] && complain 'something was written'

# Neighbours of a certificate differ from the case in one number, and not by another choice.
program 0 certify case.yaml -o cert --steps 3 --set beam.particles=6000 --quiet
for line in 'grid: [22, 22]' 'particles: 6000' 'tolerance: 0.003' 'step_scale: 2.25'; do
    says "$line" cert/grid-1/resolved.yaml
done
says 'step_scale: 3.375' cert/step-1/resolved.yaml
says 'grid: [32, 32]' cert/step-1/resolved.yaml
says 'particles: 1500' cert/noise-1/resolved.yaml
says 'tolerance: 0.03' cert/quadrature/resolved.yaml
exit $bad
