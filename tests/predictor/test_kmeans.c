/* SPDX-License-Identifier: GPL-3.0-or-later */
/* K-means against a plain implementation of Lloyd's iteration; seeds, threads and errors. */
#include <stdlib.h>
#include <string.h>

#include "predictor/kmeans.h"
#include "src/base/log.h"
#include "src/base/memory.h"
#include "tests/assert_close.h"
#include "tests/output/scratch.h"
#include "tests/slice_fixture.h"

/* Rows, and the result of their clustering. */
typedef struct set {
    size_t n, dim, k;
    float *row, *centroid;
    uint32_t *label;
    double inertia;
} set;

/* Values of a set of rows. */
typedef enum kind { RANDOM, CLUSTERED, LATTICE, EQUAL, KINDS } kind;

static set set_new(kind what, size_t n, size_t dim, size_t k, uint64_t seed)
{
    set s = {.n = n, .dim = dim, .k = k};
    s.row = aw_alloc(n * dim, sizeof *s.row);
    s.centroid = aw_alloc(k * dim, sizeof *s.centroid);
    s.label = aw_alloc(n, sizeof *s.label);
    for (size_t i = 0; i < n * dim; ++i) {
        uint64_t blob = 100 + i / dim % 7 * 1000 + i % dim;
        double x = uniform(&seed, -1.0, 1.0);
        if (what == CLUSTERED) x = 0.2 * x + uniform(&blob, -1.0, 1.0);
        if (what == LATTICE) x = floor(3.0 * fabs(x)); /* many ties, and equal rows */
        if (what == EQUAL) x = 0.7;
        s.row[i] = (float)x;
    }
    return s;
}

static void set_free(set *s)
{
    aw_free(s->row);
    aw_free(s->centroid);
    aw_free(s->label);
}

static aw_kmeans *kmeans_new(void)
{
    aw_kmeans *w = NULL;
    assert_ok(aw_kmeans_new(&w));
    assert_null(aw_kmeans_centroids(w));
    return w;
}

static void run(aw_kmeans *w, set *s, int warm, int iterations, int threads)
{
    assert_ok(aw_kmeans_run(w, &(aw_kmeans_rows){s->row, s->n, s->dim},
                            &(aw_kmeans_options){s->k, warm, iterations, threads}, s->label,
                            &s->inertia));
    memcpy(s->centroid, aw_kmeans_centroids(w), s->k * s->dim * sizeof *s->centroid);
}

/* Squared distance summed in float, column by column, as the library does. */
static float distance2(const float *a, const float *b, size_t dim)
{
    float sum = 0.0f;
    for (size_t d = 0; d < dim; ++d) sum += (a[d] - b[d]) * (a[d] - b[d]);
    return sum;
}

static size_t size_of(const set *s, size_t c)
{
    size_t size = 0;
    for (size_t i = 0; i < s->n; ++i) size += s->label[i] == c;
    return size;
}

static void plain_fill_empty(set *s, const float *far)
{
    for (size_t c = 0; c < s->k; ++c) {
        size_t best = s->n;
        if (size_of(s, c) > 0) continue;
        for (size_t i = 0; i < s->n; ++i)
            if (far[i] > 0.0f && (best == s->n || far[i] > far[best]) &&
                size_of(s, s->label[i]) > 1)
                best = i;
        if (best == s->n) continue;
        s->label[best] = (uint32_t)c;
    }
}

