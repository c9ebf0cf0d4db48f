/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/app/verify.h"

#include <math.h>

#include "src/base/log.h"
#include "src/base/memory.h"

/* Largest magnitude of one result over the grid. */
static double largest(const aw_simulation *sim, unsigned k)
{
    double most = 0.0;
    for (size_t i = 0; i < sim->nodes; ++i)
        most = fmax(most, fabs(sim->result[i * AW_RESULTS + k]));
    return most;
}

aw_status aw_verify_solution(const aw_simulation *sim, size_t points, double *error_phi,
                             double *error_psi)
{
    const aw_config *config = sim->config;
    aw_status status = AW_OK;
    aw_device device = {NULL, NULL};
    aw_solver *solver = NULL;
    aw_report report;
    size_t stride = sim->nodes / points | 1; /* odd: wanders across the columns */
    size_t n = (sim->nodes + stride - 1) / stride;
    aw_field_point *point = aw_alloc(n, sizeof *point);
    double *result = aw_alloc(n * AW_RESULTS, sizeof *result);
    aw_device_params unit = {.threads = config->threads,
                             .inner_density = 4.0 * config->inner_density};
    *error_phi = *error_psi = NAN;
    if (!point || !result) AW_TRY(aw_error(AW_ERR_NOMEM, "out of memory for the verification"));
    for (size_t i = 0; i < n; ++i) point[i] = sim->point[i * stride];
    AW_TRY(aw_device_open(config->device, &unit, &device));
    AW_TRY(aw_solver_new("adaptive", &device, &solver));
    aw_problem problem = aw_simulation_problem(sim, point, n, 1e-3 * config->tolerance);
    status = aw_solver_solve(solver, &problem, result, NULL, &report);
    if (status == AW_ERR_MAXEVAL && report.error <= 0.1 * config->tolerance) status = AW_OK;
    AW_TRY(status);
    double phi = largest(sim, AW_PHI), psi = largest(sim, AW_PSI);
    *error_phi = *error_psi = 0.0;
    for (size_t i = 0; i < n; ++i) {
        const double *ours = &sim->result[i * stride * AW_RESULTS], *ref = &result[i * AW_RESULTS];
        double ep = fabs(ours[AW_PHI] - ref[AW_PHI]) / phi;
        double es = fabs(ours[AW_PSI] - ref[AW_PSI]) / psi;
        if (!(ep <= *error_phi)) *error_phi = ep;
        if (!(es <= *error_psi)) *error_psi = es;
    }
done:
    aw_solver_free(solver);
    aw_device_close(&device);
    aw_free(point);
    aw_free(result);
    return status;
}
