/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/certify/neighbours.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kernels/math/spline.h"
#include "src/base/log.h"
#include "src/input/resolved.h"
#include "src/io/series.h"
#include "src/plan/choose.h"
#include "src/plan/schedule.h"

enum { PLACES_MAX = 2000 }; /* a word of a command line has at most 128 KiB */
enum {
    LEAST_NODES = 8,
    LEAST_NODES_SECOND = 12
}; /* the least that is allowed; and that says much */

static const char *const source_name[AW_SOURCES] = {"grid", "step", "noise", "quadrature"};

int aw_is_finer(const aw_neighbour *run)
{
    return run->name[0] && (run->source == AW_SOURCE_GRID || run->source == AW_SOURCE_STEP) &&
           run->level == AW_LEVEL_FINER;
}

const char *aw_source_name(aw_source source) { return source_name[source]; }

static aw_status add_set(aw_neighbour *run, const char *format, ...) AW_PRINTF(2, 3);
static aw_status add_set(aw_neighbour *run, const char *format, ...)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = run->n_set < AW_NEIGHBOUR_SETS ? open_memstream(&text, &size) : NULL;
    if (out) {
        va_list args;
        va_start(args, format);
        vfprintf(out, format, args);
        va_end(args);
        if (fclose(out) == 0) {
            run->set[run->n_set++] = text;
            return AW_OK;
        }
        free(text);
    }
    return aw_error(AW_ERR_NOMEM, "out of memory");
}

/* --------------------------------------------------------------------------------- what differs */

/* Spacing of a level of grid or step over that of the case. */
static double spacing_of(int level)
{
    return level == AW_LEVEL_FINER ? AW_FINER : pow(AW_COARSER, level);
}

int aw_level_nodes(int n, int level)
{
    return n - 2 * (int)lround(0.5 * (n - n / spacing_of(level)));
}

/* Cells across a given bunch (pic/frame.c). */
static double cells(int n) { return 0.5 * (n - 1) - AW_SHAPE_REACH; }

double aw_grid_ratio(const int first[2], const int other[2])
{
    return sqrt(cells(first[0]) / cells(other[0]) * cells(first[1]) / cells(other[1]));
}

static int change_grid(aw_neighbour *run, const aw_config *c, aw_status *status)
{
    const int ns = aw_level_nodes(c->grid[0], run->level);
    const int nx = aw_level_nodes(c->grid[1], run->level);
    const int least = run->level > 1 ? LEAST_NODES_SECOND : LEAST_NODES;
    if (ns < least || nx < least) return 0;
    run->ratio = aw_grid_ratio(c->grid, (const int[2]){ns, nx});
    *status = add_set(run, "numerics.grid=[%d, %d]", ns, nx);
    return 1;
}

/* Places of the steps of the case, as they are planned: S[steps + 1]. @return NULL: no memory */
static double *places_of(const aw_config *c, long steps)
{
    aw_schedule *schedule = NULL;
    double *S = malloc(((size_t)steps + 1) * sizeof *S);
    int64_t now = 0, step = 0;
    if (!S || aw_schedule_new(c, &schedule) != AW_OK) {
        free(S);
        return NULL;
    }
    S[0] = 0.0;
    for (long i = 1; i <= steps; ++i) {
        now += step = aw_schedule_step(schedule, now, step, 0);
        S[i] = aw_schedule_S(schedule, now);
    }
    aw_schedule_free(schedule);
    return S;
}

/* Steps of the case that solve, in motion without self-force (src/app/run/run.c): mark[steps + 1].
 * @param[in] S  places_of
 * @return how many */
static long mark_solved(const aw_config *c, const double *S, long steps, int with_option,
                        char *mark)
{
    const int cadence[] = {c->every, c->particles_every, with_option ? c->solve_every : 0};
    const double *const place[] = {c->at_m, c->particles_at_m};
    const size_t places[] = {c->at_n, c->particles_at_n};
    long n = 0;
    mark[steps] = 1;
    for (int k = 0; k < 3; ++k)
        for (long i = 0; i <= steps && cadence[k] > 0; i += cadence[k]) mark[i] = 1;
    for (int k = 0; k < 2; ++k)
        for (size_t i = 0; i < places[k]; ++i) {
            long at = 0;
            while (at < steps && S[at] < place[k][i] - 1e-3 * (S[at + 1] - S[at])) ++at;
            if (S[at] >= place[k][i] - 1e-3 * (at > 0 ? S[at] - S[at - 1] : 0.0)) mark[at] = 1;
        }
    for (long i = 0; i <= steps; ++i) n += mark[i];
    return n;
}

