/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `arcwake tune`: search once for the block sizes that suit this machine. */
#include <getopt.h>
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "src/base/command.h"
#include "src/base/log.h"
#include "src/base/memory.h"
#include "src/base/timer.h"
#include "src/input/lcls.h"
#include "src/io/file.h"
#include "src/simulation/simulation.h"
#include "src/tune/choice.h"
#include "src/tune/file.h"

enum {
    TUNE_GRID = 64,
    TUNE_PARTICLES = 100000,
    /* Steps before the first solve: then the history holds all that the circle of causality
     * crosses. */
    TUNE_STEPS = 160,
    /* Rows of the grid in a band: as many as strategies sweep at a time. */
    TUNE_BAND = 8,
    TUNE_VALUES_MAX = 6, /* candidates of a parameter */
    TUNE_ROUNDS_MIN = 4
};
/* Time for the candidates of one parameter [s], unless TUNE_ROUNDS_MIN rounds take longer. */
#define TUNE_SECONDS 20.0

/* A parameter and the values that are tried. */
typedef struct stage {
    const char *field;
    int value[TUNE_VALUES_MAX]; /* 0 ends the list */
} stage;

/* A solve that is timed, and the parameters that its time depends on. */
typedef struct workload {
    const char *strategy;
    int bands;    /* bands of rows of the grid; 0: all rows */
    int warm_ups; /* solves before the first timed one: to allocate memory and learn forecasts */
    stage stage[3];
} workload;

static const workload workloads[] = {
    {"two-phase",
     2,
     1,
     {{"sweep_group", {32, 64, 128, 256}},
      {"sweep_pieces", {4, 8, 16, 32, 64}},
      {"blend_points", {3, 6, 12, 24}}}},
    {"predictive",
     0,
     3,
     {{"cluster_tiles", {4, 8, 16, 32, 64}}, {"cluster_batch", {8, 16, 32, 64, 128}}}}};

enum {
    TUNE_WORKLOADS = sizeof workloads / sizeof workloads[0],
    TUNE_STAGES = sizeof workloads[0].stage / sizeof workloads[0].stage[0]
};

typedef struct tune {
    int threads, dry_run;
    const char *file;
    char path[AW_PATH_MAX_LEN]; /* of the file in which the result is stored */
    aw_config *config;
    aw_simulation *sim;
    aw_field_point *band; /* owned, points of the bands */
    double *result;       /* owned, [nodes][AW_RESULTS] */
} tune;

/* A candidate has its own device and solver, so that candidates can be run in turn. */
typedef struct candidate {
    aw_tuning tuning;
    aw_device device;
    aw_solver *solver;
} candidate;

/* ------------------------------------------------------------------------------------- timing */

static aw_problem problem_of(const tune *t, const workload *w)
{
    aw_problem problem =
        w->bands
            ? aw_self_field_problem(&t->sim->field, t->band,
                                    (size_t)w->bands * TUNE_BAND * TUNE_GRID, t->config->tolerance)
            : aw_self_field_problem(&t->sim->field, t->sim->field.point, t->sim->field.nodes,
                                    t->config->tolerance);
    problem.columns = TUNE_GRID;
    return problem;
}

static aw_status candidate_open(const tune *t, const workload *w, candidate *c)
{
    aw_status status = AW_OK;
    aw_report report;
    const aw_problem problem = problem_of(t, w);
    const aw_device_params params = {.threads = t->config->threads,
                                     .inner_density = t->config->inner_density,
                                     .tuning = c->tuning};
    AW_TRY(aw_device_open("cpu", &params, &c->device));
    AW_TRY(aw_solver_new(w->strategy, &c->device, &c->solver));
    for (int i = 0; i < w->warm_ups; ++i)
        AW_TRY(aw_solver_solve(c->solver, &problem, t->result, NULL, &report));
done:
    return status;
}

/* Time n candidates in turn. The order rotates from round to round, so that other load on the
 * machine affects all of them alike. */
static aw_status time_candidates(const tune *t, const workload *w, candidate *c, int n,
                                 aw_timings *timings)
{
    const aw_problem problem = problem_of(t, w);
    aw_status status = AW_OK;
    aw_report report;
    for (int i = 0; i < n; ++i) AW_TRY(candidate_open(t, w, &c[i]));
    const double begin = aw_now();
    timings->n = n;
    for (timings->rounds = 0; timings->rounds < AW_ROUNDS_MAX; ++timings->rounds) {
        const double spent = aw_now() - begin, round = spent / fmax(timings->rounds, 1.0);
        if (timings->rounds >= TUNE_ROUNDS_MIN && spent + round > TUNE_SECONDS) break;
        for (int i = 0; i < n; ++i) {
            const int k = (i + timings->rounds) % n;
            AW_TRY(aw_solver_solve(c[k].solver, &problem, t->result, NULL, &report));
            timings->seconds[timings->rounds][k] = report.total;
        }
    }
done:
    for (int i = 0; i < n; ++i) {
        aw_solver_free(c[i].solver);
        aw_device_close(&c[i].device);
    }
    return status;
}

