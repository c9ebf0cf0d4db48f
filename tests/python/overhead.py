#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Measure what `Field` costs over the same calls in C: the same steps, by turns, in one process.

usage: overhead.py [STEPS] [PARTICLES]     with cc in the PATH; ARCWAKE_LIBRARY, the library

Both sides observe a rigid bunch in the LCLS bend on a grid of 128 x 128 and ask for the forces on
its particles. It prints the ratio of the processor's times, which other programs disturb less than
those of the clock; the time of the same calls in Python with a library that does nothing, over that
of the step in C; and the largest difference of the forces, 0. This is no test: time on a shared
machine proves nothing. Exit status 1: the forces differ.
"""
import ctypes
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "python"))
import arcwake  # noqa: E402  pylint: disable=wrong-import-position
from arcwake import _library  # noqa: E402  pylint: disable=wrong-import-position
from arcwake import field as field_module  # noqa: E402  pylint: disable=wrong-import-position

LIGHT, GAMMA, SIGMA = 299792458.0, 1e4, 50e-6
BEND = [(0.2, 0.0), (5.0, 1 / 25.13)]


def compiled(folder):
    """The step in C, which calls the library that Python has loaded."""
    path = Path(folder) / "overhead.so"
    subprocess.run(["cc", "-O2", "-shared", "-fPIC", f"-I{ROOT}", "-o", path,
                    ROOT / "tests" / "python" / "overhead.c"], check=True)
    ctypes.CDLL(_library.LIBRARY._name, ctypes.RTLD_GLOBAL)
    step = ctypes.CDLL(str(path)).overhead_step
    step.argtypes = [ctypes.c_void_p, ctypes.c_double, ctypes.POINTER(_library.Bunch),
                     _library.DOUBLES, _library.DOUBLES]
    return step


class Nothing:
    """A library whose functions return at once."""

    def __getattr__(self, name):
        return lambda *_: 0


def own_part(field, arguments):
    """Seconds that Python takes for a step without the library, the median of many."""
    library, seconds = field_module.LIBRARY, []
    try:
        field_module.LIBRARY = Nothing()
        for _ in range(200):
            begin = time.process_time()
            field.observe(*arguments)
            field.force(*arguments[1:3])
            seconds.append(time.process_time() - begin)
    finally:
        field_module.LIBRARY = library
    return statistics.median(seconds)


def main(steps=40, n=200000):
    random = np.random.default_rng(1)
    away, x = np.clip(random.standard_normal((2, n)), -4, 4) * SIGMA
    ps, px = np.full(n, GAMMA), np.zeros(n)
    charge = np.full(n, 1e-9 / n)
    fields = [arcwake.Field(BEND, grid=(128, 128)) for _ in range(2)]
    Fs, Fx = np.empty(n), np.empty(n)
    seconds, largest = ([], []), 0.0
    with tempfile.TemporaryDirectory() as folder:
        step = compiled(folder)
        for k in range(steps):
            place = 0.04 * k
            t, s = place / (LIGHT * np.sqrt(1 - GAMMA**-2)), place + away
            pointers = [a.ctypes.data_as(_library.DOUBLES) for a in (s, x, ps, px, charge)]
            bunch = _library.Bunch(n, *pointers)
            for turn in ((0, 1), (1, 0))[k % 2]:
                begin = time.process_time()
                if turn == 0:
                    status = step(fields[0]._field, t, ctypes.byref(bunch),
                                  Fs.ctypes.data_as(_library.DOUBLES),
                                  Fx.ctypes.data_as(_library.DOUBLES))
                else:
                    fields[1].observe(t, s, x, ps, px, charge)
                    mine = fields[1].force(s, x)
                seconds[turn].append(time.process_time() - begin)
            if status:
                raise SystemExit(f"the step in C: {status}")
            largest = max(largest, np.abs(mine[0] - Fs).max(), np.abs(mine[1] - Fx).max())
    ratios = [python / c for c, python in zip(*seconds)]
    alone = own_part(fields[1], (t, s, x, ps, px, charge)) / statistics.median(seconds[0])
    print(f"{steps} steps, {n} particles, 128 x 128: C {sum(seconds[0]):.2f} s, Python "
          f"{sum(seconds[1]):.2f} s; ratio of the sums {sum(seconds[1]) / sum(seconds[0]):.4f}, "
          f"of a step in the median {statistics.median(ratios):.4f}; Python alone {alone:.2g} of "
          f"a step in C; the forces differ by {largest:g} eV/m")
    return 0 if largest == 0.0 else 1


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
