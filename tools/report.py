#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Make DIR/report.html, a self-contained page with tables and pictures of a run, and forces.png.

usage: report.py DIR        (the output directory of `arcwake run`)

Reads DIR/monitor.csv, DIR/resolved.yaml and DIR/diag/arcwake_*.h5; each may be missing, but not
both the monitor and the meshes. Exit status 0: made; 4: the directory, a file in it or a Python
package is missing or broken (one line on stderr).
"""
import argparse
import base64
import csv
import html
import io
import math
import os
import secrets
import string
import sys
from dataclasses import dataclass
from pathlib import Path

try:
    import h5py
    import matplotlib
    import numpy as np
except ImportError as problem:
    print(f"{problem}; python3 -m pip install -r tools/requirements.txt", file=sys.stderr)
    sys.exit(4)

matplotlib.use("Agg")
from matplotlib import pyplot as plt  # noqa: E402 (after the choice of the back end)

COULOMB = 8.9875517923e9  # 1/(4 pi eps0) [V m/C]
CURVES = 5  # maximum number of mesh files in the picture of the forces
PARTS = ("deposit", "potentials", "forces", "gather", "push", "output")

# Columns of monitor.csv: name, label in the report, unit.
COLUMNS = (
    ("step", "Step", ""),
    ("time_s", "Time", "s"),
    ("s_ref_m", "Arc length S of the bunch centre", "m"),
    ("charge_C", "Charge", "C"),
    ("energy_change_mean_eV", "Energy change, mean", "eV"),
    ("energy_change_rms_eV", "Energy change, rms about the mean", "eV"),
    ("sigma_s_m", "Bunch length, rms", "m"),
    ("sigma_x_m", "Bunch width, rms", "m"),
    ("emittance_x_m", "Emittance, geometric", "m rad"),
    ("emittance_x_dispersion_free_m", "Emittance, dispersion taken out", "m rad"),
    ("F_s_mean_eV_per_m", "Longitudinal force, mean", "eV/m"),
    ("F_s_peak_eV_per_m", "Longitudinal force, peak", "eV/m"),
    ("F_x_mean_eV_per_m", "Transverse force, mean", "eV/m"),
    ("F_x_peak_eV_per_m", "Transverse force, peak", "eV/m"),
    ("evaluations", "Evaluations of the integrand", ""),
    ("error_estimate", "Error of the potentials, estimated, over their largest", ""),
    ("error_sampled", "Error of the potentials, at points computed again", ""),
    ("fell_back", "1: the solver left the step to predictive", ""),
    *((f"seconds_{part}", f"Time of this step, {part}", "s") for part in PARTS),
)

# From the palette of Okabe and Ito, which is distinguishable with any colour vision.
BLUE, ORANGE, GREEN = "#0072B2", "#D55E00", "#009E73"
STYLE = {
    "figure.dpi": 100, "savefig.dpi": 160, "svg.fonttype": "path", "svg.hashsalt": "arcwake",
    "font.size": 10, "axes.titlesize": 10.5, "axes.titlelocation": "left",
    "axes.spines.top": False, "axes.spines.right": False, "axes.linewidth": 0.8,
    "axes.grid": True, "grid.color": "#e6e6e6", "grid.linewidth": 0.7, "axes.axisbelow": True,
    "legend.frameon": False, "legend.fontsize": 9, "lines.linewidth": 1.6,
    "lines.solid_joinstyle": "round", "figure.constrained_layout.use": True,
}


class Problem(Exception):
    """A fault of the input for the user, in one line."""


@dataclass
class Mesh:
    """The data of one mesh file; s [m] and x [m] are its axes, the fields are [ix][is]."""

    step: int
    s_ref: float
    kappa: float
    gamma: float
    software: str
    date: str
    s: np.ndarray
    x: np.ndarray
    rho: np.ndarray  # magnitude [C/m^2]
    force_z: np.ndarray  # [eV/m]
    force_x_eff: np.ndarray  # [eV/m]

    def on_axis(self, field):
        """Values at x = 0, interpolated between the neighbouring rows."""
        j = int(np.clip(np.searchsorted(self.x, 0.0, side="right") - 1, 0, len(self.x) - 1))
        k = min(j + 1, len(self.x) - 1)
        weight = 0.0 if k == j else -self.x[j] / (self.x[k] - self.x[j])
        return (1.0 - weight) * field[j] + weight * field[k]

    def line_charge(self):
        """Charge per unit length along s [C/m]."""
        spacing = self.x[1] - self.x[0] if len(self.x) > 1 else 1.0
        return self.rho.sum(axis=0) * spacing


def derivative(values, spacing):
    """Slope of a cubic fitted to 7 points (Savitzky and Golay 1964): fourth order, low noise."""
    weights = np.array([22, -67, -58, 0, 58, 67, -22]) / 252.0
    return np.correlate(values, weights, mode="same") / spacing


def steady_forces(s, line_charge, kappa):
    """Forces of a line bunch in the steady state on a circle [eV/m]: F_s and F_x_eff.

    s [m] ascending and equally spaced, line_charge [C/m] at s, kappa [1/m]. The integral of
    u^(-1/3) lambda'(s-u) is exact for a lambda' that is linear in each cell. Sources:
    Derbenev, Rossbach, Saldin, Shiltsev, TESLA-FEL 1995-05 (longitudinal); R. Li, PRST-AB 11 024401
    (transverse).
    """
    spacing = s[1] - s[0]
    slope = derivative(line_charge, spacing)
    bend = np.diff(slope) / spacing
    u = np.maximum(s[:, None] - s[None, :], 0.0)  # distance back to each node; 0 ahead of s
    first = 1.5 * (u[:, :-1] ** (2 / 3) - u[:, 1:] ** (2 / 3))
    second = 0.6 * (u[:, :-1] ** (5 / 3) - u[:, 1:] ** (5 / 3))
    integral = first @ slope[:-1] + (first * u[:, :-1] - second) @ bend
    longitudinal = -COULOMB * 2.0 / 3.0 ** (1.0 / 3.0) * abs(kappa) ** (2.0 / 3.0) * integral
    return longitudinal, -2.0 * COULOMB * line_charge * kappa


# ---------------------------------------------------------------------------------------- reading


def read_monitor(path):
    """Columns of monitor.csv as arrays, empty cells NaN; None if there is no file or no row."""
    if not path.exists():
        return None
    rows = []
    try:
        with open(path, newline="", encoding="utf-8") as file:
            reader = csv.reader(file)
            names = next(reader, [])
            for row in reader:
                if len(row) != len(names):
                    raise Problem(f"{path}:{reader.line_num}: {len(row)} cells, {len(names)} "
                                  "in the header")
                rows.append([float(cell) if cell else math.nan for cell in row])
    except (OSError, ValueError, csv.Error) as problem:
        raise Problem(f"{path}: cannot be read: {problem}") from problem
    missing = [name for name, _, _ in COLUMNS if name not in names]
    if missing:
        raise Problem(f"{path}: no column {missing[0]}")
    if not rows:
        return None
    return dict(zip(names, np.array(rows).T))


def read_mesh(path):
    """The Mesh of an openPMD file, or None if it has no forces."""
    try:
        with h5py.File(path, "r") as file:
            ((step, iteration),) = file["data"].items()
            meshes = iteration["meshes"]
            if not {"rho", "F", "F_eff"} <= set(meshes):
                return None
            rho = meshes["rho"]
            (hx, hs), (x0, s0) = rho.attrs["gridSpacing"], rho.attrs["gridGlobalOffset"]
            nx, ns = rho.shape
            return Mesh(
                step=int(step), s_ref=float(rho.attrs["s_ref"]),
                kappa=float(rho.attrs.get("kappa_ref", 0.0)),
                gamma=float(rho.attrs["gamma_ref"]),
                software=" ".join(file.attrs[k].decode() for k in ("software", "softwareVersion")),
                date=file.attrs["date"].decode(),
                s=s0 + hs * np.arange(ns), x=x0 + hx * np.arange(nx), rho=np.abs(rho[()]),
                force_z=meshes["F/z"][()], force_x_eff=meshes["F_eff/x"][()])
    except (OSError, KeyError, ValueError, TypeError, AttributeError, RuntimeError) as problem:
        words = " ".join(str(problem).split())
        raise Problem(f"{path}: cannot be read as a mesh file: {words}") from problem


def read_meshes(directory):
    """Up to CURVES meshes spread over the run, always including the last one."""
    paths = sorted((directory / "diag").glob("arcwake_*.h5"))
    if len(paths) > CURVES:
        chosen = {round(i * (len(paths) - 1) / (CURVES - 1)) for i in range(CURVES)}
        paths = [paths[i] for i in sorted(chosen)]
    return [mesh for mesh in map(read_mesh, paths) if mesh is not None]


def read_input(path):
    """Keys (joined by dots) and values of resolved.yaml as text; {} without the file.

    It reads only the plain block style that arcwake writes, so that no YAML package is needed.
    """
    if not path.exists():
        return {}
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as problem:
        raise Problem(f"{path}: cannot be read: {problem}") from problem
    values, sections = {}, []
    for line in lines:
        text = line.strip()
        indent = len(line) - len(line.lstrip())
        if not text or text.startswith("#") or text == "---":
            continue
        sections = [one for one in sections if one[0] < indent or text.startswith("- ")]
        if indent and sections and sections[0][1] == "lattice":
            continue  # too long for a table
        if text.startswith("- "):
            key, value = ".".join(name for _, name in sections), text[2:]
            values[key] = f"{values[key]}, {value}" if values.get(key) else value
            continue
        name, _, value = text.partition(":")
        sections.append((indent, name))
        if value.strip():
            values[".".join(name for _, name in sections)] = value.split(" #")[0].strip(" \"'")
    return values


# ----------------------------------------------------------------------------------------- numbers


def prefix(largest, unit):
    """Factor and unit with an SI prefix for numbers up to `largest`: 5e-5, "m" -> 1e6, "µm"."""
    if not unit or not math.isfinite(largest) or largest == 0.0:
        return 1.0, unit
    power = 3 * math.floor(math.log10(abs(largest)) / 3.0 + 1e-9)
    power = max(-18, min(12, power))
    names = {-18: "a", -15: "f", -12: "p", -9: "n", -6: "µ", -3: "m", 0: "", 3: "k", 6: "M",
             9: "G", 12: "T"}
    return 10.0**-power, names[power] + unit


def largest_of(*arrays):
    """Largest finite magnitude; 0 if there is none."""
    numbers = np.abs(np.concatenate([np.ravel(a) for a in arrays]))
    numbers = numbers[np.isfinite(numbers)]
    return float(numbers.max()) if numbers.size else 0.0


def in_words(value, unit):
    """A number with its unit, as text for the table."""
    if not math.isfinite(value):
        return "not computed"
    if not unit:
        return f"{value:,.0f}".replace(",", "\u2009")
    factor, unit = prefix(value, unit)
    return f"{value * factor:.4g}\u2009{unit}"


# ---------------------------------------------------------------------------------------- pictures


def draw_forces(meshes):
    """F_z and F_x_eff on the axis, at several places along the machine."""
    figure, axes = plt.subplots(1, 2, figsize=(10.4, 4.8))
    colours = plt.get_cmap("viridis")(np.linspace(0.88, 0.0, len(meshes)))
    in_bend = [mesh for mesh in meshes if mesh.kappa != 0.0]
    reference = in_bend[-1] if in_bend else None
    known = (None, None)
    if reference:
        known = steady_forces(reference.s, reference.line_charge(), reference.kappa)
    panels = (("force_z", "Longitudinal force on the axis", "$F_z$"),
              ("force_x_eff", "Effective transverse force on the axis", "$F_x^{\\mathrm{eff}}$"))
    s_factor, s_unit = prefix(largest_of(*(m.s for m in meshes)), "m")
    for axis, (field, title, symbol), steady in zip(axes, panels, known):
        curves = [mesh.on_axis(getattr(mesh, field)) for mesh in meshes]
        factor, unit = prefix(largest_of(*curves), "eV/m")
        for mesh, curve, colour in zip(meshes, curves, colours):
            axis.plot(mesh.s * s_factor, curve * factor, color=colour, label=place(mesh))
        if steady is not None:
            axis.plot(reference.s * s_factor, steady * factor, color="black", linewidth=1.1,
                      linestyle=(0, (5, 3)), label=f"1D steady state, {place(reference)}")
        axis.axhline(0.0, color="#808080", linewidth=0.8, zorder=1)
        axis.set(title=title, xlabel=f"$s$, the head to the right [{s_unit}]",
                 ylabel=f"{symbol} [{unit}]")
        draw_profile(axis, meshes[-1], s_factor)
        axis.set_xlim(meshes[-1].s[0] * s_factor, meshes[-1].s[-1] * s_factor)
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    return figure


def place(mesh):
    return f"$S$ = {mesh.s_ref:.3f} m"


def draw_profile(axis, mesh, s_factor):
    """Shade the line charge of the bunch at the bottom, not to scale."""
    charge = mesh.line_charge()
    if not charge.max() > 0.0:
        return
    shade = axis.twinx()
    shade.fill_between(mesh.s * s_factor, charge / charge.max(), color="#9a9a9a", alpha=0.25,
                       linewidth=0.0)
    shade.set(ylim=(0.0, 4.0), yticks=[])
    shade.grid(False)
    shade.spines["right"].set_visible(False)
    axis.set_zorder(shade.get_zorder() + 1)
    axis.patch.set_visible(False)


def edges(nodes):
    """Outer edges of the cells around equally spaced nodes."""
    half = 0.5 * (nodes[1] - nodes[0]) if len(nodes) > 1 else 0.5
    return nodes[0] - half, nodes[-1] + half


def draw_maps(mesh):
    """Charge density and the two forces over the moving grid."""
    figure, axes = plt.subplots(1, 3, figsize=(10.4, 3.5), sharey=True)
    s_factor, s_unit = prefix(largest_of(mesh.s), "m")
    x_factor, x_unit = prefix(largest_of(mesh.x), "m")
    extent = (*edges(mesh.s * s_factor), *edges(mesh.x * x_factor))
    panels = ((mesh.rho, "Charge density $|\\rho|$", "C/m$^2$", "cividis"),
              (mesh.force_z, "Force $F_z$", "eV/m", "RdBu_r"),
              (mesh.force_x_eff, "Force $F_x^{\\mathrm{eff}}$", "eV/m", "RdBu_r"))
    for axis, (field, title, unit, colours) in zip(axes, panels):
        top = largest_of(field)
        factor, unit = prefix(top, unit)
        low = 0.0 if colours == "cividis" else -top
        image = axis.imshow(field * factor, extent=extent, origin="lower", aspect="auto",
                            interpolation="bilinear", cmap=colours, vmin=low * factor,
                            vmax=(top or 1.0) * factor)
        if colours != "cividis" and mesh.rho.max() > 0.0:
            # for a Gaussian, at two sigma and at one sigma
            axis.contour(mesh.s * s_factor, mesh.x * x_factor, mesh.rho / mesh.rho.max(),
                         levels=[math.exp(-2.0), math.exp(-0.5)], colors="#404040",
                         linewidths=0.7)
        axis.grid(False)
        axis.set(title=f"{title} [{unit}]", xlabel=f"$s$ [{s_unit}]")
        figure.colorbar(image, ax=axis, pad=0.02, fraction=0.06)
    axes[0].set_ylabel(f"$x$ [{x_unit}]")
    return figure


def draw_line(axis, monitor, names, unit, title):
    """Draw columns against S: one panel of draw_evolution."""
    s = monitor["s_ref_m"]
    factor, unit = prefix(largest_of(*(monitor[name] for name, _ in names)), unit)
    drawn = 0
    for (name, label), colour, dashes in zip(names, (BLUE, ORANGE), ("-", (0, (5, 2)))):
        known = np.isfinite(monitor[name]) & np.isfinite(s)
        count = int(known.sum())
        if count:
            sparse = count < 30
            axis.plot(s[known], monitor[name][known] * factor, color=colour, label=label,
                      linestyle=dashes, marker="o" if sparse else None, markersize=3)
        drawn += count
    if not drawn:
        axis.text(0.5, 0.5, "not computed in this run", transform=axis.transAxes, ha="center",
                  color="#707070")
        axis.set_yticks([])
    elif len(names) > 1:
        axis.legend(loc="best")
    axis.set_title(title)
    axis.set_ylabel(f"[{unit}]")
    axis.ticklabel_format(useOffset=False)


def draw_evolution(monitor):
    """Draw the evolution of the bunch along the machine."""
    figure, axes = plt.subplots(3, 2, figsize=(10.4, 8.0), sharex=True)
    panels = (
        ((("sigma_s_m", None),), "m", "Bunch length $\\sigma_s$"),
        ((("sigma_x_m", None),), "m", "Bunch width $\\sigma_x$"),
        ((("emittance_x_m", "plain"), ("emittance_x_dispersion_free_m", "dispersion taken out")),
         "m rad", "Geometric emittance $\\varepsilon_x$"),
        ((("energy_change_mean_eV", "mean"), ("energy_change_rms_eV", "rms about the mean")),
         "eV", "Energy change since the start"),
        ((("F_s_mean_eV_per_m", "mean"), ("F_s_peak_eV_per_m", "peak")), "eV/m",
         "Longitudinal force on the particles"),
        ((("F_x_mean_eV_per_m", "mean"), ("F_x_peak_eV_per_m", "peak")), "eV/m",
         "Transverse force on the particles"),
    )
    for axis, (names, unit, title) in zip(axes.flat, panels):
        draw_line(axis, monitor, names, unit, title)
        axis.margins(x=0.0)
    for axis in axes[-1]:
        axis.set_xlabel("$S$ of the bunch centre [m]")
    return figure


def draw_time(monitor):
    """Draw the wall-clock time of each part of a step, summed over the steps."""
    seconds = {part: float(np.nansum(monitor[f"seconds_{part}"])) for part in PARTS}
    total = sum(seconds.values())
    order = sorted(seconds, key=seconds.get)
    figure, axis = plt.subplots(figsize=(7.2, 2.5))
    bars = axis.barh(order, [seconds[part] for part in order], color=BLUE, height=0.65)
    share = [100.0 * seconds[part] / total if total > 0.0 else 0.0 for part in order]
    axis.bar_label(bars, labels=[f"{value:.1f} %" for value in share], padding=4)
    axis.set(xlabel="wall-clock time, all steps [s]")
    axis.margins(x=0.12)
    axis.grid(axis="y", visible=False)
    return figure


def as_svg(figure):
    buffer = io.BytesIO()
    figure.savefig(buffer, format="svg", metadata={"Date": None})
    return "data:image/svg+xml;base64," + base64.b64encode(buffer.getvalue()).decode()


# -------------------------------------------------------------------------------------------- page

PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
body {{ font: 16px/1.5 system-ui, "Segoe UI", Roboto, "DejaVu Sans", sans-serif; color: #1c1c1c;
  background: #fff; max-width: 66rem; margin: 2.5rem auto; padding: 0 1.25rem; }}
h1 {{ font-size: 1.9rem; line-height: 1.2; margin: 0 0 .25rem; }}
h2 {{ font-size: 1.2rem; margin: 2.5rem 0 .5rem; border-bottom: 1px solid #d8d8d8; }}
p.about, figcaption {{ color: #555; }}
figure {{ margin: 1rem 0; }} figure img {{ width: 100%; height: auto; }}
figure.narrow img {{ max-width: 46rem; }}
figcaption {{ font-size: .9rem; max-width: 52rem; }}
table {{ border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: .92rem; }}
td {{ padding: .18rem 1.2rem .18rem 0; border-bottom: 1px solid #ececec; vertical-align: top; }}
td:last-child {{ overflow-wrap: anywhere; }}
.two {{ columns: 2 22rem; column-gap: 3rem; }} .two table {{ width: 100%; }}
.two tr {{ break-inside: avoid; }}
.none {{ color: #888; }}
@media print {{ h2 {{ break-after: avoid; }} figure {{ break-inside: avoid; }} }}
</style></head><body>
<h1>{title}</h1>
<p class="about">{about}</p>
{body}
</body></html>
"""


