# SPDX-License-Identifier: GPL-3.0-or-later
"""tools/report.py on a good directory, on broken ones, and its 1D curves against known numbers.

usage: test_report.py DIRECTORY   (of python.c)
"""
import re
import shutil
import subprocess
import sys
import unittest
from pathlib import Path

TOOLS = Path(__file__).resolve().parents[2] / "tools"
sys.path.insert(0, str(TOOLS))
sys.dont_write_bytecode = True

try:
    import h5py
    import numpy as np
except ImportError as problem:
    print(f"skipped: {problem} (tools/requirements.txt lists what is needed)")
    sys.exit(77)
try:
    import report
except SystemExit:  # it has said which package it misses
    print("skipped: a package of tools/requirements.txt is missing")
    sys.exit(77)

DIRECTORY = Path(sys.argv[1]).absolute()


def run(directory):
    done = subprocess.run([sys.executable, TOOLS / "report.py", "--", directory],
                          capture_output=True, text=True, check=False)
    return done.returncode, done.stderr


class Good(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.result = run(DIRECTORY)
        cls.page = (DIRECTORY / "report.html").read_text(encoding="utf-8")

    def test_it_is_made_without_a_word(self):
        self.assertEqual(self.result, (0, ""))
        self.assertEqual((DIRECTORY / "forces.png").read_bytes()[:8], b"\x89PNG\r\n\x1a\n")
        self.assertEqual(list(DIRECTORY.rglob("*.tmp")), [])

    def test_it_is_one_self_contained_file(self):
        sources = re.findall(r'(?:src|href)="([^"]{0,40})', self.page)
        self.assertEqual(len(sources), 4)  # forces, maps, evolution, time
        for source in sources:
            self.assertTrue(source.startswith("data:image/"), source)
        self.assertNotIn("<script", self.page)

    def test_title_from_the_input_is_escaped(self):
        self.assertIn("<h1>LCLS bend &lt;sample&gt; &amp; more</h1>", self.page)
        self.assertIn("<td>beam.charge_C</td>", self.page)
        self.assertNotIn("facility", self.page)  # the lattice is no table of values

    def test_last_row_is_in_the_table_with_units(self):
        for words in ("800\u2009mm", "1\u2009nC", "-159.2\u2009keV", "46\u2009µm",
                      "-199\u2009keV/m", "1\u2009000\u2009000", "not computed"):
            self.assertIn(words, self.page)

    def test_each_half_alone_is_enough(self):
        for gone in ("diag", "monitor.csv"):
            copy = DIRECTORY / "half"
            shutil.copytree(DIRECTORY, copy, ignore=shutil.ignore_patterns("half", gone))
            self.assertEqual(run(copy), (0, ""), gone)
            shutil.rmtree(copy)


class Broken(unittest.TestCase):
    def setUp(self):
        self.copy = DIRECTORY / "broken"
        shutil.copytree(DIRECTORY, self.copy, ignore=shutil.ignore_patterns("broken", "report*"))

    def tearDown(self):
        shutil.rmtree(self.copy)

    def refused(self, directory, *words):
        code, text = run(directory)
        self.assertEqual(code, 4, text)
        self.assertEqual(text.count("\n"), 1, text)
        for word in words:
            self.assertIn(word, text)
        self.assertFalse((directory / "report.html").exists())

    def test_missing_directory(self):
        self.refused(self.copy / "none", "none", "no such directory")

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
        self.refused(self.copy, "arcwake_00000040.h5")

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


class SteadyState(unittest.TestCase):
    def test_gaussian_of_the_LCLS_bend(self):
        """R = 25.13 m, 50 um, 1 nC; closed-form numbers for s/sigma = -3 .. 3 [eV/m]."""
        sigma = 50e-6
        s = np.linspace(-6, 6, 97) * sigma  # 8 cells per sigma
        charge = 1e-9 * np.exp(-0.5 * (s / sigma) ** 2) / (np.sqrt(2 * np.pi) * sigma)
        at = np.arange(-3, 4) * 8 + 48
        along, across = report.steady_forces(s, charge, 1 / 25.13)
        want = [-6.902e3, -7.430e4, -2.7593e5, -3.1639e5, -3.381e4, 1.0223e5, 7.543e4]
        # fourth-order slope and piecewise linear lambda' at 8 cells per sigma: 3e-3 of the maximum
        np.testing.assert_allclose(along[at], want, rtol=0, atol=3e-3 * 3.5e5)
        want = [-63.4, -772.4, -3461.6, -5707.2, -3461.6, -772.4, -63.4]
        np.testing.assert_allclose(across[at], want, rtol=1e-3)  # digits of the reference
        turned = report.steady_forces(s, charge, -1 / 25.13)
        np.testing.assert_array_equal(turned[0], along)  # a bend to the left costs the same
        np.testing.assert_array_equal(turned[1], -across)

    def test_error_falls_with_the_spacing(self):
        errors = []
        for cells in (4, 8, 16):
            s = np.linspace(-6, 6, 12 * cells + 1) * 50e-6
            charge = 1e-9 * np.exp(-0.5 * (s / 50e-6) ** 2) / (np.sqrt(2 * np.pi) * 50e-6)
            along, _ = report.steady_forces(s, charge, 1 / 25.13)
            errors.append(abs(along[7 * cells] / -3.381e4 - 1))  # at s = sigma
        self.assertLess(errors[2], 0.25 * errors[0])  # at least first order over two halvings


class Numbers(unittest.TestCase):
    def test_prefixes(self):
        for value, words in ((5e-5, "50\u2009µm"), (1e-3, "1\u2009mm"), (-0.9999, "-999.9\u2009mm"),
                             (1.0, "1\u2009m"), (0.0, "0\u2009m"), (float("nan"), "not computed")):
            self.assertEqual(report.in_words(value, "m"), words)

    def test_axis_between_two_rows(self):
        x = (np.arange(4) - 1.5) * 2e-5
        mesh = report.Mesh(0, 0, 0, 1, "", "", np.zeros(1), x, None, None, None)
        np.testing.assert_allclose(mesh.on_axis((3 * x + 5)[:, None]), [5.0], rtol=1e-14)
        mesh.x = np.array([-1.0, 0.0, 1.0])
        np.testing.assert_array_equal(mesh.on_axis(np.array([[1.0], [2.0], [4.0]])), [2.0])

    def test_input_of_blocks_and_lists(self):
        path = DIRECTORY / "some.yaml"
        path.write_text("title: 'a: b'\nbeam:\n  gamma: 1e4  # mean\noutput:\n  at_m:\n    - 0.2\n"
                        "    - 0.5\n  every: 10\ndevice: auto\n")
        self.assertEqual(report.read_input(path),
                         {"title": "a: b", "beam.gamma": "1e4", "output.at_m": "0.2, 0.5",
                          "output.every": "10", "device": "auto"})
        path.unlink()


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "-v"])
