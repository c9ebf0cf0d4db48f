# SPDX-License-Identifier: GPL-3.0-or-later
"""Smallest emittance behind a chicane under its own radiation, by Xopt.

    pip install xopt
    python xopt_chicane.py inputs/fast_bc1.yaml

Beta and alpha at the start are varied. The search runs a coarse grid, in which forces are off by
some per cent but optima are near where they are; the start and the best are then certified with the
numerics of the run file, so that the gain has an error bar. ^C ends everything at once.
"""
import argparse
import multiprocessing
import os
from concurrent.futures import ProcessPoolExecutor
from functools import partial

from arcwake import evaluate

COARSE = {"numerics.grid": [16, 16], "numerics.tolerance": 0.03, "numerics.step_scale": 3.0,
          "beam.particles": 4000, "output.every": 0, "output.particles_every": 0}
OUTPUT = "emittance_x_m"


def emittance(inputs, case, threads, **options):
    """One evaluation: {"emittance_x_m": ...} for {"beam.beta_x_m": ..., "beam.alpha_x": ...}."""
    settings = {key: float(value) for key, value in inputs.items()}
    found = evaluate({**COARSE, **settings}, case, threads=threads, neighbour=False, **options)
    return {OUTPUT: found[OUTPUT]}


def optimise(arguments):
    """All evaluations as a table, the start first."""
    from xopt import VOCS, Evaluator, Xopt
    from xopt.generators.bayesian import ExpectedImprovementGenerator
    vocs = VOCS(variables={"beam.beta_x_m": list(arguments.beta),
                           "beam.alpha_x": list(arguments.alpha)},
                objectives={OUTPUT: "MINIMIZE"})
    threads = max(1, (os.cpu_count() or 1) // arguments.workers)
    function = partial(emittance, case=arguments.case, threads=threads)
    # spawn: the threads of libraries do not survive fork()
    pool = ProcessPoolExecutor(arguments.workers, multiprocessing.get_context("spawn"))
    with pool:
        search = Xopt(vocs=vocs, generator=ExpectedImprovementGenerator(vocs=vocs),
                      evaluator=Evaluator(function=function, executor=pool,
                                          max_workers=arguments.workers))
        search.evaluate_data([{"beam.beta_x_m": arguments.start[0],
                               "beam.alpha_x": arguments.start[1]}])
        search.random_evaluate(min(9, arguments.evaluations - 1), seed=1)
        while len(search.data) < arguments.evaluations:
            left = arguments.evaluations - len(search.data)
            if left < arguments.workers:
                search.evaluate_data(search.generator.generate(left))
            else:
                search.step()
            print(f"{len(search.data):4d}  {search.data[OUTPUT].min():.4e} m", flush=True)
    return search.data


def certified(row, arguments):
    """Emittance with its 95 % bar by `arcwake certify`, with the run file's own numerics."""
    settings = {key: float(row[key]) for key in ("beam.beta_x_m", "beam.alpha_x")}
    if arguments.coarse:
        settings = {**COARSE, **settings}
    found = evaluate(settings, arguments.case, certify=True)
    return found[OUTPUT], found[OUTPUT + "_error"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("case", help="run file, inputs/fast_bc1.yaml")
    parser.add_argument("--start", nargs=2, type=float, default=(8.0, 2.64))
    parser.add_argument("--beta", nargs=2, type=float, default=(2.0, 20.0), help="range [m]")
    parser.add_argument("--alpha", nargs=2, type=float, default=(-1.0, 6.0), help="range")
    parser.add_argument("--evaluations", type=int, default=100)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--coarse", action="store_true", help="certify the coarse grid instead")
    arguments = parser.parse_args()
    data = optimise(arguments)
    lost = int(data["xopt_error"].sum()) if "xopt_error" in data else 0
    print(f"{len(data)} evaluations, {lost} lost")
    best = data.loc[data[OUTPUT].idxmin()]
    for name, row in (("start", data.iloc[0]), ("best", best)):
        value, bar = certified(row, arguments)
        print(f"{name}: beta {row['beam.beta_x_m']:.3f} m, alpha {row['beam.alpha_x']:.3f}, "
              f"emittance {value:.4e} +- {bar:.1e} m")


if __name__ == "__main__":
    main()
