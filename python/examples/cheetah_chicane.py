# SPDX-License-Identifier: GPL-3.0-or-later
"""Cheetah's maps with arcwake's self-field: the plain call for a code that goes by s.

    pip install cheetah-accelerator
    python cheetah_chicane.py

Tracks a bunch of 1 nC through the Berlin-Zeuthen chicane, in steps that arcwake proposes, and
prints what its field has done to it. Cheetah's gradients do not pass through the kicks.
"""
import cheetah
import numpy as np
import torch

import arcwake
from arcwake.planes import LIGHT, MASS_EV


def orbit_of(segment):
    """Design orbit: (length, curvature, e1, e2) of each element with a length."""
    def section(element):
        length = float(element.length)
        if isinstance(element, cheetah.Dipole):
            return length, float(element.hx), float(element.dipole_e1), float(element.dipole_e2)
        return length, 0.0, 0.0, 0.0
    return [section(element) for element in segment.elements if float(element.length) > 0]


def piece_of(element, begin, end):
    """What of an element lies between two of its places; a Dipole's faces are at its ends."""
    length = torch.tensor(end - begin, dtype=torch.float64)
    if isinstance(element, cheetah.Drift):
        return cheetah.Drift(length, tracking_method=element.tracking_method, dtype=torch.float64)
    if not isinstance(element, cheetah.Dipole):
        raise TypeError(f"{element.name}: a {type(element).__name__} is not cut here (expected "
                        "Drift or Dipole)")
    none = torch.tensor(0.0, dtype=torch.float64)
    return cheetah.Dipole(length, angle=element.hx * length,
                          dipole_e1=element.dipole_e1 if begin == 0 else none,
                          dipole_e2=element.dipole_e2 if end == float(element.length) else none,
                          tracking_method=element.tracking_method, dtype=torch.float64)


def kick(kicks, beam, s, time):
    """Kick a beam in the plane at s; returns it and the length of the step that follows."""
    gamma0 = float(beam.energy) / MASS_EV
    p0 = np.sqrt(gamma0**2 - 1)
    all_ = beam.particles.numpy().copy()
    x, px, _, py, tau, p, _ = all_.T
    ps = np.sqrt((gamma0 + p * p0)**2 - 1 - (px * p0)**2 - (py * p0)**2)
    (tau, x, ps, px), ahead = kicks.kick(s, time, p0, (tau, x, ps, px * p0),
                                         beam.particle_charges.numpy(), None)
    gamma = np.sqrt(1 + ps**2 + px**2 + (py * p0)**2)
    all_[:, 0], all_[:, 1], all_[:, 4], all_[:, 5] = x, px / p0, tau, (gamma - gamma0) / p0
    beam = cheetah.ParticleBeam(torch.from_numpy(all_), beam.energy,
                                particle_charges=beam.particle_charges, species=beam.species)
    return beam, ahead


def track(segment, beam, **options):
    """The beam behind a segment, and arcwake's log."""
    kicks = arcwake.PlaneKicks(orbit_of(segment), **options)
    speed = LIGHT * np.sqrt(1 - (MASS_EV / float(beam.energy))**2)
    s, begin = 0.0, 0.0
    beam, ahead = kick(kicks, beam, s, 0.0)
    for element in segment.elements:
        length, at = float(element.length), 0.0
        while at < length:
            to = min(at + ahead - (s - kicks.log[-1][0]), length)
            if length - to < 1e-9:
                to = length
            beam = piece_of(element, at, to).track(beam)
            s, at = begin + to, to
            if s - kicks.log[-1][0] > ahead - 1e-9:
                beam, ahead = kick(kicks, beam, s, s / speed)
        begin += length
    return beam, kicks.log


def zeuthen():
    def value(number):
        return torch.tensor(number, dtype=torch.float64)

    def bend(angle, e1, e2):
        return cheetah.Dipole(value(0.500194828041958), angle=value(angle), dipole_e1=value(e1),
                              dipole_e2=value(e2), tracking_method="second_order",
                              dtype=torch.float64)

    def drift(length):
        return cheetah.Drift(value(length), tracking_method="second_order",
                             dtype=torch.float64)
    a, long = 0.048345620280243, 5.0058489435
    return cheetah.Segment([bend(a, 0.0, a), drift(long), bend(-a, -a, 0.0), drift(1.0),
                            bend(-a, 0.0, -a), drift(long), bend(a, a, 0.0), drift(2.0)])


def bunch(x, angle, s, delta):
    """Electrons of 1 nC and 5 GeV at s = 0 from their places at one time."""
    particles = np.zeros((x.size, 7))
    particles[:, 0], particles[:, 1], particles[:, 4] = x - angle * s, angle, -s
    particles[:, 5], particles[:, 6] = delta, 1.0
    charge = torch.full((x.size,), 1e-9 / x.size, dtype=torch.float64)
    return cheetah.ParticleBeam(torch.from_numpy(particles), torch.tensor(5e9, dtype=torch.float64),
                                particle_charges=charge)


def main():
    rng = np.random.default_rng(1)
    g = rng.normal(size=(4, 20000))
    x = np.sqrt(1.0219979e-10 * 40) * g[1]
    angle = np.sqrt(1.0219979e-10 / 40) * g[2] - 2.6 / 40 * x
    beam = bunch(x, angle, 200e-6 * g[0], -36 * 200e-6 * g[0] + 2e-6 * g[3])
    after, log = track(zeuthen(), beam)
    change = (after.particles[:, 5] - beam.particles[:, 5]).numpy()
    print(f"{len(log)} steps; change of energy: mean {100 * change.mean():.4f} %, rms "
          f"{100 * change.std():.4f} %; normalised emittance "
          f"{1e6 * after.normalized_emittance_x:.3f} um")


if __name__ == "__main__":
    main()
