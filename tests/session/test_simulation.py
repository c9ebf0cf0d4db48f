# SPDX-License-Identifier: GPL-3.0-or-later
"""arcwake.Simulation: the numbers of the program's run, and what a caller can do to it.

usage: test_simulation.py DIRECTORY

ARCWAKE_SESSION_LIBRARY, ARCWAKE_LIBRARY and ARCWAKE_PROGRAM say what is tested.
"""
import csv
import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import threading
import unittest
import warnings
from pathlib import Path

try:
    import h5py
    import numpy as np
except ImportError as problem:
    print(f"skipped: {problem}")
    sys.exit(77)

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "python"))
import arcwake  # noqa: E402  pylint: disable=wrong-import-position

DIRECTORY = Path(sys.argv[1]).absolute()
CASE = ROOT / "inputs" / "lcls_bend_tracking.yaml"
# A few steps in the bend of a coarse case, of which the program warns.
SMALL = {"numerics.grid": [16, 16], "beam.particles": 2000, "numerics.tolerance": 1e-4,
         "numerics.step_m": 0.06}
STEPS = 6
# The same bend behind a drift, in which the bunch lies on a straight line at the start.
BEND = {"kind": "SBend", "length": 5.0, "BendP": {"g_ref": 1 / 25.13, "e1": 0.0, "e2": 0.0}}
LATTICE = {"PALS": {"version": None, "facility": [
    {"line": {"kind": "BeamLine", "line": [
        {"start": {"kind": "BeginningEle", "ReferenceP": {
            "species_ref": "electron", "location": "UPSTREAM_END", "E_tot_ref": 5.1099895e9}}},
        {"before": {"kind": "Drift", "length": 0.2}}, {"bend": BEND}]}},
    {"bends": {"kind": "Lattice", "branches": ["line"]}}, {"use": "bends"}]}}
BEAM = {"charge_C": 1e-9, "gamma": 1e4, "particles": 2000, "seed": 1, "sampling": "quiet",
        "sigma_s_m": 50e-6, "emittance_x_m": 1e-9, "beta_x_m": np.float64(2.5), "alpha_x": 0.0}
DOCUMENT = {"lattice": LATTICE, "motion": "self-consistent",
            "numerics": {"grid": np.array([16, 16]), "step_m": 0.06, "tolerance": 1e-4}}


def small(**more):
    return arcwake.Simulation(CASE, set=SMALL, **more)


def behind_a_drift(**more):
    return arcwake.Simulation({**DOCUMENT, "beam": BEAM}, **more)


def advance(sim, steps=STEPS):
    for _ in range(steps):
        sim.step()
    return sim


def bits(sim):
    """All that a step has."""
    beam = sim.beam
    return [array.tobytes() for array in (beam.x, beam.z, beam.px, beam.pz, sim.force.z,
                                          sim.force.x, sim.grid.Fs)]


def contents(path):
    """Data sets and attributes of an HDF5 file, but for when and from what it was made."""
    found = {}

    def visit(name, thing):
        if isinstance(thing, h5py.Dataset):
            found[name] = thing[()].tobytes()
        for key, value in thing.attrs.items():
            found[f"{name}@{key}"] = np.asarray(value).tobytes()

    with h5py.File(path) as file:
        visit("", file)
        file.visititems(visit)
    for key in ("@date", "@input"):
        found.pop(key)
    return found


