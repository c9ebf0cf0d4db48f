# SPDX-License-Identifier: GPL-3.0-or-later
"""What the tests do with a lattice that `arcwake convert` wrote: read it, and its linear map.

The map is in the coordinates of MAD-X: x, px, y, py, t = -c dt, pt = dE/(p0 c), about the
reference orbit, from textbook formulas (MAD-X Physical Methods Manual), independent of arcwake.
"""
import math
import re

import numpy as np

ELEMENT = re.compile(r"^          - (\"[^\"]+\"|[\w.]+)(?:: \{kind: (\w+)(.*)\})?$")
NUMBER = re.compile(r"(\w+): (-?[\d.]+(?:e[+-]?\d+)?)")


def elements(text):
    """The elements of the line, as (name, kind, parameters) with all numbers by their names."""
    out, known = [], {}
    for line in text.splitlines():
        match = ELEMENT.match(line)
        if not match or match.group(1) == "start":
            continue
        name, kind, rest = match.groups()
        if kind:
            known[name] = (kind, {key: float(one) for key, one in NUMBER.findall(rest)})
        out.append((name.strip('"'), *known[name]))
    return out


def energy(text):
    return float(re.search(r"E_tot_ref: ([\d.e+]+)", text).group(1))


def _pair(k, length):
    """cos-like and sin-like solutions of x'' = -k x, and what it takes to integrate them."""
    phi = np.sqrt(complex(k)) * length
    c, s = np.cos(phi).real, (np.sin(phi) / np.sqrt(complex(k))).real if k else length
    d = (1.0 - c) / k if k else 0.5 * length ** 2
    j = (length - s) / k if k else length ** 3 / 6.0
    return c, s, d, j


def body(length, h, k1, gamma):
    """Map of a magnet with curvature h and gradient k1."""
    beta = math.sqrt(1.0 - gamma ** -2)
    kx, ky = h * h + k1, -k1
    c, s, d, j = _pair(kx, length)
    cy, sy, _, _ = _pair(ky, length)
    m = np.eye(6)
    m[:2, :2] = [[c, s], [-kx * s, c]]
    m[2:4, 2:4] = [[cy, sy], [-ky * sy, cy]]
    m[0, 5], m[1, 5] = h * d / beta, h * s / beta
    m[4, 0], m[4, 1] = -m[1, 5], -m[0, 5]
    m[4, 5] = -h * h * j / beta ** 2 + length / (beta * gamma) ** 2
    return m


def edge(h, angle):
    m = np.eye(6)
    m[1, 0] = h * math.tan(angle)
    m[3, 2] = -h * math.tan(angle)
    return m


def linear_map(text, electron=510998.95):
    """The 6 x 6 map of the line of a file."""
    gamma = energy(text) / electron
    total = np.eye(6)
    for _, kind, p in elements(text):
        length, h = p.get("length", 0.0), p.get("g_ref", 0.0)
        if kind == "Multipole":
            m = np.eye(6)
            m[1, 0], m[3, 2] = -p.get("Kn1L", 0.0), p.get("Kn1L", 0.0)
        else:
            m = body(length, h, p.get("Kn1", 0.0), gamma)
        if kind == "SBend":
            m = edge(h, p["e2"]) @ m @ edge(h, p["e1"])
        total = m @ total
    return total


def total_length(text):
    return sum(p.get("length", 0.0) for _, _, p in elements(text))
