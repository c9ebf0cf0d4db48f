# SPDX-License-Identifier: GPL-3.0-or-later
"""The energy budget: parts that add up to the change of the mean energy, and the report of them.

usage: test_budget.py DIRECTORY   (of python.c, an empty one; AW_ARCWAKE is the program)
"""
import csv
import math
import os
import re
import shutil
import subprocess
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python"))
sys.dont_write_bytecode = True
try:
    import h5py
    import numpy as np

    from arcwake.report import Problem, budget, page, read
except ImportError as problem:
    print(f"skipped: {problem} (tools/requirements-test.txt lists what is needed)")
    sys.exit(77)

ARCWAKE = os.environ["AW_ARCWAKE"]
DIRECTORY = Path(sys.argv[1]).absolute()
ENERGY, REST, LIGHT = 5.0e9, 510998.95, 299792458.0
VOLTAGE, FREQUENCY = 1.0e6, 1.0e10
# The sums of 5e9 eV over particles and steps are rounded at 1e-16 each, at random.
ROUNDING = 1e-14 * ENERGY

RUN = """\
lattice:
  PALS:
    facility:
      - way:
          kind: BeamLine
          line:
            - s: {kind: BeginningEle, ReferenceP: {species_ref: electron, E_tot_ref: 5.0e9}}
            - d: {kind: Drift, length: 0.1}
            - b: {kind: Bend, length: 0.4, BendP: {radius_ref: 10.0}}
CAVITY
      - ring: {kind: Lattice, branches: [way]}
beam:
  {charge_C: 1.0e-9, particles: 2000, distribution: double-gaussian, ahead: 0.8, isr: full,
   sigma_s_m: SIGMA, emittance_x_m: 1.0e-10, beta_x_m: 10.0}
numerics: {grid: [24, 16], step_m: 0.05}
"""
CAVITY = ("            - c: {kind: RFCavity, length: 0.0, RFP: {voltage: 1.0e6, frequency: 1.0e10, "
          "phase: -0.25}}\n            - d2: {kind: Drift, length: 0.1}")
WAKE = "wakes=[{file: wake.txt, kind: longitudinal, unit: V/C/m, element: b}]"