class LikeTheProgram(unittest.TestCase):
    def test_each_step_has_the_bits_of_the_run(self):
        out = DIRECTORY / "run"
        words = [f"--set={key}={value}" for key, value in
                 {**SMALL, "output.every": 1, "output.particles_every": 1,
                  "output.at_m": []}.items()]
        subprocess.run([os.environ["ARCWAKE_PROGRAM"], "run", CASE, "-o", out, "--quiet", "--steps",
                        str(STEPS), *words], check=True, capture_output=True,
                       env={**os.environ, "AW_PYTHON": "false"})
        with open(out / "monitor.csv", encoding="ascii") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual(len(rows), STEPS + 1)
        sim, mine = small(), DIRECTORY / "mine.h5"
        for number, row in enumerate(rows):
            sim.save(mine)
            theirs = contents(out / "diag" / f"arcwake_{number:08d}.h5")
            ours = contents(mine)
            self.assertEqual(ours.keys(), theirs.keys())
            for name, value in theirs.items():
                self.assertEqual(ours[name], value, (number, name))
            monitor = sim.monitor
            self.assertEqual({name for name in row if not name.startswith("seconds")},
                             set(monitor))
            for name, value in monitor.items():
                self.assertEqual(row[name], "" if np.isnan(value) else row[name])
                if row[name]:
                    self.assertEqual(float(row[name]), value, (number, name))
            if number < STEPS:
                sim.step()
        # looking at it has changed nothing
        self.assertEqual(bits(advance(small())), bits(sim))

    def test_a_grid_that_is_read_late_is_filled(self):
        """Steps leave out nodes that nothing feels until a grid has been read."""
        wide = {**SMALL, "numerics.grid": [64, 64], "beam.particles": 30}
        late = advance(arcwake.Simulation(CASE, set=wide), 3)
        always = arcwake.Simulation(CASE, set=wide)
        for _ in range(3):
            self.assertTrue(np.isfinite(always.grid.Fs).all())
            always.step()
        monitor = str(late.monitor)
        filled, whole = late.grid.Fs, always.grid.Fs
        # the tolerance allows 3 % of the largest force (docs/theory.md, "Tolerance")
        self.assertLessEqual(np.abs(filled - whole).max(), 0.03 * np.abs(whole).max())
        self.assertTrue((filled != whole).any())
        self.assertGreater((filled == whole).mean(), 0.2)  # those that are felt
        self.assertEqual(str(late.monitor), monitor)
        self.assertEqual(bits(late)[:-1], bits(always)[:-1])

    def test_nothing_is_printed_or_written(self):
        place = DIRECTORY / "empty"
        place.mkdir()
        text = ("import arcwake\nsim = arcwake.Simulation({!r}, set={!r})\nsim.step()\n"
                "sim.force\ntry: sim.beam = {{}}\nexcept arcwake.ArcwakeError: pass\n"
                ).format(str(CASE), SMALL)
        done = subprocess.run([sys.executable, "-W", "ignore", "-c", text], cwd=place, check=True,
                              capture_output=True,
                              env={**os.environ, "PYTHONPATH": str(ROOT / "python")})
        self.assertEqual((done.stdout, done.stderr), (b"", b""))
        self.assertEqual(list(place.iterdir()), [])

    def test_a_dict_is_a_run_file(self):
        document = {**DOCUMENT, "beam": BEAM,
                    "lattice": str(ROOT / "inputs" / "lcls_bend.pals.yaml")}
        self.assertEqual(bits(arcwake.Simulation(document)), bits(small()))
        # and so is the resolved text of another one
        path = DIRECTORY / "resolved.yaml"
        path.write_text(small().resolved, encoding="utf-8")
        self.assertEqual(bits(arcwake.Simulation(path)), bits(small()))

    def test_forces_of_rigid_motion_are_computed_when_they_are_asked_for(self):
        sim = arcwake.Simulation(CASE, set={**SMALL, "motion": "rigid"})
        self.assertTrue(np.isnan(sim.monitor["F_s_mean_eV_per_m"]))
        force = sim.force
        self.assertEqual(sim.monitor["F_s_peak_eV_per_m"] != 0, True)
        # a rigid bunch in a straight: forces along z are those of the monitor. Their mean is what
        # is left of forces of both signs; places in the lab are rounded to 1e-11 of a cell.
        difference = force.z.mean() - sim.monitor["F_s_mean_eV_per_m"]
        self.assertLess(abs(difference), 1e-11 * abs(sim.monitor["F_s_peak_eV_per_m"]))


