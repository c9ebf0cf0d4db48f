# SPDX-License-Identifier: GPL-3.0-or-later
"""Decks of elegant, MAD8, XSIF, MAD-X, Bmad and Ocelot as lattices in PALS."""
import fnmatch
import math
import re
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

from ..problems import ConvertError
from . import bmad, elegant, kinds, mad, madx, ocelot, pals
from .deck import some

M_E = 510998.95  # electron rest energy [eV], as in the program


@dataclass(frozen=True)
class Format:
    name: str
    suffixes: tuple
    language: type
    read: object

    @property
    def title(self):
        return self.language.title


FORMATS = (
    Format("elegant", (".lte",), elegant.Elegant, elegant.read),
    Format("mad8", (".mad8", ".xsif", ".mad"), mad.Mad8, mad.read),
    Format("madx", (".madx", ".seq"), madx.Madx, madx.read),
    Format("bmad", (".bmad",), bmad.Bmad, bmad.read),
    Format("ocelot-deck", (".py",), ocelot.Ocelot, ocelot.read),
)


def guess(source):
    """The format that the end of a file's name shows, or None."""
    suffix = Path(source).suffix.lower()
    return next((row for row in FORMATS if suffix in row.suffixes), None)


def read(row, source, line=None, first=None, last=None, energy=None, plane="x", rbend=None,
         as_drift=()):
    """Read a deck. Returns (write(path), notes). Raises ConvertError with every problem found."""
    options = SimpleNamespace(line=line, plane=plane, rbend=rbend, as_drift=as_drift)
    deck = row.read(str(source), options)
    name = deck.choose_line(line)
    elements = deck.expand(name)
    start, end = _ends(elements, name, first, last)
    optics = _optics(deck, row.language, elements, options, start, end)
    names = [element.name for element in elements]
    if row.language is bmad.Bmad:
        _superimposed(deck, row.language, elements[start:end], options)
        names += [definition.name for definition, _ in bmad.superimposed(deck)]
    _drifts(names, name, as_drift)
    energy = _energy(deck, energy, optics[:start])
    chosen = [optic for optic in optics[start:end] if optic is not None]
    if energy is not None:
        _cavities(deck, elements[start:end], optics[start:end], energy)
    if deck.problems:
        raise ConvertError(list(dict.fromkeys(deck.problems)))
    if not any(optic.length for optic in chosen):
        raise ConvertError(f"{source}: {name}: the line has no length")
    notes = _notes(deck, start, end, elements)
    head = [f"{name} of {Path(source).name}" + _span(first, last), *notes]
    text = pals.document(name, chosen, energy, head)
    return (lambda path: Path(path).write_text(text, encoding="utf-8"),
            [_summary(name, chosen, energy), *notes])


def _span(first, last):
    return (f", from {first}" if first else "") + (f", to {last}" if last else "")


def _find(elements, line, wanted, option):
    """Index of the element NAME, or NAME[2], of a line."""
    match = re.fullmatch(r"(.+?)(?:\[(\d+)\])?", wanted.strip())
    name, count = match.group(1).upper(), int(match.group(2) or 1)
    places = [i for i, one in enumerate(elements) if one.name == name]
    if not places:
        raise ConvertError(f"{option}: {line} has no element {wanted} (expected one of: "
                           f"{some(dict.fromkeys(one.name for one in elements))})")
    if not 1 <= count <= len(places):
        raise ConvertError(f"{option}: {line} has {len(places)} elements {name}, not {count}")
    return places[count - 1]


def _ends(elements, line, first, last):
    start = _find(elements, line, first, "--from") if first else 0
    end = _find(elements, line, last, "--to") + 1 if last else len(elements)
    if start >= end:
        raise ConvertError(f"--to: {last} comes before {first} in {line}" if first and last else
                           f"{line} has no element")
    return start, end


def _drifts(names, line, patterns):
    """A name that --as-drift has for nothing is a misspelt one."""
    for pattern in patterns:
        if not fnmatch.filter(names, pattern.upper()):
            raise ConvertError(f"--as-drift: {line} has no element {pattern} (expected one of: "
                               f"{some(dict.fromkeys(names))})")


