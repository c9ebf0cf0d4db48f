# SPDX-License-Identifier: GPL-3.0-or-later
"""libarcwake through ctypes: where it is, and the types of arcwake.h."""
import ctypes
import os
from pathlib import Path

import numpy as np

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


def _places(names, variable):
    """Where a library may be: as told, beside this file, in a build of the sources, installed."""
    told = os.environ.get(variable)
    if told:
        yield told
        return
    here = Path(__file__).resolve()
    for folder in (here.parent, here.parents[2] / "build"):
        for name in names:
            if (folder / name).exists():
                yield str(folder / name)
    yield names[-1]


def load(names, variable, types):
    """A library by its names, the last of which is that of an installation, or as the variable of
    the environment says; `types` has result and arguments of its functions."""
    problems = []
    for place in _places(names, variable):
        try:
            library = ctypes.CDLL(place)  # which releases Python's lock during a call
            break
        except OSError as problem:
            problems.append(str(problem))
    else:
        raise ImportError(f"arcwake: {names[0]} is not found: " + "; ".join(problems) +
                          f" (build it with cmake, or name it in {variable})")
    for name, (result, *arguments) in types.items():
        function = getattr(library, name)
        function.restype = result
        function.argtypes = arguments
    return library


def whole(name, value):
    """A whole number for a C int, which ctypes would cut without a word. ValueError: it is none."""
    try:
        number = int(value)
    except (TypeError, ValueError, OverflowError):
        number = None
    if number is None or number != value or ctypes.c_int(number).value != number:
        raise ValueError(f"{name}: {value!r} (expected a whole number below 2^31)")
    return number


def pointer(array):
    """Of an array of doubles; NULL of None."""
    return None if array is None else array.ctypes.data_as(DOUBLES)


def doubles(name, values, n=None, like="s"):
    """A contiguous array of doubles: the caller's own, if it is one."""
    array = np.ascontiguousarray(values, dtype=np.float64)
    if array.ndim != 1:
        raise ValueError(f"{name}: has {array.ndim} dimensions (expected one)")
    if n is not None and array.size != n:
        raise ValueError(f"{name}: has {array.size} numbers (expected {n}, as {like})")
    return array


_FIELD, _SIZE = ctypes.c_void_p, ctypes.c_size_t
LIBRARY = load(NAMES, "ARCWAKE_LIBRARY", {
    "aw_default_options": (Options,),
    "aw_library_version": (ctypes.c_char_p,),
    "aw_message": (ctypes.c_char_p, _FIELD),
    "aw_field_new": (ctypes.c_int, ctypes.POINTER(Options), ctypes.POINTER(Section), _SIZE,
                     ctypes.POINTER(_FIELD)),
    "aw_field_free": (None, _FIELD),
    "aw_field_save": (ctypes.c_int, _FIELD, ctypes.POINTER(ctypes.c_void_p),
                      ctypes.POINTER(_SIZE)),
    "aw_field_load": (ctypes.c_int, ctypes.c_char_p, _SIZE, ctypes.POINTER(Options),
                      ctypes.POINTER(_FIELD)),
    "aw_bytes_free": (None, ctypes.c_void_p),
    "aw_field_observe": (ctypes.c_int, _FIELD, ctypes.c_double, ctypes.POINTER(Bunch)),
    "aw_field_force": (ctypes.c_int, _FIELD, _SIZE, *[DOUBLES] * 4),
    "aw_field_kick": (ctypes.c_int, _FIELD, ctypes.c_double, _SIZE, DOUBLES, DOUBLES),
    "aw_field_grid": (ctypes.c_int, _FIELD, ctypes.POINTER(GridInfo), DOUBLES, DOUBLES),
})


def version():
    """Version of the library."""
    return LIBRARY.aw_library_version().decode()
