# SPDX-License-Identifier: GPL-3.0-or-later
"""tools/report.py on good and broken directories, and its numbers against known ones.

usage: test_report.py DIRECTORY   (of python.c)
"""
import contextlib
import io
import json
import re
import shutil
import subprocess
import sys
import unittest
from pathlib import Path

TOOLS = Path(__file__).resolve().parents[2] / "tools"
sys.path[:0] = [str(TOOLS.parent / "python"), str(TOOLS)]
sys.dont_write_bytecode = True

try:
    import h5py
    import numpy as np
except ImportError as problem:
    print(f"skipped: {problem} (tools/requirements.txt lists what is needed)")
    sys.exit(77)
try:
    import report
    from arcwake.report import (Problem, beam, lattice, page, pictures, plain_yaml, radiation,
                                read)
except ImportError as problem:
    print(f"skipped: {problem} (tools/requirements.txt)")
    sys.exit(77)

DIRECTORY = Path(sys.argv[1]).absolute()


def command(directory):
    """Exit status of the command in a process of its own, and what it says on stderr."""
    done = subprocess.run([sys.executable, TOOLS / "report.py", "--", directory],
                          capture_output=True, text=True, check=False)
    return done.returncode, done.stderr


def run(directory, *options):
    """The same in this process: another one would import matplotlib again, which takes longer."""
    with contextlib.redirect_stderr(io.StringIO()) as said:
        status = report.main([*options, "--", str(directory)])
    return status, said.getvalue()


