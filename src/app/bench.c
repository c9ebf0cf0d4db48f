/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `arcwake bench`: the potentials stage of the LCLS bend in steady state, timed. */
#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/app/commands.h"
#include "src/app/lcls.h"
#include "src/app/options.h"
#include "src/app/simulation.h"
#include "src/app/verify.h"
#include "src/base/log.h"
#include "src/base/memory.h"
#include "src/output/file.h"

/* Steps before the first solve: by then the stored slices hold all that the circle meets. */
enum { BENCH_STEPS = 160, BENCH_LIST = 16, BENCH_POINTS = 200 };
/* Operations of one evaluation of the integrand: 27 cells, 3 moments, each a multiplication and an
 * addition for the value and for the rate; weights are not counted. */
#define BENCH_FLOPS (27.0 * 3.0 * 2.0 * 2.0)

typedef struct bench {
    long grid[BENCH_LIST], particles[BENCH_LIST];
    char solver[BENCH_LIST][AW_NAME_MAX];
    int grids, counts, solvers;
    const char *device, *json;
    double tolerance;
    int random, verify, threads, repeat;
    long cuhre; /* instances of each family and dimension; 0: no */
    char *text; /* JSON so far */
    size_t length, capacity;
    int rows;
} bench;

/* Numbers between commas. */
static aw_status number_list(const char *option, const char *text, long least, long most, long *out,
                             int *count)
{
    char copy[256], *rest = copy, *word;
    aw_status status = AW_OK;
    if (snprintf(copy, sizeof copy, "%s", text) >= (int)sizeof copy)
        return aw_error(AW_ERR_ARG, "%s: the list is too long", option);
    *count = 0;
    while (status == AW_OK && (word = strtok_r(rest, ",", &rest)) && *count < BENCH_LIST)
        status = aw_option_number(option, word, least, most, &out[(*count)++]);
    if (status == AW_OK && *count == 0)
        return aw_error(AW_ERR_ARG, "%s: no number in '%s'", option, text);
    return status;
}

static aw_status name_list(bench *b, const char *text)
{
    char copy[256], *rest = copy, *word;
    if (snprintf(copy, sizeof copy, "%s", text) >= (int)sizeof copy)
        return aw_error(AW_ERR_ARG, "--solver: the list is too long");
    b->solvers = 0;
    while ((word = strtok_r(rest, ",", &rest)) && b->solvers < BENCH_LIST)
        snprintf(b->solver[b->solvers++], AW_NAME_MAX, "%s", word);
    return b->solvers ? AW_OK : aw_error(AW_ERR_ARG, "--solver: no name in '%s'", text);
}

static aw_status take(bench *b, int option, const char *value)
{
    long number = 0;
    char *end = NULL;
    aw_status status = AW_OK;
    switch (option) {
    case 'g': return number_list("--grid", value, 8, 4096, b->grid, &b->grids);
    case 'n': return number_list("--particles", value, 1, 1000000000, b->particles, &b->counts);
    case 's': return name_list(b, value);
    case 'd': b->device = value; return AW_OK;
    case 'j': b->json = value; return AW_OK;
    case 'v': b->verify = 1; return AW_OK;
    case 'c':
        b->cuhre = 24;
        return value ? aw_option_number("--cuhre", value, 1, 1000000, &b->cuhre) : AW_OK;
    case 't':
        b->tolerance = strtod(value, &end);
        if (end == value || *end || !(b->tolerance > 0.0 && b->tolerance <= 1.0))
            return aw_error(AW_ERR_ARG, "--tolerance: '%s' is not a number above 0 and up to 1",
                            value);
        return AW_OK;
    case 'm':
        b->random = strcmp(value, "random") == 0;
        if (!b->random && strcmp(value, "quiet") != 0)
            return aw_error(AW_ERR_ARG, "--sampling: '%s' is not quiet or random", value);
        return AW_OK;
    case 'T':
        status = aw_option_number("--threads", value, 1, 4096, &number);
        b->threads = (int)number;
        return status;
    case 'r':
        status = aw_option_number("--repeat", value, 1, 1000, &number);
        b->repeat = (int)number;
        return status;
    default: return AW_ERR_ARG;
    }
}

static aw_status read_options(int argc, char **argv, bench *b, int *help)
{
    static const struct option known[] = {
        {"grid", 1, NULL, 'g'},      {"particles", 1, NULL, 'n'}, {"solver", 1, NULL, 's'},
        {"device", 1, NULL, 'd'},    {"json", 1, NULL, 'j'},      {"verify", 0, NULL, 'v'},
        {"tolerance", 1, NULL, 't'}, {"sampling", 1, NULL, 'm'},  {"threads", 1, NULL, 'T'},
        {"repeat", 1, NULL, 'r'},    {"cuhre", 2, NULL, 'c'},     {"help", 0, NULL, 'h'},
        {NULL, 0, NULL, 0}};
    int option;
    optind = 1;
    opterr = 0;
    *help = 0;
    while ((option = getopt_long(argc, argv, ":h", known, NULL)) != -1) {
        if (option == 'h') {
            *help = 1;
            return AW_OK;
        }
        if (option == ':' || option == '?')
            return aw_error(AW_ERR_ARG,
                            "bench: option %s is not known or lacks its value (see: "
                            "arcwake help bench)",
                            argv[optind - 1]);
        aw_status status = take(b, option, optarg);
        if (status != AW_OK) return status;
    }
    if (optind < argc)
        return aw_error(AW_ERR_ARG, "bench: '%s' is not an option (see: arcwake help bench)",
                        argv[optind]);
    return AW_OK;
}

