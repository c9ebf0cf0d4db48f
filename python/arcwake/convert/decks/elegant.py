# SPDX-License-Identifier: GPL-3.0-or-later
"""elegant: .lte files, with expressions in reverse Polish notation.

Source: M. Borland, elegant user's manual, "Lattice file" and the dictionary of elements.
"""
import math
import re
from dataclasses import dataclass
from pathlib import Path

from ..problems import ConvertError
from . import kinds
from .deck import Deck, Definition, Line
from .expression import evaluate_rpn
from .mad import attributes
from .source import DEFINITION, Dialect, Included, statements, unquote

DIALECT = Dialect(separator=False, percent=True)
PASSIVE = """CSRDRIFT EDRIFT MARK MONI HMON VMON WATCH RCOL ECOL MAXAMP SCRAPER RECIRC CHARGE FLOOR
    HISTOGRAM CLEAN SLICE PFILTER TAPERAPC TAPERAPE TAPERAPR APCONTOUR SCRIPT PEPPOT""".split()
COLLECTIVE = """LSCDRIFT LSCKICKER WAKE TRWAKE GFWAKE ZLONGIT ZTRANSVERSE LRWAKE CORGPIPE RFMODE
    SCATTER DSCATTER TSCATTER SREFFECTS IBSCATTER CENTER REMCOR ENERGY SAMPLE IONEFFECTS
    SCMULT""".split()


def multipole(r):
    """MULT: KNL of one order."""
    kinds.shifts(r)
    value = r.number("KNL")
    order = int(r.number("ORDER", 1.0))
    if value == 0.0:
        return kinds.drift(r)
    if r.number("L"):
        r.refuse("a MULT with length is not supported (expected KSEXT, KOCT, or L = 0)")
    if order < 1 or kinds.tilt(r, order) != 1.0:
        r.refuse("only a MULT of order 1 and more without tilt is supported")
    return r.optic("Multipole", 0.0, MagneticMultipoleP={f"Kn{order}L": value})


def deflector(r):
    r.zero("VOLTAGE VOLT", "deflecting cavities are not supported (expected 0)")
    return kinds.drift(r)


def misaligned(r):
    r.zero("DX DY DZ DXP DYP DP DT DE", "misalignments are not supported (expected 0)")
    return kinds.drift(r)


def corrector_bend(r):
    if r.number("HKICK XKICK") or r.number("VKICK YKICK"):
        r.refuse("kicks are not supported (expected 0)")
    return kinds.kicker(r)


OWN_KINDS = {
    **{name: kinds.drift for name in PASSIVE}, **{name: kinds.quiet for name in COLLECTIVE},
    **kinds.KINDS, "CSRCSBEND": kinds.bend, "CSBEND": kinds.bend, "KSBEND": kinds.bend,
    "CCBEND": kinds.bend, "RBEN": kinds.rectangular_bend, "KQUAD": kinds.quadrupole,
    "KSEXT": kinds.sextupole, "KOCT": kinds.octupole, "OCTU": kinds.octupole, "MULT": multipole,
    "RFCA": kinds.cavity, "RFCW": kinds.cavity, "RFDF": deflector, "RMDF": deflector,
    "MALIGN": misaligned, "ROTATE": kinds.offset, "HVCOR": corrector_bend,
    "EHKICKER": kinds.kicker, "EVKICKER": kinds.kicker, "EKICKER": corrector_bend,
}
del OWN_KINDS["DRIFT"]
OWN_KINDS = {"DRIFT": kinds.drift, **OWN_KINDS}


@dataclass(frozen=True)
class Rpn:
    """A text in quotes, with what % lines had stored when it was read."""
    text: str
    memory: dict

    def __str__(self):
        return self.text


class Elegant:
    """The language, as kinds.Reading asks for it."""
    name, title = "elegant", "elegant's decks"
    kinds = OWN_KINDS
    fint, swaps, edge_flags = 0.5, True, True
    beside = True  # gradients of bends are those beside the orbit, as in Transport
    shifts = "DX DY DZ FSE ETILT PITCH YAW DPITCH FSE_DIPOLE FSE_QUADRUPOLE HKICK VKICK XKICK " \
             "YKICK B1 B2 FSE_CORRECTION"
    words = frozenset(("KICK", "TILT", "HGAP", "FINT"))

    @staticmethod
    def evaluate(_, text):
        if isinstance(text, Rpn):
            return evaluate_rpn(text.text, dict(text.memory))
        return evaluate_rpn(str(text), {})

    @staticmethod
    def bend(r, rectangular):
        """Arc and angle: L is the arc, of RBEN the chord."""
        length, angle = r.number("L"), r.number("ANGLE")
        if rectangular and angle:
            length *= 0.5 * angle / math.sin(0.5 * angle)
        if r.number("USE_BN"):
            r.refuse("USE_BN is not supported (expected K1, K2)")
        return length, angle

    @staticmethod
    def cavity(r):
        """VOLT [V], PHASE [degree] with the crest at 90, FREQ [Hz]."""
        if r.deck.keyword(r.definition) == "RFCW":
            r.note("collective effects and changes of the beam are left out")
        return (r.number("VOLT"), (r.number("PHASE") - 90.0) / 360.0, r.number("FREQ", 500.0e6))


class Reader:
    """Reads files into a Deck."""

    def __init__(self):
        self.deck = Deck()
        self.memory = {}
        self.included = Included()

    def read(self, path, place=None):
        self.included.enter(path, place)
        for statement in statements(path, DIALECT, place):
            if self.one(statement, Path(path).parent) == "end":
                break
        self.included.leave()

    def one(self, statement, folder):
        text, place = statement.text, statement.place
        if text.startswith("%"):
            self.memory = dict(self.memory)  # what was read before keeps what it saw
            self.deck.try_value(lambda t: evaluate_rpn(t, self.memory), text[1:], place)
            return None
        include = re.match(r"#INCLUDE\s*:?\s*(.+)$", text, re.I)
        if include:
            self.read(folder / unquote(include.group(1)), place)
            return None
        word = re.match(r"\w*", text).group().upper()
        match = DEFINITION.match(text)
        if match:
            self.define(match, place)
        elif word == "USE":
            self.deck.used, self.deck.used_at = unquote(text.partition(",")[2]).upper(), place
        elif word == "RETURN":
            return "end"
        elif word != "TITLE":
            raise ConvertError(f"{place}: '{text[:60]}' is not understood")
        return None

    def define(self, match, place):
        name, rest = unquote(match.group("name")).upper(), match.group("rest").strip()
        line = re.match(r"LINE\s*=\s*\((.*)\)\s*$", rest, re.I | re.S)
        if line:
            self.deck.lines[name] = Line(name, line.group(1), place, bool(match.group("arguments")))
            return
        keyword, given = attributes(rest, place)
        values = {key: Rpn(unquote(value), self.memory)
                  if isinstance(value, str) and value[0] in "\"'" else value
                  for key, value in given.items()}
        self.deck.definitions[name] = Definition(name, unquote(keyword), values, place)


def read(path, options):
    reader = Reader()
    reader.read(path)
    return reader.deck
