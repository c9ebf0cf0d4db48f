# SPDX-License-Identifier: GPL-3.0-or-later
"""Decks of Ocelot, and their maps against Ocelot's; its particles against its own reader.

usage: test_ocelot.py DIRECTORY   (of python.c, an empty one; AW_ARCWAKE is the program)
"""
import contextlib
import io
import re
import runpy
import unittest

from command import DIRECTORY, ConvertCase, skip_without, write

skip_without(("numpy", "numpy"), ("h5py", "h5py"), ("ocelot", "ocelot-collab"))

import numpy as np  # noqa: E402

import lattice  # noqa: E402
from beam import M_E, BeamCase, bunch, load  # noqa: E402

with contextlib.redirect_stdout(io.StringIO()):  # it greets
    from ocelot.cpbd.beam import ParticleArray
    from ocelot.cpbd.io import save_particle_array2npz
    from ocelot.cpbd.optics import lattice_transfer_map

# The compressor BC2 of the European XFEL as Ocelot's tutorial has it: vertical, 33.6 mrad.
XFEL = """\
from ocelot import *
import numpy as np
phi = 0.033646252962410
l_bc2 = 0.5 * phi / np.sin(phi)
tilt = np.pi / 2
b1 = Bend(l=l_bc2, angle=phi, e1=0.0, e2=phi, tilt=tilt, eid='BB.393.B2')
b2 = Bend(l=l_bc2, angle=-phi, e1=-phi, e2=0.0, tilt=tilt, eid='BB.402.B2')
b3 = Bend(l=l_bc2, angle=-phi, e1=0.0, e2=-phi, tilt=tilt, eid='BB.404.B2')
b4 = Bend(l=l_bc2, angle=phi, e1=phi, e2=0.0, tilt=tilt, eid='BB.413.B2')
d1 = Drift(l=8.5 / np.cos(phi), eid='D1')
d2 = Drift(l=1.5, eid='D2')
q = Quadrupole(l=0.2, k1=0.4, eid='Q1')
m = Monitor(eid='M')
tws = Twiss()
tws.E = 2.4
bc2 = (q, b1, d1, b2, d2, m, b3, d1, b4)
"""
FLAT = """\
from ocelot import *
tws = Twiss()
tws.E = 0.5
cell = [Drift(l=1.0), RBend(l=0.4, angle=0.1, e1=0.02, eid='R'), Quadrupole(l=0.3, k1=-2.0),
        [SBend(l=0.5, angle=-0.1, k1=0.6, e2=0.05, eid='S'), Drift(l=0.5)], Hcor(l=0.1, eid='C')]
"""
CAVITY = """\
from ocelot import *
tws = Twiss()
tws.E = 0.5
cell = [Cavity(l=0.5, v=0.02, freq=2.856e9, phi=-90.0, eid='C'), Drift(l=1.0)]
"""


