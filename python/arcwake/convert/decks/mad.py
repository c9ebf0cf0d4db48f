# SPDX-License-Identifier: GPL-3.0-or-later
"""MAD8 and XSIF: parameters that are evaluated when they are used, classes, and lines.

Source: H. Grote and F. C. Iselin, The MAD program, User's Reference Manual, CERN/SL/90-13; the
XSIF decks of LCLS-II and FACET-II, whose statements are those of MAD8 with ; between them.
"""
import math
import re
from pathlib import Path

from ..problems import ConvertError
from . import kinds
from .deck import Deck, Definition, Line
from .expression import CONSTANTS, BadExpression, evaluate
from .source import (ASSIGNMENT, DEFINITION, Dialect, Included, split_outside, statements, unquote)

DIALECT = Dialect(separator=True, block=True)
# Commands that say nothing about the lattice; blocks are left out up to their ends.
IGNORED = set("""TITLE OPTION ASSIGN PRINT SELECT SPLIT SURVEY TWISS ENVELOPE SAVEBETA BETA0 PLOT
    SETPLOT RESPLOT SAVELINE SAVE SHOW HELP STATUS COGUESS EMIT EIGEN OPTICS STRUCTURE SYSTEM RESET
    ARCHIVE RETRIEVE POOLDUMP POOLLOAD PACKMEMO SETOPTS EALIGN EFCOMP EFIELD EPRINT ESAVE CORRECT
    START OBSERVE RUN BMPM IBS TOUSCHEK DUMP LMDIF MIGRAD SIMPLEX VALUE LIST""".split())
BLOCKS = {"MATCH": "ENDMATCH", "CYCLE": "ENDCYCLE", "EDIT": "ENDEDIT", "TRACK": "ENDTRACK",
          "HARMON": "ENDHARM", "LMAD": "ENDLMAD"}
ENDS = {"RETURN", "STOP", "QUIT", "EXIT"}
OWN_KINDS = {
    **kinds.KINDS, "PROFILE": kinds.drift, "WIRE": kinds.drift, "BLMONITOR": kinds.drift,
    "IMONITOR": kinds.drift, "SLMONITOR": kinds.drift, "MULTIPOLE": kinds.thin_multipole,
    "LCAVITY": kinds.cavity, "RFCAVITY": kinds.cavity, "SROTATION": kinds.offset,
    "YROTATION": kinds.offset, "GKICK": kinds.offset, "BLMO": kinds.drift, "IMON": kinds.drift,
}


class Mad8:
    """The language, as kinds.Reading asks for it."""
    name, title = "mad8", "decks of MAD8 and XSIF"
    kinds = OWN_KINDS
    fint, swaps, edge_flags = 0.0, False, False
    beside = True  # gradients of bends are those beside the orbit, as in Transport
    shifts = ""
    # attributes that are whole words although another one begins with them
    words = frozenset(("HGAP", "FINT", "KICK", "TILT", "TYPE"))

    @staticmethod
    def evaluate(deck, text):
        return deck.parameters.value(text)

    @staticmethod
    def bend(r, rectangular):
        """Arc and angle. What L of an RBEND is, programs that read these decks do not agree on."""
        length, angle = r.number("L"), r.number("ANGLE")
        if not rectangular or angle == 0.0 or r.options.rbend == "arc":
            return length, angle
        if r.options.rbend is None:
            r.refuse("L is the arc for some programs and the chord for others (expected --rbend)")
            return length, angle
        return length * 0.5 * angle / math.sin(0.5 * angle), angle

    @staticmethod
    def cavity(r):
        """DELTAE [MeV], PHI0 [rad/2pi] from the crest, FREQ [MHz] of an LCAVITY."""
        if r.deck.keyword(r.definition).startswith("L"):
            return (1e6 * r.number("DELTAE"), r.number("PHI0"), 1e6 * r.number("FREQ FREQUENCY"))
        if r.number("VOLT VOLTAGE"):
            r.refuse("the sense of LAG in a line is not fixed (expected LCAVITY, or VOLT = 0)")
        return 0.0, 0.0, 0.0


class Parameters:
    """Named expressions, evaluated when they are used."""

    def __init__(self, deck, constants):
        self.deck, self.texts, self.constants = deck, {}, constants
        self.values, self.running = {}, []

    def set(self, name, text):
        self.texts[name] = text
        self.values.clear()

    def value(self, text):
        return text if isinstance(text, float) else evaluate(text, self.lookup)

    def lookup(self, name, attribute):
        key = (name, attribute)
        if key in self.values:
            return self.values[key]
        if key in self.running:
            names = [one if not part else f"{one}[{part}]" for one, part in [*self.running, key]]
            raise BadExpression(f"{names[-1]} depends on itself ({' -> '.join(names)})")
        if len(self.running) > 200:
            raise BadExpression(f"{name} depends on too many others, one in the other")
        self.running.append(key)
        try:
            self.values[key] = self._find(name, attribute)
        finally:
            self.running.pop()
        return self.values[key]

    def _find(self, name, attribute):
        if attribute is None:
            if name in self.texts:
                return self.value(self.texts[name])
            if name in self.constants:
                return self.constants[name]
            raise BadExpression(f"{name} is not defined")
        if name not in self.deck.definitions:
            raise BadExpression(f"{name}[{attribute}]: {name} is not defined")
        found = self.deck.attribute(self.deck.definitions[name], [attribute])
        return 0.0 if found is None else self.value(found[0])


