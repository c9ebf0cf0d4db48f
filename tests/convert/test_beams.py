# SPDX-License-Identifier: GPL-3.0-or-later
"""Particles of openPMD, ASTRA, GPT (text), IMPACT-T, Genesis 4 and Ocelot, converted and read.

usage: test_beams.py DIRECTORY   (of python.c, an empty one; AW_ARCWAKE is the program)
"""
import unittest

from command import DIRECTORY, load_convert, program, skip_without, write

skip_without(("numpy", "numpy"), ("h5py", "h5py"), ("beamphysics", "openpmd-beamphysics"))

import h5py  # noqa: E402
import numpy as np  # noqa: E402
from beamphysics import ParticleGroup  # noqa: E402
from beamphysics.units import mec2  # noqa: E402

from beam import C, M_E, BeamCase, at_one_place, bunch  # noqa: E402


PACKAGE = load_convert()


def group(p, mass=mec2):
    """A bunch as a ParticleGroup, with its own mass of the electron: it keeps beta gamma."""
    n = len(p["x"])
    data = {axis: p[axis] for axis in ("x", "y", "z")}
    data.update({axis: p[axis] * mass for axis in ("px", "py", "pz")})
    data.update({"t": p.get("t", np.zeros(n)), "weight": p["charge"], "species": "electron",
                 "status": np.ones(n, dtype=int)})
    return ParticleGroup(data=data)


