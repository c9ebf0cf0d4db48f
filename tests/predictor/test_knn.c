/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Nearest neighbours against a search of all points, ties included. */
#include <time.h>

#include "predictor/knn.h"
#include "src/base/memory.h"
#include "tests/assert_close.h"
#include "tests/slice_fixture.h"

enum { POINTS = 1200, QUERIES = 200, NEIGHBOURS = 22 };

typedef double triple[3];

/* The expected result: points in the order of their index, each inserted behind all that are nearer
 * or equally near. */
static int search_all(const triple *point, size_t n, const double q[3], int k, uint32_t *index,
                      double *distance2)
{
    int found = 0;
    for (size_t i = 0; i < n; ++i) {
        const double dx = q[0] - point[i][0], dy = q[1] - point[i][1], dz = q[2] - point[i][2];
        const double d2 = dx * dx + dy * dy + dz * dz;
        if (found == k && !(d2 < distance2[k - 1])) continue;
        int place = found < k ? found++ : k - 1;
        for (; place > 0 && d2 < distance2[place - 1]; --place) {
            distance2[place] = distance2[place - 1];
            index[place] = index[place - 1];
        }
        distance2[place] = d2;
        index[place] = (uint32_t)i;
    }
    return found;
}

static void assert_as_search_of_all(const aw_knn *knn, const triple *point, size_t n,
                                    const double q[3], int k)
{
    uint32_t index[NEIGHBOURS], wanted[NEIGHBOURS];
    double distance2[NEIGHBOURS], wanted2[NEIGHBOURS];
    int found = aw_knn_query(knn, q, k, index, distance2);
    assert_int_equal(found, n < (size_t)k ? (int)n : k);
    assert_int_equal(search_all(point, n, q, k, wanted, wanted2), found);
    for (int i = 0; i < found; ++i) {
        assert_int_equal(index[i], wanted[i]);
        assert_true(distance2[i] == wanted2[i]); /* the same operations; may be infinite */
    }
}

static void compare(const triple *point, size_t n, const triple *query)
{
    aw_knn *knn = NULL;
    assert_ok(aw_knn_new(&knn));
    assert_ok(aw_knn_build(knn, point, n));
    for (int i = 0; i < QUERIES; ++i)
        for (int k = 1; k <= NEIGHBOURS; k = 3 * k + 1) /* 1, 4, 13; then 8 */
            assert_as_search_of_all(knn, point, n, query[i], k);
    for (int i = 0; i < QUERIES; ++i) assert_as_search_of_all(knn, point, n, query[i], 8);
    aw_knn_free(knn);
}

static void fill_random(triple *p, size_t n, uint64_t seed, double size)
{
    for (size_t i = 0; i < n; ++i)
        for (int d = 0; d < 3; ++d) p[i][d] = uniform(&seed, -size, size);
}

/* Layers of a square lattice, `side` points wide; spacings in powers of two make exact ties. */
static void fill_layers(triple *p, size_t n, size_t side, double spacing)
{
    for (size_t i = 0; i < n; ++i) {
        const size_t row = i / side, layer = row / side;
        p[i][0] = spacing * (double)(i % side);
        p[i][1] = spacing * (double)(row % side);
        p[i][2] = 3.0 * spacing * (double)layer;
    }
}

static void neighbours_among_random_points_are_those_of_a_full_search(void **state)
{
    triple point[POINTS], query[QUERIES];
    (void)state;
    fill_random(point, POINTS, 1, 1.0);
    fill_random(query, QUERIES, 2, 2.0); /* most lie outside */
    compare(point, POINTS, query);
    compare(point, POINTS, (const triple *)point);
}

static void neighbours_among_few_points_are_those_of_a_full_search(void **state)
{
    triple point[40], query[QUERIES];
    (void)state;
    fill_random(point, 40, 3, 1.0);
    fill_random(query, QUERIES, 4, 1.5);
    for (size_t n = 0; n <= 40; ++n) compare(point, n, query);
}

static void neighbours_on_a_lattice_are_those_of_a_full_search_with_its_ties(void **state)
{
    const double spacings[] = {0.25, 0.1}; /* exact ties, and ties to rounding */
    triple point[POINTS], query[QUERIES];
    (void)state;
    for (int s = 0; s < 2; ++s) {
        fill_layers(point, POINTS, 16, spacings[s]);
        compare(point, POINTS, (const triple *)point);
        for (int i = 0; i < QUERIES; ++i) /* at nodes, and halfway between them */
            for (int d = 0; d < 3; ++d)
                query[i][d] = 0.5 * (point[i][d] + point[(i * 7 + 300) % POINTS][d]);
        compare(point, POINTS, query);
        for (int i = 0; i < POINTS / 2; ++i) { /* the same lattice in another order */
            double *a = point[i], *b = point[(i * 611 + 17) % POINTS];
            for (int d = 0; d < 3; ++d) {
                const double kept = a[d];
                a[d] = b[d];
                b[d] = kept;
            }
        }
        compare(point, POINTS, query);
    }
}

