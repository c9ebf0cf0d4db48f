# SPDX-License-Identifier: GPL-3.0-or-later
"""A run's directory alone is enough to run it again, elsewhere, to the same bits.

usage: test_rerun.py DIRECTORY   (of python.c, an empty one; AW_ARCWAKE is the program)
"""
import csv
import os
import shutil
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

LATTICE = """\
PALS:
  facility:
    - cell:
        kind: BeamLine
        line:
          - b: {kind: RBend, BendP: {angle_ref: 0.01, radius_ref: 7.3, e1_rect: 0.003}}
          - d: {kind: Drift, length: 0.013}
    - main:
        kind: BeamLine
        line:
          - s: {kind: BeginningEle, ReferenceP: {species_ref: electron, pc_ref: 1.7e9}}
          - cell: {repeat: 2}
          - q: {kind: Quadrupole, length: 0.03, MagneticMultipoleP: {Bn1: 1.1}}
    - ring: {kind: Lattice, branches: [main]}
"""
RUN = """\
lattice: sub/line.pals.yaml
beam: {charge_C: 1.0e-10, particles: 2000, sigma_s_m: 3.3e-5, emittance_x_m: 1.1e-9, beta_x_m: 3.7}
numerics: {grid: [24, 24], step_m: 0.03, tolerance: 1.0e-3}
output: {directory: first, every: 0, at_m: [0.1]}
"""


def arcwake(folder, *arguments):
    environment = {**os.environ, "ARCWAKE_TUNING": "none", "AW_PYTHON": "/bin/false"}
    done = subprocess.run([ARCWAKE, *arguments], cwd=folder, env=environment, check=False,
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def monitor(folder):
    """Rows of monitor.csv without the columns of times and memory."""
    with open(folder / "monitor.csv", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(line for line in file if not line.startswith("#")))
    kept = [name for name in rows[0] if "seconds" not in name]
    assert 5 < len(kept) < len(rows[0])
    return [[row[name] for name in kept] for row in rows]


def meshes(path):
    """Bytes of every dataset, and the root's `input`."""
    found = {}
    with h5py.File(path) as file:
        file.visititems(lambda name, item: found.update({name: np.asarray(item).tobytes()})
                        if isinstance(item, h5py.Dataset) else None)
        return found, file.attrs["input"], file.attrs["latticeName"]


class Rerun(unittest.TestCase):
    def test_the_moved_directory_runs_again_to_the_same_bits(self):
        self.check("equal", "numerics.step_m=0.03")

    def test_steps_on_a_ladder_are_the_same_again(self):
        rows = self.check("ladder", "numerics.step_m=auto")
        times = np.array([float(row[1]) for row in rows])
        steps = np.diff(times)
        self.assertGreater(steps.max(), 1.9 * steps.min())

    def check(self, name, setting):
        """Rows of monitor.csv of a run with this setting, which is run again elsewhere."""
        home, away = DIRECTORY / name / "home", DIRECTORY / name / "away"
        (home / "sub").mkdir(parents=True)
        away.mkdir()
        (home / "sub" / "line.pals.yaml").write_text(LATTICE, encoding="utf-8")
        (home / "run.yaml").write_text(RUN, encoding="utf-8")
        arcwake(home, "run", "run.yaml", "--set", "beam.seed=5", "--set", setting)
        shutil.move(home / "first", away / "moved")
        shutil.rmtree(home)
        arcwake(away, "run", "moved/resolved.yaml", "-o", "second")
        arcwake(away, "run", "moved/resolved.yaml", "-o", "other", "--set", "beam.seed=6")

        self.assertEqual(monitor(away / "moved"), monitor(away / "second"))
        self.assertNotEqual(monitor(away / "moved"), monitor(away / "other"))
        paths = sorted((away / "moved" / "diag").glob("*.h5"))
        self.assertGreaterEqual(len(paths), 2)
        for path in paths:
            first, text, name = meshes(path)
            second, _, again = meshes(away / "second" / "diag" / path.name)
            self.assertIn("mesh", " ".join(first))
            self.assertEqual(first, second)
            self.assertEqual(name, again)
            resolved = (away / "moved" / "resolved.yaml").read_text(encoding="utf-8")
            self.assertEqual(text if isinstance(text, str) else text.decode(), resolved)
            self.assertIn("Quadrupole", resolved)
        return monitor(away / "second")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
