# SPDX-License-Identifier: GPL-3.0-or-later
"""beam.file: particles of openPMD files and of text, and what a run writes of them.

usage: test_beam_file.py DIRECTORY   (of python.c, an empty one; AW_ARCWAKE is the program)
"""
import csv
import json
import os
import subprocess
import sys
import unittest
from pathlib import Path

try:
    import h5py
    import numpy as np
except ImportError as problem:
    print(f"skipped: {problem} (tools/requirements-test.txt lists what is needed)")
    sys.exit(77)

ARCWAKE = os.environ["AW_ARCWAKE"]
DIRECTORY = Path(sys.argv[1]).absolute()
C, EV, ME_EV = 299792458.0, 1.602176634e-19 / 299792458.0, 510998.95
ULP = 2.3e-16

RUN = """\
lattice:
  PALS:
    facility:
      - way:
          kind: BeamLine
          line:
            - s: {kind: BeginningEle, ReferenceP: {species_ref: electron, E_tot_ref: 5.0e8}}
            - d: {kind: Drift, length: 0.2}
            - q: {kind: Quadrupole, length: 0.1, MagneticMultipoleP: {Kn1: 4.0}}
            - b: {kind: Bend, BendP: {radius_ref: 2.0, angle_ref: 0.1, e1: 0.05, e2: 0.05}}
            - e: {kind: Drift, length: 0.1}
      - ring: {kind: Lattice, branches: [way]}
numerics: {grid: [16, 16], step_m: 0.05, tolerance: 1.0e-2}
output: {every: 0, particles_at_m: [0.0]}
"""
REST = """\
            - p: {kind: Quadrupole, length: 0.1, MagneticMultipoleP: {Kn1: -3.0}}
            - c: {kind: Bend, BendP: {radius_ref: -2.0, angle_ref: -0.1, e1: -0.02, e2: 0.0}}
            - f: {kind: Drift, length: 0.3}
"""
LAST = "            - e: {kind: Drift, length: 0.1}\n"
LONGER = RUN.replace(LAST, LAST.replace("0.1", "0.4") + REST)
DRAWN = """\
beam: {charge_C: 1.0e-10, gamma: 978.5, particles: 4000, sigma_s_m: 5.0e-5, emittance_x_m: 1.0e-9,
       beta_x_m: 3.0, alpha_x: 0.5}
"""


def program(name, beam, *arguments, text=RUN):
    (DIRECTORY / f"{name}.yaml").write_text(beam + text, encoding="utf-8")
    environment = {**os.environ, "ARCWAKE_TUNING": "none", "AW_PYTHON": "/bin/false"}
    return subprocess.run([ARCWAKE, "run", f"{name}.yaml", "-o", name, "--force", *arguments],
                          cwd=DIRECTORY, env=environment, check=False, capture_output=True,
                          text=True)


def run(name, beam, *arguments, height=False, **more):
    """A run; of a sheet, which takes less time, unless the height matters."""
    sheet = () if height else ("--set", "beam.sigma_y_m=0.0")
    done = program(name, beam, *arguments, *sheet, **more)
    assert done.returncode == 0, done.stderr
    return done


def component(group, name, n):
    one = group[name]
    value = one[()] if isinstance(one, h5py.Dataset) else np.full(n, one.attrs["value"])
    return value * one.attrs["unitSI"]


def particles(name, step=0):
    """Positions [m], momenta [kg m/s], charges [C] and ids of a step."""
    with h5py.File(DIRECTORY / name / "diag" / f"arcwake_{step:08d}.h5") as file:
        species = file[f"data/{step}/particles/electron"]
        n = int(species.attrs["numParticles"])
        out = {"id": species["id"][()], "charge": component(species, "weight", n),
               "total": float(species.attrs["totalCharge"])}
        for axis in "xyz":
            out[axis] = component(species, f"position/{axis}", n)
            out["p" + axis] = component(species, f"momentum/{axis}", n)
        return out


def last_step(name):
    return max(int(path.stem.split("_")[1]) for path in (DIRECTORY / name / "diag").glob("*.h5"))


def monitor(name, column):
    with open(DIRECTORY / name / "monitor.csv", encoding="utf-8", newline="") as file:
        return np.array([float(row[column]) for row in csv.DictReader(file)])


def bunch(n=3000, seed=1):
    """A bunch in m and eV/c, with correlated, unequal everything."""
    random = np.random.default_rng(seed)
    p = {axis: random.normal(0.0, size, n) for axis, size in (("x", 6e-5), ("y", 4e-5),
                                                              ("z", 5e-5))}
    p["pz"] = 5.0e8 * (1.0 + random.normal(0.0, 1e-4, n))
    p["px"] = random.normal(0.0, 1e4, n)
    p["py"] = random.normal(0.0, 2e4, n)
    p["charge"] = 1e-10 * random.uniform(0.5, 1.5, n) / n
    p["id"] = random.permutation(10 * n)[:n].astype(np.uint64)
    return p


