# SPDX-License-Identifier: GPL-3.0-or-later
"""ASTRA: text of ten columns, the first line a reference particle, at one time.

Read by openPMD-beamphysics (`interfaces.astra`); its status 5, a particle, becomes 1.
"""
from ..problems import ConvertError, need
from .beam import Beam


def columns(head):
    """Numbers of the first line of a text; [] where it has something else."""
    try:
        return [float(word) for word in head.decode("ascii").splitlines()[0].split()]
    except (UnicodeDecodeError, ValueError, IndexError):
        return []


def recognise(path, head):
    first = columns(head)
    return len(first) == 10 and first[8] == int(first[8]) and first[9] == int(first[9])


def check_rows(path, count, header=0):
    """Raises ConvertError at the first line of a text that is not `count` numbers; the first
    `header` lines are not looked at."""
    with open(path, encoding="ascii", errors="replace") as file:
        for number, line in enumerate(file, 1):
            words = line.split()
            if number <= header:
                continue
            if words and len(words) != count:
                raise ConvertError(f"{path}:{number}: {len(words)} numbers (expected {count})")
            if number > 1 and not line.endswith("\n") and len(words) == count:
                # the last number itself may have been cut
                raise ConvertError(f"{path}:{number}: the line has no end: the file is cut off")


def read(path, scaled):
    parse = need("beamphysics.interfaces.astra", "openpmd-beamphysics", "reading ASTRA's particles")
    check_rows(path, 10)
    data = parse.parse_astra_phase_file(str(path))
    if data["species"] != "electron":
        raise ConvertError(f"{path}: the particles are {data['species']}s (expected electron)")
    return Beam(*(data[key] for key in ("x", "y", "z", "px", "py", "pz", "t", "weight")),
                status=data["status"])
