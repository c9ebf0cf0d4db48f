# SPDX-License-Identifier: GPL-3.0-or-later
"""Decks of elegant, MAD8, XSIF and Bmad, which need no package: what becomes of their elements.

usage: test_decks.py DIRECTORY   (of python.c, an empty one; AW_ARCWAKE is the program)
"""
import math
import re
import unittest

from command import DIRECTORY, ConvertCase, program, skip_without, write

skip_without(("numpy", "numpy"))

import lattice  # noqa: E402

# A chicane as the decks of LCLS-II and FACET-II write theirs, in three languages. Magnets of
# 0.549 m (projected), 0.0468 rad, drifts of 9.8602 and 1.75 m: the BC2 of LCLS-II.
XSIF = """\
! the second compressor
  COMMENT
    nothing here : is read (
  ENDCOMMENT
  GB2 := 0.03335 ; ZB2 := 0.549
  LB2 := ZB2/SINC    !~ arc
  SINC := SIN(AB2)/AB2
  AB2 := 0.046846250848
  BX1 : SBEN, TYPE="1D19.7", L=LB2, ANGLE=+AB2, HGAP=GB2/2, &
              E1=0, FINT=0.63, E2=+AB2, FINTX=0.63
  BX2 : SBEN, L=LB2, ANGLE=-AB2, E1=-AB2, E2=0
  BX3 : BX2, E1=0, E2=-AB2
  BX4 : BX1, E1=+AB2, E2=0
  DO : DRIF, L=(10.4092-ZB2)/COS(AB2)-0.216, TYPE="CSR"
  DI : DRIF, L=2.299-ZB2
  DH : DRIF, L=DI[L]/2
  CQ : QUAD, TYPE="a,b;c!", L=0.216/2, APER=0.02, K1=-2*KCQ
  KCQ := 1.5D-3^1
  OTR : PROF ; WS : WIRE ; YC : VKIC, KICK=0
  CE : RCOL, L=0.08, XSIZE=13.3e-3
  CQF : LINE=(CQ,CQ)
  BC2 : LINE=(BEG,BX1,DO,CQF,BX2,DH,OTR,YC,WS,DH,&
    BX3,DO,2*CQ,BX4,CE,(END))
  BEG : MARK
  END : MARK
  BEAM, ENERGY=1.5
  USE, BC2
"""
ELEGANT = """\
% 0.046846250848 sto ab
% 0.549 ab * ab sin / sto lb
C: CHARGE,TOTAL=1e-10
"BX1": CSRCSBEND,L="lb",ANGLE="ab",E1=0,E2="ab",HGAP=0.01667,FINT=0.63,&
  N_KICKS=20,CSR=1
BX2: CSBEN,L="lb",ANGLE="ab chs",E1="0 ab -",E2=0
BX3: "BX2",E1=0,E2="ab -1 *"
BX4: BX1,E1="ab",E2=0
DO: CSRDRIFT,L="10.4092 0.549 - ab cos / 0.216 -"
DH: LSCDRIFT,L="2.299 0.549 - 2 /"
CQ: KQUAD,L=0.108,K1="1.5e-3 -2 mult"
W: WATCH,FILENAME="%s.w1"
CE: RCOL,L=0.08
#INCLUDE: lines.lte
USE,"BC2"
"""
ELEGANT_LINES = """\
CQF: LINE=(CQ,CQ)
BC2: LINE=(C,BX1,DO,CQF,BX2,DH,W,DH,BX3,DO,2*CQ,BX4,CE)
"""
BMAD = """\
parameter[particle] = electron
beginning[p0c] = sqrt(1.5e9^2 - m_electron^2)
ab2 = 0.046846250848 ; zb2 = 0.549
lb2 = zb2*ab2/sin(ab2)
bx1: sbend, l = lb2, angle = ab2, e1 = 0, e2 = ab2, hgap = 0.0167, fint = 0.63,
     type = "1D19.7"
bx2: sbend, l = lb2, g = -ab2/lb2, e1 = -ab2, e2 = 0
bx3: bx2, e1 = 0, e2 = -ab2
bx4: sbend, rho = lb2/ab2, angle = ab2, e1 = ab2
do: pipe, l = (10.4092-zb2)/cos(ab2)-0.216
di: drift, l = 2.299-zb2
dh: drift, l = di[l]/2
cq: quad, l = 0.054, k1 = 0
cq[L] = 2*cq[L]
quadrupole::c*[k1] = -3e-3
otr: monitor ; ce: rcollimator, l = 0.08
svy: null_ele, superimpose, ref = bx1
sbend::*[tracking_method] = runge_kutta
cqf: line = (cq, cq)
bc2: line = (bx1, do, cqf, bx2, dh, otr, dh, bx3, do,
             2*cq, bx4, ce)
use, bc2
"""