/* output.at_m with the marked steps; of other steps than the case's, two on each side of each. */
static aw_status set_places(aw_neighbour *run, const aw_config *c, const double *S, long steps,
                            const char *mark)
{
    const int other_step = run->source == AW_SOURCE_STEP;
    const int low = other_step ? -2 : 0, high = other_step ? 1 : 0;
    char *text = NULL;
    size_t size = 0, n = 0;
    FILE *out = open_memstream(&text, &size);
    if (!out) return aw_error(AW_ERR_NOMEM, "out of memory");
    fputs("output.at_m=[", out);
    for (long i = 0; i <= steps; ++i)
        for (int k = low; k <= high && mark[i]; ++k) {
            const double step = steps == 0 ? 0.0 : i > 0 ? S[i] - S[i - 1] : S[1];
            const double place = S[i] + k * run->ratio * step;
            if (place >= 0.0 && place <= c->lattice->length)
                fprintf(out, "%s%.9g", n++ ? ", " : "", place);
        }
    fputs("]", out);
    const int failed = fclose(out) != 0;
    aw_status status = failed ? aw_error(AW_ERR_NOMEM, "out of memory") : add_set(run, "%s", text);
    free(text);
    return status;
}

/* In motion without self-force a neighbour solves where the case does, or around those places. */
static aw_status set_solves(aw_neighbour *run, const aw_config *c, const aw_plan *plan)
{
    const int other_step = run->source == AW_SOURCE_STEP;
    char *mark = calloc((size_t)plan->steps + 1, 1);
    double *S = places_of(c, plan->steps);
    aw_status status = mark && S ? AW_OK : aw_error(AW_ERR_NOMEM, "out of memory");
    AW_TRY(status);
    const long n = mark_solved(c, S, plan->steps, other_step, mark);
    run->ratio = other_step ? spacing_of(run->level) : 1.0;
    run->solve_every = other_step ? 0 : c->solve_every;
    if ((other_step ? 8 : 2) * n > plan->steps || n > PLACES_MAX) {
        run->solve_every = 1;
        status = add_set(run, "output.at_m=[]");
    } else
        status = set_places(run, c, S, plan->steps, mark);
done:
    free(S);
    free(mark);
    return status;
}

/* Longer or shorter steps; those of a ladder all by the same factor. */
static int change_step(aw_neighbour *run, const aw_config *c, const aw_plan *plan,
                       aw_status *status)
{
    const int ladder = c->step_m == AW_STEP_AUTO;
    const double longer = spacing_of(run->level);
    const long steps = (long)floor((double)plan->steps / longer + 1e-9);
    if (steps < 1) return 0;
    run->ratio = longer;
    if (c->steps > 0) run->steps = steps;
    *status = ladder ? add_set(run, "numerics.step_scale=%.17g", c->step_scale * longer)
                     : add_set(run, "numerics.step_m=%.17g", c->step_m * longer);
    return 1;
}

static int change_noise(aw_neighbour *run, const aw_config *c, aw_status *status)
{
    /* More particles than a file has are as noisy as those of the file, or less. */
    const size_t made = c->beam.particles, own = c->beam_at ? c->beam_alive : made;
    const size_t particles = own < made ? own : made;
    if (particles < 2 * AW_FEWER_PARTICLES) return 0;
    *status = add_set(run, c->beam_at ? "beam.resample=%zu" : "beam.particles=%zu",
                      particles / AW_FEWER_PARTICLES);
    if (*status == AW_OK)
        *status = add_set(run, "beam.seed=%" PRIu64, c->beam.seed + (uint64_t)run->level);
    return 1;
}

static int change_tolerance(aw_neighbour *run, const aw_config *c, aw_status *status)
{
    if (!(c->tolerance * AW_LARGER_TOLERANCE <= 1.0)) return 0;
    *status = add_set(run, "numerics.tolerance=%.17g", c->tolerance * AW_LARGER_TOLERANCE);
    return 1;
}

/* @return 0: there is no such neighbour */
static int change(aw_neighbour *run, const aw_config *c, const aw_plan *plan, aw_status *status)
{
    switch (run->source) {
    case AW_SOURCE_GRID: return change_grid(run, c, status);
    case AW_SOURCE_STEP: return change_step(run, c, plan, status);
    case AW_SOURCE_NOISE: return change_noise(run, c, status);
    default: return change_tolerance(run, c, status);
    }
}

/* ------------------------------------------------------------------------------------- the list */

