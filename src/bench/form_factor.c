/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `arcwake bench --form-factor`: the direct sum over particles at lattices and lists of waves. */
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <time.h>

#include "kernels/cpu/peak.h"
#include "src/base/comm.h"
#include "src/base/log.h"
#include "src/base/memory.h"
#include "src/base/timer.h"
#include "src/bench/bench.h"
#include "src/form_factor/form_factor.h"
#include "src/io/json.h"

/* A list is timed with fewer waves: it has a cosine and a sine for each term. */
enum { LIST_SHARE = 100 };
/* Products of a term in pairs of waves: four, which two waves share. */
#define PRODUCTS 2.0

/* What a line of the table times. */
typedef struct form_case {
    const char *name;
    int axes; /* of the lattice; 0: a list */
    int single;
} form_case;

typedef struct form_row {
    const form_case *what;
    aw_waves waves;
    double terms, wall, processor; /* best of the repetitions, of all ranks [s] */
    double peak;                   /* 1e9 multiply-adds/s of a core, the largest measured */
    double memory;                 /* by which the largest resident set grew [bytes] */
} form_row;

/* A number of 0 .. 1 for each particle and column: particles that need no memory.
 * Source: G. L. Steele et al., SplitMix (2014), its mixing function. */
static double chance(size_t particle, unsigned column)
{
    uint64_t x = (4 * (uint64_t)particle + column + 1) * 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return (double)((x ^ x >> 31) >> 11) * 0x1p-53;
}

/* A bunch of 1 mm, which the waves resolve to 1 um. */
static aw_status read_chance(void *context, size_t first, size_t n, double *const at[3],
                             double *charge)
{
    (void)context;
    for (size_t j = 0; j < n; ++j) {
        for (unsigned c = 0; c < 3; ++c) at[c][j] = 1e-3 * (chance(first + j, c) - 0.5);
        charge[j] = 1.0;
    }
    return AW_OK;
}

/* Results are not kept. */
static aw_status drop(void *context, size_t first, size_t n, const double (*F)[2])
{
    (void)context;
    (void)first;
    (void)n;
    (void)F;
    return AW_OK;
}

/* About `waves` wave vectors up to 1e6 per metre along each axis. */
static aw_waves lattice(long waves, int axes)
{
    aw_waves w = {.n = {1, 1, 1}};
    for (int a = 0; a < axes; ++a) {
        w.n[2 - a] = (size_t)llrint(pow((double)waves, 1.0 / axes));
        w.step[2 - a][a] = 1e6 / (double)w.n[2 - a];
    }
    return w;
}

static aw_status time_once(const aw_bench *b, const aw_device *device, form_row *row)
{
    const aw_form_source source = {.n = (size_t)b->particles[0], .read = read_chance};
    const aw_form_sink sink = {.write = drop};
    const aw_form_options options = {.single = row->what->single,
                                     .memory = (size_t)b->memory << 20};
    const int threads = b->threads > 0 ? b->threads : omp_get_max_threads();
    const size_t memory = aw_memory_peak();
    aw_form_bunch bunch;
    aw_peak peak;
    aw_status status = AW_OK;
    /* ranks that come later from their peaks would let the others' clocks run */
    AW_TRY(aw_comm_agree(aw_peak_arithmetic(NULL, threads, &peak)));
    const double wall = aw_now();
    const clock_t processor = clock();
    AW_TRY(aw_form_factor(device, &source, &row->waves, &options, &sink, &bunch));
    double spent = (double)(clock() - processor) / (double)CLOCKS_PER_SEC;
    aw_comm_sum(&spent, 1);
    row->processor = fmin(row->processor, spent);
    row->wall = fmin(row->wall, aw_now() - wall);
    row->peak = fmax(row->peak, 0.5 * peak.arithmetic[row->what->single]);
    row->memory = fmax(row->memory, (double)(aw_memory_peak() - memory));
done:
    return status;
}

