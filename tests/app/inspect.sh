#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# `arcwake inspect`: its table of optics beside a run in external motion, its length for any
# lattice, its warnings and refusals.  usage: inspect.sh ARCWAKE
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

# inspect STATUS ARGUMENTS...: stdout, stderr and table (the rows of the optics) as files; without
# the time, which takes seconds.
inspect() {
    want=$1
    shift
    "$arcwake" inspect --no-timing "$@" >stdout 2>stderr
    got=$?
    [ "$got" -eq "$want" ] || complain "inspect $*: exit $got, expected $want: $(cat stderr)"
    sed -n '/^optics/,$p' stdout >table
    # without the resolved input, which holds the lattice
    lines=$(sed -n '/^lattice      /,$p' stdout | wc -l)
    [ "$lines" -le 40 ] || complain "inspect $*: $lines lines"
}

# warns NUMBER TEXT: as many lines on stderr hold the text.
warns() {
    [ "$(grep -c -F -e "$2" stderr)" -eq "$1" ] ||
        complain "expected '$2' $1 times on stderr, got: $(cat stderr)"
}

# The Berlin-Zeuthen chicane: 200 um to 20 um through R56 = -25 mm. In b3 the tilted bunch is
# shorter still, for which equal steps of 2 cm are a little too long.
inspect 0 "$inputs/zeuthen_chicane.yaml" --set numerics.step_m=0.02
awk '$2 == "d4" && $3 < -24.75 && $3 > -25.25 && $9 > 19 && $9 < 21 { found = 1 }
     END { exit !found }' table || complain "no row of d4 with R56 = -25 mm: $(cat table)"
grep -q '1 - h R56 = 0.1' table || complain "the compression is missing: $(cat table)"
if grep -q '^\*' table; then complain "not fully compressed, but: $(cat table)"; fi
warns 1 'of the bunch in b3'
warns 0 'of the bunch in b4'
cp table expected
if grep -q '^plates' stdout; then complain "plates that nobody asked for: $(cat stdout)"; fi
inspect 0 "$inputs/zeuthen_chicane.yaml" --set numerics.plates_gap_m=0.0125
grep -q '^plates  *12.5 mm apart' stdout || complain "the plates are missing: $(cat stdout)"
cp expected table
if awk '{ if (length($0) > 110) exit 1 }' table; then :; else complain "too wide: $(cat table)"; fi

# The sizes at the ends of bends within 1 % of a run without self-force (quiet, 4000 particles:
# 0.2 %; the table has four digits). sigma_s stays as it is behind a bend, so that of the next step
# counts; sigma_x is interpolated.
"$arcwake" run "$inputs/zeuthen_chicane.yaml" -o external --set motion=external --quiet \
    --set beam.particles=4000 --set 'numerics.grid=[16, 16]' --set 'output.at_m=[]' \
    --set numerics.step_m=0.05 --set output.particles_every=0 2>stderr ||
    complain "the run in external motion failed: $(cat stderr)"
awk -v name="s_ref_m,sigma_s_m,sigma_x_m" '
    function off(a, b) { return a > b ? a / b - 1 : b / a - 1 }
    NR == FNR { if ($2 ~ /^b[1-4]$/) { S[++n] = $1; s[n] = $9; x[n] = $10 } next }
    FNR == 1 || !columns {
        if ($0 !~ /s_ref_m/) next
        split($0, field, ",")
        for (i in field) column[field[i]] = i
        columns = 1
        next
    }
    {
        split($0, cell, ",")
        now = cell[column["s_ref_m"]]; now_s = 1e6 * cell[column["sigma_s_m"]]
        now_x = 1e6 * cell[column["sigma_x_m"]]
        for (i = 1; i <= n; ++i)
            if (before < S[i] && now >= S[i]) {
                t = (S[i] - before) / (now - before)
                got_s = now_s; got_x = before_x + t * (now_x - before_x)
                if (off(got_s, s[i]) < 0.01 && off(got_x, x[i]) < 0.01) ++good
                else print "S = " S[i] ": run " got_s ", " got_x " um, inspect " s[i] ", " x[i]
            }
        before = now; before_x = now_x
    }
    END { exit !(n == 4 && good == 4) }' expected external/monitor.csv ||
    complain "sizes at the ends of bends: $(cat expected)"
