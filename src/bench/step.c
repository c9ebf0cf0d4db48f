/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `arcwake bench --step`: times the parts of a self-consistent step in the LCLS bend. */
#include <math.h>
#include <omp.h>
#include <string.h>

#include "src/base/timer.h"
#include "src/bench/bench.h"
#include "src/bench/case.h"
#include "src/io/json.h"

/* Of the output of a run, the bench times the statistics alone. */
enum { STATISTICS = AW_PART_OUTPUT, PARTS = AW_PARTS };

/* Times of the steps of one row [s]. */
typedef struct times {
    double sum[PARTS], best[PARTS];
    double sum_moved, best_moved; /* deposit, gather and push of the same step */
    int steps;
    long across; /* nodes across the motion */
} times;

static const char *part_name(int part)
{
    return part == STATISTICS ? "statistics" : aw_part_name((aw_part)part);
}

static void times_add(times *t, const double seconds[PARTS])
{
    const double moved = seconds[AW_PART_DEPOSIT] + seconds[AW_PART_GATHER] + seconds[AW_PART_PUSH];
    for (int k = 0; k < PARTS; ++k) {
        t->sum[k] += seconds[k];
        t->best[k] = t->steps ? fmin(t->best[k], seconds[k]) : seconds[k];
    }
    t->sum_moved += moved;
    t->best_moved = t->steps ? fmin(t->best_moved, moved) : moved;
    t->steps++;
}

/* One step from deposit to push, and the times of its parts [s]. */
static aw_status one_step(const aw_bench *b, aw_simulation *sim, int solved, double seconds[PARTS])
{
    aw_status status = AW_OK;
    aw_monitor_row row;
    AW_TRY(aw_simulation_deposit(sim));
    AW_TRY(b->hold && solved ? aw_simulation_reuse_potentials(sim) : aw_simulation_solve(sim));
    AW_TRY(aw_simulation_synchronise(sim));
    const double begin = aw_now();
    AW_TRY(aw_simulation_monitor(sim, &row));
    const double statistics = aw_now() - begin;
    AW_TRY(aw_simulation_advance(sim));
    memcpy(seconds, sim->seconds, PARTS * sizeof *seconds);
    seconds[STATISTICS] = statistics;
done:
    return status;
}

static aw_status measure(const aw_bench *b, const char *solver, long grid, long particles, times *t)
{
    const long first = AW_BENCH_STEPS + b->skip, last = first + b->repeat - 1;
    aw_status status = AW_OK;
    aw_config *config = NULL;
    aw_simulation *sim = NULL;
    *t = (times){.steps = 0};
    AW_TRY(aw_bench_case_new(b, solver, grid, particles, &config, &sim));
    t->across = config->grid[1];
    config->motion = AW_MOTION_RIGID;
    while (sim->step < AW_BENCH_STEPS) { /* rigid motion: the history of an unchanged bunch */
        AW_TRY(aw_simulation_deposit(sim));
        AW_TRY(aw_simulation_advance(sim));
    }
    config->motion = AW_MOTION_SELF_CONSISTENT;
    AW_TRY(aw_simulation_offload(sim));
    /* With --hold the step that solves is not timed. */
    for (int solved = 0; sim->step <= last + b->hold; ++solved) {
        double seconds[PARTS];
        const int timed = sim->step >= first + b->hold;
        AW_TRY(one_step(b, sim, solved, seconds));
        if (timed) times_add(t, seconds);
    }
done:
    aw_simulation_free(sim);
    aw_config_free(config);
    return status;
}

static void print(const times *t, const char *solver, long grid, long particles, int threads)
{
    const double n = (double)particles, steps = t->steps;
    aw_info("%ld x %ld, %ld particles, %s, %d threads: %d steps", grid, t->across, particles,
            solver, threads, t->steps);
    aw_info("  %-26s %12s %12s %14s", "part", "best ms", "mean ms", "ns/particle");
    for (int k = 0; k < PARTS; ++k)
        aw_info("  %-26s %12.3f %12.3f %14.2f", part_name(k), 1e3 * t->best[k],
                1e3 * t->sum[k] / steps, 1e9 * t->best[k] / n);
    aw_info("  %-26s %12.3f %12.3f %14.2f", "deposit + gather + push", 1e3 * t->best_moved,
            1e3 * t->sum_moved / steps, 1e9 * t->best_moved / n);
    aw_info("  particle-updates/s: %.4g at best, %.4g in the mean", n / t->best_moved,
            n * steps / t->sum_moved);
}

static void add_json(aw_json *json, const times *t, const char *solver, long grid, long particles,
                     int threads)
{
    const double n = (double)particles, steps = t->steps;
    aw_json_begin_object(json, NULL);
    aw_json_integer(json, "grid", grid);
    aw_json_integer(json, "across", t->across);
    aw_json_integer(json, "particles", particles);
    aw_json_string(json, "solver", solver);
    aw_json_integer(json, "threads", threads);
    aw_json_integer(json, "steps", t->steps);
    aw_json_begin_object(json, "best");
    for (int k = 0; k < PARTS; ++k) aw_json_number(json, part_name(k), t->best[k], AW_BENCH_DIGITS);
    aw_json_end_object(json);
    aw_json_begin_object(json, "mean");
    for (int k = 0; k < PARTS; ++k)
        aw_json_number(json, part_name(k), t->sum[k] / steps, AW_BENCH_DIGITS);
    aw_json_end_object(json);
    aw_json_number(json, "updates_best", n / t->best_moved, AW_BENCH_DIGITS);
    aw_json_number(json, "updates_mean", n * steps / t->sum_moved, AW_BENCH_DIGITS);
    aw_json_end_object(json);
}

aw_status aw_bench_step(const aw_bench *b)
{
    const int threads = b->threads > 0 ? b->threads : omp_get_max_threads();
    aw_status status = AW_OK;
    aw_json json = {.depth = 0};
    aw_info("parts of a step of the LCLS bend, self-consistent, %s start%s",
            b->random > 0 ? "random" : "quiet", b->hold ? ", potentials of the first step" : "");
    aw_json_begin_array(&json, NULL);
    for (int g = 0; g < b->grids; ++g)
        for (int n = 0; n < b->counts; ++n)
            for (int s = 0; s < b->solvers; ++s) {
                times t;
                AW_TRY(measure(b, b->solver[s], b->grid[g], b->particles[n], &t));
                print(&t, b->solver[s], b->grid[g], b->particles[n], threads);
                add_json(&json, &t, b->solver[s], b->grid[g], b->particles[n], threads);
            }
    aw_json_end_array(&json);
    if (b->json) AW_TRY(aw_json_save(&json, b->json));
done:
    aw_json_free(&json);
    return status;
}
