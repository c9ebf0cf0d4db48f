# SPDX-License-Identifier: GPL-3.0-or-later
"""arcwake.impactx against impactx_standin: the Zeuthen chicane by attach, the closed form of the
steady state by kick_model, and what is refused."""
import os
import sys
import types
import unittest
from math import erf
from pathlib import Path

root = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(root / "python"))
os.environ.setdefault("OMP_WAIT_POLICY", "passive")
try:
    import numpy as np
    from scipy.integrate import quad
except ImportError as missing:
    print(f"skipped: Python has no {missing.name} (tools/setup.sh --tests makes one in build/venv)")
    sys.exit(77)

import arcwake
import chicane
import impactx_standin as ix
from arcwake.impactx import attach, kick_model, orbit_of
from arcwake.planes import CHARGE, MASS_EV

ix.install()
GAMMA = chicane.ENERGY / MASS_EV


def zeuthen():
    """With slices as short as arcwake's own steps behind edges, fewer where forces are weak."""
    a, rc, e = chicane.ANGLE, chicane.LENGTH / chicane.ANGLE, ix.DipEdge
    return [
        ix.Sbend("b1", chicane.LENGTH, 6, rc=rc), e("e1", psi=a, rc=rc),
        ix.Drift("d1", chicane.LONG, 30), e("e2", psi=-a, rc=-rc),
        ix.Sbend("b2", chicane.LENGTH, 10, rc=-rc),
        ix.Drift("d2", chicane.MIDDLE, 16),
        ix.Sbend("b3", chicane.LENGTH, 16, rc=-rc), e("e3", psi=-a, rc=-rc),
        ix.Drift("d3", chicane.LONG, 70), e("e4", psi=a, rc=rc),
        ix.Sbend("b4", chicane.LENGTH, 20, rc=rc),
        ix.Drift("d4", chicane.LAST, 24)]


def beam(n):
    s, x, angle, delta = chicane.beam(n)
    p0 = np.sqrt(GAMMA**2 - 1)
    return ix.Beam(GAMMA, {"position_x": x - angle * s, "position_t": -s,
                           "momentum_x": angle * (1 + delta), "momentum_t": -delta * GAMMA / p0},
                   chicane.CHARGE)


def emittance(beam_):
    return chicane.emittance(beam_.column("position_x"), beam_.column("momentum_x"))


