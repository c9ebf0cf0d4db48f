# SPDX-License-Identifier: GPL-3.0-or-later
"""The elements of a lattice (the PALS subset of docs/input.md), and the design orbit through them.

The run has checked the lattice; here only what a picture and the orbit need is read.
"""
import math
from dataclasses import dataclass

import numpy as np

LIGHT = 299792458.0
REST_EV = 510998.95
BENDS = ("Bend", "SBend", "RBend")


@dataclass
class Element:
    """One element: begin and length [m], curvature [1/m] of a bend, strength [1/m^2] of a quad."""

    name: str
    kind: str
    begin: float
    length: float
    curvature: float = 0.0
    strength: float = 0.0


class _Reader:
    """Expands lines, `repeat` and `inherit`."""

    def __init__(self, facility):
        self.entries, self.use, self.last = {}, None, None
        for entry in facility:
            ((name, body),) = entry.items()
            if name == "use":
                self.use = body
            else:
                self.entries[name] = body
                if isinstance(body, dict) and body.get("kind") == "Lattice":
                    self.last = name
        for body in list(self.entries.values()):
            self.name_inner(body)
        self.elements, self.place, self.momentum = [], 0.0, 0.0

    def name_inner(self, body):
        """Elements defined in a line can be named elsewhere; those of `facility` come first."""
        for item in body.get("line") or () if isinstance(body, dict) else ():
            for name, inner in item.items() if isinstance(item, dict) else ():
                if isinstance(inner, dict) and ("kind" in inner or "inherit" in inner):
                    self.entries.setdefault(name, inner)
                    self.name_inner(inner)

    def spec(self, body, depth=0):
        """Parameters with those of `inherit` below them."""
        if depth > 16:
            raise ValueError("inherits in a circle")
        body = dict(body or {})
        parent = body.pop("inherit", None)
        if parent is None:
            return body
        above = self.spec(self.entries[parent], depth + 1)
        above.pop("repeat", None)
        for key, value in body.items():
            both = isinstance(value, dict) and isinstance(above.get(key), dict)
            above[key] = {**above[key], **value} if both else value
        return above

    def item(self, item):
        """Append an item of a line."""
        name, body = (item, {}) if isinstance(item, str) else next(iter(item.items()))
        body = body or {}
        if name in self.entries and not ("kind" in body or "inherit" in body):
            body = {"inherit": name, **body}
        spec = self.spec(body)
        count = int(body.get("repeat", 1))
        for _ in range(abs(count)):
            if spec.get("kind") == "BeamLine":
                for inner in spec["line"][::-1 if count < 0 else 1]:
                    self.item(inner)
            else:
                self.element(name, spec)

    def element(self, name, spec):
        kind = spec["kind"]
        if kind == "BeginningEle":
            reference = spec.get("ReferenceP") or {}
            if not self.momentum and "pc_ref" in reference:
                self.momentum = float(reference["pc_ref"])
            elif not self.momentum and "E_tot_ref" in reference:
                self.momentum = math.sqrt(float(reference["E_tot_ref"]) ** 2 - REST_EV**2)
            return
        length, curvature, strength = float(spec.get("length") or 0.0), 0.0, 0.0
        if kind in BENDS:
            length, curvature = self.bend(spec)
        elif kind == "Quadrupole":
            strength = self.quadrupole(spec, length)
        if length > 0.0:
            self.elements.append(Element(name, kind, self.place, length, curvature, strength))
            self.place += length

    def of_field(self, field):
        """Strength of a field of an electron, q < 0."""
        return -float(field) * LIGHT / self.momentum

    def bend(self, spec):
        """Arc length and curvature from any two of curvature, length and angle."""
        group = spec.get("BendP") or {}
        curvature = None
        if "g_ref" in group:
            curvature = float(group["g_ref"])
        for key in ("radius_ref", "rho_ref"):
            if key in group:
                curvature = 1.0 / float(group[key])
        for key in ("Bn0_ref", "bend_field_ref"):
            if key in group:
                curvature = self.of_field(group[key])
        angle = float(group["angle_ref"]) if "angle_ref" in group else None
        length = float(spec["length"]) if "length" in spec else None
        if length is None and "L_chord" in group:
            chord = float(group["L_chord"])
            angle = 2.0 * math.asin(0.5 * curvature * chord) if angle is None else angle
            length = chord / float(np.sinc(0.5 * angle / math.pi))
        elif length is None and "L_rectangle" in group:
            base = float(group["L_rectangle"])
            angle = math.asin(curvature * base) if angle is None else angle
            length = base / float(np.sinc(angle / math.pi))
        if length is None:
            length = angle / curvature
        if curvature is None:
            curvature = (angle or 0.0) / length
        return length, curvature

    def quadrupole(self, spec, length):
        """Kn1 [1/m^2]."""
        group = spec.get("MagneticMultipoleP") or {}
        for key, value in group.items():
            integrated = length if key.endswith("L") else 1.0
            if key.startswith("Kn1"):
                return float(value) / integrated
            if key.startswith("Bn1"):
                return self.of_field(value) / integrated
        return 0.0


