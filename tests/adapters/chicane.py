# SPDX-License-Identifier: GPL-3.0-or-later
"""The Berlin-Zeuthen chicane (inputs/zeuthen_chicane.yaml) for the tests of adapters."""
import numpy as np
from scipy.special import ndtr, ndtri
from scipy.stats import qmc

LENGTH, ANGLE = 0.500194828041958, 0.048345620280243
LONG, MIDDLE, LAST = 5.0058489435, 1.0, 2.0
EMITTANCE, BETA, ALPHA = 1.0219979e-10, 40.0, 2.6
SIGMA, CHIRP, SPREAD, CHARGE, ENERGY = 200e-6, -36.0, 2e-6, 1e-9, 5e9
# What `arcwake run` gives with twice the resolution (validation/zeuthen/README.md): mean and rms
# change of energy over 5 GeV, emittance over that of the input. Its bars are 0.07, 0.15 and 0.3 %.
RESULT = {"mean": -6.758e-4, "rms": 2.996e-4, "emittance": 1.595}
# What is asked for is 2 % (other codes' maps are of second order). Seen with 16384 particles and
# 32 x 32 nodes: at most 0.4 %.
TOLERANCE = 0.02


def beam(n):
    """Quasi-random Gaussian, cut at 5 sigma, at one time about s = 0: s, x, x', delta."""
    edge = ndtr(-5.0)
    g = ndtri(edge + (1 - 2 * edge) * qmc.Sobol(4, seed=1).random(n)).T
    s, x = SIGMA * g[0], np.sqrt(EMITTANCE * BETA) * g[1]
    angle = np.sqrt(EMITTANCE / BETA) * g[2] - ALPHA / BETA * x
    return s, x, angle, CHIRP * s + SPREAD * g[3]


def emittance(x, px):
    return np.sqrt(np.linalg.det(np.cov(x, px)))


def compare(found):
    """Differences from RESULT, printed; those beyond TOLERANCE, or NaN."""
    bad = {}
    for name, want in RESULT.items():
        error = found[name] / want - 1
        print(f"  {name}: {found[name]:.5g}, arcwake's own run {want:.5g} ({100 * error:+.2f} %)")
        if not abs(error) <= TOLERANCE:
            bad[name] = error
    return bad
