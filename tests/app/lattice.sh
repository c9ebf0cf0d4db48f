#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# The lattice of the tests that run the program, one bend.  usage: . lattice.sh

# write_lattice LENGTH: write line.yaml, with the bend in its eighth line.
write_lattice() {
cat >line.yaml <<END
PALS:
  version: null
  facility:
    - line:
        kind: BeamLine
        line:
          - start: {kind: BeginningEle, ReferenceP: {species_ref: electron, E_tot_ref: 5.1099895e9}}
          - bend: {kind: Bend, length: $1, BendP: {radius_ref: 25.13}}
    - ring: {kind: Lattice, branches: [line]}
    - use: ring
END
}
