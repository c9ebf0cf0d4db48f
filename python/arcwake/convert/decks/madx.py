# SPDX-License-Identifier: GPL-3.0-or-later
"""MAD-X: the file is run by MAD-X itself (cpymad), which expands its sequences and lines."""
import re
import subprocess
import tempfile
from pathlib import Path

from ..problems import ConvertError, need, one_line
from . import kinds
from .deck import Deck, Definition, Element, some
from .source import Place, read_lines, unquote

OWN_KINDS = {
    **kinds.KINDS, "MULTIPOLE": kinds.thin_multipole, "RFCAVITY": kinds.cavity,
    "TKICKER": kinds.kicker, "COLLIMATOR": kinds.drift, "PLACEHOLDER": kinds.drift,
    "SROTATION": kinds.offset, "YROTATION": kinds.offset, "XROTATION": kinds.offset,
    "TRANSLATION": kinds.offset, "CRABCAVITY": kinds.cavity, "TWCAVITY": kinds.cavity,
}
# Numbers that are asked for by other names than those of MAD-X, or make no difference.
USELESS = {"AT", "FROM", "LRAD", "SLOT_ID", "ASSEMBLY_ID", "MECH_SEP", "V_POS", "KMIN", "KMAX"}


class Madx:
    """The language, as kinds.Reading asks for it."""
    name, title = "madx", "decks of MAD-X"
    kinds = OWN_KINDS
    fint, swaps, edge_flags = 0.0, False, False
    beside = True  # gradients of bends are those beside the orbit, as in Transport
    shifts = "K0S K1S K2S K3S KTAP"
    words = frozenset()

    @staticmethod
    def evaluate(_, text):
        return text

    @staticmethod
    def bend(r, rectangular):
        """Arc and angle; MAD-X has made an arc of the chord of an RBEND."""
        length, angle = r.number("L"), r.number("ANGLE")
        field = r.number("K0")
        if field and length and abs(field - angle / length) > 1e-9 * abs(angle / length):
            r.refuse("K0 differs from ANGLE/L: a field other than that of the reference orbit is "
                     "not supported")
        r.zero("KILL_ENT_FRINGE KILL_EXI_FRINGE", "bends have edges here (expected false)")
        return length, angle

    @staticmethod
    def cavity(r):
        if r.number("VOLT"):
            r.refuse("RF is not supported in decks of MAD-X (expected VOLT = 0)")
        return 0.0, 0.0, 0.0


class Sequence:
    """An expanded sequence as a Deck: one line, whose elements have numbers."""

    def __init__(self):
        self.elements = []
        self.deck = Deck()
        self.deck.expand = lambda _: self.elements
        self.name = None
        self.deck.choose_line = lambda _: self.name


def _places(path, out=None, seen=None, place=None):
    """Where names are defined, by the texts of a file and of those that it calls."""
    out, seen = {} if out is None else out, seen or set()
    real = Path(path).resolve()
    if real in seen:
        return out
    seen.add(real)
    for number, line in enumerate(read_lines(path, place), 1):
        at = Place(str(path), number)
        found = re.match(r"\s*([A-Za-z_][\w.$]*)\s*:(?!=)", line)
        if found:
            out[found.group(1).upper()] = at
        called = re.search(r"\bCALL\s*,\s*FILE\s*=\s*([^;]+);", line, re.I)
        if called and (Path(path).parent / unquote(called.group(1))).is_file():
            _places(Path(path).parent / unquote(called.group(1)), out, seen, at)
    return out


def _run(path, output):
    """Run the file in MAD-X, which prints to a file. Returns cpymad's object."""
    cpymad = need("cpymad.madx", "cpymad", "reading a deck of MAD-X")
    engine = cpymad.Madx(stdout=output, stderr=subprocess.STDOUT)
    try:
        engine.call(str(path), chdir=True)
    except Exception as problem:  # MAD-X ends itself, or complains, in several ways
        raise _failed(path, output, problem) from None
    return engine


def _failed(path, output, problem):
    """What MAD-X has printed of errors, as a ConvertError."""
    output.seek(0)
    lines = [line.strip(" +=") for line in output.read().decode("utf-8", "replace").splitlines()]
    bad = [line for line in lines if re.match(r"(error|fatal|warning)\b", line, re.I)]
    # a warning, of a name that is not known for example, comes before the error that it causes
    return ConvertError(f"{path}: MAD-X: {'; '.join(bad[:2]) or one_line(problem)}")


def _active(engine):
    """Name of the sequence that the deck has used last, or none."""
    try:
        return engine._libmadx.get_active_sequence_name()
    except RuntimeError:
        return ""


def _choose(engine, path, wanted, output):
    """The sequence to convert, in use. Raises ConvertError."""
    name = (wanted or _active(engine)).lower()
    if not name and len(engine.sequence) == 1:
        name = next(iter(engine.sequence))
    if not name:
        known = some(engine.sequence) or "its lines"
        raise ConvertError(f"{path}: the deck uses no sequence (expected --line, one of: {known})")
    try:
        if name not in engine.sequence or not engine.sequence[name].has_beam:
            engine.beam(particle="electron", energy=1.0)  # USE needs one
        engine.use(name)
        return engine.sequence[name]
    except Exception as problem:
        if engine and name not in engine.sequence:
            raise ConvertError(f"--line: {name} is not a sequence or line of {path}") from None
        raise _failed(path, output, problem) from None


def _attributes(element):
    """Numbers of an expanded element, by the names that kinds asks for."""
    out = {}
    for name, value in element.items():
        name = name.upper()
        if name in ("KNL", "KSL"):
            for order, one in enumerate(value):
                if one and name == "KNL":
                    out[f"K{order}L"] = float(one)
                elif one:
                    out[f"T{order}"] = 1.0  # any turn is refused
                    out.setdefault(f"K{order}L", float(one))
        elif isinstance(value, (bool, int, float)) and value and name not in USELESS:
            out[name] = float(value)
    out["L"] = float(element.length)
    return out


def _sequence(engine, path, options, output):
    """What MAD-X has made of the file, as a Sequence."""
    found, places = Sequence(), _places(path)
    energy = {name: one.beam.energy for name, one in engine.sequence.items() if one.has_beam}
    sequence = _choose(engine, path, options.line, output)
    found.name = sequence.name.upper()
    if sequence.name in energy:
        found.deck.energy = 1.0e9 * energy[sequence.name]
    for element in sequence.expanded_elements:
        name = re.sub(r"[\[\]:]+", "_", element.name.upper()).strip("_")
        if name.endswith(("$START", "$END")):
            continue
        place = places.get(re.sub(r"\[.*", "", element.name).upper(), Place(str(path), 1))
        one = Definition(name, element.base_type.name.upper(), _attributes(element), place)
        found.elements.append(Element(name, one))
    return found.deck


def read(path, options):
    read_lines(path)  # for its own message where it cannot be read
    with tempfile.TemporaryFile() as output:
        engine = _run(path, output)
        try:
            return _sequence(engine, path, options, output)
        finally:
            if engine:
                engine.quit()