class Decks(ConvertCase):
    def near(self, a, b, tolerance):
        self.assertTrue(abs(a - b) <= tolerance, f"{a} {b}")

    def test_three_languages_make_one_chicane(self):
        write("lines.lte", ELEGANT_LINES)
        maps = []
        for name, text, options in (("c.xsif", XSIF, ()), ("c.bmad", BMAD, ()),
                                    ("c.lte", ELEGANT, ("--energy", "1.5e9"))):
            out = self.deck(name, text, *options)
            bends = [p for _, kind, p in lattice.elements(out) if kind == "SBend"]
            self.assertEqual(len(bends), 4)
            angle, length = 0.046846250848, 0.549 * 0.046846250848 / math.sin(0.046846250848)
            for p, sign, e1, e2 in zip(bends, (1, -1, -1, 1), (0, -1, 0, 1), (1, 0, -1, 0)):
                self.near(p["g_ref"] * p["length"], sign * angle, 1e-16)  # a rounding or two
                self.near(p["length"], length, 2e-16)
                self.near(p["e1"], e1 * angle, 1e-17)
                self.near(p["e2"], e2 * angle, 1e-17)
            self.near(lattice.energy(out), 1.5e9, 1e-6)
            self.near(lattice.total_length(out), 4 * length + 2 * 9.8602 / math.cos(angle) +
                      1.75 + 0.08, 1e-13)
            maps.append(lattice.linear_map(out))
        for other in maps[1:]:
            # rounding of lengths, times the largest element of the map (23 m)
            self.assertTrue(abs(other - maps[0]).max() <= 1e-13, abs(other - maps[0]).max())

    def test_r56_is_that_of_the_design(self):
        """LCLS-II, BC2: R56 = 45 mm, without its correctors (mad/BC2.xsif)."""
        out = self.deck("c.xsif", XSIF.replace("1.5D-3^1", "0"))
        self.near(lattice.linear_map(out)[4, 5], 0.045, 1e-6)
        write("run.yaml", "lattice: out.pals.yaml\nmotion: external\nbeam: {charge_C: 1.0e-10, "
              "particles: 1000, sigma_s_m: 1.0e-4, sigma_x_m: 1.0e-4}\n")
        done = program("inspect", "run.yaml", "--no-timing")
        self.assertEqual(done.returncode, 0, done.stderr)
        row = re.search(r"^ *[\d.]+ BX4 +(\S+)", done.stdout, re.M)
        self.near(float(row.group(1)), -45.0, 0.005)  # the table has four digits

    def test_arcwake_reads_what_was_written(self):
        for name, text in (("c.xsif", XSIF), ("c.bmad", BMAD)):
            self.deck(name, text)
            write("run.yaml", "lattice: out.pals.yaml\nmotion: external\nbeam: {charge_C: 1.0e-10"
                  ", particles: 1000, sigma_s_m: 1.0e-4, sigma_x_m: 1.0e-4}\n")
            done = program("inspect", "run.yaml", "--no-timing")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("lattice      23.", done.stdout)

    def test_magnets_of_each_order(self):
        out = self.deck("m.mad8", """
            Q: QUADRUPOLE, L=0.2, K1=1.5 ; Q2: Q, K1=-2.5
            S: SEXT, L=0.1, K2=30 ; O: OCTU, L=0.1, K3=-400 ; M: MULTIPOLE, K1L=0.02, K2L=-3
            B: SBEND, L=0.5, ANGLE=0.1, K1=0.3, K2=-4 ; Z: SBEND, L=0.4 ; D0: DRIF
            T: QUAD, L=0.1, K1=2, TILT=3.14159265358979/2
            V: SBEND, L=0.5, ANGLE=.1, TILT=3.141592654
            ALL: LINE=(Q,Q2,S,O,M,B,Z,D0,T,V)""", "--energy", "1e9")
        found = [(kind, p) for _, kind, p in lattice.elements(out)]
        self.assertEqual(found[0], ("Quadrupole", {"length": 0.2, "Kn1": 1.5}))
        self.assertEqual(found[1], ("Quadrupole", {"length": 0.2, "Kn1": -2.5}))
        self.assertEqual(found[2], ("Sextupole", {"length": 0.1, "Kn2": 30.0}))
        self.assertEqual(found[3], ("Octupole", {"length": 0.1, "Kn3": -400.0}))
        self.assertEqual(found[4], ("Multipole", {"length": 0.0, "Kn1L": 0.02, "Kn2L": -3.0}))
        self.assertEqual(found[5], ("SBend", {"length": 0.5, "g_ref": 0.2, "e1": 0.0, "e2": 0.0,
                                              "Kn1": 0.3, "Kn2": -4.0}))
        # Kn2 of PALS depends on it: what MAD8 means by K1 is the gradient beside the orbit
        self.assertEqual(out.count("multipole_geometry: horizontally_pure"), 1)
        self.assertEqual(found[6], ("Drift", {"length": 0.4}))
        self.assertEqual(found[7], ("Marker", {}))
        self.assertEqual(found[8], ("Quadrupole", {"length": 0.1, "Kn1": -2.0}))
        self.assertEqual(found[9], ("SBend", {"length": 0.5, "g_ref": -0.2, "e1": 0.0, "e2": 0.0}))

    def test_rectangular_bends(self):
        """L is the chord in elegant and Bmad; MAD8 leaves it open, so one has to say."""
        arc = 1.02 * 0.03 / math.sin(0.03)
        for name, text, options in (
                ("r.lte", 'B: RBEN, L=1.02, ANGLE=0.06, E1=0.01\nL: LINE=(B)\n', ()),
                ("r.bmad", "b: rbend, l=1.02, angle=0.06, e1=0.01\nl: line=(b)\n", ()),
                ("r.mad8", "B: RBEND, L=1.02, ANGLE=0.06, E1=0.01\nL: LINE=(B)\n",
                 ("--rbend", "chord"))):
            out = self.deck(name, text, "--energy", "1e9", *options)
            (_, kind, p), = lattice.elements(out)
            self.assertEqual(kind, "SBend")
            self.near(p["length"], arc, 3e-16)
            self.near(p["g_ref"] * arc, 0.06, 1e-16)
            self.near(p["e1"], 0.04, 1e-17)
            self.near(p["e2"], 0.03, 1e-17)
        out = self.deck("r.mad8", "B: RBEND, L=1.02, ANGLE=0.06\nL: LINE=(B)\n", "--energy", "1e9",
                        "--rbend", "arc")
        self.assertEqual(lattice.elements(out)[0][2]["length"], 1.02)
        self.refused("r.mad8", "r.mad8:1: B: RBEND: L is the arc", "expected --rbend",
                     options=("--energy", "1e9"))

    def test_reflected_lines(self):
        """elegant turns the bends of a reflected line round, MAD8 and Bmad their order only."""
        text = "A: SBEN, L=1, ANGLE=0.1, E1=0.03{0}B: DRIF, L=2{0}H: LINE=(A,B){0}L: LINE=(H,-H)\n"
        for name, faces in (("f.lte", (0.0, 0.03)), ("f.mad8", (0.03, 0.0)),
                            ("f.bmad", (0.03, 0.0))):
            out = self.deck(name, text.replace("SBEN", "SBEND").format("\n"), "--energy", "1e9")
            items = lattice.elements(out)
            self.assertEqual([kind for _, kind, _ in items], ["SBend", "Drift", "Drift", "SBend"])
            self.assertEqual((items[3][2]["e1"], items[3][2]["e2"]), faces)

    def test_from_and_to(self):
        text = "D: DRIF, L=1\nE: DRIF, L=2\nM: MARK\nL: LINE=(D,M,E,D,M,E,E)\n"
        for first, last, length in (("M", "M[2]", 3.0), ("E", "E", 2.0), ("d[2]", "E[3]", 5.0)):
            out = self.deck("part.mad8", text, "--energy", "1e9", "--from", first, "--to", last)
            self.assertEqual(lattice.total_length(out), length)
        energy = ("--energy", "1e9")
        self.refused("part.mad8", "--from: L has no element Q (expected one of: D, M, E)",
                     options=("--from", "Q", *energy))
        self.refused("part.mad8", "--to: L has 3 elements E, not 4",
                     options=("--to", "E[4]", *energy))
        self.refused("part.mad8", "--to: D comes before M in L",
                     options=("--from", "M", "--to", "D", *energy))

    def test_a_vertical_compressor_is_turned_into_the_plane(self):
        text = """\
            AV: SBEND, L=0.5, ANGLE=0.1, E2=0.1, TILT ; BV: AV, ANGLE=-0.1, E1=-0.1, E2=0
            Q: QUAD, L=0.2, K1=1.5 ; D: DRIF, L=3 ; O: OCTU, L=0.1, K3=5
            L: LINE=(AV,D,BV,Q,O)
            """
        out = self.deck("v.mad8", text, "--energy", "1e9", "--plane", "y")
        items = lattice.elements(out)
        self.assertEqual(items[0][2]["g_ref"], 0.2)
        self.assertEqual(items[2][2]["e1"], -0.1)
        self.assertEqual(items[3][2]["Kn1"], -1.5)
        self.assertEqual(items[4][2]["Kn3"], 5.0)
        self.refused("v.mad8", "v.mad8:1: AV", "v.mad8:1: BV", "not normal in the plane x",
                     options=("--energy", "1e9"), lines=2)
        write("s.mad8", "S: SEXT, L=0.1, K2=3\nL: LINE=(S)\n")
        self.refused("s.mad8", "s.mad8:1: S: SEXT: its field is not normal in the plane y",
                     options=("--energy", "1e9", "--plane", "y"))

    def chirp_of_cavities(self):
        """R65 [1/m] of the converted lattice, as the program has it."""
        write("run.yaml", "lattice: out.pals.yaml\nmotion: external\nbeam: {charge_C: 1.0e-10, "
              "particles: 1000, sigma_s_m: 1.0e-4, sigma_x_m: 1.0e-4}\n")
        done = program("inspect", "run.yaml", "--no-timing")
        self.assertEqual(done.returncode, 0, done.stderr)
        found = re.search(r"R65 = (\S+) /m", done.stdout + done.stderr)
        self.assertIsNotNone(found, done.stdout + done.stderr)
        return float(found.group(1))

    def test_cavities(self):
        """The crest of elegant is at 90 degrees; a cavity that accelerates is refused."""
        text = "R: RFCA, L=1, VOLT=1e7, PHASE={}, FREQ=1.3e9\nD: DRIF, L=1\nL: LINE=(R,D)\n"
        out = self.deck("rf.lte", text.format("180"), "--energy", "1e9")
        self.assertIn("RFP: {frequency: 1300000000.0, voltage: 10000000.0, phase: 0.25, "
                      "zero_phase: ACCELERATING}", out)
        # V sin(omega t + 180 degree): the head gains. 1e7/1e9 2 pi 1.3e9/c, to the digits shown
        self.assertAlmostEqual(self.chirp_of_cavities(), 0.2725, delta=1e-4)
        self.deck("rf.lte", text.format("0"), "--energy", "1e9")
        self.assertAlmostEqual(self.chirp_of_cavities(), -0.2725, delta=1e-4)
        write("rf.lte", text.format("90"))
        self.refused("rf.lte", "rf.lte:1: R: the cavity changes the reference energy",
                     options=("--energy", "1e9"))
        self.deck("rf.lte", text.format("90"), "--energy", "1e9", "--from", "D")
        write("rf.mad8", "R: LCAV, L=1, DELTAE=10, FREQ=1300\nD: DRIF, L=1\nL: LINE=(R,D)\n"
              "BEAM, ENERGY=1\n")
        self.refused("rf.mad8", "cavities before --from change the energy", options=("--from", "D"))

    def test_names_that_yaml_would_take_for_something_else(self):
        out = self.deck("n.lte", '"Y": DRIF,L=1\n"A B:1": DRIF,L=2\nNULL: MARK\n'
                        'L: LINE=("Y",NULL,"A B:1")\n', "--energy", "1e9")
        for name in ('"Y"', '"NULL"', '"A B:1"'):
            self.assertIn(f"- {name}: ", out)
        write("run.yaml", "lattice: out.pals.yaml\nmotion: external\nbeam: {charge_C: 1.0e-10, "
              "particles: 1000, sigma_s_m: 1.0e-4, sigma_x_m: 1.0e-4}\n")
        done = program("inspect", "run.yaml", "--no-timing")
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_rpn(self):
        """Reverse Polish words, and that an element keeps what was stored when it was read."""
        text = ("% 2 sto a\nD: DRIF, L=\"a sqr 1 + sqrt 5 sqrt / a *\"\n% 3 sto a\n"
                'E: DRIF, L="a 1 swap / 90 dsin * a rcl a - +"\nL: LINE=(D,E)\n')
        lengths = [p["length"] for _, _, p in
                   lattice.elements(self.deck("rpn.lte", text, "--energy", "1e9"))]
        self.near(lengths[0], 2.0, 5e-16)
        self.near(lengths[1], 1.0 / 3.0, 1e-16)