warns 1 'of the bunch in b3' # the run says it, once
warns 0 'has become'

# Full compression is said, with its place; the shortest bunch is within b3.
inspect 0 "$inputs/zeuthen_chicane.yaml" --set beam.chirp_per_m=-40 \
    --set numerics.step_m=0.02
grep -q '^\* full compression, from S = 7.506 m on' table || complain "not said: $(cat table)"
warns 1 'in b3, where sigma_s is'
# The run meets it, and the grid is fitted to what T566 does to the bunch: said once.
"$arcwake" run "$inputs/zeuthen_chicane.yaml" -o short --set motion=external --quiet \
    --set beam.chirp_per_m=-40 --set beam.particles=4000 --set 'numerics.grid=[32, 32]' \
    --set 'output.at_m=[]' --set numerics.step_m=0.05 --set output.particles_every=0 \
    --set numerics.tolerance=1e-3 --steps 155 2>stderr || complain "the run: $(cat stderr)"
warns 1 'grid cells per sigma_s, which has become'
warns 1 'overtaking length'
# Only the first centimetres, before any compression: the step is short enough.
inspect 0 "$inputs/zeuthen_chicane.yaml" --set numerics.step_m=0.02 --steps 20
warns 0 'overtaking length'

# No bend; a step that is short enough.
inspect 0 "$inputs/drift.yaml"
warns 0 'warning'
if grep -q 'L_o: ' table; then complain "overtaking length without a bend: $(cat table)"; fi
inspect 0 "$inputs/lcls_bend.yaml"
warns 0 'warning'
inspect 0 "$inputs/lcls_bend_tracking.yaml"
warns 0 'overtaking'

# Every input is accepted. The compressors without a warning, and with the R56 [mm] of their
# sources, which the heads of their lattices name, within half of the last digit given there; with
# the T566 [mm] of MAD-X for the one with sextupoles, within half of the last digit printed.
cat >sources <<END
fast_bc1 -179 1
facet2_bc20 7 0.05 191.93 0.05
lcls_bc1 -45.5 0.05
lcls2_bc2 -45 0.05
xfel_bc2 -30.7 0.05
zeuthen_chicane_500mev -25 0.05
zeuthen_everything -25 0.05
END
checked=0
for file in "$inputs"/*.yaml; do
    name=$(basename "$file" .yaml)
    case $name in *.pals | drift | lcls_bend* | zeuthen_chicane) continue ;; esac # above
    inspect 0 "$file"
    warns 0 'warning'
    awk -v name="$name" '
        NR == FNR { if ($1 == name) { R56 = $2; within = $3; T566 = $4; near = $5 } next }
        $1 ~ /^[0-9.]+$/ { got = $3; second = $4 }
        END { exit !(within > 0 && (got - R56) ^ 2 <= within ^ 2 &&
                     (near == "" || (second - T566) ^ 2 <= near ^ 2)) }' sources table ||
        complain "$name: R56 or T566 is not that of its source: $(cat table)"
    checked=$((checked + 1))
done
[ "$checked" -eq 7 ] || complain "$checked inputs with a known R56, expected 7"

# A thousand elements: bends, and no more of them than fit. Quadrupoles alone: start and end.
cells() {
    sed "s/^lattice: .*/lattice: cells.yaml/" "$inputs/lcls_bend_tracking.yaml" >cells-run.yaml
    cat >cells.yaml <<END
