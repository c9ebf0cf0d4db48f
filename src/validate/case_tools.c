/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tools of the validation cases: inputs made without files, solves on part of the grid, tables. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "src/base/log.h"
#include "src/base/memory.h"
#include "src/input/lcls.h"
#include "src/io/text.h"
#include "src/output/report.h"
#include "src/validate/cases.h"

/* Rows of a strip: the spline on the axis reads four rows, and the gradient on each of them two
 * neighbours on either side. */
enum { AW_STRIP_ROWS = 8 };

/* Add the options of the command line and the tuning of the machine to a new input. */
static aw_status with_options(const aw_validation *validation, aw_status status, aw_config *config)
{
    if (status != AW_OK) return status;
    config->threads = validation->threads;
    if (validation->solver)
        snprintf(config->solver, sizeof config->solver, "%s", validation->solver);
    config->tuning = validation->tuning;
    return AW_OK;
}

aw_status aw_case_config(const aw_validation *validation, const aw_element *element, size_t n,
                         double gamma, aw_upstream upstream, aw_config **out)
{
    aw_status status = aw_line_config(validation->name, element, n, gamma, upstream, out);
    return with_options(validation, status, *out);
}

aw_status aw_case_lcls(const aw_validation *validation, aw_upstream upstream, aw_config **out)
{
    aw_status status = aw_lcls_config(128, 1000000, upstream, out);
    return with_options(validation, status, *out);
}

aw_status aw_case_begin(const aw_config *config, aw_simulation **out)
{
    aw_status status = aw_simulation_new(config, NULL, 0, out);
    if (status != AW_OK) return status;
    status = aw_simulation_deposit(*out);
    if (status == AW_OK) return AW_OK;
    aw_simulation_free(*out);
    *out = NULL;
    return status;
}

aw_status aw_case_to(aw_simulation *simulation, double S)
{
    aw_status status = AW_OK;
    long step = lround(S / (simulation->plan.beta * aw_simulation_cdt(simulation)));
    while (simulation->step < step) {
        AW_TRY(aw_simulation_advance(simulation));
        AW_TRY(aw_simulation_deposit(simulation));
    }
done:
    return status;
}

/* ------------------------------------------------------------------------------------- strip */

aw_status aw_strip_new(const aw_simulation *simulation, aw_strip *strip)
{
    const size_t nodes = (size_t)simulation->config->grid[0] * AW_STRIP_ROWS;
    memset(strip, 0, sizeof *strip);
    const int ok = aw_forces_new(nodes, 0, &strip->forces) == AW_OK;
    strip->point = aw_alloc(nodes, sizeof *strip->point);
    strip->result = aw_alloc(nodes * AW_RESULTS, sizeof *strip->result);
    if (ok && strip->point && strip->result) return AW_OK;
    aw_strip_free(strip);
    return AW_ERR_NOMEM;
}

void aw_strip_free(aw_strip *strip)
{
    aw_forces_free(&strip->forces);
    aw_free(strip->result);
    aw_free(strip->point);
    memset(strip, 0, sizeof *strip);
}

aw_status aw_case_points(const aw_simulation *simulation, const aw_field_point *point, size_t n,
                         size_t columns, double *result)
{
    aw_status status = AW_OK;
    aw_report report;
    aw_scales scales = {0.0, 0.0, 0.0};
    aw_problem problem =
        aw_self_field_problem(&simulation->field, point, n, simulation->config->tolerance);
    problem.columns = columns;
    AW_TRY(aw_solver_scales(simulation->field.solver, &problem, &scales));
    problem.scales = scales;
    AW_TRY(aw_solver_solve(simulation->field.solver, &problem, result, NULL, &report));
done:
    return status;
}

aw_status aw_strip_solve(aw_simulation *simulation, aw_strip *strip)
{
    const aw_config *config = simulation->config;
    aw_status status = AW_OK;
    strip->grid = simulation->field.frame.grid;
    strip->grid.nx = AW_STRIP_ROWS; /* even, as the grid has: the rows coincide */
    aw_frame_points(&strip->grid, &config->lattice->orbit, config->beam.gamma, strip->point);
    AW_TRY(aw_case_points(simulation, strip->point, (size_t)strip->grid.ns * AW_STRIP_ROWS,
                          (size_t)strip->grid.ns, strip->result));
    aw_forces_from_potentials(&strip->grid, strip->point, strip->result, &strip->forces);
done:
    return status;
}

double aw_strip_at(const aw_simulation *simulation, const aw_strip *strip, const double *field,
                   double s)
{
    aw_orbit_point at = aw_orbit_at(&simulation->config->lattice->orbit, strip->grid.S + s);
    return aw_gather_at(&strip->grid, field, at.z, at.x);
}

/* ------------------------------------------------------------------------------------ tables */

aw_status aw_case_table(const aw_validation *validation, const char *name, const char *header,
                        const double *value, size_t rows, size_t columns)
{
    char path[AW_PATH_MAX_LEN];
    aw_text text = {.bytes = NULL};
    if (!validation->directory) return AW_OK;
    if (snprintf(path, sizeof path, "%s/%s.csv", validation->directory, name) >= (int)sizeof path)
        return aw_error(AW_ERR_IO, "-o: %s is too long a path", validation->directory);
    aw_text_add(&text, "%s\n", header);
    for (size_t i = 0; i < rows * columns; ++i)
        aw_text_add(&text, "%.17g%c", value[i], (i + 1) % columns ? ',' : '\n');
    aw_status status = aw_text_save(&text, path);
    aw_text_free(&text);
    if (status != AW_OK) return status;
    if (aw_report_script_try("validation/plot.py", path))
        aw_info("  picture: %s/%s.png", validation->directory, name);
    return AW_OK;
}