class Beams(unittest.TestCase):
    def test_a_beam_that_is_put_back_changes_no_bit(self):
        sim, other = advance(small(), 2), advance(small(), 2)
        for _ in range(STEPS - 2):
            sim.beam = sim.beam
            sim.step()
            other.step()
        self.assertEqual(bits(sim), bits(other))

    def test_a_kick_is_felt(self):
        sim = advance(small(), 2)
        before, beam = sim.monitor["energy_change_mean_eV"], sim.beam
        beam.pz += 1e6
        sim.beam = beam
        # of c p_z at a slope below 1e-3: the square of that
        self.assertAlmostEqual((sim.monitor["energy_change_mean_eV"] - before) / 1e6, 1, places=6)
        np.testing.assert_allclose(sim.beam.pz, beam.pz, rtol=4e-16)  # turned and back
        np.testing.assert_allclose(sim.beam.px, beam.px, atol=4e-16 * 5e9)
        kicked, other = sim.monitor["energy_change_mean_eV"], advance(small(), 2)
        free = other.monitor["energy_change_mean_eV"]
        sim.step()
        other.step()
        # the field's work in a step is the same but for 2e-4 of energy; 1e-9 of it are rounding
        np.testing.assert_allclose(sim.monitor["energy_change_mean_eV"] - kicked,
                                   other.monitor["energy_change_mean_eV"] - free, rtol=1e-3)

    def test_threads_that_no_int_has_are_refused(self):
        with self.assertRaisesRegex(ValueError, "threads: 4294967297"):
            small(threads=2**32 + 1)

    def test_only_momenta_can_change_later(self):
        sim = advance(small(), 1)
        same = bits(sim)

        def refused(words, change):
            beam = sim.beam
            change(beam)
            with self.assertRaisesRegex(arcwake.ArcwakeError, words):
                sim.beam = beam

        def put(name, value):
            def change(beam):
                getattr(beam, name)[7] = value
            return change

        for name, value in (("x", 1e-3), ("y", 1e-3), ("py", 1.0), ("z", 1e-3), ("t", 0.0),
                            ("weight", 1e-15), ("id", 7)):
            refused(f"particle 8 has another {name} \\(", put(name, value))
        refused("momentum of particle 8 is nan", put("px", np.nan))
        refused("particle 8 has pz = -1 eV/c", put("pz", -1.0))
        with self.assertRaisesRegex(arcwake.ArcwakeError, "1999 particles"):
            sim.beam = {name: value[1:] for name, value in vars(sim.beam).items() if name != "S"}
        self.assertEqual(bits(sim), same)
        beam = sim.beam  # what is not given is as it is
        sim.beam = {name: getattr(beam, name) for name in ("x", "px", "z", "pz", "weight")}
        self.assertEqual(bits(sim), same)
        rigid = advance(arcwake.Simulation(CASE, set={**SMALL, "motion": "rigid"}), 1)
        with self.assertRaisesRegex(arcwake.ArcwakeError, "no effect in rigid motion"):
            rigid.beam = rigid.beam

    def test_a_run_begins_with_the_beam_of_another(self):
        first = behind_a_drift()
        second = arcwake.Simulation(DOCUMENT, beam=first.beam)
        for name in ("x", "z", "weight", "id"):
            np.testing.assert_array_equal(getattr(first.beam, name), getattr(second.beam, name))
        np.testing.assert_allclose(first.beam.pz, second.beam.pz, rtol=4e-16)
        advance(first, 3)
        advance(second, 3)
        self.assertEqual(first.S, second.S)
        # the mean energy, which forces are for, is that of the particles: 1e-10 of it
        np.testing.assert_allclose(second.force.z, first.force.z, rtol=1e-6,
                                   atol=1e-6 * np.abs(first.force.z).max())

    def test_a_beam_that_is_given_radiates(self):
        beam = behind_a_drift().beam

        def radiant(isr, seed):
            document = {**DOCUMENT, "beam": {"isr": isr, "seed": seed}}
            sim = advance(arcwake.Simulation(document, beam=beam), 12)
            self.assertIn(f"isr: {isr}", sim.resolved)
            return sim

        first, again, other = radiant("full", 3), radiant("full", 3), radiant("full", 4)
        self.assertEqual(bits(first), bits(again))
        self.assertNotEqual(bits(first), bits(other))
        self.assertIn("seed: 3", first.resolved)
        loss = radiant("mean", 1).monitor["isr_loss_mean_eV"]
        # the bend begins at S = 0.2 m; particles are up to 2.5e-4 m off S, 1e-3 of what is behind
        expected = 2 / 3 * 2.8179403e-15 * 510998.95 * 1e16 / 25.13**2 * (first.S - 0.2)
        np.testing.assert_allclose(loss, expected, rtol=1e-3)
        # 2000 numbers of an rms: 1.6 %, and four of these
        variance = 55 / (24 * 3**0.5) * 2.8179403e-15 * 3.8615927e-13 * 1e28 / 25.13**3
        np.testing.assert_allclose(first.monitor["isr_rms_eV"],
                                   510998.95 * (variance * (first.S - 0.2))**0.5, rtol=0.064)
        self.assertTrue(np.isnan(radiant("off", 1).monitor["isr_loss_mean_eV"]))
        plain = advance(arcwake.Simulation({**DOCUMENT, "beam": {"seed": 4}}, beam=beam), 12)
        self.assertEqual(bits(other), bits(plain))  # full, as other

    def test_weights_heights_ids_and_lost_particles(self):
        beam = behind_a_drift().beam
        data = {**beam.data, "weight": beam.weight * np.linspace(0.5, 1.5, len(beam)),
                "y": np.full(len(beam), 1e-5), "id": beam.id + 100, "z": beam.z + 0.25}
        data["status"] = np.where(np.arange(len(beam)) % 4 == 0, 0, 1)
        alive = data["status"] == 1
        sim = behind_a_drift()
        sim.beam = data
        got = sim.beam
        np.testing.assert_array_equal(got.id, data["id"][alive])
        np.testing.assert_allclose(got.weight, data["weight"][alive], rtol=1e-15)
        np.testing.assert_array_equal(got.y, data["y"][alive])
        self.assertAlmostEqual(np.average(got.z, weights=got.weight) / 50e-6, 0, places=9)
        sim.step()
        self.assertAlmostEqual(sim.monitor["charge_C"] / data["weight"][alive].sum(), 1, places=12)

    def test_a_particle_group(self):
        try:
            from beamphysics import ParticleGroup
        except ImportError as problem:
            self.skipTest(str(problem))
        beam = behind_a_drift().beam
        group = ParticleGroup(data=beam.data)
        sim = behind_a_drift(beam=group)
        np.testing.assert_array_equal(sim.beam.x, group.x)
        self.assertAlmostEqual(sim.beam.weight.sum() / group.charge, 1, places=12)
        group.drift_to_z(0.1)  # all at one place, at different times
        sim.beam = group
        self.assertLess(np.ptp(sim.beam.t), 1e-30)
        np.testing.assert_allclose(np.std(sim.beam.z) / np.std(beam.z), 1, rtol=1e-6)

    def test_beams_that_are_none(self):
        beam = small().beam.data

        def refused(words, error=arcwake.ArcwakeError, **change):
            with self.assertRaisesRegex(error, words) as caught:
                small(beam={**beam, **change})
            self.assertNotIn("\n", str(caught.exception))

        refused("has no px", px=None)
        refused("weight: has 3 numbers", weight=np.ones(3), error=ValueError)
        refused("id: expected 2000 whole numbers", id=np.arange(5))
        refused("id: expected 2000 whole numbers", id=-beam["id"].astype(float))
        refused("status: has 3 numbers", status=np.ones(3), error=ValueError)
        refused("species 'positron'", species="positron")
        refused("position x of particle 3 is nan", x=np.where(beam["id"] == 3, np.nan, beam["x"]))
        refused("have no charge", weight=0.0)
        refused("0 live particles", status=np.zeros(len(beam["x"])))
        refused("neither at one place nor at one time", t=beam["z"] * 1e-9)

    def test_a_dict_without_a_beam_waits_for_one(self):
        sim = arcwake.Simulation(DOCUMENT)
        with self.assertRaises(arcwake.ArcwakeError) as caught:
            sim.step()
        self.assertIn("charge_C", str(caught.exception))
        sim.beam = small().beam
        advance(sim, 1)
        self.assertEqual(sim.steps_done, 1)


