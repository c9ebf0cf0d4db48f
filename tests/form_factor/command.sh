#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# `arcwake form-factor`: two particles against the closed form, means, marks, and refusals.
# usage: command.sh ARCWAKE
set -eu
arcwake=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
fail() {
    echo "$*" >&2
    exit 1
}

# Two equal charges 2 um apart along z, both at gamma beta = 1000 along z: F = cos(k 1 um).
printf '0 0 -1e-6 0 0 1000\n0 0 1e-6 0 0 1000\n' >two.txt
# A wavelength of 4 um: a phase of a quarter turn, and F = 0, which is at the noise.
"$arcwake" form-factor two.txt --device cpu --k 0:1570796.3267948966:4 -o two.csv 2>warning
grep -v '^[#k]' two.csv | awk -F, '
    function abs(x) { return x < 0 ? -x : x }
    {
        want = cos($1 * 1e-6)
        # nine digits are printed
        if (!(abs($4 - want) < 1e-8 && abs($5) < 1e-8 && abs($6 - want * want) < 1e-8)) exit 1
        if ($7 != (want * want <= 0.5)) exit 1 # the noise of two particles is a half
        n++
    }
    END { exit !(n == 4) }' || fail "two particles: $(cat two.csv)"
grep -q '2 values are at the noise of 2 particles' warning || fail "no warning: $(cat warning)"

# The mean over directions, (1 + sin(k r)/(k r)) / 2, in both ways and precisions.
for how in 'pairs --precision double' 'pairs --precision single' directions; do
    # shellcheck disable=SC2086
    "$arcwake" form-factor two.txt --device cpu --k 1e6:1e6:1 --average $how 2>/dev/null |
        awk -F, '/^[0-9]/ { d = $2 - (1 + sin(2) / 2) / 2; exit !(d < 1e-6 && d > -1e-6) }' ||
        fail "mean over directions by $how"
done

# A plane has the k along s fastest.
"$arcwake" form-factor two.txt --device cpu --k 1:3:3 --k-x 5:6:2 -o plane.csv
[ "$(grep -v '^[#k]' plane.csv | cut -d, -f1,2 | tr '\n' ' ')" = '1,5 2,5 3,5 1,6 2,6 3,6 ' ] ||
    fail "order of a plane: $(cat plane.csv)"

refuse() {
    text=$1
    shift
    if "$arcwake" form-factor "$@" >out 2>&1; then fail "accepted: $*"; fi
    grep -q -e "$text" out || fail "$*: $(cat out)"
}
mkdir empty
refuse 'is not FROM:TO:N' two.txt --k 1:2
refuse 'is not FROM:TO:N' two.txt --k nan:2:3
refuse 'no output with particles' empty
refuse 'give one beam file' two.txt two.txt
refuse 'leave' two.txt --k 1:2:2 --k-x 1:2:2 --average pairs
refuse 'take smaller k' two.txt --k 0:1e12:4 --average directions