def as_table(pairs):
    rows = []
    for name, value in pairs:
        kind = ' class="none"' if value == "not computed" else ""
        rows.append(f"<tr><td>{html.escape(name)}</td><td{kind}>{html.escape(value)}</td></tr>")
    return f'<div class="two"><table>{"".join(rows)}</table></div>'


def as_figure(figure, text, kind=""):
    picture = as_svg(figure)
    plt.close(figure)
    return (f'<figure class="{kind}"><img src="{picture}" alt="{html.escape(text)}">'
            f"<figcaption>{html.escape(text)}</figcaption></figure>")


def mesh_sections(meshes, directory):
    """Headings and pictures of the meshes; also writes DIR/forces.png."""
    last = meshes[-1]
    figure = draw_forces(meshes)
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png")
    replace(directory / "forces.png", buffer.getvalue())
    steady = any(mesh.kappa != 0.0 for mesh in meshes)
    text = ("Forces on one beam particle along the axis x = 0 of the moving grid, components along "
            "the design tangent (z) and normal (x); negative F_z takes energy away. Grey: the line "
            "charge at the last of these places, not to scale.")
    if steady:
        text += (" Dashed: the steady state on a circle of a line bunch with this line charge "
                 "(Derbenev et al. 1995; R. Li 2008), which is not reached near a magnet's edge.")
    where = f"At S = {last.s_ref:.4f} m, step {last.step}, in the co-moving frame."
    return ["<h2>Forces</h2>", as_figure(figure, text),
            "<h2>The bunch and its forces in the plane</h2>",
            as_figure(draw_maps(last), where + " Lines: where the density has fallen to exp(-1/2) "
                      "and exp(-2) of its peak, one and two sigma of a Gaussian.")]


