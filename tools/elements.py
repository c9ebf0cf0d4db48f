#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Print a run by lattice element: the energy that it lost up to the end of each, and by what.

usage: elements.py DIR [--line LINE] [--steady STEADY]   (output directories of `arcwake run`)

LINE and STEADY are runs of the same input with `forces: line`, the second with
`line.model: steady`.
Energies are means over the bunch, in per cent of its energy at the start, summed up to the end of
each element: dE is what particles lost, F_s and F_eff are integrals over S of the mean force and
of the mean effective force, and field = F_s - F_eff is what the field that goes with the bunch
took (docs/theory.md, "Forces"). Steps, seconds of potentials and steps that fell back are those
within the element. Reads monitor.csv and resolved.yaml. Exit status 0: printed; 4: a directory, a
file or a Python package is missing or broken (one line on stderr).
"""
import argparse
import sys
from pathlib import Path

sys.dont_write_bytecode = True  # nothing beside the program's own files
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "python"))
try:
    import numpy as np

    from arcwake.report import Problem, read
except ImportError as problem:
    print(f"{problem}; python3 -m pip install -r tools/requirements.txt", file=sys.stderr)
    sys.exit(4)

REST_EV = read.lattice.REST_EV
MEAN, FORCE, EFFECTIVE = ("energy_change_mean_eV", "F_s_mean_eV_per_m", "F_s_eff_mean_eV_per_m")


def load(directory):
    """Columns of the monitor, elements of the lattice, and the energy at the start [eV]."""
    monitor = read.read_monitor(directory / "monitor.csv")
    if monitor is None:
        raise Problem(f"{directory}: no monitor.csv with a row in it")
    try:
        text = (directory / "resolved.yaml").read_text(encoding="utf-8")
    except OSError as problem:
        raise Problem(f"{directory / 'resolved.yaml'}: cannot be read: {problem}") from problem
    values, elements, note = read.read_input(text, directory)
    if not elements:
        raise Problem(f"{directory}: no lattice ({note or 'resolved.yaml has none'})")
    gamma, energy = values.get("beam.gamma"), values.get("beam.energy_eV")
    if gamma is None and energy is None:
        raise Problem(f"{directory / 'resolved.yaml'}: no beam.gamma and no beam.energy_eV")
    return monitor, elements, float(energy) if energy is not None else float(gamma) * REST_EV


def summed(monitor, name):
    """Trapezium rule of a column over S, from the first row; NaN without the column."""
    S = monitor["s_ref_m"]
    value = monitor.get(name, np.full_like(S, np.nan))
    return np.concatenate([[0.0], np.cumsum(0.5 * (value[1:] + value[:-1]) * np.diff(S))])


def table(directory, line, steady):
    """The lines of the table."""
    monitor, elements, energy = load(directory)
    S = monitor["s_ref_m"]
    per_cent = 100.0 / energy
    force, effective = summed(monitor, FORCE), summed(monitor, EFFECTIVE)
    columns = [("dE", S, monitor[MEAN])]
    for title, other in (("line", line), ("steady", steady)):
        if other is not None:
            beside, _, _ = load(other)
            columns.append((title, beside["s_ref_m"], beside[MEAN]))
    columns += [("F_s", S, force), ("F_eff", S, effective), ("field", S, force - effective)]
    yield ("     S [m] element     " + "".join(f"{title:>10}" for title, _, _ in columns)
           + "  steps      s  fell back")
    for one in elements:
        end = one.begin + one.length
        if one.begin > S[-1]:
            break  # the run stopped before it
        last = one is elements[-1]
        inside = (S >= one.begin) & ((S <= end) if last else (S < end))
        work = np.nansum(monitor["seconds_potentials"][inside])
        fell = np.nansum(monitor["fell_back"][inside])
        at = min(end, S[-1])
        yield (f"{at:10.4f} {one.name:<12}"
               + "".join(f"{per_cent * np.interp(at, x, y):10.5f}" for _, x, y in columns)
               + f"{np.count_nonzero(inside):7d}{work:7.1f}{fell:11.0f}")


def main(arguments):
    parser = argparse.ArgumentParser(description="Print a run by lattice element.")
    parser.add_argument("directory", metavar="DIR", type=Path, help="output directory of a run")
    parser.add_argument("--line", metavar="LINE", type=Path,
                        help="the same input with forces: line")
    parser.add_argument("--steady", metavar="STEADY", type=Path,
                        help="the same input with forces: line and line.model: steady")
    given = parser.parse_args(arguments)
    try:
        for text in table(given.directory, given.line, given.steady):
            print(text)
    except Problem as problem:
        print(problem, file=sys.stderr)
        return 4
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
