#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Memory, stacks and threads: the prediction is near the peak; a limit that is too small is refused
# in one line with status 4, and never ends the program with a signal.
# usage: memory.sh ARCWAKE INPUTS [--full]
# --full: thirty limits of the address space in place of nine
# shellcheck disable=SC3045 # ulimit -v and -s are in every shell that there is on Linux
set -u
# shellcheck source=tests/app/lattice.sh
. "$(dirname "$0")/lattice.sh"
arcwake=$1
inputs=$2
full=${3-}
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
cd "$place" || exit 1
ARCWAKE_TUNING=none
AW_PYTHON=/bin/false
OMP_WAIT_POLICY=passive
export ARCWAKE_TUNING AW_PYTHON OMP_WAIT_POLICY
bad=0

complain() {
    echo "$*"
    bad=1
}

write_lattice 0.3
cat >run.yaml <<'END'
lattice: line.yaml
beam: {charge_C: 1.0e-9, gamma: 1.0e4, particles: 20000, sigma_s_m: 50.0e-6, sigma_x_m: 50.0e-6}
motion: self-consistent
numerics: {grid: [24, 24], step_m: 0.02, tolerance: 1.0e-4}
output: {directory: out, every: 0}
END

# within LEAST ARGUMENTS...: the prediction of a run, which is the limit's measure, is at least so
# many times the peak, and at most 1.15 times. Sanitizers take memory of their own, so only an
# ordinary build is measured.
within() {
    least=$1
    shift
    "$arcwake" run "$@" --force --threads 2 >stdout 2>stderr ||
        complain "run $*: exit $?: $(cat stderr)"
    sed -n 's/^memory: predicted \([0-9]*\) MiB, peak \([0-9]*\) MiB$/\1 \2/p' stdout |
        awk -v least="$least" '
            { found = 1; if (!($1 >= least * $2 && $1 <= 1.15 * $2)) exit 1 }
            END { if (!found) exit 1 }' ||
        complain "run $*: $(grep '^memory: predicted' stdout)"
}

near() {
    within 0.85 run.yaml --steps 3 "$@"
}
if [ "${AW_SANITIZED:-OFF}" != ON ]; then
    near --solver projection --set 'numerics.grid=[32, 32]'
    near --solver two-phase --set 'numerics.grid=[32, 32]'
    near --solver predictive --set 'numerics.grid=[48, 48]'
    near --solver projection --set beam.particles=1000000 --set 'numerics.grid=[48, 48]'

    # A bunch that turns: convolutions on lattices that reach beyond the grid, and spectra of twelve
    # slices. Not below the peak: this part is counted as large as it can be.
    within 1.0 "$inputs/zeuthen_chicane.yaml" --set motion=external --steps 54 --solve-every 18 \
        --set 'numerics.grid=[40, 40]' --set beam.particles=10000 --set numerics.tolerance=3e-3 \
        --set numerics.step_scale=10 --set 'output.at_m=[7.5, 7.8]' \
        --set output.particles_every=0 -o out

    # Limits of the address space [KiB]. 127: the loader has no memory for the libraries.
    limits='40000 80000 120000 160000 200000 250000 300000 400000 1000000'
    [ "$full" != --full ] || limits=$(seq 20000 20000 600000)
    done=0
    for limit in $limits; do
        for threads in 1 8; do
            rm -rf out
            (ulimit -v "$limit" && exec "$arcwake" run run.yaml --steps 2 --threads $threads \
                --set 'numerics.grid=[16, 16]' --set numerics.tolerance=1e-3) >stdout 2>stderr
            code=$?
            errors=$(grep -c '^arcwake: error: ' stderr)
            case $code in
            0) done=$((done + 1)) ;;
            4) [ "$errors" -eq 1 ] || complain "ulimit -v $limit: $errors lines: $(cat stderr)" ;;
            127) grep -q 'loading shared libraries' stderr || complain "127: $(cat stderr)" ;;
            *) complain "ulimit -v $limit, $threads threads: exit $code: $(cat stderr)" ;;
            esac
            grep -q '^HDF5\|libgomp:' stderr && complain "a library speaks: $(cat stderr)"
        done
    done
    [ "$done" -ge 2 ] || complain "not even the largest limit suffices: $(cat stderr)"

    # A small stack of the process is enough; small stacks of threads are refused; so many threads
    # are limited.
    rm -rf out
    (ulimit -s 64 && exec "$arcwake" run run.yaml --steps 1) >stdout 2>stderr ||
        complain "ulimit -s 64: exit $?: $(cat stderr)"
fi
OMP_STACKSIZE=16k "$arcwake" run run.yaml --force --steps 1 >stdout 2>stderr
code=$?
[ $code -eq 4 ] || complain "OMP_STACKSIZE=16k: exit $code: $(cat stderr)"
grep -q 'OMP_STACKSIZE: stacks of 16 KiB are too small' stderr || complain "$(cat stderr)"
OMP_NUM_THREADS=100000 "$arcwake" run run.yaml --force --steps 1 >stdout 2>stderr ||
    complain "OMP_NUM_THREADS=100000: exit $?: $(cat stderr)"
grep -q 'OMP_NUM_THREADS: 100000 threads on' stderr || complain "no warning: $(cat stderr)"

exit $bad
