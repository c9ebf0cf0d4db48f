#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Draw what `arcwake bench` and a run's monitor.csv say about the work (docs/benchmarks.md).

usage: bench_plots.py roofline BENCH.json -o FILE.png     (of bench --tables --json; figure 23)
       bench_plots.py stages RUN_DIR... -o FILE.png       (shares of the stages; figure 13)
       bench_plots.py steps RUN_DIR -o FILE.png           (work of each step; figure 14)
       bench_plots.py patterns FILE.json -o FILE.png      (of bench --patterns; figures 15 to 17)

Figures are those of the dissertation whose question the picture answers. What is drawn is printed
as text first. Exit status 0: made; 4: something is missing or broken, said in one line on stderr.
"""
import argparse
import io
import json
import math
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "python"))
try:
    from arcwake.report import Problem
    from arcwake.report.page import replace
    from arcwake.report.pictures import (BLUE, GREEN, ORANGE, STYLE, largest_of, np, plt,
                                         prefix)
    from arcwake.report.read import PARTS, read_input, read_monitor
except ImportError as problem:
    print(f"{problem}; python3 -m pip install -r tools/requirements.txt", file=sys.stderr)
    sys.exit(4)

PURPLE, YELLOW, SKY = "#CC79A7", "#E69F00", "#56B4E9"
COLOURS = {"two-phase": BLUE, "heuristic": GREEN, "predictive": ORANGE, "adaptive": PURPLE}
MARKERS = "os^Dv"


def read_json(path):
    """What a JSON file holds."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as problem:
        raise Problem(f"{path}: cannot be read as JSON: {problem}") from problem


# ---------------------------------------------------------------------------------------- roofline


