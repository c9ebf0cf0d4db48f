# SPDX-License-Identifier: GPL-3.0-or-later
"""What a run left in its directory: monitor.csv, resolved.yaml, meshes and particles."""
import csv
import json
import math
from dataclasses import dataclass, field

import h5py
import numpy as np

from . import Problem, lattice, plain_yaml
from .beam import Bunch, Frame, Mesh

CURVES = 5  # maximum number of places in the picture of the forces
BUNCHES = 4  # maximum number of places in the pictures of the particles
PARTICLES = 2000000  # more than these are sampled
NODES = 1024  # of the longer side of a grid; a finer one is thinned
LIGHT_MASS = 9.1093837015e-31 * lattice.LIGHT  # m c of the electron [kg m/s]
BROKEN = (OSError, KeyError, ValueError, TypeError, AttributeError, RuntimeError, IndexError)

PARTS = ("deposit", "potentials", "forces", "gather", "push", "output")
COLUMNS = ("step", "time_s", "s_ref_m", "charge_C", "energy_change_mean_eV",
           "energy_change_rms_eV", "sigma_s_m", "sigma_x_m", "emittance_x_m",
           "emittance_x_dispersion_free_m", "F_s_mean_eV_per_m", "F_s_peak_eV_per_m",
           "F_x_mean_eV_per_m", "F_x_peak_eV_per_m", "evaluations", "error_estimate",
           "error_sampled", "fell_back", *(f"seconds_{part}" for part in PARTS))

# keys that do not change what a run computes
FREE = ("title", "device", "lattice", "output.")

CERTIFIED = ("quantity", "value", "unit", "s_ref_m", "U", "U_grid", "U_step", "U_noise",
             "U_quadrature", "asymptotic")


@dataclass
class Run:
    """Everything that the page is made of; what there is not is None or empty."""

    monitor: dict = None  # columns as arrays
    values: dict = field(default_factory=dict)  # keys of resolved.yaml, joined by dots
    elements: list = field(default_factory=list)  # of the lattice
    lattice_note: str = ""  # why there are no elements
    meshes: list = field(default_factory=list)  # up to CURVES
    bunches: list = field(default_factory=list)  # up to BUNCHES
    software: str = ""
    date: str = ""
    gamma: float = math.nan  # mean of the beam at the start
    bands: dict = field(default_factory=dict)  # error bars of columns of the monitor, as arrays
    certificate: list = field(default_factory=list)  # results with their error bars

    @property
    def motion(self):
        return self.values.get("motion", "")

    @property
    def is_line(self):
        """Are the forces those of the line model?"""
        return self.values.get("forces", "") == "line"

    @property
    def length(self):
        """Arc length at the end of the lattice [m]; NaN: not known."""
        return self.elements[-1].begin + self.elements[-1].length if self.elements else math.nan

    @property
    def is_short(self):
        """Did it stop before the end of the lattice? False: no, or not known."""
        if self.monitor is None or not math.isfinite(self.length):
            return False
        s_ref = self.monitor["s_ref_m"]
        try:
            step = float(self.values.get("numerics.step_m", ""))
        except ValueError:  # auto: the last one, which may be one of the shorter ones
            step = np.ptp(s_ref[-2:])
        return bool(self.length - s_ref[-1] > 1.5 * step > 0.0)


def read_columns(path, needed):
    """Columns of a table as arrays, empty cells NaN; None if it has no row."""
    rows = []
    try:
        with open(path, newline="", encoding="utf-8") as file:
            reader = csv.reader(file)
            names = next(reader, [])
            for row in reader:
                if len(row) != len(names):
                    raise Problem(f"{path}:{reader.line_num}: {len(row)} cells, {len(names)} "
                                  "in the header")
                rows.append(row)
        missing = [name for name in needed if name not in names]
        if missing:
            raise Problem(f"{path}: no column {missing[0]}")
        rows = [[float(cell) if cell else math.nan for cell in row] for row in rows]
    except (OSError, ValueError, csv.Error) as problem:
        raise Problem(f"{path}: cannot be read: {problem}") from problem
    return dict(zip(names, np.array(rows).T)) if rows else None


def read_monitor(path):
    """Columns of monitor.csv; None if there is no file or no row."""
    return read_columns(path, COLUMNS) if path.exists() else None


