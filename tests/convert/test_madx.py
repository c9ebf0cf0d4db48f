# SPDX-License-Identifier: GPL-3.0-or-later
"""Decks of MAD-X, run by MAD-X itself, and the maps of decks against its TWISS.

usage: test_madx.py DIRECTORY   (of python.c, an empty one; AW_ARCWAKE is the program)
"""
import re
import unittest

from command import DIRECTORY, ConvertCase, skip_without, write

skip_without(("numpy", "numpy"), ("cpymad", "cpymad"))

import numpy as np  # noqa: E402
from cpymad.madx import Madx  # noqa: E402

import lattice  # noqa: E402

SEQUENCE = """\
lb = 0.5; an = 0.05; kq = 1.2;
BM: RBEND, L=lb, ANGLE=an;
BP: RBEND, L=lb, ANGLE=-an, E1=0.01;
S: SBEND, L=0.4, ANGLE=0.08, E1=0.02, E2=-0.01, K1=0.7;
Q: QUADRUPOLE, L=0.2, K1:=kq;
M: MULTIPOLE, KNL={0,0.02,0.3};
BPM: MONITOR, L=0.1;
beam, particle=electron, energy=5;
CH: SEQUENCE, L=16, refer=centre;
 BM, at=1; BP, at=5; BPM, at=6; BP1: BP, at=7; BM1: BM, at=11; Q, at=12.5; M, at=13.2;
 S, at=14; Q2: Q, K1=-0.9, at=15;
ENDSEQUENCE;
use, sequence=CH;
kq = 1.3;
"""
# BC14 of FACET-II, its numbers (MAD/BC14.xsif of facet2-lattice) and form, in MAD8.
BC14 = """\
  ZB14 := 0.549
  AB14 := 0.04192
  LB14 := ZB14*AB14/SIN(AB14)
  AB14s := ASIN(SIN(AB14)/2)
  LB14s := (ZB14/2)*AB14s/SIN(AB14s)
  AB14l := AB14-AB14s
  LB14l := LB14-LB14s
  EE := 0.199858196713E-2
  B1a : SBEND, L=LB14s, ANGLE=-AB14s
  B1b : SBEND, L=LB14l, ANGLE=-AB14l, E2=EE
  B2a : SBEND, L=LB14l, ANGLE=+AB14l, E1=+AB14
  B2b : SBEND, L=LB14s, ANGLE=+AB14s
  B3a : SBEND, L=LB14s, ANGLE=+AB14s
  B3b : SBEND, L=LB14l, ANGLE=+AB14l, E2=+AB14
  B4a : SBEND, L=LB14l, ANGLE=-AB14l, E1=EE
  B4b : SBEND, L=LB14s, ANGLE=-AB14s
  CQ : QUADRUPOLE, L=0.1759/2, K1=-0.228768471644E-2
  DA : DRIFT, L=1.924996725395/COS(AB14)
  DB : DRIFT, L=(6.908547661855+0.852976041214)/COS(AB14)
  DI : DRIFT, L=0.360994711244+0.144666+0.58687672
  DC : DRIFT, L=(0.962912148546+6.863711554523)/COS(AB14)
  DD : DRIFT, L=1.859896725395/COS(AB14)
  S1 : SEXTUPOLE, L=0.2, K2=0
  PR : MONITOR
  CQF : LINE=(CQ,CQ)
  BC14 : LINE=(B1a,B1b,DA,CQF,DB,B2a,B2b,DI,PR,B3a,B3b,DC,2*CQ,DD,B4a,B4b,S1)
"""


def twiss_map(text, sequence, energy):
    """The map of TWISS at the end, and the length."""
    engine = Madx(stdout=False)
    try:
        engine.input(text)
        engine.input(f"beam, particle=electron, energy={energy};")
        engine.use(sequence)
        table = engine.twiss(betx=10.0, bety=10.0, rmatrix=True)
        return (np.array([[table[f"re{i}{j}"][-1] for j in range(1, 7)] for i in range(1, 7)]),
                table.s[-1])
    finally:
        engine.quit()


class MadX(ConvertCase):
    def same_map(self, out, text, sequence, energy):
        """1e-8 is asked for; MAD-X prints nothing in between, so that rounding is all."""
        ours, (theirs, length) = lattice.linear_map(out), twiss_map(text, sequence, energy)
        error = np.abs(ours - theirs).max()
        self.assertTrue(error <= 1e-8, error)
        self.assertTrue(abs(lattice.total_length(out) - length) <= 1e-12)
        return ours

    def test_a_sequence(self):
        out = self.deck("seq.madx", SEQUENCE)
        self.assertEqual(lattice.energy(out), 5e9)
        self.same_map(out, SEQUENCE, "ch", 5.0)
        kinds = [kind for _, kind, _ in lattice.elements(out)]
        self.assertEqual([kind for kind in kinds if kind != "Drift"],
                         ["SBend"] * 4 + ["Quadrupole", "Multipole", "SBend", "Quadrupole"])
        self.assertIn("Kn1: 1.3", out)  # := follows the parameter

    def test_a_deck_of_mad8_against_mad_x(self):
        out = self.deck("bc14.xsif", BC14, "--energy", "4.5e9")
        text = re.sub(r"&\s*\n", "", BC14).replace("\n", ";\n")
        ours = self.same_map(out, text, "bc14", 4.5)
        # R56 of the design is -36 mm, to a mm; that of these numbers was read off MAD-X
        self.assertTrue(abs(ours[4, 5] - 0.036) <= 1e-3, ours[4, 5])

    def test_a_line(self):
        text = "D: DRIFT, L=1; Q: QUADRUPOLE, L=0.5, K1=1; L: LINE=(D,2*Q,D);\n"
        out = self.deck("line.madx", text, "--line", "L", "--energy", "1e9")
        self.same_map(out, text, "l", 1.0)

    def test_bad_decks(self):
        for name, text, options, *words in (
                ("a.madx", "foo bar, x=;\n", (), "a.madx: the deck uses no sequence"),
                ("b.madx", 'call, file="none.seq";\n', (), "b.madx: MAD-X: fatal: cannot open"),
                ("c.madx", "s: sequence, l=4; zz, at=2; endsequence;\n", (),
                 "c.madx: MAD-X: fatal: unknown class type: zz"),
                ("d.madx", SEQUENCE, ("--line", "no"), "--line: no is not a sequence or line"),
                ("e.madx", "k: hkicker, kick=1e-3;\ns: sequence, l=4; k, at=2; endsequence;\n"
                 "beam, particle=electron, energy=1;\nuse, sequence=s;\n", (),
                 "e.madx:1: K: HKICKER: KICK = 0.001: kicks are not supported"),
                ("f.madx", "d: drift, l=1;\nl: line=(d);\n", ("--line", "l"),
                 "the deck has no reference energy"),
                ("g.madx", SEQUENCE.replace("S: SBEND,", "S: SBEND, K0=0.3,"), (),
                 "g.madx:4: S: SBEND: K0 differs from ANGLE/L"),
                ("h.madx", SEQUENCE.replace("BPM: MONITOR,", "BPM: RFCAVITY, VOLT=1,"), (),
                 "h.madx:7: BPM: RFCAVITY: RF is not supported")):
            with self.subTest(name):
                self.refused(write(name, text), *words, options=options)
        self.assertTrue((DIRECTORY / "h.madx").exists())


if __name__ == "__main__":
    import sys
    unittest.main(argv=sys.argv[:1])
