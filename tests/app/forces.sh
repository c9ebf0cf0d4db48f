#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# The table of forces at the end of a run: the one-dimensional theory that holds where the bunch is,
# or why there is none.  usage: forces.sh ARCWAKE
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

# table INPUT ARGUMENTS...: the table of a run with few particles and meshes at the last step only.
table() {
    input=$1
    shift
    "$arcwake" run "$input" -o out --force --set beam.particles=5000 \
        --set 'numerics.grid=[32, 32]' --set 'output.at_m=[]' --set output.particles_every=0 "$@" \
        >stdout 2>stderr || complain "run $input $*: $(cat stderr)"
    sed -n '/^forces on the axis/,/^ *3 /p' stdout >forces
    [ "$(wc -l <forces)" -eq 9 ] || complain "run $input $*: no table: $(cat stdout)"
}

# says TEXT COLUMNS: the first line ends with the text; rows have so many numbers.
says() {
    head -n 1 forces | grep -q -F -e "$1" || complain "expected '$1': $(cat forces)"
    awk -v n="$2" 'NR > 2 && NF != n { bad = 1 } END { exit bad }' forces ||
        complain "expected $2 numbers in a row: $(cat forces)"
}

# agrees: F_z within 12 % of the theory at s = -sigma: 2.8 cells per sigma smooth a force by 8 %,
# 5000 particles scatter. The steady state differs from the entrance by 20 %, and by more from the
# drift behind.
agrees() {
    awk '$1 == -1 { off = $2 / $3 - 1; found = off < 0.12 && off > -0.12 } END { exit !found }' \
        forces || complain "not as in theory: $(cat forces)"
}

table "$inputs/lcls_bend.yaml" --steps 25
says '1D: a line bunch behind the entrance' 4
agrees
table "$inputs/lcls_bend.yaml" --steps 125
says '1D: a line bunch in steady state' 5
agrees
table "$inputs/lcls_bend.yaml"
says '1D: a line bunch behind the exit' 4
agrees

# Elsewhere there is none: straight motion; a tilted bunch in a chicane; behind its second bend; a
# bunch wider than (R sigma_s^2)^(1/3) = 4 mm.
table "$inputs/lcls_bend.yaml" --steps 1 --set beam.sigma_x_m=5e-3 \
    --set numerics.tolerance=1e-2
says 'the bunch is wide or its energy low: no 1D theory' 3
table "$inputs/drift.yaml" --steps 2
says '[eV/m]' 3
if grep -q '1D' forces; then complain "1D in straight motion: $(cat forces)"; fi
table "$inputs/zeuthen_chicane.yaml" --set motion=external --set numerics.step_m=0.02 --steps 20
says 'tilted bunch: no 1D theory' 3
table "$inputs/zeuthen_chicane.yaml" --set motion=rigid --set numerics.step_m=0.02 --steps 340
says 'transient: no 1D theory' 3

# 5 m of drift at gamma = 100 with an energy spread of 10 % leave a bunch with the tail of T566.
cat >line.yaml <<'END'
PALS:
  version: null
  facility:
    - line:
        kind: BeamLine
        line:
          - start: {kind: BeginningEle, ReferenceP: {species_ref: electron, E_tot_ref: 5.1099895e7}}
          - way: {kind: Drift, length: 5.0}
          - bend: {kind: Bend, length: 1.0, BendP: {radius_ref: 1000.0}}
    - ring: {kind: Lattice, branches: [line]}
    - use: ring
END
sed 's|^lattice: .*|lattice: line.yaml|' "$inputs/drift.yaml" >tail.yaml
table tail.yaml --set motion=external --set numerics.step_m=0.1 --steps 52 \
    --set beam.energy_spread=0.1 --set numerics.tolerance=1e-3
says 'the current is not Gaussian: no 1D theory' 3
# A bunch wider than the gap of its plates sees images from within its own size: as by another
# solver, whose tolerance is 1 % of the potentials, too.
wide() { # SOLVER: the mean force
    "$arcwake" run "$inputs/lcls_bend.yaml" -o wide --force --quiet --steps 2 --solver "$1" \
        --set beam.sigma_x_m=5e-3 --set numerics.plates_gap_m=6e-3 --set 'numerics.grid=[16, 16]' \
        --set beam.particles=2000 --set numerics.tolerance=1e-2 --set motion=self-consistent \
        2>stderr || complain "a wide bunch between plates, $1: $(cat stderr)"
    awk -F, 'NR == 1 { for (i = 1; i <= NF; ++i) at[$i] = i }
        END { print $at["F_s_peak_eV_per_m"] }' wide/monitor.csv
}
echo "$(wide projection) $(wide predictive)" |
    awk '{ off = $1 / $2 - 1; exit !(off < 0.05 && off > -0.05) }' ||
    complain "the peak force of a wide bunch between plates differs between solvers"

exit $bad