class Refused(ConvertCase):
    def deck_refused(self, name, text, *words, options=("--energy", "1e9"), **more):
        self.refused(write(name, text), *words, options=options, **more)

    def test_what_has_no_counterpart_is_listed_with_its_line(self):
        self.deck_refused("bad.lte", """\
D: DRIF, L=1
W: WIGGLER, L=2, K=1
Q: QUAD, L=0.1, K1=1, DX=1e-3
S: QUAD, L=0.1, K1=1, TILT=0.7853981634
K: HKICK, KICK=1e-4
M: CSRCSBEND, L=1, ANGLE=0.1, H1=0.2
N: SOLE, L=1, KS=0
L: LINE=(D,W,Q,S,K,M,N)
""", "bad.lte:2: W: WIGGLER: this kind of element has no counterpart",
                          "bad.lte:3: Q: QUAD: DX = 0.001: misalignments",
                          "bad.lte:4: S: QUAD: its field is not normal in the plane x",
                          "bad.lte:5: K: HKICK: KICK = 0.0001: kicks are not supported",
                          "bad.lte:6: M: CSRCSBEND: H1 = 0.2", lines=5)
        out = self.deck("bad.lte", (DIRECTORY / "bad.lte").read_text(encoding="utf-8"),
                        "--energy", "1e9", "--as-drift", "W", "--as-drift", "[qsk]", "--to", "K")
        self.assertEqual(lattice.total_length(out), 3.2)

    def test_only_what_the_part_has_counts(self):
        write("w.mad8", "D: DRIF, L=1\nW: MATRIX, L=2\nL: LINE=(D,W,D)\n")
        self.convert("w.mad8", "w.yaml", "--energy", "1e9", "--from", "D[2]")

    def test_drifts_of_no_element(self):
        text = "D: DRIF, L=1\nW: MATRIX, L=2\nL: LINE=(D,W,D)\n"
        for name in ("NOPE", "W?"):
            self.deck_refused("n.mad8", text, f"--as-drift: L has no element {name} (expected one "
                              "of: D, W)",
                              options=("--energy", "1e9", "--as-drift", "w", "--as-drift", name))
        out = self.deck("n.mad8", text, "--energy", "1e9", "--as-drift", "w*")
        self.assertEqual(lattice.total_length(out), 4.0)

    def test_bad_decks(self):
        for name, text, *words in (
                ("a.mad8", "A: B, L=1\nB: A\nL: LINE=(A)\n", "a.mad8:1: A: takes over from itself",
                 "A -> B -> A"),
                ("b.mad8", "L: LINE=(M)\nM: LINE=(D,L)\nD: DRIF, L=1\nUSE, L\n",
                 "b.mad8:1: L: the line contains itself (L -> M -> L)"),
                ("c.mad8", "D: DRIF, L=X\nX := Y+1\nY := 2*X\nL: LINE=(D)\n",
                 "c.mad8:1: X depends on itself (X -> Y -> X)"),
                ("d.mad8", "D: DRIF, L=1/ZERO\nL: LINE=(D)\n", "d.mad8:1: ZERO is not defined"),
                ("e.mad8", "D: DRIF, L=1/0\nL: LINE=(D)\n", "e.mad8:1:", "division by zero"),
                ("f.mad8", "D: DRIF, L=1\nL: LINE=(D,Q)\n", "f.mad8:2: L: Q is not defined"),
                ("g.mad8", "D: DRIF, L=1\nL: LINE=(D,&\n",
                 "g.mad8:2: the statement goes on behind the end of the file"),
                ("h.mad8", "D: DRIF, L=1\nL: LINE=(D\n", "h.mad8:2: brackets do not match"),
                ("i.mad8", "D: DRIF, TYPE=\"x\nL: LINE=(D)\n", "i.mad8:1: a text in quotes has no"),
                ("j.mad8", "D: DRIF, L=1\nwhat is this\nL: LINE=(D)\n",
                 "j.mad8:2: 'what is this' is not understood"),
                ("k.mad8", "CALL, FILENAME=\"none.xsif\"\n", "k.mad8:1: none.xsif: No such file"),
                ("l.mad8", "CALL, FILENAME=\"l.mad8\"\n", "l.mad8:1: l.mad8: calls itself"),
                ("m.mad8", "D: DRIF, L=1\n", "the deck defines no line"),
                ("n.mad8", "D: DRIF, L=1\nL: LINE=(D)\nM: LINE=(D)\n", "the deck uses no line",
                 "one of: L, M"),
                ("o.mad8", "D: DRIF, L=1\nL: LINE=(D)\nUSE, N\n", "o.mad8:3: N: no line"),
                ("p.mad8", "D: DRIF, L=-1\nL: LINE=(D)\n", "p.mad8:1: D: DRIF: its length is -1"),
                ("q.mad8", "D: DRIF\nL: LINE=(D)\n", "L: the line has no length"),
                ("r.mad8", "D: DRIF, L=1\nL(A): LINE=(D,A)\nM: LINE=(L(D))\nUSE, L\n",
                 "r.mad8:2: L: lines with arguments"),
                ("s.mad8", "COMMENT\nD: DRIF, L=1\n", "s.mad8:1: COMMENT without ENDCOMMENT"),
                ("t.mad8", "D: DRIF, L=2 3\nL: LINE=(D)\n", "t.mad8:1: '2 3': '3' is not"),
                ("u.mad8", "D: DRIF, L=1\nL: LINE=(100001*D)\n", "u.mad8:2: L: more than 100000"),
                ("v.lte", "D: DRIF, L=\"1 +\"\nL: LINE=(D)\n", "v.lte:1: '1 +': + finds too few"),
                ("w.lte", "D: DRIF, L=\"x 2 *\"\nL: LINE=(D)\n", "w.lte:1: 'x 2 *': x: is not"),
                ("x.lte", "% 1 0 /\nL: LINE=(D)\n", "x.lte:1:", "division by zero"),
                ("y.lte", "#INCLUDE: y.lte\n", "y.lte:1: y.lte: calls itself"),
                ("z.bmad", "d: drift, l = nothing\nl: line = (d)\n", "z.bmad:1: NOTHING is not"),
                ("aa.bmad", "q[k1] = 3\n", "aa.bmad:1: Q is not defined"),
                ("ab.bmad", "parameter[particle] = positron\n", "ab.bmad:1: the particles are"),
                ("ac.bmad", "d: drift, l = 1\nl: line = (d, --d)\n", "ac.bmad:2: L: '--d'"),
                ("ad.bmad", "d: drift, l = 1\nq: quad, l = 0.1, k1 = 1, superimpose\n"
                 "l: line = (d)\n", "ad.bmad:2: Q: superimposed magnets"),
                ("ae.bmad", "d: drift, l = 1\nl: line = (d,\n", "ae.bmad:2: the statement goes")):
            with self.subTest(name):
                self.deck_refused(name, text, *words)

    def test_the_energy(self):
        write("e.mad8", "D: DRIF, L=1\nL: LINE=(D)\n")
        self.refused("e.mad8", "the deck has no reference energy (expected --energy EV)")
        self.refused("e.mad8", "--energy: 5 is below the rest energy", options=("--energy", "5"))
        out = self.deck("e.mad8", "BEAM, PARTICLE=ELECTRON, ENERGY=E\nE := 4.5\nD: DRIF, L=1\n"
                        "L: LINE=(D)\n")
        self.assertEqual(lattice.energy(out), 4.5e9)

    def test_files_and_options(self):
        self.refused("none.lte", "none.lte: No such file or directory")
        write("what.xyz", "D: DRIF, L=1\nL: LINE=(D)\n")
        self.refused("what.xyz", "what.xyz: neither the name nor the content shows a format",
                     "elegant, mad8, madx, bmad")
        self.convert("what.xyz", "out.yaml", "--format", "mad8", "--energy", "1e9")
        self.refused("what.xyz", "--format: xyz is not known", options=("--format", "xyz"))
        self.refused("what.xyz", "--charge: has no meaning for decks of MAD8",
                     options=("--format", "mad8", "--charge", "1e-9"))
        (DIRECTORY / "binary.mad8").write_bytes(b"D: DRIF, L=1\0")
        self.refused("binary.mad8", "binary.mad8: is not text")
        done = program("convert", "what.xyz", "out.yaml", "--format", "mad8", "--energy", "1e9")
        self.assertEqual(done.returncode, 4)
        self.assertIn("out.yaml: exists (--force writes over it)", done.stderr)
        done = program("convert", "what.xyz", "no/where", "--format", "mad8", "--energy", "1e9")
        self.assertEqual(done.returncode, 4, done.stderr)
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
        self.assertEqual(program("convert").returncode, 2)
        done = program("convert", "what.xyz", "out.yaml", AW_PYTHON="/nowhere/python")
        self.assertEqual(done.returncode, 4)
        self.assertIn("/nowhere/python cannot be started", done.stderr)
        done = program("help", "convert")
        self.assertIn("arcwake convert IN OUT", done.stdout)

    def test_hostile_decks_end_in_a_line(self):
        """Every cut-off of a deck, and letters changed: refused by name or converted, no crash."""
        for at in range(0, len(XSIF), 41):
            write("cut.xsif", XSIF[:at])
            done = program("convert", "cut.xsif", "cut.yaml", "--force")
            self.assertIn(done.returncode, (0, 2), done.stderr)
            self.assertNotIn("Traceback", done.stderr)
            self.assertNotIn("cannot be converted", done.stderr)
            self.assertEqual(done.stderr == "", done.returncode == 0)


if __name__ == "__main__":
    import sys
    unittest.main(argv=sys.argv[:1])
