# SPDX-License-Identifier: GPL-3.0-or-later
"""What a run left in its directory."""
import math
from functools import cached_property
from pathlib import Path

import numpy as np

from .errors import ArcwakeError
from .report import lattice, read
from .report.beam import energy_change
from .statistics import RunStatistics

# Results of a run as `arcwake certify` names them; peaks are the largest of the run.
LAST = ("energy_change_mean_eV", "energy_change_rms_eV", "emittance_x_m",
        "emittance_x_dispersion_free_m", "sigma_s_m", "sigma_x_m", "current_peak_A",
        "F_s_mean_eV_per_m", "F_x_mean_eV_per_m")
PEAKS = ("F_s_peak_eV_per_m", "F_x_peak_eV_per_m")
REACHED = 1e-3  # part of a step that may be missing at a place (reached() in src/app/run/run.c)
PICTURES = ("machine", "phase_space", "slices", "forces", "maps")


class Result:
    """The output directory of a run; files are read when they are asked for.

    directory; warnings: lines of the program; stopped: None, or why the run stopped before its end.
    Errors of files are ArcwakeError.
    """

    def __init__(self, directory, warnings=(), stopped=None):
        self.directory = Path(directory)
        self.warnings, self.stopped = list(warnings), stopped
        if not (self.directory / "monitor.csv").exists():
            raise ArcwakeError(f"{self.directory}: there is no monitor.csv (expected the output "
                               "directory of a run)", directory=self.directory)

    def __repr__(self):
        steps = len(self.monitor["step"]) if self.monitor else 0
        return f"<run in {self.directory}: {steps} steps{', stopped' if self.stopped else ''}>"

    # --------------------------------------------------------------------------------- the tables

    @cached_property
    def monitor(self):
        """Columns of monitor.csv, arrays [rows], empty cells NaN: monitor["emittance_x_m"]."""
        found = read.read_monitor(self.directory / "monitor.csv")
        if found is None:
            raise ArcwakeError(f"{self.directory / 'monitor.csv'}: has no row",
                               directory=self.directory)
        return found

    @property
    def statistics(self):
        """The same by openPMD-beamphysics' names: statistics["norm_emit_x"], arrays [rows]."""
        return RunStatistics(self.monitor, self.energy)

    @cached_property
    def _input(self):
        path = self.directory / "resolved.yaml"
        try:
            return read.read_input(path.read_text(encoding="utf-8"), self.directory)
        except (OSError, UnicodeDecodeError) as problem:
            raise ArcwakeError(f"{path}: cannot be read: {problem}",
                               directory=self.directory) from problem

    def _known(self, part, what):
        """A part of resolved.yaml; ArcwakeError: it is empty."""
        if not part:
            raise ArcwakeError(f"{self.directory / 'resolved.yaml'}: "
                               f"{self._input[2] or f'has no {what}'} (expected the file that the "
                               "run wrote)", directory=self.directory)
        return part

    @property
    def input(self):
        """Keys of resolved.yaml, joined by dots, and their values as texts."""
        return self._known(self._input[0], "key")

    @property
    def elements(self):
        """Elements of the lattice, with name, kind, begin and length [m], curvature [1/m]."""
        return self._known(self._input[1], "lattice")

    @cached_property
    def energy(self):
        """Mean total energy of the particles at the start [eV]: of the first file with particles,
        less what they had gained by then."""
        first = self.beam_at(self.monitor["s_ref_m"][0])
        row = np.flatnonzero(self.monitor["step"] == first.step)[0]
        return first.statistics["mean_energy"] - float(energy_change(self.monitor)[row])

    @cached_property
    def certificate(self):
        """Error bars of `arcwake certify`: {name: {value, unit, U, U_grid ..}}; None: no such file,
        or one of another run in this directory."""
        path = self.directory / "certificate.json"
        if not path.exists():
            return None
        found = {one["quantity"]: one for one in read.read_certificate(path)}
        for name in LAST[:6]:  # known at every step
            if name in found and not math.isclose(found[name]["value"], self.monitor[name][-1],
                                                  rel_tol=1e-12):
                return None
        return found

    @cached_property
    def summary(self):
        """Results of the run, by their names in monitor.csv: at its last step that has them, of
        peak forces the largest. With a certificate, `<name>_error` is the 95 % error bar."""
        out = {}
        for name in (*LAST, *PEAKS):
            known = self.monitor[name][np.isfinite(self.monitor[name])] \
                if name in self.monitor else np.empty(0)
            if known.size:
                out[name] = float(known[np.argmax(np.abs(known))] if name in PEAKS else known[-1])
        for name, one in (self.certificate or {}).items():
            out[name], out[f"{name}_error"] = one["value"], one["U"]
        return out

    # ---------------------------------------------------------------------------------- the files

    @cached_property
    def _orbit(self):
        return lattice.Orbit.of_elements(self.elements)

    @cached_property
    def files(self):
        """Mesh files: {S of the reference particle [m]: path}, in order."""
        place = dict(zip(self.monitor["step"].astype(int), self.monitor["s_ref_m"].tolist()))
        found = {}
        for path in sorted((self.directory / "diag").glob("arcwake_*.h5")):
            step = int(path.stem.split("_")[1])
            if step in place:
                found[place[step]] = path
        return found

    def _at(self, S, wanted, what):
        """The first file at or after S that has `wanted`; S None: the last."""
        paths = list(self.files.values())[::-1]
        if S is not None:
            all_S = self.monitor["s_ref_m"]
            slack = REACHED * np.gradient(all_S) if len(all_S) > 1 else 0.0 * all_S
            first = all_S[all_S + slack >= S]
            paths = [path for place, path in self.files.items()
                     if len(first) and place >= first[0]]
        for path in paths:
            if read.with_file(path, lambda step, iteration, file: wanted in iteration):
                return path
        raise ArcwakeError(f"{self.directory}/diag: no {what} at or after S = {S} m (the run ends "
                           f"at {self.monitor['s_ref_m'][-1]:.6g} m; output.at_m and "
                           "output.particles_at_m say where files are written)" if S is not None
                           else f"{self.directory}/diag: no {what}", directory=self.directory)

    def mesh(self, S=None):
        """The Mesh of the first file at or after S [m]; None: the last file."""
        from .mesh import Mesh
        return Mesh(self._at(S, "meshes/rho", "mesh"), self._orbit)

    def beam_at(self, S):
        """The Particles of the first file at or after S [m] that has some; None: the last."""
        from .particles import Particles
        return Particles(self._at(S, "particles/electron", "particles"), self._orbit)

    @cached_property
    def beam(self):
        """The last Particles of the run."""
        return self.beam_at(None)

    def slices(self, n=None, S=None):
        """Slices of the Particles at or after S [m]; None: the last. See Particles.slices."""
        return (self.beam if S is None else self.beam_at(S)).slices(n)

    # ------------------------------------------------------------------------------- the pictures

    def plot(self, what=None):
        """Pictures by matplotlib: a figure, or with None a dict of all for which there are files.

        what: "machine" (monitor.csv along S), "phase_space" (with the current), "slices",
        "forces" (on the axis of the bunch), "maps" (from above).
        """
        from .plot import draw
        if what is not None and what not in PICTURES:
            raise ValueError(f"what: '{what}' (expected one of {', '.join(PICTURES)})")
        figures = draw(self, PICTURES if what is None else (what,))
        if what is None:
            return figures
        if what not in figures:
            raise ArcwakeError(f"{self.directory}: nothing for the picture '{what}' (no files "
                               "with it, or nothing that changes)", directory=self.directory)
        return figures[what]
