# SPDX-License-Identifier: GPL-3.0-or-later
"""What the bunch radiates into the far field, from the files of arcwake spectrum."""
import json
import math
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from . import Problem, budget, read

COLUMNS = ("frequency_Hz", "wavelength_m", "coherent_J_s", "incoherent_J_s", "noise_J_s",
           "resolved")
NUMBERS = ("frequency_resolved_Hz", "coherent_energy_J")
BALANCE = ("lost_J", "missing_J", "radiated_J", "bound_start_J", "bound_end_J", "balance_gap")


@dataclass
class Directions:
    """The coherent energy by direction, and the input that it is of."""

    psi: np.ndarray  # [rad], rising
    theta: np.ndarray
    energy: np.ndarray  # over the frequencies that the grid resolves, [psi][theta] [J/sr]
    values: dict = field(default_factory=dict)  # keys of the input, joined by dots
    elements: list = field(default_factory=list)  # of the lattice


@dataclass
class Radiation:
    """What arcwake spectrum left in a directory."""

    table: dict  # columns of spectrum.csv as arrays, empty cells NaN
    summary: dict  # numbers of spectrum.json; what is not known is NaN or missing
    software: str
    balance_open: str = ""  # why there is no energy balance; empty: there is one, or none is known
    directions: Directions = None  # None: no spectrum.h5

    def number(self, name):
        """A number of spectrum.json; NaN: not known."""
        return self.summary.get(name, math.nan)

    @property
    def has_band(self):
        return math.isfinite(self.number("band_from_Hz")) and "band_energy_J" in self.summary

    @property
    def has_balance(self):
        return all(math.isfinite(self.number(name)) for name in BALANCE)

    @property
    def held(self):
        """Which frequencies the grid resolves."""
        return np.isfinite(self.table["coherent_J_s"])

    @property
    def clear(self):
        """At which frequencies the coherent part is known: resolved, and above the noise."""
        return self.held & (self.table["resolved"] == 1.0)


def trapezium(x):
    """Weights of the trapezium rule on rising nodes."""
    weights = np.zeros(len(x))
    weights[1:] += 0.5 * np.diff(x)
    weights[:-1] += 0.5 * np.diff(x)
    return weights


def _read_table(path):
    table = read.read_columns(path, COLUMNS)
    if table is None:
        raise Problem(f"{path}: no rows")
    frequency = table["frequency_Hz"]
    if not (np.isfinite(frequency).all() and frequency[0] > 0.0 and (np.diff(frequency) > 0).all()):
        raise Problem(f"{path}: the frequencies do not rise")
    return table


def _read_summary(path):
    try:
        document = json.loads(read.read_text(path))
        software = str(document.pop("software", ""))
        balance_open = str(document.pop("balance_open", ""))
        found = {key: math.nan if value is None else float(value)
                 for key, value in document.items()}
    except (ValueError, TypeError, AttributeError) as problem:
        raise Problem(f"{path}: cannot be read: {problem}") from problem
    missing = [name for name in NUMBERS if name not in found]
    if missing:
        raise Problem(f"{path}: no {missing[0]}")
    return found, software, balance_open


def _directions(iteration, file, table):
    meshes = iteration["meshes"]
    frequency, psi, theta = (meshes[name][()] for name in ("frequency", "psi", "theta"))
    coherent = meshes["coherent"]
    expected = table["frequency_Hz"]
    if frequency.shape != expected.shape or not np.allclose(frequency, expected, rtol=1e-6):
        raise ValueError("its frequencies are not those of spectrum.csv")
    if coherent.shape != (len(frequency), len(psi), len(theta)):
        raise ValueError("the array coherent has not the shape of its axes")
    held = np.flatnonzero(np.isfinite(table["coherent_J_s"]))
    energy = np.zeros(coherent.shape[1:])
    # one frequency at a time: all of them may be larger than the memory
    for i, weight in zip(held, trapezium(2.0 * math.pi * frequency[held])):
        energy += weight * coherent[i]
    values, elements, _ = read.read_input(read.text_of(file.attrs, "input"),
                                          Path(file.filename).parent)
    return Directions(psi, theta, energy, values, elements)


def read_radiation(directory):
    """The Radiation of a directory; None: arcwake spectrum has left nothing there."""
    if not (directory / "spectrum.csv").exists():
        return None
    table = _read_table(directory / "spectrum.csv")
    found = Radiation(table, *_read_summary(directory / "spectrum.json"))
    if (directory / "spectrum.h5").exists():
        found.directions = read.with_file(
            directory / "spectrum.h5",
            lambda step, iteration, file: _directions(iteration, file, table))
    return found


def complete(run, found):
    """Give what is known from the spectrum to a Run of a directory in which there is no more."""
    if run.values or run.monitor is not None or run.meshes:
        return
    run.software, run.gamma = found.software, found.number("gamma")
    if found.directions is not None:
        run.values, run.elements = dict(found.directions.values), found.directions.elements


def difference(run, found):
    """In words, in what the inputs of spectrum and run differ; empty: nothing, or not known."""
    if found.directions is None or not (found.directions.values and run.values):
        return ""
    its = found.directions.values
    key = read.differing(run.values, its)
    if key:
        return (f"{key} is {its.get(key, 'not given')} there and "
                f"{run.values.get(key, 'not given')} here")
    return "the lattice is another one" if found.directions.elements != run.elements else ""


def loss(run, found):
    """What the self-field took from the bunch [J]; NaN: nothing, or not known.

    It is known for a self-consistent run of the same input through the whole lattice.
    """
    if (run.monitor is None or run.motion != "self-consistent" or run.is_short
            or found.directions is None or difference(run, found)):
        return math.nan
    # a mean energy per electron in eV, times the charge in C, is the bunch's in J
    taken = -budget.last(run.monitor, budget.MEAN) * abs(budget.last(run.monitor, "charge_C"))
    return taken if taken > 0.0 else math.nan
