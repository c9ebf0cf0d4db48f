#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# A run that is stopped at random, by kill -9 and by SIGTERM, and goes on with --restart ends with
# the files of one that was not stopped, bit by bit: a chirped bunch that a chicane compresses to a
# third of its length, on one rank and on two.
# usage: restart_random.sh ARCWAKE [COUNT [MPIEXEC]]   COUNT times each (1); MPIEXEC: two ranks, too
set -u
arcwake=$1
count=${2:-1}
mpiexec=${3:-}
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
cd "$place" || exit 1
AW_PYTHON=/bin/false # no report
ARCWAKE_TUNING=none
OMP_WAIT_POLICY=passive
OMPI_ALLOW_RUN_AS_ROOT=1
OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
OMPI_MCA_rmaps_base_oversubscribe=1
OMPI_MCA_mpi_yield_when_idle=1
export AW_PYTHON ARCWAKE_TUNING OMP_WAIT_POLICY OMPI_ALLOW_RUN_AS_ROOT
export OMPI_ALLOW_RUN_AS_ROOT_CONFIRM OMPI_MCA_rmaps_base_oversubscribe OMPI_MCA_mpi_yield_when_idle
bad=0

complain() {
    echo "$*"
    bad=1
}

cat >run.yaml <<'END'
lattice:
  PALS:
    facility:
      - line:
          kind: BeamLine
          line:
            - s: {kind: BeginningEle, ReferenceP: {species_ref: electron, E_tot_ref: 2.5e8}}
            - b1: {kind: Bend, length: 0.2, BendP: {g_ref: 0.75, e2: 0.15}}
            - d1: {kind: Drift, length: 0.3}
            - b2: {kind: Bend, length: 0.2, BendP: {g_ref: -0.75, e1: -0.15}}
            - d2: {kind: Drift, length: 0.1}
            - b3: {kind: Bend, length: 0.2, BendP: {g_ref: -0.75, e2: -0.15}}
            - d3: {kind: Drift, length: 0.3}
            - b4: {kind: Bend, length: 0.2, BendP: {g_ref: 0.75, e1: 0.15}}
            - d4: {kind: Drift, length: 0.1}
      - machine: {kind: Lattice, branches: [line]}
beam:
  charge_C: 1.0e-10
  energy_eV: 2.5e8
  particles: 1000
  sigma_s_m: 200.0e-6
  emittance_x_m: 2.0e-9
  beta_x_m: 5.0
  alpha_x: 1.0
  energy_spread: 1.0e-5
  chirp_per_m: -36.0
numerics: {grid: [12, 12], step_m: 0.04, tolerance: 1.0e-2}
output: {every: 10, particles_at_m: [0.8], checkpoint_every: 4}
END
steps=41

# A rank notes its process, so that it can be stopped.
cat >rank.sh <<'END'
#!/bin/sh
echo $$ >"pid.${OMPI_COMM_WORLD_RANK:-${PMI_RANK:-0}}"
exec "$@"
END
chmod +x rank.sh

# run ARGUMENTS...: into out, on $ranks ranks; instead of the shell that calls it.
run() {
    set -- ./rank.sh "$arcwake" run run.yaml -o out "$@"
    [ $ranks -eq 1 ] || set -- "$mpiexec" --bind-to none -n $ranks "$@"
    exec "$@"
}

# random SEED LIMIT: a whole number from 0 to LIMIT - 1, the same for the same seed.
random() {
    awk -v seed="$1" -v limit="$2" 'BEGIN { srand(seed); rand(); print int(limit * rand()) }'
}

# Steps that are in monitor.csv.
rows() {
    if [ -e out/monitor.csv ]; then grep -c '^[0-9]' out/monitor.csv; else echo 0; fi
}

# mask FILE: without the date at which it was written.
mask() {
    LC_ALL=C sed 's/20[0-9][0-9]-[0-9][0-9]-[0-9][0-9] [0-9:]\{8\} [+-][0-9]\{4\}/DATE/g' "$1"
}

# monitor DIR: the columns without times.
monitor() {
    awk -F, 'NR == 1 { for (i = 1; i <= NF; ++i) skip[i] = $i ~ /^seconds/ }
             { row = ""; for (i = 1; i <= NF; ++i) if (!skip[i]) row = row "," $i; print row }' \
        "$1/monitor.csv"
}

# same WHAT: the run in out has come to the end of that in whole. The last checkpoint has all
# particles, the history and what the solver has learned.
same() {
    (cd whole && find diag -type f | sort && find checkpoints -name '*39.ckpt') >files.whole
    (cd out && find diag -type f | sort && find checkpoints -name '*39.ckpt') | cmp - files.whole ||
        complain "$1: other files"
    while read -r name; do
        mask "whole/$name" >one
        mask "out/$name" | cmp - one || complain "$1: $name differs"
    done <files.whole
    monitor whole >one
    monitor out | cmp - one || complain "$1: monitor.csv differs"
}

# stop SIGNAL SEED: start a run and send the signal at a random step. The status is in $got.
stop() {
    signal=$1
    at=$(random "$2" $((steps - 8)))
    later=$(random $(($2 + 1000)) 100)
    rm -rf out pid.*
    (run --threads 1) >stdout 2>stderr &
    job=$!
    tries=0
    while [ "$(rows)" -le "$at" ] && [ $tries -lt 6000 ]; do
        sleep 0.01
        tries=$((tries + 1))
    done
    sleep "$(printf '0.%03d' "$later")" # into the step, and into the writing of a checkpoint
    if [ "$signal" = KILL ]; then # one rank is lost, and mpirun ends the other
        kill -KILL "$(cat pid.$(($2 % ranks)))" 2>/dev/null
    else
        # shellcheck disable=SC2046
        kill -TERM $(cat pid.*) 2>/dev/null
    fi
    wait $job
    got=$?
}

# trial SIGNAL SEED. A run that has come to its end before the signal is one without a stop.
trial() {
    what="$ranks ranks, $1, seed $2"
    stop "$1" "$2"
    stopped=$(rows)
    [ "$1" = KILL ] || [ $got -eq 75 ] || [ $got -eq 0 ] ||
        complain "$what: status $got: $(cat stderr)"
    [ $got -ne 0 ] || ended=$((ended + 1))
    again=--restart
    ls out/checkpoints/arcwake_*.ckpt >/dev/null 2>&1 || again=--force # killed before the first
    if [ $got -ne 0 ]; then
        (run --threads 1 $again) >stdout 2>stderr || complain "$what: $again: $(cat stderr)"
        [ $again = --force ] || grep -q 'restart: goes on with step' stdout || complain "$what"
    fi
    same "$what, stopped after $stopped steps"
}

for ranks in 1 2; do
    [ $ranks -eq 1 ] || [ -n "$mpiexec" ] || continue
    rm -rf out whole pid.*
    (run --threads 1) >stdout 2>stderr || complain "the whole run: $(cat stderr)"
    [ "$(rows)" -eq $steps ] || complain "the whole run has $(rows) steps, not $steps"
    [ -e out/checkpoints/arcwake_00000039.ckpt ] || complain "no checkpoint of step 39"
    mv out whole
    ended=0
    seed=0
    while [ $seed -lt "$count" ]; do
        trial KILL $seed
        trial TERM $((seed + count))
        seed=$((seed + 1))
    done
    echo "$ranks ranks: $((2 * count)) runs, $ended of which ended before the signal"
    [ "$ended" -le "$count" ] || complain "too few were stopped"
done
exit $bad
