# SPDX-License-Identifier: GPL-3.0-or-later
"""A run as a function of its parameters, for optimisers."""
import math
import tempfile
import time
import warnings
from contextlib import ExitStack
from pathlib import Path

from . import _document
from ._program import TimedOut, environment, execute
from ._run import _options, _words, named, prepare
from .errors import ArcwakeError, ArcwakeWarning
from .result import Result

COARSER = 1.5  # the neighbour: as `arcwake certify` has its first ones


def _nodes(n):
    """Nodes of a side of the coarser grid, of the same parity (src/certify/neighbours.c)."""
    return max(8, n - 2 * round(0.5 * (n - n / COARSER)))


def _neighbour(result):
    """Settings of a cheaper run beside this one."""
    values = result.input
    grid = [_nodes(int(n)) for n in values["numerics.grid"].split(",")]
    out = {"numerics.grid": grid, "output.spectrum": "none", "output.every": 0,
           "output.particles_every": 0}
    tolerance = 10.0 * float(values["numerics.tolerance"])
    out["numerics.tolerance"] = min(tolerance, 1.0)
    if values["numerics.step_m"] == "auto":
        out["numerics.step_scale"] = min(10.0, COARSER * float(values["numerics.step_scale"]))
    else:
        out["numerics.step_m"] = COARSER * float(values["numerics.step_m"])
    number = "beam.resample" if "beam.file" in values else "beam.particles"
    out[number] = max(1, len(result.beam) // 4)
    out["beam.seed"] = int(values.get("beam.seed", 0)) + 1
    return out


class _Case:
    """One evaluation: its input, its directory, and the time that is left."""

    def __init__(self, path, settings, threads, timeout):
        self.path, self.settings = path, settings
        self.options = ["--quiet", *_options(threads=threads)]
        self.timeout, self.end = timeout, time.monotonic() + timeout
        # Waiting threads leave the cores to the other evaluations of a pool.
        self.variables = environment(OMP_WAIT_POLICY="passive")

    def call(self, command, place, settings=()):
        """Run or certify into `place`, with its warnings in the Result. ArcwakeError: it failed, or
        took too long."""
        words = [command, self.path, *self.options, f"--output={place}",
                 *_words({**self.settings, **dict(settings)})]
        ended = named(execute(words, timeout=max(0.0, self.end - time.monotonic()), patient=False,
                              variables=self.variables), self.path)
        if isinstance(ended.cause, TimedOut):
            raise ArcwakeError(f"{command}: took longer than timeout={self.timeout:g} s and was "
                               "ended")
        ended.raise_if_failed()
        return Result(place, warnings=ended.warnings)


def _estimates(found, beside):
    """Changes from the neighbour to the case, as rough errors."""
    return {f"{name}_error": abs(value - beside[name]) if name in beside else math.nan
            for name, value in found.items()}


def evaluate(inputs, case=None, *, certify=False, neighbour=True, timeout=7200.0, threads=None):
    """Results of a run as a dict: its outputs are named as in monitor.csv, Result.summary.

    inputs: with `case` (a run file or a dict), the values of keys that are set in it,
    {"beam.charge_C": 1e-9, "lattice.b1.BendP.g_ref": 0.1}; without, a run file as a dict.
    Beside each output is `<name>_error`:
    - certify: the 95 % error bar of `arcwake certify`, for about six times the time of the case;
    - neighbour: the change from one run beside it, of a grid and steps coarser by 1.5, a quarter of
      the particles with another seed and ten times the tolerance, all at once, for about a third of
      the time. It says which digits move, with what sign nobody knows: no bar of known confidence,
      mostly larger than the error of the case, and by chance it can be far too small;
    - neither: there are no errors.
    timeout [s]: of it all; then ArcwakeError. threads: of the program; where several evaluations
    share a machine, its cores over their number.

    The same inputs give the same outputs (on one device of one program, with any threads). The
    files are in a temporary directory, which is removed. Errors are ArcwakeError, warnings of the
    program are ArcwakeWarning. Can be pickled; ^C ends it at once.
    """
    if not isinstance(inputs, dict):
        raise ArcwakeError(f"inputs: a {type(inputs).__name__} (expected a dict)")
    source, settings = (inputs, {}) if case is None else (case, inputs)
    with ExitStack() as stack:
        path, settings, _ = prepare(source, settings, stack)
        settings = {key: value for key, value in settings.items() if key != "output.directory"}
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="arcwake-")))
        one = _Case(Path(path), settings, threads, timeout)
        result = one.call("certify" if certify else "run", folder / "case")
        for line in result.warnings:  # not those of the neighbour, which is meant to be coarse
            warnings.warn(line, ArcwakeWarning, stacklevel=2)
        found = dict(result.summary)
        if certify and result.certificate is None:
            raise ArcwakeError("certify: made no certificate of this run")
        if not certify and neighbour:
            beside = one.call("run", folder / "neighbour", _neighbour(result))
            found.update(_estimates(found, beside.summary))
    return found
