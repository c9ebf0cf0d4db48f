# SPDX-License-Identifier: GPL-3.0-or-later
"""The Berlin-Zeuthen chicane (inputs/zeuthen_chicane.yaml) in Ocelot's terms, with results."""
import numpy as np
from ocelot.cpbd.beam import ParticleArray
from ocelot.cpbd.elements import Drift, Marker, SBend
from ocelot.cpbd.magnetic_lattice import MagneticLattice
from ocelot.cpbd.navi import Navigator
from ocelot.cpbd.track import track
from ocelot.cpbd.transformations.second_order import SecondTM
from scipy.special import ndtri
from scipy.stats import qmc

LENGTH, ANGLE = 0.500194828041958, 0.048345620280243
EMITTANCE, BETA, ALPHA = 1.0219979e-10, 40.0, 2.6
SIGMA, CHIRP, SPREAD, CHARGE, ENERGY = 200e-6, -36.0, 2e-6, 1e-9, 5.0


def lattice():
    """Four rectangular magnets, the faces across the straight line of the start."""
    a = ANGLE
    return MagneticLattice([
        Marker(eid="begin"),
        SBend(l=LENGTH, angle=a, e1=0.0, e2=a, eid="b1"), Drift(l=5.0058489435, eid="d1"),
        SBend(l=LENGTH, angle=-a, e1=-a, e2=0.0, eid="b2"), Drift(l=1.0, eid="d2"),
        SBend(l=LENGTH, angle=-a, e1=0.0, e2=-a, eid="b3"), Drift(l=5.0058489435, eid="d3"),
        SBend(l=LENGTH, angle=a, e1=a, e2=0.0, eid="b4"), Drift(l=2.0, eid="d4"),
        Marker(eid="end")], method={"global": SecondTM})


def beam(n, seed=1):
    """Quasi-random Gaussian bunch, cut at 5 sigma, at s = 0."""
    g = ndtri(qmc.Sobol(4, seed=seed).random(n) * (1 - 2 * 2.87e-7) + 2.87e-7)
    s = SIGMA * g[:, 0]
    x = np.sqrt(EMITTANCE * BETA) * g[:, 1]
    angle = (np.sqrt(EMITTANCE / BETA) * g[:, 2] - ALPHA / BETA * x)
    bunch = ParticleArray(n)
    bunch.E = ENERGY
    bunch.q_array[:] = CHARGE / n
    bunch.rparticles[0] = x - angle * s
    bunch.rparticles[1] = angle
    bunch.rparticles[4] = -s
    bunch.rparticles[5] = CHIRP * s + SPREAD * g[:, 3]
    return bunch


def emittance(p_array):
    """Projected, geometric [m]."""
    c = np.cov(p_array.rparticles[:2])
    return np.sqrt(np.linalg.det(c))


def run(n, process, seed=1):
    """Track; returns mean and rms change of energy over ENERGY, emittance over that at the start,
    and the process as it was used."""
    lat, bunch = lattice(), beam(n, seed)
    begin, start = bunch.rparticles[5].copy(), emittance(bunch)
    navi = Navigator(lat, unit_step=0.1)
    if process:
        navi.add_physics_proc(process, lat.sequence[0], lat.sequence[-1])
    track(lat, bunch, navi, print_progress=False, calc_tws=False)
    change = bunch.rparticles[5] - begin
    return change.mean(), change.std(), emittance(bunch) / start, bunch
