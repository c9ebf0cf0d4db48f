/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/simulation/verify.h"

#include <math.h>

#include "src/base/log.h"
#include "src/base/memory.h"

void aw_reference_free(aw_reference *reference)
{
    aw_free(reference->result);
    *reference = (aw_reference){.result = NULL};
}

aw_status aw_reference_make(const aw_simulation *sim, size_t points, size_t first,
                            aw_reference *reference)
{
    const aw_config *config = sim->config;
    aw_status status = AW_OK;
    aw_device device = {NULL, NULL};
    aw_solver *solver = NULL;
    aw_report report;
    const size_t stride =
        sim->field.nodes / points | 1; /* odd, to sample all columns of a 2^n grid */
    first %= stride;
    const size_t n = (sim->field.nodes - first + stride - 1) / stride;
    aw_field_point *point = aw_alloc(n, sizeof *point);
    aw_device_params params = {.threads = config->threads,
                               .inner_density = 4.0 * config->inner_density};
    aw_reference_free(reference);
    *reference = (aw_reference){first, stride, n, aw_alloc(n * AW_RESULTS, sizeof(double))};
    if (!point || !reference->result)
        AW_TRY(aw_error(AW_ERR_NOMEM, "out of memory for the verification"));
    for (size_t i = 0; i < n; ++i) point[i] = sim->field.point[first + i * stride];
    AW_TRY(aw_device_open(config->device, &params, &device));
    AW_TRY(aw_solver_new("adaptive", &device, &solver));
    aw_problem problem = aw_self_field_problem(&sim->field, point, n, 1e-3 * config->tolerance);
    status = aw_solver_solve(solver, &problem, reference->result, NULL, &report);
    if (status == AW_ERR_MAXEVAL && report.error <= 0.1 * config->tolerance) status = AW_OK;
done:
    aw_solver_free(solver);
    aw_device_close(&device);
    aw_free(point);
    return status;
}

double aw_reference_error(const aw_reference *reference, const double *result, size_t nodes,
                          unsigned k, double scale, size_t *node)
{
    double divisor = scale, worst = 0.0;
    if (scale == 0.0)
        for (size_t i = 0; i < nodes; ++i)
            divisor = fmax(divisor, fabs(result[i * AW_RESULTS + k]));
    for (size_t i = 0; i < reference->n; ++i) {
        const size_t at = reference->first + i * reference->stride;
        const double difference =
            result[at * AW_RESULTS + k] - reference->result[i * AW_RESULTS + k];
        const double error = fabs(difference) / divisor;
        if (error <= worst || isnan(worst)) continue;
        worst = error;
        if (node) *node = at;
    }
    return worst;
}

aw_status aw_verify_solution(const aw_simulation *sim, size_t points, double *error_phi,
                             double *error_psi)
{
    aw_status status = AW_OK;
    aw_reference reference = {.result = NULL};
    *error_phi = *error_psi = NAN;
    AW_TRY(aw_reference_make(sim, points, 0, &reference));
    *error_phi =
        aw_reference_error(&reference, sim->field.result, sim->field.nodes, AW_PHI, 0.0, NULL);
    *error_psi =
        aw_reference_error(&reference, sim->field.result, sim->field.nodes, AW_PSI, 0.0, NULL);
done:
    aw_reference_free(&reference);
    return status;
}
