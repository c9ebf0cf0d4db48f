# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs with forces: line: what they write, the energy that they take, refusals.

usage: test_line.py DIRECTORY   (of python.c, an empty one; AW_ARCWAKE is the program)
"""
import csv
import os
import subprocess
import sys
import unittest
from pathlib import Path

try:
    import h5py
    import numpy as np
except ImportError as problem:
    print(f"skipped: {problem} (tools/requirements-test.txt lists what is needed)")
    sys.exit(77)

ARCWAKE = os.environ["AW_ARCWAKE"]
DIRECTORY = Path(sys.argv[1]).absolute()

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
            - b2: {kind: Bend, length: 0.3, BendP: {radius_ref: -10.0}}
      - ring: {kind: Lattice, branches: [way]}
beam: {charge_C: 1.0e-9, particles: 5000, sigma_s_m: 5.0e-5, emittance_x_m: 1.0e-10, beta_x_m: 10.0}
forces: line
numerics: {grid: [32, 16], step_m: 0.01}
output: {every: 0, at_m: [0.6]}
"""
STEP = 0.01
SOLVER = ("evaluations", "error_estimate", "error_sampled", "fell_back", "F_s_error_eV_per_m",
          "F_x_error_eV_per_m", "F_s_eff_mean_eV_per_m", "sigma_y_m")


def arcwake(*arguments):
    environment = {**os.environ, "ARCWAKE_TUNING": "none", "AW_PYTHON": "/bin/false"}
    return subprocess.run([ARCWAKE, *arguments], cwd=DIRECTORY, env=environment, check=False,
                          capture_output=True, text=True)


def run(name, *arguments, source="run.yaml"):
    done = arcwake("run", source, "-o", name, "--quiet", *arguments)
    assert done.returncode == 0, done.stderr
    return DIRECTORY / name


def monitor(folder):
    with open(folder / "monitor.csv", encoding="utf-8", newline="") as file:
        return list(csv.DictReader(line for line in file if not line.startswith("#")))


def column(rows, name):
    return np.array([float(row[name]) for row in rows])


def without_times(rows):
    return [[value for name, value in row.items() if "seconds" not in name] for row in rows]


class Line(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        (DIRECTORY / "run.yaml").write_text(RUN, encoding="utf-8")
        cls.folder = run("first", "--threads", "1")
        cls.rows = monitor(cls.folder)

    def test_threads_and_the_resolved_input_change_no_bit(self):
        for name, options, source in (("two", ("--threads", "2"), "run.yaml"),
                                      ("again", (), "first/resolved.yaml")):
            other = run(name, *options, source=source)
            self.assertEqual(without_times(monitor(other)), without_times(self.rows))

    def test_forces_at_every_step_and_nothing_of_a_solver(self):
        self.assertEqual(len(self.rows), 111)  # the start, and 1.1 m
        self.assertTrue(np.isfinite(column(self.rows, "F_s_mean_eV_per_m")).all())
        self.assertTrue((column(self.rows, "F_x_peak_eV_per_m") == 0.0).all())
        for row in self.rows:
            self.assertEqual([row[name] for name in SOLVER], [""] * len(SOLVER))

    def test_energy_is_the_integral_of_the_force(self):
        """The leap-frog's kicks are the trapezoidal rule; v dt is beta c dt, 5e-9 less than c dt.

        A particle's way along the orbit is shorter than its own by x'^2/2 and x/R, 1e-5 here.
        """
        force = column(self.rows, "F_s_mean_eV_per_m")
        energy = column(self.rows, "energy_change_mean_eV")
        want = STEP * np.concatenate([[0.0], np.cumsum(0.5 * (force[1:] + force[:-1]))])
        np.testing.assert_allclose(energy, want, rtol=0, atol=2e-5 * abs(energy[-1]))
        self.assertLess(energy[-1], -1e4)

    def test_meshes_have_the_force_along_the_motion_alone(self):
        paths = sorted((self.folder / "diag").glob("*.h5"))
        self.assertEqual(len(paths), 2)
        for path in paths:
            with h5py.File(path) as file:
                ((_, one),) = file["data"].items()
                self.assertEqual(set(one["meshes"]), {"rho", "J", "F"})
                self.assertTrue((one["meshes/F/x"][()] == 0.0).all())
                self.assertGreater(np.abs(one["meshes/F/z"][()]).max(), 1e3)

    def test_models_differ_behind_a_bend_and_motion_decides_nothing(self):
        steady = monitor(run("steady", "--set", "line.model=steady", "--set", "motion=rigid"))
        at, force = column(steady, "s_ref_m"), column(steady, "F_s_mean_eV_per_m")
        self.assertTrue((force[(at > 0.51) & (at < 0.79)] == 0.0).all())
        # -0.350472 (qQ/4 pi eps0) R^(-2/3) sigma^(-4/3), Gaussian; 3.2 cells per sigma: 1 %
        want = -0.350472 * 8.98755e9 * 1e-9 * 10.0 ** (-2 / 3) * 5e-5 ** (-4 / 3)
        np.testing.assert_allclose(force[(at > 0.01) & (at < 0.49)], want, rtol=0.01)
        external = monitor(run("external", "--set", "motion=external"))
        self.assertEqual(len(external), len(self.rows))
        self.assertTrue(np.isfinite(column(external, "F_s_mean_eV_per_m")).all())

    def test_what_has_no_meaning_is_refused_in_one_line(self):
        for words, options in (("needs no device", ("--set", "device=cuda")),
                               ("needs no device", ("--device", "cpu:0,cpu:1")),
                               ("without forces: line", ("--set", "forces=full", "--set",
                                                         "line.model=steady"))):
            done = arcwake("run", "run.yaml", "-o", "refused", "--quiet", *options)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn(words, done.stderr)
            self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
            self.assertFalse((DIRECTORY / "refused").exists())


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