/* One of Lloyd's iterations: labels from centroids, then centroids from labels. */
static void plain_iteration(set *s)
{
    float *far = aw_alloc(s->n, sizeof *far);
    for (size_t i = 0; i < s->n; ++i) {
        far[i] = INFINITY;
        for (size_t c = 0; c < s->k; ++c) {
            float d2 = distance2(&s->row[i * s->dim], &s->centroid[c * s->dim], s->dim);
            if (!(d2 < far[i])) continue;
            far[i] = d2;
            s->label[i] = (uint32_t)c;
        }
    }
    plain_fill_empty(s, far);
    for (size_t c = 0; c < s->k; ++c)
        for (size_t d = 0, size = size_of(s, c); d < s->dim && size > 0; ++d) {
            double sum = 0.0;
            for (size_t i = 0; i < s->n; ++i)
                if (s->label[i] == c) sum += (double)s->row[i * s->dim + d];
            s->centroid[c * s->dim + d] = (float)(sum / (double)size);
        }
    aw_free(far);
}

static double plain_inertia(const set *s)
{
    double sum = 0.0;
    for (size_t i = 0; i < s->n; ++i)
        for (size_t d = 0; d < s->dim; ++d) {
            double x = (double)s->row[i * s->dim + d];
            double error = x - (double)s->centroid[s->label[i] * s->dim + d];
            sum += error * error;
        }
    return sum;
}

static void assert_same(const set *a, const set *b)
{
    assert_memory_equal(a->label, b->label, a->n * sizeof *a->label);
    assert_memory_equal(a->centroid, b->centroid, a->k * a->dim * sizeof *a->centroid);
}

/* Seeds from one set of rows, iterations on another, so that some clusters are empty at first. */
static void compare(kind what, size_t n, size_t dim, size_t k)
{
    set s = set_new(what, n, dim, k, 1), p = set_new(what, n, dim, k, 2);
    aw_kmeans *w = kmeans_new();
    run(w, &s, 0, 2, 1);
    memcpy(p.centroid, s.centroid, k * dim * sizeof *p.centroid);
    memcpy(s.row, p.row, n * dim * sizeof *s.row);
    for (int t = 1; t <= 6; ++t) {
        run(w, &s, 1, t % 3 + 1, 1); /* 2, 3, 1, ... iterations in a call */
        for (int i = 0; i < t % 3 + 1; ++i) plain_iteration(&p);
        assert_same(&s, &p);
        assert_close(s.inertia, plain_inertia(&s), 1e-13, 0.0); /* another order of the sums */
    }
    aw_kmeans_free(w);
    set_free(&s);
    set_free(&p);
}

static void iterations_are_those_of_the_plain_algorithm(void **state)
{
    (void)state;
    for (kind what = 0; what < KINDS; ++what) {
        compare(what, 401, 30, 37); /* not a multiple of the block size in any dimension */
        compare(what, 128, 64, 16);
        compare(what, 130, 3, 17);
        compare(what, 129, 1, 5);
        compare(what, 65, 100, 1);
        compare(what, 2, 2, 2);
        compare(what, 1, 5, 3);
        compare(what, 40, 2, 60);
    }
}

static void results_are_bit_identical_for_any_number_of_threads(void **state)
{
    (void)state;
    for (kind what = 0; what < KINDS; ++what) {
        set one = set_new(what, 700, 101, 41, 3); /* large enough for seeds in parallel */
        aw_kmeans *w = kmeans_new();
        run(w, &one, 0, 5, 1);
        for (int threads = 2; threads <= 3; ++threads) {
            set more = set_new(what, 700, 101, 41, 3);
            run(w, &more, 0, 5, threads);
            assert_same(&one, &more);
            assert_memory_equal(&one.inertia, &more.inertia, sizeof one.inertia);
            set_free(&more);
        }
        aw_kmeans_free(w);
        set_free(&one);
    }
}

