# SPDX-License-Identifier: GPL-3.0-or-later
"""Wakes from tables: openPMD-beamphysics' own convolution of the same table and particles; Taylor
tables as Ocelot's formulas have them, summed in NumPy.

usage: test_wakes.py DIRECTORY   (of python.c, an empty one; AW_ARCWAKE is the program)
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
try:
    from beamphysics.wakefields import TabularWakefield
except ImportError:
    TabularWakefield = None

ARCWAKE = os.environ["AW_ARCWAKE"]
DIRECTORY = Path(sys.argv[1]).absolute()
MC, MOMENTUM = 1.602176634e-19 / 299792458.0, 5.0e9  # [kg m/s per eV/c], [eV/c]
SIGMA, CHARGE, N = 5.0e-5, 1.0e-9, 20480
STEP = 12.0 * SIGMA / N

RUN = """\
lattice:
  PALS:
    facility:
      - way:
          kind: BeamLine
          line:
            - s: {kind: BeginningEle, ReferenceP: {species_ref: electron, E_tot_ref: 5.0e9}}
            - m: {kind: Marker}
            - d: {kind: Drift, length: 0.2}
      - ring: {kind: Lattice, branches: [way]}
beam: {file: beam.txt}
motion: external
forces: line
numerics: {grid: [16, 8], step_m: 0.05}
output: {every: 1, particles_every: 1}
"""


def bunch():
    """Particles at regular distances, with charges of a Gaussian: z [m], charge [C]."""
    z = (np.arange(N) - N // 2 + 0.5) * STEP
    charge = np.exp(-0.5 * (z / SIGMA)**2)
    return z, CHARGE * charge / charge.sum()


def offsets(mean):
    """Offsets x by turns a micrometre to either side: a beam has a width."""
    return mean + 1.0e-6 * (-1.0)**np.arange(N)


def program(name, wakes, x):
    """One step of a bunch with these offsets."""
    z, charge = bunch()
    zero = np.zeros(N)
    np.savetxt(DIRECTORY / "beam.txt",
               np.column_stack([x, zero, z, zero, zero, zero + MOMENTUM, charge]),
               fmt="%.17g")
    (DIRECTORY / f"{name}.yaml").write_text(RUN + "wakes: " + wakes + "\n", encoding="utf-8")
    environment = {**os.environ, "ARCWAKE_TUNING": "none", "AW_PYTHON": "/bin/false"}
    return subprocess.run([ARCWAKE, "run", f"{name}.yaml", "-o", name, "--force", "--steps", "1"],
                          cwd=DIRECTORY, env=environment, check=False, capture_output=True,
                          text=True)


def run(name, wakes, x):
    """Changes of pz and px by the wake [eV/c], and the mean loss [eV]."""
    done = program(name, wakes, x)
    assert done.returncode == 0, done.stderr
    with open(DIRECTORY / name / "monitor.csv", encoding="utf-8") as file:
        loss = float(list(csv.DictReader(file))[-1]["wake_loss_mean_eV"])
    before, behind = (momenta(DIRECTORY / name / "diag" / f"arcwake_0000000{k}.h5") for k in (0, 1))
    return *(behind - before), loss


def momenta(path):
    """pz and px [eV/c]."""
    with h5py.File(path) as file:
        (iteration,) = file["data"].values()
        group = iteration["particles/electron/momentum"]
        return np.array([group[axis][:] * group[axis].attrs["unitSI"] / MC for axis in "zx"])


class Wakes(unittest.TestCase):
    @unittest.skipIf(TabularWakefield is None, "there is no openpmd-beamphysics")
    def test_a_longitudinal_table_acts_as_in_beamphysics(self):
        # a decay with an oscillation, whose table is coarser than the particles
        y = np.linspace(0.0, 1.0e-3, 301)
        W = 4.0e14 * np.exp(-y / 1.0e-4) * np.cos(6.0e4 * y)
        np.savetxt(DIRECTORY / "wake.txt", np.column_stack([-y[::-1], W[::-1]]), fmt="%.17g")
        gained, _, loss = run("table", "[{file: wake.txt, kind: longitudinal, unit: V/C, "
                                       "element: m}]", offsets(0.0))
        _, charge = bunch()
        wake = TabularWakefield(-y[::-1], W[::-1], kind="linear")
        want = -wake.convolve_density(charge / STEP, STEP)
        # Its sum is the trapezium rule at the distances of the particles, 6e-4 sigma: off by
        # STEP^2/12 of slopes of the wake of 1e4/m and of kinks, some 1e-7.
        self.assertLess(np.abs(gained - want).max(), 1.0e-6 * np.abs(want).max())
        self.assertAlmostEqual(loss, -(charge * want).sum() / CHARGE, delta=1.0e-6 * loss)

    def test_terms_of_a_taylor_table_act_as_in_ocelot(self):
        """Ocelot's formulas: dE = -h00*lambda - 2 x h13*(lambda x), and across the integral from
        the head of 2 h13*(lambda x)."""
        x = offsets(3.0e-4)
        np.savetxt(DIRECTORY / "taylor.dat",
                   [[2, 0], [2, 0], [0, 0], [0, 0], [0, 4e14], [1e-2, 4e14],
                    [2, 0], [0, 0], [0, 13], [0, 2e21], [1e-2, 2e21]], fmt="%.17g")
        gained, kick, _ = run("taylor", "[{file: taylor.dat, kind: taylor, unit: V/C, element: m}]",
                              x)
        _, charge = bunch()

        def ahead(of):
            return np.cumsum(of[::-1])[::-1] - 0.5 * of

        along = -4.0e14 * ahead(charge) - 2.0 * x * 2.0e21 * ahead(charge * x)
        across = 2.0 * 2.0e21 * STEP * ahead(ahead(charge * x))
        # The sums are trapezium rules, off by (6e-4)^2/12; what x has more in a particle than in
        # its neighbour, 0.7 % of 1/N of the charge, the density does not resolve.
        self.assertLess(np.abs(gained - along).max(), 1.0e-6 * np.abs(along).max())
        self.assertLess(np.abs(kick - across).max(), 1.0e-6 * np.abs(across).max())

    def test_a_table_must_reach_through_the_bunch(self):
        np.savetxt(DIRECTORY / "short.txt", [[-1e-4, 1e14], [0, 4e14]])
        done = program("short", "[{file: short.txt, kind: longitudinal, unit: V/C, element: d}]",
                       offsets(0.0))
        self.assertEqual(done.returncode, 3)
        self.assertIn("short.yaml:16:9: wakes[1]: the table reaches 0.0001 m behind the source, "
                      "and the bunch is 0.0006 m long at S = 0 m (extend ", done.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
