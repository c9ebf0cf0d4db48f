# SPDX-License-Identifier: GPL-3.0-or-later
"""arcwake.run: files and dicts, errors, ^C, threads, programs that are killed.

usage: test_run.py DIRECTORY    with ARCWAKE_PROGRAM, the program
"""
import contextlib
import io
import os
import pickle
import re
import signal
import subprocess
import sys
import textwrap
import threading
import time
import unittest
import warnings
from pathlib import Path

from case import LATTICE, SCRATCH, arcwake, case, full, np, same  # puts the package in the path
from arcwake._document import changed

SLOW = {"numerics.step_m": 0.005}  # 1201 steps: seconds, in which a run can be stopped


def process_of(directory):
    """The program that writes there, as its lock says, or None."""
    try:
        words = (Path(directory) / "run.lock").read_text(encoding="utf-8").split()
    except FileNotFoundError:
        return None
    return next(int(word) for word in words if word.isdigit())


def alive(pid):
    try:
        state = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8")
        return state.rsplit(")", 1)[1].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


class Inputs(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.reference = arcwake.run(case("reference"))

    def test_the_whole_lattice_is_run(self):
        self.assertEqual(len(self.reference.monitor["step"]), 151)
        self.assertAlmostEqual(self.reference.monitor["s_ref_m"][-1], 6.0, places=6)
        self.assertIsNone(self.reference.stopped)

    def test_a_file_and_a_dict_are_the_same_run(self):
        resolved = SCRATCH / "reference" / "resolved.yaml"
        again = arcwake.run(resolved, directory=SCRATCH / "of_file")
        self.assertTrue(same(again.monitor, self.reference.monitor))
        # a relative path of a file begins at the file, one of a dict at the working directory
        os.makedirs(SCRATCH / "below", exist_ok=True)
        (SCRATCH / "below" / "machine.yaml").write_bytes(LATTICE.read_bytes())
        before = os.getcwd()
        try:
            os.chdir(SCRATCH)
            relative = arcwake.run({**case("of_dict"), "lattice": "below/machine.yaml"})
        finally:
            os.chdir(before)
        self.assertTrue(same(relative.monitor, self.reference.monitor))

    def test_tables_of_wakes_of_a_dict_begin_at_the_working_directory(self):
        wakes = [{"file": "wake.txt", "kind": "taylor"}]
        source, settings = changed({"wakes": wakes}, {"wakes": wakes})
        for document in source, settings:
            self.assertEqual(document["wakes"][0]["file"], os.path.abspath("wake.txt"))
        self.assertEqual(wakes[0]["file"], "wake.txt")

    def test_the_lattice_may_be_in_the_dict(self):
        bend = {"kind": "SBend", "length": 5.0, "BendP": {"g_ref": np.float64(1 / 25.13)}}
        line = [{"begin": {"kind": "BeginningEle", "ReferenceP": {
            "species_ref": "electron", "E_tot_ref": 5.1099895e9}}}, {"b": bend}]
        lattice = {"PALS": {"version": None, "facility": [
            {"line": {"kind": "BeamLine", "line": line}},
            {"m": {"kind": "Lattice", "branches": ["line"]}}]}}
        inside = {**case("inside"), "lattice": lattice}
        found = arcwake.run(inside)
        self.assertAlmostEqual(found.elements[0].curvature * 25.13, 1.0, places=12)
        # and one of its elements be set: with twice the curvature, 2^(2/3) of the loss per metre
        # at places where the field has reached the steady state, of which 5 m are the most
        stronger = arcwake.run(inside, directory=SCRATCH / "stronger", set={
            "lattice.b.BendP.g_ref": 2 / 25.13, "numerics.step_m": 0.025})
        ratio = (stronger.monitor["F_s_mean_eV_per_m"][-1]
                 / found.monitor["F_s_mean_eV_per_m"][-1])
        self.assertAlmostEqual(ratio, 2 ** (2 / 3), delta=0.03)  # 0.004 seen: the bunch changes
        self.assertEqual(bend["BendP"]["g_ref"], 1 / 25.13)  # the caller's dict is as it was
        with self.assertRaisesRegex(arcwake.ArcwakeError, "0 elements are called 'x'"):
            arcwake.run(inside, set={"lattice.x.length": 1.0})

    def test_settings_may_name_a_lattice_and_change_it(self):
        name = re.search(r"- (\w+): \{kind: S?Bend", LATTICE.read_text(encoding="utf-8"))[1]
        before = os.getcwd()
        try:
            os.chdir(LATTICE.parent)
            for source in (case("named"), {**case("named"), "lattice": "no-such.yaml"}):
                found = arcwake.run(source, force=True, set={
                    "lattice": LATTICE.name, f"lattice.{name}.BendP.g_ref": 0.05})
                bend = next(one for one in found.elements if one.curvature)
                self.assertAlmostEqual(bend.curvature, 0.05, places=12)
        finally:
            os.chdir(before)

    def test_settings_are_the_programs(self):
        halved = arcwake.run(case("set"), set={"beam.charge_C": np.float64(0.5e-9),
                                               "numerics.grid": (48, 16)}, threads=1)
        self.assertEqual(halved.input["numerics.grid"], "48, 16")
        self.assertAlmostEqual(halved.monitor["charge_C"][0] / 0.5e-9, 1.0, places=9)
        chosen = arcwake.run(case("x"), set={"output.directory": SCRATCH / "elsewhere"})
        self.assertEqual(chosen.directory, SCRATCH / "elsewhere")


class Errors(unittest.TestCase):
    def refused(self, words, *arguments, **options):
        with self.assertRaises(arcwake.ArcwakeError) as caught:
            arcwake.run(*arguments, **options)
        self.assertRegex(str(caught.exception), words)
        return caught.exception

    def test_all_problems_of_an_input_are_named(self):
        wrong = case("wrong")
        wrong["beam"]["charge_C"], wrong["numerics"]["grit"] = -1, 3
        problem = self.refused("not positive", wrong)
        self.assertEqual(len(problem.problems), 2)
        self.assertEqual(problem.exit_status, 2)
        for line in problem.problems:
            self.assertRegex(line, r"^input\.yaml:\d+:\d+: (beam|numerics)\.")
        copy = pickle.loads(pickle.dumps(problem))
        self.assertEqual((copy.problems, copy.exit_status), (problem.problems, 2))
        self.assertFalse((SCRATCH / "wrong").exists())

    def test_what_cannot_be_run_is_refused(self):
        self.refused("nothing.yaml: No such file", SCRATCH / "nothing.yaml")
        self.refused("cannot be written as YAML", {**case("object"), "title": object()})
        self.refused("no checkpoint", case("fresh"), restart=True)
        with self.assertRaisesRegex(ValueError, "directory: is empty"):
            arcwake.run(case("none"), directory="")
        (SCRATCH / "broken.yaml").write_text("a: [1, 2\nb: {", encoding="utf-8")
        self.assertRegex(str(self.refused("broken.yaml", SCRATCH / "broken.yaml")), r":\d+:\d+: ")

    def test_an_earlier_run_is_kept_but_by_force(self):
        first = arcwake.run(case("kept"))
        self.refused("not empty", case("kept"), set={"beam.seed": 2})
        self.assertTrue(same(arcwake.Result(SCRATCH / "kept").monitor, first.monitor))
        second = arcwake.run(case("kept"), set={"beam.seed": 2}, force=True)
        self.assertFalse(same(second.monitor, first.monitor))

    def test_a_program_that_is_missing(self):
        before = os.environ["ARCWAKE_PROGRAM"]
        try:
            os.environ["ARCWAKE_PROGRAM"] = str(SCRATCH / "nowhere")
            problem = self.refused("ARCWAKE_PROGRAM: .*nowhere", case("none"))
            self.assertEqual(len(str(problem).splitlines()), 1)
        finally:
            os.environ["ARCWAKE_PROGRAM"] = before

    def test_warnings_are_warnings(self):
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            found = arcwake.run(case("warned"), set={"numerics.grid": [24, 16]})
        self.assertEqual([one.category for one in seen], [arcwake.ArcwakeWarning])
        self.assertIn("nodes of the line per sigma_s", str(seen[0].message))
        self.assertEqual(found.warnings, [str(seen[0].message)])

    def test_a_program_that_is_killed(self):
        def kill(*_):
            os.kill(process_of(SCRATCH / "killed"), signal.SIGKILL)

        problem = self.refused("SIGKILL", case("killed"), set=SLOW, progress=kill)
        self.assertIsNone(problem.exit_status)
        self.assertEqual(problem.directory, SCRATCH / "killed")


class Stops(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.reference = arcwake.run(case("whole"), set=SLOW)

    def goes_on(self, directory):
        """The run there ends as that without a stop."""
        self.assertTrue(list((SCRATCH / directory / "checkpoints").glob("*.ckpt")))
        stopped = len(arcwake.Result(SCRATCH / directory).monitor["step"])
        self.assertLess(stopped, 1201)
        again = arcwake.run(case(directory), set=SLOW, restart=True)
        self.assertTrue(same(again.monitor, self.reference.monitor))

    def test_interrupt_leaves_a_checkpoint_and_is_an_interrupt(self):
        def interrupt(*_):
            signal.raise_signal(signal.SIGINT)

        with self.assertRaises(KeyboardInterrupt) as caught:
            arcwake.run(case("interrupted"), set=SLOW, progress=interrupt)
        self.assertIsInstance(caught.exception, arcwake.Interrupted)
        self.assertEqual(caught.exception.directory, SCRATCH / "interrupted")
        self.assertTrue(caught.exception.resumable)
        self.assertRegex(str(caught.exception), r"stopped by a signal after step \d+ of 1200")
        self.assertFalse((SCRATCH / "interrupted" / "run.lock").exists())
        self.goes_on("interrupted")

    def test_a_second_interrupt_ends_it_at_once(self):
        calls = []

        def stubborn(*_):  # the program does not see the first ^C while it is stopped itself
            os.kill(process_of(SCRATCH / "twice"), signal.SIGSTOP)
            threading.Timer(0.5, signal.pthread_kill,
                            (threading.main_thread().ident, signal.SIGINT)).start()
            calls.append(process_of(SCRATCH / "twice"))
            signal.raise_signal(signal.SIGINT)

        with self.assertRaises(arcwake.Interrupted) as caught:
            arcwake.run(case("twice"), set=SLOW, progress=stubborn)
        self.assertFalse(caught.exception.resumable)
        self.assertIn("ended at once", str(caught.exception))
        self.assertFalse(alive(calls[0]))

    def test_a_terminal_sends_it_to_both(self):
        script = textwrap.dedent(f"""
            import os, sys
            sys.argv = ["", {str(SCRATCH)!r}]
            sys.path.insert(0, {str(Path(__file__).parent)!r})
            from case import arcwake, case
            try:
                arcwake.run(case("group"), set={SLOW!r},
                            progress=lambda *_: print("goes", flush=True))
            except arcwake.Interrupted as stop:
                print("resumable", stop.resumable)
            """)
        with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True,
                              start_new_session=True) as child:
            self.assertEqual(child.stdout.readline(), "goes\n")
            os.killpg(child.pid, signal.SIGINT)
            self.assertIn("resumable True", child.stdout.read())
        self.goes_on("group")

    def test_a_callback_that_raises_stops_the_run(self):
        def fails(part, row):
            self.assertTrue(0.0 <= part <= 1.0 and row["step"] >= 0.0)
            raise ZeroDivisionError("mine")

        with self.assertRaisesRegex(ZeroDivisionError, "mine"):
            arcwake.run(case("callback"), set=SLOW, progress=fails)
        self.assertFalse((SCRATCH / "callback" / "run.lock").exists())
        self.goes_on("callback")

    def test_a_time_limit_is_no_error(self):
        found = arcwake.run(case("limit"), set=SLOW, stop_after=0.3)
        self.assertRegex(found.stopped, "at --stop-after after step")
        self.goes_on("limit")
        with self.assertRaisesRegex(arcwake.ArcwakeError, "before the first step") as caught:
            arcwake.run(case("none_at_all"), stop_after=1e-6)
        self.assertEqual(caught.exception.exit_status, 75)

    def test_the_program_does_not_outlive_a_killed_python(self):
        if not arcwake._program._leash():
            self.skipTest("no setpriv --pdeathsig (util-linux)")
        script = textwrap.dedent(f"""
            import sys
            sys.argv = ["", {str(SCRATCH)!r}]
            sys.path.insert(0, {str(Path(__file__).parent)!r})
            from case import arcwake, case
            arcwake.run(case("orphan"), set={{"numerics.step_m": 5e-4}},
                        progress=lambda *_: print("goes", flush=True))
            """)
        # which leaves its temporary file behind, too
        with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True,
                              env={**os.environ, "TMPDIR": str(SCRATCH)}) as child:
            self.assertEqual(child.stdout.readline(), "goes\n")
            pid = process_of(SCRATCH / "orphan")
            self.assertTrue(alive(pid))
            child.kill()
        for _ in range(600):
            if not alive(pid):
                break
            time.sleep(0.1)
        self.assertFalse(alive(pid))
        rows = (SCRATCH / "orphan" / "monitor.csv").read_text(encoding="utf-8").count("\n")
        self.assertLess(rows, 12001)