class Beams(BeamCase):
    package = PACKAGE

    def test_openpmd_of_one_time(self):
        self.package = None  # by the program itself
        p = bunch(equal=False)
        group(p, M_E).write(str(DIRECTORY / "time.h5"))
        self.same("time.h5", p)

    def test_openpmd_of_one_place(self):
        p = bunch(equal=False)
        group(at_one_place(p), M_E).write(str(DIRECTORY / "place.h5"))
        self.same("place.h5", p, place=True)

    def test_bmad_layout(self):
        """Species data directly in particles/, no weights: as Bmad writes it."""
        p = bunch()
        place = at_one_place(p)
        with h5py.File(DIRECTORY / "bmad.h5", "w") as file:
            file.attrs.update({"openPMD": np.bytes_("2.0.0"), "basePath": np.bytes_("/data/%T/"),
                               "openPMDextension": np.bytes_("BeamPhysics;SpeciesType"),
                               "particlesPath": np.bytes_("particles/")})
            species = file.create_group("data/00001/particles")
            species.attrs.update({"speciesType": np.bytes_("electron"), "chargeUnitSI": 1.0,
                                  "numParticles": len(p["x"]), "totalCharge": 1e-10})
            for name, value, unit in (
                    *((f"position/{a}", place[a], 1.0) for a in "xyz"),
                    *((f"momentum/{a}", place["p" + a] * M_E, 1.602176634e-19 / C)
                      for a in "xyz"),
                    ("time", place["t"], 1.0), ("weight", p["charge"], 1.0),
                    ("particleStatus", np.ones(len(p["x"]), dtype="i4"), 1.0)):
                one = species.create_dataset(name, data=value)
                one.attrs["unitSI"] = unit
                one.attrs["unitDimension"] = np.zeros(7)
        self.same("bmad.h5", p, place=True)

    def test_astra(self):
        p = bunch(equal=False)
        group(p, M_E).write_astra(str(DIRECTORY / "beam.astra"))
        self.same("beam.astra", p, charge=1e-12)  # the text has 13 digits of a charge

    def test_astra_with_lost_particles(self):
        p = bunch()
        one = group(p, M_E)
        one.status[[3, 17]] = -5
        one.write_astra(str(DIRECTORY / "lost.astra"))
        printed = self.convert("lost.astra", "lost.h5")
        self.assertIn("1998 particles (2 more are lost)", printed)

    def test_gpt_text(self):
        p = bunch(equal=False)
        one = group(p)
        one.write_gpt(str(DIRECTORY / "gpt.txt"))
        self.same("gpt.txt", p, charge=1e-12)

    def test_impact_t(self):
        p = bunch()
        group(p).write_impact(str(DIRECTORY / "partcl.data"))
        self.same("partcl.data", p, "--charge", "1e-10")
        text = (DIRECTORY / "partcl.data").read_text(encoding="ascii").splitlines()
        write("fort.50", "\n".join(text[1:]) + "\n")
        self.same("fort.50", p, "--charge", "1e-10", "--format", "impact-t")

    def test_ocelot(self):
        p = bunch(equal=False)
        place = at_one_place(p)
        gamma0 = 978.0
        p0 = np.sqrt(gamma0 ** 2 - 1.0)
        gamma = np.sqrt(1.0 + p["px"] ** 2 + p["py"] ** 2 + p["pz"] ** 2)
        np.savez_compressed(
            DIRECTORY / "beam.npz", E=gamma0 * M_E * 1e-9, s=3.0, q_array=p["charge"],
            rparticles=np.array([place["x"], p["px"] / p0, place["y"], p["py"] / p0,
                                 C * place["t"], (gamma - gamma0) / p0]))
        self.same("beam.npz", p, place=True)

    def test_genesis_4(self):
        """Slices of one current each; z within a slice is theta/(2 pi) of its spacing."""
        random = np.random.default_rng(2)
        spacing, parts = 1e-6, []
        with h5py.File(DIRECTORY / "gen.par.h5", "w") as file:
            for name, value in (("slicespacing", spacing), ("slicelength", spacing),
                                ("refposition", 0.0)):
                file[name] = np.array([value])
            for name, value in (("beamletsize", 1), ("slicecount", 40), ("one4one", 0)):
                file[name] = np.array([value])
            for i in range(1, 41):
                p = bunch(50, seed=i)
                theta = random.uniform(0.0, 2.0 * np.pi, 50)
                gamma = np.sqrt(1.0 + p["px"] ** 2 + p["py"] ** 2 + p["pz"] ** 2)
                slice_ = file.create_group(f"slice{i:06d}")
                for name in ("x", "y", "px", "py"):
                    slice_[name] = p[name]
                slice_["theta"], slice_["gamma"] = theta, gamma
                slice_["current"] = np.array([100.0 * i])
                p["z"] = (i - 1 + theta / (2.0 * np.pi)) * spacing
                p["charge"] = np.full(50, 100.0 * i * spacing / C / 50)
                parts.append(p)
        whole = {key: np.concatenate([p[key] for p in parts]) for key in parts[0]}
        self.same("gen.par.h5", whole)

    def test_charge_rescales(self):
        p = bunch(equal=False)
        group(p, M_E).write(str(DIRECTORY / "time.h5"))
        p["charge"] = p["charge"] * (3e-10 / p["charge"].sum())
        self.same("time.h5", p, "--charge", "3e-10")

    def test_ids_are_kept(self):
        p = bunch()
        one = group(p, M_E)
        one.id = np.random.default_rng(5).permutation(10 * len(p["x"]))[:len(p["x"])]
        one.write(str(DIRECTORY / "id.h5"))
        ours = self.same("id.h5", p)
        self.assertTrue(np.array_equal(ours["id"], one.id))


