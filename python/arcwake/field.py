# SPDX-License-Identifier: GPL-3.0-or-later
"""The field of a bunch, for tracking codes that move the particles themselves."""
import ctypes
from dataclasses import dataclass

import numpy as np

from ._library import DOUBLES, LIBRARY, Bunch, GridInfo, Section

OUT_OF_RANGE = 6  # AW_OUT_OF_RANGE


class ArcwakeError(RuntimeError):
    """What went wrong, in one line; `status` is that of arcwake.h."""

    def __init__(self, text, status):
        super().__init__(text)
        self.status = status


@dataclass(frozen=True)
class Grid:
    """The grid of the newest observation, and the forces at its nodes, arrays [nx, ns].

    s, x: centre, on the design orbit and along its normal [m]; hs, hx: spacing [m]; tilt: of the
    first axis to the design tangent [rad]; charge: observed [C]; error: estimated error of the
    potentials over their largest value; Fs, Fx: along the design tangent and normal [eV/m].
    """
    s: float
    x: float
    hs: float
    hx: float
    tilt: float
    charge: float
    error: float
    Fs: np.ndarray
    Fx: np.ndarray


def _doubles(name, values, n=None):
    """A contiguous array of doubles: the caller's own, if it is one."""
    array = np.ascontiguousarray(values, dtype=np.float64)
    if array.ndim != 1:
        raise ValueError(f"{name}: has {array.ndim} dimensions (expected one)")
    if n is not None and array.size != n:
        raise ValueError(f"{name}: has {array.size} numbers (expected {n}, as s)")
    return array


def _pointer(array):
    return array.ctypes.data_as(DOUBLES)


class Field:
    """Self-field of a bunch on a design orbit.

    orbit: sections (length [m], curvature [1/m]) or (length, curvature, e1, e2) with the angles of
    the pole faces [rad]; it begins at s = 0, with straights ahead and behind.
    grid: nodes along the bunch and across. tolerance: of the potentials. gamma: mean energy over
    m c^2; None: of the first observation. step_m: c times the time between observations, about;
    for the motion before the first one alone. steady: that motion was on the circle of the first
    section. threads: 0: OpenMP's. device, solver: as of the program.

    One field is for one thread at a time, and for the process that made it. Calls release Python's
    lock. Errors are ArcwakeError with the library's one line.
    """

    def __init__(self, orbit, *, grid=(48, 48), tolerance=3e-3, gamma=None, step_m=None,
                 steady=False, upstream_m=1e4, history_MiB=1024.0, threads=0, device="cpu",
                 solver="projection"):
        self._field = ctypes.c_void_p()
        options = LIBRARY.aw_default_options()
        options.grid[:] = [int(n) for n in grid]
        options.tolerance = tolerance
        options.gamma = gamma or 0.0
        options.step_m = step_m or 0.0
        options.steady = bool(steady)
        options.upstream_m = upstream_m
        options.history_MiB = history_MiB
        options.threads = threads
        options.device = device.encode()
        options.solver = solver.encode()
        sections = [Section(*(float(number) for number in section)) for section in orbit]
        array = (Section * max(len(sections), 1))(*sections)
        status = LIBRARY.aw_field_new(ctypes.byref(options), array, len(sections),
                                      ctypes.byref(self._field))
        try:
            self._check(status)
        except ArcwakeError:
            self.close()
            raise

    def _check(self, status):
        if status:
            raise ArcwakeError(LIBRARY.aw_message(self._field).decode(), status)

    def _open(self):
        if not self._field:
            raise ValueError("the field is closed")
        return self._field

    def observe(self, t, s, x, ps, px, charge):
        """The bunch at the time t [s], later than the last one.

        s, x: places on the design orbit and along its normal [m]; ps, px: momenta along the design
        tangent and normal at s, in m c; charge: of each particle [C], or one number for all.
        """
        s = _doubles("s", s)
        if np.ndim(charge) == 0:
            charge = np.full(s.size, float(charge))
        rest = [_doubles(name, values, s.size) for name, values in
                (("x", x), ("ps", ps), ("px", px), ("charge", charge))]
        bunch = Bunch(s.size, _pointer(s), *map(_pointer, rest))
        self._check(LIBRARY.aw_field_observe(self._open(), t, ctypes.byref(bunch)))

    def force(self, s, x, outside="raise"):
        """Self-force on electrons at points (s, x) of the newest observation.

        outside: "raise" for points outside of the grid, or "nan".
        Returns Fs, Fx along the design tangent and normal [eV/m]; Fs < 0: energy is lost.
        """
        s = _doubles("s", s)
        x = _doubles("x", x, s.size)
        Fs, Fx = np.empty(s.size), np.empty(s.size)
        status = LIBRARY.aw_field_force(self._open(), s.size, *map(_pointer, (s, x, Fs, Fx)))
        if not (status == OUT_OF_RANGE and outside == "nan"):
            self._check(status)
        return Fs, Fx

    def kick(self, ahead, n):
        """Change of momentum of the n observed particles by the self-force.

        A leap-frog that kicks once at each observation: from where the last kick ended to the time
        ahead [s] after the newest observation, half of that to the next one; 0 at the last. What
        the vector potential takes is its difference between observations (docs/theory.md), for
        which the particles must keep their order; the rates count where their number changes.

        Returns dps, dpx along the design tangent and normal at each particle [m c].
        """
        dps, dpx = np.empty(n), np.empty(n)
        self._check(LIBRARY.aw_field_kick(self._open(), ahead, n, _pointer(dps), _pointer(dpx)))
        return dps, dpx

    def error(self):
        """Estimated error of the newest potentials over their largest value, once computed."""
        info = GridInfo()
        self._check(LIBRARY.aw_field_grid(self._open(), ctypes.byref(info), None, None))
        return info.error

    def grid(self):
        """The grid of the newest observation, with the forces at its nodes."""
        info = GridInfo()
        self._check(LIBRARY.aw_field_grid(self._open(), ctypes.byref(info), None, None))
        Fs, Fx = np.empty((info.nx, info.ns)), np.empty((info.nx, info.ns))
        self._check(LIBRARY.aw_field_grid(self._open(), ctypes.byref(info), _pointer(Fs),
                                          _pointer(Fx)))
        return Grid(info.s, info.x, info.hs, info.hx, info.tilt, info.charge, info.error, Fs, Fx)

    def close(self):
        """Free the field; it cannot be used any more."""
        LIBRARY.aw_field_free(self._field)
        self._field = ctypes.c_void_p()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __del__(self):
        if getattr(self, "_field", None):
            self.close()
