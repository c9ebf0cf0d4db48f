#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Hold the results of two builds against each other, bit by bit.

    tools/compare_programs.py OLD NEW [--strategy NAME]... [--threads N]...

For a change that must not change results: each program runs three short cases (a rigid bunch in
the LCLS bend, the same bend self-consistently, and the Berlin-Zeuthen chicane with its chirped
bunch) with each strategy and number of threads. Every data set and attribute of every openPMD
file, and every column that OLD has in monitor.csv, has to have the same bits. Not compared are
dates, the version, wall-clock times and the name of the output directory.
Exit status 0: all alike; 1: a difference, which is named.
"""
import argparse
import csv
import pathlib
import subprocess
import sys
import tempfile

import h5py
import numpy as np

ROOT = pathlib.Path(__file__).resolve().parent.parent
STRATEGIES = ["adaptive", "two-phase", "heuristic", "predictive", "heterogeneous", "projection"]
SMALL = ["numerics.grid=[24, 24]", "beam.particles=20000", "output.particles_every=4"]
CASES = {
    "lcls_bend": SMALL + ["numerics.step_m=0.1", "output.at_m=[0.5, 1.0]"],
    "lcls_bend_tracking": SMALL + ["output.every=4"],
    "zeuthen_chicane": SMALL + ["numerics.step_m=0.1", "numerics.tolerance=1e-4",
                                "output.every=8", "output.at_m=[0.5]"],
}
STEPS = {"lcls_bend": 12, "lcls_bend_tracking": 12, "zeuthen_chicane": 24}
IGNORED = {"date", "softwareVersion", "input"}


def run(program, case, strategy, threads, directory):
    """Run one case into a directory of its own."""
    words = [program, "run", ROOT / "inputs" / f"{case}.yaml", "-o", directory, "--quiet",
             "--solver", strategy, "--threads", threads, "--steps", STEPS[case], "--device", "cpu"]
    for setting in CASES[case]:
        words += ["--set", setting]
    environment = {"ARCWAKE_TUNING": "none", "OMP_WAIT_POLICY": "passive",
                   "AW_PYTHON": "/bin/false"}  # no report
    done = subprocess.run([str(word) for word in words], env=environment, text=True,
                          stderr=subprocess.PIPE, check=False)
    if done.returncode:
        sys.exit(f"{program} ended with status {done.returncode}:\n{done.stderr}")


def same(a, b):
    a, b = np.asarray(a), np.asarray(b)
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


def items_of(path):
    """Every data set and attribute of a file, by name."""
    found = {}

    def take(name, item):
        for key, value in item.attrs.items():
            if key not in IGNORED:
                found[f"{name}@{key}"] = value
        if isinstance(item, h5py.Dataset):
            found[name] = item[()]

    with h5py.File(path) as file:
        take("", file)
        file.visititems(take)
    return found


def table_of(path):
    """Columns of monitor.csv but for times."""
    with open(path, newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    return [{k: v for k, v in row.items() if not k.startswith("seconds_")} for row in rows]


def differences(old, new):
    """What differs between two output directories, and how many files were compared."""
    files = [sorted(p.relative_to(d) for p in d.rglob("*.h5")) for d in (old, new)]
    if files[0] != files[1] or not files[0]:
        return [f"other files: {files[0]} and {files[1]}"], 0
    problems = []
    rows = table_of(old / "monitor.csv"), table_of(new / "monitor.csv")
    if rows[0] != [{k: row.get(k) for k in rows[0][0]} for row in rows[1]]:
        problems.append("monitor.csv")
    for name in files[0]:
        a, b = items_of(old / name), items_of(new / name)
        problems += [f"{name}: {key}" for key in sorted(a.keys() | b.keys())
                     if key not in a or key not in b or not same(a[key], b[key])]
    return problems, len(files[0]) + 1


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("old")
    parser.add_argument("new")
    parser.add_argument("--strategy", action="append")
    parser.add_argument("--threads", action="append")
    options = parser.parse_args()
    different = 0
    for case in CASES:
        for strategy in options.strategy or STRATEGIES:
            for threads in options.threads or ["1", "2"]:
                with tempfile.TemporaryDirectory() as scratch:
                    old, new = pathlib.Path(scratch) / "old", pathlib.Path(scratch) / "new"
                    run(options.old, case, strategy, threads, old)
                    run(options.new, case, strategy, threads, new)
                    problems, files = differences(old, new)
                label = f"{case}, {strategy}, {threads} threads"
                print(f"{label}: " + (f"{files} files alike" if not problems else
                                      f"DIFFERENT: {', '.join(problems[:4])}"), flush=True)
                different += bool(problems)
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