def _optics(deck, language, elements, options, start, end):
    """The optics of all elements of the line; None where one was refused.

    What comes before the first one is read for its cavities alone, which change the energy.
    """
    out, known = [], {}
    for i, element in enumerate(elements):
        key = (element.name, id(element.definition), element.reversed)
        if key not in known:
            inside = start <= i < end
            known[key] = _optic(deck, language, element, options, inside)
            if not inside:
                out.append(known.pop(key))
                continue
        out.append(known[key])
    return out


def _optic(deck, language, element, options, inside):
    reading = kinds.Reading(deck, language, element, options)
    handler = kinds.find(language.kinds, deck.keyword(element.definition))
    if any(fnmatch.fnmatchcase(element.name, pattern.upper()) for pattern in options.as_drift):
        handler = kinds.drift
        if inside:
            reading.note("taken as a drift (--as-drift)")
    if not inside and handler is not kinds.cavity:
        return None
    try:
        optic = handler(reading)
    except ConvertError as problem:
        deck.problems += problem.problems
        return None
    if optic is not None and (optic.length < 0.0 or not math.isfinite(optic.length)):
        reading.refuse(f"its length is {optic.length:.6g} (expected 0 or more)")
    return None if reading.bad else optic


def _superimposed(deck, language, elements, options):
    """Markers and monitors upon the line have no effect; magnets have."""
    names = {element.name for element in elements}
    for definition, reference in bmad.superimposed(deck):
        if not bmad.concerns(reference, names):
            continue
        element = SimpleNamespace(name=definition.name, definition=definition, reversed=False)
        optic = _optic(deck, language, element, options, True)
        if optic is None or optic.kind not in ("Drift", "Marker"):
            deck.problems.append(f"{definition.place}: {definition.name}: superimposed magnets are "
                                 "not supported (expected it in the line)")
        else:
            deck.notes.append(("superimposed without a field: left out", definition.name,
                               str(definition.place)))


def _gain(optic):
    rf = optic.groups.get("RFP") if optic else None
    return rf["voltage"] * math.cos(2.0 * math.pi * rf["phase"]) if rf else 0.0


def _energy(deck, given, before):
    """Reference total energy [eV] at the first element; None: a problem was noted."""
    if given is not None:
        if not M_E < given < math.inf:
            raise ConvertError(f"--energy: {given:g} is below the rest energy (expected eV)")
        return given
    if deck.energy is None:
        deck.problems.append("the deck has no reference energy (expected --energy EV)")
    elif any(_gain(optic) for optic in before):
        deck.problems.append("cavities before --from change the energy (expected --energy EV)")
    elif deck.energy <= M_E:
        deck.problems.append(f"the deck's energy is {deck.energy:g} eV (expected --energy EV)")
    else:
        return deck.energy
    return None


def _cavities(deck, elements, optics, energy):
    """The reference energy of a lattice is one number: a cavity must not change it."""
    for element, optic in zip(elements, optics):
        if abs(_gain(optic)) > kinds.FIELDLESS * energy:
            deck.problems.append(f"{element.definition.place}: {element.name}: the cavity changes "
                                 "the reference energy (expected --to before it or --from behind)")


def _notes(deck, start, end, elements):
    """One line for each kind of note, with its first places."""
    inside = {element.name for element in elements[start:end]}
    grouped = {}
    for what, name, place in deck.notes:
        if name in inside or "superimposed" in what or "left out: elements" in what:
            grouped.setdefault(what, {})[name] = place
    return [f"note: {what}: " + some([f"{name} ({place})" for name, place in names.items()], 4)
            for what, names in grouped.items()]


def _summary(name, optics, energy):
    bends = [optic for optic in optics if optic.angle]
    return (f"{name}: {len(optics)} elements, {sum(optic.length for optic in optics):.6f} m, "
            f"{len(bends)} bends, {sum(optic.angle for optic in bends):.6g} rad in all, "
            f"{energy:.8g} eV")


__all__ = ["FORMATS", "Format", "guess", "read"]
