# SPDX-License-Identifier: GPL-3.0-or-later
"""arcwake.ocelot in Ocelot: the Zeuthen chicane, Ocelot's signs, and what is refused."""
import copy
import os
import sys
import unittest
from pathlib import Path

root = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(root / "python"))
os.environ.setdefault("OMP_WAIT_POLICY", "passive")
try:
    import numpy as np
    import scipy  # noqa: F401, of chicane
    from ocelot.cpbd import elements
    from ocelot.cpbd.beam import ParticleArray
    from ocelot.cpbd.magnetic_lattice import MagneticLattice
    from ocelot.cpbd.navi import Navigator
    from ocelot.cpbd.track import track
    from ocelot.cpbd.transformations.second_order import SecondTM
except ImportError as missing:
    print(f"skipped: Python has no {missing.name} (package ocelot-collab)")
    sys.exit(77)

import arcwake
import chicane
from arcwake.ocelot import Arcwake, orbit_of


def lattice(*sequence):
    return MagneticLattice([elements.Marker(eid="begin"), *sequence, elements.Marker(eid="end")],
                           method={"global": SecondTM})


def zeuthen():
    """Four rectangular magnets; all faces lie across the straight line of the start."""
    a, bend = chicane.ANGLE, elements.SBend
    return lattice(
        bend(l=chicane.LENGTH, angle=a, e2=a, eid="b1"), elements.Drift(l=chicane.LONG),
        bend(l=chicane.LENGTH, angle=-a, e1=-a, eid="b2"), elements.Drift(l=chicane.MIDDLE),
        bend(l=chicane.LENGTH, angle=-a, e2=-a, eid="b3"), elements.Drift(l=chicane.LONG),
        bend(l=chicane.LENGTH, angle=a, e1=a, eid="b4"), elements.Drift(l=chicane.LAST))


def bunch(n):
    s, x, angle, delta = chicane.beam(n)
    p = ParticleArray(n)
    p.E = chicane.ENERGY * 1e-9
    p.q_array[:] = chicane.CHARGE / n
    p.rparticles[[0, 1, 4, 5]] = x - angle * s, angle, -s, delta
    return p


def run(lat, p_array, process, unit_step=0.1):
    navi = Navigator(lat, unit_step=unit_step)
    navi.add_physics_proc(process, lat.sequence[0], lat.sequence[-1])
    track(lat, p_array, navi, print_progress=False, calc_tws=False)


