# SPDX-License-Identifier: GPL-3.0-or-later
"""Particles resident on a device are written as in a run on the host.

usage: test_offloaded.py DIRECTORY   (of python.c; $AW_ARCWAKE is the program)
"""
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
ROOT = Path(__file__).resolve().parents[2]
DIRECTORY = Path(sys.argv[1]).absolute()
STEPS, EVERY = 24, 8
# External fields alone do not amplify rounding, about 1e-16 per step: relative to the momentum, and
# absolute [m] in positions a few metres from the start of the lattice.
ROUNDED = {"momentum": 1e-13, "position": 1e-14}


def run(device):
    """Standard output of a run, the particles of all its files: {name: array}, and the direction in
    which they move at the end, against the lab's z axis [rad]."""
    settings = ["motion=external", "beam.particles=5000", "numerics.grid=[16, 16]",
                "numerics.step_m=0.25", "numerics.tolerance=1e-3",
                f"output.particles_every={EVERY}"]
    command = [ARCWAKE, "run", ROOT / "inputs" / "lcls_bend_tracking.yaml", "--device", device,
               "--solver", "two-phase", "-o", device, "--threads", "1"]
    for setting in settings:
        command += ["--set", setting]
    done = subprocess.run(command, capture_output=True, text=True, cwd=DIRECTORY, check=False,
                          env={**os.environ, "AW_PYTHON": "/bin/false"})  # no report
    if done.returncode != 0:
        raise AssertionError(f"run on {device}: exit {done.returncode}: {done.stderr}")
    found = {}
    for step in range(0, STEPS + 1, EVERY):
        with h5py.File(DIRECTORY / device / "diag" / f"arcwake_{step:08d}.h5") as file:
            species = file[f"data/{step}/particles/electron"]
            for record in ("position", "momentum"):
                for axis in ("x", "z"):
                    found[step, record, axis] = species[record][axis][:]
            p = [found[step, "momentum", axis].mean() for axis in "xz"]
            x, _, z = species.attrs["frameRotation"].reshape(3, 3) @ (p[0], 0.0, p[1])
    return done.stdout, found, np.arctan2(x, z)


class Offloaded(unittest.TestCase):
    def test_offloaded_particles_are_those_of_the_host(self):
        (_, host, turned), (printed, offloaded, _) = run("cpu"), run("emulated")
        self.assertIn("5000 particles are resident on emulated", printed)
        self.assertEqual(set(host), set(offloaded))
        for name, want in host.items():
            size = 1.0 if name[1] == "position" else np.abs(host[name[0], "momentum", "z"]).max()
            np.testing.assert_allclose(offloaded[name], want, rtol=0.0,
                                       atol=ROUNDED[name[1]] * size, err_msg=str(name))
        # the angle of the bend; rms slopes of 2e-5 leave a mean of 3e-7 of 5000 particles at most
        self.assertAlmostEqual(turned, -0.198968, delta=1e-6)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
