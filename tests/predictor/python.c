/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writes samples and our results as plain arrays, which tests/predictor/test_<word>.py checks. */
#include <stdio.h>
#include <string.h>

#include "predictor/kmeans.h"
#include "predictor/knn.h"
#include "src/base/memory.h"
#include "tests/assert_close.h"
#include "tests/output/scratch.h"
#include "tests/python_fixture.h"
#include "tests/slice_fixture.h"

/* Repeated in the script. */
enum { ROWS = 900, DIM = 40, K = 24, ITERATIONS = 4, SIDE = 12, LAYERS = 5, NEIGHBOURS = 8 };
enum { POINTS = SIDE * SIDE * LAYERS };

static void save(const char *directory, const char *sample, const char *name, const void *data,
                 size_t bytes)
{
    char file[64];
    snprintf(file, sizeof file, "%s.%s", sample, name);
    FILE *out = fopen(scratch_path(directory, file), "wb");
    assert_non_null(out);
    assert_int_equal(fwrite(data, 1, bytes, out), bytes);
    assert_int_equal(fclose(out), 0);
}

/* Bell-shaped noise without functions of libm: the same rows on every machine. */
static double bell(uint64_t *random)
{
    double sum = 0.0;
    for (int i = 0; i < 4; ++i) sum += uniform(random, -1.0, 1.0);
    return sum;
}

/* K blobs of this spread. */
static void fill_blobs(float *row, double spread)
{
    uint64_t random = 1;
    static double centre[K][DIM];
    for (int c = 0; c < K; ++c)
        for (int d = 0; d < DIM; ++d) centre[c][d] = bell(&random);
    for (int i = 0; i < ROWS; ++i)
        for (int d = 0; d < DIM; ++d)
            row[i * DIM + d] = (float)(centre[i * i % K][d] + spread * bell(&random));
}

/* Bumps at positions that vary from row to row: similar rows exist, but no separate clusters. */
static void fill_patterns(float *row)
{
    uint64_t random = 2;
    for (int i = 0; i < ROWS; ++i) {
        double x = uniform(&random, -1.0, 1.0), y = uniform(&random, -1.0, 1.0);
        for (int d = 0; d < DIM; ++d) {
            double u = (double)d / DIM - 0.5 - 0.3 * x, v = (double)d / DIM - 0.3 - 0.2 * y * y;
            row[i * DIM + d] = (float)(6.0 / (1.0 + 200.0 * u * u) + 3.0 / (1.0 + 50.0 * v * v));
        }
    }
}

static void write_kmeans(const char *directory, const char *sample, const float *row)
{
    static uint32_t label[ROWS];
    double inertia;
    aw_kmeans *w = NULL;
    const size_t bytes = (size_t)K * DIM * sizeof(float);
    assert_ok(aw_kmeans_new(&w));
    save(directory, sample, "row", row, (size_t)ROWS * DIM * sizeof *row);
    assert_ok(aw_kmeans_run(w, &(aw_kmeans_rows){row, ROWS, DIM}, &(aw_kmeans_options){K, 0, 1, 2},
                            label, &inertia));
    save(directory, sample, "start", aw_kmeans_centroids(w), bytes);
    assert_ok(aw_kmeans_run(w, &(aw_kmeans_rows){row, ROWS, DIM},
                            &(aw_kmeans_options){K, 1, ITERATIONS, 2}, label, &inertia));
    save(directory, sample, "label", label, sizeof label);
    save(directory, sample, "centroid", aw_kmeans_centroids(w), bytes);
    save(directory, sample, "inertia", &inertia, sizeof inertia);
    assert_ok(aw_kmeans_run(w, &(aw_kmeans_rows){row, ROWS, DIM},
                            &(aw_kmeans_options){K, 0, 1000, 2}, label, &inertia));
    save(directory, sample, "rest", &inertia, sizeof inertia);
    aw_kmeans_free(w);
}

static void write_knn(const char *directory, const char *sample, int lattice)
{
    static double point[POINTS][3], query[POINTS][3], distance2[POINTS][NEIGHBOURS];
    static uint32_t index[POINTS][NEIGHBOURS];
    uint64_t random = 3;
    aw_knn *knn = NULL;
    for (int i = 0; i < POINTS; ++i) {
        const int place[3] = {i % SIDE, i / SIDE % SIDE, i / SIDE / SIDE};
        for (int d = 0; d < 3; ++d) {
            point[i][d] = lattice ? 0.1 * place[d] : uniform(&random, -1.0, 1.0);
            query[i][d] = lattice ? 0.05 * (place[d] + SIDE) : uniform(&random, -1.5, 1.5);
        }
    }
    assert_ok(aw_knn_new(&knn));
    assert_ok(aw_knn_build(knn, (const double(*)[3])point, POINTS));
    for (int i = 0; i < POINTS; ++i)
        assert_int_equal(aw_knn_query(knn, query[i], NEIGHBOURS, index[i], distance2[i]),
                         NEIGHBOURS);
    save(directory, sample, "point", point, sizeof point);
    save(directory, sample, "query", query, sizeof query);
    save(directory, sample, "index", index, sizeof index);
    save(directory, sample, "distance2", distance2, sizeof distance2);
    aw_knn_free(knn);
}

int main(int argc, char **argv)
{
    static float row[ROWS * DIM];
    char directory[SCRATCH_PATH], script[128];
    if (argc != 2) return 2;
    scratch_make(directory);
    fill_blobs(row, 0.2);
    write_kmeans(directory, "blobs", row);
    fill_blobs(row, 1.5);
    write_kmeans(directory, "clouds", row);
    fill_patterns(row);
    write_kmeans(directory, "patterns", row);
    write_knn(directory, "random", 0);
    write_knn(directory, "lattice", 1);
    snprintf(script, sizeof script, "tests/predictor/test_%s.py", argv[1]);
    int code = python_run(script, directory);
    scratch_remove(directory);
    return code;
}
