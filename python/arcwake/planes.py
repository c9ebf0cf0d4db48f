# SPDX-License-Identifier: GPL-3.0-or-later
"""Kicks for tracking codes that go by s: they have the particles in a plane across the orbit."""
import numpy as np

from .field import Field
from .one_time import at_one_place, at_one_time
from .steps import Steps

LIGHT = 299792458.0
MASS_EV = 510998.95  # of the electron
CHARGE = 1.602176634e-19


class PlaneKicks:
    """The self-field of a bunch that is shown plane by plane.

    orbit: design orbit, sections as of Field; s = 0, where it begins, is the first plane or lies
    ahead of it. scale: of the lengths that next_step proposes. options: of Field.
    log: a row for each call: s [m], length of the step to come [m], mean change of energy [eV],
    estimated error of the potentials.
    """

    def __init__(self, orbit, *, scale=1.0, **options):
        self.orbit = [tuple(section) for section in orbit]
        self.field = Field(self.orbit, **options)
        self.steps = Steps(self.orbit, scale)
        self.log, self._last = [], None

    def kick(self, s, time, p0, particles, charge, ahead):
        """Kick particles that are in the plane at s.

        time: when the reference particle is there [s]; p0: reference momentum [m c]; particles:
        (tau, x, ps, px): c times the time of arrival after the reference particle [m], offset along
        the normal [m], momenta along the tangent and normal [m c]; charge: of each, magnitudes [C];
        ahead: length of the step to come [m], 0 at the end, None: proposed by arcwake.steps.

        Returns (tau, x, ps, px) after the kick, new arrays, and the length of the step to come.
        Raises ArcwakeError, ValueError: then nothing was kicked.
        """
        tau, x, ps, px = (np.asarray(a, dtype=float) for a in particles)
        charge = np.broadcast_to(np.asarray(charge, dtype=float), tau.shape)
        if not charge.sum() > 0:
            raise ValueError("the bunch has no charge")
        now = np.average(tau, weights=charge) / LIGHT
        beta = p0 / np.sqrt(1 + p0**2)
        places, x, ps, px = at_one_time(self.orbit, s, p0, now, tau / LIGHT, x, ps, px)
        self.field.observe(time + now, places, x, ps, px, charge)
        if ahead is None:
            left = self.steps.end - s
            ahead = 0.0 if left < 1e-9 else self.steps.next(s, places, x, ps, px, charge,
                                                            self._last)
            self._last = ahead if self.log else None
        dps, dpx = self.field.kick(0.5 * ahead / (beta * LIGHT), places.size)
        energy = np.hypot(1, np.hypot(ps + dps, px + dpx)) - np.hypot(1, np.hypot(ps, px))
        arrival, x, ps, px = at_one_place(self.orbit, s, p0, now, places, x, ps + dps, px + dpx)
        self.log.append((s, ahead, MASS_EV * np.average(energy, weights=charge),
                         self.field.error()))
        return (LIGHT * arrival, x, ps, px), ahead