static void a_cold_start_does_not_depend_on_earlier_calls(void **state)
{
    set a = set_new(CLUSTERED, 300, 20, 12, 4), b = set_new(CLUSTERED, 300, 20, 12, 4);
    set other = set_new(RANDOM, 500, 33, 50, 5);
    aw_kmeans *w = kmeans_new();
    (void)state;
    run(w, &a, 1, 3, 1); /* warm, but without earlier centroids */
    run(w, &other, 0, 3, 1);
    run(w, &b, 1, 3, 1); /* warm, but of another shape: cold */
    assert_same(&a, &b);
    for (size_t i = 0; i < b.n * b.dim; ++i) b.row[i] += 0.5f;
    run(w, &b, 1, 1, 1);
    memcpy(b.row, a.row, b.n * b.dim * sizeof *b.row);
    run(w, &b, 0, 3, 1);
    assert_same(&a, &b);
    aw_kmeans_free(w);
    set_free(&a);
    set_free(&b);
    set_free(&other);
}

static void iterations_lower_the_inertia_until_labels_are_final(void **state)
{
    set s = set_new(RANDOM, 500, 8, 20, 6), final = set_new(RANDOM, 500, 8, 20, 6);
    double last = HUGE_VAL;
    aw_kmeans *w = kmeans_new();
    (void)state;
    for (int t = 0; t < 5; ++t) {
        run(w, &s, t > 0, 1, 1);
        assert_true(s.inertia < last);
        last = s.inertia;
    }
    run(w, &s, 1, 10000, 1);
    assert_true(s.inertia < last);
    run(w, &final, 1, 1, 1);
    assert_same(&s, &final);
    run(w, &final, 0, 10000, 1); /* the same in one call */
    assert_same(&s, &final);
    aw_kmeans_free(w);
    set_free(&s);
    set_free(&final);
}

/* Rows differ within a blob, too: with drawn candidates alone, some seeds would share a blob. */
static void blobs_far_apart_are_found_from_the_seeds(void **state)
{
    enum { BLOBS = 40, EACH = 9 };
    set s = set_new(RANDOM, BLOBS * EACH, 50, BLOBS, 7);
    uint32_t name[BLOBS];
    aw_kmeans *w = kmeans_new();
    (void)state;
    for (size_t i = 0; i < s.n; ++i) s.row[i * s.dim + i % BLOBS] += 8.0f;
    run(w, &s, 0, 2, 1);
    for (size_t i = 0; i < s.n; ++i) {
        if (i < BLOBS) {
            name[i] = s.label[i];
            assert_int_equal(size_of(&s, name[i]), EACH);
        }
        assert_int_equal(s.label[i], name[i % BLOBS]);
    }
    aw_kmeans_free(w);
    set_free(&s);
}

static void more_clusters_than_different_rows_leave_some_empty(void **state)
{
    set s = set_new(RANDOM, 30, 6, 50, 8);
    aw_kmeans *w = kmeans_new();
    (void)state;
    memcpy(&s.row[20 * 6], s.row, 10 * 6 * sizeof *s.row); /* 20 different rows */
    run(w, &s, 0, 10, 1);
    size_t used = 0;
    for (size_t c = 0; c < s.k; ++c) used += size_of(&s, c) > 0;
    assert_int_equal(used, 20);
    for (size_t i = 20; i < 30; ++i) assert_int_equal(s.label[i], s.label[i - 20]);
    assert_close(s.inertia, 0.0, 0.0, 0.0); /* the mean of equal floats is exact */
    aw_kmeans_free(w);
    set_free(&s);
}

static void an_empty_cluster_takes_the_farthest_row(void **state)
{
    const float seeds[] = {0, 100, 0, 100}, rows[] = {1, 9, 2, 0};
    set s = set_new(EQUAL, 4, 1, 2, 9);
    aw_kmeans *w = kmeans_new();
    (void)state;
    memcpy(s.row, seeds, sizeof seeds);
    run(w, &s, 0, 1, 1);
    const uint32_t near = s.label[0], far = s.label[1];
    assert_close(s.centroid[far], 100.0, 0.0, 0.0);
    memcpy(s.row, rows, sizeof rows);
    run(w, &s, 1, 1, 1);
    assert_int_equal(s.label[1], far);
    assert_int_equal(size_of(&s, near), 3);
    assert_close(s.centroid[near], 1.0, 0.0, 0.0);
    assert_close(s.centroid[far], 9.0, 0.0, 0.0);
    aw_kmeans_free(w);
    set_free(&s);
}

