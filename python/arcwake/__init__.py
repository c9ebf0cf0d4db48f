# SPDX-License-Identifier: GPL-3.0-or-later
"""arcwake: the self-field of an electron bunch on a curved orbit, in two dimensions.

    import arcwake
    field = arcwake.Field([(0.2, 0.0), (5.0, 1 / 25.13)])      # lengths [m], curvatures [1/m]
    for each step of a tracking code:
        field.observe(t, s, x, ps, px, charge)
        Fs, Fx = field.force(s, x)                             # eV/m on one electron

The library does the work (libarcwake, arcwake.h); this package hands over NumPy arrays.
"""
from ._library import version
from .field import ArcwakeError, Field, Grid
from .one_time import at_one_place, at_one_time
from .planes import PlaneKicks

__all__ = ["ArcwakeError", "Field", "Grid", "PlaneKicks", "at_one_place", "at_one_time"]
__version__ = version()
