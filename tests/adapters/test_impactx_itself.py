# SPDX-License-Identifier: GPL-3.0-or-later
"""arcwake.impactx in ImpactX itself: the Zeuthen chicane, and the elements that it has."""
import os
import sys
import unittest
from pathlib import Path

root = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(root / "python"))
os.environ.setdefault("OMP_WAIT_POLICY", "passive")
try:
    import impactx
    import numpy as np
    import scipy  # noqa: F401, of chicane
    from impactx import elements as el
except ImportError as missing:
    print(f"skipped: Python has no {missing.name} (package impactx-noacc)")
    sys.exit(77)

import chicane
from arcwake.impactx import _Beam, attach, orbit_of
from arcwake.planes import MASS_EV

GAMMA = chicane.ENERGY / MASS_EV
P0 = np.sqrt(GAMMA**2 - 1)


def zeuthen():
    """Four rectangular magnets, with the slices of test_impactx."""
    a, rc = chicane.ANGLE, chicane.LENGTH / chicane.ANGLE

    def bend(sign, slices):
        return el.ExactSbend(ds=chicane.LENGTH, phi=sign * np.degrees(a), nslice=slices)

    def edge(sign):
        return el.DipEdge(psi=sign * a, rc=sign * rc, g=0.0)
    return [bend(1, 6), edge(1), el.ExactDrift(ds=chicane.LONG, nslice=30), edge(-1), bend(-1, 10),
            el.ExactDrift(ds=chicane.MIDDLE, nslice=16), bend(-1, 16), edge(-1),
            el.ExactDrift(ds=chicane.LONG, nslice=70), edge(1), bend(1, 20),
            el.ExactDrift(ds=chicane.LAST, nslice=24)]


def simulation(n):
    sim = impactx.ImpactX()
    sim.verbose, sim.tiny_profiler, sim.memory_profiler = 0, False, False
    sim.particle_shape = 2
    sim.space_charge = sim.diagnostics = sim.slice_step_diagnostics = False
    sim.init_grids()
    ref = sim.beam.ref
    ref.set_charge_qe(-1.0).set_mass_MeV(1e-6 * MASS_EV)
    ref.set_kin_energy_MeV(1e-6 * (chicane.ENERGY - MASS_EV))
    s, x, angle, delta = chicane.beam(n)
    flat = np.zeros(n)
    sim.beam.add_n_particles(x - angle * s, flat, -s, angle * (1 + delta), flat,
                             -delta * GAMMA / P0, -1 / MASS_EV, bunch_charge=chicane.CHARGE)
    return sim


class ImpactXItself(unittest.TestCase):
    def test_zeuthen_chicane_as_in_our_own_run(self):
        sim = simulation(2**13)
        sim.lattice.extend(zeuthen())
        start = _Beam(sim.beam)
        before = start.column("momentum_t").copy()
        first = chicane.emittance(start.column("position_x"), start.column("momentum_x"))
        kicks = attach(sim, grid=(32, 32))
        sim.track_particles()
        end = _Beam(sim.beam)
        change = (before - end.column("momentum_t")) * P0 / GAMMA
        last = chicane.emittance(end.column("position_x"), end.column("momentum_x"))
        self.assertEqual(chicane.compare({"mean": change.mean(), "rms": change.std(),
                                          "emittance": last / first}), {})
        self.assertEqual(len(kicks.log), 193)  # the slices, and the end
        self.assertAlmostEqual(kicks.log[-1][0], 15.01247720, places=6)
        sim.finalize()

    def test_orbit_of_its_elements(self):
        """Each kind of bend, and edges whose location is not given."""
        ref, edge = impactx.RefPart(), el.DipEdge
        lattice = [el.ExactSbend(ds=0.5, phi=np.degrees(0.1)), edge(psi=0.1, rc=5.0, g=0.0),
                   el.Drift(ds=1.0), edge(psi=-0.2, rc=-5.0, g=0.0), el.Sbend(ds=0.4, rc=-5.0),
                   el.CFbend(ds=0.5, rc=2.0, k=0.1), el.Sbend(ds=0.4, rc=5.0, rotation=180.0),
                   el.ExactCFbend(ds=0.5, k_normal=[0.1, 0.2], k_skew=[0.0, 0.0])]
        np.testing.assert_allclose(orbit_of(lattice, ref), [
            (0.5, 0.2, 0, 0.1), (1.0, 0, 0, 0), (0.4, -0.2, -0.2, 0), (0.5, 0.5, 0, 0),
            (0.4, -0.2, 0, 0), (0.5, 0.1, 0, 0)], rtol=1e-15)
        with self.assertRaisesRegex(ValueError, "B .T. is not supported"):
            orbit_of([el.ExactSbend(ds=0.5, phi=1.0, B=0.1)], ref)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
