# SPDX-License-Identifier: GPL-3.0-or-later
"""python/examples/cheetah_chicane.py: the Zeuthen chicane in Cheetah, with the plain call."""
import os
import sys
import unittest
from pathlib import Path

root = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(root / "python"), str(root / "python" / "examples")]
os.environ.setdefault("OMP_WAIT_POLICY", "passive")
try:
    import cheetah  # noqa: F401, of the example
    import numpy as np
    import scipy  # noqa: F401, of chicane
except ImportError as missing:
    print(f"skipped: Python has no {missing.name} (package cheetah-accelerator)")
    sys.exit(77)

import chicane
import cheetah_chicane as example


class Cheetah(unittest.TestCase):
    def test_zeuthen_chicane_as_in_our_own_run(self):
        s, x, angle, delta = chicane.beam(2**14)
        before = example.bunch(x, angle, s, delta)
        after, log = example.track(example.zeuthen(), before, grid=(32, 32))
        change = (after.particles[:, 5] - before.particles[:, 5]).numpy()

        def emittance(beam):
            return chicane.emittance(*beam.particles.numpy()[:, :2].T)
        found = {"mean": change.mean(), "rms": change.std(),
                 "emittance": emittance(after) / emittance(before)}
        self.assertEqual(chicane.compare(found), {})
        self.assertAlmostEqual(log[-1][0], 15.01247720, places=6)
        self.assertTrue(np.all(np.diff([row[0] for row in log]) > 0))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