class Writer:
    """A BeamPhysics file: SI numbers as data sets, or constant where they are one number."""

    def __init__(self, name, base="/", folder="./", species="electron", **attributes):
        self.file = h5py.File(DIRECTORY / name, "w")
        self.file.attrs.update({"openPMD": "2.0.0", "openPMDextension": "BeamPhysics;SpeciesType",
                                "basePath": base, "particlesPath": folder})
        self.group = self.file.require_group(species) if species else self.file
        self.group.attrs.update({"speciesType": "electron", "chargeUnitSI": 1.0, **attributes})

    def put(self, name, value, n=None, unit=1.0, dimension=None):
        if n is None:
            one = self.group.create_dataset(name, data=value)
        else:
            one = self.group.create_group(name)
            one.attrs.update({"value": value, "shape": np.array([n], dtype="u8")})
        one.attrs["unitSI"] = unit
        if dimension:
            one.attrs["unitDimension"] = np.array(dimension, dtype=float)
        return self

    def coordinates(self, p, time=0.0):
        n = len(p["x"])
        for axis in "xyz":
            value = p[axis]
            self.put(f"position/{axis}", value, None if np.ndim(value) else n)
            self.put(f"momentum/{axis}", p["p" + axis], unit=EV)
        return self.put("time", time, None if np.ndim(time) else n)

    def done(self):
        self.file.close()


def write_plain(name, p):
    w = Writer(name, numParticles=len(p["x"]), totalCharge=p["charge"].sum()).coordinates(p)
    w.put("weight", p["charge"]).put("id", p["id"]).done()