class Attach(unittest.TestCase):
    def test_zeuthen_chicane_as_in_our_own_run(self):
        sim = ix.ImpactX(beam(2**13), zeuthen())
        start, before = emittance(sim.beam), sim.beam.column("momentum_t")
        kicks = attach(sim, grid=(32, 32))
        sim.track_particles()
        p0 = np.sqrt(GAMMA**2 - 1)
        change = (before - sim.beam.column("momentum_t")) * p0 / GAMMA
        self.assertEqual(chicane.compare({"mean": change.mean(), "rms": change.std(),
                                          "emittance": emittance(sim.beam) / start}), {})
        log = np.array(kicks.log)
        self.assertEqual(len(log), sum(e.nslice for e in sim.lattice if e.ds > 0) + 1)
        self.assertEqual(log[-1, 1], 0)
        self.assertAlmostEqual(log[:, 2].sum() / (change.mean() * chicane.ENERGY), 1, places=5)

    def test_without_charge_of_note_nothing_moves(self):
        """Signs and units of the way in and out: 1e-21 C leave the beam as the stand-in has it."""
        def tracked(attached):
            sim = ix.ImpactX(beam(512), zeuthen()[:3])
            for tile in sim.beam.tiles:
                tile.soa().real["weighting"][:] *= 1e-12
            if attached:
                attach(sim, grid=(16, 16), tolerance=0.1)
            sim.track_particles()
            return sim.beam
        alone, kicked = tracked(False), tracked(True)
        for name, scale in (("position_x", 1e-4), ("position_t", 1e-3), ("momentum_x", 1e-5),
                            ("momentum_t", 1e-2)):
            # rounding of 37 ways to one time and back, of places of some m
            np.testing.assert_allclose(kicked.column(name), alone.column(name), rtol=0,
                                       atol=1e-9 * scale)

    def test_a_hook_of_the_user_that_raises(self):
        sim, calls = ix.ImpactX(beam(512), zeuthen()[:3]), []

        def own(_):
            calls.append(1)
            if len(calls) == 3:
                raise RuntimeError("the user's own problem")
        sim.hook["before_slice"] = own
        kicks = attach(sim, grid=(16, 16), tolerance=0.1)
        with self.assertRaisesRegex(RuntimeError, "^the user's own problem$"):
            sim.track_particles()
        self.assertEqual(len(kicks.log), 2)
        before = sim.beam.column("momentum_t").copy()
        own.__defaults__ = None
        calls.append(1)
        sim.hook["before_slice"](sim)  # goes on where it was
        self.assertEqual(len(kicks.log), 3)
        self.assertTrue(np.any(sim.beam.column("momentum_t") != before))

    def refused(self, words, call, *arguments):
        with self.assertRaises((ValueError, arcwake.ArcwakeError)) as caught:
            call(*arguments)
        self.assertIn(words, str(caught.exception))
        self.assertNotIn("\n", str(caught.exception))

    def test_orbit(self):
        a, rc = chicane.ANGLE, chicane.LENGTH / chicane.ANGLE
        ref = ix.RefPart(GAMMA)
        sections = orbit_of(zeuthen()[:5], ref)
        self.assertEqual(sections[0], (chicane.LENGTH, 1 / rc, 0.0, a))
        self.assertEqual(sections[2], (chicane.LENGTH, -1 / rc, -a, 0.0))
        bends = [ix.Sbend("b", 1.0, 1, rc=10.0),
                 ix.DipEdge("e", psi=0.1, rc=10.0, model="nonlinear", location="entry")]
        self.assertEqual(orbit_of(bends + bends, ref),
                         [(1.0, 0.1, 0.0, 0.0), (1.0, 0.1, 0.1, 0.0)])
        self.refused("lattice element 1 (m): LinearMap: its design orbit is not known", orbit_of,
                     [ix.Drift("d", 1.0), ix.LinearMap("m", 1.0)], ref)
        self.refused("lattice element 0 (b): Sbend: rotation 90 bends out of the plane", orbit_of,
                     [ix.Sbend("b", 1.0, 1, rc=10.0, rotation=90.0)], ref)

    def test_particles_and_turns_that_cannot_be(self):
        sim = ix.ImpactX(beam(512), zeuthen()[:1])
        sim.beam.tiles[0].soa().real["position_x"][7] = np.nan
        attach(sim, grid=(16, 16))
        self.refused("particle 7 is not finite", sim.track_particles)
        sim = ix.ImpactX(beam(512), [ix.Drift("d", 0.5, 2)])
        attach(sim, grid=(16, 16))
        sim.track_particles()
        self.refused("(expected one period)", sim.track_particles)
        sim = ix.ImpactX(beam(512), [ix.Drift("d", 0.5, 2)])
        sim.beam.tiles = []
        attach(sim)
        self.refused("no particles", sim.track_particles)


RADIUS, SIGMA, Q, STEADY_GAMMA = 25.13, 50e-6, 1e-9, 1e4
KQ = Q / (4 * np.pi * 8.8541878128e-12)


def steady(s):
    """Force of a Gaussian line in the steady state [eV/m]: -2 K Q/(3^(1/3) R^(2/3)) times the
    integral of lambda'(u) (s - u)^(-1/3); with s - u = w^(3/2) that is smooth."""
    def slope(u):
        return -u / SIGMA**3 / np.sqrt(2 * np.pi) * np.exp(-0.5 * (u / SIGMA)**2)
    integral = quad(lambda w: 1.5 * slope(s - w**1.5), 0, (12 * SIGMA)**(2 / 3), epsabs=0,
                    epsrel=1e-9, limit=400)[0]
    return -2 * KQ / (3**(1 / 3) * RADIUS**(2 / 3)) * integral


