/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `arcwake bench` with several units: all of them together and each alone, at the same steps. */
#include <stdio.h>
#include <string.h>

#include "kernels/units.h"
#include "src/app/bench.h"
#include "src/app/bench_case.h"
#include "src/app/verify.h"
#include "src/base/memory.h"

/* All units, or one of them, with a solver of its own: what it learns is its own. */
typedef struct candidate {
    aw_device device;
    aw_solver *solver;
} candidate;

typedef struct candidates {
    candidate c[AW_UNITS_MAX + 1]; /* the first: all units; then one each */
    int n;
    double *result; /* [nodes][AW_RESULTS] */
} candidates;

static void close_all(candidates *all)
{
    for (int i = 0; i < all->n; ++i) {
        aw_solver_free(all->c[i].solver);
        aw_device_close(&all->c[i].device);
    }
    aw_free(all->result);
}

/* The list is opened anew for each candidate, so that a unit alone has the threads and the speed
 * that it has among the others. */
static aw_status open_all(const aw_bench *b, const char *solver, const aw_simulation *sim,
                          candidates *all)
{
    const aw_device_params params = {.threads = b->threads,
                                     .inner_density = sim->config->inner_density,
                                     .tuning = b->tuning,
                                     .slow = b->slow};
    aw_status status = AW_OK;
    int units = 0;
    all->result = aw_alloc(sim->nodes * AW_RESULTS, sizeof *all->result);
    AW_TRY(all->result ? AW_OK : AW_ERR_NOMEM);
    do {
        candidate *c = &all->c[all->n];
        AW_TRY(aw_device_list_open(b->device, &params, &c->device));
        ++all->n;
        units = aw_units_count(&c->device);
        if (all->n > 1) aw_units_only(&c->device, all->n - 2);
        AW_TRY(aw_solver_new(solver, &c->device, &c->solver));
        aw_solver_forecast(c->solver, &b->forecast);
    } while (all->n <= units);
done:
    return status;
}

/* A solve by every candidate in turn; another one begins at every step. */
static aw_status solve_all(const aw_bench *b, aw_simulation *sim, candidates *all,
                           aw_bench_row *row)
{
    aw_status status = AW_OK;
    aw_problem problem;
    AW_TRY(aw_simulation_grid_problem(sim, &problem));
    for (int k = 0; k < all->n; ++k) {
        const int i = (int)((sim->step + k) % all->n);
        aw_report report;
        double *to = i == 0 ? sim->result : all->result;
        AW_TRY(aw_solver_solve(all->c[i].solver, &problem, to, NULL, &report));
        if (sim->step >= AW_BENCH_STEPS + b->skip)
            aw_bench_row_add(&row[i], &report, report.total);
        else
            aw_units_forget(&all->c[i].device);
    }
done:
    return status;
}

/* What all together took against what was possible (dissertation eq. 20). */
static void compare(const candidates *all, aw_bench_row *row)
{
    double speed = 0.0;
    for (int i = 1; i < all->n; ++i) speed += 1.0 / row[i].mean;
    row->units = all->n - 1;
    row->ideal = 1.0 / speed;
    for (int i = 1; i < all->n; ++i) {
        const aw_unit_share share = aw_units_share(&all->c[0].device, i - 1);
        aw_bench_unit *one = &row->unit[i - 1];
        snprintf(one->name, sizeof one->name, "%s", share.name);
        snprintf(row[i].device, sizeof row[i].device, "%s", share.name);
        one->alone = row[i].mean;
        one->busy = share.busy / row->solves;
        one->bins = (double)share.bins / row->solves;
    }
}

aw_status aw_bench_units(const aw_bench *b, const char *solver, long grid, long particles,
                         aw_bench_row *row, int *rows)
{
    const long last = AW_BENCH_STEPS + b->skip + b->repeat - 1;
    aw_bench plain = *b;
    aw_status status = AW_OK;
    aw_config *config = NULL;
    aw_simulation *sim = NULL;
    candidates all = {.n = 0};
    plain.device = "cpu";
    AW_TRY(aw_bench_case_new(&plain, "two-phase", grid, particles, &config, &sim));
    AW_TRY(open_all(b, solver, sim, &all));
    for (int i = 0; i < all.n; ++i) aw_bench_row_clear(&row[i]);
    for (;;) {
        AW_TRY(aw_simulation_deposit(sim));
        if (sim->step >= AW_BENCH_STEPS) AW_TRY(solve_all(b, sim, &all, row));
        if (sim->step == last) break;
        AW_TRY(aw_simulation_advance(sim));
    }
    if (b->verify)
        AW_TRY(aw_verify_solution(sim, AW_BENCH_VERIFIED, &row->error_phi, &row->error_psi));
    for (int i = 0; i < all.n; ++i) {
        aw_bench_row_close(&row[i]);
        aw_bench_case_label(sim, particles, solver, b->device, &row[i]);
    }
    compare(&all, row);
    *rows = all.n;
done:
    close_all(&all);
    aw_simulation_free(sim);
    aw_config_free(config);
    return status;
}
