# SPDX-License-Identifier: GPL-3.0-or-later
"""The field of a bunch, for tracking codes that move the particles themselves."""
import ctypes
import os
import threading
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ._library import LIBRARY, Bunch, GridInfo, Section, doubles, pointer, whole
from .errors import ArcwakeError

OUT_OF_RANGE = 6  # AW_OUT_OF_RANGE


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


def write_whole(path, data):
    """Write a file all or nothing."""
    path = Path(path)
    part = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    try:
        part.write_bytes(data)
        os.replace(part, path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


class Field:
    """Self-field of a bunch on a design orbit.

    orbit: sections (length [m], curvature [1/m]) or (length, curvature, e1, e2) with the angles of
    the pole faces [rad]; it begins at s = 0, with straights ahead and behind.
    grid: nodes along the bunch and across. tolerance: of the potentials. gamma: mean energy over
    m c^2; None: of the first observation. step_m: c times the time between observations, about;
    for the motion before the first one alone. steady: that motion was on the circle of the first
    section. threads: 0: OpenMP's. device, solver: as of the program.

    A field is for the process that made it; calls from several threads wait for each other. They
    release Python's lock. Errors are ArcwakeError with the library's one line. A field can be saved
    and pickled: the copy goes on to the same bits.
    """

    def __init__(self, orbit, *, grid=(48, 48), tolerance=3e-3, gamma=None, step_m=None,
                 steady=False, upstream_m=1e4, history_MiB=1024.0, threads=0, device="cpu",
                 solver="projection"):
        self._empty()
        options = LIBRARY.aw_default_options()
        if np.shape(grid) != (2,):
            raise ValueError(f"grid: {grid!r} (expected two numbers, along the bunch and across)")
        options.grid[:] = [whole("grid", n) for n in grid]
        options.tolerance = tolerance
        options.gamma = gamma or 0.0
        options.step_m = step_m or 0.0
        options.steady = bool(steady)
        options.upstream_m = upstream_m
        options.history_MiB = history_MiB
        options.threads = whole("threads", threads)
        options.device = device.encode()
        options.solver = solver.encode()
        sections = [Section(*(float(number) for number in section)) for section in orbit]
        array = (Section * max(len(sections), 1))(*sections)
        self._made(LIBRARY.aw_field_new(ctypes.byref(options), array, len(sections),
                                        ctypes.byref(self._field)))

    def _empty(self):
        self._field = ctypes.c_void_p()
        self._lock = threading.Lock()

    def _made(self, status):
        """Of a new field: after an error it is freed."""
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
        s = doubles("s", s)
        if np.ndim(charge) == 0:
            charge = np.full(s.size, float(charge))
        rest = [doubles(name, values, s.size) for name, values in
                (("x", x), ("ps", ps), ("px", px), ("charge", charge))]
        bunch = Bunch(s.size, pointer(s), *map(pointer, rest))
        with self._lock:
            self._check(LIBRARY.aw_field_observe(self._open(), t, ctypes.byref(bunch)))

    def force(self, s, x, outside="raise"):
        """Self-force on electrons at points (s, x) of the newest observation.

        outside: "raise" for points outside of the grid, or "nan".
        Returns Fs, Fx along the design tangent and normal [eV/m]; Fs < 0: energy is lost.
        """
        s = doubles("s", s)
        x = doubles("x", x, s.size)
        Fs, Fx = np.empty(s.size), np.empty(s.size)
        with self._lock:
            status = LIBRARY.aw_field_force(self._open(), s.size, *map(pointer, (s, x, Fs, Fx)))
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
        with self._lock:
            self._check(LIBRARY.aw_field_kick(self._open(), ahead, n, pointer(dps), pointer(dpx)))
        return dps, dpx

    def error(self):
        """Estimated error of the newest potentials over their largest value, once computed."""
        info = GridInfo()
        with self._lock:
            self._check(LIBRARY.aw_field_grid(self._open(), ctypes.byref(info), None, None))
        return info.error

    def grid(self):
        """The grid of the newest observation, with the forces at its nodes."""
        info = GridInfo()
        with self._lock:
            self._check(LIBRARY.aw_field_grid(self._open(), ctypes.byref(info), None, None))
            Fs, Fx = np.empty((info.nx, info.ns)), np.empty((info.nx, info.ns))
            self._check(LIBRARY.aw_field_grid(self._open(), ctypes.byref(info), pointer(Fs),
                                              pointer(Fx)))
        return Grid(info.s, info.x, info.hs, info.hx, info.tilt, info.charge, info.error, Fs, Fx)

    def to_bytes(self):
        """The state of the field, from which from_bytes makes one that goes on to the same bits."""
        data, size = ctypes.c_void_p(), ctypes.c_size_t()
        with self._lock:
            self._check(LIBRARY.aw_field_save(self._open(), ctypes.byref(data),
                                              ctypes.byref(size)))
        try:
            return ctypes.string_at(data, size.value)
        finally:
            LIBRARY.aw_bytes_free(data)

    @classmethod
    def from_bytes(cls, data, *, threads=None, device=None):
        """A field from saved bytes, of the same version of arcwake.

        threads, device: None: as they were; of the two, one that is given leaves the other to
        OpenMP, or as it was.
        """
        field = cls.__new__(cls)
        field._empty()
        machine = None
        if threads is not None or device is not None:
            options = LIBRARY.aw_default_options()
            options.threads = whole("threads", threads or 0)
            options.device = device.encode() if device is not None else None
            machine = ctypes.byref(options)
        data = bytes(data)
        field._made(LIBRARY.aw_field_load(data, len(data), machine, ctypes.byref(field._field)))
        return field

    def save(self, path):
        """Write the state of the field to a file, all or nothing."""
        write_whole(path, self.to_bytes())

    @classmethod
    def load(cls, path, **machine):
        """A field from a file of save(); `machine` as of from_bytes."""
        return cls.from_bytes(Path(path).read_bytes(), **machine)

    def __reduce__(self):
        return type(self).from_bytes, (self.to_bytes(),)

    def close(self):
        """Free the field; it cannot be used any more."""
        with self._lock:
            LIBRARY.aw_field_free(self._field)
            self._field = ctypes.c_void_p()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __del__(self):
        if getattr(self, "_field", None):
            self.close()
