# SPDX-License-Identifier: GPL-3.0-or-later
"""Our openPMD files in the validator, openPMD-viewer and openPMD-beamphysics.

usage: test_openpmd.py DIRECTORY   (of python.c; the numbers expected here are those of sample.c;
                                    $AW_ARCWAKE is the program)
"""
import csv
import os
import subprocess
import sys
import unittest
import warnings
from pathlib import Path

try:
    import h5py
    import numpy as np
    import openpmd_validator  # noqa: F401 (run as a program)
    from beamphysics import ParticleGroup
    from openpmd_viewer import OpenPMDTimeSeries
except ImportError as problem:
    print(f"skipped: {problem} (tools/requirements-test.txt lists what is needed)")
    sys.exit(77)

ARCWAKE = os.environ["AW_ARCWAKE"]
ROOT = Path(__file__).resolve().parents[2]
DIRECTORY = Path(sys.argv[1]).absolute()
DIAG = DIRECTORY / "diag"
STEPS = (20, 40)
NS, NX, N = 40, 24, 500
HS, HX, SIGMA, CHARGE = 1e-5, 2e-5, 50e-6, 1e-9
C, E, ME = 299792458.0, 1.602176634e-19, 9.1093837015e-31
P0 = 1e4 * ME * C
EXACT = 1e-14  # numbers are stored unchanged; the closed forms here have rounding errors


def file_of(step):
    return DIAG / f"arcwake_{step:08d}.h5"


# The sum over k > m of (-1)^(k+1) C(10, 5 + k)/1024 (2 (k - m) - 1) for m = 0 .. 4, or the largest
# of those at most a node away.
SHIFT = [0.0273, 0.0273, 0.0273, 0.0196, 0.0069, 0.0010, 0.0]


def grid():
    """Normalised coordinates (w, u) of the nodes, [ix][iz]."""
    u = (np.arange(NS) - 0.5 * (NS - 1)) * HS / SIGMA
    w = (np.arange(NX) - 0.5 * (NX - 1)) * HX / SIGMA
    return np.meshgrid(w, u, indexing="ij")


def particles():
    """x, z [m], px, pz [kg m/s] of sample.c."""
    i = np.arange(N)
    a, r = 0.1 * i, SIGMA * np.sqrt((i + 0.5) / N)
    return (r * np.cos(a), r * np.sin(a), 1e-5 * P0 * np.sin(2 * a),
            P0 * (1 + 1e-4 * np.cos(3 * a)))


