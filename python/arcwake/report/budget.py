# SPDX-License-Identifier: GPL-3.0-or-later
"""What each effect did to the mean energy of the bunch, from the columns of monitor.csv."""
import math
from dataclasses import dataclass

import numpy as np

from . import Problem, read

MEAN, FORCE, EFFECTIVE = ("energy_change_mean_eV", "F_s_mean_eV_per_m", "F_s_eff_mean_eV_per_m")
HEIGHT = ("beam.sigma_y_m", "beam.emittance_y_m", "beam.beta_y_m", "beam.alpha_y")
PLATES = ("numerics.plates_gap_m",)


@dataclass
class Part:
    """A part of the change of the mean energy since the start."""

    name: str
    change: float  # [eV], negative: taken from the bunch
    rms: float = math.nan  # of the particles about it [eV]
    bar: float = math.nan  # half the error bar for 95 % [eV]
    kind: str = ""  # "part": of the self-field's; "difference": from a run without an effect;
    # "sum": of those that are none of these


def last(monitor, name):
    """The last value of a column; NaN without it."""
    return float(monitor[name][-1]) if name in monitor else math.nan


def work(monitor, name):
    """Trapezium rule of a force over S [eV]; NaN where it is not known at every step."""
    if name not in monitor:
        return math.nan
    force, S = monitor[name], monitor["s_ref_m"]
    return float(np.sum(0.5 * (force[1:] + force[:-1]) * np.diff(S)))


def bar(run, name=MEAN):
    """The error bar of a certificate at the last step; NaN: none."""
    found = [one["U"] for one in run.certificate if one["quantity"] == name]
    return found[0] if found else math.nan


def _share(run, other, name):
    """What the self-field of a run took more than that of another one, to the same place."""
    mine, S = run.monitor, other.monitor["s_ref_m"]
    if not abs(S[-1] - mine["s_ref_m"][-1]) < 1e-3:
        raise Problem(f"the run without {name} ends at S = {S[-1]:.6g} m, this one at "
                      f"{mine['s_ref_m'][-1]:.6g} m (expected the same)")
    return Part(f"{name}: against the run without", last(mine, MEAN) - last(other.monitor, MEAN),
                bar=math.hypot(bar(run), bar(other)), kind="difference")


def parts(run, sheet=None, free=None):
    """The parts of the budget, and the sum of those that are counted; [] in rigid motion.

    `sheet` and `free` are the Runs of the same case without height and without plates.
    """
    monitor, out = run.monitor, []
    if run.motion == "rigid":
        return []
    if run.motion != "external":
        taken = last(monitor, MEAN)
        out.append(Part("self-field", taken, last(monitor, "energy_change_rms_eV"), bar(run)))
        effective = work(monitor, EFFECTIVE)
        if math.isfinite(effective):
            out += [Part("CSR: effective force", effective, kind="part"),
                    Part("space charge: field carried along", taken - effective, kind="part")]
        for other, name in ((sheet, "height"), (free, "plates")):
            if other is not None:
                out.append(_share(run, other, name))
    for name, column, sign, rms in (
            ("incoherent radiation", "isr_loss_mean_eV", -1.0, "isr_rms_eV"),
            ("wakes", "wake_loss_mean_eV", -1.0, ""), ("cavities", "cavity_gain_mean_eV", 1.0, "")):
        value = last(monitor, column)
        if math.isfinite(value):
            out.append(Part(name, sign * value, last(monitor, rms), bar(run, column)))
    counted = [part.change for part in out if not part.kind]
    return [*out, Part("together", sum(counted), kind="sum")] if len(counted) > 1 else out


@dataclass
class Balance:
    """Whether the parts account for the change of the mean energy [eV]."""

    change: float  # of the mean energy of the particles
    rest: float  # what the sum of the parts leaves of it
    force: float  # integral of the mean self-force over S; NaN: not known


def balance(run, found):
    """The Balance of parts; None without the column of the mean energy."""
    change = last(run.monitor, "energy_mean_eV") - float(
        run.monitor.get("energy_mean_eV", [math.nan])[0])
    if not math.isfinite(change) or not found:
        return None
    total = sum(part.change for part in found if not part.kind)
    return Balance(change, change - total, work(run.monitor, FORCE))


def _other(directory, run, keys, what):
    """The Run of a directory, of the same input as `run` but for keys that describe `what`."""
    other = read.read_run(directory)
    if other.monitor is None or run.monitor is None:
        raise Problem(f"{directory if run.monitor else 'DIR'}: no rows in monitor.csv (expected "
                      "those of two runs)")
    key = read.differing(run.values, other.values, keys)
    if key:
        raise Problem(f"{directory}: {key} is {other.values.get(key, 'not given')} there and "
                      f"{run.values.get(key, 'not given')} here (expected the same case, without "
                      f"{what})")
    return other


def read_sheet(directory, run):
    """The Run of a directory, that of the same case without height."""
    other = _other(directory, run, HEIGHT, "height")
    if np.nansum(np.abs(other.monitor.get("sigma_y_m", 0.0))) != 0.0:
        raise Problem(f"{directory}: the bunch there has a height (expected beam.sigma_y_m: 0)")
    return other


def read_free(directory, run):
    """The Run of a directory, that of the same case without plates."""
    other = _other(directory, run, PLATES, "plates")
    if float(other.values.get(PLATES[0]) or 0.0) != 0.0:
        raise Problem(f"{directory}: the run there has plates (expected {PLATES[0]}: 0)")
    return other