class BeamFile(unittest.TestCase):
    def near(self, a, b, bound):
        np.testing.assert_allclose(a, b, rtol=0.0, atol=bound)

    def test_out_and_in_again_without_loss(self):
        p = bunch()
        write_plain("odd.h5", p)
        run("one", "beam: {file: odd.h5}\n", "--steps", "1")
        run("two", "beam: {file: one/diag/arcwake_00000000.h5}\n", "--steps", "1")
        a, b = particles("one"), particles("two")
        self.assertTrue(np.array_equal(a["id"], p["id"]))
        self.assertTrue(np.array_equal(b["id"], a["id"]))
        for key in ("x", "y", "z"):
            self.assertTrue(np.array_equal(b[key], a[key]), key)
        for key in ("px", "py", "pz", "charge"):  # one change of units and back
            np.testing.assert_allclose(b[key], a[key], rtol=2 * ULP, atol=0.0, err_msg=key)
        self.assertTrue(np.array_equal(a["x"], p["x"]))
        self.assertTrue(np.array_equal(a["y"], p["y"]))
        # two roundings of each; the mean is over the charge
        np.testing.assert_allclose(a["px"], p["px"] * EV, rtol=1e-8, atol=0.0)  # CODATA 2018
        np.testing.assert_allclose(a["charge"], p["charge"], rtol=4 * ULP, atol=0.0)
        self.near(a["z"], p["z"] - np.average(p["z"], weights=p["charge"]), 1e-18)
        np.testing.assert_allclose(a["total"], p["charge"].sum(), rtol=1e-14)

    def test_a_drawn_bunch_has_the_same_forces_from_its_file(self):
        run("drawn", DRAWN)
        run("read", "beam: {file: drawn/diag/arcwake_00000000.h5}\n")
        for column in ("F_s_mean_eV_per_m", "F_s_peak_eV_per_m", "F_x_peak_eV_per_m",
                       "energy_change_rms_eV", "sigma_s_m", "emittance_x_m"):
            a, b = monitor("drawn", column), monitor("read", column)
            # momenta differ by a rounding, which may turn a decision of the quadrature, whose
            # tolerance is 1e-3: 4e-7 seen
            np.testing.assert_allclose(b, a, rtol=1e-5, atol=1e-5 * np.abs(a).max(),
                                       err_msg=column)

    def test_unequal_charges_are_as_many_equal_particles(self):
        """Each particle in two, of a third and of two thirds of its charge."""
        p = bunch()
        write_plain("whole.h5", p)
        parts = {key: np.repeat(value, 2) for key, value in p.items()}
        parts["charge"] = parts["charge"] * np.tile([1.0, 2.0], len(p["x"])) / 3.0
        write_plain("split.h5", parts)
        run("whole", "beam: {file: whole.h5}\n", "--steps", "8")
        run("split", "beam: {file: split.h5}\n", "--steps", "8")
        for column in ("charge_C", "F_s_mean_eV_per_m", "F_s_peak_eV_per_m", "sigma_s_m",
                       "sigma_x_m", "emittance_x_m", "energy_change_mean_eV",
                       "current_peak_A"):
            a, b = monitor("whole", column), monitor("split", column)
            np.testing.assert_allclose(b, a, rtol=1e-5, atol=1e-5 * np.abs(a).max(),
                                       err_msg=column)  # rounding, as above
        self.near(monitor("whole", "charge_C") / p["charge"].sum(), 1.0, 1e-12)

    def test_moments_are_of_the_charge(self):
        p = bunch()
        write_plain("moments.h5", p)
        run("moments", "beam: {file: moments.h5}\n", "--steps", "1")
        mean = np.average(p["z"], weights=p["charge"])
        size = np.sqrt(np.average((p["z"] - mean) ** 2, weights=p["charge"]))
        np.testing.assert_allclose(monitor("moments", "sigma_s_m")[0], size, rtol=1e-9)

    def test_particles_at_one_place_are_drifted_to_one_time(self):
        """As Bmad has it: times, with their reference as a data set, and no weights."""
        p = bunch()
        n = len(p["x"])
        time = p["z"] / C
        p["z"] = 0.0
        w = Writer("place.h5", "/data/%T/", "particles/", "data/00007/particles",
                   numParticles=n, totalCharge=1e-10).coordinates(p, time)
        w.put("timeOffset", np.full(n, 3.0e-9)).done()
        run("place", "beam: {file: place.h5, iteration: 7}\n", "--steps", "1")
        a = particles("place")
        momentum = np.sqrt(p["px"] ** 2 + p["py"] ** 2 + p["pz"] ** 2 + ME_EV ** 2)
        way = C * (time.mean() - time) / momentum
        # c t of 1 m has the rounding 1e-16 m, and gamma that of c and m in files
        self.near(a["z"], p["pz"] * way - np.mean(p["pz"] * way), 3e-15)
        self.near(a["x"], p["x"] + p["px"] * way, 3e-15)
        self.near(a["y"], p["y"] + p["py"] * way, 3e-15)
        np.testing.assert_allclose(a["charge"], 1e-10 / n, rtol=4 * ULP)

    def test_a_beam_monitor_of_impactx(self):
        p = bunch()
        time = p["z"] / C
        plane = {**p, "z": 0.0}
        w = Writer("plane.h5", totalCharge=p["charge"].sum()).coordinates(plane, time)
        w.put("weight", p["charge"]).put("id", p["id"]).done()
        run("plane", "beam: {file: plane.h5}\n", "--steps", "1")
        gamma = 1000.0
        momentum = np.sqrt(gamma ** 2 - 1.0)
        reference = {"px_ref": 0.6 * momentum, "py_ref": 0.0, "pz_ref": 0.8 * momentum,
                     "pt_ref": -gamma, "t_ref": 3.0, "s_ref": 3.0,
                     "charge_ref": -1.602176634e-19, "mass_ref": 9.1093837015e-31}

        def monitor_file(name, **changed):
            w = Writer(name, base="/data/%T/", folder="particles/",
                       species="data/3/particles/beam", **{**reference, **changed})
            del w.group.attrs["speciesType"]
            px, py, pz = (p["p" + axis] / ME_EV for axis in "xyz")
            own = np.sqrt(1.0 + px ** 2 + py ** 2 + pz ** 2)
            for key, value in (("position/x", p["x"]), ("position/y", p["y"]),
                               ("position/t", C * time), ("momentum/x", px / momentum),
                               ("momentum/y", py / momentum),
                               ("momentum/t", (gamma - own) / momentum),
                               ("weighting", p["charge"] / 1.602176634e-19), ("id", p["id"])):
                w.put(key, value)
            w.done()

        monitor_file("monitor.h5")
        run("monitor", "beam: {file: monitor.h5}\n", "--steps", "1")
        a, b = particles("plane"), particles("monitor")
        self.assertTrue(np.array_equal(a["id"], b["id"]))
        np.testing.assert_allclose(b["charge"], a["charge"], rtol=1e-14)
        for key in ("x", "y", "z"):
            self.near(b[key], a[key], 1e-15)
        for key in ("px", "py", "pz"):  # rounding of gamma; the electron's mass in eV
            self.near(b[key], a[key], 1e-9 * np.abs(a[key]).max())
        monitor_file("positrons.h5", charge_ref=1.602176634e-19)
        self.refused("file: positrons.h5", "reference particle", "electron")

    def test_the_dead_are_left_out_and_counted(self):
        p = bunch()
        n = len(p["x"])
        status = np.ones(n, dtype="i4")
        status[[3, 17]] = [2, 0]
        p["x"][3] = np.nan
        w = Writer("dead.h5", numParticles=n, totalCharge=1e-10).coordinates(p)
        w.put("weight", 1e-10 / n, n).put("particleStatus", status).put("id", p["id"]).done()
        done = run("dead", "beam: {file: dead.h5}\n", "--steps", "1")
        self.assertIn("2 particles are marked as lost", done.stdout + done.stderr)
        self.assertTrue(np.array_equal(particles("dead")["id"], np.delete(p["id"], [3, 17])))
        self.near(particles("dead")["total"], 1e-10 * (n - 2) / n, 1e-24)

    def test_charge_C_rescales(self):
        p = bunch()
        write_plain("scaled.h5", p)
        run("scaled", "beam: {file: scaled.h5, charge_C: 3.0e-10}\n", "--steps", "1")
        np.testing.assert_allclose(particles("scaled")["charge"],
                                   p["charge"] * (3.0e-10 / p["charge"].sum()), rtol=1e-14)

    def test_two_bunches_of_a_file_are_one_beam(self):
        """As species of one iteration, and as Bmad numbers them; ids count on."""
        driver, witness = bunch(), bunch(n=500, seed=2)
        witness["z"] -= 1.0e-3
        witness["charge"] *= 0.2
        witness["id"] = np.arange(500, dtype="u8")
        write_plain("pair.h5", driver)
        with h5py.File(DIRECTORY / "pair.h5", "r+") as file:
            w = Writer.__new__(Writer)
            w.file, w.group = file, file.create_group("witness")
            w.group.attrs.update({"speciesType": "electron", "chargeUnitSI": 1.0})
            w.coordinates(witness).put("weight", witness["charge"]).put("id", witness["id"])
            dead = np.ones(500, dtype="i4")
            dead[7] = 3
            w.put("particleStatus", dead)
        done = run("pair", "beam: {file: pair.h5}\n", "--steps", "1")
        self.assertIn("pair.h5: 2 bunches are one beam", done.stdout)
        both = {key: np.concatenate([driver[key], np.delete(witness[key], 7)]) for key in driver}
        a = particles("pair")
        for key in ("x", "y"):
            self.assertTrue(np.array_equal(a[key], both[key]), key)
        np.testing.assert_allclose(a["charge"], both["charge"], rtol=4 * ULP)
        self.near(a["z"], both["z"] - np.average(both["z"], weights=both["charge"]), 1e-18)
        ids = driver["id"].max() + np.uint64(1) + np.delete(witness["id"], 7)
        self.assertTrue(np.array_equal(a["id"], np.concatenate([driver["id"], ids])))
        with h5py.File(DIRECTORY / "train.h5", "w") as file:
            file.attrs.update({"openPMD": "2.0.0", "openPMDextension": "BeamPhysics;SpeciesType",
                               "basePath": "/data/%T/", "particlesPath": "particles/"})
            for number, one in ((1, driver), (2, witness)):
                w = Writer.__new__(Writer)
                w.file, w.group = file, file.create_group(f"data/{number:05d}/particles")
                w.group.attrs.update({"speciesType": "electron", "chargeUnitSI": 1.0,
                                      "totalCharge": one["charge"].sum()})
                time = -one["z"] / C  # later is behind
                w.coordinates({**one, "z": 0.0}, time).put("timeOffset", 4e-9, len(time))
                w.put("weight", one["charge"], dimension=[0] * 7)
        done = run("train", "beam: {file: train.h5, iteration: all}\n", "--steps", "1")
        self.assertIn("train.h5: 2 bunches are one beam", done.stdout)
        total = driver["charge"].sum() + witness["charge"].sum()
        np.testing.assert_allclose(particles("train")["total"], total, rtol=1e-13)
        place = particles("train")["z"]
        self.assertEqual(len(place), 3500)
        # the witness is behind, by its 1 mm less what each has drifted
        self.near(place[:3000].mean() - place[3000:].mean(), 1e-3, 2e-5)
        self.assertIn("iteration: all",
                      (DIRECTORY / "train" / "resolved.yaml").read_text(encoding="utf-8"))
        run("second", "beam: {file: train.h5}\n", "--steps", "1")
        np.testing.assert_allclose(particles("second")["total"], witness["charge"].sum(),
                                   rtol=1e-13)

    def test_resample_draws_some_and_keeps_the_charge(self):
        p = bunch()
        write_plain("many.h5", p)
        drawn = []
        for name, seed in (("some", 3), ("same", 3), ("other", 4)):
            run(name, f"beam: {{file: many.h5, resample: 1000, seed: {seed}}}\n", "--steps", "1")
            drawn.append(particles(name))
        one, same, other = drawn
        self.assertEqual(len(one["x"]), 1000)
        self.assertTrue(np.array_equal(one["id"], same["id"]))
        self.assertTrue(np.array_equal(one["x"], same["x"]))
        self.assertFalse(np.array_equal(one["id"], other["id"]))
        np.testing.assert_allclose(one["total"], p["charge"].sum(), rtol=1e-12)
        place = {number: k for k, number in enumerate(p["id"])}
        rows = np.array([place[number] for number in one["id"]])
        self.assertTrue(np.all(np.diff(rows) > 0))  # each once, in their order
        self.assertTrue(np.array_equal(one["x"], p["x"][rows]))
        ratio = one["charge"] / p["charge"][rows]
        np.testing.assert_allclose(ratio, ratio[0], rtol=1e-12)
        # a third of all: each part of the file gives its share, within 5 standard deviations
        count = np.histogram(rows, bins=3, range=(0, 3000))[0]
        self.near(count, 1000 / 3, 5 * np.sqrt(1000 * 2 / 9 * 2 / 3))
        run("some2", "beam: {file: many.h5, resample: 3000}\n", "--steps", "1")
        self.assertTrue(np.array_equal(particles("some2")["id"], p["id"]))

    def test_resample_makes_more_of_few(self):
        p = bunch()
        p["pz"] += 2e6 * p["z"] / 5e-5  # a chirp of 4e-3, forty times the spread beside it
        write_plain("few.h5", p)
        done = run("more", "beam: {file: few.h5, resample: 20000, seed: 3}\n", "--steps", "1")
        self.assertIn("20000 particles of equal charge are made of 3000", done.stdout)
        run("more2", "beam: {file: few.h5, resample: 20000, seed: 3}\n", "--steps", "1",
            "--threads", "1")
        a, b = particles("more"), particles("more2")
        self.assertEqual(len(a["x"]), 20000)
        self.assertEqual(len(np.unique(a["id"])), 20000)
        for key in ("x", "y", "z", "px", "py", "pz", "charge"):
            self.assertTrue(np.array_equal(a[key], b[key]), key)
        np.testing.assert_allclose(a["charge"], p["charge"].sum() / 20000, rtol=1e-12)

        def moments(q, charge):
            momentum = np.sqrt(q["px"] ** 2 + q["py"] ** 2 + q["pz"] ** 2)
            rows = np.array([q["z"], momentum / np.average(momentum, weights=charge),
                             q["x"], q["px"] / q["pz"], q["y"], q["py"] / q["pz"]])
            return np.cov(rows, aweights=charge, bias=True)

        old, new = moments(p, p["charge"]), moments(a, a["charge"])
        size = np.sqrt(np.diag(old))
        # gamma is kept, of which the momentum is a function that is straight to 1e-6
        self.near(new / np.outer(size, size), old / np.outer(size, size), 1e-5)
        run("few", "beam: {file: few.h5}\n", "--steps", "1")
        for column in ("sigma_s_m", "sigma_x_m", "emittance_x_m"):
            one, two = monitor("few", column)[0], monitor("more", column)[0]
            np.testing.assert_allclose(two, one, rtol=1e-6, err_msg=column)

    def test_certify_has_bars_of_the_noise(self):
        write_plain("bars.h5", bunch())
        (DIRECTORY / "bars.yaml").write_text("beam: {file: bars.h5}\n" + RUN, encoding="utf-8")
        done = subprocess.run([ARCWAKE, "certify", "bars.yaml", "-o", "bars", "--force"],
                              cwd=DIRECTORY, check=False, capture_output=True, text=True,
                              env={**os.environ, "ARCWAKE_TUNING": "none",
                                   "AW_PYTHON": "/bin/false"})
        self.assertEqual(done.returncode, 0, done.stderr)
        bars = {q["quantity"]: q for q in json.loads((DIRECTORY / "bars" / "certificate.json")
                                                     .read_text(encoding="utf-8"))}
        for name in ("energy_change_rms_eV", "emittance_x_m", "sigma_s_m"):
            self.assertGreater(bars[name]["U_noise"], 0.0)
            self.assertGreater(bars[name]["U"], bars[name]["U_noise"])
        # 3000 particles: the rms length is good to 1/sqrt(6000), times 3.2 for 95 % of few samples
        self.assertLess(bars["sigma_s_m"]["U_noise"], 0.15 * bars["sigma_s_m"]["value"])

    def test_text_of_six_and_of_seven_columns(self):
        p = bunch()
        rows = np.column_stack([p[key] for key in ("x", "y", "z", "px", "py", "pz", "charge")])
        np.savetxt(DIRECTORY / "seven.txt", rows, fmt="%.17g", header="x y z px py pz charge")
        np.savetxt(DIRECTORY / "six.txt", rows[:, :6], fmt="%.17g", delimiter=", ")
        write_plain("same.h5", p)
        run("same", "beam: {file: same.h5}\n", "--steps", "1")
        run("seven", "beam: {file: seven.txt}\n", "--steps", "1")
        run("six", "beam: {file: six.txt, charge_C: 1.0e-10}\n", "--steps", "1")
        a, b, c = (particles(name) for name in ("same", "seven", "six"))
        for key in ("x", "y", "z", "charge"):
            self.assertTrue(np.array_equal(a[key], b[key]), key)
        for key in ("px", "py", "pz"):  # constants of 1e-9 relative (CODATA)
            np.testing.assert_allclose(b[key], a[key], rtol=1e-8, err_msg=key)
        np.testing.assert_allclose(c["charge"], 1.0e-10 / len(p["x"]), rtol=4 * ULP)

    def test_heights_follow_the_vertical_optics(self):
        p = bunch()
        write_plain("high.h5", p)
        run("high", "beam: {file: high.h5}\n", "--set", "motion=external", height=True)
        first, last = particles("high"), particles("high", last_step("high"))
        left = monitor("high", "s_ref_m")[-1] - 0.5
        k, a = 2.0, 0.2
        edge = np.array([[1.0, 0.0], [-np.tan(0.05) / 2.0, 1.0]])
        drifts = [np.array([[1.0, length], [0.0, 1.0]]) for length in (0.2, 0.2, left)]
        quad = np.array([[np.cosh(a), np.sinh(a) / k], [k * np.sinh(a), np.cosh(a)]])
        m = drifts[2] @ edge @ drifts[1] @ edge @ quad @ drifts[0]
        momentum = np.hypot(first["px"], first["pz"])
        slope = first["py"] / momentum
        self.near(last["y"], m[0, 0] * first["y"] + m[0, 1] * slope, 1e-16)
        self.near(last["py"] / momentum, m[1, 0] * first["y"] + m[1, 1] * slope, 1e-16)
        for p, i in ((first, 0), (last, -1)):  # the field has the height of the particles
            w = p["charge"] / p["charge"].sum()
            rms = np.sqrt(w @ (p["y"] - w @ p["y"]) ** 2)
            self.assertAlmostEqual(monitor("high", "sigma_y_m")[i] / rms, 1.0, places=12)

    def test_the_height_is_that_of_the_particles_or_of_the_input(self):
        def height(p, more=""):
            """The line of `inspect`, also of the input as it prints it."""
            write_plain("tall.h5", p)
            (DIRECTORY / "tall.yaml").write_text(f"beam: {{file: tall.h5{more}}}\n" + RUN,
                                                 encoding="utf-8")
            lines = []
            for name in ("tall.yaml", "again.yaml"):
                done = subprocess.run([ARCWAKE, "inspect", "--no-timing", name], cwd=DIRECTORY,
                                      check=False, capture_output=True, text=True)
                self.assertEqual(done.returncode, 0, done.stderr)
                text = done.stdout
                (DIRECTORY / "again.yaml").write_text(text[:text.index("\nlattice  ") + 1],
                                                      encoding="utf-8")
                lines.append([line for line in text.splitlines() if line.startswith("height")])
            self.assertEqual(lines[0], lines[1])
            return " ".join(lines[0])

        p = bunch()
        flat = {**p, "y": 0.0 * p["y"], "py": 0.0 * p["y"]}
        self.assertEqual(height(flat), "")
        self.assertEqual(height(p, ", sigma_y_m: 0.0"), "")
        self.assertIn("30 um rms everywhere", height(flat, ", sigma_y_m: 3.0e-5"))
        self.assertIn("30 um rms at the start (emittance 0.1 nm, beta 9 m",
                      height(p, ", emittance_y_m: 1.0e-10, beta_y_m: 9.0"))
        w = p["charge"] / p["charge"].sum()
        rms = 1e6 * np.sqrt(w @ (p["y"] - w @ p["y"]) ** 2)
        self.assertIn(f"{rms:.4g} um rms at the start", height(p))

    def test_a_run_goes_on_from_the_particles_of_another(self):
        write_plain("way.h5", bunch())
        external = ("--set", "motion=external", "--set", "output.particles_every=7")
        run("whole", "beam: {file: way.h5}\n", *external, text=LONGER)
        s = monitor("whole", "s_ref_m")
        source = f"file: whole/diag/arcwake_00000014.h5, start_m: {s[14]}"
        run("rest", f"beam: {{{source}}}\n", *external, text=LONGER)
        np.testing.assert_allclose(monitor("rest", "s_ref_m"), s[14:], rtol=1e-14)
        a, b = particles("whole", len(s) - 1), particles("rest", len(s) - 15)
        for key in ("x", "y", "z"):  # places in the laboratory are good to 1e-16 m a step
            self.near(b[key], a[key], 1e-14)
        for key in ("px", "py", "pz"):
            self.near(b[key], a[key], 1e-12 * a["pz"].max())

    def test_a_beam_that_starts_within_has_the_forces_of_the_rest(self):
        short = RUN[:RUN.index("            - d:")] + LAST.replace("0.1", "0.2") + REST + \
            RUN[RUN.index("      - ring"):]
        run("cut", DRAWN, text=short)
        run("start", DRAWN.replace("{", "{start_m: 0.7, ", 1), text=LONGER)
        np.testing.assert_allclose(monitor("start", "s_ref_m"), 0.7 + monitor("cut", "s_ref_m"),
                                   rtol=1e-14)
        for column in ("F_s_peak_eV_per_m", "F_s_mean_eV_per_m", "sigma_s_m"):
            one, two = monitor("cut", column), monitor("start", column)
            self.near(two, one, 1e-6 * np.abs(one).max())  # rounding, and what it makes of rules

    def test_the_resolved_input_runs_again_with_the_same_bits(self):
        write_plain("again.h5", bunch())
        run("again", "beam: {file: again.h5}\n", "--steps", "3")
        done = subprocess.run([ARCWAKE, "run", "again/resolved.yaml", "-o", "again2", "--steps",
                               "3", "--force"], cwd=DIRECTORY, check=False,
                              capture_output=True, text=True,
                              env={**os.environ, "ARCWAKE_TUNING": "none",
                                   "AW_PYTHON": "/bin/false"})
        self.assertEqual(done.returncode, 0, done.stderr)
        for column in ("F_s_peak_eV_per_m", "sigma_s_m", "charge_C"):
            self.assertTrue(np.array_equal(monitor("again", column), monitor("again2", column)))

    def test_openpmd_beamphysics_writes_and_reads_the_same_bunch(self):
        try:
            from beamphysics import ParticleGroup  # pylint: disable=import-outside-toplevel
        except ImportError:
            self.skipTest("openpmd-beamphysics is not installed")
        p = bunch()
        n = len(p["x"])
        one = ParticleGroup(data={**{k: p[k] for k in ("x", "y", "z", "px", "py", "pz")},
                                  "weight": p["charge"], "t": np.zeros(n), "status": np.ones(n),
                                  "species": "electron"})
        other = one.copy()
        other.drift_to_z(0.0)
        one.write(str(DIRECTORY / "time.h5"))
        other.write(str(DIRECTORY / "here.h5"))
        for name, bound in (("time", 1e-12), ("here", 1e-9)):  # c t is rounded, and t has an origin
            run(name, f"beam: {{file: {name}.h5}}\n", "--steps", "1")
            back = ParticleGroup(str(DIRECTORY / name / "diag" / "arcwake_00000000.h5"))
            for key in ("sigma_z", "sigma_x", "charge", "mean_energy"):
                np.testing.assert_allclose(back[key], one[key], rtol=bound if "z" in key or "x" in
                                           key else 1e-8, err_msg=f"{name} {key}")
            if name == "time":
                np.testing.assert_allclose(back["norm_emit_y"], one["norm_emit_y"], rtol=1e-7)

    def test_our_particles_through_openpmd_beamphysics_and_back(self):
        """A ParticleGroup of our file, written and read, is the same; and so is a run from it."""
        try:
            from beamphysics import ParticleGroup  # pylint: disable=import-outside-toplevel
        except ImportError:
            self.skipTest("openpmd-beamphysics is not installed")
        write_plain("ours.h5", bunch())
        run("ours", "beam: {file: ours.h5}\n", "--steps", "1")
        first = ParticleGroup(str(DIRECTORY / "ours" / "diag" / "arcwake_00000000.h5"))
        first.write(str(DIRECTORY / "group.h5"))
        second = ParticleGroup(str(DIRECTORY / "group.h5"))
        for key in ("x", "y", "z", "px", "py", "pz", "t", "weight", "status", "id"):
            self.assertTrue(np.array_equal(second[key], first[key]), key)
        run("back", "beam: {file: group.h5}\n", "--steps", "1")
        a, b = particles("ours"), particles("back")
        for key in ("x", "y", "charge", "id"):
            self.assertTrue(np.array_equal(b[key], a[key]), key)
        # no s_ref: z counts from its mean, which is 0 to the rounding of 3000 of 5e-5 m
        self.near(b["z"], a["z"], 1e-18)
        for key in ("px", "py", "pz"):  # to eV/c, in gamma beta and back: a rounding for each
            np.testing.assert_allclose(b[key], a[key], rtol=4 * ULP, atol=0.0, err_msg=key)

    def test_a_tabulated_current_has_the_length_of_its_table(self):
        (DIRECTORY / "current.txt").write_text("# s I\n-1e-4 0\n0 5\n0.5e-4, 0\n",
                                               encoding="utf-8")
        beam = ("charge_C: 1.0e-10, particles: 20000, sigma_x_m: 5.0e-5, distribution: tabulated, "
                "profile: current.txt")
        run("table", f"beam: {{{beam}}}\n", "--steps", "1")
        size = 0.5e-4 * np.sqrt(7.0 / 18.0)  # a triangle
        np.testing.assert_allclose(monitor("table", "sigma_s_m")[0], size, rtol=1e-3)  # 20000
        self.refused(beam + ", sigma_s_m: 1.0e-5", "beam.sigma_s_m", "distribution")
        self.refused(beam.replace("current", "nowhere"), "nowhere.txt", "beam.profile")
        self.refused(beam.replace(", profile: current.txt", ""), "beam.profile", "missing")
        (DIRECTORY / "back.txt").write_text("0 1\n-1 1\n", encoding="utf-8")
        self.refused(beam.replace("current", "back"), "line 2", "does not rise")

    def refused(self, beam, *words, line=1):
        done = program("bad", f"beam: {{{beam}}}\n", "--steps", "1")
        lines = [line for line in done.stderr.splitlines() if "error" in line]
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertEqual(len(lines), 1, done.stderr)
        for word in (f"bad.yaml:{line}:", "expected", *words):
            self.assertIn(word, lines[0])

    def test_what_is_wrong_is_said_in_one_line(self):
        p = bunch()
        write_plain("good.h5", p)
        self.refused("file: nowhere.h5", "beam.file", "nowhere.h5")
        self.refused("file: good.h5, sigma_s_m: 1.0e-5", "beam.sigma_s_m", "beam.file")
        self.refused("file: good.h5, gamma: 1.0e3", "beam.gamma", "beam.file")
        self.refused("file: good.h5, start_m: -1.0", "beam.start_m")
        self.refused("file: good.h5, resample: 0", "beam.resample")
        self.refused("file: good.h5, sigma_y_m: 1.0e-10", "beam.sigma_y_m", "below 1e-09")
        self.refused("file: good.h5, alpha_y: 1.0", "beam.alpha_y", "emittance_y_m")
        self.refused("file: good.h5, sigma_y_m: 1.0e-5, emittance_y_m: 1.0e-10, beta_y_m: 1.0",
                     "emittance_y_m", "one of the two")
        self.refused("file: good.h5, start_m: 0.6", "beam.start_m", "less than 0.6 m")
        self.refused("file: good.h5, start_m: 0.25", "q: the beam starts within it", "0.3 m on",
                     line=10)
        self.refused("file: good.h5, start_m: 0.4", "b: the beam starts within it", line=11)
        self.refused("file: good.h5, iteration: 3", "iteration")
        self.refused("file: good.h5, iteration: -3", "beam.iteration", "last")
        for key in ("x", "pz", "charge"):
            bad = {k: v.copy() for k, v in p.items()}
            bad[key][7] = np.nan
            write_plain("nan.h5", bad)
            self.refused("file: nan.h5", "particle 8", "nan")
        Writer("no.h5", numParticles=3, totalCharge=1e-10).put("position/x", np.zeros(3)).done()
        self.refused("file: no.h5", "position/z")
        w = Writer("short.h5", numParticles=3, totalCharge=1e-10).coordinates(p)
        w.put("weight", np.ones(5)).done()
        self.refused("file: short.h5", "weight", "5", str(len(p["x"])))
        Writer("neither.h5", totalCharge=1e-10).coordinates(p, p["x"] / C).done()
        self.refused("file: neither.h5", "neither at one place nor at one time")
        Writer("free.h5").coordinates(p).done()
        self.refused("file: free.h5", "beam.charge_C")
        Writer("proton.h5", speciesType="proton", totalCharge=1e-10).coordinates(p).done()
        self.refused("file: proton.h5", "proton", "electron")
        some = {key: value[:50] for key, value in p.items()}
        write_plain("some.h5", some)
        self.refused("file: some.h5, resample: 60", "50 live particles", "too few", "100 or more")
        self.refused("file: good.h5, resample: 10000000000", "GiB", "fewer")
        w = Writer("huge.h5", totalCharge=1e-10)  # of which nothing is written
        for axis in "xy":
            w.put(f"position/{axis}", 0.0, 10 ** 10).put(f"momentum/{axis}", 0.0, 10 ** 10)
        w.put("momentum/z", 5e8 * EV, 10 ** 10).put("time", 0.0, 10 ** 10)
        w.group.create_dataset("position/z", (10 ** 10,), dtype="f8", chunks=(2 ** 20,))
        w.done()
        self.refused("file: huge.h5", "10000000000 particles need", "GiB", "fewer")
        none = {**p, "charge": 0.0 * p["charge"]}
        write_plain("none.h5", none)
        self.refused("file: none.h5", "no charge", "> 0")
        minus = {**p, "charge": -p["charge"]}
        write_plain("minus.h5", minus)
        self.refused("file: minus.h5", "particle 1", "charge", "0 or more")
        w = Writer("lost.h5", totalCharge=1e-10).coordinates(p)
        w.put("particleStatus", 5, len(p["x"])).done()
        self.refused("file: lost.h5", "has 0 live particles")
        Writer("positron.h5", speciesType="positron", totalCharge=1e-10).coordinates(p).done()
        self.refused("file: positron.h5", "/electron", "'positron'", "electrons only")
        w = Writer("charge.h5", totalCharge=1e-10).coordinates(p)
        w.put("charge", 1.602176634e-19, len(p["x"])).done()
        self.refused("file: charge.h5", "/electron", "charge 1.60218e-19", "electrons only")
        w = Writer("mixed.h5", totalCharge=1e-10).coordinates(p)
        w.group = w.file.create_group("ions")
        w.group.attrs["speciesType"] = "H+"
        w.coordinates(p).done()
        self.refused("file: mixed.h5", "/ions", "'H+'", "electrons only")
        w = Writer("free_one.h5", totalCharge=1e-10).coordinates(p)
        w.group = w.file.create_group("witness")
        w.coordinates(p).done()
        self.refused("file: free_one.h5", "/witness", "no charges")
        slow = {**p, "pz": 0.1 * p["pz"]}
        write_plain("slow.h5", slow)
        self.refused("file: slow.h5", "mean energy", "eV")
        (DIRECTORY / "bad.txt").write_text("1 2 3 4 5 6\n1 2 three 4 5 6\n", encoding="utf-8")
        self.refused("file: bad.txt, charge_C: 1.0e-10", "line 2", "three")
        (DIRECTORY / "few.txt").write_text("1 2 3\n", encoding="utf-8")
        self.refused("file: few.txt, charge_C: 1.0e-10", "line 1", "3 numbers")
        (DIRECTORY / "head.txt").write_text("# only\n", encoding="utf-8")
        self.refused("file: head.txt, charge_C: 1.0e-10", "no particles")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "-v"])
