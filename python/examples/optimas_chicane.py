# SPDX-License-Identifier: GPL-3.0-or-later
"""A scan of beta and alpha at the start of a chicane, or a search, on many nodes: optimas.

    pip install optimas                                     (with libEnsemble)
    python optimas_chicane.py inputs/fast_bc1.yaml --workers 2           on one machine
    sbatch optimas_chicane.slurm                                         on a cluster

Each worker runs one evaluation at a time with the cores that it has. An evaluation that fails is
printed with its line and counted; the scan goes on.
"""
import argparse
import os
import sys

import numpy as np

from arcwake import ArcwakeError, evaluate

COARSE = {"numerics.grid": [16, 16], "numerics.tolerance": 0.03, "numerics.step_scale": 3.0,
          "beam.particles": 4000, "output.every": 0, "output.particles_every": 0}
OUTPUTS = ("emittance_x_m", "emittance_x_m_error", "sigma_s_m", "current_peak_A")


class Case:
    """The function that workers call; a class, so that it can be pickled with its case."""

    def __init__(self, path, coarse, threads):
        self.path, self.settings, self.threads = path, COARSE if coarse else {}, threads

    def __call__(self, inputs, outputs):
        settings = {**self.settings, "beam.beta_x_m": float(inputs["beta"]),
                    "beam.alpha_x": float(inputs["alpha"])}
        try:
            found = evaluate(settings, self.path, threads=self.threads)
        except ArcwakeError as problem:
            print(f"beta {inputs['beta']:g}, alpha {inputs['alpha']:g}: {problem}", file=sys.stderr)
            found = dict.fromkeys(OUTPUTS, np.nan)
        for name in OUTPUTS:
            outputs[name] = found[name]


def main():
    from gest_api.vocs import VOCS
    from optimas.evaluators import FunctionEvaluator
    from optimas.explorations import Exploration
    from optimas.generators import RandomSamplingGenerator
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("case", help="run file, inputs/fast_bc1.yaml")
    parser.add_argument("--evaluations", type=int, default=100)
    parser.add_argument("--workers", type=int, default=2, help="on one machine")
    parser.add_argument("--mpi", action="store_true", help="workers are the ranks of MPI but one")
    parser.add_argument("--threads", type=int, help="of an evaluation; the worker's cores")
    parser.add_argument("--coarse", action="store_true", help="a coarse grid, for a first look")
    parser.add_argument("--directory", default="exploration", help="goes on where it is there")
    arguments = parser.parse_args()
    share = 1 if arguments.mpi else arguments.workers
    threads = arguments.threads or max(1, len(os.sched_getaffinity(0)) // share)
    vocs = VOCS(variables={"beta": [2.0, 20.0], "alpha": [-1.0, 6.0]},
                objectives={OUTPUTS[0]: "MINIMIZE"}, observables=list(OUTPUTS[1:]))
    exploration = Exploration(
        generator=RandomSamplingGenerator(vocs=vocs, seed=1),  # or one of optimas.generators' Ax
        evaluator=FunctionEvaluator(Case(os.path.abspath(arguments.case), arguments.coarse,
                                         threads)),
        max_evals=arguments.evaluations, sim_workers=arguments.workers, run_async=True,
        exploration_dir_path=arguments.directory, resume=os.path.isdir(arguments.directory),
        libe_comms="mpi" if arguments.mpi else "local")
    exploration.run()
    if not exploration.is_manager:
        return
    done = exploration.history[exploration.history["sim_ended"]]
    good = done[np.isfinite(done[OUTPUTS[0]])]
    print(f"{len(done)} evaluations, {len(done) - len(good)} lost")
    best = good.loc[good[OUTPUTS[0]].idxmin()]
    print(f"best: beta {best['beta']:.3f} m, alpha {best['alpha']:.3f}, emittance "
          f"{best[OUTPUTS[0]]:.4e} m, {best[OUTPUTS[1]]:.1e} beside a coarser run")


if __name__ == "__main__":
    main()
