#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Make the pictures of docs/gallery.md, each from a run; a few minutes on two cores.

usage: gallery.py ARCWAKE SOURCES WORK [NAME]...

Runs go into the folder WORK, and are kept there for the next call; pictures into
SOURCES/docs/images/gallery. Runs and pictures depend on nothing but the sources and the version of
matplotlib. NAME: these pictures only.
"""
import subprocess
import sys
from pathlib import Path

BEND = ["numerics.grid=[64,64]", "numerics.tolerance=1e-4", "beam.particles=300000",
        "output.at_m=[3.0]", "output.every=0"]
RUNS = {  # name: (input, settings)
    "zeuthen": ("zeuthen_chicane", ["output.at_m=[6.0,7.32,12.8,13.5]"]),
    "zeuthen-line": ("zeuthen_chicane", ["forces=line", "output.at_m=[6.0,7.32,12.8,13.5]"]),
    "fast": ("fast_bc1", ["output.at_m=[1.6,2.5]"]),
    "flat-top": ("xfel_bc2", ["beam.distribution=flat-top", "output.at_m=[0.0]"]),
    "modulated": ("lcls_bend", [
        "beam.modulation={wavelength_m: 40e-6, depth: 0.3}", "numerics.grid=[160,48]",
        "numerics.tolerance=1e-4", "beam.particles=400000", "output.at_m=[1.0]", "output.every=0"]),
    "bend": ("lcls_bend", BEND),
    "bend-10mm": ("lcls_bend", [*BEND, "numerics.plates_gap_m=10e-3"]),
    "bend-5mm": ("lcls_bend", [*BEND, "numerics.plates_gap_m=5e-3"]),
    "everything": ("zeuthen_everything", []),
    "everything-free": ("zeuthen_everything", ["numerics.plates_gap_m=0"]),
}


def draw_plates(p, *runs):
    """F_s on the axis of the bunch in a bend, and its mean behind a chicane, between plates."""
    gaps = ["free space", "10 mm", "5 mm", "30 mm", "free space"]
    figure, (left, right) = p.plt.subplots(1, 2, figsize=(10.4, 4.2))
    for run, gap, colour in zip(runs[:3], gaps, (p.GREY, p.BLUE, p.ORANGE)):
        mesh = min(run.meshes, key=lambda one: abs(one.frame.s_ref - 3.0))
        middle, _, size = mesh.moments()[:3]
        s = middle + p.WIDE * size * p.np.linspace(-1.0, 1.0, 401)
        left.plot(1e6 * s, 1e-3 * mesh.along(mesh.force_z, s), color=colour, label=gap)
    left.set(title="LCLS bend, 3 m behind its entrance", xlabel="s [µm]",
             ylabel="$F_s$ on the axis [keV/m]")
    for run, gap, colour in zip(runs[3:], gaps[3:], (p.BLUE, p.GREY)):
        at = run.monitor["s_ref_m"] > 13.2
        right.plot(run.monitor["s_ref_m"][at], 1e-3 * run.monitor["F_s_mean_eV_per_m"][at],
                   color=colour, marker="." if gap == "30 mm" else None, label=gap)
    right.set(title="Behind the Berlin-Zeuthen chicane", xlabel="S [m]",
              ylabel="mean $F_s$ [keV/m]")
    for axis in (left, right):
        axis.legend(title="gap")
    return figure


PICTURES = {  # name: (runs, what draws them); runs of the line model end with -line
    "evolution": (("zeuthen", "zeuthen-line"), lambda p, run, line: p.draw_evolution(run, line)),
    "phase-space": (("zeuthen",), lambda p, run: p.draw_phase_space(
        [run.bunches[0], run.bunches[-1]])),
    "maps": (("fast",), lambda p, run: p.draw_maps(
        [run.meshes[i] for i in p.strongest(run.meshes)])),
    "slices": (("flat-top",), lambda p, run: p.draw_slices([run.bunches[0], run.bunches[-1]])),
    "modulated": (("modulated",), lambda p, run: p.draw_maps(run.meshes[:1])),
    "plates": (("bend", "bend-10mm", "bend-5mm", "everything", "everything-free"), draw_plates),
}


def made(arcwake, sources, work, name):
    """The directory of a run, which is made if it is not there."""
    case, settings = RUNS[name]
    directory = work / name
    if not (directory / "done").exists():
        subprocess.run([arcwake, "run", sources / f"inputs/{case}.yaml", "-o", directory, "--force",
                        "--quiet", *(f"--set={setting}" for setting in settings)], check=True)
        (directory / "done").touch()
    return directory


def main(arcwake, sources, work, names):
    sys.path.insert(0, str(sources / "python"))
    from arcwake.report import pictures, read
    place = sources / "docs/images/gallery"
    place.mkdir(parents=True, exist_ok=True)
    for name in names or PICTURES:
        of, draw = PICTURES[name]
        runs = []
        for one in of:
            directory = made(arcwake, sources, work, one)
            runs.append(read.read_line_run(directory, [m.frame.s_ref for m in runs[0].meshes])
                        if one.endswith("-line") else read.read_run(directory))
        with pictures.plt.rc_context(pictures.STYLE):
            draw(pictures, *runs).savefig(place / f"{name}.png", dpi=72,
                                          metadata={"Software": None})
        print(place / f"{name}.png")
    return 0


if __name__ == "__main__":
    sys.exit(main(*(Path(word).resolve() for word in sys.argv[1:4]), sys.argv[4:]))
