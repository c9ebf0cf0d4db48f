#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Draw the picture of a table that `arcwake validate -o DIR` wrote: DIR/name.csv -> DIR/name.png.

usage: plot.py DIR/name.csv

Tables: lcls_bend.csv (forces in the steady state and closed forms, as in figure 20 of the
dissertation) and mse.csv (noise against the number of particles, as in its figure 21). Exit status
0: made; 4: something is missing or broken (one line on stderr).
"""
import argparse
import csv
import io
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "python"))
try:
    from arcwake.report import Problem
    from arcwake.report.page import replace
    from arcwake.report.pictures import (BLUE, ORANGE, STYLE, largest_of, np, plt,
                                         prefix)
except ImportError as problem:
    print(f"{problem}; python3 -m pip install -r tools/requirements.txt", file=sys.stderr)
    sys.exit(4)


def read_table(path):
    """Columns of a table as arrays."""
    try:
        with open(path, newline="", encoding="utf-8") as file:
            names, *rows = csv.reader(file)
        return dict(zip(names, np.array(rows, dtype=float).T))
    except (OSError, ValueError) as problem:
        raise Problem(f"{path}: cannot be read as a table: {problem}") from problem


def draw_forces(table):
    """Two panels, F_z and F_x_eff on the axis: arcwake as points, closed forms as lines."""
    figure, axes = plt.subplots(1, 2, figsize=(10.4, 4.0))
    s_factor, s_unit = prefix(largest_of(table["s_m"]), "m")
    panels = (("F_z", "Longitudinal", "$F_z$"),
              ("F_x_eff", "Effective transverse", "$F_x^{\\mathrm{eff}}$"))
    for axis, (name, title, symbol) in zip(axes, panels):
        ours, known = table[name], table[f"{name}_analytic"]
        factor, unit = prefix(largest_of(known), "eV/m")
        error = largest_of(ours - known) / largest_of(known)
        axis.plot(table["s_m"] * s_factor, known * factor, color=BLUE, label="closed form")
        axis.plot(table["s_m"] * s_factor, ours * factor, "o", color=ORANGE, markersize=3.6,
                  markerfacecolor="none", label="arcwake")
        axis.axhline(0.0, color="#808080", linewidth=0.8, zorder=1)
        axis.set(title=f"{title} force: within {100.0 * error:.2f} % of its maximum",
                 xlabel=f"$s$, the head to the right [{s_unit}]", ylabel=f"{symbol} [{unit}]")
        axis.legend(loc="best")
        axis.margins(x=0.02)
    return figure


def draw_noise(table):
    """Mean-square error of F_z on the particles against their number."""
    figure, axis = plt.subplots(figsize=(5.6, 4.0))
    number = table["particles"]
    noise, whole = table["mse_noise"] * 1e-6, table["mse_analytic"] * 1e-6
    axis.loglog(number, noise, "o", color=ORANGE, label="against a quiet start")
    axis.loglog(number, whole, "s", color=BLUE, markersize=4, markerfacecolor="none",
                label="against the closed form")
    axis.loglog(number, noise[0] * number[0] / number, color="black", linewidth=1.0,
                linestyle=(0, (5, 3)), label="$1/N$")
    axis.set(xlabel="macro-particles $N$", ylabel="mean-square error of $F_z$ [(keV/m)$^2$]",
             title="Shot noise of the force")
    axis.legend(loc="best")
    return figure


KINDS = {"lcls_bend": draw_forces, "mse": draw_noise}


def main(arguments):
    parser = argparse.ArgumentParser(description="Draw the picture of a table of `validate`.")
    parser.add_argument("table", metavar="TABLE", type=Path,
                        help="DIR/lcls_bend.csv or DIR/mse.csv")
    path = parser.parse_args(arguments).table
    try:
        if path.stem not in KINDS:
            raise Problem(f"{path}: no picture is known for it (expected {' or '.join(KINDS)})")
        buffer = io.BytesIO()
        with plt.rc_context(STYLE):
            try:
                figure = KINDS[path.stem](read_table(path))
            except KeyError as problem:
                raise Problem(f"{path}: no column {problem}") from problem
            figure.savefig(buffer, format="png")
        replace(path.with_suffix(".png"), buffer.getvalue())
    except Problem as problem:
        print(problem, file=sys.stderr)
        return 4
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
