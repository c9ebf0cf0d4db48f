# SPDX-License-Identifier: GPL-3.0-or-later
"""Ocelot: a lattice is a Python file, which is run, and a list of Ocelot's elements in it."""
import contextlib
import os
import re
import runpy
from pathlib import Path

from ..problems import ConvertError, need, one_line
from . import kinds
from .deck import Deck, Definition, Element, some
from .source import Place, read_lines

OWN_KINDS = {
    **kinds.KINDS, "BEND": kinds.bend, "HCOR": kinds.kicker, "VCOR": kinds.kicker,
    "CAVITY": kinds.cavity, "MULTIPOLE": kinds.thin_multipole, "APERTURE": kinds.drift,
    "UNKNOWNELEMENT": kinds.drift,
}
OWN_KINDS["RBEND"] = kinds.bend  # Ocelot itself has added half the angle to the faces


class Ocelot:
    """The language, as kinds.Reading asks for it."""
    name, title = "ocelot-deck", "Ocelot's lattices"
    kinds = OWN_KINDS
    fint, swaps, edge_flags = 0.0, False, False
    beside = True  # gradients of bends are those beside the orbit, as in Transport
    shifts = "DX DY DTILT"
    words = frozenset()

    @staticmethod
    def evaluate(_, text):
        return text

    @staticmethod
    def bend(r, rectangular):
        return r.number("L"), r.number("ANGLE")

    @staticmethod
    def cavity(r):
        """V [GV], PHI [degree] from the crest, FREQ [Hz]; a particle that is late sees PHI less."""
        return 1.0e9 * r.number("V"), 0.0 - r.number("PHI") / 360.0, r.number("FREQ")


NAMES = {"h_pole1": "H1", "h_pole2": "H2"}
WANTED = """l angle k1 k2 k3 e1 e2 tilt fint fintx gap h_pole1 h_pole2 v phi freq dx dy dtilt
    k""".split()


def _attributes(element, keyword):
    out = {}
    for name in WANTED:
        value = getattr(element, name, None)
        if isinstance(value, (int, float)) and value:
            out[NAMES.get(name, name.upper())] = float(value)
    out["HGAP"] = 0.5 * out.pop("GAP", 0.0)
    if keyword in ("HCOR", "VCOR"):
        out["KICK"] = out.pop("ANGLE", 0.0)
    if keyword == "SOLENOID":
        out["KS"] = out.get("K", 0.0)
    kn = getattr(element, "kn", None)
    if kn is not None:
        out.update({f"K{order}L": float(one) for order, one in enumerate(kn) if one})
    return out


def _flat(items, element_type):
    for item in items:
        if isinstance(item, (list, tuple)):
            yield from _flat(item, element_type)
        elif isinstance(item, element_type):
            yield item


def _places(path):
    out = {}
    for number, line in enumerate(read_lines(path), 1):
        for name in re.findall(r"""(?:eid|id)\s*=\s*["']([^"']+)["']""", line):
            out[name] = Place(str(path), number)
    return out


def _run(path):
    """The names that the file defines, and two classes of Ocelot."""
    need("ocelot", "ocelot-collab", "reading a lattice of Ocelot")
    from ocelot.cpbd.elements.optic_element import OpticElement
    from ocelot.cpbd.magnetic_lattice import MagneticLattice
    try:
        return runpy.run_path(str(path)), OpticElement, MagneticLattice
    except Exception as problem:
        raise ConvertError(f"{path}: {type(problem).__name__}: {one_line(problem)}") from None


def read(path, options):
    """Runs the file, as `python FILE` would: only files that one trusts."""
    places = _places(path)
    with open(os.devnull, "w", encoding="utf-8") as nowhere, \
            contextlib.redirect_stdout(nowhere):  # Ocelot greets
        names, OpticElement, MagneticLattice = _run(path)
    lines = {}
    for name, value in names.items():
        items = value.sequence if isinstance(value, MagneticLattice) else value
        if isinstance(items, (list, tuple)) and any(_flat(items, OpticElement)):
            lines[name] = items
    name = options.line or ("cell" if "cell" in lines else None)
    if name is None and len(lines) == 1:
        name = next(iter(lines))
    if name not in lines:
        raise ConvertError(f"{path}: {name or 'no list of elements'} is not there (expected "
                           f"--line, one of: {some(lines)})" if lines else
                           f"{path}: has no list of Ocelot's elements")
    deck = Deck()
    deck.energy = next((1.0e9 * one.E for one in names.values()
                        if type(one).__name__ == "Twiss" and getattr(one, "E", 0.0)), None)
    elements = []
    for item in _flat(lines[name], OpticElement):
        keyword = type(item).__name__.upper()
        own = str(item.id).upper()
        place = places.get(str(item.id), Place(str(Path(path)), 1))
        elements.append(Element(own, Definition(own, keyword, _attributes(item, keyword), place)))
    deck.expand = lambda _: elements
    deck.choose_line = lambda _: name.upper()
    return deck