def read_bands(path, s_ref):
    """Error bars of certificate.csv by column, at the rows of the monitor; NaN: none there.

    Those of other places, of a run that was made since, are left out.
    """
    row_of = {place: i for i, place in enumerate(s_ref)}
    bands = {}
    try:
        with open(path, newline="", encoding="utf-8") as file:
            for row in csv.DictReader(file):
                i = row_of.get(float(row["s_ref_m"]))
                band = bands.setdefault(row["quantity"], np.full(len(s_ref), np.nan))
                if i is not None and row["U"]:
                    band[i] = float(row["U"])
    except (OSError, ValueError, KeyError, TypeError, csv.Error) as problem:
        raise Problem(f"{path}: cannot be read: {problem}") from problem
    return bands


def read_certificate(path):
    """The results of certificate.json: dicts with quantity, value, unit, U and its parts."""
    try:
        results = json.loads(read_text(path))
        for one in results:
            for key in CERTIFIED:
                one[key] = math.nan if one[key] is None else one[key]
    except (ValueError, KeyError, TypeError) as problem:
        raise Problem(f"{path}: cannot be read: {problem}") from problem
    return results


def text_of(attributes, name):
    value = attributes.get(name, b"")
    return value.decode() if isinstance(value, bytes) else str(value)


def frame_of(attributes):
    """The Frame of a mesh or species."""
    return Frame(origin=np.asarray(attributes["frameOrigin"], float),
                 rotation=np.asarray(attributes["frameRotation"], float).reshape(3, 3),
                 design=np.asarray(attributes["designRotation"], float).reshape(3, 3),
                 s_ref=float(attributes["s_ref"]), kappa=float(attributes.get("kappa_ref", 0.0)),
                 gamma=float(attributes["gamma_ref"]))


