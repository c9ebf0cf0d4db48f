# SPDX-License-Identifier: GPL-3.0-or-later
"""The radiation of a run, by the program's command `spectrum`."""
import csv
import json
import math
import warnings
from contextlib import ExitStack
from functools import cached_property
from pathlib import Path

import numpy as np

from ._program import execute
from ._run import _options, _words, named, prepare
from .errors import ArcwakeError, ArcwakeWarning
from .result import Result


class Spectrum:
    """What `arcwake spectrum` left in a directory (docs/spectrum.md); files are read when they are
    asked for. Errors of files are ArcwakeError."""

    def __init__(self, directory):
        self.directory = Path(directory)
        if not (self.directory / "spectrum.csv").exists():
            raise ArcwakeError(f"{self.directory}: there is no spectrum.csv (expected the output "
                               "directory of arcwake spectrum)", directory=self.directory)

    @cached_property
    def table(self):
        """Columns of spectrum.csv, arrays [frequencies], empty cells NaN."""
        with open(self.directory / "spectrum.csv", newline="", encoding="utf-8") as file:
            names, *rows = csv.reader(file)
        return dict(zip(names, np.array([[float(cell) if cell else math.nan for cell in row]
                                         for row in rows]).T))

    @cached_property
    def summary(self):
        """spectrum.json: energies [J], and what they are of; None where a number is not known."""
        return json.loads((self.directory / "spectrum.json").read_text(encoding="utf-8"))

    @cached_property
    def directions(self):
        """Arrays of spectrum.h5: frequency [Hz], psi and theta [rad], and energies per angular
        frequency and solid angle [J s], coherent and of one electron, [frequency, psi, theta]."""
        import h5py
        with h5py.File(self.directory / "spectrum.h5") as file:
            return {name: mesh[...] for name, mesh in file["data/0/meshes"].items()}


def been(source):
    """The directory of a run that has been, if the source is one; else None."""
    if isinstance(source, Result):
        return source.directory
    return Path(source) if not isinstance(source, dict) and Path(source).is_dir() else None


def _joined(values):
    return None if values is None else ",".join(f"{value:.17g}" for value in values)


def spectrum(source, *, set=None, directory=None, frequencies=None, theta=None, psi=None,
             aperture=None, band=None, threads=None, steps=None):
    """Move the bunch of a case to its end, add up what it radiates, and return its Spectrum.

    source: as of arcwake.run; or a Result, or the directory of a run that wrote the meshes of all
    its steps (output.every = 1): its bunch is not moved again.
    set, directory, threads, steps: as of arcwake.run; other files of the directory stay. Of a run
    that has been only directory, by default its own, and threads may be given.
    frequencies: (from, to, n) [THz]; theta: (from, to, n), psi: (most, n) [mrad];
    aperture: (radius, distance) [m], or with an angle [mrad]; band: (from, to) [THz].
    Errors are ArcwakeError, warnings of the program are ArcwakeWarning.
    """
    with ExitStack() as stack:
        run = been(source)
        path, settings, asked = (run, dict(set or {}), run) if run else prepare(source, set, stack)
        path, place = Path(path), Path(asked if directory is None else directory)
        wanted = _options(output=place, threads=threads, steps=steps, theta=_joined(theta),
                            psi=_joined(psi), frequencies=_joined(frequencies),
                            aperture=_joined(aperture), band=_joined(band))
        ended = named(execute(["spectrum", path, "--quiet", *wanted, *_words(settings)]), path)
    for line in ended.warnings:
        warnings.warn(line, ArcwakeWarning, stacklevel=2)
    ended.raise_if_failed(place)
    return Spectrum(place)