/* What the case has chosen for its accuracy, which is not that of the neighbour: for a coarser grid
 * aw_choose would choose fewer particles. */
static aw_status same_choice(aw_neighbour *run, const aw_config *c)
{
    aw_status status = AW_OK;
    if (!(c->accuracy > 0.0)) return AW_OK;
    AW_TRY(add_set(run, "accuracy=null"));
    AW_TRY(add_set(run, "numerics.grid=[%d, %d]", c->grid[0], c->grid[1]));
    if (c->step_m == AW_STEP_AUTO) {
        AW_TRY(add_set(run, "numerics.step_m=auto"));
        AW_TRY(add_set(run, "numerics.step_scale=%.17g", c->step_scale));
    }
    if (!c->beam_at) AW_TRY(add_set(run, "beam.particles=%zu", c->beam.particles));
    AW_TRY(add_set(run, "numerics.tolerance=%.17g", c->tolerance));
done:
    return status;
}

/* Less output than the case has. */
static aw_status less_output(aw_neighbour *run, const aw_config *c, const aw_plan *plan)
{
    aw_status status = AW_OK;
    AW_TRY(add_set(run, "output.particles_every=0"));
    AW_TRY(add_set(run, "output.particles_at_m=[]"));
    AW_TRY(add_set(run, "output.spectrum=none"));
    AW_TRY(add_set(run, "output.every=0"));
    if (c->motion != AW_MOTION_SELF_CONSISTENT) return set_solves(run, c, plan);
    AW_TRY(add_set(run, "output.at_m=[]"));
done:
    return status;
}

/* Read the neighbour's input as its run will. */
static aw_status resolve(aw_neighbour *run, const aw_case_input *input)
{
    aw_status status = AW_OK;
    aw_config *config = NULL;
    const size_t n = input->n_set + run->n_set;
    const char **set = malloc((n + 1) * sizeof *set);
    if (!set) return aw_error(AW_ERR_NOMEM, "out of memory");
    for (size_t i = 0; i < n; ++i)
        set[i] = i < input->n_set ? input->set[i] : run->set[i - input->n_set];
    AW_TRY(aw_config_read(input->path, set, n, &config));
    AW_TRY(aw_choose_apply(config));
    config->steps = run->steps;
    config->solve_every = (int)run->solve_every;
    config->threads = input->threads;
    run->text = aw_resolved_text(config, input->program);
    if (!run->text) AW_TRY(aw_error(AW_ERR_NOMEM, "out of memory"));
    aw_plan_make(config, &run->plan);
    AW_TRY(aw_plan_check(config, &run->plan));
done:
    aw_config_free(config);
    free(set);
    return status;
}

static aw_status set_directory(aw_neighbour *run, const char *directory)
{
    const size_t size = strlen(directory) + sizeof run->name + 2;
    run->directory = malloc(size);
    if (!run->directory) return aw_error(AW_ERR_NOMEM, "out of memory");
    snprintf(run->directory, size, "%s%s%s", directory, run->name[0] ? "/" : "", run->name);
    return AW_OK;
}

/* Append a neighbour, if there is such a one. */
static aw_status add(aw_neighbours *list, const aw_case_input *input, const aw_config *config,
                     aw_neighbour run)
{
    aw_status status = AW_OK;
    aw_neighbour *to = &list->run[list->n];
    run.steps = input->steps;
    run.solve_every = input->solve_every;
    run.ratio = 1.0;
    *to = run;
    list->n++; /* so that it is freed */
    if (run.name[0]) {
        AW_TRY(same_choice(to, config));
        AW_TRY(less_output(to, config, &list->run[0].plan));
        if (!change(to, config, &list->run[0].plan, &status)) {
            for (size_t i = 0; i < to->n_set; ++i) free(to->set[i]);
            list->n--;
            return AW_OK;
        }
        AW_TRY(status);
    }
    AW_TRY(set_directory(to, input->directory));
    AW_TRY(resolve(to, input));
done:
    return status;
}

aw_status aw_neighbours_make(const aw_case_input *input, const aw_config *config,
                             aw_neighbours *out)
{
    static const int levels[AW_SOURCES] = {2, 2, 3, 1};
    aw_status status = AW_OK;
    memset(out, 0, sizeof *out);
    AW_TRY(add(out, input, config, (aw_neighbour){.name = ""}));
    for (int source = 0; source < AW_SOURCES; ++source)
        for (int level = 1; level <= levels[source]; ++level) {
            aw_neighbour run = {.source = (aw_source)source, .level = level};
            snprintf(run.name, sizeof run.name, levels[source] > 1 ? "%.10s-%d" : "%.10s",
                     source_name[source], level);
            AW_TRY(add(out, input, config, run));
        }
done:
    if (status != AW_OK) aw_neighbours_free(out);
    return status;
}

