# SPDX-License-Identifier: GPL-3.0-or-later
"""Bunches for the tests of `arcwake convert`: made, read back from arcwake, and compared."""
import h5py
import numpy as np

from command import DIRECTORY, ConvertCase, program

C = 299792458.0
EV_C = 1.602176634e-19 / C
M_E = 510998.95  # eV, of the program
AXES = ("x", "y", "z", "px", "py", "pz")

RUN = """\
lattice:
  PALS:
    facility:
      - way:
          kind: BeamLine
          line:
            - s: {{kind: BeginningEle, ReferenceP: {{species_ref: electron, E_tot_ref: 5.0e8}}}}
            - d: {{kind: Drift, length: 0.2}}
      - ring: {{kind: Lattice, branches: [way]}}
beam: {{file: {0}}}
motion: external
numerics: {{grid: [8, 8], step_m: 0.05, tolerance: 0.1}}
output: {{every: 0, particles_at_m: [0.0]}}
"""


def bunch(n=2000, seed=1, equal=True):
    """A bunch with correlations, in m, beta gamma and C; t = 0."""
    random = np.random.default_rng(seed)
    p = {"x": random.normal(1e-5, 6e-5, n), "y": random.normal(-2e-5, 4e-5, n),
         "z": random.normal(0.0, 5e-5, n)}
    gamma = 978.0 * (1.0 + random.normal(0.0, 1e-3, n) + 20.0 * p["z"])
    p["px"] = random.normal(0.0, 0.02, n) - 300.0 * p["x"]
    p["py"] = random.normal(0.0, 0.04, n)
    p["pz"] = np.sqrt(gamma ** 2 - 1.0 - p["px"] ** 2 - p["py"] ** 2)
    p["charge"] = np.full(n, 1e-10 / n) if equal else 1e-10 * random.uniform(0.5, 1.5, n) / n
    return p


def at_one_place(p):
    """x, y and t where the particles of a bunch at one time pass z = 0; its shape is theirs."""
    gamma = np.sqrt(1.0 + p["px"] ** 2 + p["py"] ** 2 + p["pz"] ** 2)
    t = -p["z"] / (C * p["pz"] / gamma)
    x = p["x"] - p["z"] * p["px"] / p["pz"]
    y = p["y"] - p["z"] * p["py"] / p["pz"]
    return {**p, "x": x, "y": y, "z": np.zeros_like(x), "t": t}


def _component(group, name, n):
    one = group[name]
    value = one[()] if isinstance(one, h5py.Dataset) else np.full(n, one.attrs["value"])
    return value * one.attrs["unitSI"]


def load(path, species):
    """A species in m, beta gamma, C."""
    with h5py.File(path) as file:
        group = file[species]
        n = int(group.attrs["numParticles"])
        out = {axis: _component(group, f"position/{axis}", n) for axis in "xyz"}
        out.update({"p" + axis: _component(group, f"momentum/{axis}", n) / (M_E * EV_C)
                    for axis in "xyz"})
        out["charge"] = _component(group, "weight", n)
        out["t"] = _component(group, "time", n)
        out["id"] = group["id"][()] if "id" in group else None
        return out


def moments(p):
    weight = p["charge"]
    data = np.array([p[axis] for axis in AXES])
    mean = np.average(data, axis=1, weights=weight)
    return mean, np.cov(data, aweights=weight, bias=True)


class BeamCase(ConvertCase):
    def same_moments(self, a, b, tolerance=1e-10):
        """First and second moments; the bound of the issue, of themselves or of the rms sizes."""
        (mean, cov), (other, other_cov) = moments(a), moments(b)
        size = np.sqrt(np.diag(cov))
        bound = np.maximum(np.abs(mean), size)
        self.assertTrue(np.all(np.abs(other - mean) <= tolerance * bound),
                        (other - mean) / bound)
        scale = np.outer(size, size)
        self.assertTrue(np.all(np.abs(other_cov - cov) <= tolerance * scale),
                        np.abs((other_cov - cov) / scale).max())

    def same(self, source, p, *options, charge=4e-16, place=False):
        """Convert, let arcwake read the result, and compare with a bunch at one time.

        place: the file has the bunch at one place; arcwake takes it at its mean time
        """
        self.convert(source, "beam.h5", *options)
        (DIRECTORY / "run.yaml").write_text(RUN.format("beam.h5"), encoding="utf-8")
        done = program("run", "run.yaml", "-o", "out", "--force", "--steps", "1", "--quiet")
        self.assertEqual(done.returncode, 0, done.stderr)
        ours = load(DIRECTORY / "out/diag/arcwake_00000000.h5", "data/0/particles/electron")
        mean = np.average(p["z"], weights=p["charge"])
        expected = {**p, "z": p["z"] - mean}  # the program counts s from the mean
        if place:
            way = C * np.average(at_one_place(p)["t"], weights=p["charge"])
            gamma = np.sqrt(1.0 + p["px"] ** 2 + p["py"] ** 2 + p["pz"] ** 2)
            for axis in "xyz":
                expected[axis] = expected[axis] + way * p["p" + axis] / gamma
            expected["z"] -= np.average(expected["z"], weights=p["charge"])
        self.same_moments(expected, ours)
        error = abs(ours["charge"].sum() / p["charge"].sum() - 1.0)
        self.assertTrue(error <= 1e-14, error)  # a sum of 2000 rounded numbers
        each = np.abs(ours["charge"] / p["charge"] - 1.0).max()
        self.assertTrue(each <= charge, each)
        return ours
