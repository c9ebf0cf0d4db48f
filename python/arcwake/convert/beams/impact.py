# SPDX-License-Identifier: GPL-3.0-or-later
"""IMPACT-T: text of six columns, x, beta gamma_x, y, beta gamma_y, z, beta gamma_z, at one time.

Read by openPMD-beamphysics (`interfaces.impact`); without charge. An input file (partcl.data)
begins with the number of particles.
"""
from ..problems import ConvertError, need
from .astra import check_rows, columns
from .beam import M_E, Beam


def _rows(head):
    return [columns(line) for line in head.splitlines()[:2]]


def recognise(path, head):
    lengths = [len(row) for row in _rows(head)]
    return lengths == [1, 6]  # six numbers in each line may be many things


def read(path, scaled):
    import numpy as np
    parse = need("beamphysics.interfaces.impact", "openpmd-beamphysics",
                 "reading IMPACT-T's particles")
    with open(path, "rb") as file:
        first = _rows(file.read(4096))[0]
    header = len(first) == 1
    check_rows(path, 6, header=int(header))
    data = parse.parse_impact_particles(str(path), skiprows=1 if header else 0)
    if header and len(data) != int(first[0]):
        raise ConvertError(f"{path}: has {len(data)} of {int(first[0])} particles: it is cut off")
    if not scaled:
        raise ConvertError(f"{path}: particles of IMPACT-T have no charge (expected --charge C)")
    n = len(data)
    return Beam(data["x"].copy(), data["y"].copy(), data["z"].copy(), data["GBx"] * M_E,
                data["GBy"] * M_E, data["GBz"] * M_E, 0.0, np.full(n, 1.0 / n))