class Ocelot(unittest.TestCase):
    def test_zeuthen_chicane_as_in_our_own_run(self):
        p, process = bunch(2**14), Arcwake(grid=(32, 32))
        begin, start = p.rparticles[5].copy(), chicane.emittance(*p.rparticles[:2])
        run(zeuthen(), p, process)
        change = p.rparticles[5] - begin
        found = {"mean": change.mean(), "rms": change.std(),
                 "emittance": chicane.emittance(*p.rparticles[:2]) / start}
        self.assertEqual(chicane.compare(found), {})
        log = np.array(process.kicks.log)
        self.assertAlmostEqual(log[-1, 0], 15.01247720, places=6)
        self.assertTrue(np.all(np.diff(log[:, 0]) > 0) and np.all(log[:, 3] <= 3e-3))
        # what the kicks took is what is gone; 1e-9: rounding of 5 GeV in units of its change
        self.assertAlmostEqual(log[:, 2].sum() / (change.mean() * chicane.ENERGY), 1, places=5)

    def test_curvature_has_the_sign_of_ocelot(self):
        """A particle of more energy through half a bend by Ocelot, and by its circle."""
        lat = lattice(elements.SBend(l=0.5, angle=0.1, e1=0.03), elements.Drift(l=1.0))
        p = ParticleArray(1)
        p.E, p.rparticles[5] = 5.0, 1e-4
        gamma0 = 5e9 / 510998.95
        p0 = np.sqrt(gamma0**2 - 1)
        pz = np.sqrt((gamma0 + 1e-4 * p0)**2 - 1)
        for transfer in lat.sequence[1].get_section_tms(start_l=0.0, delta_l=0.25):
            transfer.apply(p)
        orbit = orbit_of(lat)
        t, x, _, px = arcwake.at_one_place(orbit, 0.25, p0, 0.0, [0.0], [0.0], [pz], [0.0])
        self.assertGreater(x[0], 0)
        # Ocelot's map is of second order: delta^3 of R16 is left
        self.assertAlmostEqual(p.rparticles[0, 0] / x[0], 1, delta=1e-6)
        self.assertAlmostEqual(p.rparticles[1, 0] * p0 / px[0], 1, delta=1e-6)
        slip = t[0] * 299792458.0 - 0.25 * gamma0 / p0
        self.assertAlmostEqual(p.rparticles[4, 0] / slip, 1, delta=1e-4)  # rounding of 0.25 m

    def test_design_orbit(self):
        lat = lattice(elements.Drift(l=0.3), elements.RBend(l=0.5, angle=0.1),
                      elements.Quadrupole(l=0.2, k1=1.0),
                      elements.SBend(l=0.4, angle=0.1, e1=0.02, tilt=np.pi))
        self.assertEqual(orbit_of(lat), [(0.3, 0, 0, 0), (0.5, 0.2, 0.05, 0.05), (0.2, 0, 0, 0),
                                         (0.4, -0.25, -0.02, 0)])

    def refused(self, words, call, *arguments):
        with self.assertRaises((ValueError, arcwake.ArcwakeError)) as caught:
            call(*arguments)
        self.assertIn(words, str(caught.exception))
        self.assertNotIn("\n", str(caught.exception))

    def test_elements_that_are_not_known(self):
        for element, words in (
                (elements.Undulator(lperiod=0.02, nperiods=5, Kx=1.0, eid="u"),
                 "lattice element 1 (u): the design orbit through a Undulator is not known"),
                (elements.SBend(l=0.5, angle=0.1, tilt=np.pi / 2, eid="v"),
                 "lattice element 1 (v): a SBend with tilt 1.5708 bends out of the plane")):
            self.refused(words, orbit_of, lattice(element))
        lat = lattice(elements.SBend(l=0.5, angle=0.1, eid="b"), elements.Drift(l=1.0, eid="d"))
        process = Arcwake()
        self.refused("the field begins right behind bend b",
                     Navigator(lat).add_physics_proc, process, lat.sequence[2], lat.sequence[-1])

    def test_particles_that_cannot_be(self):
        for row, value, words in ((0, np.nan, "particle 3 is not finite"),
                                  (0, -50.0, "particle 3: cannot be followed to one time"),
                                  (1, 2.0, "particle 3 is not finite")):
            p = bunch(64)
            p.rparticles[row, 3] = value
            lat = lattice(elements.SBend(l=0.5, angle=0.1, e1=0.0), elements.Drift(l=1.0))
            process = Arcwake(step=1)
            process.s_start, process.z0 = 0.0, 0.25
            process.prepare(lat)
            before = p.rparticles.copy()
            with np.errstate(invalid="ignore"):
                self.refused(words, process.apply, p, 0.25)
            np.testing.assert_array_equal(p.rparticles, before)
        p = bunch(64)
        p.q_array[:] = 0
        self.refused("the bunch has no charge", process.apply, p, 0.25)

    def test_copies_have_a_past_of_their_own(self):
        process = Arcwake(grid=(32, 32))
        run(lattice(elements.Drift(l=0.5)), bunch(256), process)
        self.assertIsNotNone(process.kicks)
        other = copy.deepcopy(process)
        self.assertIsNone(other.kicks)
        self.assertEqual(other.options, process.options)

    def test_fixed_steps(self):
        process = Arcwake(step=2, grid=(32, 32))
        run(lattice(elements.SBend(l=0.5, angle=0.05), elements.Drift(l=0.5)), bunch(512), process)
        places = [row[0] for row in process.kicks.log]
        np.testing.assert_allclose(places, [0.2, 0.4, 0.6, 0.8, 1.0], atol=1e-12)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