static void a_row_that_is_not_finite_is_named(void **state)
{
    const float wrong[] = {NAN, INFINITY, -INFINITY, 1e19f}; /* the last one's square overflows */
    char directory[SCRATCH_PATH];
    set s = set_new(RANDOM, 300, 20, 12, 10), cold = set_new(RANDOM, 300, 20, 12, 10);
    aw_kmeans *w = kmeans_new();
    (void)state;
    run(w, &cold, 0, 1, 1);
    scratch_make(directory);
    for (int i = 0; i < 4; ++i) {
        run(w, &s, 0, 5, 1);
        s.row[123 * 20 + 5 * i] = s.row[140 * 20] = s.row[200 * 20] = wrong[i];
        scratch_stderr_begin(directory);
        assert_status(aw_kmeans_run(w, &(aw_kmeans_rows){s.row, s.n, s.dim},
                                    &(aw_kmeans_options){s.k, 1, 5, 2}, s.label, &s.inertia),
                      AW_ERR_NONFINITE);
        char *said = scratch_stderr_end();
        assert_non_null(strstr(said, "row 123 "));
        free(said);
        assert_null(aw_kmeans_centroids(w));
        memcpy(s.row, cold.row, s.n * s.dim * sizeof *s.row);
        run(w, &s, 1, 1, 1); /* starts cold after the error */
        assert_same(&s, &cold);
    }
    scratch_remove(directory);
    aw_kmeans_free(w);
    set_free(&s);
    set_free(&cold);
}

static void large_numbers_are_accepted_up_to_the_limit(void **state)
{
    set s = set_new(RANDOM, 100, 20, 5, 11), small = set_new(RANDOM, 100, 20, 5, 11);
    aw_kmeans *w = kmeans_new();
    (void)state;
    for (size_t i = 0; i < s.n * s.dim; ++i) s.row[i] *= 0x1p60f; /* the limit is 2.0e18 */
    run(w, &s, 0, 20, 1);
    run(w, &small, 0, 20, 1);
    assert_memory_equal(s.label, small.label, s.n * sizeof *s.label); /* a power of two: exact */
    aw_kmeans_free(w);
    set_free(&s);
    set_free(&small);
}

static void nothing_to_cluster_is_refused(void **state)
{
    aw_kmeans *w = kmeans_new();
    float row[4] = {0};
    uint32_t label[4];
    (void)state;
    for (int i = 0; i < 4; ++i)
        assert_status(aw_kmeans_run(w, &(aw_kmeans_rows){row, i != 0, i != 1},
                                    &(aw_kmeans_options){i != 2, 0, i != 3, 1}, label, NULL),
                      AW_ERR_ARG);
    assert_ok(aw_kmeans_run(w, &(aw_kmeans_rows){row, 1, 1}, &(aw_kmeans_options){1, 0, 1, 0},
                            label, NULL));
    aw_kmeans_free(w);
    aw_kmeans_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(iterations_are_those_of_the_plain_algorithm),
        cmocka_unit_test(results_are_bit_identical_for_any_number_of_threads),
        cmocka_unit_test(a_cold_start_does_not_depend_on_earlier_calls),
        cmocka_unit_test(iterations_lower_the_inertia_until_labels_are_final),
        cmocka_unit_test(blobs_far_apart_are_found_from_the_seeds),
        cmocka_unit_test(more_clusters_than_different_rows_leave_some_empty),
        cmocka_unit_test(an_empty_cluster_takes_the_farthest_row),
        cmocka_unit_test(a_row_that_is_not_finite_is_named),
        cmocka_unit_test(large_numbers_are_accepted_up_to_the_limit),
        cmocka_unit_test(nothing_to_cluster_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
