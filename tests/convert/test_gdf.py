# SPDX-License-Identifier: GPL-3.0-or-later
"""Particles of GPT in GDF: initial distributions, times and screens, converted and read.

usage: test_gdf.py DIRECTORY   (of python.c, an empty one; AW_ARCWAKE is the program)
"""
import unittest

from command import DIRECTORY, skip_without

skip_without(("numpy", "numpy"), ("h5py", "h5py"), ("easygdf", "easygdf"))

import easygdf  # noqa: E402
import numpy as np  # noqa: E402

from beam import BeamCase, at_one_place, bunch  # noqa: E402

E_CHARGE, MASS = 1.602176634e-19, 9.1093837015e-31


def output(p):
    """A bunch as GPT writes it: velocities over c, and gamma."""
    gamma = np.sqrt(1.0 + p["px"] ** 2 + p["py"] ** 2 + p["pz"] ** 2)
    n = len(gamma)
    return {"x": p["x"], "y": p["y"], "z": p["z"], "G": gamma, "Bx": p["px"] / gamma,
            "By": p["py"] / gamma, "Bz": p["pz"] / gamma, "t": p.get("t", np.zeros(n)),
            "q": np.full(n, -E_CHARGE), "m": np.full(n, MASS), "nmacro": p["charge"] / E_CHARGE,
            "ID": np.arange(1.0, n + 1.0)}


class Gdf(BeamCase):
    def test_initial_distribution(self):
        p = bunch(equal=False)
        n = len(p["x"])
        easygdf.save_initial_distribution(
            str(DIRECTORY / "i.gdf"), x=p["x"], y=p["y"], z=p["z"], GBx=p["px"], GBy=p["py"],
            GBz=p["pz"], t=np.zeros(n), q=np.full(n, -E_CHARGE), nmacro=p["charge"] / E_CHARGE)
        self.same("i.gdf", p, charge=1e-15)  # two roundings

    def test_times(self):
        p = bunch(equal=False)
        touts = [{"time": 0.0, **output(bunch(seed=5))}, {"time": 1e-9, **output(p)}]
        easygdf.save_screens_touts(str(DIRECTORY / "t.gdf"), touts=touts)
        self.assertIn("the last of 2 outputs was taken: time = 1e-09",
                      self.convert("t.gdf", "t.h5"))
        self.same("t.gdf", p, charge=1e-15)

    def test_a_screen(self):
        p = bunch(equal=False)
        easygdf.save_screens_touts(str(DIRECTORY / "s.gdf"),
                                   screens=[{"position": 0.0, **output(at_one_place(p))}])
        self.same("s.gdf", p, charge=1e-15, place=True)

    def test_bad_files(self):
        p = bunch(100)
        easygdf.save_screens_touts(str(DIRECTORY / "t.gdf"), touts=[{"time": 0.0, **output(p)}])
        whole = (DIRECTORY / "t.gdf").read_bytes()
        for at in (10, 60, len(whole) // 3, len(whole) // 2):
            (DIRECTORY / "cut.gdf").write_bytes(whole[:at])
            self.refused("cut.gdf", "cut.gdf")
        heavy = {**output(p), "m": np.full(100, 1.6726e-27)}
        easygdf.save_screens_touts(str(DIRECTORY / "p.gdf"), touts=[{"time": 0.0, **heavy}])
        self.refused("p.gdf", "p.gdf: the particles are not electrons")
        easygdf.save(str(DIRECTORY / "e.gdf"), blocks=[{"name": "a", "value": 1.0}])
        self.refused("e.gdf", "e.gdf: has no particles")


if __name__ == "__main__":
    import sys
    unittest.main(argv=sys.argv[:1])
