/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "predictor/kmeans.h"

#include <float.h>
#include <math.h>
#include <omp.h>
#include <string.h>

#include "src/base/log.h"
#include "src/base/memory.h"
#include "src/base/port.h"

enum {
    LANES = 16,            /* centroids that are compared at a time: a panel */
    CHUNK = 64,            /* rows of a chunk, short enough that the panel stays in the cache */
    COLUMNS = 64,          /* columns that are averaged at a time */
    TRIALS = 4,            /* candidates for a seed */
    PARALLEL_MIN = 1 << 16 /* smallest number of elements for which a seed is sought in parallel */
};

struct aw_kmeans {
    size_t k, dim;    /* of the centroids; k is 0 if there are none */
    float *centroid;  /* [k][dim] */
    float *panel;     /* [k / LANES, rounded up][dim][LANES] */
    float *distance2; /* [n], to the nearest seed or to the row's centroid */
    float *trial;     /* [TRIALS][n], to the nearest seed with one more seed */
    uint32_t *found;  /* [n], cluster of a row in this iteration */
    uint32_t *count;  /* [k], rows of a cluster */
    uint32_t *begin;  /* [k], index of its first member */
    uint32_t *member; /* [n], rows by cluster, ascending within a cluster */
    double *part;     /* [k], inertia of a cluster */
    /* capacities of these arrays */
    size_t centroids, panels, distances, trials, finds, counts, begins, members, parts;
};

/* The rows, and the labels they get. */
typedef struct sample {
    const float *row;
    size_t n, dim;
    int threads;
    uint32_t *label;
} sample;

aw_status aw_kmeans_new(aw_kmeans **out)
{
    *out = aw_alloc(1, sizeof **out);
    return *out ? AW_OK : aw_error(AW_ERR_NOMEM, "k-means: out of memory");
}

void aw_kmeans_free(aw_kmeans *kmeans)
{
    if (!kmeans) return;
    aw_free(kmeans->centroid);
    aw_free(kmeans->panel);
    aw_free(kmeans->distance2);
    aw_free(kmeans->trial);
    aw_free(kmeans->found);
    aw_free(kmeans->count);
    aw_free(kmeans->begin);
    aw_free(kmeans->member);
    aw_free(kmeans->part);
    aw_free(kmeans);
}

static size_t panels_of(size_t k) { return (k + LANES - 1) / LANES; }

static aw_status reserve(aw_kmeans *w, size_t n, size_t dim, size_t k)
{
    aw_status status = AW_OK;
    size_t panel = panels_of(k) * LANES;
    if (panel == 0 || dim > SIZE_MAX / panel) AW_TRY(AW_ERR_NOMEM);
    AW_TRY(aw_grow((void **)&w->centroid, &w->centroids, k * dim, sizeof *w->centroid));
    AW_TRY(aw_grow((void **)&w->panel, &w->panels, panel * dim, sizeof *w->panel));
    AW_TRY(aw_grow((void **)&w->distance2, &w->distances, n, sizeof *w->distance2));
    AW_TRY(aw_grow((void **)&w->trial, &w->trials, TRIALS * n, sizeof *w->trial));
    AW_TRY(aw_grow((void **)&w->found, &w->finds, n, sizeof *w->found));
    AW_TRY(aw_grow((void **)&w->count, &w->counts, k, sizeof *w->count));
    AW_TRY(aw_grow((void **)&w->begin, &w->begins, k, sizeof *w->begin));
    AW_TRY(aw_grow((void **)&w->member, &w->members, n, sizeof *w->member));
    AW_TRY(aw_grow((void **)&w->part, &w->parts, k, sizeof *w->part));
done:
    if (status != AW_OK) aw_error(status, "k-means: out of memory");
    return status;
}

/* Refuse rows with a number beyond `limit`, up to which no squared distance overflows, or a NaN. */
static aw_status check_rows(const sample *r)
{
    const float limit = sqrtf(FLT_MAX / (4.0f * (float)r->dim)) * 0.99f;
    size_t bad = r->n;
#pragma omp parallel for schedule(static) num_threads(r->threads) reduction(min : bad)
    for (size_t i = 0; i < r->n; ++i) {
        int wrong = 0;
        for (size_t d = 0; d < r->dim; ++d) wrong |= !(fabsf(r->row[i * r->dim + d]) <= limit);
        if (wrong && i < bad) bad = i;
    }
    if (bad == r->n) return AW_OK;
    return aw_error(AW_ERR_NONFINITE,
                    "k-means: row %zu has a number that is not finite, or beyond %g", bad,
                    (double)limit);
}

