# SPDX-License-Identifier: GPL-3.0-or-later
"""From one place to one time and back, for tracking codes that go by s."""
import ctypes

import numpy as np

from ._library import DOUBLES, LIBRARY, Section
from .field import ArcwakeError


class Plane(ctypes.Structure):
    """aw_plane."""
    _fields_ = [("orbit", ctypes.POINTER(Section)), ("sections", ctypes.c_size_t),
                ("s", ctypes.c_double), ("p0", ctypes.c_double)]


class Passage(ctypes.Structure):
    """aw_passage."""
    _fields_ = [("n", ctypes.c_size_t)] + [(name, DOUBLES) for name in ("t", "s", "x", "ps", "px")]


class Text(ctypes.Structure):
    """aw_text."""
    _fields_ = [("line", ctypes.c_char * 512)]


def _copies(**values):
    """Contiguous arrays of doubles that may be written, all as long as the longest."""
    arrays = np.broadcast_arrays(*(np.asarray(v, dtype=np.float64) for v in values.values()))
    for name, array in zip(values, arrays):
        if array.ndim != 1:
            raise ValueError(f"{name}: has {array.ndim} dimensions (expected one)")
    return [array.copy() for array in arrays]


def _move(function, orbit, plane, at, arrays):
    sections = [Section(*(float(number) for number in section)) for section in orbit]
    array = (Section * max(len(sections), 1))(*sections)
    passage = Passage(arrays[0].size, *(a.ctypes.data_as(DOUBLES) for a in arrays))
    text = Text()
    status = function(ctypes.byref(Plane(array, len(sections), *plane)), at,
                      ctypes.byref(passage), ctypes.byref(text))
    if status:
        raise ArcwakeError(text.line.decode(), status)
    return arrays


def at_one_time(orbit, s, p0, t, arrival, x, ps, px):
    """Where particles that a tracking code has at one s are at one time.

    orbit: sections as of Field; s: of the plane across the design orbit [m]; p0: reference
    momentum [m c], for the field in bends; t: the time [s]; arrival: when each particle meets the
    plane [s]; x, ps, px: there, offset along the normal [m], momenta along the tangent and normal
    [m c]; arrays of n numbers. Each particle follows its own straight line or circle exactly, also
    through faces of magnets. Fields other than those of bends are not known.

    Returns (s, x, ps, px) at the time t, new arrays. Raises ArcwakeError where a particle turns
    back, is beyond the centre of the design circle or misses a face.
    """
    t_, s_, *rest = _copies(arrival=arrival, s=s, x=x, ps=ps, px=px)
    return _move(LIBRARY.aw_at_one_time, orbit, (s, p0), t, [t_, s_, *rest])[1:]


def at_one_place(orbit, s, p0, t, places, x, ps, px):
    """The way back: where particles at the time t meet the plane at s.

    places: arc length of each [m]; all others as of at_one_time.
    Returns (arrival, x, ps, px) there, new arrays.
    """
    t_, s_, x_, ps_, px_ = _copies(t=t, s=places, x=x, ps=ps, px=px)
    arrival, _, x_, ps_, px_ = _move(LIBRARY.aw_at_one_place, orbit, (s, p0), t,
                                     [t_, s_, x_, ps_, px_])
    return [arrival, x_, ps_, px_]


for _function in (LIBRARY.aw_at_one_time, LIBRARY.aw_at_one_place):
    _function.restype = ctypes.c_int
    _function.argtypes = (ctypes.POINTER(Plane), ctypes.c_double, ctypes.POINTER(Passage),
                          ctypes.POINTER(Text))
