# SPDX-License-Identifier: GPL-3.0-or-later
"""A run step by step, in this process and without files."""
import ctypes
import json
import os
import threading
import warnings
from dataclasses import dataclass

import numpy as np

from . import _session
from ._library import doubles, pointer, whole
from ._session import SESSION
from .errors import ArcwakeError, ArcwakeWarning
from .field import Grid

INPUT = "input.yaml"  # what messages call a dict


@dataclass(frozen=True)
class Force:
    """Self-force on the particles [eV/m], arrays [n], along the axes of the Beam: z, x."""
    z: np.ndarray
    x: np.ndarray


@dataclass
class Beam:
    """The particles of a step, arrays [n], in openPMD-beamphysics' names and units.

    x, y, z [m], px, py, pz [eV/c]: z along the design tangent at the reference particle and counted
    from it, x along the normal; t [s]: one time for all; weight [C]: charge of each, a magnitude;
    id. S: arc length of the reference particle [m].
    """
    x: np.ndarray
    px: np.ndarray
    y: np.ndarray
    py: np.ndarray
    z: np.ndarray
    pz: np.ndarray
    t: np.ndarray
    weight: np.ndarray
    id: np.ndarray
    S: float

    def __len__(self):
        return len(self.x)

    @property
    def data(self):
        """A dict for openPMD-beamphysics' ParticleGroup(data=...); the arrays are not copied."""
        names = ("x", "px", "y", "py", "z", "pz", "t", "weight", "id")
        return {**{name: getattr(self, name) for name in names},
                "status": np.ones(len(self), dtype=int), "species": "electron"}


def _plain(value):
    """NumPy's numbers and arrays, and paths, for JSON."""
    if hasattr(value, "tolist"):
        return value.tolist()
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    raise ArcwakeError(f"a {type(value).__name__} cannot stand in a run file (expected numbers, "
                       "texts, None, lists and dicts)")


def _yaml(value, indent=None):
    """As JSON, which is YAML, too."""
    try:
        return json.dumps(value, default=_plain, ensure_ascii=False, indent=indent)
    except (TypeError, ValueError) as problem:
        raise ArcwakeError(f"the input cannot be written as YAML: {problem}") from problem


def _get(source, name):
    """A column of a dict, a Beam or a ParticleGroup; None: it has none."""
    if isinstance(source, dict):
        return source.get(name)
    return getattr(source, name, None)


def _ids(values, n):
    """Ids of n particles; ArcwakeError: they are not n whole numbers from 0 on."""
    values = np.asarray(values)
    if values.shape != (n,) or values.dtype.kind not in "iuf" or not np.all(
            (values >= 0) & (values == np.floor(values))):
        raise ArcwakeError(f"beam: id: expected {n} whole numbers of 0 or more, as many as x")
    return np.ascontiguousarray(values, dtype=np.uint64)


class _Columns:
    """Particles of the caller's as an aw_session_beam, which borrows the arrays kept here."""

    def __init__(self, source):
        species = _get(source, "species")
        if species not in (None, "electron"):
            raise ArcwakeError(f"beam: the particles are of the species '{species}' (expected "
                               "electron)")
        missing = [name for name in ("x", "px", "z", "pz", "weight") if _get(source, name) is None]
        if missing == ["z"] and _get(source, "t") is not None:
            missing = []
        if missing:
            raise ArcwakeError(f"beam: has no {', no '.join(missing)} (expected x, px, z or t, pz, "
                               "weight, and perhaps y, py, id, status)")
        n = np.size(_get(source, "x"))
        alive = _get(source, "status")
        alive = slice(None) if alive is None else doubles("beam: status", alive, n, like="x") == 1

        def column(name):
            values = _get(source, name)
            if values is None:
                return None
            if np.ndim(values) == 0:
                values = np.full(n, float(values))
            return np.ascontiguousarray(doubles(f"beam: {name}", values, n, like="x")[alive])

        self.arrays = [column(name if name != "charge" else "weight")
                       for name in _session.COORDINATES]
        ids = _get(source, "id")
        self.ids = None if ids is None else _ids(ids, n)[alive]
        self.struct = _session.Beam(
            self.arrays[0].size, *map(pointer, self.arrays),
            None if self.ids is None else self.ids.ctypes.data_as(_session.IDS),
            isinstance(source, Beam))


