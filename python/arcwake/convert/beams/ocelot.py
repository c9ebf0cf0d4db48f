# SPDX-License-Identifier: GPL-3.0-or-later
"""Ocelot: a ParticleArray in an .npz file, as its save_particle_array writes it.

rparticles: x, px/p0, y, py/p0, tau = c (t - t0), p = (E - E0)/(p0 c), of particles at one place;
q_array [C]; E, the reference total energy [GeV]. Source: Ocelot, `cpbd/beam.py` and `cpbd/io.py`.
"""
from ..problems import ConvertError
from .beam import C, M_E, Beam


def recognise(path, head):
    return head.startswith(b"PK") and path.suffix.lower() == ".npz"


def read(path, scaled):
    import numpy as np
    with np.load(path, allow_pickle=False) as file:
        missing = [name for name in ("rparticles", "q_array", "E") if name not in file]
        if missing:
            raise ConvertError(f"{path}: has no {', '.join(missing)} (expected a ParticleArray of "
                               "Ocelot)")
        r, charge, energy = file["rparticles"], file["q_array"], 1.0e9 * float(file["E"])
    if r.ndim != 2 or r.shape[0] != 6:
        raise ConvertError(f"{path}: rparticles has the shape {r.shape} (expected (6, n))")
    if not energy > M_E:
        raise ConvertError(f"{path}: the reference energy is {energy:g} eV")
    p0 = np.sqrt((energy - M_E) * (energy + M_E))
    own = energy + r[5] * p0
    px, py = r[1] * p0, r[3] * p0
    pz = np.sqrt((own - M_E) * (own + M_E) - px ** 2 - py ** 2)
    return Beam(r[0], r[2], 0.0, px, py, pz, r[4] / C, np.abs(charge))