PALS:
  version: null
  facility:
    - q: {kind: Quadrupole, length: 0.1, MagneticMultipoleP: {Kn1: 1.0}}
    - p: {kind: Quadrupole, length: 0.1, MagneticMultipoleP: {Kn1: -1.0}}
    - b: {kind: Bend, length: 0.1, BendP: {angle_ref: -0.002}}
    - c: {kind: Bend, length: 0.1, BendP: {angle_ref: 0.002}}
    - d: {kind: Drift, length: 0.3}
    - cell: {kind: BeamLine, line: [$1]}
    - line:
        kind: BeamLine
        line:
          - start: {kind: BeginningEle, ReferenceP: {species_ref: electron, E_tot_ref: 5.1099895e9}}
          - cell: {repeat: 125}
    - ring: {kind: Lattice, branches: [line]}
    - use: ring
END
}
cells q,d,b,d,p,d,c,d
inspect 0 cells-run.yaml
[ "$(grep -c ' [bc]  ' table)" -ge 20 ] || complain "the bends of many elements: $(cat table)"
grep -q '... (2[0-9]* more bends)' table || complain "nothing is said to be left out: $(cat table)"
if grep -q ' q  ' table; then complain "quadrupoles among a thousand elements: $(cat table)"; fi
cells q,d,d,d,p,d,d,d
inspect 0 cells-run.yaml
[ "$(wc -l <table)" -eq 5 ] || complain "quadrupoles alone: $(cat table)"

# The time, from solves of the case itself: as many solves as the run makes, the steps of each
# element, and the sum of the seconds. Both have the same load, but the run may meet another one: a
# factor of 5 would still tell seconds from milliseconds, and one step from all.
small="--set numerics.grid=[32,32] --set beam.particles=20000 --set numerics.tolerance=1e-3
    --set output.every=0 --steps 60"
# shellcheck disable=SC2086
OMP_WAIT_POLICY=passive "$arcwake" inspect "$inputs/lcls_bend_tracking.yaml" $small >stdout 2>&1 ||
    complain "inspect with its time: $(cat stdout)"
# shellcheck disable=SC2086
OMP_WAIT_POLICY=passive "$arcwake" run "$inputs/lcls_bend_tracking.yaml" $small -o timed --quiet \
    2>stderr || complain "the run: $(cat stderr)"
awk -F, 'FNR == NR { if ($0 ~ /^time  /) { split($0, word, " "); told = word[3]; solves = word[5] }
        if ($1 ~ /^  bend  /) { split($1, word, " "); steps = word[2] }; next }
    /^step,/ { for (i = 1; i <= NF; ++i) if ($i ~ /^seconds_/) part[i] = 1; next }
    /^[0-9]/ { for (i in part) took += $i }
    END { if (solves != 61 || steps != 61 || told < took / 5 || told > 5 * took) {
              print "told " told " s, " solves " solves, " steps " steps; took " took
              exit 1 } }' \
    stdout timed/monitor.csv || complain "$(grep -A2 '^time' stdout)"
# Rigid motion solves where it writes meshes: at S = 0.2, 0.5 and the last of 101 steps, and none of
# this where it is not asked for.
"$arcwake" inspect "$inputs/lcls_bend.yaml" --set 'numerics.grid=[16, 16]' --set output.every=0 \
    --set numerics.tolerance=1e-2 --set beam.particles=2000 --set 'output.at_m=[0.2, 0.5]' \
    --steps 100 >stdout 2>stderr || complain "$(cat stderr)"
grep -q '^time  *about .* 3 solves' stdout || complain "$(grep -A2 '^time' stdout)"
inspect 0 "$inputs/drift.yaml"
if grep '^time' stdout; then complain 'a time with --no-timing'; fi
"$arcwake" run "$inputs/drift.yaml" --no-timing -o none 2>stderr
[ $? -eq 2 ] || complain 'run takes --no-timing'

# A device that no machine has is refused, as by `run`; one of another machine is not.
inspect 4 "$inputs/drift.yaml" --device nonsense
warns 1 "'nonsense' is not known"
inspect 4 "$inputs/drift.yaml" --device cpu,cpu
inspect 0 "$inputs/drift.yaml" --device cuda:3

exit $bad
