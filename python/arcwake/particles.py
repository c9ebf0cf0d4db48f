# SPDX-License-Identifier: GPL-3.0-or-later
"""Particles of a run at one of its output steps."""
from functools import cached_property

import numpy as np

from .report import beam, read
from .report.lattice import LIGHT, REST_EV
from .statistics import ParticleStatistics

EV_OVER_C = 1.602176634e-19 / LIGHT  # [kg m/s]


class Particles:
    """The particles in a file of `diag`, arrays [n].

    x, y, z [m], px, py, pz [eV/c]: in the design frame at S, z along the design tangent, x along
    the normal; t [s]: one time for all; weight [C]: charge of each, a magnitude; id.
    s, offset [m]: along the design orbit, ahead of the reference particle, and along the normal at
    the particle's own arc length: in a bend these are what monitor.csv counts in.
    S [m]: arc length of the reference particle; step; gamma_ref; path of the file.
    """

    def __init__(self, path, orbit=None):
        self.path, self._orbit = path, orbit
        read.with_file(path, self._load)

    def _load(self, step, iteration, _):
        species = iteration["particles/electron"]
        n = species["position/x"].shape[0]

        def array(name, unit=1.0):
            values = read.component(species[name], n, most=n)
            return np.full(n, values / unit) if np.ndim(values) == 0 else values / unit

        self.step, self._frame = step, read.frame_of(species.attrs)
        self.S, self.gamma_ref = self._frame.s_ref, self._frame.gamma
        self.x, self.y, self.z = (array(f"position/{axis}") for axis in "xyz")
        self.px, self.py, self.pz = (array(f"momentum/{axis}", EV_OVER_C) for axis in "xyz")
        self.t, self.weight = array("time"), np.abs(array("weight"))
        self.id = species["id"][()]

    def __len__(self):
        return len(self.x)

    def __repr__(self):
        return (f"<{len(self)} particles of {self.statistics['charge']:.4g} C at S = "
                f"{self.S:.6g} m, step {self.step}>")

    @cached_property
    def bunch(self):
        """The same in the coordinates of the design orbit, for slices and pictures."""
        unit = REST_EV
        return beam.Bunch.from_record(self._frame, (self.x, self.z),
                                      (self.px / unit, self.pz / unit), self.weight,
                                      step=self.step, orbit=self._orbit)

    @property
    def s(self):
        return self.bunch.s

    @property
    def offset(self):
        return self.bunch.x

    @property
    def statistics(self):
        """Statistics by openPMD-beamphysics' names: statistics["norm_emit_x"]."""
        return ParticleStatistics(self)

    def slices(self, n=None):
        """Slices of equal length along s: current, emittance, energy spread, centroid, arrays [n].

        n: how many; None: as many as have some hundreds of particles. The attributes are s,
        current, emittance, spread, delta, x, sigma_x, energy, charge, number (docs/python.md).
        """
        if n is not None and n < 1:
            raise ValueError(f"n: {n} (expected 1 or more)")
        return beam.slices(self.bunch, n)

    def current(self):
        """s [m] and current [A], arrays: a histogram of some thousand particles in the peak."""
        return beam.current(self.bunch)

    def to_beamphysics(self):
        """A ParticleGroup of openPMD-beamphysics, with a copy of the particles.

        ImportError: the package is not installed.
        """
        try:
            from beamphysics import ParticleGroup
        except ImportError as problem:
            raise ImportError("to_beamphysics needs openpmd-beamphysics (0.14 or later; "
                              "python3 -m pip install openpmd-beamphysics)") from problem
        data = {name: getattr(self, name).copy()
                for name in ("x", "px", "y", "py", "z", "pz", "t", "weight", "id")}
        data["status"] = np.ones(len(self), dtype=int)
        return ParticleGroup(data={**data, "species": "electron"})