/* ------------------------------------------------------------------------------------- search */

/* Try the values of one parameter against its present value in `tuning`. */
static aw_status search_one(const tune *t, const workload *w, const stage *s, aw_tuning *tuning)
{
    const aw_tuning_field *field = aw_tuning_find(s->field);
    const int present = aw_tuning_get(tuning, field);
    candidate c[TUNE_VALUES_MAX + 1] = {{.tuning = *tuning}};
    aw_timings timings;
    aw_choice choice;
    aw_status status = AW_OK;
    int n = 1;
    for (int i = 0; i < TUNE_VALUES_MAX && s->value[i] > 0; ++i) {
        if (s->value[i] == present) continue;
        c[n].tuning = *tuning;
        aw_tuning_set(&c[n++].tuning, field, s->value[i]);
    }
    AW_TRY(time_candidates(t, w, c, n, &timings));
    aw_tune_choose(&timings, &choice);
    aw_info("%s: %s, best of %d, noise %.1f %%", s->field, w->strategy, timings.rounds,
            100.0 * choice.noise);
    for (int i = 0; i < n; ++i)
        aw_info("  %6d  %8.4f s  %6.3f%s%s", aw_tuning_get(&c[i].tuning, field), choice.best[i],
                choice.best[i] / choice.best[0], i == 0 ? "  present" : "",
                i == choice.chosen ? "  *" : "");
    *tuning = c[choice.chosen].tuning;
done:
    return status;
}

/* Time all chosen values together against the defaults, once more: the fastest of several
 * candidates is in part the luckiest. If the gain is not confirmed, the defaults stay. */
static aw_status confirm(const tune *t, const workload *w, const aw_tuning *defaults,
                         aw_tuning *tuning)
{
    candidate c[2] = {{.tuning = *defaults}, {.tuning = *tuning}};
    aw_timings timings;
    aw_choice choice;
    aw_status status = AW_OK;
    if (memcmp(defaults, tuning, sizeof *tuning) == 0) return AW_OK;
    AW_TRY(time_candidates(t, w, c, 2, &timings));
    aw_tune_choose(&timings, &choice);
    aw_info("together: %s, best of %d, noise %.1f %%: %.3f of the defaults' time%s", w->strategy,
            timings.rounds, 100.0 * choice.noise, choice.best[1] / choice.best[0],
            choice.chosen ? "" : "; the defaults stay");
    *tuning = c[choice.chosen].tuning;
done:
    return status;
}

/* One parameter after the other; no parameter belongs to two workloads. */
static aw_status search(const tune *t, aw_tuning *tuning)
{
    aw_status status = AW_OK;
    AW_TRY(aw_tuning_resolve(NULL, tuning));
    for (int i = 0; i < (int)TUNE_WORKLOADS; ++i) {
        const workload *w = &workloads[i];
        const aw_tuning before = *tuning;
        for (int j = 0; j < (int)TUNE_STAGES && w->stage[j].field; ++j)
            AW_TRY(search_one(t, w, &w->stage[j], tuning));
        AW_TRY(confirm(t, w, &before, tuning));
    }
done:
    return status;
}

/* ---------------------------------------------------------------------------------------- case */

/* Points of the bands, which are spread evenly from the edge of the grid to its middle. */
static aw_status make_bands(tune *t)
{
    const size_t bands = (size_t)workloads[0].bands, n = (size_t)TUNE_BAND * TUNE_GRID;
    t->band = aw_alloc(bands * n, sizeof *t->band);
    t->result = aw_alloc(t->sim->field.nodes * AW_RESULTS, sizeof *t->result);
    if (!t->band || !t->result) return aw_error(AW_ERR_NOMEM, "out of memory");
    for (size_t i = 0; i < bands; ++i) {
        const size_t row = TUNE_BAND + i * (TUNE_GRID / 2 - TUNE_BAND) / (bands - 1);
        memcpy(&t->band[i * n], &t->sim->field.point[row * TUNE_GRID], n * sizeof *t->band);
    }
    return AW_OK;
}

/* The bend of `arcwake bench`, at the step of its first solve. */
static aw_status make_case(tune *t)
{
    aw_status status = AW_OK;
    AW_TRY(aw_lcls_config(TUNE_GRID, TUNE_PARTICLES, AW_UPSTREAM_STEADY, &t->config));
    snprintf(t->config->device, sizeof t->config->device, "cpu");
    t->config->threads = t->threads;
    t->config->steps = TUNE_STEPS;
    AW_TRY(aw_simulation_new(t->config, NULL, 0, &t->sim));
    for (;;) {
        AW_TRY(aw_simulation_deposit(t->sim));
        if (t->sim->step == TUNE_STEPS) break;
        AW_TRY(aw_simulation_advance(t->sim));
    }
    aw_frame_points(&t->sim->field.frame.grid, &t->config->lattice->orbit, t->config->beam.gamma,
                    t->sim->field.point);
    AW_TRY(make_bands(t));
    const aw_problem problem = problem_of(t, &workloads[TUNE_WORKLOADS - 1]);
    AW_TRY(aw_solver_scales(t->sim->field.solver, &problem, &t->sim->field.scales));
done:
    return status;
}

