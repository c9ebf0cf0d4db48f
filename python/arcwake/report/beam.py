# SPDX-License-Identifier: GPL-3.0-or-later
"""Physics of the report: bunches and fields in the coordinates of the design orbit.

s [m] is the arc length ahead of the reference particle (the head has s > 0), x [m] the offset along
the normal at the particle's own arc length.
"""
import math
from dataclasses import dataclass

import numpy as np

from .lattice import LIGHT, Orbit

COULOMB = 8.9875517923e9  # 1/(4 pi eps0) [V m/C]
REST_EV = 510998.95


@dataclass
class Frame:
    """Where a record lies: its axes in the lab, and the reference particle."""

    origin: np.ndarray  # lab (x, y, z) [m]
    rotation: np.ndarray  # r_lab = origin + rotation r
    design: np.ndarray  # the same for the design normal and tangent
    s_ref: float
    kappa: float
    gamma: float

    def orbit(self, lattice_orbit=None):
        """The orbit of the lattice if it passes here, else a circle of this curvature."""
        if lattice_orbit is not None:
            z, x, direction, _ = lattice_orbit.at(self.s_ref)
            apart = math.hypot(self.origin[2] - z, self.origin[0] - x)
            turned = self.design[0, 2] * np.cos(direction) - self.design[2, 2] * np.sin(direction)
            if apart < 0.05 and abs(turned) < 1e-3:
                return lattice_orbit
        direction = math.atan2(self.design[0, 2], self.design[2, 2])
        return Orbit([self.s_ref], [self.kappa], (self.origin[2], self.origin[0], direction))

    def to_lab(self, x, z):
        """Lab z and x [m] of points given along the record's axes."""
        r, o = self.rotation, self.origin
        return o[2] + r[2, 0] * x + r[2, 2] * z, o[0] + r[0, 0] * x + r[0, 2] * z

    def to_orbit(self, x, z, orbit):
        """s and x of points given along the record's axes."""
        lab_z, lab_x = self.to_lab(x, z)
        z0, x0, direction, _ = orbit.at(self.s_ref)
        guess = (lab_z - z0) * np.cos(direction) + (lab_x - x0) * np.sin(direction)
        s, across = orbit.project(lab_z, lab_x, self.s_ref + guess)
        return s - self.s_ref, across

    def from_orbit(self, s, x, orbit):
        """The inverse: x and z along the record's axes of points s, x."""
        z0, x0, direction, _ = orbit.at(self.s_ref + s)
        dz = z0 - x * np.sin(direction) - self.origin[2]
        dx = x0 + x * np.cos(direction) - self.origin[0]
        r = self.rotation
        return r[0, 0] * dx + r[2, 0] * dz, r[0, 2] * dx + r[2, 2] * dz


