/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/field/self_field.h"

#include <math.h>
#include <string.h>

#include "kernels/math/slope.h"
#include "src/base/comm.h"
#include "src/base/log.h"
#include "src/base/memory.h"
#include "src/base/windows.h"

/* A solver that has learned nothing. */
static aw_status new_solver(const aw_self_field_params *p, aw_solver **out)
{
    const aw_status status = aw_solver_new(p->solver, p->device, out);
    if (status == AW_OK) aw_solver_forecast(*out, &p->forecast);
    return status;
}

aw_status aw_self_field_init(aw_self_field *f, const aw_self_field_params *params)
{
    const int ns = params->history.ns, nx = params->history.nx;
    const size_t n = (size_t)ns * (size_t)nx;
    aw_status status = AW_OK;
    *f = (aw_self_field){.params = *params, .nodes = n};
    AW_TRY(aw_comm_agree(new_solver(params, &f->solver)));
    AW_TRY(aw_forces_new(n, params->vectors, &f->forces));
    f->point = aw_alloc(n, sizeof *f->point);
    f->result = aw_alloc(n * AW_RESULTS, sizeof *f->result);
    f->error = aw_alloc(n, sizeof *f->error);
    if (!f->point || !f->result || !f->error) AW_TRY(AW_ERR_NOMEM);
    AW_TRY(aw_deposit_new(ns, nx, &f->deposit));
    AW_TRY(aw_history_new(&params->history, &f->history));
    aw_frame_init(&f->frame, ns, nx);
done:
    return status;
}

void aw_self_field_free(aw_self_field *f)
{
    aw_free(f->result);
    aw_free(f->error);
    aw_free(f->point);
    aw_forces_free(&f->forces);
    aw_solver_free(f->solver);
    aw_history_free(f->history);
    aw_deposit_free(f->deposit);
    memset(f, 0, sizeof *f);
}

aw_status aw_self_field_deposit(aw_self_field *f, const aw_particles *particles, double ct)
{
    aw_status status = AW_OK;
    void *cells = aw_history_cells(f->history);
    if (!cells) status = aw_error(AW_ERR_NOMEM, "out of memory for the history");
    AW_TRY(aw_particles_agree(particles, status));
    AW_TRY(aw_deposit_run(f->deposit, particles, &f->frame, f->params.history.single, cells,
                          &f->charge));
    aw_history_push(f->history, &f->frame, f->height2, ct);
    f->view = aw_history_look(f->history, f->params.orbit);
done:
    return status;
}

aw_problem aw_self_field_problem(const aw_self_field *f, const aw_field_point *point, size_t n,
                                 double tolerance)
{
    const aw_grid_view *grid = &f->frame.grid;
    double i = 0.5 * (grid->ns - 1), j = 0.5 * (grid->nx - 1);
    return (aw_problem){.history = f->view,
                        .point = point,
                        .points = n,
                        .centre =
                            aw_frame_point(grid, f->params.orbit, f->params.history.gamma, i, j),
                        .half = hypot(i * grid->hs, j * grid->hx),
                        .tolerance = tolerance,
                        .scales = f->scales};
}

aw_status aw_self_field_grid_problem(aw_self_field *f, aw_problem *out)
{
    const aw_grid_view *grid = &f->frame.grid;
    aw_status status = AW_OK;
    aw_frame_points(grid, f->params.orbit, f->params.history.gamma, f->point);
    *out = aw_self_field_problem(f, f->point, f->nodes, f->params.tolerance);
    out->columns = (size_t)grid->ns;
    out->felt = aw_self_field_felt(f);
    AW_TRY(aw_solver_scales(f->solver, out, &f->scales));
    out->scales = f->scales;
done:
    return status;
}

const unsigned char *aw_self_field_felt(const aw_self_field *f)
{
    return f->params.felt ? aw_deposit_felt(f->deposit) : NULL;
}

aw_status aw_self_field_solve(aw_self_field *f, int complete)
{
    aw_status status = AW_OK;
    aw_problem problem;
    AW_TRY(aw_self_field_grid_problem(f, &problem));
    problem.complete = complete;
    AW_TRY(aw_solver_solve(f->solver, &problem, f->result, f->error, &f->report));
done:
    return status;
}

aw_status aw_self_field_fill(aw_self_field *f)
{
    const unsigned char *felt = aw_self_field_felt(f);
    const int ns = f->frame.grid.ns, nx = f->frame.grid.nx;
    aw_problem problem = aw_self_field_problem(f, f->point, f->nodes, f->params.tolerance);
    aw_status status = AW_OK;
    aw_solver *fresh = NULL;
    aw_report report;
    double *all = NULL;
    unsigned char *read = NULL; /* by gradients at felt nodes */
    if (!felt) return AW_OK;
    problem.columns = (size_t)ns;
    all = aw_alloc(f->nodes * AW_RESULTS, sizeof *all);
    read = aw_alloc(f->nodes, sizeof *read);
    AW_TRY(all && read ? AW_OK : AW_ERR_NOMEM);
    aw_windows_add_crosses(felt, ns, nx, AW_SLOPE_NODES, read);
    AW_TRY(new_solver(&f->params, &fresh));
    AW_TRY(aw_solver_solve(fresh, &problem, all, NULL, &report));
    for (size_t i = 0; i < f->nodes; ++i)
        if (!read[i])
            memcpy(&f->result[i * AW_RESULTS], &all[i * AW_RESULTS], AW_RESULTS * sizeof *all);
    aw_self_field_forces(f);
done:
    aw_solver_free(fresh);
    aw_free(all);
    aw_free(read);
    return status;
}

void aw_self_field_forces(aw_self_field *f)
{
    aw_forces_from_potentials(&f->frame.grid, f->point, f->result, &f->forces);
}

aw_status aw_self_field_forget(aw_self_field *f)
{
    aw_solver *fresh = NULL;
    const aw_status status = new_solver(&f->params, &fresh);
    if (status != AW_OK) return status;
    aw_solver_free(f->solver);
    f->solver = fresh;
    return AW_OK;
}

void aw_self_field_archive(aw_self_field *f, aw_archive *archive)
{
    aw_history_archive(f->history, archive);
    aw_solver_archive(f->solver, archive);
    AW_ARCHIVE_ITEM(archive, f->frame);
}