static aw_status measure(const aw_bench *b, const aw_device *device, form_row *row)
{
    const size_t listed = (size_t)(b->form_factor / LIST_SHARE) + 1;
    double(*list)[3] = NULL;
    aw_status status = AW_OK;
    if (row->what->axes > 0) {
        row->waves = lattice(b->form_factor, row->what->axes);
    } else {
        list = aw_alloc(listed, sizeof *list);
        AW_TRY(list ? AW_OK : AW_ERR_NOMEM);
        for (size_t i = 0; i < listed; ++i)
            for (unsigned c = 0; c < 3; ++c) list[i][c] = 1e6 * chance(i, c);
        row->waves = (aw_waves){.n = {1, 1, listed}, .list = (const double(*)[3])list};
    }
    row->wall = row->processor = HUGE_VAL;
    row->terms = (double)b->particles[0] * (double)aw_waves_count(&row->waves);
    for (int i = 0; i < b->repeat; ++i) AW_TRY(time_once(b, device, row));
done:
    aw_free(list);
    return status;
}

/* Nanoseconds of a core for a term; and the part of its peak, for pairs of waves. */
static double nanoseconds(const form_row *row) { return 1e9 * row->processor / row->terms; }
static double share(const form_row *row)
{
    return row->what->axes > 0 ? PRODUCTS / (nanoseconds(row) * row->peak) : (double)NAN;
}

static void print_row(const form_row *row)
{
    char of_peak[16] = "-";
    if (row->what->axes > 0) snprintf(of_peak, sizeof of_peak, "%.1f %%", 100.0 * share(row));
    aw_info("%-7s %-7s %9.0f %10.3g %9.3f %9.3f %9.4f %9.1f %8s %8.1f", row->what->name,
            row->what->single ? "single" : "double", (double)aw_waves_count(&row->waves),
            row->terms, row->wall, row->processor, nanoseconds(row), row->peak, of_peak,
            row->memory / 1048576.0);
}

static void add_json(aw_json *json, const aw_bench *b, const char *device, const form_row *row)
{
    aw_json_begin_object(json, NULL);
    aw_json_string(json, "case", row->what->name);
    aw_json_string(json, "precision", row->what->single ? "single" : "double");
    aw_json_string(json, "device", device);
    aw_json_integer(json, "threads", b->threads > 0 ? b->threads : omp_get_max_threads());
    aw_json_integer(json, "ranks", aw_comm_size());
    aw_json_integer(json, "particles", b->particles[0]);
    aw_json_integer(json, "waves", (long long)aw_waves_count(&row->waves));
    aw_json_number(json, "seconds", row->wall, AW_BENCH_DIGITS);
    aw_json_number(json, "processor_seconds", row->processor, AW_BENCH_DIGITS);
    aw_json_number(json, "nanoseconds", nanoseconds(row), AW_BENCH_DIGITS);
    aw_json_number(json, "peak_multiply_adds", row->peak, AW_BENCH_DIGITS);
    aw_json_number(json, "peak_share", share(row), AW_BENCH_DIGITS);
    aw_json_number(json, "memory_growth", row->memory, AW_BENCH_DIGITS);
    aw_json_end_object(json);
}

aw_status aw_bench_form_factor(const aw_bench *b)
{
    static const form_case cases[] = {{"line", 1, 1},   {"line", 1, 0}, {"plane", 2, 1},
                                      {"volume", 3, 1}, {"list", 0, 1}, {"list", 0, 0}};
    enum { CASES = sizeof cases / sizeof cases[0] };
    const aw_device_params params = {.threads = b->threads, .inner_density = 1.0, .slow = b->slow};
    aw_device device = {NULL, NULL};
    aw_json json = {.depth = 0};
    aw_status status = AW_OK;
    AW_TRY(aw_device_open(b->device, &params, &device));
    aw_info("form factor of %ld particles on %s, best of %d", b->particles[0],
            device.ops->describe(device.state), b->repeat);
    aw_info("%-7s %-7s %9s %10s %9s %9s %9s %9s %8s %8s", "waves", "terms", "number", "terms", "s",
            "core s", "ns/term", "1e9 fma/s", "of peak", "MiB more");
    aw_json_begin_array(&json, NULL);
    for (int i = 0; i < (b->memory > 0 ? 1 : (int)CASES); ++i) {
        form_row row = {.what = &cases[i]};
        AW_TRY(measure(b, &device, &row));
        print_row(&row);
        add_json(&json, b, device.ops->describe(device.state), &row);
    }
    aw_json_end_array(&json);
    if (b->json && aw_comm_rank() == 0) AW_TRY(aw_json_save(&json, b->json));
done:
    aw_json_free(&json);
    aw_device_close(&device);
    return status;
}