def run(name, *settings, cavity="", sigma=5.0e-5):
    """The directory of a run, and what it printed."""
    text = RUN.replace("CAVITY\n", cavity + "\n" if cavity else "").replace("SIGMA", f"{sigma:.1e}")
    (DIRECTORY / f"{name}.yaml").write_text(text, encoding="utf-8")
    options = [word for one in settings for word in ("--set", one)]
    environment = {**os.environ, "ARCWAKE_TUNING": "none", "AW_PYTHON": "/bin/false"}
    done = subprocess.run([ARCWAKE, "run", f"{name}.yaml", "-o", name, *options], cwd=DIRECTORY,
                          env=environment, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return DIRECTORY / name, done.stdout + done.stderr


def last(folder):
    """The last row of the monitor."""
    with open(folder / "monitor.csv", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    return {name: float(cell) if cell else math.nan for name, cell in rows[-1].items()}


def energies(folder, which):
    """Energies [eV] and places z [m] of the particles of the first or the last file."""
    with h5py.File(sorted((folder / "diag").glob("*.h5"))[which]) as file:
        (iteration,) = file["data"].values()
        bunch = iteration["particles/electron"]
        momentum = [bunch[f"momentum/{axis}"][()] * LIGHT / 1.602176634e-19 for axis in "xz"]
        return np.sqrt(momentum[0]**2 + momentum[1]**2 + REST**2), bunch["position/z"][()]


class Budget(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        y = np.linspace(1.0e-3, 0.0, 201)
        np.savetxt(DIRECTORY / "wake.txt", np.column_stack([-y, 1.0e14 * np.exp(-y / 1.0e-4)]))

        cls.folder, cls.words = run("line", "forces=line", WAKE)

    def test_parts_add_up_to_the_change_of_the_mean_energy(self):
        """What radiation and wakes took is summed apart from the particles' energies."""
        folder, words = self.folder, self.words
        now, before, behind = last(folder), energies(folder, 0)[0], energies(folder, -1)[0]
        change = behind.mean() - before.mean()
        # momenta in kg m/s, by the mass in kg: constants of ten digits
        self.assertAlmostEqual(now["energy_mean_eV"], behind.mean(), delta=1e-10 * ENERGY)
        self.assertAlmostEqual(now["energy_change_mean_eV"] - now["isr_loss_mean_eV"]
                               - now["wake_loss_mean_eV"], change, delta=10.0 * ROUNDING)
        self.assertTrue(math.isnan(now["cavity_gain_mean_eV"]))
        for name in ("isr_loss_mean_eV", "wake_loss_mean_eV"):
            self.assertGreater(now[name], 1e3)
        self.assertRegex(words, "mean energy: changed by -[0-9.]+ keV, to which these parts add up")
        made = read.read_run(folder)
        parts = budget.parts(made)
        self.assertEqual([part.name for part in parts],
                         ["self-field", "incoherent radiation", "wakes", "together"])
        found = budget.balance(made, parts)
        self.assertAlmostEqual(found.change, change, delta=10.0 * ROUNDING)
        self.assertLess(abs(found.rest), 10.0 * ROUNDING)
        # kicks are the trapezium rule along the particles' ways, which x'^2/2 and x/R make
        # another length than that of S: 1e-5
        self.assertLess(abs(found.force / parts[0].change - 1.0), 1e-4)

    def test_parts_have_the_bars_of_a_certificate(self):
        made = read.read_run(self.folder)
        bars = {budget.MEAN: 3.0, "isr_loss_mean_eV": 2.0, "wake_loss_mean_eV": 1.0}
        made.certificate = [{"quantity": name, "U": bar} for name, bar in bars.items()]
        self.assertEqual([part.bar for part in budget.parts(made)[:3]], [3.0, 2.0, 1.0])
        made.certificate = []
        self.assertTrue(all(math.isnan(part.bar) for part in budget.parts(made)))

    def test_a_cavity_gives_what_its_voltage_does(self):
        folder, _ = run("cavity", "forces=line", "motion=external", "beam.isr=off", cavity=CAVITY,
                        sigma=1.0e-3)
        now, (first, z) = last(folder), energies(folder, 0)
        want = -VOLTAGE * np.sin(2.0 * np.pi * FREQUENCY * z / LIGHT)
        got, _ = energies(folder, -1)
        # R56 of the bend, 2 mm, times the spread 0: s stays to x'^2/2, 1e-11 m of 1e-3
        self.assertAlmostEqual(got.mean() - first.mean(), want.mean(), delta=1e-5 * abs(want).max())
        self.assertAlmostEqual(now["cavity_gain_mean_eV"], want.mean(),
                               delta=1e-5 * abs(want).max())
        self.assertGreater(abs(want.mean()), 1e-4 * VOLTAGE)  # of the bunch's skewness

    def other(self, name, factor, **values):
        """A copy of the line run with another self-field and other values in resolved.yaml."""
        folder = DIRECTORY / name
        shutil.copytree(DIRECTORY / "line", folder, ignore=shutil.ignore_patterns("diag"))
        with open(folder / "monitor.csv", encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        for row in rows:
            row["energy_change_mean_eV"] = factor * float(row["energy_change_mean_eV"])
            row["F_s_eff_mean_eV_per_m"] = 0.75 * float(row["F_s_mean_eV_per_m"])
            row["sigma_y_m"] = values.get("sigma_y_m", 0.0)
        with open(folder / "monitor.csv", "w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, rows[0], lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)
        text = (folder / "resolved.yaml").read_text(encoding="utf-8")
        for key, value in values.items():
            text, n = re.subn(f"  {key}: .*", f"  {key}: {value}", text)
            self.assertEqual(n, 1, key)
        (folder / "resolved.yaml").write_text(text, encoding="utf-8")
        return folder

    def test_height_and_plates_are_differences_of_the_self_fields(self):
        whole = self.other("whole", 0.8, sigma_y_m=2.0e-4, plates_gap_m=4.0e-3)
        sheet = self.other("sheet", 0.9, plates_gap_m=4.0e-3)
        free = self.other("free", 1.0, sigma_y_m=2.0e-4)
        page.write(whole, sheet=sheet, free=free)
        text = (whole / "report.html").read_text(encoding="utf-8")
        self.assertIn("<h2>Energy budget</h2>", text)
        made = read.read_run(whole)
        found = {part.name: part for part in budget.parts(made, budget.read_sheet(sheet, made),
                                                          budget.read_free(free, made))}
        taken = last(DIRECTORY / "line")["energy_change_mean_eV"]
        for name, factor in (("self-field", 0.8), ("CSR: effective force", 0.75),
                             ("space charge: field carried along", 0.05),
                             ("height: against the run without", -0.1),
                             ("plates: against the run without", -0.2)):
            # the integral of the force is within 1e-4 of what it does
            self.assertAlmostEqual(found[name].change, factor * taken, delta=1e-4 * abs(taken))
            self.assertEqual(found[name].kind == "", name == "self-field")
            self.assertIn(name, text)
        for read_other, other, words in ((budget.read_sheet, free, "plates_gap_m is 0.0 there"),
                                         (budget.read_free, sheet, "sigma_y_m is 0.0 there"),
                                         (budget.read_sheet, whole, "has a height"),
                                         (budget.read_free, whole, "has plates")):
            with self.assertRaisesRegex(Problem, words):
                read_other(other, made)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
