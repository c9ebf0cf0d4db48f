#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# The program on an emulated processor without AVX, of 2006: it computes, and the same forces.
# usage: old_processor.sh ARCWAKE SOURCES SANITIZED
# Exit status 77: there is no emulator (qemu-user), or this is no x86-64.
set -u
arcwake=$1
sources=$2
[ "$(uname -m)" = x86_64 ] || {
    echo "skipped: this machine is no x86-64"
    exit 77
}
command -v qemu-x86_64 >/dev/null || {
    echo "skipped: there is no qemu-x86_64 (Debian: qemu-user)"
    exit 77
}
[ "$3" = 0 ] || {
    echo "skipped: the emulator does not run sanitizers"
    exit 77
}
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT

run() {
    name=$1
    shift
    "$@" "$arcwake" run "$sources/inputs/lcls_bend.yaml" -o "$place/$name" --steps 1 --quiet \
        --threads 1 --set 'numerics.grid=[12,12]' --set beam.particles=1000 \
        --set output.every=0 --set 'output.at_m=[]' --set numerics.tolerance=1e-2 \
        2>"$place/$name.err" || {
        echo "$name: exit $?: $(cat "$place/$name.err")"
        exit 1
    }
}

OMP_NUM_THREADS=1 qemu-x86_64 -cpu core2duo "$arcwake" devices >"$place/devices" || exit 1
grep -q 'SIMD variant baseline (in use)' "$place/devices" || {
    echo "without AVX another variant is in use:"
    cat "$place/devices"
    exit 1
}
OMP_NUM_THREADS=1 run old qemu-x86_64 -cpu core2duo
run new env
# Column 12 is the peak force of the last step. Both runs have the same quadrature to a tolerance of
# 1e-2, of which the variants refine alike but where an error estimate is next to it: 3e-8 seen.
awk -F, 'FNR == 1 { if ($12 != "F_s_peak_eV_per_m") exit 2; next }
         FNR == 3 { force[++n] = $12 }
         END { if (n != 2) exit 2
               d = force[1] / force[2] - 1.0
               print "peak force without AVX over that with: 1 +", d
               if (!(d < 1e-3 && d > -1e-3)) exit 1 }' \
    "$place/old/monitor.csv" "$place/new/monitor.csv"