def attributes(rest, place):
    """KEYWORD, A=1, B -> (keyword, {A: "1", B: True}). Texts are still in quotes."""
    keyword, *items = split_outside(rest, ",")
    out = {}
    for item in items:
        name, sign, value = item.partition("=")
        name = name.strip().rstrip(":").strip().upper()
        if not name and not sign:
            continue  # ", ," or a comma at the end
        if not re.fullmatch(r"[A-Z_][\w.$]*", name) or (sign and not value.strip()):
            raise ConvertError(f"{place}: '{item.strip()[:60]}' is no attribute")
        out[name] = value.strip() if sign else True
    return keyword.strip().upper(), out


class Reader:
    """Reads files into a Deck."""

    def __init__(self):
        self.deck = Deck()
        self.deck.parameters = Parameters(self.deck, CONSTANTS)
        self.included = Included()
        self.block = None
        self.energy = None

    def read(self, path, place=None):
        self.included.enter(path, place)
        for statement in statements(path, DIALECT, place):
            if self.one(statement, Path(path).parent) == "end":
                break
        self.included.leave()

    def one(self, statement, folder):
        text, place = statement.text, statement.place
        word = re.match(r"\s*(\w*)", text).group(1).upper()
        if self.block:
            if word == self.block:
                self.block = None
            return None
        definition = DEFINITION.match(text)
        if definition:
            return self.define(definition, place)
        if word in ENDS:
            return "end"
        if word in BLOCKS:
            self.block = BLOCKS[word]
        elif word == "CALL":
            self.call(text, place, folder)
        elif word == "USE":
            self.use(text, place)
        elif word == "BEAM":
            self.beam(text, place)
        elif word == "SET":
            _, name, value = ([*split_outside(text, ","), "", ""])[:3]
            self.deck.parameters.set(name.strip().upper(), value.strip())
        elif ASSIGNMENT.match(text) and word not in IGNORED:
            self.assign(ASSIGNMENT.match(text), place)
        elif word not in IGNORED and not any(full.startswith(word) for full in IGNORED
                                             if len(word) >= 4):
            raise ConvertError(f"{place}: '{text[:60]}' is not understood")
        return None

    def define(self, match, place):
        name = unquote(match.group("name")).upper()
        rest = match.group("rest").strip()
        line = re.match(r"LINE\s*=\s*\((.*)\)\s*$", rest, re.I | re.S)
        if line:
            self.deck.lines[name] = Line(name, line.group(1), place, bool(match.group("arguments")))
            return
        keyword, given = attributes(rest, place)
        if keyword in ("LIST", "SEQUENCE") or keyword.startswith(("LIST=", "LIST ", "LINE")):
            raise ConvertError(f"{place}: {name}: {keyword.split('=')[0]} is not supported "
                               "(expected LINE=(...))")
        if keyword == "BEAM":
            self.energy_of(given, place)
            return
        if keyword in ("BETA0", "CONSTRAINT", "SUBROUTINE"):
            return
        # a kind that is not known is a problem only where the line has it
        self.deck.definitions[name] = Definition(name, keyword, given, place)
        self.deck.parameters.values.clear()

    def assign(self, match, place):
        name, attribute = match.group("name").upper(), match.group("attribute")
        if attribute is None:
            self.deck.parameters.set(name, match.group("value"))
            return
        if name not in self.deck.definitions:
            raise ConvertError(f"{place}: {name} is not defined")
        self.deck.definitions[name].attributes[attribute.upper()] = match.group("value")
        self.deck.parameters.values.clear()

    def call(self, text, place, folder):
        match = re.search(r"FILE(?:NAME)?\s*=\s*(\"[^\"]*\"|'[^']*'|[^,]+)", text, re.I)
        if not match:
            raise ConvertError(f"{place}: CALL without a file (expected CALL, FILENAME=\"...\")")
        self.read(folder / unquote(match.group(1)), place)

    def use(self, text, place):
        match = re.match(r"USE\s*,\s*(?:PERIOD\s*=\s*|LINE\s*=\s*)?([\w.$]+)", text, re.I)
        if not match:
            raise ConvertError(f"{place}: '{text[:60]}': expected USE, NAME")
        self.deck.used, self.deck.used_at = match.group(1).upper(), place

    def beam(self, text, place):
        self.energy_of(attributes(text, place)[1], place)

    def energy_of(self, given, place):
        """ENERGY of BEAM [GeV], the total energy; evaluated at the end, as all parameters."""
        if "ENERGY" in given:
            self.energy = (given["ENERGY"], place)


def read(path, options):
    reader = Reader()
    reader.read(path)
    if reader.energy:
        text, place = reader.energy
        value = reader.deck.try_value(reader.deck.parameters.value, text, place)
        reader.deck.energy = 1.0e9 * value
    return reader.deck
