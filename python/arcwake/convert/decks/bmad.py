# SPDX-License-Identifier: GPL-3.0-or-later
"""Bmad: statements that take effect in their order, name[attribute] = value, rbend and superimpose.

Source: D. Sagan, The Bmad Reference Manual, chapters on lattice files and elements.
"""
import fnmatch
import math
import re
from pathlib import Path

from ..problems import ConvertError
from . import kinds
from .deck import Deck, Definition, Line
from .expression import BMAD_CONSTANTS, BadExpression
from .mad import Parameters, attributes
from .source import ASSIGNMENT, DEFINITION, Dialect, Included, statements, unquote

DIALECT = Dialect(separator=True, hungry=",({[=")
IGNORED = set("""PRINT TITLE NO_DIGESTED NO_SUPERIMPOSE PARSER_DEBUG EXPAND_LATTICE WRITE_DIGESTED
    CALC_REFERENCE_ORBIT SLICE_LATTICE REDEF DEBUG_MARKER COMBINE_CONSECUTIVE_ELEMENTS
    MERGE_ELEMENTS MERGE_ELEMENT""".split())
CONTROLLERS = ("OVERLAY", "GROUP", "GIRDER", "RAMPER")
M_E = 510998.95  # eV


def ab_multipole(r):
    for order in range(10):
        r.zero(f"A{order} B{order}", "is not supported (expected 0, or a MULTIPOLE)")
    return kinds.drift(r)


OWN_KINDS = {
    **kinds.KINDS, "DETECTOR": kinds.drift, "PIPE": kinds.drift, "NULL_ELE": kinds.drift,
    "FIDUCIAL": kinds.drift, "MULTIPOLE": kinds.thin_multipole, "AB_MULTIPOLE": ab_multipole,
    "LCAVITY": kinds.cavity, "RFCAVITY": kinds.cavity, "PATCH": kinds.offset,
    "FLOOR_SHIFT": kinds.offset, "MASK": kinds.drift, "FORK": kinds.drift,
}


class Bmad:
    """The language, as kinds.Reading asks for it."""
    name, title = "bmad", "Bmad's decks"
    kinds = OWN_KINDS
    fint, swaps, edge_flags = 0.5, False, False
    beside = False  # whether gradients of bends are those beside the orbit is left open
    shifts = "X_OFFSET Y_OFFSET Z_OFFSET X_PITCH Y_PITCH ROLL DG G_ERR DB_FIELD B_FIELD_ERR " \
             "HKICK VKICK"
    words = frozenset(("TILT", "HGAP", "FINT", "KICK", "TYPE", "ANGL"))

    @staticmethod
    def evaluate(deck, text):
        return deck.parameters.value(text)

    @staticmethod
    def bend(r, rectangular):
        """Arc and angle from two of L, ANGLE, G or RHO; L of an rbend is its chord."""
        for name, good in (("FRINGE_TYPE", "BASIC_BEND FULL LINEAR_EDGE HARD_EDGE_ONLY"),
                           ("FRINGE_AT", "BOTH_ENDS")):
            word = r.text(name).upper()
            if word and word not in good.split():
                r.refuse(f"{name} = {word}: bends have edges here")
        r.zero("B_FIELD", "is not supported (expected ANGLE, G or RHO)")
        length, angle = r.number("L L_ARC"), r.number("ANGLE")
        chord = rectangular and not r.given("L_ARC")
        curvature = 1.0 / r.number("RHO") if r.number("RHO") else r.number("G")
        if angle and curvature and not length:
            return angle / curvature, angle
        if curvature and not angle:
            if chord and abs(0.5 * curvature * length) < 1.0:
                angle = 2.0 * math.asin(0.5 * curvature * length)
                return angle / curvature, angle
            return length, curvature * length
        if angle and curvature:
            r.refuse("ANGLE, L and G: expected two of the three")
        if chord and angle:
            length *= 0.5 * angle / math.sin(0.5 * angle)
        return length, angle

    @staticmethod
    def cavity(r):
        """VOLTAGE [V], PHI0 [rad/2pi] from the crest, RF_FREQUENCY [Hz] of an lcavity."""
        voltage = r.number("VOLTAGE") or r.number("GRADIENT") * r.number("L")
        if r.deck.keyword(r.definition).startswith("LC"):
            phase = r.number("PHI0") + r.number("PHI0_ERR") + r.number("PHI0_MULTIPASS")
            r.zero("VOLTAGE_ERR GRADIENT_ERR", "is not supported (expected 0)")
            return voltage, phase, r.number("RF_FREQUENCY")
        if voltage:
            r.refuse("an rfcavity in a line is not supported (expected an lcavity, or 0)")
        return 0.0, 0.0, 0.0


