# SPDX-License-Identifier: GPL-3.0-or-later
"""Clusters and neighbours of the samples of python.c against those of scipy.

usage: test_scipy.py DIRECTORY   (written by python.c, whose sizes are repeated here)
"""
import os
import sys
import unittest
import warnings
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # small matrices, and other tests beside
try:
    import numpy as np
    from scipy.cluster.vq import kmeans2
    from scipy.spatial import cKDTree
except ImportError as problem:
    print(f"skipped: {problem} (tools/requirements-test.txt lists what is needed)")
    sys.exit(77)

DIRECTORY = Path(sys.argv[1])
DIM, K, ITERATIONS, NEIGHBOURS = 40, 24, 4, 8
SAMPLES = ("blobs", "clouds", "patterns")


def load(sample, name, kind, *shape):
    return np.fromfile(DIRECTORY / f"{sample}.{name}", dtype=kind).reshape(shape)


def inertia(row, centroid, label):
    return ((row - centroid[label]) ** 2).sum()


def seeds(row, random):
    """k-means++."""
    chosen = [random.integers(len(row))]
    far = ((row - row[chosen[0]]) ** 2).sum(axis=1)
    while len(chosen) < K:
        chosen.append(random.choice(len(row), p=far / far.sum()))
        far = np.minimum(far, ((row - row[chosen[-1]]) ** 2).sum(axis=1))
    return row[chosen]


class KMeans(unittest.TestCase):
    def test_iterations_from_the_same_centroids(self):
        for sample in SAMPLES:
            with self.subTest(sample):
                row = load(sample, "row", "f4", -1, DIM).astype(float)
                start = load(sample, "start", "f4", K, DIM).astype(float)
                centroid, label = kmeans2(row, start, iter=ITERATIONS, minit="matrix",
                                          missing="raise")
                np.testing.assert_array_equal(label, load(sample, "label", "u4", -1))
                # our means are rounded to float, of numbers up to 8
                np.testing.assert_allclose(load(sample, "centroid", "f4", K, DIM), centroid,
                                           rtol=0, atol=8 * 2.0**-24)
                # which changes the inertia in second order only
                np.testing.assert_allclose(load(sample, "inertia", "f8", 1),
                                           inertia(row, centroid, label), rtol=1e-12)

    def test_seeds_compare_with_ten_starts_of_kmeans_plus_plus(self):
        random = np.random.default_rng(1)
        for sample in SAMPLES:
            with self.subTest(sample), warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)  # about clusters that become empty
                row = load(sample, "row", "f4", -1, DIM).astype(float)
                found = sorted(
                    inertia(row, *kmeans2(row, seeds(row, random), iter=50, minit="matrix"))
                    for _ in range(10))
                ours = load(sample, "rest", "f8", 1)[0]
                print(f"{sample}: inertia {ours:.6g}, scipy {found[0]:.6g} to {found[-1]:.6g}")
                # minima scatter by some per cent from start to start (those of `patterns` by 12)
                self.assertLessEqual(ours, 1.1 * found[0])


class Neighbours(unittest.TestCase):
    def answers(self, sample):
        point = load(sample, "point", "f8", -1, 3)
        query = load(sample, "query", "f8", -1, 3)
        distance, index = cKDTree(point).query(query, k=NEIGHBOURS)
        return (point, query, distance, index,
                np.sqrt(load(sample, "distance2", "f8", -1, NEIGHBOURS)),
                load(sample, "index", "u4", -1, NEIGHBOURS))

    def test_neighbours_among_random_points_agree(self):
        _, _, distance, index, our_distance, our_index = self.answers("random")
        np.testing.assert_array_equal(our_index, index)
        np.testing.assert_allclose(our_distance, distance, rtol=1e-15)  # order of three squares

    def test_neighbours_on_a_lattice_agree_up_to_ties(self):
        """scipy keeps any of several ties; distances must agree, and belong to our points."""
        point, query, distance, _, our_distance, our_index = self.answers("lattice")
        np.testing.assert_allclose(our_distance, distance, rtol=1e-15)
        for i, row in enumerate(our_index):
            self.assertEqual(len(set(row)), NEIGHBOURS)
            np.testing.assert_allclose(np.linalg.norm(point[row] - query[i], axis=1),
                                       our_distance[i], rtol=1e-15)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "-v"])