class OcelotDecks(ConvertCase):
    def map_of(self, name, energy):
        with contextlib.redirect_stdout(io.StringIO()):
            names = runpy.run_path(str(DIRECTORY / name))
            from ocelot.cpbd.magnetic_lattice import MagneticLattice
            cell = names.get("bc2", names.get("cell"))
            theirs = lattice_transfer_map(MagneticLattice(cell), energy)
        turn = np.diag([1.0, 1.0, 1.0, 1.0, -1.0, 1.0])  # tau = c dt there, t = -c dt here
        return turn @ theirs @ turn

    def same_map(self, ours, theirs):
        # 1e-8 is asked for; the two masses of the electron differ by 1e-9 of L/gamma^2
        error = np.abs(ours - theirs).max()
        self.assertTrue(error <= 1e-8, error)

    def test_a_flat_line(self):
        out = self.deck("flat.py", FLAT)
        self.assertEqual(lattice.energy(out), 5e8)
        self.same_map(lattice.linear_map(out), self.map_of("flat.py", 0.5))

    def test_the_vertical_compressor_of_the_xfel(self):
        out = self.deck("xfel.py", XFEL, "--line", "bc2", "--plane", "y")
        theirs = self.map_of("xfel.py", 2.4)
        # ours has the bend's plane as x: x is their -y, y their x, so that a tilt of pi/2 is none
        turn = np.zeros((6, 6))
        turn[0, 2] = turn[1, 3] = -1.0
        turn[2, 0] = turn[3, 1] = turn[4, 4] = turn[5, 5] = 1.0
        ours = lattice.linear_map(out)
        plus = turn @ theirs @ turn.T
        turn[:4] *= -1.0  # or the other way round: a mirror image, the same physics
        minus = turn @ theirs @ turn.T
        self.same_map(ours, plus if abs(plus - ours).max() < abs(minus - ours).max() else minus)
        self.assertTrue(abs(ours[4, 5] - 0.0200) <= 1e-4, ours[4, 5])
        self.refused("xfel.py", "xfel.py:6: BB.393.B2: BEND: its field is not normal in the plane",
                     options=("--line", "bc2"), lines=4)

    def test_the_sign_of_a_cavity_s_phase(self):
        """R65 of Ocelot's cavity against V cos(2 pi (f t + phase)) with the phase of the file."""
        out = self.deck("rf.py", CAVITY)
        phase = float(re.search(r"phase: ([-+.e0-9]+)", out).group(1))
        theirs = self.map_of("rf.py", 0.5)[5, 4]  # by s, the distance ahead, which is -tau
        ours = 2.0 * np.pi * 2.856e9 / 299792458.0 * 0.02 / 0.5 * np.sin(2.0 * np.pi * phase)
        # beta = 1 - 5e-7, and another mass of the electron
        self.assertTrue(abs(theirs - ours) <= 2e-6 * abs(ours), (theirs, ours))

    def test_bad_decks(self):
        self.refused(write("a.py", "1/0\n"), "a.py: ZeroDivisionError: division by zero")
        self.refused(write("b.py", "cell = [1, 2]\n"), "b.py: has no list of Ocelot's elements")
        self.refused(write("c.py", FLAT), "c.py: none is not there (expected --line, one of: cell",
                     options=("--line", "none"))
        self.refused(write("d.py", FLAT.replace("Hcor(l", "Hcor(angle=1e-3, l")),
                     "d.py:5: C: HCOR: KICK = 0.001: kicks are not supported")


class OcelotParticles(BeamCase):
    def test_ocelot_s_own_file(self):
        """A ParticleArray that Ocelot saved, with the energies that Ocelot gives."""
        p = bunch(equal=False)
        n = len(p["x"])
        array = ParticleArray(n)
        array.E = 978.0 * M_E * 1e-9
        p0 = np.sqrt(978.0 ** 2 - 1.0)
        gamma = np.sqrt(1.0 + p["px"] ** 2 + p["py"] ** 2 + p["pz"] ** 2)
        array.rparticles[:] = np.array([p["x"], p["px"] / p0, p["y"], p["py"] / p0, -p["z"],
                                        (gamma - 978.0) / p0])
        array.q_array[:] = p["charge"]
        save_particle_array2npz(str(DIRECTORY / "own.npz"), array)
        self.convert("own.npz", "own.h5")
        ours = load(DIRECTORY / "own.h5", "data/0/particles/electron")
        energy = np.sqrt(ours["px"] ** 2 + ours["py"] ** 2 + ours["pz"] ** 2 + 1.0) * M_E
        # Ocelot's mass of the electron is of another year: 1e-9, times 1e-6 in the energy
        np.testing.assert_allclose(energy, array.p() * p0 * M_E + 1e9 * array.E, rtol=1e-12)
        np.testing.assert_allclose(ours["t"] * 299792458.0, array.tau(), rtol=1e-15)
        self.assertTrue(np.array_equal(ours["charge"], p["charge"]))


if __name__ == "__main__":
    import sys
    unittest.main(argv=sys.argv[:1])