@dataclass
class Mesh:
    """The fields of one mesh file, [ix][iz] on nodes x, z [m] along the grid's axes."""

    step: int
    frame: Frame
    x: np.ndarray
    z: np.ndarray
    rho: np.ndarray  # magnitude [C/m^2]
    force_z: np.ndarray  # [eV/m], along the design tangent
    force_x_eff: np.ndarray  # [eV/m], along the design normal; None: of the line model
    orbit: Orbit = None  # None: the circle of the frame

    def __post_init__(self):
        self.orbit = self.frame.orbit(self.orbit)
        self.node_s, self.node_x = self.frame.to_orbit(self.x[:, None], self.z[None, :],
                                                       self.orbit)

    def spacing(self):
        """Spacing of the nodes across and along the grid."""
        return (self.x[-1] - self.x[0]) / (len(self.x) - 1), \
            (self.z[-1] - self.z[0]) / (len(self.z) - 1)

    def moments(self):
        """Mean s, mean x, rms s, rms x of the charge, and the slope <xs>/<ss> of its axis."""
        weight = self.rho / self.rho.sum()
        s, x = (weight * self.node_s).sum(), (weight * self.node_x).sum()
        ds, dx = self.node_s - s, self.node_x - x
        ss, xx = (weight * ds * ds).sum(), (weight * dx * dx).sum()
        return s, x, math.sqrt(ss), math.sqrt(xx), (weight * ds * dx).sum() / ss

    def line_charge(self):
        """s [m], equally spaced, and the charge per unit length there [C/m]."""
        hx, hz = self.spacing()
        toward = self.frame.design[:, 2] @ self.frame.rotation
        spacing = max(hx * abs(toward[0]), hz * abs(toward[2]))
        # bins on the nodes of an untilted grid, so that nothing is smoothed there
        first = self.node_s[len(self.x) // 2, 0 if toward[2] > 0.0 else -1]
        at = (self.node_s - first) / spacing
        lowest = math.floor(at.min())
        at = at - lowest
        cell = np.floor(at + 1e-6).astype(int)
        part = np.clip(at - cell, 0.0, 1.0)
        charge = self.rho * hx * hz
        bins = int(cell.max()) + 2
        total = np.bincount(cell.ravel(), (charge * (1.0 - part)).ravel(), bins)
        total += np.bincount(cell.ravel() + 1, (charge * part).ravel(), bins)
        return first + spacing * (lowest + np.arange(bins)), total / spacing

    def along(self, field, s):
        """Values of a field on the bunch's own axis x = <x> + slope (s - <s>); outside NaN."""
        mean_s, mean_x, _, _, slope = self.moments()
        x, z = self.frame.from_orbit(s, mean_x + slope * (s - mean_s), self.orbit)
        hx, hz = self.spacing()
        i, j = (x - self.x[0]) / hx, (z - self.z[0]) / hz
        rounding = 1e-6  # a node on the rim is inside
        inside = ((i > -rounding) & (i < len(self.x) - 1 + rounding)
                  & (j > -rounding) & (j < len(self.z) - 1 + rounding))
        i, j = np.clip(i, 0.0, len(self.x) - 1.0), np.clip(j, 0.0, len(self.z) - 1.0)
        a = np.minimum(i.astype(int), len(self.x) - 2)
        b = np.minimum(j.astype(int), len(self.z) - 2)
        u, v = i - a, j - b
        value = ((1 - u) * ((1 - v) * field[a, b] + v * field[a, b + 1])
                 + u * ((1 - v) * field[a + 1, b] + v * field[a + 1, b + 1]))
        return np.where(inside, value, np.nan)


@dataclass
class Bunch:
    """Macro-particles of one file in the coordinates of the design orbit, arrays [n]."""

    step: int
    s_ref: float
    gamma_ref: float
    s: np.ndarray  # [m]
    x: np.ndarray  # [m]
    ux: np.ndarray  # momentum along the normal over m c
    us: np.ndarray  # along the tangent
    charge: np.ndarray  # magnitude of each [C]

    def __post_init__(self):
        self.delta = np.sqrt(1.0 + self.ux**2 + self.us**2) / self.gamma_ref - 1.0

    @classmethod
    def from_record(cls, frame, position, momentum, charge, **more):
        """From x, z [m] and p_x, p_z over m c along the record's axes, and each charge [C]."""
        orbit = frame.orbit(more.pop("orbit", None))
        s, x = frame.to_orbit(*position, orbit)
        r = frame.rotation
        lab_z = r[2, 0] * momentum[0] + r[2, 2] * momentum[1]
        lab_x = r[0, 0] * momentum[0] + r[0, 2] * momentum[1]
        direction = orbit.at(frame.s_ref + s)[2]
        cosine, sine = np.cos(direction), np.sin(direction)
        return cls(s_ref=frame.s_ref, gamma_ref=frame.gamma, s=s, x=x,
                   us=lab_z * cosine + lab_x * sine, ux=lab_x * cosine - lab_z * sine,
                   charge=np.broadcast_to(charge, s.shape), **more)

    def mean(self, values):
        return float(np.average(values, weights=self.charge))

    def rms(self, values):
        """Rms about the mean."""
        return math.sqrt(self.mean((values - self.mean(values)) ** 2))

    def emittance(self):
        """Normalised, of x and p_x/(m c) [m rad]."""
        x, u = self.x - self.mean(self.x), self.ux - self.mean(self.ux)
        return math.sqrt(max(self.mean(x * x) * self.mean(u * u) - self.mean(x * u) ** 2, 0.0))

    def core(self):
        """Half the length that holds the middle 68 % of the particles: sigma of a Gaussian."""
        low, high = np.quantile(self.s, (0.1587, 0.8413))
        return max(0.5 * (high - low), 1e-12)


def current(bunch):
    """Bin centres s [m] and the current there [A]; its integral over s/(beta c) is the charge."""
    # at the peak of a Gaussian a bin holds a thousand particles or more, 3 % at random
    width = bunch.core() * float(np.clip(2500.0 / len(bunch.s), 0.04, 0.4))
    low, high = bunch.s.min(), bunch.s.max()
    middle = bunch.mean(bunch.s)
    below, above = math.ceil((middle - low) / width + 1.0), math.ceil((high - middle) / width + 1.0)
    if below + above > 100000:  # a few particles far away
        below, above = (int(min(side, 50000)) for side in (below, above))
    edges = middle + width * np.arange(-below, above + 1)
    charge, _ = np.histogram(bunch.s, edges, weights=bunch.charge)
    speed = LIGHT * math.sqrt(1.0 - bunch.gamma_ref**-2)
    return 0.5 * (edges[1:] + edges[:-1]), charge * speed / width


@dataclass
class Slices:
    """Slices of equal length, arrays [n]; means and widths of those with few particles are NaN.

    slices["norm_emit_x"] .. are the same by openPMD-beamphysics' names, as in `ALIASES`.
    """

    s: np.ndarray  # centres [m]
    current: np.ndarray  # [A]
    emittance: np.ndarray  # normalised [m rad]
    spread: np.ndarray  # rms energy deviation [eV]
    delta: np.ndarray  # mean relative energy deviation
    x: np.ndarray  # mean offset [m]
    sigma_x: np.ndarray  # rms offset about it [m], of a tilted slice too
    energy: np.ndarray  # mean [eV]
    charge: np.ndarray  # [C]
    number: np.ndarray  # of particles

    def __getitem__(self, name):
        return getattr(self, ALIASES.get(name, name))

    def keys(self):
        """Names that slices[name] knows."""
        return [*self.__dataclass_fields__, *ALIASES]


# openPMD-beamphysics' names of what Slices holds
ALIASES = {"mean_z": "s", "average_current": "current", "norm_emit_x": "emittance",
           "sigma_energy": "spread", "mean_x": "x", "mean_energy": "energy",
           "n_particle": "number"}


def slices(bunch, count=None, fewest=100):
    """Slice parameters; within a slice the part linear in s is taken out of x, p_x and energy.

    A chirp, or a tilt, would otherwise count in proportion to the length of the slice. `count`
    slices hold the middle 99.8 % of the particles; None: as many as have some hundreds.
    """
    if count is None:
        count = int(np.clip(math.sqrt(len(bunch.s)) / 4.0, 8, 80))
    low, high = np.quantile(bunch.s, (0.001, 0.999))
    edges = np.linspace(low, high, count + 1)
    slot = np.searchsorted(edges, bunch.s, side="right") - 1
    inside = (slot >= 0) & (slot < count)
    slot, charge = slot[inside], bunch.charge[inside]
    total = np.bincount(slot, charge, count)
    number = np.bincount(slot, minlength=count)
    with np.errstate(invalid="ignore", divide="ignore"):
        def mean(values):
            return np.bincount(slot, charge * values, count) / total

        given = [bunch.s[inside], bunch.x[inside], bunch.ux[inside], bunch.delta[inside]]
        means = [mean(values) for values in given]
        s, x, u, d = (values - middle[slot] for values, middle in zip(given, means))
        width, ss = np.sqrt(mean(x * x)), mean(s * s)
        x, u, d = (values - (mean(values * s) / ss)[slot] * s for values in (x, u, d))
        emittance = np.sqrt(np.maximum(mean(x * x) * mean(u * u) - mean(x * u) ** 2, 0.0))
        spread = np.sqrt(mean(d * d)) * bunch.gamma_ref * REST_EV
    few = number < fewest
    for values in (emittance, spread, means[1], means[3], width):
        values[few] = np.nan
    speed = LIGHT * math.sqrt(1.0 - bunch.gamma_ref**-2)
    return Slices(s=0.5 * (edges[1:] + edges[:-1]), current=total * speed / (edges[1] - edges[0]),
                  emittance=emittance, spread=spread, delta=means[3], x=means[1], sigma_x=width,
                  energy=(1.0 + means[3]) * bunch.gamma_ref * REST_EV, charge=total,
                  number=number)


def derivative(values, spacing):
    """Slope of a cubic fitted to 7 points (Savitzky and Golay 1964): fourth order, low noise."""
    weights = np.array([22, -67, -58, 0, 58, 67, -22]) / 252.0
    return np.correlate(values, weights, mode="same") / spacing


def steady_forces(s, line_charge, kappa):
    """Forces of a line bunch in the steady state on a circle [eV/m]: F_s and F_x_eff.

    s [m] ascending and equally spaced, line_charge [C/m] at s, kappa [1/m]. The integral of
    u^(-1/3) lambda'(s-u) is exact for a lambda' that is linear in each cell. Sources:
    Derbenev, Rossbach, Saldin, Shiltsev, TESLA-FEL 1995-05 (longitudinal); R. Li, PRST-AB 11 024401
    (transverse).
    """
    spacing = s[1] - s[0]
    slope = derivative(line_charge, spacing)
    bend = np.diff(slope) / spacing
    u = np.maximum(s[:, None] - s[None, :], 0.0)  # distance back to each node; 0 ahead of s
    first = 1.5 * (u[:, :-1] ** (2 / 3) - u[:, 1:] ** (2 / 3))
    second = 0.6 * (u[:, :-1] ** (5 / 3) - u[:, 1:] ** (5 / 3))
    integral = first @ slope[:-1] + (first * u[:, :-1] - second) @ bend
    longitudinal = -COULOMB * 2.0 / 3.0 ** (1.0 / 3.0) * abs(kappa) ** (2.0 / 3.0) * integral
    return longitudinal, -2.0 * COULOMB * line_charge * kappa


def energy_change(monitor):
    """Change of the mean energy since the start, along S [eV]."""
    change = (np.nan_to_num(monitor["energy_change_mean_eV"])
            - np.nan_to_num(monitor.get("isr_loss_mean_eV", 0.0))
            - np.nan_to_num(monitor.get("wake_loss_mean_eV", 0.0)))
    return change + np.nan_to_num(monitor.get("cavity_gain_mean_eV", 0.0))


def normalised(monitor, gamma):
    """Normalised emittances along S, plain and with the dispersion taken out [m rad].

    Geometric ones of monitor.csv times beta gamma of the mean energy; gamma is that at the start.
    """
    change = energy_change(monitor) / REST_EV
    factor = np.sqrt((gamma + change) ** 2 - 1.0)
    return (monitor["emittance_x_m"] * factor,
            monitor["emittance_x_dispersion_free_m"] * factor)
