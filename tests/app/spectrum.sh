#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# `arcwake spectrum`: its files, the same numbers for the same directions however they are asked
# for, and one clear line for what it cannot do.
# usage: spectrum.sh ARCWAKE
set -u
arcwake=$1
inputs=$(cd "$(dirname "$0")/../../inputs" && pwd)
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
cd "$place" || exit 1
OMP_WAIT_POLICY=passive
export OMP_WAIT_POLICY
bad=0

complain() {
    echo "$*"
    bad=1
}

# radiate DIR ARGUMENTS...: a small rigid bunch through the LCLS bend.
radiate() {
    directory=$1
    shift
    "$arcwake" spectrum "$inputs/lcls_bend.yaml" -o "$directory" --set 'numerics.grid=[24, 24]' \
        --set beam.particles=4000 --set numerics.step_m=0.2 --quiet "$@" >stdout 2>stderr
}

says() {
    grep -q -F -e "$1" stderr || complain "'$1' was not said: $(cat stderr)"
}

# refused MESSAGE ARGUMENTS...: status 2, one line, and no file.
refused() {
    message=$1
    shift
    radiate refused "$@"
    got=$?
    [ $got -eq 2 ] || complain "$*: status $got, not 2"
    [ "$(wc -l <stderr)" -eq 1 ] || complain "$*: more than one line: $(cat stderr)"
    says "$message"
    [ -e refused ] && complain "$*: files were written"
}

# the band in the table's own terms: its rows are linear between frequencies, 0.4 to 0.8 THz
radiate out --theta=-120,-80,4 --psi 20,3 --frequencies 0.4,0.8,9 --band 0.4,0.8 ||
    complain "a spectrum: $(cat stderr)"
[ "$(head -n 1 out/spectrum.csv)" = \
    frequency_Hz,wavelength_m,coherent_J_s,incoherent_J_s,noise_J_s,resolved ] ||
    complain "the table begins with $(head -n 1 out/spectrum.csv)"
[ "$(grep -c ',1$' out/spectrum.csv)" -eq 9 ] || complain "rows: $(cat out/spectrum.csv)"
sum=$(awk -F, 'NR > 2 { sum += 3.14159265358979 * ($1 - f) * ($3 + w) }
               { f = $1; w = $3 } END { print sum }' out/spectrum.csv)
band=$(sed -n 's/.*"band_energy_J": \([^,]*\).*/\1/p' out/spectrum.json)
awk -v a="$sum" -v b="$band" 'BEGIN { exit !(a > 0 && (a - b) ^ 2 < 1e-8 * b ^ 2) }' ||
    complain "the band has $band J, the table $sum J"
[ -s out/spectrum.h5 ] || complain 'there is no spectrum.h5'

# beyond the grid: rows without numbers, and a line that says from where on
radiate beyond --theta=-120,-80,4 --psi 20,3 --frequencies 1,40,5 || complain "$(cat stderr)"
says 'the grid resolves up to'
[ "$(grep -c ',,,[^,]*,0$' beyond/spectrum.csv)" -ge 1 ] ||
    complain "rows beyond the grid: $(cat beyond/spectrum.csv)"
[ "$(grep -c ',0,' beyond/spectrum.csv)" -eq 0 ] || complain 'a silent zero'

# the same from the mesh files of a run; asked for at its end, too, with no directions given
few='--theta=-120,-80,4 --psi 20,3 --frequencies 0.4,0.8,9 --band 0.4,0.8'
run() {
    directory=$1
    shift
    "$arcwake" run "$inputs/lcls_bend.yaml" -o "$directory" --set 'numerics.grid=[24, 24]' \
        --set beam.particles=4000 --set numerics.step_m=0.2 --set numerics.tolerance=1e-2 \
        --set output.every=1 --quiet "$@" >stdout 2>stderr || complain "run: $(cat stderr)"
}
run been
# shellcheck disable=SC2086
"$arcwake" spectrum been $few --quiet >stdout 2>stderr || complain "of a run: $(cat stderr)"
cmp been/spectrum.csv out/spectrum.csv || complain 'a run and its mesh files radiate differently'
grep -q balance_open been/spectrum.json || complain 'a rigid bunch has a balance'
run asked --set output.spectrum=all --set numerics.step_m=0.5
[ "$(grep -c ',1$' asked/spectrum.csv)" -gt 100 ] || complain 'a run that asks has no spectrum'

# a run that is not at its end says so
mkdir -p half/diag
cp been/resolved.yaml been/monitor.csv half
cp been/diag/arcwake_000000[01]?.h5 half/diag
# shellcheck disable=SC2086
"$arcwake" spectrum half $few >stdout 2>stderr || complain "of half a run: $(cat stderr)"
says 'is not in the table'
[ "$(grep -c 'is not in the table' stderr)" -eq 1 ] || complain "said twice: $(cat stderr)"
# shellcheck disable=SC2086
"$arcwake" spectrum been $few >stdout 2>stderr
grep -q 'is not in the table' stderr && complain "of a whole run: $(cat stderr)"

# missing MESSAGE: a run without the slices it needs
missing() {
    # shellcheck disable=SC2086
    "$arcwake" spectrum been $few -o missing --quiet >stdout 2>stderr
    got=$?
    [ $got -eq 2 ] || complain "$1: status $got, not 2"
    [ "$(wc -l <stderr)" -eq 1 ] || complain "$1: more than one line: $(cat stderr)"
    says "$1"
    [ -e missing ] && complain "$1: files were written"
}
printf 'damaged' >been/diag/arcwake_00000007.h5
missing 'cannot be opened as HDF5'
rm been/diag/arcwake_00000007.h5
mkdir aside
mv been/diag/arcwake_0000001* been/diag/arcwake_0000002* been/diag/arcwake_0000000[2-9]* aside
missing 'mesh files within the bend'
mv been/diag/arcwake_00000000.h5 aside
missing 'behind the beginning of a bend'
mv been/diag/* aside
missing 'no mesh files'
mv aside/* been/diag
sed -i 's/^12,/12000,/' been/monitor.csv
missing 'no row of step 12'
mv been/resolved.yaml aside
missing 'resolved.yaml'

refused 'expected FROM,TO,N in THz' --frequencies 2,1,5
refused 'expected FROM,TO in THz' --band 1
refused 'expected a band in it' --frequencies 1,2,5 --band 1.5,3
refused 'belong together' --theta 0,1,2
refused 'expected MAX,N in mrad' --theta 0,1,2 --psi 2000,4
refused 'there is no far field there' --aperture 0.01,5
refused 'is within the bunch' --aperture 0.0001,50
refused 'expected RADIUS,DISTANCE' --aperture 0.01
refused 'has directions of its own' --aperture 0.01,50 --theta 0,1,2 --psi 2,2
refused 'expected drift' --set numerics.upstream=steady
"$arcwake" spectrum "$inputs/drift.yaml" --quiet >stdout 2>stderr
[ $? -eq 2 ] || complain 'a straight line is not refused'
says 'a straight line does not radiate'
"$arcwake" run "$inputs/drift.yaml" -o never --set output.spectrum=all --quiet >stdout 2>stderr
[ $? -eq 2 ] || complain 'a run on a straight line with a spectrum is not refused'
[ -e never ] && complain 'a run on a straight line left files'
"$arcwake" spectrum out --set beam.charge_C=1e-9 --quiet >stdout 2>stderr
[ $? -eq 2 ] || complain 'a key is set for a run that has been'
says 'cannot be set for a run that has been'
exit $bad