class Refused(BeamCase):
    package = PACKAGE

    def test_bad_files(self):
        p = bunch(50)
        group(p, M_E).write_astra(str(DIRECTORY / "a.astra"))
        rows = (DIRECTORY / "a.astra").read_text(encoding="ascii")
        write("cut.astra", rows[:4000])
        self.refused("cut.astra", "cut.astra:2", "expected 10")
        write("end.astra", rows[:-1])
        self.refused("end.astra", "end.astra:51: the line has no end: the file is cut off")
        write("positron.astra", rows.replace("   1    5", "   2    5"))
        self.refused("positron.astra", "positron.astra: the particles are positrons")
        write("nan.astra", rows.replace(rows.split()[10], "nan", 1))
        self.refused("nan.astra", "nan.astra: x of 1 particles is not finite")
        write("dead.astra", rows.replace("   1    5", "   1   -7"))
        self.refused("dead.astra", "dead.astra: no particle is alive (of 50)")
        group(p).write_impact(str(DIRECTORY / "i.impact"))
        rows = (DIRECTORY / "i.impact").read_text(encoding="ascii").splitlines()
        write("cut.impact", "\n".join(rows[:30]) + "\n")
        self.refused("cut.impact", "cut.impact: has 29 of 50 particles: it is cut off",
                     options=("--charge", "1e-10"))
        write("digit.impact", "\n".join(rows)[:-8])
        self.refused("digit.impact", "digit.impact:51: the line has no end: the file is cut off",
                     options=("--charge", "1e-10"))
        self.refused("i.impact", "have no charge (expected --charge C)")
        self.refused("i.impact", "--charge: 0 (expected a charge", options=("--charge", "0"))
        self.refused("i.impact", "--energy: has no meaning for particles of IMPACT-T",
                     options=("--energy", "1e9", "--charge", "1e-9"))
        self.refused("i.impact", "--line: has no meaning for particles of IMPACT-T",
                     options=("--line", "L"))
        group(p).write_gpt(str(DIRECTORY / "g.gpt"))
        rows = (DIRECTORY / "g.gpt").read_text(encoding="ascii")
        write("heavy.gpt", rows.replace("9.109383713", "1.672621925"))
        self.refused("heavy.gpt", "heavy.gpt: the particles are not electrons")
        write("cut.gpt", rows[:2000])
        self.refused("cut.gpt", "cut.gpt:")
        np.savez(DIRECTORY / "other.npz", a=np.zeros(3))
        self.refused("other.npz", "other.npz: has no rparticles, q_array, E")
        whole = (DIRECTORY / "other.npz").read_bytes()
        (DIRECTORY / "cut.npz").write_bytes(whole[:80])
        self.refused("cut.npz", "cut.npz: cannot be read as particles of Ocelot")

    def test_bad_openpmd(self):
        p = bunch(500)
        group(p, M_E).write(str(DIRECTORY / "o.h5"))
        whole = (DIRECTORY / "o.h5").read_bytes()
        for at in (100, 3000, len(whole) - 20):
            (DIRECTORY / "cut.h5").write_bytes(whole[:at])
            self.refused("cut.h5", "cut.h5")
        with h5py.File(DIRECTORY / "no.h5", "w") as file:
            file["x"] = np.zeros(3)
        self.refused("no.h5", "no.h5: neither the name nor the content shows a format")
        self.package = None  # by the program itself
        p["pz"] = -p["pz"]
        group(p, M_E).write(str(DIRECTORY / "back.h5"))
        self.refused("back.h5", "back.h5: pz is not positive everywhere")

    def test_hostile_files_end_in_a_line(self):
        """Bytes changed at random: refused by name or converted, never a crash."""
        random = np.random.default_rng(7)
        group(bunch(40), M_E).write(str(DIRECTORY / "h.h5"))
        whole = np.frombuffer((DIRECTORY / "h.h5").read_bytes(), dtype="u1")
        for _ in range(6):
            bad = whole.copy()
            at = random.integers(0, len(bad), 40)
            bad[at] = random.integers(0, 256, 40)
            (DIRECTORY / "bad.h5").write_bytes(bad.tobytes())
            done = self.run_convert("bad.h5", "bad.out", "--force")
            self.assertIn(done.returncode, (0, 2, 4), done.stderr)
            self.assertNotIn("Traceback", done.stderr)

    def test_a_missing_package_is_named(self):
        """What an installation without h5py says, by a h5py that cannot be imported."""
        folder = DIRECTORY / "hidden"
        folder.mkdir()
        (folder / "h5py.py").write_text("raise ImportError('no', name='h5py')\n", encoding="utf-8")
        np.savez(DIRECTORY / "some.npz", a=np.zeros(3))
        done = program("convert", "some.npz", "some.h5", PYTHONPATH=str(folder))
        self.assertEqual(done.returncode, 4)
        self.assertEqual(done.stderr, "arcwake: error: writing openPMD needs the Python package "
                                      "h5py: pip install h5py\n")


if __name__ == "__main__":
    import sys
    unittest.main(argv=sys.argv[:1])
