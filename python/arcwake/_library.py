# SPDX-License-Identifier: GPL-3.0-or-later
"""libarcwake through ctypes: where it is, and the types of arcwake.h."""
import ctypes
import os
from pathlib import Path

NAMES = ("libarcwake.so", "libarcwake.so.0.1")
DOUBLES = ctypes.POINTER(ctypes.c_double)


class Options(ctypes.Structure):
    """aw_options."""
    _fields_ = [("size", ctypes.c_size_t), ("grid", ctypes.c_int * 2),
                ("tolerance", ctypes.c_double), ("gamma", ctypes.c_double),
                ("step_m", ctypes.c_double), ("steady", ctypes.c_int),
                ("upstream_m", ctypes.c_double), ("history_MiB", ctypes.c_double),
                ("threads", ctypes.c_int), ("device", ctypes.c_char_p),
                ("solver", ctypes.c_char_p)]


class Section(ctypes.Structure):
    """aw_section."""
    _fields_ = [(name, ctypes.c_double) for name in ("length_m", "curvature", "e1", "e2")]


class Bunch(ctypes.Structure):
    """aw_bunch."""
    _fields_ = [("n", ctypes.c_size_t)] + [
        (name, DOUBLES) for name in ("s", "x", "ps", "px", "charge")]


class GridInfo(ctypes.Structure):
    """aw_grid_info."""
    _fields_ = [("ns", ctypes.c_int), ("nx", ctypes.c_int)] + [
        (name, ctypes.c_double) for name in ("hs", "hx", "s", "x", "tilt", "charge", "error")]


def _places():
    """Where the library may be: as told, beside this file, in a build of the sources, installed."""
    told = os.environ.get("ARCWAKE_LIBRARY")
    if told:
        yield told
        return
    here = Path(__file__).resolve()
    for folder in (here.parent, here.parents[2] / "build"):
        for name in NAMES:
            if (folder / name).exists():
                yield str(folder / name)
    yield NAMES[1]


def load():
    """The library, with the types of its functions."""
    problems = []
    for place in _places():
        try:
            library = ctypes.CDLL(place)  # which releases Python's lock during a call
            break
        except OSError as problem:
            problems.append(str(problem))
    else:
        raise ImportError("arcwake: libarcwake is not found: " + "; ".join(problems) +
                          " (build it with cmake, or name it in ARCWAKE_LIBRARY)")
    field, size = ctypes.c_void_p, ctypes.c_size_t
    types = {
        "aw_default_options": (Options,),
        "aw_library_version": (ctypes.c_char_p,),
        "aw_message": (ctypes.c_char_p, field),
        "aw_field_new": (ctypes.c_int, ctypes.POINTER(Options), ctypes.POINTER(Section), size,
                         ctypes.POINTER(field)),
        "aw_field_free": (None, field),
        "aw_field_observe": (ctypes.c_int, field, ctypes.c_double, ctypes.POINTER(Bunch)),
        "aw_field_force": (ctypes.c_int, field, size, *[DOUBLES] * 4),
        "aw_field_kick": (ctypes.c_int, field, ctypes.c_double, size, DOUBLES, DOUBLES),
        "aw_field_grid": (ctypes.c_int, field, ctypes.POINTER(GridInfo), DOUBLES, DOUBLES),
    }
    for name, (result, *arguments) in types.items():
        function = getattr(library, name)
        function.restype = result
        function.argtypes = arguments
    return library


LIBRARY = load()


def version():
    """Version of the library."""
    return LIBRARY.aw_library_version().decode()