class Good(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.result = command(DIRECTORY)
        cls.page = (DIRECTORY / "report.html").read_text(encoding="utf-8")

    def test_it_is_made_without_a_word(self):
        self.assertEqual(self.result, (0, ""))
        self.assertEqual((DIRECTORY / "forces.png").read_bytes()[:8], b"\x89PNG\r\n\x1a\n")
        self.assertEqual(list(DIRECTORY.rglob("*.tmp")), [])

    def test_it_is_one_self_contained_file(self):
        sources = re.findall(r'(?:src|href)="([^"]{0,40})', self.page)
        self.assertEqual(len(sources), 5)  # particles, evolution, forces, maps, time
        for source in sources:
            self.assertTrue(source.startswith("data:image/"), source)
        self.assertNotIn("<script", self.page)
        self.assertNotIn("Radiation", self.page)  # no files of arcwake spectrum

    def test_title_from_the_input_is_escaped(self):
        self.assertIn("<h1>LCLS bend &lt;sample&gt; &amp; more</h1>", self.page)
        self.assertIn("<td>beam.charge_C</td>", self.page)
        self.assertNotIn("facility", self.page)  # the lattice is no table of values

    def test_last_row_is_in_the_table_with_units(self):
        # beta gamma = 1e4 at the start; the emittance grows by 1.64, the energy falls by 3e-5
        for words in ("800\u2009mm", "1\u2009nC", "-159.2\u2009keV", "46\u2009µm",
                      "-199\u2009keV/m", "41\u2009000\u2009000", "not computed",
                      "1\u2009µm rad", "1.64\u2009µm rad", "× 1.64"):
            self.assertIn(words, self.page)

    def test_each_half_alone_is_enough(self):
        for gone in ("diag", "monitor.csv"):
            copy = DIRECTORY / "half"
            shutil.copytree(DIRECTORY, copy, ignore=shutil.ignore_patterns("half", gone))
            self.assertEqual(run(copy), (0, ""), gone)
            shutil.rmtree(copy)


class Certified(unittest.TestCase):
    """The error bars of a certificate."""

    def setUp(self):
        self.place = DIRECTORY / "certified"
        shutil.copytree(DIRECTORY, self.place, ignore=shutil.ignore_patterns("certified", "diag"))
        self.s_ref = read.read_monitor(self.place / "monitor.csv")["s_ref_m"]
        (self.place / "certificate.json").write_text(
            '[\n{"quantity": "sigma_s_m", "value": 4.6e-05, "unit": "m", "s_ref_m": 0.8, '
            '"U": 1.25e-06, "U_grid": 1e-06, "U_step": 7.5e-07, "U_noise": 1e-09, '
            '"U_quadrature": null, "asymptotic": true}\n]\n', encoding="utf-8")
        self.curves("sigma_s_m", self.s_ref)

    def tearDown(self):
        shutil.rmtree(self.place)

    def curves(self, name, places):
        rows = [f"{name},{s:.17g},4.6e-05,{1e-6 * (i + 1):.6g}\n" for i, s in enumerate(places)]
        (self.place / "certificate.csv").write_text("quantity,s_ref_m,value,U\n" + "".join(rows),
                                                    encoding="utf-8")

    def test_bands_are_at_the_rows_of_the_monitor(self):
        bands = read.read_run(self.place).bands
        np.testing.assert_allclose(bands["sigma_s_m"], 1e-6 * np.arange(1, len(self.s_ref) + 1),
                                   rtol=1e-5)  # six digits in the file
        self.curves("sigma_s_m", self.s_ref + 1e-3)  # those of another run
        self.assertTrue(np.isnan(read.read_run(self.place).bands["sigma_s_m"]).all())

    def test_the_page_has_bars_and_bands(self):
        made = run(self.place)
        text = (self.place / "report.html").read_text(encoding="utf-8")
        self.assertEqual(made, (0, ""))
        for words in ("<h2>Error bars</h2>", "1.25\u2009µm", "not computed", "Bands:"):
            self.assertIn(words, text)

    def test_broken_ones_are_refused_in_one_line(self):
        for name, text in (("certificate.json", "[{}]"), ("certificate.json", "[1"),
                           ("certificate.csv", "quantity,s_ref_m,U\nsigma_s_m,zero,1\n")):
            whole = (self.place / name).read_text(encoding="utf-8")
            (self.place / name).write_text(text, encoding="utf-8")
            status, words = run(self.place)
            self.assertEqual((status, words.count("\n")), (4, 1), words)
            self.assertIn(name, words)
            (self.place / name).write_text(whole, encoding="utf-8")


TERA = 1e12
INPUT = "title: LCLS bend\nbeam:\n  charge_C: 1e-09\n"  # but for the title that of the sample


def write_spectrum(place, n_psi=3, n_theta=4):
    """Files as of arcwake spectrum: dW/d omega = omega up to 3 THz, not resolved beyond."""
    frequency = np.array([1.0, 1.5, 2.0, 3.0, 5.0, 8.0]) * TERA
    omega = 2.0 * np.pi * frequency
    rows = ["frequency_Hz,wavelength_m,coherent_J_s,incoherent_J_s,noise_J_s,resolved\n"]
    for i, one in enumerate(frequency):
        parts = f"{1e-30 * omega[i]:.9g},1e-25" if i < 4 else ","
        rows.append(f"{one:.9g},{lattice.LIGHT / one:.9g},{parts},2e-18,{int(i < 3)}\n")
    (place / "spectrum.csv").write_text("".join(rows), encoding="utf-8")
    (place / "spectrum.json").write_text(json.dumps(
        {"software": "arcwake 0.1.0", "charge_C": 1e-9, "gamma": 1e4, "particles": 1000,
         "frequency_from_Hz": 1e12, "frequency_to_Hz": 8e12, "frequency_resolved_Hz": 4e12,
         "theta_from_rad": -1e-3, "theta_to_rad": 1e-3, "psi_to_rad": 2e-3,
         "coherent_energy_J": 1.579e-4, "band_from_Hz": 1e12, "band_to_Hz": 5e12,
         "band_energy_J": None}), encoding="utf-8")
    psi, theta = 1e-3 * np.arange(n_psi), np.linspace(-1e-3, 1e-3, n_theta)
    pattern = 1.0 + np.arange(n_psi)[:, None] + 0.1 * np.arange(n_theta)
    coherent = 1e-30 * omega[:, None, None] * pattern
    coherent[4:] = np.nan
    with h5py.File(place / "spectrum.h5", "w") as file:
        file.attrs["input"] = np.bytes_(INPUT)
        for name, values in (("frequency", frequency), ("psi", psi), ("theta", theta),
                             ("coherent", coherent)):
            file[f"data/0/meshes/{name}"] = values
    return 0.5e-30 * (omega[3] ** 2 - omega[0] ** 2) * pattern


class Radiation(unittest.TestCase):
    """The section made of the files of arcwake spectrum."""

    def setUp(self):
        self.place = DIRECTORY / "radiating"
        shutil.copytree(DIRECTORY, self.place, ignore=shutil.ignore_patterns(
            "radiating", "diag", "report*", "forces.png"))
        self.energy = write_spectrum(self.place)

    def tearDown(self):
        shutil.rmtree(self.place)

    def page(self):
        self.assertEqual(run(self.place), (0, ""))
        return (self.place / "report.html").read_text(encoding="utf-8")

    def test_energy_balance(self):
        path = self.place / "spectrum.json"
        summary = json.loads(path.read_text(encoding="utf-8"))
        path.write_text(json.dumps({**summary, "balance_open": "it needs all directions"}),
                        encoding="utf-8")
        self.assertEqual(run(self.place)[0], 0)
        page = (self.place / "report.html").read_text(encoding="utf-8")
        self.assertIn("No energy balance: it needs all directions.", page)
        path.write_text(json.dumps(
            {**summary, "lost_J": 3e-3, "missing_J": 2e-3, "radiated_J": 2.9e-3,
             "bound_start_J": 3e-4, "bound_end_J": 2.35e-3, "balance_gap": -0.01}),
            encoding="utf-8")
        self.assertEqual(run(self.place)[0], 0)
        page = (self.place / "report.html").read_text(encoding="utf-8")
        self.assertIn("the particles lose 3\u2009mJ until the end and 2\u2009mJ behind it", page)
        self.assertIn("has 2.05\u2009mJ more. The balance closes to 1 % of the loss.", page)

    def refused(self, words):
        with self.assertRaises(Problem) as caught:
            page.make_page(self.place)
        self.assertIn(words, str(caught.exception))
        self.assertNotIn("\n", str(caught.exception))

    def test_energies_and_pictures_are_on_the_page(self):
        text = self.page()
        for words in ("<h2>Radiation</h2>", "157.9\u2009µJ from 1 to 3\u2009THz",
                      "not computed in the band from 1 to 5\u2009THz", "up to 4\u2009THz",
                      "at 1 of 4 frequencies", "per solid angle"):
            self.assertIn(words, text)
        self.assertNotIn("not that of this run", text)
        (self.place / "spectrum.h5").unlink()
        less = self.page()
        self.assertIn("<h2>Radiation</h2>", less)
        self.assertEqual(len(re.findall("src=", text)) - len(re.findall("src=", less)), 1)

    def test_energy_by_direction(self):
        """The trapezium rule is exact for what is linear in omega; NaN is absent, not zero."""
        seen = radiation.read_radiation(self.place).directions
        np.testing.assert_allclose(seen.energy, self.energy, rtol=1e-12)
        np.testing.assert_allclose(seen.theta[[0, -1]], [-1e-3, 1e-3])

    def test_what_is_known_is_drawn_with_a_line(self):
        found = radiation.read_radiation(self.place)
        figure = pictures.draw_spectrum(found)
        curves = {curve.get_label(): curve for curve in figure.axes[0].get_lines()}
        for name, count in (("coherent", 3), ("coherent, below the noise", 4), ("incoherent", 4),
                            ("noise of the macro-particles", 6)):
            self.assertEqual(np.isfinite(curves[name].get_ydata()).sum(), count, name)
        np.testing.assert_allclose(curves["coherent"].get_xdata(), [1, 1.5, 2, 3, 5, 8])
        shades = {one.get_label() for one in figure.axes[0].patches}
        self.assertEqual(shades, {"not resolved by the grid", "band: energy not known"})

    def test_directions_are_a_map_a_line_or_nothing(self):
        for shape, lines, maps in (((3, 4), 0, 1), ((1, 4), 1, 0), ((3, 1), 1, 0)):
            write_spectrum(self.place, *shape)
            axis = pictures.draw_directions(radiation.read_radiation(self.place)).axes[0]
            self.assertEqual((len(axis.get_lines()), len(axis.collections)), (lines, maps), shape)
        write_spectrum(self.place, 1, 1)
        self.assertIsNone(pictures.draw_directions(radiation.read_radiation(self.place)))
        self.assertNotIn("per solid angle", self.page())

    def test_the_spectrum_of_another_input_is_named(self):
        with h5py.File(self.place / "spectrum.h5", "r+") as file:
            file.attrs["input"] = np.bytes_(INPUT.replace("1e-09", "2e-09"))
        self.assertIn("beam.charge_C is 2e-09 there and 1e-09 here", self.page())

    def test_loss_is_that_of_a_whole_self_consistent_run(self):
        one, found = read.read_run(self.place), radiation.read_radiation(self.place)
        self.assertTrue(np.isnan(radiation.loss(one, found)))  # no motion in its input
        for values in (one.values, found.directions.values):
            values["motion"] = "self-consistent"
        # 1.99e5 eV/m over 0.8 m, 1 nC
        self.assertAlmostEqual(radiation.loss(one, found) / (1.99e5 * 0.8 * 1e-9), 1, 6)
        self.assertIn("that the self-field took", page.radiation_words(one, found))
        one.elements = found.directions.elements = [lattice.Element("d", "Drift", 0.0, 2.0)]
        one.values["numerics.step_m"] = found.directions.values["numerics.step_m"] = "0.02"
        self.assertTrue(np.isnan(radiation.loss(one, found)))  # ends at 0.8 m of 2 m

    def test_a_spectrum_alone_has_a_page(self):
        for name in ("monitor.csv", "resolved.yaml"):
            (self.place / name).unlink()
        text = self.page()
        for words in ("<h1>LCLS bend</h1>", "arcwake 0.1.0 · 5.11\u2009GeV", "Radiation"):
            self.assertIn(words, text)

    def test_broken_ones_are_refused_in_one_line(self):
        table = (self.place / "spectrum.csv").read_text(encoding="utf-8")
        for name, text, words in (
                ("spectrum.csv", table + "9e12,1,", "spectrum.csv:8: 3 cells"),
                ("spectrum.csv", table.replace("1e-25", "much", 1), "much"),
                ("spectrum.csv", "wavelength;power\n1;2\n", "no column frequency_Hz"),
                ("spectrum.csv", table.splitlines()[0], "no rows"),
                ("spectrum.csv", "", "no column"),
                ("spectrum.csv", "\0\1", "spectrum.csv"),
                ("spectrum.csv", table.replace("\n2e+12", "\n1e+12"), "do not rise"),
                ("spectrum.csv", table.replace("\n2e+12", "\n2.1e+12"), "spectrum.h5"),
                ("spectrum.json", "{", "spectrum.json"), ("spectrum.json", "[1]", "spectrum.json"),
                ("spectrum.json", '{"gamma": 1}', "no frequency_resolved_Hz"),
                ("spectrum.json", '{"gamma": "much"}', "much"),
                ("spectrum.h5", "no HDF5", "spectrum.h5")):
            whole = (self.place / name).read_bytes()
            (self.place / name).write_text(text, encoding="utf-8")
            self.refused(words)
            (self.place / name).write_bytes(whole)
        with h5py.File(self.place / "spectrum.h5", "r+") as file:
            del file["data/0/meshes/coherent"]
        self.refused("spectrum.h5")
        (self.place / "spectrum.json").unlink()
        self.refused("spectrum.json")
        status, line = run(self.place)
        self.assertEqual((status, line.count("\n")), (4, 1), line)
        self.assertFalse((self.place / "report.html").exists())


class Broken(unittest.TestCase):
    def setUp(self):
        self.copy = DIRECTORY / "broken"
        shutil.copytree(DIRECTORY, self.copy, ignore=shutil.ignore_patterns("broken", "report*"))

    def tearDown(self):
        shutil.rmtree(self.copy)

    def refused(self, directory, *words, by=run):
        code, text = by(directory)
        self.assertEqual(code, 4, text)
        self.assertEqual(text.count("\n"), 1, text)
        for word in words:
            self.assertIn(word, text)
        self.assertFalse((directory / "report.html").exists())

    def test_missing_directory(self):
        self.refused(self.copy / "none", "none", "no such directory", by=command)

    def test_empty_directory(self):
        (self.copy / "empty").mkdir()
        self.refused(self.copy / "empty", "no run to report on")

    def test_header_without_rows_and_no_meshes(self):
        shutil.rmtree(self.copy / "diag")
        monitor = self.copy / "monitor.csv"
        monitor.write_text(monitor.read_text().splitlines()[0] + "\n")
        self.refused(self.copy, "no run to report on")

    def test_truncated_mesh_file(self):
        mesh = self.copy / "diag" / "arcwake_00000040.h5"
        mesh.write_bytes(mesh.read_bytes()[:5000])
        self.refused(self.copy, "arcwake_00000040.h5", by=command)  # and HDF5 is silent

    def test_flipped_bits_in_a_mesh_file(self):
        mesh = self.copy / "diag" / "arcwake_00000040.h5"
        with h5py.File(mesh) as file:
            at = file["data/40/meshes/rho"].id.get_chunk_info(0).byte_offset
        data = bytearray(mesh.read_bytes())
        data[at + 100] ^= 1
        mesh.write_bytes(data)
        self.refused(self.copy, "arcwake_00000040.h5")

    def test_something_else_under_the_name_of_a_mesh_file(self):
        with h5py.File(self.copy / "diag" / "arcwake_00000040.h5", "w") as file:
            file["table"] = [1, 2]
        self.refused(self.copy, "arcwake_00000040.h5")

    def test_half_row_and_words_in_the_monitor(self):
        monitor = self.copy / "monitor.csv"
        good = monitor.read_text()
        monitor.write_text(good + "41,1.0,2.")
        self.refused(self.copy, "monitor.csv:43")
        monitor.write_text(good.replace("\n1,", "\none,", 1))
        self.refused(self.copy, "monitor.csv", "one")
        monitor.write_text(good.replace("sigma_s_m", "sigma", 1))
        self.refused(self.copy, "no column sigma_s_m")


class LineModel(unittest.TestCase):
    """The sample as a run with forces: line: without F_eff, with half the force."""

    def setUp(self):
        self.line = DIRECTORY / "line"
        shutil.copytree(DIRECTORY, self.line, ignore=shutil.ignore_patterns("line", "report*"))
        resolved = self.line / "resolved.yaml"
        resolved.write_text(resolved.read_text() + "forces: line\nline:\n  model: transient\n")
        for path in (self.line / "diag").glob("*.h5"):
            with h5py.File(path, "r+") as file:
                ((_, one),) = file["data"].items()
                del one["meshes/F_eff"]
                one["meshes/F/z"][...] *= 0.5

    def tearDown(self):
        shutil.rmtree(self.line)

    def test_a_line_run_has_a_report_of_its_own(self):
        self.assertEqual(run(self.line), (0, ""))
        text = (self.line / "report.html").read_text(encoding="utf-8")
        self.assertIn("of a line bunch, transient", text)
        self.assertNotIn("Evaluations of the retarded integrand", text)

    def test_it_is_drawn_beside_a_full_run(self):
        self.assertEqual(run(DIRECTORY, f"--line={self.line}"), (0, ""))
        text = (DIRECTORY / "report.html").read_text(encoding="utf-8")
        self.assertIn("<th>line model, last step</th>", text)
        self.assertIn("Dashed, in the colour of the place", text)
        one = read.read_run(DIRECTORY)
        places = [mesh.frame.s_ref for mesh in one.meshes]
        line = read.read_line_run(self.line, places)
        self.assertEqual([mesh.frame.s_ref for mesh in line.meshes], places)
        self.assertEqual(read.read_line_run(self.line, [places[0] + 0.002]).meshes, [])
        figure = pictures.draw_forces(one.meshes, line.meshes)
        curves = [curve for curve in figure.axes[0].get_lines() if len(curve.get_xdata()) == 401]
        self.assertEqual(len(curves), 2 * len(places))
        for k in range(len(places)):  # all own curves, then all of the line
            own, other = (curves[k + n].get_ydata() for n in (0, len(places)))
            np.testing.assert_allclose(other, 0.5 * own, rtol=1e-12)
            self.assertEqual(curves[k].get_color().tolist(),
                             curves[k + len(places)].get_color().tolist())

    def test_what_is_no_line_run_is_refused(self):
        for given, words in ((DIRECTORY, "forces: line"), (DIRECTORY / "none", "no such")):
            code, text = run(self.line, f"--line={given}")
            self.assertEqual((code, text.count("\n")), (4, 1), text)
            self.assertIn(words, text)


class Coordinates(unittest.TestCase):
    """Files to the coordinates of the design orbit."""

    def test_particles_of_the_sample_are_on_the_design_orbit(self):
        run = read.read_run(DIRECTORY)
        bunch = run.bunches[-1]
        i = np.arange(500)
        r = 50e-6 * np.sqrt((i + 0.5) / 500)
        x, z = r * np.cos(0.1 * i), r * np.sin(0.1 * i)  # of sample.c, in the design frame
        # the orbit's sagitta and x kappa s are (50 um)^2 / 25 m = 1e-10 m
        np.testing.assert_allclose(bunch.s, z, rtol=0, atol=2e-10)
        np.testing.assert_allclose(bunch.x, x, rtol=0, atol=2e-10)
        pz, px = 1 + 1e-4 * np.cos(0.3 * i), 1e-5 * np.sin(0.2 * i)
        # slope: the tangent turns by kappa s = 2e-6 along the bunch
        np.testing.assert_allclose(bunch.ux / bunch.us, px / pz, rtol=0, atol=3e-6)

    def test_axes_of_the_record_do_not_matter(self):
        """The same bunch along a tilted grid's axes and in the design frame."""
        rng = np.random.default_rng(1)
        x, z, px, pz = rng.normal(0, [[2e-3], [1e-4], [0.1], [10]], (4, 1000))
        pz += 1e4

        def turn(angle):
            c, s = np.cos(angle), np.sin(angle)
            return np.array([[c, 0, s], [0, 1, 0], [-s, 0, c]])

        def of(tilt):
            to = turn(tilt)  # along axes that are turned by the tilt
            frame = beam.Frame(np.array([0.3, 0, 5.0]), turn(-0.2 + tilt), turn(-0.2), 5.0, 0.1,
                               1e4)
            (a, b), (pa, pb) = ((to[0, 0] * u + to[2, 0] * v, to[0, 2] * u + to[2, 2] * v)
                                for u, v in ((x, z), (px, pz)))
            return beam.Bunch.from_record(frame, (a, b), (pa, pb), 1e-12, step=0)

        straight, tilted = of(0.0), of(1.5)
        for name in ("s", "x", "ux", "us"):
            # rounding of lab coordinates of 5 m, of momenta of 1e4
            scale = 1e-14 if name in "sx" else 1e-11
            np.testing.assert_allclose(getattr(tilted, name), getattr(straight, name), rtol=0,
                                       atol=scale)
        # s of the circle of radius 10 m: r sin(angle) = z on it
        np.testing.assert_allclose(straight.s, 10 * np.arctan2(z, 10 + x), rtol=0, atol=1e-13)
        np.testing.assert_allclose(straight.x, np.hypot(z, 10 + x) - 10, rtol=0, atol=1e-13)

    def test_tilted_mesh_shows_the_bunch_upright(self):
        """rho of a round Gaussian on a tilted grid; its line charge is that of sigma = 50 um."""
        mesh = read.read_run(DIRECTORY).meshes[-1]
        s, x, sigma_s, sigma_x, slope = mesh.moments()
        self.assertAlmostEqual(np.corrcoef(mesh.node_s[0], mesh.z)[0, 1], 1, 9)
        # the grid ends at 3.9 and 4.6 sigma: exp(-3.9^2/2) 3.9 = 2e-3 of the second moment
        np.testing.assert_allclose([sigma_s, sigma_x], 50e-6, rtol=4e-3)
        np.testing.assert_allclose([s, x], 0, atol=1e-10)
        self.assertLess(abs(slope), 2e-3)
        at, charge = mesh.line_charge()
        self.assertAlmostEqual(charge.sum() * (at[1] - at[0]) / 1e-9, 1, 3)  # tails off the grid
        # a node's charge goes to two bins of its distance: 2 % broader at 5 cells per sigma
        self.assertAlmostEqual(charge.max() * np.sqrt(2 * np.pi) * 50e-6 / 1e-9, 1, delta=0.03)

    def test_field_on_the_axis(self):
        """A field that is linear in s and x comes back exactly; outside the grid it is NaN."""
        frame = beam.Frame(np.zeros(3), np.eye(3), np.eye(3), 0.0, 0.0, 1e4)
        x, z = (np.arange(24) - 11.5) * 2e-5, (np.arange(40) - 19.5) * 1e-5
        u, w = np.meshgrid(z, x)
        rho = np.exp(-0.5 * ((u / 4e-5) ** 2 + ((w - 0.5 * u) / 4e-5) ** 2))
        mesh = beam.Mesh(0, frame, x, z, rho, 3 * u + 7 * w, 0 * u)
        got = mesh.along(mesh.force_z, np.array([0.0, 3e-5, -5e-5, 1e-3]))
        slope = mesh.moments()[4]
        self.assertAlmostEqual(slope, 0.5, delta=1e-3)  # tails off the grid
        want = (3 + 7 * slope) * np.array([0.0, 3e-5, -5e-5])
        np.testing.assert_allclose(got[:3], want, rtol=0, atol=1e-15)
        self.assertTrue(np.isnan(got[3]))


class Bunches(unittest.TestCase):
    def bunch(self, n=200000, chirp=-36.0, tilt=0.3):
        """Gaussian: sigma_s 200 um, normalised emittance 1 um, chirp, tilt, spread 2e-6."""
        rng = np.random.default_rng(7)
        s, x, u, d = rng.normal(size=(4, n))
        s, gamma = 200e-6 * s, 1e4
        d = chirp * s + 2e-6 * d
        ux = 2e-2 * u + 200.0 * x * 0.01  # <x u> does not change the emittance
        us = np.sqrt((gamma * (1 + d)) ** 2 - 1 - ux**2)
        return beam.Bunch(0, 0.0, gamma, s, 50e-6 * x + tilt * s, ux, us, np.full(n, 1e-9 / n))

    def test_current_integrates_to_the_charge(self):
        s, amperes = beam.current(self.bunch())
        speed = beam.LIGHT * np.sqrt(1 - 1e-8)
        self.assertAlmostEqual(amperes.sum() * (s[1] - s[0]) / speed / 1e-9, 1, 10)  # of s: 1e-12
        # Q c / (sqrt(2 pi) sigma); the largest of 25 bins of 3200 particles, 1.8 % each
        self.assertAlmostEqual(amperes.max() / 597.99, 1, delta=0.06)

    def test_slices_of_a_chirped_tilted_bunch(self):
        cut = beam.slices(self.bunch())
        core = np.abs(cut.s) < 300e-6
        # 2000 particles or more in a slice: rms error 1/sqrt(2 n) = 1.6 %, five of them
        np.testing.assert_allclose(cut.emittance[core], 1e-6, rtol=0.08)
        np.testing.assert_allclose(cut.spread[core], 2e-6 * 1e4 * 510998.95, rtol=0.08)
        np.testing.assert_allclose(cut.delta[core], -36 * cut.s[core], rtol=0, atol=3e-5)
        np.testing.assert_allclose(cut.current[core], 597.99 * np.exp(
            -0.5 * (cut.s[core] / 200e-6) ** 2), rtol=0.1)
        few = beam.slices(self.bunch(n=2000))
        self.assertTrue(np.isnan(few.emittance[0]))  # fewer than 100 in the tail

    def test_emittance_is_normalised(self):
        rows = {"energy_change_mean_eV": np.array([0.0, -511e6]),
                "emittance_x_m": np.array([1e-10, 2e-10]),
                "emittance_x_dispersion_free_m": np.array([1e-10, 1e-10])}
        plain, free = beam.normalised(rows, 1e4)
        np.testing.assert_allclose(plain, [1e-6, 1.8e-6], rtol=1e-6)  # gamma 1e4, 9000
        np.testing.assert_allclose(free, [1e-6, 0.9e-6], rtol=1e-6)


class Panels(unittest.TestCase):
    """What is drawn along S."""

    def titles(self, motion, noise):
        steps = 11
        columns = {name: np.full(steps, np.nan) for name in read.COLUMNS}
        columns["s_ref_m"] = np.linspace(0, 1, steps)
        columns.update(sigma_s_m=np.full(steps, 5e-5), sigma_x_m=np.full(steps, 5e-5),
                       emittance_x_m=1e-18 * noise, emittance_x_dispersion_free_m=1e-18 * noise,
                       energy_change_mean_eV=1e-6 * noise, energy_change_rms_eV=1e-6 * noise)
        run = read.Run(columns, {"motion": motion} if motion else {}, gamma=1e4)
        return [title for _, _, title, _ in pictures.panels_of(run)], run

    def test_rounding_noise_is_not_drawn(self):
        noise = np.random.default_rng(3).random(11)
        for motion in ("rigid", "external", ""):
            titles, run = self.titles(motion, noise)
            self.assertEqual(titles, [], motion)
            self.assertIsNone(pictures.draw_evolution(run))

    def test_what_changes_is_drawn(self):
        titles, _ = self.titles("self-consistent", 1e9 * np.arange(1, 12))
        self.assertEqual(len(titles), 3, titles)  # energy, emittance, without dispersion

    def test_error_is_not_zero_and_says_which(self):
        nan = np.full(2, np.nan)
        sampled = {"error_estimate": np.array([4.8e-5, 3e-5]), "error_sampled": nan}
        ((_, text),) = page.error_rows(sampled, "1e-06")
        for words in ("3.0e-05", "4.8e-05", "estimated", "1e-06"):
            self.assertIn(words, text)
        sampled["error_sampled"] = np.array([1e-4, np.nan])
        ((_, text),) = page.error_rows(sampled, "")
        self.assertIn("1.0e-04", text)
        self.assertIn("sampled", text)
        ((_, text),) = page.error_rows({"error_estimate": nan, "error_sampled": nan}, "")
        self.assertEqual(text, "not computed")


class Lattices(unittest.TestCase):
    TEXT = """
PALS:
  version: null
  facility:
    - d1: {kind: Drift, length: 0.5}       # {not: this}
    - b1: {kind: RBend, length: 0.4, BendP: {angle_ref: 0.05}}
    - b2: {inherit: b1, BendP: {angle_ref: -0.05}}
    - q1:
        kind: Quadrupole
        length: 0.2
        MagneticMultipoleP: {Kn1L: -0.3}
    - cell: {kind: BeamLine, line: [d1, b1,
        d1, b2]}
    - all:
        kind: BeamLine
        line:
          - start: {kind: BeginningEle, ReferenceP: {species_ref: electron, E_tot_ref: 5.0e9}}
          - cell: {repeat: 2}
          - q1
          - c: {kind: Bend, BendP: {radius_ref: -10.0, L_rectangle: 0.5}}
          - end: {kind: Marker}
    - machine: {kind: Lattice, branches: [all]}
"""

    def test_elements_of_lines_and_repeats(self):
        parts = lattice.elements(plain_yaml.parse(self.TEXT))
        self.assertEqual([one.name for one in parts], ["d1", "b1", "d1", "b2"] * 2 + ["q1", "c"])
        self.assertAlmostEqual(parts[1].curvature, 0.125, 14)
        self.assertAlmostEqual(parts[3].curvature, -0.125, 14)
        self.assertAlmostEqual(parts[8].strength, -1.5, 14)
        self.assertAlmostEqual(parts[9].begin, 3.8, 14)
        self.assertAlmostEqual(parts[9].length, 10 * np.arcsin(0.05), 14)

    def test_elements_defined_in_a_line_can_be_named_again(self):
        text = self.TEXT.replace("          - end: {kind: Marker}\n", """\
          - half:
              kind: BeamLine
              line:
                - b3: {inherit: b1, length: 0.3}
          - c
          - b3
          - s: {kind: Sextupole, length: 0.2, MagneticMultipoleP: {Kn2: 15.0}}
          - s: {length: 0.1}
""")
        parts = lattice.elements(plain_yaml.parse(text))[9:]
        self.assertEqual([one.name for one in parts], ["c", "b3", "c", "b3", "s", "s"])
        self.assertEqual([one.length for one in parts[4:]], [0.2, 0.1])
        self.assertEqual(parts[2].length, parts[0].length)
        self.assertAlmostEqual(parts[3].curvature, 0.05 / 0.3, 14)

    def test_orbit_of_a_lattice(self):
        """A dog-leg is parallel again; projection is the inverse of a point beside the orbit."""
        parts = lattice.elements(plain_yaml.parse(self.TEXT))[:4]
        orbit = lattice.Orbit.of_elements(parts)
        z, x, direction, curvature = orbit.at(np.array([-0.3, 0.7, 2.5]))
        self.assertAlmostEqual(z[0], -0.3, 14)
        self.assertAlmostEqual(x[1], -8 * (1 - np.cos(0.2 / 8)), 14)
        self.assertEqual(curvature[1], 0.125)
        self.assertAlmostEqual(direction[2], 0, 14)
        s, across = orbit.project(z - 1e-3 * np.sin(direction), x + 1e-3 * np.cos(direction),
                                  np.array([-0.299, 0.699, 2.501]))
        np.testing.assert_allclose(s, [-0.3, 0.7, 2.5], rtol=0, atol=1e-14)
        np.testing.assert_allclose(across, 1e-3, rtol=0, atol=1e-14)

    def test_path_mapping_neither_or_broken(self):
        (DIRECTORY / "some.pals.yaml").write_text(self.TEXT)
        inside = "\n".join("  " + line for line in self.TEXT.splitlines())
        for given in ("lattice: some.pals.yaml\n", f"lattice:{inside}\n"):
            values, parts, note = read.read_input("motion: rigid\n" + given, DIRECTORY)
            self.assertEqual((len(parts), note, values["motion"]), (10, "", "rigid"))
        self.assertEqual(read.read_input("motion: rigid\n", DIRECTORY)[1:], ([], ""))
        (DIRECTORY / "some.pals.yaml").write_text("PALS: {facility: [a, {b: 1}]}\n")
        for given in ("some.pals.yaml", "gone.yaml"):
            _, parts, note = read.read_input(f"lattice: {given}\n", DIRECTORY)
            self.assertEqual(parts, [])
            self.assertIn("not drawn", note)
        (DIRECTORY / "some.pals.yaml").unlink()


class SteadyState(unittest.TestCase):
    def test_gaussian_of_the_LCLS_bend(self):
        """R = 25.13 m, 50 um, 1 nC; closed-form numbers for s/sigma = -3 .. 3 [eV/m]."""
        sigma = 50e-6
        s = np.linspace(-6, 6, 97) * sigma  # 8 cells per sigma
        charge = 1e-9 * np.exp(-0.5 * (s / sigma) ** 2) / (np.sqrt(2 * np.pi) * sigma)
        at = np.arange(-3, 4) * 8 + 48
        along, across = beam.steady_forces(s, charge, 1 / 25.13)
        want = [-6.902e3, -7.430e4, -2.7593e5, -3.1639e5, -3.381e4, 1.0223e5, 7.543e4]
        # fourth-order slope and piecewise linear lambda' at 8 cells per sigma: 3e-3 of the maximum
        np.testing.assert_allclose(along[at], want, rtol=0, atol=3e-3 * 3.5e5)
        want = [-63.4, -772.4, -3461.6, -5707.2, -3461.6, -772.4, -63.4]
        np.testing.assert_allclose(across[at], want, rtol=1e-3)  # digits of the reference
        turned = beam.steady_forces(s, charge, -1 / 25.13)
        np.testing.assert_array_equal(turned[0], along)  # a bend to the left costs the same
        np.testing.assert_array_equal(turned[1], -across)

    def test_error_falls_with_the_spacing(self):
        errors = []
        for cells in (4, 8, 16):
            s = np.linspace(-6, 6, 12 * cells + 1) * 50e-6
            charge = 1e-9 * np.exp(-0.5 * (s / 50e-6) ** 2) / (np.sqrt(2 * np.pi) * 50e-6)
            along, _ = beam.steady_forces(s, charge, 1 / 25.13)
            errors.append(abs(along[7 * cells] / -3.381e4 - 1))  # at s = sigma
        self.assertLess(errors[2], 0.25 * errors[0])  # at least first order over two halvings


class Numbers(unittest.TestCase):
    def test_prefixes(self):
        for value, words in ((5e-5, "50\u2009µm"), (1e-3, "1\u2009mm"), (-0.9999, "-999.9\u2009mm"),
                             (1.0, "1\u2009m"), (0.0, "0\u2009m"),
                             (0.9999996e-9, "1\u2009nm"), (float("nan"), "not computed")):
            self.assertEqual(page.in_words(value, "m"), words)

    def test_input_of_blocks_and_lists(self):
        text = ("title: 'a: b'\nbeam:\n  gamma: 1e4  # mean\noutput:\n  at_m:\n    - 0.2\n"
                "    - 0.5\n  grid: [64, 64]\n  every: 10\ndevice: auto\n")
        self.assertEqual(plain_yaml.flatten(plain_yaml.parse(text)),
                         {"title": "a: b", "beam.gamma": "1e4", "output.at_m": "0.2, 0.5",
                          "output.grid": "64, 64", "output.every": "10", "device": "auto"})
        with self.assertRaises(ValueError):
            plain_yaml.parse("a: &anchor 1\n")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "-v"])
