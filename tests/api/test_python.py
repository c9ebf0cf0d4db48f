# SPDX-License-Identifier: GPL-3.0-or-later
"""The Python package: forces in the LCLS bend against the closed form, and errors as exceptions.

usage: test_python.py DIRECTORY    with ARCWAKE_LIBRARY, the library
"""
import copy
import multiprocessing
import pickle
import sys
import threading
import time
import unittest
from pathlib import Path

try:
    import numpy as np
except ImportError as problem:
    print(f"skipped: {problem}")
    sys.exit(77)

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python"))
import arcwake  # noqa: E402  pylint: disable=wrong-import-position

LIGHT = 299792458.0
GAMMA, SIGMA, RADIUS, CHARGE = 1e4, 50e-6, 25.13, 1e-9
BEND = [(0.2, 0.0), (5.0, 1 / RADIUS)]


class Bunch:
    """A round bunch of quasi-random particles, cut at 4 sigma, that moves rigidly."""

    def __init__(self, n=60000):
        i = np.arange(n)
        radius = np.sqrt(-2 * np.log(np.maximum((0.5 + 0.7548776662466927 * i) % 1, 1e-12)))
        angle = 2 * np.pi * ((0.5 + 0.5698402909980532 * i) % 1)
        inside = radius < 4
        self.s = SIGMA * (radius * np.cos(angle))[inside]
        self.x = SIGMA * (radius * np.sin(angle))[inside]
        self.ps = np.full(self.s.size, GAMMA)

    def show(self, field, place):
        """Let the field observe the bunch with its centre at a place [m]."""
        t = place / (LIGHT * np.sqrt(1 - 1 / GAMMA**2))
        field.observe(t, place + self.s, self.x, self.ps, 0 * self.ps, CHARGE / self.s.size)


def observe_in_child(field, answers):
    try:
        Bunch(100).show(field, 1.0)
        answers.put("no error")
    except arcwake.ArcwakeError as problem:
        answers.put(str(problem))


