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

RUNS = {  # name: (input, settings)
    "zeuthen": ("zeuthen_chicane", ["output.at_m=[6.0,7.32,12.8,13.5]"]),
    "zeuthen-line": ("zeuthen_chicane", ["forces=line", "output.at_m=[6.0,7.32,12.8,13.5]"]),
    "fast": ("fast_bc1", ["output.at_m=[1.6,2.5]"]),
    "flat-top": ("xfel_bc2", ["beam.distribution=flat-top", "output.at_m=[0.0]"]),
    "modulated": ("lcls_bend", [
        "beam.modulation={wavelength_m: 40e-6, depth: 0.3}", "numerics.grid=[160,48]",
        "numerics.tolerance=1e-4", "beam.particles=400000", "output.at_m=[1.0]", "output.every=0"]),
}
PICTURES = {  # name: (run, run of the line model or None, what draws it)
    "evolution": ("zeuthen", "zeuthen-line", lambda p, run, line: p.draw_evolution(run, line)),
    "phase-space": ("zeuthen", None, lambda p, run, _: p.draw_phase_space(
        [run.bunches[0], run.bunches[-1]])),
    "maps": ("fast", None, lambda p, run, _: p.draw_maps(
        [run.meshes[i] for i in p.strongest(run.meshes)])),
    "slices": ("flat-top", None, lambda p, run, _: p.draw_slices(
        [run.bunches[0], run.bunches[-1]])),
    "modulated": ("modulated", None, lambda p, run, _: p.draw_maps(run.meshes[:1])),
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
    sys.path[:0] = [str(sources / "tools"), str(sources / "python/arcwake")]
    from report import pictures, read
    place = sources / "docs/images/gallery"
    place.mkdir(parents=True, exist_ok=True)
    for name in names or PICTURES:
        of, beside, draw = PICTURES[name]
        run, line = read.read_run(made(arcwake, sources, work, of)), None
        if beside:
            line = read.read_line_run(made(arcwake, sources, work, beside),
                                      [mesh.frame.s_ref for mesh in run.meshes])
        with pictures.plt.rc_context(pictures.STYLE):
            draw(pictures, run, line).savefig(place / f"{name}.png", dpi=72,
                                              metadata={"Software": None})
        print(place / f"{name}.png")
    return 0


if __name__ == "__main__":
    sys.exit(main(*(Path(word).resolve() for word in sys.argv[1:4]), sys.argv[4:]))
