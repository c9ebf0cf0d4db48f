# SPDX-License-Identifier: GPL-3.0-or-later
"""What elements of decks are: bends, quadrupoles and so on of PALS, drifts, or nothing we have.

A deck's keyword is looked up in KINDS by its name, which may be cut to four letters. A handler
takes a Reading, through which it asks for attributes, and returns an Optic. What would change the
motion in the plane and has no counterpart is a problem, with its place; what changes only the
vertical plane, or is a collective effect, is a note.
"""
import math
from dataclasses import dataclass, field

from ..problems import ConvertError

RIGHT_ANGLE = 1.0e-6  # decks write pi/2 with seven digits and more
FIELDLESS = 1.0e-6    # relative gain of energy below which a cavity leaves the reference as it is


@dataclass
class Optic:
    """An element of PALS: kind, length [m], groups of parameters."""
    name: str
    kind: str
    length: float = 0.0
    groups: dict = field(default_factory=dict)
    angle: float = 0.0  # of a bend, for the summary


class Reading:
    """One element of the deck, while it is turned into an Optic.

    number(names, default) is the value of the first attribute that is given; refuse() and note()
    say what has no counterpart.
    """

    def __init__(self, deck, language, element, options):
        self.deck, self.language, self.element, self.options = deck, language, element, options
        self.definition = element.definition
        self.place = element.definition.place
        self.bad = False

    def given(self, *names):
        return self.deck.attribute(self.definition, names, self.language.words) is not None

    def number(self, names, default=0.0, flag=None):
        """flag: what an attribute stands for that is given without a value."""
        found = self.deck.attribute(self.definition, names.split(), self.language.words)
        if found is None:
            return default
        text, place = found
        if text is True and flag is not None:
            return flag
        value = self.deck.try_value(lambda t: self.language.evaluate(self.deck, t), text, place)
        if value is None or isinstance(value, bool):
            raise ConvertError(f"{place}: {self.element.name}: {names.split()[0]} is no number")
        return value

    def text(self, names, default=""):
        found = self.deck.attribute(self.definition, names.split(), self.language.words)
        return default if found is None or found[0] is True else str(found[0])

    def refuse(self, why):
        keyword = self.deck.keyword(self.definition)
        self.deck.problems.append(f"{self.place}: {self.element.name}: {keyword}: {why}")
        self.bad = True

    def note(self, what):
        self.deck.notes.append((what, self.element.name, str(self.place)))

    def zero(self, names, why):
        """Refuse each of some attributes that is given and not 0."""
        for name in names.split():
            if self.given(name) and self.number(name, flag=1.0) != 0.0:
                self.refuse(f"{name} = {self.number(name, flag=1.0):.6g}: {why}")

    def optic(self, kind, length=None, **groups):
        groups = {key: value for key, value in groups.items() if value}
        length = self.number("L") if length is None else length
        return Optic(self.element.name, kind, length, groups)


def drift(r):
    """Nothing in the plane: a drift, or without length a marker."""
    length = r.number("L")
    return r.optic("Drift" if length != 0.0 else "Marker", length)


def quiet(r):
    """What changes the particles but is no part of the lattice here; a drift."""
    r.note("collective effects and changes of the beam are left out")
    return drift(r)


def shifts(r):
    """Zero offsets and errors are as good as none."""
    r.zero(r.language.shifts, "misalignments and errors are not supported (expected 0)")


def tilt(r, order):
    """Angle about the axis, as a number of half steps of the multipole's symmetry.

    A multipole of the order n is the same after a turn by pi/(n + 1), but for its sign. Returns the
    sign, or None (refused) where the field is not normal. The bare word TILT is half such a step.
    """
    half = 0.5 * math.pi / (order + 1)
    steps = r.number("TILT REF_TILT", flag=half) / half
    if r.options.plane == "y":
        steps -= (order + 1.0)  # turned by pi/2 together with the plane
    whole = round(steps)
    if abs(steps - whole) * half > RIGHT_ANGLE or whole % 2:
        plane = "the plane y" if r.options.plane == "y" else "the plane x"
        r.refuse(f"its field is not normal in {plane} (expected another tilt, or --plane)")
        return None
    return -1.0 if whole % 4 else 1.0


def strength(r, names, order):
    """Normal strength of a multipole, Kn of PALS."""
    value = r.number(names)
    if value == 0.0:
        return 0.0
    sign = tilt(r, order)
    return 0.0 if sign is None else sign * value


def edges(r, angle):
    """e1, e2 relative to the faces of a sector magnet; in the order in which the beam comes."""
    e1 = r.number("E1")
    e2 = r.number("E2")
    if r.language.swaps and r.element.reversed:
        e1, e2 = e2, e1
    return e1, e2


def bend_effects(r, angle):
    if r.number("HGAP") and (r.number("FINT", r.language.fint) or r.number("FINTX")):
        r.note("HGAP and FINT of bends act vertically only and are left out")
    r.zero("H1 H2", "curved pole faces are not supported (expected 0)")
    r.zero("K3 K4", "is not supported in a bend (expected 0)")
    shifts(r)
    if r.language.edge_flags:
        for name in ("EDGE1_EFFECTS", "EDGE2_EFFECTS"):
            if r.number(name, 1.0) == 0.0 and angle != 0.0:
                r.refuse(f"{name} = 0: bends have edges here (expected 1)")