class Reader:
    """Reads files into a Deck; numbers are evaluated when they are read."""

    def __init__(self):
        self.deck = Deck()
        self.deck.parameters = Parameters(self.deck, BMAD_CONSTANTS)
        self.included = Included()

    def read(self, path, place=None):
        self.included.enter(path, place)
        for statement in statements(path, DIALECT, place):
            if self.one(statement, Path(path).parent) == "end":
                break
        self.included.leave()

    def number(self, text):
        """The value of a text, or the text where it has none now (words, braces)."""
        try:
            return self.deck.parameters.value(text) if isinstance(text, str) else text
        except BadExpression:
            return text

    def one(self, statement, folder):
        text, place = statement.text, statement.place
        word = re.match(r"\w*", text).group().upper()
        assignment = ASSIGNMENT.match(text)
        if word == "CALL":
            match = re.search(r"FILE(?:NAME)?\s*=\s*(.+)$", text, re.I)
            if not match:
                raise ConvertError(f"{place}: call without a file (expected call, file = NAME)")
            self.read(folder / unquote(match.group(1)), place)
        elif word in ("END_FILE", "RETURN"):
            return "end"
        elif word == "USE" and not assignment:
            self.use(text, place)
        elif word in IGNORED and not assignment:
            return None
        elif DEFINITION.match(text) and "::" not in text.split("=")[0]:
            self.define(DEFINITION.match(text), place)
        elif assignment or "::" in text:
            self.assign(text, assignment, place)
        else:
            raise ConvertError(f"{place}: '{text[:60]}' is not understood")
        return None

    def use(self, text, place):
        names = [name.strip() for name in text.split(",")[1:]]
        if len(names) != 1:
            raise ConvertError(f"{place}: '{text[:60]}': expected one line")
        self.deck.used, self.deck.used_at = names[0].upper(), place

    def define(self, match, place):
        name, rest = unquote(match.group("name")).upper(), match.group("rest").strip()
        line = re.match(r"LINE\s*(?:\[[^\]]*\])?\s*=\s*\((.*)\)\s*$", rest, re.I | re.S)
        if line:
            self.deck.lines[name] = Line(name, line.group(1), place, bool(match.group("arguments")))
            return
        word = re.match(r"\w*", rest).group().upper()
        if word in CONTROLLERS:
            self.deck.notes.append((f"{word.lower()} is left out: elements are as defined", name,
                                    str(place)))
            return
        if word == "LIST":
            raise ConvertError(f"{place}: {name}: LIST is not supported (expected LINE = (...))")
        keyword, given = attributes(rest, place)
        values = {key: self.number(value) for key, value in given.items()}
        self.deck.definitions[name] = Definition(name, keyword, values, place)
        self.deck.parameters.values.clear()

    def assign(self, text, match, place):
        whole = re.match(r"\s*(?P<name>[\w.:*%$#]+)\s*\[\s*(?P<attribute>[^\]]+)\]\s*:?=\s*"
                         r"(?P<value>.*)$", text, re.S)
        if whole:
            self.change(whole.group("name").upper(), whole.group("attribute").strip().upper(),
                        whole.group("value"), place)
        elif match and match.group("attribute") is None:
            value = self.deck.try_value(self.deck.parameters.value, match.group("value"), place)
            self.deck.parameters.set(match.group("name").upper(), value)
        else:
            raise ConvertError(f"{place}: '{text[:60]}' is not understood")

    def change(self, name, attribute, text, place):
        value = self.number(text)
        if name in ("PARAMETER", "BEGINNING", "BMAD_COM", "PARTICLE_START", "BEAM_START",
                    "SPACE_CHARGE_COM", "PTC_COM", "BEAM"):
            self.reference(attribute, value, place)
            return
        found = self.deck.matching(name)
        if not found and not any(sign in name for sign in "*%:"):
            raise ConvertError(f"{place}: {name} is not defined")
        for one in found:
            one.attributes[attribute] = value
        self.deck.parameters.values.clear()

    def reference(self, attribute, value, place):
        if attribute in ("E_TOT", "P0C"):
            if not isinstance(value, float):
                raise ConvertError(f"{place}: '{value}' is no number")
            self.deck.energy = value if attribute == "E_TOT" else math.hypot(value, M_E)
        elif attribute == "PARTICLE" and unquote(str(value)).upper() != "ELECTRON":
            raise ConvertError(f"{place}: the particles are {value} (expected electron)")


def superimposed(deck):
    """Definitions that are placed upon the line, with the names of the elements they refer to."""
    return [(one, str(deck.attribute(one, ["REF"])[0]).upper()
             if deck.attribute(one, ["REF"]) else None)
            for one in deck.definitions.values()
            if (deck.attribute(one, ["SUPERIMPOSE"]) or (False,))[0] not in (False, "F", "FALSE")]


def concerns(reference, names):
    """Whether an element that is placed upon another one lies in a line of these names."""
    if reference is None:
        return True
    pattern = reference.rpartition("::")[2]
    return any(fnmatch.fnmatchcase(name, pattern.replace("%", "?")) for name in names)


def read(path, options):
    reader = Reader()
    reader.read(path)
    return reader.deck
