# SPDX-License-Identifier: GPL-3.0-or-later
"""The form factor of particles or of a mesh, by the program's command `form-factor`."""
import csv
import math
import os
import tempfile
import warnings
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ._program import execute
from ._run import _options
from .errors import ArcwakeError, ArcwakeWarning


@dataclass
class FormFactor:
    """F(k) = 1/Q sum_j q_j exp(i k.r_j), or its mean over directions (docs/form-factor.md).

    k: the wave numbers [1/m] of each axis that was asked for, {"s": [n_s], "x": [n_x], "y": [n_y]}.
    F: complex, of the shape [n_y, n_x, n_s] of these axes; None for a mean over directions.
    power: |F|^2, or its mean, of the same shape. noise: where power is at most `floor`, the mean
    of |F|^2 of as many particles drawn by chance. particles: their number.
    Of a mesh F and power are NaN where its grid does not resolve the wave, and where the number of
    particles is not known, particles is 0, floor NaN, and noise nowhere true.
    """
    k: dict
    F: np.ndarray | None
    power: np.ndarray
    noise: np.ndarray
    floor: float
    particles: int


def _range(values, name):
    if values is None:
        return None
    try:
        first, last, n = values
        return f"{first:.17g}:{last:.17g}:{int(n)}"
    except (TypeError, ValueError):
        raise ValueError(f"{name}: {values!r} (expected three numbers: from, to, how many)"
                         ) from None


def _read(path, across, averaged):
    """The table; across: the number of k along y and x, where there are any."""
    with open(path, newline="", encoding="utf-8") as file:
        lines = file.read().splitlines()
    head = {line.split()[1]: line.split()[2].rstrip(":") for line in lines
            if line.startswith(("# particles", "# noise"))}
    names, *rows = csv.reader(line for line in lines if not line.startswith("#"))
    numbers = np.array([[cell or "nan" for cell in row] for row in rows], dtype=float)
    column = dict(zip(names, numbers.T))
    if averaged:
        axes = {"s": column["k[1/m]"]}
        shape = [len(axes["s"])]
    else:
        shape = [*across.values(), len(rows) // math.prod(across.values())]
        axes = {}
        for i, axis in enumerate([*across, "s"]):  # that of the last varies fastest
            k = column[f"k_{axis}[1/m]"].reshape(shape)
            axes[axis] = np.moveaxis(k, i, 0).reshape(shape[i], -1)[:, 0]
    F = None if averaged else (column["F_re"] + 1j * column["F_im"]).reshape(shape)
    return FormFactor(k=axes, F=F, power=column["F2"].reshape(shape),
                      noise=column["noise"].reshape(shape) == 1, floor=float(head["noise"]),
                      particles=int(head["particles"]))


def form_factor(beam, *, k=None, k_x=None, k_y=None, source=None, average=None, precision=None,
                fast=False, memory=None, device=None, threads=None):
    """The form factor of a bunch: a FormFactor.

    beam: path of a beam file, of a file of particles of a run, or of the directory of a run, whose
    last particles are taken; a Result or Particles.
    k, k_x, k_y: (from, to, n) [1/m], along the mean momentum, across it in the plane, and up;
    by default 200 along s up to 4 over the rms length. source: "particles" or "meshes", the charge
    density of a mesh file or of the last one of a run; k_y needs sigma_y_m of its monitor.csv.
    average: "pairs" or "directions".
    precision: "single" or "double"; fast: by FINUFFT; memory: budget [MiB]; device, threads: as of
    arcwake.run. Errors are ArcwakeError, warnings of the program are ArcwakeWarning.
    """
    path = next((getattr(beam, name) for name in ("directory", "path") if hasattr(beam, name)),
                beam)
    wanted = {"k": _range(k, "k"), "k_x": _range(k_x, "k_x"), "k_y": _range(k_y, "k_y")}
    across = {axis: int(range_[2]) for axis, range_ in (("y", k_y), ("x", k_x))
              if range_ is not None}
    with tempfile.TemporaryDirectory(prefix="arcwake-") as scratch:
        table = Path(scratch) / "form_factor.csv"
        ended = execute(["form-factor", os.fspath(path),
                         *_options(output=table, **{"from": source}, average=average,
                                   precision=precision, memory=memory, device=device,
                                   threads=threads, **wanted),
                         *(["--fast"] if fast else [])])
        for line in ended.warnings:
            warnings.warn(line, ArcwakeWarning, stacklevel=2)
        ended.raise_if_failed()
        try:
            return _read(table, across, averaged=average is not None)
        except (OSError, ValueError, KeyError) as error:
            raise ArcwakeError(f"{table.name}: cannot be read ({error})") from error
