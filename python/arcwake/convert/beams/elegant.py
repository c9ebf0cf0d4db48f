# SPDX-License-Identifier: GPL-3.0-or-later
"""elegant: particles in SDDS, binary or text, read by the SDDS library (soliday.sdds).

Columns t, x, xp, y, yp, p at one place, where p is beta gamma; the parameter Charge.
Source: elegant user's manual, "Phase-space input and output files".
"""
from ..problems import ConvertError, need, silence
from .beam import M_E, Beam, momenta

COLUMNS = ("t", "x", "xp", "y", "yp", "p")
UNITS = {"t": ("s",), "x": ("m",), "y": ("m",), "xp": ("",), "yp": ("",),
         "p": ("m$be$nc", "")}


def recognise(path, head):
    return head.startswith(b"SDDS")


def _load(path):
    library = need("sdds", "soliday.sdds", "reading SDDS")
    if not hasattr(library, "SDDS"):
        raise ConvertError("reading SDDS needs the Python package soliday.sdds, which another "
                           "package called sdds hides: pip uninstall sdds; pip install "
                           "soliday.sdds", 4)
    data = library.SDDS()
    with silence() as said:
        try:
            data.load(str(path))
        except Exception:
            lines = [line for line in said().splitlines() if line and line != "Error:"]
            raise ConvertError(f"{path}: the SDDS library cannot read it: it is damaged or cut off"
                               f" ({lines[0] if lines else 'no reason given'})") from None
    if data.mode == data.SDDS_ASCII:
        with open(path, "rb") as file:
            file.seek(-1, 2)
            if file.read(1) != b"\n":  # the last number itself may have been cut
                raise ConvertError(f"{path}: the last line has no end: the file is cut off")
    return data


def _check_units(path, data):
    for name, definition in zip(data.columnName, data.columnDefinition):
        unit = str(definition[1])
        if name in UNITS and unit and unit not in UNITS[name]:
            raise ConvertError(f"{path}: the unit of {name} is {unit} "
                               f"(expected {UNITS[name][0] or 'none'})")


def read(path, scaled):
    import numpy as np
    data = _load(path)
    missing = [name for name in COLUMNS if name not in data.columnName]
    if missing:
        raise ConvertError(f"{path}: has no column {', '.join(missing)} "
                           f"(expected {', '.join(COLUMNS)}: the phase space of elegant)")
    _check_units(path, data)
    pages = len(data.columnData[data.columnName.index("t")])
    if not pages:
        raise ConvertError(f"{path}: has no page of data")
    columns = {name: np.asarray(data.columnData[data.columnName.index(name)][-1], dtype=float)
               for name in (*COLUMNS, "particleID") if name in data.columnName}
    n = len(columns["t"])
    _check_count(path, data, n)
    px, py, pz = momenta(columns["xp"], columns["yp"], columns["p"] * M_E)
    ids = columns.get("particleID")
    return Beam(columns["x"], columns["y"], 0.0, px, py, pz, columns["t"],
                np.full(n, _charge(path, data, scaled) / max(n, 1)),
                id=None if ids is None else ids.astype("u8"),
                notes=[f"note: the last of {pages} pages was taken"] if pages > 1 else [])


def _parameter(data, name):
    return float(data.parameterData[data.parameterName.index(name)][-1]) \
        if name in data.parameterName else None


def _check_count(path, data, n):
    """A text that is cut off at the end of a line is read without complaint."""
    said = _parameter(data, "Particles")
    if said is not None and int(said) != n:
        raise ConvertError(f"{path}: has {n} of {int(said)} particles: it is cut off")


def _charge(path, data, scaled):
    charge = _parameter(data, "Charge")
    if not charge and not scaled:
        raise ConvertError(f"{path}: has no Charge (expected --charge C)")
    return abs(charge) if charge else 1.0