def elements(document):
    """The elements of the lattice in use. ValueError: not understood."""
    try:
        facility = document.get("PALS", document)["facility"]
        reader = _Reader(facility)
        (line,) = reader.entries[reader.use or reader.last]["branches"]
        reader.item(line)
    except (KeyError, TypeError, AttributeError, ValueError, ZeroDivisionError,
            RecursionError) as problem:
        raise ValueError(f"not understood: {type(problem).__name__} {problem}") from problem
    return reader.elements


class Orbit:
    """The design orbit in the lab's (z, x) plane: circles and straight lines.

    Before its first piece and behind its last it goes on with their curvature. A positive curvature
    bends towards -x: the direction falls with S.
    """

    def __init__(self, begins, curvatures, start=(0.0, 0.0, 0.0)):
        """Pieces from begins[i] [m] on with curvatures[i] [1/m]; z, x, direction at begins[0]."""
        self.begin = np.asarray(begins, float)
        self.curvature = np.asarray(curvatures, float)
        points = [start]
        for length, curvature in zip(np.diff(self.begin), self.curvature):
            z, x, direction = points[-1]
            turn = 0.5 * curvature * length
            chord = length * float(np.sinc(turn / math.pi))
            points.append((z + chord * math.cos(direction - turn),
                           x + chord * math.sin(direction - turn), direction - 2.0 * turn))
        self.z, self.x, self.direction = np.array(points).T

    @classmethod
    def of_elements(cls, parts):
        """Through the elements of a lattice, straight before and behind."""
        begins = [-1.0] + [one.begin for one in parts] + [parts[-1].begin + parts[-1].length]
        return cls(begins, [0.0] + [one.curvature for one in parts] + [0.0], (-1.0, 0.0, 0.0))

    def at(self, s):
        """z, x, direction and curvature at arc lengths s [m]."""
        s = np.asarray(s, float)
        i = np.clip(np.searchsorted(self.begin, s, side="right") - 1, 0, len(self.begin) - 1)
        ahead = s - self.begin[i]
        curvature = self.curvature[i]
        turn = 0.5 * curvature * ahead
        chord, middle = ahead * np.sinc(turn / math.pi), self.direction[i] - turn
        return (self.z[i] + chord * np.cos(middle), self.x[i] + chord * np.sin(middle),
                middle - turn, curvature)

    def project(self, z, x, guess):
        """Arc length of the closest point and offset along the normal there [m].

        Newton's iteration; from a guess within a bunch length of it, three steps reach rounding.
        """
        s = np.broadcast_to(np.asarray(guess, float), np.shape(z)).copy()
        for _ in range(4):
            z0, x0, direction, curvature = self.at(s)
            cosine, sine = np.cos(direction), np.sin(direction)
            along = (z - z0) * cosine + (x - x0) * sine
            across = (x - x0) * cosine - (z - z0) * sine
            s += along / (1.0 + curvature * across)
        return s, across
