# SPDX-License-Identifier: GPL-3.0-or-later
"""Pictures of a Result: those of the report."""
from .errors import ArcwakeError

try:
    from matplotlib import pyplot as plt
except ImportError as problem:
    raise ArcwakeError("pictures need matplotlib (python3 -m pip install matplotlib)") from problem

from .report import pictures, read


def draw(result, wanted):
    """{name: figure} of the wanted pictures that the run has something for."""
    run, out = read.read_run(result.directory), {}
    with plt.rc_context(pictures.STYLE):
        if "machine" in wanted and run.monitor is not None:
            out["machine"] = pictures.draw_evolution(run)
        if run.bunches:
            if "phase_space" in wanted:
                out["phase_space"] = pictures.draw_phase_space(run.bunches)
            if "slices" in wanted:
                ends = run.bunches[:1] + run.bunches[1:][-1:]
                out["slices"] = pictures.draw_slices(ends)
        if run.meshes:
            if "forces" in wanted:
                out["forces"] = pictures.draw_forces(run.meshes)
            if "maps" in wanted:
                chosen = [run.meshes[i] for i in pictures.strongest(run.meshes)]
                out["maps"] = pictures.draw_maps(chosen)
    return {name: figure for name, figure in out.items() if figure is not None}
