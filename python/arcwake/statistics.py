# SPDX-License-Identifier: GPL-3.0-or-later
"""Statistics by the names and units of openPMD-beamphysics: of particles, and along a run."""
from collections.abc import Mapping

import numpy as np

from .report.beam import energy_change
from .report.lattice import LIGHT, REST_EV

COORDINATES = ("x", "y", "z", "px", "py", "pz", "t")
DERIVED = {  # of particles p: lengths in m, momenta in eV/c, energies in eV
    "p": lambda p: np.sqrt(p.px**2 + p.py**2 + p.pz**2),
    "energy": lambda p: np.sqrt(p.px**2 + p.py**2 + p.pz**2 + REST_EV**2),
    "kinetic_energy": lambda p: DERIVED["energy"](p) - REST_EV,
    "gamma": lambda p: DERIVED["energy"](p) / REST_EV,
    "beta": lambda p: DERIVED["p"](p) / DERIVED["energy"](p),
    "beta_z": lambda p: p.pz / DERIVED["energy"](p),
    "xp": lambda p: p.px / p.pz,
    "yp": lambda p: p.py / p.pz,
}
OPERATORS = ("mean", "sigma", "min", "max", "ptp", "cov")
OTHERS = ("charge", "n_particle", "norm_emit_x", "norm_emit_y", "norm_emit_4d", "average_current")


class ParticleStatistics(Mapping):
    """Statistics of Particles, weighted by charge: statistics["norm_emit_x"].

    Names are `mean_`, `sigma_`, `min_`, `max_` and `ptp_` with x, y, z, px, py, pz, t, p, energy,
    kinetic_energy, gamma, beta, beta_z, xp, yp; `cov_x__px`; charge, n_particle, norm_emit_x,
    norm_emit_y, norm_emit_4d, average_current.
    """

    def __init__(self, particles):
        self._particles = particles

    def array(self, name):
        """A coordinate, or what follows from them, array [n]. KeyError: not known."""
        if name in COORDINATES:
            return getattr(self._particles, name)
        if name in DERIVED:
            return DERIVED[name](self._particles)
        raise KeyError(f"{name} (known: {', '.join([*COORDINATES, *DERIVED])}; to_beamphysics() "
                       "has more)")

    def _covariance(self, *names):
        return np.atleast_2d(np.cov([self.array(name) for name in names],
                                    aweights=self._particles.weight))

    def _emittance(self, *planes):
        names = [name for plane in planes for name in (plane, "p" + plane)]
        matrix = self._covariance(*names)
        return float(np.sqrt(max(np.linalg.det(matrix), 0.0))) / REST_EV ** len(planes)

    def _current(self):
        span = np.ptp(self._particles.t)
        if span == 0.0:
            span = np.ptp(self._particles.z) / (self["mean_beta_z"] * LIGHT)
        return self["charge"] / float(span)

    def _other(self, name):
        weight = self._particles.weight
        if name.startswith("norm_emit_"):
            planes = {"x": "x", "y": "y", "4d": "xy"}[name.rsplit("_", 1)[1]]
            return self._emittance(*planes)
        return {"charge": lambda: float(weight.sum()), "n_particle": lambda: len(weight),
                "average_current": self._current}[name]()

    def __getitem__(self, name):
        if name in OTHERS:
            return self._other(name)
        operator, _, rest = name.partition("_")
        if operator == "cov" and rest.count("__") == 1:
            return float(self._covariance(*rest.split("__"))[0, 1])
        if operator not in OPERATORS[:-1]:
            raise KeyError(f"{name} (expected mean_x, sigma_x, min_x, max_x, ptp_x, cov_x__px or "
                           f"one of {', '.join(OTHERS)})")
        values = self.array(rest)
        if operator in ("min", "max", "ptp"):
            return float(getattr(np, operator)(values))
        mean = np.average(values, weights=self._particles.weight)
        if operator == "mean":
            return float(mean)
        return float(np.sqrt(np.average((values - mean) ** 2, weights=self._particles.weight)))

    def __iter__(self):
        yield from OTHERS
        for name in (*COORDINATES, *DERIVED):
            yield f"mean_{name}"
            yield f"sigma_{name}"

    def __len__(self):
        return len(OTHERS) + 2 * (len(COORDINATES) + len(DERIVED))


def _momentum(monitor, energy):
    """beta gamma of the mean energy along the run."""
    gamma = (energy + energy_change(monitor)) / REST_EV
    return gamma, np.sqrt(gamma**2 - 1.0)


RUN = {  # of columns of monitor.csv and the mean energy at the start [eV]
    "charge": lambda m, e: m["charge_C"],
    "mean_t": lambda m, e: m["time_s"],
    "sigma_x": lambda m, e: m["sigma_x_m"],
    "sigma_z": lambda m, e: m["sigma_s_m"],
    "sigma_t": lambda m, e: m["sigma_s_m"] * np.divide(*_momentum(m, e)) / LIGHT,
    "mean_energy": lambda m, e: e + energy_change(m),
    "mean_gamma": lambda m, e: _momentum(m, e)[0],
    "norm_emit_x": lambda m, e: m["emittance_x_m"] * _momentum(m, e)[1],
}


class RunStatistics(Mapping):
    """Statistics along a run, arrays [rows of monitor.csv], of its columns (docs/python.md)."""

    def __init__(self, monitor, energy):
        self._monitor, self._energy = monitor, energy

    def __getitem__(self, name):
        if name not in RUN:
            raise KeyError(f"{name} (monitor.csv gives {', '.join(RUN)}; particles have more)")
        return RUN[name](self._monitor, self._energy)

    def __iter__(self):
        return iter(RUN)

    def __len__(self):
        return len(RUN)