class FieldTest(unittest.TestCase):
    def test_mean_force_in_the_steady_state_is_the_closed_form(self):
        bunch, places = Bunch(), np.arange(0.0, 2.6, 0.04)
        with arcwake.Field(BEND, tolerance=1e-4) as field:
            for place in places:
                bunch.show(field, place)
            Fs, Fx = field.force(places[-1] + bunch.s, bunch.x)
            grid = field.grid()
        # Derbenev et al., averaged over a Gaussian: 3^(1/6) Gamma(2/3)^2/(2 pi), times
        # q Q/(4 pi eps0 R^(2/3) sigma^(4/3))
        scale = CHARGE * 8.9875517923e9 / (RADIUS**(2 / 3) * SIGMA**(4 / 3))
        want = -0.35048 * scale
        self.assertLess(abs(Fs.mean() / want - 1), 2e-3)  # 0.05 % seen: space charge, particles
        self.assertEqual(Fx.shape, Fs.shape)
        self.assertAlmostEqual(grid.charge / CHARGE, 1, places=12)
        self.assertEqual(grid.Fs.shape, (48, 48))
        self.assertTrue(0 < grid.error <= 1e-4)
        self.assertLess(np.abs(grid.Fs).max(), 1.2 * np.abs(Fs).max())

    def test_errors_are_exceptions_with_one_line(self):
        def refused(words, call, *arguments, error=arcwake.ArcwakeError, **options):
            with self.assertRaises(error) as caught:
                call(*arguments, **options)
            self.assertIn(words, str(caught.exception))
            self.assertNotIn("\n", str(caught.exception))

        refused("no sections", arcwake.Field, [])
        refused("grid: 4 x 4", arcwake.Field, BEND, grid=(4, 4))
        refused("'magic' is not known", arcwake.Field, BEND, solver="magic")
        for wrong in (2**32 + 48, -2**31 - 1, 48.5, np.nan, np.inf, "48"):  # 48 in 32 bits
            refused("grid: ", arcwake.Field, BEND, grid=(48, wrong), error=ValueError)
        for wrong in (48, (48,), (48, 48, 48)):
            refused("expected two numbers", arcwake.Field, BEND, grid=wrong, error=ValueError)
        refused("threads: 4294967297 (expected", arcwake.Field, BEND, threads=2**32 + 1,
                error=ValueError)
        field = arcwake.Field(BEND)
        refused("nothing has been observed yet", field.grid)
        one = np.ones(3)
        refused("ps: has 2 numbers (expected 3", field.observe, 0.0, one, one, one[:2], one, 1e-9,
                error=ValueError)
        refused("particle 1 is not finite", field.observe, 0.0, [0, np.nan, 0], one, one, one, 1.0)
        Bunch().show(field, 0.1)
        refused("outside of the grid", field.force, [0.1, 5.0], [0.0, 0.0])
        Fs, _ = field.force([0.1, 5.0], [0.0, 0.0], outside="nan")
        self.assertTrue(np.isfinite(Fs[0]) and np.isnan(Fs[1]))
        field.close()
        refused("closed", field.grid, error=ValueError)
        field.close()

    def test_a_saved_field_goes_on_to_the_same_bits(self):
        bunch, path = Bunch(2000), Path(sys.argv[1]) / "field.arcwake"
        with arcwake.Field(BEND, grid=(24, 24)) as field:
            for place in np.arange(0.0, 0.5, 0.1):
                bunch.show(field, place)
                field.grid()
            field.save(path)
            copies = [arcwake.Field.load(path), arcwake.Field.load(path, threads=1),
                      arcwake.Field.load(path, device="cpu"), pickle.loads(pickle.dumps(field)),
                      copy.deepcopy(field)]
            with self.assertRaisesRegex(ValueError, "threads: 4294967297"):
                arcwake.Field.load(path, threads=2**32 + 1)
            for place in (0.5, 0.6):
                bunch.show(field, place)
                want = field.grid()
                for one in copies:
                    bunch.show(one, place)
                    np.testing.assert_array_equal(one.grid().Fs, want.Fs)
            self.assertLess(want.Fs.min(), 0)
        self.assertEqual([one.name for one in path.parent.iterdir()], [path.name])
        data = path.read_bytes()
        for wrong in (b"", data[:-1], data[:500] + b"x" + data[501:], b"\x89HDF" + data[4:]):
            path.write_bytes(wrong)
            with self.assertRaisesRegex(arcwake.ArcwakeError, "the saved field ") as caught:
                arcwake.Field.load(path)
            self.assertNotIn("\n", str(caught.exception))
        with self.assertRaisesRegex(arcwake.ArcwakeError, "abacus"):
            arcwake.Field.from_bytes(data, device="abacus")
        with self.assertRaises(FileNotFoundError):
            arcwake.Field.load(path.with_name("nowhere"))
        with self.assertRaises(OSError):
            arcwake.Field(BEND).save(path / "below")

    def test_one_field_in_two_threads(self):
        bunch = Bunch(2000)
        with arcwake.Field(BEND, grid=(24, 24)) as field:
            bunch.show(field, 0.1)
            want, got = field.grid().Fs, []
            bunch.show(field, 0.2)
            threads = [threading.Thread(target=lambda: got.append(field.grid().Fs))
                       for _ in range(4)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        for one in got[1:]:
            np.testing.assert_array_equal(one, got[0])
        self.assertEqual((len(got), got[0].shape), (4, want.shape))

    def test_a_field_after_fork_says_so(self):
        field = arcwake.Field(BEND)
        Bunch().show(field, 0.1)
        context = multiprocessing.get_context("fork")
        answers = context.Queue()
        child = context.Process(target=observe_in_child, args=(field, answers))
        child.start()
        self.assertIn("in another process", answers.get(timeout=30))
        child.join()

    def test_other_threads_run_during_a_call(self):
        field, bunch, ticks = arcwake.Field(BEND, grid=(64, 64), tolerance=1e-5), Bunch(), []
        done = threading.Event()

        def tick():
            while not done.is_set():
                ticks.append(time.perf_counter())
                time.sleep(1e-3)

        thread = threading.Thread(target=tick)
        thread.start()
        for place in (0.0, 0.1, 0.2):
            bunch.show(field, place)
            begin = time.perf_counter()
            field.grid()
            end = time.perf_counter()
        done.set()
        thread.join()
        # without the lock's release there would be at most one at either end
        self.assertGreater(sum(begin < t < end for t in ticks), 2)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