/* Squared distance for the seeds, summed in an order that vectorises. */
static float distance2(const float *a, const float *b, size_t dim)
{
    float sum[LANES] = {0}, all = 0.0f;
    size_t d = 0;
    for (; d + LANES <= dim; d += LANES) {
#pragma omp simd
        for (int l = 0; l < LANES; ++l) {
            float difference = a[d + (size_t)l] - b[d + (size_t)l];
            sum[l] += difference * difference;
        }
    }
    for (; d < dim; ++d) all += (a[d] - b[d]) * (a[d] - b[d]);
    for (int l = 0; l < LANES; ++l) all += sum[l];
    return all;
}

/* Number i of a fixed sequence, in [0, 1): splitmix64 (S. Vigna, public domain). */
static double draw(uint64_t i)
{
    uint64_t z = (i + 1) * UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    z ^= z >> 31;
    return (double)(z >> 11) * 0x1p-53;
}

/* In these, far[i] is the squared distance of row i to the nearest seed. */

static double sum_of(const float *far, size_t n)
{
    double sum = 0.0;
    for (size_t i = 0; i < n; ++i) sum += (double)far[i];
    return sum;
}

/* The row at which the running sum of far[] exceeds `mark`: for a random mark, a row drawn with a
 * probability proportional to its squared distance. At least one of far[] is positive. */
static size_t draw_row(const float *far, size_t n, double mark)
{
    double sum = 0.0;
    size_t last = 0;
    for (size_t i = 0; i < n && sum <= mark; ++i) {
        sum += (double)far[i];
        if (far[i] > 0.0f) last = i;
    }
    return last;
}

static size_t farthest_row(const float *far, size_t n)
{
    size_t farthest = 0;
    for (size_t i = 1; i < n; ++i)
        if (far[i] > far[farthest]) farthest = i;
    return farthest;
}

/* Squared distance of row i to the nearest seed, with row `pick` as one more seed. */
static float with_seed(const aw_kmeans *w, const sample *r, size_t i, size_t pick)
{
    float far = distance2(&r->row[i * r->dim], &r->row[pick * r->dim], r->dim);
    return far < w->distance2[i] ? far : w->distance2[i];
}

/* The next seed, number c: of the candidates (the farthest row and some drawn ones) the one that
 * leaves the smallest inertia. @return its row; n: every row coincides with a seed */
static size_t next_seed(aw_kmeans *w, const sample *r, size_t c)
{
    const size_t n = r->n;
    const double all = sum_of(w->distance2, n);
    double least = INFINITY;
    size_t pick[TRIALS], best = 0;
    if (!(all > 0.0)) return n;
    pick[0] = farthest_row(w->distance2, n);
    for (size_t t = 1; t < TRIALS; ++t)
        pick[t] = draw_row(w->distance2, n, draw(c * TRIALS + t) * all);
#pragma omp parallel for schedule(static) num_threads(r->threads) if (n * r->dim >= PARALLEL_MIN)
    for (size_t i = 0; i < n; ++i)
        for (size_t t = 0; t < TRIALS; ++t) w->trial[t * n + i] = with_seed(w, r, i, pick[t]);
    for (size_t t = 0; t < TRIALS; ++t) {
        const double sum = sum_of(&w->trial[t * n], n);
        if (!(sum < least)) continue;
        least = sum;
        best = t;
    }
    memcpy(w->distance2, &w->trial[best * n], n * sizeof *w->trial);
    return pick[best];
}

/* Choose the seeds. If no distinct row is left, the first seed is repeated; its cluster then gets
 * no row, since ties go to the lowest index. */
static void seed(aw_kmeans *w, const sample *r)
{
    const size_t first = (size_t)(draw(0) * (double)r->n), bytes = r->dim * sizeof *w->centroid;
    memcpy(w->centroid, &r->row[first * r->dim], bytes);
    for (size_t i = 0; i < r->n; ++i) w->distance2[i] = INFINITY;
    for (size_t i = 0; i < r->n; ++i) w->distance2[i] = with_seed(w, r, i, first);
    for (size_t c = 1, pick = first; c < w->k; ++c) {
        if (pick < r->n) pick = next_seed(w, r, c);
        memcpy(&w->centroid[c * r->dim], &r->row[(pick < r->n ? pick : first) * r->dim], bytes);
    }
}