def profile(bins=150, tilt=0.0):
    """As ImpactX bins a Gaussian cut at 5 sigma: the last entry is a guard."""
    size = 10 * SIGMA / (bins - 1)
    edges = -5 * SIGMA + size * np.arange(bins + 2)
    cumulative = np.array([0.5 * (1 + erf(e / SIGMA / np.sqrt(2))) for e in edges])
    charge = Q * np.diff(cumulative) / size
    mean_x = tilt * (edges[:-1] + 0.5 * size)
    return types.SimpleNamespace(charge=charge, mean_x=mean_x, mean_y=0 * mean_x,
                                 bin_min=-5 * SIGMA, bin_size=size, num_bins=bins)


def context(slice_, signed_rc=RADIUS):
    ref = types.SimpleNamespace(beta_gamma=np.sqrt(STEADY_GAMMA**2 - 1))
    return types.SimpleNamespace(element_name="bend", element_type="Sbend", rc=abs(signed_rc),
                                 signed_rc=signed_rc, ds=5.0, nslice=100, slice=slice_,
                                 s=0.05 * slice_, slice_ds=0.05, ref=ref)


class KickModel(unittest.TestCase):
    def kicks(self, profile_, signed_rc=RADIUS, slices=3, **options):
        model = kick_model(steady=True, tolerance=1e-4, **options)
        for slice_ in range(slices):
            out = model(profile_, context(slice_, signed_rc))
        return {name: force / CHARGE for name, force in out.items()}

    def test_round_bunch_in_the_steady_state_has_the_closed_form(self):
        p = profile()
        t = p.bin_min + p.bin_size * (np.arange(p.num_bins) + 0.5)
        inner = np.abs(t) < 3 * SIGMA
        got = self.kicks(p)["pt"]
        want = np.array([steady(-one) for one in t])
        rms = np.sqrt(np.mean((got - want)[inner]**2)) / np.abs(want).max()
        print(f"  rms difference {100 * rms:.3f} % of the largest force")
        # what is asked for is 1 %; seen 0.05 %, of which 0.04 are space charge
        self.assertLessEqual(rms, 0.01)
        weights = p.charge[:p.num_bins]
        self.assertAlmostEqual(np.average(got, weights=weights) / np.average(want, weights=weights),
                               1, delta=0.01)

    def test_curvature_of_either_sign(self):
        """The mirrored bend: the same loss, the mirrored force across, within the tolerance."""
        left, right = self.kicks(profile(), -RADIUS), self.kicks(profile())
        scale = np.abs(right["pt"]).max()
        np.testing.assert_allclose(left["pt"], right["pt"], atol=1e-4 * scale)
        np.testing.assert_allclose(left["px"], -right["px"], atol=1e-4 * np.abs(right["px"]).max())

    def test_tilt_counts(self):
        """A bunch that its tilt makes ten times as wide as long loses less, a sixth seen."""
        flat, tilted = (self.kicks(profile(tilt=tilt))["pt"] for tilt in (0.0, 10.0))
        self.assertLess(np.abs(tilted).max(), 0.9 * np.abs(flat).max())

    def test_a_bend_begins_without_radiation(self):
        model, p = kick_model(), profile()
        first = np.abs(model(p, context(0))["pt"]).max() / CHARGE
        for slice_ in range(1, 40):
            last = np.abs(model(p, context(slice_))["pt"]).max() / CHARGE
        self.assertLess(first, 0.1 * last)
        again = np.abs(model(p, context(0))["pt"]).max() / CHARGE
        self.assertAlmostEqual(again / first, 1, places=9)

    def test_no_charge(self):
        p = profile()
        p.charge[:] = 0
        with self.assertRaisesRegex(ValueError, "^the profile in 'bend' has no charge$"):
            kick_model()(p, context(0))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
