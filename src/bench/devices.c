/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `arcwake bench` with several devices: all together and each alone, at the same steps. */
#include <stdio.h>
#include <string.h>

#include "kernels/multi/devices.h"
#include "src/base/memory.h"
#include "src/bench/bench.h"
#include "src/bench/case.h"
#include "src/simulation/verify.h"

/* A subset of the devices. Each candidate has a solver of its own, which learns from its own solves
 * only. */
typedef struct candidate {
    unsigned members; /* bit i: device i takes part */
    aw_device device; /* all of them as one; the others are idle */
    aw_solver *solver;
} candidate;

typedef struct candidates {
    candidate c[AW_BENCH_ROWS]; /* all devices; then each alone; then the other subsets */
    int n, devices;
    double *result; /* owned, [nodes][AW_RESULTS] */
} candidates;

static void close_all(candidates *all)
{
    for (int i = 0; i < all->n; ++i) {
        aw_solver_free(all->c[i].solver);
        aw_device_close(&all->c[i].device);
    }
    aw_free(all->result);
}

static int count_bits(unsigned members)
{
    int n = 0;
    for (; members; members &= members - 1U) ++n;
    return n;
}

/* Add a candidate. Each candidate opens the whole list anew, so that every device has the threads
 * and the speed that it has among all of them. */
static aw_status open_one(const aw_bench *b, const char *solver, double inner_density,
                          unsigned members, candidates *all)
{
    const aw_device_params params = {.threads = b->threads,
                                     .inner_density = inner_density,
                                     .tuning = b->tuning,
                                     .slow = b->slow};
    candidate *c = &all->c[all->n];
    aw_status status = AW_OK;
    AW_TRY(aw_device_list_open(b->device, &params, &c->device));
    all->n++;
    c->members = members;
    aw_multi_only(&c->device, members);
    AW_TRY(aw_solver_new(solver, &c->device, &c->solver));
    aw_solver_forecast(c->solver, &b->forecast);
done:
    return status;
}

static aw_status open_all(const aw_bench *b, const char *solver, const aw_simulation *sim,
                          candidates *all)
{
    const double density = sim->config->inner_density;
    aw_status status = AW_OK;
    all->result = aw_alloc(sim->field.nodes * AW_RESULTS, sizeof *all->result);
    AW_TRY(all->result ? AW_OK : AW_ERR_NOMEM);
    AW_TRY(open_one(b, solver, density, ~0U, all));
    all->devices = aw_multi_count(&all->c[0].device);
    all->c[0].members = (1U << all->devices) - 1U;
    if (b->sets && all->devices > AW_BENCH_SETS)
        AW_TRY(aw_error(AW_ERR_ARG, "--sets: at most %d devices (more have too many subsets)",
                        (int)AW_BENCH_SETS));
    for (int i = 0; i < all->devices; ++i) AW_TRY(open_one(b, solver, density, 1U << i, all));
    for (unsigned members = 1; b->sets && members < all->c[0].members; ++members)
        if (count_bits(members) > 1) AW_TRY(open_one(b, solver, density, members, all));
done:
    return status;
}

/* Every candidate solves in turn; at each step another one is first. */
static aw_status solve_all(const aw_bench *b, aw_simulation *sim, candidates *all,
                           aw_bench_row *row)
{
    aw_status status = AW_OK;
    aw_problem problem;
    AW_TRY(aw_self_field_grid_problem(&sim->field, &problem));
    for (int k = 0; k < all->n; ++k) {
        const int i = (int)((sim->step + k) % all->n);
        aw_report report;
        double *to = i == 0 ? sim->field.result : all->result;
        AW_TRY(aw_solver_solve(all->c[i].solver, &problem, to, NULL, &report));
        if (sim->step >= AW_BENCH_STEPS + b->skip)
            aw_bench_row_add(&row[i], &report, report.total);
        else
            aw_multi_records_clear(&all->c[i].device);
    }
done:
    return status;
}

/* The time of several devices together, against the ideal time (dissertation, eq. 20). Row i + 1 is
 * that of device i alone. */
static void compare(const candidate *c, const aw_bench_row *row, aw_bench_row *mine)
{
    double speed = 0.0;
    mine->device[0] = '\0';
    mine->devices = 0;
    for (int i = 0; i < aw_multi_count(&c->device); ++i) {
        if (!(c->members >> i & 1U)) continue;
        const aw_device_record share = aw_multi_record(&c->device, i);
        const size_t at = strlen(mine->device);
        aw_bench_device *one = &mine->each[mine->devices++];
        snprintf(one->name, sizeof one->name, "%s", share.name);
        snprintf(mine->device + at, sizeof mine->device - at, "%s%s", at > 0 ? "," : "",
                 share.name);
        one->alone = row[i + 1].mean;
        one->busy = share.busy / mine->solves;
        one->bins = (double)share.bins / mine->solves;
        speed += 1.0 / one->alone;
    }
    mine->ideal = 1.0 / speed;
    if (mine->devices == 1) mine->devices = 0; /* nothing to compare */
}

aw_status aw_bench_devices(const aw_bench *b, const char *solver, long grid, long particles,
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
    for (int i = 0; i < all.n; ++i) compare(&all.c[i], row, &row[i]);
    *rows = all.n;
done:
    close_all(&all);
    aw_simulation_free(sim);
    aw_config_free(config);
    return status;
}