/* ------------------------------------------------------------------------------------- command */

static aw_status read_options(int argc, char **argv, tune *t)
{
    static const struct option known[] = {{"threads", required_argument, NULL, 't'},
                                          {"dry-run", no_argument, NULL, 'd'},
                                          {"file", required_argument, NULL, 'f'},
                                          {NULL, 0, NULL, 0}};
    aw_status status = AW_OK;
    int option;
    optind = 1;
    opterr = 0;
    while ((option = getopt_long(argc, argv, ":", known, NULL)) != -1) switch (option) {
        case 't': AW_TRY(aw_option_threads(optarg, &t->threads)); break;
        case 'd': t->dry_run = 1; break;
        case 'f': t->file = optarg; break;
        case ':': return aw_error(AW_ERR_ARG, "tune: %s needs a value", argv[optind - 1]);
        default:
            return aw_error(AW_ERR_ARG, "tune: option %s is not known (see: arcwake help tune)",
                            argv[optind - 1]);
        }
    if (optind < argc)
        return aw_error(AW_ERR_ARG, "tune: '%s' is not an option (see: arcwake help tune)",
                        argv[optind]);
done:
    return status;
}

/* Choose the file and create its directory: errors are found before minutes are spent. */
static aw_status find_path(tune *t)
{
    struct stat info;
    if (t->dry_run) return AW_OK;
    if (t->file) {
        if (!t->file[0] || snprintf(t->path, sizeof t->path, "%s", t->file) >= (int)sizeof t->path)
            return aw_error(AW_ERR_ARG, "--file: no name, or one that is too long");
    } else if (!aw_tuning_path(t->path, sizeof t->path)) {
        return aw_error(AW_ERR_ARG, "tune: nowhere to store the result (HOME is not set, or "
                                    "ARCWAKE_TUNING is none; give --file FILE or --dry-run)");
    }
    if (stat(t->path, &info) == 0 && !S_ISREG(info.st_mode))
        return aw_error(AW_ERR_IO, "%s: is not a regular file that could be replaced", t->path);
    return aw_file_parents(t->path);
}

/* Store the result, and print how runs find it. */
static aw_status store(const tune *t, const aw_tuning *tuning)
{
    char usual[AW_PATH_MAX_LEN];
    aw_tuning_key key;
    aw_status status = AW_OK;
    aw_tuning_key_here(t->threads > 0 ? t->threads : omp_get_max_threads(), &key);
    AW_TRY(aw_tuning_write(t->path, &key, tuning));
    if (aw_tuning_path(usual, sizeof usual) && strcmp(usual, t->path) == 0)
        aw_info("stored in %s; runs read it from now on", t->path);
    else
        aw_info("stored in %s; runs read it with ARCWAKE_TUNING set to that path", t->path);
done:
    return status;
}

static aw_status run_command(int argc, char **argv)
{
    aw_status status = AW_OK;
    tune t = {0};
    aw_tuning tuning;
    AW_TRY(read_options(argc, argv, &t));
    AW_TRY(find_path(&t));
    AW_TRY(make_case(&t));
    aw_info(
        "LCLS bend in steady state, %d x %d, on %s; times also relative to the present value, * is "
        "chosen",
        TUNE_GRID, TUNE_GRID, t.sim->device.ops->describe(t.sim->device.state));
    AW_TRY(search(&t, &tuning));
    for (int i = 0; aw_tuning_list(i); ++i)
        aw_info("%-13s %d%s", aw_tuning_list(i)->name, aw_tuning_get(&tuning, aw_tuning_list(i)),
                aw_tuning_get(&tuning, aw_tuning_list(i)) == aw_tuning_list(i)->initial
                    ? " (the default)"
                    : "");
    if (!t.dry_run) AW_TRY(store(&t, &tuning));
done:
    aw_free(t.band);
    aw_free(t.result);
    aw_simulation_free(t.sim);
    aw_config_free(t.config);
    return status;
}

static const char help[] =
    "arcwake tune [--threads N] [--dry-run] [--file FILE]\n"
    "Times block sizes of the CPU device in the LCLS bend in steady state (about two minutes; let\n"
    "nothing else run), and stores those that beat the defaults by more than the noise.\n"
    "  --threads N   threads of the CPU device (default: as many as OpenMP chooses)\n"
    "  --dry-run     store nothing\n"
    "  --file FILE   store in FILE (default: $ARCWAKE_TUNING, or ~/.cache/arcwake/tuning.yaml)\n"
    "run, validate and bench use the stored values; results depend on them by rounding only.\n"
    "A damaged file, or one of another version, CPU or SIMD variant, is ignored with a warning.\n"
    "With ARCWAKE_TUNING=none the defaults are used.\n";

const aw_command aw_tune_command = {
    .name = "tune",
    .usage = "tune",
    .summary = "find the block sizes that suit this machine, for all later runs",
    .help = help,
    .run = run_command,
};
