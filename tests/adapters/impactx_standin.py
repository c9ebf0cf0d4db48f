# SPDX-License-Identifier: GPL-3.0-or-later
"""A stand-in for the Python package impactx, which is not everywhere: not ImpactX.

It has the part of the interface that arcwake.impactx uses, under the same names and with the same
meaning (ImpactX 26: its manual, "Extend a Simulation with Python" and "Accessing Beam Particle
Data", and its tests of csr_kick_model), and calls hooks and model in the same order. The particles
are moved by arcwake.at_one_place, exactly, through Sbend and Drift; DipEdge only says where the
pole faces are.
"""
import sys
import types
from dataclasses import dataclass, field

import numpy as np

import arcwake
from arcwake.planes import CHARGE, LIGHT


@dataclass
class Element:
    name: str
    ds: float = 0.0
    nslice: int = 1


@dataclass
class Drift(Element):
    pass


class Sbend(Element):
    def __init__(self, name, ds, nslice=1, rc=1.0, rotation=0.0):
        super().__init__(name, ds, nslice)
        self._rc, self.rotation = rc, rotation

    def rc(self, ref=None):
        return self._rc


@dataclass
class DipEdge(Element):
    psi: float = 0.0
    rc: float = 1.0
    model: str = "linear"
    location: str = "entry"


@dataclass
class LinearMap(Element):
    pass


@dataclass
class RefPart:
    gamma: float
    s: float = 0.0
    t: float = 0.0  # c times the time [m]

    @property
    def beta_gamma(self):
        return np.sqrt(self.gamma**2 - 1)

    @property
    def beta(self):
        return self.beta_gamma / self.gamma


class Soa:
    """Columns of a tile; to_xp gives the arrays themselves."""

    def __init__(self, real, idcpu):
        self.real, self.idcpu = real, idcpu

    def to_xp(self):
        return self


class Tile:
    def __init__(self, real, idcpu):
        self._soa = Soa(real, idcpu)

    def soa(self):
        return self._soa


class Beam:
    """Two tiles, the second one in reverse order, as sorting by cells may leave them."""
    finest_level = 0

    def __init__(self, gamma, columns, charge):
        n = columns["position_x"].size
        real = {name: np.array(values, dtype=float) for name, values in columns.items()}
        real["position_y"] = np.zeros(n)
        real.setdefault("momentum_y", np.zeros(n))
        real["weighting"] = np.full(n, charge / n / CHARGE)
        ids, half = np.arange(n), n // 2
        order = np.concatenate([ids[:half], ids[half:][::-1]])
        self.ref = RefPart(gamma)
        self.tiles = [Tile({k: v[part].copy() for k, v in real.items()}, ids[part])
                      for part in (order[:half], order[half:])]

    def column(self, name):
        """In the order of the ids."""
        order = np.argsort(np.concatenate([t.soa().idcpu for t in self.tiles]))
        return np.concatenate([t.soa().real[name] for t in self.tiles])[order]


def ImpactXParIter(container, level):
    return iter(container.tiles if level == 0 else [])


@dataclass
class ImpactX:
    beam: Beam = None
    lattice: list = field(default_factory=list)
    hook: dict = field(default_factory=dict)
    tracking_element: Element = None

    def track_particles(self):
        from arcwake.impactx import orbit_of
        orbit = orbit_of(self.lattice, self.beam.ref)
        for self.tracking_element in self.lattice:
            for _ in range(self.tracking_element.nslice):
                self.hook.get("before_slice", lambda sim: None)(self)
                if self.tracking_element.ds > 0:
                    self._push(orbit, self.tracking_element.ds / self.tracking_element.nslice)
            self.hook.get("after_element", lambda sim: None)(self)
        self.tracking_element = None

    def _push(self, orbit, ds):
        ref = self.beam.ref
        p0 = ref.beta_gamma
        for tile in self.beam.tiles:
            real = tile.soa().real
            gamma = ref.gamma - p0 * real["momentum_t"]
            px = p0 * real["momentum_x"]
            ps = np.sqrt(gamma**2 - 1 - px**2)
            time, x, _, px = arcwake.at_one_place(orbit, ref.s + ds, p0, 0.0, ref.s,
                                                  real["position_x"], ps, px)
            real["position_t"] += LIGHT * time - ds / ref.beta
            real["position_x"][:] = x
            real["momentum_x"][:] = px / p0
        ref.s += ds
        ref.t += ds / ref.beta


def install():
    """Make `import impactx` find this."""
    module = types.ModuleType("impactx")
    module.ImpactXParIter = ImpactXParIter
    sys.modules["impactx"] = module
