# SPDX-License-Identifier: GPL-3.0-or-later
"""What a Result reads: tables, fields, particles, statistics, slices, pictures.

usage: test_result.py DIRECTORY    with ARCWAKE_PROGRAM, the program
"""
import json
import sys
import unittest

import h5py
from case import SCRATCH, arcwake, full, np

from arcwake.report import beam

KEYS = [f"{operator}_{name}" for operator in ("mean", "sigma", "min", "max", "ptp")
        for name in ("x", "px", "y", "z", "pz", "t", "energy", "kinetic_energy", "gamma", "p", "xp",
                     "beta", "beta_z")]
KEYS += ["norm_emit_x", "norm_emit_y", "charge", "n_particle", "average_current", "cov_x__px",
         "cov_z__energy"]


class Run(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        document = full("run")
        document["output"].update(every=0, at_m=[1.0, 3.0], particles_at_m=[1.0])
        cls.run_ = arcwake.run(document)

    def test_monitor_is_the_table(self):
        monitor = self.run_.monitor
        self.assertEqual(monitor["emittance_x_m"].shape, (151,))
        rows = (SCRATCH / "run" / "monitor.csv").read_text(encoding="utf-8").splitlines()
        at = rows[0].split(",").index("sigma_x_m")
        self.assertEqual(monitor["sigma_x_m"][-1], float(rows[-1].split(",")[at]))
        self.assertIn("151 steps", repr(self.run_))

    def test_fields_are_those_of_the_file_at_or_after_the_place(self):
        mesh = self.run_.mesh(S=2.0)
        self.assertAlmostEqual(mesh.S, 3.0, places=6)
        self.assertAlmostEqual(self.run_.mesh(S=mesh.S).S, mesh.S, places=12)
        with h5py.File(mesh.path, "r") as file:
            (iteration,) = file["data"].values()
            for name, axis in (("F", "z"), ("A", "x"), ("J", "z")):
                np.testing.assert_array_equal(mesh[name][axis], iteration[f"meshes/{name}/{axis}"])
            np.testing.assert_array_equal(mesh["phi"], iteration["meshes/phi"])
        self.assertEqual(set(mesh), {"A", "F", "F_eff", "J", "phi", "psi", "rho"})
        self.assertEqual(mesh["F"]["z"].shape, (len(mesh.x), len(mesh.z)))
        self.assertEqual(mesh.s.shape, mesh["rho"].shape)
        with self.assertRaisesRegex(KeyError, "has A, F"):
            mesh["B"]  # pylint: disable=pointless-statement
        with self.assertRaisesRegex(arcwake.ArcwakeError, "no mesh at or after S = 6.5"):
            self.run_.mesh(S=6.5)

    def test_places_of_nodes_are_on_the_design_orbit(self):
        """The moments of the charge in s and offset are those of the monitor."""
        mesh = self.run_.mesh(S=3.0)
        row = np.searchsorted(self.run_.monitor["step"], mesh.step)
        weight = np.abs(mesh["rho"]) / np.abs(mesh["rho"]).sum()
        for values, name in ((mesh.s, "sigma_s_m"), (mesh.offset, "sigma_x_m")):
            rms = np.sqrt((weight * values**2).sum() - (weight * values).sum() ** 2)
            # the grid has two cells per sigma, over which the charge is spread and sharpened again
            self.assertAlmostEqual(rms / self.run_.monitor[name][row], 1.0, delta=0.02)

    def test_particles_are_those_of_the_file(self):
        bunch = self.run_.beam
        self.assertEqual(len(bunch), 4000)
        self.assertAlmostEqual(bunch.S, 6.0, places=6)
        self.assertEqual(self.run_.beam_at(0.5).S, self.run_.beam_at(1.0).S)
        self.assertAlmostEqual(bunch.weight.sum() / 1e-9, 1.0, places=12)
        self.assertEqual(len(np.unique(bunch.id)), 4000)
        last = {name: values[-1] for name, values in self.run_.monitor.items()}
        # in the drift, and in the bend, where s and offset follow the orbit
        for one, row in ((bunch, 150), (self.run_.beam_at(1.0), 25)):
            now = {name: values[row] for name, values in self.run_.monitor.items()}
            self.assertAlmostEqual(np.std(one.s) / now["sigma_s_m"], 1.0, places=9)
            self.assertAlmostEqual(np.std(one.offset) / now["sigma_x_m"], 1.0, places=9)
            gained = one.statistics["mean_energy"] - self.run_.energy
            # rounding of 4000 energies of 5e9 eV
            self.assertAlmostEqual(gained, now["energy_change_mean_eV"] - now["isr_loss_mean_eV"],
                                   delta=1e-2)
        # constants of ten digits, of momenta and of the mass
        self.assertAlmostEqual(self.run_.statistics["mean_energy"][-1] / last["energy_mean_eV"],
                               1.0, places=9)

    def test_statistics_are_those_of_beamphysics(self):
        try:
            group = self.run_.beam.to_beamphysics()
        except ImportError as problem:
            self.skipTest(str(problem))
        statistics = self.run_.beam.statistics
        for key in KEYS:
            # its electron mass differs from ours in the tenth digit; 4000 terms of rounding
            scale = max(abs(group[key]), 1e-9 * abs(group["mean_p"]) if "p" in key else 0.0)
            self.assertLessEqual(abs(statistics[key] - group[key]), 1e-8 * scale, key)
        np.testing.assert_array_equal(group.id, self.run_.beam.id)
        np.testing.assert_array_equal(group["x"], self.run_.beam.x)
        self.assertEqual(dict(statistics)["norm_emit_x"], statistics["norm_emit_x"])
        for wrong in ("mean_colour", "colour", "cov_x", "mean_"):
            with self.assertRaises(KeyError):
                statistics[wrong]  # pylint: disable=pointless-statement

    def test_statistics_along_the_run_end_as_the_particles(self):
        """In the drift behind the bend; p_x stands for the slope (docs/output.md)."""
        along, last = self.run_.statistics, self.run_.beam.statistics
        for name in ("norm_emit_x", "sigma_x", "sigma_z", "mean_energy", "mean_gamma", "charge"):
            self.assertEqual(along[name].shape, (151,))
            self.assertAlmostEqual(along[name][-1] / last[name], 1.0, delta=1e-3, msg=name)
        self.assertEqual(sorted(along), sorted(dict(along)))

    def test_summary_has_the_last_values_and_the_largest_forces(self):
        summary, monitor = self.run_.summary, self.run_.monitor
        self.assertEqual(summary["emittance_x_m"], monitor["emittance_x_m"][-1])
        self.assertEqual(abs(summary["F_s_peak_eV_per_m"]),
                         np.nanmax(np.abs(monitor["F_s_peak_eV_per_m"])))
        self.assertNotIn("emittance_x_m_error", summary)
        self.assertIsNone(self.run_.certificate)

    def test_a_certificate_of_another_run_is_none(self):
        path = SCRATCH / "run" / "certificate.json"
        one = {"quantity": "sigma_s_m", "value": self.run_.monitor["sigma_s_m"][-1], "unit": "m",
               "s_ref_m": 6.0, "U": 1e-7, "U_grid": 1e-7, "U_step": None, "U_noise": 0.0,
               "U_quadrature": 0.0, "orders": {}, "asymptotic": True}
        path.write_text(json.dumps([one]), encoding="utf-8")
        summary = arcwake.Result(SCRATCH / "run").summary
        self.assertEqual(summary["sigma_s_m_error"], 1e-7)
        path.write_text(json.dumps([{**one, "value": 1.001 * one["value"]}]), encoding="utf-8")
        other = arcwake.Result(SCRATCH / "run")
        self.assertIsNone(other.certificate)
        self.assertNotIn("sigma_s_m_error", other.summary)
        path.unlink()

    def test_pictures(self):
        figures = self.run_.plot()
        self.assertEqual(set(figures), {"machine", "phase_space", "slices", "forces", "maps"})
        self.assertEqual(len(figures["phase_space"].axes), 6)  # three rows at two places
        self.assertGreater(len(self.run_.plot("machine").axes), 4)
        with self.assertRaisesRegex(ValueError, "what: 'colours'"):
            self.run_.plot("colours")
        empty = arcwake.run({**full("rigid"), "motion": "rigid"}, steps=1)
        for path in (SCRATCH / "rigid" / "diag").iterdir():
            path.unlink()
        self.assertNotIn("slices", empty.plot())
        with self.assertRaisesRegex(arcwake.ArcwakeError, "nothing for the picture 'slices'"):
            empty.plot("slices")

    def test_an_input_that_cannot_be_read_is_no_empty_one(self):
        path = SCRATCH / "run" / "resolved.yaml"
        whole = path.read_bytes()
        begin = whole.index(b"lattice:")
        end = whole.index(b"beam:")
        self.assertGreater(len(arcwake.Result(SCRATCH / "run").elements), 0)
        try:
            for damaged, words in ((b"", "has no lattice|cannot be shown"), (b"\xff\xfe", "decode"),
                                   (whole[:begin + 100], "not drawn|cannot be shown"),
                                   (whole[:begin] + whole[end:], "has no lattice")):
                path.write_bytes(damaged)
                for ask in (lambda found: found.elements, lambda found: found.mesh(3.0),
                            lambda found: found.beam):
                    with self.assertRaisesRegex(arcwake.ArcwakeError,
                                                f"resolved.yaml: .*({words})"):
                        ask(arcwake.Result(SCRATCH / "run"))
        finally:
            path.write_bytes(whole)

    def test_a_directory_without_a_run(self):
        with self.assertRaisesRegex(arcwake.ArcwakeError, "no monitor.csv"):
            arcwake.Result(SCRATCH / "nothing")
        (SCRATCH / "broken").mkdir()
        (SCRATCH / "broken" / "monitor.csv").write_text("step,s_ref_m\n1,2,3\n", encoding="utf-8")
        with self.assertRaisesRegex(arcwake.ArcwakeError, r"monitor.csv:2: 3 cells"):
            arcwake.Result(SCRATCH / "broken").monitor  # pylint: disable=expression-not-assigned


class Slices(unittest.TestCase):
    """A bunch whose slices are known."""
    N, SIGMA, GAMMA, CHARGE = 400000, 50e-6, 1e4, 1e-9

    def bunch(self, chirp=0.0, tilt=0.0):
        random = np.random.default_rng(7)
        s, x, u, d = random.standard_normal((4, self.N))
        s *= self.SIGMA
        growth = 1.0 + (s / self.SIGMA) ** 2  # of the divergence, from the middle outwards
        ux = 1e-2 * growth * u
        gamma = self.GAMMA * (1.0 + 1e-4 * d + chirp * s)
        return beam.Bunch(step=0, s_ref=0.0, gamma_ref=self.GAMMA, s=s, x=30e-6 * x + tilt * s,
                          ux=ux, us=np.sqrt(gamma**2 - 1.0 - ux**2),
                          charge=np.full(self.N, self.CHARGE / self.N))

    def test_emittance_spread_and_current_of_each_slice(self):
        cut = beam.slices(self.bunch(), 21)
        middle = slice(4, 17)  # within 2.5 sigma: thousands of particles each
        s = cut.s[middle] / self.SIGMA
        # within a slice of 0.3 sigma the divergence varies: rms of growth over it, to 1 %
        want = 30e-6 * 1e-2 * (1.0 + s**2)
        np.testing.assert_allclose(cut["norm_emit_x"][middle], want, rtol=0.05)  # 1/sqrt(N) is 2 %
        np.testing.assert_allclose(cut["sigma_energy"][middle], 1e-4 * self.GAMMA * beam.REST_EV,
                                   rtol=0.05)
        peak = self.CHARGE * beam.LIGHT / (np.sqrt(2 * np.pi) * self.SIGMA)
        np.testing.assert_allclose(cut["current"][middle], peak * np.exp(-s**2 / 2), rtol=0.08)
        self.assertAlmostEqual(cut.charge.sum() / self.CHARGE, 0.998, places=5)
        self.assertEqual(len(cut["mean_x"]), 21)
        self.assertIn("mean_energy", cut.keys())

    def test_chirp_and_tilt_do_not_count_and_show_in_the_centroids(self):
        plain, bent = (beam.slices(one, 11) for one in (self.bunch(), self.bunch(-20.0, 0.3)))
        middle = slice(2, 9)
        for name in ("norm_emit_x", "sigma_energy"):  # 3 % where the whole chirp is 1000 %
            np.testing.assert_allclose(bent[name][middle], plain[name][middle], rtol=0.03)
        step = np.diff(bent.s[middle])
        np.testing.assert_allclose(np.diff(bent["mean_x"][middle]) / step, 0.3, rtol=0.1)
        slope = np.diff(bent["mean_energy"][middle]) / step / (self.GAMMA * beam.REST_EV)
        np.testing.assert_allclose(slope, -20.0, rtol=0.1)

    def test_slices_with_few_particles_are_not_numbers(self):
        cut = beam.slices(self.bunch(), 2000)
        few = cut.number < 100
        self.assertTrue(few.any() and not few.all())
        self.assertTrue(np.isnan(cut["norm_emit_x"][few]).all())
        self.assertTrue(np.isfinite(cut["norm_emit_x"][~few]).all())
        self.assertTrue((cut.current[few] >= 0.0).all())


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
