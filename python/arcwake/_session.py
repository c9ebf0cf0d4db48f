# SPDX-License-Identifier: GPL-3.0-or-later
"""libarcwake_session through ctypes: a run step by step (src/session/session.h)."""
import ctypes

from ._library import DOUBLES, load

NAMES = ("libarcwake_session.so",)
IDS = ctypes.POINTER(ctypes.c_uint64)
COORDINATES = ("x", "px", "y", "py", "z", "pz", "t", "charge")


class Beam(ctypes.Structure):
    """aw_session_beam."""
    _fields_ = [("n", ctypes.c_size_t), *[(name, DOUBLES) for name in COORDINATES],
                ("id", IDS), ("from_reference", ctypes.c_int)]


class Input(ctypes.Structure):
    """aw_session_input."""
    _fields_ = [("path", ctypes.c_char_p), ("text", ctypes.c_char_p),
                ("set", ctypes.POINTER(ctypes.c_char_p)), ("n_set", ctypes.c_size_t),
                ("threads", ctypes.c_int), ("beam", ctypes.POINTER(Beam))]


class State(ctypes.Structure):
    """aw_session_state."""
    _fields_ = [("step", ctypes.c_long), ("planned", ctypes.c_long), ("S", ctypes.c_double),
                ("time", ctypes.c_double), ("last", ctypes.c_int), ("solved", ctypes.c_int),
                ("n", ctypes.c_size_t)]


class GridInfo(ctypes.Structure):
    """aw_session_grid."""
    _fields_ = [("ns", ctypes.c_int), ("nx", ctypes.c_int)] + [
        (name, ctypes.c_double) for name in ("hs", "hx", "s", "x", "tilt", "charge", "error")]


_SESSION, _BEAM = ctypes.c_void_p, ctypes.POINTER(Beam)
SESSION = load(NAMES, "ARCWAKE_SESSION_LIBRARY", {
    "aw_session_new": (ctypes.c_int, ctypes.POINTER(Input), ctypes.POINTER(_SESSION)),
    "aw_session_free": (None, _SESSION),
    "aw_session_messages": (ctypes.c_char_p, _SESSION),
    "aw_session_complete": (ctypes.c_int, _SESSION, ctypes.c_int),
    "aw_session_step": (ctypes.c_int, _SESSION),
    "aw_session_where": (None, _SESSION, ctypes.POINTER(State)),
    "aw_session_column": (ctypes.c_char_p, ctypes.c_int),
    "aw_session_monitor": (ctypes.c_int, _SESSION, DOUBLES),
    "aw_session_get_beam": (ctypes.c_int, _SESSION, _BEAM),
    "aw_session_kick": (ctypes.c_int, _SESSION, _BEAM),
    "aw_session_forces": (ctypes.c_int, _SESSION, DOUBLES, DOUBLES),
    "aw_session_grid_of": (ctypes.c_int, _SESSION, ctypes.POINTER(GridInfo), DOUBLES, DOUBLES),
    "aw_session_write": (ctypes.c_int, _SESSION, ctypes.c_char_p, ctypes.c_int),
    "aw_session_resolved": (ctypes.c_char_p, _SESSION),
})


def columns():
    """Names of the numbers of aw_session_monitor."""
    names = []
    while (name := SESSION.aw_session_column(len(names))) is not None:
        names.append(name.decode())
    return names
