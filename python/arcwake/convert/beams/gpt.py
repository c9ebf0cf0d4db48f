# SPDX-License-Identifier: GPL-3.0-or-later
"""GPT: a GDF file, read by easygdf, or its text, with names of the columns in the first line.

Momenta are GBx, GBy, GBz (beta gamma), or Bx, By, Bz with G (gamma); charges q nmacro [C].
Source: General Particle Tracer, user manual; easygdf.
"""
from ..problems import ConvertError, need, one_line, silence
from .beam import C, E, M_E, Beam, electrons

MAGIC = (94325877).to_bytes(4, "little")
KG = M_E * E / C ** 2  # rest mass of the electron


def _names(head):
    try:
        return head.decode("ascii").splitlines()[0].split()
    except (UnicodeDecodeError, IndexError):
        return []


def recognise(path, head):
    return head.startswith(MAGIC) or {"x", "y", "z", "nmacro"} <= set(_names(head))


def _text(path, names):
    import numpy as np
    from .astra import check_rows
    check_rows(path, len(names))
    table = np.loadtxt(path, skiprows=1, ndmin=2)
    return {name: table[:, i] for i, name in enumerate(names)}, []


def _arrays(blocks):
    return {block["name"]: block["value"] for block in blocks
            if getattr(block["value"], "ndim", 0) == 1}


def _gdf(path):
    """The last block of particles: of the last time, or screen, or an initial distribution."""
    easygdf = need("easygdf", "easygdf", "reading GDF")
    with silence():
        try:
            blocks = easygdf.load(str(path))["blocks"]
        except Exception as problem:
            raise ConvertError(f"{path}: easygdf cannot read it: {one_line(problem)}") from None
    found = [(f"{block['name']} = {block['value']}", _arrays(block["children"]))
             for block in blocks if block.get("children")]
    found.append(("", _arrays(blocks)))
    found = [(where, arrays) for where, arrays in found if {"x", "y", "z"} <= set(arrays)]
    if not found:
        raise ConvertError(f"{path}: has no particles")
    where, arrays = found[-1]
    return arrays, [f"note: the last of {len(found)} outputs was taken: {where}"] \
        if len(found) > 1 else []


def read(path, scaled):
    import numpy as np
    with open(path, "rb") as file:
        head = file.read(4096)
    data, notes = _gdf(path) if head.startswith(MAGIC) else _text(path, _names(head))
    if {"GBx", "GBy", "GBz"} <= set(data):
        momentum = [data["GB" + axis] * M_E for axis in "xyz"]
    elif {"Bx", "By", "Bz"} <= set(data):
        beta = [data["B" + axis] for axis in "xyz"]
        gamma = data.get("G", 1.0 / np.sqrt(1.0 - sum(b * b for b in beta)))
        momentum = [gamma * b * M_E for b in beta]
    else:
        raise ConvertError(f"{path}: has no momenta (expected GBx, GBy, GBz, or Bx, By, Bz)")
    missing = [name for name in ("q", "nmacro") if name not in data]
    if missing and not scaled:
        raise ConvertError(f"{path}: has no {' and '.join(missing)} (expected them or --charge C)")
    if "q" in data:
        electrons(path, data["q"], data.get("m", KG), KG)
    n = len(data["x"])
    charge = np.full(n, 1.0 / n) if missing else np.abs(data["q"] * data["nmacro"])
    ids = data.get("ID")
    return Beam(data["x"], data["y"], data["z"], *momentum, data.get("t", 0.0), charge,
                id=None if ids is None else np.asarray(ids).astype("u8"), notes=notes)