class Simulation:
    """A run step by step, with the numbers of `arcwake run` of the same input, bit for bit.

        sim = arcwake.Simulation("zeuthen_chicane.yaml", set={"beam.charge_C": 2e-9})
        while not sim.last:
            sim.step()
            print(sim.S, sim.monitor["emittance_x_m"])
        sim.save("end.h5")

    source: path of a run file, or a dict with its keys; relative paths of a dict begin at the
    working directory. set: keys and their values over those of the source, {"beam.charge_C": 2e-9}.
    beam: particles at the start in place of the section `beam` but its start_m, isr and seed, and
    its height where they have no y: a Beam, a ParticleGroup of openPMD-beamphysics, or a dict of
    arrays x, px, y, py, z, pz, t, weight, id, in its units (m, eV/c, s, C); particles whose
    `status` is not 1 are left out. They are drifted to one time, and the mean of z is put at the
    start; that of a Beam stays. threads: None: OpenMP's.

    A new simulation is at step 0. `monitor`, `force` and `grid` are of the present step and
    complete it if need be. Nothing is written but by save(). Calls release Python's lock; those
    from several threads wait for each other, and ^C acts between them. Errors are ArcwakeError,
    with all problems of an input in `problems`; warnings are ArcwakeWarning.
    """

    def __init__(self, source, *, set=None, beam=None, threads=None):
        self._lock = threading.RLock()
        self._session = ctypes.c_void_p()
        self._closed = False
        self._source, self._threads = source, whole("threads", threads or 0)
        if isinstance(source, dict):
            self._text = _yaml(source, indent=1)
        else:
            self._source, self._text = os.fspath(source), None
        self._set = [f"{key}={_yaml(value)}".encode() for key, value in (set or {}).items()]
        needs_beam = isinstance(source, dict) and "beam" not in source and not any(
            word.startswith(b"beam") for word in self._set)
        if beam is not None or not needs_beam:
            self._begin(None if beam is None else _Columns(beam))

    # ----------------------------------------------------------------------------- the library

    def _begin(self, columns):
        """A session at step 0 in place of the one that there is."""
        path = INPUT if self._text is not None else self._source
        words = (ctypes.c_char_p * max(len(self._set), 1))(*self._set)
        text = None if self._text is None else self._text.encode()
        given = _session.Input(path.encode(), text, words, len(self._set), self._threads,
                               None if columns is None else ctypes.pointer(columns.struct))
        new = ctypes.c_void_p()
        try:
            self._check(SESSION.aw_session_new(ctypes.byref(given), ctypes.byref(new)), new)
        except BaseException:
            SESSION.aw_session_free(new)
            raise
        SESSION.aw_session_free(self._session)
        self._session = new

    @staticmethod
    def _check(status, session):
        """Tell what a call has said."""
        lines = SESSION.aw_session_messages(session).decode(errors="replace").splitlines() \
            if session and status == 0 or status else []
        errors = [line[2:] for line in lines if line.startswith("E ")]
        for line in lines:
            if line.startswith("W "):
                warnings.warn(line[2:], ArcwakeWarning, stacklevel=4)
        if status:
            raise ArcwakeError(errors or ["out of memory"], status=status)

    def _call(self, function, *arguments):
        with self._lock:
            self._check(function(self._open(), *arguments), self._session)

    def _open(self):
        if self._closed:
            raise ValueError("the simulation is closed")
        if not self._session:
            self._begin(None)  # says what the input lacks
        return self._session

    def _where(self):
        state = _session.State()
        with self._lock:
            SESSION.aw_session_where(self._open(), ctypes.byref(state))
        return state

    # --------------------------------------------------------------------------------- the run

    def step(self):
        """Go on to the next step and complete it. ArcwakeError: this one is the last."""
        self._call(SESSION.aw_session_step)

    @property
    def last(self):
        """Whether there is no step after this one."""
        return bool(self._where().last)

    @property
    def steps_done(self):
        """Number of this step; 0 at the start."""
        return self._where().step

    @property
    def steps_planned(self):
        """Number of the last step, as far as is known now."""
        return self._where().planned

    @property
    def S(self):
        """Arc length of the reference particle [m]."""
        return self._where().S

    @property
    def time(self):
        """Time since the start [s]."""
        return self._where().time

    @property
    def monitor(self):
        """The row of monitor.csv of this step, a dict of numbers by column; NaN: not known."""
        names = _session.columns()
        row = np.empty(len(names))
        self._call(SESSION.aw_session_monitor, pointer(row))
        return {"step": int(row[0]), **dict(zip(names[1:], row[1:].tolist()))}

    @property
    def force(self):
        """The self-force on the particles, a Force."""
        with self._lock:
            n = self._where().n
            out = Force(np.empty(n), np.empty(n))
            self._call(SESSION.aw_session_forces, pointer(out.z), pointer(out.x))
        return out

    @property
    def grid(self):
        """The grid of this step with the forces at its nodes, a Grid as of Field.grid()."""
        info = _session.GridInfo()
        with self._lock:
            self._call(SESSION.aw_session_grid_of, ctypes.byref(info), None, None)
            Fs, Fx = np.empty((info.nx, info.ns)), np.empty((info.nx, info.ns))
            self._call(SESSION.aw_session_grid_of, ctypes.byref(info), pointer(Fs), pointer(Fx))
        return Grid(info.s, info.x, info.hs, info.hx, info.tilt, info.charge, info.error, Fs, Fx)

    @property
    def beam(self):
        """A copy of the particles, a Beam.

        Set it at step 0 to begin with other particles, and later to kick them: then only px and pz
        may differ from those of this step (`b = sim.beam; b.px += kick; sim.beam = b`); another
        value of anything else is an error.
        """
        with self._lock:
            state = self._where()
            arrays = [np.empty(state.n) for _ in _session.COORDINATES]
            ids = np.empty(state.n, dtype=np.uint64)
            struct = _session.Beam(state.n, *map(pointer, arrays),
                                   ids.ctypes.data_as(_session.IDS), 1)
            self._call(SESSION.aw_session_get_beam, ctypes.byref(struct))
        return Beam(*arrays, ids, state.S)

    @beam.setter
    def beam(self, particles):
        columns = _Columns(particles)
        with self._lock:
            if self._closed or (self._session and self._where().step > 0):
                self._call(SESSION.aw_session_kick, ctypes.byref(columns.struct))
            else:
                self._begin(columns)

    @property
    def resolved(self):
        """The input with all its keys, as resolved.yaml has it: the text of a run file."""
        with self._lock:
            return SESSION.aw_session_resolved(self._open()).decode()

    def save(self, path, particles=True):
        """Write this step to an openPMD file, the meshes and, if wanted, the particles."""
        self._call(SESSION.aw_session_write, os.fsencode(path), bool(particles))

    def close(self):
        """Free the simulation; it cannot be used any more."""
        with self._lock:
            SESSION.aw_session_free(self._session)
            self._session, self._closed = ctypes.c_void_p(), True

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __del__(self):
        if getattr(self, "_session", None):
            self.close()

    def __reduce__(self):
        raise TypeError("a Simulation cannot be pickled (expected a new one in the other process)")