def bend(r, rectangular=False):
    length, angle = r.language.bend(r, rectangular)
    bend_effects(r, angle)
    if angle == 0.0:
        values = {"Kn1": strength(r, "K1", 1), "Kn2": strength(r, "K2", 2)}
        if values["Kn1"] or values["Kn2"]:
            return magnet(r, length, values)
        return r.optic("Drift" if length else "Marker", length)
    if length <= 0.0:
        r.refuse("a bend without length (expected L above 0)")
        return None
    sign = tilt(r, 0)
    if sign is None:
        return None
    e1, e2 = edges(r, angle)
    if rectangular:
        e1, e2 = e1 + 0.5 * angle, e2 + 0.5 * angle
    # Gradients of a bend turn with it, so that they are normal with respect to it.
    values = {}
    if not (r.given("K1") or r.given("K2")):
        pass
    elif sign < 0.0 or r.options.plane == "y":
        r.zero("K1 K2", "gradients are supported in bends without tilt (expected 0)")
    else:
        values = {key: value for key, value in (("Kn1", r.number("K1")), ("Kn2", r.number("K2")))
                  if value}
    group = {"g_ref": sign * angle / length, "e1": sign * e1, "e2": sign * e2}
    if values and r.language.beside:
        group["multipole_geometry"] = "horizontally_pure"
    out = r.optic("SBend", length, BendP=group, MagneticMultipoleP=values)
    out.angle = sign * angle
    return out


def rectangular_bend(r):
    return bend(r, rectangular=True)


def magnet(r, length, values):
    """A straight magnet of the lowest of its orders."""
    values = {key: value for key, value in values.items() if value}
    lowest = min(values, default=None)
    kind = {"Kn1": "Quadrupole", "Kn2": "Sextupole", "Kn3": "Octupole"}.get(lowest)
    if kind is None:
        return r.optic("Drift" if length else "Marker", length)
    return r.optic(kind, length, MagneticMultipoleP=values)


def straight(r, names, order):
    shifts(r)
    length = r.number("L")
    value = strength(r, names, order)
    if value and length <= 0.0:
        r.refuse("a magnet without length (expected L above 0)")
        return None
    return magnet(r, length, {f"Kn{order}": value})


def quadrupole(r):
    r.zero("B" if r.language.name == "elegant" else "B1_GRADIENT",
           "is not supported (expected K1)")
    return straight(r, "K1", 1)


def sextupole(r):
    return straight(r, "K2", 2)


def octupole(r):
    return straight(r, "K3", 3)


def thin_multipole(r):
    """MULTIPOLE of MAD8 and Bmad: K1L, K2L ... and their tilts."""
    shifts(r)
    values = {}
    for order in range(10):
        value = r.number(f"K{order}L")
        turn = r.number(f"T{order}", flag=0.5 * math.pi / (order + 1))
        if value == 0.0:
            continue
        if order == 0:
            r.refuse("K0L: a thin dipole is not supported (expected 0)")
        elif turn or r.given("TILT") or r.options.plane == "y":
            r.refuse(f"K{order}L: a turned multipole is not supported (expected no tilt)")
        else:
            values[f"Kn{order}L"] = value
    if r.number("L") and values:
        r.refuse("a multipole with length is not supported (expected L = 0)")
    return r.optic("Multipole" if values else "Marker", 0.0, MagneticMultipoleP=values)


def kicker(r):
    r.zero("KICK HKICK VKICK BL_KICK BL_HKICK BL_VKICK", "kicks are not supported (expected 0)")
    return drift(r)


def solenoid(r):
    r.zero("KS B BS_FIELD", "solenoids are not supported (expected 0)")
    return drift(r)


def offset(r):
    """Patches, rotations and shifts of the axes, which are nothing where they are 0."""
    r.zero("ANGLE TILT DX DY DZ DXP DYP DP X_OFFSET Y_OFFSET Z_OFFSET X_PITCH Y_PITCH E_TOT_OFFSET",
           "shifts of the axes are not supported (expected 0)")
    return drift(r)


def cavity(r):
    """RF: voltage [V], phase from the crest [rad/2pi], frequency [Hz] as the language has them."""
    voltage, phase, frequency = r.language.cavity(r)
    length = r.number("L")
    if voltage == 0.0:
        return r.optic("Drift" if length else "Marker", length)
    shifts(r)
    return r.optic("RFCavity", length, RFP={"frequency": frequency, "voltage": voltage,
                                            "phase": phase, "zero_phase": "ACCELERATING"})


def unknown(r):
    r.refuse("this kind of element has no counterpart (expected --to before it, --from behind it, "
             "or --as-drift NAME)")


# Kinds that several languages share, by their longest names.
KINDS = {
    "DRIFT": drift, "MARKER": drift, "MONITOR": drift, "HMONITOR": drift, "VMONITOR": drift,
    "INSTRUMENT": drift, "RCOLLIMATOR": drift, "ECOLLIMATOR": drift,
    "SBEND": bend, "RBEND": rectangular_bend, "QUADRUPOLE": quadrupole, "SEXTUPOLE": sextupole,
    "OCTUPOLE": octupole, "HKICKER": kicker, "VKICKER": kicker, "KICKER": kicker,
    "SOLENOID": solenoid,
}


def find(kinds, keyword):
    """The handler of a keyword, which may be cut to four letters; unknown where there is none."""
    if keyword in kinds:
        return kinds[keyword]
    if len(keyword) >= 4:
        for name, handler in kinds.items():
            if name.startswith(keyword):
                return handler
    return unknown