class Threads(unittest.TestCase):
    def test_runs_in_two_threads_are_those_of_one(self):
        alone = [arcwake.run(full(f"alone{seed}"), set={"beam.seed": seed}, steps=10)
                 for seed in (1, 2)]
        found, problems = {}, []

        def work(seed):
            try:
                found[seed] = arcwake.run(full(f"thread{seed}"), set={"beam.seed": seed}, steps=10)
            except BaseException as problem:  # pylint: disable=broad-except
                problems.append(problem)

        workers = [threading.Thread(target=work, args=(seed,)) for seed in (1, 2)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join(100)
        self.assertEqual(problems, [])
        for seed, one in zip((1, 2), alone):
            self.assertTrue(same(found[seed].monitor, one.monitor))
        self.assertFalse(same(found[1].monitor, found[2].monitor))


class Bar(unittest.TestCase):
    def test_it_grows_and_ends_with_a_word(self):
        text = io.StringIO()
        with contextlib.redirect_stderr(text):
            arcwake.run(case("bar"), set=SLOW, progress=True)
        pieces = text.getvalue().split("\r")
        shown = [int(piece.split("]")[1].split("%")[0]) for piece in pieces if "]" in piece]
        self.assertTrue(shown and shown == sorted(shown) and 0 <= shown[0] <= shown[-1] <= 100)
        self.assertTrue(pieces[-1].startswith("done, 0:"))
        self.assertTrue(pieces[-1].endswith("\n"))

    def test_without_a_terminal_there_is_none(self):
        text = io.StringIO()
        with contextlib.redirect_stderr(text):
            arcwake.run(case("dumb"), set=SLOW)
        self.assertEqual(text.getvalue(), "")



class Radiation(unittest.TestCase):
    """arcwake.spectrum; tests/app/spectrum.sh has the rest."""

    def test_files_of_a_spectrum_agree(self):
        """The table is the sum over the directions, and the summary its integral."""
        found = arcwake.spectrum(case("radiation", step_m=0.2), set={"motion": "rigid"},
                                 frequencies=(0.4, 0.8, 5), theta=(-120.0, -80.0, 4),
                                 psi=(20.0, 3), band=(0.4, 0.8))
        table, at = found.table, found.directions
        self.assertEqual(at["coherent"].shape, (5, 3, 4))
        np.testing.assert_allclose(at["frequency"], table["frequency_Hz"], rtol=1e-8)
        # both halves, of equal parts
        part = 2.0 * np.cos(at["psi"]) * 0.02 / 3 * 0.04 / 4
        total = np.einsum("kji,j->k", at["coherent"], part)
        np.testing.assert_allclose(total, table["coherent_J_s"], rtol=1e-8)  # nine digits
        middle = 0.5 * (table["coherent_J_s"][1:] + table["coherent_J_s"][:-1])
        energy = np.sum(2.0 * np.pi * np.diff(table["frequency_Hz"]) * middle)
        self.assertTrue(np.isclose(energy, found.summary["band_energy_J"], rtol=1e-7))

    def test_a_run_that_has_been_radiates_the_same(self):
        """From its mesh files, beside them; and nothing can be set any more."""
        what = {"frequencies": (0.4, 0.8, 3), "theta": (-120.0, -80.0, 2), "psi": (20.0, 2)}
        rigid = {"motion": "rigid", "output.every": 1}
        was = arcwake.run(case("radiated", step_m=0.2), set=rigid)
        found = arcwake.spectrum(was, **what)
        self.assertEqual(found.directory, was.directory)
        moved = arcwake.spectrum(case("moved", step_m=0.2), set=rigid, **what)
        for name, column in moved.table.items():
            np.testing.assert_array_equal(found.table[name], column)
        with self.assertRaisesRegex(arcwake.ArcwakeError, "cannot be set"):
            arcwake.spectrum(was.directory, set={"beam.charge_C": 2e-9}, **what)

    def test_wrong_options_are_the_programs_errors(self):
        """The program's line, without files."""
        with self.assertRaisesRegex(arcwake.ArcwakeError, "belong together"):
            arcwake.spectrum(case("no radiation"), theta=(0.0, 1.0, 2))


class FormFactor(unittest.TestCase):
    """arcwake.form_factor; tests/form_factor has the sums."""

    @classmethod
    def setUpClass(cls):
        cls.result = arcwake.run(case("form factor", step_m=0.2),
                                 set={"motion": "external", "output.particles_every": 1})

    def test_it_is_the_sum_over_the_particles(self):
        """Of a plane of k, each value, about the centre of charge; k_x falls."""
        found = arcwake.form_factor(self.result, k=(0.0, 3e4, 4), k_x=(2e4, -2e4, 3))
        self.assertEqual(found.F.shape, (3, 4))
        np.testing.assert_allclose(found.k["x"], [2e4, 0.0, -2e4])
        np.testing.assert_allclose(found.k["s"], [0.0, 1e4, 2e4, 3e4])
        last = self.result.beam
        q = last.weight / np.sum(last.weight)
        mean_z, mean_x = (np.sum(q * p) for p in (last.pz, last.px))
        along = np.array([mean_z, mean_x]) / np.hypot(mean_z, mean_x)
        z, x = last.z - np.sum(q * last.z), last.x - np.sum(q * last.x)
        s, across = z * along[0] + x * along[1], -z * along[1] + x * along[0]
        for i, k_x in enumerate(found.k["x"]):
            for j, k_s in enumerate(found.k["s"]):
                sign = np.exp(1j * (k_s * s + k_x * across))
                self.assertLess(abs(np.sum(q * sign) - found.F[i, j]), 1e-8)  # nine digits
        np.testing.assert_allclose(found.power, np.abs(found.F) ** 2, atol=1e-8)
        self.assertEqual(found.particles, len(last))
        self.assertTrue(np.isclose(found.floor, np.sum(q ** 2), rtol=1e-5))  # six digits
        np.testing.assert_array_equal(found.noise, found.power <= found.floor)

    def test_a_mesh_of_the_same_step(self):
        """The same F, and NaN beyond the grid; tests/form_factor has the tolerances."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", arcwake.ArcwakeWarning)
            mesh, beam = (arcwake.form_factor(self.result, k=(0.0, 1e8, 5001), source=source)
                          for source in ("meshes", "particles"))
        known = np.isfinite(mesh.F)
        self.assertTrue(known[0] and not known[-1])
        self.assertLess(np.max(np.abs(mesh.F - beam.F)[known]), 0.2 * beam.floor ** 0.5)
        self.assertEqual(mesh.particles, beam.particles)
        self.assertTrue(np.isclose(mesh.floor, beam.floor, rtol=1e-5))  # six digits
        self.assertFalse(np.any(mesh.noise[~known]))

    def test_means_over_directions_agree(self):
        """By pairs and by directions; no phase is left."""
        pairs, sphere = (arcwake.form_factor(self.result.beam, k=(1e3, 2e4, 3), average=how)
                         for how in ("pairs", "directions"))
        self.assertIsNone(pairs.F)
        np.testing.assert_allclose(pairs.power, sphere.power, atol=1e-8)

    def test_wrong_arguments(self):
        """Ranges are ours to refuse, the rest is the program's."""
        with self.assertRaisesRegex(ValueError, "k_x: .*from, to, how many"):
            arcwake.form_factor(self.result, k_x=(1.0, 2.0))
        with self.assertRaisesRegex(arcwake.ArcwakeError, "--average"):
            arcwake.form_factor(self.result, average="all")
        with self.assertRaises(arcwake.ArcwakeError):
            arcwake.form_factor(self.result.directory / "no such beam.h5")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
