# SPDX-License-Identifier: GPL-3.0-or-later
"""Ocelot with arcwake's self-field: a physics process (package ocelot-collab).

    from arcwake.ocelot import Arcwake
    navi = Navigator(lattice)
    navi.add_physics_proc(Arcwake(), lattice.sequence[0], lattice.sequence[-1])
    track(lattice, p_array, navi)
"""
import numpy as np
from ocelot.common.globals import m_e_GeV, speed_of_light
from ocelot.cpbd.physics_proc import PhysProc

from .field import Field
from .one_time import at_one_place, at_one_time
from .steps import Steps

STRAIGHT = ("Drift", "Marker", "Monitor", "Quadrupole", "Sextupole", "Octupole", "Hcor", "Vcor",
            "Cavity", "TWCavity", "TDCavity", "Solenoid", "Aperture", "Pulse")
BENDS = ("Bend", "SBend", "RBend")
FIRST_STEP = 1e-6  # of the navigator's unit step: Ocelot shows no particles before the first step


def _section(element, place):
    """(length, curvature, e1, e2) of an element; ValueError if its orbit is not known."""
    kind, name = type(element).__name__, f"lattice element {place} ({element.id})"
    if kind in BENDS and element.angle != 0:
        sign = np.cos(element.tilt)
        if abs(abs(sign) - 1) > 1e-9:
            raise ValueError(f"{name}: a {kind} with tilt {element.tilt:g} bends out of the plane "
                             "(expected tilt 0 or pi)")
        sign = round(sign)
        if not element.l > 0:
            raise ValueError(f"{name}: a {kind} of zero length (expected l > 0)")
        return (element.l, sign * element.angle / element.l, sign * element.e1,
                sign * element.e2)
    if kind == "Multipole" and not np.any(np.atleast_1d(element.kn)[:1]):
        return element.l, 0.0, 0.0, 0.0
    if kind in STRAIGHT or kind in BENDS:
        return element.l, 0.0, 0.0, 0.0
    raise ValueError(f"{name}: the design orbit through a {kind} is not known (expected "
                     f"{', '.join(STRAIGHT + BENDS)}, or a Multipole that does not bend)")


def orbit_of(lattice, start=0, stop=None):
    """Design orbit of an Ocelot lattice, sections as of Field, from element start up to stop."""
    sequence = lattice.sequence[:stop]
    ahead = [e for e in sequence[:start] if e.l > 0]
    if ahead and type(ahead[-1]).__name__ in BENDS and ahead[-1].angle != 0:
        raise ValueError(f"lattice element {start}: the field begins right behind bend "
                         f"{ahead[-1].id}, and would lack what that makes (expected a start ahead "
                         "of the bend, or behind a straight)")
    sections = [_section(e, start + i) for i, e in enumerate(sequence[start:])]
    return [s for s in sections if s[0] > 0]


class Arcwake(PhysProc):
    """Self-field of the bunch, in two dimensions: coherent synchrotron radiation and space charge.

    Kicks px and p of all particles (and moves x and tau with the kicks). y and py are kept; py
    counts in the energy alone. The navigator's unit step does not matter: the lengths of the steps
    follow from lattice and bunch (arcwake.steps), scale multiplies them. Beside other processes use
    step instead: that many unit steps, always, as for Ocelot's own.

    options: of arcwake.Field (grid, tolerance, device, ...). A copy, also by the navigator, begins
    without a field, as prepare does. log: a row for each call: S [m], length of the step [m], mean
    change of energy [eV], estimated error of the potentials. Errors are ArcwakeError and ValueError
    with one line; after one the beam is as Ocelot had tracked it.
    """

    def __init__(self, *, step=None, scale=1.0, **options):
        PhysProc.__init__(self, step=step or 1)
        self.fixed, self.scale, self.options = step, scale, options
        self.field, self.log = None, []

    def __getstate__(self):
        return {**self.__dict__, "field": None}

    def prepare(self, lat):
        """Take the design orbit from the lattice; a new history."""
        PhysProc.prepare(self, lat)
        self.orbit = orbit_of(lat, self.indx0 or 0, self.indx1)
        self.steps = Steps(self.orbit, self.scale)
        self.field, self.log, self.time, self.unit = None, [], 0.0, None
        if not self.fixed:
            self.step = self.counter = FIRST_STEP

    def apply(self, p_array, dz):
        """Kick the particles at the end of a step of length dz [m]."""
        if self.field is None:
            self.field = Field(self.orbit, **self.options)
        gamma0 = p_array.E / m_e_GeV
        p0 = np.sqrt(gamma0**2 - 1)
        beta0 = p0 / gamma0
        self.unit = self.unit or dz / self.step
        self.time += dz / (beta0 * speed_of_light)
        S = min(self.z0 - self.s_start, self.steps.end)
        x, px, _, py, tau, p = p_array.rparticles
        py = py * p0
        px = px * p0
        ps = np.sqrt((gamma0 + p * p0)**2 - 1 - px**2 - py**2)
        # times relative to the reference particle's, which is at S now
        now = np.average(tau, weights=p_array.q_array) / speed_of_light
        s, *rest = at_one_time(self.orbit, S, p0, now, tau / speed_of_light, x, ps, px)
        self.field.observe(self.time + now, s, *rest, p_array.q_array)
        ahead = self._plan(S, s, *rest, p_array.q_array, dz)
        dps, dpx = self.field.kick(0.5 * ahead / (beta0 * speed_of_light), s.size)
        x, ps, px = rest
        t, x, ps, px = at_one_place(self.orbit, S, p0, now, s, x, ps + dps, px + dpx)
        gamma = np.sqrt(1 + ps**2 + px**2 + py**2)
        energy = np.average(gamma - gamma0 - p * p0, weights=p_array.q_array) * m_e_GeV * 1e9
        self.log.append((S, dz, energy, self.field.error()))
        p_array.rparticles[[0, 1, 4, 5]] = x, px / p0, t * speed_of_light, (gamma - gamma0) / p0

    def _plan(self, S, s, x, ps, px, charge, last):
        """Length of the next step [m]; 0 at the end."""
        left = self.steps.end - S
        if left < 1e-9:
            return 0.0
        if self.fixed:
            return min(self.step * self.unit, left)
        ahead = self.steps.next(S, s, x, ps, px, charge, last if self.log else None)
        self.step = self.counter = ahead / self.unit
        return ahead
