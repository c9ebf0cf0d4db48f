#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Form factors have the same bits on one, two and three ranks. A bin of particles goes to any rank.
# usage: ranks.sh TEST_FORM_FACTOR_DEVICES MPIEXEC
set -eu
program=$1
mpiexec=$2
OMPI_ALLOW_RUN_AS_ROOT=1
OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
OMPI_MCA_rmaps_base_oversubscribe=1
OMPI_MCA_mpi_yield_when_idle=1
export OMPI_ALLOW_RUN_AS_ROOT OMPI_ALLOW_RUN_AS_ROOT_CONFIRM
export OMPI_MCA_rmaps_base_oversubscribe OMPI_MCA_mpi_yield_when_idle

want=$("$program" ranks)
[ "${#want}" -eq 16 ] || { echo "one rank alone: '$want'" && exit 1; }
for n in 1 2 3; do
    got=$("$mpiexec" --bind-to none -n $n "$program" ranks | sort -u)
    [ "$got" = "$want" ] || { echo "$n ranks: '$got', expected '$want'" && exit 1; }
done
