# SPDX-License-Identifier: GPL-3.0-or-later
"""What the tests of `arcwake convert` share: the program, a scratch directory, refusals."""
import importlib.util
import os
import runpy
import subprocess
import sys
import tempfile
import unittest
import warnings
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


def load_convert():
    """The package that `arcwake convert` runs, as its script loads it."""
    script = Path(__file__).resolve().parents[2] / "python/arcwake/convert/__main__.py"
    return runpy.run_path(str(script))["load"]()


def forked(package, *arguments):
    """As program("convert", ...), in a copy of this process, which has imported all packages.

    To import them again takes longer than to convert a bunch.
    """
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        sys.stdout.flush()
        sys.stderr.flush()
        child = os.fork()
        if not child:
            status = 70
            try:
                os.dup2(out.fileno(), 1)
                os.dup2(err.fileno(), 2)
                sys.stdout, sys.stderr = open(1, "w", closefd=False), open(2, "w", closefd=False)
                warnings.resetwarnings()  # unittest turns on what a start of Python leaves off
                for kind in (DeprecationWarning, PendingDeprecationWarning, ImportWarning,
                             ResourceWarning):
                    warnings.simplefilter("ignore", kind)
                os.chdir(DIRECTORY)
                status = package.main([str(one) for one in arguments])
            except SystemExit as end:
                status = end.code
            finally:
                sys.stdout.flush()
                sys.stderr.flush()
                os._exit(status)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        out.seek(0)
        err.seek(0)
        return subprocess.CompletedProcess(arguments, code, out.read(), err.read())


def write(name, text):
    (DIRECTORY / name).parent.mkdir(exist_ok=True)
    (DIRECTORY / name).write_text(text, encoding="utf-8")
    return name


class ConvertCase(unittest.TestCase):
    """A test with conversions."""
    package = None  # of load_convert: conversions without a start of Python for each

    def run_convert(self, *arguments):
        if self.package:
            return forked(self.package, *arguments)
        return program("convert", *arguments)

    def convert(self, source, target, *options):
        """Convert, and return what was printed."""
        done = self.run_convert(source, target, "--force", *options)
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
        done = self.run_convert(source, "refused.out", *options)
        printed = done.stderr.splitlines()
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        self.assertEqual(len(printed), lines, done.stderr)
        for word in words:
            self.assertIn(word, done.stderr)
        for line in printed:
            self.assertTrue(line.startswith("arcwake: error: "), line)
        self.assertFalse((DIRECTORY / "refused.out").exists())
        self.assertEqual(list(DIRECTORY.glob(".*")), [])  # nothing is left behind
