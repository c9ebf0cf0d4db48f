# SPDX-License-Identifier: GPL-3.0-or-later
"""Lengths of the steps of a tracking code, short where the field changes (docs/theory.md, "Steps").

The program knows its beam from the optics and plans its steps before the run; here each step is
found from the particles as they are, so that nothing need be known of the code's other magnets.
"""
import numpy as np

PER_OVERTAKING = 22.0   # steps in an overtaking length, in bends and behind their faces
PER_DISTANCE = 6.0      # farther behind: of the distance, as the forces fall with its inverse
SHORTENING = 0.5        # ahead of shorter steps: of the distance to them
LONG_CHANGE, SHORT_CHANGE = 0.08, 0.25  # of the bunch's rms axes in a step
TURN = 0.05             # of its long axis [rad], times 1 - 1/aspect^2
PER_MAGNET, PER_DRIFT, PER_ORBIT = 6.0, 4.0, 20.0


def transport(curvature, length, gamma):
    """Linear map of (s, x, x', delta) through a straight or a bend, s ahead of the reference."""
    turn = curvature * length
    if abs(turn) < 1e-7:
        sine, one_less_cosine, slip = length, 0.5 * turn * length, turn**2 * length / 6
    else:
        sine = np.sin(turn) / curvature
        one_less_cosine = (1 - np.cos(turn)) / curvature
        slip = length - sine
    return np.array([
        [1, -curvature * sine, -one_less_cosine, length / gamma**2 - slip],
        [0, np.cos(turn), sine, one_less_cosine],
        [0, -curvature * np.sin(turn), np.cos(turn), np.sin(turn)],
        [0, 0, 0, 1]])


def axes(covariance):
    """Long and short rms axis of a bunch in (s, x) [m], and the tilt of the long one [rad]."""
    ss, sx, xx = covariance[0, 0], covariance[0, 1], covariance[1, 1]
    half, mean = np.hypot(0.5 * (ss - xx), sx), 0.5 * (ss + xx)
    return (np.sqrt(mean + half), np.sqrt(max(mean - half, 1e-30)),
            0.5 * np.arctan2(2 * sx, ss - xx))


def covariance(s, x, ps, px, charge):
    """Of (s, x, x', delta), weighted with the charges, and the mean gamma."""
    gamma = np.sqrt(1 + ps**2 + px**2)
    mean = np.average(gamma, weights=charge)
    rows = np.array([s, x, px / ps, gamma / mean - 1])
    return np.cov(rows, aweights=charge, bias=True), mean


def overtaking(sigma_s, curvature):
    """Length over which the field of the tail overtakes the head on a circle [m]."""
    return (24 * sigma_s / curvature**2)**(1 / 3)


class Steps:
    """Steps along a design orbit.

    orbit: sections (length [m], curvature [1/m], ...), as of Field; scale: factor of all lengths.
    """

    def __init__(self, orbit, scale=1.0):
        if not scale > 0:
            raise ValueError(f"scale: {scale} (expected a number above 0)")
        self.scale, self.sections, begin = scale, [], 0.0
        for length, curvature, *_ in orbit:
            if self.sections and self.sections[-1][2] == curvature:
                begin_, _, _ = self.sections.pop()
                self.sections.append((begin_, begin + length, curvature))
            elif length > 0:
                self.sections.append((begin, begin + length, curvature))
            begin += length
        self.end = begin
        before = [0.0] + [section[2] for section in self.sections]
        self.edges = [(section[0], max(abs(k), abs(section[2])))
                      for section, k in zip(self.sections, before) if k != section[2]]
        if self.sections and self.sections[-1][2] != 0:
            self.edges.append((begin, abs(self.sections[-1][2])))

    def _section(self, S):
        for section in self.sections:
            if S < section[1]:
                return section
        return self.end, self.end + 1.0, 0.0

    def _by_place(self, S, sigma_s):
        """The longest step from S by the orbit and the length of the bunch."""
        begin, end, curvature = self._section(S)
        limit = min(self.end / PER_ORBIT, (end - begin) / (PER_MAGNET if curvature else PER_DRIFT))
        if curvature:
            limit = min(limit, overtaking(sigma_s, curvature) / PER_OVERTAKING)
        behind = [edge for edge in self.edges if edge[0] <= S]
        ahead = [edge for edge in self.edges if edge[0] > S]
        if behind:
            place, kappa = behind[-1]
            length = overtaking(sigma_s, kappa)
            far = (S - place) / PER_DISTANCE if S - place > length else 0.0
            limit = min(limit, max(length / PER_OVERTAKING, far))
        for place, kappa in ahead:  # short steps begin two before an edge
            short = overtaking(sigma_s, kappa) / PER_OVERTAKING
            free = max(place - S - 2 * short, 0.0)
            limit = min(limit, short + SHORTENING * free, max(short, free))
        return limit

    def _changes_too_much(self, S, length, now, gamma):
        """Whether the bunch changes more in a step from S than its history resolves."""
        R = transport(self._section(S + 0.5 * length)[2], length, gamma)
        before, after = axes(now), axes(R @ now @ R.T)
        turn = after[2] - before[2]
        round_ = min(before[1] / before[0], after[1] / after[0])
        turn = (1 - round_**2) * (turn - np.pi * np.round(turn / np.pi))
        return (abs(np.log(after[0] / before[0])) > self.scale * LONG_CHANGE or
                abs(np.log(after[1] / before[1])) > self.scale * SHORT_CHANGE or
                abs(turn) > self.scale * TURN)

    def next(self, S, s, x, ps, px, charge, last=None):
        """Length of the step that begins with the bunch at S [m].

        s, x, ps, px, charge: all particles at one time, as of Field.observe; last: length of the
        step before, the next is at most twice as long. Ends at the end of the orbit.
        """
        now, gamma = covariance(s, x, ps, px, charge)
        if not now[0, 0] > 0:
            raise ValueError("the bunch has no length (expected particles at different s)")
        length = self.scale * self._by_place(S, np.sqrt(now[0, 0]))
        if last:
            length = min(length, 2 * last)
        shortest = 1e-3 * length
        while length > shortest and self._changes_too_much(S, length, now, gamma):
            length *= 0.8
        left = self.end - S
        return left if left < 1.001 * length else min(length, max(0.5 * left, 0.5 * length))
