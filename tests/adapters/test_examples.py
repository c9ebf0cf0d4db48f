# SPDX-License-Identifier: GPL-3.0-or-later
"""The optimisations of python/examples, short: nothing is lost, and the end is better."""
import os
import re
import subprocess
import sys
import unittest
from pathlib import Path

root = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(root / "python"))
try:
    import optimas  # noqa: F401, of the example
    import xopt  # noqa: F401
    import arcwake
    arcwake.evaluate  # noqa: B018, which the examples call
except (AttributeError, ImportError) as missing:
    print(f"skipped: {missing} (packages xopt and optimas)")
    sys.exit(77)
CASE = root / "inputs" / "fast_bc1.yaml"


def run(name, *words, directory):
    """What an example prints; it finds this tree's package."""
    path = os.pathsep.join(filter(None, [str(root / "python"), os.environ.get("PYTHONPATH")]))
    ended = subprocess.run([sys.executable, "-W", "ignore", root / "python" / "examples" / name,
                            CASE, *words], cwd=directory, capture_output=True, text=True,
                           env={**os.environ, "PYTHONPATH": path}, timeout=540, check=False)
    if ended.returncode:
        raise AssertionError(f"{name} ended with {ended.returncode}: {ended.stderr[-2000:]}")
    return ended.stdout


class Examples(unittest.TestCase):
    directory = sys.argv[1] if len(sys.argv) > 1 else "."

    def test_xopt_ends_better_than_it_began(self):
        out = run("xopt_chicane.py", "--evaluations", "12", "--coarse", directory=self.directory)
        self.assertIn("12 evaluations, 0 lost", out)
        values = {name: (float(value), float(bar)) for name, value, bar in
                  re.findall(r"(start|best): .* emittance (\S+) \+- (\S+) m", out)}
        self.assertLess(values["best"][0], values["start"][0])
        self.assertGreater(values["best"][1], 0)

    def test_optimas_with_two_local_workers(self):
        words = ["--evaluations", "4", "--coarse"]
        out = run("optimas_chicane.py", *words, directory=self.directory)
        self.assertIn("4 evaluations, 0 lost", out)
        self.assertRegex(out, r"best: beta .* emittance \d\S+ m")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