def monitor_sections(monitor):
    total = sum(float(np.nansum(monitor[f"seconds_{part}"])) for part in PARTS)
    table = [(label, in_words(monitor[name][-1], unit)) for name, label, unit in COLUMNS]
    return (["<h2>Along the machine</h2>",
             as_figure(draw_evolution(monitor), "Rms values over the particles; the peak force "
                       "keeps its sign.")],
            ["<h2>At the last step</h2>", as_table(table)],
            ["<h2>Time</h2>",
             as_figure(draw_time(monitor), f"{len(monitor['step'])} steps, {total:.4g} s in all.",
                       "narrow")])


def make_page(directory):
    """The HTML text of the page."""
    monitor = read_monitor(directory / "monitor.csv")
    meshes = read_meshes(directory)
    values = read_input(directory / "resolved.yaml")
    if monitor is None and not meshes:
        raise Problem(f"{directory}: no run to report on (neither rows in monitor.csv nor forces "
                      "in diag/arcwake_*.h5)")
    title = values.pop("title", "") or "A run of arcwake"
    about, body = [], []
    if meshes:
        last = meshes[-1]
        about = [last.software, last.date, f"reference gamma {last.gamma:.6g}"]
    evolution, table, time = monitor_sections(monitor) if monitor else ([], [], [])
    body += table
    if meshes:
        body += mesh_sections(meshes, directory)
    body += evolution + time
    if values:
        body += ["<h2>Input, resolved</h2>", as_table(values.items())]
    return PAGE.format(title=html.escape(title), about=html.escape(" · ".join(about)),
                       body="\n".join(body))


def replace(path, data):
    """Replace a file atomically, by way of a new file as aw_file_temporary names it."""
    letters = "".join(secrets.choice(string.ascii_lowercase) for _ in range(6))
    temporary = path.with_name(f"{path.name}.{letters}.tmp")
    try:
        with open(temporary, "xb") as file:
            file.write(data)
        os.replace(temporary, path)
    except OSError as problem:
        temporary.unlink(missing_ok=True)
        raise Problem(f"{path}: cannot be written: {problem.strerror}") from problem


def main(arguments):
    parser = argparse.ArgumentParser(description="Make DIR/report.html from a run's output.")
    parser.add_argument("directory", metavar="DIR", type=Path, help="output directory of a run")
    directory = parser.parse_args(arguments).directory
    try:
        if not directory.is_dir():
            raise Problem(f"{directory}: no such directory")
        with plt.rc_context(STYLE):
            page = make_page(directory)
        replace(directory / "report.html", page.encode())
    except Problem as problem:
        print(problem, file=sys.stderr)
        return 4
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
