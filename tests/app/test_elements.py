# SPDX-License-Identifier: GPL-3.0-or-later
"""tools/elements.py: what its table says of runs whose numbers are known.

usage: test_elements.py DIRECTORY   (of python.c, an empty one; AW_ARCWAKE is the program)
"""
import csv
import os
import subprocess
import sys
import unittest
from pathlib import Path

try:
    import h5py  # noqa: F401  (the tool's own reader needs it)
    import numpy as np
except ImportError as problem:
    print(f"skipped: {problem} (tools/requirements-test.txt lists what is needed)")
    sys.exit(77)

ARCWAKE = os.environ["AW_ARCWAKE"]
DIRECTORY = Path(sys.argv[1]).absolute()
TOOL = Path(__file__).resolve().parents[2] / "tools" / "elements.py"
ENERGY = 5.0e9
ENDS = {"b": 0.5, "d": 0.8, "b2": 1.0}

RUN = """\
lattice:
  PALS:
    facility:
      - way:
          kind: BeamLine
          line:
            - s: {kind: BeginningEle, ReferenceP: {species_ref: electron, E_tot_ref: 5.0e9}}
            - b: {kind: Bend, length: 0.5, BendP: {radius_ref: 10.0}}
            - d: {kind: Drift, length: 0.3}
            - b2: {kind: Bend, length: 0.2, BendP: {radius_ref: -10.0}}
      - ring: {kind: Lattice, branches: [way]}
beam: {charge_C: 1.0e-9, particles: 5000, sigma_s_m: 5.0e-5, emittance_x_m: 1.0e-10, beta_x_m: 10.0}
numerics: {grid: [16, 16], step_m: 0.02, tolerance: 1.0e-3}
output: {every: 0}
"""


def run(name, *arguments):
    environment = {**os.environ, "ARCWAKE_TUNING": "none", "AW_PYTHON": "/bin/false"}
    done = subprocess.run([ARCWAKE, "run", "run.yaml", "-o", name, "--quiet", *arguments],
                          cwd=DIRECTORY, env=environment, check=False, capture_output=True,
                          text=True)
    assert done.returncode == 0, done.stderr


def elements(*arguments):
    return subprocess.run([sys.executable, TOOL, *arguments], cwd=DIRECTORY, check=False,
                          capture_output=True, text=True)


def monitor(name, column):
    with open(DIRECTORY / name / "monitor.csv", encoding="utf-8", newline="") as file:
        return np.array([float(row[column]) for row in csv.DictReader(file)])


class Elements(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        (DIRECTORY / "run.yaml").write_text(RUN, encoding="utf-8")
        run("full")
        run("line", "--set", "forces=line")
        run("steady", "--set", "forces=line", "--set", "line.model=steady")
        done = elements("full", "--line", "line", "--steady", "steady")
        assert done.returncode == 0, done.stderr
        cls.head, *cls.rows = (line.split() for line in done.stdout.splitlines())

    def test_a_row_for_each_element_with_the_steps_in_it(self):
        self.assertEqual({name: float(S) for S, name, *_ in self.rows}, ENDS)
        self.assertEqual(sum(int(row[-3]) for row in self.rows), len(monitor("full", "step")))
        self.assertEqual([row[-1] for row in self.rows], ["0"] * 3)  # nothing fell back

    def test_energies_are_those_of_the_monitors(self):
        for k, name in enumerate(("full", "line", "steady")):
            S, change = monitor(name, "s_ref_m"), monitor(name, "energy_change_mean_eV")
            for row in self.rows:
                known = 100.0 * np.interp(float(row[0]), S, change) / ENERGY
                self.assertAlmostEqual(float(row[2 + k]), known, delta=0.6e-5)  # five decimals

    def test_force_is_the_effective_one_and_the_field(self):
        for row in self.rows:
            change, force, effective, field = (float(row[k]) for k in (2, 5, 6, 7))
            self.assertAlmostEqual(force, effective + field, delta=1.6e-5)  # three roundings
            # leapfrog is the trapezium rule but for the angles of particles to the orbit (1e-5)
            self.assertAlmostEqual(force, change, delta=1e-5 + 1e-4 * abs(change))
            self.assertGreater(abs(field), 1e-4)
            self.assertGreater(abs(effective), 1e-4)

    def test_a_run_without_monitor_is_an_error_in_one_line(self):
        done = elements("nowhere")
        self.assertEqual((done.returncode, done.stdout), (4, ""))
        self.assertEqual(len(done.stderr.splitlines()), 1)
        self.assertIn("monitor.csv", done.stderr)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "-v"])
