/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "predictor/access_pattern.h"

#include <math.h>
#include <string.h>

#include "src/base/memory.h"

aw_status aw_patterns_shape(aw_patterns *patterns, const aw_partition *partition, size_t rows)
{
    const size_t n = partition->n;
    aw_status status = AW_OK;
    AW_TRY(aw_grow((void **)&patterns->edge, &patterns->edge_capacity, n, sizeof(double)));
    AW_TRY(aw_grow((void **)&patterns->hard, &patterns->hard_capacity, n, sizeof(int)));
    patterns->rows = rows;
    patterns->cells = n > 0 ? n - 1 : 0;
    AW_TRY(aw_grow((void **)&patterns->need, &patterns->need_capacity, rows * patterns->cells,
                   sizeof(float)));
    for (size_t i = 0; i < n; ++i) patterns->edge[i] = partition->box[i].r;
    memcpy(patterns->hard, partition->hard, n * sizeof(int));
done:
    return status;
}

void aw_patterns_free(aw_patterns *patterns)
{
    aw_free(patterns->edge);
    aw_free(patterns->hard);
    aw_free(patterns->need);
    memset(patterns, 0, sizeof *patterns);
}

void aw_patterns_clear(aw_patterns *patterns)
{
    memset(patterns->need, 0, patterns->rows * patterns->cells * sizeof *patterns->need);
}

void aw_patterns_carry(const aw_patterns *from, const float *need, const aw_patterns *to,
                       float *out)
{
    size_t j = 0;
    for (size_t i = 0; i < to->cells; ++i) {
        const double a = to->edge[i], b = to->edge[i + 1];
        double sum = 0.0;
        while (j > 0 && from->edge[j] > a) --j;
        for (; j < from->cells && from->edge[j] < b; ++j) {
            const double lo = from->edge[j] > a ? from->edge[j] : a;
            const double hi = from->edge[j + 1] < b ? from->edge[j + 1] : b;
            if (hi > lo) sum += (double)need[j] * (hi - lo) / (from->edge[j + 1] - from->edge[j]);
        }
        out[i] = (float)sum;
    }
}

/* Sum of the errors of all cells if every region may have the error level^-4. */
static double error_of(const float *rough, size_t cells, double least, double level)
{
    double sum = 0.0;
    for (size_t j = 0; j < cells; ++j) {
        const double s = (double)rough[j], n = fmax(least, s * level);
        if (s > 0.0) sum += s * (s / n) * (s / n) * (s / n);
    }
    return sum;
}

void aw_patterns_allot(const float *rough, size_t cells, double least, double total, float *need)
{
    double low = 0.0, high = 1.0;
    for (int i = 0; i < 60 && error_of(rough, cells, least, high) > total; ++i) high *= 4.0;
    for (int i = 0; i < 24; ++i) { /* to 1e-7, far finer than whole numbers of regions */
        const double middle = 0.5 * (low + high);
        if (error_of(rough, cells, least, middle) > total)
            low = middle;
        else
            high = middle;
    }
    for (size_t j = 0; j < cells; ++j)
        need[j] = rough[j] < 0.0F ? 0.0F : (float)fmax(least, (double)rough[j] * high);
}

double aw_patterns_error(const float *rough, const float *need, size_t cells)
{
    double sum = 0.0;
    for (size_t j = 0; j < cells; ++j) {
        const double s = (double)rough[j], n = (double)need[j];
        if (s > 0.0 && n > 0.0) sum += s * (s / n) * (s / n) * (s / n);
    }
    return sum;
}

void aw_patterns_by_slice(const aw_patterns *patterns, const float *need, const double *age,
                          size_t slices, double *n)
{
    size_t first = 0;
    memset(n, 0, slices * sizeof *n);
    for (size_t i = 0; i < patterns->cells; ++i) {
        const double a = patterns->edge[i], b = patterns->edge[i + 1];
        while (first < slices && age[first + 1] <= a) ++first;
        for (size_t s = first; s < slices && age[s] < b; ++s) {
            const double lo = fmax(a, age[s]), hi = fmin(b, age[s + 1]);
            if (hi > lo) n[s] += (double)need[i] * (hi - lo) / (b - a);
        }
    }
}

void aw_patterns_archive(aw_patterns *p, aw_archive *archive)
{
    AW_ARCHIVE_ITEM(archive, p->rows);
    AW_ARCHIVE_ITEM(archive, p->cells);
    size_t edges = p->edge ? p->cells + 1 : 0, hard = edges, needs = p->rows * p->cells;
    aw_archive_array(archive, (void **)&p->edge, &edges, &p->edge_capacity, sizeof *p->edge);
    aw_archive_array(archive, (void **)&p->hard, &hard, &p->hard_capacity, sizeof *p->hard);
    aw_archive_array(archive, (void **)&p->need, &needs, &p->need_capacity, sizeof *p->need);
}