/* Squared distances of two rows to the centroids of a panel. */
static void pair_distances(const float *AW_RESTRICT a, const float *AW_RESTRICT b,
                           const float *AW_RESTRICT panel, size_t dim, float da[LANES],
                           float db[LANES])
{
    float sa[LANES] = {0}, sb[LANES] = {0};
    for (size_t d = 0; d < dim; ++d) {
        const float xa = a[d], xb = b[d];
#pragma omp simd
        for (int l = 0; l < LANES; ++l) {
            float ea = panel[d * LANES + (size_t)l] - xa, eb = panel[d * LANES + (size_t)l] - xb;
            sa[l] += ea * ea;
            sb[l] += eb * eb;
        }
    }
    memcpy(da, sa, sizeof sa);
    memcpy(db, sb, sizeof sb);
}

/* Copy the centroids into panels, padded with zeros. */
static void fill_panels(aw_kmeans *w, int threads)
{
#pragma omp parallel for schedule(static) num_threads(threads)
    for (size_t p = 0; p < panels_of(w->k); ++p) {
        float *panel = &w->panel[p * w->dim * LANES];
        for (size_t l = 0; l < LANES; ++l) {
            const size_t c = p * LANES + l;
            for (size_t d = 0; d < w->dim; ++d)
                panel[d * LANES + l] = c < w->k ? w->centroid[c * w->dim + d] : 0.0f;
        }
    }
}

/* Nearest centroid of a row so far. */
typedef struct nearest {
    float distance2;
    uint32_t centroid;
} nearest;

static void compare(nearest *best, const float far[LANES], size_t first, size_t end)
{
    for (size_t c = first; c < end; ++c)
        if (far[c - first] < best->distance2) { /* the first of equals is kept */
            best->distance2 = far[c - first];
            best->centroid = (uint32_t)c;
        }
}

/* Nearest centroids of a chunk of rows. */
static void assign_chunk(aw_kmeans *w, const sample *r, size_t first, size_t end)
{
    nearest best[CHUNK];
    for (size_t i = first; i < end; ++i) best[i - first] = (nearest){INFINITY, 0};
    for (size_t c = 0; c < w->k; c += LANES) {
        const size_t c_end = c + LANES < w->k ? c + LANES : w->k;
        for (size_t i = first; i < end; i += 2) {
            const size_t j = i + 1 < end ? i + 1 : i;
            float far_i[LANES], far_j[LANES];
            pair_distances(&r->row[i * r->dim], &r->row[j * r->dim], &w->panel[c * r->dim], r->dim,
                           far_i, far_j);
            compare(&best[i - first], far_i, c, c_end);
            compare(&best[j - first], far_j, c, c_end);
        }
    }
    for (size_t i = first; i < end; ++i) {
        w->found[i] = best[i - first].centroid;
        w->distance2[i] = best[i - first].distance2;
    }
}

/* Nearest centroids of all rows. */
static void assign(aw_kmeans *w, const sample *r)
{
    fill_panels(w, r->threads);
#pragma omp parallel for schedule(dynamic) num_threads(r->threads)
    for (size_t first = 0; first < r->n; first += CHUNK)
        assign_chunk(w, r, first, first + CHUNK < r->n ? first + CHUNK : r->n);
    memset(w->count, 0, w->k * sizeof *w->count);
    for (size_t i = 0; i < r->n; ++i) w->count[w->found[i]]++;
}

/* Assign the farthest row to each empty cluster, as long as there is one. */
static void fill_empty(aw_kmeans *w, const sample *r)
{
    for (size_t c = 0; c < w->k; ++c) {
        size_t farthest = r->n;
        float far = 0.0f;
        if (w->count[c] > 0) continue;
        for (size_t i = 0; i < r->n; ++i)
            if (w->distance2[i] > far && w->count[w->found[i]] > 1) {
                far = w->distance2[i];
                farthest = i;
            }
        if (farthest == r->n) return;
        w->count[w->found[farthest]]--;
        w->count[c]++;
        w->found[farthest] = (uint32_t)c;
    }
}