static void neighbours_among_degenerate_points_are_those_of_a_full_search(void **state)
{
    triple point[POINTS], query[QUERIES];
    (void)state;
    fill_random(query, QUERIES, 5, 4.0);
    for (int kind = 0; kind < 5; ++kind) {
        fill_random(point, POINTS, 6, 1.0);
        for (int i = 0; i < POINTS; ++i) {
            if (kind == 0) point[i][2] = 0.5;                                   /* a plane */
            if (kind <= 1) point[i][1] = -2.0;                                  /* a line */
            if (kind == 2) point[i][0] = point[i][1] = point[i][2] = 0.125;     /* one position */
            for (int d = 0; d < 3 && kind == 3; ++d) point[i][d] = (i + d) % 2; /* two positions */
            for (int d = 0; d < 3 && kind == 4; ++d) /* pairs of equal points, and +0 and -0 */
                point[i][d] = i % 2 ? point[i - 1][d] : i % 16 ? point[i][d] : -0.0 * (i % 32);
        }
        compare(point, POINTS, query);
        compare(point, POINTS, (const triple *)point);
    }
}

static void distances_that_overflow_keep_the_order_of_indices(void **state)
{
    triple point[POINTS], query[QUERIES];
    (void)state;
    fill_random(point, POINTS, 7, 1.0);
    fill_random(query, QUERIES, 8, 1.0);
    for (int d = 0; d < 3; ++d) {
        for (int i = 0; i < POINTS; ++i) point[i][d] *= i % 3 ? 1e308 : 1e154;
        for (int i = 0; i < QUERIES; ++i) query[i][d] *= i % 2 ? 1e308 : 1e154;
    }
    compare(point, POINTS, query);
    compare(point, POINTS, (const triple *)point);
}

static void a_tree_serves_many_builds_and_many_threads(void **state)
{
    triple point[POINTS];
    aw_knn *knn = NULL;
    int wrong = 0;
    (void)state;
    assert_ok(aw_knn_new(&knn));
    for (size_t n = POINTS; n > 100; n = n * 2 / 3) {
        fill_random(point, n, n, 1.0);
        assert_ok(aw_knn_build(knn, (const triple *)point, n));
        for (size_t i = 0; i < n; i += 50)
            assert_as_search_of_all(knn, (const triple *)point, n, point[i], 8);
#pragma omp parallel for num_threads(3) reduction(+ : wrong)
        for (size_t i = 0; i < n; ++i) {
            uint32_t index;
            double distance2;
            wrong += aw_knn_query(knn, point[i], 1, &index, &distance2) != 1 || index != i;
        }
        assert_int_equal(wrong, 0);
    }
    aw_knn_free(knn);
}

/* 2^17 coincident points, and as many on a lattice in one plane. A full search needs 4e9 distances
 * for these queries, tens of seconds; the tree needs some hundredths of a second. */
static void searches_among_degenerate_points_are_as_fast_as_among_others(void **state)
{
    enum { MANY = 1 << 17, ASKED = 1 << 15 };
    triple *point = aw_alloc(MANY, sizeof *point);
    aw_knn *knn = NULL;
    (void)state;
    assert_non_null(point);
    assert_ok(aw_knn_new(&knn));
    for (int lattice = 0; lattice < 2; ++lattice) {
        clock_t begin = clock();
        if (lattice) fill_layers(point, MANY, 512, 0.25);
        assert_ok(aw_knn_build(knn, (const triple *)point, MANY));
        for (int i = 0; i < ASKED; ++i) {
            uint32_t index[8];
            double distance2[8], q[3] = {0.25 * (i % 256), 1.0, 0.5};
            assert_int_equal(aw_knn_query(knn, q, 8, index, distance2), 8);
            if (!lattice) assert_int_equal(index[7], 7);
        }
        assert_true((double)(clock() - begin) / CLOCKS_PER_SEC < 5.0);
    }
    aw_knn_free(knn);
    aw_free(point);
}

static void points_and_queries_that_are_not_finite_are_refused(void **state)
{
    const double wrong[] = {NAN, INFINITY, -INFINITY};
    triple point[100];
    uint32_t index[8];
    double distance2[8];
    aw_knn *knn = NULL;
    (void)state;
    assert_ok(aw_knn_new(&knn));
    fill_random(point, 100, 9, 1.0);
    for (int i = 0; i < 9; ++i) {
        double q[3] = {0.0, 0.0, 0.0}, *bad = &point[11 * i][i / 3];
        const double kept = *bad;
        assert_ok(aw_knn_build(knn, (const triple *)point, 100));
        assert_int_equal(aw_knn_query(knn, q, 8, index, distance2), 8);
        assert_int_equal(aw_knn_query(knn, q, 0, index, distance2), 0);
        q[i / 3] = wrong[i % 3];
        assert_int_equal(aw_knn_query(knn, q, 8, index, distance2), 0);
        q[i / 3] = 0.0;
        *bad = wrong[i % 3];
        assert_status(aw_knn_build(knn, (const triple *)point, 100), AW_ERR_NONFINITE);
        assert_int_equal(aw_knn_query(knn, q, 8, index, distance2), 0); /* an empty tree */
        *bad = kept;
    }
    aw_knn_free(knn);
    aw_knn_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(neighbours_among_random_points_are_those_of_a_full_search),
        cmocka_unit_test(neighbours_among_few_points_are_those_of_a_full_search),
        cmocka_unit_test(neighbours_on_a_lattice_are_those_of_a_full_search_with_its_ties),
        cmocka_unit_test(neighbours_among_degenerate_points_are_those_of_a_full_search),
        cmocka_unit_test(distances_that_overflow_keep_the_order_of_indices),
        cmocka_unit_test(a_tree_serves_many_builds_and_many_threads),
        cmocka_unit_test(searches_among_degenerate_points_are_as_fast_as_among_others),
        cmocka_unit_test(points_and_queries_that_are_not_finite_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