static aw_status json_row(bench *b, const aw_simulation *sim, const aw_report *r, double total,
                          double gflops, double error_phi, double error_psi)
{
    char row[1024], check[96] = "";
    if (b->verify)
        snprintf(check, sizeof check, ", \"error_phi\": %.6g, \"error_psi\": %.6g", error_phi,
                 error_psi);
    int n = snprintf(
        row, sizeof row,
        "%s  {\"grid\": %d, \"particles\": %zu, \"solver\": \"%s\", \"device\": \"%s\","
        " \"threads\": %d, \"tolerance\": %.6g, \"seconds\": {\"total\": %.6g, "
        "\"predict\": %.6g, \"cluster\": %.6g, \"upload\": %.6g, \"evaluate\": %.6g, "
        "\"refine\": %.6g, \"learn\": %.6g}, \"evaluations\": %llu, \"gflops\": %.6g, "
        "\"leftovers\": %llu%s}",
        b->rows++ ? ",\n" : "", sim->config->grid[0], sim->particles->n, sim->config->solver,
        sim->device.ops->describe(sim->device.state), b->threads, b->tolerance, total, r->predict,
        r->cluster, r->upload, r->evaluate, r->refine, r->learn,
        (unsigned long long)r->work.evaluations, gflops, (unsigned long long)r->leftovers, check);
    if (n < 0 || aw_grow((void **)&b->text, &b->capacity, b->length + (size_t)n + 8, 1) != AW_OK)
        return aw_error(AW_ERR_NOMEM, "out of memory for the JSON file");
    memcpy(b->text + b->length, row, (size_t)n);
    b->length += (size_t)n;
    return AW_OK;
}

static aw_status bench_one(bench *b, const char *solver, long grid, long particles)
{
    aw_status status = AW_OK;
    aw_config *config = NULL;
    aw_simulation *sim = NULL;
    double best = HUGE_VAL, error_phi = 0.0, error_psi = 0.0;
    AW_TRY(aw_lcls_config((int)grid, (size_t)particles, AW_UPSTREAM_STEADY, &config));
    snprintf(config->solver, sizeof config->solver, "%s", solver);
    snprintf(config->device, sizeof config->device, "%s", b->device);
    config->beam.quiet = !b->random;
    config->tolerance = b->tolerance;
    config->threads = b->threads;
    config->steps = BENCH_STEPS + b->repeat;
    AW_TRY(aw_simulation_new(config, NULL, &sim));
    for (;;) {
        AW_TRY(aw_simulation_deposit(sim));
        if (sim->step >= BENCH_STEPS) {
            AW_TRY(aw_simulation_solve(sim));
            best = fmin(best, sim->report.total);
        }
        if (sim->step == sim->plan.steps) break;
        AW_TRY(aw_simulation_advance(sim));
    }
    if (b->verify) AW_TRY(aw_verify_solution(sim, BENCH_POINTS, &error_phi, &error_psi));
    const aw_report *r = &sim->report;
    double evaluations = (double)r->work.evaluations;
    double gflops = 1e-9 * BENCH_FLOPS * evaluations / r->total;
    aw_info("%5ld %9ld %-10s %9.3f %9.3f %11.0f %9.1f %9.2f %8.2f%%", grid, particles, solver, best,
            r->refine, evaluations / (double)sim->nodes, (double)r->work.nodes / (double)sim->nodes,
            gflops, 100.0 * (double)r->leftovers / (double)r->work.regions);
    if (b->verify)
        aw_info("      against adaptive at %.1g: phi %.2g, psi %.2g of their maxima (asked %.1g)",
                b->tolerance * 1e-3, error_phi, error_psi, b->tolerance);
    AW_TRY(json_row(b, sim, r, best, gflops, error_phi, error_psi));
done:
    aw_simulation_free(sim);
    aw_config_free(config);
    return status;
}

aw_status aw_bench_command(int argc, char **argv)
{
    bench b = {.grid = {64, 128},
               .grids = 2,
               .particles = {100000},
               .counts = 1,
               .solver = {"two-phase"},
               .solvers = 1,
               .device = "auto",
               .tolerance = 1e-6,
               .repeat = 3};
    aw_status status = AW_OK;
    int help;
    AW_TRY(read_options(argc, argv, &b, &help));
    if (help) return aw_help_command(2, (char *[]){"help", "bench"});
    if (b.cuhre) return aw_bench_cuhre(b.cuhre, b.threads, b.json);
    aw_info(
        "potentials of the LCLS bend in steady state, best of %d steps, tolerance %.1g, %s start",
        b.repeat, b.tolerance, b.random ? "random" : "quiet");
    aw_info("%5s %9s %-10s %9s %9s %11s %9s %9s %9s", "grid", "particles", "solver", "seconds",
            "refine s", "evals/point", "r' nodes", "GF/s", "leftover");
    for (int g = 0; g < b.grids; ++g)
        for (int n = 0; n < b.counts; ++n)
            for (int s = 0; s < b.solvers; ++s)
                AW_TRY(bench_one(&b, b.solver[s], b.grid[g], b.particles[n]));
    if (b.json) {
        AW_TRY(aw_grow((void **)&b.text, &b.capacity, b.length + 16, 1));
        memmove(b.text + 2, b.text, b.length);
        memcpy(b.text, "[\n", 2);
        memcpy(b.text + b.length + 2, "\n]\n", 3);
        AW_TRY(aw_file_replace(b.json, b.text, b.length + 5));
    }
done:
    aw_free(b.text);
    return status;
}
