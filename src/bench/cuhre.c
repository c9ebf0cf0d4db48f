/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `arcwake bench --cuhre`: the n-dimensional integrator against Genz's integrands. */
#include <math.h>
#include <stdio.h>

#include "quadrature/cuhre.h"
#include "src/base/log.h"
#include "src/base/memory.h"
#include "src/base/timer.h"
#include "src/bench/bench.h"
#include "src/io/json.h"
#include "validation/genz.h"

/* Evaluations allowed for one integral: if every instance of the default ran into this limit, all
 * of them would take half a minute. */
#define EVALUATIONS_MAX 2000000

enum { DIMENSIONS_MIN = 2, DIMENSIONS = AW_CUHRE_DIMENSIONS - DIMENSIONS_MIN + 1 };

/* Outcome of the integrals of a family, of a dimension, or of both. */
typedef struct tally {
    long instances;
    long converged; /* ended with AW_OK */
    long within;    /* of the converged: the true error is within the tolerance */
    double worst;   /* of the converged: true error over tolerance */
    double evaluations, seconds;
} tally;

typedef struct table {
    tally cell[AW_GENZ_FAMILIES][DIMENSIONS];
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

/* One integral over the unit cube, into the tally. */
static aw_status integrate(const aw_device *device, aw_genz *genz, double relative, int threads,
                           tally *t)
{
    static const double a[AW_GENZ_DIMENSIONS] = {0.0};
    static const double b[AW_GENZ_DIMENSIONS] = {1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0};
    const aw_cuhre_params params = {.n = genz->n,
                                    .a = a,
                                    .b = b,
                                    .relative = relative,
                                    .max_evaluations = EVALUATIONS_MAX,
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

static void print_tables(const table *b)
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
        snprintf(name, sizeof name, "%d", d + DIMENSIONS_MIN);
        print_tally(name, &sum);
    }
    print_tally("all", &all);
    aw_info("%ld report convergence; %ld of them (%.2f%%) are within the requested tolerance",
            all.converged, all.within, 100.0 * (double)all.within / (double)all.converged);
}

static void add_json(aw_json *json, int family, int d, const tally *t)
{
    aw_json_begin_object(json, NULL);
    aw_json_string(json, "family", aw_genz_name((aw_genz_family)family));
    aw_json_integer(json, "dimensions", d + DIMENSIONS_MIN);
    aw_json_integer(json, "instances", t->instances);
    aw_json_integer(json, "converged", t->converged);
    aw_json_integer(json, "within", t->within);
    aw_json_integer(json, "silent", t->converged - t->within);
    aw_json_number(json, "worst", t->worst, AW_BENCH_DIGITS);
    aw_json_integer(json, "at_limit", t->instances - t->converged);
    aw_json_number(json, "evaluations", t->evaluations / (double)t->instances, AW_BENCH_DIGITS);
    aw_json_number(json, "seconds", t->seconds, AW_BENCH_DIGITS);
    aw_json_end_object(json);
}

/* The whole table, one object for each family and dimension. */
static aw_status write_json(const table *b, const char *path)
{
    aw_json json = {.depth = 0};
    aw_json_begin_array(&json, NULL);
    for (int f = 0; f < AW_GENZ_FAMILIES; ++f)
        for (int d = 0; d < DIMENSIONS; ++d) add_json(&json, f, d, &b->cell[f][d]);
    aw_json_end_array(&json);
    aw_status status = aw_json_save(&json, path);
    aw_json_free(&json);
    return status;
}

aw_status aw_bench_cuhre(long instances, const char *name, int threads, const char *json)
{
    aw_status status = AW_OK;
    const aw_device_params params = {.threads = threads, .inner_density = 1.0};
    aw_device device = {0};
    table b = {0};
    AW_TRY(aw_device_open(name, &params, &device));
    aw_info("integrals of Genz's families in %d to %d dimensions, %ld of each, relative tolerances "
            "1e-3 to 1e-6 in turn, at most %d evaluations each; on %s",
            (int)DIMENSIONS_MIN, (int)AW_CUHRE_DIMENSIONS, instances, EVALUATIONS_MAX,
            device.ops->cuhre_apply ? device.ops->describe(device.state) : "host threads");
    for (int f = 0; f < AW_GENZ_FAMILIES; ++f)
        for (int d = 0; d < DIMENSIONS; ++d) {
            uint64_t random =
                100 * (uint64_t)f + (uint64_t)d + DIMENSIONS_MIN; /* one sequence each */
            for (long i = 0; i < instances; ++i) {
                aw_genz genz = aw_genz_draw((aw_genz_family)f, d + DIMENSIONS_MIN, &random);
                AW_TRY(integrate(&device, &genz, pow(10.0, -3.0 - (double)(i % 4)), threads,
                                 &b.cell[f][d]));
            }
        }
    print_tables(&b);
    if (json) AW_TRY(write_json(&b, json));
done:
    aw_device_close(&device);
    return status;
}