def size_of(number):
    """16384 -> 16 KiB."""
    power = min(int(math.log2(number)) // 10, 3)
    return f"{number / 1024**power:.0f}\u2009{('B', 'KiB', 'MiB', 'GiB')[power]}"


def draw_roofs(axis, row, x):
    """Ceilings of all threads together."""
    peak, threads = row["peak"], row["threads"]
    best = {kind: threads * peak[kind] for kind in ("single", "double")}
    labels = []  # slope, text; arrays that are read as fast, to 15 %, share a label
    for number, read in peak["read"]:
        slope, name = threads * read, f"arrays of {size_of(number)}"
        axis.plot(x, np.minimum(slope * x, best["single"]), color="#909090", linewidth=1.0)
        if labels and slope > 0.85 * labels[-1][0]:
            labels[-1][1] += f" to {size_of(number)}"
        else:
            labels.append([slope, name])
    for slope, name in labels:
        axis.text(1.15 * x[0], slope * 1.18 * x[0], f"{name}: {slope:.0f} GB/s", fontsize=8,
                  color="#606060", rotation=math.degrees(math.atan(slope)),
                  transform_rotates_text=True, rotation_mode="anchor", va="bottom")
    for kind, dashes in (("single", "-"), ("double", (0, (5, 3)))):
        axis.axhline(best[kind], color="black", linestyle=dashes, linewidth=1.2)
        axis.annotate(f"multiply-adds, {kind} precision: {best[kind]:.0f} GF/s",
                      (x[-1], best[kind]), fontsize=8.5, ha="right", va="bottom")
    # One operation an instruction instead of two; that of single precision is double's own roof.
    axis.axhline(0.5 * best["double"], color="black", linestyle=":", linewidth=1.0)
    axis.annotate("without multiply-adds, double precision", (x[-1], 0.5 * best["double"]),
                  fontsize=8.5, ha="right", va="bottom")


def draw_roofline(rows, _):
    """Operations a second against operations per byte, under what the machine could do."""
    rows = [row for row in rows if "peak" in row]
    if not rows:
        raise Problem("no row has the figures of --tables (arcwake bench --tables --json FILE)")
    figure, axis = plt.subplots(figsize=(7.2, 4.6))
    x = np.logspace(-3.0, 3.0, 121, base=2.0)
    axis.set_xscale("log", base=2)
    axis.set_yscale("log", base=2)
    lowest = min(row["gflops_kernel"] for row in rows)
    axis.set(xlim=(x[0], x[-1]),
             ylim=(0.25 * lowest, 2.0 * rows[0]["threads"] * rows[0]["peak"]["single"]),
             xlabel="operations per byte of cells read, by count",
             ylabel="counted operations [GF/s]", title=f"Roofline of {rows[0]['device']}")
    draw_roofs(axis, rows[0], x)
    shapes = {}
    for row in sorted(rows, key=lambda row: (row["particles"], row["grid"])):
        shape = shapes.setdefault((row["particles"], row["grid"]), MARKERS[len(shapes) % 5])
        colour = COLOURS.get(row["solver"], "black")
        axis.plot(row["intensity"], row["gflops_kernel"], shape, color=colour, markersize=7,
                  markerfacecolor="none", markeredgewidth=1.5)
        print(f"{row['solver']:12} {row['grid']:4}^2 {row['particles']:9} particles: "
              f"{row['gflops_kernel']:.1f} GF/s at {row['intensity']:.2f} operations a byte, "
              f"{100.0 * row['peak_share']:.0f} % of the best")
    for solver in dict.fromkeys(row["solver"] for row in rows):
        axis.plot([], [], "s", color=COLOURS.get(solver, "black"), label=solver)
    for (particles, grid), shape in shapes.items():
        axis.plot([], [], shape, color="#404040", markerfacecolor="none",
                  label=f"{grid}$^2$, {particles:.0e} particles".replace("e+0", "e"))
    axis.xaxis.set_major_formatter("{x:g}")
    axis.yaxis.set_major_formatter("{x:g}")
    axis.legend(loc="lower right")
    return figure


# --------------------------------------------------------------------------------------- of a run


def read_run(directory):
    """Monitor and a name for a run's directory."""
    monitor = read_monitor(directory / "monitor.csv")
    if monitor is None:
        raise Problem(f"{directory}: no rows in monitor.csv")
    resolved = directory / "resolved.yaml"
    text = resolved.read_text(encoding="utf-8") if resolved.exists() else ""
    values = read_input(text, directory)[0] if text else {}
    grid = values.get("numerics.grid", "").strip("[]").replace(", ", "\u2009×\u2009")
    solver = values.get("numerics.solver", "")
    return monitor, ", ".join(word for word in (grid, solver) if word) or directory.name


def draw_stages(directories):
    """Shares of the stages in the time of runs."""
    runs = [read_run(directory) for directory in directories]
    figure, axis = plt.subplots(figsize=(7.2, 1.4 + 0.55 * len(runs)))
    left = np.zeros(len(runs))
    names = [name for _, name in runs]
    totals = [sum(float(np.nansum(monitor[f"seconds_{part}"])) for part in PARTS)
              for monitor, _ in runs]
    for part, colour in zip(PARTS, (SKY, BLUE, GREEN, YELLOW, ORANGE, "#999999")):
        share = np.array([100.0 * float(np.nansum(monitor[f"seconds_{part}"])) / total
                          for (monitor, _), total in zip(runs, totals)])
        axis.barh(range(len(runs)), share, left=left, color=colour, label=part, height=0.6)
        for y, (value, begin) in enumerate(zip(share, left)):
            if value >= 5.0:
                axis.text(begin + 0.5 * value, y, f"{value:.0f}\u2009%", ha="center", va="center",
                          color="white", fontsize=9)
            print(f"{names[y]}: {part} {value:.2f} %")
        left += share
    axis.set_yticks(range(len(runs)), names)
    axis.set(xlim=(0.0, 100.0), xlabel="share of the wall-clock time of all steps [%]",
             title="Stages of a step")
    axis.invert_yaxis()
    axis.grid(axis="y", visible=False)
    figure.legend(loc="outside lower center", ncols=len(PARTS))
    return figure


def draw_steps(directories):
    """Evaluations of the integrand at every step."""
    figure, axis = plt.subplots(figsize=(7.2, 3.4))
    runs = [read_run(directory) for directory in directories]
    factor, unit = prefix(largest_of(*(monitor["evaluations"] for monitor, _ in runs)), "n")
    for (monitor, name), colour in zip(runs, (BLUE, ORANGE, GREEN, PURPLE, YELLOW, SKY)):
        known = np.isfinite(monitor["evaluations"])
        if not known.any():
            raise Problem(f"{name}: no step was solved")
        work = monitor["evaluations"][known]
        axis.plot(monitor["s_ref_m"][known], work * factor, color=colour, label=name,
                  marker="o" if known.sum() < 30 else None, markersize=3)
        print(f"{name}: {work.min():.4g} to {work.max():.4g} evaluations a step, "
              f"mean {work.mean():.4g}")
    power = {"": "", "k": "10$^3$", "M": "10$^6$", "G": "10$^9$", "T": "10$^{12}$"}[unit[:-1]]
    axis.set(xlabel="$S$ of the bunch centre [m]", ylabel=f"evaluations [{power}]",
             title="Work of the potentials, step by step", ylim=(0.0, None))
    axis.margins(x=0.0)
    axis.legend(loc="best")
    return figure


# ------------------------------------------------------------------------------------ of patterns


def draw_work(figure, axis, data, labels):
    """Evaluations at every grid point."""
    work = np.array(data["evaluations"], dtype=float)
    ns, nx = data["grid"]
    half = (0.5 * ns * data["spacing_m"][0], 0.5 * nx * data["spacing_m"][1])
    factor, unit = prefix(max(half), "m")
    extent = (-half[0] * factor, half[0] * factor, -half[1] * factor, half[1] * factor)
    image = axis.imshow(1e-3 * work, extent=extent, origin="lower", cmap="viridis",
                        interpolation="nearest")
    axis.grid(False)
    for point, label in zip(data["points"], labels):
        axis.plot(point["s_m"] * factor, point["x_m"] * factor, "o", color="white", markersize=4)
        axis.annotate(label, (point["s_m"] * factor, point["x_m"] * factor), color="white",
                      xytext=(4, 3), textcoords="offset points")
    axis.set(xlabel=f"$s$, the head to the right [{unit}]", ylabel=f"$x$ [{unit}]",
             title="Evaluations of a point [10$^3$]")
    figure.colorbar(image, ax=axis, pad=0.02, fraction=0.046)
    print(f"work of a point: {work.min():.0f} to {work.max():.0f} evaluations, "
          f"mean {work.mean():.0f}")


def draw_trees(axis, data, labels):
    """How often the adaptive strategy halved the starting regions of a few points."""
    deepest = 0
    for row, (point, label) in enumerate(zip(data["points"], labels)):
        leaves = sorted(point["leaves_m"])
        deepest = max(deepest, *(int(leaf[2]) for leaf in leaves))
        print(f"{label}: {len(leaves)} regions, up to {leaves[-1][1]:.3g} m, "
              f"halved up to {max(int(leaf[2]) for leaf in leaves)} times")
    colours = plt.get_cmap("viridis_r")(np.linspace(0.05, 1.0, deepest + 1))
    for row, point in enumerate(data["points"]):
        for a, b, halves in point["leaves_m"]:
            axis.barh(row, b - a, left=max(a, 1e-12), height=0.14 + 0.72 * halves / max(deepest, 1),
                      color=colours[int(halves)], edgecolor="white", linewidth=0.3)
    axis.set_yticks(range(len(labels)), labels)
    axis.set(xlabel="$r'$ [m]", title="Regions; height and colour: times halved")
    axis.set_xscale("log")
    axis.set_xlim(0.5 * data["edges_m"][1],
                  max(leaf[1] for point in data["points"] for leaf in point["leaves_m"]))
    axis.invert_yaxis()
    axis.grid(axis="y", visible=False)
    for halves, colour in enumerate(colours):
        axis.barh(0, 0.0, color=colour, label=f"{halves}")
    axis.legend(title="halved", loc="upper left", bbox_to_anchor=(1.0, 1.0), fontsize=8)


def draw_access(axis, data, labels):
    """Subregions in each slice interval: what the strategy used, and adaptive."""
    rows, names = [], []
    for point, label in zip(data["points"], labels):
        rows += [point["slices_adaptive"], point["slices_solver"]]
        names += [f"{label} adaptive", f"{label} {data['solver']}"]
    longest = max(map(len, rows))
    table = np.full((len(rows), longest), np.nan)
    for row, numbers in enumerate(rows):
        table[row, :len(numbers)] = numbers
    table[table <= 0.0] = np.nan
    image = axis.imshow(table, aspect="auto", interpolation="nearest", cmap="Blues",
                        norm="log", extent=(0, longest, len(rows) - 0.5, -0.5))
    axis.set_yticks(range(len(rows)), names)
    axis.grid(False)
    for row in range(2, len(rows), 2):
        axis.axhline(row - 0.5, color="black", linewidth=0.8)
    axis.set(xlabel=f"slice interval $i$, $c\\,\\Delta t$ = {data['cdt_m']:g} m each",
             title="Subregions $n_i$ that read the slice")
    axis.figure.colorbar(image, ax=axis, pad=0.02, fraction=0.046)


def draw_patterns(data, _):
    """Three panels: work over the grid, regions and slices of a few points."""
    labels = [f"$p_{k + 1}$" for k in range(len(data["points"]))]
    figure, axes = plt.subplots(1, 3, figsize=(14.0, 4.2), width_ratios=(1.0, 1.2, 1.3))
    draw_work(figure, axes[0], data, labels)
    draw_trees(axes[1], data, labels)
    draw_access(axes[2], data, labels)
    return figure


# --------------------------------------------------------------------------------------------------

PICTURES = {
    "roofline": lambda paths: draw_roofline(read_json(paths[0]), paths),
    "stages": draw_stages,
    "steps": draw_steps,
    "patterns": lambda paths: draw_patterns(read_json(paths[0]), paths),
}


def main(arguments):
    parser = argparse.ArgumentParser(description="Draw what the bench and runs say of the work.")
    parser.add_argument("picture", choices=PICTURES)
    parser.add_argument("source", nargs="+", type=Path, help="JSON file, or directories of runs")
    parser.add_argument("-o", "--output", required=True, type=Path, metavar="FILE.png")
    options = parser.parse_args(arguments)
    try:
        buffer = io.BytesIO()
        with plt.rc_context({**STYLE, "savefig.dpi": 110}):
            try:
                figure = PICTURES[options.picture](options.source)
            except (KeyError, TypeError, IndexError) as problem:
                raise Problem(f"{options.source[0]}: is not what this picture is made of: "
                              f"{problem!r}") from problem
            figure.savefig(buffer, format="png")
        replace(options.output, buffer.getvalue())
    except Problem as problem:
        print(problem, file=sys.stderr)
        return 4
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
