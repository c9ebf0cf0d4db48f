# SPDX-License-Identifier: GPL-3.0-or-later
"""Fields of a run at one of its output steps."""
from collections.abc import Mapping
from functools import cached_property

import h5py
import numpy as np

from .report import read


class Mesh(Mapping):
    """The meshes in a file of `diag`, on the moving grid: mesh["F"]["z"], mesh["phi"].

    Arrays [nx, ns] as in docs/output.md: rho [C/m^2], phi, psi [V]; dicts with "x" and "z" for J
    [A/m], A [V s/m], F, F_eff [eV/m]: components along the design normal and tangent at the node.
    x [nx], z [ns] [m]: of the nodes along the grid's axes, about its centre; s, offset [nx, ns]
    [m]: along the design orbit, ahead of the reference particle, and along its normal.
    S [m], time [s]: of the reference particle; step; gamma_ref; path. Arrays are read when they are
    asked for, and kept.
    """

    def __init__(self, path, orbit=None):
        self.path, self._orbit, self._read = path, orbit, {}
        read.with_file(path, self._load)

    def _load(self, step, iteration, _):
        rho = iteration["meshes/rho"]
        self.step, self._frame = step, read.frame_of(rho.attrs)
        self.S, self.gamma_ref = self._frame.s_ref, self._frame.gamma
        self.time = float(rho.attrs["t_ref"])
        self.x, self.z = (start + spacing * np.arange(n) for start, spacing, n in zip(
            rho.attrs["gridGlobalOffset"], rho.attrs["gridSpacing"], rho.shape))
        self._names = sorted(iteration["meshes"])

    @staticmethod
    def _values(record):
        if isinstance(record, h5py.Group) and "value" not in record.attrs:
            return {axis: Mesh._values(record[axis]) for axis in record}
        if isinstance(record, h5py.Group):
            return np.full(record.attrs["shape"], float(record.attrs["value"]))
        return record[()]

    def __getitem__(self, name):
        if name not in self._names:
            raise KeyError(f"{name} ({self.path.name} has {', '.join(self._names)})")
        if name not in self._read:
            self._read[name] = read.with_file(
                self.path, lambda step, iteration, file: self._values(iteration["meshes"][name]))
        return self._read[name]

    def __iter__(self):
        return iter(self._names)

    def __len__(self):
        return len(self._names)

    def __repr__(self):
        return (f"<meshes {', '.join(self._names)} [{len(self.x)}, {len(self.z)}] at S = "
                f"{self.S:.6g} m, step {self.step}>")

    @cached_property
    def _nodes(self):
        return self._frame.to_orbit(self.x[:, None], self.z[None, :],
                                    self._frame.orbit(self._orbit))

    @property
    def s(self):
        return self._nodes[0]

    @property
    def offset(self):
        return self._nodes[1]
