/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `arcwake bench --cuhre`: the n-dimensional integrator against Genz's integrands. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "quadrature/cuhre.h"
#include "src/base/log.h"
#include "src/base/memory.h"
#include "src/base/timer.h"
#include "src/bench/bench.h"
#include "src/io/file.h"
#include "validation/genz.h"

/* Evaluations that one integral may take: all of the default instances at the limit would take
 * half a minute. */
#define MOST_EVALUATIONS 2000000

enum { LEAST_N = 2, DIMENSIONS = AW_CUHRE_DIMENSIONS - LEAST_N + 1 };

/* What the integrals of a family, a dimension or both came to. */
typedef struct tally {
    long instances;
    long converged; /* status AW_OK */
    long within;    /* of the converged: the true error is within the tolerance */
    double worst;   /* of the converged: true error over tolerance */
    double evaluations, seconds;
} tally;

typedef struct table {
    tally cell[AW_GENZ_FAMILIES][DIMENSIONS];
    char *text; /* JSON so far */
    size_t length, capacity;
} table;

static void tally_add(tally *t, const tally *more)
{
    t->instances += more->instances;
    t->converged += more->converged;
    t->within += more->within;
    t->worst = fmax(t->worst, more->worst);
    t->evaluations += more->evaluations;
    t->seconds += more->seconds;
}

/* One integral over the device cube. */
static aw_status integrate(const aw_device *device, aw_genz *genz, double relative, int threads,
                           tally *t)
{
    static const double a[AW_GENZ_DIMENSIONS] = {0.0};
    static const double b[AW_GENZ_DIMENSIONS] = {1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0};
    const aw_cuhre_params params = {.n = genz->n,
                                    .a = a,
                                    .b = b,
                                    .relative = relative,
                                    .max_evaluations = MOST_EVALUATIONS,
                                    .threads = threads > 0 ? threads : 1};
    aw_cuhre_result result;
    double begin = aw_now();
    aw_status status = device->ops->cuhre_apply ? aw_cuhre_on(device, &params, genz, &result)
                                                : aw_cuhre(&params, aw_genz_value, genz, &result);
    t->seconds += aw_now() - begin;
    t->evaluations += (double)result.evaluations;
    t->instances++;
    if (status == AW_ERR_MAXEVAL) return AW_OK;
    if (status != AW_OK)
        return aw_error(status, "%s in %d dimensions: %s", aw_genz_name(genz->family), genz->n,
                        aw_status_text(status));
    double exact = aw_genz_integral(genz);
    double wrong = fabs(result.value - exact) / (relative * fabs(exact));
    t->converged++;
    t->within += wrong <= 1.0;
    t->worst = fmax(t->worst, wrong);
    return AW_OK;
}

static void print_head(const char *first)
{
    aw_info("%-14s %9s %9s %7s %7s %8s %8s %12s %8s", first, "instances", "converged", "within",
            "silent", "worst", "at limit", "evaluations", "seconds");
}

static void print_tally(const char *name, const tally *t)
{
    aw_info("%-14s %9ld %9ld %7ld %7ld %8.2g %8ld %12.0f %8.2f", name, t->instances, t->converged,
            t->within, t->converged - t->within, t->worst, t->instances - t->converged,
            t->evaluations / (double)t->instances, t->seconds);
}

static void print_tables(table *b)
{
    tally all = {0};
    print_head("family");
    for (int f = 0; f < AW_GENZ_FAMILIES; ++f) {
        tally sum = {0};
        for (int d = 0; d < DIMENSIONS; ++d) tally_add(&sum, &b->cell[f][d]);
        print_tally(aw_genz_name((aw_genz_family)f), &sum);
        tally_add(&all, &sum);
    }
    print_head("dimensions");
    for (int d = 0; d < DIMENSIONS; ++d) {
        tally sum = {0};
        char name[16];
        for (int f = 0; f < AW_GENZ_FAMILIES; ++f) tally_add(&sum, &b->cell[f][d]);
        snprintf(name, sizeof name, "%d", d + LEAST_N);
        print_tally(name, &sum);
    }
    print_tally("all", &all);
    aw_info("of %ld that say converged, %ld (%.2f%%) are within the tolerance asked for",
            all.converged, all.within, 100.0 * (double)all.within / (double)all.converged);
}

static aw_status json_row(table *b, int family, int d)
{
    const tally *t = &b->cell[family][d];
    char row[512];
    int n =
        snprintf(row, sizeof row,
                 "%s  {\"family\": \"%s\", \"dimensions\": %d, \"instances\": %ld, "
                 "\"converged\": %ld, \"within\": %ld, \"silent\": %ld, \"worst\": %.6g, "
                 "\"at_limit\": %ld, \"evaluations\": %.6g, \"seconds\": %.6g}",
                 b->length ? ",\n" : "[\n", aw_genz_name((aw_genz_family)family), d + LEAST_N,
                 t->instances, t->converged, t->within, t->converged - t->within, t->worst,
                 t->instances - t->converged, t->evaluations / (double)t->instances, t->seconds);
    if (n < 0 || aw_grow((void **)&b->text, &b->capacity, b->length + (size_t)n + 8, 1) != AW_OK)
        return aw_error(AW_ERR_NOMEM, "out of memory for the JSON file");
    memcpy(b->text + b->length, row, (size_t)n);
    b->length += (size_t)n;
    return AW_OK;
}

aw_status aw_bench_cuhre(long instances, const char *unit, int threads, const char *json)
{
    aw_status status = AW_OK;
    const aw_device_params params = {.threads = threads, .inner_density = 1.0};
    aw_device device = {0};
    table b = {.text = NULL};
    AW_TRY(aw_device_open(unit, &params, &device));
    aw_info("integrals of Genz's families in %d to %d dimensions, %ld of each, relative tolerances "
            "1e-3 to 1e-6 in turn, at most %d evaluations; on %s",
            (int)LEAST_N, (int)AW_CUHRE_DIMENSIONS, instances, MOST_EVALUATIONS,
            device.ops->cuhre_apply ? device.ops->describe(device.state) : "threads of the host");
    for (int f = 0; f < AW_GENZ_FAMILIES; ++f)
        for (int d = 0; d < DIMENSIONS; ++d) {
            uint64_t random = 100 * (uint64_t)f + (uint64_t)d + LEAST_N; /* a sequence for each */
            for (long i = 0; i < instances; ++i) {
                aw_genz genz = aw_genz_draw((aw_genz_family)f, d + LEAST_N, &random);
                AW_TRY(integrate(&device, &genz, pow(10.0, -3.0 - (double)(i % 4)), threads,
                                 &b.cell[f][d]));
            }
            AW_TRY(json_row(&b, f, d));
        }
    print_tables(&b);
    if (json) {
        memcpy(b.text + b.length, "\n]\n", 3);
        AW_TRY(aw_file_replace(json, b.text, b.length + 3));
    }
done:
    aw_device_close(&device);
    aw_free(b.text);
    return status;
}
