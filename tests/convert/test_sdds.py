# SPDX-License-Identifier: GPL-3.0-or-later
"""Particles of elegant in SDDS, text and binary, converted and read.

usage: test_sdds.py DIRECTORY   (of python.c, an empty one; AW_ARCWAKE is the program)
"""
import unittest

from command import DIRECTORY, program, skip_without

skip_without(("numpy", "numpy"), ("h5py", "h5py"), ("sdds", "soliday.sdds"),
             ("beamphysics", "openpmd-beamphysics"))

import numpy as np  # noqa: E402
import sdds  # noqa: E402
from beamphysics import ParticleGroup  # noqa: E402
from beamphysics.units import mec2  # noqa: E402

from beam import BeamCase, at_one_place, bunch  # noqa: E402

NAMES = ("t", "x", "xp", "y", "yp", "p")


def columns(p):
    """A bunch at one place as elegant has it."""
    one = at_one_place(p)
    momentum = np.sqrt(p["px"] ** 2 + p["py"] ** 2 + p["pz"] ** 2)
    return {"t": one["t"], "x": one["x"], "xp": p["px"] / p["pz"], "y": one["y"],
            "yp": p["py"] / p["pz"], "p": momentum}


def write(name, pages, charge=1e-10, mode=sdds.SDDS.SDDS_BINARY, leave_out=(), ids=None,
          units=None):
    """An SDDS file with the phase space of elegant, written by the SDDS library."""
    file = sdds.SDDS()
    file.mode = mode
    unit = {"t": "s", "x": "m", "y": "m", "p": "m$be$nc", **(units or {})}
    if charge is not None:
        file.defineParameter("Charge", symbol="", units="C", description="", formatString="",
                             type=file.SDDS_DOUBLE, fixedValue="")
        file.setParameterValueList("Charge", [charge] * len(pages))
    file.defineSimpleParameter("Particles", file.SDDS_LONG)
    file.setParameterValueList("Particles", [len(page["t"]) for page in pages])
    for column in NAMES:
        if column in leave_out:
            continue
        file.defineColumn(column, symbol="", units=unit.get(column, ""), description="",
                          formatString="", type=file.SDDS_DOUBLE, fieldLength=0)
        for number, page in enumerate(pages, 1):
            file.setColumnValueList(column, page[column].tolist(), number)
    if ids is not None:
        file.defineSimpleColumn("particleID", file.SDDS_LONG)
        file.setColumnValueList("particleID", ids.tolist(), 1)
    file.save(str(DIRECTORY / name))


class Sdds(BeamCase):
    def test_binary(self):
        p = bunch()
        write("b.sdds", [columns(p)])
        self.assertTrue((DIRECTORY / "b.sdds").read_bytes().startswith(b"SDDS"))
        self.same("b.sdds", p, place=True)

    def test_text_of_openpmd_beamphysics(self):
        p = bunch()
        n = len(p["x"])
        data = {axis: p[axis] for axis in "xyz"}
        data.update({"p" + axis: p["p" + axis] * mec2 for axis in "xyz"})
        data.update({"t": np.zeros(n), "weight": p["charge"], "species": "electron",
                     "status": np.ones(n, dtype=int)})
        group = ParticleGroup(data=data)
        group.write_elegant(str(DIRECTORY / "a.sdds"))
        # it drifts to the mean z, so that times are relative to another one; the bunch is the same
        mean = np.average(p["z"])
        moved = {**p, "z": p["z"] - mean}
        self.same("a.sdds", moved, place=True, charge=1e-12)  # 13 digits

    def test_the_last_page(self):
        first, last = bunch(seed=1), bunch(seed=2)
        write("two.sdds", [columns(first), columns(last)])
        self.assertIn("the last of 2 pages", self.convert("two.sdds", "two.h5"))
        self.same("two.sdds", last, place=True)

    def test_ids(self):
        p = bunch()
        ids = np.random.default_rng(3).permutation(len(p["x"])) + 1
        write("id.sdds", [columns(p)], ids=ids)
        self.assertTrue(np.array_equal(self.same("id.sdds", p, place=True)["id"], ids))

    def test_charge(self):
        p = bunch()
        write("no.sdds", [columns(p)], charge=None)
        self.refused("no.sdds", "no.sdds: has no Charge (expected --charge C)")
        self.same("no.sdds", p, "--charge", "1e-10", place=True)

    def test_bad_files(self):
        p = bunch(200)
        write("u.sdds", [columns(p)], units={"t": "ps"})
        self.refused("u.sdds", "u.sdds: the unit of t is ps (expected s)")
        write("m.sdds", [columns(p)], leave_out=("xp", "p"))
        self.refused("m.sdds", "m.sdds: has no column xp, p (expected t, x, xp, y, yp, p")
        for mode, name in ((sdds.SDDS.SDDS_BINARY, "b"), (sdds.SDDS.SDDS_ASCII, "a")):
            write("whole.sdds", [columns(p)], mode=mode)
            whole = (DIRECTORY / "whole.sdds").read_bytes()
            for at in (20, 300, len(whole) // 2, len(whole) - 200, len(whole) - 9):
                with self.subTest(f"{name} {at}"):
                    (DIRECTORY / "cut.sdds").write_bytes(whole[:at])
                    self.refused("cut.sdds", "cut.sdds")

    def test_hostile_files_end_in_a_line(self):
        random = np.random.default_rng(7)
        write("h.sdds", [columns(bunch(20))])
        whole = np.frombuffer((DIRECTORY / "h.sdds").read_bytes(), dtype="u1")
        for _ in range(10):
            bad = whole.copy()
            at = random.integers(0, len(bad), 20)
            bad[at] = random.integers(0, 256, 20)
            (DIRECTORY / "bad.sdds").write_bytes(bad.tobytes())
            done = program("convert", "bad.sdds", "bad.out", "--force")
            self.assertIn(done.returncode, (0, 2, 4), done.stderr)
            self.assertNotIn("Traceback", done.stderr)


if __name__ == "__main__":
    import sys
    unittest.main(argv=sys.argv[:1])
