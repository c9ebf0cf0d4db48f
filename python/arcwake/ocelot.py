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

from .planes import PlaneKicks

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

    options: of arcwake.Field (grid, tolerance, device, ...). The past of the bunch begins with
    prepare, also in a copy (the navigator makes copies). kicks: the arcwake.PlaneKicks in use, with
    its log. Errors are ArcwakeError and ValueError with one line; the beam is then as Ocelot had
    tracked it.
    """

    def __init__(self, *, step=None, scale=1.0, **options):
        PhysProc.__init__(self, step=step or 1)
        self.fixed, self.scale, self.options = step, scale, options
        self.kicks = None

    def __getstate__(self):
        return {**self.__dict__, "kicks": None}

    def prepare(self, lat):
        """Take the design orbit from the lattice; a new past."""
        PhysProc.prepare(self, lat)
        self.orbit = orbit_of(lat, self.indx0 or 0, self.indx1)
        self.kicks, self.time, self.unit = None, 0.0, None
        if not self.fixed:
            self.step = self.counter = FIRST_STEP

    def apply(self, p_array, dz):
        """Kick the particles at the end of a step of length dz [m]."""
        if self.kicks is None:
            self.kicks = PlaneKicks(self.orbit, scale=self.scale, **self.options)
        gamma0 = p_array.E / m_e_GeV
        p0 = np.sqrt(gamma0**2 - 1)
        self.unit = self.unit or dz / self.step
        self.time += dz / (p0 / gamma0 * speed_of_light)
        end = self.kicks.steps.end
        S = min(self.z0 - self.s_start, end)
        x, px, _, py, tau, p = p_array.rparticles
        across = (px * p0)**2 + (py * p0)**2
        ps = np.sqrt((gamma0 + p * p0)**2 - 1 - across)
        ahead = min(self.step * self.unit, end - S) if self.fixed else None
        (tau, x, ps, px), ahead = self.kicks.kick(S, self.time, p0, (tau, x, ps, px * p0),
                                                  p_array.q_array, ahead)
        if ahead and not self.fixed:
            self.step = self.counter = ahead / self.unit
        gamma = np.sqrt(1 + ps**2 + px**2 + (py * p0)**2)
        p_array.rparticles[[0, 1, 4, 5]] = x, px / p0, tau, (gamma - gamma0) / p0
