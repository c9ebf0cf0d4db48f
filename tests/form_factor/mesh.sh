#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# `arcwake form-factor --from meshes`: the mesh of a run against the particles of the same step and
# against the closed form of a Gaussian, waves that the grid does not resolve, heights, refusals.
# usage: mesh.sh ARCWAKE
set -eu
arcwake=$1
inputs=$(cd "$(dirname "$0")/../../inputs" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
fail() {
    echo "$*" >&2
    exit 1
}

# run DIR INPUT KEY=VALUE...: the bunch in the external fields, with particles at the end.
run() {
    directory=$1
    input=$inputs/$2
    shift 2
    set -- motion=external 'numerics.grid=[32, 32]' output.every=0 "$@"
    for pair; do
        set -- "$@" --set "$pair"
        shift
    done
    "$arcwake" run "$input" -o "$directory" --quiet "$@" 2>log || fail "$directory: $(cat log)"
}

form() { "$arcwake" form-factor --device cpu "$@"; }

# differ MOST ONE TWO: the same k in both tables, and F within MOST
# wherever the first has one.
differ() {
    grep -v '^[#k]' "$2" >one
    grep -v '^[#k]' "$3" >two
    paste -d, one two | awk -F, -v most="$1" '
        $4 == "" { next }
        {
            n++
            if (!(($4 - $11) ^ 2 + ($5 - $12) ^ 2 < most ^ 2)) exit 1
            # ends of the default range, from the sizes of the bunch
            if (!(($1 - $8) ^ 2 <= 1e-10 * $8 ^ 2 && $2 == $9 && $3 == $10)) exit 1
        }
        END { exit !(n > 10) }'
}

# A chicane, in whose third magnet the bunch lies across the motion: the grid is turned by 87
# degrees. 4000 particles drawn by chance have |F| about 1/sqrt(4000) = 0.016 where a smooth bunch
# has none, and so do the images of a wave that a grid cannot tell from it. At four cells per wave
# particles on the grid hold (1/3)^3 of an image against the wave; there are four, with a |F| up to
# three times its mean: 0.2 / sqrt(4000) = 0.003.
run chicane zeuthen_chicane.yaml forces=line beam.sampling=random beam.particles=4000 \
    'output.at_m=[]' 'output.particles_at_m=[6.5]' numerics.step_m=0.5
for step in 13 30; do
    file=chicane/diag/arcwake_000000$step.h5
    for k in '--k 0:2e5:60' '--k -4e4:4e4:9 --k-x -2e3:2e3:9' ''; do
        # shellcheck disable=SC2086
        form $file $k -o particles.csv 2>/dev/null
        # shellcheck disable=SC2086
        form $file $k --from meshes -o mesh.csv 2>/dev/null
        differ 0.003 mesh.csv particles.csv || fail "step $step, k $k: $(paste one two)"
    done
done
grep -q '^# mesh rho of step 30$' mesh.csv || fail "head: $(cat mesh.csv)"
grep -q '^# particles 4000$' mesh.csv || fail "head: $(cat mesh.csv)"
# the directory stands for its last file; one number in 1e8 by the other algorithm
form chicane --from meshes -o last.csv 2>/dev/null
grep -v '^# arc' last.csv >one
grep -v '^# arc' mesh.csv | cmp - one || fail 'the last file of a directory'

# A Gaussian of 50 um by 50 um, cut at five sigma, by a quiet start: F = exp(-k^2 sigma^2/2). The
# cut takes 4e-6 off, a sequence of 20000 points is off by some 1/20000 for each of two axes.
run drift drift.yaml beam.particles=20000 beam.sigma_y_m=20e-6 numerics.step_m=0.5
form drift --from meshes --k 0:8e4:41 --k-x -2e4:2e4:3 -o gauss.csv 2>log
grep -v '^[#k]' gauss.csv | awk -F, '
    $4 != "" {
        n++
        want = exp(-0.5 * ($1 ^ 2 + $2 ^ 2) * 50e-6 ^ 2)
        if (!(($4 - want) ^ 2 + $5 ^ 2 < 5e-4 ^ 2)) exit 1
    }
    END { exit !(n > 60) }' || fail "Gaussian: $(cat gauss.csv)"

# Four cells of the grid: rows beyond are empty, and a warning counts them.
beyond=$(grep -c ',,,,$' gauss.csv || true)
form drift --from meshes --k 0:4e6:5 -o beyond.csv 2>log
[ "$(grep -c ',,,,$' beyond.csv)" -eq 4 ] || fail "waves beyond the grid: $(cat beyond.csv)"
grep -q '4 waves are shorter than four cells' log || fail "no warning: $(cat log)"
[ "$beyond" -eq 0 ] || fail "$beyond waves of the Gaussian are beyond the grid"

# The height: a factor exp(-(k_y 20 um)^2/2), to the nine digits printed.
form drift --from meshes --k 1e4:1e4:1 --k-y 0:5e4:2 2>/dev/null | grep -v '^[#k]' | awk -F, '
    { F[NR] = $4 }
    END { d = F[2] / F[1] - exp(-0.5); exit !(NR == 2 && d < 1e-8 && d > -1e-8) }' || fail height

refuse() {
    text=$1
    shift
    if form "$@" >out 2>&1; then fail "accepted: $*"; fi
    grep -q -e "$text" out || fail "$*: $(cat out)"
    [ "$(wc -l <out)" -eq 1 ] || fail "$*: more than one line: $(cat out)"
}
refuse 'monitor.csv has no sigma_y_m of step 30' chicane --from meshes --k-y 0:1:2
refuse 'of particles' chicane --from meshes --average pairs
refuse 'not particles or meshes' chicane --from grids
mkdir -p empty/diag
refuse 'no output with meshes' empty --from meshes
echo 0 0 0 0 0 1000 >text
refuse 'cannot be opened as HDF5' text --from meshes
"$arcwake" spectrum "$inputs/lcls_bend.yaml" -o radiation --quiet --set 'numerics.grid=[24, 24]' \
    --set beam.particles=2000 --set numerics.step_m=0.5 --theta=-1,1,2 --psi 1,2 \
    --frequencies 1,2,2 2>/dev/null
refuse 'has no mesh rho' radiation/spectrum.h5 --from meshes

# Alone, a file knows neither the height nor the number of particles: no marks.
cp drift/diag/arcwake_00000001.h5 alone.h5
form alone.h5 --from meshes --k 0:1e4:2 -o alone.csv
grep -q '^# noise nan' alone.csv || fail "a file alone: $(cat alone.csv)"
[ "$(grep -c '^[0-9].*,$' alone.csv)" -eq 2 ] || fail "marks of a file alone: $(cat alone.csv)"
refuse 'needs the height' alone.h5 --from meshes --k-y 0:1:2

# Damaged: the last file of a run cut short, and bytes in the middle of rho changed, which have a
# checksum.
head -c 5000 alone.h5 >empty/diag/arcwake_00000000.h5
refuse 'empty/diag/arcwake_00000000.h5: ' empty --from meshes
size=$(wc -c <alone.h5)
broken=0
for part in 1 2 3 4 5 6 7 8 9; do
    cp alone.h5 broken.h5
    printf damage | dd of=broken.h5 bs=1 seek=$((size * part / 10)) conv=notrunc 2>/dev/null
    if form broken.h5 --from meshes --k 0:1e4:2 -o broken.csv 2>log; then
        # the bytes belong to another mesh: nothing has changed
        [ "$(grep -v '^# arc' broken.csv)" = "$(grep -v '^# arc' alone.csv)" ] ||
            fail "damage at $part/10 changed the result"
    else
        broken=$((broken + 1))
        [ "$(wc -l <log)" -eq 1 ] || fail "damage at $part/10: $(cat log)"
    fi
done
[ $broken -gt 0 ] || fail 'no damage was found'