/* Copy the new labels and sort the rows by cluster. @return the number of changed labels */
static size_t group(aw_kmeans *w, const sample *r)
{
    size_t changed = 0;
    uint32_t end = 0;
    for (size_t i = 0; i < r->n; ++i) {
        changed += r->label[i] != w->found[i];
        r->label[i] = w->found[i];
    }
    for (size_t c = 0; c < w->k; ++c) {
        w->begin[c] = end;
        end += w->count[c];
    }
    for (size_t i = 0; i < r->n; ++i) w->member[w->begin[r->label[i]]++] = (uint32_t)i;
    for (size_t c = 0; c < w->k; ++c) w->begin[c] -= w->count[c];
    return changed;
}

/* Move a centroid to the mean of its rows, summed in their order, a few columns at a time. */
static void average(aw_kmeans *w, const sample *r, size_t c)
{
    const uint32_t *member = &w->member[w->begin[c]];
    for (size_t first = 0; first < r->dim && w->count[c] > 0; first += COLUMNS) {
        const size_t width = r->dim - first < COLUMNS ? r->dim - first : COLUMNS;
        double sum[COLUMNS] = {0};
        for (uint32_t m = 0; m < w->count[c]; ++m)
            for (size_t d = 0; d < width; ++d)
                sum[d] += (double)r->row[member[m] * r->dim + first + d];
        for (size_t d = 0; d < width; ++d)
            w->centroid[c * r->dim + first + d] = (float)(sum[d] / w->count[c]);
    }
}

static double inertia_of(aw_kmeans *w, const sample *r)
{
    double all = 0.0;
#pragma omp parallel for schedule(dynamic) num_threads(r->threads)
    for (size_t c = 0; c < w->k; ++c) {
        const float *centroid = &w->centroid[c * r->dim];
        double sum = 0.0;
        for (uint32_t m = 0; m < w->count[c]; ++m) {
            const float *row = &r->row[w->member[w->begin[c] + m] * r->dim];
            for (size_t d = 0; d < r->dim; ++d) {
                double difference = (double)row[d] - (double)centroid[d];
                sum += difference * difference;
            }
        }
        w->part[c] = sum;
    }
    for (size_t c = 0; c < w->k; ++c) all += w->part[c];
    return all;
}

static void iterate(aw_kmeans *w, const sample *r, int iterations)
{
    for (size_t i = 0; i < r->n; ++i) r->label[i] = UINT32_MAX;
    for (int t = 0; t < iterations; ++t) {
        assign(w, r);
        fill_empty(w, r);
        if (group(w, r) == 0) return;
#pragma omp parallel for schedule(dynamic) num_threads(r->threads)
        for (size_t c = 0; c < w->k; ++c) average(w, r, c);
    }
}

aw_status aw_kmeans_run(aw_kmeans *kmeans, const aw_kmeans_rows *rows,
                        const aw_kmeans_options *options, uint32_t *label, double *inertia)
{
    const size_t n = rows->n, dim = rows->dim, k = options->k;
    const int threads = options->threads > 0 ? options->threads : omp_get_max_threads();
    aw_status status = AW_OK;
    const sample r = {rows->row, n, dim, threads, label};
    const int seeded = options->warm && kmeans->k == k && kmeans->dim == dim;
    kmeans->k = 0;
    if (n == 0 || dim == 0 || k == 0 || options->iterations < 1 || n >= UINT32_MAX ||
        k >= UINT32_MAX)
        AW_TRY(aw_error(AW_ERR_ARG, "k-means: cannot cut %zu rows of %zu into %zu in %d iterations",
                        n, dim, k, options->iterations));
    AW_TRY(reserve(kmeans, n, dim, k));
    AW_TRY(check_rows(&r));
    kmeans->k = k;
    kmeans->dim = dim;
    if (!seeded) seed(kmeans, &r);
    iterate(kmeans, &r, options->iterations);
    if (inertia) *inertia = inertia_of(kmeans, &r);
done:
    return status;
}

const float *aw_kmeans_centroids(const aw_kmeans *kmeans)
{
    return kmeans->k ? kmeans->centroid : NULL;
}

void aw_kmeans_archive(aw_kmeans *w, aw_archive *archive)
{
    AW_ARCHIVE_ITEM(archive, w->k);
    AW_ARCHIVE_ITEM(archive, w->dim);
    size_t n = w->k * w->dim;
    aw_archive_array(archive, (void **)&w->centroid, &n, &w->centroids, sizeof *w->centroid);
}