def _mesh(step, meshes, orbit):
    """The Mesh of an iteration, or None if it has no forces; of a line run without F_eff."""
    if not {"rho", "F"} <= set(meshes):
        return None
    rho = meshes["rho"]
    spacing, offset = rho.attrs["gridSpacing"], rho.attrs["gridGlobalOffset"]
    thin = -(-max(rho.shape) // NODES)
    x, z = (o + h * np.arange(n)[::thin] for o, h, n in zip(offset, spacing, rho.shape))
    return Mesh(step, frame_of(rho.attrs), x, z, orbit=orbit,
                rho=np.abs(rho[()])[::thin, ::thin],
                force_z=meshes["F/z"][()][::thin, ::thin],
                force_x_eff=(meshes["F_eff/x"][()][::thin, ::thin] if "F_eff" in meshes
                             else None))


def component(record, n, most=PARTICLES):
    """A component of a record: an array, or one value for all; a sample if there are too many."""
    if isinstance(record, h5py.Group):
        return float(record.attrs["value"]) * float(record.attrs.get("unitSI", 1.0))
    if n <= most:
        return record[()]
    pieces = 100  # contiguous ones, because strides are slow to read
    begins = np.linspace(0, n - most // pieces, pieces).astype(int)
    return np.concatenate([record[b:b + most // pieces] for b in begins])


def _bunch(step, species, orbit):
    """The Bunch of a species. Its records are along frameRotation, whatever axes those are."""
    n = species["position/x"].shape[0]
    position = [component(species[f"position/{axis}"], n) for axis in "xz"]
    momentum = [component(species[f"momentum/{axis}"], n) / LIGHT_MASS for axis in "xz"]
    charge = np.abs(component(species["weight"], n))
    if n > PARTICLES:
        charge = charge * (n / len(position[0]))
    return Bunch.from_record(frame_of(species.attrs), position, momentum, charge, step=step,
                             orbit=orbit)


def spread(items, count):
    """At most `count` of the items, evenly, with the first and the last."""
    if len(items) <= count:
        return list(items)
    chosen = {round(i * (len(items) - 1) / (count - 1)) for i in range(count)}
    return [items[i] for i in sorted(chosen)]


def with_file(path, use):
    """Call use(step, iteration, file) on an openPMD file."""
    try:
        with h5py.File(path, "r") as file:
            ((step, iteration),) = file["data"].items()
            return use(int(step), iteration, file)
    except BROKEN as problem:
        words = " ".join(str(problem).split())
        raise Problem(f"{path}: cannot be read as a mesh file: {words}") from problem


def _has_particles(path):
    return with_file(path, lambda step, iteration, file: "particles/electron" in iteration)


def read_text(path):
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as problem:
        raise Problem(f"{path}: cannot be read: {problem}") from problem


def read_input(text, directory):
    """Values with keys joined by dots, elements of the lattice, and why there are none of them.

    `lattice` may be a path (if relative, beside `directory`), the lattice itself, or missing.
    """
    try:
        document = plain_yaml.parse(text)
        values = plain_yaml.flatten({key: value for key, value in document.items()
                                     if key != "lattice" or isinstance(value, str)})
    except (ValueError, AttributeError, IndexError) as problem:
        return {}, [], f"the input cannot be shown: {problem}"
    given = document.get("lattice")
    if given is None:
        return values, [], ""
    try:
        if isinstance(given, str):
            given = plain_yaml.parse(read_text(directory / given))
        elements = lattice.elements(given)
    except (Problem, ValueError, AttributeError, IndexError) as problem:
        return values, [], f"the lattice is not drawn: {problem}"
    return values, elements, ""


def _read_h5(run, paths):
    orbit = lattice.Orbit.of_elements(run.elements) if run.elements else None
    for path in spread(paths, CURVES):
        mesh = with_file(path, lambda step, one, file: _mesh(step, one["meshes"], orbit))
        if mesh is not None and mesh.rho.sum() > 0.0:
            run.meshes.append(mesh)
    for path in spread([path for path in paths if _has_particles(path)], BUNCHES):
        run.bunches.append(with_file(
            path, lambda step, one, file: _bunch(step, one["particles/electron"], orbit)))


def differing(mine, its, but=()):
    """The first key, of those that change what a run computes, with two values; None: no key."""
    for key in sorted({*mine, *its}):
        counts = key not in but and not key.startswith(FREE)
        if counts and mine.get(key) != its.get(key):
            return key
    return None


def read_run(directory, needed=True):
    """The Run of a directory. `needed`: refuse one with neither monitor nor meshes."""
    run = Run(monitor=read_monitor(directory / "monitor.csv"))
    paths = sorted((directory / "diag").glob("arcwake_*.h5"))
    text = ""
    if paths:
        run.software, run.date, text = with_file(paths[-1], lambda step, one, file: (
            " ".join(text_of(file.attrs, key) for key in ("software", "softwareVersion")),
            text_of(file.attrs, "date"), text_of(file.attrs, "input")))
    if (directory / "resolved.yaml").exists():
        text = read_text(directory / "resolved.yaml")
    run.values, run.elements, run.lattice_note = read_input(text, directory)
    _read_h5(run, paths)
    try:
        run.gamma = float(run.values.get("beam.gamma", "nan"))
    except ValueError:
        pass
    if not run.gamma > 1.0 and (run.meshes or run.bunches):
        run.gamma = run.meshes[0].frame.gamma if run.meshes else run.bunches[0].gamma_ref
    if run.monitor is not None and (directory / "certificate.csv").exists():
        run.bands = read_bands(directory / "certificate.csv", run.monitor["s_ref_m"])
    if (directory / "certificate.json").exists():
        run.certificate = read_certificate(directory / "certificate.json")
    if needed and run.monitor is None and not run.meshes:
        raise Problem(f"{directory}: no run to report on (neither rows in monitor.csv nor forces "
                      "in diag/arcwake_*.h5)")
    return run


def _at(step, iteration, orbit, places):
    """The Mesh of an iteration within a millimetre of one of the places S [m], or None."""
    s_ref = float(iteration["meshes/rho"].attrs["s_ref"])
    if not any(abs(s_ref - one) < 1e-3 for one in places):
        return None
    return _mesh(step, iteration["meshes"], orbit)


def read_line_run(directory, places):
    """The Run of a directory, which must be one of the line model, with meshes at these places."""
    run = read_run(directory)
    if not run.is_line:
        raise Problem(f"{directory}: the run there is none of the line model (expected one with "
                      "forces: line)")
    orbit = lattice.Orbit.of_elements(run.elements) if run.elements else None
    meshes = [with_file(path, lambda step, one, file: _at(step, one, orbit, places))
              for path in sorted((directory / "diag").glob("arcwake_*.h5"))]
    run.meshes = [mesh for mesh in meshes if mesh is not None]
    return run