class Callers(unittest.TestCase):
    def test_all_problems_of_an_input_are_told(self):
        with self.assertRaises(arcwake.ArcwakeError) as caught:
            arcwake.Simulation({"beam": {"charge_C": -1, "sigma": 3}, "lattice": "nowhere.yaml",
                                "accurasy": 1}, set={"numerics.grid": [2, 2]})
        problems = caught.exception.problems
        for words in ("beam.charge_C: '-1'", "beam.sigma: unknown key", "nowhere.yaml: No such",
                      "accurasy: unknown key", "--set numerics.grid[1]: '2'"):
            self.assertEqual(sum(words in line for line in problems), 1, (words, problems))
        self.assertEqual(str(caught.exception), "\n".join(problems))
        with self.assertRaisesRegex(arcwake.ArcwakeError, "nowhere.yaml: No such file"):
            arcwake.Simulation("nowhere.yaml")
        with self.assertRaisesRegex(arcwake.ArcwakeError, "a set cannot stand in a run file"):
            arcwake.Simulation({"beam": {1, 2}})
        with self.assertRaisesRegex(arcwake.ArcwakeError, "threads: -1"):
            small(threads=-1)

    def test_warnings_are_warnings(self):
        with self.assertWarnsRegex(arcwake.ArcwakeWarning, "grid cells per sigma_s"):
            small()

    def test_there_is_no_step_after_the_last(self):
        sim = arcwake.Simulation(CASE, set={**SMALL, "numerics.step_m": 3.0})
        while not sim.last:
            sim.step()
        same = bits(sim)
        with self.assertRaisesRegex(arcwake.ArcwakeError, "at its end: step 2, S = "):
            sim.step()
        self.assertEqual(bits(sim), same)
        self.assertEqual((sim.steps_done, sim.steps_planned), (2, 2))

    def test_an_exception_between_steps_leaves_it_whole(self):
        sim = small()

        def each(number):
            if number == 3:
                raise KeyError("the caller's")

        with self.assertRaises(KeyError):
            for number in range(STEPS):
                each(number)
                sim.step()
        self.assertEqual(bits(advance(sim, STEPS - 3)), bits(advance(small())))

    def test_interrupts_come_between_steps(self):
        sim = small()
        timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
        timer.start()
        with self.assertRaises(KeyboardInterrupt):
            while True:
                sim.step() if not sim.last else signal.pause()
        timer.join()
        done = sim.steps_done
        self.assertEqual(bits(sim), bits(advance(small(), done)))

    def test_two_simulations_in_two_threads(self):
        alone, got, files = bits(advance(small())), {}, [DIRECTORY / f"{i}.h5" for i in range(2)]

        def work(i):
            sim = small(threads=1 + i)
            for _ in range(STEPS):
                sim.step()
                sim.save(files[i])
            got[i] = bits(sim)

        threads = [threading.Thread(target=work, args=(i,)) for i in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(got, {0: alone, 1: alone})
        self.assertEqual(contents(files[0]), contents(files[1]))

    def test_one_simulation_in_two_threads(self):
        sim = small()
        threads = [threading.Thread(target=advance, args=(sim, STEPS // 2)) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(bits(sim), bits(advance(small())))

    def test_other_processes(self):
        sim = small(threads=2)
        with self.assertRaisesRegex(TypeError, "cannot be pickled"):
            pickle.dumps(sim)
        context = multiprocessing.get_context("fork")
        answers = context.Queue()

        def in_child():
            said = []
            for call in (sim.step, lambda: small(threads=2), lambda: bits(small(threads=1))):
                try:
                    said.append(call())
                except arcwake.ArcwakeError as problem:
                    said.append(str(problem))
            answers.put(said)

        child = context.Process(target=in_child)
        child.start()
        said = answers.get(timeout=100)
        child.join()
        self.assertIn("made in another process", said[0])
        self.assertIn("before fork()", said[1])
        self.assertEqual(said[2], bits(sim))

    def test_a_closed_one_and_files_that_cannot_be_written(self):
        sim = small()
        with self.assertRaisesRegex(arcwake.ArcwakeError, "nowhere/a.h5"):
            sim.save(DIRECTORY / "nowhere" / "a.h5")
        sim.step()
        sim.close()
        sim.close()
        with self.assertRaisesRegex(ValueError, "closed"):
            sim.step()
        with self.assertRaisesRegex(ValueError, "closed"):
            sim.beam = small().beam


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], warnings="ignore")
