# SPDX-License-Identifier: GPL-3.0-or-later
"""What the tests of `arcwake convert` share: the program, a scratch directory, refusals."""
import importlib.util
import os
import subprocess
import sys
import unittest
from pathlib import Path

ARCWAKE = os.environ["AW_ARCWAKE"]
DIRECTORY = Path(sys.argv[1]).absolute() if len(sys.argv) > 1 else None


def skip_without(*modules):
    """End the test with status 77 where a package is missing."""
    for module, package in modules:
        if importlib.util.find_spec(module.split(".")[0]) is None:
            print(f"skipped: no Python package {package} (tools/requirements-convert.txt lists "
                  "what is needed)")
            sys.exit(77)


def program(*arguments, **environment):
    """Run arcwake in the scratch directory, with this Python."""
    own = {**os.environ, "ARCWAKE_TUNING": "none", "AW_PYTHON": sys.executable, **environment}
    return subprocess.run([ARCWAKE, *map(str, arguments)], cwd=DIRECTORY, env=own, check=False,
                          capture_output=True, text=True)


def write(name, text):
    (DIRECTORY / name).parent.mkdir(exist_ok=True)
    (DIRECTORY / name).write_text(text, encoding="utf-8")
    return name


class ConvertCase(unittest.TestCase):
    """A test with conversions."""

    def convert(self, source, target, *options):
        """Convert, and return what was printed."""
        done = program("convert", source, target, "--force", *options)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stderr, "")
        return done.stdout

    def deck(self, name, text, *options, target="out.pals.yaml"):
        """Convert a deck of this text, and return the lattice."""
        self.convert(write(name, text), target, *options)
        return (DIRECTORY / target).read_text(encoding="utf-8")

    def refused(self, source, *words, options=(), status=2, lines=1):
        """Refused in so many lines, which have these words, without a file."""
        (DIRECTORY / "refused.out").unlink(missing_ok=True)
        done = program("convert", source, "refused.out", *options)
        printed = done.stderr.splitlines()
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        self.assertEqual(len(printed), lines, done.stderr)
        for word in words:
            self.assertIn(word, done.stderr)
        for line in printed:
            self.assertTrue(line.startswith("arcwake: error: "), line)
        self.assertFalse((DIRECTORY / "refused.out").exists())
        self.assertEqual(list(DIRECTORY.glob(".*")), [])  # nothing is left behind
