# SPDX-License-Identifier: GPL-3.0-or-later
"""Lattices to and from pals_schema, the reference implementation of PALS.

usage: test_pals.py DIRECTORY   (of python.c, an empty one; AW_ARCWAKE is the program)
"""
import os
import subprocess
import sys
import unittest
import warnings
from pathlib import Path

try:
    import pals
    import yaml
except ImportError as problem:
    print(f"skipped: {problem} (tools/requirements-test.txt lists what is needed)")
    sys.exit(77)

ARCWAKE = os.environ["AW_ARCWAKE"]
DIRECTORY = Path(sys.argv[1]).absolute()
INPUTS = Path(__file__).resolve().parents[2] / "inputs"
# A bend's angle is the product of length and g_ref: one rounding.
ROUNDING = 4e-16

RUN = """\
lattice: {}
beam: {{charge_C: 1.0e-9, sigma_s_m: 5.0e-5, sigma_x_m: 5.0e-5}}
motion: rigid
"""


def inspect(lattice):
    """Status, messages, and the resolved lattice (as PyYAML reads it) of a run with `lattice`."""
    run = DIRECTORY / "run.yaml"
    run.write_text(RUN.format(lattice), encoding="utf-8")
    words = [ARCWAKE, "inspect", "--no-timing", run]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode:
        return done.returncode, done.stderr, None
    return 0, done.stderr, yaml.safe_load(done.stdout.split("\nlattice      ")[0])["lattice"]


def line_of(lattice):
    """Elements (name, parameters) of a resolved lattice."""
    facility = lattice["PALS"]["facility"]
    line = next(iter(facility[0].values()))["line"]
    return [next(iter(item.items())) for item in line]


def written_again(source, target):
    """A lattice file read and written by pals_schema."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # kinds under construction
        pals.store(str(target), pals.load(str(source)))
    return target


class Lattices(unittest.TestCase):
    def same(self, a, b):
        self.assertIs(type(a), type(b))
        if isinstance(a, dict):
            self.assertEqual(list(a), list(b))
            for key, value in a.items():
                self.same(value, b[key])
        elif isinstance(a, (list, tuple)):
            self.assertEqual(len(a), len(b))
            for one, other in zip(a, b):
                self.same(one, other)
        elif isinstance(a, float):
            self.assertLessEqual(abs(a - b), ROUNDING * abs(a))
        else:
            self.assertEqual(a, b)

    def good(self, lattice):
        status, messages, resolved = inspect(lattice)
        self.assertEqual(status, 0, messages)
        return resolved

    def test_our_lattices_survive_pals_schema(self):
        paths = sorted(INPUTS.glob("*.pals.yaml"))
        self.assertGreaterEqual(len(paths), 3)
        for path in paths:
            with self.subTest(path.name):
                again = written_again(path, DIRECTORY / "again.pals.yaml")
                self.same(self.good(path), self.good(again))

    def test_the_resolved_lattice_survives_pals_schema(self):
        for path in sorted(INPUTS.glob("*.pals.yaml")):
            with self.subTest(path.name):
                resolved, alone = self.good(path), DIRECTORY / "alone.pals.yaml"
                alone.write_text(yaml.safe_dump(resolved, sort_keys=False), encoding="utf-8")
                again = written_again(alone, DIRECTORY / "again.pals.yaml")
                self.same(resolved, self.good(again))

    def made(self, elements):
        """Resolved elements of a lattice that pals_schema makes, after its start."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            start = pals.BeginningEle(name="start", ReferenceP={
                "species_ref": "electron", "pc_ref": 3.0e9, "location": "UPSTREAM_END"})
            line = pals.BeamLine(name="main", line=[start, *elements()])
            path = DIRECTORY / "made.pals.yaml"
            pals.store(str(path), [line, pals.Lattice(name="ring", branches=["main"])])
        return dict(line_of(self.good(path)))

    def test_lattices_of_pals_schema_are_read(self):
        def elements():
            return [
                pals.Drift(name="d", length=0.5),
                pals.SBend(name="s", length=0.4, BendP={"g_ref": 0.25, "e1": 0.02}),
                pals.Quadrupole(name="q", length=0.2, MagneticMultipoleP={"Kn1": 1.5}),
                pals.RBend(name="r", length=0.4, BendP={"g_ref": -0.25}),
                pals.Instrument(name="i", length=0.1),
                pals.SBend(name="old", length=0.4, BendP={"rho_ref": 4.0}),
                pals.SBend(name="straight", length=0.4, BendP={}),
                pals.Marker(name="m"),
                pals.Kicker(name="k", length=0.1, MagneticMultipoleP={"Kn0L": 0.0}),
                pals.Patch(name="p", length=0.0, PatchP={}),
                pals.Fork(name="f", ForkP={"to_line": "dump"}),
            ]

        line = self.made(elements)
        bend = {"angle_ref": 0.4 * 0.25, "g_ref": 0.25, "e1": 0.0, "e2": 0.0}
        half = 0.5 * bend["angle_ref"]
        expected = {
            "d": {"kind": "Drift", "length": 0.5},
            "s": {"kind": "SBend", "length": 0.4, "BendP": {**bend, "e1": 0.02}},
            "q": {"kind": "Quadrupole", "length": 0.2, "MagneticMultipoleP": {"Kn1": 1.5}},
            "r": {"kind": "SBend", "length": 0.4,
                  "BendP": {"angle_ref": -0.1, "g_ref": -0.25, "e1": -half, "e2": -half}},
            "i": {"kind": "Drift", "length": 0.1},
            "old": {"kind": "SBend", "length": 0.4, "BendP": bend},
            "straight": {"kind": "Drift", "length": 0.4},
            "m": {"kind": "Marker"},
            "k": {"kind": "Drift", "length": 0.1},
            "p": {"kind": "Marker"},
            "f": {"kind": "Marker"},
        }
        self.same(expected, {name: line[name] for name in expected})
        self.assertEqual(list(line)[1:], list(expected))

    def test_what_would_act_is_refused_by_name(self):
        for key, value in (("edge_int1", 0.1), ("h2", 0.1), ("tilt_ref", 1.5)):
            with self.subTest(key):
                path = DIRECTORY / "refused.pals.yaml"
                bend = pals.SBend(name="b", length=1.0, BendP={"g_ref": 0.1, key: value})
                line = pals.BeamLine(name="main", line=[bend])
                pals.store(str(path), [line, pals.Lattice(name="ring", branches=["main"])])
                status, messages, _ = inspect(path)
                self.assertEqual(status, 2)
                self.assertIn(f"main.line.b.BendP.{key}: is not supported (expected 0", messages)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