static void free_run(aw_neighbour *run)
{
    for (size_t k = 0; k < run->n_set; ++k) free(run->set[k]);
    free(run->directory);
    free(run->text);
}

void aw_neighbours_free(aw_neighbours *list)
{
    for (size_t i = 0; i < list->n; ++i) free_run(&list->run[i]);
    list->n = 0;
}

/* -------------------------------------------------------------------------------- what there is */

/* Whether the last row is that of the last step; a ladder whose steps were halved on the way has
 * more of them to the same end. */
static int has_last_step(const char *path, const aw_plan *plan)
{
    aw_series s;
    int has = 0;
    if (access(path, R_OK) != 0 || aw_series_read(path, &s) != AW_OK) return 0;
    const int step = aw_series_column(&s, "step"), place = aw_series_column(&s, "s_ref_m");
    if (step >= 0 && place >= 0 && s.rows > 0) {
        const double *last = s.value + (s.rows - 1) * s.columns;
        has =
            last[step] == (double)plan->steps || fabs(last[place] - plan->end) <= 1e-9 * plan->end;
    }
    aw_series_free(&s);
    return has;
}

static int is_complete(const aw_neighbour *run)
{
    char path[AW_PATH_MAX_LEN + 64];
    snprintf(path, sizeof path, "%s/resolved.yaml", run->directory);
    if (!aw_resolved_matches(path, run->text)) return 0;
    snprintf(path, sizeof path, "%s/monitor.csv", run->directory);
    return has_last_step(path, &run->plan);
}

void aw_neighbours_look(aw_neighbours *list)
{
    for (size_t i = 0; i < list->n; ++i) list->run[i].done = is_complete(&list->run[i]);
}

void aw_neighbours_drop_last(aw_neighbours *list) { free_run(&list->run[--list->n]); }

aw_status aw_neighbours_add_finer(const aw_case_input *input, const aw_config *config,
                                  aw_source source, aw_neighbours *list)
{
    const size_t n = list->n;
    aw_neighbour run = {.source = source, .level = AW_LEVEL_FINER};
    snprintf(run.name, sizeof run.name, "%.9s-finer", source_name[source]);
    const aw_status status = add(list, input, config, run);
    if (status != AW_OK && list->n > n) aw_neighbours_drop_last(list);
    if (status == AW_OK && list->n > n) list->run[n].done = is_complete(&list->run[n]);
    return status;
}

/* Seconds of the case: *solve of potentials and forces, *rest of the particles. */
static int case_seconds(const aw_neighbour *run, double *solve, double *rest)
{
    static const char head[] = "seconds_";
    char path[AW_PATH_MAX_LEN + 64];
    aw_series s;
    snprintf(path, sizeof path, "%s/monitor.csv", run->directory);
    if (access(path, R_OK) != 0 || aw_series_read(path, &s) != AW_OK) return 0;
    *solve = *rest = 0.0;
    for (size_t j = 0; j < s.columns; ++j) {
        if (strncmp(s.name[j], head, sizeof head - 1) != 0) continue;
        const char *part = s.name[j] + sizeof head - 1;
        const int is_solve = strcmp(part, "potentials") == 0 || strcmp(part, "forces") == 0;
        for (size_t i = 0; i < s.rows; ++i) {
            const double value = s.value[i * s.columns + j];
            if (isfinite(value)) *(is_solve ? solve : rest) += value;
        }
    }
    aw_series_free(&s);
    return 1;
}

double aw_neighbours_cost(aw_neighbours *list)
{
    double solve = 0.0, rest = 0.0;
    if (!case_seconds(&list->run[0], &solve, &rest)) return NAN;
    const double total = solve + rest > 0.0 ? solve + rest : 1.0;
    for (size_t i = 0; i < list->n; ++i) {
        aw_neighbour *run = &list->run[i];
        double s = solve / total, r = rest / total;
        if (run->source == AW_SOURCE_GRID) s /= run->ratio * run->ratio * run->ratio;
        if (i > 0 && run->source == AW_SOURCE_NOISE) r /= AW_FEWER_PARTICLES;
        run->cost = s + r;
        if (run->source == AW_SOURCE_STEP) run->cost /= run->ratio;
    }
    return total;
}