def validate(path):
    """Exit status (the number of errors) and output of the validator."""
    tool = Path(sys.executable).parent / "openPMD_check_h5"
    command = [tool] if tool.exists() else [sys.executable, "-m", "openpmd_validator.check_h5"]
    done = subprocess.run([*command, "-i", path], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


class Validator(unittest.TestCase):
    def test_validator_reports_no_errors_and_no_warnings(self):
        for step in STEPS:
            errors, words = validate(file_of(step))
            self.assertEqual(errors, 0, words)
            self.assertIn("0 Errors and 0 Warnings", words)

    def test_validator_notices_a_missing_attribute_of_the_standard_and_of_the_extension(self):
        """So its acceptance has a meaning."""
        broken = DIRECTORY / "broken.h5"
        for place, name in (("meshes/rho", "unitSI"), ("particles/electron", "particleShape")):
            broken.write_bytes(file_of(20).read_bytes())
            with h5py.File(broken, "r+") as file:
                del file[f"/data/20/{place}"].attrs[name]
            errors, words = validate(broken)
            self.assertEqual(errors, 1, words)
            self.assertIn(name, words)
        broken.unlink()


class Viewer(unittest.TestCase):
    def setUp(self):
        self.series = OpenPMDTimeSeries(str(DIAG), backend="h5py", check_all_files=True)

    def test_viewer_finds_iterations_fields_and_species(self):
        self.assertEqual(list(self.series.iterations), list(STEPS))
        self.assertEqual(set(self.series.avail_fields),
                         {"rho", "J", "phi", "A", "psi", "F", "F_eff"})
        self.assertEqual(self.series.avail_species, ["electron"])
        np.testing.assert_allclose(self.series.t, [6.67e-11 * s for s in STEPS], rtol=EXACT)

    def test_scalar_field_has_its_axes_and_the_sign_of_electrons(self):
        w, u = grid()
        rho, info = self.series.get_field("rho", iteration=40)
        want = -CHARGE / (2 * np.pi * SIGMA**2) * np.exp(-0.5 * (u**2 + w**2))
        self.assertEqual(rho.shape, (NX, NS))
        self.assertEqual(dict(info.axes), {0: "x", 1: "z"})
        # closed form with another exp: a few units in the last place
        np.testing.assert_allclose(rho, want, rtol=1e-13)
        np.testing.assert_allclose(info.z, u[0] * SIGMA, rtol=EXACT, atol=1e-19)
        np.testing.assert_allclose(info.x, w[:, 0] * SIGMA, rtol=EXACT, atol=1e-19)
        # the integral over the plane is the bunch charge less the part outside +-3.9 sigma
        self.assertAlmostEqual(rho.sum() * HS * HX / -CHARGE, 1.0, delta=2e-4)

    def test_vector_fields_are_in_SI(self):
        w, u = grid()
        force, _ = self.series.get_field("F", coord="z", iteration=20)
        want = 3e5 * (u - 0.4) * np.exp(-0.5 * u**2) * (1 - 0.01 * w)  # [eV/m]
        np.testing.assert_allclose(force, want * E, rtol=1e-13, atol=1e-12 * E)
        across, _ = self.series.get_field("J", coord="x", iteration=20)
        rho, _ = self.series.get_field("rho", iteration=20)
        np.testing.assert_allclose(across, 1e-3 * w * C * rho, rtol=1e-13)

    def test_particles_are_read_back(self):
        x, z, px, pz = particles()
        got = self.series.get_particle(["x", "y", "z", "ux", "uy", "uz", "w", "id", "charge"],
                                       species="electron", iteration=40)
        want = (x, 0 * x, z, px / (ME * C), 0 * x, pz / (ME * C), CHARGE / N / E + 0 * x,
                np.arange(N), -E + 0 * x)
        for one, other in zip(got, want):
            # the viewer's own constants differ from CODATA 2018 by 1e-9 at most
            np.testing.assert_allclose(one, other, rtol=2e-9, atol=1e-19)


class BeamPhysics(unittest.TestCase):
    def setUp(self):
        self.group = ParticleGroup(str(file_of(40)))

    def test_statistics_are_those_of_the_sample(self):
        x, z, px, pz = particles()
        to_eV = C / E
        self.assertEqual(len(self.group), N)
        self.assertEqual(self.group.species, "electron")
        # the reader converts momenta with its own constants
        for key, want in {"charge": CHARGE, "mean_pz": pz.mean() * to_eV,
                          "sigma_x": x.std(), "sigma_z": z.std(), "sigma_px": px.std() * to_eV,
                          "mean_t": 6.67e-11 * 40}.items():
            np.testing.assert_allclose(self.group[key], want, rtol=1e-9, err_msg=key)
        self.assertEqual(self.group["mean_y"], 0)
        self.assertEqual(self.group.n_alive, N)
        cov = np.cov(x, px * to_eV / 510998.95)  # the reader divides by N - 1 here
        np.testing.assert_allclose(self.group["norm_emit_x"], np.sqrt(np.linalg.det(cov)),
                                   rtol=1e-6)  # of a difference of products

    def test_particles_are_in_the_order_of_their_ids(self):
        np.testing.assert_array_equal(self.group["id"], np.arange(N))
        np.testing.assert_allclose(self.group.z, particles()[1], rtol=EXACT)


class Frame(unittest.TestCase):
    def test_lab_positions_follow_the_orbit(self):
        """frameOrigin lies on a circle of radius R in the lab, and the axes are along it."""
        with h5py.File(file_of(40), "r") as file:
            attrs = file["/data/40/particles/electron"].attrs
            origin, tangent = attrs["frameOrigin"], attrs["designRotation"].reshape(3, 3)[:, 2]
            radius = 1 / attrs["kappa_ref"]
            rotation = attrs["frameRotation"].reshape(3, 3)
            design = attrs["designRotation"].reshape(3, 3)
        # the bend's centre is at (x, z) = (-R, 0); the tangent is normal to the radius
        np.testing.assert_allclose(np.hypot(origin[0] + radius, origin[2]), radius, rtol=1e-14)
        self.assertAlmostEqual((origin[0] + radius) * tangent[0] + origin[2] * tangent[2], 0,
                               delta=1e-13)
        np.testing.assert_array_equal(rotation, design)
        np.testing.assert_allclose(rotation @ rotation.T, np.eye(3), atol=1e-15)
        self.assertAlmostEqual(np.linalg.det(rotation), 1.0, delta=1e-15)


class Run(unittest.TestCase):
    """A run through a compressor: 200 um become 20 um, and the grid is tilted at both ends."""

    @classmethod
    def setUpClass(cls):
        lattice = (ROOT / "inputs" / "zeuthen_chicane.pals.yaml").read_text()
        bend = "          - b1:\n"
        # The whole bunch starts in a straight line.
        longer = lattice.replace(bend, "          - d0: {kind: Drift, length: 0.1}\n" + bend)
        assert longer != lattice
        (DIRECTORY / "compressor.pals.yaml").write_text(longer)
        settings = ["lattice=" + str(DIRECTORY / "compressor.pals.yaml"), "motion=external",
                    "beam.particles=20000", "numerics.grid=[16, 16]", "numerics.step_m=0.1",
                    "numerics.tolerance=1e-3", "output.at_m=[0.4]", "output.every=0",
                    "output.particles_every=0", "output.particles_at_m=[0, 6]"]
        command = [ARCWAKE, "run", ROOT / "inputs" / "zeuthen_chicane.yaml", "--solver",
                   "two-phase", "--threads", "1", "-o", "compressor"]
        for setting in settings:
            command += ["--set", setting]
        environment = dict(os.environ, AW_PYTHON="/bin/false", ARCWAKE_TUNING="none")
        done = subprocess.run(command, capture_output=True, text=True, cwd=DIRECTORY, check=False,
                              env=environment)
        assert done.returncode == 0, done.stderr
        with open(DIRECTORY / "compressor" / "monitor.csv", newline="", encoding="ascii") as file:
            cls.rows = {int(row["step"]): row for row in csv.DictReader(file)}
        cls.last = max(cls.rows)
        cls.steps = (0, 60, cls.last)  # at S = 0, at 6 m, and the last

    def path_of(self, step):
        return DIRECTORY / "compressor" / "diag" / f"arcwake_{step:08d}.h5"

    def test_beamphysics_gives_our_own_bunch_parameters(self):
        gamma = 5e9 / 510998.95
        for step in (0, self.last):
            group, row = ParticleGroup(str(self.path_of(step))), self.rows[step]
            # cov divides by N - 1 (5e-5). p_x = p x' also has the chirp's spread of 0.7 %: it adds
            # (1 + alpha^2) sigma^2/2 = 2e-4 of the emittance.
            np.testing.assert_allclose(group["norm_emit_x"] / np.sqrt(gamma**2 - 1),
                                       float(row["emittance_x_m"]), rtol=1e-3)
            # Positions are rounded in the lab, 15 m from its origin.
            np.testing.assert_allclose(group["sigma_z"], float(row["sigma_s_m"]), rtol=1e-9)
            np.testing.assert_allclose(group["sigma_x"], float(row["sigma_x_m"]), rtol=1e-9)
            np.testing.assert_allclose(group["charge"], float(row["charge_C"]), rtol=1e-12)
            # energy_eV is the mean of the distribution; a sample errs by -36/m of its mean s.
            self.assertAlmostEqual(group["mean_energy"] / 5e9, 1, delta=36 * 200e-6 * 1e-3)
            self.assertLess(abs(group["mean_px"]), 1e-3 * group["sigma_px"] + 1)
        first, last = (ParticleGroup(str(self.path_of(step))) for step in (0, self.last))
        self.assertLess(last["sigma_z"], 0.11 * first["sigma_z"])
        self.assertLess(last["sigma_z"], last["sigma_x"])

    def test_particles_lie_on_the_tilted_mesh(self):
        """Both frames lead to the same place in the lab, also at a large tilt (6 m)."""
        for step in self.steps:
            with h5py.File(self.path_of(step)) as file:
                rho = file[f"data/{step}/meshes/rho"]
                species = file[f"data/{step}/particles/electron"]
                mesh, axes = rho.attrs, species.attrs
                turn = mesh["frameRotation"].reshape(3, 3).T
                r = np.stack([species["position/x"][:], np.zeros(20000), species["position/z"][:]])
                r = turn @ ((axes["frameOrigin"] - mesh["frameOrigin"])[:, None]
                            + axes["frameRotation"].reshape(3, 3) @ r)
                spacing, density, n = mesh["gridSpacing"], rho[:], np.array(rho.shape)
            half = 0.5 * (n - 1) * spacing
            for axis, along in ((0, r[0]), (1, r[2])):
                self.assertLess(np.abs(along).max(), half[axis])
                place = (np.arange(n[axis]) - 0.5 * (n[axis] - 1)) * spacing[axis]
                charge = density.sum(axis=1 - axis) / density.sum()
                # Quadratic B-splines are exact in the mean and add h^2/4 to the variance. The
                # compensation takes off h^2/2, for them and for the reading; sums over nodes err as
                # rounding, but for particles near the edge, 6 nodes from the mean. There 13/240 of
                # the outermost one's charge stays a node from where it belongs; and what 1 +
                # d^10/1024 would put beyond the edge is reflected, which moves the charge of a
                # node that is 0 .. 4 from it by SHIFT nodes (a particle has three nodes).
                near = half[axis] / spacing[axis] - np.abs(along) / spacing[axis]
                edge = 13 / 240 / 20000 + np.interp(near, range(7), SHIFT).mean()
                mean = (charge * place).sum()
                self.assertAlmostEqual(mean / spacing[axis], along.mean() / spacing[axis],
                                       delta=edge)
                variance = (charge * (place - mean)**2).sum() / spacing[axis]**2
                self.assertAlmostEqual(variance, along.var() / spacing[axis]**2 - 0.25,
                                       delta=2 * 6 * edge)

    def test_the_last_step_and_the_listed_places_have_particles(self):
        found = {}
        for path in sorted((DIRECTORY / "compressor" / "diag").iterdir()):
            with h5py.File(path) as file:
                found[int(path.stem[-8:])] = "particlesPath" in file.attrs
        # 0.4 m is at_m
        self.assertEqual(found, {0: True, 4: False, 60: True, self.last: True})
        series = OpenPMDTimeSeries(str(DIRECTORY / "compressor" / "diag"), backend="h5py")
        self.assertEqual(series.avail_species, ["electron"])
        errors, words = validate(self.path_of(self.last))
        self.assertEqual(errors, 0, words)
        self.assertIn("0 Errors and 0 Warnings", words)


if __name__ == "__main__":
    warnings.simplefilter("error", RuntimeWarning)
    os.chdir(DIRECTORY)
    unittest.main(argv=[sys.argv[0], "-v"])
