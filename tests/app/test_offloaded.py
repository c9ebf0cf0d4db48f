# SPDX-License-Identifier: GPL-3.0-or-later
"""Particles that a device keeps are written as they are at each step: those of the host's own run.

usage: test_kept.py DIRECTORY   (of python.c; $AW_ARCWAKE is the program)
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
# In external fields alone nothing makes more of rounding, of which a step has some 1e-16: of
# the momentum's turn, and of places some metres from where the lattice begins [m].
ROUNDED = {"momentum": 1e-13, "position": 1e-14}


def run(device):
    """What a run said, and the particles of every file that it wrote: {name: array}."""
    settings = ["motion=external", "beam.particles=5000", "numerics.grid=[16, 16]",
                "numerics.step_m=0.25", "numerics.tolerance=1e-3",
                f"output.particles_every={EVERY}"]
    command = [ARCWAKE, "run", ROOT / "inputs" / "lcls_bend_tracking.yaml", "--device", device,
               "--solver", "two-phase", "-o", device, "--threads", "1"]
    for setting in settings:
        command += ["--set", setting]
    done = subprocess.run(command, capture_output=True, text=True, cwd=DIRECTORY, check=False)
    if done.returncode != 0:
        raise AssertionError(f"run on {device}: exit {done.returncode}: {done.stderr}")
    found = {}
    for step in range(0, STEPS + 1, EVERY):
        with h5py.File(DIRECTORY / device / "diag" / f"arcwake_{step:08d}.h5") as file:
            species = file[f"data/{step}/particles/electron"]
            for record in ("position", "momentum"):
                for axis in ("x", "z"):
                    found[step, record, axis] = species[record][axis][:]
    return done.stdout, found


class Kept(unittest.TestCase):
    def test_the_unit_s_are_the_host_s(self):
        (_, host), (said, kept) = run("cpu"), run("emulated")
        self.assertIn("5000 particles are kept by emulated", said)
        self.assertEqual(set(host), set(kept))
        for name, want in host.items():
            size = 1.0 if name[1] == "position" else np.abs(host[name[0], "momentum", "z"]).max()
            np.testing.assert_allclose(kept[name], want, rtol=0.0, atol=ROUNDED[name[1]] * size,
                                       err_msg=str(name))
        turned = [host[step, "momentum", "x"].mean() for step in (0, STEPS)]
        self.assertGreater(abs(turned[1]), 1e3 * abs(turned[0]))  # they have been somewhere


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
