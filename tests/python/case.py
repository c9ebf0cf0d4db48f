# SPDX-License-Identifier: GPL-3.0-or-later
"""Small cases for the tests of the package, and the package itself; skips what cannot be tested."""
import os
import sys
from pathlib import Path

sys.dont_write_bytecode = True
ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "python"))
os.environ["MPLBACKEND"] = "agg"
try:
    import h5py  # noqa: F401  pylint: disable=unused-import
    import numpy as np  # noqa: F401  pylint: disable=unused-import
except ImportError as problem:
    print(f"skipped: {problem} (tools/requirements.txt lists what is needed)")
    sys.exit(77)
import arcwake  # noqa: E402,F401  pylint: disable=wrong-import-position,unused-import

SCRATCH = Path(sys.argv[1]).absolute()
LATTICE = ROOT / "inputs" / "lcls_bend.pals.yaml"  # 5 m of bend and 1 m of drift


def case(directory, **numerics):
    """A run through the LCLS bend with the forces of a line, 151 steps, as a dict."""
    return {
        "title": "a test", "lattice": str(LATTICE), "forces": "line",
        "beam": {"charge_C": 1e-9, "gamma": 1e4, "particles": 4000, "emittance_x_m": 1e-10,
                 "beta_x_m": 25.0, "sigma_s_m": 50e-6, "energy_spread": 1e-4},
        "numerics": {"grid": [40, 16], "step_m": 0.04, **numerics},
        "output": {"directory": str(SCRATCH / directory), "every": 0}}


def full(directory):
    """The same with the forces of the sheet, coarse: some seconds."""
    document = case(directory, grid=[24, 24], tolerance=1e-2)
    return {**document, "forces": "full"}


def physics(monitor):
    """The columns that do not measure time."""
    return {name: values for name, values in monitor.items() if not name.startswith("seconds_")}


def same(one, other):
    """Are two monitors equal to the bit?"""
    one, other = physics(one), physics(other)
    return one.keys() == other.keys() and all(
        np.array_equal(one[name], other[name], equal_nan=True) for name in one)
